package ingest

import (
	"bytes"
	"math"

	"github.com/relqps/relqps/internal/bench"
)

// OpHistogram is the distribution of one kind of operation's response times, in
// µs, as --histogram=1 prints it below an op-line:
//
//	Microseconds per read:
//	Count: 196998 Average: 40.6785  StdDev: 1264.72
//	Min: 1  Median: 3.9305  Max: 236791
//	Percentiles: P50: 3.93 P75: 5.49 P99: 103.68 P99.9: 9350.09 P99.99: 50682.27
//	------------------------------------------------------
//	(       1,       2 ]     4321   2.193%   2.193%
//
// The same lines stand in a stats dump for file reads by level; only what
// follows a "Microseconds per" heading is a response time. For multireadrandom
// one count is a batch of reads.
type OpHistogram struct {
	Operation string // read, write, seek, …; op up to 4.3
	Line      int
	Count     Figure
	Average   Figure
	StdDev    Figure
	Min       Figure
	Median    Figure
	Max       Figure
	P50       Figure
	P75       Figure
	P99       Figure
	P999      Figure
	P9999     Figure
	// Buckets hold the rows as printed; those without counts are not printed.
	Buckets []Bucket
}

// Bucket is a row of a histogram: Count values above Low and up to High. The
// first includes Low, and before 5.9.2 all include Low and not High. High is
// +Inf in the last bucket of all.
type Bucket struct {
	Low, High, Count float64
}

func (p *logParser) histogramHeading(rest []byte) bool {
	colon := bytes.IndexByte(rest, ':')
	if colon <= 0 || len(p.cur.Ops) == 0 {
		return false
	}
	op := &p.cur.Ops[len(p.cur.Ops)-1]
	if len(op.Histograms) == maxHistograms {
		return false
	}
	op.Histograms = append(op.Histograms, OpHistogram{Operation: string(rest[:colon]), Line: p.line})
	p.hist, p.section = &op.Histograms[len(op.Histograms)-1], sectionHistogram
	return true
}

// inHistogram reports whether the lines belong to any histogram, and whether to
// one that is kept.
func (p *logParser) inHistogram() (any, kept bool) {
	switch p.section {
	case sectionHistogram:
		return true, p.hist != nil
	case sectionOtherHist:
		return true, false
	}
	return false, false
}

func (p *logParser) histogramCount(s []byte) bool {
	any, kept := p.inHistogram()
	if !kept {
		return any
	}
	return labelled(s, "Count:", &p.hist.Count) && labelled(s, "Average:", &p.hist.Average) && labelled(s, "StdDev:", &p.hist.StdDev)
}

func (p *logParser) histogramMin(s []byte) bool {
	any, kept := p.inHistogram()
	if !kept {
		return any
	}
	return labelled(s, "Min:", &p.hist.Min) && labelled(s, "Median:", &p.hist.Median) && labelled(s, "Max:", &p.hist.Max)
}

func (p *logParser) histogramPercentiles(s []byte) bool {
	any, kept := p.inHistogram()
	if !kept {
		return any
	}
	h := p.hist
	return labelled(s, " P50:", &h.P50) && labelled(s, " P75:", &h.P75) && labelled(s, " P99:", &h.P99) &&
		labelled(s, " P99.9:", &h.P999) && labelled(s, " P99.99:", &h.P9999)
}

func labelled(s []byte, label string, to *Figure) bool {
	f, ok := newFigure(after(s, label))
	if ok {
		*to = f
	}
	return ok
}

// row reads one bucket.
func (h *OpHistogram) row(s []byte) bool {
	b, ok := histogramRow(s)
	if ok {
		h.Buckets = append(h.Buckets, b)
	}
	return ok
}

// histogramRow reads "(      34,      51 ]    13390  44.633%  45.140% #########",
// before 5.9.2 "[      34,      51 )  …".
func histogramRow(s []byte) (b Bucket, ok bool) {
	comma := bytes.IndexByte(s, ',')
	if comma < 0 {
		return b, false
	}
	if b.Low, ok = parseNumber(trimSpace(s[1:comma])); !ok {
		return b, false
	}
	word, rest := nextWord(s[comma+1:])
	if b.High, ok = parseNumber(word); !ok {
		return b, false
	}
	end, rest := nextWord(rest)
	if len(end) != 1 || end[0] != ']' && end[0] != ')' {
		return b, false
	}
	count, rest := nextWord(rest)
	if b.Count, ok = parseNumber(count); !ok || !(b.Count >= 0) {
		return b, false
	}
	percent, _ := nextWord(rest)
	if len(percent) == 0 || percent[len(percent)-1] != '%' {
		return b, false
	}
	return b, b.Low >= 0 && b.High > b.Low
}

// values gives the response-time metrics of the histogram.
func (h *OpHistogram) values() []bench.Value {
	var values []bench.Value
	if !h.Count.Known() || h.Count.Value <= 0 {
		return nil
	}
	for _, m := range []struct {
		metric, source string
		f              Figure
	}{
		{"p50", "P50", h.P50}, {"p75", "P75", h.P75}, {"p99", "P99", h.P99}, {"p99_9", "P99.9", h.P999}, {"p99_99", "P99.99", h.P9999},
		{"max", "Max", h.Max}, {"average", "Average", h.Average},
	} {
		if m.f.Known() {
			values = append(values, bench.Value{Metric: m.metric, Number: m.f.Value, Resolution: m.f.Resolution(), SourceName: m.source})
		}
	}
	return values
}

// distribution gives the histogram as buckets without gaps: what db_bench left
// out held nothing.
func (h *OpHistogram) distribution() (bench.Histogram, bool) {
	d := bench.Histogram{Operation: h.Operation, Unit: "µs"}
	if !h.Count.Known() || h.Count.Value <= 0 {
		return d, false
	}
	edge := 0.0
	for _, b := range h.Buckets {
		high := b.High
		if math.IsInf(high, 0) {
			if !h.Max.Known() || h.Max.Value <= b.Low {
				break
			}
			high = h.Max.Value
		}
		if b.Low < edge || high <= b.Low {
			break // rows of another histogram
		}
		if b.Low > edge {
			d.Bounds, d.Counts = append(d.Bounds, b.Low), append(d.Counts, 0)
		}
		d.Bounds, d.Counts = append(d.Bounds, high), append(d.Counts, b.Count)
		edge = high
	}
	known := func(f Figure) *float64 {
		if !f.Known() {
			return nil
		}
		v := f.Value
		return &v
	}
	d.Count, d.Min, d.Max, d.Average, d.StdDev = known(h.Count), known(h.Min), known(h.Max), known(h.Average), known(h.StdDev)
	return d, true
}
