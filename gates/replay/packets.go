package replay

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// RPL008: what happened once would happen again.
var RPL008 = &gate.Rule{
	ID: "RPL008", Name: "replay-mismatch", Severity: finding.Error,
	Title: "Replay packets and earlier decisions still hold",
	Doc: "A replay packet keeps a run that mattered: an incident, an operator's correction, a case that must never change. A " +
		"decision record keeps what was decided, on what evidence and with whose approval. A pack that changes their results " +
		"undoes what was learned.\n\n" +
		"For a packet, `source_ref` names a golden case (`golden/NAME.case.json`) or a decision record " +
		"(`replay/ID.record.json`, or its `record_id`). `expected.status` is the outcome of the case, or the status of the " +
		"record; `decision_record_hash` is the digest of the record's file or of its canonical form. `expected.properties` are " +
		"compared with the compile, for a record with that of the golden case with the same trace: `tool:ADAPTER.CAPABILITY` is " +
		"surfaced, `gate:ID` is active, `rule:ID` fired, `denied:KEY` is denied, each with `!` for the opposite. The hash is " +
		"compared if the packet or its `.meta.json` states that this compiler made it. A run of an earlier version may have " +
		"another hash; that is listed as not checked.\n\n" +
		"For a record, the pack must still have its decision, allow its outcome, pin its evidence, and have its rules, tools " +
		"and gates. Requests must still be able to have the tools, and the approvals that were given must still be requested.\n\n" +
		"If the change is intended, write the packet again and give the reason in the review. If not, correct the pack.",
	Bad:   `{"source_ref": "golden/refund.case.json", "expected": {"status": "compiled", "properties": ["gate:GATE_FINANCE_APPROVAL"]}, "compile": {"approval_gates_active": []}}`,
	Good:  `{"source_ref": "golden/refund.case.json", "expected": {"status": "compiled", "properties": ["gate:GATE_FINANCE_APPROVAL"]}, "compile": {"approval_gates_active": ["GATE_FINANCE_APPROVAL"]}}`,
	Check: checkReplays,
}

func checkReplays(p *gate.Pass) {
	if len(p.Unit.Packets) == 0 && len(p.Unit.Records) == 0 {
		p.NotApplicable(finding.Input{Kind: finding.ReplayPacket}, "there is no replay packet and no decision record")
		return
	}
	s := newReplays(p)
	for _, packet := range p.Unit.Packets {
		s.packet(packet)
	}
	for _, record := range p.Unit.Records {
		s.record(record)
	}
}

// replays checks the packets and records of a pack.
type replays struct {
	notes
	results map[string]*golden.Result // by the case's name within the pack's folder
	traces  map[string]*golden.Result // compiled ones by trace_id, the first of each
	records map[string]*repo.Record   // by their name within the pack's folder
	byID    map[string]*repo.Record   // by record_id, the first of each
	tools   []string                  // in registry order
	rules   map[string]*gate.RuleRef
	bundles map[bundleRule]bool
	intents map[string]bool
	*prospect
	near *gate.Budget
}

// bundleRule is a rule of a bundle, or the bundle itself where there is no rule.
type bundleRule struct{ bundle, rule string }

func newReplays(p *gate.Pass) *replays {
	s := &replays{
		notes: notes{Pass: p}, results: map[string]*golden.Result{}, traces: map[string]*golden.Result{}, records: map[string]*repo.Record{}, byID: map[string]*repo.Record{},
		tools: toolNames(p), rules: map[string]*gate.RuleRef{}, bundles: map[bundleRule]bool{}, intents: map[string]bool{},
		prospect: &prospect{model: p.Proof(), answers: map[string]jsonlogic.Answer{}}, near: gate.NewBudget(),
	}
	results := p.Golden()
	for i := range results {
		s.addResult(&results[i])
	}
	for _, record := range p.Unit.Records {
		s.records[p.Unit.Within(record.Name)] = record
		if id := record.RecordID; id.OK && s.byID[id.Value] == nil {
			s.byID[id.Value] = record
		}
	}
	for _, r := range slices.Backward(p.Rules) { // the first of a name counts
		s.rules[r.RuleID.Value] = &r
		s.bundles[bundleRule{r.Bundle.BundleID.Value, r.RuleID.Value}] = true
	}
	for _, b := range p.Pack.PolicyLayer.PolicyBundles.Items {
		s.bundles[bundleRule{bundle: b.BundleID.Value}] = true
	}
	for _, intent := range p.Pack.Intents() {
		s.intents[intent.Value] = true
	}
	return s
}

