package runner

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// Sink takes results. The database behind an ingester and a server's API are the
// two there are. Submit is called with the same bytes again when it is not known
// whether an earlier call arrived. An error of kind unavailable, or of no kind,
// means later; of another kind, that these bytes are refused.
type Sink interface {
	Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error)
}

// Options is the input of [Run].
type Options struct {
	Plan *Plan
	// Context is what flags say; it fills what the plan leaves open and must not
	// contradict it. The server is the host's name when nobody states one.
	Context bench.Context
	// WorkDir holds journals and, by default, databases. It is made when missing.
	WorkDir string
	// Sink takes the results; nil keeps them in the journal, to be posted by a
	// later Resume.
	Sink Sink
	// Target names where the sink writes, such as the server's address, so that
	// the journal knows what was posted where. It must hold no secret.
	Target string
	// Resume posts what earlier runs of WorkDir left and goes on with the newest
	// unfinished run of this plan instead of beginning one.
	Resume bool
	// DryRun prints the command lines and does nothing else.
	DryRun bool
	// Shared allows other runners to measure on this host at the same time.
	Shared bool
	// AnyDisk lets a run begin although its data may fill the disk.
	AnyDisk bool
	// Out is told how it goes: with a bar when Terminal is set, in plain lines
	// otherwise. nil tells nobody.
	Out      io.Writer
	Terminal bool
	Logger   *slog.Logger // nil discards
}

// Outcome is what became of a step.
type Outcome struct {
	Step   string
	State  bench.State // "" when it has not been run yet
	Reason string
	// QPS is the step's result where it has one.
	QPS *float64
	// Posted is set when the sink has it; Refused says why it does not want it.
	Posted  bool
	Refused string
}

// Summary is the output of [Run].
type Summary struct {
	Run   string // the run's id, "" when none was begun or resumed
	Dir   string // of its journal
	Steps []Outcome
	// Left counts results, of all runs of the work directory, that the sink does
	// not have yet.
	Left int
	// Finished is set when no step of the run is left.
	Finished bool
	// Runs are the addresses of the run as the sink knows it.
	Runs []bench.RunRef
}

// Failed reports whether a step failed, was not run, or was refused by the sink.
func (s *Summary) Failed() bool {
	return slices.ContainsFunc(s.Steps, func(o Outcome) bool {
		return o.State == bench.StateFailed || o.State == bench.StateNotRun || o.Refused != ""
	})
}

// postTimeout bounds one call of the sink.
const postTimeout = time.Minute

// Run executes a plan. The summary is valid with an error too. Errors: of kind
// invalid for a plan that cannot be run here as it is, not_found for a missing
// program, conflict when the work directory or the host is in use or a run to be
// resumed does not belong to the plan; ctx's error when it was told to stop,
// after the step in progress was ended and what is known was written. Failed
// steps and a sink that is away are no errors: the summary has them.
func Run(ctx context.Context, o Options) (Summary, error) {
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Plan == nil || o.WorkDir == "" {
		return Summary{}, bench.Errorf(bench.KindInvalid, "a run needs a plan and a work directory")
	}
	workDir, err := filepath.Abs(o.WorkDir)
	if err != nil {
		return Summary{}, err
	}
	o.WorkDir = workDir
	if o.DryRun {
		return Summary{}, dryRun(ctx, &o)
	}
	if err := os.MkdirAll(o.WorkDir, 0o755); err != nil {
		return Summary{}, err
	}
	held, err := lockDir(o.WorkDir)
	if err != nil {
		return Summary{}, err
	}
	defer held.release()

	all, err := openJournals(o.WorkDir)
	if err != nil {
		return Summary{}, err
	}
	r := &runner{Options: o}
	if o.Resume {
		err = r.resume(ctx, all)
	} else {
		for _, j := range all {
			if !j.isFinished() {
				fmt.Fprintf(o.Out, "note: run %s of %s was not finished; --resume goes on with it\n", j.run.ID, j.run.Plan)
			}
		}
		err = r.begin(ctx)
	}
	return r.summary(all), err
}

