package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// result is a row of a file; date "" makes it undated.
func result(file string, line int, step, date, qps string) Result {
	r := Result{Step: ParseStep(step), Role: RoleMeasure, State: StateOK, Origin: OriginMeasured, Primary: "qps", PrimaryText: qps,
		Text: step + " " + qps, Sources: []Source{{File: file, Line: line}}}
	if date != "" {
		r.Started, _ = ParseLocalTime(date)
	}
	r.Set(Value{Metric: "qps", Number: float64(len(qps)), Resolution: 1})
	return r
}

func runOf(version, compiler string, results ...Result) Run {
	return Run{System: SystemRocksDB, Suite: SuiteDBBench, Server: "c2", Workload: "cached",
		Build: Build{Version: version, Compiler: compiler}, Results: results}
}

const start = "2023-11-09T16:54:47"

func TestWhatADatedMeasurementIsKnownBy(t *testing.T) {
	t.Parallel()
	base := runOf("8.8.0", "gcc", result("a", 1, "readrandom.t8", start, "100"))
	key := func(change func(*Run, *Result)) Key {
		run := base
		run.Results = slices.Clone(base.Results)
		change(&run, &run.Results[0])
		return MeasurementKey(&run, &run.Results[0], 0)
	}
	same := key(func(*Run, *Result) {})
	for name, change := range map[string]func(*Run, *Result){
		"workload":   func(run *Run, _ *Result) { run.Workload = "iobuf" },
		"compiler":   func(run *Run, _ *Result) { run.Build.Compiler = "clang" },
		"config":     func(run *Run, _ *Result) { run.Config = "a1" },
		"clients":    func(run *Run, _ *Result) { run.Clients = 9 },
		"run id":     func(run *Run, _ *Result) { run.ID = "x" },
		"text":       func(_ *Run, r *Result) { r.Text = "other" },
		"attributes": func(_ *Run, r *Result) { r.Step.Threads = 0 },
		"the zone":   func(_ *Run, r *Result) { r.Started = ZonedTime(r.Started.Wall()) },
		"file":       func(_ *Run, r *Result) { r.Sources = nil },
	} {
		if key(change) != same {
			t.Errorf("%s makes another measurement", name)
		}
	}
	for name, change := range map[string]func(*Run, *Result){
		"server":  func(run *Run, _ *Result) { run.Server = "u5" },
		"system":  func(run *Run, _ *Result) { run.System = "x" },
		"suite":   func(run *Run, _ *Result) { run.Suite = "x" },
		"version": func(run *Run, _ *Result) { run.Build.Version = "8.8.1" },
		"step":    func(_ *Run, r *Result) { r.Step.Name = "fwdrange" },
		"figure":  func(_ *Run, r *Result) { r.PrimaryText = "100.0" },
		"start":   func(_ *Run, r *Result) { r.Started = NewLocalTime(2023, 11, 9, 16, 54, 48) },
		"failure": func(_ *Run, r *Result) { r.PrimaryText, r.State, r.Reason = "", StateFailed, "killed" },
	} {
		if key(change) == same {
			t.Errorf("%s makes no other measurement", name)
		}
	}
	if MeasurementKey(&base, &base.Results[0], 1) == same {
		t.Error("an ordinal makes no other measurement")
	}
}

func TestWhatAnUndatedMeasurementIsKnownBy(t *testing.T) {
	t.Parallel()
	base := runOf("8.8.0", "gcc", result("a", 1, "readrandom", "", "100"))
	key := func(change func(*Run, *Result)) Key {
		run := base
		run.Results = slices.Clone(base.Results)
		change(&run, &run.Results[0])
		return MeasurementKey(&run, &run.Results[0], 0)
	}
	same := key(func(*Run, *Result) {})
	if key(func(_ *Run, r *Result) { r.Sources = nil }) != same {
		t.Error("the file makes another measurement")
	}
	for name, change := range map[string]func(*Run, *Result){
		"workload": func(run *Run, _ *Result) { run.Workload = "iobuf" },
		"compiler": func(run *Run, _ *Result) { run.Build.Compiler = "clang" },
		"config":   func(run *Run, _ *Result) { run.Config = "a1" },
		"clients":  func(run *Run, _ *Result) { run.Clients = 9 },
		"server":   func(run *Run, _ *Result) { run.Server = "u5" },
		"text":     func(_ *Run, r *Result) { r.Text = "other" },
		"state":    func(_ *Run, r *Result) { r.State = StateNotRun },
	} {
		if key(change) == same {
			t.Errorf("%s makes no other measurement", name)
		}
	}
	// A cell of a matrix is known by its figure, as the row's text differs
	// between a comma and a tab separated file.
	cell := func(text string) Key {
		return key(func(_ *Run, r *Result) { r.Origin, r.Text = OriginMatrix, text })
	}
	if cell("a,b") != cell("a\tb") {
		t.Error("the row's text makes another measurement of a matrix cell")
	}
	// Within a run of our runner the id is enough.
	mine := func(text string) Key { return key(func(run *Run, r *Result) { run.ID, r.Text = "x", text }) }
	if mine("a") != mine("b") || mine("a") == same {
		t.Error("an undated result of our runner is not known by its run's id")
	}
}

