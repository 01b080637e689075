package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/static"
)

// hostile are names that must be nothing but text on every page.
var hostile = []string{
	`<img src=x onerror=alert(1)>`, `</script><script>alert(1)</script>`, `__f__alert(1)__f__`, `=1+1`, "a\u202egnp.exe", `javascript:alert(1)`,
	`"><svg onload=alert(1)>`, strings.Repeat("long", 2500),
}

// everywhere is a source in which everything that has a name is called so.
func everywhere(t *testing.T, name string) *fakeSource {
	t.Helper()
	c := bench.Coordinate{System: name, Suite: name, Server: name, Workload: name, Step: name, Compiler: name, Config: name, Clients: 1}
	n := 3.0
	summary := bench.RunSummary{ID: 1, System: name, Suite: name, Server: name, Workload: name, Config: name, Build: bench.Build{Version: name, Compiler: name, Flags: name, Command: name}, Reason: name, State: bench.RecordWithdrawn, OK: 1, Warned: 1, Assumed: []string{name}}
	other := c
	other.Compiler = "gcc"
	return &fakeSource{
		series: []bench.Series{series(t, "qps", c, "8.0.0 1", "9.0.0 2"), {Coordinate: other, Metric: series(t, "qps", c).Metric, Points: []bench.Point{{Version: name, Samples: []bench.Sample{{Value: 1}}}}}},
		runs:   bench.RunPage{Runs: []bench.RunSummary{summary}, Next: name},
		run: map[int64]bench.RunDetail{1: {
			RunSummary: summary, Environment: map[string]string{name: name}, Options: map[string]string{name: name},
			Results: []bench.StoredResult{{Result: bench.Result{
				Step: bench.Step{Name: name}, State: bench.StateFailed, Reason: name, Excluded: name, Command: name, Primary: name,
				Values:     []bench.Value{{Metric: name, Number: 1, SourceName: name}},
				Warnings:   []bench.Message{{File: name, Line: 1, Column: name, Text: name}},
				Histograms: []bench.Histogram{{Operation: name, Unit: name, Bounds: []float64{1, 2}, Counts: []float64{1, 2}, Count: &n}},
				TimeSeries: []bench.TimeSeries{{Name: name, Unit: name, StepS: 1, Values: []float64{1, 2}}},
				Breakdowns: []bench.Breakdown{{Key: name, Bucket: name, Unit: name, Value: 1}},
			}, From: []bench.StoredSource{{UploadID: 1, File: name, Line: 2}}}},
			Uploads: []bench.UploadInfo{{ID: 1, Filename: name, SHA256: "00", Format: name, Actor: name, State: bench.RecordWithdrawn, Reason: name}},
			History: []bench.RunChange{{Actor: name, Action: name, Reason: name, Before: map[string]string{name: name}, After: map[string]string{name: name}}},
		}},
		uploads: []bench.UploadInfo{{ID: 1, Filename: name, Format: name}},
	}
}

func TestHostileNamesAreTextOnEveryPage(t *testing.T) {
	t.Parallel()
	for i, name := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			source := everywhere(t, name)
			h := newHandler(t, source, func(c *Config) {
				c.Credits = func(context.Context) []Credit { return []Credit{{Text: name, URL: name}} }
			})
			q := chartsQuery{System: name, Servers: []string{name}, Metric: "qps", Compilers: []string{name, "gcc"}}
			large := q.with(func(q *chartsQuery) { q.Steps = []string{name} })
			missing := chartsQuery{Servers: []string{name + "x"}, Metric: "qps", Unknown: map[string][]string{name: {name}}}
			for _, target := range []string{"/", "/charts", q.String(), large.String(), missing.String(), "/runs", runsQuery{Server: name}.String(), "/runs/1", "/upload"} {
				d := page(t, h, target)
				checkNoCode(t, target, d)
				if target != "/upload" && target != missing.String() && !strings.Contains(d.Text(), name) {
					t.Errorf("%.60s: the name is not shown as it is", target)
				}
			}
			if len(name) <= 200 {
				w := get(t, h, "/search?q="+strings.NewReplacer("%3D", "=").Replace(escape(name[:len(name)-1])))
				if w.Code == http.StatusOK {
					checkNoCode(t, "/search", parse(t, w.Body.String()))
				}
			}
			if w := get(t, h, large.at("/charts.md")); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
				t.Errorf("markdown: status %d, %s", w.Code, w.Header().Get("Content-Type"))
			}
		})
	}
}

