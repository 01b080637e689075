package chart

import (
	"github.com/relqps/relqps/internal/bench"
)

// ChangeMark is a change as the page script draws it: a notch on the axis before
// its first version, and in a large chart a rule and the levels on both sides.
type ChangeMark struct {
	Line int `json:"line"` // index of the figure's line
	// At is the index of the first version of the axis from which on the change has
	// happened, Back that of the first one after a spike (-1: it lasts).
	At     int     `json:"at"`
	Back   int     `json:"back"`
	Effect float64 `json:"effect"` // ln of the ratio
	From   int     `json:"from"`   // index of the strictest of the view's settings that marks it
	Text   string  `json:"text"`   // a sentence for tooltips
	Href   string  `json:"href,omitempty"`
}

// NoteMark is a note as the page script draws it.
type NoteMark struct {
	At   int    `json:"at"` // index of its version
	To   int    `json:"to"` // last index of a range, At for a single version
	N    int    `json:"n"`  // its number on the page
	Text string `json:"text"`
	Href string `json:"href,omitempty"`
}

// PlaceChange gives the places of a change on an axis of versions: at is the
// index of the first one that is not before the change, back that of the first
// one not before its end (-1 for a lasting change). ok is false where the change
// lies outside of the axis, its left end included: there is nothing to draw
// before the first version.
func PlaceChange(c bench.FoundChange, versions []string) (at, back int, ok bool) {
	at = firstFrom(versions, c.To)
	if at == 0 || at == len(versions) {
		return 0, -1, false
	}
	back = -1
	if c.Shape == bench.ShapeSpike {
		back = at + 1
		if c.Back != "" {
			back = firstFrom(versions, c.Back)
		}
		if back <= at {
			return 0, -1, false // none of its versions is on the axis
		}
	}
	return at, back, true
}

// PlaceNote gives the places of a note on an axis; ok is false where none of its
// versions is on it. A note on 8.6 is one on every 8.6.x.
func PlaceNote(n bench.Note, versions []string) (at, to int, ok bool) {
	at = firstFrom(versions, n.Version)
	last := n.ToVersion
	if last == "" {
		last = n.Version
	}
	to = firstFrom(versions, last)
	if to == len(versions) || bench.CompareVersions(versions[to], last) != 0 {
		to--
	}
	for to+1 < len(versions) && bench.VersionWithin(versions[to+1], last) {
		to++
	}
	return at, to, at < len(versions) && to >= at
}

func firstFrom(versions []string, version string) int {
	key := bench.VersionKey(version)
	for i, v := range versions {
		if bench.VersionKey(v) >= key {
			return i
		}
	}
	return len(versions)
}

// Setting is a sensitivity as the page script knows it.
type Setting struct {
	Name string `json:"name"`
	// Expected says how many false marks it makes at most on the page.
	Expected string `json:"expected"`
}
