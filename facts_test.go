package main

import (
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/sample"
)

// What is known of the published archives: which changes are doubted, by what, and
// which are not. Pages and API show these words.
func TestKnownChangesOfTheSampleCarryTheirDoubts(t *testing.T) {
	t.Parallel()
	store, err := postgres.Open(t.Context(), pgtest.NewURL(t), postgres.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if err := sample.Load(t.Context(), ingest.Ingester{Store: store, Detect: compare.Detect}); err != nil {
		t.Fatal(err)
	}
	found, err := store.Changes(t.Context(), bench.ChangeFilter{System: "rocksdb", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	series, err := store.Series(t.Context(), bench.SeriesFilter{System: "rocksdb", Suite: "db_bench", Metric: "qps"})
	if err != nil {
		t.Fatal(err)
	}
	lines := compare.Compare(series, compare.Options{}).Lines
	type place struct{ server, workload, step, version string }
	type judged struct {
		bench.Change
		evidence compare.Evidence
		doubts   string
	}
	changes := map[place]judged{}
	for _, c := range found.Changes {
		if c.Suite != "db_bench" || c.Metric.Name != "qps" {
			continue
		}
		e := compare.Gather(c, lines)
		// No series is of two kinds, and none that moved the other way counts as seen.
		told := map[bench.Coordinate]bool{}
		for _, s := range slices.Concat(e.Elsewhere(), e.SameRuns()) {
			if told[s.Coordinate] {
				t.Errorf("change %d: %v is listed twice", c.ID, s.Coordinate)
			}
			told[s.Coordinate] = true
		}
		for _, s := range e.NotSeen {
			// The rule in ratios: the interval excludes half of the effect, or a tenth.
			least := math.Exp(math.Copysign(min(math.Abs(c.Effect)/2, 0.1), c.Effect))
			if least > 1 && s.High >= least || least < 1 && s.Low <= least {
				t.Errorf("%v at %s: %v does not exclude half of %.3f or a tenth, and is called not seen", c.Coordinate, c.To, s, c.Effect)
			}
		}
		var doubts []string
		for _, d := range compare.Doubts(c, e, 0) {
			doubts = append(doubts, d.Text)
		}
		changes[place{c.Server, c.Workload, c.Step, c.To}] = judged{c, e, strings.Join(doubts, ", ")}
	}
	at := func(server, workload, step, version string) (judged, bool) {
		c, ok := changes[place{server, workload, step, version}]
		if !ok {
			t.Errorf("%s %s %s: no change at %s", server, workload, step, version)
		}
		return c, ok
	}
	on := func(list []compare.Sighting, server, workload string) bool {
		return slices.ContainsFunc(list, func(s compare.Sighting) bool { return s.Server == server && s.Workload == workload })
	}
	unseen := regexp.MustCompile(`not seen on ([^,]+, )*u5(,|$)`)
	for _, step := range []string{"readrandom", "multireadrandom", "revrangewhilewriting", "readwhilewriting"} {
		for _, version := range []string{"8.4.4", "8.7.3"} {
			if c, ok := at("c2", "cached", step, version); ok && (!strings.Contains(c.doubts, "new campaign") || !unseen.MatchString(c.doubts) || !on(c.evidence.NotSeen, "u5", "cached")) {
				t.Errorf("c2 cached %s at %s: doubts %q", step, version, c.doubts)
			}
		}
		if c, ok := changes[place{"c2", "cached", step, "6.20.4"}]; ok && !strings.Contains(c.doubts, "new campaign") {
			t.Errorf("c2 cached %s at 6.20.4: doubts %q", step, c.doubts)
		}
	}
	for _, step := range []string{"readrandom", "multireadrandom", "readwhilewriting", "fwdrangewhilewriting"} {
		// A real regression, without a pause before it.
		if c, ok := at("c2", "cached", step, "6.3.6"); ok && (strings.Contains(c.doubts, "campaign") || strings.Contains(c.doubts, "one run")) {
			t.Errorf("c2 cached %s at 6.3.6: doubts %q", step, c.doubts)
		}
	}
	for _, step := range []string{"revrangewhilewriting", "fwdrangewhilewriting", "readwhilewriting"} {
		if c, ok := at("8core", "iobuf", step, "9.11.2"); ok {
			if _, _, common := c.evidence.CommonMode(); !common || !strings.Contains(c.doubts, "common mode") {
				t.Errorf("8core iobuf %s at 9.11.2: doubts %q", step, c.doubts)
			}
		}
	}
	if c, ok := at("c2", "iodir", "overwriteandwait", "8.6.7"); ok && (!on(c.evidence.Seen, "u5", "iodir") || !on(c.evidence.Seen, "u5", "iobuf")) {
		t.Errorf("overwriteandwait at 8.6.7 on c2 iodir: seen on %v", c.evidence.Seen)
	}
	// What one run shows elsewhere often cannot tell: that is not the same as not seen.
	unclear := 0
	for _, c := range changes {
		unclear += len(c.evidence.CannotTell)
	}
	if unclear == 0 {
		t.Errorf("of %d changes every series elsewhere is sure", len(changes))
	}
}

// A page of charts with its data is at most 100 KB before compression, however many
// changes the server found in what it shows.
func TestPagesOfChartsOfTheSampleAreSmall(t *testing.T) {
	t.Parallel()
	h := withSample(t)
	for _, address := range []string{"/charts", "/charts?server=c2&workload=cached", "/charts?server=c2&workload=iodir", "/charts?server=8core&workload=iobuf"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", address, w.Code)
		}
		if n := w.Body.Len(); n > 100_000 {
			t.Errorf("%s: %d bytes, at most 100,000 are wanted", address, n)
		} else {
			t.Logf("%s: %d bytes", address, n)
		}
	}
}

// What a detection finds does not depend on the order in which things came: all
// over again on the same data, everything stays as it is.
func TestDetectingAgainMovesNothing(t *testing.T) {
	t.Parallel()
	store, err := postgres.Open(t.Context(), pgtest.NewURL(t), postgres.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if err := sample.Load(t.Context(), ingest.Ingester{Store: store, Detect: compare.Detect}); err != nil {
		t.Fatal(err)
	}
	read := func() []bench.Change {
		page, err := store.Changes(t.Context(), bench.ChangeFilter{Limit: 1000, Dissolved: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Changes {
			page.Changes[i].Updated = time.Time{}
		}
		return page.Changes
	}
	before := read()
	if _, err := store.DetectAll(t.Context(), compare.Detect); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, read()); diff != "" {
		t.Error(diff)
	}
}