// checkNoCode fails when a page holds markup that only a name can have made:
// scripts beside our own, event handlers, addresses that run.
func checkNoCode(t *testing.T, target string, d *goquery.Document) {
	t.Helper()
	d.Find("script").Each(func(_ int, s *goquery.Selection) {
		src, external := s.Attr("src")
		if s.AttrOr("type", "") == "application/json" {
			if !json.Valid([]byte(s.Text())) {
				t.Errorf("%.60s: a block of data is cut off: %.100s", target, s.Text())
			}
		} else if !external || !strings.HasPrefix(src, staticPrefix) || s.Text() != "" {
			t.Errorf("%.60s: a script that is not ours: %s", target, src)
		}
	})
	if n := d.Find("img, iframe, object, embed, base").Length(); n > 0 {
		t.Errorf("%.60s: %d elements that no template has", target, n)
	}
	d.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("%.60s: attribute %s=%.60s", target, a.Key, a.Val)
			}
			if (a.Key == "href" || a.Key == "src" || a.Key == "action") && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				t.Errorf("%.60s: %s runs code: %.60s", target, a.Key, a.Val)
			}
		}
	})
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &fakeSource{series: []bench.Series{series(t, "qps", at("fillseq"), "8.0.0 1")}})
	for _, target := range []string{"/", "/charts", "/nowhere", "/charts?metric=x", "/static/page-0123456789ab.js"} {
		w := get(t, h, target)
		csp := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: policy without %s: %s", target, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe-eval") || strings.Contains(strings.ReplaceAll(csp, "style-src-attr 'unsafe-inline'", ""), "unsafe-inline") {
			t.Errorf("%s: policy %s", target, csp)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: no nosniff", target)
		}
	}
}

func TestErrorsAreExplainedAndNothingInternalIsShown(t *testing.T) {
	t.Parallel()
	secret := `pq: relation "sample" does not exist`
	for _, test := range []struct {
		behaviour, target string
		err               error
		status            int
		want              string
		request           bool
	}{
		{"unknown page", "/nowhere", nil, 404, "There is no page at /nowhere.", false},
		{"unknown run", "/runs/77", nil, 404, "There is no run 77.", false},
		{"no number", "/runs/abc", nil, 404, `"abc" is no number of a run`, false},
		{"wrong query", "/charts?metric=x", nil, 400, "no such metric", false},
		{"wrong query of runs", "/runs?upload=-1", nil, 400, "upload is a whole number above 0", false},
		{"internal error", "/charts", errors.New(secret), 500, "An internal error; it was logged.", true},
		{"internal error of the home page", "/", errors.New(secret), 500, "An internal error; it was logged.", true},
		{"database away", "/runs", bench.Errorf(bench.KindUnavailable, "The database does not answer."), 503, "The database does not answer.", true},
		{"cause stays inside", "/upload", &bench.Error{Kind: bench.KindUnavailable, Message: "Away.", Err: errors.New(secret)}, 503, "Away.", true},
	} {
		t.Run(test.behaviour, func(t *testing.T) {
			t.Parallel()
			w := get(t, newHandler(t, &fakeSource{err: test.err}), test.target)
			if w.Code != test.status {
				t.Fatalf("status %d, want %d", w.Code, test.status)
			}
			d := parse(t, w.Body.String())
			if got := text(d, "main .lead"); !strings.Contains(got, test.want) {
				t.Errorf("message %q, want %q", got, test.want)
			}
			if strings.Contains(w.Body.String(), "relation") {
				t.Error("the cause is shown")
			}
			if got := strings.Contains(d.Find("main").Text(), "Request "); got != test.request {
				t.Errorf("request id shown: %v", got)
			}
			if d.Find("nav a").Length() < 7 {
				t.Error("an error page has the navigation too")
			}
		})
	}
}

