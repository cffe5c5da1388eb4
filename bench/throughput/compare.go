package throughput

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Comparison is what two builds of packgate took for the same work, and the floor. Each is the
// least CPU of several runs that took turns, which other work on the machine disturbs least.
type Comparison struct {
	Packs             int
	Floor, Base, Head Usage
}

// Contest says what is compared, and on which generated packs.
type Contest struct {
	Repository
	Module   string // the root of packgate's repository
	Revision string // the base
	Runs     int    // of which the least counts
}

// Compare builds packgate at a revision of its repository and as it is, and has both check the
// same generated packs, in turns with the floor. The folder is for what it writes.
func Compare(ctx context.Context, folder string, of Contest) (c Comparison, err error) {
	c.Packs = of.Packs
	head, err := Build(ctx, of.Module, folder)
	if err != nil {
		return c, err
	}
	base, err := buildAt(ctx, of.Module, folder, of.Revision)
	if err != nil {
		return c, err
	}
	repository, settings := filepath.Join(folder, "packs"), filepath.Join(folder, "settings")
	if err := of.Write(ctx, repository); err != nil {
		return c, err
	}
	for i := range of.Runs {
		for _, one := range []struct {
			least *Usage
			args  []string
		}{
			{&c.Floor, []string{head.Measure, "floor", repository}},
			{&c.Base, []string{base, "check", repository, "--no-cache"}},
			{&c.Head, []string{head.Packgate, "check", repository, "--no-cache"}},
		} {
			took, err := Run(ctx, settings, one.args[0], one.args[1:]...)
			if err != nil {
				return c, err
			}
			if i == 0 || took.CPU < one.least.CPU {
				*one.least = took
			}
		}
	}
	return c, nil
}

// buildAt builds packgate at a revision.
func buildAt(ctx context.Context, module, folder, revision string) (program string, err error) {
	tree := filepath.Join(folder, "base")
	if err := git(ctx, module, "worktree", "add", "--quiet", "--detach", tree, revision); err != nil {
		return "", err
	}
	defer func() {
		if removed := git(ctx, module, "worktree", "remove", "--force", tree); err == nil {
			err = removed
		}
	}()
	at := filepath.Join(folder, "at-base")
	if err := os.Mkdir(at, 0o755); err != nil {
		return "", err
	}
	built, err := Build(ctx, tree, at)
	return built.Packgate, err
}

// Ratio returns how many times the CPU of the base the head took.
func (c Comparison) Ratio() float64 { return c.Head.Ratio(c.Base) }

// Markdown prints the comparison as a table.
func (c Comparison) Markdown(w io.Writer) error {
	_, err := fmt.Fprintf(w, "| packs | floor CPU s | base CPU s | head CPU s | base to floor | head to floor | head to base |\n"+
		"|---:|---:|---:|---:|---:|---:|---:|\n| %d | %.2f | %.2f | %.2f | %.1f | %.1f | %.2f |\n",
		c.Packs, c.Floor.CPU.Seconds(), c.Base.CPU.Seconds(), c.Head.CPU.Seconds(), c.Base.Ratio(c.Floor), c.Head.Ratio(c.Floor), c.Ratio())
	return err
}
