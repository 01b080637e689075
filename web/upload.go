package web

import (
	"io/fs"
	"net/http"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

// uploadCommand is the one command that sends a file.
func uploadCommand(origin string) string {
	return "curl -H \"Authorization: Bearer $RELQPS_TOKEN\" --data-binary @report.tsv \\\n  '" +
		origin + "/api/v1/uploads?filename=report.tsv&server=NAME&workload=cached'"
}

func (s *server) upload(r *http.Request) (templ.Component, error) {
	given, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	facets, err := s.Source.Facets(r.Context(), bench.SeriesFilter{})
	if err != nil {
		return nil, err
	}
	p := newUploadPage(facets, s.origin(r))
	for i := range p.Context {
		p.Context[i].Value = given.Get(p.Context[i].Name)
	}
	p.Page = s.frame(r, "Upload", "/upload")
	return view.Upload(p), nil
}

// newUploadPage builds the page that takes files.
func newUploadPage(facets bench.Facets, origin string) view.UploadPage {
	names := func(facets []bench.Facet) []string {
		var out []string
		for _, f := range facets {
			if f.Name != "" {
				out = append(out, f.Name)
			}
		}
		return out
	}
	return view.UploadPage{
		Commands: []view.Pair{
			{Key: "one file", Value: uploadCommand(origin)},
			{Key: "a whole result directory, as benchmark.sh leaves it", Value: "relqps ingest --url " + origin + " --token \"$RELQPS_TOKEN\" --server NAME PATH"},
			{Key: "the options of a config: my.cnf, OPTIONS, a list of key=value, what SHOW GLOBAL VARIABLES says", Value: configUploadCommand(origin, "")},
			{Key: "see first what would be stored", Value: "relqps ingest --check PATH"},
		},
		Context: []view.UploadField{
			{Name: "server", Label: "Server", Hint: "c2", Values: names(facets.Servers)},
			{Name: "workload", Label: "Workload", Hint: "cached", Values: names(facets.Workloads)},
			{Name: "version", Label: "Version", Hint: "8.8.0"},
			{Name: "compiler", Label: "Compiler", Hint: "gcc", Values: names(facets.Compilers)},
			{Name: "config", Label: "Config", Hint: "a0", Values: names(facets.Configs)},
			{Name: "clients", Label: "Clients", Hint: "8"},
			{Name: "system", Label: "System", Hint: "rocksdb", Values: names(facets.Systems)},
		},
	}
}

func (s *server) licences(r *http.Request) (templ.Component, error) {
	p := view.LicencesPage{Page: s.frame(r, "Licences", ""), Texts: []view.Pair{{Key: "relqps", Value: s.Licence}}}
	for _, t := range []struct{ name, file string }{
		{"ECharts and what it contains, in the page script", "LICENSE-echarts.txt"}, {"Notice of ECharts", "NOTICE-echarts.txt"},
	} {
		// A program built without a bundle has no script, and nothing to say of it.
		if text, err := fs.ReadFile(s.Bundle, t.file); err == nil {
			p.Texts = append(p.Texts, view.Pair{Key: t.name, Value: string(text)})
		}
	}
	return view.Licences(p), nil
}
