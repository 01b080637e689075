package ingest

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

var fioFlags = bench.Context{Server: "box", Workload: "iobuf"}

func TestFIOForPeople(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "fio.txt", fixture(t, "fio/randread-3.33.txt"), fioFlags)
	if f := onlyFile(t, b); f.Format != "fio" || len(f.Messages) != 0 {
		t.Errorf("%+v", f)
	}
	run, r := onlyResult(t, b)
	if run.System != "fio" || run.Suite != "fio" || run.Build.Version != "3.33" || run.Environment["fio_version"] != "3.33" {
		t.Errorf("%+v", run)
	}
	if r.Step != (bench.Step{Name: "randread-4k-qd1", Threads: 1}) || r.Started.Second() != "2026-11-30T17:13:50" || r.PrimaryText != "9882" || r.Primary != "iops" || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
	want := map[string]float64{
		"iops": 9882, "mb_per_s": 38.6, "elapsed_s": 2.001, "operations": 19775, "min_us": 37, "max": 21487, "average": 99.21, "stdev_us": 456.90,
		"p50": 50, "p95": 100, "p99": 1663, "p99_9": 5866, "p99_99": 20841,
	}
	if diff := cmp.Diff(want, numbersOf(r), near); diff != "" {
		t.Error(diff)
	}
	if len(r.Breakdowns) != 17 || r.Breakdowns[13] != (bench.Breakdown{Key: "completion_latency_percentile", Bucket: "99.5", Unit: "µs", Value: 3326}) {
		t.Errorf("%+v", r.Breakdowns)
	}
}

func TestFIOUnitsAreThoseOfTheirLine(t *testing.T) {
	t.Parallel()
	// Two clones of a mixed job; latencies in ns, percentiles in ns and µs, suffixes.
	b := mustRead(t, "fio.txt", fixture(t, "fio/mixed-3.33.txt"), fioFlags)
	if len(b.Runs) != 1 || len(b.Runs[0].Results) != 4 {
		t.Fatalf("%v", runsOf(b))
	}
	var steps []string
	for i := range b.Runs[0].Results {
		steps = append(steps, b.Runs[0].Results[i].Step.Name)
	}
	if got := strings.Join(steps, " "); got != "randrw.read-8k-qd1-disk-job1 randrw.write-16k-qd1-disk-job1 randrw.read-8k-qd1-disk-job2 randrw.write-16k-qd1-disk-job2" {
		t.Errorf("%s", got)
	}
	read, write := numbersOf(&b.Runs[0].Results[0]), numbersOf(&b.Runs[0].Results[1])
	if diff := cmp.Diff(map[string]float64{
		"iops": 6568, "mb_per_s": 51.3, "elapsed_s": 2, "operations": 13137, "min_us": 0.771, "max": 12388, "average": 108.14621, "stdev_us": 435.45987,
		"p50": 52.992, "p95": 238.592, "p99": 1744.896, "p99_9": 6127.616, "p99_99": 11993.088,
	}, read, near); diff != "" {
		t.Error(diff)
	}
	if write["operations"] != 14051 || write["p50"] != 7 || write["p99_99"] != 11600 || write["max"] != 24315 || write["min_us"] != 1.462 || write["iops"] != 7021 {
		t.Errorf("%v", write)
	}
	for i := range b.Runs[0].Results {
		if w := b.Runs[0].Results[i].Warnings; len(w) != 0 {
			t.Errorf("%v", w)
		}
	}
	// Jobs that are reported as one are one result.
	_, r := onlyResult(t, mustRead(t, "fio.txt", fixture(t, "fio/group-3.33.txt"), fioFlags))
	if r.Step != (bench.Step{Name: "randread-4k-qd1", Threads: 2}) || numbersOf(r)["iops"] != 45800 || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestFIO2ForPeople(t *testing.T) {
	t.Parallel()
	run, r := onlyResult(t, mustRead(t, "fio.txt", fixture(t, "fio/randread-2.16-by-hand.txt"), fioFlags))
	if run.Build.Version != "2.16" || r.Step.Name != "randread-4k-qd32" || r.PrimaryText != "134" {
		t.Errorf("%+v %+v", run, r)
	}
	want := map[string]float64{
		"iops": 134, "mb_per_s": 550813.0 / (1 << 20), "elapsed_s": 900.005, "operations": 121029, "min_us": 1000, "max": 1068000, "average": 237440, "stdev_us": 88200,
		"p50": 231000, "p95": 392000, "p99": 502000, "p99_9": 725000, "p99_99": 1004000,
	}
	if diff := cmp.Diff(want, numbersOf(r), near); diff != "" {
		t.Error(diff)
	}
	if len(r.Warnings) != 0 {
		t.Errorf("%v", r.Warnings)
	}
}

func TestFIOJSON(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "fio.json", fixture(t, "fio/randread-3.33.json"), bench.Context{Server: "box"})
	run, r := onlyResult(t, b)
	if onlyFile(t, b).Format != "fio JSON" || run.Workload != "iobuf" || run.Options["bs"] != "4k" || run.Options["iodepth"] != "8" || run.Options["direct"] != "0" {
		t.Errorf("what the job was asked for tells: %+v", run)
	}
	if r.Step != (bench.Step{Name: "randread-4k-qd1", Threads: 1}) {
		t.Errorf("the note says that the depth was 1: %+v", r.Step)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Line != 1 || !strings.Contains(r.Warnings[0].Text, "queue depth will be capped at 1") {
		t.Errorf("%v", r.Warnings)
	}
	if offset, ok := r.Started.Offset(); !ok || offset != 0 {
		t.Errorf("%s: the seconds since 1970 beside the time tell the zone", r.Started)
	}
	text := fixture(t, "fio/randread-3.33.json")
	for metric, field := range map[string]string{"iops": `"iops" : `, "operations": `"total_ios" : `, "elapsed_s": `"runtime" : `, "mb_per_s": `"bw_bytes" : `} {
		var want float64
		if _, err := fmt.Sscanf(text[strings.Index(text, `"read"`)+strings.Index(text[strings.Index(text, `"read"`):], field)+len(field):], "%g", &want); err != nil {
			t.Fatal(err)
		}
		want /= map[string]float64{"elapsed_s": 1000, "mb_per_s": 1 << 20}[metric] + map[bool]float64{true: 1}[metric == "iops" || metric == "operations"]
		if got, ok := r.Value(metric); !ok || math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s is %g, want %g", metric, got, want)
		}
	}
}

