package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// FalseDiscoveryRate is the share of marked changes that may be false in a
// version's table.
const FalseDiscoveryRate = 0.05

// Report is the version report of one server, workload, build and config: how
// the newest version compares with the base, where it was lost or won, and how
// sure that is.
type Report struct {
	Comparison
	Newest string // the newest version that any step was measured at
	Rows   []Row  // in the order of steps
	// Worse, Better and Undecided count rows by their verdict at Newest.
	Worse, Better, Undecided int
	// Geomean is the geometric mean of the relative values at Newest, over the
	// rows that have one (Measured of them); 0 without any.
	Geomean  float64
	Measured int
	// Together lists versions at which many steps moved alike, newest last.
	Together []Together
	// Columns are the versions that a table with little room shows.
	Columns []string
	// ExpectedFalse is the number of false ones to expect among all changes
	// listed, an upper bound.
	ExpectedFalse float64
}

// Row is one step of a [Report].
type Row struct {
	Line    Line
	Last    *Point // at Report.Newest, nil where it was not measured there
	Verdict Verdict
	// Changes are the step's, in version order.
	Changes []bench.Change
	// Main is the change that carries most of the way from base to Newest, nil
	// where none carries at least half of it. Share is its part.
	Main  *bench.Change
	Share float64
	// Smallest is the smallest lasting change (as a ratio above 1) that the
	// series can show with its runs, SmallestNewest the smallest of the newest version
	// alone; 0 when unknown.
	Smallest, SmallestNewest float64
	// Repeats is how many runs of each of two versions prove a difference of 1 %, 0
	// when unknown.
	Repeats int
}

// provedEffect is the effect of [Row].Repeats, ln.
var provedEffect = math.Log1p(0.01)

// Together is a version at which many steps moved the same way.
type Together struct {
	From, To string
	Steps    int     // that moved
	Of       int     // measured on both sides
	Effect   float64 // median of their effects, ln
	// NewCampaign: the measuring paused before To on this server.
	NewCampaign bool
}

// togetherShare is the part of the steps, and togetherLeast the number, from
// which moving alike is worth a remark: unrelated code paths rarely change at
// the same release.
const (
	togetherShare = 0.5
	togetherLeast = 3
)

// NewReport makes the report of a comparison whose lines are the steps of one
// server, workload, build and config. changes are those of the same series (of
// either member of a joined family), versions with a note are given a column.
// columns bounds Columns; 0 means all.
func NewReport(c Comparison, changes []bench.Change, noted []string, columns int) Report {
	r := Report{Comparison: c}
	if n := len(c.Versions); n > 0 {
		r.Newest = c.Versions[n-1]
	}
	logs := 0.0
	for _, l := range c.Lines {
		row := Row{Line: l, Last: l.At(r.Newest)}
		for _, x := range changes {
			if l.Covers(x.Coordinate) {
				row.Changes = append(row.Changes, x)
			}
		}
		slices.SortStableFunc(row.Changes, func(a, b bench.Change) int { return bench.CompareVersions(a.To, b.To) })
		if row.Last != nil {
			row.Verdict = Judge(*row.Last, l.Metric.Direction)
			if row.Last.Relative != nil && *row.Last.Relative > 0 {
				logs += math.Log(*row.Last.Relative)
				r.Measured++
			}
		}
		switch row.Verdict {
		case Worse:
			r.Worse++
		case Better:
			r.Better++
		case Undecided:
			r.Undecided++
		}
		row.Main, row.Share = mainChange(row, c.Base)
		row.Smallest, row.SmallestNewest = smallest(l)
		if n, ok := stats.RepeatsNeeded(l.Noise, provedEffect, Level); ok {
			row.Repeats = n
		}
		r.Rows = append(r.Rows, row)
	}
	if r.Measured > 0 {
		r.Geomean = math.Exp(logs / float64(r.Measured))
	}
	r.Together = together(c.Lines, changes)
	r.Columns = pickColumns(c, changes, noted, columns)
	// Every series is tested once, at the level at which changes are kept.
	r.ExpectedFalse = stats.ExpectedFalseAlarms(len(c.Lines), SeriesLevel)
	return r
}

