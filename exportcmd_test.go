package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/sample"
)

// fillDatabase puts the sample data, files of several formats and what people
// say of them into a database.
func fillDatabase(t *testing.T, database string) {
	t.Helper()
	store, err := postgres.Open(t.Context(), database, postgres.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(sample.Load(ctx, ingest.Ingester{Store: store, Detect: compare.Detect}))
	for _, args := range [][]string{
		{"--server", "c2", "--workload", "iobuf", "ingest/testdata/dbbench/bm.lc.nt2.d0.tar.gz"},
		{"--server", "local", "--workload", "cached", "--compiler", "gcc", "ingest/testdata/dbbench/raw.multi.statistics.hist.7.8.log.gz"},
		{"--server", "local", "--workload", "cached", "--compiler", "gcc", "ingest/testdata/dbbench/fillrandom.log", "ingest/testdata/dbbench/fillrandom.log.r.csv"},
	} {
		if code, _, stderr := command(t, append([]string{"ingest", "--database-url", database}, args...)...); code != exitOK && code != exitRefused {
			t.Fatalf("ingest %v: %d %s", args, code, stderr)
		}
	}
	runs, err := store.Runs(ctx, bench.RunFilter{Servers: []string{"c2"}})
	must(err)
	config := "hcc"
	must(store.PatchRun(ctx, runs.Runs[0].ID, bench.RunPatch{Config: &config}, "it was", "ann", compare.Detect))
	must(store.WithdrawRun(ctx, runs.Runs[1].ID, "throttled", "ann", compare.Detect))
	uploads, err := store.Uploads(ctx, bench.UploadFilter{})
	must(err)
	must(store.WithdrawUpload(ctx, uploads.Uploads[len(uploads.Uploads)-1].ID, "wrong server", "ann", compare.Detect))
	changes, err := store.Changes(ctx, bench.ChangeFilter{})
	must(err)
	confirmed, comment := bench.TriageConfirmed, "see `perf`"
	_, err = store.PatchChange(ctx, changes.Changes[0].ID, bench.ChangePatch{Triage: &confirmed, Owner: &config, Comment: &comment}, "bob")
	must(err)
	note, err := store.CreateNote(ctx, bench.Note{System: "rocksdb", Version: "8.6.7", ChangeID: changes.Changes[0].ID, Body: "a *bug*", Author: "ann"})
	must(err)
	_, err = store.EditNote(ctx, note.ID, 1, "no bug", note.Scope, "bob")
	must(err)
	_, err = store.CreateLink(ctx, bench.Link{URL: "/charts?server=c2", Author: "ann"})
	must(err)
	_, err = store.CreateLink(ctx, bench.Link{URL: "/charts?server=c2", Author: "ann", Frozen: true, Snapshot: []byte(`{}`)})
	must(err)
}

func TestADatabaseIsExportedAndImported(t *testing.T) {
	t.Parallel()
	from, to := start(t), start(t)
	fillDatabase(t, from.database)
	dir := t.TempDir()
	plain := filepath.Join(dir, "all.ndjson")
	export := func(database, name string) (stdout string) {
		t.Helper()
		code, out, stderr := command(t, "export", "--database-url", database, "--output", name)
		if code != exitOK {
			t.Fatalf("export %s: %d %s", name, code, stderr)
		}
		return out
	}
	names, err := sample.Files()
	if err != nil {
		t.Fatal(err)
	}
	uploads := fmt.Sprintf("%d uploads, ", len(names)+4) // what fillDatabase ingests besides
	if said := export(from.database, plain); !strings.Contains(said, uploads) || !strings.Contains(said, ", 1 note, 2 links, 0 former names\n") {
		t.Errorf("export says %q", said)
	}
	want, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(plain); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v: not for its owner alone", info.Mode(), err)
	}
	for name, unpack := range map[string]func(io.Reader) (io.Reader, error){
		"all.ndjson.gz":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"all.ndjson.zst": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		export(from.database, filepath.Join(dir, name))
		packed, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := unpack(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) || len(packed) > len(want)/2 {
			t.Errorf("%s: %d bytes unpack to %d, want %d; %v", name, len(packed), len(got), len(want), err)
		}
	}
	if out := export(from.database, "-"); out != string(want) {
		t.Error("standard output is not what the file is")
	}
	if strings.Contains(string(want), "token_hash") || strings.Contains(string(want), `"token"`) {
		t.Error("the file speaks of tokens")
	}

	// Into the database of a server that is running.
	code, out, stderr := command(t, "import", "--database-url", to.database, filepath.Join(dir, "all.ndjson.zst"))
	if code != exitOK || !strings.Contains(out, uploads) {
		t.Fatalf("import: %d %s%s", code, out, stderr)
	}
	if again := export(to.database, "-"); again != string(want) {
		t.Error("exported again it is another file")
	}
	sameAnswers(t, from.address, to.address)

	// A second import, and one of the other file formats, change nothing.
	code, _, stderr = command(t, "import", "--database-url", to.database, plain)
	if code != exitFailed || !strings.Contains(stderr, "is not empty") {
		t.Errorf("import into what is filled: %d %s", code, stderr)
	}
	third := pgtest.NewURL(t)
	var o, e bytes.Buffer
	if code := run(context.Background(), []string{"import", "--database-url", third, "-"}, streams{bytes.NewReader(want), &o, &e}); code != exitOK {
		t.Errorf("import of standard input: %d %s", code, e.String())
	}
	if again := export(third, "-"); again != string(want) {
		t.Error("imported from standard input and exported again it is another file")
	}

	// Ingest reads the runs of it, which are all there.
	code, out, stderr = command(t, "ingest", "--database-url", to.database, filepath.Join(dir, "all.ndjson.zst"))
	if code != exitOK || !strings.Contains(out, ": 0 results in ") || !strings.Contains(out, "this file holds a whole database, of which the runs and configs were read; left out: "+uploads) {
		t.Errorf("ingest: %d %.600s%s", code, out, stderr)
	}
}

