package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// RPL019: what a record says was approved was approved.
var RPL019 = &gate.Rule{
	ID: "RPL019", Name: "unapproved-record", Severity: finding.Error,
	Title: "A decision record has the approvals that its request needs, by other people and in time",
	Doc: "An approval is useful only if somebody other than the requester gives it, before the decision. A record that is " +
		"`DECIDED` or `CLOSED` has an approval by each gate that the compile of its request activates, and by each gate that a " +
		"rule which it is based on requires in every outcome. Its request is that of the golden cases with its `trace_id`, its " +
		"`inputs_refs.request` if it states one, and its intent; if none of them compiles, the gates that its request activates " +
		"are listed as not checked. An approval by another gate does not count. The approver must not be the actor, in the " +
		"chain of principals, the user of the request, or a subject of the decision, and `decided_at` must not be after the " +
		"record's `timestamp`.\n\n" +
		"A missing approval is a warning if the record was made with another version of the pack and is already in the base: a " +
		"new gate requires nothing of the past. Add the approval that was given. If there was none, waive it with a reason.",
	Bad:   `{"active": ["GATE_FINANCE_APPROVAL"], "record": {"status": "DECIDED", "actor": {"id": "agt_1"}, "approvals": [{"gate_id": "GATE_LEGAL", "approver": "agt_1"}]}}`,
	Good:  `{"active": ["GATE_FINANCE_APPROVAL"], "record": {"status": "DECIDED", "actor": {"id": "agt_1"}, "approvals": [{"gate_id": "GATE_FINANCE_APPROVAL", "approver": "usr_118"}]}}`,
	Since: "0.2.0",
	Check: func(p *gate.Pass) { eachRecord(p, (*held).approved) },
}

// approved checks the approvals of a record.
func (h *held) approved() {
	own := h.parties()
	given := map[string]bool{}
	for _, a := range first(h.replays, h.SideFile, "approvals", h.Approvals.Items) {
		given[a.GateID.Value] = true
		at := pack.Place(a.Approver.Node, a.Node, h.Approvals.Node, h.Record.Node)
		switch whose := own[folded(a.Approver.Value)]; {
		case !a.Approver.OK: // the schema gate's
		case folded(a.Approver.Value) == "":
			h.found(gate.Faultf(at, whatHappened, "the approval of gate %s has an empty approver", gate.Quote(a.GateID.Value)))
		case whose != nil:
			h.found(gate.Faultf(at, "name the person who approved, who has to be another one; otherwise waive it with a reason",
				"%s, who approved by gate %s, takes part in the decision or is what it is about", gate.Quote(a.Approver.Value), gate.Quote(a.GateID.Value)).See(whose, "the same one"))
		}
		h.inTime(a.GateID, a.DecidedAt)
	}
	if h.isSettled() {
		h.missing(given)
	}
}

// folded makes names equal that differ in case and blanks at their ends alone.
func folded(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// parties returns who took part in the decision, or is concerned by it, by their names.
func (h *held) parties() map[string]*pack.Node {
	own := map[string]*pack.Node{}
	add := func(name string, at *pack.Node) {
		if name = folded(name); name != "" && own[name] == nil {
			own[name] = at
		}
	}
	for _, t := range []pack.Text{h.Actor.ID, h.AgentIdentity.Subject} {
		add(t.Value, t.Node)
	}
	for _, principal := range h.AgentIdentity.PrincipalChain.Items {
		add(principal.ID.Value, principal.ID.Node)
	}
	for _, id := range h.SubjectIDs.Items {
		add(id.Value, id.Node)
		_, name, _ := strings.Cut(id.Value, ":")
		add(name, id.Node)
	}
	for _, r := range h.requests {
		for _, document := range []*pack.Node{r.Input.Invoke, r.Input.RunContext} {
			for _, id := range []*pack.Node{document.Get("user").Get("user_id"), document.Get("agent").Get("agent_id")} {
				if id != nil {
					add(id.Text, id)
				}
			}
		}
	}
	return own
}

// inTime checks that an approval was given before it was decided.
func (h *held) inTime(gateID, at pack.Text) {
	approved, errApproved := time.Parse(time.RFC3339, at.Value)
	made, errMade := time.Parse(time.RFC3339, h.Timestamp.Value)
	switch {
	case !h.isSettled():
	case !at.OK || !h.Timestamp.OK:
		h.unchecked("%s: the record does not say when it was decided, or when gate %s approved, so it is unknown which was first", h.Unit.Within(h.Record.Name), gate.Quote(gateID.Value))
	case errApproved != nil || errMade != nil: // the schema gate's
	case approved.After(made):
		h.found(gate.Faultf(at.Node, whatHappened, "gate %s approved after it was decided", gate.Quote(gateID.Value)).See(h.Timestamp.Node, "when it was decided"))
	}
}

// missing reports the gates by which the decision was not approved. Those that the record
// itself calls active are RPL008's.
func (h *held) missing(given map[string]bool) {
	for _, id := range pack.Values(h.ControlsActive.ApprovalGatesActive) {
		given[id] = true
	}
	at := pack.Place(h.Approvals.Node, h.Record.Node)
	h.eachRule(func(id pack.Text, rule *policy.Rule) {
		if g := always(rule); g != nil && !given[g.ID] {
			given[g.ID] = true
			h.unapproved(gate.Faultf(at, "", "rule %s, which the decision rests on, requires the approval of gate %s, which the record does not have",
				gate.Quote(id.Value), gate.Quote(g.ID)).Keyed(g.ID).See(rule.Node, "the rule"))
		}
	})
	for _, r := range h.requests {
		for _, id := range r.Detail.Context.RuntimeControls.ApprovalGatesActive {
			if !given[id] {
				given[id] = true
				d := gate.Faultf(at, "", "the request needs the approval of gate %s, which the record does not have", gate.Quote(id)).Keyed(id)
				d.Related = caseOf(r)
				h.unapproved(d)
			}
		}
	}
	if len(h.requests) == 0 && h.decision != nil && !h.decision.ReadOnly {
		h.unchecked("%s: no golden case with the trace, the request and the intent of the record compiles, so the gates that its request activates are not known", h.Unit.Within(h.Record.Name))
	}
}

// unapproved reports that an approval is missing: a warning where the pack of the record
// may not have asked for it.
func (h *held) unapproved(d gate.Diagnostic) {
	d.Hint = "add the approval that was given, or waive it with a reason"
	made := h.Lineage.PackVersion
	if isNew := h.HasBase() && h.earlier == nil; !isNew && made.OK && made.Value != ownRef(h.Pass) {
		d = d.As(finding.Warning)
		d.Hint = fmt.Sprintf("fix the pack if the decision should stand as it was made with %s", gate.Quote(made.Value))
	}
	h.found(d)
}

// always returns the gate that a rule requires whichever of its outcomes holds; nil for
// none.
func always(rule *policy.Rule) *policy.Gate {
	branches := rule.Branches()
	if !rule.Enforced || len(branches) == 0 || slices.ContainsFunc(branches, func(b *policy.Branch) bool { return b.Gate != branches[0].Gate }) {
		return nil
	}
	return branches[0].Gate
}
