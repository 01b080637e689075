package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// benchMetrics are those of a row of report.tsv.
var benchMetrics = []string{"qps", "mb_per_s", "usec_per_op", "p50", "p99", "p99_9", "p99_99", "max", "db_size_gb", "blob_size_gb",
	"compaction_write_gb", "write_amp", "compaction_write_mb_per_s", "compaction_wall_s", "compaction_cpu_s", "blob_read_gb", "blob_write_gb",
	"uptime_s", "stall_percent", "stall_count", "user_cpu_s", "system_cpu_s", "rss_gb"}

// archive is a file of the size of a published one: versions times ten steps
// of a workload, as in sum.byrx.*; no two calls with other numbers overlap.
func archive(file string, number, versions int) (*bench.Batch, int) {
	steps := []string{"fillseq.wal_disabled.v400", "revrange.t1", "readrandom.t8", "fwdrange.t8", "multireadrandom.t8",
		"revrangewhilewriting.t36", "fwdrangewhilewriting.t36", "readwhilewriting.t36", "overwritesome.t8.s0", "overwriteandwait.t8.s0"}
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, number, 0)
	b := batch(file)
	values := 0
	for v := range versions {
		run := c2(fmt.Sprintf("%d.%d.%d", 4+v/20, v%20, v%3))
		for i, step := range steps {
			at := start.Add(time.Duration(v*2+i) * 7 * time.Minute)
			qps := fmt.Sprint(1000000 + (number*7919+v*104729+i*1299709)%500000)
			r := row(file, v*10+i, step, at.Format("2006-01-02T15:04:05"), qps)
			for k, m := range benchMetrics[1:] {
				r.Values = append(r.Values, bench.Value{Metric: m, Number: float64(k*v) + 0.5, Resolution: 0.1, SourceName: m})
			}
			values += len(r.Values)
			run.Results = append(run.Results, r)
		}
		b.Runs = append(b.Runs, run)
	}
	return b, values
}

func benchmarkWrite(b *testing.B, versions int) {
	s, _ := setup(b)
	values, n := 0, 0
	for b.Loop() {
		b.StopTimer()
		file := fmt.Sprint("f", n)
		data, k := archive(file, n, versions)
		n++
		b.StartTimer()
		if _, err := s.Write(b.Context(), upload(file, file), data, nil); err != nil {
			b.Fatal(err)
		}
		values += k
	}
	b.ReportMetric(float64(values)/b.Elapsed().Seconds(), "values/s")
}

// BenchmarkWriteArchive writes files of 79 versions, 18,170 values each, of
// which each adds a sample to every point.
func BenchmarkWriteArchive(b *testing.B) { benchmarkWrite(b, 79) }

// BenchmarkWriteRun writes files of one run, 230 values each.
func BenchmarkWriteRun(b *testing.B) { benchmarkWrite(b, 1) }

// BenchmarkSeries reads three series of 80 versions.
func BenchmarkSeries(b *testing.B) {
	s, _ := setup(b)
	data, _ := archive("a", 0, 80)
	if _, err := s.Write(b.Context(), upload("a", "a"), data, nil); err != nil {
		b.Fatal(err)
	}
	f := bench.SeriesFilter{System: "rocksdb", Servers: []string{"c2"}, Steps: []string{"fillseq", "readrandom", "readwhilewriting"}, Metric: "qps"}
	for b.Loop() {
		got, err := s.Series(b.Context(), f)
		if err != nil || len(got) != 3 || len(got[0].Points) != 80 {
			b.Fatal(len(got), err)
		}
	}
}

// BenchmarkFacets reads what the selectors offer.
func BenchmarkFacets(b *testing.B) {
	s, _ := setup(b)
	data, _ := archive("a", 0, 80)
	if _, err := s.Write(b.Context(), upload("a", "a"), data, nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Facets(b.Context(), bench.SeriesFilter{}); err != nil {
			b.Fatal(err)
		}
	}
}
