package diffing

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
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

// versionChange returns the change that stands for a pack_version that goes back. One
// that is not raised is VER001, and says nothing of what changed (decisions D1).
func (d *Diff) versionChange() (Change, bool) {
	if d.Base.Digest == d.Head.Digest || d.rises() || d.Base.Version == d.Head.Version {
		return Change{}, false
	}
	r := shared().byID[rowGoesBack]
	return Change{
		Layer: "pack_meta", Path: versionPath, Kind: Changed, Row: r.ID, Class: r.Class, Reason: r.Reason,
		Old: versionNode(d.base), New: versionNode(d.head),
	}, true
}

func versionNode(p *pack.Pack) *pack.Node {
	return pack.Place(p.PackMeta.PackVersion.Node, p.PackMeta.Node, p.Node)
}

// Findings returns what the version check finds in the comparison, sorted.
func (d *Diff) Findings() []finding.Finding {
	var all []finding.Finding
	for _, check := range []func() []finding.Finding{
		d.raise, d.identity, d.rejected, d.decisionVersions,
	} {
		all = append(all, check()...)
	}
	return finding.Sort(all)
}

func report(r *gate.Rule, at *pack.Node, message, hint string) finding.Finding {
	return finding.Finding{
		Rule: r.ID, Name: r.Name, Gate: version.Gate.ID, Severity: r.Severity,
		Message: message, Hint: hint, Location: at.Location(),
	}
}

// raise checks the step between the two versions (VER001, VER002, VER003, VER007).
func (d *Diff) raise() []finding.Finding {
	if d.Base.Digest == d.Head.Digest {
		return nil
	}
	f := finding.Finding{}
	_, order, ok := step(d.Base.Version, d.Head.Version)
	switch {
	case d.Base.Version == d.Head.Version && d.Head.Version != "":
		f = report(version.VER001, versionNode(d.head), d.unraised(), "")
		f.Related = d.related(None)
	case !ok:
		return nil // the schema gate says what is wrong with a version
	case order <= 0:
		f = report(version.VER003, versionNode(d.head),
			fmt.Sprintf("pack_version %q is not greater than %q", d.Head.Version, d.Base.Version), d.back())
	case d.content != Reject && d.Declared < d.content:
		f = report(version.VER002, versionNode(d.head), d.tooSmall(), "")
		f.Related = d.related(d.Declared + 1)
	case d.content != Reject && d.Declared > d.content:
		f = report(version.VER007, versionNode(d.head), d.tooLarge(), "")
		if d.content == None && !d.versionOnly() {
			f.Hint = fmt.Sprintf("restore the order of the items and pack_version %q, or keep the step if it is intended", d.Base.Version)
		}
	default:
		return nil
	}
	return []finding.Finding{d.offer(f)}
}

// back says what to do about a version that goes back.
func (d *Diff) back() string {
	if d.Required == d.Base.Version {
		return fmt.Sprintf("pin the earlier version in the environment to go back to it, and leave pack_version at %q", d.Required)
	}
	return "pin the earlier version in the environment to go back to it, or set a greater version"
}

// unraised says that the version has to rise, and to which one.
func (d *Diff) unraised() string {
	next := ""
	if d.Required != "" {
		next = ", set " + d.Required
	}
	if d.content == None {
		return "version not raised: the order of items changed" + next
	}
	if next == "" {
		return fmt.Sprintf("version not raised: the content differs, the version %s does not", d.Head.Version)
	}
	return fmt.Sprintf("version not raised: this is a %s change%s", d.content, next)
}

// tooSmall says which class was found, what forces it, and the next version.
func (d *Diff) tooSmall() string {
	all := d.Changes()
	count := len(slices.DeleteFunc(slices.Clone(all), func(c Change) bool { return c.Class != d.content }))
	return fmt.Sprintf("pack_version %q is a %s step from %q, and the changes are %s (%d of %d): %s; the next version is %q",
		d.Head.Version, d.Declared, d.Base.Version, d.content, count, len(all), d.summary(d.content), d.Required)
}

func (d *Diff) tooLarge() string {
	if d.content == None {
		return fmt.Sprintf("pack_version %q is a %s step from %q, and no content changed",
			d.Head.Version, d.Declared, d.Base.Version)
	}
	return fmt.Sprintf("pack_version %q is a %s step from %q, and the changes are %s: %q is enough",
		d.Head.Version, d.Declared, d.Base.Version, d.content, d.next())
}

// offer adds the remedy: the version that is required, or one that is enough.
func (d *Diff) offer(f finding.Finding) finding.Finding {
	at := d.head.PackMeta.PackVersion.Node
	to := d.Required
	if f.Rule == version.VER007.ID {
		to = d.lower()
	}
	if to == "" || at == nil {
		return f
	}
	if f.Hint == "" {
		f.Hint = fmt.Sprintf("set pack_version to %q", to)
	}
	f.Fix = &finding.Fix{
		Description: fmt.Sprintf("set pack_version to %q", to),
		Operations:  []finding.Operation{{Op: "replace", Path: versionPath, Value: fmt.Sprintf("%q", to)}},
	}
	return f
}

