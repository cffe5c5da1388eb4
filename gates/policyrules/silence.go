package policyrules

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// POL015: what is not allowed is denied, and not just passed over.
var POL015 = &gate.Rule{
	ID: "POL015", Name: "undecided-request", Severity: finding.Warning, Strict: true,
	Title: "Every request for a decision with effects is allowed or denied by some rule",
	Doc: "A rule that allows and has no `else` leaves all other requests open. If no other rule of the decision fires for them " +
		"and none denies them, such requests are blocked, because silence is not consent. But nobody decided that, and nobody " +
		"gave a reason.\n\n" +
		"Add an `else` that denies with a reason, or a rule for the remaining requests. There is one finding for each decision " +
		"above `read_only`, which shows a request for which none of its rules fires.",
	Bad: `{"rule_id": "R_REFUND", "if": {"==": [{"var": "user.role"}, "support_agent"]}, "then": {"allow": true}}`,
	Good: `{"rule_id": "R_REFUND", "if": {"==": [{"var": "user.role"}, "support_agent"]}, "then": {"allow": true},
"else": {"allow": false, "reason": "Refunds are made by support agents."}}`,
	From:  gate.FromPack,
	Check: checkSilence,
}

func checkSilence(p *gate.Pass) {
	q := newQuestions(p)
	allowing := map[*policy.Decision][]*policy.Rule{}
	bound := map[*policy.Decision][]*policy.Rule{}
	for _, r := range q.rules {
		if r.Decision == nil || r.Decision.ReadOnly || !r.Enforced {
			continue
		}
		bound[r.Decision] = append(bound[r.Decision], r)
		if r.Then.Allows == jsonlogic.True && r.Else == nil {
			allowing[r.Decision] = append(allowing[r.Decision], r)
		}
	}
	for _, d := range q.Decisions {
		if len(allowing[d]) > 0 && q.complete(d) {
			q.checkDecision(d, allowing[d], bound[d])
		}
	}
}

// complete reports whether all rules of a decision could be read: another might be one that denies.
func (q *questions) complete(d *policy.Decision) bool {
	whole := true
	for _, o := range q.leftOut {
		if o.rule == nil || o.rule.NonEnforcing.Value || o.rule.DecisionBinding.OK && o.rule.Decision != d {
			continue
		}
		whole = false
		q.NotChecked(fmt.Sprintf("decision %q: whether some rule fires for every request not proved: %s is left out, as %s", d.Key, o.what, o.because))
	}
	return whole
}

// checkDecision asks for a request that is compiled, in which no rule of a decision fires and
// nothing denies all. Allowing are its rules that allow and have no else.
func (q *questions) checkDecision(d *policy.Decision, allowing, bound []*policy.Rule) {
	var intents []string
	for _, r := range allowing {
		intents = append(intents, q.intentsOf(r)...)
	}
	var conditions []*jsonlogic.Expr
	for _, r := range bound {
		conditions = append(conditions, r.When.Expr)
	}
	slices.Sort(intents)
	blocked := func(r *compiler.Result) bool {
		return slices.ContainsFunc(r.Trace.Decisions, func(t compiler.DecisionTrace) bool {
			return t.Decision.DecisionKey.Value == d.Key && t.State == compiler.DecisionSilent
		})
	}
	f := q.anyOf(slices.Compact(intents), func(intent string) question {
		asked := question{shown: blocked, rest: q.decided(intent)}
		for _, r := range q.rules {
			if r.Enforced && r.Applies(intent) && (r.Decision == d || r.Unbound()) {
				asked.rest = append(asked.rest, silent(r)...)
			}
		}
		return asked
	})
	switch f.Verdict {
	case jsonlogic.Undecided:
		q.unproved(fmt.Sprintf("decision %q", d.Key), "whether some rule fires for every request", f.Answer)
	case jsonlogic.Satisfiable:
		q.Report(gate.Diagnostic{
			At: allowing[0].Node,
			Message: fmt.Sprintf("some requests of intent %q are decided by no rule of %q and so are blocked without a reason%s",
				f.intent, d.Key, example(f.Witness, conditions...)),
			Hint:    "add an else that denies with a reason, or a rule for these requests",
			Key:     d.Key,
			Related: gate.See(pack.Place(d.Spec().DecisionKey.Node, d.Spec().Node), "the decision"),
			Witness: f.Witness,
		})
	}
}

// silent says what has to be so that a rule decides nothing about the decision that it
// is bound to or, where it is bound to none, denies nothing.
func silent(r *policy.Rule) (parts []jsonlogic.Formula) {
	for _, b := range r.Branches() {
		if !r.Unbound() || b.Denies() {
			parts = append(parts, jsonlogic.Not(b.Holds()))
		}
	}
	return parts
}
