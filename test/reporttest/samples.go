package reporttest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/report/model"
)

// Figured returns a pack of which everything is known that metrics are made from.
func Figured() model.Pack {
	share := func(count, of int) *model.Figure {
		return &model.Figure{Value: float64(count) / float64(of), Count: count, Of: of}
	}
	p := Failing()
	p.Coverage = &model.Coverage{Rules: model.Tally{Count: 3, Of: 4}, Else: model.Tally{Count: 0, Of: 0}, Gates: model.Tally{Count: 0, Of: 2}}
	p.Operations = &model.Figures{
		CompileSuccessRate:             share(3, 4),
		ToolSurfaceSize:                []model.SurfaceSize{{Intent: "support.refund", Mean: 2.5, Max: 3, Cases: 2}},
		RuleActivationRate:             share(1, 2),
		RuleActivations:                []model.Activation{{Rule: "R_A", Figure: share(1, 8)}, {Rule: "R_B"}},
		BucketTruncationRate:           []model.Truncation{{Bucket: "policy", Figure: *share(1, 4)}},
		RequiredEvidenceResolutionRate: share(5, 5),
		ReplayDeterminismRate:          share(7, 8),
	}
	p.Golden[0].Base = &model.GoldenBase{Outcome: "compiled", Tokens: []model.TokenStep{{Bucket: "policy", Base: 120, Head: 90}, {Bucket: "tool", Base: 40, Head: 61}}}
	p.Golden[1].Base = &model.GoldenBase{Outcome: "compiled", Tokens: []model.TokenStep{{Bucket: "policy", Base: 10, Head: 20}}}
	p.Golden = append(p.Golden, model.Golden{Case: "unread", Status: "fail"})
	return p
}

// ManyFindings returns a pack whose every text is as long and as bad as can be.
func ManyFindings(n int) model.Pack {
	evil := strings.Repeat("@|`<", 15000)
	p := Other(Huge(n), "many")
	p.Diff = Steps("major", "minor", "2.0.0")
	for i := range p.Findings {
		f := &p.Findings[i]
		f.Message, f.Hint, f.File, f.Witness = evil, evil, evil, map[string]any{"x": evil}
		f.Related = []model.Related{{Message: evil, File: evil}, {Message: evil, File: evil}, {Message: evil, File: evil}, {Message: evil}}
		waived := *f
		waived.Waived = &model.Waived{Reason: evil, Owner: evil, Expires: evil}
		if i%3 == 0 {
			*f = waived
		}
		AddChange(p.Diff, i%10, model.Change{Path: evil, Class: "major", Kind: "changed", Reason: evil, Override: evil, Old: json.RawMessage(`"` + evil + `"`), New: json.RawMessage(`1`)})
		p.Golden = append(p.Golden, model.Golden{Case: evil, File: evil, Status: "fail", Outcome: evil, Problems: []model.Problem{{Message: evil, Hint: evil, File: evil}}})
		p.NotChecked = append(p.NotChecked, model.NotChecked{Rule: evil, Reason: evil})
	}
	return p
}

// sample is one report and its name, which is that of its golden files.
type sample struct {
	Name   string
	Report *model.Report
}

// Samples returns reports of all kinds, each with a name.
func Samples() []sample {
	return []sample{
		{"passing", Run(model.Passed, Clean(model.Passed))},
		{"passing-compared", Compared(Run(model.Passed, WithDiff(Clean(model.Passed), Steps("minor", "minor", ""))))},
		{"failing", Compared(Run(model.Failed, Failing()))},
		{"failing-on-warnings", Run(model.Failed, warned())},
		{"needs-version", Compared(Run(model.Failed, NeedsVersion()))},
		{"all-classes", Compared(Run(model.Rejected, Rejection()))},
		{"golden", Run(model.Failed, Goldens())},
		{"grown", Compared(Run(model.Passed, Grown()))},
		{"grown-and-failing", Compared(Run(model.Failed, GrownAndFailing()))},
		{"measures", Run(model.Failed, Measures())},
		{"no-packs", Compared(Run(model.Passed))},
		{"broken", Outage()},
		{"several", Compared(Run(model.Rejected, Clean(model.Passed), Other(Failing(), "billing"), Other(Rejection(), "refunds")))},
		{"huge", Run(model.Failed, Huge(200))},
		{"unreadable", Run(model.Failed, unreadable())},
		{"published", publishedOne()},
		{"published-several", PublishedSeveral()},
		{"publish-dry-run", publishDry()},
		{"publish-outage", publishOutage()},
	}
}

