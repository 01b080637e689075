package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// SweepInput is what a comparison of a sweep is made of.
type SweepInput struct {
	Sweep      Sweep
	Series     []bench.Series // of the sweep's place, of any metrics
	Facts      []bench.RunFacts
	Configs    []bench.StoredConfig
	Breakdowns []bench.RunBreakdown // of the sweep's runs
	// Disks are series of fio, of any metrics, and DiskFacts what is known of their
	// runs.
	Disks     []bench.Series
	DiskFacts []bench.RunFacts
	Base      string // name of an arm; "" divides each row by its best
	Cache     *Cache
}

// SweepComparison is an option's values against one of them.
type SweepComparison struct {
	Sweep       Sweep
	Base        string // name of the arm that was asked for, "": each row's best
	Rows        []SweepRow
	Versions    []string
	Splits      []SweepSplit
	Differs     []FactDiff // what else than the option the arms do not have alike
	Disks       DiskReport
	WithoutBase []bench.Coordinate
	// Doubts are sentences on what else may be behind the figures.
	Doubts []string
}

// SweepRow is a place with a cell per arm, in the sweep's order.
type SweepRow struct {
	ArmRow
	Base string // name of the arm that is 1.00, "" without one
	// Best is the name of the arm with the best figure, "" where none can be named;
	// Alike are those that cannot be told from it.
	Best  string
	Alike []string
}

// Known reports whether the doubt of any ratio of a row is known.
func (r *SweepRow) Known() bool {
	return slices.ContainsFunc(r.Cells, func(c ArmCell) bool { return c.Point != nil && c.Low != nil && *c.Low != *c.High })
}

// SweepSplit is a row's figures split by a key of the source.
type SweepSplit struct {
	Step   string
	Key    string // block_read_count
	Metric string // whose figures they are
	Unit   string
	Rows   []SplitRow
}

// SplitRow is a bucket with a cell per arm, in the sweep's order.
type SplitRow struct {
	Bucket string
	Best   string // name of the arm with the lowest figure, "" for none
	Cells  []SplitCell
}

// SplitCell is what one arm measured in a bucket; OK is false where it has none.
type SplitCell struct {
	Value    float64
	Samples  int64    // 0 where the source does not say it
	Percent  float64  // of all samples of the arm, 0 without
	Relative *float64 // to the best of the row
	OK       bool
}

// splitKeys say which breakdown belongs to which metric.
var splitKeys = map[string]string{
	"observed_latency_ns": bench.BreakdownBlockReads,
	"block_read_time_ns":  bench.BreakdownBlockReadTime,
	"merge_samples":       bench.BreakdownMerges,
}

// CompareSweep compares the values of an option.
func CompareSweep(in SweepInput) SweepComparison {
	c := SweepComparison{Sweep: in.Sweep, Base: in.Base}
	series := c.split(in.Series)
	names := make([]string, len(in.Sweep.Arms))
	for i := range in.Sweep.Arms {
		names[i] = in.Sweep.Arms[i].Name()
	}
	// A row is divided by an arm of its own choice: one comparison per arm.
	by := map[string]Arms{}
	against := func(base string) *Arms {
		a, ok := by[base]
		if !ok {
			a = CompareArms(series, AxisOption, base, "", in.Cache)
			by[base] = a
		}
		return &a
	}
	first := against(names[0])
	c.Versions = first.Versions
	for i := range first.Rows {
		row := SweepRow{Best: bestOf(&first.Rows[i])}
		row.Base = in.Base
		if row.Base == "" {
			row.Base = cmp.Or(row.Best, firstMeasured(&first.Rows[i], names))
		}
		from := &against(row.Base).Rows[i]
		row.ArmRow = *from
		row.Cells = nil
		for _, n := range names {
			cell := ArmCell{Arm: n}
			if x := from.Cell(n); x != nil {
				cell = *x
			}
			row.Cells = append(row.Cells, cell)
		}
		if row.Best != "" {
			best := against(row.Best).Rows[i]
			for _, n := range names {
				if x := best.Cell(n); x != nil && n != row.Best && x.Verdict == Undecided {
					row.Alike = append(row.Alike, n)
				}
			}
		}
		c.Rows = append(c.Rows, row)
	}
	if in.Base != "" {
		c.WithoutBase = against(in.Base).WithoutBase
	}
	c.splits(in.Breakdowns)
	c.Disks = diskReport(in)
	c.differences(in)
	return c
}

