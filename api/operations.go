package api

import (
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// registerOperations adds what operators poll: /healthz answers while the
// process lives, /readyz while the database answers with the right schema.
func (s *server) registerOperations(r chi.Router, a huma.API) {
	for _, op := range []struct {
		path, summary string
		responses     map[string]*huma.Response
	}{
		{"/healthz", "Whether the process lives", map[string]*huma.Response{"200": {Description: "it does"}}},
		{"/readyz", "Whether the database answers", map[string]*huma.Response{"200": {Description: "it does"}, "503": {Description: "it does not"}}},
		{"/metrics", "Measurements of this server, for Prometheus", map[string]*huma.Response{"200": {Description: "text of Prometheus"}}},
	} {
		a.OpenAPI().AddOperation(&huma.Operation{
			OperationID: op.path[1:], Method: http.MethodGet, Path: op.path, Summary: op.summary, Responses: op.responses,
		})
	}
	both := func(path string, h http.HandlerFunc) { // load balancers ask with HEAD
		r.Get(path, h)
		r.Head(path, h)
	}
	both("/healthz", func(w http.ResponseWriter, req *http.Request) { s.plain(w, req, http.StatusOK, "ok\n") })
	both("/readyz", func(w http.ResponseWriter, req *http.Request) {
		if err := s.Store.Ping(req.Context()); err != nil {
			s.Logger.Error("not ready", "error", err)
			s.plain(w, req, http.StatusServiceUnavailable, "the database does not answer\n")
			return
		}
		s.plain(w, req, http.StatusOK, "ready\n")
	})
	r.Method(http.MethodGet, "/metrics", s.Metrics)
}

func (s *server) plain(w http.ResponseWriter, r *http.Request, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, text); err != nil {
		s.Logger.Info("client went away", "path", r.URL.Path, "error", err)
	}
}
