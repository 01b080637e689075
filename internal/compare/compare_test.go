package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func qps(t *testing.T) bench.Metric {
	t.Helper()
	m, ok := bench.LookupMetric("qps")
	if !ok {
		t.Fatal("no metric qps")
	}
	return m
}

// series builds a series from "version value[,value…]" words; a value may carry
// ! for excluded and @hash for the git hash of its build.
func series(t *testing.T, c bench.Coordinate, words ...string) bench.Series {
	t.Helper()
	s := bench.Series{Coordinate: c, Metric: qps(t)}
	run := int64(0)
	for _, w := range words {
		version, list, _ := strings.Cut(w, " ")
		p := bench.Point{Version: version}
		for _, item := range strings.Split(list, ",") {
			run++
			item, hash, _ := strings.Cut(item, "@")
			text, excluded := strings.CutSuffix(item, "!")
			var v float64
			for _, d := range text {
				v = v*10 + float64(d-'0')
			}
			p.Samples = append(p.Samples, bench.Sample{Value: v, RunID: run, ResultID: run, GitHash: hash, Excluded: excluded})
		}
		s.Points = append(s.Points, p)
	}
	return s
}

func coordinate(step, compiler string) bench.Coordinate {
	return bench.Coordinate{System: "rocksdb", Suite: "db_bench", Server: "arm", Workload: "cached", Step: step, Compiler: compiler, Clients: 1}
}

func near(t *testing.T, what string, got *float64, want, tolerance float64) {
	t.Helper()
	if got == nil {
		t.Fatalf("%s: missing, want %g", what, want)
	}
	if math.Abs(*got-want) > tolerance {
		t.Errorf("%s = %g, want %g", what, *got, want)
	}
}

func TestRatioIsPointOverBase(t *testing.T) {
	t.Parallel()
	// c2 cached fillseq of the published archive: 1671040 / 2069271 = 0.80755…
	c := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), "4.4.1 2069271", "8.8.0 1671040")}, Options{Base: Base{Version: "4.4.1"}})
	near(t, "relative", c.Lines[0].At("8.8.0").Relative, 0.80755, 1e-5)
	near(t, "base value", c.Lines[0].BaseValue, 2069271, 0)
	near(t, "base itself", c.Lines[0].At("4.4.1").Relative, 1, 0)
}

func TestBaseOfAnotherCompilerAtTheSameVersion(t *testing.T) {
	t.Parallel()
	c := Compare([]bench.Series{
		series(t, coordinate("fillseq", "gcc"), "10.8.3 1356754"),
		series(t, coordinate("fillseq", "clang"), "10.8.3 1402263"),
		series(t, coordinate("fillseq", "clang+lto"), "10.8.3 1395475"),
	}, Options{Base: Base{Version: "10.8.3", Compiler: "gcc"}})
	want := map[string]float64{"gcc": 1, "clang": 1.0335, "clang+lto": 1.0285} // by hand
	for _, l := range c.Lines {
		near(t, l.Compiler, l.At("10.8.3").Relative, want[l.Compiler], 5e-5)
	}
}

func TestLineWithoutBaseHasNoRelativeValuesAndIsNamed(t *testing.T) {
	t.Parallel()
	c := Compare([]bench.Series{
		series(t, coordinate("fillseq", "gcc"), "4.4.1 100", "8.8.0 90"),
		series(t, coordinate("readrandom", "gcc"), "8.8.0 90"),
		series(t, coordinate("overwrite", "gcc"), "4.4.1 0", "8.8.0 90"),
	}, Options{Base: Base{Version: "4.4.1"}})
	got := map[string]string{}
	for _, l := range c.Lines {
		got[l.Step] = l.WhyNoBase
		for _, p := range l.Points {
			if (p.Relative == nil) != (l.WhyNoBase != "") {
				t.Errorf("%s %s: relative %v with reason %q", l.Step, p.Version, p.Relative, l.WhyNoBase)
			}
		}
	}
	if diff := cmp.Diff(map[string]string{"fillseq": "", "readrandom": "not measured at 4.4.1", "overwrite": "n/a (baseline 0)"}, got); diff != "" {
		t.Error(diff)
	}
	if len(c.WithoutBase) != 2 {
		t.Errorf("without base: %v", c.WithoutBase)
	}
}

