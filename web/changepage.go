package web

import (
	"cmp"
	"html"

	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// changeInput is what the page of a change is built from.
type changeInput struct {
	Change  bench.ChangeDetail
	Series  []bench.Series // of all metrics of its coordinate
	Elder   []bench.Series // of its metric, the other members of its step's family
	Known   knowledge
	Places  []bench.CoordinateInfo // where else its step was measured
	Line    []bench.Change         // all changes of its series
	Notes   []bench.Note           // of the system
	Before  *bench.RunDetail       // the last run before it, nil where it is not known
	After   *bench.RunDetail
	Around  string // what of the axis is shown
	Origin  string
	Reader  reader
	Setting compare.Sensitivity
}

// The ranges of a change's chart.
const (
	aroundMajors = ""     // the majors of the change
	aroundNear   = "near" // a few versions on both sides
	aroundAll    = "all"
)

func (s *server) change(r *http.Request) (templ.Component, error) {
	in, err := s.readChange(r)
	if err != nil {
		return nil, err
	}
	p, err := newChangePage(in)
	if err != nil {
		return nil, err
	}
	p.Page = s.frame(r, p.Title, "/changes")
	s.bar(r, &p.Bar)
	p.View = freezeView(r, p.View)
	c := in.Change
	s.preview(r, &p.Page, chartsQuery{
		System: c.System, Suite: c.Suite, Servers: orNone(c.Server), Workloads: orNone(c.Workload), Clients: clientsList(c.Clients), Steps: []string{c.Step},
		Metric: c.Metric.Name, Compilers: orNone(c.Compiler), Configs: []string{c.Config}, Base: compare.Base{Version: c.From}, Sensitivity: compare.Usual,
	}, plain(p.Lead))
	return view.Change(p), nil
}

func clientsList(n int) []int {
	if n == 0 {
		return nil
	}
	return []int{n}
}

// changeID reads the number of a change from the path.
func changeID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil || id < 1 {
		return 0, bench.Errorf(bench.KindNotFound, "%q is no number of a change; changes are numbered from 1.", chi.URLParam(r, "id"))
	}
	return id, nil
}

func (s *server) readChange(r *http.Request) (changeInput, error) {
	ctx := r.Context()
	in := changeInput{Origin: s.origin(r), Reader: readerOf(ctx)}
	id, err := changeID(r)
	if err != nil {
		return in, err
	}
	v, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return in, err
	}
	p := params{v, map[string]bool{}, nil}
	in.Around = p.choice("around", aroundMajors, aroundNear, aroundAll)
	if p.err != nil {
		return in, p.err
	}
	if in.Change, err = s.Source.Change(ctx, id); err != nil {
		return in, err
	}
	c := in.Change.Change
	if in.Series, err = s.Source.SeriesOf(ctx, c.Coordinate); err != nil {
		return in, err
	}
	for _, member := range bench.FamilyMembers(bench.StepFamily(c.Step)) {
		if member == c.Step {
			continue
		}
		series, err := s.Source.Series(ctx, bench.SeriesFilter{
			System: c.System, Suite: c.Suite, Servers: []string{c.Server}, Workloads: []string{c.Workload}, Steps: []string{member},
			Compilers: []string{c.Compiler}, Configs: []string{c.Config}, Clients: []int{c.Clients}, Metric: c.Metric.Name,
		})
		if err != nil {
			return in, err
		}
		in.Elder = append(in.Elder, series...)
	}
	if in.Known, err = s.know(ctx, []bench.Change{c}); err != nil {
		return in, err
	}
	if in.Places, err = s.Source.Coordinates(ctx, bench.SeriesFilter{System: c.System, Suite: c.Suite, Steps: bench.FamilyMembers(bench.StepFamily(c.Step)), Metric: c.Metric.Name}); err != nil {
		return in, err
	}
	page, err := s.Source.Changes(ctx, bench.ChangeFilter{
		System: c.System, Servers: []string{c.Server}, Workloads: []string{c.Workload}, Steps: bench.FamilyMembers(bench.StepFamily(c.Step)),
		Compilers: []string{c.Compiler}, Configs: []string{c.Config}, Limit: changesMax,
	})
	if err != nil {
		return in, err
	}
	in.Line = slices.DeleteFunc(page.Changes, func(x bench.Change) bool {
		return x.Suite != c.Suite || x.Clients != c.Clients || x.Metric.Name != c.Metric.Name
	})
	if in.Notes, err = s.Source.Notes(ctx, bench.NoteFilter{System: c.System}); err != nil {
		return in, err
	}
	for _, x := range []struct {
		version string
		last    bool
		into    **bench.RunDetail
	}{{c.From, true, &in.Before}, {c.To, false, &in.After}} {
		if id := runAt(in.Series, c, x.version, x.last); id != 0 {
			d, err := s.Source.Run(ctx, id)
			if err != nil {
				return in, err
			}
			*x.into = &d
		}
	}
	return in, nil
}

// runAt gives the first or last run at a version of the series that changed, 0
// where there is none.
func runAt(series []bench.Series, c bench.Change, version string, last bool) int64 {
	for _, s := range series {
		if s.Metric.Name != c.Metric.Name {
			continue
		}
		for _, p := range s.Points {
			if bench.CompareVersions(p.Version, version) != 0 || len(p.Samples) == 0 {
				continue
			}
			if last {
				return p.Samples[len(p.Samples)-1].RunID
			}
			return p.Samples[0].RunID
		}
	}
	return 0
}

