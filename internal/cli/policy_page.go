package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/report/render"
)

// Measures of the page, in characters.
const (
	pageWidth  = 100
	pageIndent = 5  // of what is said about a rule
	labelWidth = 11 // of the word before it
	mostText   = 2000
	mostMeets  = 3 // overlaps of a rule, unless it is explained
	mostInRow  = 8 // names in one row
)

// page is a rulebook for a person. All text of a pack goes through row or text.
type page struct {
	out     strings.Builder
	explain bool
}

func writeBook(w io.Writer, b *rulebook.Book, explain bool) error {
	p := &page{explain: explain}
	if !explain {
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
		p.paragraph("taking " + names + " to be single values")
	} else if names != "" {
		p.paragraph("taking " + names + " to be a single value")
	}
	for _, reason := range b.NotProved {
		p.paragraph("not proved: " + reason)
	}
	_, err := io.WriteString(w, render.Inert(p.out.String()))
	return err
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// text returns a text of a pack as a terminal may show it.
func text(s string) string {
	return render.Visible(pack.Clip(s, mostText))
}

func (p *page) paragraph(s string) {
	for _, line := range folded(text(s), pageWidth) {
		p.line("%s", line)
	}
}

// row writes a word and what it stands for, over as many lines as it takes.
func (p *page) row(indent int, label, s string) {
	first := indent + max(labelWidth, utf8.RuneCountInString(label)+2)
	for i, line := range folded(text(s), pageWidth-first) {
		if i > 0 {
			label = ""
		}
		p.line("%*s%-*s%s", indent, "", first-indent, label, line)
	}
}

// folded breaks a line at blanks, and keeps every one of them that is not at a
// break, for it may stand in a text that a condition compares with.
func folded(s string, width int) []string {
	var lines []string
	for utf8.RuneCountInString(s) > width {
		at, runes := -1, 0
		for i, r := range s {
			if r == ' ' && (runes <= width || at < 0) && i > 0 {
				at = i
			}
			if runes++; runes > width && at > 0 {
				break
			}
		}
		if at < 0 {
			break
		}
		lines, s = append(lines, s[:at]), s[at+1:]
	}
	return append(lines, s)
}

// listed joins names, and says how many more than that many there are.
func listed(names []string, most int) string {
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
	}
	return series(names, "and")
}

// oneOfThem names rules of which one at a time is intended.
func oneOfThem(names []string) string {
	if len(names) > mostInRow {
		return fmt.Sprintf("one of %d rules", len(names))
	}
	return series(names, "or")
}

func series(names []string, word string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

func (p *page) intent(in *rulebook.Intent) {
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
	for i := range in.Rules {
		r := &in.Rules[i]
		if bundle := bundleWords(r); i == 0 || bundle != bundleWords(&in.Rules[i-1]) {
			p.line("\n  %s", text(bundle))
		}
		p.rule(r, i+1)
	}
	if len(in.Gaps) == 0 {
		return
	}
	p.line("\n  gaps")
	for i := range in.Gaps {
		p.gap(&in.Gaps[i])
	}
}

func (p *page) gap(g *rulebook.Gap) {
	label, found, none := "silence", "no rule of it fires, so it is blocked", "none, every request fires one of its rules or is denied"
	if g.Kind == rulebook.IdleGate {
		label, found, none = "gate", "required although its own condition is false", "none, wherever a rule requires it, its own condition is never false"
	}
	switch g.State {
	case rulebook.Found:
		p.row(pageIndent, label, g.Name+": "+found)
		p.row(pageIndent, "", "for "+g.Words)
	case rulebook.NotProved:
		p.row(pageIndent, label, g.Name+": not proved: "+g.Reason)
	default:
		p.row(pageIndent, label, g.Name+": "+none)
	}
}

// rule writes what is known about one rule. An explained one has no number, for
// it stands without its neighbours.
func (p *page) rule(r *rulebook.Rule, number int) {
	where := text(fmt.Sprintf("%s:%d", r.File, r.Line))
	mark := fmt.Sprintf("%3d  ", number)
	if p.explain {
		mark = "     "
	}
	p.line("\n%s%s  %s", mark, text(cmp.Or(r.ID, "a rule without a rule_id")), where)
	p.row(pageIndent, "if", r.Condition)
	p.outcome("then", r.Then)
	p.outcome("else", r.Else)
	p.row(pageIndent, "decides", decisionWords(r))
	if p.explain && r.Rationale != "" {
		p.row(pageIndent, "because", r.Rationale)
	}
	for _, problem := range r.Problems {
		said := fmt.Sprintf("%s:%d:%d: %s", problem.File, problem.Line, problem.Column, problem.Message)
		if problem.Hint != "" {
			said += " → " + problem.Hint
		}
		p.row(pageIndent, "problem", said)
	}
	p.example("true for", r.Fires, "no request: it never fires")
	p.example("false for", r.Rests, "no request")
	p.example("unknown", r.Unknown, "no request")
	p.relations(r)
}

// decisionWords says what a rule has a say in.
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
		words = "no decision, so its deny counts for every one of the intent"
	default:
		words = "no decision, so it authorises nothing"
	}
	if r.EveryIntent {
		words += "; in every intent"
	}
	return words
}

// bundleWords says which bundle a rule is of.
func bundleWords(r *rulebook.Rule) string {
	words := "bundle " + cmp.Or(r.Bundle, "without a bundle_id")
	if r.Priority != nil {
		words += fmt.Sprintf(", priority %v", *r.Priority)
	}
	return words
}

// outcome writes what a then or an else says.
func (p *page) outcome(word string, o *rulebook.Outcome) {
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
	said := cmp.Or(strings.Join(says, "; "), "says nothing that binds")
	if o.Reason != "" {
		said += fmt.Sprintf(" (%s)", o.Reason)
	}
	p.row(pageIndent, word, said)
}

func (p *page) example(label string, x *rulebook.Example, none string) {
	if x == nil {
		return
	}
	switch x.State {
	case rulebook.None:
		p.row(pageIndent, label, none)
	case rulebook.NotProved:
		p.row(pageIndent, label, "not proved: "+x.Reason)
	default:
		p.row(pageIndent, label, x.Words)
	}
	if x.Because != "" {
		because := x.Because
		if x.Variable != "" && !strings.Contains(because, x.Variable) {
			because += " (it depends on " + x.Variable + ")"
		}
		p.row(pageIndent, "", "because "+because)
	}
}

// relations writes what other rules have to do with a rule.
func (p *page) relations(r *rulebook.Rule) {
	for _, s := range r.Shadows {
		p.row(pageIndent, "shadowed", shadowWords(s))
	}
	for i, o := range r.Overlaps {
		if i == mostMeets && len(r.Overlaps) > mostMeets+1 && !p.explain {
			p.row(pageIndent, "", fmt.Sprintf("and %d more, which --explain shows", len(r.Overlaps)-i))
			break
		}
		p.row(pageIndent, "meets", meetingWords(o))
		p.row(pageIndent, "", "for "+o.Words)
	}
	if len(r.ShadowsOthers) > 0 {
		p.row(pageIndent, "shadows", listed(r.ShadowsOthers, len(r.ShadowsOthers)))
	}
	if len(r.SameDecision) > 0 {
		p.row(pageIndent, "beside", listed(r.SameDecision, len(r.SameDecision))+" of the same decision")
	}
	for _, reason := range r.NotProved {
		p.row(pageIndent, "not proved", reason)
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
