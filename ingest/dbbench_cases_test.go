package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// oddLog is a log as somebody really left it: our own imitation, and the file
// itself where the published collection is at hand. want is of the file, own of
// the imitation; check holds for both.
type oddLog struct {
	name      string // of the file in the collection
	imitation string
	context   bench.Context
	own, want []string
	check     func(t *testing.T, b *bench.Batch, f bench.File)
}

const headerAndOptions = `RocksDB:    version 7.8.3
Date:       Mon Nov 30 13:30:48 2026
CPU:        2 * Some Processor
CPUCache:   1024 KB
Initializing RocksDB Options from the specified file
Initializing RocksDB Options from command-line flags
Keys:       16 bytes each (+ 0 bytes user-defined timestamp)
Values:     100 bytes each (50 bytes after compression)
Entries:    1000000
Prefix:    0 bytes
Keys per prefix:    0
RawSize:    110.6 MB (estimated)
FileSize:   62.9 MB (estimated)
Write rate: 0 bytes/second
Read rate: 0 ops/second
Compression: Snappy
Memtablerep: SkipListFactory
Perf Level: 1
------------------------------------------------
`

func oddLogs() []oddLog {
	withoutHeader := headerAndOptions[strings.Index(headerAndOptions, "Initializing"):]
	return []oddLog{
		{
			name:      "01-format-before-and-after-7.3.txt",
			imitation: " DB path: [/d]\n overwrite    :      10.000 micros/op 400000 ops/sec;   40.0 MB/s\n DB path: [/d]\n overwrite    :      10.100 micros/op 396000 ops/sec 10.100 seconds 4000000 operations;   39.6 MB/s\n",
			context:   bench.Context{Version: "7.3"},
			own:       []string{"overwrite ok 400000", "overwrite ok 396000"},
			want:      []string{"overwrite ok 283338", "readrandom ok 496788", "overwrite ok 282862", "readrandom ok 458475"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				results := b.Runs[0].Results
				first, last := &results[0], &results[len(results)-1]
				absent(t, first, "elapsed_s", "operations")
				figures(t, last, map[string]float64{"operations": 4000000})
				for _, r := range results {
					if mb, ok := r.Value("mb_per_s"); !ok || mb < 30 || r.Primary != "qps" || !warned(&r, "not of one release") {
						t.Errorf("%s: MB/s %v, %v", r.PrimaryText, mb, r.Warnings)
					}
				}
			},
		},
		{
			name: "03-x10-running-averages.txt",
			imitation: "Running benchmark for 4 times\nfillseq      :       4.000 micros/op 250000 ops/sec;   27.0 MB/s\nfillseq      :       5.000 micros/op 200000 ops/sec;   22.0 MB/s\nfillseq [AVG 2 runs] : 225000 (± 35355) ops/sec;   24.5 (± 3.5) MB/sec\n" +
				"fillseq      :       5.000 micros/op 200000 ops/sec;   22.0 MB/s\nfillseq [AVG 3 runs] : 216666 (± 28867) ops/sec;   23.7 (± 2.9) MB/sec\n",
			context: bench.Context{Version: "7.4"},
			own:     []string{"fillseq ok 250000", "fillseq ok 200000", "fillseq ok 200000"},
			want:    []string{"fillseq ok 201578", "fillseq ok 198824", "fillseq ok 201471", "fillseq ok 198625", "fillseq ok 200861", "fillseq ok 204367", "fillseq ok 203502", "fillseq ok 200074"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if len(b.Runs) != 1 || len(f.Messages) > 0 {
					t.Errorf("%d runs, %v", len(b.Runs), f.Messages)
				}
				// Two repeats with the same figures are two samples.
				if p := bench.Decide(b, bench.Keys(b), nil); len(p.New) != len(b.Runs[0].Results) {
					t.Errorf("%d of %d are new", len(p.New), len(b.Runs[0].Results))
				}
			},
		},
		{
			name:      "05-enospc-mid-run.txt",
			imitation: string(logText("nospace.log")),
			own:       []string{"unknown failed"},
			want:      []string{"unknown failed"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if r := b.Runs[0].Results[0]; !strings.Contains(r.Reason, "IO error: No space left on device") || len(r.Values) > 0 || b.Runs[0].Build.Version != "7.8.3" {
					t.Errorf("%+v", r)
				}
			},
		},
		{
			name:      "07-segv-near-end.txt",
			imitation: "Received signal 11 (Segmentation fault)\n#0   /data/rocksdb/db_bench(+0xa71d5) [0x55a7ae3861d5] ??\t??:0\t\n",
			context:   bench.Context{Version: "7.0.2"},
			own:       []string{"unknown failed"},
			want:      []string{"unknown failed"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if r := b.Runs[0].Results[0]; r.Reason != "Received signal 11 (Segmentation fault)" || len(f.Messages) > 0 {
					t.Errorf("%q %v", r.Reason, f.Messages)
				}
			},
		},
		{
			name:      "09-sigkill-progress-only.txt",
			imitation: string(logText("killed.log")),
			own:       []string{"fillrandom failed", "readrandom not_run"},
			want:      []string{"fillrandom failed", "readrandom not_run"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				r := b.Runs[0].Results[0]
				if r.Reason != "Killed" || len(r.Values) > 0 || !strings.Contains(r.Command, "--num=5000000") {
					t.Errorf("%+v", r)
				}
			},
		},
		{
			name: "11-assertions-3.10-vs-3.8.txt",
			imitation: strings.ReplaceAll(headerAndOptions, "RocksDB:    version 7.8.3", "LevelDB:    version 3.8") + "WARNING: Assertions are enabled; benchmarks unnecessarily slow\nfillrandom   :       3.000 micros/op 333333 ops/sec;  250.0 MB/s\n\n" +
				strings.ReplaceAll(headerAndOptions, "RocksDB:    version 7.8.3", " LevelDB:    version 3.10") + "WARNING: Assertions are enabled; benchmarks unnecessarily slow\n fillrandom   :     300.000 micros/op 3333 ops/sec;    2.5 MB/s\n",
			own:  []string{"fillrandom ok 333333", "fillrandom ok 3333"},
			want: []string{"fillrandom ok 314982", "fillrandom ok 2605"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if len(b.Runs) != 2 || b.Runs[0].Build.Version != "3.8" || b.Runs[1].Build.Version != "3.10" || bench.CompareVersions("3.8", "3.10") >= 0 {
					t.Fatalf("%d runs", len(b.Runs))
				}
				for _, run := range b.Runs {
					if r := run.Results[0]; run.System != "rocksdb" || r.Excluded != "assertions are enabled" || r.Started.IsZero() {
						t.Errorf("%s %s: excluded %q", run.System, run.Build.Version, r.Excluded)
					}
				}
			},
		},
		{
			name:      "13-mixgraph-nan.txt",
			imitation: string(logText("several.nan.log.gz")),
			own: []string{"fillseq ok 207116", "mixgraph ok 646705", "multireadrandom ok 1038205", "readrandomwriterandom ok 579575", "updaterandom ok 151299",
				"seekrandom ok 500650", "readwhilewriting ok 97290", "compact ok 175898.000", "crc32c ok 291867"},
			want: []string{"fillseq ok 161652", "mixgraph ok 215890", "multireadrandom ok 253440", "readrandomwriterandom ok 229723", "updaterandom ok 49043",
				"seekrandom ok 111115", "readwhilewriting ok 72406", "compact ok 318080.000", "crc32c ok 92554"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if len(f.Messages) > 0 {
					t.Error(f.Messages)
				}
				for _, r := range b.Runs[0].Results {
					if r.Step.Threads != 2 {
						t.Errorf("%s: %d threads", r.Step.Name, r.Step.Threads)
					}
				}
			},
		},
		{
			name:      "15-empty-db-0-found.txt",
			imitation: string(logText("nothing.found.log")),
			own:       []string{"readrandom ok 9505"},
			want:      []string{"readrandom ok 106382"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if r := &b.Runs[0].Results[0]; !strings.HasPrefix(r.Excluded, "0 of 10 found") || !warned(r, "0 of 10 found") {
					t.Errorf("excluded %q, %v", r.Excluded, r.Warnings)
				}
			},
		},
		{
			name:      "17-threads-micros-vs-ops.txt",
			imitation: withoutHeader + "DB path: [/d]\nreadwhilewriting :    1000.000 micros/op 8000 ops/sec;   20.0 MB/s (90 of 100 found)\n",
			context:   bench.Context{Version: "7.2.2"},
			own:       []string{"readwhilewriting ok 8000"},
			want:      []string{"readwhilewriting ok 31248"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				r := &b.Runs[0].Results[0]
				usec, _ := r.Value("usec_per_op")
				qps, _ := r.Value("qps")
				// micros/op is of one thread: their product is the number of threads, not one.
				if threads := usec * qps / 1e6; threads < 7.9 || len(r.Warnings) > 0 || r.Excluded != "" || len(f.Messages) > 0 {
					t.Errorf("threads %v, %v", threads, r.Warnings)
				}
			},
		},
		{
			name: "19-compact-zero-ops-sec.txt",
			imitation: "[user@host1 output]$ ./db_bench --benchmarks=compact --use_existing_db=1 --db=/data4/x/\nRocksDB:    version 5.18\nDate:       Mon Jan 18 09:06:24 2021\nKeys:       16 bytes each\nMemtablerep: skip_list\n" +
				"DB path: [/data4/x/]\ncompact      : 1234567.000 micros/op 0 ops/sec;\n",
			own:  []string{"compact ok 1234567.000"},
			want: []string{"compact ok 2878433.000"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				r := &b.Runs[0].Results[0]
				absent(t, r, "qps")
				if usec, _ := r.Value("usec_per_op"); usec < 1e6 || r.Primary != "usec_per_op" || r.State != bench.StateOK || !strings.HasSuffix(r.Text, " 0 ops/sec;") {
					t.Errorf("%v %s %q", usec, r.Primary, r.Text)
				}
				if b.Runs[0].Options["use_existing_db"] != "1" || len(f.Messages) > 0 {
					t.Errorf("%v %v", b.Runs[0].Options, f.Messages)
				}
			},
		},
		{
			name: "33-basho-lmdb-du-lines.txt",
			imitation: "h:/bin> foreach i (*)\nBasho LevelDB: version 1.9\nDate: Thu Sep 28 02:45:11 2017\nCPU: 4 * CPU @ 2.53GHz\nKeys: 16 bytes each\nEntries: 1000000\n------\n" +
				"fillrandsync : 2.000 micros/op 500000 ops/sec; 50.0 MB/s (1000 ops)\n148 /data/dbbench-1000/basho\nfillrandom : 4.000 micros/op 250000 ops/sec; 25.0 MB/s\n98240 /data/dbbench-1000/basho\n" +
				"LMDB: version LMDB 0.9.14: (September 15, 2014)\nDate: Thu Sep 18 20:52:49 2014\nfillrandsync : 40.000 micros/op 25000 ops/sec; 2.5 MB/s (1000 ops)\n228 /data/x-1\nfillrandom : 32.000 micros/op 31250 ops/sec; 3.1 MB/s\n1.5G /data/x-2\n",
			own:  []string{"fillrandsync ok 500000", "fillrandom ok 250000", "fillrandsync ok 25000", "fillrandom ok 31250"},
			want: []string{"fillrandsync ok 431592", "fillrandom ok 271553", "fillrandsync ok 27541", "fillrandom ok 30573"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if len(b.Runs) != 2 || b.Runs[0].System != "basho-leveldb" || b.Runs[0].Build.Version != "1.9" || b.Runs[1].System != "lmdb" || b.Runs[1].Build.Version != "0.9.14" {
					t.Fatalf("%+v", b.Runs)
				}
				if b.Runs[1].Environment["version_text"] != "LMDB 0.9.14: (September 15, 2014)" || b.Runs[0].Results[0].Started.Second() != "2017-09-28T02:45:11" {
					t.Errorf("%v, started %s", b.Runs[1].Environment, b.Runs[0].Results[0].Started)
				}
				// The prompt is the only line that is not known; du's lines are.
				if len(f.Messages) != 1 || f.Messages[0].Line != 1 {
					t.Errorf("%v", f.Messages)
				}
			},
		},
		{
			name:      "35-two-processes-interleaved.txt",
			imitation: string(logText("two.processes.log.gz")),
			own:       []string{"fillseq ok 193833", "readrandom ok 346032", "fillrandom ok 124535", "readrandom ok 781799"},
			want:      []string{"fillseq ok 45395", "readrandom ok 70783", "fillrandom ok 33643", "readrandom ok 123793"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if len(b.Runs) != 2 || b.Runs[0].ID == b.Runs[1].ID {
					t.Errorf("%d runs", len(b.Runs))
				}
				// Few keys are found after fillrandom, all after fillseq.
				all, _ := b.Runs[0].Results[1].Value("found_percent")
				some, _ := b.Runs[1].Results[1].Value("found_percent")
				if all != 100 || some < 60 || some > 65 {
					t.Errorf("found %v and %v", all, some)
				}
			},
		},
		{
			name:      "37-powershell-utf16le.txt",
			imitation: "\xff\xfe" + strings.Join(strings.Split(strings.ReplaceAll(string(logText("fillseq.readrandom.stdout")), "\n", "\r\n"), ""), "\x00") + "\x00",
			context:   bench.Context{Version: "7.8.3"},
			own:       []string{"fillseq ok 218378", "readrandom ok 1000200"},
			want:      []string{"fillseq ok 114364", "readrandom ok 315556"},
		},
		{
			name:      "39-german-locale-time.txt",
			imitation: "DB path: [/d]\nfillseq      :       9.919 micros/op 100797 ops/sec 0.198 seconds 20000 operations;   11.2 MB/s\n\nreal\t1m0,365s\nuser\t0m0,051s\nsys\t0m0,026s\n",
			context:   bench.Context{Version: "7.8.3"},
			own:       []string{"fillseq ok 100797"},
			want:      []string{"fillseq ok 100797"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				r := &b.Runs[0].Results[0]
				figures(t, r, map[string]float64{"user_cpu_s": 0.051, "system_cpu_s": 0.026, "usec_per_op": 9.919})
				if real, _ := r.Value("real_s"); real != 0.365 && real != 60.365 || len(f.Messages) > 0 {
					t.Errorf("real %v, %v", real, f.Messages)
				}
			},
		},
		{
			name: "43-macos-4.12-no-date-cpu.txt",
			imitation: "$ ~/src % ./db_bench -db tmp-db -benchmarks=fillsync,readseq -use_cuckoo_table\nRocksDB:    version 4.12\nKeys:       16 bytes each\n------------------------------------------------\nDB path: [tmp-db]\n" +
				"put error: IO error: tmp-db/000006.sst: Bad address\nlibc++abi.dylib: terminating with uncaught exception\nReceived signal 6 (Abort trap: 6)\n",
			own:  []string{"fillsync failed", "readseq not_run"},
			want: []string{"fillsync failed"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				r := b.Runs[0].Results[0]
				if !strings.HasPrefix(r.Reason, "put error: IO error: tmp-") || !strings.HasSuffix(r.Reason, "; Received signal 6 (Abort trap: 6)") || !r.Started.IsZero() {
					t.Errorf("%q at %s", r.Reason, r.Started)
				}
				if b.Runs[0].Build.Version != "4.12" || len(b.Runs[0].Environment) > 0 || len(f.Messages) > 0 {
					t.Errorf("%+v %v", b.Runs[0], f.Messages)
				}
			},
		},
		{
			name:      "45-stdout-only-no-version.txt",
			imitation: string(logText("fillseq.readrandom.stdout")),
			context:   bench.Context{Version: "7.8.3"},
			own:       []string{"fillseq ok 218378", "readrandom ok 1000200"},
			want:      []string{"fillseq ok 114364", "readrandom ok 315556"},
			check: func(t *testing.T, b *bench.Batch, f bench.File) {
				if run := b.Runs[0]; run.Build.Version != "7.8.3" || !run.Results[0].Started.IsZero() {
					t.Errorf("%+v", run.Build)
				}
			},
		},
	}
}

