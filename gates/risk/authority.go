package risk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// RSK001: what is open can be authorised.
var RSK001 = &gate.Rule{
	ID: "RSK001", Name: "permission-above-authority", Severity: finding.Error,
	Title: "An allowed capability is within the mode of a decision that a rule can allow",
	Doc: "A capability above `read_only` only runs under a decision of at least its mode, and a decision is only allowed if a " +
		"rule that is bound to it has `\"allow\": true`. If a permission is beyond every such decision, either it has no effect, " +
		"or the modes of the decisions are lower than what their agents are intended to do.\n\n" +
		"Close the permission with `\"allow\": false`, or bind a rule to a decision of that mode. A decision whose mode is " +
		"missing or unknown authorises nothing above `read_only`, and of several versions of a decision the weakest counts.",
	Bad: `"adapter_registry": [{"adapter_id": "adp_payments", "approval_mode": "destructive"}],
"decision_specs": [{"decision_key": "support.refund.execute", "approval_mode": "network"}]`,
	Good: `"adapter_registry": [{"adapter_id": "adp_payments", "approval_mode": "destructive"}],
"decision_specs": [{"decision_key": "support.refund.execute", "approval_mode": "destructive"}]`,
	Check: checkAuthority,
}

// RSK005: a decision admits what it covers.
var RSK005 = &gate.Rule{
	ID: "RSK005", Name: "decision-below-effects", Severity: finding.Error,
	Title: "A decision's approval mode is at least that of the tools and outcomes it covers",
	Doc: "People approve the `approval_mode` of a decision, and ceilings are compared with it. It covers the tools that give the " +
		"decision's `required_evidence` and the outcomes of the rules that are bound to it. If one of them is above it, the " +
		"decision has effects that nobody has approved.\n\n" +
		"Raise the decision's mode, or take its evidence from a tool of a lower mode, or lower the outcome's mode. Outcomes of " +
		"`non_enforcing` rules bind nothing and do not count.",
	Bad: `"decision_specs": [{"decision_key": "support.refund.execute", "required_evidence": ["order_lookup"], "approval_mode": "read_only"}],
"adapter_registry": [{"adapter_id": "adp_orders", "capabilities": ["lookup"], "approval_mode": "network"}]`,
	Good: `"decision_specs": [{"decision_key": "support.refund.execute", "required_evidence": ["order_lookup"], "approval_mode": "network"}],
"adapter_registry": [{"adapter_id": "adp_orders", "capabilities": ["lookup"], "approval_mode": "network"}]`,
	Check: checkCovered,
}

func checkAuthority(p *gate.Pass) {
	specs := p.Pack.DecisionLayer.DecisionSpecs
	if !specs.OK && specs.Node != nil || !gate.IsObject(p.Pack.DecisionLayer.Node) {
		return // it is not known which decisions there are
	}
	highest := highestAllowed(p.Policy())
	for _, t := range openTools(p) {
		if t.Rank() == pack.ReadOnly.Rank() || highest != nil && highest.Authority >= t.Rank() {
			continue
		}
		d := gate.Faultf(place(t), `set "allow" to false, or bind a rule that allows it to a decision of that mode`,
			"%s, but no rule allows any decision that could authorise it", opens(t)).See(t.Adapter.ApprovalMode.Node, "the adapter's mode")
		if highest != nil {
			spec := highest.Weakest()
			d.Message += fmt.Sprintf("; the highest is %s (%s)", gate.Quote(highest.Key), decisionMode(spec))
			d.Related = append(d.Related, gate.See(pack.Place(spec.ApprovalMode.Node, spec.Node), "the highest decision that a rule allows")...)
		}
		p.Report(d)
	}
}

