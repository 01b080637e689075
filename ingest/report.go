package ingest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// report.tsv is what benchmark.sh appends a row to after each step. Its header
// changed over the years:
//
//	R1  RocksDB 4.0 to 4.6   report.txt, 17 columns, header on the screen only
//	R2  RocksDB 4.8 to 6.24  the same 17 columns
//	R3  RocksDB 6.25 to 7.3  report.tsv with a header of 20 columns
//	R4  RocksDB 7.4          25 comment lines, header of 27 columns
//	R5  from RocksDB 7.5     a 28th column: githash
//
// One reader serves them all, and the files of rows by test that other scripts
// make of them (see sum.go): a column is known by its name. Which script wrote a
// row is not said anywhere; where scripts read a column wrongly for some
// versions of RocksDB, the row's version decides (see [era]).

// cellKind says how the cells of a column are read.
type cellKind uint8

const (
	cellUnknown cellKind = iota
	cellTest
	cellDate
	cellVersion
	cellJob
	cellHash
	// The following hold figures.
	cellNumber
	cellSize  // 16GB, 0.0GB, 82MB
	cellClock // hours:minutes:seconds
	cellOps
	cellRate  // mb_sec, or by mistake seconds
	cellBlank // known to hold something else for these versions
)

// isText reports whether the cells hold no figure.
func (k cellKind) isText() bool { return k < cellNumber }

// column is a column of a table for the rows of one [era].
type column struct {
	name   string // as in the header
	kind   cellKind
	metric string
	scale  float64
	note   note // what is to be said about a cell of it
}

// knownColumns holds the columns of all generations by lower-case name.
var knownColumns = map[string]column{
	"ops_sec": {kind: cellOps, metric: "qps"}, "ops/sec": {kind: cellOps, metric: "qps"},
	"mb_sec": {kind: cellRate, metric: "mb_per_s"}, "mb/sec": {kind: cellRate, metric: "mb_per_s"},
	"lsm_sz":        {kind: cellSize, metric: "db_size_gb"},
	"total_size_gb": {metric: "db_size_gb"}, "size-gb": {metric: "db_size_gb"},
	"blob_sz": {kind: cellSize, metric: "blob_size_gb"},
	// Called a size, but the scripts print the Write(GB) of L0 here.
	"level0_size_gb": {metric: "flush_write_gb", note: noteLevel0},
	"l0_gb":          {metric: "flush_write_gb", note: noteLevel0},
	"l0_mb":          {metric: "flush_write_gb", note: noteLevel0},
	"c_wgb":          {metric: "compaction_write_gb"}, "sum_gb": {metric: "compaction_write_gb"},
	"w_amp": {metric: "write_amp"}, "write_amplification": {metric: "write_amp"}, "w-amp": {metric: "write_amp"},
	"c_mbps": {metric: "compaction_write_mb_per_s"}, "write_mbps": {metric: "compaction_write_mb_per_s"}, "w-mb/s": {metric: "compaction_write_mb_per_s"},
	"c_wsecs": {metric: "compaction_wall_s"},
	"c_csecs": {metric: "compaction_cpu_s"},
	"b_rgb":   {metric: "blob_read_gb"},
	"b_wgb":   {metric: "blob_write_gb"},
	"usec_op": {metric: "usec_per_op"}, "usec/op": {metric: "usec_per_op"},
	"p50": {metric: "p50"}, "percentile_50": {metric: "p50"},
	"p75": {metric: "p75"}, "percentile_75": {metric: "p75"},
	"p99": {metric: "p99"}, "percentile_99": {metric: "p99"},
	"p99.9": {metric: "p99_9"}, "percentile_99.9": {metric: "p99_9"},
	"p99.99": {metric: "p99_99"}, "percentile_99.99": {metric: "p99_99"},
	"pmax":       {metric: "max"},
	"uptime":     {metric: "uptime_s"},
	"stall_time": {kind: cellClock, metric: "stall_s"}, "stall-time": {kind: cellClock, metric: "stall_s"},
	"stall%": {metric: "stall_percent"}, "stall_percent": {metric: "stall_percent"},
	"nstall": {metric: "stall_count"},
	"u_cpu":  {metric: "user_cpu_s", scale: 1000},
	"s_cpu":  {metric: "system_cpu_s", scale: 1000},
	"rss":    {metric: "rss_gb"},
	"test":   {kind: cellTest}, "test_name": {kind: cellTest},
	"date": {kind: cellDate}, "test_date": {kind: cellDate},
	"version": {kind: cellVersion}, "rocksdb_version": {kind: cellVersion},
	"job_id":  {kind: cellJob},
	"githash": {kind: cellHash},
}

