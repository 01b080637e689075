//go:build unix && !linux

package pgtest

// memoryParent gives no folder: there is no file system in memory that is
// always there.
func memoryParent() (string, bool) { return "", false }
