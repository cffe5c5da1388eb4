package policyrules

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// POL006: a rule says why it is there.
var POL006 = &gate.Rule{
	ID: "POL006", Name: "rule-without-rationale", Severity: finding.Warning, Strict: true,
	Title: "Every rule has a rationale",
	Doc: "Whoever reviews a change of policy has to know what the rule was for. " +
		"Without a `rationale` nobody dares to remove a rule, and nobody notices when its reason is gone.\n\n" +
		"Add a sentence: which obligation, risk or agreement the rule comes from.",
	Bad:   `{"rule_id": "R_REFUND_REQUIRES_IDV", "if": true, "then": {"allow": true}}`,
	Good:  `{"rule_id": "R_REFUND_REQUIRES_IDV", "if": true, "then": {"allow": true}, "rationale": "Refunds require verified identity."}`,
	Since: "0.1.0",
	Check: checkRationale,
}

// POL013: a rule that binds nothing does not look as if it did.
var POL013 = &gate.Rule{
	ID: "POL013", Name: "toothless-rule", Severity: finding.Warning, Strict: true,
	Title: "A non_enforcing rule denies nothing, raises no gate and binds no effect",
	Doc: "A rule marked `non_enforcing` is listed when it fires and changes nothing: its deny does not deny and its gate is not raised. " +
		"Where such a rule denies, raises a gate or is bound to a decision above `read_only`, somebody will believe that it protects.\n\n" +
		"Remove `non_enforcing` to make the rule count. If it is an observation only, take out the deny, the gate and the binding.",
	Bad:   `{"rule_id": "R_FRAUD", "non_enforcing": true, "if": true, "then": {"allow": false, "reason": "Fraud."}}`,
	Good:  `{"rule_id": "R_FRAUD", "if": true, "then": {"allow": false, "reason": "Fraud."}}`,
	Since: "0.1.0",
	Check: checkToothless,
}

func checkRationale(p *gate.Pass) {
	for _, r := range p.Policy().Rules {
		if !gate.IsObject(r.Node) || !blank(r.Rationale) {
			continue
		}
		p.Report(gate.Diagnostic{
			At:      pack.Place(r.Rationale.Node, r.Node),
			Message: gate.Called("rule", r.RuleID) + " has no rationale",
			Hint:    "add a sentence that says what the rule is for",
		})
	}
}

func checkToothless(p *gate.Pass) {
	for _, r := range p.Policy().Rules {
		if !r.NonEnforcing.OK || !r.NonEnforcing.Value {
			continue
		}
		seeming, related := pretences(r)
		if len(seeming) == 0 {
			continue
		}
		p.Report(gate.Diagnostic{
			At:      r.NonEnforcing.Node,
			Message: fmt.Sprintf("%s is non_enforcing and so binds nothing, but it %s", gate.Called("rule", r.RuleID), series(seeming)),
			Hint:    "remove non_enforcing, or what the rule only seems to do",
			Related: related,
		})
	}
}

// pretences lists what a rule would do if it were enforced.
func pretences(r *policy.Rule) (seeming []string, related []finding.Related) {
	deny, raised := false, map[string]bool{}
	for _, o := range r.Branches() {
		if o.Denies() && !deny {
			deny = true
			seeming = append(seeming, "denies")
			related = append(related, gate.See(o.Allow.Node, "its deny")...)
		}
		if g := o.RequiresApprovalGate; g.OK && !raised[g.Value] {
			raised[g.Value] = true
			seeming = append(seeming, fmt.Sprintf("raises %q", g.Value))
			related = append(related, gate.See(g.Node, "its gate")...)
		}
	}
	if r.Decision != nil && !r.Decision.ReadOnly {
		_, spec := weakest(r.Decision)
		seeming = append(seeming, fmt.Sprintf("is bound to %q, which is above read_only", r.Decision.Key))
		related = append(related, gate.See(pack.Place(spec.ApprovalMode.Node, spec.Node), "the decision's mode")...)
	}
	return seeming, related
}
