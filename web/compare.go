package web

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// compareQuery is the query of /compare. Keys with a. or b. in front are of one
// set, those without of both: system, suite, server, workload, compiler, config,
// clients, version, from, to, run. step and metric are always of both.
type compareQuery struct {
	compare.SetsQuery
	Unknown url.Values
}

func parseCompare(raw string) (compareQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return compareQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := compareQuery{SetsQuery: compare.SetsQuery{A: p.set("a."), B: p.set("b."), Steps: p.many("step"), Metric: p.one("metric")}}
	if _, ok := bench.LookupMetric(q.Metric); !ok && q.Metric != "" {
		p.fail("no such metric: %q; known are %s, and counters as ticker_NAME and perf_NAME", q.Metric, metricNames())
	}
	q.Unknown = p.rest()
	q.Unknown.Del("format")
	return q, p.err
}

// set reads the keys of one set: its own, else those of both.
func (p *params) set(prefix string) compare.SetQuery {
	one := func(key string) string {
		both := p.one(key)
		return cmp.Or(p.one(prefix+key), both)
	}
	list := func(key string) []string {
		both := p.list(key)
		own := p.list(prefix + key)
		if _, given := p.values[prefix+key]; given && !slices.Equal(own, []string{""}) {
			return own
		}
		return both
	}
	many := func(key string) []string {
		return slices.DeleteFunc(list(key), func(s string) bool { return s == "" })
	}
	s := compare.SetQuery{System: one("system"), Suite: one("suite"), Servers: many("server"), Versions: many("version"), From: one("from"), To: one("to")}
	for _, w := range many("workload") {
		s.Workloads = appendNew(s.Workloads, bench.WorkloadName(w))
	}
	for _, c := range many("compiler") {
		s.Compilers = appendNew(s.Compilers, bench.CompilerName(c))
	}
	for _, c := range many("config") {
		if c == noConfig {
			c = ""
		}
		s.Configs = appendNew(s.Configs, c)
	}
	for _, c := range many("clients") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 0 {
			p.fail("clients is a whole number, not %q", c)
		} else if !slices.Contains(s.Clients, n) {
			s.Clients = append(s.Clients, n)
		}
	}
	for _, r := range many("run") {
		n, err := strconv.ParseInt(r, 10, 64)
		if err != nil || n < 1 {
			p.fail("run is a whole number above 0, not %q", r)
		} else if !slices.Contains(s.Runs, n) {
			s.Runs = append(s.Runs, n)
		}
	}
	if s.From != "" && s.To != "" && bench.CompareVersions(s.From, s.To) > 0 {
		p.fail("from=%s is newer than to=%s", s.From, s.To)
	}
	return s
}

// noConfig stands in addresses for runs without a config, for an empty value means
// any.
const noConfig = "-"

// setKeys are the keys of a set in the order of addresses, with their values.
var setKeys = []struct {
	key string
	of  func(*compare.SetQuery) []string
}{
	{"system", func(s *compare.SetQuery) []string { return orNone(s.System) }},
	{"suite", func(s *compare.SetQuery) []string { return orNone(s.Suite) }},
	{"server", func(s *compare.SetQuery) []string { return s.Servers }},
	{"workload", func(s *compare.SetQuery) []string { return s.Workloads }},
	{"compiler", func(s *compare.SetQuery) []string { return s.Compilers }},
	{"config", func(s *compare.SetQuery) []string {
		var out []string
		for _, c := range s.Configs {
			out = append(out, cmp.Or(c, noConfig))
		}
		return out
	}},
	{"clients", func(s *compare.SetQuery) []string {
		var out []string
		for _, c := range s.Clients {
			out = append(out, strconv.Itoa(c))
		}
		return out
	}},
	{"version", func(s *compare.SetQuery) []string { return s.Versions }},
	{"from", func(s *compare.SetQuery) []string { return orNone(s.From) }},
	{"to", func(s *compare.SetQuery) []string { return orNone(s.To) }},
	{"run", func(s *compare.SetQuery) []string {
		var out []string
		for _, r := range s.Runs {
			out = append(out, strconv.FormatInt(r, 10))
		}
		return out
	}},
}

