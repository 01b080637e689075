package ingest

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
)

// someContext is what tests give where the context is not what they are about.
var someContext = bench.Context{Server: "s1", Workload: "cached", Compiler: "gcc"}

func mustRead(t *testing.T, name, text string, flags bench.Context) *bench.Batch {
	t.Helper()
	b, err := Read([]byte(text), name, flags, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// onlyFile gives the single file of a batch.
func onlyFile(t *testing.T, b *bench.Batch) bench.File {
	t.Helper()
	if len(b.Files) != 1 {
		t.Fatalf("%d files, want 1", len(b.Files))
	}
	return b.Files[0]
}

// onlyResult gives the single result of a batch whose one file was taken.
func onlyResult(t *testing.T, b *bench.Batch) (*bench.Run, *bench.Result) {
	t.Helper()
	if f := onlyFile(t, b); f.State != bench.FileTaken {
		t.Fatalf("the file is %s: %v", f.State, f.Messages)
	}
	if len(b.Runs) != 1 || len(b.Runs[0].Results) != 1 {
		t.Fatalf("%d runs, want one with one result", len(b.Runs))
	}
	return &b.Runs[0], &b.Runs[0].Results[0]
}

func numbersOf(r *bench.Result) map[string]float64 {
	m := map[string]float64{}
	for _, v := range r.Values {
		m[v.Metric] = v.Number
	}
	return m
}

// near compares figures that a test gives in decimals.
var near = cmpopts.EquateApprox(0, 1e-9)

func fixture(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// rowR5 makes a row of the current header from its cells by name; the others
// are empty.
func rowR5(cells map[string]string) string {
	var row []string
	for _, name := range strings.Split(headerR5, "\t") {
		row = append(row, cells[name])
	}
	return strings.Join(row, "\t")
}

func TestReportOfEachGeneration(t *testing.T) {
	t.Parallel()
	const headerR3 = "ops_sec\tmb_sec\ttotal_size_gb\tlevel0_size_gb\tsum_gb\twrite_amplification\twrite_mbps\tusec_op\tpercentile_50\tpercentile_75\tpercentile_99\tpercentile_99.9\tpercentile_99.99\tuptime\tstall_time\tstall_percent\ttest_name\ttest_date\trocksdb_version\tjob_id"
	headerR4 := strings.TrimSuffix(headerR5, "\tgithash")
	rowR2 := "151000\t60.5\t0.2\t3.1\t9.4\t3.0\t52.1\t6.6\t4.2\t7.0\t24\t310\t2200\t180\t00:01:12.500\t6.9\toverwrite.t2.s0\n"
	figuresR2 := map[string]float64{
		"qps": 151000, "mb_per_s": 60.5, "flush_write_gb": 3.1, "compaction_write_gb": 9.4, "write_amp": 3, "compaction_write_mb_per_s": 52.1,
		"usec_per_op": 6.6, "p50": 4.2, "p75": 7, "p99": 24, "p99_9": 310, "p99_99": 2200, "uptime_s": 180, "stall_s": 72.5, "stall_percent": 6.9,
	}
	sizeToo := func(m map[string]float64, gb float64) map[string]float64 {
		c := map[string]float64{"db_size_gb": gb}
		for k, v := range m {
			c[k] = v
		}
		return c
	}
	for _, tt := range []struct {
		name, text, format, version string
		flags                       bench.Context
		step                        bench.Step
		started, hash, job          string
		want                        map[string]float64
	}{
		{
			name: "R2 of 5.3, whose size is in MB before the script divides it", text: rowR2, format: "report.txt without header", version: "5.3.7",
			flags: bench.Context{Version: "5.3.7"}, step: bench.Step{Name: "overwrite", Threads: 2, Sync: new(bool)}, want: sizeToo(figuresR2, 0.2),
		},
		{
			name: "R2 of 5.18, whose size was in GB already", text: rowR2, format: "report.txt without header", version: "5.18.4",
			flags: bench.Context{Version: "5.18.4"}, step: bench.Step{Name: "overwrite", Threads: 2, Sync: new(bool)}, want: figuresR2,
		},
		{
			name: "R3 with job and zone", format: "report.tsv", version: "6.29.5",
			text: headerR3 + "\n" + strings.TrimSuffix(rowR2, "\n") + "\t2022-03-16T15:46:45.000-07:00\t6.29.5\tnight run\n",
			step: bench.Step{Name: "overwrite", Threads: 2, Sync: new(bool)}, started: "2022-03-16 15:46:45 -07:00", job: "night run", want: figuresR2,
		},
		{
			name: "R4 with comments, na and no hash", format: "report.tsv", version: "7.4.5",
			text: "# ops_sec - operations per second\n# p50, p99, p99.9, p99.99 - percentiles\n" + headerR4 + "\n" +
				"884421\t354.3\t2GB\t0.0GB,\t5.9\t1.9\t101.4\t61\t55\t0\t0\t1.1\t0.6\t2\t9\t44\t5321\t60\t1.5\t12\t0.1\t0.0\tna\tfillrandom\t2022-07-1T09:08:07\t7.4.5\t\n",
			step: bench.Step{Name: "fillrandom"}, started: "2022-07-01 09:08:07",
			want: map[string]float64{"qps": 884421, "mb_per_s": 354.3, "db_size_gb": 2, "blob_size_gb": 0, "compaction_write_gb": 5.9, "write_amp": 1.9,
				"compaction_write_mb_per_s": 101.4, "compaction_wall_s": 61, "compaction_cpu_s": 55, "blob_read_gb": 0, "blob_write_gb": 0, "usec_per_op": 1.1,
				"p50": 0.6, "p99": 2, "p99_9": 9, "p99_99": 44, "max": 5321, "uptime_s": 60, "stall_percent": 1.5, "stall_count": 12, "user_cpu_s": 100, "system_cpu_s": 0},
		},
		{
			name: "R5 with Windows line ends and a day without its zero", format: "report.tsv", version: "8.6.7",
			text: headerR5 + "\r\n" + rowR5(map[string]string{"ops_sec": "43210", "mb_sec": "NA", "lsm_sz": "512MB", "w_amp": "NA", "rss": "4.2", "u_cpu": "12.3",
				"test": "multireadrandom.t16", "date": "2023-11-9T16:54:47", "version": "8.6.7", "githash": "cb7a5e02ed"}) + "\r\n",
			step: bench.Step{Name: "multireadrandom", Threads: 16}, started: "2023-11-09 16:54:47", hash: "cb7a5e02ed",
			want: map[string]float64{"qps": 43210, "db_size_gb": 0.5, "rss_gb": 4.2, "user_cpu_s": 12300},
		},
		{
			name: "R5 pasted with its columns apart by spaces is refused a cell that cannot be seen, taken where all are there", format: "report.tsv", version: "7.0",
			text: "ops_sec mb_sec  total_size_gb   level0_size_gb  sum_gb  write_amplification     write_mbps      usec_op percentile_50   percentile_75   percentile_99   percentile_99.9 percentile_99.99        uptime  stall_time      stall_percent   test_name       test_date      rocksdb_version  job_id\n" +
				"712345  285.4   0.0     10.5    10.5    1.0     91.2   1.4     1.1     1.2     4       7       15      118     00:00:1.250     0.1     fillseq.wal_enabled.v400       2022-04-02T05:06:07.000+02:00   7.0\n",
			step: bench.Step{Name: "fillseq", WAL: ptr(true), ValueBytes: 400}, started: "2022-04-02 05:06:07 +02:00",
			want: map[string]float64{"qps": 712345, "mb_per_s": 285.4, "flush_write_gb": 10.5, "compaction_write_gb": 10.5, "write_amp": 1, "compaction_write_mb_per_s": 91.2,
				"usec_per_op": 1.4, "p50": 1.1, "p75": 1.2, "p99": 4, "p99_9": 7, "p99_99": 15, "uptime_s": 118, "stall_s": 1.25, "stall_percent": 0.1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			flags := someContext
			flags.Version = tt.flags.Version
			b := mustRead(t, "report.tsv", tt.text, flags)
			run, r := onlyResult(t, b)
			if b.Format != tt.format {
				t.Errorf("format %q, want %q", b.Format, tt.format)
			}
			if run.Build.Version != tt.version || run.Build.GitHash != tt.hash || run.Environment["job_id"] != tt.job {
				t.Errorf("build %+v, job %q", run.Build, run.Environment["job_id"])
			}
			if diff := cmp.Diff(tt.step, r.Step); diff != "" {
				t.Errorf("step: %s", diff)
			}
			if r.Started.String() != tt.started {
				t.Errorf("started %q, want %q", r.Started, tt.started)
			}
			if diff := cmp.Diff(tt.want, numbersOf(r), near); diff != "" {
				t.Errorf("figures: %s", diff)
			}
			if r.Primary != "qps" || r.PrimaryText != strings.FieldsFunc(r.Text, func(c rune) bool { return c == '\t' || c == ' ' })[0] {
				t.Errorf("primary %q %q of %q", r.Primary, r.PrimaryText, r.Text)
			}
		})
	}
}

// The figures of the local run are those that stand in its file.
func TestReportOfARealRun(t *testing.T) {
	t.Parallel()
	b := mustRead(t, "report.tsv", fixture(t, "tables/report.7.8.tsv"), someContext)
	if len(b.Runs) != 1 || len(b.Runs[0].Results) != 10 {
		t.Fatalf("%d runs", len(b.Runs))
	}
	last := &b.Runs[0].Results[9]
	want := map[string]float64{
		"qps": 24450, "mb_per_s": 9.8, "db_size_gb": 104.0 / 1024, "blob_size_gb": 0, "compaction_write_gb": 0.2, "write_amp": 2.5,
		"compaction_write_mb_per_s": 19.4, "compaction_wall_s": 5, "compaction_cpu_s": 1, "blob_read_gb": 0, "blob_write_gb": 0, "usec_per_op": 81.7,
		"p50": 7.6, "p99": 44, "p99_9": 20657, "p99_99": 49748, "max": 100063, "uptime_s": 10, "stall_percent": 0, "stall_count": 0,
		"user_cpu_s": 0, "system_cpu_s": 0, "rss_gb": 0,
	}
	if diff := cmp.Diff(want, numbersOf(last), near); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bench.Source{{File: "report.tsv", Line: 36}}, last.Sources); diff != "" {
		t.Error(diff)
	}
	var roles []bench.Role
	for _, r := range b.Runs[0].Results {
		roles = append(roles, r.Role)
	}
	m, p := bench.RoleMeasure, bench.RolePrepare
	if diff := cmp.Diff([]bench.Role{m, p, m, m, m, p, m, m, m, m}, roles); diff != "" {
		t.Error(diff)
	}
}

func TestValuesKnowTheirResolutionAndSourceName(t *testing.T) {
	t.Parallel()
	_, r := onlyResult(t, mustRead(t, "report.tsv", headerR5+"\n"+rowR5(map[string]string{
		"ops_sec": "100", "mb_sec": "3.5", "lsm_sz": "82MB", "blob_sz": "16.0GB", "p99": "7", "u_cpu": "0.3", "rss": "1.5",
		"test": "readrandom.t1", "date": "2024-01-02T03:04:05", "version": "9.0.1"}), someContext))
	want := []bench.Value{
		{Metric: "qps", Number: 100, Resolution: 1, SourceName: "ops_sec"},
		{Metric: "mb_per_s", Number: 3.5, Resolution: 0.1, SourceName: "mb_sec"},
		{Metric: "db_size_gb", Number: 82.0 / 1024, Resolution: 1.0 / 1024, SourceName: "lsm_sz"},
		{Metric: "blob_size_gb", Number: 16, Resolution: 0.1, SourceName: "blob_sz"},
		{Metric: "p99", Number: 7, Resolution: 1, SourceName: "p99"},
		{Metric: "user_cpu_s", Number: 300, Resolution: 100, SourceName: "u_cpu"},
		{Metric: "rss_gb", Number: 1.5, Resolution: 0.1, SourceName: "rss"},
	}
	if diff := cmp.Diff(want, r.Values); diff != "" {
		t.Error(diff)
	}
}

// Columns that scripts read wrongly for some versions of RocksDB.
func TestColumnsThatMeanSomethingElse(t *testing.T) {
	t.Parallel()
	row := func(version string, cells ...string) string {
		m := map[string]string{"ops_sec": "1000", "test": "overwrite.t8.s0", "date": "2023-10-01T01:02:03", "version": version}
		for i := 0; i < len(cells); i += 2 {
			m[cells[i]] = cells[i+1]
		}
		return headerR5 + "\n" + rowR5(m)
	}
	for _, tt := range []struct {
		name, text string
		want       map[string]float64 // besides qps
		warned     []string           // columns
	}{
		{"10.2 is right", row("10.2.1", "c_wsecs", "21", "c_csecs", "16", "b_rgb", "3", "b_wgb", "4"),
			map[string]float64{"compaction_wall_s": 21, "compaction_cpu_s": 16, "blob_read_gb": 3, "blob_write_gb": 4}, nil},
		{"from 10.3 a new column shifts four", row("10.3.4", "c_wsecs", "448", "c_csecs", "21", "b_rgb", "132", "b_wgb", "4"),
			map[string]float64{"compaction_wall_s": 21, "blob_read_gb": 4}, []string{"c_wsecs", "c_csecs", "b_rgb", "b_wgb"}},
		{"of 11.0 likewise", row("11.0.0", "c_csecs", "21"), map[string]float64{"compaction_wall_s": 21}, []string{"c_csecs"}},
		{"5.18 by the script for 5.x", row("5.18.4", "lsm_sz", "16MB", "c_wgb", "90.1", "c_wsecs", "477", "c_csecs", "NA"),
			map[string]float64{"db_size_gb": 16, "compaction_write_gb": 90.1}, []string{"lsm_sz", "c_wsecs"}},
		{"5.4 by the script for 5.x", row("5.4.12", "lsm_sz", "439MB", "c_csecs", "NA"), map[string]float64{"db_size_gb": 439}, []string{"lsm_sz"}},
		{"5.18 by a later script", row("5.18.4", "lsm_sz", "82MB", "c_wsecs", "33", "c_csecs", "120"),
			map[string]float64{"db_size_gb": 82.0 / 1024, "compaction_wall_s": 33}, []string{"c_csecs"}},
		{"5.3 by the script for 4.x and 5.x", row("5.3.7", "lsm_sz", "15.9GB", "c_wsecs", "38", "c_csecs", "NA"),
			map[string]float64{"db_size_gb": 15.9, "compaction_wall_s": 38}, nil},
		{"5.3 by a later script", row("5.3.7", "c_wsecs", "7", "c_csecs", "2"), map[string]float64{}, []string{"c_wsecs", "c_csecs"}},
		{"6.0 is right", row("6.0.2", "lsm_sz", "82MB", "c_wsecs", "33", "c_csecs", "31"),
			map[string]float64{"db_size_gb": 82.0 / 1024, "compaction_wall_s": 33, "compaction_cpu_s": 31}, nil},
		{"a branch without number is new", row("main", "c_wsecs", "33", "c_csecs", "31"),
			map[string]float64{"compaction_wall_s": 31}, []string{"c_wsecs", "c_csecs"}},
		{"seconds for MB/s have three decimals", row("7.3.1", "mb_sec", "1800.002"), map[string]float64{"elapsed_s": 1800.002}, []string{"mb_sec"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := mustRead(t, "report.tsv", tt.text, someContext)
			_, r := onlyResult(t, b)
			tt.want["qps"] = 1000
			if diff := cmp.Diff(tt.want, numbersOf(r), near); diff != "" {
				t.Error(diff)
			}
			var onResult, onFile []string
			for _, w := range r.Warnings {
				if w.File != "report.tsv" || w.Line != 2 || w.Text == "" {
					t.Errorf("warning without place: %+v", w)
				}
				onResult = append(onResult, w.Column)
			}
			for _, w := range b.Warnings {
				onFile = append(onFile, w.Column)
			}
			if diff := cmp.Diff(tt.warned, onResult); diff != "" {
				t.Errorf("on the result: %s", diff)
			}
			if diff := cmp.Diff(tt.warned, onFile); diff != "" {
				t.Errorf("on the file: %s", diff)
			}
		})
	}
}

// 5.x prints MB for GB, but a small database is small: what filled it wrote as
// much as its size.
func TestSmallDatabaseOf5xStaysSmall(t *testing.T) {
	t.Parallel()
	cells := func(test, size, wrote, second string) string {
		return rowR5(map[string]string{"ops_sec": "1000", "lsm_sz": size, "c_wgb": wrote, "c_csecs": "NA", "test": test, "date": "2023-10-01T01:02:" + second, "version": "5.10.5"})
	}
	b := mustRead(t, "report.tsv", strings.Join([]string{headerR5, cells("fillseq.wal_disabled.v400", "82MB", "0.1", "01"), cells("readrandom.t1", "82MB", "0.0", "02")}, "\n"), someContext)
	for i := range b.Runs[0].Results {
		r := &b.Runs[0].Results[i]
		if v, _ := r.Value("db_size_gb"); v != 82.0/1024 || len(r.Warnings) != 0 {
			t.Errorf("%s: %g GB, %v", r.Step.Name, v, r.Warnings)
		}
	}
}

func TestFileWarningsAreOnePerColumn(t *testing.T) {
	t.Parallel()
	row := func(test, date string) string {
		return rowR5(map[string]string{"ops_sec": "10", "c_wsecs": "5", "c_csecs": "0", "test": test, "date": date, "version": "10.4.2"})
	}
	b := mustRead(t, "report.tsv", strings.Join([]string{headerR5, row("fillseq", "2025-01-01T00:00:01"), row("readrandom.t1", "2025-01-01T00:00:02"), row("overwrite.t1.s0", "2025-01-01T00:00:03")}, "\n"), someContext)
	var got []string
	for _, w := range b.Warnings {
		got = append(got, w.Column+" "+w.Text[strings.LastIndex(w.Text, "("):])
	}
	if diff := cmp.Diff([]string{"c_wsecs (3 rows)", "c_csecs (3 rows)"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOddCellsAreLeftOutWithAWarning(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, column, cell string
		metric             string
		excluded           string
	}{
		{"a word", "usec_op", "abc", "usec_per_op", ""},
		{"not a number", "p99", "-nan", "p99", ""},
		{"infinite", "p99", "inf", "p99", ""},
		{"hexadecimal", "p99", "0x1F", "p99", ""},
		{"a size without unit", "lsm_sz", "16", "db_size_gb", ""},
		{"a size of nothing", "lsm_sz", "GB", "db_size_gb", ""},
		{"the message of a result line", "mb_sec", "(12", "mb_per_s", ""},
		{"the message that nothing was found", "mb_sec", "(0", "mb_per_s", "no key was found"},
		{"the message of another benchmark", "mb_sec", "(", "mb_per_s", "the figures are another benchmark's, whose name begins with readrandom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, r := onlyResult(t, mustRead(t, "report.tsv", headerR5+"\n"+rowR5(map[string]string{
				"ops_sec": "100", "test": "readrandom.t1", "date": "2024-01-02T03:04:05", "version": "9.0.1", tt.column: tt.cell}), someContext))
			if v, ok := r.Value(tt.metric); ok {
				t.Errorf("%s = %g", tt.metric, v)
			}
			if len(r.Warnings) != 1 || r.Warnings[0].Column != tt.column || r.Warnings[0].Line != 2 || !strings.Contains(r.Warnings[0].Text, tt.cell) {
				t.Errorf("warnings %v", r.Warnings)
			}
			if r.Excluded != tt.excluded {
				t.Errorf("excluded %q, want %q", r.Excluded, tt.excluded)
			}
			if v, ok := r.Value("qps"); !ok || v != 100 {
				t.Errorf("qps = %g %v", v, ok)
			}
		})
	}
}

