package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// seedLogs adds all logs of testdata, and pieces that are hard to tell apart.
func seedLogs(f *testing.F) {
	files, err := filepath.Glob("testdata/dbbench/*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, ".tar.gz") {
			f.Add(logFixture(f, filepath.Base(name)))
		}
	}
	for _, c := range oddLogs() {
		f.Add([]byte(c.imitation))
	}
	for _, dump := range []string{levels41, levels52, levels510, levels610, levels85, levels104} {
		f.Add([]byte("overwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s\n" + dump))
	}
}

func FuzzLog(f *testing.F) {
	seedLogs(f)
	c := bench.Context{Server: "s1", Workload: "cached", Version: "8.1.1"}
	f.Fuzz(func(t *testing.T, data []byte) {
		log := ParseLog(data)
		lines := 1 + strings.Count(string(data), "\n")
		for _, x := range log.Processes {
			for _, op := range x.Ops {
				if op.Name == "" || op.Micros.Text == "" || op.Line < 1 || op.Line > lines {
					t.Fatalf("%+v", op)
				}
			}
		}
		in := &input{path: "x.log", raw: data, text: data, given: c}
		out := readLog(in)
		b := &bench.Batch{Runs: out.runs}
		finite(t, b)
		if out.state == bench.FileTaken && len(out.runs) == 0 {
			t.Fatal("taken without a run")
		}
		if n := len(out.messages); n > 3*maxMessages+3 {
			t.Fatalf("%d messages", n)
		}
		bench.Decide(b, bench.Keys(b), nil)
		if _, err := ReadDBBenchLog(data, nil, LogSource{Command: "db_bench --benchmarks=fillseq,stats"}); err != nil && bench.KindOf(err) != bench.KindInvalid {
			t.Fatal(err)
		}
	})
}

func FuzzReportFile(f *testing.F) {
	for _, name := range []string{"report.overwrite.7.8.csv", "fillrandom.log.r.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", "dbbench", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("secs_elapsed,interval_qps,batch_size\n10,5,6\n30,5,6\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		series, _, err := readIntervals(&input{path: "x.csv", text: data})
		if err != nil && len(series) > 0 {
			t.Fatal("an error with figures")
		}
		for _, s := range series {
			if s.StepS <= 0 || s.StartS <= 0 || len(s.Values) > 4*len(data)+64 {
				t.Fatalf("start %v, step %v, %d values of %d bytes", s.StartS, s.StepS, len(s.Values), len(data))
			}
		}
		readReportFile(&input{path: "x.csv", text: data})
	})
}

func FuzzResultDir(f *testing.F) {
	files := resultDirFiles(f)
	log := buildFiles + "benchmark_overwriteandwait.t2.s0.log"
	f.Add([]byte(files[log]), []byte(files[log+".r.csv"]), []byte(files[log+".time"]), []byte(files[log+".stats.sizes"]), []byte(files[log+".stats.ps"]), []byte(files[buildFiles+"report.tsv"]), []byte(files["bm.lc.nt2.d0/args"]))
	log = buildFiles + "benchmark_flush_mt_l0.log"
	f.Add([]byte(files[log]), []byte("secs_elapsed,interval_qps\n"), []byte("Command terminated by signal 9\n1 2 3\n"), []byte(files[log+".stats.sizes"]), []byte{}, []byte{}, []byte("Base args\nA=1\nargs_lim:\nA=2\n"))
	f.Fuzz(func(t *testing.T, log, csv, time, sizes, ps, report, args []byte) {
		const dir = "res.byrx/bm.lc.nt2.d0/7.8.gcc/"
		var inputs []*input
		for _, x := range []struct {
			name string
			text []byte
		}{
			{dir + "benchmark_overwriteandwait.t2.s0.log", log}, {dir + "benchmark_overwriteandwait.t2.s0.log.r.csv", csv}, {dir + "benchmark_overwriteandwait.t2.s0.log.time", time},
			{dir + "benchmark_overwriteandwait.t2.s0.log.stats.sizes", sizes}, {dir + "benchmark_overwriteandwait.t2.s0.log.stats.ps", ps}, {dir + "report.tsv", report}, {"res.byrx/bm.lc.nt2.d0/args", args},
		} {
			in := &input{path: x.name, raw: x.text, text: x.text}
			if err := in.describe(bench.Context{Server: "s1"}); err != nil {
				t.Fatal(err)
			}
			in.format = detectFormat(in)
			inputs = append(inputs, in)
		}
		b := &bench.Batch{}
		for _, claimed := range bundlesOf(newSet(inputs)) {
			outs := claimed.bundle.read(claimed.files)
			if len(outs) != len(claimed.files) {
				t.Fatalf("%d files, %d outputs", len(claimed.files), len(outs))
			}
			for i, out := range outs {
				if out.state == "" {
					t.Fatalf("%s has no state", claimed.files[i].path)
				}
				if out.state == bench.FileTaken {
					b.Runs = append(b.Runs, out.runs...)
				}
			}
		}
		finite(t, b)
		bench.Decide(b, bench.Keys(b), nil)
	})
}

// manyLogs gives about n bytes of logs: with progress, with interval dumps, with
// histograms and statistics, one process after the other.
func manyLogs(tb testing.TB, n int) []byte {
	var all []byte
	for _, name := range []string{"raw.multi.statistics.hist.7.8.log.gz", "raw.overwrite.interval.7.8.log.gz", "raw.repeat.X3.7.8.log.gz", "raw.timev.7.8.log.gz", "raw.fillseq.hist.stats.7.8.log.gz", "raw.multidb.perf.7.8.log.gz"} {
		all = append(all, logFixture(tb, name)...)
	}
	var b []byte
	for len(b) < n {
		b = append(b, all...)
	}
	return b
}

// BenchmarkParseLog parses raw logs; the budget is 100 MB/s.
func BenchmarkParseLog(b *testing.B) {
	data := manyLogs(b, 16<<20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if log := ParseLog(data); len(log.Processes) < 100 {
			b.Fatal(len(log.Processes))
		}
	}
}

// BenchmarkLog reads a raw log from bytes to batch; the budget is 100 MB/s.
func BenchmarkLog(b *testing.B) {
	data := manyLogs(b, 16<<20)
	flags := bench.Context{Server: "s1", Workload: "cached", Compiler: "gcc"}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		batch, err := Read(data, "x.log", flags, Limits{})
		if err != nil || len(batch.Runs) == 0 {
			b.Fatal(err, batch.Files)
		}
	}
}

// BenchmarkLogWithIntervals reads the log of one long run with a dump every 20 s.
func BenchmarkLogWithIntervals(b *testing.B) {
	data := logFixture(b, "raw.overwrite.interval.7.8.log.gz")
	i, j := strings.Index(string(data), "2026/11/30"), strings.Index(string(data), "Initializing")
	long := append([]byte{}, data[:i]...)
	for len(long) < 16<<20 {
		long = append(long, data[i:j]...)
	}
	long = append(long, data[j:]...)
	b.SetBytes(int64(len(long)))
	b.ReportAllocs()
	for b.Loop() {
		if log := ParseLog(long); len(log.Processes) != 1 || len(log.Processes[0].Ops) != 1 {
			b.Fatal(len(log.Processes))
		}
	}
}
