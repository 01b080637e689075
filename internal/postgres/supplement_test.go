package postgres_test

import (
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// bee is an undated run of the Insert Benchmark.
func bee(config string, results ...bench.Result) bench.Run {
	return bench.Run{System: bench.SystemMyRocks, Suite: bench.SuiteIBench, Server: "bee", Workload: "io", Config: config, Clients: 1,
		Build: bench.Build{Version: "8.0.28"}, Results: results}
}

// tableRow is a row of a metrics table, known by its label and its text.
func tableRow(file, label, ips string) bench.Result {
	r := bench.Result{Step: bench.Step{Name: "l.i1"}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Primary: "ips", PrimaryText: ips, Text: label + "\t" + ips, Sources: []bench.Source{{File: file, Line: 2}}}
	r.Set(bench.Value{Metric: "ips", Number: number(ips), Resolution: 1, SourceName: "ips"})
	return r
}

// responseTimes is a row of a table of response times.
func responseTimes(file, label, operation string) bench.Result {
	longest := 107000.0
	return bench.Result{Step: bench.Step{Name: "l.i1"}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Text: label, Supplement: true, Sources: []bench.Source{{File: file, Line: 2}},
		Histograms: []bench.Histogram{{Operation: operation, Unit: "µs", Bounds: []float64{4000, 16000}, Percents: []float64{99.657, 0.343}, Max: &longest}}}
}

func TestSupplementsJoinTheStoredResultTheyBelongTo(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	first := mustWrite(t, s, upload("mrg", "mrg"), batch("mrg", bee("a0", tableRow("mrg", "l.i1 x", "23240")), bee("a1", tableRow("mrg", "l.i1 y", "23073"))))
	lone := bee("a0", responseTimes("rt", "l.i1 x", "insert"))
	lone.Clients = 0 // not stated there
	second := mustWrite(t, s, upload("rt", "rt"), batch("rt", lone))
	if second.Results != 0 || second.AlreadyThere != 1 || second.Merged != 1 || second.Values != 0 || len(second.Refused) > 0 {
		t.Errorf("receipt %+v, want a distribution merged", second)
	}
	if len(second.Runs) != 1 || second.Runs[0].ID != first.Runs[0].ID {
		t.Errorf("runs %v, want %v", second.Runs, first.Runs[0])
	}
	d, err := s.Run(t.Context(), first.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Results) != 1 || len(d.Results[0].Histograms) != 1 || d.Results[0].Histograms[0].Percents[1] != 0.343 || len(d.Results[0].From) != 2 || len(d.Uploads) != 2 || d.Clients != 1 {
		t.Errorf("%+v", d)
	}
	// The other config has none, and n has not grown.
	d, err = s.Run(t.Context(), first.Runs[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Results[0].Histograms) != 0 {
		t.Errorf("%+v", d.Results[0].Histograms)
	}
	if n := counts(t, pool)["result"]; n != 2 {
		t.Errorf("%d results, want 2", n)
	}
	x := oneSeries(t, s, bench.SeriesFilter{Configs: []string{"a0"}, Metric: "ips"})
	if len(x.Points) != 1 || len(x.Points[0].Samples) != 1 {
		t.Errorf("%+v", x.Points)
	}
	// Another operation joins as well, the same once more adds nothing.
	third := mustWrite(t, s, upload("rt2", "rt2"), batch("rt2", bee("a0", responseTimes("rt2", "l.i1 x", "delete"), responseTimes("rt2", "l.i1 x", "insert"))))
	if third.Merged != 1 || third.AlreadyThere != 2 {
		t.Errorf("receipt %+v", third)
	}
	if n := counts(t, pool)["histogram"]; n != 2 {
		t.Errorf("%d distributions, want 2", n)
	}
}

func TestSupplementsWithoutOneResultAreRefused(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	refused := func(name, file string, run bench.Run) {
		t.Helper()
		if _, err := s.Write(t.Context(), upload(file, file), batch(file, run), nil); bench.KindOf(err) != bench.KindInvalid && bench.KindOf(err) != bench.KindConflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused("nothing is stored", "rt0", bee("a0", responseTimes("rt0", "l.i1 x", "insert")))
	mustWrite(t, s, upload("mrg", "mrg"), batch("mrg", bee("a0", tableRow("mrg", "l.i1 x", "23240"))))
	refused("another label", "rt1", bee("a0", responseTimes("rt1", "l.i1 z", "insert")))
	refused("another config", "rt2", bee("a1", responseTimes("rt2", "l.i1 x", "insert")))
	other := bee("a0", responseTimes("rt3", "l.i1 x", "insert"))
	other.Workload = "cached"
	refused("another workload", "rt3", other)
	other = bee("a0", responseTimes("rt4", "l.i1 x", "insert"))
	other.Clients = 4
	refused("other clients", "rt4", other)
	// Measured again under the same name: nothing says which of the two.
	mustWrite(t, s, upload("mrg2", "mrg2"), batch("mrg2", bee("a0", tableRow("mrg2", "l.i1 x", "23000"))))
	refused("two results", "rt5", bee("a0", responseTimes("rt5", "l.i1 x", "insert")))
	if n := counts(t, pool); n["result"] != 2 || n["histogram"] != 0 || n["upload"] != 2 {
		t.Errorf("%v", n)
	}
}

func TestSupplementsBesideTheirResultAreStoredWithIt(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	b := batch("mrg", bee("a0", responseTimes("rt", "l.i1 x", "insert")), bee("a0", tableRow("mrg", "l.i1 x", "23240")))
	b.Files = append(b.Files, taken("rt"))
	receipt := mustWrite(t, s, upload("r.tar", "r"), b)
	if receipt.Results != 1 || len(receipt.Runs) != 1 || receipt.Merged != 1 {
		t.Errorf("receipt %+v", receipt)
	}
	if n := counts(t, pool); n["result"] != 1 || n["histogram"] != 1 || n["run"] != 1 || n["result_source"] != 2 {
		t.Errorf("%v", n)
	}
	// Withdrawn with its upload and uploaded again it is whole again.
	if err := s.WithdrawUpload(t.Context(), receipt.UploadID, "wrong", "tester", nil); err != nil {
		t.Fatal(err)
	}
	again := mustWrite(t, s, upload("r.tar", "r"), b)
	d, err := s.Run(t.Context(), again.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if d.State != bench.RecordActive || len(d.Results) != 1 || d.Results[0].Withdrawn || len(d.Results[0].Histograms) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestChecksMadeWhileReadingAreKept(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	b := batch("mrg", bee("a0", tableRow("mrg", "l.i1 x", "23240")))
	b.Files = append(b.Files, taken("rel"))
	b.Checks = []bench.Check{{File: "rel", Kind: string(bench.MatrixRelative), Cells: 20, Agree: 19, Unknown: 2, Messages: []bench.Message{{File: "rel", Line: 3, Column: "p99", Text: "0.99 here"}}}}
	receipt := mustWrite(t, s, upload("r.tar", "r"), b)
	d, err := s.Upload(t.Context(), receipt.UploadID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]bench.Check{receipt.Checks, d.Checks} {
		if len(c) != 1 || c[0].File != "rel" || c[0].Cells != 20 || c[0].Agree != 19 || c[0].Unknown != 2 || len(c[0].Messages) != 1 || c[0].Messages[0].Column != "p99" {
			t.Errorf("%+v", c)
		}
	}
}
