package ingest

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// nearFlags is what a text of state-perf leaves unsaid.
var nearFlags = bench.Context{Server: "n2", Workload: "io", Version: "unknown"}

func TestRustDurationsAreWholeNanoseconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{
		// As rustc prints them with {:?}.
		"0ns": 0, "999ns": 999, "1µs": 1000, "1.5µs": 1500, "490.688µs": 490688, "516.923µs": 516923, "999.999µs": 999999,
		"1ms": 1000000, "1.000001ms": 1000001, "2.5ms": 2500000, "999.999999ms": 999999999, "1s": 1000000000,
		"61.23456789s": 61234567890, "12.345678901s": 12345678901, "516.923μs": 516923, "516.923us": 516923, "540.09µs": 540090,
		"18446744073.709551615s": math.MaxUint64,
	} {
		if got, ok := rustDuration(text); !ok || got != want {
			t.Errorf("%s is %d (%t), want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "s", "1", "1.5ns", "1.0001µs", "1.µs", ".5ms", "1.2.3s", "-1s", "1e3ns", "1 s", "1m", "1h", "18446744073.709551616s", "99999999999999999999ns", "1,5ms"} {
		if got, ok := rustDuration(text); ok {
			t.Errorf("%q was read as %d ns", text, got)
		}
	}
}

func TestStatePerfIsSplitByBlockReads(t *testing.T) {
	t.Parallel()
	flags := nearFlags
	flags.Version = "trunk"
	b := mustRead(t, "two.txt", fixture(t, "stateperf/block-sizes-by-hand.txt"), flags)
	f := onlyFile(t, b)
	if f.State != bench.FileTaken || f.Format != "neard state-perf" || len(f.Messages) != 1 || f.Messages[0].Line != 1 {
		t.Fatalf("%+v", f)
	}
	if len(b.Runs) != 4 {
		t.Fatalf("%v", runsOf(b))
	}
	run := &b.Runs[0]
	if run.System != "neard" || run.Suite != "state-perf" || run.Config != "bs4k" || run.Options["block_size"] != "4096" || run.Environment["disk"] != "Disk 1" || run.Build.GitHash != "44a09bf39" {
		t.Errorf("%+v", run)
	}
	r := &run.Results[0]
	want := map[string]float64{"observed_latency_ns": 500250, "block_read_time_ns": 480000, "merge_samples": 1, "operations": 10000}
	if diff := cmp.Diff(want, numbersOf(r)); diff != "" {
		t.Error(diff)
	}
	if r.PrimaryText != "500.25µs" || r.Step.Name != "state-perf" || r.Step.Threads != 1 || !r.Started.IsZero() || r.Sources[0].Line != 7 {
		t.Errorf("%+v", r)
	}
	buckets := []bench.Breakdown{
		{Key: "block_read_count", Bucket: "1", Samples: 9990, Unit: "ns", Value: 500200},
		{Key: "block_read_count:block_read_time", Bucket: "1", Samples: 9990, Unit: "ns", Value: 479900},
		{Key: "block_read_count:merge_samples", Bucket: "1", Samples: 9990, Unit: "count", Value: 1},
		{Key: "block_read_count", Bucket: "4", Samples: 10, Unit: "ns", Value: 550200},
		{Key: "block_read_count:block_read_time", Bucket: "4", Samples: 10, Unit: "ns", Value: 579900},
		{Key: "block_read_count:merge_samples", Bucket: "4", Samples: 10, Unit: "count", Value: 0},
	}
	if diff := cmp.Diff(buckets, r.Breakdowns); diff != "" {
		t.Error(diff)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Line != 9 || !strings.Contains(r.Warnings[0].Text, "longer than the reads") {
		t.Errorf("%v", r.Warnings)
	}
	// The disk of the arm stands beside it.
	disk := &b.Runs[1]
	if disk.Suite != "fio" || disk.System != "fio" || disk.Config != "bs4k" || disk.Environment["disk"] != "Disk 1" || disk.Results[0].PrimaryText != "18.0k" || disk.Options["block_size"] != "" {
		t.Errorf("%+v", disk)
	}
	if second := &b.Runs[2]; second.Config != "bs8k" || second.Build.Version != "trunk" || len(second.Results[0].Warnings) != 0 ||
		second.Results[0].Breakdowns[0] != (bench.Breakdown{Key: "block_read_count", Bucket: "0", Samples: 1, Unit: "ns", Value: 871}) {
		t.Errorf("%+v", second)
	}
}

func TestStatePerfTakesItsBlockSizeFromTheConfig(t *testing.T) {
	t.Parallel()
	line := "overall | avg observed_latency: 1ms, block_read_time: 900µs, samples with merge: 0 (0.00%)\n" +
		"block_read_count: 1, samples: 3 (100.00%): | avg observed_latency: 1ms, block_read_time: 900µs, samples with merge: 0 (0.00%)\n\n"
	for _, tt := range []struct{ name, given, config, size string }{
		{"out.txt", "bs16k", "bs16k", "16384"}, {"out.txt", "bs1m", "bs1m", "1048576"}, {"out.txt", "bs512", "bs512", "512"}, {"out.txt", "tuned", "tuned", ""},
		{"out.txt", "", "", ""}, {"state-perf-bs4k.txt", "", "bs4k", "4096"}, {"bs32k/out.txt", "", "bs32k", "32768"}, {"bs4k.txt", "bs8k", "bs8k", "8192"},
	} {
		flags := nearFlags
		flags.Config = tt.given
		run, r := onlyResult(t, mustRead(t, tt.name, line, flags))
		if run.Config != tt.config || run.Options["block_size"] != tt.size || run.Build.Version != "unknown" || len(r.Warnings) > 0 {
			t.Errorf("%+v: config %q, block size %q, %v", tt, run.Config, run.Options["block_size"], r.Warnings)
		}
	}
	// A heading states it, and does not bear another.
	flags := nearFlags
	flags.Config = "bs8k"
	f := onlyFile(t, mustRead(t, "x", "4 KiB block size\n"+line, flags))
	if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, `the heading "4 KiB block size" says "bs4k"`) {
		t.Errorf("%+v", f)
	}
}

func TestStatePerfWithoutFiguresFailed(t *testing.T) {
	t.Parallel()
	text := "Start State perf test\nGenerate 11000 requests to State\n" + strings.Repeat("███\r", 5) + "\nthread 'main' panicked at 'assertion failed: observed > read'\n"
	run, r := onlyResult(t, mustRead(t, "err.txt", text, nearFlags))
	if r.State != bench.StateFailed || !strings.Contains(r.Reason, "panicked at") || len(r.Values) != 0 || run.Suite != "state-perf" {
		t.Errorf("%+v", r)
	}
	_, r = onlyResult(t, mustRead(t, "err.txt", "Start State perf test\n", nearFlags))
	if r.State != bench.StateFailed || r.Reason != "it ended without a line of figures" {
		t.Errorf("%+v", r)
	}
}

func TestStatePerfThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, contains string
		flags                bench.Context
	}{
		{"no server", "overall | avg observed_latency: 1ms, block_read_time: 1ms, samples with merge: 0 (0.00%)\n", "give --server and --workload and --version", bench.Context{}},
		{"a unit of its own", "overall | avg observed_latency: 1m, block_read_time: 1ms, samples with merge: 0 (0.00%)\n", "x:1: not the figures", nearFlags},
		{"cut", "overall | avg observed_latency: 1ms, block_read_time: \n", "x:1: not the figures", nearFlags},
		{"buckets alone", "block_read_count: 1, samples: 9 (1.00%): | avg observed_latency: 1ms, block_read_time: 1ms, samples with merge: 0 (0.00%)\nStart State perf test", "x:1: not a line of reads by blocks below", nearFlags},
		{"another suite", "overall | avg observed_latency: 1ms, block_read_time: 1ms, samples with merge: 0 (0.00%)\n", "suite:", bench.Context{Server: "s", Workload: "w", Version: "1", Suite: "db_bench"}},
	} {
		f := onlyFile(t, mustRead(t, "x", tt.text, tt.flags))
		if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].String(), tt.contains) {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

func TestPartsThatDoNotMakeTheWholeAreTold(t *testing.T) {
	t.Parallel()
	head := "overall | avg observed_latency: 2ms, block_read_time: 1ms, samples with merge: 0 (0.00%)\n"
	bucket := func(n, share, latency string) string {
		return "block_read_count: " + n + ", samples: 5 (" + share + "%): | avg observed_latency: " + latency + ", block_read_time: 1ms, samples with merge: 0 (0.00%)\n"
	}
	for _, tt := range []struct{ name, text, contains string }{
		{"another average", head + bucket("1", "50.00", "2ms") + bucket("2", "50.00", "4ms"), "make an average of 3000000 ns, the overall line says 2000000 ns"},
		{"lines are missing", head + bucket("1", "50.00", "2ms"), "lines are missing"},
		{"the same line twice", head + bucket("1", "100.00", "2ms") + bucket("1", "100.00", "2ms"), "a second line"},
	} {
		_, r := onlyResult(t, mustRead(t, "x", tt.text, nearFlags))
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, tt.contains) {
			t.Errorf("%s: %v", tt.name, r.Warnings)
		}
		if _, ok := r.Value("operations"); ok && tt.name == "lines are missing" {
			t.Errorf("%s: the number of reads is not known", tt.name)
		}
	}
	_, r := onlyResult(t, mustRead(t, "x", head+bucket("1", "50.00", "1.999999ms")+bucket("2", "50.00", "1.999999ms"), nearFlags))
	if len(r.Warnings) != 0 {
		t.Errorf("averages are cut to whole ns: %v", r.Warnings)
	}
}

