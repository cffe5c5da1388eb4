// Package build turns the results of gates, comparisons and compiles into the model of
// the report, with the secrets of packs masked. It decides nothing and prints nothing.
package build

import (
	"encoding/json"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gating/operations"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// NewPack returns what is said of one pack, with the secrets of its files masked:
// what the gates found, how it compares with its baseline, and why it was gated
// again. Its Result is left to the caller, who knows what is to fail.
func NewPack(s *gate.Subject, result gates.Result, c Comparison, triggers []refresh.Trigger) model.Pack {
	u := s.Unit
	p := model.Pack{
		Path: u.Document.File, Gates: []model.Gate{}, Findings: []model.Finding{}, Golden: withBase(NewGoldens(s.Golden()), c.Compiles), NotChecked: []model.NotChecked{},
		Diff: c.compared(), ToolSurface: c.surface(), Overlays: newOverlays(u, result.Findings), Files: changedFiles(c.Before, s),
	}
	if u.Pack != nil {
		p.Pack = u.Pack.Ref()
		if digest, err := u.Document.CanonicalDigest(); err == nil {
			p.Digest = string(digest) // a document that the reader refused in part has none
		}
		figures := operations.Measure(s)
		p.Guardrails, p.Intents = c.guardrails(u.Pack), slices.Sorted(slices.Values(each(nil, u.Pack.Intents(), func(t pack.Text) string { return t.Value })))
		p.Coverage, p.Evaluation, p.Operations = newCoverage(golden.Cover(u, s.Golden())), newEvaluation(evaluation.Measure(s)), &figures
	}
	p.Evidence = newEvidence(s, c.Before)
	p.Graph, p.Environments = newGraph(s, result.Findings), each(nil, c.Environments, newEnvironment)
	p.Triggers = each(nil, triggers, func(t refresh.Trigger) model.Trigger {
		return model.Trigger{Kind: string(t.Kind), What: t.What, File: t.File, Path: t.Path}
	})
	for _, g := range result.Gates {
		p.Gates = append(p.Gates, model.Gate{
			Gate: g.Gate.ID, Title: g.Gate.Title, Status: string(g.Status), Reason: g.Reason, Errors: g.Errors, Warnings: g.Warnings,
		})
	}
	p.Verdicts = each(nil, result.Environments, newVerdict)
	p.Findings, p.Fixed = each(p.Findings, result.Findings, newFinding), each(p.Fixed, c.Fixed, newFinding)
	p.NotChecked = append(append(p.NotChecked, result.NotChecked...), c.notChecked()...)
	documents := append(c.documents(), filesOf(u)...)
	if c.Before != nil {
		documents = append(documents, filesOf(c.Before.Unit)...)
	}
	p = masked(p, s.Detected(), documents)
	p.Playground = newPlayground(s, c, documents)
	return p
}

func newVerdict(v gates.EnvironmentVerdict) model.EnvironmentVerdict {
	result := model.Passed
	if v.Fails {
		result = model.Failed
	}
	return model.EnvironmentVerdict{Environment: v.Environment, Result: result, Counts: v.Counts, Version: v.Version, Errors: v.Errors}
}

// each puts the forms of things behind those that are there.
func each[T, U any](there []U, list []T, form func(T) U) []U {
	for _, one := range list {
		there = append(there, form(one))
	}
	return there
}

// NewRemoved returns what is said of a pack that is gone: its id@version, its file in the
// version before, and what was found. Its Result is left to the caller.
func NewRemoved(pack, file string, found []finding.Finding) model.Pack {
	return newEntry(model.Pack{Pack: pack, Path: file, Kind: model.KindRemoved}, found)
}

// NewRepository returns what is said of a repository as a whole: its folder, and what was
// found. Its Result is left to the caller.
func NewRepository(folder string, found []finding.Finding) model.Pack {
	return newEntry(model.Pack{Path: folder, Kind: model.KindRepository}, found)
}

func newEntry(p model.Pack, found []finding.Finding) model.Pack {
	p.Gates, p.Golden, p.NotChecked = []model.Gate{}, []model.Golden{}, []model.NotChecked{}
	p.Findings = each([]model.Finding{}, found, newFinding)
	return p
}

func filesOf(u *repo.Unit) []*pack.Document {
	return each([]*pack.Document{u.Document}, u.Files, func(f *repo.SideFile) *pack.Document { return f.Document })
}

func newFinding(f finding.Finding) model.Finding {
	l := f.Location
	out := model.Finding{
		Rule: f.Rule, Name: f.Name, Gate: f.Gate, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint,
		File: l.File, Line: l.Start.Line, Column: l.Start.Column, EndLine: l.End.Line, EndColumn: l.End.Column,
		Pointer: l.Pointer, Path: l.Path, Witness: f.Witness, Fingerprint: f.Fingerprint(), Environment: f.Environment, Thing: f.Thing.String(), Approve: f.Approve, Waivable: f.Waivable, State: string(f.State), Old: f.Old, Waived: f.Waived, Approved: f.Approved, Accepted: f.Accepted,
	}
	if f.Cause != nil {
		out.Cause = &model.FollowsFrom{Finding: f.Cause.Finding, Changes: f.Cause.Changes}
	}
	for _, r := range f.Related {
		out.Related = append(out.Related, model.Related{
			Message: r.Message, File: r.Location.File, Line: r.Location.Start.Line, Column: r.Location.Start.Column, Path: r.Location.Path, Revision: r.Location.Revision,
		})
	}
	if f.Fix != nil {
		out.Fix = &model.Fix{Description: f.Fix.Description, Patch: []model.Operation{}}
		for _, op := range f.Fix.Operations {
			out.Fix.Patch = append(out.Fix.Patch, model.Operation{Op: op.Op, Path: op.Path, Value: json.RawMessage(op.Value)})
		}
	}
	return out
}

func newChange(c diffing.Change) model.Change {
	out := model.Change{
		Path: c.Path, Kind: c.Kind.String(), Row: c.Row, Class: c.Class.String(), Reason: c.Reason,
		NeedsHumanClass: c.NeedsHumanClass, BeyondProof: c.BeyondProof(), Override: c.OverrideReason, Old: rawOf(c.Old), New: rawOf(c.New),
		Proof: newProof(c.Proof), Fingerprint: c.Fingerprint(),
	}
	if at := pack.Place(c.New, c.Old); at != nil {
		l := at.Location()
		out.File, out.Line, out.Column, out.Pointer = l.File, l.Start.Line, l.Start.Column, l.Pointer
	}
	if c.Old != nil {
		out.BaseLine = c.Old.Location().Start.Line
	}
	return out
}

func rawOf(n *pack.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	return json.RawMessage(pack.CompactJSON(n.Any()))
}

// NewComparison returns a comparison and what the version rules find in it, both masked.
func NewComparison(c Comparison) (*model.Diff, []model.Finding) {
	p := masked(model.Pack{Diff: c.compared(), Findings: each([]model.Finding{}, c.Diff.Findings(), newFinding)}, nil, c.documents())
	return p.Diff, p.Findings
}

// RulePages returns the pages of all rules, in the order in which they are documented.
func RulePages() []model.RulePage {
	var pages []model.RulePage
	for _, g := range gates.Documented() {
		for _, r := range g.Rules {
			pages = append(pages, model.RulePage{
				ID: r.ID, Name: r.Name, Gate: g.ID, Severity: r.Severity.String(), Title: r.Title, Doc: r.Doc, Bad: r.Bad, Good: r.Good,
			})
		}
	}
	return pages
}

// NewGoldens returns the results of golden cases in the report's form.
func NewGoldens(results []golden.Result) []model.Golden {
	return each(make([]model.Golden, 0, len(results)), results, newGolden)
}

func newGolden(r golden.Result) model.Golden {
	out := model.Golden{
		Case: r.Case, Family: r.Family, File: r.File, Overlay: r.Overlay, Expected: r.Expected, Outcome: string(r.Outcome), Reason: r.Reason,
		Snapshot: string(r.Snapshot), Hash: r.Hash, Stage: r.Stage, Status: string(r.Status), Problems: []model.Problem{},
		Differences: each(nil, r.Differences, func(d golden.Difference) model.Difference { return model.Difference(d) }),
	}
	for _, p := range r.Problems {
		l := p.Location
		out.Problems = append(out.Problems, model.Problem{Message: p.Message, Hint: p.Hint, File: l.File, Line: l.Start.Line, Column: l.Start.Column})
	}
	return out
}

func newCoverage(c golden.Coverage) *model.Coverage {
	out := &model.Coverage{Percent: c.Percent(), Missing: []model.Part{}}
	for _, group := range []struct {
		kind  string
		parts []golden.Covered
		tally *model.Tally
	}{{"rule", c.Rules, &out.Rules}, {"else", c.Else, &out.Else}, {"gate", c.Gates, &out.Gates}} {
		group.tally.Count, group.tally.Of = golden.Count(group.parts)
		for _, part := range group.parts {
			if !part.Exercised() {
				l := part.Node.Location()
				out.Missing = append(out.Missing, model.Part{Kind: group.kind, Name: part.Name, File: l.File, Line: l.Start.Line})
			}
		}
	}
	return out
}

func newEvaluation(measurements []evaluation.Measurement) []model.Measurement {
	var out []model.Measurement
	for _, m := range measurements {
		row := model.Measurement{
			Intent: m.Intent, Metric: string(m.Metric), Target: known(m.Target), Value: known(m.Value), Source: m.Source,
			Samples: m.Samples, Baseline: known(m.Baseline), MaxDelta: known(m.MaxDelta), Status: string(m.Status),
		}
		if m.Value.OK && m.Baseline.OK {
			delta := m.Delta
			row.Delta = &delta
		}
		out = append(out, row)
	}
	return out
}

// newEvidence counts what a pack proves, and what the version before does, nil for none.
func newEvidence(s, before *gate.Subject) []model.Evidence {
	was := map[string]*int{}
	if before != nil {
		for _, e := range gates.EvidenceOf(before) {
			was[e.Kind] = &e.Count
		}
	}
	return each(nil, gates.EvidenceOf(s), func(e gates.Evidence) model.Evidence {
		return model.Evidence{Kind: e.Kind, Before: was[e.Kind], Now: e.Count}
	})
}

// known returns a number that is known, nil for one that is not.
func known(n pack.Num) *float64 {
	if !n.OK {
		return nil
	}
	value := n.Value // a pointer into the pack would keep all of it in memory
	return &value
}

func newOverlays(u *repo.Unit, findings []finding.Finding) []model.Overlay {
	var out []model.Overlay
	for _, o := range u.Overlays {
		row := model.Overlay{
			Overlay: o.OverlayID.Value, Environment: o.Environment.Value, File: o.Document.File, Settings: len(o.Set.Items),
		}
		for _, f := range findings {
			if f.Location.File == row.File && f.Severity == finding.Error && !f.Excused() {
				row.Errors++
			}
		}
		for _, c := range u.Cases {
			if c.Overlay.OK && c.Overlay.Value == row.Overlay {
				row.Cases++
			}
		}
		out = append(out, row)
	}
	return slices.Clip(out)
}
