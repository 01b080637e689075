package ingest

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// OpLine is the line with a benchmark's figures and what belongs to it:
//
//	readrandom   :       4.294 micros/op; (90751 of 500000 found)                      LevelDB
//	overwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s                   up to 7.2
//	overwrite    :  14.117 micros/op 282862 ops/sec 14.141 seconds 4000000 operations;   31.3 MB/s   from 7.3
type OpLine struct {
	File   string
	Line   int
	Text   string // the line without what stood around it
	Name   string // the benchmark's, as printed
	DBPath string // of the DB path line above, "" when there is none
	// Micros is per operation: of all threads together up to 5.18, of one thread
	// from 6.0 on.
	Micros Figure
	// OpsPerSec counts all threads. It is cut to an integer: 0 for a benchmark of
	// one slow operation.
	OpsPerSec  Figure
	Seconds    Figure
	Operations Figure
	MBPerSec   Figure
	// Message is what the benchmark adds in words: "(81999 of 81999 found)".
	Message string
	// Found and Read are from a message "(x of y found)": of one thread.
	Found, Read Figure
	// Warmup marks runs that db_bench makes before it measures ([W2]); Repeat
	// and Repeats number those of [X3].
	Warmup          bool
	Repeat, Repeats int
	Histograms      []OpHistogram
	// Perf is the perf context, of one thread.
	Perf []Counter

	freshPath bool // the DB path line stands right above
	at        int
}

// benchmarkName reports whether a word can be the name of a benchmark.
func benchmarkName(word []byte) bool {
	if len(word) == 0 || len(word) > 64 {
		return false
	}
	for _, c := range word {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
		if !letter {
			return false
		}
	}
	return true
}

// opLine reads a line with " micros/op" at i.
func (p *logParser) opLine(s []byte, i int) bool {
	before, rest := s[:i], s[i+len(" micros/op"):]
	name, tail := nextWord(before)
	colon, tail := nextWord(tail)
	micros, tail := nextWord(tail)
	if string(colon) != ":" || len(trimSpace(tail)) > 0 || !benchmarkName(name) {
		return false
	}
	op := OpLine{File: p.file, Line: p.line, Name: string(name), DBPath: p.dbPath, freshPath: p.freshPath, at: p.at}
	var ok bool
	if op.Micros, ok = newFigure(micros); !ok {
		return false
	}
	if len(rest) > 0 && rest[0] != ';' && rest[0] != ' ' {
		return false
	}
	figures, message := rest, []byte(nil)
	if j := bytes.IndexByte(rest, ';'); j >= 0 {
		figures, message = rest[:j], rest[j+1:]
	}
	if !op.figures(figures) {
		return false
	}
	message = trimSpace(message)
	if word, more := nextWord(message); len(word) > 0 {
		if unit, after := nextWord(more); string(unit) == "MB/s" {
			if op.MBPerSec, ok = newFigure(word); !ok {
				return false
			}
			message = trimSpace(after)
		}
	}
	text := s
	perf := false
	if j := bytes.Index(message, []byte("PERF_CONTEXT:")); j >= 0 {
		perf = true
		text = trimSpace(s[:bytes.LastIndex(s, []byte("PERF_CONTEXT:"))])
		message = trimSpace(message[:j])
	}
	op.Text, op.Message = string(text), string(message)
	op.found(message)
	if p.warmups > 0 {
		p.warmups--
		op.Warmup = true
	} else if p.repeats > 0 {
		p.repeat++
		op.Repeat, op.Repeats = p.repeat, p.repeats
		if p.repeat == p.repeats {
			p.repeats, p.repeat = 0, 0
		}
	}
	p.closeDump()
	if p.log.ops == maxOps {
		p.log.tooMany = fmt.Sprintf("more than %d results", maxOps)
		return true
	}
	p.log.ops++
	p.cur.Ops = append(p.cur.Ops, op)
	p.freshPath, p.hist, p.section = false, nil, sectionNone
	if perf {
		p.section = sectionPerf
	}
	return true
}

// figures reads what stands between "micros/op" and the semicolon: nothing,
// "N ops/sec", or "N ops/sec S seconds N operations".
func (op *OpLine) figures(s []byte) bool {
	for {
		word, rest := nextWord(s)
		if len(word) == 0 {
			return true
		}
		unit, rest := nextWord(rest)
		f, ok := newFigure(word)
		if !ok {
			return false
		}
		switch string(unit) {
		case "ops/sec":
			op.OpsPerSec = f
		case "seconds":
			op.Seconds = f
		case "operations":
			op.Operations = f
		default:
			return false
		}
		s = rest
	}
}

// found reads "(x of y found)".
func (op *OpLine) found(message []byte) {
	s, ok := cutPrefix(message, "(")
	if !ok {
		return
	}
	x, rest := nextWord(s)
	of, rest := nextWord(rest)
	y, rest := nextWord(rest)
	word, _ := nextWord(rest)
	if string(of) != "of" || !hasPrefix(word, "found") {
		return
	}
	a, okA := parseCount(x)
	b, okB := parseCount(y)
	if okA && okB {
		op.Found = Figure{Text: string(x), Value: float64(a)}
		op.Read = Figure{Text: string(y), Value: float64(b)}
	}
}

