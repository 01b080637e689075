package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// matrixSum is the file of rows that the matrices of these tests are made from:
// three versions, of which the oldest ran overwrite in place of overwriteandwait.
func matrixSum() string {
	row := func(ops, test, version string, n int) string {
		return sumRow(ops, test, fmt.Sprintf("2023-01-0%dT00:00:0%d", n, n), version)
	}
	return sumText(nil,
		[]string{row("1000", "fillseq", "6.10.4", 1), row("1500", "fillseq", "6.29.5", 2), row("1234", "fillseq", "7.0.4", 3)},
		[]string{row("300", "overwrite.t8.s0", "6.10.4", 1), row("200", "overwriteandwait.t8.s0", "6.29.5", 2), row("100", "overwriteandwait.t8.s0", "7.0.4", 3)},
	)
}

func TestMatrixLayouts(t *testing.T) {
	t.Parallel()
	figures := [][]string{{"1000", "1500", "1234"}, {"300", "200", "100"}}
	for _, tt := range []struct {
		name, text  string
		kind        bench.MatrixKind
		baseOmitted bool
		cells       [][]string
	}{
		{"abs.byrx.6x.tsv", "1000\t1500\t1234\tfillseq\n300\t200\t100\toverwriteandwait.t8.s0\n", bench.MatrixAbsolute, false, figures},
		{"rel2.byrx.6x.csv", "fillseq,1.50,1.23\noverwriteandwait.t8.s0,0.67,0.33\n", bench.MatrixRelative, true, [][]string{{"1.50", "1.23"}, {"0.67", "0.33"}}},
		{"sum.abs0.byrx.6x.csv", "test,6.10.4,6.29.5,7.0.4,\nfillseq,1.00,1.50,1.23\noverwriteandwait.t8.s0,1.00,0.67,0.33\n", bench.MatrixRelative, false, [][]string{{"1.00", "1.50", "1.23"}, {"1.00", "0.67", "0.33"}}},
		{"fmt.byrx.6x.abs1.tsv", "6.10.4\t6.29.5\t7.0.4\ttest\n1000\t1500\t1234\tfillseq\n300\t200\t100\toverwriteandwait.t8.s0\n", bench.MatrixAbsolute, false, figures},
		{"csum.byrx.6x.csv", "6.10.4\t6.29.5\t7.0.4\ttest\n1.00\t1.50\t1.23\tfillseq\n1.00\t0.67\t0.33\toverwriteandwait.t8.s0\n", bench.MatrixRelative, false, [][]string{{"1.00", "1.50", "1.23"}, {"1.00", "0.67", "0.33"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := tarOf(t, map[string]string{"c2/sum.byrx.6x.txt": matrixSum(), "c2/" + tt.name: tt.text})
			b, err := Read(data, "up.tar", bench.Context{Compiler: "gcc"}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Matrices) != 1 {
				t.Fatalf("files %+v", b.Files)
			}
			m := b.Matrices[0]
			if m.Kind != tt.kind || m.BaseOmitted != tt.baseOmitted || m.Metric != "qps" {
				t.Errorf("%s %v %s", m.Kind, m.BaseOmitted, m.Metric)
			}
			want := bench.Context{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Compiler: "gcc"}
			if diff := cmp.Diff(want, m.Context); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"6.10.4", "6.29.5", "7.0.4"}, m.Columns); diff != "" {
				t.Error(diff)
			}
			for i, row := range m.Rows {
				if diff := cmp.Diff(tt.cells[i], row.Cells); diff != "" {
					t.Error(diff)
				}
				// The last row's cells come from overwrite where that was run.
				if diff := cmp.Diff(figures[i], row.Sibling); diff != "" {
					t.Error(diff)
				}
			}
			if c := bench.CheckMatrix(&m, bench.NewFigures()); c.Agree != c.Cells || c.Cells != len(tt.cells)*len(tt.cells[0]) || c.Unknown != 0 {
				t.Errorf("%+v", c)
			}
			// All figures are measured in the sibling: none is a result once more.
			if len(b.Runs) != 3 {
				t.Errorf("%d runs", len(b.Runs))
			}
		})
	}
}

