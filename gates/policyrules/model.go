package policyrules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// language is the one language of conditions.
const language = "jsonlogic"

// model is what the proofs of a pack are about: its rules, gates and decisions
// with their compiled conditions.
type model struct {
	rules     []*rule // in document order
	gates     []*approval
	decisions []*decision
	// intents are those that rules and eval targets name, sorted. A compile
	// refuses all others.
	intents []string
	// leftOut are the things whose conditions cannot be judged, as messages call
	// them, with the reason.
	leftOut []omission
}

// omission is a rule, gate or decision that no proof is about.
type omission struct {
	kind    string     // rule, gate or decision
	rule    *pack.Rule // nil for gates and decisions
	what    string
	because string
}

// rule is a policy rule with its compiled condition and its outcomes.
type rule struct {
	gate.RuleRef
	when     *jsonlogic.Expr
	enforced bool
	branches []*branch // then, and else where there is one
}

// branch is an outcome of a rule and when it holds.
type branch struct {
	*pack.Outcome
	rule  *rule
	word  string // then or else
	holds jsonlogic.Formula
}

// approval is an approval gate with its compiled condition.
type approval struct {
	*pack.ApprovalGate
	when *jsonlogic.Expr
}

// decision is a decision spec with its compiled eligibility rules.
type decision struct {
	*pack.DecisionSpec
	eligible *jsonlogic.Expr
}

// newModel compiles the conditions of a pack.
func newModel(p *gate.Pass) *model {
	m := &model{}
	for _, intent := range p.Pack.Intents() {
		m.intents = append(m.intents, intent.Value)
	}
	slices.Sort(m.intents)
	for _, ref := range p.Rules {
		m.addRule(ref)
	}
	for i := range p.Pack.PolicyLayer.ApprovalGates.Items {
		g := &p.Pack.PolicyLayer.ApprovalGates.Items[i]
		if g.When == nil {
			continue
		}
		if when := m.compile(omission{kind: "gate", what: gate.Called("gate", g.GateID)}, g.When); when != nil {
			m.gates = append(m.gates, &approval{ApprovalGate: g, when: when})
		}
	}
	for i := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		d := &p.Pack.DecisionLayer.DecisionSpecs.Items[i]
		if d.EligibilityRules == nil {
			continue
		}
		if eligible := m.compile(omission{kind: "decision", what: gate.Called("decision", d.DecisionKey)}, d.EligibilityRules); eligible != nil {
			m.decisions = append(m.decisions, &decision{DecisionSpec: d, eligible: eligible})
		}
	}
	return m
}

// compile compiles a condition, or notes that its owner is left out.
func (m *model) compile(owner omission, condition *pack.Node) *jsonlogic.Expr {
	e, problems := jsonlogic.Compile(condition)
	if len(problems) > 0 {
		m.omit(owner, "its condition is not in the JsonLogic profile")
	}
	return e
}

func (m *model) omit(owner omission, because string) {
	owner.because = because
	m.leftOut = append(m.leftOut, owner)
}

func (m *model) addRule(ref gate.RuleRef) {
	owner := omission{kind: "rule", rule: ref.Rule, what: gate.Called("rule", ref.RuleID)}
	spoken := ref.Bundle.PolicyDSL.Language
	switch mistyped := unreadable(ref.Rule); {
	case spoken.OK && !strings.EqualFold(spoken.Value, language):
		m.omit(owner, fmt.Sprintf("its bundle is written in %s", gate.Quote(spoken.Value)))
	case mistyped != "":
		m.omit(owner, fmt.Sprintf("its %s cannot be read", mistyped))
	default:
		when := m.compile(owner, ref.If)
		if when == nil {
			return
		}
		r := &rule{RuleRef: ref, when: when, enforced: !ref.NonEnforcing.Value}
		r.branches = []*branch{{&ref.Then, r, "then", jsonlogic.IsTrue(when)}}
		if gate.IsObject(ref.Else.Node) {
			r.branches = append(r.branches, &branch{&ref.Else, r, "else", jsonlogic.IsFalse(when)})
		}
		m.rules = append(m.rules, r)
	}
}

// unreadable returns the first member without which a rule cannot be judged, ""
// where all can be read. What is missing or mistyped is the schema gate's matter.
func unreadable(r *pack.Rule) string {
	switch {
	case r.If == nil:
		return "if"
	case !gate.IsObject(r.Then.Node):
		return "then"
	case r.Else.Node != nil && !gate.IsObject(r.Else.Node):
		return "else"
	case r.AppliesTo.Node != nil && !gate.IsObject(r.AppliesTo.Node), r.AppliesTo.Intent.Node != nil && !r.AppliesTo.Intent.OK:
		return "applies_to"
	case r.DecisionBinding.Node != nil && !r.DecisionBinding.OK:
		return "decision_binding"
	case r.NonEnforcing.Node != nil && !r.NonEnforcing.OK:
		return "non_enforcing"
	}
	return ""
}

// excuse lists what is left out of the proofs of a check. Keep says whether an
// omission matters to it.
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

// gate returns the approval gate of that name, nil where there is none that
// could be compiled. As everywhere, the first of several counts.
func (m *model) gate(p *gate.Pass, id pack.Text) *approval {
	for _, g := range m.gates {
		if id.OK && p.Gates[id.Value] == g.ApprovalGate {
			return g
		}
	}
	return nil
}

// condition is a compiled condition with what messages call it and the intents
// for which it is evaluated.
type condition struct {
	expr   *jsonlogic.Expr
	owner  string
	member string
	rule   *rule // nil for gates and decisions
}

// conditions returns all conditions of the pack, in document order.
func (m *model) conditions() []condition {
	var all []condition
	for _, r := range m.rules {
		all = append(all, condition{r.when, gate.Called("rule", r.RuleID), "if", r})
	}
	for _, g := range m.gates {
		all = append(all, condition{g.when, gate.Called("gate", g.GateID), "when", nil})
	}
	for _, d := range m.decisions {
		all = append(all, condition{d.eligible, gate.Called("decision", d.DecisionKey), "eligibility_rules", nil})
	}
	slices.SortStableFunc(all, func(a, b condition) int { return cmp.Compare(a.expr.Node().Start, b.expr.Node().Start) })
	return all
}

// decisionMode returns the mode of a decision: of several versions the weakest,
// where one that is not known counts as destructive. A decision that does not
// exist has none.
func decisionMode(p *gate.Pass, key pack.Text) (pack.ApprovalMode, *pack.DecisionSpec) {
	spec, _ := p.Weakest(key, pack.ApprovalMode.Rank)
	if spec == nil {
		return "", nil
	}
	return pack.Mode(spec.ApprovalMode), spec
}

// aboveReadOnly reports whether a decision may have effects. One of which any
// version may, or that does not exist, is taken to.
func aboveReadOnly(p *gate.Pass, key pack.Text) bool {
	versions := p.Versions(key)
	return len(versions) == 0 || slices.ContainsFunc(versions, func(d *pack.DecisionSpec) bool {
		return pack.Mode(d.ApprovalMode).Rank() > pack.ReadOnly.Rank()
	})
}
