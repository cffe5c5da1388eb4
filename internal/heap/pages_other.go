//go:build !linux

package heap

// reserve does nothing, because only Linux gives huge pages to a part of the heap that asks for them.
func reserve() bool { return false }
