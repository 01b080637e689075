package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func TestWhatPathsState(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path    string
		want    bench.Context
		options map[string]string
	}{
		{"report.tsv", bench.Context{}, nil},
		{"res.byrx/bm.lc.nt16.cm1.d0/6.29.gcc/report.tsv", bench.Context{Workload: "cached", Clients: 16, Version: "6.29", Compiler: "gcc"},
			map[string]string{"compaction_style": "leveled", "use_direct_reads": "false", "use_direct_io_for_flush_and_compaction": "false", "cache_index_and_filter_blocks": "true"}},
		{"res.iodir_lz4.try2/bm.uc.nt1.d1.sc4.tm/v10.8.clang.lto/benchmark_x.log", bench.Context{Workload: "iodir_lz4", Clients: 1, Version: "10.8", Compiler: "clang+lto"},
			map[string]string{"compaction_style": "universal", "use_direct_reads": "true", "use_direct_io_for_flush_and_compaction": "true", "subcompactions": "4", "trivial_move": "true"}},
		{"bm.bc.nt8.cm0.d0/8.0.fb/report.tsv", bench.Context{Clients: 8, Version: "8.0.fb", Compiler: "gcc"},
			map[string]string{"compaction_style": "blob", "use_direct_reads": "false", "use_direct_io_for_flush_and_compaction": "false", "cache_index_and_filter_blocks": "false"}},
		{"byos/sum.txt", bench.Context{Workload: "cached-by-os"}, nil},
		{"iodir/deep/er/sum.txt", bench.Context{Workload: "iodir"}, nil},
		{"7.8.3/report.tsv", bench.Context{Version: "7.8.3", Compiler: "gcc"}, nil},
		// A number is a build only where builds stand.
		{"7.8/results/report.tsv", bench.Context{}, nil},
		{"2023.11/report.tsv", bench.Context{}, nil},
		{"local-run.7.8.3/raw.log", bench.Context{}, nil},
		{"bm.xx.nt8/report.tsv", bench.Context{}, nil},
		// A base name states nothing.
		{"x/byrx", bench.Context{}, nil},
		{"./a/../res.iobuf/sum.txt", bench.Context{Workload: "iobuf"}, nil},
	} {
		got, options, err := pathContext(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.path, diff)
		}
		if diff := cmp.Diff(tt.options, options); diff != "" {
			t.Errorf("%s: %s", tt.path, diff)
		}
	}
}

func TestPathsThatContradictThemselves(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"res.byrx/iodir/sum.txt":                          `workload: the path res.byrx says "cached", its directory iodir says "iodir"`,
		"bm.lc.nt8.d0/8.0.gcc/bm.lc.nt4.d0/8.0.gcc/x.tsv": "clients",
		"bm.lc.nt8.d0/8.0.gcc/9.0.gcc/report.tsv":         "version",
	} {
		if _, _, err := pathContext(path); bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestWhatNamesHint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path       string
		want       bench.Context
		serverFrom string
	}{
		{"sum.byrx.clang.lto.txt", bench.Context{Workload: "cached", Compiler: "clang+lto"}, ""},
		{"sum.iodir.6x.txt", bench.Context{Workload: "iodir"}, ""},
		{"sum.byrx.hcc.txt", bench.Context{Workload: "cached", Config: "hcc"}, ""},
		{"sum.byrx.lru.txt", bench.Context{Workload: "cached", Config: "lru"}, ""},
		{"sum.nt40.txt", bench.Context{Clients: 40}, ""},
		{"nov23.c2.db_bench/sum.byrx.4x.txt", bench.Context{Server: "c2", Workload: "cached"}, "nov23.c2.db_bench"},
		{"nov23.u.db_bench.8x/u5/sum.byrx.8x.txt", bench.Context{Server: "u5", Workload: "cached"}, "u5"},
		{"nov23.u.db_bench.8x/sum.txt", bench.Context{Server: "u"}, "nov23.u.db_bench.8x"},
		{"dec25.dbb.clang/8core/sum.byrx.txt", bench.Context{Server: "8core", Workload: "cached", Compiler: "clang"}, "8core"},
		{"dec25.dbb.clang/sum.byrx.txt", bench.Context{Workload: "cached", Compiler: "clang"}, ""},
		{"dec25.dbb.gcp.8core.arm/byrx/sum.txt", bench.Context{Server: "gcp.8core.arm"}, "dec25.dbb.gcp.8core.arm"},
		{"may25.db_bench/ser7/byrx/sum.txt", bench.Context{Server: "ser7"}, "ser7"},
		{"aws_variance_rocksdb/m5.2x.ht0/sum.txt", bench.Context{Server: "m5.2x.ht0"}, "m5.2x.ht0"},
		{"aug23.c2.db_bench.nt10_to_nt50/sum.nt10.txt", bench.Context{Server: "c2", Clients: 10}, "aug23.c2.db_bench.nt10_to_nt50"},
		{"2024-05-31/ax162/results/bm.lc.nt8.d0/8.0.gcc/report.tsv", bench.Context{Server: "ax162"}, "ax162"},
		{"results/data/report.tsv", bench.Context{}, ""},
	} {
		got, from := pathHints(tt.path)
		if diff := cmp.Diff(tt.want, got); diff != "" || from != tt.serverFrom {
			t.Errorf("%s: from %q, %s", tt.path, from, diff)
		}
	}
}

