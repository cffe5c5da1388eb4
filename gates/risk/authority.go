package risk

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// RSK001: what is open can be authorised.
var RSK001 = &gate.Rule{
	ID: "RSK001", Name: "permission-above-authority", Severity: finding.Error,
	Title: "An allowed capability is within the mode of a decision that a rule can allow",
	Doc: "A capability above `read_only` only runs under a decision of at least its mode, and a decision only stands where a rule that is bound to it says `\"allow\": true`. " +
		"A permission beyond every such decision is either dead, or the decisions were written too low for what their agents are intended to do.\n\n" +
		"Close the permission with `\"allow\": false`, or bind a rule to a decision of that mode. " +
		"A decision whose mode is missing or unknown authorises nothing above `read_only`, and of several versions of a decision the weakest counts.",
	Bad: `"adapter_registry": [{"adapter_id": "adp_payments", "approval_mode": "destructive"}],
"decision_specs": [{"decision_key": "support.refund.execute", "approval_mode": "network"}]`,
	Good: `"adapter_registry": [{"adapter_id": "adp_payments", "approval_mode": "destructive"}],
"decision_specs": [{"decision_key": "support.refund.execute", "approval_mode": "destructive"}]`,
	Since: "0.1.0",
	Check: checkAuthority,
}

// RSK005: a decision admits what it covers.
var RSK005 = &gate.Rule{
	ID: "RSK005", Name: "decision-below-effects", Severity: finding.Error,
	Title: "A decision's approval mode is at least that of the tools and outcomes it covers",
	Doc: "`approval_mode` of a decision is what people approve and what the ceilings are compared with. " +
		"It covers the tools that give the decision's `required_evidence` and the outcomes of the rules that are bound to it. " +
		"If one of them is above it, the decision has effects that nobody has approved.\n\n" +
		"Raise the decision's mode, or take its evidence from a tool of a lower mode, or lower the outcome's. " +
		"Outcomes of `non_enforcing` rules bind nothing and do not count.",
	Bad: `"decision_specs": [{"decision_key": "support.refund.execute", "required_evidence": ["order_lookup"], "approval_mode": "read_only"}],
"adapter_registry": [{"adapter_id": "adp_orders", "capabilities": ["lookup"], "approval_mode": "network"}]`,
	Good: `"decision_specs": [{"decision_key": "support.refund.execute", "required_evidence": ["order_lookup"], "approval_mode": "network"}],
"adapter_registry": [{"adapter_id": "adp_orders", "capabilities": ["lookup"], "approval_mode": "network"}]`,
	Since: "0.1.0",
	Check: checkCovered,
}

func checkAuthority(p *gate.Pass) {
	specs := p.Pack.DecisionLayer.DecisionSpecs
	if !specs.OK && specs.Node != nil || !gate.IsObject(p.Pack.DecisionLayer.Node) {
		return // it is not known which decisions there are
	}
	highest := highestAllowed(p)
	for _, c := range openCapabilities(p) {
		if c.rank() == pack.ReadOnly.Rank() || highest.spec != nil && highest.rank >= c.rank() {
			continue
		}
		d := gate.Diagnostic{
			At: c.place(),
			Message: fmt.Sprintf("%s opens %s (%s), but no rule allows any decision that could authorise it",
				gate.CalledBriefly("permission", c.permissions[0].PermissionID), gate.Quote(c.id()), modeName(c.adapter.ApprovalMode)),
			Hint:    `set "allow" to false, or bind a rule that allows it to a decision of that mode`,
			Related: gate.See(c.adapter.ApprovalMode.Node, "the adapter's mode"),
		}
		if highest.spec != nil {
			d.Message += fmt.Sprintf("; the highest is %s (%s)", gate.Quote(highest.spec.DecisionKey.Value), decisionMode(highest.spec))
			d.Related = append(d.Related, gate.See(pack.Place(highest.spec.ApprovalMode.Node, highest.spec.Node), "the highest decision that a rule allows")...)
		}
		p.Report(d)
	}
}

// highestAllowed returns the highest decision that some rule allows; without
// one its spec is nil.
func highestAllowed(p *gate.Pass) authority {
	decisions := authorities(p)
	allowed := map[string]authority{}
	for _, r := range p.Rules {
		d, there := decisions[r.DecisionBinding.Value]
		allows := slices.ContainsFunc(r.Outcomes(), func(o *pack.Outcome) bool { return o.Allow.Value })
		if there && allows && !r.NonEnforcing.Value {
			allowed[r.DecisionBinding.Value] = d
		}
	}
	var highest authority
	for _, key := range slices.Sorted(maps.Keys(allowed)) {
		if d := allowed[key]; highest.spec == nil || d.rank > highest.rank {
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
	tools := toolsByEvidence(openCapabilities(p))
	specs := p.Pack.DecisionLayer.DecisionSpecs.Items
	for i := range specs {
		d := &specs[i]
		effects := append(evidenceEffects(d, tools), outcomeEffects(p, d)...)
		if len(effects) == 0 || !pack.Mode(d.ApprovalMode).Known() {
			continue // a mode that is not known counts as destructive, and nothing is above that
		}
		worst := slices.MaxFunc(effects, func(a, b covered) int { return cmp.Compare(a.rank, b.rank) })
		if worst.rank <= pack.Mode(d.ApprovalMode).Rank() {
			continue
		}
		found := gate.Diagnostic{
			At:      d.ApprovalMode.Node,
			Message: fmt.Sprintf("%s is %s, below %s", gate.CalledBriefly("decision", d.DecisionKey), d.ApprovalMode.Value, worst.what),
			Hint:    fmt.Sprintf("write %q, or lower what it covers", pack.ApprovalModes()[worst.rank]),
		}
		for _, e := range effects {
			if e.rank > pack.Mode(d.ApprovalMode).Rank() {
				found.Related = append(found.Related, gate.See(e.at, "%s", e.what)...)
			}
		}
		p.Report(found)
	}
}

// evidenceEffects returns the effects of the tools that give a decision's evidence.
func evidenceEffects(d *pack.DecisionSpec, tools map[string][]*capability) (effects []covered) {
	for _, name := range pack.Values(d.RequiredEvidence) {
		for _, c := range tools[gate.FoldEvidence(name)] {
			effects = append(effects, covered{
				c.rank(), pack.Place(c.adapter.ApprovalMode.Node, c.adapter.Node),
				fmt.Sprintf("%s (%s), which gives its evidence %s", gate.Quote(c.id()), modeName(c.adapter.ApprovalMode), gate.Quote(name)),
			})
		}
	}
	return effects
}

// outcomeEffects returns the modes that the outcomes of a decision's rules state.
func outcomeEffects(p *gate.Pass, d *pack.DecisionSpec) (effects []covered) {
	for _, r := range p.Rules {
		if !d.DecisionKey.OK || r.DecisionBinding.Value != d.DecisionKey.Value || r.NonEnforcing.Value {
			continue
		}
		for _, o := range r.Outcomes() {
			if o.ApprovalMode.OK {
				effects = append(effects, covered{
					pack.Mode(o.ApprovalMode).Rank(), o.ApprovalMode.Node,
					fmt.Sprintf("an outcome of %s (%s)", gate.CalledBriefly("rule", r.RuleID), modeName(o.ApprovalMode)),
				})
			}
		}
	}
	return effects
}