// split makes of the series of configs those of the option's values.
func (c *SweepComparison) split(series []bench.Series) []bench.Series {
	arm := map[int64]string{}
	for i := range c.Sweep.Arms {
		a := &c.Sweep.Arms[i]
		for _, id := range a.Runs {
			arm[id] = a.Name()
		}
	}
	type key struct {
		bench.Coordinate
		metric string
	}
	at := map[key]int{}
	var out []bench.Series
	for _, s := range series {
		for _, p := range s.Points {
			for _, x := range p.Samples {
				name, ok := arm[x.RunID]
				if !ok {
					continue
				}
				k := key{s.Coordinate, s.Metric.Name}
				k.Config = name
				if c.Sweep.Server == "" {
					k.Server = ""
				}
				i, found := at[k]
				if !found {
					i = len(out)
					at[k] = i
					out = append(out, bench.Series{Coordinate: k.Coordinate, Metric: s.Metric})
				}
				points := out[i].Points
				j := slices.IndexFunc(points, func(q bench.Point) bool { return bench.CompareVersions(q.Version, p.Version) == 0 })
				if j < 0 {
					j = len(points)
					points = append(points, bench.Point{Version: p.Version})
				}
				points[j].Samples = append(points[j].Samples, x)
				out[i].Points = points
			}
		}
	}
	for i := range out {
		slices.SortStableFunc(out[i].Points, func(a, b bench.Point) int { return bench.CompareVersions(a.Version, b.Version) })
	}
	return out
}

// bestOf names the arm with the best figure among those that may be compared, ""
// where fewer than two may, neither way is better, or all are equal.
func bestOf(r *ArmRow) string {
	best, n, differ := -1, 0, false
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Point == nil || c.Flagged {
			continue
		}
		n++
		differ = differ || best >= 0 && c.Value != r.Cells[best].Value
		if best < 0 || better(c.Value, r.Cells[best].Value, r.Metric.Direction) {
			best = i
		}
	}
	if n < 2 || !differ || r.Metric.Direction == bench.Neutral {
		return ""
	}
	return r.Cells[best].Arm
}

func better(a, b float64, d bench.Direction) bool {
	if d == bench.HigherBetter {
		return a > b
	}
	return a < b
}

func firstMeasured(r *ArmRow, names []string) string {
	for _, n := range names {
		if r.Cell(n) != nil {
			return n
		}
	}
	return ""
}

// splits gathers the breakdowns of the metrics that are compared.
func (c *SweepComparison) splits(list []bench.RunBreakdown) {
	type key struct{ step, metric string }
	done := map[key]bool{}
	for i := range c.Rows {
		r := &c.Rows[i]
		k := key{r.Step, r.Metric.Name}
		wanted := splitKeys[r.Metric.Name]
		if wanted == "" || done[k] {
			continue
		}
		done[k] = true
		s := SweepSplit{Step: r.Step, Metric: r.Metric.Name}
		s.Key, _, _ = strings.Cut(wanted, ":")
		total := make([]int64, len(c.Sweep.Arms))
		type sum struct {
			value   float64
			n       int
			samples int64
		}
		sums := map[string][]sum{}
		var buckets []string
		for _, b := range list {
			arm := slices.IndexFunc(c.Sweep.Arms, func(a SweepArm) bool { return slices.Contains(a.Runs, b.RunID) })
			if arm < 0 || b.Step != r.Step || b.Key != wanted {
				continue
			}
			if sums[b.Bucket] == nil {
				sums[b.Bucket] = make([]sum, len(c.Sweep.Arms))
				buckets = append(buckets, b.Bucket)
			}
			x := &sums[b.Bucket][arm]
			x.value, x.n, x.samples = x.value+b.Value, x.n+1, x.samples+b.Samples
			total[arm] += b.Samples
			s.Unit = b.Unit
		}
		slices.SortFunc(buckets, compareNatural)
		for _, bucket := range buckets {
			row := SplitRow{Bucket: bucket}
			best := -1
			for arm, x := range sums[bucket] {
				cell := SplitCell{}
				if x.n > 0 {
					cell = SplitCell{Value: x.value / float64(x.n), Samples: x.samples, OK: true}
					if total[arm] > 0 {
						cell.Percent = 100 * float64(x.samples) / float64(total[arm])
					}
					if r.Metric.Direction != bench.Neutral && (best < 0 || better(cell.Value, row.Cells[best].Value, r.Metric.Direction)) {
						best = arm
					}
				}
				row.Cells = append(row.Cells, cell)
			}
			if best >= 0 {
				row.Best = c.Sweep.Arms[best].Name()
				for arm := range row.Cells {
					if x := &row.Cells[arm]; x.OK && row.Cells[best].Value > 0 {
						ratio := x.Value / row.Cells[best].Value
						x.Relative = &ratio
					}
				}
			}
			s.Rows = append(s.Rows, row)
		}
		if len(s.Rows) > 0 {
			c.Splits = append(c.Splits, s)
		}
	}
}

