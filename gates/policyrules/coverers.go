package policyrules

import (
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// coverer is something that keeps an outcome from deciding: a deny of its decision, or
// an enforced rule whose condition is unknown.
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

// coverers returns what keeps an outcome from deciding in the requests of an intent,
// denies first.
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
