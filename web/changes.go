package web

import (
	"context"
	"fmt"
	"math"
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

// changesPerPage is how many changes a page of the list shows at least; those of
// its last version are shown whole or not at all.
const changesPerPage = 150

// minEffectDefault is the least |ln ratio| of a change that the list shows.
const minEffectDefault = 0.03

// changesQuery is the query of /changes.
type changesQuery struct {
	System, Server, Workload, Step, Compiler, Version string
	Kind, Shape, Status                               string
	MinEffect                                         float64
	Dissolved                                         bool
	Cursor                                            string
	Unknown                                           url.Values
}

func parseChanges(raw string) (changesQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return changesQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := changesQuery{
		System: p.one("system"), Server: p.one("server"), Workload: bench.WorkloadName(p.one("workload")), Step: p.one("step"),
		Compiler: bench.CompilerName(p.one("compiler")), Version: p.one("version"),
		Kind:      p.choice("kind", "", "regression", "improvement"),
		Shape:     p.choice("shape", "", string(bench.ShapeStep), string(bench.ShapeSpike), string(bench.ShapeNewest)),
		Status:    p.choice("status", "", "open", string(bench.TriageNew), string(bench.TriageConfirmed), string(bench.TriageNoise), string(bench.TriageExpected), string(bench.TriageFixed)),
		MinEffect: minEffectDefault, Dissolved: p.choice("dissolved", "0", "1") == "1", Cursor: p.one("cursor"),
	}
	if text := p.one("min_effect"); text != "" {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= 0 && x <= 100) {
			p.fail("min_effect is a number from 0 to 100, the least |ln ratio|, not %q", text)
		}
		q.MinEffect = x
	}
	q.Unknown = p.rest()
	return q, p.err
}

func (q changesQuery) String() string { return q.at("/changes") }

func (q changesQuery) at(path string) string {
	a := address{path: path}
	a.set("system", q.System)
	a.set("server", q.Server)
	a.set("workload", q.Workload)
	a.set("step", q.Step)
	a.set("compiler", q.Compiler)
	a.set("version", q.Version)
	a.set("kind", q.Kind)
	a.set("shape", q.Shape)
	a.set("status", q.Status)
	if q.MinEffect != minEffectDefault {
		a.set("min_effect", strconv.FormatFloat(q.MinEffect, 'g', -1, 64))
	}
	if q.Dissolved {
		a.add("dissolved", "1")
	}
	a.set("cursor", q.Cursor)
	a.keep(q.Unknown)
	return a.String()
}

// with gives a changed copy that starts at the first page.
func (q changesQuery) with(change func(*changesQuery)) string {
	q.Cursor = ""
	change(&q)
	return q.String()
}

// openStates are those of a change that nobody has settled yet.
var openStates = []bench.Triage{bench.TriageNew, bench.TriageConfirmed}

func (q changesQuery) filter() bench.ChangeFilter {
	f := bench.ChangeFilter{
		System: q.System, Servers: orNone(q.Server), Workloads: orNone(q.Workload), Compilers: orNone(q.Compiler), Versions: orNone(q.Version),
		Kind: q.Kind, Shape: bench.Shape(q.Shape), MinEffect: q.MinEffect, Dissolved: q.Dissolved, Limit: changesPerPage, Cursor: q.Cursor,
	}
	if q.Step != "" {
		f.Steps = bench.FamilyMembers(bench.StepFamily(q.Step))
	}
	switch q.Status {
	case "":
	case "open":
		f.Triage = openStates
	default:
		f.Triage = []bench.Triage{bench.Triage(q.Status)}
	}
	return f
}

// apiQuery is the address of the same list in the API.
func (q changesQuery) apiQuery() string {
	step, status := q.Step, q.Status
	q.Step, q.Status, q.Cursor, q.Unknown = "", "", "", nil
	a := address{path: q.at("/api/v1/changes")}
	join := func(key, value string) {
		sep := "?"
		if strings.Contains(a.path, "?") {
			sep = "&"
		}
		a.path += sep + key + "=" + escape(value)
	}
	if step != "" {
		for _, s := range bench.FamilyMembers(bench.StepFamily(step)) {
			join("step", s)
		}
	}
	switch status {
	case "":
	case "open":
		for _, t := range openStates {
			join("status", string(t))
		}
	default:
		join("status", status)
	}
	return strings.Replace(a.path, "dissolved=1", "dissolved=true", 1)
}

