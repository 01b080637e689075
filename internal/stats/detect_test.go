package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// series30 is thirty hand-made deviations of about one percent that show no change: a
// stretch of fixed noise to put changes on.
var series30 = []float64{
	0.004, -0.011, 0.008, 0.001, -0.006, 0.013, -0.002, 0.009, -0.013, 0.003,
	-0.008, 0.006, 0.012, -0.004, -0.010, 0.002, 0.007, -0.001, -0.012, 0.010,
	0.005, -0.007, 0.011, -0.003, -0.009, 0.000, 0.008, -0.005, 0.014, -0.008,
}

// on returns points of one sample each: fixed noise, n of them, plus a mean.
func on(n int, mean func(i int) float64) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = []float64{10 + series30[i%len(series30)] + mean(i)}
	}
	return points
}

func stepAt(at int, size float64) func(int) float64 {
	return func(i int) float64 {
		if i >= at {
			return size
		}
		return 0
	}
}

func within(from, to int, size float64) func(int) float64 {
	return func(i int) float64 {
		if i >= from && i < to {
			return size
		}
		return 0
	}
}

func sum(fs ...func(int) float64) func(int) float64 {
	return func(i int) float64 {
		var s float64
		for _, f := range fs {
			s += f(i)
		}
		return s
	}
}

func none(int) float64 { return 0 }

// place is where a change is, without its figures.
type where struct {
	shape          string
	from, to, back int
}

func wheres(changes []Change) []where {
	var ws []where
	for _, c := range changes {
		ws = append(ws, where{c.Shape, c.From, c.To, c.Back})
	}
	return ws
}

func TestDetectFindsShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		points [][]float64
		want   []where
	}{
		{"no change", on(30, none), nil},
		{"a step", on(30, stepAt(12, 0.05)), []where{{Step, 11, 12, -1}}},
		{"a step down", on(30, stepAt(12, -0.05)), []where{{Step, 11, 12, -1}}},
		{"three percent with one percent of noise", on(30, stepAt(15, 0.03)), []where{{Step, 14, 15, -1}}},
		{"one version from the left edge", on(30, stepAt(1, 0.4)), []where{{Step, 0, 1, -1}}},
		{"two versions from the left edge", on(30, stepAt(2, 0.2)), []where{{Step, 1, 2, -1}}},
		{"the last two versions", on(30, stepAt(28, 0.1)), []where{{Step, 27, 28, -1}}},
		{"the newest version only", on(30, stepAt(29, -0.3)), []where{{Newest, 28, 29, -1}}},
		{"one version out and back", on(30, within(15, 16, -0.3)), []where{{Spike, 14, 15, 16}}},
		{"two versions out and back", on(30, within(15, 17, -0.1)), []where{{Spike, 14, 15, 17}}},
		{"the second version out and back", on(30, within(1, 2, -0.3)), []where{{Spike, 0, 1, 2}}},
		{"the last but one out and back", on(30, within(28, 29, -0.3)), []where{{Spike, 27, 28, 29}}},
		{"three versions out and back are two steps", on(30, within(14, 17, -0.1)), []where{{Step, 13, 14, -1}, {Step, 16, 17, -1}}},
		{"out, and back to another level", on(30, sum(within(15, 16, -0.3), stepAt(16, -0.08))), []where{{Spike, 14, 15, 16}, {Step, 14, 16, -1}}},
		{"a staircase is no spike", on(30, sum(stepAt(15, 0.3), stepAt(16, 0.3))), []where{{Step, 14, 15, -1}, {Step, 15, 16, -1}}},
		{"neighbouring spikes in opposite directions", on(30, sum(within(15, 16, -0.3), within(16, 17, 0.3))), []where{{Spike, 14, 15, 16}, {Spike, 14, 16, 17}}},
		{"up and down and up", on(30, sum(stepAt(8, 0.06), stepAt(15, -0.06), stepAt(22, 0.06))), []where{{Step, 7, 8, -1}, {Step, 14, 15, -1}, {Step, 21, 22, -1}}},
		{"thirteen versions", on(13, stepAt(6, 0.06)), []where{{Step, 5, 6, -1}}},
		{"blocks that hide each other", on(30, func(i int) float64 { return 0.2 * float64(i/5%2) }), []where{{Step, 4, 5, -1}, {Step, 9, 10, -1}, {Step, 14, 15, -1}, {Step, 19, 20, -1}, {Step, 24, 25, -1}}},
		{"a step hidden by two spikes", on(15, sum(stepAt(1, 0.35), within(10, 11, -0.14), within(11, 12, 0.17))), []where{{Step, 0, 1, -1}}},
		{"nothing at all", nil, nil},
		{"one version", on(1, none), nil},
		{"two versions", on(2, stepAt(1, 5)), nil},
		{"versions that were not measured are skipped", gaps(on(30, stepAt(15, 0.05))), []where{{Step, 14, 15, -1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Detect(c.points, Options{})
			if c.name == "a step hidden by two spikes" {
				// Whether the spikes are certain enough is not the point.
				got = slices.DeleteFunc(got, func(c Change) bool { return c.Shape == Spike })
			}
			if !slices.Equal(wheres(got), c.want) {
				t.Errorf("got %+v, want %+v", wheres(got), c.want)
			}
		})
	}
}

