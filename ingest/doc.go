// Package ingest reads what benchmark programs and their scripts leave behind
// and turns it into [bench.Batch] values, which a store writes.
//
// One file per format: report.go (report.tsv in all its generations), sum.go
// (summary.tsv, sum.*), matrix.go, dbbench.go (raw logs), reportfile.go
// (--report_file), resultdir.go (a result directory as a whole). format.go
// holds what readers share and the list of formats; pipeline.go the way from
// bytes to batch. Formats are told apart by content, never by a file's name;
// directories of benchmark.sh state context, names of files hint at it, see
// pathcontext.go.
package ingest
