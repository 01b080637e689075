//go:build unix && !linux

package runner

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/relqps/relqps/ingest"
)

// ownGroup gives a command a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// awaitExit would wait without reaping, for which there is no portable way.
func awaitExit(int) bool { return false }

// awaitGroup has nothing to see a group by.
func awaitGroup(int, time.Duration) {}

// meter collects what a process used.
type meter struct{}

func (m *meter) begin()     {}
func (m *meter) sample(int) {}
func (m *meter) last(int)   {}

func (m *meter) fill(u *ingest.RunnerUsage, state *os.ProcessState) {
	r, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return
	}
	user := float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
	system := float64(r.Stime.Sec) + float64(r.Stime.Usec)/1e6
	peak := int64(r.Maxrss)
	if runtime.GOOS != "darwin" { // bytes there, kB elsewhere
		peak <<= 10
	}
	u.UserSeconds, u.SystemSeconds, u.PeakRSSBytes = &user, &system, &peak
}

// deviceOf has no file to look the device up in.
func deviceOf(string) (major, minor uint32, ok bool) { return 0, 0, false }

// processStart is not known here.
func processStart(int) (string, bool) { return "", false }

// claimHost has no place that all runners of a host can see; the lock of the
// work directory is what there is.
func claimHost() (func(), error) { return func() {}, nil }
