package diffing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// Diff is the comparison of two versions of a pack.
type Diff struct {
	Base, Head Side
	// Class is the highest class of all changes. Declared is the class that
	// the step from the base's pack_version to the head's stands for; None
	// where the two are equal, the head's is lower, or one is no version.
	Class, Declared Class
	// Required is the lowest pack_version that the changes allow. It is empty
	// where the declared one is enough, and where no version is: changes that
	// are unsafe under any version, and a base without a readable version.
	Required string
	// Layers are the ten layers in the contract's order, those without changes
	// included, and a last one called Other if members of the root that the
	// contract does not know have changed.
	Layers []Layer
	// Effects are what differs in what the two versions permit, over all requests,
	// and Effect what that comes to; Undecided where something is not proved. What
	// is equal is not listed, unless the claim takes something for granted.
	Effects []proof.Change
	Effect  proof.Verdict
	// Joint is what the change permits more, or may permit more, together with packs that
	// golden cases name beside this one, and not by itself.
	Joint []Joint

	content       Class          // the highest class of the changes, the version's own aside
	contradiction *Contradiction // nil if there is none
	base          *pack.Pack
	head          *pack.Pack
	writing       []string // endpoints that do more than read, by the catalogs
}

// Side is one of the two versions.
type Side struct {
	PackID, Version string
	File            string      // as messages show it
	Digest          pack.Digest // of the canonical form
}

// Other is the name of the layer that holds changes of unknown root members.
const Other = "other"

// Layer holds the changes of one layer of the contract.
type Layer struct {
	Name    string
	Class   Class // the highest of the changes
	Changes []Change
}

// Change is one unit that differs: a member, an item that was added or removed
// as a whole, a condition, the bounds on an argument.
type Change struct {
	Layer string
	// Path is the keyed path of what changed: in the base for what was removed,
	// in the head for all else.
	Path  string
	Kind  Kind
	Row   string // id of the row of the class table that decided
	Class Class
	// NeedsHumanClass says that the public text leaves the class open, that the
	// stricter one was taken, and that no override has settled it.
	NeedsHumanClass bool
	Reason          string // why this class
	// Old and New are the values, nil where a side has none.
	Old, New       *pack.Node
	OverrideReason string // the config's reason for another class; empty if there is none
	// Proof is what is proved about what the change permits; nil for one that has
	// nothing to do with that.
	Proof *Proof
}

// Fingerprint identifies the change in later comparisons: by its row, its place
// and its kind, and not by the words of the reason.
func (c Change) Fingerprint() string {
	return finding.ChangeFingerprint(c.Row, c.Path, c.Kind.String())
}

// BeyondProof reports whether the change may alter what agents can do in a way that no proof about
// requests sees, and no override has settled that it is less than major.
func (c Change) BeyondProof() bool {
	r := shared().byID[c.Row]
	return r != nil && r.Beyond && c.Class >= Major
}

// Packs returns the two versions.
func (d *Diff) Packs() (base, head *pack.Pack) { return d.base, d.head }

// Changes returns the changes of all layers, in order.
func (d *Diff) Changes() []Change {
	var all []Change
	for _, l := range d.Layers {
		all = append(all, l.Changes...)
	}
	return all
}

// Override is the config's decision on a row of the class table that the public
// text leaves open.
type Override struct {
	Change string // id of the row, such as pack_meta.ttl_seconds
	Class  Class
	Reason string
}

// Class says what a change asks of the version: the part of it that has to be
// raised, or that no version can carry the change.
type Class uint8

// The classes, from the weakest to the strongest. The class of several changes
// is the highest of theirs.
const (
	None   Class = iota // nothing that anyone could notice
	Patch               // metadata only
	Minor               // constrained behaviour
	Major               // expanded or changed behaviour
	Reject              // unsafe or ambiguous, whatever the version is
)

var classNames = []string{"none", "patch", "minor", "major", "reject"}

// ErrClass is wrapped by errors about words that name no class.
var ErrClass = errors.New("no class")

// String returns "none", "patch", "minor", "major" or "reject".
func (c Class) String() string {
	if int(c) >= len(classNames) {
		return fmt.Sprintf("Class(%d)", uint8(c))
	}
	return classNames[c]
}

// ParseClass reads what String writes. The error wraps ErrClass.
func ParseClass(s string) (Class, error) {
	if i := slices.Index(classNames, s); i >= 0 {
		return Class(i), nil
	}
	return None, fmt.Errorf("%q is %w: want one of %s", s, ErrClass, strings.Join(classNames, ", "))
}

// MarshalText writes the class as String does, so that it is a word in JSON.
func (c Class) MarshalText() ([]byte, error) {
	if int(c) >= len(classNames) {
		return nil, fmt.Errorf("%s is %w", c, ErrClass)
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads what MarshalText writes. The error wraps ErrClass.
func (c *Class) UnmarshalText(text []byte) error {
	parsed, err := ParseClass(string(text))
	if err == nil {
		*c = parsed
	}
	return err
}

// Kind says what happened to a value.
type Kind uint8

// The kinds of changes.
const (
	Added   Kind = iota // only the head has it
	Removed             // only the base has it
	Changed             // both have it, with different content
	Renamed             // an item with the same content under another identity
)

// String returns "added", "removed", "changed" or "renamed".
func (k Kind) String() string {
	return [...]string{"added", "removed", "changed", "renamed"}[k]
}

// MarshalText writes the kind as String does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// ErrContradiction is what Contradicted's error is: a fault of packgate itself.
var ErrContradiction = fault.NewKind("packgate contradicts itself",
	"raise the major version to go on, and report this with both versions of the pack: the class was wrong")

// Contradiction is a request that shows more than a class has room for.
type Contradiction struct {
	Class   Class          // that the changes were judged to have; set by Contradict
	What    string         // what is permitted more, in the grammar of messages
	Request map[string]any // data of conditions, see proof.Request
}

// Unsettled returns the class as it is without the overrides of the config.
func (d *Diff) Unsettled() (c Class) {
	for _, change := range d.Changes() {
		own := change.Class
		if change.OverrideReason != "" {
			own = max(own, shared().byID[change.Row].Class)
		}
		c = max(c, own)
	}
	return c
}

// PermitsTheSame reports whether it is proved that the same is permitted, and no change is
// major for another reason. Of no comparison nothing is.
func (d *Diff) PermitsTheSame() bool {
	return d != nil && d.Effect == proof.Equal && d.Unsettled() < Major
}

// Contradict notes a request for which more is permitted than the class says
// (decisions D5). The class becomes major.
func (d *Diff) Contradict(c Contradiction) {
	if d.contradiction == nil {
		c.Class = d.Unsettled()
	}
	d.contradiction = &c
	d.Class, d.content = max(d.Class, Major), max(d.content, Major)
	d.Required = d.required()
}

// Contradiction returns what contradicts the class that the changes were judged to have,
// nil if nothing does.
func (d *Diff) Contradiction() *Contradiction { return d.contradiction }

// Contradicted returns an error where the class had to be raised against what the
// comparison said, and the version that is declared is below it; nil otherwise.
func (d *Diff) Contradicted() error {
	if d == nil || d.contradiction == nil || d.Declared >= Major {
		return nil
	}
	return &fault.Error{
		Kind: ErrContradiction,
		Message: fmt.Sprintf("%s: packgate contradicts itself: the changes were judged below major, but %s for the request %s",
			d.Head.File, d.contradiction.What, pack.CompactJSON(d.contradiction.Request)),
	}
}
