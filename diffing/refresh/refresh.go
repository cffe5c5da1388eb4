// Package refresh says which packs have to be gated again because something
// they depend on changed, although their own bytes may be what they were.
//
// A verdict is about more than a pack. The same pack passes today and fails
// tomorrow when the environment loses an endpoint, when another tokenizer counts
// its budgets, or when its evaluator measures anew; and a bundle, an adapter or
// a decision that is in several packs is one thing to those who run them,
// whichever file it was changed in. The Context Pack contract calls what makes a
// verdict stale a refresh trigger and names seven kinds of them.
//
// Triggers compares what two commits say of everything around the packs. It
// looks at each pack of the head and asks what that pack uses: the sections of
// every environment catalog, the settings of the config, its scorecards, and
// what other packs define under the same identity. What a pack does not use is
// no trigger for it, and neither are its own bytes: a pack that changed is gated
// for that reason anyway.
//
// What only says how strictly packs are judged (severity, strict, waivers,
// classes, reviews) or where they go (publish, pins, and how they are promoted) changes
// nothing that a pack depends on, and is no trigger.
package refresh

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Kind is the kind of a trigger, by the name that the Context Pack contract
// gives it.
type Kind string

// The kinds of triggers. What each of them covers beyond its name:
//   - PolicyBundle: roles that approve, issuers, and the highest approval mode;
//   - Ontology: the knowledge snapshot that an alias means;
//   - AdapterSchema: endpoints, and the schemes that lead to them;
//   - DecisionCatalog: intents, input and output schemas, sources of evidence;
//   - MemoryPolicy: the regions in which data may be kept;
//   - Evaluator: scorecards, and what the config asks of them;
//   - ModelConfig: how a context is compiled, and the runtime.
const (
	PolicyBundle    Kind = "POLICY_BUNDLE_UPDATED"
	Ontology        Kind = "ONTOLOGY_UPDATED"
	AdapterSchema   Kind = "ADAPTER_SCHEMA_UPDATED"
	DecisionCatalog Kind = "DECISION_CATALOG_UPDATED"
	MemoryPolicy    Kind = "MEMORY_POLICY_UPDATED"
	Evaluator       Kind = "EVALUATOR_UPDATED"
	ModelConfig     Kind = "MODEL_CONFIG_UPDATED"
)

// Kinds returns the seven kinds, in the order of the contract and of triggers.
func Kinds() []Kind {
	return []Kind{PolicyBundle, Ontology, AdapterSchema, DecisionCatalog, MemoryPolicy, Evaluator, ModelConfig}
}

// State is what one commit says. A Config that is nil is that of a repository
// without one. On a pull request the config of the base judges both sides; with
// the head's own the triggers say what will be stale once it is merged.
type State struct {
	Config       *repo.Config
	Environments []*repo.Environment
	Packs        []Pack
}

// Pack is a pack of a commit with the files beside it. Facts is nil where the
// file could not be read as an object; nothing is known of it then, and nothing
// is claimed.
type Pack struct {
	Name  string // of the pack file, relative to the repository's root
	Facts *Facts
	Files []File
}

// ID returns the pack_id, "" for a pack that has none or could not be read.
func (p *Pack) ID() string {
	if p.Facts == nil {
		return ""
	}
	return p.Facts.id
}

// Ref returns pack_id@version, "" for a pack that could not be read.
func (p *Pack) Ref() string {
	if p.Facts == nil {
		return ""
	}
	return p.Facts.ref
}

// Gone returns the packs of the base that the head has no more, in the order of the
// base: a pack is the one that its pack_id says, wherever it stands, and one without a
// pack_id is its file. A file that cannot be read in either may be what it is in the other.
func Gone(base, head State) []Pack {
	left, known := map[string]int{}, map[string]string{} // packs by pack_id, ids by file
	for i := range head.Packs {
		p := &head.Packs[i]
		left[p.ID()]++
		known[p.Name] = p.ID()
	}
	stays := func(p *Pack) bool {
		id, there := known[p.Name]
		return there && (id == "" || p.ID() == "" || id == p.ID())
	}
	var elsewhere, gone []Pack
	for i := range base.Packs {
		if p := &base.Packs[i]; stays(p) {
			left[p.ID()]--
		} else {
			elsewhere = append(elsewhere, *p)
		}
	}
	for i := range elsewhere {
		if id := elsewhere[i].ID(); id != "" && left[id] > 0 {
			left[id]--
		} else {
			gone = append(gone, elsewhere[i])
		}
	}
	return gone
}

