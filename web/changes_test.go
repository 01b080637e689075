package web

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// sampleChange is a lasting change of fillseq by a third on c2 iodir.
func sampleChange(id int64, change ...func(*bench.Change)) bench.Change {
	m, _ := bench.LookupMetric("qps")
	e := math.Log(0.65)
	c := bench.Change{
		ID: id, SeriesID: id, Coordinate: at("fillseq", func(c *bench.Coordinate) { c.Workload = "iodir" }), Metric: m, Triage: bench.TriageNew,
		Created: time.Date(2026, 11, 28, 9, 12, 0, 0, time.UTC),
		FoundChange: bench.FoundChange{
			Shape: bench.ShapeStep, From: "6.13.4", To: "6.14.6", Effect: e, Low: e - 0.03, High: e + 0.03, Neighbours: math.Log(0.66), P: 1e-8, PHere: 1e-9,
			Before: bench.Level{First: "6.10.4", Last: "6.13.4", Mean: math.Log(1000), N: 4}, After: bench.Level{First: "6.14.6", Last: "6.17.3", Mean: math.Log(650), N: 4},
		},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func on(server, workload string) func(*bench.Change) {
	return func(c *bench.Change) { c.Server, c.Workload = server, workload }
}

func ofStep(step string) func(*bench.Change) { return func(c *bench.Change) { c.Step = step } }

// between puts a change at a version, with its effect as a ratio.
func between(from, to string, ratio float64) func(*bench.Change) {
	return func(c *bench.Change) {
		c.From, c.To, c.Effect = from, to, math.Log(ratio)
		c.Low, c.High = c.Effect-0.01, c.Effect+0.01
	}
}

// fellSeries is what fillseq of [sampleChange] was measured as, with more metrics.
func fellSeries(t testing.TB) []bench.Series {
	place := at("fillseq", func(c *bench.Coordinate) { c.Workload = "iodir" })
	words := func(before, after string, missing ...string) []string {
		var out []string
		for i, v := range []string{"6.10.4", "6.11.7", "6.12.8", "6.13.4", "6.14.6", "6.15.5", "6.16.5", "6.17.3"} {
			value := before
			if i >= 4 {
				value = after
			}
			if len(missing) > 0 && missing[0] == v {
				continue
			}
			out = append(out, v+" "+value)
		}
		return out
	}
	all := []bench.Series{
		series(t, "qps", place, words("1000 1002 998", "650 651 648")...),
		series(t, "user_cpu_s", place, words("500 501 499", "440 441 439")...),
		series(t, "system_cpu_s", place, words("20 20 20", "20 20 20")...),
		series(t, "elapsed_s", place, words("100 100 100", "100 100 100")...),
		series(t, "compaction_write_gb", place, words("10 10.1 9.9", "12 12.1 11.9", "6.14.6")...),
		series(t, "p99", place, words("9 9 9", "9 9 9")...),
	}
	for i := range all {
		all[i].ID = int64(i + 1)
		for j := range all[i].Points {
			for k := range all[i].Points[j].Samples {
				// The same runs and results for all metrics, numbered by version.
				n := int64(100*versionIndex(all[i].Points[j].Version) + k + 1)
				all[i].Points[j].Samples[k].RunID, all[i].Points[j].Samples[k].ResultID = n, n
			}
		}
	}
	return all
}

func versionIndex(v string) int {
	var minor int
	_, _ = fmt.Sscanf(v, "6.%d", &minor)
	return minor
}

func TestChangesAreGroupedByVersionAndCause(t *testing.T) {
	t.Parallel()
	fell := between("8.5.4", "8.6.7", 0.4)
	source := &fakeSource{changes: []bench.Change{
		sampleChange(1, ofStep("overwriteandwait"), on("c2", "iodir"), fell),
		sampleChange(2, ofStep("overwriteandwait"), on("u5", "iobuf"), fell),
		sampleChange(3, ofStep("overwriteandwait"), on("u5", "iodir"), fell),
		sampleChange(4),
		sampleChange(5, ofStep("readrandom"), on("u5", "cached"), between("6.13.4", "6.14.6", 1.1)),
	}}
	source.series = fellSeries(t)[:1]
	d := page(t, newHandler(t, source), "/changes")
	var got []string
	d.Find("section.cv").Each(func(i int, s *goquery.Selection) {
		got = append(got, squeeze(s.Find("h2").Text()))
		s.Find("tr.cause").Each(func(_ int, c *goquery.Selection) { got = append(got, "- "+squeeze(c.Text())) })
		s.Find("tbody tr:not(.cause) th").Each(func(_ int, c *goquery.Selection) { got = append(got, "  "+squeeze(c.Text())) })
	})
	want := []string{
		"8.6.7", "- overwriteandwait 2 workloads, 2 servers, gcc", "  c2, iodir, gcc", "  u5, iobuf, gcc", "  u5, iodir, gcc",
		"6.14.6", "  fillseq c2, iodir, gcc", "  readrandom u5, cached, gcc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := text(d, ".state.new"); got != "new" {
		t.Errorf("state %q", got)
	}
	if meta := text(d, ".meta"); !strings.Contains(meta, "5 changes") || !strings.Contains(meta, "4 regressions") || !strings.Contains(meta, "false discovery held at 5 %: fewer than 0.01 false ones are expected in the whole list") {
		t.Errorf("%q", meta)
	}
}

func TestChangesAreFilteredByTheAddress(t *testing.T) {
	t.Parallel()
	source := &fakeSource{changes: []bench.Change{
		sampleChange(1), sampleChange(2, on("u5", "cached")), sampleChange(3, between("6.13.4", "6.14.6", 1.5)),
		sampleChange(4, func(c *bench.Change) { c.Triage = bench.TriageNoise }),
		sampleChange(5, func(c *bench.Change) { c.Shape, c.Back = bench.ShapeSpike, "6.15.5" }),
		sampleChange(6, between("6.13.4", "6.14.6", 0.98)),
		sampleChange(7, func(c *bench.Change) { now := time.Now(); c.Dissolved = &now }),
		sampleChange(8, ofStep("overwrite")),
	}}
	source.series = fellSeries(t)[:1]
	h := newHandler(t, source)
	for query, want := range map[string]string{
		"": "1 2 3 4 5 8", "server=u5": "2", "workload=byrx": "2", "kind=improvement": "3", "status=open": "1 2 3 5 8", "status=noise": "4",
		"shape=spike": "5", "min_effect=0": "1 2 3 4 5 6 8", "min_effect=0.42": "1 2 4 5 8", "dissolved=1": "1 2 3 4 5 7 8", "version=8.0.0": "",
		"step=overwriteandwait": "8", "system=other": "",
	} {
		d := page(t, h, "/changes?"+query)
		var got []string
		for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
			if d.Find(`a[href="/changes/`+id+`"]`).Length() > 0 {
				got = append(got, id)
			}
		}
		if list := strings.Join(got, " "); list != want {
			t.Errorf("%s lists %s, want %s", query, list, want)
		}
	}
	for _, query := range []string{"kind=slower", "status=maybe", "shape=round", "min_effect=-1", "min_effect=NaN", "server=a&server=b"} {
		if w := get(t, h, "/changes?"+query); w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, w.Code)
		}
	}
	if d := page(t, h, "/changes?server=nowhere"); !strings.Contains(text(d, ".empty"), "No change matches.") {
		t.Errorf("%q", text(d, ".empty"))
	}
}

