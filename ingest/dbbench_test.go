package ingest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// logFixture gives a log of testdata/dbbench. The raw.* and db_bench_* files
// were printed by db_bench 7.8.3, 7.10.2 and 9.8.4 on a small machine, in all
// manners that flags can bring about; the figures in the tests below were read
// from them with grep and awk, after tr '\r' '\n'.
func logFixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "dbbench", name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// readOne reads one file as an upload of its own, from a server and workload
// that the upload names.
func readOne(t testing.TB, name string, data []byte, c bench.Context) (*bench.Batch, bench.File) {
	t.Helper()
	if c.Server == "" {
		c.Server = "s1"
	}
	if c.Workload == "" {
		c.Workload = "cached"
	}
	b, err := Read(data, name, c, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Files) != 1 {
		t.Fatalf("%d files of one", len(b.Files))
	}
	finite(t, b)
	return b, b.Files[0]
}

// finite checks what holds for every batch: numbers are finite, metrics known,
// every result has a source.
func finite(t testing.TB, b *bench.Batch) {
	t.Helper()
	for _, run := range b.Runs {
		for _, r := range run.Results {
			if len(r.Sources) == 0 || r.Sources[0].File == "" {
				t.Errorf("%s %s has no source", r.Step.Name, r.PrimaryText)
			}
			for _, v := range r.Values {
				if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) || v.Resolution < 0 {
					t.Errorf("%s %s = %v ± %v", r.Step.Name, v.Metric, v.Number, v.Resolution)
				}
				if _, ok := bench.LookupMetric(v.Metric); !ok {
					t.Errorf("%s: no such metric: %s", r.Step.Name, v.Metric)
				}
			}
			for _, h := range r.Histograms {
				if len(h.Counts) != len(h.Bounds) && len(h.Percents) != len(h.Bounds) {
					t.Errorf("%s %s: %d bounds, %d counts", r.Step.Name, h.Operation, len(h.Bounds), len(h.Counts))
				}
				if !slices.IsSorted(h.Bounds) {
					t.Errorf("%s %s: bounds %v", r.Step.Name, h.Operation, h.Bounds)
				}
			}
		}
	}
}

// figures checks metrics of a result to the last digit.
func figures(t testing.TB, r *bench.Result, want map[string]float64) {
	t.Helper()
	for metric, number := range want {
		got, ok := r.Value(metric)
		if !ok || math.Abs(got-number) > 1e-9*math.Abs(number) {
			t.Errorf("%s %s = %v (%v), want %v", r.Step.Name, metric, got, ok, number)
		}
	}
}

// absent checks that a result has no value of these metrics.
func absent(t testing.TB, r *bench.Result, metrics ...string) {
	t.Helper()
	for _, m := range metrics {
		if v, ok := r.Value(m); ok {
			t.Errorf("%s has %s = %v, want none", r.Step.Name, m, v)
		}
	}
}

// warned reports whether a result carries a warning with this text.
func warned(r *bench.Result, text string) bool {
	return slices.ContainsFunc(r.Warnings, func(m bench.Message) bool { return strings.Contains(m.Text, text) })
}

// said reports whether a message has this text.
func said(messages []bench.Message, text string) bool {
	return slices.ContainsFunc(messages, func(m bench.Message) bool { return strings.Contains(m.String(), text) })
}

// steps lists results as "name state primary".
func steps(runs []bench.Run) (list []string) {
	for _, run := range runs {
		for _, r := range run.Results {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Step.Name, r.State, r.PrimaryText)))
		}
	}
	return list
}

