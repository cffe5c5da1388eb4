package model

import (
	"reflect"
)

// What tests of the sealed form look at.

// IsSealed reports whether the pack at an index is kept sealed.
func IsSealed(p Packs, i int) bool { return p.list[i].pack == nil }

// ReadBinary reads a value from its binary form.
func ReadBinary(src []byte, v reflect.Value) error {
	in := binaryReader{src: src}
	in.value(v, 0)
	return in.err
}

// The parts of merging and sealing that tests look at by themselves.
var (
	ByPlace  = byPlace
	LayoutOf = layoutOf
	Unsealed = unseal
)

// AppendBinary puts the binary form of a value behind dst.
func AppendBinary(dst []byte, v reflect.Value) ([]byte, error) { return appendBinary(dst, v, 0) }

// Interleave is interleave.
func Interleave[T comparable](lists [][]T, order func(a, b T) int) []T {
	return interleave(lists, order)
}

// The bounds that tests go up to.
const (
	MaxNested = maxNested
	MaxOpen   = maxOpen
)
