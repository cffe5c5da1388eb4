package rulebook

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// rule is a policy rule with what the pack itself says about it.
type rule struct {
	*policy.Rule
	name      string
	described Rule
	unplaced  bool // its intent cannot be read
}

func newRule(of *policy.Rule) *rule {
	r := &rule{Rule: of, name: of.RuleID.Value}
	if r.name == "" {
		at := placeOf(of.Node)
		r.name = fmt.Sprintf("the rule at %s:%d", at.File, at.Line)
	}
	to := of.AppliesTo
	r.unplaced = !isGuard(of) && !isObject(of.Node) || to.Node != nil && (!isObject(to.Node) || to.Intent.Node != nil && !to.Intent.OK)
	r.described = describe(of)
	r.described.EveryIntent = !r.unplaced && !to.Intent.OK
	return r
}

// readable reports whether the rule could be read. Otherwise the book only shows how it is written.
func (r *rule) readable() bool { return len(r.described.Problems) == 0 }

// branches returns the outcomes of a rule that could be read.
func (r *rule) branches() []*policy.Branch {
	if !r.readable() {
		return nil
	}
	return r.Branches()
}

// counts reports whether a rule decides anything: it is enforced and was read.
func (r *rule) counts() bool { return r.Enforced && r.readable() }

// problemsOf returns why a rule cannot be read.
func problemsOf(r *policy.Rule) []Problem {
	var all []Problem
	add := func(message, hint string, at ...*pack.Node) {
		all = append(all, Problem{Place: placeOf(pack.Place(append(at, r.Node)...)), Message: message, Hint: hint})
	}
	if !isGuard(r) {
		spoken := r.Bundle.PolicyDSL.Language
		if spoken.OK && !strings.EqualFold(spoken.Value, policy.Language) {
			add(fmt.Sprintf("the bundle is written in %q, wanted %q", clip(spoken.Value), policy.Language), "", spoken.Node)
		}
		if name, at := mistyped(r.Rule); name != "" {
			add(fmt.Sprintf("%s cannot be read", name), "", at)
		}
	}
	for _, p := range r.Problems {
		add(p.Message, p.Hint, p.Node, r.If)
	}
	return all
}

// isGuard reports whether a rule is the eligibility_rules of a decision, which are in no
// bundle.
func isGuard(r *policy.Rule) bool { return r.Bundle == nil }

// mistyped returns the first member, beside the condition, that has the wrong type, so that the rule is
// not understood; "" for none.
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

// sameDecision reports whether two rules are bound to one decision, or both to none.
func sameDecision(a, b *policy.Rule) bool {
	return a.DecisionBinding.OK == b.DecisionBinding.OK && a.DecisionBinding.Value == b.DecisionBinding.Value
}

// sameEffect reports whether two outcomes bind in the same way. The reason and
// the evidence that they ask for bind nothing where both deny.
func sameEffect(b, o *policy.Branch) bool {
	return b.Allows == o.Allows && b.RequiresApprovalGate.Value == o.RequiresApprovalGate.Value && b.ApprovalMode.Value == o.ApprovalMode.Value &&
		(b.Denies() || sameNames(b.Requires, o.Requires)) && sameNames(b.Prohibits, o.Prohibits) &&
		reflect.DeepEqual(boundsOf(b), boundsOf(o))
}

// boundsOf returns the bounds that an outcome puts on arguments, by their names.
func boundsOf(b *policy.Branch) map[string]any {
	says := map[string]any{}
	for _, bound := range b.Bounds {
		says[bound.Arg] = bound.Says
	}
	return says
}

func sameNames(a, b pack.List[pack.Text]) bool {
	return slices.Equal(sorted(pack.Values(a)), sorted(pack.Values(b)))
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// unknown returns the formula that a rule's condition cannot be decided, so that the compile stops.
func unknown(r *rule) jsonlogic.Formula { return jsonlogic.IsUnknown(r.When.Expr) }
