package pack

import (
	"fmt"
	"reflect"
	"slices"
)

// Conflict is one way in which packs cannot be used together: a value of one of them, and
// the value of an earlier one that it does not agree with.
type Conflict struct {
	At, Other     *Node
	Message, Hint string
}

// Unite returns several packs as one: what an invocation that names all of them is compiled
// with. Every value of it is one of the packs' own, with its place in the file of that pack.
// What is under one identity in several packs has to be equal, and is there once; an
// adapter may have another mode and other capabilities, of which the strictest mode and all
// capabilities are taken. Lists are in the order of the packs. The same pack twice is one.
// Of packs that conflict the union is not to be used.
func Unite(packs ...*Pack) (*Pack, []Conflict) {
	u := &uniting{rules: map[string]*placedRule{}}
	for _, p := range packs {
		if u.admit(p) {
			u.add(p)
		}
	}
	switch {
	case u.Pack == nil:
		return nil, u.conflicts
	case len(u.parts) == 1:
		return u.parts[0], u.conflicts
	}
	u.United = u.parts
	return u.Pack, u.conflicts
}

// Parts returns the packs that the pack is the union of, in their order: itself where it is
// none.
func (p *Pack) Parts() []*Pack {
	if p.United == nil {
		return []*Pack{p}
	}
	return p.United
}

// Refs returns the references of the parts, in their order.
func (p *Pack) Refs() []string {
	var refs []string
	for _, part := range p.Parts() {
		refs = append(refs, part.Ref())
	}
	return refs
}

// uniting is a union while packs are added to it.
type uniting struct {
	*Pack
	parts     []*Pack
	rules     map[string]*placedRule
	conflicts []Conflict
}

// placedRule is a rule with the bundle and the pack that it is of.
type placedRule struct {
	*Rule
	bundle string
	of     *Pack
}

