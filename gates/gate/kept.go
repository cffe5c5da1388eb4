package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo/overlay"
)

// Origin is what all follows from that a rule says of a pack which is compared with nothing.
type Origin uint8

// The origins.
const (
	Anything     Origin = iota // it is not said, and the rule is checked each time
	FromPack                   // the decisive layers of the pack, and the config
	FromOverlays               // these, and the overlays beside the pack
	FromCases                  // these, and all that golden cases are compiled with
)

// decisive are the layers that decide what a pack permits. What the others say is in the
// text that a model reads, and no request is compiled to something else for it.
var decisive = []string{
	"contract_meta", "pack_meta", "intelligence_refs", "policy_layer", "tooling_layer", "decision_layer", "evaluation_layer",
}

// Kept keeps what the rules with an origin said of a pack, for as long as that is the same: a
// run over it puts nobody's question again. Whatever verdict others rely on is made without
// one. It may be used by several goroutines.
type Kept struct {
	lock    sync.Mutex
	known   map[digest]*said // what whole runs said
	made    map[digest]*said // what the run at hand says
	run     int              // that is at hand, counted
	answers int              // that were not made again
}

type digest [sha256.Size]byte

// said is what all rules of one origin said. They share what they found out on the way, so
// that it is kept of all of them or of none.
type said struct {
	rules map[string]answer // by id
	reach *proof.Found      // nil where nobody has asked for it
	open  bool              // of some rule it cannot be kept
	used  int               // the last run that used it
}

// answer is what one rule said, with the places where the layers begin in which it said it.
type answer struct {
	found      []finding.Finding
	notChecked []finding.NotChecked
	starts     map[string]finding.Position // by layer
	account    proof.Account
	reach      *proof.Found
}

// Answers returns how many results of rules were used again.
func (k *Kept) Answers() int {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.answers
}

// Done says that a run over the pack has come to its end: what it said is kept, and what it
// and the run before it did not use is dropped.
func (k *Kept) Done() {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.known == nil {
		k.known = map[digest]*said{}
	}
	for of, s := range k.made {
		if !s.open {
			k.known[of] = s
		}
	}
	for of, s := range k.known {
		if s.used < k.run-1 {
			delete(k.known, of)
		}
	}
	k.made, k.run = nil, k.run+1
}

// Keep returns the subject, whose rules say again what is kept. It is called before the
// subject is looked at; nil keeps nothing.
func (s *Subject) Keep(k *Kept) *Subject {
	s.kept = k
	return s
}

// Done says that a run over the subject has come to its end: see Kept.
func (s *Subject) Done() {
	if s.kept != nil {
		s.kept.Done()
	}
}

// Check returns what a rule finds in the subject, and what it could not check. What is kept of
// it is not found out again.
func (s *Subject) Check(g *Gate, r *Rule) ([]finding.Finding, []finding.NotChecked) {
	if found, notChecked, ok := s.Said(r); ok {
		return found, notChecked
	}
	p := NewPass(s.within(r), g, r)
	r.Check(p)
	found, notChecked := p.Results()
	if of, key, ok := s.origin(r); ok && s.Context().Err() == nil {
		m := s.Proof()
		s.kept.keep(key, r, of, answer{found: found, notChecked: notChecked, starts: of.starts, account: m.Account(), reach: m.Found()})
	}
	return found, notChecked
}

// within returns the subject as a rule with an origin may look at it: without the catalogs, without
// golden cases where they are not of its origin, and without what a view differs in from the pack.
func (s *Subject) within(r *Rule) *Subject {
	if r.From == Anything {
		return s
	}
	own := *s
	own.Environments, own.Catalogs, own.differing = nil, nil, nil
	own.resolved = func(v *overlay.View) *Subject { return s.Resolved(v).within(r) }
	if r.From != FromCases {
		own.golden = func() []golden.Result { panic("golden cases are not of the origin of " + r.ID) }
	}
	return &own
}

// Said returns what a rule said of the subject in an earlier run, at the places where it is
// now; ok is false where nobody knows.
func (s *Subject) Said(r *Rule) (found []finding.Finding, notChecked []finding.NotChecked, ok bool) {
	of, key, ok := s.origin(r)
	if !ok {
		return nil, nil, false
	}
	a, ok := s.kept.find(key, r)
	if !ok {
		return nil, nil, false
	}
	s.resume(a.account)
	return of.placed(a), slices.Clone(a.notChecked), true
}

func (k *Kept) find(of digest, r *Rule) (answer, bool) {
	k.lock.Lock()
	defer k.lock.Unlock()
	s := k.known[of]
	if s == nil {
		return answer{}, false
	}
	s.used = k.run
	a, ok := s.rules[r.ID]
	if ok {
		k.answers++
	}
	return a, ok
}

func (k *Kept) keep(key digest, r *Rule, of *origin, a answer) {
	a, ok := of.kept(a)
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.made == nil {
		k.made = map[digest]*said{}
	}
	s := k.made[key]
	if s == nil {
		s = &said{rules: map[string]answer{}, used: k.run}
		k.made[key] = s
	}
	s.rules[r.ID], s.open = a, s.open || !ok
	s.reach = cmp.Or(s.reach, a.reach)
}

