package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
)

// Measures of the page of a rulebook, in characters.
const (
	bookWidth  = 100
	bookIndent = "     " // of what is said about a rule
	labelWidth = 11      // of the word before it
	mostMeets  = 3       // overlaps of a rule, unless it is explained
	mostInRow  = 8       // names in one row
)

// bookPage is a rulebook at a terminal. One that is explained is of a single rule.
type bookPage struct {
	*terminal
	explain bool
}

// WriteBook writes a rulebook for a person at a terminal; explain says that it describes one
// rule, which is shown in full. The error is that of the writer.
func WriteBook(w io.Writer, b *rulebook.Book, explain bool) error {
	return writeTerminal(w, Style{Width: bookWidth}, func(t *terminal) { (&bookPage{t, explain}).book(b) })
}

func (p *bookPage) book(b *rulebook.Book) {
	if !p.explain {
		p.line("%s  %s", text(b.File), text(b.Pack))
	}
	for i := range b.Intents {
		p.intent(&b.Intents[i])
	}
	if len(b.Unplaced) > 0 {
		p.line("\nrules whose intent cannot be read")
		for i := range b.Unplaced {
			p.rule(&b.Unplaced[i], i+1)
		}
	}
	if len(b.Assumed) > 0 || len(b.NotProved) > 0 {
		p.line("")
	}
	if names := listed(b.Assumed, len(b.Assumed)); len(b.Assumed) > 1 {
		p.line("taking %s to be single values", text(names))
	} else if names != "" {
		p.line("taking %s to be a single value", text(names))
	}
	for _, reason := range b.NotProved {
		p.line("not proved: %s", text(reason))
	}
}

// bookRows are words and what they stand for.
type bookRows []fact

func (r *bookRows) add(label, words string) {
	*r = append(*r, fact{name: label, value: words, words: true})
}

func (p *bookPage) rows(rows bookRows) { p.facts(bookIndent, labelWidth, rows) }

// listed joins names, and says how many more than that many there are.
func listed(names []string, most int) string {
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
	}
	return pack.Joined(names, "and")
}

// oneOfThem names rules of which one at a time is intended.
func oneOfThem(names []string) string {
	if len(names) > mostInRow {
		return fmt.Sprintf("one of %d rules", len(names))
	}
	return pack.Joined(names, "or")
}

func (p *bookPage) intent(in *rulebook.Intent) {
	title := "every request"
	if in.Intent != nil {
		title = "intent " + *in.Intent
	}
	if p.out.Len() > 0 {
		p.line("")
	}
	p.line("%s", text(title))
	if len(in.Rules) == 0 {
		p.line("  no rule applies")
	}
	before := ""
	for i := range in.Rules {
		r := &in.Rules[i]
		if bundle := bundleWords(cmp.Or(r.Bundle, "without a bundle_id"), r.Priority); bundle != before {
			before = bundle
			p.line("\n  %s", text(bundle))
		}
		p.rule(r, i+1)
	}
	if len(in.Gaps) == 0 {
		return
	}
	p.line("\n  gaps")
	var rows bookRows
	for i := range in.Gaps {
		rows.gap(&in.Gaps[i])
	}
	p.rows(rows)
}

func (r *bookRows) gap(g *rulebook.Gap) {
	label, found, none := "silence", "none of its rules fires, so it is blocked", "none, every request fires one of its rules or is denied"
	if g.Kind == rulebook.IdleGate {
		label, found, none = "gate", "required although its own condition is false", "none, wherever a rule requires it, its own condition is never false"
	}
	switch g.State {
	case rulebook.Found:
		r.add(label, g.Name+": "+found)
		r.add("", "for "+g.Words)
	case rulebook.NotProved:
		r.add(label, g.Name+": not proved: "+g.Reason)
	default:
		r.add(label, g.Name+": "+none)
	}
}

// rule writes what is known about one rule. An explained one stands alone, without a number.
func (p *bookPage) rule(r *rulebook.Rule, number int) {
	mark := fmt.Sprintf("%3d  ", number)
	if p.explain {
		mark = bookIndent
	}
	p.line("\n%s%s  %s", mark, text(cmp.Or(r.ID, "a rule without a rule_id")), text(fmt.Sprintf("%s:%d", r.File, r.Line)))
	var rows bookRows
	rows.add("if", r.Condition)
	rows.outcome("then", r.Then)
	rows.outcome("else", r.Else)
	rows.add("decides", decisionWords(r))
	if p.explain && r.Rationale != "" {
		rows.add("because", r.Rationale)
	}
	for _, problem := range r.Problems {
		said := fmt.Sprintf("%s:%d:%d: %s", problem.File, problem.Line, problem.Column, problem.Message)
		if problem.Hint != "" {
			said += " → " + problem.Hint
		}
		rows.add("problem", said)
	}
	rows.example("true for", r.Fires, "no request: it never fires")
	rows.example("false for", r.Rests, "no request")
	rows.example("unknown", r.Unknown, "no request")
	rows.relations(r, p.explain)
	p.rows(rows)
}

