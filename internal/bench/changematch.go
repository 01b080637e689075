package bench

import "sort"

// MatchChanges decides which stored changes of a series a new detection has
// found again, so that their identity stays: of the same sign, and at most one
// version away, or between the two versions that the stored one lies between: it
// was narrowed down by measuring what lies there (or the other way round, when
// runs were withdrawn). versions are those the series has now, in order. The result has
// the index into stored for every found change, or -1 for a new one; no stored
// change is used twice. Where several fit, the nearest wins, then one that has
// not dissolved, then one of the same shape, then the oldest.
func MatchChanges(versions []string, stored []Change, found []FoundChange) []int {
	place := func(v string) int {
		return sort.Search(len(versions), func(i int) bool { return CompareVersions(versions[i], v) >= 0 })
	}
	type pair struct{ found, stored, distance, rank int }
	var pairs []pair
	for i, f := range found {
		for j := range stored {
			s := &stored[j]
			if (f.Effect > 0) != (s.Effect > 0) {
				continue
			}
			d := place(f.To) - place(s.To)
			if d < 0 {
				d = -d
			}
			if d > 1 && !within(s.FoundChange, f) && !within(f, s.FoundChange) {
				continue
			}
			rank := 0
			if s.Dissolved != nil {
				rank += 2
			}
			if s.Shape != f.Shape {
				rank++
			}
			pairs = append(pairs, pair{i, j, d, rank})
		}
	}
	sort.SliceStable(pairs, func(a, b int) bool {
		if pairs[a].distance != pairs[b].distance {
			return pairs[a].distance < pairs[b].distance
		}
		if pairs[a].rank != pairs[b].rank {
			return pairs[a].rank < pairs[b].rank
		}
		return stored[pairs[a].stored].ID < stored[pairs[b].stored].ID
	})
	match := make([]int, len(found))
	for i := range match {
		match[i] = -1
	}
	used := make([]bool, len(stored))
	for _, p := range pairs {
		if match[p.found] < 0 && !used[p.stored] {
			match[p.found], used[p.stored] = p.stored, true
		}
	}
	return match
}

// within tells whether a change lies between the versions of another one.
func within(wide, narrow FoundChange) bool {
	return wide.From != "" && narrow.From != "" && CompareVersions(narrow.From, wide.From) >= 0 && CompareVersions(narrow.To, wide.To) <= 0
}