// File is a file beside a pack, as far as triggers need it. Kind is that of
// repo.SideFile. Digest is equal for files that say the same.
type File struct {
	Name   string // as messages show it
	Kind   string
	Digest pack.Digest
}

// Trigger is one reason to gate a pack again.
type Trigger struct {
	Pack string `json:"pack"` // name of the pack file, as Pack.Name
	Kind Kind   `json:"kind"`
	What string `json:"what"` // what changed, in the grammar of messages
	// File is where it changed, as messages show it, and Path the keyed path
	// there: in the head, or in the base where the head has it no more. Path is
	// "" for a whole file.
	File string `json:"file"`
	Path string `json:"path"`
}

// PackOf returns what triggers need of a pack that was read with its side files,
// of which scorecards are enough. It keeps nothing of the unit in memory.
func PackOf(u *repo.Unit) Pack {
	p := Pack{Name: u.Name, Facts: FactsOf(u.Pack)}
	for _, f := range u.Files {
		p.Files = append(p.Files, FileOf(f.Kind, f.Document))
	}
	return p
}

// FileOf returns what triggers need of a side file. Its digest is that of the
// canonical form, so that formatting is no change, and that of the bytes where
// there is no such form.
func FileOf(kind string, d *pack.Document) File {
	digest, err := d.CanonicalDigest()
	if err != nil {
		digest = pack.DigestOf(d.Source)
	}
	return File{Name: d.File, Kind: kind, Digest: digest}
}

// Triggers returns why packs of the head have to be gated again: what each of
// them uses and what differs from the base. They are sorted by pack, kind and
// place; a state against itself has none. A pack that the base does not have is
// new and has no verdict that could be stale. It is followed by its pack_id where
// its file has moved.
func Triggers(base, head State) []Trigger {
	between := compare(base, head)
	var triggers []Trigger
	for i := range head.Packs {
		p := &head.Packs[i]
		before := between.earlier(p)
		if before == nil || p.Facts == nil {
			continue
		}
		found := scorecards(before, p)
		if len(found) == 0 && !between.concerns(p.Facts) {
			continue
		}
		c := p.Facts.content()
		if c == nil {
			continue
		}
		found = slices.Concat(between.catalogs(c.uses), between.config(c.uses), between.shared(c), found)
		for i := range found {
			found[i].Pack = p.Name
		}
		triggers = append(triggers, found...)
	}
	slices.SortFunc(triggers, compareTriggers)
	return slices.Compact(triggers)
}

func compareTriggers(a, b Trigger) int {
	return cmp.Or(
		cmp.Compare(a.Pack, b.Pack),
		cmp.Compare(slices.Index(Kinds(), a.Kind), slices.Index(Kinds(), b.Kind)),
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.What, b.What),
	)
}

// step is the step from one state to another, with what all packs ask of it.
type step struct {
	base, head   State
	environments []environments
	differ       bool             // the config or an environment does
	byName, byID map[string]*Pack // of the base
	changed      map[definition]*changes
}

func compare(base, head State) *step {
	for _, s := range []*State{&base, &head} {
		if s.Config == nil {
			s.Config = repo.DefaultConfig()
		}
	}
	s := &step{base: base, head: head, byName: map[string]*Pack{}, byID: map[string]*Pack{}}
	stays := map[string]bool{}
	for i := range head.Packs {
		stays[head.Packs[i].Name] = true
	}
	for i := range base.Packs {
		p := &base.Packs[i]
		s.byName[p.Name] = p
		if id := p.ID(); id != "" && !stays[p.Name] && s.byID[id] == nil {
			s.byID[id] = p
		}
	}
	s.environments = pairs(base.Environments, head.Environments)
	s.differ = differ(&base, &head, s.environments)
	s.changed = s.definitions()
	return s
}

// concerns reports whether anything changed that a pack may use.
func (s *step) concerns(f *Facts) bool {
	return f.unread == nil || s.differ || f.mayDefine(s.changed)
}

// differ reports whether the config or a catalog is another one than it was.
func differ(base, head *State, between []environments) bool {
	source := func(d *pack.Document) []byte {
		if d == nil {
			return nil
		}
		return d.Source
	}
	return !bytes.Equal(source(base.Config.Document), source(head.Config.Document)) || slices.ContainsFunc(between, func(e environments) bool {
		was, is := e.both[0], e.both[1]
		return was == nil || is == nil || !bytes.Equal(source(was.Document), source(is.Document))
	})
}

// earlier returns the pack of the base that a pack of the head was, nil for a
// new one.
func (s *step) earlier(p *Pack) *Pack {
	if before := s.byName[p.Name]; before != nil {
		return before
	}
	return s.byID[p.ID()]
}
