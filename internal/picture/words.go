package picture

import (
	"fmt"
	"math"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// The words of pictures are those of pages.

// glyph gives the sign of a verdict, so that colour never speaks alone.
func glyph(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "▲ "
	case compare.Worse:
		return "▼ "
	case compare.Undecided:
		return "≈ "
	case compare.Moved:
		return "◆ "
	}
	return ""
}

// unitSuffix gives what stands behind a figure: 233 K/s, 12.3 µs.
func unitSuffix(unit string) string {
	switch unit {
	case "1/s":
		return "/s"
	case "count", "ratio", "":
		return ""
	case "%":
		return string(thinSpace) + "%"
	}
	return " " + clean(unit)
}

// metricTitle names a metric.
func metricTitle(m bench.Metric) string {
	if t := clean(m.Title); t != "" {
		return t
	}
	return clean(m.Name)
}

// directionText says which way of a metric is better.
func directionText(m bench.Metric) string {
	switch m.Direction {
	case bench.HigherBetter:
		return metricTitle(m) + ", higher is better ↑"
	case bench.LowerBetter:
		return metricTitle(m) + ", lower is better ↓"
	}
	return metricTitle(m) + ", neither way is better"
}

// baseText names a base: 4.4.1, gcc 4.4.1, gcc at each version.
func baseText(b compare.Base) string {
	var parts []string
	for _, s := range []string{compilerName(b.Compiler), b.Config} {
		if s = clean(s); s != "" {
			parts = append(parts, s)
		}
	}
	switch {
	case b.Version != "":
		parts = append(parts, clean(b.Version))
	case len(parts) > 0:
		parts = append(parts, "at each version")
	default:
		return "none"
	}
	return strings.Join(parts, " ")
}

// baseValue gives the figure that lines were divided by, nil where none has one,
// and whether all that have one share it.
func baseValue(lines []line) (value *float64, same bool) {
	for _, l := range lines {
		switch v := l.BaseValue; {
		case v == nil || !finite(*v):
		case value == nil:
			value = v
		case math.Abs(*v-*value) > 1e-9*math.Abs(*value):
			return value, false
		}
	}
	return value, true
}

// oneText says what 1.00 stands for in a chart: 1.00 = 2.07 M/s at 4.4.1; "" where
// there is no base.
func oneText(lines []line, b compare.Base, m bench.Metric) string {
	value, same := baseValue(lines)
	switch {
	case b == compare.Base{}:
		return ""
	case b.Version == "":
		return "1.00 = " + baseText(b)
	case !same:
		return "1.00 = each its own " + baseText(b)
	case value == nil:
		return ""
	}
	return "1.00 = " + compare.FormatShort(*value) + unitSuffix(m.Unit) + " at " + baseText(b)
}

// countText says how many runs a point has: n = 1, n = 1–5.
func countText(charts []chart) string {
	least, most := 0, 0
	for _, c := range charts {
		for _, l := range c.lines {
			for _, d := range l.data {
				if most == 0 || d.N < least {
					least = d.N
				}
				most = max(most, d.N)
			}
		}
	}
	switch {
	case most == 0:
		return ""
	case least == most:
		return fmt.Sprintf("n = %d", most)
	}
	return fmt.Sprintf("n = %d–%d", least, most)
}

// verdictInk gives the colour of a text about a verdict.
func (t theme) verdictInk(v compare.Verdict) colour {
	switch v {
	case compare.Better:
		return t.betterInk
	case compare.Worse:
		return t.worseInk
	case compare.Moved:
		return t.ink
	}
	return t.ink2
}

// verdictMark gives the colour of a mark about a verdict.
func (t theme) verdictMark(v compare.Verdict) colour {
	switch v {
	case compare.Better:
		return t.better
	case compare.Worse:
		return t.worse
	case compare.Undecided:
		return t.undecided
	case compare.Moved:
		return t.ink
	}
	return t.ink2
}

