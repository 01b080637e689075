package postgres_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestSecondsOfRuns(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	one, two, other, lost := row("a", 1, "fillseq.t8", day1, "5"), row("b", 1, "fillseq.t8", day2, "6"), row("a", 2, "readrandom", day1, "7"), row("a", 3, "fillseq", day2, "8")
	one.TimeSeries = []bench.TimeSeries{
		{Name: "qps", Unit: "1/s", StartS: 1, StepS: 1, Values: []float64{4, math.NaN(), 2, 9}},
		{Name: "p99", Unit: "µs", StartS: 1, StepS: 1, Values: []float64{3}},
	}
	two.TimeSeries = []bench.TimeSeries{{Name: "qps", Unit: "1/s", StartS: 2, StepS: 2, Values: []float64{1, 3, 1}}}
	other.TimeSeries = []bench.TimeSeries{{Name: "qps", Unit: "1/s", StartS: 1, StepS: 1, Values: []float64{1}}}
	lost.State, lost.Reason, lost.Primary, lost.Values = bench.StateFailed, "crashed", "", nil
	lost.TimeSeries = other.TimeSeries
	a := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", one, other, lost))).Runs[0].ID
	b := mustWrite(t, s, upload("b", "b"), batch("b", c2("8.9.1", two))).Runs[0].ID

	read := func(q bench.SecondsQuery) string {
		t.Helper()
		list, err := s.Seconds(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, x := range list {
			buckets, err := json.Marshal(x.Buckets)
			if err != nil {
				t.Fatal(err)
			}
			who := map[int64]string{a: "a", b: "b"}[x.RunID]
			text += who + " " + x.Name + " " + string(buckets) + "\n"
			if x.Threads != 8 || x.ResultID == 0 {
				t.Errorf("%+v", x)
			}
		}
		return text
	}
	q := bench.SecondsQuery{Runs: []int64{b, a, 999}, Step: "fillseq", Points: 2}
	want := `a p99 {"First":0,"Size":1,"Min":[3],"Mean":[3],"Max":[3]}
a qps {"First":0,"Size":2,"Min":[4,2],"Mean":[4,5.5],"Max":[4,9]}
b qps {"First":0,"Size":2,"Min":[1,1],"Mean":[2,1],"Max":[3,1]}
`
	if got := read(q); got != want {
		t.Errorf("%s", got)
	}
	q.Names, q.From, q.To, q.Runs = []string{"qps"}, 3, 3, []int64{a}
	if got := read(q); got != "a qps {\"First\":2,\"Size\":1,\"Min\":[2],\"Mean\":[2],\"Max\":[2]}\n" {
		t.Errorf("%s", got)
	}
	// Summaries are of the whole, whatever part is shown.
	q.Base = []int64{a}
	list, err := s.Seconds(t.Context(), q)
	if err != nil || list[0].N != 3 || list[0].Average != 5 || list[0].Worst != 2 || list[0].WorstS != 3 || *list[0].Bound != 2.5 || list[0].Beyond != 1 || list[0].Intervals != 4 {
		t.Errorf("%+v %v", list, err)
	}
	if err := s.WithdrawRun(t.Context(), a, "wrong", "me", nil); err != nil {
		t.Fatal(err)
	}
	if got := read(bench.SecondsQuery{Runs: []int64{a}, Step: "fillseq", Points: 9}); got != "" {
		t.Errorf("withdrawn: %s", got)
	}
}