func TestFIO2JSONHasMicroseconds(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "fio.json", fixture(t, "fio/randread-2.16-by-hand.json"), bench.Context{Server: "box"})
	run, r := onlyResult(t, b)
	want := map[string]float64{
		"iops": 3333.33, "mb_per_s": 53333.0 / 1024, "elapsed_s": 60, "operations": 200000, "min_us": 210, "max": 91000, "average": 1195.5, "stdev_us": 310.25,
		"p50": 1112, "p99": 2512, "p99_9": 9408,
	}
	if diff := cmp.Diff(want, numbersOf(r), near); diff != "" {
		t.Error(diff)
	}
	if run.Workload != "iodir" || run.Options["time_based"] != "1" || r.Step.Name != "randread-16k-qd4" || r.PrimaryText != "3333.33" {
		t.Errorf("%+v %+v", run, r)
	}
	// The note before the JSON and the name that stands twice are kept as warnings.
	if len(r.Warnings) != 3 || !strings.HasPrefix(r.Warnings[0].Text, "fio: this platform") || r.Warnings[1].Column != "bw_dev" || r.Warnings[2].Column != "0.00" {
		t.Errorf("%v", r.Warnings)
	}
}

func TestMessagesWithinJSONAreTakenOut(t *testing.T) {
	t.Parallel()
	text := fixture(t, "fio/randread-3.33.json")
	at := strings.Index(text, `"read" : {`)
	broken := text[:at] + "\nfio: pid=5509, err=5/file:io_u.c:1896, func=io_u error, error=Input/output error\n" + text[at:] + "\nfio: done\n"
	_, r := onlyResult(t, mustRead(t, "fio.json", broken, fioFlags))
	_, whole := onlyResult(t, mustRead(t, "fio.json", text, fioFlags))
	if diff := cmp.Diff(numbersOf(whole), numbersOf(r)); diff != "" {
		t.Error(diff)
	}
	if len(r.Warnings) != 3 || !strings.Contains(r.Warnings[1].Text, "Input/output error") || r.Warnings[2].Text != "fio: done" {
		t.Errorf("%v", r.Warnings)
	}
}

