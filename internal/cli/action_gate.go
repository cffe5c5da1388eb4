package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// gateEvent gates what the event concerns.
func (a *actionRun) gateEvent(ctx context.Context) error {
	git, err := a.open()
	if err != nil {
		return err
	}
	defer git.Close() // only read from
	base, err := a.base(ctx, git)
	if err != nil {
		return err
	}
	a.revisions(base)
	s := settings{config: a.inputs.config, packs: a.inputs.packs}
	if base != nil {
		if err := a.baseConfig(base, &s); err != nil {
			return err
		}
	}
	w, err := openWorkspace(".", s)
	if err != nil {
		return err
	}
	defer w.files.Close() // only read from
	if base == nil {
		return a.gateAll(ctx, w)
	}
	if a.registry, err = openLookup(a.env, w, a.inputs.signing.registryOptions, true); err != nil {
		return err
	}
	if err := base.locate(w.dir); err != nil {
		return err
	}
	return a.gateChanged(ctx, w, base)
}

// open opens the repository of the workspace, with a client for a base that it
// lacks where there is a token. Without an address of the API there is no client,
// which whoever delivers says.
func (a *actionRun) open() (*github.Repository, error) {
	if a.inputs.token == "" {
		return github.Open(a.event.Workspace)
	}
	client, err := newClient(a.env, a.event, a.inputs.token)
	if err != nil {
		client = nil
	}
	return github.OpenWith(a.event.Workspace, client)
}

// baseConfig puts the config of the base in force: a change does not decide by
// what it is judged. What is pushed has been merged, and its own config counts.
func (a *actionRun) baseConfig(base *baseline, s *settings) error {
	name, err := configPath(s.config)
	if err != nil {
		return err
	}
	base.configName = path.Base(name)
	if a.event.Name == github.EventPush {
		return nil
	}
	s.policy, err = base.config(name, s.config != "")
	return err
}

// base opens what the event is compared with; nil where it has no base.
func (a *actionRun) base(ctx context.Context, git *github.Repository) (*baseline, error) {
	if ref := a.inputs.base; ref != "" {
		sha, err := git.Resolve(ref)
		if err != nil {
			return nil, err
		}
		tree, err := git.At(ctx, a.event, a.inputs.token, sha)
		if err != nil {
			return nil, err
		}
		return a.baseline(git, tree, ref)
	}
	b, err := git.Base(ctx, a.event, a.inputs.token)
	if err != nil {
		return nil, err
	}
	if b.Tree == nil {
		a.notice("nothing to compare with: %s", b.Reason)
		return nil, nil
	}
	return a.baseline(git, b.Tree, a.event.BaseRef)
}

// baseline returns the baseline of a tree, seen from the workspace.
func (a *actionRun) baseline(git *github.Repository, tree *github.Tree, ref string) (*baseline, error) {
	b := &baseline{git: git, tree: tree, ref: ref}
	return b, b.locate(a.event.Workspace)
}

func (a *actionRun) revisions(base *baseline) {
	a.report.Head = &model.Revision{Ref: a.event.HeadRef, SHA: a.event.HeadSHA}
	a.report.Base = base.revision()
	for _, r := range []*model.Revision{a.report.Base, a.report.Head} {
		if r != nil {
			r.BlobURL = a.event.BlobURL(r.SHA)
		}
	}
}

// gateAll gates every pack, for events that change nothing.
func (a *actionRun) gateAll(ctx context.Context, w *workspace) error {
	if len(w.packs) == 0 {
		return a.noPacks(w)
	}
	part, _, err := w.share(a.inputs.part)
	if err != nil {
		return err
	}
	if err := a.gate(ctx, w.only(part), nil, nil, a.inputs.strict); err != nil {
		return err
	}
	return a.strays(w, a.inputs.part)
}

// gateChanged gates the packs that the change concerns: those of which a file
// changed, those that depend on what changed, and all of them where a catalog or
// the config changed.
func (a *actionRun) gateChanged(ctx context.Context, w *workspace, base *baseline) error {
	changes, err := base.git.Changed(ctx, base.tree)
	if err != nil {
		return err
	}
	files := map[string]github.ChangeKind{}
	for _, c := range changes {
		if name, ok := base.relative(c.Path); ok {
			files[name] = c.Kind
		}
	}
	if err := cmp.Or(w.complete(files), a.anyPack(w, files)); err != nil {
		return err
	}
	if kind, changed := files[base.configName]; changed && kind != github.Deleted {
		if err := a.usable(w, base.configName); err != nil {
			a.fail(err)
		}
	}
	triggers, err := base.triggers(ctx, w)
	if err != nil {
		return err
	}
	concerned, own := w.concerned(files, base.configName, triggers)
	part, others, err := w.share(a.inputs.part)
	if err != nil {
		return err
	}
	w.packs = both(concerned, part)
	if err := a.gate(ctx, w, base, triggers, a.inputs.strict); err != nil {
		return err
	}
	a.repairs(w)
	if len(w.removed(files)) > 0 {
		if err := a.noteMoved(ctx, w, base, both(concerned, others)); err != nil {
			return err
		}
	}
	a.noticeChanges(w, base, files)
	for _, p := range a.report.Packs.Briefs() {
		if p.Pack != "" && slices.Contains(own, p.Path) {
			a.changed = append(a.changed, p.Pack)
		}
	}
	return nil
}