func TestOtherMethodsAreToldSo(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	newHandler(t, &fakeSource{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/charts", nil))
	if w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Body.String(), "pages are read with GET") {
		t.Errorf("status %d", w.Code)
	}
}

func TestAHeadRequestIsAnsweredLikeAGet(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	newHandler(t, &fakeSource{}).ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/charts", nil))
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}

func TestAPanicIsAnErrorPage(t *testing.T) {
	t.Parallel()
	w := get(t, newHandler(t, panicking{}), "/")
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "An internal error") || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestPagesStayReadableWithoutABundle(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &fakeSource{series: []bench.Series{series(t, "qps", at("fillseq"), repeats("8.0.0", 100), "9.0.0 80")}}, func(c *Config) {
		c.Bundle = fstest.MapFS{".gitkeep": {}}
	})
	d := page(t, h, "/charts")
	if d.Find("script[src], link[rel=stylesheet]").Length() > 0 {
		t.Error("a file is named that is not there")
	}
	var cells []string
	d.Find("table[data-figures] tbody tr").Eq(1).Children().Each(func(_ int, s *goquery.Selection) { cells = append(cells, squeeze(s.Text())) })
	if got := strings.Join(cells, " "); !strings.HasPrefix(got, "9.0.0 80 0.80 0.7") {
		t.Errorf("table row %q", got)
	}
}

func TestABundleIsCachedForGood(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &fakeSource{})
	d := page(t, h, "/charts")
	src, _ := d.Find("script[src]").Attr("src")
	if src != "/static/page-0123456789ab.js" {
		t.Fatalf("script %q", src)
	}
	w := get(t, h, src)
	if got := w.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("cache %q", got)
	}
	if w := get(t, h, "/static/nothing.js"); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
	if w := get(t, h, "/static/manifest.json"); w.Code != http.StatusNotFound {
		t.Errorf("the manifest is served: %d", w.Code)
	}
}

func TestADamagedBundleIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	_, err := static.New(fstest.MapFS{"manifest.json": {Data: []byte(`{"page.js":"gone.js"}`)}}, "/static/")
	if err == nil || !strings.Contains(err.Error(), "gone.js") {
		t.Errorf("error %v", err)
	}
}

func TestNavigationNamesWhatExists(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &fakeSource{})
	for target, current := range map[string]string{"/": "Home", "/charts": "Charts", "/runs": "Runs", "/upload": "Upload"} {
		d := page(t, h, target)
		if got := text(d, "nav a[aria-current]"); got != current {
			t.Errorf("%s: current is %q", target, got)
		}
		d.Find("nav a").Each(func(_ int, s *goquery.Selection) {
			if href := s.AttrOr("href", ""); href != "/api/docs" && get(t, h, href).Code >= http.StatusBadRequest {
				t.Errorf("%s leads nowhere", href)
			}
		})
	}
	if !strings.Contains(page(t, h, "/licences").Text(), "licence of ECharts") {
		t.Error("the licence of the script's library is not shown")
	}
}

// Twice as many versions as the largest published archive would still pass.
func TestAPageOfChartsWithItsDataIsSmall(t *testing.T) {
	t.Parallel()
	source := &fakeSource{}
	for _, s := range longSteps {
		source.series = append(source.series, long(t, at(s)))
	}
	w := get(t, newHandler(t, source), "/charts")
	if n := w.Body.Len(); n > 100*1024 {
		t.Errorf("%d bytes before compression, at most 100 KB are wanted", n)
	}
	if n := parse(t, w.Body.String()).Find("table[data-figures] tbody tr").Length(); n != 8*79 {
		t.Errorf("%d rows", n)
	}
}

