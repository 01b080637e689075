package stats

import (
	"math"
	"testing"
)

func TestNoiseFromRepeatsIsPooledStandardDeviation(t *testing.T) {
	t.Parallel()
	// Sums of squares around the means: 2, 8, 0 with 2, 2, 0 degrees of freedom.
	n := EstimateNoise([][]float64{{1, 2, 3}, nil, {2, 4, 6}, {9}})
	if want := math.Sqrt(10.0 / 4); n.Method != FromRepeats || n.DF != 4 || math.Abs(n.SD-want) > 1e-12 {
		t.Errorf("got %+v, want SD %v from repeats with 4 degrees of freedom", n, want)
	}
}

func TestRatioHalfWidthCarriesBothSides(t *testing.T) {
	t.Parallel()
	// Quantile of Student's t with 10 degrees of freedom: 2.228139 (Fisher's table).
	half, ok := RatioHalfWidth(Noise{SD: 0.02, Method: FromRepeats, DF: 10, OK: true}, 1, 3, 0.95)
	if want := 2.228139 * 0.02 * math.Sqrt(1+1.0/3); !ok || math.Abs(half-want) > 1e-7 {
		t.Errorf("got %v %v, want %v", half, ok, want)
	}
	if _, ok := RatioHalfWidth(Noise{Method: NoNoise}, 1, 1, 0.95); ok {
		t.Error("unknown noise gives no interval")
	}
}
