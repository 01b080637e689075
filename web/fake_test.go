package web

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/PuerkitoBio/goquery"

	"github.com/relqps/relqps/internal/bench"
)

// fakeSource answers from memory, for the shape of pages and the branches of
// errors; what a store answers is tested with one.
type fakeSource struct {
	series  []bench.Series
	runs    bench.RunPage
	run     map[int64]bench.RunDetail
	uploads []bench.UploadInfo
	changes []bench.Change
	events  map[int64][]bench.ChangeEvent
	notes   []bench.Note
	history map[int64][]bench.NoteRevision
	configs []bench.StoredConfig
	spreads []bench.Distribution
	facts   []bench.RunFacts // Varied gives all of them
	splits  []bench.RunBreakdown
	seconds []bench.RunSeries // of whatever step
	err     error
	filters []bench.SeriesFilter // of Series, in order
	runWith []bench.RunFilter
}

func (f *fakeSource) Series(_ context.Context, filter bench.SeriesFilter) ([]bench.Series, error) {
	f.filters = append(f.filters, filter)
	var out []bench.Series
	for _, s := range f.series {
		if filter.Metric == s.Metric.Name && selects(filter, s.Coordinate) {
			out = append(out, s)
		}
	}
	return out, f.err
}

func selects(f bench.SeriesFilter, c bench.Coordinate) bool {
	in := func(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }
	return (f.System == "" || f.System == c.System) && (f.Suite == "" || f.Suite == c.Suite) && in(f.Servers, c.Server) && in(f.Workloads, c.Workload) &&
		in(f.Steps, c.Step) && in(f.Compilers, c.Compiler) && in(f.Configs, c.Config) && (len(f.Clients) == 0 || slices.Contains(f.Clients, c.Clients))
}

func (f *fakeSource) Facets(_ context.Context, filter bench.SeriesFilter) (bench.Facets, error) {
	var out bench.Facets
	add := func(list *[]bench.Facet, name string) {
		if !slices.ContainsFunc(*list, func(x bench.Facet) bool { return x.Name == name }) {
			*list = append(*list, bench.Facet{Name: name, Samples: 1})
		}
	}
	for _, s := range f.series {
		if !selects(filter, s.Coordinate) {
			continue
		}
		add(&out.Systems, s.System)
		add(&out.Servers, s.Server)
		add(&out.Workloads, s.Workload)
		add(&out.Compilers, s.Compiler)
		add(&out.Configs, s.Config)
		if !slices.ContainsFunc(out.Metrics, func(m bench.MetricFacet) bool { return m.Name == s.Metric.Name }) {
			out.Metrics = append(out.Metrics, bench.MetricFacet{Metric: s.Metric, Values: 1})
		}
		for _, p := range s.Points {
			if !slices.ContainsFunc(out.Versions, func(v bench.VersionFacet) bool { return v.Name == p.Version && v.System == s.System }) {
				out.Versions = append(out.Versions, bench.VersionFacet{System: s.System, Name: p.Version, Runs: 1})
			}
		}
	}
	return out, f.err
}

func (f *fakeSource) Coordinates(_ context.Context, filter bench.SeriesFilter) ([]bench.CoordinateInfo, error) {
	return coordinatesOf(f.series, filter), f.err
}

func coordinatesOf(series []bench.Series, filter bench.SeriesFilter) []bench.CoordinateInfo {
	var out []bench.CoordinateInfo
	for _, s := range series {
		if !selects(filter, s.Coordinate) {
			continue
		}
		n := 0
		for _, p := range s.Points {
			n += len(p.Samples)
		}
		i := slices.IndexFunc(out, func(c bench.CoordinateInfo) bool { return c.Coordinate == s.Coordinate })
		if i < 0 {
			out = append(out, bench.CoordinateInfo{Coordinate: s.Coordinate})
			i = len(out) - 1
		}
		out[i].Samples += n
	}
	return out
}

func (f *fakeSource) Totals(context.Context) (bench.Totals, error) {
	return bench.Totals{Servers: 1, Versions: 2, Runs: 3, Results: 4, Uploads: len(f.uploads)}, f.err
}

func (f *fakeSource) Runs(_ context.Context, filter bench.RunFilter) (bench.RunPage, error) {
	f.runWith = append(f.runWith, filter)
	return f.runs, f.err
}

func (f *fakeSource) Run(_ context.Context, id int64) (bench.RunDetail, error) {
	if f.err != nil {
		return bench.RunDetail{}, f.err
	}
	d, ok := f.run[id]
	if !ok {
		return d, bench.Errorf(bench.KindNotFound, "There is no run %d.", id)
	}
	return d, nil
}

func (f *fakeSource) Uploads(context.Context, bench.UploadFilter) (bench.UploadPage, error) {
	return bench.UploadPage{Uploads: f.uploads}, f.err
}

