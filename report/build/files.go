package build

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// besideFile is a file that a pack is gated with, by its name as messages show it.
type besideFile struct {
	shown string
	form  []byte // canonical, where it has one
}

// changedFiles returns the files beside a pack, environment catalogs included, that say
// something else than before. No edit of one goes unseen, whatever the gates make of it.
func changedFiles(before, now *gate.Subject) (list []model.FileChange) {
	if before == nil || before == now {
		return nil
	}
	was, is := beside(before), beside(now)
	for name, f := range is {
		switch old, there := was[name]; {
		case !there:
			list = append(list, model.FileChange{File: f.shown, Kind: "added"})
		case !bytes.Equal(old.form, f.form):
			list = append(list, model.FileChange{File: f.shown, Kind: "changed"})
		}
	}
	for name, f := range was {
		if _, there := is[name]; !there {
			list = append(list, model.FileChange{File: f.shown, Kind: "removed"})
		}
	}
	slices.SortFunc(list, func(a, b model.FileChange) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// fileKey is the name of a file beside a pack: within the pack's folder, so that a pack may
// move, or else in the repository.
type fileKey struct {
	within bool
	name   string
}

func beside(s *gate.Subject) map[fileKey]besideFile {
	files, dir := map[fileKey]besideFile{}, path.Dir(s.Unit.Document.File)
	add := func(f *repo.SideFile) {
		files[fileKey{true, s.Unit.Within(f.Name)}] = besideFile{f.Document.File, canonicalForm(f.Document)}
	}
	for _, f := range s.Unit.Files {
		add(f)
	}
	for _, c := range s.Unit.Cases {
		if c.Snapshot != nil {
			name := s.Unit.Within(c.Snapshot.Name)
			files[fileKey{true, name}] = besideFile{path.Join(dir, name), c.Snapshot.Source}
		}
	}
	for _, c := range s.Unit.Scorecards {
		if sign := c.Signature; sign != nil {
			files[fileKey{true, s.Unit.Within(sign.Name)}] = besideFile{sign.File, append([]byte(sign.Unread), sign.Source...)}
		}
	}
	for _, e := range s.Environments {
		files[fileKey{false, e.Document.File}] = besideFile{e.Document.File, canonicalForm(e.Document)}
	}
	return files
}

// canonicalForm returns what a document says in one form, or its bytes where it has faults.
func canonicalForm(d *pack.Document) []byte {
	if digest, err := d.CanonicalDigest(); err == nil {
		return []byte(digest)
	}
	return d.Source
}