// TestSharedBlockSizeStudy reads the published study as it stands in its source.
func TestSharedBlockSizeStudy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(testdata.Shared(t), "sources", "block-size-state-perf.txt")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := mustRead(t, "study.txt", string(data), nearFlags)
	type arm struct {
		config, disk              string
		latency, read, six        float64
		iops, mbps, average, stdv float64
		warnings                  int
	}
	var got []arm
	for i := 0; i+1 < len(b.Runs); i += 2 {
		study, disk := &b.Runs[i], &b.Runs[i+1]
		if study.Suite != "state-perf" || disk.Suite != "fio" || study.Config != disk.Config {
			t.Fatalf("%v", runsOf(b))
		}
		s, d := numbersOf(&study.Results[0]), numbersOf(&disk.Results[0])
		got = append(got, arm{study.Config, study.Environment["disk"], s["observed_latency_ns"], s["block_read_time_ns"], study.Results[0].Breakdowns[3].Value,
			d["iops"], d["mb_per_s"], d["average"], d["stdev_us"], len(disk.Results[0].Warnings)})
		if study.Results[0].Breakdowns[3].Bucket != "6" || s["operations"] != 100000 || len(study.Results[0].Warnings) != 0 {
			t.Errorf("%+v", study.Results[0])
		}
	}
	want := []arm{
		{"bs4k", "Disk 1", 516923, 490688, 4502067, 18600, 72.7, 428.97, 139.60, 0},
		{"bs8k", "Disk 2", 540224, 507651, 3236723, 18000, 74.1, 420.75, 135.77, 1},
		{"bs16k", "Disk 3", 612676, 574418, 2973900, 18600, 72.6, 429.67, 146.28, 0},
		{"bs32k", "Disk 4", 689518, 640242, 3227380, 18900, 73.8, 422.20, 128.46, 0},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(arm{})); diff != "" {
		t.Fatal(diff)
	}
	for i, ratio := range []float64{1, 1.045, 1.185, 1.334} {
		if r := got[i].latency / got[0].latency; math.Abs(r-ratio) > 0.0005 {
			t.Errorf("%s: %.4f of %s, want %.3f", got[i].config, r, got[0].config, ratio)
		}
	}
	if w := b.Runs[3].Results[0].Warnings[0].Text; !strings.Contains(w, "18.0k IOPS at 4 KiB, the nearest block size, make 70.31 MiB/s, printed are 74.1 MiB/s") ||
		!strings.Contains(w, "4446 MiB in 60 s agree with the bandwidth") {
		t.Errorf("%s", w)
	}
	// How alike the disks are, as the page will say: 5.0 % by printed IOPS, 2.1 % by bandwidth.
	spread := func(of func(arm) float64) float64 {
		low, high := math.Inf(1), math.Inf(-1)
		for _, a := range got {
			low, high = math.Min(low, of(a)), math.Max(high, of(a))
		}
		return 100 * (high/low - 1)
	}
	if s := spread(func(a arm) float64 { return a.iops }); math.Abs(s-5.0) > 0.05 {
		t.Errorf("IOPS differ by %.2f %%", s)
	}
	if s := spread(func(a arm) float64 { return a.mbps }); math.Abs(s-2.1) > 0.05 {
		t.Errorf("bandwidths differ by %.2f %%", s)
	}
}

