package pack

import (
	"bytes"
	"runtime"
	"testing"
)

const (
	// leastWeighed is the size from which on the memory of a reading is weighed; below
	// it, what every reading costs would hide what the input costs.
	leastWeighed = 64 << 10
	// timesInput bounds the memory for the text, perValue and perLine that for the tree
	// and for the places of lines, which no text is dense enough to spare: a value may
	// be two bytes, and how many there are is limited.
	timesInput, perValue, perLine = 20, 256, 16
)

// FuzzMemory holds that reading takes no more memory than the input is good for. A
// fuzzer writes small inputs, so that a piece is repeated, as an item of a list,
// until it is worth weighing.
func FuzzMemory(f *testing.F) {
	for _, src := range seeds(f) {
		f.Add(src)
	}
	for _, piece := range []string{"0", "{}", `""`, `{"a":0,"b":[]}`, `"\u00e9\n"`, "\n\n\n0", "1e-7", "[[[[]]]]"} {
		f.Add([]byte(piece))
	}
	f.Fuzz(func(t *testing.T, piece []byte) {
		if len(piece) == 0 || len(piece) > 1<<14 {
			return
		}
		again := append(bytes.Clone(piece), ',')
		src := append([]byte{'['}, bytes.Repeat(again, leastWeighed/len(again)+1)...)
		src = append(src, "0]"...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc, faults := Read("pack.json", src, DefaultLimits())
		runtime.ReadMemStats(&after)
		if len(faults) > 0 {
			return // what is refused costs its messages as well
		}
		values := 0
		walk(doc.Root, func(*Node) { values++ })
		took := after.TotalAlloc - before.TotalAlloc
		if most := timesInput*len(src) + perValue*values + perLine*bytes.Count(src, []byte("\n")); took > uint64(most) {
			t.Errorf("%d bytes with %d values take %d bytes, wanted at most %d: %.100q", len(src), values, took, most, piece)
		}
	})
}
