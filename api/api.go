// Package api is the JSON HTTP API under /api/v1, described by its own OpenAPI
// document. Reading is public; writing needs a token. Errors are
// application/problem+json, for inputs with the places at fault; nothing
// internal ever reaches a client.
package api

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/klauspost/compress/gzip"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// Store is what the API reads and corrects. It is declared here to keep the
// database driver out of this package; internal/postgres satisfies it.
type Store interface {
	Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error)
	Runs(ctx context.Context, f bench.RunFilter) (bench.RunPage, error)
	Run(ctx context.Context, id int64) (bench.RunDetail, error)
	UploadBytes(ctx context.Context, id int64) (filename string, content []byte, err error)
	PatchRun(ctx context.Context, id int64, p bench.RunPatch, reason, actor string, detect bench.DetectFunc) error
	WithdrawRun(ctx context.Context, id int64, reason, actor string, detect bench.DetectFunc) error
	RestoreRun(ctx context.Context, id int64, reason, actor string, detect bench.DetectFunc) error
	WithdrawUpload(ctx context.Context, id int64, reason, actor string, detect bench.DetectFunc) error
	Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error)
	Config(ctx context.Context, id int64) (bench.StoredConfig, error)
	Distributions(ctx context.Context, runs []int64) ([]bench.Distribution, error)
	Varied(ctx context.Context, f bench.VariedFilter) ([]bench.RunFacts, error)
	RunFacts(ctx context.Context, runs []int64) ([]bench.RunFacts, error)
	Breakdowns(ctx context.Context, runs []int64) ([]bench.RunBreakdown, error)
	Seconds(ctx context.Context, q bench.SecondsQuery) ([]bench.Seconds, error)
	Changes(ctx context.Context, f bench.ChangeFilter) (bench.ChangePage, error)
	ChangeTable(ctx context.Context, system string) (p []float64, tested int, err error)
	Change(ctx context.Context, id int64) (bench.ChangeDetail, error)
	PatchChange(ctx context.Context, id int64, p bench.ChangePatch, actor string) (bench.ChangeDetail, error)
	Notes(ctx context.Context, f bench.NoteFilter) ([]bench.Note, error)
	Note(ctx context.Context, id int64) (bench.Note, []bench.NoteRevision, error)
	CreateNote(ctx context.Context, n bench.Note) (bench.Note, error)
	ImportNotes(ctx context.Context, notes []bench.Note, actor string) (written []bench.Note, there int, err error)
	EditNote(ctx context.Context, id int64, revision int, body string, scope bench.NoteScope, actor string) (bench.Note, error)
	DeleteNote(ctx context.Context, id int64, actor string) error
	CreateLink(ctx context.Context, l bench.Link) (bench.Link, error)
	Rename(ctx context.Context, kind bench.NameKind, old, name, actor string) error
	Authenticate(ctx context.Context, token string) (bench.Token, error)
	Ping(ctx context.Context) error
}

// Ingester takes an upload: reads, validates and stores it in one transaction.
// The ingest package satisfies it.
type Ingester interface {
	Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error)
}

// Config is what the API needs. All fields but Detect, Freeze and MaxBody are
// required.
type Config struct {
	Store    Store
	Ingester Ingester
	Detect   bench.DetectFunc // run inside corrections; nil for none
	// Freeze gives what a view is drawn from now, for a frozen link; an address
	// that is no view is an error of kind invalid. nil: there are no frozen links.
	Freeze  func(ctx context.Context, url string) ([]byte, error)
	Logger  *slog.Logger
	Metrics http.Handler // answers /metrics
	Version string       // of relqps, shown in the OpenAPI document
	MaxBody int64        // bytes of an upload as sent; 0 means [MaxBodyDefault]
}

// MaxBodyDefault bounds an upload as sent. What it may grow to when unpacked is
// bounded by the ingester.
const MaxBodyDefault = 64 << 20

type server struct {
	Config
	cache compare.Cache
}

// Register adds the API's routes to a router. It panics on a programming error
// in the description of an operation, as huma does.
func Register(r chi.Router, c Config) {
	if c.MaxBody == 0 {
		c.MaxBody = MaxBodyDefault
	}
	if c.Freeze == nil {
		c.Freeze = func(context.Context, string) ([]byte, error) {
			return nil, bench.Errorf(bench.KindInvalid, "this server makes no frozen links")
		}
	}
	s := &server{Config: c}
	useProblems()
	r.Use(noSniff, s.recoverer, s.checkQuery, compress("application/json", "text/csv", "application/openapi+json"))

	config := huma.DefaultConfig("relqps", c.Version)
	config.Info.Description = "Results of database benchmarks: upload, read as series relative to a base, correct."
	config.OpenAPIPath = "" // see registerDocs
	// huma's own page loads its script from elsewhere; ours is plain HTML.
	config.DocsPath = ""
	config.SchemasPath = ""
	config.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	config.CreateHooks = nil // no $schema fields in answers: shapes are a contract
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "made by relqps token create"},
	}
	a := humachi.New(r, config)
	a.UseMiddleware(keepPath, refuseRepeats(a))

	s.registerSeries(a)
	s.registerRuns(a)
	s.registerUploads(r, a)
	s.registerSeconds(a)
	s.registerConfigs(a)
	s.registerCompare(a)
	s.registerSweep(a)
	s.registerSets(a)
	s.registerChanges(a)
	s.registerNotes(a)
	s.registerLinks(a)
	s.registerNames(a)
	s.registerOperations(r, a)
	tidy(a.OpenAPI())
	s.registerDocs(r, a)
	r.NotFound(s.notFound)
	r.MethodNotAllowed(s.notAllowed(r))
}

// tidy takes out of the document what huma states of every operation and
// [useProblems] makes untrue.
func tidy(o *huma.OpenAPI) {
	for _, item := range o.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Patch, item.Delete} {
			if op != nil {
				delete(op.Responses, "422")
			}
		}
	}
}

// jsonFormat writes answers as the rest of the package does: < > & are escaped,
// so that an answer is harmless wherever it is embedded.
var jsonFormat = huma.Format{
	Marshal:   func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
	Unmarshal: json.Unmarshal,
}

// compress is chi's middleware with an encoder that takes a third of the time.
// The highest speed still makes a quarter of a series.
func compress(types ...string) func(http.Handler) http.Handler {
	const level = gzip.BestSpeed
	c := middleware.NewCompressor(level, types...)
	c.SetEncoder("gzip", func(w io.Writer, level int) io.Writer {
		z, err := gzip.NewWriterLevel(w, level)
		if err != nil {
			panic(err) // only for an unknown level
		}
		return z
	})
	return c.Handler
}

// noSniff keeps browsers from taking an answer for something else than it says.
func noSniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}
