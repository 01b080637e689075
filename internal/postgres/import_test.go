package postgres_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/postgres"
)

func TestAnImportNeedsAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(*postgres.Store) error{
		"an upload": func(s *postgres.Store) error {
			_, err := s.Write(t.Context(), upload("a", "a"), batch("a", c2("8.8.0", whole("a"))), nil)
			return err
		},
		"a note": func(s *postgres.Store) error {
			_, err := s.CreateNote(t.Context(), bench.Note{System: "rocksdb", Version: "8.8.0", Body: "x", Author: "me"})
			return err
		},
		"a link": func(s *postgres.Store) error {
			_, err := s.CreateLink(t.Context(), bench.Link{URL: "/charts", Author: "me"})
			return err
		},
	} {
		s, pool := setup(t)
		if err := put(s); err != nil {
			t.Fatal(err)
		}
		was := contents(t, pool)
		err := s.Import(t.Context(), func() (bench.Record, error) {
			t.Errorf("%s: a record is asked for", name)
			return bench.Record{}, io.EOF
		})
		if bench.KindOf(err) != bench.KindConflict || !contains(err, "is not empty") {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(was, contents(t, pool)); diff != "" {
			t.Errorf("%s: %s", name, short(diff))
		}
	}
}

func ref[T any](v T) *T { return &v }

// clone copies records as deep as the flaws below reach.
func clone(records []bench.Record) []bench.Record {
	out := slices.Clone(records)
	for i := range out {
		r := &out[i]
		switch {
		case r.Server != nil:
			r.Server = ref(*r.Server)
		case r.Coordinate != nil:
			r.Coordinate = ref(*r.Coordinate)
			r.Coordinate.Series = slices.Clone(r.Coordinate.Series)
		case r.Upload != nil:
			r.Upload = ref(*r.Upload)
			r.Upload.Files, r.Upload.Checks = slices.Clone(r.Upload.Files), slices.Clone(r.Upload.Checks)
		case r.Content != nil:
			r.Content = bytes.Clone(r.Content)
		case r.Config != nil:
			r.Config = ref(*r.Config)
			r.Config.Options, r.Config.From = slices.Clone(r.Config.Options), slices.Clone(r.Config.From)
		case r.MetricSet != nil:
			r.MetricSet = ref(*r.MetricSet)
			r.MetricSet.Values = slices.Clone(r.MetricSet.Values)
		case r.Run != nil:
			r.Run = ref(*r.Run)
			r.Run.Results, r.Run.History = slices.Clone(r.Run.Results), slices.Clone(r.Run.History)
		case r.Results != nil:
			r.Results = slices.Clone(r.Results)
		case r.Change != nil:
			r.Change = ref(*r.Change)
			r.Change.Events = slices.Clone(r.Change.Events)
		case r.Note != nil:
			r.Note = ref(*r.Note)
			r.Note.History = slices.Clone(r.Note.History)
		case r.Link != nil:
			r.Link = ref(*r.Link)
		case r.Alias != nil:
			r.Alias = ref(*r.Alias)
		}
	}
	return out
}

