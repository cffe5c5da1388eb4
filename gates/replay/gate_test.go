package replay

import (
	"reflect"
	"slices"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.RunWith(t, Gate, check) }

// RPL017 is kept for compilers other than packgate's.
func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "RPL", 17) }

// check runs a rule as it is. No pack makes the three rules fire that look at
// packgate itself: there, a golden case whose name is in broken is compiled and its
// compile then broken, as a fault of packgate would have it.
func check(t *testing.T, r *gate.Rule, s *gate.Subject) ([]finding.Finding, []finding.NotChecked) {
	p := gate.NewPass(s, Gate, r)
	kinds := map[*gate.Rule]golden.Kind{RPL001: golden.KindDeterminism, RPL003: golden.KindTruncation, RPL005: golden.KindCeiling}
	results := slices.Clone(s.Golden())
	some := false
	for i := range results {
		if breakIt := broken[results[i].Case]; breakIt != nil && kinds[r] != "" {
			some = true
			results[i].Problems = brokenCompile(t, &results[i], breakIt)
		}
	}
	if some {
		tell(p, results, kinds[r])
	} else {
		r.Check(p)
	}
	return p.Results()
}

// broken are the ways in which a compile can be broken.
var broken = map[string]func(*compiler.Result){
	"another-stage":  func(r *compiler.Result) { r.Stages[2].Hash = "sha256:0" },
	"another-ending": func(r *compiler.Result) { r.Outcome, r.Stop = compiler.Refused, &compiler.Stop{Reason: "no reason"} },
	"another-byte":   func(r *compiler.Result) { r.Context.ContextLedger.RequestID += " " },
	"not-listed": func(r *compiler.Result) {
		r.Context.BudgetReport.DroppedBlockIDs[slices.Index(compiler.Buckets(), compiler.BucketEvidence)] = []string{"ev_0"}
	},
	"not-marked":    func(r *compiler.Result) { r.Context.BudgetReport.BucketTruncations = compiler.Flags{} },
	"not-in-ledger": func(r *compiler.Result) { r.Context.ContextLedger.Budget.TruncatedBuckets = nil },
	"not-warned":    func(r *compiler.Result) { r.Context.BudgetReport.Warnings = nil },
	"block-gone": func(r *compiler.Result) {
		r.Context.CompiledPrompt.ContextBlocks = r.Context.CompiledPrompt.ContextBlocks[1:]
	},
	"above-ceiling": func(r *compiler.Result) {
		r.Context.Manifests.ToolManifest = append(r.Context.Manifests.ToolManifest, compiler.ToolEntry{AdapterID: "adp_payments", Capabilities: []string{"issue_refund"}})
	},
	"from-nowhere": func(r *compiler.Result) {
		r.Context.Manifests.ToolManifest = append(r.Context.Manifests.ToolManifest, compiler.ToolEntry{AdapterID: "adp_crm", Capabilities: []string{"read"}})
	},
}

// brokenCompile returns the problems of a compile once it was broken.
func brokenCompile(t *testing.T, r *golden.Result, breakIt func(*compiler.Result)) []golden.Problem {
	t.Helper()
	if r.Detail == nil || r.Detail.Context == nil || len(r.Problems) > 0 && r.Problems[0].Severity == finding.Error {
		t.Fatalf("case %s does not compile as it is: %v", r.Case, r.Problems)
	}
	changed, context := *r.Detail, *r.Detail.Context
	changed.Stages, changed.Context = slices.Clone(changed.Stages), &context
	breakIt(&changed)
	runContext, _ := r.Input.RunContext.Any().(map[string]any)
	request := compiler.Request{RunContext: runContext}
	for _, e := range r.Input.Evidence.Items {
		request.Evidence = append(request.Evidence, compiler.Evidence{Ref: e.EvidenceRef.Value})
	}
	problems := append(golden.Repeated(r.Detail, &changed, r.Compiled), golden.Audit(supportPack(t), request, &changed)...)
	for i := range problems {
		problems[i].Location = r.Location
	}
	return problems
}

func supportPack(t *testing.T) *pack.Pack {
	t.Helper()
	return pack.New(gatetest.Read(gatetest.PackFile, gatetest.Support()))
}

