package web

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// figuresMax bounds the charts of a page.
const figuresMax = 60

// chartsInput is what the pages of charts are built from.
type chartsInput struct {
	Given       chartsQuery // as the address says
	Resolved    chartsQuery // with every dimension chosen
	Found       bool        // something was measured under what the address says
	Coordinates []bench.CoordinateInfo
	Metrics     []bench.MetricFacet // measured under the resolved query
	Series      []bench.Series
	Changes     []bench.Change // stored ones of the same places
	Known       knowledge      // what other series say about changes
	Notes       []bench.Note   // of the system
	Narrowed    int            // versions that were measured, where only the newest are shown, else 0
	Origin      string         // of this server, for commands: http://host
	Reader      reader
}

// readCharts reads what /charts and its exports show.
func (s *server) readCharts(ctx context.Context, r *http.Request) (chartsInput, error) {
	q, err := parseCharts(r.URL.RawQuery)
	if err != nil {
		return chartsInput{}, err
	}
	in := chartsInput{Given: q, Origin: s.origin(r), Reader: readerOf(ctx)}
	if in.Coordinates, err = s.Source.Coordinates(ctx, bench.SeriesFilter{}); err != nil {
		return in, err
	}
	in.Resolved, in.Found = q.resolve(in.Coordinates)
	if !in.Found {
		return in, nil
	}
	return in, s.readLines(ctx, &in)
}

// compared is a resolved query with its answer, cut to what a page shows.
type compared struct {
	comparison compare.Comparison
	figures    []chart.Figure
	view       chart.View
	all        []string // every version measured, in order
	autoBase   string
	large      bool
	left       int // figures beyond figuresMax
	marks      marks
}

// answer compares the series of a query and makes its charts.
func answer(in chartsInput) (compared, error) {
	q := in.Resolved
	var out compared
	series := slices.DeleteFunc(slices.Clone(in.Series), func(s bench.Series) bool {
		return len(q.Steps) == 0 && bench.StepRole(s.Suite, s.Step) == bench.RolePrepare
	})
	out.all = versionsOf(series)
	asked := q.comparison()
	asked.Options.Cache = in.Known.cache
	c := asked.Answer(series)
	if c.Metric.Name == "" {
		c.Metric, _ = bench.LookupMetric(q.Metric)
	}
	if q.Across {
		keep := across(c.Versions)
		for i := range c.Lines {
			l := &c.Lines[i]
			l.Points = slices.DeleteFunc(l.Points, func(p compare.Point) bool { return !slices.Contains(keep, p.Version) })
		}
		c.Versions = keep
	}
	c.Lines = slices.DeleteFunc(c.Lines, func(l compare.Line) bool { return len(l.Points) == 0 })
	out.autoBase = compare.DefaultBase(c.Lines, "", "")
	out.large = len(families(q)) == 1 && !q.Builds
	if q.Builds {
		baseFirst(c.Lines, c.Base.Compiler)
	}
	out.comparison = c
	o := chart.Options{Large: out.large, Fit: q.Fit, AutoBase: out.autoBase}
	out.view = chart.NewView(c, o)
	figures, err := chart.Figures(c, o)
	if err != nil {
		return out, err
	}
	if q.Worst {
		worstFirst(figures, c.Metric.Direction)
	}
	if len(figures) > figuresMax {
		out.left = len(figures) - figuresMax
		figures = figures[:figuresMax]
	}
	out.marks = newMarks(in, c)
	out.marks.put(figures, &out.view)
	if err := chart.Share(&out.view, figures); err != nil {
		return out, err
	}
	out.figures = figures
	return out, nil
}

// families gives the steps of a query with members of one family as one.
func families(q chartsQuery) []string {
	var out []string
	for _, s := range q.Steps {
		if !q.Apart {
			s = bench.StepFamily(s)
		}
		out = appendNew(out, s)
	}
	return out
}

func versionsOf(series []bench.Series) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range series {
		for _, p := range s.Points {
			if !seen[p.Version] {
				seen[p.Version] = true
				out = append(out, p.Version)
			}
		}
	}
	sortVersions(out)
	return out
}