func (s *replays) addResult(r *golden.Result) {
	if r.Input == nil {
		return
	}
	s.results[s.Unit.Within(r.Input.Name)] = r
	if trace := r.Input.RunContext.Get("trace_id"); trace != nil && r.Detail != nil && s.traces[trace.Text] == nil {
		s.traces[trace.Text] = r
	}
}

// mostItems is how many items of one list are looked at. No real packet or record
// has as many.
const mostItems = 1000

// first returns the items of a list that are looked at, and notes that there are
// more.
func first[T any](s *replays, file *repo.SideFile, what string, items []T) []T {
	if len(items) > mostItems {
		s.unchecked("%s: only the first %d %s are looked at", s.Unit.Within(file.Name), mostItems, what)
		return items[:mostItems]
	}
	return items
}

// fault reports a fault of a replay file.
func (s *replays) fault(file *repo.SideFile, d gate.Diagnostic) {
	s.Report(d.Keyed(s.Unit.Within(file.Name)))
}

// packet checks one packet against what it was made from.
func (s *replays) packet(packet *repo.Packet) {
	name := s.Unit.Within(packet.Name)
	s.ownPack(packet.SideFile, packet.ContextPackRef)
	ref := packet.SourceRef
	if !ref.OK {
		return // the schema gate's
	}
	result, record := s.source(ref)
	switch {
	case result != nil && result.Detail == nil:
		s.unchecked("%s: case %s could not be compiled", name, gate.Quote(ref.Value))
	case result != nil:
		s.status(packet, string(result.Outcome), outcomes, caseOf(result))
		s.against(packet, result)
	case record != nil:
		if record.Status.OK { // else the schema gate's
			s.status(packet, record.Status.Value, nil, gate.See(record.Status.Node, "the record"))
		}
		s.recordHash(packet, record)
		if linked := s.traces[packet.TraceID.Value]; packet.TraceID.OK && linked != nil {
			s.against(packet, linked)
		} else {
			s.unchecked("%s: no golden case has the trace of the packet, so its hash and properties have no compile to be compared with", name)
		}
	case sourceRef().MatchString(ref.Value):
		s.fault(packet.SideFile, gate.Faultf(ref.Node, s.chooseSource(ref.Value), "source_ref %s names no golden case and no decision record of this pack", gate.Quote(ref.Value)))
	default:
		s.unchecked("%s: source_ref %s is neither golden/NAME.case.json nor replay/ID.record.json, nor a record_id", name, gate.Quote(ref.Value))
	}
}

// source returns what a packet was made from: a golden case or a decision record by its
// file, or a record by its id; nil for both where it is neither.
func (s *replays) source(ref pack.Text) (*golden.Result, *repo.Record) {
	record := s.records[ref.Value]
	if record == nil {
		record = s.byID[ref.Value]
	}
	return s.results[ref.Value], record
}

