package bench

import "strings"

// Direction says which way of a metric is better.
type Direction string

// The directions of metrics.
const (
	HigherBetter Direction = "higher"
	LowerBetter  Direction = "lower"
	Neutral      Direction = "neutral" // neither way is better: work done, sizes of settings
)

// Metric is a measured quantity. Name is the project's own (SI-style, unit at
// its end); Unit is how values are stored; sizes in GB and MB are binary
// (2^30, 2^20), as db_bench divides by 1048576.
type Metric struct {
	Name      string    `json:"name"`
	Unit      string    `json:"unit"`
	Direction Direction `json:"direction"`
	Title     string    `json:"-"` // for headings: "QPS"
	About     string    `json:"-"` // one sentence for people
}

// metrics lists the known metrics in the order pages show them.
var metrics = []Metric{
	{"qps", "1/s", HigherBetter, "QPS", "operations per second of all counted threads"},
	{"mb_per_s", "MB/s", HigherBetter, "MB/s", "user data read or written per second"},
	{"usec_per_op", "µs", LowerBetter, "µs per operation", "time per operation; per thread since RocksDB 6.0, wall time before: compare QPS instead"},
	{"p50", "µs", LowerBetter, "p50", "median response time"},
	{"p75", "µs", LowerBetter, "p75", "75th percentile of the response time"},
	{"p95", "µs", LowerBetter, "p95", "95th percentile of the response time"},
	{"p99", "µs", LowerBetter, "p99", "99th percentile of the response time"},
	{"p99_9", "µs", LowerBetter, "p99.9", "99.9th percentile of the response time"},
	{"p99_99", "µs", LowerBetter, "p99.99", "99.99th percentile of the response time"},
	{"max", "µs", LowerBetter, "max", "longest response time"},
	{"average", "µs", LowerBetter, "average", "mean response time"},
	{"elapsed_s", "s", Neutral, "elapsed", "wall time of the step as the benchmark program counts it"},
	{"operations", "count", Neutral, "operations", "operations done by all counted threads"},
	{"found_percent", "%", Neutral, "found", "share of reads that found their key, in one thread"},
	{"db_size_gb", "GB", LowerBetter, "database size", "size of the LSM tree, or of the tables where a server holds other things besides"},
	{"level0_size_gb", "GB", Neutral, "L0 size", "size of level 0"},
	{"blob_size_gb", "GB", LowerBetter, "blob size", "size of blob files"},
	{"compaction_write_gb", "GB", LowerBetter, "compaction write", "written by compaction, flush included"},
	{"compaction_read_gb", "GB", LowerBetter, "compaction read", "read by compaction"},
	{"flush_write_gb", "GB", Neutral, "flush write", "written by memtable flushes"},
	{"ingest_gb", "GB", Neutral, "ingest", "written by the application"},
	{"write_amp", "ratio", LowerBetter, "write amplification", "(compaction write + flush) / ingest, as benchmark.sh counts it: flush counts twice"},
	{"compaction_write_mb_per_s", "MB/s", Neutral, "compaction write rate", "compaction write over uptime"},
	{"compaction_wall_s", "s", LowerBetter, "compaction wall time", "wall seconds spent in compaction, summed over jobs"},
	{"compaction_cpu_s", "s", LowerBetter, "compaction CPU", "CPU seconds spent in compaction"},
	{"blob_read_gb", "GB", Neutral, "blob compaction read", "blob data read by compaction"},
	{"blob_write_gb", "GB", Neutral, "blob compaction write", "blob data written by compaction"},
	{"uptime_s", "s", Neutral, "uptime", "seconds the database was open; includes waiting for compaction"},
	{"stall_s", "s", LowerBetter, "stall time", "seconds writes were stalled"},
	{"stall_percent", "%", LowerBetter, "stalled", "share of the uptime in which writes were stalled"},
	{"stall_count", "count", LowerBetter, "stalls", "number of write stalls"},
	{"user_cpu_s", "s", LowerBetter, "user CPU", "user CPU seconds of the benchmark process"},
	{"system_cpu_s", "s", LowerBetter, "system CPU", "system CPU seconds of the benchmark process"},
	{"rss_gb", "GB", LowerBetter, "RSS", "peak resident memory of the benchmark process, or of the database server where that is another one"},
	{"read_io_gb", "GB", LowerBetter, "storage read", "bytes the process read from storage"},
	{"write_io_gb", "GB", LowerBetter, "storage write", "bytes the process wrote to storage"},
	{"real_s", "s", LowerBetter, "wall time", "wall seconds of the whole process"},
	{"ips", "1/s", HigherBetter, "IPS", "rows inserted per second; in l.x rows indexed per second, all indexes together"},
	{"p50_second_rate", "1/s", HigherBetter, "p50 second", "rate that half of the one-second intervals reach: rows in insert steps, queries in query steps"},
	{"p90_second_rate", "1/s", HigherBetter, "p90 second", "rate that 90 % of the one-second intervals reach"},
	{"p99_second_rate", "1/s", HigherBetter, "p99 second", "rate that 99 % of the one-second intervals reach: what the worst seconds are like"},
	{"max_op_s", "s", LowerBetter, "longest operation", "longest response time of an insert statement in insert steps, of a query in query steps"},
	{"cpu_us_per_op", "µs", LowerBetter, "CPU per operation", "CPU time of server and client per row inserted or per query"},
	{"client_cpu_us_per_op", "µs", LowerBetter, "client CPU per operation", "CPU time of the client alone per row inserted or per query"},
	{"read_kb_per_op", "KB", LowerBetter, "read per operation", "read from storage per row inserted or per query"},
	{"write_kb_per_op", "KB", LowerBetter, "written per row", "written to storage per row inserted, in query steps as well"},
	{"write_kb_per_query", "KB", LowerBetter, "written per query", "written to storage per query, as scripts before 2021 count in query steps"},
	{"reads_per_op", "ratio", LowerBetter, "reads per operation", "storage reads per row inserted or per query"},
	{"writes_per_op", "ratio", LowerBetter, "writes per row", "storage writes per row inserted, in query steps as well"},
	{"context_switches_per_op", "ratio", LowerBetter, "context switches per operation", "context switches per row inserted or per query"},
	{"deletes_per_s", "1/s", Neutral, "deletes", "rows deleted per second beside the inserts"},
	{"reads_per_s", "1/s", Neutral, "storage reads", "storage reads per second"},
	{"writes_per_s", "1/s", Neutral, "storage writes", "storage writes per second"},
	{"read_mb_per_s", "MB/s", Neutral, "storage read rate", "read from storage per second"},
	{"write_mb_per_s", "MB/s", Neutral, "storage write rate", "written to storage per second"},
	{"context_switches_per_s", "1/s", Neutral, "context switch rate", "context switches per second"},
	{"cpu_percent", "%", Neutral, "CPU", "share of all cores that was busy, user and system"},
	{"total_size_gb", "GB", LowerBetter, "total size", "size of the server's data directory, logs included"},
	{"vsz_gb", "GB", Neutral, "virtual memory", "peak virtual memory of the database server"},
	{"server_cpu_s", "s", LowerBetter, "server CPU", "CPU seconds of the database server"},
	{"index_create_s", "s", LowerBetter, "index creation", "seconds in which the secondary indexes were created"},
	{"rows_per_query", "count", Neutral, "rows per query", "rows that a query got on average"},
	{"observed_latency_ns", "ns", LowerBetter, "observed latency", "mean time of a read as its caller sees it"},
	{"block_read_time_ns", "ns", LowerBetter, "block read time", "mean time of a read that went into reading blocks from storage"},
	{"merge_samples", "count", Neutral, "reads with merge", "reads that had to merge operands"},
	{"iops", "1/s", HigherBetter, "IOPS", "I/O operations per second"},
	{"min_us", "µs", LowerBetter, "min", "shortest response time"},
	{"stdev_us", "µs", LowerBetter, "standard deviation", "standard deviation of the response times"},
	{"real_time_ns", "ns", LowerBetter, "time per iteration", "wall time of an iteration of a microbenchmark"},
	{"cpu_time_ns", "ns", LowerBetter, "CPU time per iteration", "CPU time of an iteration of a microbenchmark"},
}

