package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

func (t *terminal) settingsWhy(settings []model.SettingWhy) {
	if len(settings) > 0 {
		t.line("\nset by overlays, in place of what the pack's file says")
	}
	for _, s := range settings {
		t.line("  %s  %s", text(s.Path), text(placeWords(s.Place)))
		t.line("      %s → %s", text(pack.CompactJSON(s.Was)), text(pack.CompactJSON(s.Value)))
	}
}

// WriteExplanation writes an explanation for a person at a terminal.
func WriteExplanation(w io.Writer, e model.Explanation) error {
	t := &terminal{}
	t.heading(e.Heading)
	t.settingsWhy(e.Settings)
	t.rulesWhy(&e)
	t.decisionsWhy(&e)
	t.toolsWhy(&e)
	t.gatesWhy(&e)
	t.droppedWhy(e.Dropped)
	t.sentences("warnings", e.Warnings)
	t.sentences("not checked", e.NotChecked)
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *terminal) sentences(title string, list []string) {
	if len(list) > 0 {
		t.line("\n%s", title)
	}
	for _, s := range list {
		t.line("  %s", text(s))
	}
}

// heading writes which case is shown and how its compile ended.
func (t *terminal) heading(h model.Heading) {
	name := h.Case
	if h.Family != "" {
		name += " (" + h.Family + ")"
	}
	t.headed("case", name)
	t.headed("file", h.File)
	t.headed("pack", h.Pack)
	var parts []string
	for _, part := range []struct{ word, value string }{
		{"", h.Intent}, {"safety mode ", h.SafetyMode}, {"environment ", h.Environment}, {"overlay ", h.Overlay},
	} {
		if part.value != "" {
			parts = append(parts, part.word+part.value)
		}
	}
	t.headed("request", strings.Join(parts, ", "))
	t.headed("outcome", outcomeOf(h))
	if h.Ended != nil {
		t.headed("because", h.Ended.Reason)
		t.headed("at", placeWords(h.Ended.Place))
	}
	t.headed("hash", h.Hash)
}

// headed writes a word and what it stands for, and nothing where that is empty.
func (t *terminal) headed(word, value string) {
	if value != "" {
		t.line("%-9s %s", word, text(value))
	}
}

// outcomeOf says how a compile ended, and at which stage if it ended early.
func outcomeOf(h model.Heading) string {
	outcome := cmp.Or(h.Outcome, "not compiled")
	if h.Ended == nil || h.Ended.Stage == "" {
		return outcome
	}
	return outcome + " " + stageWords(h.Ended.Stage)
}

// stageWords says at which stage something is.
func stageWords(stage string) string {
	i := slices.Index(compiler.Stages(), stage)
	if i < 0 {
		return "before the first stage"
	}
	return fmt.Sprintf("at stage %d, %s", i+1, stage)
}

// placeWords returns a place as file:line, which a terminal makes clickable.
func placeWords(p *model.Place) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// why writes one thing with its state and place. What is said of it follows,
// with nothing but the line as its place, for it stands in the same file.
func (t *terminal) why(look, name, state string, p *model.Place) {
	t.line("  %s %s  %s  %s", looks[look].mark, text(name), text(state), text(placeWords(p)))
}

func (t *terminal) fact(p *model.Place, format string, args ...any) {
	line := ""
	if p != nil {
		line = fmt.Sprintf(" (line %d)", p.Line)
	}
	t.line("      %s%s", text(fmt.Sprintf(format, args...)), line)
}

func (t *terminal) rulesWhy(e *model.Explanation) {
	if len(e.Rules)+e.RulesLeft > 0 {
		t.line("\nrules, in the order of evaluation")
	}
	for i := range e.Rules {
		r := &e.Rules[i]
		if bundle := bundleWords(r); i == 0 || bundle != bundleWords(&e.Rules[i-1]) {
			t.line("  %s", text(bundle))
		}
		look, words := ruleState(r)
		t.why(look, r.Rule, words, r.Place)
		t.conditionWhy("if", r.Condition)
		if r.Outcome != nil {
			t.fact(r.OutcomeAt, "%-8s%s", r.State, pack.CompactJSON(r.Outcome))
		}
	}
	if e.RulesLeft > 0 {
		t.line("  %s not evaluated: %s", looks["not_checked"].mark, pack.Counted(e.RulesLeft, "rule"))
	}
}