// gaps puts unmeasured versions between the others.
func gaps(points [][]float64) [][]float64 {
	var out [][]float64
	for _, p := range points {
		out = append(out, nil, p, []float64{})
	}
	return out
}

func TestDetectFiguresOfAStep(t *testing.T) {
	t.Parallel()
	// Two samples a version, four versions before and four after, so that everything
	// follows by hand: levels 1.02 and 2.02, each sample 0.02 from its level.
	var points [][]float64
	for i := range 8 {
		level := 1.0
		if i >= 4 {
			level = 2
		}
		points = append(points, []float64{level, level + 0.04})
	}
	got := Detect(points, Options{})
	if len(got) != 1 {
		t.Fatalf("%d changes", len(got))
	}
	c := got[0]
	// Residual sum of squares 16·0.0004, 14 degrees of freedom; t(0.975; 14) = 2.144787.
	half := 2.144787 * math.Sqrt(16*0.0004/14*(1.0/8+1.0/8))
	for name, pair := range map[string][2]float64{
		"effect": {c.Effect, 1}, "low": {c.Low, 1 - half}, "high": {c.High, 1 + half}, "neighbours": {c.Neighbours, 1},
		"level before": {c.Before.Level, 1.02}, "level after": {c.After.Level, 2.02},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("%s %v, want %v", name, pair[0], pair[1])
		}
	}
	if c.Before.First != 0 || c.Before.Last != 3 || c.After.First != 4 || c.After.Last != 7 || c.Before.N != 8 || c.After.N != 8 {
		t.Errorf("segments %+v and %+v", c.Before, c.After)
	}
	if c.OneRun {
		t.Error("eight samples are no single run")
	}
}

func TestDetectProbabilityOfAStepIsThatOfTheScan(t *testing.T) {
	t.Parallel()
	points := on(30, stepAt(15, 0.03))
	var a, b []float64
	for i, p := range points {
		if i < 15 {
			a = append(a, p...)
		} else {
			b = append(b, p...)
		}
	}
	got := Detect(points, Options{})[0]
	want := StepBound(pooledT(a, b), 30, 4) / singleShares.step
	if !near(math.Log(got.P), math.Log(want), 1e-6) {
		t.Errorf("P %v, want %v", got.P, want)
	}
	if got.PHere >= got.P || got.PHere < got.P/30 {
		t.Errorf("PHere %v beside P %v", got.PHere, got.P)
	}
}

func TestDetectSaysWhenOneRunCarriesAChange(t *testing.T) {
	t.Parallel()
	one := Detect(on(30, within(15, 16, -0.3)), Options{})
	if len(one) != 1 || !one[0].OneRun {
		t.Errorf("a spike of one sample: %+v", one)
	}
	points := on(30, within(15, 16, -0.3))
	points[15] = append(points[15], points[15][0]+0.01)
	two := Detect(points, Options{})
	if len(two) != 1 || two[0].OneRun || two[0].P >= one[0].P {
		t.Errorf("a spike of two samples: %+v after %+v", two, one)
	}
}

