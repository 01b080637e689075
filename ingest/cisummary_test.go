package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func TestSummaryOfRegressionTest(t *testing.T) {
	t.Parallel()
	flags := bench.Context{Server: "s1", Workload: "cached", Version: "7.8.3"}
	b := mustRead(t, "SUMMARY.csv", fixture(t, "tables/regression_test.SUMMARY.csv"), flags)
	f := onlyFile(t, b)
	if f.State != bench.FileTaken || f.Format != "SUMMARY.csv" {
		t.Fatalf("%+v", f)
	}
	if len(f.Messages) != 1 || f.Messages[0].Line != 4 {
		t.Errorf("the run that failed is not told of: %v", f.Messages)
	}
	if len(b.Runs) != 1 || len(b.Runs[0].Results) != 2 {
		t.Fatalf("%v", runsOf(b))
	}
	run, r := &b.Runs[0], &b.Runs[0].Results[0]
	if run.Build.GitHash != "1dfa7297933df05237ac11376d6cb69d32591b1d" || run.Build.Compiler != "" || run.Options["key_range"] != "200000" {
		t.Errorf("%+v %v", run.Build, run.Options)
	}
	if diff := cmp.Diff(bench.Step{Name: "readrandom", Threads: 2, ValueBytes: 400}, r.Step); diff != "" {
		t.Error(diff)
	}
	// Percentiles are in nanoseconds; sys-sec 0 was not measured.
	want := map[string]float64{"qps": 49012, "p50": 3.93, "p75": 5.49, "p99": 103.68, "p99_9": 9350.09, "p99_99": 50682.27, "real_s": 4, "user_cpu_s": 5}
	if diff := cmp.Diff(want, numbersOf(r), near); diff != "" {
		t.Error(diff)
	}
	if r.Excluded != "" || !r.Started.IsZero() || !strings.HasPrefix(r.Text, "1dfa7297933df05237ac11376d6cb69d32591b1d,readrandom,,1,") {
		t.Errorf("%+v", r)
	}
}

func TestDebugRowsOfSummaryAreExcluded(t *testing.T) {
	t.Parallel()
	header := " commit id, benchmark, user@host, num-dbs, key-range, key-size, value-size, compress-rate(%), ops-per-thread, num-threads, cache-size(bytes), flushes, compactions, ops-per-s, p50, p75, p99, p99.9, p99.99, debug, real-sec, user-sec, sys-sec\n"
	row := "      unknown, seekrandom_asyncio, root@h, 1, 10, 20, 400, 50, 100, 4, 1024, 1, 2, 777, 1500, 2000, 3000, x, 5000, 1, 0, 0, 0\n"
	flags := bench.Context{Server: "s1", Workload: "cached", Version: "7.8.3"}
	run, r := onlyResult(t, mustRead(t, "SUMMARY.csv", header+row, flags))
	if r.Excluded != "debug build" || run.Build.GitHash != "" || run.Environment["user_at_host"] != "root@h" {
		t.Errorf("%q %+v", r.Excluded, run)
	}
	if diff := cmp.Diff(map[string]float64{"qps": 777, "p50": 1.5, "p75": 2, "p99": 3, "p99_99": 5}, numbersOf(r), near); diff != "" {
		t.Error(diff)
	}
	if len(r.Warnings) != 2 || r.Warnings[1].Column != "p99.9" {
		t.Errorf("%v", r.Warnings)
	}
	for _, tt := range []struct {
		name, text, contains string
		flags                bench.Context
	}{
		{"no version", header + row, "give --version", bench.Context{Server: "s", Workload: "cached"}},
		{"a row too short", header + "a,b,c\n", "3 cells, its header 23", flags},
		{"no rows", header, "no rows", flags},
		{"no benchmark", header + strings.Replace(row, "seekrandom_asyncio", "", 1), "benchmark's name", flags},
	} {
		f := onlyFile(t, mustRead(t, "SUMMARY.csv", tt.text, tt.flags))
		if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, tt.contains) {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}
