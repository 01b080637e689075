package ingest

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// These tests read the published archives where they are there. What they
// compare with is computed here from the files' text, by other means than the
// readers use.

// archives lists the folders of tables with what their paths leave unsaid.
var archives = []struct {
	dir   string
	flags bench.Context
}{
	{"nov23.c2.db_bench", bench.Context{}},
	{"nov23.u.db_bench.8x", bench.Context{}},
	{"dec25.dbb.clang", bench.Context{}},
	{"dec25.dbb.gcp.8core.arm", bench.Context{Server: "arm"}},
	{"may25.db_bench", bench.Context{}},
	{"aws_variance_rocksdb", bench.Context{}},
	{"aug23.c2.db_bench.nt10_to_nt50", bench.Context{Workload: "byrx"}},
}

// sharedArchive is an archive read, with the text of its files by path.
type sharedArchive struct {
	dir   string
	batch *bench.Batch
	texts map[string]string
}

// readArchives reads every archive as the command line would, its uploads
// joined into one batch each.
func readArchives(t *testing.T) []sharedArchive {
	t.Helper()
	root := filepath.Join(testdata.Shared(t), "data", "dbbench")
	var all []sharedArchive
	for _, a := range archives {
		units, err := Units(root, []string{a.dir})
		if err != nil {
			t.Fatal(err)
		}
		s := sharedArchive{dir: a.dir, batch: &bench.Batch{}, texts: map[string]string{}}
		for _, u := range units {
			data, err := u.Bytes(Limits{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := Read(data, u.Name, a.flags, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			s.batch.Files = append(s.batch.Files, b.Files...)
			s.batch.Runs = append(s.batch.Runs, b.Runs...)
			s.batch.Matrices = append(s.batch.Matrices, b.Matrices...)
			s.batch.Warnings = append(s.batch.Warnings, b.Warnings...)
		}
		for _, f := range s.batch.Files {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
			if err != nil {
				t.Fatal(err)
			}
			s.texts[f.Path] = string(data)
		}
		all = append(all, s)
	}
	return all
}

func TestSharedEveryFileIsTakenOrEmpty(t *testing.T) {
	t.Parallel()
	for _, a := range readArchives(t) {
		for _, f := range a.batch.Files {
			want := bench.FileTaken
			if strings.TrimSpace(a.texts[f.Path]) == "" {
				want = bench.FileAttachment
			}
			if f.State != want || f.State == bench.FileTaken && len(f.Messages) != 0 {
				t.Errorf("%s: %s, want %s: %v", f.Path, f.State, want, f.Messages)
			}
		}
	}
}

// sharedRow is a row as an independent scan sees it.
type sharedRow struct {
	line  int
	text  string
	cells []string
}

// scanRows finds the rows of the current generation: 28 cells of which the
// header's own is none.
func scanRows(text string) (rows []sharedRow) {
	for i, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) == 28 && cells[0] != "ops_sec" {
			rows = append(rows, sharedRow{i + 1, line, cells})
		}
	}
	return rows
}

func TestSharedEveryRowIsTaken(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, a := range readArchives(t) {
		type at struct {
			file string
			line int
		}
		by := map[at]*bench.Result{}
		runs := map[at]*bench.Run{}
		for i := range a.batch.Runs {
			run := &a.batch.Runs[i]
			for j := range run.Results {
				for _, s := range run.Results[j].Sources {
					if by[at{s.File, s.Line}] != nil {
						t.Errorf("%s:%d is two results", s.File, s.Line)
					}
					by[at{s.File, s.Line}], runs[at{s.File, s.Line}] = &run.Results[j], run
				}
			}
		}
		found := 0
		for file, text := range a.texts {
			for _, row := range scanRows(text) {
				r, run := by[at{file, row.line}], runs[at{file, row.line}]
				if r == nil {
					t.Errorf("%s:%d is no result", file, row.line)
					continue
				}
				found++
				step, _, _ := strings.Cut(row.cells[23], ".")
				if r.Text != row.text || r.Step.Name != step || r.PrimaryText != row.cells[0] || run.Build.Version != row.cells[25] || run.Build.GitHash != row.cells[27] {
					t.Errorf("%s:%d: %s %s of %s", file, row.line, r.Step.Name, r.PrimaryText, run.Build.Version)
				}
				// The day may lack its zero.
				date := row.cells[24]
				if day := date[8:]; strings.IndexByte(day, 'T') == 1 {
					date = date[:8] + "0" + day
				}
				if r.Started.Second() != date {
					t.Errorf("%s:%d: started %s, want %s", file, row.line, r.Started.Second(), date)
				}
				compareCells(t, fmt.Sprintf("%s:%d", file, row.line), row.cells, r)
			}
		}
		if found != len(by) {
			t.Errorf("%s: %d results from %d rows", a.dir, len(by), found)
		}
		rows += found
	}
	if rows < 3900 {
		t.Errorf("only %d rows were compared", rows)
	}
}

// compareCells compares the figures of a row with its cells, those of columns
// that scripts read wrongly as the reference says what they are.
func compareCells(t *testing.T, at string, cells []string, r *bench.Result) {
	t.Helper()
	var major, minor int
	if _, err := fmt.Sscanf(cells[25], "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	shifted := major > 10 || major == 10 && minor >= 3
	of5x := major == 5 && minor >= 4
	want := map[string]string{}
	for i, metric := range []string{"qps", "mb_per_s", "", "", "compaction_write_gb", "write_amp", "compaction_write_mb_per_s", "compaction_wall_s", "compaction_cpu_s",
		"blob_read_gb", "blob_write_gb", "usec_per_op", "p50", "p99", "p99_9", "p99_99", "max", "uptime_s", "stall_percent", "stall_count", "", "", "rss_gb"} {
		if metric != "" {
			want[metric] = cells[i]
		}
	}
	if shifted {
		want["compaction_wall_s"], want["compaction_cpu_s"] = cells[8], ""
		want["blob_read_gb"], want["blob_write_gb"] = cells[10], ""
	}
	if of5x {
		want["compaction_wall_s"] = ""
	}
	for metric, cell := range want {
		v, ok := r.Value(metric)
		if cell == "" || cell == "NA" {
			if ok {
				t.Errorf("%s: %s = %g where the cell is %q", at, metric, v, cell)
			}
			continue
		}
		if n, err := strconv.ParseFloat(cell, 64); err != nil || !ok || n != v {
			t.Errorf("%s: %s = %g %v, want %q", at, metric, v, ok, cell)
		}
	}
	for metric, cell := range map[string]string{"user_cpu_s": cells[20], "system_cpu_s": cells[21]} {
		n, err := strconv.ParseFloat(cell, 64)
		if v, ok := r.Value(metric); err != nil || !ok || math.Abs(v-1000*n) > 1e-6 {
			t.Errorf("%s: %s = %g %v, want %q thousand", at, metric, v, ok, cell)
		}
	}
	size := strings.TrimSuffix(strings.TrimSuffix(cells[2], "GB"), "MB")
	v, ok := r.Value("db_size_gb")
	switch n, err := strconv.ParseFloat(size, 64); {
	case cells[2] == "" && ok:
		t.Errorf("%s: size %g of an empty cell", at, v)
	case cells[2] == "":
	case err != nil || !ok:
		t.Errorf("%s: size %g %v of %q", at, v, ok, cells[2])
	case strings.HasSuffix(cells[2], "MB") && !of5x:
		n /= 1024
		fallthrough
	default:
		if v != n {
			t.Errorf("%s: size %g, want %g of %q", at, v, n, cells[2])
		}
	}
}

// keysOf gives the keys of the results of some files.
func keysOf(b *bench.Batch, keep func(base string) bool) map[bench.Key]bool {
	keys := map[bench.Key]bool{}
	for ref, key := range bench.Keys(b) {
		r := b.Runs[ref.Run].Results[ref.Result]
		if r.Origin == bench.OriginMeasured && keep(path.Base(r.Sources[0].File)) {
			keys[key] = true
		}
	}
	return keys
}

func TestSharedFilesThatRepeatOthers(t *testing.T) {
	t.Parallel()
	is := func(names ...string) func(string) bool {
		return func(base string) bool {
			for _, n := range names {
				if base == n {
					return true
				}
			}
			return false
		}
	}
	for _, a := range readArchives(t) {
		var whole, part map[bench.Key]bool
		want := 0
		switch a.dir {
		case "dec25.dbb.gcp.8core.arm":
			whole = keysOf(a.batch, is("sum.byrx.gcc.txt", "sum.byrx.clang.txt", "sum.byrx.clang.lto.txt"))
			part, want = keysOf(a.batch, is("summary.tsv")), 301
			for key := range keysOf(a.batch, func(base string) bool { return strings.HasPrefix(base, "sum2.") }) {
				if !whole[key] {
					t.Errorf("a row of sum2.* is in no sum.*")
				}
			}
		case "nov23.c2.db_bench":
			some := is("sum.byrx.some.txt", "sum.byrx.some4.txt", "sum.iodir.some.txt")
			whole = keysOf(a.batch, func(base string) bool { return !some(base) })
			part = keysOf(a.batch, some)
			rows := 0
			for file, text := range a.texts {
				if some(path.Base(file)) {
					rows += len(scanRows(text))
				}
			}
			if rows != 520 {
				t.Errorf("%d rows that repeat others, want 520", rows)
			}
			want = len(part)
		case "may25.db_bench":
			whole = keysOf(a.batch, is("sum.byrx.lru.txt", "sum.byrx.hcc.txt"))
			part, want = keysOf(a.batch, is("sum.byrx.both.txt")), 14
		case "aws_variance_rocksdb":
			whole = keysOf(a.batch, is("sum.byrx.dop1.txt", "sum.byrx.dop4.txt"))
			part, want = keysOf(a.batch, is("sum.byrx.dop1.txt.sdev", "sum.byrx.dop4.txt.sdev")), 42
		default:
			continue
		}
		if len(part) != want {
			t.Errorf("%s: %d rows, want %d", a.dir, len(part), want)
		}
		for key := range part {
			if !whole[key] {
				t.Errorf("%s: a row that repeats another has a key of its own", a.dir)
			}
		}
		plan := bench.Decide(a.batch, bench.Keys(a.batch), nil)
		if len(plan.Refused) != 0 {
			t.Errorf("%s: refused %v", a.dir, plan.Refused)
		}
		for _, add := range plan.Additions {
			if len(add.Values) != 0 || len(add.Warnings) != 0 {
				t.Errorf("%s: the same row twice differs: %v %v", a.dir, add.Values, add.Warnings)
			}
		}
		if len(plan.New) != len(whole) {
			t.Errorf("%s: %d new results of %d rows", a.dir, len(plan.New), len(whole))
		}
	}
}

// sumFileOf says by hand which file each matrix was made from.
func sumFileOf(matrix string) string {
	base := path.Base(matrix)
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".csv"), ".tsv")
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".abs0"), ".abs1")
	for _, p := range [][2]string{{"rel2.", "sum."}, {"abs.", "sum."}, {"csum2.", "sum2."}, {"csum.", "sum."}, {"sum.abs0.", "sum."}, {"sum.abs1.", "sum."}, {"fmt.", "sum."}} {
		if rest, ok := strings.CutPrefix(base, p[0]); ok {
			return path.Join(path.Dir(matrix), p[1]+rest+".txt")
		}
	}
	return ""
}

