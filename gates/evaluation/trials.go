package evaluation

import (
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Trial is a golden case with what became of it.
type Trial struct {
	Intent string // of the invocation, "" where it cannot be read
	Case   *repo.Case
	Result *golden.Result
}

// Trials returns the golden cases that could be read with their results, in the
// order of their files. Nothing in them may be changed.
func Trials(s *gate.Subject) []Trial {
	var trials []Trial
	results := s.Golden()
	for i := range results {
		if r := &results[i]; r.Input != nil {
			trials = append(trials, Trial{Intent: r.Intent, Case: r.Input, Result: r})
		}
	}
	return trials
}

// Tried reports whether the case could be compiled at all, whatever the outcome.
func (t *Trial) Tried() bool { return t.Result.Detail != nil }

// The four lists of a compile that a case can expect. They are empty unless the
// case compiled; what is denied is known without.

func (t *Trial) tools() []string {
	if t.Result.Detail.Context == nil {
		return nil
	}
	return t.Result.Detail.Context.ContextLedger.Tools
}

func (t *Trial) gates() []string {
	if t.Result.Detail.Context == nil {
		return nil
	}
	return t.Result.Detail.Context.RuntimeControls.ApprovalGatesActive
}

func (t *Trial) rules() []string {
	if t.Result.Detail.Context == nil {
		return nil
	}
	var rules []string
	for _, entry := range t.Result.Detail.Context.Manifests.PolicyManifest {
		rules = append(rules, entry.RuleIDs...)
	}
	return rules
}

func (t *Trial) denied() []string { return t.Result.Detail.Trace.Denied }

// without returns the first of the items that the others do not have; "" where
// they have all.
func without(items, others []string) string {
	i := slices.IndexFunc(items, func(item string) bool { return !slices.Contains(others, item) })
	if i < 0 {
		return ""
	}
	return items[i]
}

// allowed returns the decisions that the compile allows, in document order.
func (t *Trial) allowed() []*pack.DecisionSpec {
	var allowed []*pack.DecisionSpec
	for _, d := range t.Result.Detail.Trace.Decisions {
		if d.State == compiler.DecisionAllowed {
			allowed = append(allowed, d.Decision)
		}
	}
	return allowed
}
