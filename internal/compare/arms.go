package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// Axis is what the arms of a comparison differ in, where it is not the version:
// the same comparison with another free axis.
type Axis string

// The axes.
const (
	AxisCompiler Axis = "compiler"
	AxisConfig   Axis = "config"
	// AxisOption is the value of one option. A coordinate has no place of its own for
	// it: the config's holds its name, see [SweepArm.Name].
	AxisOption Axis = "option"
)

// of gives the value that a coordinate has on the axis.
func (a Axis) of(c bench.Coordinate) string {
	if a == AxisCompiler {
		return c.Compiler
	}
	return c.Config
}

// fixed gives a coordinate without its value on the axis.
func (a Axis) fixed(c bench.Coordinate) bench.Coordinate {
	if a == AxisCompiler {
		c.Compiler = ""
	} else {
		c.Config = ""
	}
	return c
}

// base names an arm as base; version "" divides each version by its own.
func (a Axis) base(arm, version string) Base {
	if a == AxisCompiler {
		return Base{Compiler: arm, Version: version}
	}
	return Base{Config: arm, Version: version}
}

// Arms is a comparison along an [Axis]: a row for all that is fixed, the version
// included, a cell per arm.
type Arms struct {
	Axis     Axis
	Base     Base
	Arms     []string // the base first, then by name, numbers in them as numbers: bs4k before bs16k
	Versions []string
	Rows     []ArmRow // in the order of [Order], then of versions
	// Lines are the series behind the cells, in the order of [Order].
	Lines []Line
	// WithoutBase are the coordinates that have no base to divide by.
	WithoutBase []bench.Coordinate
}

// ArmRow is one place that arms are compared at.
type ArmRow struct {
	bench.Coordinate // without its value on the axis
	Version          string
	Metric           bench.Metric
	Cells            []ArmCell // one per arm, in their order
}

// ArmCell is what one arm measured; Point is nil where it measured nothing.
type ArmCell struct {
	Arm string
	*Point
	Verdict Verdict
	// Practical is what the practical rule says where the caller asked for it, see
	// [Practical].
	Practical *Practical
	// logs are ln of the samples that may be compared with others, multiplier turns
	// the standard error of the cell into the half width of an interval: that of its
	// line, or of the repeats of all arms.
	logs       []float64
	multiplier float64
}

// Cell gives the cell of an arm, nil where the arm measured nothing there.
func (r *ArmRow) Cell(arm string) *ArmCell {
	for i := range r.Cells {
		if r.Cells[i].Arm == arm && r.Cells[i].Point != nil {
			return &r.Cells[i]
		}
	}
	return nil
}

// CompareArms divides series along an axis by one arm of it, at the same version
// or, where version is set, all by that version of the arm. Series may be of
// several metrics, each of which is compared for itself.
func CompareArms(series []bench.Series, axis Axis, base, version string, cache *Cache) Arms {
	return compareArms(series, axis, Options{Base: axis.base(base, version), Cache: cache})
}

// compareArms is CompareArms with all its options; the base of these names an arm.
func compareArms(series []bench.Series, axis Axis, opt Options) Arms {
	opt.AutoBase = false
	out := Arms{Axis: axis, Base: opt.Base}
	byMetric := map[string][]bench.Series{}
	var metrics []string
	for _, s := range series {
		if byMetric[s.Metric.Name] == nil {
			metrics = append(metrics, s.Metric.Name)
		}
		byMetric[s.Metric.Name] = append(byMetric[s.Metric.Name], s)
	}
	slices.SortFunc(metrics, bench.CompareMetrics)
	for _, m := range metrics {
		c := Compare(byMetric[m], opt)
		out.Lines = append(out.Lines, c.Lines...)
		out.WithoutBase = append(out.WithoutBase, c.WithoutBase...)
	}
	base := opt.Base.Compiler
	if axis == AxisConfig {
		base = opt.Base.Config
	}
	out.Arms = armsOf(out.Lines, axis, base)
	out.Versions = versionsOf(out.Lines)
	out.Rows = armRows(out.Lines, axis, out.Arms)
	if opt.Base.Version == "" {
		for i := range out.Rows {
			out.Rows[i].pool(base)
		}
	}
	return out
}

// pool gives the cells of a row intervals by the repeats of all arms there, where
// the lines alone cannot tell their noise: one version has no neighbours.
func (r *ArmRow) pool(base string) {
	from := r.Cell(base)
	if from == nil || !from.HasLog || from.Min <= 0 || from.Flagged {
		return
	}
	var points [][]float64
	for _, c := range r.Cells {
		points = append(points, c.logs)
	}
	n := stats.RepeatNoise(points)
	half, ok := stats.RatioHalfWidth(n, 1, 1, Level)
	if !n.OK || !ok || n.SD <= 0 {
		return
	}
	multiplier := half / (n.SD * math.Sqrt2)
	use := func(c *ArmCell) {
		c.SE2, c.HasSE, c.multiplier = n.SD*n.SD/float64(c.N), true, multiplier
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Point == nil || c.Arm == base || c.Relative == nil || c.Low != nil || !c.HasLog || c.Min <= 0 || c.Flagged {
			continue
		}
		use(from)
		use(c)
		low, high := hull(*c.Relative, c.Log-from.Log, multiplier*math.Sqrt(from.SE2+c.SE2))
		c.Low, c.High = &low, &high
		c.Verdict = Judge(*c.Point, r.Metric.Direction)
	}
}

