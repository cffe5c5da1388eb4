package references

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// REF010: what is measured has rules. That what has rules is measured is EVL001.
var REF010 = &gate.Rule{
	ID: "REF010", Name: "eval-target-without-rule", Severity: finding.Warning,
	Title: "Every eval target is for an intent that a rule is about",
	Doc: "An eval target for an intent that no rule is about measures what policy does not govern: the intent is misspelt, or its rules are missing. " +
		"A rule without `applies_to.intent` is about every intent. That every intent of a rule is measured is the evaluation gate's business (EVL001).\n\n" +
		"Correct the intent, add the rule, or remove the target; intents are compared letter by letter.",
	Bad: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": [{"intent": "support.refund"}, {"intent": "support.refunds"}]`,
	Good: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": [{"intent": "support.refund"}]`,
	Since: "0.1.0",
	Check: checkIntents,
}

func checkIntents(p *gate.Pass) {
	if !p.Pack.EvaluationLayer.EvalTargets.OK || !p.Pack.PolicyLayer.PolicyBundles.OK {
		return
	}
	if governed, all := ruleIntents(p); !all {
		checkGoverned(p, governed)
	}
}

// ruleIntents returns the intents that rules name, each at its first place. All
// is true if a rule is about every intent, or about one that cannot be read.
func ruleIntents(p *gate.Pass) (intents map[string]*pack.Node, all bool) {
	intents = map[string]*pack.Node{}
	for _, r := range p.Rules {
		intent := r.AppliesTo.Intent
		if !intent.OK {
			all = true
			continue
		}
		put(intents, intent.Value, intent.Node)
	}
	return intents, all
}

func checkGoverned(p *gate.Pass, governed map[string]*pack.Node) {
	rules := newKnown(governed, func(string) string { return "add a rule for it or remove the target" })
	rules.names = nil
	for _, t := range p.Pack.EvaluationLayer.EvalTargets.Items {
		if !t.Intent.OK || governed[t.Intent.Value] != nil {
			continue
		}
		rules.report(p, t.Intent.Value, gate.Diagnostic{
			At:      t.Intent.Node,
			Message: fmt.Sprintf("the eval target is for intent %q, which no rule is about", t.Intent.Value),
		})
	}
}