// oldColumns is the header of R1 and R2, which their files lack.
const oldColumns = "ops/sec\tmb/sec\tSize-GB\tL0_GB\tSum_GB\tW-Amp\tW-MB/s\tusec/op\tp50\tp75\tp99\tp99.9\tp99.99\tUptime\tStall-time\tStall%\tTest"

// era tells rows apart by how the scripts read their log.
type era uint8

const (
	eraRight era = iota
	// eraBefore54: the level table has one token less before each column the
	// scripts count to. Only the script made for these versions is right.
	eraBefore54
	// eraWrapper54: 5.4 to 5.18 by the script made for 5.x.
	eraWrapper54
	// eraScript54: 5.4 to 5.18 by the script of later versions.
	eraScript54
	// era103: since 10.3 the level table has one column more.
	era103
	eras
)

// note is a remark about the cells of a column.
type note uint8

const (
	noNote note = iota
	noteLevel0
	noteOldSize
	noteOldAmp
	noteSize54
	noteRate54
	noteCount54
	noteShiftBefore54
	note103Rate
	note103Wall
	note103Keys
	note103Blob
	noteSeconds
	noteUptime
	notes
)

var noteTexts = [notes]string{
	noteLevel0:        "holds what was written to level 0, not its size; stored as flush_write_gb",
	noteOldSize:       "from RocksDB 5.4 this script divides a size that is in GB already by 1024; left out",
	noteOldAmp:        "from RocksDB 10.3 this script reads another column of the level table here; left out",
	noteSize54:        "for RocksDB 5.4 to 5.18 the script prints MB and means GB; read as GB",
	noteRate54:        "for RocksDB 5.4 to 5.18 the script prints MB/s written by compaction here, not seconds; left out",
	noteCount54:       "for RocksDB before 6.0 this script prints the number of compactions here, not seconds; left out",
	noteShiftBefore54: "for RocksDB before 5.4 this script reads another column of the level table here; left out",
	note103Rate:       "from RocksDB 10.3 this column holds MB/s written by compaction, not seconds; left out",
	note103Wall:       "from RocksDB 10.3 this column holds wall seconds of compaction, not CPU seconds; stored as compaction_wall_s",
	note103Keys:       "from RocksDB 10.3 this column holds a number of dropped keys, not blob data; left out",
	note103Blob:       "from RocksDB 10.3 this column holds blob data read, not written; stored as blob_read_gb",
	noteSeconds:       "holds seconds, not MB/s: the script is older than this version's result line; stored as elapsed_s",
	noteUptime:        "is the uptime, not MB/s: the script is older than this version's result line; left out",
}

// ofEra gives how a column's cells are read for rows of an era.
func (c column) ofEra(e era) column {
	blank := func(n note) column {
		c.kind, c.note = cellBlank, n
		return c
	}
	as := func(metric string, n note) column {
		c.metric, c.note = metric, n
		return c
	}
	name := strings.ToLower(c.name)
	if name == "total_size_gb" || name == "size-gb" {
		if e == eraWrapper54 || e == eraScript54 || e == eraRight || e == era103 {
			return blank(noteOldSize)
		}
	}
	switch e {
	case eraBefore54:
		if name == "c_wsecs" || name == "c_csecs" {
			return blank(noteShiftBefore54)
		}
	case eraWrapper54:
		switch name {
		case "lsm_sz":
			c.note = noteSize54
		case "c_wsecs":
			return blank(noteRate54)
		}
	case eraScript54:
		if name == "c_csecs" {
			return blank(noteCount54)
		}
	case era103:
		switch name {
		case "c_wsecs":
			return blank(note103Rate)
		case "c_csecs":
			return as("compaction_wall_s", note103Wall)
		case "b_rgb":
			return blank(note103Keys)
		case "b_wgb":
			return as("blob_read_gb", note103Blob)
		case "write_amplification":
			return blank(noteOldAmp)
		}
	}
	return c
}

// separator says how the cells of a row are told apart.
type separator uint8

const (
	byTab separator = iota
	byPipe
	byComma
	bySpace // pasted text: an empty cell cannot be seen
)

// header is the column names of a table.
type header struct {
	line    string
	sep     separator
	byEra   [eras][]column
	unknown []string
	// Places of columns that a row is known by, -1 where there is none.
	ops, rate, test, date, version, job, hash, cpuSeconds, written int
}

// maxColumns bounds the cells of a row.
const maxColumns = 64

