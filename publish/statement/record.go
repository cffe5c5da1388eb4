package statement

import (
	"cmp"
	"slices"
	"time"

	"github.com/contextosai/packgate/pack"
)

// Kind is the kind of statement that a record is about.
type Kind string

// The kinds.
const (
	KindPublish Kind = "publish" // a version was published (TypeSummary)
	KindState   Kind = "state"   // a version was deprecated or revoked (TypeState)
	KindPin     Kind = "pin"     // an environment was moved to a version (TypePin)
	KindBundle  Kind = "bundle"  // what an environment makes of a version was published
	KindStop    Kind = "stop"    // an environment was stopped
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{KindPublish, KindState, KindPin, KindBundle, KindStop} }

// ofEnvironment tells whether a statement of the kind is about one environment.
func (k Kind) ofEnvironment() bool { return k == KindPin || k == KindBundle || k == KindStop }

// Entry names a statement that is in the registry.
type Entry struct {
	Kind        Kind
	Manifest    string // digest of the manifest that it is attached to
	Bundle      string // digest of the Sigstore bundle that it is signed in
	Environment string // of a pin, an environment's bundle, or a stop; "" for another kind
}

// Record is one link of the history of a pack: it names a statement that was signed, and
// the records before it. The version of which it speaks is that of the statement.
type Record struct {
	Version
	Resource string   // registry/pack_id whose history it is of, as that of a Summary
	Sequence int      // 1 for the first, else one more than the highest of the records before it
	Previous []string // digests of the manifests of all records that no other names; none for the first
	Entry             // the statement that is recorded
	Adopts   []Entry  // statements that were signed earlier and that no record names, sorted by bundle
	Time     time.Time
}

// The bounds of a record.
const (
	MaxPrevious = 32          // records that no other names, of which there should be one
	MaxAdopted  = 1000        // statements that one record adopts
	MaxSequence = 999_999_999 // the highest sequence
)

func (r Record) check() error {
	c := &checker{}
	c.version("", r.Version)
	c.text("the resource", r.Resource)
	c.that(r.Sequence >= 1 && r.Sequence <= MaxSequence, "the sequence is %d, wanted 1 to %d", r.Sequence, MaxSequence)
	c.that((len(r.Previous) == 0) == (r.Sequence == 1), "record %d names %s before it, wanted none for the first and one or more for any other",
		r.Sequence, pack.Counted(len(r.Previous), "record"))
	c.that(len(r.Previous) <= MaxPrevious, "there are %d records before it, wanted at most %d", len(r.Previous), MaxPrevious)
	for i, digest := range r.Previous {
		c.digest("the digest of a record before it", digest)
		c.that(i == 0 || r.Previous[i-1] < digest, "the records before it are not in order, or one is listed twice: %q", digest)
	}
	c.entry("", r.Entry)
	c.that(r.Kind == KindBundle || r.Entry.Manifest == r.Version.Manifest,
		"the recorded statement is attached to %s, wanted the manifest that the record is about", r.Entry.Manifest)
	c.that(len(r.Adopts) <= MaxAdopted, "there are %d adopted statements, wanted at most %d", len(r.Adopts), MaxAdopted)
	for i, e := range r.Adopts {
		c.entry("adopted ", e)
		c.that(i == 0 || r.Adopts[i-1].Bundle < e.Bundle, "the adopted statements are not in order, or one is listed twice: %q", e.Bundle)
		c.that(e.Bundle != r.Bundle, "the adopted statement %q is the recorded one", e.Bundle)
	}
	c.time("the time", r.Time)
	return c.err
}

func (c *checker) entry(prefix string, e Entry) {
	c.that(slices.Contains(Kinds(), e.Kind), "the %sstatement's kind is %q, wanted one of %q", prefix, e.Kind, Kinds())
	c.digest("the digest of the "+prefix+"statement's manifest", e.Manifest)
	c.digest("the digest of the "+prefix+"statement", e.Bundle)
	if e.Kind.ofEnvironment() {
		c.environment(e.Environment)
	} else {
		c.that(e.Environment == "", "the %sstatement is of the kind %q and names the environment %q, wanted none", prefix, e.Kind, e.Environment)
	}
}

// Statement returns the in-toto Statement of the record in its canonical bytes. It
// fails where a member is missing or malformed.
func (r Record) Statement() ([]byte, error) {
	r.Previous = slices.Sorted(slices.Values(r.Previous))
	r.Adopts = slices.Clone(r.Adopts)
	slices.SortFunc(r.Adopts, func(a, b Entry) int { return cmp.Compare(a.Bundle, b.Bundle) })
	if err := r.check(); err != nil {
		return nil, err
	}
	previous, adopts := []object{}, []object{}
	for _, digest := range r.Previous {
		previous = append(previous, object{}.withDigest("digest", digest))
	}
	for _, e := range r.Adopts {
		adopts = append(adopts, e.object())
	}
	return encode(r.Version, TypeRecord, object{
		"resource": r.Resource, "sequence": r.Sequence, "previous": previous, "recorded": r.Entry.object(), "adopts": adopts, "time": r.Time.Format(timeForm),
	})
}

func (e Entry) object() object {
	return object{"kind": e.Kind}.withDigest("manifest", e.Manifest).withDigest("statement", e.Bundle).with("environment", e.Environment)
}

// Record reads the predicate of a statement of TypeRecord. It fails for one of another
// type, and where a member is missing or malformed.
func (s *Statement) Record() (*Record, error) {
	p, r := s.predicate(TypeRecord)
	out := &Record{
		Version:  s.Version(),
		Resource: r.text(p, "resource"),
		Sequence: r.sequence(p, "sequence"),
		Entry:    r.entry(r.object(p, "recorded")),
		Time:     r.time(p, "time"),
	}
	for _, item := range r.array(p, "previous") {
		out.Previous = append(out.Previous, r.digest(item, "digest"))
	}
	for _, item := range r.array(p, "adopts") {
		out.Adopts = append(out.Adopts, r.entry(item))
	}
	return checked(out, r.err)
}

func (r *reader) entry(n *pack.Node) Entry {
	return Entry{
		Kind: Kind(r.text(n, "kind")), Manifest: r.digest(n, "manifest"), Bundle: r.digest(n, "statement"),
		Environment: r.optional(n, "environment"),
	}
}