// runner is one call of [Run].
type runner struct {
	Options
	journal  *journal // of the run in progress; nil before there is one
	progress *progress
	// away is set when the sink did not answer, so that it is said once.
	away bool
	// changed says what of the machine is not as it was when the run began.
	changed []string
	runs    []bench.RunRef
}

// begin starts a run and executes its steps.
func (r *runner) begin(ctx context.Context) error {
	p := r.Plan
	if err := r.checkMemory(); err != nil {
		return err
	}
	end, err := r.claim()
	if err != nil {
		return err
	}
	defer end()
	binary, err := InspectBinary(ctx, p.Binary)
	if err != nil {
		return err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	created := time.Now().Truncate(time.Second)
	run := &ingest.RunnerRun{
		Format: ingest.RunnerFormat, FormatVersion: ingest.RunnerVersion, ID: id.String(), Created: created,
		Plan: p.Name, PlanSHA256: p.hash(), KeepDatabase: p.KeepDatabase, Variables: p.Environment,
		KillAfter: time.Duration(p.KillAfter).Seconds(),
	}
	var notes []string
	if run.Context, run.Build, run.Assumed, notes, err = describe(p, r.Context, binary); err != nil {
		return err
	}
	db := newDatabase(p.dataDir(r.WorkDir), run.ID)
	run.Database = db.dir
	steps := filepath.Join(r.WorkDir, dirRuns, run.ID, ingest.RunnerStepsDir)
	resolved, err := p.Resolve(binary.Version, binary.Path, steps, db.path(), p.seed(created))
	if err != nil {
		return err
	}
	run.Steps, run.LeftOut, run.Options = resolved.Commands, resolved.LeftOut, resolved.Options
	if err := os.MkdirAll(filepath.Dir(db.dir), 0o755); err != nil {
		return err
	}
	if free, ok := freeBytes(filepath.Dir(db.dir)); ok {
		err := p.checkSpace(filepath.Dir(db.dir), free)
		switch {
		case err != nil && !r.AnyDisk:
			return err
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s has %s free, and the data alone are %s: the disk may fill up", filepath.Dir(db.dir), free, p.DataBytes()))
		}
	}
	run.Environment = Host(ctx, filepath.Dir(db.dir))
	if r.journal, err = createJournal(r.WorkDir, run); err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "run %s: %s, RocksDB %s (%s), server %s, workload %s, %d steps\n", run.ID, p.Name, run.Build.Version, run.Build.Compiler,
		run.Context.Server, run.Context.Workload, len(run.Steps))
	for _, note := range append(notes, run.LeftOut...) {
		fmt.Fprintf(r.Out, "note: %s\n", note)
	}
	return r.execute(ctx)
}

// resume posts what was left and goes on with the newest unfinished run of the
// plan.
func (r *runner) resume(ctx context.Context, all []*journal) error {
	for _, j := range all {
		if j.isFinished() {
			if err := r.postLeft(ctx, j, true); err != nil {
				return err
			}
		}
	}
	var others []string
	for _, j := range slices.Backward(all) {
		if j.isFinished() {
			continue
		}
		if j.run.PlanSHA256 == r.Plan.hash() {
			r.journal = j
			break
		}
		others = append(others, j.run.ID+" of "+j.run.Plan)
	}
	if r.journal == nil {
		if len(others) > 0 {
			return bench.Errorf(bench.KindConflict, "no unfinished run of this plan as it is now; unfinished with another one: %s", strings.Join(others, ", "))
		}
		fmt.Fprintln(r.Out, "no unfinished run")
		return nil
	}
	run := r.journal.run
	if err := agree(r.Context, run.Context); err != nil {
		return err
	}
	program := run.Steps[0].Args[len(r.Plan.Prefix)]
	sum, err := fileSHA256(program)
	if err != nil {
		return bench.Errorf(bench.KindConflict, "run %s cannot go on: its program is gone: %w", run.ID, err)
	}
	if sum != run.Build.BinarySHA256 {
		return bench.Errorf(bench.KindConflict, "run %s cannot go on: %s is another program than when it began", run.ID, program)
	}
	if err := r.checkMemory(); err != nil {
		return err
	}
	end, err := r.claim()
	if err != nil {
		return err
	}
	defer end()
	fmt.Fprintf(r.Out, "run %s of %s goes on\n", run.ID, run.Plan)
	r.changed = changedFacts(run.Environment, Host(ctx, filepath.Dir(run.Database)))
	for _, change := range r.changed {
		fmt.Fprintf(r.Out, "note: %s\n", change)
	}
	if err := r.postLeft(ctx, r.journal, true); err != nil {
		return err
	}
	return r.execute(ctx)
}

