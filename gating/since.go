package gating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
func (b *Baseline) subject(name string) (*gate.Subject, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	files, err := b.files(b.prefix, b.w.Files.Prefix)
	if err != nil {
		return nil, err
	}
	unit, err := files.Unit(name, b.w.Config)
	if err != nil {
		return nil, err
	}
	environments, err := files.Environments(b.w.Config)
	switch {
	case errors.Is(err, repo.ErrUse):
		environments = b.w.Environments
	case err != nil:
		return nil, err
	}
	return gate.NewSubject(unit, environments, b.w.Config), nil
}

// since marks the findings of a pack as new or existing, by what the gates find in
// the version that it is compared with, and notes those of that version that are
// fixed, with the subject in which they were found. Of a pack that is new every finding
// is. Where the version cannot be gated, the result says so. The nil baseline marks
// nothing.
func (b *Baseline) since(ctx context.Context, policy gates.Policy, j *judged) (err error) {
	if b == nil {
		return nil
	}
	var before []finding.Finding
	if j.compared.File != "" {
		j.before, err = b.before(ctx, j.compared.File, j.subject)
		if errors.Is(err, repo.ErrUse) {
			j.before = nil
			j.notChecked(fmt.Sprintf("which findings are new is not known, for the base could not be read: %v", err))
			return nil
		}
		if err != nil {
			return err
		}
		before = findingsBefore(j, policy)
	}
	j.result.Findings, j.fixed = finding.Since(before, j.result.Findings)
	return nil
}

// before returns the version that a pack is compared with, as rules look at it: the
// pack itself where nothing of it has changed.
func (b *Baseline) before(ctx context.Context, name string, head *gate.Subject) (*gate.Subject, error) {
	if name == head.Unit.Name {
		if same, err := b.unchanged(ctx, head); same || err != nil {
			return head, err
		}
	}
	return b.subject(name)
}

// findingsBefore returns what the gates find in the version that a pack is compared with.
// Where nothing at all differs it is what they found in the pack: most packs of a change
// are as they were, and only gated again for what they depend on.
func findingsBefore(j *judged, policy gates.Policy) []finding.Finding {
	if !sameFiles(j.before, j.subject) {
		return gates.Run(j.before, policy).Findings
	}
	return slices.DeleteFunc(slices.Clone(j.result.Findings), func(f finding.Finding) bool { return f.Gate == version.Gate.ID })
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
