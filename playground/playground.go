// Package playground holds the playground of the HTML report as a browser runs it:
// the compiler and the solver as WebAssembly, with what starts them. It is in binaries
// that were built with the tag playground, after `make playground`; released ones are.
package playground

// Program returns the WebAssembly of the playground, compressed as gzip, and the
// program of the Go distribution that starts it; ok is false in a binary without it.
// The bytes must not be changed.
func Program() (wasm []byte, glue string, ok bool) {
	return program, starter, len(program) > 0
}
