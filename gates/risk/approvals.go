package risk

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// RSK002: nothing irreversible happens without a person's approval.
var RSK002 = &gate.Rule{
	ID: "RSK002", Name: "destructive-without-gate", Severity: finding.Error, Strict: true,
	Title: "A destructive capability is open only behind an approval gate",
	Doc: "What is destructive cannot be undone, so a person approves it before. " +
		"Either the permission names an approval gate, or every rule path to the capability raises one. " +
		"It is an error where no path does, and a warning where some do and others do not; the finding then shows a request that gets through without an approval.\n\n" +
		"Name a gate in the permission's `requires_approval_gate`. " +
		"Where the pack has exactly one gate, `packgate check --fix` does it. " +
		"A permission that names a gate counts as gated here; whether the gate is always raised is RSK006's question.",
	Bad:   `"permissions": [{"permission_id": "p_issue_refund", "capability": "issue_refund", "allow": true}]`,
	Good:  `"permissions": [{"permission_id": "p_issue_refund", "capability": "issue_refund", "allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}]`,
	Since: "0.1.0",
	Check: checkGated,
}

// RSK006: the gate is there when it is needed.
var RSK006 = &gate.Rule{
	ID: "RSK006", Name: "conditional-gate", Severity: finding.Warning, Strict: true,
	Title: "The gate of a destructive capability is raised for every request that may use it",
	Doc: "A gate is only raised where its `when` is true, or unknown. " +
		"Requests for which it is false use the destructive capability without an approval, which may be intended: small refunds, say. " +
		"The finding shows such a request, so that somebody can agree to it.\n\n" +
		"Widen the gate's `when` (`true` raises it always), or deny those requests in a rule. " +
		"Where the gap is intended, bound the arguments and waive the finding with a reason.",
	Bad:   `"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "when": {">": [{"var": "request.context.refund_amount"}, 3000]}}]`,
	Good:  `"approval_gates": [{"gate_id": "GATE_FINANCE_APPROVAL", "when": true}]`,
	Since: "0.1.0",
	Check: checkConditional,
}

// destructive returns the open capabilities that cannot be undone.
func destructive(p *gate.Pass) (open []*capability) {
	for _, c := range openCapabilities(p) {
		if c.rank() == pack.Destructive.Rank() {
			open = append(open, c)
		}
	}
	return open
}

// gap is a request that may use a capability without an approval.
type gap struct {
	intent  string
	witness map[string]any
	about   []*jsonlogic.Expr // the conditions that could have raised a gate
}

func (g *gap) example() string {
	return fmt.Sprintf("for intent %s", gate.Quote(g.intent)) + example(g.witness, g.about...)
}

// gaps are what is known of a capability's gaps.
type gaps struct {
	first *gap // nil where none was found
	more  int  // how many further intents have one
	// noPath says that no permission names a gate and that it is proved that no
	// path to the capability raises one; assumed are the variables that this
	// takes to be single values.
	noPath  bool
	assumed []string
}

// gaps looks for gaps, intent by intent.
func (s *paths) gaps(c *capability) gaps {
	found := gaps{noPath: len(c.gates()) == 0}
	for _, intent := range s.intents() {
		v := s.scene(intent, c)
		if v == nil {
			continue
		}
		what := fmt.Sprintf("that %s is gated for intent %s is", gate.Quote(c.id()), gate.Quote(intent))
		if broken := v.broken(); broken != "" {
			v.unproved(what, jsonlogic.Answer{Reason: "the condition of " + broken + " is not valid"})
			found.noPath = false
			continue
		}
		ungated := v.prove("ungated", func() jsonlogic.Formula { return jsonlogic.All(v.permitted(), jsonlogic.Not(v.gated())) })
		switch {
		case ungated.Verdict == jsonlogic.Undecided:
			s.NotProved(gate.Claim{
				At: c.place(), What: strings.TrimSuffix(what, " is"), Reason: ungated.Reason, Error: len(c.gates()) == 0, Key: intent,
			})
		case ungated.Verdict == jsonlogic.Satisfiable && found.first != nil:
			found.more++
		case ungated.Verdict == jsonlogic.Satisfiable:
			found.first = &gap{intent, ungated.Witness, v.raising()}
		}
		if found.noPath {
			gated := v.prove("gated", func() jsonlogic.Formula { return jsonlogic.All(v.permitted(), v.gated()) })
			found.noPath = gated.Verdict == jsonlogic.Unsatisfiable
			found.assumed = append(found.assumed, gated.Assumed...)
		}
	}
	return found
}

