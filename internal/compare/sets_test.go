package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// setText shows rows as step version: A value n → B value n ratio verdict.
func setText(c SetComparison) (rows []string) {
	for i := range c.Rows {
		r := &c.Rows[i]
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("%s %s: %g n%d → %g n%d %s %s", strings.TrimSpace(r.Server+" "+r.Step), r.Version, r.A.Value, r.A.N, r.B.Value, r.B.N, r.Ratio(), r.Verdict)))
	}
	return rows
}

// steady makes points of several versions around a value that scatter by about a
// percent, in the form of [series].
func steady(value int, versions ...string) []string {
	var out []string
	for i, v := range versions {
		d := value / 100
		out = append(out, fmt.Sprintf("%s %d,%d,%d", v, value+d*(i%3-1), value-d, value+d))
	}
	return out
}

func renumber(all []bench.Series) []bench.Series {
	id := int64(0)
	for _, s := range all {
		for _, p := range s.Points {
			for k := range p.Samples {
				id++
				p.Samples[k].RunID = id
			}
		}
	}
	return all
}

func TestTwoVersionsAreTwoSets(t *testing.T) {
	t.Parallel()
	versions := []string{"8.5.0", "8.6.0", "8.7.0"}
	all := renumber([]bench.Series{
		series(t, coordinate("fillseq", "gcc"), append(steady(1000, versions...), "8.8.0 800,808,792")...),
		series(t, coordinate("readrandom", "gcc"), append(steady(5000, versions...), "8.8.0 5000,5050,4950")...),
		series(t, coordinate("overwriteandwait", "gcc"), append(steady(2000, versions...), "8.8.0 2200,2222,2178")...),
		series(t, coordinate("deleteseq", "gcc"), steady(2000, versions...)...),
		series(t, coordinate("multireadrandom", "gcc"), "8.7.0 100", "8.8.0 50"),
		series(t, coordinate("readwhilewriting", "gcc"), "8.7.0 100!", "8.8.0 10"),
		series(t, coordinate("seekrandom", "gcc"), "8.7.0 0", "8.8.0 10"),
	})
	c := CompareSets(SetsQuery{A: SetQuery{Versions: []string{"8.7.0"}}, B: SetQuery{Versions: []string{"v8.8.0"}}}, all, all, nil)
	want := []string{
		"arm fillseq : 1010 n3 → 800 n3 0.79 worse", "arm overwriteandwait : 2020 n3 → 2200 n3 1.09 better", "arm readrandom : 5050 n3 → 5000 n3 0.99 undecided",
		"arm multireadrandom : 100 n1 → 50 n1 0.50", "arm seekrandom : 0 n1 → 10 n1 n/a (baseline 0)", "arm readwhilewriting : 100 n1 → 10 n1 0.10",
	}
	if diff := cmp.Diff(want, setText(c)); diff != "" {
		t.Error(diff)
	}
	if len(c.OneSided) != 1 || c.OneSided[0].Step != "deleteseq" || c.OneSided[0].Side != "A" || c.OneSided[0].Point.Value != 2020 {
		t.Errorf("%+v", c.OneSided)
	}
	if strings.Join(c.Apart, " ") != "version" || len(c.RunsA) != 15 || len(c.RunsB) != 12 || len(c.Pooled) != 0 {
		t.Errorf("%v %v %v %v", c.Apart, c.RunsA, c.RunsB, c.Pooled)
	}
	// (800/1010 × 2200/2020 × 5000/5050 × 0.5)^(1/4) = 0.80863…
	if len(c.Means) != 1 || c.Means[0].Rows != 4 || math.Abs(c.Means[0].Ratio-math.Pow(800./1010*2200/2020*5000/5050*.5, .25)) > 1e-12 || c.Means[0].Low != nil {
		t.Errorf("%+v", c.Means)
	}
	if got := c.Means[0].Sentence(); got != "B is 0.81 of A by geometric mean of 4 rows (noise unknown; higher is better): 1 worse, 1 better, 1 undecided, 1 with unknown noise; 2 rows left out, not to be compared or with a baseline of 0." {
		t.Error(got)
	}
	for _, r := range c.Rows {
		for _, x := range []*float64{r.B.Relative, r.B.Low, r.B.High, &r.Score} {
			if x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0)) {
				t.Errorf("%s: %g", r.Step, *x)
			}
		}
	}
	// With the noise of all rows known the mean has an interval around it.
	c = CompareSets(SetsQuery{A: SetQuery{Versions: []string{"8.7.0"}}, B: SetQuery{Versions: []string{"8.8.0"}}}, all[:3], all[:3], nil)
	m := c.Means[0]
	centre := (math.Log(800.*808*792) - math.Log(1010.*990*1010) + math.Log(5000.*5050*4950) - math.Log(5050.*4950*5050) + math.Log(2200.*2222*2178) - math.Log(2020.*1980*2020)) / 9
	if m.Rows != 3 || m.Low == nil || *m.Low >= m.Ratio || *m.High <= m.Ratio || math.Abs(math.Log(*m.Low)/2+math.Log(*m.High)/2-centre) > 1e-12 {
		t.Errorf("%+v", m)
	}
}

