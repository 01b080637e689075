package api_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// blockSizes is the text of a study in the form in which such are published: per
// disk a line of fio and the figures of state-perf at one block size.
func blockSizes() string {
	var b strings.Builder
	for i, x := range []struct{ size, fio, overall, one, six string }{
		{"4KiB", "IOPS=18.6k, BW=72.7MiB/s (76.2MB/s)(4361MiB/60001msec) clat (usec): min=157, max=11829, avg=428.97, stdev=139.60", "516.923µs", "99993 (99.99%): | avg observed_latency: 516.643µs", "7 (0.01%): | avg observed_latency: 4.502067ms"},
		{"8 KiB", "IOPS=18.0k, BW=74.1MiB/s (77.7MB/s)(4446MiB/60001msec) clat (usec): min=163, max=7789, avg=420.75, stdev=135.77", "540.224µs", "99995 (100.00%): | avg observed_latency: 540.09µs", "5 (0.01%): | avg observed_latency: 3.236723ms"},
		{"16 KiB", "IOPS=18.6k, BW=72.6MiB/s (76.1MB/s)(4354MiB/60001msec) clat (usec): min=157, max=7907, avg=429.67, stdev=146.28", "612.676µs", "99997 (100.00%): | avg observed_latency: 612.605µs", "3 (0.00%): | avg observed_latency: 2.9739ms"},
		{"32 KiB", "IOPS=18.9k, BW=73.8MiB/s (77.4MB/s)(4430MiB/60001msec) clat (usec): min=154, max=7154, avg=422.20, stdev=128.46", "689.518µs", "99997 (100.00%): | avg observed_latency: 689.442µs", "3 (0.00%): | avg observed_latency: 3.22738ms"},
	} {
		const rest = ", block_read_time: 1µs, samples with merge: 0 (0.00%)\n"
		fmt.Fprintf(&b, "Disk %d\n\nFio tool results:\n\nread: %s\n\n%s block size\n\noverall | avg observed_latency: %s%sblock_read_count: 1, samples: %s%sblock_read_count: 6, samples: %s%s\n",
			i+1, x.fio, x.size, x.overall, rest, x.one, rest, x.six, rest)
	}
	return b.String()
}

type sweepAnswer struct {
	Sweep struct {
		Option struct {
			Key string `json:"key"`
		} `json:"option"`
		Arms []struct {
			Arm     string   `json:"arm"`
			Number  *float64 `json:"number"`
			Written *string  `json:"written"`
			Label   string   `json:"label"`
			Configs []string `json:"configs"`
			Runs    []int64  `json:"runs"`
		} `json:"arms"`
	} `json:"sweep"`
	Base string `json:"base"`
	Rows []struct {
		armRow
		Base  string   `json:"base"`
		Best  string   `json:"best"`
		Alike []string `json:"alike"`
	} `json:"rows"`
	Splits []struct {
		Step string `json:"step"`
		Key  string `json:"key"`
		Rows []struct {
			Bucket string `json:"bucket"`
			Best   string `json:"best"`
			Cells  []struct {
				Arm      string   `json:"arm"`
				Value    float64  `json:"value"`
				Samples  int64    `json:"samples"`
				Relative *float64 `json:"relative"`
			} `json:"cells"`
		} `json:"rows"`
	} `json:"splits"`
	Disks []struct {
		Arm, Disk, Contradiction string
		Figures                  []struct {
			Metric bench.Metric `json:"metric"`
			Value  float64      `json:"value"`
		} `json:"figures"`
	} `json:"disks"`
	IOPSSpread      *float64 `json:"disks_iops_spread"`
	BandwidthSpread *float64 `json:"disks_bandwidth_spread"`
	Differs         []struct {
		Kind, Name string
		Values     [][]string
		Disjoint   bool
	} `json:"differs"`
	Summary []string `json:"summary"`
	Doubts  []string `json:"doubts"`
	Sweeps  []struct {
		Workload string `json:"workload"`
		Option   struct {
			Key string `json:"key"`
		} `json:"option"`
	} `json:"sweeps"`
}

