package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
)

// promoteOptions are those of promote.
type promoteOptions struct {
	registryOptions
	from, to string
	dryRun   bool
	open     bool   // a pull request, in place of writing the file
	reason   string // that the pull request says
}

func newPromote(env *Env) *cobra.Command {
	var o promoteOptions
	c := &cobra.Command{
		Use: "promote PACK...", Short: "propose a version that runs in one environment for another one",
		Long: `Writes the version and digest of each pack that the environment FROM runs into
pins/TO.json. They are taken from its pins file, or from its signed records if it has no
such file. Nothing in the registry changes until a pull request with the line is merged.

If a rule of the environment does not allow the promotion, nothing is written: the version
is not published, or is revoked or deprecated (PIN001), FROM does not run it by its records
(PIN002), or not for long enough (PIN003). Without a registry, what cannot be checked is
listed.

With --open, no file is written here: the line is committed on a branch of its own on
GitHub, from the newest commit of the default branch, and a pull request is opened, or
found if it is open already. The variable GITHUB_TOKEN must hold the token of a GitHub
App's installation, or your own; the workflow's own is refused, since nothing would check
the pull request. Whoever starts it counts as an author, and cannot approve it.

Exit status: 0 the file has the lines now, or would have them, or the pull request is
open; 1 a rule does not allow it, or the branch has other changes; 2 wrong use; 3 it could
not be written.`,
		Example: "  packgate promote ctxpack.support --from staging --to prod\n  packgate promote ctxpack.support ctxpack.billing --to prod --dry-run\n  packgate promote ctxpack.support --from staging --to prod --open --reason \"the refund fix\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("use packgate promote PACK... --to ENV", "promote takes the pack_ids of the packs, and none was given")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return promote(c.Context(), env, args, o) },
	}
	o.addReading(c, nil)
	f := c.Flags()
	f.StringVar(&o.from, "from", "", "`environment` that runs the version (default: promote.from of the other one's catalog)")
	f.StringVar(&o.to, "to", "", "`environment` that should run it")
	f.BoolVar(&o.open, "open", false, "open a pull request on GitHub, in place of writing the file")
	f.StringVar(&o.reason, "reason", "", "reason, a `text` that the pull request contains")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be written, and write nothing")
	return c
}

// promoting is one run of promote.
type promoting struct {
	*gating.Workspace
	env      *Env
	options  promoteOptions
	lookup   *gating.Lookup
	from, to *repo.Environment
	name     string // of the pins file
	source   []byte // what it is to be; nil where there is none
	moved    []promotion.Move
	before   []string // the versions that were there, one for each that is moved
	refused  []model.Problem
	// What the records say of how long a version has run, and what could not be checked.
	soaks, unchecked []string
	notes
}

func promote(ctx context.Context, env *Env, ids []string, o promoteOptions) error {
	if o.reason != "" && !o.open {
		return misuse("add --open, or leave --reason out", "--reason is what a pull request says, and none is opened")
	}
	w, err := gating.Open(ctx, ".", gating.Settings{Config: o.config})
	if err != nil {
		return err
	}
	defer w.Close()
	p := &promoting{Workspace: w, env: env, options: o}
	if err := p.places(); err != nil {
		return err
	}
	write := func(context.Context) error { return p.write() }
	if o.open {
		opening, err := openOpening(ctx, p)
		if err != nil {
			return err
		}
		defer opening.head.Close() // only read from
		write = opening.propose
	}
	if p.lookup, err = openLookup(ctx, env, w, lookupOptions{o.registryOptions, true}); err != nil {
		return err
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if err := p.pack(ctx, id); err != nil {
			return err
		}
	}
	if len(p.refused) > 0 {
		return &refusedError{p.refused}
	}
	if err := write(ctx); err != nil {
		return err
	}
	return p.print(env.Stdout)
}