// raising returns the conditions that can raise a gate in the scene.
func (v *scene) raising() (about []*jsonlogic.Expr) {
	for _, id := range v.namedGates() {
		about = append(about, v.whens[id])
	}
	for _, r := range v.governing {
		for _, o := range r.Outcomes() {
			if o.RequiresApprovalGate.OK {
				about = append(about, r.when)
			}
		}
	}
	return about
}

func checkGated(p *gate.Pass) {
	s := newPaths(p)
	for _, c := range destructive(p) {
		if len(c.gates()) > 0 {
			continue
		}
		found := s.gaps(c)
		if found.first == nil {
			continue
		}
		what := fmt.Sprintf("%s opens %s (%s)", gate.CalledBriefly("permission", c.permissions[0].PermissionID), gate.Quote(c.id()), modeName(c.adapter.ApprovalMode))
		d := gate.Diagnostic{
			At: c.place(), Witness: found.first.witness, Fix: nameGate(p, c),
			Message: fmt.Sprintf("%s without a gate, and no rule raises one: it runs unapproved %s%s", what, found.first.example(), taking(found.assumed)),
			Hint:    "name an approval gate in the permission's requires_approval_gate",
		}
		if !found.noPath {
			d.Severity = finding.Warning
			d.Message = fmt.Sprintf("%s, which rules gate on some paths only: it runs unapproved %s%s", what, found.first.example(), further(found.more))
			d.Hint = "name an approval gate in the permission's requires_approval_gate, or raise one in every rule that allows its decision"
		}
		p.Report(d)
	}
}

func further(intents int) string {
	switch intents {
	case 0:
		return ""
	case 1:
		return "; and for 1 more intent"
	}
	return fmt.Sprintf("; and for %d more intents", intents)
}

// nameGate returns the fix that makes a capability's permission name the pack's
// only gate; nil where there is a choice, or nothing to choose.
func nameGate(p *gate.Pass, c *capability) *finding.Fix {
	one, gates := c.permissions[0], p.Pack.PolicyLayer.ApprovalGates.Items
	if len(gates) != 1 || !gates[0].GateID.OK || one.RequiresApprovalGate.Node != nil {
		return nil
	}
	id, err := json.Marshal(gates[0].GateID.Value)
	if err != nil {
		return nil
	}
	return &finding.Fix{
		Description: "name the pack's only gate in the permission",
		Operations:  []finding.Operation{{Op: "add", Path: one.Node.KeyedPath() + "/requires_approval_gate", Value: string(id)}},
	}
}

func checkConditional(p *gate.Pass) {
	s := newPaths(p)
	for _, c := range destructive(p) {
		named := namedBy(p, c)
		if named == nil {
			continue
		}
		found := s.gaps(c)
		if found.first == nil {
			continue
		}
		id := named.RequiresApprovalGate
		p.Report(gate.Diagnostic{
			At: id.Node, Witness: found.first.witness,
			Message: fmt.Sprintf("gate %s of %s leaves requests open: %s (%s) runs ungated %s%s", gate.Quote(id.Value),
				gate.CalledBriefly("permission", named.PermissionID), gate.Quote(c.id()), modeName(c.adapter.ApprovalMode), found.first.example(), further(found.more)),
			Hint:    "widen the gate's when, deny those requests in a rule, or waive the finding where the gap is intended",
			Related: gate.See(p.Gates[id.Value].When, "when the gate is raised"),
		})
	}
}

// namedBy returns the first permission of a capability that names a gate of the
// pack, or nil. A gate that does not exist is REF006's.
func namedBy(p *gate.Pass, c *capability) *pack.Permission {
	for _, one := range c.permissions {
		if id := one.RequiresApprovalGate; id.OK && p.Gates[id.Value] != nil {
			return one
		}
	}
	return nil
}
