package web

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

// homeQuery is what the home page shows. Empty fields are decided by what was
// measured.
type homeQuery struct {
	System  string
	Newest  string // the release that is looked at; later ones are left out
	Base    string // "": the oldest version of each row
	Metric  string // "": the one that decides each step
	Server  string
	Unknown url.Values
}

func parseHome(raw string) (homeQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return homeQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := homeQuery{System: p.one("system"), Newest: p.one("newest"), Base: p.one("base"), Metric: p.one("metric"), Server: p.one("server")}
	if _, ok := bench.LookupMetric(q.Metric); !ok && q.Metric != "" {
		p.fail("no such metric: %q; known are %s, and counters as ticker_NAME and perf_NAME", q.Metric, metricNames())
	}
	if q.Base != "" && q.Newest != "" && bench.CompareVersions(q.Base, q.Newest) > 0 {
		p.fail("base=%s is newer than newest=%s", q.Base, q.Newest)
	}
	q.Unknown = p.rest()
	return q, p.err
}

func (q homeQuery) String() string {
	a := address{path: "/"}
	a.set("system", q.System)
	a.set("server", q.Server)
	a.set("newest", q.Newest)
	a.set("base", q.Base)
	a.set("metric", q.Metric)
	a.keep(q.Unknown)
	return a.String()
}

// with gives the address of a changed copy.
func (q homeQuery) with(change func(*homeQuery)) string {
	change(&q)
	return q.String()
}

// homeServersMax is how many servers stand in a row; more are a menu.
const homeServersMax = 6

// homeBar is the toolbar of the home page. versions are all of the system, in order.
func homeBar(in homeInput, versions []string) view.Bar {
	q := in.Query
	b := view.Bar{Copy: q.String()}
	system := view.Field{Label: "System", Value: systemName(in.System)}
	if len(in.Systems) > 1 {
		var g view.ChoiceGroup
		for _, s := range in.Systems {
			g.Choices = append(g.Choices, view.Choice{
				Name: systemName(s), Current: s == in.System, Leaves: true,
				Href: homeQuery{System: s, Unknown: q.Unknown}.String(),
			})
		}
		g.Words = true
		system.Menu = []view.ChoiceGroup{g}
	}
	b.Fields = append(b.Fields, system)
	if len(versions) > 0 {
		last := versions[len(versions)-1]
		newest := view.Field{Label: "Newest", Value: cmp.Or(q.Newest, last), Versions: true}
		base := view.Field{Label: "Base", Value: cmp.Or(q.Base, "oldest"), Base: true, Versions: true}
		if len(versions) > 1 {
			newest.Menu = versionChoices(versions, func(v string) (string, bool) {
				return q.with(func(q *homeQuery) {
					q.Newest = v
					if v == last {
						q.Newest = ""
					}
					if q.Base != "" && bench.CompareVersions(q.Base, v) > 0 {
						q.Base = ""
					}
				}), bench.CompareVersions(cmp.Or(q.Newest, last), v) == 0
			})
			oldest := view.ChoiceGroup{Words: true, Choices: []view.Choice{{
				Name: "the oldest of each row", Href: q.with(func(q *homeQuery) { q.Base = "" }), Current: q.Base == "",
			}}}
			before := slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return bench.CompareVersions(v, cmp.Or(q.Newest, last)) >= 0 })
			base.Menu = append([]view.ChoiceGroup{oldest}, versionChoices(before, func(v string) (string, bool) {
				return q.with(func(q *homeQuery) { q.Base = v }), q.Base != "" && bench.CompareVersions(q.Base, v) == 0
			})...)
		}
		b.Fields = append(b.Fields, newest, base)
	}
	b.Fields = append(b.Fields, homeMetric(in))
	if len(in.Servers) < 2 {
		return b
	}
	if len(in.Servers) <= homeServersMax {
		b.Versions = view.Segment{Label: "Servers", Links: []view.Link{{Text: "all", Href: q.with(func(q *homeQuery) { q.Server = "" }), Current: q.Server == ""}}}
		for _, s := range in.Servers {
			b.Versions.Links = append(b.Versions.Links, view.Link{Text: orDash(s), Href: q.with(func(q *homeQuery) { q.Server = s }), Current: q.Server == s})
		}
		return b
	}
	g := view.ChoiceGroup{Words: true, Choices: []view.Choice{{Name: "all", Href: q.with(func(q *homeQuery) { q.Server = "" }), Current: q.Server == ""}}}
	for _, s := range in.Servers {
		g.Choices = append(g.Choices, view.Choice{Name: orDash(s), Href: q.with(func(q *homeQuery) { q.Server = s }), Current: q.Server == s})
	}
	b.Fields = append(b.Fields, view.Field{Label: "Server", Value: cmp.Or(q.Server, "all"), Menu: []view.ChoiceGroup{g}})
	return b
}

func homeMetric(in homeInput) view.Field {
	q := in.Query
	f := view.Field{Label: "Metric", Value: "of each step", Long: len(in.Metrics) > 8}
	if m, ok := bench.LookupMetric(q.Metric); ok && q.Metric != "" {
		f.Value = m.Title
	} else if names := metricNamesOf(in.Series); len(names) == 1 {
		f.Value = names[0]
	}
	own := view.ChoiceGroup{Words: true, Choices: []view.Choice{{
		Name: "the one that decides each step", Href: q.with(func(q *homeQuery) { q.Metric = "" }), Current: q.Metric == "",
	}}}
	if len(in.Metrics) > 1 {
		f.Menu = append([]view.ChoiceGroup{own}, metricChoices(in.Metrics, q.Metric, func(name string) string {
			return q.with(func(q *homeQuery) { q.Metric = name })
		})...)
	}
	return f
}

// metricNamesOf lists the titles of the metrics of series.
func metricNamesOf(series []bench.Series) []string {
	var names []string
	for _, s := range series {
		names = appendNew(names, s.Metric.Title)
	}
	return names
}
