package build

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
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
		h.SafetyMode = pack.TextOf(r.Input.RunContext.Get("safety_mode"))
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
	e.Rules, e.Decisions = each(e.Rules, trace.Rules, x.rule), each(e.Decisions, trace.Decisions, x.decision)
	e.Tools, e.Gates = each(e.Tools, trace.Tools, x.tool), each(e.Gates, trace.Gates, x.gate)
	e.RulesLeft = -len(e.Rules)
	for i := range u.Pack.PolicyLayer.PolicyBundles.Items {
		e.RulesLeft += len(u.Pack.PolicyLayer.PolicyBundles.Items[i].PolicyDSL.Rules.Items)
	}
	if c := r.Detail.Context; c != nil {
		e.Dropped = append(e.Dropped, x.dropped(c.BudgetReport)...)
		e.Warnings = append(e.Warnings, c.BudgetReport.Warnings...)
	}
	return e
}

type explainer struct {
	result *compiler.Result
	data   map[string]any // what conditions read
}

func (x *explainer) rule(t compiler.RuleTrace) model.RuleWhy {
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

func (x *explainer) decision(t compiler.DecisionTrace) model.DecisionWhy {
	return model.DecisionWhy{
		Decision: t.Decision.DecisionKey.Value, Mode: t.Decision.ApprovalMode.Value, State: string(t.State), By: each(nil, t.By, x.ruleAt), Place: placeOf(t.Decision.Node),
	}
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

// settingsOf returns the values that count in the end, in the order in which they
// are set; none for a case without an overlay, or with one that cannot be applied.
func settingsOf(u *repo.Unit, r golden.Result) []model.SettingWhy {
	if r.Overlay == "" {
		return nil
	}
	view, err := overlay.ForCase(u, r.Overlay)
	if err != nil {
		return nil // the heading says so
	}
	var settings []model.SettingWhy
	for _, s := range overlay.Effective(view.Steps) {
		settings = append(settings, model.SettingWhy{
			Overlay: s.Overlay.OverlayID.Value, Path: s.Path(), Was: s.At.Any(), Value: s.Setting.Value.Any(), Place: placeOf(s.Setting.Value),
		})
	}
	return settings
}

func (x *explainer) dropped(b compiler.BudgetReport) []model.DroppedWhy {
	var out []model.DroppedWhy
	about := x.blocks(b.Tokenizer)
	for _, bucket := range compiler.Buckets() {
		for _, id := range b.DroppedBlockIDs.Of(bucket) {
			d := about[id]
			d.Block, d.Bucket, d.Budget, d.Used = id, string(bucket), b.TokensAllocated.Of(bucket), b.TokensUsedByBucket.Of(bucket)
			out = append(out, d)
		}
	}
	return out
}

// blocks says by the ids of blocks what they are about, for the budget report's tokenizer.
func (x *explainer) blocks(tokenizer string) map[string]model.DroppedWhy {
	about, n := map[string]model.DroppedWhy{}, map[string]int{}
	add := func(kind, ref string, rest model.DroppedWhy) {
		rest.Ref = ref
		about[fmt.Sprintf("%s_%d", kind, n[kind])] = rest
		n[kind]++
	}
	for _, t := range x.result.Trace.Rules {
		if t.Outcome != nil {
			add("pol", t.Rule.RuleID.Value, model.DroppedWhy{})
		}
	}
	for _, t := range x.result.Trace.Tools {
		if t.Surfaced {
			add("tool", t.Adapter.AdapterID.Value+"."+t.Capability, model.DroppedWhy{})
		}
	}
	counter, err := tokens.Find(cmp.Or(tokenizer, compiler.Estimate{}.Name()))
	if err != nil {
		return about // of a tokenizer that is not built in, nothing can be counted
	}
	for _, s := range x.result.Stages {
		switch list := s.Output.(type) {
		case []compiler.Evidence:
			for _, e := range list {
				add("ev", e.Ref, itemOf(counter.Count(blockText(e.Ref, e.Content)), e.Priority, 60))
			}
		case []compiler.Memory:
			for _, m := range list {
				add("mem", m.Ref, itemOf(counter.Count(blockText(m.Ref, m.Content)), m.Priority, 50))
			}
		}
	}
	return about
}

// blockText is what a block has of what the caller supplied: its content under its reference.
func blockText(ref, content string) string {
	if content == "" {
		return ref
	}
	return ref + "\n" + content
}

// itemOf is an item that was dropped. Without a priority of its own it has the usual one of its bucket.
func itemOf(tokens int, priority *int, usual int) model.DroppedWhy {
	return model.DroppedWhy{Priority: cmp.Or(priority, &usual), Tokens: &tokens}
}

// NewStageOutput returns the output of a stage, one of compiler.Stages, for a golden
// case of a pack. The error is for an output without a JSON form.
func NewStageOutput(u *repo.Unit, r golden.Result, stage string) (model.StageOutput, error) {
	out := model.StageOutput{Heading: NewHeading(u, r), Stage: stage}
	if r.Detail == nil {
		return out, nil
	}
	i := slices.IndexFunc(r.Detail.Stages, func(s compiler.StageHash) bool { return s.Name == stage })
	if i < 0 {
		return out, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.Detail.Stages[i].Output); err != nil {
		return out, fmt.Errorf("write the output of stage %s: %w", stage, err)
	}
	out.StageHash, out.Output = r.Detail.Stages[i].Hash, b.Bytes()
	return out, nil
}
