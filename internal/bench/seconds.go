package bench

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// SecondsPointsMax bounds the buckets of a line that [SecondsQuery] may ask for.
const SecondsPointsMax = 4000

// SecondsQuery asks for the figures over time of one step of runs.
type SecondsQuery struct {
	Runs  []int64
	Step  string
	Names []string // of series: ips, max_insert_us; empty for all
	// From and To bound what is given, in seconds since the step began, both
	// inclusive: the intervals that end within. To 0 is the end of the step.
	From, To float64
	Points   int // at most so many buckets a line, see [TimeSeries.Buckets]
	// Base are the runs whose average sets [SecondsSummary.Bound].
	Base []int64
}

// RunSeries is a time series of a result.
type RunSeries struct {
	RunID, ResultID int64
	Threads         int // of the step, 0 unknown
	TimeSeries
}

// Seconds is a time series of a result as [NewSeconds] makes it: what the whole
// of it amounts to, and a part of it in buckets.
type Seconds struct {
	RunID, ResultID int64
	Threads         int
	Name, Unit      string
	StartS, StepS   float64 // as [TimeSeries] has them
	Intervals       int     // of the whole series
	Buckets
	SecondsSummary
}

// Gapped is a list of numbers in which NaN stands for a missing one; in JSON it is
// null.
type Gapped []float64