func TestFIOTerse(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3", "4"} {
		text := fixture(t, "fio/terse-"+version+".txt")
		fields := strings.Split(text[strings.Index(text, version+";fio-"):], ";")
		run, r := onlyResult(t, mustRead(t, "fio.txt", text, fioFlags))
		if run.Build.Version != "3.33" || r.Step.Name != "disk-4k" || r.PrimaryText != fields[7] || len(r.Warnings) != 0 {
			t.Errorf("%+v %+v", run, r)
		}
		v := numbersOf(r)
		// The places are those that fio's documentation gives, counted from 1.
		for metric, place := range map[string]int{"iops": 8, "min_us": 14, "max": 15, "average": 16, "stdev_us": 17} {
			if got := fmt.Sprintf("%g", v[metric]); got != plainNumber(fields[place-1]) {
				t.Errorf("%s is %s, the file has %s", metric, got, fields[place-1])
			}
		}
		if got := fmt.Sprintf("99.000000%%=%g", v["p99"]); !strings.Contains(text, got) {
			t.Errorf("p99: %s", got)
		}
	}
	f := onlyFile(t, mustRead(t, "fio.txt", fixture(t, "fio/terse-5.txt"), fioFlags))
	if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, "versions 3 and 4 are read") {
		t.Errorf("%+v", f)
	}
}

func TestFIORatesThatContradictBandwidthsAreTold(t *testing.T) {
	t.Parallel()
	line := func(iops, bw, io string) string {
		return "  read: IOPS=" + iops + ", BW=" + bw + "MiB/s (1MB/s)(" + io + "MiB/60001msec)\n clat (usec): min=163, max=7789, avg=420.75, stdev=135.77\n"
	}
	for _, tt := range []struct {
		name, text string
		contains   []string
	}{
		{"agree", line("18.6k", "72.7", "4361"), nil},
		{"agree within their digits", line("18.9k", "73.8", "4430"), nil},
		{"the published contradiction", line("18.0k", "74.1", "4446"), []string{"18.0k IOPS at 4 KiB, the nearest block size, make 70.31 MiB/s, printed are 74.1 MiB/s, which are 18970 IOPS; 4446 MiB in 60 s agree with the bandwidth"}},
		{"the bandwidth is wrong", line("18.6k", "77.7", "4361"), []string{"4361 MiB in 60 s make 72.68 MiB/s", "contradict each other"}},
		{"no block size fits", line("18.6k", "100", "6000"), nil},
	} {
		_, r := onlyResult(t, mustRead(t, "x", tt.text, bench.Context{Server: "s", Workload: "w"}))
		var got []string
		for _, w := range r.Warnings {
			got = append(got, w.Text)
		}
		if len(got) != len(tt.contains) {
			t.Errorf("%s: %q", tt.name, got)
			continue
		}
		for i, c := range tt.contains {
			if !strings.Contains(got[i], c) {
				t.Errorf("%s: %q", tt.name, got[i])
			}
		}
	}
	// Where the job's block size is printed it is not guessed.
	job := "disk: (g=0): rw=randread, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=psync, iodepth=1\ndisk: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 30 17:13:50 2026\n"
	_, r := onlyResult(t, mustRead(t, "x", job+line("18.6k", "72.7", "4361"), bench.Context{Server: "s", Workload: "w"}))
	if !warned(r, "at 8 KiB make 145.3 MiB/s") || !warned(r, "total_ios, percentiles") || !warned(r, "the text is cut") || r.Step.Name != "randread-8k-qd1" {
		t.Errorf("%v", r.Warnings)
	}
}

