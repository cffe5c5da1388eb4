package cli

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// gateEvent gates what the event concerns.
func (a *actionRun) gateEvent(ctx context.Context) error {
	commit, err := gating.OpenCommit(a.event.Workspace, a.historian(), a.base(ctx))
	if err != nil {
		return err
	}
	defer commit.Close() // only read from
	a.revisions(commit)
	s := gating.Settings{Config: a.inputs.config, Packs: a.inputs.packs}
	configName, err := configPath(s.Config)
	if err != nil {
		return err
	}
	// A change does not decide by what it is judged. What is pushed has been merged, and
	// its own config counts.
	if commit != nil && a.event.Name != github.EventPush {
		if s.InForce, err = commit.Config(configName, s.Config != ""); err != nil {
			return err
		}
	}
	w, err := gating.Open(ctx, ".", s)
	if err != nil {
		return err
	}
	defer w.Close()
	in := gating.Inputs{Workspace: w, Strict: a.inputs.strict, Shard: a.inputs.part}
	if commit == nil {
		return a.gateAll(ctx, in)
	}
	if a.Lookup, err = openLookup(a.env, w, a.inputs.signing.registryOptions, true); err != nil {
		return err
	}
	if in.Base, err = commit.Baseline(w); err != nil {
		return err
	}
	in.Base.ConfigName = path.Base(configName)
	return a.gateChanged(ctx, in)
}

// historian returns the client for a base that the clone lacks; nil where there is no
// token. Without an address of the API there is none, which whoever delivers says.
func (a *actionRun) historian() *github.Client {
	if a.inputs.token == "" {
		return nil
	}
	client, err := newClient(a.env, a.event, a.inputs.token)
	if err != nil {
		return nil
	}
	return client
}

// base chooses what the event is compared with; nothing where it has no base.
func (a *actionRun) base(ctx context.Context) gating.Choice {
	return func(git *github.Repository) (*github.Tree, string, error) {
		if ref := a.inputs.base; ref != "" {
			sha, err := git.Resolve(ref)
			if err != nil {
				return nil, "", err
			}
			tree, err := git.At(ctx, a.event, a.inputs.token, sha)
			return tree, ref, err
		}
		b, err := git.Base(ctx, a.event, a.inputs.token)
		if err == nil && b.Tree == nil {
			a.Notice("nothing to compare with: %s", b.Reason)
		}
		return b.Tree, a.event.BaseRef, err
	}
}

func (a *actionRun) revisions(base *gating.Commit) {
	a.Report.Head = &model.Revision{Ref: a.event.HeadRef, SHA: a.event.HeadSHA}
	a.Report.Base = base.Revision()
	for _, r := range []*model.Revision{a.Report.Base, a.Report.Head} {
		if r != nil {
			r.BlobURL = a.event.BlobURL(r.SHA)
		}
	}
}

// gateAll gates every pack, for events that change nothing.
func (a *actionRun) gateAll(ctx context.Context, in gating.Inputs) error {
	if len(in.Packs) == 0 {
		return a.noPacks(in.Workspace)
	}
	return a.All(ctx, in)
}

// gateChanged gates the packs that the change concerns.
func (a *actionRun) gateChanged(ctx context.Context, in gating.Inputs) error {
	change, err := in.Base.Change(ctx)
	if err != nil {
		return err
	}
	if err := cmp.Or(change.Complete(), a.anyPack(in.Workspace, change)); err != nil {
		return err
	}
	if change.Readable {
		if err := a.usable(in.Workspace, in.Base.ConfigName); err != nil {
			a.Fail(err)
		}
	}
	own, err := a.Changed(ctx, in, change)
	if err != nil {
		return err
	}
	a.repairs(in.Workspace)
	for _, p := range a.Report.Packs.Briefs() {
		if p.Pack != "" && slices.Contains(own, p.Path) {
			a.changed = append(a.changed, p.Pack)
		}
	}
	return nil
}

// usable says what is wrong with the config that a change brings. It is not in
// force yet, and once it is merged no change could pass any more, not even the
// one that fixes it.
func (a *actionRun) usable(w *gating.Workspace, name string) error {
	c, err := w.Files.Config(name)
	if err != nil {
		return err
	}
	_, err = gates.NewPolicy(c, false, a.env.Now())
	_, classErr := diffing.Overrides(c)
	return cmp.Or(err, classErr)
}

// anyPack refuses patterns that match nothing, unless the change removes what
// they matched: a gate that looks into the wrong folder would be green for ever.
// A repository that names no patterns may still be without packs.
func (a *actionRun) anyPack(w *gating.Workspace, c *gating.Change) error {
	if len(w.Packs) > 0 || len(c.Removed()) > 0 {
		return nil
	}
	if len(a.inputs.packs) > 0 || w.Config.Packs.Node != nil {
		return a.noPacks(w)
	}
	a.Notice("there is no pack in this repository; a pack is a file named pack.json or NAME.pack.json")
	return nil
}

func (a *actionRun) noPacks(w *gating.Workspace) error {
	if len(a.inputs.packs) == 0 {
		return w.Files.NoPacks(w.Config)
	}
	return misuse("name the pack files relative to the config's folder, for example packs/*/pack.json",
		"no file matches the input packs, which is %q", a.inputs.packs)
}

// configPath returns the name of a config relative to the workspace, which is
// the current folder.
func configPath(named string) (string, error) {
	if named == "" {
		return repo.ConfigName, nil
	}
	name := named
	if filepath.IsAbs(name) {
		here, err := os.Getwd()
		if err != nil {
			return "", err
		}
		if name, err = filepath.Rel(here, name); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(name) {
		return "", misuse("name it relative to the workspace", "the config %q is outside of the workspace", named)
	}
	return path.Clean(filepath.ToSlash(name)), nil
}
