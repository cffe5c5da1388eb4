package gating

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

// Progress is what has changed since the baseline in all that was asked for.
type Progress struct {
	// Triggers are why packs of the workspace have to be gated again, by pack file: what
	// changed of the things that they depend on.
	Triggers map[string][]refresh.Trigger
	// Gone are the packs of the baseline whose pack_id no pack of the workspace has.
	Gone []refresh.Pack
	// Environments are the catalogs of the baseline.
	Environments []*repo.Environment
	// pinsUnread is set if pins of the baseline are not valid: then it is not known what it pinned.
	pinsUnread bool
	// claims are the identities of the packs of the workspace, by pack file.
	claims identities
	// unread are the packs of the workspace that cannot be read, which may have changed.
	unread map[string]bool
}

// Progress compares all that was asked for with the baseline. The nil baseline gives the zero
// Progress. The error is for files or git objects that could not be read.
func (b *Baseline) Progress(ctx context.Context) (s Progress, err error) {
	if b == nil {
		return s, nil
	}
	files, err := b.packFiles(ctx)
	if err != nil {
		return s, err
	}
	steady, err := b.w.steady(files)
	if err != nil {
		return s, err
	}
	return b.progress(ctx, files, steady)
}

// progress is Progress for who knows which packs are steady.
func (b *Baseline) progress(ctx context.Context, files *baseFiles, steady map[string]*refresh.Facts) (s Progress, err error) {
	head, known, err := b.w.state(ctx, b.ConfigName, steady)
	if err != nil {
		return s, err
	}
	base, err := b.state(ctx, files, &head, known)
	if err != nil {
		return s, err
	}
	if s.pinsUnread, err = b.readPins(base.Environments); err != nil {
		return s, err
	}
	s.Environments = base.Environments
	if s.Gone = refresh.Gone(base, head); len(s.Gone) > 0 {
		all, err := b.w.withOthers(ctx, head)
		if err != nil {
			return s, err
		}
		s.Gone = refresh.Gone(base, all)
	}
	s.unread, s.claims = known.unread, identities{}
	for _, p := range head.Packs {
		if id := p.ID(); id != "" {
			s.claims[p.Name] = repo.Claim{ID: id, Version: strings.TrimPrefix(p.Ref(), id+"@")}
		}
	}
	s.Triggers = map[string][]refresh.Trigger{}
	for _, t := range refresh.Triggers(base, head) {
		s.Triggers[t.Pack] = append(s.Triggers[t.Pack], t)
	}
	return s, nil
}

// withOthers adds the packs that were not asked for to a state: a pack that seems to be gone may have
// moved there.
func (w *Workspace) withOthers(ctx context.Context, s refresh.State) (refresh.State, error) {
	all, err := w.Files.Find(w.Config)
	if unseen := new(repo.Unseen); errors.As(err, &unseen) {
		err = nil // which the run says
	}
	s.Packs = slices.Clone(s.Packs)
	for _, name := range all {
		if slices.Contains(w.Packs, name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return s, err
		}
		u, err := w.Files.UnitWithScorecards(name, w.Config)
		if err != nil {
			s.Packs = append(s.Packs, refresh.Pack{Name: name})
			continue
		}
		s.Packs = append(s.Packs, refresh.PackOf(u))
	}
	return s, err
}

// known is what triggers need of files, by the ids that git gives to their content. These files need
// not be read again.
type known struct {
	packs  map[string]*refresh.Facts
	steady map[string]*refresh.Facts // by name
	cards  map[string]scorecard
	unread map[string]bool // packs that cannot be read, by name; gating them reports why
}

// scorecard is what triggers need of the content of a scorecard.
type scorecard struct {
	digest pack.Digest
	of     string // the pack_id of the pack that it measured; "" if it has none
}

