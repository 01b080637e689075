package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// spreads compares the response times of the runs shown, a part per operation.
func (in stepsInput) spreads() []view.Spread {
	var operations []string
	for _, d := range in.Distributions {
		if d.Step == in.Resolved.Step {
			operations = appendNew(operations, d.Operation)
		}
	}
	decisive := "query"
	if bench.PrimaryMetric(in.Resolved.Suite, in.Resolved.Step) == "ips" {
		decisive = "insert"
	}
	slices.SortStableFunc(operations, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == decisive:
			return -1
		case b == decisive:
			return 1
		}
		return strings.Compare(a, b)
	})
	var out []view.Spread
	for _, op := range operations {
		list := make([]*bench.Histogram, len(in.Arms))
		for i := range in.Distributions {
			d := &in.Distributions[i]
			arm := slices.Index(in.Shown, d.RunID)
			if d.Step == in.Resolved.Step && d.Operation == op && arm >= 0 && list[arm] == nil {
				list[arm] = &d.Histogram
			}
		}
		s := compare.CompareSpreads(op, list, in.Base)
		if len(s.Ranges) == 0 {
			continue
		}
		out = append(out, in.spread(s))
	}
	return out
}

func (in stepsInput) spread(s compare.Spread) view.Spread {
	what := map[string]string{"": "an operation", "op": "an operation", "insert": "an insert", "query": "a query", "delete": "a delete", "read": "a read", "write": "a write", "seek": "a seek"}[s.Operation]
	if what == "" {
		what = s.Operation
	}
	return view.Spread{
		Title: "How long " + what + " takes",
		What:  "of the newest run of each",
		Bars:  in.spreadBars(s), Curve: in.spreadCurve(s), Table: in.spreadTable(s),
	}
}

// durationText words a time in µs: 4 ms, 256 µs, 1 s.
func durationText(unit string, v float64) string {
	switch {
	case unit != "µs":
		return strings.TrimSpace(compare.FormatFull(v) + " " + unit)
	case v >= 1e6:
		return compare.FormatFull(roundTo(v/1e6, 3)) + " s"
	case v >= 1e3:
		return compare.FormatFull(roundTo(v/1e3, 3)) + " ms"
	}
	return compare.FormatFull(roundTo(v, 3)) + " µs"
}

// rangeText words a range of times: ≤ 4 ms, 4–16 ms, > 64 ms.
func rangeText(unit string, r compare.SpreadRange) string {
	to := durationText(unit, r.To)
	switch {
	case math.IsInf(r.To, 0):
		return "> " + durationText(unit, r.From)
	case r.From <= 0:
		return "≤ " + to
	}
	from := durationText(unit, r.From)
	a, unitA, _ := strings.Cut(from, " ")
	if _, unitB, _ := strings.Cut(to, " "); unitA == unitB {
		from = a
	}
	return from + "–" + to
}

// responsePart shows a share in percent.
func responsePart(percent float64) string {
	switch {
	case percent == 0:
		return "0"
	case percent == bench.PercentNonzero:
		return "nonzero"
	case percent < 0.0005:
		return "<\u20090.001"
	}
	return strconv.FormatFloat(percent, 'f', 3, 64)
}

// spreadDecades are the powers of ten that shares are drawn over: 0.001 to 100 %.
const spreadDecades = 5

// shareWidth places a share on the scale, as a percentage of the width; "" where
// it is nothing. The least that shows is a sliver.
func shareWidth(percent float64) string {
	if percent <= 0 {
		return ""
	}
	at := (math.Log10(percent) + 3) / spreadDecades * 100
	return strconv.FormatFloat(math.Max(0.5, math.Min(100, at)), 'f', 2, 64) + "%"
}

// decadeText names a power of ten.
func decadeText(power int) string {
	return strconv.FormatFloat(math.Pow10(power), 'f', max(0, -power), 64)
}

func anchor(i, last int) string {
	switch i {
	case 0:
		return "start"
	case last:
		return "end"
	}
	return "middle"
}

func (in stepsInput) spreadBars(s compare.Spread) view.SpreadBars {
	named := len(in.Arms) <= 3
	thick, gap := 5.0, 1.0
	if named {
		thick, gap = 11, 3
	}
	var b view.SpreadBars
	y := 4.0
	var words []string
	for k, r := range s.Ranges {
		row := view.SpreadRow{Text: rangeText(s.Unit, r)}
		top := y
		for i, a := range s.Arms {
			if !a.Known {
				continue
			}
			c := a.Cells[k]
			bar := view.SpreadBar{
				Y: pixels(y), Height: pixels(thick), Width: shareWidth(c.Percent), Colour: chart.LineStyle(i).Colour,
				Title: fmt.Sprintf("%s, %s: %s %%", in.Names[i], row.Text, responsePart(c.Percent)),
			}
			if named && c.Percent < 30 { // else there is no room behind it
				bar.Name, bar.NameY = in.Names[i]+" "+responsePart(c.Percent), pixels(y+thick-1)
			}
			row.Bars = append(row.Bars, bar)
			words = append(words, fmt.Sprintf("%s %s %s %%", row.Text, in.Names[i], responsePart(c.Percent)))
			y += thick + gap
		}
		y = math.Max(y, top+16)
		row.Y = pixels((top + y - gap + 8) / 2)
		y += 8
		b.Rows = append(b.Rows, row)
	}
	b.Foot, b.Height = pixels(y), pixels(y+20)
	b.Label = "Share of responses by range: " + strings.Join(words, "; ")
	for i := 0; i <= spreadDecades; i++ {
		b.Ticks = append(b.Ticks, view.SpreadTick{At: strconv.Itoa(100*i/spreadDecades) + "%", Text: decadeText(i - 3), Anchor: anchor(i, spreadDecades)})
	}
	return b
}

