// Package compare is the one computation behind page, API, CSV, report and
// picture: points and a base in, ratios with their doubt out. It is pure: it
// knows no store and no format.
package compare

import (
	"math"
	"slices"
	"sort"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// Level is the nominal coverage of every interval shown.
const Level = 0.95

// Base names the point that series are divided by. Compiler and Config are ""
// to divide every series by its own point at Version; set, they name the build
// or config whose point divides the others of the same server, workload, step
// and clients. With one of them set and Version "" every point is divided by
// that build's or config's point at the same version.
type Base struct {
	Version  string `json:"version,omitempty"`
	Compiler string `json:"compiler,omitempty"`
	Config   string `json:"config,omitempty"`
}

// Options selects what of the series is shown.
type Options struct {
	// Base with an empty Version is chosen by [DefaultBase] when AutoBase is
	// set; else there is no base and no relative values.
	Base     Base
	AutoBase bool
	// From and To bound the versions shown, both inclusive; "" is open. The base
	// may lie outside.
	From, To string
	// JoinFamilies makes one line of the steps of a family
	// (overwrite → overwriteandwait), see [bench.StepFamily].
	JoinFamilies bool
	// Cache remembers estimates of noise between comparisons; nil: nothing does.
	Cache *Cache
}

// Point is a line's figures at one version.
type Point struct {
	Version string
	// Step is the member of the family that was measured here; equal to the
	// line's step where families are not joined.
	Step string
	N    int // samples counted; flagged ones only where there are no others
	// Value is the median of the samples, the figure shown. Intervals use all
	// samples by Log, the noise of the line and N: the median of five scatters
	// more than their mean, and the spread of these few tells little.
	Value, Min, Max float64
	// Log is the mean of ln of the samples and SE2 its squared standard error
	// (noise² / N), what a page needs to divide by another base; both 0 where
	// Value is not positive or the noise is unknown: see HasLog and HasSE.
	Log, SE2      float64
	HasLog, HasSE bool
	// Relative is Value / base value; nil without base, with a base of 0, where
	// Value is missing, or where no number is large enough. Low and High are the
	// interval of the ratio by all samples, stretched to Relative where that lies
	// outside, nil when the noise cannot be known.
	Relative, Low, High *float64
	Runs                []int64
	Started             bench.LocalTime // of the first sample
	// Mixed: the samples come from builds with different git hashes. They are
	// not repeats of one build.
	Mixed bool
	// Bimodal: the samples fall into two groups, see [stats.Bimodal], around
	// GroupLow and GroupHigh; the median says little of them.
	Bimodal             bool
	GroupLow, GroupHigh float64
	// Flagged: no sample of this point may be compared (assertions enabled,
	// nothing found …). It is drawn, marked, and kept out of noise and changes.
	Flagged bool
	key     string // of the version, see [bench.VersionKey]; "" where the point is not of a line
}

// BaseIsZero says why there is no ratio to a base of 0, wherever a ratio would
// stand: in pages, JSON and CSV.
const BaseIsZero = "n/a (baseline 0)"

// Line is a series prepared for showing: all its points in version order.
type Line struct {
	bench.Coordinate
	Metric  bench.Metric
	Members []string // the steps joined, oldest first, as far as the range shows them; one for an ordinary line
	Points  []Point
	// BaseValue is the raw figure that is 1.00, nil without one; WhyNoBase then
	// says why in words ("not measured at 4.4.1", [BaseIsZero]).
	BaseValue *float64
	BaseN     int
	BaseLog   float64
	BaseSE2   float64
	WhyNoBase string
	Noise     stats.Noise
	// Multiplier turns a standard error into the half width of an interval; 0
	// when the noise is unknown.
	Multiplier float64
	// logs are, by point, ln of the samples that may be compared with others.
	logs [][]float64
}

// Comparison is a set of lines over one version axis.
type Comparison struct {
	Metric   bench.Metric
	Base     Base
	Versions []string // every version that a line has a point at, in order
	Lines    []Line
	// WithoutBase are the coordinates of the lines that have no base value.
	WithoutBase []bench.Coordinate
}

// Compare divides series by a base. The series must share one metric; lines
// come out in the order of [Order].
func Compare(series []bench.Series, opt Options) Comparison {
	var c Comparison
	if len(series) > 0 {
		c.Metric = series[0].Metric
	}
	lines := make([]Line, 0, len(series))
	for _, s := range join(series, opt.JoinFamilies) {
		lines = append(lines, newLine(s, opt.Cache))
	}
	sort.SliceStable(lines, func(i, j int) bool { return Order(lines[i].Coordinate, lines[j].Coordinate) < 0 })

	c.Base = opt.Base
	if c.Base.Version == "" && opt.AutoBase {
		c.Base.Version = DefaultBase(lines, opt.From, opt.To)
	}
	for i := range lines {
		l := &lines[i]
		if c.Base != (Base{}) {
			l.setBase(lines, c.Base)
			if l.WhyNoBase != "" {
				c.WithoutBase = append(c.WithoutBase, l.Coordinate)
			}
		}
	}
	// The range is cut after dividing: the base may lie outside of it.
	for i := range lines {
		lines[i].cut(opt.From, opt.To)
		lines[i].Members = shown(lines[i])
	}
	c.Lines = lines
	c.Versions = versionsOf(lines)
	return c
}

// cut leaves the points within a range of versions.
func (l *Line) cut(from, to string) {
	n := 0
	for i := range l.Points {
		if within(l.Points[i].Version, from, to) {
			l.Points[n], l.logs[n] = l.Points[i], l.logs[i]
			n++
		}
	}
	clear(l.Points[n:])
	clear(l.logs[n:])
	l.Points, l.logs = l.Points[:n], l.logs[:n]
}

// shown gives the members of a line's family that its points are of; all of
// them for a line without points.
func shown(l Line) []string {
	var members []string
	for _, m := range l.Members {
		if slices.ContainsFunc(l.Points, func(p Point) bool { return p.Step == m }) {
			members = append(members, m)
		}
	}
	if members == nil {
		return l.Members
	}
	return members
}

// Order sorts coordinates as pages list them: by step group and step, then
// server, workload, config, compiler, clients.
func Order(a, b bench.Coordinate) int {
	if d := bench.CompareSteps(a.Step, b.Step); d != 0 {
		return d
	}
	for _, f := range [][2]string{{a.System, b.System}, {a.Server, b.Server}, {a.Workload, b.Workload}, {a.Config, b.Config}, {a.Compiler, b.Compiler}} {
		if f[0] != f[1] {
			if f[0] < f[1] {
				return -1
			}
			return 1
		}
	}
	return a.Clients - b.Clients
}

// DefaultBase gives the oldest version within from and to that the most lines
// have a point at, "" when there is none.
func DefaultBase(lines []Line, from, to string) string {
	count := map[string]int{}
	for _, l := range lines {
		for _, p := range l.Points {
			if within(p.Version, from, to) {
				count[p.Version]++
			}
		}
	}
	best := ""
	for v, n := range count {
		switch {
		case best == "", n > count[best]:
			best = v
		case n == count[best] && bench.CompareVersions(v, best) < 0:
			best = v
		}
	}
	return best
}

func within(version, from, to string) bool {
	return (from == "" || bench.CompareVersions(version, from) >= 0) && (to == "" || bench.CompareVersions(version, to) <= 0)
}

// source is a series on its way to a line: its points know the step they are of.
type source struct {
	bench.Series
	members []string
	steps   []string // by point
}

// join makes one source of the members of a family that share everything else.
// Where both members were measured at a version the newer step's point stands.
func join(series []bench.Series, families bool) []source {
	type key struct{ bench.Coordinate }
	var out []source
	at := map[key]int{}
	for _, s := range series {
		member := s.Step
		if families {
			s.Step = bench.StepFamily(s.Step)
		}
		k := key{s.Coordinate}
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			steps := make([]string, len(s.Points))
			for j := range steps {
				steps[j] = member
			}
			out = append(out, source{Series: s, members: []string{member}, steps: steps})
			continue
		}
		out[i] = merge(out[i], s.Points, member)
	}
	for i := range out {
		order := bench.FamilyMembers(out[i].Step)
		sort.SliceStable(out[i].members, func(a, b int) bool {
			return slices.Index(order, out[i].members[a]) < slices.Index(order, out[i].members[b])
		})
	}
	return out
}

