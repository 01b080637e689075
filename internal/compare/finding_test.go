package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// change makes a stored lasting change of a step from one version to the next,
// with its effect as a ratio.
func change(t *testing.T, id int64, c bench.Coordinate, from, to string, ratio float64) bench.Change {
	t.Helper()
	e := math.Log(ratio)
	return bench.Change{ID: id, Coordinate: c, Metric: qps(t), Triage: bench.TriageNew, FoundChange: bench.FoundChange{
		Shape: bench.ShapeStep, From: from, To: to, Effect: e, Low: e - 0.01, High: e + 0.01, Neighbours: e, P: 1e-6, PHere: 1e-7,
	}}
}

// reportOf makes the report of a step over versions 6.1 to 8.3, three runs each.
func reportOf(t *testing.T, values map[string]int, changes ...bench.Change) Report {
	t.Helper()
	var words []string
	for _, v := range []string{"6.1.0", "6.2.0", "6.3.0", "6.4.0", "7.1.0", "7.2.0", "7.3.0", "8.1.0", "8.2.0", "8.3.0"} {
		n := 1000
		for key, value := range values {
			if bench.CompareVersions(v, key) >= 0 {
				n = min(n, value)
			}
		}
		words = append(words, fmt.Sprintf("%s %d,%d,%d", v, n-1, n, n+1))
	}
	c := Compare([]bench.Series{series(t, coordinate("fillseq", "gcc"), words...)}, Options{AutoBase: true})
	return NewReport(c, changes, nil, 0)
}

func TestOneChangeThatCarriesHalfOfTheWayIsNamed(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	r := reportOf(t, map[string]int{"6.3.0": 700, "8.1.0": 650}, change(t, 1, at, "6.2.0", "6.3.0", 0.7), change(t, 2, at, "7.3.0", "8.1.0", 650.0/700))
	f := r.Findings()
	if len(f) != 1 || f[0].Row.Line.Step != "fillseq" || len(f[0].Where.Changes) != 1 || f[0].Where.Changes[0].ID != 1 {
		t.Fatalf("%+v", f)
	}
	near(t, "ratio", f[0].Row.Last.Relative, 0.65, 1e-9)
}

func TestTwoChangesThatCarryMostOfTheWayAreNamedInOrder(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	// 0.85 · 0.85 · 0.9 = 0.65: the larger two carry three quarters, neither of them half.
	r := reportOf(t, map[string]int{"6.3.0": 850, "7.1.0": 765, "8.1.0": 650},
		change(t, 1, at, "6.2.0", "6.3.0", 0.85), change(t, 2, at, "6.4.0", "7.1.0", 0.9), change(t, 3, at, "7.3.0", "8.1.0", 0.85))
	w := r.Findings()[0].Where
	if len(w.Changes) != 2 || w.Changes[0].ID != 1 || w.Changes[1].ID != 3 {
		t.Errorf("%+v", w)
	}
}

func TestWithoutSuchChangesTheMajorIsNamed(t *testing.T) {
	t.Parallel()
	// From 1000 to 600, of which 7.x takes 1000 → 700: ln 0.7 / ln 0.6 = 0.70.
	r := reportOf(t, map[string]int{"7.1.0": 900, "7.2.0": 800, "7.3.0": 700, "8.2.0": 600})
	if w := r.Findings()[0].Where; len(w.Changes) != 0 || w.Major != "7.x" {
		t.Errorf("%+v", w)
	}
	// Spread over majors, none takes half.
	r = reportOf(t, map[string]int{"6.3.0": 850, "7.2.0": 720, "8.2.0": 610})
	if w := r.Findings()[0].Where; w.Major != "" {
		t.Errorf("%+v", w)
	}
}

func TestWhatCannotBeToldFromOneIsNoFinding(t *testing.T) {
	t.Parallel()
	if f := reportOf(t, map[string]int{"8.2.0": 1000}).Findings(); len(f) != 0 {
		t.Errorf("%+v", f)
	}
}

func TestSpikesAndChangesBeforeTheBaseCarryNothing(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	spike := change(t, 1, at, "6.4.0", "7.1.0", 0.7)
	spike.Shape, spike.Back = bench.ShapeSpike, "7.2.0"
	before := change(t, 2, at, "6.0.0", "6.1.0", 0.7)
	r := reportOf(t, map[string]int{"8.2.0": 700}, spike, before)
	if w := r.Findings()[0].Where; len(w.Changes) != 0 || w.Major != "8.x" {
		t.Errorf("%+v", w)
	}
}

