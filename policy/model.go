// Package policy is the model of a pack's policy layer and of what it decides
// about: rules with their outcomes, decisions, approval gates, the capabilities of
// the tool registry, and the intents that a request can have. References are
// followed and conditions compiled once, and everything that reasons about a pack
// asks this model: the compiler, proofs, gates, comparisons and generators.
//
// A model is made of any pack that could be read. What is not valid in it is said
// by Fault and, for a rule or a gate, by a nil condition: the compiler refuses such
// a pack for every request, and gates leave out only what is concerned.
package policy

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Model is the policy layer of a pack. It never changes and may be used by several
// goroutines at once.
type Model struct {
	Pack *pack.Pack
	// Rules are in the order of evaluation: bundles by descending priority, ties and
	// rules in document order.
	Rules []*Rule
	// Guards are the eligibility_rules of decisions, as rules that allow nothing and deny
	// their decision to who is not eligible: for each intent that the decision has.
	Guards    []*Rule
	Decisions []*Decision // one for each key, in decision_specs order
	Gates     []*Gate     // in declaration order
	Tools     []*Tool     // in registry order, then in capability order
	// Intents are those that a rule or an eval target names, sorted. A request
	// cannot have any other.
	Intents []string
	// Fault is the first reason for which the pack is refused whatever the request
	// is, nil if there is none.
	Fault *Fault

	byKey  map[string]*Decision
	byID   map[string]*Gate
	tools  map[ToolID]*Tool
	named  map[string][]*Tool
	shared *Conditions
	conditions
}

// Fault is one reason for which a pack cannot be compiled.
type Fault struct {
	At     *pack.Node // the value at fault
	Reason string     // in the grammar of messages
}

// Rule is a policy rule with what it refers to.
type Rule struct {
	*pack.Rule
	Bundle   *pack.Bundle
	Enforced bool
	When     *Condition // nil where it is not valid: then there are
	Problems []jsonlogic.Problem
	Decision *Decision // that it is bound to; nil for none
	Then     *Branch   // nil where it is missing
	Else     *Branch   // nil where the rule has no else
}

// Applies reports whether the rule is applicable to an intent.
func (r *Rule) Applies(intent string) bool {
	to := r.AppliesTo.Intent
	return to.Node == nil || to.OK && to.Value == intent
}

// Unbound reports whether the rule is bound to no decision, so that what it
// denies is every decision of the intent.
func (r *Rule) Unbound() bool { return r.DecisionBinding.Node == nil }

// NamesGate reports whether an outcome of the rule names an approval gate, be it there
// or not.
func (r *Rule) NamesGate() bool {
	return slices.ContainsFunc(r.Branches(), func(b *Branch) bool { return b.RequiresApprovalGate.OK })
}

// MayAllow reports whether the rule can allow a decision that may authorise a tool.
func (r *Rule) MayAllow(t *Tool) bool {
	return r.Decision != nil && r.Decision.Authority >= t.Rank() &&
		slices.ContainsFunc(r.Branches(), func(b *Branch) bool { return b.Allows == jsonlogic.True })
}

// Branches returns the outcomes that the rule has: then, and else where there is
// one.
func (r *Rule) Branches() []*Branch {
	return slices.DeleteFunc([]*Branch{r.Then, r.Else}, func(b *Branch) bool { return b == nil })
}

// Branch is one outcome of a rule with what it refers to.
type Branch struct {
	*pack.Outcome
	Rule   *Rule
	IsElse bool
	Allows jsonlogic.Truth // Unknown where the outcome does not state it
	Gate   *Gate           // that it requires, nil for none
	// Prohibited are the tools that it takes away, those of each name together.
	Prohibited [][]*Tool
	Bounds     []Bound
}

// Denies reports whether the outcome denies what its rule is bound to.
func (b *Branch) Denies() bool { return b.Allows == jsonlogic.False }

// Word returns the member of the rule that the outcome is: "then" or "else".
func (b *Branch) Word() string {
	if b.IsElse {
		return "else"
	}
	return "then"
}

// Holds says when the outcome holds, as far as its rule's condition goes. The
// condition has to be valid.
func (b *Branch) Holds() jsonlogic.Formula {
	if b.IsElse {
		return jsonlogic.IsFalse(b.Rule.When.Expr)
	}
	return jsonlogic.IsTrue(b.Rule.When.Expr)
}

// Decision is a decision key with its specs; two versions of a decision share one
// key, and rules bind keys.
type Decision struct {
	Key   string
	Specs []*pack.DecisionSpec // in document order, at least one
	// Authority is the rank of the mode up to which the decision authorises effects.
	// Of several versions the weakest counts; an unknown mode authorises nothing
	// above read_only.
	Authority int
	ReadOnly  bool // every version is known to be
}

// Spec returns the first version of the decision.
func (d *Decision) Spec() *pack.DecisionSpec { return d.Specs[0] }

// Weakest returns the first of the versions that authorise the least.
func (d *Decision) Weakest() *pack.DecisionSpec {
	i := slices.IndexFunc(d.Specs, func(s *pack.DecisionSpec) bool { return authority(s) == d.Authority })
	return d.Specs[i]
}

// authority returns the rank of the mode up to which a decision's version authorises effects.
func authority(s *pack.DecisionSpec) int {
	if mode := pack.Mode(s.ApprovalMode); mode.Known() {
		return mode.Rank()
	}
	return 0
}

