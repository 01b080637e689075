package runner

import (
	"golang.org/x/sys/unix"
)

// deviceOf gives the device number of the file system that a directory lies in.
func deviceOf(dir string) (major, minor uint32, ok bool) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return 0, 0, false
	}
	return unix.Major(st.Dev), unix.Minor(st.Dev), true
}
