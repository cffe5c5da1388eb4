package diffing

import (
	"github.com/contextosai/packgate/finding"
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
	// are to be redesigned, and a base without a readable version.
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

	content       Class          // the highest class of the changes, the version's own aside
	contradiction *Contradiction // nil if there is none
	base          *pack.Pack
	head          *pack.Pack
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
