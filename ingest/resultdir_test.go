package ingest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// resultDirFiles gives the files of a directory that benchmark_compare.sh made
// here with db_bench 7.8.3 (LOG.gz is shortened).
func resultDirFiles(t testing.TB) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/dbbench/bm.lc.nt2.d0.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(content)
	}
}

func readFiles(t testing.TB, files map[string]string, c bench.Context) *bench.Batch {
	t.Helper()
	b, err := Read(tarOf(t, files), "upload.tar", c, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	finite(t, b)
	return b
}

const buildFiles = "bm.lc.nt2.d0/7.8.gcc/"

func TestResultDirectoryIsOneRun(t *testing.T) {
	t.Parallel()
	files := resultDirFiles(t)
	delete(files, "bm.lc.nt2.d0/summary.tsv")
	b := readFiles(t, files, bench.Context{Server: "s1", Workload: "cached"})
	if len(b.Runs) != 1 || b.Format != "benchmark.sh result directory" {
		t.Fatalf("%d runs, format %s", len(b.Runs), b.Format)
	}
	run := b.Runs[0]
	if run.Build.Version != "7.8.3" || run.Build.Compiler != "gcc" || run.Build.GitHash != "0" || run.Clients != 2 || len(run.Assumed) > 0 {
		t.Errorf("%+v clients %d assumed %v", run.Build, run.Clients, run.Assumed)
	}
	// Flags that all steps share, the arguments above, the directory's name.
	for option, want := range map[string]string{"cache_size": "268435456", "key_size": "20", "NUM_KEYS": "200000", "PER_LEVEL_FANOUT": "8", "args_lim.MB_WRITE_PER_SEC": "2",
		"compaction_style": "leveled", "use_direct_reads": "false", "duration_rw": "5"} {
		if run.Options[option] != want {
			t.Errorf("option %s = %q, want %q", option, run.Options[option], want)
		}
	}
	for _, step := range []string{"benchmarks", "seed", "report_file", "threads", "num", "duration", "benchmark_write_rate_limit"} {
		if v, ok := run.Options[step]; ok {
			t.Errorf("%s = %s is of single steps", step, v)
		}
	}

	// The steps in the order they ran, then the rows that were made of them.
	// awk -F'\t' '!/^#/ && NR>26 {print $24, $1}' report.tsv
	want := []string{"fillseq ok 178855", "revrange ok 20198", "readrandom ok 41123", "fwdrange ok 17713", "multireadrandom ok 44117", "overwritesome ok 28389",
		"flush ok", "revrangewhilewriting ok 11506", "fwdrangewhilewriting ok 15742", "readwhilewriting ok 54818", "overwriteandwait ok 24450"}
	got := steps(b.Runs)
	if !slices.Equal(got[:11], want) {
		t.Fatalf("%q", got)
	}
	rows := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "flush ok" })
	if !slices.Equal(got[11:], rows) {
		t.Fatalf("rows %q", got[11:])
	}
	plan := bench.Decide(b, bench.Keys(b), nil)
	if len(plan.New) != 11 || len(plan.Additions) != 10 || len(plan.Refused) > 0 {
		t.Fatalf("%d new, %d additions, refused %v", len(plan.New), len(plan.Additions), plan.Refused)
	}
	for _, ref := range plan.New {
		if r := run.Results[ref.Result]; !strings.HasSuffix(r.Sources[0].File, ".log") {
			t.Errorf("%s is read from %s first", r.Step.Name, r.Sources[0].File)
		}
	}
	for _, a := range plan.Additions {
		if len(a.Warnings) > 0 {
			t.Errorf("a row differs from its log: %v", a.Warnings)
		}
	}

	byName := map[string]*bench.Result{}
	for i := range run.Results[:11] {
		byName[run.Results[i].Step.Name] = &run.Results[i]
	}
	over := byName["overwriteandwait"]
	if over.Step.Threads != 2 || over.Step.Sync == nil || *over.Step.Sync || over.Started.String() != "2026-11-30 13:32:39" || !strings.Contains(over.Command, "--benchmarks=overwrite,waitforcompaction,stats") {
		t.Errorf("%+v at %s: %s", over.Step, over.Started, over.Command)
	}
	figures(t, over, map[string]float64{"qps": 24450, "usec_per_op": 81.688, "operations": 123998, "p99": 43.80, "max": 100063, "uptime_s": 10.3, "write_amp": (0.2 + 0.048) / 0.1,
		"compaction_wall_s": 5.08, "compaction_cpu_s": 0.83, "real_s": 10.43, "user_cpu_s": 1.71, "system_cpu_s": 0.35, "rss_gb": 27092.0 / (1 << 20)})
	if len(over.Sources) != 5 {
		t.Errorf("sources %v", over.Sources)
	}
	series := map[string]bench.TimeSeries{}
	for _, s := range over.TimeSeries {
		series[s.Name] = s
	}
	if s := series["qps"]; fmt.Sprint(s.Values) != "[35352 16352 23071 19184 29860]" || s.StepS != 1 {
		t.Errorf("%+v", s)
	}
	// 0.1 GB at 13:32:39 and at 13:32:49, the step began at 13:32:39.
	if s := series["all_size_gb"]; fmt.Sprint(s.Values) != "[0.1 0.1]" || s.StepS != 10 || s.StartS != 0 {
		t.Errorf("%+v", s)
	}
	if i := slices.IndexFunc(over.Breakdowns, func(x bench.Breakdown) bool { return x.Key == "max_size_gb" && x.Bucket == "sst" }); i < 0 || over.Breakdowns[i].Value != 0.1 || over.Breakdowns[i].Samples != 2 {
		t.Errorf("%+v", over.Breakdowns)
	}

	flush := byName["flush"]
	if flush.Role != bench.RolePrepare || flush.Primary != "" || flush.PrimaryText != "" || flush.State != bench.StateOK {
		t.Errorf("%+v", flush)
	}
	figures(t, flush, map[string]float64{"uptime_s": 10.2, "db_size_gb": 86.95 / 1024, "compaction_write_gb": 0.03, "compaction_wall_s": 0.40, "real_s": 10.46, "user_cpu_s": 0.13})
	if v := byName["fillseq"]; v.Step.WAL == nil || *v.Step.WAL || v.Step.ValueBytes != 400 || v.Step.Threads != 1 {
		t.Errorf("%+v", v.Step)
	}
	if v := byName["overwritesome"]; len(v.TimeSeries) != 4 || v.Role != bench.RolePrepare {
		t.Errorf("shorter than an interval: %+v", v.TimeSeries)
	}

	states := map[string]bench.FileState{}
	for _, f := range b.Files {
		states[f.Path] = f.State
		if len(f.Messages) > 0 {
			t.Errorf("%s: %v", f.Path, f.Messages)
		}
	}
	for name, want := range map[string]bench.FileState{
		buildFiles + "benchmark_overwriteandwait.t2.s0.log": bench.FileTaken, buildFiles + "benchmark_overwriteandwait.t2.s0.log.time": bench.FileTaken,
		buildFiles + "benchmark_overwriteandwait.t2.s0.log.stats.ps": bench.FileTaken, buildFiles + "benchmark_overwriteandwait.t2.s0.log.stats.sizes": bench.FileTaken,
		buildFiles + "benchmark_overwriteandwait.t2.s0.log.r.csv": bench.FileTaken, buildFiles + "report.tsv": bench.FileTaken, "bm.lc.nt2.d0/args": bench.FileTaken,
		buildFiles + "schedule.txt": bench.FileAttachment, buildFiles + "LOG.gz": bench.FileAttachment,
	} {
		if states[name] != want {
			t.Errorf("%s %s, want %s", name, states[name], want)
		}
	}
}

