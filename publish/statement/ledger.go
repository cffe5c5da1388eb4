package statement

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// Ledger is what a publisher has said of all its packs in a registry, as one document: the
// subject of a [Status]. It is not signed itself, but by its digest, so that it may be
// larger than a statement.
type Ledger struct {
	Registry  string // the registry path
	Publisher string
	Sequence  int
	Packs     map[string]PackLedger // by pack_id
}

// PackLedger is what a ledger says of one pack.
type PackLedger struct {
	Head   Head                  // of its chain of records
	States map[string]string     // the state in force of a version that has one, by the digest of its manifest
	Pins   map[string]*PinLedger // by environment; nil for one that was stopped
}

// Head names the newest record of a pack's chain; zero where it has none.
type Head struct {
	Sequence int
	Digest   string
}

// PinLedger is the version that an environment runs.
type PinLedger struct {
	Manifest string
	Bundle   string // digest of the environment's bundle, "" where there is none
	Version  string // MAJOR.MINOR.PATCH
}

// MaxLedger bounds the size of a ledger, in bytes: some 100,000 versions that have a state.
const MaxLedger = 12 << 20

var (
	packForm    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[A-Za-z0-9_.:-]{1,255}\z`) })
	versionForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(0|[1-9][0-9]{0,17})(\.(0|[1-9][0-9]{0,17})){2}\z`)
	})
)

// Status returns the statement about the ledger of these bytes, without its time.
func (l *Ledger) Status(document []byte) Status {
	return Status{Subject: Subject{l.Registry, string(pack.DigestOf(document))}, Publisher: l.Publisher, Sequence: l.Sequence}
}

func (l *Ledger) check() error {
	c := &checker{}
	c.subject(Subject{l.Registry, emptyDigest})
	c.text("the publisher", l.Publisher)
	c.sequence(l.Sequence)
	for _, id := range slices.Sorted(maps.Keys(l.Packs)) {
		c.packLedger(id, l.Packs[id])
	}
	return c.err
}

// emptyDigest is a digest, for checks of which it is not the subject.
var emptyDigest = string(pack.DigestOf(nil))

func (c *checker) packLedger(id string, p PackLedger) {
	c.that(packForm().MatchString(id), "a pack is %q, wanted a pack_id", id)
	if p.Head != (Head{}) {
		c.sequence(p.Head.Sequence)
		c.digest("the head of "+id, p.Head.Digest)
	}
	for digest, state := range p.States {
		if !isDigest(digest) || state != StateDeprecated && state != StateRevoked {
			c.digest("a version of "+id, digest)
			c.that(state == StateDeprecated || state == StateRevoked, "the state of %s is %q, wanted %q or %q", digest, state, StateDeprecated, StateRevoked)
		}
	}
	for environment, pin := range p.Pins {
		c.that(environmentForm().MatchString(environment), "an environment of %s is %q, wanted up to 124 letters, digits and . _ -", id, environment)
		if pin == nil {
			continue
		}
		c.digest("what "+environment+" runs", pin.Manifest)
		c.that(versionForm().MatchString(pin.Version), "the version that %s runs is %q, wanted MAJOR.MINOR.PATCH", environment, pin.Version)
		if pin.Bundle != "" {
			c.digest("the bundle that "+environment+" runs", pin.Bundle)
		}
	}
}

// Document returns the canonical bytes of the ledger. It fails where a member is missing
// or malformed, and where there are more than MaxLedger.
func (l *Ledger) Document() ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	packs := object{}
	for id, p := range l.Packs {
		one, pins, states := object{}, object{}, object{}
		for environment, pin := range p.Pins {
			pins[environment] = nil
			if pin != nil {
				pins[environment] = object{"manifest": pin.Manifest, "version": pin.Version}.with("bundle", pin.Bundle)
			}
		}
		for digest, state := range p.States {
			states[digest] = state
		}
		if p.Head != (Head{}) {
			one["head"] = object{"sequence": p.Head.Sequence, "digest": p.Head.Digest}
		}
		one["pins"], one["states"] = pins, states
		packs[id] = one
	}
	src, err := json.Marshal(object{"registry": l.Registry, "publisher": l.Publisher, "sequence": l.Sequence, "packs": packs})
	if err != nil {
		return nil, err
	}
	if src, err = pack.Canonical(src); err != nil {
		return nil, err
	}
	if len(src) > MaxLedger {
		return nil, fmt.Errorf("the status document has %d bytes, wanted at most %d", len(src), MaxLedger)
	}
	return src, nil
}

// ReadLedger reads a ledger strictly. It fails for what could not have been written.
func ReadLedger(src []byte) (*Ledger, error) {
	const what = "status document"
	root, err := treeOf(what, src, pack.Limits{MaxBytes: MaxLedger, MaxDepth: 8, MaxValues: 1 << 20})
	if err != nil {
		return nil, err
	}
	r := &reader{what: what}
	out := &Ledger{Registry: r.text(root, "registry"), Publisher: r.text(root, "publisher"), Sequence: r.sequence(root, "sequence"), Packs: map[string]PackLedger{}}
	if packs := r.object(root, "packs"); packs != nil {
		for _, m := range packs.Members {
			out.Packs[m.Name] = r.packLedger(r.objectIn(packs, m))
		}
	}
	return checked(out, r.err)
}

// objectIn returns the value of a member, which has to be an object. It does not look for the
// member, of which there may be many.
func (r *reader) objectIn(parent *pack.Node, m pack.Member) *pack.Node {
	if m.Value.Kind != pack.Object {
		r.fail(parent, m.Name, "is %s, wanted %s", m.Value.Kind, pack.Object)
		return nil
	}
	return m.Value
}

func (r *reader) packLedger(one *pack.Node) PackLedger {
	p := PackLedger{Pins: map[string]*PinLedger{}}
	if head := r.optionalObject(one, "head"); head != nil {
		p.Head = Head{r.sequence(head, "sequence"), r.text(head, "digest")}
	}
	if states := r.object(one, "states"); states != nil {
		p.States = make(map[string]string, len(states.Members))
		for _, m := range states.Members {
			if m.Value.Kind != pack.String {
				r.fail(states, m.Name, "is %s, wanted %s", m.Value.Kind, pack.String)
			}
			p.States[m.Name] = m.Value.Text
		}
	}
	if pins := r.object(one, "pins"); pins != nil {
		for _, m := range pins.Members {
			p.Pins[m.Name] = nil
			if m.Value.Kind != pack.Null {
				pin := r.objectIn(pins, m)
				p.Pins[m.Name] = &PinLedger{Manifest: r.text(pin, "manifest"), Bundle: r.optional(pin, "bundle"), Version: r.text(pin, "version")}
			}
		}
	}
	return p
}