// highestAllowed returns the highest decision that some enforced rule allows, of equal
// ones the first by key; nil without one.
func highestAllowed(m *policy.Model) (highest *policy.Decision) {
	for _, r := range m.Rules {
		if r.Decision == nil || !r.Enforced || !slices.ContainsFunc(r.Branches(), func(b *policy.Branch) bool { return b.Allows == jsonlogic.True }) {
			continue
		}
		if d := r.Decision; highest == nil || d.Authority > highest.Authority || d.Authority == highest.Authority && d.Key < highest.Key {
			highest = d
		}
	}
	return highest
}

func decisionMode(d *pack.DecisionSpec) string {
	if pack.Mode(d.ApprovalMode).Known() {
		return d.ApprovalMode.Value
	}
	return "of no known mode, so it authorises nothing above read_only"
}

// covered is an effect that a decision covers.
type covered struct {
	rank int
	at   *pack.Node
	what string
}

func checkCovered(p *gate.Pass) {
	tools := toolsByEvidence(openTools(p))
	specs := p.Pack.DecisionLayer.DecisionSpecs.Items
	for i := range specs {
		d := &specs[i]
		effects := append(evidenceEffects(d, tools), outcomeEffects(p.Policy(), d)...)
		if len(effects) == 0 || !pack.Mode(d.ApprovalMode).Known() {
			continue // a mode that is not known counts as destructive, and nothing is above that
		}
		worst := slices.MaxFunc(effects, func(a, b covered) int { return cmp.Compare(a.rank, b.rank) })
		if worst.rank <= pack.Mode(d.ApprovalMode).Rank() {
			continue
		}
		found := gate.Faultf(d.ApprovalMode.Node, fmt.Sprintf("write %q, or lower what it covers", pack.ApprovalModes()[worst.rank]),
			"%s is %s, below %s", gate.CalledBriefly("decision", d.DecisionKey), d.ApprovalMode.Value, worst.what)
		for _, e := range effects {
			if e.rank > pack.Mode(d.ApprovalMode).Rank() {
				found.Related = append(found.Related, gate.See(e.at, "%s", e.what)...)
			}
		}
		p.Report(found)
	}
}

// evidenceEffects returns the effects of the tools that give a decision's evidence.
func evidenceEffects(d *pack.DecisionSpec, tools map[string][]*policy.Tool) (effects []covered) {
	for _, name := range pack.Values(d.RequiredEvidence) {
		for _, t := range tools[gate.FoldEvidence(name)] {
			effects = append(effects, covered{
				t.Rank(), pack.Place(t.Adapter.ApprovalMode.Node, t.Adapter.Node),
				fmt.Sprintf("%s, which gives its evidence %s", called(t), gate.Quote(name)),
			})
		}
	}
	return effects
}

// outcomeEffects returns the modes that the outcomes of a decision's rules state.
func outcomeEffects(m *policy.Model, d *pack.DecisionSpec) (effects []covered) {
	for _, r := range m.Rules {
		if r.Decision == nil || !slices.Contains(r.Decision.Specs, d) || !r.Enforced {
			continue
		}
		for _, b := range r.Branches() {
			if b.ApprovalMode.OK {
				effects = append(effects, covered{
					pack.Mode(b.ApprovalMode).Rank(), b.ApprovalMode.Node,
					fmt.Sprintf("an outcome of %s (%s)", gate.CalledBriefly("rule", r.RuleID), modeName(b.ApprovalMode)),
				})
			}
		}
	}
	return effects
}

// toolsByEvidence returns the tools that give each piece of evidence, by
// its folded name (rule catalogue, "Referential integrity": the names that an
// allowed permission gives).
func toolsByEvidence(open []*policy.Tool) map[string][]*policy.Tool {
	tools := map[string][]*policy.Tool{}
	for _, t := range open {
		seen := map[string]bool{}
		for _, name := range gate.EvidenceNames(t.ToolID.Adapter, t.Capability) {
			if name = gate.FoldEvidence(name); !seen[name] {
				seen[name] = true
				tools[name] = append(tools[name], t)
			}
		}
	}
	return tools
}
