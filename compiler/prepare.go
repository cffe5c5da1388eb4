package compiler

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Program is a pack that is prepared for compiling: its conditions compiled, its
// references followed. It never changes and may be used by several goroutines at
// once.
type Program struct {
	pack         *pack.Pack
	fault        *Stop // the first reason for which the pack cannot be compiled
	requires     []requirement
	rules        []rule // in the order of evaluation
	decisions    []decision
	gates        []gate
	capabilities []capability
	arguments    map[string]bool // those that permissions bound
}

// rule is a policy rule with what it refers to.
type rule struct {
	bundle    *pack.Bundle
	rule      *pack.Rule
	enforced  bool
	when      *jsonlogic.Expr
	decision  int // bound to, -1 for none
	then      *branch
	otherwise *branch // nil where the rule has no else
}

// applies reports whether the rule is applicable to an intent.
func (r *rule) applies(intent string) bool {
	to := r.rule.AppliesTo.Intent
	return to.Node == nil || to.Value == intent
}

// branch is one outcome of a rule with what it refers to.
type branch struct {
	outcome   *pack.Outcome
	allow     jsonlogic.Truth // Unknown where the outcome does not say
	gate      int             // required, -1 for none
	prohibits [][]int         // capabilities, those of each name together
	bounds    []bound
}

// decision is a decision key with its specs; two versions of a decision share
// one key, and rules bind keys.
type decision struct {
	key  string
	spec *pack.DecisionSpec // the first
	// authority is the rank up to which the decision authorises effects. Of
	// several versions the weakest counts; an unknown mode authorises nothing
	// above read_only.
	authority int
	readOnly  bool // every version is known to be
}

// gate is an approval gate with its compiled condition.
type gate struct {
	spec *pack.ApprovalGate
	when *jsonlogic.Expr
}

// capability is one capability of the adapter registry with the permissions
// that name it.
type capability struct {
	adapter     *pack.Adapter
	name        string
	id          string // adapter.capability
	permissions []*pack.Permission
	bounds      []bound // of the permissions
}

// Prepare prepares a pack for compiling. It never fails: a pack that cannot be
// compiled, because a condition is outside the JsonLogic profile, a reference
// leads nowhere or a member has the wrong type, is refused by every compile.
func Prepare(p *pack.Pack) *Program {
	b := &builder{
		Program:     &Program{pack: p, arguments: map[string]bool{}},
		decisionsBy: map[string]int{}, gatesBy: map[string]int{},
		capabilitiesBy: map[capabilityKey]int{}, capabilitiesNamed: map[string][]int{},
	}
	b.types()
	b.identity()
	b.requirements()
	b.registry()
	b.catalog()
	b.approvals()
	b.permissions()
	b.policy()
	return b.Program
}

// builder makes a program. It goes on after a fault, because every part has to
// be there for the others to refer to; the first fault counts.
type builder struct {
	*Program
	// Positions, so that what a pack refers to is found at once however much it
	// declares.
	decisionsBy       map[string]int
	gatesBy           map[string]int
	capabilitiesBy    map[capabilityKey]int
	capabilitiesNamed map[string][]int // by name, and by adapter and name
}

// capabilityKey is what a permission names a capability by.
type capabilityKey struct{ adapter, name string }

func (b *builder) refuse(at *pack.Node, format string, args ...any) {
	if b.fault == nil {
		b.fault = refusalAt(at, format, args...)
		b.fault.Invalid = true
	}
}

// need refuses a pack that lacks a text the compile cannot do without.
func (b *builder) need(f pack.Text, owner *pack.Node, name string) {
	if !f.OK {
		b.refuse(pack.Place(f.Node, owner, b.pack.Node), "the pack is not valid: %s is missing", name)
	}
}

func (b *builder) identity() {
	m := &b.pack.PackMeta
	b.need(m.PackID, m.Node, "pack_id")
	b.need(m.PackVersion, m.Node, "pack_version")
	b.need(m.Tenant.TenantID, m.Tenant.Node, "tenant_id")
	if ref := m.PackID.Value + "@" + m.PackVersion.Value; !isPinned(ref) {
		b.refuse(m.PackVersion.Node, "the pack is not valid: %q is no reference of the form pack_id@MAJOR.MINOR.PATCH", ref)
	}
}

