package web

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// twoVersions is a source of steps that scatter by a percent, of which 8.8.0 is
// better in one, worse in another and not told in a third.
func twoVersions(t testing.TB) *fakeSource {
	t.Helper()
	steady := []string{"8.5.0 1000 1010 990", "8.6.0 1010 990 1000", "8.7.0 990 1000 1010"}
	f := &fakeSource{series: []bench.Series{
		series(t, "qps", at("fillseq"), append(steady, "8.8.0 800 808 792")...),
		series(t, "qps", at("readrandom"), append(steady, "8.8.0 1000 1005 995")...),
		series(t, "qps", at("overwriteandwait"), append(steady, "8.8.0 1100 1111 1089")...),
		series(t, "qps", at("seekrandom"), "8.7.0 0", "8.8.0 10"),
		series(t, "qps", at("readwhilewriting"), "8.7.0 x100", "8.8.0 10"),
		series(t, "qps", at("deleteseq"), steady...),
		series(t, "qps", at("fillseq", onServer("u5"), func(c *bench.Coordinate) { c.Clients = 12 }), "8.7.0 500", "8.8.0 400"),
	}}
	for i := range 3 {
		for j, version := range []string{"8.7.0", "8.8.0"} {
			f.facts = append(f.facts, bench.RunFacts{
				ID: int64(100*(2+j) + i + 1), System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Clients: 8, Started: bench.NewLocalTime(2023, 9, 3+j*5, 1, 0, 0),
				Build:       bench.Build{Version: version, Compiler: "gcc", Flags: []string{"-O2 -march=native", "-O2 -flto"}[j]},
				Environment: map[string]string{"kernel": []string{"5.15", "6.2"}[j], "cpu": "EPYC"}, Options: map[string]string{"cache_size": []string{"8", "6"}[j], "num": "9"},
			})
		}
	}
	return f
}

func TestTwoSetsOfRunsAreCompared(t *testing.T) {
	t.Parallel()
	h := newHandler(t, twoVersions(t))
	d := page(t, h, "/compare?system=rocksdb&server=c2&a.version=8.7.0&b.version=8.8.0")
	if got := text(d, "h1"); got != "8.8.0 against 8.7.0" {
		t.Errorf("%q", got)
	}
	// (0.8 × 1 × 1.1)^(1/3) = 0.9583.
	if got := text(d, ".lead"); !strings.HasPrefix(got, "B is 0.96 of A by geometric mean of 3 rows (0.9") ||
		!strings.HasSuffix(got, "; higher is better): 1 worse, 1 better, 1 undecided; 2 rows left out, not to be compared or with a baseline of 0.") {
		t.Errorf("%q", got)
	}
	var rows []string
	d.Find("table.cmp tbody tr").Each(func(_ int, tr *goquery.Selection) {
		var cells []string
		tr.Find("th, td").Each(func(i int, c *goquery.Selection) {
			if i != 5 && i != 6 && i != 8 {
				cells = append(cells, squeeze(c.Text()))
			}
		})
		rows = append(rows, strings.Join(cells, " | "))
	})
	want := []string{
		"fillseq | QPS ↑ | 1,000 | 800 | ▼ 0.80 | 3, 3", "overwriteandwait | QPS ↑ | 1,000 | 1,100 | ▲ 1.10 | 3, 3", "readrandom | QPS ↑ | 1,000 | 1,000 | ≈ 1.00 | 3, 3",
		"seekrandom | QPS ↑ | 0 | 10 | n/a (baseline 0) | 1, 1", "readww | QPS ↑ | 100 | 10 | × 0.10 | 1, 1",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	// Every sample is drawn, of A above B, without a script.
	first := d.Find("table.cmp tbody tr").First()
	if first.Find("circle[cy='7']").Length() != 3 || first.Find("circle[cy='17']").Length() != 3 || first.Find("circle[fill='var(--worse)']").Length() != 3 {
		t.Errorf("%s", text(d, "table.cmp"))
	}
	// ln 0.8 = -0.22314: 125.5 - 0.22314 × 302 = 58.1.
	if x := first.Find("circle[cy='17']").First().AttrOr("cx", ""); x != "58.1" {
		t.Errorf("800 of 1000 stands at %s", x)
	}
	// A tenth is outside of the scale: an arrow.
	if last := d.Find("table.cmp tbody tr").Last(); last.Find("path[d='M8 12v10L1 17z']").Length() != 1 || last.Find("circle[cy='17']").Length() != 0 {
		t.Errorf("%s", squeeze(last.Text()))
	}
	if diff := cmp.Diff([]string{"deleteseq |  | A | QPS | 1,000/s | 3"}, cellsOf(d, "#one-sided")); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"version | run | 8.7.0 | 8.8.0 | changed", "date | run | 2023-09-03 | 2023-09-08 | changed", "flag -flto | build | not stated | given | added",
		"flag -march=native | build | given | not stated | removed", "kernel | host | 5.15 | 6.2 | changed", "cache_size | option | 8 | 6 | changed",
	}
	if diff := cmp.Diff(want, cellsOf(d, "#differs")); diff != "" {
		t.Error(diff)
	}
	// What the form shows is what was asked for; sending it again asks the same.
	form := url.Values{}
	d.Find("form.sets select[name], form.sets input[name]").Each(func(_ int, s *goquery.Selection) {
		v := s.AttrOr("value", "")
		if goquery.NodeName(s) == "select" {
			v = s.Find("option[selected]").AttrOr("value", "")
		}
		form.Add(s.AttrOr("name", ""), v)
	})
	again := page(t, h, "/compare?"+form.Encode())
	if got := again.Find(".bar [data-copy]").AttrOr("href", ""); got != "/compare?system=rocksdb&server=c2&a.version=8.7.0&b.version=8.8.0" {
		t.Errorf("%q", got)
	}
	if n := d.Find("datalist#versions option").Length(); n != 4 {
		t.Errorf("%d versions to choose from", n)
	}
	// The other way round.
	swap := d.Find(".bar .seg a").AttrOr("href", "")
	if swap != "/compare?system=rocksdb&server=c2&a.version=8.8.0&b.version=8.7.0" || !strings.Contains(text(page(t, h, swap), "table.cmp"), "▲ 1.25") {
		t.Errorf("%q", swap)
	}
}

