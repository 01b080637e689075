package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/testdata"
)

// These tests run the real db_bench against a real server, through the commands
// that people use.

// sequence is the steps of a db_bench plan for a release from 6.19 on.
var sequence = []string{"fillseq", "revrange", "readrandom", "fwdrange", "multireadrandom", "overwritesome", "flush",
	"revrangewhilewriting", "fwdrangewhilewriting", "readwhilewriting", "overwriteandwait"}

// storedRun is what the tests look at of GET /api/v1/runs/{id}.
type storedRun struct {
	ID          int64
	Key, URL    string
	Server      string
	Workload    string
	State       string
	Clients     int
	Build       struct{ Version, Compiler string }
	Environment map[string]string
	Uploads     []int64
	Results     []storedStep
}

type storedStep struct {
	Step, Role, State, Reason, Command string
	PrimaryText                        string `json:"primary_text"`
	Counts                             bool
	Values                             []struct {
		Metric, Unit string
		Value        float64
	}
	TimeSeries []struct {
		Name, Unit string
		StepS      float64 `json:"step_s"`
		Values     []*float64
	} `json:"time_series"`
	Sources []struct {
		Upload int64
		File   string
	}
}

func (s storedStep) value(metric string) (float64, bool) {
	for _, v := range s.Values {
		if v.Metric == metric {
			return v.Value, true
		}
	}
	return 0, false
}

func states(run storedRun) []string {
	var all []string
	for _, r := range run.Results {
		all = append(all, r.Step+" "+r.State)
	}
	return all
}

// onlyRun gives the only run of a server.
func onlyRun(t *testing.T, address string) storedRun {
	t.Helper()
	var list struct{ Runs []struct{ ID int64 } }
	fetch(t, address+"/api/v1/runs", &list)
	if len(list.Runs) != 1 {
		t.Fatalf("%d runs, want 1", len(list.Runs))
	}
	var run storedRun
	fetch(t, fmt.Sprintf("%s/api/v1/runs/%d", address, list.Runs[0].ID), &run)
	return run
}

// quick makes the arguments of a run of the quick plan, smaller still.
func quick(workDir, address string, more ...string) []string {
	return append([]string{"run", "--url", address, "--server", "testbox", "--work-dir", workDir, "--shared",
		"--set", "keys=20000", "--set", "cache_bytes=64MiB", "--set", "read_seconds=2", "--set", "write_seconds=1", "--set", "settle_seconds=1",
		"db_bench-quick"}, more...)
}

