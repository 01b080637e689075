package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func withConfig(name string) func(*bench.Coordinate) {
	return func(c *bench.Coordinate) { c.Config = name }
}

func withWorkload(name string) func(*bench.Coordinate) {
	return func(c *bench.Coordinate) { c.Workload = name }
}

// optionsOf makes a stored config of "key=value" words; a word in front of a colon
// is the layer.
func optionsOf(id int64, system, name string, layer bench.Layer, words ...string) bench.StoredConfig {
	c := bench.StoredConfig{ID: id, Settings: len(words), From: []bench.ConfigSource{{UploadID: 7, File: name + ".cnf", SourceName: name + "_file"}}}
	c.System, c.Name, c.SourceName, c.Layer, c.Kind = system, name, name+"_file", layer, bench.ConfigMyCnf
	for i, w := range words {
		key, value, _ := strings.Cut(w, "=")
		c.Options = append(c.Options, bench.Option{Key: key, Written: value, Value: value, Line: i + 1, Environment: key == "datadir"})
	}
	return c
}

// configSource has db_bench runs of three configs on two servers, at two versions,
// the last without x2, with repeats on c2.
func configSource(t testing.TB) *fakeSource {
	t.Helper()
	f := &fakeSource{}
	for i, x := range []struct{ config, now string }{{"base", "1000 1001 999 1000 1001 999"}, {"x1", "900 901 899 900 901 899"}, {"x10", "1000.5 1001 999.5 1000 1001 999"}} {
		s := series(t, "qps", at("readrandom", withConfig(x.config)), "8.5.0 "+x.now)
		for j := range s.Points[0].Samples {
			s.Points[0].Samples[j].RunID = int64(1000 + 10*i + j)
		}
		f.series = append(f.series, s)
	}
	f.series[0].Points = append(f.series[0].Points, series(t, "qps", at("readrandom"), "8.6.0 1000").Points...)
	// Others that are not chosen: without config, and of another server with fewer.
	f.series = append(f.series, series(t, "qps", at("readrandom"), "8.6.0 1"), series(t, "qps", at("readrandom", onServer("u5"), withConfig("base")), "8.5.0 100"),
		series(t, "qps", at("readrandom", onServer("u5"), withConfig("x1")), "8.5.0 90"))
	return f
}

func rowsOf(d *goquery.Document, selector string) []string {
	var out []string
	d.Find(selector + " tbody tr").Each(func(_ int, row *goquery.Selection) {
		var words []string
		row.Children().Each(func(_ int, c *goquery.Selection) {
			if w := squeeze(c.Text()); w != "" {
				words = append(words, w)
			}
		})
		out = append(out, strings.Join(words, "|"))
	})
	return out
}

func TestConfigsOfAnySystemAreComparedAtTheVersionThatHasMost(t *testing.T) {
	t.Parallel()
	h := newHandler(t, configSource(t))
	d := page(t, h, "/configs")
	if got := text(d, "h1"); got != "RocksDB 8.5.0, base, x1 and x10, db_bench" {
		t.Errorf("%q", got)
	}
	// Repeats tell the noise: a significant difference, and one that is none.
	if got := text(d, ".lead"); got != "base is good enough. No config beats it beyond noise in any step. One is worse, in readrandom: x1 ▼ 0.900." {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{"base no options stored|1.00", "x1 no options stored|0.90", "x10 no options stored|1.00", "base, per second|1000"}, rowsOf(d, "#matrix")); diff != "" {
		t.Error(diff)
	}
	var classes []string
	d.Find("#matrix tbody tr:not(.abs) td").Each(func(_ int, c *goquery.Selection) { classes = append(classes, c.AttrOr("class", "")) })
	if diff := cmp.Diff([]string{"isb", "w3", "u"}, classes); diff != "" {
		t.Error(diff)
	}
	effects := rowsOf(d, "#effects")
	if len(effects) != 2 || !strings.HasPrefix(effects[0], "x1|readrandom|cached|▼ 0.900|0.89") || !strings.Contains(effects[0], "n = 6") {
		t.Errorf("%q", effects)
	}
	if n := d.Find("#effects tr.grey").Length(); n != 1 {
		t.Errorf("%d grey rows", n)
	}
	// The version where only the base was measured can be chosen.
	d = page(t, h, "/configs?version=8.6.0")
	if got := text(d, ".lead"); got != "Only base was measured here. There is no other config to compare it with yet." {
		t.Errorf("%q", got)
	}
	var versions []string
	d.Find(".bar .f").Each(func(_ int, f *goquery.Selection) {
		if strings.HasPrefix(squeeze(f.Text()), "Version") {
			f.Find(".pop a").Each(func(_ int, a *goquery.Selection) { versions = append(versions, a.AttrOr("href", "")) })
		}
	})
	if diff := cmp.Diff([]string{"/configs?version=8.5.0", "/configs?version=8.6.0"}, versions); diff != "" {
		t.Error(diff)
	}
}

