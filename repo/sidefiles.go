package repo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// Case is a golden case: an invocation with all that it needs, and what is
// expected of it. Invoke is an invokeAgent v1 envelope and RunContext a RunContext
// v1, as they stand.
type Case struct {
	*SideFile `json:"-"`
	// Snapshot is the stored CompiledContext, nil where there is none.
	Snapshot *Snapshot `json:"-"`
	pack.Part
	Case        pack.Text               `json:"case"`
	Family      pack.Text               `json:"family"`
	Description pack.Text               `json:"description" text:"prose"`
	Environment pack.Text               `json:"environment"`
	Overlay     pack.Text               `json:"overlay"`
	Invoke      *pack.Node              `json:"invoke"`
	RunContext  *pack.Node              `json:"run_context"`
	Evidence    pack.List[EvidenceItem] `json:"evidence"`
	Memory      pack.List[MemoryItem]   `json:"memory"`
	Expect      Expectation             `json:"expect"`
}

// EvidenceItem is one evidence reference that the caller supplies.
type EvidenceItem struct {
	pack.Part
	EvidenceRef pack.Text `json:"evidence_ref"`
	Content     pack.Text `json:"content" text:"prose"`
	Priority    pack.Num  `json:"priority"`
}

// MemoryItem is one memory recall that the caller supplies.
type MemoryItem struct {
	pack.Part
	MemoryRef pack.Text `json:"memory_ref"`
	Content   pack.Text `json:"content" text:"prose"`
	Promoted  pack.Flag `json:"promoted"`
	Priority  pack.Num  `json:"priority"`
}

// Expectation is what a golden case expects. The lists are complete and in
// canonical order; a list that is absent expects nothing. Assertions are
// JsonLogic over the CompiledContext.
type Expectation struct {
	pack.Part
	Outcome    pack.Text             `json:"outcome"`
	Tools      pack.List[pack.Text]  `json:"tools"`
	Gates      pack.List[pack.Text]  `json:"gates"`
	Denied     pack.List[pack.Text]  `json:"denied"`
	Rules      pack.List[pack.Text]  `json:"rules"`
	Assertions pack.List[*pack.Node] `json:"assertions"`
}

// Snapshot is a stored compile: its name and bytes.
type Snapshot struct {
	Name   string // relative to the repository's root
	File   string // as messages show it
	Source []byte
}

// SnapshotName returns the name of the snapshot that belongs to a case file:
// NAME.case.json has NAME.compiled.json.
func SnapshotName(caseFile string) string {
	return caseFile[:len(caseFile)-len(caseSuffix)] + ".compiled.json"
}

// Overlay is a file that says what one environment changes of a pack. Order is its
// place among the overlays of its environment, lower first.
type Overlay struct {
	*SideFile `json:"-"`
	pack.Part
	OverlayID   pack.Text          `json:"overlay_id"`
	Environment pack.Text          `json:"environment"`
	Base        pack.Text          `json:"base"`
	Order       pack.Num           `json:"order"`
	Set         pack.List[Setting] `json:"set"`
}

// Setting is one change: the keyed path of a value, and what takes its place.
// Value is nil where there is none.
type Setting struct {
	pack.Part
	Path  pack.Text  `json:"path"`
	Value *pack.Node `json:"value"`
}

// Scorecard is what an evaluator measured of one version of a pack. Pack and
// Baseline are references, pack_id@version, of what was measured and of what it is
// compared with. Digest is that of the pack's file or of its canonical form.
type Scorecard struct {
	*SideFile `json:"-"`
	// Signature is the file with its signature, nil where there is none.
	Signature *Signature `json:"-"`
	pack.Part
	Pack         pack.Text              `json:"pack"`
	Digest       pack.Text              `json:"digest"`
	Baseline     pack.Text              `json:"baseline"`
	EvaluatorSet pack.Text              `json:"evaluator_set"`
	Intents      pack.List[IntentScore] `json:"intents"`
}

// Signature is a file with the signature of another one, a Sigstore bundle.
type Signature struct {
	Name   string // relative to the repository's root
	File   string // as messages show it
	Source []byte
	Unread string // why it could not be read; "" where it could
}

// SignatureName returns the name of the file with the signature of a scorecard.
func SignatureName(scorecard string) string { return scorecard + ".sigstore.json" }

// IntentScore is what was measured for one intent. Baseline is empty where the
// scorecard does not repeat what the baseline reached.
type IntentScore struct {
	pack.Part
	Intent    pack.Text `json:"intent"`
	Samples   pack.Num  `json:"samples"`
	Candidate Scores    `json:"candidate"`
	Baseline  Scores    `json:"baseline"`
}

