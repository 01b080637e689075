package web

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

// statusOf gives the status and heading of an error's kind.
func statusOf(err error) (status int, heading string) {
	switch bench.KindOf(err) {
	case bench.KindInvalid:
		return http.StatusBadRequest, "This address cannot be answered"
	case bench.KindNotFound:
		return http.StatusNotFound, "Not found"
	case bench.KindConflict:
		return http.StatusConflict, "Contradiction"
	case bench.KindUnauthorized:
		return http.StatusUnauthorized, "Sign in first"
	case bench.KindForbidden:
		return http.StatusForbidden, "Not allowed"
	case bench.KindTooLarge:
		return http.StatusRequestEntityTooLarge, "Too large"
	case bench.KindUnavailable:
		return http.StatusServiceUnavailable, "The database is away"
	}
	return http.StatusInternalServerError, "Something went wrong here"
}

// problemText gives the status of an error and the message that may be shown.
func problemText(err error) (status int, message string) {
	if err == nil {
		return http.StatusOK, ""
	}
	p := newProblemPage(err, "")
	return p.Status, p.Message
}

// newProblemPage builds the page of an error. Only messages that were written for
// people are shown; of others only the request's id.
func newProblemPage(err error, request string) view.ProblemPage {
	status, heading := statusOf(err)
	p := view.ProblemPage{
		Status: status, Heading: heading,
		Links: []view.Link{{Text: "Home", Href: "/"}, {Text: "Charts", Href: "/charts"}, {Text: "Runs", Href: "/runs"}},
	}
	var known *bench.Error
	if status != http.StatusInternalServerError && errors.As(err, &known) {
		p.Message = known.Message
		for _, place := range known.Places {
			p.Places = append(p.Places, place.String())
		}
	} else {
		p.Message = "An internal error; it was logged."
	}
	if status >= http.StatusInternalServerError {
		p.Request = request
	}
	return p
}

// problem answers with the page of an error and logs it: what the server is to
// blame for as an error, the rest as information.
func (s *server) problem(w http.ResponseWriter, r *http.Request, err error) {
	request := middleware.GetReqID(r.Context())
	p := newProblemPage(err, request)
	log := s.Logger.Info
	if p.Status >= http.StatusInternalServerError {
		log = s.Logger.Error
	}
	log("page failed", "path", r.URL.Path, "status", p.Status, "request", request, "error", err)
	p.Page = s.frame(r, p.Heading, "")
	if p.Status == http.StatusUnauthorized && p.Page.SignIn != "" {
		p.Links = append([]view.Link{{Text: "Sign in", Href: p.Page.SignIn}}, p.Links...)
	}
	var b bytes.Buffer
	if err := view.Problem(p).Render(r.Context(), &b); err != nil {
		s.Logger.Error("the page of an error failed", "request", request, "error", err)
		http.Error(w, p.Heading, p.Status)
		return
	}
	write(w, p.Status, "text/html; charset=utf-8", b.Bytes())
}

func (s *server) notFound(r *http.Request) (templ.Component, error) {
	return nil, bench.Errorf(bench.KindNotFound, "There is no page at %s.", r.URL.Path)
}

// notAllowed answers requests that no page takes.
func (s *server) notAllowed(w http.ResponseWriter, r *http.Request) {
	p := newProblemPage(bench.Errorf(bench.KindInvalid, "%s %s: pages are read with GET and written to by their own forms; the API takes uploads and corrections.", r.Method, r.URL.Path), "")
	p.Status, p.Heading = http.StatusMethodNotAllowed, "Not this way"
	p.Page = s.frame(r, p.Heading, "")
	w.Header().Set("Allow", http.MethodGet)
	s.render(w, r, p.Status, view.Problem(p))
}
