package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// reportVersions are the versions of [reportSource].
var reportVersions = []string{"7.9.3", "7.10.2", "8.0.0", "8.1.1", "8.2.1", "8.3.3", "8.4.4", "8.5.4", "8.6.7", "8.7.3"}

// reportSource holds four steps at ten versions, three runs each: fillseq loses a
// fifth at 8.2.1, readrandom stays, overwriteandwait gains at 8.4.4 and stumbles at
// 8.6.7.
func reportSource(t testing.TB) *fakeSource {
	values := map[string]func(i int) int{
		"fillseq":    func(i int) int { return 100_000 - 20_000*step(i >= 4) },
		"readrandom": func(int) int { return 50_000 },
		"fwdrange":   func(int) int { return 40_000 },
		"overwriteandwait": func(i int) int {
			return 20_000 + 4_000*step(i >= 6) - 12_000*step(i == 8)
		},
	}
	f := &fakeSource{}
	for k, name := range []string{"fillseq", "readrandom", "fwdrange", "overwriteandwait"} {
		var words []string
		for i, v := range reportVersions {
			n := values[name](i)
			words = append(words, fmt.Sprintf("%s %d %d %d", v, n-n/500, n, n+n/500))
		}
		s := series(t, "qps", at(name), words...)
		s.ID = int64(k + 1)
		f.series = append(f.series, s)
	}
	here := func(c *bench.Change) { c.Server, c.Workload = "c2", "cached" }
	f.changes = []bench.Change{
		sampleChange(1, here, ofStep("fillseq"), between("8.1.1", "8.2.1", 0.8), func(c *bench.Change) { c.SeriesID = 1 }),
		sampleChange(2, here, ofStep("overwriteandwait"), between("8.3.3", "8.4.4", 1.2), func(c *bench.Change) { c.SeriesID = 4 }),
		sampleChange(3, here, ofStep("overwriteandwait"), between("8.5.4", "8.6.7", 0.5), func(c *bench.Change) {
			c.SeriesID, c.Shape, c.Back, c.OneRun = 4, bench.ShapeSpike, "8.7.3", false
		}),
	}
	return f
}

func step(on bool) int {
	if on {
		return 1
	}
	return 0
}

func TestTheReportSaysWhatWasLostAndWhere(t *testing.T) {
	t.Parallel()
	d := page(t, newHandler(t, reportSource(t)), "/report/rocksdb")
	if got := text(d, "h1"); got != "RocksDB 7.9.3 to 8.7.3, c2, cached" {
		t.Errorf("%q", got)
	}
	// ∜(0.8 · 1 · 1 · 1.2) = 0.990.
	want := "Against 7.9.3, 8.7.3 is slower in 1 of 4 steps, faster in 1, undecided in 2; the geometric mean is 0.99. " +
		"fillseq ▼ −20 % (0.798–0.802), mostly 8.1→8.2; overwriteandwait ▲ +20 % (1.197–1.203), mostly 8.3→8.4."
	if got := text(d, "#lead"); !likeIntervals(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for text, href := range map[string]string{"8.1→8.2": "/changes/1", "8.3→8.4": "/changes/2"} {
		if got := d.Find("#lead a").FilterFunction(func(_ int, s *goquery.Selection) bool { return s.Text() == text }).AttrOr("href", ""); got != href {
			t.Errorf("%s leads to %q", text, got)
		}
	}
	var rows []string
	d.Find(".sumt tbody tr").Each(func(_ int, s *goquery.Selection) {
		var cells []string
		s.Find(".L, td:not(.plt)").Each(func(_ int, c *goquery.Selection) { cells = append(cells, squeeze(c.Text())) })
		rows = append(rows, strings.Join(cells, " | "))
	})
	for i, want := range []string{
		"fillseq | 100 K | 80.0 K | ▼ 0.800", "readrandom | 50.0 K | 50.0 K | ≈ 1.000", "fwdrange | 40.0 K | 40.0 K | ≈ 1.000", "overwriteandwait | 20.0 K | 24.0 K | ▲ 1.2",
	} {
		if !strings.HasPrefix(rows[i], want) {
			t.Errorf("row %d: %s", i, rows[i])
		}
	}
	// A spike is not on the way, but among all.
	if !strings.HasSuffix(rows[3], "▲ +20 % at 8.4.4 all 2") || !strings.HasSuffix(rows[0], "▼ −20 % at 8.2.1") {
		t.Errorf("%q\n%q", rows[0], rows[3])
	}
	if d.Find(".sumt svg.plot circle").Length() != 4 {
		t.Error("a row without its interval plot")
	}
	if got := text(d, "#sure"); !strings.Contains(got, "Marked are 3 changes.") || !strings.Contains(got, "of 4 series at most 0.04 marks are expected to be false") ||
		!strings.Contains(got, "Runs of each of two versions that would prove a difference of 1 %") {
		t.Errorf("%q", got)
	}
}

// likeIntervals compares sentences whose intervals depend on the noise that was
// estimated: these may differ, their places may not.
func likeIntervals(got, want string) bool {
	strip := func(s string) string {
		var b strings.Builder
		depth := 0
		for _, r := range s {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				b.WriteRune(r)
			}
		}
		return b.String()
	}
	return strip(got) == strip(want) && strings.Count(got, "(") == strings.Count(want, "(")
}

