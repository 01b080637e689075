package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"log/slog"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
)

// The report that is printed is the one that the server shows as text.
func TestTheReportIsThatOfThePage(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	file := filepath.Join(t.TempDir(), "report.tsv")
	reportFile(t, file, 0, 6)
	if code, _, stderr := command(t, "ingest", "--database-url", database, "--server", "c2", "--workload", "cached", "--compiler", "gcc", file); code != exitOK {
		t.Fatalf("ingest: %d %s", code, stderr)
	}
	code, out, stderr := command(t, "report", "--database-url", database, "--server", "c2", "--workload", "cached", "--sensitivity", "strict", "--public-url", "http://perf.example.org")
	if code != exitOK || !strings.HasPrefix(out, "# RocksDB ") || !strings.Contains(out, "c2, cached") || !strings.Contains(out, "| [readrandom](http://perf.example.org/charts?") {
		t.Fatalf("%d: %s%s", code, out, stderr)
	}
	h := siteOf(t, database)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/report/rocksdb?server=c2&workload=cached&sensitivity=strict&format=md", nil))
	if w.Code != http.StatusOK || w.Body.String() != out {
		t.Errorf("the page says something else: %d\n%s\nprinted\n%s", w.Code, w.Body, out)
	}
	if code, _, stderr := command(t, "report", "--database-url", database, "--server", "nowhere"); code != exitFailed || !strings.Contains(stderr, "Nothing was measured for system rocksdb, server nowhere.") {
		t.Errorf("%d: %s", code, stderr)
	}
	if code, _, _ := command(t, "report", "--database-url", database, "--sensitivity", "some"); code != exitUsage {
		t.Errorf("%d", code)
	}
}

func siteOf(t *testing.T, url string) http.Handler {
	t.Helper()
	store, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	h, err := newSite(&database{store: store}, slog.New(slog.DiscardHandler), "http://perf.example.org")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Pages, the API and uploads go on to know a thing by its old name.
func TestRenaming(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	file := filepath.Join(t.TempDir(), "report.tsv")
	reportFile(t, file, 0, 2)
	ingest := []string{"ingest", "--json", "--database-url", database, "--server", "c2", "--workload", "cached", "--compiler", "gcc", file}
	if code, _, stderr := command(t, ingest...); code != exitOK {
		t.Fatalf("ingest: %d %s", code, stderr)
	}
	if code, out, stderr := command(t, "rename", "--database-url", database, "server", "c2", "beelink"); code != exitOK || out != "server c2 is now beelink\n" {
		t.Fatalf("%d: %s%s", code, out, stderr)
	}
	h := siteOf(t, database)
	for target, want := range map[string]string{
		"/charts?server=c2&step=fillseq": "beelink", "/runs?server=c2": "beelink", "/api/v1/series?server=c2&metric=qps&step=fillseq": `"server":"beelink"`,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	before := countRows(t, database)
	reportFile(t, file, 0, 3) // what was there, and a version more
	if code, _, stderr := command(t, ingest...); code != exitOK {
		t.Fatalf("ingest under the old name: %d %s", code, stderr)
	}
	after := countRows(t, database)
	if after["result"] != before["result"]+len(tests) {
		t.Errorf("%v, before %v", after, before)
	}
	for _, args := range [][]string{{"server", "nowhere", "x"}, {"workload", "iodir", "x"}} {
		if code, _, stderr := command(t, append([]string{"rename", "--database-url", database}, args...)...); code != exitFailed || !strings.Contains(stderr, "there is no "+args[0]) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	if code, _, _ := command(t, "rename", "--database-url", database, "step", "a", "b"); code != exitUsage {
		t.Errorf("%d", code)
	}
}

// A frozen link made through the API keeps the page's figures.
func TestFrozenLinksOfTheAPI(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	file := filepath.Join(t.TempDir(), "report.tsv")
	reportFile(t, file, 0, 3)
	context := []string{"--database-url", database, "--server", "c2", "--workload", "cached", "--compiler", "gcc", file}
	if code, _, stderr := command(t, append([]string{"ingest"}, context...)...); code != exitOK {
		t.Fatalf("ingest: %d %s", code, stderr)
	}
	h := siteOf(t, database)
	token := newToken(t, database, bench.TokenAnnotator)
	do := func(method, target, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	w := do(http.MethodPost, "/api/v1/links", `{"url":"/report/rocksdb?format=csv","frozen":true}`)
	if w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	_, rest, _ := strings.Cut(w.Body.String(), `"url":"`)
	path, _, _ := strings.Cut(rest, `"`)
	before := do(http.MethodGet, "/report/rocksdb?format=csv", "").Body.String()
	reportFile(t, file, 0, 5)
	if code, _, stderr := command(t, append([]string{"ingest"}, context...)...); code != exitOK {
		t.Fatalf("ingest: %d %s", code, stderr)
	}
	if got := do(http.MethodGet, path, ""); got.Code != http.StatusOK || got.Body.String() != before || len(before) < 500 {
		t.Errorf("%s: %d\n%s\nwant\n%s", path, got.Code, got.Body, before)
	}
	if do(http.MethodGet, "/report/rocksdb?format=csv", "").Body.String() == before {
		t.Error("the live figures did not move")
	}
	if w := do(http.MethodPost, "/api/v1/links", `{"url":"/nowhere","frozen":true}`); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