func bundleWords(r *model.RuleWhy) string {
	if r.Priority == nil {
		return "bundle " + r.Bundle
	}
	return fmt.Sprintf("bundle %s, priority %v", r.Bundle, *r.Priority)
}

func ruleState(r *model.RuleWhy) (look, words string) {
	look = "not_checked"
	switch compiler.RuleState(r.State) {
	case compiler.RuleOther:
		return look, fmt.Sprintf("does not apply, it is for %q", r.AppliesTo)
	case compiler.RuleThen, compiler.RuleElse:
		look, words = "pass", "fired, its "+r.State+" holds"
	case compiler.RuleSilent:
		words = "did not fire: its condition is false and it has no else"
	case compiler.RuleUndecided:
		look, words = "fail", "could not be decided, which ends the compile"
		if !r.Enforced {
			look, words = "not_checked", "could not be decided and was skipped"
		}
	}
	if !r.Enforced {
		words += "; it is not enforced"
	}
	return look, words
}

// mostValue is how much of one value of a request is shown, in characters.
const mostValue = 80

// conditionWhy writes a condition and what settles it.
func (t *terminal) conditionWhy(word string, c *model.ConditionWhy) {
	if c == nil {
		return
	}
	t.fact(c.Place, "%-8s%s", word, c.Words)
	if c.Cause != nil {
		t.fact(c.Cause.Place, "%-8s%s", c.Truth, c.Cause.Reason)
	}
	for _, g := range c.Grounds {
		t.fact(nil, "%-8s%s", c.Truth, groundWords(c, g))
	}
	if c.More {
		t.fact(nil, "%-8sand more that is not listed", "")
	}
}

// groundWords says a comparison and the values that it read. What the condition
// itself says is not said again.
func groundWords(c *model.ConditionWhy, g model.Ground) string {
	var values []string
	for _, v := range g.Values {
		value := "missing or null"
		if v.Value != nil {
			value = cut(pack.CompactJSON(v.Value), mostValue)
		}
		values = append(values, v.Variable+" is "+value)
	}
	read := strings.Join(values, ", ")
	if g.Words == c.Words {
		return cmp.Or(read, "it reads nothing of the request")
	}
	words := g.Words
	if g.Truth != c.Truth {
		words += " is " + g.Truth
	}
	if read != "" {
		words += ", where " + read
	}
	return words
}

func (t *terminal) decisionsWhy(e *model.Explanation) {
	if len(e.Decisions) > 0 {
		t.line("\ndecisions")
	}
	var others []string
	for i := range e.Decisions {
		d := &e.Decisions[i]
		look, verb := "pass", "allows"
		switch compiler.DecisionState(d.State) {
		case compiler.DecisionOther:
			others = append(others, d.Decision)
			continue
		case compiler.DecisionDenied:
			look, verb = "fail", "denies"
		case compiler.DecisionSilent:
			look = "fail"
		}
		t.why(look, d.Decision, d.State+", "+cmp.Or(d.Mode, "without an approval mode"), d.Place)
		for _, r := range d.By {
			t.fact(r.Place, "%s %s it", r.Rule, verb)
		}
		if len(d.By) == 0 {
			t.fact(nil, "%s", silenceWords(e, d))
		}
	}
	if len(others) > 0 {
		t.line("  %s not of this intent: %s", looks["not_checked"].mark, text(strings.Join(others, ", ")))
	}
}

// silenceWords says how a decision stands of which no rule says how it stands.
func silenceWords(e *model.Explanation, d *model.DecisionWhy) string {
	if compiler.DecisionState(d.State) == compiler.DecisionAllowed {
		return "it only reads, and no rule of it fired"
	}
	var fired, silent []string
	for i := range e.Rules {
		r := &e.Rules[i]
		switch {
		case r.Decision != d.Decision || !r.Enforced || r.State == string(compiler.RuleOther):
		case r.Outcome != nil:
			fired = append(fired, r.Rule)
		default:
			silent = append(silent, r.Rule)
		}
	}
	words := "nothing allows it"
	if len(fired) > 0 {
		words += "; fired and without an allow: " + strings.Join(fired, ", ")
	}
	if len(silent) > 0 {
		words += "; not fired: " + strings.Join(silent, ", ")
	}
	return words
}

func (t *terminal) toolsWhy(e *model.Explanation) {
	if len(e.Tools) > 0 {
		t.line("\ntools")
	}
	for i := range e.Tools {
		tool := &e.Tools[i]
		if tool.Surfaced {
			t.toolIn(e, tool)
		} else {
			t.toolOut(e, tool)
		}
	}
}

