package web

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// buildVersions are the versions of [buildsSource].
var buildVersions = []string{"8.0.0", "8.4.4", "8.8.1", "9.0.1", "9.4.1", "9.8.4", "10.0.1", "10.4.2"}

// buildFigure is what a build of [buildsSource] does: in fillseq clang is 4 % ahead
// until 9.x and 20 % in 10.x, readrandom loses a tenth at 9.0.1 with every compiler
// and another with gcc alone at 9.8.4, fwdrange is the same everywhere.
func buildFigure(compiler, step string, i int) float64 {
	switch step {
	case "fillseq":
		switch {
		case compiler == "clang" && i >= 6:
			return 1.2 * 100_000
		case compiler == "clang":
			return 1.04 * 100_000
		}
		return 100_000
	case "readrandom":
		v := 50_000.0
		if i >= 3 {
			v *= 0.9
		}
		if i >= 5 && compiler == "gcc" {
			v *= 0.9
		}
		return v
	}
	return 40_000
}

// buildsSource holds three steps at eight versions, three runs each within a tenth
// of a per cent, built by three compilers on the server arm; c2 has gcc only.
func buildsSource(t testing.TB) *fakeSource {
	f := &fakeSource{}
	id := int64(0)
	add := func(server, compiler string, scale float64) {
		for _, step := range []string{"fillseq", "readrandom", "fwdrange"} {
			var words []string
			for i, v := range buildVersions {
				n := scale * buildFigure(compiler, step, i)
				words = append(words, fmt.Sprintf("%s %.0f %.0f %.0f", v, n*0.999, n, n*1.001))
			}
			s := series(t, "qps", at(step, onServer(server), byCompiler(compiler)), words...)
			id++
			s.ID = id
			f.series = append(f.series, s)
		}
	}
	for _, c := range []string{"clang", "clang+lto", "gcc"} {
		add("arm", c, 1)
	}
	add("c2", "gcc", 2)
	here := func(compiler, step string, series int64) func(*bench.Change) {
		return func(c *bench.Change) {
			c.Server, c.Workload, c.Compiler, c.Step, c.SeriesID = "arm", "cached", compiler, step, series
		}
	}
	f.changes = []bench.Change{
		sampleChange(1, here("clang", "readrandom", 2), between("8.8.1", "9.0.1", 0.9)),
		sampleChange(2, here("clang+lto", "readrandom", 5), between("8.8.1", "9.0.1", 0.9)),
		sampleChange(3, here("gcc", "readrandom", 8), between("8.8.1", "9.0.1", 0.9)),
		sampleChange(4, here("gcc", "readrandom", 8), between("9.4.1", "9.8.4", 0.9)),
	}
	for i, compiler := range []string{"gcc", "clang", "clang+lto"} {
		for _, v := range buildVersions {
			f.runs.Runs = append(f.runs.Runs, bench.RunSummary{Build: bench.Build{
				Version: v, Compiler: compiler, CompilerVersion: []string{"13.3.0", "18.3.1", "18.3.1"}[i],
				Command: []string{"make -j static_lib", "CC=clang make -j static_lib", "CC=clang make -j USE_LTO=1 static_lib"}[i],
			}})
		}
	}
	return f
}

// unmeasured takes the points of some versions away from series of a compiler.
func unmeasured(f *fakeSource, compiler string, versions ...string) {
	for i := range f.series {
		s := &f.series[i]
		if s.Server != "arm" || s.Compiler != compiler {
			continue
		}
		var left []bench.Point
		for _, p := range s.Points {
			gone := false
			for _, v := range versions {
				gone = gone || p.Version == v
			}
			if !gone {
				left = append(left, p)
			}
		}
		s.Points = left
	}
}

// rowTexts gives the rows of a table, cells joined by a space; gaps between steps
// are left out.
func rowTexts(d *goquery.Document, selector string) []string {
	var out []string
	d.Find(selector).Each(func(_ int, tr *goquery.Selection) {
		var cells []string
		tr.Find("th, td:not(.gap)").Each(func(_ int, c *goquery.Selection) { cells = append(cells, squeeze(c.Text())) })
		out = append(out, strings.Join(cells, " | "))
	})
	return out
}

