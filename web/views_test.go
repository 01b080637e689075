package web

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// hostileNames mean harm, or are merely odd, wherever they are put.
var hostileNames = map[string]string{
	"element":       `<img src=x onerror=alert(1)>`,
	"end of block":  `</script><script>alert(1)</script>`,
	"marker":        `__f__alert(1)__f__`,
	"formula":       `=1+1`,
	"right to left": "a\u202Eb\u200F",
	"long":          strings.Repeat("n", 10_000),
	"quotes":        `"' onclick=alert(1) x="`,
	"template":      `{a|b} {{.}} ${x}`,
	"query":         `a&b=c#d?e/f%2F`,
}

// hostileSource names everything that a person or a file may name.
func hostileSource(t testing.TB, name string) *fakeSource {
	hostile := func(c *bench.Coordinate) {
		// As a store has them: in the project's spelling.
		c.System, c.Server, c.Workload, c.Step, c.Compiler, c.Config = name, name, bench.WorkloadName(name), name, bench.CompilerName(name), name
	}
	var words []string
	for i := range 12 {
		words = append(words, fmt.Sprintf("8.%d.0 %d %d", i, 1000-300*step(i >= 6), 1001-300*step(i >= 6)))
	}
	s := series(t, "qps", at("x", hostile), words...)
	s.Points[8].Version = "9" + name
	s.Points = append(s.Points[:8], s.Points[9], s.Points[10], s.Points[11], s.Points[8])
	s.ID = 1
	c := sampleChange(1, between("8.5.0", "8.6.0", 0.7))
	c.Coordinate, c.Owner, c.FixedIn, c.Triage, c.IssueURL = s.Coordinate, name, name, bench.TriageFixed, "https://example.org/"+name
	n := noteOn(1, "8.6.0", name, bench.NoteScope{Step: name})
	n.System, n.Author = name, name
	other := s
	other.Config, other.ID = "b"+name, 2
	var configs []bench.StoredConfig
	for i, config := range []string{name, "b" + name} {
		for j, layer := range []bench.Layer{bench.LayerParsed, bench.LayerEffective} {
			configs = append(configs, bench.StoredConfig{ID: int64(2*i + j + 1), From: []bench.ConfigSource{{UploadID: 1, File: name, SourceName: name}}, Config: bench.Config{
				System: name, Name: config, SourceName: name, Kind: bench.ConfigPairs, Layer: layer, Warnings: []bench.Message{{File: name, Line: 1, Text: name}},
				Options: []bench.Option{{Section: name, Key: name, Written: config, Value: config}, {Key: "k", Written: name, Value: config}, {Key: "datadir", Written: name, Value: name, Environment: true}},
			}})
		}
	}
	return &fakeSource{
		configs: configs,
		seconds: []bench.RunSeries{{RunID: s.Points[11].Samples[0].RunID, TimeSeries: bench.TimeSeries{Name: name, Unit: name, StepS: 1, Values: []float64{1, 2, 3}}}},
		spreads: []bench.Distribution{{RunID: s.Points[11].Samples[0].RunID, Step: name, Histogram: bench.Histogram{Operation: name, Unit: name, Bounds: []float64{1, 2}, Counts: []float64{3, 4}}}},
		series:  []bench.Series{s, other}, changes: []bench.Change{c}, notes: []bench.Note{n},
		events:  map[int64][]bench.ChangeEvent{1: {{Actor: name, Field: "comment", After: name}, {Actor: name, Field: "owner", Before: name, After: name}}},
		history: map[int64][]bench.NoteRevision{1: {{Actor: name, Action: "written", Body: name}}},
		run: map[int64]bench.RunDetail{502: {RunSummary: bench.RunSummary{Server: name, Build: bench.Build{Version: name, Compiler: name, Flags: name, Command: name}}, Options: map[string]string{name: name},
			Results: []bench.StoredResult{{Result: bench.Result{Step: bench.Step{Name: name}, Command: name}}}}, 601: {Environment: map[string]string{name: name}}},
		facts: []bench.RunFacts{
			{ID: 1, System: name, Suite: s.Suite, Server: name, Workload: bench.WorkloadName(name), Config: name, Build: bench.Build{Version: name, Flags: name}, Options: map[string]string{"o" + name: "1"}, Environment: map[string]string{"e" + name: "x"}},
			{ID: 2, System: name, Suite: s.Suite, Server: name, Workload: bench.WorkloadName(name), Config: name, Build: bench.Build{Version: name}, Options: map[string]string{"o" + name: "2"}, Environment: map[string]string{"e" + name: name}},
		},
		splits: []bench.RunBreakdown{{RunID: 1, Step: name, Breakdown: bench.Breakdown{Key: bench.BreakdownBlockReads, Bucket: name, Unit: name, Value: 1}}},
		runs:   bench.RunPage{Runs: []bench.RunSummary{{ID: 1, System: name, Server: name, Build: bench.Build{Version: "8.6.0", Compiler: name, Flags: name, GitHash: name, Command: name}}}},
	}
}