func TestKeysCountEqualOnesWithinAFile(t *testing.T) {
	t.Parallel()
	b := &Batch{Runs: []Run{
		runOf("8.8.0", "gcc", result("a", 1, "readrandom", start, "7"), result("a", 2, "readrandom", start, "7")),
		runOf("8.8.0", "gcc", result("b", 1, "readrandom", start, "7")),
	}}
	keys := Keys(b)
	first, second, other := keys[Ref{0, 0}], keys[Ref{0, 1}], keys[Ref{1, 0}]
	if first == second || first != other {
		t.Errorf("keys %s, %s of one file and %s of another: want the first and the last to be the same", first, second, other)
	}
}

func TestRunKeys(t *testing.T) {
	t.Parallel()
	a := runOf("8.8.0", "gcc", result("a", 1, "readrandom", start, "7"), result("a", 2, "fillseq", "2023-11-09T10:00:00", "9"))
	b := runOf("8.8.0", "gcc", a.Results[1])
	if RunKey(&a) != RunKey(&b) {
		t.Error("runs with one first start and context have two keys")
	}
	later := runOf("8.8.0", "gcc", a.Results[0])
	clang := a
	clang.Build.Compiler = "clang"
	for name, run := range map[string]*Run{"first start": &later, "compiler": &clang} {
		if RunKey(run) == RunKey(&a) {
			t.Errorf("%s makes no other run", name)
		}
	}
	undated := runOf("8.8.0", "gcc", result("a", 1, "readrandom", "", "7"))
	other := runOf("8.8.0", "gcc", result("a", 1, "readrandom", "", "8"))
	if RunKey(&undated) == RunKey(&other) {
		t.Error("undated runs of other figures have one key")
	}
	a.ID = "0f2c8a52-6d8d-4d9e-9f31-0a3d1c6f2b10"
	if RunKey(&a) != a.ID {
		t.Error("the id of our runner is not the key")
	}
	if FirstStart(&b) != b.Results[0].Started || !FirstStart(&undated).IsZero() {
		t.Error("first start")
	}
}

func TestClientsOfARun(t *testing.T) {
	t.Parallel()
	run := runOf("8.8.0", "gcc", result("a", 1, "readrandom.t8", start, "7"), result("a", 2, "readwhilewriting.t36", start, "7"))
	if n := RunClients(&run); n != 36 {
		t.Errorf("%d, want the largest number of threads", n)
	}
	run.Clients = 40
	if n := RunClients(&run); n != 40 {
		t.Errorf("%d, want what was stated", n)
	}
	none := runOf("8.8.0", "gcc", result("a", 1, "fillseq", start, "7"))
	if n := RunClients(&none); n != 0 {
		t.Errorf("%d, want 0: nothing says it", n)
	}
}

// outline puts a plan into words: what is new, what is added to what, which
// files are refused.
func outline(p Plan) string {
	var parts []string
	for _, ref := range p.New {
		parts = append(parts, fmt.Sprintf("new %d.%d", ref.Run, ref.Result))
	}
	for _, a := range p.Additions {
		to := fmt.Sprintf("%d.%d", a.Into.Run, a.Into.Result)
		if a.Stored != nil {
			to = fmt.Sprint("stored ", a.Stored.ResultID)
		}
		parts = append(parts, fmt.Sprintf("%d.%d to %s +%d !%d", a.Ref.Run, a.Ref.Result, to, len(a.Values), len(a.Warnings)))
	}
	var files []string
	for f := range p.Refused {
		files = append(files, "refused "+f)
	}
	slices.Sort(files)
	return strings.Join(append(parts, files...), ", ")
}

