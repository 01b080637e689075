package compare

import (
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// Spread compares distributions of one operation's response times: how many of
// each arm's responses lie in each range.
type Spread struct {
	Operation, Unit string
	// Ranges follow each other without a gap, the fastest first.
	Ranges []SpreadRange
	Arms   []SpreadArm // in the order of the distributions
}

// SpreadRange is a range of response times: above From and up to To, which is
// infinite where the slowest were not bounded.
type SpreadRange struct {
	From, To float64
}

// SpreadArm is one arm's distribution. Known is false for an arm without one; the
// rest then says nothing.
type SpreadArm struct {
	Known bool
	Count *float64
	Max   *float64
	Cells []SpreadCell // one per range
	Curve []SpreadPoint
}

// SpreadCell is the part of an arm's responses in a range.
type SpreadCell struct {
	Percent float64
	// Slower is the share of responses slower than the range's lower end, in percent.
	Slower float64
	// Ratio is Percent by the base's; nil without a base and where that is 0.
	Ratio *float64
	// Worse is what the practical rule says of Slower, with the range's lower end in
	// the place of 4 ms: more than three times the base's and over 0.1 %.
	Worse bool
}

// SpreadPoint says which share of responses is slower than X, in percent.
type SpreadPoint struct {
	X, Slower float64
}

// spreadRanges bounds the ranges of a [Spread]: more cannot be read.
const spreadRanges = 14

// CompareSpreads compares distributions; nil stands for an arm that has none, base
// is the index of the base, -1 for none. Sources differ in their bounds, and some
// print only buckets with counts: ranges are parted where every arm's share is
// known, which it is at its bounds, within its empty buckets and outside of all.
// Where there are more than 14 of them, neighbours are taken together: the bounds
// kept are 2, 4, 10 … times the one before.
func CompareSpreads(operation string, list []*bench.Histogram, base int) Spread {
	s := Spread{Operation: operation, Arms: make([]SpreadArm, len(list))}
	var known []*bench.Histogram
	var cuts []float64
	for _, h := range list {
		if h == nil || !usable(*h) {
			continue
		}
		known = append(known, h)
		s.Unit = h.Unit
		for _, b := range h.Bounds {
			if !math.IsInf(b, 0) {
				cuts = append(cuts, b)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.DeleteFunc(slices.Compact(cuts), func(x float64) bool {
		return x <= 0 || slices.ContainsFunc(known, func(h *bench.Histogram) bool { _, ok := slower(*h, x); return !ok })
	})
	cuts = coarsen(trim(cuts, known))
	for i, c := range cuts {
		from := 0.0
		if i > 0 {
			from = cuts[i-1]
		}
		s.Ranges = append(s.Ranges, SpreadRange{from, c})
	}
	if n := len(cuts); len(known) > 0 && (n == 0 || slices.ContainsFunc(known, func(h *bench.Histogram) bool { over, _ := slower(*h, cuts[n-1]); return over > 0 })) {
		from := 0.0
		if n > 0 {
			from = cuts[n-1]
		}
		s.Ranges = append(s.Ranges, SpreadRange{from, math.Inf(1)})
	}
	// All of the first range may lie above a lower end that is known.
	if len(s.Ranges) > 1 && !slices.ContainsFunc(known, func(h *bench.Histogram) bool { over, _ := slower(*h, cuts[0]); return over < sum(amounts(*h)) }) {
		s.Ranges = s.Ranges[1:]
	}
	for i, h := range list {
		if h != nil && usable(*h) {
			s.Arms[i] = spreadArm(*h, s.Ranges)
		}
	}
	if base < 0 || base >= len(list) || !s.Arms[base].Known {
		return s
	}
	for i := range s.Arms {
		for k := range s.Arms[i].Cells {
			c, from := &s.Arms[i].Cells[k], s.Arms[base].Cells[k]
			if from.Percent > 0 {
				ratio := c.Percent / from.Percent
				c.Ratio = &ratio
			}
			c.Worse = s.Ranges[k].From > 0 && i != base && c.Slower > PracticalShare && c.Slower > PracticalGrowth*from.Slower
		}
	}
	return s
}

// usable reports whether a distribution says something.
func usable(h bench.Histogram) bool {
	return len(h.Bounds) > 0 && len(amounts(h)) == len(h.Bounds) && total(h) > 0
}

func amounts(h bench.Histogram) []float64 {
	if h.Counts != nil {
		return h.Counts
	}
	return h.Percents
}

// total is what all shares of a distribution are parts of: shares printed as
// percent are kept as printed, though rounding may make their sum another.
func total(h bench.Histogram) float64 {
	if h.Counts == nil {
		return 100
	}
	sum := 0.0
	for _, c := range h.Counts {
		sum += c
	}
	return sum
}

// slower gives the amount above x, in the unit of [total]; ok is false within a
// bucket that is not empty.
func slower(h bench.Histogram, x float64) (over float64, ok bool) {
	list := amounts(h)
	for i := len(list) - 1; i >= 0; i-- {
		low := 0.0
		if i > 0 {
			low = h.Bounds[i-1]
		}
		switch {
		case low >= x:
			over += list[i]
		case h.Bounds[i] > x && list[i] != 0:
			return 0, false
		}
	}
	return over, true
}

// trim leaves out the bounds below which nothing was measured but the last of
// them, and those above which nothing was but the first.
func trim(cuts []float64, known []*bench.Histogram) []float64 {
	all := func(x float64, is func(over, total float64) bool) bool {
		return !slices.ContainsFunc(known, func(h *bench.Histogram) bool { over, _ := slower(*h, x); return !is(over, sum(amounts(*h))) })
	}
	for len(cuts) > 1 && all(cuts[1], func(over, total float64) bool { return over == total }) {
		cuts = cuts[1:]
	}
	for len(cuts) > 1 && all(cuts[len(cuts)-2], func(over, _ float64) bool { return over == 0 }) {
		cuts = cuts[:len(cuts)-1]
	}
	return cuts
}

func sum(list []float64) float64 {
	s := 0.0
	for i := len(list) - 1; i >= 0; i-- { // as slower adds them
		s += list[i]
	}
	return s
}

// coarsen keeps of bounds the first, the last, and between them those that are far
// enough apart.
func coarsen(cuts []float64) []float64 {
	for _, factor := range []float64{1, 2, 4, 10, 100, 1e4, 1e8} {
		var kept []float64
		for i, c := range cuts {
			if i == 0 || i == len(cuts)-1 || c >= factor*kept[len(kept)-1] {
				kept = append(kept, c)
			}
		}
		if len(kept) <= spreadRanges {
			return kept
		}
	}
	return []float64{cuts[0], cuts[len(cuts)-1]}
}

func spreadArm(h bench.Histogram, ranges []SpreadRange) SpreadArm {
	a := SpreadArm{Known: true, Count: h.Count, Max: h.Max}
	percent := 100 / total(h)
	for _, r := range ranges {
		from, _ := slower(h, r.From)
		to := 0.0
		if !math.IsInf(r.To, 0) {
			to, _ = slower(h, r.To)
		}
		a.Cells = append(a.Cells, SpreadCell{Percent: percent * (from - to), Slower: percent * from})
	}
	list := amounts(h)
	over := sum(list)
	for i, b := range h.Bounds {
		before := over
		if over, _ = slower(h, b); over == before && over > 0 && i+1 < len(list) && list[i+1] == 0 {
			continue // within a level stretch, or before the first response
		}
		if over <= 0 || math.IsInf(b, 0) {
			break
		}
		a.Curve = append(a.Curve, SpreadPoint{b, percent * over})
	}
	// The slowest response ends the curve, at the height of one response where they
	// were counted.
	if n := len(a.Curve); n > 0 && h.Max != nil && *h.Max > a.Curve[n-1].X {
		last := SpreadPoint{*h.Max, a.Curve[n-1].Slower}
		if h.Count != nil && *h.Count > 0 {
			last.Slower = math.Min(last.Slower, 100 / *h.Count)
		}
		a.Curve = append(a.Curve, last)
	}
	return a
}
