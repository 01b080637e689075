package postgres_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
)

// grid stores results of two servers, two workloads, two compilers, two
// versions and three steps, with 16 and 36 clients; 40 of them.
func grid(t testing.TB, s *postgres.Store) {
	t.Helper()
	n := 0
	var runs []bench.Run
	for _, server := range []string{"u5", "c2"} {
		for _, workload := range []string{"cached", "iodir"} {
			for _, compiler := range []string{"gcc", "clang+lto"} {
				for _, version := range []string{"8.10.0", "8.9.1"} {
					run := c2(version)
					run.Server, run.Workload, run.Build.Compiler = server, workload, compiler
					for _, step := range []string{"overwriteandwait.t8", "fillseq", "readwhilewriting.t36"} {
						if step == "overwriteandwait.t8" && server == "u5" {
							continue
						}
						n++
						r := row("grid", n, step, fmt.Sprintf("2023-11-%02dT%02d:%02d:00", n%20+1, n%24, n%60), fmt.Sprint(1000+n))
						if step == "fillseq" {
							r = with(r, "p99", float64(n), 1, "p99")
						}
						run.Results = append(run.Results, r)
					}
					if server == "u5" && workload == "iodir" {
						run.Config, run.Clients = "a1", 16
					}
					runs = append(runs, run)
				}
			}
		}
	}
	mustWrite(t, s, upload("grid", "grid"), batch("grid", runs...))
}

func TestSeriesFilters(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	grid(t, s)
	for name, test := range map[string]struct {
		f    bench.SeriesFilter
		want int
	}{
		"nothing":          {bench.SeriesFilter{Metric: "qps"}, 20},
		"system and suite": {bench.SeriesFilter{Metric: "qps", System: "rocksdb", Suite: "db_bench"}, 20},
		"another system":   {bench.SeriesFilter{Metric: "qps", System: "myrocks"}, 0},
		"another suite":    {bench.SeriesFilter{Metric: "qps", Suite: "ibench"}, 0},
		"a metric of some": {bench.SeriesFilter{Metric: "p99"}, 8},
		"a metric of none": {bench.SeriesFilter{Metric: "p50"}, 0},
		"servers":          {bench.SeriesFilter{Metric: "qps", Servers: []string{"c2"}}, 12},
		"two servers":      {bench.SeriesFilter{Metric: "qps", Servers: []string{"c2", "u5", "x"}}, 20},
		"workloads":        {bench.SeriesFilter{Metric: "qps", Workloads: []string{"iodir"}}, 10},
		"steps":            {bench.SeriesFilter{Metric: "qps", Steps: []string{"overwriteandwait"}}, 4},
		"compilers":        {bench.SeriesFilter{Metric: "qps", Compilers: []string{"clang+lto"}}, 10},
		"configs":          {bench.SeriesFilter{Metric: "qps", Configs: []string{"a1"}}, 4},
		"no config":        {bench.SeriesFilter{Metric: "qps", Configs: []string{""}}, 16},
		"clients":          {bench.SeriesFilter{Metric: "qps", Clients: []int{16}}, 4},
		"several at once":  {bench.SeriesFilter{Metric: "qps", Servers: []string{"c2"}, Steps: []string{"fillseq"}, Compilers: []string{"gcc"}, Workloads: []string{"cached"}}, 1},
	} {
		got, err := s.Series(t.Context(), test.f)
		if err != nil || len(got) != test.want {
			t.Errorf("%s: %d series, %v; want %d", name, len(got), err, test.want)
		}
		for _, x := range got {
			if diff := cmp.Diff([]string{"8.9.1", "8.10.0"}, versions(x)); diff != "" {
				t.Errorf("%s: %s", x.Coordinate, diff)
			}
		}
		infos, err := s.Coordinates(t.Context(), test.f)
		if err != nil || len(infos) != test.want {
			t.Errorf("%s: %d coordinates, %v; want %d", name, len(infos), err, test.want)
		}
		for i := range min(len(infos), len(got)) {
			if infos[i].Coordinate != got[i].Coordinate || infos[i].Samples != 2 {
				t.Errorf("%s: coordinate %+v, want %+v with 2 samples", name, infos[i], got[i].Coordinate)
			}
		}
	}
	// By server, workload, clients, compiler, config, then as the suite runs its steps.
	got, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps", Servers: []string{"c2"}, Workloads: []string{"cached"}})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, x := range got {
		order = append(order, x.Compiler+" "+x.Step)
	}
	if diff := cmp.Diff([]string{"clang+lto fillseq", "clang+lto readwhilewriting", "clang+lto overwriteandwait",
		"gcc fillseq", "gcc readwhilewriting", "gcc overwriteandwait"}, order); diff != "" {
		t.Error("order", diff)
	}
}