// armsOf lists the arms that lines are of.
func armsOf(lines []Line, axis Axis, base string) []string {
	seen := map[string]bool{}
	var arms []string
	for _, l := range lines {
		if arm := axis.of(l.Coordinate); !seen[arm] {
			seen[arm] = true
			arms = append(arms, arm)
		}
	}
	slices.SortFunc(arms, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == base:
			return -1
		case b == base:
			return 1
		}
		return compareNatural(a, b)
	})
	return arms
}

// compareNatural orders names with the numbers in them as numbers.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		x, y := digitsOf(a), digitsOf(b)
		if x != "" && y != "" {
			m, n := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if d := cmp.Or(len(m)-len(n), strings.Compare(m, n)); d != 0 {
				return d
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digitsOf gives the digits that a text begins with.
func digitsOf(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

func armRows(lines []Line, axis Axis, arms []string) []ArmRow {
	type rowKey struct {
		bench.Coordinate
		version string // by key: two spellings are one release
		metric  string
	}
	at := map[rowKey]int{}
	var rows []ArmRow
	for i := range lines {
		l := &lines[i]
		fixed := axis.fixed(l.Coordinate)
		for j := range l.Points {
			p := &l.Points[j]
			k := rowKey{fixed, bench.VersionKey(p.Version), l.Metric.Name}
			n, ok := at[k]
			if !ok {
				n = len(rows)
				at[k] = n
				row := ArmRow{Coordinate: fixed, Version: p.Version, Metric: l.Metric}
				for _, arm := range arms {
					row.Cells = append(row.Cells, ArmCell{Arm: arm})
				}
				rows = append(rows, row)
			}
			c := &rows[n].Cells[slices.Index(arms, axis.of(l.Coordinate))]
			c.Point, c.Verdict = p, Judge(*p, l.Metric.Direction)
			c.logs, c.multiplier = l.logs[j], l.Multiplier
		}
	}
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := &rows[i], &rows[j]
		if d := Order(a.Coordinate, b.Coordinate); d != 0 {
			return d < 0
		}
		if d := bench.CompareVersions(a.Version, b.Version); d != 0 {
			return d < 0
		}
		return bench.CompareMetrics(a.Metric.Name, b.Metric.Name) < 0
	})
	return rows
}

// PrimaryOnly leaves of series those of the metric that decides their step.
func PrimaryOnly(series []bench.Series) []bench.Series {
	return slices.DeleteFunc(slices.Clone(series), func(s bench.Series) bool {
		return s.Metric.Name != bench.PrimaryMetric(s.Suite, s.Step)
	})
}

// countOf gives a number with its noun.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ArmsQuery is what a page or an API call asks for of a comparison along an axis.
type ArmsQuery struct {
	// Filter selects the series. With an empty Metric each step is compared by the
	// one that decides it, see [bench.PrimaryMetric].
	Filter bench.SeriesFilter
	Axis   Axis
	Base   string // arm
}

// Fetch gives the filters of the series that answering needs: one per metric, each
// with the base.
func (q ArmsQuery) Fetch() []bench.SeriesFilter {
	f := q.Filter
	if q.Axis == AxisCompiler {
		f.Compilers = with(f.Compilers, q.Base)
	} else {
		f.Configs = with(f.Configs, q.Base)
	}
	metrics := []string{f.Metric}
	if f.Metric == "" {
		metrics = primaryMetricsOf(f.Suite)
	}
	var filters []bench.SeriesFilter
	for _, m := range metrics {
		f.Metric = m
		filters = append(filters, f)
	}
	return filters
}

// primaryMetricsOf lists the metrics that may decide a step of a suite, of any
// with "".
func primaryMetricsOf(suite string) []string {
	switch suite {
	case "":
		return bench.PrimaryMetrics()
	case bench.SuiteIBench:
		return []string{"qps", "ips"}
	}
	return []string{bench.PrimaryMetric(suite, "")}
}

// Keep leaves of fetched series those that were asked for.
func (q ArmsQuery) Keep(series []bench.Series) []bench.Series {
	if q.Filter.Metric == "" {
		return PrimaryOnly(series)
	}
	return series
}

// RunsOf lists the runs that series are of, each once, in order.
func RunsOf(series []bench.Series) []int64 {
	var runs []int64
	for _, s := range series {
		for _, p := range s.Points {
			for _, x := range p.Samples {
				runs = append(runs, x.RunID)
			}
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// SystemsOf lists the systems that series are of, in order.
func SystemsOf(series []bench.Series) []string {
	var systems []string
	for _, s := range series {
		systems = append(systems, s.System)
	}
	slices.Sort(systems)
	return slices.Compact(systems)
}
