package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/repo"
)

// subject reads a pack of the baseline with its side files and the environment
// catalogs of the baseline, as rules look at them. The config is the one in force,
// so that what the gates say differs by the files alone. Catalogs that are not
// valid could not be relied on by anybody, and the workspace's take their place.
func (b *baseline) subject(w *workspace, name string) (*gate.Subject, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	tree, err := fs.Sub(b.tree.FS(), b.prefix)
	if err != nil {
		return nil, err
	}
	files := repo.FilesOf(tree, w.files.Prefix, b.tree.SHA())
	unit, err := files.Unit(name, w.config)
	if err != nil {
		return nil, err
	}
	environments, err := files.Environments(w.config)
	switch {
	case errors.Is(err, repo.ErrUse):
		environments = w.environments
	case err != nil:
		return nil, err
	}
	return gate.NewSubject(unit, environments, w.config), nil
}

// since marks the findings of a pack as new or existing, by what the gates find in
// the version that it is compared with, and returns those of that version that are
// fixed, with the subject in which they were found. Name is the file of that
// version, "" for a pack that is new, of which every finding is. Where the version
// cannot be gated, the result says so. The nil baseline marks nothing. Head is what
// the result is of.
func (b *baseline) since(ctx context.Context, w *workspace, name string, policy gates.Policy, head *gate.Subject, result *gates.Result) (fixed []finding.Finding, in *gate.Subject, err error) {
	if b == nil {
		return nil, nil, nil
	}
	var before []finding.Finding
	if name != "" {
		in, err = b.before(ctx, w, name, head)
		if errors.Is(err, repo.ErrUse) {
			result.NotChecked = append(result.NotChecked, finding.NotChecked{
				Gate: version.Gate.ID, Reason: fmt.Sprintf("which findings are new is not known, for the base could not be read: %v", err),
			})
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		before = of(in, head, policy, result)
	}
	result.Findings, fixed = finding.Since(before, result.Findings)
	return fixed, in, nil
}

// before returns the version that a pack is compared with, as rules look at it: the
// pack itself where nothing of it has changed.
func (b *baseline) before(ctx context.Context, w *workspace, name string, head *gate.Subject) (*gate.Subject, error) {
	if name == head.Unit.Name {
		if same, err := b.unchanged(ctx, w, head); same || err != nil {
			return head, err
		}
	}
	return b.subject(w, name)
}

// of returns what the gates find in the version that a pack is compared with. Where
// nothing at all differs it is what they found in the pack: most packs of a change
// are as they were, and only gated again for what they depend on.
func of(base, head *gate.Subject, policy gates.Policy, result *gates.Result) []finding.Finding {
	if !sameFiles(base, head) {
		return gates.Run(base, policy).Findings
	}
	return slices.DeleteFunc(slices.Clone(result.Findings), func(f finding.Finding) bool { return f.Gate == version.Gate.ID })
}

// sameFiles reports whether two versions of a pack, the files beside them and the
// catalogs are the same, byte for byte.
func sameFiles(a, b *gate.Subject) bool {
	return slices.EqualFunc(sources(a), sources(b), func(x, y source) bool { return x.name == y.name && bytes.Equal(x.content, y.content) })
}

// source is a file that rules look at.
type source struct {
	name    string
	content []byte
}

// sources returns every file that rules look at, in a fixed order.
func sources(s *gate.Subject) []source {
	list := unitSources(s.Unit)
	for _, e := range s.Environments {
		list = append(list, source{e.Document.File, e.Document.Source})
	}
	return list
}

// unitSources returns the files of a pack, in a fixed order.
func unitSources(u *repo.Unit) []source {
	list := []source{{u.Name, u.Document.Source}}
	for _, f := range u.Files {
		list = append(list, source{f.Name, f.Document.Source})
	}
	for _, c := range u.Cases {
		if c.Snapshot != nil {
			list = append(list, source{c.Snapshot.Name, c.Snapshot.Source})
		}
	}
	return list
}
