package compare

import (
	"math"
	"slices"
	"sort"

	"github.com/relqps/relqps/internal/bench"
)

// Evidence is what other series say about a change. It is listed, never turned
// into a verdict.
type Evidence struct {
	// Alike are the other steps of the same runs that moved the same way at the
	// same versions, Steady those that did not: many alike point to something
	// that all steps share (machine, build, kernel) before the code of one.
	Alike, Steady []Sighting
	// Seen and NotSeen are the same step elsewhere (another server, workload,
	// compiler, config or number of clients), where it was measured across the
	// change. Where it was not, it is in neither.
	Seen, NotSeen []Sighting
}

// Sighting is how another series moved across the versions of a change.
type Sighting struct {
	bench.Coordinate
	Ratio, Low, High float64
}

// window is how many versions on each side of a lasting change another series
// is judged by: enough to beat the noise of one run, few enough to be about
// this change.
const window = 3

// Gather collects the evidence on a change from lines of the same metric. Lines
// of steps that only prepare are left out, as is the change's own.
func Gather(c bench.Change, lines []Line) Evidence {
	var e Evidence
	at := locate(c.FoundChange)
	for i := range lines {
		l := &lines[i]
		if l.System != c.System || l.Suite != c.Suite || l.Coordinate == c.Coordinate || bench.StepRole(l.Suite, l.Step) == bench.RolePrepare {
			continue
		}
		sameStep := bench.StepFamily(l.Step) == bench.StepFamily(c.Step)
		here := l.Coordinate
		here.Step = c.Step
		sameRuns := here == c.Coordinate
		if sameStep == sameRuns {
			continue // neither the same step elsewhere nor another step of the same runs
		}
		s, ok := at.across(l)
		if !ok {
			continue
		}
		alike := s.like(c.Effect)
		switch {
		case sameRuns && alike:
			e.Alike = append(e.Alike, s)
		case sameRuns:
			e.Steady = append(e.Steady, s)
		case alike:
			e.Seen = append(e.Seen, s)
		default:
			e.NotSeen = append(e.NotSeen, s)
		}
	}
	return e
}

// likeShare is the part of a change's effect that another series must show to
// have moved alike: with little noise it may move a tenth as far for reasons of
// its own.
const likeShare = 0.4

// like reports whether a sighting is a move in the direction of an effect (ln),
// beyond noise and of a comparable size.
func (s Sighting) like(effect float64) bool {
	beyond := effect > 0 && s.Low > 1 || effect < 0 && s.High < 1
	return beyond && math.Abs(math.Log(s.Ratio)) >= likeShare*math.Abs(effect)
}

// placed is a change with the keys of its versions.
type placed struct {
	bench.FoundChange
	from, to, back string
}

func locate(c bench.FoundChange) placed {
	return placed{c, bench.VersionKey(c.From), bench.VersionKey(c.To), bench.VersionKey(c.Back)}
}

// across gives how a line moved across a change: of a lasting one the mean of up
// to [window] versions on either side, of a spike its version against its
// neighbours. ok is false where the line was not measured on both sides, or its
// noise is unknown.
func (c placed) across(l *Line) (s Sighting, ok bool) {
	if l.Multiplier <= 0 {
		return s, false
	}
	var before, after side
	switch c.Shape {
	case bench.ShapeSpike:
		from, out := l.placeOf(c.from)
		for i := from; i < out; i++ {
			before.add(&l.Points[i])
		}
		end := len(l.Points)
		if c.Back != "" {
			var last int
			end, last = l.placeOf(c.back)
			for i := end; i < last; i++ {
				before.add(&l.Points[i])
			}
		}
		for i, _ := l.placeOf(c.to); i < end; i++ {
			after.add(&l.Points[i])
		}
	default:
		_, end := l.placeOf(c.from)
		for i := end - 1; i >= 0 && len(before.points) < window; i-- {
			before.add(&l.Points[i])
		}
		slices.Reverse(before.points)
		for i, _ := l.placeOf(c.to); i < len(l.Points) && len(after.points) < window; i++ {
			after.add(&l.Points[i])
		}
	}
	b, a := before.sum(), after.sum()
	if b.n == 0 || a.n == 0 {
		return s, false
	}
	ln := a.mean - b.mean
	half := l.Multiplier * l.Noise.SD * math.Sqrt(1/float64(a.n)+1/float64(b.n))
	return Sighting{Coordinate: l.Coordinate, Ratio: math.Exp(ln), Low: math.Exp(ln - half), High: math.Exp(ln + half)}, true
}

// placeOf gives the range of the points of a version by its key, which is empty
// where it was not measured: those before first are older, those from end on newer.
func (l *Line) placeOf(key string) (first, end int) {
	first = sort.Search(len(l.Points), func(i int) bool { return bench.VersionKey(l.Points[i].Version) >= key })
	for end = first; end < len(l.Points) && bench.VersionKey(l.Points[end].Version) == key; end++ {
	}
	return first, end
}

// side is the points on one side of a change.
type side struct{ points []*Point }

// add takes a point that may be compared, and passes over others.
func (s *side) add(p *Point) {
	if p.HasLog && !p.Flagged {
		s.points = append(s.points, p)
	}
}

type mean struct {
	mean float64
	n    int
}

func (s *side) sum() mean {
	var m mean
	for _, p := range s.points {
		m.mean += p.Log * float64(p.N)
		m.n += p.N
	}
	if m.n > 0 {
		m.mean /= float64(m.n)
	}
	return m
}

// CommonMode says how many of how many steps of the same runs moved alike, the
// change's own counted. ok is set where that is worth a remark: at least three,
// and at least half.
func (e Evidence) CommonMode() (moved, of int, ok bool) {
	moved = len(e.Alike) + 1
	of = moved + len(e.Steady)
	return moved, of, moved >= togetherLeast && float64(moved) >= togetherShare*float64(of)
}
