package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// POL001: every rule can decide something.
var POL001 = &gate.Rule{
	ID: "POL001", Name: "unreachable-rule", Severity: finding.Error,
	Title: "Every rule can fire, and what it allows is not always denied by others",
	Doc: "A rule whose `if` can never be true, and that has no `else`, does nothing. The same is true of an outcome without " +
		"which the pack permits the same, because whenever it holds another rule denies the decision, or the condition of an " +
		"enforced rule is unknown and the compile stops. The author of the rule relies on something that never happens. A deny " +
		"that changes nothing is a warning: other denies cover it, or it is about requests that cannot happen, such as those of " +
		"another tenant.\n\n" +
		"Correct the condition, narrow the deny that covers it, or remove the rule. All of this is proved for every request of " +
		"the rule's intent that the compiler accepts, with the gates, prohibitions and bounds of an outcome. An `else` that " +
		"denies is a guard, and another deny may cover it.",
	Bad: `{"rule_id": "R_MIDDLE", "if": {"and": [{">": [{"var": "request.context.refund_amount"}, 5000]}, {"<": [{"var": "request.context.refund_amount"}, 3000]}]},
"then": {"allow": true}}`,
	Good: `{"rule_id": "R_MIDDLE", "if": {"and": [{">": [{"var": "request.context.refund_amount"}, 3000]}, {"<": [{"var": "request.context.refund_amount"}, 5000]}]},
"then": {"allow": true}}`,
	From:  gate.FromPack,
	Check: checkReachable,
}

// reach is the check of all rules. Dropped are the denies that lie inside others;
// they no longer cover anything, so that of two equal denies one is left.
type reach struct {
	*questions
	dropped map[*policy.Branch]bool
	rivals  map[rivalry][][]*policy.Branch
	fates   map[kind]fate
	// open are the outcomes of which it is not known, in the order of the check, which
	// is backward.
	open []gate.Claim
}

// kind is what outcomes have in common that have one fate: when they hold, what they
// are bound to, and for those that deny whether another one holds with them.
type kind struct {
	literal
	rivalry
	enforced, denies, twin bool
}

func checkReachable(p *gate.Pass) {
	c := newReach(newQuestions(p))
	c.excuse(p, aboutRules)
	if !c.pointless() {
		c.checkAll()
	}
}

func newReach(q *questions) *reach {
	return &reach{questions: q, dropped: map[*policy.Branch]bool{}, rivals: map[rivalry][][]*policy.Branch{}, fates: map[kind]fate{}}
}

func (c *reach) checkAll() {
	for _, r := range slices.Backward(c.rules) {
		c.check(r)
	}
	for _, claim := range slices.Backward(c.open) {
		c.NotProved(claim)
	}
}

// check reports what of a rule cannot decide.
func (c *reach) check(r *policy.Rule) {
	branches := r.Branches()
	fates := make([]fate, len(branches))
	never := 0
	for i, b := range branches {
		if fates[i] = c.fate(b); fates[i].never() {
			never++
		}
	}
	if never == len(branches) {
		c.reportNever(r, fates[0].Answer)
		return
	}
	for i, b := range branches {
		guard := b.IsElse && b.Denies() && !fates[0].never()
		if len(fates[i].by) > 0 && !guard && c.dead(b) {
			alone := never > 0 || len(branches) == 1 || len(fates[1-i].by) > 0
			c.reportCovered(b, fates[i], alone)
		}
	}
}

// fate is what becomes of an outcome: it never holds, wherever it holds something
// else decides, or it can decide as far as is known.
type fate struct {
	found
	by []coverer // what decides wherever it holds
}

// never reports whether the outcome never holds.
func (f fate) never() bool { return f.Verdict == jsonlogic.Unsatisfiable && len(f.by) == 0 }

// fate finds out what becomes of an outcome, of all intents of its rule the best. Of a rule
// that is not enforced, which decides nothing, only whether it can hold is asked.
func (c *reach) fate(b *policy.Branch) fate {
	overall := fate{found: found{Answer: jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}}}
	for _, intent := range c.intentsOf(b.Rule) {
		f := c.fateIn(b, intent)
		switch {
		case f.Verdict == jsonlogic.Satisfiable:
			return f
		case f.Verdict == jsonlogic.Undecided || overall.never() && len(f.by) > 0:
			overall = f
		case f.never() && overall.never():
			overall.Assumed = proof.Merged(overall.Assumed, f.Assumed)
		}
	}
	if overall.Verdict == jsonlogic.Undecided {
		c.leaveOpen(b, overall.Reason)
	}
	return overall
}