func wantSteps(t testing.TB, b *bench.Batch, want ...string) {
	t.Helper()
	if got := steps(b.Runs); !slices.Equal(got, want) {
		t.Fatalf("results\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLogOfOneStepGivesAllItsFigures(t *testing.T) {
	t.Parallel()
	b, f := readOne(t, "raw.log", logFixture(t, "raw.fillseq.hist.stats.7.8.log.gz"), bench.Context{})
	if f.Format != "db_bench log" || f.State != bench.FileTaken || len(f.Messages) != 0 {
		t.Fatalf("%+v", f)
	}
	wantSteps(t, b, "fillseq ok 63291")
	run := b.Runs[0]
	if run.System != "rocksdb" || run.Suite != "db_bench" || run.Build.Version != "7.8.3" || run.Build.Compiler != "gcc" || !slices.Equal(run.Assumed, []string{"compiler"}) {
		t.Errorf("run %+v", run)
	}
	if run.Environment["cpu"] != "2 * Intel(R) Xeon(R) Processor" || run.Environment["cpu_cache"] != "307200 KB" {
		t.Errorf("environment %v", run.Environment)
	}
	for option, want := range map[string]string{"entries": "200000", "values": "400 bytes each (200 bytes after compression)", "memtablerep": "SkipListFactory", "compression": "NoCompression"} {
		if run.Options[option] != want {
			t.Errorf("option %s = %q, want %q", option, run.Options[option], want)
		}
	}
	r := &run.Results[0]
	if r.Started.String() != "2026-11-30 13:30:11" || r.Primary != "qps" || r.Role != bench.RoleMeasure {
		t.Errorf("%s started %s, primary %s", r.Step.Name, r.Started, r.Primary)
	}
	if r.Text != "fillseq      :      15.800 micros/op 63291 ops/sec 3.160 seconds 200000 operations;   25.4 MB/s" {
		t.Errorf("text %q", r.Text)
	}
	if r.Sources[0].Line != 27 {
		t.Errorf("line %d", r.Sources[0].Line)
	}
	figures(t, r, map[string]float64{
		"qps": 63291, "usec_per_op": 15.8, "elapsed_s": 3.16, "operations": 200000, "mb_per_s": 25.4,
		"p50": 3.69, "p75": 4.67, "p99": 31.42, "p99_9": 3775, "p99_99": 15411.76, "max": 40137, "average": 15.8056,
		"db_size_gb": 78.06 / 1024, "level0_size_gb": 0, "blob_size_gb": 0,
		"compaction_write_gb": 0.08, "compaction_read_gb": 0, "compaction_write_mb_per_s": 24.60, "compaction_wall_s": 1.25, "compaction_cpu_s": 0.22,
		"flush_write_gb": 0.076, "ingest_gb": 0.08, "write_amp": (0.1 + 0.076) / 0.1, "blob_read_gb": 0, "blob_write_gb": 0,
		"uptime_s": 3.2, "stall_s": 0.021, "stall_percent": 0.7, "stall_count": 1,
	})
	for metric, want := range map[string]float64{"qps": 1, "usec_per_op": 0.001, "p99": 0.01, "max": 1, "db_size_gb": 0.01 / 1024, "uptime_s": 0.1, "compaction_wall_s": 0.01} {
		for _, v := range r.Values {
			if v.Metric == metric && math.Abs(v.Resolution-want) > 1e-12 {
				t.Errorf("resolution of %s %v, want %v", metric, v.Resolution, want)
			}
		}
	}
	if r.Excluded != "assertions are enabled" || !warned(r, "Assertions are enabled; benchmarks unnecessarily slow") {
		t.Errorf("excluded %q, warnings %v", r.Excluded, r.Warnings)
	}
	// awk: 26 rows, counts add up to 200000.
	h := r.Histograms[0]
	sum, rows := 0.0, 0
	for _, c := range h.Counts {
		sum += c
		if c > 0 {
			rows++
		}
	}
	if h.Operation != "write" || h.Unit != "µs" || rows != 26 || sum != 200000 || *h.Count != 200000 || *h.Max != 40137 || *h.Min != 2 || *h.StdDev != 336.01 {
		t.Errorf("histogram %s: %d rows, sum %v, %+v", h.Operation, rows, sum, h)
	}
}

func TestPercentilesAreThoseOfTheOperationNotOfFileReads(t *testing.T) {
	t.Parallel()
	b, _ := readOne(t, "raw.log", logFixture(t, "raw.multi.statistics.hist.7.8.log.gz"), bench.Context{})
	wantSteps(t, b, "readrandom ok 49012", "seekrandom ok 19636", "overwrite ok 22337")
	results := b.Runs[0].Results
	figures(t, &results[0], map[string]float64{"usec_per_op": 40.676, "elapsed_s": 4.019, "operations": 196998, "mb_per_s": 19.6, "found_percent": 100, "p50": 3.93, "p99": 103.68, "p99_99": 50682.27, "max": 236791})
	figures(t, &results[1], map[string]float64{"usec_per_op": 101.59, "operations": 79998, "mb_per_s": 78.7, "p50": 13.35, "p99": 55.58, "max": 99705})
	// The last "Percentiles:" lines of the log are of file reads by level.
	figures(t, &results[2], map[string]float64{"usec_per_op": 89.344, "operations": 90998, "mb_per_s": 8.9, "p50": 5.94, "p75": 8.23, "p99": 30.15, "p99_9": 26400.49, "p99_99": 74833.67, "max": 156006})
	absent(t, &results[0], "db_size_gb", "uptime_s", "ticker_block_cache_miss")
}

func TestCountersOverSeveralStepsAreNoFiguresOfOne(t *testing.T) {
	t.Parallel()
	b, _ := readOne(t, "raw.log", logFixture(t, "raw.multi.statistics.hist.7.8.log.gz"), bench.Context{})
	last := &b.Runs[0].Results[2]
	figures(t, last, map[string]float64{"db_size_gb": 111.37 / 1024, "level0_size_gb": 18.18 / 1024})
	absent(t, last, "uptime_s", "compaction_write_gb", "ticker_block_cache_miss", "stall_s")
	aside := map[string]float64{}
	for _, x := range last.Breakdowns {
		aside[x.Key+" "+x.Bucket] = x.Value
	}
	for name, want := range map[string]float64{
		"since_opening uptime_s": 12.3, "since_opening compaction_write_gb": 0.07, "since_opening compaction_wall_s": 2.85, "since_opening compaction_cpu_s": 0.31,
		"process ticker_block_cache_miss": 35108, "process ticker_block_cache_hit": 576164, "process ticker_number_keys_read": 196998, "process ticker_read_async_micros": 0,
	} {
		if got, ok := aside[name]; !ok || got != want {
			t.Errorf("%s = %v (%v), want %v", name, got, ok, want)
		}
	}
	if !warned(last, "cover readrandom, seekrandom, overwrite: what they add up is not of this step alone") {
		t.Errorf("warnings %v", last.Warnings)
	}
	// rocksdb.db.get.micros P50 : 3.621617 P95 : 13.273234 P99 : 95.090831 P100 : 236790 COUNT : 196998 SUM : 7480666
	i := slices.IndexFunc(last.Histograms, func(h bench.Histogram) bool { return h.Operation == "rocksdb.db.get.micros" })
	if i < 0 {
		t.Fatal("no rocksdb.db.get.micros")
	}
	h := last.Histograms[i]
	if !slices.Equal(h.Bounds, []float64{3.621617, 13.273234, 95.090831, 236790}) || !slices.Equal(h.Percents, []float64{50, 45, 4, 1}) || *h.Count != 196998 || h.Unit != "µs" || *h.Average != 7480666.0/196998 {
		t.Errorf("%+v", h)
	}
}

func TestStatisticsOfASingleStepAreItsMetrics(t *testing.T) {
	t.Parallel()
	log := "RocksDB:    version 9.1.0\nDate:       Tue Jan  2 03:04:05 2024\nDB path: [/d]\n" +
		"readrandom   :       2.000 micros/op 500000 ops/sec 1.000 seconds 500000 operations;   10.0 MB/s (500000 of 500000 found)\n\n" +
		"STATISTICS:\nrocksdb.block.cache.miss COUNT : 17\nrocksdb.bytes.per.read P50 : 400.000000 P95 : 400.000000 P99 : 400.000000 P100 : 400.000000 COUNT : 3 SUM : 1200\n" +
		"rocksdb.db.write.stall P50 : 0.000000 P95 : 0.000000 P99 : 0.000000 P100 : 0.000000 COUNT : 0 SUM : 0\n" +
		"rocksdb.db.seek.micros statistics Percentiles :=> 50 : 5.5 95 : 9.7 99 : 19.9\n"
	b, f := readOne(t, "x.log", []byte(log), bench.Context{})
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
	r := &b.Runs[0].Results[0]
	figures(t, r, map[string]float64{"ticker_block_cache_miss": 17})
	if len(r.Breakdowns) != 0 || len(r.Histograms) != 2 {
		t.Fatalf("%d breakdowns, histograms %+v", len(r.Breakdowns), r.Histograms)
	}
	// All values alike: one bucket with everything. Nothing counted: no histogram.
	if h := r.Histograms[0]; !slices.Equal(h.Bounds, []float64{400}) || !slices.Equal(h.Percents, []float64{100}) || h.Unit != "B" {
		t.Errorf("%+v", h)
	}
	// The form of 4.x has no largest value.
	if h := r.Histograms[1]; !slices.Equal(h.Bounds, []float64{5.5, 9.7, 19.9}) || !slices.Equal(h.Percents, []float64{50, 45, 4}) || h.Count != nil || h.Max != nil {
		t.Errorf("%+v", h)
	}
}

func TestRepeatsAreSamplesTheirAveragesAreNot(t *testing.T) {
	t.Parallel()
	b, f := readOne(t, "raw.log", logFixture(t, "raw.repeat.X3.7.8.log.gz"), bench.Context{})
	wantSteps(t, b, "readrandom ok 81545", "readrandom ok 78392", "readrandom ok 120124", "readrandom ok 169847", "seekrandom ok 58876", "seekrandom ok 84102")
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
	// (78392+120124+169847)/3 = 122787 is the final average: the first line was a warm-up.
	if r := b.Runs[0].Results[0]; !strings.HasPrefix(r.Excluded, "warm-up run") {
		t.Errorf("excluded %q", r.Excluded)
	}
	for _, r := range b.Runs[0].Results[1:] {
		if strings.Contains(r.Excluded, "warm-up") || warned(&r, "without being asked to repeat") {
			t.Errorf("%s: excluded %q, %v", r.PrimaryText, r.Excluded, r.Warnings)
		}
	}
	log := ParseLog(logFixture(t, "raw.repeat.X3.7.8.log.gz"))
	var numbers []string
	for _, op := range log.Processes[0].Ops {
		numbers = append(numbers, fmt.Sprintf("%d/%d", op.Repeat, op.Repeats))
	}
	if want := []string{"0/0", "1/3", "2/3", "3/3", "1/2", "2/2"}; !slices.Equal(numbers, want) {
		t.Errorf("repeats %v, want %v", numbers, want)
	}
}

func TestSummariesOfRepeatsInAnyEncoding(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"±", "\xb1", "?", "\xc2\xb1", "Â±", "+-"} {
		log := "DB path: [/d]\nRunning benchmark for 2 times\n" +
			"fillseq      :       5.000 micros/op 200000 ops/sec;   22.0 MB/s\n" +
			"fillseq      :       4.000 micros/op 250000 ops/sec;   27.5 MB/s\n" +
			"fillseq [AVG 2 runs] : 225000 (" + sign + " 35355) ops/sec;   24.8 (" + sign + " 3.9) MB/sec\n" +
			"fillseq [AVG    2 runs] : 225000 (" + sign + " 35355) ops/sec; 0.004 ms/op;   24.8 (" + sign + " 3.9) MB/sec\n" +
			"fillseq [MEDIAN 2 runs] : 225000 ops/sec;   24.8 MB/sec\n" +
			"fillseq [CI95 2 runs] : (176000, 274000) ops/sec; (19.4, 30.2) MB/sec\n"
		b, f := readOne(t, "x.log", []byte(log), bench.Context{Version: "7.2.2"})
		wantSteps(t, b, "fillseq ok 200000", "fillseq ok 250000")
		if len(f.Messages) > 0 {
			t.Errorf("%q: %v", sign, f.Messages)
		}
	}
}

func TestPerfContextBelongsToTheLineAboveIt(t *testing.T) {
	t.Parallel()
	b, f := readOne(t, "raw.log", logFixture(t, "raw.multidb.perf.7.8.log.gz"), bench.Context{})
	wantSteps(t, b, "fillrandom ok 38252", "readrandom ok 53054")
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
	fill, read := &b.Runs[0].Results[0], &b.Runs[0].Results[1]
	figures(t, fill, map[string]float64{"perf_user_key_comparison_count": 3250284, "perf_block_read_count": 0, "mb_per_s": 15.3})
	figures(t, read, map[string]float64{"perf_user_key_comparison_count": 1211914, "perf_block_read_count": 3052, "perf_block_read_byte": 11729675,
		"perf_bloom_filter_useful_level0": 18546, "perf_block_cache_hit_count": 7649, "perf_block_cache_hit_count_level0": 7649,
		"found_percent": 100.0 * 12583 / 20000, "mb_per_s": 13.4})
	absent(t, fill, "perf_bloom_filter_useful") // by level, and there was none
	if fill.Text != "fillrandom   :      26.125 micros/op 38252 ops/sec 1.046 seconds 40000 operations;   15.3 MB/s" {
		t.Errorf("text %q", fill.Text)
	}
}

func TestOfManyDumpsTheLastCounts(t *testing.T) {
	t.Parallel()
	data := logFixture(t, "raw.overwrite.interval.7.8.log.gz")
	log := ParseLog(data)
	x := log.Processes[0]
	if len(x.Dumps) != 3 || !x.Dumps[0].Interval || !x.Dumps[1].Interval || x.Dumps[2].Interval {
		t.Fatalf("dumps %+v", x.Dumps)
	}
	if len(x.Intervals) != 4 || x.Intervals[2].Total != 38000 || x.Intervals[2].Operations != 18000 || x.Intervals[2].Thread != 0 || x.Intervals[2].Rate != 8818.8 || x.Intervals[2].Seconds != 2.041083 {
		t.Errorf("intervals %+v", x.Intervals)
	}
	b, _ := readOne(t, "raw.log", data, bench.Context{})
	wantSteps(t, b, "overwrite ok 19207")
	figures(t, &b.Runs[0].Results[0], map[string]float64{
		"uptime_s": 11.4, "db_size_gb": 97.33 / 1024, "compaction_write_gb": 0.27, "compaction_read_gb": 0.28, "compaction_write_mb_per_s": 24.11,
		"compaction_wall_s": 7.22, "compaction_cpu_s": 0.89, "flush_write_gb": 0.049, "write_amp": (0.3 + 0.049) / 0.1, "p99": 156.53,
	})
	// stderr, with the dumps made on the way, after stdout: the end is still the end.
	i := bytes.Index(data, []byte("Initializing"))
	swapped := append(append([]byte{}, data[i:]...), data[:i]...)
	b, _ = readOne(t, "raw.log", swapped, bench.Context{})
	wantSteps(t, b, "overwrite ok 19207")
	figures(t, &b.Runs[0].Results[0], map[string]float64{"uptime_s": 11.4, "compaction_write_gb": 0.27})
	if got := b.Runs[0].Results[0].Started.String(); got != "2026-11-30 13:30:27" {
		t.Errorf("started %s", got)
	}
}

func TestTimesOfTheProcess(t *testing.T) {
	t.Parallel()
	b, f := readOne(t, "raw.log", logFixture(t, "raw.timev.7.8.log.gz"), bench.Context{})
	wantSteps(t, b, "multireadrandom ok 143138", "readwhilewriting ok 46130", "crc32c ok 133024", "compress ok 210")
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
	results := b.Runs[0].Results
	// One count of multireadrandom's histogram is a batch of 10.
	figures(t, &results[0], map[string]float64{"operations": 441980, "p50": 33.70, "average": 139.4853, "mb_per_s": 57.3})
	if n := *results[0].Histograms[0].Count; n != 44198 {
		t.Errorf("%v batches", n)
	}
	if results[3].Text != "compress     :    5961.500 micros/op 210 ops/sec 0.009 seconds 2 operations; (compression failure)" {
		t.Errorf("text %q", results[3].Text)
	}
	absent(t, &results[3], "mb_per_s", "user_cpu_s")
	aside := map[string]float64{}
	for _, x := range results[3].Breakdowns {
		aside[x.Key+" "+x.Bucket] = x.Value
	}
	for name, want := range map[string]float64{"process user_cpu_s": 14.69, "process system_cpu_s": 0.76, "process real_s": 25.46, "process rss_gb": 194356.0 / (1 << 20),
		"process read_io_gb": 40 * 512.0 / (1 << 30), "process write_io_gb": 616872 * 512.0 / (1 << 30)} {
		if got := aside[name]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	// The command line is the one that time quotes.
	if results[0].Step.Threads != 2 || !strings.Contains(results[0].Command, "--benchmarks=multireadrandom,readwhilewriting") {
		t.Errorf("threads %d, command %q", results[0].Step.Threads, results[0].Command)
	}
}

func TestFailedRunsAreResultsThatSaySo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, step, reason, started string
		context                     bench.Context
	}{
		{"raw.badflag.7.8.log", UnknownStep, "ERROR: unknown command line flag 'no_such_flag'", "", bench.Context{Version: "7.8.3"}},
		{"raw.unknownbench.7.8.log", "nosuchbench", "unknown benchmark 'nosuchbench'", "2026-11-30 13:30:50", bench.Context{}},
		{"raw.killed.by.timeout.7.8.log", UnknownStep, "ended without a result line, after progress to 73000 operations in one thread: killed, or cut short", "2026-11-30 13:31:16", bench.Context{}},
		{"nospace.log", UnknownStep, "put error: IO error: No space left on device: While appending to file: /data/bench/small/db/000004.log: No space left on device", "2026-11-30 15:43:15", bench.Context{}},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			b, f := readOne(t, c.file, logFixture(t, c.file), c.context)
			if f.State != bench.FileTaken || len(f.Messages) > 0 || len(b.Runs) != 1 || len(b.Runs[0].Results) != 1 {
				t.Fatalf("%+v %+v", f, b.Runs)
			}
			r := b.Runs[0].Results[0]
			if r.State != bench.StateFailed || r.Step.Name != c.step || r.Reason != c.reason || r.Started.String() != c.started {
				t.Errorf("%s %s %q at %s", r.Step.Name, r.State, r.Reason, r.Started)
			}
			if len(r.Values) > 0 || r.PrimaryText != "" || len(r.Histograms) > 0 {
				t.Errorf("a failed step has figures: %v", r.Values)
			}
		})
	}
	t.Run("without a release", func(t *testing.T) {
		t.Parallel()
		_, f := readOne(t, "x.log", logFixture(t, "raw.badflag.7.8.log"), bench.Context{})
		if f.State != bench.FileRefused || !said(f.Messages, "give --version") {
			t.Errorf("%+v", f)
		}
	})
}

