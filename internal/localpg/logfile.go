//go:build unix

package localpg

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
)

// logLimit is how large a log file grows before it becomes the old one, in
// bytes: the two together hold days of an ordinary server, and never fill a disk.
const logLimit = 4 << 20

// logFile is a log of limited size: a file and one older file beside it.
type logFile struct {
	path  string
	owner fileOwner
	limit int64

	mu   sync.Mutex // Postgres' output and the keeper's own lines come at once
	f    *os.File
	size int64
}

func openLogFile(path string, owner fileOwner, limit int64) (*logFile, error) {
	l := &logFile{path: path, owner: owner, limit: limit}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = l.owner.give(f)
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	l.f, l.size = f, info.Size()
	return nil
}

// Write appends p, to a new file when the present one is full. It reports
// success even when the disk does not take the text: the log is read from a
// pipe that Postgres writes to, and Postgres must not stop because of its log.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil && l.size > 0 && l.size+int64(len(p)) > l.limit {
		_ = l.f.Close()
		l.f = nil
		_ = os.Rename(l.path, l.path+".1")
	}
	if l.f == nil && l.open() != nil {
		return len(p), nil
	}
	n, _ := l.f.Write(p)
	l.size += int64(n)
	return len(p), nil
}

// offset is where the next line will begin.
func (l *logFile) offset() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}

// logEnd gives the end of a log file from offset on, at most about limit
// bytes of it and whole lines only; "" when there is nothing.
func logEnd(path string, offset, limit int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	if offset > info.Size() {
		offset = 0 // the file has been replaced since
	}
	cut := info.Size()-offset > limit
	if cut {
		offset = info.Size() - limit
	}
	text, err := io.ReadAll(io.NewSectionReader(f, offset, limit))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	s := string(text)
	if cut {
		_, s, _ = strings.Cut(s, "\n")
	}
	return strings.TrimSpace(s)
}
