package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/testdata"
	"github.com/relqps/relqps/runner"
)

// The tests of this file run the real db_bench and write to a real Postgres.

// envChild has the arguments of a runner in a process of its own, see runAsChild.
const envChild = "RELQPS_TEST_RUNNER"

func TestMain(m *testing.M) {
	if text := os.Getenv(envChild); text != "" {
		os.Exit(runAsChild(text))
	}
	os.Exit(pgtest.Run(m))
}

type childArgs struct {
	Plan, WorkDir, Database string
	Resume                  bool
}

// runAsChild is a runner that can be killed.
func runAsChild(text string) int {
	var a childArgs
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := postgres.Open(ctx, a.Database, postgres.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer store.Close()
	plan, err := runner.LoadPlan(a.Plan, runner.Overrides{})
	if err == nil {
		_, err = runner.Run(ctx, runner.Options{Plan: plan, Context: bench.Context{Server: "testbox"}, WorkDir: a.WorkDir,
			Sink: ingest.Ingester{Store: store}, Target: "db", Resume: a.Resume, Shared: true, Out: os.Stdout})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// bed is what a test of the runner stands on.
type bed struct {
	t       *testing.T
	dir     string // the work directory
	url     string // of the database
	store   *postgres.Store
	sink    runner.Sink
	planned string // the plan's file
	out     bytes.Buffer
}

func newBed(t *testing.T, plan string) *bed {
	t.Helper()
	testdata.NeedProgram(t, "db_bench")
	b := &bed{t: t, dir: filepath.Join(t.TempDir(), "work"), url: pgtest.NewURL(t)}
	store, err := postgres.Open(t.Context(), b.url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	b.store, b.sink = store, ingest.Ingester{Store: store}
	b.plan(plan)
	return b
}

// plan writes the plan that the test runs.
func (b *bed) plan(text string) {
	b.t.Helper()
	b.planned = filepath.Join(b.t.TempDir(), "plan.yaml")
	if err := os.WriteFile(b.planned, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) options() runner.Options {
	b.t.Helper()
	p, err := runner.LoadPlan(b.planned, runner.Overrides{})
	if err != nil {
		b.t.Fatal(err)
	}
	return runner.Options{Plan: p, Context: bench.Context{Server: "testbox"}, WorkDir: b.dir, Sink: b.sink, Target: "db", Shared: true, Out: &b.out}
}

// run executes the plan and fails the test on an error.
func (b *bed) run(change func(*runner.Options)) runner.Summary {
	b.t.Helper()
	o := b.options()
	if change != nil {
		change(&o)
	}
	s, err := runner.Run(b.t.Context(), o)
	if err != nil {
		b.t.Fatalf("%v\n%s", err, b.out.String())
	}
	return s
}

func resume(o *runner.Options) { o.Resume = true }

// stored gives the only run in the database.
func (b *bed) stored() bench.RunDetail {
	b.t.Helper()
	page, err := b.store.Runs(b.t.Context(), bench.RunFilter{})
	if err != nil {
		b.t.Fatal(err)
	}
	if len(page.Runs) != 1 {
		b.t.Fatalf("%d runs are stored, want 1\n%s", len(page.Runs), b.out.String())
	}
	run, err := b.store.Run(b.t.Context(), page.Runs[0].ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

// states gives step and state of results.
func states(run bench.RunDetail) []string {
	var all []string
	for i := range run.Results {
		all = append(all, run.Results[i].Step.Name+" "+string(run.Results[i].State))
	}
	return all
}

func outcomes(s runner.Summary) []string {
	var all []string
	for _, o := range s.Steps {
		all = append(all, strings.TrimSpace(o.Step+" "+string(o.State)))
	}
	return all
}

func (b *bed) journals() []string {
	b.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(b.dir, "runs", "*"))
	if err != nil {
		b.t.Fatal(err)
	}
	return dirs
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v\nwant %v", what, got, want)
	}
}

// sized makes a plan small.
const sized = `extends: db_bench-quick
keys: 20000
cache_bytes: 64MiB
read_seconds: 1
write_seconds: 1
settle_seconds: 1
kill_after: 5s
`

// filled is a plan's first step; the others are put behind it.
const filled = "name: test\n" + sized + `steps:
  - test: fillseq.wal_disabled.v$value_bytes
    benchmarks: [fillseq, stats]
    creates: true
    threads: 1
    flags: {disable_wal: 1}
`

func TestWholeSequenceEndsInTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBed(t, "name: test\nconfig: small\n"+strings.Replace(sized, "read_seconds: 1", "read_seconds: 2", 1))
	s := b.run(nil)
	sequence := []string{"fillseq", "revrange", "readrandom", "fwdrange", "multireadrandom", "overwritesome", "flush",
		"revrangewhilewriting", "fwdrangewhilewriting", "readwhilewriting", "overwriteandwait"}
	var ok []string
	for _, step := range sequence {
		ok = append(ok, step+" ok")
	}
	same(t, "steps", outcomes(s), ok)
	if s.Left != 0 || !s.Finished || s.Failed() || len(s.Runs) != 1 {
		t.Errorf("summary %+v", s)
	}
	run := b.stored()
	same(t, "stored", states(run), ok)
	if run.Server != "testbox" || run.Config != "small" || run.Workload != "cached" || run.Clients != 2 || run.Build.Compiler != "gcc" {
		t.Errorf("stored as %+v", run.RunSummary)
	}
	if run.Environment["kernel"] == "" || run.Environment["cpu"] == "" || run.Environment["memory_bytes"] == "" {
		t.Errorf("environment %v", run.Environment)
	}
	withResult := 0
	for i := range run.Results {
		r := &run.Results[i]
		name := r.Step.Name
		if r.Primary == "qps" {
			withResult++
			// The figure is the one in the log that was kept.
			text, err := os.ReadFile(filepath.Join(s.Dir, "steps", fmt.Sprintf("%02d-%s", i+1, name), "stdout"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(text, []byte(" "+r.PrimaryText+" ops/sec ")) {
				t.Errorf("%s: %s ops/sec does not stand in its log", name, r.PrimaryText)
			}
		}
		for _, metric := range []string{"user_cpu_s", "system_cpu_s", "real_s", "read_io_gb", "write_io_gb"} {
			if _, ok := r.Value(metric); !ok {
				t.Errorf("%s has no %s", name, metric)
			}
		}
		if rss, ok := r.Value("rss_gb"); ok && (rss < 0.005 || rss > 1) {
			t.Errorf("%s: peak memory %v GB", name, rss)
		}
		if !strings.HasPrefix(r.Command, "/") || !strings.Contains(r.Command, "--cache_type=lru_cache") || !strings.Contains(r.Command, "--compaction_readahead_size=0") || !strings.Contains(r.Command, "--seed=") {
			t.Errorf("%s: command %s", name, r.Command)
		}
		timed := slices.Contains([]string{"readrandom", "fwdrange", "multireadrandom"}, name)
		if timed && (len(r.TimeSeries) != 1 || r.TimeSeries[0].Name != "qps" || len(r.TimeSeries[0].Values) == 0) {
			t.Errorf("%s: per-second series %+v", name, r.TimeSeries)
		}
	}
	if withResult != 10 {
		t.Errorf("%d steps have a result, want 10: flush prints none", withResult)
	}
	if entries, _ := os.ReadDir(filepath.Join(b.dir, "data")); len(entries) != 0 {
		t.Errorf("the database was left behind: %v", entries)
	}

	// Posting everything once more, as after a crash between answer and note.
	if err := os.RemoveAll(filepath.Join(s.Dir, "posted")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.Dir, "posted"), 0o755); err != nil {
		t.Fatal(err)
	}
	if again := b.run(resume); again.Left != 0 {
		t.Errorf("left after posting again: %+v", again)
	}
	same(t, "stored after posting again", states(b.stored()), ok)

}

func TestFailedStepIsRecordedAndThoseThatNeedItAreNotRun(t *testing.T) {
	t.Parallel()
	b := newBed(t, filled+`  - test: readrandom.t1
    benchmarks: [readrandom, stats]
    needs: [fillseq]
    seconds: 1
    flags: {no_such_flag: 1}
  - test: fwdrange.t1
    benchmarks: [seekrandom]
    needs: [readrandom]
  - test: revrange.t1
    benchmarks: [seekrandom]
    needs: [fwdrange]
  - test: misspelt.t1
    benchmarks: [readrandm]
    needs: [fillseq]
  - test: multireadrandom.t1
    benchmarks: [multireadrandom]
    needs: [fillseq]
    seconds: 1
`)
	s := b.run(nil)
	want := []string{"fillseq ok", "readrandom failed", "fwdrange not_run", "revrange not_run", "misspelt failed", "multireadrandom ok"}
	same(t, "steps", outcomes(s), want)
	reasons := map[string]string{
		"readrandom": "ERROR: unknown command line flag 'no_such_flag'; exit status 1",
		"fwdrange":   "it needs readrandom, which failed: ERROR: unknown command line flag 'no_such_flag'; exit status 1",
		"revrange":   "it needs fwdrange, which was not run",
		"misspelt":   "unknown benchmark 'readrandm'; exit status 1",
	}
	if !s.Failed() || !s.Finished || s.Left != 0 {
		t.Errorf("summary %+v", s)
	}
	run := b.stored()
	same(t, "stored", states(run), want)
	for i := range run.Results {
		r := &run.Results[i]
		if r.Reason != reasons[r.Step.Name] {
			t.Errorf("%s: %q, want %q", r.Step.Name, r.Reason, reasons[r.Step.Name])
		}
		if _, has := r.Value("qps"); has != (r.State == bench.StateOK) {
			t.Errorf("%s is %s, has QPS: %v", r.Step.Name, r.State, has)
		}
	}
}

func TestFailedFillLeavesNothingToRun(t *testing.T) {
	t.Parallel()
	b := newBed(t, "name: test\n"+sized+"flags: {no_such_flag: 1}\n")
	s := b.run(nil)
	if len(s.Steps) != 11 || s.Steps[0].State != bench.StateFailed {
		t.Fatalf("steps %v", outcomes(s))
	}
	for _, o := range s.Steps[1:] {
		if o.State != bench.StateNotRun || !strings.HasPrefix(o.Reason, "it needs fillseq, which failed") && o.Step != "flush" {
			t.Errorf("%s: %s, %s", o.Step, o.State, o.Reason)
		}
	}
	if run := b.stored(); len(run.Results) != 11 {
		t.Errorf("stored: %v", states(run))
	}
}

func TestTimeLimitFailsTheStep(t *testing.T) {
	t.Parallel()
	b := newBed(t, filled+`  - test: readrandom.t1
    benchmarks: [readrandom, stats]
    needs: [fillseq]
    seconds: 60
    limit: 1s
  - test: overwrite.t1
    benchmarks: [overwrite, stats]
    needs: [fillseq]
    writes: true
    seconds: 60
    limit: 1s
  - test: fwdrange.t1
    benchmarks: [seekrandom]
    needs: [fillseq]
    seconds: 1
`)
	s := b.run(nil)
	same(t, "steps", outcomes(s), []string{"fillseq ok", "readrandom failed", "overwrite failed", "fwdrange ok"})
	if r := s.Steps[1].Reason; !strings.Contains(r, "time limit of 1 s passed, ended by the runner (terminated)") {
		t.Errorf("reason %q", r)
	}
	run := b.stored()
	if _, ok := run.Results[1].Value("user_cpu_s"); !ok {
		t.Error("what the step used until then is not stored")
	}
	warnings := fmt.Sprint(run.Results[3].Warnings)
	if !strings.Contains(warnings, "overwrite failed before it: the database is not as in other runs") {
		t.Errorf("a step after a failed write is not marked: %s", warnings)
	}
}

func TestStepThatASignalEnds(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prlimit"); err != nil {
		testdata.Missing(t, "prlimit is not installed")
	}
	b := newBed(t, "prefix: [prlimit, --fsize=1000000]\n"+strings.Replace(filled, "keys: 20000", "keys: 100000", 1))
	s := b.run(nil)
	same(t, "steps", outcomes(s), []string{"fillseq failed"})
	if r := s.Steps[0].Reason; !strings.Contains(r, "ended by a signal: file size limit exceeded") {
		t.Errorf("reason %q", r)
	}
	if r := b.stored().Results[0]; r.State != bench.StateFailed || !strings.HasPrefix(r.Command, "prlimit --fsize=1000000 /") {
		t.Errorf("stored as %s, command %.60q", r.State, r.Command)
	}
}

// flaky is a sink that is away for its first calls.
type flaky struct {
	runner.Sink
	away  atomic.Int32 // calls that fail
	calls atomic.Int32
}

func (f *flaky) Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error) {
	f.calls.Add(1)
	if f.away.Add(-1) >= 0 {
		return bench.Receipt{}, bench.Errorf(bench.KindUnavailable, "the database is away")
	}
	return f.Sink.Submit(ctx, u)
}

const short = filled + `  - test: readrandom.t1
    benchmarks: [readrandom, stats]
    needs: [fillseq]
    seconds: 1
  - test: fwdrange.t1
    benchmarks: [seekrandom, stats]
    needs: [fillseq]
    seconds: 1
`

func TestDatabaseThatIsAwayLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t, short)
	want := []string{"fillseq ok", "readrandom ok", "fwdrange ok"}

	gone := &flaky{Sink: b.sink}
	gone.away.Store(1 << 30)
	s := b.run(func(o *runner.Options) { o.Sink = gone })
	same(t, "steps", outcomes(s), want)
	if s.Left != 3 || !s.Finished {
		t.Errorf("%d left, finished %v; want all 3 to wait", s.Left, s.Finished)
	}
	if n := strings.Count(b.out.String(), "the database is away"); n != 1 {
		t.Errorf("it was said %d times that the database is away, want once:\n%s", n, b.out.String())
	}
	if page, err := b.store.Runs(t.Context(), bench.RunFilter{}); err != nil || len(page.Runs) != 0 {
		t.Fatalf("stored although away: %v, %v", page.Runs, err)
	}

	// Back, but gone again after one.
	back := &flaky{Sink: b.sink}
	s = b.run(func(o *runner.Options) { o.Sink, o.Resume = &failAfter{Sink: back, left: 1}, true })
	if s.Left != 2 {
		t.Errorf("%d left, want 2", s.Left)
	}
	same(t, "stored", states(b.stored()), want[:1])

	s = b.run(resume)
	if s.Left != 0 {
		t.Errorf("%d left", s.Left)
	}
	same(t, "stored", states(b.stored()), want)
	if dirs := b.journals(); len(dirs) != 1 {
		t.Errorf("resuming began another run: %v", dirs)
	}

	// In the middle of a run: the second post fails, the third brings both.
	once := &flaky{Sink: b.sink}
	b.plan(strings.Replace(short, "name: test", "name: second", 1))
	s = b.run(func(o *runner.Options) { o.Sink = &failNth{Sink: once, n: 2} })
	if s.Left != 0 {
		t.Errorf("%d left although the database came back during the run", s.Left)
	}
}

// failAfter is a sink that goes away after some calls.
type failAfter struct {
	runner.Sink
	left int
}

func (f *failAfter) Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error) {
	if f.left--; f.left < 0 {
		return bench.Receipt{}, errors.New("connection reset") // an error of no kind means later as well
	}
	return f.Sink.Submit(ctx, u)
}

