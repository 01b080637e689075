package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTwoModesAreFlagged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		samples    []float64
		resolution float64
		want       bool
	}{
		{"two tight groups", []float64{0, 0.001, 0.002, 0.1, 0.101, 0.099}, 0, true},
		{"two tight pairs", []float64{0, 0.001, 0.1, 0.101}, 0, true},
		{"one group", []float64{0, 0.01, 0.02, 0.011, 0.009, 0.013}, 0, false},
		{"evenly spread", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0, false},
		{"one outlier is no group", []float64{0, 0.001, 0.002, 0.001, 0.0005, 5}, 0, false},
		{"two neighbouring printed values", []float64{4, 4, 4, 5, 5}, 1, false},
		{"three samples", []float64{0, 0, 9}, 0, false},
		{"all equal", []float64{2, 2, 2, 2, 2}, 0, false},
		{"two groups in any order", []float64{0.1, 0, 0.101, 0.001}, 0, true},
		{"none", nil, 0, false},
	} {
		low, high, ok := Bimodal(c.samples, c.resolution)
		if ok != c.want || ok && !(low < high) {
			t.Errorf("%s: %v, groups at %v and %v", c.name, ok, low, high)
		}
	}
}

func TestOneModeIsRarelyFlagged(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 3))
	draws := map[string]func() float64{"Gaussian": r.NormFloat64, "uniform": r.Float64}
	for name, draw := range draws {
		for _, n := range []int{4, 8, 20, 40} {
			flagged := 0
			const trials = 3000
			for range trials {
				xs := make([]float64, n)
				for i := range xs {
					xs[i] = draw()
				}
				if _, _, ok := Bimodal(xs, 0); ok {
					flagged++
				}
			}
			// 1 % of uniform samples, with four standard errors.
			if limit := 0.01*trials + 4*math.Sqrt(0.01*trials); float64(flagged) > limit {
				t.Errorf("%s, %d samples: %d of %d flagged", name, n, flagged, trials)
			}
		}
	}
}

func TestBestSplitIsTheBestOfAll(t *testing.T) {
	t.Parallel()
	sorted := []float64{0, 1, 2, 9, 10, 11, 12}
	low, high, v := bestSplit(sorted)
	// {0, 1, 2} and {9, 10, 11, 12}: sums of squares 2 and 5 over 5 degrees of freedom.
	if low != 1 || high != 10.5 || math.Abs(v-7.0/5) > 1e-12 {
		t.Errorf("%v %v %v", low, high, v)
	}
}
