package ingest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

const (
	ibenchHeader   = "ips\tqps\trps\trmbps\twps\twmbps\trpq\trkbpq\twpi\twkbpi\tcsps\tcpups\tcspq\tcpupq\tdbgb1\tdbgb2\trss\tmaxop\tp50\tp99\ttag"
	ibenchRTHeader = "256us\t1ms\t4ms\t16ms\t64ms\t256ms\t1s\t4s\t16s\tgt\tmax\ttag"
	// A server of 8 cores: per-operation figures follow from the rates.
	ibenchInsert = "20000\t0\t300\t20.0\t150.0\t50.0\t0.015\t1.024\t0.007\t2.560\t10000\t50.0\t0.500\t200\t57.0\t57.2\t8.6\t0.107\t20100\t18000"
	ibenchQuery  = "100\t2000\t260\t4.0\t8.0\t2.0\t0.130\t2.048\t0.080\t20.480\t8000\t12.5\t4.000\t500\t55.8\t56.1\t9.6\t0.047\t2010\t1250"
	ibenchTagA0  = "fbmy8028_rel_native_lto_jun23_ef5b9b101_hack.cy10a_bee"
	ibenchTagA1  = "fbmy8028_rel_native_lto_jun23_ef5b9b101_hack.cy10a1_bee"
	ibenchShares = "0.000\t0.382\t94.216\t5.393\t0.009\tnonzero\t0.000\t0.000\t0.000\t0.000\t0.107"
)

// ibenchTableText gives a metrics table of step l.i1 for two configs.
func ibenchTableText() string {
	return ibenchHeader + "\n" + ibenchInsert + "\t800m." + ibenchTagA0 + "\n" + ibenchInsert + "\t800m." + ibenchTagA1 + "\n"
}

var ibenchIO = bench.Context{Workload: "io", Clients: 1}

func TestTagsSaySystemVersionBuildConfigAndServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		system, version, flags, hash, date, config, server, rows string
	}{
		"20m.fbmy8028_rel_native_lto_jun23_ef5b9b101_hack.cy10a1_bee": {"myrocks", "8.0.28", "rel_native_lto_hack", "ef5b9b101", "jun23", "a1", "bee", "20m"},
		"fbmy8028_rel_native_lto_jun23_ef5b9b101_hack.cy10a0_bee":     {"myrocks", "8.0.28", "rel_native_lto_hack", "ef5b9b101", "jun23", "a0", "bee", ""},
		"800m.fbmy5635_rel_o2nofp_210523_7e476613.cy10a_bee":          {"myrocks", "5.6.35", "rel_o2nofp", "7e476613", "210523", "a0", "bee", "800m"},
		"fbmy8032_rel_221102_0123abc_752.cza1_u":                      {"myrocks", "8.0.32", "rel", "0123abc", "221102", "cza1", "u", ""},
		"my5649.cx6d":                                                 {"mysql", "5.6.49", "", "", "", "cx6d", "", ""},
		"my5649.cx6d.badcnf":                                          {"mysql", "5.6.49", "", "", "", "cx6d.badcnf", "", ""},
		"my8400_rel.cz11a_c8r16":                                      {"mysql", "8.4.0", "rel", "", "", "cz11a", "c8r16", ""},
		"20m.rx56.cx6a":                                               {"myrocks", "5.6", "", "", "", "cx6a", "", "20m"},
		"in80.c6a":                                                    {"mysql", "8.0", "", "", "", "c6a", "", ""},
		"pg1110.cx5":                                                  {"postgres", "11.10", "", "", "", "cx5", "", ""},
		"pg131.cx5":                                                   {"postgres", "13.1", "", "", "", "cx5", "", ""},
		"pg9624_o2.cx5_gcp_c2s30":                                     {"postgres", "9.6.24", "o2", "", "", "cx5", "gcp_c2s30", ""},
		"pg17beta1_def.cx5":                                           {"postgres", "17beta1", "def", "", "", "cx5", "", ""},
		"ma100508_rel.z11a_bee":                                       {"mariadb", "10.5.8", "rel", "", "", "z11a", "bee", ""},
		"fbmy8028_rel.cy10a1_1g_bee":                                  {"myrocks", "8.0.28", "rel", "", "", "a1", "bee", ""},
		"fbmy8028_rel.cy10a1b_bee":                                    {"myrocks", "8.0.28", "rel", "", "", "a1b", "bee", ""},
		"mo425.c5b":                                                   {"", "", "", "", "", "c5b", "", ""},
	} {
		tag, ok := parseIBenchTag(text)
		c := tag.context
		got := []string{c.System, c.Version, tag.build.Flags, tag.build.GitHash, tag.date, c.Config, c.Server, tag.rows}
		if w := []string{want.system, want.version, want.flags, want.hash, want.date, want.config, want.server, want.rows}; !ok || !slices.Equal(got, w) {
			t.Errorf("%s: %q, %t; want %q", text, got, ok, w)
		}
		if c.Suite != bench.SuiteIBench || c.Compiler != "" || c.Workload != "" {
			t.Errorf("%s: %+v", text, c)
		}
	}
	for _, text := range []string{"", "DBMS", "20m", "20m.", ".x", "a b.c", "my8028.", "<img>.x", strings.Repeat("a", 150) + "." + strings.Repeat("b", 150)} {
		if tag, ok := parseIBenchTag(text); ok {
			t.Errorf("%q is read as %+v", text, tag)
		}
	}
	if tag, _ := parseIBenchTag("fbmy8032_rel_221102_0123abc_752.cza1_u"); tag.rocksdb != "752" {
		t.Errorf("RocksDB %q", tag.rocksdb)
	}
}