// charts gives the query of the large chart that the change is on.
func (in changeInput) charts() chartsQuery {
	c := in.Change
	return chartsQuery{
		System: c.System, Suite: c.Suite, Servers: orNone(c.Server), Workloads: orNone(c.Workload), Clients: clientsList(c.Clients),
		Steps: []string{bench.StepFamily(c.Step)}, Metric: c.Metric.Name, Compilers: orNone(c.Compiler), Configs: []string{c.Config},
		Base: compare.Base{Version: c.From}, Sensitivity: compare.Usual,
	}
}

// around gives what the chart of the change shows, the versions of its line, and
// the position of the change among them, −1 where every run of it was withdrawn.
func (in changeInput) around() (ci chartsInput, all []string, at int) {
	c := in.Change.Change
	own := slices.DeleteFunc(slices.Clone(in.Series), func(s bench.Series) bool { return s.Metric.Name != c.Metric.Name })
	ci = chartsInput{Series: append(own, in.Elder...), Changes: in.Line, Known: in.Known, Notes: in.Notes, Origin: in.Origin, Reader: in.Reader}
	all = versionsOf(ci.Series)
	at = slices.IndexFunc(all, func(v string) bool { return bench.CompareVersions(v, c.To) == 0 })
	q := in.charts()
	if at >= 0 {
		q.From, q.To = aroundOf(all, at, in.Around)
		q.Fit, ci.Found = true, true
	}
	ci.Resolved, ci.Given = q, q
	return ci, all, at
}

// newChangePage builds the page of a change. Its Page is left to the caller, but
// for the title.
func newChangePage(in changeInput) (view.ChangePage, error) {
	c := in.Change.Change
	judged := in.Known.judge(c)
	p := view.ChangePage{Crumb: strconv.FormatInt(c.ID, 10), Heading: changeHeading(c)}
	p.Title = p.Heading
	p.Next = lineNeighbours(in)
	p.Meta = changeMeta(in)
	if c.Dissolved != nil {
		p.Dissolved = fmt.Sprintf("Dissolved on %s: with what was measured since, detection no longer finds this change. The figures below are those of the last detection that did.",
			c.Dissolved.UTC().Format("2006-01-02"))
	}
	p.Lead = changeLead(in)
	if err := changeChart(in, &p); err != nil {
		return p, err
	}

	var lines []compare.Line
	for _, x := range append(slices.Clone(in.Series), compare.PerOperation(in.Series)...) {
		// One metric at a time: series of a comparison share theirs.
		lines = append(lines, compare.Compare([]bench.Series{x}, compare.Options{}).Lines...)
	}
	moves := compare.MetricMoves(c, lines)
	doubts := slices.Clone(judged.Doubts)
	if d, ok := compare.WorkDiffers(c, moves); ok {
		doubts = append(doubts, d)
	}
	p.Doubts = doubtTags(doubts)
	p.Triage = triagePart(in)
	p.Facts = changeFacts(in, judged)
	for _, form := range citeForms {
		p.Cites = append(p.Cites, view.Cite{Name: form.name, ID: "cite-" + strings.ToLower(form.name), Text: changeCite(in, judged, form)})
	}
	p.Moves = moveTable(in, moves)
	p.Else = elseTable(in, judged)
	p.Thread = thread(in.Change.Events)
	p.Differs = runDifferences(in)
	p.Commands, p.NoCommand = commands(in)
	return p, nil
}

// changeHeading says what happened: fillseq fell to 0.64 at 6.14 on c2, iodir.
func changeHeading(c bench.Change) string {
	verb := "rose"
	if c.Effect < 0 {
		verb = "fell"
	}
	low, high := math.Exp(c.Low), math.Exp(c.High)
	at := minor(c.To)
	if from := minor(c.From); from == at {
		at = c.To
	}
	return fmt.Sprintf("%s %s to %s at %s on %s", c.Step, verb, compare.FormatRatio(math.Exp(c.Effect), &low, &high), at,
		strings.Join(slices.DeleteFunc([]string{c.Server, c.Workload}, func(s string) bool { return s == "" }), ", "))
}

func changeMeta(in changeInput) []view.Fact {
	c := in.Change.Change
	shape := map[bench.Shape]string{bench.ShapeStep: "lasting step", bench.ShapeSpike: "spike", bench.ShapeNewest: "newest version, nothing after it yet"}[c.Shape]
	first, last := "first changed version ", "last before it "
	switch c.Kind(c.Metric.Direction) {
	case "regression":
		first, last = "first bad version ", "last good "
	case "improvement":
		first, last = "first better version ", "last before it "
	}
	facts := []view.Fact{
		fact(c.Kind(c.Metric.Direction) + ", " + shape),
		{Parts: []view.Part{{Text: first}, {Text: c.To, Href: versionHref(c.System, c.To)}, {Text: ", " + last}, {Text: c.From, Href: versionHref(c.System, c.From)}}},
	}
	build := []string{compilerName(c.Compiler)}
	if c.Config != "" {
		build = append(build, c.Config)
	}
	if c.Clients > 0 {
		build = append(build, plural(c.Clients, "client", "clients"))
	}
	return append(facts, fact(strings.Join(build, ", ")), fact(directionText(c.Metric)))
}