func TestDetectDoesNotDependOnUnitOrDirection(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 11))
	for range 100 {
		points := randomSeries(r, 25)
		want := Detect(points, Options{})
		scaled, mirrored := make([][]float64, len(points)), make([][]float64, len(points))
		for i, p := range points {
			for _, v := range p {
				scaled[i] = append(scaled[i], 12.5+v)
				mirrored[i] = append(mirrored[i], -v)
			}
		}
		for name, got := range map[string][]Change{"unit": Detect(scaled, Options{}), "direction": Detect(mirrored, Options{})} {
			if !slices.Equal(wheres(got), wheres(want)) {
				t.Fatalf("%s: %+v, want %+v", name, wheres(got), wheres(want))
			}
			for i := range got {
				if !near(got[i].P, want[i].P, 1e-6) || !near(math.Abs(got[i].Effect), math.Abs(want[i].Effect), 1e-6) {
					t.Fatalf("%s: %+v, want %+v", name, got[i], want[i])
				}
			}
		}
	}
}

func TestDetectHonoursOptions(t *testing.T) {
	t.Parallel()
	points := on(30, stepAt(15, 0.03))
	if got := Detect(points, Options{Level: 1e-12}); len(got) != 0 {
		t.Errorf("level: %+v", got)
	}
	if got := Detect(points, Options{MinEffect: 0.05}); len(got) != 0 {
		t.Errorf("minimum effect: %+v", got)
	}
	if got := Detect(points, Options{MinEffect: 0.01}); len(got) != 1 {
		t.Errorf("minimum effect below the step: %+v", got)
	}
	if got := Detect(points, Options{Noise: Noise{SD: 0.1, DF: math.Inf(1), OK: true}}); len(got) != 0 {
		t.Errorf("known noise of ten percent: %+v", got)
	}
	// Known noise makes a step of two versions after two more certain than the four do.
	short := on(4, stepAt(2, 0.1))
	with := Detect(short, Options{Noise: Noise{SD: 0.01, DF: math.Inf(1), OK: true}})
	if len(with) != 1 || with[0].P > 1e-4 {
		t.Errorf("known noise of one percent: %+v", with)
	}
}

func TestCoarseValuesShowNoChangeBelowTheirResolution(t *testing.T) {
	t.Parallel()
	// A 99th percentile printed as 4, 4, … 5, 5: exact to the eye, but half a unit of
	// rounding is an eighth of it.
	var points [][]float64
	for i := range 8 {
		v := 4.0
		if i >= 4 {
			v = 5
		}
		points = append(points, []float64{math.Log(v)})
	}
	if got := Detect(points, Options{}); len(got) != 1 {
		t.Errorf("without a resolution: %+v", got)
	}
	for _, c := range Detect(points, Options{Resolution: 1.0 / 4.5}) {
		if c.P < 0.001 {
			t.Errorf("with the resolution: %+v", c)
		}
	}
}

func TestRepeatsThatAgreeTooWellAreNoProof(t *testing.T) {
	t.Parallel()
	// Five repeats agree to a thousandth, versions scatter by one percent: five times as
	// many samples, not five times as much evidence.
	r := rand.New(rand.NewPCG(12, 13))
	alarms := 0
	const trials = 2000
	for range trials {
		points := make([][]float64, 20)
		for i := range points {
			level := r.NormFloat64() * 0.01
			for range 5 {
				points[i] = append(points[i], level+0.001*r.NormFloat64())
			}
		}
		if len(Detect(points, Options{})) > 0 {
			alarms++
		}
	}
	// 5 % are stated; three standard errors above 1.2 times that.
	if limit := trials*0.06 + 3*math.Sqrt(trials*0.06); float64(alarms) > limit {
		t.Errorf("%d of %d unchanged series raise an alarm", alarms, trials)
	}
}

// TestUnchangedSeriesRaiseAlarmsAtTheStatedRate is a short form of what the program
// calibrate measures.
func TestUnchangedSeriesRaiseAlarmsAtTheStatedRate(t *testing.T) {
	t.Parallel()
	for _, n := range []int{9, 20, 40} {
		for _, runs := range []int{1, 3} {
			t.Run(fmt.Sprintf("%d versions of %d", n, runs), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(14, uint64(n+runs)))
				const trials = 6000
				count := map[float64]int{0.05: 0, 0.01: 0}
				for range trials {
					points := make([][]float64, n)
					for i := range points {
						for range runs {
							points[i] = append(points[i], r.NormFloat64())
						}
					}
					least := 1.0
					for _, c := range Detect(points, Options{}) {
						least = math.Min(least, c.P)
					}
					for level := range count {
						if least <= level {
							count[level]++
						}
					}
				}
				for level, k := range count {
					mean := trials * level
					if high := 1.2*mean + 3*math.Sqrt(mean); float64(k) > high {
						t.Errorf("%d alarms at %v, at most %v expected", k, level, high)
					}
					if low := 0.6*mean - 3*math.Sqrt(mean); float64(k) < low {
						t.Errorf("%d alarms at %v: no calibration, at least %v expected", k, level, low)
					}
				}
			})
		}
	}
}