// What has one cause is not cut in two by the end of a page.
func TestAPageOfChangesEndsBetweenVersions(t *testing.T) {
	t.Parallel()
	source := &fakeSource{series: fellSeries(t)[:1]}
	for i := range changesPerPage + 20 {
		to := "8.6.7"
		if i >= changesPerPage-5 {
			to = "8.5.4" // 25 of them, five of which would still fit
		}
		source.changes = append(source.changes, sampleChange(int64(i+1), on(fmt.Sprintf("s%03d", i), "iodir"), between("8.0.0", to, 0.5)))
	}
	h := newHandler(t, source)
	d := page(t, h, "/changes")
	rows := d.Find("tbody tr:not(.cause)").Length()
	if rows != changesPerPage-5 {
		t.Fatalf("%d changes on the first page", rows)
	}
	next := d.Find(".pager a").AttrOr("href", "")
	if got := page(t, h, next).Find("tbody tr:not(.cause)").Length(); got != 25 {
		t.Errorf("%d changes on the second page", got)
	}
}

func TestDoubtsStandBesideAChange(t *testing.T) {
	t.Parallel()
	var all []bench.Series
	steps := []string{"readrandom", "multireadrandom", "fwdrange", "readwhilewriting"}
	measure := func(server string, ratio float64) {
		for k, step := range steps {
			var words []string
			for i, v := range []string{"8.3.3", "8.4.4", "8.5.4", "8.6.7", "8.7.3", "8.8.0"} {
				n := 10000.0
				if i >= 4 {
					n *= ratio
				}
				words = append(words, fmt.Sprintf("%s %.0f %.0f %.0f", v, n-float64(10+k), n, n+float64(10+k)))
			}
			s := series(t, "qps", at(step, onServer(server)), words...)
			s.ID = int64(len(all) + 1)
			all = append(all, s)
		}
	}
	measure("c2", 0.92)
	measure("u5", 1)
	c := sampleChange(1, ofStep("readrandom"), on("c2", "cached"), between("8.6.7", "8.7.3", 0.92), func(c *bench.Change) { c.NewCampaign = true })
	c.SeriesID = 1
	source := &fakeSource{series: all, changes: []bench.Change{c}, run: map[int64]bench.RunDetail{303: {}, 401: {}}}
	h := newHandler(t, source)
	for _, target := range []string{"/changes", "/changes/1", "/versions/rocksdb/8.7.3", "/charts?server=c2&step=readrandom", "/"} {
		d := page(t, h, target)
		var tags []string
		d.Find(".tag").Each(func(_ int, s *goquery.Selection) {
			tags = append(tags, s.Text())
			if s.AttrOr("title", "") == "" && target != "/changes/1" {
				t.Errorf("%s: %q without evidence", target, s.Text())
			}
		})
		if diff := cmp.Diff([]string{"new campaign", "common mode 4 of 4", "not seen on u5"}, tags); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
	}
	// The report names it nowhere without its doubts.
	d := page(t, h, "/report/rocksdb?server=c2")
	if got := text(d, "#doubts"); got != "? look twice: 8.7.3 new campaign, common mode 4 of 4, not seen on u5." {
		t.Errorf("%q", got)
	}
	if got := d.Find(".sumt .doubt").First().AttrOr("title", ""); got != "new campaign, common mode 4 of 4, not seen on u5" {
		t.Errorf("%q", got)
	}
	if got := text(d, "#lead"); !strings.Contains(got, "mostly 8.6→8.7 [new campaign, not seen on u5]") {
		t.Errorf("%q", got)
	}
}

