package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// ArmsInput is the query that comparisons of compilers and of configs share. It is
// exported because what reads queries looks at exported parts only.
type ArmsInput struct {
	System   string   `query:"system"`
	Suite    string   `query:"suite"`
	Server   []string `query:"server,explode"`
	Workload []string `query:"workload,explode"`
	Step     []string `query:"step,explode"`
	Compiler []string `query:"compiler,explode" doc:"a space is read as +"`
	Config   []string `query:"config,explode"`
	Clients  []int    `query:"clients,explode"`
	Version  []string `query:"version,explode" doc:"rows of these versions only"`
	Metric   string   `query:"metric" doc:"without one each step is compared by the metric that decides it: ips for l.* steps, qps for most others"`
}

// Resolve checks what tags cannot say.
func (in *ArmsInput) Resolve(huma.Context) []error {
	errs := checkClients(in.Clients)
	if _, ok := bench.LookupMetric(in.Metric); !ok && in.Metric != "" {
		errs = append(errs, &huma.ErrorDetail{Location: "query.metric", Message: "no such metric", Value: in.Metric})
	}
	return errs
}

func (in *ArmsInput) query(axis compare.Axis, base string) compare.ArmsQuery {
	return compare.ArmsQuery{Axis: axis, Base: base, Filter: bench.SeriesFilter{
		System: in.System, Suite: in.Suite, Servers: in.Server, Workloads: each(in.Workload, bench.WorkloadName), Steps: in.Step,
		Compilers: each(in.Compiler, bench.CompilerName), Configs: in.Config, Clients: in.Clients, Metric: in.Metric,
	}}
}

// wanted reports whether rows of a version were asked for.
func (in *ArmsInput) wanted(version string) bool {
	return len(in.Version) == 0 || slices.ContainsFunc(in.Version, func(v string) bool { return bench.CompareVersions(v, version) == 0 })
}

type compilersInput struct {
	ArmsInput
	BaseCompiler string `query:"base_compiler" default:"gcc" doc:"the compiler whose builds are 1.00"`
	BaseVersion  string `query:"base_version" doc:"divide all by this version of it; without, each by the same version"`
}

type compareConfigsInput struct {
	ArmsInput
	Base string `query:"base" doc:"the config that is 1.00; without, the first by name"`
}