func TestMissingIsNeverZero(t *testing.T) {
	t.Parallel()
	for _, cell := range []string{"", "NA", "na"} {
		_, r := onlyResult(t, mustRead(t, "report.tsv", headerR5+"\n"+rowR5(map[string]string{
			"ops_sec": cell, "p50": cell, "lsm_sz": cell, "rss": cell, "test": "bulkload", "date": "2024-01-02T03:04:05", "version": "9.0.1"}), someContext))
		if len(r.Values) != 0 || r.PrimaryText != "" || len(r.Warnings) != 0 {
			t.Errorf("%q: values %v, primary %q, warnings %v", cell, r.Values, r.PrimaryText, r.Warnings)
		}
	}
}

func TestFailedRow(t *testing.T) {
	t.Parallel()
	_, r := onlyResult(t, mustRead(t, "report.tsv", headerR5+"\n"+rowR5(map[string]string{
		"ops_sec": "failed", "test": "fwdrange.t8", "date": "2023-11-9T16:54:47", "version": "8.1.1", "githash": "7d2d9518fb"}), someContext))
	if r.State != bench.StateFailed || r.Reason == "" || len(r.Values) != 0 || r.PrimaryText != "" {
		t.Errorf("%+v", r)
	}
}

func TestRepeatsOfAStepAreRuns(t *testing.T) {
	t.Parallel()
	row := func(test, date, ops string) string {
		return rowR5(map[string]string{"ops_sec": ops, "test": test, "date": date, "version": "8.0.0"})
	}
	for _, tt := range []struct {
		name string
		rows []string
		want [][]string // primary figures by run
	}{
		{"the same steps once more", []string{
			row("fillseq", "2023-01-01T00:00:01", "1"), row("readrandom.t1", "2023-01-01T00:00:02", "2"),
			row("fillseq", "2023-01-01T00:00:03", "3"), row("readrandom.t1", "2023-01-01T00:00:04", "4"),
		}, [][]string{{"1", "2"}, {"3", "4"}}},
		{"a first run that broke off", []string{
			row("fillseq", "2023-01-01T00:00:01", "1"),
			row("fillseq", "2023-01-01T00:00:03", "3"), row("readrandom.t1", "2023-01-01T00:00:04", "4"),
		}, [][]string{{"1"}, {"3", "4"}}},
		{"out of order in the file", []string{
			row("fillseq", "2023-01-01T00:00:03", "3"), row("readrandom.t1", "2023-01-01T00:00:04", "4"),
			row("fillseq", "2023-01-01T00:00:01", "1"),
		}, [][]string{{"1"}, {"3", "4"}}},
		{"the same row twice is one measurement", []string{
			row("fillseq", "2023-01-01T00:00:01", "1"), row("readrandom.t1", "2023-01-01T00:00:02", "2"), row("fillseq", "2023-01-01T00:00:01", "1"),
		}, [][]string{{"1", "2"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := mustRead(t, "report.tsv", headerR5+"\n"+strings.Join(tt.rows, "\n"), someContext)
			var got [][]string
			for _, run := range b.Runs {
				var figures []string
				for _, r := range run.Results {
					figures = append(figures, r.PrimaryText)
				}
				got = append(got, figures)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRowsWithoutDateKeepTheirOrder(t *testing.T) {
	t.Parallel()
	line := func(ops, test string) string {
		return ops + "\t1.5" + strings.Repeat("\t", 14) + "\t" + test + "\n"
	}
	flags := someContext
	flags.Version = "4.13.5"
	b := mustRead(t, "report.txt", line("1", "fillseq")+line("2", "readrandom.t1")+line("3", "fillseq")+line("4", "readrandom.t1"), flags)
	var got []string
	for _, run := range b.Runs {
		for _, r := range run.Results {
			got = append(got, r.PrimaryText)
		}
		got = append(got, "/")
	}
	if diff := cmp.Diff([]string{"1", "2", "/", "3", "4", "/"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOtherLinesOfAReportAreListed(t *testing.T) {
	t.Parallel()
	// Scripts around benchmark.sh append the size of the database.
	text := strings.ReplaceAll(oldColumns, "\t", " | ") + "\n" +
		"500 | 1.5 | | | | | | 9.9 | | | | | | 10 | | | bulkload\n" +
		"Disk usage after bulkload: 1200\t/data/db\n"
	flags := someContext
	flags.Version = "6.22.1"
	b := mustRead(t, "report.txt", text, flags)
	_, r := onlyResult(t, b)
	if diff := cmp.Diff(map[string]float64{"qps": 500, "mb_per_s": 1.5, "usec_per_op": 9.9, "uptime_s": 10}, numbersOf(r)); diff != "" {
		t.Error(diff)
	}
	if m := b.Files[0].Messages; len(m) != 1 || m[0].Line != 3 {
		t.Errorf("messages %v", m)
	}
}

// A table pasted from a page, with a time that a spreadsheet mangled and a second
// table whose rows name no test.
func TestPastedTableWithBlankAndMangledCells(t *testing.T) {
	t.Parallel()
	text := "OPS/sec | mb/sec | Size-GB | L0_GB | Sum_GB | W-Amp | W-MB/s | usec/op | P50 | P75 | P99 | P99.9 | Uptime | Stall-Time | Stall% | Test\n" +
		"-- | -- | -- | -- | -- | -- | -- | -- | -- | -- | -- | -- | -- | -- | -- | --\n" +
		"  |   | 0.2 | 40.1 | 41.2 | 1.1 | 70.5 |   |   |   |   |   | 580 | 05:12.7 | 53.9 | bulkload\n" +
		"811223 | 325.0 | 0.2 | 0.0 | 0.0 |   | 0 | 1.2 | 0.5 | 0.8 | 1 | 3 | 60 | 00:01:02.500 | 1.5 | readrandom.t4\n" +
		"\n" +
		"ops/sec | mb/sec | usec/op | p50 | p75 | du -s -k\n" +
		"-- | -- | -- | -- | -- | --\n" +
		"811223 | 325.0 | 1.2 | 0.5 | 0.8 | 101402936\n"
	flags := someContext
	flags.Version = "6.22.1"
	b := mustRead(t, "issue.txt", text, flags)
	f := onlyFile(t, b)
	if f.State != bench.FileTaken || len(b.Runs) != 1 || len(b.Runs[0].Results) != 2 {
		t.Fatalf("%+v", f)
	}
	load, read := &b.Runs[0].Results[0], &b.Runs[0].Results[1]
	want := map[string]float64{"flush_write_gb": 40.1, "compaction_write_gb": 41.2, "write_amp": 1.1, "compaction_write_mb_per_s": 70.5, "uptime_s": 580, "stall_percent": 53.9}
	if diff := cmp.Diff(want, numbersOf(load)); diff != "" {
		t.Error(diff)
	}
	if n := len(load.Warnings); n != 2 || load.Warnings[1].Column != "Stall-Time" || !strings.Contains(load.Warnings[1].Text, "05:12.7") {
		t.Errorf("%v", load.Warnings)
	}
	if v, ok := read.Value("stall_s"); !ok || v != 62.5 || read.PrimaryText != "811223" {
		t.Errorf("%g %v %q", v, ok, read.PrimaryText)
	}
	if len(f.Messages) != 1 || f.Messages[0].Line != 8 || !strings.Contains(f.Messages[0].Text, "test's name") {
		t.Errorf("%v", f.Messages)
	}
	if last := b.Warnings[len(b.Warnings)-1]; !strings.Contains(last.Text, "du -s -k") || last.Line != 6 {
		t.Errorf("%v", b.Warnings)
	}
}

func TestRefusedReports(t *testing.T) {
	t.Parallel()
	good := rowR5(map[string]string{"ops_sec": "1", "test": "fillseq", "date": "2023-01-01T00:00:01", "version": "8.0.0"})
	for _, tt := range []struct {
		name, text string
		flags      bench.Context
		line       int
		contains   string
	}{
		{"a cell is missing", headerR5 + "\n" + good + "\n" + strings.Replace(good, "\t", "", 1), someContext, 3, "27 cells, its header 28"},
		{"the last row is cut", headerR5 + "\n" + good + "\n" + good[:len(good)-40], someContext, 3, "cells"},
		{"a date that does not exist", headerR5 + "\n" + strings.Replace(good, "2023-01-01", "2023-02-30", 1), someContext, 2, "not a date"},
		{"no test", headerR5 + "\n" + strings.Replace(good, "fillseq", "", 1), someContext, 2, "test's name"},
		{"header only", headerR5 + "\n", someContext, 0, "no rows"},
		{"no version anywhere", headerR5 + "\n" + strings.Replace(good, "8.0.0", "", 1), someContext, 2, "give --version"},
		{"no server and workload", headerR5 + "\n" + good, bench.Context{}, 2, "give --server and --workload"},
		{"the version contradicts", headerR5 + "\n" + good, bench.Context{Server: "s", Workload: "cached", Version: "8.1.1"}, 2, `"8.0.0", what was given with the upload says "8.1.1"`},
		{"a line beyond all bounds", headerR5 + "\n" + good + "\n1" + strings.Repeat("0", maxLine) + "\n", someContext, 3, "longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := mustRead(t, "report.tsv", tt.text, tt.flags)
			f := onlyFile(t, b)
			if f.State != bench.FileRefused || len(b.Runs) != 0 {
				t.Fatalf("%s with %d runs", f.State, len(b.Runs))
			}
			if len(f.Messages) == 0 || f.Messages[0].Line != tt.line || !strings.Contains(f.Messages[0].Text, tt.contains) {
				t.Errorf("messages %v, want line %d with %q", f.Messages, tt.line, tt.contains)
			}
		})
	}
}

// The hash may be missing where an editor takes empty cells off the end.
func TestTailOfARowMayBeMissing(t *testing.T) {
	t.Parallel()
	row := rowR5(map[string]string{"ops_sec": "1", "test": "fillseq", "date": "2023-01-01T00:00:01", "version": "8.0.0"})
	run, _ := onlyResult(t, mustRead(t, "report.tsv", headerR5+"\n"+strings.TrimRight(row, "\t"), someContext))
	if run.Build.GitHash != "" || run.Build.Version != "8.0.0" {
		t.Errorf("%+v", run.Build)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	text := headerR5 + "\n" + strings.Repeat("1"+strings.Repeat("\tx", 20)+"\n", 100)
	f := onlyFile(t, mustRead(t, "report.tsv", text, someContext))
	if len(f.Messages) != maxMessages+1 || !strings.Contains(f.Messages[maxMessages].Text, "80 more") {
		t.Errorf("%d messages, the last %v", len(f.Messages), f.Messages[len(f.Messages)-1])
	}
}

func TestRowsOfAnUploadAreBounded(t *testing.T) {
	t.Parallel()
	row := func(n int) string {
		return sumRow("1", "fillseq", "2023-01-01T00:00:0"+string(rune('0'+n)), "8.0.0") + "\n"
	}
	files := map[string]string{"a/sum.byrx.1.txt": headerR5 + "\n" + row(1) + row(2), "a/sum.byrx.2.txt": headerR5 + "\n" + row(3) + row(4), "a/sum.byrx.3.txt": headerR5 + "\n" + row(5) + row(6) + row(7) + row(8)}
	for limit, want := range map[int][]bench.FileState{
		8: {bench.FileTaken, bench.FileTaken, bench.FileTaken},
		7: {bench.FileTaken, bench.FileTaken, bench.FileRefused},
		3: {bench.FileTaken, bench.FileRefused, bench.FileRefused},
		1: {bench.FileRefused, bench.FileRefused, bench.FileRefused},
	} {
		b, err := Read(tarOf(t, files), "x.tar", someContext, Limits{Rows: limit})
		if err != nil {
			t.Fatal(err)
		}
		var got []bench.FileState
		for _, f := range b.Files {
			got = append(got, f.State)
			if f.State == bench.FileRefused && !strings.Contains(f.Messages[0].Text, "upload their parts") {
				t.Errorf("%v", f.Messages)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
	// Lines without anything are no rows, and take no room.
	b := mustRead(t, "report.tsv", headerR5+"\n"+strings.Repeat("\n", 1<<20)+row(1), someContext)
	if len(b.Runs) != 1 || cap(b.Runs[0].Results) > 1<<17 {
		t.Errorf("%d runs", len(b.Runs))
	}
}

func TestParseDecimal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text       string
		scale      float64
		v, resolve float64
		ok         bool
	}{
		{"0", 1, 0, 1, true},
		{"0.1", 1000, 100, 100, true},
		{"0.3", 1000, 300, 100, true},
		{"123456789012345", 1, 123456789012345, 1, true},
		{"12345678901234567890", 1, 12345678901234567890, 1, true},
		{"1.18825e+06", 1, 1188250, 10, true},
		{"-1.5", 1, -1.5, 0.1, true},
		{"16777216.25", 1, 16777216.25, 0.01, true},
		{"", 1, 0, 0, false},
		{".", 1, 0, 0, false},
		{"1.2.3", 1, 0, 0, false},
		{"1e999", 1, 0, 0, false},
		{"0e999", 1, 0, math.Inf(1), false},
		{"NaN", 1, 0, 0, false},
		{"-nan", 1, 0, 0, false},
		{"0x10", 1, 0, 0, false},
		{"1_000", 1, 0, 0, false},
		{"1,000", 1, 0, 0, false},
		{"١", 1, 0, 0, false},
	} {
		v, resolution, ok := parseDecimal(tt.text, tt.scale)
		if ok != tt.ok || v != tt.v || tt.ok && math.Abs(resolution-tt.resolve) > 1e-12*tt.resolve {
			t.Errorf("parseDecimal(%q, %g) = %g, %g, %v; want %g, %g, %v", tt.text, tt.scale, v, resolution, ok, tt.v, tt.resolve, tt.ok)
		}
	}
}

func TestParseClock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		v    float64
		ok   bool
	}{
		{"00:02:24.652", 144.652, true}, {"00:00:0.000", 0, true}, {"27:00:01.5", 97201.5, true},
		{"09:40.2", 0, false}, {"1:2", 0, false}, {"00:60:00", 0, false}, {"00:00:60", 0, false}, {"", 0, false}, {"a:b:c", 0, false}, {"00:00:-1", 0, false},
	} {
		if v, _, ok := parseClock(tt.text); ok != tt.ok || math.Abs(v-tt.v) > 1e-9 {
			t.Errorf("parseClock(%q) = %g, %v", tt.text, v, ok)
		}
	}
}

// The fast way of reading dates gives what the careful one gives.
func TestFastDatesAgreeWithCarefulOnes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"2023-11-9T16:54:47", "2023-11-09T16:54:47", "2024-02-28T00:00:00", "2024-02-29T00:00:00", "2023-02-29T00:00:00", "2023-12-31T23:59:59",
		"2023-04-31T00:00:00", "2023-1-1T1:01:01", "2023-13-01T00:00:00", "2023-00-01T00:00:00", "2023-01-00T00:00:00", "2023-01-01T24:00:00",
		"2023-01-01T00:60:00", "2023-01-01T00:00:60", "2023-001-01T00:00:0", "2023-01-01T00:1:000", "2023-01-01 00:00:00", "2023-01-01T00:00:0a",
		"2023-01-01T1:001:01", "2023-10-10T001:01:1",
	} {
		want, err := bench.ParseLocalTime(text)
		got, ok := parseReportDate(text)
		if ok != (err == nil) || ok && got != want {
			t.Errorf("%q: %v %v, want %v %v", text, got, ok, want, err)
		}
		if got, ok := parseDateFast(text); ok && (err != nil || got != want) {
			t.Errorf("%q: the fast way gives %v, the careful one %v %v", text, got, want, err)
		}
	}
}