// Covers reports whether a coordinate is the line's own, or that of a member of
// the family that the line joins.
func (l Line) Covers(c bench.Coordinate) bool {
	own := l.Coordinate
	own.Step = c.Step
	return own == c && (c.Step == l.Step || slices.Contains(l.Members, c.Step))
}

// mainChange finds the lasting change between base and newest that carries at
// least half of the way between them.
func mainChange(r Row, base Base) (*bench.Change, float64) {
	if r.Last == nil || r.Last.Relative == nil || *r.Last.Relative <= 0 || r.Verdict != Worse && r.Verdict != Better {
		return nil, 0
	}
	way := math.Log(*r.Last.Relative)
	var best *bench.Change
	share := 0.5
	for i := range r.Changes {
		x := &r.Changes[i]
		if x.Shape == bench.ShapeSpike || bench.CompareVersions(x.To, base.Version) <= 0 || bench.CompareVersions(x.To, r.Last.Version) > 0 {
			continue
		}
		if part := x.Effect / way; part >= share {
			best, share = x, part
		}
	}
	if best == nil {
		return nil, 0
	}
	return best, share
}

func smallest(l Line) (lasting, newest float64) {
	var logs [][]float64
	for _, p := range l.Points {
		if p.HasLog && !p.Flagged {
			lg := make([]float64, p.N)
			for i := range lg {
				lg[i] = p.Log
			}
			logs = append(logs, lg)
		}
	}
	s := stats.SmallestEffect(logs, l.Noise, SeriesLevel)
	if s.StepKnown {
		lasting = math.Exp(s.Step)
	}
	if s.NewestKnown {
		newest = math.Exp(s.Newest)
	}
	return lasting, newest
}

// together finds the versions at which many lines have a change of one sign.
func together(lines []Line, changes []bench.Change) []Together {
	type key struct {
		to string
		up bool
	}
	moved := map[key]map[bench.Coordinate]bench.Change{}
	for _, x := range changes {
		for i := range lines {
			if !lines[i].Covers(x.Coordinate) {
				continue
			}
			k := key{x.To, x.Effect > 0}
			if moved[k] == nil {
				moved[k] = map[bench.Coordinate]bench.Change{}
			}
			moved[k][lines[i].Coordinate] = x
		}
	}
	var out []Together
	for k, by := range moved {
		of := 0
		for i := range lines {
			if lines[i].At(k.to) != nil {
				of++
			}
		}
		if len(by) < togetherLeast || float64(len(by)) < togetherShare*float64(of) {
			continue
		}
		t := Together{To: k.to, Steps: len(by), Of: of}
		var effects []float64
		for _, x := range by {
			effects = append(effects, x.Effect)
			t.From = x.From
			t.NewCampaign = t.NewCampaign || x.NewCampaign
		}
		t.Effect = Median(effects)
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Together) int {
		return cmp.Or(bench.CompareVersions(a.To, b.To), cmp.Compare(a.Effect, b.Effect))
	})
	return out
}

// pickColumns chooses the versions that a table with room for n shows: first and
// last of each major always, then those with a note, then those where most and
// the largest changes lie, then the last before such a change.
func pickColumns(c Comparison, changes []bench.Change, noted []string, n int) []string {
	if n <= 0 || len(c.Versions) <= n {
		return slices.Clone(c.Versions)
	}
	weight := map[string]float64{}
	for i, v := range c.Versions {
		major, ok := bench.Major(v)
		edge := i == 0 || i == len(c.Versions)-1
		if !edge && ok {
			before, _ := bench.Major(c.Versions[i-1])
			after, _ := bench.Major(c.Versions[i+1])
			edge = before != major || after != major
		}
		if edge {
			weight[v] += 1e6
		}
	}
	for _, v := range noted {
		weight[v] += 1e3
	}
	for _, x := range changes {
		weight[x.To] += 1 + math.Abs(x.Effect)
		weight[x.From] += 0.5
	}
	order := slices.Clone(c.Versions)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(weight[b], weight[a]) })
	picked := order[:n]
	slices.SortFunc(picked, bench.CompareVersions)
	return picked
}
