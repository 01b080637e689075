package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// runsPerPage is how many runs a page of the list shows.
const runsPerPage = 100

// runsQuery is the query of /runs.
type runsQuery struct {
	System, Server, Workload, Version, Compiler string
	Upload                                      int64
	Cursor                                      string
	Unknown                                     url.Values
}

func parseRuns(raw string) (runsQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return runsQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := runsQuery{
		System: p.one("system"), Server: p.one("server"), Workload: bench.WorkloadName(p.one("workload")), Version: p.one("version"),
		Compiler: bench.CompilerName(p.one("compiler")), Upload: p.number("upload", 0), Cursor: p.one("cursor"),
	}
	q.Unknown = p.rest()
	return q, p.err
}

func (q runsQuery) String() string {
	a := address{path: "/runs"}
	a.set("system", q.System)
	a.set("server", q.Server)
	a.set("workload", q.Workload)
	a.set("version", q.Version)
	a.set("compiler", q.Compiler)
	if q.Upload > 0 {
		a.add("upload", strconv.FormatInt(q.Upload, 10))
	}
	a.set("cursor", q.Cursor)
	a.keep(q.Unknown)
	return a.String()
}

func (q runsQuery) filter() bench.RunFilter {
	return bench.RunFilter{
		System: q.System, Servers: orNone(q.Server), Workloads: orNone(q.Workload), Versions: orNone(q.Version),
		Compilers: orNone(q.Compiler), UploadID: q.Upload, Limit: runsPerPage, Cursor: q.Cursor,
	}
}

// with gives a changed copy that starts at the first page.
func (q runsQuery) with(change func(*runsQuery)) string {
	q.Cursor = ""
	change(&q)
	return q.String()
}

func (s *server) runs(r *http.Request) (templ.Component, error) {
	q, err := parseRuns(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	page, err := s.Source.Runs(r.Context(), q.filter())
	if err != nil {
		return nil, err
	}
	facets, err := s.Source.Facets(r.Context(), bench.SeriesFilter{System: q.System})
	if err != nil {
		return nil, err
	}
	p := newRunsPage(q, page, facets, s.origin(r))
	p.Page = s.frame(r, "Runs", "/runs")
	return view.Runs(p), nil
}

// newRunsPage builds the list of runs.
func newRunsPage(q runsQuery, page bench.RunPage, facets bench.Facets, origin string) view.RunsPage {
	p := view.RunsPage{Bar: runsBar(q, facets)}
	for _, r := range page.Runs {
		p.Rows = append(p.Rows, runRow(r))
	}
	if q.Cursor != "" {
		p.Newer = q.with(func(*runsQuery) {})
	}
	if page.Next != "" {
		p.Older = q.with(func(q *runsQuery) { q.Cursor = page.Next })
	}
	if q.Upload > 0 {
		p.Meta = append(p.Meta, fact(fmt.Sprintf("from upload %d", q.Upload)))
	}
	switch {
	case len(p.Rows) == 0 && q.filter().System == "" && q.String() == "/runs":
		p.Empty = firstUpload(origin)
	case len(p.Rows) == 0:
		p.Empty = &view.Empty{
			Sentence: "No run matches.", Detail: "Expected were runs with all that the menus above say.",
			Links: []view.Link{{Text: "All runs", Href: "/runs"}},
		}
	default:
		text := plural(len(p.Rows), "run", "runs")
		if page.Next != "" || q.Cursor != "" {
			text += " on this page"
		}
		p.Meta = append(p.Meta, fact(text), fact("newest start first, undated last"))
	}
	return p
}

func runRow(r bench.RunSummary) view.RunRow {
	row := view.RunRow{
		Href: runHref(r.ID), ID: strconv.FormatInt(r.ID, 10),
		Started: cmp.Or(r.Started.String(), "undated"), System: systemName(r.System), Version: cmp.Or(r.Build.Version, "unknown"),
		Build: compilerName(r.Build.Compiler), Server: r.Server, Workload: orDash(r.Workload), Config: r.Config,
		Results: strconv.Itoa(r.OK),
	}
	if r.Clients > 0 {
		row.Clients = strconv.Itoa(r.Clients)
	}
	var trouble []string
	switch {
	case r.Standing() == bench.RunFailed:
		trouble = append(trouble, "failed")
	case r.Failed > 0:
		trouble = append(trouble, fmt.Sprintf("%d failed", r.Failed))
	}
	if r.NotRun > 0 {
		trouble = append(trouble, fmt.Sprintf("%d not run", r.NotRun))
	}
	row.Trouble = strings.Join(trouble, ", ")
	if r.Warned > 0 {
		row.Warnings = fmt.Sprintf("%d with warnings", r.Warned)
	}
	if r.State == bench.RecordWithdrawn {
		row.Withdrawal = "withdrawn"
	}
	return row
}

func runHref(id int64) string { return "/runs/" + strconv.FormatInt(id, 10) }

func runsBar(q runsQuery, facets bench.Facets) view.Bar {
	field := func(label, chosen string, values []bench.Facet, name func(string) string, set func(*runsQuery, string)) view.Field {
		f := view.Field{Label: label, Value: "all"}
		if chosen != "" {
			f.Value = name(chosen)
		}
		g := view.ChoiceGroup{Choices: []view.Choice{{Name: "all", Href: q.with(func(q *runsQuery) { set(q, "") }), Current: chosen == ""}}}
		for _, v := range values {
			if v.Name != "" {
				g.Choices = append(g.Choices, view.Choice{Name: name(v.Name), Href: q.with(func(q *runsQuery) { set(q, v.Name) }), Current: v.Name == chosen})
			}
		}
		f.Menu = []view.ChoiceGroup{g}
		return f
	}
	b := view.Bar{Fields: []view.Field{
		field("System", q.System, facets.Systems, systemName, func(q *runsQuery, v string) { q.System, q.Version = v, "" }),
		field("Server", q.Server, facets.Servers, asIs, func(q *runsQuery, v string) { q.Server = v }),
		field("Workload", q.Workload, facets.Workloads, asIs, func(q *runsQuery, v string) { q.Workload = v }),
		field("Build", q.Compiler, facets.Compilers, compilerName, func(q *runsQuery, v string) { q.Compiler = v }),
	}}
	versions := view.Field{Label: "Version", Value: cmp.Or(q.Version, "all"), Versions: true}
	versions.Menu = []view.ChoiceGroup{{Choices: []view.Choice{{Name: "all", Href: q.with(func(q *runsQuery) { q.Version = "" }), Current: q.Version == ""}}}}
	var names []string
	for _, v := range facets.Versions {
		if (q.System == "" || v.System == q.System) && v.Name != "" {
			names = appendNew(names, v.Name)
		}
	}
	sortVersions(names)
	versions.Menu = append(versions.Menu, versionChoices(names, func(v string) (string, bool) {
		return q.with(func(q *runsQuery) { q.Version = v }), v == q.Version
	})...)
	b.Fields = append(b.Fields, versions)
	return b
}

// timeText shows a moment of the server's own clock.
func timeText(t time.Time) string {
	if t.IsZero() {
		return compare.Missing
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