func merge(a source, points []bench.Point, member string) source {
	order := bench.FamilyMembers(a.Step)
	rank := func(step string) int { return slices.Index(order, step) }
	merged := source{Series: a.Series, members: append(slices.Clone(a.members), member)}
	merged.Points = nil
	add := func(p bench.Point, step string) {
		merged.Points = append(merged.Points, p)
		merged.steps = append(merged.steps, step)
	}
	i, j := 0, 0
	for i < len(a.Points) || j < len(points) {
		switch {
		case j == len(points), i < len(a.Points) && bench.CompareVersions(a.Points[i].Version, points[j].Version) < 0:
			add(a.Points[i], a.steps[i])
			i++
		case i == len(a.Points), bench.CompareVersions(a.Points[i].Version, points[j].Version) > 0:
			add(points[j], member)
			j++
		default:
			if rank(member) > rank(a.steps[i]) {
				add(points[j], member)
			} else {
				add(a.Points[i], a.steps[i])
			}
			i++
			j++
		}
	}
	return merged
}

func newLine(s source, cache *Cache) Line {
	l := Line{Coordinate: s.Coordinate, Metric: s.Metric, Members: s.members, Points: make([]Point, 0, len(s.Points))}
	logs := make([][]float64, 0, len(s.Points)) // by version, samples that count
	for i, p := range s.Points {
		q, counted := newPoint(p, s.steps[i])
		if q.N == 0 {
			continue
		}
		l.Points = append(l.Points, q)
		var lg []float64
		if !q.Flagged {
			for _, v := range counted {
				if v > 0 {
					lg = append(lg, math.Log(v))
				}
			}
		}
		logs = append(logs, lg)
	}
	resolution := relativeResolution(s.Points)
	l.logs = logs
	for i := range l.Points {
		l.Points[i].key = bench.VersionKey(l.Points[i].Version)
	}
	for i := range l.Points {
		if low, high, ok := stats.Bimodal(logs[i], resolution); ok {
			p := &l.Points[i]
			p.Bimodal, p.GroupLow, p.GroupHigh = true, math.Exp(low), math.Exp(high)
		}
	}
	l.Noise = cache.estimate(logs).WithFloor(resolution)
	if l.Noise.OK && l.Noise.SD > 0 {
		if half, ok := stats.RatioHalfWidth(l.Noise, 1, 1, Level); ok {
			l.Multiplier = half / (l.Noise.SD * math.Sqrt2)
		}
	}
	for i := range l.Points {
		p := &l.Points[i]
		if p.HasLog && p.Min > 0 && l.Multiplier > 0 { // a sample of 0 has no logarithm: nothing is known of such a mean
			p.SE2, p.HasSE = l.Noise.SD*l.Noise.SD/float64(p.N), true
		}
	}
	return l
}

