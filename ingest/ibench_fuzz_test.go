package ingest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// fuzzIBench reads any bytes under names that the Insert Benchmark's files have;
// each reader must keep its promises.
func fuzzIBench(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	flags := bench.Context{System: "myrocks", Server: "s1", Workload: "io", Version: "8.0.28"}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Read(data, name, flags, Limits{Bytes: 8 << 20})
		if err != nil {
			return
		}
		sane(t, data, b)
		for i := range b.Runs {
			for j := range b.Runs[i].Results {
				r := &b.Runs[i].Results[j]
				if what := implausibleResult(r); what != "" {
					t.Errorf("%s", what)
				}
				for _, s := range r.TimeSeries {
					if len(s.Values) > 8*len(data)+256 {
						t.Errorf("a series of %d from %d bytes", len(s.Values), len(data))
					}
				}
				for _, h := range r.Histograms {
					for _, p := range h.Percents {
						if !(p >= 0 && p <= 100) {
							t.Errorf("a share of %g %%", p)
						}
					}
				}
			}
		}
		_ = Check(b)
	})
}

func FuzzIBenchMetrics(f *testing.F) {
	rel := ibenchHeader + strings.Repeat("\n1.00"+strings.Repeat("\t0.99", 17)+"\tinf\tNA\t"+ibenchTagA0, 2)
	fuzzIBench(f, "mrg.l.i1.tsv", ibenchTableText(), "l.i1\n"+ibenchTableText()+"\n-\nq100.1\n"+ibenchHeader+"\n"+ibenchQuery+"\tmy5649.cx6d\n", rel,
		"dbms\tl.i1\tq100.1\n"+ibenchTagA0+"\t1\t2\ntarget\t1\t100\n", "ips qps rps rkbps wkbps rpq rkbpq wkbpq csps cpups cspq cpupq tag\n1 2 3 4 5 6 7 8 9 10 11 12 a.b\n")
}

func FuzzIBenchTimes(f *testing.F) {
	fuzzIBench(f, "mrg.q100.1.rt.query.tsv", ibenchRTHeader+"\n"+ibenchShares+"\t"+ibenchTagA0+"\n-\n\t\t100\t\t\t\t\t\t\t\t99.9\t"+ibenchTagA1+"\n")
}

func FuzzIBenchPage(f *testing.F) {
	fuzzIBench(f, "all.html", ibenchPageText(), "<html>insert benchmark<h1 id=l.x.metrics><pre>\n"+ibenchTableText())
}

func FuzzIBenchClient(f *testing.F) {
	f.Add([]byte(clientText(100, 200, 300)))
	fuzzIBench(f, "a0/q.L1.ips100/o.ib.dop1.1", localRun(f, "a0")["a0/q.L1.ips100/o.ib.dop1.1"], localRun(f, "a0")["a0/l.x/o.ib.dop1.1"], clientText(1, 2)[:200])
}

func FuzzIBenchStep(f *testing.F) {
	fuzzIBench(f, "a0/l.i1/o.res.dop1", stepSummaryText, ibenchRTHeader+"\n1\t1\t2\t3\t0\t0\t0\t0\t0\t0\t0.002\tsum:DBMS\n")
}

// manySeconds gives the output of a client over n seconds.
func manySeconds(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", clientCommand, clientHeaderText)
	total := 0
	for i := range n {
		ips := 20000 + i*7919%5000
		total += ips
		fmt.Fprintf(&b, "1.0\t%d.0\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t0\t0\t0\n", i+1, ips, total/(i+1), ips, total/(i+1), 2000+i%500, 2200, 10000+i%90000, 9000+i%80000, 500+i%3000, total, total, 2200*(i+1))
	}
	fmt.Fprintf(&b, "Totals: %d.0 secs, %.1f rows/sec, %d rows, 0 0 0 insert-delete-query retry\nDone\n", n, float64(total)/float64(n), total)
	return b.String()
}

func TestLongOutputsAreReadWhole(t *testing.T) {
	t.Parallel()
	const seconds = 86400
	_, r := oneResult(t, readFiles(t, map[string]string{"a0/l.i1/o.ib.dop1.1": manySeconds(seconds)}, ibenchLocal))
	s := seriesNamed(t, r, "ips")
	if len(s.Values) != seconds || math.Abs(s.StepS-1) > 1e-9 || s.Values[seconds-1] != float64(20000+(seconds-1)*7919%5000) {
		t.Errorf("%d values, step %g", len(s.Values), s.StepS)
	}
}

// BenchmarkIBenchClient reads a client's output; the budget is 100 MB/s.
func BenchmarkIBenchClient(b *testing.B) {
	data := []byte(manySeconds(200_000))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		batch, err := Read(data, "a0/l.i1/o.ib.dop1.1", ibenchLocal, Limits{})
		if err != nil || len(batch.Runs) != 1 {
			b.Fatal(err, batch)
		}
	}
}

// BenchmarkIBenchMetrics reads a metrics table.
func BenchmarkIBenchMetrics(b *testing.B) {
	var text strings.Builder
	text.WriteString(ibenchHeader + "\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "%s\tmy8028_rel.cx%d_bee\n", ibenchInsert, i)
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		batch, err := Read(data, "mrg.l.i1", ibenchIO, Limits{})
		if err != nil || len(batch.Runs) != 20_000 {
			b.Fatal(err)
		}
	}
}