func TestTheHeatTableTintsWhatIsDecidedAndMarksChangesBetweenColumns(t *testing.T) {
	t.Parallel()
	d := page(t, newHandler(t, reportSource(t)), "/report/rocksdb")
	cell := func(row, column int) *goquery.Selection {
		return d.Find(".ver tbody tr:not(.gh)").Eq(row).Find("td").Eq(column)
	}
	for _, x := range []struct {
		row, column int
		class, text string
	}{
		{0, 0, "isb", "1.00"}, {0, 3, "u", "1.00"}, {0, 4, "w4 chg", "0.80"}, {0, 5, "w4", "0.80"}, {1, 5, "u", "1.00"},
		{3, 6, "b4 chg upw imp", "1.20"}, {3, 8, "w4 far", "0.60"}, {3, 2, "u ms", "1.00"},
	} {
		c := cell(x.row, x.column)
		if got := c.AttrOr("class", ""); got != x.class || squeeze(c.Text()) != x.text {
			t.Errorf("%d, %d: %q %q, want %q %q", x.row, x.column, got, c.Text(), x.class, x.text)
		}
	}
	a := cell(0, 4).Find("a")
	if u, err := url.Parse(a.AttrOr("href", "")); err != nil || u.Path != "/charts" || u.Query().Get("step") != "fillseq" || u.Query().Get("at") != "8.2.1" {
		t.Errorf("%v", u)
	}
	if title := a.AttrOr("title", ""); !strings.Contains(title, "80,000/s, n = 3") || !strings.Contains(title, "lasting change between 8.1.1 and 8.2.1: ▼ 0.80") {
		t.Errorf("%q", title)
	}
	var heads, groups []string
	d.Find(".ver tr.vs th a").Each(func(_ int, s *goquery.Selection) { heads = append(heads, s.Text()) })
	d.Find(".ver tr.gh").Each(func(_ int, s *goquery.Selection) { groups = append(groups, s.Text()) })
	if diff := cmp.Diff(reportVersions, heads); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"load", "point read", "range read", "write"}, groups); diff != "" {
		t.Error(diff)
	}
	last := d.Find(".ver tr.vs th a").Last()
	if last.AttrOr("href", "") != "/versions/rocksdb/8.7.3" || last.AttrOr("data-shift-base", "") != "/report/rocksdb?base=8.7.3" {
		t.Errorf("%+v", last.Nodes[0].Attr)
	}
}

