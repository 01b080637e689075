package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/relqps/relqps/internal/stats"
)

const (
	powerVersions = 30
	powerRate     = 0.001
	runNoise      = 0.01
)

// ratioTest is the generalised likelihood ratio test for one step at any position, the
// yardstick of detection: the largest squared contrast of what is before and after, over
// the variance, which is known or estimated with the step in place.
func ratioTest(points [][]float64, known bool) (statistic float64, at int) {
	var all, sum, square float64
	for _, p := range points {
		for _, v := range p {
			all++
			sum += v
			square += v * v
		}
	}
	var a, before, best float64
	for k := range len(points) - 1 {
		for _, v := range points[k] {
			a++
			before += v
		}
		d := before/a - (sum-before)/(all-a)
		if gain := d * d * a * (all - a) / all; gain > best {
			best, at = gain, k+1
		}
	}
	if known {
		return best / (runNoise * runNoise), at
	}
	total := square - sum*sum/all
	return best / (total - best) * (all - 2), at
}

// threshold returns what the ratio test exceeds in powerRate of unchanged series.
func threshold(l lab, runs int, known bool) float64 {
	var mu sync.Mutex
	var largest []float64
	trials := l.trials(1_000_000)
	l.each(fmt.Sprintf("threshold %d %v", runs, known), trials, func(r *rand.Rand, trials int, _ counts) {
		points := grid(powerVersions, runs)
		xs := make([]float64, trials)
		for i := range xs {
			sample(r, points, gaussian, runNoise, unchanged)
			xs[i], _ = ratioTest(points, known)
		}
		mu.Lock()
		largest = append(largest, xs...)
		mu.Unlock()
	})
	slices.Sort(largest)
	return largest[int(float64(len(largest))*(1-powerRate))]
}

func powerReport(w io.Writer, l lab) error {
	p := &printer{w: w}
	p.line("### Power for one step\n")
	p.line("%d versions, noise 1 %% per run, a step of 1, 2 or 3 %% (0.01, 0.02, 0.03 of the logarithm) at positions 3 to %d, rate %g: share of series in which the step is found, and of those the share with the exact version. Ours beside the generalised likelihood ratio test with a threshold by simulation.\n", powerVersions, powerVersions-3, powerRate)
	p.head("runs per version", "test", "1 %", "2 %", "3 %", "exact at 1 %", "2 %", "3 %")
	given := stats.Noise{SD: runNoise, Method: stats.FromRepeats, DF: math.Inf(1), OK: true}
	for _, runs := range []int{3, 1} {
		known, unknown := threshold(l, runs, true), threshold(l, runs, false)
		tests := []struct {
			name string
			find func(points [][]float64) (at int, ok bool)
		}{
			{"likelihood ratio, noise known", func(points [][]float64) (int, bool) {
				x, at := ratioTest(points, true)
				return at, x > known
			}},
			{"ours, noise given", func(points [][]float64) (int, bool) {
				return found(stats.Detect(points, stats.Options{Noise: given}))
			}},
			{"likelihood ratio, noise unknown", func(points [][]float64) (int, bool) {
				x, at := ratioTest(points, false)
				return at, x > unknown
			}},
			{"ours, noise unknown", func(points [][]float64) (int, bool) {
				return found(stats.Detect(points, stats.Options{}))
			}},
		}
		results := make([]counts, 4)
		for size := 1; size <= 3; size++ {
			results[size] = l.each(fmt.Sprintf("power %d %d", runs, size), l.trials(60_000), func(r *rand.Rand, trials int, c counts) {
				points := grid(powerVersions, runs)
				for t := range trials {
					at := 3 + t%(powerVersions-5)
					sample(r, points, gaussian, runNoise, func(i int) float64 {
						if i >= at {
							return float64(size) / 100
						}
						return 0
					})
					for _, test := range tests {
						if where, ok := test.find(points); ok {
							c[test.name]++
							if where == at {
								c["exact "+test.name]++
							}
						}
					}
				}
			})
		}
		for _, test := range tests {
			cells := []string{fmt.Sprint(runs), test.name}
			for size := 1; size <= 3; size++ {
				cells = append(cells, fmt.Sprintf("%.3f", results[size].share(test.name)))
			}
			for size := 1; size <= 3; size++ {
				c := results[size]
				cells = append(cells, fmt.Sprintf("%.2f", float64(c["exact "+test.name])/math.Max(1, float64(c[test.name]))))
			}
			p.row(cells...)
		}
	}
	p.line("")
	return p.err
}

// found returns the version of the most certain lasting change at the rate of the trial.
func found(changes []stats.Change) (at int, ok bool) {
	least := powerRate
	for _, c := range changes {
		if c.P <= least && c.Shape != stats.Spike {
			least, at, ok = c.P, c.To, true
		}
	}
	return at, ok
}

func newestReport(w io.Writer, l lab) error {
	p := &printer{w: w}
	p.line("### Power for the newest version only\n")
	p.line("%d versions, noise 1 %% per run, the last version changed by 3 %%: share of series in which it is found at P ≤ the rate.\n", powerVersions)
	p.head("runs per version", "rate 0.05", "rate 0.01", "rate 0.001")
	for _, runs := range []int{1, 3, 5} {
		c := l.each(fmt.Sprint("newest ", runs), l.trials(30_000), func(r *rand.Rand, trials int, c counts) {
			points := grid(powerVersions, runs)
			for range trials {
				sample(r, points, gaussian, runNoise, func(i int) float64 {
					if i == powerVersions-1 {
						return 0.03
					}
					return 0
				})
				for _, ch := range stats.Detect(points, stats.Options{}) {
					for _, a := range levels {
						if ch.Shape == stats.Newest && ch.P <= a {
							c[fmt.Sprint(a)]++
						}
					}
				}
			}
		})
		p.row(fmt.Sprint(runs), fmt.Sprintf("%.3f", c.share("0.05")), fmt.Sprintf("%.3f", c.share("0.01")), fmt.Sprintf("%.3f", c.share("0.001")))
	}
	p.line("")
	return p.err
}

func spikeReport(w io.Writer, l lab) error {
	p := &printer{w: w}
	p.line("### Power for spikes\n")
	p.line("%d versions, Gaussian noise, one or two versions in the middle changed by a multiple of the noise of one run: share found as a spike at P ≤ 0.01. One run has to stand out far, since noise like t10 produces such runs.\n", powerVersions)
	sizes := []int{4, 6, 8, 10, 15}
	p.head("versions", "runs per version", "4 ×", "6 ×", "8 ×", "10 ×", "15 ×")
	for _, length := range []int{1, 2} {
		for _, runs := range []int{1, 3} {
			cells := []string{fmt.Sprint(length), fmt.Sprint(runs)}
			for _, size := range sizes {
				c := l.each(fmt.Sprint("spike ", length, runs, size), l.trials(12_000), func(r *rand.Rand, trials int, c counts) {
					points := grid(powerVersions, runs)
					for t := range trials {
						at := 3 + t%(powerVersions-6)
						sample(r, points, gaussian, runNoise, func(i int) float64 {
							if i >= at && i < at+length {
								return float64(size) * runNoise
							}
							return 0
						})
						for _, ch := range stats.Detect(points, stats.Options{}) {
							if ch.Shape == stats.Spike && ch.To == at && ch.Back == at+length && ch.P <= 0.01 {
								c["found"]++
							}
						}
					}
				})
				cells = append(cells, fmt.Sprintf("%.2f", c.share("found")))
			}
			p.row(cells...)
		}
	}
	p.line("")
	return p.err
}
