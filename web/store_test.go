package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// fakeStore keeps what people write in memory, beside the source that shows it.
type fakeStore struct {
	source   *fakeSource
	tokens   map[string]bench.Token // by token
	once     map[string]bench.Token // by code; used up
	sessions map[string]bench.Token // by cookie
	links    map[string]bench.Link
	former   []bench.FormerName
	patches  []bench.ChangePatch
	err      error
}

func newFakeStore(source *fakeSource) *fakeStore {
	return &fakeStore{
		source: source, tokens: map[string]bench.Token{}, once: map[string]bench.Token{}, sessions: map[string]bench.Token{
			"ann": {Name: "ann", Role: bench.TokenAnnotator}, "rea": {Name: "rea", Role: bench.TokenReader},
		}, links: map[string]bench.Link{},
	}
}

func (f *fakeStore) PatchChange(ctx context.Context, id int64, p bench.ChangePatch, actor string) (bench.ChangeDetail, error) {
	f.patches = append(f.patches, p)
	for i := range f.source.changes {
		if c := &f.source.changes[i]; c.ID == id {
			if p.Triage != nil {
				c.Triage = *p.Triage
			}
			if p.Comment != nil {
				if f.source.events == nil {
					f.source.events = map[int64][]bench.ChangeEvent{}
				}
				f.source.events[id] = append(f.source.events[id], bench.ChangeEvent{Actor: actor, Field: "comment", After: *p.Comment})
			}
		}
	}
	d, err := f.source.Change(ctx, id)
	if err == nil {
		err = f.err
	}
	return d, err
}

func (f *fakeStore) CreateNote(_ context.Context, n bench.Note) (bench.Note, error) {
	if f.err != nil {
		return n, f.err
	}
	if n.Version == "" || n.Body == "" {
		return n, bench.Errorf(bench.KindInvalid, "a note is about a version of a system: name both")
	}
	n.ID, n.Revision, n.Created = int64(len(f.source.notes)+1), 1, time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	f.source.notes = append(f.source.notes, n)
	return n, nil
}

func (f *fakeStore) EditNote(_ context.Context, id int64, revision int, body string, scope bench.NoteScope, _ string) (bench.Note, error) {
	n := &f.source.notes[id-1]
	if revision != n.Revision {
		return *n, bench.Errorf(bench.KindConflict, "the note was edited in between: it is at revision %d, not %d", n.Revision, revision)
	}
	n.Body, n.Scope, n.Revision = body, scope, n.Revision+1
	return *n, nil
}

func (f *fakeStore) DeleteNote(_ context.Context, id int64, _ string) error {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	f.source.notes[id-1].Deleted = &now
	return nil
}

func (f *fakeStore) CreateLink(_ context.Context, l bench.Link) (bench.Link, error) {
	if f.err != nil {
		return l, f.err
	}
	l.Code, l.Created = "7Kq2", time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	if l.Frozen {
		l.Code = "8Kq2"
	}
	f.links[l.Code] = l
	return l, nil
}

func (f *fakeStore) Link(_ context.Context, code string) (bench.Link, error) {
	l, ok := f.links[code]
	if !ok {
		return l, bench.Errorf(bench.KindNotFound, "there is no link %q", code)
	}
	return l, f.err
}

func (f *fakeStore) CreateSession(_ context.Context, token string) (string, time.Time, error) {
	t, ok := f.tokens[token]
	if !ok {
		return "", time.Time{}, bench.Errorf(bench.KindUnauthorized, "this token is not known, or was revoked")
	}
	f.sessions["fresh"] = t
	return "fresh", time.Now().Add(time.Hour), f.err
}

func (f *fakeStore) RedeemSignIn(_ context.Context, code string) (string, time.Time, error) {
	t, ok := f.once[code]
	if !ok {
		return "", time.Time{}, bench.Errorf(bench.KindUnauthorized, "this address was used, or is too old")
	}
	delete(f.once, code)
	f.sessions["fresh"] = t
	return "fresh", time.Now().Add(time.Hour), nil
}

func (f *fakeStore) Session(_ context.Context, cookie string) (bench.Token, error) {
	t, ok := f.sessions[cookie]
	if !ok {
		return t, bench.Errorf(bench.KindUnauthorized, "signed out: sign in again")
	}
	return t, nil
}

func (f *fakeStore) EndSession(_ context.Context, cookie string) error {
	delete(f.sessions, cookie)
	return nil
}

func (f *fakeStore) FormerNames(_ context.Context, names []bench.FormerName) ([]bench.FormerName, error) {
	var out []bench.FormerName
	for _, n := range f.former {
		if slices.ContainsFunc(names, func(x bench.FormerName) bool { return x.Kind == n.Kind && x.Old == n.Old }) {
			out = append(out, n)
		}
	}
	return out, f.err
}

// withStore gives the pages a store to write to.
func withStore(f *fakeStore) func(*Config) { return func(c *Config) { c.Store = f } }

// as sends a request with the cookie of a session.
func as(t testing.TB, h http.Handler, who, method, target string, form url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if who != "" {
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: who})
	}
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
