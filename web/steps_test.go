package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// stepsSource has l.i1 of MyRocks with configs a0, a3 and a4, in two versions, a
// run each: run 101, 201 and 301 of version 8.0.28, and 1 more of each at 5.6.35.
func stepsSource(t testing.TB) *fakeSource {
	source := &fakeSource{}
	ibench := func(config string) func(*bench.Coordinate) {
		return func(c *bench.Coordinate) {
			c.System, c.Suite, c.Server, c.Workload, c.Compiler, c.Config, c.Clients = bench.SystemMyRocks, bench.SuiteIBench, "bee", "io", "", config, 1
		}
	}
	for i, config := range []string{"a0", "a3", "a4"} {
		run := int64(100*(i+1) + 1)
		for _, x := range []struct {
			metric string
			values [3]float64
		}{
			{"ips", [3]float64{23240, 19106, 22022}}, {"qps", [3]float64{0, 0, 0}}, {"p99_second_rate", [3]float64{20178, 3447, 6992}}, {"max_op_s", [3]float64{0.107, 0.151, 0.171}},
			{"cpu_us_per_op", [3]float64{177, 197, 185}}, {"context_switches_per_op", [3]float64{0.458, 0.492, 0.467}}, {"rss_gb", [3]float64{8.6, 8.6, 8.7}}, {"total_size_gb", [3]float64{57, 57, 57}},
		} {
			if x.metric == "total_size_gb" && config == "a4" {
				continue // not reported
			}
			s := series(t, x.metric, at("l.i1", ibench(config)), fmt.Sprintf("5.6.35 %g", x.values[i]*1.1), fmt.Sprintf("8.0.28 %g", x.values[i]))
			s.Points[0].Samples[0].RunID, s.Points[1].Samples[0].RunID = run-1, run
			source.series = append(source.series, s)
			source.runs.Runs = slices.DeleteFunc(source.runs.Runs, func(r bench.RunSummary) bool { return r.ID == run || r.ID == run-1 })
			for k, version := range []string{"5.6.35", "8.0.28"} {
				source.runs.Runs = append(source.runs.Runs, bench.RunSummary{
					ID: run - 1 + int64(k), System: s.System, Suite: s.Suite, Server: s.Server, Workload: s.Workload, Config: config, Clients: 1, Build: bench.Build{Version: version}, State: bench.RecordActive,
				})
			}
		}
		other := series(t, "qps", at("q100", ibench(config)), "8.0.28 1900")
		other.Points[0].Samples[0].RunID = run
		source.series = append(source.series, other)
		slowest := []float64{107_000, 151_000, 171_000}[i]
		source.spreads = append(source.spreads, bench.Distribution{RunID: run, Step: "l.i1", Histogram: bench.Histogram{Operation: "insert", Unit: "µs", Max: &slowest,
			Bounds:   []float64{256, 1000, 4000, 16000, 64000, 256000, 1e6},
			Percents: [][]float64{{0, 0, 99.65, 0.343, 0.004, 0.003, 0}, {0, 0, 94.089, 5.826, 0.083, 0.003, 0}, {0, 0, 97.049, 2.942, 0.007, 0.002, bench.PercentNonzero}}[i]}})
		source.configs = append(source.configs, bench.StoredConfig{ID: int64(i + 1), Config: bench.Config{System: bench.SystemMyRocks, Name: config, Layer: bench.LayerParsed,
			Options: []bench.Option{{Key: "rocksdb_block_cache_size", Written: "8G", Value: "8589934592"}}}})
		values := make([]float64, 20)
		longest := make([]float64, 20)
		for k := range values {
			values[k], longest[k] = float64(1000*(i+1)+k), float64(5000*(i+1)+k)
		}
		values[7], values[12] = 40, math.NaN()
		source.seconds = append(source.seconds,
			bench.RunSeries{RunID: run, ResultID: run, TimeSeries: bench.TimeSeries{Name: "max_insert_us", Unit: "µs", StartS: 1, StepS: 1, Values: longest}},
			bench.RunSeries{RunID: run, ResultID: run, TimeSeries: bench.TimeSeries{Name: "ips", Unit: "1/s", StartS: 1, StepS: 1, Values: values}})
	}
	return source
}

// cells reads a table, a line a row.
func cells(s *goquery.Selection) []string {
	var out []string
	s.Find("tr").Each(func(_ int, tr *goquery.Selection) {
		var row []string
		tr.Children().Each(func(_ int, c *goquery.Selection) { row = append(row, squeeze(c.Text())) })
		out = append(out, strings.Join(row, "|"))
	})
	return out
}

