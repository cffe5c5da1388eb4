package golden

import (
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// The families of cases (case schema, family), but for those of which a compile
// does not show that they are what they say.
const (
	FamilyAllowed  = "allowed"         // a decision is allowed
	FamilyDenied   = "denied"          // a decision is not allowed, or the request is refused
	FamilyApproval = "approval"        // an approval gate is active
	FamilyCeiling  = "safety_ceiling"  // a tool stays out because of the safety mode
	FamilyBudget   = "budget_pressure" // a bucket is truncated
	FamilyEvidence = "evidence"        // about evidence, or a variable, that is missing
)

// Shows reports whether the compile is one of a family, whatever the case says of
// itself. A case that could not be compiled shows nothing; any other one may be of
// a family that has no sign.
func (r *Result) Shows(family string) bool {
	if r.Detail == nil {
		return false
	}
	trace, compiled := &r.Detail.Trace, r.Outcome == compiler.Compiled
	switch family {
	case FamilyAllowed:
		return compiled && (decided(trace, compiler.DecisionAllowed) || !decided(trace, compiler.DecisionDenied, compiler.DecisionSilent))
	case FamilyDenied:
		return !compiled || decided(trace, compiler.DecisionDenied, compiler.DecisionSilent)
	case FamilyApproval:
		return compiled && slices.ContainsFunc(trace.Gates, func(g compiler.GateTrace) bool { return g.Active })
	case FamilyCeiling:
		return compiled && aboveCeiling(trace, r.Input.RunContext.Get("safety_mode"))
	case FamilyBudget:
		return compiled && len(r.Detail.Context.ContextLedger.Budget.TruncatedBuckets) > 0
	}
	return true
}

// decided reports whether a decision is in one of the states.
func decided(trace *compiler.Trace, states ...compiler.DecisionState) bool {
	return slices.ContainsFunc(trace.Decisions, func(d compiler.DecisionTrace) bool { return slices.Contains(states, d.State) })
}

// aboveCeiling reports whether a tool that is left out is above the safety mode.
func aboveCeiling(trace *compiler.Trace, mode *pack.Node) bool {
	return mode != nil && slices.ContainsFunc(trace.Tools, func(t compiler.ToolTrace) bool {
		return !t.Surfaced && pack.Mode(t.Adapter.ApprovalMode).Rank() > pack.ApprovalMode(mode.Text).Rank()
	})
}
