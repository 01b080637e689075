package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
)

// RunBody is a run as lists show it. It is exported because what describes the
// API looks at exported parts of a detail only.
type RunBody struct {
	ID       int64             `json:"id"`
	URL      string            `json:"url"`
	Key      string            `json:"key" doc:"UUID of the runner, or derived from context and first start"`
	System   string            `json:"system"`
	Suite    string            `json:"suite"`
	Server   string            `json:"server"`
	Workload string            `json:"workload"`
	Config   string            `json:"config"`
	Clients  int               `json:"clients"`
	Build    bench.Build       `json:"build"`
	Assumed  []string          `json:"assumed" doc:"fields of the context that nobody stated"`
	Started  bench.LocalTime   `json:"started" doc:"as printed; with a zone only where one was printed"`
	Campaign *int              `json:"campaign" doc:"number within the server; null for runs without a date, and withdrawn ones"`
	Created  time.Time         `json:"created"`
	State    bench.RecordState `json:"state" enum:"active,failed,withdrawn" doc:"failed: it counts, and nothing of it succeeded"`
	Reason   string            `json:"reason,omitempty"`
	OK       int               `json:"results_ok"`
	Failed   int               `json:"results_failed"`
	NotRun   int               `json:"results_not_run"`
	Warned   int               `json:"results_with_warnings"`
}

// The other shapes of runs. Figures that were not measured are absent.
type (
	runsBody struct {
		Runs []RunBody `json:"runs"`
		Next *string   `json:"next" doc:"cursor of the following page; null on the last"`
	}
	valueBody struct {
		Metric     string  `json:"metric"`
		Unit       string  `json:"unit"`
		Direction  string  `json:"direction"`
		Value      float64 `json:"value"`
		Resolution float64 `json:"resolution,omitempty" doc:"smallest step the source can show"`
		SourceName string  `json:"source_name,omitempty"`
	}
	sourceBody struct {
		Upload int64  `json:"upload"`
		File   string `json:"file"`
		Line   int    `json:"line,omitempty"`
	}
	timeSeriesBody struct {
		Name   string     `json:"name"`
		Unit   string     `json:"unit"`
		StartS float64    `json:"start_s"`
		StepS  float64    `json:"step_s"`
		Values []*float64 `json:"values" doc:"null: missing"`
	}
	resultBody struct {
		ID          int64             `json:"id"`
		Step        string            `json:"step"`
		Threads     int               `json:"threads,omitempty"`
		Role        bench.Role        `json:"role"`
		State       bench.State       `json:"state"`
		Reason      string            `json:"reason,omitempty"`
		Origin      bench.Origin      `json:"origin"`
		Started     bench.LocalTime   `json:"started"`
		Primary     string            `json:"primary,omitempty"`
		PrimaryText string            `json:"primary_text,omitempty" doc:"exactly as printed"`
		Excluded    string            `json:"excluded,omitempty" doc:"why it must not be compared"`
		Counts      bool              `json:"counts" doc:"false: withdrawn, or a matrix figure that gave way to a measured one"`
		Command     string            `json:"command,omitempty"`
		Values      []valueBody       `json:"values"`
		Histograms  []histogramBody   `json:"histograms"`
		TimeSeries  []timeSeriesBody  `json:"time_series"`
		Breakdowns  []bench.Breakdown `json:"breakdowns"`
		Warnings    []bench.Message   `json:"warnings"`
		Sources     []sourceBody      `json:"sources"`
	}
	histogramBody struct {
		Operation string     `json:"operation"`
		Unit      string     `json:"unit"`
		Bounds    []float64  `json:"bounds" doc:"upper bounds of the buckets; the first begins at 0"`
		Counts    []float64  `json:"counts,omitempty" doc:"absent where the source gives percents"`
		Percents  []*float64 `json:"percents,omitempty" doc:"null where the source says no more than nonzero"`
		Nonzero   []int      `json:"nonzero,omitempty" doc:"positions in percents that the source prints as nonzero: more than 0, less than it can print"`
		Count     *float64   `json:"count,omitempty"`
		Min       *float64   `json:"min,omitempty"`
		Max       *float64   `json:"max,omitempty"`
		Average   *float64   `json:"average,omitempty"`
		StdDev    *float64   `json:"stddev,omitempty"`
	}
	historyBody struct {
		At     time.Time         `json:"at"`
		Actor  string            `json:"actor"`
		Action string            `json:"action"`
		Reason string            `json:"reason"`
		Before map[string]string `json:"before"`
		After  map[string]string `json:"after"`
	}
	runDetailBody struct {
		RunBody
		Environment map[string]string `json:"environment"`
		Options     map[string]string `json:"options"`
		Results     []resultBody      `json:"results"`
		Uploads     []int64           `json:"uploads"`
		History     []historyBody     `json:"history"`
	}
)

