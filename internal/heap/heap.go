// Package heap prepares the memory of the process. Like internal/release, it imports so little that Go
// initialises it before the dependencies, whose initialisation needs 3 MB. Only the program imports it.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
)

// How much the heap grows, in percent, before garbage is collected: until the first collection, and later.
// The first one is due at 4 MB times firstCollection/100 ([Garbage Collector Guide]), so a check of a single pack ends
// before it: it takes 0.85 times the processor time. A check of 100 packs takes 2.55 s of processor time and
// 83 MB with the 100 of the language, 2.41 s and 113 MB with 200, 2.14 s and 135 MB with 300, and as long
// but 197 MB with 400.
//
// [Garbage Collector Guide]: https://go.dev/doc/gc-guide
const (
	firstCollection  = 800
	laterCollections = 300
)

func init() {
	percent := debug.SetGCPercent(-1)
	if reserve() {
		runtime.GC() // frees what is reserved for the heap
	}
	// The variable GOGC wins. There is no limit of memory: what a machine has to spare the variable GOMEMLIMIT says.
	if os.Getenv("GOGC") != "" {
		debug.SetGCPercent(percent)
		return
	}
	debug.SetGCPercent(firstCollection)
	runtime.AddCleanup(new(collected), func(percent int) { debug.SetGCPercent(percent) }, laterCollections)
}

// collected is reachable from nowhere, so the first collection finds it. A smaller one would share its
// place in memory with others.
type collected [4]uintptr