// claim sees to it that nobody else measures on this host, unless that is
// allowed. The returned function ends the claim.
func (r *runner) claim() (func(), error) {
	if r.Shared {
		return func() {}, nil
	}
	return claimHost()
}

// changedFacts names the facts that figures hang on and that are no longer what
// they were when a run began.
func changedFacts(then, now map[string]string) []string {
	var changes []string
	for _, key := range []string{"cpu", "cpus", "governor", "smt", "memory_bytes", "memory_limit_bytes", "kernel", "file_system", "device", "max_sectors_kb"} {
		if then[key] != now[key] {
			changes = append(changes, fmt.Sprintf("%s was %q when the run began and is %q now", key, then[key], now[key]))
		}
	}
	return changes
}

func (r *runner) checkMemory() error {
	m, err := ReadMemory()
	if err != nil {
		return err
	}
	return r.Plan.CheckMemory(m)
}

// hash identifies everything a plan states.
func (p *Plan) hash() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // a plan holds plain values
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (p *Plan) dataDir(workDir string) string {
	if p.DataDir == "" {
		return filepath.Join(workDir, "data")
	}
	if abs, err := filepath.Abs(p.DataDir); err == nil {
		return abs
	}
	return p.DataDir
}

func (p *Plan) seed(created time.Time) int64 {
	if p.Seed > 0 {
		return p.Seed
	}
	return created.Unix()
}

// describe says what is measured: from flags, plan and binary.
func describe(p *Plan, flags bench.Context, b *Binary) (c bench.Context, build bench.Build, assumed, notes []string, err error) {
	stated := bench.Context{
		System: p.System, Suite: p.Suite, Workload: p.Workload, Config: p.Config, Server: p.Server,
		Compiler: p.Build.Compiler, Clients: p.Clients,
	}
	if c, err = flags.Normalized().Fill(stated.Normalized(), "the flags", "plan "+p.Name); err != nil {
		return
	}
	if c, err = c.Fill(bench.Context{Version: b.Version}, "the flags", b.Path); err != nil {
		return
	}
	c.Version = b.Version
	if c.Server == "" {
		if c.Server, err = os.Hostname(); err != nil {
			err = bench.Errorf(bench.KindInvalid, "the server has no name: state one with --server")
			return
		}
		notes = append(notes, fmt.Sprintf("server is called %s after its host name; --server gives it another name", c.Server))
	}
	build = bench.Build{
		Version: b.Version, CompilerVersion: p.Build.CompilerVersion, Flags: p.Build.Flags, Command: p.Build.Command,
		GitHash: b.GitHash, BinarySHA256: b.SHA256,
	}
	switch {
	case c.Compiler != "":
		if c.Compiler == b.Compiler && build.CompilerVersion == "" {
			build.CompilerVersion = b.CompilerVersion
		}
		if b.Compiler != "" && c.Compiler != b.Compiler {
			notes = append(notes, fmt.Sprintf("compiler is stated as %s, while the binary says it was made by %s %s", c.Compiler, b.Compiler, b.CompilerVersion))
		}
	case b.Compiler != "":
		c.Compiler = b.Compiler
		if build.CompilerVersion == "" {
			build.CompilerVersion = b.CompilerVersion
		}
	default:
		c.Compiler = "gcc"
		assumed = append(assumed, "compiler")
		notes = append(notes, "the binary does not say which compiler made it: gcc is assumed; --compiler states it")
	}
	build.Compiler = c.Compiler
	c.Versions = nil
	return
}

// agree reports a contradiction between flags and the context of a run that is
// resumed.
func agree(flags, run bench.Context) error {
	_, err := flags.Normalized().Fill(run, "the flags", "the run")
	return err
}

