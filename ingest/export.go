package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// The project's own format for figures: one JSON object a line (NDJSON).
//
// The first line is {"relqps_export":1}. Then, in any order but definitions
// before their use:
//
//	{"metric_set":{"id":1,"metrics":["qps",…],"resolutions":[1,…],"names":["ops_sec",…]}}
//	{"run":{…,"results":[{…,"set":1,"values":[1671040,null,…]},…]}}
//
// A value's place in values is its metric's in the set; null is a figure that
// was not measured. Field names are those of the domain; times are as printed,
// with a zone only where one was printed. docs/export.md describes every field.
const exportVersion = 1

type (
	exportLine struct {
		Version   int              `json:"relqps_export,omitempty"`
		MetricSet *exportMetricSet `json:"metric_set,omitempty"`
		Run       *exportRun       `json:"run,omitempty"`
	}
	exportMetricSet struct {
		ID          int       `json:"id"`
		Metrics     []string  `json:"metrics"`
		Resolutions []float64 `json:"resolutions"`
		Names       []string  `json:"names"`
	}
	exportRun struct {
		ID          string            `json:"id,omitempty"`
		System      string            `json:"system"`
		Suite       string            `json:"suite"`
		Server      string            `json:"server"`
		Workload    string            `json:"workload"`
		Config      string            `json:"config,omitempty"`
		Build       bench.Build       `json:"build"`
		Clients     int               `json:"clients"`
		Environment map[string]string `json:"environment,omitempty"`
		Options     map[string]string `json:"options,omitempty"`
		Results     []exportResult    `json:"results"`
	}
	exportResult struct {
		Step        string             `json:"step"`
		Threads     int                `json:"threads,omitempty"`
		Sync        *bool              `json:"sync,omitempty"`
		WAL         *bool              `json:"wal,omitempty"`
		ValueBytes  int                `json:"value_bytes,omitempty"`
		State       bench.State        `json:"state,omitempty"` // ok where absent
		Reason      string             `json:"reason,omitempty"`
		Origin      bench.Origin       `json:"origin,omitempty"` // measured where absent
		Started     bench.LocalTime    `json:"started"`
		Primary     string             `json:"primary,omitempty"`
		PrimaryText string             `json:"primary_text,omitempty"`
		Text        string             `json:"text,omitempty"`
		Excluded    string             `json:"excluded,omitempty"`
		Command     string             `json:"command,omitempty"`
		Set         int                `json:"set,omitempty"`
		Values      []*float64         `json:"values,omitempty"`
		Histograms  []bench.Histogram  `json:"histograms,omitempty"`
		TimeSeries  []exportTimeSeries `json:"time_series,omitempty"`
		Breakdowns  []bench.Breakdown  `json:"breakdowns,omitempty"`
		Warnings    []bench.Message    `json:"warnings,omitempty"`
	}
	exportTimeSeries struct {
		Name   string     `json:"name"`
		Unit   string     `json:"unit"`
		StartS float64    `json:"start_s"`
		StepS  float64    `json:"step_s"`
		Values []*float64 `json:"values"`
	}
)

// WriteExport writes runs in the project's own format, see the description at
// the top of this file. Sources are not part of it: they belong to uploads.
func WriteExport(w io.Writer, runs []bench.Run) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(exportLine{Version: exportVersion}); err != nil {
		return err
	}
	sets := map[string]*exportMetricSet{}
	for i := range runs {
		run := &runs[i]
		e := exportRun{
			ID: run.ID, System: run.System, Suite: run.Suite, Server: run.Server, Workload: run.Workload, Config: run.Config,
			Build: run.Build, Clients: bench.RunClients(run), Environment: run.Environment, Options: run.Options, Results: []exportResult{},
		}
		for j := range run.Results {
			r := &run.Results[j]
			set, err := metricSetOf(r, sets, enc)
			if err != nil {
				return err
			}
			e.Results = append(e.Results, newExportResult(r, set))
		}
		if err := enc.Encode(exportLine{Run: &e}); err != nil {
			return err
		}
	}
	return out.Flush()
}

// metricSetOf gives the set of a result's metrics, written when it is new.
func metricSetOf(r *bench.Result, sets map[string]*exportMetricSet, enc *json.Encoder) (*exportMetricSet, error) {
	if len(r.Values) == 0 {
		return nil, nil
	}
	set := &exportMetricSet{ID: len(sets) + 1}
	for _, v := range r.Values {
		set.Metrics = append(set.Metrics, v.Metric)
		set.Resolutions = append(set.Resolutions, v.Resolution)
		set.Names = append(set.Names, v.SourceName)
	}
	key := fmt.Sprint(set.Metrics, set.Resolutions, set.Names)
	if known := sets[key]; known != nil {
		return known, nil
	}
	sets[key] = set
	return set, enc.Encode(exportLine{MetricSet: set})
}

func newExportResult(r *bench.Result, set *exportMetricSet) exportResult {
	e := exportResult{
		Step: r.Step.Name, Threads: r.Step.Threads, Sync: r.Step.Sync, WAL: r.Step.WAL, ValueBytes: r.Step.ValueBytes,
		Reason: r.Reason, Started: r.Started, Primary: r.Primary, PrimaryText: r.PrimaryText, Text: r.Text,
		Excluded: r.Excluded, Command: r.Command, Histograms: r.Histograms, Breakdowns: r.Breakdowns, Warnings: r.Warnings,
	}
	if r.State != bench.StateOK {
		e.State = r.State
	}
	if r.Origin != bench.OriginMeasured {
		e.Origin = r.Origin
	}
	if set != nil {
		e.Set = set.ID
		for i := range r.Values {
			e.Values = append(e.Values, &r.Values[i].Number)
		}
	}
	for _, t := range r.TimeSeries {
		e.TimeSeries = append(e.TimeSeries, exportTimeSeries{t.Name, t.Unit, t.StartS, t.StepS, nullable(t.Values)})
	}
	return e
}