// changeLead says in a sentence or two what the change is and what became of it.
func changeLead(in changeInput) []view.Part {
	c := in.Change.Change
	var parts []view.Part
	say := func(format string, args ...any) { parts = append(parts, view.Part{Text: fmt.Sprintf(format, args...)}) }
	switch c.Shape {
	case bench.ShapeSpike:
		say("At %s, %s runs at ", c.To, c.Step)
	case bench.ShapeNewest:
		say("At %s, the newest version, %s runs at ", c.To, c.Step)
	default:
		say("From %s on, %s runs at ", c.To, c.Step)
	}
	parts = append(parts, view.Part{Text: changeRatio(c), Strong: true, Class: verdictClass(changeVerdict(c))})
	say(" of the level before (%s, 95\u2009%%). ", changeInterval(c))
	from, to := valueAt(in, c.From), valueAt(in, c.To)
	if from != nil && to != nil {
		say("The two versions themselves: %s → %s%s, %.3f. ", compare.FormatFull(*from), compare.FormatFull(*to), unitSuffix(c.Metric.Unit), math.Exp(c.Neighbours))
	}
	switch {
	case c.Shape == bench.ShapeSpike && c.Back != "":
		say("%s is back.", c.Back)
	case c.Shape == bench.ShapeStep:
		parts = append(parts, after(in)...)
	}
	return parts
}

func ref[T any](v T) *T { return &v }

// after says how long a lasting change stayed, and what took it back.
func after(in changeInput) []view.Part {
	c := in.Change.Change
	stayed := 0
	for _, s := range in.Series {
		if s.Metric.Name == c.Metric.Name {
			for _, p := range s.Points {
				if bench.CompareVersions(p.Version, c.After.First) >= 0 && bench.CompareVersions(p.Version, c.After.Last) <= 0 {
					stayed++
				}
			}
		}
	}
	var parts []view.Part
	say := func(text string) { parts = append(parts, view.Part{Text: text}) }
	var later []bench.Change
	for _, x := range in.Line {
		if x.Shape == bench.ShapeStep && bench.CompareVersions(x.To, c.To) > 0 && x.Effect*c.Effect < 0 {
			later = append(later, x)
		}
	}
	slices.SortStableFunc(later, func(a, b bench.Change) int { return bench.CompareVersions(a.To, b.To) })
	say(fmt.Sprintf("The new level stayed for %s", plural(max(stayed, 1), "version", "versions")))
	back := 0.0
	for i, x := range later[:min(3, len(later))] {
		back += x.Effect
		whole := -back/c.Effect >= takenBack
		switch {
		case i == 0:
			say("; ")
		case whole:
			say(" and ")
		default:
			say(", ")
		}
		parts = append(parts, view.Part{Text: x.To, Href: changeHref(x.ID)})
		amount := strings.TrimLeft(percentText(math.Exp(x.Effect)), "+\u2212")
		switch {
		case whole && i == 0:
			say(" took it back")
		case whole:
			say(" the rest")
		case i == 0:
			say(" took back " + amount)
		default:
			say(" another " + amount)
		}
		if whole {
			break
		}
	}
	say(".")
	return parts
}

// takenBack is the share of an effect from which on it counts as taken back.
const takenBack = 0.9

// valueAt gives the median at a version of the series that changed, nil where it
// was not measured.
func valueAt(in changeInput, version string) *float64 {
	c := in.Change.Change
	for _, s := range in.Series {
		if s.Metric.Name != c.Metric.Name {
			continue
		}
		l := compare.Compare([]bench.Series{s}, compare.Options{}).Lines
		if p := l[0].At(version); p != nil {
			return &p.Value
		}
	}
	return nil
}

// lineNeighbours are the changes before and after on the same line.
func lineNeighbours(in changeInput) []view.Link {
	c := in.Change.Change
	var links []view.Link
	var before, next *bench.Change
	for i := range in.Line {
		x := &in.Line[i]
		switch d := bench.CompareVersions(x.To, c.To); {
		case x.ID == c.ID || d == 0:
		case d < 0 && (before == nil || bench.CompareVersions(x.To, before.To) > 0):
			before = x
		case d > 0 && (next == nil || bench.CompareVersions(x.To, next.To) < 0):
			next = x
		}
	}
	if before != nil {
		links = append(links, view.Link{Text: "← " + before.To, Href: changeHref(before.ID), Title: "k"})
	}
	if next != nil {
		links = append(links, view.Link{Text: next.To + " →", Href: changeHref(next.ID), Title: "j"})
	}
	return links
}

// nearVersions is how many versions on either side the nearest view shows.
const nearVersions = 6

