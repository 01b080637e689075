package bench

import (
	"slices"
	"time"
)

// Campaigns numbers the runs of one server by their starts: a pause of more
// than three times the usual one begins a new campaign. The usual pause is the
// median of those between neighbouring starts, equal starts left out. Numbers
// begin at 1 and follow time; 0 stands for a run without date. Starts may come
// in any order, the result has theirs.
func Campaigns(starts []LocalTime) []int {
	numbers := make([]int, len(starts))
	var order []int
	for i, s := range starts {
		if !s.IsZero() {
			order = append(order, i)
		}
	}
	at := func(k int) time.Time { return starts[order[k]].Instant() }
	slices.SortStableFunc(order, func(a, b int) int { return starts[a].Instant().Compare(starts[b].Instant()) })
	var pauses []time.Duration
	for k := 1; k < len(order); k++ {
		if d := at(k).Sub(at(k - 1)); d > 0 {
			pauses = append(pauses, d)
		}
	}
	usual := medianDuration(pauses)
	n := 1
	for k, i := range order {
		if k > 0 && at(k).Sub(at(k-1)) > 3*usual {
			n++
		}
		numbers[i] = n
	}
	return numbers
}

// medianDuration gives the middle of the durations, 0 for none. Of an even
// number it is the shorter of the middle two, so that a pause that occurred is
// the usual one: with runs at 1, 2 and 400 o'clock that is one hour.
func medianDuration(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[(len(d)-1)/2]
}
