package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
)

func TestExitStatuses(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	dir := t.TempDir()
	good, bad, mixed := filepath.Join(dir, "good.tsv"), filepath.Join(dir, "bad.tsv"), filepath.Join(dir, "mixed")
	reportFile(t, good, 0, 1)
	if err := os.WriteFile(bad, []byte(reportHeader+strings.Replace(reportRow(900, "readrandom.t8", "8.8.0"), "400.0\t", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	reportFile(t, filepath.Join(mixed, "a.tsv"), 1000, 1)
	if err := os.WriteFile(filepath.Join(mixed, "b.tsv"), []byte(reportHeader+strings.Replace(reportRow(901, "readrandom.t8", "8.8.0"), "400.0\t", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	context := []string{"--server", "c2", "--workload", "cached", "--compiler", "gcc"}
	ingest := func(args ...string) []string {
		return append(append([]string{"ingest", "--database-url", database}, context...), args...)
	}
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		stderr string // a part of it
	}{
		{"help", []string{"--help"}, exitOK, ""},
		{"help of a command", []string{"ingest", "--help"}, exitOK, ""},
		{"version", []string{"--version"}, exitOK, ""},
		{"version as a command", []string{"version"}, exitOK, ""},
		{"no command", nil, exitUsage, "expected one of"},
		{"no such command", []string{"fly"}, exitUsage, "fly"},
		{"no such flag", []string{"ingest", "--fast", good}, exitUsage, "--fast"},
		{"no path", []string{"ingest"}, exitUsage, "<path>"},
		{"a number that is none", []string{"ingest", "--clients", "many", good}, exitUsage, "clients"},
		{"two databases", []string{"ingest", "--database-url", database, "--data-dir", dir, good}, exitUsage, "--data-dir"},
		{"a server and a database", []string{"ingest", "--url", "http://127.0.0.1:1", "--database-url", database, good}, exitUsage, "--url"},
		{"no such role", []string{"token", "create", "--database-url", database, "--role", "king", "--name", "x"}, exitUsage, "king"},
		{"no such file", ingest(filepath.Join(dir, "nowhere.tsv")), exitFailed, "nowhere.tsv"},
		{"no such server", []string{"ingest", "--url", "relqps:8080", good}, exitFailed, "relqps:8080"},
		{"a database that is away", []string{"ingest", "--database-url", "postgres://nobody@127.0.0.1:1/x", good}, exitFailed, "cannot be reached"},
		{"an address that is none", []string{"ingest", "--database-url", "postgres://a:secret@/%zz", good}, exitFailed, "cannot be read"},
		{"a file that is taken", ingest(good), exitOK, ""},
		{"a file that is there", ingest(good), exitOK, ""},
		{"a file that is refused", ingest(bad), exitRefused, "bad.tsv:2: "},
		{"one of two that is refused", ingest(mixed), exitRefused, "mixed/b.tsv:2: "},
		{"one argument of two", ingest(bad, good), exitRefused, "bad.tsv:2: "},
		{"another context", append(ingest(good), "--config", "a1"), exitRefused, "good.tsv"},
		{"a check that refuses", []string{"ingest", "--check", "--server", "c2", bad}, exitRefused, "bad.tsv:2: "},
		{"a plan that is none", []string{"run", "--dry-run", filepath.Join(dir, "plan.yaml")}, exitFailed, "plan.yaml"},
		{"nobody to ask", []string{"healthcheck", "--url", "http://127.0.0.1:1/readyz"}, exitFailed, ""},
	} {
		code, out, stderr := command(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: %d, want %d and %q\n%s%s", c.name, code, c.code, c.stderr, out, stderr)
		}
		if code == exitOK && out == "" {
			t.Errorf("%s: prints nothing", c.name)
		}
		if strings.Contains(stderr, "secret") {
			t.Errorf("%s: the password is printed: %s", c.name, stderr)
		}
	}
	// The good one of two is stored.
	p := countRows(t, database)
	if p["upload"] != 2 || p["result"] != 2*len(tests) {
		t.Errorf("stored %v, want the two good files", p)
	}
}

// The version of what was measured and that of relqps are asked for by the same
// word.
func TestVersionOfACommandIsThatOfTheSystem(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "stdout.log")
	if err := os.WriteFile(log, []byte("readrandom   :       3.169 micros/op 315556 ops/sec 0.317 seconds 100000 operations;  126.4 MB/s (100000 of 100000 found)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flag := range [][]string{{"--version", "7.8.3"}, {"--version=7.8.3"}} {
		args := append([]string{"ingest", "--check", "--server", "c2", "--workload", "cached"}, flag...)
		code, out, stderr := command(t, append(args, log)...)
		if code != exitOK || !strings.Contains(out, "7.8.3") || !strings.Contains(out, "1 result,") {
			t.Errorf("ingest %v: %d, want the result of 7.8.3\n%s%s", flag, code, out, stderr)
		}
	}
	if code, out, stderr := command(t, "--version"); code != exitOK || !strings.HasPrefix(out, "relqps ") {
		t.Errorf("--version alone: %d %q %s", code, out, stderr)
	}
	// A dry run needs no db_bench when the release is stated.
	code, out, stderr := command(t, "run", "--dry-run", "--version", "5.18.4", "--server", "c2", "--set", "binary="+log, "db_bench-quick")
	if code != exitOK || !strings.Contains(out, "RocksDB 5.18.4") {
		t.Errorf("run --version: %d, want a plan for 5.18.4\n%.300s%s", code, out, stderr)
	}
}

func TestCheckNeedsNoDatabaseAndStoresNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "report.tsv")
	reportFile(t, file, 0, 2)
	// Where there is no Postgres to be started.
	nowhere := []string{"PATH=" + dir, "RELQPS_PG_BIN=" + dir, "RELQPS_PG_DOWNLOAD="}
	p := spawn(t, nowhere, "", "ingest", "--check", "--server", "c2", "--workload", "cached", file)
	if code := p.wait(); code != exitOK {
		t.Fatalf("%d: %s", code, p.err)
	}
	// What was recognised and what would be stored.
	for _, want := range []string{"report.tsv", "16 results", "c2", "cached"} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("%q is not in %s", want, p.out)
		}
	}
	// The same without --check does need one.
	p = spawn(t, nowhere, "", "ingest", "--data-dir", filepath.Join(dir, "data"), "--server", "c2", "--workload", "cached", file)
	if code := p.wait(); code != exitFailed || !strings.Contains(p.err.String(), "ostgres") {
		t.Errorf("without --check: %d %s", code, p.err)
	}

	// With a database it says what is there already, and still stores nothing.
	database := pgtest.NewURL(t)
	half := filepath.Join(dir, "half.tsv")
	reportFile(t, half, 0, 1)
	if code, _, stderr := command(t, "ingest", "--database-url", database, "--server", "c2", "--workload", "cached", half); code != exitOK {
		t.Fatal(stderr)
	}
	before := countRows(t, database)
	code, out, stderr := command(t, "ingest", "--check", "--database-url", database, "--server", "c2", "--workload", "cached", file)
	if code != exitOK || !strings.Contains(out, "8 results to store, 8 already there") {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
	if after := countRows(t, database); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %v, before %v", after, before)
	}
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	p := spawn(t, []string{"RELQPS_DATABASE_URL=" + database}, reportText(0, 1), "ingest", "--json", "--server", "c2", "--workload", "cached", "--name", "from-a-pipe.tsv", "-")
	if code := p.wait(); code != exitOK {
		t.Fatalf("%d: %s", code, p.err)
	}
	var r struct {
		Upload  struct{ ID int64 }
		Format  string
		Results int
		Files   []struct{ Path string }
	}
	if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
		t.Fatalf("%v in %s", err, p.out)
	}
	if r.Upload.ID == 0 || r.Format != "report.tsv" || r.Results != len(tests) || len(r.Files) != 1 || r.Files[0].Path != "from-a-pipe.tsv" {
		t.Errorf("receipt %+v", r)
	}
}

