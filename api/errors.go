package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/relqps/relqps/internal/bench"
)

// status maps the kinds of error to HTTP.
func status(err error) int {
	switch bench.KindOf(err) {
	case bench.KindInvalid:
		return http.StatusBadRequest
	case bench.KindNotFound:
		return http.StatusNotFound
	case bench.KindConflict:
		return http.StatusConflict
	case bench.KindUnauthorized:
		return http.StatusUnauthorized
	case bench.KindForbidden:
		return http.StatusForbidden
	case bench.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case bench.KindUnavailable:
		return http.StatusServiceUnavailable
	}
	if cutOff(err) {
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// cutOff reports whether work was given up because its time was over or nobody
// waits for it any more.
func cutOff(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// problemOf turns an error into what a client may see. An error without a kind
// becomes a fixed sentence: its text may name internals.
func problemOf(err error, requestID string) *huma.ErrorModel {
	code := status(err)
	m := &huma.ErrorModel{Title: http.StatusText(code), Status: code}
	var e *bench.Error
	switch {
	case errors.As(err, &e):
		m.Detail = e.Message
		for _, p := range e.Places {
			m.Errors = append(m.Errors, detailOf(p))
		}
	case cutOff(err):
		m.Detail = "the request took too long and was given up"
	default:
		m.Detail = "something went wrong here; it was logged"
		if requestID != "" {
			m.Detail += " under request " + requestID
		}
	}
	return m
}

// detailOf gives file:line and what is wrong there; the name of a column
// belongs to the words, as in [bench.Message.String].
func detailOf(p bench.Message) *huma.ErrorDetail {
	d := &huma.ErrorDetail{Location: p.File, Message: p.Text}
	if p.Line > 0 {
		d.Location += ":" + strconv.Itoa(p.Line)
	}
	if p.Column != "" {
		d.Message = p.Column + ": " + d.Message
	}
	return d
}

// fail is what handlers return: huma writes it as problem+json. Unknown errors
// are logged here in full, with the request's id.
func (s *server) fail(ctx context.Context, err error) error {
	path, _ := ctx.Value(pathKey{}).(string)
	return s.logged(path, middleware.GetReqID(ctx), err)
}

// problem writes an error outside of huma's handlers.
func (s *server) problem(w http.ResponseWriter, r *http.Request, err error) {
	m := s.logged(r.URL.Path, middleware.GetReqID(r.Context()), err)
	if m.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	s.writeProblem(w, r, m)
}

// logged gives the problem document of an error and logs what is not the
// client's doing.
func (s *server) logged(path, requestID string, err error) *huma.ErrorModel {
	m := problemOf(err, requestID)
	switch {
	case errors.Is(err, context.Canceled):
		s.Logger.Info("client went away", "path", path, "request", requestID)
	case m.Status >= 500:
		s.Logger.Error("api request failed", "path", path, "request", requestID, "error", err)
	}
	return m
}

func (s *server) writeProblem(w http.ResponseWriter, r *http.Request, m *huma.ErrorModel) {
	body, err := json.Marshal(m)
	if err != nil {
		s.Logger.Error("encode problem", "error", err)
		body = []byte(`{"title":"Internal Server Error","status":500}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Del("Content-Length") // of the answer that was on its way
	h.Del("Content-Disposition")
	w.WriteHeader(m.Status)
	if _, err := w.Write(body); err != nil {
		s.Logger.Info("client went away", "path", r.URL.Path, "error", err)
	}
}

// notFound and notAllowed answer addresses and methods that no route has.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	s.problem(w, r, bench.Errorf(bench.KindNotFound, "no such address: %s", r.URL.Path))
}

func (s *server) notAllowed(routes chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
			if routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
				allowed = append(allowed, method)
			}
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.writeProblem(w, r, &huma.ErrorModel{
			Title: http.StatusText(http.StatusMethodNotAllowed), Status: http.StatusMethodNotAllowed,
			Detail: fmt.Sprintf("%s takes %s, not %s", r.URL.Path, strings.Join(allowed, " and "), r.Method),
		})
	}
}

// begun tells whether an answer was begun, after which it cannot become another.
type begun struct {
	http.ResponseWriter
	yes bool
}

func (b *begun) WriteHeader(code int) {
	b.yes = b.yes || code >= 200
	b.ResponseWriter.WriteHeader(code)
}

func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what is below.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// recoverer turns a panic into an internal error. An answer that was begun is
// broken off, so that nobody takes it for a whole one.
func (s *server) recoverer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &begun{ResponseWriter: w}
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p) // net/http's own way to end a response
			}
			s.Logger.Error("panic in the api", "panic", fmt.Sprint(p), "path", r.URL.Path,
				"request", middleware.GetReqID(r.Context()), "stack", string(debug.Stack()))
			if b.yes {
				panic(http.ErrAbortHandler)
			}
			s.writeProblem(w, r, problemOf(errors.New("panic"), middleware.GetReqID(r.Context())))
		}()
		next.ServeHTTP(b, r)
	})
}

var problemHook sync.Once

// useProblems makes huma's own errors fit the contract: invalid input is a 400,
// not a 422; the detail says what is wrong; the order of errors is stable. The
// only way to do that is this package-wide hook of huma.
func useProblems() {
	problemHook.Do(func() {
		next := huma.NewError
		huma.NewError = func(code int, msg string, errs ...error) huma.StatusError {
			if code == http.StatusUnprocessableEntity {
				code = http.StatusBadRequest
			}
			problem := next(code, msg, errs...)
			if m, ok := problem.(*huma.ErrorModel); ok && code < 500 {
				explain(m)
			}
			return problem
		}
	})
}

// explain puts the first errors of a problem into its detail.
func explain(m *huma.ErrorModel) {
	m.Errors = slices.DeleteFunc(m.Errors, func(d *huma.ErrorDetail) bool { return d == nil })
	slices.SortStableFunc(m.Errors, func(a, b *huma.ErrorDetail) int { return cmp.Compare(a.Location, b.Location) })
	const most = 5
	for i, d := range m.Errors {
		switch i {
		case 0:
			m.Detail += ": "
		case most:
			m.Detail += "; …"
			return
		default:
			m.Detail += "; "
		}
		if d.Location != "" {
			m.Detail += d.Location + ": "
		}
		m.Detail += d.Message
	}
}
