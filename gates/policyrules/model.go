package policyrules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// model is the part of a pack's policy layer that can be judged.
type model struct {
	*policy.Model
	rules []*policy.Rule // in the order of evaluation
	// leftOut are the things whose conditions cannot be judged, as messages call
	// them, with the reason.
	leftOut []omission
	// conditions are all conditions of the pack, in document order.
	conditions []condition
}

// omission is a rule, gate or decision that no proof is about.
type omission struct {
	kind    string       // rule, gate or decision
	rule    *policy.Rule // nil for gates and decisions
	what    string
	because string
}

// condition is a compiled condition with what messages call it. Its node is where
// it is written; the expression may have been compiled from another writing.
type condition struct {
	expr   *jsonlogic.Expr
	node   *pack.Node
	owner  string
	member string
	rule   *policy.Rule // nil for gates and decisions
}

// outOfProfile is why a condition is left out.
const outOfProfile = "its condition is not in the JsonLogic profile"

// newModel sorts out what of a pack can be judged.
func newModel(p *gate.Pass) *model {
	m := &model{Model: p.Policy()}
	for _, r := range m.Rules {
		who := gate.Called("rule", r.RuleID)
		if because := unreadable(r); because != "" {
			m.leftOut = append(m.leftOut, omission{"rule", r, who, because})
			continue
		}
		m.rules = append(m.rules, r)
		m.conditions = append(m.conditions, condition{r.When.Expr, r.If, who, "if", r})
	}
	for _, g := range m.Gates {
		if n := g.ApprovalGate.When; n != nil && g.When != nil {
			m.conditions = append(m.conditions, condition{g.When.Expr, n, gate.Called("gate", g.GateID), "when", nil})
		} else if n != nil {
			m.leftOut = append(m.leftOut, omission{"gate", nil, gate.Called("gate", g.GateID), outOfProfile})
		}
	}
	for _, d := range m.Decisions {
		for _, spec := range d.Specs {
			m.addEligibility(p, spec)
		}
	}
	slices.SortStableFunc(m.conditions, func(a, b condition) int { return cmp.Compare(a.node.Start, b.node.Start) })
	return m
}

func (m *model) addEligibility(p *gate.Pass, spec *pack.DecisionSpec) {
	if spec.EligibilityRules == nil {
		return
	}
	who := gate.Called("decision", spec.DecisionKey)
	if expr, _ := p.Compile(spec.EligibilityRules); expr != nil {
		m.conditions = append(m.conditions, condition{expr, spec.EligibilityRules, who, "eligibility_rules", nil})
	} else {
		m.leftOut = append(m.leftOut, omission{"decision", nil, who, outOfProfile})
	}
}

// unreadable says why a rule cannot be judged, "" where it can. The schema gate reports it.
func unreadable(r *policy.Rule) string {
	spoken, member := r.Bundle.PolicyDSL.Language, ""
	switch {
	case spoken.OK && !strings.EqualFold(spoken.Value, policy.Language):
		return fmt.Sprintf("its bundle is written in %s", gate.Quote(spoken.Value))
	case r.If == nil:
		member = "if"
	case r.Then == nil:
		member = "then"
	case r.Else == nil && r.Rule.Else.Node != nil:
		member = "else"
	case r.AppliesTo.Node != nil && !gate.IsObject(r.AppliesTo.Node), r.AppliesTo.Intent.Node != nil && !r.AppliesTo.Intent.OK:
		member = "applies_to"
	case r.DecisionBinding.Node != nil && !r.DecisionBinding.OK:
		member = "decision_binding"
	case r.NonEnforcing.Node != nil && !r.NonEnforcing.OK:
		member = "non_enforcing"
	case r.When == nil:
		return outOfProfile
	default:
		return ""
	}
	return fmt.Sprintf("its %s cannot be read", member)
}

// excuse lists what is left out of a check, as far as keep says that it matters.
func (m *model) excuse(p *gate.Pass, keep func(omission) bool) {
	for _, o := range m.leftOut {
		if keep(o) {
			p.NotChecked(fmt.Sprintf("%s is left out: %s", o.what, o.because))
		}
	}
}

func aboutRules(o omission) bool { return o.kind == "rule" }
func aboutGates(o omission) bool { return o.kind == "gate" }
func aboutAll(omission) bool     { return true }

// intentsOf returns the intents of the requests for which a rule is evaluated.
func (m *model) intentsOf(r *policy.Rule) []string {
	if to := r.AppliesTo.Intent; to.OK {
		return []string{to.Value}
	}
	return m.Intents
}

// place returns where an outcome says whether it allows.
func place(b *policy.Branch) *pack.Node { return pack.Place(b.Allow.Node, b.Node) }

// weakest returns the weakest mode of a decision's versions, where one that is not
// known counts as destructive, and the version that has it.
func weakest(d *policy.Decision) (pack.ApprovalMode, *pack.DecisionSpec) {
	spec := slices.MinFunc(d.Specs, func(a, b *pack.DecisionSpec) int {
		return cmp.Compare(pack.Mode(a.ApprovalMode).Rank(), pack.Mode(b.ApprovalMode).Rank())
	})
	return pack.Mode(spec.ApprovalMode), spec
}
