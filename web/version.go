package web

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// versionInput is what the page of a version is built from.
type versionInput struct {
	System, Version string
	Series          []bench.Series // of the system's primary metrics
	Changes         []bench.Change // at the version
	Known           knowledge
	Notes           []bench.Note // on it
	Runs            bench.RunPage
	Versions        []string // of the system, in order
	Origin          string
	Reader          reader
}

// versionRuns bounds the runs that the page of a version looks at.
const versionRuns = 500

func (s *server) version(r *http.Request) (templ.Component, error) {
	if _, err := parseQuery(r.URL.RawQuery); err != nil {
		return nil, err
	}
	ctx := r.Context()
	in := versionInput{System: pathValue(r, "system"), Version: pathValue(r, "version"), Origin: s.origin(r), Reader: readerOf(ctx)}
	for _, metric := range []string{metricDefault, "ips"} {
		series, err := s.Source.Series(ctx, bench.SeriesFilter{System: in.System, Metric: metric})
		if err != nil {
			return nil, err
		}
		for _, x := range series {
			if bench.PrimaryMetric(x.Suite, x.Step) == metric {
				in.Series = append(in.Series, x)
			}
		}
	}
	in.Versions = versionsOf(in.Series)
	// The spelling of what was measured: v8.6.7 is 8.6.7.
	if i := slices.IndexFunc(in.Versions, func(v string) bool { return bench.CompareVersions(v, in.Version) == 0 }); i >= 0 {
		in.Version = in.Versions[i]
	}
	var err error
	page, err := s.Source.Changes(ctx, bench.ChangeFilter{System: in.System, Versions: []string{in.Version}, MinEffect: minEffectDefault, Limit: changesMax})
	if err != nil {
		return nil, err
	}
	in.Changes = page.Changes
	if in.Known, err = s.know(ctx, nil, in.Series); err != nil {
		return nil, err
	}
	if in.Notes, err = s.Source.Notes(ctx, bench.NoteFilter{System: in.System, Version: in.Version}); err != nil {
		return nil, err
	}
	if in.Runs, err = s.Source.Runs(ctx, bench.RunFilter{System: in.System, Versions: []string{in.Version}, State: bench.RecordActive, Limit: versionRuns}); err != nil {
		return nil, err
	}
	p := newVersionPage(in)
	p.Page = s.frame(r, p.Title, "")
	s.describe(r, &p.Page, plain(p.Lead))
	return view.Version(p), nil
}

// newVersionPage builds the page of a version. Its Page is left to the caller, but
// for the title.
func newVersionPage(in versionInput) view.VersionPage {
	p := view.VersionPage{Heading: systemName(in.System) + " " + in.Version}
	p.Title = p.Heading
	p.AllRuns = runsQuery{System: in.System, Version: in.Version}.String()
	if i := slices.IndexFunc(in.Versions, func(v string) bool { return bench.CompareVersions(v, in.Version) >= 0 }); i > 0 && bench.CompareVersions(in.Versions[i], in.Version) == 0 {
		set := func(v string) compare.SetQuery { return compare.SetQuery{System: in.System, Versions: []string{v}} }
		p.Compare = view.Link{Text: "Compare with " + in.Versions[i-1], Href: compareQuery{SetsQuery: compare.SetsQuery{A: set(in.Versions[i-1]), B: set(in.Version)}}.String()}
	}
	p.Notes = view.NoteList{Title: "Notes", Add: noteForm{System: in.System, Version: in.Version, Back: versionHref(in.System, in.Version)}.String(), None: "None on this version."}
	for _, n := range in.Notes {
		p.Notes.Notes = append(p.Notes.Notes, noteItem(n, in.Reader))
	}
	at := slices.Index(in.Versions, in.Version)
	for i, v := range in.Versions {
		switch c := bench.CompareVersions(v, in.Version); {
		case c < 0 && (i+1 == len(in.Versions) || bench.CompareVersions(in.Versions[i+1], in.Version) >= 0):
			p.Next = append(p.Next, view.Link{Text: "← " + v, Href: versionHref(in.System, v), Title: "k"})
		case c > 0 && (i == 0 || bench.CompareVersions(in.Versions[i-1], in.Version) <= 0):
			p.Next = append(p.Next, view.Link{Text: v + " →", Href: versionHref(in.System, v), Title: "j"})
		}
	}
	if at < 0 && len(in.Runs.Runs) == 0 {
		p.Empty = &view.Empty{
			Sentence: fmt.Sprintf("%s %s was not measured.", systemName(in.System), in.Version),
			Detail:   "Expected were results of this version. The versions before and after it that were measured stand above; this sends more:",
			Command:  uploadCommand(in.Origin),
			Links:    []view.Link{{Text: "All that was measured", Href: "/#measured"}, {Text: "Notes on it", Href: notesQuery{System: in.System, Version: in.Version}.String()}},
		}
		return p
	}

	rows := homeRows(in.Series, homeQuery{})
	rows = slices.DeleteFunc(rows, func(r homeRow) bool { return !slices.Contains(r.versions, in.Version) })
	var total tally
	p.Steps, p.Rows = versionResults(in, rows, &total)
	marked, tested, cut := versionMarks(in)
	for i, c := range compare.Causes(in.Known.judgeAll(marked)) {
		p.Causes = append(p.Causes, causeItem(c, fmt.Sprintf("c%d", i)))
	}
	p.Tested = fmt.Sprintf("%s tested at this version; false discovery held at %g\u2009%%: %s false ones are expected",
		plural(tested, "series", "series"), 100*compare.FalseDiscoveryRate, expectedText(compare.ExpectedFalse(tested, cut)))
	p.Against = "each against the version before it that was measured there"
	p.Lead = versionLead(in, total, marked)
	servers := map[string]bool{}
	for _, r := range rows {
		servers[r.key.Server] = true
	}
	p.Meta = []view.Fact{
		fact("measured on " + plural(len(servers), "server", "servers")), fact(plural(len(in.Runs.Runs), "run", "runs")),
	}
	p.Builds = builds(in.Runs.Runs)
	return p
}

