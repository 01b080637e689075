package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func TestCheckSaysWhatWouldBeStored(t *testing.T) {
	t.Parallel()
	one := sumRow("1000", "fillseq", "2023-01-01T00:00:01", "10.3.4")
	two := sumRow("1100", "fillseq", "2023-01-02T00:00:01", "10.4.2")
	odd := strings.Replace(sumRow("300", "readrandom.t1", "2023-01-01T00:00:02", "10.3.4"), "\t1.5\t", "\t?\t", 1)
	failed := sumRow("failed", "readrandom.t1", "2023-01-02T00:00:02", "10.4.2")
	text := sumText(nil, []string{one, two, "what is this"}, []string{odd, failed})
	data := tarOf(t, map[string]string{
		"c2/sum.byrx.txt":      text,
		"c2/sum.byrx.some.txt": headerR5 + "\n" + one + "\n",
		"c2/rel2.byrx.csv":     "fillseq,1.10\nreadrandom.t1,\n",
		"c2/abs.iodir.tsv":     "\n",
		"c2/notes":             "words\n",
	})
	b, err := Read(data, "up.tar", bench.Context{Compiler: "gcc"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := `c2/sum.byrx.txt: sum.txt, taken
  2 runs, 4 results, 6 values (1 failed or not run)
  run of system rocksdb, suite db_bench, server c2, workload cached, version 10.3.4, compiler gcc, 1 clients, from 2023-01-01 00:00:01: 2 results
  run of system rocksdb, suite db_bench, server c2, workload cached, version 10.4.2, compiler gcc, 1 clients, from 2023-01-02 00:00:01: 2 results
  not understood: c2/sum.byrx.txt:4: not a row: "what is this"
c2/sum.byrx.some.txt: report.tsv, taken
  1 run, 1 result, 2 values
  run of system rocksdb, suite db_bench, server c2, workload cached, version 10.3.4, compiler gcc, from 2023-01-01 00:00:01: 1 result
c2/rel2.byrx.csv: matrix, taken
  0 runs, 0 results, 0 values, 1 check
  relative matrix: 1 of 1 cells agree with the rows of this upload
c2/abs.iodir.tsv: empty, attachment
  note: c2/abs.iodir.tsv: the file is empty
c2/notes: unknown, refused
  refused: c2/notes: the file is of no known format`
	got := Check(b)
	if !strings.HasPrefix(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	for _, line := range []string{
		`warning: c2/sum.byrx.txt:7: mb_sec: not a figure: "?"; left out` + "\n",
		"warning: c2/sum.byrx.txt: server c2 taken from the folder name c2; --server says otherwise\n",
		"5 files: 3 runs, 5 results, 8 values (1 failed or not run), 1 check; 1 of the results stand in more than one place\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("lacks %q:\n%s", line, got)
		}
	}
}

func TestCheckSaysOnceWhatHoldsForAColumn(t *testing.T) {
	t.Parallel()
	row := func(test, second string) string {
		return rowR5(map[string]string{"ops_sec": "10", "c_wsecs": "5", "test": test, "date": "2025-01-01T00:00:0" + second, "version": "10.4.2"})
	}
	got := Check(mustRead(t, "report.tsv", headerR5+"\n"+row("fillseq", "1")+"\n"+row("overwrite.t1.s0", "2"), someContext))
	if n := strings.Count(got, "c_wsecs"); n != 1 || !strings.Contains(got, "(2 rows)") {
		t.Errorf("said %d times:\n%s", n, got)
	}
}

func TestAWarningOfOneLineIsSaidOnce(t *testing.T) {
	t.Parallel()
	log := "RocksDB:    version 7.8.3\nDate:       Mon Nov 30 13:30:12 2026\nWARNING: Assertions are enabled; benchmarks unnecessarily slow\n" +
		"fillseq      :      10.000 micros/op 100000 ops/sec;\nreadrandom   :      20.000 micros/op 50000 ops/sec;\nreadseq      :       1.000 micros/op 1000000 ops/sec;\n"
	b := mustRead(t, "x.log", log, someContext)
	if n := strings.Count(Check(b), "Assertions are enabled"); n != 1 {
		t.Errorf("said %d times by the check:\n%s", n, Check(b))
	}
	n := 0
	for _, w := range Preview(b, "").Warnings {
		if strings.Contains(w.Text, "Assertions are enabled") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("said %d times by the receipt", n)
	}
	for _, r := range b.Runs[0].Results {
		if !warned(&r, "Assertions are enabled") {
			t.Errorf("%s no longer carries it", r.Step.Name)
		}
	}
}

func TestRowsThatStandTwiceAreCounted(t *testing.T) {
	t.Parallel()
	one := sumRow("11", "fillseq", "2023-01-01T00:00:01", "6.29.5")
	two := sumRow("12", "fillseq", "2023-01-02T00:00:01", "8.0.0")
	b := mustRead(t, "sum.txt", sumText(nil, []string{one, two, one}), someContext)
	if r := Preview(b, ""); r.Results != 2 || r.AlreadyThere != 1 {
		t.Errorf("%d results, %d already there; want 2 and 1", r.Results, r.AlreadyThere)
	}
	if got := Check(b); !strings.Contains(got, "1 of the results stand in more than one place") {
		t.Errorf("%s", got)
	}
}

func TestCheckComparesMatricesWithTheRowsBesideThem(t *testing.T) {
	t.Parallel()
	data := tarOf(t, map[string]string{
		"c2/sum.byrx.6x.txt":  matrixSum(),
		"c2/rel2.byrx.6x.csv": "fillseq,1.50,1.24\noverwriteandwait.t8.s0,0.33\n",
	})
	b, err := Read(data, "up.tar", bench.Context{Compiler: "gcc"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := `  relative matrix: 1 of 2 cells agree with the rows of this upload, 1 row left out: shifted
    c2/rel2.byrx.6x.csv:1: fillseq 7.0.4: 1.24 here, 1.23 of what was measured
    c2/rel2.byrx.6x.csv:2: overwriteandwait left out: the row has 1 figures where the others have 2: from some place on they stand under a wrong version
`
	if got := Check(b); !strings.Contains(got, want) {
		t.Errorf("%s\nlacks %s", got, want)
	}
}
