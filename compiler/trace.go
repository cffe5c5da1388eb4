package compiler

import (
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Trace says what the stages decided and why. A compile that ended early has the
// trace of the stages before.
type Trace struct {
	// NotChecked lists what the resolver and the stages could not check, and why.
	NotChecked []string
	Rules      []RuleTrace     // every rule, in the order of evaluation
	Decisions  []DecisionTrace // every decision, in decision_specs order
	Denied     []string        // keys of the denied decisions, in firing order
	Tools      []ToolTrace     // every capability, in registry order
	Gates      []GateTrace     // every approval gate, in declaration order
}

// RuleState says what became of a rule.
type RuleState string

// The states of a rule.
const (
	RuleOther     RuleState = "other_intent" // not applicable to the intent
	RuleSilent    RuleState = "silent"       // its condition is false, and it has no else
	RuleThen      RuleState = "then"         // it fired; its then holds
	RuleElse      RuleState = "else"         // it fired; its else holds
	RuleUndecided RuleState = "unknown"      // its condition could not be decided
)

// RuleTrace is what became of one rule.
type RuleTrace struct {
	Bundle   *pack.Bundle
	Rule     *pack.Rule
	Enforced bool
	State    RuleState
	Outcome  *pack.Outcome    // what holds, nil unless it fired
	Cause    *jsonlogic.Cause // why its condition is unknown, nil unless it is
}

// DecisionState is the state of a decision in a compile.
type DecisionState string

// The states of a decision.
const (
	DecisionOther   DecisionState = "other_intent" // no applicable rule is bound to it
	DecisionAllowed DecisionState = "allowed"
	DecisionDenied  DecisionState = "denied"  // an outcome denies it
	DecisionSilent  DecisionState = "blocked" // nothing denies it and nothing allows it
)

// DecisionTrace is how one decision stands.
type DecisionTrace struct {
	Decision *pack.DecisionSpec
	State    DecisionState
	// By are the rules whose fired outcomes say so, in firing order. A read_only
	// decision of which no rule fires is allowed by none.
	By []*pack.Rule
}

// ToolTrace is why one capability is in the tool manifest or not.
type ToolTrace struct {
	Adapter    *pack.Adapter
	Capability string
	Surfaced   bool
	// Permissions are those that name the capability.
	Permissions []*pack.Permission
	// AuthorisedBy are the keys of the allowed decisions that may authorise it.
	AuthorisedBy []string
	// Obstacles are all reasons for which it is left out, in the order in which
	// the stage looks for them; none if it is surfaced.
	Obstacles []Obstacle
}

// Name returns "adapter.capability".
func (t *ToolTrace) Name() string { return t.Adapter.AdapterID.Value + "." + t.Capability }

// Obstacle is one reason for which a capability is left out.
type Obstacle struct {
	Reason string     // in the grammar of messages
	At     *pack.Node // the value of the pack that says so, nil if there is none
}

// GateTrace is why one approval gate is active or not.
type GateTrace struct {
	Gate   *pack.ApprovalGate
	Active bool
	// RequiredBy are the rules whose fired outcomes require it.
	RequiredBy []*pack.Rule
	// NamedBy are the surfaced permissions and the outcomes of applicable rules
	// that name it. When is evaluated only if there is one.
	NamedBy []*pack.Node
	When    jsonlogic.Truth
	Cause   *jsonlogic.Cause // why When is unknown
}
