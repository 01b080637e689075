package ingest

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// SUMMARY.csv is what regression_test.sh writes: 23 columns, cells padded with
// spaces on the left, response times in nanoseconds (the script multiplies
// db_bench's microseconds by 1000), a line ERROR for a run that failed. A row
// has no date and no version: the commit alone says what was measured.

// ciColumns are the columns of SUMMARY.csv in order. compress-rate was once
// called compress-rate(%), cache-size cache-size(bytes).
var ciColumns = []string{
	"commit id", "benchmark", "user@host", "num-dbs", "key-range", "key-size", "value-size", "compress-rate",
	"ops-per-thread", "num-threads", "cache-size", "flushes", "compactions", "ops-per-s",
	"p50", "p75", "p99", "p99.9", "p99.99", "debug", "real-sec", "user-sec", "sys-sec",
}

// ciMetrics maps columns to metrics. Times of 0 were not taken.
var ciMetrics = []struct {
	column, metric string
	per            float64 // of the unit that values are stored in
	zeroIsMissing  bool
}{
	{"ops-per-s", "qps", 1, false},
	{"p50", "p50", 1000, false}, {"p75", "p75", 1000, false}, {"p99", "p99", 1000, false},
	{"p99.9", "p99_9", 1000, false}, {"p99.99", "p99_99", 1000, false},
	{"real-sec", "real_s", 1, true}, {"user-sec", "user_cpu_s", 1, true}, {"sys-sec", "system_cpu_s", 1, true},
}

// ciOptions are columns that say how it was measured.
var ciOptions = []string{"num-dbs", "key-range", "key-size", "value-size", "compress-rate", "ops-per-thread", "cache-size", "flushes", "compactions"}

func ciCells(line []byte) []string {
	cells := strings.Split(string(line), ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// ciHeader reads a line as the header, whose names may carry a unit.
func ciHeader(line []byte) bool {
	cells := ciCells(line)
	if len(cells) != len(ciColumns) {
		return false
	}
	for i, c := range cells {
		name, _, _ := strings.Cut(c, "(")
		if name != ciColumns[i] {
			return false
		}
	}
	return true
}

func isCISummary(in *input) bool {
	l := newLines(in.text)
	for seen := 0; seen < 5; seen++ {
		line, _, ok := l.next()
		if !ok || len(line) > maxLine {
			return false
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return ciHeader(line)
		}
	}
	return false
}

// readCISummary reads SUMMARY.csv: one run per commit, host and set of options.
func readCISummary(in *input) output {
	var out output
	var problems []bench.Message
	problem := func(line int, format string, args ...any) {
		if len(problems) < maxMessages {
			problems = append(problems, bench.Message{File: in.path, Line: line, Text: fmt.Sprintf(format, args...)})
		}
	}
	index := map[string]int{}
	for l := newLines(in.text); ; {
		line, n, ok := l.next()
		if !ok {
			break
		}
		text := strings.TrimSpace(string(line[:min(len(line), maxLine)]))
		switch {
		case len(line) > maxLine:
			problem(n, "the line is longer than %d bytes", maxLine)
			continue
		case text == "" || ciHeader(line):
			continue
		case text == "ERROR":
			out.messages = appendBounded(out.messages, bench.Message{File: in.path, Line: n, Text: "the script notes a run that failed here, not which"})
			continue
		}
		cells := ciCells(line)
		if len(cells) != len(ciColumns) {
			problem(n, "the row has %d cells, its header %d", len(cells), len(ciColumns))
			continue
		}
		row := make(map[string]string, len(cells))
		for i, c := range cells {
			row[ciColumns[i]] = c
		}
		if !plausibleTest(row["benchmark"]) {
			problem(n, "not a benchmark's name: %q", clip(row["benchmark"]))
			continue
		}
		if !in.set.spend(1) {
			return tooManyRows(in, n)
		}
		key := row["commit id"] + "\x00" + row["user@host"]
		for _, o := range ciOptions {
			key += "\x00" + row[o]
		}
		at, known := index[key]
		if !known {
			run, err := in.resolve(bench.Context{}, fmt.Sprintf("line %d", n), false)
			if err != nil {
				problem(n, "%v", err)
				break
			}
			ciContext(&run, row)
			at = len(out.runs)
			out.runs = append(out.runs, run)
			index[key] = at
		}
		out.runs[at].Results = append(out.runs[at].Results, ciResult(in, row, strings.Join(cells, ","), n))
	}
	if len(problems) == 0 && len(out.runs) == 0 {
		problem(0, "the file has a header but no rows")
	}
	if len(problems) > 0 {
		return refused(problems...)
	}
	out.state = bench.FileTaken
	return out
}

// ciContext puts what a row says of build, host and options on its run.
func ciContext(run *bench.Run, row map[string]string) {
	if commit := row["commit id"]; commit != "" && commit != "unknown" {
		run.Build.GitHash = commit
	}
	if host := row["user@host"]; host != "" {
		run.Environment = map[string]string{"user_at_host": host}
	}
	for _, o := range ciOptions {
		if row[o] == "" {
			continue
		}
		if run.Options == nil {
			run.Options = map[string]string{}
		}
		run.Options[strings.ReplaceAll(o, "-", "_")] = row[o]
	}
}

func ciResult(in *input, row map[string]string, text string, line int) bench.Result {
	r := bench.Result{
		Step: bench.ParseStep(row["benchmark"]), State: bench.StateOK, Origin: bench.OriginMeasured, Primary: "qps",
		Text: text, Sources: []bench.Source{{File: in.path, Line: line}},
	}
	r.Role = bench.StepRole(bench.SuiteDBBench, r.Step.Name)
	count := func(column string, most float64) int {
		cell := row[column]
		v, _, ok := parseDecimal(cell, 1)
		if ok && v == math.Trunc(v) && v > 0 && v < most {
			return int(v)
		}
		if !missing(cell) {
			r.Warnings = append(r.Warnings, bench.Message{File: in.path, Line: line, Column: column, Text: fmt.Sprintf("not a number of its kind: %q; left out", clip(cell))})
		}
		return 0
	}
	r.Step.Threads, r.Step.ValueBytes = count("num-threads", 1e6), count("value-size", 1e9)
	if debug := row["debug"]; debug != "0" && debug != "" {
		r.Excluded = "debug build"
		r.Warnings = append(r.Warnings, bench.Message{File: in.path, Line: line, Column: "debug", Text: "a debug build: its figures are not comparable"})
	}
	for _, m := range ciMetrics {
		cell := row[m.column]
		if missing(cell) {
			continue
		}
		v, resolution, ok := parseDecimal(cell, 1)
		switch {
		case !ok:
			r.Warnings = append(r.Warnings, bench.Message{File: in.path, Line: line, Column: m.column, Text: fmt.Sprintf("not a figure: %q; left out", clip(cell))})
			continue
		case v == 0 && m.zeroIsMissing:
			continue
		}
		if m.metric == "qps" {
			r.PrimaryText = cell
		}
		r.Set(bench.Value{Metric: m.metric, Number: v / m.per, Resolution: resolution / m.per, SourceName: m.column})
	}
	return r
}

// appendBounded keeps a list of messages within what is listed of a file.
func appendBounded(list []bench.Message, m bench.Message) []bench.Message {
	if len(list) < maxMessages {
		list = append(list, m)
	}
	return list
}
