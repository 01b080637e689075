package ingest

import (
	"bytes"
	"fmt"

	"github.com/relqps/relqps/internal/bench"
)

// Log is what a text printed by db_bench says, in order and without any
// conclusion drawn: what each line is, not what it is worth. See
// [ReadDBBenchLog] for the step to results.
type Log struct {
	// Processes are the executions of db_bench whose output the text holds, in
	// order. What stands before the first header belongs to the first.
	Processes []*Process
	// NotUnderstood lists the first lines that no rule knows, NotUnderstoodCount
	// counts all of them.
	NotUnderstood      []TextLine
	NotUnderstoodCount int

	ops     int
	tooMany string // what there is too much of; "" for the normal case
}

// TextLine is a line kept as it was printed. Line counts from 1 by \n, as
// editors do; File is the name given to the parser.
type TextLine struct {
	File string
	Line int
	Text string
	at   int // order of lines within the text; several may share a Line by \r
}

func (l TextLine) message(text string) bench.Message {
	return bench.Message{File: l.File, Line: l.Line, Text: text}
}

// Process is one execution of db_bench as far as the text shows it. Every part
// may be missing: people save one stream only, or paste an excerpt.
type Process struct {
	File string
	Line int // where its text begins
	// Header is what db_bench prints on stderr about itself and the machine.
	Header Header
	// Options are the lines that describe the data set, by their printed names.
	Options []Field
	// Command is the command line that a wrapper or a prompt left in the text.
	Command Command
	JobID   string
	Ops     []OpLine
	// Warnings are the lines that begin with WARNING:.
	Warnings []TextLine
	// Failures are the lines that say why db_bench ended early.
	Failures []TextLine
	// Skipped are benchmarks that db_bench says it left out.
	Skipped []Skip
	// Progress sums up the "... finished N ops" fragments.
	Progress Progress
	// Intervals are the lines of --stats_interval and --stats_interval_seconds.
	Intervals []Interval
	// Tickers and Distributions are what --statistics counts.
	Tickers       []Counter
	Distributions []Distribution
	// Dumps are the tables of --benchmarks=stats and of --stats_per_interval.
	Dumps []Dump
	// Usage is what time(1) or a shell says of the process.
	Usage Usage

	apart    string   // the database that told it from another process in the same text
	openings []int    // where the database was opened, by order of lines
	mark     TextLine // test is: NAME, the last
	end      int      // order of the last line
}

// Field is a named line: Entries, 200000.
type Field struct {
	Name  string
	Value string
	Line  int
}

// Progress says how far the fragments on stderr got.
type Progress struct {
	Lines      int
	Operations uint64 // the largest number seen, of one thread
	first      int
	last       int
}

// Skip is a benchmark that db_bench did not run, in its own words.
type Skip struct {
	Name string
	TextLine
}

// Interval is one line of --stats_interval_seconds: what one thread did since
// the line before and since its start.
type Interval struct {
	Line       int
	Thread     int
	Operations uint64
	Total      uint64
	Rate       float64 // 1/s over the interval
	Seconds    float64 // length of the interval
	at         int
}

// Counter is a named count: a ticker of --statistics, a counter of the perf
// context.
type Counter struct {
	Name  string
	Value float64
}

// What is kept of a log is bounded, whatever somebody sends: a text of nothing
// but headers must not fill the memory, nor results by the million make reading
// it take long.
const (
	maxNotUnderstood = maxMessages // lines that Log.NotUnderstood lists
	maxQuoted        = 160         // characters of a line quoted in a message
	maxProcesses     = 10_000      // of a log; more are refused
	maxOps           = 100_000     // op-lines of a log; more are refused
	maxDumps         = 100_000     // of a process; of more the first are kept
	maxCounters      = 2_000       // tickers of a process, perf counters of a result
	maxHistograms    = 64          // of a result
	maxOptions       = 200         // of a process
	maxTextLines     = 20          // failures, warnings, skipped benchmarks of a process
)

func quote(line []byte) string {
	if len(line) > maxQuoted {
		return string(bytes.ToValidUTF8(line[:maxQuoted], nil)) + "…"
	}
	return string(line)
}

// ParseLog reads a text that db_bench printed: stdout, stderr, or both in one.
// Lines end with \n, \r\n, or \r as progress text does. It never fails; what is
// no output of db_bench ends up in Log.NotUnderstood. The text is not kept.
func ParseLog(text []byte) *Log { return parseLog("", text) }

// parseLog is ParseLog with a file name for messages.
func parseLog(file string, text []byte) *Log {
	p := &logParser{log: &Log{}, file: file}
	p.begin()
	for len(text) > 0 {
		p.line++
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		for {
			fragment := line
			i := bytes.IndexByte(line, '\r')
			if i >= 0 {
				fragment, line = line[:i], line[i+1:]
			}
			p.at++
			p.fragment(fragment)
			if i < 0 {
				break
			}
		}
	}
	return p.finish()
}

// section says what the lines that follow belong to, where their shape alone
// would not tell.
type section uint8

