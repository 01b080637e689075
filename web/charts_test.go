package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// build makes a page of charts from series, as the handler does from a store.
func build(t *testing.T, query string, all ...bench.Series) (view.ChartsPage, error) {
	t.Helper()
	q, err := parseCharts(query)
	if err != nil {
		t.Fatal(err)
	}
	in := chartsInput{Given: q, Coordinates: coordinatesOf(all, bench.SeriesFilter{}), Origin: "http://host:8080"}
	in.Resolved, in.Found = q.resolve(in.Coordinates)
	if in.Found {
		f := &fakeSource{series: all}
		if in.Series, err = f.Series(t.Context(), in.Resolved.comparison().Fetch()); err != nil {
			t.Fatal(err)
		}
		facets, err := f.Facets(t.Context(), bench.SeriesFilter{})
		if err != nil {
			t.Fatal(err)
		}
		in.Metrics = facets.Metrics
	}
	return newChartsPage(in)
}

func mustBuild(t *testing.T, query string, all ...bench.Series) view.ChartsPage {
	t.Helper()
	p, err := build(t, query, all...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// repeats makes five samples around a value: enough to know the noise of a line.
func repeats(version string, v float64) string {
	return fmt.Sprintf("%s %g %g %g %g %g", version, v, v*1.02, v*0.98, v*1.01, v*0.99)
}

// field gives a toolbar field by its label.
func field(t *testing.T, b view.Bar, label string) view.Field {
	t.Helper()
	for _, f := range b.Fields {
		if f.Label == label {
			return f
		}
	}
	t.Fatalf("no field %s", label)
	return view.Field{}
}

// link gives the address of a choice of a field.
func link(t *testing.T, f view.Field, name string) string {
	t.Helper()
	for _, g := range f.Menu {
		for _, c := range g.Choices {
			if c.Name == name {
				return c.Href
			}
		}
	}
	t.Fatalf("%s has no choice %s: %+v", f.Label, name, f.Menu)
	return ""
}

func TestSmallMultiplesAreGroupedAndSaySo(t *testing.T) {
	t.Parallel()
	p := mustBuild(t, "",
		series(t, "qps", at("readrandom"), repeats("8.0.0", 100), "9.0.0 80"),
		series(t, "qps", at("fillseq"), repeats("8.0.0", 1000), "9.0.0 1200"),
		series(t, "qps", at("multireadrandom"), repeats("8.0.0", 50), "9.0.0 50.1"),
		series(t, "qps", at("revrange"), repeats("8.0.0", 50), "9.0.0 5"), // prepares: not shown
	)
	var got []string
	for _, c := range p.Charts {
		got = append(got, c.Group+"/"+c.Title+"/"+c.ReadOut)
	}
	want := []string{"load/fillseq/1.00 = 1000/s", "point read/readrandom/1.00 = 100/s", "/multireadrandom/1.00 = 50.0/s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := plain(p.Lead); got != "Against 8.0.0, 9.0.0 is worse in 1 of 3 steps, better in 1, undecided in 1." {
		t.Errorf("lead %q", got)
	}
	if p.Heading != "RocksDB 8.0.0 to 9.0.0, c2, cached" || p.Large {
		t.Errorf("heading %q", p.Heading)
	}
	var meta []string
	for _, f := range p.Meta {
		meta = append(meta, plain(f.Parts))
	}
	want = []string{"2 versions", "db_bench, 8 clients, gcc", "QPS, higher is better ↑", "measured 2023-09-01 to 2023-09-02", "n = 1 to 5 per point, noise taken from repeats"}
	if diff := cmp.Diff(want, meta); diff != "" {
		t.Error(diff)
	}
}

func TestTableHoldsTheFiguresOfTheChart(t *testing.T) {
	t.Parallel()
	p := mustBuild(t, "", series(t, "qps", at("fillseq"), repeats("8.0.0", 1000), "8.1.0 800.5", "8.2.0 x200"))
	table := p.Charts[0].Tables[0]
	if len(p.Charts[0].Tables) != 1 || table.Unit != "QPS" || !table.Intervals || p.Charts[0].Count != "3 versions" {
		t.Fatalf("%+v", table)
	}
	base, worse, flagged := table.Rows[0].Cells[0], table.Rows[1].Cells[0], table.Rows[2].Cells[0]
	if base.Value != "1,000" || base.Relative != "1.00" || base.Interval != "base" || base.Title != "n = 5, 980 to 1,020" {
		t.Errorf("base %+v", base)
	}
	if worse.Value != "800.5" || worse.Relative != "0.80" || worse.Class != "dn" || !strings.Contains(worse.Interval, "–") {
		t.Errorf("worse %+v", worse)
	}
	if flagged.Relative != "× 0.20" || flagged.Class != "fl" || !strings.Contains(flagged.Title, "not comparable") {
		t.Errorf("flagged %+v", flagged)
	}
	if got := plain(p.Charts[0].Remarks[0].Parts); got != "× not comparable, see the run: 8.2.0" {
		t.Errorf("remark %q", got)
	}
}

func TestOneStepGetsALargeChart(t *testing.T) {
	t.Parallel()
	all := []bench.Series{
		series(t, "qps", at("fillseq"), repeats("8.0.0", 1000), "9.0.0 900"), series(t, "qps", at("readrandom"), repeats("8.0.0", 233_175), repeats("9.0.0", 191_476)),
		series(t, "qps", at("overwrite"), "8.0.0 1"),
	}
	p := mustBuild(t, "step=readrandom&zz=1", all...)
	if !p.Large || p.Heading != "readrandom" || len(p.Charts) != 1 {
		t.Fatalf("%+v", p)
	}
	if now := plain(p.Meta[0].Parts); p.Meta[0].Role != "now" || now != "9.0.0 is ▼ 0.82 of 8.0.0 (0.80–0.84)" {
		t.Errorf("now %q", now)
	}
	if one := plain(p.Meta[1].Parts); one != "1.00 = 233,175/s" {
		t.Errorf("one %q", one)
	}
	want := []view.Link{
		{Text: "← fillseq", Href: "/charts?step=fillseq&zz=1", Title: "k"},
		{Text: "overwriteandwait →", Href: "/charts?step=overwriteandwait&zz=1", Title: "j"},
	}
	if diff := cmp.Diff(want, p.Steps); diff != "" {
		t.Error(diff)
	}
	row := p.Charts[0].Tables[1].Rows[0] // the second block is 9.x
	if row.Version != "9.0.0" || row.Base != "/charts?step=readrandom&base=9.0.0&zz=1" {
		t.Errorf("a plain link makes a version the base: %+v", row)
	}
	if first := p.Charts[0].Tables[0].Rows[0]; first.Base != "/charts?step=readrandom&zz=1" {
		t.Errorf("the base of an address without one is left out: %+v", first)
	}
}

func TestFamiliesAreJoinedMarkedAndTakenApart(t *testing.T) {
	t.Parallel()
	all := []bench.Series{
		series(t, "qps", at("overwrite"), repeats("6.17.3", 100), "6.18.1 110"), series(t, "qps", at("overwriteandwait"), repeats("6.19.4", 118), "6.20.4 117"),
	}
	p := mustBuild(t, "step=overwriteandwait", all...)
	if p.Heading != "overwrite → overwriteandwait" {
		t.Errorf("heading %q", p.Heading)
	}
	if got := plain(p.Charts[0].Remarks[0].Parts); got != "overwriteandwait from 6.19.4 on" {
		t.Errorf("remark %q", got)
	}
	row := p.Charts[0].Tables[0].Rows[2]
	if row.Mark != "overwriteandwait from here on" || row.Cells[0].Relative != "1.18" {
		t.Errorf("row %+v", row)
	}
	apart := mustBuild(t, "step=overwrite&step=overwriteandwait&family=0", all...)
	if len(apart.Charts) != 2 || apart.Charts[0].Title != "overwrite" || apart.Charts[1].Title != "overwriteandwait" {
		t.Errorf("%d charts", len(apart.Charts))
	}
	if got := apart.Charts[1].ReadOut; got != "not measured at 6.17.3" {
		t.Errorf("a step without the base says why: %q", got)
	}
}

func TestSeveralLinesAreNamedInLegendAndTables(t *testing.T) {
	t.Parallel()
	all := []bench.Series{
		series(t, "qps", at("fillseq"), repeats("8.0.0", 100), "9.0.0 110"), series(t, "qps", at("fillseq", byCompiler("clang+lto")), repeats("9.0.0", 120)),
	}
	p := mustBuild(t, "compiler=gcc&compiler=clang%2Blto&base=9.0.0&base_compiler=gcc", all...)
	var names []string
	for _, s := range p.Key {
		if s.Kind == "line" {
			names = append(names, s.Text+" "+s.Colour)
		}
	}
	if diff := cmp.Diff([]string{"clang+LTO --lto", "gcc --gcc"}, names); diff != "" {
		t.Error(diff)
	}
	table := p.Charts[0].Tables[0]
	if diff := cmp.Diff([]string{"clang+LTO", "gcc"}, table.Lines); diff != "" {
		t.Error(diff)
	}
	if c := table.Rows[0].Cells[0]; c.Value != compare.Missing || c.Relative != "" {
		t.Errorf("what was not measured is no figure: %+v", c)
	}
	if c := table.Rows[1].Cells[0]; c.Relative != "1.09" {
		t.Errorf("divided by gcc's: %+v", c)
	}
	if got := field(t, p.Bar, "Base").Value; got != "gcc 9.0.0" {
		t.Errorf("base %q", got)
	}
	if len(p.Lead) > 0 {
		t.Errorf("no sentence counts steps of several lines: %q", plain(p.Lead))
	}
}

func TestToolbarLinksKeepTheRest(t *testing.T) {
	t.Parallel()
	all := []bench.Series{
		series(t, "qps", at("fillseq"), "7.0.4 90", "8.0.0 100", "8.1.0 100"), series(t, "p99", at("fillseq"), "8.0.0 5"),
		series(t, "qps", at("fillseq", func(c *bench.Coordinate) { c.Workload = "iodir" }), "8.0.0 100"),
		series(t, "qps", at("readrandom", onServer("arm"), byCompiler("clang")), "9.0.0 100"),
	}
	p := mustBuild(t, "server=c2&step=fillseq&base=8.0.0&unknown=1", all...)
	if got := link(t, field(t, p.Bar, "Workload"), "iodir"); got != "/charts?server=c2&workload=iodir&step=fillseq&base=8.0.0&unknown=1" {
		t.Errorf("workload: %s", got)
	}
	if got := link(t, field(t, p.Bar, "Server"), "arm"); got != "/charts?server=arm&unknown=1" {
		t.Errorf("another server has other steps and versions: %s", got)
	}
	for _, c := range field(t, p.Bar, "Server").Menu[0].Choices {
		if c.Name == "arm" && c.Toggle != "/charts?server=arm&server=c2&step=fillseq&base=8.0.0&unknown=1" {
			t.Errorf("added to what is shown: %s", c.Toggle)
		}
		if c.Name == "c2" && c.Toggle != "" {
			t.Errorf("the last one cannot be taken away: %s", c.Toggle)
		}
	}
	if got := link(t, field(t, p.Bar, "Metric"), "p99"); got != "/charts?server=c2&step=fillseq&metric=p99&base=8.0.0&unknown=1" {
		t.Errorf("metric: %s", got)
	}
	if got := link(t, field(t, p.Bar, "Base"), "7.0.4"); got != "/charts?server=c2&step=fillseq&unknown=1" {
		t.Errorf("the oldest version is the base of an address without one: %s", got)
	}
	var presets []string
	for _, l := range p.Bar.Versions.Links {
		presets = append(presets, fmt.Sprintf("%s %v %s", l.Text, l.Current, l.Href))
	}
	want := []string{
		"7.x false /charts?server=c2&step=fillseq&base=8.0.0&from=7.0.4&to=7.0.4&unknown=1",
		"8.x false /charts?server=c2&step=fillseq&base=8.0.0&from=8.0.0&to=8.1.0&unknown=1",
		"all true /charts?server=c2&step=fillseq&base=8.0.0&unknown=1",
	}
	if diff := cmp.Diff(want, presets); diff != "" {
		t.Error(diff)
	}
	if want := "/charts?system=rocksdb&suite=db_bench&server=c2&workload=cached&clients=8&step=fillseq&compiler=gcc&config=&base=8.0.0&unknown=1"; p.Bar.Copy != want {
		t.Errorf("a link to keep spells everything out: %s", p.Bar.Copy)
	}
}

func TestRangeCutsAfterDividing(t *testing.T) {
	t.Parallel()
	p := mustBuild(t, "from=8.0.0&to=8.9.0&base=7.0.4", series(t, "qps", at("fillseq"), repeats("7.0.4", 200), "8.0.0 100", "8.1.0 110", "9.0.0 1"))
	var got []string
	for _, r := range p.Charts[0].Tables[0].Rows {
		got = append(got, r.Version+" "+r.Cells[0].Relative)
	}
	if diff := cmp.Diff([]string{"8.0.0 0.50", "8.1.0 0.55"}, got); diff != "" {
		t.Error(diff)
	}
	last := p.Bar.Versions.Links[len(p.Bar.Versions.Links)-1]
	if last.Text != "8.0.0 to 8.9.0" || !last.Current {
		t.Errorf("a range that no preset has is shown: %+v", last)
	}
}

func TestWorstFirst(t *testing.T) {
	t.Parallel()
	all := []bench.Series{
		series(t, "p99", at("fillseq"), "8.0.0 10", "9.0.0 9"), series(t, "p99", at("readrandom"), "8.0.0 10", "9.0.0 20"),
		series(t, "p99", at("fwdrange"), "8.0.0 10", "9.0.0 11"),
	}
	p := mustBuild(t, "metric=p99&order=worst", all...)
	var got []string
	for _, c := range p.Charts {
		got = append(got, c.Group+c.Title)
	}
	if diff := cmp.Diff([]string{"readrandom", "fwdrange", "fillseq"}, got); diff != "" {
		t.Error("of a metric whose lower values are better, without group headings:", diff)
	}
}

func TestEmptyViewsSayWhatWasExpectedAndTheCommand(t *testing.T) {
	t.Parallel()
	p := mustBuild(t, "")
	if p.Empty == nil || p.Empty.Sentence != "No results yet." || !strings.Contains(p.Empty.Command, "http://host:8080/api/v1/uploads?filename=") {
		t.Errorf("%+v", p.Empty)
	}
	one := series(t, "qps", at("fillseq"), "8.0.0 1")
	p = mustBuild(t, "server=u9&step=fillseq", one)
	if p.Empty == nil || p.Empty.Sentence != "Nothing was measured for server u9, step fillseq." || p.Empty.Command == "" {
		t.Errorf("%+v", p.Empty)
	}
	p = mustBuild(t, "metric=p99", one)
	if p.Empty == nil || p.Empty.Sentence != "No p99 here." || len(p.Empty.Links) != 1 || p.Empty.Links[0].Href != "/charts" {
		t.Errorf("%+v", p.Empty)
	}
	p = mustBuild(t, "from=9.0.0", one)
	if p.Empty == nil || p.Empty.Links[1].Text != "All versions" {
		t.Errorf("%+v", p.Empty)
	}
}

func TestTooManyChartsAreCutWithAWord(t *testing.T) {
	t.Parallel()
	var all []bench.Series
	for i := range figuresMax + 3 {
		all = append(all, series(t, "qps", at(fmt.Sprintf("step%02d", i)), "8.0.0 1"))
	}
	p := mustBuild(t, "", all...)
	if len(p.Charts) != figuresMax || !strings.Contains(p.Remarks[0], "3 charts more are left out") {
		t.Errorf("%d charts, %q", len(p.Charts), p.Remarks)
	}
}

func TestTheScriptGetsTheView(t *testing.T) {
	t.Parallel()
	p := mustBuild(t, "base=v8.0.0&scale=fit", series(t, "qps", at("fillseq"), "8.0.0 1", "9.0.0 2"))
	raw, err := json.Marshal(p.View)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"versions":["8.0.0","9.0.0"],"majors":[{"at":0,"name":"8.x"},{"at":1,"name":"9.x"}],"metric":{"name":"qps","title":"QPS","unit":"1/s","direction":"higher"},` +
		`"base":{"version":"8.0.0","compiler":"","config":""},"autoBase":"8.0.0","fit":true,"large":false}`
	if string(raw) != want {
		t.Errorf("%s\nwant %s", raw, want)
	}
}

func TestMarkdownHoldsTheTables(t *testing.T) {
	t.Parallel()
	hostile := "a|b<img>*"
	p := mustBuild(t, "", series(t, "qps", at(hostile), repeats("8.0.0", 100), "9.0.0 50"))
	got := string(chartsText(p, "http://host/charts"))
	for _, want := range []string{
		"# RocksDB 8.0.0 to 9.0.0, c2, cached\n", "\nhttp://host/charts\n", `## a\|b&lt;img&gt;\*`,
		"| version | QPS | relative | 95 % |\n|:--|--:|--:|--:|\n", "| 8.0.0 | 100 | 1.00 | base |\n", "| 9.0.0 | 50 | 0.50 | ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestMixedBuildsAreNoRepeats(t *testing.T) {
	t.Parallel()
	s := series(t, "qps", at("fillseq"), "8.0.0 100 101", "8.1.0 100")
	s.Points[0].Samples[0].GitHash, s.Points[0].Samples[1].GitHash = "aaa", "bbb"
	p := mustBuild(t, "", s)
	if got := plain(p.Charts[0].Remarks[0].Parts); got != "samples of different builds, no repeats: 8.0.0" {
		t.Errorf("remark %q", got)
	}
}

func TestSamplesInTwoGroupsAreSaidUnderTheChart(t *testing.T) {
	t.Parallel()
	p := mustBuild(t, "", series(t, "qps", at("fillseq"), "8.0.0 1000 1500 1001 1501", "8.1.0 1000"))
	if got := plain(p.Charts[0].Remarks[0].Parts); got != "samples in two groups, the median says little: 8.0.0 (around 1000 and 1500)" {
		t.Errorf("remark %q", got)
	}
}

func TestStepLinksCarryTheView(t *testing.T) {
	t.Parallel()
	p := mustBuild(t, "base=8.0.0&scale=fit&at=9.0.0", series(t, "qps", at("a&b=c"), "8.0.0 1", "9.0.0 2"))
	u, err := url.Parse(p.Charts[0].Href)
	if err != nil {
		t.Fatal(err)
	}
	if q := u.Query(); q.Get("step") != "a&b=c" || q.Get("scale") != "fit" || q.Get("at") != "" {
		t.Errorf("%s", p.Charts[0].Href)
	}
}

// Thousands of versions are thousands of nightly builds: pages show the newest and
// say so, the rest stays a click away.
func TestOfThousandsOfVersionsTheNewestAreShown(t *testing.T) {
	t.Parallel()
	var points []string
	for i := range 5000 {
		points = append(points, fmt.Sprintf("%d.%d.%d %d", 1+i/1000, i/20%50, i%20, 100000+i%7*100))
	}
	h := newHandler(t, &fakeSource{series: []bench.Series{series(t, "qps", at("readrandom"), points...)}})
	sizes := map[string]int{}
	for _, path := range []string{"/charts", "/charts?step=readrandom", "/report/rocksdb", "/", "/runs", "/charts?all=1&step=readrandom", "/charts?from=1.0.0&to=1.2.19&step=readrandom"} {
		w := get(t, h, path)
		if w.Code != 200 {
			t.Fatalf("%s: status %d", path, w.Code)
		}
		sizes[path] = w.Body.Len()
	}
	for _, path := range []string{"/charts", "/charts?step=readrandom", "/report/rocksdb", "/", "/runs"} {
		if sizes[path] > 200_000 {
			t.Errorf("%s has %d bytes", path, sizes[path])
		}
	}
	d := page(t, h, "/charts?step=readrandom")
	if got := text(d, ".remarks"); !strings.Contains(d.Text(), "The newest 200 of 5,000 versions are shown") {
		t.Errorf("what is left out is not said: %q", got)
	}
	if n := d.Find(".bar a[href='/charts?system=rocksdb&step=readrandom&all=1']").Length() + d.Find(".bar a[href='/charts?step=readrandom&all=1']").Length(); n == 0 {
		t.Error("no way to all versions")
	}
	if n := page(t, h, "/charts?step=readrandom&all=1").Find("table.tw tbody tr").Length(); n != 5000 {
		t.Errorf("all versions are %d", n)
	}
	if n := page(t, h, "/charts?from=1.0.0&to=1.2.19&step=readrandom").Find("table.tw tbody tr").Length(); n != 60 {
		t.Errorf("a range has %d versions", n)
	}
}
