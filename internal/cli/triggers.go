package cli

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/refresh"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/go-git/go-git/v5/plumbing"
)

// triggers returns why packs of the workspace have to be gated again: what
// changed since the baseline of the things that they depend on. They are keyed by
// pack file. The nil baseline has none.
func (b *baseline) triggers(ctx context.Context, w *workspace) (map[string][]refresh.Trigger, error) {
	if b == nil {
		return nil, nil
	}
	head, err := w.state(b.configName)
	if err != nil {
		return nil, err
	}
	base, err := b.state(ctx, w, &head)
	if err != nil {
		return nil, err
	}
	byPack := map[string][]refresh.Trigger{}
	for _, t := range refresh.Triggers(base, head) {
		byPack[t.Pack] = append(byPack[t.Pack], t)
	}
	return byPack, nil
}

// state returns what the workspace says. Its config is its own, also where
// another one is in force; one that is not valid says nothing, and is reported
// elsewhere.
func (w *workspace) state(configName string) (refresh.State, error) {
	s := refresh.State{Config: w.config, Environments: w.environments}
	own, err := w.files.Config(configName)
	switch {
	case err == nil:
		s.Config = own
	case !errors.Is(err, repo.ErrUse):
		return s, err
	}
	for _, name := range w.packs {
		u, err := w.files.Unit(name, w.config)
		if err != nil {
			return s, err
		}
		s.Packs = append(s.Packs, refresh.PackOf(u))
	}
	return s, nil
}

// state returns what the baseline says. Packs that are in the head byte for byte
// are taken from there. A catalog or config of the baseline that is not valid is
// taken to say what the head's says: nobody could have relied on it.
func (b *baseline) state(ctx context.Context, w *workspace, head *refresh.State) (refresh.State, error) {
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
		_, kind, side := repo.SideKind(name)
		return ok && (w.isPack(name) || w.isCatalog(name) || side && kind == "scorecard")
	})
	if err != nil {
		return s, err
	}
	same := identical(head)
	at := map[string][]int{} // packs by their folder
	for _, e := range entries {
		name, _ := b.relative(e.Path)
		if e.Kind != github.KindFile {
			continue
		}
		switch {
		case w.isPack(name):
			at[path.Dir(name)] = append(at[path.Dir(name)], len(s.Packs))
			s.Packs = append(s.Packs, refresh.Pack{Name: name, Pack: same[e.ID]})
			err = b.readPack(w, &s.Packs[len(s.Packs)-1])
		case w.isCatalog(name):
			err = b.readCatalog(w, name, head, &s)
		}
		if err != nil {
			return s, err
		}
	}
	for _, e := range entries {
		name, _ := b.relative(e.Path)
		if dir, kind, ok := repo.SideKind(name); ok && kind == "scorecard" && len(at[dir]) > 0 {
			src, _, err := b.read(name, w.config.Limits.MaxBytes)
			if err != nil {
				return s, err
			}
			doc, _ := pack.Read(w.files.Show(name), src, w.config.Limits)
			for _, i := range at[dir] {
				s.Packs[i].Files = append(s.Packs[i].Files, refresh.FileOf(kind, doc))
			}
		}
	}
	return s, nil
}

// configOf returns the config file of the baseline, relative to the root of the
// workspace.
func (b *baseline) configOf() string {
	if b.configName == "" {
		return repo.ConfigName
	}
	return b.configName
}

// identical returns the packs of a state by the ids that git gives their bytes.
func identical(s *refresh.State) map[string]*pack.Pack {
	packs := map[string]*pack.Pack{}
	for _, p := range s.Packs {
		if p.Pack != nil {
			id := plumbing.ComputeHash(plumbing.BlobObject, p.Pack.Node.Document().Source)
			packs[id.String()] = p.Pack
		}
	}
	return packs
}

// readPack reads a pack of the baseline, unless it is known already.
func (b *baseline) readPack(w *workspace, p *refresh.Pack) error {
	if p.Pack != nil {
		return nil
	}
	src, ok, err := b.read(p.Name, w.config.Limits.MaxBytes)
	if err == nil && ok {
		p.Pack, _ = b.open(w, &packFile{p.Name, src})
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
