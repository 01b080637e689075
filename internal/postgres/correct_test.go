package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/postgres"
)

func str(s string) *string { return &s }

// values gives all values of qps by server, workload and compiler.
func values(t testing.TB, s *postgres.Store) map[string][]float64 {
	t.Helper()
	all, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps"})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for _, x := range all {
		name := x.Server + " " + x.Workload + " " + x.Compiler + x.Config + " " + x.Step
		for _, p := range x.Points {
			for _, v := range p.Samples {
				out[name] = append(out[name], v.Value)
			}
		}
	}
	return out
}

func wantValues(t testing.TB, s *postgres.Store, want map[string][]float64) {
	t.Helper()
	if diff := cmp.Diff(want, values(t, s)); diff != "" {
		t.Error("series (-want +got)", diff)
	}
}

func TestACorrectedRunMovesWithItsIdentity(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	wrong := c2("8.8.0", row("a", 1, "fillseq", day1, "100"), row("a", 2, "readrandom", "", "7"))
	wrong.Assumed = []string{"compiler"}
	r := mustWrite(t, s, upload("a", "a"), batch("a", wrong))
	mustWrite(t, s, upload("b", "b"), batch("b", c2("8.7.3", row("b", 1, "fillseq", day2, "90"))))
	id := r.Runs[0].ID

	var seen bench.Touched
	detect := func(_ context.Context, touched bench.Touched) ([]bench.Detection, error) {
		seen = touched
		return nil, nil
	}
	patch := bench.RunPatch{Server: str(" u5 "), Workload: str("byos"), Compiler: str("clang.lto"), Config: str("hcc")}
	if err := s.PatchRun(t.Context(), id, patch, "wrong directory", "admin", detect); err != nil {
		t.Fatal(err)
	}
	wantValues(t, s, map[string][]float64{
		"c2 cached gcc fillseq":                   {90},
		"u5 cached-by-os clang+ltohcc fillseq":    {100},
		"u5 cached-by-os clang+ltohcc readrandom": {7},
	})
	if len(seen.Series) != 4 {
		t.Errorf("detection saw %d series, want those of both sides", len(seen.Series))
	}
	d, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if d.Server != "u5" || d.Workload != "cached-by-os" || d.Build.Compiler != "clang+lto" || d.Config != "hcc" || len(d.Assumed) != 0 {
		t.Errorf("run %+v", d.RunSummary)
	}
	want := []bench.RunChange{{Actor: "admin", Action: "corrected", Reason: "wrong directory",
		Before: map[string]string{"server": "c2", "workload": "cached", "compiler": "gcc", "config": ""},
		After:  map[string]string{"server": "u5", "workload": "cached-by-os", "compiler": "clang+lto", "config": "hcc"}}}
	if diff := cmp.Diff(want, d.History, cmpopts.IgnoreFields(bench.RunChange{}, "At")); diff != "" {
		t.Error("history (-want +got)", diff)
	}

	// The rows with their right context are the same measurements now, in a file
	// of another name; the undated one too.
	right := c2("8.8.0", row("c", 1, "fillseq", day1, "100"), row("c", 2, "readrandom", "", "7"))
	right.Server, right.Workload, right.Build.Compiler, right.Config = "u5", "cached-by-os", "clang+lto", "hcc"
	again := mustWrite(t, s, upload("c", "c"), batch("c", right))
	if again.Results != 0 || again.AlreadyThere != 2 || again.Runs[0].ID != id {
		t.Errorf("receipt %+v, want both rows to be run %d's", again, id)
	}
	if key := bench.RunKey(&right); d.Key != key {
		t.Errorf("key %s, want %s", d.Key, key)
	}
	// The same bytes as before are still the same upload.
	if dup := mustWrite(t, s, upload("a", "a"), batch("a", wrong)); !dup.Duplicate {
		t.Errorf("receipt %+v, want a duplicate", dup)
	}
}

func TestACorrectionThatChangesNothingLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	r := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))))
	before := counts(t, pool)
	if err := s.PatchRun(t.Context(), r.Runs[0].ID, bench.RunPatch{Workload: str("byrx")}, "spelling", "admin", nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, counts(t, pool)); diff != "" {
		t.Error(diff)
	}
}

