package references

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// REF008: a pack is about at least one decision.
var REF008 = &gate.Rule{
	ID: "REF008", Name: "no-decision-spec", Severity: finding.Error,
	Title: "The pack has at least one decision spec",
	Doc: "Everything in a pack serves a decision: policy is bound to it, evidence is gathered for it, tools are authorised by it. " +
		"A pack without a decision spec authorises nothing and cannot be audited.\n\n" +
		"Add the decision that the agent takes part in to `decision_layer.decision_specs`; one that only reads is `read_only`.",
	Bad:   `"decision_specs": []`,
	Good:  `"decision_specs": [{"decision_key": "support.refund.execute", "version": "1.0.0"}]`,
	Since: "0.1.0",
	Check: checkAnyDecision,
}

// REF015: a decision says completely what may come of it.
var REF015 = &gate.Rule{
	ID: "REF015", Name: "open-outcome-set", Severity: finding.Error,
	Title: "A decision's allowed_outcomes is a closed list: not empty, without wildcards",
	Doc: "A record of a decision is checked against `allowed_outcomes`, and whoever replays it must know every way that it can end. " +
		"An empty list permits no end at all, and a wildcard permits any.\n\n" +
		"List each outcome by name. A wildcard is an outcome that holds `*` or `?`, or is `...`, `…`, `any` or blank.",
	Bad:   `"allowed_outcomes": ["approved", "*"]`,
	Good:  `"allowed_outcomes": ["approved", "denied", "escalated"]`,
	Since: "0.1.0",
	Check: checkOutcomes,
}

func checkAnyDecision(p *gate.Pass) {
	layer := &p.Pack.DecisionLayer
	if !decisionsReadable(p.Pack) || len(layer.DecisionSpecs.Items) > 0 {
		return
	}
	p.Report(gate.Diagnostic{
		At:      pack.Place(layer.DecisionSpecs.Node, layer.Node),
		Message: "the pack has no decision spec",
		Hint:    "add the decision that the agent takes part in to decision_layer.decision_specs",
	})
}

func checkOutcomes(p *gate.Pass) {
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		outcomes := d.AllowedOutcomes
		if outcomes.OK && len(outcomes.Items) == 0 {
			p.Report(gate.Diagnostic{
				At:      outcomes.Node,
				Message: gate.Called("decision", d.DecisionKey) + " allows no outcome",
				Hint:    "list every outcome that it may have, such as \"approved\", \"denied\"",
			})
		}
		for _, o := range outcomes.Items {
			if o.OK && open(o.Value) {
				p.Report(gate.Diagnostic{
					At:      o.Node,
					Message: fmt.Sprintf("%s allows %q, which stands for any outcome or for none", gate.Called("decision", d.DecisionKey), o.Value),
					Hint:    "list every outcome by its name",
					Key:     o.Value,
				})
			}
		}
	}
}

// open reports whether an outcome is a wildcard or blank, and so names none.
func open(outcome string) bool {
	switch strings.ToLower(strings.TrimSpace(outcome)) {
	case "", "...", "…", "any":
		return true
	}
	return strings.ContainsAny(outcome, "*?")
}
