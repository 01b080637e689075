package stats

import "math"

// Estimate is a logarithm of a ratio with the half width of its 95 % interval. OK is
// false where a side was not measured or the noise is not known.
type Estimate struct {
	Effect, Half float64
	OK           bool
}

// reach is how many measured versions on a side are compared at most: more would run into
// other changes, fewer carry the noise of single runs.
const reach = 3

// EffectAt returns how far a series moves at the place of a change that was found in
// another: from is the position in points of the last version before it, to that of the
// first changed one, back that of the first one after a spike, −1 for a change that lasts.
// Up to three measured versions on either side are compared, by all their samples: as many
// as agree with those nearer to the place, within their 95 % interval, since this series may
// have changes of its own. run is
// the half width of the interval around a single sample (ln units), so that of the mean
// of m samples is run/√m; where it is 0 the noise is not known.
func EffectAt(points [][]float64, run float64, from, to, back int) Estimate {
	end := len(points)
	if back >= 0 {
		end = back
	}
	var before, after, later sums
	before.down(points, from, run)
	after.up(points, to, end, run)
	e := after.over(before, run)
	if back < 0 {
		return e
	}
	// A spike is out and back: it is compared with both sides of it, and the one that it
	// differs less from counts. A step beside the place is no spike.
	later.up(points, back, len(points), run)
	other := after.over(later, run)
	if !e.OK || other.OK && math.Abs(other.Effect) < math.Abs(e.Effect) {
		return other
	}
	return e
}

// over gives how far samples are from others.
func (s sums) over(base sums, run float64) Estimate {
	if s.n == 0 || base.n == 0 || run <= 0 {
		return Estimate{}
	}
	half := run * math.Sqrt(1/float64(base.n)+1/float64(s.n))
	return Estimate{Effect: s.mean() - base.mean(), Half: half, OK: true}
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

// agrees tells whether a version does not differ from those added before it.
func (s *sums) agrees(p []float64, run float64) bool {
	if s.n == 0 {
		return true
	}
	var one sums
	one.add(p)
	return math.Abs(one.mean()-s.mean()) <= run*math.Sqrt(1/float64(s.n)+1/float64(one.n))
}

func (s *sums) down(points [][]float64, from int, run float64) {
	for i, versions := min(from, len(points)-1), 0; i >= 0 && versions < reach; i-- {
		if len(points[i]) == 0 {
			continue
		}
		if !s.agrees(points[i], run) {
			return
		}
		s.add(points[i])
		versions++
	}
}

func (s *sums) up(points [][]float64, first, end int, run float64) {
	for i, versions := max(first, 0), 0; i < end && i < len(points) && versions < reach; i++ {
		if len(points[i]) == 0 {
			continue
		}
		if !s.agrees(points[i], run) {
			return
		}
		s.add(points[i])
		versions++
	}
}

// Sighting says whether a change is also found elsewhere.
type Sighting string

// The sightings.
const (
	Seen       Sighting = "seen"
	NotSeen    Sighting = "not seen"
	CannotTell Sighting = "cannot tell"
)

// clearMove is from which move on, in ln units, a change is seen elsewhere however large
// it is: a tenth. A series that fell by 18 % where another fell by 80 % did see it.
const clearMove = 0.1

// Sight compares a change of the given effect with the same place elsewhere: it is seen
// where the series moved the same way, beyond its noise, by at least half as much or by a
// tenth; not seen where its interval excludes that; in all other cases the series cannot
// tell.
func Sight(effect float64, elsewhere Estimate) Sighting {
	if !elsewhere.OK || effect == 0 {
		return CannotTell
	}
	e := elsewhere.Effect
	if effect < 0 {
		e = -e
	}
	least := math.Min(math.Abs(effect)/2, clearMove)
	switch {
	case e+elsewhere.Half < least:
		return NotSeen
	case e-elsewhere.Half > 0 && e >= least:
		return Seen
	default:
		return CannotTell
	}
}
