package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// series is a series as sums: detection needs no single sample.
type series struct {
	n      int       // measured versions
	mean   []float64 // per version, less centre
	count  []float64 // samples per version
	all    float64   // samples
	within float64   // sum of squares of samples around the means of their versions
	centre float64
	floor  float64 // least variance of a sample
	side   int     // least number of samples of a side of a long step
	short  float64 // number of contrasts of one or two versions
	near   float64 // number of steps with three or more versions but too few samples
	known  Noise   // noise that the caller knows
	share  *shares
	slab   []float64 // of which take cuts: one allocation instead of many

	// Logarithms of the number of contrasts of a kind divided by its share.
	logSteps, logNear, logShort, logLast, logWindows float64

	cum    []float64 // samples up to and including a version
	angles []float64 // of steps of the whole series, see stepAngles
}

// leastSD keeps rounding errors of the arithmetic from becoming significant.
const leastSD = 1e-9

func newSeries(points [][]float64, opt *Options) *series {
	s := &series{known: opt.Noise}
	n := len(points)
	s.slab = make([]float64, 7*n+2)
	s.mean, s.count, s.cum = s.take(n), s.take(n), s.take(n)
	for _, p := range points {
		if len(p) == 0 {
			continue
		}
		m := p[0]
		if len(p) > 1 {
			m = stat.Mean(p, nil)
			for _, v := range p {
				s.within += (v - m) * (v - m)
			}
		}
		s.mean = append(s.mean, m)
		s.count = append(s.count, float64(len(p)))
		s.all += float64(len(p))
		s.cum = append(s.cum, s.all)
	}
	s.n = len(s.mean)
	for i, m := range s.mean {
		s.centre += m * s.count[i] / s.all
	}
	for i := range s.mean {
		s.mean[i] -= s.centre
	}
	s.floor = math.Max(opt.Resolution*opt.Resolution/12, leastSD*leastSD)
	// The mean of fewer samples keeps too much of the tails of the noise for a
	// Gaussian bound to hold.
	switch {
	case s.all < 25:
		s.side = 3
	case s.all < 50:
		s.side = 4
	case s.all < 120:
		s.side = 6
	default:
		s.side = 12
	}
	s.share = &singleShares
	if s.all >= 2.5*float64(s.n) {
		s.share = &repeatedShares
	}
	s.short = float64(2*s.n - 1)
	for k := 3; k <= s.n-3; k++ {
		if !s.long(k, s.n-k, s.cum[k-1], s.all-s.cum[k-1]) {
			s.near++
		}
	}
	s.logSteps = math.Log(6 * math.Log(float64(s.n)/2+1) / s.share.step)
	s.logNear = math.Log(math.Max(s.near, 1) / s.share.near)
	s.logShort = math.Log(math.Max(s.short, 1) / s.share.short)
	s.logWindows = math.Log(windows(4, s.n) / s.share.window)
	s.logLast = math.Min(s.logShort, -math.Log(s.share.newest))
	return s
}

// take returns an empty slice with room for n numbers.
func (s *series) take(n int) []float64 {
	if n > len(s.slab) {
		return make([]float64, 0, n)
	}
	cut := s.slab[:0:n]
	s.slab = s.slab[n:]
	return cut
}

// long says whether a contrast of so many versions and samples is of the long kind.
func (s *series) long(versions, versions2 int, samples, samples2 float64) bool {
	side := float64(s.side)
	return versions >= 3 && versions2 >= 3 && samples >= side && samples2 >= side
}

// variance returns the variance of a sample under a description with the given number
// of blocks that leaves the sum of squares between, and its degrees of freedom.
func (s *series) variance(between float64, blocks int) (v, nu float64) {
	free := float64(s.n - blocks)
	repeats := s.all - float64(s.n)
	if s.known.OK && s.known.DF > 0 {
		return math.Max(s.known.SD*s.known.SD, s.floor), math.Min(s.known.DF, 1e6)
	}
	v, nu = (between+s.within)/(free+repeats), free+repeats
	if repeats > 0 && free > 0 && between*repeats > s.within*free {
		// Versions scatter more than their repeats: if by more than chance allows
		// (F test at 1 %), repeats are no independent samples and only versions count.
		f := (between / free) / math.Max(s.within/repeats, s.floor)
		if logBetaTail(repeats/(repeats+free*f), repeats/2, free/2) < math.Log(0.01) {
			v, nu = between/free, free
		}
	}
	return math.Max(v, s.floor), nu
}

// robustVariance returns the variance of a sample by the differences of neighbouring
// versions without those beyond four robust standard deviations, and the degrees of
// freedom that its lower tail has in simulation. It is far less certain than the
// variance around levels, but many changes do not inflate it. ok is false for short
// series, where it is too uncertain.
func (s *series) robustVariance() (v, nu float64, ok bool) {
	if s.n < 12 || s.known.OK {
		return 0, 0, false
	}
	sorted := s.take(s.n - 1)
	for i := 1; i < s.n; i++ {
		sorted = append(sorted, math.Abs(s.mean[i]-s.mean[i-1])/math.Sqrt(1/s.count[i]+1/s.count[i-1]))
	}
	slices.Sort(sorted)
	cut := 4 * madScale * median(sorted)
	var ss, n float64
	for _, x := range sorted {
		if x <= cut {
			ss += x * x
			n++
		}
	}
	if n == 0 {
		return 0, 0, false
	}
	return math.Max(ss/n, s.floor), float64(s.n)/2 - 1, true
}

// wholeAngles returns the angles of long steps of the series as one block.
func (s *series) wholeAngles() []float64 {
	if s.angles == nil {
		s.angles = s.longAngles(s.take(s.n), s.cum)
	}
	return s.angles
}

func (s *series) longAngles(dst, cum []float64) []float64 {
	n := len(cum)
	if n < 6 {
		return dst
	}
	first, last := 0, 0
	for k := 3; k <= n-3; k++ {
		if s.long(k, n-k, cum[k-1], cum[n-1]-cum[k-1]) {
			if first == 0 {
				first = k
			}
			last = k
		}
	}
	if first == 0 {
		return dst
	}
	return stepAngles(dst, cum, first, last)
}
