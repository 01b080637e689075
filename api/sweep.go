package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

type sweepInput struct {
	System   string   `query:"system"`
	Suite    string   `query:"suite"`
	Server   string   `query:"server"`
	Workload string   `query:"workload"`
	Option   string   `query:"option" doc:"the option that is the free axis: block_size"`
	Config   []string `query:"config,explode" doc:"only a sweep that has all of these among its configs"`
	Step     []string `query:"step,explode"`
	Version  []string `query:"version,explode" doc:"rows of these versions only"`
	Metric   string   `query:"metric" doc:"without one each step is compared by the metric that decides it"`
	Base     string   `query:"base" doc:"the value that is 1.00, as arms name it (4096); without, the best of each row"`
}

// Resolve checks what tags cannot say.
func (in *sweepInput) Resolve(huma.Context) []error {
	if _, ok := bench.LookupMetric(in.Metric); !ok && in.Metric != "" {
		return []error{&huma.ErrorDetail{Location: "query.metric", Message: "no such metric", Value: in.Metric}}
	}
	return nil
}

func (in *sweepInput) query() compare.SweepQuery {
	return compare.SweepQuery{
		System: in.System, Suite: in.Suite, Server: in.Server, Workload: bench.WorkloadName(in.Workload), Option: in.Option, Configs: in.Config,
		Versions: in.Version, Steps: in.Step, Metric: in.Metric, Base: in.Base,
	}
}

// The shapes of the answers.
type (
	sweepBody struct {
		System   string           `json:"system"`
		Suite    string           `json:"suite"`
		Server   string           `json:"server" doc:"empty: each value on servers of its own"`
		Workload string           `json:"workload"`
		Option   bench.OptionName `json:"option"`
		Arms     []sweepArmBody   `json:"arms" doc:"in order of their numbers, the one that does not set the option first"`
	}
	sweepArmBody struct {
		Arm     string   `json:"arm" doc:"the value in one form, as in cells: 4096"`
		Number  *float64 `json:"number" doc:"null: not set"`
		Written *string  `json:"written" doc:"null: not set, the program's default holds"`
		Label   string   `json:"label" doc:"for people: 4 KiB"`
		Configs []string `json:"configs"`
		Runs    []int64  `json:"runs"`
	}
	sweepRowBody struct {
		armRowBody
		Base  string   `json:"base" doc:"the arm that is 1.00 here"`
		Best  string   `json:"best" doc:"the arm with the best figure; empty where none can be named"`
		Alike []string `json:"alike" doc:"arms that cannot be told from the best"`
	}
	splitBody struct {
		Step   string         `json:"step"`
		Key    string         `json:"key" doc:"block_read_count"`
		Metric string         `json:"metric"`
		Unit   string         `json:"unit"`
		Rows   []splitRowBody `json:"rows"`
	}
	splitRowBody struct {
		Bucket string          `json:"bucket"`
		Best   string          `json:"best"`
		Cells  []splitCellBody `json:"cells" doc:"of the arms that have the bucket"`
	}
	splitCellBody struct {
		Arm      string   `json:"arm"`
		Value    float64  `json:"value"`
		Samples  int64    `json:"samples" doc:"0: the source does not say it"`
		Percent  float64  `json:"percent" doc:"of all samples of the arm"`
		Relative *float64 `json:"relative" doc:"value / the best of the row"`
	}
	diskBody struct {
		Arm           string           `json:"arm"`
		Disk          string           `json:"disk" doc:"empty where no run says it"`
		Step          string           `json:"step"`
		Runs          []int64          `json:"runs"`
		Figures       []diskFigureBody `json:"figures"`
		Contradiction string           `json:"contradiction,omitempty" doc:"why IOPS and bandwidth cannot both be right"`
	}
	diskFigureBody struct {
		Metric     metricBody `json:"metric"`
		Value      float64    `json:"value"`
		Resolution float64    `json:"resolution" doc:"0: unknown"`
	}
	differsBody struct {
		Kind     string     `json:"kind" enum:"run,build,host,option"`
		Name     string     `json:"name"`
		Values   [][]string `json:"values" doc:"per arm, every value that its runs have; empty: none says it"`
		Disjoint bool       `json:"disjoint" doc:"no two arms share a value: figures alone cannot tell this from the option"`
	}
	compareSweepBody struct {
		Sweep           sweepBody         `json:"sweep"`
		Base            string            `json:"base" doc:"as asked for; empty: the best of each row"`
		Versions        []string          `json:"versions"`
		Rows            []sweepRowBody    `json:"rows"`
		Splits          []splitBody       `json:"splits" doc:"rows split by a key of the source"`
		Disks           []diskBody        `json:"disks" doc:"what fio says of the arms' disks"`
		IOPSSpread      *float64          `json:"disks_iops_spread" doc:"greatest / least - 1 of the figures printed"`
		BandwidthSpread *float64          `json:"disks_bandwidth_spread"`
		Differs         []differsBody     `json:"differs" doc:"what else than the option the arms do not have alike"`
		Summary         []string          `json:"summary"`
		Doubts          []string          `json:"doubts" doc:"what else may be behind the figures"`
		WithoutBase     []withoutBaseBody `json:"without_base"`
		Sweeps          []sweepBody       `json:"sweeps" doc:"all that were found"`
	}
)

