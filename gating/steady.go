package gating

import (
	"context"
	"path"
	"slices"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// baseFiles are what the baseline has of packs and of files beside them, by the names relative to the workspace, with the
// ids that git gives to their content.
type baseFiles struct {
	entries []github.Entry
	packs   map[string]string
	cards   map[string]map[string]string // scorecards by the folder of their packs
	several map[string]bool              // folders of several packs
}

func (b *Baseline) packFiles(ctx context.Context) (*baseFiles, error) {
	entries, err := b.list(ctx, func(name string) bool { return b.w.IsPack(name) || b.w.IsCatalog(name) || isScorecard(name) })
	if err != nil {
		return nil, err
	}
	l := &baseFiles{b.once(entries), map[string]string{}, map[string]map[string]string{}, map[string]bool{}}
	folders := map[string]bool{}
	for _, e := range l.entries {
		dir := path.Dir(e.Path)
		switch {
		case isScorecard(e.Path):
			of, _, _ := repo.SideKind(e.Path)
			if l.cards[of] == nil {
				l.cards[of] = map[string]string{}
			}
			l.cards[of][e.Path] = e.ID
		case b.w.IsPack(e.Path):
			l.several[dir], folders[dir] = folders[dir], true
			if e.Kind == github.KindFile && b.w.inScope(e.Path) {
				l.packs[e.Path] = e.ID
			}
		}
	}
	return l, nil
}

// steady returns the facts of those packs of the workspace that the baseline has byte for byte, with the same
// scorecards, by pack file. They are read once somebody asks what they say. A pack that shares its folder with another
// one is none of them, because the scorecards there may belong to either.
func (w *Workspace) steady(l *baseFiles) (map[string]*refresh.Facts, error) {
	patterns := repo.NewPatterns(repo.PackPatterns(w.Config))
	isPack := func(name string) bool { return w.IsPack(name) || patterns.Match(name) }
	facts, err := ofEach(w.Packs, func(name string) (*refresh.Facts, error) { return w.steadyFacts(name, l, isPack) })
	all := map[string]*refresh.Facts{}
	for i, f := range facts {
		if f != nil {
			all[w.Packs[i]] = f
		}
	}
	return all, err
}

// steadyFacts returns nil for a pack that is not steady.
func (w *Workspace) steadyFacts(name string, l *baseFiles, isPack func(name string) bool) (*refresh.Facts, error) {
	id, there := l.packs[name]
	if dir := path.Dir(name); !there || l.several[dir] {
		return nil, nil
	}
	is, src, err := w.Files.Claim(name, w.Config.Limits.MaxBytes)
	if err != nil || src == nil || blobID(src) != id {
		return nil, err
	}
	beside, cards, err := w.Files.Scorecards(name)
	if err != nil || slices.ContainsFunc(beside, func(n string) bool { return n != name && isPack(n) }) || len(cards) != len(l.cards[path.Dir(name)]) {
		return nil, nil // reading it says what is wrong
	}
	for _, card := range cards {
		if src, err := w.Files.Content(card, w.Config.Limits.MaxBytes); err != nil || src == nil || blobID(src) != l.cards[path.Dir(name)][card] {
			return nil, err
		}
	}
	again := func() []byte {
		src, _ := w.Files.Content(name, w.Config.Limits.MaxBytes)
		return src
	}
	return refresh.FactsLater(refresh.Unread{ID: is.ID, Version: is.Version, Source: again, Read: func() *pack.Pack {
		doc, _, err := w.Files.Document(name, w.Config.Limits)
		if err != nil {
			return nil
		}
		return pack.New(doc)
	}}), nil
}
