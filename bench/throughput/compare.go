package throughput

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Comparison is what two builds of packgate took for the same work, and the floor. Each is the
// least CPU of several runs that took turns, which other work on the machine disturbs least.
type Comparison struct {
	Packs             int
	Floor, Base, Head Usage
}

// Compare builds packgate at a revision of the module's repository and as it is, and has both
// check the same generated packs, in turns with the floor. The folder is for what it writes.
func Compare(ctx context.Context, module, folder, revision string, packs, runs int) (c Comparison, err error) {
	c.Packs = packs
	head, err := Build(ctx, module, folder)
	if err != nil {
		return c, err
	}
	base, err := buildAt(ctx, module, folder, revision)
	if err != nil {
		return c, err
	}
	repository, settings := filepath.Join(folder, "packs"), filepath.Join(folder, "settings")
	if err := Repository(ctx, repository, 1, packs); err != nil {
		return c, err
	}
	for i := range runs {
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
	git := func(args ...string) error {
		if out, err := exec.CommandContext(ctx, "git", append([]string{"-C", module}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
		return nil
	}
	if err := git("worktree", "add", "--quiet", "--detach", tree, revision); err != nil {
		return "", err
	}
	defer func() {
		if removed := git("worktree", "remove", "--force", tree); err == nil {
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