func TestMetricsTablesAreReadWithUnitsAndSourceNames(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "io.mrg.l.i1.tsv", ibenchTableText(), bench.Context{Clients: 1})
	if len(b.Runs) != 2 || len(b.Warnings) > 0 || b.Format != formatIBenchMetrics {
		t.Fatalf("%s: %d runs, %v", b.Format, len(b.Runs), b.Warnings)
	}
	run, r := &b.Runs[0], &b.Runs[0].Results[0]
	if run.System != "myrocks" || run.Suite != "ibench" || run.Server != "bee" || run.Workload != "io" || run.Config != "a0" || run.Clients != 1 ||
		run.Build.Version != "8.0.28" || run.Build.Compiler != "" || run.Build.GitHash != "ef5b9b101" || len(run.Assumed) > 0 {
		t.Errorf("%+v", run)
	}
	if run.Environment["config_source"] != "cy10a_bee" || run.Environment["tag"] != ibenchTagA0 || run.Options["rows_loaded"] != "800m" {
		t.Errorf("%v %v", run.Environment, run.Options)
	}
	if b.Runs[1].Config != "a1" || r.Step.Name != "l.i1" || r.Primary != "ips" || r.PrimaryText != "20000" || !r.Started.IsZero() {
		t.Errorf("%+v", r)
	}
	want := map[string]bench.Value{}
	for _, v := range []bench.Value{
		{Metric: "ips", Number: 20000, Resolution: 1, SourceName: "ips"}, {Metric: "qps", Number: 0, Resolution: 1, SourceName: "qps"},
		{Metric: "reads_per_s", Number: 300, Resolution: 1, SourceName: "rps"}, {Metric: "writes_per_s", Number: 150, Resolution: 0.1, SourceName: "wps"},
		{Metric: "read_mb_per_s", Number: 20, Resolution: 0.1, SourceName: "rmbps"}, {Metric: "write_mb_per_s", Number: 50, Resolution: 0.1, SourceName: "wmbps"},
		{Metric: "reads_per_op", Number: 0.015, Resolution: 0.001, SourceName: "rpq"}, {Metric: "read_kb_per_op", Number: 1.024, Resolution: 0.001, SourceName: "rkbpq"},
		{Metric: "writes_per_op", Number: 0.007, Resolution: 0.001, SourceName: "wpi"}, {Metric: "write_kb_per_op", Number: 2.56, Resolution: 0.001, SourceName: "wkbpi"},
		{Metric: "context_switches_per_s", Number: 10000, Resolution: 1, SourceName: "csps"}, {Metric: "cpu_percent", Number: 50, Resolution: 0.1, SourceName: "cpups"},
		{Metric: "context_switches_per_op", Number: 0.5, Resolution: 0.001, SourceName: "cspq"}, {Metric: "cpu_us_per_op", Number: 200, Resolution: 1, SourceName: "cpupq"},
		{Metric: "db_size_gb", Number: 57, Resolution: 0.1, SourceName: "dbgb1"}, {Metric: "total_size_gb", Number: 57.2, Resolution: 0.1, SourceName: "dbgb2"},
		{Metric: "rss_gb", Number: 8.6, Resolution: 0.1, SourceName: "rss"}, {Metric: "max_op_s", Number: 0.107, Resolution: 0.001, SourceName: "maxop"},
		{Metric: "p50_second_rate", Number: 20100, Resolution: 1, SourceName: "p50"}, {Metric: "p99_second_rate", Number: 18000, Resolution: 1, SourceName: "p99"},
	} {
		want[v.Metric] = v
	}
	got := map[string]bench.Value{}
	for _, v := range r.Values {
		got[v.Metric] = v
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

func TestOlderTablesAreReadByTheNamesOfTheirColumns(t *testing.T) {
	t.Parallel()
	// Twenty columns: KB/s, CPU of the client, p90. cpupq is no time: 10.0 % over
	// 20000 a second times a million.
	header := "ips\tqps\trps\trkbps\twkbps\trpq\trkbpq\twkbpq\tcsps\tcpups\tcspq\tcpupq\tccpupq\tdbgb\tvsz\trss\tmaxop\tp50\tp90\ttag"
	row := "20000\t0\t0.3\t3\t35629\t0.000\t0.000\t1.781\t9000\t10.0\t0.450\t500\t90\t11\t25.1\t23.3\t0.292\t21435\t19826\t50m.my5731.cx6d"
	flags := bench.Context{Server: "s1", Workload: "cached", Clients: 8}
	b := mustRead(t, "mrg.l.i0", header+"\n"+row+"\n", flags)
	_, r := onlyResult(t, b)
	figures(t, r, map[string]float64{"read_mb_per_s": 3.0 / 1024, "write_mb_per_s": 35629.0 / 1024, "write_kb_per_op": 1.781,
		"client_cpu_us_per_op": 90, "db_size_gb": 11, "vsz_gb": 25.1, "rss_gb": 23.3, "p90_second_rate": 19826})
	absent(t, r, "cpu_us_per_op", "write_kb_per_query", "p99_second_rate", "writes_per_s")
	if !said(b.Warnings, "holds the share of the CPU") || len(b.Warnings) != 1 {
		t.Errorf("%v", b.Warnings)
	}
	// What the script divided by rows in l.* it divided by queries in q*.
	row = "998\t3412\t0.0\t0\t19317\t0.000\t0.000\t5.661\t18542\t7.1\t5.434\t20\t9\t11\t25.1\t23.3\t0.023\t3415\t3354\t50m.my5731.cx6d"
	_, r = onlyResult(t, mustRead(t, "mrg.q1000.1", header+"\n"+row+"\n", flags))
	figures(t, r, map[string]float64{"write_kb_per_query": 5.661})
	absent(t, r, "write_kb_per_op")
}

func TestStepsComeFromNamesOfTables(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mrg.l.i0": "l.i0", "io.mrg.l.i1.tsv": "l.i1", "mrg.l.x.txt": "l.x", "a.b.mrg.l.i2": "l.i2", "mrg.q100.1": "q100", "mrg.q1000.2.tsv": "q1000",
		"mrg.q.L2.ips500": "q500", "mrg.qr100.L1": "qr100", "mrg.qp1000.L6.tsv": "qp1000",
		"mrg": "", "mrg.l.i9": "", "table.tsv": "", "o.sum.t.20m.my5649.cx6d": "", "mrg.l.i1 (1).tsv": "",
	} {
		row := ibenchInsert
		if strings.HasPrefix(want, "q") {
			row = ibenchQuery
		}
		b, err := Read([]byte(ibenchHeader+"\n"+row+"\t20m."+ibenchTagA0+"\n"), name, ibenchIO, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if f := b.Files[0]; f.State != bench.FileRefused || len(b.Runs) > 0 || f.Messages[0].Line != 1 && f.Messages[0].Line != 2 {
				t.Errorf("%s: %s %v", name, f.State, f.Messages)
			}
			continue
		}
		if _, r := onlyResult(t, b); r.Step.Name != want {
			t.Errorf("%s: %q, want %q; %v", name, r.Step.Name, want, b.Files[0].Messages)
		}
	}
}