func TestFIOBelongsToTheSystemThatIsStated(t *testing.T) {
	t.Parallel()
	text := fixture(t, "fio/randread-3.33.txt")
	flags := bench.Context{System: "neard", Server: "n2", Workload: "io", Version: "1.34", Config: "bs16k"}
	run, r := onlyResult(t, mustRead(t, "fio.txt", text, flags))
	if run.System != "neard" || run.Suite != "fio" || run.Build.Version != "1.34" || run.Config != "bs16k" || run.Options["block_size"] != "" || r.Primary != "iops" {
		t.Errorf("%+v", run)
	}
	// fio's version is not that of another system.
	flags.Version = ""
	f := onlyFile(t, mustRead(t, "fio.txt", text, flags))
	if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, "give --version") {
		t.Errorf("%+v", f)
	}
	// In the name of a file of fio's the block size is its own; a folder is an arm.
	if run, _ = onlyResult(t, mustRead(t, "fio-bs4k.txt", text, fioFlags)); run.Config != "" {
		t.Errorf("config %q", run.Config)
	}
	if run, _ = onlyResult(t, mustRead(t, "bs8k/fio.txt", text, fioFlags)); run.Config != "bs8k" {
		t.Errorf("config %q", run.Config)
	}
	// Lines without fio's version tell the generation by their form.
	lines := text[strings.Index(text, "  read:"):]
	if run, _ = onlyResult(t, mustRead(t, "fio.txt", lines, fioFlags)); run.Build.Version != "3" {
		t.Errorf("%+v", run.Build)
	}
}