func TestBuildsAreComparedWhereSeveralCompilersWere(t *testing.T) {
	t.Parallel()
	h := newHandler(t, buildsSource(t))
	d := page(t, h, "/compilers")
	if got := text(d, "h1"); got != "RocksDB 8.0.0 to 10.4.2 built by gcc, clang and clang+LTO" {
		t.Errorf("%q", got)
	}
	if got := text(d, ".meta"); !strings.HasPrefix(got, "server arm, cached, 8 clients8 versions, 3 stepsQPS, higher is better ↑n = 3 per point") {
		t.Errorf("%q", got)
	}
	want := "At 10.4.2, clang is ahead of gcc in fillseq by 20\u2009% and in readrandom by 11\u2009%, undecided in 1 of 3 steps; " +
		"clang+LTO is ahead of gcc in readrandom by 11\u2009%, undecided in 2 of 3 steps. " +
		"The gap between clang and gcc in fillseq grew from 4.0\u2009% in 8.x to 20\u2009% in 10.x. " +
		"What changed at 9.0.1 (readrandom) moved alike whatever the compiler: that is the code, not the compiler. " +
		"Seen with one compiler only: gcc in readrandom at 9.8.4: look at the compiler, or at noise."
	if got := strings.Join(strings.Fields(d.Find("#lead").Text()), " "); got != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%s", cmp.Diff(want, got))
	}
	if d.Find(`#lead a[href="/changes/4"]`).Length() != 1 || d.Find(`#lead a[href="/versions/rocksdb/9.0.1"]`).Length() != 1 {
		t.Error("the lead links neither change nor version")
	}
	if got := text(d, ".f.base b"); got != "gcc 8.0.0" {
		t.Errorf("base %q", got)
	}
	var heads []string
	d.Find(".cmpt:not(.side) thead th:not(.gap)").Each(func(_ int, s *goquery.Selection) { heads = append(heads, squeeze(s.Text())) })
	if diff := cmp.Diff([]string{"version", "fillseqfillseq", "readrandomreadrandom", "fwdrangefwdrange", "gcc QPS", "clang", "+LTO", "gcc QPS", "clang", "+LTO", "gcc QPS", "clang", "+LTO"}, heads); diff != "" {
		t.Error(diff)
	}
	rows := rowTexts(d, ".cmpt:not(.side) tbody tr")
	if len(rows) != 8 || rows[0] != "8.0.0 | 100 K | 1.04 | 1.00 | 50.0 K | 1.00 | 1.00 | 40.0 K | 1.00 | 1.00" || rows[7] != "10.4.2 | 100 K | 1.20 | 1.00 | 40.5 K | 1.11 | 1.11 | 40.0 K | 1.00 | 1.00" {
		t.Errorf("%s", strings.Join(rows, "\n"))
	}
	// Tints say what is beyond noise, titles how sure that is, and links where it is drawn.
	cell := d.Find(".cmpt:not(.side) tbody tr:last-child td").Eq(1)
	if !cell.HasClass("b4") || cell.Next().AttrOr("class", "") != "u" {
		t.Errorf("classes %q and %q", cell.AttrOr("class", ""), cell.Next().AttrOr("class", ""))
	}
	a := cell.Find("a")
	if got := a.AttrOr("title", ""); !strings.HasPrefix(got, "fillseq 10.4.2: clang / gcc 1.200 (1.19") || !strings.HasSuffix(got, "), 120,000/s, n = 3") {
		t.Errorf("%q", got)
	}
	if u, err := url.Parse(a.AttrOr("href", "")); err != nil || u.Path != "/charts" || u.Query().Get("at") != "10.4.2" || len(u.Query()["compiler"]) != 3 || u.Query().Get("base_compiler") != "gcc" {
		t.Errorf("%q", a.AttrOr("href", ""))
	} else if w := get(t, h, u.RequestURI()); w.Code != http.StatusOK || parse(t, w.Body.String()).Find("[data-chart]").Length() != 1 {
		t.Errorf("%s leads nowhere", u)
	}
	// Steady builds.
	if diff := cmp.Diff([]string{"step | gcc | clang | clang+LTO"}, rowTexts(d, "#steady thead tr")); diff != "" {
		t.Error(diff)
	}
	steady := rowTexts(d, "#steady tbody tr")
	if len(steady) != 3 || !strings.HasPrefix(steady[0], "fillseq | 0.1 %") || text(d, "#steady p") != "From repeats of the same versions. 8 versions, 3 runs each." {
		t.Errorf("%q %q", steady, text(d, "#steady p"))
	}
	if diff := cmp.Diff([]string{"gcc | 8 | gcc 13.3.0 | none of its own", "clang | 8 | clang 18.3.1 | CC=clang", "clang+LTO | 8 | clang 18.3.1 | CC=clang USE_LTO=1"}, rowTexts(d, "#builds tbody tr")); diff != "" {
		t.Error(diff)
	}
	if got := d.Find("#builds pre").Length(); got != 3 {
		t.Errorf("%d command lines", got)
	}
	if got := text(d, "#elsewhere p"); got != "c2 has gcc only (8.0.0 to 10.4.2): no compiler comparison possible there." {
		t.Errorf("%q", got)
	}
}