// ratios shows a row as arm=ratio ….
func (a *sweepAnswer) ratios(row int) string {
	var parts []string
	for _, c := range a.Rows[row].Cells {
		text := "null"
		if c.Relative != nil {
			text = fmt.Sprintf("%.3f", *c.Relative)
		}
		parts = append(parts, c.Arm+"="+text)
	}
	return strings.Join(parts, " ")
}

// studyMustShow are the figures that the published study must give.
func studyMustShow(t *testing.T, a *sweepAnswer) {
	t.Helper()
	if a.Sweep.Option.Key != "block_size" || len(a.Sweep.Arms) != 4 || a.Sweep.Arms[0].Label != "4 KiB" || *a.Sweep.Arms[3].Number != 32768 || a.Sweep.Arms[1].Configs[0] != "bs8k" || len(a.Sweep.Arms[1].Runs) != 1 {
		t.Fatalf("%+v", a.Sweep)
	}
	if len(a.Rows) != 1 || a.Rows[0].Best != "4096" || a.Rows[0].Metric.Name != "observed_latency_ns" || a.ratios(0) != "4096=1.000 8192=1.045 16384=1.185 32768=1.334" {
		t.Fatalf("%+v", a.Rows)
	}
	for i, want := range []float64{516923, 540224, 612676, 689518} {
		if c := a.Rows[0].Cells[i]; c.Value != want || c.N != 1 || c.RelativeHigh != nil && i != 0 {
			t.Errorf("%+v, want %g", c, want)
		}
	}
	if a.IOPSSpread == nil || math.Abs(*a.IOPSSpread-0.05) > 1e-9 || a.BandwidthSpread == nil || math.Abs(*a.BandwidthSpread-(74.1/72.6-1)) > 1e-9 || len(a.Disks) != 4 {
		t.Errorf("%v %v %+v", a.IOPSSpread, a.BandwidthSpread, a.Disks)
	}
	for i, d := range a.Disks {
		if (d.Contradiction != "") != (i == 1) || d.Disk != fmt.Sprintf("Disk %d", i+1) || d.Arm != a.Sweep.Arms[i].Arm {
			t.Errorf("%+v", d)
		}
	}
	if len(a.Splits) != 1 || a.Splits[0].Key != "block_read_count" || len(a.Splits[0].Rows) != 2 || a.Splits[0].Rows[1].Bucket != "6" || a.Splits[0].Rows[1].Best != "16384" || a.Splits[0].Rows[1].Cells[0].Value != 4502067 {
		t.Errorf("%+v", a.Splits)
	}
	text := strings.Join(append(a.Summary, a.Doubts...), "\n")
	for _, want := range []string{
		"block_size of 4 KiB is best at state-perf: observed latency 516.923 µs; 8 KiB 1.045, 16 KiB 1.185 and 32 KiB 1.334 of it.", "One run per value: no interval can be given",
		"Each value has another disk (4 KiB: Disk 1, 8 KiB: Disk 2, 16 KiB: Disk 3, 32 KiB: Disk 4)", "No run has a date",
		"alike within 5.0\u2009% by the IOPS that fio printed (18.0k–18.9k) and within 2.1\u2009% by bandwidth", "Disk 2 contradicts itself: 18.0k IOPS beside 74.1 MiB/s at 4 KiB",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said in\n%s", want, text)
		}
	}
}

func TestAnOptionIsSwept(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.get("/api/v1/compare/sweep").problem(404)
	s.ingested(bench.Context{System: "neard", Server: "n2", Workload: "io", Version: "unknown"}, map[string]string{"study.txt": blockSizes()})
	var a sweepAnswer
	s.get("/api/v1/compare/sweep?system=neard&server=n2&workload=io&option=block_size").want(200).decode(&a)
	studyMustShow(t, &a)
	if d := a.Differs; len(d) != 1 || d[0].Kind != "host" || d[0].Name != "disk" || !d[0].Disjoint || d[0].Values[2][0] != "Disk 3" || len(a.Sweeps) != 1 {
		t.Errorf("%+v %+v", a.Differs, a.Sweeps)
	}
	// Against a chosen value, by another metric, and by what is asked for but not there.
	a = sweepAnswer{}
	s.get("/api/v1/compare/sweep?base=8192&metric=block_read_time_ns").want(200).decode(&a)
	if a.Base != "8192" || a.Rows[0].Base != "8192" || a.Rows[0].Metric.Name != "block_read_time_ns" || a.ratios(0) != "4096=1.000 8192=1.000 16384=1.000 32768=1.000" {
		t.Errorf("%+v", a)
	}
	if p := s.get("/api/v1/compare/sweep?base=4k").problem(400); !strings.Contains(p.Detail, "4096, 8192, 16384, 32768") {
		t.Errorf("%+v", p)
	}
	s.get("/api/v1/compare/sweep?option=cache_size").problem(404)
	s.get("/api/v1/compare/sweep?metric=speed").problem(400)
	s.get("/api/v1/compare/sweep?base_config=a0").problem(400)
	s.get("/api/v1/compare/sweep?option=a&option=b").problem(400)
}

