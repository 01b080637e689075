package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

func homeOf(series ...bench.Series) view.HomePage {
	return homeAsked(homeQuery{}, series...)
}

func homeAsked(q homeQuery, series ...bench.Series) view.HomePage {
	return newHomePage(homeInput{Query: q, System: "rocksdb", Systems: []string{"rocksdb"}, Series: series, Origin: "http://host"})
}

func TestHomeComparesTheNewestReleaseWithThePreviousAndTheOldest(t *testing.T) {
	t.Parallel()
	p := homeOf(
		series(t, "qps", at("fillseq"), repeats("9.0.0", 100), repeats("10.0.0", 120), repeats("10.1.0", 60)),
		series(t, "qps", at("readrandom"), repeats("9.0.0", 100), repeats("10.0.0", 100), repeats("10.1.0", 130)),
		series(t, "qps", at("readrandom", onServer("arm")), repeats("9.0.0", 100), repeats("9.1.0", 10)), // does not have 10.1.0
		series(t, "qps", at("revrange"), repeats("9.0.0", 100), repeats("10.1.0", 1)),                    // prepares
	)
	s := p.System
	if s.Heading != "RocksDB 10.1.0" {
		t.Errorf("heading %q", s.Heading)
	}
	if got := plain(s.Lead); got != "Against 10.0.0, 1 of 2 results are worse beyond noise and 1 better. Against 9.0.0, 1 of 2 results are worse beyond noise and 1 better." {
		t.Errorf("lead %q", got)
	}
	var meta []string
	for _, f := range s.Meta {
		meta = append(meta, plain(f.Parts))
	}
	if diff := cmp.Diff([]string{"measured on 1 of 2 servers: c2 (gcc; cached)", "arm is at 9.1.0", "2 results"}, meta); diff != "" {
		t.Error(diff)
	}
	want := []view.GroupRow{
		{Name: "load", Cells: []view.GroupCell{{Worse: "1", Undecided: "0", Better: "0", Range: "0.50–0.50"}, {Worse: "1", Undecided: "0", Better: "0", Range: "0.60–0.60"}}},
		{Name: "point read", Cells: []view.GroupCell{{Worse: "0", Undecided: "0", Better: "1", Range: "1.30–1.30"}, {Worse: "0", Undecided: "0", Better: "1", Range: "1.30–1.30"}}},
	}
	if diff := cmp.Diff(want, s.Groups); diff != "" {
		t.Error(diff)
	}
	if s.Movers[0].Step != "fillseq" || s.Movers[0].Ratio != "▼ 0.60" || s.Movers[1].Ratio != "▲ 1.30" || !strings.Contains(s.Movers[0].Interval, "–") {
		t.Errorf("movers %+v", s.Movers)
	}
	if s.Rows[1].Behind != "2 behind" || s.Rows[1].BehindTitle != "not measured here: 10.0.0, 10.1.0" {
		t.Errorf("row %+v", s.Rows[1])
	}
	if c := s.Rows[0].Cells[0]; c.Text != "0.50" || c.Class != "w4" || !strings.Contains(c.Href, "base=10.0.0") {
		t.Errorf("cell %+v", c)
	}
}

func TestHomeClaimsNothingWithoutAnInterval(t *testing.T) {
	t.Parallel()
	p := homeOf(series(t, "qps", at("fillseq"), "9.0.0 100", "10.0.0 50"))
	s := p.System
	if len(s.Movers) > 0 || s.Compared || len(s.Balances) > 0 || s.Rows[0].Cells[0].Class != "x" {
		t.Errorf("two single runs are called something: %+v", s)
	}
	if got := plain(s.Lead); !strings.Contains(got, "cannot be compared yet") {
		t.Errorf("lead %q", got)
	}
}

func TestHomeOfASingleVersionHasNothingToCompare(t *testing.T) {
	t.Parallel()
	p := homeOf(series(t, "qps", at("fillseq"), repeats("9.0.0", 100)))
	s := p.System
	if len(s.Rows) > 0 || len(s.Movers) > 0 || !strings.Contains(plain(s.Lead), "nothing else was measured") {
		t.Errorf("%+v", s)
	}
	if len(p.Measured) != 1 || p.Measured[0].Versions != "9.0.0" || p.Measured[0].Count != "1 version" {
		t.Errorf("measured %+v", p.Measured)
	}
}

