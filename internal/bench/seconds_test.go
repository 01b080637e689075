package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

var nan = math.NaN()

func TestBucketsKeepLeastMeanAndGreatest(t *testing.T) {
	t.Parallel()
	s := TimeSeries{StartS: 1, StepS: 1, Values: []float64{4, 8, nan, nan, nan, 6, 1, nan, 5}} // seconds 1 to 9
	for what, c := range map[string]struct {
		from, to float64
		points   int
		want     string
	}{
		"each second":                {0, 0, 9, `{"First":0,"Size":1,"Min":[4,8,null,null,null,6,1,null,5],"Mean":[4,8,null,null,null,6,1,null,5],"Max":[4,8,null,null,null,6,1,null,5]}`},
		"two a bucket":               {0, 0, 5, `{"First":0,"Size":2,"Min":[4,null,6,1,5],"Mean":[6,null,6,1,5],"Max":[8,null,6,1,5]}`},
		"the last one is shorter":    {0, 0, 3, `{"First":0,"Size":3,"Min":[4,6,1],"Mean":[6,6,3],"Max":[8,6,5]}`},
		"one bucket":                 {0, 0, 1, `{"First":0,"Size":10,"Min":[1],"Mean":[4.8],"Max":[8]}`},
		"a part":                     {6, 8, 9, `{"First":5,"Size":1,"Min":[6,1,null],"Mean":[6,1,null],"Max":[6,1,null]}`},
		"a part in whole buckets":    {6, 9, 2, `{"First":3,"Size":3,"Min":[6,1],"Mean":[6,3],"Max":[6,5]}`},
		"to the end":                 {9, 0, 9, `{"First":8,"Size":1,"Min":[5],"Mean":[5],"Max":[5]}`},
		"after the end":              {10, 0, 9, `{"First":9,"Size":1,"Min":[],"Mean":[],"Max":[]}`},
		"none given counts as one":   {0, 0, 0, `{"First":0,"Size":10,"Min":[1],"Mean":[4.8],"Max":[8]}`},
		"the wrong way round: empty": {5, 4, 9, `{"First":4,"Size":1,"Min":[],"Mean":[],"Max":[]}`},
	} {
		got, err := json.Marshal(s.Buckets(c.from, c.to, c.points))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s %v, want %s", what, got, err, c.want)
		}
		var back Buckets
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(back); !bytes.Equal(again, got) {
			t.Errorf("%s: read back as %s", what, again)
		}
	}
}

// Whatever the series, the part and the number of points: nothing but what was
// measured is in a bucket, its worst and best stay, gaps stay gaps.
func TestBucketsHoldWhatTheSeriesHolds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 3000 {
		n := r.IntN(400)
		if trial%50 == 0 {
			n = 5000 + r.IntN(20_000) // more than the sizes that are listed
		}
		s := TimeSeries{StartS: float64(r.IntN(3)) / 2, StepS: []float64{1, 2, 0.5}[r.IntN(3)], Values: make([]float64, n)}
		for i := range s.Values {
			s.Values[i] = math.Exp(10 * r.NormFloat64())
			if r.IntN(4) == 0 || i%97 < 10 {
				s.Values[i] = nan
			}
		}
		at := func(i int) float64 { return s.StartS + float64(i)*s.StepS }
		from, to := 0.0, 0.0
		if n > 0 && r.IntN(2) == 0 {
			from, to = at(r.IntN(n)), at(r.IntN(n))
			if from > to {
				from, to = to, from
			}
		}
		points := 1 + r.IntN(50)
		b := s.Buckets(from, to, points)
		if len(b.Min) > points || len(b.Min) != len(b.Max) || len(b.Min) != len(b.Mean) || b.Size < 1 || b.First%b.Size != 0 {
			t.Fatalf("%d values, %d points: %d buckets of %d from %d", n, points, len(b.Min), b.Size, b.First)
		}
		covered := make([]bool, n)
		for k := range b.Min {
			lo, hi := b.First+k*b.Size, min(b.First+(k+1)*b.Size, n)
			if lo >= hi {
				t.Fatalf("bucket %d holds no interval", k)
			}
			least, most, sum, count := math.Inf(1), math.Inf(-1), 0.0, 0.0
			for i := lo; i < hi; i++ {
				covered[i] = true
				if v := s.Values[i]; v == v {
					least, most, sum, count = min(least, v), max(most, v), sum+v, count+1
				}
			}
			if count == 0 {
				if b.Min[k] == b.Min[k] || b.Mean[k] == b.Mean[k] || b.Max[k] == b.Max[k] {
					t.Fatalf("a gap became %g, %g, %g", b.Min[k], b.Mean[k], b.Max[k])
				}
				continue
			}
			if b.Min[k] != least || b.Max[k] != most || math.Abs(b.Mean[k]-sum/count) > 1e-9*most || b.Mean[k] < least || b.Mean[k] > most {
				t.Fatalf("bucket %d is %g, %g, %g, want %g, %g, %g", k, b.Min[k], b.Mean[k], b.Max[k], least, sum/count, most)
			}
		}
		for i := range covered {
			if inside := at(i) >= from && (to == 0 || at(i) <= to); inside && !covered[i] {
				t.Fatalf("the interval at %g is in no bucket of [%g, %g]", at(i), from, to)
			}
		}
	}
}