// state returns the state of the workspace, and what is known of its files afterwards. The config is
// the workspace's own, even if another one is in force; one that is not valid is ignored here, and
// reported elsewhere.
func (w *Workspace) state(ctx context.Context, configName string, steady map[string]*refresh.Facts) (s refresh.State, k known, err error) {
	s = refresh.State{Config: w.Config, Environments: w.Environments}
	k = known{map[string]*refresh.Facts{}, steady, map[string]scorecard{}, map[string]bool{}}
	own, err := w.Files.Config(configName)
	switch {
	case err == nil:
		s.Config = own
	case !errors.Is(err, repo.ErrUse):
		return s, k, err
	}
	for _, name := range w.Packs {
		if err := ctx.Err(); err != nil {
			return s, k, err
		}
		if facts := steady[name]; facts != nil {
			s.Packs = append(s.Packs, refresh.Pack{Name: name, Facts: facts})
			continue
		}
		u, err := w.Files.UnitWithScorecards(name, w.Config)
		if err != nil {
			s.Packs, k.unread[name] = append(s.Packs, refresh.Pack{Name: name}), true
			continue
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

// measured returns the pack_id of the pack that a scorecard measured, "" if it has none.
func measured(d *pack.Document) string {
	var card repo.Scorecard
	pack.Decode(d.Root, &card)
	id, _, _ := strings.Cut(card.Pack.Value, "@")
	return strings.Clone(id)
}

// state returns the state of the baseline. Files that the head has too, byte for byte, are taken from
// there. The head's catalog or config takes the place of one that is not valid, because nobody could
// have relied on that.
func (b *Baseline) state(ctx context.Context, l *baseFiles, head *refresh.State, k known) (refresh.State, error) {
	s := refresh.State{Config: head.Config}
	c, err := b.Config(b.ConfigName, false)
	switch {
	case err == nil:
		s.Config = c
	case errors.Is(err, github.ErrBaseUnreadable): // which is not the same as not valid
		return s, err
	}
	at := map[string][]int{} // packs by their folder
	for _, e := range l.entries {
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case e.Kind != github.KindFile:
		case k.steady[e.Path] != nil: // with its scorecards
			s.Packs = append(s.Packs, refresh.Pack{Name: e.Path, Facts: k.steady[e.Path]})
		case b.w.IsPack(e.Path) && b.w.inScope(e.Path):
			at[path.Dir(e.Path)] = append(at[path.Dir(e.Path)], len(s.Packs))
			s.Packs = append(s.Packs, refresh.Pack{Name: e.Path, Facts: k.packs[e.ID]})
			err = b.readPack(&s.Packs[len(s.Packs)-1])
		case repo.IsPins(e.Path): // read once the catalogs are
		case b.w.IsCatalog(e.Path):
			err = b.readCatalog(e.Path, head, &s)
		}
		if err != nil {
			return s, err
		}
	}
	cards := slices.DeleteFunc(slices.Clone(l.entries), func(e github.Entry) bool { return !isScorecard(e.Path) })
	return s, b.readScorecards(cards, k.cards, at, &s)
}

// once removes packs that are listed twice, by their own name and through a link, as the search for
// packs does.
func (b *Baseline) once(entries []github.Entry) []github.Entry {
	known := map[string]bool{}
	for _, e := range entries {
		if name, ok := b.Relative(e.Real); ok && name == e.Path && b.w.IsPack(name) {
			known[e.Real] = true
		}
	}
	return slices.DeleteFunc(entries, func(e github.Entry) bool {
		name, _ := b.Relative(e.Real)
		if name == e.Path || !b.w.IsPack(e.Path) {
			return false
		}
		again := known[e.Real]
		known[e.Real] = true
		return again
	})
}

func isScorecard(name string) bool {
	_, kind, ok := repo.SideKind(name)
	return ok && kind == "scorecard"
}

// readScorecards adds the scorecards of the baseline to the packs that they lie beside. In a folder of
// several packs, it adds them to those that they may be about. At has the packs by folder.
func (b *Baseline) readScorecards(entries []github.Entry, known map[string]scorecard, at map[string][]int, into *refresh.State) error {
	for _, e := range entries {
		dir, _, _ := repo.SideKind(e.Path)
		beside := at[dir]
		if len(beside) == 0 {
			continue
		}
		card, ok := known[e.ID]
		if !ok {
			src, _, err := b.Read(e.Path, b.w.Config.Limits.MaxBytes)
			if err != nil {
				return err
			}
			doc, _ := pack.Read(b.w.Files.Show(e.Path), src, b.w.Config.Limits)
			card = scorecard{refresh.FileOf("scorecard", doc).Digest, measured(doc)}
		}
		about := slices.DeleteFunc(slices.Clone(beside), func(i int) bool { return into.Packs[i].ID() != card.of })
		if len(about) == 0 || card.of == "" { // it may belong to any of them, as in a unit
			about = beside
		}
		for _, i := range about {
			into.Packs[i].Files = append(into.Packs[i].Files, refresh.File{Name: b.w.Files.Show(e.Path), Kind: "scorecard", Digest: card.digest})
		}
	}
	return nil
}

// readPack reads a pack of the baseline, unless its facts are known already.
func (b *Baseline) readPack(p *refresh.Pack) error {
	if p.Facts != nil {
		return nil
	}
	f, err := b.file(b.Commit, p.Name)
	if err == nil && f != nil && f.why == "" {
		read, _ := b.open(f)
		p.Facts = refresh.FactsOf(read)
	}
	return err
}

// readPins reads the pins files of the baseline into its environments. Unread is set if one of them is
// not valid.
func (b *Baseline) readPins(into []*repo.Environment) (unread bool, err error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	files, err := b.files(b.prefix, b.w.Files.Prefix)
	if err != nil {
		return false, err
	}
	if err = files.TakePins(into, b.w.Config.Limits); errors.Is(err, repo.ErrUse) {
		return true, nil
	}
	return false, err
}

// readCatalog reads a catalog of the baseline into its state.
func (b *Baseline) readCatalog(name string, head, into *refresh.State) error {
	src, ok, err := b.Read(name, b.w.Config.Limits.MaxBytes)
	if err != nil || !ok {
		return err
	}
	file := b.w.Files.Show(name)
	e, err := repo.ParseEnvironment(file, src, b.w.Config.Limits)
	if err != nil {
		i := slices.IndexFunc(head.Environments, func(e *repo.Environment) bool { return e.Document.File == file })
		if i < 0 {
			return nil
		}
		own := *head.Environments[i]
		e, own.PinsFile = &own, nil
	}
	into.Environments = append(into.Environments, e)
	return nil
}