func TestHomeLooksAtTheReleaseAndAgainstTheBaseThatWereAskedFor(t *testing.T) {
	t.Parallel()
	all := []bench.Series{
		series(t, "qps", at("fillseq"), repeats("8.0.0", 50), repeats("9.0.0", 100), repeats("10.0.0", 120), repeats("10.1.0", 60)),
		series(t, "qps", at("fillseq", onServer("arm")), repeats("8.0.0", 100), repeats("10.0.0", 110)), // does not have 9.0.0
	}
	p := homeAsked(homeQuery{Newest: "10.0.0", Base: "9.0.0"}, all...)
	if p.System.Heading != "RocksDB 10.0.0" || p.System.BaseHead != "base" {
		t.Errorf("%q against the %s", p.System.Heading, p.System.BaseHead)
	}
	rows := p.System.Rows
	if got := []string{rows[0].Name, rows[0].Cells[0].Text, rows[0].Cells[1].Text, rows[1].Name, rows[1].Cells[0].Text, rows[1].Cells[1].Text}; !slices.Equal(got, []string{"c2, cached", "1.20", "1.20", "arm, cached", "1.10", "—"}) {
		t.Errorf("%q", got)
	}
	if rows[1].Against != "8.0.0 · —" {
		t.Errorf("a row without the base is against %q", rows[1].Against)
	}
	one := homeAsked(homeQuery{Server: "arm"}, all...)
	if len(one.System.Rows) != 1 || one.System.Heading != "RocksDB 10.0.0" || len(one.Measured) != 1 {
		t.Errorf("one server: %+v", one.System)
	}
	none := homeAsked(homeQuery{Server: "nowhere"}, all...)
	if none.System != nil || none.Nothing == "" || none.Empty != nil {
		t.Errorf("an unknown server: %+v", none)
	}
}

func TestHomeShowsOneSystemAndLeadsToTheOthers(t *testing.T) {
	t.Parallel()
	my := func(config string) func(*bench.Coordinate) {
		return func(c *bench.Coordinate) {
			c.System, c.Suite, c.Server, c.Compiler, c.Config, c.Clients = "myrocks", "ibench", "bee", "", config, 1
		}
	}
	source := &fakeSource{series: []bench.Series{
		series(t, "qps", at("fillseq"), repeats("9.0.0", 100), repeats("10.0.0", 120)),
		series(t, "ips", at("l.i1", my("a0")), "8.0.28 100"), series(t, "ips", at("l.i1", my("a1")), "8.0.28 101"), series(t, "ips", at("l.i1", my("a2")), "8.0.28 99"),
		series(t, "ips", at("l.i1", my("a3")), "8.0.28 80"), series(t, "ips", at("l.i1", my("a10")), "8.0.28 80"),
	}}
	h := newHandler(t, source)
	d := page(t, h, "/")
	if got := text(d, "h1"); got != "RocksDB 10.0.0" {
		t.Errorf("the system with most samples stands first: %q", got)
	}
	if d.Find(".bar a[href='/?system=myrocks']").Length() != 1 {
		t.Error("no way to the other system")
	}
	d = page(t, h, "/?system=myrocks")
	if got := text(d, "h1"); got != "MyRocks 8.0.28" {
		t.Errorf("%q", got)
	}
	if got := text(d, ".lead"); got != "8.0.28 cannot be compared with another version here. Its 5 configs can be compared with each other." {
		t.Errorf("lead %q", got)
	}
	if n := d.Find(".lead a[href='/configs?system=myrocks']").Length(); n != 1 {
		t.Error("no way to the configs")
	}
	if n := d.Find(".sb, .gr, .mv").Length(); n != 0 {
		t.Errorf("%d tables of comparisons that were not made", n)
	}
	if got := text(d, "#measured tbody"); got != "bee, cached 5 configs, a0 … a108.0.28, 1 version8.0.28 1 version15—" {
		t.Errorf("measured %q", got)
	}
	if got := get(t, h, "/?system=none"); got.Code != 200 {
		t.Errorf("status %d", got.Code)
	}
	if got := get(t, h, "/?base=9.0.0&newest=8.0.0"); got.Code != 400 {
		t.Errorf("status %d", got.Code)
	}
}

