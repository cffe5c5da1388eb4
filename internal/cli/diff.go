package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

func newDiff(env *Env) *cobra.Command {
	var o output
	var config string
	c := &cobra.Command{
		Use: "diff OLD NEW", Short: "compare two versions of a pack and classify what changed",
		Long: `Compares two packs, files or folders, and says for each layer what changed, the
class of each change and why, and the version that the changes need.

Exit status: 0 the declared version is enough, 1 it is not or a version rule is
broken, 4 the class is reject; 2 and 3 as everywhere.`,
		Example: "  packgate diff old/pack.json packs/support\n  packgate diff old/pack.json packs/support --format json",
		Args:    wants("OLD", "NEW"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.valid(); err != nil {
				return err
			}
			return diff(env, args[0], args[1], config, o)
		},
	}
	c.Flags().StringVar(&config, "config", "", "config `file` (default: that of NEW's repository)")
	o.addLook(c, diffFormats)
	return c
}

func diff(env *Env, oldName, newName, config string, o output) error {
	d, err := compareFiles(oldName, newName, config)
	if err != nil {
		return err
	}
	_, head := d.Packs()
	shown, findings := build.NewComparison(stepWith(d, proof.ReachOf(proof.New(head), jsonlogic.Solver{}), nil))
	code := ExitPass
	for _, f := range findings {
		if f.Severity == "error" {
			code = ExitFindings
		}
	}
	if d.Class == diffing.Reject {
		code = ExitReject
	}
	r := &run{env: env}
	if err := render.WriteDiff(env.Stdout, o.format, shown, findings, r.style(o)); err != nil {
		return err
	}
	if code != ExitPass {
		return &verdictError{code: code}
	}
	return nil
}

// compareFiles reads two packs and compares them. An error names each side that
// could not be read.
func compareFiles(oldName, newName, config string) (*diffing.Diff, error) {
	before, base, oldErr := onePack(oldName, settings{})
	if oldErr == nil {
		defer before.files.Close() // only read from
	}
	after, head, newErr := onePack(newName, settings{config: config})
	if newErr == nil {
		defer after.files.Close() // only read from
	}
	if err := eitherSide(ofSide("the old version", oldErr), ofSide("the new version", newErr)); err != nil {
		return nil, err
	}
	overrides, err := diffing.Overrides(after.config)
	if err != nil {
		return nil, err
	}
	return diffing.Compare(base.Pack, head.Pack, overrides)
}

// eitherSide returns what is wrong with two versions, nil where nothing is. Problems
// of both are one list; of other errors, the first counts.
func eitherSide(before, after error) error {
	var first, second repo.Problems
	if errors.As(before, &first) && errors.As(after, &second) {
		return slices.Concat(first, second)
	}
	if before != nil {
		return before
	}
	return after
}

// ofSide says which of two versions an error is about; nil stays nil.
func ofSide(side string, err error) error {
	if err == nil {
		return nil
	}
	var many repo.Problems
	var one *repo.Problem
	if errors.As(err, &one) {
		many = repo.Problems{one}
	} else if !errors.As(err, &many) {
		return fmt.Errorf("%s: %w", side, err)
	}
	out := make(repo.Problems, len(many))
	for i, p := range many {
		out[i] = &repo.Problem{Location: p.Location, Message: side + ": " + p.Message, Hint: p.Hint}
	}
	return out
}