func TestCorrectionsThatCannotBe(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	a := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))))
	other := c2("8.8.0", row("b", 1, "fillseq", day1, "100"))
	other.Server = "u5"
	b := mustWrite(t, s, upload("b", "b"), batch("b", other))
	for name, test := range map[string]struct {
		id     int64
		patch  bench.RunPatch
		reason string
		kind   bench.Kind
	}{
		"without reason":               {a.Runs[0].ID, bench.RunPatch{Server: str("x")}, " ", bench.KindInvalid},
		"of no run":                    {b.Runs[0].ID + 1, bench.RunPatch{Server: str("x")}, "why", bench.KindNotFound},
		"to no server":                 {a.Runs[0].ID, bench.RunPatch{Server: str("")}, "why", bench.KindInvalid},
		"to what another run measured": {a.Runs[0].ID, bench.RunPatch{Server: str("u5")}, "why", bench.KindConflict},
	} {
		if err := s.PatchRun(t.Context(), test.id, test.patch, test.reason, "admin", nil); bench.KindOf(err) != test.kind {
			t.Errorf("%s: error %v, want kind %s", name, err, test.kind)
		}
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {100}, "u5 cached gcc fillseq": {100}})
}

func TestCorrectionsAndUploadsAtOnceLeaveSeriesThatAgreeWithResults(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	var ids, uploads []int64
	for i := range 6 {
		file := fmt.Sprint("f", i)
		r := mustWrite(t, s, upload(file, file), batch(file, c2("8.8.0", row(file, 1, "fillseq", fmt.Sprintf("2023-11-09T0%d:00:00", i), "100"))))
		ids, uploads = append(ids, r.Runs[0].ID), append(uploads, r.UploadID)
	}
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			for k := range 4 {
				to := fmt.Sprint("s", (i+k)%3)
				if err := s.PatchRun(t.Context(), id, bench.RunPatch{Server: &to}, "moving", "admin", nil); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			if i%2 == 0 {
				if err := s.WithdrawUpload(t.Context(), uploads[i], "wrong", "admin", nil); err != nil {
					t.Error(err)
				}
				return
			}
			file := fmt.Sprint("g", i)
			mustWrite(t, s, upload(file, file), batch(file, c2("8.8.0", row(file, 1, "fillseq", fmt.Sprintf("2023-12-09T0%d:00:00", i), "100"))))
		})
	}
	wg.Wait()
	var wrong, active int
	err := pool.QueryRow(t.Context(), `
		SELECT count(*) FILTER (WHERE p.n IS DISTINCT FROM r.n), sum(r.n)
		FROM (SELECT coordinate_id, cardinality(versions) AS n FROM coordinate_points) p
		FULL JOIN (SELECT c.id AS coordinate_id, count(x.id) AS n FROM coordinate c LEFT JOIN result x ON x.coordinate_id = c.id AND NOT x.withdrawn GROUP BY c.id) r
		USING (coordinate_id)`).Scan(&wrong, &active)
	if err != nil || wrong != 0 || active != 6 {
		t.Errorf("%d coordinates disagree with their results, %d results count, %v; want 0 and 6", wrong, active, err)
	}
}

func TestAWithdrawnRunStaysSoUntilItIsRestored(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	r := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))))
	mustWrite(t, s, upload("b", "b"), batch("b", c2("8.7.3", row("b", 1, "fillseq", day2, "90"))))
	id := r.Runs[0].ID
	if err := s.WithdrawRun(t.Context(), id, "throttled", "admin", nil); err != nil {
		t.Fatal(err)
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {90}})
	if err := s.WithdrawRun(t.Context(), id, "again", "admin", nil); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want a conflict", err)
	}

	// Neither another file with the row nor a new row of the run brings it back.
	again := mustWrite(t, s, upload("c", "c"), batch("c", c2("8.8.0", row("c", 1, "fillseq", day1, "100"), row("c", 2, "readrandom", day1, "5"))))
	if again.AlreadyThere != 1 || len(again.Warnings) != 2 {
		t.Errorf("receipt %+v, want a warning for each of both rows", again)
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {90}})

	if err := s.RestoreRun(t.Context(), id, "", "admin", nil); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("error %v, want a reason to be needed", err)
	}
	if err := s.RestoreRun(t.Context(), id, "it was another machine", "admin", nil); err != nil {
		t.Fatal(err)
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {90, 100}, "c2 cached gcc readrandom": {5}})
	if err := s.RestoreRun(t.Context(), id, "why", "admin", nil); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want a conflict", err)
	}
	d, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, h := range d.History {
		actions = append(actions, h.Action+": "+h.Reason+": "+h.Before["state"]+" to "+h.After["state"])
	}
	if diff := cmp.Diff([]string{"withdrawn: throttled: active to withdrawn", "restored: it was another machine: withdrawn to active"}, actions); diff != "" {
		t.Error("history", diff)
	}
	if err := s.WithdrawRun(t.Context(), id+100, "why", "admin", nil); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("error %v, want not found", err)
	}
}

