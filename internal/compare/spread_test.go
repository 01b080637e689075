package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// ibench is a distribution as the Insert Benchmark's tables have it, in percent.
func ibench(max float64, percents ...float64) *bench.Histogram {
	return &bench.Histogram{Operation: "insert", Unit: "µs", Max: &max, Percents: percents,
		Bounds: []float64{256, 1000, 4000, 16000, 64000, 256000, 1e6, 4e6, 16e6, math.Inf(1)}}
}

func rowsOf(s Spread) string {
	var b strings.Builder
	for k, r := range s.Ranges {
		fmt.Fprintf(&b, "%g-%g", r.From, r.To)
		for _, a := range s.Arms {
			if !a.Known {
				b.WriteString(" ?")
				continue
			}
			c := a.Cells[k]
			fmt.Fprintf(&b, " %.6g", c.Percent)
			if c.Ratio != nil {
				fmt.Fprintf(&b, "x%.3g", *c.Ratio)
			}
			if c.Worse {
				b.WriteString("!")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestSpreadsOfConfigsAreComparedRangeByRange(t *testing.T) {
	t.Parallel()
	a0 := ibench(107000, 0, 0, 99.650, 0.343, 0.004, 0.003, 0, 0, 0, 0)
	a3 := ibench(151000, 0, 0, 94.089, 5.826, 0.083, 0.003, 0, 0, 0, 0)
	a4 := ibench(171000, 0, 0, 97.049, 2.942, 0.007, 0.002, 0, bench.PercentNonzero, 0, 0)
	s := CompareSpreads("insert", []*bench.Histogram{a0, a3, nil, a4}, 0)
	want := `1000-4000 99.65x1 94.089x0.944 ? 97.049x0.974
4000-16000 0.343x1 5.826x17! ? 2.942x8.58!
16000-64000 0.004x1 0.083x20.8 ? 0.007x1.75
64000-256000 0.003x1 0.003x1 ? 0.002x0.667
256000-1e+06 0 0 ? 0
1e+06-4e+06 0 0 ? 0.00025
`
	if got := rowsOf(s); got != want {
		t.Errorf("%s", got)
	}
	if c := s.Arms[1].Cells[1]; math.Abs(c.Slower-5.912) > 1e-9 {
		t.Errorf("%g %% slower than 4 ms, want 5.826 + 0.083 + 0.003", c.Slower)
	}
	// The curve falls with each bound to the slowest response.
	if got := fmt.Sprintf("%.4g", s.Arms[0].Curve); got != "[{1000 100} {4000 0.35} {1.6e+04 0.007} {6.4e+04 0.003} {1.07e+05 0.003}]" {
		t.Errorf("%s", got)
	}
}

// Logs of db_bench print buckets with counts only, and their bounds have changed.
func TestSpreadsWithDifferentBoundsMeetWhereBothAreKnown(t *testing.T) {
	t.Parallel()
	n := func(v float64) *float64 { return &v }
	a := &bench.Histogram{Operation: "read", Unit: "µs", Count: n(1000), Max: n(600), Bounds: []float64{1, 2, 3, 20, 30, 500, 700}, Counts: []float64{0, 600, 300, 0, 90, 0, 10}}
	b := &bench.Histogram{Operation: "read", Unit: "µs", Count: n(100), Max: n(28), Bounds: []float64{2, 3, 4, 22, 34}, Counts: []float64{50, 30, 15, 0, 5}}
	// 2 and 3 are bounds of both; 4 lies in an empty bucket of a, 20 in one of b; 22 and 30 within buckets with counts; 34 in a's empty one.
	want := `0-2 60x1 50x0.833
2-3 30x1 30x1
3-4 0 15
4-20 0 0
20-34 9x1 5x0.556
34-500 0 0
500-700 1x1 0x0
`
	if got := rowsOf(CompareSpreads("read", []*bench.Histogram{a, b}, 0)); got != want {
		t.Errorf("%s", got)
	}
	curve := CompareSpreads("read", []*bench.Histogram{a}, -1).Arms[0].Curve
	if got := fmt.Sprintf("%.4g", curve); got != "[{1 100} {2 40} {3 10} {20 10} {30 1} {500 1} {600 0.1}]" {
		t.Errorf("%s", got)
	}
	none := CompareSpreads("read", []*bench.Histogram{nil, {Bounds: []float64{1}, Counts: []float64{0}}}, 0)
	if len(none.Ranges) != 0 || none.Arms[1].Known {
		t.Errorf("%+v", none)
	}
}

// Shares of all ranges make the whole, whatever the bounds, and few enough are left.
func TestSpreadsHoldEveryResponse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var list []*bench.Histogram
		for range 1 + r.IntN(4) {
			h := &bench.Histogram{Unit: "µs"}
			at := 0.0
			for range 1 + r.IntN(80) {
				at += float64(1 + r.IntN(5))
				h.Bounds, h.Counts = append(h.Bounds, math.Ceil(math.Exp(at/10))+at), append(h.Counts, float64(max(0, r.IntN(100)-60)))
			}
			list = append(list, h)
		}
		s := CompareSpreads("", list, 0)
		if len(s.Ranges) > spreadRanges+1 {
			t.Fatalf("%d ranges", len(s.Ranges))
		}
		for i := 1; i < len(s.Ranges); i++ {
			if s.Ranges[i].From != s.Ranges[i-1].To {
				t.Fatalf("a gap between %+v and %+v", s.Ranges[i-1], s.Ranges[i])
			}
		}
		for i, a := range s.Arms {
			if !a.Known {
				continue
			}
			all := 0.0
			for _, c := range a.Cells {
				if c.Percent < 0 {
					t.Fatalf("%g %%", c.Percent)
				}
				all += c.Percent
			}
			if math.Abs(all-100) > 1e-9 {
				t.Fatalf("arm %d: the ranges hold %g %%\n%s", i, all, rowsOf(s))
			}
			for k := 1; k < len(a.Curve); k++ {
				if a.Curve[k].Slower > a.Curve[k-1].Slower || a.Curve[k].X <= a.Curve[k-1].X {
					t.Fatalf("the curve rises: %v", a.Curve)
				}
			}
		}
	}
}