// changeChart adds the chart around the change with its toolbar.
func changeChart(in changeInput, p *view.ChangePage) error {
	c := in.Change.Change
	q := in.charts()
	ci, all, at := in.around()
	fieldsOf := func() {
		p.Bar.Fields = []view.Field{
			{Label: "System", Value: systemName(c.System)}, {Label: "Server", Value: c.Server}, {Label: "Workload", Value: orDash(c.Workload)},
			{Label: "Build", Value: compilerName(c.Compiler)},
		}
		if c.Config != "" {
			p.Bar.Fields = append(p.Bar.Fields, view.Field{Label: "Config", Value: c.Config})
		}
		p.Bar.Fields = append(p.Bar.Fields, view.Field{Label: "Base", Value: c.From, Base: true}, view.Field{Label: "Metric", Value: c.Metric.Title})
	}
	fieldsOf()
	self := changeHref(c.ID)
	p.Bar.Copy = self
	if in.Around != aroundMajors {
		p.Bar.Copy += "?around=" + in.Around
	}
	p.Bar.Export = []view.Link{
		{Text: "JSON", Href: "/api/v1/changes/" + strconv.FormatInt(c.ID, 10), Title: "this change from the API"},
		{Text: "CSV of the line", Href: q.apiQuery("csv"), Title: "every figure of the line"},
		{Text: "Large chart", Href: q.String(), Title: "the line with all its versions"},
	}
	p.Notes = view.NoteList{Title: "Notes in this view", Add: noteForm{
		System: c.System, Version: c.To, Change: c.ID, Scope: bench.NoteScope{Step: bench.StepFamily(c.Step), Server: c.Server, Workload: c.Workload}, Back: self,
	}.String(), None: "None in this view."}
	if at < 0 {
		return nil // every run of it was withdrawn
	}
	near, _ := bench.Minor(all[max(0, at-nearVersions)])
	nearTo, _ := bench.Minor(all[min(len(all)-1, at+nearVersions)])
	p.Bar.Versions = view.Segment{Label: "Around the change", Links: []view.Link{
		{Text: near + "–" + nearTo, Href: self + "?around=near", Current: in.Around == aroundNear},
		{Text: majorsText(all, at), Href: self, Current: in.Around == aroundMajors},
		{Text: "all", Href: self + "?around=all", Current: in.Around == aroundAll},
	}}
	a, err := answer(ci)
	if err != nil || len(a.figures) == 0 {
		return err
	}
	// The settings of the list decide what is marked, and this change is whatever
	// they say.
	f := a.figures[0]
	a.view.Served, a.view.Levels = true, true
	ch := newChart(ci, a, f, "c0")
	p.Chart, p.View = &ch, a.view
	p.Figures = &ch
	p.One = oneText(f, a.comparison, compare.FormatFull) + ", " + c.From
	p.Key = []view.Sample{{Kind: "level", Text: "level and its 95 % interval"}, {Kind: "hollow", Text: "one run"}, {Kind: "change", Text: "lasting change, down or up"}}
	p.Notes = a.marks.noteList(p.Notes.Add, in.Reader)
	if len(a.marks.notes) > 0 {
		p.Key = append(p.Key, view.Sample{Kind: "ring", Text: "note"})
	}
	return nil
}

// aroundOf gives the range of a view around a version.
func aroundOf(all []string, at int, around string) (from, to string) {
	switch around {
	case aroundAll:
		return "", ""
	case aroundNear:
		return all[max(0, at-nearVersions)], all[min(len(all)-1, at+nearVersions)]
	}
	first, last := majorRange(all, at)
	return all[first], all[last]
}

// majorRange gives the first and last index of the majors around a version: its
// own, and the one before or after where the change is at its edge.
func majorRange(all []string, at int) (first, last int) {
	majors := chart.Majors(all)
	of := func(i int) int {
		k := 0
		for j, m := range majors {
			if i >= m.At {
				k = j
			}
		}
		return k
	}
	from, to := of(max(0, at-3)), of(min(len(all)-1, at+3))
	first, last = majors[from].At, len(all)-1
	if to+1 < len(majors) {
		last = majors[to+1].At - 1
	}
	return first, last
}

func majorsText(all []string, at int) string {
	first, last := majorRange(all, at)
	majors := chart.Majors(all[first : last+1])
	if len(majors) == 1 {
		return majors[0].Name
	}
	return majors[0].Name + "–" + majors[len(majors)-1].Name
}

func triagePart(in changeInput) view.TriagePart {
	c := in.Change.Change
	t := view.TriagePart{
		State: triageText(c), StateClass: string(c.Triage), FixedIn: c.FixedIn, Owner: c.Owner, Issue: issueLink(c.IssueURL),
		Action: changeHref(c.ID), MayWrite: in.Reader.mayWrite(), SignIn: signInHref(changeHref(c.ID)),
	}
	for _, s := range []bench.Triage{bench.TriageNew, bench.TriageConfirmed, bench.TriageNoise, bench.TriageExpected, bench.TriageFixed} {
		t.States = append(t.States, view.TriageState{Name: string(s), Current: s == c.Triage})
	}
	return t
}

func changeFacts(in changeInput, j compare.Judged) []view.FactPair {
	c := in.Change.Change
	var out []view.FactPair
	add := func(term string, parts ...view.Part) { out = append(out, view.FactPair{Term: term, Parts: parts}) }
	found := c.Created.UTC().Format("2006-01-02") + ", p " + pText(c.PHere)
	if n := noiseOf(in); n > 0 {
		found += fmt.Sprintf(", effect %.0f × noise", math.Abs(c.Effect)/n)
	}
	add("Found", textPart(found))
	add("In the series", textPart("p "+pText(c.P)+" for any such change in an unchanged one"))
	add("Runs", textPart(fmt.Sprintf("n = %d before, %d after", c.Before.N, c.After.N)))
	e := j.Evidence
	for _, x := range []struct {
		term         string
		list, others []compare.Sighting
	}{
		{"Seen on", e.Seen, slices.Concat(e.NotSeen, e.CannotTell)},
		{"Not seen on", e.NotSeen, slices.Concat(e.Seen, e.CannotTell)},
		{"Cannot tell", e.CannotTell, slices.Concat(e.Seen, e.NotSeen)},
	} {
		if len(x.list) > 0 {
			add(x.term, textPart(compare.Places(c.Coordinate, x.list, x.others, 6)))
		}
	}
	if by := compare.SeenBy(c, j.Evidence); by.Verdict != compare.CompilersNone {
		q := in.charts()
		q.Builds, q.Compilers, q.Base, q.Steps = true, nil, compare.Base{}, nil
		add("Code or compiler", textPart(by.Text()+" "), view.Part{Text: "see the builds", Href: q.String()})
	} else if !slices.ContainsFunc(e.Elsewhere(), func(s compare.Sighting) bool { return s.Compiler != c.Compiler }) {
		add("Compiler", textPart(fmt.Sprintf("only %s measured here, so code and compiler cannot be told apart", compilerName(c.Compiler))))
	}
	return out
}

