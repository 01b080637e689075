package runner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relqps/relqps/ingest"
)

// ownGroup gives a command a process group of its own and has the kernel kill it
// when the thread that starts it ends, which kill -9 of the runner does too.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit blocks until a child has ended and leaves it to be reaped: until
// then /proc still has its counters. It gives false where that cannot be had.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// meter collects what a process used.
type meter struct {
	ownPeak int64 // peak memory of the runner since the process began, see fill
	peak    int64 // of the process, 0 not seen
	io      map[string]int64
}

// begin is called before the process is started. On exec the kernel lets a
// process begin with the peak memory of the program that started it; forgetting
// our own peak first keeps that low.
func (m *meter) begin() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// sample reads the peak memory of a running process.
func (m *meter) sample(pid int) {
	if n, ok := statusKB(pid, "VmHWM"); ok {
		m.peak = max(m.peak, n<<10)
	}
}

// last reads the counters of a process that has ended and was not reaped.
func (m *meter) last(pid int) {
	m.io = readIO(pid)
	if n, ok := statusKB(os.Getpid(), "VmHWM"); ok {
		m.ownPeak = n << 10
	}
}

func (m *meter) fill(u *ingest.RunnerUsage, state *os.ProcessState) {
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		user := float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
		system := float64(r.Stime.Sec) + float64(r.Stime.Usec)/1e6
		u.UserSeconds, u.SystemSeconds = &user, &system
		// A peak above ours is its own; one below may be ours, see begin, and the
		// samples must do.
		if peak := r.Maxrss << 10; peak > m.ownPeak {
			m.peak = max(m.peak, peak)
		}
	}
	if m.peak > 0 {
		u.PeakRSSBytes = &m.peak
	}
	if n, ok := m.io["read_bytes"]; ok {
		u.ReadBytes = &n
	}
	if n, ok := m.io["write_bytes"]; ok {
		n = max(n-m.io["cancelled_write_bytes"], 0)
		u.WrittenBytes = &n
	}
}

// readIO reads /proc/<pid>/io, nil where it may not be read.
func readIO(pid int) map[string]int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return nil
	}
	counters := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
			counters[name] = n
		}
	}
	return counters
}

// statusKB reads a field of /proc/<pid>/status that is given in kB.
func statusKB(pid int, field string) (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(string(line), ":")
		if name == field {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// processStart gives when a process started, in ticks since boot: with its id it
// names a process for good, because ids are used again.
func processStart(pid int) (string, bool) {
	fields, ok := statFields(pid)
	if !ok {
		return "", false
	}
	return fields[statStart], !ended(fields)
}

// awaitGroup waits until no process of a group runs, for at most a time: a killed
// process needs a moment to end, and the next step must not meet it. The leader
// must not have been reaped, so that the id is still that of the group.
func awaitGroup(group int, atMost time.Duration) {
	for deadline := time.Now().Add(atMost); groupRuns(group) && time.Now().Before(deadline); {
		time.Sleep(2 * time.Millisecond)
	}
}

// groupRuns tells whether a process of a group has not ended. Signal 0 to the
// group would not do: it reaches those that ended and were not reaped too.
func groupRuns(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		fields, ok := statFields(pid)
		if ok && fields[statGroup] == strconv.Itoa(group) && !ended(fields) {
			return true
		}
	}
	return false
}

// Positions in statFields: fields 3, 5 and 22 of proc(5), which counts from 1 and
// has the id and the name before them.
const (
	statState = 0
	statGroup = 2
	statStart = 19
)

// statFields gives the fields of /proc/<pid>/stat from the state on.
func statFields(pid int) ([]string, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, false
	}
	// The name in parentheses may hold spaces and parentheses.
	i := bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text[i+1:]))
	return fields, i >= 0 && len(fields) > statStart
}

// ended tells whether a process has ended and only waits to be reaped.
func ended(fields []string) bool {
	return fields[statState] == "Z" || fields[statState] == "X"
}
