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

// WriteExplanation writes an explanation for a person at a terminal.
func WriteExplanation(w io.Writer, e model.Explanation) error {
	all := []section{
		told("Set by overlays, in place of what the pack's file says", settingsWhy(e.Settings)),
		told("Rules, in the order of evaluation", rulesWhy(&e)), told("Decisions", decisionsWhy(&e)), told("Tools", toolsWhy(&e)),
		told("Approval gates", gatesWhy(&e)), told("Dropped blocks", droppedWhy(e.Dropped)),
		told("Warnings", sentences(e.Warnings)), told("Not checked", sentences(e.NotChecked)),
	}
	return writeTerminal(w, Style{}, func(t *terminal) {
		t.facts("", headingWidth, heading(e.Heading))
		for _, s := range spoken(all) {
			t.section(&s, "")
		}
	})
}

// told is a section of an explanation, which says nothing where there are no nodes.
func told(title string, nodes []node) section {
	return section{title: titled(title, len(nodes)), nodes: nodes}
}

func sentences(list []string) []node {
	return each(list, func(s string) node { return plain(s) })
}

// headingWidth is how wide the names of a heading are, with the blanks behind them.
const headingWidth = 10

// heading says which case is shown and how its compile ended.
func heading(h model.Heading) []fact {
	name := h.Case
	if h.Family != "" {
		name += " (" + h.Family + ")"
	}
	parts := each(facts(
		fact{name: "", value: h.Intent}, fact{name: "safety mode ", value: h.SafetyMode}, fact{name: "environment ", value: h.Environment}, fact{name: "overlay ", value: h.Overlay},
	), func(f fact) string { return f.name + f.value })
	outcome, ended := cmp.Or(h.Outcome, "not compiled"), model.Ended{}
	if h.Ended != nil {
		ended = *h.Ended
	}
	if i := slices.Index(compiler.Stages(), ended.Stage); i >= 0 {
		outcome += fmt.Sprintf(" at stage %d, %s", i+1, ended.Stage)
	} else if ended.Stage != "" {
		outcome += " before the first stage"
	}
	return facts(
		fact{name: "case", value: name}, fact{name: "file", value: h.File}, fact{name: "pack", value: h.Pack},
		fact{name: "request", value: strings.Join(parts, ", ")}, fact{name: "outcome", value: outcome},
		fact{name: "because", value: ended.Reason}, fact{name: "at", value: placeWords(ended.Place)}, fact{name: "hash", value: h.Hash},
	)
}

// placeWords returns a place as file:line, which a terminal makes clickable.
func placeWords(p *model.Place) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// oneRow shows what is known of one thing in a line, and the last of it below.
func oneRow(cells ...sentence) node {
	columns := make([]column, len(cells))
	columns[len(cells)-1].below = true
	return &table{n: 1, columns: columns, row: func(int) row { return row{cells: cells} }}
}

// marked names a thing with the mark of its state.
func marked(state, name string) sentence { return plain(looks[state].mark + " ").plain(name) }

// fact says one thing more, on a line of its own, in the same file.
func (s sentence) fact(p *model.Place, format string, args ...any) sentence {
	s = s.line().plain(fmt.Sprintf(format, args...))
	if p != nil {
		s = s.plain(fmt.Sprintf(" (line %d)", p.Line))
	}
	return s
}

func settingsWhy(settings []model.SettingWhy) []node {
	return each(settings, func(s model.SettingWhy) node {
		return oneRow(plain(s.Path), plain(placeWords(s.Place)), plain(pack.CompactJSON(s.Was)).plain(" → ").plain(pack.CompactJSON(s.Value)))
	})
}