func TestARecordThatCannotBeTakenIsRefusedAtItsLineAndLeavesNothing(t *testing.T) {
	t.Parallel()
	from, fromPool := setup(t)
	fill(t, from, fromPool)
	good := exported(t, from)
	to, toPool := setup(t)
	nothing := contents(t, toPool)
	find := func(what string, is func(*bench.Record) bool) int {
		for i := range good {
			if is(&good[i]) {
				return i
			}
		}
		t.Fatalf("there is no %s", what)
		return 0
	}
	server := find("server", func(r *bench.Record) bool { return r.Server != nil })
	place := find("coordinate", func(r *bench.Record) bool { return r.Coordinate != nil })
	large := find("large upload", func(r *bench.Record) bool { return r.Upload != nil && r.Upload.Packed > 2<<20 })
	small := find("small upload", func(r *bench.Record) bool { return r.Upload != nil && r.Upload.Packed > 0 && r.Upload.Packed < 1<<20 })
	checked := find("upload with a check", func(r *bench.Record) bool { return r.Upload != nil && len(r.Upload.Checks) > 0 })
	config := find("config", func(r *bench.Record) bool { return r.Config != nil })
	set := find("metric set", func(r *bench.Record) bool { return r.MetricSet != nil })
	own := find("run of a runner", func(r *bench.Record) bool { return r.Run != nil && r.Run.OwnID })
	other := find("other run", func(r *bench.Record) bool { return r.Run != nil && !r.Run.OwnID })
	gone := find("withdrawn run", func(r *bench.Record) bool { return r.Run != nil && r.Run.WithdrawnWith != 0 })
	part := find("part of a run", func(r *bench.Record) bool { return r.Results != nil })
	change := find("change", func(r *bench.Record) bool { return r.Change != nil })
	note := find("note", func(r *bench.Record) bool { return r.Note != nil })
	frozen := find("frozen link", func(r *bench.Record) bool { return r.Link != nil && r.Link.Frozen })
	alias := find("alias", func(r *bench.Record) bool { return r.Alias != nil })
	find("superseded result", func(r *bench.Record) bool {
		return r.Run != nil && slices.ContainsFunc(r.Run.Results, func(x bench.ResultRecord) bool { return x.Superseded })
	})
	for _, c := range []struct {
		name string
		at   int // index of the record at fault
		flaw func(r []bench.Record)
		says string
	}{
		{"server twice", server + 1, func(r []bench.Record) { r[server+1].Server.Name = r[server].Server.Name }, "server_slug_unique"},
		{"server without a name", server, func(r []bench.Record) { r[server].Server.Name = "" }, "server_slug_present"},
		{"name that is not text", server, func(r []bench.Record) { r[server].Server.Name = "a\x00b" }, "the database refuses it"},
		{"coordinate on no server", place, func(r []bench.Record) { r[place].Coordinate.Server = "moon" }, `no server is named "moon"`},
		{"coordinate twice", place + 1, func(r []bench.Record) { r[place+1].Coordinate.Coordinate = r[place].Coordinate.Coordinate }, "stands twice"},
		{"coordinate with the number of another", place + 1, func(r []bench.Record) { r[place+1].Coordinate.ID = r[place].Coordinate.ID }, "coordinate_pkey"},
		{"series of an unknown metric", place, func(r []bench.Record) { r[place].Coordinate.Series[0].Metric = "speed" }, `no metric is named "speed"`},
		{"more clients than can be", place, func(r []bench.Record) { r[place].Coordinate.Clients = 1 << 40 }, "too large"},
		{"changed bytes", small, func(r []bench.Record) { r[small+1].Content[r[small].Upload.Packed-1]++ }, "are damaged"},
		{"bytes of another upload", small, func(r []bench.Record) { r[small].Upload.SHA256 = sum("other") }, "are damaged"},
		{"fewer bytes than there are", small, func(r []bench.Record) { r[small].Upload.Size-- }, "are damaged"},
		{"bytes that end early", large + 3, func(r []bench.Record) {
			r[large+3].Content, r[large+3].Server = nil, &bench.ServerRecord{Name: "x", Created: time.Now()}
		}, "only 2097152 came"},
		{"more bytes than said", large + 1, func(r []bench.Record) { r[large].Upload.Packed = 5 }, "more than the 5 bytes"},
		{"bytes of no upload", place, func(r []bench.Record) { r[place].Coordinate, r[place].Content = nil, []byte("x") }, "bytes of no upload"},
		{"state of a file", large, func(r []bench.Record) { r[large].Upload.Files[1].State = "lost" }, "upload_file_state_known"},
		{"file with the number of another", large, func(r []bench.Record) { r[large].Upload.Files[2].ID = r[large].Upload.Files[1].ID }, "upload_file_pkey"},
		{"check of no file", checked, func(r []bench.Record) { r[checked].Upload.Checks[0].File = "x" }, "no file of the upload"},
		{"check of more than all", checked, func(r []bench.Record) { r[checked].Upload.Checks[0].Agree = 9 }, "matrix_check_counts"},
		{"upload withdrawn without a reason", small, func(r []bench.Record) { r[small].Upload.State = bench.RecordWithdrawn }, "upload_withdrawal_told"},
		{"config of no layer", config, func(r []bench.Record) { r[config].Config.Layer = "guessed" }, "config_layer_known"},
		{"config with an option twice", config, func(r []bench.Record) { r[config].Config.Options[1] = r[config].Config.Options[0] }, "config_option_unique"},
		{"config from no file", config, func(r []bench.Record) { r[config].Config.From[0].File = 999 }, "file 999, which is not there"},
		{"two configs of one identity", config + 1, func(r []bench.Record) {
			id, from := r[config+1].Config.ID, r[config+1].Config.From
			r[config+1].Config = ref(*r[config].Config)
			r[config+1].Config.ID, r[config+1].Config.From = id, from
		}, "config_unique"},
		{"set with a bad resolution", set, func(r []bench.Record) { r[set].MetricSet.Values[0].Resolution = -1 }, "metric_set_resolutions"},
		{"run on no server", own, func(r []bench.Record) { r[own].Run.Server = "moon" }, "no server is named"},
		{"run at no coordinate", own, func(r []bench.Record) { r[own].Run.Clients++ }, "was not listed"},
		{"two runs of one key", other, func(r []bench.Record) { r[other].Run.Key = r[own].Run.Key }, "run_key_unique"},
		{"run withdrawn with no upload", gone, func(r []bench.Record) { r[gone].Run.WithdrawnWith = 99 }, "upload 99, which is not there"},
		{"active run with a reason", other, func(r []bench.Record) { r[other].Run.Reason = "why" }, "run_withdrawal_told"},
		{"run of no system", own, func(r []bench.Record) { r[own].Run.System = "" }, "no system"},
		{"binary that is none", own, func(r []bench.Record) { r[own].Run.Build.BinarySHA256 = "x" }, "no SHA-256"},
		{"entry of a history", gone, func(r []bench.Record) { r[gone].Run.History[0].Action = "lost" }, "run_history_action_known"},
		{"two results of one key", other, func(r []bench.Record) { r[other].Run.Results[0].Key = r[own].Run.Results[0].Key }, "result_key_live"},
		{"result at no coordinate", part, func(r []bench.Record) { r[part].Results[7].Step.Name = "fly" }, "was not listed"},
		{"figures without their set", own, func(r []bench.Record) { r[own].Run.Results[0].Set = 99 }, "do not fit metric set 99"},
		{"fewer figures than the set has", own, func(r []bench.Record) { r[own].Run.Results[0].Numbers = nil }, "do not fit metric set"},
		{"infinite figure", part, func(r []bench.Record) { r[part].Results[7].Numbers = []*float64{ref(math.Inf(1))} }, "result_values_finite"},
		{"result from no file", part, func(r []bench.Record) { r[part].Results[7].From = []bench.FileLine{{File: 999}} }, "file 999, which is not there"},
		{"results of no run", part, func(r []bench.Record) {
			r[part-1] = bench.Record{Line: r[part-1].Line, Alias: &bench.AliasRecord{Kind: "server", Old: "a", New: "b", At: time.Now()}}
		}, "results of no run"},
		{"state of a result", own, func(r []bench.Record) { r[own].Run.Results[0].State = "great" }, "result_state_known"},
		{"histogram that lacks a bound", own, func(r []bench.Record) {
			h := slices.Clone(r[own].Run.Results[0].Histograms)
			h[0].Bounds = h[0].Bounds[1:]
			r[own].Run.Results[0].Histograms = h
		}, "histogram_lengths"},
		{"change of no series", change, func(r []bench.Record) { r[change].Change.SeriesID = 99999 }, "series 99999, which is not there"},
		{"change outside its bounds", change, func(r []bench.Record) { r[change].Change.Low = 7 }, "change_interval_ordered"},
		{"change with the number of another", change + 1, func(r []bench.Record) { r[change].Change.ID = r[change+1].Change.ID }, "change_pkey"},
		{"triage", change, func(r []bench.Record) { r[change].Change.Triage = "maybe" }, "change_triage_known"},
		{"entry of a thread", change, func(r []bench.Record) { r[change].Change.Events[0].Field = "mood" }, "change_event_field_known"},
		{"note on no change", note, func(r []bench.Record) { r[note].Note.ChangeID = 999 }, "change 999, which is not there"},
		{"note that says nothing", note, func(r []bench.Record) { r[note].Note.Body = "" }, "note_body_present"},
		{"range that ends before it begins", note, func(r []bench.Record) { r[note].Note.ToVersion = "1.0" }, "note_range_ordered"},
		{"text of a note twice", note, func(r []bench.Record) { r[note].Note.History[1].Revision = 1 }, "note_revision_pkey"},
		{"changed snapshot", frozen, func(r []bench.Record) { r[frozen].Link.Packed = []byte("not zstd") }, "snapshot of link"},
		{"frozen link without a snapshot", frozen, func(r []bench.Record) { r[frozen].Link.Packed = nil }, "link_frozen_snapshot"},
		{"link to elsewhere", frozen, func(r []bench.Record) { r[frozen].Link.URL = "//elsewhere" }, "link_url_local"},
		{"alias of what has none", alias, func(r []bench.Record) { r[alias].Alias.Kind = "step" }, "alias_kind_known"},
		{"nothing", note, func(r []bench.Record) { r[note].Note = nil }, "holds nothing"},
	} {
		records := clone(good)
		c.flaw(records)
		err := to.Import(t.Context(), source(records))
		if p := places(err); bench.KindOf(err) != bench.KindInvalid || len(p) != 1 || p[0].Line != good[c.at].Line || !strings.Contains(p[0].Text, c.says) {
			t.Errorf("%s: %v at %v, want line %d with %q", c.name, err, p, good[c.at].Line, c.says)
		}
		if diff := cmp.Diff(nothing, contents(t, toPool)); diff != "" {
			t.Fatalf("%s: something is left: %s", c.name, short(diff))
		}
	}
	// The last that comes is a part of an upload.
	err := to.Import(t.Context(), source(good[:large+2]))
	if p := places(err); bench.KindOf(err) != bench.KindInvalid || len(p) != 1 || p[0].Line != good[large].Line {
		t.Errorf("cut in the bytes of an upload: %v %v", err, p)
	}
	// After all these the database is as good as new.
	if err := to.Import(t.Context(), source(good)); err != nil {
		t.Error(err)
	}
}

