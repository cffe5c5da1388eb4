package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
)

// RPL018: a record has what its pack asks of a decision.
var RPL018 = &gate.Rule{
	ID: "RPL018", Name: "incomplete-record", Severity: finding.Error,
	Title: "A decision record has what its pack requires of the decision",
	Doc: "A decision record is what an auditor reads. If a record without evidence, approvals and redactions passes, it means " +
		"little that a pack requires them. A record that is `DECIDED` or `CLOSED` has an evidence reference for each " +
		"`required_evidence` of its decision: for a tool its result (`tool:adp_orders.lookup:tc_1` is `order_lookup`), for " +
		"other evidence a part of the reference (`kg:NAME:…`) or the source that the config's `evidence` states, and for " +
		"`policy_eval` a rule or a policy. What the request brings, because a rule reads `request.context.NAME`, needs none. " +
		"Its `outputs.outcome` and the rules that decided must be present, `redaction_rules_active` has every redaction rule of " +
		"the pack, each `approval_mode_effective` is stated and is not below the mode of the decision and of the tools of the " +
		"gate (or the lower mode that a rule it is based on states), and `subject_ids` are of the pack's `ceid_namespaces`. No " +
		"evidence is listed twice.\n\n" +
		"It is a warning if the base has the record and it already lacked an outcome, a redaction, an approved mode or its " +
		"rules there, and for evidence if the pack has the decision in another version than the record names. A record is what " +
		"happened: complete it from what the runtime stored, and give a decision that requires more a version of its own. If " +
		"something was not done, waive it with a reason.",
	Bad:   `{"required_evidence": ["order_lookup"], "record": {"status": "DECIDED", "evidence_refs": ["kg:customer:c_1#snapshot_7"]}}`,
	Good:  `{"required_evidence": ["order_lookup"], "record": {"status": "DECIDED", "evidence_refs": ["kg:customer:c_1#snapshot_7", "tool:adp_orders.lookup:tc_1"]}}`,
	Since: "0.2.0",
	Check: func(p *gate.Pass) { eachRecord(p, (*held).complete) },
}

// eachRecord looks at every record of the pack as one that is held against it.
func eachRecord(p *gate.Pass, look func(*held)) {
	if len(p.Unit.Records) == 0 {
		return // RPL008 says so
	}
	all := &allRecords{replays: newReplays(p), requests: map[string][]*golden.Result{}, policies: map[string]*policy.Rule{}}
	results := p.Golden()
	for i := range results {
		if r := &results[i]; r.Input != nil && r.Detail != nil && r.Detail.Context != nil {
			if trace := r.Input.RunContext.Get("trace_id"); trace != nil {
				all.requests[trace.Text] = append(all.requests[trace.Text], r)
			}
		}
	}
	for _, rule := range p.Policy().Rules {
		all.policies[rule.RuleID.Value] = rule
		if rule.When != nil {
			for _, v := range rule.When.Expr.Variables() {
				all.reads = append(all.reads, v.Path)
			}
		}
	}
	before := map[string]*repo.Record{}
	if p.HasBase() {
		for _, record := range slices.Backward(p.Before.Unit.Records) { // the first of an id counts
			before[record.RecordID.Value] = record
		}
	}
	for _, record := range p.Unit.Records {
		look(all.hold(record, before[record.RecordID.Value]))
	}
}

// allRecords is what all records of a pack are held against.
type allRecords struct {
	*replays
	requests map[string][]*golden.Result // the cases that compiled, by trace_id
	policies map[string]*policy.Rule     // by rule_id
	reads    []string                    // the variables that rules read
}

// held is a decision record with what it is held against.
type held struct {
	*allRecords
	*repo.Record
	earlier  *repo.Record // of the base, nil for none
	decision *policy.Decision
	spec     *pack.DecisionSpec // nil where the pack does not have the decision, which is RPL008's
	exact    bool               // spec is the version that the record names, or it names none
	requests []*golden.Result   // the cases of its trace, request and intent that compiled
}

func (s *allRecords) hold(record, earlier *repo.Record) *held {
	h := &held{allRecords: s, Record: record, decision: s.Policy().Decision(record.DecisionKey.Value)}
	if record.RecordID.OK {
		h.earlier = earlier
	}
	if h.decision != nil {
		h.spec, h.exact = specOf(h.decision, record)
		h.exact = h.exact || !record.DecisionVersion.OK
	}
	made := record.Node.Get("inputs_refs").Get("request")
	for _, r := range s.requests[record.TraceID.Value] {
		asked := r.Input.Invoke.Get("request_id")
		same := made == nil || asked != nil && made.Text == asked.Text
		if same && record.TraceID.OK && (!record.IntentRef.OK || r.Intent == record.IntentRef.Value) {
			h.requests = append(h.requests, r)
		}
	}
	return h
}

// pending are the statuses of a decision that is still to be made.
var pending = []string{"DEFERRED", "IN_FLIGHT"}

// isSettled reports whether the decision was made.
func (h *held) isSettled() bool { return slices.Contains(settled, h.Status.Value) }