// parseHeader reads a line as a header; ok is false when it is none.
func parseHeader(line string) (h *header, ok bool) {
	if len(line) > maxLine {
		return nil, false
	}
	for _, sep := range []separator{byTab, byPipe, byComma, bySpace} {
		var cells [maxColumns]string
		n := split(line, sep, &cells)
		if n < 5 || n > maxColumns {
			continue
		}
		h = &header{line: line, sep: sep, ops: -1, rate: -1, test: -1, date: -1, version: -1, job: -1, hash: -1, cpuSeconds: -1, written: -1}
		known := 0
		var columns []column
		seen := map[column]bool{} // by what they hold
		for i, name := range cells[:n] {
			c := knownColumns[strings.ToLower(name)]
			c.name = name
			if c.metric != "" && c.kind == cellUnknown {
				c.kind = cellNumber
			}
			if c.scale == 0 {
				c.scale = 1
			}
			holds := column{kind: c.kind, metric: c.metric}
			if c.kind == cellNumber || c.kind == cellSize {
				holds.kind = cellNumber
			}
			if c.kind != cellUnknown && seen[holds] {
				c = column{name: name, scale: 1} // the first of two columns counts
			}
			seen[holds] = true
			if c.kind == cellUnknown {
				h.unknown = append(h.unknown, name)
			} else {
				known++
			}
			for _, p := range []struct {
				kind  cellKind
				place *int
			}{{cellOps, &h.ops}, {cellRate, &h.rate}, {cellTest, &h.test}, {cellDate, &h.date}, {cellVersion, &h.version}, {cellJob, &h.job}, {cellHash, &h.hash}} {
				if c.kind == p.kind {
					*p.place = i
				}
			}
			switch strings.ToLower(name) {
			case "c_csecs":
				h.cpuSeconds = i
			case "c_wgb":
				h.written = i
			}
			columns = append(columns, c)
		}
		if h.ops < 0 || known < 5 || 2*known < n {
			continue
		}
		for e := range h.byEra {
			for _, c := range columns {
				h.byEra[e] = append(h.byEra[e], c.ofEra(era(e)))
			}
		}
		return h, true
	}
	return nil, false
}

// split cuts a line into cells and gives their number, which may be larger than
// what cells can hold.
func split(line string, sep separator, cells *[maxColumns]string) int {
	n := 0
	if sep == byTab {
		// Cells are short: a search per cell would cost more than this loop.
		start := 0
		for i := 0; i < len(line); i++ {
			if line[i] != '\t' {
				continue
			}
			if n < maxColumns {
				cells[n] = line[start:i]
			}
			n++
			start = i + 1
		}
		if n < maxColumns {
			cells[n] = line[start:]
		}
		return n + 1
	}
	var parts []string
	switch sep {
	case bySpace:
		parts = strings.Fields(line)
	case byComma:
		parts = strings.Split(line, ",")
	default:
		// | a | b | as Markdown has it, or a | b as it is often pasted.
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "|") && strings.HasSuffix(trimmed, "|") && len(trimmed) > 1 {
			line = trimmed[1 : len(trimmed)-1]
		}
		parts = strings.Split(line, "|")
	}
	for _, part := range parts {
		if n < maxColumns {
			cells[n] = strings.TrimSpace(part)
		}
		n++
	}
	return n
}

// tableRow is what decides about a row's run.
type tableRow struct {
	test    string
	version string
	hash    string
	job     string
	path    int32 // place in the path list, -1 without one
}

// versionFacts is what a version decides about the reading of its rows.
type versionFacts struct {
	before54, from54to60, from103 bool
	// smallSizes: a size in MB of this version is one; the step that wrote the
	// database wrote no more than that.
	smallSizes bool
}

// knownStep is what a test's name stands for.
type knownStep struct {
	step bench.Step
	role bench.Role
	ok   bool // it is a name at all
}

// noteCount counts the rows that a remark is due for.
type noteCount struct {
	column string
	note   note
	rows   int
	line   int // the first
}

// table reads a file of rows.
type table struct {
	in      *input
	header  *header
	rows    []tableRow
	results []bench.Result // of the rows, by the same index
	skipped int            // lines that were not understood
	// problems refuse the file.
	problems     []bench.Message
	problemCount int
	notes        []noteCount
	messages     []bench.Message // lines that were not understood

	versions    map[string]*versionFacts
	steps       map[string]knownStep // by test
	lastVersion string
	lastFacts   *versionFacts

	// Slabs that values and sources are cut from.
	values  []bench.Value
	sources []bench.Source

	rowWarnings []bench.Message // of the row being read

	defaultVersion string
	cells          [maxColumns]string // of the row being read
	seen           map[string]bool    // see [table.repeats]
}

func newTable(in *input) *table {
	return &table{in: in, versions: map[string]*versionFacts{}, steps: map[string]knownStep{}, seen: map[string]bool{}, defaultVersion: in.knownVersion()}
}

