package api_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// seriesAnswer is the answer of GET /api/v1/series as the contract writes it.
type seriesAnswer struct {
	Metric      struct{ Name, Unit, Direction string }
	Base        *struct{ Version, Compiler, Config string }
	Series      []line
	WithoutBase []struct {
		bench.Coordinate
		Reason string
	} `json:"without_base"`
}

type line struct {
	bench.Coordinate
	BaseValue *float64 `json:"base_value"`
	Points    []struct {
		Version      string
		N            int
		Value        float64
		Min          float64
		Max          float64
		Relative     *float64
		RelativeLow  *float64 `json:"relative_low"`
		RelativeHigh *float64 `json:"relative_high"`
		Runs         []int64
		Step         string
		Mixed        bool
	}
}

func (s *service) series(query string) seriesAnswer {
	s.t.Helper()
	var a seriesAnswer
	s.get("/api/v1/series?" + query).want(http.StatusOK).decode(&a)
	return a
}

// only gives the one series of an answer.
func (a seriesAnswer) only(t testing.TB) line {
	t.Helper()
	if len(a.Series) != 1 {
		t.Fatalf("%d series, want 1: %+v", len(a.Series), a.Series)
	}
	return a.Series[0]
}

// relatives shows the relative values of a line by version, "-" where there is none.
func (l line) relatives() string {
	var words []string
	for _, p := range l.Points {
		w := p.Version + " -"
		if p.Relative != nil {
			w = fmt.Sprintf("%s %.3f", p.Version, *p.Relative)
		}
		words = append(words, w)
	}
	return strings.Join(words, ", ")
}

// c2 is a server with two steps of three versions, one of which lacks a step.
func c2(t testing.TB) (*service, receipt) {
	s := newService(t)
	// Without clients stated those of 4.4.1 would not be known: its one step has one thread.
	return s, s.stored(with(on("c2", "cached", "gcc"), "clients", "8"), report(
		row{qps: "2069271", test: "fillseq.wal_disabled.v400", date: "2023-10-01T10:00:00", version: "4.4.1", stall: "0.0"},
		row{qps: "1671040", test: "fillseq.wal_disabled.v400", date: "2023-10-02T10:00:00", version: "8.8.0"},
		row{qps: "200000", test: "readrandom.t8", date: "2023-10-02T11:00:00", version: "8.8.0"},
		row{qps: "1900000", test: "fillseq.wal_disabled.v400", date: "2023-10-03T10:00:00", version: "8.10.0"},
		row{qps: "210000", test: "readrandom.t8", date: "2023-10-03T11:00:00", version: "8.10.0"},
	))
}

