package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// POL001: every rule can decide something.
var POL001 = &gate.Rule{
	ID: "POL001", Name: "unreachable-rule", Severity: finding.Error,
	Title: "Every rule can fire, and what it allows is not always denied by others",
	Doc: "A rule whose `if` can never be true, and that has no `else`, does nothing. " +
		"Neither does an outcome that holds only where another rule denies the decision, or where the condition of an enforced rule is unknown and the compile stops. " +
		"Whoever wrote it relies on something that never happens. A deny that lies inside other denies is a warning: it blocks nothing that is not blocked without it.\n\n" +
		"Correct the condition, narrow the deny that swallows it, or remove the rule. " +
		"All of this is proved for every request of the rule's intent. An `else` that denies is a guard and may lie inside another.",
	Bad: `{"rule_id": "R_MIDDLE", "if": {"and": [{">": [{"var": "request.context.refund_amount"}, 5000]}, {"<": [{"var": "request.context.refund_amount"}, 3000]}]},
"then": {"allow": true}}`,
	Good: `{"rule_id": "R_MIDDLE", "if": {"and": [{">": [{"var": "request.context.refund_amount"}, 3000]}, {"<": [{"var": "request.context.refund_amount"}, 5000]}]},
"then": {"allow": true}}`,
	Since: "0.1.0",
	Check: checkReachable,
}

// fate is what becomes of an outcome.
type fate uint8

const (
	open    fate = iota // it can decide, or that is not known
	never               // it never holds
	covered             // wherever it holds, something else decides
)

// reach is the check of all rules. Dropped are the denies that lie inside others;
// they no longer cover anything, so that of two equal denies one is left.
type reach struct {
	*model
	*proof
	dropped map[*branch]bool
	found   map[scope][]map[string]any // requests in which something decides, the last found first
	notes   []undecided                // in the order of the check, which is backward
}

// undecided is an outcome whose fate is not known.
type undecided struct {
	*branch
	answer jsonlogic.Answer
}

func checkReachable(p *gate.Pass) {
	m, q := newModel(p), newProof(p)
	m.excuse(p, aboutRules)
	newReach(m, q).checkAll()
}

func newReach(m *model, q *proof) *reach {
	return &reach{model: m, proof: q, dropped: map[*branch]bool{}, found: map[scope][]map[string]any{}}
}

func (c *reach) checkAll() {
	for _, r := range slices.Backward(c.rules) {
		c.check(r)
	}
	for _, u := range slices.Backward(c.notes) {
		c.unproved(gate.Called("rule", u.rule.RuleID), "reachability of its "+u.word, u.answer)
	}
}

// check reports what of a rule cannot decide.
func (c *reach) check(r *rule) {
	fates := make([]fate, len(r.branches))
	assumed := make([]jsonlogic.Answer, len(r.branches))
	alive := false
	for i, b := range r.branches {
		fates[i], assumed[i] = c.fate(b)
		alive = alive || fates[i] == open
	}
	if !slices.ContainsFunc(fates, func(f fate) bool { return f != never }) {
		c.reportNever(r, assumed[0])
		return
	}
	for i, b := range r.branches {
		guard := b.word == "else" && fates[0] != never
		if fates[i] == covered && (!denies(b.Outcome) || !guard) {
			c.reportCovered(b, alive)
		}
	}
}

// fate finds out what becomes of an outcome. A rule that is not enforced decides
// nothing anyway, so only whether it can hold is asked.
func (c *reach) fate(b *branch) (fate, jsonlogic.Answer) {
	scopes := c.scopesOf(b.rule)
	if slices.ContainsFunc(scopes, func(s scope) bool { return c.decides(b, s, nil) }) {
		return open, jsonlogic.Answer{}
	}
	held, s := c.inAny(scopes, always(b.holds))
	if held.Verdict == jsonlogic.Unsatisfiable {
		return never, held
	}
	if held.Verdict == jsonlogic.Satisfiable && c.decides(b, s, held.Witness) {
		return open, held
	}
	a, s := c.inAny(scopes, func(s scope) jsonlogic.Formula {
		return jsonlogic.All(b.holds, jsonlogic.Not(c.cover(b, s)))
	})
	switch a.Verdict {
	case jsonlogic.Satisfiable:
		c.keep(s, a.Witness)
	case jsonlogic.Unsatisfiable:
		return covered, a
	case jsonlogic.Undecided:
		c.notes = append(c.notes, undecided{b, a})
	}
	return open, a
}

// coverer is something that keeps an outcome from deciding.
type coverer struct {
	rule   *rule
	denies bool // else its condition is unknown
	at     *pack.Node
	when   jsonlogic.Formula
}

