package ingest

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// A report of the Insert Benchmark is a folder of tables that its scripts made of
// many runs:
//
//	mrg.<step>            a row of metrics per run, see [ibenchColumns]
//	mrg.some              such tables one below the other, each under its step
//	mrg.<step>.rt.<op>    a row of response times per run, see ibench_times.go
//	rel.<step>, rel.some  the metrics divided by those of the first row
//	summary.*             throughput by step and run, see ibench_check.go
//	all.html              all of it on one page, see ibench_page.go
//
// A line "-" parts groups of rows. The step stands in the file's name only, the
// run in the tag that ends a row. The tables of a folder are read together: the
// rows of one tag are one run, its response times belong to its metrics.
var ibenchBundle = bundle{name: formatIBenchReport, claim: claimIBenchReports, read: readIBenchReport}

// The names of the Insert Benchmark's formats.
const (
	formatIBenchReport  = "ibench report"
	formatIBenchMetrics = "ibench metrics table"
	formatIBenchTimes   = "ibench response times"
	formatIBenchSummary = "ibench summary"
	formatIBenchPage    = "ibench report page"
)

// ibenchColumn is a column of a metrics table.
type ibenchColumn struct {
	metric string
	per    float64 // of the source's unit in that of the metric
}

// ibenchColumns holds the columns of all generations by name. Per-operation
// figures are per row inserted in steps l.*, per query in steps q*; wpi and wkbpi
// are per row everywhere. Legends that call maxop milliseconds are wrong.
var ibenchColumns = map[string]ibenchColumn{
	"ips": {"ips", 1}, "qps": {"qps", 1},
	"rps": {"reads_per_s", 1}, "wps": {"writes_per_s", 1},
	"rmbps": {"read_mb_per_s", 1}, "wmbps": {"write_mb_per_s", 1},
	"rkbps": {"read_mb_per_s", 1024}, "wkbps": {"write_mb_per_s", 1024}, // before 2021
	"rpq": {"reads_per_op", 1}, "rkbpq": {"read_kb_per_op", 1},
	"wpi": {"writes_per_op", 1}, "wkbpi": {"write_kb_per_op", 1},
	"wkbpq": {"write_kb_per_query", 1}, // before 2021; per row in steps l.*
	"csps":  {"context_switches_per_s", 1}, "cpups": {"cpu_percent", 1},
	"cspq": {"context_switches_per_op", 1}, "cpupq": {"cpu_us_per_op", 1}, "ccpupq": {"client_cpu_us_per_op", 1},
	"dbgb": {"db_size_gb", 1}, "dbgb1": {"db_size_gb", 1}, "dbgb2": {"total_size_gb", 1},
	"vsz": {"vsz_gb", 1}, "rss": {"rss_gb", 1}, "maxop": {"max_op_s", 1},
	"p50": {"p50_second_rate", 1}, "p90": {"p90_second_rate", 1}, "p99": {"p99_second_rate", 1},
}

