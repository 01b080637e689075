package testdata

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a testing.TB that notes how a helper ended a test.
type recorder struct {
	testing.TB
	outcome string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.outcome = "fails: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.outcome = "skips: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// record runs a helper the way the testing package runs a test: on a goroutine that it may end.
func record(t *testing.T, helper func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t, outcome: "goes on"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		helper(r)
	}()
	<-done
	return r.outcome
}

func TestMissingComponentSkipsAtHomeAndFailsUnderCI(t *testing.T) {
	missing := errors.New("db_bench 7.8 is not installed")
	tests := []struct {
		ci   string
		err  error
		want string
	}{
		{"", missing, "skips: db_bench 7.8 is not installed"},
		{"false", missing, "skips: db_bench 7.8 is not installed"},
		{"true", missing, "fails: db_bench 7.8 is not installed"},
		{"1", missing, "fails: db_bench 7.8 is not installed"},
		{"true", nil, "goes on"},
		{"", nil, "goes on"},
	}
	for _, test := range tests {
		t.Setenv("CI", test.ci)
		got := record(t, func(tb testing.TB) { Need(tb, test.err) })
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("CI=%q, error %v: the test %s, want %s", test.ci, test.err, got, test.want)
		}
	}
}

func TestProgramIsLookedUpOnPath(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "measure")
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("CI", "true")
	if got := Program(t, "measure"); got != want {
		t.Errorf("Program = %q, want %q", got, want)
	}
	got := record(t, func(tb testing.TB) { Program(tb, "measure-more") })
	if !strings.HasPrefix(got, "fails: measure-more is not installed") {
		t.Errorf("a missing program: the test %s, want a failure that names it", got)
	}
}

func TestSharedFolderIsFoundNextToTheCheckout(t *testing.T) {
	top := t.TempDir()
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(top, "checkout", "ingest", "deep")
	for _, dir := range []string{inside, filepath.Join(top, "checkout", "shared", "data")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "checkout", "go.mod"), []byte("module x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(inside)
	if got, err := findShared(""); err != nil || strings.HasPrefix(got, top) {
		t.Errorf("without a folder beside the checkout: %q, %v, want none: one inside it does not count", got, err)
	}

	want := filepath.Join(top, "shared")
	if err := os.MkdirAll(filepath.Join(want, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := findShared(""); err != nil || got != want {
		t.Errorf("found %q, %v, want %q", got, err, want)
	}

	named := filepath.Join(top, "checkout", "shared")
	if got, err := findShared(named); err != nil || got != named {
		t.Errorf("a named folder: %q, %v, want %q", got, err, named)
	}
	if _, err := findShared(filepath.Join(top, "nowhere")); err == nil {
		t.Error("a named folder that does not exist is accepted")
	}
}
