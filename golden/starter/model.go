package starter

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// model is a pack with the conditions of its rules and gates, and with what it
// permits. What is made of it is compiled before it is believed.
type model struct {
	pack   *pack.Pack
	effect *proof.Model
	rules  []*rule  // in document order
	gates  []string // gate_ids
	// conditions are those of the gates, whens those and the rules'.
	conditions map[string]*jsonlogic.Expr
	whens      []*jsonlogic.Expr
	intents    []string // that a request can have
}

// rule is a rule with its condition.
type rule struct {
	*pack.Rule
	when     *jsonlogic.Expr
	enforced bool
}

// newModel reads a pack that compiles, so that references lead somewhere and
// conditions are valid.
func newModel(p *pack.Pack) *model {
	m := &model{pack: p, effect: proof.New(p), conditions: map[string]*jsonlogic.Expr{}}
	m.intents = m.effect.Intents
	bundles := p.PolicyLayer.PolicyBundles.Items
	for i := range bundles {
		rules := bundles[i].PolicyDSL.Rules.Items
		for j := range rules {
			when, _ := jsonlogic.Compile(rules[j].If)
			m.rules = append(m.rules, &rule{&rules[j], when, !rules[j].NonEnforcing.Value})
			m.whens = append(m.whens, when)
		}
	}
	for _, g := range p.PolicyLayer.ApprovalGates.Items {
		when, _ := jsonlogic.Compile(g.When)
		m.gates, m.whens = append(m.gates, g.GateID.Value), append(m.whens, when)
		m.conditions[g.GateID.Value] = when
	}
	return m
}

// scope is what the requests of one intent meet.
type scope struct {
	*model
	intent string
	at     *pack.Node // where the intent is named first
	rules  []*rule    // the applicable ones
	bound  []string   // the decisions of the intent

	usual jsonlogic.Answer // a request that compiles, once it is asked for
	asked bool
}

// mostNamed bounds how many decisions, gates or tools of an intent are named in
// one question. It is only asked to find a telling request.
const mostNamed = 20

func (m *model) in(intent string) *scope {
	s := &scope{model: m, intent: intent}
	for _, r := range m.rules {
		to := r.AppliesTo.Intent
		if to.Node != nil && to.Value != intent {
			continue
		}
		s.rules = append(s.rules, r)
		s.at = pack.Place(s.at, to.Node)
		if key := r.DecisionBinding; r.enforced && key.OK && !slices.Contains(s.bound, key.Value) {
			s.bound = append(s.bound, key.Value)
		}
	}
	for _, t := range m.pack.EvaluationLayer.EvalTargets.Items {
		if t.Intent.Value == intent {
			s.at = pack.Place(s.at, t.Intent.Node)
		}
	}
	return s
}

// compiles says that a request is of the intent and compiles.
func (s *scope) compiles() jsonlogic.Formula { return s.effect.Compiles(s.intent) }

// allows says that a decision of the intent is allowed.
func (s *scope) allows() jsonlogic.Formula {
	return anyOf(s.bound, func(key string) jsonlogic.Formula { return s.effect.Allowed(s.intent, key) })
}

// holds says that an approval gate is active.
func (s *scope) holds() jsonlogic.Formula {
	return anyOf(s.gates, func(id string) jsonlogic.Formula { return s.effect.Active(s.intent, id) })
}

// settled says that no approval gate is active for the mere reason that its
// condition cannot be decided. Such requests tell little.
func (s *scope) settled() jsonlogic.Formula {
	return jsonlogic.Not(anyOf(s.gates, func(id string) jsonlogic.Formula {
		return jsonlogic.All(s.effect.Active(s.intent, id), jsonlogic.IsUnknown(s.conditions[id]))
	}))
}

func anyOf(names []string, each func(string) jsonlogic.Formula) jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for _, name := range names[:min(len(names), mostNamed)] {
		ways = append(ways, each(name))
	}
	return jsonlogic.Any(ways...)
}

// denies says that an outcome holds that denies a decision.
func (s *scope) denies() jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for _, r := range s.rules {
		if r.enforced && refuses(&r.Then) {
			ways = append(ways, jsonlogic.IsTrue(r.when))
		}
		if r.enforced && refuses(&r.Else) {
			ways = append(ways, jsonlogic.IsFalse(r.when))
		}
	}
	return jsonlogic.Any(ways...)
}

func refuses(o *pack.Outcome) bool { return o.Allow.OK && !o.Allow.Value }

// is says that a request is of the intent, whatever becomes of it.
func (s *scope) is() jsonlogic.Formula { return jsonlogic.Is("request.intent", s.intent) }

// evidence returns the names of the evidence that the decisions of the intent
// require, each once.
func (s *scope) evidence() []string {
	var names []string
	for _, d := range s.pack.DecisionLayer.DecisionSpecs.Items {
		if !slices.Contains(s.bound, d.DecisionKey.Value) {
			continue
		}
		for _, name := range pack.Values(d.RequiredEvidence) {
			if !slices.Contains(names, name) && len(names) < mostEvidence {
				names = append(names, name)
			}
		}
	}
	return names
}

// strong returns the tools that a ceiling can keep away, the strongest first.
func (m *model) strong() []string {
	var ids []string
	for _, mode := range slices.Backward(pack.ApprovalModes()[1:]) {
		for _, a := range m.pack.ToolingLayer.AdapterRegistry.Items {
			if pack.Mode(a.ApprovalMode).Rank() != mode.Rank() {
				continue
			}
			for _, c := range pack.Values(a.Capabilities) {
				ids = append(ids, a.AdapterID.Value+"."+c)
			}
		}
	}
	return ids[:min(len(ids), mostNamed)]
}
