package policyrules

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// POL003: rules of one rank do not contradict each other.
var POL003 = &gate.Rule{
	ID: "POL003", Name: "priority-conflict", Severity: finding.Error,
	Title: "Rules of equal priority that can fire together agree on their decision",
	Doc: "Two rules of equal priority that are bound to one decision are of equal rank for their author. " +
		"If both can hold for one request and say different things (`allow`, or `approval_mode` or `requires_approval_gate` where both state one), the pack says yes and no. " +
		"At run time the deny wins and every gate is raised, but nobody decided that. An `else` that denies is a guard and conflicts with nothing.\n\n" +
		"Make the conditions exclude each other, or give the bundles priorities that say which of the two is the exception. " +
		"The finding shows a request for which both hold. For a `read_only` decision, an allow and a deny that overlap only in part are a warning.",
	Bad: `"rules": [
{"rule_id": "R_A", "if": {">": [{"var": "request.context.refund_amount"}, 3000]}, "then": {"allow": false}},
{"rule_id": "R_B", "if": {"<=": [{"var": "request.context.refund_amount"}, 5000]}, "then": {"allow": true}}]`,
	Good: `"rules": [
{"rule_id": "R_A", "if": {">": [{"var": "request.context.refund_amount"}, 3000]}, "then": {"allow": false}},
{"rule_id": "R_B", "if": {"<=": [{"var": "request.context.refund_amount"}, 3000]}, "then": {"allow": true}}]`,
	Since: "0.1.0",
	Check: checkConflicts,
}

func checkConflicts(p *gate.Pass) {
	m, q := newModel(p), newProof(p)
	m.excuse(p, func(o omission) bool { return o.rule != nil && o.rule.DecisionBinding.OK && !o.rule.NonEnforcing.Value })
	// Only rules of one decision and priority can meet, so only those are compared.
	type rank struct {
		decision string
		priority float64
		bundle   *pack.Bundle // of bundles without a priority, each is its own
	}
	ranks := map[rank][]*rule{}
	for _, r := range m.rules {
		if !r.enforced || !r.DecisionBinding.OK {
			continue
		}
		k := rank{decision: r.DecisionBinding.Value, priority: r.Bundle.Priority.Value}
		if !r.Bundle.Priority.OK {
			k.bundle = r.Bundle
		}
		checkAgainst(m, q, r, ranks[k])
		ranks[k] = append(ranks[k], r)
	}
}

// together is how many rules are asked about in one question.
const together = 16

// checkAgainst compares a rule with others of its rank. Most rules of a large
// pack exclude each other, which one question proves of many at once.
func checkAgainst(m *model, q *proof, r *rule, others []*rule) {
	others = slices.DeleteFunc(slices.Clone(others), func(o *rule) bool {
		return len(differences(&o.Then, &r.Then)) == 0 || len(m.shared(o, r)) == 0
	})
	for some := range slices.Chunk(others, together) {
		if len(some) > 1 && q.ask(r.branches[0].holds, m.anyHolds(r, some)).Verdict == jsonlogic.Unsatisfiable {
			continue
		}
		for _, other := range some {
			checkConflict(m, q, other, r)
		}
	}
}

// anyHolds says that one of several rules holds, for an intent that it shares
// with another rule.
func (m *model) anyHolds(with *rule, rules []*rule) jsonlogic.Formula {
	parts := make([]jsonlogic.Formula, len(rules))
	for i, r := range rules {
		var scopes []jsonlogic.Formula
		for _, s := range m.shared(r, with) {
			scopes = append(scopes, s.is())
		}
		parts[i] = jsonlogic.All(jsonlogic.Any(scopes...), r.branches[0].holds)
	}
	return jsonlogic.Any(parts...)
}

// difference is one thing that two outcomes say differently.
type difference struct {
	at, other *pack.Node
	words     string
}

// differences compares what two outcomes state.
func differences(a, b *pack.Outcome) []difference {
	var all []difference
	if a.Allow.OK && b.Allow.OK && a.Allow.Value != b.Allow.Value {
		verbs := map[bool]string{true: "allows", false: "denies"}
		all = append(all, difference{b.Allow.Node, a.Allow.Node,
			fmt.Sprintf("it %s what the other %s", verbs[b.Allow.Value], verbs[a.Allow.Value])})
	}
	for _, f := range []struct {
		name string
		a, b pack.Text
	}{
		{"approval_mode", a.ApprovalMode, b.ApprovalMode},
		{"requires_approval_gate", a.RequiresApprovalGate, b.RequiresApprovalGate},
	} {
		if f.a.OK && f.b.OK && f.a.Value != f.b.Value {
			all = append(all, difference{f.b.Node, f.a.Node, fmt.Sprintf("it states %s %q and the other %q", f.name, f.b.Value, f.a.Value)})
		}
	}
	return all
}

func checkConflict(m *model, q *proof, a, b *rule) {
	different := differences(&a.Then, &b.Then)
	found, where := q.inAny(m.shared(a, b), always(jsonlogic.All(a.branches[0].holds, b.branches[0].holds)))
	switch found.Verdict {
	case jsonlogic.Undecided:
		q.unproved(gate.Called("rule", b.RuleID), "whether it conflicts with another of its rank", found)
		return
	case jsonlogic.Unsatisfiable:
		return
	}
	words := make([]string, len(different))
	for i, d := range different {
		words[i] = d.words
	}
	q.Report(gate.Diagnostic{
		At:       different[0].at,
		Severity: severityOf(q, a, b, different, where),
		Message: fmt.Sprintf("%s conflicts with %s of equal priority over %q: %s%s", gate.Called("rule", b.RuleID), gate.Called("rule", a.RuleID),
			b.DecisionBinding.Value, series(words), example(found.Witness, a.when, b.when)),
		Hint:    "make their conditions exclude each other, or put one into a bundle of another priority",
		Key:     a.RuleID.Value,
		Related: gate.See(different[0].other, "what %s says", gate.Called("rule", a.RuleID)),
		Witness: found.Witness,
	})
}

// shared returns the scopes to which both rules are applicable.
func (m *model) shared(a, b *rule) []scope {
	var all []scope
	for _, s := range m.scopesOf(a) {
		if b.applies(s) {
			all = append(all, s)
		}
	}
	return all
}

// severityOf is a warning for an exception to what may be read: opposite allow
// for a read_only decision, where the allow also holds without the deny.
func severityOf(q *proof, a, b *rule, different []difference, where scope) finding.Severity {
	opposite := len(different) == 1 && different[0].at == b.Then.Allow.Node
	if !opposite || aboveReadOnly(q.Pass, b.DecisionBinding) {
		return finding.Error
	}
	allow, deny := a, b
	if denies(&a.Then) {
		allow, deny = b, a
	}
	part := q.ask(where.is(), jsonlogic.IsTrue(allow.when), jsonlogic.Not(jsonlogic.IsTrue(deny.when)))
	if part.Verdict == jsonlogic.Unsatisfiable {
		return finding.Error
	}
	return finding.Warning
}
