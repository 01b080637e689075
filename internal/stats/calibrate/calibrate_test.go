package main

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestReportIsReproducible(t *testing.T) {
	t.Parallel()
	var first, second, other strings.Builder
	for w, l := range map[*strings.Builder]lab{&first: {seed: 1, scale: 0.0005}, &second: {seed: 1, scale: 0.0005}, &other: {seed: 2, scale: 0.0005}} {
		if err := powerReport(w, l); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Errorf("two runs differ:\n%s\n%s", &first, &second)
	}
	if first.String() == other.String() {
		t.Error("the seed makes no difference")
	}
}

func TestNoiseHasVarianceOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	// t₃ has no fourth moment: its sample variance converges too slowly to be tested.
	for _, n := range []noise{gaussian, heavy10, heavy5} {
		const trials = 400_000
		var sum, square float64
		for range trials {
			x := n.draw(r)
			sum += x
			square += x * x
		}
		if mean, v := sum/trials, square/trials; mean < -0.01 || mean > 0.01 || v < 0.97 || v > 1.03 {
			t.Errorf("%s: mean %v, variance %v", n.name, mean, v)
		}
	}
}

// TestRatioTestPlacesAStep checks the yardstick on figures that follow by hand.
func TestRatioTestPlacesAStep(t *testing.T) {
	t.Parallel()
	points := [][]float64{{0}, {0.02}, {1}, {1.02}}
	// Means 0.01 and 1.01: contrast 1·(2·2/4) = 1, residuals 4·0.0001 with 2 degrees of freedom.
	x, at := ratioTest(points, false)
	if at != 2 || x < 4999.9 || x > 5000.1 {
		t.Errorf("statistic %v at %d, want 5000 at 2", x, at)
	}
	if x, at := ratioTest(points, true); at != 2 || x < 9999.9 || x > 10000.1 {
		t.Errorf("known noise: statistic %v at %d, want 10000 at 2", x, at)
	}
}
