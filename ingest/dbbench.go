package ingest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// logSigns are texts that only db_bench's output holds.
var logSigns = []string{
	" micros/op", "RocksDB:    version ", "LevelDB:    version ", "DB path: [", "... finished ",
	"Initializing RocksDB Options from ", "ERROR: unknown command line flag '", "unknown benchmark '",
	"RocksDB: version ", "LevelDB: version ", "LMDB: version ", "LMDB:    version ", // copied with runs of blanks collapsed
}

// isLog reports whether a text is what db_bench prints, or one of its streams.
func isLog(in *input) bool {
	for _, sign := range logSigns {
		if bytes.Contains(in.text, []byte(sign)) {
			return true
		}
	}
	// All that a crash leaves may be the stack that RocksDB's handler prints.
	return bytes.Contains(in.text, []byte("Received signal ")) && bytes.Contains(in.text, []byte("db_bench"))
}

// readableLog gives an input whose text can be parsed as a log. Logs in another
// encoding than they claim to have are read all the same: what is not ASCII in
// them is the sign ± in lines that are not used, or in a comment.
func (in *input) readableLog() (*input, bool) {
	if in.format != nil {
		return in, in.format.name == formatLog
	}
	if in.text != nil || bytes.IndexByte(in.raw, 0) >= 0 {
		return in, in.text != nil && isLog(in)
	}
	patched := *in
	patched.text = bytes.ToValidUTF8(in.raw, []byte("?"))
	return &patched, isLog(&patched)
}

// streamNames are the ends of names of files that hold one stream each.
var streamNames = []struct{ stdout, stderr string }{
	{".stdout", ".stderr"}, {".out", ".err"}, {".stdout.log", ".stderr.log"}, {".stdout.txt", ".stderr.txt"},
}

// stderrOf gives the name of the file with stderr that belongs to one with
// stdout, by the names that people give them.
func stderrOf(name string) (string, bool) {
	for _, n := range streamNames {
		if base, ok := strings.CutSuffix(name, n.stdout); ok {
			return base + n.stderr, true
		}
	}
	return "", false
}

// namedStderr reports whether a file's name says that it holds stderr.
func namedStderr(name string) bool {
	for _, n := range streamNames {
		if strings.HasSuffix(name, n.stderr) {
			return true
		}
	}
	return false
}

// logBundle is a log with what lies beside it in an upload: the stream that it
// lacks, its --report_file.
var logBundle = bundle{name: formatLog, claim: claimLogs, read: readLogFiles}

func claimLogs(s *set) [][]*input {
	var all [][]*input
	claimed := map[*input]bool{}
	for _, in := range s.files {
		log, ok := in.readableLog()
		if !ok || claimed[in] {
			continue
		}
		files := []*input{in}
		add := func(other *input, fits bool) {
			if other != nil && other != in && fits && !claimed[other] {
				files = append(files, other)
				claimed[other] = true
			}
		}
		if name, ok := stderrOf(in.path); ok {
			if other := s.at(name); other != nil {
				_, is := other.readableLog()
				add(other, is)
			}
		} else if namedStderr(in.path) {
			continue // by the file with stdout, or alone by its format
		}
		csv := s.at(plainPath(in) + ".r.csv")
		if csv == nil {
			csv = reportFileOf(log, s)
		}
		if csv != nil {
			add(csv, isIntervals(csv))
		}
		if len(files) > 1 || in.text == nil {
			claimed[in] = true
			all = append(all, files)
		}
	}
	return all
}

// reportFileOf gives the file that --report_file of a log's command line names,
// where it lies beside the log under its own name.
func reportFileOf(log *input, s *set) *input {
	i := bytes.Index(log.text, []byte("-report_file="))
	if i < 0 {
		return nil
	}
	word, _ := nextWord(log.text[i+len("-report_file="):])
	if j := bytes.IndexByte(word, '\n'); j >= 0 {
		word = word[:j]
	}
	name := path.Base(strings.Trim(string(word), "\"'\r"))
	if name == "" || name == "." || name == "/" {
		return nil
	}
	return s.at(path.Join(path.Dir(log.path), name))
}

// readLog reads one log of db_bench by itself.
func readLog(in *input) output { return readLogFiles([]*input{in})[0] }

