package stats

import (
	"math"
	"slices"
)

// FalseDiscovery returns for each p-value the smallest false-discovery rate at which it
// is marked among m hypotheses (Benjamini & Hochberg, J. R. Statist. Soc. B 57, 1995, in
// the adjusted form of Yekutieli & Benjamini, J. Statist. Plan. Inference 82, 1999): a
// change is marked where the result is at most the rate asked for. m counts all series
// of the table, those without a change too; it is taken to be at least len(p). The
// steps of one run are not independent, but move alike if at all; under such positive
// dependence the rate still holds (Benjamini & Yekutieli, Ann. Statist. 29, 2001).
//
// For the table of one version p is [Change].PHere, for a list over all versions
// [Change].P.
func FalseDiscovery(p []float64, m int) []float64 {
	m = max(m, len(p))
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	q := make([]float64, len(p))
	least := 1.0
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = math.Min(least, p[i]*float64(m)/float64(rank))
		q[i] = least
	}
	return q
}

// FalseDiscoveryCut returns the largest p-value that is marked among m hypotheses when
// the false-discovery rate is held at rate, 0 when none is.
func FalseDiscoveryCut(p []float64, m int, rate float64) float64 {
	cut := 0.0
	for i, q := range FalseDiscovery(p, m) {
		if q <= rate && p[i] > cut {
			cut = p[i]
		}
	}
	return cut
}

// ExpectedFalseAlarms returns how many of m unchanged series have a p-value of at most
// cut on average. It is an upper bound for a table of m series of which some changed.
func ExpectedFalseAlarms(m int, cut float64) float64 { return float64(m) * cut }