// failNth is a sink that is away for one call, after it has stored the upload:
// the answer is what was lost.
type failNth struct {
	runner.Sink
	n int
}

func (f *failNth) Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error) {
	r, err := f.Sink.Submit(ctx, u)
	if f.n--; f.n == 0 {
		return bench.Receipt{}, bench.Errorf(bench.KindUnavailable, "the answer was lost")
	}
	return r, err
}

func TestRefusedResultsAreSaidAndKept(t *testing.T) {
	t.Parallel()
	b := newBed(t, short)
	s := b.run(func(o *runner.Options) { o.Sink = refuser{} })
	for _, o := range s.Steps {
		if o.Posted || o.Refused != "not like this" {
			t.Errorf("%+v", o)
		}
	}
	if !s.Failed() {
		t.Error("a run whose results were refused did not fail")
	}
	if n := strings.Count(b.out.String(), "were refused: not like this"); n != 3 {
		t.Errorf("said %d times:\n%s", n, b.out.String())
	}
	// Once it is clear why, they can be posted.
	b.run(resume)
	same(t, "stored", states(b.stored()), []string{"fillseq ok", "readrandom ok", "fwdrange ok"})
}

type refuser struct{}

func (refuser) Submit(context.Context, bench.Upload) (bench.Receipt, error) {
	return bench.Receipt{}, bench.Errorf(bench.KindConflict, "not like this")
}

