// Package testdata finds what tests need and the repository does not hold:
// programs, and third-party data that may not be committed.
//
// The folder's name keeps it out of the pattern ./...; name it to vet or test it.
package testdata

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Shared gives the folder of third-party data: $RELQPS_SHARED, else a folder
// named "shared" beside the checkout. Where there is none, it skips the test,
// under CI as well: that data is optional, and no suite may depend on it alone.
func Shared(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("RELQPS_SHARED"); dir != "" {
		if !isDir(dir) {
			t.Fatalf("RELQPS_SHARED names %s, which is no folder", dir)
		}
		return dir
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, ok := sharedFrom(wd)
	if !ok {
		t.Skip("skipped: no shared data (set RELQPS_SHARED, or put a folder named shared beside the checkout)")
	}
	return dir
}

// sharedFrom walks up from a folder to the checkout, which is where go.mod
// lies, and looks beside it.
func sharedFrom(dir string) (string, bool) {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			shared := filepath.Join(filepath.Dir(dir), "shared")
			return shared, isDir(shared)
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
		dir = filepath.Dir(dir)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// NeedProgram gives the path of the first of the named programs that is
// installed: a name is looked up in PATH, a path with a slash is taken as it
// is. Without any the test is skipped, or fails under CI; see [Missing].
func NeedProgram(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "none of these programs is installed: %q", names)
	return ""
}

// Missing ends a test that lacks something it needs, with a line that says
// what: as skipped on somebody's machine, as failed where the environment
// variable CI is set, because there everything is installed.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if InCI() {
		t.Fatalf("missing under CI: "+format, args...)
	}
	t.Skipf("skipped: "+format, args...)
}

// InCI reports whether the environment variable CI says that this is an
// automated run: it is set to something other than "false" or "0".
func InCI() bool {
	switch os.Getenv("CI") {
	case "", "0", "false":
		return false
	}
	return true
}
