package compare

import (
	"context"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/stats"
)

// A change is kept where both hold; what of it is shown is decided when a table
// is read, with false discovery held across the table.
const (
	// StoredLevel is the largest probability of the change at its own version.
	StoredLevel = 0.001
	// SeriesLevel is the largest probability of any such change in an unchanged
	// series: the rate at which a series without a change would raise an alarm.
	SeriesLevel = 0.01
)

// Detect finds the changes of the series that a write touched, for a store to
// keep. Every sample that may be compared counts, never the median shown; a
// series without changes comes out with an empty list, so that the store learns
// that earlier ones dissolved. It is a [bench.DetectFunc] and never fails.
func Detect(ctx context.Context, t bench.Touched) ([]bench.Detection, error) {
	found, err := detect(ctx, t, SeriesLevel, nil)
	for i := range found {
		found[i].Changes = slices.DeleteFunc(found[i].Changes, func(c bench.FoundChange) bool { return c.PHere > StoredLevel })
	}
	return found, err
}

// detect finds changes up to a level of P.
func detect(_ context.Context, t bench.Touched, level float64, cache *Cache) ([]bench.Detection, error) {
	out := make([]bench.Detection, 0, len(t.Series))
	for _, s := range t.Series {
		d := bench.Detection{SeriesID: s.ID}
		var logs [][]float64
		var at []bench.Point // of logs, with the samples that count only
		for _, p := range s.Points {
			q := bench.Point{Version: p.Version}
			var lg []float64
			for _, x := range p.Samples {
				if !x.Excluded && x.Value > 0 {
					lg = append(lg, math.Log(x.Value))
					q.Samples = append(q.Samples, x)
				}
			}
			// A version that nobody stated has no place on the axis.
			if len(lg) > 0 && p.Version != bench.UnknownVersion {
				logs = append(logs, lg)
				at = append(at, q)
			}
		}
		found := cache.detect(logs, stats.Options{Level: level, Resolution: relativeResolution(s.Points)})
		for _, c := range found {
			f := bench.FoundChange{
				Shape: bench.Shape(c.Shape), From: at[c.From].Version, To: at[c.To].Version,
				Effect: c.Effect, Low: c.Low, High: c.High, Neighbours: c.Neighbours, P: c.P, PHere: c.PHere, OneRun: c.OneRun,
				Before: levelOf(c.Before, at), After: levelOf(c.After, at),
				NewCampaign: paused(at[c.From], at[c.To], t.Campaigns),
			}
			if c.Back >= 0 {
				f.Back = at[c.Back].Version
			}
			d.Changes = append(d.Changes, f)
		}
		out = append(out, d)
	}
	return out, nil
}

func levelOf(s stats.Segment, at []bench.Point) bench.Level {
	return bench.Level{First: at[s.First].Version, Last: at[s.Last].Version, Mean: s.Level, N: s.N}
}

// paused reports whether the runs of two points have no campaign in common: the
// measuring paused between them.
func paused(from, to bench.Point, campaigns map[int64]int) bool {
	seen := map[int]bool{}
	for _, s := range from.Samples {
		if c := campaigns[s.RunID]; c > 0 {
			seen[c] = true
		}
	}
	known := false
	for _, s := range to.Samples {
		if c := campaigns[s.RunID]; c > 0 {
			known = true
			if seen[c] {
				return false
			}
		}
	}
	return known && len(seen) > 0
}