func TestAComparisonIsCSVAndMarkdownToo(t *testing.T) {
	t.Parallel()
	h := newHandler(t, twoVersions(t))
	const view = "/compare?system=rocksdb&server=c2&a.version=8.7.0&b.version=8.8.0"
	w := get(t, h, view+"&format=csv")
	records, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || w.Code != http.StatusOK || len(records) != 7 || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Fatalf("%d %v %q", w.Code, err, records)
	}
	by := map[string]map[string]string{}
	for _, r := range records[1:] {
		by[r[7]] = map[string]string{}
		for i, name := range records[0] {
			by[r[7]][name] = r[i]
		}
	}
	if r := by["fillseq"]; r["a"] != "1000" || r["b"] != "800" || r["ratio"] != "0.8" || r["verdict"] != "worse" || r["direction"] != "higher" || r["a_n"] != "3" || r["ratio_low"] == "" {
		t.Errorf("%v", r)
	}
	if r := by["seekrandom"]; r["ratio"] != compare.BaseIsZero || r["ratio_low"] != "" || r["a"] != "0" {
		t.Errorf("%v", r)
	}
	if r := by["deleteseq"]; r["a"] != "1000" || r["b"] != "" || r["b_n"] != "" || r["ratio"] != "" || r["verdict"] != "only in A" {
		t.Errorf("%v", r)
	}
	md := get(t, h, view+"&format=md").Body.String()
	for _, want := range []string{"# 8.8.0 against 8.7.0\n\nhttp://example.com" + view + "\n", "| fillseq |  | QPS ↑ | 1,000 | 800 | ▼ 0.80 |", "n/a (baseline 0)", "| deleteseq |", "| host kernel | 5.15 | 6.2 | changed |"} {
		if !strings.Contains(md, want) {
			t.Errorf("%q is not in\n%s", want, md)
		}
	}
	for _, text := range []string{md, w.Body.String()} {
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Error(text)
		}
	}
	if w := get(t, h, view+"&format=pdf"); w.Code != http.StatusBadRequest {
		t.Errorf("status %d", w.Code)
	}
	// A frozen view keeps it.
	if snapshot, err := Freeze(context.Background(), Config{Source: twoVersions(t)}, view); err != nil || !strings.Contains(string(snapshot), "RunFacts") {
		t.Error(err)
	}
}

