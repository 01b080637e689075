package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// sumRow makes a row with the cells that identify it.
func sumRow(ops, test, date, version string) string {
	return rowR5(map[string]string{"ops_sec": ops, "mb_sec": "1.5", "test": test, "date": date, "version": version, "githash": "h" + version})
}

// sumText joins blocks of rows, each with the header before it.
func sumText(paths []string, blocks ...[]string) string {
	var s strings.Builder
	for _, p := range paths {
		s.WriteString(p + "\n")
	}
	for _, rows := range blocks {
		if s.Len() > 0 {
			s.WriteString("\n")
		}
		s.WriteString(headerR5 + "\n")
		for _, r := range rows {
			s.WriteString(r + "\n")
		}
	}
	return s.String()
}

// runsOf gives runs as lines: build, clients, primary figures.
func runsOf(b *bench.Batch) []string {
	var lines []string
	for i := range b.Runs {
		run := &b.Runs[i]
		line := fmt.Sprintf("%s %s %d:", run.Build.Version, run.Build.Compiler, run.Clients)
		for _, r := range run.Results {
			line += " " + r.PrimaryText
		}
		lines = append(lines, line)
	}
	return lines
}

func TestPathListNamesTheBuilds(t *testing.T) {
	t.Parallel()
	paths := []string{"bm.lc.nt4.cm1.d1/6.29.gcc/report.tsv", "bm.lc.nt4.cm1.d1/8.0.fb/report.tsv", "bm.lc.nt4.cm1.d1/6.29.clang.lto/report.tsv"}
	text := sumText(paths,
		[]string{sumRow("11", "fillseq", "2023-01-01T00:00:01", "6.29.5"), sumRow("12", "fillseq", "2023-01-02T00:00:01", "8.0.0"), sumRow("13", "fillseq", "2023-01-03T00:00:01", "6.29.5")},
		[]string{sumRow("21", "readrandom.t4", "2023-01-01T00:00:02", "6.29.5"), sumRow("22", "readrandom.t4", "2023-01-02T00:00:02", "8.0.0"), sumRow("23", "readrandom.t4", "2023-01-03T00:00:02", "6.29.5")},
	)
	b := mustRead(t, "summary.tsv", text, bench.Context{Server: "s1", Workload: "iodir"})
	if f := onlyFile(t, b); f.State != bench.FileTaken || f.Format != "summary.tsv" {
		t.Fatalf("%+v", f)
	}
	if diff := cmp.Diff([]string{"6.29.5 gcc 4: 11 21", "8.0.0 gcc 4: 12 22", "6.29.5 clang+lto 4: 13 23"}, runsOf(b)); diff != "" {
		t.Error(diff)
	}
	for _, run := range b.Runs {
		if len(run.Assumed) != 0 {
			t.Errorf("%s: assumed %v though its path names it", run.Build.Version, run.Assumed)
		}
		want := map[string]string{"compaction_style": "leveled", "use_direct_reads": "true", "use_direct_io_for_flush_and_compaction": "true", "cache_index_and_filter_blocks": "true"}
		if diff := cmp.Diff(want, run.Options); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]bench.Source{{File: "summary.tsv", Line: 12}}, b.Runs[1].Results[1].Sources); diff != "" {
		t.Error(diff)
	}
}

