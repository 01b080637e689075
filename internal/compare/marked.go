package compare

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// Sensitivity names how readily changes are marked.
type Sensitivity string

// The sensitivities, the strictest first.
const (
	Strict    Sensitivity = "strict"
	Usual     Sensitivity = "default"
	Sensitive Sensitivity = "sensitive"
)

// Setting is what a sensitivity stands for.
type Setting struct {
	Name Sensitivity
	// Level is the largest P of a change that is marked: the rate at which a series
	// without a change raises an alarm. Here is the largest probability at the
	// change's own version.
	Level, Here float64
	// MinEffect is the least |ln ratio| of a change that is marked.
	MinEffect float64
	// Stored: only what a list holds is marked.
	Stored bool
}

// settings are the sensitivities, each marking what the ones before it do. The
// usual one marks what lists show: what is stored, from an effect of 3 % on.
var settings = []Setting{
	{Strict, 1e-4, 1e-4, 0.03, true},
	{Usual, SeriesLevel, StoredLevel, 0.03, true},
	{Sensitive, 0.05, 0.01, 0.01, false},
}

// Settings lists the sensitivities, the strictest first. The caller owns the
// slice.
func Settings() []Setting { return slices.Clone(settings) }

// SettingOf gives what a sensitivity stands for; ok is false where there is none
// of that name.
func SettingOf(s Sensitivity) (Setting, bool) {
	i := slices.IndexFunc(settings, func(x Setting) bool { return x.Name == s })
	if i < 0 {
		return Setting{}, false
	}
	return settings[i], true
}

// Candidate is a change that one of the sensitivities may mark.
type Candidate struct {
	bench.Change
	// Q is the smallest false-discovery rate at which the change is marked among
	// all series of the table.
	Q float64
}

// Marks reports whether a setting marks a candidate: its P and effect suffice,
// and false discovery is held at [FalseDiscoveryRate] across the table.
func (s Setting) Marks(c Candidate) bool {
	return (c.ID != 0 || !s.Stored) && c.P <= s.Level && c.PHere <= s.Here && math.Abs(c.Effect) >= s.MinEffect && c.Q <= FalseDiscoveryRate
}

// Mark gives the changes that a setting marks, in their order.
func (s Setting) Mark(candidates []Candidate) []bench.Change {
	var out []bench.Change
	for _, c := range candidates {
		if s.Marks(c) {
			out = append(out, c.Change)
		}
	}
	return out
}

// MarkedFrom gives the index in [Settings] of the strictest one that marks a
// candidate, -1 when none does.
func MarkedFrom(c Candidate) int {
	return slices.IndexFunc(settings, func(s Setting) bool { return s.Marks(c) })
}

// ExpectedFalse bounds the number of false ones among what a setting marks in so
// many series.
func (s Setting) ExpectedFalse(series int) float64 { return stats.ExpectedFalseAlarms(series, s.Level) }

// Candidates gives the changes that a table of series may mark: the stored ones,
// and those that only the most sensitive setting finds, which have no ID. Series
// of metrics or steps that detection does not look at have none. The order is
// that of the series, then of versions. cache may be nil.
func Candidates(series []bench.Series, stored []bench.Change, cache *Cache) []Candidate {
	loosest := settings[len(settings)-1].Level
	var all []Candidate
	tested := 0
	for _, s := range series {
		if bench.StepRole(s.Suite, s.Step) == bench.RolePrepare || bench.PrimaryMetric(s.Suite, s.Step) != s.Metric.Name {
			continue
		}
		tested++
		var own []Candidate
		for _, c := range stored {
			if c.SeriesID == s.ID || c.Coordinate == s.Coordinate && c.Metric.Name == s.Metric.Name {
				own = append(own, Candidate{Change: c})
			}
		}
		found := own
		for _, f := range detectSeries(s, nil, loosest, cache) {
			c := bench.Change{SeriesID: s.ID, Coordinate: s.Coordinate, Metric: s.Metric, FoundChange: f}
			if !slices.ContainsFunc(own, func(k Candidate) bool { return sameChange(s, k.FoundChange, f) }) {
				found = append(found, Candidate{Change: c})
			}
		}
		slices.SortStableFunc(found, func(a, b Candidate) int {
			return cmp.Or(bench.CompareVersions(a.To, b.To), cmp.Compare(a.P, b.P))
		})
		all = append(all, found...)
	}
	p := make([]float64, len(all))
	for i, c := range all {
		p[i] = c.P
	}
	for i, q := range stats.FalseDiscovery(p, max(tested, 1)) {
		all[i].Q = q
	}
	return all
}

// sameChange reports whether two detections of one series found the same change:
// of one sign and within a version of each other.
func sameChange(s bench.Series, a, b bench.FoundChange) bool {
	if a.Effect*b.Effect <= 0 {
		return false
	}
	at := func(version string) (int, bool) {
		return slices.BinarySearchFunc(s.Points, version, func(p bench.Point, v string) int { return bench.CompareVersions(p.Version, v) })
	}
	i, measured := at(a.To)
	j, too := at(b.To)
	return measured && too && i-j <= 1 && j-i <= 1
}

// detectSeries finds the changes of a series at a level. campaigns may be nil:
// whether measuring paused is then not known, and not said.
func detectSeries(s bench.Series, campaigns map[int64]int, level float64, cache *Cache) []bench.FoundChange {
	// Detect never fails and answers every series that it is given.
	found, _ := detect(context.Background(), bench.Touched{Series: []bench.Series{s}, Campaigns: campaigns}, level, cache)
	if len(found) == 0 {
		return nil
	}
	return found[0].Changes
}

// FalseDiscoveryCut gives the largest probability that is marked among so many
// hypotheses when false discovery is held at [FalseDiscoveryRate], 0 when none is.
// For the table of one version p are the probabilities at that version.
func FalseDiscoveryCut(p []float64, hypotheses int) float64 {
	return stats.FalseDiscoveryCut(p, hypotheses, FalseDiscoveryRate)
}

// ExpectedFalse gives how many of so many unchanged series are expected to have a
// probability of at most cut: what a list with that cut may hold of false alarms.
func ExpectedFalse(tested int, cut float64) float64 { return stats.ExpectedFalseAlarms(tested, cut) }

// ListCut gives the largest P with which a list of stored changes over so many
// tested series shows one, so that false discovery is held at
// [FalseDiscoveryRate] across the list. p are those of all stored changes,
// shown or not. It is never 0, which would bound nothing.
func ListCut(p []float64, tested int) float64 {
	return max(stats.FalseDiscoveryCut(p, max(tested, 1), FalseDiscoveryRate), math.SmallestNonzeroFloat64)
}
