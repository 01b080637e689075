package stats

import (
	"math"
	"math/rand/v2"
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

func TestNoiseFromNeighboursTakesChangesOut(t *testing.T) {
	t.Parallel()
	plain := EstimateNoise(on(30, none))
	if plain.Method != FromNeighbours || !plain.OK {
		t.Fatalf("%+v", plain)
	}
	// The standard deviation of the fixed deviations, computed from its definition.
	var mean, ss float64
	for _, v := range series30 {
		mean += v / 30
	}
	for _, v := range series30 {
		ss += (v - mean) * (v - mean)
	}
	if want := math.Sqrt(ss / 29); plain.SD < 0.85*want || plain.SD > 1.25*want {
		t.Errorf("noise %v, deviations of %v", plain.SD, want)
	}
	for name, mean := range map[string]func(int) float64{
		"step":           stepAt(12, 0.4),
		"spike":          within(20, 21, -1),
		"step and spike": sum(stepAt(12, 0.4), within(20, 22, -1)),
	} {
		if got := EstimateNoise(on(30, mean)); math.Abs(got.SD-plain.SD) > 0.15*plain.SD {
			t.Errorf("%s: noise %v, %v without", name, got.SD, plain.SD)
		}
	}
}

func TestNoiseIsThatOfVersionsWhereRepeatsAgreeTooWell(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var apart, alike [][]float64
	for range 30 {
		level := 0.01 * r.NormFloat64()
		apart = append(apart, []float64{level + 0.001*r.NormFloat64(), level + 0.001*r.NormFloat64()})
		alike = append(alike, []float64{0.01 * r.NormFloat64(), 0.01 * r.NormFloat64()})
	}
	if n := EstimateNoise(alike); n.Method != FromRepeats || n.DF != 30 {
		t.Errorf("honest repeats: %+v", n)
	}
	n := EstimateNoise(apart)
	if n.Method != FromNeighbours {
		t.Fatalf("%+v", n)
	}
	// The ratio of two versions of two runs each scatters by 1 %·√2.
	half, _ := RatioHalfWidth(n, 2, 2, 0.95)
	if want := 1.96 * 0.01 * math.Sqrt2; half < 0.7*want || half > 1.5*want {
		t.Errorf("half width %v, want about %v", half, want)
	}
}

func TestNoiseOfTooFewVersionsIsUnknown(t *testing.T) {
	t.Parallel()
	for _, points := range [][][]float64{nil, {{1}}, {{1}, {2}}, {{1}, nil, {2}, {3}}, {{1, 2}, {3}, {4}}} {
		if n := EstimateNoise(points); n.OK || n.Method != NoNoise || n.SD != 0 {
			t.Errorf("%v: %+v", points, n)
		}
	}
}

func TestRatioHalfWidthCarriesBothSides(t *testing.T) {
	t.Parallel()
	// Quantile of Student's t with 10 degrees of freedom: 2.228139 (Fisher's table).
	half, ok := RatioHalfWidth(Noise{SD: 0.02, Method: FromRepeats, DF: 10, OK: true}, 1, 3, 0.95)
	if want := 2.228139 * 0.02 * math.Sqrt(1+1.0/3); !ok || math.Abs(half-want) > 1e-7 {
		t.Errorf("got %v %v, want %v", half, ok, want)
	}
	for name, n := range map[string]Noise{"unknown": {Method: NoNoise}, "no degrees of freedom": {SD: 1, OK: true}} {
		if _, ok := RatioHalfWidth(n, 1, 1, 0.95); ok {
			t.Errorf("%s noise gives no interval", name)
		}
	}
	known := Noise{SD: 0.02, DF: 10, OK: true}
	for _, c := range [][2]int{{0, 1}, {1, 0}} {
		if _, ok := RatioHalfWidth(known, c[0], c[1], 0.95); ok {
			t.Errorf("%v samples give no interval", c)
		}
	}
}

func TestNoiseIsNeverBelowTheResolution(t *testing.T) {
	t.Parallel()
	floor := 0.1 / math.Sqrt(12)
	if n := (Noise{SD: 0.001, DF: 5, OK: true}).WithFloor(0.1); n.SD != floor {
		t.Errorf("noise %v, want %v", n.SD, floor)
	}
	if n := (Noise{SD: 0.5, DF: 5, OK: true}).WithFloor(0.1); n.SD != 0.5 {
		t.Errorf("noise %v, want 0.5", n.SD)
	}
	if n := (Noise{Method: NoNoise}).WithFloor(0.1); n.OK || n.SD != 0 {
		t.Errorf("unknown noise became %+v", n)
	}
}

func TestHuberScaleHoldsOutliersBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	xs := make([]float64, 4000)
	for i := range xs {
		xs[i] = 2 * r.NormFloat64()
	}
	if got := huberScale(xs); math.Abs(got-2) > 0.08 {
		t.Errorf("scale %v of Gaussian values of 2", got)
	}
	for i := range 80 { // two percent
		xs[i] = 1000
	}
	if got := huberScale(xs); math.Abs(got-2) > 0.3 {
		t.Errorf("scale %v with outliers", got)
	}
	// More than half are zero: the median says nothing, the mean square does.
	if got, want := huberScale([]float64{0, 0, 0, 3}), 1.5; got != want {
		t.Errorf("scale %v, want %v", got, want)
	}
}