// noiseOf is the noise of a run of the series that changed, 0 when unknown.
func noiseOf(in changeInput) float64 {
	for _, s := range in.Series {
		if s.Metric.Name == in.Change.Metric.Name {
			for _, l := range compare.Compare([]bench.Series{s}, compare.Options{}).Lines {
				if l.Noise.OK {
					return l.Noise.SD
				}
			}
		}
	}
	return 0
}

// citeForm is a way to write a change down.
type citeForm struct {
	name           string
	text           func(string) string // plain text
	strong, linked func(string) string // plain text that stands out; an address
}

// citeForms are for an issue, for a page, for a mail.
var citeForms = []citeForm{
	{"Markdown", markdown, func(s string) string { return "**" + markdown(s) + "**" }, func(u string) string { return "\n" + u }},
	{
		"HTML", html.EscapeString, func(s string) string { return "<b>" + html.EscapeString(s) + "</b>" },
		func(u string) string {
			return ` <a href="` + html.EscapeString(u) + `">` + html.EscapeString(u) + "</a>"
		},
	},
	{"Text", func(s string) string { return s }, func(s string) string { return s }, func(u string) string { return "\n" + u }},
}

// changeCite is the change in a few sentences for an issue or a post.
func changeCite(in changeInput, j compare.Judged, form citeForm) string {
	c := in.Change.Change
	var b strings.Builder
	b.WriteString(form.strong(fmt.Sprintf("%s %s at %s %s", c.Step, percentText(math.Exp(c.Effect)), systemName(c.System), c.To)))
	// Figures and punctuation stand in no form for something else.
	fmt.Fprintf(&b, " (%s): level %s of before (95 %% interval %s)", form.text(placeText(c.Coordinate)),
		strings.TrimSpace(strings.TrimLeft(changeRatio(c), glyphBetter+glyphWorse+glyphMoved)), changeInterval(c))
	if from, to := valueAt(in, c.From), valueAt(in, c.To); from != nil && to != nil {
		fmt.Fprintf(&b, "; %s → %s: %s → %s%s (%.3f)", form.text(c.From), form.text(c.To), compare.FormatFull(*from), compare.FormatFull(*to), unitSuffix(c.Metric.Unit),
			math.Exp(c.Neighbours))
	}
	b.WriteString(".")
	if words := doubtWords(j.Doubts); words != "" {
		fmt.Fprintf(&b, " Look twice: %s.", form.text(words))
	}
	if len(j.Evidence.Seen) > 0 {
		fmt.Fprintf(&b, " Also on %s.", form.text(compare.Places(c.Coordinate, j.Evidence.Seen, slices.Concat(j.Evidence.NotSeen, j.Evidence.CannotTell), 6)))
	}
	b.WriteString(form.linked(in.Origin + changeHref(c.ID)))
	return b.String()
}

// movesOpen is how many metrics that did not move are shown without opening the
// rest.
const movesOpen = 14

func moveTable(in changeInput, moves []compare.MetricMove) view.MoveTable {
	c := in.Change.Change
	t := view.MoveTable{
		What: fmt.Sprintf("%s, %s", c.Step, placeText(c.Coordinate)), From: c.From, To: c.To, Count: fmt.Sprintf("n = %d and %d in all", c.Before.N, c.After.N),
	}
	// The version after stands in where the source says nothing at the change itself.
	for _, m := range moves {
		if m.Line.Metric.Name == c.Metric.Name {
			for _, p := range m.Line.Points {
				if bench.CompareVersions(p.Version, c.To) > 0 {
					t.After, t.AfterPresent = p.Version, true
					break
				}
			}
		}
	}
	missing := false
	for i, m := range moves {
		row := moveRow(in, m, t.After)
		missing = missing || m.From == nil || m.To == nil
		decided := m.Verdict == compare.Better || m.Verdict == compare.Worse || m.Verdict == compare.Moved
		if i == 0 || decided || len(t.Rows) < movesOpen && isKnown(m.Line.Metric.Name) {
			t.Rows = append(t.Rows, row)
		} else {
			t.More = append(t.More, row)
		}
	}
	if len(t.More) > 0 {
		t.MoreSummary = plural(len(t.More), "more metric", "more metrics")
	}
	for _, version := range []string{c.From, c.To, t.After} {
		if version == "" {
			continue
		}
		var links []view.Link
		for _, m := range moves {
			if m.Line.Metric.Name != c.Metric.Name {
				continue
			}
			if p := m.Line.At(version); p != nil {
				for _, id := range p.Runs {
					links = append(links, view.Link{Text: "#" + strconv.FormatInt(id, 10), Href: runHref(id)})
				}
			}
		}
		t.Runs = append(t.Runs, links)
	}
	t.Remarks = append(t.Remarks, "Those that moved furthest beyond their noise stand first. The change is that of the mean of up to three versions on either side; ≈ cannot be told from none.")
	if missing {
		t.Remarks = append(t.Remarks, "Not reported: the source has no figure there. It is not 0.")
	}
	return t
}