func TestOfSeveralServersTheOneThatCanBeComparedIsShown(t *testing.T) {
	t.Parallel()
	source := buildsSource(t)
	for i := range source.series {
		if source.series[i].Server == "c2" { // what was run elsewhere need not have been run alike
			source.series[i].Clients = 1
		}
	}
	h := newHandler(t, source)
	for _, query := range []string{"server=c2&server=arm", "server=arm&server=c2"} {
		if got := text(page(t, h, "/compilers?system=rocksdb&"+query), ".meta"); !strings.HasPrefix(got, "server arm, cached, 8 clients") {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// figureBlock is what the script reads of a chart.
type figureBlock struct {
	Step   string `json:"step"`
	Option struct {
		Series []struct {
			Name string     `json:"name"`
			Data []*float64 `json:"data"`
		} `json:"series"`
	} `json:"option"`
	Lines []struct {
		Name, Compiler string
		Style          struct{ Colour, Marker string }
	} `json:"lines"`
}

func readBlock(t *testing.T, d *goquery.Document, id string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(d.Find("script#"+id).Text()), into); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
}

// Builds of one version share a place on the axis, also where one of them spells or
// lacks it: what was not measured is a gap, never 0.
func TestBuildsOfOneVersionShareAPlace(t *testing.T) {
	t.Parallel()
	source := buildsSource(t)
	unmeasured(source, "clang+lto", "8.4.4", "9.8.4", "10.4.2")
	unmeasured(source, "gcc", "9.0.1")
	d := page(t, newHandler(t, source), "/compilers")
	var v struct {
		Versions []string `json:"versions"`
		Common   bool     `json:"common"`
		Served   bool     `json:"served"`
	}
	readBlock(t, d, "view", &v)
	if diff := cmp.Diff(buildVersions, v.Versions); diff != "" || !v.Common || !v.Served {
		t.Errorf("%s %+v", diff, v)
	}
	var f figureBlock
	readBlock(t, d, "c1", &f)
	if f.Step != "readrandom" || len(f.Lines) != 3 || len(f.Option.Series) != 3 {
		t.Fatalf("%+v", f)
	}
	for k, l := range f.Lines {
		if want := []string{"gcc", "clang", "clang+lto"}[k]; l.Compiler != want || l.Style.Colour != []string{"--gcc", "--clang", "--lto"}[k] {
			t.Errorf("line %d: %+v", k, l)
		}
		if len(f.Option.Series[k].Data) != len(buildVersions) {
			t.Fatalf("%s has %d places", l.Name, len(f.Option.Series[k].Data))
		}
		for i, version := range buildVersions {
			gone := l.Compiler == "clang+lto" && (i == 1 || i == 5 || i == 7) || l.Compiler == "gcc" && i == 3
			got := f.Option.Series[k].Data[i]
			if gone != (got == nil) {
				t.Errorf("%s at %s: %v", l.Name, version, got)
			} else if got != nil && *got != buildFigure(l.Compiler, "readrandom", i) {
				t.Errorf("%s at %s: %g", l.Name, version, *got)
			}
		}
	}
	rows := rowTexts(d, ".cmpt:not(.side) tbody tr")
	if rows[1] != "8.4.4 | 100 K | 1.04 | — | 50.0 K | 1.00 | — | 40.0 K | 1.00 | —" || rows[3] != "9.0.1 | — | — | — | — | — | — | — | — | —" {
		t.Errorf("%q %q", rows[1], rows[3])
	}
	cells := d.Find(".cmpt:not(.side) tbody tr").Eq(3).Find("td")
	if got := cells.Eq(0).AttrOr("title", ""); got != "fillseq: 9.0.1 was not measured with gcc" {
		t.Errorf("%q", got)
	}
	if got := cells.Eq(1).AttrOr("title", ""); got != "fillseq 9.0.1, clang: 104,000/s; nothing to divide by, it was not measured with gcc" {
		t.Errorf("%q", got)
	}
	if got := d.Find("#against").Text(); !strings.Contains(got, "Not measured with gcc: 9.0.1.") || !strings.Contains(got, "Not measured with clang+LTO: 8.4.4, 9.8.4 and 10.4.2.") {
		t.Error("gaps are not said in words")
	}
	d.Find(".cmpt td, .tw td").Each(func(_ int, s *goquery.Selection) {
		if x, err := strconv.ParseFloat(squeeze(s.Text()), 64); err == nil && x == 0 {
			t.Errorf("a gap is 0")
		}
	})
	// clang+LTO lacks the newest version: the others are told at it.
	if got := text(d, "#lead"); !strings.HasPrefix(got, "At 10.4.2, clang is ahead of gcc in fillseq") || strings.Contains(got, "clang+LTO is ahead") {
		t.Errorf("%q", got)
	}
}

func TestTheNewestVersionOfOneCompilerIsNotCompared(t *testing.T) {
	t.Parallel()
	source := buildsSource(t)
	unmeasured(source, "gcc", "10.4.2")
	if got := text(page(t, newHandler(t, source), "/compilers"), "#lead"); !strings.HasPrefix(got, "At 10.0.1, the newest version that gcc and another compiler have, clang is ahead") {
		t.Errorf("%q", got)
	}
	// No version in common at all.
	unmeasured(source, "gcc", buildVersions[4:]...)
	unmeasured(source, "clang", buildVersions[:4]...)
	unmeasured(source, "clang+lto", buildVersions[:4]...)
	d := page(t, newHandler(t, source), "/compilers")
	if got := text(d, "#lead"); !strings.HasPrefix(got, "No version was measured with both gcc and another compiler") {
		t.Errorf("%q", got)
	}
	if n := d.Find("[data-chart]").Length(); n != 3 {
		t.Errorf("%d charts", n)
	}
}

func TestTheBaseIsOneBuildOrThatOfEveryVersion(t *testing.T) {
	t.Parallel()
	h := newHandler(t, buildsSource(t))
	for _, x := range []struct{ query, chip, what, one string }{
		{"", "gcc 8.0.0", "QPS / QPS of gcc 8.0.0, same scale in every chart", "1.00 = gcc 8.0.0, 100 K/s"},
		{"?base_compiler=gcc", "gcc at each version", "QPS / QPS of gcc at each version, same scale in every chart", "1.00 = gcc at each version"},
		{"?base=9.0.1", "gcc 9.0.1", "QPS / QPS of gcc 9.0.1, same scale in every chart", "1.00 = gcc 9.0.1, 100 K/s"},
		{"?base=9.0.1&base_compiler=clang", "clang 9.0.1", "QPS / QPS of clang 9.0.1, same scale in every chart", "1.00 = clang 9.0.1, 104 K/s"},
	} {
		d := page(t, h, "/compilers"+x.query)
		if got := text(d, ".f.base b"); got != x.chip {
			t.Errorf("%s: chip %q", x.query, got)
		}
		if got := text(d, "#lines .what"); got != x.what {
			t.Errorf("%s: %q", x.query, got)
		}
		if got := text(d, "[data-read-out]"); got != strings.Join(strings.Fields(x.one), " ") {
			t.Errorf("%s: %q", x.query, got)
		}
		// The switch leads from one to the other and back.
		links := d.Find("#lines .seg a")
		if links.Length() != 2 || d.Find("#lines .seg a[aria-current]").Length() != 1 {
			t.Fatalf("%s: %d links", x.query, links.Length())
		}
		other := page(t, h, links.Eq(1).AttrOr("href", ""))
		if got := text(other, "#lines .seg a[aria-current]"); !strings.HasSuffix(got, "of the same version") {
			t.Errorf("%s: %q", x.query, got)
		}
	}
	// Of another compiler the table tells the other way round.
	d := page(t, h, "/compilers?base_compiler=clang")
	if got := rowTexts(d, ".cmpt:not(.side) tbody tr")[7]; !strings.HasPrefix(got, "10.4.2 | 120 K | 0.83 | 0.83") {
		t.Errorf("%q", got)
	}
	if got := text(d, "#against h2"); got != "Against clang of the same version" {
		t.Errorf("%q", got)
	}
	// A range of versions keeps the base that lies outside of it.
	d = page(t, h, "/compilers?from=9.0.1&to=9.8.4&base=8.0.0")
	if got := len(rowTexts(d, ".cmpt:not(.side) tbody tr")); got != 3 || text(d, ".f.base b") != "gcc 8.0.0" {
		t.Errorf("%d rows", got)
	}
}

func TestPlacesWithOneCompilerSaySo(t *testing.T) {
	t.Parallel()
	h := newHandler(t, buildsSource(t))
	d := page(t, h, "/compilers?server=c2")
	if got := text(d, ".empty .lead"); got != "c2, cached was measured with gcc only: there is no other build to compare it with." {
		t.Errorf("%q", got)
	}
	if got := text(d, ".empty pre"); !strings.Contains(got, "compiler=clang") {
		t.Errorf("%q", got)
	}
	link := d.Find(".empty .links a").First()
	if squeeze(link.Text()) != "RocksDB, arm, cached: gcc, clang and clang+LTO" {
		t.Errorf("%q", link.Text())
	}
	if got := text(page(t, h, link.AttrOr("href", "")), "h1"); got != "RocksDB 8.0.0 to 10.4.2 built by gcc, clang and clang+LTO" {
		t.Errorf("%q", got)
	}
	// One build of a place with several.
	if got := text(page(t, h, "/compilers?compiler=gcc"), ".empty .lead"); got != "arm, cached was measured with gcc only: there is no other build to compare it with." {
		t.Errorf("%q", got)
	}
	d = page(t, h, "/compilers?server=nowhere")
	if got := text(d, ".empty .lead"); got != "Nothing was measured for server nowhere." || d.Find(".empty .links a[href^='/compilers?']").Length() != 1 {
		t.Errorf("%q", got)
	}
	if got := text(page(t, h, "/compilers?metric=p99"), ".empty .lead"); got != "No p99 here." {
		t.Errorf("%q", got)
	}
	if got := text(page(t, newHandler(t, &fakeSource{}), "/compilers"), ".empty .lead"); got != "No results yet." {
		t.Errorf("%q", got)
	}
	for target, want := range map[string]int{"/compilers?metric=nonsense": 400, "/compilers?format=xml": 400, "/compilers?server=c2&format=csv": 404, "/compilers?server=nowhere&format=md": 404} {
		if w := get(t, h, target); w.Code != want {
			t.Errorf("%s: status %d, want %d", target, w.Code, want)
		}
	}
}

func TestServersWithSeveralCompilersStandSideBySide(t *testing.T) {
	t.Parallel()
	source := buildsSource(t)
	for _, x := range []struct {
		compiler string
		qps      string
	}{{"gcc", "9.0.1 2000 2000 2001"}, {"clang", "9.0.1 3000 3000 3001"}} {
		source.series = append(source.series, series(t, "qps", at("fillseq", onServer("big"), byCompiler(x.compiler)), x.qps))
	}
	d := page(t, newHandler(t, source), "/compilers?server=arm")
	var heads []string
	d.Find(".side thead th:not(.gap)").Each(func(_ int, s *goquery.Selection) { heads = append(heads, squeeze(s.Text())) })
	if diff := cmp.Diff([]string{"step", "arm 10.4.2", "big 9.0.1", "clang", "clang+LTO", "clang"}, heads); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"fillseqfillseq | 1.20 | 1.00 | 1.50", "readrandomreadrandom | 1.11 | 1.11 | —", "fwdrangefwdrange | 1.00 | 1.00 | —"}, rowTexts(d, ".side tbody tr")); diff != "" {
		t.Error(diff)
	}
	link := d.Find(".side thead a")
	if got := text(page(t, newHandler(t, source), link.AttrOr("href", "")), "h1"); got != "RocksDB 9.0.1 built by gcc and clang" {
		t.Errorf("%s: %q", link.AttrOr("href", ""), got)
	}
}