func TestSeriesHasTheShapeOfTheContract(t *testing.T) {
	t.Parallel()
	s, r := c2(t)
	a := s.get("/api/v1/series?server=c2&step=fillseq&metric=qps&base=4.4.1&to=8.8.0").want(http.StatusOK)
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	if len(r.Runs) != 3 {
		t.Fatalf("%d runs, want one a version", len(r.Runs))
	}
	detail := s.runsByVersion()
	var want any
	if err := json.Unmarshal(fmt.Appendf(nil, `{
		"metric":{"name":"qps","unit":"1/s","direction":"higher"},
		"base":{"version":"4.4.1"},
		"series":[{"system":"rocksdb","suite":"db_bench","server":"c2","workload":"cached","step":"fillseq","compiler":"gcc","config":"",
			"clients":8,"base_value":2069271,"points":[
			{"version":"4.4.1","n":1,"value":2069271,"min":2069271,"max":2069271,"relative":1,"runs":[%d]},
			{"version":"8.8.0","n":1,"value":1671040,"min":1671040,"max":1671040,"relative":%s,"runs":[%d]}]}],
		"without_base":[]}`, detail["4.4.1"], exact(1671040.0/2069271.0), detail["8.8.0"]), &want); err != nil {
		t.Fatal(err)
	}
	// Intervals and the noise they come from have a test of their own; here they
	// only have to be there.
	got := a.tree().(map[string]any)
	for _, l := range got["series"].([]any) {
		if _, ok := l.(map[string]any)["noise"]; !ok {
			t.Error("no noise")
		}
		delete(l.(map[string]any), "noise")
		for _, p := range l.(map[string]any)["points"].([]any) {
			for _, key := range []string{"relative_low", "relative_high"} {
				if _, ok := p.(map[string]any)[key]; !ok {
					t.Errorf("no %s in %v", key, p)
				}
				delete(p.(map[string]any), key)
			}
		}
	}
	if d := cmp.Diff(want, any(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func exact(v float64) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// runsByVersion gives the id of a run of each version.
func (s *service) runsByVersion() map[string]int64 {
	s.t.Helper()
	var a struct {
		Runs []struct {
			ID    int64
			Build struct{ Version string }
		}
	}
	s.get("/api/v1/runs").want(http.StatusOK).decode(&a)
	m := map[string]int64{}
	for _, r := range a.Runs {
		m[r.Build.Version] = r.ID
	}
	return m
}

func TestSeriesWithoutBase(t *testing.T) {
	t.Parallel()
	s, _ := c2(t)
	a := s.get("/api/v1/series?server=c2").want(http.StatusOK)
	body := a.tree().(map[string]any)
	if body["base"] != nil || len(body["series"].([]any)) != 2 || len(body["without_base"].([]any)) != 0 {
		t.Errorf("body %s", a.body)
	}
	for _, l := range body["series"].([]any) {
		if v, ok := l.(map[string]any)["base_value"]; !ok || v != nil {
			t.Errorf("base_value %v", v)
		}
		for _, p := range l.(map[string]any)["points"].([]any) {
			for _, key := range []string{"relative", "relative_low", "relative_high"} {
				if v, ok := p.(map[string]any)[key]; !ok || v != nil {
					t.Errorf("%s is %v (present: %v), want null", key, v, ok)
				}
			}
		}
	}
}

func TestSeriesNamesThoseWithoutBase(t *testing.T) {
	t.Parallel()
	s, _ := c2(t)
	a := s.series("server=c2&base=4.4.1")
	if len(a.Series) != 2 || len(a.WithoutBase) != 1 {
		t.Fatalf("%d series, %d without base; want 2 and 1", len(a.Series), len(a.WithoutBase))
	}
	if w := a.WithoutBase[0]; w.Step != "readrandom" || w.Server != "c2" || w.Reason != "not measured at 4.4.1" {
		t.Errorf("without base: %+v", w)
	}
	for _, l := range a.Series {
		if l.Step == "readrandom" && (l.BaseValue != nil || l.relatives() != "8.8.0 -, 8.10.0 -") {
			t.Errorf("readrandom: %v %s", l.BaseValue, l.relatives())
		}
	}
}

func TestSeriesWithABaselineOfZero(t *testing.T) {
	t.Parallel()
	s, _ := c2(t)
	a := s.series("server=c2&step=fillseq&metric=stall_percent&base=4.4.1")
	l := a.only(t)
	if l.BaseValue != nil || l.relatives() != "4.4.1 -, 8.8.0 -, 8.10.0 -" {
		t.Errorf("base %v, %s", l.BaseValue, l.relatives())
	}
	if l.Points[0].Value != 0 || l.Points[1].Value != 0.1 {
		t.Errorf("values %v and %v, want 0 and 0.1", l.Points[0].Value, l.Points[1].Value)
	}
	if len(a.WithoutBase) != 1 || a.WithoutBase[0].Reason != "n/a (baseline 0)" {
		t.Errorf("without base: %+v", a.WithoutBase)
	}
	if a.Metric.Direction != "lower" || a.Metric.Unit != "%" {
		t.Errorf("metric %+v", a.Metric)
	}
	csv := string(s.get("/api/v1/series?server=c2&step=fillseq&metric=stall_percent&base=4.4.1&format=csv").want(http.StatusOK).body)
	if n := strings.Count(csv, ",n/a (baseline 0),,,"); n != 3 {
		t.Errorf("%d cells of the CSV say why there is no ratio: %s", n, csv)
	}
	// Zero over something is a true 0.
	if l := s.series("server=c2&step=fillseq&metric=stall_percent&base=8.8.0").only(t); l.relatives() != "4.4.1 0.000, 8.8.0 1.000, 8.10.0 1.000" {
		t.Error(l.relatives())
	}
}

func TestSeriesRangeCutsAfterDividing(t *testing.T) {
	t.Parallel()
	s, _ := c2(t)
	if l := s.series("server=c2&step=fillseq&base=4.4.1&from=8.0.0").only(t); l.relatives() != "8.8.0 0.808, 8.10.0 0.918" {
		t.Error(l.relatives())
	}
	if l := s.series("server=c2&step=fillseq&base=8.10.0&from=8.8.0&to=8.9").only(t); l.relatives() != "8.8.0 0.879" {
		t.Error(l.relatives())
	}
}

func TestSeriesOfRepeatsHasMedianAndInterval(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var rows []row
	for i, v := range []struct{ version, qps string }{
		{"8.0.0", "1000"}, {"8.0.0", "1010"}, {"8.0.0", "990"},
		{"8.1.0", "800"}, {"8.1.0", "805"}, {"8.1.0", "820"}, {"8.1.0", "790"},
	} {
		rows = append(rows, row{qps: v.qps, test: "readrandom.t8", date: fmt.Sprintf("2023-10-0%dT10:00:00", i+1), version: v.version})
	}
	s.stored(on("c2", "cached", "gcc"), report(rows...))
	p := s.series("base=8.0.0").only(t).Points
	if len(p) != 2 || p[0].N != 3 || p[0].Value != 1000 || p[0].Min != 990 || p[0].Max != 1010 || len(p[0].Runs) != 3 {
		t.Fatalf("points %+v", p)
	}
	if p[1].N != 4 || p[1].Value != 802.5 || *p[1].Relative != 0.8025 {
		t.Errorf("second point %+v", p[1])
	}
	if p[1].RelativeLow == nil || *p[1].RelativeLow >= 0.8025 || *p[1].RelativeLow < 0.7 ||
		p[1].RelativeHigh == nil || *p[1].RelativeHigh <= 0.8025 || *p[1].RelativeHigh > 0.9 {
		t.Errorf("interval %v–%v", p[1].RelativeLow, p[1].RelativeHigh)
	}
	if *p[0].RelativeLow != 1 || *p[0].RelativeHigh != 1 {
		t.Errorf("the base has doubt about itself: %v–%v", *p[0].RelativeLow, *p[0].RelativeHigh)
	}
}

// threeBuilds has one step of two versions, built by three compilers; clang
// lacks the second version.
func threeBuilds(t testing.TB) *service {
	s := newService(t)
	for i, c := range []struct{ compiler, first, second string }{
		{"gcc", "1000", "2000"}, {"clang", "1100", ""}, {"clang.lto", "1200", "2600"},
	} {
		rows := []row{{qps: c.first, test: "fillseq.wal_disabled.v400", date: fmt.Sprintf("2023-10-1%dT10:00:00", i), version: "10.7.5"}}
		if c.second != "" {
			rows = append(rows, row{qps: c.second, test: "fillseq.wal_disabled.v400", date: fmt.Sprintf("2023-10-2%dT10:00:00", i), version: "10.8.3"})
		}
		s.stored(with(on("arm", "cached", c.compiler), "filename", c.compiler+".tsv", "clients", "8"), report(rows...))
	}
	return s
}

func TestSeriesDividedByAnotherCompiler(t *testing.T) {
	t.Parallel()
	s := threeBuilds(t)
	byCompiler := func(query string) map[string]string {
		got := map[string]string{}
		for _, l := range s.series(query).Series {
			got[l.Compiler] = l.relatives()
		}
		return got
	}
	for _, c := range []struct {
		name, query string
		want        map[string]string
	}{
		{"its point at the base version", "base=10.7.5&base_compiler=gcc", map[string]string{
			"gcc": "10.7.5 1.000, 10.8.3 2.000", "clang": "10.7.5 1.100", "clang+lto": "10.7.5 1.200, 10.8.3 2.600"}},
		{"at the same version, without base", "base_compiler=gcc", map[string]string{
			"gcc": "10.7.5 1.000, 10.8.3 1.000", "clang": "10.7.5 1.100", "clang+lto": "10.7.5 1.200, 10.8.3 1.300"}},
		{"the base need not be asked for", "base_compiler=gcc&compiler=clang", map[string]string{"clang": "10.7.5 1.100"}},
		{"a space is a plus", "base_compiler=clang+lto&compiler=clang+lto&compiler=gcc", map[string]string{
			"gcc": "10.7.5 0.833, 10.8.3 0.769", "clang+lto": "10.7.5 1.000, 10.8.3 1.000"}},
		{"an escaped plus is one too", "base_compiler=clang%2Blto&compiler=gcc", map[string]string{"gcc": "10.7.5 0.833, 10.8.3 0.769"}},
		{"where it lacks the version", "base=10.7.5&base_compiler=clang&compiler=gcc", map[string]string{"gcc": "10.7.5 0.909, 10.8.3 1.818"}},
		{"at a version it lacks", "base_compiler=clang&compiler=gcc", map[string]string{"gcc": "10.7.5 0.909, 10.8.3 -"}},
	} {
		if d := cmp.Diff(c.want, byCompiler("server=arm&"+c.query)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	a := s.series("base=10.8.3&base_compiler=clang")
	if len(a.WithoutBase) != 3 || a.Base == nil || a.Base.Version != "10.8.3" || a.Base.Compiler != "clang" {
		t.Errorf("base %+v, without base %+v", a.Base, a.WithoutBase)
	}
	a = s.series("base_compiler=icc")
	if len(a.Series) != 3 || len(a.WithoutBase) != 3 || !strings.Contains(a.WithoutBase[0].Reason, "icc") {
		t.Errorf("without base %+v", a.WithoutBase)
	}
}

func TestSeriesDividedByAnotherConfig(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for i, c := range []struct{ config, qps string }{{"a0", "1000"}, {"a1", "1500"}} {
		s.stored(with(on("c2", "cached", "gcc"), "config", c.config, "filename", c.config+".tsv"), report(
			row{qps: c.qps, test: "readrandom.t8", date: fmt.Sprintf("2023-10-0%dT10:00:00", i+1), version: "8.0.0"}))
	}
	a := s.series("base_config=a0&config=a1")
	if l := a.only(t); l.relatives() != "8.0.0 1.500" || l.Config != "a1" || a.Base.Config != "a0" {
		t.Errorf("%+v %s", a.Base, l.relatives())
	}
	if l := s.series("base=8.0.0&base_config=a1&config=a0").only(t); l.relatives() != "8.0.0 0.667" {
		t.Error(l.relatives())
	}
}

func TestSeriesJoinsFamiliesOnRequest(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.stored(on("c2", "cached", "gcc"), report(
		row{qps: "1000", test: "overwrite.t8.s0", date: "2023-10-01T10:00:00", version: "6.18.1"},
		row{qps: "1200", test: "overwriteandwait.t8.s0", date: "2023-10-02T10:00:00", version: "6.19.3"},
		row{qps: "1100", test: "overwriteandwait.t8.s0", date: "2023-10-03T10:00:00", version: "6.20.3"},
	))
	if a := s.series("base=6.18.1"); len(a.Series) != 2 || len(a.WithoutBase) != 1 {
		t.Errorf("without family: %+v", a)
	}
	for _, query := range []string{"family=1&base=6.18.1", "family=1&base=6.18.1&step=overwriteandwait", "family=1&base=6.18.1&step=overwrite"} {
		l := s.series(query).only(t)
		if l.Step != "overwriteandwait" || l.relatives() != "6.18.1 1.000, 6.19.3 1.200, 6.20.3 1.100" {
			t.Errorf("%s: %s %s", query, l.Step, l.relatives())
		}
		if l.Points[0].Step != "overwrite" || l.Points[1].Step != "overwriteandwait" {
			t.Errorf("%s: the steps of the points are not told: %+v", query, l.Points)
		}
	}
	if l := s.series("family=0&step=overwrite").only(t); l.Points[0].Step != "" {
		t.Errorf("step %q of a point without family", l.Points[0].Step)
	}
}

func TestSeriesFiltersRepeat(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for i, c := range []struct{ server, workload, compiler string }{
		{"c2", "cached", "gcc"}, {"c2", "iodir_lz4", "gcc"}, {"u5", "cached", "clang"},
	} {
		s.stored(with(on(c.server, c.workload, c.compiler), "filename", fmt.Sprint(i)), report(
			row{qps: "1000", test: "readrandom.t8", date: fmt.Sprintf("2023-10-0%dT10:00:00", i+1), version: "8.0.0"},
			row{qps: "1000", test: "fwdrange.t8", date: fmt.Sprintf("2023-10-0%dT11:00:00", i+1), version: "8.0.0"},
			row{qps: "1000", test: "multireadrandom.t8", date: fmt.Sprintf("2023-10-0%dT12:00:00", i+1), version: "8.0.0"},
		))
	}
	for query, want := range map[string]int{
		"":                                    9,
		"step=readrandom":                     3,
		"step=readrandom&step=fwdrange":       6,
		"server=c2":                           6,
		"server=c2&server=u5&step=readrandom": 3,
		"workload=byrx":                       6,
		"workload=cached&workload=iodir_lz4":  9,
		"compiler=clang":                      3,
		"compiler=GCC&step=fwdrange":          2,
		"clients=8&step=fwdrange":             3,
		"clients=8&clients=4&step=fwdrange":   3,
		"clients=4":                           0,
		"config=":                             9,
		"config=a0":                           0,
		"system=rocksdb&suite=db_bench":       9,
		"system=myrocks":                      0,
		"step=readrandom,fwdrange":            0, // one name with a comma in it
		"metric=p99_9":                        9,
		"metric=ips":                          0,
		"base=&from=&to=":                     9,
	} {
		if a := s.series(query); len(a.Series) != want || a.Series == nil || a.WithoutBase == nil {
			t.Errorf("%q: %d series, want %d", query, len(a.Series), want)
		}
	}
}

func TestSeriesRefusesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for query, says := range map[string][]string{
		"sever=c2":                     {"sever", "unknown"},
		"server=c2&stepp=a&basis=b":    {"query.basis", "query.stepp"},
		"metric=speed":                 {`"speed"`},
		"metric=qps&metric=p99":        {"query.metric", "more than once"},
		"base=8.0&base=8.1":            {"query.base"},
		"clients=many":                 {"query.clients"},
		"family=yes":                   {"query.family"},
		"format=xml":                   {"query.format"},
		"server=%zz":                   {"cannot be read"},
		"server=a;step=b":              {"cannot be read"},
		"server=%00":                   {"server", "control characters"},
		"base=%ff":                     {"base", "UTF-8"},
		"clients=99999999999999999":    {"clients"},
		"clients=-9223372036854775809": {"query.clients"},
	} {
		p := s.get("/api/v1/series?" + query).problem(http.StatusBadRequest)
		for _, word := range says {
			if !strings.Contains(p.Detail, word) {
				t.Errorf("%s: %q does not say %q", query, p.Detail, word)
			}
		}
	}
}

func TestSeriesAsCSV(t *testing.T) {
	t.Parallel()
	s, _ := c2(t)
	a := s.get("/api/v1/series?server=c2&base=4.4.1&format=csv").want(http.StatusOK)
	if got := a.header.Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	if got := a.header.Get("Content-Disposition"); got != `attachment; filename="relqps-qps.csv"` {
		t.Errorf("Content-Disposition %q", got)
	}
	rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	got := map[string][]string{}
	for _, r := range rows[1:] {
		got[r[column["step"]]+" "+r[column["version"]]] = []string{
			r[column["value"]], r[column["base_value"]], r[column["relative"]], r[column["n"]], r[column["base_version"]], r[column["unit"]],
		}
	}
	want := map[string][]string{
		"fillseq 4.4.1":     {"2069271", "2069271", "1", "1", "4.4.1", "1/s"},
		"fillseq 8.8.0":     {"1671040", "2069271", exact(1671040.0 / 2069271.0), "1", "4.4.1", "1/s"},
		"fillseq 8.10.0":    {"1900000", "2069271", exact(1900000.0 / 2069271.0), "1", "4.4.1", "1/s"},
		"readrandom 8.8.0":  {"200000", "", "", "1", "4.4.1", "1/s"},
		"readrandom 8.10.0": {"210000", "", "", "1", "4.4.1", "1/s"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Nothing found is a header without rows.
	a = s.get("/api/v1/series?server=nobody&format=csv").want(http.StatusOK)
	if lines := strings.Count(string(a.body), "\n"); lines != 1 {
		t.Errorf("%d lines for nothing", lines)
	}
}

func TestCSVGuardsTextAndLeavesNumbers(t *testing.T) {
	t.Parallel()
	value, low := -5.25, 1e-7
	text := map[string]string{ // as stored, as written
		"=1+1": "'=1+1", "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "-2": "'-2", "@SUM(A1)": "'@SUM(A1)", "\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx",
		"＝1+1": "'＝1+1", "plain": "plain", "a=b": "a=b", "": "", `"quoted", and comma`: `"quoted", and comma`, "c++": "c++",
	}
	for stored, written := range text {
		metric, _ := bench.LookupMetric("qps")
		c := compare.Comparison{Metric: metric, Base: compare.Base{Version: stored, Compiler: stored, Config: stored}, Lines: []compare.Line{{
			Coordinate: bench.Coordinate{System: stored, Suite: stored, Server: stored, Workload: stored, Step: stored, Compiler: stored, Config: stored, Clients: -1},
			BaseValue:  &value,
			Points:     []compare.Point{{Version: stored, Step: stored, N: 1, Value: value, Min: math.MaxFloat64, Max: low, Low: &low, Runs: []int64{3, 4}}},
		}}}
		var out bytes.Buffer
		if err := api.WriteCSV(&out, c); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"clients": "-1", "value": "-5.25", "min": "1.7976931348623157e+308", "max": "1e-07", "base_value": "-5.25",
			"relative": "", "relative_low": "1e-07", "relative_high": "", "runs": "3 4", "n": "1", "mixed": "false", "flagged": "false", "bimodal": "false",
			"metric": "qps", "unit": "1/s", "direction": "higher",
		}
		for _, name := range []string{"system", "suite", "server", "workload", "step", "compiler", "config", "version", "base_version", "base_compiler", "base_config"} {
			want[name] = written
		}
		got := map[string]string{}
		for i, name := range rows[0] {
			got[name] = rows[1][i]
		}
		// The CSV reader makes \n of \r\n, and a lone \r stays.
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", stored, d)
		}
	}
}

func TestSeriesIsCompressedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	s, _ := c2(t)
	req, err := http.NewRequest(http.MethodGet, s.url+"/api/v1/series", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip") // stated: not undone on the way
	a := s.send(req)
	if a.header.Get("Content-Encoding") != "gzip" || !bytes.HasPrefix(a.body, []byte("\x1f\x8b")) {
		t.Errorf("headers %v", a.header)
	}
}
