package pgtest

import "syscall"

// memoryFolder is a file system in memory. Making a clone means making some
// three hundred files, which takes ten times as long on a disk.
const memoryFolder = "/dev/shm"

// memoryNeeded is how many bytes must be free there: far more than the suite
// uses, and more than containers have by default, so that no test fails for it.
const memoryNeeded = 4 << 30

// memoryParent gives the folder in memory if it is roomy enough.
func memoryParent() (string, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryFolder, &fs); err != nil {
		return "", false
	}
	const tmpfs = 0x01021994
	return memoryFolder, fs.Type == tmpfs && fs.Bavail*uint64(fs.Bsize) >= memoryNeeded
}
