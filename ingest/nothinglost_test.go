package ingest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// held counts what a batch holds, by kind.
func held(b *bench.Batch) map[string]int {
	n := map[string]int{}
	for i := range b.Runs {
		for j := range b.Runs[i].Results {
			r := &b.Runs[i].Results[j]
			n["results"]++
			if !r.Started.IsZero() {
				n["dates"]++
			}
			for _, v := range r.Values {
				n["metric "+v.Metric]++
			}
			for _, h := range r.Histograms {
				n["histogram "+h.Operation]++
			}
			for _, x := range r.Breakdowns {
				n["breakdown "+x.Key]++
			}
			for _, s := range r.TimeSeries {
				for _, v := range s.Values {
					if !math.IsNaN(v) {
						n["seconds of "+s.Name]++
					}
				}
			}
		}
	}
	for i := range b.Configs {
		n["options"] += len(b.Configs[i].Options)
	}
	for i := range b.Matrices {
		for k := range b.Matrices[i].Rows {
			n["cells of matrices"] += len(b.Matrices[i].Rows[k].Cells)
		}
	}
	return n
}

// told gives all that is said of a batch.
func told(b *bench.Batch) map[string]bool {
	all := map[string]bool{}
	add := func(messages []bench.Message) {
		for _, m := range messages {
			all[m.Column+": "+m.Text] = true
		}
	}
	add(b.Warnings)
	for i := range b.Files {
		add(b.Files[i].Messages)
	}
	for i := range b.Checks {
		add(b.Checks[i].Messages)
	}
	for i := range b.Configs {
		add(b.Configs[i].Warnings)
	}
	for i := range b.Runs {
		for j := range b.Runs[i].Results {
			r := &b.Runs[i].Results[j]
			add(r.Warnings)
			if r.Reason != "" {
				all["reason: "+r.Reason] = true
			}
			if r.Excluded != "" {
				all["excluded: "+r.Excluded] = true
			}
		}
	}
	return all
}

// odd is a text with something in it that no program prints.
type oddText struct{ what, text string }

var (
	figureRe     = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)
	headerNameRe = regexp.MustCompile(`[A-Za-z][\w.%/-]*`)
)

// oddCells gives a text with one of its figures at a time replaced by what is no
// figure.
func oddCells(text string) (all []oddText) {
	places := figureRe.FindAllStringIndex(text, -1)
	every := 1 + len(places)/150
	for i := 0; i < len(places); i += every {
		at := places[i]
		for _, instead := range []string{"NaN", "inf", "-7", "1e308", "?"} {
			line := 1 + strings.Count(text[:at[0]], "\n")
			all = append(all, oddText{fmt.Sprintf("line %d: %s for %s", line, instead, text[at[0]:at[1]]), text[:at[0]] + instead + text[at[1]:]})
		}
	}
	return all
}

// oddColumns gives a text with one of the names in its header at a time changed
// to one that nobody knows.
func oddColumns(text, header string) (all []oddText) {
	start := strings.Index(text, header)
	for _, at := range headerNameRe.FindAllStringIndex(header, -1) {
		all = append(all, oddText{"column " + header[at[0]:at[1]], text[:start+at[1]] + "zz" + text[start+at[1]:]})
	}
	return all
}

// oddLines gives a text with a line between two of its lines that is nothing.
func oddLines(text string) (all []oddText) {
	lines := strings.SplitAfter(text, "\n")
	every := 1 + len(lines)/40
	for i := 1; i < len(lines); i += every {
		all = append(all, oddText{fmt.Sprintf("a line after line %d", i), strings.Join(lines[:i], "") + "@@ 12 odd words\n" + strings.Join(lines[i:], "")})
	}
	return all
}