// The same seconds stand in the same buckets whatever part is looked at.
func TestBucketsStayWherePartsMove(t *testing.T) {
	t.Parallel()
	s := TimeSeries{StartS: 1, StepS: 1, Values: make([]float64, 1000)}
	for i := range s.Values {
		s.Values[i] = float64(i * i % 997)
	}
	whole := s.Buckets(0, 0, 100)
	part := s.Buckets(301, 700, 40)
	if whole.Size != 10 || part.Size != 10 || part.First != 300 {
		t.Fatalf("%d %d %d", whole.Size, part.Size, part.First)
	}
	if !reflect.DeepEqual(part.Mean, whole.Mean[30:70]) || !reflect.DeepEqual(part.Min, whole.Min[30:70]) {
		t.Error("a bucket of a part differs from that of the whole")
	}
}

func TestSecondsAreSummedUp(t *testing.T) {
	t.Parallel()
	rates := make([]float64, 101)
	for i := range rates {
		rates[i] = 1000
	}
	rates[40], rates[70], rates[71] = 0, 499, nan
	got := NewSeconds([]RunSeries{
		{RunID: 1, TimeSeries: TimeSeries{Name: "ips", Unit: "1/s", StartS: 1, StepS: 1, Values: rates}},
		{RunID: 2, TimeSeries: TimeSeries{Name: "ips", Unit: "1/s", StartS: 2, StepS: 2, Values: []float64{400, 600, 300}}},
		{RunID: 1, TimeSeries: TimeSeries{Name: "max_insert_us", Unit: "µs", StartS: 1, StepS: 1, Values: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}},
		{RunID: 2, TimeSeries: TimeSeries{Name: "max_insert_us", Unit: "µs", StartS: 1, StepS: 1, Values: []float64{12, 11, 10}}},
		{RunID: 1, TimeSeries: TimeSeries{Name: "total_size_gb", Unit: "GB", StartS: 1, StepS: 1, Values: []float64{7, 9, 8}}},
		{RunID: 1, TimeSeries: TimeSeries{Name: "dps", Unit: "1/s", StartS: 1, StepS: 1, Values: []float64{nan}}},
	}, SecondsQuery{Base: []int64{1}, Points: 10})
	bound := (98*1000 + 499) / 100.0 / 2
	p := func(v float64) *float64 { return &v }
	want := []SecondsSummary{
		// 100 values: the 99th in descending order is 499.
		{N: 100, Average: 2 * bound, P50: p(1000), P99: p(499), Worst: 0, WorstS: 41, Bound: &bound, Beyond: 1},
		{N: 3, Average: 1300.0 / 3, Worst: 300, WorstS: 6, Bound: &bound, Beyond: 2},
		// 10 values: 99 % of 10 is 9.9, the tenth; 50 % the fifth.
		{N: 10, Average: 5.5, P50: p(5), P99: p(10), Worst: 10, WorstS: 10, Bound: p(11)},
		{N: 3, Average: 11, Worst: 12, WorstS: 1, Bound: p(11), Beyond: 1},
		{N: 3, Average: 8, Worst: 9, WorstS: 2},
		{},
	}
	for i, s := range got {
		w := want[i]
		if s.N != w.N || math.Abs(s.Average-w.Average) > 1e-9 || s.Worst != w.Worst || s.WorstS != w.WorstS || s.Beyond != w.Beyond ||
			!same(s.P50, w.P50) || !same(s.P99, w.P99) || !same(s.Bound, w.Bound) {
			t.Errorf("%d: %+v, want %+v", i, s.SecondsSummary, w)
		}
	}
}

