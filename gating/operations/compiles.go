package operations

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/report/model"
)

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

// activations returns the share of rules that fired, and how often each fired, in
// document order. A rule without id is left out, and so is the second of two with
// one id; a rule whose intent no case compiles for has no figure of its own and
// counts as one that did not fire. An overlay's rules are those of the pack.
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