func TestStepsAfterAFailedOneDidNotRun(t *testing.T) {
	t.Parallel()
	b, _ := readOne(t, "killed.log", logFixture(t, "killed.log"), bench.Context{})
	wantSteps(t, b, "fillrandom failed", "readrandom not_run")
	results := b.Runs[0].Results
	if results[0].Reason != "Killed" || results[1].Reason != "fillrandom failed before it" || !results[1].Started.IsZero() || results[0].Started.IsZero() {
		t.Errorf("%+v", results)
	}

	// The same for a full disk, told by whoever ran it.
	reading, err := ReadDBBenchLog(logFixture(t, "nospace.log"), nil, LogSource{Stdout: "log",
		Command: "db_bench --db=/data/bench/small/db --benchmarks=fillrandom,readrandom,stats --num=2000000"})
	if err != nil {
		t.Fatal(err)
	}
	if got := steps([]bench.Run{{Results: reading.Results}}); !slices.Equal(got, []string{"fillrandom failed", "readrandom not_run"}) {
		t.Errorf("%v", got)
	}
	if r := reading.Results[0]; !strings.HasPrefix(r.Reason, "put error: IO error: No space left on device") {
		t.Errorf("reason %q", r.Reason)
	}

	// The first results of a list stand, the one at work failed.
	log := "$ ./db_bench --benchmarks=fillseq,readrandom,seekrandom,stats --threads=4\nRocksDB:    version 6.17\nDate:       Mon Feb 22 19:41:24 2021\nDB path: [/d]\n" +
		"fillseq      :       5.000 micros/op 200000 ops/sec;   22.0 MB/s\n... finished 100 ops    \r... finished 200 ops   \r\nReceived signal 11 (Segmentation fault)\n#0   ./db_bench(+0x1) [0x2]\n"
	b, f := readOne(t, "x.log", []byte(log), bench.Context{})
	wantSteps(t, b, "fillseq ok 200000", "readrandom failed", "seekrandom not_run")
	if r := b.Runs[0].Results[1]; r.Reason != "Received signal 11 (Segmentation fault)" || r.Step.Threads != 4 {
		t.Errorf("%+v", r)
	}
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
}