// String gives the address of the view: what the sets share once, then what each
// has of its own.
func (q compareQuery) String() string { return q.at("/compare", "") }

func (q compareQuery) at(path, format string) string {
	a := address{path: path}
	for _, k := range setKeys {
		x, y := k.of(&q.A), k.of(&q.B)
		if slices.Equal(x, y) {
			a.all(k.key, x)
			continue
		}
		a.all("a."+k.key, x)
		a.all("b."+k.key, y)
	}
	a.all("step", q.Steps)
	a.set("metric", q.Metric)
	a.set("format", format)
	a.keep(q.Unknown)
	return a.String()
}

// swapped is the query with the sets the other way round.
func (q compareQuery) swapped() compareQuery {
	q.A, q.B = q.B, q.A
	return q
}

// names gives what each set is called: by what it has of its own.
func (q compareQuery) names() (a, b string) {
	name := func(own, other *compare.SetQuery) string {
		var parts []string
		for _, k := range setKeys {
			v := k.of(own)
			if slices.Equal(v, k.of(other)) {
				continue
			}
			text := shownValues(k.key, v)
			switch k.key {
			case "from":
				text = "from " + own.From
			case "to":
				text = "up to " + own.To
			case "run":
				text = "run " + text
			case "clients":
				text += " clients"
			}
			if len(v) > 0 {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, ", ")
	}
	a, b = name(&q.A, &q.B), name(&q.B, &q.A)
	if a == "" && b == "" {
		return "all", "the same"
	}
	return cmp.Or(a, "all"), cmp.Or(b, "all")
}

func shownValues(key string, values []string) string {
	var out []string
	for _, v := range values {
		switch key {
		case "system":
			v = systemName(v)
		case "compiler":
			v = compilerName(v)
		case "config":
			if v == noConfig {
				v = "no config"
			}
		}
		out = append(out, v)
	}
	return strings.Join(out, " and ")
}

// common gives in words what the sets were chosen alike in.
func (q compareQuery) common() []string {
	var out []string
	for _, k := range setKeys {
		if v := k.of(&q.A); len(v) > 0 && slices.Equal(v, k.of(&q.B)) {
			text := shownValues(k.key, v)
			switch k.key {
			case "from", "to", "run", "version":
				text = k.key + " " + text
			case "clients":
				text += " clients"
			}
			out = append(out, text)
		}
	}
	return out
}

// compareInput is what the page of two sets is built from.
type compareInput struct {
	Given  compareQuery
	C      compare.SetComparison
	Facets bench.Facets // of everything, for the form
	Asked  bool         // some set was chosen
}

func (s *server) readCompare(r *http.Request) (compareInput, error) {
	q, err := parseCompare(r.URL.RawQuery)
	if err != nil {
		return compareInput{}, err
	}
	in := compareInput{Given: q, Asked: !q.A.Empty() || !q.B.Empty()}
	system := ""
	if q.A.System == q.B.System {
		system = q.A.System
	}
	if in.Facets, err = s.Source.Facets(r.Context(), bench.SeriesFilter{System: system}); err != nil {
		return in, err
	}
	if in.Asked {
		in.C, err = compare.ReadSets(r.Context(), s.Source, q.SetsQuery, s.cache)
	}
	return in, err
}

func (s *server) compare(w http.ResponseWriter, r *http.Request) {
	in, err := s.readCompare(r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	switch format := r.URL.Query().Get("format"); format {
	case "":
		s.page(func(r *http.Request) (templ.Component, error) {
			p := newComparePage(in)
			p.Page = s.frame(r, p.Title, "")
			s.bar(r, &p.Bar)
			if in.Asked {
				s.describe(r, &p.Page, plain(p.Lead))
			}
			return view.Compare(p), nil
		})(w, r)
	case "csv":
		w.Header().Set("Content-Disposition", `attachment; filename="compare.csv"`)
		write(w, http.StatusOK, "text/csv; charset=utf-8", compareCSV(in))
	case "md":
		write(w, http.StatusOK, "text/plain; charset=utf-8", compareMarkdown(in, s.origin(r)+in.Given.String()))
	default:
		s.problem(w, r, bench.Errorf(bench.KindInvalid, "format is md or csv, not %q", format))
	}
}

// compareRowsMax bounds the rows of the page; the CSV has all.
const compareRowsMax = 500

// newComparePage builds the page of two sets. Its Page is left to the caller, but
// for the title.
func newComparePage(in compareInput) view.ComparePage {
	q, c := in.Given, &in.C
	p := view.ComparePage{Heading: "Compare two sets of runs", Form: setForm(in)}
	p.Title = p.Heading
	if !in.Asked {
		p.Form.Open = true
		p.Examples = compareExamples(in.Facets)
		return p
	}
	a, b := q.names()
	p.A, p.B = a, b
	p.Form.Open = len(c.Rows) == 0 || (len(q.A.Runs) > 0) != (len(q.B.Runs) > 0)
	p.Heading = b + " against " + a
	p.Title = p.Heading
	p.Bar = compareBar(in, a, b)
	for _, text := range q.common() {
		p.Meta = append(p.Meta, fact(text))
	}
	p.Meta = append(p.Meta, fact(plural(len(c.RunsA), "run", "runs")+" in A"), fact(plural(len(c.RunsB), "run", "runs")+" in B"))
	if len(c.Rows) == 0 {
		p.Empty = nothingInCommon(in, a, b)
	}
	for i := range c.Means {
		m := &c.Means[i]
		if i > 0 {
			p.Lead = append(p.Lead, textPart(" "))
		}
		p.Lead = append(p.Lead, view.Part{Text: m.Sentence(), Strong: i == 0})
	}
	p.Remarks = slices.Clone(c.Pooled)
	if len(c.Apart) > 0 && len(c.Rows) > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("Rows are matched without %s: there the sets differ.", strings.Join(c.Apart, " and ")))
	}
	p.Where = partsApart(c)
	oneVersion := !differ(c, func(_ bench.Coordinate, version string) string { return version })
	for i := range c.Rows {
		if i == compareRowsMax {
			p.Remarks = append(p.Remarks, fmt.Sprintf("The first %d of %d rows are shown; the CSV has all.", compareRowsMax, len(c.Rows)))
			break
		}
		row := c.Rows[i]
		if oneVersion {
			row.Version = "" // the heading says it
		}
		p.Rows = append(p.Rows, setRowView(&row, p.Where))
	}
	p.Axis = wideScale.axis()
	for _, x := range c.OneSided {
		p.OneSided = append(p.OneSided, view.OnlyRow{
			Step: bench.ShortStep(x.Step), Where: whereText(x.Coordinate, map[bool]string{false: x.Version}[oneVersion], p.Where), Side: x.Side, Metric: x.Metric.Title,
			Value: compare.FormatFigure(x.Metric, x.Point.Value), N: strconv.Itoa(x.Point.N),
		})
	}
	for i := range c.Differs {
		d := &c.Differs[i]
		row := view.DifferRow{Kind: string(d.Kind), Name: d.Name, Strong: d.Disjoint(), Change: string(d.Change)}
		for _, values := range d.Values {
			row.Values = append(row.Values, compare.FactsText(values))
		}
		p.Differs = append(p.Differs, row)
	}
	return p
}