func TestRowOfAnotherLengthIsShifted(t *testing.T) {
	t.Parallel()
	data := tarOf(t, map[string]string{"c2/sum.byrx.6x.txt": matrixSum(),
		"c2/abs.byrx.6x.tsv": "1000\t1500\t1234\tfillseq\n9\t8\t7\treadrandom.t8\n300\t100\toverwriteandwait.t8.s0\n"})
	b, err := Read(data, "up.tar", bench.Context{Compiler: "gcc"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rows := b.Matrices[0].Rows
	if rows[0].Shifted != "" || rows[1].Shifted != "" || rows[2].Shifted == "" || rows[2].Sibling != nil {
		t.Errorf("%+v", rows)
	}
	if c := bench.CheckMatrix(&b.Matrices[0], bench.NewFigures()); c.Shifted != 1 || c.Agree != 3 || c.Unknown != 3 {
		t.Errorf("%+v", c)
	}
}

func TestColumnsGivenWithTheUpload(t *testing.T) {
	t.Parallel()
	flags := someContext
	flags.Versions = []string{"6.10.4", "6.29.5", "7.0.4"}
	b := mustRead(t, "abs.byrx.6x.tsv", "1000\t1500\t1234\tfillseq\n300\t200\t100\toverwriteandwait.t8.s0\n", flags)
	if f := onlyFile(t, b); f.State != bench.FileTaken {
		t.Fatalf("%+v", f)
	}
	// 6.10 may have run overwrite: its figure is of no known step.
	var got []string
	for i := range b.Runs {
		for _, r := range b.Runs[i].Results {
			got = append(got, b.Runs[i].Build.Version+" "+r.Step.Name+" "+r.PrimaryText+" "+string(r.Origin)+" "+r.Text)
			if !r.Started.IsZero() || len(r.Values) != 1 || r.Values[0].Metric != "qps" {
				t.Errorf("%+v", r)
			}
		}
	}
	want := []string{
		"6.10.4 fillseq 1000 matrix fillseq 6.10.4 1000",
		"6.29.5 fillseq 1500 matrix fillseq 6.29.5 1500", "6.29.5 overwriteandwait 200 matrix overwriteandwait.t8.s0 6.29.5 200",
		"7.0.4 fillseq 1234 matrix fillseq 7.0.4 1234", "7.0.4 overwriteandwait 100 matrix overwriteandwait.t8.s0 7.0.4 100",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(b.Warnings) != 1 || b.Warnings[0].Column != "6.10.4" || b.Warnings[0].Line != 2 {
		t.Errorf("warnings %v", b.Warnings)
	}
}

func TestRefusedMatrices(t *testing.T) {
	t.Parallel()
	three := bench.Context{Server: "s1", Workload: "cached", Versions: []string{"1.0", "2.0", "3.0"}}
	for _, tt := range []struct {
		name, file, text string
		flags            bench.Context
		contains         string
	}{
		{"nobody names the columns", "abs.byrx.8x.tsv", "1\t2\tfillseq\n", bench.Context{Server: "s"}, "upload it together with sum.byrx.8x.txt, or give its versions"},
		{"nor does the file's name", "figures.tsv", "1\t2\tfillseq\n", someContext, "nothing says which versions"},
		{"too few versions", "abs.tsv", "1\t2\t3\t4\tfillseq\n", three, "4 figures for 3 versions (given with the upload)"},
		{"figures have no base left out", "abs.tsv", "1\t2\tfillseq\n", three, "2 figures for 3 versions"},
		{"a header that does not fit", "sum.abs1.byrx.csv", "test,1.0,2.0,\nfillseq,1,2,3\n", bench.Context{Server: "s"}, "3 figures for 2 versions (of its header)"},
		{"ratios and figures", "sum.abs1.byrx.csv", "test,1.0,2.0,\nfillseq,1.00,2\n", bench.Context{Server: "s"}, "mixed"},
		{"no server", "sum.abs1.byrx.csv", "test,1.0,2.0,\nfillseq,1,2\n", bench.Context{}, "give --server"},
		{"a cell that is no figure", "sum.abs1.byrx.csv", "test,1.0,2.0,\n" + strings.Repeat("fillseq,1,2\n", 30) + "fillseq,1,x\n", bench.Context{Server: "s"}, `line 32: not a figure: "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := mustRead(t, tt.file, tt.text, tt.flags)
			f := onlyFile(t, b)
			if f.State != bench.FileRefused || f.Format != "matrix" || len(b.Matrices)+len(b.Runs) != 0 {
				t.Fatalf("%+v", f)
			}
			if len(f.Messages) != 1 || !strings.Contains(f.Messages[0].Text, tt.contains) {
				t.Errorf("messages %v, want %q", f.Messages, tt.contains)
			}
		})
	}
}

func TestEmptyCellsOfAMatrix(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "sum.abs1.byrx.tsv", "1.0.0\t2.0.0\t3.0.0\ttest\n10\t\t30\tfillseq\n", someContext)
	if len(b.Runs) != 2 || b.Runs[1].Build.Version != "3.0.0" || b.Runs[1].Results[0].PrimaryText != "30" {
		t.Errorf("%v", runsOf(b))
	}
}

// The same figures in two layouts are the same measurements.
func TestBothLayoutsOfAMatrixShareTheirFigures(t *testing.T) {
	t.Parallel()
	data := tarOf(t, map[string]string{
		"c2/sum.abs1.byrx.csv": "test,8.0.0,8.1.1,\nfillseq,100,200\n",
		"c2/sum.abs1.byrx.tsv": "8.0.0\t8.1.1\ttest\n100\t200\tfillseq\n",
	})
	b, err := Read(data, "up.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if plan := bench.Decide(b, bench.Keys(b), nil); len(plan.New) != 2 || len(plan.Additions) != 2 {
		t.Errorf("%d new, %d more", len(plan.New), len(plan.Additions))
	}
}

func TestMatrixOfMixedBuildsNamesNone(t *testing.T) {
	t.Parallel()
	row := func(ops, version string, n int) string {
		return sumRow(ops, "fillseq", fmt.Sprintf("2023-01-0%dT00:00:00", n), version)
	}
	more := func(rows ...string) []string {
		for i := range rows {
			rows[i] = strings.Replace(rows[i], "fillseq", "readrandom.t1", 1)
		}
		return rows
	}
	gcc, clang := row("100", "6.29.5", 1), row("110", "6.29.5", 2)
	data := tarOf(t, map[string]string{
		"arm/byrx/sum2.byrx.clang.txt":  sumText(nil, []string{gcc, clang}, more(gcc, clang)),
		"arm/byrx/csum2.byrx.clang.csv": "test,6.29.5,6.29.5,\nfillseq,1.00,1.10\nreadrandom.t1,1.00,1.10\n",
	})
	b, err := Read(data, "up.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	m := b.Matrices[0]
	if m.Context.Compiler != "" || m.Context.Server != "arm" {
		t.Errorf("%+v", m.Context)
	}
	if c := bench.CheckMatrix(&m, bench.NewFigures()); c.Agree != 4 || c.Cells != 4 {
		t.Errorf("%+v", c)
	}
}

// A compiler that is only assumed must not keep a matrix from its figures.
func TestAssumedCompilerIsNoneOfAMatrix(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "sum.abs1.byrx.csv", "test,8.0.0,8.1.1,\nfillseq,100,200\n", bench.Context{Server: "s1"})
	if c := b.Matrices[0].Context.Compiler; c != "" || b.Runs[0].Build.Compiler != "gcc" || len(b.Runs[0].Assumed) != 1 {
		t.Errorf("%q, %+v", c, b.Runs[0])
	}
}

func TestSiblingNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"rel2.byrx.4x.csv": "sum.byrx.4x.txt", "abs.byrx.some.tsv": "sum.byrx.some.txt", "csum2.byrx.clang.csv": "sum2.byrx.clang.txt",
		"csum.byrx.clang.lto.csv": "sum.byrx.clang.lto.txt", "sum.abs0.byrx.csv": "sum.byrx.txt", "fmt.byrx.both.abs0.tsv": "sum.byrx.both.txt",
		"other.csv": "", "": "",
	} {
		if got := siblingName(name); got != want {
			t.Errorf("siblingName(%q) = %q, want %q", name, got, want)
		}
	}
}