// Run returns the report of a run over packs.
func Run(result model.Result, packs ...model.Pack) *model.Report {
	code := map[model.Result]int{model.Passed: 0, model.Failed: 1, model.Broken: 3, model.Rejected: 4}[result]
	return &model.Report{
		Version: model.Version, Tool: model.Tool{Name: "packgate", Version: "0.1.0", RulesVersion: "0.1.0"}, Command: "check",
		Result: result, ExitCode: code, Packs: model.PacksOf(packs...), Errors: []model.Problem{}, Notices: []string{}, Summary: model.Summarise(model.PacksOf(packs...)),
	}
}

// Compared returns a report as one of packs that were compared with a base.
func Compared(r *model.Report) *model.Report {
	r.Base = &model.Revision{Ref: "main", SHA: "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"}
	r.Head = &model.Revision{Ref: "feature", SHA: "c9a5b26d4e5f60718293a4b5c6d7e8f901234567",
		BlobURL: "https://github.com/acme/packs/blob/c9a5b26d4e5f60718293a4b5c6d7e8f901234567/"}
	return r
}

// Clean returns a pack in which nothing was found.
func Clean(result model.Result) model.Pack {
	p := model.Pack{
		Pack: "ctxpack.support@1.0.0", Path: packFile, Digest: Digest, Result: result,
		Findings: []model.Finding{}, Golden: []model.Golden{Passes("refund-small"), Passes("refund-large")},
	}
	p.Gates = []model.Gate{
		{Gate: "schema", Title: "Schema", Status: "pass"},
		{Gate: "references", Title: "References", Status: "pass"},
	}
	for _, id := range []string{"policy", "risk", "tenancy", "replay", "evaluation", "security"} {
		p.Gates = append(p.Gates, model.Gate{Gate: id, Title: strings.ToUpper(id[:1]) + id[1:], Status: "not_run", Reason: "not built"})
		p.NotChecked = append(p.NotChecked, model.NotChecked{Gate: id, Reason: "not built"})
	}
	return p
}

// Other returns a pack under another name.
func Other(p model.Pack, name string) model.Pack {
	p.Pack = strings.Replace(p.Pack, "support", name, 1)
	p.Path = "packs/" + name + "/pack.json"
	if p.Diff != nil {
		p.Diff.Base, p.Diff.Head = strings.Replace(p.Diff.Base, "support", name, 1), strings.Replace(p.Diff.Head, "support", name, 1)
	}
	return p
}

// Passes returns a golden case that compiled as expected.
func Passes(name string) model.Golden {
	return model.Golden{
		Case: name, Family: "refunds", File: "packs/support/golden/" + name + ".case.json", Expected: "compiled", Outcome: "compiled",
		Snapshot: "equal", Hash: Digest, Problems: []model.Problem{}, Status: "pass",
	}
}

// Unresolved is a finding with everything that a finding can have.
func Unresolved() model.Finding {
	return model.Finding{
		Rule: "REF003", Name: "unresolved-adapter", Gate: "references", Severity: "error",
		Message: `the permission "p_refund" names the adapter "adp_payment", which does not exist`,
		Hint:    `use "adp_payments", or add the adapter`,
		File:    packFile, Line: 212, Column: 24, EndLine: 212, EndColumn: 37,
		Pointer: "/tooling_layer/permissions/1/adapter_id", Path: "/tooling_layer/permissions/p_refund/adapter_id",
		Related:     []model.Related{{Message: `the adapter "adp_payments" is defined here`, File: packFile, Line: 180, Column: 7, Path: "/tooling_layer/adapters/adp_payments"}},
		Witness:     map[string]any{"intent": "refund", "amount": 3000, "currency": "EUR"},
		Fix:         &model.Fix{Description: `replace "adp_payment" by "adp_payments"`, Patch: []model.Operation{{Op: "replace", Path: "/tooling_layer/permissions/1/adapter_id", Value: json.RawMessage(`"adp_payments"`)}}},
		Fingerprint: "0123456789abcdef0123456789abcdef",
	}
}

