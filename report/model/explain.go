package model

import "encoding/json"

// Place is where something is in a file. Line and Column (in characters) count from 1.
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
	// Outcome is compiled, refused or policy_eval_error; absent where the case itself is at fault.
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

// Explanation says why a golden case compiled to what it did, or why it did not: what became
// of every rule, decision, capability and gate of the pack, and of every block that did not
// fit. What a compile that ended early did not come to is absent.
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

// DecisionWhy is how one decision stands. State is allowed, denied, blocked or other_intent.
type DecisionWhy struct {
	Decision string `json:"decision"`
	Mode     string `json:"approval_mode,omitempty"`
	State    string `json:"state"`
	// By are the rules that say so; none where silence decided.
	By    []RuleAt `json:"by,omitempty"`
	Place *Place   `json:"place"`
}

// SettingWhy is one value that an overlay gives the pack for a case. The rules, tools and gates
// of the explanation have it, while their places lead to the pack's file, which has another.
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

// DroppedWhy is a block that did not fit its bucket. Of the blocks of a bucket the one of the
// lowest priority is dropped first, of equal ones the latest, until the others fit.
type DroppedWhy struct {
	Block  string `json:"block"`
	Bucket string `json:"bucket"`
	Budget int    `json:"budget"` // tokens that the bucket has
	Used   int    `json:"used"`   // tokens of the blocks that stayed
	// Ref is what the block is about: a reference, a rule or a tool.
	Ref string `json:"ref,omitempty"`
	// Priority and Tokens are those of evidence and memory. Of other blocks the latest goes first.
	Priority *int `json:"priority,omitempty"`
	Tokens   *int `json:"tokens,omitempty"`
}

// ConditionWhy is a condition, its truth for the request, and what settles it.
type ConditionWhy struct {
	Words string `json:"words"`
	Truth string `json:"truth"` // true, false or unknown
	// Grounds are the comparisons on which the truth rests. More says that not all are listed.
	Grounds []Ground  `json:"grounds,omitempty"`
	More    bool      `json:"more,omitempty"`
	Cause   *CauseWhy `json:"cause,omitempty"` // why it is unknown
	Place   *Place    `json:"place"`
}

// Ground is one comparison in a condition, and the values that it read.
type Ground struct {
	Words  string    `json:"words"`
	Truth  string    `json:"truth"`
	Values []Reading `json:"values,omitempty"`
	Place  *Place    `json:"place"`
}

// Reading is a variable and its value in the request; null also where that has none.
type Reading struct {
	Variable string `json:"variable"`
	Value    any    `json:"value"`
}

// CauseWhy says what could not be decided.
type CauseWhy struct {
	Operator string `json:"operator,omitempty"`
	Variable string `json:"variable,omitempty"`
	Reason   string `json:"reason"` // in the grammar of messages, with operator and variable
	Place    *Place `json:"place,omitempty"`
}

// ToolWhy is why one capability is in the tool manifest or not.
type ToolWhy struct {
	Tool     string `json:"tool"` // adapter.capability
	Surfaced bool   `json:"surfaced"`
	// Mode is the adapter's approval mode, which counts for the ceiling and for who
	// may authorise; one that is missing or unknown counts as destructive.
	// Effective is the mode in the manifest, absent where it is not surfaced.
	Mode        string          `json:"approval_mode"`
	Effective   string          `json:"effective_mode,omitempty"`
	Permissions []PermissionWhy `json:"permissions,omitempty"`
	// AuthorisedBy are the allowed decisions that may authorise it.
	AuthorisedBy []string      `json:"authorised_by,omitempty"`
	Obstacles    []ObstacleWhy `json:"obstacles,omitempty"` // all reasons for which it is left out
	Bounds       []BoundWhy    `json:"bounds,omitempty"`    // by argument
	Place        *Place        `json:"place"`
}

// PermissionWhy is a permission that names a capability.
type PermissionWhy struct {
	Permission string `json:"permission"`
	Allow      bool   `json:"allow"`
	Gate       string `json:"gate,omitempty"`
	Place      *Place `json:"place"`
}

// ObstacleWhy is one reason for which a capability is left out. Place is absent for silence.
type ObstacleWhy struct {
	Reason string `json:"reason"`
	Place  *Place `json:"place,omitempty"`
}

// BoundWhy is what holds for one argument, and who says so.
type BoundWhy struct {
	Argument string   `json:"argument"`
	Bound    any      `json:"bound"` // as in the manifest
	From     []Source `json:"from"`
}

// Source is a permission or an outcome. Kind is permission, then or else; Name whose it is.
type Source struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Place *Place `json:"place"`
}

// GateWhy is why one approval gate is active or not.
type GateWhy struct {
	Gate   string `json:"gate"`
	Active bool   `json:"active"`
	// RequiredBy are the rules whose outcomes hold and require it.
	RequiredBy []RuleAt `json:"required_by,omitempty"`
	// NamedBy are the permissions of tools in the manifest and the outcomes of
	// applicable rules that name it. Only then its condition counts.
	NamedBy   []Source      `json:"named_by,omitempty"`
	Condition *ConditionWhy `json:"condition,omitempty"`
	Place     *Place        `json:"place"`
}
