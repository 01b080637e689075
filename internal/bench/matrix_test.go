package bench

import (
	"reflect"
	"testing"
)

// figure is a measured fillseq of server c2, cached.
func figure(version, compiler string, v float64) Figure {
	return Figure{Coordinate: Coordinate{System: SystemRocksDB, Suite: SuiteDBBench, Server: "c2", Workload: "cached", Step: "fillseq", Compiler: compiler},
		Version: version, Metric: "qps", Value: v}
}

func relative(columns []string, cells ...string) *Matrix {
	return &Matrix{File: "rel", Kind: MatrixRelative, Metric: "qps", Context: Context{Server: "c2", Workload: "cached"},
		Columns: columns, Rows: []MatrixRow{{Line: 2, Step: Step{Name: "fillseq"}, Cells: cells}}}
}

func TestCheckMatrix(t *testing.T) {
	t.Parallel()
	// fillseq on the Arm server: gcc 1371997 and clang 1403964 with 6.29.5, clang
	// 1399887 with 7.0.4 (sum2.byrx.clang.txt).
	arm := NewFigures(figure("6.29.5", "gcc", 1371997), figure("6.29.5", "clang", 1403964), figure("7.0.4", "clang", 1399887))
	ofClang := func(m *Matrix) *Matrix { m.Context.Compiler = "clang"; return m }
	omitted := func(m *Matrix) *Matrix { m.BaseOmitted = true; return m }
	shifted := func(m *Matrix) *Matrix { m.Rows[0].Shifted = "a cell is missing"; return m }
	sibling := func(m *Matrix, values ...string) *Matrix { m.Rows[0].Sibling = values; return m }
	absolute := func(m *Matrix) *Matrix { m.Kind = MatrixAbsolute; return m }
	at := func(m *Matrix, change func(*Matrix)) *Matrix { change(m); return m }
	two, repeated := []string{"6.29.5", "7.0.4"}, []string{"6.29.5", "6.29.5", "7.0.4"}
	for name, test := range map[string]struct {
		m    *Matrix
		want Check
	}{
		// 1399887 / 1403964 = 0.9971, 1399887 / 1371997 = 1.0203
		"equal at two decimals":              {ofClang(relative(two, "1.00", "1.00")), Check{Cells: 2, Agree: 2}},
		"without the base's column":          {omitted(ofClang(relative(two, "1.00"))), Check{Cells: 1, Agree: 1}},
		"a cell that differs":                {ofClang(relative(two, "1.00", "1.02")), Check{Cells: 2, Agree: 1, Messages: []Message{{File: "rel", Line: 2, Text: "fillseq 7.0.4: 1.02 here, 1.00 of what was measured"}}}},
		"a base that is not 1":               {ofClang(relative(two, "0.98", "1.00")), Check{Cells: 2, Agree: 1, Messages: []Message{{File: "rel", Line: 2, Text: "fillseq 6.29.5: 0.98 here, 1.00 of what was measured"}}}},
		"any compiler when none is stated":   {relative(two, "1.00", "1.02"), Check{Cells: 2, Agree: 2}},
		"a repeated version has gcc's base":  {ofClang(relative(repeated, "1.00", "1.02", "1.02")), Check{Cells: 3, Agree: 3}},
		"one base for the row":               {relative(repeated, "1.00", "1.02", "1.00"), Check{Cells: 3, Agree: 2, Messages: []Message{{File: "rel", Line: 2, Text: "fillseq 7.0.4: 1.00 here, 1.02 of what was measured"}}}},
		"empty cells and NA":                 {ofClang(relative(repeated, "1.00", "", "NA")), Check{Cells: 1, Agree: 1}},
		"nothing stored of a version":        {ofClang(relative([]string{"6.29.5", "9.9.9"}, "1.00", "1.00")), Check{Cells: 1, Agree: 1, Unknown: 1}},
		"nothing stored of the base":         {ofClang(relative([]string{"1.1.1", "6.29.5"}, "1.00", "1.00")), Check{Unknown: 2}},
		"nothing stored of the server":       {at(relative(two, "1.00", "1.00"), func(m *Matrix) { m.Context.Server = "u5" }), Check{Unknown: 2}},
		"nothing stored of the workload":     {at(relative(two, "1.00", "1.00"), func(m *Matrix) { m.Context.Workload = "" }), Check{Unknown: 2}},
		"nothing stored of the config":       {at(relative(two, "1.00", "1.00"), func(m *Matrix) { m.Context.Config = "a1" }), Check{Unknown: 2}},
		"nothing stored of the system":       {at(relative(two, "1.00", "1.00"), func(m *Matrix) { m.Context.System = "x" }), Check{Unknown: 2}},
		"a displaced row":                    {shifted(relative(two, "1.00", "7.00")), Check{Shifted: 1, Messages: []Message{{File: "rel", Line: 2, Text: "fillseq left out: a cell is missing"}}}},
		"a row of another length":            {relative(two, "1.00"), Check{Shifted: 1, Messages: []Message{{File: "rel", Line: 2, Text: "fillseq left out: 1 cells for 2 versions"}}}},
		"the rows it was made from go first": {sibling(relative(two, "1.00", "1.50"), "100", "150"), Check{Cells: 2, Agree: 2}},
		"an unknown one of those":            {sibling(ofClang(relative(two, "1.00", "1.00")), "1403964", ""), Check{Cells: 2, Agree: 2}},
		"absolute":                           {absolute(ofClang(relative(two, "1403964", "1399888"))), Check{Cells: 2, Agree: 1, Messages: []Message{{File: "rel", Line: 2, Text: "fillseq 7.0.4: 1399888 here, 1399887 measured"}}}},
		"absolute, rounded":                  {absolute(relative([]string{"v"}, "0.1")), Check{Unknown: 1}},
		"ratios of a base of 0":              {sibling(relative(two, "1.00", "2.00"), "0", "5"), Check{Unknown: 2}},
	} {
		test.want.File, test.want.Kind = "rel", string(test.m.Kind)
		if test.want.Messages == nil {
			test.want.Messages = []Message{}
		}
		if got := CheckMatrix(test.m, arm); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, test.want)
		}
	}
}