func TestServersAndWorkloadsStandSideBySide(t *testing.T) {
	t.Parallel()
	source := configSource(t)
	source.series = append(source.series, series(t, "qps", at("readrandom", withConfig("base"), withWorkload("io")), "8.5.0 10"), series(t, "qps", at("readrandom", withConfig("x1"), withWorkload("io")), "8.5.0 20"))
	h := newHandler(t, source)
	heads := func(target string) (out []string) {
		page(t, h, target).Find("#matrix .gh1").Each(func(_ int, c *goquery.Selection) { out = append(out, squeeze(c.Text())) })
		return out
	}
	if diff := cmp.Diff([]string{"cached: rate / rate of base", "IO-bound: rate / rate of base"}, heads("/configs")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"cached on c2: rate per second", "cached on u5: rate per second"}, heads("/configs?server=c2&server=u5&workload=cached&show=absolute")); diff != "" {
		t.Error(diff)
	}
	d := page(t, h, "/configs?workload=io")
	if got := text(d, ".lead"); got != "x1 is better than base in all steps of IO-bound. None is worse." {
		t.Errorf("%q", got)
	}
	if got := d.Find("#matrix td.b4").Length(); got != 1 {
		t.Errorf("%d", got)
	}
	// The other config as base, and a closer look at another place.
	d = page(t, h, "/configs?base=x1&detail=readrandom&detail_workload=io")
	if got := text(d, "#detail .places b"); got != "readrandom, IO-bound" {
		t.Errorf("%q", got)
	}
	if got := text(d, "#matrix tbody tr"); !strings.HasPrefix(got, "x1") {
		t.Errorf("%q", got)
	}
	// Every choice of the toolbar leads to a page with figures.
	d = page(t, h, "/configs?server=c2&workload=cached")
	d.Find(".bar .pop a, .seg a, #matrix a[href^='/configs?']").Each(func(_ int, a *goquery.Selection) {
		href, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
		if !strings.HasPrefix(href, "/configs") {
			return
		}
		if x := page(t, h, href); x.Find(".empty").Length() > 0 || x.Find("#matrix").Length() != 1 {
			t.Errorf("%s shows nothing", href)
		}
	})
}

