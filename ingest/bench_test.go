package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

const headerR5 = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash"

// manyRows gives a report of n rows: the eight measuring steps of one version
// after another, as many versions in turn.
func manyRows(n int) []byte {
	tests := []string{"fillseq.wal_disabled.v400", "readrandom.t8", "fwdrange.t8", "multireadrandom.t8", "revrangewhilewriting.t8", "fwdrangewhilewriting.t8", "readwhilewriting.t8", "overwriteandwait.t8.s0"}
	var b strings.Builder
	b.WriteString(headerR5 + "\n")
	start := time.Date(2023, 9, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; i < n; i++ {
		started := start.Add(time.Duration(i) * 31 * time.Minute)
		fmt.Fprintf(&b, "%d\t%.1f\t16GB\t0GB\t15.9\t2.0\t%d.5\t33\t31\t0\t0\t%.1f\t0.5\t%d\t8\t%d\t%d\t1800\t%.1f\t%d\t0.1\t0.0\t16.9\t%s\t%s\t%d.%d.%d\t\t%010x\n",
			1000000+i*7919%900000, 400+float64(i%997)/10, i%900, 1+float64(i%50)/10, 1+i%9, 20+i%70, 4000+i%50000, float64(i%300)/10, i%90,
			tests[i%len(tests)], started.Format("2006-01-2T15:04:05"), 6+i/len(tests)%3, i/len(tests)%29, i/len(tests)%7, i/len(tests)%600)
	}
	return []byte(b.String())
}

// BenchmarkReport reads report.tsv; the budget is 100 MB/s.
func BenchmarkReport(b *testing.B) {
	data := manyRows(50_000)
	flags := bench.Context{Server: "s1", Workload: "cached", Compiler: "gcc"}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		batch, err := Read(data, "report.tsv", flags, Limits{})
		if err != nil || len(batch.Runs) == 0 {
			b.Fatal(err, batch)
		}
	}
}
