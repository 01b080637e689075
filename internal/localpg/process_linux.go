package localpg

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// diesWithParent makes the kernel send sig to a child when the thread that
// started it ends. The caller must have locked itself to a thread that lives
// as long as the child: to the kernel the parent is the thread, not the process.
func diesWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) {
	attr.Pdeathsig = sig
}

// ownProgram is the path of the running program. The link leads to the file
// that was started even when that has been replaced or removed since.
func ownProgram() (string, error) {
	return "/proc/self/exe", nil
}

// holders gives the Postgres processes that have the file open. With the lock
// file that every process of a cluster inherits these are exactly the
// processes of that cluster, which no process id written down anywhere can
// promise: ids are used again.
//
// To look into the processes of another user root needs a capability that
// containers do not grant by default, and that user does not: so this thread
// looks with that user's eyes.
func holders(file *os.File, u serverUser) []int {
	if u.Drop {
		// Setting these two never fails; the calls just give the former value.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if gid, err := unix.SetfsgidRetGid(u.GID); err == nil {
			defer func() { _, _ = unix.SetfsgidRetGid(gid) }()
		}
		if uid, err := unix.SetfsuidRetUid(u.UID); err == nil {
			defer func() { _, _ = unix.SetfsuidRetUid(uid) }()
		}
	}
	want, err := file.Stat()
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := filepath.Join("/proc", e.Name())
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil || string(bytes.TrimSpace(comm)) != "postgres" {
			continue
		}
		fds, err := os.ReadDir(filepath.Join(dir, "fd"))
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if info, err := os.Stat(filepath.Join(dir, "fd", fd.Name())); err == nil && os.SameFile(info, want) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}
