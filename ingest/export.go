package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// The project's own format: one JSON object a line (NDJSON).
//
// The first line is {"relqps_export":1}. Then, in any order but definitions
// before their use:
//
//	{"metric_set":{"id":1,"metrics":["qps",…],"resolutions":[1,…],"names":["ops_sec",…]}}
//	{"run":{…,"results":[{…,"set":1,"values":[1671040,null,…]},…]}}
//	{"config":{"system":"myrocks","name":"a4",…,"options":[{"key":"rocksdb_block_cache_size","written":"8G",…},…]}}
//
// A value's place in values is its metric's in the set; null is a figure that
// was not measured. Field names are those of the domain; times are as printed,
// with a zone only where one was printed.
//
// A file that holds a whole database says so in its first line, has lines of
// further kinds, and runs with what a database knows of them; see
// [ExportWriter]. docs/export.md describes every field.
const exportVersion = 1

// exportDatabase is what a file contains that holds a whole database.
const exportDatabase = "database"

type (
	// exportLine is a line: one field is set, and Contents beside Version.
	exportLine struct {
		Version    int               `json:"relqps_export,omitempty"`
		Contents   string            `json:"contents,omitempty"`
		MetricSet  *exportMetricSet  `json:"metric_set,omitempty"`
		Run        *exportRun        `json:"run,omitempty"`
		Results    []exportResult    `json:"results,omitempty"`
		Server     *exportServer     `json:"server,omitempty"`
		Coordinate *exportCoordinate `json:"coordinate,omitempty"`
		Upload     *exportUpload     `json:"upload,omitempty"`
		Content    []byte            `json:"content,omitempty"`
		Config     *exportConfig     `json:"config,omitempty"`
		Change     *exportChange     `json:"change,omitempty"`
		Note       *exportNote       `json:"note,omitempty"`
		Link       *exportLink       `json:"link,omitempty"`
		Alias      *exportAlias      `json:"alias,omitempty"`
		End        *exportEnd        `json:"end,omitempty"`
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
		Stored      *exportStoredRun  `json:"stored,omitempty"`
		Results     []exportResult    `json:"results"`
	}
	exportResult struct {
		Step        string              `json:"step"`
		Threads     int                 `json:"threads,omitempty"`
		Sync        *bool               `json:"sync,omitempty"`
		WAL         *bool               `json:"wal,omitempty"`
		ValueBytes  int                 `json:"value_bytes,omitempty"`
		State       bench.State         `json:"state,omitempty"` // ok where absent
		Reason      string              `json:"reason,omitempty"`
		Origin      bench.Origin        `json:"origin,omitempty"` // measured where absent
		Started     bench.LocalTime     `json:"started"`
		Primary     string              `json:"primary,omitempty"`
		PrimaryText string              `json:"primary_text,omitempty"`
		Text        string              `json:"text,omitempty"`
		Excluded    string              `json:"excluded,omitempty"`
		Command     string              `json:"command,omitempty"`
		Set         int                 `json:"set,omitempty"`
		Values      []*float64          `json:"values,omitempty"`
		Histograms  []bench.Histogram   `json:"histograms,omitempty"`
		TimeSeries  []exportTimeSeries  `json:"time_series,omitempty"`
		Breakdowns  []bench.Breakdown   `json:"breakdowns,omitempty"`
		Warnings    []bench.Message     `json:"warnings,omitempty"`
		Stored      *exportStoredResult `json:"stored,omitempty"`
	}
	exportTimeSeries struct {
		Name   string     `json:"name"`
		Unit   string     `json:"unit"`
		StartS float64    `json:"start_s"`
		StepS  float64    `json:"step_s"`
		Values []*float64 `json:"values"`
	}
)

