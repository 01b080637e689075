package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
)

// The shapes of configs.
type (
	// ConfigBody is a config without its options. It is exported because what
	// describes the API looks at exported parts of a body only.
	ConfigBody struct {
		ID         int64                `json:"id"`
		URL        string               `json:"url"`
		System     string               `json:"system"`
		Name       string               `json:"name"`
		SourceName string               `json:"source_name" doc:"what its first source calls it"`
		Kind       bench.ConfigKind     `json:"kind" enum:"my.cnf,OPTIONS,key=value,variables"`
		Layer      bench.Layer          `json:"layer" enum:"parsed,effective" doc:"parsed: what a file asks for; effective: what a running server says of itself"`
		Settings   int                  `json:"settings" doc:"options that count in comparisons"`
		Aside      int                  `json:"aside" doc:"options that name a place or an instance and do not count"`
		Runs       int                  `json:"runs" doc:"active runs that may have been made with it"`
		Created    time.Time            `json:"created"`
		Sources    []bench.ConfigSource `json:"sources" doc:"files of active uploads"`
		Warnings   []bench.Message      `json:"warnings"`
	}
	optionBody struct {
		Section     string `json:"section"`
		Key         string `json:"key" doc:"lower case, those of column families flattened: cf.default.write_buffer_size"`
		Written     string `json:"written" doc:"as written; empty for a bare flag"`
		Value       string `json:"value" doc:"in the form for comparing: sizes in bytes, ON and OFF"`
		Line        int    `json:"line"`
		Loose       bool   `json:"loose"`
		Environment bool   `json:"environment"`
	}
	configsBody struct {
		Configs []ConfigBody `json:"configs"`
	}
	configDetailBody struct {
		Config  ConfigBody   `json:"config"`
		Options []optionBody `json:"options" doc:"in the order of the file"`
	}
)

type configsInput struct {
	System string   `query:"system"`
	Name   []string `query:"name,explode"`
	Layer  string   `query:"layer" enum:"parsed,effective"`
	// The following say which runs are counted.
	Server   []string `query:"server,explode" doc:"count runs on these servers only"`
	Workload []string `query:"workload,explode" doc:"count runs of these workloads only"`
}

type idInput struct {
	ID int64 `path:"id"`
}

func (s *server) registerConfigs(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "configs", Method: http.MethodGet, Path: "/api/v1/configs", Summary: "Configs",
		Description: "Sets of options as files have them. Several sets may share a system and a name, which is all that runs say.", Errors: []int{400},
	}, s.configs)
	huma.Register(a, huma.Operation{
		OperationID: "config", Method: http.MethodGet, Path: "/api/v1/configs/{id}", Summary: "A config with its options", Errors: []int{400, 404},
	}, s.config)
}

func (s *server) configs(ctx context.Context, in *configsInput) (*body[configsBody], error) {
	list, err := s.Store.Configs(ctx, bench.ConfigFilter{
		System: in.System, Names: in.Name, Layer: bench.Layer(in.Layer), Servers: in.Server, Workloads: each(in.Workload, bench.WorkloadName),
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := configsBody{Configs: []ConfigBody{}}
	for i := range list {
		b.Configs = append(b.Configs, newConfigBody(&list[i]))
	}
	return &body[configsBody]{b}, nil
}

func (s *server) config(ctx context.Context, in *idInput) (*body[configDetailBody], error) {
	c, err := s.Store.Config(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := configDetailBody{Config: newConfigBody(&c), Options: []optionBody{}}
	for _, o := range c.Options {
		b.Options = append(b.Options, optionBody{o.Section, o.Key, o.Written, o.Value, o.Line, o.Loose, o.Environment})
	}
	return &body[configDetailBody]{b}, nil
}

func newConfigBody(c *bench.StoredConfig) ConfigBody {
	return ConfigBody{
		ID: c.ID, URL: configURL(c.ID), System: c.System, Name: c.Name, SourceName: c.SourceName, Kind: c.Kind, Layer: c.Layer,
		Settings: c.Settings, Aside: c.Aside, Runs: c.Runs, Created: c.Created, Sources: orEmpty(c.From), Warnings: orEmpty(c.Warnings),
	}
}

// orEmpty gives [] in JSON where there is nothing.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
