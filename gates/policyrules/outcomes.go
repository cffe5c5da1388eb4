package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// POL004: an outcome stays within its decision.
var POL004 = &gate.Rule{
	ID: "POL004", Name: "outcome-above-decision", Severity: finding.Error,
	Title: "No outcome states an approval_mode above that of its decision",
	Doc: "A decision limits how far its effects may go; a rule can only narrow that limit. An outcome with a stronger mode looks " +
		"like an authority that nobody granted: the compiler never surfaces a tool above the decision, so the rule promises " +
		"something that cannot happen.\n\n" +
		"Lower the outcome's `approval_mode`, or raise the decision's and have that reviewed. The modes are, from weak to " +
		"strong, `read_only`, `local_write`, `network`, `delegated` and `destructive`; an unknown one counts as `destructive`.",
	Bad: `"then": {"allow": true, "approval_mode": "destructive"},
"decision_specs": [{"decision_key": "support.refund.propose", "approval_mode": "local_write"}]`,
	Good: `"then": {"allow": true, "approval_mode": "local_write"},
"decision_specs": [{"decision_key": "support.refund.propose", "approval_mode": "local_write"}]`,
	Check: checkOutcomeModes,
}

// POL005: what policy prohibits exists.
var POL005 = &gate.Rule{
	ID: "POL005", Name: "unknown-prohibited-capability", Severity: finding.Error,
	Title: "Every capability that policy names is in the adapter registry",
	Doc: "`prohibits` in a `then` or `else` takes tools away from the agent. A name that no adapter has prohibits nothing, and " +
		"the agent keeps the tool that was intended.\n\n" +
		"Write `adapter_id.capability`, or only the capability for that of every adapter. REF012 checks the names in " +
		"`capability_risks`.",
	Bad: `"then": {"allow": true, "prohibits": ["adp_payments.refund"]},
"adapter_registry": [{"adapter_id": "adp_payments", "capabilities": ["issue_refund"]}]`,
	Good: `"then": {"allow": true, "prohibits": ["adp_payments.issue_refund"]},
"adapter_registry": [{"adapter_id": "adp_payments", "capabilities": ["issue_refund"]}]`,
	Check: checkProhibited,
}

// POL007: an outcome says what it decides, and a deny why.
var POL007 = &gate.Rule{
	ID: "POL007", Name: "unexplained-outcome", Severity: finding.Warning, Strict: true,
	Title: "Every outcome states allow true or false, and every deny has a reason",
	Doc: "An outcome without `allow` decides nothing: it neither allows nor denies, and readers can take it for either. If a " +
		"deny has no `reason`, the agent, the user and the auditor have to guess.\n\n" +
		"Write `allow`, and with `\"allow\": false` a `reason` in words that may be shown.",
	Bad:   `"else": {"allow": false}`,
	Good:  `"else": {"allow": false, "reason": "Identity not verified; refund path blocked."}`,
	Check: checkExplained,
}

func checkOutcomeModes(p *gate.Pass) {
	for _, r := range p.Policy().Rules {
		if r.Decision == nil {
			continue
		}
		limit, spec := weakest(r.Decision)
		for _, o := range r.Outcomes() {
			stated := o.ApprovalMode
			if !stated.OK || pack.Mode(stated).Rank() <= limit.Rank() {
				continue
			}
			p.Report(gate.Diagnostic{
				At: stated.Node,
				Message: fmt.Sprintf("%s states approval_mode %q, which is above %q of its decision %q",
					gate.Called("rule", r.RuleID), stated.Value, limit, spec.DecisionKey.Value),
				Hint:    fmt.Sprintf("write %q or a weaker mode, or raise the mode of the decision", limit),
				Related: gate.See(pack.Place(spec.ApprovalMode.Node, spec.Node), "the decision's mode"),
			})
		}
	}
}

