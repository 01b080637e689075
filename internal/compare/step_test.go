package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func stepArm(version, compiler, config string, run int64) StepArm {
	return StepArm{Coordinate: bench.Coordinate{System: "rocksdb", Server: "c2", Workload: "cached", Step: "fillseq", Compiler: compiler, Config: config, Clients: 8}, Version: version, Run: run}
}

func TestArmsAreNamedByWhatTheyDifferIn(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		arms []StepArm
		want string
	}{
		"one":                    {[]StepArm{stepArm("8.0.0", "gcc", "", 0)}, "8.0.0"},
		"one run":                {[]StepArm{stepArm("8.0.0", "gcc", "a0", 7)}, "8.0.0"},
		"versions":               {[]StepArm{stepArm("8.0.0", "gcc", "", 0), stepArm("8.10.0", "gcc", "", 0), stepArm("8.9.0", "gcc", "", 0)}, "8.0.0, 8.9.0, 8.10.0"},
		"configs, as numbers":    {[]StepArm{stepArm("8.0.0", "", "bs16k", 0), stepArm("8.0.0", "", "bs4k", 0), stepArm("8.0.0", "", "", 0)}, "no config, bs4k, bs16k"},
		"builds, gcc first":      {[]StepArm{stepArm("8.0.0", "clang", "", 0), stepArm("8.0.0", "gcc", "", 0)}, "gcc, clang"},
		"builds of two versions": {[]StepArm{stepArm("8.1.0", "gcc", "", 0), stepArm("8.0.0", "clang", "", 0)}, "clang 8.0.0, gcc 8.1.0"},
		"repeats":                {[]StepArm{stepArm("8.0.0", "gcc", "a0", 9), stepArm("8.0.0", "gcc", "a0", 7), stepArm("8.0.0", "gcc", "a1", 8)}, "a0 run 7, a0 run 9, a1"},
	} {
		slices.SortFunc(c.arms, CompareStepArms)
		var names []string
		for _, a := range c.arms {
			names = append(names, a.Name(c.arms))
		}
		if got := strings.Join(names, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func TestStepsAreDividedByOneArmInAllMetrics(t *testing.T) {
	t.Parallel()
	day := func(d int) bench.LocalTime { return bench.NewLocalTime(2024, 1, d, 0, 0, 0) }
	sample := func(run int64, v float64, d int) bench.Sample {
		return bench.Sample{Value: v, RunID: run, ResultID: run, Started: day(d)}
	}
	metric := func(name string) bench.Metric { m, _ := bench.LookupMetric(name); return m }
	a, b := stepArm("8.0.0", "gcc", "a0", 0), stepArm("8.0.0", "gcc", "a1", 0)
	a.Series = []bench.Series{
		{Coordinate: a.Coordinate, Metric: metric("qps"), Points: []bench.Point{{Version: "8.0.0", Samples: []bench.Sample{sample(1, 100, 1), sample(2, 110, 3), sample(3, 120, 2)}}}},
		{Coordinate: a.Coordinate, Metric: metric("operations"), Points: []bench.Point{{Version: "8.0.0", Samples: []bench.Sample{sample(1, 1000, 1), sample(2, 1000, 3), sample(3, 1000, 2)}}}},
		{Coordinate: a.Coordinate, Metric: metric("compaction_cpu_s"), Points: []bench.Point{{Version: "8.0.0", Samples: []bench.Sample{sample(1, 2, 1), sample(2, 2, 3), sample(3, 2, 2)}}}},
	}
	b.Series = []bench.Series{
		{Coordinate: b.Coordinate, Metric: metric("qps"), Points: []bench.Point{{Version: "v8.0.0", Samples: []bench.Sample{sample(4, 55, 1)}}, {Version: "8.1.0", Samples: []bench.Sample{sample(5, 99, 1)}}}},
	}
	if got := fmt.Sprint(a.Runs(), b.Runs()); got != "[2 3 1] [4]" {
		t.Errorf("runs %s: want the newest first, of the version alone", got)
	}
	text := func(rows []StepRow) string {
		var out []string
		for _, r := range rows {
			s := r.Metric.Name
			for _, c := range r.Cells {
				switch {
				case c.Point == nil:
					s += " —"
				case c.Relative == nil:
					s += fmt.Sprintf(" %g", c.Value)
				default:
					s += fmt.Sprintf(" %g=%.3g", c.Value, *c.Relative)
				}
			}
			out = append(out, s)
		}
		return strings.Join(out, "; ")
	}
	// 2 s of CPU for 1000 operations are 2000 µs each.
	if got := text(CompareStep([]StepArm{a, b}, 0, nil)); got != "qps 110=1 55=0.5; operations 1000=1 —; compaction_cpu_s 2=1 —; compaction_cpu_us_per_op 2000=1 —" {
		t.Errorf("%s", got)
	}
	if got := text(CompareStep([]StepArm{a, b}, 1, nil)); !strings.HasPrefix(got, "qps 110=2 55=1; operations 1000 —;") {
		t.Errorf("%s", got)
	}
	one := a
	one.Run = 1
	if got := text(CompareStep([]StepArm{a, one}, 0, nil)); !strings.HasPrefix(got, "qps 110=1 100=0.909;") {
		t.Errorf("a run alone: %s", got)
	}
	if got := text(CompareStep([]StepArm{a, b}, -1, nil)); !strings.HasPrefix(got, "qps 110 55;") {
		t.Errorf("no base: %s", got)
	}
	one.Run = 99
	if got := text(CompareStep([]StepArm{one}, 0, nil)); got != "" || len(one.Runs()) != 0 {
		t.Errorf("a run that is not there: %s", got)
	}
}

func TestAConfigsSetIsItsFileBesideWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	stored := func(id int64, name string, layer bench.Layer) bench.StoredConfig {
		return bench.StoredConfig{ID: id, Config: bench.Config{Name: name, Layer: layer}}
	}
	configs := []bench.StoredConfig{
		stored(1, "a0", bench.LayerParsed), stored(2, "a0", bench.LayerEffective), stored(3, "a1", bench.LayerParsed), stored(4, "a2", bench.LayerEffective), stored(5, "a0", bench.LayerParsed),
	}
	for name, want := range map[string][3]int64{"a0": {5, 2, 1}, "a1": {3, 0, 0}, "a2": {4, 0, 0}} {
		set := ConfigSetOf(configs, name)
		if set == nil {
			t.Fatalf("%s: none", name)
		}
		got := [3]int64{set.ID, 0, int64(set.Variants)}
		if set.Effective != nil {
			got[1] = set.Effective.ID
		}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// What another server said of its a0 is not what this one's runs were made with.
	configs[0].Runs = 2
	if set := ConfigSetOf(configs, "a0"); set.ID != 1 || set.Effective != nil {
		t.Errorf("%+v", set)
	}
	configs[1].Runs = 1
	if set := ConfigSetOf(configs, "a0"); set.Effective == nil || set.Effective.ID != 2 {
		t.Errorf("%+v", set)
	}
	if ConfigSetOf(configs, "a9") != nil {
		t.Error("a name without options has some")
	}
}
