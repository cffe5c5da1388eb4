package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// restore is what to do where nothing nearer is known: a record is what happened, and
// stays.
const restore = "put back what the record relied on, or waive it with a reason"

// record checks one earlier decision against the pack as it is.
func (s *replays) record(record *repo.Record) {
	s.ownPack(record.SideFile, record.Lineage.PackVersion)
	s.decision(record)
	for _, ref := range first(s, record.SideFile, "evidence_refs", record.EvidenceRefs.Items) {
		if ref.OK {
			s.evidence(record, ref)
		}
	}
	for _, d := range first(s, record.SideFile, "policy_decisions", record.PolicyDecisions.Items) {
		for _, id := range first(s, record.SideFile, "rule_ids", d.RuleIDs.Items) {
			if id.OK {
				s.rule(record, id)
			}
		}
	}
	s.approvals(record)
}

// decision checks that what was decided can still be decided so.
func (s *replays) decision(record *repo.Record) {
	name := s.Unit.Within(record.Name)
	if intent := record.IntentRef; intent.OK && !s.intents[intent.Value] {
		s.fault(record.SideFile, gate.Faultf(intent.Node, "let the pack know the intent, or waive it with a reason", "the pack does not know the intent %s of the record", gate.Quote(intent.Value)))
	}
	key := record.DecisionKey
	if !key.OK {
		return
	}
	decision := s.Policy().Decision(key.Value)
	if decision == nil {
		names := gate.Names(s.Decisions)
		s.fault(record.SideFile, gate.Faultf(key.Node, gate.Choose(s.near.Nearest(key.Value, names), names, restore, gate.List),
			"decision %s of the record is not in the pack", gate.Quote(key.Value)))
		return
	}
	spec, exact := specOf(decision, record)
	if !exact && record.DecisionVersion.OK {
		s.unchecked("%s: decision %s is recorded in version %s and the pack has version %s, which is what the record is compared with",
			name, gate.Quote(key.Value), gate.Quote(record.DecisionVersion.Value), gate.Quote(spec.Version.Value))
	}
	s.outcome(record, spec)
	s.approvedMode(record, spec)
}

// specOf returns the version of a decision that a record is held against, and whether
// it is the one that the record names.
func specOf(decision *policy.Decision, record *repo.Record) (spec *pack.DecisionSpec, exact bool) {
	named := func(d *pack.DecisionSpec) bool { return d.Version.Value == record.DecisionVersion.Value }
	if i := slices.IndexFunc(decision.Specs, named); i >= 0 {
		return decision.Specs[i], true
	}
	return decision.Spec(), false
}

// outcome checks that the outcome is allowed. One that is missing is RPL018's.
func (s *replays) outcome(record *repo.Record, spec *pack.DecisionSpec) {
	outcome, allowed := record.Outputs.Outcome, pack.Values(spec.AllowedOutcomes)
	if outcome.OK && !slices.Contains(allowed, outcome.Value) {
		s.fault(record.SideFile, gate.Faultf(outcome.Node, gate.Choose(s.near.Nearest(outcome.Value, allowed), allowed, "allow it again", gate.List),
			"outcome %s of the record is not allowed for decision %s", gate.Quote(outcome.Value), gate.Quote(spec.DecisionKey.Value)).See(spec.AllowedOutcomes.Node, "the allowed outcomes"))
	}
}

// approvedMode checks that the decision still authorises what was approved.
func (s *replays) approvedMode(record *repo.Record, spec *pack.DecisionSpec) {
	for _, a := range first(s, record.SideFile, "approvals", record.Approvals.Items) {
		approved, mode := a.ApprovalModeEffective, pack.Mode(spec.ApprovalMode)
		if approved.OK && pack.Mode(approved).Known() && mode.Known() && pack.Mode(approved).Rank() > mode.Rank() {
			s.fault(record.SideFile, gate.Faultf(approved.Node, "raise the decision's mode again if it is to authorise this, or waive it with a reason",
				"%s effects were approved, and decision %s authorises %s at most", approved.Value, gate.Quote(spec.DecisionKey.Value), mode).See(spec.ApprovalMode.Node, "the mode of the decision"))
		}
	}
}