func TestSharedStatePerfEdges(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "blocksize")
	_, r := onlyResult(t, mustRead(t, "x", readShared(t, dir, "state-perf-SYNTHETIC-edge.txt"), nearFlags))
	want := map[string]float64{"0": 871, "1": 516000, "2": 1000000, "3": 1000001, "17": 12345678901}
	got := map[string]float64{}
	for _, x := range r.Breakdowns {
		if x.Key == bench.BreakdownBlockReads {
			got[x.Bucket] = x.Value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// The published lines, of which only the first bucket was given.
	b := mustRead(t, "x", readShared(t, dir, "near-9370-source-lines.txt"), nearFlags)
	if len(b.Runs) != 2 || numbersOf(&b.Runs[0].Results[0])["observed_latency_ns"] != 516923 || numbersOf(&b.Runs[1].Results[0])["iops"] != 18600 {
		t.Errorf("%v", runsOf(b))
	}
}

func TestSharedBlockSizeLogsOfDBBench(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "blocksize")
	flags := bench.Context{Server: "vm", Workload: "iodir", Version: "7.8.3"}
	for bs, want := range map[string]struct {
		size                       string
		qps, usec, p50, p99, reads float64
	}{
		"bs4k": {"4096", 6993, 141.965, 44.70, 2444.55, 29848}, "bs8k": {"8192", 6539, 152.924, 50.29, 3315.66, 29868},
		"bs16k": {"16384", 5127, 195.031, 53.97, 3733.33, 29848}, "bs32k": {"32768", 5957, 167.832, 70.60, 3019.63, 29821},
	} {
		name := "db_bench-7.8.3-readrandom-" + bs + ".txt"
		run, r := onlyResult(t, mustRead(t, name, readShared(t, dir, name), flags))
		v := numbersOf(r)
		if run.Config != bs || run.Options["block_size"] != want.size || v["qps"] != want.qps || v["usec_per_op"] != want.usec ||
			v["p50"] != want.p50 || v["p99"] != want.p99 || v["perf_block_read_count"] != want.reads || !strings.Contains(r.Command, "--block_size="+want.size) {
			t.Errorf("%s: %+v %v", name, run, v)
		}
		name = "db_bench-7.8.3-load-" + bs + ".txt"
		b := mustRead(t, name, readShared(t, dir, name), flags)
		if len(b.Runs) != 1 || b.Runs[0].Config != bs || b.Runs[0].Options["block_size"] != want.size || len(b.Runs[0].Results) != 2 {
			t.Errorf("%s: %v", name, runsOf(b))
		}
	}
}