func (s *server) changes(r *http.Request) (templ.Component, error) {
	q, err := parseChanges(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	filter := q.filter()
	tested, err := s.shown(r.Context(), &filter)
	if err != nil {
		return nil, err
	}
	page, err := s.wholeVersions(r.Context(), filter)
	if err != nil {
		return nil, err
	}
	known, err := s.know(r.Context(), page.Changes)
	if err != nil {
		return nil, err
	}
	facets, err := s.Source.Facets(r.Context(), bench.SeriesFilter{System: q.System})
	if err != nil {
		return nil, err
	}
	p := newChangesPage(q, page, known, facets, tested, compare.ExpectedFalse(tested, filter.MaxP))
	p.Page = s.frame(r, p.Heading, "/changes")
	var facts []string
	for _, f := range p.Meta {
		facts = append(facts, plain(f.Parts))
	}
	s.describe(r, &p.Page, strings.Join(facts, ", "))
	s.bar(r, &p.Bar)
	return view.Changes(p), nil
}

// shown bounds a list of stored changes to as many as keep false discovery at its
// rate across all of the system, whatever the other filters leave of them. It
// gives the number of series that were tested. What a person has said something of
// stays.
func (s *server) shown(ctx context.Context, f *bench.ChangeFilter) (tested int, err error) {
	p, tested, err := s.Source.ChangeTable(ctx, f.System)
	if err != nil {
		return 0, err
	}
	f.MaxP = compare.ListCut(p, tested)
	return tested, nil
}

// wholeVersions reads a page of changes that ends between two versions, so that
// what has one cause is not cut in two; a version with more than fits is.
func (s *server) wholeVersions(ctx context.Context, f bench.ChangeFilter) (bench.ChangePage, error) {
	page, err := s.Source.Changes(ctx, f)
	if err != nil || page.Next == "" {
		return page, err
	}
	last := page.Changes[len(page.Changes)-1].To
	keep := slices.IndexFunc(page.Changes, func(c bench.Change) bool { return bench.CompareVersions(c.To, last) == 0 })
	if keep == 0 {
		return page, nil
	}
	f.Limit = keep
	return s.Source.Changes(ctx, f)
}

// newChangesPage builds the list of changes.
func newChangesPage(q changesQuery, page bench.ChangePage, known knowledge, facets bench.Facets, tested int, expected float64) view.ChangesPage {
	p := view.ChangesPage{Heading: "Changes", Bar: changesBar(q, facets)}
	causes := compare.Causes(known.judgeAll(page.Changes))
	several := q.System == "" && len(facets.Systems) > 1
	regressions := 0
	for _, c := range page.Changes {
		if c.Kind(c.Metric.Direction) == "regression" {
			regressions++
		}
	}
	for i, c := range causes {
		title := c.Version
		if several {
			title = systemName(c.System) + " " + title
		}
		if n := len(p.Versions); n == 0 || p.Versions[n-1].Title != title {
			p.Versions = append(p.Versions, view.ChangeVersion{Title: title, Href: versionHref(c.System, c.Version)})
		}
		v := &p.Versions[len(p.Versions)-1]
		v.Causes = append(v.Causes, causeItem(c, fmt.Sprintf("c%d", i)))
	}
	p.Meta = []view.Fact{
		fact(plural(len(page.Changes), "change", "changes") + word(page.Next != "" || q.Cursor != "", " on this page", "")),
		fact(plural(regressions, "regression", "regressions")), fact("newest version first"),
		fact(fmt.Sprintf("of %s tested; false discovery held at %g\u2009%%: %s false ones are expected in the whole list", plural(tested, "series", "series"),
			100*compare.FalseDiscoveryRate, expectedText(expected))),
	}
	if page.Next != "" {
		p.Older = q.with(func(q *changesQuery) { q.Cursor = page.Next })
	}
	if q.Cursor != "" {
		p.First = q.with(func(*changesQuery) {})
	}
	if len(page.Changes) == 0 {
		p.Empty = noChanges(q)
	} else {
		p.Remarks = append(p.Remarks, "What other series say is listed as evidence, never turned into a verdict: a new campaign means that the measuring paused, common mode that most steps of the same runs moved alike.")
	}
	return p
}

func noChanges(q changesQuery) *view.Empty {
	e := &view.Empty{
		Sentence: "No change matches.",
		Detail:   "Expected were steps, spikes or a newest version that moved beyond noise, with all that the menus above say. Changes are looked for on every upload.",
	}
	if all := (changesQuery{MinEffect: minEffectDefault}).String(); all != q.String() {
		e.Links = append(e.Links, view.Link{Text: "All changes", Href: all})
	}
	if q.MinEffect > 0 {
		e.Links = append(e.Links, view.Link{Text: "Smaller ones too", Href: q.with(func(q *changesQuery) { q.MinEffect = 0 })})
	}
	e.Links = append(e.Links, view.Link{Text: "Charts", Href: "/charts"})
	return e
}

// causeItem shows a cause with its changes: overwriteandwait, 3 workloads, 3
// servers.
func causeItem(c compare.Cause, anchor string) view.CauseItem {
	item := view.CauseItem{Anchor: anchor}
	servers := c.Values(func(x bench.Coordinate) string { return x.Server })
	workloads := c.Values(func(x bench.Coordinate) string { return x.Workload })
	builds := c.Values(func(x bench.Coordinate) string { return compilerName(x.Compiler) })
	count := func(list []string, one, many string) string {
		if len(list) == 1 {
			return list[0]
		}
		return plural(len(list), one, many)
	}
	if steps := c.Steps(); c.Common && len(steps) > 1 {
		item.Title = plural(len(steps), "step", "steps")
		item.Where = strings.Join([]string{servers[0], strings.Join(workloads, ", "), strings.Join(builds, ", ")}, ", ")
	} else {
		item.Title = strings.Join(familyTitle(c.Steps()), " → ")
		item.Where = strings.Join(slices.DeleteFunc([]string{count(workloads, "workload", "workloads"), count(servers, "server", "servers"), count(builds, "build", "builds")},
			func(s string) bool { return strings.HasPrefix(s, "0 ") }), ", ")
	}
	// A change alone is its own heading.
	item.Alone = len(c.Changes) == 1
	// What all changes of a cause share stands in its heading, the rest in their rows.
	shared := map[compare.DoubtKind]string{}
	for _, d := range c.Doubts() {
		if !slices.ContainsFunc(c.Changes, func(x compare.Judged) bool {
			return !slices.ContainsFunc(x.Doubts, func(k compare.Doubt) bool { return k.Kind == d.Kind && k.Text == d.Text })
		}) {
			item.Tags = append(item.Tags, view.DoubtTag{Text: d.Text, Title: d.Evidence})
			if !item.Alone {
				shared[d.Kind] = d.Text
			}
		}
	}
	// So does what builds by other compilers say.
	label := compilerTags(c.Changes[0])
	for _, x := range c.Changes[1:] {
		if t := compilerTags(x); len(t) != len(label) || len(t) > 0 && t[0].Text != label[0].Text {
			label = nil
		}
	}
	if item.Alone {
		label = nil
	}
	item.Tags = append(item.Tags, label...)
	for _, x := range c.Changes {
		row := changeRow(x)
		row.Tags = doubtTags(slices.DeleteFunc(slices.Clone(x.Doubts), func(d compare.Doubt) bool { return shared[d.Kind] == d.Text }))
		if len(label) == 0 {
			row.Tags = append(row.Tags, compilerTags(x)...)
		}
		switch {
		case item.Alone:
			row.Name, row.Where = x.Step, placeText(x.Coordinate)
		case c.Common:
			row.Name = x.Step
		case len(c.Steps()) > 1:
			row.Where = x.Step
		}
		item.Rows = append(item.Rows, row)
	}
	return item
}

// familyTitle gives the steps of one family, oldest first.
func familyTitle(steps []string) []string {
	order := bench.FamilyMembers(bench.StepFamily(steps[0]))
	slices.SortFunc(steps, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return steps
}

// changeRow shows a change in a list.
func changeRow(x compare.Judged) view.ChangeRow {
	low, high := math.Exp(x.Low), math.Exp(x.High)
	v := changeVerdict(x.Change)
	row := view.ChangeRow{
		Href: changeHref(x.ID), Name: placeText(x.Coordinate), Span: changeSpan(x.FoundChange), Shape: shapeText(x.FoundChange),
		Ratio: changeRatio(x.Change), Class: verdictClass(v), Interval: changeInterval(x.Change),
		Plot: narrowScale.plot(math.Exp(x.Effect), &low, &high, v), P: "p " + pText(x.PHere),
		Tags: append(doubtTags(x.Doubts), compilerTags(x)...), State: triageText(x.Change), StateClass: string(x.Triage), Owner: x.Owner, Issue: issueLink(x.IssueURL),
	}
	if len(x.Evidence.Seen) > 0 {
		row.Also = "also on " + compare.Places(x.Coordinate, x.Evidence.Seen, slices.Concat(x.Evidence.NotSeen, x.Evidence.CannotTell), 3)
	}
	if x.Dissolved != nil {
		row.Dissolved = "dissolved " + x.Dissolved.UTC().Format("2006-01-02")
	}
	return row
}

// compilerTags says of a change whether it is the code, the compiler or noise, where
// builds by other compilers were measured.
func compilerTags(x compare.Judged) []view.DoubtTag {
	by := compare.SeenBy(x.Change, x.Evidence)
	if by.Verdict == compare.CompilersNone {
		return nil
	}
	return []view.DoubtTag{{Text: by.Text(), Title: by.Evidence()}}
}

// placeText names where a change is: c2, iodir, gcc.
func placeText(c bench.Coordinate) string {
	parts := []string{c.Server, c.Workload}
	if c.Compiler != "" {
		parts = append(parts, compilerName(c.Compiler))
	}
	parts = append(parts, c.Config)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func changesBar(q changesQuery, facets bench.Facets) view.Bar {
	field := func(label, chosen string, values []string, name func(string) string, set func(*changesQuery, string)) view.Field {
		f := view.Field{Label: label, Value: "all"}
		if chosen != "" {
			f.Value = name(chosen)
		}
		g := view.ChoiceGroup{Choices: []view.Choice{{Name: "all", Href: q.with(func(q *changesQuery) { set(q, "") }), Current: chosen == ""}}}
		for _, v := range values {
			g.Choices = append(g.Choices, view.Choice{Name: name(v), Href: q.with(func(q *changesQuery) { set(q, v) }), Current: v == chosen})
		}
		f.Menu = []view.ChoiceGroup{g}
		return f
	}
	names := func(list []bench.Facet) []string {
		var out []string
		for _, x := range list {
			if x.Name != "" {
				out = append(out, x.Name)
			}
		}
		return out
	}
	var steps []string
	for _, x := range facets.Steps {
		if bench.StepRole(bench.SuiteDBBench, x.Name) != bench.RolePrepare {
			steps = appendNew(steps, bench.StepFamily(x.Name))
		}
	}
	kinds := func(s string) string { return s + "s" }
	states := func(s string) string {
		if s == "open" {
			return "open: new or confirmed"
		}
		return s
	}
	b := view.Bar{Copy: q.String()}
	b.Fields = append(b.Fields,
		field("System", q.System, names(facets.Systems), systemName, func(q *changesQuery, v string) { q.System, q.Version = v, "" }),
		field("Server", q.Server, names(facets.Servers), asIs, func(q *changesQuery, v string) { q.Server = v }),
		field("Workload", q.Workload, names(facets.Workloads), asIs, func(q *changesQuery, v string) { q.Workload = v }),
		field("Step", q.Step, steps, asIs, func(q *changesQuery, v string) { q.Step = v }),
		field("Kind", q.Kind, []string{"regression", "improvement"}, kinds, func(q *changesQuery, v string) { q.Kind = v }),
		field("State", q.Status, []string{"open", string(bench.TriageNew), string(bench.TriageConfirmed), string(bench.TriageNoise), string(bench.TriageExpected), string(bench.TriageFixed)}, states,
			func(q *changesQuery, v string) { q.Status = v }),
		field("Shape", q.Shape, []string{string(bench.ShapeStep), string(bench.ShapeSpike), string(bench.ShapeNewest)}, asIs, func(q *changesQuery, v string) { q.Shape = v }),
	)
	if q.Version != "" {
		b.Fields = append(b.Fields, field("Version", q.Version, []string{q.Version}, asIs, func(q *changesQuery, v string) { q.Version = v }))
	}
	effects := view.Segment{Label: "Least effect"}
	found := false
	for _, x := range []float64{0, minEffectDefault, 0.05, 0.1, 0.2} {
		text := fmt.Sprintf("%.0f\u2009%%", 100*x)
		if x == 0 {
			text = "all"
		}
		found = found || q.MinEffect == x
		effects.Links = append(effects.Links, view.Link{Text: text, Href: q.with(func(q *changesQuery) { q.MinEffect = x }), Current: q.MinEffect == x})
	}
	if !found {
		effects.Links = append(effects.Links, view.Link{Text: fmt.Sprintf("%g", q.MinEffect), Href: q.String(), Current: true})
	}
	b.Versions = effects
	b.Export = []view.Link{
		{Text: "JSON", Href: q.apiQuery(), Title: "the same list from the API"},
		{Text: word(q.Dissolved, "Without dissolved ones", "With dissolved ones"), Href: q.with(func(q *changesQuery) { q.Dissolved = !q.Dissolved }), Title: "changes that detection no longer finds"},
	}
	return b
}

// versionHref is the page of a version.
func versionHref(system, version string) string {
	return "/versions/" + url.PathEscape(system) + "/" + url.PathEscape(version)
}
