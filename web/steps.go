package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// stepsInput is what the page of a step is made of.
type stepsInput struct {
	Given    stepsQuery // as the address says
	Resolved stepsQuery // with every dimension chosen
	Found    bool       // something was measured under what the address says

	Coordinates []bench.CoordinateInfo
	Versions    []string // measured under the resolved coordinates, in order
	Arms        []compare.StepArm
	Names       []string // of the arms
	Base        int      // index of the arm that is 1.00
	Left        int      // arms beyond stepArmsMax
	Remarks     []string

	Shown         []int64 // by arm: the run whose seconds and response times are shown, 0 for none
	Seconds       []bench.Seconds
	Points        int // at most so many buckets a line
	Distributions []bench.Distribution
	Configs       []bench.StoredConfig
	Cache         *compare.Cache
	Origin        string
	Frozen        bool
}

// steps is the handler of /steps.
func (s *server) steps(r *http.Request) (templ.Component, error) {
	in, err := s.readSteps(r.Context(), r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	in.Origin, in.Frozen = s.origin(r), frozenOf(r.Context()) != nil
	p, err := newStepsPage(in)
	if err != nil {
		return nil, err
	}
	p.Page = s.frame(r, p.Title, "")
	s.bar(r, &p.Bar)
	if p.Empty == nil {
		s.describe(r, &p.Page, plain(p.Lead))
	}
	return view.Steps(p), nil
}

// stepCoordinates bounds the coordinates that one page reads.
const stepCoordinates = 2 * stepArmsMax

// readSteps reads what the page of a step shows.
func (s *server) readSteps(ctx context.Context, raw string) (stepsInput, error) {
	q, err := parseSteps(raw)
	if err != nil {
		return stepsInput{}, err
	}
	in := stepsInput{Given: q, Cache: s.cache}
	if in.Coordinates, err = s.Source.Coordinates(ctx, bench.SeriesFilter{}); err != nil {
		return in, err
	}
	coordinates := in.Coordinates
	var runs []bench.RunSummary
	if len(q.Runs) > 0 {
		if len(q.Runs) > 2*stepArmsMax {
			return in, bench.Errorf(bench.KindInvalid, "%d runs; at most %d are compared", len(q.Runs), 2*stepArmsMax)
		}
		page, err := s.Source.Runs(ctx, bench.RunFilter{IDs: q.Runs, Limit: len(q.Runs)})
		if err != nil {
			return in, err
		}
		for _, id := range q.Runs {
			i := slices.IndexFunc(page.Runs, func(r bench.RunSummary) bool { return r.ID == id })
			switch {
			case i < 0:
				return in, bench.Errorf(bench.KindNotFound, "There is no run %d.", id)
			case page.Runs[i].State == bench.RecordWithdrawn:
				in.Remarks = append(in.Remarks, fmt.Sprintf("Run %d is withdrawn and left out.", id))
			default:
				runs = append(runs, page.Runs[i])
			}
		}
		coordinates = slices.DeleteFunc(slices.Clone(coordinates), func(c bench.CoordinateInfo) bool {
			return !slices.ContainsFunc(runs, func(r bench.RunSummary) bool { return ofRun(c.Coordinate, r) })
		})
	}
	var left []bench.CoordinateInfo
	if in.Resolved, left, in.Found = q.resolve(coordinates); !in.Found {
		return in, nil
	}
	if err := in.readArms(ctx, s.Source, left, runs); err != nil || len(in.Arms) == 0 {
		return in, err
	}
	return in, in.readFigures(ctx, s.Source)
}

// ofRun reports whether a run's results may belong to a coordinate.
func ofRun(c bench.Coordinate, r bench.RunSummary) bool {
	return c.System == r.System && c.Suite == r.Suite && c.Server == r.Server && c.Workload == r.Workload && c.Clients == r.Clients &&
		c.Compiler == r.Build.Compiler && c.Config == r.Config
}

// readArms reads the metrics of coordinates and makes the arms.
func (in *stepsInput) readArms(ctx context.Context, source Source, left []bench.CoordinateInfo, runs []bench.RunSummary) error {
	var arms []compare.StepArm
	for _, c := range left {
		arms = append(arms, compare.StepArm{Coordinate: c.Coordinate})
	}
	slices.SortStableFunc(arms, compare.CompareStepArms)
	if len(arms) > stepCoordinates {
		in.Left += len(arms) - stepCoordinates
		arms = arms[:stepCoordinates]
	}
	for i := range arms {
		var err error
		if arms[i].Series, err = source.SeriesOf(ctx, arms[i].Coordinate); err != nil {
			return err
		}
		for _, v := range versionsOf(arms[i].Series) {
			if !slices.ContainsFunc(in.Versions, func(x string) bool { return bench.CompareVersions(x, v) == 0 }) {
				in.Versions = append(in.Versions, v)
			}
		}
	}
	slices.SortFunc(in.Versions, bench.CompareVersions)
	versions := in.Given.Versions
	if len(versions) == 0 && len(runs) == 0 && len(in.Versions) > 0 {
		versions = in.Versions[len(in.Versions)-1:]
	}
	for _, c := range arms {
		if len(runs) > 0 {
			for _, r := range runs {
				if ofRun(c.Coordinate, r) {
					c.Version, c.Run = r.Build.Version, r.ID
					in.add(c)
				}
			}
			continue
		}
		for _, v := range versions {
			c.Version = v
			in.add(c)
		}
	}
	for _, r := range runs {
		if !slices.ContainsFunc(in.Arms, func(a compare.StepArm) bool { return a.Run == r.ID }) {
			in.Remarks = append(in.Remarks, fmt.Sprintf("Run %d has no result of %s.", r.ID, in.Resolved.Step))
		}
	}
	slices.SortStableFunc(in.Arms, compare.CompareStepArms)
	if len(in.Arms) > stepArmsMax {
		in.Left += len(in.Arms) - stepArmsMax
		in.Arms = in.Arms[:stepArmsMax]
	}
	for _, a := range in.Arms {
		in.Names = append(in.Names, a.Name(in.Arms))
		in.Resolved.Versions = appendNew(in.Resolved.Versions, a.Version)
	}
	slices.SortFunc(in.Resolved.Versions, bench.CompareVersions)
	in.Resolved.Versions = slices.CompactFunc(in.Resolved.Versions, func(a, b string) bool { return bench.CompareVersions(a, b) == 0 })
	var ok bool
	if in.Base, ok = baseOf(in.Given.Base, in.Arms); !ok {
		in.Remarks = append(in.Remarks, fmt.Sprintf("No run shown is called %q: the base is the first.", in.Given.Base))
	}
	return nil
}

// add takes an arm that measured something.
func (in *stepsInput) add(a compare.StepArm) {
	if len(a.Runs()) > 0 {
		in.Arms = append(in.Arms, a)
	}
}

// secondsPoints is how many buckets a line gets at first: all lines of a figure
// together a number that costs little to send, each enough for a screen.
func secondsPoints(lines int) int { return max(200, min(600, 2000/max(lines, 1))) }

// readFigures reads what is shown of single runs.
func (in *stepsInput) readFigures(ctx context.Context, source Source) error {
	in.Points = secondsPoints(len(in.Arms))
	q := bench.SecondsQuery{Step: in.Resolved.Step, From: float64(in.Given.From), To: float64(in.Given.To), Points: in.Points}
	for i, a := range in.Arms {
		run := a.Runs()[0]
		in.Shown = append(in.Shown, run)
		q.Runs = append(q.Runs, run)
		if i == in.Base {
			q.Base = []int64{run}
		}
	}
	var err error
	if in.Seconds, err = source.Seconds(ctx, q); err != nil {
		return err
	}
	if in.Distributions, err = source.Distributions(ctx, q.Runs); err != nil {
		return err
	}
	var configs []string
	for _, a := range in.Arms {
		if a.Config != "" {
			configs = appendNew(configs, a.Config)
		}
	}
	if len(configs) == 0 {
		return nil
	}
	in.Configs, err = source.Configs(ctx, bench.ConfigFilter{
		System: in.Resolved.System, Names: configs, Servers: in.Resolved.Servers, Workloads: in.Resolved.Workloads, Options: true,
	})
	return err
}

// stepAverages and stepCosts are the metrics of the two tables. What else was
// measured is on the pages of the runs.
var (
	stepAverages = []string{
		"ips", "qps", "observed_latency_ns", "iops", "real_time_ns", "p50_second_rate", "p99_second_rate", "max_op_s",
		"p50", "p99", "p99_9", "p99_99", "max", "stall_percent", "index_create_s",
	}
	stepCosts = []string{
		"cpu_us_per_op", "client_cpu_us_per_op", "read_kb_per_op", "write_kb_per_op", "write_kb_per_query", "context_switches_per_op", "reads_per_op", "writes_per_op",
		"compaction_cpu_us_per_op", "compaction_write_bytes_per_op", "read_io_bytes_per_op", "write_io_bytes_per_op", "write_amp", "rss_gb", "total_size_gb", "db_size_gb",
	}
)

// newStepsPage builds the page.
func newStepsPage(in stepsInput) (view.StepsPage, error) {
	p := view.StepsPage{Bar: stepsBar(in)}
	if !in.Found || len(in.Arms) == 0 {
		p.Heading, p.Title = "One step", "One step"
		p.Empty = stepsEmpty(in)
		return p, nil
	}
	q := in.Resolved
	system := systemName(q.System)
	if len(q.Versions) == 1 {
		system += " " + q.Versions[0]
	}
	where := slices.DeleteFunc([]string{system, strings.Join(q.Servers, " and "), strings.Join(q.Workloads, " and ")}, func(s string) bool { return strings.TrimSpace(s) == "" })
	p.Heading = q.Step + ", " + strings.Join(where, ", ")
	p.Title = p.Heading
	p.Crumb = in.crumb()
	rows := compare.CompareStep(in.Arms, in.Base, in.Cache)
	p.Meta = in.meta()
	p.Lead = in.lead(rows)
	p.Averages, p.Costs = in.table(rows, stepAverages), in.table(rows, stepCosts)
	in.addCache(&p.Costs, stepRow(rows, "rss_gb"))
	if len(in.Arms) > 1 {
		p.Averages.Note = "medians over the runs, and what they are of " + in.Names[in.Base]
	}
	p.Costs.Note = "per operation as reported or made of what was; RSS includes the block cache"
	for i, a := range in.Arms {
		style := chart.LineStyle(i)
		arm := view.StepsArm{Base: i == in.Base && len(in.Arms) > 1, Sample: view.Sample{Kind: "line", Text: in.Names[i], Colour: style.Colour, Dash: dashes(style.Dash), Marker: "none"}}
		for _, run := range a.Runs() {
			arm.Runs = append(arm.Runs, view.Link{Text: fmt.Sprintf("run %d", run), Href: runHref(run) + "?step=" + escape(q.Step), Title: in.Names[i]})
		}
		p.Arms = append(p.Arms, arm)
	}
	if err := in.seconds(&p); err != nil {
		return p, err
	}
	p.Spreads = in.spreads()
	if len(p.Spreads) == 0 {
		p.NoSpreads = "No distributions of response times are stored for these runs: they are in the Insert Benchmark's *.rt.* tables and client output, and in logs of db_bench with --histogram=1."
	}
	if slices.ContainsFunc(rows, func(r compare.StepRow) bool {
		return slices.ContainsFunc(r.Cells, func(c compare.StepCell) bool { return c.Point != nil && c.Flagged })
	}) {
		mark := "×: not"
		if len(in.Arms) == 1 {
			mark = "Not"
		}
		p.Remarks = append(p.Remarks, mark+" comparable, the run carries a warning; its page says which.")
	}
	if in.Left > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("%d more are not shown: at most %d can be told apart. Choose fewer versions, builds or configs above.", in.Left, stepArmsMax))
	}
	p.Remarks = append(p.Remarks, in.Remarks...)
	return p, nil
}

