package references

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// REF001: a rule binds a decision that exists.
var REF001 = &gate.Rule{
	ID: "REF001", Name: "unresolved-decision-binding", Severity: finding.Error,
	Title: "A rule's decision_binding is a decision_key of the pack",
	Doc: "A rule governs the decision that its `decision_binding` names. If that decision does not exist, the rule governs " +
		"nothing: what it denies stays open, and what it allows stays closed.\n\n" +
		"Write the `decision_key` of one of the `decision_layer.decision_specs`, or add the intended decision spec.",
	Bad: `"rules": [{"rule_id": "R_REFUND", "decision_binding": "support.refund.exec"}],
"decision_specs": [{"decision_key": "support.refund.execute"}]`,
	Good: `"rules": [{"rule_id": "R_REFUND", "decision_binding": "support.refund.execute"}],
"decision_specs": [{"decision_key": "support.refund.execute"}]`,
	Check: checkBindings,
}

// REF007: where decisions have effects, no rule is beside them unbound.
var REF007 = &gate.Rule{
	ID: "REF007", Name: "rule-without-binding", Severity: finding.Error,
	Title: "Every rule is bound to a decision if the pack has one above read_only",
	Doc: "A rule without a decision authorises nothing, whatever its `allow` states, and its deny applies to every decision of " +
		"its intent. In a pack with a decision above `read_only` that is an error, because the author intended a decision and " +
		"did not name it. For a rule that only denies it is a warning: that blocks too much, never too little.\n\n" +
		"Add `decision_binding` with the `decision_key` that the rule is about. Rules marked `non_enforcing` intentionally bind " +
		"nothing and are not checked.",
	Bad:   `"rules": [{"rule_id": "R_REFUND", "if": true, "then": {"allow": true}}]`,
	Good:  `"rules": [{"rule_id": "R_REFUND", "if": true, "then": {"allow": true}, "decision_binding": "support.refund.execute"}]`,
	Check: checkUnbound,
}

// decisionsReadable reports whether it is known which decisions there are. The
// contract does not require decision_specs, so a layer without it has none.
func decisionsReadable(p *pack.Pack) bool {
	specs := p.DecisionLayer.DecisionSpecs
	return specs.OK || specs.Node == nil && gate.IsObject(p.DecisionLayer.Node)
}

func decisions(p *gate.Pass) *known {
	places := placesOf(p.Pack.DecisionLayer.DecisionSpecs.Items, func(d *pack.DecisionSpec) pack.Text { return d.DecisionKey })
	return newKnown(places, func(name string) string {
		return fmt.Sprintf("add a decision spec with the key %q", name)
	})
}

func checkBindings(p *gate.Pass) {
	if !decisionsReadable(p.Pack) {
		return
	}
	keys := decisions(p)
	for _, r := range p.Rules {
		b := r.DecisionBinding
		if !b.OK || keys.places[b.Value] != nil {
			continue
		}
		keys.report(p, b.Value, gate.Diagnostic{
			At:      b.Node,
			Message: fmt.Sprintf("%s is bound to %q, which is not a decision of the pack", gate.Called("rule", r.RuleID), b.Value),
		})
	}
}

func checkUnbound(p *gate.Pass) {
	governed := governedDecision(p.Pack)
	if governed == nil {
		return
	}
	hint := "add a decision_binding"
	if keys := decisions(p).names(); len(keys) > 0 && len(keys) <= gate.MostListed {
		hint += ": " + gate.List(keys)
	}
	for _, r := range p.Rules {
		if !gate.IsObject(r.Node) || r.DecisionBinding.Node != nil || r.NonEnforcing.Value {
			continue
		}
		d := gate.Faultf(r.Node, hint,
			"%s has no decision_binding, so its allow authorises nothing", gate.Called("rule", r.RuleID)).
			See(pack.Place(governed.ApprovalMode.Node, governed.Node), "%s is above read_only", gate.Called("decision", governed.DecisionKey))
		if onlyDenies(r.Rule) {
			d.Severity = finding.Warning
			intent := "every intent"
			if r.AppliesTo.Intent.OK {
				intent = gate.Called("intent", r.AppliesTo.Intent)
			}
			d.Message = fmt.Sprintf("%s has no decision_binding, so it denies every decision of %s", gate.Called("rule", r.RuleID), intent)
		}
		p.Report(d)
	}
}