func TestTablesOfARunAreOneRunAndRowsThatStandTwiceOneResult(t *testing.T) {
	t.Parallel()
	query := ibenchHeader + "\n" + ibenchQuery + "\t800m." + ibenchTagA0 + "\n"
	second := strings.Replace(query, "2000", "2004", 1)
	b := readFiles(t, map[string]string{
		"r/mrg.l.i1": ibenchTableText(), "r/mrg.q100.1": query, "r/mrg.q100.2": second,
		"r/mrg.some": "\nl.i1\n" + ibenchTableText() + "\nq100.2\n" + second,
	}, ibenchIO)
	if len(b.Runs) != 2 {
		t.Fatalf("%d runs", len(b.Runs))
	}
	// q100.1 and q100.2 are the same step, measured twice.
	if got := steps(b.Runs[:1]); !slices.Equal(got, []string{"l.i1 ok 20000", "q100 ok 2000", "q100 ok 2004"}) {
		t.Errorf("%q", got)
	}
	keys := map[bench.Key]bool{}
	for _, k := range bench.Keys(b) {
		keys[k] = true
	}
	if len(keys) != 4 {
		t.Errorf("%d measurements, want 4", len(keys))
	}
	r := &b.Runs[0].Results[2]
	if len(r.Sources) != 2 || r.Sources[1].File != "r/mrg.some" {
		t.Errorf("%v", r.Sources)
	}
	// Tables one by one give the same measurements.
	alone := bench.Keys(mustRead(t, "mrg.q100.2", second, ibenchIO))
	for _, k := range alone {
		if !keys[k] {
			t.Error("a table uploaded alone has another key")
		}
	}
}

