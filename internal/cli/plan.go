package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// planOptions are the flags of plan.
type planOptions struct {
	config, format string
	shards         int
}

func newPlan(env *Env) *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use: "plan [PATH]", Short: "deal the packs of a repository out to the jobs of a matrix",
		Long: `Prints the matrix for a workflow whose jobs each gate a part of the packs, with
check --shard or the action's input shard: one line of JSON with at most as many
shards as asked for, and no more than there are packs. The packs are dealt out by
the size of their files, the same way in every job. packgate merge makes one report
of those of all jobs.`,
		Example: "  packgate plan --shards 4\n  packgate plan examples/acme-support --shards 2 --format terminal",
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misuse("use packgate plan [PATH] --shards N", "plan takes one PATH, and %d were given", len(args))
			}
			if !c.Flags().Changed("shards") {
				return misuse("say how many jobs there are to be at most: --shards 4", "--shards is missing")
			}
			return plan(c.Context(), env, o, append(args, ".")[0])
		},
	}
	f := c.Flags()
	f.IntVar(&o.shards, "shards", 0, "deal out to so many shards at most, a `number`")
	f.StringVar(&o.config, "config", "", "config `file`; its folder is the root of the repository")
	choice{"format", "json", "print this `format`, the matrix or the packs of each shard", plainFormats()}.add(c, &o.format)
	return c
}

func plan(ctx context.Context, env *Env, o planOptions, path string) error {
	if o.shards < 1 || o.shards > gating.MaxShards {
		return misuse(fmt.Sprintf("use a number from 1 to %d", gating.MaxShards), "--shards is %d", o.shards)
	}
	w, err := gating.Open(ctx, path, gating.Settings{Config: o.config})
	if err != nil {
		return err
	}
	defer w.Close()
	// A repository without packs has one shard too, in which the gate says so.
	loads, err := w.Deal(max(1, min(o.shards, len(w.Packs))))
	if err != nil {
		return err
	}
	if o.format == "terminal" {
		_, err := io.WriteString(env.Stdout, planText(w, loads))
		return err
	}
	matrix := struct {
		Shard []string `json:"shard"`
	}{}
	for i := range loads {
		matrix.Shard = append(matrix.Shard, gating.Shard{Index: i + 1, Total: len(loads)}.String())
	}
	_, err = fmt.Fprintln(env.Stdout, pack.CompactJSON(matrix))
	return err
}

// planText says to a person which packs each shard gates.
func planText(w *gating.Workspace, loads []gating.Load) string {
	var b strings.Builder
	for i, l := range loads {
		fmt.Fprintf(&b, "shard %s: %s, %s\n", gating.Shard{Index: i + 1, Total: len(loads)}, pack.Counted(len(l.Packs), "pack"), pack.Counted(int(l.Bytes), "byte"))
		for _, name := range l.Packs {
			fmt.Fprintf(&b, "  %s\n", render.Visible(w.Files.Show(name)))
		}
	}
	return b.String()
}
