package postgres_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func TestANoteIsWrittenEditedAndDeletedWithItsHistory(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	n, err := s.CreateNote(t.Context(), bench.Note{System: "rocksdb", Version: "8.6.7", Body: "readahead", Author: "ann", Scope: bench.NoteScope{Step: "overwriteandwait"}})
	if err != nil || n.ID == 0 || n.Revision != 1 || n.Created.IsZero() {
		t.Fatalf("%+v %v", n, err)
	}
	edited, err := s.EditNote(t.Context(), n.ID, 1, "readahead 0", bench.NoteScope{Step: "overwriteandwait", Workload: "iodir"}, "bob")
	if err != nil || edited.Revision != 2 || edited.Scope.Workload != "iodir" || edited.Author != "ann" {
		t.Fatalf("%+v %v", edited, err)
	}
	if _, err := s.EditNote(t.Context(), n.ID, 1, "other", n.Scope, "cyn"); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("an edit of a text that is old: %v", err)
	}
	if err := s.DeleteNote(t.Context(), n.ID, "ann"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteNote(t.Context(), n.ID, "ann"); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("deleted twice: %v", err)
	}
	got, history, err := s.Note(t.Context(), n.ID)
	if err != nil || got.Deleted == nil {
		t.Fatalf("%+v %v", got, err)
	}
	var trace []string
	for _, h := range history {
		trace = append(trace, h.Action+" by "+h.Actor+": "+h.Body)
	}
	if diff := cmp.Diff([]string{"written by ann: readahead", "edited by bob: readahead 0", "deleted by ann: readahead 0"}, trace); diff != "" {
		t.Error(diff)
	}
	if _, _, err := s.Note(t.Context(), n.ID+1); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("%v", err)
	}
}

func TestNotesOfAVersionIncludeRangesAroundIt(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	for _, n := range []bench.Note{
		{Version: "8.6.7", Body: "on it"}, {Version: "8.2.1", ToVersion: "8.10.0", Body: "around it"},
		{Version: "8.7.3", Body: "after"}, {Version: "8.2.1", ToVersion: "8.5.4", Body: "before"},
	} {
		n.System, n.Author = "rocksdb", "ann"
		if _, err := s.CreateNote(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	notes, err := s.Notes(t.Context(), bench.NoteFilter{System: "rocksdb", Version: "8.6.7"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range notes {
		got = append(got, n.Body)
	}
	if diff := cmp.Diff([]string{"around it", "on it"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNotesThatCannotBe(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	for name, n := range map[string]bench.Note{
		"no version":      {System: "rocksdb", Body: "x", Author: "a"},
		"backward range":  {System: "rocksdb", Version: "8.10.0", ToVersion: "8.9.0", Body: "x", Author: "a"},
		"empty":           {System: "rocksdb", Version: "8.10.0", Body: " \n", Author: "a"},
		"too long":        {System: "rocksdb", Version: "8.10.0", Body: strings.Repeat("x", 20_001), Author: "a"},
		"without author":  {System: "rocksdb", Version: "8.10.0", Body: "x"},
		"without systems": {Version: "8.10.0", Body: "x", Author: "a"},
	} {
		if _, err := s.CreateNote(t.Context(), n); bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.CreateNote(t.Context(), bench.Note{System: "rocksdb", Version: "8.10.0", Body: "x", Author: "a", ChangeID: 9}); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("on a change that is not there: %v", err)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	live, err := s.CreateLink(t.Context(), bench.Link{URL: "/charts?server=c2", Author: "ann"})
	if err != nil || len(live.Code) != 4 {
		t.Fatalf("%+v %v", live, err)
	}
	if again, err := s.CreateLink(t.Context(), bench.Link{URL: "/charts?server=c2", Author: "bob"}); err != nil || again.Code != live.Code {
		t.Errorf("the same live view has two links: %+v %v", again, err)
	}
	frozen, err := s.CreateLink(t.Context(), bench.Link{URL: "/charts?server=c2", Author: "ann", Frozen: true, Snapshot: []byte(`{"a":1}`)})
	if err != nil || frozen.Code == live.Code {
		t.Fatalf("%+v %v", frozen, err)
	}
	got, err := s.Link(t.Context(), frozen.Code)
	if err != nil || !got.Frozen || !bytes.Equal(got.Snapshot, []byte(`{"a":1}`)) || got.URL != "/charts?server=c2" || got.Author != "ann" {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := s.Link(t.Context(), "none"); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("%v", err)
	}
	for _, url := range []string{"https://elsewhere.example/", "//elsewhere.example/", "charts", "/charts\n", ""} {
		if _, err := s.CreateLink(t.Context(), bench.Link{URL: url, Author: "ann"}); bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestABrowserIsSignedInUntilItsTokenIsRevoked(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	token, _, err := s.CreateToken(t.Context(), "ann", bench.TokenAnnotator)
	if err != nil {
		t.Fatal(err)
	}
	cookie, expires, err := s.CreateSession(t.Context(), token)
	if err != nil || !expires.After(time.Now()) {
		t.Fatalf("%v %v", expires, err)
	}
	if who, err := s.Session(t.Context(), cookie); err != nil || who.Name != "ann" || who.Role != bench.TokenAnnotator {
		t.Errorf("%+v %v", who, err)
	}
	if _, _, err := s.CreateSession(t.Context(), "rq_made_up"); bench.KindOf(err) != bench.KindUnauthorized {
		t.Errorf("%v", err)
	}
	other, _, err := s.CreateSession(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EndSession(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), other); bench.KindOf(err) != bench.KindUnauthorized {
		t.Errorf("signed out: %v", err)
	}
	if err := s.RevokeToken(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), cookie); bench.KindOf(err) != bench.KindUnauthorized {
		t.Errorf("revoked: %v", err)
	}
}
