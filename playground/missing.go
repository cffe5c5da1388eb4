//go:build !playground

package playground

var (
	program []byte
	starter string
)
