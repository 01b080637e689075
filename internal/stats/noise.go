package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The methods of [Noise].
const (
	FromRepeats    = "repeats"    // scatter of the samples of one version around their mean
	FromNeighbours = "neighbours" // scatter of the differences between neighbouring versions
	NoNoise        = "none"       // too few samples to tell
)

// Noise is how far single samples of an unchanged series scatter.
type Noise struct {
	// SD is the standard deviation of ln(value) from one run to the next.
	SD float64
	// Method says what SD was estimated from: FromRepeats, FromNeighbours or NoNoise.
	Method string
	// DF are the effective degrees of freedom of SD: the ratio of an error to SD is
	// taken to follow Student's t with so many.
	DF float64
	// OK is false when the samples cannot tell the noise; SD is then 0 and means nothing.
	OK bool
}

// minRepeatDF is the least number of degrees of freedom with which repeats are
// believed: below it the 97.5 % quantile of t exceeds 2.8 and neighbours say more.
const minRepeatDF = 4

// EstimateNoise returns the noise of a series from the repeats of its versions where
// these suffice, else from the differences of neighbouring versions with detected
// steps taken out. Points that were not measured are skipped.
func EstimateNoise(points [][]float64) Noise {
	var ss, df float64
	var means, counts []float64
	for _, p := range points {
		if len(p) == 0 {
			continue
		}
		m := stat.Mean(p, nil)
		for _, v := range p {
			ss += (v - m) * (v - m)
		}
		df += float64(len(p) - 1)
		means = append(means, m)
		counts = append(counts, float64(len(p)))
	}
	if df >= minRepeatDF {
		return Noise{SD: math.Sqrt(ss / df), Method: FromRepeats, DF: df, OK: true}
	}
	return neighbourNoise(means, counts)
}

// neighbourNoise estimates noise from differences of neighbours, each divided by the
// root of 1/n₁ + 1/n₂. Differences beyond 4 robust standard deviations are steps, not
// noise, and are taken out before the scale is computed.
func neighbourNoise(means, counts []float64) Noise {
	var diffs []float64
	for i := 1; i < len(means); i++ {
		diffs = append(diffs, (means[i]-means[i-1])/math.Sqrt(1/counts[i]+1/counts[i-1]))
	}
	for {
		if len(diffs) < 3 {
			return Noise{Method: NoNoise}
		}
		sd := madScale * medianAbs(diffs)
		kept := slices.DeleteFunc(slices.Clone(diffs), func(d float64) bool { return math.Abs(d) > 4*sd })
		if len(kept) == len(diffs) || sd == 0 {
			n := float64(len(diffs))
			return Noise{SD: sd, Method: FromNeighbours, DF: 0.65*n + 1.5, OK: true}
		}
		diffs = kept
	}
}

// madScale makes the median of absolute deviations an estimate of the standard
// deviation of Gaussian values: 1/Φ⁻¹(3/4).
const madScale = 1.482602218505602

func medianAbs(xs []float64) float64 {
	a := make([]float64, len(xs))
	for i, x := range xs {
		a[i] = math.Abs(x)
	}
	slices.Sort(a)
	m := len(a) / 2
	if len(a)%2 == 1 {
		return a[m]
	}
	return (a[m-1] + a[m]) / 2
}

// RatioHalfWidth returns the half width, in ln units, of the two-sided interval of
// the given level (0.95) around the ratio of a point of nPoint samples to a base of
// nBase samples. It carries the noise of both. A point compared with itself is
// exactly 1 without an interval: callers show that without asking here. ok is false
// when the noise is not known or a side has no sample.
func RatioHalfWidth(n Noise, nPoint, nBase int, level float64) (half float64, ok bool) {
	if !n.OK || nPoint < 1 || nBase < 1 || n.DF <= 0 || level <= 0 || level >= 1 {
		return 0, false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n.DF}.Quantile((1 + level) / 2)
	return t * n.SD * math.Sqrt(1/float64(nPoint)+1/float64(nBase)), true
}

// WithFloor returns the noise raised to what values printed with the given
// resolution can show at least: resolution/√12, the standard deviation of the
// rounding error (uniform over one unit of the last digit). The resolution is in ln
// units: the unit of the last digit divided by the value.
func (n Noise) WithFloor(resolution float64) Noise {
	if floor := resolution / math.Sqrt(12); n.OK && n.SD < floor {
		n.SD = floor
	}
	return n
}
