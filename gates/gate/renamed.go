package gate

import "github.com/contextosai/packgate/pack"

// Heirs returns the intents of the base that the pack still has, with their names there.
func (s *Subject) Heirs() map[string]string {
	heirs := map[string]string{}
	is := intentsOf(s)
	for intent := range intentsOf(s.Before) {
		if is[intent] {
			heirs[intent] = intent
		}
	}
	for now, was := range s.FormerIntents() {
		heirs[was] = now
	}
	return heirs
}

func intentsOf(s *Subject) map[string]bool {
	intents := map[string]bool{}
	for _, intent := range s.Pack.Intents() {
		intents[intent.Value] = true
	}
	return intents
}

// trait is something by which an intent is known whatever it is called: the id of a rule
// that is about it, what such a rule says, or its target.
type trait struct{ kind, what string }

// FormerIntents returns the intents that have another name in the base, with that: those that
// share the most traits with one that is gone. Each is one of the base at most.
func (s *Subject) FormerIntents() map[string]string {
	was, is := intentsOf(s.Before), intentsOf(s)
	gone, added := onlyIn(was, is), onlyIn(is, was)
	if len(gone) == 0 || len(added) == 0 {
		return nil
	}
	before, now := traits(s.Before, gone), traits(s, added)
	former, taken := map[string]string{}, map[string]bool{}
	for _, intent := range s.Pack.Intents() {
		best, most := "", 0
		for _, old := range s.Before.Pack.Intents() {
			if shared := common(now[intent.Value], before[old.Value]); shared > most && !taken[old.Value] {
				best, most = old.Value, shared
			}
		}
		if most > 0 {
			former[intent.Value], taken[best] = best, true
		}
	}
	return former
}

func common(a, b map[trait]bool) (n int) {
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}

// onlyIn returns the names of one set that are not in the other.
func onlyIn(set, other map[string]bool) map[string]bool {
	only := map[string]bool{}
	for name := range set {
		if !other[name] {
			only[name] = true
		}
	}
	return only
}

// traits returns the traits of some intents of a pack.
func traits(s *Subject, of map[string]bool) map[string]map[trait]bool {
	all := map[string]map[trait]bool{}
	add := func(intent pack.Text, t trait) {
		if !of[intent.Value] {
			return
		}
		if all[intent.Value] == nil {
			all[intent.Value] = map[trait]bool{}
		}
		all[intent.Value][t] = true
	}
	for _, r := range s.Rules {
		intent := r.AppliesTo.Intent
		if of[intent.Value] && r.RuleID.OK {
			add(intent, trait{"rule", r.RuleID.Value})
		}
		if of[intent.Value] {
			add(intent, trait{"says", content(r.Node, "rule_id", "applies_to")})
		}
	}
	for _, t := range s.Pack.EvaluationLayer.EvalTargets.Items {
		if of[t.Intent.Value] {
			add(t.Intent, trait{"target", content(t.Node, "intent")})
		}
	}
	return all
}

// content returns what an object says beside some of its members.
func content(n *pack.Node, but ...string) string {
	members, ok := n.Any().(map[string]any)
	if !ok {
		return ""
	}
	for _, name := range but {
		delete(members, name)
	}
	return pack.CompactJSON(members)
}
