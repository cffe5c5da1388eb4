package diffing

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/gatetest"
)

// values are what random edits put into a pack.
var values = []string{
	`null`, `true`, `false`, `0`, `1.5`, `-3`, `""`, `"x"`, `"read_only"`, `"destructive"`, `"1.2.3"`, `"2h"`,
	`[]`, `{}`, `["x"]`, `["x", "x"]`, `[1, 2]`, `{"a": 1}`, `{"enum": [1, 2]}`, `{"required": true}`,
	`"R_REFUND_REQUIRES_IDV"`, `"GATE_FINANCE_APPROVAL"`, `"support.refund.execute"`, `"a/b~c"`, `"[0]"`,
}

// names are what random edits call new members.
var names = []string{"x", "a~1b", "allow", "rules", "policy_dsl", "language", "non_enforcing", "enum", "min", "requires", "else"}

// nodes returns all values of a document but the root.
func nodes(n *pack.Node) []*pack.Node {
	var all []*pack.Node
	for _, m := range n.Members {
		all = append(append(all, m.Value), nodes(m.Value)...)
	}
	for _, item := range n.Items {
		all = append(append(all, item), nodes(item)...)
	}
	return all
}

// mutate makes an edit of each three bytes of a script.
func mutate(t testing.TB, src, script []byte) []byte {
	t.Helper()
	for ; len(script) >= 3; script = script[3:] {
		d, _ := pack.Read("pack.json", src, pack.DefaultLimits())
		all := nodes(d.Root)
		if len(all) == 0 {
			return src
		}
		n := all[(int(script[0])<<8|int(script[1]))%len(all)]
		kind, value := script[2]%5, values[int(script[2]/5)%len(values)]
		op := finding.Operation{Op: "replace", Path: n.Pointer(), Value: value}
		switch {
		case kind == 1:
			op = finding.Operation{Op: "remove", Path: n.Pointer()}
		case kind == 2 && n.Kind == pack.Object:
			op = finding.Operation{Op: "add", Path: n.Pointer() + "/" + names[int(script[1])%len(names)], Value: value}
		case kind == 3 && n.Kind == pack.Array:
			op = finding.Operation{Op: "add", Path: n.Pointer() + "/-", Value: value}
		case kind == 4 && n.Parent.Kind == pack.Array:
			op = finding.Operation{Op: "add", Path: n.Parent.Pointer() + "/0", Value: n.Raw()}
		}
		out, err := pack.Edit(d, []finding.Operation{op})
		if err != nil {
			t.Fatal(err)
		}
		src = out
	}
	return src
}

func withVersion(t testing.TB, src []byte, version string) []byte {
	t.Helper()
	d, _ := pack.Read("pack.json", src, pack.DefaultLimits())
	meta := d.Root.Get("pack_meta")
	if meta == nil || meta.Kind != pack.Object {
		return src
	}
	return edit(t, src, fmt.Sprintf("add %s %q", versionPath, version))
}

