package repo

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Packet is a replay packet: a past run with what its replay must yield.
type Packet struct {
	*SideFile `json:"-"`
	PacketFields
	// Meta is the packet's side file, nil where there is none.
	Meta *Meta
}

// PacketFields are the members of a replay packet (ReplayPacket v1) that a
// replay reads.
type PacketFields struct {
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
	MetaFields
}

// MetaFields are the members of the side file of a replay packet.
type MetaFields struct {
	pack.Part
	Compiler pack.Text `json:"compiler"`
}

// Record is an earlier decision (DecisionRecord v1).
type Record struct {
	*SideFile `json:"-"`
	RecordFields
}

// RecordFields are the members of a decision record that a replay reads.
type RecordFields struct {
	pack.Part
	RecordID        pack.Text                 `json:"record_id"`
	RecordHash      pack.Text                 `json:"record_hash"`
	TraceID         pack.Text                 `json:"trace_id"`
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
}

// RecordControls are the runtime controls that held when it was decided.
type RecordControls struct {
	pack.Part
	ApprovalGatesActive pack.List[pack.Text] `json:"approval_gates_active"`
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
	SurfaceFields
}

// SurfaceFields are the members of a tool surface.
type SurfaceFields struct {
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

const (
	packetSuffix = ".packet.json"
	metaSuffix   = ".meta.json"
)

// addReplay adds a side file to the packets, metas, records or the tool surface
// of the unit, if it is one of these. It reports false for one that is about one
// of the other packs in the folder.
func (u *Unit) addReplay(s *SideFile, others []string) bool {
	switch s.Kind {
	case "replay-packet":
		p := &Packet{SideFile: s}
		s.decode(&p.PacketFields)
		if u.isOfAnother(p.ContextPackRef, others) {
			return false
		}
		u.Packets = append(u.Packets, p)
	case "replay-meta":
		m := &Meta{SideFile: s}
		s.decode(&m.MetaFields)
		u.Metas = append(u.Metas, m)
		for _, p := range u.Packets { // packets are read before metas
			if strings.TrimSuffix(p.Name, packetSuffix) == strings.TrimSuffix(s.Name, metaSuffix) {
				p.Meta = m
			}
		}
	case "decision-record":
		r := &Record{SideFile: s}
		s.decode(&r.RecordFields)
		if u.isOfAnother(r.Lineage.PackVersion, others) {
			return false
		}
		u.Records = append(u.Records, r)
	case "tool-surface":
		u.Surface = &ToolSurface{SideFile: s}
		s.decode(&u.Surface.SurfaceFields)
	}
	return true
}

// isOfAnother reports whether a reference, pack_id@version, names one of the
// other packs and not this one.
func (u *Unit) isOfAnother(ref pack.Text, others []string) bool {
	id, _, _ := strings.Cut(ref.Value, "@")
	return ref.OK && id != u.id() && slices.Contains(others, id)
}
