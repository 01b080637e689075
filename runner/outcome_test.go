package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

func TestStepIsJudgedByItsEndAndByWhatItPrinted(t *testing.T) {
	t.Parallel()
	const (
		header = "RocksDB:    version 7.8.3\nDate:       Mon Nov 30 13:30:11 2026\nCPU:        2 * Some CPU\nCPUCache:   307200 KB\n"
		data   = "Keys:       20 bytes each (+ 0 bytes user-defined timestamp)\nValues:     400 bytes each (200 bytes after compression)\nEntries:    200000\n------------------------------------------------\n"
		line   = "DB path: [/d/db]\noverwrite    :      14.117 micros/op 282862 ops/sec 14.141 seconds 4000000 operations;  113.3 MB/s\n"
	)
	overwrite := ingest.RunnerCommand{Number: 1, Dir: "01-overwriteandwait", Step: "overwriteandwait", Test: "overwriteandwait.t2.s0", Figure: "overwrite",
		Args: []string{"/opt/db_bench", "--benchmarks=overwrite,waitforcompaction,stats", "--threads=2"}, Limit: 605}
	flush := ingest.RunnerCommand{Number: 2, Dir: "02-flush", Step: "flush", Test: "flush", Args: []string{"/opt/db_bench", "--benchmarks=flush,waitforcompaction"}, Limit: 60}
	misspelt := ingest.RunnerCommand{Number: 3, Dir: "03-over", Step: "over", Test: "over", Figure: "over", Args: []string{"/opt/db_bench", "--benchmarks=over"}, Limit: 60}
	tests := []struct {
		name           string
		command        *ingest.RunnerCommand
		exit           ingest.RunnerExit
		stdout, stderr string
		state          bench.State
		reason         string // or the beginning of it, with …
		figure         string
	}{
		{"well", &overwrite, ingest.RunnerExit{}, data + line, header, bench.StateOK, "", "282862 QPS"},
		{"result, then a crash", &overwrite, ingest.RunnerExit{Code: -1, Signal: "aborted"}, data + line, header, bench.StateFailed, "ended by a signal: aborted", ""},
		{"result, then hanging", &overwrite, ingest.RunnerExit{Code: -1, Signal: "terminated", TimeLimit: true}, data + line, header, bench.StateFailed,
			"time limit of 605 s passed, ended by the runner (terminated)", ""},
		{"ended in time when asked to", &overwrite, ingest.RunnerExit{TimeLimit: true}, data + line, header, bench.StateFailed, "time limit of 605 s passed, ended by the runner", ""},
		{"disk full", &overwrite, ingest.RunnerExit{Code: 1}, data, header + "... finished 1000 ops                              \rput error: IO error: No space left on device: While appending to file: /d/db/000011.log: No space left on device\n",
			bench.StateFailed, "put error: IO error: No space left on device: While appending to file: /d/db/000011.log: No space left on device; exit status 1", ""},
		{"segmentation fault", &overwrite, ingest.RunnerExit{Code: -1, Signal: "segmentation fault", CoreDumped: true}, data, header + "Received signal 11 (Segmentation fault)\n#0   /opt/db_bench() [0x5a1b2c]\n",
			bench.StateFailed, "Received signal 11 (Segmentation fault); ended by a signal: segmentation fault", ""},
		{"killed without a word", &overwrite, ingest.RunnerExit{Code: -1, Signal: "killed"}, data, header + "... finished 250000 ops                              \r", bench.StateFailed, "ended by a signal: killed", ""},
		{"unknown flag", &overwrite, ingest.RunnerExit{Code: 1}, "", "ERROR: unknown command line flag 'cache_type'\n", bench.StateFailed, "ERROR: unknown command line flag 'cache_type'; exit status 1", ""},
		{"unknown benchmark, exit status 0 as in old releases", &misspelt, ingest.RunnerExit{}, data, header + "unknown benchmark 'over'\n", bench.StateFailed, "unknown benchmark 'over'", ""},
		{"no result line", &overwrite, ingest.RunnerExit{}, data, header, bench.StateFailed, "ended without a result line…", ""},
		{"nothing at all", &overwrite, ingest.RunnerExit{}, "", "", bench.StateFailed, "ended without a result line…", ""},
		{"a step that prints no result", &flush, ingest.RunnerExit{}, data + "flush memtable\nwaitforcompaction(/d/db): started\nwaitforcompaction(/d/db): finished\n", header, bench.StateOK, "", ""},
		{"a step that prints no result, and fails", &flush, ingest.RunnerExit{Code: 1}, data, header + "open error: IO error: lock hold by current process\n", bench.StateFailed, "open error: IO error: lock hold by current process; exit status 1", ""},
		{"two programs", &overwrite, ingest.RunnerExit{}, data + line + data + line, header, bench.StateFailed, "stdout: output of 2 executions…", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "stdout"), test.stdout)
			write(t, filepath.Join(dir, "stderr"), test.stderr)
			state, reason, figure, err := judge(test.command, test.exit, dir)
			if err != nil {
				t.Fatal(err)
			}
			begin, cut := strings.CutSuffix(test.reason, "…")
			if state != test.state || figure != test.figure || reason != test.reason && !(cut && strings.HasPrefix(reason, begin)) {
				t.Errorf("%s, %q, figure %q\nwant %s, %q, figure %q", state, reason, figure, test.state, test.reason, test.figure)
			}
		})
	}
}
