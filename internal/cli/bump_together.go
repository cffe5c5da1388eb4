package cli

import (
	"slices"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
)

// companions adds the edits by which the golden cases of other packs follow that name the
// pack beside their own, with the snapshots of these cases.
func (b *bumping) companions(version string, edits []gating.Edit) ([]gating.Edit, error) {
	id := b.unit.Pack.PackMeta.PackID.Value
	names, err := b.Files.Find(b.Config)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name == b.unit.Name {
			continue
		}
		sets, err := b.Files.Named(name, b.Config)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(sets, func(set []string) bool { return slices.Contains(set, id) }) {
			continue
		}
		if edits, err = b.companion(name, id+"@"+version, edits); err != nil {
			return nil, err
		}
	}
	return edits, nil
}

// companion is companions for one pack.
func (b *bumping) companion(name, ref string, edits []gating.Edit) ([]gating.Edit, error) {
	other, err := b.Unit(name)
	if err != nil {
		return nil, err
	}
	for _, c := range other.Cases {
		at := staleReference(c, ref)
		done := slices.ContainsFunc(edits, func(e gating.Edit) bool { return e.Name == c.Name })
		if at == nil || done || len(c.Faults) > 0 {
			continue
		}
		edit, err := replaced(c.Name, c.Document, at, ref)
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit)
	}
	next, err := b.With(name, edits)
	if err != nil {
		return nil, err
	}
	named := slices.DeleteFunc(golden.Run(next, b.Environments, b.Config), func(r golden.Result) bool {
		return !slices.ContainsFunc(r.Together, func(u *repo.Unit) bool { return u.Name == b.unit.Name })
	})
	snapshots, left, err := snapshotEdits(b.Files, named)
	b.notes = append(b.notes, left...)
	return append(edits, snapshots...), err
}