// Names that mean harm are text on every page of this surface.
func TestNamesThatMeanHarmAreTextOnPagesOfChanges(t *testing.T) {
	t.Parallel()
	for what, name := range hostileNames {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			source := hostileSource(t, name)
			store := newFakeStore(source)
			store.sessions["ann"] = bench.Token{Name: name, Role: bench.TokenAnnotator}
			h := newHandler(t, source, withStore(store))
			system := url.PathEscape(name)
			frozen := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {"/charts?step=" + url.QueryEscape(name)}, "frozen": {"1"}})
			if frozen.Code != http.StatusCreated {
				t.Fatalf("status %d: %s", frozen.Code, frozen.Body)
			}
			for _, target := range []string{
				"/", "/report/" + system, "/changes", "/changes/1", "/changes?server=" + url.QueryEscape(name), "/versions/" + system + "/8.6.0", "/versions/" + system + "/" + url.PathEscape("9"+name),
				"/versions/" + system + "/none", "/notes", "/notes/1", "/notes/new?system=" + url.QueryEscape(name) + "&version=" + url.QueryEscape(name) + "&step=" + url.QueryEscape(name), "/notes/1/edit",
				"/sweeps", "/sweeps?base=1&system=" + url.QueryEscape(name), "/sweeps?option=" + url.QueryEscape(name),
				"/compilers", "/compilers?server=" + url.QueryEscape(name),
				"/configs", "/configs?config=" + url.QueryEscape(name), "/configs?system=none" + url.QueryEscape(name), "/configs/" + system + "/" + system, "/configs/" + system + "/" + system + "?base=b" + url.QueryEscape(name), "/upload?config=" + url.QueryEscape(name),
				"/compare", "/compare?a.version=8.5.0&b.version=8.6.0", "/compare?a.server=" + url.QueryEscape(name) + "&b.step=x&b.system=" + url.QueryEscape(name),
				"/charts", "/charts?step=" + url.QueryEscape(name), "/sign-in?next=" + url.QueryEscape("/"+name), "/s/8Kq2", "/report/" + system + "?server=nowhere" + url.QueryEscape(name),
				"/steps", "/steps?step=" + url.QueryEscape(name) + "&base=" + url.QueryEscape(name), "/steps?server=nowhere" + url.QueryEscape(name),
			} {
				w := as(t, h, "ann", http.MethodGet, target, nil)
				if w.Code != http.StatusOK {
					t.Errorf("%s: status %d", target, w.Code)
					continue
				}
				d := parse(t, w.Body.String())
				if n := d.Find("img, [onerror], [onclick], script:not([src]):not([type='application/json'])").Length(); n > 0 {
					t.Errorf("%s: %d elements made of a name", target, n)
				}
				d.Find("script[type='application/json']").Each(func(_ int, s *goquery.Selection) {
					if !json.Valid([]byte(s.Text())) {
						t.Errorf("%s: a data block is no JSON", target)
					}
				})
				d.Find("a[href]").Each(func(_ int, s *goquery.Selection) {
					if u, err := url.Parse(s.AttrOr("href", "")); err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "data" {
						t.Errorf("%s: a link to %q", target, s.AttrOr("href", ""))
					}
				})
			}
			if what == "long" {
				return // six of them are more than an address holds
			}
			// Links made of names lead where they say.
			d := parse(t, as(t, h, "", http.MethodGet, "/report/"+system, nil).Body.String())
			d.Find(".ver a[href], .sumt a[href]").Each(func(_ int, s *goquery.Selection) {
				href, _, _ := strings.Cut(s.AttrOr("href", ""), "#")
				if href == "" {
					return // a place on this page
				}
				if w := get(t, h, href); w.Code != http.StatusOK || parse(t, w.Body.String()).Find(".empty").Length() > 0 {
					t.Errorf("%.80s leads nowhere: %d", href, w.Code)
				}
			})
			if what == "formula" {
				if body := get(t, h, "/compare?a.version=8.5.0&b.version=8.6.0&format=csv").Body.String(); strings.Contains(body, "\n=") || strings.Contains(body, ",=") || !strings.Contains(body, "'=1+1") {
					t.Errorf("a cell of the CSV of a comparison runs as a formula: %s", body)
				}
				if body := get(t, h, "/report/"+system+"?format=csv").Body.String(); strings.Contains(body, "\n=") || strings.Contains(body, ",=") {
					t.Errorf("a cell of the CSV runs as a formula: %s", body[:300])
				}
			}
			if what == "element" {
				md := get(t, h, "/report/"+system+"?format=md").Body.String()
				md += get(t, h, "/compare?a.version=8.5.0&b.version=8.6.0&format=md").Body.String()
				if strings.Contains(md, "<img") {
					t.Errorf("HTML in the Markdown")
				}
			}
		})
	}
}

