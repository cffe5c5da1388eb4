// Package operations computes the operational figures of a pack (Context Pack
// contract, evaluation_layer): how it behaves over its golden cases, in numbers
// that can be followed from release to release.
//
// A figure is a share, and says of how many: 1.0 of two cases is not 1.0 of two
// hundred. Where there is nothing to measure, the figure is absent, because a
// share of nothing would read like a perfect one. The figures judge nothing. What
// must hold is a rule of a gate, and the report shows both.
package operations

import (
	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/report/model"
)

// share returns the figure of a count; nil for a count of nothing.
func share(count, of int) *model.Figure {
	if of == 0 {
		return nil
	}
	return &model.Figure{Value: float64(count) / float64(of), Count: count, Of: of}
}

// Measure returns the figures of a pack. It compiles nothing that the gates have
// not compiled already.
func Measure(s *gate.Subject) model.Figures {
	if s.Pack == nil {
		return model.Figures{}
	}
	trials := evaluation.Trials(s)
	var compiled []evaluation.Trial
	for _, t := range trials {
		if t.Result.Outcome == compiler.Compiled {
			compiled = append(compiled, t)
		}
	}
	f := model.Figures{
		CompileSuccessRate:             successRate(trials),
		ToolSurfaceSize:                surfaceSizes(compiled),
		BucketTruncationRate:           truncations(compiled),
		RequiredEvidenceResolutionRate: evidenceRate(s, compiled),
		ReplayDeterminismRate:          determinismRate(trials),
		ReleaseGatePassRate:            releaseRate(evaluation.Measure(s)),
	}
	f.RuleActivationRate, f.RuleActivations = activations(s, compiled)
	return f
}

func successRate(trials []evaluation.Trial) *model.Figure {
	count, of := 0, 0
	for _, t := range trials {
		if t.Result.Expected != string(compiler.Compiled) {
			continue
		}
		of++
		if t.Result.Outcome == compiler.Compiled {
			count++
		}
	}
	return share(count, of)
}

// determinismRate counts the cases that were compiled at all, to whatever end.
func determinismRate(trials []evaluation.Trial) *model.Figure {
	count, of := 0, 0
	for _, t := range trials {
		if !t.Tried() {
			continue
		}
		of++
		if !has(t.Result, golden.KindDeterminism) {
			count++
		}
	}
	return share(count, of)
}

func has(r *golden.Result, kind golden.Kind) bool {
	for _, p := range r.Problems {
		if p.Kind == kind {
			return true
		}
	}
	return false
}

func evidenceRate(s *gate.Subject, compiled []evaluation.Trial) *model.Figure {
	missing, of := 0, 0
	for i := range compiled {
		names, required := compiled[i].Evidence(s.Config)
		missing += len(names)
		of += required
	}
	return share(of-missing, of)
}

func releaseRate(measurements []evaluation.Measurement) *model.Figure {
	count, of := 0, 0
	for i := range measurements {
		m := &measurements[i]
		if !m.Compared() {
			continue
		}
		of++
		if !m.Regressed() {
			count++
		}
	}
	return share(count, of)
}