func TestAReportIsOfOnePlaceAndKeepsItsAddress(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	for _, s := range reportSource(t).series {
		s.Server = "u5"
		source.series = append(source.series, s)
	}
	h := newHandler(t, source)
	d := page(t, h, "/report/rocksdb?server=u5&server=c2&base=8.0.0&sensitivity=strict&unknown=1")
	if got := text(d, "h1"); got != "RocksDB 7.9.3 to 8.7.3, u5, cached" {
		t.Errorf("%q", got)
	}
	var links []string
	d.Find(".bar .pop a, .seg a").Each(func(_ int, s *goquery.Selection) { links = append(links, s.AttrOr("href", "")) })
	for _, href := range links {
		if strings.HasPrefix(href, "/api/") {
			continue
		}
		u, err := url.Parse(href)
		if err != nil || u.Path != "/report/rocksdb" || u.Query().Get("unknown") != "1" || u.Query().Get("system") != "" {
			t.Errorf("%s", href)
		}
	}
	if len(links) < 10 {
		t.Errorf("%d links", len(links))
	}
	if got := page(t, h, "/report/rocksdb?base=8.3.3").Find(".ver td.isb").Length(); got != 4 {
		t.Errorf("%d cells are the base", got)
	}
}

func TestOnlyWhatASettingMarksIsMarked(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	source.changes[0].P, source.changes[0].PHere = 5e-3, 5e-4 // usual, not strict
	h := newHandler(t, source)
	for query, want := range map[string]int{"": 2, "?sensitivity=strict": 1} {
		if got := page(t, h, "/report/rocksdb"+query).Find(".ver td.chg").Length(); got != want {
			t.Errorf("%q marks %d changes in the table, want %d", query, got, want)
		}
	}
	if w := get(t, h, "/report/rocksdb?sensitivity=some"); w.Code != http.StatusBadRequest {
		t.Errorf("status %d", w.Code)
	}
	// On a large chart the others are there, hidden, for the script to show at once.
	d := page(t, h, "/charts?step=fillseq&sensitivity=strict")
	row := d.Find("tr[data-change]").First()
	if _, hidden := row.Attr("hidden"); !hidden || row.AttrOr("data-from", "") != "1" {
		t.Errorf("%+v", row.Nodes[0].Attr)
	}
	if got := text(d, "[data-marked]"); got != "0 steps and 0 spikes; at this setting fewer than 0.01 false ones are expected" {
		t.Errorf("%q", got)
	}
}

func TestManyVersionsGetFewColumnsUnlessAsked(t *testing.T) {
	t.Parallel()
	source := &fakeSource{series: []bench.Series{long(t, at("fillseq"))}}
	h := newHandler(t, source)
	d := page(t, h, "/report/rocksdb")
	if n := d.Find(".ver tr.vs th a").Length(); n != reportColumns {
		t.Errorf("%d columns", n)
	}
	all := d.Find("#versions .what a")
	if all.Text() != "Show all 79" {
		t.Fatalf("%q", all.Text())
	}
	if n := page(t, h, strings.TrimSuffix(all.AttrOr("href", ""), "#versions")).Find(".ver tr.vs th a").Length(); n != 79 {
		t.Errorf("%d columns of all", n)
	}
	// The twin of the charts holds every figure.
	if n := d.Find("details.all table.tw tbody tr").Length(); n != 79 {
		t.Errorf("%d versions in the table of all figures", n)
	}
}

func TestTheReportAsMarkdownAndCSVHasTheSameFigures(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	h := newHandler(t, source)
	d := page(t, h, "/report/rocksdb")
	md := get(t, h, "/report/rocksdb?format=md").Body.String()
	if !strings.HasPrefix(md, "# RocksDB 7.9.3 to 8.7.3, c2, cached\n") || !strings.Contains(md, "http://example.com/report/rocksdb\n") {
		t.Errorf("%s", md[:200])
	}
	lead := strings.NewReplacer("\u2009", " ").Replace(text(d, "#lead"))
	plain := mdText(md)
	if !strings.Contains(plain, lead) {
		t.Errorf("the sentence of the page is not in the text:\n%s\n%s", lead, plain[:600])
	}
	if !strings.Contains(md, "[▼ −20\u2009% at 8.2.1](http://example.com/changes/1)") {
		t.Error("a change without its link")
	}
	records, err := csv.NewReader(strings.NewReader(get(t, h, "/report/rocksdb?format=csv").Body.String())).ReadAll()
	if err != nil || len(records) != 1+4*len(reportVersions) {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if diff := cmp.Diff([]string{"rocksdb", "db_bench", "c2", "cached", "gcc", "", "8", "fillseq", "8.2.1", "3", "80000", "0.8"}, records[5][:12]); diff != "" {
		t.Error(diff)
	}
	if w := get(t, h, "/report/rocksdb?format=pdf"); w.Code != http.StatusBadRequest {
		t.Errorf("status %d", w.Code)
	}
	direct, err := ReportMarkdown(t.Context(), source, "rocksdb", url.Values{"format": {"md"}}, "http://example.com")
	if err != nil || string(direct) != md {
		t.Errorf("the command prints something else: %v", err)
	}
	if _, err := ReportMarkdown(t.Context(), source, "nothing", nil, ""); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("%v", err)
	}
}