func TestChartsAreReachableWithoutEyesOrMouse(t *testing.T) {
	t.Parallel()
	source := &fakeSource{series: []bench.Series{series(t, "qps", at("fillseq"), repeats("8.0.0", 100), "9.0.0 80")}}
	d := page(t, newHandler(t, source), "/charts?step=fillseq")
	chart := d.Find("[data-chart]")
	if chart.AttrOr("tabindex", "") != "0" || chart.AttrOr("role", "") != "group" {
		t.Error("a chart takes focus")
	}
	if got := chart.AttrOr("aria-label", ""); got != "fillseq: relative QPS of 8.0.0 to 9.0.0, base 8.0.0; 9.0.0 is 0.80. Arrow keys move along the versions." {
		t.Errorf("label %q", got)
	}
	d.Find("button, a, input:not([type=hidden])").Each(func(_ int, s *goquery.Selection) {
		name := squeeze(s.Text()) + s.AttrOr("aria-label", "") + s.AttrOr("title", "")
		if name == "" && s.Closest("label").Length() == 0 {
			html, _ := goquery.OuterHtml(s)
			t.Errorf("without a name: %s", html)
		}
	})
	if d.Find("html[lang=en]").Length() != 1 || d.Find("h1").Length() != 1 || d.Find("a.skip[href='#main']").Length() != 1 {
		t.Error("language, one heading, a way past the navigation")
	}
}

func TestSearchGoesWhereAWordLeads(t *testing.T) {
	t.Parallel()
	h := newHandler(t, &fakeSource{series: []bench.Series{
		series(t, "qps", at("fillseq"), "8.7.3 1"), series(t, "qps", at("readwhilewriting"), "8.7.3 1", "8.8.0 1"), series(t, "qps", at("revrangewhilewriting", onServer("arm")), "8.7.3 1"),
	}, notes: []bench.Note{noteOn(3, "8.6.7", "Without *readahead*.", bench.NoteScope{})}})
	for _, test := range []struct{ word, want string }{
		{"fillseq", "/charts?step=fillseq"}, {"FillSeq", "/charts?step=fillseq"}, {"fills", "/charts?step=fillseq"},
		{"revrangeww", "/charts?step=revrangewhilewriting"}, {"arm", "/charts?server=arm"}, {"8.7.3", "/versions/rocksdb/8.7.3"},
		{"v8.7.3", "/versions/rocksdb/8.7.3"}, {"", "/charts"}, {"READAHEAD", "/notes/3"},
	} {
		w := get(t, h, "/search?q="+test.word)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != test.want {
			t.Errorf("%q: status %d to %s, want %s", test.word, w.Code, w.Header().Get("Location"), test.want)
		}
	}
	d := page(t, h, "/search?q=writing")
	var got []string
	d.Find("tbody a").Each(func(_ int, s *goquery.Selection) { got = append(got, s.Text()) })
	if strings.Join(got, " ") != "readwhilewriting revrangewhilewriting" {
		t.Errorf("several: %v", got)
	}
	if got := text(page(t, h, "/search?q=nothing"), ".lead"); got != "Nothing is called that." {
		t.Errorf("none: %q", got)
	}
	if w := get(t, h, "/search?q="+strings.Repeat("x", 201)); w.Code != http.StatusBadRequest {
		t.Errorf("too long: %d", w.Code)
	}
}

func TestBigAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	source := &fakeSource{series: []bench.Series{long(t, at("fillseq"))}}
	r := httptest.NewRequest(http.MethodGet, "/charts", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	newHandler(t, source).ServeHTTP(w, r)
	if w.Header().Get("Content-Encoding") != "gzip" {
		t.Error("a page is not compressed")
	}
}

func TestTimesOfTheServerAreUTC(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("x", 3*3600)
	if got := timeText(time.Date(2026, 1, 1, 1, 30, 0, 0, zone)); got != "2025-12-31 22:30 UTC" {
		t.Errorf("%q", got)
	}
}

// panicking is a source with a defect.
type panicking struct{ Source }

// Series panics.
func (panicking) Series(context.Context, bench.SeriesFilter) ([]bench.Series, error) { panic("boom") }
