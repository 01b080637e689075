package api

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// seriesInput is the query of GET /api/v1/series.
type seriesInput struct {
	System       string   `query:"system" doc:"such as rocksdb"`
	Suite        string   `query:"suite"`
	Server       []string `query:"server,explode"`
	Workload     []string `query:"workload,explode"`
	Step         []string `query:"step,explode"`
	Compiler     []string `query:"compiler,explode" doc:"a space is read as +"`
	Config       []string `query:"config,explode"`
	Clients      []int    `query:"clients,explode" doc:"clients of the run"`
	Metric       string   `query:"metric" default:"qps"`
	Base         string   `query:"base" doc:"version that is 1.00"`
	BaseCompiler string   `query:"base_compiler" doc:"divide by this compiler's series; without base by its point at the same version"`
	BaseConfig   string   `query:"base_config" doc:"divide by this config's series; without base by its point at the same version"`
	From         string   `query:"from" doc:"oldest version given"`
	To           string   `query:"to" doc:"newest version given"`
	Family       string   `query:"family" enum:"0,1" doc:"1 joins step families (overwrite and overwriteandwait)"`
	Format       string   `query:"format" enum:"json,csv" default:"json"`
}

// Resolve checks what tags cannot say.
func (in *seriesInput) Resolve(huma.Context) []error { return checkClients(in.Clients) }

func (in *seriesInput) query() compare.Query {
	compilers := make([]string, len(in.Compiler))
	for i, c := range in.Compiler {
		compilers[i] = bench.CompilerName(c)
	}
	workloads := make([]string, len(in.Workload))
	for i, w := range in.Workload {
		workloads[i] = bench.WorkloadName(w)
	}
	return compare.Query{
		Filter: bench.SeriesFilter{
			System: in.System, Suite: in.Suite, Servers: in.Server, Workloads: workloads, Steps: in.Step,
			Compilers: compilers, Configs: in.Config, Clients: in.Clients, Metric: in.Metric,
		},
		Options: compare.Options{
			Base: compare.Base{Version: in.Base, Compiler: bench.CompilerName(in.BaseCompiler), Config: in.BaseConfig},
			From: in.From, To: in.To, JoinFamilies: in.Family == "1",
		},
	}
}

// The shapes of the answer. Fields without omitempty are a contract.
type (
	metricBody struct {
		Name      string `json:"name"`
		Unit      string `json:"unit"`
		Direction string `json:"direction"`
	}
	noiseBody struct {
		// SD is the standard deviation of ln(value) from run to run.
		SD     float64 `json:"sd"`
		Method string  `json:"method" doc:"repeats or neighbours"`
	}
	pointBody struct {
		Version      string   `json:"version"`
		N            int      `json:"n"`
		Value        float64  `json:"value" doc:"median of the samples"`
		Min          float64  `json:"min"`
		Max          float64  `json:"max"`
		Relative     *float64 `json:"relative" doc:"value / base; null without a base, never 0 instead"`
		RelativeLow  *float64 `json:"relative_low" doc:"95 % interval; null where the noise is unknown"`
		RelativeHigh *float64 `json:"relative_high"`
		Runs         []int64  `json:"runs"`
		Step         string   `json:"step,omitempty" doc:"with family=1: the step measured here"`
		Mixed        bool     `json:"mixed,omitempty" doc:"samples of different builds: not repeats"`
		Bimodal      bool     `json:"bimodal,omitempty" doc:"the samples fall into two groups: the median says little"`
		Flagged      bool     `json:"flagged,omitempty" doc:"not to be compared: see the warnings of its runs"`
	}
	lineBody struct {
		bench.Coordinate
		BaseValue *float64    `json:"base_value"`
		Noise     *noiseBody  `json:"noise"`
		Points    []pointBody `json:"points"`
	}
	withoutBaseBody struct {
		bench.Coordinate
		Reason string `json:"reason"`
	}
	seriesBody struct {
		Metric      metricBody        `json:"metric"`
		Base        *compare.Base     `json:"base"`
		Series      []lineBody        `json:"series"`
		WithoutBase []withoutBaseBody `json:"without_base"`
	}
)

// TransformSchema tells that base may be null, which huma cannot say of an object.
func (seriesBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "base")
}

// TransformSchema tells that noise may be null.
func (lineBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "noise")
}

// nullable lets a property be null.
func nullable(s *huma.Schema, property string) *huma.Schema {
	s.Properties[property] = &huma.Schema{AnyOf: []*huma.Schema{s.Properties[property], {Type: "null"}}}
	return s
}

func (s *server) registerSeries(a huma.API) {
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[seriesBody](), true, "Series")
	huma.Register(a, huma.Operation{
		OperationID: "series", Method: http.MethodGet, Path: "/api/v1/series",
		Summary:     "Series, absolute and relative to a base",
		Description: "Filters repeat. Points are in version order; what was not measured is absent.",
		Responses: map[string]*huma.Response{"200": {Description: "series", Content: map[string]*huma.MediaType{
			"application/json": {Schema: schema}, "text/csv": {},
		}}},
		Errors: []int{400},
	}, s.series)
}

