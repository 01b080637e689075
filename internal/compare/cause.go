package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// Judged is a change with what other series say about it.
type Judged struct {
	bench.Change
	Evidence Evidence
	Doubts   []Doubt
}

// Cause is a set of changes at one version that probably have one cause: one step
// that moved the same way in several places, or many steps that moved alike in
// the runs of one place. It is a heading for a list, not a verdict.
type Cause struct {
	System  string
	Version string // the first changed one
	Kind    string // regression, improvement or change
	Common  bool   // steps of the same runs
	Changes []Judged
}

// Causes groups changes, the newest version first, within a version those with
// the largest effect.
func Causes(changes []Judged) []Cause {
	type key struct {
		system, version, kind string
		at                    bench.Coordinate // of common ones without step, else the step's family alone
	}
	var order []key
	groups := map[key][]Judged{}
	// The key of a version serves all its spellings.
	for _, c := range changes {
		k := key{system: c.System, version: bench.VersionKey(c.To), kind: c.Kind(c.Metric.Direction)}
		if _, _, common := c.Evidence.CommonMode(); common {
			k.at = c.Coordinate
			k.at.Step = ""
		} else {
			k.at.Step = bench.StepFamily(c.Step)
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], c)
	}
	out := make([]Cause, 0, len(order))
	for _, k := range order {
		list := groups[k]
		// One change alone is no common mode of its own list: the others that moved
		// alike are below the bounds of the list.
		slices.SortStableFunc(list, func(a, b Judged) int {
			return cmp.Or(cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)), Order(a.Coordinate, b.Coordinate))
		})
		out = append(out, Cause{System: k.system, Version: list[0].To, Kind: k.kind, Common: k.at.Server != "", Changes: list})
	}
	slices.SortStableFunc(out, func(a, b Cause) int {
		return cmp.Or(bench.CompareVersions(b.Version, a.Version), cmp.Compare(math.Abs(b.Changes[0].Effect), math.Abs(a.Changes[0].Effect)))
	})
	return out
}

// Steps names the steps of a cause, in the order of pages.
func (c Cause) Steps() []string {
	var out []string
	for _, x := range c.Changes {
		if !slices.Contains(out, x.Step) {
			out = append(out, x.Step)
		}
	}
	slices.SortFunc(out, bench.CompareSteps)
	return out
}

// Values gives what the changes of a cause have of a field of their coordinates,
// each once, in the order of the changes.
func (c Cause) Values(field func(bench.Coordinate) string) []string {
	var out []string
	for _, x := range c.Changes {
		if v := field(x.Coordinate); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Doubts gives the doubts of the changes of a cause, one a kind: that of the
// change with the largest effect that has it.
func (c Cause) Doubts() []Doubt {
	var out []Doubt
	for _, x := range c.Changes {
		for _, d := range x.Doubts {
			if !slices.ContainsFunc(out, func(k Doubt) bool { return k.Kind == d.Kind }) {
				out = append(out, d)
			}
		}
	}
	return out
}
