package rulebook

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// New returns the rulebook of a pack. Once the context has ended, no more is proved.
func New(ctx context.Context, p *pack.Pack) *Book { return build(ctx, p, "") }

// Explain returns a book of only the rules of that name, each in depth. It is nil if the pack has no
// such rule.
func Explain(ctx context.Context, p *pack.Pack, id string) *Book {
	if id == "" || !slices.Contains(Names(p), id) {
		return nil
	}
	return build(ctx, p, id)
}

// Names returns the rule_ids of a pack, and what the eligibility_rules of its decisions are called
// in the book, sorted and each once.
func Names(p *pack.Pack) []string {
	var names []string
	for _, g := range proof.New(p).Guards {
		names = append(names, g.RuleID.Value)
	}
	for r := range p.EachRule() {
		if r.RuleID.Value != "" {
			names = append(names, r.RuleID.Value)
		}
	}
	return sorted(names)
}

// author writes a book. What matters most is written first, so that a budget that runs out costs least.
type author struct {
	*proof.Model
	all      []*rule
	rules    *proof.Prover
	overlaps *proof.Prover
	assumed  map[string]bool
	only     string // the rule to explain, "" for all
	skipped  int    // pairs that were not compared
}

// The budgets of a book, in the solver's steps. Overlaps have their own, because there may be thousands
// of pairs, and the other facts about rules must not suffer from them.
const (
	ruleSteps    = 20_000_000
	overlapSteps = 20_000_000
)

func build(ctx context.Context, p *pack.Pack, only string) *Book {
	m := proof.New(p)
	w := &author{
		Model: m, only: only, assumed: map[string]bool{},
		rules: proof.NewProver(ctx, m, ruleSteps), overlaps: proof.NewProver(ctx, m, overlapSteps),
	}
	for _, r := range slices.Concat(m.Guards, m.Rules) { // who is eligible at all comes first
		w.all = append(w.all, newRule(r))
	}
	b := &Book{Pack: p.Ref(), Intents: []Intent{}}
	if p.Node != nil {
		b.File = p.Node.Document().File
	}
	b.Intents, b.NotProved = w.written()
	for _, r := range w.all {
		if r.unplaced && (only == "" || r.name == only) {
			b.Unplaced = append(b.Unplaced, r.described)
		}
	}
	b.Assumed = slices.Sorted(maps.Keys(w.assumed))
	if w.skipped > 0 {
		noun := "pairs of outcomes hold"
		if w.skipped == 1 {
			noun = "pair of outcomes holds"
		}
		b.NotProved = append(b.NotProved, fmt.Sprintf("whether %d %s together: the proofs have used up their %d steps", w.skipped, noun, overlapSteps))
	}
	return b
}

// mostEntries bounds the rules of all intents together. A rule that names no
// intent counts in each.
const mostEntries = 10_000

// written returns the book intent by intent, and what it leaves out. A pack that
// names no intent has no requests: then the rules are there alone.
func (w *author) written() (intents []Intent, leftOut []string) {
	if len(w.Intents) == 0 {
		none := w.chapter("").written(nil)
		none.Intent = nil
		return []Intent{none}, []string{"the pack names no intent, so there is no request that its rules could be about"}
	}
	chapters, more := w.chapters()
	if more > 0 {
		leftOut = []string{fmt.Sprintf("%d intents are left out: the book has more than %d entries", more, mostEntries)}
	}
	for _, c := range chapters {
		c.examples()
	}
	gaps := make([][]Gap, len(chapters))
	for i, c := range chapters {
		if w.only == "" {
			gaps[i] = c.gaps()
		}
		c.shadows()
	}
	intents = []Intent{}
	for i, c := range chapters {
		c.meet()
		intents = append(intents, c.written(gaps[i]))
	}
	return intents, leftOut
}

// chapters returns what the book is about, and how many intents it leaves out.
func (w *author) chapters() (all []*chapter, leftOut int) {
	entries := 0
	for _, intent := range w.Intents {
		if entries > mostEntries {
			leftOut++
			continue
		}
		explained := func(e *entry) bool { return e.name == w.only }
		if c := w.chapter(intent); w.only == "" || slices.ContainsFunc(c.entries, explained) {
			all, entries = append(all, c), entries+len(c.entries)
		}
	}
	return all, leftOut
}

func (w *author) chapter(intent string) *chapter {
	c := &chapter{author: w, intent: intent}
	for _, r := range w.all {
		if !r.unplaced && r.Applies(intent) || r.described.EveryIntent {
			c.entries = append(c.entries, &entry{rule: r, out: r.described, witnesses: map[*policy.Branch]map[string]any{}})
		}
	}
	return c
}