func TestTwoProcessesInOneLogAreTwoRuns(t *testing.T) {
	t.Parallel()
	b, f := readOne(t, "two.log", logFixture(t, "two.processes.log.gz"), bench.Context{})
	if f.State != bench.FileTaken || len(b.Runs) != 2 {
		t.Fatalf("%+v, %d runs", f, len(b.Runs))
	}
	wantSteps(t, b, "fillseq ok 193833", "readrandom ok 346032", "fillrandom ok 124535", "readrandom ok 781799")
	if len(b.Runs[0].Results) != 2 || len(b.Runs[1].Results) != 2 || bench.RunKey(&b.Runs[0]) == bench.RunKey(&b.Runs[1]) {
		t.Errorf("runs %q %q", b.Runs[0].ID, b.Runs[1].ID)
	}
	figures(t, &b.Runs[1].Results[1], map[string]float64{"found_percent": 100.0 * 18891 / 30000, "qps": 781799})
	if !warned(&b.Runs[0].Results[0], "shared the machine") {
		t.Error(b.Runs[0].Results[0].Warnings)
	}
	again, _ := readOne(t, "other name.log", logFixture(t, "two.processes.log.gz"), bench.Context{})
	if bench.RunKey(&again.Runs[1]) != bench.RunKey(&b.Runs[1]) {
		t.Error("reading it again gives another run")
	}
}