func TestConfigsWithoutOptionsAndOptionsWithoutResults(t *testing.T) {
	t.Parallel()
	source := configSource(t)
	source.configs = []bench.StoredConfig{
		optionsOf(1, "rocksdb", "base", bench.LayerParsed, "cache_size=8G", "datadir=/a"), optionsOf(2, "rocksdb", "x1", bench.LayerParsed, "cache_size=6G", "datadir=/b"),
		optionsOf(3, "rocksdb", "new", bench.LayerParsed, "cache_size=9G"), optionsOf(4, "mysql", "a0", bench.LayerParsed, "k=1"), optionsOf(5, "mysql", "a1", bench.LayerParsed, "k=2", "l=1"),
	}
	h := newHandler(t, source)
	d := page(t, h, "/configs")
	if diff := cmp.Diff([]string{"base base|8G|1.00", "x1 cache size 6G|6G|0.90", "x10 no options stored|?|1.00", "base, per second|1000"}, rowsOf(d, "#matrix")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"base|base_file in base.cnf|2 options|not read back", "x1|x1_file in x1.cnf|2 options|not read back", "x10|upload its file|nothing stored|not read back"}, rowsOf(d, "#layers")); diff != "" {
		t.Error(diff)
	}
	if got := text(d, "#others li"); got != "new" {
		t.Errorf("%q", got)
	}
	if got := d.Find("#layers a[href^='/upload']").AttrOr("href", ""); got != "/upload?system=rocksdb&config=x10" {
		t.Errorf("%q", got)
	} else if form := page(t, h, got); form.Find("input[name=config]").AttrOr("value", "") != "x10" {
		t.Error("the form does not know which config it is for")
	}
	// Named beside measured ones.
	if diff := cmp.Diff([]string{"base base|8G|1.00", "new cache size 9G|9G", "base, per second|1000"}, rowsOf(page(t, h, "/configs?config=base&config=new"), "#matrix")); diff != "" {
		t.Error(diff)
	}
	// Of a system of which nothing was measured.
	d = page(t, h, "/configs?system=mysql")
	if diff := cmp.Diff([]string{"a0 base|1|–", "a1 l 1|2|1"}, rowsOf(d, "#matrix"), cmp.Transformer("dash", func(s string) string { return strings.ReplaceAll(s, "—", "–") })); diff != "" {
		t.Error(diff)
	}
	if got := text(d, ".lead"); got != "Nothing was measured with a0 and a1 here. What their files set is compared below." || d.Find("#effects, #detail, #memory").Length() != 0 {
		t.Errorf("%q", got)
	}
	// The config's own page, with options and without.
	d = page(t, h, "/configs/rocksdb/x1?base=base")
	if diff := cmp.Diff([]string{"1|cache_size|6G|6G|8G"}, rowsOf(d, ".optlist")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"2|datadir|/b|/b|/a"}, rowsOf(d, ".aside")); diff != "" {
		t.Error(diff)
	}
	if got := text(page(t, h, "/configs/rocksdb/x10"), ".empty .lead"); got != "No options are stored for x10." {
		t.Errorf("%q", got)
	}
	// Nothing at all, and nothing under what is asked for.
	if got := text(page(t, newHandler(t, &fakeSource{}), "/configs"), ".empty .lead"); got != "No configs yet." {
		t.Errorf("%q", got)
	}
	d = page(t, h, "/configs?system=nothing&server=s")
	if got := text(d, ".empty .lead"); got != "No config was measured for system nothing, server s." {
		t.Errorf("%q", got)
	}
}

func TestWhatAServerSaysStandsBesideWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	source := configSource(t)
	source.configs = []bench.StoredConfig{
		optionsOf(1, "rocksdb", "base", bench.LayerParsed, "cache_size=8589934592", "threads=4"), optionsOf(2, "rocksdb", "x1", bench.LayerParsed, "cache_size=8589934592", "threads=4", "bg=2"),
		optionsOf(3, "rocksdb", "base", bench.LayerEffective, "cache_size=4294967296", "bg=1"),
	}
	source.series = append(source.series, series(t, "rss_gb", at("readrandom", withConfig("base")), "8.5.0 9.5"), series(t, "rss_gb", at("readrandom", withConfig("x1")), "8.5.0 9.3"))
	h := newHandler(t, source)
	d := page(t, h, "/configs?config=base&config=x1")
	// The base does not set bg: the server's word stands in its place.
	if diff := cmp.Diff([]string{"base base|1|1.00", "x1 bg 2|2|0.90", "base, per second|1000"}, rowsOf(d, "#matrix")); diff != "" {
		t.Error(diff)
	}
	if got := rowsOf(d, "#layers")[0]; got != "base|base_file in base.cnf|2 options|2 options read back|cache_size: asked for 8589934592, got 42949672961 option that the server does not report" {
		t.Errorf("%q", got)
	}
	// What the server has counts, and the page says so.
	if diff := cmp.Diff([]string{"base|4G|9.5|+5.5|readrandom", "x1|8589934592|9.3|+1.3|readrandom"}, rowsOf(d, "#memory")); diff != "" {
		t.Error(diff)
	}
	if got := text(d, "#memory .remark"); got != "base: 4G as the server said; its file asks for 8589934592." {
		t.Errorf("%q", got)
	}
	d = page(t, h, "/configs/rocksdb/base")
	if got := rowsOf(d, "#set-1"); !slices.Equal(got, []string{"1|cache_size|8589934592|8589934592|4294967296", "2|threads|4|4|–"}) && !slices.Equal(got, []string{"1|cache_size|8589934592|8589934592|4294967296", "2|threads|4|4|—"}) {
		t.Errorf("%q", got)
	}
	if got := text(d, "#set-3 h2"); got != "base_file, read back from the server" {
		t.Errorf("%q", got)
	}
}

