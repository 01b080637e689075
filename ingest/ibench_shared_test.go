package ingest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// These tests read the published reports where they are there. What they compare
// with is taken here from the files' text, by other means than the readers use.

// sharedReports reads the tables of the reports of July 2023, cached and larger
// than memory, as the command line would.
func sharedReports(t *testing.T) (*bench.Batch, map[string]string) {
	t.Helper()
	dir := filepath.Join(testdata.Shared(t), "data", "ibench")
	return readUnits(t, dir, bench.Context{Clients: 1}, "reports")
}

// readUnits reads what the command line makes of arguments into one batch, with
// the texts of the files by path.
func readUnits(t *testing.T, root string, flags bench.Context, arguments ...string) (*bench.Batch, map[string]string) {
	t.Helper()
	units, err := Units(root, arguments)
	if err != nil {
		t.Fatal(err)
	}
	all, texts := &bench.Batch{}, map[string]string{}
	for _, u := range units {
		data, err := u.Bytes(Limits{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Read(data, u.Name, flags, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		all.Files, all.Runs, all.Checks, all.Warnings = append(all.Files, b.Files...), append(all.Runs, b.Runs...), append(all.Checks, b.Checks...), append(all.Warnings, b.Warnings...)
		for _, f := range u.files {
			text, err := os.ReadFile(f.source)
			if err != nil {
				t.Fatal(err)
			}
			texts[f.name] = string(text)
		}
	}
	return all, texts
}

// bySource finds results by a place they were read from.
func bySource(b *bench.Batch) map[string]*bench.Result {
	results := map[string]*bench.Result{}
	for i := range b.Runs {
		for j := range b.Runs[i].Results {
			r := &b.Runs[i].Results[j]
			for _, src := range r.Sources {
				results[fmt.Sprintf("%s:%d", src.File, src.Line)] = r
			}
		}
	}
	return results
}

func TestEveryFigureOfTheReportsIsReadAsWritten(t *testing.T) {
	t.Parallel()
	b, texts := sharedReports(t)
	results := bySource(b)
	metrics := map[string]string{"ips": "ips", "qps": "qps", "rps": "reads_per_s", "rmbps": "read_mb_per_s", "wps": "writes_per_s", "wmbps": "write_mb_per_s",
		"rpq": "reads_per_op", "rkbpq": "read_kb_per_op", "wpi": "writes_per_op", "wkbpi": "write_kb_per_op", "csps": "context_switches_per_s", "cpups": "cpu_percent",
		"cspq": "context_switches_per_op", "cpupq": "cpu_us_per_op", "dbgb1": "db_size_gb", "dbgb2": "total_size_gb", "rss": "rss_gb", "maxop": "max_op_s",
		"p50": "p50_second_rate", "p99": "p99_second_rate"}
	figures, rows, shares := 0, 0, 0
	for name, text := range texts {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		header := strings.Split(lines[0], "\t")
		op := ""
		switch {
		case header[0] == "ips":
		case header[0] == "256us":
			words := strings.Split(strings.TrimSuffix(name, ".tsv"), ".")
			op = words[len(words)-1]
		default:
			continue
		}
		for i, line := range lines[1:] {
			cells := strings.Split(line, "\t")
			r := results[fmt.Sprintf("%s:%d", name, i+2)]
			if r == nil {
				t.Fatalf("%s:%d gave no result", name, i+2)
			}
			if !strings.HasSuffix(r.Text, cells[len(cells)-1]) {
				t.Errorf("%s:%d is read as %s", name, i+2, r.Text)
			}
			rows++
			if op != "" {
				compareShares(t, fmt.Sprintf("%s:%d", name, i+2), cells, r, op)
				shares++
				continue
			}
			values := 0
			for k, cell := range cells[:len(cells)-1] {
				v, ok := r.Value(metrics[header[k]])
				if cell == "NA" {
					if ok {
						t.Errorf("%s:%d %s: %g, want nothing", name, i+2, header[k], v)
					}
					continue
				}
				values++
				// As written: the figure with the cell's decimals is the cell.
				_, frac, _ := strings.Cut(cell, ".")
				if want, err := strconv.ParseFloat(cell, 64); err != nil || !ok || v != want || strconv.FormatFloat(v, 'f', len(frac), 64) != cell {
					t.Errorf("%s:%d %s: %g, want %s", name, i+2, header[k], v, cell)
				}
				figures++
			}
			if len(r.Values) != values {
				t.Errorf("%s:%d: %d values, want %d", name, i+2, len(r.Values), values)
			}
		}
	}
	// 6 steps of 8 configs in 2 reports: 20 figures each, less p50 and p99 of l.x.
	if want := 6*8*2*20 - 2*8*2; figures != want || shares != 2*8*(2*1+3*3+1) || rows != 96+shares {
		t.Errorf("%d figures, want %d; %d rows with %d of shares", figures, want, rows, shares)
	}
	if len(b.Warnings) > 0 {
		t.Errorf("per-operation figures follow from the rates in these reports: %v", b.Warnings)
	}
	for i := range b.Runs {
		for j := range b.Runs[i].Results {
			if w := b.Runs[i].Results[j].Warnings; len(w) > 0 {
				t.Errorf("%v", w)
			}
		}
	}
}

// compareShares compares a row of response times with a distribution, and its sum
// with 100 %.
func compareShares(t *testing.T, at string, cells []string, r *bench.Result, op string) {
	t.Helper()
	i := slices.IndexFunc(r.Histograms, func(h bench.Histogram) bool { return h.Operation == op })
	if i < 0 {
		t.Errorf("%s: no distribution of %s", at, op)
		return
	}
	h := r.Histograms[i]
	sum := 0.0
	for k, cell := range cells[:10] {
		sum += h.Percents[k]
		switch cell {
		case "nonzero":
			if p := h.Percents[k]; !(p > 0 && p < 0.0005) {
				t.Errorf("%s: nonzero is %g", at, p)
			}
		default:
			if got := strconv.FormatFloat(h.Percents[k], 'f', 3, 64); got != cell {
				t.Errorf("%s: %s, want %s", at, got, cell)
			}
		}
	}
	if math.Abs(sum-100) > 0.005 {
		t.Errorf("%s: the shares sum to %g", at, sum)
	}
	if got := strconv.FormatFloat(*h.Max/1e6, 'f', 3, 64); got != cells[10] {
		t.Errorf("%s: max %s, want %s", at, got, cells[10])
	}
}

// reportResult gives the result of a config in a step.
func reportResult(t *testing.T, b *bench.Batch, workload, config, step string) *bench.Result {
	t.Helper()
	for i := range b.Runs {
		if run := &b.Runs[i]; run.Workload == workload && run.Config == config {
			for j := range run.Results {
				if run.Results[j].Step.Name == step {
					return &run.Results[j]
				}
			}
		}
	}
	t.Fatalf("no result of %s %s %s", workload, config, step)
	return nil
}

func TestReportsShowWhatTheyAreKnownFor(t *testing.T) {
	t.Parallel()
	b, _ := sharedReports(t)
	if len(b.Runs) != 16 {
		t.Fatalf("%d runs", len(b.Runs))
	}
	for i := range b.Runs {
		if run := &b.Runs[i]; run.System != "myrocks" || run.Build.Version != "8.0.28" || run.Server != "bee" || run.Clients != 1 || len(run.Results) != 6 {
			t.Errorf("%+v", run)
		}
	}
	value := func(workload, config, step, metric string) float64 {
		v, ok := reportResult(t, b, workload, config, step).Value(metric)
		if !ok {
			t.Errorf("%s %s %s has no %s", workload, config, step, metric)
		}
		return v
	}
	// Inserts of the IO-bound workload relative to a0.
	for config, want := range map[string]string{"a1": "0.993", "a2": "0.998", "a3": "0.822", "a4": "0.948", "a5": "1.000", "a6": "0.994", "a7": "1.006"} {
		if got := strconv.FormatFloat(value("io", config, "l.i1", "ips")/value("io", "a0", "l.i1", "ips"), 'f', 3, 64); got != want {
			t.Errorf("%s: %s, want %s", config, got, want)
		}
	}
	for config, want := range map[string]float64{"a0": 20178, "a3": 3447, "a4": 6992} {
		if got := value("io", config, "l.i1", "p99_second_rate"); got != want {
			t.Errorf("p99 of %s: %g, want %g", config, got, want)
		}
	}
	// Shares of inserts that took 4 to 16 ms.
	for config, want := range map[string]float64{"a0": 0.343, "a3": 5.826, "a4": 2.942} {
		r := reportResult(t, b, "io", config, "l.i1")
		i := slices.IndexFunc(r.Histograms, func(h bench.Histogram) bool { return h.Operation == "insert" })
		h := r.Histograms[i]
		if at := slices.Index(h.Bounds, 16000); h.Bounds[at-1] != 4000 || h.Percents[at] != want {
			t.Errorf("%s: %g %%, want %g", config, h.Percents[at], want)
		}
	}
	// Peak memory over all steps.
	for config, want := range map[string]float64{"a0": 10.4, "a1": 9.5} {
		peak := 0.0
		for _, step := range []string{"l.i0", "l.x", "l.i1", "q100", "q500", "q1000"} {
			peak = math.Max(peak, value("io", config, step, "rss_gb"))
		}
		if peak != want {
			t.Errorf("peak of %s: %g GB, want %g", config, peak, want)
		}
	}
}

func TestSummariesOfTheReportsAgreeWithTheirTables(t *testing.T) {
	t.Parallel()
	b, _ := sharedReports(t)
	cells := 0
	for _, c := range b.Checks {
		cells += c.Cells
		if c.Agree != c.Cells || c.Unknown > 0 || len(c.Messages) > 0 {
			t.Errorf("%+v", c)
		}
	}
	// Two of 48 cells and one of 27 in each report.
	if len(b.Checks) != 6 || cells != 2*(48+48+27) {
		t.Errorf("%d checks of %d cells", len(b.Checks), cells)
	}
	for _, f := range b.Files {
		if f.State == bench.FileRefused {
			t.Errorf("%s: %v", f.Path, f.Messages)
		}
	}
}

func TestReportsOf2021AreReadAndTheirRatiosAgree(t *testing.T) {
	t.Parallel()
	root := filepath.Join(testdata.Shared(t), "data", "ibench", "upstream_ibench.jan2021")
	b, texts := readUnits(t, root, bench.Context{Server: "s1", Workload: "cached", Clients: 1}, "20m")
	systems := map[string]int{}
	for i := range b.Runs {
		run := &b.Runs[i]
		systems[run.System+" "+run.Build.Version] += len(run.Results)
	}
	// 15 steps each, every rate twice.
	if want := map[string]int{"mysql 5.6.49": 15, "mysql 5.7.31": 15, "mysql 8.0.22": 15, "myrocks 5.6": 15, "myrocks 8.0": 15}; fmt.Sprint(systems) != fmt.Sprint(want) {
		t.Errorf("%v", systems)
	}
	ratios := 0
	for name, text := range texts {
		if strings.Contains(name, "/rel.") {
			for _, line := range strings.Split(text, "\n") {
				if cells := strings.Split(line, "\t"); len(cells) == 21 && cells[0] != "ips" {
					for _, c := range cells[:20] {
						if c != "NA" {
							ratios++
						}
					}
				}
			}
		}
	}
	agree := 0
	for _, c := range b.Checks {
		agree += c.Agree
		if c.Agree != c.Cells || c.Unknown > 0 {
			t.Errorf("%+v", c)
		}
	}
	if agree != ratios || ratios == 0 {
		t.Errorf("%d ratios agree, the files hold %d", agree, ratios)
	}
	if len(b.Warnings) > 0 {
		t.Errorf("%v", b.Warnings)
	}
	// Tables of all steps of a run do not say which row is which.
	refused := 0
	for _, f := range b.Files {
		if f.State == bench.FileRefused {
			refused++
			if !strings.Contains(f.Path, "o.sum.t.") || !said(f.Messages, "do not name them") {
				t.Errorf("%s: %v", f.Path, f.Messages)
			}
		}
	}
	if refused != 11 {
		t.Errorf("%d files refused", refused)
	}
}

func TestLocalRunsAreReadAsTheyLie(t *testing.T) {
	t.Parallel()
	root := filepath.Join(testdata.Shared(t), "data", "ibench", "raw_local_mariadb1011")
	for _, config := range []string{"a0", "a4", "a5"} {
		b, _ := readUnits(t, root, ibenchLocal, config)
		if len(b.Runs) != 1 || len(b.Runs[0].Results) != 6 || b.Runs[0].Config != config {
			t.Errorf("%s: %+v", config, b.Runs)
		}
		fromCopy := readFiles(t, localRun(t, config), ibenchLocal)
		for i := range b.Runs[0].Results {
			if got, want := b.Runs[0].Results[i].Text, fromCopy.Runs[0].Results[i].Text; got != want {
				t.Errorf("%s: the copy in testdata differs: %s, want %s", config, want, got)
			}
		}
	}
}
