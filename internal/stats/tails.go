package stats

import "math"

// Tail probabilities are handled as natural logarithms: a benchmark that halved has a
// p-value far below the smallest float64, and two such values must still compare.

// logStudentTail returns the logarithm of the two-sided tail probability
// P(|T| > t) of Student's t with nu degrees of freedom,
// I(nu/(nu+t²); nu/2, 1/2) (Abramowitz & Stegun 26.7.1).
func logStudentTail(t, nu float64) float64 {
	return logBetaTail(nu/(nu+t*t), nu/2, 0.5)
}

// studentQuantile returns the half width of the central interval of the given level of
// Student's t with nu degrees of freedom: Newton's method on the logarithm of the tail,
// started at the approximation of Wallace (see gaussianSquare).
func studentQuantile(level, nu float64) float64 {
	target := math.Log1p(-level)
	t := math.Sqrt(studentSquare(gaussianQuantile(target), nu))
	l1, _ := math.Lgamma((nu + 1) / 2)
	l2, _ := math.Lgamma(nu / 2)
	logNorm := math.Ln2 + l1 - l2 - math.Log(nu*math.Pi)/2 // of twice the density
	for range 20 {
		p := logStudentTail(t, nu)
		// d ln P/dt = −2·density/P, for ln t to keep t positive.
		slope := -t * math.Exp(logNorm-(nu+1)/2*math.Log1p(t*t/nu)-p)
		step := (target - p) / slope
		t *= math.Exp(math.Max(-1, math.Min(1, step)))
		if math.Abs(step) < 1e-6 { // the next step would be its square
			break
		}
	}
	return t
}

// logBetaTail returns the logarithm of the regularised incomplete beta function
// I(x; a, b), the probability that a beta(a, b) variable is at most x, by the
// continued fraction of Abramowitz & Stegun 26.5.8 with Lentz's method (Thompson &
// Barnett, J. Comput. Phys. 64, 1986).
func logBetaTail(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return math.Inf(-1)
	case x >= 1:
		return 0
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := lab - la - lb + a*math.Log(x) + b*math.Log1p(-x)
	if x < (a+1)/(a+b+2) {
		return front - math.Log(a) + math.Log(betaFraction(x, a, b))
	}
	// The fraction converges fast on the other side only.
	upper := math.Exp(front-math.Log(b)) * betaFraction(1-x, b, a)
	return math.Log1p(-math.Min(upper, 1))
}

func betaFraction(x, a, b float64) float64 {
	const tiny, eps = 1e-300, 1e-14
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	h := d
	for m := 1.0; m <= 500; m++ {
		for _, num := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			d = 1 + num*d
			if math.Abs(d) < tiny {
				d = tiny
			}
			c = 1 + num/c
			if math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			h *= d * c
		}
		if math.Abs(d*c-1) < eps {
			break
		}
	}
	return h
}
