package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// fieldLabels names the toolbar fields of the dimensions, in their order on the bar.
var fieldLabels = []struct{ dimension, label string }{
	{"system", "System"}, {"suite", "Suite"}, {"server", "Server"}, {"workload", "Workload"},
	{"clients", "Clients"}, {"compiler", "Build"}, {"config", "Config"},
}

// chartsBar is the toolbar of the charts.
func chartsBar(in chartsInput, a compared) view.Bar {
	q := in.Resolved
	full := q.with(func(q *chartsQuery) {
		if q.Base == (compare.Base{}) {
			q.Base.Version = a.autoBase
		}
	})
	b := view.Bar{
		Fields:   fields(in, &a),
		Versions: view.Segment{Label: "Versions", Links: presets(in, a)},
		Copy:     full.String(),
		Export: []view.Link{
			{Text: "CSV", Href: full.apiQuery("csv"), Title: "every figure of this view, one row a point"},
			{Text: "JSON", Href: full.apiQuery(""), Title: "the same from the API"},
			{Text: "Markdown", Href: in.Given.at("/charts.md"), Title: "tables for an issue or a post"},
		},
	}
	return b
}

// fields gives the toolbar's fields; a is nil where nothing was measured.
func fields(in chartsInput, a *compared) []view.Field {
	var out []view.Field
	for _, f := range fieldLabels {
		d := dimensionOf(f.dimension)
		values := valuesOf(in, d)
		chosen := d.get(in.Resolved)
		alone := len(values) < 2 && (len(chosen) == 0 || slices.Equal(chosen, values))
		switch f.dimension {
		case "suite", "clients":
			if alone {
				continue
			}
		case "config":
			if alone && (len(values) == 0 || values[0] == "") {
				continue
			}
		}
		field := view.Field{Label: f.label, Value: shown(d, chosen)}
		if in.Given.Builds && f.dimension == "compiler" {
			field.Label = "Builds"
		}
		if !alone {
			field.Menu = []view.ChoiceGroup{{Choices: choices(in, d, values, chosen)}}
		}
		out = append(out, field)
	}
	switch {
	case a != nil && in.Given.Builds:
		out = append(out, buildsBaseField(in, *a), metricField(in, *a))
	case a != nil:
		out = append(out, baseField(in, *a), metricField(in, *a))
	}
	return out
}

func dimensionOf(name string) dimension {
	return dimensions[slices.IndexFunc(dimensions, func(d dimension) bool { return d.name == name })]
}

// shown words the chosen values of a dimension, short where there are many.
func shown(d dimension, chosen []string) string {
	switch {
	case len(chosen) == 0:
		return "choose"
	case len(chosen) > 3:
		return strconv.Itoa(len(chosen)) + " shown"
	}
	var labels []string
	for _, v := range chosen {
		labels = append(labels, d.label(v))
	}
	return strings.Join(labels, ", ")
}

// valuesOf gives the values of a dimension that were measured with what is chosen
// of the dimensions before it.
func valuesOf(in chartsInput, d dimension) []string {
	seen := map[string]bool{}
	for _, c := range in.Coordinates {
		fits := true
		for _, before := range dimensions {
			if before.name == d.name {
				break
			}
			if chosen := before.get(in.Resolved); len(chosen) > 0 && !slices.Contains(chosen, before.of(c.Coordinate)) {
				fits = false
			}
		}
		if fits {
			seen[d.of(c.Coordinate)] = true
		}
	}
	values := sortedKeys(seen)
	if d.name == "clients" {
		slices.SortFunc(values, func(a, b string) int {
			x, _ := strconv.Atoi(a) // made of numbers
			y, _ := strconv.Atoi(b)
			return x - y
		})
	}
	return values
}

func choices(in chartsInput, d dimension, values, chosen []string) []view.Choice {
	several := d.name != "system" && d.name != "suite" && !in.Given.Report && (!in.Given.Builds || d.name == "compiler")
	var out []view.Choice
	for _, v := range values {
		c := view.Choice{Name: d.label(v), Current: slices.Contains(chosen, v), Leaves: leaves(in, d, []string{v})}
		c.Href = choose(in, d, []string{v})
		if several && in.Found {
			next := slices.DeleteFunc(slices.Clone(chosen), func(x string) bool { return x == v })
			if !c.Current {
				next = slices.DeleteFunc(slices.Clone(values), func(x string) bool { return x != v && !slices.Contains(chosen, x) })
			}
			c.Held = len(next) == 0
			if !c.Held {
				c.Toggle = choose(in, d, next)
			}
		}
		out = append(out, c)
	}
	return out
}

