package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// cell is a figure of an absolute matrix as a result.
func cell(file string, line int, step, qps string) bench.Result {
	r := row(file, line, step, "", qps)
	r.Origin, r.Text = bench.OriginMatrix, step+" of "+file
	return r
}

func absolute(file string, cells ...string) bench.Matrix {
	return bench.Matrix{File: file, Kind: bench.MatrixAbsolute, Metric: "qps",
		Context: bench.Context{Server: "c2", Workload: "cached"}, Columns: []string{"8.7.3", "8.8.0"},
		Rows: []bench.MatrixRow{{Line: 2, Step: bench.ParseStep("fillseq"), Cells: cells}}}
}

func TestFiguresOfAMatrixCountOnlyWithoutMeasuredOnes(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	matrix := func(file string) *bench.Batch {
		b := batch(file, c2("8.7.3", cell(file, 2, "fillseq", "90")), c2("8.8.0", cell(file, 2, "fillseq", "100")))
		for i := range b.Runs {
			b.Runs[i].Assumed = []string{"compiler"}
		}
		b.Matrices = []bench.Matrix{absolute(file, "90", "100")}
		return b
	}
	r := mustWrite(t, s, upload("abs.csv", "csv"), matrix("abs.csv"))
	if r.Results != 2 {
		t.Errorf("%d results, want both cells", r.Results)
	}
	if diff := cmp.Diff([]bench.Check{{File: "abs.csv", Kind: "absolute", Unknown: 2, Messages: []bench.Message{}}}, r.Checks); diff != "" {
		t.Error("checks", diff)
	}
	// The same matrix with tabs holds nothing new.
	if again := mustWrite(t, s, upload("abs.tsv", "tsv"), matrix("abs.tsv")); again.Results != 0 || again.AlreadyThere != 2 {
		t.Errorf("receipt %+v, want both cells to be there already", again)
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {90, 100}})

	// A measured result takes the place of one cell.
	measured := mustWrite(t, s, upload("sum", "sum"), batch("sum", c2("8.8.0", row("sum", 1, "fillseq", day1, "101"))))
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {90, 101}})
	d, err := s.Run(t.Context(), r.Runs[1].ID)
	if err != nil || !d.Results[0].Superseded || d.Results[0].Origin != bench.OriginMatrix {
		t.Errorf("the cell %+v is not marked, %v", d.Results[0], err)
	}
	// A matrix that comes later is checked, and its measured cell left out.
	late := matrix("late")
	late.Runs[1].Results[0].PrimaryText = "102"
	late.Matrices[0].Rows[0].Cells[1] = "102"
	got := mustWrite(t, s, upload("late", "late"), late)
	if got.Results != 0 || got.AlreadyThere != 2 {
		t.Errorf("receipt %+v, want nothing to be stored", got)
	}
	want := []bench.Check{{File: "late", Kind: "absolute", Cells: 1, Unknown: 1, Messages: []bench.Message{
		{File: "late", Line: 2, Text: "fillseq 8.8.0: 102 here, 101 measured"}}}}
	if diff := cmp.Diff(want, got.Checks); diff != "" {
		t.Error("checks", diff)
	}
	stored, err := s.Upload(t.Context(), got.UploadID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stored.Checks); diff != "" {
		t.Error("stored checks", diff)
	}
	// Without the measured result the cell counts again.
	if err := s.WithdrawUpload(t.Context(), measured.UploadID, "wrong", "admin", nil); err != nil {
		t.Fatal(err)
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {90, 100}})
}

func TestAMatrixInTwoFormatsBesideItsRows(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	b := batch("sum", c2("8.8.0", row("sum", 1, "fillseq", day1, "100")))
	for _, file := range []string{"abs.csv", "abs.tsv"} {
		b.Files = append(b.Files, taken(file))
		b.Runs = append(b.Runs, c2("8.7.3", cell(file, 2, "fillseq", "90")), c2("8.8.0", cell(file, 2, "fillseq", "100")))
		b.Matrices = append(b.Matrices, absolute(file, "90", "100"))
	}
	r := mustWrite(t, s, upload("all.zip", "all"), b)
	if r.Results != 2 || r.AlreadyThere != 3 || len(r.Runs) != 2 {
		t.Errorf("receipt %+v, want the row, the cell without one, and three known cells", r)
	}
	wantValues(t, s, map[string][]float64{"c2 cached gcc fillseq": {90, 100}})
	if len(r.Checks) != 2 || r.Checks[1].Agree != 1 || r.Checks[1].Unknown != 1 {
		t.Errorf("checks %+v, want one cell of each to agree", r.Checks)
	}
}

func TestAMatrixIsCheckedAgainstItsOwnUpload(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	b := batch("sum", c2("8.7.3", row("sum", 1, "overwrite.t8", day1, "90")), c2("8.8.0", row("sum", 2, "overwriteandwait.t8", day2, "100")))
	b.Files = append(b.Files, taken("rel"), bench.File{Path: "bad", SHA256: sum("bad"), State: bench.FileRefused})
	relative := bench.Matrix{File: "rel", Kind: bench.MatrixRelative, Metric: "qps",
		Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Compiler: "gcc"}, Columns: []string{"8.7.3", "8.8.0", "8.9.0"},
		Rows: []bench.MatrixRow{
			{Line: 2, Step: bench.ParseStep("overwriteandwait.t8"), Cells: []string{"1.00", "1.11", "1.20"}},
			{Line: 3, Step: bench.ParseStep("fillseq"), Cells: []string{"1.00", "", "1.05"}, Shifted: "one cell is missing"},
		}}
	bad := relative
	bad.File = "bad"
	b.Matrices = []bench.Matrix{relative, bad}
	r := mustWrite(t, s, upload("all.zip", "all"), b)
	want := []bench.Check{{File: "rel", Kind: "relative", Cells: 2, Agree: 2, Unknown: 1, Shifted: 1,
		Messages: []bench.Message{{File: "rel", Line: 3, Text: "fillseq left out: one cell is missing"}}}}
	if diff := cmp.Diff(want, r.Checks); diff != "" {
		t.Error("checks", diff)
	}
	if r.Results != 2 || r.AlreadyThere != 0 {
		t.Errorf("receipt %+v: ratios are never results", r)
	}
	// Bytes that are there already answer with the same checks.
	again := mustWrite(t, s, upload("all.zip", "all"), b)
	if diff := cmp.Diff(want, again.Checks); diff != "" {
		t.Error("checks of the duplicate", diff)
	}
}
