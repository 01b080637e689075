package chart_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
)

var update = flag.Bool("update", false, "write golden files anew")

func metric(t *testing.T, name string) bench.Metric {
	t.Helper()
	m, ok := bench.LookupMetric(name)
	if !ok {
		t.Fatalf("no metric %s", name)
	}
	return m
}

func coordinate(step, compiler string) bench.Coordinate {
	return bench.Coordinate{System: "rocksdb", Suite: "db_bench", Server: "s1", Workload: "cached", Step: step, Compiler: compiler, Clients: 8}
}

// series makes a series of "version value value …" points.
func series(t *testing.T, c bench.Coordinate, points ...string) bench.Series {
	t.Helper()
	s := bench.Series{Coordinate: c, Metric: metric(t, "qps")}
	for i, text := range points {
		fields := strings.Fields(text)
		p := bench.Point{Version: fields[0]}
		for j, f := range fields[1:] {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			p.Samples = append(p.Samples, bench.Sample{Value: v, RunID: int64(100*i + j + 1), Started: bench.NewLocalTime(2023, 9, i+1, 10, j, 0)})
		}
		s.Points = append(s.Points, p)
	}
	return s
}

func figures(t *testing.T, c compare.Comparison, o chart.Options) []chart.Figure {
	t.Helper()
	f, err := chart.Figures(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// golden compares the JSON form of a value with a file; what was got is left
// beside it when they differ.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
		if err := os.WriteFile(file+".got", got, 0o644); err != nil {
			t.Error(err)
		}
	}
}

func TestOptionOfASmallChart(t *testing.T) {
	t.Parallel()
	c := compare.Compare([]bench.Series{
		series(t, coordinate("fillseq", "gcc"), "8.0.0 1000 1004 998 1001 1003", "9.0.0 990", "10.0.0 905"),
	}, compare.Options{AutoBase: true})
	golden(t, "small.golden.json", figures(t, c, chart.Options{})[0])
	golden(t, "view.golden.json", chart.NewView(c, chart.Options{AutoBase: "8.0.0"}))
}

func TestOptionOfALargeChartWithSeveralLines(t *testing.T) {
	t.Parallel()
	c := compare.Compare([]bench.Series{
		series(t, coordinate("overwrite", "gcc"), "8.0.0 1000 1004 998 1001 1003", "8.1.0 990"),
		series(t, coordinate("overwriteandwait", "gcc"), "9.1.0 900"),
		series(t, coordinate("overwriteandwait", "clang+lto"), "8.1.0 1200", "9.1.0 1210"),
	}, compare.Options{Base: compare.Base{Version: "8.1.0"}, JoinFamilies: true})
	golden(t, "large.golden.json", figures(t, c, chart.Options{Large: true})[0])
}

func TestOptionOfAFigureOverTime(t *testing.T) {
	t.Parallel()
	f, err := chart.NewTimeFigure(bench.TimeSeries{Name: "qps", Unit: "1/s", StartS: 1, StepS: 1, Values: []float64{10, math.NaN(), 30.5}}, 100)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "time.golden.json", f)
}

func TestSeriesHoldOneEntryPerVersionAndNullWhereNothingWasMeasured(t *testing.T) {
	t.Parallel()
	c := compare.Compare([]bench.Series{
		series(t, coordinate("fillseq", "gcc"), "8.0.0 1000", "9.0.0 1010"),
		series(t, coordinate("fillseq", "clang"), "8.1.0 0", "9.0.0 5"),
	}, compare.Options{})
	got := decode(t, figures(t, c, chart.Options{})[0])
	f := func(v float64) *float64 { return &v }
	// In the order of the lines: clang, gcc. A zero is a figure, not a gap.
	if diff := cmp.Diff([]*float64{nil, f(0), f(5)}, got.Option.Series[0].Data); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]*float64{f(1000), nil, f(1010)}, got.Option.Series[1].Data); diff != "" {
		t.Error(diff)
	}
}