// interruptAt is an output that tells the runner to stop once a text is written.
type interruptAt struct {
	io.Writer
	text string
	stop func()
}

func (w *interruptAt) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.text)) {
		// The step is about to start; let it come to work.
		time.AfterFunc(400*time.Millisecond, w.stop)
	}
	return w.Writer.Write(p)
}

func TestInterruptedRunGoesOn(t *testing.T) {
	t.Parallel()
	b := newBed(t, filled+`  - test: readrandom.t1
    benchmarks: [readrandom, stats]
    needs: [fillseq]
    seconds: 3
  - test: overwrite.t1
    benchmarks: [overwrite, stats]
    needs: [fillseq]
    writes: true
    seconds: 3
`)
	all := []string{"fillseq ok", "readrandom ok", "overwrite ok"}
	stopAt := func(text string, again bool) runner.Summary {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o := b.options()
		o.Resume, o.Out = again, &interruptAt{&b.out, text, cancel}
		s, err := runner.Run(ctx, o)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want that of the context\n%s", err, b.out.String())
		}
		if s.Finished {
			t.Errorf("an interrupted run is finished: %+v", s)
		}
		return s
	}
	s := stopAt("1/3 fillseq: started", false)
	if len(s.Steps) != 3 {
		t.Fatalf("steps %v", outcomes(s))
	}
	s = stopAt("2/3 readrandom: started", true)
	same(t, "after the second", outcomes(s), []string{"fillseq ok", "readrandom", "overwrite"})
	s = stopAt("3/3 overwrite: started", true)
	same(t, "after the third", outcomes(s), []string{"fillseq ok", "readrandom ok", "overwrite"})
	same(t, "stored so far", states(b.stored()), all[:2])

	s = b.run(resume)
	same(t, "in the end", outcomes(s), all)
	run := b.stored()
	same(t, "stored", states(run), all)
	// A fast machine has loaded the data before the first interruption, which then is
	// one more of the step after it.
	for i, want := range map[int]string{1: `^attempt [23]; the one before was cut off$`, 2: `^attempt 2; the one before was cut off, and the database holds what it had written$`} {
		found := false
		for _, w := range run.Results[i].Warnings {
			found = found || regexp.MustCompile(want).MatchString(w.Text)
		}
		if !found {
			t.Errorf("%s: warnings %v, want %q", run.Results[i].Step.Name, run.Results[i].Warnings, want)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "steps", "02-readrandom.attempt-1", "stdout")); err != nil {
		t.Errorf("what the first attempt printed is gone: %v", err)
	}
	if dirs := b.journals(); len(dirs) != 1 {
		t.Errorf("%d runs", len(dirs))
	}
}