func TestTooManySeriesAreAnErrorThatNamesTheLimit(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s, err := postgres.New(pool, postgres.Options{MaxSeries: 19})
	if err != nil {
		t.Fatal(err)
	}
	grid(t, s)
	_, err = s.Series(t.Context(), bench.SeriesFilter{Metric: "qps"})
	if bench.KindOf(err) != bench.KindInvalid || !contains(err, "19") {
		t.Errorf("error %v, want one that names the limit", err)
	}
	if got, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps", Servers: []string{"c2"}}); err != nil || len(got) != 12 {
		t.Errorf("%d series, %v; want 12", len(got), err)
	}
}

func TestFacets(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	empty, err := s.Facets(t.Context(), bench.SeriesFilter{})
	if err != nil || len(empty.Systems)+len(empty.Versions)+len(empty.Metrics) != 0 {
		t.Errorf("facets of nothing are %+v, %v", empty, err)
	}
	grid(t, s)
	got, err := s.Facets(t.Context(), bench.SeriesFilter{})
	if err != nil {
		t.Fatal(err)
	}
	qps, _ := bench.LookupMetric("qps")
	p99, _ := bench.LookupMetric("p99")
	want := bench.Facets{
		Systems:   []bench.Facet{{Name: "rocksdb", Samples: 40}},
		Suites:    []bench.Facet{{Name: "db_bench", Samples: 40}},
		Servers:   []bench.Facet{{Name: "c2", Samples: 24}, {Name: "u5", Samples: 16}},
		Workloads: []bench.Facet{{Name: "cached", Samples: 20}, {Name: "iodir", Samples: 20}},
		Steps:     []bench.Facet{{Name: "fillseq", Samples: 16}, {Name: "readwhilewriting", Samples: 16}, {Name: "overwriteandwait", Samples: 8}},
		Compilers: []bench.Facet{{Name: "clang+lto", Samples: 20}, {Name: "gcc", Samples: 20}},
		Configs:   []bench.Facet{{Name: "", Samples: 32}, {Name: "a1", Samples: 8}},
		Clients:   []bench.ClientsFacet{{Clients: 16, Samples: 8}, {Clients: 36, Samples: 32}},
		Metrics:   []bench.MetricFacet{{Metric: qps, Values: 40}, {Metric: p99, Values: 16}},
		Versions:  []bench.VersionFacet{{System: "rocksdb", Name: "8.9.1", Runs: 8}, {System: "rocksdb", Name: "8.10.0", Runs: 8}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("facets (-want +got)", diff)
	}
	got, err = s.Facets(t.Context(), bench.SeriesFilter{Servers: []string{"u5"}, Steps: []string{"fillseq"}, Workloads: []string{"cached"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Servers) != 1 || got.Systems[0].Samples != 4 || got.Metrics[1].Values != 4 || got.Versions[0].Runs != 2 {
		t.Errorf("narrowed facets %+v", got)
	}
	totals, err := s.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bench.Totals{Servers: 2, Versions: 2, Runs: 16, Results: 40, Values: 56, Series: 28, Uploads: 1}, totals); diff != "" {
		t.Error("totals (-want +got)", diff)
	}
}

func TestListsOfRuns(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	grid(t, s)
	undated := mustWrite(t, s, upload("u", "u"), batch("u", c2("9.0.0", row("u", 1, "fillseq", "", "5"))))
	for name, test := range map[string]struct {
		f    bench.RunFilter
		want int
	}{
		"all":       {bench.RunFilter{}, 17},
		"system":    {bench.RunFilter{System: "rocksdb", Suite: "db_bench"}, 17},
		"no system": {bench.RunFilter{System: "myrocks"}, 0},
		"servers":   {bench.RunFilter{Servers: []string{"u5"}}, 8},
		"workloads": {bench.RunFilter{Workloads: []string{"iodir"}}, 8},
		"compilers": {bench.RunFilter{Compilers: []string{"gcc"}}, 9},
		"configs":   {bench.RunFilter{Configs: []string{"a1"}}, 4},
		"versions":  {bench.RunFilter{Versions: []string{"8.9.1", "9.0.0"}}, 9},
		"clients":   {bench.RunFilter{Clients: []int{16}}, 4},
		"an upload": {bench.RunFilter{UploadID: undated.UploadID}, 1},
		"ids":       {bench.RunFilter{IDs: []int64{undated.Runs[0].ID, 999_999}}, 1},
		"active":    {bench.RunFilter{State: bench.RecordActive}, 17},
		"withdrawn": {bench.RunFilter{State: bench.RecordWithdrawn}, 0},
	} {
		page, err := s.Runs(t.Context(), test.f)
		if err != nil || len(page.Runs) != test.want || page.Next != "" {
			t.Errorf("%s: %d runs, next %q, %v; want %d and no next", name, len(page.Runs), page.Next, err, test.want)
		}
	}
	all, err := s.Runs(t.Context(), bench.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(all.Runs); i++ {
		if a, b := all.Runs[i-1].Started, all.Runs[i].Started; !b.IsZero() && a.Wall().Before(b.Wall()) {
			t.Errorf("run %d is older than run %d, which follows", i-1, i)
		}
	}
	if last := all.Runs[16]; last.ID != undated.Runs[0].ID || last.Campaign != 0 || last.OK != 1 {
		t.Errorf("last is %+v, want the undated run", last)
	}
	// Page by page it is the same list.
	var ids []int64
	f := bench.RunFilter{Limit: 5}
	for pages := 0; ; pages++ {
		page, err := s.Runs(t.Context(), f)
		if err != nil || pages > 4 {
			t.Fatal(pages, err)
		}
		for _, r := range page.Runs {
			ids = append(ids, r.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	var want []int64
	for _, r := range all.Runs {
		want = append(want, r.ID)
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Error("pages (-want +got)", diff)
	}
	for _, bad := range []string{"x", "1", "1.x", "1.2.3"} {
		if _, err := s.Runs(t.Context(), bench.RunFilter{Cursor: bad}); bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("cursor %q: %v, want invalid", bad, err)
		}
	}
	if _, err := s.Run(t.Context(), 1<<40); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("error %v, want not found", err)
	}
}

func TestTheCursorOfAnUndatedRunGoesOnAmongUndatedRuns(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	mustWrite(t, s, upload("u", "u"), batch("u", c2("9.0.0", row("u", 1, "fillseq", "", "5")), c2("9.1.0", row("u", 2, "fillseq", "", "5")), c2("9.2.0", row("u", 3, "fillseq", "", "5"))))
	var got []string
	for cursor := ""; ; {
		page, err := s.Runs(t.Context(), bench.RunFilter{Limit: 1, Cursor: cursor})
		if err != nil || len(got) > 3 {
			t.Fatal(got, err)
		}
		got = append(got, page.Runs[0].Build.Version)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"9.2.0", "9.1.0", "9.0.0"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestListsOfUploads(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	var want []string
	for i := range 5 {
		name := fmt.Sprint("f", i)
		r := mustWrite(t, s, upload(name, name), batch(name, c2("8.8.0", row(name, 1, "fillseq", fmt.Sprintf("2023-11-09T0%d:00:00", i), "1"))))
		want = append([]string{name}, want...)
		if i == 2 {
			if err := s.WithdrawUpload(t.Context(), r.UploadID, "why", "me", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := func(f bench.UploadFilter) (names []string) {
		for {
			page, err := s.Uploads(t.Context(), f)
			if err != nil || len(names) > 5 {
				t.Fatal(names, err)
			}
			for _, u := range page.Uploads {
				names = append(names, u.Filename)
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				return names
			}
		}
	}
	if diff := cmp.Diff(want, names(bench.UploadFilter{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, names(bench.UploadFilter{Limit: 2})); diff != "" {
		t.Error("by two", diff)
	}
	if diff := cmp.Diff([]string{"f2"}, names(bench.UploadFilter{State: bench.RecordWithdrawn})); diff != "" {
		t.Error("withdrawn", diff)
	}
	if diff := cmp.Diff([]string{"f4", "f3", "f1", "f0"}, names(bench.UploadFilter{State: bench.RecordActive, Limit: 3}), cmpopts.EquateEmpty()); diff != "" {
		t.Error("active", diff)
	}
	for _, bad := range []string{"x", "-1", "0"} {
		if _, err := s.Uploads(t.Context(), bench.UploadFilter{Cursor: bad}); bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("cursor %q: %v, want invalid", bad, err)
		}
	}
	if _, err := s.Upload(t.Context(), 1<<40); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("error %v, want not found", err)
	}
	if _, _, err := s.UploadBytes(t.Context(), 1<<40); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("error %v, want not found", err)
	}
}
