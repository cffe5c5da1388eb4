package report

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Reports made by hand, one for each thing that a report can have to say.

const (
	packFile = "packs/support/pack.json"
	digest   = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

// sample is one report and its name, which is that of its golden files.
type sample struct {
	name   string
	report *Report
}

func samples() []sample {
	return []sample{
		{"passing", run(Passed, clean(Passed))},
		{"passing-compared", compared(run(Passed, withDiff(clean(Passed), steps("minor", "minor", ""))))},
		{"failing", compared(run(Failed, failing()))},
		{"failing-on-warnings", run(Failed, warned())},
		{"needs-version", compared(run(Failed, needsVersion()))},
		{"all-classes", compared(run(Rejected, rejection()))},
		{"golden", run(Failed, goldens())},
		{"grown", compared(run(Passed, grown()))},
		{"grown-and-failing", compared(run(Failed, grownAndFailing()))},
		{"measures", run(Failed, measures())},
		{"no-packs", compared(run(Passed))},
		{"broken", outage()},
		{"several", compared(run(Rejected, clean(Passed), other(failing(), "billing"), other(rejection(), "refunds")))},
		{"huge", run(Failed, huge(200))},
		{"unreadable", run(Failed, unreadable())},
		{"published", publishedOne()},
		{"published-several", publishedSeveral()},
		{"publish-dry-run", publishDry()},
		{"publish-outage", publishOutage()},
	}
}

// run returns the report of a run over packs.
func run(result Result, packs ...Pack) *Report {
	code := map[Result]int{Passed: 0, Failed: 1, Broken: 3, Rejected: 4}[result]
	return &Report{
		Version: ModelVersion, Tool: Tool{Name: "packgate", Version: "0.1.0", RulesVersion: "0.1.0"}, Command: "check",
		Result: result, ExitCode: code, Packs: PacksOf(packs...), Errors: []Problem{}, Notices: []string{}, Summary: Summarise(PacksOf(packs...)),
	}
}

func compared(r *Report) *Report {
	r.Base = &Revision{Ref: "main", SHA: "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"}
	r.Head = &Revision{Ref: "feature", SHA: "c9a5b26d4e5f60718293a4b5c6d7e8f901234567",
		BlobURL: "https://github.com/acme/packs/blob/c9a5b26d4e5f60718293a4b5c6d7e8f901234567/"}
	return r
}

// clean returns a pack in which nothing was found.
func clean(result Result) Pack {
	p := Pack{
		Pack: "ctxpack.support@1.0.0", Path: packFile, Digest: digest, Result: result,
		Findings: []Finding{}, Golden: []Golden{passes("refund-small"), passes("refund-large")},
	}
	p.Gates = []Gate{
		{Gate: "schema", Title: "Schema", Status: "pass"},
		{Gate: "references", Title: "References", Status: "pass"},
	}
	for _, id := range []string{"policy", "risk", "tenancy", "replay", "evaluation", "security"} {
		p.Gates = append(p.Gates, Gate{Gate: id, Title: strings.ToUpper(id[:1]) + id[1:], Status: "not_checked", Reason: "not built"})
		p.NotChecked = append(p.NotChecked, NotChecked{Gate: id, Reason: "not built"})
	}
	return p
}

func other(p Pack, name string) Pack {
	p.Pack = strings.Replace(p.Pack, "support", name, 1)
	p.Path = "packs/" + name + "/pack.json"
	if p.Diff != nil {
		p.Diff.Base, p.Diff.Head = strings.Replace(p.Diff.Base, "support", name, 1), strings.Replace(p.Diff.Head, "support", name, 1)
	}
	return p
}

func passes(name string) Golden {
	return Golden{
		Case: name, Family: "refunds", File: "packs/support/golden/" + name + ".case.json", Expected: "compiled", Outcome: "compiled",
		Snapshot: "equal", Hash: digest, Problems: []Problem{}, Status: "pass",
	}
}

// unresolved is a finding with everything that a finding can have.
func unresolved() Finding {
	return Finding{
		Rule: "REF003", Name: "unresolved-adapter", Gate: "references", Severity: "error",
		Message: `the permission "p_refund" names the adapter "adp_payment", which does not exist`,
		Hint:    `use "adp_payments", or add the adapter`,
		File:    packFile, Line: 212, Column: 24, EndLine: 212, EndColumn: 37,
		Pointer: "/tooling_layer/permissions/1/adapter_id", Path: "/tooling_layer/permissions/p_refund/adapter_id",
		Related:     []Related{{Message: `the adapter "adp_payments" is defined here`, File: packFile, Line: 180, Column: 7, Path: "/tooling_layer/adapters/adp_payments"}},
		Witness:     map[string]any{"intent": "refund", "amount": 3000, "currency": "EUR"},
		Fix:         &Fix{Description: `replace "adp_payment" by "adp_payments"`, Patch: []Operation{{Op: "replace", Path: "/tooling_layer/permissions/1/adapter_id", Value: json.RawMessage(`"adp_payments"`)}}},
		Fingerprint: "0123456789abcdef0123456789abcdef",
	}
}

func orphan() Finding {
	return Finding{
		Rule: "REF014", Name: "orphan-gate", Gate: "references", Severity: "warning", Message: `the approval gate "GATE_OLD" is used by nothing`,
		File: packFile, Line: 96, Column: 9, Pointer: "/risk_layer/gates/2", Path: "/risk_layer/gates/GATE_OLD", Fingerprint: "1123456789abcdef0123456789abcdef",
	}
}

func failing() Pack {
	p := clean(Failed)
	excused := orphan()
	excused.Message, excused.Line, excused.Column = `the ontology term "Parcel" is used by nothing`, 60, 5
	excused.Waived = &Waived{Reason: "kept for the shipping pack", Owner: "@acme/support", Expires: "2026-12-31"}
	bad := Finding{
		Rule: "SCH003", Name: "schema", Gate: "schema", Severity: "error", Message: `"pack_id" is missing`, File: packFile, Line: 12, Column: 3,
		Pointer: "/pack_meta", Path: "/pack_meta", Fingerprint: "2123456789abcdef0123456789abcdef",
	}
	p.Findings = []Finding{unresolved(), bad, orphan(), excused}
	p.Gates[0] = Gate{Gate: "schema", Title: "Schema", Status: "fail", Errors: 1}
	p.Gates[1] = Gate{Gate: "references", Title: "References", Status: "fail", Errors: 1, Warnings: 1}
	p.NotChecked = append(p.NotChecked, NotChecked{Gate: "references", Rule: "REF020", Reason: `the environment "prod" has no catalog`},
		NotChecked{Gate: "version", Reason: "the base has no such pack"})
	return p
}

func warned() Pack {
	p := clean(Failed)
	p.Findings = []Finding{orphan()}
	p.Gates[1].Status, p.Gates[1].Warnings = "warnings", 1
	return p
}

// step returns a change of a class in a layer.
func step(layer, what, kind, class, reason, before, after string) Change {
	c := Change{
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

// steps returns a comparison with one change.
func steps(class, declared, required string) *Diff {
	d := &Diff{Base: "ctxpack.support@1.0.0", Head: "ctxpack.support@1.1.0", Class: class, Declared: declared, RequiredVersion: required}
	for _, name := range []string{"contract_meta", "pack_meta", "intelligence_refs", "business_context", "policy_layer", "tooling_layer", "decision_layer", "memory_layer", "evaluation_layer", "tone_and_comms"} {
		d.Layers = append(d.Layers, Layer{Layer: name, Class: "none", Changes: []Change{}})
	}
	addChange(d, 5, step("tooling_layer", "permissions/p_refund/arg_constraints/amount", "changed", class, "a bound is tightened", `{"max":5000}`, `{"max":3000}`))
	return d
}

// change adds a change to a layer.
func addChange(d *Diff, layer int, c Change) {
	d.Layers[layer].Changes = append(d.Layers[layer].Changes, c)
	d.Layers[layer].Class = c.Class
}

func withDiff(p Pack, d *Diff) Pack {
	p.Pack, p.Diff = d.Head, d
	return p
}

// tooSmall is the finding about a version step, with the error's place.
func tooSmall(required string) Finding {
	return Finding{
		Rule: "VER002", Name: "version-step-too-small", Gate: "version", Severity: "error",
		Message: `pack_version "1.1.0" is a minor step from "1.0.0", and the changes are major: removed /tooling_layer/adapters/adp_payments/capabilities/issue_refund; the next version is "` + required + `"`,
		Hint:    `set pack_version to "` + required + `"`,
		File:    packFile, Line: 18, Column: 21, EndLine: 18, EndColumn: 28, Pointer: versionPointer, Path: versionPointer,
		Related: []Related{{Message: "removed, stood here in 1.0.0 (major: a capability is gone)", File: packFile, Line: 188, Column: 11}},
		Fix: &Fix{Description: `set pack_version to "` + required + `"`,
			Patch: []Operation{{Op: "replace", Path: versionPointer, Value: json.RawMessage(`"` + required + `"`)}}},
		Fingerprint: "3123456789abcdef0123456789abcdef",
	}
}

func needsVersion() Pack {
	p := withDiff(clean(Failed), steps("minor", "minor", "2.0.0"))
	p.Diff.Class = "major"
	addChange(p.Diff, 5, step("tooling_layer", "adapter_registry/adp_payments/capabilities/issue_refund", "removed", "major", "a capability is gone", `{"capability":"issue_refund","approval_mode":"destructive"}`, ""))
	p.Findings = []Finding{tooSmall("2.0.0"), unresolved(), orphan()}
	p.Gates[1] = Gate{Gate: "references", Title: "References", Status: "fail", Errors: 1, Warnings: 1}
	return p
}

// rejected has changes of all classes, one that needs a person and one whose
// class the config gives.
func rejection() Pack {
	p := withDiff(clean(Rejected), steps("minor", "minor", ""))
	d := p.Diff
	d.Class = "reject"
	open := step("pack_meta", "ttl_seconds", "changed", "minor", "a longer life keeps old rules in use", "3600", "7200")
	open.NeedsHumanClass = true
	settled := step("tone_and_comms", "voice/summary", "changed", "patch", "the words of the summary", `"calm"`, `"calm and short"`)
	settled.Override = "tone is reviewed by the support team"
	long := strings.Repeat(`{"var":"request.amount"},`, 20)
	addChange(d, 1, open)
	addChange(d, 3, step("business_context", "entities/crm/rationale", "added", "none", "a note", "", `"why"`))
	addChange(d, 6, step("decision_layer", "decision_specs/refund", "renamed", "minor", "the same content under another identity", `{"decision_key":"refund_old"}`, `{"decision_key":"refund"}`))
	addChange(d, 4, step("policy_layer", "policy_bundles/b/rules/r1/if", "changed", "major", "the condition moved", `[`+long+`null]`, `[`+long+`true]`))
	addChange(d, 5, step("tooling_layer", "permissions/p_delete", "added", "reject", "a destructive capability without an approval gate", "", `{"capability":"delete_customer"}`))
	addChange(d, 9, settled)
	p.Findings = []Finding{unresolved(), {
		Rule: "VER006", Name: "change-rejected", Gate: "version", Severity: "error", Message: "no version can carry these changes: added /tooling_layer/permissions/p_delete",
		Hint: "redesign or take back what is listed", File: packFile, Line: 18, Column: 21, Pointer: versionPointer, Path: versionPointer,
		Related:     []Related{{Message: "added here (reject: a destructive capability without an approval gate)", File: packFile, Line: 240, Column: 7}},
		Fingerprint: "4123456789abcdef0123456789abcdef",
	}}
	p.Gates[1] = Gate{Gate: "references", Title: "References", Status: "fail", Errors: 1}
	return p
}

func goldens() Pack {
	p := clean(Failed)
	wrong := passes("refund-over-limit")
	wrong.Outcome, wrong.Snapshot, wrong.Status, wrong.Reason = "escalated", "not_checked", "fail", "a critical variable is missing"
	wrong.Hash = ""
	wrong.Problems = []Problem{{
		Message: `expected compiled, but the outcome is escalated: a critical variable is missing`,
		Hint:    "give request.amount a value of the right type in the case, or let the rule ask for it first", File: wrong.File, Line: 22, Column: 16,
	}}
	drifted := passes("refund-drifted")
	drifted.Snapshot, drifted.Stage, drifted.Status = "drifted", "policy", "fail"
	drifted.Problems = []Problem{{Message: "the compiled context differs from the snapshot in 2 places", Hint: "run packgate compile --update and review the change", File: drifted.File}}
	missing := passes("refund-new")
	missing.Snapshot, missing.Status = "missing", "warning"
	missing.Problems = []Problem{{Message: "there is no snapshot", Hint: "run packgate compile --update", File: missing.File}}
	invalid := passes("日本語-case")
	invalid.Outcome, invalid.Snapshot, invalid.Hash, invalid.Status, invalid.Reason = "", "not_checked", "", "fail", "the case is not valid"
	invalid.Problems = []Problem{{Message: `"invoke" is missing`, Hint: "see packgate schema case", File: invalid.File, Line: 1, Column: 1}}
	drifted.Differences = []Difference{
		{Path: "/manifests/policy_manifest/B_REFUNDS/rule_ids", Stored: `["R_A"]`, Now: `["R_A","R_B"]`},
		{Path: "/compiled_prompt/context_blocks/pol_1", Now: `{"block_id":"pol_1"}`},
	}
	p.Golden = append(p.Golden, wrong, drifted, missing, invalid)
	// The gates report each of the problems.
	for i, g := range []Golden{wrong, drifted, missing, invalid} {
		said := g.Problems[0]
		f := Finding{
			Rule: "RPL002", Name: "snapshot-drift", Gate: "replay", Severity: "error", Message: said.Message, Hint: said.Hint,
			File: said.File, Line: said.Line, Column: said.Column, Fingerprint: fmt.Sprintf("6%031x", i),
		}
		if g.Status == "warning" {
			f.Severity = "warning"
		}
		p.Findings = append(p.Findings, f)
	}
	p.Coverage = &Coverage{Percent: 60, Rules: Tally{Count: 2, Of: 3}, Else: Tally{Count: 1, Of: 1}, Gates: Tally{Count: 0, Of: 1}, Missing: []Part{
		{Kind: "rule", Name: "R_C", File: packFile, Line: 130}, {Kind: "gate", Name: "GATE_OLD", File: packFile, Line: 96},
	}}
	return p
}

// measures is a pack with overlays, scorecards and a change around it.
func measures() Pack {
	p := clean(Failed)
	number := func(v float64) *float64 { return &v }
	p.Evaluation = []Measurement{
		{Intent: "support.refund", Metric: "policy", Target: number(1), Value: number(1), Source: "built-in", Samples: 7, Status: "met"},
		{Intent: "support.refund", Metric: "utility", Target: number(0.9), Value: number(0.853), Source: "packs/support/scorecards/a|b.json", Samples: 400,
			Baseline: number(0.91), Delta: number(0.057), MaxDelta: number(0.02), Status: "missed"},
		{Intent: "support.refund", Metric: "latency_p99_ms", Target: number(3000), Status: "not_measured"},
	}
	p.Overlays = []Overlay{
		{Overlay: "staging", Environment: "staging", File: "packs/support/overlays/staging.json", Settings: 2, Cases: 1},
		{Overlay: "prod-eu", Environment: "prod", File: "packs/support/overlays/prod-eu.json", Settings: 1, Errors: 1},
	}
	p.Triggers = []Trigger{{Kind: "ADAPTER_SCHEMA_UPDATED", What: `endpoint "internal://orders" was removed`, File: "environments/prod.json", Path: "/endpoints"}}
	p.Findings = []Finding{{
		Rule: "EVL007", Name: "target-missed", Gate: "evaluation", Severity: "error", Message: "utility is 0.853 and the target 0.9",
		Hint: "raise it", File: packFile, Line: 290, Column: 9, Fingerprint: "7123456789abcdef0123456789abcdef",
	}}
	return p
}

func outage() *Report {
	r := run(Broken, clean(Passed))
	r.Errors = []Problem{
		{Message: `there is no revision "mian"`, Hint: `use "main"`},
		{Message: `"severity" is "fatal", wanted one of "error", "warning"`, File: ".packgate.yaml", Line: 4, Column: 15},
	}
	r.Notices = []string{".packgate.yaml differs from the base; the base's config, waivers and severities are in force until this is merged"}
	return r
}

// huge has that many findings, half of them warnings.
func huge(n int) Pack {
	p := clean(Failed)
	for i := range n {
		f := unresolved()
		if i%2 == 1 {
			f = orphan()
		}
		f.Line = i + 1
		f.Fingerprint = fmt.Sprintf("%032x", i)
		p.Findings = append(p.Findings, f)
	}
	p.Gates[1] = Gate{Gate: "references", Title: "References", Status: "fail", Errors: n / 2, Warnings: n / 2}
	return p
}

func unreadable() Pack {
	p := clean(Failed)
	p.Pack, p.Digest, p.Golden, p.NotChecked = "", "", []Golden{}, []NotChecked{}
	for i := range p.Gates[1:] {
		p.Gates[i+1].Status, p.Gates[i+1].Reason = "not_checked", "the pack could not be read"
		p.NotChecked = append(p.NotChecked, NotChecked{Gate: p.Gates[i+1].Gate, Reason: "the pack could not be read"})
	}
	p.Findings = []Finding{{Rule: "SCH001", Name: "json", Gate: "schema", Severity: "error", Message: `the value ends too early, wanted ","`,
		File: packFile, Line: 7, Column: 2, Fingerprint: "5123456789abcdef0123456789abcdef"}}
	p.Gates[0] = Gate{Gate: "schema", Title: "Schema", Status: "fail", Errors: 1}
	return p
}