func TestProcessesThatCannotBeToldApartAreRefused(t *testing.T) {
	t.Parallel()
	header := func(version string) string {
		return "RocksDB:    version " + version + "\nDate:       Mon Nov 30 13:35:12 2026\n"
	}
	body := func(path, name string, qps int) string {
		return fmt.Sprintf("Keys:       16 bytes each\nEntries:    30000\n------------------------------------------------\nDB path: [%s]\n%-12s : %11.3f micros/op %d ops/sec;    5.0 MB/s\n", path, name, 1e6/float64(qps), qps)
	}
	for name, c := range map[string]struct{ log, reason string }{
		"releases differ":   {header("8.0.0") + header("8.1.1") + body("/a", "fillseq", 100) + body("/b", "fillseq", 200), "their headers differ"},
		"one database name": {header("8.0.0") + header("8.0.0") + body("/a", "fillseq", 100) + body("/a", "fillseq", 200), "their results name 1 databases"},
		"a header is lost":  {header("8.0.0") + body("/a", "fillseq", 100) + "DB path: [/b]\nfillseq      :       9.000 micros/op 111 ops/sec;\n", "results of 2 databases (/a, /b)"},
		"no path":           {header("8.0.0") + header("8.0.0") + body("/a", "fillseq", 100) + body("/b", "fillseq", 200) + "readrandom   :       9.000 micros/op 111 ops/sec;\n", "no DB path line of its own"},
		"whose failure":     {header("8.0.0") + header("8.0.0") + body("/a", "fillseq", 100) + body("/b", "fillseq", 200) + "put error: IO error: x\n", "whose the failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, f := readOne(t, "x.log", []byte(c.log), bench.Context{})
			if f.State != bench.FileRefused || !said(f.Messages, c.reason) || len(b.Runs) > 0 {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestSeveralProcessesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	process := func(version, date, name string, qps int) string {
		return fmt.Sprintf("RocksDB:    version %s\nDate:       %s\nKeys:       8 bytes each\n------------------------------------------------\nDB path: [/d]\n%-12s :       2.884 micros/op %d ops/sec;   45.0 MB/s\n", version, date, name, qps)
	}
	first := process("6.17", "Mon Feb 22 19:41:24 2021", "fillrandom", 346710)
	second := process("6.17", "Mon Feb 22 19:41:48 2021", "overwrite", 365036)
	third := process("6.17", "Mon Feb 22 19:44:19 2021", "fillrandom", 358468)
	other := process("6.20", "Mon Feb 22 19:50:00 2021", "overwrite", 300000)
	b, _ := readOne(t, "x.log", []byte("load\n"+first+second+"load again\n"+third+other), bench.Context{})
	wantSteps(t, b, "fillrandom ok 346710", "overwrite ok 365036", "fillrandom ok 358468", "overwrite ok 300000")
	if len(b.Runs) != 3 || len(b.Runs[0].Results) != 2 || b.Runs[2].Build.Version != "6.20" {
		t.Fatalf("%d runs", len(b.Runs))
	}
	if got := b.Runs[0].Results[1].Started.String(); got != "2021-02-22 19:41:48" {
		t.Errorf("overwrite started %s", got)
	}
}

func TestCopiesAtTheEndOfALogAreNoFurtherResults(t *testing.T) {
	t.Parallel()
	log := "RocksDB:    version 6.17\nDate:       Mon Feb 22 19:41:48 2021\ntest is: seekrandom\nDB path: [/d]\n" +
		"seekrandom   :      18.681 micros/op 53531 ops/sec;   55.5 MB/s (816350 of 1000000 found)\n\ntest is: seekrandom\nDB path: [/d]\n" +
		"seekrandom   :      18.527 micros/op 53976 ops/sec;   56.0 MB/s (816350 of 1000000 found)\n\nrange\n" +
		"seekrandom   :      18.527 micros/op 53976 ops/sec;   56.0 MB/s (816350 of 1000000 found)\n"
	b, f := readOne(t, "x.log", []byte(log), bench.Context{})
	wantSteps(t, b, "seekrandom ok 53531", "seekrandom ok 53976")
	if !said(f.Messages, "x.log:12: repeats line 9 word for word") || !said(f.Messages, "x.log:11: not understood: range") {
		t.Error(f.Messages)
	}
	if !warned(&b.Runs[0].Results[0], "seekrandom stands 2 times in this log without being asked to repeat") {
		t.Error(b.Runs[0].Results[0].Warnings)
	}
	// The same figures printed by two runs in earnest are two results.
	twice := strings.Replace(log, "range\n", "DB path: [/d]\n", 1)
	b, _ = readOne(t, "x.log", []byte(twice), bench.Context{})
	wantSteps(t, b, "seekrandom ok 53531", "seekrandom ok 53976", "seekrandom ok 53976")
}

func TestStreamsApart(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		file, version, started string
		fill, read, over       string
	}{
		{"debian_7.8.3", "7.8.3", "", "314837", "513920", "190658"},
		{"7.10.2", "7.10.2", "", "614533", "660170", "231798"},
		{"9.8.4", "9.8.4", "2026-11-30 14:11:01", "332270", "460978", "173586"},
	} {
		t.Run(v.version, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := logFixture(t, "db_bench_"+v.file+".stdout"), logFixture(t, "db_bench_"+v.file+".stderr.gz")
			want := []string{"fillseq ok " + v.fill, "readrandom ok " + v.read, "overwrite ok " + v.over}

			reading, err := ReadDBBenchLog(stdout, stderr, LogSource{Stdout: "stdout", Stderr: "stderr"})
			if err != nil {
				t.Fatal(err)
			}
			if got := steps([]bench.Run{{Results: reading.Results}}); !slices.Equal(got, want) || reading.Version != v.version || reading.System != "rocksdb" {
				t.Errorf("%s %s %v", reading.System, reading.Version, got)
			}
			if v.started != "" && reading.Results[0].Started.String() != v.started {
				t.Errorf("started %s", reading.Results[0].Started)
			}

			// As two files of an upload, as one file of both, in either order.
			b, err := Read(tarOf(t, map[string]string{"x/run.stdout": string(stdout), "x/run.stderr": string(stderr)}), "x.tar", bench.Context{Server: "s1", Workload: "cached"}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			wantSteps(t, b, want...)
			if b.Runs[0].Build.Version != v.version {
				t.Errorf("version %s", b.Runs[0].Build.Version)
			}
			for _, f := range b.Files {
				if f.State != bench.FileTaken {
					t.Errorf("%+v", f)
				}
			}
			for _, both := range [][]byte{append(slices.Clone(stdout), stderr...), append(slices.Clone(stderr), stdout...)} {
				b, _ := readOne(t, "both.log", both, bench.Context{})
				wantSteps(t, b, want...)
				if b.Runs[0].Build.Version != v.version {
					t.Errorf("version %s", b.Runs[0].Build.Version)
				}
			}

			// stdout alone does not say its release; stderr alone has no results.
			_, f := readOne(t, "run.stdout", stdout, bench.Context{})
			if f.State != bench.FileRefused || !said(f.Messages, "version is not said by the file or its path: give --version") {
				t.Errorf("%+v", f)
			}
			if _, f = readOne(t, "run.stdout", stdout, bench.Context{Version: "unknown"}); f.State != bench.FileRefused {
				t.Errorf("unknown is no release: %+v", f)
			}
			b, _ = readOne(t, "run.stdout", stdout, bench.Context{Version: v.version})
			wantSteps(t, b, want...)
			if _, f = readOne(t, "run.stderr", stderr, bench.Context{}); f.State != bench.FileRefused || !said(f.Messages, "its results are on stdout") {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestContextMustBeKnown(t *testing.T) {
	t.Parallel()
	data := logFixture(t, "nothing.found.log")
	for name, c := range map[string]struct {
		context bench.Context
		want    string
	}{
		"no server":             {bench.Context{Workload: "cached"}, "server is not said by the file or its path: give --server"},
		"no workload":           {bench.Context{Server: "s1"}, "workload is not said by the file or its path: give --workload"},
		"another version":       {bench.Context{Server: "s1", Workload: "cached", Version: "8.1.1"}, "8.1.1"},
		"another system":        {bench.Context{Server: "s1", Workload: "cached", System: "myrocks"}, "myrocks"},
		"neither of two things": {bench.Context{}, "give --server and --workload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := Read(data, "x.log", c.context, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if b.Files[0].State != bench.FileRefused || !said(b.Files[0].Messages, c.want) || len(b.Runs) > 0 {
				t.Errorf("%+v", b.Files[0])
			}
		})
	}
	// The patch level that the header of old releases lacks may be given.
	b, _ := readOne(t, "x.log", []byte("RocksDB:    version 6.17\n"+"fillseq      :       5.000 micros/op 200000 ops/sec;   22.0 MB/s\n"), bench.Context{Version: "6.17.3"})
	if v := b.Runs[0].Build.Version; v != "6.17.3" {
		t.Errorf("version %s", v)
	}
}

func TestStepIsNamedByFileThenCommandThenLine(t *testing.T) {
	t.Parallel()
	line := "RocksDB:    version 8.1.1\nDate:       Mon Nov 30 13:35:12 2026\nDB path: [/d]\nseekrandom   :     125.611 micros/op 15742 ops/sec 5.209 seconds 81998 operations;   63.1 MB/s (40999 of 40999 found)\n"
	wrapper := "/usr/bin/time -f '%e %U %S' -o out/benchmark_fwdrange.t8.log.time numactl --interleave=all timeout 605 ./db_bench --benchmarks=seekrandom,stats --use_existing_db=1 --sync=0 --disable_wal=1 --threads=8 --seek_nexts=10 --merge_operator=\"put\" --report_file=out/benchmark_fwdrange.t8.log.r.csv 2>&1 | tee -a out/benchmark_fwdrange.t8.log\n"
	dump := "** Compaction Stats [default] **\nUptime(secs): 5.0 total, 5.0 interval\n"
	for name, c := range map[string]struct {
		file, log, step string
		threads         int
	}{
		"file":            {"benchmark_revrangewhilewriting.t36.log", line, "revrangewhilewriting", 36},
		"file, not moved": {"out/benchmark_revrange.t1.log", wrapper + line + dump, "revrange", 1},
		"command":         {"some.log", wrapper + line + dump, "fwdrange", 8},
		"line":            {"some.log", line, "seekrandom", 0},
		"bulk load":       {"benchmark_bulkload_fillrandom.log", strings.Replace(line, "seekrandom", "fillrandom", 1), "bulkload", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := readOne(t, c.file, []byte(c.log), bench.Context{})
			r := b.Runs[0].Results[0]
			if r.Step.Name != c.step || r.Step.Threads != c.threads || r.State != bench.StateOK {
				t.Errorf("%+v %s %s", r.Step, r.State, r.Reason)
			}
		})
	}
	b, _ := readOne(t, "some.log", []byte("Job ID: nightly 7\n"+wrapper+line+dump), bench.Context{})
	run, r := b.Runs[0], b.Runs[0].Results[0]
	if run.Options["seek_nexts"] != "10" || run.Options["merge_operator"] != "put" || run.Options["threads"] != "8" || run.Options["benchmarks"] != "" || run.Environment["job_id"] != "nightly 7" {
		t.Errorf("options %v, environment %v", run.Options, run.Environment)
	}
	if r.Step.Sync == nil || *r.Step.Sync || r.Step.WAL == nil || *r.Step.WAL {
		t.Errorf("sync %v, WAL %v", r.Step.Sync, r.Step.WAL)
	}
	if !warned(&r, "ends before the statistics that were asked for") {
		// The dump above has no table by level, so it is none.
		t.Error(r.Warnings)
	}
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		ok    bool
		flags []Flag
	}{
		{"$ db_bench --benchmarks=fillseq,stats --num=10", true, []Flag{{"benchmarks", "fillseq,stats"}, {"num", "10"}}},
		{"$ ~/repos/rocksdb % ./db_bench -db tmp-db -benchmarks=fillsync -use_cuckoo_table", true, []Flag{{"db", "tmp-db"}, {"benchmarks", "fillsync"}, {"use_cuckoo_table", "true"}}},
		{"[u@h out]$ ./db_bench.7.8.gcc --db=/d/ --cache_size=8 2>&1 | tee -a x", true, []Flag{{"db", "/d/"}, {"cache_size", "8"}}},
		{`bash: line 1: 9 Killed  ( timeout 3 db_bench --db="/a b" --seed=1 )`, true, []Flag{{"db", "/a b"}, {"seed", "1"}}},
		{"db_bench", false, nil},
		{"#1 /w/db_bench(+0x842c1) [0x55] ??:0", false, nil},
		{"see db_bench for more", false, nil},
	} {
		got, ok := ParseCommand(c.text)
		if ok != c.ok || !slices.Equal(got.Flags, c.flags) {
			t.Errorf("%q: %v %+v", c.text, ok, got.Flags)
		}
	}
	c, _ := ParseCommand("db_bench --benchmarks=readrandom[X3-W1],stats -threads=4 --threads=8")
	if v, _ := c.Flag("threads"); v != "8" || !slices.Equal(c.Benchmarks(), []string{"readrandom", "stats"}) {
		t.Errorf("threads %s, benchmarks %v", v, c.Benchmarks())
	}
}

func TestOpLines(t *testing.T) {
	t.Parallel()
	ok := func(line string) *OpLine {
		log := ParseLog([]byte(line))
		if len(log.Processes) == 0 || len(log.Processes[0].Ops) == 0 {
			return nil
		}
		return &log.Processes[0].Ops[0]
	}
	for _, c := range []struct {
		line, name, micros, ops, seconds, operations, mb, message, primary string
	}{
		{"readrandom   :       4.294 micros/op; (90751 of 500000 found)", "readrandom", "4.294", "", "", "", "", "(90751 of 500000 found)", "usec_per_op 4.294"},
		{"fillseq      :       3.088 micros/op;   35.8 MB/s", "fillseq", "3.088", "", "", "", "35.8", "", "usec_per_op 3.088"},
		{"overwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s", "overwrite", "7.939", "125963", "", "", "50.5", "", "qps 125963"},
		{"multireadrandom :      10.164 micros/op 3148272 ops/sec; (177099990 of 177099990 found)", "multireadrandom", "10.164", "3148272", "", "", "", "(177099990 of 177099990 found)", "qps 3148272"},
		{"randomtransaction :      16.858 micros/op 59318 ops/sec;    1.3 MB/s ( transactions:100000 aborts:0)", "randomtransaction", "16.858", "59318", "", "", "1.3", "( transactions:100000 aborts:0)", "qps 59318"},
		{"fillsync     :       4.380 micros/op 228322 ops/sec 4.380 seconds 1000000 operations;   25.3 MB/s (1000 ops)", "fillsync", "4.380", "228322", "4.380", "1000000", "25.3", "(1000 ops)", "qps 228322"},
		{"fillrandsync : 2.317 micros/op 431592 ops/sec; 47.7 MB/s (1000 ops)", "fillrandsync", "2.317", "431592", "", "", "47.7", "(1000 ops)", "qps 431592"},
		{"compact      : 2878433.000 micros/op 0 ops/sec;", "compact", "2878433.000", "0", "", "", "", "", "usec_per_op 2878433.000"},
		{"compact      :  318080.000 micros/op 6 ops/sec 0.159 seconds 1 operations;", "compact", "318080.000", "6", "0.159", "1", "", "", "usec_per_op 318080.000"},
		{"readseq      :        -nan micros/op 12 ops/sec 0.000 seconds 0 operations;    inf MB/s", "readseq", "-nan", "12", "0.000", "0", "inf", "", "usec_per_op -nan"},
		{"newiterator  :       0.000 micros/op -9223372036854775808 ops/sec 0.000 seconds 1000 operations;", "newiterator", "0.000", "-9223372036854775808", "0.000", "1000", "", "", "usec_per_op 0.000"},
		{"... finished 100 ops                              ... finished 200 ops              overwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s", "overwrite", "7.939", "125963", "", "", "50.5", "", "qps 125963"},
	} {
		op := ok(c.line)
		if op == nil {
			t.Errorf("not read: %s", c.line)
			continue
		}
		metric, text := op.primary()
		got := []string{op.Name, op.Micros.Text, op.OpsPerSec.Text, op.Seconds.Text, op.Operations.Text, op.MBPerSec.Text, op.Message, metric + " " + text}
		want := []string{c.name, c.micros, c.ops, c.seconds, c.operations, c.mb, c.message, c.primary}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", c.line, got, want)
		}
		for _, v := range op.values() {
			if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) || v.Metric == "qps" && v.Number <= 0 {
				t.Errorf("%s: %s = %v", c.line, v.Metric, v.Number)
			}
		}
	}
	for _, line := range []string{
		"readrandom [AVG 2 runs] : 99258 (± 40896) ops/sec;   39.8 (± 16.4) MB/sec",
		"the text says 4.294 micros/op 3 ops/sec",
		"fillseq      :       3.088 micros/op 12",
		"fillseq      :       3.088 micros/opx",
		"fillseq : x micros/op 12 ops/sec;",
		"fill seq     :       3.088 micros/op 12 ops/sec;",
		": 3.088 micros/op 12 ops/sec;",
	} {
		if op := ok(line); op != nil {
			t.Errorf("taken for a result: %s", line)
		}
	}
}

func TestNothingFoundIsNoFigureToCompare(t *testing.T) {
	t.Parallel()
	b, _ := readOne(t, "x.log", logFixture(t, "nothing.found.log"), bench.Context{})
	wantSteps(t, b, "readrandom ok 9505")
	r := &b.Runs[0].Results[0]
	if r.Excluded != "0 of 10 found; assertions are enabled" || !warned(r, "0 of 10 found: the database is empty") {
		t.Errorf("excluded %q, %v", r.Excluded, r.Warnings)
	}
	figures(t, r, map[string]float64{"found_percent": 0, "qps": 9505})
	// Looking for keys that are not there is what readmissing is for.
	b, _ = readOne(t, "x.log", []byte("RocksDB:    version 8.1.1\nreadmissing  :       6.400 micros/op 9505 ops/sec 0.001 seconds 10 operations; (0 of 10 found)\n"), bench.Context{})
	if r := b.Runs[0].Results[0]; r.Excluded != "" {
		t.Errorf("excluded %q", r.Excluded)
	}
}

func TestNaNInAMessageIsNoNumber(t *testing.T) {
	t.Parallel()
	b, f := readOne(t, "x.log", logFixture(t, "several.nan.log.gz"), bench.Context{})
	wantSteps(t, b, "fillseq ok 207116", "mixgraph ok 646705", "multireadrandom ok 1038205", "readrandomwriterandom ok 579575", "updaterandom ok 151299",
		"seekrandom ok 500650", "readwhilewriting ok 97290", "compact ok 175898.000", "crc32c ok 291867")
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
	r := &b.Runs[0].Results[1]
	figures(t, r, map[string]float64{"operations": 10000, "mb_per_s": 71.5, "elapsed_s": 0.015})
	if !strings.HasSuffix(r.Text, "avg size: -nan value, -nan scan)") || r.Step.Threads != 2 {
		t.Errorf("%q, %d threads", r.Text, r.Step.Threads)
	}
}

func TestHeadersOfTheFamily(t *testing.T) {
	t.Parallel()
	line := "fillrandom   :       3.175 micros/op 314982 ops/sec;  245.1 MB/s\n"
	rocks := "Keys per prefix:    0\nWrite rate limit: 0\nMemtablerep: vector\nPerf Level: 0\n"
	for name, c := range map[string]struct{ log, system, version string }{
		"RocksDB":             {"RocksDB:    version 7.8.3\n", "rocksdb", "7.8.3"},
		"RocksDB up to 7.4":   {"RocksDB:    version 6.17\n", "rocksdb", "6.17"},
		"RocksDB 3 by number": {"LevelDB:    version 3.10\n", "rocksdb", "3.10"},
		"RocksDB by options":  {"LevelDB:    version 1.5\nKeys:       16 bytes each\n" + rocks, "rocksdb", "1.5"},
		"LevelDB":             {"LevelDB:    version 1.23\nKeys:       16 bytes each\nEntries:    1000000\n", "leveldb", "1.23"},
		"Basho's":             {"Basho LevelDB: version 1.9\n", "basho-leveldb", "1.9"},
		"LMDB":                {"LMDB: version LMDB 0.9.14: (September 15, 2014)\n", "lmdb", "0.9.14"},
		"SQLite":              {"SQLite:     version 3.7.6.3\n", "sqlite", "3.7.6.3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, f := readOne(t, "x.log", []byte(c.log+line), bench.Context{})
			if f.State != bench.FileTaken {
				t.Fatalf("%+v", f)
			}
			if run := b.Runs[0]; run.System != c.system || run.Build.Version != c.version {
				t.Errorf("%s %s, want %s %s", run.System, run.Build.Version, c.system, c.version)
			}
		})
	}
	b, _ := readOne(t, "x.log", []byte("LevelDB:    version 1.5\n"+line), bench.Context{System: "rocksdb"})
	if s := b.Runs[0].System; s != "rocksdb" {
		t.Errorf("who uploads knows better: %s", s)
	}
}

