package web

import (
	"fmt"
	"math"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// The plot of a sweep: a figure over the values of an option, drawn here so that it
// needs no script. Doublings of a number are equal steps apart.
const (
	sweepWidth, sweepHeight = 560.0, 232.0
	sweepLeft, sweepRight   = 62.0, 24.0
	sweepTop, sweepBottom   = 14.0, 34.0
	sweepSpan               = 0.1 // least part of its figures that a scale shows
)

// sweepDot is a figure of a plot.
type sweepDot struct {
	value     float64
	low, high float64 // its interval, equal where it is unknown
	verdict   compare.Verdict
	one, best bool // one run; the best
	ok        bool
}

// sweepPlaces gives the place of each arm between 0 and 1: numbers by their
// logarithm to base 2 where all are above 0, else as they are; an arm that does not
// set the option stands a step before the first.
func sweepPlaces(s *compare.Sweep) []float64 {
	n := len(s.Arms)
	at := make([]float64, n)
	first := 0
	logs := true
	for i := range s.Arms {
		if !s.Arms[i].Set {
			first = i + 1
			continue
		}
		logs = logs && s.Arms[i].Number > 0
	}
	for i := first; i < n; i++ {
		at[i] = s.Arms[i].Number
		if logs {
			at[i] = math.Log2(at[i])
		}
	}
	step := 1.0
	for i := first + 1; i < n; i++ {
		if d := at[i] - at[i-1]; i == first+1 || d < step {
			step = d
		}
	}
	for i := range first {
		if first < n {
			at[i] = at[first] - step*float64(first-i)
		}
	}
	low, high := at[0], at[n-1]
	for i := range at {
		if high > low {
			at[i] = (at[i] - low) / (high - low)
		} else {
			at[i] = 0.5
		}
	}
	return at
}

// ticksOf gives round figures that span a range, about four.
func ticksOf(low, high float64) []float64 {
	if !(high > low) {
		high, low = high+math.Max(math.Abs(high), 1)*0.05, low-math.Max(math.Abs(low), 1)*0.05
	}
	raw := (high - low) / 4
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	step := unit
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if step = m * unit; step >= raw {
			break
		}
	}
	var out []float64
	for k := math.Floor(low / step); k*step < high+step*0.999; k++ {
		out = append(out, k*step)
	}
	return out
}

// drawSweep draws the figures of arms. label writes a figure of the scale.
func drawSweep(s *compare.Sweep, dots []sweepDot, title, unit, text string, label func(float64) string) (view.SweepPlot, bool) {
	p := view.SweepPlot{Title: title, Unit: unit, Label: text, Width: pixels(sweepWidth), Height: pixels(sweepHeight)}
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for _, d := range dots {
		if d.ok {
			low, high, n = math.Min(low, math.Min(d.value, d.low)), math.Max(high, math.Max(d.value, d.high)), n+1
		}
	}
	if n < 2 {
		return p, false
	}
	// A scale that shows less than a tenth of its figures is a scale of noise.
	if middle := (low + high) / 2; high-low < sweepSpan*math.Abs(middle) {
		low, high = middle-sweepSpan/2*math.Abs(middle), middle+sweepSpan/2*math.Abs(middle)
	}
	ticks := ticksOf(low, high)
	bottom, top := ticks[0], ticks[len(ticks)-1]
	y := func(v float64) float64 {
		return sweepHeight - sweepBottom - (v-bottom)/(top-bottom)*(sweepHeight-sweepTop-sweepBottom)
	}
	places := sweepPlaces(s)
	x := func(i int) float64 {
		const inset = 24
		return sweepLeft + inset + places[i]*(sweepWidth-sweepLeft-sweepRight-2*inset)
	}
	p.Left, p.Right, p.Floor = pixels(sweepLeft), pixels(sweepWidth-sweepRight), pixels(sweepHeight-sweepBottom)
	for _, t := range ticks {
		p.Ticks = append(p.Ticks, view.PlotTick{At: pixels(y(t)), Text: pixels(y(t) + 4), Label: label(t)})
	}
	var path strings.Builder
	last := math.Inf(-1)
	for i, d := range dots {
		tick := view.PlotTick{At: pixels(x(i)), Label: s.Arms[i].Label(s.Option)}
		if x(i)-last < 44 {
			tick.Label = "" // no room: the table names it
		} else {
			last = x(i)
		}
		p.Steps = append(p.Steps, tick)
		if !d.ok {
			continue
		}
		if path.Len() == 0 {
			fmt.Fprintf(&path, "M%s %s", pixels(x(i)), pixels(y(d.value)))
		} else {
			fmt.Fprintf(&path, "L%s %s", pixels(x(i)), pixels(y(d.value)))
		}
		dot := view.SweepDot{X: pixels(x(i)), Y: pixels(y(d.value)), Hollow: d.one, Colour: "--ink", Best: d.best, Title: s.Arms[i].Label(s.Option) + ": " + label(d.value)}
		if d.verdict != compare.NoVerdict {
			dot.Colour = verdictToken(d.verdict)
		}
		if d.high > d.low {
			dot.From, dot.To = pixels(y(d.low)), pixels(y(d.high))
		}
		if d.best {
			dot.BestAt = pixels(y(d.value) + 18)
			if y(d.value) > sweepHeight-sweepBottom-24 {
				dot.BestAt = pixels(y(d.value) - 10)
			}
		}
		p.Dots = append(p.Dots, dot)
	}
	p.Path = path.String()
	return p, true
}