func TestResultDirectoryWithItsSummaryAddsNoSample(t *testing.T) {
	t.Parallel()
	b := readFiles(t, resultDirFiles(t), bench.Context{Server: "s1", Workload: "cached"})
	plan := bench.Decide(b, bench.Keys(b), nil)
	if len(plan.New) != 11 || len(plan.Additions) != 20 || len(plan.Refused) > 0 {
		t.Errorf("%d new, %d additions, refused %v", len(plan.New), len(plan.Additions), plan.Refused)
	}
	for i := range b.Runs {
		if bench.RunKey(&b.Runs[i]) != bench.RunKey(&b.Runs[0]) {
			t.Errorf("run %d is another", i)
		}
	}
}

func TestLogsOfADirectoryWithoutReport(t *testing.T) {
	t.Parallel()
	files := resultDirFiles(t)
	delete(files, "bm.lc.nt2.d0/summary.tsv")
	delete(files, buildFiles+"report.tsv")
	// As releases up to 7.4 print it: the patch level is in LOG alone.
	for name, content := range files {
		if strings.HasSuffix(name, ".log") {
			files[name] = strings.Replace(content, "version 7.8.3", "version 7.8", 1)
		}
	}
	b := readFiles(t, files, bench.Context{Server: "s1", Workload: "cached"})
	if len(b.Runs) != 1 || b.Runs[0].Build.Version != "7.8.3" || b.Runs[0].Build.GitHash != "0" || len(b.Runs[0].Results) != 11 {
		t.Fatalf("%+v", b.Runs)
	}
	delete(files, buildFiles+"LOG.gz")
	b = readFiles(t, files, bench.Context{Server: "s1", Workload: "cached"})
	if v := b.Runs[0].Build.Version; v != "7.8" {
		t.Errorf("version %s", v)
	}
}

