package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWedgeIsItsIntegral(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ t, nu, theta float64 }{{4, 28, 0.05}, {4, 28, 0.3}, {6, 7, 0.5}, {3, 78, 0.02}, {9, 13, 0.4}, {2, 5, 0.7}} {
		tau := c.t * c.t / c.nu
		// Midpoint rule, a hundred thousand steps.
		var want float64
		const steps = 100_000
		for i := range steps {
			tan := math.Tan(c.theta * (float64(i) + 0.5) / steps)
			if v := 1 - tau*tan*tan; v > 0 {
				want += math.Pow(v, (c.nu-1)/2) * c.theta / steps
			}
		}
		if got := wedge(tau/(1+tau), c.nu, c.theta); math.Abs(got-want) > 0.02*want {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
}

// TestStepBoundHoldsInSimulation draws unchanged series, takes the largest statistic of
// a step by trying every position from scratch, and compares the share that exceeds a
// value with the bound.
func TestStepBoundHoldsInSimulation(t *testing.T) {
	t.Parallel()
	for _, versions := range []int{9, 20, 40} {
		t.Run(fmt.Sprint(versions), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(versions)))
			const trials = 20_000
			largest := make([]float64, trials)
			for i := range largest {
				xs := make([]float64, versions)
				for j := range xs {
					xs[j] = r.NormFloat64()
				}
				for k := 3; k <= versions-3; k++ {
					largest[i] = math.Max(largest[i], pooledT(xs[:k], xs[k:]))
				}
			}
			slices.Sort(largest)
			for _, rate := range []float64{0.05, 0.01} {
				bound := StepBound(largest[int(trials*(1-rate))], versions, 3)
				// Three standard errors of the simulated rate beside a tenth of error.
				slack := 0.1 + 3*math.Sqrt(rate/trials)/rate
				if bound < rate*(1-slack) || bound > rate*(1+slack) {
					t.Errorf("bound %v where %v of series exceed", bound, rate)
				}
			}
		})
	}
}

// pooledT is Student's two-sample t from its definition.
func pooledT(a, b []float64) float64 {
	mean := func(xs []float64) (m, ss float64) {
		for _, x := range xs {
			m += x / float64(len(xs))
		}
		for _, x := range xs {
			ss += (x - m) * (x - m)
		}
		return m, ss
	}
	ma, sa := mean(a)
	mb, sb := mean(b)
	na, nb := float64(len(a)), float64(len(b))
	return math.Abs(ma-mb) / math.Sqrt((sa+sb)/(na+nb-2)*(1/na+1/nb))
}

func TestFewBoundHoldsForHeavyTails(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 3))
	const trials, samples = 60_000, 15
	ts := make([]float64, trials)
	for i := range ts {
		xs := make([]float64, samples)
		for j := range xs {
			// t with ten degrees of freedom from its definition.
			var chi2 float64
			for range 10 {
				z := r.NormFloat64()
				chi2 += z * z
			}
			xs[j] = r.NormFloat64() / math.Sqrt(chi2/10)
		}
		ts[i] = pooledT(xs[:1], xs[1:])
	}
	slices.Sort(ts)
	for _, rate := range []float64{0.01, 0.001} {
		q := ts[int(trials*(1-rate))]
		if bound := FewBound(q, samples-2, 1); bound < 0.85*rate || bound > 2*rate {
			t.Errorf("bound %v where %v of heavy-tailed samples exceed", bound, rate)
		}
		if gauss := math.Exp(logStudentTail(q, samples-2)); gauss > 0.6*rate {
			t.Errorf("a Gaussian bound would do: %v at %v", gauss, rate)
		}
	}
}
