package references

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// REF005: the evidence that a decision requires can come from somewhere.
var REF005 = &gate.Rule{
	ID: "REF005", Name: "unresolved-required-evidence", Severity: finding.Error,
	Title: "Every name in required_evidence has a source",
	Doc: "A decision must not be taken before its `required_evidence` is there. " +
		"Evidence without a source never comes, so the decision waits for ever, or somebody learns to leave the evidence out.\n\n" +
		evidenceWays,
	Bad: `"required_evidence": ["order_lookp"],
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Good: `"required_evidence": ["order_lookup"],
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Since: "0.1.0",
	Check: checkRequiredEvidence,
}

// REF009: the evidence that an outcome requires can come from somewhere.
var REF009 = &gate.Rule{
	ID: "REF009", Name: "unresolved-outcome-evidence", Severity: finding.Error,
	Title: "Every name in the requires of a then or else has a source",
	Doc: "`requires` makes what a rule allows depend on evidence. " +
		"Evidence without a source never comes, so the rule allows nothing, whatever it says.\n\n" +
		evidenceWays,
	Bad: `"then": {"allow": true, "requires": ["orders_lookup_v2"]},
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Good: `"then": {"allow": true, "requires": ["order_lookup"]},
"permissions": [{"adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Since: "0.1.0",
	Check: checkOutcomeEvidence,
}

// evidenceWays is the part of the explanation that both rules share. It says
// what sourcesOf looks at.
const evidenceWays = "A name has a source in any of these ways: " +
	"the config's `evidence` map names it; " +
	"a rule's `if` reads `request.context.NAME`; " +
	"an allowed permission gives it, so that adapter `adp_orders` with capability `lookup` gives `lookup`, `adp_orders.lookup`, `orders_lookup` and `order_lookup` (`.` and `_` are the same here); " +
	"it is `policy_eval` and the pack has a policy bundle; " +
	"a golden case supplies it, as a member of `request.context` that is not null or as a part of an `evidence_ref` after the scheme (`kg:NAME:…`). " +
	"Fix the name, or say in the config where the evidence comes from: `evidence: {fraud_score: \"graph:fraud\"}`."

func checkRequiredEvidence(p *gate.Pass) {
	s := sourcesOf(p)
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		s.check(p, d.RequiredEvidence, gate.Called("decision", d.DecisionKey))
	}
}

func checkOutcomeEvidence(p *gate.Pass) {
	s := sourcesOf(p)
	for _, r := range p.Rules {
		for _, o := range r.Outcomes() {
			s.check(p, o.Requires, gate.Called("rule", r.RuleID))
		}
	}
}

// check reports the names of a list that resolve to no source.
func (s *sources) check(p *gate.Pass, names pack.List[pack.Text], who string) {
	for _, name := range names.Items {
		if !name.OK || s.resolveEvidence(name.Value) {
			continue
		}
		d := gate.Diagnostic{
			At:      name.Node,
			Message: fmt.Sprintf("%s requires evidence %q, which has no source: %s", who, name.Value, s.tried(name.Value)),
		}
		if denied := s.denied[gate.FoldEvidence(name.Value)]; denied != nil {
			d.Hint = "let a permission allow the capability that gives it, or " + s.known.otherwise(name.Value)
			d.Related = gate.See(denied, "gives it, but does not allow it")
		}
		s.known.report(p, name.Value, d)
	}
}