func checkProhibited(p *gate.Pass) {
	if !p.Pack.ToolingLayer.AdapterRegistry.OK {
		return
	}
	m, budget := p.Policy(), gate.NewBudget()
	var names []string
	for _, t := range m.Tools {
		names = append(names, t.String(), t.Capability)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, r := range m.Rules {
		for _, b := range r.Branches() {
			for _, name := range b.Prohibits.Items {
				if !name.OK || len(m.Named(name.Value)) > 0 {
					continue
				}
				d := gate.Diagnostic{
					At:      name.Node,
					Message: fmt.Sprintf("%s prohibits %q, which is not a capability of any adapter", gate.Called("rule", r.RuleID), name.Value),
					Hint:    "write adapter_id.capability of a registered adapter, or remove the entry",
					Key:     name.Value,
				}
				if near := budget.Nearest(name.Value, names); near != "" {
					d.Hint = fmt.Sprintf("write %q, or remove the entry", near)
					d.Related = gate.See(m.Named(near)[0].At, "the nearest name, %q", near)
				}
				p.Report(d)
			}
		}
	}
}

func checkExplained(p *gate.Pass) {
	for _, r := range p.Policy().Rules {
		for _, b := range r.Branches() {
			who := fmt.Sprintf("the %s of %s", b.Word(), gate.Called("rule", r.RuleID))
			switch {
			case b.Allow.Node == nil:
				p.Report(gate.Diagnostic{
					At:      b.Node,
					Message: who + " does not say whether it allows or denies",
					Hint:    "write \"allow\": true or \"allow\": false",
				})
			case b.Denies() && blank(b.Reason):
				p.Report(gate.Diagnostic{
					At:      pack.Place(b.Reason.Node, b.Allow.Node),
					Message: who + " denies without a reason",
					Hint:    "add a reason that says what blocks the request",
				})
			}
		}
	}
}

// blank reports whether a text is missing or says nothing; a mistyped one is not blank.
func blank(t pack.Text) bool {
	return t.Node == nil || t.OK && strings.TrimSpace(t.Value) == ""
}

// POL006: a rule says why it is there.
var POL006 = &gate.Rule{
	ID: "POL006", Name: "rule-without-rationale", Severity: finding.Warning, Strict: true,
	Title: "Every rule has a rationale",
	Doc: "Whoever reviews a change of policy has to know why the rule exists. Without a `rationale`, nobody dares to remove a " +
		"rule, and nobody notices when its reason no longer applies.\n\n" +
		"Add a sentence about the obligation, risk or agreement that the rule comes from.",
	Bad:   `{"rule_id": "R_REFUND_REQUIRES_IDV", "if": true, "then": {"allow": true}}`,
	Good:  `{"rule_id": "R_REFUND_REQUIRES_IDV", "if": true, "then": {"allow": true}, "rationale": "Refunds require verified identity."}`,
	Check: checkRationale,
}

// POL013: a rule that binds nothing does not look as if it did.
var POL013 = &gate.Rule{
	ID: "POL013", Name: "toothless-rule", Severity: finding.Warning, Strict: true,
	Title: "A non_enforcing rule denies nothing, requires no gate and binds no effect",
	Doc: "A rule marked `non_enforcing` is listed when it fires and changes nothing: its deny does not deny and its gate does " +
		"not become active. If such a rule denies, requires a gate or is bound to a decision above `read_only`, readers will " +
		"believe that it protects something.\n\n" +
		"Remove `non_enforcing` to make the rule count. If the rule only observes, remove the deny, the gate and the binding.",
	Bad:   `{"rule_id": "R_FRAUD", "non_enforcing": true, "if": true, "then": {"allow": false, "reason": "Fraud."}}`,
	Good:  `{"rule_id": "R_FRAUD", "if": true, "then": {"allow": false, "reason": "Fraud."}}`,
	Check: checkToothless,
}

func checkRationale(p *gate.Pass) {
	for _, r := range p.Policy().Rules {
		if !gate.IsObject(r.Node) || !blank(r.Rationale) {
			continue
		}
		p.Report(gate.Diagnostic{
			At:      pack.Place(r.Rationale.Node, r.Node),
			Message: gate.Called("rule", r.RuleID) + " has no rationale",
			Hint:    "add a sentence that says what the rule is for",
		})
	}
}

func checkToothless(p *gate.Pass) {
	for _, r := range p.Policy().Rules {
		if !r.NonEnforcing.OK || !r.NonEnforcing.Value {
			continue
		}
		seeming, related := pretences(r)
		if len(seeming) == 0 {
			continue
		}
		p.Report(gate.Diagnostic{
			At:      r.NonEnforcing.Node,
			Message: fmt.Sprintf("%s is non_enforcing and so binds nothing, but it %s", gate.Called("rule", r.RuleID), series(seeming)),
			Hint:    "remove non_enforcing, or what the rule only seems to do",
			Related: related,
		})
	}
}

// pretences lists what a rule would do if it were enforced.
func pretences(r *policy.Rule) (seeming []string, related []finding.Related) {
	deny, raised := false, map[string]bool{}
	for _, o := range r.Branches() {
		if o.Denies() && !deny {
			deny = true
			seeming = append(seeming, "denies")
			related = append(related, gate.See(o.Allow.Node, "its deny")...)
		}
		if g := o.RequiresApprovalGate; g.OK && !raised[g.Value] {
			raised[g.Value] = true
			seeming = append(seeming, fmt.Sprintf("raises %q", g.Value))
			related = append(related, gate.See(g.Node, "its gate")...)
		}
	}
	if r.Decision != nil && !r.Decision.ReadOnly {
		_, spec := weakest(r.Decision)
		seeming = append(seeming, fmt.Sprintf("is bound to %q, which is above read_only", r.Decision.Key))
		related = append(related, gate.See(pack.Place(spec.ApprovalMode.Node, spec.Node), "the decision's mode")...)
	}
	return seeming, related
}
