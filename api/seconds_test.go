package api_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// hours stores runs with a series of so many seconds each: a level with noise,
// stalls, and a second without a figure.
func (s *service) hours(runs, seconds int) (ids []int64, values [][]float64) {
	s.t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	batch := &bench.Batch{Format: "test", Files: []bench.File{{Path: "f", Format: "test", SHA256: strings.Repeat("f", 64), Size: 1, State: bench.FileTaken}}}
	for i := range runs {
		v := make([]float64, seconds)
		for k := range v {
			v[k] = math.Round(20_000 * (1 + 0.1*r.NormFloat64()))
		}
		v[seconds/3], v[seconds/2] = float64(i+1), math.NaN()
		values = append(values, v)
		x := bench.Result{
			Step: bench.Step{Name: "l.i1"}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured, Primary: "ips", PrimaryText: fmt.Sprint(20_000 + i), Text: "l.i1",
			Sources:    []bench.Source{{File: "f", Line: i + 1}},
			TimeSeries: []bench.TimeSeries{{Name: "ips", Unit: "1/s", StartS: 1, StepS: 1, Values: v}},
		}
		x.Set(bench.Value{Metric: "ips", Number: float64(20_000 + i)})
		batch.Runs = append(batch.Runs, bench.Run{
			System: bench.SystemMyRocks, Suite: bench.SuiteIBench, Server: "bee", Workload: "io", Config: fmt.Sprintf("a%d", i), Clients: 1,
			Build: bench.Build{Version: "8.0.28"}, Results: []bench.Result{x},
		})
	}
	receipt, err := s.store.Write(s.t.Context(), bench.Upload{Filename: "f", SHA256: strings.Repeat("f", 64), Bytes: []byte("f"), Actor: "test"}, batch, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range receipt.Runs {
		ids = append(ids, r.ID)
	}
	return ids, values
}

type secondsAnswer struct {
	Step   string
	Series []bench.SecondsLine
}

func (s *service) seconds(query string) secondsAnswer {
	s.t.Helper()
	var a secondsAnswer
	s.get("/api/v1/seconds?" + query).want(http.StatusOK).decode(&a)
	return a
}

func TestSecondsComeInBucketsThatKeepTheWorst(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ids, values := s.hours(2, 900)
	a := s.seconds(fmt.Sprintf("run=%d&run=%d&step=l.i1&points=100", ids[1], ids[0]))
	if a.Step != "l.i1" || len(a.Series) != 2 || a.Series[0].Run != ids[0] || a.Series[1].Run != ids[1] {
		t.Fatalf("%+v", a)
	}
	for i, l := range a.Series {
		if l.Name != "ips" || l.Unit != "1/s" || l.Bucket != 10 || l.First != 0 || len(l.Mean) != 90 || len(l.Below) != 90 || l.StartS != 1 || l.StepS != 1 || l.Intervals != 900 || l.Result == 0 {
			t.Fatalf("%+v", l)
		}
		// The stall stands in bucket 30, the missing second in bucket 45.
		if got := float64(*l.Mean[30]-*l.Below[30]) * l.Scale; got != float64(i+1) {
			t.Errorf("the stall of %d/s is %g", i+1, got)
		}
		sum := 0.0
		for _, v := range values[i][451:460] {
			sum += v
		}
		if got := float64(*l.Mean[45]) * l.Scale; math.Abs(got-sum/9) > l.Scale/2 {
			t.Errorf("mean %g of seconds with a gap, want %g", got, sum/9)
		}
	}
	// A part is given in detail: each second, and the one that is missing.
	l := s.seconds(fmt.Sprintf("run=%d&step=l.i1&name=ips&from=449&to=453", ids[0])).Series[0]
	if l.First != 448 || l.Bucket != 1 || len(l.Mean) != 5 || l.Mean[2] != nil || l.Below != nil || float64(*l.Mean[0])*l.Scale != values[0][448] {
		t.Errorf("%+v", l)
	}
	for query, n := range map[string]int{"name=dps": 0, "from=901": 1, "name=dps&name=ips": 1} {
		if got := s.seconds(fmt.Sprintf("run=%d&step=l.i1&%s", ids[0], query)); len(got.Series) != n {
			t.Errorf("%s: %d series", query, len(got.Series))
		}
	}
	if got := s.seconds("run=999999&step=l.i1"); len(got.Series) != 0 {
		t.Errorf("%+v", got)
	}
	for query, where := range map[string]string{
		"step=l.i1": "query.run", "run=1": "query.step", "run=1&step=x&points=0": "query.points", "run=1&step=x&points=4001": "query.points", "run=x&step=x": "query.run",
		"run=1&step=x&from=9&to=3": "query.to", "run=1&step=x&from=-1": "query.from", "step=x" + strings.Repeat("&run=1", 25): "query.run",
	} {
		p := s.get("/api/v1/seconds?" + query).problem(http.StatusBadRequest)
		if len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Location, where) {
			t.Errorf("%s: %+v", query, p)
		}
	}
}

// What an hour of eight lines costs on the wire, as it is served.
func TestAnHourOfEightLinesCostsLittleOnTheWire(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ids, _ := s.hours(8, 3600)
	address := s.url + "/api/v1/seconds?step=l.i1"
	for _, id := range ids {
		address += fmt.Sprintf("&run=%d", id)
	}
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	a := s.send(req)
	if a.status != http.StatusOK || a.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%d, encoded as %q", a.status, a.header.Get("Content-Encoding"))
	}
	t.Logf("%d bytes", len(a.body))
	if len(a.body) > 100_000 {
		t.Errorf("%d bytes", len(a.body))
	}
}
