package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
)

// FormatFigure shows a figure with its unit for people: 516.923 µs of 516923 ns,
// 18,970/s.
func FormatFigure(m bench.Metric, v float64) string {
	text, unit := FormatIn(m, v)
	switch unit {
	case "":
		return text
	case "/s", thinSpace + "%":
		return text + unit
	}
	return text + " " + unit
}

// FormatIn shows a figure and names the unit that it is shown in: nanoseconds are
// shown in microseconds, with all their digits.
func FormatIn(m bench.Metric, v float64) (text, unit string) {
	switch m.Unit {
	case "ns":
		whole, fraction := math.Modf(math.Round(v) / 1000)
		return FormatFull(whole) + strconv.FormatFloat(math.Abs(fraction), 'f', 3, 64)[1:], "µs"
	case "1/s":
		return FormatFull(v), "/s"
	case "count", "ratio":
		return FormatFull(v), ""
	case "%":
		return FormatFull(v), thinSpace + "%"
	}
	return FormatFull(v), m.Unit
}

// sweepSentences is how many rows are each told in a sentence; of more, a sentence
// counts.
const sweepSentences = 3

// FormatSwept shows the ratio of a sweep: with three decimals, for neighbouring
// values often differ by a few percent.
func FormatSwept(ratio float64) string { return strconv.FormatFloat(ratio, 'f', 3, 64) }

// Summary says in sentences what the sweep comes to: the best value of each row,
// how far the others are from it, and how sure that is.
func (c *SweepComparison) Summary() []string {
	var out []string
	option := c.Sweep.Option.String()
	label := func(name string) string { return c.Sweep.Arm(name).Label(c.Sweep.Option) }
	known, repeated, ranked, flagged := false, false, 0, 0
	most := map[string]int{}
	for i := range c.Rows {
		r := &c.Rows[i]
		known = known || r.Known()
		repeated = repeated || slices.ContainsFunc(r.Cells, func(x ArmCell) bool { return x.Point != nil && x.N > 1 })
		flagged += map[bool]int{true: 1}[slices.ContainsFunc(r.Cells, func(x ArmCell) bool { return x.Point != nil && x.Flagged })]
		if r.Best == "" {
			continue
		}
		ranked++
		most[r.Best]++
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Best == "" || len(c.Rows) > sweepSentences {
			continue
		}
		best := r.Cell(r.Best)
		var others []string
		for j := range r.Cells {
			x := &r.Cells[j]
			if x.Point == nil || x.Arm == r.Best || x.Flagged || best.Value == 0 {
				continue
			}
			others = append(others, fmt.Sprintf("%s %s", label(x.Arm), FormatSwept(x.Value/best.Value)))
		}
		text := fmt.Sprintf("%s of %s is best at %s: %s %s", option, label(r.Best), c.place(r), r.Metric.Title, FormatFigure(r.Metric, best.Value))
		if len(others) > 0 {
			text += "; " + words(others) + " of it"
		}
		out = append(out, text+".")
		if len(r.Alike) > 0 {
			var names []string
			for _, n := range r.Alike {
				names = append(names, label(n))
			}
			out = append(out, fmt.Sprintf("%s cannot be told from it.", words(names)))
		}
	}
	if len(c.Rows) > sweepSentences && ranked > 0 {
		var counts []string
		for i := range c.Sweep.Arms {
			if n := c.Sweep.Arms[i].Name(); most[n] > 0 {
				counts = append(counts, fmt.Sprintf("%s in %d", label(n), most[n]))
			}
		}
		text := fmt.Sprintf("%s: the best value is %s of %s", option, words(counts), countOf(ranked, "row", "rows"))
		if far := c.farthest(); far != "" {
			text += "; farthest from its best is " + far
		}
		out = append(out, text+".")
	}
	switch {
	case known || ranked == 0:
	case repeated:
		out = append(out, "Too few repeats: no interval can be given, and small differences may be noise.")
	default:
		out = append(out, "One run per value: no interval can be given, and small differences may be noise.")
	}
	switch {
	case flagged > 0 && ranked == 0:
		out = append(out, fmt.Sprintf("No value of %s is called best: the figures must not be compared, see the warnings of the runs.", option))
	case flagged > 0:
		out = append(out, fmt.Sprintf("%s must not be compared, see the warnings of the runs: none of them is called best.", countOf(flagged, "row has figures that", "rows have figures that")))
	}
	return out
}

// farthest names the figure that is farthest from the best of its row.
func (c *SweepComparison) farthest() string {
	most, text := 0.0, ""
	for i := range c.Rows {
		r := &c.Rows[i]
		best := r.Cell(r.Best)
		if r.Best == "" || !best.HasLog {
			continue
		}
		for j := range r.Cells {
			x := &r.Cells[j]
			if x.Point == nil || x.Flagged || !x.HasLog {
				continue
			}
			if far := math.Abs(math.Log(x.Value / best.Value)); far > most {
				most, text = far, fmt.Sprintf("%s at %s, %s of it", c.Sweep.Arm(x.Arm).Label(c.Sweep.Option), c.place(r), FormatSwept(x.Value/best.Value))
			}
		}
	}
	return text
}

// place names a row among the others.
func (c *SweepComparison) place(r *SweepRow) string {
	rows := make([]ArmRow, len(c.Rows))
	for i := range c.Rows {
		rows[i] = c.Rows[i].ArmRow
	}
	return rowPlace(&r.ArmRow, rows)
}
