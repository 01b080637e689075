package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// UnknownStep is the name of a step that failed before anything named it: the
// log has neither a command line nor a result.
const UnknownStep = "unknown"

// The reasons why a figure must not be compared, see [bench.Result.Excluded].
const (
	excludedAssertions  = "assertions are enabled"
	excludedUnoptimised = "optimization is disabled"
	excludedWarmup      = "warm-up run"
)

// stepSource is what is known of a process besides its output.
type stepSource struct {
	// test is benchmark.sh's name of the step (fwdrange.t8), "" when nobody says.
	test string
	// benchmarks are the entries of --benchmarks, nil when nobody says.
	benchmarks []string
	// failure says how the process ended as its parent saw it, "" for well or
	// unknown.
	failure string
	// file is blamed where a result has no line of its own.
	file string
	// intervals are the figures of --report_file, which hold the last benchmark
	// of a process.
	intervals []bench.TimeSeries
	usage     Usage // of a .time file
}

// results gives the results of one process: one per op-line, and those that are
// missing.
func (x *Process) results(src stepSource) []bench.Result {
	if src.test == "" {
		src.test = x.Command.Test
	}
	if src.benchmarks == nil {
		src.benchmarks = x.Command.Benchmarks()
	}
	usage := x.Usage.fill(src.usage)
	reason := x.reason()
	for _, why := range []string{src.failure, usage.failure()} {
		if reason == "" {
			reason = why
		}
	}

	named := src.test != "" && x.oneName()
	ix := newIndex(x)
	results := make([]bench.Result, 0, len(x.Ops)+1)
	for i := range x.Ops {
		results = append(results, x.opResult(ix, i, src, named))
	}
	results = append(results, x.missing(src, reason, named)...)
	if len(results) == 0 {
		results = append(results, x.bareResult(ix, src, reason))
	} else if reason != "" && !anyFailed(results) {
		// All that was asked for is there, and yet it ended badly.
		last := &results[len(results)-1]
		last.Warnings = append(last.Warnings, bench.Message{File: x.File, Line: x.failureLine(), Text: "db_bench did not end well: " + reason})
	}

	if last := lastOp(results); last >= 0 {
		r := &results[last]
		if x.wantsStats(src) && !x.hasFinalDump() {
			r.Warnings = append(r.Warnings, bench.Message{File: x.File, Line: x.Line, Text: "the log ends before the statistics that were asked for"})
		}
		x.attachProcess(r, usage)
		r.TimeSeries = append(r.TimeSeries, src.intervals...)
	} else if len(results) == 1 {
		r := &results[0]
		for _, v := range usage.values() {
			r.Set(v)
		}
		r.TimeSeries = append(r.TimeSeries, src.intervals...)
	}
	for i := range results {
		r := &results[i]
		for _, w := range x.Warnings {
			r.Warnings = append(r.Warnings, w.message(strings.TrimSpace(strings.TrimPrefix(w.Text, "WARNING:"))))
		}
		if r.State == bench.StateOK {
			x.exclude(r)
		}
	}
	return results
}

// wantsStats reports whether the database's statistics were asked for at the end.
func (x *Process) wantsStats(src stepSource) bool {
	for _, b := range src.benchmarks {
		if b == "stats" {
			return true
		}
	}
	return false
}

func (x *Process) hasFinalDump() bool {
	for i := range x.Dumps {
		if !x.Dumps[i].Interval {
			return true
		}
	}
	return false
}

// oneName reports whether all results are of one benchmark, so that a name
// given to the process names them.
func (x *Process) oneName() bool {
	for _, op := range x.Ops {
		if op.Name != x.Ops[0].Name {
			return false
		}
	}
	return true
}

// lastOp gives the index of the last result with figures, -1 when there is none.
func lastOp(results []bench.Result) int {
	for i := len(results) - 1; i >= 0; i-- {
		if results[i].State == bench.StateOK && results[i].Primary != "" {
			return i
		}
	}
	return -1
}

func anyFailed(results []bench.Result) bool {
	for i := range results {
		if results[i].State == bench.StateFailed {
			return true
		}
	}
	return false
}

func (x *Process) failureLine() int {
	if len(x.Failures) > 0 {
		return x.Failures[0].Line
	}
	return 0
}