func TestSettingsMarkWhatStricterOnesDo(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	candidate := func(id int64, ratio, p, here, q float64) Candidate {
		c := change(t, id, at, "6.2.0", "6.3.0", ratio)
		c.P, c.PHere = p, here
		return Candidate{c, q}
	}
	for name, x := range map[string]struct {
		Candidate
		want int
	}{
		"clear":                     {candidate(1, 0.9, 1e-6, 1e-8, 0.001), 0},
		"usual":                     {candidate(1, 0.9, 5e-3, 5e-4, 0.01), 1},
		"effect below 3 %":          {candidate(1, 0.98, 1e-6, 1e-8, 0.001), 2},
		"not stored":                {candidate(0, 0.9, 1e-6, 1e-8, 0.001), 2},
		"weak at its own version":   {candidate(1, 0.9, 5e-3, 5e-3, 0.01), 2},
		"too weak":                  {candidate(1, 0.9, 0.06, 1e-3, 0.04), -1},
		"too many tested beside it": {candidate(1, 0.9, 1e-3, 1e-4, 0.06), -1},
	} {
		if got := MarkedFrom(x.Candidate); got != x.want {
			t.Errorf("%s: marked from setting %d, want %d", name, got, x.want)
		}
		for i, s := range Settings() {
			if got := s.Marks(x.Candidate); got != (x.want >= 0 && i >= x.want) {
				t.Errorf("%s: %s marks it: %v", name, s.Name, got)
			}
		}
	}
	if s, ok := SettingOf(Usual); !ok || s.Level != SeriesLevel {
		t.Errorf("%+v", s)
	}
	if _, ok := SettingOf("lenient"); ok {
		t.Error("a setting of an unknown name")
	}
}

func TestCandidatesAddWhatOnlyTheMostSensitiveSettingFinds(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	var words []string
	for i := range 24 {
		n := 10000 + 37*(i*i%11) // some noise
		if i >= 12 {
			n = n * 9 / 10
		}
		words = append(words, fmt.Sprintf("8.%d.0 %d", i, n))
	}
	s := series(t, at, words...)
	s.ID = 7
	found := Candidates([]bench.Series{s}, nil, nil)
	if len(found) == 0 || found[0].To != "8.12.0" || found[0].ID != 0 || found[0].Effect >= 0 {
		t.Fatalf("%+v", found)
	}
	stored := change(t, 5, at, "8.11.0", "8.12.0", 0.9)
	stored.SeriesID = 7
	got := Candidates([]bench.Series{s}, []bench.Change{stored}, nil)
	if len(got) != len(found) || got[0].ID != 5 {
		t.Errorf("the stored one stands for the one found again: %+v", got)
	}
	prepare := s
	prepare.Step = "overwritesome"
	p99 := s
	p99.Metric, _ = bench.LookupMetric("p99")
	if got := Candidates([]bench.Series{prepare, p99}, nil, nil); len(got) != 0 {
		t.Errorf("steps that prepare and other metrics are not tested: %+v", got)
	}
}

func sighting(server, workload, step string, ratio float64) Sighting {
	c := coordinate(step, "gcc")
	c.Server, c.Workload = server, workload
	return Sighting{Coordinate: c, Ratio: ratio, Low: ratio - 0.01, High: ratio + 0.01}
}