// isKnown reports whether a metric is one of the named ones and no counter.
func isKnown(name string) bool {
	return !strings.HasPrefix(name, "ticker_") && !strings.HasPrefix(name, "perf_")
}

func moveRow(in changeInput, m compare.MetricMove, after string) view.MoveRow {
	metric := m.Line.Metric
	row := view.MoveRow{Title: metric.Title, From: pointText(m.From), To: pointText(m.To), After: compare.Missing}
	unit := []string{metric.Unit}
	if metric.Unit == "ratio" || metric.Unit == "count" {
		unit = nil
	}
	switch metric.Direction {
	case bench.HigherBetter:
		unit = append(unit, "higher is better")
	case bench.LowerBetter:
		unit = append(unit, "lower is better")
	}
	row.Unit = strings.Join(unit, ", ")
	// Derived figures are not stored and have no chart.
	if slices.ContainsFunc(in.Series, func(s bench.Series) bool { return s.Metric.Name == metric.Name }) {
		q := in.charts()
		q.Metric = metric.Name
		row.Href = q.String()
	}
	if after != "" {
		row.After = pointText(m.Line.At(after))
	}
	if !m.OK {
		row.Change, row.Class = compare.Missing, "eq"
		return row
	}
	amount := percentText(m.Ratio)
	switch m.Verdict {
	case compare.Worse:
		row.Change, row.Class = "worse "+amount, "dn"
	case compare.Better:
		row.Change, row.Class = "better "+amount, "up"
	case compare.Moved:
		row.Change, row.Class = glyphMoved+" "+amount, "mv"
	default:
		row.Change, row.Class = glyphUndecided+" "+amount, "eq"
	}
	if m.Levels {
		row.Interval = fmt.Sprintf("%s (%s)", compare.FormatRatio(m.Ratio, &m.Low, &m.High), compare.FormatInterval(&m.Low, &m.High))
	}
	return row
}

// pointText shows a figure, or says that there is none.
func pointText(p *compare.Point) string {
	if p == nil {
		return "not reported"
	}
	if math.Abs(p.Value) < 1000 && p.Value != math.Trunc(p.Value) {
		return compare.FormatShort(p.Value)
	}
	return compare.FormatFull(math.Round(p.Value))
}

// elseTable says how the same step moved elsewhere and how other steps of the
// same runs did.
func elseTable(in changeInput, j compare.Judged) view.ElseTable {
	c := in.Change.Change
	t := view.ElseTable{What: changeSpan(c.FoundChange), From: c.From, To: c.To, Axis: narrowScale.axis()}
	lines := in.Known.lines[suiteMetric{c.System, c.Suite, c.Metric.Name}]
	lineOf := func(x bench.Coordinate) *compare.Line {
		for i := range lines {
			if lines[i].Coordinate == x {
				return &lines[i]
			}
		}
		return nil
	}
	row := func(x bench.Coordinate, name string, s compare.Sighting) view.ElseRow {
		v := compare.Judge(compare.Point{Relative: &s.Ratio, Low: &s.Low, High: &s.High}, c.Metric.Direction)
		out := view.ElseRow{
			Name: name, Ratio: strings.TrimSpace(glyph(v) + " " + compare.FormatRatio(s.Ratio, nil, nil)), Class: verdictClass(v),
			Title: compare.FormatInterval(&s.Low, &s.High), From: compare.Missing, To: compare.Missing,
		}
		plot := narrowScale.plot(s.Ratio, &s.Low, &s.High, v)
		out.Plot = &plot
		if l := lineOf(x); l != nil {
			if p := l.At(c.From); p != nil {
				out.From = compare.FormatShort(p.Value)
			}
			if p := l.At(c.To); p != nil {
				out.To = compare.FormatShort(p.Value)
			}
		}
		q := in.charts()
		q.Servers, q.Workloads, q.Compilers, q.Configs, q.Clients = orNone(x.Server), orNone(x.Workload), orNone(x.Compiler), []string{x.Config}, clientsList(x.Clients)
		q.Steps = []string{x.Step}
		out.Href = q.String()
		return out
	}
	elsewhere := view.ElseGroup{Title: c.Step + " elsewhere"}
	if l := lineOf(c.Coordinate); l != nil {
		if s, ok := compare.Across(c.FoundChange, *l); ok {
			own := row(c.Coordinate, placeText(c.Coordinate), s)
			own.Hint = "this change"
			elsewhere.Rows = append(elsewhere.Rows, own)
		}
	}
	told := map[bench.Coordinate]bool{c.Coordinate: true}
	for _, s := range j.Evidence.Elsewhere() {
		r := row(s.Coordinate, placeText(s.Coordinate), s)
		var hints []string
		if s.Step != c.Step {
			hints = append(hints, s.Step)
		}
		if slices.Contains(j.Evidence.CannotTell, s) {
			hints = append(hints, "cannot tell")
		}
		r.Hint = strings.Join(hints, ", ")
		elsewhere.Rows = append(elsewhere.Rows, r)
		told[s.Coordinate] = true
	}
	elsewhere.Rows = append(elsewhere.Rows, notMeasured(in, told, lines)...)
	t.Groups = append(t.Groups, elsewhere)
	others := view.ElseGroup{Title: "other steps of the same runs, " + placeText(c.Coordinate)}
	for _, s := range j.Evidence.SameRuns() {
		others.Rows = append(others.Rows, row(s.Coordinate, s.Step, s))
	}
	if len(others.Rows) > 0 {
		t.Groups = append(t.Groups, others)
	}
	return t
}

