//go:build unix

package throughput

import (
	"os"
	"runtime"
	"syscall"
)

// memory returns the largest resident set of a process that has ended. Linux
// counts it in KiB, Apple's systems in bytes.
func memory(s *os.ProcessState) int64 {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) << 10
}