// Orphan is a warning.
func Orphan() model.Finding {
	return model.Finding{
		Rule: "REF014", Name: "orphan-gate", Gate: "references", Severity: "warning", Message: `the approval gate "GATE_OLD" is used by nothing`,
		File: packFile, Line: 96, Column: 9, Pointer: "/risk_layer/gates/2", Path: "/risk_layer/gates/GATE_OLD", Fingerprint: "1123456789abcdef0123456789abcdef",
	}
}

// Failing returns a pack with findings that fail it.
func Failing() model.Pack {
	p := Clean(model.Failed)
	excused := Orphan()
	excused.Message, excused.Line, excused.Column = `the ontology term "Parcel" is used by nothing`, 60, 5
	excused.Waived = &model.Waived{Reason: "kept for the shipping pack", Owner: "@acme/support", Expires: "2026-12-31"}
	bad := model.Finding{
		Rule: "SCH003", Name: "schema", Gate: "schema", Severity: "error", Message: `"pack_id" is missing`, File: packFile, Line: 12, Column: 3,
		Pointer: "/pack_meta", Path: "/pack_meta", Fingerprint: "2123456789abcdef0123456789abcdef",
	}
	p.Findings = []model.Finding{Unresolved(), bad, Orphan(), excused}
	p.Gates[0] = model.Gate{Gate: "schema", Title: "Schema", Status: "fail", Errors: 1}
	p.Gates[1] = model.Gate{Gate: "references", Title: "References", Status: "fail", Errors: 1, Warnings: 1}
	p.NotChecked = append(p.NotChecked, model.NotChecked{Gate: "references", Rule: "REF020", Reason: `the environment "prod" has no catalog`, Needs: finding.CatalogOf("prod")},
		model.NotChecked{Gate: "version", Reason: "the base has no such pack"})
	return p
}

func warned() model.Pack {
	p := Clean(model.Failed)
	p.Findings = []model.Finding{Orphan()}
	p.Gates[1].Status, p.Gates[1].Warnings = "warn", 1
	return p
}

// step returns a change of a class in a layer.
func step(layer, what, kind, class, reason, before, after string) model.Change {
	c := model.Change{
		Path: "/" + layer + "/" + what, Pointer: "/" + layer + "/0", Kind: kind, Row: layer + "." + kind, Class: class, Reason: reason,
		File: packFile, Line: 100, Column: 5, BaseLine: 98,
	}
	if before != "" {
		c.Old = json.RawMessage(before)
	}
	if after != "" {
		c.New = json.RawMessage(after)
	}
	return c
}

// Steps returns a comparison with one change.
func Steps(class, declared, required string) *model.Diff {
	d := &model.Diff{Base: "ctxpack.support@1.0.0", Head: "ctxpack.support@1.1.0", Class: class, Declared: declared, RequiredVersion: required}
	for _, name := range []string{"contract_meta", "pack_meta", "intelligence_refs", "business_context", "policy_layer", "tooling_layer", "decision_layer", "memory_layer", "evaluation_layer", "tone_and_comms"} {
		d.Layers = append(d.Layers, model.Layer{Layer: name, Class: "none", Changes: []model.Change{}})
	}
	AddChange(d, 5, step("tooling_layer", "permissions/p_refund/arg_constraints/amount", "changed", class, "a bound is tightened", `{"max":5000}`, `{"max":3000}`))
	return d
}