func dashes(list []float32) string {
	var out []string
	for _, d := range list {
		out = append(out, strconv.FormatFloat(float64(d), 'f', -1, 32))
	}
	return strings.Join(out, " ")
}

// stepsEmpty says what was expected.
func stepsEmpty(in stepsInput) *view.Empty {
	if len(in.Coordinates) == 0 {
		return firstUpload(in.Origin)
	}
	var what []string
	for _, d := range stepDimensions {
		if v := d.get(in.Given); len(v) > 0 {
			what = append(what, d.key+" "+strings.Join(v, " or "))
		}
	}
	if len(in.Given.Versions) > 0 {
		what = append(what, "version "+strings.Join(in.Given.Versions, " or "))
	}
	if len(in.Given.Runs) > 0 {
		what = append(what, "run "+strings.Join(runTexts(in.Given.Runs), " or "))
	}
	e := &view.Empty{
		Sentence: "Nothing was measured for " + strings.Join(what, ", ") + ".",
		Detail:   "Expected were results of one step. " + strings.Join(in.Remarks, " ") + " What there is stands in the menus above; this sends more:",
		Command:  uploadCommand(in.Origin),
		Links:    []view.Link{{Text: "Any step that was measured", Href: "/steps"}, {Text: "All that was measured", Href: "/#measured"}},
	}
	if len(in.Versions) > 0 {
		e.Links = append([]view.Link{{Text: "The newest version", Href: in.Given.with(func(q *stepsQuery) { q.Versions = nil }).String()}}, e.Links...)
	}
	return e
}

