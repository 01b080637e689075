package stats

import (
	"math"
	"slices"
	"testing"
)

func TestCampaignsStartAfterAPause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		starts []float64
		factor float64
		want   []int
	}{
		{"even", []float64{0, 10, 20, 30}, 0, []int{0, 0, 0, 0}},
		{"a pause of more than three gaps", []float64{0, 10, 20, 51, 61}, 0, []int{0, 0, 0, 1, 1}},
		{"a pause of three gaps", []float64{0, 10, 20, 50, 60}, 0, []int{0, 0, 0, 0, 0}},
		{"a factor of two", []float64{0, 10, 20, 50, 60}, 2, []int{0, 0, 0, 1, 1}},
		{"not in order of time", []float64{200, 0, 210, 10, 220, 20}, 0, []int{1, 0, 1, 0, 1, 0}},
		{"runs that start together", []float64{0, 0, 10, 10, 20, 99}, 0, []int{0, 0, 0, 0, 0, 1}},
		{"one run", []float64{5}, 0, []int{0}},
		{"none", nil, 0, []int{}},
	} {
		if got := Campaigns(c.starts, c.factor); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestEffectAtComparesWhatIsAround(t *testing.T) {
	t.Parallel()
	known := Noise{SD: 0.01, Method: FromRepeats, DF: 10, OK: true}
	points := [][]float64{{50}, {1}, {2}, nil, {3, 3}, {10}, {12}, nil, {14}, {90}}
	// Up to three measured versions before (1, 2, 3, 3) and after (10, 12, 14).
	e := EffectAt(points, known, 4, 5, -1)
	want := 12 - 9.0/4
	half := 2.228139 * 0.01 * math.Sqrt(1.0/4+1.0/3)
	if !e.OK || math.Abs(e.Effect-want) > 1e-12 || math.Abs(e.Half-half) > 1e-7 {
		t.Errorf("step: %+v, want %v ± %v", e, want, half)
	}
	// A spike of 10 and 12 against 1, 2, 3, 3 before and 14, 90 after.
	e = EffectAt(points, known, 4, 5, 8)
	if want := 11 - (1+2+3+3+14+90)/6.0; !e.OK || math.Abs(e.Effect-want) > 1e-12 {
		t.Errorf("spike: %+v, want %v", e, want)
	}
	for name, e := range map[string]Estimate{
		"nothing before": EffectAt([][]float64{nil, {1}, {2}}, known, 0, 1, -1),
		"nothing after":  EffectAt([][]float64{{1}, {1}, nil}, known, 1, 2, -1),
		"outside":        EffectAt(points, known, 20, 21, -1),
		"unknown noise":  EffectAt(points, Noise{Method: NoNoise}, 4, 5, -1),
	} {
		if e.OK {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestAlikeCountsMovesInTheSameDirectionAndSize(t *testing.T) {
	t.Parallel()
	others := []Estimate{
		{-0.06, 0.01, true},  // alike
		{-0.03, 0.02, true},  // alike: reaches half
		{-0.30, 0.05, true},  // far more
		{-0.005, 0.01, true}, // undecided
		{0.06, 0.01, true},   // the other way
		{-0.02, 0.004, true}, // far less
		{-0.06, 0, false},    // not measured
	}
	if alike, of := Alike(-0.06, others); alike != 2 || of != 6 {
		t.Errorf("%d of %d, want 2 of 6", alike, of)
	}
	if alike, of := Alike(-0.06, nil); alike != 0 || of != 0 {
		t.Errorf("%d of %d without others", alike, of)
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
	} {
		if got := Sight(c.effect, c.elsewhere); got != c.want {
			t.Errorf("%v beside %+v: %s, want %s", c.elsewhere, c.effect, got, c.want)
		}
	}
}
