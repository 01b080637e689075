package sample

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestSampleHoldsTheBlockSizeStudyWithItsDisks(t *testing.T) {
	t.Parallel()
	var r reader
	if err := Load(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	type arm struct{ latency, iops, mbps, six float64 }
	got := map[string]arm{}
	warned := ""
	for _, b := range r.batches {
		for i := range b.Runs {
			run := &b.Runs[i]
			if run.System != bench.SystemNeard {
				continue
			}
			if run.Environment["source_url"] != "https://github.com/near/nearcore/discussions/9370" || run.Environment["disk"] == "" || len(run.Results) != 1 {
				t.Errorf("%+v", run)
			}
			a, res := got[run.Config], &run.Results[0]
			if v, ok := res.Value("observed_latency_ns"); ok {
				a.latency = v
				if want := map[string]string{"bs4k": "4096", "bs8k": "8192", "bs16k": "16384", "bs32k": "32768"}[run.Config]; run.Options["block_size"] != want {
					t.Errorf("%s: block size %q", run.Config, run.Options["block_size"])
				}
			}
			for _, x := range res.Breakdowns {
				if x.Key == bench.BreakdownBlockReads && x.Bucket == "6" {
					a.six = x.Value
				}
			}
			if v, ok := res.Value("iops"); ok {
				a.iops = v
				a.mbps, _ = res.Value("mb_per_s")
			}
			for _, w := range res.Warnings {
				warned += run.Config + ": " + w.Text
			}
			got[run.Config] = a
		}
	}
	// As the discussion prints them: 516.923 µs, 18.6k IOPS, 72.7 MiB/s, …
	for config, want := range map[string]arm{
		"bs4k": {516923, 18600, 72.7, 4502067}, "bs8k": {540224, 18000, 74.1, 3236723}, "bs16k": {612676, 18600, 72.6, 2973900}, "bs32k": {689518, 18900, 73.8, 3227380},
	} {
		if got[config] != want {
			t.Errorf("%s: %+v, want %+v", config, got[config], want)
		}
	}
	for config, want := range map[string]float64{"bs8k": 1.045, "bs16k": 1.185, "bs32k": 1.334} {
		if ratio := got[config].latency / got["bs4k"].latency; math.Abs(ratio-want) > 0.0005 {
			t.Errorf("%s: %.4f, want %.3f", config, ratio, want)
		}
	}
	if !strings.HasPrefix(warned, "bs8k: IOPS and bandwidth contradict each other") || strings.Count(warned, "bs") != 1 {
		t.Errorf("disk 2 alone contradicts itself: %q", warned)
	}
}

func TestSampleHoldsTheOptionsOfItsConfigs(t *testing.T) {
	t.Parallel()
	var r reader
	if err := Load(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	var base bench.Config
	var others []bench.Config
	used := map[string]string{} // config to the source's name of it, by runs
	for _, b := range r.batches {
		for _, c := range b.Configs {
			if c.Name == "a0" {
				base = c
			} else {
				others = append(others, c)
			}
		}
		for _, run := range b.Runs {
			if run.System == bench.SystemMyRocks {
				used[run.Config] = run.Environment["config_source"]
			}
		}
	}
	if len(base.Options) != 42 || len(others) != 7 {
		t.Fatalf("%d options of the base, %d others", len(base.Options), len(others))
	}
	f := bench.NewFamily(base, others)
	if len(f.Rows) != 7 || len(f.Combinations) != 2 || strings.Join(f.Combinations[0].Parts, "+") != "a1+a2+a5" {
		t.Errorf("%+v", f)
	}
	for _, c := range others {
		if used[c.Name] != c.SourceName {
			t.Errorf("%s is %s, its runs say %s", c.Name, c.SourceName, used[c.Name])
		}
	}
}