func TestPlanRunsIntoAServer(t *testing.T) {
	t.Parallel()
	testdata.NeedProgram(t, "db_bench")
	database := pgtest.NewURL(t)
	token := newToken(t, database, bench.TokenRunner)
	server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	work := filepath.Join(t.TempDir(), "work")
	p := spawn(t, []string{"RELQPS_TOKEN=" + token}, "", quick(work, server.address)...)
	if code := p.wait(); code != exitOK {
		t.Fatalf("%d\n%s%s", code, p.out, p.err)
	}
	run := onlyRun(t, server.address)
	var want []string
	for _, step := range sequence {
		want = append(want, step+" ok")
	}
	if d := cmp.Diff(want, states(run)); d != "" {
		t.Fatalf("(-want +stored):\n%s", d)
	}
	if !strings.Contains(p.out.String(), fmt.Sprintf("run: %s/runs/%d\n", server.address, run.ID)) {
		t.Errorf("the address of the run is not printed: %s", p.out)
	}
	if run.Server != "testbox" || run.Workload != "cached" || run.State != "active" || run.Clients != 2 || run.Build.Version == "" ||
		run.Environment["cpu"] == "" || run.Environment["kernel"] == "" {
		t.Errorf("run %+v", run)
	}
	measured := 0
	for _, r := range run.Results {
		qps, ok := r.value("qps")
		if ok != (r.Step != "flush") || ok && qps <= 0 {
			t.Errorf("%s: qps %g, %v", r.Step, qps, ok)
		}
		if ok {
			measured++
		}
		for _, metric := range []string{"user_cpu_s", "system_cpu_s", "real_s", "write_io_gb"} {
			if _, ok := r.value(metric); !ok {
				t.Errorf("%s has no %s", r.Step, metric)
			}
		}
		// A step of a moment may be over before its memory was looked at.
		timed := r.Step == "readrandom" || r.Step == "fwdrange" || r.Step == "multireadrandom"
		if rss, ok := r.value("rss_gb"); timed && !ok || ok && (rss < 0.005 || rss > 2) {
			t.Errorf("%s: peak memory %g GB, %v", r.Step, rss, ok)
		}
		if timed {
			if len(r.TimeSeries) != 1 || r.TimeSeries[0].Name != "qps" || r.TimeSeries[0].StepS != 1 || len(r.TimeSeries[0].Values) < 1 {
				t.Errorf("%s: per-second series %+v", r.Step, r.TimeSeries)
			}
		}
		if !r.Counts || !strings.Contains(r.Command, "--benchmarks=") || len(r.Sources) == 0 {
			t.Errorf("%s: %+v", r.Step, r)
		}
		// The log is kept, to the byte as db_bench printed it, and holds the figure.
		log := fileOfUpload(t, server.address, r.Sources[0].Upload, "stdout")
		kept, err := filepath.Glob(filepath.Join(work, "runs", "*", "steps", "*-"+r.Step, "stdout"))
		if err != nil || len(kept) != 1 {
			t.Fatalf("%s: logs %v %v", r.Step, kept, err)
		}
		printed, err := os.ReadFile(kept[0])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(log, printed) || len(log) == 0 || ok && !bytes.Contains(log, []byte(" "+r.PrimaryText+" ops/sec")) {
			t.Errorf("%s: the log with %d bytes is not the one of %d bytes that has %q", r.Step, len(log), len(printed), r.PrimaryText)
		}
	}
	if measured != 10 {
		t.Errorf("%d steps have a result, want 10", measured)
	}
	// On the charts' side: a series per step that has a figure, preparing ones included.
	var a seriesAnswer
	fetch(t, server.address+"/api/v1/series?"+url.Values{"server": {"testbox"}, "base": {run.Build.Version}}.Encode(), &a)
	if len(a.Series) != 10 {
		t.Errorf("%d series, want 10", len(a.Series))
	}
	for _, s := range a.Series {
		if len(s.Points) != 1 || s.Points[0].Relative == nil || *s.Points[0].Relative != 1 {
			t.Errorf("%s: %+v", s.Step, s.Points)
		}
	}
	for _, path := range []string{"/charts?server=testbox", fmt.Sprintf("/runs/%d", run.ID)} {
		if page := text(t, server.address+path); !strings.Contains(page, "readwhilewriting") {
			t.Errorf("%s does not show the run", path)
		}
	}
}

// fileOfUpload gives the file with a base name out of an uploaded archive.
func fileOfUpload(t *testing.T, address string, id int64, base string) []byte {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(text(t, fmt.Sprintf("%s/api/v1/uploads/%d/file", address, id))))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("no %s in upload %d: %v", base, id, err)
		}
		if filepath.Base(h.Name) == base {
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
}

