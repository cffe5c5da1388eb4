package pack

import "iter"

// EachRule goes through all policy rules in document order.
func (p *Pack) EachRule() iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		for i := range p.PolicyLayer.PolicyBundles.Items {
			rules := p.PolicyLayer.PolicyBundles.Items[i].PolicyDSL.Rules.Items
			for j := range rules {
				if !yield(&rules[j]) {
					return
				}
			}
		}
	}
}

// Intents returns every intent that a rule or an eval target names, each at its
// first place. A compile refuses all others.
func (p *Pack) Intents() []Text {
	var intents []Text
	seen := map[string]bool{}
	add := func(intent Text) {
		if intent.OK && !seen[intent.Value] {
			seen[intent.Value] = true
			intents = append(intents, intent)
		}
	}
	for r := range p.EachRule() {
		add(r.AppliesTo.Intent)
	}
	for _, t := range p.EvaluationLayer.EvalTargets.Items {
		add(t.Intent)
	}
	return intents
}
