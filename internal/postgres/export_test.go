package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/postgres"
)

// secret are the tables that no export holds.
var secret = []string{"goose_db_version", "session", "sign_in", "token"}

// exported gives everything that a store holds, numbered as lines of a file.
func exported(t testing.TB, s *postgres.Store) []bench.Record {
	t.Helper()
	var all []bench.Record
	err := s.Export(t.Context(), func(r bench.Record) error {
		r.Line = len(all) + 1
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// source gives records one after the other.
func source(records []bench.Record) func() (bench.Record, error) {
	return func() (bench.Record, error) {
		if len(records) == 0 {
			return bench.Record{}, io.EOF
		}
		r := records[0]
		records = records[1:]
		return r, nil
	}
}

// equalRecords compares records and what stores answer: instants may be in
// different zones, missing intervals are NaN.
var equalRecords = cmp.Options{
	cmp.AllowUnexported(bench.LocalTime{}), cmpopts.EquateNaNs(), cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
	cmp.Comparer(bytes.Equal), // a byte at a time takes seconds
}

// short bounds what a failing test prints.
func short(diff string) string { return diff[:min(len(diff), 3000)] }

// fill puts something into every table that an export holds, by the store's own
// operations.
func fill(t testing.TB, s *postgres.Store, pool *pgxpool.Pool) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// A run with everything, in an upload of some MiB that does not compress.
	run := c2("8.8.0", whole("report.tsv"))
	run.ID = "0f2c8a52-6d8d-4d9e-9f31-0a3d1c6f2b10"
	run.Clients, run.Config, run.Assumed = 16, "a0", []string{"compiler"}
	run.Build = bench.Build{Version: "8.8.0", Compiler: "gcc", CompilerVersion: "13", Flags: "-O2", GitHash: "0123abc", BinarySHA256: sum("b"), Command: "make"}
	run.Environment, run.Options = map[string]string{"cpu": "EPYC"}, map[string]string{"cache_size": "1"}
	run.Results = append(run.Results,
		bench.Result{Step: bench.Step{Name: "readrandom", Threads: 16}, Role: bench.RoleMeasure, State: bench.StateFailed, Reason: "signal 9",
			Origin: bench.OriginMeasured, Sources: []bench.Source{{File: "report.tsv", Line: 8}}},
		bench.Result{Step: bench.Step{Name: "flush"}, Role: bench.RolePrepare, State: bench.StateNotRun, Reason: "readrandom failed", Origin: bench.OriginMeasured,
			Sources: []bench.Source{{File: "report.tsv"}}})
	b := batch("report.tsv", run)
	b.Warnings = []bench.Message{{File: "report.tsv", Line: 3, Text: "not understood \u2028 <&>"}}
	b.Files = append(b.Files,
		bench.File{Path: "odd.csv", SHA256: sum("odd"), Size: 3, State: bench.FileRefused, Messages: []bench.Message{{File: "odd.csv", Line: 1, Text: "not known"}}},
		bench.File{Path: "plot.png", Format: "picture", SHA256: sum("png"), Size: 3, State: bench.FileAttachment})
	noise := make([]byte, 5<<20/2)
	r := rand.NewPCG(1, 2)
	for i := range noise {
		noise[i] = byte(r.Uint64())
	}
	u := upload("report.tsv", string(noise))
	u.Context = bench.Context{Server: "c2", Workload: "byrx", Clients: 16}
	b.Configs = []bench.Config{cnf("report.tsv", "a0", "cy10a_bee", "cache=8G", "!tmpdir=/t", "x=1"), cnf("report.tsv", "a1", "cy10a1_bee", "cache=6G", "x=1")}
	b.Configs[1].Options[1].Loose = true
	b.Configs[1].Warnings = []bench.Message{{File: "report.tsv", Line: 2, Text: "twice"}}
	mustWrite(t, s, u, b)
	mustWrite(t, s, upload("empty", ""), &bench.Batch{Format: "empty", Files: []bench.File{{Path: "empty", SHA256: sum(""), State: bench.FileAttachment}}})

	// Changes with a thread, of which one dissolves; undated results and repeats.
	spike := bench.FoundChange{
		Shape: bench.ShapeSpike, From: "8.6.7", To: "8.7.3", Back: "8.8.0", Effect: .5, Low: .4, High: .6, Neighbours: .45, P: .0002, PHere: 3e-9,
		Before: bench.Level{First: "8.6.7", Last: "8.6.7", Mean: 4.6, N: 1}, After: bench.Level{First: "8.7.3", Last: "8.7.3", Mean: -1e-7, N: 2},
		OneRun: true, NewCampaign: true,
	}
	_, err := s.Write(ctx, upload("sum", "sum"), batch("sum",
		c2("8.6.7", row("sum", 1, "fillseq", "2023-11-01T10:00:00", "100"), row("sum", 2, "overwriteandwait.t8.s0", "", "7")),
		c2("8.7.3", row("sum", 3, "fillseq", "2023-11-01T12:00:00", "90"), row("sum", 4, "fillseq", "2023-11-01T12:30:00", "91")),
		c2("8.8.0", row("sum", 5, "fillseq", "2023-11-01T14:00:00", "89"))), says(step("8.6.7", "8.7.3", -.1), spike))
	must(err)
	_, err = s.DetectAll(ctx, func(_ context.Context, touched bench.Touched) ([]bench.Detection, error) {
		var out []bench.Detection
		for _, x := range touched.Series {
			if len(x.Points) == 3 {
				out = append(out, bench.Detection{SeriesID: x.ID, Changes: []bench.FoundChange{step("8.6.7", "8.7.3", -.12)}})
			}
		}
		return out, nil
	})
	must(err)
	page, err := s.Changes(ctx, bench.ChangeFilter{Steps: []string{"fillseq"}, Versions: []string{"8.7.3"}})
	must(err)
	change := page.Changes[0].ID
	fixed := bench.TriageFixed
	_, err = s.PatchChange(ctx, change, bench.ChangePatch{Triage: &fixed, FixedIn: str("8.8.0"), Owner: str("ops"), IssueURL: str("https://example.org/1"), Comment: str("seen")}, "ann")
	must(err)

	// A matrix: cells that count, one that gave way to a measured one, and a check.
	cells := c2("8.7.3", row("abs", 2, "readrandom.t8", "", "55"))
	cells.Results[0].Origin = bench.OriginMatrix
	m := batch("abs", cells)
	m.Matrices = []bench.Matrix{{File: "abs", Kind: bench.MatrixAbsolute, Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Compiler: "gcc"},
		Metric: "qps", Columns: []string{"8.6.7"}, Rows: []bench.MatrixRow{{Line: 3, Step: bench.Step{Name: "fillseq"}, Cells: []string{"70"}}}}}
	mustWrite(t, s, upload("abs", "abs"), m)
	overtaken := c2("8.9.0", row("abs2", 2, "fillseq", "", "60"))
	overtaken.Results[0].Origin = bench.OriginMatrix
	mustWrite(t, s, upload("abs2", "abs2"), batch("abs2", overtaken))
	mustWrite(t, s, upload("late", "late"), batch("late", c2("8.9.0", row("late", 1, "fillseq", "2023-12-01T10:00:00", "60"))))

	// What people take back and correct.
	wrong := mustWrite(t, s, upload("wrong", "wrong"), batch("wrong", c2("8.9.1", row("wrong", 1, "fillseq", "2023-12-02T10:00:00", "50"))))
	must(s.WithdrawUpload(ctx, wrong.UploadID, "of another server", "ann", nil))
	again := upload("wrong", "wrong")
	again.Context.Server = "u5"
	onU5 := c2("8.9.1", row("wrong", 1, "fillseq", "2023-12-02T10:00:00", "50"))
	onU5.Server = "u5"
	moved := mustWrite(t, s, again, batch("wrong", onU5))
	must(s.PatchRun(ctx, moved.Runs[0].ID, bench.RunPatch{Workload: str("iobuf"), Compiler: str("clang+lto")}, "typo", "bob", nil))
	must(s.WithdrawRun(ctx, moved.Runs[0].ID, "assertions", "bob", nil))
	must(s.RestoreRun(ctx, moved.Runs[0].ID, "they were off", "bob", nil))
	out := mustWrite(t, s, upload("out", "out"), batch("out", c2("8.9.2", row("out", 1, "fillseq", "2023-12-03T10:00:00", "40"))))
	must(s.WithdrawRun(ctx, out.Runs[0].ID, "throttled", "ann", nil))

	// A run of more results than one record holds, and a value that is NULL.
	many := c2("9.0.0")
	for i := range 1_045 {
		many.Results = append(many.Results, row("many", i+1, fmt.Sprint("step", i%7), fmt.Sprintf("2024-01-01T%02d:%02d:%02d", i/3600, i/60%60, i%60), fmt.Sprint(i+1)))
	}
	many.Results[1010] = with(many.Results[1010], "p99", 5, 1, "p99")
	mustWrite(t, s, upload("many", "many"), batch("many", many))
	_, err = pool.Exec(ctx, `UPDATE result SET values[2] = NULL WHERE cardinality(values) = 2`)
	must(err)
	_, err = s.DetectAll(ctx, func(context.Context, bench.Touched) ([]bench.Detection, error) { return nil, nil }) // packs anew
	must(err)

	// Notes, links, names.
	scope := bench.NoteScope{Step: "fillseq", Server: "c2", Workload: "cached", Compiler: "gcc", Config: "a0"}
	edited, err := s.CreateNote(ctx, bench.Note{System: "rocksdb", Version: "8.6.7", ToVersion: "8.8.0", ChangeID: change, Scope: scope, Body: "first", Author: "ann"})
	must(err)
	_, err = s.EditNote(ctx, edited.ID, 1, "second", scope, "bob")
	must(err)
	deleted, err := s.CreateNote(ctx, bench.Note{System: "rocksdb", Version: "8.8.0", Body: "gone", Author: "ann"})
	must(err)
	must(s.DeleteNote(ctx, deleted.ID, "ann"))
	_, err = s.CreateLink(ctx, bench.Link{URL: "/charts?system=rocksdb&server=c2", Author: "ann"})
	must(err)
	_, err = s.CreateLink(ctx, bench.Link{URL: "/charts?system=rocksdb", Author: "ann", Frozen: true, Snapshot: []byte(`{"figures":[1,2,3]}`)})
	must(err)
	must(s.Rename(ctx, bench.NameServer, "u5", "u5b", "ann"))
	token, _, err := s.CreateToken(ctx, "ann", bench.TokenAdmin)
	must(err)
	_, _, err = s.CreateSession(ctx, token)
	must(err)
}

// shared says, for tables with numbers of shared words or of their own that
// nothing outside the store refers to, what a row is without them.
var shared = map[string]string{
	"server": `to_jsonb(x) - 'id'`, "metric": `to_jsonb(x) - 'id'`, "version": `to_jsonb(x) - 'id'`,
	"run_history": `to_jsonb(x) - 'id'`, "matrix_check": `to_jsonb(x) - 'id'`,
	"histogram": `to_jsonb(x) - 'id'`, "time_series": `to_jsonb(x) - 'id'`, "breakdown": `to_jsonb(x) - 'id'`,
	"build":      `to_jsonb(x) - '{id,version_id}'::text[] || jsonb_build_object('v', (SELECT v.system || v.name FROM version v WHERE v.id = x.version_id))`,
	"metric_set": `to_jsonb(x) - '{id,metric_ids}'::text[]`,
	"coordinate": `to_jsonb(x) - 'server_id' || jsonb_build_object('s', (SELECT slug FROM server s WHERE s.id = x.server_id))`,
	"run": `to_jsonb(x) - '{server_id,build_id}'::text[] || jsonb_build_object('s', (SELECT slug FROM server s WHERE s.id = x.server_id),
		'b', (SELECT digest FROM build b WHERE b.id = x.build_id))`,
	"result": `to_jsonb(x) - 'metric_set_id' || jsonb_build_object('s', (SELECT digest FROM metric_set s WHERE s.id = x.metric_set_id))`,
	"series": `to_jsonb(x) - 'metric_id' || jsonb_build_object('m', (SELECT name FROM metric m WHERE m.id = x.metric_id))`,
	"change": `to_jsonb(x) - '{from_version_id,to_version_id,back_version_id}'::text[] || jsonb_build_object(
		'f', (SELECT name FROM version v WHERE v.id = x.from_version_id), 't', (SELECT name FROM version v WHERE v.id = x.to_version_id),
		'b', (SELECT name FROM version v WHERE v.id = x.back_version_id))`,
}

// contents gives all rows of every table but the secret ones as text, by table.
func contents(t testing.TB, pool *pgxpool.Pool) map[string][]string {
	t.Helper()
	found, _ := pool.Query(t.Context(), `
		SELECT c.relname::text FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1`)
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, table := range tables {
		if slices.Contains(secret, table) {
			continue
		}
		row := shared[table]
		if row == "" {
			row = `to_jsonb(x)`
		}
		r, _ := pool.Query(t.Context(), `SELECT (`+row+`)::text FROM `+pgx.Identifier{table}.Sanitize()+` x ORDER BY 1`)
		if out[table], err = pgx.CollectRows(r, pgx.RowTo[string]); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	return out
}

func TestExportAndImportLoseNothing(t *testing.T) {
	t.Parallel()
	from, fromPool := setup(t)
	fill(t, from, fromPool)
	want := contents(t, fromPool)
	for table, has := range want {
		if len(has) == 0 {
			t.Errorf("the test puts nothing into %s, so it cannot tell whether that is exported", table)
		}
	}
	records := exported(t, from)

	to, toPool := setup(t)
	if _, _, err := to.CreateToken(t.Context(), "kept", bench.TokenReader); err != nil {
		t.Fatal(err)
	}
	if err := to.Import(t.Context(), source(records)); err != nil {
		t.Fatalf("%v %v", err, places(err))
	}
	got := contents(t, toPool)
	for table := range want {
		if table == "metric_set" || table == "build" || table == "version" {
			// Words that nothing refers to any more may be left behind.
			for _, row := range got[table] {
				if !slices.Contains(want[table], row) {
					t.Errorf("%s has %s", table, row)
				}
			}
			continue
		}
		if diff := cmp.Diff(want[table], got[table]); diff != "" {
			t.Errorf("%s: %s", table, short(diff))
		}
	}
	if bad := disagreements(t, toPool); len(bad) > 0 {
		t.Errorf("%v", bad)
	}
	if diff := cmp.Diff(records, exported(t, to), equalRecords); diff != "" {
		t.Errorf("exported again: %s", short(diff))
	}
	if tokens, err := to.Tokens(t.Context()); err != nil || len(tokens) != 1 || tokens[0].Name != "kept" {
		t.Errorf("tokens: %+v %v", tokens, err)
	}
	compareAnswers(t, from, to)

	// The copy goes on where the original stopped, and knows what it has.
	next := batch("next", c2("9.1.0", row("next", 1, "fillseq", "2024-02-01T10:00:00", "100")))
	a, b := mustWrite(t, from, upload("next", "next"), next), mustWrite(t, to, upload("next", "next"), next)
	if b.UploadID <= a.UploadID-2 || b.Results != 1 || len(b.Runs) != 1 {
		t.Errorf("the original stores %+v, the copy %+v", a, b)
	}
	if again := mustWrite(t, to, upload("sum", "sum"), batch("sum")); !again.Duplicate {
		t.Errorf("what was imported is not known: %+v", again)
	}
	note, err := to.CreateNote(t.Context(), bench.Note{System: "rocksdb", Version: "9.1.0", Body: "x", Author: "me"})
	if err != nil || note.ID != 3 {
		t.Errorf("the third note: %+v %v", note, err)
	}
	if bad := disagreements(t, toPool); len(bad) > 0 {
		t.Errorf("%v", bad)
	}
}

// places gives the places that an error names.
func places(err error) []bench.Message {
	var e *bench.Error
	if errors.As(err, &e) {
		return e.Places
	}
	return nil
}

// compareAnswers compares what two stores answer.
func compareAnswers(t *testing.T, from, to *postgres.Store) {
	t.Helper()
	ctx := t.Context()
	same := func(what string, read func(*postgres.Store) (any, error)) {
		t.Helper()
		a, errA := read(from)
		b, errB := read(to)
		if errA != nil || errB != nil {
			t.Errorf("%s: %v, %v", what, errA, errB)
		}
		if diff := cmp.Diff(a, b, equalRecords); diff != "" {
			t.Errorf("%s: %s", what, short(diff))
		}
	}
	for _, metric := range []string{"qps", "p99", "write_amp"} {
		same("series of "+metric, func(s *postgres.Store) (any, error) { return s.Series(ctx, bench.SeriesFilter{Metric: metric}) })
	}
	same("facets", func(s *postgres.Store) (any, error) { return s.Facets(ctx, bench.SeriesFilter{}) })
	same("totals", func(s *postgres.Store) (any, error) { return s.Totals(ctx) })
	kinds := map[string]int{}
	for _, r := range exported(t, from) {
		switch {
		case r.Upload != nil:
			kinds["upload"]++
			id := r.Upload.ID
			same(fmt.Sprint("upload ", id), func(s *postgres.Store) (any, error) { return s.Upload(ctx, id) })
			same(fmt.Sprint("bytes of upload ", id), func(s *postgres.Store) (any, error) {
				name, content, err := s.UploadBytes(ctx, id)
				return name + sum(string(content)), err
			})
		case r.Run != nil:
			kinds["run"]++
			same(fmt.Sprint("run ", r.Run.ID), func(s *postgres.Store) (any, error) { return s.Run(ctx, r.Run.ID) })
		case r.Change != nil:
			kinds["change"]++
			same(fmt.Sprint("change ", r.Change.ID), func(s *postgres.Store) (any, error) { return s.Change(ctx, r.Change.ID) })
		case r.Note != nil:
			kinds["note"]++
			same(fmt.Sprint("note ", r.Note.ID), func(s *postgres.Store) (any, error) {
				note, history, err := s.Note(ctx, r.Note.ID)
				return []any{note, history}, err
			})
		case r.Link != nil:
			kinds["link"]++
			same("link "+r.Link.Code, func(s *postgres.Store) (any, error) { return s.Link(ctx, r.Link.Code) })
		}
	}
	if kinds["upload"] < 9 || kinds["run"] < 9 || kinds["change"] < 2 || kinds["note"] != 2 || kinds["link"] != 2 {
		t.Errorf("compared were %v, too little to mean anything", kinds)
	}
}

func TestAnEmptyDatabaseIsExportedAndImported(t *testing.T) {
	t.Parallel()
	from, _ := setup(t)
	if records := exported(t, from); len(records) != 0 {
		t.Fatalf("%+v", records)
	}
	to, pool := setup(t)
	if err := to.Import(t.Context(), source(nil)); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, to, upload("a", "a"), batch("a", c2("8.8.0", whole("a"))))
	if bad := disagreements(t, pool); len(bad) > 0 {
		t.Errorf("%v", bad)
	}
}

func TestLargeRunsAndUploadsComeInParts(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	fill(t, s, pool)
	var results, sizes, longest, most []int
	for _, r := range exported(t, s) {
		switch {
		case r.Run != nil:
			results = []int{len(r.Run.Results)}
		case r.Results != nil:
			results = append(results, len(r.Results))
		case r.Upload != nil:
			sizes = nil
		case r.Content != nil:
			sizes = append(sizes, len(r.Content))
		}
		if len(results) > len(longest) {
			longest = results
		}
		if len(sizes) > len(most) {
			most = sizes
		}
	}
	if !slices.Equal(longest, []int{1000, 45}) {
		t.Errorf("a run of 1045 results comes in parts of %v", longest)
	}
	if len(most) != 3 || most[0] != 1<<20 || most[1] != 1<<20 || most[2] < 1<<19 {
		t.Errorf("2.5 MiB that do not compress come in parts of %v", most)
	}
}

func TestAnExportIsOfOneMoment(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	fill(t, s, pool)
	before := exported(t, s)
	var during []bench.Record
	err := s.Export(t.Context(), func(r bench.Record) error {
		if len(during) == 1 {
			// An upload, a correction and a note while the export is under way.
			b := mustWrite(t, s, upload("during", "during"), batch("during", c2("8.8.0", row("during", 1, "fillseq", "2024-05-01T10:00:00", "9"))))
			if err := s.PatchRun(t.Context(), b.Runs[0].ID, bench.RunPatch{Config: str("a7")}, "typo", "bob", nil); err != nil {
				t.Fatal(err)
			}
			if _, err := s.CreateNote(t.Context(), bench.Note{System: "rocksdb", Version: "8.8.0", Body: "x", Author: "me"}); err != nil {
				t.Fatal(err)
			}
		}
		r.Line = len(during) + 1
		during = append(during, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, during, equalRecords); diff != "" {
		t.Error(short(diff))
	}
	if after := exported(t, s); len(after) <= len(before) {
		t.Errorf("%d records, %d before: nothing was written meanwhile", len(after), len(before))
	}
}

func TestAnErrorOfTheOtherSideIsNoneOfTheDatabase(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", whole("a"))))
	// Both look like a broken network.
	if err := s.Export(t.Context(), func(bench.Record) error { return syscall.EPIPE }); !errors.Is(err, syscall.EPIPE) || bench.KindOf(err) != "" {
		t.Errorf("%v", err)
	}
	empty, _ := setup(t)
	err := empty.Import(t.Context(), func() (bench.Record, error) { return bench.Record{}, syscall.ECONNRESET })
	if !errors.Is(err, syscall.ECONNRESET) || bench.KindOf(err) != "" {
		t.Errorf("%v", err)
	}
}
