package cli

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/go-git/go-git/v5/plumbing"
)

// triggers returns why packs of the workspace have to be gated again: what
// changed since the baseline of the things that they depend on. They are keyed by
// pack file. The nil baseline has none.
func (b *baseline) triggers(ctx context.Context, w *workspace) (map[string][]refresh.Trigger, error) {
	if b == nil {
		return nil, nil
	}
	head, known, err := w.state(b.configName)
	if err != nil {
		return nil, err
	}
	base, err := b.state(ctx, w, &head, known)
	if err != nil {
		return nil, err
	}
	byPack := map[string][]refresh.Trigger{}
	for _, t := range refresh.Triggers(base, head) {
		byPack[t.Pack] = append(byPack[t.Pack], t)
	}
	return byPack, nil
}

// known is what triggers need of files by the ids that git gives their bytes. What
// stands in it needs not be read again.
type known struct {
	packs map[string]*refresh.Facts
	cards map[string]scorecard
}

// scorecard is what triggers need of the content of a scorecard.
type scorecard struct {
	digest pack.Digest
	of     string // the pack_id of the pack that it measured; "" where it does not say
}

// state returns what the workspace says, and what is known of its files by now. Its
// config is its own, also where another one is in force; one that is not valid says
// nothing, and is reported elsewhere.
func (w *workspace) state(configName string) (s refresh.State, k known, err error) {
	s = refresh.State{Config: w.config, Environments: w.environments}
	k = known{map[string]*refresh.Facts{}, map[string]scorecard{}}
	own, err := w.files.Config(configName)
	switch {
	case err == nil:
		s.Config = own
	case !errors.Is(err, repo.ErrUse):
		return s, k, err
	}
	for _, name := range w.packs {
		u, err := w.files.UnitWithScorecards(name, w.config)
		if err != nil {
			return s, k, err
		}
		p := refresh.PackOf(u)
		s.Packs = append(s.Packs, p)
		if p.Facts != nil {
			k.packs[blobID(u.Document.Source)] = p.Facts
		}
		for i, f := range u.Files {
			k.cards[blobID(f.Document.Source)] = scorecard{p.Files[i].Digest, measured(f.Document)}
		}
	}
	return s, k, nil
}

// blobID returns the id that git gives to content.
func blobID(content []byte) string {
	return plumbing.ComputeHash(plumbing.BlobObject, content).String()
}

// measured returns the pack_id of the pack that a scorecard measured, "" where it
// does not say.
func measured(d *pack.Document) string {
	var fields repo.ScorecardFields
	pack.Decode(d.Root, &fields)
	id, _, _ := strings.Cut(fields.Pack.Value, "@")
	return strings.Clone(id)
}

// state returns what the baseline says. Files that are in the head byte for byte
// are taken from there. A catalog or config of the baseline that is not valid is
// taken to say what the head's says: nobody could have relied on it.
func (b *baseline) state(ctx context.Context, w *workspace, head *refresh.State, k known) (refresh.State, error) {
	s := refresh.State{Config: head.Config}
	c, err := b.config(b.configOf(), false)
	switch {
	case err == nil:
		s.Config = c
	case errors.Is(err, github.ErrBaseUnreadable): // unlike one that is not valid
		return s, err
	}
	entries, err := b.tree.List(ctx, func(name string) bool {
		name, ok := b.relative(name)
		return ok && (w.isPack(name) || w.isCatalog(name) || isScorecard(name))
	})
	if err != nil {
		return s, err
	}
	at := map[string][]int{} // packs by their folder
	for _, e := range entries {
		name, _ := b.relative(e.Path)
		if e.Kind != github.KindFile {
			continue
		}
		switch {
		case w.isPack(name):
			at[path.Dir(name)] = append(at[path.Dir(name)], len(s.Packs))
			s.Packs = append(s.Packs, refresh.Pack{Name: name, Facts: k.packs[e.ID]})
			err = b.readPack(w, &s.Packs[len(s.Packs)-1])
		case w.isCatalog(name):
			err = b.readCatalog(w, name, head, &s)
		}
		if err != nil {
			return s, err
		}
	}
	return s, b.readScorecards(w, entries, at, &s, k)
}

func isScorecard(name string) bool {
	_, kind, ok := repo.SideKind(name)
	return ok && kind == "scorecard"
}

// readScorecards adds the scorecards of the baseline to the packs beside which they
// stand, in a folder of several to those that they may be about. At holds the packs
// by their folder.
func (b *baseline) readScorecards(w *workspace, entries []github.Entry, at map[string][]int, into *refresh.State, k known) error {
	for _, e := range entries {
		name, _ := b.relative(e.Path)
		dir, _, _ := repo.SideKind(name)
		if !isScorecard(name) || len(at[dir]) == 0 {
			continue
		}
		card, ok := k.cards[e.ID]
		if !ok {
			src, _, err := b.read(name, w.config.Limits.MaxBytes)
			if err != nil {
				return err
			}
			doc, _ := pack.Read(w.files.Show(name), src, w.config.Limits)
			card = scorecard{refresh.FileOf("scorecard", doc).Digest, measured(doc)}
		}
		about := slices.DeleteFunc(slices.Clone(at[dir]), func(i int) bool { return into.Packs[i].ID() != card.of })
		if len(about) == 0 || card.of == "" { // it may be any's, as in a unit
			about = at[dir]
		}
		for _, i := range about {
			into.Packs[i].Files = append(into.Packs[i].Files, refresh.File{Name: w.files.Show(name), Kind: "scorecard", Digest: card.digest})
		}
	}
	return nil
}

// configOf returns the config file of the baseline, relative to the root of the
// workspace.
func (b *baseline) configOf() string {
	if b.configName == "" {
		return repo.ConfigName
	}
	return b.configName
}

// readPack reads a pack of the baseline, unless what it says is known already.
func (b *baseline) readPack(w *workspace, p *refresh.Pack) error {
	if p.Facts != nil {
		return nil
	}
	src, ok, err := b.read(p.Name, w.config.Limits.MaxBytes)
	if err == nil && ok {
		read, _ := b.open(w, &packFile{p.Name, src})
		p.Facts = refresh.FactsOf(read)
	}
	return err
}

// readCatalog reads a catalog of the baseline into its state.
func (b *baseline) readCatalog(w *workspace, name string, head, into *refresh.State) error {
	src, ok, err := b.read(name, w.config.Limits.MaxBytes)
	if err != nil || !ok {
		return err
	}
	file := w.files.Show(name)
	e, err := repo.ParseEnvironment(file, src, w.config.Limits)
	if err != nil {
		i := slices.IndexFunc(head.Environments, func(e *repo.Environment) bool { return e.Document.File == file })
		if i < 0 {
			return nil
		}
		e = head.Environments[i]
	}
	into.Environments = append(into.Environments, e)
	return nil
}
