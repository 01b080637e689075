//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// pollInterval is how often a lock or a start is looked at again. It bounds
// what waiting adds to the start of a command.
const pollInterval = 5 * time.Millisecond

// fileLock is a flock(2) lock on a file. Such a lock belongs to the open file,
// not to the process: the kernel drops it when the last descriptor of that
// open file is closed, which includes death by kill -9, and child processes
// that inherit the descriptor keep it.
type fileLock struct {
	f *os.File
}

// openLock opens the lock file, making it when absent; it takes no lock yet.
func openLock(path string, owner fileOwner) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err == nil {
			err = owner.give(f)
		}
	}
	if err != nil {
		if f != nil {
			_ = f.Close()
		}
		return nil, err
	}
	return &fileLock{f: f}, nil
}

// try takes the lock in the given way (syscall.LOCK_EX or LOCK_SH) when it is
// free for that, and reports whether it did.
func (l *fileLock) try(how int) (bool, error) {
	for {
		err := syscall.Flock(int(l.f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.EINTR):
			continue
		default:
			return false, fmt.Errorf("lock %s: %w", l.f.Name(), err)
		}
	}
}

// wait takes the lock, looking every pollInterval until ctx ends. Polling,
// because a blocked flock call cannot be called off.
func (l *fileLock) wait(ctx context.Context, how int) error {
	for {
		ok, err := l.try(how)
		if ok || err != nil {
			return err
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// block takes the lock, blocking the calling thread for as long as it takes.
func (l *fileLock) block(how int) error {
	for {
		err := syscall.Flock(int(l.f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// unlock gives the lock back for every descriptor of this open file at once.
func (l *fileLock) unlock() {
	_ = syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN)
}

// close closes this descriptor only: a lock that was passed on to a child
// process stays held there.
func (l *fileLock) close() {
	_ = l.f.Close()
}

// isFree reports whether nobody holds the lock in any way. A shared lock taken
// by somebody who is only looking lasts microseconds, so one look that finds
// the lock taken is not proof; three are.
func (l *fileLock) isFree() (bool, error) {
	ok, err := l.tryExclusive()
	if ok {
		l.unlock()
	}
	return ok, err
}

// tryExclusive is try(LOCK_EX) that is not fooled by somebody who is only looking.
func (l *fileLock) tryExclusive() (bool, error) {
	for attempt := 0; ; attempt++ {
		ok, err := l.try(syscall.LOCK_EX)
		if ok || err != nil || attempt == 2 {
			return ok, err
		}
		time.Sleep(time.Millisecond)
	}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
