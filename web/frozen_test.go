package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
)

// mainPart is what a page shows, without what says that it is frozen.
func mainPart(t *testing.T, body string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<main.*</main>`).FindString(body)
	if m == "" {
		t.Fatalf("no content: %s", body)
	}
	m = strings.ReplaceAll(m, `,"frozen":true`, "")
	// The toolbar is outside; links to what only the live page has are not figures.
	return m
}

func TestAFrozenLinkKeepsItsFigures(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		"/report/rocksdb?base=8.0.0", "/charts", "/charts?step=fillseq&base=8.1.1", "/changes?min_effect=0", "/changes/1", "/versions/rocksdb/8.6.7", "/notes", "/runs", "/runs/500", "/", "/steps?step=fillseq",
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			source := reportSource(t)
			source.notes = []bench.Note{noteOn(1, "8.0.0", "Before.", bench.NoteScope{})}
			source.run = map[int64]bench.RunDetail{301: {}, 303: {}, 401: {}, 500: {
				RunSummary: bench.RunSummary{ID: 500, Server: "c2", System: "rocksdb", Suite: "db_bench", Started: bench.NewLocalTime(2023, 9, 1, 10, 0, 0)},
				Results: []bench.StoredResult{{Result: bench.Result{Step: bench.Step{Name: "fillseq"}, State: bench.StateOK, Values: []bench.Value{{Metric: "qps", Number: 7}},
					TimeSeries: []bench.TimeSeries{{Name: "qps", StepS: 1, Values: []float64{1, math.NaN(), 3}}}}}},
			}}
			source.runs.Runs = []bench.RunSummary{source.run[500].RunSummary}
			store := newFakeStore(source)
			h := newHandler(t, source, withStore(store))
			before := get(t, h, target).Body.String()
			w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {target}, "frozen": {"1"}}, func(r *http.Request) { r.Header.Set("Accept", "application/json") })
			var made struct{ Code, URL, Address string }
			if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated || made.URL != "/s/8Kq2" || made.Address != "http://example.com/s/8Kq2" {
				t.Fatalf("%d %s", w.Code, w.Body)
			}

			// Everything moves: figures, changes, notes, runs, names.
			later := reportSource(t)
			for i := range later.series {
				later.series[i].Server = "renamed"
				for j := range later.series[i].Points {
					for k := range later.series[i].Points[j].Samples {
						later.series[i].Points[j].Samples[k].Value *= 1.1 + 0.1*float64(j)
					}
				}
			}
			source.series, source.changes, source.runs, source.run = later.series, nil, bench.RunPage{}, nil
			source.notes = []bench.Note{noteOn(2, "8.1.1", "After.", bench.NoteScope{})}

			frozen := get(t, h, "/s/8Kq2")
			if frozen.Code != http.StatusOK {
				t.Fatalf("status %d", frozen.Code)
			}
			if diff := cmp.Diff(mainPart(t, before), mainPart(t, frozen.Body.String())); diff != "" {
				t.Errorf("figures of a frozen link moved: %s", diff)
			}
			d := parse(t, frozen.Body.String())
			if got := text(d, ".frozen"); got != "frozen on 2026-11-30 by ann see it live" {
				t.Errorf("%q", got)
			}
			if got := d.Find(".frozen a").AttrOr("href", ""); got != target {
				t.Errorf("live is at %q", got)
			}
			// What is written and followed on the live page is not there to be taken for frozen.
			if d.Find(".bar .end a[href^='/api/']").Length() != 0 || d.Find("form[data-link], form.signin").Length() != 0 {
				t.Error("the frozen page offers figures that are not its own")
			}
			live := get(t, h, target)
			if live.Code == http.StatusOK && mainPart(t, live.Body.String()) == mainPart(t, before) {
				t.Error("the live page shows the old figures")
			}
		})
	}
}

func TestAFrozenViewHasItsOwnTextAndPicture(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	source.run = map[int64]bench.RunDetail{303: {}, 401: {}}
	store := newFakeStore(source)
	h := newHandler(t, source, withStore(store))
	for target, formats := range map[string][]string{"/report/rocksdb": {"md", "csv"}, "/charts?step=fillseq": {"md"}, "/changes/1": nil, "/changes/1?around=all": nil} {
		want := map[string]string{"md": get(t, h, strings.Replace(target, "/charts", "/charts.md", 1)+map[bool]string{true: "?format=md"}[strings.HasPrefix(target, "/report")]).Body.String()}
		want["csv"] = get(t, h, "/report/rocksdb?format=csv").Body.String()
		if w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {target}, "frozen": {"1"}}); w.Code != http.StatusCreated {
			t.Fatalf("status %d", w.Code)
		}
		series := source.series
		source.series = reportSource(t).series[:1]
		for _, format := range formats {
			if got := get(t, h, "/s/8Kq2?format="+format).Body.String(); got != want[format] || len(got) < 100 {
				t.Errorf("%s as %s: %d bytes, want %d", target, format, len(got), len(want[format]))
			}
		}
		if w := get(t, h, "/s/8Kq2?picture=preview"); w.Code != http.StatusOK || !bytes.HasPrefix(w.Body.Bytes(), []byte("\x89PNG")) {
			t.Errorf("%s: status %d", target, w.Code)
		}
		if w := get(t, h, "/s/8Kq2?format=xml"); w.Code != http.StatusBadRequest {
			t.Errorf("%s in a form that it has not: status %d", target, w.Code)
		}
		d := page(t, h, "/s/8Kq2")
		if got := d.Find(`meta[property="og:image"]`).AttrOr("content", ""); got != "http://example.com/s/8Kq2?picture=preview" {
			t.Errorf("%q", got)
		}
		source.series = series
	}
}

// What is frozen from an old bookmark is what it means today.
func TestAnAddressWithAFormerNameCanBeFrozen(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	store := newFakeStore(source)
	store.former = []bench.FormerName{{Kind: bench.NameServer, Old: "beelink", New: "c2"}}
	h := newHandler(t, source, withStore(store))
	for _, target := range []string{"/charts?server=beelink&step=fillseq", "/report/rocksdb?server=beelink"} {
		before := get(t, h, strings.Replace(target, "beelink", "c2", 1)).Body.String()
		if w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {target}, "frozen": {"1"}}); w.Code != http.StatusCreated {
			t.Fatalf("status %d", w.Code)
		}
		frozen := get(t, h, "/s/8Kq2")
		if frozen.Code != http.StatusOK {
			t.Fatalf("status %d", frozen.Code)
		}
		if diff := cmp.Diff(mainPart(t, before), mainPart(t, frozen.Body.String())); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
	}
}

func TestALiveLinkLeadsToItsView(t *testing.T) {
	t.Parallel()
	store := newFakeStore(reportSource(t))
	h := newHandler(t, store.source, withStore(store))
	w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {"/charts?step=fillseq"}, "frozen": {""}})
	if w.Code != http.StatusCreated {
		t.Fatalf("status %d", w.Code)
	}
	d := parse(t, w.Body.String())
	address := text(d, "pre.code")
	if address != "http://example.com/s/7Kq2" || len(address) > 60 {
		t.Errorf("%q", address)
	}
	if w := get(t, h, "/s/7Kq2"); w.Code != http.StatusFound || w.Header().Get("Location") != "/charts?step=fillseq" {
		t.Errorf("status %d to %q", w.Code, w.Header().Get("Location"))
	}
	store.links["evil"] = bench.Link{URL: "//evil.example/"}
	if w := get(t, h, "/s/evil"); w.Header().Get("Location") != "/" {
		t.Errorf("leads to %q", w.Header().Get("Location"))
	}
	for _, target := range []string{"/s/none", "/s/" + strings.Repeat("x", 40)} {
		if w := get(t, h, target); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

func TestOnlyViewsCanBeFrozen(t *testing.T) {
	t.Parallel()
	store := newFakeStore(reportSource(t))
	h := newHandler(t, store.source, withStore(store))
	for _, target := range []string{
		"", "charts", "https://evil.example/", "//evil.example", "/nowhere", "/s/7Kq2", "/sign-in", "/changes/99", "/charts?metric=x", "/notes/new", "/static/page.js", "/\x00", "/licences",
	} {
		w := as(t, h, "ann", http.MethodPost, "/links", url.Values{"url": {target}, "frozen": {"1"}})
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("%q: status %d", target, w.Code)
		}
	}
	if len(store.links) != 0 {
		t.Errorf("%+v", store.links)
	}
}

// A snapshot of another form is an error that was written down, not a wrong page.
func TestADamagedSnapshotIsNoPage(t *testing.T) {
	t.Parallel()
	store := newFakeStore(reportSource(t))
	h := newHandler(t, store.source, withStore(store))
	for name, raw := range map[string]string{"no JSON": "x", "other form": `{"format":2,"url":"/charts"}`, "bad address": `{"format":1,"url":":"}`} {
		store.links["8Kq2"] = bench.Link{Code: "8Kq2", URL: "/charts", Frozen: true, Snapshot: []byte(raw)}
		if w := get(t, h, "/s/8Kq2"); w.Code != http.StatusInternalServerError {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
	// One that lacks a read of today's program says so.
	store.links["8Kq2"] = bench.Link{Code: "8Kq2", URL: "/charts", Frozen: true, Snapshot: []byte(`{"format":1,"url":"/charts","reads":[]}`)}
	if w := get(t, h, "/s/8Kq2"); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "See it live.") {
		t.Errorf("status %d", w.Code)
	}
}

// failing answers every read with an error.
type failing struct{ *fakeSource }

func TestAReadThatFailsIsNotFrozen(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	source.err = errors.New("away")
	if _, err := Freeze(t.Context(), Config{Source: failing{source}, Logger: slog.New(slog.DiscardHandler)}, "/charts"); err == nil {
		t.Error("a view that could not be shown was frozen")
	}
}

// Everything that a source can say comes back as it was.
func TestReadsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	now := time.Date(2026, 11, 30, 9, 0, 0, 123_000, time.UTC)
	zero := 0.0
	offset := 7200
	source.series[0].Points[0].Samples[0].Started = bench.LocalTimeOf(time.Date(2023, 9, 1, 10, 0, 0, 0, time.UTC), &offset)
	source.changes[0].Dissolved = &now
	source.events = map[int64][]bench.ChangeEvent{1: {{ID: 1, At: now, Actor: "ann", Field: "comment", After: "x"}}}
	source.notes = []bench.Note{noteOn(1, "8.0.0", "x", bench.NoteScope{Step: "fillseq"})}
	source.history = map[int64][]bench.NoteRevision{1: {{Revision: 1, At: now, Actor: "ann", Action: "written", Body: "x"}}}
	source.uploads = []bench.UploadInfo{{ID: 1, Filename: "a", Created: now}}
	source.runs = bench.RunPage{Runs: []bench.RunSummary{{ID: 1, Started: bench.NewLocalTime(2023, 9, 1, 10, 0, 0)}}, Next: "x"}
	source.run = map[int64]bench.RunDetail{1: {Environment: map[string]string{"a": "b"}, Results: []bench.StoredResult{{
		Key: bench.Key{1, 2}, Result: bench.Result{
			Values: []bench.Value{{Metric: "qps", Number: 0}}, Histograms: []bench.Histogram{{Min: &zero, Counts: []float64{0}}},
			TimeSeries: []bench.TimeSeries{{Name: "qps", Values: []float64{1, math.NaN(), 0}}},
		},
	}}}}
	source.configs = []bench.StoredConfig{{ID: 1, Created: now, Config: bench.Config{System: "myrocks", Name: "a0", Layer: bench.LayerParsed,
		Options: []bench.Option{{Section: "mysqld", Key: "x", Written: "8G", Value: "8589934592", Line: 3, Loose: true}}}}}
	source.spreads = []bench.Distribution{{RunID: 1, Step: "l.i1", Histogram: bench.Histogram{Operation: "insert", Unit: "µs", Bounds: []float64{256}, Percents: []float64{100}}}}
	source.facts = []bench.RunFacts{{ID: 1, System: "rocksdb", Started: bench.NewLocalTime(2023, 9, 1, 1, 2, 3), Options: map[string]string{"block_size": "4096"}, Environment: map[string]string{"disk": "Disk 1"}}}
	source.splits = []bench.RunBreakdown{{RunID: 1, Step: "state-perf", Breakdown: bench.Breakdown{Key: "block_read_count", Bucket: "6", Samples: 7, Unit: "ns", Value: 4502067}}}
	tape := &recorder{Source: source}
	ctx := context.Background()
	reads := func(s Source) []any {
		var out []any
		keep := func(v any, err error) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, v)
		}
		series, err := s.Series(ctx, bench.SeriesFilter{Metric: "qps", Servers: []string{"c2"}})
		keep(series, err)
		of, err := s.SeriesOf(ctx, source.series[0].Coordinate)
		keep(of, err)
		facets, err := s.Facets(ctx, bench.SeriesFilter{System: "rocksdb"})
		keep(facets, err)
		coordinates, err := s.Coordinates(ctx, bench.SeriesFilter{})
		keep(coordinates, err)
		totals, err := s.Totals(ctx)
		keep(totals, err)
		runs, err := s.Runs(ctx, bench.RunFilter{Limit: 1})
		keep(runs, err)
		run, err := s.Run(ctx, 1)
		keep(run, err)
		uploads, err := s.Uploads(ctx, bench.UploadFilter{})
		keep(uploads, err)
		changes, err := s.Changes(ctx, bench.ChangeFilter{Dissolved: true})
		keep(changes, err)
		p, tested, err := s.ChangeTable(ctx, "rocksdb")
		keep(tableAnswer{p, tested}, err)
		change, err := s.Change(ctx, 1)
		keep(change, err)
		notes, err := s.Notes(ctx, bench.NoteFilter{})
		keep(notes, err)
		configs, err := s.Configs(ctx, bench.ConfigFilter{Names: []string{"a0"}, Options: true})
		keep(configs, err)
		spreads, err := s.Distributions(ctx, []int64{1})
		keep(spreads, err)
		varied, err := s.Varied(ctx, bench.VariedFilter{System: "rocksdb"})
		keep(varied, err)
		facts, err := s.RunFacts(ctx, []int64{1})
		keep(facts, err)
		splits, err := s.Breakdowns(ctx, []int64{1})
		keep(splits, err)
		n, history, err := s.Note(ctx, 1)
		keep(noteAnswer{n, history}, err)
		return out
	}
	want := reads(tape)
	if tape.err != nil {
		t.Fatal(tape.err)
	}
	raw, err := json.Marshal(snapshot{snapshotFormat, "/", tape.reads})
	if err != nil {
		t.Fatal(err)
	}
	var back snapshot
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	got := reads(player{back.answers()})
	times := cmp.Comparer(func(a, b bench.LocalTime) bool { return a.String() == b.String() })
	if diff := cmp.Diff(want, got, times, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	if _, err := (player{back.answers()}).Series(ctx, bench.SeriesFilter{Metric: "p99"}); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("a read that was not made: %v", err)
	}
}
