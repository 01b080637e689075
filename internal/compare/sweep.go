package compare

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Sweep is an option that was measured at several values with nothing else in the
// options changed: the value is the free axis.
type Sweep struct {
	System   string
	Suite    string
	Server   string // "": each value on servers of its own
	Workload string
	Option   bench.OptionName
	Arms     []SweepArm // in order of their numbers, the one that does not set it first
}

// SweepArm is a value of the option with the runs that were made with it.
type SweepArm struct {
	Set     bool // false: no config or command line says it, and the program's default holds
	Number  float64
	Written string   // as written: 8G, 4096
	Configs []string // names, "" among them where a run has none
	Runs    []int64
}

// notSet names the arm of the runs that do not set the option.
const notSet = "not set"

// Name is the arm's value in one form, for addresses and for comparing: 4096, or
// "not set".
func (a *SweepArm) Name() string {
	if !a.Set {
		return notSet
	}
	return strconv.FormatFloat(a.Number, 'f', -1, 64)
}

// Label is the arm's value for people: 4 KiB of a size in bytes that nothing was
// written about, else as written.
func (a *SweepArm) Label(option bench.OptionName) string {
	if !a.Set {
		return notSet
	}
	if a.Written != a.Name() || !isSize(option.Key) {
		return a.Written
	}
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n := a.Number / u.bytes; n >= 1 && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', -1, 64) + " " + u.name
		}
	}
	return a.Written
}

// isSize reports whether an option is a number of bytes by its name.
func isSize(key string) bool {
	return strings.HasSuffix(key, "_size") && key != "key_size" && key != "value_size" || strings.HasSuffix(key, "_bytes") || strings.HasSuffix(key, "_buffer")
}

