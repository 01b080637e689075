package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
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
	return http.StatusInternalServerError
}

// problemOf turns an error into what a client may see. An error without a kind
// becomes a fixed sentence: its text may name internals.
func problemOf(err error) *huma.ErrorModel {
	code := status(err)
	m := &huma.ErrorModel{Title: http.StatusText(code), Status: code, Detail: "something went wrong here; it was logged"}
	var e *bench.Error
	if errors.As(err, &e) {
		m.Detail = e.Message
		for _, p := range e.Places {
			place := bench.Message{File: p.File, Line: p.Line, Column: p.Column}.String()
			m.Errors = append(m.Errors, &huma.ErrorDetail{Location: placeOf(p, place), Message: p.Text})
		}
	}
	return m
}

// placeOf gives file:line, with the column's name where there is one.
func placeOf(m bench.Message, place string) string {
	if m.Column == "" {
		return trimPlace(place)
	}
	return trimPlace(bench.Message{File: m.File, Line: m.Line}.String()) + ":" + m.Column
}

// fail is what handlers return: huma writes it as problem+json. Unknown errors
// are logged here in full, with the request's id.
func (s *server) fail(r requestInfo, err error) error {
	m := problemOf(err)
	if m.Status >= 500 {
		s.Logger.Error("api request failed", "path", r.path, "request", r.id, "error", err)
	}
	return m
}

// problem writes an error outside of huma's handlers.
func (s *server) problem(w http.ResponseWriter, r *http.Request, err error) {
	m := problemOf(err)
	if m.Status >= 500 {
		s.Logger.Error("api request failed", "path", r.URL.Path, "request", middleware.GetReqID(r.Context()), "error", err)
	}
	body, encodeErr := json.Marshal(m)
	if encodeErr != nil {
		s.Logger.Error("encode problem", "error", encodeErr)
		body = []byte(`{"title":"Internal Server Error","status":500}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	if m.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(m.Status)
	if _, err := w.Write(body); err != nil {
		s.Logger.Info("client went away", "path", r.URL.Path, "error", err)
	}
}

// recoverer turns a panic into an internal error.
func (s *server) recoverer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p) // net/http's own way to end a response
			default:
				s.problem(w, r, fmt.Errorf("panic: %v", p))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

var problemStatus sync.Once

// useProblemStatus makes huma answer invalid input with 400: the contract names
// that status, huma's own is 422, and the only way to change it is this
// package-wide hook of huma.
func useProblemStatus() {
	problemStatus.Do(func() {
		next := huma.NewError
		huma.NewError = func(code int, msg string, errs ...error) huma.StatusError {
			if code == http.StatusUnprocessableEntity {
				code = http.StatusBadRequest
			}
			return next(code, msg, errs...)
		}
	})
}
