package schema

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// SCH011 reports conditions that are not written in the JsonLogic profile.
var SCH011 = &gate.Rule{
	ID:       "SCH011",
	Name:     "invalid-condition",
	Severity: finding.Error,
	Title:    "Every condition is written in the JsonLogic profile",
	Doc: `The conditions of rules, of approval gates and of a decision's eligibility_rules
are JsonLogic. An engine that meets an operator it does not know may throw, or
take the condition for a constant, so the same pack would decide differently in
different runtimes. The profile is the part that all of them share: a fixed list
of operators, each with its number of operands, and variables that are named
literally, so that one can see what a condition reads.

Correct the operator or the operand that the message names.
policy_dsl.language is ` + "`jsonlogic`" + `, the only language there is.`,
	Bad:   `"if": {"greater": [{"var": "request.context.amount"}, 3000]}`,
	Good:  `"if": {">": [{"var": "request.context.amount"}, 3000]}`,
	Since: "0.1.0",
	Check: checkConditions,
}

func checkConditions(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	for _, b := range p.Pack.PolicyLayer.PolicyBundles.Items {
		if !checkLanguage(p, b.PolicyDSL.Language) {
			continue // its conditions are written in something else
		}
		for _, r := range b.PolicyDSL.Rules.Items {
			checkCondition(p, r.If)
		}
	}
	for _, g := range p.Pack.PolicyLayer.ApprovalGates.Items {
		checkCondition(p, g.When)
	}
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		checkCondition(p, d.EligibilityRules)
	}
}

// checkLanguage reports a language other than JsonLogic, and whether the
// conditions can be read as JsonLogic all the same.
func checkLanguage(p *gate.Pass, stated pack.Text) bool {
	if !stated.OK || stated.Value == policy.Language {
		return true
	}
	d := gate.Diagnostic{
		At:      stated.Node,
		Message: fmt.Sprintf("the language of the rules is %s, not %q", quote(stated.Value), policy.Language),
		Hint:    "write the rules in JsonLogic",
	}
	same := strings.EqualFold(stated.Value, policy.Language)
	if same {
		replaceBy(&d, quoteJSON(policy.Language), "")
	}
	p.Report(d)
	return same
}

// checkCondition reports the problems of a condition; one that is not there is
// the JSON Schema's matter.
func checkCondition(p *gate.Pass, condition *pack.Node) {
	if condition == nil {
		return
	}
	_, problems := p.Compile(condition)
	for _, problem := range problems {
		p.Report(gate.Diagnostic{
			At:      pack.Place(problem.Node, condition),
			Message: problem.Message,
			Hint:    problem.Hint,
		})
	}
}
