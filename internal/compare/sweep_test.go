package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// study is the published block-size study: each size on a disk of its own, the
// figures of state-perf and of fio as printed.
type study struct {
	series     []bench.Series
	runs       []bench.RunFacts
	breakdowns []bench.RunBreakdown
	configs    []bench.StoredConfig
}

func (s *study) Varied(context.Context, bench.VariedFilter) ([]bench.RunFacts, error) {
	return s.runs, nil
}

func (s *study) Configs(context.Context, bench.ConfigFilter) ([]bench.StoredConfig, error) {
	return s.configs, nil
}

func (s *study) Series(_ context.Context, f bench.SeriesFilter) ([]bench.Series, error) {
	var out []bench.Series
	for _, x := range s.series {
		if x.Metric.Name == f.Metric && (f.Suite == "" || f.Suite == x.Suite) && (len(f.Configs) == 0 || slices.Contains(f.Configs, x.Config)) {
			out = append(out, x)
		}
	}
	return out, nil
}

func (s *study) Breakdowns(_ context.Context, runs []int64) ([]bench.RunBreakdown, error) {
	return slices.DeleteFunc(slices.Clone(s.breakdowns), func(b bench.RunBreakdown) bool { return !slices.Contains(runs, b.RunID) }), nil
}

func (s *study) RunFacts(_ context.Context, runs []int64) ([]bench.RunFacts, error) {
	return slices.DeleteFunc(slices.Clone(s.runs), func(f bench.RunFacts) bool { return !slices.Contains(runs, f.ID) }), nil
}

func newStudy(t *testing.T) *study {
	t.Helper()
	var s study
	add := func(run int64, suite, step, config, metric string, value, resolution float64) {
		m, ok := bench.LookupMetric(metric)
		if !ok {
			t.Fatal(metric)
		}
		s.series = append(s.series, bench.Series{
			Coordinate: bench.Coordinate{System: "neard", Suite: suite, Server: "n2", Workload: "io", Step: step, Config: config, Clients: 1}, Metric: m,
			Points: []bench.Point{{Version: "unknown", Samples: []bench.Sample{{Value: value, Resolution: resolution, RunID: run}}}},
		})
	}
	for i, x := range []struct {
		size                       string
		latency, read, one, six    float64
		ones, sixes                int64
		iops, bandwidth, clat, dev float64
	}{
		{"4", 516923, 490688, 516643, 4502067, 99993, 7, 18600, 72.7, 428.97, 139.60},
		{"8", 540224, 507651, 540090, 3236723, 99995, 5, 18000, 74.1, 420.75, 135.77},
		{"16", 612676, 574418, 612605, 2973900, 99997, 3, 18600, 72.6, 429.67, 146.28},
		{"32", 689518, 640242, 689442, 3227380, 99997, 3, 18900, 73.8, 422.20, 128.46},
	} {
		run, config := int64(2*i+1), "bs"+x.size+"k"
		facts := bench.RunFacts{
			ID: run, System: "neard", Suite: "state-perf", Server: "n2", Workload: "io", Config: config, Clients: 1, Build: bench.Build{Version: "unknown"},
			Environment: map[string]string{"disk": fmt.Sprintf("Disk %d", i+1), "machine": "n2-highcpu-16", "source_url": x.size},
			Options:     map[string]string{"block_size": map[string]string{"4": "4096", "8": "8192", "16": "16384", "32": "32768"}[x.size]},
		}
		fio := facts
		fio.ID, fio.Suite, fio.Options = run+1, bench.SuiteFIO, nil
		s.runs = append(s.runs, facts, fio)
		add(run, "state-perf", "state-perf", config, "observed_latency_ns", x.latency, 1)
		add(run, "state-perf", "state-perf", config, "block_read_time_ns", x.read, 1)
		add(run+1, "fio", "read-4k", config, "iops", x.iops, 100)
		add(run+1, "fio", "read-4k", config, "mb_per_s", x.bandwidth, 0.1)
		add(run+1, "fio", "read-4k", config, "average", x.clat, 0.01)
		add(run+1, "fio", "read-4k", config, "stdev_us", x.dev, 0.01)
		s.breakdowns = append(s.breakdowns,
			bench.RunBreakdown{RunID: run, Step: "state-perf", Breakdown: bench.Breakdown{Key: bench.BreakdownBlockReads, Bucket: "1", Samples: x.ones, Unit: "ns", Value: x.one}},
			bench.RunBreakdown{RunID: run, Step: "state-perf", Breakdown: bench.Breakdown{Key: bench.BreakdownBlockReads, Bucket: "6", Samples: x.sixes, Unit: "ns", Value: x.six}},
			bench.RunBreakdown{RunID: run, Step: "state-perf", Breakdown: bench.Breakdown{Key: bench.BreakdownMerges, Bucket: "6", Samples: x.sixes, Unit: "count"}})
	}
	slices.Reverse(s.runs) // their order says nothing
	slices.Reverse(s.series)
	return &s
}