// logText gives a fixture where no test is at hand to complain.
func logText(name string) []byte {
	var t testing.T
	return logFixture(&t, name)
}

func TestOddLogs(t *testing.T) {
	t.Parallel()
	for _, c := range oddLogs() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			try := func(t *testing.T, data []byte, want []string) {
				b, f := readOne(t, c.name, data, c.context)
				if f.State != bench.FileTaken {
					t.Fatalf("%+v", f)
				}
				if got := steps(b.Runs); !slices.Equal(got, want) {
					t.Fatalf("results\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if c.check != nil {
					c.check(t, b, f)
				}
				if c.context.Version != "" {
					// What nobody says is asked for, never guessed.
					if _, f := readOne(t, c.name, data, bench.Context{}); f.State != bench.FileRefused || !said(f.Messages, "give --version") {
						t.Errorf("without a version: %+v", f)
					}
				}
			}
			t.Run("imitation", func(t *testing.T) { try(t, []byte(c.imitation), c.own) })
			t.Run("file", func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join(testdata.Shared(t), "cases", c.name))
				if err != nil {
					t.Fatal(err)
				}
				try(t, data, c.want)
			})
		})
	}
}

func TestPublishedLogsOfOldReleases(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "dbbench")
	read := func(name string, c bench.Context) (*bench.Batch, bench.File) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return readOne(t, filepath.Base(name), data, c)
	}
	// zcat | grep -c 'micros/op' is 39; the 11 below "range" repeat lines above.
	b, f := read("lsm_tree_shape.feb2021/o.1000000.275000.1000000.gz", bench.Context{})
	ok := 0
	for _, run := range b.Runs {
		if run.Build.Version != "6.17" {
			t.Errorf("version %s", run.Build.Version)
		}
		for _, r := range run.Results {
			if r.State == bench.StateOK {
				ok++
			}
		}
	}
	if ok != 28 || !said(f.Messages, "1639: repeats line 372 word for word") || len(b.Runs) != 3 {
		t.Errorf("%d results in %d runs", ok, len(b.Runs))
	}
	last := b.Runs[2].Results[len(b.Runs[2].Results)-1]
	if last.Step.Name != "waitforcompacton" || last.Reason != "unknown benchmark 'waitforcompacton'" {
		t.Errorf("%+v", last)
	}
	load := &b.Runs[0].Results[0]
	figures(t, load, map[string]float64{"qps": 346710, "compaction_wall_s": 1.73, "compaction_cpu_s": 1.43, "compaction_write_gb": 0.33, "db_size_gb": 86.60 / 1024, "uptime_s": 23.4})

	b, _ = read("lsm_tree_shape.feb2021/o.all", bench.Context{Version: "6.17"})
	wantSteps(t, b, "seekrandom ok 53976", "seekrandom ok 54042", "seekrandom ok 176212", "seekrandom ok 162201", "seekrandom ok 199544",
		"readrandom ok 196826", "readrandom ok 196947", "readrandom ok 288888", "readrandom ok 287532", "readrandom ok 374275", "readrandom ok 98507")

	b, _ = read("public-excerpts/stats.7.10.0.excerpt.log", bench.Context{Version: "7.10.0"})
	figures(t, &b.Runs[0].Results[0], map[string]float64{"qps": 13769, "elapsed_s": 726.232, "db_size_gb": 30.81, "level0_size_gb": 1.10, "compaction_write_gb": 270.97, "compaction_read_gb": 240.15,
		"compaction_wall_s": 835.47, "compaction_cpu_s": 828.45, "flush_write_gb": 42.596, "ingest_gb": 76.59, "write_amp": (271.0 + 42.596) / 76.6, "stall_s": 590.644, "stall_percent": 81.3,
		"stall_count": 311 + 924, "uptime_s": 726.2})

	b, _ = read("public-excerpts/rocksdb-issue-574.v3.8.log", bench.Context{})
	figures(t, &b.Runs[0].Results[0], map[string]float64{"qps": 314982, "p99_99": 400, "max": 7520})
}