// lower returns the version that is enough where the head's is greater than the
// changes need; "" where there is none. A new order of items has to have one.
func (d *Diff) lower() string {
	to := d.next()
	switch {
	case d.versionOnly():
		return d.Base.Version
	case to == d.Head.Version:
		return ""
	}
	return to
}

// shown is how many changes a message names.
const shown = 3

// summary names the changes of a class.
func (d *Diff) summary(class Class) string {
	var words []string
	more := 0
	for _, c := range d.Changes() {
		switch {
		case c.Class != class || c.Path == versionPath:
		case len(words) < shown:
			words = append(words, fmt.Sprintf("%s %s", c.Kind, pack.ThingAt(c.Path)))
		default:
			more++
		}
	}
	text := strings.Join(words, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// placed is how many places a finding points at; the comparison has them all.
const placed = 20

// related returns the places of the first changes of at least a class. What was
// removed is shown where it stood in the base.
func (d *Diff) related(least Class) []finding.Related {
	var places []finding.Related
	for _, c := range d.Changes() {
		if c.Class < least || c.Path == versionPath || len(places) == placed {
			continue
		}
		words := fmt.Sprintf("%s here (%s: %s)", c.Kind, c.Class, c.Reason)
		if c.Kind == Removed {
			words = fmt.Sprintf("removed, was here in %s (%s: %s)", d.Base.Version, c.Class, c.Reason)
		}
		places = append(places, gate.Also(pack.Place(c.New, c.Old), words))
	}
	return places
}

// identities are the rows about what makes a pack the same one.
var identities = map[string]string{
	"contract_meta.contract_name": "contract_name",
	"pack_meta.pack_id":           "pack_id",
	"pack_meta.tenant.tenant_id":  "tenant_id",
}

// identity checks that the head is a version of the same pack (VER005).
func (d *Diff) identity() []finding.Finding {
	var found []finding.Finding
	for _, c := range d.Changes() {
		name := identities[c.Row]
		if name == "" {
			continue
		}
		f := report(version.VER005, pack.Place(c.New, nearest(d.head, c.Path)),
			fmt.Sprintf("%s is %s, and was %s in %s", name, text(c.New), text(c.Old), d.Base.Version),
			"restore it, or add a pack file of its own for what is new")
		f.Key = name
		if c.Old != nil {
			f.Related = []finding.Related{gate.Also(c.Old, "as it was")}
		}
		found = append(found, f)
	}
	return found
}

// nearest returns the value at a keyed path, or the nearest one around it.
func nearest(p *pack.Pack, path string) *pack.Node {
	n := p.Node.FindKeyed(path)
	for n == nil {
		path = path[:strings.LastIndexByte(path, '/')]
		n = p.Node.FindKeyed(path)
	}
	return n
}

func text(n *pack.Node) string {
	switch {
	case n == nil:
		return "missing"
	case n.Kind == pack.String:
		return fmt.Sprintf("%q", n.Text)
	}
	return n.Kind.String()
}

// rejected lists what is unsafe under any version (VER006). A version that does not
// rise is a matter of the version alone, and has rules of its own.
func (d *Diff) rejected() []finding.Finding {
	if d.content != Reject {
		return nil
	}
	at, undo := versionNode(d.head), []string{}
	for _, c := range d.Changes() {
		if c.Class != Reject || c.Path == versionPath {
			continue
		}
		if len(undo) == 0 && c.New != nil {
			at = c.New
		}
		if len(undo) < shown {
			undo = append(undo, fmt.Sprintf("%s %s (%s)", c.Kind, pack.ThingAt(c.Path), c.Reason))
		}
	}
	f := report(version.VER006, at, "these changes are unsafe under any version: "+d.summary(Reject), "undo what no version makes safe: "+strings.Join(undo, ", "))
	f.Related = d.related(Reject)
	return []finding.Finding{f}
}

// decisionVersions checks that a decision spec that changed has a new version
// of its own (VER008).
func (d *Diff) decisionVersions() []finding.Finding {
	changed := map[string]bool{} // keyed paths of the specs, whether the version moved
	for _, c := range d.Changes() {
		segments, _ := pack.SplitPointer(c.Path)
		if len(segments) < 4 || join(segments[:2]) != specsPath || c.Class == None {
			continue
		}
		at := join(segments[:3])
		changed[at] = changed[at] || len(segments) == 4 && segments[3] == "version"
	}
	var found []finding.Finding
	specs := d.head.DecisionLayer.DecisionSpecs.Items
	for i := range specs {
		s := &specs[i]
		moved, ok := changed[s.Node.KeyedPath()]
		if !ok { // named with its version where the base has several
			moved, ok = changed[s.Node.KeyedPath()+"@"+pack.EscapeSegment(s.Version.Value)]
		}
		if ok && !moved {
			found = append(found, report(version.VER008, pack.Place(s.Version.Node, s.Node),
				fmt.Sprintf("the decision spec %q changed and its version did not", s.DecisionKey.Value),
				"raise the version of the decision spec"))
		}
	}
	return found
}