// What stands in a file is in the batch, or it is said what of it is not: that is
// so whatever single cell, column or line of it is odd.
func TestNothingIsLostWithoutAWord(t *testing.T) {
	t.Parallel()
	metrics := ibenchHeader + "\n" + ibenchInsert + "\t" + ibenchTagA0 + "\n" + ibenchInsert + "\t" + ibenchTagA1 + "\n"
	shares := ibenchRTHeader + "\n" + ibenchShares + "\t" + ibenchTagA0 + "\n"
	rocksdb := bench.Context{System: "rocksdb", Server: "s", Workload: "cached", Version: "7.8.3", Compiler: "gcc"}
	report := fixture(t, "tables/report.7.8.tsv")
	ci := fixture(t, "tables/regression_test.SUMMARY.csv")
	pages := []struct {
		name, path, text string
		flags            bench.Context
		header           string // "": names of columns are not changed
		lines            bool   // lines that are nothing are put in
	}{
		{"ibench client output", "run/l.i1/o.ib.dop1.1", clientText(100, 200, 300, 400, 500), ibenchLocal, clientHeaderText, true},
		{"ibench step summary", "run/q.L1.ips100/o.res.dop1", stepSummaryText, ibenchLocal, "nsamp\tr/s\trMB/s\tw/s\twMB/s\tr/q\trKB/q\tw/q\twKB/q\tqps", false},
		{"ibench metrics table", "mrg.l.i1", metrics, ibenchIO, ibenchHeader, true},
		{"ibench response times", "mrg.l.i1.rt.insert", shares, ibenchIO, "", true},
		{"report.tsv", "report.tsv", report, someContext, strings.SplitN(report, "\n", 2)[0], true},
		{"SUMMARY.csv", "SUMMARY.csv", ci, rocksdb, strings.SplitN(ci, "\n", 2)[0], true},
		{"google-benchmark JSON", "x.json", fixture(t, "googlebench/repetitions-by-hand.json"), rocksdb, "", false},
		{"fio", "fio.txt", fixture(t, "fio/randread-3.33.txt"), fioFlags, "", true},
		{"fio 2", "fio.txt", fixture(t, "fio/randread-2.16-by-hand.txt"), fioFlags, "", true},
		{"fio of two directions", "fio.txt", fixture(t, "fio/mixed-3.33.txt"), fioFlags, "", true},
		{"fio JSON", "fio.json", fixture(t, "fio/randread-3.33.json"), fioFlags, "", false},
		{"fio 2 JSON", "fio.json", fixture(t, "fio/randread-2.16-by-hand.json"), fioFlags, "", false},
		{"fio terse", "fio.txt", fixture(t, "fio/terse-4.txt"), fioFlags, "", true},
		{"state-perf", "perf.txt", fixture(t, "stateperf/block-sizes-by-hand.txt"), bench.Context{Server: "n2", Workload: "io"}, "", true},
		{"my.cnf", "my.cnf.cy10a4_bee", fixture(t, "config/my.cnf.cy10a4_bee"), bench.Context{}, "", true},
		{"OPTIONS", "OPTIONS-000007", fixture(t, "config/OPTIONS-000007"), bench.Context{Config: "x"}, "", true},
		{"server variables", "variables.tsv", fixture(t, "config/variables.tsv"), bench.Context{Config: "x"}, "", true},
		{"db_bench log with histograms and statistics", "benchmark_fillseq.log", string(logFixture(t, "raw.fillseq.hist.stats.7.8.log.gz")), rocksdb, "", false},
		{"db_bench log with counters", "x.log", string(logFixture(t, "raw.multi.statistics.hist.7.8.log.gz")), rocksdb, "", false},
		{"db_bench log with perf context", "x.log", string(logFixture(t, "raw.multidb.perf.7.8.log.gz")), rocksdb, "", false},
		{"db_bench log of repeats", "x.log", string(logFixture(t, "raw.repeat.X3.7.8.log.gz")), rocksdb, "", false},
		{"db_bench log with times", "x.log", string(logFixture(t, "raw.timev.7.8.log.gz")), rocksdb, "", false},
		{"summary.tsv", "summary.tsv", fixture(t, "tables/summary.7.8.tsv"), someContext, "", true},
		{"db_bench log", "benchmark_fillrandom.log", fixture(t, "dbbench/fillrandom.log"), rocksdb, "", false},
	}
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			read := func(text string) *bench.Batch {
				return readFiles(t, map[string]string{p.path: text}, p.flags)
			}
			whole := read(p.text)
			if f := whole.Files[0]; f.State != bench.FileTaken || len(held(whole)) == 0 {
				t.Fatalf("%s %v", f.State, f.Messages)
			}
			had, said := held(whole), told(whole)
			texts := oddCells(p.text)
			if p.header != "" {
				texts = append(texts, oddColumns(p.text, p.header)...)
			}
			if len(texts) < 20 {
				t.Fatalf("%d odd texts", len(texts))
			}
			wrong := 0
			for i, x := range append(texts, oddLines(p.text)...) {
				line := i >= len(texts)
				if line && !p.lines {
					break
				}
				b := read(x.text)
				has := held(b)
				var less []string
				for kind, n := range had {
					if has[kind] < n {
						less = append(less, fmt.Sprintf("%s: %d of %d", kind, has[kind], n))
					}
				}
				if line {
					less = append(less, "the line")
				}
				news := false
				for text := range told(b) {
					news = news || !said[text]
				}
				if len(less) > 0 && !news {
					slices.Sort(less)
					t.Errorf("%s: nothing is said of what is missing: %s", x.what, strings.Join(less, ", "))
					if wrong++; wrong > 20 {
						t.FailNow()
					}
				}
			}
		})
	}
}