// setPlaceParts are the parts of a row's place that pages name where rows differ in
// them.
var setPlaceParts = []struct {
	name string
	of   func(bench.Coordinate) string
}{
	{"system", func(c bench.Coordinate) string { return c.System }}, {"suite", func(c bench.Coordinate) string { return c.Suite }}, {"server", func(c bench.Coordinate) string { return c.Server }},
	{"workload", func(c bench.Coordinate) string { return c.Workload }}, {"compiler", func(c bench.Coordinate) string { return c.Compiler }},
	{"config", func(c bench.Coordinate) string { return c.Config }}, {"clients", func(c bench.Coordinate) string {
		if c.Clients == 0 {
			return ""
		}
		return plural(c.Clients, "client", "clients")
	}},
}

// partsApart names the parts in which rows differ.
func partsApart(c *compare.SetComparison) []string {
	var out []string
	for _, part := range setPlaceParts {
		if differ(c, func(at bench.Coordinate, _ string) string { return part.of(at) }) {
			out = append(out, part.name)
		}
	}
	return out
}

// differ reports whether rows, those of one side among them, have several values.
func differ(c *compare.SetComparison, of func(bench.Coordinate, string) string) bool {
	seen := map[string]bool{}
	for i := range c.Rows {
		seen[of(c.Rows[i].Coordinate, c.Rows[i].Version)] = true
	}
	for i := range c.OneSided {
		seen[of(c.OneSided[i].Coordinate, c.OneSided[i].Version)] = true
	}
	return len(seen) > 1
}

