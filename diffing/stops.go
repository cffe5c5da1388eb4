package diffing

import (
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// stopped is a rule in both versions, seen from an intent.
type stopped struct {
	pair
	intent string
}

// unknownDiffers reports whether a rule can stop requests of an intent that it
// did not stop before, or the reverse: whether it is unknown in others. What
// cannot be decided counts.
func (p *proving) unknownDiffers(rule pair, intent string) bool {
	at := stopped{rule, intent}
	if known, ok := p.stopping[at]; ok {
		return known
	}
	var sides []jsonlogic.Formula
	valid := true
	for _, r := range []*pack.Rule{rule.old, rule.new} {
		unknown := jsonlogic.Any()
		if r != nil && enforced(r, intent) {
			x := p.expr(r.If)
			if valid = valid && x != nil; x != nil {
				unknown = jsonlogic.IsUnknown(x)
			}
		}
		sides = append(sides, unknown)
	}
	differs := !valid
	if valid && !(applies(rule, intent) && p.text(rule.old.If) == p.text(rule.new.If)) {
		differs = p.stops.ask([]jsonlogic.Formula{apart(sides[0], sides[1])}, nil).Verdict != jsonlogic.Unsatisfiable
	}
	p.stopping[at] = differs
	return differs
}

// applies reports whether both versions have the rule and apply it to an intent.
func applies(rule pair, intent string) bool {
	return rule.old != nil && rule.new != nil && enforced(rule.old, intent) && enforced(rule.new, intent)
}
