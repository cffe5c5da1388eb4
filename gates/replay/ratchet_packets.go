package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// RPL013: what an incident taught is not forgotten.
var RPL013 = &gate.Rule{
	ID: "RPL013", Name: "replay-evidence-lost", Severity: finding.Error,
	Title: "Replay packets and decision records of the base are kept, and prove as much",
	Doc: "A replay packet of an incident or a correction prevents it from happening again, and a decision record is what " +
		"happened. A change that removes one, or lets it show less, can undo what was learned while all checks are green. " +
		"Packets are recognised by `replay_packet_id`, records by `record_id`, and both by their content if the id is " +
		"different; their files may be moved. A packet proves less if its status, source, request or compile is different, if a " +
		"property is removed or inverted, or if it no longer shows which compiler made its hash. A hash that was recorded again " +
		"is not less, and neither are additional properties. A record proves less if evidence, a rule, an approval with its " +
		"approver, a gate, a redaction or a subject is removed, or if its decision, outcome or status is different. For packets " +
		"of `source_kind` golden_case it is a warning, because RPL014 keeps the golden case.\n\n" +
		"Put back what was removed. A new run is a new packet or record beside the old one. One person alone cannot remove what " +
		"happened: that needs a waiver in the config of the base, with `of`, and an approval of the pull request by the roles " +
		"of `reviews.evidence`.",
	Bad:   `{"base": {"properties": ["denied:support.refund.execute", "!tool:adp_payments.issue_refund"]}, "head": {"properties": ["denied:support.refund.execute"]}}`,
	Good:  `{"base": {"properties": ["denied:support.refund.execute"]}, "head": {"properties": ["denied:support.refund.execute", "!tool:adp_payments.issue_refund"]}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkReplaysKept,
}

func checkReplaysKept(p *gate.Pass) {
	if !p.HasBase() || len(p.Before.Unit.Packets) == 0 && len(p.Before.Unit.Records) == 0 {
		return
	}
	is, was := newReplays(p), newReplays(gate.NewPass(p.Before, nil, nil)) // which reports nothing
	if unfit(p) != nil {
		p.NotChecked("the pack cannot be compiled")
	}
	packets, records := map[string]evidence{}, map[string]evidence{}
	for _, packet := range p.Unit.Packets {
		is.packetEvidence(packet, nil).enter(packets)
	}
	for _, record := range p.Unit.Records {
		recordEvidence(record).enter(records)
	}
	renamed := p.Heirs()
	for _, packet := range p.Before.Unit.Packets {
		was.packetEvidence(packet, renamed).against(p, packets)
	}
	for _, record := range p.Before.Unit.Records {
		recordEvidence(record).against(p, records)
	}
}

// evidence is a packet or a record, with what it proves.
type evidence struct {
	what    string // what it is, for messages
	id      pack.Text
	content string // all that it says but for the id
	node    *pack.Node
	vital   bool // what happened, rather than what a golden case shows too
	proves  map[proved]standing
	request map[string]any // what it replays; nil where that is not known
}

// proved is one thing that a packet or a record proves.
type proved struct{ kind, name string }

func (x proved) words() string {
	if x.name == "" {
		return x.kind
	}
	return x.kind + " " + gate.Quote(x.name)
}

// standing says what became of something that is proved.
type standing int

const (
	stated   standing = iota + 1 // the file says so, and nothing was compared with it
	compared                     // RPL008 compares it with a compile
)

// enter files evidence under its id, and under what it says. The first of each counts.
func (e evidence) enter(by map[string]evidence) {
	for _, key := range []string{e.content, e.id.Value} {
		if _, taken := by[key]; !taken && key != "" {
			by[key] = e
		}
	}
}

// against reports what evidence of the base proves and that of the pack does not.
func (e evidence) against(p *gate.Pass, now map[string]evidence) {
	found, ok := now[e.id.Value]
	if !ok || !e.id.OK {
		found, ok = now[e.content]
	}
	d := gate.Faultf(idPlace(p), "put the file back, and record a new run in a file of its own", "%s %s of the base is removed", e.what, gate.Quote(e.id.Value))
	if ok {
		lost := found.lacks(e, unfit(p) == nil)
		if len(lost) == 0 {
			return
		}
		d = gate.Faultf(pack.Place(found.id.Node, found.node), "put its old content back, and record a new run in a file of its own",
			"%s %s proves less than in the base: %s", e.what, gate.Quote(e.id.Value), strings.Join(lost, ", "))
	}
	if !e.vital {
		d = d.As(finding.Warning)
	}
	d.Thing, d.Both = finding.Thing{Name: e.id.Value}, e.vital
	p.Report(d.Keyed(e.what+" "+e.id.Value).See(pack.Place(e.id.Node, e.node), "it is here in the base"))
}

// lacks says what other evidence proves and this does not. Of a pack that cannot be
// compiled only what the files say is compared.
func (e evidence) lacks(other evidence, compiles bool) (lost []string) {
	var gone, unchecked []proved
	for x, how := range other.proves {
		switch have := e.proves[x]; {
		case have == 0:
			gone = append(gone, x)
		case have < how && compiles:
			unchecked = append(unchecked, x)
		}
	}
	if len(gone) > 0 {
		lost = append(lost, "it no longer states "+provedWords(gone))
	}
	if len(unchecked) > 0 {
		lost = append(lost, "no compile checks "+provedWords(unchecked)+" any more")
	}
	if compiles && other.request != nil && (e.request == nil || !extends(e.request, other.request)) {
		lost = append(lost, "it replays another request")
	}
	return lost
}

// provedWords list what is proved in the order of the words, properties together.
func provedWords(all []proved) string {
	var words, properties []string
	for _, x := range all {
		if x.kind == propertyKind {
			properties = append(properties, gate.Quote(x.name))
		} else {
			words = append(words, x.words())
		}
	}
	slices.Sort(words)
	slices.Sort(properties)
	switch len(properties) {
	case 0:
	case 1:
		words = append(words, propertyKind+" "+properties[0])
	default:
		words = append(words, "the properties "+pack.Joined(properties, "and"))
	}
	return pack.Joined(words, "and")
}

// propertyKind is the kind of what a packet expects of a compile.
const propertyKind = "property"

// packetEvidence returns what a packet proves, of intents by the names that these have now.
func (s *replays) packetEvidence(packet *repo.Packet, renamed map[string]string) evidence {
	e := evidence{
		what: "replay packet", id: packet.ReplayPacketID, content: canonical(asked(packet.Node, "replay_packet_id")), node: packet.Node,
		vital: packet.SourceKind.Value != "golden_case", proves: map[proved]standing{},
	}
	e.state("status", packet.Expected.Status)
	e.state("source_kind", packet.SourceKind)
	e.state("side_effect_policy", packet.SideEffectPolicy)
	if packet.CompiledContextHash.OK && madeWith(packet).Value == compiler.Version {
		e.proves[proved{kind: "compiled_context_hash"}] = stated
	}
	if packet.Expected.DecisionRecordHash.OK {
		e.proves[proved{kind: "decision_record_hash"}] = stated
	}
	r := s.linked(packet)
	if r != nil {
		e.request = requestOf(r.Input, renamed)
	}
	if _, record := s.source(packet.SourceRef); record != nil {
		e.state("source", record.RecordID)
	}
	for _, property := range packet.Expected.Properties.Items {
		s.stateProperty(&e, property, r)
	}
	return e
}

// madeWith returns the compiler that the hash of a packet was made with.
func madeWith(packet *repo.Packet) pack.Text {
	if packet.Meta != nil && !packet.Compiler.OK {
		return packet.Meta.Compiler
	}
	return packet.Compiler
}

// linked returns the compile that shows what a packet says, nil where there is none.
func (s *replays) linked(packet *repo.Packet) *golden.Result {
	r, record := s.source(packet.SourceRef)
	if record != nil {
		r = s.traces[packet.TraceID.Value]
	}
	if r == nil || r.Detail == nil {
		return nil
	}
	return r
}

// stateProperty adds a property of a packet. One that only holds because its pack has
// nothing of the name proves nothing.
func (s *replays) stateProperty(e *evidence, property pack.Text, r *golden.Result) {
	text, negated := strings.CutPrefix(property.Value, "!")
	for _, q := range predicates() {
		name, ok := strings.CutPrefix(text, q.prefix)
		if !ok || name == "" || negated && !slices.Contains(q.known(s), name) {
			continue
		}
		e.proves[proved{propertyKind, property.Value}] = stated
		if r != nil {
			e.proves[proved{propertyKind, property.Value}] = compared
		}
	}
}

// state adds what a text says.
func (e *evidence) state(kind string, value pack.Text) {
	if value.OK {
		e.proves[proved{kind, value.Value}] = stated
	}
}

// recordEvidence returns what a decision record says that happened.
func recordEvidence(record *repo.Record) evidence {
	e := evidence{
		what: "decision record", id: record.RecordID, content: canonical(asked(record.Node, "record_id")), node: record.Node,
		vital: true, proves: map[proved]standing{},
	}
	e.state("decision_key", record.DecisionKey)
	e.state("decision_version", record.DecisionVersion)
	e.state("status", record.Status)
	e.state("intent_ref", record.IntentRef)
	e.state("outcome", record.Outputs.Outcome)
	e.state("trace_id", record.TraceID)
	for _, ref := range record.EvidenceRefs.Items {
		e.state("evidence", ref)
	}
	for _, d := range record.PolicyDecisions.Items {
		for _, id := range d.RuleIDs.Items {
			e.state("rule", id)
		}
	}
	for _, a := range record.Approvals.Items {
		e.state("approval of gate", a.GateID)
		e.state(fmt.Sprintf("approver of gate %s", gate.Quote(a.GateID.Value)), a.Approver)
		if a.ApprovalModeEffective.OK {
			e.state(fmt.Sprintf("approval mode of gate %s", gate.Quote(a.GateID.Value)), a.ApprovalModeEffective)
		}
	}
	for _, id := range record.ControlsActive.ApprovalGatesActive.Items {
		e.state("active gate", id)
	}
	for _, name := range record.ControlsActive.RedactionRulesActive.Items {
		e.state("redaction", name)
	}
	for _, id := range record.SubjectIDs.Items {
		e.state("subject", id)
	}
	return e
}
