package ingest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

func TestRepetitionsAreSamplesAndAggregatesAreNot(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "out.json", fixture(t, "googlebench/repetitions-by-hand.json"), bench.Context{Workload: "cached", Version: "8.1"})
	if f := onlyFile(t, b); f.State != bench.FileTaken || f.Format != "google-benchmark JSON" {
		t.Fatalf("%+v", f)
	}
	run := &b.Runs[0]
	if len(b.Runs) != 1 || run.System != "rocksdb" || run.Suite != "google-benchmark" || run.Server != "box" || run.Environment["num_cpus"] != "4" || len(run.Results) != 4 {
		t.Fatalf("%+v", run)
	}
	first, second, mean, failed := &run.Results[0], &run.Results[1], &run.Results[2], &run.Results[3]
	if first.Step != (bench.Step{Name: "DBGet/enable_filter:1", Threads: 4}) || first.PrimaryText != "2.5us" || first.Started.String() != "2024-05-06 07:08:09 +02:00" {
		t.Errorf("%+v", first)
	}
	if diff := cmp.Diff(map[string]float64{"real_time_ns": 2500, "cpu_time_ns": 9750, "operations": 1000, "counter_get_mean": 2.4, "counter_neg_qu_pct": 0}, numbersOf(first), near); diff != "" {
		t.Error(diff)
	}
	if numbersOf(second)["real_time_ns"] != 2700 || second.Step != first.Step {
		t.Errorf("%+v", second)
	}
	if mean.Step.Name != "ManualFlush/key_num:1024" || numbersOf(mean)["real_time_ns"] != 1.5e6 || len(mean.Warnings) != 2 || !strings.Contains(mean.Warnings[0].Text, "the mean of 3 repetitions") {
		t.Errorf("%+v", mean)
	}
	if failed.State != bench.StateFailed || failed.Reason != "IO error: no space" || len(failed.Values) != 0 {
		t.Errorf("%+v", failed)
	}
	if w := first.Warnings; len(w) != 2 || !strings.Contains(w[0].Text, `its label is "x"`) || !strings.Contains(w[1].Text, "CPU scaling") {
		t.Errorf("%v", w)
	}
	// Both repetitions have keys of their own.
	keys := bench.Keys(b)
	if keys[bench.Ref{Run: 0, Result: 0}] == keys[bench.Ref{Run: 0, Result: 1}] {
		t.Error("two repetitions are one measurement")
	}
}

func TestOddMicrobenchmarks(t *testing.T) {
	t.Parallel()
	flags := bench.Context{Server: "s", Workload: "cached", Version: "8.1"}
	text := func(context, entry string) string {
		return "{\n\"context\": {\"num_cpus\": 4, " + context + "\"x\": 1}, \"benchmarks\": [" + entry + "]}"
	}
	_, r := onlyResult(t, mustRead(t, "x", text(`"library_build_type": "debug", `, `{"name": "A", "real_time": 1, "time_unit": "fortnight", "odd name": 3, "big": 1e400}`), flags))
	if r.Excluded != "debug build" || len(r.Values) != 0 || len(r.Warnings) != 4 || !warned(r, `big is no figure: "1e400"`) || !warned(r, `not a counter's name: "odd name"`) {
		t.Errorf("%+v", r)
	}
	_, r = onlyResult(t, mustRead(t, "x", text("", `{"name": "A/threads:2", "real_time": 1.25, "cpu_time": 1}`), flags))
	if r.Step != (bench.Step{Name: "A", Threads: 2}) || numbersOf(r)["real_time_ns"] != 1.25 || !r.Started.IsZero() {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct {
		name, text, contains string
		flags                bench.Context
	}{
		{"no name", text("", `{"real_time": 1}`), "has no name", flags},
		{"no entries", text("", ""), "no benchmark in it", flags},
		{"no version", text("", `{"name": "A"}`), "give --server and --workload and --version", bench.Context{}},
		{"cut", text("", `{"name": "A"`)[:50], "ends in the middle", flags},
	} {
		f := onlyFile(t, mustRead(t, "x", tt.text, tt.flags))
		if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, tt.contains) {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

func TestSharedMicrobenchmark(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "dbbench", "generated")
	run, r := onlyResult(t, mustRead(t, "x.json", readShared(t, dir, "google-benchmark.SYNTHETIC.json"), bench.Context{Workload: "cached", Version: "7.8"}))
	if run.Server != "example" || r.Step.Threads != 1 || r.Step.Name != "DBGet/comp_style:0/max_data:134217728/per_key_size:256/enable_statistics:0/negative_query:0/enable_filter:1/mmap:0" {
		t.Errorf("%+v", run)
	}
	if diff := cmp.Diff(map[string]float64{"real_time_ns": 5321.4, "cpu_time_ns": 5310.2, "operations": 131072, "counter_get_mean": 5.31, "counter_db_size": 134217728}, numbersOf(r), near); diff != "" {
		t.Error(diff)
	}
}

func FuzzGoogle(f *testing.F) {
	f.Add(seed(f, "googlebench/repetitions-by-hand.json"))
	f.Add([]byte("{\n\"context\": {\"num_cpus\": 1}, \"benchmarks\": [{\"name\": \"A\", \"name\": \"B\", \"real_time\": -nan}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Read(data, "x.json", bench.Context{Server: "s1", Workload: "cached", Version: "1"}, Limits{Bytes: 8 << 20})
		if err != nil {
			if bench.KindOf(err) == "" {
				t.Errorf("an error without kind: %v", err)
			}
			return
		}
		sane(t, data, b)
		finite(t, b)
	})
}