func TestDoubtsSayWhatSpeaksAgainstAChange(t *testing.T) {
	t.Parallel()
	at := coordinate("readrandom", "gcc")
	at.Server = "c2"
	c := change(t, 1, at, "8.6.7", "8.7.3", 0.93)
	c.NewCampaign, c.OneRun = true, true
	e := Evidence{
		Alike:   []Sighting{sighting("c2", "cached", "multireadrandom", 0.92), sighting("c2", "cached", "readwhilewriting", 0.92)},
		Steady:  []Sighting{sighting("c2", "cached", "fillseq", 1)},
		NotSeen: []Sighting{sighting("c2", "iodir", "readrandom", 1), sighting("u5", "cached", "readrandom", 1), sighting("u5", "iodir", "readrandom", 1)},
	}
	var got []string
	for _, d := range Doubts(c, e, 0.001) {
		got = append(got, d.Text)
		if d.Evidence == "" {
			t.Errorf("%s without evidence", d.Text)
		}
	}
	want := []string{"new campaign", "common mode 3 of 4", "not seen on u5, iodir", "one run"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// One that others support is no longer one run; a coarse source is a doubt.
	e = Evidence{Seen: []Sighting{sighting("u5", "cached", "readrandom", 0.9)}}
	c.NewCampaign = false
	if d := Doubts(c, e, 0.04); len(d) != 1 || d[0].Text != "resolution too coarse" {
		t.Errorf("%+v", d)
	}
	if d := Doubts(c, e, 0.01); len(d) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestPlacesNameServersAsAWholeWhereTheyAgree(t *testing.T) {
	t.Parallel()
	from := coordinate("readrandom", "gcc")
	from.Server = "c2"
	clang := sighting("c2", "cached", "readrandom", 1)
	clang.Compiler = "clang+lto"
	list := []Sighting{sighting("c2", "iodir", "readrandom", 1), clang, sighting("u5", "cached", "readrandom", 1), sighting("u5", "iobuf", "readrandom", 1), sighting("arm", "iodir", "readrandom", 1)}
	if got := Places(from, list, nil, 9); got != "u5, arm iodir, iodir, clang+LTO" {
		t.Errorf("%q", got)
	}
	if got := Places(from, list, []Sighting{sighting("u5", "iodir", "readrandom", 0.9)}, 9); got != "u5 cached, u5 iobuf, arm iodir, iodir, clang+LTO" {
		t.Errorf("with a sighting of the other kind there: %q", got)
	}
	if got := Places(from, list, nil, 2); got != "u5, arm iodir and 2 more" {
		t.Errorf("%q", got)
	}
}

func TestCausesGroupOneStepInSeveralPlacesAndManyStepsInOne(t *testing.T) {
	t.Parallel()
	place := func(id int64, step, server, workload, to string, ratio float64, e Evidence) Judged {
		at := coordinate(step, "gcc")
		at.Server, at.Workload = server, workload
		return Judged{Change: change(t, id, at, "8.5.4", to, ratio), Evidence: e}
	}
	common := Evidence{Alike: []Sighting{{}, {}}, Steady: []Sighting{{}}} // three of four
	causes := Causes([]Judged{
		place(1, "overwriteandwait", "c2", "iodir", "8.6.7", 0.2, Evidence{}),
		place(2, "overwriteandwait", "u5", "iodir", "8.6.7", 0.45, Evidence{}),
		place(3, "overwrite", "u5", "iobuf", "8.6.7", 0.82, Evidence{}),
		place(4, "fillseq", "u5", "iobuf", "8.6.7", 1.1, Evidence{}),
		place(5, "readrandom", "c2", "cached", "8.7.3", 0.93, common),
		place(6, "readwhilewriting", "c2", "cached", "8.7.3", 0.92, common),
		place(7, "readrandom", "u5", "cached", "8.7.3", 0.9, Evidence{}),
	})
	var got []string
	for _, c := range causes {
		text := fmt.Sprintf("%s %s common=%v:", c.Version, c.Kind, c.Common)
		for _, x := range c.Changes {
			text += fmt.Sprintf(" %d", x.ID)
		}
		got = append(got, text)
	}
	want := []string{
		"8.7.3 regression common=false: 7",
		"8.7.3 regression common=true: 6 5",
		"8.6.7 regression common=false: 1 2 3",
		"8.6.7 improvement common=false: 4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"c2", "u5"}, causes[2].Values(func(c bench.Coordinate) string { return c.Server })); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"overwrite", "overwriteandwait"}, causes[2].Steps()); diff != "" {
		t.Error(diff)
	}
}

// metricSeries makes a series of another metric with one sample a version; the
// results are numbered by version, as in [series].
func metricSeries(t *testing.T, c bench.Coordinate, name string, words ...string) bench.Series {
	t.Helper()
	s := series(t, c, words...)
	m, ok := bench.LookupMetric(name)
	if !ok {
		t.Fatalf("no metric %s", name)
	}
	s.Metric = m
	return s
}

// The figures are those of fillseq at 6.13.4 and 6.14.6 on c2 iodir in the
// published archive: (5400 + 200) s / (1030529/s · 1941 s) = 2.7996 µs.
func TestCPUPerOperationComesFromCPUAndOperations(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	all := []bench.Series{
		series(t, at, "6.13.4 1030529", "6.14.6 685199", "6.15.5 664349"),
		metricSeries(t, at, "uptime_s", "6.13.4 1941", "6.14.6 2919", "6.15.5 3010"),
		metricSeries(t, at, "user_cpu_s", "6.13.4 5400", "6.14.6 6800"),
		metricSeries(t, at, "system_cpu_s", "6.13.4 200", "6.14.6 200", "6.15.5 200"),
	}
	got := PerOperation(all)
	if len(got) != 1 || got[0].Metric.Name != "cpu_us_per_op" || len(got[0].Points) != 2 {
		t.Fatalf("%+v", got)
	}
	near(t, "6.13.4", &got[0].Points[0].Samples[0].Value, 2.7996, 5e-5)
	near(t, "6.14.6", &got[0].Points[1].Samples[0].Value, 7000e6/(685199.0*2919), 1e-9)

	// Counted operations go before the rate times the time.
	counted := append(all, metricSeries(t, at, "operations", "6.13.4 1000000000"))
	near(t, "counted", &PerOperation(counted)[0].Points[0].Samples[0].Value, 5.6, 1e-9)
	// Without time there are no operations, and no figure instead of one.
	if got := PerOperation(append(all[:1:1], all[2:]...)); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// A source that states the figure is not second-guessed.
	if got := PerOperation(append(all, metricSeries(t, at, "cpu_us_per_op", "6.13.4 3"))); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func lineOf(t *testing.T, s bench.Series) Line {
	t.Helper()
	return Compare([]bench.Series{s}, Options{}).Lines[0]
}

func TestMetricsThatMovedFurthestBeyondNoiseStandFirst(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	words := func(before, after, noise int) []string {
		var out []string
		for i := range 12 {
			n := before
			if i >= 6 {
				n = after
			}
			out = append(out, fmt.Sprintf("8.%d.0 %d", i, n+noise*(i*7%5-2)))
		}
		return out
	}
	c := change(t, 1, at, "8.5.0", "8.6.0", 0.88)
	moves := MetricMoves(c, []Line{
		lineOf(t, metricSeries(t, at, "p99", words(10000, 10100, 200)...)),           // nothing beyond noise
		lineOf(t, metricSeries(t, at, "rss_gb", words(10000, 11000, 100)...)),        // some
		lineOf(t, metricSeries(t, at, "user_cpu_s", words(10000, 11400, 20)...)),     // much
		lineOf(t, metricSeries(t, at, "stall_s", "8.0.0 1", "8.11.0 1")),             // not measured there
		lineOf(t, metricSeries(t, at, "write_amp", words(10000, 10000, 50)[:11]...)), // measured, unmoved
		lineOf(t, series(t, at, words(100000, 88000, 100)...)),
	})
	var got []string
	for _, m := range moves {
		got = append(got, fmt.Sprintf("%s %s", m.Line.Metric.Name, m.Verdict))
	}
	want := []string{"qps worse", "user_cpu_s worse", "rss_gb worse", "p99 undecided", "write_amp undecided"}
	if len(got) != 5 || !cmp.Equal(want[:3], got[:3]) {
		t.Fatalf("%v, want %v", got, want)
	}
	near(t, "CPU", &moves[1].Ratio, 1.14, 0.01)
	if moves[1].Score <= moves[2].Score {
		t.Errorf("scores %g and %g", moves[1].Score, moves[2].Score)
	}
}

// A step that lasts a fixed time and got slower does less: its totals fall and are
// no improvement. One of a fixed number of operations does the same.
func TestTotalsOfOtherAmountsAreNeitherBetterNorWorse(t *testing.T) {
	t.Parallel()
	at := coordinate("overwriteandwait", "gcc")
	words := func(before, after int) []string {
		var out []string
		for i := range 12 {
			n := before
			if i >= 6 {
				n = after
			}
			out = append(out, fmt.Sprintf("8.%d.0 %d", i, n+(i*7%5-2)*n/1000))
		}
		return out
	}
	c := change(t, 1, at, "8.5.0", "8.6.0", 0.5)
	for name, x := range map[string]struct {
		seconds []string
		want    string
	}{
		"a fixed time":                    {words(1800000, 1800000), "user_cpu_s moved, write_amp worse"},
		"a fixed number":                  {words(1000000, 2000000), "user_cpu_s better, write_amp worse"},
		"an unknown number of operations": {nil, "user_cpu_s better, write_amp worse"},
	} {
		lines := []Line{
			lineOf(t, series(t, at, words(100000, 50000)...)), lineOf(t, metricSeries(t, at, "user_cpu_s", words(100000, 50000)...)),
			lineOf(t, metricSeries(t, at, "write_amp", words(100000, 150000)...)),
		}
		if x.seconds != nil {
			lines = append(lines, lineOf(t, metricSeries(t, at, "uptime_s", x.seconds...)))
		}
		got := map[string]Verdict{}
		for _, m := range MetricMoves(c, lines) {
			got[m.Line.Metric.Name] = m.Verdict
		}
		if s := fmt.Sprintf("user_cpu_s %s, write_amp %s", got["user_cpu_s"], got["write_amp"]); s != x.want || got["qps"] != Worse {
			t.Errorf("%s: %s, want %s", name, s, x.want)
		}
	}
}

// At 5.3.7 of the published archive three steps read at a quarter of their rate
// while compaction wrote 42 times as much.
func TestOtherWorkIsADoubt(t *testing.T) {
	t.Parallel()
	at := coordinate("revrangewhilewriting", "gcc")
	c := change(t, 1, at, "5.2.1", "5.3.7", 0.26)
	d, ok := WorkDiffers(c, MetricMoves(c, []Line{lineOf(t, metricSeries(t, at, "compaction_write_gb", "5.1.5 3", "5.2.1 3", "5.3.7 126", "5.4.12 3"))}))
	if !ok || d.Kind != DoubtWork || d.Evidence != "compaction write ×\u200942.0 at 5.3.7 (3.00 → 126 GB): not the same work done slower" {
		t.Errorf("%+v %v", d, ok)
	}
	// Work that follows the rate of a step of fixed duration is no other work.
	fell := change(t, 1, at, "5.2.1", "5.3.7", 0.2)
	if d, ok := WorkDiffers(fell, MetricMoves(fell, []Line{lineOf(t, metricSeries(t, at, "compaction_write_gb", "5.2.1 100", "5.3.7 21"))})); ok {
		t.Errorf("%+v", d)
	}
}

func TestEvidenceIsSeenNotSeenOrCannotTell(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	// words makes a series that moves by a ratio at 8.6.0, with noise of so many
	// thousandths around every version.
	words := func(ratio float64, noise int) []string {
		var out []string
		for i := range 12 {
			n := 100_000.0
			if i >= 6 {
				n *= ratio
			}
			d := n * float64(noise) / 1000
			out = append(out, fmt.Sprintf("8.%d.0 %.0f,%.0f,%.0f", i, n-d, n, n+d))
		}
		return out
	}
	on := func(server, step string, ratio float64, noise int) Line {
		c := at
		c.Server, c.Step = server, step
		return lineOf(t, series(t, c, words(ratio, noise)...))
	}
	c := change(t, 1, at, "8.5.0", "8.6.0", 0.9)
	e := Gather(c, []Line{
		on("arm", "fillseq", 0.9, 5), // the change's own
		on("c2", "fillseq", 0.91, 5),
		on("u5", "fillseq", 1, 5),
		on("a1", "fillseq", 1.1, 5),   // the other way
		on("a2", "fillseq", 0.98, 5),  // a fifth of it: the interval excludes half
		on("a3", "fillseq", 1, 150),   // too noisy
		on("a4", "fillseq", 0.96, 40), // could be either
		on("arm", "readrandom", 0.9, 5),
		on("arm", "fwdrange", 1, 5),
		on("arm", "overwriteandwait", 1, 150),
		on("u5", "readrandom", 0.9, 5), // another step elsewhere
	})
	name := func(list []Sighting) string {
		var out []string
		for _, s := range list {
			out = append(out, s.Server+" "+s.Step)
		}
		return strings.Join(out, ", ")
	}
	for _, x := range []struct {
		what string
		got  []Sighting
		want string
	}{
		{"seen", e.Seen, "c2 fillseq"},
		{"not seen", e.NotSeen, "u5 fillseq, a1 fillseq, a2 fillseq"},
		{"cannot tell", e.CannotTell, "a3 fillseq, a4 fillseq"},
		{"alike", e.Alike, "arm readrandom"},
		{"steady", e.Steady, "arm fwdrange"},
		{"unclear", e.Unclear, "arm overwriteandwait"},
	} {
		if got := name(x.got); got != x.want {
			t.Errorf("%s: %q, want %q", x.what, got, x.want)
		}
	}
	if moved, of, _ := e.CommonMode(); moved != 2 || of != 4 {
		t.Errorf("common mode %d of %d, want 2 of 4", moved, of)
	}
	// A server where one series cannot tell is not named as a whole.
	noisy := e
	noisy.CannotTell = append(noisy.CannotTell, sighting("u5", "iodir", "fillseq", 1))
	noisy.NotSeen = []Sighting{sighting("u5", "cached", "fillseq", 1), sighting("u5", "iobuf", "fillseq", 1)}
	var unseen string
	for _, d := range Doubts(c, noisy, 0) {
		if d.Kind == DoubtUnseen {
			unseen = d.Text
			if !strings.Contains(d.Evidence, "cannot tell: ") {
				t.Errorf("%q", d.Evidence)
			}
		}
	}
	if unseen != "not seen on u5 cached, u5 iobuf" {
		t.Errorf("%q", unseen)
	}
}

// A series that was not measured for several versions may have changed anywhere
// between: it says nothing of a change there.
func TestOnlySeriesMeasuredNearAChangeAreAsked(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	at.Server = "c2"
	own := []string{"8.0.0 100,101", "8.1.0 101,100", "8.2.0 100,101", "8.3.0 101,100", "8.4.0 90,91", "8.5.0 91,90", "8.6.0 90,91", "8.7.0 91,90"}
	on := func(server string, points ...string) Line {
		c := at
		c.Server = server
		return lineOf(t, series(t, c, points...))
	}
	c := change(t, 1, at, "8.3.0", "8.4.0", 0.9)
	e := Gather(c, []Line{
		on("c2", own...),
		on("near", "8.0.0 100,101", "8.1.0 101,100", "8.2.0 100,101", "8.5.0 91,90", "8.6.0 90,91", "8.7.0 91,90"),
		on("patch", "8.0.0 100,101", "8.1.0 101,100", "8.2.1 100,101", "8.4.2 91,90", "8.6.0 90,91", "8.7.0 91,90"),
		on("early", "8.0.0 100,101", "8.1.0 101,100", "8.4.0 91,90", "8.5.0 90,91", "8.7.0 91,90"),
		on("late", "8.1.0 101,100", "8.2.0 100,101", "8.3.0 101,100", "8.6.0 91,90", "8.7.0 91,90"),
	})
	var got []string
	for _, s := range e.Elsewhere() {
		got = append(got, s.Server)
	}
	if strings.Join(got, " ") != "near patch" {
		t.Errorf("asked were %q", got)
	}
}

func TestSpikesAreComparedWithBothSides(t *testing.T) {
	t.Parallel()
	at := coordinate("fillseq", "gcc")
	l := lineOf(t, series(t, at, "8.1.0 100,102,98", "8.2.0 100,101,99", "8.3.0 50,51,49", "8.4.0 100,99,101", "8.5.0 101,100,99"))
	c := change(t, 1, at, "8.2.0", "8.3.0", 0.5)
	c.Shape, c.Back = bench.ShapeSpike, "8.4.0"
	s, ok := Across(c.FoundChange, l)
	if !ok {
		t.Fatal("not told")
	}
	near(t, "ratio", &s.Ratio, 0.5, 1e-3)
	// One that was not measured in the spike cannot say anything of it.
	if _, ok := Across(c.FoundChange, lineOf(t, series(t, at, "8.1.0 100,102,98", "8.2.0 100,101,99", "8.4.0 100,99,101", "8.5.0 101,100,99"))); ok {
		t.Error("a line without the version of the spike")
	}
}