// whereText names a place by the parts in which rows differ.
func whereText(c bench.Coordinate, version string, parts []string) string {
	var out []string
	if version != "" {
		out = append(out, version)
	}
	for _, part := range setPlaceParts {
		if v := part.of(c); v != "" && slices.Contains(parts, part.name) {
			if part.name == "compiler" {
				v = compilerName(v)
			}
			out = append(out, v)
		}
	}
	return strings.Join(out, ", ")
}

func setRowView(r *compare.SetRow, parts []string) view.SetRow {
	row := view.SetRow{
		Step: bench.ShortStep(r.Step), Title: r.Step, Where: whereText(r.Coordinate, r.Version, parts), Metric: r.Metric.Title, Arrow: arrow(r.Metric.Direction),
		Ratio: strings.TrimSpace(glyph(r.Verdict) + " " + r.Ratio()), Class: verdictClass(r.Verdict), Interval: intervalText(*r.B), Score: compare.Missing,
		N:     fmt.Sprintf("%d, %d", r.A.N, r.B.N),
		Strip: stripPlot(r),
		Href: chartsQuery{System: r.System, Suite: r.Suite, Servers: orNone(r.Server), Workloads: orNone(r.Workload), Steps: []string{r.Step}, Compilers: orNone(r.Compiler),
			Configs: orNone(r.Config), Metric: r.Metric.Name}.String(),
	}
	var unit string
	row.A, unit = compare.FormatIn(r.Metric, r.A.Value)
	row.B, _ = compare.FormatIn(r.Metric, r.B.Value)
	if unit = strings.TrimSpace(unit); unit != "" && unit != "/s" && unit != r.Metric.Title {
		row.Metric += ", " + unit
	}
	if r.Verdict != compare.NoVerdict {
		row.Score = strconv.FormatFloat(r.Score, 'f', 1, 64)
	}
	if r.B.Low == nil && !r.Flagged() {
		row.Interval = "noise unknown"
	}
	if r.Flagged() {
		row.Ratio, row.Class, row.Note = "× "+r.Ratio(), "fl", "not comparable: a run carries a warning"
	}
	return row
}

// compareBar is the toolbar of the page.
func compareBar(in compareInput, a, b string) view.Bar {
	q := in.Given
	bar := view.Bar{
		Fields: []view.Field{{Label: "A, divided by", Value: a, Base: true}, {Label: "B", Value: b}},
		Copy:   q.String(),
		Export: []view.Link{
			{Text: "CSV", Href: q.at("/compare", "csv"), Title: "every row with both values"},
			{Text: "Markdown", Href: q.at("/compare", "md"), Title: "a table for an issue or a post"},
			{Text: "JSON", Href: compareQuery{SetsQuery: q.SetsQuery}.at("/api/v1/compare/sets", ""), Title: "the same from the API"},
		},
	}
	with := func(metric string) string {
		x := q
		x.Metric = metric
		return x.String()
	}
	f := view.Field{Label: "Metric", Value: "decides each step", Long: true}
	f.Menu = []view.ChoiceGroup{{Choices: []view.Choice{{Name: "the one that decides each step", Href: with(""), Current: q.Metric == ""}}}}
	var g view.ChoiceGroup
	for _, m := range in.Facets.Metrics {
		if m.Name == q.Metric {
			f.Value = m.Title
		}
		if !strings.HasPrefix(m.Name, "ticker_") && !strings.HasPrefix(m.Name, "perf_") {
			g.Choices = append(g.Choices, view.Choice{Name: m.Title, Title: m.About, Href: with(m.Name), Current: m.Name == q.Metric})
		}
	}
	if q.Metric != "" && f.Value == "decides each step" {
		m, _ := bench.LookupMetric(q.Metric)
		f.Value = m.Title
	}
	f.Menu = append(f.Menu, g)
	bar.Fields = append(bar.Fields, f)
	bar.Versions = view.Segment{Label: "Sets", Links: []view.Link{{Text: "swap A and B", Href: q.swapped().String()}}}
	return bar
}