func TestFIOFailures(t *testing.T) {
	t.Parallel()
	_, r := onlyResult(t, mustRead(t, "x", fixture(t, "fio/failed-by-hand.txt"), fioFlags))
	if r.State != bench.StateFailed || !strings.Contains(r.Reason, "Input/output error") || numbersOf(r)["iops"] != 100 || len(r.Warnings) != 2 {
		t.Errorf("%+v", r)
	}
	_, r = onlyResult(t, mustRead(t, "x", "{\n\"fio version\": \"fio-3.1\", \"jobs\": [{\"jobname\": \"j\", \"error\": 28, \"read\": {\"runtime\": 0}}]}", fioFlags))
	if r.State != bench.StateFailed || r.Reason != "error 28" || len(r.Values) != 0 || r.Step.Name != "j" {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct{ name, text, contains string }{
		{"no jobs", "{\n\"fio version\": \"fio-3.1\"}", "no jobs"},
		{"cut", fixture(t, "fio/randread-3.33.json")[:2000], "ends in the middle"},
		{"no JSON", "\"fio version\"", "no JSON object"},
		{"odd jobs", "{\n\"fio version\": \"fio-3.1\", \"jobs\": [7]}", "no job"},
		{"nothing done", "{\n\"fio version\": \"fio-3.1\", \"jobs\": [{\"jobname\": \"j\"}]}", "no figures"},
		{"too few fields", "3;fio-3.33;j;0;0;1;2;3\n", "8 fields"},
		{"nested", "{\n\"fio version\": " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", "nested"},
	} {
		f := onlyFile(t, mustRead(t, "x", tt.text, fioFlags))
		if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, tt.contains) {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

func TestBlockSizesOfFIO(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, direction string
		want            float64
	}{
		{"4k", "read", 4096}, {"16K", "write", 16384}, {"1m", "read", 1 << 20}, {"4096", "read", 4096}, {"4096B", "read", 4096}, {"4KiB", "read", 4096},
		{"4k,8k", "read", 4096}, {"4k,8k", "write", 8192}, {"4k,8k", "trim", 8192}, {"4K-4K/8K-8K/4K-4K", "write", 8192},
		{"(R) 16.0KiB-16.0KiB, (W) 8192B-8192B, (T) 4096B-4096B", "write", 8192}, {"(R) 16.0KiB-16.0KiB, (W) 8192B-8192B, (T) 4096B-4096B", "read", 16384},
		{"4k-64k", "read", 0}, {"", "read", 0}, {"x", "read", 0}, {"0", "read", 0}, {"999999999999m", "read", 0},
	} {
		if got, ok := fioBlockSize(tt.text, tt.direction); ok != (tt.want > 0) || ok && got != tt.want {
			t.Errorf("%q of %s is %g (%t), want %g", tt.text, tt.direction, got, ok, tt.want)
		}
	}
}

func TestSharedFIOOutputs(t *testing.T) {
	t.Parallel()
	shared := testdata.Shared(t)
	dir := filepath.Join(shared, "data", "blocksize")
	flags := bench.Context{Server: "vm", Workload: "iodir"}
	for _, tt := range []struct {
		name, step string
		want       map[string]float64
	}{
		{"fio-3.33-randread-16k-qd8-human.txt", "randread-16k-qd8", map[string]float64{"iops": 33600, "mb_per_s": 526, "average": 232.93, "stdev_us": 781.54, "p50": 167, "p99": 2212, "p99_9": 6915, "max": 74388, "operations": 269224}},
		{"fio-3.33-randread-4k-qd1-human.txt", "randread-4k-qd1", map[string]float64{"iops": 23300, "mb_per_s": 90.9, "average": 35.65697, "stdev_us": 328.53795, "min_us": 0.538, "max": 76100, "p50": 21, "p99_99": 8029}},
		{"fio-3.33-randread-4k-qd1-terse.txt", "randread-4k", map[string]float64{"iops": 17770, "mb_per_s": 71081.0 / 1024, "average": 48.786053, "stdev_us": 718.38421, "p99_9": 5144, "max": 150947}},
		{"fio-3.33-randread-4k-qd8.json", "randread-4k-qd8", map[string]float64{"iops": 44865.641795, "mb_per_s": 183769668.0 / (1 << 20), "average": 174.806768919, "p50": 96.768, "p95": 179.2, "p99": 1908.736, "p99_9": 6914.048}},
		{"fio-randread.txt", "randread-4k-qd8", map[string]float64{"iops": 54000, "mb_per_s": 211, "p99": 603, "operations": 162085}},
		{"fio-randread.json", "randread-4k-qd8", map[string]float64{"iops": 54980.339887, "p50": 108.032}},
		{"fio-randread-uring.json", "randread-4k-qd8", map[string]float64{"iops": 60121.43928, "p99": 481.28}},
	} {
		_, r := onlyResult(t, mustRead(t, tt.name, readShared(t, dir, tt.name), flags))
		got := numbersOf(r)
		for metric, want := range tt.want {
			if math.Abs(got[metric]-want) > 1e-9*want {
				t.Errorf("%s: %s is %g, want %g", tt.name, metric, got[metric], want)
			}
		}
		if r.Step.Name != tt.step || len(r.Warnings) != 0 {
			t.Errorf("%s: %s %v", tt.name, r.Step.Name, r.Warnings)
		}
	}
	// Case 41: a note stands before the JSON.
	run, r := onlyResult(t, mustRead(t, "x.json", readShared(t, filepath.Join(shared, "cases"), "41-fio-note-before-json.json"), flags))
	if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0].Text, "note: both iodepth >= 1") || r.Step.Name != "randread-4k-qd1" || run.Options["iodepth"] != "8" || numbersOf(r)["iops"] != 30117.647059 {
		t.Errorf("%+v %v", r.Step, r.Warnings)
	}
}

func FuzzFIO(f *testing.F) {
	for _, name := range []string{"randread-3.33.txt", "randread-2.16-by-hand.txt", "mixed-3.33.txt", "failed-by-hand.txt", "terse-3.txt", "terse-4.txt", "randread-3.33.json", "randread-2.16-by-hand.json"} {
		f.Add(seed(f, "fio/"+name))
	}
	f.Add([]byte("read: IOPS=0, BW=0B/s (0B/s)(0B/0msec)\nread: IOPS=1T, BW=999999999999999999TiB/s (0B/s)(1B/1msec)\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Read(data, "x.txt", bench.Context{Server: "s1", Workload: "io"}, Limits{Bytes: 8 << 20})
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