// Scores are measured values. Policy, Utility and Safety are from 0 to 1.
type Scores struct {
	pack.Part
	Policy                    pack.Num `json:"policy"`
	Utility                   pack.Num `json:"utility"`
	LatencyP99MS              pack.Num `json:"latency_p99_ms"`
	Safety                    pack.Num `json:"safety"`
	EconomicsCentsPerDecision pack.Num `json:"economics_cents_per_decision"`
}

// Packet is a replay packet (ReplayPacket v1), as far as a replay reads it: a past
// run with what its replay must yield.
type Packet struct {
	*SideFile `json:"-"`
	// Meta is the packet's side file, nil where there is none.
	Meta *Meta `json:"-"`
	pack.Part
	ReplayPacketID       pack.Text      `json:"replay_packet_id"`
	TraceID              pack.Text      `json:"trace_id"`
	SourceKind           pack.Text      `json:"source_kind"`
	SourceRef            pack.Text      `json:"source_ref"`
	ContextPackRef       pack.Text      `json:"context_pack_ref"`
	KnowledgeSnapshotRef pack.Text      `json:"knowledge_snapshot_ref"`
	CompiledContextHash  pack.Text      `json:"compiled_context_hash"`
	SideEffectPolicy     pack.Text      `json:"side_effect_policy"`
	Expected             PacketExpected `json:"expected"`
	Compiler             pack.Text      `json:"compiler"`
}

// PacketExpected is what the replay of a packet must yield. Properties are
// statements such as "tool:adp_orders.lookup" or "!gate:GATE_FINANCE_APPROVAL".
type PacketExpected struct {
	pack.Part
	Status             pack.Text            `json:"status"`
	DecisionRecordHash pack.Text            `json:"decision_record_hash"`
	Properties         pack.List[pack.Text] `json:"properties"`
}

// Meta is packgate's own side file of a replay packet. It names the compiler
// that the packet's hash was made with.
type Meta struct {
	*SideFile `json:"-"`
	pack.Part
	Compiler pack.Text `json:"compiler"`
}

// Record is an earlier decision (DecisionRecord v1), as far as a replay reads it.
type Record struct {
	*SideFile `json:"-"`
	pack.Part
	RecordID        pack.Text                 `json:"record_id"`
	RecordHash      pack.Text                 `json:"record_hash"`
	TraceID         pack.Text                 `json:"trace_id"`
	Timestamp       pack.Text                 `json:"timestamp"`
	Actor           RecordActor               `json:"actor"`
	AgentIdentity   RecordIdentity            `json:"agent_identity"`
	SubjectIDs      pack.List[pack.Text]      `json:"subject_ids"`
	DecisionKey     pack.Text                 `json:"decision_key"`
	DecisionVersion pack.Text                 `json:"decision_version"`
	Status          pack.Text                 `json:"status"`
	IntentRef       pack.Text                 `json:"intent_ref"`
	Outputs         RecordOutputs             `json:"outputs"`
	EvidenceRefs    pack.List[pack.Text]      `json:"evidence_refs"`
	PolicyDecisions pack.List[PolicyDecision] `json:"policy_decisions"`
	Approvals       pack.List[Approval]       `json:"approvals"`
	ControlsActive  RecordControls            `json:"controls_active"`
	Lineage         RecordLineage             `json:"lineage"`
}

// RecordActor is who decided.
type RecordActor struct {
	pack.Part
	ID pack.Text `json:"id"`
}

// RecordIdentity is in whose name it was decided, from the one who asked to the agent.
type RecordIdentity struct {
	pack.Part
	Subject        pack.Text              `json:"subject"`
	PrincipalChain pack.List[RecordActor] `json:"principal_chain"`
}

// RecordOutputs are the outputs of a decision, as far as every decision has them.
type RecordOutputs struct {
	pack.Part
	Outcome pack.Text `json:"outcome"`
}

// PolicyDecision is one answer of the policy engine that a decision rests on.
type PolicyDecision struct {
	pack.Part
	PolicyDecisionID pack.Text            `json:"policy_decision_id"`
	RuleIDs          pack.List[pack.Text] `json:"rule_ids"`
}

// Approval is one approval that was given for a decision.
type Approval struct {
	pack.Part
	GateID                pack.Text `json:"gate_id"`
	Approver              pack.Text `json:"approver"`
	ApprovalModeEffective pack.Text `json:"approval_mode_effective"`
	DecidedAt             pack.Text `json:"decided_at"`
}

// RecordControls are the runtime controls that held when it was decided.
type RecordControls struct {
	pack.Part
	ApprovalGatesActive  pack.List[pack.Text] `json:"approval_gates_active"`
	RedactionRulesActive pack.List[pack.Text] `json:"redaction_rules_active"`
}

// RecordLineage says what a decision was made with. PackVersion is a reference,
// pack_id@version.
type RecordLineage struct {
	pack.Part
	PackVersion     pack.Text `json:"pack_version"`
	SnapshotVersion pack.Text `json:"snapshot_version"`
}