func nothingInCommon(in compareInput, a, b string) *view.Empty {
	c := &in.C
	e := &view.Empty{Sentence: "The sets have no row in common."}
	switch {
	case len(c.RunsA) == 0 && len(c.RunsB) == 0:
		e.Detail = "Nothing was measured under what either of them names."
	case len(c.RunsA) == 0:
		e.Detail = "Nothing was measured under what A names: " + a + "."
	case len(c.RunsB) == 0:
		e.Detail = "Nothing was measured under what B names: " + b + "."
	default:
		e.Detail = "Both were measured, but no step of A in the places of B. What each has stands below."
	}
	return e
}

// compareExamples are comparisons that make sense of what is stored: the newest
// version of each system against the one before.
func compareExamples(f bench.Facets) []view.Link {
	var out []view.Link
	for _, s := range f.Systems {
		var versions []string
		for _, v := range f.Versions {
			if v.System == s.Name {
				versions = append(versions, v.Name)
			}
		}
		sortVersions(versions)
		if n := len(versions); n > 1 {
			q := compareQuery{SetsQuery: compare.SetsQuery{A: compare.SetQuery{System: s.Name, Versions: versions[n-2 : n-1]}, B: compare.SetQuery{System: s.Name, Versions: versions[n-1:]}}}
			out = append(out, view.Link{Text: fmt.Sprintf("%s: %s against %s", systemName(s.Name), versions[n-1], versions[n-2]), Href: q.String()})
		}
	}
	return out
}

// setForm is the form that chooses the sets. It works without script.
func setForm(in compareInput) view.SetForm {
	f := view.SetForm{Metric: in.Given.Metric}
	f.Steps = in.Given.Steps
	names := func(list []bench.Facet) []string {
		var out []string
		for _, x := range list {
			if x.Name != "" {
				out = append(out, x.Name)
			}
		}
		return out
	}
	var clients, versions []string
	for _, c := range in.Facets.Clients {
		clients = append(clients, strconv.Itoa(c.Clients))
	}
	for _, v := range in.Facets.Versions {
		if v.Name != "" {
			versions = appendNew(versions, v.Name)
		}
	}
	sortVersions(versions)
	offered := map[string][]string{
		"system": names(in.Facets.Systems), "suite": names(in.Facets.Suites), "server": names(in.Facets.Servers), "workload": names(in.Facets.Workloads),
		"compiler": names(in.Facets.Compilers), "config": append(names(in.Facets.Configs), noConfig), "clients": clients,
	}
	labels := map[string]string{"system": "System", "suite": "Suite", "server": "Server", "workload": "Workload", "compiler": "Compiler", "config": "Config", "clients": "Clients",
		"version": "Version", "from": "from version", "to": "to version", "run": "Run"}
	f.Versions = versions
	for i, side := range []*compare.SetQuery{&in.Given.A, &in.Given.B} {
		prefix := []string{"a.", "b."}[i]
		set := view.SetFields{Name: []string{"A", "B"}[i]}
		for _, k := range setKeys {
			x := view.SetField{Name: prefix + k.key, Label: labels[k.key], Values: k.of(side)}
			for _, v := range offered[k.key] {
				x.Offered = append(x.Offered, view.SetOption{Value: v, Text: shownValues(k.key, []string{v}), Chosen: slices.Contains(x.Values, v)})
			}
			// What was asked for stays there to be changed, measured or not.
			for _, v := range x.Values {
				if _, menu := offered[k.key]; menu && !slices.Contains(offered[k.key], v) {
					x.Offered = append(x.Offered, view.SetOption{Value: v, Text: shownValues(k.key, []string{v}), Chosen: true})
				}
			}
			_, x.Menu = offered[k.key]
			if k.key == "version" || k.key == "from" || k.key == "to" {
				x.List = "versions"
			}
			set.Fields = append(set.Fields, x)
		}
		f.Sets = append(f.Sets, set)
	}
	for _, m := range in.Facets.Metrics {
		if !strings.HasPrefix(m.Name, "ticker_") && !strings.HasPrefix(m.Name, "perf_") {
			f.Metrics = append(f.Metrics, view.SetOption{Value: m.Name, Text: m.Title, Chosen: m.Name == in.Given.Metric})
		}
	}
	return f
}

