package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomSeries draws versions with one to three samples and a few changes.
func randomSeries(r *rand.Rand, n int) [][]float64 {
	points := make([][]float64, n)
	level := 0.0
	for i := range points {
		if r.IntN(4) == 0 {
			level += r.NormFloat64() * 5
		}
		points[i] = make([]float64, 1+r.IntN(3))
		for j := range points[i] {
			points[i][j] = level + r.NormFloat64()
		}
	}
	return points
}

// residual is the sum of squares of all samples around the means of their blocks, from
// its definition.
func residual(points [][]float64, label []int) float64 {
	sum, n := map[int]float64{}, map[int]float64{}
	for i, p := range points {
		for _, v := range p {
			sum[label[i]] += v
			n[label[i]]++
		}
	}
	var ss float64
	for i, p := range points {
		for _, v := range p {
			d := v - sum[label[i]]/n[label[i]]
			ss += d * d
		}
	}
	return ss
}

// cut labels positions a to b−1 as a block of their own.
func cut(n, a, b int) []int {
	label := make([]int, n)
	for i := a; i < b; i++ {
		label[i] = 1
	}
	return label
}

func TestScanFindsWhatTryingEverythingFinds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 5))
	for range 200 {
		points := randomSeries(r, 2+r.IntN(14))
		n := len(points)
		s := newSeries(points, &Options{})
		m := &model{s: s, label: make([]int, n), count: []float64{s.all}, sum: []float64{0}}
		sc := newScanner(m)
		whole := residual(points, cut(n, 0, 0))
		var most float64
		for a := range n {
			for b := a + 1; b <= n; b++ {
				// Prefixes are the complements of suffixes.
				if a == 0 {
					continue
				}
				most = math.Max(most, whole-residual(points, cut(n, a, b)))
			}
		}
		var got float64
		for _, e := range sc.best[0] {
			if e.gain > got {
				got = e.gain
				if direct := whole - residual(points, cut(n, e.a, e.b)); !near(e.gain, direct, 1e-9) {
					t.Fatalf("gain %v of %+v, recomputed %v", e.gain, e, direct)
				}
			}
		}
		if !near(got, most, 1e-9) {
			t.Fatalf("best gain %v, trying everything gives %v (%v)", got, most, points)
		}
	}
}

// TestPartitionIsOptimal compares the dynamic programme with all 2^(n−1) segmentations.
func TestPartitionIsOptimal(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 7))
	found := 0
	for range 100 {
		points := randomSeries(r, 10)
		n := len(points)
		s := newSeries(points, &Options{})
		m := &model{s: s, label: make([]int, n), count: []float64{s.all}, sum: []float64{0}}
		m.recompute()
		p := m.partition()
		segments := len(p.runs())
		if segments == 1 {
			continue
		}
		found++
		best := math.Inf(1)
		for set := range 1 << (n - 1) {
			label := make([]int, n)
			for i := 1; i < n; i++ {
				label[i] = label[i-1] + set>>(i-1)&1
			}
			if label[n-1] == segments-1 {
				best = math.Min(best, residual(points, label))
			}
		}
		if got := residual(points, p.label); !near(got, best, 1e-9) {
			t.Fatalf("%d segments leave %v, the best leave %v", segments, got, best)
		}
	}
	if found < 50 {
		t.Errorf("only %d of 100 series were segmented", found)
	}
}

func TestRefineNeverExplainsLess(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	for range 200 {
		points := randomSeries(r, 12)
		s := newSeries(points, &Options{})
		m := &model{s: s, label: make([]int, s.n), count: make([]float64, 3), sum: make([]float64, 3)}
		a, b := 1+r.IntN(5), 7+r.IntN(4)
		for i := range m.label {
			switch {
			case i >= b:
				m.label[i] = 2
			case i >= a:
				m.label[i] = 1
			}
		}
		m.recompute()
		before := residual(points, m.label)
		m.refine()
		if after := residual(points, m.label); after > before*(1+1e-9) {
			t.Fatalf("refining made %v of %v", after, before)
		}
		if want := residual(points, m.label) - s.within; !near(m.between, want, 1e-9) {
			t.Fatalf("model says %v, recomputed %v", m.between, want)
		}
	}
}