// Every cell of every matrix is what awk's %.2f makes of the rows, at two
// decimals, or the row's figure itself.
func TestSharedMatricesAgreeWithTheRows(t *testing.T) {
	t.Parallel()
	cells, shifted := 0, map[string]int{}
	for _, a := range readArchives(t) {
		files := map[string]bool{}
		for i := range a.batch.Matrices {
			m := &a.batch.Matrices[i]
			files[m.File] = true
			var blocks [][]sharedRow
			for _, part := range strings.Split(a.texts[sumFileOf(m.File)], "ops_sec\t")[1:] {
				blocks = append(blocks, scanRows("\n"+part[strings.IndexByte(part, '\n'):]))
			}
			if len(blocks) == 0 {
				t.Fatalf("%s: no rows in %s", m.File, sumFileOf(m.File))
			}
			lines := strings.Split(strings.TrimSpace(a.texts[m.File]), "\n")
			if strings.Contains(lines[0], "test") {
				lines = lines[1:]
			}
			if len(lines) != len(m.Rows) {
				t.Errorf("%s: %d rows of %d lines", m.File, len(m.Rows), len(lines))
				continue
			}
			for k, row := range m.Rows {
				if row.Shifted != "" {
					shifted[path.Base(m.File)]++
					continue
				}
				block := blockOf(blocks, lines[k])
				if len(block) != len(m.Columns) {
					t.Errorf("%s:%d: %d rows for %d columns", m.File, row.Line, len(block), len(m.Columns))
					continue
				}
				base, err := strconv.ParseFloat(block[0].cells[0], 64)
				if err != nil {
					t.Fatal(err)
				}
				for c, from := range block {
					if m.Columns[c] != from.cells[25] || row.Sibling[c] != from.cells[0] {
						t.Errorf("%s:%d: column %d is %s %s, the row %s %s", m.File, row.Line, c, m.Columns[c], row.Sibling[c], from.cells[25], from.cells[0])
					}
					v, err := strconv.ParseFloat(from.cells[0], 64)
					if err != nil {
						t.Fatal(err)
					}
					want := from.cells[0]
					if m.Kind == bench.MatrixRelative {
						want = fmt.Sprintf("%.2f", v/base)
					}
					at := c
					if m.BaseOmitted {
						if c == 0 {
							continue
						}
						at--
					}
					if row.Cells[at] != want {
						t.Errorf("%s:%d: %s of %s is %s, want %s", m.File, row.Line, row.Step.Name, m.Columns[c], row.Cells[at], want)
					}
					cells++
				}
			}
			if c := bench.CheckMatrix(m, bench.NewFigures()); c.Agree != c.Cells || c.Unknown != 0 {
				t.Errorf("%s: the check says %+v", m.File, c)
			}
		}
		for file, text := range a.texts {
			if name := sumFileOf(file); name != "" && name != file && path.Ext(file) != ".txt" && strings.TrimSpace(text) != "" && !files[file] {
				t.Errorf("%s is no matrix", file)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"abs.iodir.6x.tsv": 1, "rel2.iodir.6x.csv": 1}, shifted); diff != "" {
		t.Errorf("shifted rows: %s", diff)
	}
	if cells < 5000 {
		t.Errorf("only %d cells were compared", cells)
	}
}

// blockOf gives the rows of the test that a line of a matrix names at one end.
func blockOf(blocks [][]sharedRow, line string) []sharedRow {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == '\t' || r == '\r' })
	for _, block := range blocks {
		for _, row := range block {
			if row.cells[23] == words[0] || row.cells[23] == words[len(words)-1] {
				return block
			}
		}
	}
	return nil
}

