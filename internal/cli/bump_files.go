package cli

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/render"
)

// keep is a file that names the pack and is left as it is, and why.
type keep struct{ name, why string }

// left says which files were left, and why.
func (b *bumping) left(list []keep) []string {
	lines := make([]string, len(list))
	for i, k := range list {
		lines[i] = render.Visible(fmt.Sprintf("left %s: %s", b.Files.Show(k.name), k.why))
	}
	return lines
}

// follow returns the edits that give a pack a version and let what names the pack
// follow: the pack itself, its golden cases and its overlays. Files that name it and
// cannot be edited are left.
func follow(u *repo.Unit, version string) (edits []gating.Edit, left []keep, err error) {
	ref := u.Pack.PackMeta.PackID.Value + "@" + version
	replace := func(name string, doc *pack.Document, at *pack.Node, value string) error {
		src, err := pack.Edit(doc, []finding.Operation{{Op: "replace", Path: at.Pointer(), Value: pack.CompactJSON(value)}})
		edits = append(edits, gating.Edit{Name: name, Source: src})
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
	refs := c.Invoke.Get("context_pack_refs")
	if refs == nil {
		return nil
	}
	var stale *pack.Node
	for _, n := range refs.Items {
		switch {
		case n.Kind == pack.String && n.Text == ref:
			return nil
		case stale == nil && isStale(n, ref):
			stale = n
		}
	}
	return stale
}

// isStale reports whether a reference, pack_id@version, is to another version of
// the pack that ref names.
func isStale(n *pack.Node, ref string) bool {
	if n == nil || n.Kind != pack.String || n.Text == ref {
		return false
	}
	id, _, pinned := strings.Cut(n.Text, "@")
	own, _, _ := strings.Cut(ref, "@")
	return pinned && id == own
}