func (s *server) registerSweep(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "compare-sweep", Method: http.MethodGet, Path: "/api/v1/compare/sweep", Summary: "The values of one option against the best of them, or a chosen one",
		Description: "A sweep is an option that was measured at several values with nothing else in the options changed. The first that fits the query is compared; " +
			"404 where none does. What the values do not have alike besides the option (disk, server, date) is listed, with what fio says of their disks.",
		Errors: []int{400, 404},
	}, s.compareSweep)
}

func newSweepBody(x *compare.Sweep) sweepBody {
	b := sweepBody{System: x.System, Suite: x.Suite, Server: x.Server, Workload: x.Workload, Option: x.Option, Arms: []sweepArmBody{}}
	for i := range x.Arms {
		a := &x.Arms[i]
		y := sweepArmBody{Arm: a.Name(), Label: a.Label(x.Option), Configs: orEmpty(a.Configs), Runs: orEmpty(a.Runs)}
		if a.Set {
			y.Number, y.Written = &a.Number, &a.Written
		}
		b.Arms = append(b.Arms, y)
	}
	return b
}

func (s *server) compareSweep(ctx context.Context, in *sweepInput) (*body[compareSweepBody], error) {
	c, all, ok, err := compare.ReadSweep(ctx, s.Store, in.query(), &s.cache)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	if !ok {
		return nil, s.fail(ctx, bench.Errorf(bench.KindNotFound, "no option was measured at several values under what the query names, with all other options alike"))
	}
	b := compareSweepBody{
		Sweep: newSweepBody(&c.Sweep), Base: c.Base, Versions: orEmpty(c.Versions), Rows: []sweepRowBody{}, Splits: []splitBody{}, Disks: []diskBody{},
		IOPSSpread: c.Disks.IOPSSpread, BandwidthSpread: c.Disks.BandwidthSpread, Differs: []differsBody{}, Summary: orEmpty(c.Summary()),
		Doubts: append(orEmpty(c.Doubts), c.Disks.Sentences...), WithoutBase: []withoutBaseBody{}, Sweeps: []sweepBody{},
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		b.Rows = append(b.Rows, sweepRowBody{newArmRow(&r.ArmRow), r.Base, r.Best, orEmpty(r.Alike)})
	}
	name := func(arm int) string { return c.Sweep.Arms[arm].Name() }
	for _, x := range c.Splits {
		y := splitBody{Step: x.Step, Key: x.Key, Metric: x.Metric, Unit: x.Unit, Rows: []splitRowBody{}}
		for _, r := range x.Rows {
			row := splitRowBody{Bucket: r.Bucket, Best: r.Best, Cells: []splitCellBody{}}
			for i, cell := range r.Cells {
				if cell.OK {
					row.Cells = append(row.Cells, splitCellBody{name(i), cell.Value, cell.Samples, cell.Percent, cell.Relative})
				}
			}
			y.Rows = append(y.Rows, row)
		}
		b.Splits = append(b.Splits, y)
	}
	for _, d := range c.Disks.Disks {
		y := diskBody{Arm: d.Arm, Disk: d.Name, Step: d.Step, Runs: d.Runs, Figures: []diskFigureBody{}, Contradiction: d.Contradiction}
		for _, f := range d.Figures {
			y.Figures = append(y.Figures, diskFigureBody{metricBody{f.Metric.Name, f.Metric.Unit, string(f.Metric.Direction)}, f.Value, f.Resolution})
		}
		b.Disks = append(b.Disks, y)
	}
	for i := range c.Differs {
		d := &c.Differs[i]
		y := differsBody{Kind: string(d.Kind), Name: d.Name, Disjoint: d.Disjoint()}
		for _, values := range d.Values {
			y.Values = append(y.Values, orEmpty(values))
		}
		b.Differs = append(b.Differs, y)
	}
	for _, x := range c.WithoutBase {
		b.WithoutBase = append(b.WithoutBase, withoutBaseBody{x, "not measured at " + in.Base})
	}
	for i := range all {
		b.Sweeps = append(b.Sweeps, newSweepBody(&all[i]))
	}
	return &body[compareSweepBody]{b}, nil
}
