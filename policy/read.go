package policy

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// New returns the model of a pack. It goes on after a fault, because every part has
// to be there for the others to refer to; the first fault counts. Shared holds the
// conditions of other versions of the pack; nil where there are none.
func New(p *pack.Pack, shared *Conditions) *Model {
	if shared == nil {
		shared = &Conditions{}
	}
	r := &reader{&Model{
		Pack: p, shared: shared, byKey: map[string]*Decision{}, byID: map[string]*Gate{},
		tools: map[ToolID]*Tool{}, named: map[string][]*Tool{},
		conditions: conditions{places: map[jsonlogic.Key]*Condition{}},
	}}
	r.types()
	m := &p.PackMeta
	r.need(m.PackID, m.Node, "pack_id")
	r.need(m.PackVersion, m.Node, "pack_version")
	r.need(m.Tenant.TenantID, m.Tenant.Node, "tenant_id")
	r.readTools()
	r.readDecisions()
	r.readGates()
	r.readPermissions()
	r.readRules()
	r.readGuards()
	for _, intent := range p.Intents() {
		r.Intents = append(r.Intents, intent.Value)
	}
	slices.Sort(r.Intents)
	return r.Model
}

// reader makes a model.
type reader struct{ *Model }

func (r *reader) refuse(at *pack.Node, format string, args ...any) {
	if r.Fault == nil {
		r.Fault = &Fault{at, fmt.Sprintf(format, args...)}
	}
}

// need refuses a pack that lacks a text which nothing works without.
func (r *reader) need(f pack.Text, owner *pack.Node, name string) {
	if !f.OK {
		r.refuse(pack.Place(f.Node, owner, r.Pack.Node), "%s is missing", name)
	}
}

// readTools lists the capabilities. The first of equal ones is the one that is
// found; a pack that has several, or two of one name, is refused.
func (r *reader) readTools() {
	adapters := r.Pack.ToolingLayer.AdapterRegistry.Items
	for i := range adapters {
		a := &adapters[i]
		r.need(a.AdapterID, a.Node, "adapter_id")
		for _, c := range a.Capabilities.Items {
			t := &Tool{ToolID: ToolID{a.AdapterID.Value, c.Value}, Adapter: a, At: c.Node}
			r.Tools = append(r.Tools, t)
			if r.tools[t.ToolID] == nil {
				r.tools[t.ToolID] = t
			}
			// "a.b" with "c" and "a" with "b.c" are two tools of one name.
			if slices.ContainsFunc(r.named[t.String()], func(other *Tool) bool { return other.Is(t.String()) }) {
				r.refuse(c.Node, "capability %q is declared twice", t.ToolID)
			}
			if slices.ContainsFunc(r.named[t.String()], func(o *Tool) bool { return o.ToolID != t.ToolID && o.Is(t.String()) }) {
				r.refuse(c.Node, "two capabilities of different adapters are called %q", t.String())
			}
			r.named[t.String()] = append(r.named[t.String()], t)
			if t.String() != t.Capability {
				r.named[t.Capability] = append(r.named[t.Capability], t)
			}
		}
	}
}

func (r *reader) readDecisions() {
	specs := r.Pack.DecisionLayer.DecisionSpecs.Items
	for i := range specs {
		s := &specs[i]
		r.need(s.DecisionKey, s.Node, "decision_key")
		mode := pack.Mode(s.ApprovalMode)
		d := r.byKey[s.DecisionKey.Value]
		if d == nil {
			d = &Decision{Key: s.DecisionKey.Value, Authority: authority(s), ReadOnly: true}
			r.byKey[d.Key] = d
			r.Decisions = append(r.Decisions, d)
		}
		d.Specs = append(d.Specs, s)
		d.Authority, d.ReadOnly = min(d.Authority, authority(s)), d.ReadOnly && mode == pack.ReadOnly
	}
}

func (r *reader) readGates() {
	gates := r.Pack.PolicyLayer.ApprovalGates.Items
	for i := range gates {
		g := &Gate{ApprovalGate: &gates[i], ID: gates[i].GateID.Value}
		r.need(g.GateID, g.Node, "gate_id")
		switch {
		case !g.GateID.OK:
		case r.byID[g.ID] != nil:
			r.refuse(g.GateID.Node, "gate %q is declared twice", g.ID)
		default:
			r.byID[g.ID] = g
		}
		g.When, g.Problems = r.condition(g.ApprovalGate.When, g.Node, fmt.Sprintf("when of gate %q", g.ID))
		r.Gates = append(r.Gates, g)
	}
}

// required returns the gate that a permission or an outcome requires, nil for none.
func (r *reader) required(id pack.Text) *Gate {
	if !id.OK {
		return nil
	}
	g := r.byID[id.Value]
	if g == nil {
		r.refuse(id.Node, "there is no approval gate %q", id.Value)
	}
	return g
}

// condition returns the condition of a rule or a gate, or the problems for which there is none.
func (r *reader) condition(n, owner *pack.Node, called string) (*Condition, []jsonlogic.Problem) {
	x, problems, key := r.shared.Compile(n)
	switch {
	case n == nil:
		r.refuse(owner, "%s is missing", called)
	case x == nil:
		r.refuse(n, "%s: %s", called, problems[0].Message)
	default:
		return r.conditions.intern(x, key), nil
	}
	return nil, problems
}

