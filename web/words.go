package web

import (
	"fmt"
	"math"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// Glyphs before ratios, so that colour never speaks alone.
const (
	glyphBetter    = "▲"
	glyphWorse     = "▼"
	glyphUndecided = "≈"
	glyphMoved     = "◆"
)

// glyph gives the sign of a verdict, "" for none.
func glyph(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return glyphBetter
	case compare.Worse:
		return glyphWorse
	case compare.Undecided:
		return glyphUndecided
	case compare.Moved:
		return glyphMoved
	}
	return ""
}

// verdictClass gives the class of a ratio's text, "" for no verdict.
func verdictClass(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "up"
	case compare.Worse:
		return "dn"
	case compare.Undecided:
		return "eq"
	case compare.Moved:
		return "mv"
	}
	return ""
}

// ratioText shows a point's relative value with its sign.
func ratioText(p compare.Point, d bench.Direction) string {
	if p.Relative == nil {
		return compare.Missing
	}
	return strings.TrimSpace(glyph(compare.Judge(p, d)) + " " + compare.FormatRatio(*p.Relative, p.Low, p.High))
}

// baseWord stands where the interval of the base itself would be: it has none.
const baseWord = "base"

// intervalText shows a point's interval.
func intervalText(p compare.Point) string {
	if p.Low != nil && p.High != nil && *p.Low == *p.High {
		return baseWord
	}
	return compare.FormatInterval(p.Low, p.High)
}

// unitSuffix gives what stands behind a figure: 233,175/s, 12.3 µs.
func unitSuffix(unit string) string {
	switch unit {
	case "1/s":
		return "/s"
	case "count", "ratio", "":
		return ""
	case "%":
		return "\u2009%"
	}
	return " " + unit
}

// directionText says which way of a metric is better.
func directionText(m bench.Metric) string {
	switch m.Direction {
	case bench.HigherBetter:
		return m.Title + ", higher is better ↑"
	case bench.LowerBetter:
		return m.Title + ", lower is better ↓"
	}
	return m.Title + ", neither way is better"
}

// valueHead is the head of a column of a metric's values: its title, with the
// unit where the title does not imply it.
func valueHead(m bench.Metric) string {
	switch m.Unit {
	case "1/s", "count", "ratio", "", m.Title:
		return m.Title
	}
	return m.Title + ", " + m.Unit
}

// noisePercent shows noise as a percentage: 1.0 %.
func noisePercent(sd float64) string {
	return strings.TrimPrefix(compare.FormatPercent(math.Exp(sd)), "+")
}

// baseText names a base: 4.4.1, gcc 4.4.1, gcc at each version.
func baseText(b compare.Base) string {
	var parts []string
	if b.Compiler != "" {
		parts = append(parts, compilerName(b.Compiler))
	}
	if b.Config != "" {
		parts = append(parts, b.Config)
	}
	switch {
	case b.Version != "":
		parts = append(parts, b.Version)
	case len(parts) > 0:
		parts = append(parts, "at each version")
	default:
		return "none"
	}
	return strings.Join(parts, " ")
}

// leadParts is the sentence above small multiples: how the newest version stands
// against the base, counted over charts with one line each. The script writes the
// same sentence for other bases (web/assets/src/words.ts).
func leadParts(base compare.Base, newest string, count map[compare.Verdict]int, total int) []view.Part {
	if total == 0 || base.Version == "" {
		return nil
	}
	if base.Version == newest {
		return []view.Part{{Text: newest + " is the base: everything is divided by it."}}
	}
	steps := func(n int) string {
		if total == 1 {
			return "the one step"
		}
		return fmt.Sprintf("%d of %d steps", n, total)
	}
	var head string
	var rest []string
	add := func(n int, word string) {
		switch {
		case n == 0:
		case head == "":
			head = fmt.Sprintf("%s %s in %s", newest, word, steps(n))
		default:
			rest = append(rest, fmt.Sprintf("%s in %d", strings.TrimPrefix(word, "is "), n))
		}
	}
	add(count[compare.Worse], "is worse")
	add(count[compare.Better], "is better")
	add(count[compare.Moved], "differs")
	add(count[compare.Undecided], "is undecided")
	if head == "" {
		return nil
	}
	parts := []view.Part{{Text: "Against " + baseText(base) + ", "}, {Text: head, Strong: true}}
	tail := "."
	if len(rest) > 0 {
		tail = ", " + strings.Join(rest, ", ") + "."
	}
	return append(parts, view.Part{Text: tail})
}

// textPart is a plain part of a sentence.
func textPart(text string) view.Part { return view.Part{Text: text} }