// execute runs the steps that are left, one after another.
func (r *runner) execute(ctx context.Context) error {
	j := r.journal
	steps := j.run.Steps
	states := map[string]bench.State{}
	reasons := map[string]string{}
	var left []*ingest.RunnerCommand
	for i := range steps {
		result, ok, err := j.result(&steps[i])
		if err != nil {
			return err
		}
		if ok {
			states[result.Step], reasons[result.Step] = result.State, result.Reason
		} else {
			left = append(left, &steps[i])
		}
	}
	db := &database{j.run.Database, j.run.ID}
	r.progress = newProgress(r.Out, r.Terminal, left, len(steps))
	complete := false
	defer func() { r.progress.close(complete) }()
	for _, c := range left {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.progress.step(c)
		result, outcome, err := r.step(ctx, c, db, states, reasons)
		if err != nil {
			return err
		}
		if err := j.record(c, result); err != nil {
			return err
		}
		states[c.Step], reasons[c.Step] = result.State, result.Reason
		r.progress.ended(c, outcome)
		if err := r.postLeft(ctx, j, false); err != nil {
			return err
		}
	}
	complete = true
	if !j.run.KeepDatabase {
		if err := db.remove(); err != nil {
			r.progress.say("note: %v", err)
		}
	}
	return j.finish()
}

// step executes one step, or says why it cannot. The error is one that ends the
// run: ctx is done, or the journal cannot be written.
func (r *runner) step(ctx context.Context, c *ingest.RunnerCommand, db *database, states map[string]bench.State, reasons map[string]string) (*ingest.RunnerStep, string, error) {
	result := &ingest.RunnerStep{
		Format: ingest.RunnerStepFormat, FormatVersion: ingest.RunnerVersion, Run: r.journal.run.ID, Number: c.Number, Step: c.Step,
		Command: shellLine(c.Args),
	}
	notRun := func(format string, args ...any) (*ingest.RunnerStep, string, error) {
		result.State, result.Reason = bench.StateNotRun, fmt.Sprintf(format, args...)
		return result, "not run: " + result.Reason, nil
	}
	attempts, last, err := r.journal.setAside(c)
	if err != nil {
		return nil, "", err
	}
	if last != nil {
		awaitOrphan(last)
	}
	for _, need := range c.Needs {
		switch states[need] {
		case bench.StateFailed:
			return notRun("it needs %s, which failed: %s", need, reasons[need])
		case bench.StateNotRun:
			return notRun("it needs %s, which was not run", need)
		}
	}
	if c.Creates {
		if err := db.create(); err != nil {
			return nil, "", err
		}
	} else {
		exists, ready, err := db.state()
		if err != nil {
			return nil, "", err
		}
		if !exists || !ready {
			return notRun("the database that earlier steps made, in %s, is gone", db.dir)
		}
	}
	for i := range r.journal.run.Steps {
		earlier := &r.journal.run.Steps[i]
		if earlier.Number < c.Number && earlier.Writes && states[earlier.Step] == bench.StateFailed {
			result.Warnings = append(result.Warnings, fmt.Sprintf("%s failed before it: the database is not as in other runs", earlier.Step))
		}
	}
	result.Warnings = append(result.Warnings, r.changed...)
	if attempts > 0 {
		warning := fmt.Sprintf("attempt %d; the one before was cut off", attempts+1)
		if c.Writes && !c.Creates {
			warning += ", and the database holds what it had written"
		}
		result.Warnings = append(result.Warnings, warning)
	}

	dir := r.journal.stepDir(c)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, "", err
	}
	result.Attempt = attempts + 1
	now := time.Now()
	note := attempt{Attempt: result.Attempt, Started: now}
	if err := writeJSON(filepath.Join(dir, fileAttempt), note); err != nil {
		return nil, "", err
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, "", err
	}
	p := process{
		args: c.Args, dir: dir, env: childEnvironment(r.journal.run.Variables),
		stdout: filepath.Join(dir, ingest.RunnerStdoutFile), stderr: filepath.Join(dir, ingest.RunnerStderrFile),
		limit:     time.Duration(c.Limit * float64(time.Second)),
		killAfter: time.Duration(r.journal.run.KillAfter * float64(time.Second)),
		started: func(pid int) {
			note.PID = pid
			note.ProcessStart, _ = processStart(pid)
			if err := writeJSON(filepath.Join(dir, fileAttempt), note); err != nil {
				r.Logger.Warn("note of the process not written", "step", c.Step, "error", err)
			}
		},
		tick: func(elapsed time.Duration) {
			r.progress.tick(c, elapsed, filepath.Join(dir, ingest.RunnerReportFile))
		},
	}
	r.Logger.Info("step starts", "run", r.journal.run.ID, "step", c.Step, "command", result.Command)
	exit, usage, err := p.run(ctx)
	ended := time.Now()
	var figure string
	switch {
	case exit.Interrupted:
		r.Logger.Info("step interrupted", "step", c.Step)
		r.progress.say("%d/%d %s: interrupted; --resume runs it again", c.Number, len(r.journal.run.Steps), c.Step)
		return nil, "", context.Cause(ctx)
	case err != nil:
		result.State, result.Reason = bench.StateFailed, err.Error()
	default:
		result.Exit, result.Usage = &exit, &usage
		if result.State, result.Reason, figure, err = judge(c, exit, dir); err != nil {
			return nil, "", err
		}
	}
	result.Started, result.Ended = &now, &ended
	if err := keepOptions(db.path(), dir, now); err != nil {
		r.Logger.Warn("options file not kept", "step", c.Step, "error", err)
	}
	for _, name := range []string{ingest.RunnerReportFile, ingest.RunnerOptionsFile} {
		if err := syncFile(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
	}
	if c.Creates && result.State == bench.StateOK {
		if err := db.mark(true); err != nil {
			return nil, "", err
		}
	}
	if err := os.Remove(filepath.Join(dir, fileAttempt)); err != nil {
		return nil, "", err
	}
	outcome := "failed: " + result.Reason
	if result.State == bench.StateOK {
		if figure == "" {
			figure = "done"
		}
		outcome = fmt.Sprintf("%s in %.1f s", figure, usage.RealSeconds)
	}
	return result, outcome, nil
}