const (
	sectionNone       section = iota
	sectionOptions            // the lines from Keys: to the dashes
	sectionHistogram          // below "Microseconds per X:"
	sectionOtherHist          // a histogram that is no step's response time
	sectionLevels             // the compaction table by level
	sectionPriorities         // the same figures by priority
	sectionLevelStats         // Level Files Size(MB)
	sectionTables             // files of the sstables benchmark
	sectionStatistics         // below STATISTICS:
	sectionPerf               // the line after PERF_CONTEXT:
)

type logParser struct {
	log     *Log
	file    string
	line    int // counts \n
	at      int // counts fragments
	last    int // order of the last fragment that was not blank
	cur     *Process
	section section

	dbPath    string
	freshPath bool // a DB path line stood since the last op-line
	warmups   int  // op-lines that are still warm-ups
	repeats   int  // repeats announced
	repeat    int  // repeats seen
	hist      *OpHistogram

	// The stats dump being read, see dbbench_stats.go.
	dump        Dump
	inDump      bool
	family      []byte
	interval    bool // the dump's heading follows an interval line
	afterThread int  // order of the last interval line
	columns     columns
}

func (p *logParser) here(text []byte) TextLine {
	return TextLine{File: p.file, Line: p.line, Text: string(text), at: p.at}
}

// begin starts a process.
func (p *logParser) begin() {
	p.closeDump()
	if len(p.log.Processes) == maxProcesses {
		p.log.tooMany = fmt.Sprintf("more than %d executions of db_bench", maxProcesses)
		return
	}
	p.cur = &Process{File: p.file, Line: p.line}
	p.log.Processes = append(p.log.Processes, p.cur)
	p.section, p.hist = sectionNone, nil
	p.warmups, p.repeats, p.repeat = 0, 0, 0
	p.dbPath, p.freshPath = "", false
}

// finish drops processes that turned out to be blank.
func (p *logParser) finish() *Log {
	p.closeDump()
	kept := p.log.Processes[:0]
	for _, x := range p.log.Processes {
		if !x.blank() {
			kept = append(kept, x)
		}
	}
	p.log.Processes = kept
	return p.log
}

// blank reports whether nothing at all is known of a process.
func (x *Process) blank() bool {
	return !x.hasHeader() && !x.hasBody() && x.Command.Line == 0 && x.JobID == "" && len(x.Failures) == 0 &&
		x.Progress.Lines == 0 && len(x.Intervals) == 0 && len(x.Warnings) == 0 && x.Usage == (Usage{}) && len(x.openings) == 0
}

// hasHeader reports whether the process said which program it is.
func (x *Process) hasHeader() bool { return x.Header.Program != "" }

// hasBody reports whether there is anything that goes to stdout.
func (x *Process) hasBody() bool {
	if len(x.Options) > 0 || len(x.Ops) > 0 || len(x.Skipped) > 0 || len(x.Tickers) > 0 || len(x.Distributions) > 0 {
		return true
	}
	return x.hasFinalDump()
}

// fragment reads one line, or one part of a line that \r ends.
func (p *logParser) fragment(raw []byte) {
	s := trimSpace(raw)
	// Where the \r was lost, as in a paste from a terminal, fragments of progress
	// stand on one line with what follows them.
	for hasPrefix(s, "... finished ") {
		tail, ok := p.progress(s)
		if !ok {
			break
		}
		if s = trimSpace(tail); len(s) == 0 {
			p.cur.end, p.last = p.at, p.at
			return
		}
		p.at++
	}
	if len(s) == 0 {
		if p.section == sectionHistogram || p.section == sectionOtherHist || p.section == sectionLevelStats {
			p.section, p.hist = sectionNone, nil
		}
		return
	}
	if !p.known(s) {
		p.unknown(s)
	}
	p.cur.end, p.last = p.at, p.at
}

// known reads a fragment by its first character; false means that no rule
// knows it.
func (p *logParser) known(s []byte) bool {
	if p.section == sectionPerf {
		p.section = sectionNone
		if p.perf(s) {
			return true
		}
	}
	switch c := s[0]; {
	case c == '.':
		return p.dots(s) || p.common(s)
	case c == '(' || c == '[':
		return p.bracket(s) || p.common(s)
	case c == '-':
		return p.dashes(s) || p.common(s)
	case c == '*':
		return p.stars(s)
	case c == '#':
		return true // a stack frame, or somebody's comment
	case c >= '0' && c <= '9':
		return p.digits(s) || p.common(s)
	}
	return p.words(s) || p.common(s)
}

// unknown notes a line that no rule knows.
func (p *logParser) unknown(s []byte) {
	p.log.NotUnderstoodCount++
	if len(p.log.NotUnderstood) < maxNotUnderstood {
		p.log.NotUnderstood = append(p.log.NotUnderstood, TextLine{File: p.file, Line: p.line, Text: quote(s), at: p.at})
	}
}

// progress reads "... finished 1000 ops" and gives what stands behind it.
func (p *logParser) progress(s []byte) (tail []byte, ok bool) {
	n, tail := nextWord(s[len("... finished "):])
	ops, tail := nextWord(tail)
	count, ok := parseCount(n)
	if !ok || string(ops) != "ops" {
		return nil, false
	}
	g := &p.cur.Progress
	if g.Lines == 0 {
		g.first = p.at
	}
	g.Lines++
	g.last = p.at
	g.Operations = max(g.Operations, count)
	return tail, true
}