// WriteExport writes configs and runs in the project's own format, see the
// description at the top of this file. Sources are not part of it: they belong to uploads.
func WriteExport(w io.Writer, runs []bench.Run, configs ...bench.Config) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(exportLine{Version: exportVersion}); err != nil {
		return err
	}
	for i := range configs {
		if err := enc.Encode(exportLine{Config: newExportConfig(&configs[i])}); err != nil {
			return err
		}
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
// refuses the file: our own files have no odd lines. Of a whole database it
// takes the configs and runs that count, and says what it leaves out.
func readExport(in *input) output {
	var runs []bench.Run
	var configs []bench.Config
	active := map[int64]bool{} // files of uploads that are not withdrawn
	sets := map[int]*exportMetricSet{}
	whole, over := false, false // a whole database; its end was seen
	var counts ExportCounts
	var left leftOut
	for l := newLines(in.text); ; {
		before := in.text[:len(in.text)-len(l.rest)]
		line, n, ok := l.next()
		if !ok {
			if whole && !over {
				return refused(bench.Message{File: in.path, Line: l.number, Text: exportCutShort})
			}
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		refuse := func(format string, args ...any) output {
			return refused(bench.Message{File: in.path, Line: n, Text: fmt.Sprintf(format, args...)})
		}
		e, err := decodeExportLine(line)
		if err != nil {
			return refuse("%v", err)
		}
		switch {
		case over:
			return refuse("a line after the end")
		case e.Version != 0:
			if err := e.checkHeader(); err != nil {
				return refuse("%v", err)
			}
			whole = e.Contents == exportDatabase
		case e.MetricSet != nil:
			if err := e.MetricSet.check(); err != nil {
				return refuse("%v", err)
			}
			sets[e.MetricSet.ID] = e.MetricSet
		case e.Run != nil:
			run, err := e.Run.run(in.path, n, sets, &left)
			if err != nil {
				return refuse("%v", err)
			}
			runs = append(runs, run)
		case e.Results != nil:
			if len(runs) == 0 {
				return refuse("results of no run")
			}
			if err := addResults(&runs[len(runs)-1], e.Results, in.path, n, sets, &left); err != nil {
				return refuse("%v", err)
			}
		case e.End != nil:
			over = true
			if err := e.End.check(counts, hexSum(before)); err != nil {
				return refuse("%v", err)
			}
		case e.Config != nil:
			c, counts, err := e.Config.take(in.path, n, active)
			if err != nil {
				return refuse("%v", err)
			}
			if whole && !counts {
				left.configs++
				break
			}
			configs = append(configs, c)
		case !whole:
			return refuse("the line holds neither a metric set nor a run nor a config")
		case e.Upload != nil && e.Upload.State != bench.RecordWithdrawn:
			for _, f := range e.Upload.Files {
				active[f.ID] = true
			}
		}
		counts.add(&e)
	}
	out := output{state: bench.FileTaken, configs: configs}
	for i := range runs {
		// Of runs that were withdrawn nothing is left.
		if !whole || len(runs[i].Results) > 0 {
			out.runs = append(out.runs, runs[i])
		}
	}
	if whole {
		out.warnings = []bench.Message{{File: in.path, Text: left.words(counts)}}
	}
	return out
}

// leftOut counts what does not count any more in a whole database.
type leftOut struct{ configs, runs, results int }

// words says what of a whole database was left out.
func (l leftOut) words(c ExportCounts) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{c.Uploads, "upload"}, {l.configs, "withdrawn config"}, {l.runs, "withdrawn run"}, {l.results, "withdrawn result"}, {c.Changes, "change"},
		{c.Notes, "note"}, {c.Links, "link"}, {c.Aliases, "former name"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.what)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.what))
		}
	}
	text := "this file holds a whole database, of which the runs and configs were read"
	if len(parts) > 0 {
		text += "; left out: " + strings.Join(parts, ", ")
	}
	return text + "; relqps import takes everything into an empty database"
}

