package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// The journal of a run made by relqps run, as a directory or an archive of it:
//
//	run.json                      RunnerRun: identity, build, machine, command lines
//	steps/03-readrandom/
//	    result.json               RunnerStep: how the process ended, what it used
//	    stdout, stderr            whole, as printed
//	    report.csv                per-second figures (--report_file)
//	    OPTIONS                   the options file that RocksDB wrote
//
// run.json is written once, before the first step, and never changes. A step
// without result.json has not ended. An archive may hold some steps only; runs
// are joined by their id and results by theirs, so that archives of the same run
// may come in any order and more than once.
const (
	// RunnerFormat and RunnerStepFormat stand in the field format of run.json and
	// result.json, RunnerVersion in format_version.
	RunnerFormat     = "relqps run"
	RunnerStepFormat = "relqps step"
	RunnerVersion    = 1

	// The names of the files of a journal.
	RunnerRunFile     = "run.json"
	RunnerStepsDir    = "steps"
	RunnerResultFile  = "result.json"
	RunnerStdoutFile  = "stdout"
	RunnerStderrFile  = "stderr"
	RunnerReportFile  = "report.csv"
	RunnerOptionsFile = "OPTIONS"
)

// RunnerRun is run.json.
type RunnerRun struct {
	Format        string    `json:"format"`
	FormatVersion int       `json:"format_version"`
	ID            string    `json:"id"` // a UUID
	Created       time.Time `json:"created"`
	// Plan names the plan, PlanSHA256 is of everything it states, so that it is
	// known whether a plan of this name is still the same.
	Plan       string `json:"plan"`
	PlanSHA256 string `json:"plan_sha256"`
	// Context is complete; Assumed names its fields that nobody stated.
	Context     bench.Context     `json:"context"`
	Assumed     []string          `json:"assumed,omitempty"`
	Build       bench.Build       `json:"build"`
	Environment map[string]string `json:"environment"`
	// Options holds the flags that all steps share.
	Options map[string]string `json:"options,omitempty"`
	Steps   []RunnerCommand   `json:"steps"`
	// LeftOut names steps and flags of the plan that the version does not have.
	LeftOut []string `json:"left_out,omitempty"`

	// How steps are executed; of no meaning to a reader.
	Database     string            `json:"database"` // the directory made for it
	KeepDatabase bool              `json:"keep_database,omitempty"`
	Variables    map[string]string `json:"variables,omitempty"` // set in the process environment
	KillAfter    float64           `json:"kill_after_seconds"`
}

// RunnerCommand is a step as it is executed.
type RunnerCommand struct {
	Number int    `json:"number"` // from 1
	Dir    string `json:"dir"`    // below steps: 03-readrandom
	Step   string `json:"step"`
	Test   string `json:"test"` // with benchmark.sh's suffixes, see [bench.ParseStep]
	// Figure is the benchmark whose line is the result, "" for a step without one.
	Figure  string   `json:"figure,omitempty"`
	Args    []string `json:"args"`              // the program first
	Seconds int      `json:"seconds,omitempty"` // how long it lasts, 0 until it is done
	Limit   float64  `json:"limit_seconds"`
	// Operations is how many it does where the flags say so, 0 unknown.
	Operations int64    `json:"operations,omitempty"`
	Needs      []string `json:"needs,omitempty"`
	Creates    bool     `json:"creates,omitempty"` // starts from an empty database directory
	Writes     bool     `json:"writes,omitempty"`  // changes the database
}