func (s *server) series(ctx context.Context, in *seriesInput) (*huma.StreamResponse, error) {
	metric, ok := bench.LookupMetric(in.Metric)
	if !ok {
		return nil, s.fail(ctx, bench.Errorf(bench.KindInvalid, "no such metric: %q", in.Metric))
	}
	q := in.query()
	q.Options.Cache = &s.cache
	series, err := s.Store.Series(ctx, q.Fetch())
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	c := q.Answer(series)
	c.Metric = metric // known even when nothing matched
	if in.Format == "csv" {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			hc.SetHeader("Content-Type", "text/csv; charset=utf-8")
			hc.SetHeader("Content-Disposition", `attachment; filename="relqps-`+metric.Name+`.csv"`)
			if err := WriteCSV(hc.BodyWriter(), c); err != nil {
				s.Logger.Info("client went away", "path", "/api/v1/series", "error", err)
			}
		}}, nil
	}
	body, err := json.Marshal(newSeriesBody(c, q.Options.JoinFamilies))
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "application/json")
		if _, err := hc.BodyWriter().Write(body); err != nil {
			s.Logger.Info("client went away", "path", "/api/v1/series", "error", err)
		}
	}}, nil
}

func newSeriesBody(c compare.Comparison, families bool) seriesBody {
	b := seriesBody{
		Metric:      metricBody{c.Metric.Name, c.Metric.Unit, string(c.Metric.Direction)},
		Series:      make([]lineBody, 0, len(c.Lines)),
		WithoutBase: []withoutBaseBody{},
	}
	if c.Base != (compare.Base{}) {
		base := c.Base
		b.Base = &base
	}
	for _, l := range c.Lines {
		line := lineBody{Coordinate: l.Coordinate, BaseValue: l.BaseValue, Points: make([]pointBody, 0, len(l.Points))}
		if l.Noise.OK {
			line.Noise = &noiseBody{l.Noise.SD, l.Noise.Method}
		}
		for _, p := range l.Points {
			q := pointBody{
				Version: p.Version, N: p.N, Value: p.Value, Min: p.Min, Max: p.Max,
				Relative: p.Relative, RelativeLow: p.Low, RelativeHigh: p.High,
				Runs: p.Runs, Mixed: p.Mixed, Bimodal: p.Bimodal, Flagged: p.Flagged,
			}
			if families {
				q.Step = p.Step
			}
			line.Points = append(line.Points, q)
		}
		b.Series = append(b.Series, line)
		if l.WhyNoBase != "" {
			b.WithoutBase = append(b.WithoutBase, withoutBaseBody{l.Coordinate, l.WhyNoBase})
		}
	}
	return b
}

// csvHeader names the columns of the CSV form, in order; add at the end only.
var csvHeader = []string{
	"system", "suite", "server", "workload", "step", "compiler", "config", "clients", "metric", "unit", "direction",
	"version", "n", "value", "min", "max", "base_version", "base_compiler", "base_config", "base_value",
	"relative", "relative_low", "relative_high", "runs", "mixed", "flagged", "bimodal",
}

// WriteCSV writes a comparison with one row a point. Numbers stay numbers;
// text that a spreadsheet would run as a formula is quoted, see [compare.CSVText].
func WriteCSV(w io.Writer, c compare.Comparison) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			runs := make([]string, len(p.Runs))
			for i, id := range p.Runs {
				runs[i] = strconv.FormatInt(id, 10)
			}
			relative := number(p.Relative)
			if l.WhyNoBase == compare.BaseIsZero {
				relative = compare.BaseIsZero
			}
			row := []string{
				compare.CSVText(l.System), compare.CSVText(l.Suite), compare.CSVText(l.Server), compare.CSVText(l.Workload), compare.CSVText(p.Step), compare.CSVText(l.Compiler), compare.CSVText(l.Config),
				strconv.Itoa(l.Clients), compare.CSVText(c.Metric.Name), c.Metric.Unit, string(c.Metric.Direction),
				compare.CSVText(p.Version), strconv.Itoa(p.N), number(&p.Value), number(&p.Min), number(&p.Max),
				compare.CSVText(c.Base.Version), compare.CSVText(c.Base.Compiler), compare.CSVText(c.Base.Config), number(l.BaseValue),
				relative, number(p.Low), number(p.High), strings.Join(runs, " "),
				strconv.FormatBool(p.Mixed), strconv.FormatBool(p.Flagged), strconv.FormatBool(p.Bimodal),
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// number writes a figure in full, with an exponent only where JSON has one; a
// missing one is an empty cell.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	format := byte('f')
	if a := math.Abs(*v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.FormatFloat(*v, format, -1, 64)
}
