package heap

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// reserved is how many bytes of the heap are asked for as huge pages: as much as the largest check takes.
const reserved = 256 << 20

// reserve makes the heap reserved bytes larger, asks Linux for huge pages there ([transparent huge pages]), and reports
// whether there is something to free. The pages are not touched, so none takes memory before it is used. A huge
// page comes with one page fault in place of 512: a check of 100 packs that have an overlay takes
// 0.78 times the processor time, and one of a single pack 0.75 times.
//
// A process that lives long does without it, because Linux would keep whole pages of which little is used. So does
// one with a limit of memory, GOMEMLIMIT or that of the address space.
//
// [transparent huge pages]: https://docs.kernel.org/admin-guide/mm/transhuge.html
func reserve() bool {
	if os.Getenv("GOMEMLIMIT") != "" || slices.ContainsFunc(os.Args, livesLong) || !fits() {
		return false
	}
	_ = syscall.Madvise(make([]byte, reserved), syscall.MADV_HUGEPAGE) // advice alone: pages of the usual size do as well
	return true
}

// livesLong reports whether that argument starts a process which lives long. A file of that name loses a little speed alone.
func livesLong(arg string) bool { return arg == "lsp" || strings.HasPrefix(arg, "--watch") }

// fits reports whether the system has that much room. The runtime ends a process whose heap cannot grow.
func fits() bool {
	trial, err := syscall.Mmap(-1, 0, 2*reserved, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	return err == nil && syscall.Munmap(trial) == nil
}
