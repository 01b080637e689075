package web_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/sample"
	"github.com/relqps/relqps/web"
)

// only takes the sample files of one server.
type only struct {
	ingest.Ingester
	server string
}

func (o only) Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error) {
	if !strings.HasPrefix(u.Filename, "sample/"+o.server) {
		return bench.Receipt{}, nil
	}
	return o.Ingester.Submit(ctx, u)
}

// insertBenchmark serves the pages over the figures and options of a0 to a7.
func insertBenchmark(t *testing.T) http.Handler {
	t.Helper()
	store, err := postgres.New(pgtest.New(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sample.Load(t.Context(), only{ingest.Ingester{Store: store, Detect: compare.Detect}, "bee"}); err != nil {
		t.Fatal(err)
	}
	pages, err := web.New(web.Config{Source: store, Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func show(t *testing.T, h http.Handler, target string) *goquery.Document {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d: %s", target, w.Code, w.Body)
	}
	d, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func said(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

// cells gives the words of a table's rows.
func cells(s *goquery.Selection) [][]string {
	var out [][]string
	s.Find("tbody tr").Each(func(_ int, row *goquery.Selection) {
		var line []string
		row.Children().Each(func(_ int, c *goquery.Selection) { line = append(line, said(c)) })
		out = append(out, line)
	})
	return out
}

// The figures are those of the published reports, read off by hand.
func TestThePageOfConfigsShowsWhatTheReportsHold(t *testing.T) {
	t.Parallel()
	h := insertBenchmark(t)
	d := show(t, h, "/configs")
	if got := said(d.Find("h1")); got != "MyRocks 8.0.28, a0 to a7, Insert Benchmark" {
		t.Errorf("%q", got)
	}
	if got := said(d.Find("p.lead")); got != "a0 is good enough. No config beats it beyond noise in any step. Two are worse, both in l.i1 and IO-bound only: a3 ▼ 0.82 and a4 ▼ 0.95. "+
		"The averages understate it: in their worst seconds a3 inserts at 3,447/s and a4 at 6,992/s where a0 still does 20,178/s." {
		t.Errorf("%q", got)
	}
	if got := said(d.Find("#files")); got != "The files say more than their names. a1, a6 and a7 also cut the block cache from 8G to 6G. a6 = a1 + a2 + a5 holds, the smaller block cache included; a7 = a1 + a5 holds too." {
		t.Errorf("%q", got)
	}
	rules := said(d.Find("#matrix .remark"))
	for _, want := range []string{
		"A practical rule, not a test: worse where the rate is below 0.95 of the base's, or the rate of the 99th-percentile second below 0.8, or the share of responses over 4 ms (of inserts where a step is judged by rows, else of queries) grew more than threefold and is over 0.1 %.",
		"It marks 2 of 84 pairs of config and step: a3 in l.i1, IO-bound and a4 in l.i1, IO-bound.", "a0 is good enough: no config is better beyond noise in all steps of IO-bound or of cached.",
	} {
		if !strings.Contains(rules, want) {
			t.Errorf("no %q in %q", want, rules)
		}
	}

	// Every pair of config and step with its ratio: two are marked, of all.
	ratios := map[string]float64{}
	var marked []string
	d.Find("#effects tbody tr").Each(func(_ int, row *goquery.Selection) {
		c := row.Children()
		at := said(c.Eq(0)) + " " + said(c.Eq(1)) + " " + said(c.Eq(2))
		ratio, err := strconv.ParseFloat(strings.TrimLeft(said(c.Eq(3)), "▼ "), 64)
		if err != nil {
			t.Errorf("%s: %v", at, err)
		}
		ratios[at] = ratio
		if said(c.Last()) != "" {
			marked = append(marked, at)
		}
		if got := said(c.Eq(4)); got != "n = 1: noise unknown" {
			t.Errorf("%s: %q", at, got)
		}
	})
	if len(ratios) != 84 || !slices.Equal(marked, []string{"a3 l.i1 IO-bound", "a4 l.i1 IO-bound"}) {
		t.Errorf("%d pairs, marked %v", len(ratios), marked)
	}
	if ratios["a3 l.i1 IO-bound"] != 0.822 || ratios["a4 l.i1 IO-bound"] != 0.948 {
		t.Errorf("%v", ratios)
	}
	for _, c := range []string{"a1", "a2", "a5", "a6", "a7"} {
		if r := ratios[c+" l.i1 IO-bound"]; r < 0.993 || r > 1.006 {
			t.Errorf("%s: %g", c, r)
		}
	}
	if n := d.Find("#matrix td.pr").Length(); n != 2 {
		t.Errorf("%d cells of the matrix are marked", n)
	}
	var tinted, boxed []string
	d.Find("#matrix tbody tr").Each(func(_ int, row *goquery.Selection) {
		name := said(row.Find("th b"))
		row.Find("td.w1, td.w2, td.w3, td.w4, td.b1, td.b2, td.b3, td.b4").Each(func(_ int, c *goquery.Selection) { tinted = append(tinted, name+" "+said(c)) })
		row.Find("td.odd").Each(func(_ int, c *goquery.Selection) { boxed = append(boxed, name+" "+said(c)) })
	})
	if diff := cmp.Diff([]string{"a3 0.82", "a4 0.95"}, tinted); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a1 6G", "a6 6G", "a7 6G"}, boxed); diff != "" {
		t.Error(diff)
	}
	if got := d.Find("#matrix td.pr a").First().AttrOr("title", ""); !strings.Contains(got, "19,106/s against 23,240/s, 0.822, n = 1: noise unknown; worse by the practical rule") {
		t.Errorf("%q", got)
	}

	// How long an insert takes.
	if diff := cmp.Diff([][]string{
		{"≤ 4 ms", "99.650", "94.089", "97.049"}, {"4–16 ms", "0.343", "5.826", "2.942"}, {"16–64 ms", "0.004", "0.083", "0.007"},
		{"64–256 ms", "0.003", "0.003", "0.003"}, {"slowest, s", "0.107", "0.151", "0.171"},
	}, cells(d.Find("#detail .shares table"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a0", "23,240", "20,178", "0.107", "177", "1.081", "2.429", "0.458", "8.6"}, cells(d.Find("#costs table"))[0]); diff != "" {
		t.Error(diff)
	}
	for i, want := range map[int]string{3: "3,447", 4: "6,992"} {
		if got := cells(d.Find("#costs table"))[i][2]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}

	if got := said(show(t, h, d.Find("#detail .places a.end").AttrOr("href", "")).Find("h1")); !strings.Contains(got, "l.i1") {
		t.Errorf("the page of the step is %q", got)
	}

	// Peak memory over the steps, the size of the block cache and the difference.
	memory := cells(d.Find("#memory table"))
	if diff := cmp.Diff([][]string{{"a0", "8G", "10.4", "+2.4", "l.x"}, {"a1", "6G", "9.5", "+3.5", "l.x"}}, [][]string{memory[0][:5], memory[1][:5]}); diff != "" {
		t.Error(diff)
	}

	// The effect of what pairs of configs differ in alone: a1 / a0 and a7 / a5.
	keys := cells(d.Find("#keys table"))
	if got := keys[0][0]; got != "block_cache_size 8G → 6G use_hyper_clock_cache=ON from a1 / a0, a7 / a5" || len(keys) != 5 {
		t.Errorf("%q, %d rows", got, len(keys))
	}
	if got := said(d.Find("#keys .remark")); !strings.Contains(got, "One run each: the noise is unknown") || !strings.Contains(got, "block_cache_size 8G → 6G and use_hyper_clock_cache=ON can only be told together") {
		t.Errorf("%q", got)
	}
	if got := cells(d.Find("#layers table"))[6]; got[0] != "a6" || got[2] != "41 options, 4 set aside 1 warning" || got[3] != "not read back" {
		t.Errorf("%q", got)
	}
}

func TestAnotherStepAndValuesOfItsOwn(t *testing.T) {
	t.Parallel()
	h := insertBenchmark(t)
	d := show(t, h, "/configs?show=absolute&workload=cached&config=a0&config=a7&detail=q500")
	if got := said(d.Find("#detail .places b")); got != "q500, cached" {
		t.Errorf("%q", got)
	}
	if got := cells(d.Find("#matrix table"))[1]; !slices.Contains(got, "2438") {
		t.Errorf("%q", got) // q500 of a7
	}
	if got := said(d.Find("#detail h2").First()); got != "q500, cached: how long a query takes" {
		t.Errorf("%q", got)
	}
	// A config's own page, beside the base.
	d = show(t, h, "/configs/myrocks/a6?base=a0")
	var changed [][]string
	for _, line := range cells(d.Find(".optlist table")) {
		if line[3] != line[5] && line[4] != line[5] {
			changed = append(changed, line)
		}
	}
	if diff := cmp.Diff([][]string{
		{"36", "mysqld", "rocksdb_block_cache_size", "6G", "6442450944", "8G"}, {"62", "mysqld", "rocksdb_use_hyper_clock_cache", "ON", "ON", "—"},
		{"63", "mysqld", "rocksdb_block_cache_numshardbits", "3", "3", "—"}, {"64", "mysqld", "rocksdb_max_subcompactions", "2", "2", "—"},
	}, changed, cmp.Transformer("dash", func(s string) string { return strings.ReplaceAll(s, "–", "—") })); diff != "" {
		t.Error(diff)
	}
	var aside []string
	for _, line := range cells(d.Find(".aside table")) {
		aside = append(aside, line[2])
	}
	if diff := cmp.Diff([]string{"tmpdir", "server_id", "datadir", "rocksdb_wal_dir"}, aside); diff != "" {
		t.Error(diff)
	}
	if got := said(d.Find(".warn")); got != "my.cnf.cy10a6_bee:28: default_tmp_storage_engine stands in line 3 already: with the same value" {
		t.Errorf("%q", got)
	}
}