// knownVersion gives the version that flags or path say, "" when they do not.
func (in *input) knownVersion() string {
	if in.given.Version != "" {
		return in.given.Version
	}
	return in.byPath.Version
}

// problem notes what refuses the file.
func (t *table) problem(line int, format string, args ...any) {
	t.problemCount++
	if len(t.problems) < maxMessages {
		t.problems = append(t.problems, bench.Message{File: t.in.path, Line: line, Text: fmt.Sprintf(format, args...)})
	}
}

// skip notes a line that is no row and nothing else that is known.
func (t *table) skip(line int, format string, args ...any) {
	t.skipped++
	if len(t.messages) < maxMessages {
		t.messages = append(t.messages, bench.Message{File: t.in.path, Line: line, Text: fmt.Sprintf(format, args...)})
	}
}

// facts gives what a version decides.
func (t *table) facts(version string) *versionFacts {
	if t.lastFacts != nil && version == t.lastVersion {
		return t.lastFacts
	}
	f := t.versions[version]
	if f == nil {
		f = &versionFacts{}
		// Names without a number (main) are newer than all of this.
		if version != bench.UnknownVersion {
			f.before54 = bench.CompareVersions(version, "5.4") < 0
			f.from54to60 = !f.before54 && bench.CompareVersions(version, "6.0-pre") < 0
			f.from103 = bench.CompareVersions(version, "10.3-pre") >= 0
		}
		t.versions[version] = f
	}
	t.lastVersion, t.lastFacts = version, f
	return f
}

// eraOf tells how the scripts read the log of a row. The scripts made for 4.x
// and 5.x print NA for the CPU time of compaction, which those versions do not
// know; later scripts print the number of another column.
func (t *table) eraOf(f *versionFacts, cells []string) era {
	old := t.header.cpuSeconds >= 0 && missing(cells[t.header.cpuSeconds])
	switch {
	case f.from103:
		return era103
	case f.from54to60 && (old || t.header.cpuSeconds < 0):
		return eraWrapper54
	case f.from54to60:
		return eraScript54
	case f.before54 && t.header.cpuSeconds >= 0 && !old:
		return eraBefore54
	case f.before54 && t.header.cpuSeconds < 0:
		return eraBefore54
	}
	return eraRight
}

// missing reports whether a cell says that there is no figure.
func missing(cell string) bool {
	if cell == "" {
		return true
	}
	if c := cell[0]; c >= '0' && c <= '9' {
		return false
	}
	return cell == "NA" || cell == "na" || cell == "N/A" || cell == "n/a"
}

// row reads a line as a row of the current header. It reports false when the
// line is none.
func (t *table) row(line string, number int, path int32) bool {
	h, cells := t.header, &t.cells
	n := split(line, h.sep, cells)
	columns := len(h.byEra[eraRight])
	switch {
	case n == columns:
	case n < columns && n >= columns-2 && h.test >= 0 && h.test < n && t.onlyTailMissing(n):
		// An editor took the empty cells at the end away.
	case 2*n >= columns:
		t.wrongLength(number, n)
		return true
	default:
		return false
	}
	if h.test < 0 {
		t.skip(number, "the table has no column with the test's name: this row's step is not known")
		return true
	}
	test := cells[h.test]
	known := t.step(test)
	if !known.ok {
		t.problem(number, "not a test's name: %q", clip(test))
		return true
	}
	version := ""
	if h.version >= 0 && !missing(cells[h.version]) {
		version = cells[h.version]
	}
	reads := version
	if reads == "" {
		reads = t.defaultVersion
	}
	facts := t.facts(reads)

	t.rows = append(t.rows, tableRow{test: test, version: version, path: path})
	if len(t.results) < cap(t.results) {
		t.results = t.results[:len(t.rows)] // the room is zero already
	} else {
		t.results = append(t.results, bench.Result{})
	}
	row, r := &t.rows[len(t.rows)-1], &t.results[len(t.rows)-1]
	r.Step, r.Role = known.step, known.role
	r.State, r.Origin, r.Primary, r.Text = bench.StateOK, bench.OriginMeasured, "qps", line
	r.Sources = t.source(number)

	if h.date >= 0 && !missing(cells[h.date]) {
		started, ok := parseReportDate(cells[h.date])
		switch {
		case !ok && n < columns: // the missing cell was not one at the end
			t.wrongLength(number, n)
		case !ok:
			t.problem(number, "not a date: %q", clip(cells[h.date]))
		}
		r.Started = started
	}
	if h.job >= 0 {
		row.job = cells[h.job]
	}
	if h.hash >= 0 && !missing(cells[h.hash]) {
		row.hash = cells[h.hash]
	}
	if cells[h.ops] == "failed" {
		r.State, r.Reason = bench.StateFailed, "benchmark.sh found no result line in the log"
	}
	e := t.eraOf(facts, cells[:])
	// A step that filled the database wrote at least its size: where that is far
	// less than the GB the MB would stand for, MB it is.
	if e == eraWrapper54 && h.written >= 0 && !facts.smallSizes && strings.HasPrefix(test, "fill") {
		t.learnSizes(facts, cells[:n])
	}
	t.readCells(row, r, h.byEra[e][:n], cells[:n], number, facts)
	return true
}