// registry lists the capabilities in registry order, then capability order.
func (b *builder) registry() {
	seen := map[string]bool{}
	adapters := b.pack.ToolingLayer.AdapterRegistry.Items
	for i := range adapters {
		a := &adapters[i]
		b.need(a.AdapterID, a.Node, "adapter_id")
		for _, c := range a.Capabilities.Items {
			id := a.AdapterID.Value + "." + c.Value
			if seen[id] {
				b.refuse(c.Node, "the pack is not valid: capability %q is declared twice", id)
			}
			seen[id] = true
			b.declare(capability{adapter: a, name: c.Value, id: id})
		}
	}
}

// declare adds a capability. The first of equal ones is the one that is found; a
// pack that has several is refused.
func (b *builder) declare(c capability) {
	at := len(b.capabilities)
	b.capabilities = append(b.capabilities, c)
	key := capabilityKey{c.adapter.AdapterID.Value, c.name}
	if _, there := b.capabilitiesBy[key]; !there {
		b.capabilitiesBy[key] = at
	}
	b.capabilitiesNamed[c.id] = append(b.capabilitiesNamed[c.id], at)
	if c.name != c.id {
		b.capabilitiesNamed[c.name] = append(b.capabilitiesNamed[c.name], at)
	}
}

// catalog lists the decisions, one for each key.
func (b *builder) catalog() {
	specs := b.pack.DecisionLayer.DecisionSpecs.Items
	for i := range specs {
		s := &specs[i]
		b.need(s.DecisionKey, s.Node, "decision_key")
		authority, readOnly := 0, pack.Mode(s.ApprovalMode) == pack.ReadOnly
		if mode := pack.Mode(s.ApprovalMode); mode.Known() {
			authority = mode.Rank()
		}
		if at := b.decision(s.DecisionKey.Value); at >= 0 {
			d := &b.decisions[at]
			d.authority, d.readOnly = min(d.authority, authority), d.readOnly && readOnly
			continue
		}
		b.decisionsBy[s.DecisionKey.Value] = len(b.decisions)
		b.decisions = append(b.decisions, decision{key: s.DecisionKey.Value, spec: s, authority: authority, readOnly: readOnly})
	}
}

// decision returns the position of a key, -1 where there is no such decision.
func (b *builder) decision(key string) int {
	return position(b.decisionsBy, key)
}

// position returns what a key leads to, -1 where it leads nowhere.
func position[K comparable](positions map[K]int, key K) int {
	if at, there := positions[key]; there {
		return at
	}
	return -1
}

func (b *builder) approvals() {
	gates := b.pack.PolicyLayer.ApprovalGates.Items
	for i := range gates {
		g := &gates[i]
		b.need(g.GateID, g.Node, "gate_id")
		if g.GateID.OK && b.gate(g.GateID) >= 0 {
			b.refuse(g.GateID.Node, "the pack is not valid: gate %q is declared twice", g.GateID.Value)
		}
		if g.GateID.OK && b.gate(g.GateID) < 0 {
			b.gatesBy[g.GateID.Value] = i
		}
		when := b.condition(g.When, g.Node, "when", "gate", g.GateID)
		b.gates = append(b.gates, gate{spec: g, when: when})
	}
}

// gate returns the position of the gate that a field names, -1 where it names
// none.
func (b *builder) gate(id pack.Text) int {
	if !id.OK {
		return -1
	}
	return position(b.gatesBy, id.Value)
}

// requiredGate returns the position of the gate that a permission or an outcome
// requires, -1 where it requires none.
func (b *builder) requiredGate(id pack.Text) int {
	at := b.gate(id)
	if id.Node != nil && at < 0 {
		b.refuse(id.Node, "the pack is not valid: there is no approval gate %q", id.Value)
	}
	return at
}