// child starts a runner in a process of its own and returns it with what it
// prints.
func (b *bed) child(resume bool) (*exec.Cmd, *bytes.Buffer) {
	b.t.Helper()
	args, err := json.Marshal(childArgs{Plan: b.planned, WorkDir: b.dir, Database: b.url, Resume: resume})
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envChild+"="+string(args))
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	return cmd, out
}

// working waits until a step of a run is at work and gives its process.
func (b *bed) working(step string) int {
	b.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		names, _ := filepath.Glob(filepath.Join(b.dir, "runs", "*", "steps", "*-"+step, "attempt.json"))
		for _, name := range names {
			var a struct {
				PID int `json:"pid"`
			}
			if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &a) == nil && a.PID > 0 {
				return a.PID
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatalf("%s was not started", step)
	return 0
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		// A zombie, before whoever inherited it has waited for it, has ended too.
		if err != nil || bytes.Contains(text, []byte(") Z ")) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlived its runner", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestKilledRunnerLosesNothingAndStoresNothingTwice(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		testdata.Missing(t, "that db_bench dies with its runner is looked at in /proc")
	}
	b := newBed(t, filled+`  - test: readrandom.t2
    benchmarks: [readrandom, stats]
    needs: [fillseq]
    seconds: 3
  - test: overwrite.t2
    benchmarks: [overwrite, stats]
    needs: [fillseq]
    writes: true
    seconds: 3
  - test: fwdrange.t2
    benchmarks: [seekrandom, stats]
    needs: [fillseq]
    seconds: 1
`)
	// Large enough that the fill can be met at work.
	text, err := os.ReadFile(b.planned)
	if err != nil {
		t.Fatal(err)
	}
	b.plan(strings.Replace(string(text), "keys: 20000\ncache_bytes: 64MiB", "keys: 1000000\ncache_bytes: 1GiB", 1))
	for i, step := range []string{"fillseq", "readrandom", "overwrite"} {
		cmd, out := b.child(i > 0)
		pid := b.working(step)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatalf("the runner ended well before it was killed in %s:\n%s", step, out)
		}
		gone(t, pid)
	}
	cmd, out := b.child(true)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := b.stored()
	same(t, "stored", states(run), []string{"fillseq ok", "readrandom ok", "overwrite ok", "fwdrange ok"})
	for _, name := range []string{"01-fillseq.attempt-1", "02-readrandom.attempt-1", "03-overwrite.attempt-1"} {
		if _, err := os.Stat(filepath.Join(b.journals()[0], "steps", name)); err != nil {
			t.Errorf("the attempt that was cut off is not kept: %v", err)
		}
	}
	// The fill was made again from nothing: all keys are there.
	for _, r := range run.Results {
		if r.Step.Name == "readrandom" && !strings.Contains(r.Text, "found)") {
			t.Errorf("readrandom: %s", r.Text)
		}
		if found, ok := r.Value("found_percent"); r.Step.Name == "readrandom" && (!ok || found != 100) {
			t.Errorf("readrandom found %v %% of the keys, want all", found)
		}
	}
	if len(b.journals()) != 1 {
		t.Errorf("%d runs", len(b.journals()))
	}
	if entries, _ := os.ReadDir(filepath.Join(b.dir, "data")); len(entries) != 0 {
		t.Errorf("the database was left behind: %v", entries)
	}
	// Nothing is left to do, and doing it changes nothing.
	if s := b.run(resume); s.Left != 0 || s.Run != "" {
		t.Errorf("resuming a finished run: %+v", s)
	}
	same(t, "stored after all", states(b.stored()), []string{"fillseq ok", "readrandom ok", "overwrite ok", "fwdrange ok"})
}

