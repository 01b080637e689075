package postgres_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/postgres"
)

// ibenchTable is an undated row of an Insert Benchmark table.
func ibenchTable(file string, clients int, text string, ips, resolution float64) *bench.Batch {
	r := bench.Result{
		Step: bench.Step{Name: "l.i1"}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Primary: "ips", PrimaryText: text, Text: "l.i1 tag.a3\t" + text, Sources: []bench.Source{{File: file, Line: 2}},
	}
	r.Set(bench.Value{Metric: "ips", Number: ips, Resolution: resolution, SourceName: "ips"})
	return batch(file, bench.Run{
		System: bench.SystemMyRocks, Suite: bench.SuiteIBench, Server: "bee", Workload: "io", Config: "a3", Clients: clients,
		Build: bench.Build{Version: "8.0.28"}, Results: []bench.Result{r},
	})
}

// samplesByClients gives the number of samples by the number of clients.
func samplesByClients(t *testing.T, s *postgres.Store, metric string) map[int]int {
	t.Helper()
	all, err := s.Series(t.Context(), bench.SeriesFilter{Metric: metric})
	if err != nil {
		t.Fatal(err)
	}
	n := map[int]int{}
	for _, x := range all {
		for _, p := range x.Points {
			n[x.Clients] += len(p.Samples)
		}
	}
	return n
}

func TestAnUnstatedNumberOfClientsContradictsNone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		clients []int       // of the same table, upload by upload
		want    map[int]int // samples by clients
	}{
		{[]int{1, 0}, map[int]int{1: 1}},
		{[]int{0, 1}, map[int]int{1: 1}},
		{[]int{0, 0}, map[int]int{0: 1}},
		{[]int{0, 1, 0, 1}, map[int]int{1: 1}},
		{[]int{1, 0, 1, 0}, map[int]int{1: 1}},
		// 4 contradicts 1, whoever came first; what states nothing then fits both.
		{[]int{1, 4}, map[int]int{1: 1, 4: 1}},
		{[]int{0, 1, 4}, map[int]int{1: 1, 4: 1}},
		{[]int{0, 4, 1, 0}, map[int]int{1: 1, 4: 1}},
		{[]int{1, 4, 0}, map[int]int{0: 1, 1: 1, 4: 1}},
	} {
		s, _ := setup(t)
		for i, n := range tt.clients {
			file := fmt.Sprintf("upload %d", i)
			receipt := mustWrite(t, s, upload(file, file), ibenchTable(file, n, "20000", 20000, 1))
			if receipt.Results+receipt.AlreadyThere != 1 {
				t.Errorf("%v: receipt %+v", tt.clients, receipt)
			}
		}
		if diff := cmp.Diff(tt.want, samplesByClients(t, s, "ips")); diff != "" {
			t.Errorf("clients %v: %s", tt.clients, diff)
		}
	}
}

func TestSupplementsFollowARowWhoseClientsAreNotStated(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	first := mustWrite(t, s, upload("a", "a"), ibenchTable("a", 1, "20000", 20000, 1))
	b := ibenchTable("b", 0, "20000", 20000, 1)
	times := b.Runs[0]
	times.Results = []bench.Result{{
		Step: bench.Step{Name: "l.i1"}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured, Text: "l.i1 tag.a3", Supplement: true,
		Histograms: []bench.Histogram{{Operation: "insert", Unit: "µs", Bounds: []float64{256}, Percents: []float64{100}}}, Sources: []bench.Source{{File: "b", Line: 9}},
	}}
	b.Runs = append(b.Runs, times)
	mustWrite(t, s, upload("b", "b"), b)
	d, err := s.Run(t.Context(), first.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Results) != 1 || len(d.Results[0].Histograms) != 1 {
		t.Errorf("%d results, the first with %d histograms; want one with one", len(d.Results), len(d.Results[0].Histograms))
	}
}

// fioRun is what fio says of one run, for people (55.0k) or as JSON.
func fioRun(file, text string, iops, resolution float64) *bench.Batch {
	r := bench.Result{
		Step: bench.Step{Name: "randread-4k-qd8", Threads: 1}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Primary: "iops", PrimaryText: text, Text: text, Sources: []bench.Source{{File: file, Line: 1}},
	}
	r.Started, _ = bench.ParseLocalTime("2026-11-30T13:32:54")
	r.Set(bench.Value{Metric: "iops", Number: iops, Resolution: resolution, SourceName: "iops"})
	return batch(file, bench.Run{
		System: "neard", Suite: bench.SuiteFIO, Server: "n2", Workload: "io", Config: "bs4k", Build: bench.Build{Version: "1.2.3"}, Results: []bench.Result{r},
	})
}

func TestOneRunInTwoFormatsIsOneSample(t *testing.T) {
	t.Parallel()
	people := func(file string) *bench.Batch { return fioRun(file, "55.0k", 55000, 100) }
	exact := func(file string) *bench.Batch { return fioRun(file, "54980.339887", 54980.339887, 0) }
	other := func(file string) *bench.Batch { return fioRun(file, "56.0k", 56000, 100) }
	both := func(file string) *bench.Batch {
		b := exact(file)
		b.Files, b.Runs = append(b.Files, taken("p")), append(b.Runs, people("p").Runs...)
		return b
	}
	client := func(file string) *bench.Batch { return ibenchTable(file, 1, "11994.2", 11994.2, 0.1) }
	table := func(file string) *bench.Batch { return ibenchTable(file, 1, "11994", 11994, 1) }
	unstated := func(file string) *bench.Batch { return ibenchTable(file, 0, "11994", 11994, 1) }
	type uploads []func(string) *bench.Batch
	for _, tt := range []struct {
		name, metric string
		uploads      uploads
		want         int
	}{
		{"for people, then JSON", "iops", uploads{people, exact}, 1},
		{"JSON, then for people", "iops", uploads{exact, people}, 1},
		{"both at once", "iops", uploads{both}, 1},
		{"both at once after one", "iops", uploads{people, both}, 1},
		{"both at once after the other", "iops", uploads{exact, both, people}, 1},
		{"again and again", "iops", uploads{people, exact, people, exact}, 1},
		{"another figure", "iops", uploads{exact, people, other}, 2},
		{"a client's output, then its row", "ips", uploads{client, table}, 1},
		{"a row, then its client's output", "ips", uploads{table, client}, 1},
		{"a row without clients, then its client's output", "ips", uploads{unstated, client, table}, 1},
		{"a client's output, then a row without clients", "ips", uploads{client, unstated, table}, 1},
	} {
		s, _ := setup(t)
		for i, read := range tt.uploads {
			file := fmt.Sprintf("upload %d", i)
			mustWrite(t, s, upload(file, file), read(file))
		}
		n := 0
		for _, samples := range samplesByClients(t, s, tt.metric) {
			n += samples
		}
		if n != tt.want {
			t.Errorf("%s: %d samples, want %d", tt.name, n, tt.want)
		}
	}
}