func TestSkippedBenchmarksDidNotRun(t *testing.T) {
	t.Parallel()
	log := "RocksDB:    version 8.1.1\nfillseq      : skipped (--use_existing_db is true)\nDB path: [/d]\nreadrandom   :       2.000 micros/op 500000 ops/sec 1.000 seconds 500000 operations;\n"
	b, f := readOne(t, "x.log", []byte(log), bench.Context{})
	wantSteps(t, b, "readrandom ok 500000", "fillseq not_run")
	if r := b.Runs[0].Results[1]; r.Reason != "skipped (--use_existing_db is true)" || len(f.Messages) > 0 {
		t.Errorf("%q %v", r.Reason, f.Messages)
	}
}

func TestLinesThatAreNotUnderstoodAreListedAndCounted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("RocksDB:    version 8.1.1\nreadrandom   :       2.000 micros/op 500000 ops/sec;\n")
	for i := range 50 {
		fmt.Fprintf(&b, "what is this %d\n", i)
	}
	_, f := readOne(t, "x.log", []byte(b.String()), bench.Context{})
	if f.State != bench.FileTaken || len(f.Messages) != maxMessages+1 || f.Messages[0].Line != 3 || !said(f.Messages, "30 more lines were not understood") {
		t.Errorf("%d messages: %v", len(f.Messages), f.Messages)
	}
}

func TestLogsOfTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	for want, line := range map[string]string{
		"the log holds more than 10000 executions of db_bench": "RocksDB:    version 8.1.1\n",
		"the log holds more than 100000 results":               "a : 1.0 micros/op 9 ops/sec;\n",
	} {
		b, f := readOne(t, "x.log", []byte(strings.Repeat(line, 100_001)), bench.Context{Version: "8.1.1"})
		if f.State != bench.FileRefused || !said(f.Messages, want) || len(b.Runs) > 0 {
			t.Errorf("%+v", f)
		}
	}
	_, err := ReadDBBenchLog(append(logFixture(t, "nothing.found.log"), logFixture(t, "nothing.found.log")...), nil, LogSource{Stdout: "stdout"})
	if bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "output of 2 executions") {
		t.Errorf("two executions where one was expected: %v", err)
	}
}

func TestLogInLatin1IsReadAllTheSame(t *testing.T) {
	t.Parallel()
	log := bytes.ReplaceAll(logFixture(t, "raw.repeat.X3.7.8.log.gz"), []byte("±"), []byte{0xB1})
	b, f := readOne(t, "x.log", log, bench.Context{})
	wantSteps(t, b, "readrandom ok 81545", "readrandom ok 78392", "readrandom ok 120124", "readrandom ok 169847", "seekrandom ok 58876", "seekrandom ok 84102")
	if f.State != bench.FileTaken {
		t.Errorf("%+v", f)
	}
}

func TestLogInUTF16(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(string(logFixture(t, "fillseq.readrandom.stdout")), "\n", "\r\n")
	utf16 := []byte{0xFF, 0xFE}
	for _, c := range []byte(text) {
		utf16 = append(utf16, c, 0)
	}
	b, _ := readOne(t, "x.txt", utf16, bench.Context{Version: "7.8.3"})
	wantSteps(t, b, "fillseq ok 218378", "readrandom ok 1000200")
}

func TestKeysOfOneLogAreDistinct(t *testing.T) {
	t.Parallel()
	b, _ := readOne(t, "raw.log", logFixture(t, "raw.repeat.X3.7.8.log.gz"), bench.Context{})
	p := bench.Decide(b, bench.Keys(b), nil)
	if len(p.New) != 6 || len(p.Additions) != 0 || len(p.Refused) != 0 {
		t.Errorf("%d new, %d additions, %v", len(p.New), len(p.Additions), p.Refused)
	}
}

// opLineRe is the grammar of op-lines as plainly as it can be written.
var opLineRe = regexp.MustCompile(`^ ?(\w+) +: +(-?[\d.]+) micros/op(?: (\d+) ops/sec)?(?: ([\d.]+) seconds (\d+) operations)?;(?: +([\d.]+) MB/s)?`)

// TestParserAgreesWithASlowOne compares the parser with a regular expression per
// line over all logs at hand, those of other people where they are present.
func TestParserAgreesWithASlowOne(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"testdata/dbbench/*.log", "testdata/dbbench/*.log.gz", "testdata/dbbench/*.stdout"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 15 {
		t.Fatalf("only %d logs", len(files))
	}
	check := func(t *testing.T, name string, data []byte) {
		var slow, fast []string
		for _, line := range strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' || r == '\r' }) {
			if m := opLineRe.FindStringSubmatch(line); m != nil {
				slow = append(slow, strings.Join(m[1:], " "))
			}
		}
		for _, x := range ParseLog(data).Processes {
			for _, op := range x.Ops {
				fast = append(fast, strings.Join([]string{op.Name, op.Micros.Text, op.OpsPerSec.Text, op.Seconds.Text, op.Operations.Text, op.MBPerSec.Text}, " "))
			}
		}
		slices.Sort(slow)
		slices.Sort(fast)
		if !slices.Equal(slow, fast) {
			t.Errorf("%s: %d lines by expression, %d by the parser\n%q\n%q", name, len(slow), len(fast), slow, fast)
		}
	}
	for _, f := range files {
		check(t, f, logFixture(t, filepath.Base(f)))
	}
	t.Run("published logs", func(t *testing.T) {
		shared := testdata.Shared(t)
		for _, pattern := range []string{"cases/*.txt", "data/dbbench/lsm_tree_shape.feb2021/o.*", "data/dbbench/public-excerpts/*", "data/blocksize/db_bench*"} {
			found, err := filepath.Glob(filepath.Join(shared, pattern))
			if err != nil || len(found) == 0 {
				t.Fatalf("%s: %v", pattern, err)
			}
			for _, f := range found {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(f, ".gz") {
					r, err := gzip.NewReader(bytes.NewReader(data))
					if err != nil {
						t.Fatal(err)
					}
					if data, err = io.ReadAll(r); err != nil {
						t.Fatal(err)
					}
				}
				check(t, f, data)
			}
		}
	})
}