func TestChangesSayWhichCompilersSawThem(t *testing.T) {
	t.Parallel()
	source := buildsSource(t)
	source.run = map[int64]bench.RunDetail{}
	for i := range int64(1000) {
		source.run[i] = bench.RunDetail{}
	}
	h := newHandler(t, source)
	for id, want := range map[int]string{1: "the same with gcc, clang and clang+LTO: the code", 4: "seen with gcc only"} {
		d := page(t, h, fmt.Sprintf("/changes/%d", id))
		found := ""
		d.Find("dl.kv dt").Each(func(_ int, s *goquery.Selection) {
			if squeeze(s.Text()) == "Code or compiler" {
				found = squeeze(s.Next().Text())
			}
		})
		if found != want+" see the builds" {
			t.Errorf("%d: %q", id, found)
		}
		href := d.Find(`dl.kv a[href^="/compilers?"]`).AttrOr("href", "")
		if got := text(page(t, h, href), "h1"); got != "RocksDB 8.0.0 to 10.4.2 built by gcc, clang and clang+LTO" {
			t.Errorf("%s: %q", href, got)
		}
	}
	// What all changes of a cause share stands in its heading.
	d := page(t, h, "/changes")
	if got := text(d, "tr.cause"); !strings.HasSuffix(got, "the same with gcc, clang and clang+LTO: the code") {
		t.Errorf("%q", got)
	}
	for label, want := range map[string]int{"seen with gcc only": 1, "the same with gcc, clang and clang+LTO: the code": 1} {
		n := 0
		d.Find(".tag").Each(func(_ int, s *goquery.Selection) {
			if s.Text() == label {
				n++
				if !strings.HasPrefix(s.AttrOr("title", ""), "across the same versions, built by others: ") {
					t.Errorf("%q", s.AttrOr("title", ""))
				}
			}
		})
		if n != want {
			t.Errorf("%s: %d, want %d", label, n, want)
		}
	}
}

func TestComparisonsOfBuildsAsTextAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	source := buildsSource(t)
	unmeasured(source, "clang+lto", "8.4.4")
	h := newHandler(t, source)
	w := get(t, h, "/compilers?format=csv")
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Fatal(err)
	}
	if got := strings.Join(rows[0], ","); got != "system,suite,server,workload,config,clients,step,version,compiler,n,qps,base_compiler,base_qps,relative,relative_low,relative_high,verdict" {
		t.Errorf("%q", got)
	}
	if len(rows) != 1+3*(3*8-1) {
		t.Errorf("%d rows", len(rows))
	}
	found := false
	for _, r := range rows[1:] {
		relative, err := strconv.ParseFloat(r[13], 64)
		value, _ := strconv.ParseFloat(r[10], 64)
		base, _ := strconv.ParseFloat(r[12], 64)
		if err != nil || math.Abs(relative-value/base) > 1e-8*relative {
			t.Errorf("%q", r)
		}
		if r[6] == "fillseq" && r[7] == "10.4.2" && r[8] == "clang" {
			found = r[16] == "better" && r[10] == "120000" && r[12] == "100000"
		}
	}
	if !found {
		t.Error("no row of clang at 10.4.2")
	}
	md := get(t, h, "/compilers?format=md").Body.String()
	for _, want := range []string{
		"# RocksDB 8.0.0 to 10.4.2 built by gcc, clang and clang+LTO", "| version | gcc QPS | clang | clang+LTO |", "| 8.4.4 | 100\u2009K | ▲ 1.04", "| — |",
		"Not measured with clang+LTO: 8.4.4.", "| clang+LTO | 7 | clang 18.3.1 | CC=clang USE\\_LTO=1 |", "that is the code, not the compiler",
	} {
		if !strings.Contains(md, want) && !strings.Contains(md, strings.Replace(want, "| 7 |", "| 8 |", 1)) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	// Section and export menu offer the same.
	d := page(t, h, "/compilers?server=arm")
	for _, s := range []string{"#against .end a[href='/compilers?server=arm&format=csv']", "#against [data-markdown='/compilers?server=arm&format=md']", ".bar a[href='/compilers?server=arm&format=md']", ".bar a[href^='/api/v1/compare/compilers?']"} {
		if d.Find(s).Length() != 1 {
			t.Errorf("no %s", s)
		}
	}
}

