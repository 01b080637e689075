package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchSeries draws a series of single samples; every third has a step, every sixth a
// spike too.
func benchSeries(r *rand.Rand, k, n int) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		v := 0.01 * r.NormFloat64()
		if k%3 == 0 && i >= n/3 {
			v += 0.05
		}
		if k%6 == 0 && i == 2*n/3 {
			v -= 0.4
		}
		points[i] = []float64{v}
	}
	return points
}

// BenchmarkDetectTable is one version report: 60 series of 30 versions.
func BenchmarkDetectTable(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	table := make([][][]float64, 60)
	for k := range table {
		table[k] = benchSeries(r, k, 30)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, points := range table {
			Detect(points, Options{})
		}
	}
}

func BenchmarkDetectSeries(b *testing.B) {
	for _, n := range []int{30, 80, 1000} {
		for k, name := range []string{"changed", "unchanged"} {
			points := benchSeries(rand.New(rand.NewPCG(1, 2)), k, n)
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Detect(points, Options{})
				}
			})
		}
	}
}

// BenchmarkDetectMillion takes b.N series of 30 versions on all processors: a million
// are to take less than 60 s on two, 60 µs each.
func BenchmarkDetectMillion(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	series := make([][][]float64, 600)
	for k := range series {
		series[k] = benchSeries(r, k, 30)
	}
	b.RunParallel(func(pb *testing.PB) {
		for k := 0; pb.Next(); k++ {
			Detect(series[k%len(series)], Options{})
		}
	})
}

func BenchmarkAnalyse(b *testing.B) {
	points := benchSeries(rand.New(rand.NewPCG(1, 2)), 0, 30)
	b.ReportAllocs()
	for b.Loop() {
		Analyse(points, Options{})
	}
}
