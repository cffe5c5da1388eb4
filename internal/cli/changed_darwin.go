package cli

import (
	"io/fs"
	"syscall"
)

// changedAt returns the number of a file and when it was last changed, which nobody sets back as the time of its
// content; zeros where that is not known.
func changedAt(info fs.FileInfo) [2]int64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return [2]int64{}
	}
	return [2]int64{int64(stat.Ino), stat.Ctimespec.Nano()}
}
