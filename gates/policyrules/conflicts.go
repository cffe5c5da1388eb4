package policyrules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// POL003: rules of one rank do not contradict each other.
var POL003 = &gate.Rule{
	ID: "POL003", Name: "priority-conflict", Severity: finding.Error,
	Title: "Rules of equal priority that can fire together agree on their decision",
	Doc: "Two rules of equal priority that are bound to one decision have the same rank for their author. If both can hold for " +
		"one request and have different results (`allow`, or `approval_mode` or `requires_approval_gate` if both state one), " +
		"the pack says both yes and no. At run time the deny wins and every gate becomes active, but nobody decided that. An " +
		"`else` that denies is a guard and conflicts with nothing.\n\n" +
		"Make the conditions exclude each other, or give the bundles priorities that show which rule is the exception. The " +
		"finding shows a request for which both hold. For a `read_only` decision, an allow and a deny that overlap only partly " +
		"are a warning.",
	Bad: `"rules": [
{"rule_id": "R_A", "if": {">": [{"var": "request.context.refund_amount"}, 3000]}, "then": {"allow": false}},
{"rule_id": "R_B", "if": {"<=": [{"var": "request.context.refund_amount"}, 5000]}, "then": {"allow": true}}]`,
	Good: `"rules": [
{"rule_id": "R_A", "if": {">": [{"var": "request.context.refund_amount"}, 3000]}, "then": {"allow": false}},
{"rule_id": "R_B", "if": {"<=": [{"var": "request.context.refund_amount"}, 3000]}, "then": {"allow": true}}]`,
	From:  gate.FromPack,
	Check: checkConflicts,
}

// rank are the rules that can conflict: enforced ones of one decision and priority.
type rank struct {
	decision string
	priority float64
	bundle   *pack.Bundle // of bundles without a priority, each is its own
}

// stance is what rules of one rank have to have in common so that each of them
// conflicts with the same others. It is about their then; an else is a guard.
type stance struct {
	when       *policy.Condition
	everywhere bool // it applies to all intents
	intent     string
	allows     jsonlogic.Truth
	mode, gate pack.Text
}

// side are the rules of one rank and stance, in the order of evaluation.
type side struct {
	stance
	rules []*policy.Rule
}

// then returns the outcome that is asked about for all of them.
func (s *side) then() *policy.Branch { return s.rules[0].Then }

func checkConflicts(p *gate.Pass) {
	newQuestions(p).checkConflicts()
}

func (q *questions) checkConflicts() {
	q.excuse(q.Pass, func(o omission) bool { return o.rule != nil && o.rule.DecisionBinding.OK && o.rule.Enforced })
	type place struct {
		rank
		stance
	}
	places, sides := map[place]*side{}, map[rank][]*side{}
	var ranks []rank
	for _, r := range q.rules {
		if !r.Enforced || !r.DecisionBinding.OK {
			continue
		}
		k := rank{decision: r.DecisionBinding.Value, priority: r.Bundle.Priority.Value}
		if !r.Bundle.Priority.OK {
			k.bundle = r.Bundle
		}
		if sides[k] == nil {
			ranks = append(ranks, k)
		}
		at := place{k, stance{
			when: r.When, everywhere: !r.AppliesTo.Intent.OK, intent: r.AppliesTo.Intent.Value, allows: r.Then.Allows,
			mode: r.Then.ApprovalMode, gate: r.Then.RequiresApprovalGate,
		}}
		at.mode.Node, at.gate.Node = nil, nil
		if places[at] == nil {
			places[at] = &side{stance: at.stance}
			sides[k] = append(sides[k], places[at])
		}
		places[at].rules = append(places[at].rules, r)
	}
	for _, k := range ranks {
		for i, s := range sides[k] {
			if q.Full() && q.failed { // who has so many errors needs no more
				q.NotChecked(fmt.Sprintf("conflicts beyond the first %d are not looked for", gate.MostFindings))
				return
			}
			q.checkAgainst(s, sides[k][:i])
		}
	}
}

// together is how many sides are asked about in one question.
const together = 64

// checkAgainst compares a side with others of its rank. Most rules of a large pack
// exclude each other, which one question proves of many at once; and what holds in the
// request of an answer needs no question of its own.
func (q *questions) checkAgainst(s *side, others []*side) {
	others = slices.DeleteFunc(slices.Clone(others), func(o *side) bool { return len(differences(o.then(), s.then())) == 0 })
	open := ""
	for some := range slices.Chunk(others, together) {
		open = cmp.Or(open, q.meet(s, some))
	}
	if open != "" {
		q.NotProved(gate.Claim{
			At: place(s.then()), Reason: open,
			What: fmt.Sprintf("whether %s conflicts with another of its rank", gate.Called("rule", s.then().Rule.RuleID)),
		})
	}
}