// ibenchCells cuts a line at tabs; one without tabs, as pasted text has, at
// spaces.
func ibenchCells(line string) []string {
	if !strings.Contains(line, "\t") {
		return strings.Fields(line)
	}
	cells := strings.Split(line, "\t")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// isIBenchHeader reports whether a line is the header of a metrics table: ips
// and qps first, the tag last, known names between.
func isIBenchHeader(cells []string) bool {
	n := len(cells)
	if n < 12 || n > maxColumns || cells[0] != "ips" || cells[1] != "qps" || cells[n-1] != "tag" {
		return false
	}
	known := 0
	for _, c := range cells {
		if _, ok := ibenchColumns[c]; ok {
			known++
		}
	}
	return 2*known > n
}

// firstIBenchLine gives the cells of the first line that is neither blank nor the
// name of a step, as stands above the tables of mrg.some.
func firstIBenchLine(text []byte) []string {
	l := newLines(text)
	for seen := 0; seen < 10; seen++ {
		line, _, ok := l.next()
		if !ok || len(line) > maxLine {
			return nil
		}
		s := string(trimSpace(line))
		if _, step := bench.IBenchStep(s); s != "" && !step {
			return ibenchCells(s)
		}
	}
	return nil
}

func isIBenchMetrics(in *input) bool { return isIBenchHeader(firstIBenchLine(in.text)) }

// ibenchTable is a table of a report.
type ibenchTable struct {
	step     string // as the source calls it
	op       string // of response times
	columns  []string
	line     int // of the header
	rows     []ibenchRow
	relative bool // of metrics: ratios, see [ibenchTable.isRelative]
	cores    int  // of metrics: see [ibenchTable.cpus]
	repeats  bool // of response times: may repeat those of another table
}

// ibenchRow is a row of a table, cut into cells of which the last is the tag.
type ibenchRow struct {
	line  int
	group int // counts the lines "-" before it
	cells []string
}

func (r *ibenchRow) tag() string { return r.cells[len(r.cells)-1] }

// problemList collects what refuses a file.
type problemList struct {
	file     string
	messages []bench.Message
}

func (p *problemList) add(line int, format string, args ...any) {
	p.messages = appendBounded(p.messages, bench.Message{File: p.file, Line: line, Text: fmt.Sprintf(format, args...)})
}

// cutIBenchTables cuts text into tables that begin with a header. step is that of
// a table without its own above it; line numbers count from offset.
func cutIBenchTables(text []byte, step string, offset int, header func(cells []string) bool, problems *problemList) []ibenchTable {
	var tables []ibenchTable
	group := 0
	for l := newLines(text); ; {
		line, number, ok := l.next()
		if !ok {
			break
		}
		number += offset
		if len(line) > maxLine {
			problems.add(number, "the line is longer than %d bytes", maxLine)
			return nil
		}
		// An empty cell at an end is a cell.
		s := strings.Trim(string(line), " \r")
		switch {
		case strings.TrimSpace(s) == "":
			continue
		case s == "-":
			group++
			continue
		}
		if name := strings.TrimSpace(s); !strings.Contains(name, "\t") {
			if _, ok := bench.IBenchStep(name); ok {
				step = name
				continue
			}
		}
		cells := ibenchCells(s)
		if header(cells) {
			tables = append(tables, ibenchTable{step: step, columns: cells, line: number})
			group = 0
			continue
		}
		if len(tables) == 0 {
			problems.add(number, "not a row, and no header came before it: %q", clip(s))
			return nil
		}
		t := &tables[len(tables)-1]
		if len(cells) != len(t.columns) {
			problems.add(number, "the row has %d cells, its header %d", len(cells), len(t.columns))
			continue
		}
		t.rows = append(t.rows, ibenchRow{line: number, group: group, cells: cells})
	}
	return tables
}

// isRelative reports whether a table's figures are ratios: all have two decimals
// but for 1, inf and NA. Absolute tables have decimals of other lengths.
func (t *ibenchTable) isRelative() bool {
	ratios := 0
	for i := range t.rows {
		for _, c := range t.rows[i].cells[:len(t.columns)-1] {
			switch {
			case c == "1" || c == "inf" || c == "-nan" || c == "nan" || missing(c):
			case decimals(c) == 2:
				ratios++
			default:
				return false
			}
		}
	}
	return ratios > 0
}

// ibenchParts is what one file of a report holds.
type ibenchParts struct {
	metrics, times, summaries []ibenchTable
	prefix                    string // of the file's name, see [ibenchFile]
	// What a page says of all its runs: the number of clients, and descriptions
	// by tag without rows.
	clients      int
	descriptions map[string]string
	messages     []bench.Message
}

func (p *ibenchParts) rows() (n int) {
	for _, tables := range [][]ibenchTable{p.metrics, p.times, p.summaries} {
		for i := range tables {
			n += len(tables[i].rows)
		}
	}
	return n
}

// ibenchReport is a report being read.
type ibenchReport struct {
	files []*input
	outs  map[*input]output
	parts map[*input]*ibenchParts // of files that are not refused
	// Runs in the order they come, and by tag.
	runs  []*ibenchReportRun
	byTag map[string]*ibenchReportRun
	turns map[string]string // names of steps in the form of reports
	// figures finds rows of absolute metrics by step and tag, once all are read.
	figures map[string]ibenchFigures
}

// ibenchReportRun is the run of a tag.
type ibenchReportRun struct {
	run   bench.Run
	tag   ibenchTag
	first *input
	// Places of results by label.
	byLabel map[string][]int
}

// isOf reports whether a file was recognised as one of some formats.
func (in *input) isOf(formats ...string) bool {
	return in.format != nil && slices.Contains(formats, in.format.name)
}

// claimIBenchReports gives the tables of each report with what its scripts left
// beside them.
func claimIBenchReports(s *set) [][]*input {
	byReport := map[string][]*input{}
	var reports []string
	dirs := map[string]string{} // the first report of each directory
	for _, in := range s.files {
		if !in.isOf(formatIBenchMetrics, formatIBenchTimes, formatIBenchSummary, formatIBenchPage) {
			continue
		}
		report := in.ibenchFile().report
		if byReport[report] == nil {
			reports = append(reports, report)
			if dir := path.Dir(in.path); dirs[dir] == "" {
				dirs[dir] = report
			}
		}
		byReport[report] = append(byReport[report], in)
	}
	for _, in := range s.files {
		if report, ok := dirs[path.Dir(in.path)]; ok && in.format == nil && isIBenchAside(in) {
			byReport[report] = append(byReport[report], in)
		}
	}
	slices.Sort(reports)
	var all [][]*input
	for _, report := range reports {
		files := byReport[report]
		slices.SortFunc(files, func(a, b *input) int { return strings.Compare(a.path, b.path) })
		all = append(all, files)
	}
	return all
}

// isIBenchAside reports whether a file beside tables is known to hold no figures
// that are not theirs: pages of pictures, plot scripts, averages of tenths of a
// step, remarks.
func isIBenchAside(in *input) bool {
	base := path.Base(plainPath(in))
	switch {
	case strings.HasPrefix(base, "tput."), strings.HasPrefix(base, "ch."), strings.HasPrefix(base, "do.gp"), strings.HasPrefix(base, "gpi."):
		return true
	case strings.HasPrefix(base, "mrg.") && strings.Contains(base, ".rate."):
		return true
	}
	if in.text == nil {
		return false
	}
	for l := newLines(in.text); ; {
		line, _, ok := l.next()
		if !ok {
			return true
		}
		if line = trimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
}

// readIBenchReport reads the tables of a report.
func readIBenchReport(files []*input) []output {
	r := &ibenchReport{files: files, outs: map[*input]output{}, parts: map[*input]*ibenchParts{}, byTag: map[string]*ibenchReportRun{}}
	var names []string
	for _, in := range files {
		if in.isOf(formatIBenchMetrics, formatIBenchTimes, formatIBenchSummary, formatIBenchPage) {
			r.cut(in)
		}
		for _, t := range r.tables(in) {
			names = append(names, t.step)
		}
	}
	r.turns = ibenchTurns(names)
	for _, read := range []func(*input){r.readMetrics, r.readTimes, r.check} {
		for _, in := range files {
			if r.parts[in] != nil {
				read(in)
			}
		}
	}
	// Each run goes to the first file that was taken for it.
	clientsUnknown := false
	for _, run := range r.runs {
		out := r.outs[run.first]
		out.runs = append(out.runs, run.run)
		if run.run.Clients == 0 && !clientsUnknown {
			clientsUnknown = true
			out.warnings = append(out.warnings, bench.Message{File: run.first.path,
				Text: "nothing says with how many clients this was measured; --clients does"})
		}
		r.outs[run.first] = out
	}
	outs := make([]output, len(files))
	for i, in := range files {
		out, ok := r.outs[in]
		if !ok {
			out = output{state: bench.FileAttachment}
			if strings.Contains(path.Base(in.path), ".rate.") {
				out.messages = []bench.Message{{File: in.path, Text: "averages of tenths of a step: not read"}}
			}
		}
		outs[i] = out
	}
	return outs
}

// readIBenchFile reads a file by itself, as a report of one file.
func readIBenchFile(in *input) output { return readIBenchReport([]*input{in})[0] }

// cut takes a file apart into tables.
func (r *ibenchReport) cut(in *input) {
	file := in.ibenchFile()
	problems := problemList{file: in.path}
	parts := &ibenchParts{}
	switch {
	case in.isOf(formatIBenchMetrics):
		parts.metrics = cutIBenchTables(in.text, stepOfFile(file), 0, isIBenchHeader, &problems)
	case in.isOf(formatIBenchTimes):
		parts.times = cutIBenchTables(in.text, file.step, 0, isTimesHeader, &problems)
		for i := range parts.times {
			parts.times[i].op = file.op
		}
	case in.isOf(formatIBenchSummary):
		parts.summaries = cutIBenchTables(in.text, "", 0, isSummaryHeader, &problems)
	default:
		*parts = cutIBenchPage(in, &problems)
	}
	parts.prefix = file.prefix
	rows := parts.rows()
	switch {
	case len(problems.messages) > 0:
		r.refuse(in, problems.messages...)
	case rows == 0:
		r.refuse(in, bench.Message{File: in.path, Text: "the table has a header but no rows"})
	case !in.set.spend(rows):
		r.outs[in] = tooManyRows(in, 0)
	default:
		for i := range parts.metrics {
			t := &parts.metrics[i]
			if t.relative = t.isRelative(); !t.relative {
				t.cores = t.cpus()
			}
		}
		r.parts[in] = parts
		r.outs[in] = output{state: bench.FileTaken, messages: parts.messages}
	}
}

// refuse refuses a file; nothing of it is looked at further.
func (r *ibenchReport) refuse(in *input, messages ...bench.Message) {
	r.outs[in] = refused(messages...)
	delete(r.parts, in)
}

// tables gives the metrics and response times of a file.
func (r *ibenchReport) tables(in *input) []ibenchTable {
	if p := r.parts[in]; p != nil {
		return slices.Concat(p.metrics, p.times)
	}
	return nil
}

// readMetrics reads the metrics tables of a file; those of ratios are left to
// [ibenchReport.check].
func (r *ibenchReport) readMetrics(in *input) {
	parts := r.parts[in]
	problems := problemList{file: in.path}
	read := make([]ibenchResult, 0, parts.rows())
	var warnings []bench.Message
	cores := 0
	for i := range parts.metrics {
		t := &parts.metrics[i]
		if t.relative {
			continue
		}
		if _, _, err := ibenchStep(t.step); err != nil {
			if t.step == "" {
				err = bench.Errorf(bench.KindInvalid, "nothing says which step the table is of: its name should be mrg.<step> (mrg.l.i1, mrg.q100.1); tables of all steps of one run (o.sum.t.*) do not name them")
			}
			problems.add(t.line, "%v", err)
			continue
		}
		if cores == 0 && t.cores != cpusOfShare {
			cores = t.cores
		}
		for k := range t.rows {
			if x, ok := r.readRow(in, t, &t.rows[k], &problems); ok {
				read = append(read, x)
			}
		}
		warnings = append(warnings, t.odd(in.path, cores)...)
	}
	if len(problems.messages) > 0 {
		r.refuse(in, problems.messages...)
		return
	}
	for _, x := range read {
		r.add(in, x)
	}
	out := r.outs[in]
	out.warnings = append(out.warnings, warnings...)
	r.outs[in] = out
}

// stepOfFile gives the step that a table's name says; the tables of mrg.some say
// it themselves.
func stepOfFile(f ibenchFile) string {
	if f.step == "some" {
		return ""
	}
	return f.step
}

// ibenchResult is a row read, with the run it belongs to.
type ibenchResult struct {
	tag    ibenchTag
	run    bench.Run
	result bench.Result
}

// readRow reads a row of metrics.
func (r *ibenchReport) readRow(in *input, t *ibenchTable, row *ibenchRow, problems *problemList) (ibenchResult, bool) {
	tag, ok := parseIBenchTag(row.tag())
	if !ok {
		problems.add(row.line, "not a tag (<rows>m.<dbms>.<config>): %q", clip(row.tag()))
		return ibenchResult{}, false
	}
	run, err := r.runOf(in, &tag, row.line)
	if err != nil {
		problems.add(row.line, "%v", err)
		return ibenchResult{}, false
	}
	step, role, err := ibenchStep(t.step)
	if err != nil {
		problems.add(row.line, "%v", err)
		return ibenchResult{}, false
	}
	result := bench.Result{
		Step: step, Role: role, State: bench.StateOK, Origin: bench.OriginMeasured,
		Primary: bench.PrimaryMetric(bench.SuiteIBench, step.Name),
		Text:    r.label(t.step, &tag) + "\t" + strings.Join(row.cells, "\t"),
		Sources: []bench.Source{{File: in.path, Line: row.line}},
	}
	t.readCells(in.path, row, &result)
	if result.PrimaryText == "" {
		problems.add(row.line, "the row has no figure for %s", result.Primary)
		return ibenchResult{}, false
	}
	return ibenchResult{tag: tag, run: run, result: result}, true
}

// runOf gives the run of a row's tag, without results.
func (r *ibenchReport) runOf(in *input, tag *ibenchTag, line int) (bench.Run, error) {
	parts := r.parts[in]
	tag.context.Clients = parts.clients
	run, err := in.ibenchRun(tag, fmt.Sprintf("the tag of line %d", line), parts.prefix)
	if text := parts.descriptions[tag.name()]; text != "" && err == nil {
		run.Environment["config_description"] = text
	}
	return run, err
}

// label names a result of the report, see [ibenchLabel].
func (r *ibenchReport) label(step string, tag *ibenchTag) string {
	if turn := r.turns[step]; turn != "" {
		step = turn
	}
	return ibenchLabel(step, tag.name())
}

// readCells reads the figures of a row.
func (t *ibenchTable) readCells(file string, row *ibenchRow, result *bench.Result) {
	warn := func(column, format string, args ...any) {
		result.Warnings = append(result.Warnings, bench.Message{File: file, Line: row.line, Column: column, Text: fmt.Sprintf(format, args...)})
	}
	inserting := strings.HasPrefix(result.Step.Name, "l.")
	result.Values = make([]bench.Value, 0, len(t.columns)-1)
	for i, name := range t.columns[:len(t.columns)-1] {
		cell := row.cells[i]
		c, known := ibenchColumns[name]
		switch {
		case missing(cell):
			continue
		case !known:
			warn(clip(name), "no such column is known; %q is left out", clip(cell))
			continue
		}
		if name == "wkbpq" && inserting {
			c.metric = "write_kb_per_op"
		}
		if name == "cpupq" && t.cores == cpusOfShare {
			continue // said once for the table, see odd
		}
		v, resolution, ok := parseDecimal(cell, 1)
		if !ok {
			warn(name, "not a figure: %q; left out", clip(cell))
			continue
		}
		if known, twice := result.Value(c.metric); twice {
			// dbgb and dbgb1 are names of one column.
			warn(name, "another column holds %s already, %g; %q is left out", c.metric, known, clip(cell))
			continue
		}
		result.Set(bench.Value{Metric: c.metric, Number: v / c.per, Resolution: resolution / c.per, SourceName: name})
		if c.metric == result.Primary {
			result.PrimaryText = cell
		}
	}
}

// add puts a result into the run of its tag.
func (r *ibenchReport) add(in *input, x ibenchResult) {
	key := x.tag.rows + "." + x.tag.name()
	run := r.byTag[key]
	if run == nil {
		run = &ibenchReportRun{run: x.run, tag: x.tag, first: in, byLabel: map[string][]int{}}
		r.byTag[key] = run
		r.runs = append(r.runs, run)
	}
	label := x.result.Label()
	// mrg.some repeats rows of other tables.
	for _, i := range run.byLabel[label] {
		if known := &run.run.Results[i]; known.Text == x.result.Text {
			known.Sources = append(known.Sources, x.result.Sources...)
			return
		}
	}
	run.byLabel[label] = append(run.byLabel[label], len(run.run.Results))
	run.run.Results = append(run.run.Results, x.result)
}

// column gives the place of a column, -1 when the table has none of the names.
func (t *ibenchTable) column(names ...string) int {
	return slices.IndexFunc(t.columns, func(c string) bool { return slices.Contains(names, c) })
}

// span is a figure as printed: what was rounded lies between low and high.
type span struct{ low, high float64 }

func (t *ibenchTable) span(row *ibenchRow, column int, scale float64) (span, bool) {
	if column < 0 {
		return span{}, false
	}
	v, resolution, ok := parseDecimal(row.cells[column], scale)
	if !ok || v < 0 {
		return span{}, false
	}
	return span{math.Max(0, v-resolution/2), v + resolution/2}, true
}

// over divides; a divisor that may be 0 leaves no upper bound.
func (s span) over(d span) span {
	if d.low <= 0 {
		return span{0, math.Inf(1)}
	}
	return span{s.low / d.high, s.high / d.low}
}

// meets reports whether two figures may be the same one; scripts round more than
// once, so that the last binary digit may differ.
func (s span) meets(o span) bool {
	return s.low <= o.high*(1+1e-9) && o.low <= s.high*(1+1e-9)
}

// rateColumn gives the column that per-operation figures divide by: rows
// inserted in steps l.*, queries in steps q*.
func (t *ibenchTable) rateColumn() int {
	if strings.HasPrefix(t.step, "q") {
		return t.column("qps")
	}
	return t.column("ips")
}

// cpusOfShare is what [ibenchTable.cpus] finds where cpupq is no time: scripts
// before 2021 print the share of the CPU in percent times 1,000,000 over the rate.
const cpusOfShare = 100

// cpus gives the number of cores that most rows of a table agree cpupq was
// computed with, 0 when there is none: cpupq = cpups/100 · cores · 1e6 / rate.
// The scripts are told it by hand and print it nowhere.
func (t *ibenchTable) cpus() int {
	share, cost, rate := t.column("cpups"), t.column("cpupq"), t.rateColumn()
	fitting := map[int]int{}
	rows := 0
	for i := range t.rows {
		s, ok1 := t.span(&t.rows[i], share, 1e4)
		c, ok2 := t.span(&t.rows[i], cost, 1)
		q, ok3 := t.span(&t.rows[i], rate, 1)
		if !ok1 || !ok2 || !ok3 || s.low == 0 {
			continue
		}
		low, high := math.Ceil(c.low*q.low/s.high), math.Floor(c.high*q.high/s.low)
		if high-low > 64 || high > 1e6 {
			continue // the figures are too small to tell
		}
		rows++
		for n := int(low); n <= int(high); n++ {
			fitting[n]++
		}
	}
	if 2*fitting[cpusOfShare] > rows && t.column("wpi") < 0 {
		return cpusOfShare
	}
	best := 0
	for n, count := range fitting {
		if n > 0 && 2*count > rows && (count > fitting[best] || count == fitting[best] && n < best) {
			best = n
		}
	}
	return best
}

// odd gives a warning for each per-operation figure that its rates contradict.
// cores is what another table of the file was computed with, 0 unknown.
func (t *ibenchTable) odd(file string, cores int) (warnings []bench.Message) {
	say := func(line int, column, format string, args ...any) {
		warnings = appendBounded(warnings, bench.Message{File: file, Line: line, Column: column, Text: fmt.Sprintf(format, args...)})
	}
	rate, inserts := t.rateColumn(), t.column("ips")
	perQuery := []struct {
		cost, of string
		scale    float64
		by       int
	}{
		{"rpq", "rps", 1, rate}, {"rkbpq", "rmbps", 1024, rate}, {"rkbpq", "rkbps", 1, rate}, {"wkbpq", "wkbps", 1, rate},
		{"wpi", "wps", 1, inserts}, {"wkbpi", "wmbps", 1024, inserts}, {"cspq", "csps", 1, rate},
	}
	if n := t.cores; n == cpusOfShare {
		say(t.line, "cpupq", "holds the share of the CPU in percent times 1,000,000 over the rate, no time; left out")
	} else {
		if n != 0 {
			cores = n
		}
		if cores != 0 {
			perQuery = append(perQuery, struct {
				cost, of string
				scale    float64
				by       int
			}{"cpupq", "cpups", 1e4 * float64(cores), rate})
		}
	}
	for i := range t.rows {
		row := &t.rows[i]
		for _, p := range perQuery {
			have, ok1 := t.span(row, t.column(p.cost), 1)
			total, ok2 := t.span(row, t.column(p.of), p.scale)
			by, ok3 := t.span(row, p.by, 1)
			if ok1 && ok2 && ok3 && !total.over(by).meets(have) {
				say(row.line, p.cost, "%s does not fit: %s %s over %s %s gives %.4g", row.cells[t.column(p.cost)],
					p.of, row.cells[t.column(p.of)], t.columns[p.by], row.cells[p.by], (total.low+total.high)/(by.low+by.high))
			}
		}
	}
	return warnings
}