func decisionWords(r *rulebook.Rule) string {
	denies := func(o *rulebook.Outcome) bool { return o != nil && o.Allow != nil && !*o.Allow }
	words := r.Decision
	switch {
	case words != "" && !r.Enforced:
		words += "; not enforced, so it is only listed when it fires"
	case words != "":
	case !r.Enforced:
		words = "nothing; not enforced, so it is only listed when it fires"
	case denies(r.Then) || denies(r.Else):
		words = "no decision, so its deny counts for every decision of the intent"
	default:
		words = "no decision, so it authorises nothing"
	}
	if r.EveryIntent {
		words += "; in every intent"
	}
	return words
}

func (r *bookRows) outcome(word string, o *rulebook.Outcome) {
	if o == nil {
		return
	}
	var says []string
	if o.Allow != nil {
		says = append(says, map[bool]string{true: "allow", false: "deny"}[*o.Allow])
	}
	if o.Gate != "" {
		says = append(says, "gate "+o.Gate)
	}
	if o.Mode != "" {
		says = append(says, "mode "+o.Mode)
	}
	for _, l := range []struct {
		word  string
		names []string
	}{{"requires ", o.Requires}, {"prohibits ", o.Prohibits}, {"bounds ", o.Bounds}} {
		if len(l.names) > 0 {
			says = append(says, l.word+listed(l.names, mostInRow))
		}
	}
	said := cmp.Or(strings.Join(says, "; "), "has no effect")
	if o.Reason != "" {
		said += fmt.Sprintf(" (%s)", o.Reason)
	}
	r.add(word, said)
}

func (r *bookRows) example(label string, x *rulebook.Example, none string) {
	if x == nil {
		return
	}
	switch x.State {
	case rulebook.None:
		r.add(label, none)
	case rulebook.NotProved:
		r.add(label, "not proved: "+x.Reason)
	default:
		r.add(label, x.Words)
	}
	if x.Because != "" {
		r.add("", "because "+jsonlogic.Named(x.Because, x.Variable))
	}
}

// relations say what other rules have to do with a rule.
func (r *bookRows) relations(rule *rulebook.Rule, all bool) {
	for _, s := range rule.Shadows {
		r.add("shadowed", shadowWords(s))
	}
	for i, o := range rule.Overlaps {
		if i == mostMeets && len(rule.Overlaps) > mostMeets+1 && !all {
			r.add("", fmt.Sprintf("and %d more, which --explain shows", len(rule.Overlaps)-i))
			break
		}
		r.add("meets", meetingWords(o))
		r.add("", "for "+o.Words)
	}
	if len(rule.ShadowsOthers) > 0 {
		r.add("shadows", listed(rule.ShadowsOthers, len(rule.ShadowsOthers)))
	}
	if len(rule.SameDecision) > 0 {
		r.add("beside", listed(rule.SameDecision, len(rule.SameDecision))+" of the same decision")
	}
	for _, reason := range rule.NotProved {
		r.add("not proved", reason)
	}
}

func shadowWords(s rulebook.Shadow) string {
	if s.Effect == rulebook.AddsNothing {
		return fmt.Sprintf("its %s adds nothing: whenever it holds, %s said the same before", s.Outcome, oneOfThem(s.Said))
	}
	var ways []string
	if len(s.Denied) > 0 {
		ways = append(ways, oneOfThem(s.Denied)+" denies")
	}
	if len(s.Stopped) > 0 {
		ways = append(ways, oneOfThem(s.Stopped)+" is unknown, which stops the compile")
	}
	return fmt.Sprintf("its %s never decides: whenever it holds, %s", s.Outcome, strings.Join(ways, ", or "))
}

func meetingWords(o rulebook.Overlap) string {
	said := listed(o.Differs, len(o.Differs))
	mine := ""
	if o.Outcome == "else" {
		mine = "in its else "
	}
	if said == "denies" || said == "allows" {
		said += "; the deny wins"
	}
	return fmt.Sprintf("%sthe %s of %s, which %s", mine, o.Other, o.With, said)
}
