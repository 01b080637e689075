package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// Finding says what a step lost or won on the way from the base to the newest
// version, and where.
type Finding struct {
	Row   *Row
	Where Where
}

// Where says what carries most of the way of a step: one or two lasting changes,
// in version order, or a major version (6.x) within which it happened. All are
// empty where the way is spread out, or is none.
type Where struct {
	Changes []bench.Change
	Major   string
}

// The parts of the way from which something carries most of it.
const (
	pairShare  = 0.6
	majorShare = 0.5
)

// Findings gives for every group of steps the one that moved furthest beyond
// noise, in the order of the groups. What a summary says first.
func (r Report) Findings() []Finding {
	var out []Finding
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Verdict != Better && row.Verdict != Worse && row.Verdict != Moved || *row.Last.Relative <= 0 {
			continue
		}
		f := Finding{Row: row, Where: r.Where(row)}
		last := len(out) - 1
		switch {
		case last < 0 || bench.StepGroup(out[last].Row.Line.Step) != bench.StepGroup(row.Line.Step):
			out = append(out, f)
		case math.Abs(math.Log(*row.Last.Relative)) > math.Abs(math.Log(*out[last].Row.Last.Relative)):
			out[last] = f
		}
	}
	return out
}

// Where looks for what carries most of a row's way from the base to the newest
// version.
func (r Report) Where(row *Row) Where {
	if row.Main != nil {
		return Where{Changes: []bench.Change{*row.Main}}
	}
	if row.Last == nil || row.Last.Relative == nil || *row.Last.Relative <= 0 || row.Verdict == Undecided || row.Verdict == NoVerdict {
		return Where{}
	}
	way := math.Log(*row.Last.Relative)
	lasting := slices.DeleteFunc(slices.Clone(row.Changes), func(c bench.Change) bool {
		return c.Shape == bench.ShapeSpike || !between(c, r.Base.Version, r.Newest) || c.Effect*way <= 0
	})
	slices.SortStableFunc(lasting, func(a, b bench.Change) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	if len(lasting) >= 2 && (lasting[0].Effect+lasting[1].Effect)/way >= pairShare {
		pair := lasting[:2]
		slices.SortStableFunc(pair, func(a, b bench.Change) int { return bench.CompareVersions(a.To, b.To) })
		return Where{Changes: pair}
	}
	return Where{Major: r.major(row, way)}
}

// between reports whether a change lies after the base and not after a version.
func between(c bench.Change, base, newest string) bool {
	return (base == "" || bench.CompareVersions(c.To, base) > 0) && bench.CompareVersions(c.To, newest) <= 0
}

// major gives the major version within which a row moved at least half of its
// way: from the last point before it, or the base, to its own last one. "" where
// there is none, or only one.
func (r Report) major(row *Row, way float64) string {
	type part struct {
		major int
		moved float64
	}
	var parts []part
	at := 0.0 // ln of the relative value where the major before ended
	for i := range row.Line.Points {
		p := &row.Line.Points[i]
		n, ok := bench.Major(p.Version)
		if !ok || p.Relative == nil || *p.Relative <= 0 || p.Flagged || r.Base.Version != "" && bench.CompareVersions(p.Version, r.Base.Version) < 0 {
			continue
		}
		if len(parts) == 0 || parts[len(parts)-1].major != n {
			if len(parts) > 0 {
				at += parts[len(parts)-1].moved
			}
			parts = append(parts, part{major: n})
		}
		parts[len(parts)-1].moved = math.Log(*p.Relative) - at
	}
	if len(parts) < 2 {
		return ""
	}
	most := slices.MaxFunc(parts, func(a, b part) int { return cmp.Compare(a.moved/way, b.moved/way) })
	if most.moved/way < majorShare {
		return ""
	}
	return fmt.Sprintf("%d.x", most.major)
}
