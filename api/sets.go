package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// setsInput is the query of a comparison of two sets: what is a. or b. is of one.
type setsInput struct {
	ASystem   string   `query:"a.system"`
	ASuite    string   `query:"a.suite"`
	AServer   []string `query:"a.server,explode"`
	AWorkload []string `query:"a.workload,explode"`
	ACompiler []string `query:"a.compiler,explode" doc:"a space is read as +"`
	AConfig   []string `query:"a.config,explode" doc:"-: runs without one"`
	AClients  []int    `query:"a.clients,explode"`
	AVersion  []string `query:"a.version,explode"`
	AFrom     string   `query:"a.from" doc:"oldest version, inclusive"`
	ATo       string   `query:"a.to" doc:"newest version, inclusive"`
	ARun      []int64  `query:"a.run,explode"`
	BSystem   string   `query:"b.system"`
	BSuite    string   `query:"b.suite"`
	BServer   []string `query:"b.server,explode"`
	BWorkload []string `query:"b.workload,explode"`
	BCompiler []string `query:"b.compiler,explode"`
	BConfig   []string `query:"b.config,explode"`
	BClients  []int    `query:"b.clients,explode"`
	BVersion  []string `query:"b.version,explode"`
	BFrom     string   `query:"b.from"`
	BTo       string   `query:"b.to"`
	BRun      []int64  `query:"b.run,explode"`
	System    string   `query:"system" doc:"of both; likewise the following"`
	Suite     string   `query:"suite"`
	Server    []string `query:"server,explode"`
	Workload  []string `query:"workload,explode"`
	Compiler  []string `query:"compiler,explode"`
	Config    []string `query:"config,explode"`
	Clients   []int    `query:"clients,explode"`
	Version   []string `query:"version,explode"`
	From      string   `query:"from"`
	To        string   `query:"to"`
	Step      []string `query:"step,explode"`
	Metric    string   `query:"metric" doc:"without one each step is compared by the metric that decides it"`
}

// Resolve checks what tags cannot say.
func (in *setsInput) Resolve(huma.Context) []error {
	errs := append(checkClients(in.Clients), append(checkClients(in.AClients), checkClients(in.BClients)...)...)
	if _, ok := bench.LookupMetric(in.Metric); !ok && in.Metric != "" {
		errs = append(errs, &huma.ErrorDetail{Location: "query.metric", Message: "no such metric", Value: in.Metric})
	}
	return errs
}

// orBoth gives what is said of one set, else what is said of both.
func orBoth[T any](own, both []T) []T {
	if len(own) > 0 {
		return own
	}
	return both
}

func (in *setsInput) query() compare.SetsQuery {
	or := func(own, both string) string {
		if own != "" {
			return own
		}
		return both
	}
	configs := func(list []string) []string {
		return each(list, func(c string) string {
			if c == "-" {
				return ""
			}
			return c
		})
	}
	return compare.SetsQuery{
		A: compare.SetQuery{
			System: or(in.ASystem, in.System), Suite: or(in.ASuite, in.Suite), Servers: orBoth(in.AServer, in.Server), Workloads: each(orBoth(in.AWorkload, in.Workload), bench.WorkloadName),
			Compilers: each(orBoth(in.ACompiler, in.Compiler), bench.CompilerName), Configs: configs(orBoth(in.AConfig, in.Config)), Clients: orBoth(in.AClients, in.Clients),
			Versions: orBoth(in.AVersion, in.Version), From: or(in.AFrom, in.From), To: or(in.ATo, in.To), Runs: in.ARun,
		},
		B: compare.SetQuery{
			System: or(in.BSystem, in.System), Suite: or(in.BSuite, in.Suite), Servers: orBoth(in.BServer, in.Server), Workloads: each(orBoth(in.BWorkload, in.Workload), bench.WorkloadName),
			Compilers: each(orBoth(in.BCompiler, in.Compiler), bench.CompilerName), Configs: configs(orBoth(in.BConfig, in.Config)), Clients: orBoth(in.BClients, in.Clients),
			Versions: orBoth(in.BVersion, in.Version), From: or(in.BFrom, in.From), To: or(in.BTo, in.To), Runs: in.BRun,
		},
		Steps: in.Step, Metric: in.Metric,
	}
}

