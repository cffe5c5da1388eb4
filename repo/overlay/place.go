package overlay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Purpose says what a value that an overlay may set is for.
type Purpose uint8

// The purposes. Unchanged is any value that a setting leaves as it is.
const (
	Unchanged Purpose = iota
	Endpoint          // where an adapter is reached
	Default           // language, timezone, currency or region
	Threshold         // a number in the condition of a rule or an approval gate
	Bound             // a number in the constraints of an argument
	Target            // what an intent has to reach
	Delta             // how much worse a metric may get
)

// anyItem stands for an item of an array in a form.
const anyItem = "*"

// form returns the names that lead to a value from the root, with anyItem for each
// item of an array: the place of a value in every pack.
func form(n *pack.Node) []string {
	var names []string
	for ; n.Parent != nil; n = n.Parent {
		name, ok := n.Name()
		if !ok {
			name = anyItem
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return names
}

// slot is a place that an overlay may set, with all that is below it or alone, and
// the type of the values there.
type slot struct {
	purpose Purpose
	form    []string
	below   bool
	kind    pack.Kind
}

var (
	adapter    = []string{"tooling_layer", "adapter_registry", anyItem}
	permission = []string{"tooling_layer", "permissions", anyItem}
	rule       = []string{"policy_layer", "policy_bundles", anyItem, "policy_dsl", "rules", anyItem}
	defaults   = []string{"pack_meta", "environment_defaults"}
	target     = []string{"evaluation_layer", "eval_targets", anyItem}
)

// slots are the places that the overlay rules list.
var slots = []slot{
	{Endpoint, under(adapter, "endpoint_ref"), false, pack.String},
	{Default, under(defaults, "language"), false, pack.String},
	{Default, under(defaults, "timezone"), false, pack.String},
	{Default, under(defaults, "currency"), false, pack.String},
	{Default, under(defaults, "region"), false, pack.String},
	{Threshold, under(rule, "if"), true, pack.Number},
	{Threshold, []string{"policy_layer", "approval_gates", anyItem, "when"}, true, pack.Number},
	{Bound, under(permission, "arg_constraints"), true, pack.Number},
	{Bound, under(rule, "then", "arg_constraints"), true, pack.Number},
	{Bound, under(rule, "else", "arg_constraints"), true, pack.Number},
	{Target, under(target, "policy"), false, pack.Number},
	{Target, under(target, "utility"), false, pack.Number},
	{Target, under(target, "safety"), false, pack.Number},
	{Target, under(target, "latency_p99_ms"), false, pack.Number},
	{Target, under(target, "economics_cents_per_decision"), false, pack.Number},
	{Delta, []string{"evaluation_layer", "release_gates", anyItem, "max_delta"}, false, pack.Number},
}

func under(form []string, names ...string) []string { return slices.Concat(form, names) }

// slotOf returns the slot of a place, nil where an overlay may not set it.
func slotOf(at []string) *slot {
	for i := range slots {
		s := &slots[i]
		if len(at) == len(s.form) || s.below && len(at) > len(s.form) {
			if slices.Equal(at[:len(s.form)], s.form) {
				return s
			}
		}
	}
	return nil
}

// Thresholds returns the numbers of a pack's conditions and argument constraints,
// in document order: those that an overlay may set as Threshold or Bound.
func Thresholds(p *pack.Pack) []*pack.Node {
	var found []*pack.Node
	add := func(n *pack.Node) {
		if n != nil {
			numbers(n, &found)
		}
	}
	for r := range p.EachRule() {
		add(r.If)
		for _, o := range r.Outcomes() {
			add(o.ArgConstraints.Node)
		}
	}
	for _, g := range p.PolicyLayer.ApprovalGates.Items {
		add(g.When)
	}
	for _, perm := range p.ToolingLayer.Permissions.Items {
		add(perm.ArgConstraints.Node)
	}
	slices.SortFunc(found, func(a, b *pack.Node) int { return a.Start - b.Start })
	return found
}

func numbers(n *pack.Node, into *[]*pack.Node) {
	if n.Kind == pack.Number {
		*into = append(*into, n)
	}
	for _, m := range n.Members {
		numbers(m.Value, into)
	}
	for _, item := range n.Items {
		numbers(item, into)
	}
}

// place says what a setting of a value that is there is for, or refuses it.
func (r *reader) place(s *Step, at []string) {
	if r.specific(s, at, s.At) {
		return
	}
	path, value := s.Setting.Path, s.Setting.Value
	slot := slotOf(at)
	switch {
	case slot == nil:
		s.refuse(Place, path.Node, settable, "an overlay may not set %s", quote(path.Value))
	case s.At.Kind != slot.kind && slot.below:
		s.refuse(Place, path.Node, "set one of its numbers, or change the pack", "%s is %s, and an overlay may only set numbers there", quote(path.Value), s.At.Kind)
	case s.At.Kind != slot.kind:
		s.refuse(Place, path.Node, "fix the pack", "%s is %s in the pack, wanted %s", quote(path.Value), s.At.Kind, slot.kind)
	case value.Kind != slot.kind:
		s.refuse(Place, value, "write "+slot.kind.String(), "the value for %s is %s, wanted %s", quote(path.Value), value.Kind, slot.kind)
	default:
		s.Purpose = slot.purpose
	}
}

const settable = "set only endpoint_ref, numbers in conditions and arg_constraints, language, timezone, currency, region, eval targets and release deltas, and change the rest in the pack"

// specific refuses a setting that one of the rules for adapters, modes, decisions
// and the ontology is about. The value at holds the place, or is it.
func (r *reader) specific(s *Step, at []string, holder *pack.Node) bool {
	path := s.Setting.Path
	refuse := func(kind Kind, hint, format string, args ...any) bool {
		s.refuse(kind, path.Node, hint, format, args...)
		return true
	}
	if added := r.grants(at, holder, s.Setting.Value); len(added) > 0 {
		return refuse(Grant, "change the pack, so that its own checks and reviews see it", "%s would add %s", quote(path.Value), listed(added))
	}
	switch {
	case len(at) > 0 && at[0] == "decision_layer":
		return refuse(Decision, "change the pack, and the version of the decision", "%s would change the decision specs", quote(path.Value))
	case len(at) > 0 && at[len(at)-1] == "approval_mode":
		return refuse(Mode, "change the pack, where a lowered mode is a new version", "%s would change an approval mode", quote(path.Value))
	case len(at) > 1 && at[0] == "intelligence_refs" && at[1] == "ontology":
		return refuse(Ontology, "change the pack, and the version of the ontology", "%s would change the ontology", quote(path.Value))
	}
	return false
}

// mostAdded is how many added things a message names.
const mostAdded = 4

// grants returns what a value would add at a place of the tooling layer: adapters,
// capabilities, permissions, and what permissions allow. Holder is the value that
// is there, or the one that would hold it.
func (r *reader) grants(at []string, holder, value *pack.Node) []string {
	if len(at) == 0 || at[0] != "tooling_layer" {
		return nil
	}
	after := toolingLayer(at[1:], holder, value)
	if after == nil {
		return nil
	}
	if r.have == nil {
		r.have = granted(&r.ToolingLayer)
	}
	var layer pack.ToolingLayer
	pack.Decode(after, &layer)
	var added []string
	for g := range granted(&layer) {
		if !r.have[g] {
			added = append(added, g.String())
		}
	}
	slices.Sort(added)
	return added
}

// telling are the members that say what an adapter or a permission is about.
var telling = []string{"adapter_id", "permission_id", "capability", "allow"}

// toolingLayer returns a tooling layer that holds what a value makes of the part
// that it is put into, and nothing else; nil where it could add nothing there.
func toolingLayer(at []string, holder, value *pack.Node) *pack.Node {
	switch {
	case len(at) == 0:
		return value
	case len(at) == 1:
		return object(at[0], value)
	case len(at) == 2:
		return object(at[0], array(value))
	case len(at) == 4 && at[2] == "capabilities":
		at, value = at[:3], array(value)
		for holder.Parent != nil && holder.Kind != pack.Array {
			holder = holder.Parent
		}
	case len(at) > 3 || at[2] != "capabilities" && !slices.Contains(telling, at[2]):
		return nil
	}
	// The value is a member of an item: what the item is about, with the member as
	// it would be.
	if name, ok := holder.Name(); ok && name == at[2] {
		holder = holder.Parent
	}
	item := object(at[2], value)
	for _, name := range telling {
		if own := holder.Get(name); own != nil && name != at[2] {
			item.Members = append(item.Members, pack.Member{Name: name, Value: own})
		}
	}
	return object(at[0], array(item))
}

func object(name string, value *pack.Node) *pack.Node {
	return &pack.Node{Kind: pack.Object, Members: []pack.Member{{Name: name, Value: value}}}
}

func array(item *pack.Node) *pack.Node {
	return &pack.Node{Kind: pack.Array, Items: []*pack.Node{item}}
}

// grant is one thing that a tooling layer declares or allows: an adapter, a capability
// of one, a permission, or the use of a capability.
type grant struct{ what, name, capability string }

// String returns what is granted as messages name it.
func (g grant) String() string {
	name := g.name
	if g.capability != "" {
		name += "." + g.capability
	}
	return g.what + " " + quote(name)
}

// granted returns what a tooling layer declares and allows.
func granted(l *pack.ToolingLayer) map[grant]bool {
	grants := map[grant]bool{}
	for _, a := range l.AdapterRegistry.Items {
		grants[grant{"adapter", a.AdapterID.Value, ""}] = true
		for _, c := range pack.Values(a.Capabilities) {
			grants[grant{"capability", a.AdapterID.Value, c}] = true
		}
	}
	for _, p := range l.Permissions.Items {
		grants[grant{"permission", p.PermissionID.Value, ""}] = true
		if p.Allow.Value {
			grants[grant{"use of", p.AdapterID.Value, p.Capability.Value}] = true
		}
	}
	return grants
}

func listed(names []string) string {
	if more := len(names) - mostAdded; more > 0 {
		names = append(slices.Clone(names[:mostAdded]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
