package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// lock is the hold of a runner on its work directory. The kernel lets go of it
// when the process ends, however it ends.
type lock struct{ file *os.File }

// lockDir takes the lock of a work directory. When another runner has it the
// error has kind conflict and names that runner.
func lockDir(dir string) (*lock, error) {
	name := filepath.Join(dir, "lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		defer file.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		holder, _ := io.ReadAll(io.LimitReader(file, 256))
		who := strings.TrimSpace(string(holder))
		if who == "" {
			who = "another runner"
		}
		return nil, bench.Errorf(bench.KindConflict, "work directory %s is in use by %s; wait for it or choose another one", dir, who)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	who := fmt.Sprintf("process %d on %s, since %s\n", os.Getpid(), host, time.Now().Format(time.DateTime))
	if err := file.Truncate(0); err == nil {
		_, err = file.WriteAt([]byte(who), 0)
		if err != nil {
			file.Close()
			return nil, err
		}
	}
	return &lock{file}, nil
}

// release lets go of the directory. The file stays: removing it would race with
// a runner that has opened it and waits to lock it.
func (l *lock) release() {
	_ = l.file.Truncate(0)
	// Not by closing alone: a program that is just being started has the file open
	// as well until it is executed.
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
	_ = l.file.Close()
}
