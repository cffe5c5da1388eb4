package diffing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/wI2L/jsondiff"
)

// ErrIncomparable is wrapped by errors about packs that cannot be compared.
var ErrIncomparable = errors.New("not comparable")

// Compare compares two versions of a pack, both as read by package pack.
// Neither is nil. Overrides settle the rows of the class table that are open. The
// error wraps ErrOverride for an override that cannot be, and ErrIncomparable
// for a side that has no canonical form, because the reader found a fault in it.
func Compare(base, head *pack.Pack, overrides []Override) (*Diff, error) {
	settled, err := settle(overrides)
	if err != nil {
		return nil, err
	}
	d := &Diff{base: base, head: head, Effect: proof.Equal}
	var baseErr, headErr error
	d.Base, baseErr = sideOf(base)
	d.Head, headErr = sideOf(head)
	switch {
	case baseErr != nil && headErr != nil:
		return nil, fmt.Errorf("%w: base: %w; head: %w", ErrIncomparable, baseErr, headErr)
	case baseErr != nil:
		return nil, fmt.Errorf("%w: base: %w", ErrIncomparable, baseErr)
	case headErr != nil:
		return nil, fmt.Errorf("%w: head: %w", ErrIncomparable, headErr)
	}
	changes := d.changes(settled)
	for _, c := range changes {
		d.content = max(d.content, c.Class)
	}
	d.Declared = declared(d.Base.Version, d.Head.Version)
	d.Required = d.required()
	if c, ok := d.versionChange(); ok {
		changes = append(changes, c)
	}
	d.arrange(changes)
	return d, nil
}

// changes returns the changes, each with its class.
func (d *Diff) changes(settled settlement) (changes []Change) {
	if d.Base.Digest == d.Head.Digest {
		return nil
	}
	base, head := newSide(d.base), newSide(d.head)
	list := units(base, head)
	if len(list) == 0 {
		return nil
	}
	for _, u := range list {
		u.choose()
	}
	proofs := prove(base, head, list)
	d.Effects, d.Effect = proofs.effects, proof.Overall(proofs.effects)
	for i, u := range list {
		changes = append(changes, settled.judge(u, proofs.proof(i)))
	}
	return changes
}

func sideOf(p *pack.Pack) (Side, error) {
	doc := p.Node.Document()
	digest, err := doc.CanonicalDigest()
	return Side{
		PackID: p.PackMeta.PackID.Value, Version: p.PackMeta.PackVersion.Value, File: doc.File, Digest: digest,
	}, err
}

// arrange puts the changes into their layers, in the order of their paths.
func (d *Diff) arrange(changes []Change) {
	for _, name := range append(pack.Layers(), Other) {
		l := Layer{Name: name}
		for _, c := range changes {
			if c.Layer == name {
				l.Changes = append(l.Changes, c)
				l.Class = max(l.Class, c.Class)
			}
		}
		if name == Other && l.Changes == nil {
			continue
		}
		slices.SortStableFunc(l.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
		d.Layers = append(d.Layers, l)
		d.Class = max(d.Class, l.Class)
	}
}

// versionPath is the one member whose change is no content: what it has to be
// follows from all the others.
const versionPath = "/pack_meta/pack_version"

// units returns what differs between two packs, by path.
func units(base, head *side) []*unit {
	alignSpecs(base, head)
	f := finder{base: base, head: head, found: map[string]*unit{}}
	// The error is for values that are none of JSON's, which forms do not hold.
	patch, _ := jsondiff.CompareWithoutMarshal(base.form, head.form)
	for _, op := range patch {
		segments, _ := pack.SplitPointer(op.Path)
		f.descend(segments)
	}
	slices.SortFunc(f.list, func(a, b *unit) int { return strings.Compare(a.path, b.path) })
	return renamed(f.list)
}

// finder collects the units that operations belong to.
type finder struct {
	base, head *side
	found      map[string]*unit
	list       []*unit
}

// descend follows the path of an operation through the contract's places. It
// stops at a place that is compared as a whole, and goes on below a value that
// holds several units and was added or removed with all of them. An array
// without names is one unit, since nothing tells its items apart.
func (f *finder) descend(segments []string) {
	at := shared().root
	for i, s := range segments {
		if at.below == nil {
			f.add(segments[:i], at.rows)
			return
		}
		if f.plainArray(segments[:i]) {
			f.strange(segments[:i])
			return
		}
		next := at.child(s)
		if next == nil {
			f.strange(segments[:i+1])
			return
		}
		at = next
	}
	switch {
	case at.below != nil && len(at.rows) > 0 && !f.object(segments):
		f.strange(segments) // a text where an item belongs
	case len(at.rows) > 0:
		f.add(segments, at.rows)
	case !f.explode(segments):
		f.add(segments, []*Row{shared().byID[rowDefault]})
	}
}

// object reports whether what either side has at the path is an object.
func (f *finder) object(segments []string) bool {
	path := join(segments)
	for _, s := range []*side{f.base, f.head} {
		if n := s.at(path); n != nil && n.Kind != pack.Object {
			return false
		}
	}
	return true
}

// explode descends into each member of the object that one side has at the
// path, and reports whether there was one with members.
func (f *finder) explode(segments []string) bool {
	base, inBase := valueAt(f.base.form, segments)
	head, inHead := valueAt(f.head.form, segments)
	if inBase == inHead {
		return false
	}
	if inHead {
		base = head
	}
	members, _ := base.(map[string]any)
	for name := range members {
		f.descend(append(slices.Clone(segments), name))
	}
	return len(members) > 0
}

func valueAt(form any, segments []string) (value any, ok bool) {
	for _, s := range segments {
		members, _ := form.(map[string]any)
		if form, ok = members[s]; !ok {
			return nil, false
		}
	}
	return form, true
}

// strange adds a unit at a place that no row of the table is about.
func (f *finder) strange(segments []string) {
	id := rowOther
	if f.base.unknown(segments) || f.head.unknown(segments) {
		id = rowUnknown
	}
	f.add(segments, []*Row{shared().byID[id]})
}

// plainArray reports whether either side has an array without names there.
func (f *finder) plainArray(segments []string) bool {
	for _, s := range []*side{f.base, f.head} {
		value, _ := valueAt(s.form, segments)
		if _, ok := value.([]any); ok {
			return true
		}
	}
	return false
}

// add adds the unit at a path, once. Where neither side has a value there, which
// is so within arrays of the wrong shape, the unit is the nearest one around.
func (f *finder) add(segments []string, rows []*Row) {
	path := join(segments)
	u := &unit{path: path, rows: rows, old: f.base.at(path), new: f.head.at(path), base: f.base, head: f.head}
	switch {
	case u.old == nil && u.new == nil && len(segments) > 0:
		f.strange(segments[:len(segments)-1])
		return
	case path == versionPath, f.found[path] != nil, u.repeated(), reordered(u):
		return
	case u.old == nil:
		u.kind = Added
	case u.new == nil:
		u.kind = Removed
	default:
		u.kind = Changed
	}
	f.found[path] = u
	f.list = append(f.list, u)
}

func join(segments []string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(pack.EscapeSegment(s))
	}
	return b.String()
}