// awaitOrphan sees to it that the process of an attempt that was cut off is
// gone. The kernel kills it with the runner; this is for the moment until it
// has.
func awaitOrphan(a *attempt) {
	for i := 0; a.PID > 0 && i < 100; i++ {
		start, alive := processStart(a.PID)
		if !alive || start != a.ProcessStart {
			return
		}
		if i == 20 {
			_ = syscall.Kill(a.PID, syscall.SIGKILL) // it is ours: same id, same start
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// keepOptions copies the newest options file of a database and its LOG beside
// the step's output, if they were written since the step began: one that never
// opened the database leaves those of the step before. Releases before 4.3 write
// no options file.
func keepOptions(db, dir string, since time.Time) error {
	// File systems note times to a tick of the kernel, which may lie before.
	since = since.Add(-20 * time.Millisecond)
	ours := func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && !info.ModTime().Before(since)
	}
	names, err := filepath.Glob(filepath.Join(db, "OPTIONS-*"))
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, ".dbtmp") || !ours(n) })
	if len(names) > 0 {
		slices.Sort(names) // numbers are padded to one width
		text, err := os.ReadFile(names[len(names)-1])
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, ingest.RunnerOptionsFile), text); err != nil {
			return err
		}
	}
	if !ours(filepath.Join(db, "LOG")) {
		return nil
	}
	log, err := os.Open(filepath.Join(db, "LOG"))
	if err != nil {
		return err
	}
	defer log.Close()
	out, err := os.Create(filepath.Join(dir, "LOG.gz"))
	if err != nil {
		return err
	}
	zipped := gzip.NewWriter(out)
	_, err = io.Copy(zipped, log)
	if closeErr := zipped.Close(); err == nil {
		err = closeErr
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

func syncFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}

// freeBytes gives the space that is free for this user where a directory lies, or will
// lie.
func freeBytes(dir string) (Size, bool) {
	var s syscall.Statfs_t
	for {
		err := syscall.Statfs(dir, &s)
		if err == nil {
			break
		}
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			return 0, false
		}
		dir = up
	}
	return Size(int64(s.Bavail) * int64(s.Bsize)), true
}

