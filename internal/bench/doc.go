// Package bench holds the domain of relqps: what was measured, on what, and how
// two figures are known to be the same measurement. It imports the standard
// library only, so that readers, stores, statistics and pages can share it.
//
// The words, used in code, schema, addresses and pages alike:
//
//   - system: the software measured (rocksdb, myrocks, neard).
//   - version: a release of a system, ordered by [CompareVersions].
//   - build: a version made by a compiler (gcc, clang, clang+lto).
//   - config: a named set of options (a0 … a7, bs4k).
//   - server: a machine (c2, arm).
//   - workload: what the data set is to the cache (cached, iobuf, iodir …).
//   - suite: the benchmark program (db_bench, ibench, state-perf, fio).
//   - step: one benchmark step of a suite (fillseq, l.i1), see [Step].
//   - metric: a measured quantity with unit and direction, see [Metric].
//   - run: one execution of a suite's steps, see [Run].
//   - result: one step of a run, see [Result].
//   - coordinate: all that is fixed but the version, see [Coordinate].
//   - series: a coordinate and a metric, see [Series].
//   - point: all samples of a series at one version, see [Point].
//   - campaign: runs of one server without a long pause.
//   - base: the point a series is divided by.
//   - relative value: point / base, for every metric; direction decides words
//     and colour, never the formula.
//   - measurement key: what makes two figures the same measurement, see [Key].
//   - check: a file of ratios compared with what is stored; never a result.
package bench