// The address of the database comes from a flag, else the environment; a flag
// wins whatever the environment says.
func TestSettingsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	here, there := pgtest.NewURL(t), pgtest.NewURL(t)
	nowhere := "postgres://nobody@127.0.0.1:1/x"
	token := newToken(t, there, bench.TokenRunner)
	server := spawnServer(t, []string{"RELQPS_ADDR=127.0.0.1:0", "DATABASE_URL=" + there}, "serve")
	file := filepath.Join(t.TempDir(), "report.tsv")
	reportFile(t, file, 0, 1)
	args := []string{"ingest", "--server", "c2", "--workload", "cached", file}
	for _, c := range []struct {
		name string
		env  []string
		args []string
		into string // "here", "there", or "" for a failure
	}{
		{"DATABASE_URL", []string{"DATABASE_URL=" + here}, nil, "here"},
		{"RELQPS_DATABASE_URL before DATABASE_URL", []string{"DATABASE_URL=" + nowhere, "RELQPS_DATABASE_URL=" + here}, nil, "here"},
		{"a flag before both", []string{"DATABASE_URL=" + nowhere, "RELQPS_DATABASE_URL=" + nowhere}, []string{"--database-url", here}, "here"},
		{"a database's flag before a server's variable", []string{"RELQPS_URL=http://127.0.0.1:1"}, []string{"--database-url", here}, "here"},
		{"a server's flag before a database's variable", []string{"DATABASE_URL=" + nowhere, "RELQPS_TOKEN=" + token}, []string{"--url", server.address}, "there"},
		{"RELQPS_URL and RELQPS_TOKEN", []string{"RELQPS_URL=" + server.address, "RELQPS_TOKEN=" + token}, nil, "there"},
		{"a token's flag before its variable", []string{"RELQPS_URL=" + server.address, "RELQPS_TOKEN=rq_old"}, []string{"--token", token}, "there"},
		{"no token", []string{"RELQPS_URL=" + server.address}, nil, ""},
		{"an old token", []string{"RELQPS_URL=" + server.address, "RELQPS_TOKEN=rq_old"}, nil, ""},
		{"a database that is away", []string{"DATABASE_URL=" + nowhere}, nil, ""},
	} {
		before := map[string]int{"here": countRows(t, here)["upload"], "there": countRows(t, there)["upload"]}
		// Other bytes each time, so that each makes an upload.
		if err := os.WriteFile(file, []byte(reportText(0, 1)+strings.Repeat("\n", len(c.name))), 0o644); err != nil {
			t.Fatal(err)
		}
		p := spawn(t, c.env, "", append(append([]string{}, args...), c.args...)...)
		code := p.wait()
		for where, database := range map[string]string{"here": here, "there": there} {
			want := before[where]
			if where == c.into {
				want++
			}
			if got := countRows(t, database)["upload"]; got != want {
				t.Errorf("%s: %d uploads %s, want %d: %d %s", c.name, got, where, want, code, p.err)
			}
		}
		if (code == exitOK) != (c.into != "") {
			t.Errorf("%s: exit status %d: %s", c.name, code, p.err)
		}
		if strings.Contains(p.err.String()+p.out.String(), token) {
			t.Errorf("%s: the token is printed", c.name)
		}
	}
}