// condition compiles the JsonLogic of a rule or a gate.
func (b *builder) condition(n, owner *pack.Node, member, kind string, id pack.Text) *jsonlogic.Expr {
	expr, problems := jsonlogic.Compile(n)
	if expr == nil {
		p := problems[0]
		b.refuse(pack.Place(p.Node, owner), "the pack is not valid: %s of %s %q: %s", member, kind, id.Value, p.Message)
	}
	return expr
}

func (b *builder) permissions() {
	items := b.pack.ToolingLayer.Permissions.Items
	for i := range items {
		p := &items[i]
		b.need(p.AdapterID, p.Node, "adapter_id")
		b.need(p.Capability, p.Node, "capability")
		at := position(b.capabilitiesBy, capabilityKey{p.AdapterID.Value, p.Capability.Value})
		b.requiredGate(p.RequiresApprovalGate)
		if at < 0 {
			b.refuse(pack.Place(p.Capability.Node, p.Node), "the pack is not valid: no adapter has the capability %q",
				p.AdapterID.Value+"."+p.Capability.Value)
			continue
		}
		c := &b.capabilities[at]
		c.permissions = append(c.permissions, p)
		for _, bound := range boundsOf(p.ArgConstraints) {
			c.bounds = append(c.bounds, bound)
			b.arguments[bound.arg] = true
		}
	}
}

// policy lists the rules in the order of evaluation: bundles in descending
// priority, ties and rules in document order.
func (b *builder) policy() {
	var bundles []*pack.Bundle
	for i := range b.pack.PolicyLayer.PolicyBundles.Items {
		bundle := &b.pack.PolicyLayer.PolicyBundles.Items[i]
		b.need(bundle.BundleID, bundle.Node, "bundle_id")
		bundles = append(bundles, bundle)
	}
	slices.SortStableFunc(bundles, func(x, y *pack.Bundle) int { return cmp.Compare(y.Priority.Value, x.Priority.Value) })
	seen := map[string]bool{}
	for _, bundle := range bundles {
		rules := bundle.PolicyDSL.Rules.Items
		for i := range rules {
			id := rules[i].RuleID
			if b.rule(bundle, &rules[i]); seen[id.Value] {
				b.refuse(id.Node, "the pack is not valid: rule %q is declared twice", id.Value)
			}
			seen[id.Value] = true
		}
	}
}

func (b *builder) rule(bundle *pack.Bundle, r *pack.Rule) {
	b.need(r.RuleID, r.Node, "rule_id")
	if r.Then.Node == nil {
		b.refuse(pack.Place(r.Node, bundle.Node), "the pack is not valid: rule %q has no then", r.RuleID.Value)
	}
	out := rule{
		bundle: bundle, rule: r, enforced: !r.NonEnforcing.Value, decision: -1,
		when: b.condition(r.If, r.Node, "if", "rule", r.RuleID),
		then: b.branch(&r.Then),
	}
	if r.Else.Node != nil {
		out.otherwise = b.branch(&r.Else)
	}
	if r.DecisionBinding.Node != nil {
		if out.decision = b.decision(r.DecisionBinding.Value); out.decision < 0 {
			b.refuse(r.DecisionBinding.Node, "the pack is not valid: there is no decision %q", r.DecisionBinding.Value)
		}
	}
	b.rules = append(b.rules, out)
}

func (b *builder) branch(o *pack.Outcome) *branch {
	out := &branch{outcome: o, gate: b.requiredGate(o.RequiresApprovalGate), bounds: boundsOf(o.ArgConstraints)}
	if o.Allow.OK {
		out.allow = jsonlogic.False
		if o.Allow.Value {
			out.allow = jsonlogic.True
		}
	}
	named := map[string]bool{}
	for _, name := range o.Prohibits.Items {
		found := b.capabilitiesNamed[name.Value]
		if len(found) == 0 {
			b.refuse(name.Node, "the pack is not valid: no adapter has the capability %q", name.Value)
		}
		if !named[name.Value] {
			named[name.Value] = true
			out.prohibits = append(out.prohibits, found)
		}
	}
	return out
}
