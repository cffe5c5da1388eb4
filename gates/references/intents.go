package references

import (
	"fmt"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
)

// REF010: what has rules is measured, and what is measured has rules.
var REF010 = &gate.Rule{
	ID: "REF010", Name: "intent-without-eval-target", Severity: finding.Error,
	Title: "Every intent of a rule has an eval target, and every eval target a rule",
	Doc: "An intent that policy governs and no eval target measures can get worse from release to release without anybody seeing it: that is an error, reported at the first rule of the intent. " +
		"An eval target for an intent that no rule is about measures what policy does not govern: a warning. " +
		"A rule without `applies_to.intent` is about every intent.\n\n" +
		"Add the eval target or the rule, or correct the intent; the two are compared letter by letter.",
	Bad: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": [{"intent": "support.refunds"}]`,
	Good: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": [{"intent": "support.refund"}]`,
	Since: "0.1.0",
	Check: checkIntents,
}

func checkIntents(p *gate.Pass) {
	if !p.Pack.EvaluationLayer.EvalTargets.OK || !p.Pack.PolicyLayer.PolicyBundles.OK {
		return
	}
	targets := map[string]*pack.Node{}
	for _, t := range p.Pack.EvaluationLayer.EvalTargets.Items {
		if t.Intent.OK {
			put(targets, t.Intent.Value, t.Intent.Node)
		}
	}
	governed, all := ruleIntents(p)
	checkMeasured(p, governed, targets)
	if !all {
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

func checkMeasured(p *gate.Pass, governed, targets map[string]*pack.Node) {
	measured := newKnown(targets, func(name string) string {
		return fmt.Sprintf("add an eval target for %q", name)
	})
	measured.names = nil // another intent is no remedy, unless it is the same one misspelt
	for _, r := range p.Rules {
		intent := r.AppliesTo.Intent
		if !intent.OK || targets[intent.Value] != nil || governed[intent.Value] != intent.Node {
			continue
		}
		measured.report(p, intent.Value, gate.Diagnostic{
			At:      intent.Node,
			Message: fmt.Sprintf("intent %q has no eval target", intent.Value),
		})
	}
}

func checkGoverned(p *gate.Pass, governed map[string]*pack.Node) {
	rules := newKnown(governed, func(string) string { return "add a rule for it or remove the target" })
	rules.names = nil
	for _, t := range p.Pack.EvaluationLayer.EvalTargets.Items {
		if !t.Intent.OK || governed[t.Intent.Value] != nil {
			continue
		}
		rules.report(p, t.Intent.Value, gate.Diagnostic{
			At:       t.Intent.Node,
			Severity: finding.Warning,
			Message:  fmt.Sprintf("the eval target is for intent %q, which no rule is about", t.Intent.Value),
		})
	}
}