// notMeasured says of the places where the step was measured at other versions
// only what they have.
func notMeasured(in changeInput, told map[bench.Coordinate]bool, lines []compare.Line) []view.ElseRow {
	c := in.Change.Change
	type place struct{ server, words string }
	var order []place
	at := map[place][]bench.Coordinate{}
	for _, x := range in.Places {
		if told[x.Coordinate] {
			continue
		}
		i := slices.IndexFunc(lines, func(l compare.Line) bool { return l.Coordinate == x.Coordinate })
		if i < 0 || len(lines[i].Points) == 0 {
			continue
		}
		// The other member of a family is the same place at other versions.
		same := x.Coordinate
		same.Step = c.Step
		if same == c.Coordinate {
			continue
		}
		l := lines[i]
		oldest, newest := l.Points[0].Version, l.Points[len(l.Points)-1].Version
		p := place{server: x.Server, words: "not measured across these versions"}
		switch {
		case bench.CompareVersions(oldest, c.From) > 0:
			p.words = "not measured: starts at " + oldest
		case bench.CompareVersions(newest, c.To) < 0:
			p.words = "not measured: ends at " + newest
		case l.Multiplier <= 0 && l.At(c.From) != nil && l.At(c.To) != nil:
			p.words = "measured too seldom to know its noise"
		}
		if at[p] == nil {
			order = append(order, p)
		}
		at[p] = append(at[p], x.Coordinate)
	}
	var out []view.ElseRow
	for _, p := range order {
		var workloads, builds, steps []string
		for _, x := range at[p] {
			workloads = appendNew(workloads, orDash(x.Workload))
			builds = appendNew(builds, compilerName(x.Compiler))
			if x.Step != c.Step {
				steps = appendNew(steps, x.Step)
			}
		}
		row := view.ElseRow{Name: strings.Join([]string{p.server, strings.Join(workloads, " "), strings.Join(builds, " ")}, ", "), Words: p.words}
		row.Hint = strings.Join(steps, ", ")
		out = append(out, row)
	}
	return out
}

// thread is what happened to a change, oldest first.
func thread(events []bench.ChangeEvent) []view.ThreadItem {
	var out []view.ThreadItem
	for _, e := range events {
		item := view.ThreadItem{Actor: e.Actor, When: timeText(e.At)}
		if first, _ := utf8.DecodeRuneInString(e.Actor); unicode.IsLetter(first) || unicode.IsDigit(first) {
			item.Initial = string(unicode.ToUpper(first))
		}
		switch e.Field {
		case "comment":
			item.Body = markdownBody(e.After)
		case "detection":
			item.What = map[string]string{"found": "found this change", "dissolved": "no longer finds this change", "found again": "found this change again"}[e.After]
			item.What = cmp.Or(item.What, e.After)
		case "triage":
			item.What = fmt.Sprintf("set the state to %s, it was %s", e.After, e.Before)
		default:
			field := map[string]string{"owner": "owner", "issue": "issue", "fixed_in": "version of the fix"}[e.Field]
			field = cmp.Or(field, e.Field)
			switch {
			case e.After == "":
				item.What = fmt.Sprintf("took away the %s %s", field, e.Before)
			case e.Before == "":
				item.What = fmt.Sprintf("set the %s to %s", field, e.After)
			default:
				item.What = fmt.Sprintf("set the %s to %s, it was %s", field, e.After, e.Before)
			}
		}
		out = append(out, item)
	}
	return out
}

// runDifferences lists what else than the version differs between the run before
// a change and the first after it.
func runDifferences(in changeInput) []view.FactPair {
	c := in.Change.Change
	out := []view.FactPair{{Term: "Version", Parts: []view.Part{textPart(c.From + " → " + c.To)}}}
	add := func(term, text string) {
		out = append(out, view.FactPair{Term: term, Parts: []view.Part{textPart(text)}})
	}
	a, b := in.Before, in.After
	if a == nil || b == nil {
		add("Runs", "not stored any more")
		return out
	}
	two := func(term, x, y, missing string) {
		switch {
		case x == "" && y == "":
			add(term, missing)
		case x == y:
			add(term, "same: "+x)
		default:
			add(term, cmp.Or(x, "not recorded")+" → "+cmp.Or(y, "not recorded"))
		}
	}
	two("Server", a.Server, b.Server, "not recorded")
	compiler := func(r *bench.RunDetail) string {
		return strings.TrimSpace(compilerName(r.Build.Compiler) + " " + r.Build.CompilerVersion)
	}
	if a.Build.CompilerVersion == "" && b.Build.CompilerVersion == "" && a.Build.Compiler == b.Build.Compiler {
		add("Compiler", compilerName(a.Build.Compiler)+", version not recorded")
	} else {
		two("Compiler", compiler(a), compiler(b), "not recorded")
	}
	two("Build flags", a.Build.Flags, b.Build.Flags, "not recorded")
	two("Config", a.Config, b.Config, "none")
	for _, x := range []struct {
		term   string
		a, b   map[string]string
		absent string
	}{{"Environment", without(a.Environment, "source_name", "source_url"), without(b.Environment, "source_name", "source_url"), "not recorded"}, {"Options", a.Options, b.Options, "not recorded; library defaults may differ"}} {
		list := mapDifferences(x.a, x.b)
		switch {
		case len(x.a) == 0 && len(x.b) == 0:
			add(x.term, x.absent)
		case len(list) == 0:
			add(x.term, "same")
		default:
			add(x.term, strings.Join(list, "; "))
		}
	}
	dates := func(r *bench.RunDetail) string { return cmp.Or(r.Started.String(), "undated") }
	add("Run date", dates(a)+" and "+dates(b))
	if a.Campaign > 0 && b.Campaign > 0 && a.Campaign != b.Campaign {
		add("Campaign", fmt.Sprintf("%d → %d of %s: the measuring paused between them", a.Campaign, b.Campaign, b.Server))
	}
	return out
}