// rowPlot draws a row of a sweep.
func rowPlot(c *compare.SweepComparison, r *compare.SweepRow) (view.SweepPlot, bool) {
	var dots []sweepDot
	base := r.Cell(r.Base)
	for i := range r.Cells {
		x := &r.Cells[i]
		if x.Point == nil {
			dots = append(dots, sweepDot{})
			continue
		}
		d := sweepDot{value: x.Value, low: x.Value, high: x.Value, verdict: x.Verdict, one: x.N == 1, best: x.Arm == r.Best, ok: true}
		if x.Arm == r.Base {
			d.verdict = compare.NoVerdict // 1.00 by definition
		}
		// The interval of the ratio, laid around the value: the base has none.
		if x.Low != nil && x.High != nil && base != nil {
			d.low, d.high = *x.Low*base.Value, *x.High*base.Value
		}
		dots = append(dots, d)
	}
	_, unit := compare.FormatIn(r.Metric, 1)
	label := scaleLabel(r.Metric)
	title := r.Step
	if len(c.Versions) > 1 {
		title += " " + r.Version
	}
	return drawSweep(&c.Sweep, dots, title, directionHead(r.Metric, unit), fmt.Sprintf("%s over %s at %s; the figures stand in the table", r.Metric.Title, c.Sweep.Option, title), label)
}

// splitPlot draws a bucket of a split.
func splitPlot(c *compare.SweepComparison, x compare.SweepSplit, r compare.SplitRow) (view.SweepPlot, bool) {
	m, _ := bench.LookupMetric(x.Metric)
	m.Unit = x.Unit
	var dots []sweepDot
	for i, cell := range r.Cells {
		dots = append(dots, sweepDot{value: cell.Value, low: cell.Value, high: cell.Value, one: true, best: c.Sweep.Arms[i].Name() == r.Best, ok: cell.OK})
	}
	_, unit := compare.FormatIn(m, 1)
	key := strings.ReplaceAll(x.Key, "_", " ")
	return drawSweep(&c.Sweep, dots, key+" "+r.Bucket, directionHead(m, unit), fmt.Sprintf("%s of %s %s over %s; the figures stand in the table", m.Title, key, r.Bucket, c.Sweep.Option), scaleLabel(m))
}

// directionHead names a scale: observed latency, µs, lower is better ↓.
func directionHead(m bench.Metric, unit string) string {
	if unit = strings.TrimSpace(unit); unit == "" || unit == "/s" {
		return directionText(m)
	}
	m.Title += ", " + unit
	return directionText(m)
}

// scaleLabel writes the figures of a scale, short.
func scaleLabel(m bench.Metric) func(float64) string {
	if m.Unit == "ns" {
		return func(v float64) string { return compare.FormatFull(math.Round(v) / 1000) }
	}
	return func(v float64) string {
		if math.Abs(v) >= 10_000 {
			return compare.FormatShort(v)
		}
		return compare.FormatFull(math.Round(v*1e6) / 1e6)
	}
}
