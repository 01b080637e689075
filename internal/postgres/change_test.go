package postgres_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/postgres"
)

// says makes a detection that gives the same answer for every touched series.
func says(changes ...bench.FoundChange) bench.DetectFunc {
	return func(_ context.Context, touched bench.Touched) ([]bench.Detection, error) {
		var out []bench.Detection
		for _, s := range touched.Series {
			out = append(out, bench.Detection{SeriesID: s.ID, Changes: changes})
		}
		return out, nil
	}
}

func step(from, to string, effect float64) bench.FoundChange {
	return bench.FoundChange{
		Shape: bench.ShapeStep, From: from, To: to, Effect: effect, Low: effect - .01, High: effect + .01, Neighbours: effect, P: .0005, PHere: .0001,
		Before: bench.Level{First: from, Last: from, Mean: 4, N: 1}, After: bench.Level{First: to, Last: to, Mean: 4 + effect, N: 1},
	}
}

// threeVersions stores a series of three versions with what detection says of it.
func threeVersions(t *testing.T, s *postgres.Store, detect bench.DetectFunc) {
	t.Helper()
	_, err := s.Write(t.Context(), upload("a", "a"), batch("a",
		c2("8.6.7", row("a", 1, "fillseq", "2023-11-01T10:00:00", "100")),
		c2("8.7.3", row("a", 2, "fillseq", "2023-11-01T12:00:00", "90")),
		c2("8.8.0", row("a", 3, "fillseq", "2023-11-01T14:00:00", "89"))), detect)
	if err != nil {
		t.Fatal(err)
	}
}

