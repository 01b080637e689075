package ingest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// What a report says twice is checked, never stored: ratios (rel.<step>) and
// the summaries of throughput by step and run, as files or on the report's page:
//
//	summary.absolute      rows inserted per second of steps l.*, queries of q*
//	summary.relative      the same over the first row
//	summary.insert_rate   rows inserted per second beside the queries, and as
//	                      the last row the target
//
// They are compared with the metrics tables of the same upload, whose figures
// they were made of; without those nothing is known to compare with.

var ibenchSummaryRe = regexp.MustCompile(`^(?:(.+)\.)?summary\.(?:absolute|relative|insert_rate)(?:\.(?:tsv|txt))?$`)

// isSummaryHeader reports whether a line is the header of a summary: dbms, then
// names of steps.
func isSummaryHeader(cells []string) bool {
	if len(cells) < 2 || len(cells) > maxColumns || cells[0] != "dbms" {
		return false
	}
	return !slices.ContainsFunc(cells[1:], func(c string) bool { _, ok := bench.IBenchStep(c); return !ok })
}

func isIBenchSummary(in *input) bool { return isSummaryHeader(firstIBenchLine(in.text)) }

// checker compares cells and counts.
type checker struct {
	bench.Check
	omitted int
}

func newChecker(file string, kind bench.MatrixKind) *checker {
	return &checker{Check: bench.Check{File: file, Kind: string(kind), Messages: []bench.Message{}}}
}

// cell compares a cell with what it should be; "" means that nothing is known.
func (c *checker) cell(line int, column, cell, want, what string) {
	switch {
	case missing(cell) && missing(want):
		return
	case want == "":
		c.Unknown++
		return
	}
	c.Cells++
	if cell == want || sameFigure(cell, want) {
		c.Agree++
		return
	}
	if len(c.Messages) >= bench.MessagesPerCheck {
		c.omitted++
		return
	}
	c.Messages = append(c.Messages, bench.Message{File: c.File, Line: line, Column: column, Text: fmt.Sprintf("%s: %s here, %s by the metrics tables", what, clip(cell), want)})
}

func sameFigure(a, b string) bool {
	x, _, ok1 := parseDecimal(a, 1)
	y, _, ok2 := parseDecimal(b, 1)
	return ok1 && ok2 && x == y
}

func (c *checker) done() bench.Check {
	if c.omitted > 0 {
		c.Messages = append(c.Messages, bench.Message{File: c.File, Text: fmt.Sprintf("%d more cells differ", c.omitted)})
	}
	return c.Check
}

// ratio prints a over b as the scripts do: with two decimals, 1 where both are 0,
// inf over 0, NA where a figure is missing.
func ratio(a, b string) string {
	x, _, ok1 := parseDecimal(a, 1)
	y, _, ok2 := parseDecimal(b, 1)
	switch {
	case !ok1 || !ok2:
		return "NA"
	case x == 0 && y == 0:
		return "1"
	case y == 0:
		return "inf"
	}
	return strconv.FormatFloat(x/y, 'f', 2, 64)
}

// ibenchFigures is a row of absolute metrics with the first row of its group,
// which ratios are to.
type ibenchFigures struct {
	table     *ibenchTable
	row, base *ibenchRow
}

// absolute finds the metrics of a tag in a step; row is nil where none are known.
func (r *ibenchReport) absolute(step, tag string) ibenchFigures {
	if r.figures == nil {
		r.figures = map[string]ibenchFigures{}
		for _, in := range r.files {
			if r.parts[in] != nil {
				r.index(r.parts[in].metrics)
			}
		}
	}
	t, ok := parseIBenchTag(tag)
	if !ok {
		return ibenchFigures{}
	}
	return r.figures[r.label(step, &t)]
}

// index enters the rows of absolute tables; of several the first counts.
func (r *ibenchReport) index(tables []ibenchTable) {
	for i := range tables {
		t := &tables[i]
		if t.relative {
			continue
		}
		var first *ibenchRow
		for k := range t.rows {
			row := &t.rows[k]
			if first == nil || first.group != row.group {
				first = row
			}
			tag, ok := parseIBenchTag(row.tag())
			if !ok {
				continue
			}
			if label := r.label(t.step, &tag); r.figures[label].row == nil {
				r.figures[label] = ibenchFigures{t, row, first}
			}
		}
	}
}

// check compares the ratios and summaries of a file with the metrics tables.
func (r *ibenchReport) check(in *input) {
	out := r.outs[in]
	c := newChecker(in.path, bench.MatrixRelative)
	found := false
	for i := range r.parts[in].metrics {
		if t := &r.parts[in].metrics[i]; t.relative {
			found = true
			r.checkRelative(c, t)
		}
	}
	if found {
		out.checks = append(out.checks, c.done())
	}
	for i := range r.parts[in].summaries {
		out.checks = append(out.checks, r.checkSummary(in.path, &r.parts[in].summaries[i]))
	}
	r.outs[in] = out
}

// checkRelative compares a table of ratios.
func (r *ibenchReport) checkRelative(c *checker, t *ibenchTable) {
	for i := range t.rows {
		row := &t.rows[i]
		f := r.absolute(t.step, row.tag())
		for k, name := range t.columns[:len(t.columns)-1] {
			want := ""
			if f.row != nil {
				if at := f.table.column(name); at >= 0 {
					want = ratio(f.row.cells[at], f.base.cells[at])
				}
			}
			c.cell(row.line, name, row.cells[k], want, row.tag())
		}
	}
}

// checkSummary compares a summary, whose first column is the tag.
func (r *ibenchReport) checkSummary(file string, t *ibenchTable) bench.Check {
	rows := t.rows
	rates := len(rows) > 0 && rows[len(rows)-1].cells[0] == "target"
	relative := !rates
	for i := range rows {
		for _, cell := range rows[i].cells[1:] {
			relative = relative && (missing(cell) || decimals(cell) == 2)
		}
	}
	kind := bench.MatrixAbsolute
	if relative {
		kind = bench.MatrixRelative
	}
	c := newChecker(file, kind)
	figure := func(step, tag string) string {
		f := r.absolute(step, tag)
		if f.row == nil {
			return ""
		}
		name, _ := bench.IBenchStep(step)
		metric := bench.PrimaryMetric(bench.SuiteIBench, name)
		if rates {
			metric = "ips"
		}
		return f.row.cells[f.table.column(metric)]
	}
	for i := range rows {
		tag := rows[i].cells[0]
		for k, step := range t.columns[1:] {
			cell := rows[i].cells[k+1]
			var want string
			switch {
			case rates && i == len(rows)-1:
				want = r.target(step, cell)
			case relative:
				if a, b := figure(step, tag), figure(step, rows[0].cells[0]); a != "" && b != "" {
					want = ratio(a, b)
				}
			default:
				want = figure(step, tag)
			}
			c.cell(rows[i].line, step, cell, want, tag)
		}
	}
	return c.done()
}

// target gives the rate of inserts that all clients of a query step together aim
// at. Where the number of clients is not stated, the target tells it: any
// multiple of one client's rate is right.
func (r *ibenchReport) target(step, cell string) string {
	name, _ := bench.IBenchStep(step)
	perClient := atoi(strings.TrimLeft(name, "qrp"))
	clients := 1
	for _, run := range r.runs {
		if run.run.Clients > 0 {
			return strconv.Itoa(perClient * run.run.Clients)
		}
	}
	if v, _, ok := parseDecimal(cell, 1); ok && perClient > 0 && math.Mod(v, float64(perClient)) == 0 && v > 0 {
		clients = int(v) / perClient
	}
	return strconv.Itoa(perClient * clients)
}