// A runner that is killed, and a server that is away for a while, cost nothing
// but time.
func TestRunnerKilledAndServerAway(t *testing.T) {
	t.Parallel()
	testdata.NeedProgram(t, "db_bench")
	database := pgtest.NewURL(t)
	token := newToken(t, database, bench.TokenRunner)
	env := []string{"RELQPS_TOKEN=" + token}
	server := spawnServer(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", database)
	listen := strings.TrimPrefix(server.address, "http://")
	work := filepath.Join(t.TempDir(), "work")
	posted := func() int { return countRows(t, database)["upload"] }
	started := func(step string) func() bool {
		return func() bool {
			found, err := filepath.Glob(filepath.Join(work, "runs", "*", "steps", "*-"+step, "attempt.json"))
			return err == nil && len(found) > 0
		}
	}

	// Killed while a step measures, after others were stored.
	p := spawn(t, env, "", quick(work, server.address)...)
	eventually(t, "multireadrandom was started", started("multireadrandom"))
	p.kill()
	eventually(t, "the steps before it are stored", func() bool { return posted() >= 3 })

	// Goes on; then the server dies, and the steps that end meanwhile stay on disk.
	p = spawn(t, env, "", quick(work, server.address, "--resume")...)
	eventually(t, "overwritesome was started", started("overwritesome"))
	server.kill()
	before := posted()
	eventually(t, "fwdrangewhilewriting was started", started("fwdrangewhilewriting"))
	if after := posted(); after != before {
		t.Errorf("%d uploads, %d when the server died", after, before)
	}
	// The runner is stopped in order this time: it says what is left.
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != exitFailed || !strings.Contains(p.out.String(), "not stored yet") {
		t.Errorf("stopped with %d: %s%s", code, p.out, p.err)
	}

	// With the server back everything that is on disk is posted and the rest is run.
	server = spawnServer(t, nil, "serve", "--addr", listen, "--database-url", database)
	p = spawn(t, env, "", quick(work, server.address, "--resume")...)
	if code := p.wait(); code != exitOK {
		t.Fatalf("%d\n%s%s", code, p.out, p.err)
	}
	run := onlyRun(t, server.address)
	var want []string
	for _, step := range sequence {
		want = append(want, step+" ok")
	}
	if d := cmp.Diff(want, states(run)); d != "" {
		t.Errorf("(-want +stored):\n%s", d)
	}
	for _, r := range run.Results {
		if !r.Counts {
			t.Errorf("%s does not count", r.Step)
		}
	}
	var a seriesAnswer
	fetch(t, server.address+"/api/v1/series?server=testbox", &a)
	for _, s := range a.Series {
		if len(s.Points) != 1 || s.Points[0].N != 1 {
			t.Errorf("%s was stored twice: %+v", s.Step, s.Points)
		}
	}
	if len(a.Series) != 10 {
		t.Errorf("%d series, want 10", len(a.Series))
	}

	// Nothing is left to do.
	rows := countRows(t, database)
	p = spawn(t, env, "", quick(work, server.address, "--resume")...)
	if code := p.wait(); code != exitOK {
		t.Errorf("resuming a finished run: %d\n%s%s", code, p.out, p.err)
	}
	if after := countRows(t, database); fmt.Sprint(after) != fmt.Sprint(rows) {
		t.Errorf("rows %v, before %v", after, rows)
	}
}

func TestRunRefusesWhatCannotBeRun(t *testing.T) {
	t.Parallel()
	testdata.NeedProgram(t, "db_bench")
	work := filepath.Join(t.TempDir(), "work")
	// A workload that needs data larger than memory says so with the arithmetic.
	code, _, stderr := command(t, "run", "--offline", "--server", "testbox", "--work-dir", work, "--shared", "--set", "keys=1000", "db_bench-iodir")
	if code != exitFailed || !strings.Contains(stderr, "memory") {
		t.Errorf("iodir in memory: %d %s", code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(work, "runs", "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	// --resume with nowhere to post to is told at once.
	began := time.Now()
	code, _, stderr = command(t, "run", "--resume", "--database-url", "postgres://nobody@127.0.0.1:1/x", "--work-dir", work, "db_bench-quick")
	if code != exitFailed || !strings.Contains(stderr, "cannot be reached") {
		t.Errorf("no database: %d %s", code, stderr)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("told after %s", took)
	}
	// More data than any disk here has; with --any-disk it would begin.
	huge := []string{"run", "--dry-run", "--work-dir", work, "--set", "keys=10000000000000", "db_bench-iodir"}
	if code, _, stderr := command(t, huge...); code != exitFailed || !strings.Contains(stderr, "do not fit the disk: 10000000000000 keys × ") || strings.Count(stderr, "do not fit") != 1 {
		t.Errorf("more data than disk: %d %s", code, stderr)
	}
	if code, _, stderr := command(t, append(huge, "--any-disk")...); code != exitOK {
		t.Errorf("any disk: %d %s", code, stderr)
	}
	// What a flag makes wrong is a wrong use, and told once.
	for _, set := range []string{"nosuch=1", "keys", "keys=many", "keys=0"} {
		if code, _, stderr := command(t, "run", "--dry-run", "--set", set, "db_bench-quick"); code != exitUsage || strings.Count(stderr, "\n") != 1 {
			t.Errorf("--set %s: %d %q", set, code, stderr)
		}
	}
	if code, _, stderr := command(t, "run", "--dry-run", "--set", "keys=5", "no-such-plan"); code != exitFailed || strings.Count(stderr, "\n") != 1 {
		t.Errorf("no plan: %d %q", code, stderr)
	}
	code, out, stderr := command(t, "run", "--dry-run", "db_bench-quick")
	if code != exitOK || strings.Count(out, "--benchmarks=") != len(sequence) {
		t.Errorf("dry run: %d, %d commands: %s", code, strings.Count(out, "--benchmarks="), stderr)
	}
}