// crumb leads to the runs, to their configs and to the step over versions.
func (in stepsInput) crumb() []view.Link {
	q := in.Resolved
	metric := bench.PrimaryMetric(q.Suite, q.Step)
	links := []view.Link{{Text: "Runs", Href: runsQuery{Server: first(q.Servers)}.String()}}
	if len(q.Configs) > 1 {
		links = append(links, view.Link{Text: "Configs", Href: configsQuery{System: q.System, Suite: q.Suite, Servers: q.Servers, Workloads: q.Workloads, Configs: q.Configs}.String()})
	}
	return append(links,
		view.Link{Text: q.Step + " over versions", Href: chartsQuery{
			System: q.System, Suite: q.Suite, Servers: q.Servers, Workloads: q.Workloads, Steps: []string{q.Step}, Metric: metric,
			Compilers: q.Compilers, Configs: q.Configs, Clients: q.Clients,
		}.String()})
}

func (in stepsInput) meta() []view.Fact {
	q := in.Resolved
	facts := []view.Fact{fact(q.Suite)}
	if len(q.Clients) == 1 && q.Clients[0] > 0 {
		facts = append(facts, fact(plural(q.Clients[0], "client", "clients")))
	}
	if len(q.Compilers) == 1 && q.Compilers[0] != "" {
		facts = append(facts, fact(compilerName(q.Compilers[0])))
	}
	if len(q.Configs) == 1 && q.Configs[0] != "" && len(in.Arms) > 1 {
		facts = append(facts, fact("config "+q.Configs[0]))
	}
	most := 0
	for _, a := range in.Arms {
		most = max(most, len(a.Runs()))
	}
	if most == 1 {
		facts = append(facts, fact("n = 1 run each"))
	} else {
		facts = append(facts, fact(fmt.Sprintf("up to %d runs each", most)))
	}
	return facts
}

