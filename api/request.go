package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/relqps/relqps/internal/bench"
)

// checkQuery refuses queries that net/url reads in part only, as it would
// silently leave out a filter, and those that hold what is not text.
func (s *server) checkQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			s.problem(w, r, bench.Errorf(bench.KindInvalid, "the query of the address cannot be read: is a %%, & or ; not escaped?"))
			return
		}
		for key, values := range q {
			if !isText(key) {
				s.problem(w, r, bench.Errorf(bench.KindInvalid, "unknown query key %q", key))
				return
			}
			for _, v := range values {
				if !isText(v) {
					s.problem(w, r, bench.Errorf(bench.KindInvalid, "%s holds control characters or is not UTF-8", key))
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }

// refuseRepeats is a middleware for operations: a filter that does not repeat
// and is given twice is an error, not one of the two.
func refuseRepeats(a huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		u := ctx.URL()
		given := u.Query()
		for _, p := range ctx.Operation().Parameters {
			if p.In != "query" || len(given[p.Name]) < 2 || p.Schema != nil && p.Schema.Type == huma.TypeArray {
				continue
			}
			// An error here means that the client went away.
			_ = huma.WriteErr(a, ctx, http.StatusBadRequest, "validation failed",
				&huma.ErrorDetail{Location: "query." + p.Name, Message: "is given more than once"})
			return
		}
		next(ctx)
	}
}

// maxClients bounds a number of clients.
const maxClients = 1_000_000

// checkClients gives an error for each number that no run can have.
func checkClients(clients []int) []error {
	var errs []error
	for _, n := range clients {
		if n < 0 || n > maxClients {
			errs = append(errs, &huma.ErrorDetail{Location: "query.clients", Message: fmt.Sprintf("is from 0 to %d", maxClients), Value: n})
		}
	}
	return errs
}

// bearer gives the token of an Authorization header, "" without one.
func bearer(header string) string {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// What the middlewares of operations leave in the context.
type (
	pathKey  struct{} // the path, for log lines
	tokenKey struct{} // the bench.Token, where one is required
)

// keepPath is a middleware for operations.
func keepPath(ctx huma.Context, next func(huma.Context)) {
	u := ctx.URL()
	next(huma.WithValue(ctx, pathKey{}, u.Path))
}

// require is a middleware for operations that need a role. It runs before the
// input is looked at.
func (s *server) require(role bench.TokenRole) huma.Middlewares {
	return huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		who, err := s.identify(ctx.Context(), ctx.Header("Authorization"), role)
		if err != nil {
			r, w := humachi.Unwrap(ctx)
			s.problem(w, r, err)
			return
		}
		next(huma.WithValue(ctx, tokenKey{}, who))
	}}
}

// actor names who does what [server.require] has let through.
func actor(ctx context.Context) string {
	who, _ := ctx.Value(tokenKey{}).(bench.Token)
	return who.Name
}

// identify gives who asks with an Authorization header, or an error that says
// what is missing for something that needs a role.
func (s *server) identify(ctx context.Context, header string, needed bench.TokenRole) (bench.Token, error) {
	token := bearer(header)
	if token == "" {
		return bench.Token{}, bench.Errorf(bench.KindUnauthorized, "writing needs a token: Authorization: Bearer TOKEN (make one with relqps token create)")
	}
	who, err := s.Store.Authenticate(ctx, token)
	if err != nil {
		return bench.Token{}, err
	}
	if !who.Role.Allows(needed) {
		return bench.Token{}, bench.Errorf(bench.KindForbidden, "this needs a token of role %s; yours is of role %s", needed, who.Role)
	}
	return who, nil
}