func TestTheChangePageSaysWhatMovedWithIt(t *testing.T) {
	t.Parallel()
	source := &fakeSource{series: fellSeries(t), changes: []bench.Change{sampleChange(1)}, run: map[int64]bench.RunDetail{}}
	source.changes[0].IssueURL, source.changes[0].Owner, source.changes[0].Triage = "https://github.com/facebook/rocksdb/issues/9354", "ann", bench.TriageConfirmed
	for id, version := range map[int64]string{1303: "6.13.4", 1401: "6.14.6"} {
		r := bench.RunDetail{RunSummary: bench.RunSummary{ID: id, Server: "c2", Build: bench.Build{Version: version, Compiler: "gcc", CompilerVersion: "11.4"}}}
		r.Environment = map[string]string{"kernel": "5.15.0-79", "cpu": "x", "source_name": version}
		r.Options = map[string]string{"cache_size": "1"}
		if id == 1401 {
			r.Environment["kernel"], r.Options["compression_type"] = "5.15.0-88", "lz4"
		}
		r.Results = []bench.StoredResult{{Result: bench.Result{Step: bench.Step{Name: "fillseq"}, Command: "./db_bench." + version + " --benchmarks=fillseq"}}}
		source.run[id] = r
	}
	d := page(t, newHandler(t, source), "/changes/1")
	if got := text(d, "h1"); got != "fillseq fell to 0.65 at 6.14 on c2, iodir" {
		t.Errorf("%q", got)
	}
	if got := text(d, ".lead"); got != "From 6.14.6 on, fillseq runs at ▼ 0.65 of the level before (0.63–0.67, 95 %). The two versions themselves: 1,000 → 650/s, 0.660. The new level stayed for 4 versions." {
		t.Errorf("%q", got)
	}
	rows := map[string][]string{}
	var order []string
	d.Find("#moves tbody tr").Each(func(_ int, s *goquery.Selection) {
		var cells []string
		s.Find("td").Each(func(_ int, c *goquery.Selection) { cells = append(cells, squeeze(c.Text())) })
		name := squeeze(s.Find("th").Clone().Find("span").Remove().End().Text())
		order = append(order, name)
		rows[name] = cells
	})
	if order[0] != "QPS" {
		t.Errorf("first is %s", order[0])
	}
	// (500 + 20) s / (1000/s · 100 s) = 5.20 ms; the median of
	// (440 + 20) / 65,000, (441 + 20) / 65,100 and (439 + 20) / 64,800 is 7.08 ms.
	for name, want := range map[string][]string{
		"QPS":               {"1,000", "650", "650", "worse −35 %"},
		"CPU per operation": {"5,200", "7,081", "7,081", "worse +36 %"},
		"user CPU":          {"500", "440", "440", "◆ −12 %"},
		"compaction write":  {"10", "not reported", "12", "◆ +20 %"},
		"p99":               {"9", "9", "9", "≈ 0.0 %"},
		"runs":              {"#1301, #1302, #1303", "#1401, #1402, #1403", "#1501, #1502, #1503", "n = 4 and 4 in all"},
	} {
		if diff := cmp.Diff(want, rows[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := text(d, "#differs"); !strings.Contains(got, "kernel: 5.15.0-79 → 5.15.0-88") || strings.Contains(got, "cpu") || strings.Contains(got, "source_name") ||
		!strings.Contains(got, "compression_type: added, lz4") || !strings.Contains(got, "Compilersame: gcc 11.4") {
		t.Errorf("%q", got)
	}
	if got := text(d, "#reproduce"); !strings.Contains(got, "./db_bench.6.13.4 --benchmarks=fillseq") || !strings.Contains(got, "./db_bench.6.14.6 --benchmarks=fillseq") {
		t.Errorf("%q", got)
	}
	if got := text(d, "#triage"); !strings.Contains(got, "confirmed") || !strings.Contains(got, "facebook/rocksdb#9354") || !strings.Contains(got, "ann") {
		t.Errorf("%q", got)
	}
	if got := text(d, "#cite-markdown"); !strings.Contains(got, "**fillseq −35 % at RocksDB 6.14.6** (c2, iodir, gcc): level 0.65 of before (95 % interval 0.63–0.67); 6.13.4 → 6.14.6: 1,000 → 650/s (0.660).") ||
		!strings.HasSuffix(got, "http://example.com/changes/1") {
		t.Errorf("%q", got)
	}
	if got := d.Find("#cite-html").Text(); !strings.HasPrefix(got, "<b>fillseq −35\u2009% at RocksDB 6.14.6</b> (c2, iodir, gcc): level 0.65 of before (") || !strings.HasSuffix(got, `. <a href="http://example.com/changes/1">http://example.com/changes/1</a>`) {
		t.Errorf("%q", got)
	}
	if got := d.Find("#cite-text").Text(); !strings.HasPrefix(got, "fillseq −35\u2009% at RocksDB 6.14.6 (c2, iodir, gcc): level 0.65 of before (") || !strings.HasSuffix(got, "\nhttp://example.com/changes/1") {
		t.Errorf("%q", got)
	}
	if d.Find("form#triage-form, #thread form").Length() != 0 {
		t.Error("forms for somebody who may not write")
	}
}

func TestADissolvedChangeStaysAndSaysSo(t *testing.T) {
	t.Parallel()
	gone := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	source := &fakeSource{series: fellSeries(t), changes: []bench.Change{sampleChange(1, func(c *bench.Change) { c.Dissolved = &gone })}}
	source.run = map[int64]bench.RunDetail{1303: {}, 1401: {}}
	h := newHandler(t, source)
	if got := text(page(t, h, "/changes/1"), "[role=status]"); !strings.HasPrefix(got, "Dissolved on 2026-11-29") {
		t.Errorf("%q", got)
	}
	for _, target := range []string{"/changes/2", "/changes/x", "/changes/0"} {
		if w := get(t, h, target); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
	// Its runs may all be withdrawn.
	source.series = nil
	if got := text(page(t, h, "/changes/1"), "h1"); !strings.Contains(got, "fillseq fell") {
		t.Errorf("%q", got)
	}
}

func TestTriageIsSetByForms(t *testing.T) {
	t.Parallel()
	store := newFakeStore(&fakeSource{series: fellSeries(t), changes: []bench.Change{sampleChange(1)}, run: map[int64]bench.RunDetail{1303: {}, 1401: {}}})
	h := newHandler(t, store.source, withStore(store))
	d := parse(t, as(t, h, "ann", http.MethodGet, "/changes/1", nil).Body.String())
	if d.Find("form#triage-form button[name=state]").Length() != 6 || d.Find("#thread textarea[name=comment]").Length() != 1 {
		t.Fatal("the forms are not there")
	}
	for _, form := range []url.Values{
		{"state": {"fixed"}, "fixed_in": {"8.7.3"}, "owner": {" bob "}, "issue": {""}},
		{"comment": {"Seen **twice**.\r\nNot here: <script>alert(1)</script>"}},
	} {
		if w := as(t, h, "ann", http.MethodPost, "/changes/1", form); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/changes/1" {
			t.Fatalf("status %d", w.Code)
		}
	}
	p := store.patches[0]
	if *p.Triage != bench.TriageFixed || *p.FixedIn != "8.7.3" || *p.Owner != "bob" || *p.IssueURL != "" || p.Comment != nil {
		t.Errorf("%+v", p)
	}
	if p := store.patches[1]; p.Triage != nil || p.Owner != nil || *p.Comment != "Seen **twice**.\nNot here: <script>alert(1)</script>" {
		t.Errorf("%+v", p)
	}
	d = page(t, h, "/changes/1")
	if got := d.Find("#thread .md"); got.Find("strong").Text() != "twice" || got.Find("script").Length() != 0 || !strings.Contains(got.Text(), "Not here: <script>alert(1)</script>") {
		html, _ := got.Html()
		t.Errorf("%s", html)
	}
	if got := text(d, "#state"); got != "fixed" {
		t.Errorf("%q", got)
	}
	for name, form := range map[string]url.Values{"nothing": {}, "unknown state": {"state": {"wrong"}}} {
		if w := as(t, h, "ann", http.MethodPost, "/changes/1", form); w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

func TestHomeListsOpenChanges(t *testing.T) {
	t.Parallel()
	source := &fakeSource{series: fellSeries(t), changes: []bench.Change{
		sampleChange(1), sampleChange(2, ofStep("readrandom"), func(c *bench.Change) { c.Triage = bench.TriageExpected }),
	}}
	d := page(t, newHandler(t, source), "/")
	if got := text(d, "#changes tbody"); got != "6.14.6fillseq stepiodir, c2, gcc▼ 0.65iodir, c2, gccnew" {
		t.Errorf("%q", got)
	}
}

func TestWithoutCommandLinesAPlanIsNamed(t *testing.T) {
	t.Parallel()
	for _, w := range plannedWorkloads {
		if _, err := os.Stat("../runner/plans/db_bench-" + w + ".yaml"); err != nil {
			t.Error(err)
		}
	}
	in := changeInput{Change: bench.ChangeDetail{Change: sampleChange(1, func(c *bench.Change) { c.Server, c.Compiler = "o'brien's box", "clang+lto" })}}
	list, none := commands(in)
	want := `relqps run db_bench-iodir --server 'o'\''brien'\''s box' --set binary=./db_bench.6.13.4 --compiler clang+lto --clients 8
relqps run db_bench-iodir --server 'o'\''brien'\''s box' --set binary=./db_bench.6.14.6 --compiler clang+lto --clients 8`
	if len(list) != 1 || list[0].Value != want || !strings.Contains(none, "No command line was stored") {
		t.Errorf("%+v, %q", list, none)
	}
	in.Change.Suite = "ibench"
	if list, none := commands(in); list != nil || !strings.Contains(none, "keeps the exact lines") {
		t.Errorf("%+v, %q", list, none)
	}
}