func changes(t *testing.T, s *postgres.Store, f bench.ChangeFilter) []bench.Change {
	t.Helper()
	page, err := s.Changes(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return page.Changes
}

func TestAChangeIsStoredWithAllItSays(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	want := bench.FoundChange{
		Shape: bench.ShapeSpike, From: "8.6.7", To: "8.7.3", Back: "8.8.0", Effect: -.5, Low: -.6, High: -.4, Neighbours: -.45, P: .0002, PHere: .00003,
		Before: bench.Level{First: "8.6.7", Last: "8.6.7", Mean: 4.6, N: 1}, After: bench.Level{First: "8.7.3", Last: "8.7.3", Mean: 4.1, N: 2},
		OneRun: true, NewCampaign: true,
	}
	threeVersions(t, s, says(want))
	got := changes(t, s, bench.ChangeFilter{})
	if len(got) != 1 {
		t.Fatalf("%d changes", len(got))
	}
	if diff := cmp.Diff(want, got[0].FoundChange); diff != "" {
		t.Error(diff)
	}
	if got[0].Step != "fillseq" || got[0].Metric.Name != "qps" || got[0].Triage != bench.TriageNew || got[0].Dissolved != nil {
		t.Errorf("%+v", got[0])
	}
	d, err := s.Change(t.Context(), got[0].ID)
	if err != nil || len(d.Events) != 1 || d.Events[0].After != "found" {
		t.Errorf("%+v %v", d.Events, err)
	}
}

func TestAChangeKeepsItsIdentityDissolvesAndComesBack(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	threeVersions(t, s, says(step("8.6.7", "8.7.3", -.1)))
	id := changes(t, s, bench.ChangeFilter{})[0].ID
	again := func(found ...bench.FoundChange) {
		t.Helper()
		if n, err := s.DetectAll(t.Context(), says(found...)); err != nil || n != 1 {
			t.Fatalf("%d series, %v", n, err)
		}
	}

	again(step("8.7.3", "8.8.0", -.2)) // one version later, the same sign
	if got := changes(t, s, bench.ChangeFilter{}); len(got) != 1 || got[0].ID != id || got[0].To != "8.8.0" || got[0].Effect != -.2 {
		t.Errorf("%+v", got)
	}
	again()
	if got := changes(t, s, bench.ChangeFilter{}); len(got) != 0 {
		t.Errorf("a dissolved change is listed: %+v", got)
	}
	if got := changes(t, s, bench.ChangeFilter{Dissolved: true}); len(got) != 1 || got[0].ID != id || got[0].Dissolved == nil || got[0].Effect != -.2 {
		t.Errorf("%+v", got)
	}
	again(step("8.7.3", "8.8.0", .3)) // the other way is another change
	got := changes(t, s, bench.ChangeFilter{})
	if len(got) != 1 || got[0].ID == id {
		t.Errorf("%+v", got)
	}
	again(step("8.7.3", "8.8.0", -.2))
	d, err := s.Change(t.Context(), id)
	if err != nil || d.Dissolved != nil {
		t.Fatalf("%+v %v", d.Change, err)
	}
	var thread []string
	for _, e := range d.Events {
		thread = append(thread, e.After)
	}
	if diff := cmp.Diff([]string{"found", "dissolved", "found again"}, thread); diff != "" {
		t.Error(diff)
	}
}

func TestDetectionLeavesSeriesItDoesNotSpeakOf(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	threeVersions(t, s, says(step("8.6.7", "8.7.3", -.1)))
	silent := func(context.Context, bench.Touched) ([]bench.Detection, error) { return nil, nil }
	if _, err := s.DetectAll(t.Context(), silent); err != nil {
		t.Fatal(err)
	}
	if got := changes(t, s, bench.ChangeFilter{}); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestChangesFilterAndPage(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	threeVersions(t, s, says(step("8.6.7", "8.7.3", -.1), step("8.7.3", "8.8.0", .05)))
	for _, c := range []struct {
		name   string
		filter bench.ChangeFilter
		want   []string
	}{
		{"newest version first", bench.ChangeFilter{}, []string{"8.8.0", "8.7.3"}},
		{"regressions", bench.ChangeFilter{Kind: "regression"}, []string{"8.7.3"}},
		{"improvements", bench.ChangeFilter{Kind: "improvement"}, []string{"8.8.0"}},
		{"large", bench.ChangeFilter{MinEffect: .08}, []string{"8.7.3"}},
		{"of a version", bench.ChangeFilter{Versions: []string{"8.8.0"}}, []string{"8.8.0"}},
		{"elsewhere", bench.ChangeFilter{Servers: []string{"u5"}}, nil},
		{"triaged", bench.ChangeFilter{Triage: []bench.Triage{bench.TriageNoise}}, nil},
		{"other shape", bench.ChangeFilter{Shape: bench.ShapeSpike}, nil},
		{"surer than any", bench.ChangeFilter{MaxP: .0001}, nil},
	} {
		var got []string
		for _, x := range changes(t, s, c.filter) {
			got = append(got, x.To)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	first, err := s.Changes(t.Context(), bench.ChangeFilter{Limit: 1})
	if err != nil || len(first.Changes) != 1 || first.Next == "" {
		t.Fatalf("%+v %v", first, err)
	}
	second, err := s.Changes(t.Context(), bench.ChangeFilter{Limit: 1, Cursor: first.Next})
	if err != nil || len(second.Changes) != 1 || second.Next != "" || second.Changes[0].To != "8.7.3" {
		t.Errorf("%+v %v", second, err)
	}
	if _, err := s.Changes(t.Context(), bench.ChangeFilter{Cursor: "x"}); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("a made-up cursor: %v", err)
	}
}

func TestWhatPeopleSayOfAChangeHasAThread(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	threeVersions(t, s, says(step("8.6.7", "8.7.3", -.1)))
	id := changes(t, s, bench.ChangeFilter{})[0].ID
	fixed := bench.TriageFixed
	d, err := s.PatchChange(t.Context(), id, bench.ChangePatch{Triage: &fixed, FixedIn: str("8.8.0"), Owner: str("ops"), IssueURL: str("https://example.org/1"), Comment: str("seen *twice*")}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if d.Triage != fixed || d.FixedIn != "8.8.0" || d.Owner != "ops" || d.IssueURL != "https://example.org/1" {
		t.Errorf("%+v", d.Change)
	}
	if d, err = s.PatchChange(t.Context(), id, bench.ChangePatch{Owner: str("ops")}, "bob"); err != nil || len(d.Events) != 6 {
		t.Errorf("setting what is set makes an entry: %+v %v", d.Events, err)
	}
	if d.Events[5].Field != "comment" || d.Events[5].After != "seen *twice*" || d.Events[5].Actor != "ann" {
		t.Errorf("%+v", d.Events[5])
	}
	// A new detection leaves what people said.
	if _, err := s.DetectAll(t.Context(), says(step("8.6.7", "8.7.3", -.12))); err != nil {
		t.Fatal(err)
	}
	if d, err = s.Change(t.Context(), id); err != nil || d.Triage != fixed || d.Effect != -.12 {
		t.Errorf("%+v %v", d.Change, err)
	}
	odd := bench.Triage("odd")
	for name, p := range map[string]bench.ChangePatch{
		"state": {Triage: &odd}, "address": {IssueURL: str("javascript:alert(1)")}, "comment": {Comment: str(" ")},
	} {
		if _, err := s.PatchChange(t.Context(), id, p, "ann"); bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.PatchChange(t.Context(), id+1000, bench.ChangePatch{Owner: str("x")}, "ann"); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("a change that is not there: %v", err)
	}
}
