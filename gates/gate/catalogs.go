package gate

import (
	"fmt"

	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
)

// EachCatalog calls check for every environment whose catalog has a section, and
// notes which have none. What names what the section lists. It returns how many
// have it.
func (p *Pass) EachCatalog(what string, section func(*repo.Environment) *pack.Node, check func(*repo.Environment)) int {
	var without []*repo.Environment
	for _, e := range p.Environments {
		if section(e) == nil {
			without = append(without, e)
			continue
		}
		check(e)
	}
	if len(without) == len(p.Environments) {
		p.NotChecked("no environment catalog lists " + what)
		return 0
	}
	for _, e := range without {
		p.NotChecked(fmt.Sprintf("the catalog of environment %q lists no %s", e.Name(), what))
	}
	return len(p.Environments) - len(without)
}

// Intents returns every intent that the rules and the eval targets of the pack
// name, each at its first place. A compile refuses all others.
func (s *Subject) Intents() []pack.Text {
	var intents []pack.Text
	seen := map[string]bool{}
	add := func(intent pack.Text) {
		if intent.OK && !seen[intent.Value] {
			seen[intent.Value] = true
			intents = append(intents, intent)
		}
	}
	for _, r := range s.Rules {
		add(r.AppliesTo.Intent)
	}
	for _, t := range s.Pack.EvaluationLayer.EvalTargets.Items {
		add(t.Intent)
	}
	return intents
}
