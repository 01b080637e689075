package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestRepeatsNeededIsTheLeastThatSuffices(t *testing.T) {
	t.Parallel()
	noise := Noise{SD: 0.01, Method: FromRepeats, DF: 20, OK: true}
	enough := func(m int, effect float64) bool {
		df := 20 + 2*float64(m-1)
		return (studentQuantile(0.95, df)+studentQuantile(0.6, df))*0.01*math.Sqrt(2/float64(m)) <= effect
	}
	for _, effect := range []float64{0.005, 0.01, 0.02, 0.05} {
		want := 1
		for !enough(want, effect) {
			want++
		}
		if got, ok := RepeatsNeeded(noise, effect, 0.95); !ok || got != want {
			t.Errorf("%v: %d %v, want %d", effect, got, ok, want)
		}
	}
	// The textbook figure with known noise: 2·(1.96 + 0.8416)² ≈ 15.7 for one standard deviation.
	if got, ok := RepeatsNeeded(Noise{SD: 0.01, DF: 1e9, OK: true}, -0.01, 0.95); !ok || got != 16 {
		t.Errorf("%d %v, want 16", got, ok)
	}
	if _, ok := RepeatsNeeded(Noise{SD: 1, DF: 20, OK: true}, 0.0001, 0.95); ok {
		t.Error("more than ten thousand repeats are no answer")
	}
	if _, ok := RepeatsNeeded(Noise{Method: NoNoise}, 0.01, 0.95); ok {
		t.Error("unknown noise has no answer")
	}
}

// TestSmallestEffectIsFoundFourTimesInFive puts steps of the promised size into noise.
func TestSmallestEffectIsFoundFourTimesInFive(t *testing.T) {
	t.Parallel()
	const n, trials = 30, 1500
	noise := Noise{SD: 0.01, Method: FromRepeats, DF: 1000, OK: true}
	for _, runs := range []int{1, 3} {
		points := make([][]float64, n)
		for i := range points {
			points[i] = make([]float64, runs)
		}
		promised := SmallestEffect(points, noise, 0.001)
		if !promised.StepKnown || !promised.NewestKnown || promised.Newest < promised.Step {
			t.Fatalf("%+v", promised)
		}
		for _, c := range []struct {
			name   string
			at     int
			effect float64
			low    float64
		}{{"step", n / 2, promised.Step, 0.75}, {"newest", n - 1, promised.Newest, 0.70}} {
			t.Run(fmt.Sprintf("%s with %d runs", c.name, runs), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(5, uint64(runs)))
				found := 0
				for range trials {
					series := make([][]float64, n)
					for i := range series {
						for range runs {
							series[i] = append(series[i], 0.01*r.NormFloat64()+stepAt(c.at, c.effect)(i))
						}
					}
					for _, ch := range Detect(series, Options{}) {
						if ch.P <= 0.001 {
							found++
							break
						}
					}
				}
				if share := float64(found) / trials; share < c.low || share > 0.88 {
					t.Errorf("an effect of %v is found in %v of series", c.effect, share)
				}
			})
		}
	}
	if s := SmallestEffect([][]float64{{1}}, noise, 0.001); s.StepKnown || s.NewestKnown {
		t.Errorf("one version shows nothing: %+v", s)
	}
	if s := SmallestEffect(on(4, none), noise, 0.001); s.StepKnown || !s.NewestKnown {
		t.Errorf("four versions show the newest at most: %+v", s)
	}
}