// readLogFiles reads a log with what belongs to it; the log is the first file.
func readLogFiles(files []*input) []output {
	outs := make([]output, len(files))
	main, _ := files[0].readableLog()
	log := parseLog(main.path, main.text)
	outs[0].messages = notUnderstood(main.path, log)
	fail := func(file string, err error) []output {
		for i := range outs {
			outs[i] = refused(asMessage(file, err))
		}
		return outs
	}
	procs, err := log.arrange()
	if err != nil {
		return fail(main.path, err)
	}
	src := stepSource{file: main.path, test: logTest(main.path)}
	for i, in := range files[1:] {
		out := &outs[i+1]
		out.state = bench.FileTaken
		if isIntervals(in) {
			if src.intervals, out.messages, err = readIntervals(in); err != nil {
				*out = refused(asMessage(in.path, err))
			}
			continue
		}
		stream, _ := in.readableLog()
		errLog := parseLog(stream.path, stream.text)
		out.messages = notUnderstood(stream.path, errLog)
		others, err := errLog.arrange()
		switch {
		case err != nil:
			return fail(stream.path, err)
		case len(procs) == 1 && len(others) == 1:
			procs = []*Process{joinStreams(procs[0], others[0])}
		case len(others) > 0:
			return fail(main.path, bench.Errorf(bench.KindInvalid, "holds %d executions of db_bench and %s %d: which belong together is not known", len(procs), path.Base(in.path), len(others)))
		}
	}
	switch {
	case len(procs) == 0:
		return fail(main.path, bench.Errorf(bench.KindInvalid, "holds nothing that db_bench prints"))
	case namedStderr(main.path) && !anyBody(procs):
		return fail(main.path, bench.Errorf(bench.KindInvalid, "is what db_bench wrote to stderr; its results are on stdout: upload both files together, or one log with both"))
	}
	procs, copies := dropCopies(procs)
	outs[0].messages = append(outs[0].messages, copies...)
	runs, err := files[0].logRuns(procs, src)
	if err != nil {
		return fail(main.path, err)
	}
	outs[0].state, outs[0].runs = bench.FileTaken, runs
	return outs
}

func anyBody(procs []*Process) bool {
	for _, x := range procs {
		if x.hasBody() {
			return true
		}
	}
	return false
}

// asMessage puts an error into a file's messages.
func asMessage(file string, err error) bench.Message {
	return bench.Message{File: file, Text: err.Error()}
}

// notUnderstood lists the lines of a log that no rule knows.
func notUnderstood(file string, log *Log) []bench.Message {
	var messages []bench.Message
	for _, l := range log.NotUnderstood {
		messages = append(messages, l.message("not understood: "+l.Text))
	}
	if more := log.NotUnderstoodCount - len(log.NotUnderstood); more > 0 {
		messages = append(messages, bench.Message{File: file, Text: fmt.Sprintf("%d more lines were not understood", more)})
	}
	return messages
}

// dropCopies leaves out op-lines that repeat an earlier one of the text word for
// word without a DB path line of their own: people put the results that matter
// together at the end of a log. Digits enough are in a line that two runs do not
// print the same; announced repeats are kept whatever they print.
func dropCopies(procs []*Process) ([]*Process, []bench.Message) {
	var messages []bench.Message
	first := map[string]int{}
	kept := make([]*Process, 0, len(procs))
	for _, x := range procs {
		ops := make([]OpLine, 0, len(x.Ops))
		for _, op := range x.Ops {
			line, again := first[op.Text]
			if again && !op.freshPath && op.Repeats == 0 && !op.Warmup {
				messages = append(messages, bench.Message{File: op.File, Line: op.Line, Text: fmt.Sprintf("repeats line %d word for word: taken for a copy, not for a further result", line)})
				continue
			}
			if !again {
				first[op.Text] = op.Line
			}
			ops = append(ops, op)
		}
		y := *x
		y.Ops = ops
		kept = append(kept, &y)
	}
	if len(messages) > maxMessages {
		more := len(messages) - maxMessages
		messages = append(messages[:maxMessages], bench.Message{File: messages[0].File, Text: fmt.Sprintf("%d more lines repeat earlier ones", more)})
	}
	return kept, messages
}

