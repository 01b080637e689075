package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// blockSizes is a source with the published study of block sizes: each on a disk
// of its own, with fio of every disk.
func blockSizes(t testing.TB) *fakeSource {
	t.Helper()
	f := &fakeSource{}
	add := func(run int64, suite, step, config, metric, value string) {
		c := bench.Coordinate{System: "neard", Suite: suite, Server: "n2", Workload: "io", Step: step, Config: config, Clients: 1}
		s := series(t, metric, c, "unknown "+value)
		s.Points[0].Samples[0].RunID, s.Points[0].Samples[0].Started = run, bench.LocalTime{}
		f.series = append(f.series, s)
	}
	for i, x := range []struct{ name, size, latency, one, six, iops, bandwidth string }{
		{"bs4k", "4096", "516923", "516643", "4502067", "18600", "72.7"}, {"bs8k", "8192", "540224", "540090", "3236723", "18000", "74.1"},
		{"bs16k", "16384", "612676", "612605", "2973900", "18600", "72.6"}, {"bs32k", "32768", "689518", "689442", "3227380", "18900", "73.8"},
	} {
		run := int64(2*i + 1)
		facts := bench.RunFacts{
			ID: run, System: "neard", Suite: "state-perf", Server: "n2", Workload: "io", Config: x.name, Clients: 1, Build: bench.Build{Version: "unknown"},
			Environment: map[string]string{"disk": fmt.Sprintf("Disk %d", i+1)}, Options: map[string]string{"block_size": x.size},
		}
		fio := facts
		fio.ID, fio.Suite, fio.Options = run+1, bench.SuiteFIO, nil
		f.facts = append(f.facts, facts, fio)
		add(run, "state-perf", "state-perf", x.name, "observed_latency_ns", x.latency)
		add(run+1, "fio", "read-4k", x.name, "iops", x.iops)
		add(run+1, "fio", "read-4k", x.name, "mb_per_s", x.bandwidth)
		for _, b := range []struct{ bucket, value string }{{"1", x.one}, {"6", x.six}} {
			var v float64
			if _, err := fmt.Sscan(b.value, &v); err != nil {
				t.Fatal(err)
			}
			f.splits = append(f.splits, bench.RunBreakdown{RunID: run, Step: "state-perf", Breakdown: bench.Breakdown{Key: bench.BreakdownBlockReads, Bucket: b.bucket, Samples: 5, Unit: "ns", Value: v}})
		}
	}
	return f
}

// cellsOf gives the texts of the cells of a table's body, row by row.
func cellsOf(d *goquery.Document, selector string) []string {
	var rows []string
	d.Find(selector + " tbody tr").Each(func(_ int, tr *goquery.Selection) {
		var cells []string
		tr.Find("th, td").Each(func(_ int, c *goquery.Selection) { cells = append(cells, squeeze(c.Text())) })
		rows = append(rows, strings.Join(cells, " | "))
	})
	return rows
}