// evidence checks that a piece of evidence can still be looked up.
func (s *replays) evidence(record *repo.Record, ref pack.Text) {
	scheme, rest, _ := strings.Cut(ref.Value, ":")
	switch scheme {
	case "kg":
		s.graphEvidence(record, ref)
	case "tool":
		tool, _, _ := strings.Cut(rest, ":")
		s.tool(record, ref, tool)
	case "policy":
		if bundle, rule, _ := strings.Cut(rest, "#"); !s.bundles[bundleRule{bundle, rule}] {
			s.fault(record.SideFile, gate.Faultf(ref.Node, "name a bundle and a rule of the pack as policy:BUNDLE#RULE, or waive it with a reason",
				"evidence %s cannot be looked up again: the pack has no such policy", gate.Quote(ref.Value)))
		}
	default:
		s.unchecked("evidence of the form %s is not looked up", gate.Quote(scheme+":…"))
	}
}

func (s *replays) graphEvidence(record *repo.Record, ref pack.Text) {
	id, pinned := snapshotOf(ref.Value)
	made := record.Lineage.SnapshotVersion
	switch {
	case !pinned:
		s.fault(record.SideFile, gate.Faultf(ref.Node, fmt.Sprintf("let it end in %q and the id of the snapshot that was read", snapshotMark),
			"evidence %s cannot be looked up again: it is not pinned to a snapshot of the graph", gate.Quote(ref.Value)))
	case made.OK && made.Value != id:
		s.fault(record.SideFile, gate.Faultf(ref.Node, "write the snapshot that was read",
			"evidence %s is of another snapshot than the record, which is of %s", gate.Quote(ref.Value), gate.Quote(made.Value)).See(made.Node, "the snapshot of the record"))
	}
}

// tool checks that a tool that gave evidence is there and can be surfaced.
func (s *replays) tool(record *repo.Record, ref pack.Text, tool string) {
	if !slices.ContainsFunc(s.Policy().Named(tool), func(t *policy.Tool) bool { return t.At.Kind == pack.String && t.Is(tool) }) {
		s.fault(record.SideFile, gate.Faultf(ref.Node, gate.Choose(s.near.Nearest(tool, s.tools), s.tools, restore, gate.List),
			"tool %s, which gave evidence, is not in the pack", gate.Quote(tool)))
		return
	}
	intent := record.IntentRef
	if !intent.OK {
		s.unchecked("%s: the record has no intent_ref, so it is unknown for which requests its tools have to be there", s.Unit.Within(record.Name))
		return
	}
	if !s.intents[intent.Value] {
		return // said of the intent
	}
	switch answer := s.surfaced(intent.Value, tool); answer.Verdict {
	case jsonlogic.Unsatisfiable:
		s.fault(record.SideFile, gate.Faultf(ref.Node, "permit the tool again for the intent, or waive it with a reason",
			"tool %s, which gave evidence, is surfaced for no request of intent %s", gate.Quote(tool), gate.Quote(intent.Value)))
	case jsonlogic.Undecided:
		s.unchecked("%s: whether tool %s can be surfaced is not proved: %s", s.Unit.Within(record.Name), gate.Quote(tool), answer.Reason)
	}
}

// rule checks that a rule that the decision rests on is in the pack and is about
// its intent.
func (s *replays) rule(record *repo.Record, id pack.Text) {
	r := s.rules[id.Value]
	if r == nil {
		names := gate.Names(s.rules)
		hint := gate.Choose(s.near.Nearest(id.Value, names), names, restore, gate.List)
		if s.Gates[id.Value] != nil {
			hint = "this is a gate; write it under approvals"
		}
		s.fault(record.SideFile, gate.Faultf(id.Node, hint, "rule %s, which the decision rests on, is not in the pack", gate.Quote(id.Value)))
		return
	}
	to := r.AppliesTo.Intent
	if to.OK && s.intents[record.IntentRef.Value] && to.Value != record.IntentRef.Value {
		s.fault(record.SideFile, gate.Faultf(id.Node, "let the rule apply to the intent again, or waive it with a reason",
			"rule %s, which the decision rests on, does not apply to intent %s any more", gate.Quote(id.Value), gate.Quote(record.IntentRef.Value)).See(to.Node, "the intent of the rule"))
	}
}

// settled are the statuses in which all approvals have been given.
var settled = []string{"DECIDED", "CLOSED"}