// Configs names the configs of all arms, each once.
func (s *Sweep) Configs() []string {
	var out []string
	for i := range s.Arms {
		for _, c := range s.Arms[i].Configs {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Runs lists the runs of all arms, in order.
func (s *Sweep) Runs() []int64 {
	var out []int64
	for i := range s.Arms {
		out = append(out, s.Arms[i].Runs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Arm gives the arm of a name, nil where there is none.
func (s *Sweep) Arm(name string) *SweepArm {
	for i := range s.Arms {
		if s.Arms[i].Name() == name {
			return &s.Arms[i]
		}
	}
	return nil
}

// notSwept are options that people do not choose a value of: a sweep over them
// says nothing.
var notSwept = []string{"seed", "port", "entries", "filesize", "rawsize"}

// sweepPlace is all but the options that runs must share to be arms of a sweep.
type sweepPlace struct {
	system, suite, server, workload, version, compiler string
	clients                                            int
}

// variant is a set of options with the runs that were made with it.
type variant struct {
	options map[bench.OptionName]bench.Setting
	all     uint64 // the set's fingerprint
	configs []string
	servers []string
	runs    []int64
}

// fingerprint of one setting. Those of a set are added up, so that one option can
// be taken out again.
func fingerprint(n bench.OptionName, s bench.Setting) uint64 {
	value := s.Value
	switch value {
	case "1":
		value = "ON" // see [bench.Setting.Same]
	case "0":
		value = "OFF"
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(n.Scope + "\x00" + n.Key + "\x00" + value)) // never fails
	return h.Sum64()
}

// FindSweeps lists the sweeps among runs, those of the most values first. Two runs
// are arms of one where their options differ in one number only, whatever the
// configs are called. Values that were each measured on a server of their own make
// a sweep too, which [CompareSweep] says plainly.
func FindSweeps(runs []bench.RunFacts, configs []bench.StoredConfig) []Sweep {
	sets := ConfigSets(configs)
	var out []Sweep
	at := map[string]int{}
	for _, apart := range []bool{false, true} {
		places := map[sweepPlace][]*variant{}
		var order []sweepPlace
		for i := range runs {
			r := &runs[i]
			p := sweepPlace{r.System, r.Suite, r.Server, r.Workload, bench.VersionKey(r.Build.Version), r.Build.Compiler, r.Clients}
			if apart {
				p.server = ""
			}
			options := OptionsOf(r, sets)
			all := uint64(0)
			for n, s := range options {
				all += fingerprint(n, s)
			}
			if places[p] == nil {
				order = append(order, p)
			}
			j := slices.IndexFunc(places[p], func(v *variant) bool { return v.all == all })
			if j < 0 {
				j = len(places[p])
				places[p] = append(places[p], &variant{options: options, all: all})
			}
			v := places[p][j]
			v.runs = append(v.runs, r.ID)
			if !slices.Contains(v.configs, r.Config) {
				v.configs = append(v.configs, r.Config)
			}
			if !slices.Contains(v.servers, r.Server) {
				v.servers = append(v.servers, r.Server)
			}
		}
		for _, p := range order {
			for _, s := range sweepsAt(p, places[p], apart) {
				key := fmt.Sprint(s.System, "\x00", s.Suite, "\x00", s.Server, "\x00", s.Workload, "\x00", s.Option)
				for i := range s.Arms {
					slices.Sort(s.Arms[i].Configs)
					key += fmt.Sprint("\x00", s.Arms[i].Name(), s.Arms[i].Configs)
				}
				if j, ok := at[key]; ok { // the same at another version or by another compiler
					for i := range s.Arms {
						out[j].Arms[i].Runs = append(out[j].Arms[i].Runs, s.Arms[i].Runs...)
					}
					continue
				}
				at[key] = len(out)
				out = append(out, s)
			}
		}
	}
	for i := range out {
		for j := range out[i].Arms {
			slices.Sort(out[i].Arms[j].Runs)
		}
	}
	slices.SortStableFunc(out, func(a, b Sweep) int {
		return cmp.Or(len(b.Arms)-len(a.Arms), strings.Compare(a.System, b.System), strings.Compare(a.Suite, b.Suite), strings.Compare(a.Server, b.Server),
			strings.Compare(a.Workload, b.Workload), strings.Compare(a.Option.String(), b.Option.String()), slices.Compare(a.Configs(), b.Configs()))
	})
	return out
}

// sweepsAt finds the sweeps of one place.
func sweepsAt(p sweepPlace, variants []*variant, apart bool) []Sweep {
	if len(variants) < 2 {
		return nil
	}
	var names []bench.OptionName
	seen := map[bench.OptionName]bool{}
	for _, v := range variants {
		for n, s := range v.options {
			if _, ok := numberOf(s); ok && !seen[n] && !slices.Contains(notSwept, n.Key) {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	slices.SortFunc(names, func(a, b bench.OptionName) int { return strings.Compare(a.String(), b.String()) })
	var out []Sweep
	for _, n := range names {
		groups := map[uint64][]*variant{}
		var order []uint64
		for _, v := range variants {
			rest := v.all
			s, set := v.options[n]
			if set {
				rest -= fingerprint(n, s)
			}
			if _, ok := numberOf(s); set && !ok {
				continue // a word among numbers
			}
			if groups[rest] == nil {
				order = append(order, rest)
			}
			groups[rest] = append(groups[rest], v)
		}
		for _, rest := range order {
			group := groups[rest]
			if len(group) < 2 || apart && !onServersOfTheirOwn(group) {
				continue
			}
			s := Sweep{System: p.system, Suite: p.suite, Server: p.server, Workload: p.workload, Option: n}
			for _, v := range group {
				setting := v.options[n]
				number, _ := numberOf(setting)
				s.Arms = append(s.Arms, SweepArm{
					Set: setting.Set, Number: number, Written: cmp.Or(setting.Written, setting.Value), Configs: slices.Clone(v.configs), Runs: slices.Clone(v.runs),
				})
			}
			slices.SortFunc(s.Arms, func(a, b SweepArm) int {
				if a.Set != b.Set {
					return map[bool]int{true: 1, false: -1}[a.Set]
				}
				return cmp.Compare(a.Number, b.Number)
			})
			out = append(out, s)
		}
	}
	return out
}

// onServersOfTheirOwn reports whether no two variants share a server.
func onServersOfTheirOwn(group []*variant) bool {
	seen := map[string]bool{}
	for _, v := range group {
		for _, s := range v.servers {
			if seen[s] {
				return false
			}
		}
		for _, s := range v.servers {
			seen[s] = true
		}
	}
	return true
}

// numberOf reads a setting that is a number.
func numberOf(s bench.Setting) (float64, bool) {
	if !s.Set {
		return 0, false
	}
	v, err := strconv.ParseFloat(s.Value, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

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
// where fewer than two may, or neither way is better.
func bestOf(r *ArmRow) string {
	best, n := -1, 0
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Point == nil || c.Flagged {
			continue
		}
		n++
		if best < 0 || better(c.Value, r.Cells[best].Value, r.Metric.Direction) {
			best = i
		}
	}
	if n < 2 || r.Metric.Direction == bench.Neutral {
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
	if total > 0 && dated < total {
		c.Doubts = append(c.Doubts, map[bool]string{
			true:  "No run has a date: whether the values were measured one after another or weeks apart cannot be told.",
			false: fmt.Sprintf("%d of %d runs have no date: whether they were measured together with the others cannot be told.", total-dated, total),
		}[dated == 0])
	}
}

// FormatFigure shows a figure with its unit for people: 516.923 µs of 516923 ns,
// 18,970/s.
func FormatFigure(m bench.Metric, v float64) string {
	text, unit := FormatIn(m, v)
	switch unit {
	case "":
		return text
	case "/s", thinSpace + "%":
		return text + unit
	}
	return text + " " + unit
}

// FormatIn shows a figure and names the unit that it is shown in: nanoseconds are
// shown in microseconds, with all their digits.
func FormatIn(m bench.Metric, v float64) (text, unit string) {
	switch m.Unit {
	case "ns":
		return strconv.FormatFloat(v/1000, 'f', 3, 64), "µs"
	case "1/s":
		return FormatFull(v), "/s"
	case "count", "ratio":
		return FormatFull(v), ""
	case "%":
		return FormatFull(v), thinSpace + "%"
	}
	return FormatFull(v), m.Unit
}

// sweepSentences is how many rows are each told in a sentence; of more, a sentence
// counts.
const sweepSentences = 3

// FormatSwept shows the ratio of a sweep: with three decimals, for neighbouring
// values often differ by a few percent.
func FormatSwept(ratio float64) string { return strconv.FormatFloat(ratio, 'f', 3, 64) }

// Summary says in sentences what the sweep comes to: the best value of each row,
// how far the others are from it, and how sure that is.
func (c *SweepComparison) Summary() []string {
	var out []string
	option := c.Sweep.Option.String()
	label := func(name string) string { return c.Sweep.Arm(name).Label(c.Sweep.Option) }
	known, ranked, flagged := false, 0, 0
	most := map[string]int{}
	for i := range c.Rows {
		r := &c.Rows[i]
		known = known || r.Known()
		flagged += map[bool]int{true: 1}[slices.ContainsFunc(r.Cells, func(x ArmCell) bool { return x.Point != nil && x.Flagged })]
		if r.Best == "" {
			continue
		}
		ranked++
		most[r.Best]++
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Best == "" || len(c.Rows) > sweepSentences {
			continue
		}
		best := r.Cell(r.Best)
		var others []string
		for j := range r.Cells {
			x := &r.Cells[j]
			if x.Point == nil || x.Arm == r.Best || x.Flagged || best.Value == 0 {
				continue
			}
			others = append(others, fmt.Sprintf("%s %s", label(x.Arm), FormatSwept(x.Value/best.Value)))
		}
		text := fmt.Sprintf("%s of %s is best at %s: %s %s", option, label(r.Best), c.place(r), r.Metric.Title, FormatFigure(r.Metric, best.Value))
		if len(others) > 0 {
			text += "; " + words(others) + " of it"
		}
		out = append(out, text+".")
		if len(r.Alike) > 0 {
			var names []string
			for _, n := range r.Alike {
				names = append(names, label(n))
			}
			out = append(out, fmt.Sprintf("%s cannot be told from it.", words(names)))
		}
	}
	if len(c.Rows) > sweepSentences && ranked > 0 {
		var counts []string
		for i := range c.Sweep.Arms {
			if n := c.Sweep.Arms[i].Name(); most[n] > 0 {
				counts = append(counts, fmt.Sprintf("%s in %d", label(n), most[n]))
			}
		}
		out = append(out, fmt.Sprintf("The best figure of %s is that of %s of %s.", option, words(counts), countOf(ranked, "row", "rows")))
	}
	if !known && ranked > 0 {
		out = append(out, "One run per value: no interval can be given, and small differences may be noise.")
	}
	if flagged > 0 {
		out = append(out, fmt.Sprintf("%s must not be compared (see the warnings of the runs): %s of them is named.", countOf(flagged, "row has figures that", "rows have figures that"),
			map[bool]string{true: "no best value", false: "no such value"}[ranked == 0]))
	}
	return out
}

// place names a row among the others.
func (c *SweepComparison) place(r *SweepRow) string {
	rows := make([]ArmRow, len(c.Rows))
	for i := range c.Rows {
		rows[i] = c.Rows[i].ArmRow
	}
	return rowPlace(&r.ArmRow, rows)
}

// SweepQuery is what a page or an API call asks for of a sweep. Empty fields
// leave the choice: the first sweep of [FindSweeps] that fits.
type SweepQuery struct {
	System, Suite, Server, Workload string
	Option                          string
	Configs                         []string // only a sweep over exactly these, or more, of them
	Versions                        []string // rows of these only
	Steps                           []string
	Metric                          string // "" compares each step by the one that decides it
	Base                            string // name of an arm, "" the best of each row
}

// Fits reports whether a sweep is one that the query asks for.
func (q SweepQuery) Fits(s *Sweep) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	if !is(q.System, s.System) || !is(q.Suite, s.Suite) || !is(q.Server, s.Server) || !is(q.Workload, s.Workload) || !is(q.Option, s.Option.String()) {
		return false
	}
	have := s.Configs()
	for _, c := range q.Configs {
		if !slices.Contains(have, c) {
			return false
		}
	}
	return true
}

// Filters gives the series that a sweep needs, one filter a metric.
func (q SweepQuery) Filters(s *Sweep) []bench.SeriesFilter {
	f := bench.SeriesFilter{System: s.System, Suite: s.Suite, Workloads: []string{s.Workload}, Steps: q.Steps, Configs: s.Configs()}
	if s.Server != "" {
		f.Servers = []string{s.Server}
	}
	metrics := []string{q.Metric}
	if q.Metric == "" {
		metrics = primaryMetricsOf(s.Suite)
	}
	var out []bench.SeriesFilter
	for _, m := range metrics {
		f.Metric = m
		out = append(out, f)
	}
	return out
}

// Keep leaves of fetched series those that were asked for.
func (q SweepQuery) Keep(series []bench.Series) []bench.Series {
	if q.Metric == "" {
		series = PrimaryOnly(series)
	}
	return slices.DeleteFunc(slices.Clone(series), func(s bench.Series) bool {
		return bench.StepRole(s.Suite, s.Step) == bench.RolePrepare && !slices.Contains(q.Steps, s.Step)
	})
}

// Wanted leaves of a comparison's rows those of the versions that were asked for.
func (q SweepQuery) Wanted(rows []SweepRow) []SweepRow {
	if len(q.Versions) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r SweepRow) bool {
		return !slices.ContainsFunc(q.Versions, func(v string) bool { return bench.CompareVersions(v, r.Version) == 0 })
	})
}

// DiskMetrics are the metrics of fio that say what a disk is like.
func DiskMetrics() []string {
	return []string{"iops", "mb_per_s", "average", "stdev_us", "p50", "p99", "max"}
}

// DiskFilters gives the series of fio that may be about a sweep's disks. fio is of
// no system of its own: it may be stored under any.
func DiskFilters(s *Sweep) []bench.SeriesFilter {
	var out []bench.SeriesFilter
	for _, m := range DiskMetrics() {
		f := bench.SeriesFilter{Suite: bench.SuiteFIO, Metric: m}
		if s.Server != "" {
			f.Servers = []string{s.Server}
		}
		out = append(out, f)
	}
	return out
}

// SweepSource is what [ReadSweep] reads from. A store satisfies it.
type SweepSource interface {
	Varied(ctx context.Context, f bench.VariedFilter) ([]bench.RunFacts, error)
	Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error)
	Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error)
	Breakdowns(ctx context.Context, runs []int64) ([]bench.RunBreakdown, error)
	RunFacts(ctx context.Context, runs []int64) ([]bench.RunFacts, error)
}

// ReadSweep finds the sweeps that a store holds and compares the values of the one
// that a query asks for. all are those of the query's system, or of all systems;
// ok is false where none fits.
func ReadSweep(ctx context.Context, from SweepSource, q SweepQuery, cache *Cache) (c SweepComparison, all []Sweep, ok bool, err error) {
	runs, err := from.Varied(ctx, bench.VariedFilter{System: q.System})
	if err != nil {
		return c, nil, false, err
	}
	configs, err := from.Configs(ctx, bench.ConfigFilter{System: q.System, Layer: bench.LayerParsed, Options: true})
	if err != nil {
		return c, nil, false, err
	}
	all = FindSweeps(runs, configs)
	at := slices.IndexFunc(all, func(s Sweep) bool { return q.Fits(&s) })
	if at < 0 {
		return c, all, false, nil
	}
	in := SweepInput{Sweep: all[at], Configs: configs, Base: q.Base, Cache: cache}
	if q.Base != "" && in.Sweep.Arm(q.Base) == nil {
		var names []string
		for i := range in.Sweep.Arms {
			names = append(names, in.Sweep.Arms[i].Name())
		}
		return c, all, false, bench.Errorf(bench.KindInvalid, "base is one of %s, not %q", strings.Join(names, ", "), q.Base)
	}
	swept := in.Sweep.Runs()
	for i := range runs {
		if slices.Contains(swept, runs[i].ID) {
			in.Facts = append(in.Facts, runs[i])
		}
	}
	for _, f := range q.Filters(&in.Sweep) {
		series, err := from.Series(ctx, f)
		if err != nil {
			return c, all, false, err
		}
		in.Series = append(in.Series, series...)
	}
	in.Series = q.Keep(in.Series)
	if in.Breakdowns, err = from.Breakdowns(ctx, swept); err != nil {
		return c, all, false, err
	}
	for _, f := range DiskFilters(&in.Sweep) {
		series, err := from.Series(ctx, f)
		if err != nil {
			return c, all, false, err
		}
		in.Disks = append(in.Disks, series...)
	}
	if runs := RunsOf(in.Disks); len(runs) > 0 {
		if in.DiskFacts, err = from.RunFacts(ctx, runs); err != nil {
			return c, all, false, err
		}
	}
	c = CompareSweep(in)
	c.Rows = q.Wanted(c.Rows)
	return c, all, true, nil
}