// sweepText shows rows as step: label=value ratio ….
func sweepText(c SweepComparison) string {
	var b strings.Builder
	for _, r := range c.Rows {
		fmt.Fprintf(&b, "%s %s best %s:", r.Step, r.Version, r.Best)
		for i, x := range r.Cells {
			switch {
			case x.Point == nil:
				fmt.Fprintf(&b, " %s=–", c.Sweep.Arms[i].Label(c.Sweep.Option))
			case x.Relative == nil:
				fmt.Fprintf(&b, " %s=?", c.Sweep.Arms[i].Label(c.Sweep.Option))
			default:
				fmt.Fprintf(&b, " %s=%.3f", c.Sweep.Arms[i].Label(c.Sweep.Option), *x.Relative)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestTheBlockSizeStudyIsASweepWithItsDisks(t *testing.T) {
	t.Parallel()
	c, all, ok, err := ReadSweep(t.Context(), newStudy(t), SweepQuery{}, nil)
	if err != nil || !ok || len(all) != 1 {
		t.Fatalf("%v %v %+v", err, ok, all)
	}
	if got := sweepText(c); got != "state-perf unknown best 4096: 4 KiB=1.000 8 KiB=1.045 16 KiB=1.185 32 KiB=1.334\n" {
		t.Error(got)
	}
	want := []string{
		"block_size of 4 KiB is best at state-perf: observed latency 516.923 µs; 8 KiB 1.045, 16 KiB 1.185 and 32 KiB 1.334 of it.",
		"One run per value: no interval can be given, and small differences may be noise.",
	}
	if diff := cmp.Diff(want, c.Summary()); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"Each value has another disk (4 KiB: Disk 1, 8 KiB: Disk 2, 16 KiB: Disk 3, 32 KiB: Disk 4): these figures alone cannot tell it from block_size.",
		"No run has a date: whether the values were measured one after another or weeks apart cannot be told.",
	}
	if diff := cmp.Diff(want, c.Doubts); diff != "" {
		t.Error(diff)
	}
	// 18.9 / 18.0 = 1.05, 74.1 / 72.6 = 1.0207; 74.1 MiB/s of 4 KiB are 18969.6 a second.
	near(t, "IOPS", c.Disks.IOPSSpread, 0.05, 1e-12)
	near(t, "bandwidth", c.Disks.BandwidthSpread, 0.02066, 1e-5)
	want = []string{
		"The 4 disks are alike within 5.0\u2009% by the IOPS that fio printed (18.0k–18.9k) and within 2.1\u2009% by bandwidth (72.6–74.1 MiB/s).",
		"Disk 2 contradicts itself: 18.0k IOPS beside 74.1 MiB/s at 4 KiB, but that bandwidth divided by the block size is 18,970 IOPS. Both are shown as printed.",
	}
	if diff := cmp.Diff(want, c.Disks.Sentences); diff != "" {
		t.Error(diff)
	}
	if len(c.Disks.Disks) != 4 || c.Disks.Disks[2].Name != "Disk 3" || c.Disks.Disks[2].Arm != "16384" || c.Disks.Disks[2].Figure("average").Value != 429.67 || c.Disks.Disks[0].Contradiction != "" {
		t.Errorf("%+v", c.Disks.Disks)
	}
}

func TestASweepIsSplitByTheSourcesKey(t *testing.T) {
	t.Parallel()
	c, _, _, err := ReadSweep(t.Context(), newStudy(t), SweepQuery{}, nil)
	if err != nil || len(c.Splits) != 1 || c.Splits[0].Key != "block_read_count" || len(c.Splits[0].Rows) != 2 {
		t.Fatalf("%v %+v", err, c.Splits)
	}
	one, six := c.Splits[0].Rows[0], c.Splits[0].Rows[1]
	// Of six blocks the 16 KiB are fastest: 2973900 ns; 4502067 / 2973900 = 1.51386.
	if one.Bucket != "1" || one.Best != "4096" || six.Bucket != "6" || six.Best != "16384" || six.Cells[0].Samples != 7 || six.Cells[0].Value != 4502067 {
		t.Errorf("%+v\n%+v", one, six)
	}
	near(t, "4 KiB of six blocks", six.Cells[0].Relative, 1.51386, 1e-5)
	near(t, "32 KiB of one block", one.Cells[3].Relative, 689442.0/516643, 1e-12)
	if p := six.Cells[0].Percent; math.Abs(p-0.007) > 1e-12 {
		t.Errorf("%g %%", p)
	}
	// Another metric is split by its own figures, or by none.
	c, _, _, err = ReadSweep(t.Context(), newStudy(t), SweepQuery{Metric: "block_read_time_ns"}, nil)
	if err != nil || len(c.Splits) != 0 || c.Rows[0].Cell("8192").Value != 507651 {
		t.Errorf("%v %+v", err, c)
	}
}

func TestASweepIsDividedByAChosenValue(t *testing.T) {
	t.Parallel()
	c, _, ok, err := ReadSweep(t.Context(), newStudy(t), SweepQuery{Option: "block_size", Base: "16384"}, nil)
	if err != nil || !ok {
		t.Fatal(err)
	}
	// 516923 / 612676 = 0.8437, 540224 / 612676 = 0.8817, 689518 / 612676 = 1.1254.
	if got := sweepText(c); got != "state-perf unknown best 4096: 4 KiB=0.844 8 KiB=0.882 16 KiB=1.000 32 KiB=1.125\n" {
		t.Error(got)
	}
	if _, _, _, err = ReadSweep(t.Context(), newStudy(t), SweepQuery{Base: "4k"}, nil); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("%v", err)
	}
	if _, all, ok, err := ReadSweep(t.Context(), newStudy(t), SweepQuery{Option: "cache_size"}, nil); err != nil || ok || len(all) != 1 {
		t.Errorf("%v %v", ok, err)
	}
}

// stored is a parsed config of MyRocks of key=value words.
func stored(name string, words ...string) bench.StoredConfig {
	c := bench.StoredConfig{Config: bench.Config{System: "myrocks", Name: name, Layer: bench.LayerParsed}, Runs: 1}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		written := value
		if key == "cache" {
			written = map[string]string{"8589934592": "8G", "6442450944": "6G"}[value]
		}
		c.Options = append(c.Options, bench.Option{Key: key, Written: written, Value: value})
	}
	return c
}

func TestConfigsThatDifferInOneNumberAreASweep(t *testing.T) {
	t.Parallel()
	// As the my.cnf files have them: a1 cuts the cache as well, so that only a5 against
	// a0, and a7 against a1, differ in one number.
	configs := []bench.StoredConfig{
		stored("a0", "cache=8589934592"), stored("a1", "cache=6442450944", "hyper=ON"), stored("a4", "cache=8589934592", "stop=12", "slow=8"),
		stored("a5", "cache=8589934592", "sub=2"), stored("a7", "cache=6442450944", "hyper=ON", "sub=2"), stored("a9", "cache=8589934592", "sub=4"),
	}
	var runs []bench.RunFacts
	for i, name := range []string{"a0", "a1", "a4", "a5", "a7", "a9", "a0", "a5"} {
		f := bench.RunFacts{ID: int64(i + 1), System: "myrocks", Suite: "ibench", Server: "bee", Workload: "io", Config: name, Build: bench.Build{Version: "8.0.28"}}
		if i > 5 {
			f.Workload = "cached"
		}
		runs = append(runs, f)
	}
	var got []string
	for _, s := range FindSweeps(runs, configs) {
		text := s.Workload + " " + s.Option.Key + ":"
		for i := range s.Arms {
			text += fmt.Sprintf(" %s%v%v", s.Arms[i].Label(s.Option), s.Arms[i].Configs, s.Arms[i].Runs)
		}
		got = append(got, text)
	}
	want := []string{"io sub: not set[a0][1] 2[a5][4] 4[a9][6]", "cached sub: not set[a0][7] 2[a5][8]", "io sub: not set[a1][2] 2[a7][5]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAValueOnAServerOfItsOwnIsSaidPlainly(t *testing.T) {
	t.Parallel()
	s := newStudy(t)
	for i := range s.runs {
		s.runs[i].Server = "of " + s.runs[i].Config
		s.runs[i].Started = bench.NewLocalTime(2023, 7, int(s.runs[i].ID), 10, 0, 0)
		delete(s.runs[i].Environment, "disk")
	}
	for i := range s.series {
		s.series[i].Server = "of " + s.series[i].Config
	}
	c, all, ok, err := ReadSweep(t.Context(), s, SweepQuery{}, nil)
	if err != nil || !ok || len(all) != 1 || c.Sweep.Server != "" {
		t.Fatalf("%v %v %+v", err, ok, all)
	}
	if got := sweepText(c); got != "state-perf unknown best 4096: 4 KiB=1.000 8 KiB=1.045 16 KiB=1.185 32 KiB=1.334\n" {
		t.Error(got)
	}
	want := []string{
		"Each value has another server (4 KiB: of bs4k, 8 KiB: of bs8k, 16 KiB: of bs16k, 32 KiB: of bs32k): these figures alone cannot tell it from block_size.",
		"The values were measured on different days (4 KiB: 2023-07-01, 8 KiB: 2023-07-03, 16 KiB: 2023-07-05, 32 KiB: 2023-07-07): what changed in between may be the cause as well as block_size.",
	}
	if diff := cmp.Diff(want, c.Doubts); diff != "" {
		t.Error(diff)
	}
	// fio of a config still finds its arm.
	if len(c.Disks.Disks) != 4 || c.Disks.IOPSSpread == nil {
		t.Errorf("%+v", c.Disks)
	}
}

func TestIntervalsAndWhatMustNotBeComparedInASweep(t *testing.T) {
	t.Parallel()
	// Six runs a value: their scatter, about one percent, is the noise. 4 and 8 cannot be told apart.
	var all []bench.Series
	var sweep Sweep
	sweep.Option.Key = "block_size"
	id := int64(0)
	for i, x := range []string{"4096 1000,1010,990,1005,995,1000", "8192 1003,993,1013,1003,1008,998", "16384 800,808,792,804,796,800", "32768 5000!,5050!,4950!,5000!,5000!,5000!"} {
		name, values, _ := strings.Cut(x, " ")
		s := series(t, coordinate("readrandom", "gcc"), "7.8.3 "+values)
		arm := SweepArm{Set: true, Number: float64(int(4096) << i), Written: name}
		for j := range s.Points[0].Samples {
			id++
			s.Points[0].Samples[j].RunID = id
			arm.Runs = append(arm.Runs, id)
		}
		sweep.Arms = append(sweep.Arms, arm)
		all = append(all, s)
	}
	sweep.Server = "arm"
	c := CompareSweep(SweepInput{Sweep: sweep, Series: all})
	if len(c.Rows) != 1 || c.Rows[0].Best != "8192" || strings.Join(c.Rows[0].Alike, " ") != "4096" || !c.Rows[0].Known() {
		t.Fatalf("%+v", c.Rows)
	}
	if x := c.Rows[0].Cell("16384"); x.Verdict != Worse || x.N != 6 || x.Value != 800 {
		t.Errorf("%+v", x)
	}
	if x := c.Rows[0].Cell("32768"); !x.Flagged || x.Verdict != NoVerdict {
		t.Errorf("%+v", x)
	}
	want := []string{
		"block_size of 8 KiB is best at readrandom: QPS 1,003/s; 4 KiB 0.997 and 16 KiB 0.798 of it.", "4 KiB cannot be told from it.",
		"1 row has figures that must not be compared, see the warnings of the runs: none of them is called best.",
	}
	if diff := cmp.Diff(want, c.Summary()); diff != "" {
		t.Error(diff)
	}
	// With nothing that may be compared none is best, and the first is the base.
	for i := range all {
		for j := range all[i].Points[0].Samples {
			all[i].Points[0].Samples[j].Excluded = true
		}
	}
	c = CompareSweep(SweepInput{Sweep: sweep, Series: all})
	if c.Rows[0].Best != "" || c.Rows[0].Base != "4096" || len(c.Summary()) != 1 {
		t.Errorf("%+v %q", c.Rows[0], c.Summary())
	}
}

func TestBlockSizesAreReadOffStepsOfFio(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]float64{"read-4k": 4096, "randread-16k-qd8": 16384, "write-1m": 1 << 20, "read-512": 512, "read": 0, "read-qd8": 0, "read-0k": 0} {
		if got, ok := BlockSizeOf(step); got != want || ok != (want != 0) {
			t.Errorf("%s: %g %v", step, got, ok)
		}
	}
}

func TestFactsThatSetsOfRunsDoNotHaveAlike(t *testing.T) {
	t.Parallel()
	a := bench.RunFacts{
		Server: "c2", Config: "a0", System: "myrocks", Build: bench.Build{Version: "8.7.3", Compiler: "gcc", Flags: "-O2 -march=native"},
		Environment: map[string]string{"kernel": "5.15", "cpu": "x", "source_url": "1"}, Options: map[string]string{"bytes": "1", "gone": "1"}, Started: bench.NewLocalTime(2023, 9, 1, 1, 0, 0),
	}
	b := a
	b.Build.Version, b.Build.Flags = "8.8.0", "-O2 -flto"
	b.Environment = map[string]string{"kernel": "6.2", "cpu": "x", "source_url": "2"}
	b.Options, b.Started = map[string]string{"bytes": "2", "new": "1"}, bench.NewLocalTime(2023, 10, 1, 1, 0, 0)
	again := b
	again.Started, again.Environment = bench.NewLocalTime(2023, 10, 3, 1, 0, 0), map[string]string{"kernel": "6.5", "cpu": "x"}
	b.Config = "a9" // stands for options of its own
	sets := ConfigSets([]bench.StoredConfig{stored("a0", "stop=4"), stored("a9", "stop=12")})
	var got []string
	for _, d := range DiffFacts([][]bench.RunFacts{{a}, {b, again}}, sets) {
		got = append(got, fmt.Sprintf("%s %s %s %v %v", d.Kind, d.Name, d.Change, d.Values, d.Disjoint()))
	}
	want := []string{
		"run version changed [[8.7.3] [8.8.0]] true", "run config changed [[a0] [a0 a9]] false", "run date changed [[2023-09-01] [2023-10-01 to 2023-10-03]] true",
		"build flag -flto added [[] [given]] false", "build flag -march=native removed [[given] []] false",
		"host kernel changed [[5.15] [6.2 6.5]] true",
		"option bytes changed [[1] [2]] true", "option gone removed [[1] []] false", "option new added [[] [1]] false", "option stop changed [[4] [4 12]] false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d := DiffFacts([][]bench.RunFacts{{a}, {a}}, sets); len(d) != 0 {
		t.Errorf("%+v", d)
	}
	for list, want := range map[string]string{"": "not stated", "1": "1", "1 2 3 4": "1, 2, 3, 4", "1 2 3 4 5": "1, 2, 3 and 2 more"} {
		if got := FactsText(strings.Fields(list)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEqualValuesHaveNoBest(t *testing.T) {
	t.Parallel()
	row := func(d bench.Direction, values ...float64) *ArmRow {
		r := &ArmRow{Metric: bench.Metric{Direction: d}}
		for i, v := range values {
			r.Cells = append(r.Cells, ArmCell{Arm: fmt.Sprint(i), Point: &Point{Value: v, N: 1}})
		}
		return r
	}
	for _, x := range []struct {
		row  *ArmRow
		want string
	}{
		{row(bench.HigherBetter, 5, 5, 5), ""}, {row(bench.HigherBetter, 5, 5, 6), "2"}, {row(bench.LowerBetter, 5, 5, 6), "0"}, {row(bench.HigherBetter, 5), ""}, {row(bench.Neutral, 5, 6), ""},
	} {
		if got := bestOf(x.row); got != x.want {
			t.Errorf("%+v: %q, want %q", x.row, got, x.want)
		}
	}
}

// A value that was measured with something else changed too is no arm, and is not
// passed over in silence either.
func TestAValueThatDiffersInMoreIsLeftOutByName(t *testing.T) {
	t.Parallel()
	s := newStudy(t)
	options := []map[string]string{
		{"block_size": "4096", "buffer": "1"}, {"block_size": "8192", "buffer": "1"}, {"block_size": "16384", "buffer": "2"},
		{"block_size": "32768", "buffer": "1", "a": "1", "b": "1", "c": "1", "d": "1"}, // another experiment
	}
	for i := range s.runs {
		if r := &s.runs[i]; r.Options != nil {
			r.Options = options[(r.ID-1)/2]
		}
	}
	c, _, ok, err := ReadSweep(t.Context(), s, SweepQuery{}, nil)
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	if got := sweepText(c); got != "state-perf unknown best 4096: 4 KiB=1.000 8 KiB=1.045\n" {
		t.Errorf("%s", got)
	}
	if got := strings.Join(c.Doubts, "\n"); !strings.Contains(got, "16 KiB (bs16k) is left out: it differs in buffer as well.") || strings.Contains(got, "32 KiB") {
		t.Errorf("%s", got)
	}
}
