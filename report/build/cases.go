package build

import (
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// NewGoldens returns the results of golden cases in the report's form.
func NewGoldens(results []golden.Result) []model.Golden {
	out := make([]model.Golden, len(results))
	for i, r := range results {
		out[i] = newGolden(r)
	}
	return out
}

func newGolden(r golden.Result) model.Golden {
	out := model.Golden{
		Case: r.Case, Family: r.Family, File: r.File, Overlay: r.Overlay, Expected: r.Expected, Outcome: string(r.Outcome), Reason: r.Reason,
		Snapshot: string(r.Snapshot), Hash: r.Hash, Stage: r.Stage, Status: string(r.Status), Problems: []model.Problem{},
	}
	for _, d := range r.Differences {
		out.Differences = append(out.Differences, model.Difference(d))
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
			if f.Location.File == row.File && f.Severity == finding.Error && f.Waived == nil {
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
