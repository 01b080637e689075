package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The fifteen p-values of Benjamini & Hochberg (1995), section 4: at 5 % their procedure
// rejects four.
var benjamini = []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}

func TestFalseDiscoveryOfThePaper(t *testing.T) {
	t.Parallel()
	marked := 0
	for _, q := range FalseDiscovery(benjamini, len(benjamini)) {
		if q <= 0.05 {
			marked++
		}
	}
	if marked != 4 {
		t.Errorf("%d marked, want 4", marked)
	}
	if cut := FalseDiscoveryCut(benjamini, len(benjamini), 0.05); cut != 0.0095 {
		t.Errorf("cut %v, want 0.0095", cut)
	}
}

// TestFalseDiscoveryIsTheDefinition compares with the procedure as stated: the largest k
// with p₍ₖ₎ ≤ k·rate/m, tried from scratch for each rate.
func TestFalseDiscoveryIsTheDefinition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := make([]float64, 1+r.IntN(12))
		for i := range p {
			p[i] = math.Pow(r.Float64(), 3)
		}
		m := len(p) + r.IntN(30)
		q := FalseDiscovery(p, m)
		sorted := slices.Sorted(slices.Values(p))
		for _, rate := range []float64{0.01, 0.05, 0.2, 0.5} {
			cut := 0.0
			for k, v := range sorted {
				if v <= float64(k+1)*rate/float64(m) {
					cut = v
				}
			}
			if got := FalseDiscoveryCut(p, m, rate); got != cut {
				t.Fatalf("cut %v, want %v (%v of %d at %v)", got, cut, p, m, rate)
			}
			for i := range p {
				if (q[i] <= rate) != (p[i] <= cut) {
					t.Fatalf("q %v of p %v disagrees with the cut %v", q[i], p[i], cut)
				}
			}
		}
	}
}

func TestFalseDiscoveryCountsUnchangedSeries(t *testing.T) {
	t.Parallel()
	if q := FalseDiscovery([]float64{0.001}, 60); math.Abs(q[0]-0.06) > 1e-12 {
		t.Errorf("one of sixty: %v", q[0])
	}
	if q := FalseDiscovery(nil, 60); len(q) != 0 {
		t.Errorf("no change: %v", q)
	}
	if got := ExpectedFalseAlarms(60, 0.001); math.Abs(got-0.06) > 1e-12 {
		t.Errorf("expected false alarms %v", got)
	}
}