// newResult gives a result of a step with what the process says of all its steps.
func (x *Process) newResult(name string, src stepSource) bench.Result {
	step := bench.ParseStep(name)
	if step.Threads == 0 {
		if v, ok := x.Command.Flag("threads"); ok {
			if n, ok := parseCount([]byte(v)); ok && n < 1<<20 {
				step.Threads = int(n)
			}
		}
	}
	if step.Sync == nil {
		step.Sync = boolFlag(x.Command, "sync", false)
	}
	if step.WAL == nil {
		step.WAL = boolFlag(x.Command, "disable_wal", true)
	}
	return bench.Result{
		Step: step, Role: bench.StepRole(bench.SuiteDBBench, step.Name),
		State: bench.StateOK, Origin: bench.OriginMeasured,
		Started: x.Header.Date, Command: x.Command.Text,
		Sources: []bench.Source{{File: src.file, Line: x.Line}},
	}
}

// boolFlag reads a flag of the command line, inverted on request; nil when it is
// not given.
func boolFlag(c Command, name string, invert bool) *bool {
	v, ok := c.Flag(name)
	if !ok {
		return nil
	}
	on := v == "1" || strings.EqualFold(v, "true") || strings.EqualFold(v, "t") || strings.EqualFold(v, "y") || strings.EqualFold(v, "yes")
	on = on != invert
	return &on
}

// opResult gives the result of the i-th op-line.
func (x *Process) opResult(ix *index, i int, src stepSource, named bool) bench.Result {
	op := &x.Ops[i]
	name := op.Name
	if named {
		name = src.test
	}
	r := x.newResult(name, src)
	r.Text = op.Text
	r.Sources = []bench.Source{{File: op.File, Line: op.Line}}
	r.Primary, r.PrimaryText = op.primary()
	values := op.values()
	r.Values = make([]bench.Value, 0, len(values)+32) // percentiles and statistics come on top
	for _, v := range values {
		r.Set(v)
	}
	at := func(text string) bench.Message {
		return bench.Message{File: op.File, Line: op.Line, Text: text}
	}
	if len(op.Histograms) == 1 {
		for _, v := range op.Histograms[0].values() {
			r.Set(v)
		}
	} else if len(op.Histograms) > 1 {
		var kinds []string
		for _, h := range op.Histograms {
			kinds = append(kinds, h.Operation)
		}
		r.Warnings = append(r.Warnings, at("response times of "+strings.Join(kinds, ", ")+" are kept apart: there are no percentiles of the step as a whole"))
	}
	for j := range op.Histograms {
		if d, ok := op.Histograms[j].distribution(); ok {
			r.Histograms = append(r.Histograms, d)
		}
	}
	if op.Warmup {
		r.Excluded = excludedWarmup
	}
	if nothing := op.nothingFound(); nothing != "" {
		r.Excluded = joinReasons(r.Excluded, nothing)
		r.Warnings = append(r.Warnings, at(nothing+": the database is empty or another one; the figure says nothing"))
	}
	for _, what := range op.noFigures() {
		r.Warnings = append(r.Warnings, at(what))
	}
	if op.OpsPerSec.Known() && op.OpsPerSec.Value == 0 {
		r.Warnings = append(r.Warnings, at("db_bench cuts operations per second to an integer: 0 here means less than one; the figure is the time per operation"))
	}
	if !op.Warmup && op.Repeats == 0 {
		if n := ix.loose[op.Name]; n > 1 {
			r.Warnings = append(r.Warnings, at(fmt.Sprintf("%s stands %d times in this log without being asked to repeat: each is a sample, but the database may have changed between them", op.Name, n)))
		}
	}
	if x.apart != "" {
		r.Warnings = append(r.Warnings, at("another db_bench wrote into the same log at the same time: the two shared the machine"))
	}
	if ix.older > 0 && ix.newer > 0 {
		r.Warnings = append(r.Warnings, at(fmt.Sprintf("results of this log have the form of RocksDB up to 7.2 (line %d) and of 7.3 and later (line %d): they are not of one release", ix.older, ix.newer)))
	}
	x.attachDump(ix, &r, i)
	return r
}

