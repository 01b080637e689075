// Package web is the HTML surface: handlers, pure page builders, router and
// security headers.
//
// A handler parses its query (one function per query type), reads what a page
// needs, gives it to a pure builder that makes the page's view-model, and renders
// that into a buffer before the first byte is sent. Templates are in web/view, the
// options of charts in web/chart, the page script in web/assets.
package web

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/static"
	"github.com/relqps/relqps/web/view"
)

// Source is what the pages read. It is declared here to keep the database driver
// out of this package; internal/postgres satisfies it. Errors that a person can
// act on are [bench.Error]s.
type Source interface {
	Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error)
	Facets(ctx context.Context, f bench.SeriesFilter) (bench.Facets, error)
	Coordinates(ctx context.Context, f bench.SeriesFilter) ([]bench.CoordinateInfo, error)
	Totals(ctx context.Context) (bench.Totals, error)
	Runs(ctx context.Context, f bench.RunFilter) (bench.RunPage, error)
	Run(ctx context.Context, id int64) (bench.RunDetail, error)
	Uploads(ctx context.Context, f bench.UploadFilter) (bench.UploadPage, error)
}

// Credit names where figures come from.
type Credit struct {
	Text, URL string
}

// Config is what the pages need.
type Config struct {
	Source  Source       // required
	Logger  *slog.Logger // required
	Version string       // of relqps, shown at the foot
	// Credits gives where the stored figures come from, as links at the foot;
	// nil: none.
	Credits func(ctx context.Context) []Credit
	// Licence is the text of the project's licence; "" leaves out the page of
	// licences.
	Licence string
	// Bundle holds script and style sheet; nil: those built into the program.
	Bundle fs.FS
}

type server struct {
	Config
	files *static.Files
}

// staticPrefix is the address under which the bundle is served.
const staticPrefix = "/static/"

// contentSecurityPolicy: no inline code or style sheet, nothing from elsewhere.
// Style attributes are allowed because ECharts sets them on its tooltips.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; " +
	"img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// New makes the handler of all pages. Addresses that it does not know get a page
// that says so. It fails when the bundle is damaged.
func New(c Config) (http.Handler, error) {
	if c.Source == nil || c.Logger == nil {
		return nil, errors.New("web: Source and Logger are required")
	}
	if c.Bundle == nil {
		c.Bundle = static.Embedded()
	}
	files, err := static.New(c.Bundle, staticPrefix)
	if err != nil {
		return nil, err
	}
	s := &server{Config: c, files: files}
	r := chi.NewRouter()
	r.Use(requestID, securityHeaders, s.recoverer, middleware.GetHead)
	r.Method(http.MethodGet, staticPrefix+"*", files)
	r.Group(func(r chi.Router) {
		r.Use(middleware.Compress(5, "text/html", "text/markdown", "text/plain"))
		r.NotFound(s.page(s.notFound))
		r.MethodNotAllowed(s.notAllowed)
		r.Get("/", s.page(s.home))
		r.Get("/charts", s.page(s.charts))
		r.Get("/charts.md", s.chartsMarkdown)
		r.Get("/runs", s.page(s.runs))
		r.Get("/runs/{id}", s.page(s.run))
		r.Get("/upload", s.page(s.upload))
		r.Get("/search", s.search)
		if c.Licence != "" {
			r.Get("/licences", s.page(s.licences))
		}
	})
	return r, nil
}

// requestID gives a request an id unless the program around has done so.
func requestID(next http.Handler) http.Handler {
	own := middleware.RequestID(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if middleware.GetReqID(r.Context()) != "" {
			next.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
}

func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// recoverer turns a panic into the page of an internal error.
func (s *server) recoverer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p) // net/http's own way to end a response
			default:
				s.Logger.Error("panic in a page", "panic", p, "path", r.URL.Path, "request", middleware.GetReqID(r.Context()))
				s.problem(w, r, errors.New("panic"))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// handler makes the content of a page.
type handler func(r *http.Request) (templ.Component, error)

// page answers with what a handler makes, or with the page of its error.
func (s *server) page(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		component, err := h(r)
		if err != nil {
			s.problem(w, r, err)
			return
		}
		s.render(w, r, http.StatusOK, component)
	}
}

// render writes a component as a page. It renders into a buffer first, so that an
// error in the middle still gives an error page.
func (s *server) render(w http.ResponseWriter, r *http.Request, status int, component templ.Component) {
	var b bytes.Buffer
	if err := component.Render(r.Context(), &b); err != nil {
		s.problem(w, r, err)
		return
	}
	write(w, status, "text/html; charset=utf-8", b.Bytes())
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	// An error here means that the client went away: nobody is left to tell.
	_, _ = w.Write(body)
}

// frame gives what all pages have, with the entry of the navigation that is
// current.
func (s *server) frame(r *http.Request, title, current string) view.Page {
	p := view.Page{
		Title: title, Script: s.files.Address("page.js"), Style: s.files.Address("style.css"),
		Version: s.Version, Address: r.URL.RequestURI(),
	}
	for _, n := range []view.Link{
		{Text: "Home", Href: "/"}, {Text: "Charts", Href: "/charts"}, {Text: "Runs", Href: "/runs"},
		{Text: "Upload", Href: "/upload"}, {Text: "API", Href: "/api/docs"},
	} {
		n.Current = n.Href == current
		p.Nav = append(p.Nav, n)
	}
	if s.Licence != "" {
		p.Licence = "/licences"
	}
	if s.Credits != nil {
		p.CreditsOf, p.Credits = creditLinks(s.Credits(r.Context()))
	}
	return p
}

// creditLinks makes links of credits. Words that all begin with are said once.
func creditLinks(credits []Credit) (common string, links []view.Link) {
	if len(credits) > 1 {
		common = credits[0].Text
		for _, c := range credits[1:] {
			for !strings.HasPrefix(c.Text, common) {
				common = common[:strings.LastIndex(strings.TrimSuffix(common, " "), " ")+1]
			}
		}
		common = common[:strings.LastIndex(common, " ")+1]
	}
	for _, c := range credits {
		if text := strings.TrimPrefix(c.Text, common); text != "" {
			links = append(links, view.Link{Text: text, Href: c.URL})
		}
	}
	return strings.TrimSpace(common), links
}

// origin gives the address under which a client reached this server.
func origin(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
