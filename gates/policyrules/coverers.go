package policyrules

import (
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// coverer is something that keeps an outcome from deciding: a deny of its decision, or
// an enforced rule whose condition is unknown.
type coverer struct {
	rule   *policy.Rule
	denies bool // else its condition is unknown
	at     *pack.Node
	when   jsonlogic.Formula
}

func (k coverer) words() string {
	if k.denies {
		return gate.Called("rule", k.rule.RuleID) + " denies"
	}
	return gate.Called("rule", k.rule.RuleID) + " is unknown"
}

// rivalry names the denies of a decision, or of all of them, for an intent.
type rivalry struct {
	intent  string
	unbound bool
	key     string
}

// literal names when an outcome holds. Those of one literal hold together.
type literal struct {
	when   *policy.Condition
	isElse bool
}

func literalOf(b *policy.Branch) literal { return literal{b.Rule.When, b.IsElse} }

// rival are the denies of one literal, in the order of evaluation.
type rival struct {
	literal
	denies []*policy.Branch
}

// denials returns the outcomes that deny a decision in the requests of an intent, by
// when they hold: those bound to it and those bound to none. Without a binding it is
// those that deny every decision.
func (c *reach) denials(of rivalry) []*rival {
	list, known := c.rivals[of]
	if known {
		return list
	}
	places := map[literal]*rival{}
	for _, r := range c.rules {
		if !r.Enforced || !r.Applies(of.intent) || !r.Unbound() && (of.unbound || r.DecisionBinding.Value != of.key) {
			continue
		}
		for _, b := range r.Branches() {
			if !b.Denies() {
				continue
			}
			if places[literalOf(b)] == nil {
				places[literalOf(b)] = &rival{literal: literalOf(b)}
				list = append(list, places[literalOf(b)])
			}
			places[literalOf(b)].denies = append(places[literalOf(b)].denies, b)
		}
	}
	c.rivals[of] = list
	return list
}

// coverers returns what keeps an outcome from deciding in the requests of an intent.
func (c *reach) coverers(b *policy.Branch, intent string) []coverer {
	var all []coverer
	for _, k := range c.denials(rivalry{intent, b.Rule.Unbound(), b.Rule.DecisionBinding.Value}) {
		i := slices.IndexFunc(k.denies, func(d *policy.Branch) bool { return d != b && !c.dropped[d] })
		if i >= 0 {
			all = append(all, coverer{k.denies[i].Rule, true, place(k.denies[i]), k.denies[i].Holds()})
		}
	}
	for _, r := range c.applicable(intent).rules {
		all = append(all, coverer{r, false, r.If, jsonlogic.IsUnknown(r.When.Expr)})
	}
	return all
}

// state is what is so in a request in which something decides: no rule is unknown there.
type state struct {
	truths  []jsonlogic.Truth // of the model's conditions, of rules that apply
	denials map[string]int    // by decision key: the denies bound to it
	unbound int               // denies that are bound to none
}

// mostKept bounds the states that are kept of one intent.
const mostKept = 64

// keep notes a request of an intent in which an outcome decides.
func (c *reach) keep(intent string, request map[string]any) {
	data := c.data(request)
	s := state{truths: make([]jsonlogic.Truth, len(c.Conditions)), denials: map[string]int{}}
	for _, r := range c.applicable(intent).rules {
		s.truths[r.When.Index] = r.When.Expr.Eval(data).Truth
	}
	for _, r := range c.rules {
		for _, b := range r.Branches() {
			switch {
			case !r.Enforced || !r.Applies(intent) || !b.Denies() || !s.holds(b):
			case r.Unbound():
				s.unbound++
			default:
				s.denials[r.DecisionBinding.Value]++
			}
		}
	}
	kept := append([]state{s}, c.deciding[intent]...)
	c.deciding[intent] = kept[:min(len(kept), mostKept)]
}

func (s state) holds(b *policy.Branch) bool {
	if b.IsElse {
		return s.truths[b.Rule.When.Index] == jsonlogic.False
	}
	return s.truths[b.Rule.When.Index] == jsonlogic.True
}

// decides reports whether an outcome decides in one of the requests that were found
// for others, which spares a question.
func (c *reach) decides(b *policy.Branch, intent string) bool {
	return b.Rule.Enforced && slices.ContainsFunc(c.deciding[intent], func(s state) bool {
		denials := s.unbound
		if !b.Rule.Unbound() {
			denials += s.denials[b.Rule.DecisionBinding.Value]
		}
		return s.holds(b) && (denials == 0 || denials == 1 && b.Denies())
	})
}
