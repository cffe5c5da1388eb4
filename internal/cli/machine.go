package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo"
)

// remedies are what to do about what the machine refuses. The first that fits counts.
var remedies = []struct {
	err  error
	hint string
}{
	{syscall.EMFILE, "raise the limit of open files, for example with ulimit -n 1024"},
	{syscall.ENFILE, "the whole machine has too many files open: end other programs, or raise its limit"},
	{syscall.ENOSPC, "free space on the disk, then run it again"},
	{syscall.EDQUOT, "free space within the quota, then run it again"},
	{syscall.EFBIG, "raise the limit on the size of files, for example with ulimit -f unlimited"},
	{syscall.EROFS, "name a place that may be written to"},
	{syscall.EISDIR, "name a file, this is a folder"},
	{syscall.ENOTDIR, "name a place below a folder, a part of this path is a file"},
	{syscall.EIO, "the disk could not be read or written: look after it, then run it again"},
	{repo.ErrChanged, "run it again once nothing writes to the file"},
	{fs.ErrPermission, "give this user the right to it, or run packgate as a user who has it"},
}

// remedy returns what to do about an error of the machine; "" for any other.
func remedy(err error) string {
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			return r.hint
		}
	}
	return ""
}

// nextStep returns what to do about an error: what the machine needs, or what the
// error says. It is "" where nobody knows.
func nextStep(err error) string { return cmp.Or(remedy(err), fault.Hint(err)) }

// stopped names the signal where an error says no more than that the work was
// cancelled. Name is what was worked on.
func stopped(ctx context.Context, name string, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || errors.Is(err, gating.ErrStopped) {
		return err
	}
	return fmt.Errorf("stopped before any pack of %s was gated: %w", name, context.Cause(ctx))
}
