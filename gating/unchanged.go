package gating

import (
	"context"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// listing is what the baseline has of packs and the files beside them, by their names
// relative to the root of the workspace.
type listing struct {
	entries []github.Entry
	// catalogs says that the environment catalogs are those of the workspace, byte for
	// byte.
	catalogs bool
}

// unchanged reports whether a pack, the files beside it and the environment catalogs
// are in the baseline what they are in the workspace, byte for byte. That is told by
// the ids that git gives to content, so nothing is read for it. False also means that
// it is not certain.
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
	here := ids(unitSources(head.Unit))
	there := b.listed.below(head.Unit.Dir())
	packs, same := 0, 0
	for _, e := range there {
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
	// Of several packs in one folder a file may be left to one of the others.
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
		catalogs[e.Document.File] = blobID(e.Document.Source)
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
	first := sort.Search(len(l.entries), func(i int) bool { return l.entries[i].Path >= dir+"/" })
	rest := l.entries[first:]
	end := slices.IndexFunc(rest, func(e github.Entry) bool { return !strings.HasPrefix(e.Path, dir+"/") })
	if end < 0 {
		return rest
	}
	return rest[:end]
}

// ids returns the ids that git gives to files, by name.
func ids(files []source) map[string]string {
	list := map[string]string{}
	for _, f := range files {
		list[f.name] = blobID(f.content)
	}
	return list
}