// sourceRef is what a packet's source looks like: a golden case, a decision record, or
// the id of one. A packet is made from no packet.
var sourceRef = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?s:golden/.*\.case\.json|replay/.*\.(record|packet)\.json|(dr|rp)_.*)$`)
})

// chooseSource is the hint for a source that is not there.
func (s *replays) chooseSource(ref string) string {
	names := slices.Sorted(maps.Keys(s.results))
	names = slices.Sorted(slices.Values(slices.AppendSeq(slices.AppendSeq(names, maps.Keys(s.records)), maps.Keys(s.byID))))
	return gate.Choose(s.near.Nearest(ref, names), names, "add the file", gate.List)
}

// outcomes are the statuses of a compile.
var outcomes = []string{string(compiler.Compiled), string(compiler.PolicyEvalError), string(compiler.Refused)}

func caseOf(r *golden.Result) []finding.Related {
	return gate.See(pack.Place(r.Input.Case.Node, r.Input.Node), "the golden case")
}

// ownPack checks that a replay file is about this pack, in whatever version.
func (s *replays) ownPack(file *repo.SideFile, ref pack.Text) {
	own := s.Pack.PackMeta.PackID
	id, _, _ := strings.Cut(ref.Value, "@")
	if ref.OK && own.OK && id != own.Value {
		s.fault(file, gate.Faultf(ref.Node, "move the file to the pack that it is about",
			"%s is about another pack than %s", gate.Quote(ref.Value), gate.Quote(own.Value)).See(own.Node, "the id of this pack"))
	}
}

// status checks the expected status against the one there is. The choices are
// those for a compile; nil where they are a record's own.
func (s *replays) status(packet *repo.Packet, have string, choices []string, source []finding.Related) {
	want := packet.Expected.Status
	switch {
	case !want.OK || want.Value == have:
	case choices != nil && !slices.Contains(choices, want.Value):
		s.fault(packet.SideFile, gate.Faultf(want.Node, "write one of "+gate.List(choices), "expected status %s is not an outcome of a compile", gate.Quote(want.Value)).Beside(source))
	default:
		s.fault(packet.SideFile, gate.Faultf(want.Node, "write the new status if the change is intended; otherwise fix the pack",
			"the packet expects status %s, and it is %s", gate.Quote(want.Value), gate.Quote(have)).Beside(source))
	}
}

// recordHash checks the digest of the record that a packet was made from.
func (s *replays) recordHash(packet *repo.Packet, record *repo.Record) {
	want := packet.Expected.DecisionRecordHash
	if !want.OK {
		return
	}
	bytes := pack.DigestOf(record.Document.Source)
	canonical, err := record.Document.CanonicalDigest()
	switch {
	case want.Value == string(bytes) || err == nil && want.Value == string(canonical):
	case record.RecordHash.OK && want.Value == record.RecordHash.Value:
		s.unchecked("%s: decision_record_hash is the record_hash that the record states, which cannot be computed again", s.Unit.Within(packet.Name))
	default:
		s.fault(packet.SideFile, gate.Faultf(want.Node, "restore the record, or write the digest of the changed one",
			"decision_record_hash is %s, and the record has digest %s, in canonical form %s", gate.QuoteDigest(want.Value), bytes, canonical).See(pack.Place(record.RecordID.Node, record.Node), "the record"))
	}
}

// against checks a packet against a compile of its request.
func (s *replays) against(packet *repo.Packet, r *golden.Result) {
	s.hash(packet, r)
	for _, property := range first(s, packet.SideFile, "properties", packet.Expected.Properties.Items) {
		if property.OK {
			s.property(packet, property, r)
		}
	}
}

// hash compares the packet's hash, where it was made with this compiler.
func (s *replays) hash(packet *repo.Packet, r *golden.Result) {
	want, name := packet.CompiledContextHash, s.Unit.Within(packet.Name)
	made := madeWith(packet)
	switch {
	case !want.OK:
	case !made.OK:
		s.unchecked("%s: it is not stated that compiled_context_hash was made with %s", name, compiler.Version)
	case made.Value != compiler.Version:
		s.unchecked("%s: compiled_context_hash was made with %s and not with %s", name, gate.Quote(made.Value), compiler.Version)
	case r.Hash == "":
		s.unchecked("%s: nothing was compiled that the hash could be compared with", name)
	case want.Value == r.Hash:
	case packet.ContextPackRef.Value != ownRef(s.Pass):
		s.unchecked("%s: the hash is that of %s, under which the request compiled to something else", name, gate.Quote(packet.ContextPackRef.Value))
	default:
		s.fault(packet.SideFile, gate.Faultf(want.Node, fmt.Sprintf("see packgate compile %s --case %q, and write the new hash if the change is intended", s.Unit.Document.File, r.Case),
			"compiled_context_hash is %s, and the request compiles to %s", gate.QuoteDigest(want.Value), r.Hash).Beside(caseOf(r)))
	}
}
