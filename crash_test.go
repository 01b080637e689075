package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/testdata"
)

// contents gives all that was ingested into a database, a line each, without
// the numbers that depend on how often and in which order it was tried.
func contents(t *testing.T, database string) []string {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var all []string
	for _, sql := range []string{
		`SELECT format('upload %s %s %s %s', u.sha256, u.filename, u.context, u.state) FROM upload u`,
		`SELECT format('file %s %s %s %s', u.sha256, f.path, f.state, f.messages) FROM upload_file f JOIN upload u ON u.id = f.upload_id`,
		`SELECT format('run %s %s %s', r.key, r.state, r.campaign) FROM run r`,
		// Each figure with its metric, and its sources.
		`SELECT format('result %s %s %s %s %s %s %s %s', r.key, r.ordinal, c.step, r.state, r.primary_text, r.withdrawn, r.superseded,
			(SELECT string_agg(format('%s=%s', m.name, r.values[k.n]), ' ' ORDER BY m.name)
				FROM metric_set s, unnest(s.metric_ids) WITH ORDINALITY k(id, n) JOIN metric m ON m.id = k.id WHERE s.id = r.metric_set_id))
			FROM result r JOIN coordinate c ON c.id = r.coordinate_id`,
		`SELECT format('source %s %s %s %s', r.key, u.sha256, f.path, s.line)
			FROM result_source s JOIN result r ON r.id = s.result_id JOIN upload_file f ON f.id = s.upload_file_id JOIN upload u ON u.id = f.upload_id`,
		`SELECT format('points %s %s %s %s %s %s', v.slug, c.workload, c.step, c.compiler, c.clients, c.sample_count) FROM coordinate c JOIN server v ON v.id = c.server_id`,
		`SELECT format('check %s %s %s %s %s', f.path, m.cells, m.agree, m.unknown, m.shifted) FROM matrix_check m JOIN upload_file f ON f.id = m.upload_file_id`,
	} {
		rows, _ := conn.Query(context.Background(), sql+` ORDER BY 1`)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, lines...)
	}
	return all
}

// manyFiles makes a directory of 24 folders with two files each.
func manyFiles(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "results")
	for i := range 24 {
		folder := filepath.Join(dir, fmt.Sprintf("host-%02d", i))
		reportFile(t, filepath.Join(folder, "a.tsv"), 10_000*i, 4)
		reportFile(t, filepath.Join(folder, "b.tsv"), 10_000*i+5_000, 4)
	}
	return dir
}

// resultsOfUpload is how many results each upload of manyFiles has.
var resultsOfUpload = 2 * 4 * len(tests)

// wholeUploads makes sure that every upload that is there is there as a whole,
// and nothing without its upload; it gives their number.
func wholeUploads(t *testing.T, database string) int {
	t.Helper()
	n := countRows(t, database)
	if n["upload_file"] != 2*n["upload"] || n["result"] != n["upload"]*resultsOfUpload || n["result_source"] != n["result"] {
		t.Errorf("a part of an upload is stored: %v", n)
	}
	return n["upload"]
}

// A server that is killed in an upload leaves all of each upload or nothing of
// it, and ingesting again completes what is missing.
func TestServerKilledDuringAnIngest(t *testing.T) {
	t.Parallel()
	dir := manyFiles(t)
	clean, database := pgtest.NewURL(t), pgtest.NewURL(t)
	args := []string{"ingest", "--workload", "cached", "--compiler", "gcc", dir}
	if code, _, stderr := command(t, append(args, "--database-url", clean, "--server", "c2")...); code != exitOK {
		t.Fatal(stderr)
	}
	token := newToken(t, database, bench.TokenRunner)
	watch, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close(context.Background())
	count := func(sql string) (n int) {
		if err := watch.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	through := func(address string) []string {
		return append(args, "--server", "c2", "--url", address, "--token", token)
	}

	// Killed with an upload half written: its rows of upload and upload_file are
	// there, those of result wait for a lock.
	server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	client := spawn(t, nil, "", through(server.address)...)
	eventually(t, "some uploads are stored", func() bool { return count(`SELECT count(*) FROM upload`) >= 3 })
	if _, err := watch.Exec(t.Context(), "BEGIN; LOCK TABLE result_source IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an upload waits", func() bool {
		return count(`SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'result_source'::regclass`) > 0
	})
	server.kill()
	if _, err := watch.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if code := client.wait(); code != exitFailed || !strings.Contains(client.err.String(), "does not answer") {
		t.Errorf("the client: %d %s", code, client.err)
	}
	if n := wholeUploads(t, database); n < 3 || n >= 24 {
		t.Errorf("%d uploads after the first kill", n)
	}

	// Killed at moments that nobody chose.
	for range 2 {
		server = spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
		before := count(`SELECT count(*) FROM upload`)
		client = spawn(t, nil, "", through(server.address)...)
		eventually(t, "further uploads are stored", func() bool { return count(`SELECT count(*) FROM upload`) >= min(before+3, 24) })
		server.kill()
		client.kill()
		eventually(t, "Postgres has seen the end of the server", func() bool {
			return count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) == 0
		})
		wholeUploads(t, database)
	}

	server = spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	code, out, stderr := command(t, through(server.address)...)
	if code != exitOK {
		t.Fatalf("ingesting again: %d %s", code, stderr)
	}
	if !strings.Contains(out, "already there as upload") {
		t.Errorf("nothing was there already: %s", out)
	}
	if d := cmp.Diff(contents(t, clean), contents(t, database)); d != "" {
		t.Errorf("(-ingested once +after kills):\n%s", d)
	}
	// And once more nothing changes.
	before := countRows(t, database)
	if code, _, stderr := command(t, through(server.address)...); code != exitOK {
		t.Fatal(stderr)
	}
	if after := countRows(t, database); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %v, before %v", after, before)
	}
}