func TestJoinedFamilyIsTitledAndMarked(t *testing.T) {
	t.Parallel()
	c := compare.Compare([]bench.Series{
		series(t, coordinate("overwrite", "gcc"), "6.17.3 10", "6.18.1 11"),
		series(t, coordinate("overwriteandwait", "gcc"), "6.19.4 12"),
	}, compare.Options{JoinFamilies: true})
	f := figures(t, c, chart.Options{})[0]
	if f.Title != "overwrite → overwriteandwait" || f.Step != "overwriteandwait" {
		t.Errorf("title %q, step %q", f.Title, f.Step)
	}
	if diff := cmp.Diff([][2]any{{2, "overwriteandwait"}}, f.Lines[0].Joins); diff != "" {
		t.Error(diff)
	}
}

func TestRatiosAreSentAlongWhereTheirBaseIsNot(t *testing.T) {
	t.Parallel()
	all := []bench.Series{
		series(t, coordinate("fillseq", "gcc"), "8.0.0 100", "9.0.0 50", "9.1.0 200"),
		series(t, coordinate("fillseq", "clang"), "9.0.0 80", "9.1.0 90"),
	}
	given := func(q compare.Query) *chart.Given {
		t.Helper()
		return figures(t, q.Answer(all), chart.Options{})[0].Lines[0].Given
	}
	onlyGCC := bench.SeriesFilter{Compilers: []string{"gcc"}}
	if g := given(compare.Query{Options: compare.Options{Base: compare.Base{Version: "9.0.0"}}}); g != nil {
		t.Errorf("the base is shown, yet %+v is sent", g)
	}
	g := given(compare.Query{Filter: onlyGCC, Options: compare.Options{Base: compare.Base{Version: "8.0.0"}, From: "9.0.0"}})
	if g == nil || *g.Relative[0] != 0.5 || *g.Relative[1] != 2 {
		t.Errorf("base outside of the range: %+v", g)
	}
	g = given(compare.Query{Filter: onlyGCC, Options: compare.Options{Base: compare.Base{Compiler: "clang"}}})
	if g == nil || g.Relative[0] != nil || *g.Relative[1] != 50.0/80 || *g.Relative[2] != 200.0/90 {
		t.Errorf("base of a compiler that is not shown: %+v", g)
	}
}

func TestNamesAreTheFieldsInWhichLinesDiffer(t *testing.T) {
	t.Parallel()
	line := func(server, workload, config, compiler string, clients int) compare.Line {
		return compare.Line{Coordinate: bench.Coordinate{Server: server, Workload: workload, Config: config, Compiler: compiler, Clients: clients, Step: "fillseq"}}
	}
	names := func(lines ...compare.Line) []string {
		var out []string
		for _, n := range chart.Names(lines) {
			out = append(out, n.Name)
		}
		return out
	}
	for _, test := range []struct {
		behaviour string
		lines     []compare.Line
		want      []string
	}{
		{"a single line has no name", []compare.Line{line("c2", "cached", "", "gcc", 8), line("c2", "cached", "", "gcc", 8)}, []string{""}},
		{"compilers", []compare.Line{line("arm", "cached", "", "gcc", 1), line("arm", "cached", "", "clang+lto", 1), line("arm", "cached", "", "clang", 1)}, []string{"clang", "clang+LTO", "gcc"}},
		{"servers with clients of their own", []compare.Line{line("c2", "cached", "", "gcc", 8), line("u5", "cached", "", "gcc", 12)}, []string{"c2", "u5"}},
		{"clients alone", []compare.Line{line("c2", "cached", "", "gcc", 1), line("c2", "cached", "", "gcc", 8)}, []string{"1 client", "8 clients"}},
		{"servers and compilers", []compare.Line{line("c2", "cached", "", "gcc", 8), line("8core", "cached", "", "clang", 8)}, []string{"8core clang", "c2 gcc"}},
		{"no config beside one", []compare.Line{line("c2", "cached", "", "gcc", 8), line("c2", "cached", "a1", "gcc", 8)}, []string{"no config", "a1"}},
	} {
		if diff := cmp.Diff(test.want, names(test.lines...)); diff != "" {
			t.Errorf("%s: %s", test.behaviour, diff)
		}
	}
}