// leaves reports whether choosing values leads to a system or server whose
// versions may be others: base and range then stay behind.
func leaves(in chartsInput, d dimension, values []string) bool {
	return (d.name == "system" || d.name == "server") && len(values) == 1 && !slices.Equal(d.get(in.Resolved), values)
}

// choose gives the address with other values of a dimension. What was given of
// other dimensions and was not measured with them is dropped; for base and range
// see [leaves].
func choose(in chartsInput, d dimension, values []string) string {
	return in.Given.with(func(q *chartsQuery) {
		d.set(q, values)
		q.At = ""
		if leaves(in, d, values) {
			q.Base, q.From, q.To = compare.Base{}, "", ""
		}
		left := in.Coordinates
		narrow := func(d dimension) {
			want := d.get(*q)
			if len(want) == 0 {
				return
			}
			next := slices.DeleteFunc(slices.Clone(left), func(c bench.CoordinateInfo) bool { return !slices.Contains(want, d.of(c.Coordinate)) })
			if len(next) == 0 {
				d.set(q, nil)
				return
			}
			left = next
		}
		narrow(d)
		for _, other := range dimensions {
			if other.name != d.name {
				narrow(other)
			}
		}
		q.Steps = slices.DeleteFunc(slices.Clone(q.Steps), func(step string) bool {
			only := q.with(func(q *chartsQuery) { q.Steps = []string{step} })
			return !slices.ContainsFunc(left, func(c bench.CoordinateInfo) bool { return only.wants(c.Step) })
		})
	}).String()
}

// baseField is the chip of the base and its menu: whose figure, at which version.
func baseField(in chartsInput, a compared) view.Field {
	base := a.comparison.Base
	f := view.Field{Label: "Base", Value: baseText(base), Base: true, Versions: true}
	rebase := func(b compare.Base) string {
		return in.Given.with(func(q *chartsQuery) {
			q.Base = b
			if b == (compare.Base{Version: a.autoBase}) {
				q.Base = compare.Base{}
			}
		}).String()
	}
	of := func(name, own string, values []string, get func(compare.Base) string, set func(*compare.Base, string)) {
		if len(values) < 2 {
			return
		}
		g := view.ChoiceGroup{Name: name, Words: true}
		for _, v := range append([]string{""}, values...) {
			b := base
			set(&b, v)
			if b == (compare.Base{}) {
				b.Version = a.autoBase
			}
			label := compilerName(v)
			if v == "" {
				label = own
			}
			g.Choices = append(g.Choices, view.Choice{Name: label, Href: rebase(b), Current: get(base) == v})
		}
		f.Menu = append(f.Menu, g)
	}
	of("build", "each its own", valuesOf(in, dimensionOf("compiler")),
		func(b compare.Base) string { return b.Compiler }, func(b *compare.Base, v string) { b.Compiler = v })
	configs := slices.DeleteFunc(valuesOf(in, dimensionOf("config")), func(s string) bool { return s == "" })
	of("config", "each its own", configs,
		func(b compare.Base) string { return b.Config }, func(b *compare.Base, v string) { b.Config = v })
	if base.Compiler != "" || base.Config != "" {
		b := base
		b.Version = ""
		f.Menu = append(f.Menu, view.ChoiceGroup{Name: "version", Words: true, Choices: []view.Choice{{Name: "the same version", Href: rebase(b), Current: base.Version == ""}}})
	}
	f.Menu = append(f.Menu, versionChoices(a.all, func(v string) (string, bool) {
		b := base
		b.Version = v
		return rebase(b), base.Version != "" && bench.CompareVersions(base.Version, v) == 0
	})...)
	f.Note = "Shift-click in a chart makes the version under it the base."
	return f
}

func metricField(in chartsInput, a compared) view.Field {
	return view.Field{
		Label: "Metric", Value: a.comparison.Metric.Title, Long: len(in.Metrics) > 8,
		Menu: metricChoices(in.Metrics, in.Resolved.Metric, func(name string) string {
			return in.Given.with(func(q *chartsQuery) { q.Metric = name }).String()
		}),
	}
}