func (u *uniting) conflict(at, other *Node, hint, format string, args ...any) {
	u.conflicts = append(u.conflicts, Conflict{At: at, Other: other, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// admit reports whether a pack is to be added: not one that is there already, nor one that
// is another version, or another content, of one that is.
func (u *uniting) admit(p *Pack) bool {
	for _, other := range u.parts {
		if other.PackMeta.PackID.Value != p.PackMeta.PackID.Value {
			continue
		}
		at, was := Place(p.PackMeta.PackVersion.Node, p.PackMeta.Node, p.Node), Place(other.PackMeta.PackVersion.Node, other.PackMeta.Node, other.Node)
		switch {
		case other.Ref() != p.Ref():
			u.conflict(at, was, "name one version of it", "%q and %q are two versions of one pack", other.Ref(), p.Ref())
		case other != p && !same(other.Node, p.Node):
			u.conflict(at, was, "keep one of the two files, or give one of them another pack_id", "%q is in two files with different content", p.Ref())
		}
		return false
	}
	return true
}

// add adds a pack to the union of those before it.
func (u *uniting) add(p *Pack) {
	u.parts = append(u.parts, p)
	u.checkRules(p)
	if u.Pack == nil {
		u.Pack = p.clipped()
		return
	}
	u.tenant(p)
	u.policies(&p.PolicyLayer)
	u.tools(&p.ToolingLayer)
	u.decisions(&p.DecisionLayer)
	targets := &u.EvaluationLayer.EvalTargets
	there := places(targets.Items, func(t *EvalTarget) Text { return t.Intent })
	for _, t := range p.EvaluationLayer.EvalTargets.Items {
		if _, known := there[t.Intent.Value]; !known {
			extend(targets, p.EvaluationLayer.EvalTargets, t)
		}
	}
}

// clipped returns a copy of the pack whose lists can be extended without touching those of
// the pack.
func (p *Pack) clipped() *Pack {
	whole := *p
	policies, tools := &whole.PolicyLayer, &whole.ToolingLayer
	for _, list := range []*List[Text]{&policies.Guardrails.MustRefuse, &policies.Guardrails.MustEscalate, &policies.Guardrails.RedactionRules} {
		list.Items = slices.Clip(list.Items)
	}
	policies.PolicyBundles.Items, policies.ApprovalGates.Items = slices.Clip(policies.PolicyBundles.Items), slices.Clip(policies.ApprovalGates.Items)
	tools.Permissions.Items, tools.AdapterRegistry.Items = slices.Clip(tools.Permissions.Items), slices.Clone(tools.AdapterRegistry.Items)
	for i := range tools.AdapterRegistry.Items {
		a := &tools.AdapterRegistry.Items[i]
		a.Capabilities.Items, a.CapabilityRisks.Entries = slices.Clip(a.Capabilities.Items), slices.Clip(a.CapabilityRisks.Entries)
	}
	whole.DecisionLayer.DecisionSpecs.Items = slices.Clip(whole.DecisionLayer.DecisionSpecs.Items)
	whole.EvaluationLayer.EvalTargets.Items = slices.Clip(whole.EvaluationLayer.EvalTargets.Items)
	return &whole
}

// tenant settles of which tenant requests may be: that of every pack that is not shared.
func (u *uniting) tenant(p *Pack) {
	switch have, own := &u.PackMeta.Tenant, &p.PackMeta.Tenant; {
	case p.Shared:
	case u.Shared:
		*have, u.Shared = *own, false
	case have.TenantID.Value != own.TenantID.Value:
		u.conflict(Place(own.TenantID.Node, own.Node, p.Node), have.TenantID.Node, "name packs of one tenant, or ones that are shared",
			"%q is a pack of tenant %q, and the packs before it are of tenant %q: no request may use all of them", p.Ref(), own.TenantID.Value, have.TenantID.Value)
	}
}

func (u *uniting) policies(from *PolicyLayer) {
	into := &u.PolicyLayer
	merge(u, &into.PolicyBundles, from.PolicyBundles, "policy bundle", func(b *Bundle) (Text, *Node) { return b.BundleID, b.Node })
	merge(u, &into.ApprovalGates, from.ApprovalGates, "approval gate", func(g *ApprovalGate) (Text, *Node) { return g.GateID, g.Node })
	texts(&into.Guardrails.MustRefuse, from.Guardrails.MustRefuse)
	texts(&into.Guardrails.MustEscalate, from.Guardrails.MustEscalate)
	texts(&into.Guardrails.RedactionRules, from.Guardrails.RedactionRules)
}

// checkRules holds the rules of a pack against those of bundles of another name in the packs
// before it: a rule_id means one rule.
func (u *uniting) checkRules(p *Pack) {
	for i := range p.PolicyLayer.PolicyBundles.Items {
		b := &p.PolicyLayer.PolicyBundles.Items[i]
		for j := range b.PolicyDSL.Rules.Items {
			r := &b.PolicyDSL.Rules.Items[j]
			switch other := u.rules[r.RuleID.Value]; {
			case !r.RuleID.OK:
			case other == nil:
				u.rules[r.RuleID.Value] = &placedRule{r, b.BundleID.Value, p}
			case other.of != p && other.bundle != b.BundleID.Value:
				u.conflict(r.RuleID.Node, other.RuleID.Node, "give one of them another rule_id",
					"rule %q is in bundle %q here, and in bundle %q of %q", r.RuleID.Value, b.BundleID.Value, other.bundle, other.of.Ref())
			}
		}
	}
}

func (u *uniting) tools(from *ToolingLayer) {
	into := &u.ToolingLayer
	adapters := places(into.AdapterRegistry.Items, func(a *Adapter) Text { return a.AdapterID })
	for i := range from.AdapterRegistry.Items {
		a := &from.AdapterRegistry.Items[i]
		if at, there := adapters[a.AdapterID.Value]; there {
			u.adapter(&into.AdapterRegistry.Items[at], a)
		} else {
			own := *a
			own.Capabilities.Items, own.CapabilityRisks.Entries = slices.Clip(own.Capabilities.Items), slices.Clip(own.CapabilityRisks.Entries)
			extend(&into.AdapterRegistry, from.AdapterRegistry, own)
		}
	}
	permissions := places(into.Permissions.Items, func(p *Permission) Text { return p.PermissionID })
	for _, p := range from.Permissions.Items {
		if at, there := permissions[p.PermissionID.Value]; !there || !same(into.Permissions.Items[at].Node, p.Node) {
			extend(&into.Permissions, from.Permissions, p)
		}
	}
}

// places maps the identity of items to where they are in their list.
func places[T any](items []T, id func(*T) Text) map[string]int {
	at := make(map[string]int, len(items))
	for i := range items {
		if name := id(&items[i]); name.OK {
			at[name.Value] = i
		}
	}
	return at
}

// adapter adds what another pack says of an adapter.
func (u *uniting) adapter(have, a *Adapter) {
	for _, member := range []struct {
		name     string
		was, own Text
	}{{"endpoint_ref", have.EndpointRef, a.EndpointRef}, {"type", have.Type, a.Type}} {
		if member.was.Value != member.own.Value {
			u.conflict(Place(member.own.Node, a.Node), Place(member.was.Node, have.Node), "give one of the adapters another adapter_id, or let them be one",
				"adapter %q has %s %q, and %q in another pack", a.AdapterID.Value, member.name, member.own.Value, member.was.Value)
		}
	}
	if Mode(a.ApprovalMode).Rank() > Mode(have.ApprovalMode).Rank() {
		have.ApprovalMode = a.ApprovalMode
	}
	texts(&have.Capabilities, a.Capabilities)
	for _, e := range a.CapabilityRisks.Entries {
		switch was, stated := have.CapabilityRisks.Get(e.Name); {
		case !stated:
			risks := &have.CapabilityRisks
			risks.Entries, risks.OK = append(risks.Entries, e), true
			risks.Node = Place(risks.Node, a.CapabilityRisks.Node)
		case !same(was.Node, e.Value.Node):
			u.conflict(e.Value.Node, was.Node, "let the packs state the same risks", "the risks of capability %q of adapter %q differ from those in another pack", e.Name, a.AdapterID.Value)
		}
	}
}

// decisions adds decisions. The versions of one key have to be the same in both.
func (u *uniting) decisions(from *DecisionLayer) {
	into := &u.DecisionLayer.DecisionSpecs
	before := map[string][]*Node{}
	for i := range into.Items {
		key := into.Items[i].DecisionKey.Value
		before[key] = append(before[key], into.Items[i].Node)
	}
	own := map[string][]*Node{}
	for i := range from.DecisionSpecs.Items {
		s := &from.DecisionSpecs.Items[i]
		own[s.DecisionKey.Value] = append(own[s.DecisionKey.Value], s.Node)
	}
	for i := range from.DecisionSpecs.Items {
		s := from.DecisionSpecs.Items[i]
		key := s.DecisionKey.Value
		there := before[key]
		switch {
		case len(there) == 0:
			extend(into, from.DecisionSpecs, s)
		case len(there) != len(own[key]) || !slices.ContainsFunc(there, func(n *Node) bool { return same(n, s.Node) }):
			u.conflict(Place(s.DecisionKey.Node, s.Node), there[0], "let the packs have the same decision spec, or give one another decision_key",
				"decision %q has another content than in another pack", key)
		}
	}
}

// merge adds the items of a list. One whose identity is there has to be equal to that.
func merge[T any](u *uniting, into *List[T], from List[T], what string, of func(*T) (id Text, at *Node)) {
	there := places(into.Items, func(item *T) Text { id, _ := of(item); return id })
	for i := range from.Items {
		id, at := of(&from.Items[i])
		k, known := there[id.Value]
		if !known || !id.OK {
			extend(into, from, from.Items[i])
			continue
		}
		if other, was := of(&into.Items[k]); !same(was, at) {
			u.conflict(Place(id.Node, at), other.Node, fmt.Sprintf("let the packs have the same %s, or rename one", what), "%s %q has another content than in another pack", what, id.Value)
		}
	}
}

// texts adds the texts that are not there yet.
func texts(into *List[Text], from List[Text]) {
	there := places(into.Items, func(t *Text) Text { return *t })
	for _, t := range from.Items {
		if _, known := there[t.Value]; !known {
			extend(into, from, t)
		}
	}
}

// extend adds an item to a list without touching the pack that the list is of.
func extend[T any](into *List[T], from List[T], item T) {
	if into.Node == nil {
		into.Node, into.OK = from.Node, from.OK
	}
	into.Items = append(into.Items, item)
}

// same reports whether two values say the same, member order aside.
func same(a, b *Node) bool {
	return a == b || a != nil && b != nil && reflect.DeepEqual(a.Any(), b.Any())
}