// What the archives' authors say of their servers, compilers and runs.
func TestSharedContexts(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]int{ // server workload compiler config clients: runs with all steps
		"nov23.c2.db_bench":       {"c2 cached gcc  8": 79 + 16 + 20, "c2 iodir gcc  8": 29 + 11 + 11 + 16},
		"nov23.u.db_bench.8x":     {"u5 cached gcc  12": 9, "u5 iobuf gcc  12": 9, "u5 iodir gcc  12": 9},
		"dec25.dbb.clang":         {"8core cached clang  1": 15, "8core iobuf clang  1": 15, "8core iodir clang  1": 15},
		"dec25.dbb.gcp.8core.arm": {"arm cached gcc  1": 3 + 20, "arm cached clang  1": 20 + 20, "arm cached clang+lto  1": 20 + 20},
		"may25.db_bench":          {"ser7 cached gcc lru 1": 9, "ser7 cached gcc hcc 1": 16},
		"aws_variance_rocksdb":    {"m5.2x.ht0 cached gcc  1": 6, "m5.2x.ht0 cached gcc  4": 6},
		"aug23.c2.db_bench.nt10_to_nt50": {"c2 cached gcc  10": 2, "c2 cached gcc  20": 2, "c2 cached gcc  30": 2,
			"c2 cached gcc  40": 2, "c2 cached gcc  50": 2},
	}
	for _, a := range readArchives(t) {
		steps := 0
		for i := range a.batch.Runs {
			steps = max(steps, len(a.batch.Runs[i].Results))
		}
		got := map[string]int{}
		short := 0
		for i := range a.batch.Runs {
			run := &a.batch.Runs[i]
			if run.Results[0].ContextFromStore {
				continue
			}
			// sum.nt40 and sum.nt50 lack the steps of sum.nt10.
			if len(run.Results) != steps && a.dir != "aug23.c2.db_bench.nt10_to_nt50" {
				short++
				continue
			}
			got[fmt.Sprintf("%s %s %s %s %d", run.Server, run.Workload, run.Build.Compiler, run.Config, bench.RunClients(run))]++
		}
		if diff := cmp.Diff(want[a.dir], got); diff != "" {
			t.Errorf("%s: %s", a.dir, diff)
		}
		// 6.11.7 has no overwrite in iodir.
		if wantShort := map[string]int{"nov23.c2.db_bench": 1}[a.dir]; short != wantShort {
			t.Errorf("%s: %d runs lack steps, want %d", a.dir, short, wantShort)
		}
	}
}

