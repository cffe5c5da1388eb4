package policyrules

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// POL015: what is not allowed is denied, and not just passed over.
var POL015 = &gate.Rule{
	ID: "POL015", Name: "undecided-request", Severity: finding.Warning, Strict: true,
	Title: "Every request for a decision with effects is allowed or denied by some rule",
	Doc: "A rule that allows and has no `else` says nothing about all other requests. " +
		"Where no other rule of the decision fires for them and none denies them, such requests are blocked, because silence is not consent; " +
		"but nobody decided that, and nobody gave a reason.\n\n" +
		"Add an `else` that denies with a reason, or a rule for the requests that are left. " +
		"The finding stands once for each decision above `read_only` and shows a request for which none of its rules fires.",
	Bad: `{"rule_id": "R_REFUND", "if": {"==": [{"var": "user.role"}, "support_agent"]}, "then": {"allow": true}}`,
	Good: `{"rule_id": "R_REFUND", "if": {"==": [{"var": "user.role"}, "support_agent"]}, "then": {"allow": true},
"else": {"allow": false, "reason": "Refunds are made by support agents."}}`,
	Since: "0.1.0",
	Check: checkSilence,
}

func checkSilence(p *gate.Pass) {
	m, q := newModel(p), newProof(p)
	seen := map[string]bool{}
	for _, r := range m.rules {
		key := r.DecisionBinding
		if !allowsOnly(r) || !key.OK || seen[key.Value] || !aboveReadOnly(p, key) || m.specOf(p, r) == nil {
			continue
		}
		seen[key.Value] = true
		if !m.complete(p, r) {
			continue
		}
		checkDecision(m, q, r)
	}
}

// allowsOnly reports whether a rule allows and is silent otherwise.
func allowsOnly(r *rule) bool { return r.enforced && allows(&r.Then) && len(r.branches) == 1 }

// complete reports whether all rules that may fire for a decision could be read;
// one that was left out might be the one that denies.
func (m *model) complete(p *gate.Pass, r *rule) bool {
	whole := true
	for _, o := range m.leftOut {
		if o.rule == nil || o.rule.NonEnforcing.Value {
			continue
		}
		if b := o.rule.DecisionBinding; !b.OK || b.Value == r.DecisionBinding.Value {
			whole = false
			p.NotChecked(fmt.Sprintf("decision %q: whether some rule fires for every request not proved: %s is left out, as %s",
				r.DecisionBinding.Value, o.what, o.because))
		}
	}
	return whole
}

// checkDecision asks for a request for which no rule of a decision fires, nothing
// denies all decisions, and the compile does not stop. First is its first rule
// that allows and has no else.
func checkDecision(m *model, q *proof, first *rule) {
	key := first.DecisionBinding.Value
	var passed []*jsonlogic.Expr
	for _, r := range m.rules {
		if r.enforced && r.bound(key) {
			passed = append(passed, r.when)
		}
	}
	a, where := q.inAny(m.governing(key), func(s scope) jsonlogic.Formula {
		rules := m.within(s)
		parts := []jsonlogic.Formula{known(rules)}
		for _, r := range rules {
			if r.bound(key) {
				parts = append(parts, silent(r))
			}
		}
		for _, b := range m.denials(s, key) {
			if !b.rule.DecisionBinding.OK {
				parts = append(parts, jsonlogic.Not(b.holds))
			}
		}
		return jsonlogic.All(parts...)
	})
	switch a.Verdict {
	case jsonlogic.Undecided:
		q.unproved(fmt.Sprintf("decision %q", key), "whether some rule fires for every request", a)
	case jsonlogic.Satisfiable:
		of := ""
		if !where.any {
			of = fmt.Sprintf(" of intent %q", where.intent)
		}
		q.Report(gate.Diagnostic{
			At: first.Node,
			Message: fmt.Sprintf("some requests%s are decided by no rule of %q and so are blocked without a reason%s",
				of, key, example(a.Witness, passed...)),
			Hint:    "add an else that denies with a reason, or a rule for these requests",
			Key:     key,
			Related: m.specOf(q.Pass, first),
			Witness: a.Witness,
		})
	}
}

// governing returns the scopes in which a rule that only allows is bound to a
// decision.
func (m *model) governing(key string) []scope {
	var all []scope
	taken := map[scope]bool{}
	for _, r := range m.rules {
		if !allowsOnly(r) || !r.bound(key) {
			continue
		}
		for _, s := range m.scopesOf(r) {
			if !taken[s] {
				taken[s] = true
				all = append(all, s)
			}
		}
	}
	return all
}

// specOf returns the place of the decision that a rule is bound to, nil where
// there is no such decision, which is REF001's matter.
func (m *model) specOf(p *gate.Pass, r *rule) []finding.Related {
	_, spec := decisionMode(p, r.DecisionBinding)
	if spec == nil {
		return nil
	}
	return gate.See(pack.Place(spec.DecisionKey.Node, spec.Node), "the decision")
}