func TestAWithdrawnRunMakesRoomForTheRightContext(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	r := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))))
	if err := s.WithdrawRun(t.Context(), r.Runs[0].ID, "wrong workload", "admin", nil); err != nil {
		t.Fatal(err)
	}
	right := c2("8.8.0", row("b", 1, "fillseq", day1, "100"))
	right.Workload = "iobuf"
	mustWrite(t, s, upload("b", "b"), batch("b", right))
	wantValues(t, s, map[string][]float64{"c2 iobuf gcc fillseq": {100}})
	if err := s.RestoreRun(t.Context(), r.Runs[0].ID, "why", "admin", nil); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want a conflict: the measurement counts elsewhere now", err)
	}
}

func TestAWithdrawnUploadStopsCountingAndComesBack(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	shared := func(file string) bench.Result { return row(file, 1, "fillseq", day1, "100") }
	own := with(row("a", 2, "readrandom", day1, "5"), "p99", 3, 1, "p99")
	own.Histograms = []bench.Histogram{{Operation: "read", Unit: "µs", Bounds: []float64{1}, Counts: []float64{2}}}
	b := batch("a", c2("8.8.0", shared("a"), own), c2("8.7.3", row("a", 3, "fillseq", day2, "90")))
	u := upload("a", "a")
	first := mustWrite(t, s, u, b)
	mustWrite(t, s, upload("b", "b"), batch("b", c2("8.8.0", shared("b"))))
	full := map[string][]float64{"c2 cached gcc fillseq": {90, 100}, "c2 cached gcc readrandom": {5}}
	wantValues(t, s, full)

	if err := s.WithdrawUpload(t.Context(), first.UploadID, "", "admin", nil); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("error %v, want a reason to be needed", err)
	}
	if err := s.WithdrawUpload(t.Context(), first.UploadID+7, "why", "admin", nil); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("error %v, want not found", err)
	}
	var seen bench.Touched
	if err := s.WithdrawUpload(t.Context(), first.UploadID, "wrong server", "admin",
		func(_ context.Context, touched bench.Touched) ([]bench.Detection, error) {
			seen = touched
			return nil, nil
		}); err != nil {
		t.Fatal(err)
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {100}}) // the other upload's
	if len(seen.Series) != 2 {
		t.Errorf("detection saw %d series, want both", len(seen.Series))
	}
	if err := s.WithdrawUpload(t.Context(), first.UploadID, "twice", "admin", nil); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want a conflict", err)
	}
	info, err := s.Upload(t.Context(), first.UploadID)
	if err != nil || info.State != bench.RecordWithdrawn || info.Reason != "wrong server" || info.WithdrawnBy != "admin" || info.Withdrawn == nil {
		t.Errorf("upload %+v, %v", info.UploadInfo, err)
	}
	states := func(want ...bench.RecordState) {
		t.Helper()
		for i, ref := range first.Runs {
			d, err := s.Run(t.Context(), ref.ID)
			if err != nil || d.State != want[i] {
				t.Errorf("run %d is %s, %v; want %s", ref.ID, d.State, err, want[i])
			}
			if n := map[bench.RecordState]int{bench.RecordActive: 1}[want[i]]; (d.Campaign > 0) != (n > 0) {
				t.Errorf("run %d is in campaign %d", ref.ID, d.Campaign)
			}
		}
	}
	states(bench.RecordActive, bench.RecordWithdrawn)

	// The same bytes again, which have been understood better in the meantime.
	own.Histograms, own.Values[1].Number = nil, 4
	b.Runs[0].Results[1] = own
	back := mustWrite(t, s, u, b)
	if back.Duplicate || back.UploadID == first.UploadID || back.Results != 2 || back.AlreadyThere != 1 {
		t.Errorf("receipt %+v, want a new upload that revives two results and finds one", back)
	}
	if diff := cmp.Diff(first.Runs, back.Runs); diff != "" {
		t.Error("runs", diff)
	}
	wantValues(t, s, full)
	states(bench.RecordActive, bench.RecordActive)
	d, err := s.Run(t.Context(), first.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := d.Results[1].Value("p99"); v != 4 || len(d.Results[1].Histograms) != 0 {
		t.Errorf("p99 is %v with %d histograms: want what the revived upload says", v, len(d.Results[1].Histograms))
	}
	if d, err = s.Run(t.Context(), first.Runs[1].ID); err != nil || len(d.History) != 2 || d.History[1].Action != "restored" {
		t.Errorf("history %+v, %v: want the withdrawal and the return", d.History, err)
	}
	if dup := mustWrite(t, s, u, b); !dup.Duplicate || dup.UploadID != back.UploadID {
		t.Errorf("receipt %+v, want a duplicate of upload %d", dup, back.UploadID)
	}
}

