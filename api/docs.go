package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"sort"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

//go:embed docs.html
var docsHTML string

var docsTemplate = template.Must(template.New("docs").Parse(docsHTML))

// docsPage is what docs.html shows: the OpenAPI document for people, without
// script and without anything from elsewhere.
type docsPage struct {
	Title, Version, About string
	Operations            []docsOperation
}

type docsOperation struct {
	Method, Path, Summary, About string
	Token                        bool
	Parameters                   []docsParameter
}

type docsParameter struct{ Name, In, Type, About string }

// registerDocs adds the OpenAPI document and the page made of it. All
// operations must be registered before.
func (s *server) registerDocs(r chi.Router, a huma.API) {
	// Made once and here: what huma registers itself is made at the first request,
	// by as many at a time as come.
	document, err := json.Marshal(a.OpenAPI())
	if err != nil {
		panic(err) // an operation was described wrongly
	}
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, newDocsPage(a.OpenAPI())); err != nil {
		panic(err)
	}
	serve := func(kind string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			h := w.Header()
			h.Set("Content-Type", kind)
			h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
			if _, err := w.Write(body); err != nil {
				s.Logger.Info("client went away", "path", req.URL.Path, "error", err)
			}
		}
	}
	r.Get("/api/openapi.json", serve("application/openapi+json", document))
	r.Get("/api/docs", serve("text/html; charset=utf-8", page.Bytes()))
}

func newDocsPage(o *huma.OpenAPI) docsPage {
	p := docsPage{Title: o.Info.Title, Version: o.Info.Version, About: o.Info.Description}
	for path, item := range o.Paths {
		for method, op := range map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
		} {
			if op == nil {
				continue
			}
			d := docsOperation{Method: method, Path: path, Summary: op.Summary, About: op.Description, Token: len(op.Security) > 0}
			for _, param := range op.Parameters {
				kind := ""
				if param.Schema != nil {
					kind = param.Schema.Type
					if kind == huma.TypeArray && param.Schema.Items != nil {
						kind = param.Schema.Items.Type + ", may repeat"
					}
				}
				d.Parameters = append(d.Parameters, docsParameter{param.Name, param.In, kind, param.Description})
			}
			p.Operations = append(p.Operations, d)
		}
	}
	sort.Slice(p.Operations, func(i, j int) bool {
		a, b := p.Operations[i], p.Operations[j]
		if a.Path != b.Path {
			return a.Path < b.Path
		}
		return a.Method < b.Method
	})
	return p
}
