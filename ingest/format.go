package ingest

import (
	"bytes"
	"fmt"
	"path"

	"github.com/relqps/relqps/internal/bench"
)

// input is one file of an upload: its bytes, and what is known about it before
// a reader looks at them. Readers must not change its fields.
type input struct {
	// path is slash-separated: inside the archive, or the upload's file name.
	path string
	raw  []byte // the file's own bytes, decompressed
	// text is raw in UTF-8 without byte order mark. Line ends are as they were:
	// \n or \r\n; see [lines].
	text []byte
	// given is what flags or form fields say and byPath what the directories of
	// the path say; a content that says otherwise is an error. See [input.resolve].
	given  bench.Context
	byPath bench.Context
	// options are those that a bm.* directory stands for.
	options map[string]string
	// hinted is what the base file name and free directory names suggest; it
	// gives way to anything stated.
	hinted bench.Context
	// serverFrom names the directory that the hinted server was taken from.
	serverFrom string
	// usedServer is set by [input.resolve] when a run's server is the hinted one.
	usedServer bool
	set        *set
	format     *format // nil: not recognised
	undecoded  string  // why text is nil: the encoding
}

// set is all files of one upload, for readers that look at a file's siblings.
type set struct {
	files []*input // in reading order
	byKey map[string]*input
	sums  map[string]*sumFile // see [set.sumFile]
	// Rows that tables may still hold: see Limits.Rows.
	rows, rowLimit int
}

// spend counts rows read; false means that the upload holds too many.
func (s *set) spend(n int) bool {
	s.rows -= n
	return s.rows >= 0
}

// tooManyRows refuses the file that passed the limit.
func tooManyRows(in *input, line int) output {
	return refused(bench.Message{File: in.path, Line: line,
		Text: fmt.Sprintf("the tables of this upload hold more than %d rows: upload their parts", in.set.rowLimit)})
}

// at gives the file at a path inside the upload, nil when there is none.
func (s *set) at(name string) *input { return s.byKey[path.Clean(name)] }

// output is what a reader made of one file. A refused file's runs and matrices
// are dropped; its messages say why. Messages of a taken file are lines that
// were not understood.
type output struct {
	state    bench.FileState
	runs     []bench.Run
	matrices []bench.Matrix
	checks   []bench.Check
	configs  []bench.Config
	messages []bench.Message
	warnings []bench.Message // those that belong to no single result
}

// format is one kind of file. detect looks at content only (a path may be
// misnamed) and must be cheap and total; read must be total too: whatever the
// bytes, it neither panics nor hangs, and its output is bounded by its input.
type format struct {
	name   string
	detect func(in *input) bool
	read   func(in *input) output
}

// formats lists the known formats; the first that detects a file reads it, so
// the more specific stand first.
func formats() []*format {
	return []*format{
		{name: formatEmpty, detect: isEmpty, read: readEmpty},
		{name: formatExport, detect: isExport, read: readExport},
		{name: formatIntervals, detect: isIntervals, read: readReportFile},
		{name: formatCISummary, detect: isCISummary, read: readCISummary},
		{name: formatIBenchMetrics, detect: isIBenchMetrics, read: readIBenchFile},
		{name: formatIBenchClientTimes, detect: isIBenchClientTimes, read: readIBenchRunFile},
		{name: formatIBenchTimes, detect: isIBenchTimes, read: readIBenchFile},
		{name: formatIBenchSummary, detect: isIBenchSummary, read: readIBenchFile},
		{name: formatIBenchPage, detect: isIBenchPage, read: readIBenchFile},
		{name: formatIBenchClient, detect: isIBenchClient, read: readIBenchRunFile},
		{name: formatIBenchStep, detect: isIBenchStep, read: readIBenchRunFile},
		{name: formatSummary, detect: isSummary, read: readTable},
		{name: formatSum, detect: isSum, read: readTable},
		{name: formatReport, detect: isReport, read: readTable},
		{name: formatOptions, detect: isRocksOptions, read: readRocksOptions},
		{name: formatMyCnf, detect: isMyCnf, read: readMyCnf},
		{name: formatVariables, detect: isVariables, read: readVariables},
		{name: formatStatePerf, detect: isStatePerf, read: readStatePerf},
		{name: formatFIOJSON, detect: isFIOJSON, read: readFIOJSON},
		{name: formatGoogle, detect: isGoogle, read: readGoogle},
		{name: formatFIOTerse, detect: isFIOTerse, read: readFIOTerse},
		{name: formatFIO, detect: isFIO, read: readFIO},
		// Looks through all of a file that is none.
		{name: formatLog, detect: isLog, read: readLog},
		{name: formatMatrix, detect: isMatrix, read: readMatrix},
		{name: formatOldReport, detect: isOldReport, read: readOldReport},
		// Almost anything with = in every line.
		{name: formatPairs, detect: isPairs, read: readPairs},
	}
}

// bundle is a way in which several files are read together, such as a result
// directory. claim gives disjoint lists of a set's files, those without known
// format or encoding included; read gives one output per file, in order.
type bundle struct {
	name  string
	claim func(s *set) [][]*input
	read  func(files []*input) []output
}

// bundles lists the known bundles; a file belongs to the first that claims it.
func bundles() []*bundle {
	return []*bundle{&runnerBundle, &resultDirBundle, &ibenchBundle, &ibenchRunBundle, &logBundle}
}

// The names of formats as stored with files and shown on pages.
const (
	formatEmpty     = "empty"
	formatExport    = "relqps export"
	formatReport    = "report.tsv"
	formatOldReport = "report.txt without header"
	formatSummary   = "summary.tsv"
	formatSum       = "sum.txt"
	formatMatrix    = "matrix"
	formatCISummary = "SUMMARY.csv"
	formatLog       = "db_bench log"
	formatIntervals = "report_file csv"
	formatResultDir = "benchmark.sh result directory"
	formatArchive   = "archive"
)

// detectFormat gives the format of a file, nil when none knows it.
func detectFormat(in *input) *format {
	for _, f := range formats() {
		if f.detect(in) {
			return f
		}
	}
	return nil
}

func isEmpty(in *input) bool { return len(bytes.TrimSpace(in.text)) == 0 }

// readEmpty keeps a file without figures: scripts leave such placeholders where
// a benchmark did not run.
func readEmpty(in *input) output {
	return output{state: bench.FileAttachment, messages: []bench.Message{{File: in.path, Text: "the file is empty"}}}
}

// maxLine bounds the length of a line of a table. Longer ones are no result
// tables, whatever they are.
const maxLine = 64 << 10

// lines walks over the lines of a text without copying; a line's number counts
// from 1, its \r\n or \n is removed. (A lone \r stays: in a db_bench log it
// separates progress text.)
type lines struct {
	rest   []byte
	number int
}

func newLines(text []byte) lines { return lines{rest: text} }

// next gives the next line; ok is false at the end.
func (l *lines) next() (line []byte, number int, ok bool) {
	if len(l.rest) == 0 {
		return nil, 0, false
	}
	l.number++
	if i := bytes.IndexByte(l.rest, '\n'); i >= 0 {
		line, l.rest = l.rest[:i], l.rest[i+1:]
	} else {
		line, l.rest = l.rest, nil
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, l.number, true
}

// refused is the output of a file that cannot be taken.
func refused(messages ...bench.Message) output {
	return output{state: bench.FileRefused, messages: messages}
}

// maxMessages bounds the places a file is told about; what is beyond them is
// counted, not listed.
const maxMessages = 20