// Ratios are shown, sent as JSON and drawn: what is no number has no place there.
func TestRatioTooLargeForANumberIsMissing(t *testing.T) {
	t.Parallel()
	s := series(t, coordinate("fillseq", "gcc"), "8.0.0 1", "8.1.0 2", "8.2.0 3", "8.3.0 2")
	s.Points[0].Samples[0].Value = 5e-324
	s.Points[1].Samples[0].Value = math.MaxFloat64
	for _, base := range []string{"8.0.0", "8.1.0", "8.2.0"} {
		for _, p := range Compare([]bench.Series{s}, Options{Base: Base{Version: base}}).Lines[0].Points {
			for _, v := range []*float64{p.Relative, p.Low, p.High} {
				if v != nil && (math.IsInf(*v, 0) || math.IsNaN(*v)) {
					t.Errorf("%s over %s: %v", p.Version, base, *v)
				}
			}
			if p.Version == base && (p.Relative == nil || *p.Relative != 1) {
				t.Errorf("%s over itself: %v", base, p.Relative)
			}
		}
	}
}

func TestFamiliesJoinAndKeepTheStepOfEachPoint(t *testing.T) {
	t.Parallel()
	in := []bench.Series{
		series(t, coordinate("overwriteandwait", "gcc"), "6.19.3 120", "6.20.3 130"),
		series(t, coordinate("overwrite", "gcc"), "6.17.3 100", "6.18.1 110", "6.20.3 999"),
	}
	c := Compare(in, Options{Base: Base{Version: "6.17.3"}, JoinFamilies: true})
	if len(c.Lines) != 1 {
		t.Fatalf("%d lines, want 1", len(c.Lines))
	}
	l := c.Lines[0]
	var got []string
	for _, p := range l.Points {
		got = append(got, p.Version+" "+p.Step)
	}
	want := []string{"6.17.3 overwrite", "6.18.1 overwrite", "6.19.3 overwriteandwait", "6.20.3 overwriteandwait"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	near(t, "across the change of step", l.At("6.20.3").Relative, 1.3, 1e-12)
	if diff := cmp.Diff([]string{"overwrite", "overwriteandwait"}, l.Members); diff != "" {
		t.Error(diff)
	}
	late := Compare(in, Options{Base: Base{Version: "6.17.3"}, JoinFamilies: true, From: "6.19"})
	if diff := cmp.Diff([]string{"overwriteandwait"}, late.Lines[0].Members); diff != "" {
		t.Error("a range that shows one member only:", diff)
	}
	if apart := Compare(in, Options{Base: Base{Version: "6.17.3"}}); len(apart.Lines) != 2 {
		t.Errorf("not asked to join: %d lines, want 2", len(apart.Lines))
	}
}

func TestMedianMinMaxOfRepeatsAndMixedBuilds(t *testing.T) {
	t.Parallel()
	c := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), "8.7.3 100@a,300@a,110@a,120@a", "8.8.0 10@a,20@b", "8.9.0 10@a,20")}, Options{})
	p := c.Lines[0].At("8.7.3")
	if p.Value != 115 || p.Min != 100 || p.Max != 300 || p.N != 4 || p.Mixed || len(p.Runs) != 4 {
		t.Errorf("%+v", *p)
	}
	if !c.Lines[0].At("8.8.0").Mixed {
		t.Error("two git hashes are not repeats of one build")
	}
	if c.Lines[0].At("8.9.0").Mixed {
		t.Error("an unknown git hash does not contradict a known one")
	}
}

func TestSamplesInTwoGroupsAreSaid(t *testing.T) {
	t.Parallel()
	l := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), "8.7.3 1000,1500,1001,1501", "8.8.0 1000,1010,1005,1015", "8.9.0 1000,1500")}, Options{From: "8.7.3"}).Lines[0]
	p := l.At("8.7.3")
	if !p.Bimodal {
		t.Fatalf("%+v", *p)
	}
	near(t, "low", &p.GroupLow, 1000.5, 0.01)
	near(t, "high", &p.GroupHigh, 1500.5, 0.01)
	for _, v := range []string{"8.8.0", "8.9.0"} {
		if p := l.At(v); p.Bimodal || p.GroupLow != 0 {
			t.Errorf("%s: %+v", v, *p)
		}
	}
}

