// Package testdata decides for tests what happens when something they use is not there: data sets that are no part of
// the repository, and programs that have to be installed.
package testdata

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// EnvShared is the environment variable that names the folder of Shared.
const EnvShared = "RELQPS_SHARED"

// Shared returns the folder with the published result archives that some tests read beside their own data. It is what
// RELQPS_SHARED names, else a folder `shared` next to the checkout or next to one of the folders above it. Without one
// the test is skipped, under CI too: the archives are not ours to give away, and the suite is complete without them.
func Shared(t testing.TB) string {
	t.Helper()
	dir, err := findShared(os.Getenv(EnvShared))
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Skipf("no folder `shared` next to the checkout and %s is not set: the published archives are not compared with", EnvShared)
	}
	return dir
}

// findShared returns the folder, or "" where there is none. A folder that was named must exist.
func findShared(named string) (string, error) {
	if named != "" {
		if !isDir(named) {
			return "", fmt.Errorf("%s=%s is not a folder", EnvShared, named)
		}
		return filepath.Abs(named)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	checkout := false
	for {
		// Only from the checkout upwards: a package of ours may be called shared one day.
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			checkout = true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		if shared := filepath.Join(parent, "shared"); checkout && isDir(filepath.Join(shared, "data")) {
			return shared, nil
		}
		dir = parent
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Need ends the test when err, which says that a component is missing, is not nil: on a developer's machine the test
// is skipped with the error's text; where CI is set it fails, so that a missing component is never taken for a success.
func Need(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if ci() {
		t.Fatalf("%v; this test must run under CI (scripts/test-deps.sh installs what tests need)", err)
	}
	t.Skipf("%v (scripts/test-deps.sh installs what tests need)", err)
}

// Program returns the path of a program on PATH that the test runs, such as db_bench. A missing one is treated as by
// Need.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Need(t, fmt.Errorf("%s is not installed", name))
	}
	return path
}

// ci says whether the tests run under continuous integration: CI is set to something that is not a plain no.
func ci() bool {
	switch os.Getenv("CI") {
	case "", "0", "false", "no":
		return false
	}
	return true
}
