package ingest

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// fio prints what it measured of a disk in three ways, all read here and in
// fio_json.go: for people, as JSON, and as one terse line a job.
//
// A result is one direction (read, write, trim) of one job. Its step is named by
// what was asked for, rw-bs-qd: randread-4k-qd8; a mixed job has one per direction
// (randrw.read-4k-qd8). Where the text does not say what was asked for the job's
// name stands for it, or the direction alone. Rates are 1/s, bandwidth MiB/s,
// times µs; fio 2 prints K for 1024 bytes where fio 3 prints Ki.
//
// What fio measures is the storage, whatever system is studied on it: system and
// version are those stated with the upload, so that a disk's figures stand beside
// the runs on it, and fio's own where nothing is stated.

const (
	formatFIO      = "fio"
	formatFIOTerse = "fio terse"
)

// fioDirection is what one job did in one direction.
type fioDirection struct {
	name string // read, write, trim
	line int
	text string // of the rate, as printed
	iops Measure
	mbps Measure // MiB/s
	mib  Measure // MiB moved
	ms   Measure // run time
	ios  Measure // operations done
	// Completion latency, µs.
	min, max, mean, stdev Measure
	percentiles           []fioPercentile
	ofCompletion          bool // the percentiles are those of clat
	odd                   []bench.Message
	none                  bool // nothing was done, yet not all figures are 0
	terse                 bool // from a line that does not say all
}

// strange notes a figure that cannot be read.
func (d *fioDirection) strange(line int, format string, args ...any) {
	d.odd = appendBounded(d.odd, bench.Message{Line: line, Text: fmt.Sprintf(format, args...)})
}

type fioPercentile struct {
	percent string // 99.95
	us      Measure
}

// fioJob is one job, or a group of them that fio reports as one.
type fioJob struct {
	name      string
	line      int
	rw        string
	bs        string // as printed: 4k, 16.0KiB-16.0KiB
	depth     string
	engine    string
	jobs      int // that ran as one
	err       string
	ended     bench.LocalTime
	options   map[string]string
	dirs      []*fioDirection
	left      []*fioDirection // of which nothing can be told but that they are odd
	capped    bool            // the queue depth was 1 whatever was asked for
	direction *fioDirection
}

// fioText collects what lines of fio say.
type fioText struct {
	version string // 3.33, or 3 and 2 where the form of the lines alone tells
	jobs    []*fioJob
	asked   map[string]*fioJob // by name: what the lines before the start say
	notes   []bench.Message
	percent *fioDirection // whose percentiles follow
	unit    float64       // µs of one of theirs
	direct  string        // 1, 0, "" unknown
	ended   bool          // the summary of all jobs is there
	odd     []bench.Message
}

func (f *fioText) begun() bool { return len(f.jobs) > 0 }

const maxFIOJobs = 10_000

var (
	fioAskedRe = regexp.MustCompile(`^(.+?): \(g=\d+\): rw=(\w+), bs=(.*?), ioengine=(\S+?), iodepth=(\d+)`)
	fioJobRe   = regexp.MustCompile(`^(.+?): \(groupid=\d+, jobs=\s*(\d{1,6})\): err=\s*(\d+)(?: \((.*?)\))?: pid=\d+(?:: (.*))?$`)
	fioDirRe   = regexp.MustCompile(`\b(read|write|trim)\s*: (?:IOPS=|io=)`)
	fioRate3Re = regexp.MustCompile(`IOPS=([\d.]+[kMGT]?), BW=([\d.]+)([KMGT]i)?B/s \([^)]*\)\(([\d.]+)([KMGT]i)?B/(\d+)msec\)`)
	fioRate2Re = regexp.MustCompile(`io=\s*([\d.]+)([KMGT])?B, bw=\s*([\d.]+)([KMGT])?B/s, iops=\s*([\d.]+[KMGTk]?)\s*, runt=\s*(\d+)msec`)
	fioLatRe   = regexp.MustCompile(`\b(slat|clat|lat) \((nsec|usec|msec)\): min=\s*([\d.]+[kKMGT]?), max=\s*([\d.]+[kKMGT]?), avg=\s*([\d.]+), stdev=\s*([\d.]+)`)
	// What a text of latencies begins with, whatever follows.
	fioLatStartRe = regexp.MustCompile(`\b(?:slat|clat|lat) \([^)]*\): min=`)
	fioPercentRe  = regexp.MustCompile(`^(clat|lat) percentiles \((nsec|usec|msec)\):`)
	fioIssuedRe   = regexp.MustCompile(`^issued\s+rwts?: total=(\d+),(\d+),(\d+)|^issued\s*: total=r=(\d+)/w=(\d+)/d=(\d+)`)
	fioVersionRe  = regexp.MustCompile(`^fio-(\d+\.\d[\w.-]*)$`)
)