func TestDetectReturnsFiniteFigures(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(16, 17))
	shapes := []func() [][]float64{
		func() [][]float64 { return randomSeries(r, 1+r.IntN(40)) },
		func() [][]float64 { // constant levels
			points := make([][]float64, 2+r.IntN(20))
			for i := range points {
				points[i] = []float64{float64(i / 4)}
			}
			return points
		},
		func() [][]float64 { // all equal
			points := make([][]float64, 1+r.IntN(20))
			for i := range points {
				points[i] = []float64{math.Log(7), math.Log(7)}
			}
			return points
		},
		func() [][]float64 { // one outlier beyond all measure
			points := randomSeries(r, 12)
			points[5][0] = 1e8
			return points
		},
	}
	for range 400 {
		for _, shape := range shapes {
			points := shape()
			a := Analyse(points, Options{})
			figures := slices.Concat(a.Levels, []float64{a.Noise.SD, a.Noise.DF})
			for _, c := range a.Changes {
				figures = append(figures, c.Effect, c.Low, c.High, c.Neighbours, c.P, c.PHere, c.Before.Level, c.After.Level)
				if c.P < 0 || c.P > 0.05 || c.PHere > c.P || c.Low > c.Effect || c.High < c.Effect || c.From >= c.To || c.Back >= 0 && c.Back <= c.To {
					t.Fatalf("%+v of %v", c, points)
				}
			}
			for _, f := range figures {
				if math.IsNaN(f) || math.IsInf(f, 0) {
					t.Fatalf("%+v of %v", a, points)
				}
			}
		}
	}
}

func TestAnalyseGivesTheLevelOfEachVersion(t *testing.T) {
	t.Parallel()
	a := Analyse(on(30, stepAt(12, 0.05)), Options{})
	if len(a.Levels) != 30 || a.Levels[0] != a.Levels[11] || a.Levels[12] != a.Levels[29] || a.Levels[11] == a.Levels[12] {
		t.Fatalf("levels %v", a.Levels)
	}
	if c := a.Changes[0]; math.Abs(a.Levels[12]-a.Levels[11]-c.Effect) > 1e-12 {
		t.Errorf("levels differ by %v, the effect is %v", a.Levels[12]-a.Levels[11], c.Effect)
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte{10, 10, 10, 10, 20, 20, 20, 20}, uint8(1))
	f.Add([]byte{1, 2, 3, 250, 2, 1, 0, 2, 9, 9, 9}, uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, every uint8) {
		var points [][]float64
		for i, b := range data {
			if every > 0 && i%(int(every)+1) == 0 || len(points) == 0 {
				points = append(points, nil)
			}
			points[len(points)-1] = append(points[len(points)-1], float64(b)/16)
		}
		for _, c := range Detect(points, Options{}) {
			if math.IsNaN(c.P) || math.IsInf(c.Effect, 0) || math.IsNaN(c.Low) || c.From < 0 || c.To >= len(points) {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func TestNoiseThatDiffersBetweenSegmentsCountsWhereItIs(t *testing.T) {
	t.Parallel()
	// Ten quiet versions, ten that scatter by a tenth, ten quiet ones; the noisy ones are
	// half as fast. One of them is a third below the others: no spike among such noise.
	wild := []float64{0.1, -0.12, 0.04, -0.02, 0.13, -0.25, 0.09, -0.08, 0.02, 0.07}
	points := on(30, func(i int) float64 {
		if i >= 10 && i < 20 {
			return -0.7 + wild[i-10]
		}
		return 0
	})
	got := wheres(Detect(points, Options{Level: 0.001}))
	if want := []where{{Step, 9, 10, -1}, {Step, 19, 20, -1}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// A step of three percent among the last ten is seen beside the quiet noise only.
	for _, c := range Detect(points, Options{}) {
		if half := (c.High - c.Low) / 2; half < 0.05 {
			t.Errorf("%+v: a half width of %v beside noise of a tenth", wheres([]Change{c}), half)
		}
	}
}