func TestAStepIsComparedBetweenConfigs(t *testing.T) {
	t.Parallel()
	d := page(t, newHandler(t, stepsSource(t)), "/steps?server=bee&step=l.i1")
	if got := text(d, "h1"); got != "l.i1, MyRocks 8.0.28, bee, io" {
		t.Errorf("%q", got)
	}
	if got := text(d, ".lead"); got != "a0 does 23,240/s, 20,178/s in its 99th-percentile second. a3 ▼ 0.82, a4 ▼ 0.95 of it. Marked by a practical rule, not a test: there are too few runs for one. In the worst seconds a3 does 3,447/s, a4 does 6,992/s." {
		t.Errorf("%q", got)
	}
	tables := d.Find("main table.st")
	want := [][]string{
		{"run|IPS ↑|p99 second ↑|longest operation s ↓", "a0 base|23,240|20,178|0.107", "a3|19,106 ▼ 0.82|3,447 ▼ 0.17|0.151 1.41", "a4|22,022 ▼ 0.95|6,992 ▼ 0.35|0.171 1.60"},
		// 19 of 20 seconds: the sum is 1000 to 1019 less the 8th and the 13th, and 40. The tenth from above is 1009.
		{"run|average ↑|p50 second|p99 second|least|at second|seconds below 479|n|missing", "a0 base|958.5|1,009|40|40|8|1|19|1", "a3|1,906|2,009|40|40|8|1|19|1", "a4|2,853|3,009|40|40|8|1|19|1"},
		{"run|average ↓|p50 second|p99 second|most|at second|seconds above 10,019|n|missing", "a0 base|5,010|5,009|5,019|5,019|20|0|20|0", "a3|10,010|10,009|10,019|10,019|20|0|20|0", "a4|15,010|15,009|15,019|15,019|20|20|20|0"},
		{"range|a0|a3|a4", "1–4 ms|99.650|94.089 ×0.94|97.049 ×0.97", "4–16 ms|0.343|5.826 ▼ ×17|2.942 ▼ ×8.58", "16–64 ms|0.004|0.083 ×21|0.007 ×1.75", "64–256 ms|0.003|0.003 ×1.00|0.002 ×0.67", "256 ms–1 s|0|0|nonzero",
			"slowest|107 ms|151 ms ×1.41|171 ms ×1.60"},
		{"run|CPU per operation µs ↓|context switches per operation ↓|RSS GB ↓|block cache GB|RSS above it GB ↓|total size GB ↓", "a0 base|177|0.458|8.6|8|+0.6|57", "a3|197 1.11|0.492 1.07|8.6 1.00|8|+0.6|57 1.00", "a4|185 1.05|0.467 1.02|8.7 1.01|8|+0.7|—"},
	}
	for i, w := range want {
		if diff := cmp.Diff(w, cells(tables.Eq(i))); diff != "" {
			t.Errorf("table %d: %s", i, diff)
		}
	}
	if n := tables.Length(); n != len(want) {
		t.Errorf("%d tables", n)
	}
	// The chart's own figures: 20 seconds as they were measured, the gap a gap.
	var f struct {
		Name  string
		Log   bool
		Lines []struct {
			Label string
			Run   int64
			bench.SecondsLine
		}
		Option struct{ Series []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(d.Find("script#s0").Text()), &f); err != nil {
		t.Fatal(err)
	}
	if f.Name != "ips" || f.Log || len(f.Lines) != 3 || len(f.Option.Series) != 6 || f.Lines[1].Label != "a3" || f.Lines[1].SecondsLine.Run != 201 || *f.Lines[1].Mean[7]*int64(1/f.Lines[1].Scale) == 0 || f.Lines[1].Mean[12] != nil {
		t.Errorf("%+v", f)
	}
	var v struct {
		Step string
		Runs []int64
		End  int64
	}
	if err := json.Unmarshal([]byte(d.Find("script#steps").Text()), &v); err != nil || v.Step != "l.i1" || v.End != 20 || !slices.Equal(v.Runs, []int64{101, 201, 301}) {
		t.Errorf("%+v %v", v, err)
	}
}

func TestAnotherArmCanBeTheBase(t *testing.T) {
	t.Parallel()
	h := newHandler(t, stepsSource(t))
	for _, base := range []string{"a3", "201", "run 201"} {
		target := "/steps?server=bee&step=l.i1&base=" + url.QueryEscape(base)
		if base != "a3" {
			target += "&run=101&run=201"
		}
		d := page(t, h, target)
		if got := text(d, "main table.st tr.isbase th"); got != "a3 base" {
			t.Errorf("%s: %q", target, got)
		}
	}
	d := page(t, h, "/steps?server=bee&step=l.i1&base=nothing")
	if got := text(d, "main table.st tr.isbase th"); got != "a0 base" || !strings.Contains(text(d, "#runs .remark"), `No run shown is called "nothing"`) {
		t.Errorf("%q %q", got, text(d, "#runs .remark"))
	}
	d = page(t, h, "/steps?server=bee&step=l.i1&version=8.0.28&version=5.6.35&config=a0&base=8.0.28")
	if diff := cmp.Diff([]string{"run|IPS ↑|p99 second ↑|longest operation s ↓", "5.6.35|25,564 1.10|22,196 1.10|0.1177 1.10", "8.0.28 base|23,240|20,178|0.107"}, cells(d.Find("main table.st").First())); diff != "" {
		t.Error(diff)
	}
}

func TestAPartOfTheSecondsIsAnAddress(t *testing.T) {
	t.Parallel()
	h := newHandler(t, stepsSource(t))
	d := page(t, h, "/steps?server=bee&step=l.i1&from=5&to=10")
	if got := text(d, "[data-window]"); got != "seconds 5 to 10 of 20 show all" {
		t.Errorf("%q", got)
	}
	if got := d.Find("[data-window] a").AttrOr("href", ""); got != "/steps?server=bee&step=l.i1" {
		t.Errorf("%q", got)
	}
	var f struct{ Lines []bench.SecondsLine }
	if err := json.Unmarshal([]byte(d.Find("script#s0").Text()), &f); err != nil || f.Lines[0].First != 4 || len(f.Lines[0].Mean) != 6 {
		t.Errorf("%+v %v", f, err)
	}
	for _, target := range []string{"from=x", "from=-1", "to=NaN", "from=9&to=3", "run=0", "run=a", "clients=-1", "from=1e9", "step=a&step=b", "to=99999999999999999999", strings.Repeat("run=1&", 401)} {
		if w := get(t, h, "/steps?"+target); w.Code != http.StatusBadRequest {
			t.Errorf("%.40s: status %d", target, w.Code)
		}
	}
	if w := get(t, h, "/steps?run=999&step=l.i1"); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}

func TestStepsWithoutWhatTheyShowSaySo(t *testing.T) {
	t.Parallel()
	source := stepsSource(t)
	source.seconds, source.spreads, source.configs = nil, nil, nil
	h := newHandler(t, source)
	d := page(t, h, "/steps?step=q100&config=a0")
	if got := text(d, "h1"); got != "q100, MyRocks 8.0.28, bee, io" {
		t.Errorf("%q", got)
	}
	if got := text(d, "#seconds .mut"); !strings.HasPrefix(got, "No figures by second are stored") {
		t.Errorf("%q", got)
	}
	if got := text(d, "#responses .mut"); !strings.HasPrefix(got, "No distributions") {
		t.Errorf("%q", got)
	}
	if d.Find("#costs, [data-seconds], script#steps").Length() != 0 {
		t.Error("something is shown that is not there")
	}
	for target, want := range map[string]string{
		"/steps?step=none":                   "Nothing was measured for step none.",
		"/steps?step=l.i1&version=9.9.9":     "Nothing was measured for step l.i1, version 9.9.9.",
		"/steps?step=l.i1&config=a0&run=201": "Nothing was measured for step l.i1, config a0, run 201.",
	} {
		if got := text(page(t, h, target), ".empty .lead"); got != want {
			t.Errorf("%s: %q", target, got)
		}
	}
	if got := text(page(t, newHandler(t, &fakeSource{}), "/steps"), ".empty .lead"); got == "" {
		t.Error("an empty store says nothing")
	}
}

// What carries a warning is shown and not judged.
func TestARunWithAWarningIsMarkedNotJudged(t *testing.T) {
	t.Parallel()
	source := stepsSource(t)
	for i := range source.series {
		if s := &source.series[i]; s.Config == "a3" && s.Step == "l.i1" {
			s.Points[1].Samples = slices.Clone(s.Points[1].Samples)
			s.Points[1].Samples[0].Excluded = true
		}
	}
	d := page(t, newHandler(t, source), "/steps?server=bee&step=l.i1")
	if got := cells(d.Find("main table.st").First())[2]; got != "a3|19,106 × 0.82|3,447 × 0.17|0.151 × 1.41" {
		t.Errorf("%q", got)
	}
	if got := text(d, "#runs .remark"); !strings.HasPrefix(got, "×: not comparable") {
		t.Errorf("%q", got)
	}
	if got := text(d, ".lead"); strings.Contains(got, "a3 ▼") {
		t.Errorf("%q", got)
	}
}

// Every address of the toolbar leads to a page with something on it.
func TestMenusOfStepsLeadToSteps(t *testing.T) {
	t.Parallel()
	h := newHandler(t, stepsSource(t))
	for _, target := range []string{"/steps", "/steps?step=l.i1&base=a3", "/steps?run=101&run=301&step=l.i1", "/steps?version=5.6.35&version=8.0.28&step=l.i1"} {
		d := page(t, h, target)
		links := d.Find(".bar a[href]")
		if links.Length() < 3 {
			t.Errorf("%s: %d links", target, links.Length())
		}
		links.Each(func(_ int, s *goquery.Selection) {
			href := s.AttrOr("href", "")
			if w := get(t, h, href); w.Code != http.StatusOK || parse(t, w.Body.String()).Find(".empty").Length() > 0 {
				t.Errorf("%s: %s leads nowhere: %d", target, href, w.Code)
			}
		})
	}
}

// The first view of an hour of eight lines, as it is served: the whole page with
// its charts of two figures.
func TestAPageOfEightHoursCostsLittleOnTheWire(t *testing.T) {
	t.Parallel()
	source := &fakeSource{}
	r := rand.New(rand.NewPCG(1, 9))
	for i := range 8 {
		c := at("l.i1", func(c *bench.Coordinate) { c.Suite, c.Config = bench.SuiteIBench, fmt.Sprintf("a%d", i) })
		s := series(t, "ips", c, "8.0.28 20000")
		run := int64(i + 1)
		s.Points[0].Samples[0].RunID = run
		source.series = append(source.series, s)
		values, longest := make([]float64, 3600), make([]float64, 3600)
		for k := range values {
			values[k], longest[k] = math.Round(20_000*(1+0.1*r.NormFloat64())), math.Round(math.Exp(9+0.5*r.NormFloat64()))
		}
		source.seconds = append(source.seconds,
			bench.RunSeries{RunID: run, ResultID: run, TimeSeries: bench.TimeSeries{Name: "ips", Unit: "1/s", StartS: 1, StepS: 1, Values: values}},
			bench.RunSeries{RunID: run, ResultID: run, TimeSeries: bench.TimeSeries{Name: "max_insert_us", Unit: "µs", StartS: 1, StepS: 1, Values: longest}})
	}
	h := newHandler(t, source)
	req := httptest.NewRequest(http.MethodGet, "/steps?step=l.i1", nil)
	req.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	n := w.Body.Len()
	if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("status %d, encoded as %q", w.Code, w.Header().Get("Content-Encoding"))
	}
	z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	d, err := goquery.NewDocumentFromReader(z)
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Lines []bench.SecondsLine }
	if err := json.Unmarshal([]byte(d.Find("script#s0").Text()), &f); err != nil || len(f.Lines) != 8 || len(f.Lines[7].Mean) != 240 {
		t.Fatalf("%d lines, %v", len(f.Lines), err)
	}
	t.Logf("%d bytes", n)
	if n > 100_000 {
		t.Errorf("%d bytes", n)
	}
}

