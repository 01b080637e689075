package stats

import "math"

// power is the probability with which effects that are said to be detectable are found.
const power = 0.8

// Sensitivity is what a series can show, in ln units.
type Sensitivity struct {
	// Step is the smallest lasting change in the middle of the series that is found with
	// a probability of 80 %, Newest the smallest of the last version alone.
	Step, Newest float64
	// StepKnown and NewestKnown are false where the series is too short for one.
	StepKnown, NewestKnown bool
}

// SmallestEffect returns what a series of these samples and this noise can show at a
// level of P. An effect is found with probability 1 − β where it exceeds
// (t + t(β))·SD·√(1/n₁ + 1/n₂), t being the statistic that has P = level.
func SmallestEffect(points [][]float64, n Noise, level float64) Sensitivity {
	var out Sensitivity
	s := newSeries(points, &Options{})
	nu := s.all - 2
	if !n.OK || nu < 1 || level <= 0 || level >= 1 {
		return out
	}
	margin := studentQuantile(2*power-1, nu)
	effect := func(logP func(t float64) float64, before float64) float64 {
		low, high := 0.0, 1.0
		for logP(high) > math.Log(level) && high < 1e6 {
			low, high = high, 2*high
		}
		for range 40 {
			if mid := (low + high) / 2; logP(mid) > math.Log(level) {
				low = mid
			} else {
				high = mid
			}
		}
		return (high + margin) * n.SD * math.Sqrt(1/before+1/(s.all-before))
	}
	if k := s.n / 2; s.n >= 2 && s.long(k, s.n-k, s.cum[k-1], s.all-s.cum[k-1]) {
		out.Step = effect(func(t float64) float64 {
			return logScan(t, nu, s.wholeAngles()) - math.Log(s.share.step)
		}, s.cum[k-1])
		out.StepKnown = true
	}
	if s.n >= 2 {
		last := s.count[s.n-1]
		out.Newest = effect(func(t float64) float64 {
			return s.logKind(lastVersion, t, nu, last)
		}, s.all-last)
		out.NewestKnown = true
	}
	return out
}

// mostRepeats bounds the answer of RepeatsNeeded.
const mostRepeats = 10_000

// RepeatsNeeded returns how many samples of each of two versions make a ratio that
// differs from 1 by effect (ln units) fall outside the interval of the given level
// around 1 with a probability of 80 %: the least m with
// (t(level) + t(β))·SD·√(2/m) ≤ |effect|, with the degrees of freedom that the noise has
// and those that the repeats add. ok is false where the noise is not known, or more than
// ten thousand would be needed.
func RepeatsNeeded(n Noise, effect, level float64) (m int, ok bool) {
	if !n.OK || effect == 0 || level <= 0 || level >= 1 {
		return 0, false
	}
	enough := func(m int) bool {
		df := n.DF + 2*float64(m-1)
		t := studentQuantile(level, df) + studentQuantile(2*power-1, df)
		return t*n.SD*math.Sqrt(2/float64(m)) <= math.Abs(effect)
	}
	low, high := 0, 1
	for !enough(high) {
		if high >= mostRepeats {
			return 0, false
		}
		low, high = high, min(2*high, mostRepeats)
	}
	for low+1 < high {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}