// row gives a metric's row, nil where nothing measured it.
func stepRow(rows []compare.StepRow, metric string) *compare.StepRow {
	for i := range rows {
		if rows[i].Metric.Name == metric {
			return &rows[i]
		}
	}
	return nil
}

// The practical bounds of a cell without a test: see [compare.PracticalRule].
func practicalBound(metric string, primary bool) (float64, bool) {
	switch {
	case metric == "p99_second_rate":
		return compare.PracticalSeconds, true
	case primary:
		return compare.PracticalRatio, true
	}
	return 0, false
}

// judgeCell gives sign and class of a ratio: the verdict of its interval, else the
// practical rule where that has a bound.
func judgeCell(c compare.StepCell, m bench.Metric, primary bool) (sign, class string, practical bool) {
	if c.Relative == nil {
		return "", "", false
	}
	if c.Flagged {
		return "×", "fl", false
	}
	if c.Verdict != compare.NoVerdict {
		return glyph(c.Verdict), verdictClass(c.Verdict), false
	}
	bound, ok := practicalBound(m.Name, primary)
	ratio := *c.Relative
	if m.Direction == bench.LowerBetter && ratio > 0 {
		ratio = 1 / ratio
	}
	if ok && ratio < bound {
		return glyphWorse, "dn", true
	}
	return "", "", false
}

