package rulebook

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// language is the one language of conditions.
const language = "jsonlogic"

// rule is a policy rule, with its compiled condition where it has no problems.
type rule struct {
	*pack.Rule
	bundle   *pack.Bundle
	name     string
	when     *jsonlogic.Expr // nil where there are problems
	problems []Problem
	enforced bool
	unplaced bool      // its intent cannot be read
	branches []*branch // then, and else where there is one
	// wanted are the texts that variables must be equal to for it to be true.
	wanted    map[string]string
	described Rule // what the pack itself says about it
}

// branch is an outcome of a rule and when it holds.
type branch struct {
	*pack.Outcome
	rule  *rule
	word  string
	holds jsonlogic.Formula
}

// model is the policy layer as proofs see it.
type model struct {
	pack    *pack.Pack
	rules   []*rule // in the order of evaluation
	intents []string
}

func newModel(p *pack.Pack) *model {
	m := &model{pack: p}
	var bundles []*pack.Bundle
	for i := range p.PolicyLayer.PolicyBundles.Items {
		bundles = append(bundles, &p.PolicyLayer.PolicyBundles.Items[i])
	}
	slices.SortStableFunc(bundles, func(a, b *pack.Bundle) int { return cmp.Compare(b.Priority.Value, a.Priority.Value) })
	for _, b := range bundles {
		for i := range b.PolicyDSL.Rules.Items {
			r := newRule(b, &b.PolicyDSL.Rules.Items[i])
			r.described = r.describe()
			m.rules = append(m.rules, r)
		}
	}
	for _, intent := range p.Intents() {
		m.intents = append(m.intents, intent.Value)
	}
	slices.Sort(m.intents)
	return m
}

func newRule(b *pack.Bundle, written *pack.Rule) *rule {
	r := &rule{Rule: written, bundle: b, name: written.RuleID.Value, enforced: !written.NonEnforcing.Value}
	if r.name == "" {
		at := placeOf(written.Node)
		r.name = fmt.Sprintf("the rule at %s:%d", at.File, at.Line)
	}
	to := written.AppliesTo
	r.unplaced = !isObject(written.Node) || to.Node != nil && (!isObject(to.Node) || to.Intent.Node != nil && !to.Intent.OK)
	spoken := b.PolicyDSL.Language
	if spoken.OK && !strings.EqualFold(spoken.Value, language) {
		r.fault(spoken.Node, fmt.Sprintf("the bundle is written in %q, wanted %q", clip(spoken.Value), language), "")
	}
	if name, at := mistyped(written); name != "" {
		r.fault(pack.Place(at, written.Node), fmt.Sprintf("%s cannot be read", name), "")
	}
	when, problems := jsonlogic.Compile(written.If)
	for _, p := range problems {
		r.fault(pack.Place(p.Node, written.If, written.Node), p.Message, p.Hint)
	}
	if len(r.problems) > 0 {
		return r
	}
	r.when, r.wanted = when, map[string]string{}
	wanted(r.wanted, written.If)
	r.branches = []*branch{{&written.Then, r, "then", jsonlogic.IsTrue(when)}}
	if written.Else.Node != nil {
		r.branches = append(r.branches, &branch{&written.Else, r, "else", jsonlogic.IsFalse(when)})
	}
	return r
}

func (r *rule) fault(at *pack.Node, message, hint string) {
	r.problems = append(r.problems, Problem{Place: placeOf(at), Message: message, Hint: hint})
}

// mistyped returns the first member without which a rule cannot be understood,
// as far as it is not its condition.
func mistyped(r *pack.Rule) (string, *pack.Node) {
	switch {
	case !isObject(r.Node):
		return "the rule", r.Node
	case !isObject(r.Then.Node):
		return "then", r.Then.Node
	case r.Else.Node != nil && !isObject(r.Else.Node):
		return "else", r.Else.Node
	case r.AppliesTo.Node != nil && !isObject(r.AppliesTo.Node):
		return "applies_to", r.AppliesTo.Node
	case r.AppliesTo.Intent.Node != nil && !r.AppliesTo.Intent.OK:
		return "intent", r.AppliesTo.Intent.Node
	case r.DecisionBinding.Node != nil && !r.DecisionBinding.OK:
		return "decision_binding", r.DecisionBinding.Node
	case r.NonEnforcing.Node != nil && !r.NonEnforcing.OK:
		return "non_enforcing", r.NonEnforcing.Node
	}
	return "", nil
}

func isObject(n *pack.Node) bool { return n != nil && n.Kind == pack.Object }

func placeOf(n *pack.Node) Place {
	if n == nil {
		return Place{}
	}
	l := n.Location()
	return Place{File: l.File, Line: l.Start.Line, Column: l.Start.Column}
}

func (r *rule) bound(key string) bool { return r.DecisionBinding.OK && r.DecisionBinding.Value == key }

// sameDecision reports whether two rules are bound to one decision, or both to none.
func (r *rule) sameDecision(o *rule) bool {
	return r.DecisionBinding.OK == o.DecisionBinding.OK && r.DecisionBinding.Value == o.DecisionBinding.Value
}

func (b *branch) denies() bool { return b.Allow.OK && !b.Allow.Value }

// sameEffect reports whether two outcomes bind in the same way. The reason and
// the evidence that they ask for bind nothing where both deny.
func (b *branch) sameEffect(o *branch) bool {
	if b.Allow.OK != o.Allow.OK || b.Allow.Value != o.Allow.Value ||
		b.RequiresApprovalGate.Value != o.RequiresApprovalGate.Value || b.ApprovalMode.Value != o.ApprovalMode.Value {
		return false
	}
	return (b.denies() || sameNames(b.Requires, o.Requires)) && sameNames(b.Prohibits, o.Prohibits) &&
		reflect.DeepEqual(anyOf(b.ArgConstraints.Node), anyOf(o.ArgConstraints.Node))
}

func sameNames(a, b pack.List[pack.Text]) bool {
	return slices.Equal(sorted(pack.Values(a)), sorted(pack.Values(b)))
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func anyOf(n *pack.Node) any {
	if n == nil {
		return nil
	}
	return n.Any()
}

// aboveReadOnly reports whether a decision may have effects. One of which any
// version may, or that does not exist, is taken to.
func (m *model) aboveReadOnly(key string) bool {
	known := false
	for _, d := range m.pack.DecisionLayer.DecisionSpecs.Items {
		if d.DecisionKey.OK && d.DecisionKey.Value == key {
			known = true
			if pack.Mode(d.ApprovalMode).Rank() > pack.ReadOnly.Rank() {
				return true
			}
		}
	}
	return !known
}

// gate returns the approval gate of that name, the first of several; nil if none.
func (m *model) gate(id string) *pack.ApprovalGate {
	gates := m.pack.PolicyLayer.ApprovalGates.Items
	for i := range gates {
		if gates[i].GateID.OK && gates[i].GateID.Value == id {
			return &gates[i]
		}
	}
	return nil
}