// differences says what else than the option the arms do not have alike.
func (c *SweepComparison) differences(in SweepInput) {
	option := c.Sweep.Option.String()
	sets := make([][]bench.RunFacts, len(c.Sweep.Arms))
	dated := 0
	total := 0
	for i := range c.Sweep.Arms {
		for _, f := range in.Facts {
			if slices.Contains(c.Sweep.Arms[i].Runs, f.ID) {
				sets[i] = append(sets[i], f)
				total++
				if !f.Started.IsZero() {
					dated++
				}
			}
		}
	}
	label := func(i int) string { return c.Sweep.Arms[i].Label(c.Sweep.Option) }
	for _, d := range DiffFacts(sets, ConfigSets(in.Configs)) {
		if d.Kind == FactOption && d.Name == option || d.Kind == FactRun && d.Name == "config" {
			continue
		}
		c.Differs = append(c.Differs, d)
		var each []string
		for i, values := range d.Values {
			each = append(each, fmt.Sprintf("%s: %s", label(i), FactsText(values)))
		}
		list := strings.Join(each, ", ")
		what := d.Name
		if d.Kind == FactOption {
			what = "the option " + d.Name
		}
		switch {
		case d.Disjoint() && d.Kind == FactRun && d.Name == "date":
			c.Doubts = append(c.Doubts, fmt.Sprintf("The values were measured on different days (%s): what changed in between may be the cause as well as %s.", list, option))
		case d.Disjoint():
			c.Doubts = append(c.Doubts, fmt.Sprintf("Each value has another %s (%s): these figures alone cannot tell it from %s.", strings.TrimPrefix(what, "the "), list, option))
		case d.Kind == FactRun && d.Name == "date":
			c.Doubts = append(c.Doubts, fmt.Sprintf("Some values were measured on other days (%s).", list))
		default:
			c.Doubts = append(c.Doubts, fmt.Sprintf("More than %s differs: %s (%s).", option, what, list))
		}
	}
	for i := range c.Sweep.Left {
		l := &c.Sweep.Left[i]
		var names []string
		for _, n := range l.Differs {
			names = append(names, n.String())
		}
		text := l.Label(c.Sweep.Option)
		if configs := slices.DeleteFunc(slices.Clone(l.Configs), func(s string) bool { return s == "" }); len(configs) > 0 {
			text += " (" + words(configs) + ")"
		}
		c.Doubts = append(c.Doubts, fmt.Sprintf("%s is left out: it differs in %s as well.", text, words(names)))
	}
	if total > 0 && dated < total {
		c.Doubts = append(c.Doubts, map[bool]string{
			true:  "No run has a date: whether the values were measured one after another or weeks apart cannot be told.",
			false: fmt.Sprintf("%d of %d runs have no date: whether they were measured together with the others cannot be told.", total-dated, total),
		}[dated == 0])
	}
}
