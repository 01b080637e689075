package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

// matchesMax bounds the answers to a search.
const matchesMax = 50

// match is an answer to a search.
type match struct {
	Kind, Text, Href string
	Exact            bool
}

// search goes to what a word names: a step, a server, a version, a workload, a
// compiler, or a note that has it. Where several could be meant it lists them.
func (s *server) search(w http.ResponseWriter, r *http.Request) {
	v, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	p := params{v, map[string]bool{}, nil}
	word := p.one("q")
	if p.err == nil && len(word) > 200 {
		p.fail("%d bytes to look for; at most 200 are", len(word))
	}
	if p.err != nil {
		s.problem(w, r, p.err)
		return
	}
	if word == "" {
		http.Redirect(w, r, "/charts", http.StatusSeeOther)
		return
	}
	coordinates, err := s.Source.Coordinates(r.Context(), bench.SeriesFilter{})
	if err != nil {
		s.problem(w, r, err)
		return
	}
	facets, err := s.Source.Facets(r.Context(), bench.SeriesFilter{})
	if err != nil {
		s.problem(w, r, err)
		return
	}
	notes, err := s.Source.Notes(r.Context(), bench.NoteFilter{})
	if err != nil {
		s.problem(w, r, err)
		return
	}
	found := matches(word, coordinates, facets.Versions, notes)
	if target, ok := single(found); ok {
		http.Redirect(w, r, target, http.StatusSeeOther)
		return
	}
	page := newSearchPage(word, found)
	page.Page = s.frame(r, "Search", "")
	page.Page.Search = word
	s.render(w, r, http.StatusOK, view.Search(page))
}

// single gives the one answer that is meant: the only one, or the only exact one.
func single(found []match) (href string, ok bool) {
	exact := slices.DeleteFunc(slices.Clone(found), func(m match) bool { return !m.Exact })
	switch {
	case len(exact) == 1:
		return exact[0].Href, true
	case len(exact) == 0 && len(found) == 1:
		return found[0].Href, true
	}
	return "", false
}

// matches finds the names that a word stands in, exact ones first.
func matches(word string, coordinates []bench.CoordinateInfo, versions []bench.VersionFacet, notes []bench.Note) []match {
	lower := strings.ToLower(word)
	var found []match
	seen := map[string]bool{}
	add := func(kind, name, text, href string, also ...string) {
		if name == "" || seen[kind+name] {
			return
		}
		seen[kind+name] = true
		exact := slices.ContainsFunc(append(also, name), func(s string) bool { return strings.EqualFold(s, word) })
		if exact || strings.Contains(strings.ToLower(name), lower) {
			found = append(found, match{kind, text, href, exact})
		}
	}
	for _, c := range coordinates {
		add("step", c.Step, c.Step, chartsQuery{Metric: metricDefault, Steps: []string{c.Step}}.String(), bench.ShortStep(c.Step))
	}
	for _, c := range coordinates {
		add("server", c.Server, c.Server, chartsQuery{Metric: metricDefault, Servers: []string{c.Server}}.String())
		add("workload", c.Workload, c.Workload, chartsQuery{Metric: metricDefault, Workloads: []string{c.Workload}}.String())
		add("compiler", c.Compiler, compilerName(c.Compiler), chartsQuery{Metric: metricDefault, Compilers: []string{c.Compiler}}.String())
		add("config", c.Config, c.Config, chartsQuery{Metric: metricDefault, Configs: []string{c.Config}}.String())
	}
	for _, v := range versions {
		add("version", v.Name, systemName(v.System)+" "+v.Name, versionHref(v.System, v.Name), "v"+v.Name)
	}
	for _, n := range notes {
		if strings.Contains(strings.ToLower(n.Body), lower) {
			found = append(found, match{"note", systemName(n.System) + " " + noteVersions(n) + ": " + excerpt(n.Body), noteHref(n.ID), false})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int {
		switch {
		case a.Exact && !b.Exact:
			return -1
		case b.Exact && !a.Exact:
			return 1
		}
		return 0
	})
	return found
}

// newSearchPage builds the list of answers to a search.
func newSearchPage(word string, found []match) view.SearchPage {
	p := view.SearchPage{Heading: fmt.Sprintf("“%s”", word)}
	if len(found) == 0 {
		p.Empty = &view.Empty{
			Sentence: "Nothing is called that.",
			Detail:   "Expected was a version (8.7.3), a step (fillseq), a server, a workload, a compiler, a config or a word of a note.",
			Links:    []view.Link{{Text: "Charts", Href: "/charts"}, {Text: "Runs", Href: "/runs"}},
		}
		return p
	}
	if len(found) > matchesMax {
		p.Remark = fmt.Sprintf("The first %d of %d.", matchesMax, len(found))
		found = found[:matchesMax]
	}
	for _, m := range found {
		p.Found = append(p.Found, view.Found{Kind: m.Kind, Text: m.Text, Href: m.Href})
	}
	return p
}