func TestNoTwoLinesLookAlike(t *testing.T) {
	t.Parallel()
	var lines []compare.Line
	for i := range chart.LinesMax {
		lines = append(lines, compare.Line{Coordinate: bench.Coordinate{Server: fmt.Sprintf("s%02d", i)}})
	}
	seen := map[string]bool{}
	for _, n := range chart.Names(lines) {
		look := fmt.Sprint(n.Style)
		if seen[look] {
			t.Errorf("%s looks like another: %s", n.Name, look)
		}
		seen[look] = true
		if strings.Contains(look, "better") || strings.Contains(look, "worse") {
			t.Errorf("%s has a colour that means a verdict: %s", n.Name, look)
		}
	}
}

func TestTooManyLinesAreRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	var all []bench.Series
	for i := range chart.LinesMax + 1 {
		c := coordinate("fillseq", "gcc")
		c.Config = fmt.Sprintf("a%d", i)
		all = append(all, series(t, c, "8.0.0 1"))
	}
	_, err := chart.Figures(compare.Compare(all, compare.Options{}), chart.Options{})
	if bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "choose fewer") {
		t.Errorf("error %v", err)
	}
}

// A name reaches the page as text whatever it holds: the option is JSON.
func TestHostileNamesStayText(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`</script><img src=x onerror=alert(1)>`, `__f__alert(1)__f__`, `=1+1`, "\u202egnp.exe", `--ink`, strings.Repeat("n", 10_000)} {
		c := compare.Compare([]bench.Series{
			series(t, coordinate(name, name), "8.0.0 1", "8.1.0 2"), series(t, coordinate(name, "gcc"), "8.0.0 1", "8.1.0 2"),
		}, compare.Options{AutoBase: true})
		f := figures(t, c, chart.Options{Large: true})[0]
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(raw), "<>&") {
			t.Errorf("%.40q: markup in %.200s", name, raw)
		}
		var back struct {
			Title string
			Lines []struct{ Name string }
		}
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, l := range back.Lines {
			found = found || l.Name == name
		}
		if back.Title != name || !found {
			t.Errorf("%.40q was changed: %.80q, %.80v", name, back.Title, back.Lines)
		}
	}
}

func TestThinningKeepsExtremesAndGaps(t *testing.T) {
	t.Parallel()
	t.Run("short series stay whole", func(t *testing.T) {
		t.Parallel()
		got := chart.Thin(bench.TimeSeries{StartS: 2, StepS: 0.5, Values: []float64{1, math.NaN(), 3}}, 10)
		if len(got) != 3 || *got[0][0] != 2 || *got[2][0] != 3 || got[1][1] != nil || *got[2][1] != 3 {
			t.Errorf("%v", got)
		}
	})
	t.Run("stalls and peaks survive", func(t *testing.T) {
		t.Parallel()
		values := make([]float64, 50_000)
		for i := range values {
			values[i] = 1000 + float64(i%7)
		}
		values[12_345], values[33_333] = 0, 9999
		for i := 40_000; i < 41_000; i++ {
			values[i] = math.NaN()
		}
		got := chart.Thin(bench.TimeSeries{StepS: 1, Values: values}, chart.TimePointsMax)
		if len(got) > chart.TimePointsMax {
			t.Errorf("%d points", len(got))
		}
		least, most, gap, last := math.Inf(1), math.Inf(-1), false, -1.0
		for _, p := range got {
			if *p[0] <= last {
				t.Fatalf("second %v after %v", *p[0], last)
			}
			last = *p[0]
			if p[1] == nil {
				gap = true
				continue
			}
			least, most = math.Min(least, *p[1]), math.Max(most, *p[1])
		}
		if least != 0 || most != 9999 || !gap {
			t.Errorf("least %v, most %v, gap %v", least, most, gap)
		}
	})
}