// setRecord are the cells of a row in CSV and Markdown.
func setRecord(r *compare.SetRow) []string {
	number := func(p *float64) string {
		if p == nil {
			return ""
		}
		return strconv.FormatFloat(*p, 'g', -1, 64)
	}
	value := func(p *compare.Point) (string, string) {
		return strconv.FormatFloat(p.Value, 'f', -1, 64), strconv.Itoa(p.N)
	}
	va, na := value(r.A)
	vb, nb := value(r.B)
	ratio := number(r.B.Relative)
	if r.B.Relative == nil {
		ratio = r.Ratio()
	}
	score, verdict := "", string(r.Verdict)
	if r.Verdict != compare.NoVerdict {
		score = strconv.FormatFloat(r.Score, 'f', 2, 64)
	}
	if r.Flagged() {
		verdict = "not comparable"
	}
	return []string{compare.CSVText(r.System), compare.CSVText(r.Suite), compare.CSVText(r.Server), compare.CSVText(r.Workload), compare.CSVText(r.Compiler), compare.CSVText(r.Config), strconv.Itoa(r.Clients), compare.CSVText(r.Step), compare.CSVText(r.Version),
		r.Metric.Name, r.Metric.Unit, string(r.Metric.Direction), va, na, vb, nb, ratio, number(r.B.Low), number(r.B.High), verdict, score}
}

// compareCSV writes all rows, those of one side too.
func compareCSV(in compareInput) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// Writing to a buffer does not fail.
	_ = w.Write([]string{"system", "suite", "server", "workload", "compiler", "config", "clients", "step", "version", "metric", "unit", "direction",
		"a", "a_n", "b", "b_n", "ratio", "ratio_low", "ratio_high", "verdict", "effect_over_noise"})
	for i := range in.C.Rows {
		_ = w.Write(setRecord(&in.C.Rows[i]))
	}
	for _, x := range in.C.OneSided {
		r := compare.SetRow{Coordinate: x.Coordinate, Version: x.Version, Metric: x.Metric, A: &compare.Point{}, B: &compare.Point{}}
		rec := setRecord(&r)
		value, n := strconv.FormatFloat(x.Point.Value, 'f', -1, 64), strconv.Itoa(x.Point.N)
		copy(rec[12:], []string{"", "", "", "", "", "", "", "only in " + x.Side, ""})
		at := 12
		if x.Side == "B" {
			at = 14
		}
		rec[at], rec[at+1] = value, n
		_ = w.Write(rec)
	}
	w.Flush()
	return b.Bytes()
}

