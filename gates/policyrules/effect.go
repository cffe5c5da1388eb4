package policyrules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// scope is the requests that a proof is about: those of one intent or, where the
// pack names none at all, every request.
type scope struct {
	intent string
	any    bool
}

// is says that a request is of the scope.
func (s scope) is() jsonlogic.Formula {
	if s.any {
		return jsonlogic.All()
	}
	return jsonlogic.Is(intentPath, s.intent)
}

// bare returns the request of the scope that says nothing beside its intent.
func (s scope) bare() map[string]any {
	if s.any {
		return map[string]any{}
	}
	return jsonlogic.Set(nil, strings.Split(intentPath, "."), s.intent)
}

// words says what kind of request no request of the scope is.
func (s scope) words() string {
	if s.any {
		return "no request"
	}
	return fmt.Sprintf("no request with intent %q", s.intent)
}

// scopes returns the scopes of the whole pack.
func (m *model) scopes() []scope {
	if len(m.intents) == 0 {
		return []scope{{any: true}}
	}
	scopes := make([]scope, len(m.intents))
	for i, intent := range m.intents {
		scopes[i] = scope{intent: intent}
	}
	return scopes
}

// anywhere says that a request is of any scope of the pack.
func (m *model) anywhere() jsonlogic.Formula {
	var each []jsonlogic.Formula
	for _, s := range m.scopes() {
		each = append(each, s.is())
	}
	return jsonlogic.Any(each...)
}

// scopesOf returns the scopes to which a rule is applicable: that of its intent,
// or all where it names none.
func (m *model) scopesOf(r *rule) []scope {
	if !r.AppliesTo.Intent.OK {
		return m.scopes()
	}
	return []scope{{intent: r.AppliesTo.Intent.Value}}
}

// applies reports whether the rule is applicable in a scope.
func (r *rule) applies(s scope) bool {
	return !r.AppliesTo.Intent.OK || r.AppliesTo.Intent.Value == s.intent
}

// within returns the rules that count in a scope: applicable and enforced.
func (m *model) within(s scope) []*rule {
	return slices.DeleteFunc(slices.Clone(m.rules), func(r *rule) bool { return !r.enforced || !r.applies(s) })
}

// bound reports whether the rule is bound to that decision.
func (r *rule) bound(key string) bool { return r.DecisionBinding.OK && r.DecisionBinding.Value == key }

// denials returns the outcomes that deny a decision in a scope: those bound to it
// and those bound to none, which deny every decision of the intent.
func (m *model) denials(s scope, key string) []*branch {
	var all []*branch
	for _, r := range m.within(s) {
		if r.DecisionBinding.OK && !r.bound(key) {
			continue
		}
		for _, b := range r.branches {
			if denies(b.Outcome) {
				all = append(all, b)
			}
		}
	}
	return all
}

// silent says that a rule decides nothing although it is decided: no outcome of
// it holds. A rule with an else is never silent.
func silent(r *rule) jsonlogic.Formula {
	if len(r.branches) > 1 {
		return jsonlogic.Not(jsonlogic.All())
	}
	return jsonlogic.IsFalse(r.when)
}

// known says that no rule is unknown, so that the compile does not stop.
func known(rules []*rule) jsonlogic.Formula {
	var each []jsonlogic.Formula
	for _, r := range rules {
		each = append(each, jsonlogic.Not(jsonlogic.IsUnknown(r.when)))
	}
	return jsonlogic.All(each...)
}

// The budget of proofs, in the solver's steps, of which a fast machine does some
// million in a second. The pairs of four hundred rules of one rank need about half
// of a check's steps.
const (
	lastTry    = 1_000_000
	checkSteps = 60_000_000
)

// proof asks the solver on behalf of one check and keeps account.
type proof struct {
	*gate.Pass
	budget *jsonlogic.Budget
}

func newProof(p *gate.Pass) *proof {
	return &proof{p, jsonlogic.NewBudget(context.Background(), checkSteps)}
}

// ask decides whether the parts hold together.
func (q *proof) ask(parts ...jsonlogic.Formula) jsonlogic.Answer {
	a := jsonlogic.Solver{Steps: lastTry, Budget: q.budget}.Solve(jsonlogic.All(parts...))
	if a.Err == jsonlogic.ErrBudget {
		a.Reason = fmt.Sprintf("the check has used up its %d steps", checkSteps)
	}
	return a
}

// unproved notes what could not be decided.
func (q *proof) unproved(who, what string, a jsonlogic.Answer) {
	q.NotChecked(fmt.Sprintf("%s: %s not proved: %s", who, what, a.Reason))
}

// inAny asks for a request of any of the scopes for which the parts hold. The
// answer is that of the first scope that has one; unsatisfiable only where it is
// in all of them.
func (q *proof) inAny(scopes []scope, parts func(scope) jsonlogic.Formula) (jsonlogic.Answer, scope) {
	overall := jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}
	for _, s := range scopes {
		a := q.ask(s.is(), parts(s))
		switch {
		case a.Verdict == jsonlogic.Satisfiable:
			return a, s
		case a.Verdict == jsonlogic.Undecided && overall.Verdict == jsonlogic.Unsatisfiable:
			overall = a
		case a.Verdict == jsonlogic.Unsatisfiable && overall.Verdict == jsonlogic.Unsatisfiable:
			overall.Assumed = merged(overall.Assumed, a.Assumed)
		}
	}
	return overall, scopes[0]
}

// merged returns the words of two sorted lists, sorted and each once.
func merged(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// always is a formula for inAny that does not depend on the scope.
func always(f jsonlogic.Formula) func(scope) jsonlogic.Formula {
	return func(scope) jsonlogic.Formula { return f }
}

// place returns where an outcome says whether it allows.
func (b *branch) place() *pack.Node { return pack.Place(b.Allow.Node, b.Node) }