func TestAStepThatFailedInADirectory(t *testing.T) {
	t.Parallel()
	files := resultDirFiles(t)
	delete(files, "bm.lc.nt2.d0/summary.tsv")
	delete(files, buildFiles+"report.tsv")
	over := buildFiles + "benchmark_overwriteandwait.t2.s0.log"
	files[over] = files[over][:strings.Index(files[over], "Initializing RocksDB")] // killed: stdout was never written
	files[over+".time"] = "Command exited with non-zero status 124\n605.10 9.00 0.10\n"
	read := buildFiles + "benchmark_readrandom.t2.log"
	files[read+".time"] = "garbage\n"
	b := readFiles(t, files, bench.Context{Server: "s1", Workload: "cached"})
	r := b.Runs[0].Results[10]
	if r.Step.Name != "overwriteandwait" || r.State != bench.StateFailed || r.Reason != "exit status 124" || r.PrimaryText != "" {
		t.Errorf("%+v", r)
	}
	absent(t, &r, "qps", "p99", "uptime_s")
	figures(t, &r, map[string]float64{"real_s": 605.1})
	for _, f := range b.Files {
		if f.Path == read+".time" && (f.State != bench.FileAttachment || !said(f.Messages, "not used")) {
			t.Errorf("%+v", f)
		}
	}
}

func TestLogsOfAnotherReleaseInADirectoryAreRefused(t *testing.T) {
	t.Parallel()
	files := resultDirFiles(t)
	over := buildFiles + "benchmark_overwriteandwait.t2.s0.log"
	files[over] = strings.Replace(files[over], "version 7.8.3", "version 7.9.2", 1)
	files[buildFiles+"benchmark_readrandom.t2.log"] = "not a log\n"
	b := readFiles(t, files, bench.Context{Server: "s1", Workload: "cached"})
	for _, f := range b.Files {
		switch f.Path {
		case over:
			if f.State != bench.FileRefused || !said(f.Messages, "7.9.2") {
				t.Errorf("%+v", f)
			}
		case buildFiles + "benchmark_readrandom.t2.log":
			if f.State != bench.FileRefused {
				t.Errorf("%+v", f)
			}
		case buildFiles + "benchmark_fillseq.wal_disabled.v400.log":
			if f.State != bench.FileTaken {
				t.Errorf("%+v", f)
			}
		}
	}
	if n := len(b.Runs[0].Results); n != 9+10 {
		t.Errorf("%d results", n)
	}
	// Without a server nothing is taken, and every log says why.
	b = readFiles(t, resultDirFiles(t), bench.Context{Workload: "cached"})
	for _, f := range b.Files {
		if strings.HasSuffix(f.Path, ".log") && (f.State != bench.FileRefused || !said(f.Messages, "give --server")) {
			t.Errorf("%+v", f)
		}
	}
	if len(b.Runs) != 0 {
		t.Errorf("%d runs", len(b.Runs))
	}
}

func TestCompressedLogsOfADirectory(t *testing.T) {
	t.Parallel()
	plain, files := resultDirFiles(t), map[string]string{}
	for name, content := range plain {
		if !strings.Contains(name, "/benchmark_") {
			files[name] = content
			continue
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, content); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		files[name+".gz"] = b.String()
	}
	b := readFiles(t, files, bench.Context{Server: "s1", Workload: "cached"})
	plan := bench.Decide(b, bench.Keys(b), nil)
	if len(plan.New) != 11 || len(plan.Additions) != 20 || len(plan.Refused) > 0 {
		t.Fatalf("%d new, %d additions, refused %v", len(plan.New), len(plan.Additions), plan.Refused)
	}
	r := &b.Runs[0].Results[10]
	figures(t, r, map[string]float64{"qps": 24450, "real_s": 10.43, "rss_gb": 27092.0 / (1 << 20)})
	if len(r.TimeSeries) != 5 || r.Step.Name != "overwriteandwait" {
		t.Errorf("%s: %+v", r.Step.Name, r.TimeSeries)
	}
}

func TestSizesAcrossMidnight(t *testing.T) {
	t.Parallel()
	started := bench.NewLocalTime(2024, 5, 1, 23, 59, 50)
	series, largest := readSizes([]byte("1.0\t0.9\t0.1\t0.0\t235955\n2.0\t1.8\t0.2\t0.0\t000005\n1.5\t1.4\t0.1\t0.0\t000015\nmax sizes (GB): 2.0 all, 1.8 sst, 0.2 log, 0.0 blob\n"), started)
	if len(series) != 4 || series[0].StartS != 5 || math.Abs(series[0].StepS-10) > 1e-9 || fmt.Sprint(series[1].Values) != "[0.9 1.8 1.4]" {
		t.Errorf("%+v", series)
	}
	if len(largest) != 4 || largest[0].Value != 2 || largest[1].Value != 1.8 || largest[2].Bucket != "log" {
		t.Errorf("%+v", largest)
	}
	if series, _ := readSizes([]byte("nothing\n1 2 3\n1 2 3 4 250000\n-1 2 3 4 120000\n"), started); series != nil {
		t.Errorf("%+v", series)
	}
}