// relativeResolution gives the smallest step the source of a series can show,
// relative to its values (the median over samples): an integer p99 of 3 cannot
// show less than a third. 0 when unknown.
func relativeResolution(points []bench.Point) float64 {
	var rel []float64
	for _, p := range points {
		for _, s := range p.Samples {
			if s.Value > 0 && s.Resolution > 0 {
				rel = append(rel, s.Resolution/s.Value)
			}
		}
	}
	if len(rel) == 0 {
		return 0
	}
	return Median(rel)
}

// meanLog gives the mean of ln of the positive ones of values, of which there is at
// least one.
func meanLog(values []float64) float64 {
	n, sum := 0.0, 0.0
	for _, v := range values {
		if v > 0 {
			n++
			sum += math.Log(v)
		}
	}
	return sum / n
}

// newPoint reduces the samples of a version. Flagged samples count only where
// there are no others.
func newPoint(p bench.Point, step string) (Point, []float64) {
	q := Point{Version: p.Version, Step: step}
	var good, flagged []bench.Sample
	for _, s := range p.Samples {
		if s.Excluded {
			flagged = append(flagged, s)
		} else {
			good = append(good, s)
		}
	}
	if len(good) == 0 {
		good, q.Flagged = flagged, len(flagged) > 0
	}
	values := make([]float64, 0, len(good))
	q.Runs = runsOf(good)
	hash := ""
	for _, s := range good {
		values = append(values, s.Value)
		if s.GitHash != "" {
			if hash != "" && hash != s.GitHash {
				q.Mixed = true
			}
			hash = s.GitHash
		}
	}
	q.N = len(values)
	if q.N == 0 {
		return q, nil
	}
	q.Started = good[0].Started
	q.Min, q.Max = slices.Min(values), slices.Max(values)
	q.Value = Median(values)
	if q.Value > 0 {
		q.Log, q.HasLog = meanLog(values), true
	}
	return q, values
}

// runsOf gives the runs of samples, each once, in the samples' order; nil
// without samples.
func runsOf(samples []bench.Sample) []int64 {
	var runs []int64
	var seen map[int64]bool // only of many samples, nearly all points have few
	if len(samples) > 16 {
		seen = make(map[int64]bool, len(samples))
	}
	for _, s := range samples {
		if seen[s.RunID] || seen == nil && slices.Contains(runs, s.RunID) {
			continue
		}
		if seen != nil {
			seen[s.RunID] = true
		}
		runs = append(runs, s.RunID)
	}
	return runs
}