func joinReasons(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// exclude marks results that a build for debugging made.
func (x *Process) exclude(r *bench.Result) {
	for _, w := range x.Warnings {
		switch {
		case strings.Contains(w.Text, "Assertions are enabled"):
			r.Excluded = joinReasons(r.Excluded, excludedAssertions)
		case strings.Contains(w.Text, "Optimization is disabled"):
			r.Excluded = joinReasons(r.Excluded, excludedUnoptimised)
		}
	}
}

// Keys of figures that cover more than one step, see [bench.Breakdown].
const (
	keySinceOpening = "since_opening" // counted since the database was opened
	keyProcess      = "process"       // counted since the process began
)

// attachDump adds the database's own statistics to the i-th result. Its counters
// begin with the opening of the database: where that was several results ago,
// they are no figures of the step, and are kept aside.
func (x *Process) attachDump(ix *index, r *bench.Result, i int) {
	d, standIn := x.finalDump(ix, i)
	if d == nil {
		return
	}
	at := func(text string) bench.Message {
		return bench.Message{File: x.File, Line: d.Line, Text: text}
	}
	for _, v := range d.states() {
		r.Set(v)
	}
	var covered []OpLine
	if i >= 0 {
		covered = x.Ops[ix.opened[i] : i+1]
	}
	if len(covered) <= 1 {
		for _, v := range d.sinceOpening() {
			r.Set(v)
		}
	} else {
		keepAside(r, keySinceOpening, d.sinceOpening())
		r.Warnings = append(r.Warnings, at("statistics count since the database was opened and cover "+opNames(covered)+": what they add up is not of this step alone"))
	}
	if standIn {
		r.Warnings = append(r.Warnings, at("statistics are of the last interval, not of the end: the log has none after the result"))
	}
}

// keepAside keeps figures that are of several steps with the last of them.
func keepAside(r *bench.Result, key string, values []bench.Value) {
	r.Breakdowns = slices.Grow(r.Breakdowns, len(values))
	for _, v := range values {
		m, _ := bench.LookupMetric(v.Metric)
		r.Breakdowns = append(r.Breakdowns, bench.Breakdown{Key: key, Bucket: v.Metric, Unit: m.Unit, Value: v.Number})
	}
}

// opNames lists benchmarks in order, runs of the same one counted.
func opNames(ops []OpLine) string {
	const most = 12
	var names []string
	for i := 0; i < len(ops); {
		if len(names) == most {
			names = append(names, fmt.Sprintf("%d more", len(ops)-i))
			break
		}
		n := 1
		for i+n < len(ops) && ops[i+n].Name == ops[i].Name {
			n++
		}
		name := ops[i].Name
		if n > 1 {
			name = fmt.Sprintf("%s (%d times)", name, n)
		}
		names = append(names, name)
		i += n
	}
	return strings.Join(names, ", ")
}

// attachProcess adds what counts the process as a whole to its last result: the
// statistics of --statistics, and what time(1) says.
func (x *Process) attachProcess(r *bench.Result, usage Usage) {
	tickers := make([]bench.Value, 0, len(x.Tickers))
	for _, t := range x.Tickers {
		if metric, ok := tickerMetric(t.Name); ok {
			tickers = append(tickers, bench.Value{Metric: metric, Number: t.Value, Resolution: 1, SourceName: t.Name})
		}
	}
	alone := len(x.Ops) == 1
	for _, values := range [][]bench.Value{tickers, usage.values()} {
		if !alone {
			keepAside(r, keyProcess, values)
			continue
		}
		for _, v := range values {
			r.Set(v)
		}
	}
	r.Histograms = slices.Grow(r.Histograms, len(x.Distributions))
	for i := range x.Distributions {
		d := &x.Distributions[i]
		if h, ok := d.histogram(); ok {
			r.Histograms = append(r.Histograms, h)
		} else if d.odd() {
			r.Warnings = appendBounded(r.Warnings, bench.Message{File: x.File, Line: d.Line, Text: fmt.Sprintf("%s: its percentiles are no figures, or do not rise; left out", d.Name)})
		}
	}
	if !alone && (len(tickers) > 0 || len(usage.values()) > 0 || len(x.Distributions) > 0) {
		r.Warnings = append(r.Warnings, bench.Message{File: x.File, Line: x.Line,
			Text: "statistics and times of the process cover " + opNames(x.Ops) + ": they are not of this step alone"})
	}
}

// missing gives the benchmarks that were asked for and have no result: the
// first of them failed, those after it did not run.
func (x *Process) missing(src stepSource, reason string, named bool) []bench.Result {
	var results []bench.Result
	failed := ""
	add := func(name string, line TextLine) {
		r := x.newResult(name, src)
		if line.Line > 0 {
			r.Sources = []bench.Source{{File: line.File, Line: line.Line}}
		}
		r.Text = line.Text
		if failed == "" {
			failed = name
			r.State, r.Reason = bench.StateFailed, reason
			if r.Reason == "" {
				r.Reason = x.withoutResult()
			}
		} else {
			r.State, r.Reason, r.Started = bench.StateNotRun, failed+" failed before it", bench.LocalTime{}
			r.Text = name
		}
		results = append(results, r)
	}
	var blame TextLine
	if len(x.Failures) > 0 {
		blame = x.Failures[0]
	}
	for _, s := range x.Skipped {
		r := x.newResult(s.Name, src)
		r.State, r.Reason, r.Text, r.Started = bench.StateNotRun, s.Text, s.Name, bench.LocalTime{}
		r.Sources = []bench.Source{{File: s.File, Line: s.Line}}
		results = append(results, r)
	}
	unknown := x.unknownBenchmark()
	if src.benchmarks != nil {
		next := 0
		for _, name := range src.benchmarks {
			if noOpLine[name] || x.skipped(name) {
				continue
			}
			if next < len(x.Ops) && x.Ops[next].Name == name {
				next = x.afterRepeats(next)
				continue
			}
			if !withOpLine[name] && name != unknown {
				continue // a benchmark of another release or fork: whether it prints a result is not known
			}
			if named := src.test; named != "" && len(x.Ops) == 0 && len(results) == 0 {
				name = named
			}
			add(name, blame)
			blame = TextLine{}
		}
		return results
	}
	if len(x.Ops) == 0 {
		return results
	}
	switch {
	case unknown != "":
		add(unknown, blame)
	case x.mark.at > x.Ops[len(x.Ops)-1].at && withOpLine[x.mark.Text]:
		add(x.mark.Text, x.mark)
	case named || x.cutShort() == (TextLine{}) && reason == "":
		// A step of benchmark.sh has one result.
	default:
		if blame.Line == 0 {
			blame = x.cutShort()
		}
		if blame.at == 0 || blame.at > x.Ops[len(x.Ops)-1].at {
			add(UnknownStep, blame)
		}
	}
	return results
}

// skipped reports whether db_bench said that it left a benchmark out.
func (x *Process) skipped(name string) bool {
	for _, s := range x.Skipped {
		if s.Name == name {
			return true
		}
	}
	return false
}

// afterRepeats gives the index after an op-line and its warm-ups and repeats.
func (x *Process) afterRepeats(i int) int {
	name := x.Ops[i].Name
	for i < len(x.Ops) && x.Ops[i].Name == name && x.Ops[i].Warmup {
		i++
	}
	if i < len(x.Ops) && x.Ops[i].Name == name {
		repeats := x.Ops[i].Repeats
		for i++; i < len(x.Ops) && x.Ops[i].Name == name && x.Ops[i].Repeat > 1 && x.Ops[i].Repeats == repeats; i++ {
		}
	}
	return i
}

// unknownBenchmark gives the name that db_bench did not know, "" for none.
func (x *Process) unknownBenchmark() string {
	for _, f := range x.Failures {
		if rest, ok := strings.CutPrefix(f.Text, "unknown benchmark '"); ok {
			return strings.TrimSuffix(rest, "'")
		}
	}
	return ""
}

// cutShort gives the line from which on a process that had printed results made
// progress that led to none, where stdout and stderr came in order.
func (x *Process) cutShort() TextLine {
	if len(x.Ops) == 0 {
		return TextLine{}
	}
	first, last := x.Ops[0].at, x.Ops[len(x.Ops)-1].at
	g := x.Progress
	if g.Lines > 0 && g.first >= 0 && g.first < first && g.last > last {
		return TextLine{File: x.File, Line: x.Line, at: g.last}
	}
	return TextLine{}
}

// withoutResult says in words how far a process without result got.
func (x *Process) withoutResult() string {
	var done uint64
	for _, v := range x.Intervals {
		done = max(done, v.Total)
	}
	done = max(done, x.Progress.Operations)
	if done > 0 {
		return fmt.Sprintf("ended without a result line, after progress to %d operations in one thread: killed, or cut short", done)
	}
	return "ended without a result line: killed, or cut short"
}

// bareResult gives the result of a process without op-lines of which it is not
// known that one is missing.
func (x *Process) bareResult(ix *index, src stepSource, reason string) bench.Result {
	name := src.test
	line := TextLine{File: x.File, Line: x.Line}
	if len(x.Failures) > 0 {
		line = x.Failures[0]
	}
	if name == "" {
		name = x.unknownBenchmark()
	}
	if name == "" && !noOpLine[x.mark.Text] {
		name = x.mark.Text
	}
	arranges := len(src.benchmarks) > 0
	for _, b := range src.benchmarks {
		arranges = arranges && noOpLine[b]
	}
	if name == "" && arranges { // flush, not the stats around it
		for _, b := range src.benchmarks {
			if b != "stats" && b != "levelstats" && b != "memstats" {
				name = b
				break
			}
		}
	}
	if name == "" {
		name = UnknownStep
	}
	r := x.newResult(name, src)
	if line.Line > 0 {
		r.Sources = []bench.Source{{File: line.File, Line: line.Line}}
	}
	r.Text = line.Text
	if arranges && reason == "" && (x.hasFinalDump() || !x.wantsStats(src)) {
		x.attachDump(ix, &r, -1)
		return r
	}
	r.State, r.Reason = bench.StateFailed, reason
	if r.Reason == "" {
		r.Reason = x.withoutResult()
	}
	return r
}
