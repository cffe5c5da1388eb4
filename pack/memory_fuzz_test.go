package pack

import (
	"bytes"
	"testing"
)

// FuzzMemory holds that reading takes no more memory than the input is good for. A
// fuzzer writes small inputs, so that a piece is repeated until it is worth weighing:
// as an item of a list, or as a member below a long name.
func FuzzMemory(f *testing.F) {
	for _, src := range seeds(f) {
		f.Add(src, uint16(0))
	}
	for _, piece := range []string{"0", "{}", `""`, `{"a":0,"b":[]}`, `"\u00e9\n"`, "\n\n\n0", "1e-7", "[[[[]]]]", `{"a":0,"a":0}`, "1e999"} {
		f.Add([]byte(piece), uint16(0))
		f.Add([]byte(piece), uint16(4000))
		f.Add([]byte(piece), uint16(1<<15))
	}
	f.Fuzz(func(t *testing.T, piece []byte, long uint16) {
		if len(piece) == 0 || len(piece) > 1<<14 {
			return
		}
		before, after := "[", "0]"
		if long > 0 {
			piece = append([]byte(`"a":`), piece...)
			before, after = `{"`+string(bytes.Repeat([]byte("n"), int(long)))+`":{`, `"z":0}}`
		}
		again := append(bytes.Clone(piece), ',')
		src := append([]byte(before), bytes.Repeat(again, leastWeighed/len(again)+1)...)
		checkMemory(t, append(src, after...))
	})
}