// The shapes of the answers.
type (
	armRowBody struct {
		bench.Coordinate
		Version string        `json:"version"`
		Metric  metricBody    `json:"metric"`
		Cells   []armCellBody `json:"cells" doc:"of the arms that were measured here"`
	}
	armCellBody struct {
		Arm          string         `json:"arm" doc:"the compiler or config"`
		N            int            `json:"n"`
		Value        float64        `json:"value" doc:"median of the samples"`
		Min          float64        `json:"min"`
		Max          float64        `json:"max"`
		Relative     *float64       `json:"relative" doc:"value / base; null without a base, never 0 instead"`
		RelativeLow  *float64       `json:"relative_low" doc:"95 % interval; null where the noise is unknown"`
		RelativeHigh *float64       `json:"relative_high"`
		Verdict      string         `json:"verdict" enum:"better,worse,undecided,moved," doc:"undecided: cannot be told from 1.00; empty where the noise is unknown"`
		Runs         []int64        `json:"runs"`
		Mixed        bool           `json:"mixed,omitempty" doc:"samples of different builds: not repeats"`
		Bimodal      bool           `json:"bimodal,omitempty" doc:"the samples fall into two groups: the median says little"`
		Flagged      bool           `json:"flagged,omitempty" doc:"not to be compared: see the warnings of its runs"`
		Practical    *practicalBody `json:"practical,omitempty"`
	}
	practicalBody struct {
		Worse       bool     `json:"worse"`
		Reasons     []string `json:"reasons"`
		Ratio       *float64 `json:"ratio" doc:"of rates"`
		SecondRatio *float64 `json:"p99_second_ratio"`
		Slow        *float64 `json:"over_4_ms_percent"`
		BaseSlow    *float64 `json:"base_over_4_ms_percent"`
	}
	stabilityBody struct {
		bench.Coordinate
		Versions int        `json:"versions"`
		Noise    *noiseBody `json:"noise" doc:"null where the samples cannot tell it"`
	}
	trendBody struct {
		bench.Coordinate
		BaseCompiler string   `json:"base_compiler"`
		Versions     int      `json:"versions" doc:"that both compilers have"`
		From         string   `json:"from" doc:"the oldest major version"`
		FromRelative *float64 `json:"from_relative"`
		To           string   `json:"to" doc:"the newest version"`
		ToRelative   *float64 `json:"to_relative"`
		Change       *float64 `json:"change" doc:"to_relative / from_relative"`
		ChangeLow    *float64 `json:"change_low"`
		ChangeHigh   *float64 `json:"change_high"`
		Text         string   `json:"text"`
	}
	moveBody struct {
		bench.Coordinate
		BaseCompiler string  `json:"base_compiler"`
		From         string  `json:"from" doc:"a major version or one version"`
		FromRelative float64 `json:"from_relative" doc:"geometric mean over these versions"`
		To           string  `json:"to"`
		ToRelative   float64 `json:"to_relative"`
		Change       float64 `json:"change" doc:"to_relative / from_relative"`
		ChangeLow    float64 `json:"change_low"`
		ChangeHigh   float64 `json:"change_high"`
		Text         string  `json:"text"`
	}
	compareCompilersBody struct {
		Base        compare.Base      `json:"base"`
		Compilers   []string          `json:"compilers" doc:"the base first"`
		Versions    []string          `json:"versions"`
		Rows        []armRowBody      `json:"rows"`
		Stability   []stabilityBody   `json:"stability"`
		Trends      []trendBody       `json:"trends"`
		Moves       []moveBody        `json:"moves" doc:"gaps that moved beyond noise from one stretch of versions to a later one, the clearest first; that there are many pairs of stretches is allowed for"`
		WithoutBase []withoutBaseBody `json:"without_base"`
	}
	settingBody struct {
		Arm     string  `json:"arm"`
		Written *string `json:"written" doc:"null: not set, the server's default holds"`
		Change  string  `json:"change" enum:"added,removed,changed," doc:"against the base; empty: the same"`
	}
	optionRowBody struct {
		bench.OptionName
		Settings []settingBody `json:"settings" doc:"of the base first"`
	}
	optionChangeBody struct {
		bench.OptionName
		Change string  `json:"change" enum:"added,removed,changed"`
		From   *string `json:"from"`
		To     *string `json:"to"`
	}
	combinationBody struct {
		Config string   `json:"config"`
		Parts  []string `json:"parts" doc:"configs whose changes together are those of config"`
	}
	togetherBody struct {
		Configs   []string           `json:"configs"`
		Changes   []optionChangeBody `json:"changes" doc:"always made together: their effects cannot be told apart"`
		Surprises []optionChangeBody `json:"surprises" doc:"changes of what the base sets, beside options that it does not know"`
	}
	effectBody struct {
		Changes []optionChangeBody `json:"changes"`
		Pairs   []pairBody         `json:"pairs"`
		Rows    []effectRowBody    `json:"rows"`
	}
	pairBody struct {
		With    string `json:"with"`
		Without string `json:"without"`
	}
	effectRowBody struct {
		bench.Coordinate
		Version      string   `json:"version"`
		Metric       string   `json:"metric"`
		Pairs        int      `json:"pairs"`
		Relative     float64  `json:"relative" doc:"geometric mean over the pairs of with / without"`
		RelativeLow  *float64 `json:"relative_low"`
		RelativeHigh *float64 `json:"relative_high"`
	}
	configSetBody struct {
		ConfigBody
		Variants  int    `json:"variants" doc:"other sets stored under this name"`
		Effective string `json:"effective,omitempty" doc:"address of what a running server of this config said of itself; absent where that was not read back"`
	}
	compareConfigsBody struct {
		Base         string            `json:"base"`
		Names        []string          `json:"names" doc:"of the configs, the base first"`
		Unmeasured   []string          `json:"unmeasured" doc:"configs asked for by name that measured nothing: compared by their options alone"`
		Versions     []string          `json:"versions"`
		Rows         []armRowBody      `json:"rows"`
		Rule         string            `json:"practical_rule" doc:"what worse means in practical"`
		Configs      []configSetBody   `json:"configs" doc:"the option sets behind the names"`
		Options      []optionRowBody   `json:"options" doc:"those that differ"`
		Combinations []combinationBody `json:"combinations"`
		Together     []togetherBody    `json:"together"`
		Effects      []effectBody      `json:"effects"`
		Summary      []string          `json:"summary"`
		Layer        string            `json:"layer" enum:"parsed,effective" doc:"what the options compared are: asked for by files, or, where of the base nothing else is stored, said by running servers"`
		OtherLayer   []string          `json:"other_layer" doc:"names of which only options of the other layer are stored, which are not compared"`
		NoConfig     []string          `json:"no_config" doc:"names without a stored set of options"`
		WithoutBase  []withoutBaseBody `json:"without_base"`
	}
)