func TestAWithdrawnUploadMakesRoomForTheRightContext(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	u := upload("a", "a")
	u.Context.Workload = "cached"
	first := mustWrite(t, s, u, batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))))
	if err := s.WithdrawUpload(t.Context(), first.UploadID, "it was iobuf", "admin", nil); err != nil {
		t.Fatal(err)
	}
	right := c2("8.8.0", row("a", 1, "fillseq", day1, "100"))
	right.Workload = "iobuf"
	u.Context.Workload = "iobuf"
	second := mustWrite(t, s, u, batch("a", right))
	if second.Duplicate || second.Results != 1 || second.Runs[0].ID == first.Runs[0].ID {
		t.Errorf("receipt %+v, want a run of its own", second)
	}
	wantValues(t, s, map[string][]float64{"c2 iobuf gcc fillseq": {100}})
}

func TestRowsOfUnnamedBuildsDoNotLeanOnWhatWasWithdrawn(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	r := mustWrite(t, s, upload("builds.zip", "builds"), buildsOfMixed())
	if err := s.WithdrawUpload(t.Context(), r.UploadID, "wrong", "admin", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), upload("sum2", "sum2"), mixed("sum2"), nil); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want a conflict", err)
	}
}

func TestCampaignsFollowTheRunsOfAServer(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	campaigns := func(want map[string]int) {
		t.Helper()
		page, err := s.Runs(t.Context(), bench.RunFilter{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, r := range page.Runs {
			got[r.Server+" "+r.Build.Version] = r.Campaign
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error("campaigns (-want +got)", diff)
		}
	}
	other := c2("8.5.0", row("a", 5, "fillseq", "2023-11-11T00:00:00", "1"))
	other.Server = "u5"
	mustWrite(t, s, upload("a", "a"), batch("a",
		c2("8.0.0", row("a", 1, "fillseq", "2023-11-09T00:00:00", "1")),
		c2("8.1.0", row("a", 2, "fillseq", "2023-11-09T02:00:00", "1")),
		c2("8.2.0", row("a", 3, "fillseq", "2023-11-09T04:00:00", "1")),
		c2("8.3.0", row("a", 4, "fillseq", "2023-11-20T00:00:00", "1")),
		other, c2("8.4.0", row("a", 6, "fillseq", "", "1"))))
	campaigns(map[string]int{"c2 8.0.0": 1, "c2 8.1.0": 1, "c2 8.2.0": 1, "c2 8.3.0": 2, "u5 8.5.0": 1, "c2 8.4.0": 0})
	// An older campaign comes to light: the later ones are counted anew.
	mustWrite(t, s, upload("b", "b"), batch("b", c2("7.0.0", row("b", 1, "fillseq", "2023-01-01T00:00:00", "1"))))
	campaigns(map[string]int{"c2 7.0.0": 1, "c2 8.0.0": 2, "c2 8.1.0": 2, "c2 8.2.0": 2, "c2 8.3.0": 3, "u5 8.5.0": 1, "c2 8.4.0": 0})
}
