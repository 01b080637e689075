package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// armText shows rows as step version: arm=relative …, – for what is missing.
func armText(a Arms) string {
	var b strings.Builder
	for _, r := range a.Rows {
		fmt.Fprintf(&b, "%s %s:", r.Step, r.Version)
		for _, c := range r.Cells {
			switch {
			case c.Point == nil:
				fmt.Fprintf(&b, " %s=–", c.Arm)
			case c.Relative == nil:
				fmt.Fprintf(&b, " %s=?", c.Arm)
			default:
				fmt.Fprintf(&b, " %s=%.3f", c.Arm, *c.Relative)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestBuildsOfOneVersionStandInOneRow(t *testing.T) {
	t.Parallel()
	// Figures of fillseq on the Arm server.
	gcc := series(t, coordinate("fillseq", "gcc"), "9.8.4 1362565", "9.11.2 1363778", "10.8.3 1356754")
	clang := series(t, coordinate("fillseq", "clang"), "9.8.4 1398084", "v9.11.2 1398699", "10.8.3 1402263", "10.9 5")
	alone := series(t, coordinate("readrandom", "clang"), "9.8.4 10")
	a := CompareArms([]bench.Series{clang, gcc, alone}, AxisCompiler, "gcc", "", nil)
	want := "fillseq 9.8.4: gcc=1.000 clang=1.026\nfillseq v9.11.2: gcc=1.000 clang=1.026\nfillseq 10.8.3: gcc=1.000 clang=1.034\nfillseq 10.9: gcc=– clang=?\nreadrandom 9.8.4: gcc=– clang=?\n"
	if got := armText(a); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Join(a.Arms, " ") != "gcc clang" || len(a.WithoutBase) != 1 || a.WithoutBase[0].Step != "readrandom" {
		t.Errorf("%v %v", a.Arms, a.WithoutBase)
	}
	if a.Rows[0].Compiler != "" || a.Rows[0].Cell("clang") == nil || a.Rows[3].Cell("gcc") != nil {
		t.Errorf("%+v", a.Rows[0])
	}
	// All divided by one version of the base.
	a = CompareArms([]bench.Series{clang, gcc}, AxisCompiler, "gcc", "9.8.4", nil)
	near(t, "clang 10.8.3 against gcc 9.8.4", a.Rows[2].Cell("clang").Relative, 1402263.0/1362565, 1e-12)
	near(t, "gcc 10.8.3 against gcc 9.8.4", a.Rows[2].Cell("gcc").Relative, 1356754.0/1362565, 1e-12)
}

func TestMetricsAreComparedEachForItself(t *testing.T) {
	t.Parallel()
	ips, _ := bench.LookupMetric("ips")
	at := func(step, config string) bench.Coordinate {
		return bench.Coordinate{System: "myrocks", Suite: "ibench", Server: "bee", Workload: "io", Step: step, Config: config, Clients: 1}
	}
	var all []bench.Series
	for _, config := range []string{"a1", "a0"} {
		insert := series(t, at("l.i1", config), "8.0.28 "+map[string]string{"a0": "23240", "a1": "23073"}[config])
		insert.Metric = ips
		zero := series(t, at("l.i1", config), "8.0.28 0") // qps of an insert step
		query := series(t, at("q100", config), "8.0.28 "+map[string]string{"a0": "4000", "a1": "5000"}[config])
		all = append(all, insert, zero, query)
	}
	a := CompareArms(PrimaryOnly(all), AxisConfig, "a0", "", nil)
	if got := armText(a); got != "l.i1 8.0.28: a0=1.000 a1=0.993\nq100 8.0.28: a0=1.000 a1=1.250\n" {
		t.Errorf("%s", got)
	}
	if a.Rows[0].Metric.Name != "ips" || a.Rows[1].Metric.Name != "qps" {
		t.Errorf("%+v", a.Rows)
	}
	// A base of 0 divides nothing, and never gives 0, NaN or infinity.
	a = CompareArms(all, AxisConfig, "a0", "", nil)
	for _, r := range a.Rows {
		for _, c := range r.Cells {
			if c.Relative != nil && (math.IsNaN(*c.Relative) || math.IsInf(*c.Relative, 0)) || r.Metric.Name == "qps" && r.Step == "l.i1" && c.Relative != nil {
				t.Errorf("%s %s %s: %v", r.Step, r.Metric.Name, c.Arm, *c.Relative)
			}
		}
	}
}

func TestTheGapBetweenCompilersIsFollowed(t *testing.T) {
	t.Parallel()
	// Repeats tell the noise: about a tenth of a percent.
	repeat := func(version string, v int) string {
		return fmt.Sprintf("%s %d,%d,%d,%d", version, v-v/1000, v, v+v/1000, v)
	}
	gcc := series(t, coordinate("fillseq", "gcc"), repeat("9.0.1", 1000000), repeat("9.8.4", 1000000), repeat("10.0.1", 1000000), repeat("10.8.3", 1000000))
	clang := series(t, coordinate("fillseq", "clang"), repeat("9.0.1", 980000), repeat("9.8.4", 980000), repeat("10.0.1", 900000), repeat("10.8.3", 800000))
	same := series(t, coordinate("fillseq", "clang+lto"), repeat("9.0.1", 1001000), repeat("9.8.4", 999000), repeat("10.0.1", 1000000), repeat("10.8.3", 1000000))
	one := series(t, coordinate("readrandom", "clang"), "9.0.1 90")
	oneBase := series(t, coordinate("readrandom", "gcc"), "9.0.1 100")
	c := CompareCompilers([]bench.Series{gcc, clang, same, one, oneBase}, Options{Base: Base{Compiler: "gcc", Version: "9.0.1"}})
	if len(c.Trends) != 3 {
		t.Fatalf("%+v", c.Trends)
	}
	byText := map[string]GapTrend{}
	for _, x := range c.Trends {
		byText[x.Step+" "+x.Compiler] = x
	}
	x := byText["fillseq clang"]
	if x.From != "9.x" || x.To != "10.8.3" || x.Versions != 4 || math.Abs(x.FromRatio-.98) > 1e-4 || math.Abs(x.ToRatio-.8) > 1e-4 || x.Low == nil ||
		x.Text != "clang: 2.0\u2009% slower than gcc in 9.x, 20.0\u2009% slower at 10.8.3: the gap grew" {
		t.Errorf("%+v", x)
	}
	if x = byText["fillseq clang+lto"]; !strings.HasSuffix(x.Text, "no change beyond noise") {
		t.Errorf("%+v", x)
	}
	if x = byText["readrandom clang"]; x.From != "" || x.Low != nil || x.Text != "clang: 10.0\u2009% slower than gcc at 9.0.1" {
		t.Errorf("%+v", x)
	}
	if len(c.Stability) != 5 || !c.Stability[0].Noise.OK || c.Stability[0].Versions != 4 || c.Stability[0].Noise.SD <= 0 || c.Stability[0].Noise.SD > 0.01 {
		t.Errorf("%+v", c.Stability)
	}
}

func TestThePracticalRule(t *testing.T) {
	t.Parallel()
	f := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name  string
		f     PracticalFigures
		worse int // reasons
	}{
		{"nothing known", PracticalFigures{}, 0},
		{"a3, IO-bound l.i1", PracticalFigures{f(19106.0 / 23240), f(3447.0 / 20178), f(0.350), f(5.912)}, 3},
		{"a4, IO-bound l.i1", PracticalFigures{f(22022.0 / 23240), f(6992.0 / 20178), f(0.350), f(2.952)}, 3},
		{"a1, IO-bound l.i1", PracticalFigures{f(23073.0 / 23240), f(19937.0 / 20178), f(0.350), f(0.343)}, 0},
		{"a3, cached l.i1", PracticalFigures{f(22894.0 / 23624), f(19179.0 / 21176), nil, nil}, 0},
		{"at the bounds", PracticalFigures{f(0.95), f(0.8), f(0.05), f(0.15)}, 0},
		{"just beyond", PracticalFigures{f(0.9499), f(0.7999), f(0.05), f(0.1501)}, 3},
		{"many times next to nothing", PracticalFigures{f(1), f(1), f(0.001), f(0.09)}, 0},
		{"from nothing", PracticalFigures{f(1), nil, f(0), f(0.2)}, 1},
	} {
		p := JudgePractical(tt.f)
		if len(p.Reasons) != tt.worse || p.Worse != (tt.worse > 0) {
			t.Errorf("%s: %v", tt.name, p.Reasons)
		}
	}
}

func TestSharesOfSlowResponses(t *testing.T) {
	t.Parallel()
	// A row of response times of a3: l.i1 inserts, IO-bound.
	bounds := []float64{256, 1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6, 64e6}
	h := bench.Histogram{Operation: "insert", Bounds: bounds, Percents: []float64{0, 0, 94.089, 5.826, 0.083, 0.003, 0, 0, 0, 0}}
	if p, ok := ShareOver(h, 4000); !ok || math.Abs(p-5.912) > 1e-9 {
		t.Errorf("%g %t", p, ok)
	}
	counts := bench.Histogram{Bounds: []float64{4000, 16000}, Counts: []float64{3, 1}}
	if p, ok := ShareOver(counts, 4000); !ok || p != 25 {
		t.Errorf("%g %t", p, ok)
	}
	for name, h := range map[string]bench.Histogram{
		"no such bound": {Bounds: []float64{1000, 10000}, Counts: []float64{1, 1}}, "nothing": {}, "nothing counted": {Bounds: []float64{4000}, Counts: []float64{0}},
	} {
		if p, ok := ShareOver(h, 4000); ok {
			t.Errorf("%s: %g", name, p)
		}
	}
}

// cnf is a stored config of key=value words.
func cnf(id int64, name, source string, runs int, words ...string) bench.StoredConfig {
	c := bench.StoredConfig{ID: id, Runs: runs, Config: bench.Config{System: "myrocks", Name: name, SourceName: source, Layer: bench.LayerParsed}}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		c.Options = append(c.Options, bench.Option{Key: key, Written: value, Value: value})
	}
	return c
}

// family gives IO-bound l.i1 and l.i0 of a0, a1, a3, a5 and a7 with what the
// practical rule needs, and their options.
func family(t *testing.T) ConfigsInput {
	t.Helper()
	ips, _ := bench.LookupMetric("ips")
	p99, _ := bench.LookupMetric("p99_second_rate")
	in := ConfigsInput{Base: "a0", Configs: []bench.StoredConfig{
		cnf(1, "a0", "cy10a_bee", 2, "cache=8G"), cnf(2, "a0", "cy10a_1g_bee", 0, "cache=1G"), cnf(3, "a1", "cy10a1_bee", 2, "cache=6G", "hyper=ON"),
		cnf(4, "a3", "cy10a3_bee", 2, "cache=8G", "blob=1024"), cnf(5, "a5", "cy10a5_bee", 2, "cache=8G", "sub=2"), cnf(6, "a7", "cy10a7_bee", 2, "cache=6G", "hyper=ON", "sub=2"),
	}}
	run := int64(0)
	for _, x := range []struct {
		config, i0, i1, seconds string
		slow                    float64
	}{
		{"a0", "90000", "23240", "20178", 0.350}, {"a1", "90900", "23073", "19937", 0.343}, {"a3", "90000", "19106", "3447", 5.912},
		{"a5", "90000", "23234", "20132", 0.343}, {"a7", "91809", "23375", "20127", 0.336},
	} {
		at := bench.Coordinate{System: "myrocks", Suite: "ibench", Server: "bee", Workload: "io", Step: "l.i0", Config: x.config, Clients: 1}
		run++
		for _, s := range []struct {
			step, value string
			metric      bench.Metric
			to          *[]bench.Series
		}{{"l.i0", x.i0, ips, &in.Series}, {"l.i1", x.i1, ips, &in.Series}, {"l.i1", x.seconds, p99, &in.Seconds}} {
			at.Step = s.step
			one := series(t, at, "8.0.28 "+s.value)
			one.Metric = s.metric
			one.Points[0].Samples[0].RunID = run
			*s.to = append(*s.to, one)
		}
		in.Distributions = append(in.Distributions,
			bench.Distribution{RunID: run, Step: "l.i1", Histogram: bench.Histogram{Operation: "insert", Bounds: []float64{4000, 16000}, Percents: []float64{100 - x.slow, x.slow}}},
			bench.Distribution{RunID: run, Step: "l.i1", Histogram: bench.Histogram{Operation: "delete", Bounds: []float64{4000, 16000}, Percents: []float64{50, 50}}})
	}
	return in
}

func TestConfigsAreComparedWithTheirOptionsBeside(t *testing.T) {
	t.Parallel()
	c := CompareConfigs(family(t))
	want := "l.i0 8.0.28: a0=1.000 a1=1.010 a3=1.000 a5=1.000 a7=1.020\nl.i1 8.0.28: a0=1.000 a1=0.993 a3=0.822 a5=1.000 a7=1.006\n"
	if got := armText(c.Arms); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var worse []string
	for _, r := range c.Rows {
		for _, cell := range r.Cells {
			if cell.Practical != nil && cell.Practical.Worse {
				worse = append(worse, r.Step+" "+cell.Arm)
			}
			if cell.Low != nil && cell.Arm != "a0" || cell.Arm == "a0" && cell.Practical != nil {
				t.Errorf("one run tells no noise, and the base is not judged: %+v", cell)
			}
		}
	}
	if strings.Join(worse, ", ") != "l.i1 a3" {
		t.Errorf("%v", worse)
	}
	if p := c.Rows[1].Cell("a3").Practical; len(p.Reasons) != 3 || math.Abs(*p.Slow-5.912) > 1e-9 || math.Abs(*p.Seconds-0.1708) > 1e-4 {
		t.Errorf("%+v", p)
	}
	if len(c.Sets) != 5 || c.Sets[0].SourceName != "cy10a_bee" || c.Sets[0].Variants != 1 || len(c.Family.Rows) != 4 {
		t.Errorf("%+v %+v", c.Sets, c.Family.Rows)
	}
	got := strings.Join(c.Summary, "\n")
	for _, want := range []string{
		"a0 is good enough: no config is better beyond noise in all steps of io",
		"a3 is worse than a0 at l.i1 by the practical rule: 0.822 of the base's rate; 0.171 of the base's p99 second; 5.912\u2009% of responses over 4 ms, the base 0.350\u2009%",
		"a7 = a1 + a5: its options are those of a1 and a5 together",
		"a1 and a7 also change cache 8G → 6G: no figure can tell that from hyper=ON",
		"a0 stands for 2 sets of options here",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the summary does not say %q:\n%s", want, got)
		}
	}
}

func TestEffectsComeFromPairsThatDifferInNothingElse(t *testing.T) {
	t.Parallel()
	c := CompareConfigs(family(t))
	var got []string
	for _, e := range c.Effects {
		text := changesText(e.Changes) + " by " + fmt.Sprint(len(e.Pairs))
		for _, r := range e.Rows {
			text += fmt.Sprintf(" %s %.4f", c.Rows[r.Row].Step, r.Ratio)
		}
		got = append(got, text)
	}
	// The effect of the cache and the hyper clock: the geometric mean of a1/a0 and a7/a5.
	want := []string{
		fmt.Sprintf("cache 8G → 6G, hyper=ON by 2 l.i0 %.4f l.i1 %.4f", math.Sqrt(90900.0/90000*91809/90000), math.Sqrt(23073.0/23240*23375/23234)),
		fmt.Sprintf("blob=1024 by 1 l.i0 1.0000 l.i1 %.4f", 19106.0/23240),
		fmt.Sprintf("sub=2 by 2 l.i0 %.4f l.i1 %.4f", math.Sqrt(91809.0/90900), math.Sqrt(23234.0/23240*23375/23073)),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestABetterConfigIsSaidToBe(t *testing.T) {
	t.Parallel()
	at := func(step, config string) bench.Coordinate {
		return bench.Coordinate{System: "myrocks", Suite: "ibench", Server: "bee", Workload: "io", Step: step, Config: config, Clients: 1}
	}
	in := ConfigsInput{Series: []bench.Series{
		series(t, at("q100", "a0"), "8 100"), series(t, at("q100", "a1"), "8 110"), series(t, at("q100", "a2"), "8 110"),
		series(t, at("q500", "a0"), "8 100"), series(t, at("q500", "a1"), "8 120"), series(t, at("q500", "a2"), "8 104"),
	}}
	c := CompareConfigs(in)
	if c.Base.Config != "a0" || len(c.Summary) != 2 || c.Summary[0] != "a1 is better than a0 in all steps of io" || c.Summary[1] != "no options are stored for a0, a1 and a2: upload the files" {
		t.Errorf("%q", c.Summary)
	}
	// Where repeats tell the noise it decides, however small the difference.
	repeats := func(v int) string { return fmt.Sprintf("8 %d,%d,%d,%d,%d,%d", v, v+1, v-1, v, v+1, v-1) }
	c = CompareConfigs(ConfigsInput{Series: []bench.Series{series(t, at("q100", "a0"), repeats(100000)), series(t, at("q100", "a1"), repeats(101000))}})
	if cell := c.Rows[0].Cell("a1"); cell.Verdict != Better || cell.Low == nil || c.Summary[0] != "a1 is better than a0 in all steps of io" {
		t.Errorf("%+v %q", cell, c.Summary)
	}
	if c = CompareConfigs(ConfigsInput{}); len(c.Rows) != 0 || len(c.Summary) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestArmsOfASweepStandInOrderAndMoreTimeIsWorse(t *testing.T) {
	t.Parallel()
	latency, _ := bench.LookupMetric("observed_latency_ns")
	var all []bench.Series
	for _, x := range [][2]string{{"bs16k", "612676"}, {"bs4k", "516923"}, {"bs32k", "689518"}, {"bs8k", "540224"}} {
		s := series(t, bench.Coordinate{System: "neard", Suite: "state-perf", Server: "n2", Workload: "io", Step: "state-perf", Config: x[0]}, "unknown "+x[1])
		s.Metric = latency
		all = append(all, s)
	}
	c := CompareConfigs(ConfigsInput{Series: all})
	if got := armText(c.Arms); got != "state-perf unknown: bs4k=1.000 bs8k=1.045 bs16k=1.185 bs32k=1.334\n" {
		t.Errorf("%s", got)
	}
	if p := c.Rows[0].Cell("bs8k").Practical; p.Worse {
		t.Errorf("%v", p.Reasons)
	}
	if p := c.Rows[0].Cell("bs16k").Practical; !p.Worse || p.Reasons[0] != "1.185 times the base's observed latency" {
		t.Errorf("%v", p.Reasons)
	}
}

func TestNamesAreOrderedWithNumbersInThem(t *testing.T) {
	t.Parallel()
	order := []string{"", "a", "a0", "a1", "a1b", "a2", "a10", "b", "bs4k", "bs8k", "bs16k"}
	for i, a := range order {
		for j, b := range order {
			if got := compareNatural(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}

// One version that was run several times has no neighbours, but repeats: they say
// what can be told, and where they do the practical rule keeps silent about rates.
// Expected intervals are those of the two-sample t with pooled variance of ln.
func TestRepeatsOfOneVersionDecideBetweenConfigs(t *testing.T) {
	t.Parallel()
	ips, _ := bench.LookupMetric("ips")
	for name, x := range map[string]struct {
		a0, a1    string
		low, high float64
		verdict   Verdict
		summary   string
	}{
		"ten percent of noise": {"8.0.28 1000,1100,900", "8.0.28 930,1030,830", 0.733856, 1.177329, Undecided, ""},
		"a tenth of a percent": {"8.0.28 10000,10005,10010,9998", "8.0.28 9700,9704,9710,9695", 0.968906, 0.970915, Worse, "a1 is worse than a0 at l.i1"},
		"one run each":         {"8.0.28 1000", "8.0.28 930", 0, 0, NoVerdict, "by the practical rule"},
	} {
		var in ConfigsInput
		in.Base = "a0"
		for config, points := range map[string]string{"a0": x.a0, "a1": x.a1} {
			s := series(t, bench.Coordinate{System: "myrocks", Suite: "ibench", Server: "bee", Workload: "cached", Step: "l.i1", Config: config, Clients: 1}, points)
			s.Metric = ips
			in.Series = append(in.Series, s)
		}
		c := CompareConfigs(in)
		cell := c.Rows[0].Cell("a1")
		if cell.Verdict != x.verdict || (cell.Low == nil) != (x.low == 0) {
			t.Errorf("%s: %q of %+v", name, cell.Verdict, *cell.Point)
			continue
		}
		if cell.Low != nil && (math.Abs(*cell.Low-x.low) > 1e-3*x.low || math.Abs(*cell.High-x.high) > 1e-3*x.high) {
			t.Errorf("%s: %g to %g, want %g to %g", name, *cell.Low, *cell.High, x.low, x.high)
		}
		if worse := cell.Practical != nil && cell.Practical.Worse; worse != (x.low == 0) {
			t.Errorf("%s: the practical rule says %+v", name, cell.Practical)
		}
		if got := strings.Join(c.Summary, "\n"); x.summary == "" && strings.Contains(got, "worse") || !strings.Contains(got, x.summary) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