func TestDecide(t *testing.T) {
	t.Parallel()
	unnamed := func(r Result) Result { r.ContextFromStore = true; return r }
	value := func(r Result, metric string, n, resolution float64) Result {
		r.Values = slices.Clone(r.Values)
		r.Set(Value{Metric: metric, Number: n, Resolution: resolution})
		return r
	}
	fill, other := result("a", 1, "fillseq", start, "100"), result("b", 2, "fillseq", start, "100")
	storedAs := func(workload, compiler, config string, values ...Value) map[Key]*Stored {
		run := runOf("8.8.0", "gcc")
		return map[Key]*Stored{MeasurementKey(&run, &fill, 0): {ResultID: 5, RunID: 3, Workload: workload, Compiler: compiler, Config: config,
			Values: append([]Value{{Metric: "qps", Number: 3, Resolution: 1}}, values...), Where: "sum:12 of upload 3"}}
	}
	assume := func(run Run, fields ...string) Run { run.Assumed = fields; return run }
	config := func(run Run, c string) Run { run.Config = c; return run }
	for name, test := range map[string]struct {
		runs   []Run
		stored map[Key]*Stored
		want   string
	}{
		"unknown":                      {[]Run{runOf("8.8.0", "gcc", fill)}, nil, "new 0.0"},
		"stored with the same context": {[]Run{runOf("8.8.0", "gcc", fill)}, storedAs("cached", "gcc", ""), "0.0 to stored 5 +0 !0"},
		"a metric more":                {[]Run{runOf("8.8.0", "gcc", value(fill, "p99", 4, 1))}, storedAs("cached", "gcc", ""), "0.0 to stored 5 +1 !0"},
		"another figure":               {[]Run{runOf("8.8.0", "gcc", value(fill, "p99", 4, 1))}, storedAs("cached", "gcc", "", Value{Metric: "p99", Number: 9}), "0.0 to stored 5 +0 !1"},
		"a figure printed more coarsely": {[]Run{runOf("8.8.0", "gcc", value(fill, "user_cpu_s", 1200, 100))},
			storedAs("cached", "gcc", "", Value{Metric: "user_cpu_s", Number: 1249.5, Resolution: 0.01}), "0.0 to stored 5 +0 !0"},
		"stored with another workload":          {[]Run{runOf("8.8.0", "gcc", fill)}, storedAs("iobuf", "gcc", ""), "refused a"},
		"stored with another compiler":          {[]Run{runOf("8.8.0", "gcc", fill)}, storedAs("cached", "clang", ""), "refused a"},
		"stored with another config":            {[]Run{config(runOf("8.8.0", "gcc", fill), "a1")}, storedAs("cached", "gcc", "a0"), "refused a"},
		"stored with a config not stated":       {[]Run{runOf("8.8.0", "gcc", fill)}, storedAs("cached", "gcc", "a0"), "0.0 to stored 5 +0 !0"},
		"an assumed compiler":                   {[]Run{assume(runOf("8.8.0", "gcc", fill), "compiler")}, storedAs("cached", "clang", ""), "0.0 to stored 5 +0 !0"},
		"an unnamed build that is stored":       {[]Run{runOf("8.8.0", "", unnamed(fill))}, storedAs("iobuf", "clang", "a7"), "0.0 to stored 5 +0 !0"},
		"an unnamed build":                      {[]Run{runOf("8.8.0", "", unnamed(fill))}, nil, "refused a"},
		"an unnamed build before its source":    {[]Run{runOf("8.8.0", "", unnamed(fill)), runOf("8.8.0", "clang", other)}, nil, "new 1.0, 0.0 to 1.0 +0 !0"},
		"twice in an upload":                    {[]Run{runOf("8.8.0", "gcc", fill), runOf("8.8.0", "gcc", value(other, "p99", 4, 1))}, nil, "new 0.0, 1.0 to 0.0 +1 !0"},
		"three times, figures once":             {[]Run{runOf("8.8.0", "gcc", fill), runOf("8.8.0", "gcc", value(other, "p99", 4, 1)), runOf("8.8.0", "gcc", value(result("c", 1, "fillseq", start, "100"), "p99", 4, 1))}, nil, "new 0.0, 1.0 to 0.0 +1 !0, 2.0 to 0.0 +0 !0"},
		"twice in an upload with other context": {[]Run{runOf("8.8.0", "gcc", fill), runOf("8.8.0", "clang", other)}, nil, "new 0.0, refused b"},
		"a contradiction to a file that is refused itself": {
			[]Run{runOf("8.8.0", "clang", result("a", 1, "fillseq", start, "100")), runOf("8.8.0", "gcc", other)},
			storedAs("cached", "gcc", ""), "1.0 to stored 5 +0 !0, refused a"},
		"one bad row refuses the whole file": {
			[]Run{runOf("8.8.0", "gcc", result("a", 9, "readrandom", start, "5")), runOf("8.8.0", "clang", fill)}, storedAs("cached", "gcc", ""), "refused a"},
		// b leans on a for one row; a leans on nobody for another and is refused.
		"an unnamed build whose source is refused": {
			[]Run{runOf("8.8.0", "", unnamed(other)), runOf("8.8.0", "clang", fill), runOf("8.8.0", "", unnamed(result("a", 2, "readrandom", start, "5")))},
			nil, "refused a, refused b"},
		"nothing": {nil, nil, ""},
	} {
		b := &Batch{Runs: test.runs}
		if got := outline(Decide(b, Keys(b), test.stored)); got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}

func TestRefusalsAreBoundedAndNamePlaces(t *testing.T) {
	t.Parallel()
	stored := map[Key]*Stored{}
	run := runOf("8.8.0", "gcc")
	for i := range 3 * RefusalsPerFile {
		r := result("a", i+1, "fillseq", start, fmt.Sprint(i))
		stored[MeasurementKey(&run, &r, 0)] = &Stored{Workload: "iobuf", Compiler: "gcc", Where: "sum:12 of upload 3"}
		run.Results = append(run.Results, r)
	}
	b := &Batch{Runs: []Run{run}}
	got := Decide(b, Keys(b), stored).Refused["a"]
	if len(got) != RefusalsPerFile {
		t.Fatalf("%d places, want %d", len(got), RefusalsPerFile)
	}
	if m := got[1]; m.File != "a" || m.Line != 2 || !strings.Contains(m.Text, "sum:12 of upload 3") || !strings.Contains(m.Text, `workload "cached" here, "iobuf" there`) {
		t.Errorf("message %v", m)
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	run := runOf("8.8.0", "gcc")
	run.Config = "a0"
	if diff := run.Contradicts("cached", "gcc", "a0"); diff != "" {
		t.Error(diff)
	}
	if diff := run.Contradicts("iobuf", "clang", "a1"); diff != `workload "cached" here, "iobuf" there, compiler "gcc" here, "clang" there, config "a0" here, "a1" there` {
		t.Error(diff)
	}
	run.Config, run.Assumed = "", []string{"compiler", "workload"}
	if diff := run.Contradicts("iobuf", "clang", "a1"); diff != "" {
		t.Error(diff)
	}
}

func TestValuesAreFiniteAndUnique(t *testing.T) {
	t.Parallel()
	var r Result
	r.Set(Value{Metric: "qps", Number: 1})
	r.Set(Value{Metric: "qps", Number: 2})
	zero := 0.0
	r.Set(Value{Metric: "p99", Number: 1 / zero})
	r.Set(Value{Metric: "p50", Number: zero / zero})
	if v, ok := r.Value("qps"); len(r.Values) != 1 || !ok || v != 2 {
		t.Errorf("values %v, want the later qps alone", r.Values)
	}
	if _, ok := r.Value("p99"); ok {
		t.Error("an infinite value is there")
	}
}

func TestTheSameMeasurementUnderOtherSpellingsOfItsVersion(t *testing.T) {
	t.Parallel()
	key := func(version string) Key {
		r := Result{Step: Step{Name: "fillseq"}, State: StateOK, Started: NewLocalTime(2022, 6, 1, 10, 0, 0), Primary: "qps", PrimaryText: "100"}
		return MeasurementKey(&Run{Server: "c2", System: "rocksdb", Suite: "db_bench", Build: Build{Version: version}}, &r, 0)
	}
	for _, same := range []string{"7.3.2", "v7.3.2", "7.03.2", " 7.3.2"} {
		if key(same) != key("7.3.2") {
			t.Errorf("%q and 7.3.2 are two measurements", same)
		}
	}
	for _, other := range []string{"7.3", "7.3.1", "7.30.2", "7.4.2", "main", ""} {
		if key(other) == key("7.3.2") {
			t.Errorf("%q and 7.3.2 are one measurement", other)
		}
	}
	undated := func(version string) Key {
		r := Result{Step: Step{Name: "fillseq"}, State: StateOK, Text: "fillseq : 1"}
		return MeasurementKey(&Run{Server: "c2", Build: Build{Version: version}}, &r, 0)
	}
	if undated("7.3.2") != undated("v7.3.2") || undated("7.3.2") == undated("7.3.1") {
		t.Error("an undated figure is known by its whole version, however spelled")
	}
}