// RunnerStep is result.json.
type RunnerStep struct {
	Format        string      `json:"format"`
	FormatVersion int         `json:"format_version"`
	Run           string      `json:"run"`
	Number        int         `json:"number"`
	Step          string      `json:"step"`
	State         bench.State `json:"state"`
	Reason        string      `json:"reason,omitempty"`
	Command       string      `json:"command"`
	// Started and Ended are absent for a step that was not run.
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	// Attempt counts from 1; an attempt that was cut off is not a result.
	Attempt  int          `json:"attempt,omitempty"`
	Exit     *RunnerExit  `json:"exit,omitempty"`
	Usage    *RunnerUsage `json:"usage,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
}

// RunnerExit says how a process ended.
type RunnerExit struct {
	Code        int    `json:"code"`             // -1 when a signal ended it
	Signal      string `json:"signal,omitempty"` // killed, segmentation fault …
	CoreDumped  bool   `json:"core_dumped,omitempty"`
	TimeLimit   bool   `json:"time_limit,omitempty"`  // the runner ended it because its time was up
	Interrupted bool   `json:"interrupted,omitempty"` // the runner ended it because it was told to stop
}

// RunnerUsage is what a process used. nil is not measured, never 0.
type RunnerUsage struct {
	RealSeconds   float64  `json:"real_s"`
	UserSeconds   *float64 `json:"user_s,omitempty"`
	SystemSeconds *float64 `json:"system_s,omitempty"`
	PeakRSSBytes  *int64   `json:"peak_rss_bytes,omitempty"`
	// ReadBytes and WrittenBytes went between the process and storage; what the
	// page cache gave is not among them, and writes that were cancelled by deleting
	// the file in time are taken off.
	ReadBytes    *int64 `json:"read_bytes,omitempty"`
	WrittenBytes *int64 `json:"written_bytes,omitempty"`
}

// runnerBundle reads a journal with all that lies in its directory.
var runnerBundle = bundle{name: RunnerFormat, claim: claimRunner, read: readRunner}

// isRunnerRun reports whether a file is run.json, by what it says of itself.
func isRunnerRun(in *input) bool {
	var head struct {
		Format string `json:"format"`
	}
	text := trimSpace(in.text)
	return len(text) > 0 && text[0] == '{' && bytes.Contains(text, []byte(`"`+RunnerFormat+`"`)) &&
		json.Unmarshal(text, &head) == nil && head.Format == RunnerFormat
}

// claimRunner claims the directories that hold a run.json; the file itself comes
// first.
func claimRunner(s *set) [][]*input {
	var runs []*input
	for _, in := range s.files {
		if isRunnerRun(in) {
			runs = append(runs, in)
		}
	}
	// Outer directories first: the uploads kept in a journal are part of it.
	slices.SortStableFunc(runs, func(a, b *input) int { return strings.Count(a.path, "/") - strings.Count(b.path, "/") })
	var all [][]*input
	claimed := map[*input]bool{}
	for _, run := range runs {
		if claimed[run] {
			continue
		}
		files := []*input{run}
		claimed[run] = true
		for _, in := range s.files {
			if !claimed[in] && inDir(in.path, path.Dir(run.path)) {
				claimed[in] = true
				files = append(files, in)
			}
		}
		all = append(all, files)
	}
	return all
}

// inDir reports whether a path lies below a directory; "." holds all.
func inDir(name, dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// readRunner reads a journal; run.json is the first file.
func readRunner(files []*input) []output {
	outs := make([]output, len(files))
	index := map[string]int{}
	for i, in := range files {
		outs[i].state = bench.FileAttachment
		index[in.path] = i
	}
	main := files[0]
	refuse := func(file, format string, args ...any) []output {
		for i := range outs {
			outs[i] = output{state: bench.FileAttachment}
		}
		outs[index[file]] = refused(bench.Message{File: file, Text: fmt.Sprintf(format, args...)})
		return outs
	}
	var journal RunnerRun
	if err := json.Unmarshal(main.text, &journal); err != nil {
		return refuse(main.path, "not a run's journal: %v", err)
	}
	if problem := journal.problem(); problem != "" {
		return refuse(main.path, "%s", problem)
	}
	run, err := journal.run(main)
	if err != nil {
		return refuse(main.path, "%s", err.Error())
	}
	outs[0].state = bench.FileTaken
	for _, left := range journal.LeftOut {
		outs[0].warnings = append(outs[0].warnings, bench.Message{File: main.path, Text: "left out: " + left})
	}
	for i := range journal.Steps {
		c := &journal.Steps[i]
		dir := path.Join(path.Dir(main.path), RunnerStepsDir, c.Dir)
		at, ok := index[path.Join(dir, RunnerResultFile)]
		if !ok {
			continue // it has not ended, or is in another archive
		}
		var step RunnerStep
		if err := json.Unmarshal(files[at].text, &step); err != nil {
			return refuse(files[at].path, "not a step's result: %v", err)
		}
		if problem := step.problem(&journal, c); problem != "" {
			return refuse(files[at].path, "%s", problem)
		}
		outs[at].state = bench.FileTaken
		stream := func(name string) []byte {
			k, ok := index[path.Join(dir, name)]
			if !ok {
				return nil
			}
			outs[k].state = bench.FileTaken
			return files[k].raw
		}
		results, reading, err := ReadRunnerStep(c, &step, RunnerOutput{
			Dir: dir, Stdout: stream(RunnerStdoutFile), Stderr: stream(RunnerStderrFile), Report: stream(RunnerReportFile),
		})
		if err != nil {
			return refuse(files[at].path, "%s", err.Error())
		}
		for _, m := range reading.Messages {
			if k, ok := index[m.File]; ok {
				outs[k].messages = append(outs[k].messages, m)
			}
		}
		if v := reading.Version; v != "" && !bench.VersionWithin(journal.Build.Version, v) {
			return refuse(path.Join(dir, RunnerStderrFile), "version: run.json says %q, the program %q", journal.Build.Version, v)
		}
		for key, value := range reading.Environment {
			if _, known := run.Environment[key]; !known && key == "cpu_cache" {
				run.Environment[key] = value
			}
		}
		run.Results = append(run.Results, results...)
	}
	outs[0].runs = []bench.Run{run}
	return outs
}

var (
	uuidRe      = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	runnerDirRe = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

// problem says what makes a run.json unusable, "" for nothing.
func (r *RunnerRun) problem() string {
	c := r.Context
	switch {
	case r.FormatVersion != RunnerVersion:
		return fmt.Sprintf("format_version %d is not known here, only %d: read it with a newer relqps", r.FormatVersion, RunnerVersion)
	case !uuidRe.MatchString(r.ID):
		return fmt.Sprintf("id is no UUID: %q", r.ID)
	case c.Server == "" || c.System == "" || c.Suite == "" || c.Workload == "" || c.Version == "" || c.Compiler == "":
		return "context is not complete: server, system, suite, workload, version and compiler are all stated by a runner"
	case r.Build.Version != c.Version || r.Build.Compiler != c.Compiler:
		return fmt.Sprintf("build (%s %s) and context (%s %s) contradict each other", r.Build.Version, r.Build.Compiler, c.Version, c.Compiler)
	}
	seen := map[string]bool{}
	for i := range r.Steps {
		s := &r.Steps[i]
		if !runnerDirRe.MatchString(s.Dir) || s.Step == "" || bench.ParseStep(s.Test).Name != s.Step || len(s.Args) == 0 {
			return fmt.Sprintf("step %d is not complete", i+1)
		}
		if seen[s.Dir] || seen["step "+s.Step] {
			return fmt.Sprintf("step %s stands twice", s.Step)
		}
		seen[s.Dir], seen["step "+s.Step] = true, true
	}
	return ""
}

// problem says what makes a result.json unusable, "" for nothing.
func (s *RunnerStep) problem(run *RunnerRun, c *RunnerCommand) string {
	switch {
	case s.Format != RunnerStepFormat || s.FormatVersion != RunnerVersion:
		return fmt.Sprintf("not a step's result of this version: %q %d", s.Format, s.FormatVersion)
	case s.Run != run.ID || s.Step != c.Step || s.Number != c.Number:
		return fmt.Sprintf("belongs to step %d, %s, of run %s, not to this one", s.Number, s.Step, s.Run)
	case s.State != bench.StateOK && s.State != bench.StateFailed && s.State != bench.StateNotRun:
		return fmt.Sprintf("not a state: %q", s.State)
	case s.State != bench.StateOK && s.Reason == "":
		return "a step that is not ok has no reason"
	}
	return ""
}

// run gives the run without its results. What the upload states may fill or
// correct what the runner only assumed, and contradict nothing else.
func (r *RunnerRun) run(in *input) (bench.Run, error) {
	content, assumed := r.Context, []string(nil)
	for _, field := range r.Assumed {
		if field == "compiler" && in.given.Compiler != "" {
			content.Compiler = ""
			continue
		}
		assumed = append(assumed, field)
	}
	c, err := content.Normalized().Fill(in.given, RunnerRunFile, givenBy)
	if err != nil {
		return bench.Run{}, err
	}
	run := bench.Run{
		ID: r.ID, System: c.System, Suite: c.Suite, Server: c.Server, Workload: c.Workload, Config: c.Config,
		Build: r.Build, Clients: c.Clients, Assumed: assumed, Options: copyMap(r.Options), Environment: map[string]string{},
	}
	run.Build.Compiler = c.Compiler
	for key, value := range r.Environment {
		run.Environment[key] = value
	}
	run.Environment["plan"] = r.Plan
	return run, nil
}

// RunnerOutput is what a step left behind; nil is a file that is not there.
type RunnerOutput struct {
	Dir                    string // names the files in messages and sources
	Stdout, Stderr, Report []byte
}

// ReadRunnerStep gives the results of a step: what its program printed, under
// the step's own name, with what the runner measured of the process. The state
// is the runner's, who saw how the process ended; a step that failed has the
// runner's figures only. reading is what the program printed beside results. The
// error, of kind invalid, says that the output is not of one execution.
func ReadRunnerStep(c *RunnerCommand, step *RunnerStep, out RunnerOutput) (results []bench.Result, reading LogReading, err error) {
	resultFile := path.Join(out.Dir, RunnerResultFile)
	if step.State == bench.StateNotRun {
		parsed := bench.ParseStep(c.Test)
		return []bench.Result{{
			Step: parsed, Role: bench.StepRole(bench.SuiteDBBench, parsed.Name), State: bench.StateNotRun, Reason: step.Reason,
			Origin: bench.OriginMeasured, Command: step.Command, Sources: []bench.Source{{File: resultFile}},
		}}, LogReading{}, nil
	}
	reading, err = ReadDBBenchLog(out.Stdout, out.Stderr, LogSource{
		Stdout: path.Join(out.Dir, RunnerStdoutFile), Stderr: path.Join(out.Dir, RunnerStderrFile),
		Step: c.Test, Command: step.Command, Intervals: out.Report, Failure: step.Reason,
	})
	if err != nil {
		return nil, reading, err
	}
	results = reading.Results
	main := c.mainResult(results)
	for i := range results {
		r := &results[i]
		r.Command = step.Command
		if r.Started.IsZero() && step.Started != nil {
			r.Started = bench.ZonedTime(*step.Started)
		} else if step.Started != nil {
			// db_bench prints no zone; the runner, on the same clock, knows it.
			_, offset := step.Started.Zone()
			r.Started = bench.LocalTimeOf(r.Started.Wall(), &offset)
		}
	}
	r := &results[main]
	if name := bench.ParseStep(c.Test); r.Step.Name != name.Name {
		name.Threads = max(name.Threads, r.Step.Threads)
		r.Step, r.Role = name, bench.StepRole(bench.SuiteDBBench, name.Name)
	}
	if step.State == bench.StateFailed {
		// A figure of a process that did not end well says nothing.
		for i := range results {
			f := &results[i]
			if f.State == bench.StateNotRun && i != main {
				continue
			}
			f.State, f.Reason = bench.StateFailed, step.Reason
			f.Primary, f.PrimaryText, f.Values, f.Histograms, f.Breakdowns = "", "", nil, nil, nil
		}
	} else if c.Figure == "" {
		// Nothing printed says so, but its exit status does.
		r.State, r.Reason = bench.StateOK, ""
	}
	if step.Usage != nil {
		for _, v := range step.Usage.values() {
			r.Set(v)
		}
	}
	for _, w := range step.Warnings {
		r.Warnings = append(r.Warnings, bench.Message{File: resultFile, Text: w})
	}
	return results, reading, nil
}

// mainResult gives the index of the result that the step is about: the last of
// the benchmark named as its figure, else of the step itself, else the last.
func (c *RunnerCommand) mainResult(results []bench.Result) int {
	main := len(results) - 1
	for _, name := range []string{c.Figure, c.Step} {
		for i := range results {
			if results[i].Step.Name == name {
				main = i
			}
		}
	}
	return main
}

// The unit of sizes in metrics, as db_bench counts.
const runnerGB = 1 << 30

// values gives the runner's figures of a process. Times come from the kernel in
// microseconds, memory in pages, storage traffic in pages or sectors.
func (u *RunnerUsage) values() []bench.Value {
	values := []bench.Value{{Metric: "real_s", Number: u.RealSeconds, Resolution: 1e-3, SourceName: "wall clock"}}
	add := func(metric string, n *float64, resolution float64, source string) {
		if n != nil {
			values = append(values, bench.Value{Metric: metric, Number: *n, Resolution: resolution, SourceName: source})
		}
	}
	size := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		gb := float64(*n) / runnerGB
		return &gb
	}
	add("user_cpu_s", u.UserSeconds, 1e-6, "ru_utime")
	add("system_cpu_s", u.SystemSeconds, 1e-6, "ru_stime")
	add("rss_gb", size(u.PeakRSSBytes), 4096.0/runnerGB, "ru_maxrss")
	add("read_io_gb", size(u.ReadBytes), 512.0/runnerGB, "read_bytes")
	add("write_io_gb", size(u.WrittenBytes), 512.0/runnerGB, "write_bytes")
	return values
}