func rulesWhy(e *model.Explanation) (nodes []node) {
	before := ""
	for i := range e.Rules {
		r := &e.Rules[i]
		if bundle := bundleWords(r.Bundle, r.Priority); bundle != before {
			before = bundle
			nodes = append(nodes, plain(bundle))
		}
		said := sentence{}.condition("if", r.Condition)
		if r.Outcome != nil {
			said = said.fact(r.OutcomeAt, "%-8s%s", r.State, pack.CompactJSON(r.Outcome))
		}
		shown, words := ruleState(r)
		nodes = append(nodes, oneRow(marked(shown, r.Rule), plain(words), plain(placeWords(r.Place)), said))
	}
	if e.RulesLeft > 0 {
		nodes = append(nodes, plain(looks["not_checked"].mark+" not evaluated: "+pack.Counted(e.RulesLeft, "rule")))
	}
	return nodes
}

func bundleWords(bundle string, priority *float64) string {
	if priority == nil {
		return "bundle " + bundle
	}
	return fmt.Sprintf("bundle %s, priority %v", bundle, *priority)
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

// condition says a condition and what settles it.
func (s sentence) condition(word string, c *model.ConditionWhy) sentence {
	if c == nil {
		return s
	}
	s = s.fact(c.Place, "%-8s%s", word, c.Words)
	if c.Cause != nil {
		s = s.fact(c.Cause.Place, "%-8s%s", c.Truth, c.Cause.Reason)
	}
	for _, g := range c.Grounds {
		s = s.fact(nil, "%-8s%s", c.Truth, groundWords(c, g))
	}
	if c.More {
		s = s.fact(nil, "%-8sand more that is not listed", "")
	}
	return s
}

const mostValue = 80

// groundWords says a comparison and the values that it read, without what the condition says.
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
		return cmp.Or(read, "it reads nothing from the request")
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

func decisionsWhy(e *model.Explanation) (nodes []node) {
	var others []string
	for i := range e.Decisions {
		d := &e.Decisions[i]
		shown, verb := "pass", "allows"
		switch compiler.DecisionState(d.State) {
		case compiler.DecisionOther:
			others = append(others, d.Decision)
			continue
		case compiler.DecisionDenied:
			shown, verb = "fail", "denies"
		case compiler.DecisionSilent:
			shown = "fail"
		}
		var said sentence
		for _, r := range d.By {
			said = said.fact(r.Place, "%s %s it", r.Rule, verb)
		}
		if len(d.By) == 0 {
			said = said.fact(nil, "%s", silenceWords(e, d))
		}
		nodes = append(nodes, oneRow(marked(shown, d.Decision), plain(d.State+", "+cmp.Or(d.Mode, "without an approval mode")), plain(placeWords(d.Place)), said))
	}
	if len(others) > 0 {
		nodes = append(nodes, plain(looks["not_checked"].mark+" not of this intent: ").plain(strings.Join(others, ", ")))
	}
	return nodes
}

// silenceWords says how a decision stands of which no rule says how it stands.
func silenceWords(e *model.Explanation, d *model.DecisionWhy) string {
	if compiler.DecisionState(d.State) == compiler.DecisionAllowed {
		return "it only reads, and none of its rules fired"
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
		words += "; fired without an allow: " + strings.Join(fired, ", ")
	}
	if len(silent) > 0 {
		words += "; not fired: " + strings.Join(silent, ", ")
	}
	return words
}

func toolsWhy(e *model.Explanation) (nodes []node) {
	for i := range e.Tools {
		tool := &e.Tools[i]
		shown, words, said := "pass", "in, "+tool.Mode, toolIn
		switch {
		case !tool.Surfaced:
			shown, words, said = "fail", "out, "+tool.Mode, toolOut
		case tool.Effective != "" && tool.Effective != tool.Mode:
			words = fmt.Sprintf("in, as %s (its adapter is %s)", tool.Effective, tool.Mode)
		}
		nodes = append(nodes, oneRow(marked(shown, tool.Tool), plain(words), plain(placeWords(tool.Place)), said(e, tool)))
	}
	return nodes
}

func toolIn(e *model.Explanation, tool *model.ToolWhy) (said sentence) {
	for _, p := range tool.Permissions {
		gate := ""
		if p.Gate != "" {
			gate = " and requires " + p.Gate
		}
		said = said.fact(p.Place, "permission %s allows it%s", p.Permission, gate)
	}
	if tool.Mode == string(pack.ReadOnly) {
		said = said.fact(nil, "it only reads, so no decision has to authorise it")
	} else {
		said = said.fact(nil, "authorised by %s", strings.Join(tool.AuthorisedBy, ", "))
	}
	said = said.fact(nil, "nothing prohibits it; the safety mode %s covers it", e.SafetyMode)
	for _, b := range tool.Bounds {
		said = said.fact(nil, "argument %s is bound to %s", b.Argument, pack.CompactJSON(b.Bound))
		for _, from := range b.From {
			said = said.fact(from.Place, "  by %s", sourceWords(from))
		}
	}
	return said
}

func toolOut(e *model.Explanation, tool *model.ToolWhy) (said sentence) {
	for _, o := range tool.Obstacles {
		said = said.fact(o.Place, "%s", o.Reason)
	}
	if len(tool.AuthorisedBy) > 0 || tool.Mode == string(pack.ReadOnly) {
		return said
	}
	for _, d := range e.Decisions {
		if d.State != string(compiler.DecisionOther) {
			said = said.fact(d.Place, "  %s is %s and %s", d.Decision, cmp.Or(d.Mode, "without an approval mode"), d.State)
		}
	}
	return said
}

func sourceWords(s model.Source) string {
	if s.Kind == "permission" {
		return "permission " + s.Name
	}
	return "the " + s.Kind + " of " + s.Name
}

func gatesWhy(e *model.Explanation) (nodes []node) {
	for _, g := range e.Gates {
		shown, stands := "not_checked", "not active"
		if g.Active {
			shown, stands = "pass", "active"
		}
		var said sentence
		for _, r := range g.RequiredBy {
			said = said.fact(r.Place, "%s requires it", r.Rule)
		}
		for _, s := range g.NamedBy {
			said = said.fact(s.Place, "named by %s", sourceWords(s))
		}
		if len(g.NamedBy) == 0 && len(g.RequiredBy) == 0 {
			said = said.fact(nil, "no tool in the manifest and no rule of this intent names it")
		}
		said = said.condition("when", g.Condition)
		if c := g.Condition; c != nil && c.Cause != nil {
			said = said.fact(nil, "%-8swhat is unknown keeps the gate active", "")
		}
		nodes = append(nodes, oneRow(marked(shown, g.Gate), plain(stands), plain(placeWords(g.Place)), said))
	}
	return nodes
}

func droppedWhy(blocks []model.DroppedWhy) (nodes []node) {
	bucket := ""
	for _, b := range blocks {
		if b.Bucket != bucket {
			bucket = b.Bucket
			nodes = append(nodes, plain(fmt.Sprintf("%s: %s, %d of them used by what stayed%s", bucket, pack.Counted(b.Budget, "token"), b.Used, dropOrder(b))))
		}
		words := plain("  ").plain(b.Block)
		if b.Tokens != nil {
			words = words.plain(fmt.Sprintf("  %s, priority %d", pack.Counted(*b.Tokens, "token"), *b.Priority))
		}
		if b.Ref != "" {
			words = words.plain("  ").plain(b.Ref)
		}
		nodes = append(nodes, words)
	}
	return nodes
}

// dropOrder says in which order the blocks of a bucket are dropped, if it has several.
func dropOrder(b model.DroppedWhy) string {
	switch compiler.Bucket(b.Bucket) {
	case compiler.BucketEvidence, compiler.BucketMemory:
		return "; the lowest priority is dropped first, then the latest"
	case compiler.BucketPolicy, compiler.BucketTool:
		return "; the latest is dropped first"
	}
	return ""
}