func TestHomeNamesWhatIsMeasuredWhereAndTheLastImports(t *testing.T) {
	t.Parallel()
	source := &fakeSource{
		series:  []bench.Series{series(t, "qps", at("fillseq"), repeats("9.0.0", 100), "10.0.0 99")},
		uploads: []bench.UploadInfo{{ID: 7, Filename: "sum.txt", Format: "report.tsv", Results: 1234, Refused: 2, Created: time.Date(2026, 11, 30, 9, 5, 0, 0, time.UTC)}},
	}
	d := page(t, newHandler(t, source), "/")
	if got := text(d, "#measured tbody tr"); got != "c2, cached gcc9.0.0 to 10.0.0, 2 versions9.0.0 to 10.0.0 2 versions161.6 %" {
		t.Errorf("measured %q", got)
	}
	row := d.Find("a[href='/runs?upload=7']").Closest("tr")
	if got := squeeze(row.Text()); got != "sum.txtreport.tsv1,2342 files refused2026-11-30 09:05 UTC" {
		t.Errorf("import %q", got)
	}
}

func TestAnEmptyStoreShowsTheOneCommand(t *testing.T) {
	t.Parallel()
	d := page(t, newHandler(t, &fakeSource{}), "/")
	if got := text(d, ".lead"); got != "No results yet." {
		t.Errorf("%q", got)
	}
	if got := d.Find("pre").Text(); !strings.Contains(got, "http://example.com/api/v1/uploads?filename=report.tsv") {
		t.Errorf("%q", got)
	}
}

func TestCreditsSayOnceWhatTheyShare(t *testing.T) {
	t.Parallel()
	common, links := creditLinks([]Credit{{"me/tools, archive one", "https://a"}, {"me/tools, archive two", "https://b"}})
	if common != "me/tools, archive" || links[0].Text != "one" || links[1].Href != "https://b" {
		t.Errorf("%q %+v", common, links)
	}
	if common, links := creditLinks([]Credit{{"alpha", "https://a"}, {"beta", "https://b"}}); common != "" || len(links) != 2 {
		t.Errorf("%q %+v", common, links)
	}
	if common, links := creditLinks([]Credit{{"only one", "https://a"}}); common != "" || links[0].Text != "only one" {
		t.Errorf("%q %+v", common, links)
	}
}

func TestRunsAreListedFilteredAndPaged(t *testing.T) {
	t.Parallel()
	source := &fakeSource{
		series: []bench.Series{series(t, "qps", at("fillseq"), "8.8.0 1", "8.10.1 1")},
		runs: bench.RunPage{Next: "c2", Runs: []bench.RunSummary{
			{ID: 12, System: "rocksdb", Server: "c2", Workload: "cached", Clients: 8, Build: bench.Build{Version: "8.8.0", Compiler: "clang+lto"}, Started: bench.NewLocalTime(2023, 11, 9, 16, 54, 47), OK: 10, Failed: 1, NotRun: 2, Warned: 3},
			{ID: 13, System: "rocksdb", Server: "c2", State: bench.RecordActive, Failed: 1},
			{ID: 11, System: "rocksdb", Server: "c2", State: bench.RecordWithdrawn},
		}},
	}
	d := page(t, newHandler(t, source), "/runs?server=c2&cursor=c1")
	if diff := cmp.Diff(bench.RunFilter{Servers: []string{"c2"}, Limit: runsPerPage, Cursor: "c1"}, source.runWith[0]); diff != "" {
		t.Error(diff)
	}
	rows := d.Find("tbody tr")
	if got := squeeze(rows.First().Text()); got != "122023-11-09 16:54:478.8.0 RocksDBclang+LTOc2cached8101 failed, 2 not run 3 with warnings" {
		t.Errorf("row %q", got)
	}
	if got := squeeze(rows.Eq(1).Text()); got != "13undatedunknown RocksDB—c2—0failed" {
		t.Errorf("a run that failed says so: %q", got)
	}
	if got := squeeze(rows.Last().Text()); got != "11undatedunknown RocksDB—c2—0withdrawn" {
		t.Errorf("what is missing is said, never 0: %q", got)
	}
	var pager []string
	d.Find(".pager a").Each(func(_ int, s *goquery.Selection) { pager = append(pager, s.AttrOr("href", "")) })
	if diff := cmp.Diff([]string{"/runs?server=c2", "/runs?server=c2&cursor=c2"}, pager); diff != "" {
		t.Error(diff)
	}
	if got := text(d, ".pop.many"); !strings.Contains(got, "8.x") || strings.Index(got, "8.8.0") > strings.Index(got, "8.10.1") {
		t.Errorf("versions in their order: %q", got)
	}
}

