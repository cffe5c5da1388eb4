package build

import (
	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

func placeOf(n *pack.Node) *model.Place {
	if n == nil {
		return nil
	}
	l := n.Location()
	return &model.Place{File: l.File, Line: l.Start.Line, Column: l.Start.Column}
}

// NewHeading returns the heading of a golden case of a pack.
func NewHeading(u *repo.Unit, r golden.Result) model.Heading {
	h := model.Heading{
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
		h.Ended = &model.Ended{Reason: r.Reason}
	case r.Detail.Stop != nil:
		s := r.Detail.Stop
		h.Ended = &model.Ended{Stage: s.Stage, Reason: s.Reason, Rule: s.Rule, Operator: s.Operator, Variable: s.Variable, Place: placeOf(s.At)}
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

// NewExplanation explains a golden case of a pack.
func NewExplanation(u *repo.Unit, r golden.Result) model.Explanation {
	e := model.Explanation{
		Heading: NewHeading(u, r), Rules: []model.RuleWhy{}, Decisions: []model.DecisionWhy{}, Tools: []model.ToolWhy{}, Gates: []model.GateWhy{},
		Dropped: []model.DroppedWhy{}, Warnings: []string{}, NotChecked: append([]string{}, r.NotChecked...),
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

func (x *explainer) rule(t *compiler.RuleTrace) model.RuleWhy {
	r := t.Rule
	out := model.RuleWhy{
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

func (x *explainer) decision(t *compiler.DecisionTrace) model.DecisionWhy {
	out := model.DecisionWhy{
		Decision: t.Decision.DecisionKey.Value, Mode: t.Decision.ApprovalMode.Value, State: string(t.State), Place: placeOf(t.Decision.Node),
	}
	for _, r := range t.By {
		out.By = append(out.By, x.ruleAt(r))
	}
	return out
}

// ruleAt names a rule, at the outcome of it that holds.
func (x *explainer) ruleAt(r *pack.Rule) model.RuleAt {
	at := r.Node
	for i := range x.result.Trace.Rules {
		if t := &x.result.Trace.Rules[i]; t.Rule == r && t.Outcome != nil {
			at = t.Outcome.Node
		}
	}
	return model.RuleAt{Rule: r.RuleID.Value, Place: placeOf(at)}
}