// AddChange adds a change to a layer.
func AddChange(d *model.Diff, layer int, c model.Change) {
	d.Layers[layer].Changes = append(d.Layers[layer].Changes, c)
	d.Layers[layer].Class = c.Class
}

// WithDiff returns a pack with what differs from its base.
func WithDiff(p model.Pack, d *model.Diff) model.Pack {
	p.Pack, p.Diff = d.Head, d
	return p
}

// tooSmall is the finding about a version step, with the error's place.
func tooSmall(required string) model.Finding {
	return model.Finding{
		Rule: "VER002", Name: "version-step-too-small", Gate: "version", Severity: "error",
		Message: `pack_version "1.1.0" is a minor step from "1.0.0", and the changes are major: removed capability "issue_refund"; the next version is "` + required + `"`,
		Hint:    `set pack_version to "` + required + `"`,
		File:    packFile, Line: 18, Column: 21, EndLine: 18, EndColumn: 28, Pointer: model.VersionPointer, Path: model.VersionPointer,
		Related: []model.Related{{Message: "removed, was here in 1.0.0 (major: a capability is gone)", File: packFile, Line: 188, Column: 11}},
		Fix: &model.Fix{Description: `set pack_version to "` + required + `"`,
			Patch: []model.Operation{{Op: "replace", Path: model.VersionPointer, Value: json.RawMessage(`"` + required + `"`)}}},
		Fingerprint: "3123456789abcdef0123456789abcdef",
	}
}

// NeedsVersion returns a pack whose version is too small a step.
func NeedsVersion() model.Pack {
	p := WithDiff(Clean(model.Failed), Steps("minor", "minor", "2.0.0"))
	p.Diff.Class = "major"
	AddChange(p.Diff, 5, step("tooling_layer", "adapter_registry/adp_payments/capabilities/issue_refund", "removed", "major", "a capability is gone", `{"capability":"issue_refund","approval_mode":"destructive"}`, ""))
	p.Findings = []model.Finding{tooSmall("2.0.0"), Unresolved(), Orphan()}
	p.Gates[1] = model.Gate{Gate: "references", Title: "References", Status: "fail", Errors: 1, Warnings: 1}
	return p
}

// Rejection has changes of all classes, one that needs a person and one whose
// class the config gives.
func Rejection() model.Pack {
	p := WithDiff(Clean(model.Rejected), Steps("minor", "minor", ""))
	d := p.Diff
	d.Class = "reject"
	open := step("pack_meta", "ttl_seconds", "changed", "minor", "a longer life keeps old rules in use", "3600", "7200")
	open.NeedsHumanClass = true
	settled := step("tone_and_comms", "voice/summary", "changed", "patch", "the words of the summary", `"calm"`, `"calm and short"`)
	settled.Override = "tone is reviewed by the support team"
	long := strings.Repeat(`{"var":"request.amount"},`, 20)
	AddChange(d, 1, open)
	AddChange(d, 3, step("business_context", "entities/crm/rationale", "added", "none", "a note", "", `"why"`))
	AddChange(d, 6, step("decision_layer", "decision_specs/refund", "renamed", "minor", "the same content under another identity", `{"decision_key":"refund_old"}`, `{"decision_key":"refund"}`))
	AddChange(d, 4, step("policy_layer", "policy_bundles/b/rules/r1/if", "changed", "major", "the condition moved", `[`+long+`null]`, `[`+long+`true]`))
	AddChange(d, 5, step("tooling_layer", "permissions/p_delete", "added", "reject", "a destructive capability without an approval gate", "", `{"capability":"delete_customer"}`))
	AddChange(d, 9, settled)
	p.Findings = []model.Finding{Unresolved(), {
		Rule: "VER006", Name: "change-rejected", Gate: "version", Severity: "error", Message: "these changes are unsafe under any version: added permission \"p_delete\"",
		Hint: "undo them, or keep the guard that the reason of each one names", File: packFile, Line: 18, Column: 21, Pointer: model.VersionPointer, Path: model.VersionPointer,
		Related:     []model.Related{{Message: "added here (reject: a destructive capability without an approval gate)", File: packFile, Line: 240, Column: 7}},
		Fingerprint: "4123456789abcdef0123456789abcdef",
	}}
	p.Gates[1] = model.Gate{Gate: "references", Title: "References", Status: "fail", Errors: 1}
	return p
}

