package bench

import "testing"

// twin is a run of one result with a figure at a resolution.
func twin(suite, date, label, text string, iops, resolution float64) Run {
	r := Result{
		Step: Step{Name: "randread-4k-qd8"}, Role: RoleMeasure, State: StateOK, Origin: OriginMeasured,
		Primary: "iops", PrimaryText: text, Text: label + "\t" + text, Sources: []Source{{File: text, Line: 1}},
	}
	if date != "" {
		r.Started, _ = ParseLocalTime(date)
	}
	r.Set(Value{Metric: "iops", Number: iops, Resolution: resolution})
	return Run{System: "neard", Suite: suite, Server: "n2", Workload: "io", Config: "bs4k", Build: Build{Version: "1.2"}, Results: []Result{r}}
}

func TestRoundedFigures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                           string
		a, resolutionA, b, resolutionB float64
		want                           bool
	}{
		{"55.0k of fio is 54980.339887", 55000, 100, 54980.339887, 0, true},
		{"the edge of rounding", 55000, 100, 54950, 0, true},
		{"beyond the edge", 55000, 100, 54949, 0, false},
		{"11994 is 11994.2", 11994, 1, 11994.2, 0.1, true},
		{"11994 is not 11994.7", 11994, 1, 11994.7, 0.1, false},
		{"equal digits are figures of their own", 11994, 1, 11994, 1, false},
		{"a resolution that was computed", 11994, 240, 11990.2, 0.1, false},
	} {
		a, b := Value{Metric: "iops", Number: tt.a, Resolution: tt.resolutionA}, Value{Metric: "iops", Number: tt.b, Resolution: tt.resolutionB}
		if Rounded(a, b) != tt.want || Rounded(b, a) != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, !tt.want, tt.want)
		}
	}
	if Rounded(Value{Metric: "iops", Number: 5, Resolution: 1}, Value{Metric: "qps", Number: 5, Resolution: 0.1}) {
		t.Error("figures of two metrics")
	}
}

func TestOneMeasurementInTwoFormatsOfABatch(t *testing.T) {
	t.Parallel()
	const date = "2026-11-30T13:32:54"
	exact := twin(SuiteFIO, date, "", "54980.339887", 54980.339887, 0)
	other := func(change func(*Run)) Run {
		run := twin(SuiteFIO, date, "", "55.0k", 55000, 100)
		change(&run)
		return run
	}
	for _, tt := range []struct {
		name string
		run  Run
		same bool
	}{
		{"the same", other(func(*Run) {}), true},
		{"the same, without config", other(func(r *Run) { r.Config = "" }), true},
		{"another second", other(func(r *Run) { r.Results[0].Started = NewLocalTime(2026, 11, 30, 13, 32, 55) }), false},
		{"another config", other(func(r *Run) { r.Config = "bs8k" }), false},
		{"another server", other(func(r *Run) { r.Server = "n3" }), false},
		{"another step", other(func(r *Run) { r.Results[0].Step.Name = "randread-8k-qd8" }), false},
		{"another version", other(func(r *Run) { r.Build.Version = "1.3" }), false},
		{"another figure", twin(SuiteFIO, date, "", "55.2k", 55200, 100), false},
		{"no date", other(func(r *Run) { r.Results[0].Started = LocalTime{} }), false},
		{"a suite that prints figures alike", other(func(r *Run) { r.Suite = SuiteDBBench }), false},
	} {
		for _, order := range [][]Run{{exact, tt.run}, {tt.run, exact}} {
			keys := Keys(&Batch{Runs: order})
			if same := keys[Ref{Run: 0}] == keys[Ref{Run: 1}]; same != tt.same {
				t.Errorf("%s: one measurement: %t", tt.name, same)
			}
		}
	}
	// Two that the coarser figure may be: nothing says which.
	second := twin(SuiteFIO, date, "", "55010.1", 55010.1, 0)
	b := &Batch{Runs: []Run{exact, second, other(func(*Run) {})}}
	if keys := Keys(b); keys[Ref{Run: 2}] == keys[Ref{Run: 0}] || keys[Ref{Run: 2}] == keys[Ref{Run: 1}] || keys[Ref{Run: 0}] == keys[Ref{Run: 1}] {
		t.Error("a figure that may be either of two was given to one")
	}
	// Undated rows of the Insert Benchmark are told by step and tag.
	client, table := twin(SuiteIBench, "", "l.i1 tag.a4", "11994.2", 11994.2, 0.1), twin(SuiteIBench, "", "l.i1 tag.a4", "11994", 11994, 1)
	if keys := Keys(&Batch{Runs: []Run{client, table}}); keys[Ref{Run: 0}] != keys[Ref{Run: 1}] {
		t.Error("the output of a client and its row in a table are two measurements")
	}
	table = twin(SuiteIBench, "", "l.i1 tag.a5", "11994", 11994, 1)
	if keys := Keys(&Batch{Runs: []Run{client, table}}); keys[Ref{Run: 0}] == keys[Ref{Run: 1}] {
		t.Error("another tag is the same measurement")
	}
}

func TestKeysWithOtherClients(t *testing.T) {
	t.Parallel()
	undated := twin(SuiteIBench, "", "l.i1 tag", "100", 100, 1)
	stated := undated
	stated.Clients = 4
	dated := twin(SuiteFIO, "2026-11-30T13:32:54", "", "5", 5, 1)
	b := &Batch{Runs: []Run{undated, stated, dated}}
	own := Keys(b)
	if got := KeysWithClients(b, 4); len(got) != 1 || got[Ref{Run: 0}] != own[Ref{Run: 1}] {
		t.Errorf("with 4 clients: %v, want the key of the run that states them", got)
	}
	if got := KeysWithClients(b, 0); len(got) != 1 || got[Ref{Run: 1}] != own[Ref{Run: 0}] {
		t.Errorf("without clients: %v, want the key of the run that states none", got)
	}
}