func (f *fakeSource) SeriesOf(_ context.Context, c bench.Coordinate) ([]bench.Series, error) {
	var out []bench.Series
	for _, s := range f.series {
		if s.Coordinate == c {
			out = append(out, s)
		}
	}
	return out, f.err
}

func (f *fakeSource) Changes(_ context.Context, filter bench.ChangeFilter) (bench.ChangePage, error) {
	in := func(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }
	var page bench.ChangePage
	for _, c := range f.changes {
		if (filter.System == "" || filter.System == c.System) && in(filter.Servers, c.Server) && in(filter.Workloads, c.Workload) && in(filter.Steps, c.Step) &&
			in(filter.Compilers, c.Compiler) && in(filter.Configs, c.Config) && in(filter.Versions, c.To) && (filter.Kind == "" || filter.Kind == c.Kind(c.Metric.Direction)) &&
			(filter.Shape == "" || filter.Shape == c.Shape) && (len(filter.Triage) == 0 || slices.Contains(filter.Triage, c.Triage)) &&
			math.Abs(c.Effect) >= filter.MinEffect && (filter.Dissolved || c.Dissolved == nil) {
			page.Changes = append(page.Changes, c)
		}
	}
	slices.SortStableFunc(page.Changes, func(a, b bench.Change) int { return bench.CompareVersions(b.To, a.To) })
	first := 0
	if filter.Cursor != "" {
		first, _ = strconv.Atoi(filter.Cursor)
	}
	page.Changes = page.Changes[min(first, len(page.Changes)):]
	if limit := filter.Limit; limit > 0 && len(page.Changes) > limit {
		page.Changes, page.Next = page.Changes[:limit], strconv.Itoa(first+limit)
	}
	return page, f.err
}

func (f *fakeSource) ChangeTable(_ context.Context, system string) (p []float64, tested int, err error) {
	for _, c := range f.changes {
		if c.Dissolved == nil && (system == "" || c.System == system) {
			p = append(p, c.P)
		}
	}
	for _, s := range f.series {
		if bench.StepRole(s.Suite, s.Step) == bench.RoleMeasure && bench.PrimaryMetric(s.Suite, s.Step) == s.Metric.Name && (system == "" || s.System == system) {
			tested++
		}
	}
	return p, tested, f.err
}

func (f *fakeSource) Change(_ context.Context, id int64) (bench.ChangeDetail, error) {
	for _, c := range f.changes {
		if c.ID == id {
			return bench.ChangeDetail{Change: c, Events: f.events[id]}, f.err
		}
	}
	return bench.ChangeDetail{}, bench.Errorf(bench.KindNotFound, "there is no change %d", id)
}

func (f *fakeSource) Notes(_ context.Context, filter bench.NoteFilter) ([]bench.Note, error) {
	var out []bench.Note
	for _, n := range f.notes {
		if (filter.System == "" || filter.System == n.System) && (filter.Version == "" || filter.Version == n.Version) &&
			(filter.ChangeID == 0 || filter.ChangeID == n.ChangeID) && (filter.Deleted || n.Deleted == nil) {
			out = append(out, n)
		}
	}
	return out, f.err
}

func (f *fakeSource) Note(_ context.Context, id int64) (bench.Note, []bench.NoteRevision, error) {
	for _, n := range f.notes {
		if n.ID == id {
			return n, f.history[id], f.err
		}
	}
	return bench.Note{}, nil, bench.Errorf(bench.KindNotFound, "there is no note %d", id)
}

func (f *fakeSource) Configs(_ context.Context, filter bench.ConfigFilter) ([]bench.StoredConfig, error) {
	var out []bench.StoredConfig
	for _, c := range f.configs {
		if (filter.System == "" || filter.System == c.System) && (len(filter.Names) == 0 || slices.Contains(filter.Names, c.Name)) &&
			(filter.Layer == "" || filter.Layer == c.Layer) {
			out = append(out, c)
		}
	}
	return out, f.err
}

func (f *fakeSource) Distributions(_ context.Context, runs []int64) ([]bench.Distribution, error) {
	var out []bench.Distribution
	for _, d := range f.spreads {
		if slices.Contains(runs, d.RunID) {
			out = append(out, d)
		}
	}
	return out, f.err
}

func (f *fakeSource) Seconds(_ context.Context, q bench.SecondsQuery) ([]bench.Seconds, error) {
	var list []bench.RunSeries
	for _, s := range f.seconds {
		if slices.Contains(q.Runs, s.RunID) && (len(q.Names) == 0 || slices.Contains(q.Names, s.Name)) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b bench.RunSeries) int { return strings.Compare(a.Name, b.Name) })
	return bench.NewSeconds(list, q), f.err
}