func (t *table) wrongLength(line, n int) {
	t.problem(line, "the row has %d cells, its header %d", n, len(t.header.byEra[eraRight]))
}

// onlyTailMissing reports whether the columns from n on are free text.
func (t *table) onlyTailMissing(n int) bool {
	for _, c := range t.header.byEra[eraRight][n:] {
		if c.kind != cellJob && c.kind != cellHash {
			return false
		}
	}
	return true
}

func (t *table) learnSizes(facts *versionFacts, cells []string) {
	for i, c := range t.header.byEra[eraWrapper54][:len(cells)] {
		if c.note != noteSize54 {
			continue
		}
		gb, _, ok := parseSize(cells[i])
		wrote, _, okWrote := parseDecimal(cells[t.header.written], 1)
		// 0.1 is what the rounding of c_wgb can hide.
		if ok && okWrote && wrote+0.1 < 0.5*1024*gb {
			facts.smallSizes = true
		}
	}
}

// readCells reads the figures of a row into its result.
func (t *table) readCells(row *tableRow, r *bench.Result, columns []column, cells []string, line int, facts *versionFacts) {
	if cap(t.values)-len(t.values) < len(columns) {
		t.values = make([]bench.Value, 0, max(t.slab()*24, len(columns)))
	}
	values := t.values
	first := len(values)
	t.rowWarnings = t.rowWarnings[:0]
	for i := range columns {
		c, cell := &columns[i], cells[i]
		if c.kind == cellUnknown && !missing(cell) {
			t.rowWarnings = append(t.rowWarnings, bench.Message{File: t.in.path, Line: line, Column: clip(c.name),
				Text: fmt.Sprintf("no such column is known, or another holds the same; %q is left out", clip(cell))})
		}
		if c.kind.isText() || missing(cell) {
			continue
		}
		metric := c.metric
		var v, resolution float64
		var ok bool
		if c.kind == cellNumber && c.note == noNote {
			if v, resolution, ok = parseDecimal(cell, c.scale); !ok {
				t.odd(line, c.name, cell, "")
			}
		} else {
			metric, v, resolution, ok = t.readCell(row, r, c, cell, line, facts)
		}
		if ok {
			values = append(values, bench.Value{Metric: metric, Number: v, Resolution: resolution, SourceName: c.name})
		}
	}
	t.values = values
	r.Values = values[first:len(values):len(values)]
	if len(t.rowWarnings) > 0 {
		r.Warnings = slices.Clone(t.rowWarnings)
	}
}

// readCell reads a cell that is no plain figure, or needs a remark; ok is false
// when nothing of it is kept.
func (t *table) readCell(row *tableRow, r *bench.Result, c *column, cell string, line int, facts *versionFacts) (metric string, v, resolution float64, ok bool) {
	why := ""
	switch c.kind {
	case cellBlank:
		t.remark(line, c, cell)
		return "", 0, 0, false
	case cellOps:
		if r.State == bench.StateFailed {
			return "", 0, 0, false
		}
		if v, resolution, ok = parseDecimal(cell, 1); ok {
			r.PrimaryText = cell
		}
	case cellRate:
		return t.readRate(row, r, c, cell, line)
	case cellSize:
		v, resolution, ok = parseSize(cell)
		if ok && c.note == noteSize54 && strings.HasSuffix(cell, "MB") && !facts.smallSizes {
			v, resolution = 1024*v, 1024*resolution
			t.remark(line, c, cell)
		}
	case cellClock:
		v, resolution, ok = parseClock(cell)
		why = "not hours:minutes:seconds"
	default:
		if v, resolution, ok = parseDecimal(cell, c.scale); ok {
			t.remark(line, c, cell)
		}
	}
	if !ok {
		t.odd(line, c.name, cell, why)
	}
	return c.metric, v, resolution, ok
}

