package report

import "reflect"

// What tests of the sealed form look at.

// IsSealed reports whether the pack at an index is kept sealed.
func IsSealed(p Packs, i int) bool { return p.list[i].pack == nil }

// ReadBinary reads a value from its binary form.
func ReadBinary(src []byte, v reflect.Value) error {
	in := binaryReader{src: src}
	in.value(v)
	return in.err
}