// lead says how the arms stand against the base, and what their worst seconds
// are like.
func (in stepsInput) lead(rows []compare.StepRow) []view.Part {
	q := in.Resolved
	name := bench.PrimaryMetric(q.Suite, q.Step)
	main := stepRow(rows, name)
	seconds := stepRow(rows, "p99_second_rate")
	if main == nil || main.Cells[in.Base].Point == nil {
		return nil
	}
	base := in.Names[in.Base]
	rate := func(row *compare.StepRow, i int) string {
		return compare.FormatFull(roundTo(row.Cells[i].Value, 4)) + unitSuffix(row.Metric.Unit)
	}
	parts := []view.Part{{Text: base, Strong: true}, textPart(" does " + rate(main, in.Base))}
	if seconds != nil && seconds.Cells[in.Base].Point != nil {
		parts = append(parts, textPart(", "+rate(seconds, in.Base)+" in its 99th-percentile second"))
	}
	parts = append(parts, textPart(". "))
	if len(in.Arms) == 1 {
		return parts
	}
	var told []view.Part
	low, high, rest, last := math.Inf(1), math.Inf(-1), 0, ""
	byPractice := false
	for i := range in.Arms {
		c := main.Cells[i]
		if i == in.Base || c.Point == nil || c.Relative == nil {
			continue
		}
		sign, class, practical := judgeCell(c, main.Metric, true)
		if class == "" || class == "eq" || class == "fl" {
			low, high, rest, last = math.Min(low, *c.Relative), math.Max(high, *c.Relative), rest+1, in.Names[i]
			continue
		}
		byPractice = byPractice || practical
		told = append(told, view.Part{Text: in.Names[i] + " " + sign + " " + compare.FormatRatio(*c.Relative, c.Low, c.High), Strong: true, Class: class})
	}
	for i, t := range told {
		if i > 0 {
			parts = append(parts, textPart(", "))
		}
		parts = append(parts, t)
	}
	subject := "the other"
	if rest == 1 {
		subject = last
	}
	switch {
	case len(told) > 0 && rest > 0:
		parts = append(parts, textPart("; "+subject+" "+spanText(rest, low, high)+"."))
	case rest == 1:
		parts = append(parts, textPart(subject+" "+spanText(rest, low, high)+" of it."))
	case rest > 1:
		parts = append(parts, textPart("The other "+spanText(rest, low, high)+" of it."))
	case len(told) > 0:
		parts = append(parts, textPart(" of it."))
	}
	if byPractice {
		parts = append(parts, textPart(" Marked by a practical rule, not a test: there are too few runs for one."))
	}
	if seconds != nil && seconds.Cells[in.Base].Point != nil {
		var worst []string
		for i := range in.Arms {
			if c := seconds.Cells[i]; i != in.Base && c.Point != nil && c.Relative != nil && *c.Relative < compare.PracticalSeconds {
				worst = append(worst, in.Names[i]+" does "+rate(seconds, i))
			}
		}
		if len(worst) > 0 {
			parts = append(parts, textPart(" In the worst seconds "+strings.Join(worst, ", ")+"."))
		}
	}
	return parts
}

// spanText words the ratios of several arms: 5 are at 0.99 to 1.01.
func spanText(n int, low, high float64) string {
	a, b := compare.FormatRatio(low, nil, nil), compare.FormatRatio(high, nil, nil)
	text := "is at " + a
	if n > 1 {
		text = fmt.Sprintf("%d are at %s", n, a)
	}
	if a != b {
		text += " to " + b
	}
	return text
}