// fioUnits gives µs of a unit of time.
var fioUnits = map[string]float64{"nsec": 1e-3, "usec": 1, "msec": 1e3}

// fioNumber reads a number that may carry a suffix, decimal for fio 3 (k is 1000)
// and for rates of fio 2, where K is printed.
func fioNumber(s string, scale float64) Measure {
	factor := 1.0
	if n := len(s); n > 1 {
		switch s[n-1] {
		case 'k', 'K':
			factor, s = 1e3, s[:n-1]
		case 'M':
			factor, s = 1e6, s[:n-1]
		case 'G':
			factor, s = 1e9, s[:n-1]
		case 'T':
			factor, s = 1e12, s[:n-1]
		}
	}
	v, resolution, ok := parseDecimal(s, factor)
	if !ok {
		return Measure{}
	}
	return Measure{Value: times(v, scale), Resolution: times(resolution, scale), Known: isFinite(v * scale)}
}

// times scales a figure; dividing by a whole number rounds once, where its inverse
// would already be rounded.
func times(v, scale float64) float64 {
	if scale < 1 {
		return v / math.Round(1/scale)
	}
	return v * scale
}

// fioMiB reads a number of bytes with a binary prefix, in MiB.
func fioMiB(s, prefix string) Measure {
	scale := 1.0 / (1 << 20)
	if prefix != "" {
		switch prefix[0] {
		case 'K':
			scale = 1.0 / (1 << 10)
		case 'M':
			scale = 1
		case 'G':
			scale = 1 << 10
		case 'T':
			scale = 1 << 20
		}
	}
	v, resolution, ok := parseDecimal(s, 1)
	return Measure{Value: v * scale, Resolution: resolution * scale, Known: ok && isFinite(v*scale)}
}

// line reads a line; false means that it is none of fio's.
func (f *fioText) line(raw []byte, n int) bool {
	s := strings.TrimSpace(string(raw))
	if f.rates(s, n) {
		return true
	}
	if m := submatch(fioPercentRe, s, " percentiles ("); m != nil {
		if d := f.current(); d != nil && (m[1] == "clat" || !d.ofCompletion) {
			d.percentiles, d.ofCompletion = nil, m[1] == "clat"
			f.percent, f.unit = d, fioUnits[m[2]]
		}
		return true
	}
	if strings.HasPrefix(s, "|") {
		f.percentiles(s, n)
		return true
	}
	if m := submatch(fioAskedRe, s, ": (g="); m != nil {
		if f.asked == nil {
			f.asked = map[string]*fioJob{}
		}
		if len(f.asked) < maxFIOJobs {
			f.asked[m[1]] = &fioJob{name: m[1], rw: m[2], bs: m[3], engine: m[4], depth: m[5]}
		}
		return true
	}
	if m := submatch(fioJobRe, s, ": (groupid="); m != nil && len(f.jobs) < maxFIOJobs {
		job := &fioJob{name: m[1], line: n, jobs: atoi(m[2])}
		if asked := f.asked[m[1]]; asked != nil {
			job.rw, job.bs, job.engine, job.depth = asked.rw, asked.bs, asked.engine, asked.depth
		}
		if m[3] != "0" {
			job.err = strings.TrimSpace("error " + m[3] + " " + m[4])
		}
		if ended, err := bench.ParseCTime(m[5]); err == nil {
			job.ended = ended
		} else if strings.TrimSpace(m[5]) != "" {
			f.notes = appendBounded(f.notes, bench.Message{Line: n, Text: fmt.Sprintf("not a date: %q; the results are without one", clip(m[5]))})
		}
		f.jobs, f.percent = append(f.jobs, job), nil
		return true
	}
	if m := submatch(fioIssuedRe, s, "total="); m != nil {
		if len(f.jobs) > 0 {
			for _, d := range f.jobs[len(f.jobs)-1].dirs {
				at := map[string]int{"read": 1, "write": 2, "trim": 3}[d.name]
				d.ios = fioNumber(m[at]+m[at+3], 1)
			}
		}
		return true
	}
	if m := submatch(fioVersionRe, s, "fio-"); m != nil {
		f.version = m[1]
		return true
	}
	if hasOneOf(s, "note: ", "fio: ", "bs: ") {
		f.notes = appendBounded(f.notes, bench.Message{Line: n, Text: quote([]byte(s))})
		return true
	}
	f.ended = f.ended || strings.HasPrefix(s, "Run status group")
	return hasOneOf(s, fioTalk...) || strings.Contains(s, "Laying out IO file") || strings.Contains(s, ": ios=") ||
		strings.HasPrefix(s, "lat (") && strings.Contains(s, "=")
}

