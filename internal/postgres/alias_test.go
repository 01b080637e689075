package postgres_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/relqps/relqps/internal/bench"
)

var sameTimes = cmp.Comparer(func(a, b bench.LocalTime) bool { return a.String() == b.String() })

// twoVersions measures a step at two versions on c2.
func twoVersions() []bench.Run {
	return []bench.Run{
		c2("8.0.0", row("a", 1, "fillseq.t1", "2025-01-01T00:00:00", "100"), row("a", 2, "readrandom.t8", "", "7")),
		c2("8.1.1", row("a", 3, "fillseq.t1", "2025-01-02T00:00:00", "101")),
	}
}

func TestRenamingKeepsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		kind     bench.NameKind
		old, new string
		set      func(*bench.Run, string)
	}{
		{bench.NameServer, "c2", "beelink", func(r *bench.Run, s string) { r.Server = s }},
		{bench.NameWorkload, "cached", "in-memory", func(r *bench.Run, s string) { r.Workload = s }},
		{bench.NameConfig, "a0", "base", func(r *bench.Run, s string) { r.Config = s }},
	} {
		t.Run(string(x.kind), func(t *testing.T) {
			t.Parallel()
			s, _ := setup(t)
			// The content of a batch is the writer's to change: each write gets its own.
			make := func(name string) *bench.Batch {
				runs := twoVersions()
				for i := range runs {
					x.set(&runs[i], name)
				}
				return batch("a", runs...)
			}
			if _, err := s.Write(t.Context(), upload("a", "1"), make(x.old), nil); err != nil {
				t.Fatal(err)
			}
			before, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps"})
			if err != nil {
				t.Fatal(err)
			}
			scope := map[bench.NameKind]bench.NoteScope{bench.NameServer: {Server: x.old}, bench.NameWorkload: {Workload: x.old}, bench.NameConfig: {Config: x.old}}[x.kind]
			note, err := s.CreateNote(t.Context(), bench.Note{System: "rocksdb", Version: "8.1.1", Body: "x", Author: "ann", Scope: scope})
			if err != nil {
				t.Fatal(err)
			}

			if err := s.Rename(t.Context(), x.kind, x.old, x.new, "ann"); err != nil {
				t.Fatal(err)
			}
			after, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps"})
			if err != nil {
				t.Fatal(err)
			}
			if len(after) != len(before) || len(after) == 0 {
				t.Fatalf("%d series, were %d", len(after), len(before))
			}
			for i := range after {
				run := bench.Run{Server: after[i].Server, Workload: after[i].Workload, Config: after[i].Config}
				want := run
				x.set(&want, x.new)
				if run.Server != want.Server || run.Workload != want.Workload || run.Config != want.Config {
					t.Errorf("%s keeps its name", after[i].Coordinate)
				}
				if diff := cmp.Diff(before[i].Points, after[i].Points, sameTimes); diff != "" || after[i].ID != before[i].ID {
					t.Errorf("other points or series: %s", diff)
				}
			}
			if n, _, err := s.Note(t.Context(), note.ID); err != nil || n.Scope == scope || !n.Scope.Covers(after[0].Coordinate) {
				t.Errorf("the note's scope: %+v %v", n.Scope, err)
			}

			// The same measurements, sent under either name, are recognised.
			for i, name := range []string{x.old, x.new} {
				receipt, err := s.Write(t.Context(), upload("a", string(rune('2'+i))), make(name), nil)
				if err != nil || receipt.Results != 0 || receipt.AlreadyThere != 3 {
					t.Errorf("sent again as %s: %+v %v", name, receipt, err)
				}
			}
			former, err := s.FormerNames(t.Context(), []bench.FormerName{{Kind: x.kind, Old: x.old}, {Kind: x.kind, Old: "other"}, {Kind: x.kind, Old: x.new}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]bench.FormerName{{Kind: x.kind, Old: x.old, New: x.new}}, former); diff != "" {
				t.Error(diff)
			}

			// Renamed once more, both former names lead to the last one.
			if err := s.Rename(t.Context(), x.kind, x.new, "third", "ann"); err != nil {
				t.Fatal(err)
			}
			if former, err = s.FormerNames(t.Context(), []bench.FormerName{{Kind: x.kind, Old: x.old}, {Kind: x.kind, Old: x.new}}); err != nil || len(former) != 2 || former[0].New != "third" || former[1].New != "third" {
				t.Errorf("%+v %v", former, err)
			}
			// And back to the first: it is no former name any more.
			if err := s.Rename(t.Context(), x.kind, "third", x.old, "ann"); err != nil {
				t.Fatal(err)
			}
			if former, err = s.FormerNames(t.Context(), []bench.FormerName{{Kind: x.kind, Old: x.old}}); err != nil || len(former) != 0 {
				t.Errorf("%+v %v", former, err)
			}
		})
	}
}

func TestRenamingIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	runs := twoVersions()
	other := twoVersions()
	for i := range other {
		other[i].Server, other[i].Workload = "u5", "iodir"
	}
	if _, err := s.Write(t.Context(), upload("a", "1"), batch("a", append(runs, other...)...), nil); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		kind     bench.NameKind
		old, new string
		want     bench.Kind
	}{
		{bench.NameServer, "nowhere", "x", bench.KindNotFound},
		{bench.NameServer, "c2", "u5", bench.KindConflict},
		{bench.NameWorkload, "cached", "iodir", bench.KindConflict},
		{bench.NameServer, "c2", " ", bench.KindInvalid},
		{"compiler", "gcc", "cc", bench.KindInvalid},
	} {
		if err := s.Rename(t.Context(), x.kind, x.old, x.new, "ann"); bench.KindOf(err) != x.want {
			t.Errorf("%s %s → %q: %v, want %s", x.kind, x.old, x.new, err, x.want)
		}
	}
	if err := s.Rename(t.Context(), bench.NameServer, "c2", "c2", "ann"); err != nil {
		t.Errorf("the same name: %v", err)
	}
}

// A name that something new has got is no longer a former one.
func TestANewServerMayTakeAFormerName(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	if _, err := s.Write(t.Context(), upload("a", "1"), batch("a", twoVersions()...), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(t.Context(), bench.NameServer, "c2", "beelink", "ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO server (slug) VALUES ('c2')`); err != nil {
		t.Fatal(err)
	}
	if former, err := s.FormerNames(t.Context(), []bench.FormerName{{Kind: bench.NameServer, Old: "c2"}}); err != nil || len(former) != 0 {
		t.Errorf("%+v %v", former, err)
	}
}

func TestSeriesOfOneCoordinate(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	r := row("a", 1, "fillseq.t1", "2025-01-01T00:00:00", "100")
	r.Set(bench.Value{Metric: "p99", Number: 3, Resolution: 1})
	r.Set(bench.Value{Metric: "user_cpu_s", Number: 500, Resolution: 100})
	if _, err := s.Write(t.Context(), upload("a", "1"), batch("a", c2("8.0.0", r, row("a", 2, "readrandom.t8", "2025-01-01T01:00:00", "7"))), nil); err != nil {
		t.Fatal(err)
	}
	all, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps", Steps: []string{"fillseq"}})
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	got, err := s.SeriesOf(t.Context(), all[0].Coordinate)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range got {
		names = append(names, x.Metric.Name)
	}
	if diff := cmp.Diff([]string{"qps", "p99", "user_cpu_s"}, names); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(all[0], got[0], sameTimes); diff != "" {
		t.Error(diff)
	}
	none := all[0].Coordinate
	none.Server = "elsewhere"
	if got, err := s.SeriesOf(t.Context(), none); err != nil || len(got) != 0 {
		t.Errorf("%+v %v", got, err)
	}
}

// Whatever is written in the moment of a renaming, to servers that nobody knew
// before too, goes under the new name.
func TestUploadsInTheMomentOfARenamingFollowIt(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	if _, err := s.Write(t.Context(), upload("a", "0"), batch("a", twoVersions()...), nil); err != nil {
		t.Fatal(err)
	}
	var writers errgroup.Group
	for i := range 24 {
		writers.Go(func() error {
			if i == 8 {
				return s.Rename(t.Context(), bench.NameWorkload, "cached", "in-memory", "ann")
			}
			runs := twoVersions()
			for j := range runs {
				runs[j].Server = fmt.Sprintf("new%d", i)
			}
			_, err := s.Write(t.Context(), upload("a", fmt.Sprint(1+i)), batch("a", runs...), nil)
			return err
		})
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	facets, err := s.Facets(t.Context(), bench.SeriesFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(facets.Workloads) != 1 || facets.Workloads[0].Name != "in-memory" || len(facets.Servers) != 24 {
		t.Errorf("%d servers, workloads %+v", len(facets.Servers), facets.Workloads)
	}
}