// logRuns turns processes into runs. Processes of one release follow one another
// into one run, as a script runs its steps, until a step comes again.
func (in *input) logRuns(procs []*Process, src stepSource) ([]bench.Run, error) {
	if len(procs) > 1 {
		src.intervals = nil // of one of them, which is not known
		if !sameBenchmark(procs) {
			src.test = ""
		}
	}
	var runs []bench.Run
	var steps map[string]bool
	for i, x := range procs {
		run, err := in.logRun(x)
		if err != nil {
			return nil, err
		}
		run.Results = x.results(src)
		last := len(runs) - 1
		again := last < 0 || x.apart != "" || procs[i-1].apart != "" ||
			runs[last].System != run.System || runs[last].Build.Version != run.Build.Version
		for j := range run.Results {
			again = again || steps[run.Results[j].Step.Name]
		}
		if again {
			runs = append(runs, run)
			steps = map[string]bool{}
		} else {
			runs[last] = joinRuns(runs[last], run)
		}
		for j := range run.Results {
			steps[run.Results[j].Step.Name] = true
		}
	}
	distinguish(runs)
	return runs, nil
}

// sameBenchmark reports whether all results are of one benchmark, as in a log
// that was appended to when a step was run again.
func sameBenchmark(procs []*Process) bool {
	name := ""
	for _, x := range procs {
		for _, op := range x.Ops {
			if name == "" {
				name = op.Name
			}
			if op.Name != name {
				return false
			}
		}
	}
	return true
}

// logRun gives the run of a process without its results.
func (in *input) logRun(x *Process) (bench.Run, error) {
	content := bench.Context{System: x.System(), Suite: bench.SuiteDBBench, Version: x.Version()}
	by := "the log"
	if x.Header.Line > 0 {
		by = fmt.Sprintf("line %d", x.Header.Line)
	}
	if in.given.System != "" && strings.EqualFold(x.Header.Program, "LevelDB") {
		// RocksDB called itself LevelDB once: who uploads knows better.
		content.System = ""
	}
	run, err := in.resolve(content, by, true)
	if err == nil && strings.EqualFold(run.Build.Version, "unknown") {
		err = missingContext([]string{"version"})
	}
	if err != nil {
		if content.Version == "" && bench.KindOf(err) == bench.KindInvalid && strings.Contains(err.Error(), "version") {
			return run, fmt.Errorf("%w (db_bench prints its release on stderr, which this log lacks)", err)
		}
		return run, err
	}
	run.Environment = x.environment()
	run.Options = mergeMaps(x.runOptions(), run.Options)
	return run, nil
}

// environment gives what the header says of the machine.
func (x *Process) environment() map[string]string {
	env := map[string]string{}
	for key, value := range map[string]string{"cpu": x.Header.CPU, "cpu_cache": x.Header.CPUCache} {
		if value != "" {
			env[key] = value
		}
	}
	if x.Header.Version != "" && x.Header.Version != x.Version() {
		env["version_text"] = x.Header.Version
	}
	if x.JobID != "" {
		env["job_id"] = x.JobID
	}
	if len(env) == 0 {
		return nil
	}
	return env
}

// stepFlags say what a single process was to do; they are no options of a run.
var stepFlags = map[string]bool{"benchmarks": true, "report_file": true, "seed": true, "undefok": true}

// runOptions gives the flags of the command line, and what db_bench prints of
// its options where no flag says it.
func (x *Process) runOptions() map[string]string {
	options := map[string]string{}
	for _, o := range x.Options {
		name := strings.ReplaceAll(strings.ToLower(o.Name), " ", "_")
		options[name] = o.Value
	}
	for _, f := range x.Command.Flags {
		if !stepFlags[f.Name] {
			options[f.Name] = f.Value
		}
	}
	if len(options) == 0 {
		return nil
	}
	return options
}

// mergeMaps gives a with what b adds; b wins.
func mergeMaps(a, b map[string]string) map[string]string {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	m := make(map[string]string, len(a)+len(b))
	for k, v := range a {
		m[k] = v
	}
	for k, v := range b {
		m[k] = v
	}
	return m
}

