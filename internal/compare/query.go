package compare

import (
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// Query is what a page or an API call asks for: which series, divided by what.
type Query struct {
	Filter  bench.SeriesFilter
	Options Options
}

// Fetch gives the filter of the series that answering needs: wider than asked
// for where the base is another compiler's or config's, or where the other
// members of a family are to be joined.
func (q Query) Fetch() bench.SeriesFilter {
	f := q.Filter
	f.Compilers = with(f.Compilers, q.Options.Base.Compiler)
	f.Configs = with(f.Configs, q.Options.Base.Config)
	if q.Options.JoinFamilies && len(f.Steps) > 0 {
		var steps []string
		for _, s := range f.Steps {
			for _, member := range bench.FamilyMembers(bench.StepFamily(s)) {
				if !slices.Contains(steps, member) {
					steps = append(steps, member)
				}
			}
		}
		f.Steps = steps
	}
	return f
}

// with adds a name to a list that selects; an empty list selects all already.
func with(list []string, name string) []string {
	if len(list) == 0 || name == "" || slices.Contains(list, name) {
		return list
	}
	return append(slices.Clone(list), name)
}

// Answer compares the series that [Query.Fetch] selected and leaves out those
// that were fetched as a base only.
func (q Query) Answer(series []bench.Series) Comparison {
	c := Compare(series, q.Options)
	asked := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	c.Lines = slices.DeleteFunc(c.Lines, func(l Line) bool {
		return !asked(q.Filter.Compilers, l.Compiler) || !asked(q.Filter.Configs, l.Config)
	})
	c.WithoutBase = slices.DeleteFunc(c.WithoutBase, func(at bench.Coordinate) bool {
		return !slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Coordinate == at })
	})
	c.Versions = versionsOf(c.Lines)
	return c
}