// roundTo keeps so many significant digits, all those of the whole part.
func roundTo(v float64, digits int) float64 {
	if v == 0 {
		return v
	}
	scale := math.Pow(10, math.Max(0, float64(digits-1)-math.Floor(math.Log10(math.Abs(v)))))
	if math.IsInf(scale, 0) {
		return v
	}
	return math.Round(v*scale) / scale
}

// table makes a table of those metrics of a list that were measured.
func (in stepsInput) table(rows []compare.StepRow, metrics []string) view.StepsTable {
	t := view.StepsTable{Ratios: len(in.Arms) > 1}
	for i, name := range in.Names {
		t.Rows = append(t.Rows, view.StepsRow{Name: name, Base: i == in.Base && len(in.Arms) > 1})
	}
	primary := bench.PrimaryMetric(in.Resolved.Suite, in.Resolved.Step)
	decides := slices.Index(metrics, primary)
	for i := range metrics {
		// What decides the step comes first.
		name := metrics[i]
		switch {
		case i == 0 && decides > 0:
			name = primary
		case i > 0 && i <= decides:
			name = metrics[i-1]
		}
		row := stepRow(rows, name)
		// Sources print 0 for what a step does not do: queries of one that inserts.
		if row == nil || !slices.ContainsFunc(row.Cells, func(c compare.StepCell) bool { return c.Point != nil && c.Value != 0 }) {
			continue
		}
		m := row.Metric
		unit := m.Unit
		switch unit {
		case "1/s", "ratio", "count", m.Title:
			unit = ""
		}
		t.Heads = append(t.Heads, view.StepsHead{Title: m.Title, Unit: unit, Direction: arrow(m.Direction), About: m.About})
		for i, c := range row.Cells {
			t.Rows[i].Cells = append(t.Rows[i].Cells, in.cell(c, m, name == primary, i))
		}
	}
	return t
}

func (in stepsInput) cell(c compare.StepCell, m bench.Metric, primary bool, arm int) view.StepsCell {
	if c.Point == nil {
		return view.StepsCell{Text: compare.Missing, Title: "not reported"}
	}
	f := figure(roundTo(c.Value, 4))
	cell := view.StepsCell{Text: f.Text}
	if full := compare.FormatFull(c.Value); full != f.Text {
		cell.Full = full
	}
	if c.Relative == nil || c.Value == 0 || arm == in.Base {
		return cell
	}
	sign, class, practical := judgeCell(c, m, primary)
	cell.Class = class
	cell.Ratio = strings.TrimSpace(sign + " " + compare.FormatRatio(*c.Relative, c.Low, c.High))
	title := fmt.Sprintf("%s, n = %d; ", compare.FormatFull(c.Value), c.N)
	switch {
	case c.Flagged:
		title += "not comparable: the run carries a warning"
	case c.Low != nil:
		title += "95 % interval of the ratio " + compare.FormatInterval(c.Low, c.High)
	case practical:
		title += "worse by a practical rule; noise unknown"
	default:
		title += "noise unknown"
	}
	cell.Title = title
	return cell
}

// addCache puts the size of the block cache behind RSS, and what RSS is above it.
func (in stepsInput) addCache(t *view.StepsTable, rss *compare.StepRow) {
	at := slices.IndexFunc(t.Heads, func(h view.StepsHead) bool { return h.Title == "RSS" })
	if at < 0 || rss == nil {
		return
	}
	sizes, sources := make([]float64, len(in.Arms)), make([]string, len(in.Arms))
	known := false
	for i, a := range in.Arms {
		if a.Config == "" {
			continue
		}
		if _, bytes, source, ok := cacheOf(compare.ConfigSetOf(in.Configs, a.Config)); ok {
			sizes[i], sources[i], known = bytes/gigabyte, source, true
		}
	}
	if !known {
		return
	}
	t.Heads = slices.Insert(t.Heads, at+1,
		view.StepsHead{Title: "block cache", Unit: "GB", About: "what the server said, else what the config's file asks for"},
		view.StepsHead{Title: "RSS above it", Unit: "GB", Direction: arrow(bench.LowerBetter), About: "RSS less the block cache"})
	for i := range t.Rows {
		cache, above := view.StepsCell{Text: compare.Missing, Title: "no stored config says it"}, view.StepsCell{Text: compare.Missing}
		if sizes[i] > 0 {
			cache = view.StepsCell{Text: compare.FormatFull(roundTo(sizes[i], 3)), Title: sources[i]}
			if rss.Cells[i].Point != nil {
				above.Text = differenceText(roundTo(rss.Cells[i].Value-sizes[i], 2))
			}
		}
		t.Rows[i].Cells = slices.Insert(t.Rows[i].Cells, at+1, cache, above)
	}
}

