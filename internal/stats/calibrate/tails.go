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

// quantiles draws a statistic many times and returns what the given shares exceed.
func (l lab) quantiles(name string, trials int, shares []float64, draw func(r *rand.Rand) float64) []float64 {
	var mu sync.Mutex
	var all []float64
	l.each(name, l.trials(trials), func(r *rand.Rand, trials int, _ counts) {
		xs := make([]float64, trials)
		for i := range xs {
			xs[i] = draw(r)
		}
		mu.Lock()
		all = append(all, xs...)
		mu.Unlock()
	})
	slices.Sort(all)
	q := make([]float64, len(shares))
	for i, s := range shares {
		q[i] = all[min(int(float64(len(all))*(1-s)), len(all)-1)]
	}
	return q
}

// tailReport compares the analytic bounds of detection with simulation: the statistic
// that a share of unchanged series exceeds is put into the bound, and the result
// divided by the share.
func tailReport(w io.Writer, l lab) error {
	p := &printer{w: w}
	shares := []float64{0.05, 0.01, 0.001, 0.0001}
	p.line("### Largest statistic of a step with at least three versions on both sides: bound over simulated rate\n")
	p.head("noise", "versions", "0.05", "0.01", "0.001", "0.0001")
	for _, n := range []noise{gaussian, heavy10} {
		for _, versions := range []int{9, 15, 20, 30, 80} {
			q := l.quantiles(fmt.Sprint("step ", n.name, versions), 1_000_000, shares, func(r *rand.Rand) float64 {
				return largestStep(r, n, versions, 3)
			})
			cells := []string{n.name, fmt.Sprint(versions)}
			for i, s := range shares {
				cells = append(cells, fmt.Sprintf("%.2f", stats.StepBound(q[i], versions, 3)/s))
			}
			p.row(cells...)
		}
	}
	p.line("\n### Statistic of a few samples against the rest: bound over simulated rate\n")
	p.head("noise", "samples", "degrees of freedom", "0.05", "0.01", "0.001", "0.0001")
	for _, n := range []noise{gaussian, heavy10} {
		for _, few := range []int{1, 2, 3, 5, 8} {
			for _, nu := range []int{7, 13, 28, 78} {
				q := l.quantiles(fmt.Sprint("few ", n.name, few, nu), 1_000_000, shares, func(r *rand.Rand) float64 {
					return firstAgainstRest(r, n, few, nu+2)
				})
				cells := []string{n.name, fmt.Sprint(few), fmt.Sprint(nu)}
				for i, s := range shares {
					cells = append(cells, fmt.Sprintf("%.2f", stats.FewBound(q[i], float64(nu), float64(few))/s))
				}
				p.row(cells...)
			}
		}
	}
	p.line("")
	return p.err
}

// largestStep draws an unchanged series with one sample a version and returns the largest
// t statistic of a step that leaves at least side versions on both sides.
func largestStep(r *rand.Rand, n noise, versions, side int) float64 {
	var sum, square float64
	xs := make([]float64, versions)
	for i := range xs {
		xs[i] = n.draw(r)
		sum += xs[i]
		square += xs[i] * xs[i]
	}
	all := float64(versions)
	var before, best float64
	for k := 1; k < versions; k++ {
		before += xs[k-1]
		if k < side || k > versions-side {
			continue
		}
		a := float64(k)
		d := before/a - (sum-before)/(all-a)
		best = math.Max(best, d*d*a*(all-a)/all)
	}
	return math.Sqrt(best / (square - sum*sum/all - best) * (all - 2))
}

// firstAgainstRest draws samples and returns the t statistic of the first few of them.
func firstAgainstRest(r *rand.Rand, n noise, few, samples int) float64 {
	var sum, square, first float64
	for i := range samples {
		x := n.draw(r)
		sum += x
		square += x * x
		if i < few {
			first += x
		}
	}
	a, all := float64(few), float64(samples)
	d := first/a - (sum-first)/(all-a)
	gain := d * d * a * (all - a) / all
	return math.Sqrt(gain / (square - sum*sum/all - gain) * (all - 2))
}

// tableReport prints bimodalDistance.
func tableReport(w io.Writer, l lab) error {
	p := &printer{w: w}
	for n := 4; n <= 30; n++ {
		q := l.quantiles(fmt.Sprint("modes ", n), 200_000, []float64{0.01}, func(r *rand.Rand) float64 {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = r.Float64()
			}
			return stats.GroupDistance(xs)
		})
		p.line("%d: %.2f,", n, q[0])
	}
	return p.err
}