// sortVersions puts versions in order. Making a key costs more than comparing two,
// so each is made once.
func sortVersions(versions []string) {
	keys := make(map[string]string, len(versions))
	for _, v := range versions {
		keys[v] = bench.VersionKey(v)
	}
	slices.SortFunc(versions, func(a, b string) int { return strings.Compare(keys[a], keys[b]) })
}

// pointAt gives the point of a line at a version spelled as its own data spells
// it, nil where nothing was measured. Unlike [compare.Line.At] it reads no version.
func pointAt(l compare.Line, version string) *compare.Point {
	for i := len(l.Points) - 1; i >= 0; i-- {
		if l.Points[i].Version == version {
			return &l.Points[i]
		}
	}
	return nil
}

// acrossPerMajor is how many versions of a major stand for it in a view across
// majors: its first, its last and evenly spaced ones between.
const acrossPerMajor = 5

// across gives a few versions of every major.
func across(versions []string) []string {
	var out []string
	majors := chart.Majors(versions)
	for i, m := range majors {
		end := len(versions)
		if i+1 < len(majors) {
			end = majors[i+1].At
		}
		group := versions[m.At:end]
		if len(group) <= acrossPerMajor {
			out = append(out, group...)
			continue
		}
		for k := range acrossPerMajor {
			out = append(out, group[int(math.Round(float64(k)*float64(len(group)-1)/(acrossPerMajor-1)))])
		}
	}
	return out
}

