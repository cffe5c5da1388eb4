package schema

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// SCH010 reports identifiers that two things share.
var SCH010 = &gate.Rule{
	ID:       "SCH010",
	Name:     "duplicate-identifier",
	Severity: finding.Error,
	Title:    "Every identifier names one thing",
	Doc: `Rules, gates, permissions and decisions are named in other places: in a
decision_binding, in a record of what was decided, in a waiver. Where two things
share a name, nobody can say which one was intended, and versions of the pack
cannot be compared item by item.

Unique are bundle_id, rule_id (over all bundles), gate_id, adapter_id, each
capability within its adapter and, as adapter.capability, in the pack,
permission_id, decision_key together with its version, the intent of an eval
target and the metric of a release gate. Rename the second one, or remove it if
it is a copy.`,
	Bad:   `"approval_gates": [{"gate_id": "GATE_FINANCE"}, {"gate_id": "GATE_FINANCE"}]`,
	Good:  `"approval_gates": [{"gate_id": "GATE_FINANCE"}, {"gate_id": "GATE_FRAUD"}]`,
	Since: "0.1.0",
	Check: checkIdentities,
}

func checkIdentities(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	layer, tooling, evaluation := &p.Pack.PolicyLayer, &p.Pack.ToolingLayer, &p.Pack.EvaluationLayer
	unique(p, "bundle_id", layer.PolicyBundles.Items, func(b pack.Bundle) pack.Text { return b.BundleID })
	unique(p, "rule_id", p.Rules, func(r gate.RuleRef) pack.Text { return r.RuleID })
	unique(p, "gate_id", layer.ApprovalGates.Items, func(g pack.ApprovalGate) pack.Text { return g.GateID })
	unique(p, "adapter_id", tooling.AdapterRegistry.Items, func(a pack.Adapter) pack.Text { return a.AdapterID })
	uniqueTools(p)
	unique(p, "permission_id", tooling.Permissions.Items, func(q pack.Permission) pack.Text { return q.PermissionID })
	uniqueDecisions(p)
	unique(p, "intent", evaluation.EvalTargets.Items, func(t pack.EvalTarget) pack.Text { return t.Intent })
	unique(p, "metric", evaluation.ReleaseGates.Items, func(g pack.ReleaseGate) pack.Text { return g.Metric })
}

// unique reports every item whose identifier an earlier one has.
func unique[T any](p *gate.Pass, what string, items []T, id func(T) pack.Text) {
	first := map[string]*pack.Node{}
	for _, item := range items {
		name := id(item)
		if !name.OK {
			continue
		}
		if earlier, taken := first[name.Value]; taken {
			reportDuplicate(p, name, earlier, what+" "+quote(name.Value), what)
			continue
		}
		first[name.Value] = name.Node
	}
}

// uniqueTools reports capabilities that are declared twice in an adapter, and those of
// two adapters that have one name in policy, as "a.b" with "c" and "a" with "b.c".
func uniqueTools(p *gate.Pass) {
	first := map[string]*policy.Tool{}
	for _, t := range p.Policy().Tools {
		earlier := first[t.String()]
		switch {
		case t.At.Kind != pack.String:
		case earlier == nil:
			first[t.String()] = t
		case earlier.Adapter == t.Adapter:
			reportDuplicate(p, pack.Text{Node: t.At, Value: t.Capability}, earlier.At, "capability "+quote(t.Capability), "capability")
		case earlier.ToolID != t.ToolID:
			reportDuplicate(p, pack.Text{Node: t.At, Value: t.Capability}, earlier.At, "the name "+quote(t.String())+" of a tool", "capability")
		}
	}
}

// uniqueDecisions reports decision specs that share key and version; two
// versions of one decision may stand side by side.
func uniqueDecisions(p *gate.Pass) {
	first := map[[2]string]*pack.Node{}
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		if !d.DecisionKey.OK {
			continue
		}
		identity := [2]string{d.DecisionKey.Value, d.Version.Value}
		if earlier, taken := first[identity]; taken {
			what := "decision_key " + quote(d.DecisionKey.Value)
			if d.Version.OK {
				what += " in version " + quote(d.Version.Value)
			}
			reportDuplicate(p, d.DecisionKey, earlier, what, "decision_key or version")
			continue
		}
		first[identity] = d.DecisionKey.Node
	}
}

func reportDuplicate(p *gate.Pass, name pack.Text, earlier *pack.Node, what, rename string) {
	p.Report(gate.Diagnostic{
		At:      name.Node,
		Key:     name.Value,
		Message: what + " is used again",
		Hint:    fmt.Sprintf("give it another %s, or remove it", rename),
		Related: []finding.Related{gate.Also(earlier, "first used here")},
	})
}