func without(m map[string]string, keys ...string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if !slices.Contains(keys, k) {
			out[k] = v
		}
	}
	return out
}

// differencesMax is how many differing keys are named.
const differencesMax = 12

func mapDifferences(a, b map[string]string) []string {
	keys := sortedKeys(a)
	for _, k := range sortedKeys(b) {
		keys = appendNew(keys, k)
	}
	slices.Sort(keys)
	var out []string
	left := 0
	for _, k := range keys {
		x, inA := a[k]
		y, inB := b[k]
		switch {
		case inA && inB && x == y:
			continue
		case len(out) == differencesMax:
			left++
			continue
		case !inA:
			out = append(out, fmt.Sprintf("%s: added, %s", k, y))
		case !inB:
			out = append(out, fmt.Sprintf("%s: no longer, was %s", k, x))
		default:
			out = append(out, fmt.Sprintf("%s: %s → %s", k, x, y))
		}
	}
	if left > 0 {
		out = append(out, fmt.Sprintf("%d more", left))
	}
	return out
}

// commands are the command lines that made the two runs, as stored.
func commands(in changeInput) (list []view.Pair, none string) {
	c := in.Change.Change
	for _, r := range []*bench.RunDetail{in.Before, in.After} {
		if r == nil {
			continue
		}
		if r.Build.Command != "" {
			list = append(list, view.Pair{Key: "build of " + r.Build.Version, Value: r.Build.Command, Mono: true})
		}
		for _, x := range r.Results {
			if x.Step.Name == c.Step && x.Command != "" {
				list = append(list, view.Pair{Key: fmt.Sprintf("%s at %s", c.Step, r.Build.Version), Value: x.Command, Mono: true})
			}
		}
	}
	if len(list) > 0 {
		return list, ""
	}
	none = "No command line was stored with these runs: their source is a table of figures."
	plan := "db_bench-" + c.Workload
	if c.System != bench.SystemRocksDB || c.Suite != "db_bench" || !slices.Contains(plannedWorkloads, c.Workload) {
		return nil, none + " A run with relqps run keeps the exact lines."
	}
	var lines []string
	for _, v := range []string{c.From, c.To} {
		line := []string{"relqps", "run", plan, "--server", c.Server, "--set", "binary=./db_bench." + v}
		if c.Compiler != "" {
			line = append(line, "--compiler", c.Compiler)
		}
		if c.Clients > 0 {
			line = append(line, "--clients", strconv.Itoa(c.Clients))
		}
		lines = append(lines, shellLine(line))
	}
	return []view.Pair{{Key: "the same step sequence with this program's own plan, whose sizes and flags are not those of the runs", Value: strings.Join(lines, "\n"), Mono: true}}, none
}

// plannedWorkloads are those that a built-in plan of the runner exists for, as
// db_bench-WORKLOAD.
var plannedWorkloads = []string{"cached", "iobuf", "iodir"}

// shellLine writes words as a command line that a shell reads back as these words.
func shellLine(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@") != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// triage stores what a form says of a change.
func (s *server) triage(w http.ResponseWriter, r *http.Request, who reader) error {
	id, err := changeID(r)
	if err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	patch, err := readTriage(form)
	if err != nil {
		return err
	}
	if patch == (bench.ChangePatch{}) {
		return bench.Errorf(bench.KindInvalid, "nothing was said of the change")
	}
	if _, err := s.Store.PatchChange(r.Context(), id, patch, who.name); err != nil {
		return err
	}
	http.Redirect(w, r, changeHref(id), http.StatusSeeOther)
	return nil
}

// readTriage reads the forms of a change. Fields that the form does not have
// stay as they are.
func readTriage(form map[string][]string) (bench.ChangePatch, error) {
	var p bench.ChangePatch
	one := func(key string) *string {
		v, ok := form[key]
		if !ok || len(v) == 0 {
			return nil
		}
		return ref(strings.TrimSpace(v[0]))
	}
	if state := one("state"); state != nil && *state != "" {
		t := bench.Triage(*state)
		if !t.Valid() {
			return p, bench.Errorf(bench.KindInvalid, "no such state: %q", *state)
		}
		p.Triage = &t
	}
	p.Owner, p.IssueURL, p.FixedIn = one("owner"), one("issue"), one("fixed_in")
	if comment := one("comment"); comment != nil && *comment != "" {
		p.Comment = comment
	}
	return p, nil
}
