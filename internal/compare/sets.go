package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// SetQuery chooses a set of runs. Empty fields choose all.
type SetQuery struct {
	System    string
	Suite     string
	Servers   []string
	Workloads []string
	Compilers []string
	Configs   []string
	Clients   []int
	Versions  []string
	From, To  string // versions, both inclusive
	Runs      []int64
}

// Empty reports whether nothing is chosen.
func (q SetQuery) Empty() bool {
	return q.System == "" && q.Suite == "" && q.From == "" && q.To == "" &&
		len(q.Servers)+len(q.Workloads)+len(q.Compilers)+len(q.Configs)+len(q.Clients)+len(q.Versions)+len(q.Runs) == 0
}

// takes reports whether a set has a version.
func (q *SetQuery) takes(version string) bool {
	if len(q.Versions) > 0 && !slices.ContainsFunc(q.Versions, func(v string) bool { return bench.CompareVersions(v, version) == 0 }) {
		return false
	}
	return within(version, q.From, q.To)
}

// SetsQuery asks for a comparison of two sets of runs: B divided by A.
type SetsQuery struct {
	A, B   SetQuery
	Steps  []string // of these only
	Metric string   // "" compares each step by the one that decides it
}

// filters gives the series of a side, one filter a metric.
func (q *SetsQuery) filters(side SetQuery) []bench.SeriesFilter {
	f := bench.SeriesFilter{
		System: side.System, Suite: side.Suite, Servers: side.Servers, Workloads: side.Workloads, Steps: q.Steps,
		Compilers: side.Compilers, Configs: side.Configs, Clients: side.Clients,
	}
	metrics := []string{q.Metric}
	if q.Metric == "" {
		metrics = primaryMetricsOf(side.Suite)
	}
	var out []bench.SeriesFilter
	for _, m := range metrics {
		f.Metric = m
		out = append(out, f)
	}
	return out
}

// SetSource is what [ReadSets] reads from. A store satisfies it.
type SetSource interface {
	Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error)
	RunFacts(ctx context.Context, runs []int64) ([]bench.RunFacts, error)
	Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error)
}

// setRunsMax bounds the runs of a set whose facts are compared: the newest ones.
const setRunsMax = 2000