// found reports a fault of the record.
func (h *held) found(d gate.Diagnostic) {
	if d.At == nil {
		d.At = pack.Place(h.RecordID.Node, h.Record.Node)
	}
	h.Report(d.Keyed(h.Unit.Within(h.Record.Name) + " " + d.Key))
}

// omission returns how bad it is that the record leaves out what the schema does not ask
// for: a warning where the base's record did so too, or where there is no base.
func (h *held) omission(omits func(*repo.Record) bool) finding.Severity {
	if h.HasBase() && (h.earlier == nil || !omits(h.earlier)) {
		return finding.Error
	}
	return finding.Warning
}

// whatHappened is what to do about a record that lacks something.
const whatHappened = "add what the runtime kept to the record, or waive it with a reason"

func (h *held) complete() {
	h.subjects()
	h.redactions()
	h.twice()
	if h.spec == nil {
		return
	}
	h.outcomeThere()
	h.rulesThere()
	h.evidenceThere()
	used, stated := h.used(), h.stated()
	for _, a := range first(h.replays, h.SideFile, "approvals", h.Approvals.Items) {
		h.mode(a, used, stated)
	}
}

// subjects checks that the subjects are of the namespaces that the pack knows.
func (h *held) subjects() {
	known := h.Pack.IntelligenceRefs.IdentityLayer.CEIDNamespaces
	namespaces := pack.Values(known)
	for _, id := range h.SubjectIDs.Items {
		namespace, name, _ := strings.Cut(id.Value, ":")
		if !id.OK || namespace != "" && name != "" && slices.Contains(namespaces, namespace) {
			continue
		}
		h.found(gate.Faultf(id.Node, gate.Choose(h.near.Nearest(namespace, namespaces), namespaces, "add the namespace to ceid_namespaces", gate.List),
			"subject %s is not in any namespace that the pack knows", gate.Quote(id.Value)).See(known.Node, "the namespaces"))
	}
}

// redactions checks that all redactions of the pack were active.
func (h *held) redactions() {
	if slices.Contains(pending, h.Status.Value) {
		return
	}
	for _, rule := range pack.Values(h.Pack.PolicyLayer.Guardrails.RedactionRules) {
		omits := func(r *repo.Record) bool {
			return !slices.Contains(pack.Values(r.ControlsActive.RedactionRulesActive), rule)
		}
		if omits(h.Record) {
			list := h.ControlsActive.RedactionRulesActive.Node
			h.found(gate.Faultf(pack.Place(list, h.ControlsActive.Node, h.Record.Node), whatHappened,
				"redaction %s of the pack was not active", gate.Quote(rule)).
				Keyed("redaction "+rule).As(h.omission(omits)).See(h.Pack.PolicyLayer.Guardrails.RedactionRules.Node, "the redactions of the pack"))
		}
	}
}

// twice checks that no evidence is listed twice.
func (h *held) twice() {
	first := map[string]*pack.Node{}
	for _, ref := range h.EvidenceRefs.Items {
		if other := first[ref.Value]; ref.OK && other != nil {
			h.found(gate.Faultf(ref.Node, "list it once", "evidence %s is listed twice", gate.Quote(ref.Value)).As(finding.Warning).See(other, "the first time"))
		} else if ref.OK {
			first[ref.Value] = ref.Node
		}
	}
}

func (h *held) outcomeThere() {
	if h.Outputs.Outcome.OK || slices.Contains(pending, h.Status.Value) || len(h.spec.AllowedOutcomes.Items) == 0 {
		return
	}
	h.found(gate.Faultf(pack.Place(h.Outputs.Node, h.Record.Node), whatHappened, "the record has no outputs.outcome").
		As(h.omission(func(r *repo.Record) bool { return !r.Outputs.Outcome.OK })).Keyed("outcome").
		See(h.spec.AllowedOutcomes.Node, "the allowed outcomes"))
}

// rulesThere checks that a decision that needs a rule to be allowed names one.
func (h *held) rulesThere() {
	omits := func(r *repo.Record) bool {
		return !slices.ContainsFunc(r.PolicyDecisions.Items, func(d repo.PolicyDecision) bool { return len(pack.Values(d.RuleIDs)) > 0 })
	}
	if h.isSettled() && !h.decision.ReadOnly && omits(h.Record) {
		h.found(gate.Faultf(pack.Place(h.PolicyDecisions.Node, h.Record.Node), whatHappened,
			"the record names no rule, and decision %s is allowed by a rule alone", gate.Quote(h.spec.DecisionKey.Value)).
			As(h.omission(omits)).Keyed("rules"))
	}
}

// evidenceThere checks that all required evidence is there.
func (h *held) evidenceThere() {
	if !h.isSettled() {
		return
	}
	s := h.supply()
	for _, name := range h.spec.RequiredEvidence.Items {
		if !name.OK || s.Has(name.Value) {
			continue
		}
		d := gate.Faultf(pack.Place(h.EvidenceRefs.Node, h.Record.Node), whatHappened,
			"decision %s requires evidence %s, and no reference of the record gives it", gate.Quote(h.spec.DecisionKey.Value), gate.Quote(name.Value)).
			Keyed("evidence "+name.Value).See(name.Node, "it is required here")
		if !h.exact {
			d = d.As(finding.Warning)
		}
		h.found(d)
	}
}