func (r *reader) readPermissions() {
	items := r.Pack.ToolingLayer.Permissions.Items
	for i := range items {
		p := &items[i]
		r.need(p.AdapterID, p.Node, "adapter_id")
		r.need(p.Capability, p.Node, "capability")
		gate := r.required(p.RequiresApprovalGate)
		id := ToolID{p.AdapterID.Value, p.Capability.Value}
		t := r.tools[id]
		if t == nil {
			r.refuse(pack.Place(p.Capability.Node, p.Node), "no adapter has the capability %q", id)
			continue
		}
		t.Permissions = append(t.Permissions, p)
		t.Bounds = append(t.Bounds, boundsOf(p.ArgConstraints)...)
		if gate != nil && !slices.Contains(t.Gates, gate) {
			t.Gates = append(t.Gates, gate)
		}
	}
}

func (r *reader) readRules() {
	var bundles []*pack.Bundle
	for i := range r.Pack.PolicyLayer.PolicyBundles.Items {
		bundle := &r.Pack.PolicyLayer.PolicyBundles.Items[i]
		r.need(bundle.BundleID, bundle.Node, "bundle_id")
		bundles = append(bundles, bundle)
	}
	slices.SortStableFunc(bundles, func(x, y *pack.Bundle) int { return cmp.Compare(y.Priority.Value, x.Priority.Value) })
	seen := map[string]bool{}
	for _, bundle := range bundles {
		rules := bundle.PolicyDSL.Rules.Items
		for i := range rules {
			id := rules[i].RuleID
			if r.readRule(bundle, &rules[i]); seen[id.Value] {
				r.refuse(id.Node, "rule %q is declared twice", id.Value)
			}
			seen[id.Value] = true
		}
	}
}

func (r *reader) readRule(bundle *pack.Bundle, written *pack.Rule) {
	r.need(written.RuleID, written.Node, "rule_id")
	rule := &Rule{Rule: written, Bundle: bundle, Enforced: !written.NonEnforcing.Value}
	rule.When, rule.Problems = r.condition(written.If, written.Node, fmt.Sprintf("if of rule %q", written.RuleID.Value))
	if written.Then.Node == nil {
		r.refuse(pack.Place(written.Node, bundle.Node), "rule %q has no then", written.RuleID.Value)
	}
	rule.Then, rule.Else = r.branch(rule, &written.Then), r.branch(rule, &written.Else)
	if written.DecisionBinding.OK {
		if rule.Decision = r.byKey[written.DecisionBinding.Value]; rule.Decision == nil {
			r.refuse(written.DecisionBinding.Node, "there is no decision %q", written.DecisionBinding.Value)
		}
	}
	r.Rules = append(r.Rules, rule)
}

// branch returns an outcome with what it refers to, nil where it is not an object.
func (r *reader) branch(rule *Rule, o *pack.Outcome) *Branch {
	if o.Node == nil || o.Node.Kind != pack.Object {
		return nil
	}
	b := &Branch{
		Outcome: o, Rule: rule, IsElse: o == &rule.Rule.Else,
		Gate: r.required(o.RequiresApprovalGate), Bounds: boundsOf(o.ArgConstraints),
	}
	if o.Allow.OK {
		b.Allows = jsonlogic.False
		if o.Allow.Value {
			b.Allows = jsonlogic.True
		}
	}
	named := map[string]bool{}
	for _, name := range o.Prohibits.Items {
		found := r.named[name.Value]
		if len(found) == 0 {
			r.refuse(name.Node, "no adapter has the capability %q", name.Value)
		}
		if !named[name.Value] {
			named[name.Value] = true
			b.Prohibited = append(b.Prohibited, found)
		}
	}
	return b
}

// types refuses a pack in which a known member has the wrong type. It would read as absent,
// and an absent allow, bound or gate is less than its author meant.
func (r *reader) types() {
	checkTypes(reflect.ValueOf(r.Pack).Elem(), func(n *pack.Node, wanted pack.Kind) {
		if n.Kind == wanted {
			r.refuse(n, "%s has a name with a control character", n.Pointer())
			return
		}
		r.refuse(n, "%s is %s, wanted %s", n.Pointer(), n.Kind, wanted)
	})
}

var (
	partType = reflect.TypeFor[pack.Part]()
	nodeType = reflect.TypeFor[*pack.Node]()
)

// checkTypes calls mistyped for every value that is there but could not be read.
func checkTypes(v reflect.Value, mistyped func(n *pack.Node, wanted pack.Kind)) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			checkTypes(v.Index(i), mistyped)
		}
		return
	}
	if v.Kind() != reflect.Struct {
		return
	}
	if n := unread(v); n != nil {
		mistyped(n, wantedKind(v))
		return
	}
	for i := range v.NumField() {
		if v.Field(i).Type() != nodeType {
			checkTypes(v.Field(i), mistyped)
		}
	}
}

// unread returns where a value stands that has the wrong type, nil if it is right or absent.
func unread(v reflect.Value) *pack.Node {
	if v.Type() == partType {
		if n, _ := v.Interface().(pack.Part); n.Node != nil && n.Node.Kind != pack.Object {
			return n.Node
		}
		return nil
	}
	ok := v.FieldByName("OK")
	if !ok.IsValid() || ok.Bool() {
		return nil
	}
	n, _ := v.FieldByName("Node").Interface().(*pack.Node)
	return n
}

// wantedKind returns the type that a value of the typed pack is read from.
func wantedKind(v reflect.Value) pack.Kind {
	switch v.Interface().(type) {
	case pack.Text:
		return pack.String
	case pack.Num:
		return pack.Number
	case pack.Flag:
		return pack.Bool
	}
	if v.FieldByName("Items").IsValid() {
		return pack.Array
	}
	return pack.Object
}