func TestSetsAreMatchedByWhatTheyShare(t *testing.T) {
	t.Parallel()
	at := func(server string, clients int, step string) bench.Coordinate {
		c := coordinate(step, "gcc")
		c.Server, c.Clients = server, clients
		return c
	}
	all := renumber([]bench.Series{
		series(t, at("c2", 8, "fillseq"), "8.7.0 1000", "8.8.0 900"), series(t, at("u5", 12, "fillseq"), "8.7.0 500", "8.8.0 500", "8.9.0 1"),
		series(t, at("c2", 8, "readrandom"), "8.7.0 100"),
	})
	a := CompareSets(SetsQuery{A: SetQuery{Servers: []string{"c2"}}, B: SetQuery{Servers: []string{"u5"}}}, []bench.Series{all[0], all[2]}, all[1:2], nil)
	want := []string{"fillseq 8.8.0: 900 n1 → 500 n1 0.56", "fillseq 8.7.0: 1000 n1 → 500 n1 0.50"}
	got := setText(a)
	if len(got) == 2 && got[0] != want[0] {
		got[0], got[1] = got[1], got[0]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Clients were not chosen, but no number of them is common to both servers.
	if strings.Join(a.Apart, " ") != "server clients" || len(a.OneSided) != 2 {
		t.Errorf("%v %+v", a.Apart, a.OneSided)
	}
	if a.OneSided[0].Version != "8.9.0" || a.OneSided[0].Side != "B" || a.OneSided[1].Step != "readrandom" || a.OneSided[1].Side != "A" {
		t.Errorf("%+v", a.OneSided)
	}
}

func TestASetOfARangePoolsItsVersionsAndSaysSo(t *testing.T) {
	t.Parallel()
	s := renumber([]bench.Series{series(t, coordinate("fillseq", "gcc"), "8.5.0 1000,1001", "8.6.0 800,801", "8.7.0 1000,1001", "8.8.0 900,901", "8.9.0 900,901")})
	c := CompareSets(SetsQuery{A: SetQuery{To: "8.7"}, B: SetQuery{From: "8.8.0"}}, s, s, nil)
	if len(c.Rows) != 1 || c.Rows[0].A.N != 4 || c.Rows[0].B.N != 4 {
		t.Fatalf("%+v", c.Rows)
	}
	c = CompareSets(SetsQuery{A: SetQuery{To: "8.7.9"}, B: SetQuery{From: "8.8.0"}}, s, s, nil)
	r := c.Rows[0]
	// Median of 1000, 1001, 800, 801, 1000, 1001; the scatter between the versions, over a
	// tenth, is doubt: a tenth less cannot be told.
	if r.A.N != 6 || r.A.Value != 1000 || r.B.Value != 900.5 || r.Verdict != Undecided || len(r.SamplesA) != 6 {
		t.Errorf("%+v %+v", r.A, r.Verdict)
	}
	if len(c.Pooled) != 2 || c.Pooled[0] != "Rows of A pool several values of version: 8.5.0, 8.6.0, 8.7.0." {
		t.Errorf("%q", c.Pooled)
	}
	// Runs of their own number are a set too.
	c = CompareSets(SetsQuery{A: SetQuery{Runs: []int64{1}}, B: SetQuery{Runs: []int64{2}}}, s, s, nil)
	if got := setText(c); len(got) != 1 || !strings.HasPrefix(got[0], "arm fillseq : 1000 n1 → 1001 n1 1.0") {
		t.Errorf("%q", got)
	}
}

func TestLessTimeIsBetterAndDirectionsHaveMeansOfTheirOwn(t *testing.T) {
	t.Parallel()
	p99, _ := bench.LookupMetric("p99")
	elapsed, _ := bench.LookupMetric("elapsed_s")
	slow := series(t, coordinate("readrandom", "gcc"), append(steady(1000, "8.5.0", "8.6.0", "8.7.0"), "8.8.0 2000,2010,1990")...)
	slow.Metric = p99
	took := series(t, coordinate("fillseq", "gcc"), append(steady(1000, "8.5.0", "8.6.0", "8.7.0"), "8.8.0 2000,2010,1990")...)
	took.Metric = elapsed
	fast := series(t, coordinate("fillseq", "gcc"), append(steady(1000, "8.5.0", "8.6.0", "8.7.0"), "8.8.0 2000,2010,1990")...)
	all := renumber([]bench.Series{slow, took, fast})
	c := CompareSets(SetsQuery{A: SetQuery{Versions: []string{"8.7.0"}}, B: SetQuery{Versions: []string{"8.8.0"}}}, all, all, nil)
	verdicts := map[string]Verdict{}
	for _, r := range c.Rows {
		verdicts[r.Metric.Name] = r.Verdict
	}
	if diff := cmp.Diff(map[string]Verdict{"p99": Worse, "elapsed_s": Moved, "qps": Better}, verdicts); diff != "" {
		t.Error(diff)
	}
	if len(c.Means) != 3 || c.Means[0].Better != 1 || c.Means[1].Worse != 1 || c.Means[2].Moved != 1 {
		t.Errorf("%+v", c.Means)
	}
}

func TestReadingTwoSetsBringsWhatDiffers(t *testing.T) {
	t.Parallel()
	s := newStudy(t)
	q := SetsQuery{A: SetQuery{Suite: "state-perf", Configs: []string{"bs4k"}}, B: SetQuery{Suite: "state-perf", Configs: []string{"bs32k"}}}
	c, err := ReadSets(t.Context(), s, q, nil)
	if err != nil || len(c.Rows) != 1 || c.Rows[0].Metric.Name != "observed_latency_ns" {
		t.Fatalf("%v %+v", err, c)
	}
	near(t, "32 KiB to 4 KiB", c.Rows[0].B.Relative, 689518.0/516923, 1e-12)
	var got []string
	for _, d := range c.Differs {
		got = append(got, fmt.Sprintf("%s %s %v", d.Kind, d.Name, d.Values))
	}
	if diff := cmp.Diff([]string{"run config [[bs4k] [bs32k]]", "host disk [[Disk 1] [Disk 4]]", "option block_size [[4096] [32768]]"}, got); diff != "" {
		t.Error(diff)
	}
	// Runs that have no counterpart are not asked what differs: fio of bs4k.
	for i := range s.runs {
		if s.runs[i].ID == 2 {
			s.runs[i].Environment = map[string]string{"kernel": "5.15"}
		}
	}
	q.A.Suite = ""
	if c, err = ReadSets(t.Context(), s, q, nil); err != nil || len(c.Rows) != 1 || len(c.OneSided) != 1 || c.OneSided[0].Suite != "fio" || len(c.Differs) != 3 || len(c.RunsA) != 2 {
		t.Errorf("%v %+v", err, c)
	}
	q.A.Suite = "state-perf"
	// A set without runs has rows on one side only, and nothing to differ in.
	q.B.Configs = []string{"bs64k"}
	if c, err = ReadSets(t.Context(), s, q, nil); err != nil || len(c.Rows) != 0 || len(c.OneSided) != 1 || c.Differs != nil || len(c.Means) != 0 {
		t.Errorf("%v %+v", err, c)
	}
}