// MarshalJSON writes null for NaN.
func (g Gapped) MarshalJSON() ([]byte, error) {
	out := make([]*float64, len(g))
	for i := range g {
		if !math.IsNaN(g[i]) {
			out[i] = &g[i]
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON is the inverse of [Gapped.MarshalJSON].
func (g *Gapped) UnmarshalJSON(text []byte) error {
	var in []*float64
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*g = make(Gapped, len(in))
	for i, v := range in {
		(*g)[i] = math.NaN()
		if v != nil {
			(*g)[i] = *v
		}
	}
	return nil
}

// Buckets is a stretch of a time series in pieces of Size values each. Piece b
// covers the values First + b·Size to First + (b+1)·Size − 1 of the series, the
// last one those that there are. A piece without a value is NaN in all three
// lists.
type Buckets struct {
	First, Size    int
	Min, Mean, Max Gapped
}

// bucketSizes are the lengths of buckets that people count in.
var bucketSizes = []int{1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600}

// Buckets gives the part of a series whose intervals end within [from, to] seconds
// (to 0: all from there on) in at most points buckets, at least one.
//
// Of a bucket's values v₁ … vₙ, missing ones left out, it keeps least, greatest
// and mean (v₁ + … + vₙ) / n. So no stall and no peak is ever lost to thinning, and
// the mean of a bucket with gaps is that of what was measured in it. The size is the
// least of 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60 … values that needs no more
// than points buckets; buckets begin at multiples of it whatever the part, so that
// the same seconds always stand in the same bucket, and those of several series
// stand above each other.
func (t TimeSeries) Buckets(from, to float64, points int) Buckets {
	at := func(i int) float64 { return t.StartS + float64(i)*t.StepS }
	lo, hi := 0, len(t.Values)-1
	for lo <= hi && at(lo) < from {
		lo++
	}
	for to > 0 && hi >= lo && at(hi) > to {
		hi--
	}
	if lo > hi {
		return Buckets{First: min(lo, len(t.Values)), Size: 1, Min: Gapped{}, Mean: Gapped{}, Max: Gapped{}}
	}
	points = max(points, 1)
	size := 0
	fits := func(k int) bool { return hi/k-lo/k+1 <= points }
	for _, k := range bucketSizes {
		if fits(k) {
			size = k
			break
		}
	}
	for k := 2 * bucketSizes[len(bucketSizes)-1]; size == 0; k *= 2 {
		// A part that lies across a multiple of every size takes two buckets: one
		// that holds the whole series ends the search.
		if fits(k) {
			size = k
		} else if k > len(t.Values) {
			size, lo = len(t.Values), 0
		}
	}
	first := lo / size * size
	n := hi/size - lo/size + 1
	b := Buckets{First: first, Size: size, Min: make(Gapped, n), Mean: make(Gapped, n), Max: make(Gapped, n)}
	for i := range n {
		from := first + i*size
		b.Min[i], b.Mean[i], b.Max[i] = extent(t.Values[from:min(from+size, len(t.Values))])
	}
	return b
}

// extent gives least, mean and greatest of what is not missing, NaN for nothing.
func extent(values []float64) (least, mean, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	// The mean of a running sum overflows where the values are near the greatest
	// number; that of differences does not.
	n := 0.0
	for _, v := range values {
		if missing(v) {
			continue
		}
		n++
		mean += (v - mean) / n
		least, most = math.Min(least, v), math.Max(most, v)
	}
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	// Rounding must not carry the mean out of the range.
	return least, math.Min(most, math.Max(least, mean)), most
}

func missing(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// SecondsDirection says which way of a series over time is better: rates higher,
// times lower, sizes neither.
func SecondsDirection(name, unit string) Direction {
	switch {
	case unit == "1/s":
		return HigherBetter
	case unit == "µs" || strings.HasSuffix(name, "_us"):
		return LowerBetter
	}
	return Neutral
}

// SecondsSummary is what all intervals of a series amount to. With N 0 the rest
// says nothing.
type SecondsSummary struct {
	N       int // intervals with a value
	Average float64
	// P50 and P99 are what 50 and 99 of 100 intervals reach, see [Reached]; of times
	// what they stay within. nil of fewer than 10 intervals and where neither way is
	// better.
	P50, P99 *float64
	// Worst is the least of rates and the greatest of other figures, WorstS the end of
	// the first interval that has it, in seconds since the step began.
	Worst, WorstS float64
	// Bound is half of the average of the base's intervals, of times twice that; Beyond counts the intervals below, of times above it. Bound is nil without a
	// base and where neither way is better.
	Bound  *float64
	Beyond int
}

// What [SecondsSummary.Bound] is of the base's average.
const (
	secondsSlow = 0.5
	secondsLong = 2.0
)

// Reached gives the rate that a percentage of the intervals reaches: of the rates
// in descending order the one at that place, counted from 1 and rounded to even, as
// the Insert Benchmark's scripts do. Fewer than 10 give none.
func Reached(rates []float64, percent int) (float64, bool) {
	n := len(rates)
	if n < 10 {
		return 0, false
	}
	sorted := slices.Clone(rates)
	slices.Sort(sorted)
	place := percent * n / 100
	if rest := percent * n % 100; rest > 50 || rest == 50 && place%2 == 1 {
		place++
	}
	return sorted[n-max(place, 1)], true
}

// summary sums up a series.
func (t TimeSeries) summary() SecondsSummary {
	var s SecondsSummary
	values := slices.DeleteFunc(slices.Clone(t.Values), missing)
	if s.N = len(values); s.N == 0 {
		return s
	}
	direction := SecondsDirection(t.Name, t.Unit)
	least, mean, most := extent(values)
	s.Average, s.Worst = mean, most
	if direction == HigherBetter {
		s.Worst = least
	}
	s.WorstS = t.StartS + float64(slices.Index(t.Values, s.Worst))*t.StepS
	if direction == Neutral {
		return s
	}
	sign := 1.0
	if direction == LowerBetter {
		sign = -1
		for i := range values {
			values[i] = -values[i]
		}
	}
	reached := func(percent int) *float64 {
		v, ok := Reached(values, percent)
		v *= sign
		if !ok {
			return nil
		}
		return &v
	}
	s.P50, s.P99 = reached(50), reached(99)
	return s
}

// NewSeconds answers a query from whole series: each is summed up, and the part
// that is asked for is put into buckets. The order stays.
func NewSeconds(list []RunSeries, q SecondsQuery) []Seconds {
	out := make([]Seconds, 0, len(list))
	type total struct{ sum, n float64 }
	base := map[string]total{}
	for _, t := range list {
		s := Seconds{
			RunID: t.RunID, ResultID: t.ResultID, Threads: t.Threads, Name: t.Name, Unit: t.Unit, StartS: t.StartS, StepS: t.StepS,
			Intervals: len(t.Values), Buckets: t.Buckets(q.From, q.To, q.Points), SecondsSummary: t.summary(),
		}
		if slices.Contains(q.Base, t.RunID) && s.N > 0 {
			b := base[t.Name]
			b.sum, b.n = b.sum+s.Average*float64(s.N), b.n+float64(s.N)
			base[t.Name] = b
		}
		out = append(out, s)
	}
	for i := range out {
		s := &out[i]
		b, direction := base[s.Name], SecondsDirection(s.Name, s.Unit)
		if b.n == 0 || direction == Neutral || s.N == 0 {
			continue
		}
		bound := secondsSlow * b.sum / b.n
		beyond := func(v float64) bool { return v < bound }
		if direction == LowerBetter {
			bound = secondsLong * b.sum / b.n
			beyond = func(v float64) bool { return v > bound }
		}
		s.Bound = &bound
		for _, v := range list[i].Values {
			if !missing(v) && beyond(v) {
				s.Beyond++
			}
		}
	}
	return out
}

// SecondsLine is the buckets of a series in the form in which they travel: whole
// numbers in multiples of Scale, which is a power of ten that leaves the greatest
// five digits. Bucket b covers Bucket intervals, of which the first ends
// start_s + (first + b·bucket)·step_s seconds after the step began. Its mean is
// mean[b]·scale, its least value (mean[b] − below[b])·scale, its greatest
// (mean[b] + above[b])·scale; null is a bucket without a value. With one interval a
// bucket the three are the same, and below and above are left out.
type SecondsLine struct {
	Run       int64    `json:"run"`
	Result    int64    `json:"result"`
	Name      string   `json:"name"`
	Unit      string   `json:"unit"`
	StartS    float64  `json:"start_s"`
	StepS     float64  `json:"step_s" doc:"length of an interval in seconds"`
	Intervals int      `json:"intervals" doc:"of the whole series"`
	First     int      `json:"first" doc:"index of the interval that the first bucket begins with"`
	Bucket    int      `json:"bucket" doc:"intervals in a bucket"`
	Scale     float64  `json:"scale" doc:"what 1 stands for in the lists"`
	Mean      []*int64 `json:"mean" doc:"null: nothing measured in the bucket"`
	Below     []*int64 `json:"below,omitempty" doc:"mean less the least value; absent where a bucket is one interval"`
	Above     []*int64 `json:"above,omitempty" doc:"greatest value less the mean"`
}

// Line gives the buckets in the form in which they travel.
func (s Seconds) Line() SecondsLine {
	l := SecondsLine{
		Run: s.RunID, Result: s.ResultID, Name: s.Name, Unit: s.Unit, StartS: s.StartS, StepS: s.StepS,
		Intervals: s.Intervals, First: s.First, Bucket: s.Size, Scale: 1, Mean: []*int64{},
	}
	most := 0.0
	for i := range s.Mean {
		if !math.IsNaN(s.Min[i]) {
			most = math.Max(most, math.Max(math.Abs(s.Min[i]), math.Abs(s.Max[i])))
		}
	}
	exponent := 0
	if most > 0 {
		exponent = int(math.Floor(math.Log10(most))) - 4
	}
	if exponent < -300 { // next to nothing, and beyond what powers there are
		exponent = 0
	}
	l.Scale = math.Pow10(exponent)
	whole := func(v float64) int64 {
		// Divided by a power that is exact where it can be: 0.001 is not, 1000 is.
		if exponent < 0 {
			return int64(math.Round(v * math.Pow10(-exponent)))
		}
		return int64(math.Round(v / l.Scale))
	}
	for i, mean := range s.Mean {
		if math.IsNaN(mean) {
			l.Mean = append(l.Mean, nil)
			if s.Size > 1 {
				l.Below, l.Above = append(l.Below, nil), append(l.Above, nil)
			}
			continue
		}
		m := whole(mean)
		l.Mean = append(l.Mean, &m)
		if s.Size > 1 {
			below, above := m-whole(s.Min[i]), whole(s.Max[i])-m
			l.Below, l.Above = append(l.Below, &below), append(l.Above, &above)
		}
	}
	return l
}
