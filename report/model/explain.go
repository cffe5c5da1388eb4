package model

import (
	"encoding/json"
)

// Place is where something stands in a file. Line and Column count from 1
// (columns in characters).
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Heading says which golden case is shown and how its compile ended.
type Heading struct {
	Case        string `json:"case"`
	Family      string `json:"family,omitempty"`
	File        string `json:"file"`
	Pack        string `json:"pack"` // id@version
	Intent      string `json:"intent,omitempty"`
	SafetyMode  string `json:"safety_mode,omitempty"`
	Environment string `json:"environment,omitempty"`
	Overlay     string `json:"overlay,omitempty"`
	// Outcome is compiled, refused or policy_eval_error; absent where nothing
	// was compiled because the case itself could not be.
	Outcome string `json:"outcome,omitempty"`
	Hash    string `json:"hash,omitempty"` // compiled_context_hash
	Ended   *Ended `json:"ended,omitempty"`
}

// Ended says why a compile ended early. Stage is one of the eight, "resolve" for
// what comes before them, and absent where the case could not be compiled at all.
type Ended struct {
	Stage    string `json:"stage,omitempty"`
	Reason   string `json:"reason"`
	Rule     string `json:"rule,omitempty"` // of a policy evaluation error, as the next two
	Operator string `json:"operator,omitempty"`
	Variable string `json:"variable,omitempty"`
	Place    *Place `json:"place,omitempty"` // in the pack
}

// Explanation says why a golden case compiled to what it did, or why it did not:
// what became of every rule, decision, capability and gate of the pack, and of
// every block that did not fit. What a compile that ended early did not come to is
// absent.
type Explanation struct {
	Heading
	Settings []SettingWhy `json:"settings,omitempty"` // of overlays, in the order in which they are set
	Rules    []RuleWhy    `json:"rules"`              // in the order of evaluation
	// RulesLeft counts the rules that the compile did not come to.
	RulesLeft int           `json:"rules_left,omitempty"`
	Decisions []DecisionWhy `json:"decisions"` // in the order of decision_specs
	Tools     []ToolWhy     `json:"tools"`     // in registry order
	Gates     []GateWhy     `json:"gates"`     // in declaration order
	Dropped   []DroppedWhy  `json:"dropped"`   // in the order of the buckets
	Warnings  []string      `json:"warnings"`  // of the budget report
	// NotChecked lists what the compile could not check, and why.
	NotChecked []string `json:"not_checked"`
}

// RuleWhy is what became of one rule. State is then or else where it fired,
// silent where its condition is false and it has no else, unknown where it could
// not be decided, and other_intent where it does not apply.
type RuleWhy struct {
	Rule      string   `json:"rule"`
	Bundle    string   `json:"bundle"`
	Priority  *float64 `json:"priority,omitempty"`
	AppliesTo string   `json:"applies_to,omitempty"` // intent; absent for every intent
	Decision  string   `json:"decision,omitempty"`
	Enforced  bool     `json:"enforced"`
	State     string   `json:"state"`
	Place     *Place   `json:"place"`
	// Condition is nil for a rule that does not apply.
	Condition *ConditionWhy `json:"condition,omitempty"`
	Outcome   any           `json:"outcome,omitempty"` // what holds, as the pack says it
	OutcomeAt *Place        `json:"outcome_place,omitempty"`
}

// RuleAt names a rule and where it says what it says.
type RuleAt struct {
	Rule  string `json:"rule"`
	Place *Place `json:"place"`
}

// DecisionWhy is how one decision stands. State is allowed, denied, blocked (no
// rule denies it and none allows it) or other_intent.
type DecisionWhy struct {
	Decision string `json:"decision"`
	Mode     string `json:"approval_mode,omitempty"`
	State    string `json:"state"`
	// By are the rules that say so; none where silence decided.
	By    []RuleAt `json:"by,omitempty"`
	Place *Place   `json:"place"`
}

// SettingWhy is one value that an overlay gives the pack for a case. The rules,
// tools and gates of the explanation have it, while their places lead to the pack's
// file, which has another.
type SettingWhy struct {
	Overlay string `json:"overlay"` // overlay_id
	Path    string `json:"path"`    // keyed path in the pack
	Was     any    `json:"was"`     // the pack's value
	Value   any    `json:"value"`
	Place   *Place `json:"place"` // in the overlay's file
}

// StageOutput is what one stage of the compile of a golden case decided. Output
// and Hash are absent where the compile ended before the stage did; the
// heading says at which stage, and why.
type StageOutput struct {
	Heading
	Stage     string          `json:"stage"`                // one of compiler.Stages
	StageHash string          `json:"stage_hash,omitempty"` // of the output
	Output    json.RawMessage `json:"output,omitempty"`
}