// menuVersionsMax is how many versions a menu lists.
const menuVersionsMax = 200

// versionChoices lists versions in order, a group per major. Of very many it lists
// the newest, and the first and last of each major.
func versionChoices(versions []string, of func(version string) (href string, current bool)) []view.ChoiceGroup {
	var groups []view.ChoiceGroup
	majors := chart.Majors(versions)
	if left := len(versions) - menuVersionsMax; left > 0 {
		var listed []string
		for i, m := range majors {
			end := len(versions)
			if i+1 < len(majors) {
				end = majors[i+1].At
			}
			for k := m.At; k < end; k++ {
				if k >= left || k == m.At || k == end-1 {
					listed = append(listed, versions[k])
				}
			}
		}
		versions, majors = listed, chart.Majors(listed)
	}
	for i, m := range majors {
		end := len(versions)
		if i+1 < len(majors) {
			end = majors[i+1].At
		}
		g := view.ChoiceGroup{Name: m.Name}
		for _, v := range versions[m.At:end] {
			href, current := of(v)
			g.Choices = append(g.Choices, view.Choice{Name: v, Href: href, Current: current})
		}
		groups = append(groups, g)
	}
	return groups
}

// metricChoices lists metrics, counters in a group of their own.
func metricChoices(metrics []bench.MetricFacet, chosen string, href func(name string) string) []view.ChoiceGroup {
	known, counters := view.ChoiceGroup{}, view.ChoiceGroup{Name: "counters"}
	for _, m := range metrics {
		c := view.Choice{Name: m.Title, Title: m.About, Current: m.Name == chosen, Href: href(m.Name)}
		if strings.HasPrefix(m.Name, "ticker_") || strings.HasPrefix(m.Name, "perf_") {
			counters.Choices = append(counters.Choices, c)
			continue
		}
		known.Choices = append(known.Choices, c)
	}
	return slices.DeleteFunc([]view.ChoiceGroup{known, counters}, func(g view.ChoiceGroup) bool { return len(g.Choices) == 0 })
}

// presets are the ranges of versions: one per major that was measured, a few of
// each across majors, and all. A base that the address does not name follows the
// range: it is the oldest version shown.
func presets(in chartsInput, a compared) []view.Link {
	q := in.Given
	var links []view.Link
	majors := chart.Majors(a.all)
	current := false
	for i, m := range majors {
		if len(majors) == 1 {
			break
		}
		end := len(a.all)
		if i+1 < len(majors) {
			end = majors[i+1].At
		}
		from, to := a.all[m.At], a.all[end-1]
		l := view.Link{
			Text: m.Name, Current: !q.Across && q.From == from && q.To == to,
			Href: q.with(func(q *chartsQuery) { q.From, q.To, q.Across, q.At = from, to, false, "" }).String(),
		}
		current = current || l.Current
		links = append(links, l)
	}
	all := func(q *chartsQuery) { q.From, q.To, q.At = "", "", "" }
	many := len(a.all) > versionsMax
	if many {
		links = append(links, view.Link{
			Text: fmt.Sprintf("newest %d", versionsNewest), Current: in.Narrowed > 0,
			Href: q.with(func(q *chartsQuery) { all(q); q.Across, q.All = false, false }).String(),
		})
	}
	if len(majors) > 1 && len(across(a.all)) < len(a.all) && !q.Report && !q.Builds {
		links = append(links, view.Link{
			Text: "across", Title: "a few versions of every major", Current: q.Across && q.From == "" && q.To == "",
			Href: q.with(func(q *chartsQuery) { all(q); q.Across = true }).String(),
		})
	}
	links = append(links, view.Link{
		Text: "all", Current: !q.Across && q.From == "" && q.To == "" && in.Narrowed == 0,
		Href: q.with(func(q *chartsQuery) { all(q); q.Across, q.All = false, q.All || many }).String(),
	})
	if len(links) == 1 && links[0].Current {
		return nil // nothing to choose from
	}
	if !current && (q.From != "" || q.To != "") {
		links = append(links, view.Link{Text: openSpan(q.From, q.To), Href: q.String(), Current: true})
	}
	return links
}

// openSpan names a range that no preset stands for.
func openSpan(from, to string) string {
	switch {
	case to == "":
		return "from " + from
	case from == "":
		return "up to " + to
	}
	return from + " to " + to
}