// readRate reads mb_sec. Scripts older than RocksDB 7.3 print the seconds of a
// newer result line here, which have three decimals where MB/s has one. Text
// that begins with a parenthesis is the message at the end of a result line
// without MB/s.
func (t *table) readRate(row *tableRow, r *bench.Result, c *column, cell string, line int) (metric string, v, resolution float64, ok bool) {
	v, resolution, ok = parseDecimal(cell, 1)
	switch {
	case ok && decimals(cell) == 3:
		t.remark(line, &column{name: c.name, note: noteSeconds}, cell)
		return "elapsed_s", v, resolution, true
	case ok && t.header.rateMayBeUptime() && t.isUptime(v, row, r.Text):
		t.remark(line, &column{name: c.name, note: noteUptime}, cell)
		return "", 0, 0, false
	case ok:
		return c.metric, v, resolution, true
	case cell == "(0":
		r.Excluded = "no key was found"
		t.odd(line, c.name, cell, "the result line had no MB/s but the message that 0 keys were found")
	case cell == "(" && strings.HasPrefix(row.test, "readrandom"):
		// readrandom's own message never has a space after its parenthesis.
		r.Excluded = "the figures are another benchmark's, whose name begins with readrandom"
		t.odd(line, c.name, cell, "the script took the result line of another benchmark, whose name begins with readrandom")
	default:
		t.odd(line, c.name, cell, "")
	}
	return "", 0, 0, false
}

// rateMayBeUptime reports whether the header is of a script older than
// RocksDB 7.4, which knows the old result line only.
func (h *header) rateMayBeUptime() bool {
	name := strings.ToLower(h.byEra[eraRight][h.rate].name)
	return name == "mb/sec" || h.hash < 0 && h.cpuSeconds < 0
}

// isUptime reports whether a rate equals the row's uptime within 1 %; a rounded
// number of seconds.
func (t *table) isUptime(v float64, row *tableRow, text string) bool {
	version := row.version
	if version == "" {
		version = t.defaultVersion
	}
	if bench.CompareVersions(version, "7.3-pre") < 0 {
		return false
	}
	var cells [maxColumns]string
	n := min(split(text, t.header.sep, &cells), maxColumns)
	for i, c := range t.header.byEra[eraRight] {
		if c.metric != "uptime_s" || i >= n {
			continue
		}
		uptime, _, ok := parseDecimal(cells[i], 1)
		return ok && uptime >= 10 && math.Abs(uptime-v) <= 0.01*uptime
	}
	return false
}

// slab says for how many rows to make room at once: small files should not
// hold much more than they need.
func (t *table) slab() int { return min(max(64, len(t.rows)), 4096) }

func (t *table) source(line int) []bench.Source {
	if len(t.sources) == cap(t.sources) {
		t.sources = make([]bench.Source, 0, t.slab())
	}
	t.sources = append(t.sources, bench.Source{File: t.in.path, Line: line})
	n := len(t.sources)
	return t.sources[n-1 : n : n]
}

// remark puts a column's remark on the row and counts it for the file. Of the
// many zeros, and of what holds for all rows alike, the file's remark is enough.
func (t *table) remark(line int, c *column, cell string) {
	t.count(line, c.name, c.note)
	if cell != "0" && c.note != noteLevel0 {
		t.rowWarnings = append(t.rowWarnings, bench.Message{File: t.in.path, Line: line, Column: c.name, Text: noteTexts[c.note]})
	}
}

// odd puts a remark on the row about a cell that is no figure.
func (t *table) odd(line int, column, cell, why string) {
	text := fmt.Sprintf("not a figure: %q; left out", clip(cell))
	if why != "" {
		text = fmt.Sprintf("%q: %s; left out", clip(cell), why)
	}
	t.rowWarnings = append(t.rowWarnings, bench.Message{File: t.in.path, Line: line, Column: column, Text: text})
}

func (t *table) count(line int, column string, n note) {
	for i := range t.notes {
		if t.notes[i].note == n && t.notes[i].column == column {
			t.notes[i].rows++
			return
		}
	}
	t.notes = append(t.notes, noteCount{column: column, note: n, rows: 1, line: line})
}

// fileWarnings gives one remark per column and reason.
func (t *table) fileWarnings() []bench.Message {
	var warnings []bench.Message
	for _, n := range t.notes {
		text := noteTexts[n.note]
		if n.rows > 1 {
			text += fmt.Sprintf(" (%d rows)", n.rows)
		}
		warnings = append(warnings, bench.Message{File: t.in.path, Line: n.line, Column: n.column, Text: text})
	}
	return warnings
}

func (t *table) step(test string) knownStep {
	known, seen := t.steps[test]
	if !seen {
		known.ok = plausibleTest(test)
		known.step = bench.ParseStep(test)
		known.role = bench.StepRole(bench.SuiteDBBench, known.step.Name)
		t.steps[test] = known
	}
	return known
}

