package ingest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
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

func TestNamesThatAreNoTextAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	report := func(test, version string) string {
		return strings.Join([]string{headerR5,
			"1000\t1\t16GB\t0GB\t1\t1.0\t1\t1\t1\t0\t0\t1.0\t1\t2\t3\t4\t5\t60\t0.0\t0\t0.1\t0.1\t1\t" + test + "\t2023-10-24T20:25:49\t" + version + "\t\tabc", ""}, "\n")
	}
	if f := onlyFile(t, mustRead(t, "x.tsv", report("readrandom.t8", "8.8.0"), someContext)); f.State != bench.FileTaken {
		t.Fatalf("%+v", f)
	}
	for name, c := range map[string]struct{ test, version, says string }{
		"a version with a control": {"readrandom.t8", "8.6.7\x01", `the version "8.6.7\x01" holds a control character (U+0001)`},
		"a step too long":          {strings.Repeat("r", 300) + ".t8", "8.8.0", "not a test's name"},
	} {
		f := onlyFile(t, mustRead(t, "x.tsv", report(c.test, c.version), someContext))
		if f.State != bench.FileRefused || len(f.Messages) == 0 {
			t.Errorf("%s: %s %v", name, f.State, f.Messages)
			continue
		}
		if m := f.Messages[0]; m.Line != 2 || !strings.Contains(m.Text, c.says) {
			t.Errorf("%s: %+v", name, m)
		}
	}
	for name, flags := range map[string]bench.Context{
		"server": {Server: strings.Repeat("s", 30_000)}, "workload": {Server: "c2", Workload: "a\x00b"}, "compiler": {Server: "c2", Compiler: "g\x01cc"},
		"config": {Server: "c2", Config: "\x7fa0"}, "version": {Server: "c2", Version: "8\x01.0"},
	} {
		_, err := Read([]byte(report("readrandom.t8", "8.8.0")), "x.tsv", flags, Limits{})
		if bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "the "+name+" ") || len(err.Error()) > 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