// governedDecision returns the first decision above read_only, or nil.
func governedDecision(p *pack.Pack) *pack.DecisionSpec {
	specs := p.DecisionLayer.DecisionSpecs.Items
	if i := slices.IndexFunc(specs, func(d pack.DecisionSpec) bool { return gate.IsObject(d.Node) && governs(&d) }); i >= 0 {
		return &specs[i]
	}
	return nil
}

// governs reports whether a decision is above read_only; one whose mode is
// missing or unknown is.
func governs(d *pack.DecisionSpec) bool {
	return pack.Mode(d.ApprovalMode).Rank() > pack.ReadOnly.Rank()
}

func onlyDenies(r *pack.Rule) bool {
	outcomes := r.Outcomes()
	return len(outcomes) > 0 && !slices.ContainsFunc(outcomes, func(o *pack.Outcome) bool { return !o.Allow.OK || o.Allow.Value })
}

// REF008: a pack is about at least one decision.
var REF008 = &gate.Rule{
	ID: "REF008", Name: "no-decision-spec", Severity: finding.Error,
	Title: "The pack has at least one decision spec",
	Doc: "Everything in a pack serves a decision: policy is bound to it, evidence is gathered for it, tools are authorised by it. " +
		"A pack without a decision spec authorises nothing and cannot be audited.\n\n" +
		"Add the decision that the agent takes part in to `decision_layer.decision_specs`; one that only reads is `read_only`.",
	Bad:   `"decision_specs": []`,
	Good:  `"decision_specs": [{"decision_key": "support.refund.execute", "version": "1.0.0"}]`,
	Check: checkAnyDecision,
}

// REF015: a decision says completely what may come of it.
var REF015 = &gate.Rule{
	ID: "REF015", Name: "open-outcome-set", Severity: finding.Error,
	Title: "A decision's allowed_outcomes is a closed list: not empty, without wildcards",
	Doc: "A record of a decision is checked against `allowed_outcomes`, and whoever replays it must know every way in which it " +
		"can end. An empty list permits no outcome at all, and a wildcard permits any.\n\n" +
		"List each outcome by name. A wildcard is an outcome that contains `*` or `?`, or is `...`, `…`, `any` or blank.",
	Bad:   `"allowed_outcomes": ["approved", "*"]`,
	Good:  `"allowed_outcomes": ["approved", "denied", "escalated"]`,
	Check: checkOutcomes,
}

func checkAnyDecision(p *gate.Pass) {
	layer := &p.Pack.DecisionLayer
	if !decisionsReadable(p.Pack) || len(layer.DecisionSpecs.Items) > 0 {
		return
	}
	p.Reportf(pack.Place(layer.DecisionSpecs.Node, layer.Node), "add the decision that the agent takes part in to decision_layer.decision_specs",
		"the pack has no decision spec")
}

func checkOutcomes(p *gate.Pass) {
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		outcomes := d.AllowedOutcomes
		if outcomes.OK && len(outcomes.Items) == 0 {
			p.Reportf(outcomes.Node, "list every outcome that it may have, such as \"approved\", \"denied\"",
				"%s allows no outcome", gate.Called("decision", d.DecisionKey))
		}
		for _, o := range outcomes.Items {
			if o.OK && open(o.Value) {
				p.Report(gate.Faultf(o.Node, "list every outcome by its name",
					"%s allows %q, which stands for any outcome or for none", gate.Called("decision", d.DecisionKey), o.Value).Keyed(o.Value))
			}
		}
	}
}

// open reports whether an outcome is a wildcard or blank, and so names none.
func open(outcome string) bool { return gate.Wildcard(outcome, "", "...", "…", "any") }
