package web

import (
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// A previous value of 0 makes no ratio: every page says so in the same words, and
// none has a NaN (the API's series and CSV: api, TestSeriesWithABaselineOfZero).
func TestARatioToZeroIsSaidInWords(t *testing.T) {
	t.Parallel()
	source := &fakeSource{series: []bench.Series{series(t, "qps", at("fillseq"), "8.0.0 0", "8.1.0 10", "8.2.0 20"), series(t, "qps", at("fillseq", byCompiler("clang")), "8.1.0 5")}}
	source.series[0].Points[1].Samples[0].Value = 0
	h := newHandler(t, source)
	for target, where := range map[string]string{
		"/charts?step=fillseq&compiler=gcc&base=8.0.0":                   ".head .meta",
		"/charts?step=fillseq&compiler=clang&base_compiler=gcc&from=8.1": "main",
		"/charts.md?step=fillseq&compiler=gcc&base=8.0.0":                "body",
		"/compare?compiler=gcc&a.version=8.0.0&b.version=8.2.0":          "table.cmp",
	} {
		d := page(t, h, target)
		if got := text(d, where); !strings.Contains(got, "n/a (baseline 0)") || strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
			t.Errorf("%s: %q", target, got)
		}
	}
}

// Which way is better is a property of the metric, and stands beside its figures: a
// rate that falls, a time that rises, stalls or a size that grow are all worse, and
// the other way round better.
func TestDirectionIsTheMetricsAndIsShown(t *testing.T) {
	t.Parallel()
	for metric, x := range map[string]struct {
		up    string // verdict on a figure that rises
		arrow string
		words string
	}{
		"qps":           {"up", "↑", "QPS, higher is better ↑"},
		"usec_per_op":   {"dn", "↓", "µs per operation, lower is better ↓"},
		"p99":           {"dn", "↓", "p99, lower is better ↓"},
		"stall_percent": {"dn", "↓", "stalled, lower is better ↓"},
		"db_size_gb":    {"dn", "↓", "database size, lower is better ↓"},
		"operations":    {"mv", "", "operations, neither way is better"},
	} {
		m, _ := bench.LookupMetric(metric)
		if got := directionText(m); got != x.words {
			t.Errorf("%q, want %q", got, x.words)
		}
		points := []string{"8.0.0 1000 1010 990", "8.1.0 1010 990 1000", "8.2.0 990 1000 1010"}
		for word, want := range map[string]string{"8.3.0 2000 2020 1980": x.up, "8.3.0 500 505 495": map[string]string{"up": "dn", "dn": "up", "mv": "mv"}[x.up]} {
			source := &fakeSource{series: []bench.Series{series(t, metric, at("readrandom"), append(points, word)...)}}
			h := newHandler(t, source)
			d := page(t, h, "/compare?metric="+metric+"&a.version=8.2.0&b.version=8.3.0")
			cells := d.Find("table.cmp tbody tr").First().Find("td")
			if !cells.Eq(3).HasClass(want) || !strings.HasSuffix(squeeze(cells.Eq(0).Text()), strings.TrimSpace(x.arrow)) {
				t.Errorf("%s, %s: %s", metric, word, squeeze(cells.Text()))
			}
			d = page(t, h, "/charts?step=readrandom&metric="+metric+"&base=8.0.0")
			if got := text(d, ".head .meta"); !strings.Contains(got, x.words) {
				t.Errorf("%s: %q", metric, got)
			}
			last := d.Find("#figures tbody tr").Last().Find("td." + want)
			if last.Length() == 0 {
				t.Errorf("%s, %s: the table of the chart has no %s", metric, word, want)
			}
		}
	}
}