func (t *terminal) toolIn(e *model.Explanation, tool *model.ToolWhy) {
	state := "in, " + tool.Mode
	if tool.Effective != "" && tool.Effective != tool.Mode {
		state = fmt.Sprintf("in, as %s (its adapter is %s)", tool.Effective, tool.Mode)
	}
	t.why("pass", tool.Tool, state, tool.Place)
	for _, p := range tool.Permissions {
		gate := ""
		if p.Gate != "" {
			gate = " and requires " + p.Gate
		}
		t.fact(p.Place, "permission %s allows it%s", p.Permission, gate)
	}
	if tool.Mode == string(pack.ReadOnly) {
		t.fact(nil, "it only reads, so no decision has to authorise it")
	} else {
		t.fact(nil, "authorised by %s", strings.Join(tool.AuthorisedBy, ", "))
	}
	t.fact(nil, "nothing prohibits it; the safety mode %s covers it", e.SafetyMode)
	for _, b := range tool.Bounds {
		t.fact(nil, "argument %s is bound to %s", b.Argument, pack.CompactJSON(b.Bound))
		for _, from := range b.From {
			t.fact(from.Place, "  by %s", sourceWords(from))
		}
	}
}

func (t *terminal) toolOut(e *model.Explanation, tool *model.ToolWhy) {
	t.why("fail", tool.Tool, "out, "+tool.Mode, tool.Place)
	for _, o := range tool.Obstacles {
		t.fact(o.Place, "%s", o.Reason)
	}
	if len(tool.AuthorisedBy) > 0 || tool.Mode == string(pack.ReadOnly) {
		return
	}
	for i := range e.Decisions {
		if d := &e.Decisions[i]; d.State != string(compiler.DecisionOther) {
			t.fact(d.Place, "  %s is %s and %s", d.Decision, cmp.Or(d.Mode, "without an approval mode"), d.State)
		}
	}
}

// sourceWords names a part of the pack that says something.
func sourceWords(s model.Source) string {
	if s.Kind == "permission" {
		return "permission " + s.Name
	}
	return "the " + s.Kind + " of " + s.Name
}

func (t *terminal) gatesWhy(e *model.Explanation) {
	if len(e.Gates) > 0 {
		t.line("\napproval gates")
	}
	for i := range e.Gates {
		g := &e.Gates[i]
		look, state := "not_checked", "not active"
		if g.Active {
			look, state = "pass", "active"
		}
		t.why(look, g.Gate, state, g.Place)
		for _, r := range g.RequiredBy {
			t.fact(r.Place, "%s requires it", r.Rule)
		}
		for _, s := range g.NamedBy {
			t.fact(s.Place, "named by %s", sourceWords(s))
		}
		if len(g.NamedBy) == 0 && len(g.RequiredBy) == 0 {
			t.fact(nil, "no tool in the manifest and no rule of this intent names it")
		}
		t.conditionWhy("when", g.Condition)
		if c := g.Condition; c != nil && c.Cause != nil {
			t.fact(nil, "%-8swhat is unknown keeps the gate active", "")
		}
	}
}

func (t *terminal) droppedWhy(blocks []model.DroppedWhy) {
	if len(blocks) > 0 {
		t.line("\ndropped blocks")
	}
	bucket := ""
	for _, b := range blocks {
		if b.Bucket != bucket {
			bucket = b.Bucket
			t.line("  %s: %s, %d of them used by what stayed%s", bucket, pack.Counted(b.Budget, "token"), b.Used, dropOrder(b))
		}
		line := "    " + text(b.Block)
		if b.Tokens != nil {
			line += fmt.Sprintf("  %s, priority %d", pack.Counted(*b.Tokens, "token"), *b.Priority)
		}
		t.line("%s", strings.TrimRight(line+"  "+text(b.Ref), " "))
	}
}

// dropOrder says in which order the blocks of a bucket are dropped, if it has
// several.
func dropOrder(b model.DroppedWhy) string {
	switch compiler.Bucket(b.Bucket) {
	case compiler.BucketEvidence, compiler.BucketMemory:
		return "; the lowest priority is dropped first, then the latest"
	case compiler.BucketPolicy, compiler.BucketTool:
		return "; the latest is dropped first"
	}
	return ""
}
