package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/localpg"
	"github.com/relqps/relqps/internal/sample"
	"github.com/relqps/relqps/web"
)

//go:embed LICENSE
var licence string

// Limits of the HTTP server. Uploads set longer ones for themselves.
const (
	readHeaderTime = 10 * time.Second
	readTime       = 30 * time.Second
	writeTime      = 60 * time.Second
	idleTime       = 2 * time.Minute
	maxHeader      = 64 << 10
	drainTime      = 10 * time.Second // for requests under way when the server stops
)

// serveCommand starts the server.
type serveCommand struct {
	databaseFlags
	Addr    string `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8080" env:"RELQPS_ADDR"`
	Migrate bool   `help:"Bring an older schema up to date first."`
	// Behind a proxy requests name another host, or come without TLS.
	PublicURL string `help:"Address under which people reach this server, for links and previews; without it the one their requests name." placeholder:"URL" env:"RELQPS_PUBLIC_URL"`
}

// Help is shown by relqps serve --help.
func (serveCommand) Help() string {
	return `Example: relqps serve --addr 127.0.0.1:8080 --database-url postgres://relqps@db/relqps`
}

// Run serves until the context ends.
func (c serveCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	return serve(ctx, s.out, log, c, nil, nil)
}

// demoCommand starts a server with sample data.
type demoCommand struct {
	Addr    string `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8080" env:"RELQPS_ADDR"`
	DataDir string `help:"Directory of the private Postgres." placeholder:"DIR" env:"RELQPS_DATA_DIR" type:"path"`
}

// Help is shown by relqps demo --help.
func (demoCommand) Help() string {
	return `Example: relqps demo --addr 127.0.0.1:8080. What is ingested into the same data directory stays there and is shown beside the sample data.`
}

// Run serves a private database that holds the sample data.
func (c demoCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	settings := serveCommand{databaseFlags: databaseFlags{DataDir: c.DataDir}, Addr: c.Addr, Migrate: true}
	load := func(d *database) error {
		if err := sample.Load(ctx, ingest.Ingester{Store: d.store, Detect: compare.Detect}); err != nil {
			return err
		}
		return sample.LoadNotes(ctx, d.store)
	}
	return serve(ctx, s.out, log, settings, load, func(d *database, address string) (string, error) {
		code, err := d.store.CreateSignIn(ctx, demoName, bench.TokenAnnotator)
		return fmt.Sprintf("relqps: to write notes, sign in once within an hour: %s/sign-in?once=%s", address, code), err
	})
}

// demoName is whom the one-time address of a demo signs in.
const demoName = "demo"

// serve opens the database, prepares it, and answers requests until ctx ends or
// the private Postgres dies. The ready line goes to out once requests are taken,
// with what ready has to say after it; prepare and ready may be nil.
func serve(ctx context.Context, out io.Writer, log *slog.Logger, c serveCommand, prepare func(*database) error, ready func(d *database, address string) (string, error)) (err error) {
	// Before anything else: a second server on an address finds out at once.
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	address := listener.Addr().String()

	d, err := c.open(ctx, log, localpg.Server, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(log)) }()
	if err := d.requireSchema(ctx, c.Migrate); err != nil {
		return err
	}
	if prepare != nil {
		if err := prepare(d); err != nil {
			return err
		}
	}
	handler, err := newSite(d, log, c.PublicURL)
	if err != nil {
		return err
	}
	said := ""
	if ready != nil {
		if said, err = ready(d, "http://"+address); err != nil {
			return err
		}
	}
	// Ends what requests still do when there is no more time to wait for them.
	working, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	server := &http.Server{
		BaseContext: func(net.Listener) context.Context { return working },
		Handler:     handler, ReadHeaderTimeout: readHeaderTime, ReadTimeout: readTime, WriteTimeout: writeTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintf(out, "relqps: listening on http://%s\n", address)
	if said != "" {
		fmt.Fprintln(out, said)
	}

	var died <-chan struct{}
	if d.cluster != nil {
		died = d.cluster.Done()
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-died:
		err = d.cluster.Err()
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if stopErr := server.Shutdown(drain); stopErr != nil {
		log.Warn("requests were cut off", "error", stopErr)
		// Without this the database would be closed after them, which may be long.
		giveUp()
		_ = server.Close() // the requests are lost either way
	}
	return err
}

// newHandler puts API and pages over one store.
func newHandler(d *database, log *slog.Logger) (http.Handler, error) { return newSite(d, log, "") }

// newSite is newHandler for a server that people reach under another address than
// their requests name.
func newSite(d *database, log *slog.Logger, publicURL string) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	site := web.Config{Source: d.store, Store: d.store, Logger: log, Version: version, PublicURL: publicURL, Credits: credits(d, log), Licence: licence}
	pages, err := web.New(site)
	if err != nil {
		return nil, err
	}
	calls := chi.NewRouter()
	api.Register(calls, api.Config{
		Store: d.store, Ingester: ingest.Ingester{Store: d.store, Detect: compare.Detect}, Detect: compare.Detect, Logger: log, Version: versionText(),
		Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		Freeze:  func(ctx context.Context, url string) ([]byte, error) { return web.Freeze(ctx, site, url) },
	})
	current := web.CurrentNames(calls, d.store.FormerNames, log)
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	for _, path := range []string{"/api/", "/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, current)
	}
	return middleware.RequestID(observe(mux, log, registry)), nil
}

// observe logs every request under its route and counts it.
func observe(next http.Handler, log *slog.Logger, registry *prometheus.Registry) http.Handler {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "relqps_http_request_seconds", Help: "Time to answer, by route and status class.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 5, 30},
	}, []string{"route", "status"})
	registry.MustRegister(seconds)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		// The routers below fill this in; a raw path would make a label of its own.
		route := chi.NewRouteContext()
		r = r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, route))
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(ww, r)
		pattern := route.RoutePattern()
		if pattern == "" {
			pattern = "other"
		}
		took := time.Since(begun)
		seconds.WithLabelValues(pattern, fmt.Sprintf("%dxx", ww.Status()/100)).Observe(took.Seconds())
		log.Info("request", "method", r.Method, "route", pattern, "status", ww.Status(), "bytes", ww.BytesWritten(),
			"ms", float64(took.Microseconds())/1000, "request", middleware.GetReqID(r.Context()))
	})
}

// credits gives the sources that stored figures name.
func credits(d *database, log *slog.Logger) func(context.Context) []web.Credit {
	return func(ctx context.Context) []web.Credit {
		stored, err := d.store.Credits(ctx)
		if err != nil {
			log.Error("read credits", "error", err) // the page is worth more than its foot
			return nil
		}
		var out []web.Credit
		for _, c := range stored {
			out = append(out, web.Credit{Text: c.Name, URL: c.URL})
		}
		return out
	}
}

// healthCommand asks a server whether it is ready.
type healthCommand struct {
	URL string `help:"Address to ask." default:"http://127.0.0.1:8080/readyz"`
}

// Run fails unless the address answers 200.
func (c healthCommand) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", c.URL, resp.Status)
	}
	return nil
}