// plausibleTest reports whether a cell can be a test's name: any short text
// without spaces and control characters, so that unknown tests stay.
func plausibleTest(s string) bool {
	if s == "" || len(s) > 200 || missing(s) {
		return false
	}
	letter := false
	for _, r := range s {
		if r <= ' ' || r == 0x7f {
			return false
		}
		letter = letter || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
	}
	return letter
}

// clip shortens text that goes into a message.
func clip(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:60], "") + "…"
}

// pow10 holds the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseDecimal reads a plain decimal number and multiplies it by scale.
// resolution is the unit of its last digit. Whole numbers of up to 15 digits
// divided by a power of ten round once, so the result is the closest float64.
func parseDecimal(s string, scale float64) (value, resolution float64, ok bool) {
	var mantissa uint64
	digits, places, point := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			mantissa = 10*mantissa + uint64(c-'0')
			digits++
			if point {
				places++
			}
		case c == '.' && !point:
			point = true
		default:
			return parseOther(s, scale)
		}
		if digits > 15 {
			return parseOther(s, scale)
		}
	}
	if digits == 0 {
		return 0, 0, false
	}
	return float64(mantissa) * scale / pow10[places], scale / pow10[places], true
}

// parseOther reads what the fast path cannot: a sign, an exponent, many digits.
func parseOther(s string, scale float64) (value, resolution float64, ok bool) {
	if len(s) > 40 || s == "" || !strings.ContainsAny(s[:1], "-+0123456789.") || strings.ContainsAny(s, "xX_") {
		return 0, 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v*scale) || math.IsInf(v*scale, 0) {
		return 0, 0, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	e, _ := strconv.Atoi(exponent) // ParseFloat vouches for it
	resolution = scale * math.Pow(10, float64(e-decimals(mantissa)))
	return v * scale, resolution, !math.IsInf(resolution, 0) // 0e999
}

// decimals counts the digits after the point.
func decimals(s string) int {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return len(s) - i - 1
	}
	return 0
}

// parseSize reads 16GB, 0.0GB, (with the comma that early scripts left) or
// 82MB, in GB.
func parseSize(s string) (value, resolution float64, ok bool) {
	s = strings.TrimSuffix(s, ",")
	if len(s) < 3 || s[len(s)-1] != 'B' {
		return 0, 0, false
	}
	scale := 0.0
	switch s[len(s)-2] {
	case 'K':
		scale = 1.0 / (1 << 20)
	case 'M':
		scale = 1.0 / (1 << 10)
	case 'G':
		scale = 1
	case 'T':
		scale = 1 << 10
	default:
		return 0, 0, false
	}
	return parseDecimal(s[:len(s)-2], scale)
}

// parseClock reads hours:minutes:seconds as db_bench prints stall times
// (00:02:24.652, 00:00:0.000), in seconds. Two numbers with one colon are
// refused: spreadsheets make 09:40.2 of what may have been anything.
func parseClock(s string) (value, resolution float64, ok bool) {
	hours, rest, ok := strings.Cut(s, ":")
	minutes, seconds, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 {
		return 0, 0, false
	}
	h, err := strconv.ParseUint(hours, 10, 32)
	m, err2 := strconv.ParseUint(minutes, 10, 32)
	v, resolution, ok := parseDecimal(seconds, 1)
	if err != nil || err2 != nil || !ok || m > 59 || v < 0 || v >= 60 {
		return 0, 0, false
	}
	return float64(h)*3600 + float64(m)*60 + v, resolution, true
}

// parseReportDate reads a date as [bench.ParseLocalTime] does, the common form
// without its cost.
func parseReportDate(s string) (bench.LocalTime, bool) {
	if t, ok := parseDateFast(s); ok {
		return t, true
	}
	t, err := bench.ParseLocalTime(s)
	return t, err == nil
}

func parseDateFast(s string) (bench.LocalTime, bool) {
	if len(s) < 18 || len(s) > 19 || s[4] != '-' {
		return bench.LocalTime{}, false
	}
	var n [6]int
	field, digits := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' {
			n[field] = 10*n[field] + int(c-'0')
			digits++
			continue
		}
		if field == len(n)-1 || c != "--T::"[field] || digits == 0 || field > 0 && digits > 2 || field == 4 && digits != 2 {
			return bench.LocalTime{}, false
		}
		field, digits = field+1, 0
	}
	year, month, day, hour, minute, second := n[0], n[1], n[2], n[3], n[4], n[5]
	if field != len(n)-1 || digits != 2 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return bench.LocalTime{}, false
	}
	// The end of February is left to the slow way.
	if days := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}; day > days[month-1] {
		return bench.LocalTime{}, false
	}
	return bench.NewLocalTime(year, time.Month(month), day, hour, minute, second), true
}