func (f *fakeSource) Varied(_ context.Context, filter bench.VariedFilter) ([]bench.RunFacts, error) {
	return slices.DeleteFunc(slices.Clone(f.facts), func(x bench.RunFacts) bool { return filter.System != "" && x.System != filter.System }), f.err
}

func (f *fakeSource) RunFacts(_ context.Context, runs []int64) ([]bench.RunFacts, error) {
	return slices.DeleteFunc(slices.Clone(f.facts), func(x bench.RunFacts) bool { return !slices.Contains(runs, x.ID) }), f.err
}

func (f *fakeSource) Breakdowns(_ context.Context, runs []int64) ([]bench.RunBreakdown, error) {
	return slices.DeleteFunc(slices.Clone(f.splits), func(x bench.RunBreakdown) bool { return !slices.Contains(runs, x.RunID) }), f.err
}

// at is a coordinate of RocksDB on c2 unless its fields say otherwise.
func at(step string, change ...func(*bench.Coordinate)) bench.Coordinate {
	c := bench.Coordinate{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Step: step, Compiler: "gcc", Clients: 8}
	for _, f := range change {
		f(&c)
	}
	return c
}

func onServer(name string) func(*bench.Coordinate) {
	return func(c *bench.Coordinate) { c.Server = name }
}

func byCompiler(name string) func(*bench.Coordinate) {
	return func(c *bench.Coordinate) { c.Compiler = name }
}

// series makes a series of "version value value …" points; a value with an x in
// front must not be compared.
func series(t testing.TB, metric string, c bench.Coordinate, points ...string) bench.Series {
	t.Helper()
	m, ok := bench.LookupMetric(metric)
	if !ok {
		t.Fatalf("no metric %s", metric)
	}
	s := bench.Series{Coordinate: c, Metric: m}
	for i, text := range points {
		fields := strings.Fields(text)
		p := bench.Point{Version: fields[0]}
		for j, f := range fields[1:] {
			v, err := strconv.ParseFloat(strings.TrimPrefix(f, "x"), 64)
			if err != nil {
				t.Fatal(err)
			}
			p.Samples = append(p.Samples, bench.Sample{Value: v, RunID: int64(100*i + j + 1), Excluded: strings.HasPrefix(f, "x"), Started: bench.NewLocalTime(2023, 9, i%28+1, 10, j, 0)})
		}
		s.Points = append(s.Points, p)
	}
	return s
}

// long makes a series like those of the published archives: versions 4.4.1 to
// 8.8.0, 79 of them, one sample each.
func long(t testing.TB, c bench.Coordinate) bench.Series {
	t.Helper()
	var points []string
	seed := uint64(len(c.Step)*7919 + 17)
	for major, minors := range map[int]int{4: 10, 5: 19, 6: 30, 7: 11, 8: 9} {
		for minor := range minors {
			seed = seed*6364136223846793005 + 1442695040888963407
			points = append(points, fmt.Sprintf("%d.%d.%d %d", major, minor, 1+minor%7, 1_900_000+int(seed>>40)%200_000))
		}
	}
	slices.SortFunc(points, func(a, b string) int { return bench.CompareVersions(strings.Fields(a)[0], strings.Fields(b)[0]) })
	return series(t, "qps", c, points...)
}

var longSteps = []string{"fillseq", "readrandom", "multireadrandom", "fwdrange", "revrangewhilewriting", "fwdrangewhilewriting", "readwhilewriting", "overwriteandwait"}

// bundle is a small stand-in for the bundled script and style sheet.
func bundle() fstest.MapFS {
	return fstest.MapFS{
		"manifest.json":          {Data: []byte(`{"page.js":"page-0123456789ab.js","style.css":"style-0123456789ab.css"}`)},
		"page-0123456789ab.js":   {Data: []byte("'use strict';" + strings.Repeat("void 0;", 100))},
		"style-0123456789ab.css": {Data: []byte("body{}")},
		"LICENSE-echarts.txt":    {Data: []byte("licence of ECharts")},
		".gitkeep":               {},
	}
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func newHandler(t testing.TB, source Source, change ...func(*Config)) http.Handler {
	t.Helper()
	c := Config{Source: source, Logger: slog.New(slog.NewTextHandler(testWriter{t}, nil)), Version: "1.2.3", Bundle: bundle(), Licence: "Apache"}
	for _, f := range change {
		f(&c)
	}
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// get answers a request as a browser would send it.
func get(t testing.TB, h http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

// page loads a page that must exist and parses it.
func page(t testing.TB, h http.Handler, target string) *goquery.Document {
	t.Helper()
	w := get(t, h, target)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d\n%s", target, w.Code, w.Body)
	}
	return parse(t, w.Body.String())
}

func parse(t testing.TB, html string) *goquery.Document {
	t.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// text gives the text of the first match, spaces collapsed.
func text(d *goquery.Document, selector string) string {
	return squeeze(d.Find(selector).First().Text())
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
