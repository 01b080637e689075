package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// sweepsQuery is the query of /sweeps. What is not given is chosen: the first
// sweep that fits.
type sweepsQuery struct {
	compare.SweepQuery
	Unknown url.Values
}

func parseSweeps(raw string) (sweepsQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return sweepsQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := sweepsQuery{SweepQuery: compare.SweepQuery{
		System: p.one("system"), Suite: p.one("suite"), Server: p.one("server"), Workload: bench.WorkloadName(p.one("workload")), Option: p.one("option"),
		Configs: p.many("config"), Versions: p.many("version"), Steps: p.many("step"), Metric: p.one("metric"), Base: p.one("base"),
	}}
	if _, ok := bench.LookupMetric(q.Metric); !ok && q.Metric != "" {
		p.fail("no such metric: %q; known are %s, and counters as ticker_NAME and perf_NAME", q.Metric, metricNames())
	}
	q.Unknown = p.rest()
	return q, p.err
}

func (q sweepsQuery) String() string { return q.at("/sweeps") }

func (q sweepsQuery) at(path string) string {
	a := address{path: path}
	a.set("system", q.System)
	a.set("suite", q.Suite)
	a.set("server", q.Server)
	a.set("workload", q.Workload)
	a.set("option", q.Option)
	a.all("config", q.Configs)
	a.all("version", q.Versions)
	a.all("step", q.Steps)
	a.set("metric", q.Metric)
	a.set("base", q.Base)
	if path == "/sweeps" {
		a.keep(q.Unknown)
	}
	return a.String()
}

// with gives the address of a changed copy.
func (q sweepsQuery) with(change func(*sweepsQuery)) string {
	change(&q)
	return q.String()
}

// of gives the query of a sweep, what is shown of it as before.
func (q sweepsQuery) of(s *compare.Sweep) sweepsQuery {
	q.System, q.Suite, q.Server, q.Workload, q.Option = s.System, s.Suite, s.Server, s.Workload, s.Option.String()
	q.Configs = slices.DeleteFunc(s.Configs(), func(c string) bool { return c == "" })
	q.Versions, q.Steps, q.Base, q.Metric = nil, nil, "", ""
	return q
}

// sweepsInput is what the page of a sweep is built from.
type sweepsInput struct {
	Given   sweepsQuery
	Found   bool
	C       compare.SweepComparison
	All     []compare.Sweep // every sweep, of whatever system
	Metrics []bench.MetricFacet
	Origin  string
}

