package gating

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// InForce is the config by which a change is judged. It is that of the commit with which
// the change is compared: a change does not decide by what it is judged.
type InForce struct {
	Config *repo.Config
	// Unusable is what is wrong with the config of the commit, if the change corrects it. Then only
	// the patterns of the corrected config are used, and strict is set.
	Unusable error
	// Packs are the pack patterns of the change's config if the commit has none: the packs that they
	// find are judged too, so that the change that introduces the gate shows all packs.
	Packs []string
	files *repo.Files // those of the commit; nil if the config is one of the change's files
}

// InForce returns the config by which a change of the files in the folder is judged. If one is
// required, it may also be the change that adds it. The error is for a config of the commit that
// cannot be used, and that the change does not correct.
func (c *Commit) InForce(name string, required bool) (*InForce, error) {
	config, err := c.Config(name, required)
	if err == nil {
		err = OfSide("the base", usable(config))
	}
	if err == nil || !errors.Is(err, repo.ErrUse) || errors.Is(err, github.ErrBaseUnreadable) {
		files, wrong := c.files(c.prefix, filepath.ToSlash(Display(c.dir)))
		f := &InForce{Config: config, files: files}
		if err == nil && config.Document == nil {
			if own, err := configOf(c.dir, name, required); err == nil { // otherwise the run reports the error
				f.Packs = pack.Values(own.Packs)
			}
		}
		return f, cmp.Or(err, wrong)
	}
	own, ownErr := configOf(c.dir, name, required)
	if ownErr == nil {
		ownErr = usable(own)
	}
	switch {
	case errors.Is(ownErr, repo.ErrUse):
		return nil, err
	case ownErr != nil:
		return nil, ownErr
	}
	patterns := repo.DefaultConfig()
	patterns.Document, patterns.Packs, patterns.Environments = own.Document, own.Packs, own.Environments
	patterns.Strict = pack.Flag{Value: true, OK: true}
	return &InForce{Config: patterns, Unusable: err}, nil
}

// configOf reads the config of a folder, and returns the default one if it has none and none is
// required.
func configOf(dir, name string, required bool) (*repo.Config, error) {
	files, err := repo.OpenFiles(dir, Display(dir))
	if err != nil {
		return nil, err
	}
	defer files.Close() // only read from
	there, err := files.Exists(name)
	if err != nil || !there && !required {
		return repo.DefaultConfig(), err
	}
	return files.Config(name)
}

// usable returns what is wrong with a config of a valid form: it may name rules and changes that do
// not exist.
func usable(c *repo.Config) error {
	if _, err := gates.NewPolicy(c, c.Strict.Value, time.Time{}); err != nil {
		return err
	}
	_, err := diffing.Overrides(c)
	return err
}

// OpenWith opens the repository of a path together with a git revision as its baseline. The config of
// the revision is in force, even if that is in a folder above the one in which the change has its own.
// For the revision "" it is like [Open], and there is no baseline. The caller closes both.
func OpenWith(ctx context.Context, name, revision string, s Settings) (*Workspace, *Baseline, error) {
	if revision == "" {
		w, err := Open(ctx, name, s)
		return w, nil, err
	}
	at, err := s.place(name)
	if err != nil {
		return nil, nil, err
	}
	c, err := OpenCommit(at.Root, nil, Revision(revision))
	if err != nil {
		return nil, nil, err
	}
	of := c
	if s.Config == "" {
		at, of, err = c.outer(at)
	}
	var w *Workspace
	var b *Baseline
	if err == nil {
		w, b, err = of.open(ctx, at, s)
	}
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return w, b, nil
}

// open opens the workspace of a place, by the config of the commit.
func (c *Commit) open(ctx context.Context, at Place, s Settings) (w *Workspace, b *Baseline, err error) {
	name := s.configName()
	if name == "" {
		name = repo.ConfigName
	}
	if s.InForce, err = c.InForce(name, s.Config != ""); err != nil {
		return nil, nil, err
	}
	if w, err = at.open(ctx, s); err != nil {
		return nil, nil, err
	}
	if b, err = c.Baseline(w); err != nil {
		return nil, nil, errors.Join(err, w.Files.Close())
	}
	b.ConfigName = name
	return w, b, nil
}

// config notes by which config the packs are judged if the change has a different one, and returns what
// is looser in that. The config of the change has to be usable: otherwise, once it is merged, no change
// could pass.
func (r *Run) config(in *Inputs) (looser []repo.ConfigChange, err error) {
	if in.inForce == nil || in.Base == nil {
		return nil, nil
	}
	name := in.Base.ConfigName
	shown := in.Files.Show(name)
	own, err := configOf(in.Dir, name, false)
	if err == nil {
		err = usable(own)
	}
	if err == nil {
		in.own = own
	}
	switch unusable := in.inForce.Unusable; {
	case unusable != nil:
		r.Notice("the config of the base cannot be used: %v; only the patterns of this change's %s are in force until it is merged, and warnings that are marked strict are errors", unusable, shown)
		return slices.DeleteFunc(repo.CompareConfigs(repo.DefaultConfig(), own), tighter), err
	case errors.Is(err, repo.ErrUse):
		r.Fail(err)
		r.Notice("%s differs from the base; %s", shown, untilMerged)
		return nil, nil
	case err != nil:
		return nil, err
	}
	rerooted := in.rerooted(own)
	if len(rerooted) > 0 {
		r.Notice("%s, the trusted root by which signatures are verified, differs from the base; that of the base is in force until this is merged", in.Files.Show(own.Publish.TrustedRoot.Value))
	}
	changes := repo.CompareConfigs(in.Config, own)
	if len(changes) == 0 {
		return rerooted, nil
	}
	looser = slices.DeleteFunc(slices.Clone(changes), tighter)
	words := " in " + paths(changes)
	if in.Config.Document == nil {
		r.Notice("the base has no %s; only the pack patterns of this change's file are in force until it is merged", shown)
		return append(looser, rerooted...), nil
	}
	switch {
	case len(looser) == len(changes):
		words = ", and is looser," + words
	case len(looser) > 0:
		words += ", and is looser in " + paths(looser)
	}
	r.Notice("%s differs from the base%s; %s", shown, words, untilMerged)
	return append(looser, rerooted...), nil
}

const untilMerged = "the base's config, waivers and severities are in force until this is merged"

func tighter(c repo.ConfigChange) bool { return !c.Looser }

// paths names the members of configs.
func paths(changes []repo.ConfigChange) string {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Words()
	}
	return strings.Join(names, ", ")
}
