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
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
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
	SeriesOf(ctx context.Context, c bench.Coordinate) ([]bench.Series, error)
	Changes(ctx context.Context, f bench.ChangeFilter) (bench.ChangePage, error)
	ChangeTable(ctx context.Context, system string) (p []float64, tested int, err error)
	Change(ctx context.Context, id int64) (bench.ChangeDetail, error)
	Notes(ctx context.Context, f bench.NoteFilter) ([]bench.Note, error)
	Note(ctx context.Context, id int64) (bench.Note, []bench.NoteRevision, error)
	Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error)
	Distributions(ctx context.Context, runs []int64) ([]bench.Distribution, error)
	Varied(ctx context.Context, f bench.VariedFilter) ([]bench.RunFacts, error)
	RunFacts(ctx context.Context, runs []int64) ([]bench.RunFacts, error)
	Breakdowns(ctx context.Context, runs []int64) ([]bench.RunBreakdown, error)
	Seconds(ctx context.Context, q bench.SecondsQuery) ([]bench.Seconds, error)
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
	// Store takes what people write; nil: the pages can only be read, and there are
	// no short links.
	Store Store
	// PublicURL is the address under which people reach this server
	// (https://perf.example.org); "": the one that their requests name.
	PublicURL string
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
	cache *compare.Cache
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
	s := &server{Config: c, files: files, cache: &compare.Cache{}}
	r := chi.NewRouter()
	r.Use(requestID, securityHeaders, s.recoverer, headAsGet)
	r.Method(http.MethodGet, staticPrefix+"*", files)
	r.Group(func(r chi.Router) {
		r.Use(middleware.Compress(5, "text/html", "text/markdown", "text/plain", "text/csv", "image/svg+xml"), s.sameOrigin, s.recognise)
		if c.Store != nil {
			r.Use(s.currentNames)
		}
		s.viewRoutes(r)
		r.Get("/search", s.search)
		r.Get("/report", s.anyReport)
		if c.Licence != "" {
			r.Get("/licences", s.page(s.licences))
		}
		if c.Store == nil {
			return
		}
		r.Get("/s/{code}", s.shortLink)
		r.Post("/links", s.writing(s.makeLink))
		r.Get("/notes/new", s.page(s.newNote))
		r.Post("/notes", s.writing(s.writeNote))
		r.Get("/notes/{id}/edit", s.page(s.editNote))
		r.Post("/notes/{id}", s.writing(s.changeNote))
		r.Post("/notes/{id}/delete", s.writing(s.deleteNote))
		r.Post("/changes/{id}", s.writing(s.triage))
		r.Get("/sign-in", s.page(s.signInPage))
		r.Post("/sign-in", s.signIn)
		r.Post("/sign-out", s.signOut)
	})
	return r, nil
}

// viewRoutes adds the pages that show figures, which are those that can be frozen.
func (s *server) viewRoutes(r chi.Router) {
	r.NotFound(s.page(s.notFound))
	r.MethodNotAllowed(s.notAllowed)
	r.Get("/", s.page(s.home))
	r.Get("/report/{system}", s.report)
	r.Get("/charts", s.page(s.charts))
	r.Get("/charts.md", s.chartsMarkdown)
	r.Get("/charts.svg", s.chartsSVG)
	r.Get("/charts.png", s.chartsPNG)
	r.Get("/compilers", s.compilers)
	r.Get("/changes", s.page(s.changes))
	r.Get("/changes/{id}", s.page(s.change))
	r.Get("/configs", s.page(s.configs))
	r.Get("/configs/{system}/{config}", s.page(s.config))
	r.Get("/versions/{system}/{version}", s.page(s.version))
	r.Get("/sweeps", s.page(s.sweeps))
	r.Get("/compare", s.compare)
	r.Get("/notes", s.page(s.notes))
	r.Get("/notes/{id}", s.page(s.note))
	r.Get("/steps", s.page(s.steps))
	r.Get("/runs", s.page(s.runs))
	r.Get("/runs/{id}", s.page(s.run))
	r.Get("/upload", s.page(s.upload))
}

// views is a handler of the pages that show figures alone.
func (s *server) views() http.Handler {
	r := chi.NewRouter()
	s.viewRoutes(r)
	return r
}

// sameOrigin refuses what other sites make a browser send: writing works from
// this server's own pages only.
func (s *server) sameOrigin(next http.Handler) http.Handler {
	check := http.NewCrossOriginProtection()
	check.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.problem(w, r, bench.Errorf(bench.KindForbidden, "This was sent from a page of another site."))
	}))
	return check.Handler(next)
}

// headAsGet answers HEAD like GET; net/http leaves out the body. The router's own
// middleware for this needs to be the first router of a request, which it is not
// where a program counts requests by route.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.Clone(r.Context())
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
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
	// Private: what somebody sees who is signed in is for nobody else.
	w.Header().Set("Cache-Control", "private, no-cache")
	w.WriteHeader(status)
	// An error here means that the client went away: nobody is left to tell.
	_, _ = w.Write(body)
}

// frame gives what all pages have, with the entry of the navigation that is
// current.
func (s *server) frame(r *http.Request, title, current string) view.Page {
	p := view.Page{Title: title, Version: s.Version, Address: r.URL.RequestURI()}
	if s.files != nil {
		p.Script, p.Style = s.files.Address("page.js"), s.files.Address("style.css")
	}
	if f := frozenOf(r.Context()); f != nil {
		p.Frozen, p.Address = &f.Frozen, f.path
	} else if s.Store != nil {
		p.User = readerOf(r.Context()).name
		to := p.Address
		if r.Method != http.MethodGet || strings.HasPrefix(to, "/sign-in") {
			to = "/"
		}
		p.SignIn = signInHref(localPath(to))
	}
	for _, n := range []view.Link{
		{Text: "Home", Href: "/"}, {Text: "Report", Href: "/report"}, {Text: "Charts", Href: "/charts"}, {Text: "Changes", Href: "/changes"},
		{Text: "Compilers", Href: "/compilers"}, {Text: "Configs", Href: "/configs"}, {Text: "Sweeps", Href: "/sweeps"}, {Text: "Runs", Href: "/runs"}, {Text: "Upload", Href: "/upload"}, {Text: "API", Href: "/api/docs"},
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

// bar completes a toolbar for who looks at the page: short links need a sign-in,
// and a frozen view gives its own figures only.
func (s *server) bar(r *http.Request, b *view.Bar) {
	f := frozenOf(r.Context())
	if f == nil {
		b.Short = readerOf(r.Context()).mayWrite()
		return
	}
	b.Copy = f.path
	var export []view.Link
	for _, l := range b.Export {
		for _, format := range []string{"md", "csv"} {
			if strings.Contains(l.Href, "format="+format) && (strings.HasPrefix(l.Href, "/report/") || strings.HasPrefix(l.Href, "/compilers") || strings.HasPrefix(l.Href, "/compare")) || format == "md" && strings.HasPrefix(l.Href, "/charts.md") {
				l.Href = f.path + "?format=" + format
				export = append(export, l)
			}
		}
	}
	b.Export = export
}

// freezeView marks the data of a frozen view's charts: what the script would write
// into the address says nothing there.
func freezeView(r *http.Request, v any) any {
	if c, ok := v.(chart.View); ok && frozenOf(r.Context()) != nil {
		c.Frozen = true
		return c
	}
	return v
}

// origin gives the address under which people reach this server.
func (s *server) origin(r *http.Request) string {
	if s.PublicURL != "" {
		return strings.TrimSuffix(s.PublicURL, "/")
	}
	return origin(r)
}

// origin gives the address under which a client reached this server.
func origin(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