func TestConfigsOfWhichOneNumberDiffersAreSwept(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ingested(bench.Context{}, map[string]string{
		"my.cnf.cy10a_bee": fmt.Sprintf(myCnf, "8G", ""), "my.cnf.cy10a5_bee": fmt.Sprintf(myCnf, "8G", "rocksdb_max_subcompactions=2\n"),
	})
	s.ingested(bench.Context{Workload: "io", Server: "bee", Clients: 1}, map[string]string{"mrg.l.i1": ibenchTable("cy10a0 23240 0 20178", "cy10a5 23234 0 20132")})
	var a sweepAnswer
	s.get("/api/v1/compare/sweep?system=myrocks&option=rocksdb_max_subcompactions&base=not+set").want(200).decode(&a)
	arms := a.Sweep.Arms
	if len(arms) != 2 || arms[0].Number != nil || arms[0].Written != nil || arms[0].Configs[0] != "a0" || arms[1].Label != "2" || len(a.Rows) != 1 {
		t.Fatalf("%+v", a)
	}
	// 23234 / 23240 = 0.99974.
	if r := a.Rows[0].Cells[1].Relative; r == nil || math.Abs(*r-23234.0/23240) > 1e-12 || a.Rows[0].Best != "not set" || len(a.Differs) != 0 {
		t.Errorf("%+v", a)
	}
}

// TestSharedBlockSizesMustShow reads the published discussion, and the logs of
// db_bench that were made of the same question.
func TestSharedBlockSizesMustShow(t *testing.T) {
	t.Parallel()
	shared := testdata.Shared(t)
	s := newService(t)
	g := ingest.Ingester{Store: s.store}
	submit := func(c bench.Context, path string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Submit(t.Context(), bench.Upload{Filename: filepath.Base(path), Bytes: data, Context: c, Actor: "test"}); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	submit(bench.Context{System: "neard", Server: "n2-highcpu-16", Workload: "io", Version: "unknown"}, filepath.Join(shared, "sources", "block-size-state-perf.txt"))
	for _, size := range []string{"4k", "8k", "16k", "32k"} {
		submit(bench.Context{Server: "vm", Workload: "iodir", Version: "7.8.3", Compiler: "gcc"}, filepath.Join(shared, "data", "blocksize", "db_bench-7.8.3-readrandom-bs"+size+".txt"))
	}
	var a sweepAnswer
	s.get("/api/v1/compare/sweep?system=neard").want(200).decode(&a)
	studyMustShow(t, &a)
	// Built with assertions: their rates are shown, and none is called best.
	a = sweepAnswer{}
	s.get("/api/v1/compare/sweep?system=rocksdb&server=vm").want(200).decode(&a)
	if len(a.Rows) != 1 || a.Rows[0].Best != "" || a.Rows[0].Metric.Name != "qps" || len(a.Sweep.Arms) != 4 {
		t.Fatalf("%+v", a)
	}
	var rates []float64
	for _, c := range a.Rows[0].Cells {
		rates = append(rates, c.Value)
	}
	if diff := cmp.Diff([]float64{6993, 6539, 5127, 5957}, rates); diff != "" {
		t.Error(diff)
	}
	// 6539 / 6993 = 0.9351, 5127 / 6993 = 0.7332, 5957 / 6993 = 0.8519.
	if got := a.ratios(0); got != "4096=1.000 8192=0.935 16384=0.733 32768=0.852" {
		t.Error(got)
	}
	if text := strings.Join(a.Summary, " "); !strings.Contains(text, "must not be compared") || strings.Contains(text, "is best") {
		t.Error(text)
	}
}
