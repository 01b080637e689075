package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

func TestBinarySaysWhatItIs(t *testing.T) {
	t.Parallel()
	program := testdata.NeedProgram(t, "db_bench")
	b, err := InspectBinary(t.Context(), "db_bench")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if b.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("SHA256 %s is not that of %s", b.SHA256, program)
	}
	if !filepath.IsAbs(b.Path) {
		t.Errorf("path %q is not absolute", b.Path)
	}
	if out, err := exec.Command(program, "--version").Output(); err == nil {
		if want := "db_bench version " + b.Version; strings.TrimSpace(string(out)) != want {
			t.Errorf("version %q, the program says %q", b.Version, out)
		}
	}
	if _, ok := bench.Minor(b.Version); !ok {
		t.Errorf("version %q has no minor release", b.Version)
	}
}

func TestProgramThatIsNoBenchmark(t *testing.T) {
	t.Parallel()
	if _, err := InspectBinary(t.Context(), "no-such-program-here"); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("missing program: %v, want kind not_found", err)
	}
	if _, err := InspectBinary(t.Context(), "true"); bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "is it db_bench?") {
		t.Errorf("another program: %v, want kind invalid", err)
	}
}

func TestVersionIsReadFromWhatReleasesPrint(t *testing.T) {
	t.Parallel()
	if got := versionOf([]byte("db_bench version 7.8.3\n")); got != "7.8.3" {
		t.Errorf("--version of 7.8.3: %q", got)
	}
	if got := versionOf([]byte("ERROR: unknown command line flag 'x'\n")); got != "" {
		t.Errorf("no version: %q", got)
	}
	for text, want := range map[string]string{
		"Set seed to 3 because --seed was 0\nRocksDB:    version 9.8.4\nDate:       Mon Nov 30 14:11:01 2026\n": "9.8.4",
		"... finished 100 ops\rRocksDB:    version 6.17\nDate: x\n":                                             "6.17",
		"LevelDB:    version 3.8\n": "",
	} {
		if got := headerVersion([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	dir := t.TempDir()
	for i, test := range []struct{ text, version, git string }{
		{"2026/11/30-13:32:39.585124 27221 RocksDB version: 7.8.3\n2026/11/30-13:32:39.585224 27221 Git sha 0\n", "7.8.3", ""},
		{"2023/11/09-16:54:47.1 7f RocksDB version: 6.29.5\n2023/11/09-16:54:47.1 7f Git sha rocksdb_build_git_sha:5fbbc5fb1c9e4d0f0d6e4e3d2b1f0a9c8d7e6f5a\n", "6.29.5", "5fbbc5fb1c"},
		{"2023/11/09-16:54:47.1 7f RocksDB version: 5.18.4\n2023/11/09-16:54:47.1 7f Git sha rocksdb_build_git_sha:@\n", "5.18.4", ""},
		{"", "", ""},
	} {
		name := filepath.Join(dir, "LOG"+string(rune('0'+i)))
		write(t, name, test.text)
		if version, git := logHead(name); version != test.version || git != test.git {
			t.Errorf("LOG %d: version %q, git %q, want %q, %q", i, version, git, test.version, test.git)
		}
	}
	if version, git := logHead(filepath.Join(dir, "none")); version != "" || git != "" {
		t.Errorf("no LOG: %q, %q", version, git)
	}
}

func TestCompilerIsReadOnlyWhereTheBinaryIsUnambiguous(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ comment, name, version string }{
		{"GCC: (Debian 12.2.0-14) 12.2.0\x00", "gcc", "12.2.0"},
		{"GCC: (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\x00GCC: (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\x00", "gcc", "13.3.0"},
		{"GCC: (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\x00GCC: (Ubuntu 13.2.0-4ubuntu3) 13.2.0\x00", "gcc", ""},
		{"GCC: (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\x00Ubuntu clang version 18.1.3 (1ubuntu1)\x00", "", ""},
		{"Ubuntu clang version 18.1.3 (1ubuntu1)\x00", "", ""},
		{"Linker: LLD 18.1.3\x00", "", ""},
		{"", "", ""},
	} {
		if name, version := compilerComment(test.comment); name != test.name || version != test.version {
			t.Errorf("%q: %q %q, want %q %q", test.comment, name, version, test.name, test.version)
		}
	}
	if name, _ := compilerOf("binary_test.go"); name != "" {
		t.Errorf("a text file was made by %q", name)
	}
	if runtime.GOOS == "linux" {
		// The test binary is made by Go, whatever links it.
		if name, _ := compilerOf("/proc/self/exe"); name != "" && name != "gcc" {
			t.Errorf("this program was made by %q", name)
		}
	}
}