// standing says how the last version of a line stands: 8.8.0 is ▼ 0.82 of 4.4.1
// (0.80–0.84).
func standing(l line, b compare.Base, t theme) []run {
	quiet := func(s string) run { return run{text: s, colour: t.ink2} }
	if len(l.data) == 0 {
		if why := clean(l.WhyNoBase); why != "" {
			return []run{quiet(why)}
		}
		if b == (compare.Base{}) {
			return []run{quiet("no base")}
		}
		return []run{quiet("nothing measured")}
	}
	d := l.data[len(l.data)-1]
	version := versionName(d.Version)
	if d.isBase() {
		return []run{quiet(version + " is the base")}
	}
	doubt := ", noise unknown"
	if d.Low != nil && d.High != nil {
		doubt = " (" + compare.FormatInterval(d.Low, d.High) + ")"
	}
	return []run{
		quiet(version + " is "),
		{text: glyph(d.verdict) + compare.FormatRatio(*d.Relative, d.Low, d.High), colour: t.verdictInk(d.verdict), bold: true},
		quiet(" of " + baseText(b) + doubt),
	}
}

// lead is the sentence above small multiples with one line each: how the newest
// version stands against the base, counted over charts; nil where there is
// nothing to say.
func lead(charts []chart, b compare.Base, newest string, t theme) []run {
	if b.Version == "" || b.Compiler != "" || b.Config != "" {
		return nil
	}
	count := map[compare.Verdict]int{}
	total := 0
	for _, c := range charts {
		if len(c.lines) != 1 {
			return nil
		}
		d := c.lines[0].data
		if len(d) == 0 || d[len(d)-1].Version != newest || d[len(d)-1].verdict == compare.NoVerdict {
			continue
		}
		count[d[len(d)-1].verdict]++
		total++
	}
	if total == 0 {
		return nil
	}
	name := versionName(newest)
	if bench.CompareVersions(b.Version, newest) == 0 {
		return []run{{text: name + " is the base: everything is divided by it.", colour: t.ink}}
	}
	steps := func(n int) string {
		if total == 1 {
			return "the one step"
		}
		return fmt.Sprintf("%d of %d steps", n, total)
	}
	var head string
	var rest []string
	for _, w := range []struct {
		verdict compare.Verdict
		word    string
	}{{compare.Worse, "is worse"}, {compare.Better, "is better"}, {compare.Moved, "differs"}, {compare.Undecided, "is undecided"}} {
		n := count[w.verdict]
		switch {
		case n == 0:
		case head == "":
			head = fmt.Sprintf("%s %s in %s", name, w.word, steps(n))
		default:
			rest = append(rest, fmt.Sprintf("%s in %d", strings.TrimPrefix(w.word, "is "), n))
		}
	}
	tail := "."
	if len(rest) > 0 {
		tail = ", " + strings.Join(rest, ", ") + "."
	}
	return []run{{text: "Against " + baseText(b) + ", ", colour: t.ink}, {text: head, colour: t.ink, bold: true}, {text: tail, colour: t.ink}}
}

// context says what all lines have in common: c2, cached, 8 clients, gcc.
func context(lines []compare.Line) string {
	if len(lines) == 0 {
		return ""
	}
	var parts []string
	for _, f := range []func(bench.Coordinate) string{
		func(c bench.Coordinate) string { return c.System },
		func(c bench.Coordinate) string { return c.Server },
		func(c bench.Coordinate) string { return c.Workload },
		func(c bench.Coordinate) string { return c.Suite },
		func(c bench.Coordinate) string { return clientsText(c.Clients) },
		func(c bench.Coordinate) string { return c.Config },
		func(c bench.Coordinate) string { return compilerName(c.Compiler) },
	} {
		first := f(lines[0].Coordinate)
		same := true
		for _, l := range lines {
			same = same && f(l.Coordinate) == first
		}
		if first = clean(first); same && first != "" {
			parts = append(parts, first)
		}
	}
	return strings.Join(parts, ", ")
}

// about describes a picture to those who do not see it.
func about(charts []chart, c compare.Comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Relative %s", metricTitle(c.Metric))
	if n := len(c.Versions); n > 0 {
		fmt.Fprintf(&b, " of %s to %s", versionName(c.Versions[0]), versionName(c.Versions[n-1]))
	}
	fmt.Fprintf(&b, ", base %s.", baseText(c.Base))
	for _, ch := range charts {
		fmt.Fprintf(&b, " %s:", ch.title)
		for i, l := range ch.lines {
			if i > 0 {
				b.WriteByte(';')
			}
			if l.name != "" {
				b.WriteString(" " + l.name)
			}
			if len(l.data) == 0 {
				b.WriteString(" not measured")
				continue
			}
			d := l.data[len(l.data)-1]
			fmt.Fprintf(&b, " %s is %s", versionName(d.Version), compare.FormatRatio(*d.Relative, d.Low, d.High))
		}
		b.WriteByte('.')
	}
	return b.String()
}