func TestFlaggedSamplesCountOnlyAlone(t *testing.T) {
	t.Parallel()
	c := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), "7.8.3 100,50!", "7.9.2 60!")}, Options{Base: Base{Version: "7.8.3"}})
	if p := c.Lines[0].At("7.8.3"); p.Value != 100 || p.N != 1 || p.Flagged {
		t.Errorf("%+v", *p)
	}
	p := c.Lines[0].At("7.9.2")
	if p.Value != 60 || !p.Flagged {
		t.Errorf("%+v", *p)
	}
	if v := Judge(*p, bench.HigherBetter); v != NoVerdict {
		t.Errorf("a flagged point is judged %q", v)
	}
}

func TestRangeIsCutAfterDividing(t *testing.T) {
	t.Parallel()
	c := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), "4.4.1 200", "8.9.1 100", "8.10.0 120", "9.0.0 50")},
		Options{Base: Base{Version: "4.4.1"}, From: "8.9", To: "8.11"})
	if diff := cmp.Diff([]string{"8.9.1", "8.10.0"}, c.Versions); diff != "" {
		t.Error(diff)
	}
	near(t, "8.10.0", c.Lines[0].At("8.10.0").Relative, 0.6, 1e-12)
}

func TestDefaultBaseIsTheOldestThatMostLinesHave(t *testing.T) {
	t.Parallel()
	c := Compare([]bench.Series{
		series(t, coordinate("fillseq", "gcc"), "4.4.1 1", "8.2.0 1", "8.10.0 1"),
		series(t, coordinate("fillseq", "clang"), "8.2.0 1", "8.10.0 1"),
	}, Options{AutoBase: true})
	if c.Base.Version != "8.2.0" {
		t.Errorf("base %q, want 8.2.0", c.Base.Version)
	}
	one := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), "8.2.0 1", "8.10.0 1", "4.4.1 1")}, Options{AutoBase: true})
	if one.Base.Version != "4.4.1" {
		t.Errorf("base %q, want the oldest", one.Base.Version)
	}
}

func TestIntervalCarriesTheNoiseOfPointAndBase(t *testing.T) {
	t.Parallel()
	// Six repeats at two versions: ten degrees of freedom, t(0.975, 10) = 2.2281.
	// The repeats are 100·e^±0.01 on both sides, so the standard deviation within
	// versions is 0.01·√(6/5) and the half width 2.2281 · 0.010954 · √(1/6 + 1/6).
	lo, hi := math.Exp(-0.01), math.Exp(0.01)
	s := bench.Series{Coordinate: coordinate("fillseq", "gcc"), Metric: qps(t)}
	for _, v := range []struct {
		version string
		level   float64
	}{{"8.1.0", 100}, {"8.2.0", 103}} {
		p := bench.Point{Version: v.version}
		for i := range 6 {
			f := lo
			if i%2 == 1 {
				f = hi
			}
			p.Samples = append(p.Samples, bench.Sample{Value: v.level * f, RunID: int64(i)})
		}
		s.Points = append(s.Points, p)
	}
	c := Compare([]bench.Series{s}, Options{Base: Base{Version: "8.1.0"}})
	p := c.Lines[0].At("8.2.0")
	half := 2.2281 * 0.010954 * math.Sqrt(1.0/3)
	near(t, "low", p.Low, 1.03*math.Exp(-half), 2e-4)
	near(t, "high", p.High, 1.03*math.Exp(half), 2e-4)
	if v := Judge(*p, bench.HigherBetter); v != Better {
		t.Errorf("verdict %q, want better", v)
	}
	if v := Judge(*p, bench.LowerBetter); v != Worse {
		t.Errorf("lower is better: verdict %q, want worse", v)
	}
}

