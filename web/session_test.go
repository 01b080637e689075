package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestATokenSignsIn(t *testing.T) {
	t.Parallel()
	store := newFakeStore(&fakeSource{})
	store.tokens["rq_right"] = bench.Token{Name: "cyn", Role: bench.TokenAnnotator}
	h := newHandler(t, store.source, withStore(store))
	w := as(t, h, "", http.MethodPost, "/sign-in", url.Values{"token": {" rq_right "}, "next": {"/charts?step=x"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/charts?step=x" {
		t.Fatalf("status %d to %q", w.Code, w.Header().Get("Location"))
	}
	c := w.Result().Cookies()[0]
	if c.Name != sessionCookie || c.Value != "fresh" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Secure || c.Expires.IsZero() {
		t.Errorf("%+v", c)
	}
	if body := as(t, h, "fresh", http.MethodGet, "/charts", nil).Body.String(); !strings.Contains(body, "cyn") || !strings.Contains(body, "Sign out") {
		t.Error("the page does not say who is signed in")
	}

	w = as(t, h, "", http.MethodPost, "/sign-in", url.Values{"token": {"rq_wrong"}})
	if w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) != 0 || !strings.Contains(w.Body.String(), "not known") {
		t.Errorf("status %d", w.Code)
	}

	w = as(t, h, "fresh", http.MethodPost, "/sign-out", nil)
	if w.Code != http.StatusSeeOther || store.sessions["fresh"].Name != "" || w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("status %d, %+v", w.Code, store.sessions)
	}
}

func TestTheCookieIsSecureUnderTLS(t *testing.T) {
	t.Parallel()
	store := newFakeStore(&fakeSource{})
	store.tokens["rq"] = bench.Token{Name: "cyn", Role: bench.TokenAnnotator}
	h := newHandler(t, store.source, withStore(store), func(c *Config) { c.PublicURL = "https://perf.example.org" })
	if c := as(t, h, "", http.MethodPost, "/sign-in", url.Values{"token": {"rq"}}).Result().Cookies()[0]; !c.Secure {
		t.Errorf("behind a proxy with TLS: %+v", c)
	}
	plain := newHandler(t, store.source, withStore(store))
	if c := as(t, plain, "", http.MethodPost, "https://perf.example.org/sign-in", url.Values{"token": {"rq"}}).Result().Cookies()[0]; !c.Secure {
		t.Errorf("with TLS: %+v", c)
	}
}

// A link in a mail must not sign in by being looked at: it asks for a click.
func TestAOneTimeAddressAsksForAClickAndWorksOnce(t *testing.T) {
	t.Parallel()
	store := newFakeStore(&fakeSource{})
	store.once["abc"] = bench.Token{Name: "demo", Role: bench.TokenAnnotator}
	h := newHandler(t, store.source, withStore(store))
	d := page(t, h, "/sign-in?once=abc")
	if d.Find(`form[method=post] input[name=once][value=abc]`).Length() != 1 || len(store.once) != 1 {
		t.Fatal("the address was used by reading it, or has no form")
	}
	for i, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		if w := as(t, h, "", http.MethodPost, "/sign-in", url.Values{"once": {"abc"}}); w.Code != want {
			t.Errorf("use %d: status %d", i+1, w.Code)
		}
	}
}

func TestASignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/charts?x=1": "/charts?x=1", "": "/", "https://evil.example": "/", "//evil.example": "/", "/\\evil.example": "/",
		"javascript:alert(1)": "/", "/a\r\nSet-Cookie: x": "/", "charts": "/", "http:/charts": "/",
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

// What other sites make a browser send is refused, whatever cookie it has.
func TestWritingWorksFromOwnPagesOnly(t *testing.T) {
	t.Parallel()
	store := newFakeStore(&fakeSource{changes: []bench.Change{sampleChange(1)}})
	h := newHandler(t, store.source, withStore(store))
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, x := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"own page":           {header("Sec-Fetch-Site", "same-origin"), http.StatusSeeOther},
		"no browser":         {func(*http.Request) {}, http.StatusSeeOther},
		"own origin":         {header("Origin", "http://example.com"), http.StatusSeeOther},
		"other site":         {header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"sister site":        {header("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		"other origin":       {header("Origin", "http://evil.example"), http.StatusForbidden},
		"a page without one": {header("Origin", "null"), http.StatusForbidden},
	} {
		if w := as(t, h, "ann", http.MethodPost, "/changes/1", url.Values{"state": {"noise"}}, x.change); w.Code != x.want {
			t.Errorf("%s: status %d, want %d", name, w.Code, x.want)
		}
	}
	for _, target := range []string{"/sign-in", "/sign-out", "/links", "/notes", "/notes/1", "/notes/1/delete"} {
		if w := as(t, h, "ann", http.MethodPost, target, nil, header("Sec-Fetch-Site", "cross-site")); w.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

func TestWritingNeedsTheRole(t *testing.T) {
	t.Parallel()
	store := newFakeStore(&fakeSource{changes: []bench.Change{sampleChange(1)}, notes: []bench.Note{{ID: 1, System: "rocksdb", Version: "8.6.7", Body: "x", Author: "ann", Revision: 1}}})
	h := newHandler(t, store.source, withStore(store))
	for _, target := range []string{"/changes/1", "/links", "/notes", "/notes/1", "/notes/1/delete"} {
		for who, want := range map[string]int{"": http.StatusUnauthorized, "gone": http.StatusUnauthorized, "rea": http.StatusForbidden} {
			w := as(t, h, who, http.MethodPost, target, url.Values{"state": {"noise"}, "url": {"/"}, "system": {"rocksdb"}, "version": {"1"}, "body": {"x"}, "revision": {"1"}})
			if w.Code != want {
				t.Errorf("%s as %q: status %d, want %d", target, who, w.Code, want)
			}
		}
	}
	if len(store.patches) != 0 || len(store.links) != 0 || len(store.source.notes) != 1 || store.source.notes[0].Revision != 1 {
		t.Error("something was written")
	}
	// A cookie that is worth nothing any more is taken away.
	if c := as(t, h, "gone", http.MethodGet, "/charts", nil).Result().Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("%+v", c)
	}
}

func TestWithoutAStorePagesCanOnlyBeRead(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &fakeSource{})
	for _, target := range []string{"/sign-in", "/s/7Kq2", "/notes/new"} {
		if w := get(t, h, target); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
	if strings.Contains(get(t, h, "/charts").Body.String(), "/sign-in") {
		t.Error("a sign-in that leads nowhere")
	}
}

func TestWhatAFormSendsIsBounded(t *testing.T) {
	t.Parallel()
	store := newFakeStore(&fakeSource{})
	h := newHandler(t, store.source, withStore(store))
	for name, body := range map[string]string{"large": strings.Repeat("x", formBytesMax+1), "NUL": "a\x00b"} {
		w := as(t, h, "ann", http.MethodPost, "/notes", url.Values{"system": {"rocksdb"}, "version": {"8"}, "body": {body}})
		if w.Code != http.StatusBadRequest || len(store.source.notes) != 0 {
			t.Errorf("%s: status %d, %d notes", name, w.Code, len(store.source.notes))
		}
	}
}