func TestAFrozenStepKeepsItsSeconds(t *testing.T) {
	t.Parallel()
	source := stepsSource(t)
	store := newFakeStore(source)
	h := newHandler(t, source, withStore(store))
	for _, target := range []string{"/steps?server=bee&step=l.i1&from=3&to=15&base=a4", "/steps?run=101&run=201&step=l.i1"} {
		source.seconds, source.spreads = stepsSource(t).seconds, stepsSource(t).spreads
		before := get(t, h, target).Body.String()
		if w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {target}, "frozen": {"1"}}); w.Code != http.StatusCreated {
			t.Fatalf("%s: status %d", target, w.Code)
		}
		source.seconds, source.spreads = nil, nil
		frozen := get(t, h, "/s/8Kq2")
		if frozen.Code != http.StatusOK || !strings.Contains(frozen.Body.String(), `,"frozen":true}`) {
			t.Fatalf("%s: status %d; the script is not told", target, frozen.Code)
		}
		if diff := cmp.Diff(mainPart(t, before), mainPart(t, frozen.Body.String())); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
	}
}

func TestSharesAndTimesAreWorded(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", bench.PercentNonzero: "nonzero", 0.0004: "<\u20090.001", 0.343: "0.343", 99.65: "99.650"} {
		if got := responsePart(v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
	for percent, want := range map[float64]string{0: "", 100: "100.00%", 1: "60.00%", 0.001: "0.50%", 1e-9: "0.50%"} {
		if got := shareWidth(percent); got != want {
			t.Errorf("%g: %q, want %q", percent, got, want)
		}
	}
	for v, want := range map[float64]string{1: "1 µs", 256: "256 µs", 1000: "1 ms", 4400: "4.4 ms", 64e6: "64 s"} {
		if got := durationText("µs", v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}
