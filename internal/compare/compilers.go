package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// CompilerComparison is builds against those of one compiler.
type CompilerComparison struct {
	Arms
	// Stability says how far the runs of each line scatter, in the order of Lines.
	Stability []Stability
	// Trends follow the gap between each other compiler and the base's over the
	// versions that both have, in the order of [Order].
	Trends []GapTrend
	// Moves are the gaps that moved beyond noise from one stretch of versions to a
	// later one, the clearest move of each, the clearest of all first.
	Moves []GapMove
}

// Stability is the noise of a line, from one run to the next.
type Stability struct {
	bench.Coordinate
	Versions int
	Noise    stats.Noise
}

// GapTrend is how the gap between a compiler and the base's went.
type GapTrend struct {
	bench.Coordinate        // of the other compiler
	Base             string // compiler
	Versions         int    // that both have
	// From is the oldest major version of these and FromRatio the geometric mean of
	// its ratios; To the newest version and ToRatio its own. All 0 and "" with fewer
	// than two versions or majors.
	From, To           string
	FromRatio, ToRatio float64
	// Change is ToRatio / FromRatio; Low and High its interval, nil when the noise is
	// unknown.
	Change    float64
	Low, High *float64
	Text      string // in words
}

// CompareCompilers divides builds by those of one compiler: of the same version,
// or all by one version of it. The base of the options names the compiler.
func CompareCompilers(series []bench.Series, opt Options) CompilerComparison {
	base := opt.Base.Compiler
	c := CompilerComparison{Arms: compareArms(series, AxisCompiler, opt)}
	same := c.Lines
	if opt.Base.Version != "" {
		opt.Base.Version = ""
		same = compareArms(series, AxisCompiler, opt).Lines
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		c.Stability = append(c.Stability, Stability{l.Coordinate, len(l.Points), l.Noise})
	}
	for i := range same {
		l := &same[i]
		want := l.Coordinate
		want.Compiler = base
		at := slices.IndexFunc(same, func(x Line) bool { return x.Coordinate == want && x.Metric.Name == l.Metric.Name })
		if l.Compiler == base || at < 0 {
			continue
		}
		if t, ok := trendOf(l, &same[at]); ok {
			c.Trends = append(c.Trends, t)
		}
		if m, ok := moveOf(l, &same[at]); ok {
			c.Moves = append(c.Moves, m)
		}
	}
	slices.SortStableFunc(c.Moves, func(a, b GapMove) int { return cmp.Compare(b.least(), a.least()) })
	return c
}

// gap is ln(other / base) at one version with its squared standard error.
type gap struct {
	version string
	log     float64
	se2     float64
	known   bool
}

// gapsOf gives the gap between two lines at every version that has both and may be
// compared.
func gapsOf(l, base *Line) []gap {
	var gaps []gap
	for i := range l.Points {
		p := &l.Points[i]
		b := base.at(p.Version)
		if b == nil || !p.HasLog || !b.HasLog || p.Flagged || b.Flagged {
			continue
		}
		gaps = append(gaps, gap{p.Version, p.Log - b.Log, p.SE2 + b.SE2, p.HasSE && b.HasSE})
	}
	return gaps
}

// trendOf follows the gap between two lines; ok is false where no version has both.
func trendOf(l, base *Line) (GapTrend, bool) {
	t := GapTrend{Coordinate: l.Coordinate, Base: base.Compiler}
	gaps := gapsOf(l, base)
	if t.Versions = len(gaps); t.Versions == 0 {
		return t, false
	}
	last := gaps[len(gaps)-1]
	major, numbered := bench.Major(gaps[0].version)
	name := gaps[0].version
	if numbered {
		name = strconv.Itoa(major) + ".x"
	}
	var first []gap
	for _, g := range gaps[:len(gaps)-1] {
		if m, ok := bench.Major(g.version); numbered && ok && m == major || g.version == gaps[0].version {
			first = append(first, g)
		}
	}
	if len(first) == 0 {
		t.Text = fmt.Sprintf("%s: %s at %s", l.Compiler, gapWords(math.Exp(last.log), base.Compiler, l.Metric), last.version)
		return t, true
	}
	from := gap{known: true}
	for _, g := range first {
		from.log += g.log / float64(len(first))
		from.se2 += g.se2 / float64(len(first)*len(first))
		from.known = from.known && g.known
	}
	t.From, t.To, t.FromRatio, t.ToRatio = name, last.version, math.Exp(from.log), math.Exp(last.log)
	t.Change = math.Exp(last.log - from.log)
	how := "noise unknown: whether it changed cannot be told"
	if half := max(l.Multiplier, base.Multiplier) * math.Sqrt(from.se2+last.se2); from.known && last.known && half > 0 {
		low, high := math.Exp(last.log-from.log-half), math.Exp(last.log-from.log+half)
		t.Low, t.High = &low, &high
		switch {
		case low <= 1 && high >= 1:
			how = "no change beyond noise"
		case math.Abs(last.log) >= math.Abs(from.log):
			how = "the gap grew"
		default:
			how = "the gap shrank"
		}
	}
	t.Text = fmt.Sprintf("%s: %s in %s, %s at %s: %s", l.Compiler, gapWords(t.FromRatio, base.Compiler, l.Metric), t.From,
		gapWords(t.ToRatio, "", l.Metric), t.To, how)
	return t, true
}

// gapWords says a ratio as a difference: 2.0 % slower than gcc. What is neither a
// rate nor a time is more or less.
func gapWords(ratio float64, than string, m bench.Metric) string {
	word := map[bool]string{true: "more", false: "less"}[ratio > 1]
	switch {
	case strings.HasSuffix(m.Unit, "/s"):
		word = map[bool]string{true: "faster", false: "slower"}[ratio > 1]
	case m.Unit == "s" || m.Unit == "µs" || m.Unit == "ns":
		word = map[bool]string{true: "slower", false: "faster"}[ratio > 1]
	}
	text := fmt.Sprintf("%.1f%s%% %s", 100*math.Abs(ratio-1), thinSpace, word)
	if than != "" {
		text += " than " + than
	}
	return text
}
