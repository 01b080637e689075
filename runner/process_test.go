package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/testdata"
)

// shell makes a process that runs a script; output goes to a directory of the test.
func shell(t *testing.T, script string) *process {
	t.Helper()
	dir := t.TempDir()
	return &process{
		args: []string{"sh", "-c", script}, dir: dir, env: childEnvironment(nil),
		stdout: filepath.Join(dir, "out"), stderr: filepath.Join(dir, "err"),
		limit: time.Minute, killAfter: 10 * time.Second,
	}
}

func TestProcessEndIsRecorded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script string
		want   ingest.RunnerExit
	}{
		{"exit 0", ingest.RunnerExit{}},
		{"exit 3", ingest.RunnerExit{Code: 3}},
		{"kill -9 $$", ingest.RunnerExit{Code: -1, Signal: "killed"}},
		{"ulimit -c 0; kill -SEGV $$", ingest.RunnerExit{Code: -1, Signal: "segmentation fault"}},
	} {
		exit, _, err := shell(t, test.script).run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if exit != test.want {
			t.Errorf("%s: %+v, want %+v", test.script, exit, test.want)
		}
	}
}

func TestOutputIsKeptApartAndWhole(t *testing.T) {
	t.Parallel()
	p := shell(t, `i=0; while [ $i -lt 2000 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done; printf 'no newline'`)
	if _, _, err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, word := range map[string]string{p.stdout: "out", p.stderr: "err"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&want, "%s %d\n", word, i)
		}
		if word == "out" {
			want.WriteString("no newline")
		}
		if string(text) != want.String() {
			t.Errorf("%s holds %d bytes, want %d", word, len(text), want.Len())
		}
	}
}

func TestLocaleOfTheUserDoesNotReachThePrograms(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("LC_NUMERIC", "de_DE.UTF-8")
	t.Setenv("LANG", "de_DE.UTF-8")
	t.Setenv("RELQPS_TOKEN", "secret")
	p := shell(t, `env`)
	p.env = childEnvironment(map[string]string{"B": "2", "A": "1 x"})
	if _, _, err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.stdout)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	got := map[string]string{}
	for _, l := range lines {
		name, value, _ := strings.Cut(l, "=")
		got[name] = value
	}
	if got["LC_ALL"] != "C" || got["A"] != "1 x" || got["B"] != "2" || got["PATH"] != os.Getenv("PATH") {
		t.Errorf("environment of the program:\n%s", text)
	}
	for _, name := range []string{"LC_NUMERIC", "LANG", "RELQPS_TOKEN"} {
		if v, there := got[name]; there {
			t.Errorf("%s=%s reached the program", name, v)
		}
	}
}

func TestCPUAndMemoryAreThoseOfTheProcess(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("dd"); err != nil {
		testdata.Missing(t, "dd is not installed")
	}
	// A buffer of 200 MiB, filled once: memory and system time of its own.
	p := shell(t, "exec dd if=/dev/zero of=/dev/null bs=200M count=1")
	_, usage, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if usage.UserSeconds == nil || usage.SystemSeconds == nil || *usage.UserSeconds+*usage.SystemSeconds <= 0 {
		t.Fatalf("CPU %v, %v", usage.UserSeconds, usage.SystemSeconds)
	}
	if cpu := *usage.UserSeconds + *usage.SystemSeconds; cpu > usage.RealSeconds*1.5 {
		t.Errorf("one thread used %.3f s of CPU in %.3f s", cpu, usage.RealSeconds)
	}
	if usage.PeakRSSBytes == nil || *usage.PeakRSSBytes < 200<<20 || *usage.PeakRSSBytes > 260<<20 {
		t.Errorf("peak memory %v bytes, want 200 MiB and a little", deref(usage.PeakRSSBytes))
	}
}

func TestPeakMemoryIsNotThatOfTheRunner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		testdata.Missing(t, "a peak inherited on exec is a matter of Linux")
	}
	// In a process of its own, so that other tests have their own peaks.
	const ballast = "RELQPS_TEST_BALLAST"
	if os.Getenv(ballast) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), ballast+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	held := make([]byte, 300<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	_, usage, err := shell(t, "sleep 1.5").run(t.Context())
	runtime.KeepAlive(held)
	if err != nil {
		t.Fatal(err)
	}
	if usage.PeakRSSBytes == nil || *usage.PeakRSSBytes > 50<<20 {
		t.Errorf("sleep used %v bytes; this test holds 300 MiB", deref(usage.PeakRSSBytes))
	}
}

func TestStorageTrafficIsThatOfTheProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		testdata.Missing(t, "counted on Linux only")
	}
	if kind := Host(t.Context(), t.TempDir())["file_system"]; kind == "tmpfs" || kind == "ramfs" || kind == "overlay" {
		testdata.Missing(t, "%s counts no storage traffic", kind)
	}
	// 8 MiB stay, 4 MiB are deleted before they are written back.
	p := shell(t, "dd if=/dev/zero of=kept bs=1M count=8 conv=fsync 2>/dev/null; dd if=/dev/zero of=gone bs=1M count=4 2>/dev/null; rm gone")
	_, usage, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// dd is a child of the shell: counters of children count once they have been
	// waited for.
	if usage.WrittenBytes == nil || *usage.WrittenBytes < 8<<20 || *usage.WrittenBytes > 13<<20 {
		t.Errorf("%v bytes written, want 8 MiB, and up to 4 more if they were written back before they were deleted", deref(usage.WrittenBytes))
	}
	if usage.ReadBytes == nil {
		t.Error("bytes read were not counted")
	}
}

func deref(n *int64) any {
	if n == nil {
		return "no"
	}
	return *n
}

// alive tells whether the process whose id a file holds has not ended.
func alive(t *testing.T, pidFile string) (pid int, running bool) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		return pid, false
	}
	_, ok := processStart(pid)
	return pid, ok || runtime.GOOS != "linux"
}

func TestTimeLimitEndsTheWholeGroupAndNobodyElse(t *testing.T) {
	t.Parallel()
	bystander := exec.Command("sleep", "60")
	ownGroup(bystander)
	if err := startLocked(t, bystander); err != nil {
		t.Fatal(err)
	}
	p := shell(t, `sleep 60 & echo $! > child; trap 'echo asked to end; exit 7' TERM; wait`)
	p.limit = 500 * time.Millisecond
	exit, _, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (ingest.RunnerExit{Code: 7, TimeLimit: true}); exit != want {
		t.Errorf("exit %+v, want %+v", exit, want)
	}
	if text, _ := os.ReadFile(p.stdout); string(text) != "asked to end\n" {
		t.Errorf("the process was not asked to end first: %q", text)
	}
	if pid, running := alive(t, filepath.Join(p.dir, "child")); running {
		t.Errorf("process %d of the group still runs", pid)
	}
	if err := bystander.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process of another group was ended: %v", err)
	}
}

// startLocked starts a command from a thread that lives as long as the test, and
// ends it after.
func startLocked(t *testing.T, cmd *exec.Cmd) error {
	started, over, done := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		<-over
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	t.Cleanup(func() { close(over); <-done })
	return <-started
}

func TestProcessThatIgnoresTheRequestIsKilled(t *testing.T) {
	t.Parallel()
	p := shell(t, `trap '' TERM; while :; do sleep 0.1; done`)
	p.limit, p.killAfter = 300*time.Millisecond, 300*time.Millisecond
	exit, _, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (ingest.RunnerExit{Code: -1, Signal: "killed", TimeLimit: true}); exit != want {
		t.Errorf("exit %+v, want %+v", exit, want)
	}
}

func TestInterruptEndsTheProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := shell(t, `sleep 60`)
	p.started = func(int) { cancel() }
	exit, _, err := p.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !exit.Interrupted || exit.TimeLimit || exit.Signal != "terminated" {
		t.Errorf("exit %+v, want interrupted and terminated", exit)
	}
}

func TestWhatAProcessLeavesBehindIsEnded(t *testing.T) {
	t.Parallel()
	p := shell(t, `sleep 60 >/dev/null 2>&1 & echo $! > child; exit 0`)
	exit, _, err := p.run(t.Context())
	if err != nil || exit != (ingest.RunnerExit{}) {
		t.Fatalf("%+v, %v", exit, err)
	}
	if pid, running := alive(t, filepath.Join(p.dir, "child")); running {
		t.Errorf("process %d was left behind", pid)
	}
}

func TestProcessThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	p := shell(t, "")
	p.args = []string{filepath.Join(p.dir, "none")}
	if _, _, err := p.run(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestProcessStartNamesAProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		testdata.Missing(t, "known on Linux only")
	}
	first, ok := processStart(os.Getpid())
	again, _ := processStart(os.Getpid())
	if !ok || first == "" || first != again {
		t.Errorf("own start %q, then %q", first, again)
	}
	if init, ok := processStart(1); !ok || init == first {
		t.Errorf("process 1 started at %q, this one at %q", init, first)
	}
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, ok := processStart(cmd.Process.Pid); ok {
		t.Errorf("process %d has ended", cmd.Process.Pid)
	}
}