// TestReadsWhatDBBenchPrintsHere runs the installed db_bench.
func TestReadsWhatDBBenchPrintsHere(t *testing.T) {
	t.Parallel()
	program := testdata.NeedProgram(t, "db_bench")
	dir := t.TempDir()
	csv := filepath.Join(dir, "report.csv")
	args := []string{"--db=" + filepath.Join(dir, "db"), "--benchmarks=fillseq,readrandom[X2],stats", "--num=20000", "--threads=2", "--histogram=1", "--seed=1", "--report_interval_seconds=1", "--report_file=" + csv}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	intervals, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	reading, err := ReadDBBenchLog(stdout.Bytes(), stderr.Bytes(), LogSource{Stdout: "stdout", Stderr: "stderr", Command: program + " " + strings.Join(args, " "), Intervals: intervals})
	if err != nil {
		t.Fatal(err)
	}
	if len(reading.Messages) > 0 {
		t.Errorf("not understood: %v", reading.Messages)
	}
	if len(reading.Results) != 3 || reading.System != "rocksdb" {
		t.Fatalf("%s %+v", reading.System, reading.Results)
	}
	for i, name := range []string{"fillseq", "readrandom", "readrandom"} {
		r := &reading.Results[i]
		ops, _ := r.Value("operations")
		qps, _ := r.Value("qps")
		if r.Step.Name != name || r.State != bench.StateOK || r.Step.Threads != 2 || ops != 40000 || strconv.FormatFloat(qps, 'f', -1, 64) != r.PrimaryText || r.Started.IsZero() {
			t.Errorf("%+v: %v operations, qps %v %q", r.Step, ops, qps, r.PrimaryText)
		}
		if len(r.Histograms) != 1 || *r.Histograms[0].Count != 40000 {
			t.Errorf("%s: histograms %+v", name, r.Histograms)
		}
	}
	if v, ok := reading.Results[2].Value("db_size_gb"); !ok || v < 0 {
		t.Errorf("no size after stats: %v", reading.Results[2].Values)
	}
}

func TestCountersBeginWithTheOpeningOfTheDatabase(t *testing.T) {
	t.Parallel()
	op := func(name string, qps int) string {
		return fmt.Sprintf("DB path: [/d]\n%-12s : %11.3f micros/op %d ops/sec 1.000 seconds 1000 operations;\n", name, 1e6/float64(qps), qps)
	}
	header := "RocksDB:    version 8.1.1\nDate:       Mon Nov 30 13:35:12 2026\nKeys:       16 bytes each\n------------------------------------------------\n"
	opened := "Initializing RocksDB Options from the specified file\nInitializing RocksDB Options from command-line flags\n"
	for name, c := range map[string]struct {
		log   string
		alone bool // the last result has the database to itself
	}{
		"a read of what was filled":       {header + op("fillseq", 1000) + op("readrandom", 2000), false},
		"a load makes a new database":     {header + op("readrandom", 1000) + op("fillseq", 2000), true},
		"opened anew":                     {header + op("overwrite", 1000) + opened + op("readrandom", 2000), true},
		"a load into an existing one":     {"$ db_bench --benchmarks=readrandom,fillseq --use_existing_db=1\n" + header + op("readrandom", 1000) + op("fillseq", 2000), false},
		"the second of two announced":     {header + "Running benchmark for 2 times\n" + op("fillseq", 1000) + op("fillseq", 2000), false},
		"two loads, one after another":    {header + op("fillseq", 1000) + op("fillseq", 2000), true},
		"options that are printed before": {opened + header + op("overwrite", 1000) + op("readrandom", 2000), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := readOne(t, "x.log", []byte(c.log+"\n"+levels85), bench.Context{})
			results := b.Runs[0].Results
			last := &results[len(results)-1]
			_, has := last.Value("uptime_s")
			if has != c.alone || warned(last, "statistics count since the database was opened") == c.alone {
				t.Errorf("uptime %v, %v", has, last.Warnings)
			}
			figures(t, last, map[string]float64{"db_size_gb": 2.5})
			absent(t, &results[0], "db_size_gb", "uptime_s")
		})
	}
}

func TestDumpsOnTheWayBelongToNoEarlierResult(t *testing.T) {
	t.Parallel()
	thread := "2026/11/30-13:30:29  ... thread 0: (20000,20000) ops and (9976.1,9976.1) ops/second in (2.004792,2.004792) seconds\n\n"
	log := "RocksDB:    version 8.1.1\nDB path: [/d]\nfillseq      :       5.000 micros/op 200000 ops/sec;\n" + thread + levels85 +
		"num-running-compactions: 0\nnum-running-flushes: 0\n\nDB path: [/d]\nreadrandom   :       4.000 micros/op 250000 ops/sec;\n"
	b, f := readOne(t, "x.log", []byte(log), bench.Context{})
	wantSteps(t, b, "fillseq ok 200000", "readrandom ok 250000")
	for i := range b.Runs[0].Results {
		absent(t, &b.Runs[0].Results[i], "db_size_gb", "uptime_s")
	}
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
	// For the only result of a log without statistics at its end they stand in, and it says so.
	only := "RocksDB:    version 8.1.1\n" + thread + levels85 + "num-running-compactions: 0\nDB path: [/d]\nfillseq      :       5.000 micros/op 200000 ops/sec;\n"
	b, _ = readOne(t, "x.log", []byte(only), bench.Context{})
	r := &b.Runs[0].Results[0]
	figures(t, r, map[string]float64{"db_size_gb": 2.5, "uptime_s": 100.5})
	if !warned(r, "statistics are of the last interval, not of the end") {
		t.Error(r.Warnings)
	}
}

func TestProgressThatLedToNothing(t *testing.T) {
	t.Parallel()
	progress := "... finished 100 ops                              \r... finished 200 ops                              \r"
	line := "DB path: [/d]\nreadwhilewriting :      36.079 micros/op 54818 ops/sec 5.071 seconds 277998 operations;   22.0 MB/s (130999 of 130999 found)\n"
	header := "RocksDB:    version 8.1.1\n"
	for name, c := range map[string]struct {
		file, log string
		want      []string
	}{
		"cut short in the second benchmark":      {"x.log", header + progress + line + progress, []string{"readwhilewriting ok 54818", "unknown failed"}},
		"stderr after stdout":                    {"x.log", header + line + progress, []string{"readwhilewriting ok 54818"}},
		"a failure after a result":               {"x.log", header + progress + line + "put error: IO error: x\n", []string{"readwhilewriting ok 54818", "unknown failed"}},
		"a log of one step that ended badly":     {"benchmark_readwhilewriting.t2.log", header + progress + line + progress + "Received signal 11 (Segmentation fault)\n", []string{"readwhilewriting ok 54818"}},
		"named by the benchmark that had begun":  {"x.log", header + progress + line + "test is: overwrite\n" + progress, []string{"readwhilewriting ok 54818", "overwrite failed"}},
		"all of the list is there, then a crash": {"x.log", "$ db_bench --benchmarks=readwhilewriting\n" + header + line + "Received signal 11 (Segmentation fault)\n", []string{"readwhilewriting ok 54818"}},
		"the list ends early without a word":     {"x.log", "$ db_bench --benchmarks=readwhilewriting,overwrite\n" + header + line, []string{"readwhilewriting ok 54818", "overwrite failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := readOne(t, c.file, []byte(c.log), bench.Context{})
			wantSteps(t, b, c.want...)
			r := b.Runs[0].Results[0]
			if strings.Contains(c.log, "Segmentation fault") && !warned(&r, "db_bench did not end well: Received signal 11 (Segmentation fault)") {
				t.Error(r.Warnings)
			}
		})
	}
}