// ToolSurface is the smallest tool surface that a pack is expected to need.
type ToolSurface struct {
	*SideFile `json:"-"`
	pack.Part
	Surface pack.List[SurfaceRow] `json:"surface"`
}

// SurfaceRow lets one capability, adapter.capability, be surfaced for one
// intent: with at most this approval mode, behind these gates, within these
// bounds.
type SurfaceRow struct {
	pack.Part
	Intent         pack.Text                  `json:"intent"`
	Capability     pack.Text                  `json:"capability"`
	ApprovalMode   pack.Text                  `json:"approval_mode"`
	Gates          pack.List[pack.Text]       `json:"gates"`
	ArgConstraints pack.Dict[pack.Constraint] `json:"arg_constraints"`
}

// The ends of names by which files lead to one another.
const (
	caseSuffix   = ".case.json"
	packetSuffix = ".packet.json"
	metaSuffix   = ".meta.json"

	signatureSuffix = ".json.sigstore.json"
)

// take adds what a side file says to the unit, and reports whether the file stays with
// it: in a shared folder, one that is about another pack there is left to that.
func (u *Unit) take(s *SideFile, others []string) bool {
	switch s.Kind {
	case "case":
		c := decoded(s, &Case{SideFile: s})
		return keep(&u.Cases, c, isAbout(c, others...) && !isAbout(c, u.id()))
	case "overlay":
		o := decoded(s, &Overlay{SideFile: s})
		return keep(&u.Overlays, o, u.isOfAnother(o.Base, others))
	case "scorecard":
		c := decoded(s, &Scorecard{SideFile: s})
		return keep(&u.Scorecards, c, u.isOfAnother(c.Pack, others))
	case "replay-packet":
		p := decoded(s, &Packet{SideFile: s})
		return keep(&u.Packets, p, u.isOfAnother(p.ContextPackRef, others))
	case "decision-record":
		r := decoded(s, &Record{SideFile: s})
		return keep(&u.Records, r, u.isOfAnother(r.Lineage.PackVersion, others))
	case "replay-meta":
		m := decoded(s, &Meta{SideFile: s})
		for _, p := range u.Packets { // packets are read before metas
			if strings.TrimSuffix(p.Name, packetSuffix) == strings.TrimSuffix(s.Name, metaSuffix) {
				p.Meta = m
			}
		}
		return keep(&u.Metas, m, false)
	case "tool-surface":
		u.Surface = decoded(s, &ToolSurface{SideFile: s})
	}
	return true
}

// keep adds a file to those of its kind unless it is about another pack, and reports
// whether it did.
func keep[T any](files *[]*T, one *T, ofAnother bool) bool {
	if !ofAnother {
		*files = append(*files, one)
	}
	return !ofAnother
}

// isAbout reports whether a golden case names one of the packs.
func isAbout(c *Case, ids ...string) bool {
	return slices.ContainsFunc(c.References(), func(ref *pack.Node) bool {
		id, _, pinned := strings.Cut(ref.Text, "@")
		return pinned && slices.Contains(ids, id)
	})
}

// isOfAnother reports whether a reference, pack_id@version, names one of the
// other packs and not this one.
func (u *Unit) isOfAnother(ref pack.Text, others []string) bool {
	id, _, _ := strings.Cut(ref.Value, "@")
	return ref.OK && id != u.id() && slices.Contains(others, id)
}

func (u *Unit) id() string {
	if u.Pack == nil {
		return ""
	}
	return u.Pack.PackMeta.PackID.Value
}

// checkNames notes in the faults of a file that another one before it has its name:
// by these names commands, reports and replay packets tell the files of a pack apart.
// Overlays have a rule of their own.
func (u *Unit) checkNames() {
	type named struct{ what, name string }
	first := map[named]*pack.Node{}
	check := func(s *SideFile, what string, name pack.Text) {
		if !name.OK {
			return
		}
		this := named{what, name.Value}
		other := first[this]
		if other == nil {
			first[this] = name.Node
			return
		}
		s.Faults = append(s.Faults, pack.Fault{
			Location: name.Node.Location(),
			Message:  fmt.Sprintf("another file has the %s %q already", what, pack.Clip(name.Value, mostOfName)),
			Hint:     "give each file a name of its own",
			Related:  []finding.Related{{Location: other.Location(), Message: "the other one"}},
		})
	}
	for _, c := range u.Cases {
		check(c.SideFile, "case", c.Case)
	}
	for _, p := range u.Packets {
		check(p.SideFile, "replay_packet_id", p.ReplayPacketID)
	}
	for _, r := range u.Records {
		check(r.SideFile, "record_id", r.RecordID)
	}
}

// mostOfName is how many characters of a name a message repeats.
const mostOfName = 64