func TestForeignFilesInTheDataDirectoryStay(t *testing.T) {
	t.Parallel()
	b := newBed(t, short)
	data := t.TempDir()
	theirs := filepath.Join(data, "db", "CURRENT")
	if err := os.MkdirAll(filepath.Dir(theirs), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(theirs, []byte("MANIFEST-000005\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.plan("data_dir: " + data + "\n" + short)
	if s := b.run(nil); s.Failed() {
		t.Fatalf("steps %v", outcomes(s))
	}
	if text, err := os.ReadFile(theirs); err != nil || string(text) != "MANIFEST-000005\n" {
		t.Errorf("a foreign file: %q, %v", text, err)
	}
	if entries, _ := os.ReadDir(data); len(entries) != 1 {
		t.Errorf("data directory holds %v, want the foreign database alone", entries)
	}
	b.plan("data_dir: " + data + "\nkeep_database: true\n" + short)
	s := b.run(nil)
	if _, err := os.Stat(filepath.Join(data, "relqps-"+s.Run, "db", "CURRENT")); err != nil {
		t.Errorf("a database that was to be kept: %v", err)
	}
}

func TestDatabaseThatDisappearedIsSaid(t *testing.T) {
	t.Parallel()
	b := newBed(t, short)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := b.options()
	o.Out = &interruptAt{&b.out, "2/3 readrandom: started", cancel}
	if _, err := runner.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(b.dir, "data")); err != nil {
		t.Fatal(err)
	}
	s := b.run(resume)
	same(t, "steps", outcomes(s), []string{"fillseq ok", "readrandom not_run", "fwdrange not_run"})
	if !strings.Contains(s.Steps[1].Reason, "is gone") || !s.Finished {
		t.Errorf("%+v", s)
	}
}

func TestResumeRefusesWhatIsNotTheSameRun(t *testing.T) {
	t.Parallel()
	b := newBed(t, short)
	own := filepath.Join(t.TempDir(), "db_bench")
	if err := copyFile(own, testdata.NeedProgram(t, "db_bench")); err != nil {
		t.Fatal(err)
	}
	plan := "binary: " + own + "\n" + short
	b.plan(plan)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := b.options()
	o.Out = &interruptAt{&b.out, "2/3 readrandom: started", cancel}
	if _, err := runner.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	refused := func(says string, change func(*runner.Options)) {
		t.Helper()
		o := b.options()
		o.Resume = true
		if change != nil {
			change(&o)
		}
		_, err := runner.Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), says) || bench.KindOf(err) != bench.KindConflict && bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	refused(`server: the flags say "elsewhere"`, func(o *runner.Options) { o.Context.Server = "elsewhere" })
	b.plan(strings.Replace(plan, "keys: 20000", "keys: 20001", 1))
	refused("no unfinished run of this plan as it is now", nil)
	b.plan(plan)
	file, err := os.OpenFile(own, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	file.Close()
	refused("is another program than when it began", nil)
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	refused("its program is gone", nil)
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

func TestWhatCannotRunLeavesNoRunBehind(t *testing.T) {
	t.Parallel()
	b := newBed(t, short)
	for _, test := range []struct {
		name, plan string
		context    bench.Context
		kind       bench.Kind
		says       string
	}{
		{"larger than its cache", strings.Replace(short, "cache_bytes: 64MiB", "cache_bytes: 4MiB", 1), bench.Context{}, bench.KindInvalid, "workload cached needs data that fit the block cache"},
		{"fits memory", "workload: iobuf\n" + short, bench.Context{}, bench.KindInvalid, "workload iobuf needs data larger than memory"},
		{"no program", "binary: ./no-db-bench\n" + short, bench.Context{}, bench.KindNotFound, "no program ./no-db-bench"},
		{"another server", "server: a\n" + short, bench.Context{Server: "b"}, bench.KindInvalid, `server: the flags say "b", plan test says "a"`},
		{"another version", short, bench.Context{Version: "1.2.3"}, bench.KindInvalid, `version: the flags say "1.2.3"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.plan(test.plan)
			o := b.options()
			o.Context = test.context
			_, err := runner.Run(t.Context(), o)
			if bench.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v of kind %q, want %q that says %q", err, bench.KindOf(err), test.kind, test.says)
			}
			if dirs := b.journals(); len(dirs) != 0 {
				t.Errorf("a journal of a run that was not begun: %v", dirs)
			}
		})
	}
}

func TestDryRunPrintsCommandsAndDoesNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t, "seed: 77\n"+short)
	s := b.run(func(o *runner.Options) { o.DryRun = true })
	if s.Run != "" {
		t.Errorf("summary %+v", s)
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("the work directory was made: %v", err)
	}
	var commands []string
	for line := range strings.Lines(b.out.String()) {
		if strings.HasPrefix(line, "env LC_ALL=C ") {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	if len(commands) != 3 {
		t.Fatalf("%d command lines of 3 steps:\n%s", len(commands), b.out.String())
	}
	// Run for real, the steps get these command lines, but for the run's id.
	real := b.run(nil)
	for i, r := range b.stored().Results {
		want := strings.TrimPrefix(strings.ReplaceAll(commands[i], "RUN", real.Run), "env LC_ALL=C ")
		if r.Command != want {
			t.Errorf("%s: executed\n%s\ndry run said\n%s", r.Step.Name, r.Command, want)
		}
	}
}

func TestDryRunOfAReleaseThatIsNotHere(t *testing.T) {
	t.Parallel()
	p, err := runner.LoadPlan("db_bench-quick", runner.Overrides{Set: []string{"binary=/nowhere/db_bench.5.18"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := runner.Options{Plan: p, WorkDir: t.TempDir(), DryRun: true, Out: &out, Context: bench.Context{Version: "5.18.4", Server: "s"}}
	if _, err := runner.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "/nowhere/db_bench.5.18 --benchmarks="); n != 10 || strings.Contains(text, "--cache_type") || !strings.Contains(text, "step flush: for releases from 6.19, this is 5.18.4") {
		t.Errorf("%d commands\n%s", n, text)
	}
	o.Context.Version = ""
	if _, err := runner.Run(t.Context(), o); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("without a version: %v", err)
	}
}

func TestBarOnATerminalAndLinesElsewhere(t *testing.T) {
	t.Parallel()
	b := newBed(t, short)
	b.run(func(o *runner.Options) { o.Terminal, o.Sink = true, nil })
	text := b.out.String()
	for _, want := range []string{"2/3 readrandom", "%", " left", "2/3 readrandom: ", " QPS in ", "done"} {
		if !strings.Contains(text, want) {
			t.Errorf("the bar does not show %q:\n%q", want, text)
		}
	}
	b.out.Reset()
	s := b.run(func(o *runner.Options) { o.Sink = nil })
	text = b.out.String()
	if strings.ContainsAny(text, "\r\x1b") {
		t.Errorf("lines with control characters: %q", text)
	}
	for _, want := range []string{"run " + s.Run + ": test, RocksDB ", "2/3 readrandom: started, about ", " QPS in "} {
		if !strings.Contains(text, want) {
			t.Errorf("the lines do not say %q:\n%s", want, text)
		}
	}
	if s.Left != 6 {
		t.Errorf("%d left without a sink, want the 3 of either run", s.Left)
	}
}

func TestServerIsTheHostWhenNobodySays(t *testing.T) {
	t.Parallel()
	b := newBed(t, filled)
	host, err := os.Hostname()
	if err != nil {
		testdata.Missing(t, "the host has no name")
	}
	b.run(func(o *runner.Options) { o.Context = bench.Context{Compiler: "clang.lto"} })
	run := b.stored()
	if run.Server != host || run.Build.Compiler != "clang+lto" {
		t.Errorf("server %q, compiler %q, want %q and the one stated", run.Server, run.Build.Compiler, host)
	}
	if !strings.Contains(b.out.String(), "server is called "+host+" after its host name") {
		t.Errorf("it is not said:\n%s", b.out.String())
	}
}

func TestSecondRunnerIsTurnedAway(t *testing.T) {
	t.Parallel()
	b := newBed(t, filled+"  - {test: readrandom, benchmarks: [readrandom], seconds: 3, needs: [fillseq]}\n")
	cmd, out := b.child(false)
	b.working("readrandom")
	_, err := runner.Run(t.Context(), b.options())
	if bench.KindOf(err) != bench.KindConflict || !strings.Contains(err.Error(), fmt.Sprintf("in use by process %d ", cmd.Process.Pid)) {
		t.Errorf("error %v, want a conflict that names process %d", err, cmd.Process.Pid)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestInterruptedChildStopsItsStepAndEndsCleanly(t *testing.T) {
	t.Parallel()
	b := newBed(t, filled+"  - {test: readrandom, benchmarks: [readrandom], seconds: 60, needs: [fillseq]}\n")
	cmd, out := b.child(false)
	pid := b.working("readrandom")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatalf("an interrupted run ended well:\n%s", out)
	}
	gone(t, pid)
	if !strings.Contains(out.String(), "2/2 readrandom: interrupted; --resume runs it again") {
		t.Errorf("output:\n%s", out)
	}
	same(t, "stored", states(b.stored()), []string{"fillseq ok"})
}