// differenceText shows a difference with its sign and all its digits.
func differenceText(v float64) string {
	if v > 0 {
		return "+" + compare.FormatFull(v)
	}
	return compare.FormatFull(v)
}

// secondsTitle words what a series over time is of.
func secondsTitle(suite, name, unit string) string {
	if suite == bench.SuiteIBench {
		switch name {
		case "ips":
			return "Inserts per second"
		case "dps":
			return "Deletes per second"
		case "qps":
			return "Queries per second"
		}
	}
	if op, ok := strings.CutPrefix(name, "max_"); ok {
		if op, ok = strings.CutSuffix(op, "_us"); ok {
			return "Longest " + op + ", µs"
		}
	}
	title := name
	switch {
	case name == "qps":
		return "Operations per second"
	case unit != "":
		title += ", " + unit
	}
	return title
}

// secondsRank orders figures over time: what decides the step first, each rate
// before its longest response.
func secondsRank(primary, name string) int {
	order := []string{"qps", "max_query_us", "ips", "max_insert_us", "dps", "max_delete_us"}
	if primary == "ips" {
		order = []string{"ips", "max_insert_us", "dps", "max_delete_us", "qps", "max_query_us"}
	}
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// seconds adds the figures over the seconds of the step.
func (in stepsInput) seconds(p *view.StepsPage) error {
	if len(in.Seconds) == 0 {
		p.NoSeconds = "No figures by second are stored for these runs. Client output of the Insert Benchmark (o.ib.dop*) has them, and --report_file of db_bench."
		return nil
	}
	primary := bench.PrimaryMetric(in.Resolved.Suite, in.Resolved.Step)
	var names []string
	end := 0.0
	for _, s := range in.Seconds {
		names = appendNew(names, s.Name)
		end = math.Max(end, s.StartS+float64(s.Intervals-1)*s.StepS)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(secondsRank(primary, a)-secondsRank(primary, b), strings.Compare(a, b))
	})
	from, to := in.Given.From, in.Given.To
	last := int64(math.Ceil(end))
	if to == 0 || to > last {
		to = last
	}
	if from > last {
		from = last
	}
	v := chart.SecondsView{Step: in.Resolved.Step, Points: in.Points, End: last, From: in.Given.From, To: in.Given.To, Frozen: in.Frozen}
	for _, run := range in.Shown {
		if !slices.Contains(v.Runs, run) {
			v.Runs = append(v.Runs, run)
		}
	}
	p.View = v
	if in.Given.From > 0 || in.Given.To > 0 {
		p.Window = fmt.Sprintf("seconds %d to %d of %d", from, to, last)
		p.Whole = in.Given.with(func(q *stepsQuery) { q.From, q.To = 0, 0 }).String()
	} else {
		p.Window = fmt.Sprintf("%s seconds", compare.FormatFull(float64(last)))
	}
	for i, name := range names {
		c, err := in.secondsChart(i, name, from, to)
		if err != nil {
			return err
		}
		p.Seconds = append(p.Seconds, c)
	}
	return nil
}

