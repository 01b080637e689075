package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// GapMove is how the gap between a compiler and the base's moved from one stretch
// of versions to a later one: the clearest of all pairs of stretches. That there
// are many pairs to choose from is allowed for.
type GapMove struct {
	bench.Coordinate // of the other compiler
	Metric           bench.Metric
	Base             string // compiler
	// From and To name the stretches: a major version (9.x), or one version.
	From, To string
	// FromRatio and ToRatio are the geometric means of other / base over the
	// stretches, Change is ToRatio / FromRatio and Low to High its interval, which
	// does not hold 1.
	FromRatio, ToRatio, Change, Low, High float64
}

// least is the smallest |ln| of the change that its interval allows.
func (m GapMove) least() float64 {
	return math.Min(math.Abs(math.Log(m.Low)), math.Abs(math.Log(m.High)))
}

// stretch is a mean gap over versions.
type stretch struct {
	name     string
	from, to int // of the gaps
	log, se2 float64
	known    bool
}

// stretchesOf cuts gaps into majors, and adds the newest version by itself.
func stretchesOf(gaps []gap) []stretch {
	mean := func(name string, from, to int) stretch {
		s := stretch{name: name, from: from, to: to, known: true}
		n := float64(to - from)
		for _, g := range gaps[from:to] {
			s.log += g.log / n
			s.se2 += g.se2 / (n * n)
			s.known = s.known && g.known
		}
		return s
	}
	var out []stretch
	for i := 0; i < len(gaps); {
		major, ok := bench.Major(gaps[i].version)
		end := i + 1
		for ok && end < len(gaps) {
			if m, too := bench.Major(gaps[end].version); !too || m != major {
				break
			}
			end++
		}
		name := gaps[i].version
		if end-i > 1 {
			name = strconv.Itoa(major) + ".x"
		}
		out = append(out, mean(name, i, end))
		i = end
	}
	if n := len(gaps); n > 0 && out[len(out)-1].from < n-1 {
		out = append(out, mean(gaps[n-1].version, n-1, n))
	}
	return out
}

// moveOf finds the clearest move of the gap between two lines; ok is false where
// none is beyond noise.
func moveOf(l, base *Line) (best GapMove, ok bool) {
	stretches := stretchesOf(gapsOf(l, base))
	pairs := 0
	each := func(do func(a, b stretch)) {
		for j := range stretches {
			for i := range j {
				if a, b := stretches[i], stretches[j]; a.to <= b.from && a.known && b.known {
					do(a, b)
				}
			}
		}
	}
	each(func(_, _ stretch) { pairs++ })
	if pairs == 0 {
		return best, false
	}
	// So many pairs are looked at: each must hold at its share of the level.
	wider := math.Erfinv(1-(1-Level)/float64(pairs)) / math.Erfinv(Level)
	multiplier := max(l.Multiplier, base.Multiplier) * wider
	each(func(a, b stretch) {
		ln, half := b.log-a.log, multiplier*math.Sqrt(a.se2+b.se2)
		if half <= 0 || math.Abs(ln) <= half {
			return
		}
		m := GapMove{
			Coordinate: l.Coordinate, Metric: l.Metric, Base: base.Compiler, From: a.name, To: b.name, FromRatio: math.Exp(a.log), ToRatio: math.Exp(b.log),
			Change: math.Exp(ln), Low: math.Exp(ln - half), High: math.Exp(ln + half),
		}
		if !ok || m.least() > best.least() {
			best, ok = m, true
		}
	})
	return best, ok
}

// Text says the move in words: the gap between clang and gcc in fillseq grew from
// 2.0 % in 9.x to 20 % at 10.8.3.
func (m GapMove) Text() string {
	where := func(name string) string {
		if n := len(name); n > 2 && name[n-2:] == ".x" {
			return "in " + name
		}
		return "at " + name
	}
	a, b := math.Log(m.FromRatio), math.Log(m.ToRatio)
	other, base := compilerText(m.Compiler), compilerText(m.Base)
	if a*b < 0 && math.Abs(a) >= 0.005 && math.Abs(b) >= 0.005 {
		return fmt.Sprintf("%s went in %s from %s %s %s %s to %s %s %s", other, m.Step, AmountText(m.FromRatio), AheadWord(m.FromRatio, m.Metric.Direction), base, where(m.From),
			AmountText(m.ToRatio), strings.TrimSuffix(AheadWord(m.ToRatio, m.Metric.Direction), " of"), where(m.To))
	}
	verb := "grew"
	if math.Abs(b) < math.Abs(a) {
		verb = "shrank"
	}
	return fmt.Sprintf("the gap between %s and %s in %s %s from %s %s to %s %s", other, base, m.Step, verb, AmountText(m.FromRatio), where(m.From), AmountText(m.ToRatio), where(m.To))
}

// AmountText shows how far a ratio is from 1 in per cent, with one decimal below
// ten: 2.9 %, 14 %.
func AmountText(ratio float64) string {
	p, decimals := 100*math.Abs(ratio-1), 1
	if p >= 9.95 {
		decimals = 0
	}
	return strconv.FormatFloat(p, 'f', decimals, 64) + thinSpace + "%"
}

// AheadWord says on which side of 1 a ratio is: ahead of or behind where one way is
// better, else above or below.
func AheadWord(ratio float64, d bench.Direction) string {
	switch {
	case d == bench.Neutral && ratio > 1:
		return "above"
	case d == bench.Neutral:
		return "below"
	case (ratio > 1) == (d == bench.HigherBetter):
		return "ahead of"
	}
	return "behind"
}
