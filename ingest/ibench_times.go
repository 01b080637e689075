package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Response times of the Insert Benchmark come in ten buckets, each holding what
// is not in those before it, and the longest one in seconds:
//
//	256us 1ms 4ms 16ms 64ms 256ms 1s 4s 16s gt max
//
// The client prints counts of statements, tables of many runs print percents
// with three decimals, "nonzero" for what is above 0 and rounds to 0.000. A page
// leaves cells of 0.000 empty.

// rtColumns are the columns before the tag.
var rtColumns = [...]string{"256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt", "max"}

// rtBuckets is the number of buckets.
const rtBuckets = len(rtColumns) - 1

// rtBounds are the upper bounds of the buckets in µs. The last bucket has none:
// it is closed by the next of the sequence, or by the longest response where that
// is longer, see [rtHistogram].
var rtBounds = [rtBuckets]float64{256, 1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6, 64e6}

// rtHistogram makes a distribution without figures. longest is in seconds.
func rtHistogram(op string, longest float64) bench.Histogram {
	us := longest * 1e6
	h := bench.Histogram{Operation: op, Unit: "µs", Bounds: append([]float64(nil), rtBounds[:]...), Max: &us}
	h.Bounds[rtBuckets-1] = math.Max(h.Bounds[rtBuckets-1], us)
	return h
}

// isTimesHeader reports whether a line is the header of a table of response times.
func isTimesHeader(cells []string) bool {
	if len(cells) != len(rtColumns)+1 || cells[len(rtColumns)] != "tag" {
		return false
	}
	for i, c := range rtColumns {
		if cells[i] != c {
			return false
		}
	}
	return true
}

func isIBenchTimes(in *input) bool { return isTimesHeader(firstIBenchLine(in.text)) }

// readPercents reads a row of percents. warning says what is odd about it, err
// why it cannot be read.
func readPercents(op string, cells []string) (h bench.Histogram, warning string, err error) {
	longest, _, ok := parseDecimal(cells[rtBuckets], 1)
	if !ok || longest < 0 {
		return h, "", bench.Errorf(bench.KindInvalid, "max: not a number of seconds: %q", clip(cells[rtBuckets]))
	}
	h = rtHistogram(op, longest)
	if us, _, ok := parseDecimal(cells[rtBuckets], 1e6); ok {
		*h.Max = us // one rounding less
	}
	sum, room := 0.0, 0.0
	for i, cell := range cells[:rtBuckets] {
		p, resolution, ok := 0.0, 0.0, true
		switch cell {
		case "":
		case "nonzero":
			p = bench.PercentNonzero
			room += 0.0005
		default:
			p, resolution, ok = parseDecimal(cell, 1)
			sum += p
			room += resolution / 2
		}
		if !ok || p < 0 || p > 100 {
			return h, "", bench.Errorf(bench.KindInvalid, "%s: not a percentage: %q", rtColumns[i], clip(cell))
		}
		h.Percents = append(h.Percents, p)
	}
	if math.Abs(sum-100) > room+1e-9 {
		warning = fmt.Sprintf("the shares of %s response times sum to %.3f %%", op, sum)
	}
	return h, warning, nil
}

// rtRow is a row of response times read, and what it belongs to.
type rtRow struct {
	bench.Result
	owner   *bench.Result
	run     *bench.Run // of a supplement
	repeats bool
}

// readTimes reads the tables of response times of a file and gives each row to
// the result it belongs to. Rows without one in the upload become supplements,
// which a store finds the result for.
func (r *ibenchReport) readTimes(in *input) {
	problems := problemList{file: in.path}
	var rows []rtRow
	out := r.outs[in]
	for i := range r.parts[in].times {
		t := &r.parts[in].times[i]
		step, role, err := ibenchStep(t.step)
		if err != nil || t.op == "" {
			problems.add(t.line, "nothing says of which step and operation the response times are: the name should be mrg.<step>.rt.<insert, delete or query> (mrg.l.i1.rt.insert)")
			continue
		}
		lines := map[string]int{} // of labels
		for k := range t.rows {
			row := &t.rows[k]
			if isNone(row.cells[:rtBuckets]) {
				out.messages = appendBounded(out.messages, bench.Message{File: in.path, Line: row.line, Text: "no response was counted"})
				continue
			}
			tag, ok := parseIBenchTag(row.tag())
			if !ok {
				problems.add(row.line, "not a tag (<dbms>.<config>): %q", clip(row.tag()))
				continue
			}
			h, warning, err := readPercents(t.op, row.cells)
			if err != nil {
				problems.add(row.line, "%v", err)
				continue
			}
			label := r.label(t.step, &tag)
			if first, twice := lines[label]; twice {
				problems.add(row.line, "the run %s stands in line %d already", tag.name(), first)
				continue
			}
			lines[label] = row.line
			x := rtRow{repeats: t.repeats, Result: bench.Result{
				Step: step, Role: role, State: bench.StateOK, Origin: bench.OriginMeasured, Text: label, Supplement: true,
				Histograms: []bench.Histogram{h}, Sources: []bench.Source{{File: in.path, Line: row.line}},
			}}
			if warning != "" {
				x.Warnings = []bench.Message{{File: in.path, Line: row.line, Text: warning}}
			}
			switch owners := r.owners(&tag, label); len(owners) {
			case 1:
				x.owner = owners[0]
			case 0:
				run, err := r.runOf(in, &tag, row.line)
				if err != nil {
					problems.add(row.line, "%v", err)
					continue
				}
				x.run = &run
			default:
				problems.add(row.line, "%d rows of %s in this upload are called %s: nothing says which of them these response times belong to", len(owners), t.step, tag.name())
				continue
			}
			rows = append(rows, x)
		}
	}
	if len(problems.messages) > 0 {
		r.refuse(in, problems.messages...)
		return
	}
	for i := range rows {
		x := &rows[i]
		if x.owner != nil {
			x.join()
		} else if !x.repeats {
			x.run.Results = []bench.Result{x.Result}
			out.runs = append(out.runs, *x.run)
		}
	}
	r.outs[in] = out
}

