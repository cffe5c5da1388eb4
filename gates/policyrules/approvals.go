package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// POL002: an approval gate can be raised, and somebody can approve.
var POL002 = &gate.Rule{
	ID: "POL002", Name: "unsatisfiable-gate", Severity: finding.Error,
	Title: "Every approval gate can become active, and has an existing approver role and a lifetime",
	Doc: "A gate whose `when` can never be true never becomes active by itself: it looks like protection but protects nothing. A " +
		"gate can become active but never be passed if it has no `required_approver_role`, if nobody in the environment has " +
		"that role, or if its `ttl_seconds` is not above 0. What it guards is then blocked for ever.\n\n" +
		"Correct `when` (that it is never true is proved, for the intents that the pack names), name a role of the " +
		"environment's `approver_roles`, and give approvals a lifetime in seconds. Every catalog is checked; if none lists " +
		"`approver_roles`, that part is not checked.",
	Bad: `{"gate_id": "GATE_FINANCE_APPROVAL", "required_approver_role": "", "ttl_seconds": 0,
"when": {"<": [5000, {"var": "request.context.refund_amount"}, 3000]}}`,
	Good: `{"gate_id": "GATE_FINANCE_APPROVAL", "required_approver_role": "finance_lead", "ttl_seconds": 7200,
"when": {">": [{"var": "request.context.refund_amount"}, 3000]}}`,
	Check: checkGates,
}

// POL010: a gate is raised where a rule asks for it.
var POL010 = &gate.Rule{
	ID: "POL010", Name: "gate-gap", Severity: finding.Warning,
	Title: "No rule requires a gate for requests for which the gate's own when is false",
	Doc: "A rule states when a gate is required, and the gate's `when` states it again. If the two differ, there is a gap: " +
		"requests for which the rule requires an approval and the gate's condition does not. packgate activates the gate for " +
		"them; a runtime that only uses `when` does not.\n\n" +
		"Make the two conditions agree: extend `when` to what the rules require, or narrow the rule. The finding shows a " +
		"request in the gap.",
	Bad: `"if": {">": [{"var": "request.context.refund_amount"}, 3000]},
"then": {"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "when": {">": [{"var": "request.context.refund_amount"}, 5000]}}]`,
	Good: `"if": {">": [{"var": "request.context.refund_amount"}, 3000]},
"then": {"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"},
"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "when": {">": [{"var": "request.context.refund_amount"}, 3000]}}]`,
	From:  gate.FromPack,
	Check: checkGateGaps,
}

func checkGates(p *gate.Pass) {
	q := newQuestions(p)
	q.excuse(p, aboutGates)
	for _, g := range q.Gates {
		if g.When != nil && !q.pointless() {
			q.checkRaised(g)
		}
	}
	for i := range p.Pack.PolicyLayer.ApprovalGates.Items {
		checkApprover(p, &p.Pack.PolicyLayer.ApprovalGates.Items[i])
	}
	checkApproverRoles(p)
}

// checkRaised reports a gate whose condition no request makes true.
func (q *questions) checkRaised(g *policy.Gate) {
	f := q.anyOf(q.Intents, same(question{seed: jsonlogic.IsTrue(g.When.Expr)}))
	switch f.Verdict {
	case jsonlogic.Undecided:
		q.NotProved(gate.Claim{
			At: g.ApprovalGate.When, What: fmt.Sprintf("whether %s can be raised", gate.Called("gate", g.GateID)), Reason: f.Reason, Key: "when",
		})
	case jsonlogic.Unsatisfiable:
		q.Report(gate.Diagnostic{
			At:      g.ApprovalGate.When,
			Message: fmt.Sprintf("the when of %s can never be true%s", gate.Called("gate", g.GateID), assuming(f.Answer)),
			Hint:    "correct the condition, or write true if the gate is always needed",
			Key:     "when",
		})
	}
}

