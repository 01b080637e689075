package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// unitNames gives units as name: paths inside.
func unitNames(t *testing.T, root string, arguments ...string) []string {
	t.Helper()
	units, err := Units(root, arguments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range units {
		data, err := u.Bytes(Limits{})
		if err != nil {
			t.Fatal(err)
		}
		line := u.Name + ":"
		if strings.HasSuffix(u.Name, ".tar") {
			entries, err := unpack(data, u.Name, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				line += " " + e.path
			}
		} else {
			line += " " + string(data)
		}
		got = append(got, line)
	}
	return got
}

func TestUnitsOfDirectories(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"nov23.c2.db_bench/abs.byrx.4x.tsv":                        "1\t2\tfillseq\n",
		"nov23.c2.db_bench/sum.byrx.4x.txt":                        headerR5 + "\n",
		"nov23.c2.db_bench/.hidden":                                "x",
		"nov23.c2.db_bench/.git/config":                            "x",
		"nov23.u.db_bench/u5/sum.byrx.8x.txt":                      "bm.lc.nt1.d0/8.0.gcc/report.tsv\n\n" + headerR5 + "\n",
		"run/bm.lc.nt2.d0/summary.tsv":                             "bm.lc.nt2.d0/7.8.gcc/report.tsv\n\n" + headerR5 + "\n",
		"run/bm.lc.nt2.d0/args":                                    "x",
		"run/bm.lc.nt2.d0/7.8.gcc/report.tsv":                      headerR5 + "\n",
		"run/bm.lc.nt2.d0/7.8.gcc/benchmark_x.log":                 "x",
		"arm/sum2.byrx.clang.txt":                                  headerR5 + "\n",
		"journal/0123/run.json":                                    "{}",
		"journal/0123/steps/01-x/stdout":                           "x",
		"builds/7.8.gcc/benchmark_fillseq.wal_disabled.v400.log":   "x",
		"builds/7.8.gcc/benchmark_fillseq.wal_disabled.v400.log.t": "x",
	})
	got := unitNames(t, root, "arm", "nov23.c2.db_bench", "nov23.u.db_bench", "run", "journal", "builds", "nov23.c2.db_bench/abs.byrx.4x.tsv")
	want := []string{
		"nov23.u.db_bench/u5.tar: nov23.u.db_bench/u5/sum.byrx.8x.txt",
		"run/bm.lc.nt2.d0.tar: run/bm.lc.nt2.d0/7.8.gcc/benchmark_x.log run/bm.lc.nt2.d0/7.8.gcc/report.tsv run/bm.lc.nt2.d0/args run/bm.lc.nt2.d0/summary.tsv",
		"journal/0123.tar: journal/0123/run.json journal/0123/steps/01-x/stdout",
		"builds/7.8.gcc.tar: builds/7.8.gcc/benchmark_fillseq.wal_disabled.v400.log builds/7.8.gcc/benchmark_fillseq.wal_disabled.v400.log.t",
		"nov23.c2.db_bench.tar: nov23.c2.db_bench/abs.byrx.4x.tsv nov23.c2.db_bench/sum.byrx.4x.txt",
		"arm.tar: arm/sum2.byrx.clang.txt",
		"abs.byrx.4x.tsv: 1\t2\tfillseq\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestArgumentDotHasAName(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"nov23.c2.db_bench/sum.byrx.4x.txt": headerR5 + "\n"})
	got := unitNames(t, filepath.Join(root, "nov23.c2.db_bench"), ".")
	if diff := cmp.Diff([]string{"nov23.c2.db_bench.tar: nov23.c2.db_bench/sum.byrx.4x.txt"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEqualFilesMakeEqualBytes(t *testing.T) {
	t.Parallel()
	files := map[string]string{"d/b.txt": "2", "d/a.txt": "1"}
	one, two := tree(t, files), tree(t, files)
	if err := os.Chtimes(filepath.Join(two, "d", "a.txt"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(two, "d", "b.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, root := range []string{one, two} {
		units, err := Units(root, []string{"d"})
		if err != nil || len(units) != 1 {
			t.Fatal(units, err)
		}
		data, err := units[0].Bytes(Limits{})
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, hexSum(data))
	}
	if sums[0] != sums[1] {
		t.Errorf("%s, %s", sums[0], sums[1])
	}
}

func TestUnitsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"d/a.txt": "123456"})
	if _, err := Units(root, []string{"absent"}); bench.KindOf(err) != bench.KindNotFound || !strings.Contains(err.Error(), "absent") {
		t.Errorf("%v", err)
	}
	if err := os.MkdirAll(filepath.Join(root, "empty", "deeper"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "empty", ".hidden"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{{"empty"}, {"d", "empty"}} {
		if _, err := Units(root, arguments); bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "empty: the directory holds no file") {
			t.Errorf("%v: %v", arguments, err)
		}
	}
	units, err := Units(root, []string{"d"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := units[0].Bytes(Limits{Bytes: 5}); bench.KindOf(err) != bench.KindTooLarge {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(root, "d", "a.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := units[0].Bytes(Limits{}); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("a file that went away: %v", err)
	}
}

func TestLinksToFilesAreFollowedLinksToFoldersAreNot(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"real/a.txt": "1", "d/b.txt": "2"})
	for link, target := range map[string]string{"d/a.txt": "../real/a.txt", "d/loop": "..", "d/gone": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"d.tar: d/a.txt d/b.txt"}, unitNames(t, root, "d")); diff != "" {
		t.Error(diff)
	}
}

func TestLargeResultDirectoriesAreSplitByBuild(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1+resultDirBytes/2)
	root := tree(t, map[string]string{"bm.lc.nt2.d0/args": "x", "bm.lc.nt2.d0/7.8.gcc/report.tsv": big, "bm.lc.nt2.d0/8.0.gcc/report.tsv": big})
	want := []string{
		"bm.lc.nt2.d0.tar: bm.lc.nt2.d0/args",
		"bm.lc.nt2.d0/7.8.gcc.tar: bm.lc.nt2.d0/7.8.gcc/report.tsv",
		"bm.lc.nt2.d0/8.0.gcc.tar: bm.lc.nt2.d0/8.0.gcc/report.tsv",
	}
	if diff := cmp.Diff(want, unitNames(t, root, "bm.lc.nt2.d0")); diff != "" {
		t.Error(diff)
	}
}

func TestArgumentsBringTheResultDirectoriesAboveThem(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"/x/res.byrx/bm.lc.nt8.d0/8.8.gcc/report.tsv": "res.byrx/bm.lc.nt8.d0/8.8.gcc/report.tsv",
		"/x/dec25.dbb/byrx/summary.tsv":               "byrx/summary.tsv",
		"/x/iodir/bm.lc.nt8.d1":                       "iodir/bm.lc.nt8.d1",
		"/x/8.8/report.tsv":                           "report.tsv", // a folder that may mean anything
		"/x/y/report.tsv":                             "report.tsv",
		"/report.tsv":                                 "report.tsv",
	} {
		if got := contextBase(at); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}