// perf reads the line after PERF_CONTEXT:
//
//	block_read_count = 3052, …, bloom_filter_useful = 18546@level0, 12@level1, bloom_filter_full_positive = 3@level0
//
// Counters that are kept by level have as many values as levels; one without any
// runs into the name of the next.
func (p *logParser) perf(s []byte) bool {
	if !bytes.Contains(s, []byte(" =")) || len(p.cur.Ops) == 0 {
		return false
	}
	var counters []Counter
	name := ""
	for word, rest := nextWord(s); len(word) > 0; word, rest = nextWord(rest) {
		if equals, more := nextWord(rest); string(equals) == "=" {
			name, rest = string(word), more
			continue
		}
		value, label := bytes.TrimSuffix(word, []byte(",")), name
		if i := bytes.IndexByte(value, '@'); i >= 0 { // of one level of the tree
			label += "_" + string(value[i+1:])
			value = value[:i]
		}
		v, ok := parseNumber(value)
		if len(counters) == maxCounters {
			return false
		}
		if !ok || name == "" || !metricWord(label) || math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
		counters = append(counters, Counter{Name: label, Value: v})
	}
	p.cur.Ops[len(p.cur.Ops)-1].Perf = counters
	return len(counters) > 0
}

// metricWord reports whether a name can be part of a metric's name.
func metricWord(name string) bool {
	if name == "" || len(name) > 96 {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return true
}

// wholeRate gives the operations per second where they are a figure to work
// with: db_bench cuts them to an integer, so that 0 stands for "less than one
// a second", and prints the limits of an integer for a division by zero.
func (op *OpLine) wholeRate() (float64, bool) {
	v := op.OpsPerSec
	return v.Value, v.Known() && v.Value > 0 && v.Value < math.MaxInt64
}

// noFigures says which words of the line stand for figures and are none.
func (op *OpLine) noFigures() (texts []string) {
	for _, f := range []struct {
		unit string
		Figure
	}{{"micros/op", op.Micros}, {"ops/sec", op.OpsPerSec}, {"seconds", op.Seconds}, {"operations", op.Operations}, {"MB/s", op.MBPerSec}} {
		_, rate := op.wholeRate()
		if f.Text != "" && (!f.Known() || f.unit == "ops/sec" && f.Value != 0 && !rate) {
			texts = append(texts, fmt.Sprintf("%s: not a figure: %q; left out", f.unit, clip(f.Text)))
		}
	}
	for i := range op.Histograms {
		h := &op.Histograms[i]
		for _, f := range []struct {
			name string
			Figure
		}{{"Count", h.Count}, {"Average", h.Average}, {"StdDev", h.StdDev}, {"Min", h.Min}, {"Median", h.Median}, {"Max", h.Max},
			{"P50", h.P50}, {"P75", h.P75}, {"P99", h.P99}, {"P99.9", h.P999}, {"P99.99", h.P9999}} {
			if f.Text != "" && (!f.Known() || f.Value < 0 || f.Value > maxFigure) {
				texts = append(texts, fmt.Sprintf("%s of %s: not a figure: %q; left out", f.name, h.Operation, clip(f.Text)))
			}
		}
	}
	if strings.HasPrefix(op.Message, "(") && strings.Contains(op.Message, " found)") && !op.Found.Known() {
		texts = append(texts, fmt.Sprintf("what was found is not understood: %q", clip(op.Message)))
	}
	return texts
}

// oneOperation reports whether the benchmark consists of a single operation,
// such as compact: its figure is the time it took. db_bench counts one operation
// for benchmarks that count none.
func (op *OpLine) oneOperation() bool {
	if op.Operations.Known() {
		return op.Operations.Value <= 1
	}
	switch op.Name {
	case "compact", "verifychecksum", "verifyfilechecksums":
		return true
	}
	return op.OpsPerSec.Known() && op.OpsPerSec.Value == 0
}

// primary gives the metric that names the measurement and its figure as
// printed. It is the operations per second, but for lines that have none
// (LevelDB) and for benchmarks of one operation, where "0 ops/sec" says nothing.
func (op *OpLine) primary() (metric, text string) {
	if _, ok := op.wholeRate(); ok && !op.oneOperation() {
		return "qps", op.OpsPerSec.Text
	}
	return "usec_per_op", op.Micros.Text
}

// values gives the metrics of the line itself. A qps of 0 is left out: it would
// be a divisor and a fall of 100 %, and means neither.
func (op *OpLine) values() []bench.Value {
	values := make([]bench.Value, 0, 6+len(op.Perf))
	add := func(metric, source string, f Figure) {
		if f.Known() {
			values = append(values, bench.Value{Metric: metric, Number: f.Value, Resolution: f.Resolution(), SourceName: source})
		}
	}
	if v, ok := op.wholeRate(); ok {
		values = append(values, bench.Value{Metric: "qps", Number: v, Resolution: 1, SourceName: "ops/sec"})
	}
	add("mb_per_s", "MB/s", op.MBPerSec)
	add("usec_per_op", "micros/op", op.Micros)
	add("elapsed_s", "seconds", op.Seconds)
	add("operations", "operations", op.Operations)
	if op.Read.Known() && op.Read.Value > 0 {
		values = append(values, bench.Value{Metric: "found_percent", Number: 100 * op.Found.Value / op.Read.Value,
			Resolution: 100 / op.Read.Value, SourceName: "found"})
	}
	for _, c := range op.Perf {
		values = append(values, bench.Value{Metric: "perf_" + c.Name, Number: c.Value, Resolution: 1, SourceName: c.Name})
	}
	return values
}

// nothingFound gives "0 of 10 found" where reads found no key at all, which is
// fast and measures nothing. readmissing looks for keys that are not there.
func (op *OpLine) nothingFound() string {
	if op.Found.Known() && op.Found.Value == 0 && op.Read.Value > 0 && op.Name != "readmissing" {
		return "0 of " + strconv.FormatFloat(op.Read.Value, 'f', -1, 64) + " found"
	}
	return ""
}