func TestOrderOfWhatDecides(t *testing.T) {
	t.Parallel()
	row := sumRow("11", "fillseq", "2023-01-01T00:00:01", "6.29.5")
	text := headerR5 + "\n" + row
	for _, tt := range []struct {
		name, path string
		flags      bench.Context
		want       bench.Context
		assumed    []string
		refused    string
	}{
		{"a directory beats a name", "c2/bm.lc.nt8.d0/6.29.gcc/report.clang.tsv", bench.Context{Workload: "cached"},
			bench.Context{Server: "c2", Workload: "cached", Version: "6.29.5", Compiler: "gcc", Clients: 8}, nil, ""},
		{"a flag beats a hint", "c2/sum.byrx.clang.txt", bench.Context{Server: "arm", Workload: "iodir", Compiler: "gcc", Config: "x", Clients: 3},
			bench.Context{Server: "arm", Workload: "iodir", Version: "6.29.5", Compiler: "gcc", Config: "x", Clients: 3}, nil, ""},
		{"a hint beats the convention", "c2/sum.byrx.clang.txt", bench.Context{},
			bench.Context{Server: "c2", Workload: "cached", Version: "6.29.5", Compiler: "clang"}, nil, ""},
		{"the convention is gcc", "c2/sum.byrx.txt", bench.Context{},
			bench.Context{Server: "c2", Workload: "cached", Version: "6.29.5", Compiler: "gcc"}, []string{"compiler"}, ""},
		{"a flag may be less exact than a row", "c2/sum.byrx.txt", bench.Context{Version: "6.29", Compiler: "clang-lto"},
			bench.Context{Server: "c2", Workload: "cached", Version: "6.29.5", Compiler: "clang+lto"}, nil, ""},
		{"names of workloads are the project's", "c2/x.txt", bench.Context{Workload: "byos"},
			bench.Context{Server: "c2", Workload: "cached-by-os", Version: "6.29.5", Compiler: "gcc"}, []string{"compiler"}, ""},
		{"a flag against a directory", "c2/iodir/report.tsv", bench.Context{Workload: "cached"}, bench.Context{}, nil,
			`workload: the path c2/iodir/report.tsv says "iodir", what was given with the upload says "cached"`},
		{"a directory against a row", "c2/byrx/bm.lc.nt8.d0/7.0.gcc/report.tsv", bench.Context{}, bench.Context{}, nil,
			`version: line 2 says "6.29.5", the path c2/byrx/bm.lc.nt8.d0/7.0.gcc/report.tsv says "7.0"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := mustRead(t, tt.path, text, tt.flags)
			f := onlyFile(t, b)
			if tt.refused != "" {
				if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, tt.refused) {
					t.Errorf("%+v, want %q", f, tt.refused)
				}
				return
			}
			run, _ := onlyResult(t, b)
			got := bench.Context{Server: run.Server, Workload: run.Workload, Version: run.Build.Version, Compiler: run.Build.Compiler, Config: run.Config, Clients: run.Clients}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.assumed, run.Assumed); diff != "" {
				t.Error(diff)
			}
			if run.System != "rocksdb" || run.Suite != "db_bench" {
				t.Errorf("%s %s", run.System, run.Suite)
			}
		})
	}
}

func TestContextThatNobodyStatedIsSaidOncePerUpload(t *testing.T) {
	t.Parallel()
	row := sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0")
	other := sumRow("12", "fillseq", "2023-01-02T00:00:01", "8.1.1")
	files := map[string]string{"nov23.c2.db_bench/sum.byrx.8x.txt": headerR5 + "\n" + row, "nov23.c2.db_bench/sum.iodir.8x.txt": headerR5 + "\n" + other}
	b, err := Read(tarOf(t, files), "x.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Warnings) != 2 || !strings.Contains(b.Warnings[0].Text, "server c2 taken from the folder name nov23.c2.db_bench") ||
		!strings.Contains(b.Warnings[1].Text, "compiler gcc assumed") || !strings.Contains(b.Warnings[1].Text, "2 files") {
		t.Errorf("%v", b.Warnings)
	}
	if b, err = Read(tarOf(t, files), "x.tar", bench.Context{Server: "c2", Compiler: "gcc"}, Limits{}); err != nil || len(b.Warnings) != 0 {
		t.Errorf("what was stated is warned about: %v %v", b.Warnings, err)
	}
}