// No ratio and no deviation below the rows of the archives is found wrong.
func TestSharedTrailersFit(t *testing.T) {
	t.Parallel()
	trailers := 0
	for _, a := range readArchives(t) {
		for _, text := range a.texts {
			for _, line := range strings.Split(text, "\n") {
				if strings.HasPrefix(line, "mean=") || len(line) == 5 && line[1] == '.' && line[0] >= '0' && line[0] <= '9' {
					trailers++
				}
			}
		}
		for _, w := range a.batch.Warnings {
			if strings.Contains(w.Text, "does not fit") || strings.Contains(w.Text, "cannot be checked") {
				t.Error(w)
			}
		}
	}
	if trailers < 50 {
		t.Errorf("only %d trailers were there to check", trailers)
	}
}

// What people pasted into issues, and what scripts wrote of odd runs.
func TestSharedOddTables(t *testing.T) {
	t.Parallel()
	root := testdata.Shared(t)
	read := func(name string, flags bench.Context) *bench.Batch {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		b := mustRead(t, path.Base(name), string(data), flags)
		if f := onlyFile(t, b); f.State != bench.FileTaken {
			t.Fatalf("%s: %+v", name, f)
		}
		return b
	}
	var all []*bench.Result
	results := func(b *bench.Batch) []*bench.Result {
		all = nil
		for i := range b.Runs {
			for j := range b.Runs[i].Results {
				all = append(all, &b.Runs[i].Results[j])
			}
		}
		return all
	}

	// Figures of another benchmark whose name begins alike, and of a database
	// without a key.
	r := results(read("cases/21-report-row-wrong-benchmark.tsv", someContext))
	if len(r) != 2 || r[0].PrimaryText != "229723" || r[1].PrimaryText != "106382" {
		t.Fatalf("case 21: %d results", len(r))
	}
	for _, x := range r {
		if _, ok := x.Value("mb_per_s"); ok || len(x.Warnings) != 1 || x.Warnings[0].Column != "mb_sec" || x.Excluded == "" {
			t.Errorf("case 21: %+v", x)
		}
	}

	// A pasted table with blank cells and a mangled time.
	flags := someContext
	flags.Version = "6.22.1"
	b := read("cases/23-bulkload-blank-cells.txt", flags)
	r = results(b)
	want := map[string]float64{"flush_write_gb": 53.2, "compaction_write_gb": 53.2, "write_amp": 1, "compaction_write_mb_per_s": 56.7, "uptime_s": 960, "stall_percent": 60.4}
	if len(r) != 1 || r[0].Step.Name != "bulkload" || r[0].State != bench.StateOK || r[0].PrimaryText != "" {
		t.Fatalf("case 23: %+v", r)
	}
	if diff := cmp.Diff(want, numbersOf(r[0]), near); diff != "" {
		t.Errorf("case 23: %s", diff)
	}
	if m := b.Files[0].Messages; len(m) != 2 || m[0].Line != 7 || m[1].Line != 8 {
		t.Errorf("case 23: the rows without a test: %v", m)
	}

	// A size with unit and comma, an empty job.
	b = read("cases/25-blob-size-trailing-comma.tsv", someContext)
	r = results(b)
	if v, ok := r[0].Value("blob_size_gb"); len(r) != 1 || !ok || v != 0 || len(r[0].Warnings) != 0 {
		t.Errorf("case 25: %+v", r[0])
	}
	if v, _ := r[0].Value("db_size_gb"); v != 1 || b.Runs[0].Environment != nil || b.Runs[0].Build.GitHash != "6115254416" {
		t.Errorf("case 25: %g %v", v, b.Runs[0])
	}

	// The old header, spaces for tabs, a zone.
	r = results(read("cases/27-old-report-header-with-zone.txt", someContext))
	if len(r) != 2 || r[0].Started.String() != "2022-03-16 15:46:45 -07:00" || r[1].Step.Name != "multireadrandom" || r[1].Step.Threads != 4 {
		t.Fatalf("case 27: %+v", r)
	}
	want = map[string]float64{"qps": 823294, "mb_per_s": 329.8, "flush_write_gb": 21.5, "compaction_write_gb": 21.5, "write_amp": 1, "compaction_write_mb_per_s": 183.4,
		"usec_per_op": 1.2, "p50": 1, "p75": 1, "p99": 3, "p99_9": 6, "p99_99": 14, "uptime_s": 120, "stall_s": 0, "stall_percent": 0}
	if diff := cmp.Diff(want, numbersOf(r[0]), near); diff != "" {
		t.Errorf("case 27: %s", diff)
	}

	// A debug build, nanoseconds, times that were not taken.
	flags.Version = "5.2.0"
	r = results(read("cases/29-summary-csv-padded.csv", flags))
	want = map[string]float64{"qps": 138458, "p50": 9.38, "p75": 11.53, "p99": 55.2, "p99_9": 16803.2, "p99_99": 32504}
	if len(r) != 2 || r[0].Excluded == "" || r[0].Step.Threads != 16 {
		t.Fatalf("case 29: %+v", r)
	}
	if diff := cmp.Diff(want, numbersOf(r[0]), near); diff != "" {
		t.Errorf("case 29: %s", diff)
	}

	// A log in UTF-16, as a Windows shell redirects it.
	flags = someContext
	flags.Version = "7.8.3"
	b = read("cases/37-powershell-utf16le.txt", flags)
	if b.Format != formatLog {
		t.Errorf("case 37: format %q", b.Format)
	}
	got := map[string]string{}
	for _, x := range results(b) {
		got[x.Step.Name] = x.PrimaryText
	}
	if diff := cmp.Diff(map[string]string{"fillseq": "114364", "readrandom": "315556"}, got); diff != "" {
		t.Errorf("case 37: %s", diff)
	}

	// From 10.3 on the wall seconds of compaction stand under c_csecs.
	r = results(read("data/dbbench/public-excerpts/rocksdb-issue-13996.tsv", someContext))
	if v, ok := r[1].Value("compaction_wall_s"); !ok || v != 776 {
		t.Errorf("issue 13996: %g %v", v, ok)
	}
	if _, ok := r[1].Value("compaction_cpu_s"); ok {
		t.Error("issue 13996: CPU seconds that nobody measured")
	}
}