// postLeft hands over what a run has and the sink does not, in order, until the
// sink does not answer. The error is one of the journal, or of ctx.
// What it refused before is tried again when again is set.
func (r *runner) postLeft(ctx context.Context, j *journal, again bool) error {
	if r.Sink == nil {
		return nil
	}
	for i := range j.run.Steps {
		c := &j.run.Steps[i]
		if _, ok, err := j.result(c); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		p, err := j.posted(c, r.Target)
		if err != nil {
			return err
		}
		if p != nil && (p.Refused == "" || !again) {
			continue
		}
		more, err := r.post(ctx, j, c)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// post hands over one step; more is false when the sink does not answer.
func (r *runner) post(ctx context.Context, j *journal, c *ingest.RunnerCommand) (more bool, err error) {
	text, err := j.upload(c)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(text)
	call, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	receipt, err := r.Sink.Submit(call, bench.Upload{
		Filename: fmt.Sprintf("relqps-%s-%s.tar.gz", j.run.ID, c.Dir), SHA256: hex.EncodeToString(sum[:]), Bytes: text, Actor: "runner",
	})
	posting := posting{Target: r.Target, Time: time.Now().Truncate(time.Second), Upload: receipt.UploadID, Runs: receipt.Runs}
	switch kind := bench.KindOf(err); {
	case err == nil:
		if len(receipt.Refused) > 0 {
			posting.Refused = receipt.Refused[0].String()
		}
		if len(receipt.Runs) > 0 {
			r.runs = receipt.Runs
		}
	case ctx.Err() != nil:
		return false, ctx.Err()
	case kind == bench.KindInvalid, kind == bench.KindConflict, kind == bench.KindTooLarge:
		posting.Refused = err.Error()
	default:
		r.Logger.Warn("results not posted", "step", c.Step, "target", r.Target, "error", err)
		if !r.away {
			r.say("note: results cannot be posted now (%v); they wait in %s, --resume posts them", err, j.dir)
		}
		r.away = true
		return false, nil
	}
	r.away = false
	if posting.Refused != "" {
		r.Logger.Error("results refused", "step", c.Step, "target", r.Target, "reason", posting.Refused)
		r.say("note: results of %s were refused: %s; they stay in %s", c.Step, posting.Refused, j.dir)
	}
	return true, j.recordPosting(c, posting)
}

func (r *runner) say(format string, args ...any) {
	if r.progress != nil {
		r.progress.say(format, args...)
		return
	}
	fmt.Fprintf(r.Out, format+"\n", args...)
}

// summary tells what is known now; it reads the journals, so that it says what
// is on disk.
func (r *runner) summary(others []*journal) Summary {
	var s Summary
	for _, j := range others {
		if r.journal == nil || j.dir != r.journal.dir {
			s.Left += r.left(j)
		}
	}
	j := r.journal
	if j == nil {
		return s
	}
	s.Run, s.Dir, s.Finished, s.Runs = j.run.ID, j.dir, j.isFinished(), r.runs
	s.Left += r.left(j)
	for i := range j.run.Steps {
		c := &j.run.Steps[i]
		o := Outcome{Step: c.Step}
		if result, ok, err := j.result(c); err == nil && ok {
			o.State, o.Reason = result.State, result.Reason
			if result.State == bench.StateOK {
				o.QPS = qps(c, result, j.stepDir(c))
			}
		}
		if p, err := j.posted(c, r.Target); err == nil && p != nil {
			o.Posted, o.Refused = p.Refused == "", p.Refused
			if len(s.Runs) == 0 {
				s.Runs = p.Runs
			}
		}
		s.Steps = append(s.Steps, o)
	}
	return s
}

// left counts the results of a run that the sink does not have.
func (r *runner) left(j *journal) int {
	n := 0
	for i := range j.run.Steps {
		c := &j.run.Steps[i]
		if _, ok, err := j.result(c); err != nil || !ok {
			continue
		}
		if p, err := j.posted(c, r.Target); err == nil && p == nil {
			n++
		}
	}
	return n
}