func TestManyOptionsHaveATableOfTheirOwn(t *testing.T) {
	t.Parallel()
	source := configSource(t)
	var a, b []string
	for i := range 20 {
		a, b = append(a, fmt.Sprintf("key_%02d=1", i)), append(b, fmt.Sprintf("key_%02d=2", i))
	}
	source.configs = []bench.StoredConfig{optionsOf(1, "rocksdb", "base", bench.LayerParsed, a...), optionsOf(2, "rocksdb", "x1", bench.LayerParsed, b...)}
	d := page(t, newHandler(t, source), "/configs")
	if n := d.Find("#matrix th.ok").Length(); n != 0 || len(rowsOf(d, "#options")) != 20 || rowsOf(d, "#options")[0] != "key_00|1|2" {
		t.Errorf("%d, %q", n, rowsOf(d, "#options"))
	}
}

func TestAddressesOfConfigsAreReadAndWrittenAlike(t *testing.T) {
	t.Parallel()
	full := "/configs?system=myrocks&suite=ibench&server=bee&server=u5&workload=io&step=l.i1&version=8.0.28&compiler=clang%2Blto&clients=4&config=a0&config=a3&base=a0&metric=rss_gb&show=absolute&detail=l.i1&detail_server=bee&detail_workload=io&later=1"
	_, raw, _ := strings.Cut(full, "?")
	q, err := parseConfigs(raw)
	if err != nil || q.String() != full {
		t.Errorf("%v\n%s\n%s", err, q, full)
	}
	if q, err = parseConfigs("show=relative&workload=byrx"); err != nil || q.String() != "/configs?workload=cached" {
		t.Errorf("%v %s", err, q)
	}
	h := newHandler(t, &fakeSource{})
	for _, bad := range []string{"metric=none", "clients=x", "show=both", "system=a&system=b"} {
		if w := get(t, h, "/configs?"+bad); w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", bad, w.Code)
		}
	}
}

func TestAFrozenPageOfConfigsKeepsItsFigures(t *testing.T) {
	t.Parallel()
	source := configSource(t)
	source.configs = []bench.StoredConfig{optionsOf(1, "rocksdb", "base", bench.LayerParsed, "k=1"), optionsOf(2, "rocksdb", "x1", bench.LayerParsed, "k=2")}
	h := newHandler(t, source, withStore(newFakeStore(source)))
	for _, target := range []string{"/configs?base=x1", "/configs/rocksdb/x1?base=base"} {
		before := get(t, h, target).Body.String()
		if w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {target}, "frozen": {"1"}}); w.Code != http.StatusCreated {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		later := configSource(t)
		for i := range later.series {
			later.series[i].Points[0].Samples[0].Value *= 2
		}
		was, had := source.series, source.configs
		source.series, source.configs = later.series, nil
		frozen := get(t, h, "/s/8Kq2")
		if diff := cmp.Diff(mainPart(t, before), mainPart(t, frozen.Body.String())); diff != "" || frozen.Code != http.StatusOK {
			t.Errorf("status %d: %s", frozen.Code, diff)
		}
		if get(t, h, target).Body.String() == before {
			t.Error("the live page shows the old figures")
		}
		source.series, source.configs = was, had
	}
}

