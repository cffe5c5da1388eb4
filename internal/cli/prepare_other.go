//go:build !unix

package cli

// prepare makes what the system refuses an error that the commands can say.
func prepare() error { return nil }
