package stats

import (
	"math"
	"slices"
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
// these suffice, else from the differences of neighbouring versions (up to three apart)
// with detected changes taken out. Points that were not measured are skipped.
func EstimateNoise(points [][]float64) Noise { return Analyse(points, Options{}).Noise }

// RepeatNoise returns the noise from the repeats of points alone: the pooled standard
// deviation of the samples around the means of their points, which need have nothing to
// do with each other. It is not OK with fewer than four degrees of freedom.
func RepeatNoise(points [][]float64) Noise {
	within, df := 0.0, 0.0
	for _, p := range points {
		mean := 0.0
		for _, v := range p {
			mean += v / float64(len(p))
		}
		for _, v := range p {
			within += (v - mean) * (v - mean)
		}
		df += math.Max(float64(len(p)-1), 0)
	}
	if df < minRepeatDF {
		return Noise{Method: NoNoise}
	}
	return Noise{SD: math.Sqrt(within / df), Method: FromRepeats, DF: df, OK: true}
}

// noise estimates the noise of a series whose versions carry block numbers.
func (s *series) noise(label []int) Noise {
	diffs := make([]float64, 0, neighbourLag*max(s.n-1, 0))
	var n float64 // of direct neighbours
	for lag := 1; lag <= neighbourLag; lag++ {
		for i := lag; i < s.n; i++ {
			if label[i] == label[i-lag] {
				diffs = append(diffs, (s.mean[i]-s.mean[i-lag])/math.Sqrt(1/s.count[i]+1/s.count[i-lag]))
			}
		}
		if lag == 1 {
			n = float64(len(diffs))
		}
	}
	var near Noise
	if n >= 3 {
		near = Noise{SD: huberScale(diffs), Method: FromNeighbours, DF: math.Min(neighbourDF*n, mostNeighbourDF), OK: true}
	} else {
		near = Noise{Method: NoNoise}
	}
	df := s.all - float64(s.n)
	if df < minRepeatDF {
		return near
	}
	repeats := Noise{SD: math.Sqrt(s.within / df), Method: FromRepeats, DF: df, OK: true}
	// Repeats made in one go can agree better than versions do that differ in nothing.
	// Where neighbours scatter more than repeats explain (F test at 1 %, neighbours
	// counting for two thirds of their number), that is the noise of a ratio.
	if f := near.SD * near.SD / math.Max(repeats.SD*repeats.SD, s.floor); near.OK && f > 1 {
		free := n * 2 / 3
		if logBetaTail(df/(df+free*f), df/2, free/2) < math.Log(0.01) {
			return near
		}
	}
	return repeats
}

const (
	// neighbourLag is how far apart neighbours may be. With direct neighbours alone, the
	// interval of those would cover more often than that of distant versions, as they
	// are what the noise is estimated from; and a slow drift would pass for no noise.
	neighbourLag = 3
	// The degrees of freedom are chosen so that the interval of the ratio of two versions
	// of the series itself covers: by simulation the difference of two, in units of the
	// noise estimated with them, needs the factor 1.96, 1.96, 1.94 and 1.97 for 9, 15, 30
	// and 80 Gaussian versions and 1.98, 2.00, 2.01 and 2.01 for t₁₀ (all pairs), 1.99 to
	// 2.06 for pairs with the first version.
	neighbourDF     = 5.0 // per pair of direct neighbours
	mostNeighbourDF = 50
)

// madScale makes the median of absolute deviations an estimate of the standard
// deviation of Gaussian values: 1/Φ⁻¹(3/4).
const madScale = 1.482602218505602

func medianAbs(xs []float64) float64 {
	a := make([]float64, len(xs))
	for i, x := range xs {
		a[i] = math.Abs(x)
	}
	slices.Sort(a)
	return median(a)
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	m := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[m]
	}
	return (sorted[m-1] + sorted[m]) / 2
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
	return studentQuantile(level, n.DF) * n.SD * math.Sqrt(1/float64(nPoint)+1/float64(nBase)), true
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

// huberScale returns the scale of values around zero: Huber's proposal 2 (Robust
// Statistics, 1981, section 6.4) with squares cut off at huberCut standard deviations,
// started at the median of absolute values.
func huberScale(xs []float64) float64 {
	sd := madScale * medianAbs(xs)
	if sd == 0 {
		var ss float64
		for _, x := range xs {
			ss += x * x
		}
		return math.Sqrt(ss / float64(len(xs)))
	}
	for range 50 {
		var ss float64
		for _, x := range xs {
			ss += math.Min(x*x, huberCut*huberCut*sd*sd)
		}
		next := math.Sqrt(ss / float64(len(xs)) / huberMean)
		if math.Abs(next-sd) < 1e-9*sd {
			return next
		}
		sd = next
	}
	return sd
}

const (
	huberCut = 2.5
	// huberMean is E min(Z², c²) of a standard Gaussian, c = huberCut:
	// 2Φ(c) − 1 − 2cφ(c) + 2c²(1 − Φ(c)).
	huberMean = 0.9775599834528069
)