// A text that ends early says so, wherever the cut is.
func TestCutTextsAreTold(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		path, fixture string
		flags         bench.Context
	}{
		{"fio.txt", "fio/randread-3.33.txt", fioFlags},
		{"fio.txt", "fio/randread-2.16-by-hand.txt", fioFlags},
		{"fio.txt", "fio/mixed-3.33.txt", fioFlags},
		{"fio.json", "fio/randread-3.33.json", fioFlags},
		{"fio.txt", "fio/terse-4.txt", fioFlags},
		{"perf.txt", "stateperf/block-sizes-by-hand.txt", bench.Context{Server: "n2", Workload: "io"}},
	} {
		text := fixture(t, p.fixture)
		whole := mustRead(t, p.path, text, p.flags)
		had, said := held(whole), told(whole)
		lines := strings.SplitAfter(text, "\n")
		for i := 1; i < len(lines)-1; i++ {
			cut := strings.Join(lines[:i], "")
			b := mustRead(t, p.path, cut, p.flags)
			if b.Files[0].State == bench.FileRefused {
				continue
			}
			less, news := false, false
			for kind, n := range held(b) {
				less = less || n < had[kind]
			}
			less = less || len(held(b)) < len(had)
			for text := range told(b) {
				news = news || !said[text]
			}
			if less && !news {
				t.Errorf("%s cut after line %d: %v of %v", p.fixture, i, held(b), had)
			}
		}
	}
}

func TestFiguresThatFIODoesNotPrintAreNamed(t *testing.T) {
	t.Parallel()
	whole := fixture(t, "fio/randread-3.33.json")
	from := strings.Index(whole, `"percentile" : {`)
	to := from + strings.Index(whole[from:], "}") + 1
	for what, text := range map[string]string{
		"not in fio's output, or no figures: percentiles": whole[:from] + `"other" : {}` + whole[to:],
		`not a figure: "NaN"`:                             regexp.MustCompile(`"iops" : [0-9.]+`).ReplaceAllString(whole, `"iops" : NaN`),
		"no figures: iops":                                regexp.MustCompile(`"iops" : [0-9.]+`).ReplaceAllString(whole, `"iops" : NaN`),
		"-5: no such figure":                              regexp.MustCompile(`"iops" : [1-9][0-9.]+`).ReplaceAllString(whole, `"iops" : -5`),
	} {
		_, r := onlyResult(t, mustRead(t, "fio.json", text, fioFlags))
		if !warned(r, what) {
			t.Errorf("%s: %v", what, r.Warnings)
		}
	}
}

func TestColumnsThatAreNotKnownAreNamedWithEveryCell(t *testing.T) {
	t.Parallel()
	says := func(r *bench.Result, column, cell string) bool {
		return slices.ContainsFunc(r.Warnings, func(m bench.Message) bool {
			return m.Column == column && m.Line == r.Sources[0].Line && strings.Contains(m.Text, fmt.Sprintf("%q", cell))
		})
	}
	metrics := strings.Replace(ibenchHeader, "maxop", "maxopp", 1) + "\n" + ibenchInsert + "\t" + ibenchTagA0 + "\n" + ibenchInsert + "\t" + ibenchTagA1 + "\n"
	b := mustRead(t, "mrg.l.i1", metrics, ibenchIO)
	for i := range b.Runs {
		if r := &b.Runs[i].Results[0]; !says(r, "maxopp", "0.107") { // the cell of ibenchInsert
			t.Errorf("%v", r.Warnings)
		}
	}
	// Of two columns for one metric the first counts.
	b = mustRead(t, "mrg.l.i1", strings.Replace(ibenchHeader, "dbgb2", "dbgb", 1)+"\n"+ibenchInsert+"\t"+ibenchTagA0+"\n", ibenchIO)
	_, r := onlyResult(t, b)
	if !says(r, "dbgb", "57.2") || numbersOf(r)["db_size_gb"] != 57.0 {
		t.Errorf("%v %v", r.Warnings, r.Values)
	}
	report := fixture(t, "tables/report.7.8.tsv")
	header, rows, _ := strings.Cut(report, "\n")
	for strings.HasPrefix(header, "#") || header == "" {
		header, rows, _ = strings.Cut(rows, "\n")
	}
	names := strings.Split(header, "\t")
	at := slices.Index(names, "usec_op")
	for _, name := range []string{"usec_per_op", "ops/sec"} { // unknown; that of another column
		b = mustRead(t, "report.tsv", strings.Replace(report, "\tusec_op\t", "\t"+name+"\t", 1), someContext)
		if !said(b.Warnings, name) {
			t.Errorf("%s: %v", name, b.Warnings)
		}
		lines := strings.Split(report, "\n")
		n := 0
		for i := range b.Runs {
			for j := range b.Runs[i].Results {
				r := &b.Runs[i].Results[j]
				cells := strings.Split(lines[r.Sources[0].Line-1], "\t")
				if n++; !says(r, name, cells[at]) || len(cells) != len(names) {
					t.Errorf("%s of line %d: %v", name, r.Sources[0].Line, r.Warnings)
				}
			}
		}
		if n == 0 {
			t.Error("no results")
		}
	}
}