func TestAVersionHasItsPage(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	source.notes = []bench.Note{noteOn(1, "8.6.7", "Readahead is off.", bench.NoteScope{})}
	source.runs.Runs = []bench.RunSummary{
		{ID: 1, Build: bench.Build{Version: "8.6.7", Compiler: "gcc", CompilerVersion: "11.4", GitHash: "abc"}}, {ID: 2, Build: bench.Build{Version: "8.6.7", Compiler: "gcc", CompilerVersion: "11.4", GitHash: "abc"}},
	}
	h := newHandler(t, source)
	d := page(t, h, "/versions/rocksdb/v8.6.7")
	if got := text(d, "h1"); got != "RocksDB 8.6.7" {
		t.Errorf("%q", got)
	}
	if got := text(d, ".pn"); got != "← 8.5.48.7.3 →" {
		t.Errorf("%q", got)
	}
	if got := text(d, ".lead"); got != "1 of 4 results are worse than the version before, 0 better, 3 undecided. Over all versions, 1 series changes here: 1 regression and 0 improvements; 1 of them to look at twice." &&
		got != "1 of 4 results are worse than the version before, 0 better, 3 undecided. Over all versions, 1 series changes here: 1 regression and 0 improvements." {
		t.Errorf("%q", got)
	}
	var cells []string
	d.Find(".vt tbody td").Each(func(_ int, s *goquery.Selection) { cells = append(cells, squeeze(s.Text())) })
	if diff := cmp.Diff([]string{"8.5.4", "1.00", "1.00", "1.00", "0.50"}, cells); diff != "" {
		t.Error(diff)
	}
	if d.Find(`#changes a[href="/changes/3"]`).Length() != 1 || d.Find("#notes li.note").Length() != 1 || text(d, "#builds tbody") != "gcc 11.4 abc2" {
		t.Errorf("%q", text(d, "#builds tbody"))
	}
	// The first has none before it; one that was not measured says between which it lies.
	if got := text(page(t, h, "/versions/rocksdb/7.9.3"), ".lead"); !strings.HasPrefix(got, "Nothing was measured before it") {
		t.Errorf("%q", got)
	}
	source.runs.Runs = nil
	d = page(t, h, "/versions/rocksdb/8.2.9")
	if got := text(d, ".pn"); got != "← 8.2.18.3.3 →" || !strings.Contains(text(d, ".empty"), "8.2.9 was not measured") {
		t.Errorf("%q", got)
	}
}

// False discovery is held across all series of the version's table.
func TestAVersionShowsWhatStandsAmongAllThatWasTested(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	for i := range 60 {
		s := series(t, "qps", at(fmt.Sprintf("step%02d", i)), "8.5.4 10", "8.6.7 10")
		s.ID = int64(100 + i)
		source.series = append(source.series, s)
	}
	source.changes[2].PHere = 0.001 // of 64 series: 0.064 > 5 %
	h := newHandler(t, source)
	if n := page(t, h, "/versions/rocksdb/8.6.7").Find("#changes tbody tr").Length(); n != 0 {
		t.Errorf("%d changes", n)
	}
	source.changes[2].PHere = 0.0005 // 0.032
	if n := page(t, h, "/versions/rocksdb/8.6.7").Find("#changes tbody tr").Length(); n != 1 {
		t.Errorf("%d changes", n)
	}
}

