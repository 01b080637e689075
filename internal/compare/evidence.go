package compare

import (
	"math"
	"slices"
	"sort"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// Evidence is what other series say about a change. It is listed, never turned
// into a verdict. One rule decides of all of them, [stats.Sight]: a series that
// is too noisy to tell is not counted among those that did not move.
type Evidence struct {
	// Alike are the other steps of the same runs that moved the same way at the
	// same versions, Steady those that did not, Unclear those that cannot tell:
	// many alike point to something that all steps share (machine, build, kernel)
	// before the code of one.
	Alike, Steady, Unclear []Sighting
	// Seen, NotSeen and CannotTell are the same step elsewhere (another server,
	// workload, compiler, config or number of clients), where it was measured
	// next to the change on both sides (within one version of those of the changed
	// series) and its noise is known. Where not, it is in none.
	Seen, NotSeen, CannotTell []Sighting
}

// Sighting is how another series moved across the versions of a change.
type Sighting struct {
	bench.Coordinate
	Ratio, Low, High float64
}

// Elsewhere lists the sightings of the same step: those that show the change
// first, then those that do not, last those that cannot tell. The caller owns
// the slice.
func (e Evidence) Elsewhere() []Sighting { return slices.Concat(e.Seen, e.NotSeen, e.CannotTell) }

// SameRuns lists the sightings of the other steps of the same runs in the order
// of steps. The caller owns the slice.
func (e Evidence) SameRuns() []Sighting {
	list := slices.Concat(e.Alike, e.Steady, e.Unclear)
	slices.SortStableFunc(list, func(a, b Sighting) int { return bench.CompareSteps(a.Step, b.Step) })
	return list
}

// Gather collects the evidence on a change from lines of the same metric. Lines
// of steps that only prepare are left out, as is the change's own.
func Gather(c bench.Change, lines []Line) Evidence {
	var e Evidence
	at := locate(c.FoundChange)
	for i := range lines {
		if lines[i].Coordinate == c.Coordinate {
			at.near(&lines[i])
		}
	}
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
		if !at.reaches(l) {
			continue
		}
		found := at.across(l)
		if !found.OK {
			continue
		}
		e.list(sameRuns, stats.Sight(c.Effect, found), sightingOf(l.Coordinate, found))
	}
	return e
}

// list adds a sighting to those of its kind.
func (e *Evidence) list(sameRuns bool, seen stats.Sighting, s Sighting) {
	into := &e.CannotTell
	switch {
	case sameRuns && seen == stats.Seen:
		into = &e.Alike
	case sameRuns && seen == stats.NotSeen:
		into = &e.Steady
	case sameRuns:
		into = &e.Unclear
	case seen == stats.Seen:
		into = &e.Seen
	case seen == stats.NotSeen:
		into = &e.NotSeen
	}
	*into = append(*into, s)
}

func sightingOf(c bench.Coordinate, e stats.Estimate) Sighting {
	return Sighting{Coordinate: c, Ratio: math.Exp(e.Effect), Low: math.Exp(e.Effect - e.Half), High: math.Exp(e.Effect + e.Half)}
}

// placed is a change with the keys of its versions.
type placed struct {
	bench.FoundChange
	from, to, back string
	// oldest and newest bound how far from the change another series may have been
	// measured and still be asked about it; "" is no bound.
	oldest, newest string
}

// near sets the bounds to one version beside the change in its own line. A series
// that was not measured for several versions has changes of its own between.
func (c *placed) near(own *Line) {
	from, _ := own.placeOf(c.from)
	last := c.to
	if c.Shape == bench.ShapeSpike && c.back != "" {
		last = c.back
	}
	_, end := own.placeOf(last)
	c.oldest, c.newest = c.from, last
	if from > 0 {
		c.oldest = own.key(from - 1)
	}
	if end < len(own.Points) {
		c.newest = own.key(end)
	}
}

// reaches tells whether a line was measured near the change, on both sides.
func (c placed) reaches(l *Line) bool {
	_, before := l.placeOf(c.from)
	after, _ := l.placeOf(c.to)
	if before == 0 || after == len(l.Points) {
		return false
	}
	older, newer := l.key(before-1), l.key(after)
	return (c.oldest == "" || older >= c.oldest) && (c.newest == "" || newer <= c.newest)
}

func locate(c bench.FoundChange) placed {
	return placed{FoundChange: c, from: bench.VersionKey(c.From), to: bench.VersionKey(c.To), back: bench.VersionKey(c.Back)}
}

// across gives how a line moved across a change, see [stats.EffectAt]. It is not
// OK where the line was not measured on both sides, or its noise is unknown.
func (c placed) across(l *Line) stats.Estimate {
	_, from := l.placeOf(c.from)
	to, _ := l.placeOf(c.to)
	back := -1
	if c.Shape == bench.ShapeSpike {
		back = len(l.Points)
		if c.Back != "" {
			back, _ = l.placeOf(c.back)
		}
	}
	return stats.EffectAt(l.logs, l.Multiplier*l.Noise.SD, from-1, to, back)
}

// placeOf gives the range of the points of a version by its key, which is empty
// where it was not measured: those before first are older, those from end on newer.
func (l *Line) placeOf(key string) (first, end int) {
	first = sort.Search(len(l.Points), func(i int) bool { return l.key(i) >= key })
	for end = first; end < len(l.Points) && l.key(end) == key; end++ {
	}
	return first, end
}

// key gives the key of the version of a point. Lines are asked of many changes:
// making keys each time took a tenth of a page of charts.
func (l *Line) key(i int) string {
	if k := l.Points[i].key; k != "" {
		return k
	}
	return bench.VersionKey(l.Points[i].Version)
}

// CommonMode says how many of how many steps of the same runs moved alike, the
// change's own counted; those that cannot tell are among the many. ok is set where
// that is worth a remark: at least three, and at least half.
func (e Evidence) CommonMode() (moved, of int, ok bool) {
	moved = len(e.Alike) + 1
	of = moved + len(e.Steady) + len(e.Unclear)
	return moved, of, moved >= togetherLeast && float64(moved) >= togetherShare*float64(of)
}