func checkApprover(p *gate.Pass, g *pack.ApprovalGate) {
	if role := g.RequiredApproverRole; role.OK && strings.TrimSpace(role.Value) == "" {
		p.Report(gate.Diagnostic{
			At:      role.Node,
			Message: gate.Called("gate", g.GateID) + " has no approver role, so nobody can approve",
			Hint:    "write the role that approves",
			Key:     "role",
		})
	}
	if ttl := g.TTLSeconds; ttl.OK && ttl.Value <= 0 {
		p.Report(gate.Diagnostic{
			At:      ttl.Node,
			Message: fmt.Sprintf("ttl_seconds of %s is %s, so an approval is over before it counts", gate.Called("gate", g.GateID), pack.Clip(ttl.Node.Text, gate.MostShown)),
			Hint:    "write how many seconds an approval holds, such as 7200",
			Key:     "ttl",
		})
	}
}

// checkApproverRoles looks the roles up in every environment.
func checkApproverRoles(p *gate.Pass) {
	asking := slices.DeleteFunc(slices.Clone(p.Policy().Gates), func(g *policy.Gate) bool {
		return strings.TrimSpace(g.RequiredApproverRole.Value) == ""
	})
	if len(asking) == 0 {
		return
	}
	p.EachCatalog("approver_roles", func(e *repo.Environment) *pack.Node { return e.ApproverRoles.Node }, func(e *repo.Environment) {
		checkRolesIn(p, e, asking)
	})
}

// checkRolesIn looks the roles of gates up in one environment.
func checkRolesIn(p *gate.Pass, e *repo.Environment, asking []*policy.Gate) {
	there := pack.Values(e.ApproverRoles)
	for _, g := range asking {
		role := g.RequiredApproverRole
		if slices.Contains(there, role.Value) {
			continue
		}
		hint := fmt.Sprintf("add %q to approver_roles in %s", role.Value, e.Document.File)
		if near := schemas.Nearest(role.Value, there); near != "" {
			hint = fmt.Sprintf("write %q, or %s", near, hint)
		}
		p.Report(gate.Diagnostic{
			At:      role.Node,
			Message: fmt.Sprintf("%s needs the role %q, which nobody has in environment %q", gate.Called("gate", g.GateID), role.Value, e.Name()),
			Hint:    hint,
			Key:     e.Name(),
		})
	}
}

func checkGateGaps(p *gate.Pass) {
	q := newQuestions(p)
	q.excuse(p, func(o omission) bool {
		return aboutGates(o) || o.rule != nil && slices.ContainsFunc(o.rule.Branches(), func(b *policy.Branch) bool { return b.RequiresApprovalGate.OK })
	})
	for _, r := range q.rules {
		for _, b := range r.Branches() {
			if b.Gate != nil && !q.pointless() && b.Gate.When != nil && r.Enforced {
				q.checkGateGap(b)
			}
		}
	}
}

// checkGateGap asks for a request in which an outcome requires a gate whose own when is false.
func (q *questions) checkGateGap(b *policy.Branch) {
	who, g := gate.Called("rule", b.Rule.RuleID), b.Gate
	inGap := func(r *compiler.Result) bool {
		return holds(b)(r) && slices.ContainsFunc(r.Trace.Gates, func(t compiler.GateTrace) bool {
			return t.Gate == g.ApprovalGate && t.Active && t.When == jsonlogic.False
		})
	}
	f := q.anyOf(q.intentsOf(b.Rule), func(intent string) question {
		return question{seed: jsonlogic.All(b.Holds(), jsonlogic.IsFalse(g.When.Expr)), rest: q.decided(intent), shown: inGap}
	})
	switch f.Verdict {
	case jsonlogic.Undecided:
		q.unproved(who, fmt.Sprintf("whether %q is raised wherever its %s holds", g.ID, b.Word()), f.Answer)
	case jsonlogic.Satisfiable:
		q.Report(gate.Diagnostic{
			At: b.RequiresApprovalGate.Node,
			Message: fmt.Sprintf("the %s of %s requires %q also where the gate's when is false%s",
				b.Word(), who, g.ID, example(f.Witness, b.Rule.When.Expr, g.When.Expr)),
			Hint:    "require approval wherever the rule does, or narrow the rule",
			Related: gate.See(g.ApprovalGate.When, "the gate's when"),
			Witness: f.Witness,
		})
	}
}