func TestViewsHavePreviews(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	source.run = map[int64]bench.RunDetail{303: {}, 401: {}}
	h := newHandler(t, source, func(c *Config) { c.PublicURL = "https://perf.example.org/" })
	for _, target := range []string{"/report/rocksdb?base=8.0.0", "/charts?step=fillseq", "/charts", "/changes/1"} {
		d := page(t, h, target)
		meta := func(name string) string { return d.Find(`meta[property="og:`+name+`"]`).AttrOr("content", "") }
		if meta("title") == "" || meta("description") == "" || meta("url") != "https://perf.example.org"+target {
			t.Errorf("%s: %q %q %q", target, meta("title"), meta("description"), meta("url"))
		}
		u, err := url.Parse(meta("image"))
		if err != nil || u.Scheme != "https" || u.Host != "perf.example.org" || u.Path != "/charts.png" || u.Query().Get("preview") != "1" {
			t.Fatalf("%s: %q", target, meta("image"))
		}
		w := get(t, h, u.RequestURI())
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/png" || !bytes.HasPrefix(w.Body.Bytes(), []byte("\x89PNG")) {
			t.Errorf("%s: status %d, %s", u, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

func TestPicturesAreThoseOfTheCharts(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	source.notes = []bench.Note{noteOn(1, "8.0.0", "x", bench.NoteScope{})}
	h := newHandler(t, source)
	w := get(t, h, "/charts.svg?step=fillseq&base=8.0.0&width=900&theme=dark")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(w.Body.String(), "fillseq") {
		t.Fatalf("status %d", w.Code)
	}
	for decoder := xml.NewDecoder(w.Body); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for target, want := range map[string]int{
		"/charts.png?step=fillseq": http.StatusOK, "/charts.svg": http.StatusOK, "/charts.png?width=10": http.StatusBadRequest, "/charts.png?density=9": http.StatusBadRequest,
		"/charts.svg?server=nowhere": http.StatusNotFound, "/charts.svg?theme=blue": http.StatusBadRequest, "/charts.svg?metric=p99": http.StatusNotFound,
	} {
		if w := get(t, h, target); w.Code != want {
			t.Errorf("%s: status %d, want %d", target, w.Code, want)
		}
	}
}

func TestFormerNamesMeanWhatThingsAreCalledNow(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	store := newFakeStore(source)
	store.former = []bench.FormerName{{Kind: bench.NameServer, Old: "beelink", New: "c2"}, {Kind: bench.NameWorkload, Old: "old cached", New: "cached"}}
	h := newHandler(t, source, withStore(store))
	d := page(t, h, "/charts?server=beelink&workload=old+cached&step=fillseq&unknown=beelink")
	if got := text(d, "h1"); got != "fillseq" {
		t.Errorf("%q", got)
	}
	copied := d.Find("[data-copy]").AttrOr("href", "")
	if !strings.Contains(copied, "server=c2") || strings.Contains(copied, "server=beelink") || !strings.Contains(copied, "unknown=beelink") {
		t.Errorf("the view's address keeps the old name, or loses what is none: %s", copied)
	}
	// Two former names of one server.
	if got := text(page(t, h, "/report/rocksdb?server=beelink"), "h1"); !strings.Contains(got, "c2") {
		t.Errorf("%q", got)
	}
	// The database may be away: current names need nothing of this.
	var seen string
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.URL.RawQuery })
	log := slog.New(slog.DiscardHandler)
	away := CurrentNames(next, func(context.Context, []bench.FormerName) ([]bench.FormerName, error) { return nil, errors.New("away") }, log)
	away.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/charts?server=c2", nil))
	if seen != "server=c2" {
		t.Errorf("%q", seen)
	}
}

// Reading a page must not depend on who reads it, or a frozen view would lack
// something for somebody.
func TestWhoReadsDoesNotChangeWhatIsRead(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	source.configs = []bench.StoredConfig{{ID: 1, Config: bench.Config{System: "rocksdb", Name: "a0"}}}
	source.run = map[int64]bench.RunDetail{303: {}, 401: {}}
	for _, target := range []string{"/report/rocksdb", "/charts?step=fillseq", "/compilers", "/configs", "/configs/rocksdb/a0", "/changes", "/changes/1", "/versions/rocksdb/8.6.7", "/notes", "/sweeps", "/compare?a.version=8.5.4&b.version=8.6.7", "/"} {
		var reads [2][]string
		for i, who := range []reader{{}, {"ann", bench.TokenAnnotator}} {
			tape := &recorder{Source: source}
			s := &server{Config: Config{Source: tape, Logger: slog.New(slog.DiscardHandler)}}
			r := httptest.NewRequest(http.MethodGet, target, nil)
			w := httptest.NewRecorder()
			s.views().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), readerKey{}, who)))
			if w.Code != http.StatusOK {
				t.Fatalf("%s: status %d", target, w.Code)
			}
			for _, x := range tape.reads {
				reads[i] = append(reads[i], x.Method+string(x.Args))
			}
		}
		if diff := cmp.Diff(reads[0], reads[1]); diff != "" || len(reads[0]) == 0 {
			t.Errorf("%s: %s", target, diff)
		}
	}
}
