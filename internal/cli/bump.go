package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/spf13/cobra"
)

type bumpOptions struct {
	base, to, config string
	dryRun           bool
}

func newBump(env *Env) *cobra.Command {
	var o bumpOptions
	c := &cobra.Command{
		Use: "bump PACK...", Short: "set the version that the changes of a pack need",
		Long: `Finds the version that the changes of a pack since its baseline need, writes it as
pack_version, and updates what refers to the pack: the context_pack_refs of its
golden cases and of the cases of other packs that name it as well, and the base of
its overlays. Then it compiles the golden cases and writes their snapshots. Either
all files of a pack are written, or none. Several packs, and the packs of a folder, are
done one after the other; a pack whose changes no version allows does not stop the others.

The baseline is the git revision of --base. Without --base it is the commit at which
the branch left the default branch (origin/HEAD, or main or master), or else HEAD.

Scorecards measured the pack as it was, and replay packets and decision records
describe what ran, so they keep the versions that they name.

Exit status: 0 the versions are correct, 4 no version allows the changes, which are
listed; 2 and 3 as for all commands.`,
		Example: "  packgate bump packs/support\n  packgate bump packs/support --base v1.4.0 --dry-run\n  packgate bump packs/support --to 2.0.0\n  packgate bump packs",
		Args:    somePacks,
		RunE: func(c *cobra.Command, args []string) error {
			if err := plainVersion(o.to); err != nil {
				return err
			}
			return bumpAll(c.Context(), env, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.base, "base", "", "compare with the pack of this git `revision`")
	f.StringVar(&o.to, "to", "", "set this `version`, which may be higher than the changes need")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be written, and write nothing")
	configFlag(f, &o.config)
	return c
}

// somePacks checks that a command gets at least one pack.
func somePacks(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return misuse(fmt.Sprintf("use %s PACK...", c.CommandPath()), "%s takes PACK..., and none was given", c.Name())
	}
	return nil
}

// bumpAll sets the versions of the packs that paths name, each with the files as the ones
// before left them.
func bumpAll(ctx context.Context, env *Env, paths []string, o bumpOptions) error {
	var names []string
	for _, name := range paths {
		err := openPacks(ctx, env.Stderr, name, o.config, func(w *gating.Workspace) error {
			for _, p := range w.Packs {
				if shown := w.Files.Show(p); !slices.Contains(names, shown) {
					names = append(names, shown)
				}
			}
			if len(w.Packs) == 0 {
				return w.Files.NoPacks(w.Config)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if o.to != "" && len(names) > 1 {
		return misuse("name one pack with --to", "--to is one version, and there are %d packs", len(names))
	}
	var rejected error
	for _, name := range names {
		err := openPacks(ctx, env.Stderr, name, o.config, func(w *gating.Workspace) error {
			unit, err := w.One(name)
			if err != nil {
				return err
			}
			return bump(ctx, env, opened{w, unit, name}, o)
		})
		var verdict *verdictError
		if err != nil && !errors.As(err, &verdict) {
			return err
		}
		rejected = cmp.Or(rejected, err)
	}
	return rejected
}

// bumping is one run of bump.
type bumping struct {
	opened
	env     *Env
	options bumpOptions
	base    *gating.Baseline
	changes []diffing.Override // the config's overrides of the class table
	// diff compares the pack with its baseline; nil where it is new or cannot be
	// compared, which unknown explains.
	diff    *diffing.Diff
	unknown string
	notes
}

func bump(ctx context.Context, env *Env, p opened, o bumpOptions) (err error) {
	b := &bumping{opened: p, env: env, options: o}
	if err := b.ready(); err != nil {
		return err
	}
	if o.base != "" {
		b.base, err = gating.OpenBaseline(p.Workspace, o.base)
	} else {
		b.base, err = gating.OpenForkPoint(p.Workspace)
	}
	if err != nil {
		return err
	}
	defer b.base.Close()
	if err := b.compare(ctx); err != nil {
		return err
	}
	return b.move(ctx)
}

// plainVersion refuses a version that no pack can have; "" is none.
func plainVersion(to string) error {
	v, err := semver.StrictNewVersion(to)
	if to == "" || err == nil && v.Prerelease() == "" && v.Metadata() == "" {
		return nil
	}
	return misuse("write MAJOR.MINOR.PATCH, such as 1.4.0", "--to is %q", to)
}

// ready refuses a pack that has no place for a version, or no name to refer to.
func (b *bumping) ready() error {
	refuse := func(at *pack.Node, message, hint string) error {
		return &repo.Problem{Location: at.Location(), Message: message, Hint: hint}
	}
	if b.unit.Pack == nil {
		return refuse(b.unit.Document.Root, "the pack is "+b.unit.Document.Root.Kind.String()+", wanted an object", "see packgate schema context-pack")
	}
	meta := &b.unit.Pack.PackMeta
	switch {
	case !meta.PackID.OK:
		return refuse(pack.Place(meta.PackID.Node, meta.Node, b.unit.Pack.Node), "the pack has no pack_id", "give it one in pack_meta")
	case meta.PackVersion.Node == nil:
		return refuse(pack.Place(meta.Node, b.unit.Pack.Node), "the pack has no pack_version", `write "pack_version": "1.0.0" into pack_meta`)
	}
	return nil
}

// compare compares the pack with its baseline.
func (b *bumping) compare(ctx context.Context) error {
	// A change does not decide by what it is classed, as in check --base.
	inForce, err := b.base.InForce(b.base.ConfigName, false)
	if err != nil {
		return err
	}
	if b.changes, err = diffing.Overrides(inForce.Config); err != nil {
		return err
	}
	compared, err := b.base.Compare(ctx, b.unit, b.changes)
	b.diff, b.unknown = compared.Diff, compared.Reason
	if err == nil && b.diff == nil && b.unknown != "" && b.options.to == "" {
		return misuse("name another baseline with --base, or the version with --to", "the version that is needed is not known: %s", b.unknown)
	}
	return err
}

// move sets the version and all that follows it.
func (b *bumping) move(ctx context.Context) error {
	if err := b.rejected(); err != nil {
		return err
	}
	target := b.target()
	edits, left, err := follow(b.unit, target)
	if err == nil {
		edits, err = b.companions(target, edits)
	}
	if err != nil {
		return err
	}
	if len(edits) == 0 {
		b.nothing(target)
		return b.print(b.env.Stdout)
	}
	next, err := b.With(b.unit.Name, edits)
	if err != nil {
		return err
	}
	// What is about to be written is compared as it would be the next time.
	compared, err := b.base.Compare(ctx, next, b.changes)
	if err != nil {
		return err
	}
	final := compared.Diff
	if err := b.enough(final); err != nil {
		return err
	}
	results := golden.Run(next, b.Environments, b.Config)
	snapshots, leftSnapshots, err := snapshotEdits(b.Files, results)
	if err != nil {
		return err
	}
	edits = append(edits, snapshots...)
	if !b.options.dryRun {
		if err := b.Write(edits); err != nil {
			return err
		}
	}
	b.why(target)
	b.did(edits)
	b.leaves(left)
	b.notes = append(b.notes, leftSnapshots...)
	if target != b.current() {
		b.history()
	}
	b.remarks(final, results)
	return b.print(b.env.Stdout)
}

func (b *bumping) current() string { return b.unit.Pack.PackMeta.PackVersion.Value }

// target returns the version that the pack is to have.
func (b *bumping) target() string {
	switch {
	case b.options.to != "":
		return b.options.to
	case b.diff != nil && b.diff.Required != "":
		return b.diff.Required
	}
	return b.current()
}

// enough refuses a version that the changes do not allow.
func (b *bumping) enough(final *diffing.Diff) error {
	if final == nil || final.Required == "" {
		return nil
	}
	if b.options.to == "" {
		return fmt.Errorf("pack_version %q was set and is not enough, %q is: this is a fault of packgate", final.Head.Version, final.Required)
	}
	return misuse("leave out --to, or name that version or a greater one",
		"--to is %q, and the changes since %q need %q", b.options.to, final.Base.Version, final.Required)
}

// rejected lists the changes that are unsafe, where no version can carry the changes.
func (b *bumping) rejected() error {
	if b.diff == nil || !slices.ContainsFunc(b.diff.Findings(), func(f finding.Finding) bool { return f.Rule == version.VER006.ID }) {
		return nil
	}
	shown, findings := build.NewComparison(build.Comparison{Diff: b.diff})
	b.say("%s: no version can carry the changes since %s", b.diff.Head.PackID, b.baseName())
	for _, c := range changesOf(shown, diffing.Reject.String()) {
		b.forcedBy(c)
	}
	for _, f := range findings {
		switch f.Rule {
		case version.VER005.ID:
			b.remark(f)
		case version.VER006.ID:
			b.say("  → %s", f.Hint)
		}
	}
	return cmp.Or(b.print(b.env.Stdout), verdict(gating.ExitReject))
}

// keep is a file that names the pack and is left as it is, and why.
type keep struct{ name, why string }

func (b *bumping) leaves(all []keep) {
	for _, k := range all {
		b.say("left %s: %s", b.Files.Show(k.name), k.why)
	}
}

// replaced returns the edit of a file that gives a value another text.
func replaced(name string, doc *pack.Document, at *pack.Node, text string) (gating.Edit, error) {
	src, err := pack.Edit(doc, []finding.Operation{{Op: "replace", Path: at.Pointer(), Value: pack.CompactJSON(text)}})
	return gating.Edit{Name: name, Source: src, From: doc.Source}, err
}

// follow returns the edits that give a version to a pack, and to what names the pack: its
// golden cases and its overlays. Files that name it and cannot be edited are left.
func follow(u *repo.Unit, version string) (edits []gating.Edit, left []keep, err error) {
	ref := u.Pack.PackMeta.PackID.Value + "@" + version
	replace := func(name string, doc *pack.Document, at *pack.Node, value string) error {
		edit, err := replaced(name, doc, at, value)
		edits = append(edits, edit)
		return err
	}
	if at := u.Pack.PackMeta.PackVersion; !at.OK || at.Value != version {
		if err := replace(u.Name, u.Document, at.Node, version); err != nil {
			return nil, nil, err
		}
	}
	side := func(f *repo.SideFile, at *pack.Node) error {
		switch {
		case at == nil:
			return nil
		case len(f.Faults) > 0:
			left = append(left, keep{f.Name, "it is not valid: " + f.Faults[0].Message})
			return nil
		}
		return replace(f.Name, f.Document, at, ref)
	}
	for _, c := range u.Cases {
		if err := side(c.SideFile, staleReference(c, ref)); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range u.Overlays {
		if at := o.Base; isStale(at.Node, ref) {
			if err := side(o.SideFile, at.Node); err != nil {
				return nil, nil, err
			}
		}
	}
	return edits, left, nil
}

// staleReference returns the reference of a golden case that has to become ref; nil
// where the case has it already, or names another pack.
func staleReference(c *repo.Case, ref string) *pack.Node {
	var stale *pack.Node
	for _, n := range c.References() {
		switch {
		case n.Kind == pack.String && n.Text == ref:
			return nil
		case stale == nil && isStale(n, ref):
			stale = n
		}
	}
	return stale
}

// isStale reports whether a reference is to another version of the pack that ref names.
func isStale(n *pack.Node, ref string) bool {
	if n == nil || n.Kind != pack.String || n.Text == ref {
		return false
	}
	id, _, pinned := strings.Cut(n.Text, "@")
	own, _, _ := strings.Cut(ref, "@")
	return pinned && id == own
}