// nullable gives the values with null for a missing interval, which the domain
// marks with NaN.
func nullable(values []float64) []*float64 {
	out := make([]*float64, len(values))
	for i, v := range values {
		if v == v {
			out[i] = &values[i]
		}
	}
	return out
}

// isExport detects the format by its first line.
func isExport(in *input) bool {
	return bytes.HasPrefix(bytes.TrimLeft(in.text, " \r\n"), []byte(`{"relqps_export":`))
}

// readExport reads the project's own format. A line that cannot be understood
// refuses the file: our own files have no odd lines.
func readExport(in *input) output {
	var runs []bench.Run
	sets := map[int]*exportMetricSet{}
	for l := newLines(in.text); ; {
		line, n, ok := l.next()
		if !ok {
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		refuse := func(format string, args ...any) output {
			return refused(bench.Message{File: in.path, Line: n, Text: fmt.Sprintf(format, args...)})
		}
		var e exportLine
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return refuse("not a line of an export: %v", err)
		}
		switch {
		case e.Version != 0:
			if e.Version != exportVersion {
				return refuse("this is export format %d; this relqps reads %d", e.Version, exportVersion)
			}
		case e.MetricSet != nil:
			s := e.MetricSet
			if len(s.Metrics) != len(s.Resolutions) || len(s.Metrics) != len(s.Names) {
				return refuse("metric set %d: metrics, resolutions and names differ in length", s.ID)
			}
			for i, name := range s.Metrics {
				if _, ok := bench.LookupMetric(name); !ok {
					return refuse("metric set %d: no such metric: %q", s.ID, name)
				}
				if slices.Contains(s.Metrics[:i], name) {
					return refuse("metric set %d: %s stands twice", s.ID, name)
				}
				if s.Resolutions[i] < 0 {
					return refuse("metric set %d: a resolution of %g", s.ID, s.Resolutions[i])
				}
			}
			sets[s.ID] = s
		case e.Run != nil:
			run, err := e.Run.run(in.path, n, sets)
			if err != nil {
				return refuse("%v", err)
			}
			runs = append(runs, run)
		default:
			return refuse("the line holds neither a metric set nor a run")
		}
	}
	return output{state: bench.FileTaken, runs: runs}
}

func (e *exportRun) run(file string, line int, sets map[int]*exportMetricSet) (bench.Run, error) {
	run := bench.Run{
		ID: e.ID, System: e.System, Suite: e.Suite, Server: e.Server, Workload: e.Workload, Config: e.Config,
		Build: e.Build, Clients: e.Clients, Environment: e.Environment, Options: e.Options,
	}
	for _, f := range []struct{ name, value string }{{"system", e.System}, {"suite", e.Suite}, {"server", e.Server}, {"workload", e.Workload}, {"version", e.Build.Version}} {
		if f.value == "" {
			return run, bench.Errorf(bench.KindInvalid, "the run has no %s", f.name)
		}
	}
	for i := range e.Results {
		x := &e.Results[i]
		r := bench.Result{
			Step:    bench.Step{Name: x.Step, Threads: x.Threads, Sync: x.Sync, WAL: x.WAL, ValueBytes: x.ValueBytes},
			Role:    bench.StepRole(e.Suite, x.Step),
			State:   x.State,
			Reason:  x.Reason,
			Origin:  x.Origin,
			Started: x.Started, Primary: x.Primary, PrimaryText: x.PrimaryText, Text: x.Text, Excluded: x.Excluded, Command: x.Command,
			Histograms: x.Histograms, Breakdowns: x.Breakdowns, Warnings: x.Warnings,
			Sources: []bench.Source{{File: file, Line: line}},
		}
		if x.Step == "" {
			return run, bench.Errorf(bench.KindInvalid, "result %d has no step", i+1)
		}
		switch r.State {
		case "":
			r.State = bench.StateOK
		case bench.StateOK, bench.StateFailed, bench.StateNotRun:
		default:
			return run, bench.Errorf(bench.KindInvalid, "%s: no such state: %q", x.Step, x.State)
		}
		switch r.Origin {
		case "":
			r.Origin = bench.OriginMeasured
		case bench.OriginMeasured, bench.OriginMatrix:
		default:
			return run, bench.Errorf(bench.KindInvalid, "%s: no such origin: %q", x.Step, x.Origin)
		}
		if len(x.Values) > 0 {
			set := sets[x.Set]
			if set == nil || len(set.Metrics) != len(x.Values) {
				return run, bench.Errorf(bench.KindInvalid, "%s: its values do not fit metric set %d", x.Step, x.Set)
			}
			for k, v := range x.Values {
				if v != nil {
					r.Set(bench.Value{Metric: set.Metrics[k], Number: *v, Resolution: set.Resolutions[k], SourceName: set.Names[k]})
				}
			}
		}
		for _, t := range x.TimeSeries {
			r.TimeSeries = append(r.TimeSeries, bench.TimeSeries{Name: t.Name, Unit: t.Unit, StartS: t.StartS, StepS: t.StepS, Values: numbers(t.Values)})
		}
		run.Results = append(run.Results, r)
	}
	return run, nil
}

// numbers is the inverse of [nullable].
func numbers(values []*float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.NaN()
		if v != nil {
			out[i] = *v
		}
	}
	return out
}
