package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/repo"
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
// cannot be gated, the result says so. The nil baseline marks nothing.
func (b *baseline) since(w *workspace, name string, policy gates.Policy, result *gates.Result) (fixed []finding.Finding, in *gate.Subject, err error) {
	if b == nil {
		return nil, nil, nil
	}
	var before []finding.Finding
	if name != "" {
		in, err = b.subject(w, name)
		if errors.Is(err, repo.ErrUse) {
			result.NotChecked = append(result.NotChecked, finding.NotChecked{
				Gate: version.Gate.ID, Reason: fmt.Sprintf("which findings are new is not known, for the base could not be read: %v", err),
			})
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		before = gates.Run(in, policy).Findings
	}
	result.Findings, fixed = finding.Since(before, result.Findings)
	return fixed, in, nil
}