// Gate is an approval gate with its condition.
type Gate struct {
	*pack.ApprovalGate
	ID       string
	When     *Condition // nil where it is not valid: then there are
	Problems []jsonlogic.Problem
}

// ToolID names a capability of an adapter.
type ToolID struct{ Adapter, Capability string }

// String returns the name that policy and reports use, "adapter.capability".
func (id ToolID) String() string { return id.Adapter + "." + id.Capability }

// Is reports whether String returns that name.
func (id ToolID) Is(name string) bool {
	rest, ok := strings.CutPrefix(name, id.Adapter)
	return ok && strings.HasPrefix(rest, ".") && rest[1:] == id.Capability
}

// Tool is a capability of the registry with the permissions that name it.
type Tool struct {
	ToolID
	Adapter     *pack.Adapter
	At          *pack.Node // where the registry lists it
	Permissions []*pack.Permission
	Gates       []*Gate // that its permissions name, each once
	Bounds      []Bound // of its permissions
}

// Mode returns the mode of the tool's adapter.
func (t *Tool) Mode() pack.ApprovalMode { return pack.Mode(t.Adapter.ApprovalMode) }

// Rank returns the rank of the adapter's mode; an unknown one counts as
// destructive.
func (t *Tool) Rank() int { return t.Mode().Rank() }

// Destructive reports whether what the tool does cannot be undone.
func (t *Tool) Destructive() bool { return t.Rank() == pack.Destructive.Rank() }

// NamesGate reports whether a permission of the tool names an approval gate, be it
// there or not.
func (t *Tool) NamesGate() bool {
	return slices.ContainsFunc(t.Permissions, func(p *pack.Permission) bool { return p.RequiresApprovalGate.OK })
}

// Reads reports whether the tool does no more than read: its adapter is read_only, or
// reaches the network and states that the capability has no effect (compiler, C6).
func (t *Tool) Reads() bool {
	risk, stated := t.Adapter.CapabilityRisks.Get(t.Capability)
	return t.Mode() == pack.ReadOnly || t.Mode() == pack.Network && stated && risk.Effect.Value == "none"
}

// Allowed reports whether a permission allows the tool and none forbids it.
func (t *Tool) Allowed() bool {
	return len(t.Permissions) > 0 && !slices.ContainsFunc(t.Permissions, func(p *pack.Permission) bool { return !p.Allow.Value })
}

// Arguments returns the arguments that the permissions bound, each once, in
// document order.
func (t *Tool) Arguments() []string {
	var names []string
	for _, b := range t.Bounds {
		if !slices.Contains(names, b.Arg) {
			names = append(names, b.Arg)
		}
	}
	return names
}

// Beside returns the model of another version of the pack. Conditions that are in both
// are compiled once.
func (m *Model) Beside(p *pack.Pack) *Model { return New(p, m.shared) }

// Decision returns the decision of that key, nil where there is none.
func (m *Model) Decision(key string) *Decision { return m.byKey[key] }

// Gate returns the gate of that id, nil where there is none. Of several the first
// counts.
func (m *Model) Gate(id string) *Gate { return m.byID[id] }

// Tool returns the tool of that name, nil where the registry does not have it.
func (m *Model) Tool(id ToolID) *Tool { return m.tools[id] }

// Named returns the tools that a name in a policy means: one of an adapter, or
// every adapter's capability of that name.
func (m *Model) Named(name string) []*Tool { return m.named[name] }

// Without returns the model of the pack as if an outcome were not written: where its
// condition holds, its rule does not fire. All else is shared with the model.
func (m *Model) Without(b *Branch) *Model {
	less := *m
	rule := *b.Rule
	if b.IsElse {
		rule.Else = nil
	} else {
		rule.Then = nil
	}
	less.Rules = slices.Clone(m.Rules)
	less.Rules[slices.Index(less.Rules, b.Rule)] = &rule
	return &less
}

// Applicable returns the enforced rules that apply to an intent, in the order of
// evaluation, and after them the guards of its decisions.
func (m *Model) Applicable(intent string) []*Rule {
	var rules []*Rule
	for _, list := range [][]*Rule{m.Rules, m.Guards} {
		for _, r := range list {
			if r.Enforced && r.Applies(intent) {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// Bound is what a permission or an outcome says of one argument.
type Bound struct {
	Arg  string
	Says map[string]any // in the pack's own members; not to be changed
	At   *pack.Node
	// Weight is how many JSON values it has, itself included.
	Weight int
}

// UntilApproved reports whether the bound ends with an approval.
func (b Bound) UntilApproved() bool { return b.Says["unless_approved"] == true }

// boundsOf returns the bounds of a permission or an outcome, in document order.
func boundsOf(d pack.Dict[pack.Constraint]) []Bound {
	var bounds []Bound
	for _, e := range d.Entries {
		if says, ok := e.Value.Node.Any().(map[string]any); ok {
			bounds = append(bounds, Bound{e.Name, says, e.Value.Node, weightOf(e.Value.Node)})
		}
	}
	return bounds
}

// weightOf counts a value and those below it.
func weightOf(n *pack.Node) int {
	weight := 1
	for _, m := range n.Members {
		weight += weightOf(m.Value)
	}
	for _, item := range n.Items {
		weight += weightOf(item)
	}
	return weight
}