func same(a, b *float64) bool {
	return (a == nil) == (b == nil) && (a == nil || math.Abs(*a-*b) < 1e-9)
}

// What travels gives back what was measured, to half of a multiple of the scale,
// which is at most 1/10000 of the greatest value.
func TestLinesGiveBackTheirBuckets(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 500 {
		size := math.Pow(10, float64(trial%30-15))
		s := TimeSeries{Name: "ips", StartS: 1, StepS: 1, Values: make([]float64, 300)}
		most := 0.0
		for i := range s.Values {
			s.Values[i] = r.Float64() * size
			if r.IntN(10) == 0 {
				s.Values[i] = nan
			} else {
				most = max(most, s.Values[i])
			}
		}
		seconds := NewSeconds([]RunSeries{{TimeSeries: s}}, SecondsQuery{Points: []int{60, 300}[trial%2]})[0]
		l := seconds.Line()
		if l.Scale > most/1e4*1.0000001 {
			t.Fatalf("scale %g of figures up to %g", l.Scale, most)
		}
		for i, m := range l.Mean {
			if (m == nil) != math.IsNaN(seconds.Mean[i]) {
				t.Fatalf("bucket %d: a gap came or went", i)
			}
			if m == nil {
				continue
			}
			below, above := int64(0), int64(0)
			if l.Bucket > 1 {
				below, above = *l.Below[i], *l.Above[i]
			}
			for _, x := range [][2]float64{{float64(*m), seconds.Mean[i]}, {float64(*m - below), seconds.Min[i]}, {float64(*m + above), seconds.Max[i]}} {
				if math.Abs(x[0]*l.Scale-x[1]) > 0.500001*l.Scale {
					t.Fatalf("%g travels as %g · %g", x[1], x[0], l.Scale)
				}
			}
		}
	}
}

// noisySeconds makes rates like those of the Insert Benchmark: a level with noise,
// stalls and seconds without a figure.
func noisySeconds(seed uint64, n int) TimeSeries {
	r := rand.New(rand.NewPCG(seed, 0))
	s := TimeSeries{Name: "ips", Unit: "1/s", StartS: 1, StepS: 1, Values: make([]float64, n)}
	for i := range s.Values {
		s.Values[i] = math.Round(20_000 * (1 + 0.1*r.NormFloat64()) * (1 - 0.9*r.Float64()*float64(1-min(r.IntN(30), 1))))
		if r.IntN(500) == 0 {
			s.Values[i] = nan
		}
	}
	return s
}

// Eight lines of an hour of seconds cost at most 100 KB.
func TestAnHourOfEightLinesIsSmall(t *testing.T) {
	t.Parallel()
	var list []RunSeries
	for i := range 8 {
		list = append(list, RunSeries{RunID: int64(i), TimeSeries: noisySeconds(uint64(i), 3600)})
	}
	var lines []SecondsLine
	for _, s := range NewSeconds(list, SecondsQuery{Points: 600}) {
		if len(s.Mean) != 600 || s.Size != 6 {
			t.Fatalf("%d buckets of %d", len(s.Mean), s.Size)
		}
		lines = append(lines, s.Line())
	}
	body, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(body)
	_ = z.Close()
	t.Logf("%d bytes, %d gzipped", len(body), b.Len())
	if b.Len() > 100_000 {
		t.Errorf("%d bytes gzipped", b.Len())
	}
}

func BenchmarkSeconds(b *testing.B) {
	var list []RunSeries
	for i := range 8 {
		list = append(list, RunSeries{RunID: int64(i), TimeSeries: noisySeconds(uint64(i), 3600)})
	}
	for b.Loop() {
		if got := NewSeconds(list, SecondsQuery{Points: 600, Base: []int64{0}}); len(got) != 8 {
			b.Fatal(fmt.Sprint(got))
		}
	}
}