func TestASweepShowsSentenceTableAndPlot(t *testing.T) {
	t.Parallel()
	d := page(t, newHandler(t, blockSizes(t)), "/sweeps?system=neard&option=block_size")
	if got := text(d, "h1"); got != "neard, block_size: 4 KiB to 32 KiB" {
		t.Errorf("%q", got)
	}
	if got := text(d, ".lead"); got != "block_size of 4 KiB is best at state-perf: observed latency 516.923 µs; 8 KiB 1.045, 16 KiB 1.185 and 32 KiB 1.334 of it. One run per value: no interval can be given, and small differences may be noise." {
		t.Errorf("%q", got)
	}
	want := []string{
		"4 KiB bs4k | 516.923 best | 1.000 | base | 1 | 1", "8 KiB bs8k | 540.224 | 1.045 | one run | 1 | 3",
		"16 KiB bs16k | 612.676 | 1.185 | one run | 1 | 5", "32 KiB bs32k | 689.518 | 1.334 | one run | 1 | 7",
	}
	if diff := cmp.Diff(want, cellsOf(d, "table.sw")); diff != "" {
		t.Error(diff)
	}
	var doubts []string
	d.Find("#doubts li").Each(func(_ int, s *goquery.Selection) { doubts = append(doubts, squeeze(s.Text())) })
	if len(doubts) != 4 || !strings.Contains(doubts[0], "Each value has another disk") || !strings.Contains(doubts[1], "No run has a date") ||
		doubts[2] != "The 4 disks are alike within 5.0 % by the IOPS that fio printed (18.0k–18.9k) and within 2.1 % by bandwidth (72.6–74.1 MiB/s)." || !strings.HasPrefix(doubts[3], "Disk 2 contradicts itself: 18.0k IOPS beside 74.1 MiB/s at 4 KiB") {
		t.Errorf("%q", doubts)
	}
	want = []string{
		"Disk 1 | 4 KiB | read-4k | 18,600 | 72.7 | 18,611 | 2", "Disk 2 | 8 KiB | read-4k | 18,000 | 74.1 | ! 18,970 | 4",
		"Disk 3 | 16 KiB | read-4k | 18,600 | 72.6 | 18,586 | 6", "Disk 4 | 32 KiB | read-4k | 18,900 | 73.8 | 18,893 | 8",
	}
	if diff := cmp.Diff(want, cellsOf(d, "#disks")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"disk host | Disk 1 | Disk 2 | Disk 3 | Disk 4"}, cellsOf(d, "#differs")); diff != "" {
		t.Error(diff)
	}
	// Values are even steps apart, in the order of their numbers, and nothing needs a script.
	var x []string
	d.Find("svg.sweep").First().Find("circle").Each(func(_ int, c *goquery.Selection) { x = append(x, c.AttrOr("cx", "")) })
	if diff := cmp.Diff([]string{"86.0", "228.0", "370.0", "512.0"}, x); diff != "" {
		t.Error(diff)
	}
	if n := d.Find("svg.sweep").Length(); n != 3 || d.Find("svg.sweep circle[fill='var(--bg)']").Length() != 12 {
		t.Errorf("%d plots", n) // the step and two buckets, all of one run
	}
	if got := d.Find(".basechip").Text(); got != "4 KiB" {
		t.Errorf("base %q", got)
	}
}

