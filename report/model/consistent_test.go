package model_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/report/model"
)

// halfChecked is a pack of which the replay gate could not run as a whole, and whose
// evaluation gate had nothing to look at.
func halfChecked() model.Pack {
	return model.Pack{
		Pack: "ctxpack.a@1.0.0", Path: "a/pack.json", Result: model.Failed, Golden: []model.Golden{},
		Gates: []model.Gate{
			{Gate: "schema", Title: "Schema", Status: "warn", Warnings: 1},
			{Gate: "risk", Title: "Risk", Status: "undecided", Warnings: 1},
			{Gate: "tenancy", Title: "Tenancy", Status: "not_run", Reason: "the pack has no pack_meta"},
			{Gate: "replay", Title: "Replay", Status: "partial"},
			{Gate: "evaluation", Title: "Evaluation", Status: "pass"},
			{Gate: "security", Title: "Security", Status: "fail", Errors: 1},
		},
		Findings: []model.Finding{
			{Rule: "SCH005", Name: "unknown-member", Gate: "schema", Severity: "warning", Message: "m", File: "a/pack.json", Fingerprint: strings.Repeat("0", 32)},
			{Rule: "NPR001", Name: "not-proved", Gate: "risk", Severity: "warning", Message: "m", File: "a/pack.json", Fingerprint: strings.Repeat("1", 32)},
			{Rule: "SEC001", Name: "secret", Gate: "security", Severity: "error", Message: "m", File: "a/pack.json", Fingerprint: strings.Repeat("2", 32)},
		},
		NotChecked: []model.NotChecked{
			{Gate: "tenancy", Reason: "the pack has no pack_meta"},
			{Gate: "replay", Rule: "RPL008", Reason: "there is no replay packet", Needs: finding.Input{Kind: finding.ReplayPacket}, Required: true},
			{Gate: "evaluation", Rule: "EVL008", Reason: "there is no scorecard", Needs: finding.Input{Kind: finding.Scorecard}},
		},
	}
}

// Whatever a gate says beside what follows from its findings and from what did not run, the
// report is refused, sealed or as JSON.
func TestAGateSaysWhatFollows(t *testing.T) {
	if err := readBack(t, halfChecked()); err != nil {
		t.Fatal(err)
	}
	for i, g := range halfChecked().Gates {
		for _, status := range finding.Statuses() {
			p := halfChecked()
			if p.Gates[i].Status = string(status); p.Gates[i].Status == g.Status {
				continue
			}
			if readBack(t, p) == nil {
				t.Errorf("%s is taken as %s, which is %s", g.Gate, status, g.Status)
			}
		}
		p := halfChecked()
		p.Gates[i].Errors++
		if readBack(t, p) == nil {
			t.Errorf("%s is taken with one error more", g.Gate)
		}
	}
	p := halfChecked()
	p.NotChecked[1].Required = false
	if readBack(t, p) == nil {
		t.Error("a gate is partial without anything that could not run")
	}
}

// readBack reads a pack from its sealed form and from JSON; both say the same.
func readBack(t *testing.T, p model.Pack) error {
	t.Helper()
	sealed, err := model.Seal(&p)
	if err != nil {
		t.Fatal(err)
	}
	_, unsealing := model.Unseal(sealed)
	var b bytes.Buffer
	r := &model.Report{
		Version: model.Version, Tool: model.Tool{Name: "packgate", Version: "dev", RulesVersion: "1"}, Command: "check", Result: model.Failed, ExitCode: 1,
		Packs: model.PacksOf(p), Summary: model.Count(&p), Errors: []model.Problem{}, Notices: []string{},
	}
	if err := model.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	_, reading := model.Read(&b)
	if (unsealing == nil) != (reading == nil) || unsealing != nil && !errors.Is(unsealing, model.ErrNotSealed) || reading != nil && !errors.Is(reading, model.ErrNotAReport) {
		t.Errorf("sealed: %v, as JSON: %v", unsealing, reading)
	}
	return reading
}