func TestContextOfTablesIsStatedByTagFolderAndFlags(t *testing.T) {
	t.Parallel()
	const report = "23_07_26.bee.rx.1u.1tno."
	for name, want := range map[string]string{
		report + "cached/mrg.l.i1": "bee cached 1", report + "1g/mrg.l.i1": "bee cached-by-os 1", report + "4g/mrg.l.i1": "bee cached-by-os 1",
		report + "io/mrg.l.i1": "bee io 1", "23_07_26.bee.rx.16u.1tyes.io/mrg.l.i1": "bee io 16", "io/mrg.l.i1": "bee io 0",
		"reports/cached.mrg.l.i1.tsv": "bee cached 0", "reports/1g.mrg.l.i1.tsv": "bee cached-by-os 0", "x/byrx/mrg.l.i1": "bee cached 0",
	} {
		b := mustRead(t, name, ibenchTableText(), bench.Context{})
		run := &b.Runs[0]
		if got := fmt.Sprint(run.Server, " ", run.Workload, " ", run.Clients); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	b := mustRead(t, report+"io/mrg.l.i1", ibenchTableText(), bench.Context{Compiler: "clang"})
	if run := &b.Runs[0]; run.Build.Compiler != "clang" || run.Environment["report"] != report+"io" || run.Environment["tables"] != "one per client" {
		t.Errorf("%+v", run)
	}
	for name, c := range map[string]struct {
		path string
		c    bench.Context
		says string
	}{
		"no workload":        {"mrg.l.i1", bench.Context{}, "workload is not said by the file or its path: give --workload"},
		"another server":     {"mrg.l.i1", bench.Context{Workload: "io", Server: "pn53"}, `server: the tag of line 2 says "bee", what was given with the upload says "pn53"`},
		"another workload":   {report + "io/mrg.l.i1", bench.Context{Workload: "cached"}, `"io"`},
		"another server dir": {"23_07_26.pn53.rx.1u.1tno.io/mrg.l.i1", bench.Context{}, `says "pn53"`},
		"another config":     {"mrg.l.i1", bench.Context{Workload: "io", Config: "a5"}, `config: the tag of line 2 says "a0"`},
		"another suite":      {"mrg.l.i1", bench.Context{Workload: "io", Suite: "db_bench"}, `suite:`},
		"another version":    {"mrg.l.i1", bench.Context{Workload: "io", Version: "8.0.32"}, `version:`},
	} {
		b, err := Read([]byte(ibenchTableText()), c.path, c.c, Limits{})
		if err != nil {
			t.Fatal(name, err)
		}
		if f := b.Files[0]; f.State != bench.FileRefused || len(b.Runs) > 0 || !said(f.Messages, c.says) {
			t.Errorf("%s: %s %v", name, f.State, f.Messages)
		}
	}
	// Clients may stay unknown, which is said.
	if b := mustRead(t, "io.mrg.l.i1", ibenchTableText(), bench.Context{}); len(b.Runs) != 2 || len(b.Warnings) != 1 || !said(b.Warnings, "with how many clients") {
		t.Errorf("%v", b.Warnings)
	}
	// A product that the tag's name does not tell is asked for, not guessed.
	text := strings.ReplaceAll(ibenchTableText(), "fbmy8028_rel_native_lto_jun23_ef5b9b101_hack", "mo425")
	b, _ = Read([]byte(text), "mrg.l.i1", ibenchIO, Limits{})
	if !said(b.Files[0].Messages, "system and version are not said by the file or its path: give --system and --version") {
		t.Errorf("%v", b.Files[0].Messages)
	}
	flags := ibenchIO
	flags.System, flags.Version = "mongodb", "4.2.5"
	if b := mustRead(t, "mrg.l.i1", text, flags); b.Runs[0].System != "mongodb" {
		t.Errorf("%+v", b.Runs[0])
	}
}

func TestTablesWithAFlawAreRefusedAtTheirLine(t *testing.T) {
	t.Parallel()
	row := ibenchInsert + "\t" + ibenchTagA0
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"a cell less":   {ibenchHeader + "\n" + strings.Replace(row, "\t300", "", 1), 2, "the row has 20 cells, its header 21"},
		"a cell more":   {ibenchHeader + "\n-\n" + row + "\t1", 3, "the row has 22 cells, its header 21"},
		"no rows":       {ibenchHeader + "\n-\n", 0, "a header but no rows"},
		"no tag":        {ibenchHeader + "\n" + ibenchInsert + "\tDBMS", 2, `not a tag (<rows>m.<dbms>.<config>): "DBMS"`},
		"no primary":    {ibenchHeader + "\n" + "NA" + strings.TrimPrefix(row, "20000"), 2, "the row has no figure for ips"},
		"no row before": {"l.i0\n" + ibenchHeader + "\nsome words", 3, "the row has 2 cells"},
		"long line":     {ibenchHeader + "\n" + strings.Repeat("1\t", maxLine), 2, "longer than"},
	} {
		b, err := Read([]byte(c.text), "mrg.l.i1", ibenchIO, Limits{})
		if err != nil {
			t.Fatal(name, err)
		}
		f := b.Files[0]
		if f.State != bench.FileRefused || len(b.Runs) > 0 || !said(f.Messages, c.says) || f.Messages[0].Line != c.line {
			t.Errorf("%s: %s %v", name, f.State, f.Messages)
		}
	}
	b, err := Read([]byte(ibenchHeader+strings.Repeat("\n"+row, 11)), "mrg.l.i1", ibenchIO, Limits{Rows: 10})
	if err != nil || !said(b.Files[0].Messages, "more than 10 rows") {
		t.Errorf("%v %v", err, b.Files)
	}
}

func TestOddCellsOfTablesAreLeftOutWithAWarning(t *testing.T) {
	t.Parallel()
	row := strings.Replace(ibenchInsert, "\t8.6\t", "\t-nan\t", 1)
	row = strings.Replace(row, "\t20100\t18000", "\tNA\tNA", 1)
	_, r := onlyResult(t, mustRead(t, "mrg.l.i1", ibenchHeader+"\r\n-\r\n"+row+"\t"+ibenchTagA0+"\r\n-\r\n", ibenchIO))
	absent(t, r, "rss_gb", "p50_second_rate", "p99_second_rate")
	if len(r.Warnings) != 1 || r.Warnings[0].Column != "rss" || r.Warnings[0].Line != 3 {
		t.Errorf("%v", r.Warnings)
	}
}

func TestPerOperationFiguresThatTheirRatesContradictAreWarnedAbout(t *testing.T) {
	t.Parallel()
	rows := func(change func(i int, row string) string) string {
		text := ibenchHeader
		for i := range 4 {
			text += "\n" + change(i, ibenchInsert) + "\tmy802" + fmt.Sprint(i) + ".cx_bee"
		}
		return text
	}
	read := func(change func(i int, row string) string) *bench.Batch {
		return mustRead(t, "mrg.l.i1", rows(change), ibenchIO)
	}
	if b := read(func(_ int, row string) string { return row }); len(b.Warnings) > 0 {
		t.Errorf("figures that agree: %v", b.Warnings)
	}
	for column, change := range map[string][2]string{
		"rpq": {"\t0.015\t", "\t0.017\t"}, "rkbpq": {"\t1.024\t", "\t1.040\t"}, "wpi": {"\t0.007\t", "\t0.006\t"}, "wkbpi": {"\t2.560\t", "\t2.600\t"},
		"cspq": {"\t0.500\t", "\t0.510\t"}, "cpupq": {"\t200\t", "\t190\t"},
	} {
		b := read(func(i int, row string) string {
			if i == 2 {
				return strings.Replace(row, change[0], change[1], 1)
			}
			return row
		})
		if len(b.Warnings) != 1 || b.Warnings[0].Column != column || b.Warnings[0].Line != 4 {
			t.Errorf("%s: %v", column, b.Warnings)
		}
	}
}