// dots reads interval lines without a time, and the values that crc32c and its
// like print so that they are not optimised away.
func (p *logParser) dots(s []byte) bool {
	rest, ok := cutPrefix(s, "... ")
	if !ok {
		return false
	}
	if hasPrefix(rest, "thread ") {
		return p.intervalLine(rest)
	}
	return bytes.Contains(rest, []byte("=0x")) // "... val=0xe6ed7800"
}

// intervalLine reads "thread 0: (20000,20000) ops and (9976.1,9976.1) ops/second
// in (2.004792,2.004792) seconds": each pair is of the interval and since the
// start.
func (p *logParser) intervalLine(s []byte) bool {
	rest, _ := cutPrefix(s, "thread ")
	colon := bytes.IndexByte(rest, ':')
	if colon < 0 {
		return false
	}
	thread, ok := parseCount(rest[:colon])
	if !ok || thread > 1<<20 {
		return false
	}
	v := Interval{Line: p.line, Thread: int(thread), at: p.at}
	a, b, rest, ok := pair(rest[colon+1:])
	if !ok {
		return false
	}
	if v.Operations, ok = parseCount(a); !ok {
		return false
	}
	if v.Total, ok = parseCount(b); !ok {
		return false
	}
	if a, _, rest, ok = pair(rest); !ok {
		return false
	}
	if v.Rate, ok = parseNumber(a); !ok {
		return false
	}
	if a, _, _, ok = pair(rest); !ok {
		return false
	}
	if v.Seconds, ok = parseNumber(a); !ok {
		return false
	}
	p.cur.Intervals = append(p.cur.Intervals, v)
	p.closeDump()
	p.afterThread = p.at
	return true
}

// pair reads the next "(a,b)".
func pair(s []byte) (a, b, rest []byte, ok bool) {
	i := bytes.IndexByte(s, '(')
	if i < 0 {
		return nil, nil, nil, false
	}
	s = s[i+1:]
	j := bytes.IndexByte(s, ')')
	if j < 0 {
		return nil, nil, nil, false
	}
	k := bytes.IndexByte(s[:j], ',')
	if k < 0 {
		return nil, nil, nil, false
	}
	return s[:k], s[k+1 : j], s[j+1:], true
}

// bracket reads rows of histograms, and the exit status that people note below.
func (p *logParser) bracket(s []byte) bool {
	switch p.section {
	case sectionHistogram:
		if p.hist.row(s) {
			return true
		}
	case sectionOtherHist:
		if _, ok := histogramRow(s); ok {
			return true
		}
	}
	if status, ok := cutPrefix(s, "[exit status "); ok {
		if n, ok := parseCount(bytes.TrimRight(status, "]")); ok {
			if n != 0 {
				p.fail(s)
			}
			return true
		}
	}
	return false
}

// dashes reads rules, and the headings of the sstables benchmark.
func (p *logParser) dashes(s []byte) bool {
	if hasPrefix(s, "--- level ") {
		p.section = sectionTables
		return true
	}
	for _, c := range s {
		if c != '-' {
			return false
		}
	}
	if p.section == sectionOptions {
		p.section = sectionNone
	}
	return true
}

// stars reads the headings of the stats dump.
func (p *logParser) stars(s []byte) bool {
	if !hasPrefix(s, "** ") {
		return false
	}
	p.hist, p.section = nil, sectionNone
	if family, ok := cutPrefix(s, "** Compaction Stats ["); ok {
		// Whether a table by level follows, or the same figures by priority, the
		// next line says.
		if i := bytes.IndexByte(family, ']'); i >= 0 {
			family = family[:i]
		}
		p.family, p.interval = family, p.afterThread > 0 && p.afterThread == p.last
	} else if hasPrefix(s, "** DB Stats **") {
		p.dump.sawDB = true
	} else if bytes.Contains(s, []byte("atency")) { // ** Level 0 read latency histogram (micros):
		p.section = sectionOtherHist
	}
	return true
}

// digits reads interval lines, tables of numbers, and the output of du between
// results.
func (p *logParser) digits(s []byte) bool {
	if i := bytes.Index(s, []byte("... thread ")); i >= 0 { // 2026/11/30-13:30:29  ... thread 0: (
		return p.intervalLine(s[i+len("... "):])
	}
	word, rest := nextWord(s)
	switch p.section {
	case sectionTables: // 88:3812361[272385 .. 281431]['00…
		return bytes.IndexByte(word, ':') > 0
	case sectionLevelStats:
		for len(word) > 0 {
			if _, ok := parseNumber(word); !ok {
				return false
			}
			word, rest = nextWord(rest)
		}
		return true
	}
	if size := bytes.TrimRight(word, "KMGT"); len(size) > 0 && len(word)-len(size) <= 1 {
		if _, ok := parseNumber(size); ok {
			path, rest := nextWord(rest)
			return len(path) > 0 && path[0] == '/' && len(trimSpace(rest)) == 0
		}
	}
	return false
}