func TestWritersWaitForAnImportAndReadersDoNot(t *testing.T) {
	t.Parallel()
	from, pool := setup(t)
	fill(t, from, pool)
	next := source(exported(t, from))
	to, toPool := setup(t)
	written := make(chan error, 1)
	n := 0
	err := to.Import(t.Context(), func() (bench.Record, error) {
		if n++; n == 5 {
			go func() {
				run := c2("9.9.9", row("w", 1, "fillseq", "2025-01-01T00:00:00", "5"))
				_, err := to.Write(context.WithoutCancel(t.Context()), upload("w", "w"), batch("w", run), nil)
				written <- err
			}()
			for waiting := 0; waiting == 0; {
				if err := toPool.QueryRow(t.Context(), `
					SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
					WHERE d.datname = current_database() AND NOT l.granted`).Scan(&waiting); err != nil {
					return bench.Record{}, err
				}
				select {
				case err := <-written:
					t.Errorf("a write did not wait: %v", err)
					return bench.Record{}, io.ErrUnexpectedEOF
				case <-time.After(10 * time.Millisecond):
				}
			}
			if totals, err := to.Totals(t.Context()); err != nil || totals.Runs != 0 {
				t.Errorf("readers see %+v, %v", totals, err)
			}
		}
		return next()
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if bad := disagreements(t, toPool); len(bad) > 0 {
		t.Errorf("%v", bad)
	}
	all, err := to.Series(t.Context(), bench.SeriesFilter{Metric: "qps", Servers: []string{"c2"}, Steps: []string{"fillseq"}})
	if err != nil {
		t.Fatal(err)
	}
	had := map[string]bool{}
	for _, x := range all {
		for v := range samples(x) {
			had[v] = true
		}
	}
	if !had["9.9.9"] || !had["8.6.7"] {
		t.Errorf("versions %v, want those imported and the one written", slices.Sorted(maps.Keys(had)))
	}
}