func TestPathWhoseBuildIsNotUnderstood(t *testing.T) {
	t.Parallel()
	paths := []string{"bm.lc.nt4.d0/8.0.gcc/report.tsv", "bm.lc.nt4.d0/my.build/report.tsv"}
	text := sumText(paths, []string{sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0"), sumRow("12", "fillseq", "2023-01-02T00:00:01", "8.0.0")})
	b := mustRead(t, "sum.byrx.txt", text, bench.Context{Server: "s1"})
	if diff := cmp.Diff([]string{"8.0.0 gcc 4: 11", "8.0.0 gcc 4: 12"}, runsOf(b)); diff != "" {
		t.Fatal(diff)
	}
	if len(b.Runs[0].Assumed) != 0 || len(b.Runs[1].Assumed) != 1 {
		t.Errorf("assumed %v, %v", b.Runs[0].Assumed, b.Runs[1].Assumed)
	}
	if len(b.Warnings) != 2 || b.Warnings[1].Line != 2 || !strings.Contains(b.Warnings[1].Text, "my.build") {
		t.Errorf("%v", b.Warnings)
	}
}

func TestPathListThatDoesNotFitRefusesTheFile(t *testing.T) {
	t.Parallel()
	paths := []string{"bm.lc.nt4.d0/6.29.gcc/report.tsv", "bm.lc.nt4.d0/8.0.gcc/report.tsv"}
	good := []string{sumRow("11", "fillseq", "2023-01-01T00:00:01", "6.29.5"), sumRow("12", "fillseq", "2023-01-02T00:00:01", "8.0.0")}
	for _, tt := range []struct {
		name  string
		paths []string
		block []string
		flags bench.Context
		want  []string // in the messages
	}{
		{"a row too few", paths, []string{sumRow("22", "readrandom.t4", "2023-01-02T00:00:02", "8.0.0")}, bench.Context{}, []string{":8: lines 9 to 9: 1 rows of readrandom.t4 for the 2 paths"}},
		{"a row too many", paths, append([]string{sumRow("1", "readrandom.t4", "2023-01-02T00:00:02", "8.0.0")}, good...), bench.Context{}, []string{":8: lines 9 to 11: 3 rows"}},
		{"a row of another version", paths, []string{good[1], good[0]}, bench.Context{}, []string{`:9: version: line 9 says "8.0.0", path 1 of the list (bm.lc.nt4.d0/6.29.gcc/report.tsv) says "6.29"`}},
		{"a path that contradicts itself", []string{"bm.lc.nt4.d0/6.29.gcc/report.tsv", "bm.lc.nt4.d0/bm.lc.nt8.d0/8.0.gcc/report.tsv"}, good, bench.Context{}, []string{"clients"}},
		{"a compiler that the flags contradict", paths, good, bench.Context{Compiler: "clang"}, []string{`compiler: line 5 with its path bm.lc.nt4.d0/6.29.gcc/report.tsv says "gcc", what was given with the upload says "clang"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.flags.Server, tt.flags.Workload = "s1", "cached"
			b := mustRead(t, "sum.byrx.txt", sumText(tt.paths, good, tt.block), tt.flags)
			f := onlyFile(t, b)
			if f.State != bench.FileRefused || len(b.Runs) > 0 {
				t.Fatalf("%s, %d runs", f.State, len(b.Runs))
			}
			for _, want := range tt.want {
				if !strings.Contains(fmt.Sprint(f.Messages), want) {
					t.Errorf("%v\nlacks %q", f.Messages, want)
				}
			}
		})
	}
}

func TestRowsWithoutPathListAreGroupedByBuildAndTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		blocks [][]string
		want   []string
	}{
		{"versions", [][]string{
			{sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0"), sumRow("12", "fillseq", "2023-01-02T00:00:01", "8.1.1")},
			{sumRow("21", "readrandom.t4", "2023-01-01T00:00:02", "8.0.0"), sumRow("22", "readrandom.t4", "2023-01-02T00:00:02", "8.1.1")},
		}, []string{"8.0.0 gcc 0: 11 21", "8.1.1 gcc 0: 12 22"}},
		{"a block of unequal length", [][]string{
			{sumRow("11", "overwrite.t4.s0", "2023-01-01T00:00:01", "8.0.0"), sumRow("12", "overwrite.t4.s0", "2023-01-02T00:00:01", "8.1.1")},
			{sumRow("22", "overwriteandwait.t4.s0", "2023-01-02T00:00:02", "8.1.1")},
		}, []string{"8.0.0 gcc 0: 11", "8.1.1 gcc 0: 12 22"}},
		{"a version run twice", [][]string{
			{sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0"), sumRow("12", "fillseq", "2023-01-09T00:00:01", "8.0.0")},
			{sumRow("21", "readrandom.t4", "2023-01-01T00:00:02", "8.0.0"), sumRow("22", "readrandom.t4", "2023-01-09T00:00:02", "8.0.0")},
		}, []string{"8.0.0 gcc 0: 11 21", "8.0.0 gcc 0: 12 22"}},
		{"two runs at the same time", [][]string{
			{sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0"), sumRow("12", "fillseq", "2023-01-01T00:00:02", "8.0.0")},
			{sumRow("21", "readrandom.t4", "2023-01-01T00:00:05", "8.0.0"), sumRow("22", "readrandom.t4", "2023-01-01T00:00:06", "8.0.0")},
		}, []string{"8.0.0 gcc 0: 11 21", "8.0.0 gcc 0: 12 22"}},
		{"the second of two runs broke off", [][]string{
			{sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0"), sumRow("12", "fillseq", "2023-01-09T00:00:01", "8.0.0")},
			{sumRow("21", "readrandom.t4", "2023-01-01T00:00:02", "8.0.0")},
		}, []string{"8.0.0 gcc 0: 11 21", "8.0.0 gcc 0: 12"}},
		{"a day without its zero sorts as a day", [][]string{
			{sumRow("11", "fillseq", "2023-01-9T00:00:01", "8.0.0"), sumRow("12", "fillseq", "2023-01-10T00:00:01", "8.0.0")},
			{sumRow("21", "readrandom.t4", "2023-01-9T00:00:02", "8.0.0"), sumRow("22", "readrandom.t4", "2023-01-10T00:00:02", "8.0.0")},
		}, []string{"8.0.0 gcc 0: 11 21", "8.0.0 gcc 0: 12 22"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := mustRead(t, "sum.byrx.txt", sumText(nil, tt.blocks...), bench.Context{Server: "s1", Workload: "cached"})
			if f := onlyFile(t, b); f.State != bench.FileTaken || f.Format != "sum.txt" {
				t.Fatalf("%+v", f)
			}
			if diff := cmp.Diff(tt.want, runsOf(b)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Builds that only their hash tells apart are not repeats of each other.
func TestAnotherHashIsAnotherBuild(t *testing.T) {
	t.Parallel()
	row := func(ops, test, date, hash string) string {
		return rowR5(map[string]string{"ops_sec": ops, "test": test, "date": date, "version": "8.5.0", "githash": hash})
	}
	b := mustRead(t, "sum.byrx.txt", sumText(nil,
		[]string{row("11", "fillseq", "2023-01-01T00:00:01", "aaa"), row("12", "fillseq", "2023-01-02T00:00:01", "bbb")},
		[]string{row("21", "readrandom.t4", "2023-01-01T00:00:02", "aaa"), row("22", "readrandom.t4", "2023-01-02T00:00:02", "bbb")},
	), someContext)
	if len(b.Runs) != 2 || b.Runs[0].Build.GitHash != "aaa" || b.Runs[1].Build.GitHash != "bbb" {
		t.Errorf("%v", runsOf(b))
	}
}

func TestTrailersAreChecked(t *testing.T) {
	t.Parallel()
	rows := []string{sumRow("1000", "fillseq", "2023-01-01T00:00:01", "8.0.0"), sumRow("981", "fillseq", "2023-01-02T00:00:01", "8.0.0")}
	more := []string{sumRow("10", "readrandom.t1", "2023-01-01T00:00:02", "8.0.0"), sumRow("10", "readrandom.t1", "2023-01-02T00:00:02", "8.0.0")}
	for _, tt := range []struct {
		name, trailer, wrong string
	}{
		{"the right ratio", "0.981", ""},
		{"a wrong ratio", "0.982", "the ratio 0.982 does not fit the rows above it, which give 0.981"},
		{"the inverse ratio", "1.019", "1.019 does not fit"},
		{"mean and deviation of the population", "mean=990.5\tstddev=9.5\tsdev/mean=0.010", ""},
		{"a wrong mean", "mean=990\tstddev=9.5\tsdev/mean=0.010", "mean 990 does not fit"},
		{"the deviation of a sample", "mean=990.5\tstddev=13.4\tsdev/mean=0.010", "stddev 13.4 does not fit"},
		{"a wrong quotient", "mean=990.5\tstddev=9.5\tsdev/mean=0.013", "sdev/mean 0.013 does not fit"},
		{"something else in it", "mean=990.5\tmedian=1", `not understood: "median=1"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := mustRead(t, "sum.txt", sumText(nil, append(append([]string{}, rows...), tt.trailer), more), someContext)
			if f := onlyFile(t, b); f.State != bench.FileTaken || len(f.Messages) != 0 {
				t.Fatalf("%+v", f)
			}
			if diff := cmp.Diff([]string{"8.0.0 gcc 0: 1000 10", "8.0.0 gcc 0: 981 10"}, runsOf(b)); diff != "" {
				t.Error(diff)
			}
			switch {
			case tt.wrong == "" && len(b.Warnings) != 0:
				t.Errorf("warnings %v", b.Warnings)
			case tt.wrong != "" && (len(b.Warnings) != 1 || b.Warnings[0].Line != 4 || !strings.Contains(b.Warnings[0].Text, tt.wrong)):
				t.Errorf("warnings %v, want line 4 with %q", b.Warnings, tt.wrong)
			}
		})
	}
}

func TestFilesOfMixedBuildsLeanOnWhatIsStored(t *testing.T) {
	t.Parallel()
	base := sumRow("11", "fillseq", "2023-01-01T00:00:01", "6.29.5")
	text := sumText(nil,
		[]string{base, base, sumRow("12", "fillseq", "2023-01-02T00:00:01", "7.0.4")},
		[]string{sumRow("21", "readrandom.t4", "2023-01-01T00:00:02", "6.29.5"), sumRow("22", "readrandom.t4", "2023-01-02T00:00:02", "7.0.4")},
	)
	for _, tt := range []struct {
		name  string
		flags bench.Context
		leans bool
	}{
		{"sum2.byrx.clang.txt", bench.Context{}, true},
		{"sum.byrx.both.txt", bench.Context{}, true},
		{"sum.byrx.clang.txt", bench.Context{}, false},
		{"sum2.byrx.clang.txt", bench.Context{Compiler: "clang"}, false},
	} {
		tt.flags.Server = "s1"
		b := mustRead(t, tt.name, text, tt.flags)
		n := 0
		for i := range b.Runs {
			for _, r := range b.Runs[i].Results {
				n++
				if r.ContextFromStore != tt.leans {
					t.Errorf("%s %v: %s leans %v", tt.name, tt.flags, r.PrimaryText, r.ContextFromStore)
				}
			}
		}
		if n != 4 {
			t.Errorf("%s: %d results, want 4: the base stands twice", tt.name, n)
		}
		if diff := cmp.Diff([]bench.Source{{File: tt.name, Line: 2}, {File: tt.name, Line: 3}}, b.Runs[0].Results[0].Sources); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMixedFileFindsItsBuildsInTheSameUpload(t *testing.T) {
	t.Parallel()
	gcc := sumRow("11", "fillseq", "2023-01-01T00:00:01", "6.29.5")
	clang := sumRow("12", "fillseq", "2023-01-02T00:00:01", "6.29.5")
	two := func(a string) []string { return []string{strings.Replace(a, "fillseq", "readrandom.t1", 1)} }
	data := tarOf(t, map[string]string{
		"byrx/sum.byrx.gcc.txt":    sumText(nil, []string{gcc}, two(gcc)),
		"byrx/sum.byrx.clang.txt":  sumText(nil, []string{clang}, two(clang)),
		"byrx/sum2.byrx.clang.txt": sumText(nil, []string{gcc, clang}, append(two(gcc), two(clang)...)),
	})
	b, err := Read(data, "x.tar", bench.Context{Server: "arm"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	plan := bench.Decide(b, bench.Keys(b), nil)
	if len(plan.New) != 4 || len(plan.Additions) != 4 || len(plan.Refused) != 0 {
		t.Errorf("%d new, %d additions, refused %v", len(plan.New), len(plan.Additions), plan.Refused)
	}
	for _, ref := range plan.New {
		if b.Runs[ref.Run].Results[ref.Result].ContextFromStore {
			t.Errorf("a row without build is new: %v", b.Runs[ref.Run].Results[ref.Result].Sources)
		}
	}
}
