package stats

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*(1+math.Abs(b)) }

func TestStudentTailAgreesWithGonum(t *testing.T) {
	t.Parallel()
	for _, nu := range []float64{1, 2.5, 7, 28, 200} {
		d := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}
		for _, x := range []float64{0.1, 1, 2.2, 5, 12} {
			want := math.Log(2 * d.CDF(-x))
			if got := logStudentTail(x, nu); !near(got, want, 1e-8) {
				t.Errorf("t %v, %v degrees of freedom: %v, want %v", x, nu, got, want)
			}
		}
	}
}

func TestStudentTailFarOutIsFiniteAndExact(t *testing.T) {
	t.Parallel()
	// With one degree of freedom t is Cauchy: P(|T| > t) = 1 − (2/π)·atan t ≈ 2/(πt).
	if got, want := logStudentTail(1e9, 1), math.Log(2/math.Pi)-math.Log(1e9); !near(got, want, 1e-9) {
		t.Errorf("got %v, want %v", got, want)
	}
	// Below the smallest float64 the leading term of the expansion remains:
	// x^a/(a·B(a, 1/2)), x = nu/(nu+t²), a = nu/2.
	const nu, x = 400.0, 1e3
	z := nu / (nu + x*x)
	want := nu/2*math.Log(z) - math.Log(nu/2) - mathext.Lbeta(nu/2, 0.5)
	if got := logStudentTail(x, nu); math.IsInf(got, 0) || !near(got, want, 1e-3) {
		t.Errorf("got %v, want about %v", got, want)
	}
}

func TestBetaTailAgreesWithGonum(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]float64{{0.3, 2, 3}, {0.9, 5, 1}, {0.5, 0.5, 0.5}, {0.02, 14, 1.5}, {0.999, 30, 2}} {
		want := math.Log(mathext.RegIncBeta(c[1], c[2], c[0]))
		if got := logBetaTail(c[0], c[1], c[2]); !near(got, want, 1e-8) {
			t.Errorf("I(%v; %v, %v): %v, want %v", c[0], c[1], c[2], got, want)
		}
	}
	if got := logBetaTail(0, 2, 2); !math.IsInf(got, -1) {
		t.Errorf("I(0) = %v", got)
	}
	if got := logBetaTail(1, 2, 2); got != 0 {
		t.Errorf("I(1) = %v", got)
	}
}

func TestStudentQuantileIsThatOfTheTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ level, nu, want float64 }{
		{0.95, 1, 12.7062}, {0.95, 2, 4.30265}, {0.95, 10, 2.22814}, {0.95, 100, 1.98397},
		{0.99, 10, 3.16927}, {0.95, 1e6, 1.95997}, {0.6, 5, 0.91954}, {0.9998, 4, 13.0337},
	} {
		t.Run(fmt.Sprint(c.level, c.nu), func(t *testing.T) {
			t.Parallel()
			if got := studentQuantile(c.level, c.nu); !near(got, c.want, 1e-5) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestGaussianQuantileInvertsTheTail(t *testing.T) {
	t.Parallel()
	for _, b := range []float64{0.5, 1.96, 4, 7, 12, 30} {
		// ln 2Q(b), far out by the expansion φ(b)/b·(1 − 1/b² + 3/b⁴).
		logp := math.Log(math.Erfc(b / math.Sqrt2))
		if b > 10 {
			logp = math.Log(2*density(0)) - b*b/2 - math.Log(b) + math.Log1p(-1/(b*b)+3/(b*b*b*b))
		}
		if got := gaussianQuantile(logp); !near(got, b, 1e-3) {
			t.Errorf("%v, want %v", got, b)
		}
	}
}
