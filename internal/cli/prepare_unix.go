//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os/signal"
	"syscall"
)

// spare is how many files can be opened at least before anything is begun. The Go
// runtime opens two of its own beside the first ones, and where it cannot it ends the
// program with the exit status of wrong use.
const spare = 8

// prepare makes what the system refuses an error that the commands can say.
func prepare() error {
	// The write that is beyond the limit on the size of files fails, which is enough.
	signal.Ignore(syscall.SIGXFSZ)
	return openable(spare)
}

// openable returns an error where so many files more cannot be open at the same time.
func openable(n int) error {
	if n == 0 {
		return nil
	}
	f, err := syscall.Open("/", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return fmt.Errorf("open files: %w", err)
	}
	if err != nil {
		return nil // who needs it will say so
	}
	defer syscall.Close(f)
	return openable(n - 1)
}
