package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
)

type linkInput struct {
	Body struct {
		URL    string `json:"url" minLength:"1" maxLength:"8000" doc:"of a view: /charts?…"`
		Frozen bool   `json:"frozen,omitempty" doc:"true keeps the figures of today"`
	}
}

type linkBody struct {
	Code   string `json:"code"`
	URL    string `json:"url"`
	Frozen bool   `json:"frozen"`
}

func (s *server) registerLinks(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "link", Method: http.MethodPost, Path: "/api/v1/links", Summary: "Make a short link to a view",
		DefaultStatus: http.StatusCreated, Errors: []int{400, 401, 403, 413},
		Security: []map[string][]string{{"token": {}}}, Middlewares: s.require(bench.TokenAnnotator),
	}, s.link)
}

func (s *server) link(ctx context.Context, in *linkInput) (*body[linkBody], error) {
	l := bench.Link{URL: in.Body.URL, Frozen: in.Body.Frozen, Author: actor(ctx)}
	if in.Body.Frozen {
		var err error
		if l.Snapshot, err = s.Freeze(ctx, in.Body.URL); err != nil {
			return nil, s.fail(ctx, err)
		}
	}
	l, err := s.Store.CreateLink(ctx, l)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &body[linkBody]{linkBody{l.Code, "/s/" + l.Code, l.Frozen}}, nil
}
