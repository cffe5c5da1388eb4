package rulebook

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// New returns the rulebook of a pack.
func New(p *pack.Pack) *Book { return build(p, "") }

// Explain returns the book of the rules of that name alone, each in depth. It is
// nil where the pack has no such rule.
func Explain(p *pack.Pack, id string) *Book {
	if id == "" || !slices.Contains(Names(p), id) {
		return nil
	}
	return build(p, id)
}

// Names returns the rule_ids of a pack, sorted and each once.
func Names(p *pack.Pack) []string {
	var names []string
	for r := range p.EachRule() {
		if r.RuleID.Value != "" {
			names = append(names, r.RuleID.Value)
		}
	}
	return sorted(names)
}

// author writes a book. It is written in order of what matters most, so that a
// budget that runs out costs the least.
type author struct {
	*model
	rules    *prover
	overlaps *prover
	only     string // the rule to explain, "" for all
	skipped  int    // pairs that were not compared
}

// chapter is the part of the book about one intent.
type chapter struct {
	*author
	scope
	entries []*entry
	usual   map[string]any // a request for which no rule is unknown; nil if none is known
}

// entry is a rule of a chapter with what is written about it, and the requests
// for which its outcomes were found to hold.
type entry struct {
	*rule
	out       Rule
	witnesses map[*branch]map[string]any
}

func build(p *pack.Pack, only string) *Book {
	assumed := map[string]bool{}
	w := &author{model: newModel(p), rules: newProver(ruleSteps, assumed), overlaps: newProver(overlapSteps, assumed), only: only}
	b := &Book{Pack: p.Ref(), Intents: []Intent{}}
	if p.Node != nil {
		b.File = p.Node.Document().File
	}
	chapters, leftOut := w.chapters()
	if leftOut > 0 {
		b.NotProved = append(b.NotProved, fmt.Sprintf("%d intents are left out: the book has more than %d entries", leftOut, mostEntries))
	}
	for _, c := range chapters {
		c.examples()
	}
	gaps := make([][]Gap, len(chapters))
	for i, c := range chapters {
		if only == "" {
			gaps[i] = c.gaps()
		}
		c.shadows()
	}
	for i, c := range chapters {
		c.meet()
		b.Intents = append(b.Intents, c.written(gaps[i]))
	}
	for _, r := range w.model.rules {
		if r.unplaced && (only == "" || r.name == only) {
			b.Unplaced = append(b.Unplaced, r.described)
		}
	}
	for path := range assumed {
		b.Assumed = append(b.Assumed, path)
	}
	slices.Sort(b.Assumed)
	if w.skipped > 0 {
		b.NotProved = append(b.NotProved, skippedWords(w.skipped))
	}
	return b
}

func (w *author) scopes() []scope {
	if len(w.intents) == 0 {
		return []scope{{any: true}}
	}
	var all []scope
	for _, intent := range w.intents {
		all = append(all, scope{intent: intent})
	}
	return all
}

// mostEntries bounds the rules of all intents together. A rule that names no
// intent counts in each.
const mostEntries = 10_000

// chapters returns what the book is about, and how many intents it leaves out.
func (w *author) chapters() (all []*chapter, leftOut int) {
	entries := 0
	for _, s := range w.scopes() {
		if entries > mostEntries {
			leftOut++
			continue
		}
		if c := w.chapter(s); w.only == "" || c.has(w.only) {
			all, entries = append(all, c), entries+len(c.entries)
		}
	}
	return all, leftOut
}

func (w *author) chapter(s scope) *chapter {
	c := &chapter{author: w, scope: s}
	for _, r := range w.model.rules {
		to := r.AppliesTo.Intent
		if r.unplaced || to.OK && to.Value != s.intent {
			continue
		}
		c.entries = append(c.entries, &entry{rule: r, out: r.described, witnesses: map[*branch]map[string]any{}})
	}
	return c
}

func (c *chapter) has(name string) bool {
	return slices.ContainsFunc(c.entries, func(e *entry) bool { return e.name == name })
}

// written returns the chapter as the book has it.
func (c *chapter) written(gaps []Gap) Intent {
	in := Intent{Rules: []Rule{}, Gaps: gaps}
	if gaps == nil {
		in.Gaps = []Gap{}
	}
	if !c.any {
		in.Intent = &c.intent
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
func (r *rule) describe() Rule {
	out := Rule{
		Place: placeOf(r.Node), ID: r.RuleID.Value, Bundle: r.bundle.BundleID.Value, Condition: Condition(r.If),
		Decision: r.DecisionBinding.Value, Enforced: r.enforced, Rationale: r.Rationale.Value, Problems: r.problems,
		EveryIntent: !r.unplaced && !r.AppliesTo.Intent.OK,
	}
	if p := r.bundle.Priority; p.OK {
		out.Priority = &p.Value
	}
	if r.Then.Node != nil {
		out.Then = outcome(&r.Then)
	}
	if r.Else.Node != nil {
		out.Else = outcome(&r.Else)
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
	c.usual = c.rules.ask(c.is(), c.known()).Witness
	for _, e := range c.entries {
		if e.when == nil {
			continue
		}
		e.out.Fires = c.holding(e, jsonlogic.IsTrue(e.when), 0)
		e.out.Rests = c.holding(e, jsonlogic.IsFalse(e.when), 1)
		if c.only == "" || e.name != c.only {
			continue
		}
		e.out.Unknown = c.holding(e, jsonlogic.IsUnknown(e.when), len(e.branches))
		if cause := e.when.Eval(e.out.Unknown.Request).Cause; e.out.Unknown.State == Found && cause != nil {
			e.out.Unknown.Variable, e.out.Unknown.Because = cause.Variable, cause.String()
		}
	}
}

// holding asks for the smallest request of a kind, and keeps it for the outcome
// of that number.
func (c *chapter) holding(e *entry, f jsonlogic.Formula, number int) *Example {
	a := c.rules.ask(c.is(), f)
	if a.Verdict == jsonlogic.Unsatisfiable {
		c.rules.claim(a)
	}
	if number < len(e.branches) {
		e.witnesses[e.branches[number]] = a.Witness
	}
	x := c.example(a)
	return &x
}

// known says that no enforced rule is unknown, so that the compile does not stop.
func (c *chapter) known() jsonlogic.Formula {
	var each []jsonlogic.Formula
	for _, e := range c.entries {
		if e.counts() {
			each = append(each, jsonlogic.Not(jsonlogic.IsUnknown(e.when)))
		}
	}
	return jsonlogic.All(each...)
}

// counts reports whether a rule decides anything: it is enforced and was read.
func (r *rule) counts() bool { return r.enforced && r.when != nil }