// written returns the chapter as the book has it.
func (c *chapter) written(gaps []Gap) Intent {
	in := Intent{Intent: &c.intent, Rules: []Rule{}, Gaps: gaps}
	if gaps == nil {
		in.Gaps = []Gap{}
	}
	for _, e := range c.entries {
		if c.only != "" && e.name != c.only {
			continue
		}
		if c.only != "" {
			c.relate(e)
		}
		in.Rules = append(in.Rules, e.out)
	}
	return in
}

// describe returns what the pack itself says about a rule.
func describe(r *policy.Rule) Rule {
	out := Rule{
		Place: placeOf(r.Node), ID: r.RuleID.Value, Condition: Condition(r.If),
		Decision: r.DecisionBinding.Value, Enforced: r.Enforced, Rationale: r.Rationale.Value, Problems: problemsOf(r),
	}
	if b := r.Bundle; b != nil {
		out.Bundle = b.BundleID.Value
		if b.Priority.OK {
			out.Priority = &b.Priority.Value
		}
	}
	if r.Rule.Then.Node != nil {
		out.Then = outcome(&r.Rule.Then)
	}
	if r.Rule.Else.Node != nil {
		out.Else = outcome(&r.Rule.Else)
	}
	return out
}

func outcome(o *pack.Outcome) *Outcome {
	out := &Outcome{
		Gate: o.RequiresApprovalGate.Value, Mode: o.ApprovalMode.Value, Reason: o.Reason.Value,
		Requires: pack.Values(o.Requires), Prohibits: pack.Values(o.Prohibits),
	}
	if o.Allow.OK {
		out.Allow = &o.Allow.Value
	}
	for _, e := range o.ArgConstraints.Entries {
		out.Bounds = append(out.Bounds, e.Name)
	}
	return out
}

// examples finds the smallest requests for each rule.
func (c *chapter) examples() {
	c.usual = c.rules.Ask(c.intent, c.known()).Witness
	for _, e := range c.entries {
		if !e.readable() {
			continue
		}
		when := e.When.Expr
		e.out.Fires = c.holding(e.Then, e, jsonlogic.IsTrue(when))
		e.out.Rests = c.holding(e.Else, e, jsonlogic.IsFalse(when))
		if c.only == "" || e.name != c.only {
			continue
		}
		e.out.Unknown = c.holding(nil, e, unknown(e.rule))
		if e.out.Unknown.State != Found {
			continue
		}
		read := proof.Data(c.Pack, e.out.Unknown.Request)
		if cause := when.Eval(read).Cause; cause != nil {
			e.out.Unknown.Variable, e.out.Unknown.Because = cause.Variable, cause.String()
		}
	}
}

// holding asks for the smallest request of a kind, and keeps it for the outcome that holds in it.
func (c *chapter) holding(b *policy.Branch, e *entry, f jsonlogic.Formula) *Example {
	a := c.claim(c.rules.Ask(c.intent, f))
	e.witnesses[b] = a.Witness
	x := example(a)
	return &x
}

// known returns the formula that no enforced rule is unknown, so that the compile does not stop.
func (c *chapter) known() jsonlogic.Formula {
	var each []jsonlogic.Formula
	for _, e := range c.entries {
		if e.counts() {
			each = append(each, jsonlogic.Not(unknown(e.rule)))
		}
	}
	return jsonlogic.All(each...)
}

// claim notes the assumptions of a proof that the book uses, and returns the answer.
func (w *author) claim(a jsonlogic.Answer) jsonlogic.Answer {
	for _, path := range a.Assumed {
		w.assumed[path] = true
	}
	return a
}

// reason returns why an answer claims nothing.
func reason(a jsonlogic.Answer) string { return strings.TrimPrefix(a.Reason, "not proved ") }

// example turns an answer into what the book shows.
func example(a jsonlogic.Answer) Example {
	switch a.Verdict {
	case jsonlogic.Satisfiable:
		return Example{State: Found, Request: a.Witness, Words: words(a.Witness)}
	case jsonlogic.Unsatisfiable:
		return Example{State: None}
	}
	return Example{State: NotProved, Reason: reason(a)}
}

// words puts a request into one line. The intent is named above it.
func words(request map[string]any) string {
	values := map[string]any{}
	for path, v := range jsonlogic.Leaves(request) {
		values[strings.Join(path, ".")] = v
	}
	delete(values, "request.intent")
	var words []string
	for _, path := range slices.Sorted(maps.Keys(values)) {
		words = append(words, variable(path, "")+" = "+literal(values[path]))
	}
	return cmp.Or(strings.Join(words, ", "), "a request that says nothing more")
}