// The shapes of the answer.
type (
	setFigureBody struct {
		N       int       `json:"n"`
		Value   float64   `json:"value" doc:"median of the samples"`
		Samples []float64 `json:"samples"`
		Runs    []int64   `json:"runs"`
		Flagged bool      `json:"flagged,omitempty" doc:"not to be compared: see the warnings of its runs"`
	}
	setRowBody struct {
		bench.Coordinate
		Version      string        `json:"version" doc:"empty where the sets are of different versions"`
		Metric       metricBody    `json:"metric"`
		A            setFigureBody `json:"a"`
		B            setFigureBody `json:"b"`
		Relative     *float64      `json:"relative" doc:"b / a; null where there is none, see reason"`
		RelativeLow  *float64      `json:"relative_low" doc:"95 % interval; null where the noise is unknown"`
		RelativeHigh *float64      `json:"relative_high"`
		Reason       string        `json:"reason,omitempty" doc:"why there is no ratio: n/a (baseline 0)"`
		Verdict      string        `json:"verdict" enum:"better,worse,undecided,moved,"`
		Score        *float64      `json:"effect_over_noise" doc:"null where the noise is unknown"`
	}
	setOnlyBody struct {
		bench.Coordinate
		Version string     `json:"version"`
		Metric  metricBody `json:"metric"`
		Set     string     `json:"set" enum:"a,b"`
		N       int        `json:"n"`
		Value   float64    `json:"value"`
	}
	setMeanBody struct {
		Direction string   `json:"direction"`
		Rows      int      `json:"rows"`
		Relative  *float64 `json:"relative" doc:"geometric mean of the ratios"`
		Low       *float64 `json:"relative_low"`
		High      *float64 `json:"relative_high"`
		Better    int      `json:"better"`
		Worse     int      `json:"worse"`
		Undecided int      `json:"undecided"`
		Moved     int      `json:"moved"`
		Unknown   int      `json:"noise_unknown"`
		LeftOut   int      `json:"left_out" doc:"not to be compared, or with a baseline of 0"`
		Text      string   `json:"text"`
	}
	setDiffersBody struct {
		Kind   string   `json:"kind" enum:"run,build,host,option"`
		Name   string   `json:"name"`
		A      []string `json:"a" doc:"every value that the runs of A have; empty: none says it"`
		B      []string `json:"b"`
		Change string   `json:"change" enum:"added,removed,changed"`
	}
	compareSetsBody struct {
		Means    []setMeanBody    `json:"means" doc:"one for each direction of metrics"`
		Rows     []setRowBody     `json:"rows" doc:"by effect over noise"`
		OneSided []setOnlyBody    `json:"one_sided"`
		Differs  []setDiffersBody `json:"differs"`
		Apart    []string         `json:"apart" doc:"what rows are matched without, because the sets differ in it"`
		Pooled   []string         `json:"pooled" doc:"what rows hold several of, in words"`
	}
)

func (s *server) registerSets(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "compare-sets", Method: http.MethodGet, Path: "/api/v1/compare/sets", Summary: "Any set of runs against any other",
		Description: "Set B divided by set A, row by row. Keys without a prefix are of both sets. Rows are matched by all that the sets were chosen alike in; " +
			"those of one side only are listed, with what differs between the runs.",
		Errors: []int{400},
	}, s.compareSets)
}

func (s *server) compareSets(ctx context.Context, in *setsInput) (*body[compareSetsBody], error) {
	q := in.query()
	if q.A.Empty() && q.B.Empty() {
		return nil, s.fail(ctx, bench.Errorf(bench.KindInvalid, "nothing says which runs the sets are of: a.version=…&b.version=…, for example"))
	}
	c, err := compare.ReadSets(ctx, s.Store, q, &s.cache)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := compareSetsBody{Means: []setMeanBody{}, Rows: []setRowBody{}, OneSided: []setOnlyBody{}, Differs: []setDiffersBody{}, Apart: orEmpty(c.Apart), Pooled: orEmpty(c.Pooled)}
	metric := func(m bench.Metric) metricBody { return metricBody{m.Name, m.Unit, string(m.Direction)} }
	for i := range c.Means {
		m := &c.Means[i]
		y := setMeanBody{
			Direction: string(m.Direction), Rows: m.Rows, Low: m.Low, High: m.High, Better: m.Better, Worse: m.Worse, Undecided: m.Undecided, Moved: m.Moved,
			Unknown: m.NoVerdict, LeftOut: m.LeftOut, Text: m.Sentence(),
		}
		if m.Rows > 0 {
			y.Relative = &m.Ratio
		}
		b.Means = append(b.Means, y)
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		row := setRowBody{
			Coordinate: r.Coordinate, Version: r.Version, Metric: metric(r.Metric),
			A:        setFigureBody{r.A.N, r.A.Value, orEmpty(r.SamplesA), orEmpty(r.A.Runs), r.A.Flagged},
			B:        setFigureBody{r.B.N, r.B.Value, orEmpty(r.SamplesB), orEmpty(r.B.Runs), r.B.Flagged},
			Relative: r.B.Relative, RelativeLow: r.B.Low, RelativeHigh: r.B.High, Verdict: string(r.Verdict),
		}
		if row.Relative == nil {
			row.Reason = r.Ratio()
		}
		if r.Verdict != compare.NoVerdict {
			row.Score = &r.Score
		}
		b.Rows = append(b.Rows, row)
	}
	for _, x := range c.OneSided {
		b.OneSided = append(b.OneSided, setOnlyBody{x.Coordinate, x.Version, metric(x.Metric), map[string]string{"A": "a", "B": "b"}[x.Side], x.Point.N, x.Point.Value})
	}
	for _, d := range c.Differs {
		b.Differs = append(b.Differs, setDiffersBody{string(d.Kind), d.Name, orEmpty(d.Values[0]), orEmpty(d.Values[1]), string(d.Change)})
	}
	return &body[compareSetsBody]{b}, nil
}