// usable says what is wrong with the config that a change brings. It is not in
// force yet, and once it is merged no change could pass any more, not even the
// one that mends it.
func (a *actionRun) usable(w *workspace, name string) error {
	c, err := w.files.Config(name)
	if err != nil {
		return err
	}
	_, err = gates.NewPolicy(c, false, a.env.Now())
	_, classErr := diffing.Overrides(c)
	return cmp.Or(err, classErr)
}

// complete refuses a working tree that lacks a pack or a catalog of the change, as a
// sparse checkout does: it would not be gated, and nobody would see that.
func (w *workspace) complete(files map[string]github.ChangeKind) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] == github.Deleted || !w.isPack(name) && !w.isCatalog(name) {
			continue
		}
		_, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name)))
		if err != nil && !leadsNowhere(err) {
			return err
		}
		if err != nil {
			return &fault.Error{
				Kind:    github.ErrIncomplete,
				Message: fmt.Sprintf("%q is part of the change and not in the working tree", w.files.Show(name)),
				Hint:    "check out without `sparse-checkout:`",
			}
		}
	}
	return nil
}

// anyPack refuses patterns that match nothing, unless the change removes what
// they matched: a gate that looks into the wrong folder would be green for ever.
// A repository that names no patterns may still be without packs.
func (a *actionRun) anyPack(w *workspace, files map[string]github.ChangeKind) error {
	if len(w.packs) > 0 || len(w.removed(files)) > 0 {
		return nil
	}
	if len(a.inputs.packs) > 0 || w.config.Packs.Node != nil {
		return a.noPacks(w)
	}
	a.notice("there is no pack in this repository; a pack is a file named pack.json or NAME.pack.json")
	return nil
}

func (a *actionRun) noPacks(w *workspace) error {
	if len(a.inputs.packs) == 0 {
		return w.files.NoPacks(w.config)
	}
	return &usageError{
		message: fmt.Sprintf("no file matches the input packs, which is %q", a.inputs.packs),
		hint:    "name the pack files relative to the config's folder, for example packs/*/pack.json",
	}
}

// concerned returns the packs that changed files concern or that have a refresh
// trigger, and, as messages show them, those of which a file of their own changed.
func (w *workspace) concerned(files map[string]github.ChangeKind, configName string, triggers map[string][]refresh.Trigger) (packs, own []string) {
	_, shared := files[configName]
	for name := range files {
		shared = shared || w.isCatalog(name)
	}
	for _, p := range w.packs {
		names := []string{p}
		if real := w.behindLinks(p); real != p {
			names = append(names, real)
		}
		changed := slices.ContainsFunc(names, func(p string) bool {
			for name := range files {
				if repo.Belongs(p, name) {
					return true
				}
			}
			return false
		})
		if changed {
			own = append(own, w.files.Show(p))
		}
		if changed || shared || len(triggers[p]) > 0 {
			packs = append(packs, p)
		}
	}
	return packs, own
}

// behindLinks returns the file that a pack's name leads to over symbolic links,
// relative to the root; the name itself where it leads nowhere, which reading it
// reports.
func (w *workspace) behindLinks(name string) string {
	root, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		return name
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	if real, err = filepath.Rel(root, real); err != nil {
		return name
	}
	return filepath.ToSlash(real)
}

// isCatalog reports whether a file is an environment catalog, or was one: every
// pack is checked against each of them.
func (w *workspace) isCatalog(name string) bool {
	patterns := pack.Values(w.config.Environments)
	return strings.HasPrefix(name, "environments/") || repo.Matches(patterns, name)
}

// removed returns the packs that a change removes, sorted.
func (w *workspace) removed(files map[string]github.ChangeKind) []string {
	var names []string
	for name, kind := range files {
		if kind == github.Deleted && w.isPack(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// noticeChanges says what a reader of the report should know of the change
// beside the packs: removed packs, and a config that is not in force yet.
func (a *actionRun) noticeChanges(w *workspace, base *baseline, files map[string]github.ChangeKind) {
	if _, changed := files[base.configName]; changed && a.event.Name != github.EventPush {
		a.notice("%s differs from the base; the base's config, waivers and severities are in force until this is merged", w.files.Show(base.configName))
	}
	a.noticeRemoved(w, w.removed(files))
}