// decodeExportLine reads a line, which must hold one thing that is known.
func decodeExportLine(line []byte) (e exportLine, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, bench.Errorf(bench.KindInvalid, "not a line of an export: %s", jsonProblem(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, bench.Errorf(bench.KindInvalid, "not a line of an export: more follows behind the object")
	}
	n := 0
	for _, is := range []bool{
		e.Version != 0, e.MetricSet != nil, e.Run != nil, len(e.Results) > 0, e.Server != nil, e.Coordinate != nil, e.Upload != nil,
		len(e.Content) > 0, e.Config != nil, e.Change != nil, e.Note != nil, e.Link != nil, e.Alias != nil, e.End != nil,
	} {
		if is {
			n++
		}
	}
	switch {
	case n == 0:
		return e, bench.Errorf(bench.KindInvalid, "the line holds nothing")
	case n > 1:
		return e, bench.Errorf(bench.KindInvalid, "the line holds %d things, not one", n)
	case e.Contents != "" && e.Version == 0:
		return e, bench.Errorf(bench.KindInvalid, "contents belongs into the first line")
	}
	return e, nil
}

// jsonProblem says what is wrong with a text, without the names of our types.
func jsonProblem(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Sprintf("%s cannot be a %s", kind.Field, kind.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// checkHeader makes sure that the format is one that is known.
func (e *exportLine) checkHeader() error {
	if e.Version != exportVersion {
		return bench.Errorf(bench.KindInvalid, "this is export format %d; this relqps reads %d", e.Version, exportVersion)
	}
	if e.Contents != "" && e.Contents != exportDatabase {
		return bench.Errorf(bench.KindInvalid, "this export contains a %q, which this relqps does not know", e.Contents)
	}
	return nil
}

// check makes sure that a metric set is one.
func (s *exportMetricSet) check() error {
	if len(s.Metrics) != len(s.Resolutions) || len(s.Metrics) != len(s.Names) {
		return bench.Errorf(bench.KindInvalid, "metric set %d: metrics, resolutions and names differ in length", s.ID)
	}
	for i, name := range s.Metrics {
		if _, ok := bench.LookupMetric(name); !ok {
			return bench.Errorf(bench.KindInvalid, "metric set %d: no such metric: %q", s.ID, name)
		}
		if slices.Contains(s.Metrics[:i], name) {
			return bench.Errorf(bench.KindInvalid, "metric set %d: %s stands twice", s.ID, name)
		}
		if s.Resolutions[i] < 0 {
			return bench.Errorf(bench.KindInvalid, "metric set %d: a resolution of %g", s.ID, s.Resolutions[i])
		}
	}
	return nil
}

// run gives a run without what was withdrawn of it, which left counts.
func (e *exportRun) run(file string, line int, sets map[int]*exportMetricSet, left *leftOut) (bench.Run, error) {
	run := bench.Run{
		ID: e.ID, System: e.System, Suite: e.Suite, Server: e.Server, Workload: e.Workload, Config: e.Config,
		Build: e.Build, Clients: e.Clients, Environment: e.Environment, Options: e.Options,
	}
	for _, f := range []struct{ name, value string }{{"system", e.System}, {"suite", e.Suite}, {"server", e.Server}, {"workload", e.Workload}, {"version", e.Build.Version}} {
		if f.value == "" {
			return run, bench.Errorf(bench.KindInvalid, "the run has no %s", f.name)
		}
	}
	if s := e.Stored; s != nil {
		run.Clients, run.Assumed = e.statedClients(run), s.Assumed
		if s.State == bench.RecordWithdrawn {
			left.runs++
		}
	}
	return run, addResults(&run, e.Results, file, line, sets, left)
}

// statedClients finds the number of clients that the file stated which brought
// the run's undated results: it is part of their identity, so the one that their
// keys were made with.
func (e *exportRun) statedClients(run bench.Run) int {
	for i := range e.Results {
		x := &e.Results[i]
		if x.Stored == nil || !x.Started.IsZero() {
			continue
		}
		r, err := x.result()
		if err != nil {
			break // said by addResults
		}
		for _, run.Clients = range []int{e.Stored.Clients, e.Clients, 0} {
			if bench.MeasurementKey(&run, &r, x.Stored.Ordinal).String() == x.Stored.Key {
				return run.Clients
			}
		}
	}
	return e.Stored.Clients
}

// addResults appends results to a run, without those that were withdrawn.
func addResults(run *bench.Run, results []exportResult, file string, line int, sets map[int]*exportMetricSet, left *leftOut) error {
	for i := range results {
		x := &results[i]
		if x.Step == "" {
			return bench.Errorf(bench.KindInvalid, "result %d has no step", i+1)
		}
		r, err := x.result()
		if err != nil {
			return err
		}
		r.Role = bench.StepRole(run.Suite, x.Step)
		r.Sources = []bench.Source{{File: file, Line: line}}
		if len(x.Values) > 0 {
			set := sets[x.Set]
			if set == nil || len(set.Metrics) != len(x.Values) {
				return bench.Errorf(bench.KindInvalid, "%s: its values do not fit metric set %d", x.Step, x.Set)
			}
			for k, v := range x.Values {
				if v != nil {
					r.Set(bench.Value{Metric: set.Metrics[k], Number: *v, Resolution: set.Resolutions[k], SourceName: set.Names[k]})
				}
			}
		}
		if x.Stored != nil && x.Stored.Withdrawn {
			left.results++
			continue
		}
		run.Results = append(run.Results, r)
	}
	return nil
}

// result gives a result without its values, sources and role.
func (x *exportResult) result() (bench.Result, error) {
	r := bench.Result{
		Step:    bench.Step{Name: x.Step, Threads: x.Threads, Sync: x.Sync, WAL: x.WAL, ValueBytes: x.ValueBytes},
		State:   x.State,
		Reason:  x.Reason,
		Origin:  x.Origin,
		Started: x.Started, Primary: x.Primary, PrimaryText: x.PrimaryText, Text: x.Text, Excluded: x.Excluded, Command: x.Command,
		Histograms: x.Histograms, Breakdowns: x.Breakdowns, Warnings: x.Warnings,
	}
	switch r.State {
	case "":
		r.State = bench.StateOK
	case bench.StateOK, bench.StateFailed, bench.StateNotRun:
	default:
		return r, bench.Errorf(bench.KindInvalid, "%s: no such state: %q", x.Step, x.State)
	}
	switch r.Origin {
	case "":
		r.Origin = bench.OriginMeasured
	case bench.OriginMeasured, bench.OriginMatrix:
	default:
		return r, bench.Errorf(bench.KindInvalid, "%s: no such origin: %q", x.Step, x.Origin)
	}
	for _, t := range x.TimeSeries {
		r.TimeSeries = append(r.TimeSeries, bench.TimeSeries{Name: t.Name, Unit: t.Unit, StartS: t.StartS, StepS: t.StepS, Values: numbers(t.Values)})
	}
	return r, nil
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
