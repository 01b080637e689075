package ingest

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// sane fails the test unless a batch keeps what every reader promises whatever
// the bytes were.
func sane(t *testing.T, data []byte, b *bench.Batch) {
	t.Helper()
	taken := map[string]bool{}
	for _, f := range b.Files {
		taken[f.Path] = f.State == bench.FileTaken
		switch f.State {
		case bench.FileTaken, bench.FileAttachment, bench.FileRefused:
		default:
			t.Errorf("%q is in no state", f.Path)
		}
		if f.State == bench.FileRefused && len(f.Messages) == 0 {
			t.Errorf("%q was refused without a reason", f.Path)
		}
		if f.Path == "" || strings.HasPrefix(f.Path, "/") || strings.HasPrefix(f.Path, "../") {
			t.Errorf("a path that leads away: %q", f.Path)
		}
	}
	results := 0
	for i := range b.Runs {
		run := &b.Runs[i]
		if run.System == "" || run.Suite == "" || run.Server == "" || run.Workload == "" || run.Build.Version == "" || len(run.Results) == 0 {
			t.Errorf("a run that cannot be placed: %+v", run)
		}
		for j := range run.Results {
			r := &run.Results[j]
			results++
			if r.Step.Name == "" || r.State == "" || r.Origin == "" || r.Role == "" || len(r.Sources) == 0 || !taken[r.Sources[0].File] {
				t.Errorf("a result that cannot be placed: %+v", r)
			}
			seen := map[string]bool{}
			for _, v := range r.Values {
				if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) || !(v.Resolution >= 0) || math.IsInf(v.Resolution, 0) {
					t.Errorf("%s is no number: %g (%g)", v.Metric, v.Number, v.Resolution)
				}
				if _, ok := bench.LookupMetric(v.Metric); !ok {
					t.Errorf("no metric is called %q", v.Metric)
				}
				if seen[v.Metric] {
					t.Errorf("%s stands twice", v.Metric)
				}
				seen[v.Metric] = true
			}
		}
	}
	if results > len(data)+1 {
		t.Errorf("%d results of %d bytes", results, len(data))
	}
	for i := range b.Matrices {
		m := &b.Matrices[i]
		width := len(m.Columns)
		if m.BaseOmitted {
			width--
		}
		for _, row := range m.Rows {
			if row.Shifted == "" && len(row.Cells) != width {
				t.Errorf("%d cells for %d columns", len(row.Cells), len(m.Columns))
			}
			if row.Sibling != nil && len(row.Sibling) != len(m.Columns) {
				t.Errorf("%d figures for %d columns", len(row.Sibling), len(m.Columns))
			}
		}
		bench.CheckMatrix(m, bench.NewFigures())
	}
	if text := Check(b); !strings.HasSuffix(text, "\n") {
		t.Errorf("%q", text)
	}
}

// seed gives a file of testdata as a seed.
func seed(f *testing.F, name string) []byte {
	f.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// fuzzTable fuzzes readers of tables, whatever format the bytes turn out as.
func fuzzTable(f *testing.F, name string) {
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		flags := bench.Context{Server: "s1", Workload: "cached", Version: version, Versions: []string{"1.0", "2.0", "3.0"}}
		b, err := Read(data, name, flags, Limits{Bytes: 8 << 20})
		if err != nil {
			if bench.KindOf(err) == "" {
				t.Errorf("an error without kind: %v", err)
			}
			return
		}
		sane(t, data, b)
	})
}

func FuzzReport(f *testing.F) {
	for _, name := range []string{"report.7.8.tsv", "report.by-v5.18.4-script.txt", "report.by-v6.29.5-script.tsv", "regression_test.SUMMARY.csv"} {
		f.Add(seed(f, "tables/"+name), "7.8.3")
	}
	f.Add([]byte(headerR5+"\n"+sumRow("(", "readrandom.t1", "2023-01-9T00:00:01", "10.4.2")+"\n"), "")
	f.Add([]byte(headerR5+"\n"+sumRow("failed", "readrandom.t1", "", "5.10.1")+"\nwhat\n"), "")
	f.Add([]byte(strings.ReplaceAll(oldColumns, "\t", "|")+"\n--|--\n  |1.002|3||||||||||||09:40.2|9|bulkload\n"), "6.22.1")
	f.Add(inUTF16(headerR5+"\r\n"+sumRow("7", "x", "2023-01-9T00:00:01", "5.4.1"), true, true), "")
	fuzzTable(f, "report.tsv")
}