// reached returns what was found of what requests can reach, in another text with the same
// decisive layers; nil where nothing was.
func (s *Subject) reached() *proof.Found {
	if s.kept == nil || s.Before != nil || s.origins() == nil {
		return nil
	}
	s.kept.lock.Lock()
	defer s.kept.lock.Unlock()
	if before := s.kept.known[s.origins().digests[FromPack]]; before != nil {
		return before.reach
	}
	return nil
}

// origin is what the results of rules follow from in one form of a pack.
type origin struct {
	file, revision string
	starts         map[string]finding.Position // of the decisive layers
	digests        map[Origin]digest
}

// origin returns what a rule's results follow from, and its digest; ok is false where they are not
// kept. Why a pack cannot be compiled may be written in any layer.
func (s *Subject) origin(r *Rule) (of *origin, key digest, ok bool) {
	if r.From == Anything || s.kept == nil || s.Before != nil || s.origins() == nil || s.Proof().Broken() != "" {
		return nil, key, false
	}
	of = s.origins()
	if r.From != FromCases {
		return of, of.digests[r.From], true
	}
	cases := s.cases()
	if cases == nil {
		return nil, key, false
	}
	own, sum := of.digests[FromOverlays], sums{sha256.New()}
	sum.add(string(own[:]), string(cases[:]))
	return of, sum.digest(FromCases), true
}

// findCases digests what golden cases are compiled with; nil where something of that cannot be read.
func (s *Subject) findCases() *digest {
	of := s.origins()
	if of == nil {
		return nil
	}
	own, sum := of.digests[FromOverlays], sums{sha256.New()}
	sum.add(string(own[:]))
	for _, f := range s.Unit.Files {
		sum.add(f.Name, string(f.Document.Source))
	}
	for _, u := range s.Unit.Beside {
		sum.add(u.Name, string(u.Document.Source))
	}
	for _, e := range s.Environments {
		sum.add(e.Path, string(e.Document.Source))
	}
	all := sum.digest(FromCases)
	return &all
}

// findOrigin digests what results follow from. A pack in which something cannot be read has
// none.
func (s *Subject) findOrigin() *origin {
	d := s.Unit.Document
	if s.Pack == nil || d == nil || d.Root == nil || d.Root.Kind != pack.Object || len(s.Unit.Faults) > 0 || len(s.Pack.United) > 0 {
		return nil
	}
	of := &origin{file: d.File, revision: d.Revision, starts: map[string]finding.Position{}, digests: map[Origin]digest{}}
	sum := sums{sha256.New()}
	sum.add(d.File, d.Revision, s.Unit.Name)
	for _, m := range d.Root.Members {
		if !slices.Contains(decisive, m.Name) {
			continue
		}
		if _, twice := of.starts[m.Name]; twice {
			return nil
		}
		of.starts[m.Name] = d.Position(m.Start)
		sum.add(m.Name, string(d.Source[m.Start:m.Value.End]))
	}
	if c := s.Config.Document; c != nil {
		sum.add(c.File, string(c.Source))
	}
	of.digests[FromPack] = sum.digest(FromPack)
	for _, o := range s.Unit.Overlays {
		sum.add(o.Name, o.Document.File, string(o.Document.Source))
	}
	of.digests[FromOverlays] = sum.digest(FromOverlays)
	return of
}

// sums digests texts, each with its length.
type sums struct{ hash.Hash }

func (t sums) add(texts ...string) {
	for _, text := range texts {
		t.Write(binary.AppendUvarint(nil, uint64(len(text))))
		t.Write([]byte(text))
	}
}

func (t sums) digest(of Origin) (sum digest) {
	t.Hash.Sum(sum[:0])
	sum[0] ^= byte(of)
	return sum
}

// kept returns an answer as it is kept. It is not ok where it names a place of the pack that
// may be elsewhere in another text with the same layers.
func (of *origin) kept(a answer) (answer, bool) {
	a.found = slices.Clone(a.found)
	ok := true
	each(a.found, func(l *finding.Location) {
		if _, known := of.start(*l); l.File == of.file && l.Revision == of.revision && !known {
			ok = false
		}
	})
	return a, ok
}

// placed returns the findings of an answer at the places that are theirs in this text.
func (of *origin) placed(a answer) []finding.Finding {
	found := slices.Clone(a.found)
	each(found, func(l *finding.Location) {
		is, known := of.start(*l)
		if !known || l.File != of.file || l.Revision != of.revision {
			return
		}
		was := a.starts[layerOf(*l)]
		l.Start, l.End = moved(l.Start, was, is), moved(l.End, was, is)
	})
	return found
}

// start returns where the layer of a place begins.
func (of *origin) start(l finding.Location) (finding.Position, bool) {
	p, ok := of.starts[layerOf(l)]
	return p, ok
}

func layerOf(l finding.Location) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(l.Pointer, "/"), "/")
	return name
}

// moved returns a position of a layer that began in one place and begins in another.
func moved(p, was, is finding.Position) finding.Position {
	if p.Line == was.Line {
		p.Column += is.Column - was.Column
	}
	p.Line += is.Line - was.Line
	p.Offset += is.Offset - was.Offset
	return p
}

// each calls do for all places of findings, whose lists are their own from then on.
func each(found []finding.Finding, do func(*finding.Location)) {
	for i := range found {
		f := &found[i]
		do(&f.Location)
		f.Related = slices.Clone(f.Related)
		for j := range f.Related {
			do(&f.Related[j].Location)
		}
	}
}
