package testdata

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// ending records how a test ended. Like a real test it goes no further then.
type ending struct {
	testing.TB
	skipped, failed bool
}

func (e *ending) Helper()               {}
func (e *ending) Skip(...any)           { e.skipped = true; runtime.Goexit() }
func (e *ending) Skipf(string, ...any)  { e.skipped = true; runtime.Goexit() }
func (e *ending) Fatal(...any)          { e.failed = true; runtime.Goexit() }
func (e *ending) Fatalf(string, ...any) { e.failed = true; runtime.Goexit() }

// endingOf runs f as a test would and tells how that ended.
func endingOf(t *testing.T, f func(testing.TB)) *ending {
	e := &ending{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(e)
	}()
	<-done
	return e
}

func TestSharedIsFoundBesideTheCheckout(t *testing.T) {
	root := t.TempDir()
	inside := filepath.Join(root, "checkout", "internal", "deep")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "checkout", "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if dir, ok := sharedFrom(inside); ok {
		t.Errorf("found %s before it was made", dir)
	}
	want := filepath.Join(root, "shared")
	if err := os.Mkdir(want, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir, ok := sharedFrom(inside); !ok || dir != want {
		t.Errorf("got %s, %t; want %s", dir, ok, want)
	}
}

func TestSharedFollowsTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("RELQPS_SHARED", dir)
	if got := Shared(t); got != dir {
		t.Errorf("got %s, want %s", got, dir)
	}
	t.Setenv("RELQPS_SHARED", filepath.Join(dir, "absent"))
	if e := endingOf(t, func(t testing.TB) { Shared(t) }); !e.failed {
		t.Error("a wrong RELQPS_SHARED must not be passed over in silence")
	}
}

func TestMissingProgramSkipsLocallyAndFailsUnderCI(t *testing.T) {
	for ci, wantFailed := range map[string]bool{"": false, "0": false, "false": false, "true": true, "1": true} {
		t.Setenv("CI", ci)
		e := endingOf(t, func(t testing.TB) { NeedProgram(t, "no-such-program-anywhere", "nor-this-one") })
		if e.failed != wantFailed || e.skipped == wantFailed {
			t.Errorf("CI=%q: failed %t, skipped %t", ci, e.failed, e.skipped)
		}
	}
}

func TestNeedProgramGivesTheFirstThatIsThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "here")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := NeedProgram(t, "absent", "here"); got != path {
		t.Errorf("by name: got %s, want %s", got, path)
	}
	if got := NeedProgram(t, filepath.Join(dir, "absent"), path); got != path {
		t.Errorf("by path: got %s, want %s", got, path)
	}
}