// isReport detects a table by its header, after comments and blank lines.
func isReport(in *input) bool {
	_, _, ok := findHeader(in.text)
	return ok
}

// findHeader looks for the first header among the first lines. paths is the
// number of lines before it that name report files.
func findHeader(text []byte) (line string, paths int, ok bool) {
	l := newLines(text)
	for seen := 0; seen < 5000; seen++ {
		b, _, more := l.next()
		if !more || len(b) > maxLine {
			return "", 0, false
		}
		s := string(b)
		switch {
		case strings.TrimSpace(s) == "", strings.HasPrefix(s, "#"):
			continue
		case isReportPath(s):
			paths++
			continue
		}
		_, ok := parseHeader(s)
		return s, paths, ok
	}
	return "", 0, false
}

// isOldReport detects R1 and R2, which have no header: 17 cells that end with a
// test's name, and figures with decimals, which matrices of figures by version
// (see matrix.go) have not.
func isOldReport(in *input) bool {
	l := newLines(in.text)
	rows, others := 0, 0
	for seen := 0; seen < 200; seen++ {
		b, _, more := l.next()
		if !more {
			break
		}
		if len(b) > maxLine {
			return false
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		if isOldRow(string(b)) {
			rows++
		} else {
			others++
		}
	}
	return rows > 0 && rows >= others
}

func isOldRow(line string) bool {
	var cells [maxColumns]string
	n := split(line, byTab, &cells)
	if n != strings.Count(oldColumns, "\t")+1 || !plausibleTest(cells[n-1]) {
		return false
	}
	decimal := false
	for _, c := range cells[:n-1] {
		decimal = decimal || strings.Contains(c, ".")
		if _, _, ok := parseDecimal(c, 1); !ok && !missing(c) {
			if _, _, ok := parseClock(c); !ok && !strings.HasPrefix(c, "(") {
				return false
			}
		}
	}
	return decimal
}

func readOldReport(in *input) output {
	t := newTable(in)
	t.header, _ = parseHeader(oldColumns)
	return t.read()
}

// readTable reads report.tsv and the files of rows that sum.go describes.
func readTable(in *input) output { return newTable(in).read() }

// read reads the file's rows.
func (t *table) read() output {
	text := string(t.in.text)
	// Room for all rows of common length; lines may be many and empty.
	room := max(0, min(1+bytes.Count(t.in.text, []byte("\n")), 16+len(t.in.text)/64, t.in.set.rows+1))
	t.rows, t.results = make([]tableRow, 0, room), make([]bench.Result, 0, room)
	s := blocks{table: t}
	number := 0
	for len(text) > 0 {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		number++
		line = strings.TrimSuffix(line, "\r")
		if len(t.rows) > t.in.set.rows {
			return tooManyRows(t.in, number)
		}
		if len(line) > maxLine {
			return refused(bench.Message{File: t.in.path, Line: number, Text: fmt.Sprintf("the line is longer than %d bytes", maxLine)})
		}
		if line == "" {
			continue
		}
		// Rows begin with a digit nearly always; everything else is rare.
		if t.header != nil && line[0] >= '0' && line[0] <= '9' {
			if len(line) > 8 && t.row(line, number, s.path()) {
				continue
			}
		}
		s.other(line, number)
	}
	if !t.in.set.spend(len(t.rows)) {
		return tooManyRows(t.in, 0)
	}
	s.endBlock()
	if t.problemCount == 0 && len(t.rows) == 0 {
		t.problem(0, "the file has a header but no rows")
	}
	var runs []bench.Run
	if t.problemCount == 0 {
		runs = t.runs(&s)
	}
	if t.problemCount > 0 {
		return refused(t.listed(t.problems, t.problemCount, "problems")...)
	}
	warnings := append(t.fileWarnings(), s.warnings...)
	if len(s.unknown) > 0 {
		warnings = append(warnings, bench.Message{File: t.in.path, Line: s.unknownLine,
			Text: fmt.Sprintf("columns that are not known, or hold what another does, are left out: %s", strings.Join(s.unknown, ", "))})
	}
	return output{state: bench.FileTaken, runs: runs, warnings: warnings,
		messages: t.listed(t.messages, t.skipped, "lines that were not understood")}
}

// listed adds how many messages were not listed.
func (t *table) listed(messages []bench.Message, total int, what string) []bench.Message {
	if more := total - len(messages); more > 0 {
		messages = append(messages, bench.Message{File: t.in.path, Text: fmt.Sprintf("and %d more %s", more, what)})
	}
	return slices.Clip(messages)
}
