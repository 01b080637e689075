package stats

import (
	"math"
	"slices"
)

// Bimodal reports whether the samples of one version (ln units) fall into two groups of
// two or more with a gap that chance does not explain, and gives the means of the groups:
// a median of such samples says little. The groups are those that leave the least variance
// inside; they have to be further apart than in 99 % of samples from a uniform
// distribution, the one with a single mode that looks most like two. The resolution is
// that of the values in ln units, 0 if unknown.
func Bimodal(samples []float64, resolution float64) (low, high float64, ok bool) {
	if len(samples) < leastBimodal {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(samples))
	low, high, v := bestSplit(sorted)
	v = math.Max(v, math.Max(resolution*resolution/12, leastSD*leastSD))
	critical := bimodalDistance[min(len(sorted), len(bimodalDistance)-1)]
	if (high-low)/math.Sqrt(v) <= critical {
		return 0, 0, false
	}
	return low, high, true
}

// bestSplit returns the means of the two groups of two or more sorted samples that leave
// the least variance inside (Fisher, J. Amer. Statist. Assoc. 53, 1958), and that variance.
func bestSplit(sorted []float64) (low, high, v float64) {
	n := len(sorted)
	sum, square := make([]float64, n+1), make([]float64, n+1)
	for i, x := range sorted {
		x -= sorted[0]
		sum[i+1], square[i+1] = sum[i]+x, square[i]+x*x
	}
	inside := func(i, j int) float64 {
		u := sum[j] - sum[i]
		return math.Max(square[j]-square[i]-u*u/float64(j-i), 0)
	}
	best, split := math.Inf(1), 2
	for k := 2; k <= n-2; k++ {
		if w := inside(0, k) + inside(k, n); w < best {
			best, split = w, k
		}
	}
	low = sorted[0] + sum[split]/float64(split)
	high = sorted[0] + (sum[n]-sum[split])/float64(n-split)
	return low, high, best / float64(n-2)
}

// GroupDistance returns the distance of the means of the best two groups of four or more
// samples in units of the standard deviation inside the groups (Ashman, Bird & Zepf,
// Astron. J. 108, 1994). The program calibrate tabulates it for samples with one mode.
func GroupDistance(samples []float64) float64 {
	xs := slices.Clone(samples)
	slices.Sort(xs)
	low, high, v := bestSplit(xs)
	return (high - low) / math.Sqrt(math.Max(v, leastSD*leastSD))
}

// leastBimodal is the least number of samples that can show two groups of two.
const leastBimodal = 4
