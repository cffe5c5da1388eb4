package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo"
	"github.com/spf13/cobra"
)

// checkOptions are the flags of check, which are the action's inputs too.
type checkOptions struct {
	config          string
	strict          *bool // nil where neither flag nor input says anything
	failOn          string
	base            string
	fix             bool
	shard           string       // i/N
	part            gating.Shard // what shard says
	registryOptions registryOptions
	cache           cacheOptions
	output
}

func newCheck(env *Env) *cobra.Command {
	var o checkOptions
	var strict bool
	c := &cobra.Command{
		Use: "check [PATH...]", Short: "put packs through the gates and their golden cases",
		Long: `Gates every pack of a pack repository, or the one that PATH names, compiles its
golden cases, and with --base compares it with an earlier version. PATH is a
repository, the folder of a pack, or a pack file; the current folder by default.`,
		Example: "  packgate check examples/acme-support\n  packgate check packs/support --base main --format json",
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("strict") {
				o.strict = &strict
			}
			if len(args) == 0 {
				args = []string{"."}
			}
			return check(c.Context(), env, o, args)
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "config `file`; its folder is the root of the repository (default: the nearest "+repo.ConfigName+")")
	f.BoolVar(&strict, "strict", false, "turn the warnings that the rule list marks into errors")
	choice(c, &o.failOn, "fail-on", gating.FailOnError, "lowest `severity` that fails", gating.FailOnLevels()...)
	f.StringVar(&o.registryOptions.registry, "registry", "", "with --base, ask this OCI `registry` whether a version is taken (default: publish.registry of the config, where that is a folder)")
	f.BoolVar(&o.fix, "fix", false, "first fix what can be fixed mechanically, in the pack files")
	f.StringVar(&o.base, "base", "", "compare with the packs of this git `revision`")
	f.StringVar(&o.shard, "shard", "", "gate one part of the packs alone, `i/N`; packgate plan deals them out")
	o.cache.addFlags(c)
	o.addFlags(c)
	return c
}

// oneOf checks a choice that a flag or an input makes.
func oneOf(what, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return &repo.Problem{Message: fmt.Sprintf("%s is %q", what, value), Hint: "use one of " + strings.Join(choices, ", ")}
}

func (o *checkOptions) valid() error {
	return cmp.Or(oneOf("--fail-on", o.failOn, gating.FailOnLevels()...), o.cache.valid(), o.output.valid())
}

// choosePart reads --shard. Nothing else may say which packs are intended, or change
// them while other jobs deal them out.
func (o *checkOptions) choosePart(paths []string) (err error) {
	if o.part, err = gating.ParseShard("--shard", o.shard); err != nil || o.part.Whole() {
		return err
	}
	if len(paths) > 1 {
		return &repo.Problem{Message: fmt.Sprintf("--shard takes one PATH, and %d were given", len(paths)), Hint: "name the repository, or leave out --shard"}
	}
	if o.fix {
		return &repo.Problem{Message: "--shard does not go with --fix", Hint: "fix all packs first: packgate check --fix"}
	}
	return nil
}

func check(ctx context.Context, env *Env, o checkOptions, paths []string) error {
	if err := cmp.Or(o.valid(), o.choosePart(paths)); err != nil {
		return err
	}
	r := newRun(env, "check", o.failOn)
	r.Progress = newProgress(env, o.output)
	r.Report.Shard = o.part.String()
	r.openCache(o)
	defer r.Cache.Close()
	for _, path := range paths {
		if err := r.path(ctx, path, o); err != nil {
			r.Fail(stopped(ctx, path, err))
		}
	}
	return r.finish(o.output)
}

// path gates the packs of one path.
func (r *run) path(ctx context.Context, path string, o checkOptions) error {
	w, err := gating.Open(ctx, path, gating.Settings{Config: o.config})
	if err != nil {
		return err
	}
	defer w.Close()
	if len(w.Packs) == 0 {
		return w.Files.NoPacks(w.Config)
	}
	base, err := gating.OpenBaseline(w, o.base)
	if err != nil {
		return err
	}
	defer base.Close() // only read from
	r.Report.Base = base.Revision()
	if base != nil {
		if r.Lookup, err = openLookup(r.env, w, o.registryOptions, false); err != nil {
			return err
		}
	}
	in := gating.Inputs{Workspace: w, Base: base, Strict: o.strict, Shard: o.part}
	if o.fix {
		if err := r.Fix(ctx, in); err != nil {
			return err
		}
	}
	return r.All(ctx, in)
}
