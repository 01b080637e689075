package api

import (
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/relqps/relqps/internal/bench"
)

// requestInfo is what a log line about a request needs.
type requestInfo struct {
	path, id string
}

func infoOf(ctx huma.Context) requestInfo {
	u := ctx.URL()
	return requestInfo{path: u.Path, id: middleware.GetReqID(ctx.Context())}
}

// trimPlace makes the place of a message from its rendering, which ends in the
// separator of a text that is empty here.
func trimPlace(s string) string { return strings.TrimSuffix(s, ": ") }

// bearer gives the token of an Authorization header, "" without one.
func bearer(header string) string {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// authorized is embedded in the input of operations that write.
type authorized struct {
	Authorization string `header:"Authorization" doc:"Bearer TOKEN"`
	request       requestInfo
}

// Resolve keeps what logging an error needs.
func (a *authorized) Resolve(ctx huma.Context) []error {
	a.request = infoOf(ctx)
	return nil
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
