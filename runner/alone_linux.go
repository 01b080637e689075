package runner

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/relqps/relqps/internal/bench"
)

// aloneName is the abstract socket that a runner holds while it measures. Unlike
// a file it needs no directory that all users can write, and is gone with its
// process.
const aloneName = "@relqps-runner"

// claimHost sees to it that one runner measures on this host at a time. When
// another does, the error has kind conflict and names its process. The returned
// function ends the claim.
func claimHost() (func(), error) { return claim(aloneName) }

func claim(name string) (func(), error) {
	listener, err := net.Listen("unix", name)
	if err == nil {
		return func() { _ = listener.Close() }, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, err
	}
	if pid := claimant(name); pid > 0 {
		return nil, bench.Errorf(bench.KindConflict, "process %d already measures on this host, and two runs disturb each other's figures", pid)
	}
	return nil, bench.Errorf(bench.KindConflict, "another runner already measures on this host, and two runs disturb each other's figures")
}

// claimant gives the process that listens on a socket, 0 when it cannot be told.
func claimant(name string) int {
	conn, err := net.Dial("unix", name)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}