func TestSetsThatShareNothingOrAreNotChosen(t *testing.T) {
	t.Parallel()
	h := newHandler(t, twoVersions(t))
	d := page(t, h, "/compare")
	if d.Find("details[open] form.sets").Length() != 1 || text(d, ".links") != "RocksDB: 8.8.0 against 8.7.0" {
		t.Errorf("%s", text(d, "main"))
	}
	if href := d.Find("main .links a").AttrOr("href", ""); href != "/compare?system=rocksdb&a.version=8.7.0&b.version=8.8.0" {
		t.Errorf("%q", href)
	}
	for target, want := range map[string]string{
		"/compare?a.version=8.7.0&b.version=9.9":         "Nothing was measured under what B names: 9.9.",
		"/compare?a.version=9.9&b.version=8.7.0":         "Nothing was measured under what A names: 9.9.",
		"/compare?system=mysql":                          "Nothing was measured under what either of them names.",
		"/compare?a.version=8.7.0&b.version=8.8.0&step=": "8.8.0 against 8.7.0",
	} {
		if got := text(page(t, h, target), "main"); !strings.Contains(got, want) {
			t.Errorf("%s: %q", target, got)
		}
	}
	for _, target := range []string{"/compare?metric=speed", "/compare?a.clients=many", "/compare?b.run=0", "/compare?a.from=9&a.to=8", "/compare?a.system=a&a.system=b"} {
		if w := get(t, h, target); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

func TestAddressesOfComparisonsAreShort(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"b.version=2&a.version=1&system=x":                                   "/compare?system=x&a.version=1&b.version=2",
		"a.server=c2&b.server=c2&a.system=&x=1":                              "/compare?server=c2&x=1",
		"server=c2&a.server=u5":                                              "/compare?a.server=u5&b.server=c2",
		"a.compiler=clang lto&b.compiler=gcc&a.workload=byrx&b.workload=":    "/compare?a.workload=cached&a.compiler=clang%2Blto&b.compiler=gcc",
		"a.config=-&b.config=a0&clients=8&a.run=1&a.run=2&step=q&metric=p99": "/compare?a.config=-&b.config=a0&clients=8&a.run=1&a.run=2&step=q&metric=p99",
		"a.from=8.0&a.to=8.5&b.from=8.6":                                     "/compare?a.from=8.0&b.from=8.6&a.to=8.5",
	} {
		q, err := parseCompare(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := q.String(); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
		again, err := parseCompare(strings.TrimPrefix(q.String(), "/compare?"))
		if err != nil || again.String() != q.String() {
			t.Errorf("%s: %s, %v", raw, again.String(), err)
		}
	}
	q, _ := parseCompare("a.from=8.0&a.to=8.5&b.from=8.6&server=c2&a.config=-&b.config=a0")
	if a, b := q.names(); a != "no config, from 8.0, up to 8.5" || b != "a0, from 8.6" {
		t.Errorf("%q %q", a, b)
	}
}

func TestPagesLeadToComparisons(t *testing.T) {
	t.Parallel()
	source := twoVersions(t)
	source.run = map[int64]bench.RunDetail{201: {RunSummary: bench.RunSummary{ID: 201, System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Build: bench.Build{Version: "8.7.0", Compiler: "gcc"}}}}
	h := newHandler(t, source)
	for target, want := range map[string]string{
		"/charts?server=c2&step=fillseq":      "/compare?system=rocksdb&suite=db_bench&server=c2&workload=cached&compiler=gcc&a.version=8.5.0&b.version=8.8.0",
		"/charts?server=c2&base=8.8.0":        "/compare?system=rocksdb&suite=db_bench&server=c2&workload=cached&compiler=gcc&a.version=8.8.0&b.version=8.5.0",
		"/charts?server=c2&base_compiler=gcc": "/compare?system=rocksdb&suite=db_bench&server=c2&workload=cached&compiler=gcc&version=8.8.0",
		"/versions/rocksdb/8.7.0":             "/compare?system=rocksdb&a.version=8.6.0&b.version=8.7.0",
		"/runs/201":                           "/compare?system=rocksdb&suite=db_bench&a.server=c2&a.workload=cached&a.compiler=gcc&b.run=201",
	} {
		href := page(t, h, target).Find("a[data-key=c]").AttrOr("href", "")
		if href != want {
			t.Errorf("%s leads to %s, want %s", target, href, want)
		}
		if w := get(t, h, href); w.Code != http.StatusOK {
			t.Errorf("%s: %d", href, w.Code)
		}
	}
	// The first version has none before it.
	if n := page(t, h, "/versions/rocksdb/8.5.0").Find("a[data-key=c]").Length(); n != 0 {
		t.Errorf("%d links", n)
	}
}

func TestManyRowsAreCutAndSaid(t *testing.T) {
	t.Parallel()
	f := &fakeSource{}
	for i := range compareRowsMax + 5 {
		f.series = append(f.series, series(t, "qps", at(fmt.Sprintf("step%03d", i)), "1.0 10", "2.0 11"))
	}
	h := newHandler(t, f)
	d := page(t, h, "/compare?a.version=1.0&b.version=2.0")
	if n := d.Find("table.cmp tbody tr").Length(); n != compareRowsMax || !strings.Contains(text(d, ".said-plainly"), "The first 500 of 505 rows are shown") {
		t.Errorf("%d rows, %q", n, text(d, ".said-plainly"))
	}
	if n := strings.Count(get(t, h, "/compare?a.version=1.0&b.version=2.0&format=csv").Body.String(), "\n"); n != compareRowsMax+6 {
		t.Errorf("%d lines", n)
	}
}
