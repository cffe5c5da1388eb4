package compiler_test

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
)

// Eligibility_rules deny their decision, whatever allows it, and stop where they are
// unknown.
func TestEligibility(t *testing.T) {
	eligible := func(when string) finding.Operation {
		return add("/decision_layer/decision_specs/support.refund.execute/eligibility_rules", when)
	}
	allowed := policyOf(ruleOf("R1", always, allow, onExecute))
	const missing = `operator ">" cannot decide: variable "request.context.absent" is missing or null, wanted a number`
	runScenarios(t, []scenario{
		{
			name: "who is eligible is allowed", edits: edits(allowed, eligible(always)),
			rules: []string{"R1"}, denied: none(), refuse: []string{guard}, tools: []string{readOne, readTwo, issue},
		},
		{
			name: "who is not is denied", edits: edits(allowed, eligible(never)),
			rules: []string{"R1"}, denied: []string{execute}, refuse: []string{guard, execute}, tools: []string{readOne, readTwo},
		},
		{
			name: "unknown stops", edits: edits(allowed, eligible(unknown)),
			outcome: compiler.PolicyEvalError, reason: `eligibility_rules of decision "support.refund.execute": ` + missing,
		},
		{
			name:  "of another intent nothing is asked",
			edits: edits(policyOf(strings.Replace(ruleOf("R1", always, allow, onExecute), "support.refund\"", "support.exchange\"", 1)), eligible(unknown), add("/evaluation_layer/eval_targets/-", `{"intent": "support.refund"}`)),
		},
		{
			name:    "a list is not taken for true",
			edits:   edits(allowed, eligible("["+never+"]")),
			outcome: compiler.Refused, reason: `the pack is not valid: decision "support.refund.execute": eligibility_rules is an array, wanted one JsonLogic condition`,
		},
		{
			name:    "an operator that is none is refused",
			edits:   edits(allowed, eligible(`{"language": "jsonlogic", "rules": []}`)),
			outcome: compiler.Refused, reason: `the pack is not valid: eligibility_rules of decision "support.refund.execute": an object with 2 members, wanted one operator`,
		},
	})
}

// Several versions of a decision have to be open, each of them.
func TestEligibilityOfVersions(t *testing.T) {
	second := `{"decision_key": "support.refund.execute", "version": "2.0.0", "approval_mode": "destructive", "eligibility_rules": ` + never + `}`
	result, _ := compiled(t, supportPack(t, policyOf(ruleOf("R1", always, allow, onExecute)), add("/decision_layer/decision_specs/-", second)), reference(t))
	check(t, "denied", result.Trace.Denied, execute)
	if by := result.Trace.Decisions[0].By; len(by) != 1 || by[0].RuleID.Value != "eligibility_rules of support.refund.execute@2.0.0" {
		t.Errorf("denied by %v", by)
	}
}