// Goldens returns a pack with golden cases of all kinds.
func Goldens() model.Pack {
	p := Clean(model.Failed)
	wrong := Passes("refund-over-limit")
	wrong.Outcome, wrong.Snapshot, wrong.Status, wrong.Reason = "escalated", "not_checked", "fail", "a critical variable is missing"
	wrong.Hash = ""
	wrong.Problems = []model.Problem{{
		Message: `expected compiled, but the outcome is escalated: a critical variable is missing`,
		Hint:    "give request.amount a value of the right type in the case, or let the rule ask for it first", File: wrong.File, Line: 22, Column: 16,
	}}
	drifted := Passes("refund-drifted")
	drifted.Snapshot, drifted.Stage, drifted.Status = "drifted", "policy", "fail"
	drifted.Problems = []model.Problem{{Message: "the compiled context differs from the snapshot in 2 places", Hint: "run packgate compile --update and review the change", File: drifted.File}}
	missing := Passes("refund-new")
	missing.Snapshot, missing.Status = "missing", "warning"
	missing.Problems = []model.Problem{{Message: "there is no snapshot", Hint: "run packgate compile --update", File: missing.File}}
	invalid := Passes("日本語-case")
	invalid.Outcome, invalid.Snapshot, invalid.Hash, invalid.Status, invalid.Reason = "", "not_checked", "", "fail", "the case is not valid"
	invalid.Problems = []model.Problem{{Message: `"invoke" is missing`, Hint: "see packgate schema case", File: invalid.File, Line: 1, Column: 1}}
	drifted.Differences = []model.Difference{
		{Path: "/manifests/policy_manifest/B_REFUNDS/rule_ids", Stored: `["R_A"]`, Now: `["R_A","R_B"]`},
		{Path: "/compiled_prompt/context_blocks/pol_1", Now: `{"block_id":"pol_1"}`},
	}
	p.Golden = append(p.Golden, wrong, drifted, missing, invalid)
	// The gates report each of the problems.
	for i, g := range []model.Golden{wrong, drifted, missing, invalid} {
		said := g.Problems[0]
		f := model.Finding{
			Rule: "RPL002", Name: "snapshot-drift", Gate: "replay", Severity: "error", Message: said.Message, Hint: said.Hint,
			File: said.File, Line: said.Line, Column: said.Column, Fingerprint: fmt.Sprintf("6%031x", i),
		}
		if g.Status == "warning" {
			f.Severity = "warning"
		}
		p.Findings = append(p.Findings, f)
	}
	p.Coverage = &model.Coverage{Percent: 60, Rules: model.Tally{Count: 2, Of: 3}, Else: model.Tally{Count: 1, Of: 1}, Gates: model.Tally{Count: 0, Of: 1}, Missing: []model.Part{
		{Kind: "rule", Name: "R_C", File: packFile, Line: 130}, {Kind: "gate", Name: "GATE_OLD", File: packFile, Line: 96},
	}}
	return p
}

