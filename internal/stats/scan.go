package stats

import "math"

// A change is looked for at every position, so that the largest of many statistics is
// compared with chance, not a single one. This file turns the statistic of a
// position, a Student t with nu degrees of freedom, into the probability that an
// unchanged series shows as large a one anywhere. All results are natural logarithms.

// logScan returns the logarithm of the probability that the largest |t| over all
// positions of a step exceeds t, given the angles between neighbouring positions.
//
// The statistic of position k is the cosine between the residuals, uniform on a
// sphere under Gaussian noise, and a fixed direction; r² = t²/(t²+nu) is its square.
// The probability of a union of events in a row is bounded by
// P(A₁) + Σ P(Aₖ₊₁ without Aₖ) (Hunter, J. Appl. Prob. 13, 1976; Worsley, Biometrika
// 69, 1982 and 73, 1986, for change points), and for two directions at angle 2θ
//
//	P(Aₖ₊₁ without Aₖ) = (1/π) ∫₀^θ (1 − r²/cos²x)^((nu−1)/2) dx   (one side),
//
// the spherical counterpart of Owen's function T. Where positions are dense the same
// excursion is counted more than once; the share counted first is
// y/(yΦ(y)+φ(y)), y = bθ, b the Gaussian quantile of the same tail: the ratio of this
// term to the large-deviation term of Siegmund (Sequential Analysis, 1985, section
// 9.3: ν(x) ≈ (2/x)(Φ(x/2)−½)/((x/2)Φ(x/2)+φ(x/2))). Against simulation the result is
// right to within a tenth for n from 9 to 80 and probabilities from 0.05 to 0.0001
// (docs/statistics.md).
func logScan(t, nu float64, angles []float64) float64 {
	single := logStudentTail(t, nu)
	if single < -23 {
		// So far out hardly two positions exceed t together.
		return single + math.Log(float64(len(angles)+1))
	}
	r2 := t * t / (t*t + nu)
	b := gaussianQuantile(single)
	base := math.Log1p(-r2) * (nu - 1) / 2
	var sum float64
	for _, theta := range angles {
		y := b * theta
		if y <= 0 {
			continue
		}
		sum += wedge(r2, nu, theta) * y / (y*phi(y) + density(y))
	}
	if sum == 0 {
		return math.Min(single, 0)
	}
	// Two sides: twice the sum of the one-sided terms.
	return math.Min(logAdd(single, base+math.Log(2/math.Pi*sum)), 0)
}

// wedge returns ∫₀^θ ((1 − r²/cos²x)/(1 − r²))^((nu−1)/2) dx =
// ∫₀^θ (1 − τ·tan²x)^((nu−1)/2) dx, τ = t²/nu.
func wedge(r2, nu, theta float64) float64 {
	tau := r2 / (1 - r2)
	tan := math.Tan(theta)
	if u := tau * tan * tan; u < 0.15 {
		// The integrand is exp(−e·(x/θ)²) to within u/4 of the exponent e at θ.
		e := (nu - 1) / 2 * u * (1 + u*(0.5+u/3))
		if e < 1e-8 {
			return theta
		}
		root := math.Sqrt(e)
		return theta * math.Sqrt(math.Pi) / 2 * math.Erf(root) / root
	}
	var s float64
	for i, x := range legendre8 {
		for _, u := range [2]float64{theta / 2 * (1 - x), theta / 2 * (1 + x)} {
			tan := math.Tan(u)
			if v := 1 - tau*tan*tan; v > 0 {
				s += legendreWeights8[i] * math.Exp(math.Log(v)*(nu-1)/2)
			}
		}
	}
	return s * theta / 2
}

// Nodes and weights of Gauss–Legendre quadrature on [−1, 1], positive half
// (Abramowitz & Stegun, table 25.4).
var (
	legendre8        = [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	legendreWeights8 = [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
)

// stepAngles returns half the angle between the directions of a step after k and one
// after k+1 versions, for all k from first to last−1, given the number of samples up
// to and including each version. With a samples before a step and b after, neighbouring
// statistics correlate by √(a·b′/(a′·b)) (James, James & Siegmund, Biometrika 74, 1987).
func stepAngles(dst []float64, cumulated []float64, first, last int) []float64 {
	if len(cumulated) == 0 {
		return dst
	}
	all := cumulated[len(cumulated)-1]
	for k := first; k < last; k++ {
		a, a1 := cumulated[k-1], cumulated[k]
		rho := math.Sqrt(a * (all - a1) / (a1 * (all - a)))
		dst = append(dst, math.Acos(rho)/2)
	}
	return dst
}

// windows returns the effective number of windows of three or more versions inside n
// versions at b Gaussian standard deviations: it grows as n·b² (Siegmund, Ann. Statist.
// 16, 1988); the factor 0.4 covers what simulation finds for n from 9 to 200 and
// probabilities from 0.05 to 0.0001 (0.16 to 0.4).
func windows(b float64, n int) float64 {
	return math.Min(0.4*float64(n)*b*b, float64(n)*float64(n)/2)
}

// safeDF returns the degrees of freedom of a Student t whose two-sided tail bounds that of
// the statistic of a group of few samples against the rest, for Gaussian noise and for
// noise like t with ten degrees of freedom alike: the mean of few samples keeps the tails
// of the noise, and the estimate of the noise is less certain than nu says. The formula fits simulated tails of noise like t₁₀, down to
// 10⁻⁵, for 1 to 12 samples and nu from 4 to 78 (calibrate -tails prints the
// comparison).
func safeDF(nu, samples float64) float64 {
	slope := math.Min(0.54+0.03*samples, 0.9)
	return math.Min(nu, 1/(0.1/samples-0.018/(samples*samples*samples)+slope/nu+0.8/(nu*nu)))
}

// gaussianSquare returns the square of the Gaussian deviate with about the same tail
// probability as the square t2 of a Student t (Wallace, Ann. Math. Statist. 30, 1959).
func gaussianSquare(t2, nu float64) float64 {
	f := (8*nu + 1) / (8*nu + 3)
	return nu * math.Log1p(t2/nu) * f * f
}

// studentSquare is the inverse of gaussianSquare, for a deviate b.
func studentSquare(b, nu float64) float64 {
	b *= (8*nu + 3) / (8*nu + 1)
	return nu * math.Expm1(b*b/nu)
}

func density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// gaussianQuantile returns the b with P(|Z| > b) = exp(logp) for a standard Gaussian.
func gaussianQuantile(logp float64) float64 {
	if logp > -25 {
		return math.Sqrt2 * math.Erfcinv(math.Exp(logp))
	}
	// P ≈ 2φ(b)/b, solved by iteration; five digits suffice where this is used.
	b := math.Sqrt(-2 * logp)
	for range 4 {
		b = math.Sqrt(-2 * (logp + math.Log(b*math.Sqrt(math.Pi/2))))
	}
	return b
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// StepBound returns the probability with which detection bounds the largest |t| of a step
// in an unchanged series of so many versions with one sample each, at least side versions
// on both sides. The program calibrate compares it with simulation.
func StepBound(t float64, versions, side int) float64 {
	cum := make([]float64, versions)
	for i := range cum {
		cum[i] = float64(i + 1)
	}
	return math.Exp(logScan(t, float64(versions-2), stepAngles(nil, cum, side, versions-side)))
}

// FewBound returns the probability with which detection bounds the |t| of so few samples
// against the rest, with nu degrees of freedom. The program calibrate compares it with
// simulation.
func FewBound(t, nu, samples float64) float64 {
	return math.Exp(logStudentTail(t, safeDF(nu, samples)))
}
