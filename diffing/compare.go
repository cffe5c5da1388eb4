package diffing

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// ErrIncomparable is wrapped by errors about packs that cannot be compared.
var ErrIncomparable = errors.New("not comparable")

// Compare compares two versions of a pack, both as read by package pack.
// Neither is nil. Overrides settle the rows of the class table that are open. Writing are
// endpoints of which the catalogs say that they do more than read. The
// error wraps ErrOverride for an override that cannot be, and ErrIncomparable
// for a side that has no canonical form, because the reader found a fault in it.
func Compare(base, head *pack.Pack, overrides []Override, writing ...string) (*Diff, error) {
	settled, err := settle(overrides)
	if err != nil {
		return nil, err
	}
	d := &Diff{base: base, head: head, writing: writing, Effect: proof.Equal}
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
	base, head := newSide(d.base, d.writing...), newSide(d.head, d.writing...)
	list := units(base, head)
	if len(list) == 0 {
		return d.orders()
	}
	for _, u := range list {
		u.choose()
	}
	proofs := prove(base, head, list)
	d.Effects, d.Effect = proofs.effects, proof.Overall(proofs.effects)
	unapproved := proofs.unapproved()
	for i, u := range list {
		c := settled.judge(u, proofs.proof(i))
		if unapproved[i] && c.Class < Reject {
			c.become(shared().byID[rowUnapproved])
		}
		changes = append(changes, c)
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
	f.descend(shared().root, nil, base.form, head.form)
	slices.SortFunc(f.list, func(a, b *unit) int { return strings.Compare(a.path, b.path) })
	return renamed(f.list)
}

// finder collects the units that differ.
type finder struct {
	base, head *side
	found      map[string]*unit
	list       []*unit
}

// absent is in the place of a value that a side does not have.
type absent struct{}

// descend goes through the contract's places, nil beyond them, as far as two values
// differ. It stops at a place that is compared as a whole, and goes on below a value
// that holds several units and was added or removed with all of them. An array
// without names is one unit, since nothing tells its items apart.
func (f *finder) descend(at *place, segments []string, base, head any) {
	b, inBase := base.(map[string]any)
	h, inHead := head.(map[string]any)
	several := at != nil && at.below != nil
	switch {
	case several && inBase && inHead:
		f.members(at, segments, b, h)
	case reflect.DeepEqual(base, head):
	case at == nil, several && isArray(base) && isArray(head):
		f.strange(segments)
	case several && len(at.rows) > 0 && !f.object(segments):
		f.strange(segments) // a text where an item belongs
	case len(at.rows) > 0:
		f.add(segments, at.rows)
	case len(b)+len(h) > 0 && (base == any(absent{}) || head == any(absent{})):
		f.members(at, segments, b, h)
	default:
		f.add(segments, []*Row{shared().byID[rowDefault]})
	}
}

// members descends into each member that either of two objects has.
func (f *finder) members(at *place, segments []string, base, head map[string]any) {
	all := maps.Clone(base)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, head)
	for name := range all {
		values := [2]any{absent{}, absent{}}
		for i, side := range []map[string]any{base, head} {
			if value, there := side[name]; there {
				values[i] = value
			}
		}
		f.descend(at.child(name), append(slices.Clip(segments), name), values[0], values[1])
	}
}

func isArray(value any) bool {
	_, ok := value.([]any)
	return ok
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

// specsPath is the list whose items are named by their key alone while it is
// unique, and by key@version once there are several.
const specsPath = "/decision_layer/decision_specs"

// alignSpecs gives a decision spec the same name on both sides where only one
// of them has several versions of it. Without it, a second version of a spec
// would look like the removal of the first.
func alignSpecs(base, head *side) {
	base.qualifyLike(head)
	head.qualifyLike(base)
}

// qualifyLike renames the specs of s that the other side names with a version.
func (s *side) qualifyLike(other *side) {
	specs, others := s.specForms(), other.specForms()
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		own := pack.EscapeSegment(name)
		version, ok := textOf(s.index.Find(specsPath + "/" + own).Get("version"))
		qualified := name + "@" + version
		if !ok || others[name] != nil || others[qualified] == nil || specs[qualified] != nil {
			continue
		}
		specs[qualified] = specs[name]
		delete(specs, name)
		s.specs[pack.EscapeSegment(qualified)] = own
	}
}

func (s *side) specForms() map[string]any {
	value, _ := valueAt(s.form, []string{"decision_layer", "decision_specs"})
	specs, _ := value.(map[string]any)
	return specs
}

// repeated reports whether the unit is an item of a set, and the other side has the
// same text in it under another name, which is so where a text is twice. Where a
// text is in the place of another one, and one of them is on both sides, the
// unit is about the other alone.
func (u *unit) repeated() bool {
	texts := isItem(u.old) && isItem(u.new)
	kept, known := u.head.hasItem(u.old, u.path), u.base.hasItem(u.new, u.path)
	switch {
	case (u.old == nil || kept) && (u.new == nil || known):
		return true
	case texts && kept:
		u.old = nil
	case texts && known:
		u.new = nil
	}
	return false
}

// isItem reports whether a value is a text in an array.
func isItem(n *pack.Node) bool {
	return n != nil && n.Kind == pack.String && n.Parent != nil && n.Parent.Kind == pack.Array
}

// hasItem reports whether a text that is at a path is in the side's array too,
// wherever.
func (s *side) hasItem(n *pack.Node, path string) bool {
	if !isItem(n) {
		return false
	}
	array := s.at(path[:strings.LastIndexByte(path, '/')])
	return array != nil && s.holds(array, n.Text)
}

// renameable maps the name of an array to the identity of its items, for
// items whose identity may change without changing what they do.
var renameable = map[string]string{
	"policy_bundles": "bundle_id",
	"rules":          "rule_id",
	"permissions":    "permission_id",
}

// renamed joins each removed item with an added one of the same list and the
// same content under another identity.
func renamed(list []*unit) []*unit {
	removed := map[string][]*unit{}
	for _, u := range list {
		if u.kind == Removed {
			if key := u.content(); key != "" {
				removed[key] = append(removed[key], u)
			}
		}
	}
	if len(removed) == 0 {
		return list
	}
	gone := map[*unit]bool{}
	for _, u := range list {
		if u.kind != Added {
			continue
		}
		if key := u.content(); len(removed[key]) > 0 {
			old := removed[key][0]
			removed[key] = removed[key][1:]
			u.kind, u.old, gone[old] = Renamed, old.old, true
		}
	}
	return slices.DeleteFunc(list, func(u *unit) bool { return gone[u] })
}

// content returns the list and the content of an item that may be renamed, the
// identity aside; "" for any other unit.
func (u *unit) content() string {
	segments, _ := pack.SplitPointer(u.path)
	if len(segments) < 3 {
		return ""
	}
	from := u.head
	if u.kind == Removed {
		from = u.base
	}
	item, _ := valueAt(from.form, segments)
	members, ok := item.(map[string]any)
	id := renameable[segments[len(segments)-2]]
	if !ok || id == "" {
		return ""
	}
	members = maps.Clone(members)
	delete(members, id)
	text, _ := json.Marshal(members) // members of a form always have a text
	return join(segments[:len(segments)-1]) + " " + string(text)
}