// The same with a private Postgres, which goes with the program that is killed.
func TestIngestKilledWithItsPrivatePostgres(t *testing.T) {
	t.Parallel()
	dir, data := manyFiles(t), pgtest.DataDir(t)
	args := []string{"ingest", "--workload", "cached", "--compiler", "gcc", "--server", "c2", dir}
	clean := pgtest.NewURL(t)
	if code, _, stderr := command(t, append(args, "--database-url", clean)...); code != exitOK {
		t.Fatal(stderr)
	}
	for round := range 2 {
		p := spawn(t, nil, "", append(args, "--data-dir", data)...)
		eventually(t, "some uploads are stored", func() bool { return strings.Count(p.out.String(), "\n") >= 3+4*round })
		p.kill()
	}
	p := spawn(t, nil, "", append(args, "--data-dir", data)...)
	if code := p.wait(); code != exitOK {
		t.Fatalf("%d %s", code, p.err)
	}
	if n := strings.Count(p.out.String(), "already there as upload"); n < 3 || n > 23 {
		t.Errorf("%d uploads were there already: %s", n, p.out)
	}
	// Looked at from outside, through a server on the same directory.
	server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--data-dir", data)
	var got, want seriesAnswer
	fetch(t, server.address+"/api/v1/series?metric=qps", &got)
	other := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", clean)
	fetch(t, other.address+"/api/v1/series?metric=qps", &want)
	if d := cmp.Diff(want, got); d != "" || len(got.Series) != len(tests) {
		t.Errorf("(-ingested once +after kills):\n%s", d)
	}
}

// The published archives, with all their odd files.
func TestServerKilledDuringAnIngestOfPublishedArchives(t *testing.T) {
	t.Parallel()
	archives := filepath.Join(testdata.Shared(t), "data", "dbbench")
	clean, database := pgtest.NewURL(t), pgtest.NewURL(t)
	args := []string{"ingest", "--workload", "cached", "--compiler", "gcc", archives}
	// Some of the files are refused, for saying another workload or no server.
	if code, _, stderr := command(t, append(args, "--database-url", clean)...); code != exitRefused {
		t.Fatalf("%d %s", code, stderr)
	}
	token := newToken(t, database, bench.TokenRunner)
	for round := range 3 {
		server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
		client := spawn(t, nil, "", append(args, "--url", server.address, "--token", token)...)
		want := 2 * (round + 1)
		eventually(t, "some uploads are stored", func() bool {
			select {
			case <-client.done:
				return true
			default:
				return countRows(t, database)["upload"] >= want
			}
		})
		time.Sleep(time.Duration(round*7) * time.Millisecond) // not always just after one
		server.kill()
		client.kill()
	}
	server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	code, _, stderr := command(t, append(args, "--url", server.address, "--token", token)...)
	if code != exitRefused {
		t.Fatalf("ingesting again: %d %s", code, stderr)
	}
	got := contents(t, database)
	if d := cmp.Diff(contents(t, clean), got); d != "" {
		t.Errorf("(-ingested once +after kills):\n%s", d)
	}
	results := 0
	for _, line := range got {
		if strings.HasPrefix(line, "result ") {
			results++
		}
	}
	if results < 1000 {
		t.Errorf("only %d results: the archives hold more", results)
	}
}
