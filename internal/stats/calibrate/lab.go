package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
)

// lab runs trials. Trials are cut into blocks with a random stream each, so that the
// result does not depend on how many processors share them.
type lab struct {
	seed  uint64
	scale float64
}

// trials scales a number of trials.
func (l lab) trials(n int) int { return max(int(float64(n)*l.scale), blockSize) }

const blockSize = 600 // a multiple of 60, the size of a table

// counts are named numbers of events.
type counts map[string]int

// each calls f for every block of a number of trials and adds up what it counts. The
// name makes the streams of two experiments differ.
func (l lab) each(name string, trials int, f func(r *rand.Rand, trials int, c counts)) counts {
	total := counts{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	blocks := (trials + blockSize - 1) / blockSize
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for b := range next {
				c := counts{}
				f(rand.New(rand.NewPCG(l.seed+hash(name), uint64(b))), min(blockSize, trials-b*blockSize), c)
				mu.Lock()
				for k, v := range c {
					total[k] += v
				}
				mu.Unlock()
			}
		})
	}
	for b := range blocks {
		next <- b
	}
	close(next)
	wg.Wait()
	total["trials"] = trials
	return total
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// noise draws values with mean 0 and variance 1.
type noise struct {
	name string
	draw func(r *rand.Rand) float64
}

var (
	gaussian = noise{"Gaussian", func(r *rand.Rand) float64 { return r.NormFloat64() }}
	heavy10  = noise{"t10", func(r *rand.Rand) float64 { return student(r, 10) }}
	heavy5   = noise{"t5", func(r *rand.Rand) float64 { return student(r, 5) }}
	heavy3   = noise{"t3", func(r *rand.Rand) float64 { return student(r, 3) }}
)

// student draws from Student's t with nu degrees of freedom, scaled to variance 1. Two
// degrees of freedom of the chi-square make an exponential variable.
func student(r *rand.Rand, nu int) float64 {
	u := 1.0
	for range nu / 2 {
		u *= 1 - r.Float64()
	}
	chi2 := -2 * math.Log(u)
	if nu%2 == 1 {
		z := r.NormFloat64()
		chi2 += z * z
	}
	return r.NormFloat64() * math.Sqrt(float64(nu-2)/chi2)
}

// sample fills points with noise of standard deviation sd around mean(i).
func sample(r *rand.Rand, points [][]float64, n noise, sd float64, mean func(i int) float64) {
	for i := range points {
		for j := range points[i] {
			points[i][j] = sd*n.draw(r) + mean(i)
		}
	}
}

func unchanged(int) float64 { return 0 }

func grid(n, repeats int) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, repeats)
	}
	return points
}

// printer remembers the first error of its writes.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// head prints the first two lines of a Markdown table, numbers to the right.
func (p *printer) head(columns ...string) {
	rule := make([]string, len(columns))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = "---"
	p.line("| %s |", strings.Join(columns, " | "))
	p.line("|%s|", strings.Join(rule, "|"))
}

func (p *printer) row(cells ...string) { p.line("| %s |", strings.Join(cells, " | ")) }

// share is a number of events per trial.
func (c counts) share(name string) float64 { return float64(c[name]) / float64(c["trials"]) }

// ratio is the share of events over what is stated, with its standard error.
func (c counts) ratio(name string, stated float64) string {
	p := c.share(name)
	se := math.Sqrt(p*(1-p)/float64(c["trials"])) / stated
	return fmt.Sprintf("%.2f ± %.2f", p/stated, se)
}