// TransformSchema tells that noise may be null.
func (stabilityBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "noise")
}

func (s *server) registerCompare(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "compare-compilers", Method: http.MethodGet, Path: "/api/v1/compare/compilers", Summary: "Builds of several compilers, against one of them",
		Description: "A row per place and version, a cell per compiler. Stability is the scatter of each line, trends follow the gap over versions.",
		Errors:      []int{400},
	}, s.compareCompilers)
	huma.Register(a, huma.Operation{
		OperationID: "compare-configs", Method: http.MethodGet, Path: "/api/v1/compare/configs", Summary: "Configs against one of them, with the options they differ in",
		Description: "A row per place and version, a cell per config. Where every config was run once no interval can be given; a practical rule, labelled as such, marks what is worse.",
		Errors:      []int{400},
	}, s.compareConfigs)
}

// armSeries fetches the series of a comparison.
func (s *server) armSeries(ctx context.Context, q compare.ArmsQuery) ([]bench.Series, error) {
	var all []bench.Series
	for _, f := range q.Fetch() {
		series, err := s.Store.Series(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, series...)
	}
	return q.Keep(all), nil
}

func (s *server) compareCompilers(ctx context.Context, in *compilersInput) (*body[compareCompilersBody], error) {
	base := bench.CompilerName(in.BaseCompiler)
	series, err := s.armSeries(ctx, in.query(compare.AxisCompiler, base))
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	c := compare.CompareCompilers(series, compare.Options{Base: compare.Base{Compiler: base, Version: in.BaseVersion}, Cache: &s.cache})
	b := compareCompilersBody{
		Base: c.Base, Compilers: orEmpty(c.Arms.Arms), Versions: orEmpty(c.Versions), Rows: in.rows(&c.Arms), Stability: []stabilityBody{}, Trends: []trendBody{}, Moves: []moveBody{},
		WithoutBase: withoutBase(&c.Arms),
	}
	for _, x := range c.Stability {
		y := stabilityBody{Coordinate: x.Coordinate, Versions: x.Versions}
		if x.Noise.OK {
			y.Noise = &noiseBody{x.Noise.SD, x.Noise.Method}
		}
		b.Stability = append(b.Stability, y)
	}
	for _, x := range c.Trends {
		y := trendBody{Coordinate: x.Coordinate, BaseCompiler: x.Base, Versions: x.Versions, From: x.From, To: x.To, ChangeLow: x.Low, ChangeHigh: x.High, Text: x.Text}
		if x.From != "" {
			y.FromRelative, y.ToRelative, y.Change = &x.FromRatio, &x.ToRatio, &x.Change
		}
		b.Trends = append(b.Trends, y)
	}
	for _, x := range c.Moves {
		b.Moves = append(b.Moves, moveBody{x.Coordinate, x.Base, x.From, x.FromRatio, x.To, x.ToRatio, x.Change, x.Low, x.High, x.Text()})
	}
	return &body[compareCompilersBody]{b}, nil
}

