package stats

import (
	"math"
	"testing"
)

func TestEffectAtComparesWhatIsAround(t *testing.T) {
	t.Parallel()
	const known = 200.0 // half width of the interval around one sample: all agree
	points := [][]float64{{50}, {1}, {2}, nil, {3, 3}, {10}, {12}, nil, {14}, {90}}
	// Up to three measured versions before (1, 2, 3, 3) and after (10, 12, 14).
	e := EffectAt(points, known, 4, 5, -1)
	want := 12 - 9.0/4
	half := known * math.Sqrt(1.0/4+1.0/3)
	if !e.OK || math.Abs(e.Effect-want) > 1e-12 || math.Abs(e.Half-half) > 1e-12 {
		t.Errorf("step: %+v, want %v ± %v", e, want, half)
	}
	// A spike of 10 and 12 against 1, 2, 3, 3 before and 14, 90 after: the nearer side counts.
	e = EffectAt(points, known, 4, 5, 8)
	if want := 11 - 9.0/4; !e.OK || math.Abs(e.Effect-want) > 1e-12 {
		t.Errorf("spike: %+v, want %v", e, want)
	}
	for name, e := range map[string]Estimate{
		"nothing before": EffectAt([][]float64{nil, {1}, {2}}, known, 0, 1, -1),
		"nothing after":  EffectAt([][]float64{{1}, {1}, nil}, known, 1, 2, -1),
		"outside":        EffectAt(points, known, 20, 21, -1),
		"unknown noise":  EffectAt(points, 0, 4, 5, -1),
	} {
		if e.OK {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A series may have changes of its own near the place: versions beyond them are left
// out, on every side.
func TestEffectAtStopsAtChangesOfTheSeriesItself(t *testing.T) {
	t.Parallel()
	const known = 0.03
	// Rose by a tenth at the third version; nothing at the fourth, where another one changed.
	own := [][]float64{{0}, {0.01}, {0.10}, {0.105}, {0.095}, {0.1}}
	e := EffectAt(own, known, 2, 3, -1)
	if want := (0.105+0.095+0.1)/3 - 0.10; !e.OK || math.Abs(e.Effect-want) > 1e-12 {
		t.Errorf("%+v, want %v: the rise before it is not of this place", e, want)
	}
	// A spike elsewhere at the fourth version only: no spike here.
	e = EffectAt(own, known, 2, 3, 4)
	if want := 0.105 - 0.10; !e.OK || math.Abs(e.Effect-want) > 1e-12 {
		t.Errorf("%+v, want %v", e, want)
	}
	if got := Sight(0.1, e); got != NotSeen {
		t.Errorf("%s", got)
	}
	// After it falls again.
	e = EffectAt([][]float64{{0}, {0.01}, {-0.2}, {-0.21}, {0}}, known, 1, 2, -1)
	if want := -0.205 - 0.005; !e.OK || math.Abs(e.Effect-want) > 1e-12 {
		t.Errorf("%+v, want %v", e, want)
	}
}

func TestSight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effect    float64
		elsewhere Estimate
		want      Sighting
	}{
		{-0.08, Estimate{-0.07, 0.02, true}, Seen},
		{-0.08, Estimate{-0.001, 0.01, true}, NotSeen},
		{-0.08, Estimate{0.05, 0.01, true}, NotSeen},
		{-0.08, Estimate{-0.02, 0.05, true}, CannotTell}, // could be either
		{-0.08, Estimate{-0.03, 0.02, true}, CannotTell}, // moved, but by less than half
		{-0.08, Estimate{}, CannotTell},
		{0.08, Estimate{0.09, 0.02, true}, Seen},
		{0.08, Estimate{0.01, 0.01, true}, NotSeen},
		{0, Estimate{0.01, 0.01, true}, CannotTell},
		{-1.62, Estimate{-0.2, 0.05, true}, Seen}, // far less of a very large change, and clear
		{-1.62, Estimate{-0.05, 0.04, true}, NotSeen},
		{-1.62, Estimate{-0.2, 0.3, true}, CannotTell},
	} {
		if got := Sight(c.effect, c.elsewhere); got != c.want {
			t.Errorf("%v beside %+v: %s, want %s", c.elsewhere, c.effect, got, c.want)
		}
	}
}