func TestResponseTimesJoinTheirMetrics(t *testing.T) {
	t.Parallel()
	times := ibenchRTHeader + "\n" + ibenchShares + "\t" + ibenchTagA0 + "\n-\n\t\t99.650\t0.343\t0.004\t0.003\t\t\t\t\t0.140\t" + ibenchTagA1 + "\n"
	b := readFiles(t, map[string]string{"r/io.mrg.l.i1.tsv": ibenchTableText(), "r/io.mrg.l.i1.rt.insert.tsv": times, "r/io.mrg.l.i1.rt.delete.tsv": times}, bench.Context{Clients: 1})
	if len(b.Runs) != 2 || len(b.Warnings) > 0 {
		t.Fatalf("%d runs %v", len(b.Runs), b.Warnings)
	}
	r := &b.Runs[0].Results[0]
	if len(b.Runs[0].Results) != 1 || len(r.Histograms) != 2 || len(r.Sources) != 3 {
		t.Fatalf("%+v", b.Runs[0].Results)
	}
	h := r.Histograms[1]
	if h.Operation != "insert" || h.Unit != "µs" || h.Counts != nil || h.Count != nil || *h.Max != 107000 {
		t.Errorf("%+v", h)
	}
	if want := []float64{256, 1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6, 64e6}; !slices.Equal(h.Bounds, want) {
		t.Errorf("bounds %v", h.Bounds)
	}
	if want := []float64{0, 0.382, 94.216, 5.393, 0.009, bench.PercentNonzero, 0, 0, 0, 0}; !slices.Equal(h.Percents, want) {
		t.Errorf("percents %v", h.Percents)
	}
	if h = b.Runs[1].Results[0].Histograms[1]; h.Percents[0] != 0 || h.Percents[2] != 99.65 || *h.Max != 140000 {
		t.Errorf("empty cells: %+v", h)
	}
	if len(r.Warnings)+len(b.Runs[1].Results[0].Warnings) > 0 {
		t.Errorf("%v", r.Warnings)
	}
	// Check says where they went.
	if text := Check(b); !strings.Contains(text, "figures of 2 results of the runs of r/io.mrg.l.i1.tsv") || !strings.HasSuffix(text, "3 files: 2 runs, 2 results, 40 values\n") {
		t.Error(text)
	}
}

func TestLongestResponsesOpenTheLastBucket(t *testing.T) {
	t.Parallel()
	row := "0.000\t0.000\t50.000\t0.000\t0.000\t0.000\t0.000\t0.000\t0.000\t50.000\t99.500\t"
	b := readFiles(t, map[string]string{"mrg.l.i1": ibenchTableText(), "mrg.l.i1.rt.insert": ibenchRTHeader + "\n" + row + ibenchTagA0}, ibenchIO)
	h := b.Runs[0].Results[0].Histograms[0]
	if h.Bounds[9] != 99.5e6 || h.Bounds[8] != 16e6 || h.Percents[9] != 50 {
		t.Errorf("%+v", h)
	}
}

func TestResponseTimesWithoutTheirMetricsAreSupplements(t *testing.T) {
	t.Parallel()
	times := ibenchRTHeader + "\n" + ibenchShares + "\t" + ibenchTagA0 + "\n"
	b := mustRead(t, "mrg.l.i1.rt.insert", times, ibenchIO)
	run, r := onlyResult(t, b)
	if !r.Supplement || r.Label() != "l.i1 "+ibenchTagA0 || r.Text != r.Label() || len(r.Values) > 0 || len(r.Histograms) != 1 || run.Config != "a0" {
		t.Errorf("%+v", r)
	}
	if text := Check(b); !strings.Contains(text, "distributions for 1 result that should be stored already") {
		t.Error(text)
	}
	// The result they belong to has that label.
	owner := mustRead(t, "mrg.l.i1", ibenchTableText(), ibenchIO)
	if got := owner.Runs[0].Results[0].Label(); got != r.Label() {
		t.Errorf("%q, want %q", got, r.Label())
	}
	// With it in one batch of two reports they are one measurement.
	both := readFiles(t, map[string]string{"a/mrg.l.i1": ibenchTableText(), "b/mrg.l.i1.rt.insert": times}, ibenchIO)
	keys := bench.Keys(both)
	plan := bench.Decide(both, keys, nil)
	if len(plan.Refused) > 0 || len(plan.New) != 2 || len(plan.Additions) != 1 {
		t.Errorf("%+v", plan)
	}
	// Alone there is nothing to join.
	if plan := bench.Decide(b, bench.Keys(b), nil); len(plan.New) > 0 || !said(plan.Refused["mrg.l.i1.rt.insert"], "ingest the file with its figures first or together with this one") {
		t.Errorf("%+v", plan)
	}
}

