package diffing

import (
	"reflect"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/pack"
)

// step returns which part of a version moved between two versions, as a class;
// None where they have the same precedence (Semantic Versioning 2.0.0, section
// 11). ok is false where one of them is no version.
func step(from, to string) (c Class, order int, ok bool) {
	a, errA := semver.StrictNewVersion(from)
	b, errB := semver.StrictNewVersion(to)
	if errA != nil || errB != nil {
		return None, 0, false
	}
	order = b.Compare(a)
	switch {
	case order == 0:
		return None, 0, true
	case a.Major() != b.Major():
		return Major, order, true
	case a.Minor() != b.Minor():
		return Minor, order, true
	}
	return Patch, order, true
}

// declared returns the class that a step from one pack_version to the next
// stands for.
func declared(from, to string) Class {
	c, order, _ := step(from, to)
	if order <= 0 {
		return None
	}
	return c
}

// rises reports whether the head's version is greater than the base's. A
// version that cannot be read, or is missing, is for the schema gate to report,
// and counts as greater here.
func (d *Diff) rises() bool {
	_, order, ok := step(d.Base.Version, d.Head.Version)
	return order > 0 || !ok && (d.Base.Version != d.Head.Version || d.Head.Version == "")
}

// required returns the lowest version that the changes allow, or "" where the
// head's version does, and where none would.
func (d *Diff) required() string {
	same := d.Base.Digest == d.Head.Digest
	switch {
	case same || d.content == Reject || d.rises() && d.Declared >= d.content:
		return ""
	case d.versionOnly():
		return d.Base.Version
	}
	return d.next()
}

// versionOnly reports whether nothing but pack_version differs, not even the order
// of items. Then the base's version says the same.
func (d *Diff) versionOnly() bool {
	if d.content != None || d.Base.Version == d.Head.Version {
		return false
	}
	base, head := d.base.Node.Any(), d.head.Node.Any()
	for _, root := range []any{base, head} {
		if members, ok := root.(map[string]any); ok {
			if meta, ok := members["pack_meta"].(map[string]any); ok {
				delete(meta, "pack_version")
			}
		}
	}
	return reflect.DeepEqual(base, head)
}

// next returns the lowest version after the base's that carries the changes. A
// new order of named items is no change, and yet needs a version of its own.
func (d *Diff) next() string {
	v, err := semver.StrictNewVersion(d.Base.Version)
	if err != nil {
		return ""
	}
	var n semver.Version
	switch d.content {
	case Major:
		n = v.IncMajor()
	case Minor:
		n = v.IncMinor()
	default:
		n = v.IncPatch()
	}
	return n.String()
}

// versionChange returns the change that stands for a pack_version that does not
// fit any change at all: the same one for other content, or a lower one.
func (d *Diff) versionChange() (Change, bool) {
	id := ""
	switch {
	case d.Base.Digest == d.Head.Digest || d.rises():
		return Change{}, false
	case d.Base.Version == d.Head.Version:
		id = rowSameVersion
	default:
		id = rowGoesBack
	}
	r := shared().byID[id]
	return Change{
		Layer: "pack_meta", Path: versionPath, Kind: Changed, Row: r.ID, Class: r.Class, Reason: r.Reason,
		Old: versionNode(d.base), New: versionNode(d.head),
	}, true
}

func versionNode(p *pack.Pack) *pack.Node {
	return pack.Place(p.PackMeta.PackVersion.Node, p.PackMeta.Node, p.Node)
}