func FuzzStatePerf(f *testing.F) {
	f.Add(seed(f, "stateperf/block-sizes-by-hand.txt"), "")
	f.Add([]byte("Start State perf test\npanicked at\n"), "bs4k")
	f.Add([]byte("0 block size\noverall | avg observed_latency: 0ns, block_read_time: 0ns, samples with merge: 0 (0.00%)\nblock_read_count: 0, samples: 0 (0.00%): | avg observed_latency: 0ns, block_read_time: 0ns, samples with merge: 0 (0.00%)\n"), "x")
	f.Fuzz(func(t *testing.T, data []byte, config string) {
		flags := nearFlags
		flags.Config = config
		b, err := Read(data, "x.txt", flags, Limits{Bytes: 8 << 20})
		if err != nil {
			if bench.KindOf(err) == "" {
				t.Errorf("an error without kind: %v", err)
			}
			return
		}
		sane(t, data, b)
		finite(t, b)
	})
}

// FuzzRustDuration compares with the standard library, which reads all that Rust
// prints and more.
func FuzzRustDuration(f *testing.F) {
	for _, s := range []string{"1.5µs", "0ns", "9223372036854775807ns", "18446744073.709551615s", "1.ms", "12.345678901s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ns, ok := rustDuration(s)
		if !ok || ns > math.MaxInt64 {
			return
		}
		if d, err := time.ParseDuration(s); err != nil || uint64(d) != ns {
			t.Errorf("%q is %d ns, and %d for others (%v)", s, ns, d, err)
		}
	})
}
