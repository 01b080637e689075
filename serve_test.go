package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/migrations"
)

// countRows gives the number of rows of the tables that hold what was ingested.
func countRows(t *testing.T, database string) map[string]int {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	n := map[string]int{}
	for _, table := range []string{"upload", "upload_file", "run", "result", "result_source", "histogram", "time_series"} {
		var k int
		if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM "+table).Scan(&k); err != nil {
			t.Fatal(err)
		}
		n[table] = k
	}
	return n
}

func TestServerAnswersOnAnExistingDatabase(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+$`).MatchString(server.address) {
		t.Errorf("address %q", server.address)
	}
	for path, want := range map[string]int{
		"/": 200, "/charts": 200, "/runs": 200, "/upload": 200, "/healthz": 200, "/readyz": 200, "/metrics": 200, "/api/docs": 200, "/api/openapi.json": 200,
		"/api/v1/series": 200, "/api/v1/runs": 200, "/nowhere": 404, "/api/nowhere": 404, "/runs/1": 404, "/api/v1/runs/1": 404, "/api/v1/series?x=1": 400,
	} {
		resp, err := http.Get(server.address + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, resp.Status, want)
		}
	}
	if code, _, stderr := command(t, "healthcheck", "--url", server.address+"/readyz"); code != exitOK {
		t.Errorf("healthcheck: %d %s", code, stderr)
	}
	// Requests are counted by route, never by the address as it was asked for.
	metrics := text(t, server.address+"/metrics")
	for _, want := range []string{`relqps_http_request_seconds_count{route="/api/v1/series",status="2xx"} 1`, `route="/api/v1/runs/{id}",status="4xx"`, "go_goroutines", "process_resident_memory_bytes"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is not among the metrics", want)
		}
	}
	if strings.Contains(metrics, "nowhere") || strings.Contains(metrics, `route="/runs/1"`) {
		t.Error("an address became a label")
	}
	// A second one on the same address and database: the address is taken, the database may be shared.
	second := spawn(t, nil, "", "serve", "--addr", strings.TrimPrefix(server.address, "http://"), "--database-url", database)
	if code := second.wait(); code != exitFailed || !strings.Contains(second.err.String(), "address already in use") {
		t.Errorf("a second server on the address: %d %s", code, second.err)
	}
	spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	if code := server.stop(); code != exitOK {
		t.Errorf("stopped with %d: %s", code, server.err)
	}
	if server.out.String() != readyPrefix+server.address+"\n" {
		t.Errorf("stdout %q: the ready line is all that belongs there", server.out)
	}
	if server.err.String() != "" {
		t.Errorf("stderr %q: nothing was wrong", server.err)
	}
}

func text(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestServerAndTheSchema(t *testing.T) {
	t.Parallel()
	serve := func(database string, more ...string) *process {
		return spawn(t, nil, "", append([]string{"serve", "--addr", "127.0.0.1:0", "--database-url", database}, more...)...)
	}
	refused := func(name, database string, says ...string) {
		t.Helper()
		p := serve(database)
		if code := p.wait(); code != exitFailed || p.out.String() != "" {
			t.Errorf("%s: %d, stdout %q", name, code, p.out)
		}
		for _, s := range says {
			if !strings.Contains(p.err.String(), s) {
				t.Errorf("%s: %q does not say %q", name, p.err, s)
			}
		}
	}
	latest := postgres.LatestSchema()
	empty, older := pgtest.EmptyURL(t), pgtest.NewURL(t)
	pool, err := pgxpool.New(t.Context(), older)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if latest > 1 {
		if _, err := migrations.DownTo(t.Context(), pool, latest-1); err != nil {
			t.Fatal(err)
		}
	}
	refused("without a schema", empty, "schema 0", fmt.Sprintf("needs %d", latest), "relqps migrate", "--migrate")
	refused("with an older one", older, fmt.Sprintf("schema %d", latest-1), "--migrate")
	// Other commands refuse it as well.
	file := filepath.Join(t.TempDir(), "a.tsv")
	reportFile(t, file, 0, 1)
	if code, _, stderr := command(t, "ingest", "--database-url", empty, "--server", "c2", file); code != exitFailed || !strings.Contains(stderr, "relqps migrate") {
		t.Errorf("ingest: %d %s", code, stderr)
	}

	p := serve(empty, "--migrate")
	p.waitReady()
	if body := text(t, p.address+"/readyz"); body != "ready\n" {
		t.Errorf("readyz: %s", body)
	}
	code, out, stderr := command(t, "migrate", "--database-url", older)
	if want := fmt.Sprintf("schema %d, was %d\n", latest, latest-1); code != exitOK || out != want {
		t.Errorf("migrate: %d %q, want %q: %s", code, out, want, stderr)
	}
	if code, out, _ := command(t, "migrate", "--database-url", older); code != exitOK || out != fmt.Sprintf("schema %d, was %d\n", latest, latest) {
		t.Errorf("migrate again: %d %q", code, out)
	}
	serve(older).waitReady()

	newer := pgtest.NewURL(t)
	conn, err := pgx.Connect(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, latest+1); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused("with a newer one", newer, fmt.Sprintf("schema %d", latest+1), "newer")
}

func TestDemoShowsTheSampleAndKeepsWhatIsAdded(t *testing.T) {
	t.Parallel()
	dir := pgtest.DataDir(t)
	demo := spawnServer(t, nil, "demo", "--addr", "127.0.0.1:0", "--data-dir", dir)
	relative := func(address string) (at float64) {
		t.Helper()
		var a seriesAnswer
		fetch(t, address+"/api/v1/series?server=c2&workload=cached&step=fillseq&base=4.4.1", &a)
		_, r := a.at(t, "fillseq", "gcc", "8.8.0")
		if r == nil {
			t.Fatal("no relative value")
		}
		return *r
	}
	// As published: 0.808 of 4.4.1.
	if r := relative(demo.address); r < 0.8075 || r > 0.8085 {
		t.Errorf("fillseq of 8.8.0 is %g of 4.4.1, want 0.808", r)
	}
	if page := text(t, demo.address+"/charts"); !strings.Contains(page, "fillseq") || !strings.Contains(page, "8.8.0") {
		t.Error("/charts does not show the sample")
	}
	var runs struct{ Next *string }
	fetch(t, demo.address+"/api/v1/runs?limit=100", &runs)
	if runs.Next == nil {
		t.Error("fewer than 100 runs")
	}

	// A second server on the directory is refused, naming the first; a client is not.
	second := spawn(t, nil, "", "serve", "--addr", "127.0.0.1:0", "--data-dir", dir)
	if code := second.wait(); code != exitFailed || second.out.String() != "" {
		t.Errorf("second server: %d %s", code, second.out)
	}
	for _, says := range []string{dir, fmt.Sprintf("pid %d", demo.cmd.Process.Pid), strings.TrimPrefix(demo.address, "http://")} {
		if !strings.Contains(second.err.String(), says) {
			t.Errorf("second server: %q does not name %s", second.err, says)
		}
	}
	file := filepath.Join(t.TempDir(), "mine.tsv")
	reportFile(t, file, 0, 1)
	client := spawn(t, []string{"RELQPS_DATA_DIR=" + dir}, "", "ingest", "--server", "mine", "--workload", "cached", file)
	if code := client.wait(); code != exitOK {
		t.Fatalf("ingest beside the server: %d %s", code, client.err)
	}
	uploads := func(address string) int {
		t.Helper()
		n := 0
		for cursor := ""; ; {
			var page struct {
				Runs []struct{ ID int64 }
				Next *string
			}
			fetch(t, address+"/api/v1/runs?limit=1000&cursor="+url.QueryEscape(cursor), &page)
			n += len(page.Runs)
			if page.Next == nil {
				return n
			}
			cursor = *page.Next
		}
	}
	before := uploads(demo.address)
	if code := demo.stop(); code != exitOK {
		t.Errorf("demo stopped with %d: %s", code, demo.err)
	}

	// Started again it has the same, once, and what was added.
	again := spawnServer(t, nil, "demo", "--addr", "127.0.0.1:0", "--data-dir", dir)
	if after := uploads(again.address); after != before {
		t.Errorf("%d runs after a second start, %d before", after, before)
	}
	var mine seriesAnswer
	fetch(t, again.address+"/api/v1/series?server=mine", &mine)
	if len(mine.Series) != len(tests) {
		t.Errorf("%d series of what was added, want %d", len(mine.Series), len(tests))
	}
	// Killed as kill -9 does, with its Postgres left behind, it starts again.
	again.kill()
	third := spawnServer(t, nil, "demo", "--addr", "127.0.0.1:0", "--data-dir", dir)
	if after := uploads(third.address); after != before {
		t.Errorf("%d runs after kill -9, %d before", after, before)
	}
	if code := third.stop(); code != exitOK {
		t.Errorf("stopped with %d: %s", code, third.err)
	}
}

// A server that is told to stop does not wait for ever for a request, nor for
// the database behind it.
func TestServerStopsAlthoughARequestHangs(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	token := newToken(t, database, bench.TokenRunner)
	server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE result IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan string, 1)
	go func() {
		req, err := http.NewRequest(http.MethodPost, server.address+"/api/v1/uploads?filename=a.tsv&server=c2&workload=cached", strings.NewReader(reportText(0, 1)))
		if err != nil {
			answered <- err.Error()
			return
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		resp.Body.Close()
		answered <- resp.Status
	}()
	eventually(t, "the upload waits for the table", func() bool {
		var n int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n > 0
	})
	began := time.Now()
	if code := server.stop(); code != exitOK {
		t.Errorf("stopped with %d: %s", code, server.err)
	}
	// Requests get drainTime; an upload may take as long as uploadTime of the API, ten minutes.
	if took := time.Since(began); took > time.Minute {
		t.Errorf("stopping took %s", took)
	}
	if got := <-answered; strings.HasPrefix(got, "2") {
		t.Errorf("the upload that was cut off was answered %q", got)
	}
	if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is left of the upload", func() bool {
		var n int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
	if n := countRows(t, database)["upload"]; n != 0 {
		t.Errorf("%d uploads are left", n)
	}
}

// Names that mean something to a page reach every page as text.
func TestHostileNamesOnEveryPage(t *testing.T) {
	t.Parallel()
	p := start(t)
	dir := t.TempDir()
	names := []string{`<img src=x onerror=alert(1)>`, `</script><script>alert(2)</script>`, `__f__alert(3)__f__`, `=1+1`, "abc\u202egpj.exe", strings.Repeat("s", 1500), `"><svg onload=alert(4)>`}
	for i, name := range names {
		file := filepath.Join(dir, fmt.Sprintf("%d.tsv", i))
		if err := os.WriteFile(file, []byte(reportText(i*1000, 2)), 0o644); err != nil {
			t.Fatal(err)
		}
		p.ingest("--server", name, "--workload", name, "--compiler", name, "--config", name, file)
	}
	for _, path := range []string{"/", "/charts", "/runs", "/upload", "/search?q=x", "/charts?server=" + url.QueryEscape(names[0]), "/charts?step=" + url.QueryEscape(names[1]),
		"/charts.md", "/runs?server=" + url.QueryEscape(names[1]), "/runs/1", "/runs/3", "/nowhere/" + url.PathEscape(names[0])} {
		body := text(t, p.address+path)
		for _, raw := range []string{"<img src=x", "<script>alert", "<svg onload"} {
			if strings.Contains(body, raw) && !strings.HasSuffix(strings.SplitN(path, "?", 2)[0], ".md") {
				t.Errorf("%.60s: %q stands in the page as it is", path, raw)
			}
		}
	}
}