// places finds the two environments and the pins file.
func (p *promoting) places() (err error) {
	o := &p.options
	if o.to == "" {
		return misuse("name the environment that should run it, such as --to prod", "promote needs --to")
	}
	if p.to = environmentOf(p.Workspace, o.to); p.to == nil {
		return cataloguedOnly(p.Workspace, o.to)
	}
	demanded := p.to.Promote.From.Value
	switch {
	case o.from == "" && demanded == "":
		return misuse("name the environment that runs the version, such as --from staging", "promote needs --from: the catalog of %q does not say from where it is promoted", o.to)
	case o.from == "":
		o.from = demanded
	case demanded != "" && demanded != o.from:
		return misuse("promote from there, or change promote.from of the catalog", "the environment %q is promoted from %q, and not from %q", o.to, demanded, o.from)
	case o.from == o.to:
		return misuse("name two environments", "the environment %q cannot be promoted from itself", o.to)
	}
	if p.from = environmentOf(p.Workspace, o.from); p.from == nil {
		return cataloguedOnly(p.Workspace, o.from)
	}
	if p.name, err = repo.PinsName(o.to); err != nil {
		return err
	}
	switch {
	case p.to.PinsFile != nil:
		p.source = p.to.PinsFile.Document.Source
	case p.to.Pins.Node != nil:
		return misuse(fmt.Sprintf("move pins out of the catalog into %s first", p.name), "the environment %q has its pins in %s, which name no digests", o.to, p.to.Document.File)
	}
	if len(p.Recovered) > 0 {
		p.say("%s", gating.RecoveredWords(p.Recovered))
	}
	return nil
}

// environmentOf returns the catalog of an environment, nil where there is none.
func environmentOf(w *gating.Workspace, environment string) *repo.Environment {
	for _, e := range w.Environments {
		if e.Name() == environment {
			return e
		}
	}
	return nil
}

// cataloguedOnly is the error for an environment that has no catalog.
func cataloguedOnly(w *gating.Workspace, environment string) error {
	if len(w.Environments) == 0 {
		return misuse("add environments/NAME.json for each environment", "this repository has no catalog of an environment")
	}
	return catalogued(w, environment)
}

// pack promotes one pack, or notes why not.
func (p *promoting) pack(ctx context.Context, id string) error {
	refuse := func(hint, format string, args ...any) error {
		p.refused = append(p.refused, model.Problem{Message: fmt.Sprintf(format, args...), Hint: hint})
		return nil
	}
	m := promotion.Move{Environment: p.options.to, Pack: id, Complete: p.to.Complete.Value}
	m.Demands = promotion.Strictest(promotion.Demand{From: p.options.from, Soak: p.to.Promote.SoakTime()})
	if p.from.PinsFile != nil {
		pin, ok := p.from.Pinned(id)
		if !ok {
			return refuse("check the pack_id, or promote it there first", "%s has no line for %q", p.from.PinsFile.Document.File, id)
		}
		m.Version, m.Digest = pin.Version, pin.Digest
	} else {
		if p.lookup == nil {
			return refuse("give the environment a pins file, or name publish.registry in the config",
				"which version of %q the environment %q runs is not known: it has no pins file, and no registry is configured", id, p.options.from)
		}
		is, err := p.lookup.Running(ctx, id, p.options.from)
		switch {
		case err != nil:
			return err
		case is.Trouble == "" && is.Digest == "":
			return refuse("check the pack_id, or pin it there first", "the environment %q runs no version of %q", p.options.from, id)
		}
		m.Version, m.Digest = is.Version, is.Digest
		if is.Trouble != "" {
			return p.judged(m.Ran(m.Demands[0], is.Running, p.env.Now()))
		}
	}
	judged, err := p.lookup.JudgeMove(ctx, m, p.Environments, p.env.Now())
	if err != nil {
		return err
	}
	for _, n := range judged.Missed {
		p.say("not checked: %s", n.Reason)
		p.unchecked = append(p.unchecked, n.Reason)
	}
	if len(judged.Found) > 0 {
		return p.judged(judged.Found)
	}
	return p.edit(m, judged.Ran)
}

// edit writes the line of a pack into what the file is to be. Each demand of it is met by what ran.
func (p *promoting) edit(m promotion.Move, ran []promotion.Running) error {
	was, had := p.to.Pinned(m.Pack)
	if had && was.SameAs(repo.Pinned{Version: m.Version, Digest: m.Digest}) {
		p.say("%s has %s already", p.Files.Show(p.name), model.VersionName(m.Pack+"@"+m.Version))
		return nil
	}
	src, err := repo.SetPin(p.Files.Show(p.name), p.source, m.Pack, m.Version, m.Digest)
	if err != nil {
		return err
	}
	p.source = src
	before := "no version"
	if had {
		before = was.Version
	}
	p.moved, p.before = append(p.moved, m), append(p.before, before)
	p.soaked(m, ran)
	p.say("%s in %s: %s → %s (%s)", m.Pack, p.options.to, before, m.Version, m.Digest)
	return nil
}