func TestNoiseIsNotBelowTheResolutionOfTheSource(t *testing.T) {
	t.Parallel()
	// An integer p99 of 3 µs that never moves is not free of noise: it may hide
	// ± 1/√12 of a unit.
	s := bench.Series{Coordinate: coordinate("readrandom", "gcc"), Metric: bench.Metric{Name: "p99", Direction: bench.LowerBetter}}
	for _, v := range []string{"8.1.0", "8.2.0", "8.3.0", "8.4.0", "8.5.0", "8.6.0", "8.7.0"} {
		s.Points = append(s.Points, bench.Point{Version: v, Samples: []bench.Sample{{Value: 3, Resolution: 1}}})
	}
	c := Compare([]bench.Series{s}, Options{Base: Base{Version: "8.1.0"}})
	if want := 1.0 / 3 / math.Sqrt(12); math.Abs(c.Lines[0].Noise.SD-want) > 1e-12 {
		t.Errorf("noise %g, want %g", c.Lines[0].Noise.SD, want)
	}
	if v := Judge(*c.Lines[0].At("8.2.0"), bench.LowerBetter); v != Undecided {
		t.Errorf("verdict %q, want undecided", v)
	}
}

func TestUnknownNoiseGivesNoIntervalAndNoVerdict(t *testing.T) {
	t.Parallel()
	c := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), "8.1.0 100", "8.2.0 50")}, Options{Base: Base{Version: "8.1.0"}})
	p := c.Lines[0].At("8.2.0")
	if p.Low != nil || p.High != nil {
		t.Errorf("an interval from two single runs: %v–%v", *p.Low, *p.High)
	}
	if v := Judge(*p, bench.HigherBetter); v != NoVerdict {
		t.Errorf("verdict %q", v)
	}
}

func TestBaseOfAnotherCompilerAtEachVersion(t *testing.T) {
	t.Parallel()
	q := Query{Filter: bench.SeriesFilter{Compilers: []string{"clang"}}, Options: Options{Base: Base{Compiler: "gcc"}}}
	if diff := cmp.Diff([]string{"clang", "gcc"}, q.Fetch().Compilers); diff != "" {
		t.Error(diff)
	}
	c := q.Answer([]bench.Series{
		series(t, coordinate("fillseq", "gcc"), "9.0.0 100", "10.0.0 200"),
		series(t, coordinate("fillseq", "clang"), "9.0.0 110", "10.0.0 260", "10.1.0 5"),
	})
	if len(c.Lines) != 1 || c.Lines[0].Compiler != "clang" {
		t.Fatalf("lines %+v", c.Lines)
	}
	near(t, "9.0.0", c.Lines[0].At("9.0.0").Relative, 1.1, 1e-12)
	near(t, "10.0.0", c.Lines[0].At("10.0.0").Relative, 1.3, 1e-12)
	if p := c.Lines[0].At("10.1.0"); p.Relative != nil {
		t.Errorf("no base at 10.1.0, yet relative %g", *p.Relative)
	}
}

func TestFamiliesAreFetchedWhole(t *testing.T) {
	t.Parallel()
	q := Query{Filter: bench.SeriesFilter{Steps: []string{"overwriteandwait", "fillseq"}}, Options: Options{JoinFamilies: true}}
	if diff := cmp.Diff([]string{"overwrite", "overwriteandwait", "fillseq"}, q.Fetch().Steps); diff != "" {
		t.Error(diff)
	}
}

// A log of many repeats makes a point of many samples of one run, a server that
// measures one version every hour one of many runs.
func TestRunsOfAPointStandOnceInOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 40} {
		p := bench.Point{Version: "8.0.0"}
		var want []int64
		for i := range n {
			id := int64(1000 - i) // ids need not rise with the samples
			want = append(want, id)
			for range 3 {
				p.Samples = append(p.Samples, bench.Sample{Value: 5, RunID: id})
			}
		}
		p.Samples = append(p.Samples, bench.Sample{Value: 5, RunID: 1000})
		s := series(t, coordinate("fillseq", "gcc"))
		s.Points = []bench.Point{p}
		got := Compare([]bench.Series{s}, Options{}).Lines[0].Points[0]
		if diff := cmp.Diff(want, got.Runs); diff != "" || got.N != 3*n+1 {
			t.Errorf("%d runs, n %d: %s", n, got.N, diff)
		}
	}
}