// coverers returns what keeps an outcome from deciding in a scope: denies of its
// decision, and other rules that are unknown.
func (c *reach) coverers(b *branch, s scope) []coverer {
	var all []coverer
	if !b.rule.enforced {
		return nil
	}
	for _, d := range c.denials(s, b.rule.DecisionBinding.Value) {
		if d == b || c.dropped[d] || d.rule == b.rule || !b.rule.DecisionBinding.OK && d.rule.DecisionBinding.OK {
			continue
		}
		all = append(all, coverer{d.rule, true, d.place(), d.holds})
	}
	for _, r := range c.within(s) {
		if r != b.rule {
			all = append(all, coverer{r, false, r.If, jsonlogic.IsUnknown(r.when)})
		}
	}
	return all
}

func anyOf(all []coverer) jsonlogic.Formula {
	parts := make([]jsonlogic.Formula, len(all))
	for i, c := range all {
		parts[i] = c.when
	}
	return jsonlogic.Any(parts...)
}

func (c *reach) cover(b *branch, s scope) jsonlogic.Formula { return anyOf(c.coverers(b, s)) }

func (c *reach) reportNever(r *rule, a jsonlogic.Answer) {
	what := "makes its condition true"
	if len(r.branches) > 1 {
		what = "makes its condition true or false"
	}
	where := scope{any: true}
	if scopes := c.scopesOf(r); len(scopes) == 1 {
		where = scopes[0]
	}
	c.Report(gate.Diagnostic{
		At:      r.If,
		Message: fmt.Sprintf("%s can never fire: %s %s%s", gate.Called("rule", r.RuleID), where.words(), what, assuming(a)),
		Hint:    "correct the condition, or remove the rule",
	})
}

// reportCovered reports an outcome that never decides; alive says that the
// rule's other outcome does.
func (c *reach) reportCovered(b *branch, alive bool) {
	who := gate.Called("rule", b.rule.RuleID)
	if alive {
		who = "the " + b.word + " of " + who
	}
	by, a := c.reason(b)
	d := gate.Diagnostic{At: b.place(), Key: b.word}
	if len(by) <= mostNamed {
		for _, k := range by {
			d.Related = append(d.Related, gate.See(k.at, "%s", k.words())...)
		}
	}
	sentence := fmt.Sprintf("whenever its %s holds, %s", b.word, because(by))
	if denies(b.Outcome) {
		c.dropped[b] = true
		d.Severity = finding.Warning
		d.Message = fmt.Sprintf("the deny of %s lies inside others: %s%s", gate.Called("rule", b.rule.RuleID), sentence, assuming(a))
		d.Hint = "remove it, or correct the condition that makes the other one as wide"
	} else {
		d.Message = fmt.Sprintf("%s can never decide: %s%s", who, sentence, assuming(a))
		d.Hint = "narrow what stands in its way, or remove it"
	}
	c.Report(d)
}

func (k coverer) words() string {
	if k.denies {
		return gate.Called("rule", k.rule.RuleID) + " denies"
	}
	return gate.Called("rule", k.rule.RuleID) + " is unknown"
}

// because says that one of several things keeps an outcome from deciding.
func because(by []coverer) string {
	if len(by) > mostNamed {
		return fmt.Sprintf("one of %d other rules denies or is unknown", len(by))
	}
	var denying, unknown []string
	for _, k := range by {
		if who := gate.Called("rule", k.rule.RuleID); k.denies {
			denying = append(denying, who)
		} else {
			unknown = append(unknown, who)
		}
	}
	var words []string
	if len(denying) > 0 {
		words = append(words, either(denying)+" denies")
	}
	if len(unknown) > 0 {
		words = append(words, either(unknown)+" is unknown, which stops the compile")
	}
	return strings.Join(words, ", or ")
}

// either joins words of which one is intended.
func either(words []string) string {
	if len(words) < 2 {
		return series(words)
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// reason finds few coverers that are enough: one alone if there is one, else what
// is left when each that can be spared has been taken out.
func (c *reach) reason(b *branch) ([]coverer, jsonlogic.Answer) {
	s := c.holding(b)
	all := c.coverers(b, s)
	enough := func(some []coverer) (jsonlogic.Answer, bool) {
		a := c.ask(s.is(), b.holds, jsonlogic.Not(anyOf(some)))
		return a, a.Verdict == jsonlogic.Unsatisfiable
	}
	for i := range all {
		if a, ok := enough(all[i : i+1]); ok {
			return all[i : i+1], a
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(all), i, i+1)
		if _, ok := enough(without); ok {
			all = without
		}
	}
	a, _ := enough(all)
	return all, a
}

// holding returns the first scope in which an outcome holds for some request.
func (c *reach) holding(b *branch) scope {
	scopes := c.scopesOf(b.rule)
	for _, s := range scopes {
		if c.ask(s.is(), b.holds).Verdict != jsonlogic.Unsatisfiable {
			return s
		}
	}
	return scopes[0]
}
