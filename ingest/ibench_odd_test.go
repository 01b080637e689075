package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// readClientOf reads a client's output as step l.i1 of a run.
func readClientOf(t testing.TB, text string) (*bench.Batch, *bench.Result) {
	t.Helper()
	b := readFiles(t, map[string]string{"run/l.i1/o.ib.dop1.1": text}, ibenchLocal)
	_, r := oneResult(t, b)
	return b, r
}

// sameOrBothMissing compares figures by second.
func sameOrBothMissing(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestOddLinesOfAClientAreWarned(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	whole := clientText(100, 200, 300, 400, 500) // intervals stand in lines 5 to 9
	lines := strings.Split(whole, "\n")
	third := lines[6]
	cell := func(column int, text string) string {
		cells := strings.Split(third, "\t")
		cells[column] = text
		return strings.Replace(whole, third, strings.Join(cells, "\t"), 1)
	}
	without := func(from, to int) string { // lines by number
		return strings.Join(slices.Delete(slices.Clone(lines), from-1, to), "\n")
	}
	all := []float64{100, 200, 300, 400, 500}
	gap := []float64{100, 200, nan, 400, 500}
	for _, c := range []struct {
		name, text string
		line       int
		column     string
		says       string
		ips        []float64 // by second
		start      float64
		absent     []string // metrics
	}{
		{"a rate that is NaN", cell(2, "NaN"), 7, "i_ips", `"NaN"`, gap, 1, nil},
		{"a rate that is infinite", cell(2, "inf"), 7, "i_ips", `"inf"`, gap, 1, nil},
		{"a rate below 0", cell(2, "-500"), 7, "i_ips", `"-500"`, gap, 1, nil},
		{"an absurd rate", cell(2, "1e308"), 7, "i_ips", `"1e308"`, gap, 1, nil},
		{"no rate", cell(2, ""), 7, "i_ips", `""`, gap, 1, nil},
		{"an absurd longest response", cell(8, "99999999999999999999"), 7, "max_i", "99999999999999999999", all, 1, nil},
		{"a figure that is not stored", cell(3, "x"), 7, "t_ips", `"x"`, all, 1, nil},
		{"an interval of no length", cell(0, "?"), 7, "i_sec", `"?"`, gap, 1, nil},
		{"an interval without its time", cell(1, "nan"), 7, "t_sec", `"nan"`, gap, 1, nil},
		{"a row that lacks a cell", strings.Replace(whole, third, strings.TrimSuffix(third, "\t0"), 1), 7, "", "16 cells, the header 17", gap, 1, nil},
		{"a row with a further cell", strings.Replace(whole, third, third+"\t0", 1), 7, "", "18 cells, the header 17", gap, 1, nil},
		{"a missing line", without(7, 7), 7, "t_sec", "1 intervals before the one that ends at 4 s", gap, 1, nil},
		{"two missing lines", without(6, 7), 6, "t_sec", "2 intervals before the one that ends at 4 s", []float64{100, nan, nan, 400, 500}, 1, nil},
		{"the first line missing", without(5, 5), 5, "t_sec", "1 intervals before the one that ends at 2 s", []float64{nan, 200, 300, 400, 500}, 1, nil},
		{"the last line missing", without(9, 9), 13, "", "the last interval counts 1000 rows, the totals 1500", all[:4], 1, nil},
		{"the last lines missing", without(8, 9), 12, "", "the totals are of 5 s, the last interval ends at 3 s", all[:3], 1, nil},
		{"a line twice", strings.Replace(whole, third, third+"\n"+third, 1), 8, "", "the interval that ends at 3 s stands twice", all, 1, nil},
		{"another line of the same second", strings.Replace(whole, third, third+"\n"+strings.Replace(third, "\t300\t", "\t301\t", 1), 1), 8, "", "as that of line 7 does", all, 1, nil},
		{"a column that is not known", strings.Replace(whole, "retry_q", "retry_x", 1), 2, "retry_x", "no such column is known", all, 1, nil},
		{"a label that is cut", strings.ReplaceAll(whole, "Insert rt:", "Insert rt: x"), 10, "", "insert response times are not read", all, 1, []string{"max_op_s"}},
		{"response times in other columns", strings.Replace(whole, "256us 1ms", "256us 2ms", 1), 10, "", "the columns of response times are others", all, 1, nil},
		{"response times twice", strings.Replace(whole, "Insert rt: 0", lines[10]+"\nInsert rt: 0", 1), 12, "", "stand twice", all, 1, nil},
		{"totals of no time", strings.Replace(whole, "Totals: 5.0 secs, 300.0", "Totals: 0.0 secs, 0.0", 1), 14, "", "the totals contradict themselves", all, 1, []string{"ips", "elapsed_s"}},
		{"totals that contradict themselves", strings.Replace(whole, " 300.0 rows/sec", " 999999.0 rows/sec", 1), 14, "", "1500 rows in 5 s are 300.0 rows/sec, printed are 999999", all, 1, nil},
		{"totals of no rows", strings.Replace(whole, "300.0 rows/sec, 1500 rows", "0.0 rows/sec, 0 rows", 1), 14, "", "no row was inserted", all, 1, nil},
		{"totals without a rate", strings.Replace(whole, " 300.0 rows/sec", " nan rows/sec", 1), 14, "", "the totals are not read", all, 1, []string{"ips"}},
		{"no totals", strings.Replace(whole, lines[13]+"\n", "", 1), 0, "", "no totals", all, 1, []string{"ips", "elapsed_s", "operations"}},
		{"two totals", strings.Replace(whole, lines[13], lines[13]+"\n"+strings.Replace(lines[13], "300.0", "310.0", 1), 1), 15, "", "other totals than in line 14", all, 1, nil},
	} {
		b, r := readClientOf(t, c.text)
		if r.State != bench.StateOK {
			t.Errorf("%s: %s %s", c.name, r.State, r.Reason)
			continue
		}
		if !slices.ContainsFunc(r.Warnings, func(m bench.Message) bool {
			return m.File == "run/l.i1/o.ib.dop1.1" && m.Line == c.line && m.Column == c.column && strings.Contains(m.Text, c.says)
		}) {
			t.Errorf("%s: line %d is not warned about: %v", c.name, c.line, r.Warnings)
		}
		s := seriesNamed(t, r, "ips")
		if !slices.EqualFunc(s.Values, c.ips, sameOrBothMissing) || s.StartS != c.start || s.StepS != 1 {
			t.Errorf("%s: %v from %g by %g, want %v from %g by 1", c.name, s.Values, s.StartS, s.StepS, c.ips, c.start)
		}
		absent(t, r, c.absent...)
		if out := r.Excluded != ""; out != (c.name == "totals that contradict themselves") {
			t.Errorf("%s: excluded %q", c.name, r.Excluded)
		}
		finite(t, b)
	}
	_, r := readClientOf(t, whole)
	if len(r.Warnings) != 0 {
		t.Errorf("as it should be: %v", r.Warnings)
	}
	figures(t, r, map[string]float64{"ips": 300, "operations": 1500, "elapsed_s": 5})
}

func TestOddLinesOfAClientAreListedInBounds(t *testing.T) {
	t.Parallel()
	rates := make([]int, 100)
	for i := range rates {
		rates[i] = 100 + i
	}
	text := clientText(rates...)
	for i := 10; i < 80; i++ { // 70 of them
		text = strings.Replace(text, fmt.Sprintf("\n1.0\t%d.0\t%d\t", i+1, 100+i), fmt.Sprintf("\n1.0\t%d.0\tNaN\t", i+1), 1)
	}
	_, r := readClientOf(t, text)
	if len(r.Warnings) != maxOddOfClient+1 || !said(r.Warnings, "and 50 more odd cells and lines") {
		t.Errorf("%d warnings: %v", len(r.Warnings), r.Warnings)
	}
}

func TestAMissingSecondOfOneClientKeepsTheOthersInPlace(t *testing.T) {
	t.Parallel()
	first := clientText(100, 200, 300)
	second := clientText(10, 20, 30)
	cut := strings.Split(second, "\n")
	b := readFiles(t, map[string]string{
		"run/l.i1/o.ib.dop2.1": first,
		"run/l.i1/o.ib.dop2.2": strings.Join(slices.Delete(cut, 4, 5), "\n"), // its first second
	}, ibenchLocal)
	_, r := oneResult(t, b)
	s := seriesNamed(t, r, "ips")
	if want := []float64{math.NaN(), 220, 330}; !slices.EqualFunc(s.Values, want, sameOrBothMissing) || s.StartS != 1 || s.StepS != 1 {
		t.Errorf("%v from %g by %g, want %v from 1 by 1", s.Values, s.StartS, s.StepS, want)
	}
}

func TestALineBrokenAtItsEndStaysWhole(t *testing.T) {
	t.Parallel()
	whole := clientText(100, 200, 300)
	lines := strings.Split(whole, "\n")
	for _, between := range []string{"get_min_trxid = 1 in 0.001 seconds\n\n", "get_min_trxid = 1 in 0.001 seconds\n"} {
		text := strings.Replace(whole, lines[5]+"\n", lines[5]+between, 1)
		_, r := readClientOf(t, text)
		if s := seriesNamed(t, r, "ips"); !slices.Equal(s.Values, []float64{100, 200, 300}) || len(r.Warnings) != 0 {
			t.Errorf("%v, %v", s.Values, r.Warnings)
		}
	}
}