// leaveOpen notes that it is not known whether an outcome can decide.
func (c *reach) leaveOpen(b *policy.Branch, reason string) {
	c.open = append(c.open, gate.Claim{
		At: place(b), Key: b.Word(), Reason: reason,
		What: fmt.Sprintf("whether the %s of %s can decide", b.Word(), gate.Called("rule", b.Rule.RuleID)),
	})
}

// fateIn finds out what becomes of an outcome in the requests of an intent.
func (c *reach) fateIn(b *policy.Branch, intent string) fate {
	name := kind{literalOf(b, intent), rivalryOf(b, intent), b.Rule.Enforced, b.Denies(), false}
	by, rest := c.coverers(b, intent), []jsonlogic.Formula(nil)
	for _, k := range by {
		rest = append(rest, jsonlogic.Not(k.when()))
		name.twin = name.twin || b.Denies() && k.deny != nil && literalOf(k.deny, intent) == name.literal
	}
	if known, asked := c.fates[name]; asked {
		return known
	}
	f := fate{found: c.about(intent, question{seed: b.Holds(), rest: rest, reads: b.Rule.When.Expr.Reads()})}
	if f.Verdict == jsonlogic.Unsatisfiable && len(f.taken) > 0 {
		slices.Sort(f.taken)
		for _, i := range f.taken {
			f.by = append(f.by, by[i])
		}
		c.spare(b, &f)
	}
	c.fates[name] = f
	return f
}

// spare leaves of what covers an outcome few that are enough: one alone if there is
// one, else what is left when each that can be spared has been taken out.
func (c *reach) spare(b *policy.Branch, f *fate) {
	enough := func(some []coverer) bool {
		parts := []jsonlogic.Formula{b.Holds()}
		for _, k := range some {
			parts = append(parts, jsonlogic.Not(k.when()))
		}
		a := c.ask(f.intent, parts...)
		if a.Verdict != jsonlogic.Unsatisfiable {
			return false
		}
		f.Answer, f.by = a, some
		return true
	}
	for i := range f.by {
		if len(f.by) > 1 && enough(f.by[i:i+1]) {
			return
		}
	}
	for i := len(f.by) - 1; i >= 0 && len(f.by) > 1; i-- {
		enough(slices.Delete(slices.Clone(f.by), i, i+1))
	}
}

// reportNever reports a rule of which no outcome ever holds. Where it only denies, and
// its condition is about requests that cannot happen, it may be there on purpose.
func (c *reach) reportNever(r *policy.Rule, a jsonlogic.Answer) {
	what := "makes its condition true"
	if r.Else != nil {
		what = "makes its condition true or false"
	}
	who := "no request"
	if intents := c.intentsOf(r); len(intents) == 1 {
		who = fmt.Sprintf("no request with intent %q", intents[0])
	}
	d := gate.Diagnostic{
		At:      r.If,
		Message: fmt.Sprintf("%s can never fire: %s %s%s", gate.Called("rule", r.RuleID), who, what, assuming(a)),
		Hint:    "correct the condition, or remove the rule",
	}
	possible := func(b *policy.Branch) bool { // in some request, if only one that the compiler refuses
		return slices.ContainsFunc(c.intentsOf(r), func(intent string) bool {
			return c.solve(jsonlogic.Is(intentPath, intent), b.Holds()).Verdict == jsonlogic.Satisfiable
		})
	}
	if !slices.ContainsFunc(r.Branches(), func(b *policy.Branch) bool { return !b.Denies() || !possible(b) }) {
		d.Severity = finding.Warning
		d.Hint = "remove the rule: the compiler refuses the requests that it is about"
	}
	c.Report(d)
}

// dead reports whether an outcome that never decides changes nothing else either: no gate that
// it names, prohibition or bound matters to anything that is permitted.
func (c *reach) dead(b *policy.Branch) bool {
	if b.Gate == nil && len(b.Prohibited) == 0 && len(b.Bounds) == 0 {
		return true
	}
	if c.Full() { // it takes a comparison of the whole pack, and nobody sees it
		c.leaveOpen(b, "there are more findings than are listed")
		return false
	}
	live := c.permitted.Live(b)
	switch {
	case c.permitted.Broken() != "":
		c.NotChecked(fmt.Sprintf("the %s of %s: %s", b.Word(), gate.Called("rule", b.Rule.RuleID), live.Reason))
	case live.Verdict == jsonlogic.Undecided:
		c.leaveOpen(b, live.Reason)
	}
	return live.Verdict == jsonlogic.Unsatisfiable
}

