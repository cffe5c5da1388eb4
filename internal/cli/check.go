package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/gating/cache"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// checkOptions are the flags of check, which are the action's inputs too.
type checkOptions struct {
	config          string
	strict          *bool // nil where neither flag nor input says anything
	failOn          string
	base            string
	fix, watch      bool
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
		Use: "check [PATH...]", Short: "run the eight checks and the golden cases of packs",
		Long: `Checks every pack of a pack repository, or the one that PATH names, compiles its
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
	choice{"fail-on", "", "what `findings` fail (default: fail_on of the config, or else error)", gating.FailOnLevels()}.add(c, &o.failOn)
	f.StringVar(&o.registryOptions.registry, "registry", "", "with --base, ask this OCI `registry` whether a version is already used (default: publish.registry of the config, if it is a folder)")
	f.StringVar(&o.registryOptions.key, "key", "", "public key `file`, for versions in the registry that were signed with a key")
	f.BoolVar(&o.fix, "fix", false, "first fix what can be fixed mechanically, in the pack files")
	f.BoolVar(&o.watch, "watch", false, "check again whenever files change, and print which findings are new or gone")
	f.StringVar(&o.base, "base", "", "compare with the packs of this git `revision`, and judge by its config")
	f.StringVar(&o.shard, "shard", "", "check only one part of the packs, `i/N`, as packgate plan distributes them")
	o.cache.addFlags(c)
	o.addFlags(c)
	return c
}

// oneOf checks a choice that a flag or an input makes.
func oneOf(what, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return misuse("use one of "+strings.Join(choices, ", "), "%s is %q", what, value)
}

// choosePart reads --shard. Nothing else may say which packs are intended, or change
// them while other jobs deal them out.
func (o *checkOptions) choosePart(paths []string) (err error) {
	if o.part, err = gating.ParseShard("--shard", o.shard); err != nil || o.part.Whole() {
		return err
	}
	if len(paths) > 1 {
		return misuse("name the repository, or leave out --shard", "--shard takes one PATH, and %d were given", len(paths))
	}
	if o.fix {
		return misuse("fix all packs first: packgate check --fix", "--shard does not go with --fix")
	}
	return nil
}

func check(ctx context.Context, env *Env, o checkOptions, paths []string) error {
	if err := cmp.Or(o.cache.valid(), o.choosePart(paths), o.watchable(env)); err != nil {
		return err
	}
	if o.watch {
		looks, stop := env.looks()
		defer stop()
		return watch(ctx, env, o, paths, looks)
	}
	return checkOnce(ctx, env, o, paths).finish(o.output)
}

// checkOnce checks the packs of some paths, of which nothing is printed yet.
func checkOnce(ctx context.Context, env *Env, o checkOptions, paths []string) *run {
	r := newRun(env, "check", o.failOn)
	r.Progress = newProgress(env, o.output)
	r.Report.Shard, r.NoPage = o.part.String(), !o.hasPage()
	if o.metricsFile != "" {
		r.Latencies = model.Latencies{}
	}
	r.openCache(o)
	defer r.Cache.Close()
	for _, path := range paths {
		if err := r.path(ctx, path, o); err != nil {
			r.Fail(stopped(ctx, path, err))
		}
	}
	return r
}

// path gates the packs of one path.
func (r *run) path(ctx context.Context, path string, o checkOptions) error {
	w, base, err := gating.OpenWith(ctx, path, o.base, gating.Settings{Config: o.config, Partial: true, Evaluators: evaluators(ctx)})
	if err != nil {
		return err
	}
	defer w.Close()
	defer base.Close() // only read from
	if len(w.Packs) == 0 && base == nil {
		return w.Files.NoPacks(w.Config)
	}
	r.Report.Base = base.Revision()
	if base != nil {
		if r.Lookup, err = openLookup(ctx, r.env, w, lookupOptions{o.registryOptions, false}); err != nil {
			return err
		}
	}
	in := gating.Inputs{Workspace: w, Base: base, Strict: o.strict, Shard: o.part}
	if o.fix {
		if err := r.Fix(ctx, in); err != nil {
			return err
		}
	}
	before := r.Report.Packs.Len()
	if err := r.All(ctx, in); err != nil || len(w.Packs) > 0 || r.Report.Packs.Len() > before {
		return err
	}
	return w.Files.NoPacks(w.Config) // and none was removed
}

// cacheOptions say whether check keeps what came of packs for the next run, and where.
type cacheOptions struct {
	folder string // "" for the user's own
	off    bool
}

func (o *cacheOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.folder, "cache", "", "keep the results of packs in this `folder` for the next run (default: packgate in the user's cache folder; in CI only if it is given)")
	f.BoolVar(&o.off, "no-cache", false, "check every pack, and keep no results")
}

func (o *cacheOptions) valid() error {
	if o.off && o.folder != "" {
		return misuse("leave out one of them", "--cache does not go with --no-cache")
	}
	return nil
}

// openCache opens the cache of a run. It is no reason to fail: without it packs are
// gated as ever, and who named its folder is told why.
func (r *run) openCache(o checkOptions) {
	if o.cache.off {
		return
	}
	opened, err := openCache(r.env, o)
	if err != nil && o.cache.folder != "" {
		hint := ""
		if refused := new(cache.Refused); errors.As(err, &refused) {
			hint = "; " + refused.Hint
		}
		r.Notice("the cache is not used: %v%s", err, hint)
	}
	if err == nil {
		r.Cache = opened
	}
}

// openCache returns the entries of a run. The error says why there are none.
func openCache(env *Env, o checkOptions) (*cache.Cache, error) {
	switch {
	case o.fix:
		return nil, errors.New("--fix changes the packs")
	case !exact(env.Version):
		return nil, fmt.Errorf("this build of packgate has no exact version, and its name is %q", env.Version)
	case env.CacheDir == nil || env.ConfigDir == nil:
		return nil, errors.New("the user has no folder for settings")
	case o.cache.folder == "" && inCI(env):
		return nil, errors.New("it is used in CI only where --cache names its folder")
	}
	settings, err := env.ConfigDir()
	if err != nil {
		return nil, err
	}
	folder := o.cache.folder
	if folder == "" {
		home, err := env.CacheDir()
		if err != nil {
			return nil, err
		}
		folder = filepath.Join(home, "packgate")
	}
	return cache.Open(folder, filepath.Join(settings, "packgate", "cache.key"), env.Now)
}

// exact reports whether a version names one program alone: that of a release, or of a
// commit. Builds of what somebody is working on all have the same name.
func exact(version string) bool {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil && v.Metadata() == "" // such as +dirty
}

// inCI reports whether the run is a job's, which computes verdicts unless it asks otherwise.
func inCI(env *Env) bool {
	switch env.Getenv("CI") {
	case "", "0", "false":
		return env.Getenv("GITHUB_ACTIONS") == "true"
	}
	return true
}

// planOptions are the flags of plan.
type planOptions struct {
	config, format string
	shards         int
}

func newPlan(env *Env) *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use: "plan [PATH]", Short: "distribute the packs of a repository over the jobs of a matrix",
		Long: `Prints the matrix for a workflow whose jobs each check a part of the packs, with
check --shard or the input shard of the action: one line of JSON with at most the given
number of shards, and no more than there are packs. The packs are distributed by the
size of their files, in the same way in every job. packgate merge makes one report of
the reports of all jobs.`,
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
	f.IntVar(&o.shards, "shards", 0, "largest `number` of shards")
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