func TestFormerNamesOfConfigsAreReadAsBaseToo(t *testing.T) {
	t.Parallel()
	source := configSource(t)
	store := newFakeStore(source)
	store.former = []bench.FormerName{{Kind: bench.NameConfig, Old: "eks1", New: "x1"}}
	h := newHandler(t, source, withStore(store))
	if got := text(page(t, h, "/configs?base=eks1"), ".f.base b"); got != "x1" {
		t.Errorf("%q", got)
	}
	// A base of the charts is a version, whatever a config was called.
	if got := page(t, h, "/charts?base=eks1&step=readrandom").Find("[data-copy]").AttrOr("href", ""); !strings.Contains(got, "base=eks1") {
		t.Errorf("%q", got)
	}
}

// What the pure parts make of odd input.
func TestWordsOfConfigs(t *testing.T) {
	t.Parallel()
	change := func(key, from, to string) bench.OptionChange {
		set := func(s string) bench.Setting {
			return bench.Setting{Set: s != "", Written: s, Value: strings.NewReplacer("8G", "8", "6G", "6").Replace(s)}
		}
		kind := bench.OptionChanged
		if from == "" {
			kind = bench.OptionAdded
		} else if to == "" {
			kind = bench.OptionRemoved
		}
		return bench.OptionChange{OptionName: bench.OptionName{Key: key}, Kind: kind, From: set(from), To: set(to)}
	}
	for _, x := range []struct {
		change bench.OptionChange
		one    bool
		want   string
	}{
		{change("rocksdb_block_cache_size", "8G", "6G"), false, "cut the block cache from 8G to 6G"}, {change("rocksdb_block_cache_size", "6G", "8G"), true, "raises the block cache from 6G to 8G"},
		{change("slow_query_log", "1", "0"), true, "changes slow_query_log from 1 to 0"}, {change("engine", "a", ""), false, "leave out engine"},
	} {
		if got := changeWords(x.change, x.one); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
	for want, list := range map[string][]bench.OptionChange{
		"level0 … 8 and 12": {change("cf.default.level0_slowdown_writes_trigger", "", "8"), change("cf.default.level0_stop_writes_trigger", "", "12")},
		"use hyper":         {change("rocksdb_use_hyper", "", "ON")}, "no engine": {change("engine", "a", "")},
		"one 1 and 1 more": {change("one", "", "1"), change("two", "", "2")},
	} {
		if got := noteText(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for us, want := range map[[2]float64]string{{4000, 16000}: "4–16 ms", {256, 1000}: "256 µs–1 ms", {1e6, 4e6}: "1–4 s"} {
		if got := timeRange(us[0], us[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, x := range [][3]string{{"33554432", "33554432", "32M"}, {"8G", "8589934592", "8G"}, {"100", "100", "100"}} {
		n, _ := bytesOf(bench.Setting{Set: true, Value: x[1]})
		if got := sizeText(x[0], n); got != x[2] {
			t.Errorf("%q, want %q", got, x[2])
		}
	}
	if got := signed(-0.04) + signed(2.44) + signed(-1.5); got != "+0.0+2.4−1.5" {
		t.Errorf("%q", got)
	}
	h := optionHead(bench.OptionName{Scope: "client", Key: "rocksdb_" + strings.Repeat("é", 40) + "_a.b"})
	if got := strings.Join(h.Parts, ""); got != "[client] "+strings.Repeat("é", 40)+"_a.b" || len(h.Parts) < 5 || slices.ContainsFunc(h.Parts, func(p string) bool { return len(p) > keyPartMax+1 }) {
		t.Errorf("%q", h.Parts)
	}
	if d := dumbbellPlot([]dumbbell{{a: 0, b: 0}}, tickText, 0); len(d.Rows) != 0 {
		t.Errorf("%+v", d)
	}
	d := dumbbellPlot([]dumbbell{{name: "x", a: 100, b: 10, aText: "a", bText: "b"}, {name: "y", b: 100}}, tickText, 0)
	if d.Rows[0].ABefore || d.Rows[1].A != "" || d.Rows[1].ALabel != "" || len(d.Ticks) < 2 {
		t.Errorf("%+v", d)
	}
}
