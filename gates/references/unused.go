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
	Doc: "If no rule is about the intent of an eval target, the target measures something that policy does not govern: the " +
		"intent is misspelled, or its rules are missing. A rule without `applies_to.intent` is about every intent. Whether " +
		"every intent of a rule is measured is checked by EVL001.\n\n" +
		"Correct the intent, add the rule, or remove the target. Intents are compared letter by letter.",
	Bad: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": [{"intent": "support.refund"}, {"intent": "support.refunds"}]`,
	Good: `"rules": [{"rule_id": "R_REFUND", "applies_to": {"intent": "support.refund"}}],
"eval_targets": [{"intent": "support.refund"}]`,
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
	rules.names = func() []string { return nil }
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

// REF011: what is declared is used.
var REF011 = &gate.Rule{
	ID: "REF011", Name: "orphan", Severity: finding.Warning, Strict: true,
	Title: "Every gate, capability and decision spec is used",
	Doc: "A gate that no rule and no permission names is never active. A capability without a permission is never surfaced. A " +
		"decision spec that no rule binds is not governed by any policy, which is an error if the decision is above " +
		"`read_only`. Each of them looks like a safeguard or a feature and is neither; often a name elsewhere is misspelled.\n\n" +
		"Use what is declared, or remove it. To keep a capability closed, add a permission with `\"allow\": false`; the " +
		"capability then counts as used. Redaction rules are not checked: the runtime applies them by name, and nothing in a " +
		"pack refers to them.",
	Bad: `"approval_gates": [{"gate_id": "GATE_LEGAL"}],
"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE"}]`,
	Good: `"approval_gates": [{"gate_id": "GATE_FINANCE"}],
"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE"}]`,
	Check: checkOrphans,
}

func checkOrphans(p *gate.Pass) {
	rules := p.Pack.PolicyLayer.PolicyBundles.OK
	permissions := p.Pack.ToolingLayer.Permissions.OK
	if rules && permissions {
		checkGateUse(p)
	}
	if permissions {
		checkCapabilityUse(p)
	}
	if rules {
		checkDecisionUse(p)
	}
}

func checkGateUse(p *gate.Pass) {
	used := map[string]bool{}
	for _, r := range p.Rules {
		for _, o := range r.Outcomes() {
			mark(used, o.RequiresApprovalGate)
		}
	}
	for _, permission := range p.Pack.ToolingLayer.Permissions.Items {
		mark(used, permission.RequiresApprovalGate)
	}
	for _, g := range p.Pack.PolicyLayer.ApprovalGates.Items {
		if g.GateID.OK && !used[g.GateID.Value] {
			p.Reportf(g.GateID.Node, "name it in the requires_approval_gate of a rule's outcome or of a permission, or remove it",
				"no rule and no permission requires approval gate %q, so it is never active", g.GateID.Value)
		}
	}
}

func checkCapabilityUse(p *gate.Pass) {
	type capability struct{ adapter, name string }
	used := map[capability]bool{}
	for _, permission := range p.Pack.ToolingLayer.Permissions.Items {
		used[capability{permission.AdapterID.Value, permission.Capability.Value}] = true
	}
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		for _, c := range a.Capabilities.Items {
			if a.AdapterID.OK && c.OK && !used[capability{a.AdapterID.Value, c.Value}] {
				p.Reportf(c.Node, `add a permission for it (with "allow": false if it is to stay closed), or remove it`,
					"capability %q of adapter %q has no permission, so it is never surfaced", c.Value, a.AdapterID.Value)
			}
		}
	}
}

func checkDecisionUse(p *gate.Pass) {
	bound := map[string]bool{}
	for _, r := range p.Rules {
		mark(bound, r.DecisionBinding)
	}
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		if !d.DecisionKey.OK || bound[d.DecisionKey.Value] {
			continue
		}
		found := gate.Faultf(d.DecisionKey.Node, "bind a rule to it with decision_binding, or remove it",
			"no rule is bound to decision %q", d.DecisionKey.Value)
		if governs(&d) {
			found.Severity = finding.Error
			found.Message += ", which " + mode(&d) + ", so no policy governs it"
		}
		p.Report(found)
	}
}

// mode says in words which mode a decision has.
func mode(d *pack.DecisionSpec) string {
	switch {
	case pack.Mode(d.ApprovalMode).Known():
		return "is " + d.ApprovalMode.Value
	case d.ApprovalMode.OK:
		return fmt.Sprintf("has the unknown approval mode %q and counts as destructive", d.ApprovalMode.Value)
	}
	return "has no approval mode and counts as destructive"
}