func TestIngestThroughAServerSaysWhatTheDatabaseWouldSay(t *testing.T) {
	t.Parallel()
	p := start(t)
	direct := pgtest.NewURL(t)
	token := newToken(t, p.database, bench.TokenRunner)
	dir := t.TempDir()
	reportFile(t, filepath.Join(dir, "results", "a.tsv"), 0, 2)
	reportFile(t, filepath.Join(dir, "results", "b", "report.tsv"), 5000, 2)
	if err := os.WriteFile(filepath.Join(dir, "results", "bad.tsv"), []byte(reportHeader+strings.Replace(reportRow(900, "readrandom.t8", "8.8.0"), "400.0\t", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"--check"}, {}, {}, {"--json"}, {"--check", "--json"}} {
		args := append([]string{"ingest", "--server", "c2", "--workload", "cached", filepath.Join(dir, "results")}, flags...)
		code, out, stderr := command(t, append(args, "--url", p.address+"/", "--token", token)...)
		wantCode, wantOut, wantErr := command(t, append(args, "--database-url", direct)...)
		if code != wantCode || out != wantOut || stderr != wantErr {
			t.Errorf("%v through a server: %d\n%s%s\ninto a database: %d\n%s%s", flags, code, out, stderr, wantCode, wantOut, wantErr)
		}
		if code != exitRefused {
			t.Errorf("%v: %d, want %d for the refused file", flags, code, exitRefused)
		}
	}
	// The author is the token's name there and the command line here.
	var a seriesAnswer
	p.get("/api/v1/series", url.Values{"step": {"readrandom"}}, &a)
	if len(a.Series) != 1 || len(a.Series[0].Points) != 2 || a.Series[0].Points[0].N != 2 {
		t.Errorf("series %+v", a.Series)
	}
	code, _, stderr := command(t, "ingest", "--server", "c2", "--url", p.address, "--token", newToken(t, p.database, bench.TokenReader), filepath.Join(dir, "results"))
	if code != exitFailed || !strings.Contains(stderr, "role runner") {
		t.Errorf("with a reader's token: %d %s", code, stderr)
	}
}

func TestTokensOfADatabase(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	token := newToken(t, database, bench.TokenRunner)
	if !strings.HasPrefix(token, "rq_") || strings.ContainsAny(token, " \n") {
		t.Errorf("token %q: stdout is to hold it and nothing else", token)
	}
	code, out, _ := command(t, "token", "list", "--database-url", database)
	if code != exitOK || !strings.Contains(out, "the runner") || !strings.Contains(out, "never") || strings.Contains(out, token) {
		t.Errorf("list: %d\n%s", code, out)
	}
	if code, _, stderr := command(t, "token", "create", "--database-url", database, "--role", "admin", "--name", "the runner"); code != exitFailed || !strings.Contains(stderr, "the runner") {
		t.Errorf("a name twice: %d %s", code, stderr)
	}
	if code, _, stderr := command(t, "token", "revoke", "--database-url", database, "the runner"); code != exitOK {
		t.Errorf("revoke: %d %s", code, stderr)
	}
	if code, _, stderr := command(t, "token", "revoke", "--database-url", database, "the runner"); code != exitFailed {
		t.Errorf("revoke again: %d %s", code, stderr)
	}
	newToken(t, database, bench.TokenRunner) // the name is free again
}