// fioTalk is how the lines begin that say nothing of a result.
var fioTalk = []string{
	"Starting ", "Run status group", "Disk stats", "...", "READ: ", "WRITE: ", "TRIM: ", "cpu ", "IO depths ", "submit ", "complete ", "latency ",
	"bw (", "iops ", "Jobs: ",
}

func hasOneOf(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// submatch matches a pattern only where a text that it needs is there: searching
// for a text is cheap, most lines have none of them.
func submatch(re *regexp.Regexp, s, needed string) []string {
	if !strings.Contains(s, needed) {
		return nil
	}
	return re.FindStringSubmatch(s)
}

// current gives the direction that lines speak of, nil before the first.
func (f *fioText) current() *fioDirection {
	if len(f.jobs) == 0 {
		return nil
	}
	return f.jobs[len(f.jobs)-1].direction
}

// rates reads the parts of a line that hold rates and latencies; people paste
// several lines as one.
func (f *fioText) rates(s string, n int) (found bool) {
	whole := s
	if !strings.Contains(s, "IOPS=") && !strings.Contains(s, ": io=") && !strings.Contains(s, "): min=") {
		return false
	}
	latencies := len(fioLatStartRe.FindAllStringIndex(s, -1))
	defer func() {
		// A line with nothing on it that can be read is listed as such.
		if found && latencies > 0 {
			f.unread(n, "latencies", whole)
		}
	}()
	for s != "" {
		dir, lat := fioDirRe.FindStringSubmatchIndex(s), fioLatRe.FindStringSubmatchIndex(s)
		switch {
		case dir != nil && (lat == nil || dir[0] < lat[0]):
			rest := s[dir[3]:]
			if m := fioRate3Re.FindStringSubmatch(rest); m != nil {
				f.direction(s[dir[2]:dir[3]], n, "3", &fioDirection{text: m[1], iops: fioNumber(m[1], 1), mbps: fioMiB(m[2], m[3]), mib: fioMiB(m[4], m[5]), ms: fioNumber(m[6], 1)})
				found = true
			} else if m := fioRate2Re.FindStringSubmatch(rest); m != nil {
				f.direction(s[dir[2]:dir[3]], n, "2", &fioDirection{text: m[5], iops: fioNumber(m[5], 1), mbps: fioMiB(m[3], m[4]), mib: fioMiB(m[1], m[2]), ms: fioNumber(m[6], 1)})
				found = true
			} else {
				f.unread(n, "rates", s[dir[0]:])
			}
			s = s[dir[1]:]
		case lat != nil:
			found = true
			latencies--
			if d := f.current(); d != nil && s[lat[2]:lat[3]] == "clat" {
				unit := fioUnits[s[lat[4]:lat[5]]]
				d.min, d.max = fioNumber(s[lat[6]:lat[7]], unit), fioNumber(s[lat[8]:lat[9]], unit)
				d.mean, d.stdev = fioNumber(s[lat[10]:lat[11]], unit), fioNumber(s[lat[12]:lat[13]], unit)
			}
			s = s[lat[1]:]
		default:
			return found
		}
	}
	return found
}

// unread notes a part of a line that holds figures, one of which is none.
func (f *fioText) unread(n int, what, text string) {
	f.odd = appendBounded(f.odd, bench.Message{Line: n, Text: fmt.Sprintf("%s that cannot be read are left out: %q", what, clip(text))})
}

// direction begins a direction of the current job. One that the job has already
// is of another job: excerpts lack the lines between.
func (f *fioText) direction(name string, n int, generation string, d *fioDirection) {
	d.name, d.line = name, n
	if f.version == "" {
		f.version = generation
	}
	begin := len(f.jobs) == 0
	if !begin {
		for _, have := range f.jobs[len(f.jobs)-1].dirs {
			begin = begin || have.name == name
		}
	}
	if begin {
		if len(f.jobs) >= maxFIOJobs {
			return
		}
		f.jobs = append(f.jobs, &fioJob{line: n, jobs: 1})
	}
	job := f.jobs[len(f.jobs)-1]
	job.dirs, job.direction, f.percent = append(job.dirs, d), d, nil
}

func (f *fioText) percentiles(s string, n int) {
	if f.percent == nil {
		return
	}
	for {
		before, rest, ok := strings.Cut(s, "th=[")
		value, after, closed := strings.Cut(rest, "]")
		if !ok || !closed {
			return
		}
		percent := plainNumber(before[strings.LastIndexAny(before, " |,")+1:])
		isNumber := isPercent(percent)
		switch us := fioNumber(strings.TrimSpace(value), f.unit); {
		case !us.Known || us.Value < 0 || !isNumber:
			f.percent.strange(n, "percentile %s: not a time: %q; left out", clip(percent), clip(value))
		case len(f.percent.percentiles) < maxColumns:
			f.percent.percentiles = append(f.percent.percentiles, fioPercentile{percent, us})
		default:
			f.percent.strange(n, "percentile %s: more than %d; left out", clip(percent), maxColumns)
		}
		s = after
	}
}

// isPercent reports whether a text is the number of a percentile.
func isPercent(text string) bool {
	v, _, ok := parseDecimal(text, 1)
	return ok && v > 0 && v <= 100
}

// fioHead bounds what is looked through to tell the format.
const fioHead = 64 << 10

var (
	fioHumanRe = regexp.MustCompile(`(?m)^\s*(?:read|write|trim)\s*: (?:IOPS=[\d.]+[kMGT]?, BW=|io=\s*[\d.]+[KMGT]?B, bw=)`)
	fioTerseRe = regexp.MustCompile(`(?m)^(\d);fio-(\d+\.[\w.-]+);`)
)

func headOf(in *input) []byte { return in.text[:min(len(in.text), fioHead)] }

func isFIO(in *input) bool { return fioHumanRe.Match(headOf(in)) }

// readFIO reads what fio prints for people.
func readFIO(in *input) output {
	var f fioText
	var messages []bench.Message
	for l := newLines(in.text); ; {
		raw, n, ok := l.next()
		if !ok {
			break
		}
		if i := strings.LastIndexByte(string(raw), '\r'); i >= 0 {
			raw = raw[i+1:] // status lines are drawn over one another
		}
		if len(trimSpace(raw)) == 0 {
			continue
		}
		if len(raw) > maxLine || !f.line(raw, n) {
			messages = appendBounded(messages, bench.Message{File: in.path, Line: n, Text: fmt.Sprintf("not understood: %q", clip(string(raw[:min(len(raw), maxLine)])))})
		}
	}
	failed := slices.ContainsFunc(f.jobs, func(j *fioJob) bool { return j.err != "" })
	if !f.ended && !failed && len(f.asked) > 0 {
		f.notes = appendBounded(f.notes, bench.Message{Text: "fio's summary at the end of its output is missing: the text is cut"})
	}
	out := in.fioOutput(&f)
	if out.state == bench.FileTaken {
		out.messages = messages
	}
	return out
}

// fioOutput makes the output of a file of fio's.
func (in *input) fioOutput(f *fioText) output {
	runs, err := in.fioRuns(f, in.given, bench.Context{}, "the text")
	switch {
	case err != nil:
		return refused(asMessage(in.path, err))
	case len(runs) == 0:
		return refused(bench.Message{File: in.path, Text: "no figures of a job"})
	}
	return output{state: bench.FileTaken, runs: runs, warnings: f.oddities(in)}
}

// oddities gives what is odd about a text that no result of it says.
func (f *fioText) oddities(in *input) []bench.Message {
	for i := range f.odd {
		f.odd[i].File = in.path
	}
	return f.odd
}

// fioRuns gives the run that a text of fio holds, none when it has no jobs.
// content is what a heading around it states.
func (in *input) fioRuns(f *fioText, given, content bench.Context, by string) ([]bench.Run, error) {
	content.Suite = bench.SuiteFIO
	hint := bench.Context{System: bench.SystemFIO, Version: f.version, Workload: map[string]string{"1": "iodir", "0": "iobuf"}[f.direct]}
	if given.System != "" && given.System != bench.SystemFIO {
		hint.Version = "" // fio's own says nothing of that system
	}
	// bs4k in the name of a file of fio's is fio's block size, no config.
	named := *in
	if blockSizeWordRe.MatchString(path.Base(in.path)) {
		named.hinted.Config = ""
	}
	run, err := named.resolveGiven(content, hint, by, given)
	in.usedServer = named.usedServer
	if err != nil {
		return nil, err
	}
	if f.version != "" {
		run.Environment = map[string]string{"fio_version": f.version}
	}
	var warnings []bench.Message
	for _, n := range f.notes {
		n.File = in.path
		warnings = append(warnings, n)
	}
	names := f.steps()
	for i, job := range f.jobs {
		for k := range job.options {
			if run.Options == nil {
				run.Options = map[string]string{}
			}
			// Where jobs differ the option is none of the run as a whole.
			if v, twice := run.Options[k]; twice && v != job.options[k] {
				run.Options[k] = ""
			} else if !twice {
				run.Options[k] = job.options[k]
			}
		}
		for k, d := range job.dirs {
			r := job.result(in, d, names[i][k])
			r.Warnings = append(r.Warnings, warnings...)
			run.Results = append(run.Results, r)
		}
		switch {
		case len(job.dirs) > 0:
		case job.err != "":
			run.Results = append(run.Results, job.failure(in, names[i][0]))
		default:
			f.odd = appendBounded(f.odd, bench.Message{Line: job.line, Text: fmt.Sprintf("job %q has no figures: it is left out", clip(job.name))})
		}
	}
	for k, v := range run.Options {
		if v == "" {
			delete(run.Options, k)
		}
	}
	if len(run.Results) == 0 {
		return nil, nil
	}
	return []bench.Run{run}, nil
}

// steps names the steps of all directions. Jobs that would share one, as clones
// do, are told apart by their names, then by number: they ran at the same time and
// are no repeats of one another.
func (f *fioText) steps() [][]string {
	names := make([][]string, len(f.jobs))
	count := map[string]int{}
	for i, job := range f.jobs {
		for _, d := range job.dirs {
			names[i] = append(names[i], job.step(d))
		}
		if len(job.dirs) == 0 {
			names[i] = append(names[i], job.step(&fioDirection{}))
		}
		for _, n := range names[i] {
			count[n]++
		}
	}
	same := count
	count = map[string]int{}
	for i, job := range f.jobs {
		for k, n := range names[i] {
			if same[n] > 1 && job.name != "" && job.name != job.rw {
				names[i][k] = n + "-" + job.name
			}
			count[names[i][k]]++
		}
	}
	number := map[string]int{}
	for i := range f.jobs {
		for k, n := range names[i] {
			if count[n] > 1 {
				number[n]++
				names[i][k] = fmt.Sprintf("%s-job%d", n, number[n])
			}
		}
	}
	return names
}

// fioMixed are the jobs of two directions.
var fioMixed = map[string]bool{"rw": true, "readwrite": true, "randrw": true, "trimwrite": true, "randtrimwrite": true}

// step names the step of a direction.
func (j *fioJob) step(d *fioDirection) string {
	name, mixed := j.rw, fioMixed[j.rw]
	switch {
	case name == "" && j.name == "":
		name = d.name
	case name == "":
		name, mixed = j.name, len(j.dirs) > 1
	}
	if mixed {
		name += "." + d.name
	}
	if size, _, ok := j.blockSize(d); ok {
		name += "-" + shortBytes(uint64(size))
	}
	if j.capped {
		return name + "-qd1"
	}
	if j.depth != "" {
		name += "-qd" + j.depth
	}
	return name
}

// blockSize gives the block size of a direction in bytes. Where the text does not
// say it, it is the power of two that bandwidth / rate is near; implied is then
// true.
func (j *fioJob) blockSize(d *fioDirection) (size float64, implied, ok bool) {
	if j.bs != "" {
		size, ok = fioBlockSize(j.bs, d.name)
		return size, false, ok
	}
	if !d.iops.Known || !d.mbps.Known || d.iops.Value <= 0 || d.mbps.Value <= 0 {
		return 0, false, false
	}
	raw := d.mbps.Value * (1 << 20) / d.iops.Value
	if !(raw >= 500 && raw <= 1<<26) {
		return 0, false, false
	}
	size = math.Exp2(math.Round(math.Log2(raw)))
	return size, true, math.Abs(raw/size-1) <= 0.1
}

var fioSizeRe = regexp.MustCompile(`^(?:\((R|W|T)\) )?([\d.]+)\s?([KMG])?(?:i?B)?$`)

// fioBlockSize reads the block sizes of a job: 4k (JSON), 4K-4K/4K-4K/4K-4K
// (fio 2), (R) 16.0KiB-16.0KiB, (W) … (fio 3). ok is false for a range.
func fioBlockSize(bs, direction string) (float64, bool) {
	parts := strings.Split(bs, ", ")
	if len(parts) == 1 {
		parts = strings.FieldsFunc(bs, func(r rune) bool { return r == '/' || r == ',' })
	}
	at := map[string]int{"read": 0, "write": 1, "trim": 2}[direction]
	if at >= len(parts) {
		at = len(parts) - 1 // a size that is not given is that of the one before
	}
	if at < 0 {
		return 0, false
	}
	low, high, isRange := strings.Cut(strings.TrimSpace(parts[at]), "-")
	size := func(s string) (float64, bool) {
		m := fioSizeRe.FindStringSubmatch(strings.ToUpper(strings.ReplaceAll(s, "i", "")))
		if m == nil {
			return 0, false
		}
		mib := fioMiB(m[2], m[3])
		bytes := math.Round(mib.Value * (1 << 20))
		return bytes, mib.Known && bytes >= 1 && bytes <= 1<<30
	}
	v, ok := size(low)
	if isRange && ok {
		w, same := size(high)
		return v, same && v == w
	}
	return v, ok
}

// result makes the result of a direction.
func (j *fioJob) result(in *input, d *fioDirection, step string) bench.Result {
	r := bench.Result{
		Step: bench.Step{Name: step, Threads: j.jobs}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Started: j.ended, Primary: bench.PrimaryMetric(bench.SuiteFIO, step), PrimaryText: d.text,
		Sources: []bench.Source{{File: in.path, Line: d.line}},
	}
	if j.err != "" {
		r.State, r.Reason = bench.StateFailed, j.err
	}
	for _, m := range d.odd {
		m.File = in.path
		r.Warnings = append(r.Warnings, m)
	}
	var unsaid []string
	set := func(metric, source string, m Measure) {
		switch {
		case !m.Known:
			unsaid = append(unsaid, source)
		case m.Value < 0:
			r.Warnings = append(r.Warnings, bench.Message{File: in.path, Line: d.line, Column: source, Text: fmt.Sprintf("%g: no such figure is possible; left out", m.Value)})
		default:
			r.Set(bench.Value{Metric: metric, Number: m.Value, Resolution: m.Resolution, SourceName: source})
		}
	}
	set("iops", "iops", d.iops)
	set("mb_per_s", "bw", d.mbps)
	set("average", "clat mean", d.mean)
	set("stdev_us", "clat stdev", d.stdev)
	set("min_us", "clat min", d.min)
	set("max", "clat max", d.max)
	if !d.terse {
		set("operations", "total_ios", d.ios)
	}
	if !d.ms.Known {
		unsaid = append(unsaid, "runtime")
	} else {
		set("elapsed_s", "runtime", Measure{Value: d.ms.Value / 1e3, Resolution: d.ms.Resolution / 1e3, Known: true})
	}
	if len(d.percentiles) == 0 {
		unsaid = append(unsaid, "percentiles")
	}
	// Excerpts say less, and have no line of a job; so do jobs that failed.
	if len(unsaid) > 0 && j.name != "" && j.err == "" {
		r.Warnings = append(r.Warnings, bench.Message{File: in.path, Line: d.line, Text: "not in fio's output, or no figures: " + strings.Join(unsaid, ", ")})
	}
	texts := []string{step, d.text}
	for _, m := range []Measure{d.mbps, d.mib, d.ms, d.min, d.max, d.mean, d.stdev} {
		texts = append(texts, strconv.FormatFloat(m.Value, 'g', -1, 64))
	}
	r.Text = strings.Join(texts, " ")
	seen := map[string]bool{}
	for _, p := range d.percentiles {
		if seen[p.percent] {
			continue
		}
		seen[p.percent] = true
		if metric := fioPercentMetrics[p.percent]; metric != "" && d.ofCompletion {
			set(metric, "clat "+p.percent, p.us)
		}
		key := bench.BreakdownPercentiles
		if !d.ofCompletion {
			key = "latency_percentile"
		}
		r.Breakdowns = append(r.Breakdowns, bench.Breakdown{Key: key, Bucket: p.percent, Unit: "µs", Value: p.us.Value})
	}
	for _, text := range j.contradictions(d) {
		r.Warnings = append(r.Warnings, bench.Message{File: in.path, Line: d.line, Text: text})
	}
	return r
}

// fioPercentMetrics are the percentiles that are metrics.
var fioPercentMetrics = map[string]string{"50": "p50", "75": "p75", "95": "p95", "99": "p99", "99.9": "p99_9", "99.99": "p99_99"}

// failure is the result of a job that ended with an error and no figures.
func (j *fioJob) failure(in *input, step string) bench.Result {
	return bench.Result{
		Step: bench.Step{Name: step, Threads: j.jobs}, Role: bench.RoleMeasure, State: bench.StateFailed, Reason: j.err, Origin: bench.OriginMeasured,
		Started: j.ended, Primary: bench.PrimaryMetric(bench.SuiteFIO, step), Text: step + " " + j.err,
		Sources: []bench.Source{{File: in.path, Line: j.line}},
	}
}

// fioSlack is what a rate and a bandwidth that are both right may differ by
// beyond the rounding of their digits.
const fioSlack = 0.002

// contradictions says where the figures of a direction cannot all be right.
func (j *fioJob) contradictions(d *fioDirection) (texts []string) {
	// Of a bandwidth over a time and the amount moved: which of them to believe.
	agrees := ""
	if d.mib.Known && d.ms.Known && d.ms.Value > 0 && d.mbps.Known && d.mbps.Value > 0 {
		seconds := d.ms.Value / 1e3
		byAmount := d.mib.Value / seconds
		slack := d.mbps.Resolution/2 + d.mib.Resolution/2/seconds + fioSlack*d.mbps.Value + d.ms.Resolution/1e3*byAmount/seconds
		if math.Abs(byAmount-d.mbps.Value) > slack {
			texts = append(texts, fmt.Sprintf("%s MiB in %s s make %s MiB/s, printed are %s: kept as printed",
				short(d.mib.Value), short(seconds), short(byAmount), short(d.mbps.Value)))
		} else {
			agrees = fmt.Sprintf("; %s MiB in %s s agree with the bandwidth", short(d.mib.Value), short(seconds))
		}
	}
	size, implied, ok := j.blockSize(d)
	if !ok || !d.iops.Known || !d.mbps.Known {
		return texts
	}
	byBandwidth := d.mbps.Value * (1 << 20) / size
	slack := d.iops.Resolution/2 + d.mbps.Resolution/2*(1<<20)/size + fioSlack*byBandwidth
	if math.Abs(byBandwidth-d.iops.Value) <= slack {
		return texts
	}
	at := fmt.Sprintf("at %.0f bytes", size)
	if uint64(size)%1024 == 0 {
		at = fmt.Sprintf("at %.0f KiB", size/1024)
	}
	if implied {
		at += ", the nearest block size,"
	}
	return append(texts, fmt.Sprintf("IOPS and bandwidth contradict each other: %s IOPS %s make %s MiB/s, printed are %s MiB/s, which are %.0f IOPS%s; both are kept as printed",
		d.text, at, short(d.iops.Value*size/(1<<20)), short(d.mbps.Value), byBandwidth, agrees))
}

// short writes a figure for a message.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// Terse output, versions 3 and 4: ; between fields, each direction's 41 in a row,
// times in µs. It does not say what was asked for.
const (
	terseRead   = 5  // place of the first field of reads
	terseFields = 41 // of a direction
)

func isFIOTerse(in *input) bool { return fioTerseRe.Match(headOf(in)) }

// readFIOTerse reads terse lines, one a job.
func readFIOTerse(in *input) output {
	var f fioText
	var problems, messages []bench.Message
	for l := newLines(in.text); ; {
		raw, n, ok := l.next()
		if !ok {
			break
		}
		if len(raw) > maxLine {
			problems = appendBounded(problems, bench.Message{File: in.path, Line: n, Text: fmt.Sprintf("the line is longer than %d bytes", maxLine)})
			continue
		}
		line := strings.TrimSpace(string(raw))
		m := fioTerseRe.FindStringSubmatch(line)
		switch {
		case line == "":
			continue
		case m == nil:
			if !f.line(raw, n) {
				messages = appendBounded(messages, bench.Message{File: in.path, Line: n, Text: fmt.Sprintf("not understood: %q", clip(line))})
			}
			continue
		case m[1] != "3" && m[1] != "4":
			problems = appendBounded(problems, bench.Message{File: in.path, Line: n, Text: "terse output of version " + m[1] + ": versions 3 and 4 are read; JSON is better than either"})
			continue
		}
		fields := strings.Split(line, ";")
		if len(fields) < terseRead+2*terseFields || len(f.jobs) >= maxFIOJobs {
			problems = appendBounded(problems, bench.Message{File: in.path, Line: n, Text: fmt.Sprintf("a terse line of %d fields: at least %d are needed", len(fields), terseRead+2*terseFields)})
			continue
		}
		f.version = m[2]
		f.terse(fields, n)
	}
	if len(problems) > 0 {
		return refused(problems...)
	}
	out := in.fioOutput(&f)
	if out.state == bench.FileTaken {
		out.messages = messages
	}
	return out
}

// leave keeps what is odd about a direction that is left out.
func (f *fioText) leave(d *fioDirection) {
	for _, m := range d.odd {
		f.odd = appendBounded(f.odd, m)
	}
}

// terse reads the fields of a job.
func (f *fioText) terse(fields []string, n int) {
	job := &fioJob{name: fields[2], line: n, jobs: 1}
	if e := fields[4]; e != "0" {
		job.err = "error " + e
	}
	for i, name := range []string{"read", "write", "trim"} {
		at := terseRead + i*terseFields
		if at+terseFields > len(fields) || name == "trim" && fields[0] != "4" {
			break
		}
		v := fields[at : at+terseFields]
		d := &fioDirection{
			name: name, line: n, text: v[2], mib: fioMiB(v[0], "K"), mbps: fioMiB(v[1], "K"), iops: fioNumber(v[2], 1), ms: fioNumber(v[3], 1),
			min: fioNumber(v[8], 1), max: fioNumber(v[9], 1), mean: fioNumber(v[10], 1), stdev: fioNumber(v[11], 1), ofCompletion: true, terse: true,
		}
		if d.ms.Known && d.ms.Value == 0 || !d.ms.Known && (!d.iops.Known || d.iops.Value == 0) {
			if v[2] != "0" && v[2] != "" {
				d.strange(n, "%s: %q operations per second in %q ms: left out", name, clip(v[2]), clip(v[3]))
				f.leave(d)
			}
			continue // nothing was done in this direction
		}
		for _, p := range v[12:32] {
			percent, us, ok := strings.Cut(p, "%=")
			m := fioNumber(us, 1)
			switch percent = plainNumber(percent); {
			case percent == "0" && ok: // fills places that are not used
			case !ok || !m.Known || m.Value < 0 || !isPercent(percent):
				d.strange(n, "not a percentile: %q; left out", clip(p))
			default:
				d.percentiles = append(d.percentiles, fioPercentile{percent, m})
			}
		}
		job.dirs = append(job.dirs, d)
	}
	f.jobs = append(f.jobs, job)
}
