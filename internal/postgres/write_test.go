package postgres_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
)

func f64(v float64) *float64 { return &v }

// whole is a result that uses every part of the type.
func whole(file string) bench.Result {
	r := row(file, 7, "fillseq.wal_disabled.v400.t8.s0", "2023-11-9T16:54:47", "2069271")
	r.Started = bench.ZonedTime(r.Started.Wall().In(zone(-7 * 3600)))
	r = with(r, "p99", 4, 1, "p99")
	r = with(r, "user_cpu_s", 1200, 100, "u_cpu")
	r = with(r, "write_amp", 2.1, 0.1, "w_amp")
	r.Command = "./db_bench --benchmarks=fillseq"
	r.Excluded = "assertions are enabled"
	r.Warnings = []bench.Message{{File: file, Line: 7, Column: "c_wsecs", Text: "shifted"}}
	r.Sources = append(r.Sources, bench.Source{File: file, Line: 19})
	r.Histograms = []bench.Histogram{{
		Operation: "read", Unit: "µs", Bounds: []float64{1, 2, 3.5}, Counts: []float64{10, 0, 4},
		Count: f64(14), Min: f64(0), Max: f64(3.4), Average: f64(1.25), StdDev: f64(0.5),
	}, {
		Operation: "write", Unit: "µs", Bounds: []float64{256, 512}, Percents: []float64{99.5, 0.5},
	}}
	r.TimeSeries = []bench.TimeSeries{{Name: "qps", Unit: "1/s", StartS: 1, StepS: 1, Values: []float64{17813, math.NaN(), 20214}}}
	r.Breakdowns = []bench.Breakdown{{Key: "block_read_count", Bucket: "2", Samples: 120, Unit: "µs", Value: 81.5}}
	return r
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	run := c2("8.8.0", whole("report.tsv"))
	run.ID = "0f2c8a52-6d8d-4d9e-9f31-0a3d1c6f2b10"
	run.Config = "a0"
	run.Build = bench.Build{Version: "8.8.0", Compiler: "gcc", CompilerVersion: "13.2.0", Flags: "-O2", GitHash: "0000000abc",
		BinarySHA256: sum("binary"), Command: "make DEBUG_LEVEL=0 static_lib db_bench"}
	run.Clients = 16
	run.Assumed = []string{"compiler"}
	run.Environment = map[string]string{"cpu": "AMD EPYC", "kernel": "6.1"}
	run.Options = map[string]string{"cache_size": "1073741824"}
	failed := bench.Result{Step: bench.Step{Name: "readrandom", Threads: 16}, Role: bench.RoleMeasure, State: bench.StateFailed,
		Reason: "killed by signal 9", Origin: bench.OriginMeasured, Sources: []bench.Source{{File: "report.tsv", Line: 8}}}
	skipped := bench.Result{Step: bench.Step{Name: "flush"}, Role: bench.RolePrepare, State: bench.StateNotRun,
		Reason: "readrandom failed", Origin: bench.OriginMeasured}
	run.Results = append(run.Results, failed, skipped)
	b := batch("report.tsv", run)
	b.Warnings = []bench.Message{{File: "report.tsv", Line: 3, Text: "not understood"}}
	b.Files[0].Messages = []bench.Message{{File: "report.tsv", Line: 3, Text: "not understood"}}
	u := upload("report.tsv", "the bytes")
	u.Context = bench.Context{Server: "c2", Workload: "byrx", Clients: 16}

	receipt := mustWrite(t, s, u, b)
	want := bench.Receipt{
		UploadID: receipt.UploadID, SHA256: u.SHA256, Format: "test", Results: 3, Values: 4,
		Runs: receipt.Runs, Files: b.Files,
		Warnings: []bench.Message{{File: "report.tsv", Line: 3, Text: "not understood"}, {File: "report.tsv", Line: 7, Column: "c_wsecs", Text: "shifted"}},
	}
	if diff := cmp.Diff(want, receipt); diff != "" {
		t.Error("receipt (-want +got)", diff)
	}
	if len(receipt.Runs) != 1 {
		t.Fatalf("%d runs, want 1", len(receipt.Runs))
	}

	d, err := s.Run(t.Context(), receipt.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSummary := bench.RunSummary{
		ID: receipt.Runs[0].ID, Key: run.ID, System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Config: "a0", Clients: 16,
		Build: run.Build, Assumed: run.Assumed, Started: run.Results[0].Started, Campaign: 1, Created: d.Created,
		State: bench.RecordActive, OK: 1, Failed: 1, NotRun: 1, Warned: 1,
	}
	cmpTimes := cmp.Comparer(func(a, b bench.LocalTime) bool { return a.String() == b.String() })
	if diff := cmp.Diff(wantSummary, d.RunSummary, cmpTimes); diff != "" {
		t.Error("summary (-want +got)", diff)
	}
	if diff := cmp.Diff(run.Environment, d.Environment); diff != "" {
		t.Error("environment", diff)
	}
	if diff := cmp.Diff(run.Options, d.Options); diff != "" {
		t.Error("options", diff)
	}
	if len(d.Results) != 3 {
		t.Fatalf("%d results, want 3", len(d.Results))
	}
	for i, r := range d.Results {
		wantResult := run.Results[i]
		var from []bench.StoredSource
		for _, src := range wantResult.Sources {
			from = append(from, bench.StoredSource{UploadID: receipt.UploadID, File: src.File, Line: src.Line})
		}
		wantResult.Sources = nil
		if diff := cmp.Diff(wantResult, r.Result, cmpTimes, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
			cmpopts.SortSlices(func(a, b bench.Value) bool { return a.Metric < b.Metric })); diff != "" {
			t.Errorf("result %d (-want +got) %s", i, diff)
		}
		if diff := cmp.Diff(from, r.From); diff != "" {
			t.Errorf("sources of result %d (-want +got) %s", i, diff)
		}
		if key := bench.MeasurementKey(&run, &run.Results[i], 0); r.Key != key {
			t.Errorf("key of result %d is %s, want %s", i, r.Key, key)
		}
	}

	name, content, err := s.UploadBytes(t.Context(), receipt.UploadID)
	if err != nil || name != "report.tsv" || string(content) != "the bytes" {
		t.Errorf("bytes are %q of %q, %v", content, name, err)
	}
	ud, err := s.Upload(t.Context(), receipt.UploadID)
	if err != nil {
		t.Fatal(err)
	}
	wantUpload := bench.UploadDetail{UploadInfo: bench.UploadInfo{
		ID: receipt.UploadID, Filename: "report.tsv", SHA256: u.SHA256, Format: "test", Size: 9,
		Context: bench.Context{Server: "c2", Workload: "cached", Clients: 16}, Actor: "tester", Created: ud.Created,
		State: bench.RecordActive, Taken: 1, Results: 2, Runs: 1, // the step that was not run stands nowhere
	}, Files: b.Files, Warnings: b.Warnings, RunRefs: receipt.Runs}
	if diff := cmp.Diff(wantUpload, ud, cmpopts.EquateEmpty()); diff != "" {
		t.Error("upload (-want +got)", diff)
	}

	x := oneSeries(t, s, bench.SeriesFilter{})
	wantSeries := bench.Series{ID: x.ID, Coordinate: bench.Coordinate{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached",
		Step: "fillseq", Compiler: "gcc", Config: "a0", Clients: 16}, Metric: metric("qps"), Points: []bench.Point{{Version: "8.8.0", Samples: []bench.Sample{{
		Value: 2069271, Resolution: 1, ResultID: d.Results[0].ID, RunID: d.ID, Started: run.Results[0].Started, GitHash: "0000000abc", Excluded: true,
	}}}}}
	if diff := cmp.Diff(wantSeries, x, cmpTimes); diff != "" {
		t.Error("series (-want +got)", diff)
	}
}

func metric(name string) bench.Metric {
	m, _ := bench.LookupMetric(name)
	return m
}