// versionMarks gives the changes at a version that stand when false discovery is
// held across all series that were measured there, how many these are, and the
// probability up to which one is marked.
func versionMarks(in versionInput) (marked []bench.Change, tested int, cut float64) {
	for _, s := range in.Series {
		if bench.StepRole(s.Suite, s.Step) == bench.RoleMeasure && slices.ContainsFunc(s.Points, func(p bench.Point) bool { return p.Version == in.Version }) {
			tested++
		}
	}
	p := make([]float64, len(in.Changes))
	for i, c := range in.Changes {
		p[i] = c.PHere
	}
	cut = compare.FalseDiscoveryCut(p, tested)
	for _, c := range in.Changes {
		if c.PHere <= cut {
			marked = append(marked, c)
		}
	}
	return marked, tested, cut
}

func versionLead(in versionInput, total tally, marked []bench.Change) []view.Part {
	var parts []view.Part
	say := func(text string) { parts = append(parts, view.Part{Text: text}) }
	if total.count() == 0 {
		say("Nothing was measured before it where it was, or the noise is unknown.")
	} else {
		parts = append(parts, view.Part{Text: fmt.Sprintf("%d of %s worse than the version before, %d better", total.worse, plural(total.count(), "result is", "results are"), total.better), Strong: true})
		say(fmt.Sprintf(", %d undecided. ", total.undecided))
	}
	regressions := 0
	doubtful := 0
	for _, c := range marked {
		if c.Kind(c.Metric.Direction) == "regression" {
			regressions++
		}
		if len(weighty(in.Known.judge(c).Doubts)) > 0 {
			doubtful++
		}
	}
	switch {
	case len(marked) == 0:
		say("Over all versions nothing changed here beyond noise.")
	default:
		say(fmt.Sprintf("Over all versions, %s: %s and %s", plural(len(marked), "series changes here", "series change here"),
			plural(regressions, "regression", "regressions"), plural(len(marked)-regressions, "improvement", "improvements")))
		if doubtful > 0 {
			say(fmt.Sprintf("; %d of them to look at twice", doubtful))
		}
		say(".")
	}
	return parts
}

// versionResults makes the table of a version's results against the version
// before it, a row a place.
func versionResults(in versionInput, rows []homeRow, total *tally) ([]view.HeatStep, []view.HeatRow) {
	var steps []string
	for _, r := range rows {
		for _, l := range r.lines {
			if pointAt(l, in.Version) != nil {
				steps = appendNew(steps, l.Step)
			}
		}
	}
	slices.SortFunc(steps, bench.CompareSteps)
	var heads []view.HeatStep
	for _, s := range steps {
		heads = append(heads, view.HeatStep{Name: bench.ShortStep(s), Title: s})
	}
	var out []view.HeatRow
	for _, r := range rows {
		i := slices.Index(r.versions, in.Version)
		before := ""
		if i > 0 {
			before = r.versions[i-1]
		}
		h := view.HeatRow{Name: r.name(), Build: r.build(), Against: cmp.Or(before, "first"), Newest: in.Version}
		q := r.query(in.System, "")
		q.At = ""
		h.Href = q.String()
		c := compare.Compare(r.series, compare.Options{Base: compare.Base{Version: before}, JoinFamilies: true})
		for _, s := range steps {
			k := slices.IndexFunc(c.Lines, func(l compare.Line) bool { return l.Step == s })
			cell := view.HeatCell{Class: "x"}
			if k >= 0 {
				if p := pointAt(c.Lines[k], in.Version); p != nil {
					q := r.query(in.System, s)
					q.At, q.Base.Version = in.Version, before
					cell = view.HeatCell{Text: compare.FormatShort(p.Value), Class: "x", Href: q.String(), Title: s + " " + compare.FormatFull(p.Value) + unitSuffix(c.Lines[k].Metric.Unit)}
					if p.Relative != nil {
						cell.Class = tint(*p, c.Lines[k].Metric.Direction)
						cell.Text = cellRatio(*p, cell.Class)
						cell.Title = fmt.Sprintf("%s: %s / %s, %s, %s%s", s, in.Version, before, intervalText(*p), compare.FormatFull(p.Value), unitSuffix(c.Lines[k].Metric.Unit))
						total.add(*p, c.Lines[k].Metric.Direction)
						if *p.Relative > 0 && math.Abs(math.Log(*p.Relative)) > math.Log(farRatio) && len(cell.Class) == 2 {
							cell.Class += " far"
						}
					}
				}
			}
			h.Cells = append(h.Cells, cell)
		}
		out = append(out, h)
	}
	return heads, out
}

// builds lists the builds of a version's runs, with how many runs each has.
func builds(runs []bench.RunSummary) []view.BuildRow {
	var order []bench.Build
	count := map[bench.Build]int{}
	for _, r := range runs {
		if count[r.Build] == 0 {
			order = append(order, r.Build)
		}
		count[r.Build]++
	}
	slices.SortStableFunc(order, func(a, b bench.Build) int { return strings.Compare(a.Compiler, b.Compiler) })
	var out []view.BuildRow
	for _, b := range order {
		out = append(out, view.BuildRow{
			Compiler: compilerName(b.Compiler), CompilerVersion: b.CompilerVersion, Flags: b.Flags, GitHash: b.GitHash, Command: b.Command, Runs: strconv.Itoa(count[b]),
		})
	}
	return out
}
