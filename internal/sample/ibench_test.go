package sample

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

func TestSampleHoldsTheConfigsOfTheInsertBenchmark(t *testing.T) {
	t.Parallel()
	var r reader
	if err := Load(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	type place struct{ workload, config, step string }
	results := map[place]*bench.Result{}
	keys := map[bench.Key]bool{}
	for _, b := range r.batches {
		all := bench.Keys(b)
		for i := range b.Runs {
			run := &b.Runs[i]
			if run.Suite != bench.SuiteIBench {
				continue
			}
			if run.System != bench.SystemMyRocks || run.Build.Version != "8.0.28" || run.Build.GitHash != "ef5b9b101" || run.Server != "bee" || run.Clients != 1 {
				t.Errorf("%+v", run)
			}
			for j := range run.Results {
				results[place{run.Workload, run.Config, run.Results[j].Step.Name}] = &run.Results[j]
				keys[all[bench.Ref{Run: i, Result: j}]] = true
			}
		}
	}
	if len(results) != 2*8*6 || len(keys) != len(results) {
		t.Fatalf("%d results, %d measurements", len(results), len(keys))
	}
	// Figures read off the public reports by hand.
	for at, want := range map[place]map[string]float64{
		{"io", "a0", "l.i1"}:     {"ips": 23240, "p99_second_rate": 20178, "max_op_s": 0.107, "cpu_us_per_op": 177},
		{"io", "a3", "l.i1"}:     {"ips": 19106, "p99_second_rate": 3447},
		{"io", "a4", "l.i1"}:     {"ips": 22022, "p99_second_rate": 6992},
		{"io", "a1", "l.x"}:      {"ips": 73377, "rss_gb": 9.5},
		{"cached", "a7", "q500"}: {"qps": 2438, "ips": 499, "rss_gb": 6.9},
	} {
		for metric, v := range want {
			if got, ok := results[at].Value(metric); !ok || got != v {
				t.Errorf("%v %s: %g, want %g", at, metric, got, v)
			}
		}
	}
	for at, operations := range map[place][]string{
		{"io", "a0", "l.x"}: nil, {"io", "a3", "l.i1"}: {"delete", "insert"}, {"cached", "a0", "q100"}: {"delete", "insert", "query"},
	} {
		var got []string
		for _, h := range results[at].Histograms {
			got = append(got, h.Operation)
		}
		if slices.Sort(got); !slices.Equal(got, operations) {
			t.Errorf("%v has response times of %q, want %q", at, got, operations)
		}
	}
	for _, h := range results[place{"io", "a3", "l.i1"}].Histograms {
		if want := map[string]float64{"insert": 5.826, "delete": 5.933}[h.Operation]; h.Percents[3] != want {
			t.Errorf("%s of 4 to 16 ms: %g %%, want %g", h.Operation, h.Percents[3], want)
		}
	}

	// The report itself, uploaded later, is no second measurement.
	dir := filepath.Join(testdata.Shared(t), "data", "ibench", "reports")
	for _, workload := range []string{"cached", "io"} {
		data, err := os.ReadFile(filepath.Join(dir, workload+".mrg.l.i1.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := ingest.Read(data, "mrg.l.i1", bench.Context{Workload: workload, Clients: 1}, ingest.Limits{})
		if err != nil || len(b.Runs) != 8 {
			t.Fatal(err, b)
		}
		for _, k := range bench.Keys(b) {
			if !keys[k] {
				t.Errorf("a row of %s is another measurement", workload)
			}
		}
	}
}
