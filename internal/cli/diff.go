package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

func newDiff(env *Env) *cobra.Command {
	var o look
	var config string
	c := &cobra.Command{
		Use: "diff OLD NEW", Short: "compare two versions of a pack and classify what changed",
		Long: `Compares two packs, files or folders. For each layer it prints what changed, the
class of each change with the reason, and the version that the changes need.

Exit status: 0 the declared version is enough, 1 it is not or a version rule is
broken, 4 the class is reject; 2 and 3 as for all commands.`,
		Example: "  packgate diff old/pack.json packs/support\n  packgate diff old/pack.json packs/support --format json",
		Args:    wants("OLD", "NEW"),
		RunE:    func(c *cobra.Command, args []string) error { return diff(c.Context(), env, args, config, o) },
	}
	c.Flags().StringVar(&config, "config", "", "config `file` (default: that of NEW's repository)")
	o.addFlags(c, diffFormats())
	return c
}

// diff compares the old with the new pack of two names.
func diff(ctx context.Context, env *Env, names []string, config string, o look) error {
	d, shown, err := compared(ctx, names, config)
	if err != nil {
		return err
	}
	code := gating.ExitPass
	if slices.ContainsFunc(shown.Findings, func(f model.Finding) bool { return f.Severity == "error" }) {
		code = gating.ExitFindings
	}
	if d.Class == diffing.Reject {
		code = gating.ExitReject
	}
	written := render.WriteDiff(env.Stdout, o.format, shown, env.style(o.color))
	return cmp.Or(written, d.Contradicted(), verdict(code))
}

// compared compares the old with the new pack of two names, as it is shown.
func compared(ctx context.Context, names []string, config string) (*diffing.Diff, render.Comparison, error) {
	d, err := compareFiles(ctx, names[0], names[1], config)
	if err != nil {
		return nil, render.Comparison{}, err
	}
	_, head := d.Packs()
	shown, findings := build.NewComparison(gating.StepBetween(ctx, d, proof.New(head), nil))
	if ctx.Err() != nil {
		return nil, render.Comparison{}, context.Cause(ctx)
	}
	return d, render.Comparison{Diff: shown, Findings: findings}, nil
}

// compareFiles compares two packs. An error names each side that could not be read.
func compareFiles(ctx context.Context, oldName, newName, config string) (*diffing.Diff, error) {
	before, base, oldErr := gating.OpenPack(ctx, oldName, gating.Settings{})
	if oldErr == nil {
		defer before.Close()
	}
	after, head, newErr := gating.OpenPack(ctx, newName, gating.Settings{Config: config})
	if newErr == nil {
		defer after.Close()
	}
	if err := eitherSide(gating.OfSide("the old version", oldErr), gating.OfSide("the new version", newErr)); err != nil {
		return nil, err
	}
	after.Config.Share(base.Pack, head.Pack) // wherever the old version is, it is held to the same
	overrides, err := diffing.Overrides(after.Config)
	if err != nil {
		return nil, err
	}
	return diffing.Compare(base.Pack, head.Pack, overrides, repo.Writing(after.Environments)...)
}

// eitherSide returns what is wrong with two versions, nil where nothing is. Problems
// of both are one list; of other errors, the first counts.
func eitherSide(before, after error) error {
	var first, second repo.Problems
	if errors.As(before, &first) && errors.As(after, &second) {
		return slices.Concat(first, second)
	}
	return cmp.Or(before, after)
}