// sameAnswers compares what two servers say.
func sameAnswers(t *testing.T, a, b string) {
	t.Helper()
	paths := []string{
		"/api/v1/series?server=c2&metric=qps&base=4.4.1", "/api/v1/series?server=arm&metric=p99&format=csv", "/api/v1/changes?limit=200",
		"/api/v1/changes?limit=200&status=confirmed", "/api/v1/notes", "/runs", "/notes", "/changes",
	}
	for id := 1; id <= 20; id++ {
		paths = append(paths, fmt.Sprint("/runs/", 13*id), fmt.Sprint("/changes/", 5*id), fmt.Sprint("/api/v1/uploads/", id), fmt.Sprint("/api/v1/notes/", id))
	}
	found := 0
	for _, path := range paths {
		one, other := text(t, a+path), text(t, b+path)
		if one = plainAnswer(one, a); one != plainAnswer(other, b) {
			t.Errorf("%s: the copy says\n%.500s\nthe original\n%.500s", path, other, one)
		}
		if len(one) > 1000 {
			found++
		}
	}
	if found < 30 {
		t.Errorf("only %d answers are long: nothing was compared", found)
	}
}

// plainAnswer leaves out what names the server itself or the request.
func plainAnswer(answer, address string) string {
	answer = strings.ReplaceAll(answer, address, "")
	return strings.ReplaceAll(answer, strings.TrimPrefix(address, "http://"), "")
}

func TestAFileThatCannotBeImportedIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	from, to := pgtest.NewURL(t), pgtest.NewURL(t)
	dir := t.TempDir()
	report := filepath.Join(dir, "report.tsv")
	reportFile(t, report, 0, 3)
	if code, _, stderr := command(t, "ingest", "--database-url", from, "--server", "c2", "--workload", "cached", "--compiler", "gcc", report); code != exitOK {
		t.Fatal(stderr)
	}
	for _, name := range []string{"a.ndjson", "a.ndjson.gz", "a.ndjson.zst"} {
		if code, _, stderr := command(t, "export", "--database-url", from, "--output", filepath.Join(dir, name)); code != exitOK {
			t.Fatal(stderr)
		}
	}
	bytesOf := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := bytesOf("a.ndjson")
	lines := bytes.SplitAfter(good, []byte("\n"))
	lines = lines[:len(lines)-1]
	upload := 1 + bytes.Count(good[:bytes.Index(good, []byte(`{"upload":`))], []byte("\n"))
	for _, c := range []struct {
		name  string
		file  []byte
		place string // what stderr begins with
		says  string // what else it holds
	}{
		{"cut.ndjson", good[:len(good)/2], fmt.Sprintf("cut.ndjson:%d: ", 1+bytes.Count(good[:len(good)/2], []byte("\n"))), "not a line of an export"},
		{"end.ndjson", bytes.Join(lines[:len(lines)-1], nil), fmt.Sprintf("end.ndjson:%d: ", len(lines)-1), "the file ends here"},
		{"cut.ndjson.gz", bytesOf("a.ndjson.gz")[:200], "cut.ndjson.gz:", "the file is damaged or cut short here"},
		{"cut.ndjson.zst", bytesOf("a.ndjson.zst")[:20], "cut.ndjson.zst:1: ", "the file is damaged or cut short here"},
		{"head.gz", bytesOf("a.ndjson.gz")[:5], "head.gz:1: ", "the file is damaged or cut short here"},
		{"newer.ndjson", bytes.Replace(good, []byte(`"relqps_export":1`), []byte(`"relqps_export":2`), 1), "newer.ndjson:1: ", "this is export format 2; this relqps reads 1"},
		{"kind.ndjson", bytes.Replace(good, []byte(`{"upload":`), []byte(`{"rocket":`), 1), fmt.Sprintf("kind.ndjson:%d: ", upload), `unknown field "rocket"`},
		{"digit.ndjson", bytes.Replace(good, []byte(`"values":[1`), []byte(`"values":[2`), 1), fmt.Sprintf("digit.ndjson:%d: ", len(lines)), "the lines before are not those that were written"},
		{"figures.ndjson", []byte(`{"relqps_export":1}` + "\n"), "figures.ndjson:1: ", "this export holds figures alone, not a database: relqps ingest reads it"},
		{"report.txt", []byte(reportText(0, 1)), "report.txt:1: ", "not a line of an export"},
		{"empty", nil, "empty: ", "the file ends here"},
	} {
		if bytes.Equal(c.file, good) {
			t.Fatalf("%s is not damaged", c.name)
		}
		name := filepath.Join(dir, c.name)
		if err := os.WriteFile(name, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, stderr := command(t, "import", "--database-url", to, name)
		if code != exitRefused || !strings.HasPrefix(stderr, filepath.Join(dir, c.place)) || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "nothing was imported") || out != "" {
			t.Errorf("%s: %d, want %d and %q %q\n%s%s", c.name, code, exitRefused, c.place, c.says, out, stderr)
		}
		for table, n := range countRows(t, to) {
			if n > 0 {
				t.Fatalf("%s: %d rows are left in %s", c.name, n, table)
			}
		}
	}
	if code, _, stderr := command(t, "import", "--database-url", to, filepath.Join(dir, "nowhere")); code != exitFailed || !strings.Contains(stderr, "nowhere") {
		t.Errorf("a file that is not there: %d %s", code, stderr)
	}
	if code, _, stderr := command(t, "export", "--database-url", to); code != exitUsage || !strings.Contains(stderr, "--output") {
		t.Errorf("no file: %d %s", code, stderr)
	}
	// The database is as good as new, and the original as it was.
	if code, _, stderr := command(t, "import", "--database-url", to, filepath.Join(dir, "a.ndjson.gz")); code != exitOK {
		t.Errorf("%d %s", code, stderr)
	}
	if a, b := countRows(t, from), countRows(t, to); fmt.Sprint(a) != fmt.Sprint(b) || a["result"] != 3*len(tests) {
		t.Errorf("%v, copied %v", a, b)
	}
}

func TestAnExportIsThereWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.zst")
	if err := os.WriteFile(name, []byte("yesterday's"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the database went away")
	err := writeWhole(name, func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("half of it", 100_000)); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if had, err := os.ReadFile(name); err != nil || string(had) != "yesterday's" {
		t.Errorf("the file from before is %q, %v", had, err)
	}
	if err := writeWhole(name, func(w io.Writer) error { _, err := io.WriteString(w, "today's"); return err }); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if got, err := io.ReadAll(z); err != nil || string(got) != "today's" {
		t.Errorf("%q %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	if err := writeWhole(filepath.Join(dir, "nowhere", "a"), func(io.Writer) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	// What is no file is written to and stays what it is.
	if err := writeWhole(os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v %v", info, err)
	}
}

// exportedBytes gives a database as a file.
func exportedBytes(b *testing.B, d *database) []byte {
	b.Helper()
	var file bytes.Buffer
	if _, err := export(b.Context(), d, &file); err != nil {
		b.Fatal(err)
	}
	return file.Bytes()
}

func benchmarkExport(b *testing.B, d *database) {
	totals, err := d.store.Totals(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for b.Loop() {
		size = len(exportedBytes(b, d))
	}
	b.ReportMetric(float64(totals.Values)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
	b.ReportMetric(float64(size)/(1<<20), "MiB")
}

func benchmarkImport(b *testing.B, d *database) {
	totals, err := d.store.Totals(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	file := exportedBytes(b, d)
	for b.Loop() {
		b.StopTimer()
		store, err := postgres.Open(b.Context(), pgtest.NewURL(b), postgres.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := importInto(b.Context(), &database{store: store}, bytes.NewReader(file), "benchmark"); err != nil {
			b.Fatal(err)
		}
		store.Close()
	}
	b.ReportMetric(float64(totals.Values)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
}

// sampleDatabase holds the sample data, 42,000 values.
func sampleDatabase(b *testing.B) *database {
	_, d := inProcess(b)
	if err := sample.Load(b.Context(), ingest.Ingester{Store: d.store, Detect: compare.Detect}); err != nil {
		b.Fatal(err)
	}
	return d
}

// scaleDatabase holds a million values: repeats of 80 versions on 6 servers.
func scaleDatabase(b *testing.B) *database {
	_, d := inProcess(b)
	g := ingest.Ingester{Store: d.store}
	for i := range 72 {
		text, _ := nightly(i, 80, 1)
		u := bench.Upload{Filename: fmt.Sprintf("%d.tsv", i), Bytes: text, Actor: "benchmark",
			Context: bench.Context{Server: fmt.Sprint("server", i%6), Workload: "cached", Compiler: "gcc"}}
		if _, err := g.Submit(b.Context(), u); err != nil {
			b.Fatal(err)
		}
	}
	return d
}

// BenchmarkExport writes the sample data to memory.
func BenchmarkExport(b *testing.B) { benchmarkExport(b, sampleDatabase(b)) }

// BenchmarkImport reads the sample data from memory into a new database.
func BenchmarkImport(b *testing.B) { benchmarkImport(b, sampleDatabase(b)) }

// BenchmarkExportScale writes a database of a million values to memory.
func BenchmarkExportScale(b *testing.B) { benchmarkExport(b, scaleDatabase(b)) }

// BenchmarkImportScale reads a million values from memory into a new database.
func BenchmarkImportScale(b *testing.B) { benchmarkImport(b, scaleDatabase(b)) }