// meet reports which of several sides conflict with one; open is why that is not known of some.
func (q *questions) meet(s *side, others []*side) (open string) {
	for len(others) > 0 {
		f, among := q.meeting(s, others)
		half := len(others) / 2
		switch {
		case f.Verdict == jsonlogic.Unsatisfiable:
			return ""
		case f.Verdict == jsonlogic.Undecided && half == 0:
			return f.Reason
		case f.Verdict == jsonlogic.Undecided:
			return cmp.Or(q.meet(s, others[:half]), q.meet(s, others[half:]))
		}
		for _, o := range among {
			q.report(o, s, f)
		}
		others = slices.DeleteFunc(slices.Clone(others), func(o *side) bool { return slices.Contains(among, o) })
	}
	return ""
}

// meeting asks for a request in which one side holds and some of several others, which it returns.
func (q *questions) meeting(s *side, others []*side) (f found, among []*side) {
	f = q.anyOf(q.intentsOf(s.then().Rule), func(intent string) question {
		var ways []jsonlogic.Formula
		for _, o := range others {
			if o.then().Rule.Applies(intent) {
				ways = append(ways, o.then().Holds())
			}
		}
		return question{seed: jsonlogic.All(s.then().Holds(), jsonlogic.Any(ways...)), rest: q.decided(intent), shown: holds(s.then())}
	})
	for _, o := range others {
		if f.Verdict == jsonlogic.Satisfiable && o.then().Rule.Applies(f.intent) && o.then().Holds().Holds(q.data(f.request)) {
			among = append(among, o)
		}
	}
	return f, among
}

// report says of each rule of one side that it conflicts with each of the other.
func (q *questions) report(a, b *side, f found) {
	severity := q.severityOf(a.then(), b.then(), f.intent)
	q.failed = q.failed || severity == finding.Error
	for _, x := range a.rules {
		for _, y := range b.rules {
			if q.Full() {
				q.Add(finding.Finding{Severity: severity})
				continue
			}
			d := conflict(x, y, f.Witness)
			d.Severity = severity
			q.Report(d)
		}
	}
}

// conflict says that two rules conflict, at the one that is evaluated later.
func conflict(a, b *policy.Rule, witness map[string]any) gate.Diagnostic {
	if a.If.Start > b.If.Start {
		a, b = b, a
	}
	different := differences(a.Then, b.Then)
	words := make([]string, len(different))
	for i, d := range different {
		words[i] = d.words
	}
	return gate.Diagnostic{
		At: different[0].at,
		Message: fmt.Sprintf("%s conflicts with %s of equal priority over %q: %s%s", gate.Called("rule", b.RuleID), gate.Called("rule", a.RuleID),
			b.DecisionBinding.Value, series(words), example(witness, a.When.Expr, b.When.Expr)),
		Hint:    "make their conditions exclude each other, or put one into a bundle of another priority",
		Key:     a.RuleID.Value,
		Related: gate.See(different[0].other, "what %s says", gate.Called("rule", a.RuleID)),
		Witness: witness,
	}
}

// difference is one thing that two outcomes say differently.
type difference struct {
	at, other *pack.Node
	words     string
}

// differences compares what two outcomes state.
func differences(a, b *policy.Branch) []difference {
	var all []difference
	if a.Allow.OK && b.Allow.OK && a.Allow.Value != b.Allow.Value {
		verbs := map[bool]string{true: "allows", false: "denies"}
		all = append(all, difference{b.Allow.Node, a.Allow.Node,
			fmt.Sprintf("it %s what the other %s", verbs[b.Allow.Value], verbs[a.Allow.Value])})
	}
	for _, f := range []struct {
		name string
		a, b pack.Text
	}{
		{"approval_mode", a.ApprovalMode, b.ApprovalMode},
		{"requires_approval_gate", a.RequiresApprovalGate, b.RequiresApprovalGate},
	} {
		if f.a.OK && f.b.OK && f.a.Value != f.b.Value {
			all = append(all, difference{f.b.Node, f.a.Node, fmt.Sprintf("it states %s %q and the other %q", f.name, f.b.Value, f.a.Value)})
		}
	}
	return all
}

// severityOf is a warning for an exception to what may be read: opposite allow
// for a read_only decision, where the allow also holds without the deny.
func (q *questions) severityOf(allow, deny *policy.Branch, intent string) finding.Severity {
	if allow.Denies() {
		allow, deny = deny, allow
	}
	opposite := allow.Allows == jsonlogic.True && deny.Denies() && len(differences(allow, deny)) == 1
	if d := allow.Rule.Decision; !opposite || d == nil || !d.ReadOnly {
		return finding.Error
	}
	if q.ask(intent, allow.Holds(), jsonlogic.Not(deny.Holds())).Verdict == jsonlogic.Unsatisfiable {
		return finding.Error
	}
	return finding.Warning
}
