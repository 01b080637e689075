package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
)

// secondsRuns bounds the runs of one answer.
const secondsRuns = 24

type secondsInput struct {
	Run    []int64  `query:"run,explode" required:"true" doc:"numbers of runs, at most 24"`
	Step   string   `query:"step" required:"true"`
	Name   []string `query:"name,explode" doc:"of series, such as qps or max_query_us; without, all"`
	From   int64    `query:"from" minimum:"0" doc:"seconds since the step began: the first interval that is given ends here"`
	To     int64    `query:"to" minimum:"0" doc:"the last one; 0 is the end of the step"`
	Points int      `query:"points" minimum:"1" maximum:"4000" default:"600" doc:"at most so many buckets a line"`
}

// Resolve checks what tags cannot say.
func (in *secondsInput) Resolve(huma.Context) []error {
	var errs []error
	if len(in.Run) > secondsRuns {
		errs = append(errs, &huma.ErrorDetail{Location: "query.run", Message: fmt.Sprintf("at most %d runs", secondsRuns)})
	}
	if in.To > 0 && in.To < in.From {
		errs = append(errs, &huma.ErrorDetail{Location: "query.to", Message: "is before from", Value: in.To})
	}
	return errs
}

// secondsBody is exported in its parts only: see [bench.SecondsLine].
type secondsBody struct {
	Step   string              `json:"step"`
	Series []bench.SecondsLine `json:"series" doc:"in order of name, run and result; a run without a series of the step has none"`
}

func (s *server) registerSeconds(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "seconds", Method: http.MethodGet, Path: "/api/v1/seconds", Summary: "Figures over the seconds of a step",
		Description: "Least, mean and greatest of each bucket of seconds. Bucket b covers bucket intervals of step_s seconds, of which the first ends " +
			"start_s + (first + b·bucket)·step_s seconds after the step began. Its mean is mean[b]·scale, its least value (mean[b] − below[b])·scale, " +
			"its greatest (mean[b] + above[b])·scale. Missing intervals count in none of them. All values as they were measured are at /api/v1/runs/{id}.",
		Errors: []int{400},
	}, s.seconds)
}

func (s *server) seconds(ctx context.Context, in *secondsInput) (*body[secondsBody], error) {
	list, err := s.Store.Seconds(ctx, bench.SecondsQuery{Runs: in.Run, Step: in.Step, Names: in.Name, From: float64(in.From), To: float64(in.To), Points: in.Points})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := secondsBody{Step: in.Step, Series: []bench.SecondsLine{}}
	for _, x := range list {
		b.Series = append(b.Series, x.Line())
	}
	return &body[secondsBody]{b}, nil
}