func (s *server) compareConfigs(ctx context.Context, in *compareConfigsInput) (*body[compareConfigsBody], error) {
	q := in.query(compare.AxisConfig, in.Base)
	input, err := compare.FetchConfigs(ctx, s.Store, q)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	input.Cache = &s.cache
	c := compare.CompareConfigs(input)
	b := compareConfigsBody{
		Base: c.Base.Config, Names: orEmpty(c.Arms.Arms), Unmeasured: orEmpty(c.Unmeasured), Versions: orEmpty(c.Versions), Rows: in.rows(&c.Arms), Rule: compare.PracticalRule,
		Configs: []configSetBody{}, Options: []optionRowBody{}, Combinations: []combinationBody{}, Together: []togetherBody{}, Effects: []effectBody{},
		Summary: orEmpty(c.Summary), Layer: string(c.Layer), OtherLayer: orEmpty(c.OtherLayer), NoConfig: orEmpty(c.NoConfig), WithoutBase: withoutBase(&c.Arms),
	}
	for _, x := range c.Sets {
		y := configSetBody{ConfigBody: newConfigBody(x.StoredConfig), Variants: x.Variants}
		if x.Effective != nil {
			y.Effective = configURL(x.Effective.ID)
		}
		b.Configs = append(b.Configs, y)
	}
	for _, r := range c.Family.Rows {
		row := optionRowBody{OptionName: r.OptionName, Settings: []settingBody{{Arm: c.Family.Base, Written: writtenOf(r.Base)}}}
		for i, name := range c.Family.Configs {
			row.Settings = append(row.Settings, settingBody{name, writtenOf(r.Other[i]), string(r.Kinds[i])})
		}
		b.Options = append(b.Options, row)
	}
	for _, x := range c.Family.Combinations {
		b.Combinations = append(b.Combinations, combinationBody{x.Config, x.Parts})
	}
	for _, g := range c.Family.Together {
		b.Together = append(b.Together, togetherBody{g.Configs, changeBodies(g.Changes), changeBodies(g.Surprises)})
	}
	for _, e := range c.Effects {
		y := effectBody{Changes: changeBodies(e.Changes), Pairs: []pairBody{}, Rows: []effectRowBody{}}
		for _, p := range e.Pairs {
			y.Pairs = append(y.Pairs, pairBody{p.With, p.Without})
		}
		for _, r := range e.Rows {
			row := &c.Rows[r.Row]
			if in.wanted(row.Version) {
				y.Rows = append(y.Rows, effectRowBody{row.Coordinate, row.Version, row.Metric.Name, r.Pairs, r.Ratio, r.Low, r.High})
			}
		}
		b.Effects = append(b.Effects, y)
	}
	return &body[compareConfigsBody]{b}, nil
}

// rows gives the rows of an answer, those of the versions asked for.
func (in *ArmsInput) rows(a *compare.Arms) []armRowBody {
	rows := []armRowBody{}
	for i := range a.Rows {
		r := &a.Rows[i]
		if !in.wanted(r.Version) {
			continue
		}
		rows = append(rows, newArmRow(r))
	}
	return rows
}

// newArmRow gives a row with the cells of the arms that were measured there.
func newArmRow(r *compare.ArmRow) armRowBody {
	row := armRowBody{Coordinate: r.Coordinate, Version: r.Version, Metric: metricBody{r.Metric.Name, r.Metric.Unit, string(r.Metric.Direction)}, Cells: []armCellBody{}}
	for j := range r.Cells {
		c := &r.Cells[j]
		if c.Point == nil {
			continue
		}
		cell := armCellBody{
			Arm: c.Arm, N: c.N, Value: c.Value, Min: c.Min, Max: c.Max, Relative: c.Relative, RelativeLow: c.Low, RelativeHigh: c.High,
			Verdict: string(c.Verdict), Runs: c.Runs, Mixed: c.Mixed, Bimodal: c.Bimodal, Flagged: c.Flagged,
		}
		if p := c.Practical; p != nil {
			cell.Practical = &practicalBody{p.Worse, orEmpty(p.Reasons), p.Ratio, p.Seconds, p.Slow, p.BaseSlow}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

func withoutBase(a *compare.Arms) []withoutBaseBody {
	list := []withoutBaseBody{}
	for i := range a.Lines {
		if l := &a.Lines[i]; l.WhyNoBase != "" {
			list = append(list, withoutBaseBody{l.Coordinate, l.WhyNoBase})
		}
	}
	return list
}

// writtenOf gives a setting as written, nil for none.
func writtenOf(s bench.Setting) *string {
	if !s.Set {
		return nil
	}
	return &s.Written
}

func changeBodies(changes []bench.OptionChange) []optionChangeBody {
	list := []optionChangeBody{}
	for _, c := range changes {
		list = append(list, optionChangeBody{c.OptionName, string(c.Kind), writtenOf(c.From), writtenOf(c.To)})
	}
	return list
}

func configURL(id int64) string { return fmt.Sprintf("/api/v1/configs/%d", id) }
