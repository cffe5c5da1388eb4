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
		Diff: c.compared(), ToolSurface: c.surface(), Overlays: newOverlays(u, result.Findings),
	}
	if u.Pack != nil {
		p.Pack = u.Pack.Ref()
		if digest, err := u.Document.CanonicalDigest(); err == nil {
			p.Digest = string(digest) // a document that the reader refused in part has none
		}
		figures := operations.Measure(s)
		p.Coverage, p.Evaluation, p.Operations = newCoverage(golden.Cover(u, s.Golden())), newEvaluation(evaluation.Measure(s)), &figures
	}
	p.Graph = newGraph(s, result.Findings)
	for _, t := range triggers {
		p.Triggers = append(p.Triggers, model.Trigger{Kind: string(t.Kind), What: t.What, File: t.File, Path: t.Path})
	}
	for _, g := range result.Gates {
		p.Gates = append(p.Gates, model.Gate{
			Gate: g.Gate.ID, Title: g.Gate.Title, Status: string(g.Status), Reason: g.Reason, Errors: g.Errors, Warnings: g.Warnings,
		})
	}
	for _, f := range result.Findings {
		p.Findings = append(p.Findings, newFinding(f))
	}
	for _, f := range c.Fixed {
		p.Fixed = append(p.Fixed, newFinding(f))
	}
	for _, n := range result.NotChecked {
		p.NotChecked = append(p.NotChecked, model.NotChecked{Gate: n.Gate, Rule: n.Rule, Reason: n.Reason})
	}
	p.NotChecked = append(p.NotChecked, c.notChecked()...)
	documents := slices.Concat(documentsOf(c.Diff), filesOf(u))
	if c.Before != nil {
		documents = append(documents, filesOf(c.Before.Unit)...)
	}
	p = masked(p, s.Detected(), documents)
	p.Playground = newPlayground(s, c, documents)
	return p
}

// NewRemoved returns what is said of a pack that is gone: its id@version, its file in the
// version before, and what was found. Its Result is left to the caller.
func NewRemoved(pack, file string, found []finding.Finding) model.Pack {
	p := model.Pack{Pack: pack, Path: file, Kind: model.KindRemoved, Gates: []model.Gate{}, Findings: []model.Finding{}, Golden: []model.Golden{}, NotChecked: []model.NotChecked{}}
	for _, f := range found {
		p.Findings = append(p.Findings, newFinding(f))
	}
	return p
}

func filesOf(u *repo.Unit) []*pack.Document {
	documents := []*pack.Document{u.Document}
	for _, f := range u.Files {
		documents = append(documents, f.Document)
	}
	return documents
}

func documentsOf(d *diffing.Diff) []*pack.Document {
	if d == nil {
		return nil
	}
	var documents []*pack.Document
	for _, c := range d.Changes() {
		for _, n := range []*pack.Node{c.Old, c.New} {
			if n != nil && !slices.Contains(documents, n.Document()) {
				documents = append(documents, n.Document())
			}
		}
	}
	return documents
}

func newFinding(f finding.Finding) model.Finding {
	l := f.Location
	out := model.Finding{
		Rule: f.Rule, Name: f.Name, Gate: f.Gate, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint,
		File: l.File, Line: l.Start.Line, Column: l.Start.Column, EndLine: l.End.Line, EndColumn: l.End.Column,
		Pointer: l.Pointer, Path: l.Path, Witness: f.Witness, Fingerprint: f.Fingerprint(), State: string(f.State),
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
	if f.Waived != nil {
		out.Waived = &model.Waived{Reason: f.Waived.Reason, Owner: f.Waived.Owner, Expires: f.Waived.Expires}
	}
	return out
}

// NewDiff returns a comparison in the report's form, nil for none.
func NewDiff(d *diffing.Diff) *model.Diff {
	if d == nil {
		return nil
	}
	out := &model.Diff{
		Base: d.Base.PackID + "@" + d.Base.Version, Head: d.Head.PackID + "@" + d.Head.Version,
		Class: d.Class.String(), Declared: d.Declared.String(), RequiredVersion: d.Required, Layers: []model.Layer{},
	}
	for _, l := range d.Layers {
		layer := model.Layer{Layer: l.Name, Class: l.Class.String(), Changes: []model.Change{}}
		for _, c := range l.Changes {
			layer.Changes = append(layer.Changes, newChange(c))
		}
		out.Layers = append(out.Layers, layer)
	}
	return out
}

func newChange(c diffing.Change) model.Change {
	out := model.Change{
		Path: c.Path, Kind: c.Kind.String(), Row: c.Row, Class: c.Class.String(), Reason: c.Reason,
		NeedsHumanClass: c.NeedsHumanClass, Override: c.OverrideReason, Old: rawOf(c.Old), New: rawOf(c.New),
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

// NewComparison returns a comparison and what the version rules find in it, in
// the report's form, with the secrets of both versions masked.
func NewComparison(c Comparison) (*model.Diff, []model.Finding) {
	p := model.Pack{Diff: c.compared(), Findings: []model.Finding{}}
	for _, f := range c.Diff.Findings() {
		p.Findings = append(p.Findings, newFinding(f))
	}
	p = masked(p, nil, documentsOf(c.Diff))
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
