package ingest

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
)

func ptr[T any](v T) *T { return &v }

func TestExportRoundTripLosesNothing(t *testing.T) {
	t.Parallel()
	runs := []bench.Run{{
		ID: "0c9e5a0e-6b1c-4b39-9d0b-0d3f7a3b1c11", System: "rocksdb", Suite: "db_bench", Server: "arm", Workload: "cached", Config: "hcc", Clients: 8,
		Build:       bench.Build{Version: "10.8.3", Compiler: "clang+lto", CompilerVersion: "18.3.1", Flags: "USE_LTO=1", GitHash: "6bf472dace", Command: "make"},
		Environment: map[string]string{"cpu": "Neoverse"}, Options: map[string]string{"cache_size": "1"},
		Results: []bench.Result{
			{
				Step: bench.Step{Name: "fillseq", Threads: 1, WAL: ptr(false), ValueBytes: 400}, Role: bench.RoleMeasure,
				State: bench.StateOK, Origin: bench.OriginMeasured, Started: bench.NewLocalTime(2025, time.November, 9, 16, 54, 47),
				Primary: "qps", PrimaryText: "1356754", Text: "fillseq : …",
				Values: []bench.Value{
					{Metric: "qps", Number: 1356754, Resolution: 1, SourceName: "ops_sec"},
					{Metric: "usec_per_op", Number: 0.7, Resolution: 0.1, SourceName: "usec_op"},
				},
				Histograms: []bench.Histogram{{Operation: "write", Unit: "µs", Bounds: []float64{1, 2}, Counts: []float64{5, 6}, Max: ptr(1.5)}},
				TimeSeries: []bench.TimeSeries{{Name: "qps", Unit: "1/s", StartS: 1, StepS: 1, Values: []float64{10, math.NaN(), 0}}},
				Breakdowns: []bench.Breakdown{{Key: "block_read_count", Bucket: "2", Samples: 3, Unit: "µs", Value: 4.5}},
				Warnings:   []bench.Message{{File: "a.log", Line: 3, Column: "mb_sec", Text: "odd"}},
			},
			{
				Step: bench.Step{Name: "overwriteandwait", Threads: 8, Sync: ptr(false)}, Role: bench.RoleMeasure, State: bench.StateFailed,
				Reason: "signal 9", Origin: bench.OriginMeasured, Started: bench.ZonedTime(time.Date(2025, 3, 16, 15, 46, 45, 0, time.FixedZone("", -7*3600))),
				Excluded: "assertions are enabled", Command: "db_bench --x",
			},
			{Step: bench.Step{Name: "overwrite"}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMatrix, Primary: "qps", PrimaryText: "5", Values: []bench.Value{{Metric: "qps", Number: 5}}},
		},
	}}
	var file bytes.Buffer
	if err := WriteExport(&file, runs); err != nil {
		t.Fatal(err)
	}
	in := &input{path: "x.relqps", text: file.Bytes()}
	if !isExport(in) {
		t.Fatal("not recognised")
	}
	out := readExport(in)
	if out.state != bench.FileTaken {
		t.Fatal(out.messages)
	}
	diff := cmp.Diff(runs, out.runs, cmp.AllowUnexported(bench.LocalTime{}), cmpopts.EquateNaNs(), cmpopts.IgnoreFields(bench.Result{}, "Sources"), cmpopts.EquateEmpty())
	if diff != "" {
		t.Error(diff)
	}
}

func TestExportWithAFlawIsRefusedAtItsLine(t *testing.T) {
	t.Parallel()
	head := `{"relqps_export":1}` + "\n"
	set := `{"metric_set":{"id":1,"metrics":["qps"],"resolutions":[1],"names":["ops_sec"]}}` + "\n"
	run := `{"run":{"system":"rocksdb","suite":"db_bench","server":"c2","workload":"cached","build":{"version":"8.8.0","compiler":"gcc"},"clients":8,"results":[%]}}`
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"newer format":          {`{"relqps_export":2}`, 1},
		"broken line":           {head + `{"run":`, 2},
		"unknown field":         {head + `{"rum":{}}`, 2},
		"unknown metric":        {head + `{"metric_set":{"id":1,"metrics":["speed"],"resolutions":[1],"names":[""]}}`, 2},
		"values without set":    {head + set + strings.Replace(run, "%", `{"step":"fillseq","set":2,"values":[1]}`, 1), 3},
		"more values than set":  {head + set + strings.Replace(run, "%", `{"step":"fillseq","set":1,"values":[1,2]}`, 1), 3},
		"NaN":                   {head + set + strings.Replace(run, "%", `{"step":"fillseq","set":1,"values":[NaN]}`, 1), 3},
		"no such state":         {head + set + strings.Replace(run, "%", `{"step":"fillseq","state":"great"}`, 1), 3},
		"impossible start":      {head + set + strings.Replace(run, "%", `{"step":"fillseq","started":"2023-02-30T00:00:00"}`, 1), 3},
		"run without a version": {head + strings.Replace(strings.Replace(run, "%", "", 1), "8.8.0", "", 1), 2},
	} {
		out := readExport(&input{path: "x", text: []byte(c.text)})
		if out.state != bench.FileRefused || len(out.messages) != 1 || out.messages[0].Line != c.line || len(out.runs) != 0 {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"relqps_export":1}` + "\n" + `{"run":{"system":"a","suite":"b","server":"c","workload":"d","build":{"version":"1","compiler":""},"clients":0,"results":[]}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		readExport(&input{path: "x", text: data})
	})
}
