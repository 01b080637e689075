package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

// frozenView says of a request that it is answered from a snapshot.
type frozenView struct {
	path string // of the short link
	view.Frozen
}

type frozenKey struct{}

func frozenOf(ctx context.Context) *frozenView {
	f, _ := ctx.Value(frozenKey{}).(*frozenView)
	return f
}

// makeLink makes a short link to a view: from a form, or from the page script,
// which asks for JSON.
func (s *server) makeLink(w http.ResponseWriter, r *http.Request, who reader) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	l := bench.Link{URL: form.Get("url"), Frozen: form.Get("frozen") != "", Author: who.name}
	if l.Frozen {
		if l.Snapshot, err = Freeze(r.Context(), s.Config, l.URL); err != nil {
			return err
		}
	} else if !strings.HasPrefix(l.URL, "/") || strings.HasPrefix(l.URL, "//") {
		return bench.Errorf(bench.KindInvalid, "a link is to an address of this site, not to %q", l.URL)
	}
	if l, err = s.Store.CreateLink(r.Context(), l); err != nil {
		return err
	}
	path := "/s/" + l.Code
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		body, err := json.Marshal(map[string]string{"code": l.Code, "url": path, "address": s.origin(r) + path})
		if err != nil {
			return err
		}
		write(w, http.StatusCreated, "application/json", body)
		return nil
	}
	p := view.LinkPage{Address: s.origin(r) + path, Path: path, Target: localPath(l.URL), Kind: "live: shows what is known when it is opened"}
	if l.Frozen {
		p.Kind = "frozen: keeps the figures of now"
	}
	p.Page = s.frame(r, "Short link", "")
	s.render(w, r, http.StatusCreated, view.ShortLink(p))
	return nil
}

// shortLink answers a short link: a live one leads to its view, a frozen one is
// the view as it was.
func (s *server) shortLink(w http.ResponseWriter, r *http.Request) {
	code := chi.URLParam(r, "code")
	if s.Store == nil || len(code) > 32 {
		s.problem(w, r, bench.Errorf(bench.KindNotFound, "There is no link %q.", code))
		return
	}
	l, err := s.Store.Link(r.Context(), code)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	if !l.Frozen {
		http.Redirect(w, r, localPath(l.URL), http.StatusFound)
		return
	}
	s.serveFrozen(w, r, l)
}