// What is frozen keeps its figures, texts and picture.
func TestFrozenComparisonsOfBuildsHaveTheirOwnText(t *testing.T) {
	t.Parallel()
	source := buildsSource(t)
	h := newHandler(t, source, withStore(newFakeStore(source)))
	md, table := get(t, h, "/compilers?format=md").Body.String(), get(t, h, "/compilers?format=csv").Body.String()
	if w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {"/compilers"}, "frozen": {"1"}}); w.Code != http.StatusCreated {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	live := source.series
	source.series = buildsSource(t).series[:6] // gcc on arm is gone
	d := page(t, h, "/s/8Kq2")
	if got := text(d, ".f.base b"); got != "gcc 8.0.0" || d.Find(".cmpt:not(.side) tbody tr").Length() != 8 {
		t.Errorf("%q", got)
	}
	if got := d.Find("#against .end a").First().AttrOr("href", ""); got != "/s/8Kq2?format=csv" {
		t.Errorf("%q", got)
	}
	for format, want := range map[string]string{"md": md, "csv": table} {
		if got := get(t, h, "/s/8Kq2?format="+format).Body.String(); got != want || len(got) < 100 {
			t.Errorf("%s: %s", format, cmp.Diff(want, got))
		}
	}
	if w := get(t, h, "/s/8Kq2?picture=preview"); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("status %d", w.Code)
	}
	source.series = live
}