var metricByName = func() map[string]Metric {
	m := make(map[string]Metric, len(metrics))
	for _, x := range metrics {
		m[x.Name] = x
	}
	return m
}()

// Metrics gives the known metrics in the order pages show them. The caller
// owns the slice.
func Metrics() []Metric { return append([]Metric(nil), metrics...) }

// LookupMetric gives the definition of a metric by name. Names beginning with
// "ticker_" (RocksDB statistics counters), "perf_" (perf context counters) and
// "counter_" (what a microbenchmark counts) belong to open families of neutral
// figures. ok is false for any other name
// that is not in [Metrics].
func LookupMetric(name string) (m Metric, ok bool) {
	if m, ok = metricByName[name]; ok {
		return m, true
	}
	if rest, found := strings.CutPrefix(name, "ticker_"); found && rest != "" {
		return Metric{name, "count", Neutral, rest, "RocksDB statistics counter"}, true
	}
	if rest, found := strings.CutPrefix(name, "perf_"); found && rest != "" {
		return Metric{name, "count", Neutral, rest, "RocksDB perf context counter"}, true
	}
	if rest, found := strings.CutPrefix(name, "counter_"); found && rest != "" {
		return Metric{name, "", Neutral, rest, "counter of a microbenchmark, in the unit that it has there"}, true
	}
	return Metric{}, false
}

// metricRank orders metrics as [Metrics] lists them, the open families after.
func metricRank(name string) int {
	for i, m := range metrics {
		if m.Name == name {
			return i
		}
	}
	return len(metrics)
}

// CompareMetrics orders metric names as pages show them.
func CompareMetrics(a, b string) int {
	if d := metricRank(a) - metricRank(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// PrimaryMetric names the metric that decides a step: ips for the insert steps
// of the Insert Benchmark (l.*), the latency of state-perf, IOPS of fio, the time
// of a microbenchmark's iteration, qps otherwise.
func PrimaryMetric(suite, step string) string {
	switch suite {
	case SuiteIBench:
		if strings.HasPrefix(step, "l.") {
			return "ips"
		}
	case SuiteStatePerf:
		return "observed_latency_ns"
	case SuiteFIO:
		return "iops"
	case SuiteGoogle:
		return "real_time_ns"
	}
	return "qps"
}

// PrimaryMetrics lists every metric that [PrimaryMetric] may name.
func PrimaryMetrics() []string {
	return []string{"qps", "ips", "observed_latency_ns", "iops", "real_time_ns"}
}