// isNone reports whether a row's shares are of nothing: 0 over 0.
func isNone(cells []string) bool {
	for _, c := range cells {
		if c != "nan" && c != "-nan" && c != "NA" {
			return false
		}
	}
	return true
}

// join adds a row to the result it belongs to.
func (x *rtRow) join() {
	h := x.Histograms[0]
	for _, known := range x.owner.Histograms {
		if known.Operation != h.Operation {
			continue
		}
		same := slices.Equal(known.Percents, h.Percents) && *known.Max == *h.Max
		if !same {
			x.owner.Warnings = append(x.owner.Warnings, bench.Message{File: x.Sources[0].File, Line: x.Sources[0].Line,
				Text: fmt.Sprintf("other %s response times here than in another table of the same run; those are kept", h.Operation)})
		}
		if !x.repeats {
			x.owner.Sources = append(x.owner.Sources, x.Sources...)
		}
		return
	}
	x.owner.Histograms = append(x.owner.Histograms, h)
	x.owner.Sources = append(x.owner.Sources, x.Sources...)
	x.owner.Warnings = append(x.owner.Warnings, x.Warnings...)
}

// owners gives the results of the report with a label, of all runs of a tag: the
// tags of response times do not say how many rows were loaded, those of metrics
// may.
func (r *ibenchReport) owners(tag *ibenchTag, label string) (owners []*bench.Result) {
	for _, run := range r.runs {
		if run.tag.name() != tag.name() || tag.rows != "" && run.tag.rows != "" && tag.rows != run.tag.rows {
			continue
		}
		for _, i := range run.byLabel[label] {
			owners = append(owners, &run.run.Results[i])
		}
	}
	return owners
}

// clientTimes is the two lines of response times that a client prints, summed
// over clients.
type clientTimes struct {
	counts  [rtBuckets]float64
	longest float64 // µs
	clients int
}

// parseClientTimes reads the counts of a line after its label: ten counts and the
// longest in seconds.
func parseClientTimes(rest []byte) (t clientTimes, ok bool) {
	for i := range t.counts {
		var word []byte
		word, rest = nextWord(rest)
		n, isCount := parseCount(word)
		if !isCount || n > 1<<53 {
			return t, false
		}
		t.counts[i] = float64(n)
	}
	word, rest := nextWord(rest)
	longest, _, ok := parseDecimal(string(word), 1e6)
	t.longest, t.clients = longest, 1
	return t, ok && longest >= 0 && len(trimSpace(rest)) == 0
}

// add joins another client's response times.
func (t *clientTimes) add(o clientTimes) {
	for i := range t.counts {
		t.counts[i] += o.counts[i]
	}
	t.longest = math.Max(t.longest, o.longest)
	t.clients += o.clients
}

// histogram gives the distribution, ok is false where nothing was counted.
func (t *clientTimes) histogram(op string) (h bench.Histogram, ok bool) {
	total := 0.0
	for _, n := range t.counts {
		total += n
	}
	if total == 0 {
		return h, false
	}
	h = rtHistogram(op, 0)
	*h.Max = t.longest
	h.Bounds[rtBuckets-1] = math.Max(rtBounds[rtBuckets-1], t.longest)
	h.Counts, h.Count = append([]float64(nil), t.counts[:]...), &total
	return h, true
}

// isClientTimes reports whether the tags of a table are those of one step's
// clients (t1:DBMS, sum:DBMS, pct:DBMS), not of runs.
func isClientTimes(text []byte) bool {
	l := newLines(text)
	for seen := 0; seen < 20; seen++ {
		line, _, ok := l.next()
		if !ok || len(line) > maxLine {
			return false
		}
		cells := ibenchCells(strings.TrimSpace(string(line)))
		if isTimesHeader(cells) || len(cells) < len(rtColumns) {
			continue
		}
		kind, _, found := strings.Cut(cells[len(cells)-1], ":")
		return found && (kind == "sum" || kind == "pct" || len(kind) > 1 && kind[0] == 't' && strings.Trim(kind[1:], "0123456789") == "")
	}
	return false
}