func TestResponseTimesThatCannotBePlacedAreRefused(t *testing.T) {
	t.Parallel()
	row := ibenchShares + "\t" + ibenchTagA0
	two := ibenchHeader + "\n" + ibenchInsert + "\t20m." + ibenchTagA0 + "\n" + ibenchInsert + "\t800m." + ibenchTagA0 + "\n"
	for name, c := range map[string]struct{ file, text, metrics, says string }{
		"no operation":      {"mrg.l.i1.rt", ibenchRTHeader + "\n" + row, "", "nothing says of which step and operation"},
		"no step":           {"mrg.x.rt.insert", ibenchRTHeader + "\n" + row, "", "nothing says of which step and operation"},
		"not a percent":     {"mrg.l.i1.rt.insert", ibenchRTHeader + "\n" + strings.Replace(row, "94.216", "194.216", 1), "", `4ms: not a percentage: "194.216"`},
		"words":             {"mrg.l.i1.rt.insert", ibenchRTHeader + "\n" + strings.Replace(row, "94.216", "most", 1), "", `4ms: not a percentage: "most"`},
		"no longest":        {"mrg.l.i1.rt.insert", ibenchRTHeader + "\n" + strings.Replace(row, "0.107", "NA", 1), "", "max: not a number of seconds"},
		"a run twice":       {"mrg.l.i1.rt.insert", ibenchRTHeader + "\n" + row + "\n" + row, "", "stands in line 2 already"},
		"two runs of a tag": {"mrg.l.i1.rt.insert", ibenchRTHeader + "\n" + row, two, "nothing says which of them"},
		"no tag":            {"mrg.l.i1.rt.insert", ibenchRTHeader + "\n" + ibenchShares + "\tDBMS", "", "not a tag"},
	} {
		files := map[string]string{c.file: c.text}
		if c.metrics != "" {
			files["mrg.l.i1"] = c.metrics
		}
		b := readFiles(t, files, ibenchIO)
		if !refusedWith(b, c.file, c.says) {
			t.Errorf("%s: %+v", name, b.Files)
		}
	}
	// Shares that do not sum up are kept and remarked.
	b := readFiles(t, map[string]string{"mrg.l.i1": ibenchTableText(), "mrg.l.i1.rt.insert": ibenchRTHeader + "\n" + strings.Replace(row, "94.216", "90.216", 1)}, ibenchIO)
	if r := &b.Runs[0].Results[0]; len(r.Histograms) != 1 || !warned(r, "the shares of insert response times sum to 96.000 %") {
		t.Errorf("%+v", r.Warnings)
	}
	// 0 of 0 responses are no distribution.
	b = readFiles(t, map[string]string{"mrg.l.i1": ibenchTableText(), "mrg.l.i1.rt.delete": ibenchRTHeader + "\n" + strings.Repeat("-nan\t", 10) + "0.000\t" + ibenchTagA0}, ibenchIO)
	if r := &b.Runs[0].Results[0]; len(r.Histograms) > 0 || !said(b.Files[1].Messages, "no response was counted") {
		t.Errorf("%+v %v", r.Histograms, b.Files)
	}
}