func FuzzSum(f *testing.F) {
	f.Add(seed(f, "tables/summary.7.8.tsv"), "")
	f.Add([]byte(matrixSum()), "")
	a, b := sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0"), sumRow("12", "fillseq", "2023-01-02T00:00:01", "8.0.0")
	f.Add([]byte(sumText(nil, []string{a, b, a, "1.091"}, []string{b, "mean=12\tstddev=0.0\tsdev/mean=0.000"})), "")
	f.Add([]byte(sumText([]string{"bm.lc.nt1.d0/8.0.gcc/report.tsv", "bm.lc.nt1.d0/8.0.clang.lto/report.tsv"}, []string{a, b}, []string{a})), "8.0")
	fuzzTable(f, "sum2.byrx.txt")
}

func FuzzMatrix(f *testing.F) {
	f.Add([]byte("1000\t1500\t1234\tfillseq\n300\t100\toverwriteandwait.t8.s0\n"), "")
	f.Add([]byte("fillseq,1.50,1.23\noverwriteandwait.t8.s0,0.67,\n"), "")
	f.Add([]byte("test,6.10.4,6.29.5,7.0.4,\nfillseq,1.00,1.50,1.23\n"), "")
	f.Add([]byte("6.10.4\t6.29.5\t7.0.4\ttest\n1000\t\t1234\toverwriteandwait.t1.s0\n"), "")
	fuzzTable(f, "abs.byrx.tsv")
}

// FuzzArchive reads archives and compressed files of anything.
func FuzzArchive(f *testing.F) {
	files := map[string]string{
		"c2/sum.byrx.6x.txt": matrixSum(), "c2/rel2.byrx.6x.csv": "fillseq,1.50,1.23\n", "c2/bm.lc.nt1.d0/8.0.gcc/report.tsv": headerR5 + "\n",
	}
	plain := tarOf(f, files)
	f.Add(plain, "x.tar")
	f.Add(gzipped(f, plain), "nov23.c2.db_bench/x.tgz")
	f.Add(zipOf(f, files, nil), "x.zip")
	f.Add(tarOf(f, map[string]string{"i.tar.gz": string(gzipped(f, plain)), "LOG.gz": string(gzipped(f, []byte("x")))}), "")
	f.Add(gzipped(f, []byte(matrixSum())), "byrx/sum.gz")
	f.Add([]byte("PK\x05\x06"), "../x")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		limits := Limits{Bytes: 4 << 20, Files: 100}
		b, err := Read(data, name, bench.Context{Server: "s1", Workload: "cached"}, limits)
		if err != nil {
			if bench.KindOf(err) == "" {
				t.Errorf("an error without kind: %v", err)
			}
			return
		}
		if len(b.Files) > limits.Files {
			t.Errorf("%d files", len(b.Files))
		}
		seen := map[string]bool{}
		for _, file := range b.Files {
			if seen[file.Path] {
				t.Errorf("two files are %q", file.Path)
			}
			seen[file.Path] = true
		}
		// Compressed text may hold more results than bytes.
		sane(t, make([]byte, limits.Bytes), b)
	})
}

// FuzzDecode checks that what is taken as text is text.
func FuzzDecode(f *testing.F) {
	for _, raw := range [][]byte{[]byte("a±\n"), inUTF16("a±😀", true, true), inUTF16("a±😀", false, true), inUTF16("abc", true, false), []byte("\xff\xfe\x00\xd8"), nil} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := decode(raw)
		if err != nil {
			if bench.KindOf(err) != bench.KindInvalid {
				t.Errorf("%v", err)
			}
			return
		}
		if !strings.Contains(strings.ToValidUTF8(string(text), "\x00"), "\x00") {
			return
		}
		t.Errorf("%q was taken as text", text)
	})
}

// FuzzPath checks that no path states a context and contradicts it at once.
func FuzzPath(f *testing.F) {
	for _, name := range []string{"res.byrx/bm.lc.nt16.cm1.d0/6.29.gcc/report.tsv", "nov23.u.db_bench.8x/u5/sum.byrx.8x.txt", "../x", "a//b/./c", `a\b`, "\xff", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		clean, _ := cleanPath(name)
		if again, problem := cleanPath(clean); again != clean && problem == "" {
			t.Errorf("%q becomes %q, then %q", name, clean, again)
		}
		stated, _, err := pathContext(clean)
		if err != nil && bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%v", err)
		}
		if n := stated.Normalized(); err == nil && (n.Workload != stated.Workload || n.Compiler != stated.Compiler || n.Version != stated.Version) {
			t.Errorf("%q states %+v, which is not in the project's words", clean, stated)
		}
		pathHints(clean)
	})
}
