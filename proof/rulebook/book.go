// Package rulebook shows the policy layer of a pack: for each intent, its rules
// in the order in which they are evaluated, and for each rule its condition in
// words, a request that makes it fire and one that does not, what keeps it from
// deciding, and where it overlaps with a rule that decides differently. Then come
// the gaps: requests that no rule deals with, and gates that are required although
// their own condition is not met.
//
// A gate of packgate reports what is wrong. A rulebook shows what is there, so that
// somebody who answers for a policy can read it without reading JsonLogic, and
// can see from the smallest requests where its borders are.
//
// Every request shown was found by the solver and confirmed by evaluation, and
// every "never" is a proof over all requests of the intent. What could not be
// decided is listed as not proved, with the reason. The book is bounded: a
// pack that is made to be slow gets a shorter book and not a slower one.
package rulebook

// Book is the rulebook of one pack. Its JSON form is what "packgate policy
// --format json" prints; members are only ever added:
//
//	pack, file     the pack's reference and file
//	intents        by name; each has "intent" (absent where the pack names none
//	               and so the rules are for every request), "rules" in the order
//	               of evaluation, and "gaps"
//	unplaced       rules whose intents cannot be read
//	assumed        the variables that proofs took to be single values
//	not_proved     what was left undecided about the whole, and why
type Book struct {
	Pack      string   `json:"pack"`
	File      string   `json:"file"`
	Intents   []Intent `json:"intents"`
	Unplaced  []Rule   `json:"unplaced,omitempty"`
	Assumed   []string `json:"assumed,omitempty"`
	NotProved []string `json:"not_proved,omitempty"`
}

// Intent is the part of a book about the requests of one intent.
type Intent struct {
	Intent *string `json:"intent,omitempty"` // nil for every request
	Rules  []Rule  `json:"rules"`
	Gaps   []Gap   `json:"gaps"`
}

// Place is where something is in the pack. Lines and columns count from 1.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Problem is why a rule could not be read.
type Problem struct {
	Place
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Rule is a rule for the requests of one intent, or the eligibility_rules of a decision, which have no
// bundle: they deny the decision to everybody who is not eligible. A rule that applies to several
// intents is in each of them, because what others do to it depends on the intent. A rule with problems
// has none of the members after Problems.
type Rule struct {
	Place
	ID        string   `json:"rule_id,omitempty"`
	Bundle    string   `json:"bundle_id,omitempty"`
	Priority  *float64 `json:"priority,omitempty"`
	Condition string   `json:"condition"` // see the function Condition
	Decision  string   `json:"decision_binding,omitempty"`
	Enforced  bool     `json:"enforced"`
	// EveryIntent is set if the rule names no intent and so applies to all.
	EveryIntent bool      `json:"every_intent,omitempty"`
	Then        *Outcome  `json:"then,omitempty"`
	Else        *Outcome  `json:"else,omitempty"`
	Rationale   string    `json:"rationale,omitempty"`
	Problems    []Problem `json:"problems,omitempty"`

	Fires    *Example  `json:"fires,omitempty"`   // its condition is true
	Rests    *Example  `json:"rests,omitempty"`   // its condition is false
	Unknown  *Example  `json:"unknown,omitempty"` // its condition is unknown; only when explained
	Shadows  []Shadow  `json:"shadowed,omitempty"`
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// ShadowsOthers and SameDecision are there only if the rule is explained: the
	// rules that it helps to keep from deciding, and the other rules of its decision
	// that it neither overlaps with nor shadows.
	ShadowsOthers []string `json:"shadows,omitempty"`
	SameDecision  []string `json:"same_decision,omitempty"`
	NotProved     []string `json:"not_proved,omitempty"`
}

// Outcome is a then or an else, by the contract's names. Bounds are the names of the arguments that it
// bounds.
type Outcome struct {
	Allow     *bool    `json:"allow,omitempty"`
	Gate      string   `json:"requires_approval_gate,omitempty"`
	Mode      string   `json:"approval_mode,omitempty"`
	Requires  []string `json:"requires,omitempty"`
	Prohibits []string `json:"prohibits,omitempty"`
	Bounds    []string `json:"bounds,omitempty"`
	Reason    string   `json:"reason,omitempty"`
}

// State is the result of the search for a request.
type State string

// The states of an Example and of a Gap.
const (
	Found     State = "request"    // there is one
	None      State = "none"       // it is proved that there is none
	NotProved State = "not_proved" // neither
)

// Example is the smallest request of a kind.
type Example struct {
	State   State          `json:"state"`
	Request map[string]any `json:"request,omitzero"`
	Words   string         `json:"words,omitempty"`  // the request in one line, without the intent
	Reason  string         `json:"reason,omitempty"` // for not_proved: why
	// Variable and Because are what makes a condition unknown.
	Variable string `json:"variable,omitempty"`
	Because  string `json:"because,omitempty"`
}

// Effect is what a shadow does to an outcome.
type Effect string

// The effects of a Shadow.
const (
	NeverDecides Effect = "never_decides" // wherever it holds, others deny or are unknown
	AddsNothing  Effect = "adds_nothing"  // wherever it holds, earlier rules say the same
)

// Shadow is an outcome that makes no difference, with the rules because of which it does not: in every
// request, one of them.
type Shadow struct {
	Outcome string   `json:"outcome"` // then or else
	Effect  Effect   `json:"effect"`
	Denied  []string `json:"denied_by,omitempty"`
	Stopped []string `json:"unknown,omitempty"` // rules whose condition is unknown
	Said    []string `json:"said_by,omitempty"`
}

// Overlap is an outcome that can hold together with a different outcome of another rule for the same
// decision.
type Overlap struct {
	Outcome string         `json:"outcome"` // then or else, of this rule
	With    string         `json:"with"`
	Other   string         `json:"other"`   // then or else, of the other rule
	Differs []string       `json:"differs"` // what the other one decides
	Request map[string]any `json:"request"`
	Words   string         `json:"words"`
}

// GapKind is what a gap is about.
type GapKind string

// The kinds of a Gap.
const (
	// Silence: no rule of a decision fires, so that the request is blocked.
	Silence GapKind = "silence"
	// IdleGate: a rule requires a gate whose own condition is false.
	IdleGate GapKind = "idle_gate"
)

// Gap is a possible gap of an intent. There is none if its state is None.
type Gap struct {
	Kind GapKind `json:"kind"`
	Name string  `json:"name"` // of the decision or the gate
	Example
}
