package cli

import (
	"context"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/doctor"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
)

func newDoctor(env *Env) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "doctor [DIR]", Short: "find what is wrong with the workflows of a repository",
		Long: `Reads the workflows of a repository (.github/workflows) and reports what keeps the gate
from working or lets changes bypass it: missing events and permissions, actions that are
not pinned, credentials that stay on disk, a checkout without the base, a verdict that
nobody waits for. If a registry is configured, it also reports what the publishing jobs
lack. It prints which status to require in branch protection, and checks that the config
can be read and that packs are found. DIR is the repository, by default the current one.

Exit status: 0 nothing keeps the gate from working, 1 there is an error; 2 and 3 as for
all commands.`,
		Example: "  packgate doctor\n  packgate doctor ../packs --format json",
		Args:    mayTake("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			return examine(c.Context(), env, append(args, ".")[0], format)
		},
	}
	formatFlag(c, &format, plainFormats())
	return c
}

func examine(ctx context.Context, env *Env, dir, format string) error {
	d, err := doctor.Examine(ctx, dir, problemsOf)
	if err != nil {
		return err
	}
	if err := d.Write(env.Stdout, format); err != nil {
		return err
	}
	if d.Result != string(model.Passed) {
		return verdict(gating.ExitFindings)
	}
	return nil
}
