package gating

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// subject reads a pack of a commit with its side files and the environment catalogs of the commit, as
// rules look at them. The config is the one in force, so that only the files make the gates find
// something else. The workspace's catalogs take the place of catalogs that are not valid, because
// nobody could have relied on those; if there are Git LFS pointers among them, the gap is set.
func (b *Baseline) subject(c *Commit, name string) (*gate.Subject, *gap, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	files, err := c.files(c.prefix, b.w.Files.Prefix)
	if err != nil {
		return nil, nil, err
	}
	unit, err := files.Unit(name, b.w.Config)
	if err != nil {
		return nil, nil, err
	}
	var lacks *gap
	environments, err := files.Environments(b.w.Config)
	switch {
	case errors.Is(err, repo.ErrUse):
		environments = b.w.Environments
		if strings.Contains(err.Error(), pack.PointerMessage) {
			lacks = &gap{err.Error(), true}
		}
	case err != nil:
		return nil, nil, err
	}
	return b.w.subject(unit, environments), lacks, nil
}

// before sets j.before to the version that a pack is compared with, as rules look at it: the pack itself
// if nothing of it has changed, and nil for a new pack. If the files of that version cannot all be read,
// it returns a finding about that, and the newest earlier version whose files can takes its place. The
// nil baseline has no version.
func (b *Baseline) before(ctx context.Context, j *judged) ([]finding.Finding, error) {
	if r := j.compared.published; r != nil {
		_, err := j.succeed(ctx, b, r) // released reports why it may not be known completely
		return nil, err
	}
	from := j.compared.from
	if b == nil || from == nil {
		return nil, nil
	}
	if from.at == b.Commit && from.name == j.subject.Unit.Name {
		if same, err := b.unchanged(ctx, j.subject); same || err != nil {
			j.before = j.subject
			return nil, err
		}
	}
	before, lacks, err := b.whole(from.at, from.name)
	var found []finding.Finding
	if err == nil && lacks != nil {
		var better *gate.Subject
		if better, found, err = b.wholeBefore(ctx, j, lacks); better != nil {
			before = better
		}
	}
	if err == nil {
		j.stoodIn = len(found) > 0
		j.against(before, !j.stoodIn)
	}
	return found, err
}

// against sets the version that the pack is judged against, nil if nothing is known of it. Compared is
// set if it is the version of the comparison.
func (j *judged) against(before *gate.Subject, compared bool) {
	j.before = before
	if before != nil && !sameFiles(before, j.subject) {
		j.subject.Before = before
		j.subject.Equal = compared && j.compared.Diff.PermitsTheSame()
	}
}

// since marks the findings of a pack as new or existing, by what the gates find in the version that it
// is compared with, and notes the findings of that version that are fixed. All findings of a new pack
// are new.
func (j *judged) since(b *Baseline, policy gates.Policy, where gates.Where) {
	if j.before == nil && j.compared.File != "" {
		return // nothing is known of that version
	}
	var before []finding.Finding
	switch {
	case j.before == nil:
	case j.subject.Before != nil:
		before = gates.Run(j.before, policy, gates.Outside{Class: j.class(), Where: where}).Findings
		j.was = before
	default: // nothing of the pack has changed, so the version before has the same findings
		before = slices.DeleteFunc(slices.Clone(j.result.Findings), func(f finding.Finding) bool { return f.Gate == version.Gate.ID })
	}
	j.markOld(b, policy, before)
	j.result.Findings, j.fixed = finding.Since(before, j.result.Findings)
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
		for _, d := range e.Sources() {
			list = append(list, source{d.File, d.Source})
		}
	}
	return list
}

// unitSources returns the files of a pack, and those of the packs that its golden cases name
// beside it, in a fixed order.
func unitSources(u *repo.Unit) (list []source) {
	units := []*repo.Unit{u}
	for i := 0; i < len(units); i++ {
		one := units[i]
		list = append(list, source{one.Name, one.Document.Source})
		for _, f := range one.Files {
			list = append(list, source{f.Name, f.Document.Source})
		}
		for _, c := range one.Scorecards {
			if c.Signature != nil {
				list = append(list, source{c.Signature.Name, c.Signature.Source})
			}
		}
		for _, c := range one.Cases {
			if c.Snapshot != nil {
				list = append(list, source{c.Snapshot.Name, c.Snapshot.Source})
			}
		}
		for _, other := range one.Beside {
			if !slices.Contains(units, other) {
				units = append(units, other)
			}
		}
	}
	return list
}

// listing is what the baseline has of packs and the files beside them, by their names
// relative to the root of the workspace.
type listing struct {
	entries []github.Entry
	// catalogs is set if the environment catalogs are those of the workspace, byte for byte.
	catalogs bool
}

// unchanged reports whether a pack, the files beside it and the environment catalogs are the same in
// the baseline and in the workspace, byte for byte. It compares the ids that git gives to content, and
// reads nothing. False may also mean that it is not certain.
func (b *Baseline) unchanged(ctx context.Context, head *gate.Subject) (bool, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.listed == nil {
		var err error
		if b.listed, err = b.listing(ctx); err != nil {
			return false, err
		}
	}
	if !b.listed.catalogs {
		return false, nil
	}
	here := map[string]string{}
	for _, f := range unitSources(head.Unit) {
		here[f.name] = blobID(f.content)
	}
	packs, same := 0, 0
	for _, e := range b.listed.below(head.Unit.Dir()) {
		if path.Dir(e.Path) == head.Unit.Dir() && b.w.IsPack(e.Path) {
			packs++
		}
		if !repo.Belongs(head.Unit.Name, e.Path) {
			continue
		}
		if here[e.Path] != e.ID || e.Kind != github.KindFile {
			return false, nil
		}
		same++
	}
	// In a folder of several packs, a file may belong to one of the others.
	return packs == 1 && same == len(here), nil
}

// listing lists the baseline.
func (b *Baseline) listing(ctx context.Context) (*listing, error) {
	entries, err := b.list(ctx, func(name string) bool { return strings.HasSuffix(name, ".json") })
	if err != nil {
		return nil, err
	}
	catalogs := map[string]string{}
	for _, e := range b.w.Environments {
		for _, d := range e.Sources() {
			catalogs[d.File] = blobID(d.Source)
		}
	}
	l, same := &listing{entries: entries}, 0
	for _, e := range entries {
		if !b.w.IsCatalog(e.Path) {
			continue
		}
		if e.Kind != github.KindFile || catalogs[b.w.Files.Show(e.Path)] != e.ID {
			return l, nil
		}
		same++
	}
	l.catalogs = same == len(catalogs)
	return l, nil
}

// below returns what is in a folder and in those below it.
func (l *listing) below(dir string) []github.Entry {
	if dir == "." {
		return l.entries
	}
	from := func(name string) int {
		return sort.Search(len(l.entries), func(i int) bool { return l.entries[i].Path >= name })
	}
	return l.entries[from(dir+"/"):from(dir+"0")] // the character that follows the slash
}
