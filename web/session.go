package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

// Store is what pages need of a store beside figures: what people write, their
// sessions, short links, and former names. It is apart from [Source] because a
// frozen view has figures of its own and nothing of this.
type Store interface {
	PatchChange(ctx context.Context, id int64, p bench.ChangePatch, actor string) (bench.ChangeDetail, error)
	CreateNote(ctx context.Context, n bench.Note) (bench.Note, error)
	EditNote(ctx context.Context, id int64, revision int, body string, scope bench.NoteScope, actor string) (bench.Note, error)
	DeleteNote(ctx context.Context, id int64, actor string) error
	CreateLink(ctx context.Context, l bench.Link) (bench.Link, error)
	Link(ctx context.Context, code string) (bench.Link, error)
	CreateSession(ctx context.Context, token string) (cookie string, expires time.Time, err error)
	RedeemSignIn(ctx context.Context, code string) (cookie string, expires time.Time, err error)
	Session(ctx context.Context, cookie string) (bench.Token, error)
	EndSession(ctx context.Context, cookie string) error
	FormerNames(ctx context.Context, names []bench.FormerName) ([]bench.FormerName, error)
}

// sessionCookie is the name of the cookie of a signed-in browser.
const sessionCookie = "relqps_session"

// reader is who looks at a page.
type reader struct {
	name string
	role bench.TokenRole
}

// mayWrite reports whether the reader may write notes, states and links.
func (r reader) mayWrite() bool { return r.role.Allows(bench.TokenAnnotator) }

type readerKey struct{}

// readerOf gives who looks at a page; the zero reader is anybody.
func readerOf(ctx context.Context) reader {
	r, _ := ctx.Value(readerKey{}).(reader)
	return r
}

// recognise finds out who sends a request. A cookie that is no longer worth
// anything makes nobody of them, which is no error.
func (s *server) recognise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie(sessionCookie)
		if s.Store == nil || err != nil || c.Value == "" || len(c.Value) > 200 {
			next.ServeHTTP(w, r)
			return
		}
		token, err := s.Store.Session(r.Context(), c.Value)
		switch {
		case err == nil:
			r = r.WithContext(context.WithValue(r.Context(), readerKey{}, reader{token.Name, token.Role}))
		case bench.KindOf(err) == bench.KindUnauthorized:
			s.forget(w, r)
		default:
			s.problem(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// secure reports whether the browser reaches this server by TLS.
func (s *server) secure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(s.PublicURL, "https://")
}

func (s *server) remember(w http.ResponseWriter, r *http.Request, value string, expires time.Time) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", Expires: expires, HttpOnly: true, Secure: s.secure(r), SameSite: http.SameSiteLaxMode,
	})
}

func (s *server) forget(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: s.secure(r), SameSite: http.SameSiteLaxMode,
	})
}

// localPath gives an address of this site, "/" for anything else: a sign-in must
// not lead elsewhere.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		return "/"
	}
	return to
}

// signInHref is the address of the sign-in that leads back to a page.
func signInHref(to string) string {
	a := address{path: "/sign-in"}
	if to != "/" {
		a.set("next", to)
	}
	return a.String()
}

func (s *server) signInPage(r *http.Request) (templ.Component, error) {
	v, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	p := view.SignInPage{Next: localPath(v.Get("next")), Once: v.Get("once")}
	p.Page = s.frame(r, "Sign in", "")
	return view.SignIn(p), nil
}

// signIn takes a token, or the code of a one-time address, and gives a session.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	next := localPath(form.Get("next"))
	var cookie string
	var expires time.Time
	once := form.Get("once")
	if once != "" {
		cookie, expires, err = s.Store.RedeemSignIn(r.Context(), once)
	} else {
		cookie, expires, err = s.Store.CreateSession(r.Context(), strings.TrimSpace(form.Get("token")))
	}
	if bench.KindOf(err) == bench.KindUnauthorized {
		p := view.SignInPage{Next: next, Error: "This token is not known, or was revoked."}
		if once != "" {
			p.Error = "This address was used before, or is too old: ask for another, or sign in with a token."
		}
		p.Page = s.frame(r, "Sign in", "")
		s.Logger.Info("sign-in refused", "once", once != "", "remote", r.RemoteAddr)
		s.render(w, r, http.StatusUnauthorized, view.SignIn(p))
		return
	}
	if err != nil {
		s.problem(w, r, err)
		return
	}
	s.remember(w, r, cookie, expires)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(sessionCookie); err == nil && c.Value != "" {
		if err := s.Store.EndSession(r.Context(), c.Value); err != nil {
			s.problem(w, r, err)
			return
		}
	}
	s.forget(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// formBytesMax bounds what a form may send.
const formBytesMax = 256 << 10

// readForm reads a form that a page sent.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, formBytesMax)
	if err := r.ParseForm(); err != nil {
		return nil, bench.Errorf(bench.KindInvalid, "the form cannot be read, or is larger than %d KiB", formBytesMax>>10)
	}
	// What a browser sends for a line end is one to Markdown as well.
	for _, values := range r.PostForm {
		for i, v := range values {
			values[i] = strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\r\n", "\n")
			if strings.ContainsRune(values[i], 0) {
				return nil, bench.Errorf(bench.KindInvalid, "a text with a NUL character")
			}
		}
	}
	return r.PostForm, nil
}

// writing lets those through who may write.
func (s *server) writing(h func(w http.ResponseWriter, r *http.Request, who reader) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := readerOf(r.Context())
		var err error
		switch {
		case who.name == "":
			err = bench.Errorf(bench.KindUnauthorized, "Writing needs a sign-in.")
		case !who.mayWrite():
			err = bench.Errorf(bench.KindForbidden, "The token %q may only read.", who.name)
		default:
			err = h(w, r, who)
		}
		if err != nil {
			s.problem(w, r, err)
		}
	}
}
