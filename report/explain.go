package report

import (
	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Place is where something stands in a file. Line and Column count from 1
// (columns in characters).
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func placeOf(n *pack.Node) *Place {
	if n == nil {
		return nil
	}
	l := n.Location()
	return &Place{File: l.File, Line: l.Start.Line, Column: l.Start.Column}
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

// NewHeading returns the heading of a golden case of a pack.
func NewHeading(u *repo.Unit, r golden.Result) Heading {
	h := Heading{
		Case: r.Case, Family: r.Family, File: r.File, Intent: r.Intent, Environment: r.Environment, Overlay: r.Overlay,
		Outcome: string(r.Outcome), Hash: r.Hash,
	}
	if u.Pack != nil {
		h.Pack = u.Pack.Ref()
	}
	if r.Input != nil {
		h.SafetyMode = textOf(r.Input.RunContext.Get("safety_mode"))
	}
	switch {
	case r.Detail == nil:
		h.Ended = &Ended{Reason: r.Reason}
	case r.Detail.Stop != nil:
		s := r.Detail.Stop
		h.Ended = &Ended{Stage: s.Stage, Reason: s.Reason, Rule: s.Rule, Operator: s.Operator, Variable: s.Variable, Place: placeOf(s.At)}
	}
	return h
}

// textOf returns the text of a string, "" for anything else.
func textOf(n *pack.Node) string {
	if n == nil || n.Kind != pack.String {
		return ""
	}
	return n.Text
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

// NewExplanation explains a golden case of a pack.
func NewExplanation(u *repo.Unit, r golden.Result) Explanation {
	e := Explanation{
		Heading: NewHeading(u, r), Rules: []RuleWhy{}, Decisions: []DecisionWhy{}, Tools: []ToolWhy{}, Gates: []GateWhy{},
		Dropped: []DroppedWhy{}, Warnings: []string{}, NotChecked: append([]string{}, r.NotChecked...),
	}
	if r.Detail == nil {
		return e
	}
	e.Settings = settingsOf(u, r)
	x := &explainer{result: r.Detail, data: r.Request.Data()}
	trace := &r.Detail.Trace
	for i := range trace.Rules {
		e.Rules = append(e.Rules, x.rule(&trace.Rules[i]))
	}
	e.RulesLeft = rulesOf(u) - len(e.Rules)
	for i := range trace.Decisions {
		e.Decisions = append(e.Decisions, x.decision(&trace.Decisions[i]))
	}
	for i := range trace.Tools {
		e.Tools = append(e.Tools, x.tool(&trace.Tools[i]))
	}
	for i := range trace.Gates {
		e.Gates = append(e.Gates, x.gate(&trace.Gates[i]))
	}
	if c := r.Detail.Context; c != nil {
		e.Dropped = append(e.Dropped, x.dropped(c.BudgetReport)...)
		e.Warnings = append(e.Warnings, c.BudgetReport.Warnings...)
	}
	return e
}

func rulesOf(u *repo.Unit) int {
	n := 0
	for i := range u.Pack.PolicyLayer.PolicyBundles.Items {
		n += len(u.Pack.PolicyLayer.PolicyBundles.Items[i].PolicyDSL.Rules.Items)
	}
	return n
}

// explainer explains one compile.
type explainer struct {
	result *compiler.Result
	data   map[string]any // what conditions read
}

func (x *explainer) rule(t *compiler.RuleTrace) RuleWhy {
	r := t.Rule
	out := RuleWhy{
		Rule: r.RuleID.Value, Bundle: t.Bundle.BundleID.Value, AppliesTo: r.AppliesTo.Intent.Value, Decision: r.DecisionBinding.Value,
		Enforced: t.Enforced, State: string(t.State), Place: placeOf(r.Node),
	}
	if p := t.Bundle.Priority; p.OK {
		out.Priority = &p.Value
	}
	if t.Outcome != nil {
		out.Outcome, out.OutcomeAt = t.Outcome.Node.Any(), placeOf(t.Outcome.Node)
	}
	switch t.State {
	case compiler.RuleThen:
		out.Condition = x.condition(r.If, jsonlogic.True, nil)
	case compiler.RuleElse, compiler.RuleSilent:
		out.Condition = x.condition(r.If, jsonlogic.False, nil)
	case compiler.RuleUndecided:
		out.Condition = x.condition(r.If, jsonlogic.Unknown, t.Cause)
	}
	return out
}

func (x *explainer) decision(t *compiler.DecisionTrace) DecisionWhy {
	out := DecisionWhy{
		Decision: t.Decision.DecisionKey.Value, Mode: t.Decision.ApprovalMode.Value, State: string(t.State), Place: placeOf(t.Decision.Node),
	}
	for _, r := range t.By {
		out.By = append(out.By, x.ruleAt(r))
	}
	return out
}

// ruleAt names a rule, at the outcome of it that holds.
func (x *explainer) ruleAt(r *pack.Rule) RuleAt {
	at := r.Node
	for i := range x.result.Trace.Rules {
		if t := &x.result.Trace.Rules[i]; t.Rule == r && t.Outcome != nil {
			at = t.Outcome.Node
		}
	}
	return RuleAt{Rule: r.RuleID.Value, Place: placeOf(at)}
}