// ReadSets compares two sets of runs of a store.
func ReadSets(ctx context.Context, from SetSource, q SetsQuery, cache *Cache) (SetComparison, error) {
	var sides [2][]bench.Series
	read := map[string][]bench.Series{}
	for i, side := range []SetQuery{q.A, q.B} {
		for _, f := range q.filters(side) {
			key := fmt.Sprintf("%+v", f)
			series, ok := read[key]
			if !ok {
				var err error
				if series, err = from.Series(ctx, f); err != nil {
					return SetComparison{}, err
				}
				read[key] = series
			}
			sides[i] = append(sides[i], series...)
		}
		if q.Metric == "" {
			sides[i] = PrimaryOnly(sides[i])
		}
		sides[i] = slices.DeleteFunc(slices.Clone(sides[i]), func(s bench.Series) bool {
			return bench.StepRole(s.Suite, s.Step) == bench.RolePrepare && !slices.Contains(q.Steps, s.Step)
		})
	}
	c := CompareSets(q, sides[0], sides[1], cache)
	var facts [2][]bench.RunFacts
	var names []string
	// What differs is asked of the runs behind the rows, not of those that the other
	// set has no counterpart of.
	for i, runs := range [][]int64{matchedRuns(c.Rows, func(r *SetRow) *Point { return r.A }), matchedRuns(c.Rows, func(r *SetRow) *Point { return r.B })} {
		if len(runs) > setRunsMax {
			runs = runs[len(runs)-setRunsMax:]
		}
		if len(runs) == 0 {
			continue
		}
		var err error
		if facts[i], err = from.RunFacts(ctx, runs); err != nil {
			return c, err
		}
		for j := range facts[i] {
			if n := facts[i][j].Config; n != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	var configs []bench.StoredConfig
	if len(names) > 0 {
		slices.Sort(names)
		var err error
		if configs, err = from.Configs(ctx, bench.ConfigFilter{Names: names, Layer: bench.LayerParsed, Options: true}); err != nil {
			return c, err
		}
	}
	if len(facts[0]) > 0 && len(facts[1]) > 0 {
		c.Differs = DiffFacts(facts[:], ConfigSets(configs))
	}
	return c, nil
}

// matchedRuns lists the runs behind one side of rows, each once, in order.
func matchedRuns(rows []SetRow, side func(*SetRow) *Point) []int64 {
	var runs []int64
	for i := range rows {
		runs = append(runs, side(&rows[i]).Runs...)
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// SetComparison is two sets of runs, row by row: B divided by A.
type SetComparison struct {
	Query SetsQuery
	Rows  []SetRow // by effect over noise, what cannot be told after, what must not be compared last
	// OneSided are the rows that only one of the sets has.
	OneSided     []SetOnly
	Means        []SetMean  // geometric means, one per direction of metrics that rows have
	Differs      []FactDiff // between the runs behind the rows
	RunsA, RunsB []int64
	// Apart names the parts of a coordinate in which the sets differ, so that rows
	// are matched without them.
	Apart []string
	// Pooled says what a set holds several of within one row, in words.
	Pooled []string
}

// SetRow is a place that both sets have figures at.
type SetRow struct {
	bench.Coordinate        // without the parts that differ between the sets
	Version          string // "" where the sets are of different versions
	Metric           bench.Metric
	A, B             *Point // B's Relative is B / A
	Verdict          Verdict
	SamplesA         []float64
	SamplesB         []float64
	// Score is the effect in units of its standard error, 0 where the noise is
	// unknown or either must not be compared.
	Score float64
	half  float64 // half width in ln of the interval, 0 when unknown
}

// Flagged reports whether a row must not be compared.
func (r *SetRow) Flagged() bool { return r.A.Flagged || r.B.Flagged }

// SetOnly is a row that one set alone has.
type SetOnly struct {
	bench.Coordinate
	Version string
	Metric  bench.Metric
	Side    string // A or B
	Point   *Point
}

// SetMean is the geometric mean over rows whose metrics have one direction.
type SetMean struct {
	Direction bench.Direction
	Rows      int
	Ratio     float64
	// Low and High are by all samples, nil where the noise of any row is unknown.
	// Noise is taken to be common to all rows: steps of the same runs share the state
	// of their host, and no sample tells how much. Rows that are independent have a
	// narrower interval than this.
	Low, High                *float64
	Better, Worse, Undecided int
	NoVerdict                int // noise unknown, or the metric has no better side and did not move
	Moved                    int
	LeftOut                  int // rows that must not be compared, or have a baseline of 0
}

// dimension of a coordinate by which rows are matched.
type matched struct {
	name  string
	of    func(bench.Coordinate) string
	clear func(*bench.Coordinate)
	alike func(a, b *SetQuery) bool
}

var matchedParts = []matched{
	{"system", func(c bench.Coordinate) string { return c.System }, func(c *bench.Coordinate) { c.System = "" }, func(a, b *SetQuery) bool { return a.System == b.System }},
	{"server", func(c bench.Coordinate) string { return c.Server }, func(c *bench.Coordinate) { c.Server = "" }, func(a, b *SetQuery) bool { return slices.Equal(a.Servers, b.Servers) }},
	{"workload", func(c bench.Coordinate) string { return c.Workload }, func(c *bench.Coordinate) { c.Workload = "" }, func(a, b *SetQuery) bool { return slices.Equal(a.Workloads, b.Workloads) }},
	{"compiler", func(c bench.Coordinate) string { return c.Compiler }, func(c *bench.Coordinate) { c.Compiler = "" }, func(a, b *SetQuery) bool { return slices.Equal(a.Compilers, b.Compilers) }},
	{"config", func(c bench.Coordinate) string { return c.Config }, func(c *bench.Coordinate) { c.Config = "" }, func(a, b *SetQuery) bool { return slices.Equal(a.Configs, b.Configs) }},
	{"clients", func(c bench.Coordinate) string { return clientsText(c.Clients) }, func(c *bench.Coordinate) { c.Clients = 0 }, func(a, b *SetQuery) bool { return slices.Equal(a.Clients, b.Clients) }},
}

// picked is a series with the samples of it that a set has.
type picked struct {
	line    *Line
	points  []bench.Point
	metric  bench.Metric
	of      bench.Coordinate
	version string // of a single point, where rows are matched by it
}

// CompareSets compares two sets of runs. Rows are matched by all that the sets
// were chosen alike in; what they were chosen differently in, or have no value of
// in common, is left out of the match and named in Apart.
func CompareSets(q SetsQuery, a, b []bench.Series, cache *Cache) SetComparison {
	c := SetComparison{Query: q}
	sides := [2][]picked{pick(q.A, a, cache), pick(q.B, b, cache)}
	values := func(side []picked, of func(bench.Coordinate) string) map[string]bool {
		out := map[string]bool{}
		for _, p := range side {
			out[of(p.of)] = true
		}
		return out
	}
	var dropped []matched
	for _, d := range matchedParts {
		one, two := values(sides[0], d.of), values(sides[1], d.of)
		common := false
		for v := range one {
			common = common || two[v]
		}
		if !d.alike(&q.A, &q.B) || !common && len(one) > 0 && len(two) > 0 {
			dropped = append(dropped, d)
			c.Apart = append(c.Apart, d.name)
		}
	}
	byVersion := slices.Equal(q.A.Versions, q.B.Versions) && q.A.From == q.B.From && q.A.To == q.B.To && slices.Equal(q.A.Runs, q.B.Runs)
	if byVersion && len(sides[0]) > 0 && len(sides[1]) > 0 {
		common := false
		has := map[string]bool{}
		for _, p := range sides[0] {
			for _, x := range p.points {
				has[bench.VersionKey(x.Version)] = true
			}
		}
		for _, p := range sides[1] {
			for _, x := range p.points {
				common = common || has[bench.VersionKey(x.Version)]
			}
		}
		byVersion = common
	}
	if !byVersion {
		c.Apart = append(c.Apart, "version")
	}
	type key struct {
		bench.Coordinate
		version, metric string
	}
	groups := [2]map[key][]picked{{}, {}}
	var order []key
	for i, side := range sides {
		for _, p := range side {
			parts := []picked{p}
			if byVersion {
				parts = nil
				for _, x := range p.points {
					parts = append(parts, picked{p.line, []bench.Point{x}, p.metric, p.of, x.Version})
				}
			}
			for _, part := range parts {
				at := part.of
				for _, d := range dropped {
					d.clear(&at)
				}
				k := key{at, "", part.metric.Name}
				if byVersion {
					k.version = bench.VersionKey(part.version)
				}
				if groups[0][k] == nil && groups[1][k] == nil {
					order = append(order, k)
				}
				groups[i][k] = append(groups[i][k], part)
			}
		}
	}
	pooled := [2]map[string]map[string]bool{{}, {}}
	for _, k := range order {
		version := ""
		for i := range groups {
			for _, p := range groups[i][k] {
				if byVersion && version == "" {
					version = p.version
				}
			}
		}
		gotA, gotB := groups[0][k], groups[1][k]
		for i, g := range [][]picked{gotA, gotB} {
			notePooled(g, pooled[i])
		}
		switch {
		case len(gotB) == 0:
			x := combine(gotA)
			c.OneSided = append(c.OneSided, SetOnly{k.Coordinate, version, gotA[0].metric, "A", &x.point})
		case len(gotA) == 0:
			x := combine(gotB)
			c.OneSided = append(c.OneSided, SetOnly{k.Coordinate, version, gotB[0].metric, "B", &x.point})
		default:
			c.Rows = append(c.Rows, setRow(k.Coordinate, version, gotA[0].metric, gotA, gotB))
		}
	}
	for i, side := range []string{"A", "B"} {
		for _, what := range []string{"version", "system", "server", "workload", "compiler", "config", "clients"} {
			if n := len(pooled[i][what]); n > 1 {
				var list []string
				for v := range pooled[i][what] {
					list = append(list, v)
				}
				slices.SortFunc(list, compareNatural)
				if what == "version" {
					slices.SortFunc(list, bench.CompareVersions)
				}
				c.Pooled = append(c.Pooled, fmt.Sprintf("Rows of %s pool several values of %s: %s.", side, what, FactsText(list)))
			}
		}
	}
	sort.SliceStable(c.Rows, func(i, j int) bool { return setBefore(&c.Rows[i], &c.Rows[j]) })
	sort.SliceStable(c.OneSided, func(i, j int) bool {
		x, y := &c.OneSided[i], &c.OneSided[j]
		if d := Order(x.Coordinate, y.Coordinate); d != 0 {
			return d < 0
		}
		return bench.CompareVersions(x.Version, y.Version) < 0
	})
	c.RunsA, c.RunsB = runsOfPicked(sides[0]), runsOfPicked(sides[1])
	c.Means = c.means()
	return c
}

// notePooled remembers what the parts of a group differ in.
func notePooled(g []picked, into map[string]map[string]bool) {
	if len(g) == 0 {
		return
	}
	note := func(what string, value string) {
		if into[what] == nil {
			into[what] = map[string]bool{}
		}
		into[what][value] = true
	}
	versions := map[string]bool{}
	for _, p := range g {
		for _, x := range p.points {
			versions[x.Version] = true
		}
	}
	if len(versions) > 1 {
		for v := range versions {
			note("version", v)
		}
	}
	for _, d := range matchedParts {
		for _, p := range g[1:] {
			if d.of(p.of) != d.of(g[0].of) {
				note(d.name, d.of(g[0].of))
				note(d.name, d.of(p.of))
			}
		}
	}
}

// pick gives the series of a set with those samples that it chooses. The noise is
// that of the whole series.
func pick(q SetQuery, series []bench.Series, cache *Cache) []picked {
	var out []picked
	for i := range series {
		s := &series[i]
		var points []bench.Point
		for _, p := range s.Points {
			if !q.takes(p.Version) {
				continue
			}
			if len(q.Runs) > 0 {
				p.Samples = slices.DeleteFunc(slices.Clone(p.Samples), func(x bench.Sample) bool { return !slices.Contains(q.Runs, x.RunID) })
			}
			if len(p.Samples) > 0 {
				points = append(points, p)
			}
		}
		if len(points) == 0 {
			continue
		}
		steps := make([]string, len(s.Points))
		for j := range steps {
			steps[j] = s.Step
		}
		line := newLine(source{Series: *s, members: []string{s.Step}, steps: steps}, cache)
		out = append(out, picked{line: &line, points: points, metric: s.Metric, of: s.Coordinate})
	}
	return out
}

func runsOfPicked(side []picked) []int64 {
	var all []bench.Series
	for _, p := range side {
		all = append(all, bench.Series{Points: p.points})
	}
	return RunsOf(all)
}

// combined is the samples of a group as one point.
type combined struct {
	point      Point
	samples    []float64
	logs       []float64
	sd         float64 // of one run, 0 when unknown
	multiplier float64
}

// combine makes one point of the parts of a group. Its noise is the greatest of
// its series', and where the parts are of several versions or places at least the
// scatter between them.
func combine(g []picked) combined {
	var all bench.Point
	for _, p := range g {
		for _, x := range p.points {
			all.Version = x.Version
			all.Samples = append(all.Samples, x.Samples...)
		}
	}
	var c combined
	q, values := newPoint(all, g[0].of.Step)
	c.point = q
	c.samples = slices.Clone(values)
	if q.Flagged {
		return c
	}
	for _, v := range values {
		if v > 0 {
			c.logs = append(c.logs, math.Log(v))
		}
	}
	known := true
	for _, p := range g {
		known = known && p.line.Multiplier > 0
		c.sd, c.multiplier = max(c.sd, p.line.Noise.SD), max(c.multiplier, p.line.Multiplier)
	}
	if !known {
		c.sd, c.multiplier = 0, 0
	}
	if parts := len(g) + len(g[0].points) - 1; parts > 1 && len(c.logs) > 1 {
		if s := deviation(c.logs); c.multiplier > 0 {
			c.sd = max(c.sd, s)
		}
	}
	return c
}

// deviation is the standard deviation of a sample.
func deviation(values []float64) float64 {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

func setRow(at bench.Coordinate, version string, m bench.Metric, a, b []picked) SetRow {
	x, y := combine(a), combine(b)
	r := SetRow{Coordinate: at, Version: version, Metric: m, A: &x.point, B: &y.point, SamplesA: x.samples, SamplesB: y.samples}
	if x.multiplier == 0 || y.multiplier == 0 {
		// The series cannot tell their noise; the repeats of the two sets may.
		if n := stats.RepeatNoise([][]float64{x.logs, y.logs}); n.OK && n.SD > 0 {
			if half, ok := stats.RatioHalfWidth(n, 1, 1, Level); ok {
				x.sd, y.sd = n.SD, n.SD
				x.multiplier, y.multiplier = half/(n.SD*math.Sqrt2), half/(n.SD*math.Sqrt2)
			}
		}
	}
	for _, c := range []*combined{&x, &y} {
		c.point.SE2, c.point.HasSE = 0, false
		if c.point.HasLog && c.point.Min > 0 && c.multiplier > 0 && c.sd > 0 && !c.point.Flagged {
			c.point.SE2, c.point.HasSE = c.sd*c.sd/float64(c.point.N), true
		}
	}
	line := Line{Multiplier: y.multiplier}
	if x.point.HasLog {
		line.divide(r.B, &Line{Multiplier: x.multiplier}, r.A)
		r.half, _ = line.halfWidth(r.B, &Line{Multiplier: x.multiplier}, r.A)
	}
	if r.Flagged() {
		r.B.Low, r.B.High = nil, nil
	}
	r.Verdict = Judge(*r.B, m.Direction)
	if r.Verdict != NoVerdict {
		if se := math.Sqrt(x.point.SE2 + y.point.SE2); se > 0 {
			r.Score = math.Abs(y.point.Log-x.point.Log) / se
		}
	}
	return r
}

// setBefore orders rows: by effect over noise, then those of unknown noise by their
// effect, then those that must not be compared.
func setBefore(a, b *SetRow) bool {
	rank := func(r *SetRow) int {
		switch {
		case r.Flagged():
			return 3
		case r.B.Relative == nil:
			return 2
		case r.Verdict == NoVerdict:
			return 1
		}
		return 0
	}
	if x, y := rank(a), rank(b); x != y {
		return x < y
	}
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	effect := func(r *SetRow) float64 {
		if r.B.Relative == nil || *r.B.Relative <= 0 {
			return 0
		}
		return math.Abs(math.Log(*r.B.Relative))
	}
	if x, y := effect(a), effect(b); x != y {
		return x > y
	}
	if d := Order(a.Coordinate, b.Coordinate); d != 0 {
		return d < 0
	}
	return bench.CompareVersions(a.Version, b.Version) < 0
}

// means gives the geometric mean of the ratios of each direction of metrics.
func (c *SetComparison) means() []SetMean {
	var out []SetMean
	for _, d := range []bench.Direction{bench.HigherBetter, bench.LowerBetter, bench.Neutral} {
		m := SetMean{Direction: d}
		shown, sum, half, known, seen := 0.0, 0.0, 0.0, true, false
		for i := range c.Rows {
			r := &c.Rows[i]
			if r.Metric.Direction != d {
				continue
			}
			seen = true
			if r.Flagged() || r.B.Relative == nil || *r.B.Relative <= 0 || !r.A.HasLog || !r.B.HasLog {
				m.LeftOut++
				continue
			}
			log := r.B.Log - r.A.Log
			sum += log
			shown += math.Log(*r.B.Relative)
			m.Rows++
			switch r.Verdict {
			case Better:
				m.Better++
			case Worse:
				m.Worse++
			case Undecided:
				m.Undecided++
			case Moved:
				m.Moved++
			default:
				m.NoVerdict++
			}
			if r.A.HasSE && r.B.HasSE && r.half > 0 {
				half += r.half
			} else {
				known = false
			}
		}
		if !seen {
			continue
		}
		if m.Rows > 0 {
			n := float64(m.Rows)
			m.Ratio = math.Exp(shown / n)
			if known && half > 0 {
				low, high := hull(m.Ratio, sum/n, half/n)
				m.Low, m.High = &low, &high
			}
		}
		out = append(out, m)
	}
	return out
}

// Sentence says in words what a mean comes to.
func (m *SetMean) Sentence() string {
	what := map[bench.Direction]string{bench.HigherBetter: "higher is better", bench.LowerBetter: "lower is better", bench.Neutral: "neither way is better"}[m.Direction]
	if m.Rows == 0 {
		return fmt.Sprintf("No ratio can be given (%s): %s must not be compared or have a baseline of 0.", what, countOf(m.LeftOut, "row", "rows"))
	}
	interval := "noise unknown"
	if m.Low != nil {
		interval = FormatInterval(m.Low, m.High)
	}
	text := fmt.Sprintf("B is %s of A by geometric mean of %s (%s; %s)", FormatRatio(m.Ratio, m.Low, m.High), countOf(m.Rows, "row", "rows"), interval, what)
	var counts []string
	for _, x := range []struct {
		n    int
		word string
	}{{m.Worse, "worse"}, {m.Better, "better"}, {m.Moved, "differ"}, {m.Undecided, "undecided"}, {m.NoVerdict, "with unknown noise"}} {
		if x.n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	text += ": " + strings.Join(counts, ", ")
	if m.LeftOut > 0 {
		text += fmt.Sprintf("; %s left out, not to be compared or with a baseline of 0", countOf(m.LeftOut, "row", "rows"))
	}
	return text + "."
}

// Ratio shows the ratio of a row: with a baseline of 0 there is none, and it says so.
func (r *SetRow) Ratio() string {
	switch {
	case r.B.Relative != nil:
		return FormatRatio(*r.B.Relative, r.B.Low, r.B.High)
	case r.A.Value == 0:
		return BaseIsZero
	}
	return Missing
}