// The example repository gives no finding, and everything in it is checked.
func TestExampleIsClean(t *testing.T) { gatetest.Clean(t, Gate, gatetest.Example(t)) }

// What is beside a pack of which every rule has something to look at.
const (
	production = `{"environment": "prod", "snapshots": {"prod": "kg_2026_05_03_T0930"}}`

	refund = `{"case": "refund", "family": "allowed", "environment": "prod",
		"invoke": {"request_id": "r", "tenant_id": "tenant_acme_prod", "user": {"user_id": "u", "role": "support_agent"}, "agent": {"agent_id": "a"},
			"context_pack_refs": ["ctxpack.support@1.0.0"], "input": {"intent": "support.refund", "message": "Refund it.", "context": {"identity_verified": true, "refund_amount": 4200}},
			"mode": "stream", "runtime": {}, "trace": {"trace_id": "trace_1", "span_id": "s"}},
		"run_context": {"run_id": "r", "trace_id": "trace_1", "tenant_id": "tenant_acme_prod", "user": {"user_id": "u", "role": "support_agent"}, "agent": {"agent_id": "a"}, "safety_mode": "destructive", "run_budget": {}},
		"evidence": [{"evidence_ref": "kg:order:o#snapshot_kg_2026_05_03_T0930", "content": "An order."}],
		"expect": {"outcome": "compiled", "tools": ["adp_orders.lookup", "adp_policy.eval", "adp_payments.issue_refund"], "gates": ["GATE_FINANCE_APPROVAL"],
			"denied": [], "rules": ["R_REFUND_REQUIRES_IDV", "R_HIGH_VALUE_REQUIRES_APPROVAL"], "assertions": [{"!": [{"var": "budget_report.warnings"}]}]}}`

	packet = `{"replay_packet_id": "rp_1", "trace_id": "trace_1", "source_kind": "golden_case", "source_ref": "golden/a.case.json", "context_pack_ref": "ctxpack.support@1.0.0",
		"compiled_context_hash": "sha256:0", "compiler": "packgate.compile.v1", "side_effect_policy": "transcript_only",
		"expected": {"status": "compiled", "properties": ["tool:adp_payments.issue_refund", "gate:GATE_FINANCE_APPROVAL", "rule:R_REFUND_REQUIRES_IDV", "!denied:support.refund.execute"]}}`

	record = `{"record_id": "dr_1", "decision_key": "support.refund.execute", "decision_version": "1.0.0", "status": "DECIDED", "actor": {"type": "AGENT", "id": "a"},
		"intent_ref": "support.refund", "outputs": {"outcome": "approved"}, "trace_id": "trace_1",
		"evidence_refs": ["kg:order:o#snapshot_kg_2026_05_03_T0930", "tool:adp_payments.issue_refund:1", "policy:POLICY_RETURNS_V4#R_REFUND_REQUIRES_IDV"],
		"policy_decisions": [{"policy_decision_id": "p", "rule_ids": ["R_REFUND_REQUIRES_IDV"]}],
		"approvals": [{"gate_id": "GATE_FINANCE_APPROVAL", "approver": "u", "approval_mode_effective": "destructive"}],
		"controls_active": {"approval_gates_active": ["GATE_FINANCE_APPROVAL"]}}`

	rows = `{"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup", "approval_mode": "read_only"},
		{"intent": "support.refund", "capability": "adp_payments.issue_refund", "approval_mode": "destructive", "gates": ["GATE_FINANCE_APPROVAL"], "arg_constraints": {"amount_inr": {"max": 50000}}}]}`
)

// Names of the files that are added to what gatetest makes.
const (
	packetFile = "replay/rp_1.packet.json"
	recordFile = "replay/dr_1.record.json"
	rowsFile   = "tool-surface.json"
)

