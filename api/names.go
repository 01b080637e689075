package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
)

type renameInput struct {
	Body struct {
		Kind string `json:"kind" enum:"server,workload,config"`
		Old  string `json:"old" minLength:"1" maxLength:"200"`
		New  string `json:"new" minLength:"1" maxLength:"200"`
	}
}

type renamedBody struct {
	Kind bench.NameKind `json:"kind"`
	Old  string         `json:"old"`
	New  string         `json:"new"`
}

func (s *server) registerNames(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "rename", Method: http.MethodPost, Path: "/api/v1/names", Summary: "Rename a server, a workload or a config",
		Description: "Addresses and uploads with the old name go on to work.",
		Errors:      []int{400, 401, 403, 404, 409}, Security: []map[string][]string{{"token": {}}}, Middlewares: s.require(bench.TokenAdmin),
	}, s.rename)
}

func (s *server) rename(ctx context.Context, in *renameInput) (*body[renamedBody], error) {
	kind := bench.NameKind(in.Body.Kind)
	if err := s.Store.Rename(ctx, kind, in.Body.Old, in.Body.New, actor(ctx)); err != nil {
		return nil, s.fail(ctx, err)
	}
	return &body[renamedBody]{renamedBody{kind, in.Body.Old, in.Body.New}}, nil
}