// runsInput is the query of GET /api/v1/runs.
type runsInput struct {
	System   string   `query:"system"`
	Suite    string   `query:"suite"`
	Server   []string `query:"server,explode"`
	Workload []string `query:"workload,explode"`
	Compiler []string `query:"compiler,explode"`
	Config   []string `query:"config,explode"`
	Version  []string `query:"version,explode"`
	Clients  []int    `query:"clients,explode"`
	Upload   int64    `query:"upload" doc:"runs with a result from this upload"`
	State    string   `query:"state" enum:"active,failed,withdrawn"`
	Limit    int      `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor   string   `query:"cursor" doc:"next of the page before"`
}

// Resolve checks what tags cannot say.
func (in *runsInput) Resolve(huma.Context) []error { return checkClients(in.Clients) }

type runInput struct {
	ID int64 `path:"id"`
}

type patchInput struct {
	ID   int64 `path:"id"`
	Body struct {
		Server   *string `json:"server,omitempty" minLength:"1" maxLength:"200"`
		Workload *string `json:"workload,omitempty" minLength:"1" maxLength:"200"`
		Compiler *string `json:"compiler,omitempty" minLength:"1" maxLength:"200"`
		Config   *string `json:"config,omitempty" maxLength:"200"`
		Withdraw bool    `json:"withdraw,omitempty" doc:"true: the run stops counting"`
		Restore  bool    `json:"restore,omitempty" doc:"true: a withdrawn run counts again"`
		Reason   string  `json:"reason" minLength:"1" maxLength:"2000"`
	}
}

type body[T any] struct{ Body T }

func (s *server) registerRuns(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "runs", Method: http.MethodGet, Path: "/api/v1/runs", Summary: "Runs, newest first", Errors: []int{400},
	}, s.runs)
	huma.Register(a, huma.Operation{
		OperationID: "run", Method: http.MethodGet, Path: "/api/v1/runs/{id}", Summary: "A run with all its figures", Errors: []int{400, 404},
	}, s.run)
	huma.Register(a, huma.Operation{
		OperationID: "correct-run", Method: http.MethodPatch, Path: "/api/v1/runs/{id}", Summary: "Correct, withdraw or restore a run",
		Description: "What was wrong is kept in the run's history with the reason.",
		Security:    []map[string][]string{{"token": {}}}, Errors: []int{400, 401, 403, 404, 409},
		Middlewares: s.require(bench.TokenAdmin),
	}, s.patchRun)
}

func (s *server) runs(ctx context.Context, in *runsInput) (*body[runsBody], error) {
	compilers := make([]string, len(in.Compiler))
	for i, c := range in.Compiler {
		compilers[i] = bench.CompilerName(c)
	}
	workloads := make([]string, len(in.Workload))
	for i, w := range in.Workload {
		workloads[i] = bench.WorkloadName(w)
	}
	page, err := s.Store.Runs(ctx, bench.RunFilter{
		System: in.System, Suite: in.Suite, Servers: in.Server, Workloads: workloads, Compilers: compilers, Configs: in.Config,
		Versions: in.Version, Clients: in.Clients, UploadID: in.Upload, State: bench.RecordState(in.State), Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := runsBody{Runs: make([]RunBody, 0, len(page.Runs))}
	for _, r := range page.Runs {
		b.Runs = append(b.Runs, newRunBody(r))
	}
	if page.Next != "" {
		b.Next = &page.Next
	}
	return &body[runsBody]{b}, nil
}

func (s *server) run(ctx context.Context, in *runInput) (*body[runDetailBody], error) {
	run, err := s.Store.Run(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &body[runDetailBody]{newRunDetailBody(run)}, nil
}

func (s *server) patchRun(ctx context.Context, in *patchInput) (*body[runDetailBody], error) {
	var err error
	patch := bench.RunPatch{Server: in.Body.Server, Workload: in.Body.Workload, Compiler: in.Body.Compiler, Config: in.Body.Config}
	corrects := patch != bench.RunPatch{}
	switch {
	case in.Body.Withdraw && !in.Body.Restore && !corrects:
		err = s.Store.WithdrawRun(ctx, in.ID, in.Body.Reason, actor(ctx), s.Detect)
	case in.Body.Restore && !in.Body.Withdraw && !corrects:
		err = s.Store.RestoreRun(ctx, in.ID, in.Body.Reason, actor(ctx), s.Detect)
	case corrects && !in.Body.Restore && !in.Body.Withdraw:
		if patch.Compiler != nil {
			name := bench.CompilerName(*patch.Compiler)
			patch.Compiler = &name
		}
		if patch.Workload != nil {
			name := bench.WorkloadName(*patch.Workload)
			patch.Workload = &name
		}
		err = s.Store.PatchRun(ctx, in.ID, patch, in.Body.Reason, actor(ctx), s.Detect)
	default:
		err = bench.Errorf(bench.KindInvalid, "say one of: fields to correct (server, workload, compiler, config), withdraw, restore")
	}
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	run, err := s.Store.Run(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &body[runDetailBody]{newRunDetailBody(run)}, nil
}

func newRunBody(r bench.RunSummary) RunBody {
	b := RunBody{
		ID: r.ID, URL: fmt.Sprintf("/runs/%d", r.ID), Key: r.Key, System: r.System, Suite: r.Suite, Server: r.Server, Workload: r.Workload,
		Config: r.Config, Clients: r.Clients, Build: r.Build, Assumed: append([]string{}, r.Assumed...), Started: r.Started,
		Created: r.Created, State: r.Standing(), Reason: r.Reason, OK: r.OK, Failed: r.Failed, NotRun: r.NotRun, Warned: r.Warned,
	}
	if r.Campaign > 0 {
		b.Campaign = &r.Campaign
	}
	return b
}

func newRunDetailBody(r bench.RunDetail) runDetailBody {
	b := runDetailBody{
		RunBody: newRunBody(r.RunSummary), Environment: r.Environment, Options: r.Options,
		Results: make([]resultBody, 0, len(r.Results)), Uploads: []int64{}, History: []historyBody{},
	}
	if b.Environment == nil {
		b.Environment = map[string]string{}
	}
	if b.Options == nil {
		b.Options = map[string]string{}
	}
	for i := range r.Results {
		b.Results = append(b.Results, newResultBody(&r.Results[i]))
	}
	for _, u := range r.Uploads {
		b.Uploads = append(b.Uploads, u.ID)
	}
	for _, h := range r.History {
		b.History = append(b.History, historyBody{h.At, h.Actor, h.Action, h.Reason, h.Before, h.After})
	}
	return b
}

func newHistogramBody(h *bench.Histogram) histogramBody {
	b := histogramBody{
		Operation: h.Operation, Unit: h.Unit, Bounds: h.Bounds, Counts: h.Counts,
		Count: h.Count, Min: h.Min, Max: h.Max, Average: h.Average, StdDev: h.StdDev,
	}
	for i := range h.Percents {
		if h.Percents[i] == bench.PercentNonzero {
			b.Percents, b.Nonzero = append(b.Percents, nil), append(b.Nonzero, i)
			continue
		}
		b.Percents = append(b.Percents, &h.Percents[i])
	}
	return b
}

func newResultBody(r *bench.StoredResult) resultBody {
	b := resultBody{
		ID: r.ID, Step: r.Step.Name, Threads: r.Step.Threads, Role: r.Role, State: r.State, Reason: r.Reason, Origin: r.Origin,
		Started: r.Started, Primary: r.Primary, PrimaryText: r.PrimaryText, Excluded: r.Excluded,
		Counts: !r.Withdrawn && !r.Superseded, Command: r.Command,
		Values: []valueBody{}, Histograms: make([]histogramBody, 0, len(r.Histograms)), TimeSeries: []timeSeriesBody{},
		Breakdowns: append([]bench.Breakdown{}, r.Breakdowns...), Warnings: append([]bench.Message{}, r.Warnings...), Sources: []sourceBody{},
	}
	for i := range r.Histograms {
		b.Histograms = append(b.Histograms, newHistogramBody(&r.Histograms[i]))
	}
	for _, v := range r.Values {
		m, _ := bench.LookupMetric(v.Metric) // stored metrics were known when they were stored
		b.Values = append(b.Values, valueBody{v.Metric, m.Unit, string(m.Direction), v.Number, v.Resolution, v.SourceName})
	}
	for _, t := range r.TimeSeries {
		values := make([]*float64, len(t.Values))
		for i, v := range t.Values {
			if v == v { // NaN marks a missing interval
				values[i] = &t.Values[i]
			}
		}
		b.TimeSeries = append(b.TimeSeries, timeSeriesBody{t.Name, t.Unit, t.StartS, t.StepS, values})
	}
	for _, f := range r.From {
		b.Sources = append(b.Sources, sourceBody{f.UploadID, f.File, f.Line})
	}
	return b
}