// approvals checks that the approvals that were given or asked for can still be
// asked for, and that where it is decided, those that were asked for were given.
func (s *replays) approvals(record *repo.Record) {
	given := map[string]bool{}
	for _, a := range first(s, record.SideFile, "approvals", record.Approvals.Items) {
		if a.GateID.OK {
			given[a.GateID.Value] = true
			s.approval(record, a.GateID, "approved the decision")
		}
	}
	done := slices.Contains(settled, record.Status.Value)
	for _, id := range first(s, record.SideFile, "approval_gates_active", record.ControlsActive.ApprovalGatesActive.Items) {
		switch {
		case !id.OK || given[id.Value]:
		case !done:
			s.approval(record, id, "was active")
		default:
			s.fault(record.SideFile, gate.Faultf(id.Node, "add the approval that was given, or correct the status",
				"gate %s was active and the record has no approval of it, although it is %s", gate.Quote(id.Value), record.Status.Value).See(record.Status.Node, "the status of the record"))
		}
	}
}

// approval checks that a gate is there and can be active. What it did then is said
// in words, after its name.
func (s *replays) approval(record *repo.Record, id pack.Text, did string) {
	names := gate.Names(s.Gates)
	if s.Gates[id.Value] == nil {
		s.fault(record.SideFile, gate.Faultf(id.Node, gate.Choose(s.near.Nearest(id.Value, names), names, restore, gate.List),
			"gate %s, which %s, is not in the pack", gate.Quote(id.Value), did))
		return
	}
	if !s.intents[record.IntentRef.Value] {
		return
	}
	switch answer := s.active(record.IntentRef.Value, id.Value); answer.Verdict {
	case jsonlogic.Unsatisfiable:
		s.fault(record.SideFile, gate.Faultf(id.Node, "let a rule or a permission require the gate again, or waive it with a reason",
			"gate %s %s, and no request of intent %s asks for it any more", gate.Quote(id.Value), did, gate.Quote(record.IntentRef.Value)).See(s.Gates[id.Value].Node, "the gate"))
	case jsonlogic.Undecided:
		s.unchecked("%s: whether gate %s can be active is not proved: %s", s.Unit.Within(record.Name), gate.Quote(id.Value), answer.Reason)
	}
}

// prospect says whether any request can reach something, by proof.
type prospect struct {
	model     *proof.Model
	answers   map[string]jsonlogic.Answer
	undecided int
}

// Bounds of one check. Replays ask a few questions; a pack that is made to be slow
// must not succeed.
const (
	mostProofs    = 200
	mostUndecided = 20
	proofSteps    = 500_000
)

// surfaced asks for a request of the intent that surfaces a tool.
func (q *prospect) surfaced(intent, tool string) jsonlogic.Answer {
	return q.ask(fmt.Sprintf("tool %q %q", intent, tool), func(m *proof.Model) jsonlogic.Formula { return m.Surfaced(intent, tool) })
}

// active asks for a request of the intent in which a gate is active.
func (q *prospect) active(intent, gateID string) jsonlogic.Answer {
	return q.ask(fmt.Sprintf("gate %q %q", intent, gateID), func(m *proof.Model) jsonlogic.Formula { return m.Active(intent, gateID) })
}

func (q *prospect) ask(question string, formula func(*proof.Model) jsonlogic.Formula) jsonlogic.Answer {
	if answer, asked := q.answers[question]; asked {
		return answer
	}
	switch {
	case q.model.Broken() != "":
		return jsonlogic.Answer{Reason: "the pack cannot be compiled: " + q.model.Broken()}
	case len(q.answers) >= mostProofs:
		return jsonlogic.Answer{Reason: fmt.Sprintf("more than %d proofs are needed", mostProofs)}
	case q.undecided >= mostUndecided:
		return jsonlogic.Answer{Reason: fmt.Sprintf("%d proofs before it came to no answer", mostUndecided)}
	}
	answer := jsonlogic.Solver{Steps: proofSteps}.Solve(formula(q.model))
	if answer.Verdict == jsonlogic.Undecided {
		answer.Reason = cmp.Or(answer.Reason, "the proof came to no answer")
		q.undecided++
	}
	q.answers[question] = answer
	return answer
}
