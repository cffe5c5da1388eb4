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
)

// Figure is a share: Count of Of, and Value their quotient, from 0 to 1.
type Figure struct {
	Value float64 `json:"value"`
	Count int     `json:"count"`
	Of    int     `json:"of"`
}

// share returns the figure of a count; nil for a count of nothing.
func share(count, of int) *Figure {
	if of == 0 {
		return nil
	}
	return &Figure{Value: float64(count) / float64(of), Count: count, Of: of}
}

// Figures are the operational figures of one pack. What could not be measured is
// absent.
type Figures struct {
	// CompileSuccessRate is the share of the golden cases that are expected to
	// compile and did.
	CompileSuccessRate *Figure `json:"compile_success_rate,omitempty"`
	// ToolSurfaceSize is how many capabilities a compile surfaces, by intent.
	ToolSurfaceSize []SurfaceSize `json:"tool_surface_size,omitempty"`
	// RuleActivationRate is the share of the pack's rules that fired in at least
	// one compile, and RuleActivations says it of each rule.
	RuleActivationRate *Figure      `json:"rule_activation_rate,omitempty"`
	RuleActivations    []Activation `json:"rule_activations,omitempty"`
	// BucketTruncationRate is the share of compiles in which a bucket was
	// truncated, by bucket.
	BucketTruncationRate []Truncation `json:"bucket_truncation_rate,omitempty"`
	// RequiredEvidenceResolutionRate is the share of the evidence that allowed
	// decisions require and that was there, over all compiles.
	RequiredEvidenceResolutionRate *Figure `json:"required_evidence_resolution_rate,omitempty"`
	// ReplayDeterminismRate is the share of the golden cases whose second compile
	// gave the same as the first.
	ReplayDeterminismRate *Figure `json:"replay_determinism_rate,omitempty"`
	// ReleaseGatePassRate is the share of the comparisons with a baseline in which
	// nothing got worse by more than its release gate accepts.
	ReleaseGatePassRate *Figure `json:"release_gate_pass_rate,omitempty"`
}

// SurfaceSize is the tool surface of one intent: the mean and the largest number
// of capabilities over the cases that compiled.
type SurfaceSize struct {
	Intent string  `json:"intent"`
	Mean   float64 `json:"mean"`
	Max    int     `json:"max"`
	Cases  int     `json:"cases"`
}

// Activation is how often one rule fired, of the compiles of its intent.
type Activation struct {
	Rule string `json:"rule"`
	*Figure
}

// Truncation is how often one bucket was truncated.
type Truncation struct {
	Bucket string `json:"bucket"`
	Figure
}

// Measure returns the figures of a pack. It compiles nothing that the gates have
// not compiled already.
func Measure(s *gate.Subject) Figures {
	if s.Pack == nil {
		return Figures{}
	}
	trials := evaluation.Trials(s)
	var compiled []evaluation.Trial
	for _, t := range trials {
		if t.Result.Outcome == compiler.Compiled {
			compiled = append(compiled, t)
		}
	}
	f := Figures{
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

func successRate(trials []evaluation.Trial) *Figure {
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
func determinismRate(trials []evaluation.Trial) *Figure {
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

func evidenceRate(s *gate.Subject, compiled []evaluation.Trial) *Figure {
	missing, of := 0, 0
	for i := range compiled {
		names, required := compiled[i].Evidence(s.Config)
		missing += len(names)
		of += required
	}
	return share(of-missing, of)
}

func releaseRate(measurements []evaluation.Measurement) *Figure {
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