// supply returns the evidence that the record has: what its references give, and what
// its request brings.
func (h *held) supply() gate.Supply {
	s := gate.NewSupply()
	for _, ref := range h.EvidenceRefs.Items {
		scheme, parts := gate.ReferenceParts(ref.Value)
		if scheme == "" || len(parts) == 0 {
			continue
		}
		if s.AddRef(ref.Value); scheme == "policy" {
			s.Add(gate.PolicyEval)
		}
	}
	for _, e := range h.Config.Evidence.Entries {
		scheme, parts := gate.ReferenceParts(e.Value.Value)
		if scheme == "" && strings.HasPrefix(e.Value.Value, contextPrefix) || slices.ContainsFunc(parts, s.Has) {
			s.Add(e.Name)
		}
	}
	for _, d := range h.PolicyDecisions.Items {
		if slices.ContainsFunc(pack.Values(d.RuleIDs), func(id string) bool { return h.rules[id] != nil }) {
			s.Add(gate.PolicyEval)
		}
	}
	for _, path := range h.reads {
		addContext(s, path)
	}
	for _, r := range h.requests {
		gate.EachMember(r.Input.Invoke.Get("input").Get("context"), func(name string, _ *pack.Node) { s.Add(name) })
	}
	return s
}

const contextPrefix = "request.context."

// addContext adds what a variable reads of the request's context, and the objects on the
// way to it.
func addContext(s gate.Supply, path string) {
	name, ok := strings.CutPrefix(path, contextPrefix)
	for i := len(name); ok && i > 0; i = strings.LastIndexByte(name[:min(i, gate.MostOfName)], '.') {
		s.Add(name[:i])
	}
}

// mode checks that what was approved is all that the decision, and the tools of the gate
// that gave evidence, may do; or all that the rules state.
func (h *held) mode(a repo.Approval, used []*policy.Tool, stated pack.ApprovalMode) {
	approved := a.ApprovalModeEffective
	if !approved.OK {
		h.found(gate.Faultf(pack.Place(a.Node, h.Record.Node), whatHappened, "the approval of gate %s does not state approval_mode_effective", gate.Quote(a.GateID.Value)).
			As(h.omission(func(r *repo.Record) bool {
				return slices.ContainsFunc(r.Approvals.Items, func(b repo.Approval) bool {
					return b.GateID.Value == a.GateID.Value && !b.ApprovalModeEffective.OK
				})
			})).Keyed("mode " + a.GateID.Value))
		return
	}
	need, of := pack.Mode(h.spec.ApprovalMode), fmt.Sprintf("decision %s is %s", gate.Quote(h.spec.DecisionKey.Value), h.spec.ApprovalMode.Value)
	for _, t := range used {
		named := slices.ContainsFunc(t.Gates, func(g *policy.Gate) bool { return g.ID == a.GateID.Value })
		if named && t.Mode().Known() && t.Rank() > need.Rank() {
			need, of = t.Mode(), fmt.Sprintf("tool %s is %s", gate.Quote(t.String()), t.Mode())
		}
	}
	if stated.Known() && stated.Rank() < need.Rank() {
		need, of = stated, fmt.Sprintf("the rules that it rests on state %s", stated)
	}
	if mode := pack.Mode(approved); mode.Known() && need.Known() && mode.Rank() < need.Rank() {
		d := gate.Faultf(approved.Node, whatHappened, "%s effects were approved, and %s", approved.Value, of).See(h.spec.ApprovalMode.Node, "the mode of the decision")
		if !h.exact {
			d = d.As(finding.Warning)
		}
		h.found(d)
	}
}

// used returns the tools of the pack that gave evidence, each once.
func (h *held) used() (tools []*policy.Tool) {
	seen := map[*policy.Tool]bool{}
	for _, ref := range h.EvidenceRefs.Items {
		scheme, parts := gate.ReferenceParts(ref.Value)
		if scheme != "tool" || len(parts) == 0 {
			continue
		}
		for _, t := range h.Policy().Named(parts[0]) {
			if t.Is(parts[0]) && !seen[t] {
				seen[t] = true
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// stated returns the highest mode that the rules of the record state, "" where none does.
func (h *held) stated() (highest pack.ApprovalMode) {
	h.eachRule(func(_ pack.Text, rule *policy.Rule) {
		for _, b := range rule.Branches() {
			if mode := pack.Mode(b.ApprovalMode); mode.Known() && (highest == "" || mode.Rank() > highest.Rank()) {
				highest = mode
			}
		}
	})
	return highest
}

// eachRule calls look for every rule of the pack that the record rests on, once.
func (h *held) eachRule(look func(pack.Text, *policy.Rule)) {
	seen := map[string]bool{}
	for _, d := range h.PolicyDecisions.Items {
		for _, id := range d.RuleIDs.Items {
			if rule := h.policies[id.Value]; id.OK && rule != nil && !seen[id.Value] {
				seen[id.Value] = true
				look(id, rule)
			}
		}
	}
}