func (in stepsInput) spreadCurve(s compare.Spread) view.SpreadCurve {
	lowX, highX, floor := math.Inf(1), 0.0, 100.0
	for _, a := range s.Arms {
		for _, p := range a.Curve {
			lowX, highX = math.Min(lowX, p.X), math.Max(highX, p.X)
			floor = math.Min(floor, p.Slower)
		}
	}
	c := view.SpreadCurve{Label: "Share of responses that are slower than a time, by run; the table below has the figures"}
	if !(lowX < highX) || floor <= 0 {
		return c
	}
	fromX, toX := math.Log10(lowX), math.Log10(highX)
	bottom := math.Max(-7, math.Floor(math.Log10(floor)))
	if bottom > 1 {
		bottom = 1
	}
	x := func(v float64) float64 { return (math.Log10(v) - fromX) / (toX - fromX) }
	y := func(v float64) float64 { return (2 - math.Max(bottom, math.Log10(v))) / (2 - bottom) }
	part := func(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) + "%" }
	for p := 2; p >= int(bottom); p-- {
		c.Y = append(c.Y, view.SpreadTick{At: part(y(math.Pow10(p))), Text: decadeText(p)})
	}
	for p := int(math.Ceil(fromX)); p <= int(math.Floor(toX)); p++ {
		at := x(math.Pow10(p))
		t := view.SpreadTick{At: part(at), Text: durationText(s.Unit, math.Pow10(p)), Anchor: "middle"}
		switch {
		case at < 0.03:
			t.Anchor = "start"
		case at > 0.97:
			t.Anchor = "end"
		}
		c.X = append(c.X, t)
	}
	for i, a := range s.Arms {
		if len(a.Curve) < 2 {
			continue
		}
		style := chart.LineStyle(i)
		var path strings.Builder
		for k, p := range a.Curve {
			op := "L"
			if k == 0 {
				op = "M"
			}
			path.WriteString(op + pixels(1000*x(p.X)) + " " + pixels(1000*y(p.Slower)))
		}
		c.Curves = append(c.Curves, view.SpreadLine{Path: path.String(), Colour: style.Colour, Dash: dashes(style.Dash), Title: in.Names[i]})
	}
	return c
}

// spreadTable has ranges as rows and arms as columns.
func (in stepsInput) spreadTable(s compare.Spread) view.StepsTable {
	t := view.StepsTable{Ratios: len(in.Arms) > 1}
	for i, name := range in.Names {
		t.Heads = append(t.Heads, view.StepsHead{Title: name, About: word(i == in.Base, "the base; share in %", "share in %, and times the base's")})
	}
	none := view.StepsCell{Text: compare.Missing, Title: "no distribution stored"}
	for k, r := range s.Ranges {
		row := view.StepsRow{Name: rangeText(s.Unit, r)}
		for i, a := range s.Arms {
			if !a.Known {
				row.Cells = append(row.Cells, none)
				continue
			}
			c := a.Cells[k]
			cell := view.StepsCell{Text: responsePart(c.Percent), Full: compare.FormatFull(c.Percent) + " %"}
			if i != in.Base && c.Ratio != nil && c.Percent > 0 {
				cell.Ratio = "×" + ratioShort(*c.Ratio)
			}
			if c.Worse && c.Percent > 0 {
				cell.Class = "dn"
				cell.Ratio = strings.TrimSpace(glyphWorse + " " + cell.Ratio)
				cell.Title = fmt.Sprintf("%s %%; %s %% are slower than %s, more than %d times the base's and over %g %%: a practical rule, not a test",
					compare.FormatFull(c.Percent), responsePart(c.Slower), durationText(s.Unit, r.From), compare.PracticalGrowth, compare.PracticalShare)
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	add := func(name string, of func(compare.SpreadArm) *float64, text func(float64) string, ratio bool) {
		row := view.StepsRow{Name: name}
		known := false
		var base *float64
		if b := s.Arms[in.Base]; b.Known {
			base = of(b)
		}
		for i, a := range s.Arms {
			v := of(a)
			if !a.Known || v == nil {
				row.Cells = append(row.Cells, view.StepsCell{Text: compare.Missing})
				continue
			}
			known = true
			cell := view.StepsCell{Text: text(*v)}
			if ratio && i != in.Base && base != nil && *base > 0 {
				cell.Ratio = "×" + ratioShort(*v / *base)
			}
			row.Cells = append(row.Cells, cell)
		}
		if known {
			t.Rows = append(t.Rows, row)
		}
	}
	add("slowest", func(a compare.SpreadArm) *float64 { return a.Max }, func(v float64) string { return durationText(s.Unit, v) }, true)
	add("responses", func(a compare.SpreadArm) *float64 { return a.Count }, compare.FormatFull, false)
	return t
}

// ratioShort shows how many times: 17, 1.75, 0.94.
func ratioShort(v float64) string {
	if v >= 10 {
		return compare.FormatFull(math.Round(v))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
