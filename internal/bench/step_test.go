package bench

import (
	"reflect"
	"slices"
	"testing"
)

func on(v bool) *bool { return &v }

func TestParseStep(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Step{
		"fillseq.wal_disabled.v400":        {Name: "fillseq", WAL: on(false), ValueBytes: 400},
		"fillseq.wal_enabled.v400":         {Name: "fillseq", WAL: on(true), ValueBytes: 400},
		"readrandom.t8":                    {Name: "readrandom", Threads: 8},
		"overwriteandwait.t8.s0":           {Name: "overwriteandwait", Threads: 8, Sync: on(false)},
		"updaterandom.t16.s1":              {Name: "updaterandom", Threads: 16, Sync: on(true)},
		" revrange.t1 ":                    {Name: "revrange", Threads: 1},
		"bulkload":                         {Name: "bulkload"},
		"readrandom3.t8":                   {Name: "readrandom3", Threads: 8},
		"flush_mt_l0":                      {Name: "flush"},
		"man_compact_fillrandom_3":         {Name: "man_compact_fillrandom_3"},
		"l.i1":                             {Name: "l.i1"},
		"q.L1.ips100":                      {Name: "q.L1.ips100"},
		"readrandom.t8.x":                  {Name: "readrandom.t8.x"},
		"":                                 {},
		"readrandom.t99999999999999999999": {Name: "readrandom", Threads: 0},
	} {
		got := ParseStep(name)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("ParseStep(%q) = %+v, want %+v", name, got, want)
		}
	}
}

func TestRolesOfSteps(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"revrange", "overwritesome", "flush"} {
		if StepRole(SuiteDBBench, step) != RolePrepare {
			t.Errorf("%s measures", step)
		}
		if StepRole(SuiteIBench, step) != RoleMeasure {
			t.Errorf("%s of another suite prepares", step)
		}
	}
	for _, step := range []string{"fillseq", "readrandom", "overwriteandwait", "overwrite", "made up"} {
		if StepRole(SuiteDBBench, step) != RoleMeasure {
			t.Errorf("%s prepares", step)
		}
	}
}

func TestStepsAreShownInTheOrderTheyRun(t *testing.T) {
	t.Parallel()
	want := []string{"fillseq", "l.i0", "readrandom", "multireadrandom", "revrange", "fwdrange", "revrangewhilewriting", "fwdrangewhilewriting",
		"readwhilewriting", "overwritesome", "flush", "overwrite", "overwriteandwait", "l.x", "l.i1", "l.i2",
		"q100", "qr100", "qp100", "q500", "qr500", "qp500", "q1000", "qr1000", "qp1000", "made up"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareSteps)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, step := range want {
		if !slices.Contains(StepGroups(), StepGroup(step)) {
			t.Errorf("%s is in group %q, which is not listed", step, StepGroup(step))
		}
	}
	for step, group := range map[string]string{
		"readwhilewriting": "read while writing", "l.i0": "load", "l.x": "index", "l.i1": "insert", "l.i2": "insert",
		"q100": "query while inserting", "qr100": "query while inserting", "qp1000": "query while inserting",
		"q": "other", "qx100": "other", "q100.1": "other", "q99999999999": "other", "made up": "other",
	} {
		if got := StepGroup(step); got != group {
			t.Errorf("%s is in group %q, want %q", step, got, group)
		}
	}
}

func TestNamesOfInsertBenchmarkSteps(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"l.i0": "l.i0", "l.x": "l.x", "l.i1": "l.i1", "l.i2": "l.i2",
		"q.L1.ips100": "q100", "q.L12.ips1000": "q1000", "q100.1": "q100", "q1000.2": "q1000", "q100": "q100",
		"qr100.L1": "qr100", "qp1000.L6": "qp1000", "qr500": "qr500",
		"": "", "l.i3": "", "l.i0.x": "", "q": "", "q.L1": "", "q.ips100": "", "qr": "", "qr100.1": "", "q100.L1": "", "readrandom": "", "qx100.L1": "",
	} {
		if got, ok := IBenchStep(name); got != want || ok != (want != "") {
			t.Errorf("IBenchStep(%q) = %q, %t; want %q", name, got, ok, want)
		}
	}
}

func TestShortSteps(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{"revrangewhilewriting": "revrangeww", "fwdrangewhilewriting": "fwdrangeww", "readwhilewriting": "readww", "fillseq": "fillseq", "x": "x"} {
		if got := ShortStep(step); got != want {
			t.Errorf("ShortStep(%q) = %q, want %q", step, got, want)
		}
	}
}

func TestStepFamilies(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"overwrite", "overwriteandwait", "fillseq", "overwritesome"} {
		if !slices.Contains(FamilyMembers(StepFamily(step)), step) {
			t.Errorf("%s is no member of its family", step)
		}
	}
	if StepFamily("overwrite") != "overwriteandwait" || StepFamily("overwritesome") != "overwritesome" {
		t.Error("overwrite and overwriteandwait are one line, overwritesome is not of it")
	}
}

func TestPrimaryMetrics(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ suite, step, want string }{
		{SuiteIBench, "l.i0", "ips"}, {SuiteIBench, "q100", "qps"}, {SuiteDBBench, "fillseq", "qps"}, {SuiteDBBench, "l.x", "qps"},
	} {
		if got := PrimaryMetric(test.suite, test.step); got != test.want {
			t.Errorf("PrimaryMetric(%q, %q) = %q, want %q", test.suite, test.step, got, test.want)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range Metrics() {
		if seen[m.Name] {
			t.Errorf("%s is defined twice", m.Name)
		}
		seen[m.Name] = true
		if got, ok := LookupMetric(m.Name); !ok || got != m || m.Title == "" || m.About == "" {
			t.Errorf("%+v is found as %+v, %v", m, got, ok)
		}
	}
	for name, ok := range map[string]bool{"ticker_rocksdb.block.cache.miss": true, "perf_block_read_count": true, "ticker_": false, "perf_": false, "speed": false, "": false} {
		if m, got := LookupMetric(name); got != ok || got && m.Direction != Neutral {
			t.Errorf("LookupMetric(%q) = %+v, %v; want %v", name, m, got, ok)
		}
	}
	names := []string{"perf_b", "perf_a", "p99", "qps"}
	slices.SortFunc(names, CompareMetrics)
	if !slices.Equal(names, []string{"qps", "p99", "perf_a", "perf_b"}) {
		t.Errorf("order %q", names)
	}
}