// joinRuns adds the results of a further process. Options of a run are those
// that its steps share; what differs stays with the steps' command lines.
func joinRuns(run, more bench.Run) bench.Run {
	run.Results = append(run.Results, more.Results...)
	run.Environment = mergeMaps(more.Environment, run.Environment)
	shared := map[string]string{}
	for k, v := range run.Options {
		if w, ok := more.Options[k]; ok && w == v {
			shared[k] = v
		}
	}
	run.Options = shared
	if len(shared) == 0 {
		run.Options = nil
	}
	return run
}

// distinguish gives an identity of their own to runs of one file that would be
// taken for one: processes that ran at the same time, or within one second.
func distinguish(runs []bench.Run) {
	count := map[string]int{}
	for i := range runs {
		count[bench.RunKey(&runs[i])]++
	}
	seen := map[string]int{}
	for i := range runs {
		key := bench.RunKey(&runs[i])
		if count[key] < 2 {
			continue
		}
		// The texts of its results make it the same run wherever it is read again.
		parts := []string{key}
		for j := range runs[i].Results {
			parts = append(parts, runs[i].Results[j].Step.Name, runs[i].Results[j].Text)
		}
		id := derivedID(parts...)
		if n := seen[id]; n > 0 {
			runs[i].ID = derivedID(id, fmt.Sprint(n))
		} else {
			runs[i].ID = id
		}
		seen[id]++
	}
}

// derivedID gives an identifier in the form of a UUID (version 8) that depends
// on the parts alone.
func derivedID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x1f")))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// LogSource says what whoever ran db_bench knows about an execution besides its
// output.
type LogSource struct {
	// Stdout and Stderr name the two texts in messages and sources.
	Stdout, Stderr string
	// Step is the test name as benchmark.sh forms it (overwriteandwait.t8.s0);
	// db_bench's own name of a benchmark does not tell fwdrange from revrange.
	// "" leaves the names to the output.
	Step string
	// Command is the command line: flags say which results to expect.
	Command string
	// Intervals is the content of the --report_file, nil without one.
	Intervals []byte
	// Failure says how the process ended when it did not end well ("exit status
	// 1", "killed by signal 9 after the time limit of 600 s"), else "".
	Failure string
	// Usage is what was measured of the process, as far as known.
	Usage Usage
}

// LogReading is what one execution of db_bench printed.
type LogReading struct {
	System  string // "" when the output does not say
	Version string // "" when the output does not say
	// Environment and Options are facts about machine and run as printed.
	Environment map[string]string
	Options     map[string]string
	// Results has one result per op-line, and failed or not_run ones for what
	// is missing. It is never empty.
	Results []bench.Result
	// Messages are lines that were not understood.
	Messages []bench.Message
}

// ReadDBBenchLog reads what one execution of db_bench wrote to stdout and to
// stderr; either may be nil, and a log that holds both goes in as stdout. The
// error is of kind invalid when the output is of more than one execution; an
// execution that failed is no error but a result that says so.
func ReadDBBenchLog(stdout, stderr []byte, src LogSource) (LogReading, error) {
	var procs []*Process
	var reading LogReading
	for _, text := range []struct {
		name  string
		bytes []byte
	}{{src.Stdout, stdout}, {src.Stderr, stderr}} {
		log := parseLog(text.name, text.bytes)
		reading.Messages = append(reading.Messages, notUnderstood(text.name, log)...)
		of, err := log.arrange()
		if err != nil {
			return LogReading{}, err
		}
		if len(of) > 1 {
			return LogReading{}, bench.Errorf(bench.KindInvalid, "%s: output of %d executions of db_bench, one was expected", text.name, len(of))
		}
		procs = append(procs, of...)
	}
	x := &Process{File: src.Stdout}
	switch len(procs) {
	case 1:
		x = procs[0]
	case 2:
		x = joinStreams(procs[0], procs[1])
	}
	if c, ok := ParseCommand(src.Command); ok {
		x.Command = c
	} else if src.Command != "" {
		x.Command.Text = src.Command
	}
	step := stepSource{test: src.Step, failure: src.Failure, file: src.Stdout, usage: src.Usage}
	if src.Intervals != nil {
		step.intervals, _, _ = readIntervals(&input{path: "report_file", text: src.Intervals})
	}
	reading.System, reading.Version = x.System(), x.Version()
	reading.Environment, reading.Options = x.environment(), x.runOptions()
	reading.Results = x.results(step)
	return reading, nil
}