func TestMajorsGroupNeighbours(t *testing.T) {
	t.Parallel()
	want := []chart.Major{{0, "8.x"}, {2, "10.x"}, {3, "main"}}
	if diff := cmp.Diff(want, chart.Majors([]string{"8.0.0", "8.10.1", "10.0.0", "main"})); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAllChartsHaveAlikeTravelsOnce(t *testing.T) {
	t.Parallel()
	var all []bench.Series
	for _, step := range []string{"fillseq", "readrandom", "fwdrange"} {
		s := bench.Series{Coordinate: bench.Coordinate{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Compiler: "gcc", Step: step}}
		s.Metric, _ = bench.LookupMetric("qps")
		for i, v := range []string{"7.1.0", "8.1.0", "8.2.0"} {
			s.Points = append(s.Points, bench.Point{Version: v, Samples: []bench.Sample{{Value: float64(100 + i), RunID: int64(i + 1)}}})
		}
		all = append(all, s)
	}
	c := compare.Compare(all, compare.Options{AutoBase: true})
	figures := func(n int) ([]chart.Figure, []string) {
		f, err := chart.Figures(c, chart.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var whole []string
		for _, x := range f[:n] {
			raw, err := json.Marshal(x.Option)
			if err != nil {
				t.Fatal(err)
			}
			whole = append(whole, string(raw))
		}
		return f[:n], whole
	}
	f, whole := figures(3)
	f[1].Option["grid"] = "another"
	view := chart.NewView(c, chart.Options{})
	if err := chart.Share(&view, f); err != nil {
		t.Fatal(err)
	}
	if view.Option["xAxis"] == nil || view.Option["yAxis"] == nil || view.Option["grid"] != nil || view.Rules == nil {
		t.Errorf("shared: %v, rules %v", slices.Sorted(maps.Keys(view.Option)), view.Rules)
	}
	// As the script puts them together again.
	for i := range f {
		if i == 1 {
			continue
		}
		var own, common, want map[string]any
		decodeInto(t, f[i].Option, &own)
		decodeInto(t, view.Option, &common)
		decodeInto(t, json.RawMessage(whole[i]), &want)
		maps.Copy(common, own)
		var rules any
		decodeInto(t, view.Rules, &rules)
		common["series"].([]any)[0].(map[string]any)["markLine"] = rules
		if d := cmp.Diff(want, common); d != "" {
			t.Errorf("chart %d: %s", i, d)
		}
	}
	one, whole := figures(1)
	alone := chart.NewView(c, chart.Options{})
	if err := chart.Share(&alone, one); err != nil || alone.Option != nil || alone.Rules != nil {
		t.Errorf("a single chart: %v %v", err, alone.Option)
	}
	if raw, _ := json.Marshal(one[0].Option); string(raw) != whole[0] {
		t.Error("a single chart is no longer whole")
	}
}

func decodeInto(t *testing.T, from, to any) {
	t.Helper()
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNotesStandAtTheirVersions(t *testing.T) {
	t.Parallel()
	versions := []string{"8.4.4", "8.5.4", "8.6.6", "8.6.7", "8.7.3"}
	for _, x := range []struct {
		from, last string
		at, to     int
		ok         bool
	}{
		{"8.6.7", "", 3, 3, true}, {"8.5.4", "8.6.7", 1, 3, true}, {"8.6", "", 2, 3, true}, {"8.5", "8.6", 1, 3, true}, {"8.0", "8.5", 0, 1, true},
		{"8.6.5", "", 0, 0, false}, {"9.0", "", 0, 0, false}, {"8.1", "", 0, 0, false},
	} {
		at, to, ok := chart.PlaceNote(bench.Note{Version: x.from, ToVersion: x.last}, versions)
		if ok != x.ok || ok && (at != x.at || to != x.to) {
			t.Errorf("%s to %q: %d to %d, %v", x.from, x.last, at, to, ok)
		}
	}
}