func diff(t testing.TB, base, head []byte) *Diff {
	t.Helper()
	d, err := Compare(read(t, "base.json", base), read(t, "head.json", head), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// FuzzCompare compares random edits of the support pack and holds the laws of
// the comparison against them.
func FuzzCompare(f *testing.F) {
	f.Add([]byte{}, []byte{})
	for i := range 120 {
		f.Add([]byte{}, []byte{byte(i >> 4), byte(i * 37), byte(i * 11), byte(i >> 3), byte(i * 91), byte(i * 7)})
		f.Add([]byte{byte(i >> 5), byte(i * 53), byte(i * 13)}, []byte{byte(i >> 5), byte(i * 61), byte(i*17 + 1)})
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		if len(first)+len(second) > 60 {
			return
		}
		base := withVersion(t, mutate(t, gatetest.Support(), first), "1.0.0")
		head := withVersion(t, mutate(t, base, second), "3.0.0")
		if read(t, "", base) == nil || read(t, "", head) == nil {
			return
		}
		d := diff(t, base, head)
		lawSame(t, base)
		lawPlaces(t, d)
		lawHighest(t, d)
		lawMirror(t, d, diff(t, head, base))
		lawOrder(t, d, diff(t, base, shuffled(t, head)))
		lawRequired(t, d, base, head)
		lawProved(t, d)
		lawUnapproved(t, d)
		lawApplied(t, d)
	})
}

// lawSame: a pack does not differ from itself.
func lawSame(t *testing.T, src []byte) {
	if d := diff(t, src, src); d.Class != None || len(d.Changes()) > 0 || len(d.Findings()) > 0 {
		t.Errorf("a pack differs from itself: %s", renderChanges(d))
	}
}

// lawPlaces: what is reported is there, on the sides that the kind says.
func lawPlaces(t *testing.T, d *Diff) {
	for _, c := range d.Changes() {
		if (c.Kind == Added) != (c.Old == nil) || (c.Kind == Removed) != (c.New == nil) {
			t.Errorf("%s %s: old %v, new %v", c.Kind, c.Path, c.Old, c.New)
			continue
		}
		side, node := d.head, c.New
		if c.Kind == Removed {
			side, node = d.base, c.Old
		}
		// A spec may go by the name that only the other side has for it.
		if found := side.Node.FindKeyed(c.Path); found != node && !strings.HasPrefix(c.Path, specsPath) {
			t.Errorf("%s %s is not there", c.Kind, c.Path)
		}
	}
}

// lawUnapproved: where RSK002 finds in the head what it did not find in the base, the
// class is reject.
func lawUnapproved(t *testing.T, d *Diff) {
	known := map[string]bool{}
	for _, row := range proof.New(d.base).Unapproved() {
		known[fmt.Sprintf("%q %q", row.Intent, row.Capability)] = true
	}
	for _, row := range proof.New(d.head).Unapproved() {
		if row.Tool != nil && !known[fmt.Sprintf("%q %q", row.Intent, row.Capability)] && d.Class != Reject {
			t.Errorf("%s is unapproved for %s now, and the class is %s", row.Capability, row.Intent, d.Class)
		}
	}
}

// lawHighest: the class is the highest of the changes, and each layer's of its own.
func lawHighest(t *testing.T, d *Diff) {
	var highest Class
	for _, l := range d.Layers {
		var inLayer Class
		for _, c := range l.Changes {
			inLayer = max(inLayer, c.Class)
		}
		if l.Class != inLayer {
			t.Errorf("%s is %s, its changes are %s", l.Name, l.Class, inLayer)
		}
		highest = max(highest, inLayer)
	}
	if d.Class != highest {
		t.Errorf("the class is %s, the changes are %s", d.Class, highest)
	}
}

// paths returns the places of all changes, on both sides for what was renamed.
func paths(d *Diff) []string {
	var all []string
	for _, c := range d.Changes() {
		switch {
		case c.Path == versionPath:
		case c.Kind == Renamed:
			all = append(all, c.Old.KeyedPath(), c.New.KeyedPath())
		default:
			all = append(all, c.Path)
		}
	}
	slices.Sort(all)
	return all
}

// lawMirror: what base to head changes, head to base changes.
func lawMirror(t *testing.T, d, mirrored *Diff) {
	if a, b := paths(d), paths(mirrored); !slices.Equal(a, b) {
		t.Errorf("one way\n%s\nthe other way\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// lawOrder: the order of members and of named items is no change that has a class.
func lawOrder(t *testing.T, d, reordered *Diff) {
	if a, b := renderClasses(d), renderClasses(reordered); a != b {
		t.Errorf("as written\n%s\nin another order\n%s", a, b)
	}
}

// renderClasses is renderChanges without reasons that name a place by its index.
func renderClasses(d *Diff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", d.Class, d.Effect)
	for _, c := range d.Changes() {
		if c.Row == rowOrder && c.Class == None {
			continue
		}
		fmt.Fprintf(&b, "%s %t %s %s %s\n", c.Class, c.NeedsHumanClass, c.Kind, c.Path, c.Row)
		if c.Proof != nil {
			fmt.Fprintf(&b, "  %s %s %s %v\n", c.Proof.Verdict, pack.CompactJSON(c.Proof.Gained), pack.CompactJSON(c.Proof.Lost), c.Proof.Assumed)
		}
	}
	return b.String()
}

// lawRequired: the version that is required is enough.
func lawRequired(t *testing.T, d *Diff, base, head []byte) {
	if d.Required == "" || !d.head.PackMeta.PackVersion.OK {
		return
	}
	if d = diff(t, base, withVersion(t, head, d.Required)); d.Required != "" || d.Declared != d.content {
		t.Errorf("the required version %s is not enough: then %s", d.Head.Version, d.Required)
	}
}

// allRead reports whether whatever grew is a tool or a decision of the head that only reads.
func allRead(d *Diff) bool {
	head := policy.New(d.head, nil)
	for _, e := range d.Effects {
		if e.Verdict != proof.Grew && e.Verdict != proof.Incomparable {
			continue
		}
		decision := head.Decision(e.Subject)
		tools := head.Named(e.Subject)
		switch {
		case e.Kind == proof.Decision && decision != nil && decision.ReadOnly:
		case e.Kind == proof.Tool && len(tools) == 1 && tools[0].Mode() == pack.ReadOnly:
		default:
			return false
		}
	}
	return true
}

// lawProved: no class is below what is proved of the whole, unless all that is
// gained only reads; a proof lowers no reject.
func lawProved(t *testing.T, d *Diff) {
	least, reading := leastOf(d.Effect), false
	for _, c := range d.Changes() {
		reading = reading || c.Row == rowReading
		if shared().byID[c.Row].Class == Reject && c.Class != Reject {
			t.Errorf("%s is %s and not reject", c.Path, c.Class)
		}
	}
	if d.Class < least && !reading && !allRead(d) {
		t.Errorf("the class is %s, the effect %s", d.Class, d.Effect)
	}
}

// shuffled returns the document with the order of all members and of all items
// that have names of their own turned round.
func shuffled(t testing.TB, src []byte) []byte {
	t.Helper()
	d, _ := pack.Read("pack.json", src, pack.DefaultLimits())
	var b strings.Builder
	turn(&b, d.Root)
	return []byte(b.String())
}

func turn(b *strings.Builder, n *pack.Node) {
	switch n.Kind {
	case pack.Object:
		b.WriteByte('{')
		for i, m := range slices.Backward(n.Members) {
			name, _ := json.Marshal(m.Name)
			fmt.Fprintf(b, "%s:", name)
			turn(b, m.Value)
			if i > 0 {
				b.WriteByte(',')
			}
		}
		b.WriteByte('}')
	case pack.Array:
		items := slices.Clone(n.Items)
		if !slices.ContainsFunc(items, unnamed) {
			slices.Reverse(items)
		}
		b.WriteByte('[')
		for i, item := range items {
			if i > 0 {
				b.WriteByte(',')
			}
			turn(b, item)
		}
		b.WriteByte(']')
	default:
		b.WriteString(n.Raw())
	}
}

// unnamed reports whether an item is named by its place.
func unnamed(n *pack.Node) bool {
	path := n.KeyedPath()
	last := path[strings.LastIndexByte(path, '/')+1:]
	return last == fmt.Sprint(n.Index) || last == fmt.Sprintf("[%d]", n.Index)
}

// TestMoreIsNoLess says that a change beside others never lowers the class.
func TestMoreIsNoLess(t *testing.T) {
	beside := "replace /pack_meta/tenant/name \"Acme\"\nadd /policy_layer/guardrails/must_refuse/- \"beside\"\n"
	for _, script := range []string{
		"",
		`replace /pack_meta/ttl_seconds 1`,
		`remove /tooling_layer/permissions/p_orders_lookup`,
		`remove /evaluation_layer/release_gates/safety`,
	} {
		base := gatetest.Support()
		alone := diff(t, base, withVersion(t, edit(t, base, script), "2.0.0"))
		more := diff(t, base, withVersion(t, edit(t, base, beside+script), "2.0.0"))
		if more.Class < alone.Class || more.Class < Minor {
			t.Errorf("%q alone is %s, with more %s", script, alone.Class, more.Class)
		}
	}
}