func TestNamesThatMeanHarmAreTextWhereBuildsAreCompared(t *testing.T) {
	t.Parallel()
	for what, name := range hostileNames {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			source := hostileSource(t, name)
			other := source.series[0]
			other.Compiler, other.ID = "gcc", 2
			source.series = append(source.series, other)
			source.runs.Runs[0].Build.Compiler = bench.CompilerName(name)
			h := newHandler(t, source)
			d := page(t, h, "/compilers")
			if d.Find(".empty").Length() != 0 || d.Find(".cmpt tbody tr").Length() != 12 {
				t.Fatalf("%s", text(d, "main"))
			}
			if n := d.Find("img, [onerror], [onclick], script:not([src]):not([type='application/json'])").Length(); n > 0 {
				t.Errorf("%d elements made of a name", n)
			}
			for _, id := range []string{"view", "c0"} {
				if !json.Valid([]byte(d.Find("script#" + id).Text())) {
					t.Errorf("%s is no JSON", id)
				}
			}
			md := get(t, h, "/compilers?format=md").Body.String()
			table := get(t, h, "/compilers?format=csv").Body.String()
			if strings.Contains(md, "<img") || strings.Contains(md, "<script") || strings.Contains(table, "\n=") || strings.Contains(table, ",=") {
				t.Error("a name means something in a text")
			}
		})
	}
}
