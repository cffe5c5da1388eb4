//go:build unix

package cache

import (
	"io/fs"
	"os"
	"syscall"
)

// isMine reports whether a file belongs to the user of the process.
func isMine(info fs.FileInfo) (mine, knows bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid()), true
}
