//go:build unix && !linux

package localpg

import (
	"os"
	"syscall"
)

// diesWithParent does nothing: only Linux can tie a child to its parent. A
// Postgres whose keeper was killed goes on here until the next start ends it.
func diesWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// ownProgram is the path of the running program.
func ownProgram() (string, error) {
	return os.Executable()
}

// holders cannot be told without /proc; the process id in postmaster.pid has
// to do, see [dataDir.endOrphans].
func holders(*os.File, serverUser) []int { return nil }
