package overlay

import (
	"slices"

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
		return refuse(Grant, "change the pack, so that its own gates and reviews see it", "%s would add %s", quote(path.Value), listed(added))
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