// reportCovered reports an outcome that never decides; alone says that the rule's
// other outcome, if there is one, does not either.
func (c *reach) reportCovered(b *policy.Branch, f fate, alone bool) {
	who := gate.Called("rule", b.Rule.RuleID)
	d := gate.Diagnostic{At: place(b), Key: b.Word()}
	for _, k := range f.by[:min(len(f.by), mostNamed)] {
		d.Related = append(d.Related, k.related()...)
	}
	if len(f.by) > mostNamed {
		d.Related = nil
	}
	sentence := fmt.Sprintf("whenever its %s holds, %s%s", b.Word(), because(f.by), assuming(f.Answer))
	if b.Denies() {
		c.dropped[b] = true
		d.Severity = finding.Warning
		d.Message = fmt.Sprintf("the deny of %s lies inside others: %s", who, sentence)
		d.Hint = "remove it, or correct the condition that makes the other one as wide"
	} else {
		if !alone {
			who = "the " + b.Word() + " of " + who
		}
		d.Message = fmt.Sprintf("%s can never decide: %s", who, sentence)
		d.Hint = "narrow what stands in its way, or remove it"
	}
	c.Report(d)
}

// because says that one of several things keeps an outcome from deciding.
func because(by []coverer) string {
	if len(by) > mostNamed {
		return fmt.Sprintf("one of %d other rules denies or is unknown", len(by))
	}
	var denying, unknown []string
	for _, k := range by {
		if who := gate.Called("rule", k.rule.RuleID); k.deny != nil {
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

// coverer keeps an outcome from deciding: a deny of its decision, or a rule that is unknown.
type coverer struct {
	rule *policy.Rule
	deny *policy.Branch // nil for a condition that is unknown
}

// when says when it does.
func (k coverer) when() jsonlogic.Formula {
	if k.deny != nil {
		return k.deny.Holds()
	}
	return jsonlogic.IsUnknown(k.rule.When.Expr)
}

func (k coverer) related() []finding.Related {
	who := gate.Called("rule", k.rule.RuleID)
	if k.deny != nil {
		return gate.See(place(k.deny), "%s denies", who)
	}
	return gate.See(k.rule.If, "%s is unknown", who)
}

// literal is when an outcome holds, for an intent. Those of one literal hold together.
type literal struct {
	intent string
	when   *policy.Condition
	isElse bool
}

func literalOf(b *policy.Branch, intent string) literal {
	return literal{intent, b.Rule.When, b.IsElse}
}

// rivalry names the denies of a decision for an intent, or of every decision.
type rivalry struct {
	intent  string
	unbound bool
	key     string
}

func rivalryOf(b *policy.Branch, intent string) rivalry {
	return rivalry{intent, b.Rule.Unbound(), b.Rule.DecisionBinding.Value}
}

// denials returns the outcomes that deny what an outcome is bound to, grouped by when
// they hold: those that are bound to the same and those bound to none. Where it is
// bound to none itself, that is those that deny every decision.
func (c *reach) denials(b *policy.Branch, intent string) [][]*policy.Branch {
	name := rivalryOf(b, intent)
	groups, known := c.rivals[name]
	if known {
		return groups
	}
	places := map[literal]int{}
	for _, r := range c.rules {
		if !r.Enforced || !r.Applies(intent) || !r.Unbound() && (name.unbound || r.DecisionBinding.Value != name.key) {
			continue
		}
		for _, d := range r.Branches() {
			at, there := places[literalOf(d, intent)]
			switch {
			case !d.Denies():
			case there:
				groups[at] = append(groups[at], d)
			default:
				places[literalOf(d, intent)] = len(groups)
				groups = append(groups, []*policy.Branch{d})
			}
		}
	}
	c.rivals[name] = groups
	return groups
}

// coverers returns what keeps an outcome from deciding in an intent's requests, denies first.
func (c *reach) coverers(b *policy.Branch, intent string) []coverer {
	var all []coverer
	if !b.Rule.Enforced {
		return nil
	}
	for _, group := range c.denials(b, intent) {
		if i := slices.IndexFunc(group, func(d *policy.Branch) bool { return d != b && !c.dropped[d] }); i >= 0 {
			all = append(all, coverer{group[i].Rule, group[i]})
		}
	}
	for _, r := range c.applicable(intent).rules {
		all = append(all, coverer{rule: r})
	}
	return all
}