func TestRatiosAndSummariesAreChecked(t *testing.T) {
	t.Parallel()
	second := strings.Replace(ibenchInsert, "20000", "10000", 1)
	table := ibenchHeader + "\n" + ibenchInsert + "\t" + ibenchTagA0 + "\n" + second + "\t" + ibenchTagA1 + "\n"
	query := ibenchHeader + "\n" + ibenchQuery + "\t" + ibenchTagA0 + "\n" + ibenchQuery + "\t" + ibenchTagA1 + "\n"
	rel := ibenchHeader + "\n0.50\t1\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t1.00\t0.99\t" + ibenchTagA1 + "\n"
	b := readFiles(t, map[string]string{
		"r/mrg.l.i1": table, "r/mrg.q100.1": query, "r/rel.l.i1": rel,
		"r/summary.absolute.tsv":    "dbms\tl.i1\tq100.1\n" + ibenchTagA0 + "\t20000\t2000\n" + ibenchTagA1 + "\t10000\t2001\n",
		"r/summary.relative.tsv":    "dbms\tl.i1\tq100.1\n" + ibenchTagA0 + "\t1.00\t1.00\n" + ibenchTagA1 + "\t0.50\t1.00\n",
		"r/summary.insert_rate.tsv": "dbms\tq100.1\n" + ibenchTagA0 + "\t100\n" + ibenchTagA1 + "\t100\ntarget\t100\n",
		"r/rel.q500.1":              strings.Replace(rel, "0.99", "1.00", 1),
	}, ibenchIO)
	got := map[string]string{}
	for _, c := range b.Checks {
		got[path.Base(c.File)] = fmt.Sprintf("%s %d/%d unknown %d messages %d", c.Kind, c.Agree, c.Cells, c.Unknown, len(c.Messages))
	}
	want := map[string]string{
		"rel.l.i1":                "relative 19/20 unknown 0 messages 1", // 0.99 is wrong
		"summary.absolute.tsv":    "absolute 3/4 unknown 0 messages 1",   // 2001 is wrong
		"summary.relative.tsv":    "relative 4/4 unknown 0 messages 0",
		"summary.insert_rate.tsv": "absolute 3/3 unknown 0 messages 0",
		"rel.q500.1":              "relative 0/0 unknown 20 messages 0", // its metrics are not here
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if len(b.Runs) != 2 || len(b.Runs[0].Results) != 2 {
		t.Errorf("ratios became results: %d runs", len(b.Runs))
	}
	if text := Check(b); !strings.Contains(text, "relative matrix: 19 of 20 cells agree") || !strings.Contains(text, "p99: "+ibenchTagA1+": 0.99 here, 1.00 by the metrics tables") {
		t.Error(text)
	}
}

func TestRatiosArePrintedAsTheScriptsDo(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"1", "3", "0.33"}, {"0", "0", "1"}, {"0.000", "0.0", "1"}, {"5", "0", "inf"}, {"0", "5", "0.00"}, {"NA", "NA", "NA"}, {"19106", "23240", "0.82"}} {
		if got := ratio(c[0], c[1]); got != c[2] {
			t.Errorf("%s over %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestTurnsOfStepsFollowTheirPlaces(t *testing.T) {
	t.Parallel()
	got := ibenchTurns([]string{"q.L3.ips1000", "q.L10.ips100", "l.i0", "q.L2.ips500", "q.L1.ips100", "q.L1.ips100", "q100.2", "qr100.L1"})
	want := map[string]string{"q.L1.ips100": "q100.1", "q.L2.ips500": "q500.1", "q.L3.ips1000": "q1000.1", "q.L10.ips100": "q100.2", "l.i0": "l.i0", "q100.2": "q100.2", "qr100.L1": "qr100.L1"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Response times named by directory join metrics named by turn.
	query := ibenchHeader + "\n" + ibenchQuery + "\t" + ibenchTagA0 + "\n"
	b := readFiles(t, map[string]string{"mrg.q100.1": query, "mrg.q.L1.ips100.rt.query": ibenchRTHeader + "\n" + ibenchShares + "\t" + ibenchTagA0}, ibenchIO)
	if len(b.Runs) != 1 || len(b.Runs[0].Results[0].Histograms) != 1 {
		t.Errorf("%+v", b.Runs)
	}
}

func TestFilesBesideTablesAreKept(t *testing.T) {
	t.Parallel()
	b := readFiles(t, map[string]string{
		"r/mrg.l.i1": ibenchTableText(), "r/tput.l.i1.html": "<html>pictures</html>", "r/SOURCE.txt": "# source: somewhere\n\n# else\n",
		"r/mrg.l.i1.rate.insert": "-\nqps-1\tqps-2\ttag\n1\t2\tx\n", "r/notes.txt": "words",
	}, ibenchIO)
	got := map[string]bench.FileState{}
	for _, f := range b.Files {
		got[path.Base(f.Path)] = f.State
	}
	want := map[string]bench.FileState{"mrg.l.i1": bench.FileTaken, "tput.l.i1.html": bench.FileAttachment, "SOURCE.txt": bench.FileAttachment,
		"mrg.l.i1.rate.insert": bench.FileAttachment, "notes.txt": bench.FileRefused}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// ibenchPageText gives a page as the scripts write it, with their flaws.
func ibenchPageText() string {
	css := "<style type=\"text/css\">\n  table td#cmin { background-color:#FF9A9A }\n</style>\n"
	return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <title>800M docs and 1 client(s)</title>\n</head>\n<body>\n<div id=\"intro\">\n<h1 id=\"intro\">Introduction</h1>\n<p>\n" +
		"This is a report for the insert benchmark with 800M docs and 1 client(s).\n</p>\n<p>\nThe tested DBMS are:\n<ul>\n" +
		"<li>" + ibenchTagA0 + " - MyRocks 8.0.28, the base &amp; more\n<li>" + ibenchTagA1 + " - adds <b>rocksdb_use_hyper_clock_cache=ON</b>\n</ul>\n</p>\n" +
		"<h1 id=\"summary\">Summary</h1>\n<p>\nwithin 80&#37 of the max value.\n</p>\n" + css +
		"<table border=\"1\" cellpadding=\"8\" >\n<tr><th>dbms</th><th>l.i1</th></tr>\n<tr><td>" + ibenchTagA0 + "</td> <td id=\"cmax\">20000</td><tr><td>" + ibenchTagA1 + "</td> <td>20000</td></table>\n" +
		"<table border=\"1\" cellpadding=\"8\" >\n<tr><th>dbms</th><th>l.i1</th></tr>\n<tr><td>" + ibenchTagA0 + "</td> <td>1.00</td><tr><td>" + ibenchTagA1 + "</td> <td id=clo>0.97</td></table>\n" +
		"<hr />\n<h1 id=\"l.i1.graph\">l.i1</h1>\n<img src = \"ch.l.i1.ips.png\" alt = \"Image\" />\n<p>Insert response time histogram: each cell has the percentage of responses that take <= the time in the header.</p>" + css +
		"<table border=\"1\" cellpadding=\"8\" >\n<tr>\n<th>dbms</th><th>256us</th><th>1ms</th><th>4ms</th><th>16ms</th><th>64ms</th><th>256ms</th><th>1s</th><th>4s</th><th>16s</th><th>gt</th><th>max</th></tr>\n" +
		"<tr><td id=\"c0\">" + ibenchTagA0 + "</td><td></td><td id=\"c0\">0.382</td><td id=\"c20\">94.216</td><td>5.393</td><td>0.009</td><td>nonzero</td><td></td><td></td><td></td><td></td><td id=\"cmaxr\">0.107</td></tr>\n</table>\n" +
		"<pre>\n" + ibenchTableText() + "</pre>\n" +
		"<hr />\n<h1 id=\"l.i1.metrics\">l.i1</h1>\n<p>Performance metrics</p>\n<pre>\n" + ibenchTableText() + "</pre>\n<p>Average values from iostat</p>\n<pre>\nr/s\trkB/s\n1\t2\n</pre>\n" +
		"<h1 id=\"l.i1.rt\">l.i1</h1>\n<p>\n<ul>\n<li>l.i1: continue load after secondary indexes created\n</ul>\n</p>\n<p>Insert response time histogram</p>\n<pre>\n" +
		ibenchRTHeader + "\n" + ibenchShares + "\t" + ibenchTagA0 + "\n" + ibenchShares + "\t" + ibenchTagA1 + "\n</pre>\n<p>Delete response time histogram</p>\n<pre>\n" +
		ibenchRTHeader + "\n" + ibenchShares + "\t" + ibenchTagA0 + "\n" + ibenchShares + "\t" + ibenchTagA1 + "\n</pre>\n" +
		"<h1 id=\"l.x.rt\">l.x</h1>\n<p>There is no response time of creating indexes.</p>\n</body>\n</html>\n"
}

func TestPagesOfReportsGiveWhatTheirTablesGive(t *testing.T) {
	t.Parallel()
	const dir = "23_07_26.bee.rx.1u.1tno.io/"
	page := mustRead(t, dir+"all.html", ibenchPageText(), bench.Context{})
	if page.Format != formatIBenchPage || len(page.Runs) != 2 || len(page.Warnings) > 0 {
		t.Fatalf("%s: %d runs %v", page.Format, len(page.Runs), page.Warnings)
	}
	times := ibenchRTHeader + "\n" + ibenchShares + "\t" + ibenchTagA0 + "\n" + ibenchShares + "\t" + ibenchTagA1 + "\n"
	tables := readFiles(t, map[string]string{dir + "mrg.l.i1": ibenchTableText(), dir + "mrg.l.i1.rt.insert": times, dir + "mrg.l.i1.rt.delete": times}, bench.Context{})
	for i := range page.Runs {
		a, b := &page.Runs[i], &tables.Runs[i]
		if a.Server != b.Server || a.Workload != b.Workload || a.Config != b.Config || a.Clients != 1 || len(a.Results) != 1 {
			t.Errorf("%+v", a)
		}
		x, y := &a.Results[0], &b.Results[0]
		if !slices.Equal(x.Values, y.Values) || x.Text != y.Text || len(x.Histograms) != 2 || len(x.Warnings) > 0 {
			t.Errorf("%+v\nwant %+v", x, y)
		}
		for k := range x.Histograms {
			if other := y.Histograms[1-k]; x.Histograms[k].Operation != other.Operation || !slices.Equal(x.Histograms[k].Percents, other.Percents) {
				t.Errorf("%+v, want %+v", x.Histograms[k], other)
			}
		}
	}
	if got := page.Runs[1].Environment["config_description"]; got != "adds rocksdb_use_hyper_clock_cache=ON" {
		t.Errorf("description %q", got)
	}
	if got := page.Runs[0].Environment["config_description"]; got != "MyRocks 8.0.28, the base & more" {
		t.Errorf("description %q", got)
	}
	if len(page.Checks) != 2 || page.Checks[0].Agree != 2 || page.Checks[0].Kind != "absolute" || page.Checks[1].Agree != 1 || len(page.Checks[1].Messages) != 1 {
		t.Errorf("%+v", page.Checks)
	}
	if !said(page.Files[0].Messages, "neither metrics nor response times") {
		t.Errorf("%v", page.Files[0].Messages)
	}
	// Lines are those of the page.
	lines := strings.Split(ibenchPageText(), "\n")
	for _, src := range page.Runs[1].Results[0].Sources {
		if !strings.Contains(lines[src.Line-1], "cy10a1_bee") {
			t.Errorf("line %d is %q", src.Line, lines[src.Line-1])
		}
	}
	// The title's number of clients is a statement.
	b, _ := Read([]byte(ibenchPageText()), "23_07_26.bee.rx.4u.1tno.io/all.html", bench.Context{}, Limits{})
	if !said(b.Files[0].Messages, "clients: ") || len(b.Runs) > 0 {
		t.Errorf("%v", b.Files[0].Messages)
	}
}

func TestTablesOfAPageThatDifferFromItsTextAreWarnedAbout(t *testing.T) {
	t.Parallel()
	text := strings.Replace(ibenchPageText(), "<td>5.393</td>", "<td>5.390</td>", 1)
	b := mustRead(t, "all.html", text, bench.Context{Workload: "io"})
	r := &b.Runs[0].Results[0]
	if !warned(r, "other insert response times here than in another table") || r.Histograms[0].Percents[3] != 5.393 {
		t.Errorf("%v %v", r.Warnings, r.Histograms[0])
	}
}

func TestPagesThatAreNoReportsAreNotTaken(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"other":      "<html><body><pre>ips</pre></body></html>",
		"no figures": "<html><p>insert benchmark</p></html>",
		"empty pre":  "<html><p>insert benchmark</p><pre></pre></html>",
	} {
		b, err := Read([]byte(text), "x.html", ibenchIO, Limits{})
		if err != nil || b.Files[0].State != bench.FileRefused || len(b.Runs) > 0 {
			t.Errorf("%s: %v %+v", name, err, b)
		}
	}
}