func TestARunShowsAllThatIsKnown(t *testing.T) {
	t.Parallel()
	sync, n := false, 100.0
	d := page(t, newHandler(t, &fakeSource{run: map[int64]bench.RunDetail{5: {
		RunSummary:  bench.RunSummary{ID: 5, System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Clients: 8, Build: bench.Build{Version: "8.8.0", Compiler: "gcc", GitHash: "abc"}, Started: bench.NewLocalTime(2023, 11, 9, 16, 54, 47), Campaign: 3, OK: 1, Failed: 1, Assumed: []string{"compiler"}},
		Environment: map[string]string{"cpu_model": "Ryzen"}, Options: map[string]string{"cf.default.x": "1"},
		Results: []bench.StoredResult{
			{Result: bench.Result{
				Step: bench.Step{Name: "readrandom", Threads: 8, Sync: &sync, ValueBytes: 400}, State: bench.StateOK, Primary: "qps", Command: "db_bench --x",
				Values:     []bench.Value{{Metric: "qps", Number: 1234567, SourceName: "ops_sec"}, {Metric: "p99", Number: 12.5}},
				Warnings:   []bench.Message{{File: "report.tsv", Line: 3, Column: "mb_sec", Text: "shifted"}},
				Histograms: []bench.Histogram{{Operation: "read", Unit: "µs", Bounds: []float64{1, 2, 4}, Counts: []float64{75, 0, 25}, Count: &n}},
				TimeSeries: []bench.TimeSeries{{Name: "qps", Unit: "1/s", StepS: 1, Values: []float64{5, 7, 6}}},
			}, From: []bench.StoredSource{{UploadID: 9, File: "report.tsv", Line: 3}}},
			{Result: bench.Result{Step: bench.Step{Name: "fwdrange"}, State: bench.StateFailed, Reason: "killed by signal 9"}},
		},
		Uploads: []bench.UploadInfo{{ID: 9, Filename: "report.tsv", SHA256: "0123456789abcdef", Format: "report.tsv", Size: 12345, Actor: "token ci"}},
		History: []bench.RunChange{{Actor: "admin", Action: "corrected", Reason: "wrong folder", Before: map[string]string{"server": "c1"}, After: map[string]string{"server": "c2"}}},
	}}}), "/runs/5")
	if got := text(d, ".meta"); got != "run 5db_benchgcc8 clientsstarted 2023-11-09 16:54:47campaign 3 of c21 result1 failedassumed, not stated: compiler" {
		t.Errorf("meta %q", got)
	}
	rows := d.Find("table.met tbody tr")
	if got := squeeze(rows.First().Text()); got != "QPS ops_sec1/s ↑1,234,567—" {
		t.Errorf("a metric of a step that has it and of one that has not: %q", got)
	}
	first := d.Find("article.res").First()
	if got := squeeze(first.ChildrenFiltered("h3").Text()); got != "readrandom 1,234,567/s 8 threads values of 400 bytes sync off beside other runs read from report.tsv:3" {
		t.Errorf("step %q", got)
	}
	if got := squeeze(first.Find(".warn").Text()); got != "report.tsv:3: mb_sec: shifted" {
		t.Errorf("warning %q", got)
	}
	if got := squeeze(first.Find(".hist tbody").Text()); got != "0 to 17575.000 %75.000 %2 to 42525.000 %100.000 %" {
		t.Errorf("histogram %q", got)
	}
	if got := squeeze(first.Find("figure .remarks").Text()); got != "intervals 3missing 0least 5.00median 6.00most 7.00" {
		t.Errorf("series %q", got)
	}
	if got := first.Find("h3 a").First().AttrOr("href", ""); got != "/charts?system=rocksdb&suite=db_bench&server=c2&workload=cached&clients=8&step=readrandom&compiler=gcc&at=8.8.0" {
		t.Errorf("its chart: %s", got)
	}
	second := d.Find("article.res").Last()
	if got := squeeze(second.Text()); got != "fwdrange failed killed by signal 9" {
		t.Errorf("failed step %q", got)
	}
	file := d.Find("a[download][href='/api/v1/uploads/9/file']")
	if file.Length() < 1 {
		t.Error("the original file cannot be downloaded")
	}
	if got := text(d, "section:last-of-type tbody"); !strings.Contains(got, `corrected: server "c1" → "c2"wrong folder`) {
		t.Errorf("history %q", got)
	}
}