// subject returns what the rules see of a pack with all of these files.
func subject(src []byte, documents ...string) *gate.Subject {
	s := gatetest.Surroundings{Catalog: production, Case: documents[0]}.Subject(src)
	side := func(kind, name, source string) *repo.SideFile {
		f := &repo.SideFile{Kind: kind, Name: name, Document: gatetest.Read(name, []byte(source))}
		s.Unit.Files = append(s.Unit.Files, f)
		return f
	}
	if f := side("replay-packet", packetFile, documents[1]); f.Document.Root != nil {
		one := &repo.Packet{SideFile: f}
		pack.Decode(f.Document.Root, one)
		s.Unit.Packets = append(s.Unit.Packets, one)
	}
	if f := side("decision-record", recordFile, documents[2]); f.Document.Root != nil {
		one := &repo.Record{SideFile: f}
		pack.Decode(f.Document.Root, one)
		s.Unit.Records = append(s.Unit.Records, one)
	}
	if f := side("tool-surface", rowsFile, documents[3]); f.Document.Root != nil {
		s.Unit.Surface = &repo.ToolSurface{SideFile: f}
		pack.Decode(f.Document.Root, s.Unit.Surface)
	}
	return s
}

// holds checks what is true of any pack with any files: all that is found has words
// and a place, and no golden case fails without an error of this gate or of the
// schema gate. Two runs, if there are to be two, find the same.
func holds(t *testing.T, twice bool, src []byte, documents ...string) {
	t.Helper()
	s := subject(src, documents...)
	if s.Pack == nil {
		return
	}
	files := []string{gatetest.PackFile, gatetest.CaseFile, packetFile, recordFile, rowsFile}
	found, unchecked := gatetest.Judge(Gate, s)
	if twice {
		again, uncheckedAgain := gatetest.Judge(Gate, subject(src, documents...))
		if !reflect.DeepEqual(found, again) || !slices.Equal(unchecked, uncheckedAgain) {
			t.Errorf("two runs differ over %s", src)
		}
	}
	for _, f := range found {
		if f.Message == "" || f.Hint == "" || !slices.Contains(files, f.Location.File) || f.Location.End.Offset <= f.Location.Start.Offset {
			t.Errorf("%s lacks words or a place: %+v", f.Rule, f)
		}
	}
	for _, r := range s.Golden() {
		if r.Status == golden.Fail && !isReported(s, &r, found) {
			t.Errorf("case %s fails and no gate says so: %v", r.Case, r.Problems)
		}
	}
}

// isReported reports whether the reasons for which a case fails are findings.
func isReported(s *gate.Subject, r *golden.Result, found []finding.Finding) bool {
	invalid := slices.ContainsFunc(r.Problems, func(p golden.Problem) bool { return p.Kind == golden.KindInvalid })
	if invalid {
		found, _ = gatetest.Judge(schema.Gate, s)
	}
	return slices.ContainsFunc(found, func(f finding.Finding) bool {
		return f.Severity == finding.Error && (f.Location.File == r.File || slices.ContainsFunc(r.Problems, func(p golden.Problem) bool {
			return p.Severity == finding.Error && p.Location == f.Location
		}))
	})
}

func TestMutations(t *testing.T) {
	mutants := 0
	gatetest.Mutants(t, func(src []byte) {
		mutants++
		holds(t, mutants%8 == 0, src, refund, packet, record, rows)
	})
}

// The same for each of the files beside the pack.
func TestFileMutations(t *testing.T) {
	files := []string{refund, packet, record, rows}
	mutants := 0
	for i := range files {
		doc := gatetest.Read(gatetest.PackFile, []byte(files[i]))
		for _, n := range gatetest.Below(doc.Root) {
			for _, value := range []string{"", `null`, `7`, `"x"`, `""`, `[]`, `{}`, `["x", null]`} {
				op := finding.Operation{Op: "replace", Path: n.Pointer(), Value: value}
				if value == "" {
					op.Op = "remove"
				}
				changed := slices.Clone(files)
				changed[i] = string(gatetest.Edit(t, []byte(files[i]), op))
				holds(t, mutants%8 == 0, gatetest.Support(), changed...)
				mutants++
			}
		}
	}
	if mutants < 500 {
		t.Errorf("only %d mutants", mutants)
	}
}

func FuzzRules(f *testing.F) {
	f.Add(gatetest.Support(), refund, packet, record, rows)
	f.Add(gatetest.Support(), "{}", "[]", "7", "")
	f.Fuzz(func(t *testing.T, src []byte, a, b, c, d string) { holds(t, true, src, a, b, c, d) })
}