// compareMarkdown writes the comparison for an issue or a post.
func compareMarkdown(in compareInput, address string) []byte {
	var b bytes.Buffer
	p := newComparePage(in)
	fmt.Fprintf(&b, "# %s\n\n%s\n", markdown(p.Heading), address)
	if len(p.Meta) > 0 {
		var facts []string
		for _, f := range p.Meta {
			facts = append(facts, plain(f.Parts))
		}
		fmt.Fprintf(&b, "\n%s\n", markdown(strings.Join(facts, " · ")))
	}
	if len(p.Lead) > 0 {
		fmt.Fprintf(&b, "\n%s\n", markdown(plain(p.Lead)))
	}
	for _, r := range p.Remarks {
		fmt.Fprintf(&b, "\n%s\n", markdown(r))
	}
	if p.Empty != nil {
		fmt.Fprintf(&b, "\n%s %s\n", markdown(p.Empty.Sentence), markdown(p.Empty.Detail))
	}
	if len(p.Rows) > 0 {
		b.WriteString("\n| step | where | metric | A | B | ratio | 95 % | effect/noise | n |\n|:--|:--|:--|--:|--:|--:|--:|--:|--:|\n")
		for _, r := range p.Rows {
			fmt.Fprintf(&b, "| %s | %s | %s %s | %s | %s | %s | %s | %s | %s |\n", markdown(r.Title), markdown(r.Where), markdown(r.Metric), r.Arrow, r.A, r.B, markdown(r.Ratio), markdown(r.Interval), r.Score, r.N)
		}
	}
	if len(p.OneSided) > 0 {
		b.WriteString("\n## On one side only\n\n| step | where | metric | side | value |\n|:--|:--|:--|:--|--:|\n")
		for _, x := range p.OneSided {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", markdown(x.Step), markdown(x.Where), markdown(x.Metric), x.Side, markdown(x.Value))
		}
	}
	if len(p.Differs) > 0 {
		b.WriteString("\n## What differs\n\n| what | A | B | change |\n|:--|:--|:--|:--|\n")
		for _, d := range p.Differs {
			fmt.Fprintf(&b, "| %s %s | %s | %s | %s |\n", d.Kind, markdown(d.Name), markdown(d.Values[0]), markdown(d.Values[1]), d.Change)
		}
	}
	return b.Bytes()
}

// compareLink leads from charts to a comparison of the newest version shown with the
// base. The script makes of it that of a version that was clicked.
func compareLink(q chartsQuery, c compare.Comparison) view.Link {
	if len(c.Versions) == 0 || c.Base == (compare.Base{}) {
		return view.Link{}
	}
	version := c.Versions[len(c.Versions)-1]
	if c.Base.Version != "" && bench.CompareVersions(version, c.Base.Version) == 0 {
		version = c.Versions[0]
	}
	set := compare.SetQuery{System: q.System, Suite: q.Suite, Servers: q.Servers, Workloads: q.Workloads, Compilers: q.Compilers, Configs: slices.DeleteFunc(slices.Clone(q.Configs), func(c string) bool { return c == "" })}
	base := set
	if c.Base.Compiler != "" {
		base.Compilers = []string{c.Base.Compiler}
	}
	if c.Base.Config != "" {
		base.Configs = []string{c.Base.Config}
	}
	base.Versions, set.Versions = []string{cmp.Or(c.Base.Version, version)}, []string{version}
	to := compareQuery{SetsQuery: compare.SetsQuery{A: base, B: set}}
	if q.Metric != metricDefault {
		to.Metric = q.Metric
	}
	if c.Base.Version != "" && bench.CompareVersions(version, c.Base.Version) == 0 && c.Base.Compiler == "" && c.Base.Config == "" {
		return view.Link{} // one version alone
	}
	a, b := to.names()
	return view.Link{Text: fmt.Sprintf("Compare %s with %s: every step, and what else differs", b, a), Href: to.String()}
}

// runCompare leads from a run to its comparison with others: the run alone is B, A
// is left to choose.
func runCompare(d bench.RunDetail) string {
	b := compare.SetQuery{System: d.System, Suite: d.Suite, Runs: []int64{d.ID}}
	a := compare.SetQuery{System: d.System, Suite: d.Suite, Servers: orNone(d.Server), Workloads: orNone(d.Workload), Compilers: orNone(d.Build.Compiler)}
	return compareQuery{SetsQuery: compare.SetsQuery{A: a, B: b}}.String()
}