func TestAStepOfARunAlone(t *testing.T) {
	t.Parallel()
	values := make([]float64, 5000)
	for i := range values {
		values[i] = float64(i)
	}
	h := newHandler(t, &fakeSource{run: map[int64]bench.RunDetail{5: {RunSummary: bench.RunSummary{ID: 5, Suite: "db_bench"}, Results: []bench.StoredResult{
		{Result: bench.Result{Step: bench.Step{Name: "a"}, TimeSeries: []bench.TimeSeries{{Name: "qps", StepS: 1, Values: values}}}}, {Result: bench.Result{Step: bench.Step{Name: "b"}}},
	}}}})
	d := page(t, h, "/runs/5?step=a")
	if d.Find("article.res").Length() != 1 {
		t.Error("other steps are shown")
	}
	if got := text(d, "figure h3 .r"); got != "2,000 of 5,000 points: least and greatest of each stretch" {
		t.Errorf("the cap is stated: %q", got)
	}
	if w := get(t, h, "/runs/5?step=zzz"); w.Code != 404 {
		t.Errorf("status %d", w.Code)
	}
}

func TestTintsHaveFourStepsASide(t *testing.T) {
	t.Parallel()
	var got []string
	for _, newest := range []float64{80, 88, 94, 97.5, 102.5, 106, 112, 130} {
		p := homeOf(series(t, "qps", at("fillseq"), "9.0.0 100 100.1 99.9 100.05 99.95", fmt.Sprintf("10.0.0 %g %g", newest, newest)))
		got = append(got, p.System.Rows[0].Cells[1].Class)
	}
	if want := "w4 w3 w2 w1 b1 b2 b3 b4"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestFiguresOfARunAreShortAndWholeForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]view.Figure{
		0: {Text: "0"}, 1234567: {Text: "1,234,567"}, 0.067802734375: {Text: "0.0678027", Full: "0.067802734375"},
		50682.27412: {Text: "50,682.3", Full: "50,682.27412"}, 12.5: {Text: "12.5"}, -0.1234567891: {Text: "−0.123457", Full: "−0.1234567891"},
	} {
		if got := figure(v); got != want {
			t.Errorf("%v: %+v, want %+v", v, got, want)
		}
	}
}

func TestARunShowsTheFirstFigureOverTimeAndLinksTheOthers(t *testing.T) {
	t.Parallel()
	line := func(name string) bench.TimeSeries {
		return bench.TimeSeries{Name: name, StepS: 1, Values: []float64{1, 2}}
	}
	h := newHandler(t, &fakeSource{run: map[int64]bench.RunDetail{5: {RunSummary: bench.RunSummary{ID: 5}, Results: []bench.StoredResult{
		{Result: bench.Result{Step: bench.Step{Name: "a b"}, TimeSeries: []bench.TimeSeries{line("qps"), line("size"), {Name: "once", StepS: 1, Values: []float64{7}}}}},
	}}}})
	d := page(t, h, "/runs/5")
	if n := d.Find("[data-time]").Length(); n != 1 {
		t.Errorf("%d charts", n)
	}
	more := d.Find("a[href='/runs/5?step=a+b']")
	if squeeze(more.Text()) != "2 more figures over time" {
		t.Errorf("link %q", more.Text())
	}
	d = page(t, h, "/runs/5?step=a+b")
	if charts, figures := d.Find("[data-time]").Length(), d.Find("article figure").Length(); charts != 2 || figures != 3 {
		t.Errorf("a single value is told, not drawn: %d charts of %d figures", charts, figures)
	}
}