func TestACheckNamesNoMoreCellsThanItMust(t *testing.T) {
	t.Parallel()
	m := relative([]string{"1"}, "5")
	m.Kind = MatrixAbsolute
	for range MessagesPerCheck + 4 {
		m.Rows = append(m.Rows, m.Rows[0])
	}
	c := CheckMatrix(m, NewFigures(figure("1", "gcc", 6)))
	if n := len(c.Messages); n != MessagesPerCheck+1 || c.Messages[n-1].Text != "5 more cells differ" {
		t.Errorf("%d messages, the last %v", n, c.Messages[n-1])
	}
}

func TestFiguresByPlace(t *testing.T) {
	t.Parallel()
	f := figure("6.18", "gcc", 5)
	f.Step, f.Threads, f.Clients, f.Config = "overwrite", 8, 36, "a0"
	figures := NewFigures(f)
	at := Place{Coordinate: Coordinate{Server: "c2", Workload: "cached", Step: "overwriteandwait"}, Version: "v6.18", Metric: "qps"}
	for name, test := range map[string]struct {
		change func(*Place)
		want   int
	}{
		"the family's name, nothing else": {func(*Place) {}, 1},
		"everything stated": {func(p *Place) {
			p.System, p.Suite, p.Compiler, p.Config, p.Threads, p.Clients = "rocksdb", "db_bench", "gcc", "a0", 8, 36
		}, 1},
		"another step":     {func(p *Place) { p.Step = "overwritesome" }, 0},
		"another version":  {func(p *Place) { p.Version = "6.18.1" }, 0},
		"another metric":   {func(p *Place) { p.Metric = "p99" }, 0},
		"another compiler": {func(p *Place) { p.Compiler = "clang" }, 0},
		"another config":   {func(p *Place) { p.Config = "a1" }, 0},
		"more threads":     {func(p *Place) { p.Threads = 16 }, 0},
		"more clients":     {func(p *Place) { p.Clients = 40 }, 0},
		"another suite":    {func(p *Place) { p.Suite = "x" }, 0},
	} {
		p := at
		test.change(&p)
		if got := figures.At(p); len(got) != test.want {
			t.Errorf("%s: %d figures, want %d", name, len(got), test.want)
		}
	}
}

func TestMatrixFiguresYieldToMeasuredOnes(t *testing.T) {
	t.Parallel()
	cell := func(step, qps string) Result {
		r := result("abs", 1, step, "", qps)
		r.Origin = OriginMatrix
		return r
	}
	matrix := runOf("8.8.0", "gcc", cell("fillseq", "100"), cell("readrandom", "7"), cell("fwdrange", "8"), cell("overwriteandwait", "9"))
	matrix.Assumed = []string{"compiler"}
	failed := result("sum", 3, "fwdrange", start, "")
	failed.State, failed.Values = StateFailed, nil
	again := runOf("8.8.0", "gcc", cell("fillseq", "100"), cell("readrandom", "7"))
	again.Assumed = matrix.Assumed
	for i := range again.Results {
		again.Results[i].Sources = []Source{{File: "abs.csv", Line: i + 1}}
	}
	b := &Batch{Runs: []Run{matrix, runOf("8.8.0", "clang", result("sum", 1, "readrandom", start, "7"), failed), again}}
	p := Decide(b, Keys(b), nil)
	stored := figure("8.8.0", "clang", 3)
	stored.Step = "overwrite"
	figures := p.YieldMatrices(b, []Figure{stored, figure("8.7.3", "gcc", 3)})
	if want := []Ref{{0, 0}, {0, 2}, {1, 0}, {1, 1}}; !reflect.DeepEqual(p.New, want) {
		t.Errorf("new %v, want %v", p.New, want)
	}
	if want := []Ref{{0, 1}, {0, 3}, {2, 1}}; !reflect.DeepEqual(p.Covered, want) {
		t.Errorf("covered %v, want %v: one by the batch, one by the store, one because the first was", p.Covered, want)
	}
	if got := outline(Plan{Additions: p.Additions}); got != "2.0 to 0.0 +0 !0" {
		t.Errorf("additions %s, want the cell that is stored", got)
	}
	if n := len(figures.At(PlaceOf(&b.Runs[1], &b.Runs[1].Results[0]))); n != 1 {
		t.Errorf("%d figures of the batch to check with, want 1", n)
	}
}