// secondsChart makes the chart and the table of one figure.
func (in stepsInput) secondsChart(i int, name string, from, to int64) (view.SecondsChart, error) {
	var list []bench.Seconds
	var labels []string
	var arms []int
	for arm, run := range in.Shown {
		count := 0
		for _, s := range in.Seconds {
			if s.Name != name || s.RunID != run || len(list) == chart.LinesMax {
				continue
			}
			label := in.Names[arm]
			if count++; count > 1 {
				label += fmt.Sprintf(", result %d", count)
			}
			list, labels, arms = append(list, s), append(labels, label), append(arms, arm)
		}
	}
	title := secondsTitle(in.Resolved.Suite, name, list[0].Unit)
	c := view.SecondsChart{ID: fmt.Sprintf("s%d", i), Title: title, Open: i == 0}
	size, step := 1, list[0].StepS
	points := 0
	for _, s := range list {
		size, step = max(size, s.Size), math.Max(step, s.StepS)
		points = max(points, len(s.Mean))
	}
	switch {
	case size > 1:
		c.What = fmt.Sprintf("buckets of %s s", compare.FormatFull(float64(size)*step))
	case step != 1:
		c.What = fmt.Sprintf("intervals of %s s", compare.FormatFull(step))
	}
	f, err := chart.NewSecondsFigure(title, list, labels, arms, from, to)
	if err != nil {
		return c, err
	}
	if points > 1 {
		c.Figure = f
	}
	c.Label = fmt.Sprintf("%s of %s over the seconds of %s", title, strings.Join(labels, ", "), in.Resolved.Step)
	c.Table = secondsTable(list, labels, arms, in.Base)
	return c, nil
}

// secondsTable is the twin of a chart of seconds: what all intervals amount to.
func secondsTable(list []bench.Seconds, labels []string, arms []int, base int) view.StepsTable {
	direction := bench.SecondsDirection(list[0].Name, list[0].Unit)
	var bound *float64
	step := 0.0
	percentiles := false
	for _, s := range list {
		if s.Bound != nil {
			bound = s.Bound
		}
		step = math.Max(step, s.StepS)
		percentiles = percentiles || s.P99 != nil
	}
	interval := "second"
	if step != 1 {
		interval = "interval of " + compare.FormatFull(step) + " s"
	}
	worst := "least"
	if direction != bench.HigherBetter {
		worst = "most"
	}
	t := view.StepsTable{Heads: []view.StepsHead{{Title: "average", Direction: arrow(direction)}}}
	if percentiles {
		t.Heads = append(t.Heads,
			view.StepsHead{Title: "p50 " + interval, About: "what half of them reach"},
			view.StepsHead{Title: "p99 " + interval, About: "what 99 of 100 of them reach"})
	}
	t.Heads = append(t.Heads, view.StepsHead{Title: worst, About: "in one " + interval}, view.StepsHead{Title: "at second"})
	if bound != nil {
		words, about := "below ", "half of the base's average"
		if direction == bench.LowerBetter {
			words, about = "above ", "twice the base's average"
		}
		t.Heads = append(t.Heads, view.StepsHead{Title: interval + "s " + words + compare.FormatFull(roundTo(*bound, 3)), About: about})
	}
	t.Heads = append(t.Heads, view.StepsHead{Title: "n"}, view.StepsHead{Title: "missing"})
	text := func(v float64) view.StepsCell {
		f := figure(roundTo(v, 4))
		return view.StepsCell{Text: f.Text}
	}
	none := view.StepsCell{Text: compare.Missing}
	maybe := func(v *float64) view.StepsCell {
		if v == nil {
			return none
		}
		return text(*v)
	}
	for i, s := range list {
		row := view.StepsRow{Name: labels[i], Base: arms[i] == base && len(list) > 1}
		value := func(ok bool, c view.StepsCell) {
			if !ok {
				c = none
			}
			row.Cells = append(row.Cells, c)
		}
		value(s.N > 0, text(s.Average))
		if percentiles {
			value(s.N > 0, maybe(s.P50))
			value(s.N > 0, maybe(s.P99))
		}
		value(s.N > 0, text(s.Worst))
		value(s.N > 0, text(s.WorstS))
		if bound != nil {
			value(s.Bound != nil, view.StepsCell{Text: compare.FormatFull(float64(s.Beyond))})
		}
		value(true, view.StepsCell{Text: compare.FormatFull(float64(s.N))})
		value(true, view.StepsCell{Text: compare.FormatFull(float64(s.Intervals - s.N))})
		t.Rows = append(t.Rows, row)
	}
	return t
}
