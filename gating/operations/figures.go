// Package operations computes the operational figures of a pack (Context Pack
// contract, evaluation_layer): how it behaves over its golden cases, in numbers
// that can be followed from release to release.
//
// A figure is a share with the count that it is of: 1.0 of two cases is not 1.0 of two hundred. If
// there is nothing to measure, the figure is absent, because a share of nothing would look like a
// perfect one. The figures do not judge; what must hold is checked by the rules of the gates, and the
// report shows both.
package operations

import (
	"cmp"
	"context"
	"slices"
	"time"

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

// Measure returns the figures of a pack; none for a pack that could not be read. It compiles nothing
// that the gates have not compiled already.
func Measure(s *gate.Subject) model.Figures {
	if s.Pack == nil {
		return model.Figures{}
	}
	trials := evaluation.Trials(s)
	compiled := slices.DeleteFunc(slices.Clone(trials), func(t evaluation.Trial) bool { return !isCompiled(&t) })
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

// Latencies returns how long the compile of each golden case takes that can be compiled, whatever its
// outcome, measured with a clock. It compiles each case once more, one after the other, so that what a
// first compile prepares is not measured. A clock that goes back gives no latency. Once the context has
// ended it returns nil.
func Latencies(ctx context.Context, s *gate.Subject, now func() time.Time) (took []time.Duration) {
	for _, r := range s.Golden() {
		if ctx.Err() != nil {
			return nil
		}
		if r.Detail == nil {
			continue
		}
		start := now()
		_, err := r.Program.Compile(r.Request)
		if d := now().Sub(start); err == nil && d >= 0 {
			took = append(took, d)
		}
	}
	return took
}

// rate returns the share of the items that count among those to which the figure applies.
func rate[T any](all []T, applies, counts func(*T) bool) *model.Figure {
	count, of := 0, 0
	for i := range all {
		if !applies(&all[i]) {
			continue
		}
		of++
		if counts(&all[i]) {
			count++
		}
	}
	return share(count, of)
}

func isCompiled(t *evaluation.Trial) bool { return t.Result.Outcome == compiler.Compiled }

func successRate(trials []evaluation.Trial) *model.Figure {
	return rate(trials, func(t *evaluation.Trial) bool { return t.Result.Expected == string(compiler.Compiled) }, isCompiled)
}

// determinismRate is about the cases that were compiled at all, whatever their outcome.
func determinismRate(trials []evaluation.Trial) *model.Figure {
	return rate(trials, (*evaluation.Trial).Tried, func(t *evaluation.Trial) bool {
		return !slices.ContainsFunc(t.Result.Problems, func(p golden.Problem) bool { return p.Kind == golden.KindDeterminism })
	})
}

func releaseRate(measured []evaluation.Measurement) *model.Figure {
	return rate(measured, (*evaluation.Measurement).Compared, func(m *evaluation.Measurement) bool { return !m.Regressed() })
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

// surfaceSizes returns the sizes of the tool surface, sorted by intent.
func surfaceSizes(compiled []evaluation.Trial) []model.SurfaceSize {
	type sum struct{ tools, most, cases int }
	sums := map[string]*sum{}
	for _, t := range compiled {
		s := sums[t.Intent]
		if s == nil {
			s = &sum{}
			sums[t.Intent] = s
		}
		n := len(t.Result.Detail.Context.ContextLedger.Tools)
		s.tools, s.most, s.cases = s.tools+n, max(s.most, n), s.cases+1
	}
	var sizes []model.SurfaceSize
	for intent, s := range sums {
		sizes = append(sizes, model.SurfaceSize{Intent: intent, Mean: float64(s.tools) / float64(s.cases), Max: s.most, Cases: s.cases})
	}
	slices.SortFunc(sizes, func(a, b model.SurfaceSize) int { return cmp.Compare(a.Intent, b.Intent) })
	return sizes
}

// truncations returns the share of compiles that truncated a bucket, in the
// contract's order of the buckets.
func truncations(compiled []evaluation.Trial) []model.Truncation {
	if len(compiled) == 0 {
		return nil
	}
	var rates []model.Truncation
	for _, b := range compiler.Buckets() {
		count := 0
		for _, t := range compiled {
			if slices.Contains(t.Result.Detail.Context.ContextLedger.Budget.TruncatedBuckets, b) {
				count++
			}
		}
		rates = append(rates, model.Truncation{Bucket: string(b), Figure: *share(count, len(compiled))})
	}
	return rates
}

// activations returns the share of rules that fired, and how often each fired, in document order. A
// rule without an id is left out, and so is the second of two rules with the same id; a rule for an
// intent that no case compiles for has no figure of its own and counts as one that did not fire.
func activations(s *gate.Subject, compiled []evaluation.Trial) (*model.Figure, []model.Activation) {
	if len(compiled) == 0 {
		return nil, nil
	}
	fired, applicable := map[string]int{}, map[string]int{}
	for _, t := range compiled {
		for _, r := range t.Result.Detail.Trace.Rules {
			id := r.Rule.RuleID.Value
			switch r.State {
			case compiler.RuleOther:
				continue
			case compiler.RuleThen, compiler.RuleElse:
				fired[id]++
			}
			applicable[id]++
		}
	}
	var each []model.Activation
	count := 0
	seen := map[string]bool{}
	for _, r := range s.Rules {
		id := r.RuleID
		if !id.OK || seen[id.Value] {
			continue
		}
		seen[id.Value] = true
		each = append(each, model.Activation{Rule: id.Value, Figure: share(fired[id.Value], applicable[id.Value])})
		if fired[id.Value] > 0 {
			count++
		}
	}
	return share(count, len(each)), each
}
