// Package ingest reads what benchmark programs and their scripts leave behind
// and turns it into [bench.Batch] values, which a store writes.
//
// [Read] turns the bytes of one upload into a batch, [Ingester] hands it to a
// store, [Check] says in words what it holds, [Units] makes uploads of
// directories. A file that cannot be understood is refused with the places at
// fault and leaves nothing behind, or is taken with a warning for every cell
// that was left out.
//
// One file per format: report.go (report.tsv in all its generations), sum.go
// and grouping.go (summary.tsv, sum.*), matrix.go, cisummary.go (SUMMARY.csv),
// dbbench.go (raw logs), reportfile.go (--report_file), resultdir.go (a result
// directory as a whole), runnerdir.go (the journal of relqps run), export.go;
// of the Insert Benchmark ibench.go (reports), ibench_times.go (response times),
// ibench_check.go (what reports say twice), ibench_page.go (their page),
// ibench_run.go, ibench_client.go and ibench_step.go (run directories); of block
// sizes and disks stateperf.go, fio.go and fio_json.go; googlebenchmark.go;
// of configs mycnf.go, rocksoptions.go and pairs.go (lists, server variables), with
// config.go for what these share.
// format.go holds what readers share and the list of formats; pipeline.go the
// way from bytes to batch; archive.go and encoding.go what comes before readers.
// Formats are told apart by content, never by a file's name; directories of
// benchmark.sh state context, names of files hint at it, see pathcontext.go. In
// the Insert Benchmark names are all there is, see ibench_name.go.
package ingest