func TestASweepIsDividedByTheValueInTheAddress(t *testing.T) {
	t.Parallel()
	h := newHandler(t, blockSizes(t))
	d := page(t, h, "/sweeps?base=16384")
	// 516923 / 612676 = 0.844 and 689518 / 612676 = 1.125.
	got := strings.Join(cellsOf(d, "table.sw"), "\n")
	if !strings.Contains(got, "516.923 best | 0.844") || !strings.Contains(got, "689.518 | 1.125") || !strings.Contains(got, "612.676 | 1.000 | base") || d.Find(".basechip").Text() != "16 KiB" {
		t.Errorf("%s", got)
	}
	// Every control of the page leads to a page, and the address keeps what it does not know.
	d.Find(".bar a[href^='/sweeps'], .sw a[href^='/sweeps'], #sweeps a").Each(func(_ int, s *goquery.Selection) {
		if w := get(t, h, s.AttrOr("href", "")); w.Code != http.StatusOK {
			t.Errorf("%s: %d", s.AttrOr("href", ""), w.Code)
		}
	})
	if href := page(t, h, "/sweeps?base=8192&x=1").Find(".bar [data-copy]").AttrOr("href", ""); href != "/sweeps?base=8192&x=1" {
		t.Errorf("%q", href)
	}
	for target, want := range map[string]int{"/sweeps?base=4k": 400, "/sweeps?metric=speed": 400, "/sweeps?option=a&option=b": 400} {
		if w := get(t, h, target); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	// What fits nothing says what there is.
	d = page(t, h, "/sweeps?option=cache_size")
	if d.Find(".empty .links a").Length() != 1 {
		t.Errorf("%s", text(d, ".empty"))
	}
	if d = page(t, newHandler(t, &fakeSource{}), "/sweeps"); !strings.Contains(text(d, ".empty"), "No option was measured at several values.") {
		t.Errorf("%s", text(d, "main"))
	}
}

func TestSeveralStepsOfASweepStandBesideEachOther(t *testing.T) {
	t.Parallel()
	f := &fakeSource{}
	for i, config := range []string{"a0", "a5"} {
		for _, step := range []string{"l.i0", "l.i1", "q100", "q500"} {
			metric := "qps"
			if strings.HasPrefix(step, "l.") {
				metric = "ips"
			}
			s := series(t, metric, bench.Coordinate{System: "myrocks", Suite: "ibench", Server: "bee", Workload: "io", Step: step, Config: config, Clients: 1}, fmt.Sprintf("8.0.28 %d", 1000+i*50))
			s.Points[0].Samples[0].RunID = int64(i + 1)
			f.series = append(f.series, s)
		}
		c := bench.StoredConfig{ID: int64(i + 1), Config: bench.Config{System: "myrocks", Name: config, Layer: bench.LayerParsed, Options: []bench.Option{{Key: "cache", Written: "8G", Value: "8589934592"}}}}
		if config == "a5" {
			c.Options = append(c.Options, bench.Option{Key: "max_subcompactions", Written: "2", Value: "2"})
		}
		f.configs = append(f.configs, c)
		f.facts = append(f.facts, bench.RunFacts{ID: int64(i + 1), System: "myrocks", Suite: "ibench", Server: "bee", Workload: "io", Config: config, Build: bench.Build{Version: "8.0.28"}, Clients: 1})
	}
	d := page(t, newHandler(t, f), "/sweeps")
	if got := text(d, ".lead"); got != "max_subcompactions: the best value is 2 in 4 of 4 rows; farthest from its best is not set at l.i0, 0.952 of it. One run per value: no interval can be given, and small differences may be noise." {
		t.Errorf("%q", got)
	}
	if n := d.Find("table.sw").Length(); n != 4 || d.Find(".grid3 svg.sweep").Length() != 4 {
		t.Errorf("%d tables", n)
	}
	if diff := cmp.Diff([]string{"not set a0 | 1,000 | 0.952 | one run | 1 | 1", "2 a5 | 1,050 best | 1.000 | base | 1 | 2"}, cellsOf(d, "table.sw")[:2]); diff != "" {
		t.Error(diff)
	}
}

func TestAFrozenSweepKeepsItsFigures(t *testing.T) {
	t.Parallel()
	source := blockSizes(t)
	snapshot, err := Freeze(context.Background(), Config{Source: source}, "/sweeps?system=neard")
	if err != nil || !strings.Contains(string(snapshot), "516923") {
		t.Fatal(err)
	}
}

func TestPlacesOfSweptValues(t *testing.T) {
	t.Parallel()
	arm := func(v float64) compare.SweepArm { return compare.SweepArm{Set: true, Number: v} }
	for _, x := range []struct {
		arms []compare.SweepArm
		want string
	}{
		{[]compare.SweepArm{arm(4096), arm(8192), arm(32768)}, "0.000 0.333 1.000"}, // doublings are even steps
		{[]compare.SweepArm{arm(0), arm(1), arm(4)}, "0.000 0.250 1.000"},           // 0 has no logarithm
		{[]compare.SweepArm{{}, arm(2), arm(8)}, "0.000 0.500 1.000"},               // not set stands a step before
		{[]compare.SweepArm{{}, arm(2)}, "0.000 1.000"},
		{[]compare.SweepArm{arm(5)}, "0.500"},
	} {
		var got []string
		for _, p := range sweepPlaces(&compare.Sweep{Arms: x.arms}) {
			got = append(got, fmt.Sprintf("%.3f", p))
		}
		if text := strings.Join(got, " "); text != x.want {
			t.Errorf("%v: %s, want %s", x.arms, text, x.want)
		}
	}
	for _, x := range [][2]float64{{516, 690}, {0, 0}, {5, 5}, {-3, 1e9}, {0.001, 0.0012}} {
		ticks := ticksOf(x[0], x[1])
		if len(ticks) < 2 || len(ticks) > 8 || ticks[0] > x[0] || ticks[len(ticks)-1] < x[1] {
			t.Errorf("%v: %v", x, ticks)
		}
	}
}
