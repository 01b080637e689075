package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/relqps/relqps/internal/stats"
)

// scene is a shape that simulated series have for the coverage of intervals.
type scene struct {
	name string
	mean func(n, i int) float64
}

var scenes = []scene{
	{"unchanged", func(int, int) float64 { return 0 }},
	{"step of 8 %", func(n, i int) float64 {
		if i >= n/3 {
			return 0.08
		}
		return 0
	}},
	{"step and spike", func(n, i int) float64 {
		switch {
		case i == 2*n/3:
			return -0.1
		case i >= n/3:
			return 0.08
		}
		return 0
	}},
}

func coverReport(w io.Writer, l lab) error {
	p := &printer{w: w}
	p.line("### Coverage of 95 %% intervals\n")
	p.line("Noise 1 %% per run. Share of intervals that hold the true ratio: of two versions drawn at random, of the first version and another, of neighbours; and of the effect of a change that was found, where the series has one.\n")
	p.head("noise", "series", "versions", "runs", "two versions", "with the first", "neighbours", "effect")
	for _, n := range []noise{gaussian, heavy10, heavy5} {
		for _, sc := range scenes {
			for _, versions := range []int{9, 15, 20, 30, 80} {
				for _, runs := range []int{1, 3} {
					if runs == 3 && (sc.name != "unchanged" || versions == 15) {
						continue
					}
					c := cover(l, n, sc, versions, runs)
					of := func(name string) string {
						if c["of "+name] == 0 {
							return "–"
						}
						return fmt.Sprintf("%.1f %%", 100*float64(c[name])/float64(c["of "+name]))
					}
					p.row(n.name, sc.name, fmt.Sprint(versions), fmt.Sprint(runs), of("two"), of("first"), of("next"), of("effect"))
				}
			}
		}
	}
	p.line("")
	return p.err
}

func cover(l lab, n noise, sc scene, versions, runs int) counts {
	name := fmt.Sprint("cover ", n.name, sc.name, versions, runs)
	return l.each(name, l.trials(24_000), func(r *rand.Rand, trials int, c counts) {
		points := grid(versions, runs)
		mean := func(i int) float64 { return sc.mean(versions, i) }
		for range trials {
			sample(r, points, n, runNoise, mean)
			a := stats.Analyse(points, stats.Options{})
			half, ok := stats.RatioHalfWidth(a.Noise, runs, runs, 0.95)
			if !ok {
				continue
			}
			error := func(i, j int) float64 {
				return math.Abs(average(points[i]) - average(points[j]) - mean(i) + mean(j))
			}
			i, j := r.IntN(versions), r.IntN(versions-1)
			if j >= i {
				j++
			}
			k, m := 1+r.IntN(versions-1), r.IntN(versions-1)
			for name, pair := range map[string][2]int{"two": {i, j}, "first": {k, 0}, "next": {m, m + 1}} {
				c["of "+name]++
				if error(pair[0], pair[1]) <= half {
					c[name]++
				}
			}
			for _, ch := range a.Changes {
				if truth := mean(ch.To) - mean(ch.From); truth != 0 {
					c["of effect"]++
					if ch.Low <= truth && truth <= ch.High {
						c["effect"]++
					}
				}
			}
		}
	})
}

func average(xs []float64) float64 {
	var s float64
	for _, x := range xs {
		s += x
	}
	return s / float64(len(xs))
}