// Measures is a pack with overlays, scorecards and a change around it.
func Measures() model.Pack {
	p := Clean(model.Failed)
	number := func(v float64) *float64 { return &v }
	p.Evaluation = []model.Measurement{
		{Intent: "support.refund", Metric: "policy", Target: number(1), Value: number(1), Source: "built-in", Samples: 7, Status: "met"},
		{Intent: "support.refund", Metric: "utility", Target: number(0.9), Value: number(0.853), Source: "packs/support/scorecards/a|b.json", Samples: 400,
			Baseline: number(0.91), Delta: number(0.057), MaxDelta: number(0.02), Status: "missed"},
		{Intent: "support.refund", Metric: "latency_p99_ms", Target: number(3000), Status: "not_measured"},
	}
	p.Overlays = []model.Overlay{
		{Overlay: "staging", Environment: "staging", File: "packs/support/overlays/staging.json", Settings: 2, Cases: 1},
		{Overlay: "prod-eu", Environment: "prod", File: "packs/support/overlays/prod-eu.json", Settings: 1, Errors: 1},
	}
	p.Environments = Environments()
	p.Triggers = []model.Trigger{{Kind: "ADAPTER_SCHEMA_UPDATED", What: `endpoint "internal://orders" was removed`, File: "environments/prod.json", Path: "/endpoints"}}
	p.Findings = []model.Finding{{
		Rule: "EVL007", Name: "target-missed", Gate: "evaluation", Severity: "error", Message: "utility is 0.853 and the target 0.9",
		Hint: "raise it", File: packFile, Line: 290, Column: 9, Fingerprint: "7123456789abcdef0123456789abcdef",
	}}
	return p
}

// Outage returns a report of a run that could not be finished.
func Outage() *model.Report {
	r := Run(model.Broken, Clean(model.Passed))
	r.Errors = []model.Problem{
		{Message: `there is no revision "mian"`, Hint: `use "main"`},
		{Message: `"severity" is "fatal", wanted one of "error", "warning"`, File: ".packgate.yaml", Line: 4, Column: 15},
	}
	r.Notices = []string{".packgate.yaml differs from the base; the base's config, waivers and severities are in force until this is merged"}
	return r
}

// Huge has that many findings, half of them warnings.
func Huge(n int) model.Pack {
	p := Clean(model.Failed)
	for i := range n {
		f := Unresolved()
		if i%2 == 1 {
			f = Orphan()
		}
		f.Line = i + 1
		f.Fingerprint = fmt.Sprintf("%032x", i)
		p.Findings = append(p.Findings, f)
	}
	p.Gates[1] = model.Gate{Gate: "references", Title: "References", Status: "fail", Errors: n / 2, Warnings: n / 2}
	return p
}

func unreadable() model.Pack {
	p := Clean(model.Failed)
	p.Pack, p.Digest, p.Golden, p.NotChecked = "", "", []model.Golden{}, []model.NotChecked{}
	for i := range p.Gates[1:] {
		p.Gates[i+1].Status, p.Gates[i+1].Reason = "not_run", "the pack could not be read"
		p.NotChecked = append(p.NotChecked, model.NotChecked{Gate: p.Gates[i+1].Gate, Reason: "the pack could not be read"})
	}
	p.Findings = []model.Finding{{Rule: "SCH001", Name: "json", Gate: "schema", Severity: "error", Message: `the value ends too early, wanted ","`,
		File: packFile, Line: 7, Column: 2, Fingerprint: "5123456789abcdef0123456789abcdef"}}
	p.Gates[0] = model.Gate{Gate: "schema", Title: "Schema", Status: "fail", Errors: 1}
	return p
}

// Odd is a pack with what JSON would not keep apart: absent and empty, texts that are
// no UTF-8, numbers of several types.
func Odd() model.Pack {
	zero := 0.0
	p := Clean(model.Failed)
	p.Path = "packs/\xff/pack.json"
	p.Gates, p.Golden, p.NotChecked, p.Fixed = nil, []model.Golden{}, []model.NotChecked{}, []model.Finding{}
	p.Evaluation = []model.Measurement{{Target: &zero, Value: nil, Samples: -1}}
	p.Findings = []model.Finding{
		{Witness: map[string]any{}},
		{Witness: map[string]any{
			"a": json.Number("1.0"), "b": 1e21, "c": -3, "d": []any(nil), "e": []any{}, "f": map[string]any(nil), "g": nil,
			"h": []any{true, false, "\xfe", map[string]any{"": ""}},
		}},
		{Fix: &model.Fix{Patch: []model.Operation{{Value: json.RawMessage("null")}, {Value: json.RawMessage{}}, {}}}},
	}
	return p
}