// worstFirst orders charts by the last ratio of their worst line.
func worstFirst(figures []chart.Figure, d bench.Direction) {
	badness := func(f chart.Figure) float64 {
		worst := math.Inf(-1)
		for _, l := range f.Source {
			p := l.Points[len(l.Points)-1]
			if p.Relative == nil || *p.Relative <= 0 {
				continue
			}
			bad := -math.Log(*p.Relative)
			switch d {
			case bench.LowerBetter:
				bad = -bad
			case bench.Neutral:
				bad = math.Abs(bad)
			}
			worst = math.Max(worst, bad)
		}
		return worst
	}
	slices.SortStableFunc(figures, func(a, b chart.Figure) int {
		switch x, y := badness(a), badness(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// newChartsPage builds the page of charts. Its Page is left to the caller, but
// for the title.
func newChartsPage(in chartsInput) (view.ChartsPage, error) {
	var p view.ChartsPage
	if !in.Found {
		p.Heading, p.Title = "Charts", "Charts"
		p.Bar = view.Bar{Fields: fields(in, nil)}
		p.Empty = nothingMeasured(in)
		return p, nil
	}
	a, err := answer(in)
	if err != nil {
		return p, err
	}
	c := a.comparison
	p.Bar = chartsBar(in, a)
	p.View, p.Large = a.view, a.large
	q := in.Resolved
	context := strings.Join(q.context(), ", ")
	if len(a.figures) == 0 {
		p.Heading, p.Title = systemName(q.System)+", "+context, "Charts"
		p.Empty = nothingOfMetric(in, c.Metric)
		return p, nil
	}

	p.Key = key(in, a)
	for i, f := range a.figures {
		ch := newChart(in, a, f, fmt.Sprintf("c%d", i))
		if group := bench.StepGroup(f.Step); !q.Worst && (i == 0 || bench.StepGroup(a.figures[i-1].Step) != group) {
			ch.Group = group
		}
		p.Charts = append(p.Charts, ch)
	}
	if a.left > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("%s more are left out: choose steps to see them.", plural(a.left, "chart", "charts")))
	}
	if in.Narrowed > 0 {
		p.Remarks = append(p.Remarks, narrowedText(in))
	}
	if q.Metric == "usec_per_op" {
		p.Remarks = append(p.Remarks, c.Metric.About)
	}
	p.Compare = compareLink(q, c)
	if a.large {
		f := a.figures[0]
		p.Heading = f.Title
		p.Title = strings.Join([]string{f.Title, systemName(q.System), strings.Join(q.context(), " ")}, ", ")
		p.Crumb = []view.Link{
			{Text: strings.Join([]string{q.System, context}, ", "), Href: in.Given.with(func(q *chartsQuery) { q.Steps, q.At = nil, "" }).String()},
			{Text: bench.StepGroup(f.Step)},
		}
		p.Meta = largeMeta(in, a, f)
		p.Steps = neighbours(in, f.Step)
		p.Changes = a.marks.lineChanges(in, f)
		p.Notes = a.marks.noteList(addNote(in, f.Step), in.Reader)
		return p, nil
	}
	p.Notes = a.marks.noteList(addNote(in, ""), in.Reader)
	p.Heading = fmt.Sprintf("%s %s, %s", systemName(q.System), span(c.Versions), context)
	p.Title = p.Heading
	p.Meta = smallMeta(in, a)
	p.Lead = lead(a)
	what := "Relative " + c.Metric.Title + ", "
	switch {
	case q.Across:
		what += fmt.Sprintf("%d of %d versions", len(c.Versions), len(a.all))
	case len(c.Versions) == len(a.all):
		what += "all " + plural(len(c.Versions), "version", "versions")
	default:
		what += plural(len(c.Versions), "version", "versions")
	}
	if !q.Fit {
		what += ", same scale in every chart"
	}
	p.What = what
	g := in.Given
	p.Choices = []view.Segment{
		{Label: "Scale", Links: []view.Link{
			{Text: "Same scale", Href: g.with(func(q *chartsQuery) { q.Fit = false }).String(), Current: !q.Fit},
			{Text: "Fit", Href: g.with(func(q *chartsQuery) { q.Fit = true }).String(), Current: q.Fit},
		}},
		{Label: "Order", Links: []view.Link{
			{Text: "By group", Href: g.with(func(q *chartsQuery) { q.Worst = false }).String(), Current: !q.Worst},
			{Text: "Worst first", Href: g.with(func(q *chartsQuery) { q.Worst = true }).String(), Current: q.Worst},
		}},
	}
	return p, nil
}

// narrowedText says that only the newest versions are shown.
func narrowedText(in chartsInput) string {
	return fmt.Sprintf("The newest %d of %s versions are shown; choose a range or all of them under Versions.", versionsNewest, compare.FormatFull(float64(in.Narrowed)))
}

// addNote is the form of a note with the scope of a view, of one step when it is
// not "".
func addNote(in chartsInput, step string) string {
	q := in.Resolved
	one := func(list []string) string {
		if len(list) == 1 {
			return list[0]
		}
		return ""
	}
	return noteForm{
		System: q.System, Version: q.At, Back: in.Given.String(),
		Scope: bench.NoteScope{Step: step, Server: one(q.Servers), Workload: one(q.Workloads)},
	}.String()
}

// span names a range of versions: 4.4.1 to 8.8.0.
func span(versions []string) string {
	if len(versions) == 1 {
		return versions[0]
	}
	return versions[0] + " to " + versions[len(versions)-1]
}

// lead counts the verdicts on the newest version, where every chart has one line.
func lead(a compared) []view.Part {
	newest := a.comparison.Versions[len(a.comparison.Versions)-1]
	count := map[compare.Verdict]int{}
	total := 0
	for _, f := range a.figures {
		if len(f.Source) != 1 {
			return nil
		}
		if p := pointAt(f.Source[0], newest); p != nil {
			if v := compare.Judge(*p, a.comparison.Metric.Direction); v != compare.NoVerdict {
				count[v]++
				total++
			}
		}
	}
	if a.comparison.Base.Compiler != "" || a.comparison.Base.Config != "" {
		return nil
	}
	return leadParts(a.comparison.Base, newest, count, total)
}

func smallMeta(in chartsInput, a compared) []view.Fact {
	q, c := in.Resolved, a.comparison
	facts := []view.Fact{
		fact(plural(len(c.Versions), "version", "versions")),
		fact(buildText(q)),
		fact(directionText(c.Metric)),
	}
	facts = append(facts, buildsFact(in)...)
	var lines []compare.Line
	for _, f := range a.figures {
		lines = append(lines, f.Source...)
	}
	if from, to := measured(lines); from != "" {
		text := "measured " + from
		if to != from {
			text += " to " + to
		}
		facts = append(facts, fact(text))
	}
	return append(facts, fact(sampleText(lines)))
}

// buildsFact leads to the comparison of compilers where the one place of a view was
// measured with several; nothing elsewhere.
func buildsFact(in chartsInput) []view.Fact {
	q := in.Resolved
	if len(q.Servers) != 1 || len(q.Workloads) != 1 || len(q.Configs) != 1 || len(q.Clients) != 1 {
		return nil
	}
	var others []string
	list := compilersAt(in.Coordinates)[q.place()]
	for _, c := range list {
		if !slices.Contains(q.Compilers, c) {
			others = append(others, c)
		}
	}
	text := "compare the builds"
	switch {
	case len(list) < 2:
		return nil
	case len(others) > 0:
		text = "also built by " + compare.AndList(compilerNames(others))
	}
	return []view.Fact{{Parts: []view.Part{{Text: text, Href: q.place().href(q)}}}}
}

// fact is a statement without a role.
func fact(text string) view.Fact { return view.Fact{Parts: []view.Part{{Text: text}}} }

// buildText names suite, clients, builds and configs of a query.
func buildText(q chartsQuery) string {
	parts := []string{q.Suite}
	if len(q.Clients) == 1 {
		if q.Clients[0] > 0 {
			parts = append(parts, plural(q.Clients[0], "client", "clients"))
		}
	} else {
		var n []string
		for _, c := range q.Clients {
			n = append(n, fmt.Sprint(c))
		}
		parts = append(parts, strings.Join(n, ", ")+" clients")
	}
	for _, c := range q.Compilers {
		if c != "" {
			parts = append(parts, compilerName(c))
		}
	}
	for _, c := range q.Configs {
		if c != "" || len(q.Configs) > 1 {
			parts = append(parts, configName(c))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// measured gives the first and last day of the lines' points, "" where no point
// is dated.
func measured(lines []compare.Line) (from, to string) {
	for _, l := range lines {
		for _, p := range l.Points {
			if p.Started.IsZero() {
				continue
			}
			day := p.Started.Wall().Format("2006-01-02")
			if from == "" || day < from {
				from = day
			}
			if day > to {
				to = day
			}
		}
	}
	return from, to
}

// sampleText says how many samples stand behind a point and where the noise
// comes from.
func sampleText(lines []compare.Line) string {
	least, most := math.MaxInt, 0
	known, repeats := 0, 0
	for _, l := range lines {
		if l.Noise.OK {
			known++
			if l.Noise.Method == "repeats" {
				repeats++
			}
		}
		for _, p := range l.Points {
			least, most = min(least, p.N), max(most, p.N)
		}
	}
	text := fmt.Sprintf("n = %d per point", least)
	if least != most {
		text = fmt.Sprintf("n = %d to %d per point", least, most)
	}
	switch {
	case known == 0:
		return text + ", too few to know the noise"
	case repeats == known:
		return text + ", noise taken from repeats"
	case repeats == 0:
		return text + ", noise taken from each series"
	}
	return text + ", noise taken from repeats or the series"
}

// largeMeta is the line under the heading of a single chart. The parts that
// depend on the base have roles: the script rewrites them.
func largeMeta(in chartsInput, a compared, f chart.Figure) []view.Fact {
	c := a.comparison
	var facts []view.Fact
	for i, l := range f.Source {
		facts = append(facts, view.Fact{Role: "now", Line: i, Parts: nowParts(f.Lines[i].Name, l, c)})
	}
	facts = append(facts,
		view.Fact{Role: "one", Parts: []view.Part{{Text: oneText(f, c, compare.FormatFull)}}},
		fact(directionText(c.Metric)),
		fact(strings.TrimPrefix(buildText(in.Resolved), in.Resolved.Suite+", ")),
		fact(noiseText(f.Source)),
	)
	return append(facts, buildsFact(in)...)
}

// nowParts says how the last version of a line stands: 8.8.0 is ▼ 0.82 of 4.4.1
// (0.80–0.84).
func nowParts(name string, l compare.Line, c compare.Comparison) []view.Part {
	p := l.Points[len(l.Points)-1]
	subject := p.Version
	if name != "" {
		subject = name + " " + p.Version
	}
	if p.Relative == nil {
		why := l.WhyNoBase
		if why == "" {
			why = "no base"
		}
		return []view.Part{{Text: subject + ": " + why}}
	}
	if p.Low != nil && p.High != nil && *p.Low == *p.High {
		return []view.Part{{Text: subject + " is the base"}}
	}
	v := compare.Judge(p, c.Metric.Direction)
	parts := []view.Part{{Text: subject + " is "}, {Text: ratioText(p, c.Metric.Direction), Strong: true, Class: verdictClass(v)}}
	tail := " of " + baseText(c.Base)
	if p.Low != nil && p.High != nil {
		tail += " (" + compare.FormatInterval(p.Low, p.High) + ")"
	} else {
		tail += ", noise unknown"
	}
	return append(parts, view.Part{Text: tail})
}

// oneText says what 1.00 stands for: 1.00 = 233,175/s. Lines with bases of their
// own have no common one.
func oneText(f chart.Figure, c compare.Comparison, format func(float64) string) string {
	var value *float64
	for _, l := range f.Source {
		switch {
		case l.BaseValue == nil:
		case value == nil:
			value = l.BaseValue
		case *value != *l.BaseValue:
			return "1.00 = each its own " + baseText(c.Base)
		}
	}
	switch {
	case value != nil && (c.Base.Compiler != "" || c.Base.Config != ""):
		return "1.00 = " + baseText(c.Base) + ", " + format(*value) + unitSuffix(c.Metric.Unit)
	case value != nil:
		return "1.00 = " + format(*value) + unitSuffix(c.Metric.Unit)
	case c.Base.Version == "" && c.Base != (compare.Base{}):
		return "1.00 = " + baseText(c.Base)
	case len(f.Source) > 0 && f.Source[0].WhyNoBase != "":
		return f.Source[0].WhyNoBase
	}
	return "no base"
}

func noiseText(lines []compare.Line) string {
	least, most := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		if l.Noise.OK {
			least, most = math.Min(least, l.Noise.SD), math.Max(most, l.Noise.SD)
		}
	}
	switch {
	case most < least:
		return "noise unknown: too few samples"
	case noisePercent(least) == noisePercent(most):
		return "noise " + noisePercent(least) + " a run"
	}
	return "noise " + noisePercent(least) + " to " + noisePercent(most) + " a run"
}

// neighbours gives links to the steps before and after one, in the order of the
// page of all.
func neighbours(in chartsInput, step string) []view.Link {
	steps := stepsOf(in)
	i := slices.Index(steps, step)
	if i < 0 {
		return nil
	}
	to := func(s string) string {
		return in.Given.with(func(q *chartsQuery) { q.Steps, q.At = []string{s}, "" }).String()
	}
	var links []view.Link
	if i > 0 {
		links = append(links, view.Link{Text: "← " + steps[i-1], Href: to(steps[i-1]), Title: "k"})
	}
	if i+1 < len(steps) {
		links = append(links, view.Link{Text: steps[i+1] + " →", Href: to(steps[i+1]), Title: "j"})
	}
	return links
}

// stepsOf gives the steps that the page of all would show, in its order.
func stepsOf(in chartsInput) []string {
	q := in.Resolved
	var steps []string
	for _, c := range in.Coordinates {
		if !selected(q, c.Coordinate) || bench.StepRole(c.Suite, c.Step) == bench.RolePrepare {
			continue
		}
		step := c.Step
		if !q.Apart {
			step = bench.StepFamily(step)
		}
		steps = appendNew(steps, step)
	}
	slices.SortFunc(steps, bench.CompareSteps)
	return steps
}

// selected reports whether a resolved query selects a coordinate, steps aside.
func selected(q chartsQuery, c bench.Coordinate) bool {
	for _, d := range dimensions {
		if !slices.Contains(d.get(q), d.of(c)) {
			return false
		}
	}
	return true
}

// key is the legend: only what occurs on the page.
func key(in chartsInput, a compared) []view.Sample {
	var samples []view.Sample
	named := chart.Names(a.comparison.Lines)
	neutral := a.comparison.Metric.Direction == bench.Neutral
	switch {
	case len(named) > 1:
		for _, n := range named {
			var dash []string
			for _, d := range n.Style.Dash {
				dash = append(dash, fmt.Sprint(d))
			}
			samples = append(samples, view.Sample{Kind: "line", Text: n.Name, Colour: n.Style.Colour, Dash: strings.Join(dash, " "), Marker: n.Style.Marker})
		}
	case neutral:
		samples = append(samples, view.Sample{Kind: "moved", Text: "differs, undecided"})
	default:
		samples = append(samples, view.Sample{Kind: "verdict", Text: "better, undecided, worse"})
	}
	single, flagged, joined := false, false, false
	for _, f := range a.figures {
		for i, l := range f.Lines {
			flagged = flagged || len(l.Flagged) > 0
			joined = joined || len(l.Joins) > 0
			single = single || slices.ContainsFunc(f.Source[i].Points, func(p compare.Point) bool { return p.N == 1 })
		}
	}
	if single && (a.large || len(a.comparison.Versions) <= 24) {
		samples = append(samples, view.Sample{Kind: "hollow", Text: "hollow: one run"})
	}
	samples = append(samples, view.Sample{Kind: "band", Text: "grey: cannot be told from 1.00"})
	if a.large && len(named) <= 2 {
		samples = append(samples, view.Sample{Kind: "bar", Text: "95 % interval"})
	}
	if joined {
		samples = append(samples, view.Sample{Kind: "joint", Text: "the step changes: overwrite, then overwriteandwait"})
	}
	if len(a.marks.marked) > 0 {
		samples = append(samples, view.Sample{Kind: "change", Text: "lasting change, down or up"})
		if a.large && len(named) == 1 {
			samples = append(samples, view.Sample{Kind: "level", Text: "level between changes, its 95 % interval"})
		}
	}
	if len(a.marks.notes) > 0 {
		if a.large {
			samples = append(samples, view.Sample{Kind: "ring", Text: "note"})
		} else {
			samples = append(samples, view.Sample{Kind: "note", Text: "note"})
		}
	}
	if flagged {
		samples = append(samples, view.Sample{Kind: "cross", Text: "not comparable: the run carries a warning"})
	}
	if !in.Resolved.Fit {
		samples = append(samples, view.Sample{Kind: "outside", Text: "outside the scale, with its value"})
	}
	return samples
}

// newChart builds a chart with its tables.
func newChart(in chartsInput, a compared, f chart.Figure, id string) view.Chart {
	c := a.comparison
	ch := view.Chart{
		ID: id, Title: f.Title, Figure: f,
		Href:    in.Given.with(func(q *chartsQuery) { q.Steps, q.At, q.Report, q.All = []string{f.Step}, "", false, false }).String(),
		ReadOut: oneText(f, c, compare.FormatShort),
		Label:   label(f, c),
		Remarks: remarks(f, c),
	}
	measured := map[string]bool{}
	for _, l := range f.Source {
		for _, p := range l.Points {
			measured[p.Version] = true
		}
	}
	var versions []string
	for _, v := range c.Versions {
		if measured[v] {
			versions = append(versions, v)
		}
	}
	ch.Count = plural(len(versions), "version", "versions")
	uniform, note := uniformInterval(f)
	blocks := [][]string{versions}
	if a.large && len(f.Lines) == 1 {
		blocks = blocksOf(versions)
		ch.Note = note
	}
	t := tableMaker{in: in, a: a, figure: f, intervals: !(a.large && uniform) && len(f.Lines) <= 2}
	for i, block := range blocks {
		ch.Tables = append(ch.Tables, t.make(block, blocks, i))
	}
	return ch
}

// label describes a chart to those who do not see it.
func label(f chart.Figure, c compare.Comparison) string {
	var ends []string
	for i, l := range f.Source {
		p := l.Points[len(l.Points)-1]
		if p.Relative == nil {
			continue
		}
		name := ""
		if f.Lines[i].Name != "" {
			name = f.Lines[i].Name + " "
		}
		ends = append(ends, fmt.Sprintf("%s%s is %s", name, p.Version, compare.FormatRatio(*p.Relative, p.Low, p.High)))
	}
	text := fmt.Sprintf("%s: relative %s of %s, base %s", f.Title, c.Metric.Title, span(c.Versions), baseText(c.Base))
	if len(ends) > 0 {
		text += "; " + strings.Join(ends, ", ")
	}
	return text + ". Arrow keys move along the versions."
}

// remarks says in words what marks in a chart mean.
func remarks(f chart.Figure, c compare.Comparison) []view.Fact {
	var out []view.Fact
	for i, l := range f.Source {
		name := ""
		if f.Lines[i].Name != "" {
			name = f.Lines[i].Name + ": "
		}
		// A chart of one line says it in its heading.
		if l.WhyNoBase != "" && len(f.Source) > 1 {
			out = append(out, view.Fact{Role: "without", Line: i, Parts: []view.Part{{Text: name + l.WhyNoBase}}})
		}
		for _, j := range f.Lines[i].Joins {
			out = append(out, fact(fmt.Sprintf("%s%v from %s on", name, j[1], c.Versions[j[0].(int)])))
		}
		var flagged []string
		for _, at := range f.Lines[i].Flagged {
			flagged = append(flagged, c.Versions[at])
		}
		if len(flagged) > 0 {
			out = append(out, fact(name+"× not comparable, see the run: "+strings.Join(flagged, ", ")))
		}
		var mixed []string
		for _, at := range f.Lines[i].Mixed {
			mixed = append(mixed, c.Versions[at])
		}
		if len(mixed) > 0 {
			out = append(out, fact(name+"samples of different builds, no repeats: "+strings.Join(mixed, ", ")))
		}
		var groups []string
		for _, at := range f.Lines[i].Bimodal {
			p := pointAt(l, c.Versions[at])
			groups = append(groups, fmt.Sprintf("%s (%s)", c.Versions[at], groupsText(*p)))
		}
		if len(groups) > 0 {
			out = append(out, fact(name+"samples in two groups, the median says little: "+strings.Join(groups, ", ")))
		}
	}
	return out
}

// groupsText names the two groups that the samples of a point fall into.
func groupsText(p compare.Point) string {
	return "around " + compare.FormatShort(p.GroupLow) + " and " + compare.FormatShort(p.GroupHigh)
}

// uniformInterval reports whether all ratios of a single line but the base's own
// have an interval of the same width, and words it: every ratio × 0.973 to ×
// 1.028.
func uniformInterval(f chart.Figure) (uniform bool, note string) {
	if len(f.Source) != 1 {
		return false, ""
	}
	half := math.NaN()
	for _, p := range f.Source[0].Points {
		if p.Relative == nil {
			continue
		}
		if p.Low == nil || p.High == nil {
			return false, ""
		}
		if *p.Low == *p.High {
			continue
		}
		h := math.Log(*p.High / *p.Low) / 2
		if !math.IsNaN(half) && math.Abs(h-half) > 1e-9 {
			return false, ""
		}
		half = h
	}
	if math.IsNaN(half) {
		return false, ""
	}
	return true, fmt.Sprintf("interval of every ratio: × %.3f to × %.3f", math.Exp(-half), math.Exp(half))
}

// blockRows is how long a block of a table may get before it is cut in two.
const blockRows = 20

// blocksOf cuts versions into blocks, one a major, long ones in two.
func blocksOf(versions []string) [][]string {
	var blocks [][]string
	majors := chart.Majors(versions)
	for i, m := range majors {
		end := len(versions)
		if i+1 < len(majors) {
			end = majors[i+1].At
		}
		group := versions[m.At:end]
		for parts := (len(group) + blockRows - 1) / blockRows; parts > 0; parts-- {
			n := (len(group) + parts - 1) / parts
			blocks = append(blocks, group[:n])
			group = group[n:]
		}
	}
	return blocks
}

type tableMaker struct {
	in        chartsInput
	a         compared
	figure    chart.Figure
	intervals bool
}

func (t tableMaker) make(versions []string, blocks [][]string, at int) view.Table {
	c := t.a.comparison
	out := view.Table{Unit: valueHead(c.Metric), Intervals: t.intervals}
	if len(blocks) > 1 {
		out.Caption = chart.Majors(versions[:1])[0].Name
		same := func(i int) bool {
			return i >= 0 && i < len(blocks) && chart.Majors(blocks[i][:1])[0].Name == out.Caption
		}
		if same(at-1) || same(at+1) {
			out.Range = minor(versions[0]) + " to " + minor(versions[len(versions)-1])
		}
	}
	for _, l := range t.figure.Lines {
		out.Lines = append(out.Lines, l.Name)
	}
	for _, v := range versions {
		r := view.Row{Version: v, Current: t.a.large && t.in.Given.At == v}
		if t.a.large {
			r.Base = baseHref(t.in.Given, v, t.a.autoBase)
		}
		for i, l := range t.figure.Source {
			r.Cells = append(r.Cells, t.cell(l, v))
			for _, j := range t.figure.Lines[i].Joins {
				if c.Versions[j[0].(int)] == v {
					r.Mark = fmt.Sprintf("%v from here on", j[1])
				}
			}
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

func minor(version string) string {
	if m, ok := bench.Minor(version); ok {
		return m
	}
	return version
}

func (t tableMaker) cell(l compare.Line, version string) view.Cell {
	p := pointAt(l, version)
	if p == nil {
		return view.Cell{Value: compare.Missing, Interval: compare.Missing}
	}
	c := view.Cell{Value: compare.FormatFull(p.Value), Relative: compare.Missing, Interval: intervalText(*p)}
	if p.Relative != nil {
		c.Relative = compare.FormatRatio(*p.Relative, p.Low, p.High)
		c.Class = verdictClass(compare.Judge(*p, t.a.comparison.Metric.Direction))
	}
	if p.Flagged {
		c.Relative, c.Class, c.Title = "× "+c.Relative, "fl", "not comparable: the run carries a warning"
	} else if p.N > 1 {
		c.Title = fmt.Sprintf("n = %d, %s to %s", p.N, compare.FormatFull(p.Min), compare.FormatFull(p.Max))
		if p.Bimodal {
			c.Title += ", in two groups " + groupsText(*p)
		}
	}
	return c
}

// baseHref is the address with another base. The base that an address without
// one has is left out.
func baseHref(q chartsQuery, version, auto string) string {
	return q.with(func(q *chartsQuery) {
		q.Base.Version = version
		if q.Base == (compare.Base{Version: auto}) {
			q.Base.Version = ""
		}
	}).String()
}

// nothingMeasured is the page's content where nothing was measured under what the
// address names.
func nothingMeasured(in chartsInput) *view.Empty {
	if len(in.Coordinates) == 0 {
		return firstUpload(in.Origin)
	}
	var what []string
	for _, d := range dimensions {
		if v := d.get(in.Given); len(v) > 0 {
			what = append(what, d.name+" "+strings.Join(v, " or "))
		}
	}
	if len(in.Given.Steps) > 0 {
		what = append(what, "step "+strings.Join(in.Given.Steps, " or "))
	}
	e := &view.Empty{
		Sentence: "Nothing was measured for " + strings.Join(what, ", ") + ".",
		Detail:   "Expected were results with all of these. What there is stands in the menus above; this sends more:",
		Command:  uploadCommand(in.Origin),
	}
	e.Links = append(e.Links, view.Link{Text: "All that was measured", Href: "/#measured"}, view.Link{Text: "Default charts", Href: "/charts"})
	return e
}

func nothingOfMetric(in chartsInput, m bench.Metric) *view.Empty {
	e := &view.Empty{Sentence: fmt.Sprintf("No %s here.", m.Title), Detail: "Expected were results with this metric in the versions shown. Measured are:"}
	for _, f := range in.Metrics {
		e.Links = append(e.Links, view.Link{Text: f.Title, Href: in.Given.with(func(q *chartsQuery) { q.Metric = f.Name }).String()})
	}
	if in.Given.From != "" || in.Given.To != "" {
		e.Links = append(e.Links, view.Link{Text: "All versions", Href: in.Given.with(func(q *chartsQuery) { q.From, q.To = "", "" }).String()})
	}
	return e
}

// firstUpload is what an empty store shows.
func firstUpload(origin string) *view.Empty {
	return &view.Empty{
		Sentence: "No results yet.",
		Detail:   "Expected are files of db_bench and benchmark.sh: logs, report.tsv, summary.tsv, sum.*.txt, result directories as tar.gz or zip. This sends one:",
		Command:  uploadCommand(origin),
		Links:    []view.Link{{Text: "Send files from this browser", Href: "/upload"}},
	}
}
