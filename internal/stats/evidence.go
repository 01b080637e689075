package stats

import (
	"math"
	"slices"
)

// Campaigns numbers runs of one server by the campaign they belong to, given when each
// started, in seconds: 0 is the first campaign; a gap of more than factor (3 where
// factor is 0) times the usual spacing starts the next. The usual spacing is the median
// of the gaps between starts that differ. A change between versions of different
// campaigns may have other reasons than the version.
func Campaigns(starts []float64, factor float64) []int {
	if factor <= 0 {
		factor = 3
	}
	order := make([]int, len(starts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case starts[a] < starts[b]:
			return -1
		case starts[a] > starts[b]:
			return 1
		}
		return 0
	})
	var gaps []float64
	for i := 1; i < len(order); i++ {
		if g := starts[order[i]] - starts[order[i-1]]; g > 0 {
			gaps = append(gaps, g)
		}
	}
	usual := math.Inf(1)
	if len(gaps) > 0 {
		slices.Sort(gaps)
		usual = median(gaps)
	}
	campaign := make([]int, len(starts))
	for i := 1; i < len(order); i++ {
		campaign[order[i]] = campaign[order[i-1]]
		if starts[order[i]]-starts[order[i-1]] > factor*usual {
			campaign[order[i]]++
		}
	}
	return campaign
}

// Estimate is a logarithm of a ratio with the half width of its 95 % interval. OK is
// false where a side was not measured or the noise is not known.
type Estimate struct {
	Effect, Half float64
	OK           bool
}

// excludesZero says whether the interval is on one side of no change.
func (e Estimate) excludesZero() bool { return e.OK && math.Abs(e.Effect) > e.Half }

// reach is how many measured versions on a side are compared: more would run into other
// changes, fewer would carry the noise of single runs.
const reach = 3

// EffectAt returns how far a series moves at the place of a change that was found in
// another: from, to and back are positions in points, the axis that both share; back is
// −1 but for a spike. Up to three measured versions on either side are compared.
func EffectAt(points [][]float64, n Noise, from, to, back int) Estimate {
	end := len(points)
	if back >= 0 {
		end = back
	}
	var before, after sums
	before.down(points, from, reach)
	if back >= 0 {
		// A spike is out and back: it is compared with what is on both sides of it.
		before.up(points, back, len(points), reach)
	}
	after.up(points, to, end, reach)
	half, ok := RatioHalfWidth(n, before.n, after.n, 0.95)
	if !ok {
		return Estimate{}
	}
	return Estimate{Effect: after.mean() - before.mean(), Half: half, OK: true}
}

// sums adds up samples.
type sums struct {
	n   int
	sum float64
}

func (s *sums) mean() float64 { return s.sum / float64(s.n) }

func (s *sums) add(p []float64) {
	for _, v := range p {
		s.sum += v
	}
	s.n += len(p)
}

func (s *sums) down(points [][]float64, from, versions int) {
	for i := min(from, len(points)-1); i >= 0 && versions > 0; i-- {
		if len(points[i]) > 0 {
			s.add(points[i])
			versions--
		}
	}
}

func (s *sums) up(points [][]float64, first, end, versions int) {
	for i := max(first, 0); i < end && i < len(points) && versions > 0; i++ {
		if len(points[i]) > 0 {
			s.add(points[i])
			versions--
		}
	}
}

// Alike counts how many of the other steps of the same runs moved like a change of the
// given effect: their interval excludes no change, in the same direction, and either
// overlaps half to twice the effect or lies in it. of counts those that could be
// compared at all. Unrelated steps that move alike speak for a common cause: the machine,
// the runs, or code that all of them use.
func Alike(effect float64, others []Estimate) (alike, of int) {
	for _, o := range others {
		if !o.OK {
			continue
		}
		of++
		if !o.excludesZero() || o.Effect*effect <= 0 {
			continue
		}
		a, e := math.Abs(effect), math.Abs(o.Effect)
		if e+o.Half >= a/2 && e-o.Half <= 2*a {
			alike++
		}
	}
	return alike, of
}

// Sighting says whether a change is also found elsewhere.
type Sighting string

// The sightings.
const (
	Seen       Sighting = "seen"
	NotSeen    Sighting = "not seen"
	CannotTell Sighting = "cannot tell"
)

// Sight compares a change of the given effect with the same place elsewhere: it is seen
// where the series moved the same way by at least half as much, as far as noise allows
// to say; not seen where half as much can be excluded.
func Sight(effect float64, elsewhere Estimate) Sighting {
	if !elsewhere.OK || effect == 0 {
		return CannotTell
	}
	e := elsewhere.Effect
	if effect < 0 {
		e = -e
	}
	a := math.Abs(effect)
	switch {
	case e+elsewhere.Half < a/2:
		return NotSeen
	case e-elsewhere.Half > 0 && e >= a/2:
		return Seen
	default:
		return CannotTell
	}
}
