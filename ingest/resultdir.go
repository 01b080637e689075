package ingest

import (
	"bytes"
	"cmp"
	"math"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// A result directory is what benchmark.sh leaves of one build:
//
//	args                                  how benchmark_compare.sh was set up (one level up)
//	7.8.gcc/benchmark_<test>.log          a log per step
//	7.8.gcc/benchmark_<test>.log.r.csv    operations per second (--report_file)
//	7.8.gcc/benchmark_<test>.log.time     wall, user and system seconds
//	7.8.gcc/benchmark_<test>.log.stats.sizes   size of the database every 10 s
//	7.8.gcc/benchmark_<test>.log.stats.ps      ps aux every 10 s
//	7.8.gcc/report.tsv                    a row per step
//	7.8.gcc/schedule.txt, LOG.gz          kept, not read for figures
//
// It is one run. A step's log and its row are the same measurement; which of
// their figures count, the identity rules decide.
var resultDirBundle = bundle{name: formatResultDir, claim: claimResultDirs, read: readResultDir}

// claimResultDirs gives the files of each directory with a log of benchmark.sh.
func claimResultDirs(s *set) [][]*input {
	inDir := map[string][]*input{}
	hasLog := map[string]bool{}
	var dirs []string
	for _, in := range s.files {
		role := dirRole(in)
		if role == roleNone {
			continue
		}
		dir := path.Dir(in.path)
		inDir[dir] = append(inDir[dir], in)
		if role == roleLog && !hasLog[dir] {
			if _, ok := in.readableLog(); ok {
				hasLog[dir] = true
				dirs = append(dirs, dir)
			}
		}
	}
	sort.Strings(dirs)
	var all [][]*input
	claimed := map[*input]bool{}
	for _, dir := range dirs {
		files := inDir[dir]
		sort.Slice(files, func(i, j int) bool { return files[i].path < files[j].path })
		// The arguments of all builds of a directory stand one level up.
		if args := s.at(path.Join(path.Dir(dir), "args")); args != nil && dir != "." && !claimed[args] && isArgs(args) {
			claimed[args] = true
			files = append(files, args)
		}
		all = append(all, files)
	}
	return all
}

// dirFile says what a file of a result directory is for.
type dirFile uint8

const (
	roleNone dirFile = iota
	roleLog
	roleReport
	roleIntervals
	roleTime
	roleSizes
	roleProcesses
	roleArgs
	roleServerLog // LOG: what RocksDB logged
	roleOther     // schedule.txt, iostat and vmstat output
)

// plainPath gives a file's path without the .gz of a member that was compressed.
func plainPath(in *input) string { return withoutSuffix(in.path, ".gz") }

// dirRole tells a file's role by the name that benchmark.sh gives it; figures
// are read by content.
func dirRole(in *input) dirFile {
	base := path.Base(plainPath(in))
	if logTest(base) != "" {
		tail := base[strings.Index(base, ".log")+len(".log"):]
		switch tail {
		case "":
			return roleLog
		case ".r.csv":
			return roleIntervals
		case ".time":
			return roleTime
		case ".stats.sizes", ".sizes":
			return roleSizes
		case ".stats.ps", ".ps":
			return roleProcesses
		}
		return roleOther
	}
	switch {
	case base == "report.tsv" || base == "report.txt" || base == "report":
		return roleReport
	case base == "schedule.txt":
		return roleOther
	case base == "args" && isArgs(in):
		return roleArgs
	case base == "LOG" || strings.HasPrefix(base, "LOG."):
		return roleServerLog
	case strings.HasPrefix(base, "OPTIONS"):
		return roleOther
	}
	return roleNone
}

// resultDir is a result directory being read.
type resultDir struct {
	files  []*input
	byPath map[string]*input
	outs   map[*input]output
	steps  []*dirStep
}

// dirStep is a log with what lies beside it.
type dirStep struct {
	log                         *input
	procs                       []*Process
	messages                    []bench.Message
	test                        string
	csv, time, sizes, processes *input
}

// readResultDir reads a result directory as one run.
func readResultDir(files []*input) []output {
	d := &resultDir{files: files, byPath: map[string]*input{}, outs: map[*input]output{}}
	for _, in := range files {
		d.byPath[plainPath(in)] = in
	}
	d.read()
	outs := make([]output, len(files))
	for i, in := range files {
		out, ok := d.outs[in]
		if !ok {
			out = output{state: bench.FileAttachment}
		}
		outs[i] = out
	}
	return outs
}

func (d *resultDir) read() {
	var table output // of report.tsv
	version, gitHash := "", ""
	options := map[string]string{}
	for _, in := range d.files {
		switch dirRole(in) {
		case roleReport:
			if in.format != nil {
				table = in.format.read(in)
				d.outs[in] = table
			}
		case roleServerLog:
			v, sha := serverLog(in.text)
			version, gitHash = cmp.Or(version, v), cmp.Or(gitHash, sha)
			d.outs[in] = output{state: bench.FileAttachment}
		case roleArgs:
			readArgs(in.text, options)
			d.outs[in] = output{state: bench.FileTaken}
		case roleLog:
			d.addLog(in)
		}
	}
	if first := d.files[0]; len(options) == 0 && first.set != nil {
		// Another directory of the same parent holds the file.
		if args := first.set.at(path.Join(path.Dir(path.Dir(first.path)), "args")); args != nil && isArgs(args) {
			readArgs(args.text, options)
		}
	}
	// The order in which the steps ran.
	slices.SortStableFunc(d.steps, func(a, b *dirStep) int {
		return a.started().Instant().Compare(b.started().Instant())
	})

	// A row names the release exactly, logs up to 7.4 by two numbers only.
	for i := range table.runs {
		if table.state == bench.FileTaken && table.runs[i].Build.Version != "" {
			version = table.runs[i].Build.Version
			gitHash = cmp.Or(table.runs[i].Build.GitHash, gitHash)
		}
	}
	var run *bench.Run
	for _, s := range d.steps {
		d.readStep(s, version, &run)
	}
	if run == nil {
		return
	}
	run.Options = mergeMaps(options, run.Options)
	run.Build.GitHash = gitHash
	d.joinTable(run, &table)
	// The run is handed over by the first log that was taken.
	for _, s := range d.steps {
		if out := d.outs[s.log]; out.state == bench.FileTaken {
			out.runs = []bench.Run{*run}
			d.outs[s.log] = out
			break
		}
	}
	for in, out := range d.outs {
		if dirRole(in) == roleReport {
			out.runs = table.runs
			d.outs[in] = out
		}
	}
}

// addLog parses a log and finds what lies beside it.
func (d *resultDir) addLog(in *input) {
	main, ok := in.readableLog()
	if !ok {
		d.outs[in] = refused(bench.Message{File: in.path, Text: "holds nothing that db_bench prints"})
		return
	}
	log := parseLog(in.path, main.text)
	s := &dirStep{log: in, test: logTest(in.path), messages: notUnderstood(in.path, log)}
	var err error
	if s.procs, err = log.arrange(); err == nil && len(s.procs) == 0 {
		err = bench.Errorf(bench.KindInvalid, "holds nothing that db_bench prints")
	}
	if err != nil {
		d.outs[in] = refused(asMessage(in.path, err))
		return
	}
	var copies []bench.Message
	s.procs, copies = dropCopies(s.procs)
	s.messages = append(s.messages, copies...)
	beside := func(tails ...string) *input {
		for _, tail := range tails {
			if f := d.byPath[plainPath(in)+tail]; f != nil {
				return f
			}
		}
		return nil
	}
	s.csv, s.time = beside(".r.csv"), beside(".time")
	s.sizes, s.processes = beside(".stats.sizes", ".sizes"), beside(".stats.ps", ".ps")
	d.steps = append(d.steps, s)
}

func (s *dirStep) started() bench.LocalTime { return s.procs[0].Header.Date }

// readStep adds the results of a log to the run, which the first one makes.
func (d *resultDir) readStep(s *dirStep, version string, run **bench.Run) {
	src := stepSource{file: s.log.path, test: s.test}
	beside := map[*input]output{}
	if in := s.csv; in != nil {
		var err error
		var out output
		if src.intervals, out.messages, err = readIntervals(in); err != nil {
			out = refused(asMessage(in.path, err))
		} else {
			out.state = bench.FileTaken
		}
		beside[in] = out
	}
	if in := s.time; in != nil {
		if u, ok := ParseTimeFile(in.text); ok {
			src.usage = u
			beside[in] = output{state: bench.FileTaken}
		} else {
			beside[in] = output{state: bench.FileAttachment, messages: []bench.Message{{File: in.path, Text: "the last line is not wall, user and system seconds: not used"}}}
		}
	}
	for _, x := range s.procs {
		if exact := version; exact != "" && bench.VersionWithin(exact, x.Version()) {
			x.Header.Version = exact
		} else if x.Version() == "" && exact != "" {
			x.Header.Version = exact
		}
	}
	runs, err := s.log.logRuns(s.procs, src)
	if err == nil && *run != nil {
		for i := range runs {
			if a, b := runs[i].Build.Version, (*run).Build.Version; a != b {
				err = bench.Errorf(bench.KindInvalid, "is of release %s, other logs of this directory are of %s", a, b)
			}
		}
	}
	if err != nil {
		d.outs[s.log] = refused(asMessage(s.log.path, err))
		for in := range beside {
			d.outs[in] = output{state: bench.FileAttachment, messages: []bench.Message{{File: in.path, Text: "its log was refused"}}}
		}
		return
	}
	d.outs[s.log] = output{state: bench.FileTaken, messages: s.messages}
	for i := range runs {
		runs[i].ID = "" // steps of one directory are one run, repeated ones too
		results := runs[i].Results
		if i == len(runs)-1 && len(results) > 0 {
			s.attach(&results[len(results)-1], beside)
		}
		if *run == nil {
			first := runs[i]
			*run = &first
			continue
		}
		joined := joinRuns(**run, runs[i])
		*run = &joined
	}
	for in, out := range beside {
		d.outs[in] = out
	}
}

// attach adds what was sampled beside a step.
func (s *dirStep) attach(r *bench.Result, beside map[*input]output) {
	if in := s.processes; in != nil {
		out := output{state: bench.FileAttachment}
		if peak := peakRSS(in.text); peak.Known {
			out.state = bench.FileTaken
			r.Set(bench.Value{Metric: "rss_gb", Number: peak.Value, Resolution: peak.Resolution, SourceName: "RSS"})
		}
		beside[in] = out
	}
	if in := s.sizes; in != nil {
		out := output{state: bench.FileAttachment}
		if series, largest := readSizes(in.text, r.Started); len(series) > 0 {
			out.state = bench.FileTaken
			r.TimeSeries = append(r.TimeSeries, series...)
			r.Breakdowns = append(r.Breakdowns, largest...)
		}
		beside[in] = out
	}
	for _, in := range []*input{s.csv, s.time, s.processes, s.sizes} {
		if in != nil && beside[in].state == bench.FileTaken {
			r.Sources = append(r.Sources, bench.Source{File: in.path})
		}
	}
}

// joinTable puts the rows of report.tsv that were made of the logs into the run,
// after the logs' results: what a log says first is what is kept of a
// measurement, rows add to it.
func (d *resultDir) joinTable(run *bench.Run, table *output) {
	if table.state != bench.FileTaken {
		return
	}
	type start struct{ step, second string }
	logged := map[start]bool{}
	for i := range run.Results {
		if r := &run.Results[i]; !r.Started.IsZero() {
			logged[start{r.Step.Name, r.Started.Second()}] = true
		}
	}
	var rest []bench.Run
	for _, t := range table.runs {
		ours := false
		for i := range t.Results {
			ours = ours || logged[start{t.Results[i].Step.Name, t.Results[i].Started.Second()}]
		}
		if !ours || t.Build.Version != run.Build.Version || t.Build.Compiler != run.Build.Compiler || t.Config != run.Config {
			rest = append(rest, t)
			continue
		}
		run.Results = append(run.Results, t.Results...)
		run.Environment = mergeMaps(t.Environment, run.Environment)
		run.Options = mergeMaps(t.Options, run.Options)
		if run.Clients == 0 {
			run.Clients = t.Clients
		}
	}
	table.runs = rest
}

// sizeNames are the columns of .stats.sizes: of the database, its sst files, its
// write-ahead logs and its blob files.
var sizeNames = [4]string{"all", "sst", "log", "blob"}

// readSizes reads the sizes that benchmark.sh takes every 10 s, in GB, with the
// time of day as HHMMSS; it adds "max sizes (GB): …" at the end.
func readSizes(text []byte, started bench.LocalTime) (series []bench.TimeSeries, largest []bench.Breakdown) {
	var values [4][]float64
	var times []int
	var peak [4]float64
	for l := newLines(text); ; {
		line, _, ok := l.next()
		if !ok {
			break
		}
		var row [4]float64
		rest, good := line, true
		for i := range row {
			var word []byte
			word, rest = nextWord(rest)
			m := measure(word, 1)
			row[i], good = m.Value, good && m.Known && m.Value >= 0
		}
		at, rest := nextWord(rest)
		clock, isTime := timeOfDay(at)
		if !good || !isTime || len(trimSpace(rest)) > 0 {
			continue
		}
		times = append(times, clock)
		for i, v := range row {
			values[i] = append(values[i], v)
			peak[i] = math.Max(peak[i], v)
		}
	}
	n := len(times)
	if n == 0 {
		return nil, nil
	}
	const day = 24 * 3600
	start, step := 0.0, 10.0
	if n > 1 {
		if mean := float64((times[n-1]-times[0]+day)%day) / float64(n-1); mean > 0 {
			step = mean
		}
	}
	if !started.IsZero() {
		h, m, s := started.Wall().Clock()
		if since := (times[0] - (h*3600 + m*60 + s) + day) % day; since < day/2 {
			start = float64(since)
		}
	}
	for i, name := range sizeNames {
		series = append(series, bench.TimeSeries{Name: name + "_size_gb", Unit: "GB", StartS: start, StepS: step, Values: values[i]})
		largest = append(largest, bench.Breakdown{Key: "max_size_gb", Bucket: name, Samples: int64(n), Unit: "GB", Value: peak[i]})
	}
	return series, largest
}

// timeOfDay reads HHMMSS as seconds since midnight.
func timeOfDay(word []byte) (int, bool) {
	n, ok := parseCount(word)
	if !ok || len(word) != 6 {
		return 0, false
	}
	h, m, s := int(n/10000), int(n/100%100), int(n%100)
	return h*3600 + m*60 + s, h < 24 && m < 60 && s < 60
}

// serverLog gives the release and the commit that RocksDB's own log begins with.
func serverLog(text []byte) (version, gitHash string) {
	head := text[:min(len(text), 4096)]
	if v := after(head, " RocksDB version: "); v != nil {
		version = string(firstLine(v))
	}
	if v := after(head, " Git sha "); v != nil {
		gitHash = string(firstLine(v))
	}
	if _, ok := bench.Major(version); !ok {
		version = ""
	}
	return version, gitHash
}

func firstLine(s []byte) []byte {
	if i := bytes.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return bytes.TrimRight(s, "\r")
}

// isArgs reports whether a file is what benchmark_compare.sh writes about how it
// was set up.
func isArgs(in *input) bool {
	return hasPrefix(in.text, "Base args\n") || hasPrefix(in.text, "Base args\r\n")
}

// readArgs reads the file args: environment variables NAME=value that all steps
// share, other arguments "name<TAB>value", then a section for each group of
// steps ("args_lim:"), of which only what differs is kept, under args_lim.NAME.
func readArgs(text []byte, options map[string]string) {
	section := ""
	for l := newLines(text); ; {
		line, number, ok := l.next()
		if !ok || number > 1000 {
			return
		}
		s := trimSpace(line)
		if name, ok := bytes.CutSuffix(s, []byte(":")); ok && hasPrefix(name, "args_") && metricWord(string(name)) {
			section = string(name) + "."
			continue
		}
		sep := bytes.IndexAny(s, "=\t")
		if sep <= 0 || !metricWord(string(s[:sep])) || len(s) > maxQuoted*4 {
			continue
		}
		name, value := string(s[:sep]), string(trimSpace(s[sep+1:]))
		if section != "" {
			if same, ok := options[name]; ok && same == value {
				continue
			}
			name = section + name
		}
		options[name] = value
	}
}