// mdText takes links, emphasis and escapes out of Markdown.
func mdText(md string) string {
	var b strings.Builder
	for i := 0; i < len(md); i++ {
		switch {
		case md[i] == '\\' && i+1 < len(md):
			i++
			b.WriteByte(md[i])
		case md[i] == '*' || md[i] == '[':
		case md[i] == ']' && i+1 < len(md) && md[i+1] == '(':
			i += strings.IndexByte(md[i:], ')')
		default:
			b.WriteByte(md[i])
		}
	}
	return squeeze(b.String())
}

func TestAReportWithoutFiguresSaysWhatWasExpected(t *testing.T) {
	t.Parallel()
	if got := text(page(t, newHandler(t, &fakeSource{}), "/report/rocksdb"), ".empty .lead"); got != "No results yet." {
		t.Errorf("%q", got)
	}
	h := newHandler(t, reportSource(t))
	if got := text(page(t, h, "/report/myrocks"), ".empty .lead"); got != "Nothing was measured for system myrocks." {
		t.Errorf("%q", got)
	}
	if got := text(page(t, h, "/report/rocksdb?metric=p99"), ".empty .lead"); got != "No p99 here." {
		t.Errorf("%q", got)
	}
	if w := get(t, h, "/report"); w.Code != http.StatusFound || w.Header().Get("Location") != "/report/rocksdb" {
		t.Errorf("status %d to %s", w.Code, w.Header().Get("Location"))
	}
}

// An address that names no metric shows QPS, or what the steps are judged by where QPS was not measured.
func TestAnAddressWithoutAMetricShowsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	var all []bench.Series
	for i, metric := range []string{"p99", "iops"} {
		s := series(t, metric, at("read_bs4k"), "1.0 100 101 99")
		s.ID = int64(i + 1)
		all = append(all, s)
	}
	h := newHandler(t, &fakeSource{series: all})
	for _, path := range []string{"/charts", "/report/rocksdb"} {
		doc := page(t, h, path)
		if got := text(doc, ".bar"); !strings.Contains(got, "Metric IOPS") {
			t.Errorf("%s: %q", path, got)
		}
		if got := text(doc, ".empty"); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := text(page(t, h, "/report/rocksdb"), ".lead"); got != "One version was measured here, 1.0: there is no other to compare it with yet." {
		t.Errorf("%q", got)
	}
}

// Detection looks at the metric that decides a step; the report of another one has
// no changes, and says so instead of seeming sure.
func TestTheReportOfAnotherMetricMarksNothing(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	p99 := series(t, "p99", at("fillseq"), "7.9.3 10 10 11", "8.7.3 20 20 21")
	p99.ID = 9
	source.series = append(source.series, p99)
	d := page(t, newHandler(t, source), "/report/rocksdb?metric=p99")
	if got := text(d, "#sure"); !strings.Contains(got, "Changes are looked for in the metric that decides a step, not in p99.") {
		t.Errorf("%q", got)
	}
	if got := text(d, "#lead"); !strings.Contains(got, "8.7.3 is") || strings.Contains(got, "slower") {
		t.Errorf("%q", got)
	}
}