// Median gives the middle value, the mean of the two middle ones for an even
// count. It panics on an empty slice and leaves its argument as it is.
func Median(values []float64) float64 {
	v := slices.Clone(values)
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

func (l *Line) setBase(lines []Line, base Base) {
	from := l
	if base.Compiler != "" || base.Config != "" {
		want := l.Coordinate
		if base.Compiler != "" {
			want.Compiler = base.Compiler
		}
		if base.Config != "" {
			want.Config = base.Config
		}
		from = nil
		for i := range lines {
			if lines[i].Coordinate == want {
				from = &lines[i]
			}
		}
		if from == nil {
			l.WhyNoBase = "no series of the base: " + want.String()
			return
		}
	}
	if base.Version == "" {
		l.divideByVersion(from)
		return
	}
	b := from.at(base.Version)
	switch {
	case b == nil:
		l.WhyNoBase = "not measured at " + base.Version
		return
	case !b.HasLog:
		l.WhyNoBase = BaseIsZero
		return
	}
	value := b.Value
	l.BaseValue, l.BaseN, l.BaseLog, l.BaseSE2 = &value, b.N, b.Log, b.SE2
	for i := range l.Points {
		l.divide(&l.Points[i], from, b)
	}
}

// divideByVersion divides every point by the other line's point at the same
// version; there is no single figure that is 1.00.
func (l *Line) divideByVersion(from *Line) {
	found, zero := false, false
	for i := range l.Points {
		switch b := from.at(l.Points[i].Version); {
		case b == nil:
		case b.HasLog:
			l.divide(&l.Points[i], from, b)
			found = true
		default:
			zero = true
		}
	}
	switch {
	case found:
	case zero:
		l.WhyNoBase = BaseIsZero
	default:
		l.WhyNoBase = "no version in common with the base"
	}
}

func (l *Line) divide(p *Point, from *Line, b *Point) {
	r := p.Value / b.Value
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return
	}
	p.Relative = &r
	// A point divided by itself is 1.00 by definition and has no doubt.
	if p == b {
		lo, hi := r, r
		p.Low, p.High = &lo, &hi
		return
	}
	if half, ok := l.halfWidth(p, from, b); ok && p.HasLog {
		if lo, hi := hull(r, p.Log-b.Log, half); !math.IsInf(hi, 0) {
			p.Low, p.High = &lo, &hi
		}
	}
}

// hull gives the interval of a ratio by all samples, from its ln and half width,
// stretched to the ratio that is shown, which is that of medians. Of repeats that are
// skewed or fall into two groups the two may say opposite things: then neither is
// told from 1.00.
func hull(shown, log, half float64) (low, high float64) {
	return min(math.Exp(log-half), shown), max(math.Exp(log+half), shown)
}

// halfWidth gives the half width in ln of the interval of p over b, which may
// come from another line with a noise of its own.
func (l *Line) halfWidth(p *Point, from *Line, b *Point) (float64, bool) {
	if !p.HasSE || !b.HasSE {
		return 0, false
	}
	return max(l.Multiplier, from.Multiplier) * math.Sqrt(p.SE2+b.SE2), true
}

func (l *Line) at(version string) *Point {
	for i := range l.Points {
		if bench.CompareVersions(l.Points[i].Version, version) == 0 {
			return &l.Points[i]
		}
	}
	return nil
}

// At gives the point of a line at a version, nil where nothing was measured.
func (l Line) At(version string) *Point { return l.at(version) }

func versionsOf(lines []Line) []string {
	seen := map[string]bool{}
	var out []string
	for _, l := range lines {
		for _, p := range l.Points {
			if !seen[p.Version] {
				seen[p.Version] = true
				out = append(out, p.Version)
			}
		}
	}
	slices.SortFunc(out, bench.CompareVersions)
	return out
}

// Verdict says what a relative value means, given its doubt.
type Verdict string

// The verdicts.
const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Undecided Verdict = "undecided" // cannot be told from 1.00
	Moved     Verdict = "moved"     // differs from 1.00, and neither way is better
	NoVerdict Verdict = ""          // no base, no interval, or flagged
)

// Judge gives the verdict on a point: undecided where its interval holds 1.00.
func Judge(p Point, d bench.Direction) Verdict {
	if p.Relative == nil || p.Low == nil || p.High == nil || p.Flagged {
		return NoVerdict
	}
	switch {
	case *p.Low <= 1 && *p.High >= 1:
		return Undecided
	case d == bench.Neutral:
		return Moved
	case (*p.Low > 1) == (d == bench.HigherBetter):
		return Better
	}
	return Worse
}
