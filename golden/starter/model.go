package starter

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// model is what a pack that compiles permits. What is made of it is compiled before it
// is believed.
type model struct{ *proof.Model }

// scope is what the requests of one intent meet.
type scope struct {
	*model
	intent string
	at     *pack.Node         // where the intent is named first
	rules  []*policy.Rule     // the applicable ones
	bound  []*policy.Decision // of the intent

	usual jsonlogic.Answer // a request that compiles, once it is asked for
	asked bool
}

// mostNamed bounds how many decisions, gates or tools of an intent are named in
// one question. It is only asked to find a telling request.
const mostNamed = 20

func (m *model) in(intent string) *scope {
	s := &scope{model: m, intent: intent}
	for _, r := range m.Rules {
		if !r.Applies(intent) {
			continue
		}
		s.rules = append(s.rules, r)
		s.at = pack.Place(s.at, r.AppliesTo.Intent.Node)
		if d := r.Decision; r.Enforced && d != nil && !slices.Contains(s.bound, d) {
			s.bound = append(s.bound, d)
		}
	}
	for _, t := range m.Pack.EvaluationLayer.EvalTargets.Items {
		if t.Intent.Value == intent {
			s.at = pack.Place(s.at, t.Intent.Node)
		}
	}
	return s
}

// compiles says that a request is of the intent and compiles.
func (s *scope) compiles() jsonlogic.Formula { return s.Compiles(s.intent) }

// allows says that a decision of the intent is allowed.
func (s *scope) allows() jsonlogic.Formula {
	return anyOf(s.bound, func(d *policy.Decision) jsonlogic.Formula { return s.Allowed(s.intent, d.Key) })
}

// holds says that an approval gate is active.
func (s *scope) holds() jsonlogic.Formula {
	return anyOf(s.Gates, func(g *policy.Gate) jsonlogic.Formula { return s.Active(s.intent, g.ID) })
}

// settled says that no approval gate is active for the mere reason that its
// condition cannot be decided. Such requests tell little.
func (s *scope) settled() jsonlogic.Formula {
	return jsonlogic.Not(anyOf(s.Gates, func(g *policy.Gate) jsonlogic.Formula {
		return jsonlogic.All(s.Active(s.intent, g.ID), jsonlogic.IsUnknown(g.When.Expr))
	}))
}

func anyOf[T any](list []T, each func(T) jsonlogic.Formula) jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for _, one := range list[:min(len(list), mostNamed)] {
		ways = append(ways, each(one))
	}
	return jsonlogic.Any(ways...)
}

// denies says that an outcome holds that denies a decision.
func (s *scope) denies() jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for _, r := range s.rules {
		for _, b := range r.Branches() {
			if r.Enforced && b.Denies() {
				ways = append(ways, b.Holds())
			}
		}
	}
	return jsonlogic.Any(ways...)
}

// evidence returns the names of the evidence that the decisions of the intent
// require, each once.
func (s *scope) evidence() []string {
	var names []string
	for _, d := range s.Decisions {
		if !slices.Contains(s.bound, d) {
			continue
		}
		for _, spec := range d.Specs {
			for _, name := range pack.Values(spec.RequiredEvidence) {
				if !slices.Contains(names, name) && len(names) < mostEvidence {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// strong returns the tools that a ceiling can keep away, the strongest first.
func (m *model) strong() []string {
	var ids []string
	for rank := pack.Destructive.Rank(); rank > 0; rank-- {
		for _, t := range m.Tools {
			if t.Rank() == rank {
				ids = append(ids, t.String())
			}
		}
	}
	return ids[:min(len(ids), mostNamed)]
}