func (s *server) sweeps(r *http.Request) (templ.Component, error) {
	q, err := parseSweeps(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	in := sweepsInput{Given: q, Origin: s.origin(r)}
	ctx := r.Context()
	if in.C, in.All, in.Found, err = compare.ReadSweep(ctx, s.Source, q.SweepQuery, s.cache); err != nil {
		return nil, err
	}
	if in.Found {
		f := in.Given.Filters(&in.C.Sweep)[0]
		f.Metric = ""
		facets, err := s.Source.Facets(ctx, f)
		if err != nil {
			return nil, err
		}
		in.Metrics = facets.Metrics
	}
	p := newSweepsPage(in)
	p.Page = s.frame(r, p.Title, "/sweeps")
	s.bar(r, &p.Bar)
	if in.Found {
		s.describe(r, &p.Page, plain(p.Lead))
	}
	return view.Sweeps(p), nil
}

// newSweepsPage builds the page of a sweep. Its Page is left to the caller, but
// for the title.
func newSweepsPage(in sweepsInput) view.SweepsPage {
	p := view.SweepsPage{Heading: "Sweeps"}
	p.Title = "Sweeps"
	if !in.Found {
		p.Bar.Fields = sweepFields(in)
		p.Empty = noSweep(in)
		return p
	}
	c := &in.C
	sweep := &c.Sweep
	option := sweep.Option.String()
	first, last := &sweep.Arms[0], &sweep.Arms[len(sweep.Arms)-1]
	p.Heading = fmt.Sprintf("%s, %s: %s to %s", systemName(sweep.System), option, first.Label(sweep.Option), last.Label(sweep.Option))
	p.Title = p.Heading
	p.Bar = view.Bar{
		Fields: sweepFields(in), Copy: in.Given.String(),
		Export: []view.Link{{Text: "JSON", Href: in.Given.at("/api/v1/compare/sweep"), Title: "the same from the API"}},
	}
	p.Meta = sweepMeta(in)
	summary := c.Summary()
	for i, text := range summary {
		if i == 0 {
			p.Lead = []view.Part{{Text: text, Strong: true}}
			continue
		}
		p.Lead = append(p.Lead, textPart(" "+text))
	}
	p.Doubts = append(append([]string{}, c.Doubts...), c.Disks.Sentences...)
	p.Option = option
	p.BaseText = "the best of each step"
	if c.Base != "" {
		p.BaseText = sweep.Arm(c.Base).Label(sweep.Option)
	} else if len(c.Rows) > 0 && !slices.ContainsFunc(c.Rows, func(r compare.SweepRow) bool { return r.Best != "" }) {
		p.BaseText = "the first value"
	}
	several := len(c.Rows) > 1
	for i := range c.Rows {
		r := &c.Rows[i]
		p.Groups = append(p.Groups, sweepGroup(in, r))
		if plot, ok := rowPlot(c, r); ok {
			p.Plots = append(p.Plots, plot)
		}
	}
	p.Several = several
	p.Intervals = slices.ContainsFunc(c.Rows, func(r compare.SweepRow) bool { return r.Known() })
	if len(c.Rows) == 0 {
		p.NoRows = "None of the arms has this metric in a step that measures."
	}
	for i := range sweep.Arms {
		p.Arms = append(p.Arms, sweep.Arms[i].Label(sweep.Option))
	}
	for _, x := range c.Splits {
		p.Splits = append(p.Splits, sweepSplit(c, x))
	}
	p.Disks = diskTable(c)
	for i := range c.Differs {
		d := &c.Differs[i]
		row := view.DifferRow{Kind: string(d.Kind), Name: d.Name, Strong: d.Disjoint()}
		for _, values := range d.Values {
			row.Values = append(row.Values, compare.FactsText(values))
		}
		p.Differs = append(p.Differs, row)
	}
	for i := range in.All {
		x := &in.All[i]
		p.Others = append(p.Others, view.Link{
			Text: sweepName(x), Title: strings.Join(slices.DeleteFunc(x.Configs(), func(c string) bool { return c == "" }), ", "),
			Href: in.Given.of(x).String(), Current: sameSweep(x, sweep),
		})
	}
	return p
}

// sweepName names a sweep among others.
func sweepName(s *compare.Sweep) string {
	var labels []string
	for i := range s.Arms {
		labels = append(labels, s.Arms[i].Label(s.Option))
	}
	return fmt.Sprintf("%s %s, %s: %s", systemName(s.System), s.Option.String(), strings.Join(slices.DeleteFunc([]string{s.Suite, s.Server, s.Workload}, func(x string) bool { return x == "" }), ", "),
		strings.Join(labels, ", "))
}

func sameSweep(a, b *compare.Sweep) bool {
	return a.System == b.System && a.Suite == b.Suite && a.Server == b.Server && a.Workload == b.Workload && a.Option == b.Option && slices.Equal(a.Configs(), b.Configs())
}

func sweepMeta(in sweepsInput) []view.Fact {
	c := &in.C
	s := &c.Sweep
	server := "server " + s.Server
	if s.Server == "" {
		server = "each value on a server of its own"
	}
	facts := []view.Fact{fact(server), fact(orDash(s.Workload)), fact(s.Suite)}
	if len(c.Versions) == 1 {
		facts = append(facts, fact("version "+c.Versions[0]))
	}
	if configs := slices.DeleteFunc(s.Configs(), func(c string) bool { return c == "" }); len(configs) > 0 {
		facts = append(facts, fact("configs "+strings.Join(configs, ", ")))
	}
	if len(c.Rows) > 0 {
		facts = append(facts, fact(directionText(c.Rows[0].Metric)))
	}
	return facts
}

// sweepGroup is the table of one row of the comparison.
func sweepGroup(in sweepsInput, r *compare.SweepRow) view.SweepGroup {
	c := &in.C
	s := &c.Sweep
	g := view.SweepGroup{Title: bench.ShortStep(r.Step), Href: sweepChart(s, r)}
	var where []string
	if len(c.Versions) > 1 {
		where = append(where, r.Version)
	}
	if r.Compiler != "" && differs(c.Rows, func(x *compare.SweepRow) string { return x.Compiler }) {
		where = append(where, compilerName(r.Compiler))
	}
	if differs(c.Rows, func(x *compare.SweepRow) string { return fmt.Sprint(x.Clients) }) {
		where = append(where, plural(r.Clients, "client", "clients"))
	}
	g.Where = strings.Join(where, ", ")
	_, unit := compare.FormatIn(r.Metric, 1)
	g.Head = r.Metric.Title
	if unit = strings.TrimSpace(unit); unit != "" && unit != "/s" && unit != r.Metric.Title {
		g.Head += ", " + unit
	}
	for i := range r.Cells {
		x := &r.Cells[i]
		arm := &s.Arms[i]
		row := view.SweepArmRow{Label: arm.Label(s.Option), Configs: strings.Join(slices.DeleteFunc(slices.Clone(arm.Configs), func(c string) bool { return c == "" }), ", ")}
		row.Rebase = in.Given.with(func(q *sweepsQuery) { q.Base = arm.Name() })
		row.Base = x.Arm == r.Base
		row.Best = x.Arm == r.Best
		if x.Point == nil {
			row.Value, row.Ratio, row.Interval, row.N = "not measured", compare.Missing, compare.Missing, compare.Missing
			g.Rows = append(g.Rows, row)
			continue
		}
		row.Value, _ = compare.FormatIn(r.Metric, x.Value)
		row.N = fmt.Sprint(x.N)
		row.Ratio, row.Interval = compare.Missing, intervalText(*x.Point)
		if x.Relative != nil {
			v := x.Verdict
			if row.Base {
				v = compare.NoVerdict // 1.00 by definition
			}
			row.Ratio = strings.TrimSpace(glyph(v) + " " + compare.FormatSwept(*x.Relative))
			row.Class = verdictClass(v)
		} else if why := noRatio(r); why != "" {
			row.Ratio = why
		}
		if x.Low == nil && x.N == 1 {
			row.Interval = "one run"
		}
		if x.Flagged {
			row.Note = "not comparable"
			row.Ratio, row.Class = "× "+strings.TrimLeft(row.Ratio, glyphBetter+glyphWorse+glyphUndecided+" "), "fl"
		}
		for _, id := range x.Runs {
			row.Runs = append(row.Runs, view.Link{Text: fmt.Sprint(id), Href: runHref(id)})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// noRatio says why a row has no ratio, "" where it has one.
func noRatio(r *compare.SweepRow) string {
	base := r.Cell(r.Base)
	switch {
	case base == nil:
		return "base not measured"
	case base.Value == 0:
		return compare.BaseIsZero
	}
	return ""
}

func differs(rows []compare.SweepRow, of func(*compare.SweepRow) string) bool {
	return slices.ContainsFunc(rows, func(x compare.SweepRow) bool { return of(&x) != of(&rows[0]) })
}

// sweepChart is the address of the charts of a row's step.
func sweepChart(s *compare.Sweep, r *compare.SweepRow) string {
	return chartsQuery{
		System: s.System, Suite: s.Suite, Servers: orNone(s.Server), Workloads: orNone(s.Workload), Steps: []string{r.Step}, Metric: r.Metric.Name,
		Configs: slices.DeleteFunc(s.Configs(), func(c string) bool { return c == "" }),
	}.String()
}

// sweepSplit shows a step's figures split by a key.
func sweepSplit(c *compare.SweepComparison, x compare.SweepSplit) view.SweepSplit {
	m, _ := bench.LookupMetric(x.Metric)
	_, unit := compare.FormatIn(bench.Metric{Unit: x.Unit}, 1)
	out := view.SweepSplit{Title: m.Title + " by " + strings.ReplaceAll(x.Key, "_", " "), Key: strings.ReplaceAll(x.Key, "_", " "), Unit: unit}
	for _, r := range x.Rows {
		row := view.SplitRow{Bucket: r.Bucket}
		for i, cell := range r.Cells {
			y := view.SplitCell{Value: compare.Missing}
			if cell.OK {
				y.Value, _ = compare.FormatIn(bench.Metric{Unit: x.Unit}, cell.Value)
				y.Best = c.Sweep.Arms[i].Name() == r.Best
				if cell.Relative != nil {
					y.Ratio = compare.FormatSwept(*cell.Relative)
				}
				if cell.Samples > 0 {
					y.Samples = compare.FormatFull(float64(cell.Samples))
				}
			}
			row.Cells = append(row.Cells, y)
		}
		out.Rows = append(out.Rows, row)
		if plot, ok := splitPlot(c, x, r); ok {
			out.Plots = append(out.Plots, plot)
		}
	}
	return out
}

// diskTable shows what fio says of the disks.
func diskTable(c *compare.SweepComparison) view.DiskTable {
	var t view.DiskTable
	list := c.Disks.Disks
	if len(list) == 0 {
		return t
	}
	for _, name := range compare.DiskMetrics() {
		if slices.ContainsFunc(list, func(d compare.Disk) bool { return d.Figure(name) != nil }) {
			m, _ := bench.LookupMetric(name)
			title := m.Title
			switch name {
			case "mb_per_s":
				title = "MiB/s"
			case "average":
				title = "clat mean, µs"
			case "stdev_us":
				title = "clat stdev, µs"
			case "p50", "p99", "max":
				title = "clat " + title + ", µs"
			}
			t.Heads = append(t.Heads, title)
		}
	}
	for i := range list {
		d := &list[i]
		row := view.DiskRow{Disk: cmp.Or(d.Name, "not named"), Arm: c.Sweep.Arm(d.Arm).Label(c.Sweep.Option), Step: d.Step, Contradicts: d.Contradiction != ""}
		for _, name := range compare.DiskMetrics() {
			if !slices.ContainsFunc(list, func(d compare.Disk) bool { return d.Figure(name) != nil }) {
				continue
			}
			text := compare.Missing
			if f := d.Figure(name); f != nil {
				text = compare.FormatFull(f.Value)
			}
			row.Figures = append(row.Figures, text)
		}
		row.ByBandwidth = compare.Missing
		if size, ok := compare.BlockSizeOf(d.Step); ok {
			if f := d.Figure("mb_per_s"); f != nil {
				row.ByBandwidth = compare.FormatFull(float64(int64(f.Value*(1<<20)/size + 0.5)))
			}
		}
		for _, id := range d.Runs {
			row.Runs = append(row.Runs, view.Link{Text: fmt.Sprint(id), Href: runHref(id)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// sweepFields are the fields of the toolbar.
func sweepFields(in sweepsInput) []view.Field {
	var out []view.Field
	current := &in.C.Sweep
	type dim struct {
		label string
		of    func(*compare.Sweep) string
		name  func(string) string
	}
	dims := []dim{
		{"System", func(s *compare.Sweep) string { return s.System }, systemName},
		{"Suite", func(s *compare.Sweep) string { return s.Suite }, asIs},
		{"Server", func(s *compare.Sweep) string { return s.Server }, func(s string) string { return cmp.Or(s, "each its own") }},
		{"Workload", func(s *compare.Sweep) string { return s.Workload }, orDash},
		{"Option", func(s *compare.Sweep) string { return s.Option.String() + optionArms(in.All, s) }, asIs},
	}
	for i, d := range dims {
		f := view.Field{Label: d.label, Value: "choose"}
		if in.Found {
			f.Value = d.name(d.of(current))
		}
		var g view.ChoiceGroup
		var seen []string
		for j := range in.All {
			x := &in.All[j]
			fits := true
			for _, before := range dims[:i] {
				fits = fits && (!in.Found || before.of(x) == before.of(current))
			}
			v := d.of(x)
			if !fits || slices.Contains(seen, v) {
				continue
			}
			seen = append(seen, v)
			g.Choices = append(g.Choices, view.Choice{Name: d.name(v), Href: in.Given.of(x).String(), Current: in.Found && d.of(current) == v})
		}
		if len(g.Choices) > 1 || !in.Found && len(g.Choices) > 0 {
			f.Menu = []view.ChoiceGroup{g}
		}
		if in.Found || len(f.Menu) > 0 {
			out = append(out, f)
		}
	}
	if !in.Found {
		return out
	}
	base := view.Field{Label: "Base", Value: "best", Base: true}
	g := view.ChoiceGroup{Words: true, Choices: []view.Choice{{Name: "the best of each step", Href: in.Given.with(func(q *sweepsQuery) { q.Base = "" }), Current: in.C.Base == ""}}}
	for i := range current.Arms {
		a := &current.Arms[i]
		if a.Name() == in.C.Base {
			base.Value = a.Label(current.Option)
		}
		g.Choices = append(g.Choices, view.Choice{Name: a.Label(current.Option), Href: in.Given.with(func(q *sweepsQuery) { q.Base = a.Name() }), Current: a.Name() == in.C.Base})
	}
	base.Menu = []view.ChoiceGroup{g}
	out = append(out, base)

	metric := view.Field{Label: "Metric", Value: "decides each step", Long: len(in.Metrics) > 8}
	own := view.ChoiceGroup{Choices: []view.Choice{{Name: "the one that decides each step", Href: in.Given.with(func(q *sweepsQuery) { q.Metric = "" }), Current: in.Given.Metric == ""}}}
	var known view.ChoiceGroup
	for _, m := range in.Metrics {
		if m.Name == in.Given.Metric {
			metric.Value = m.Title
		}
		if strings.HasPrefix(m.Name, "ticker_") || strings.HasPrefix(m.Name, "perf_") {
			continue
		}
		known.Choices = append(known.Choices, view.Choice{Name: m.Title, Title: m.About, Href: in.Given.with(func(q *sweepsQuery) { q.Metric = m.Name }), Current: m.Name == in.Given.Metric})
	}
	metric.Menu = []view.ChoiceGroup{own, known}
	out = append(out, metric)
	if len(in.C.Versions) > 1 {
		f := view.Field{Label: "Version", Value: cmp.Or(strings.Join(in.Given.Versions, ", "), "all"), Versions: true}
		g := view.ChoiceGroup{Choices: []view.Choice{{Name: "all", Href: in.Given.with(func(q *sweepsQuery) { q.Versions = nil }), Current: len(in.Given.Versions) == 0}}}
		for _, v := range in.C.Versions {
			g.Choices = append(g.Choices, view.Choice{Name: v, Href: in.Given.with(func(q *sweepsQuery) { q.Versions = []string{v} }), Current: slices.Contains(in.Given.Versions, v)})
		}
		f.Menu = []view.ChoiceGroup{g}
		out = append(out, f)
	}
	return out
}

// optionArms tells apart sweeps over one option at one place: by their configs.
func optionArms(all []compare.Sweep, s *compare.Sweep) string {
	n := 0
	for i := range all {
		x := &all[i]
		if x.System == s.System && x.Suite == s.Suite && x.Server == s.Server && x.Workload == s.Workload && x.Option == s.Option {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return " (" + strings.Join(s.Configs(), ", ") + ")"
}

func noSweep(in sweepsInput) *view.Empty {
	e := &view.Empty{
		Sentence: "No option was measured at several values.",
		Detail: "Expected were runs whose options differ in one number only: logs of db_bench with several --block_size, configs of which one number differs, " +
			"figures of state-perf sent with --config bs4k, bs8k and so on. This sends one:",
		Command: uploadCommand(in.Origin),
	}
	if len(in.All) > 0 {
		e.Sentence, e.Command = "No option was measured at several values under what the address names.", ""
		e.Detail = "These were:"
		for i := range in.All {
			e.Links = append(e.Links, view.Link{Text: sweepName(&in.All[i]), Href: sweepsQuery{}.of(&in.All[i]).String()})
		}
	}
	return e
}
