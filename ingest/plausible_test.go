package ingest

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestFiguresThatNothingCanHaveAreLeftOutWithAWarning(t *testing.T) {
	t.Parallel()
	const log = "RocksDB:    version 7.8.3\nDate:       Mon Nov 30 13:30:12 2026\n"
	report := func(column, cell string) string {
		cells := map[string]string{"ops_sec": "1000", "p99": "5", "lsm_sz": "16GB", "u_cpu": "0.1", "test": "readrandom.t8",
			"date": "2026-11-30T13:30:12", "version": "8.8.0"}
		cells[column] = cell
		var row []string
		for _, name := range strings.Split(headerR5, "\t") {
			row = append(row, cells[name])
		}
		return headerR5 + "\n" + strings.Join(row, "\t") + "\n"
	}
	for _, c := range []struct{ name, text, metric, column string }{
		{"operations below 0", report("ops_sec", "-5"), "qps", "ops_sec"},
		{"a response time below 0", report("p99", "-1"), "p99", "p99"},
		{"a size below 0", report("lsm_sz", "-1GB"), "db_size_gb", "lsm_sz"},
		{"CPU below 0", report("u_cpu", "-0.1"), "user_cpu_s", "u_cpu"},
		{"too many operations", report("ops_sec", "1e308"), "qps", "ops_sec"},
		{"too few operations", report("ops_sec", "1e-320"), "qps", "ops_sec"},
		{"a log's time below 0", log + "readrandom   :      -1.000 micros/op 5 ops/sec;\n", "usec_per_op", "micros/op"},
		{"a log's time beyond counting", log + "readrandom   : " + strings.Repeat("9", 40) + ".000 micros/op 5 ops/sec;\n", "usec_per_op", "micros/op"},
	} {
		b := mustRead(t, "x.tsv", c.text, someContext)
		_, r := onlyResult(t, b)
		if v, ok := r.Value(c.metric); ok {
			t.Errorf("%s: %s = %g is kept", c.name, c.metric, v)
		}
		if len(r.Values) == 0 {
			t.Errorf("%s: the other figures are gone too", c.name)
		}
		if text := fmt.Sprint(r.Warnings); !strings.Contains(text, "left out") || !strings.Contains(text, c.column) {
			t.Errorf("%s: warnings %s", c.name, text)
		}
	}
	// 0 is a figure, and so is everything between the bounds.
	for cell, want := range map[string]float64{"0": 0, "0.001": 0.001, "1e12": 1e12} {
		_, r := onlyResult(t, mustRead(t, "x.tsv", report("ops_sec", cell), someContext))
		if v, ok := r.Value("qps"); !ok || math.Abs(v-want) > 1e-9 {
			t.Errorf("ops_sec %s: %g %v", cell, v, ok)
		}
	}
}
