package proof

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// nothing is the formula that holds for no request.
func nothing() jsonlogic.Formula { return jsonlogic.Any() }

// own returns the scene of an intent by itself.
func (m *Model) own(intent string) *scene {
	t := &table{}
	return m.alone(t, t.add(m), intent)
}

// Compiles returns the formula that a request of the intent is compiled: the pack knows the intent, and
// no enforced rule that applies is unknown. For a broken pack, and for an intent that it does not know,
// it holds for no request.
func (m *Model) Compiles(intent string) jsonlogic.Formula { return m.own(intent).compiles() }

// Allowed returns the formula that a request of the intent is compiled and a decision is allowed
// (compile semantics, P1 and P2: a deny wins, silence allows only what reads).
func (m *Model) Allowed(intent, decisionKey string) jsonlogic.Formula {
	parts, can := m.AllowedParts(intent, decisionKey)
	if !can {
		return nothing()
	}
	return jsonlogic.All(parts...)
}

// AllowedParts returns the formula of Allowed as a list of formulas that must all hold, for callers
// that look at them only as far as they matter. Can is false if no request has the decision allowed.
func (m *Model) AllowedParts(intent, decisionKey string) (parts []jsonlogic.Formula, can bool) {
	s := m.own(intent)
	d := s.standings[decisionKey]
	if !s.exists || d == nil {
		return nil, false
	}
	parts = slices.Concat(s.facts, s.decided(), s.none(s.denials(d)))
	return append(parts, s.granted(d, nil).formula), true
}

// Surfaced returns the formula that a request of the intent is compiled and a tool, given as
// "adapter.capability", is in its manifest. The safety mode of the request is destructive, unless a
// rule of the pack reads it: then it is that of the request.
func (m *Model) Surfaced(intent, capabilityID string) jsonlogic.Formula {
	s := m.own(intent)
	t := s.open(capabilityID)
	if t == nil {
		return nothing()
	}
	return jsonlogic.All(s.compiles(), s.surfaced(t))
}

// Active returns the formula that a request of the intent is compiled and an approval gate is active
// (compile semantics, P10): a fired outcome requires it, or a rule of the intent or the permission of
// a surfaced tool names it, and its condition is true or unknown.
func (m *Model) Active(intent, gateID string) jsonlogic.Formula {
	s := m.own(intent)
	place, there := s.when(gateID)
	if !there {
		return nothing()
	}
	named := jsonlogic.All()
	if s.naming[gateID] == nil {
		var ways []jsonlogic.Formula
		for _, t := range s.Tools {
			if t.Allowed() && slices.Contains(t.Gates, s.Gate(gateID)) {
				ways = append(ways, s.surfaced(t))
			}
		}
		named = jsonlogic.Any(ways...)
	}
	met := jsonlogic.Not(s.is(isFalse(place)))
	return jsonlogic.All(s.compiles(), jsonlogic.Any(s.any(s.requires[gateID]), jsonlogic.All(named, met)))
}

// compiles returns the formula that a request is of the intent and no rule is unknown.
func (s *scene) compiles() jsonlogic.Formula {
	if !s.exists {
		return nothing()
	}
	return jsonlogic.All(slices.Concat(s.facts, s.decided())...)
}

// decided returns, for each rule, the formula that it is not unknown.
func (s *scene) decided() []jsonlogic.Formula {
	each := make([]jsonlogic.Formula, len(s.known))
	for i, at := range s.known {
		each[i] = jsonlogic.Not(s.unknown(at))
	}
	return each
}

// context returns the formulas of decided as conjuncts, which are made once.
func (s *scene) context() []conjunct {
	if s.undecided == nil {
		s.undecided = plain(s.decided())
	}
	return s.undecided
}

// granted returns the ways in which a decision is allowed, without refuted outcomes.
func (s *scene) granted(d *standing, refuted set) conjunct {
	ways := s.each(d.allow.without(refuted))
	if d.ReadOnly {
		ways = append(ways, jsonlogic.Not(s.any(d.fires)))
	}
	return oneOf(ways)
}

// core returns the formula that a decision is allowed in a request that is compiled.
func (s *scene) core(d *standing) jsonlogic.Formula {
	return jsonlogic.All(s.granted(d, nil).formula, jsonlogic.Not(s.any(s.denials(d))))
}

// authorised returns the formula that a decision that may authorise the tool is allowed.
func (s *scene) authorised(t *policy.Tool) jsonlogic.Formula {
	if t.Rank() == 0 {
		return jsonlogic.All()
	}
	var ways []jsonlogic.Formula
	for _, d := range s.deciding(t) {
		ways = append(ways, s.core(d))
	}
	return jsonlogic.Any(ways...)
}

// surfaced returns the formula that a tool is in the manifest of a request that is compiled.
func (s *scene) surfaced(t *policy.Tool) jsonlogic.Formula {
	return jsonlogic.All(append(s.around(t), s.authorised(t))...)
}

// around returns what lets a tool in beside its authorisation: no prohibition, bounds that leave a
// value, and the safety mode if that counts.
func (s *scene) around(t *policy.Tool) []jsonlogic.Formula {
	conjuncts := s.none(s.prohibits[t])
	if empty, can := s.emptied(t); can {
		conjuncts = append(conjuncts, jsonlogic.Not(empty))
	}
	if s.ceilings && t.Rank() > 0 {
		conjuncts = append(conjuncts, safetyModeFrom(t.Rank(), pack.Destructive.Rank()))
	}
	return conjuncts
}

// If a pack stops at a request because conditions are unknown, the completions of the request count:
// each unknown condition may turn out true or false, whatever the others do (decisions D2). The
// functions below are about what some completion does. A known condition has only one.

// may returns the formula that a literal holds in some completion.
func (s *scene) may(l literal) jsonlogic.Formula {
	if l == always {
		return jsonlogic.All()
	}
	return jsonlogic.Not(s.is(l ^ 1))
}

// anyMay returns the formula that one of the literals holds in some completion.
func (s *scene) anyMay(list set) jsonlogic.Formula {
	ways := make([]jsonlogic.Formula, len(list))
	for i, l := range list {
		ways[i] = s.may(l)
	}
	return jsonlogic.Any(ways...)
}

// noneMay returns the formula that none of the literals holds in some completion. If a condition is in
// the set both as true and as false, one of the two always holds.
func (s *scene) noneMay(list set) jsonlogic.Formula {
	each := s.none(list)
	for i, l := range list {
		if i > 0 && l != always && l == list[i-1]^1 {
			return nothing()
		}
	}
	return jsonlogic.All(each...)
}

// mayRefuse returns the formula that an item is not there in some completion. Several decisions that may
// each be refused are taken to be refused at once.
func (s *scene) mayRefuse(x item) jsonlogic.Formula {
	if x.tool == "" {
		d := s.standings[x.decision]
		if d == nil {
			return jsonlogic.All()
		}
		silent := s.noneMay(d.allow)
		if d.ReadOnly {
			silent = jsonlogic.All(silent, s.anyMay(d.fires))
		}
		return jsonlogic.Any(s.anyMay(s.denials(d)), silent)
	}
	t := s.open(x.tool)
	if t == nil {
		return jsonlogic.All()
	}
	ways := []jsonlogic.Formula{s.anyMay(s.prohibits[t]), s.mayEmpty(t)}
	if s.ceilings {
		ways = append(ways, jsonlogic.Not(safetyModeFrom(t.Rank(), pack.Destructive.Rank())))
	}
	if t.Rank() > 0 {
		var refused []jsonlogic.Formula
		for _, d := range s.deciding(t) {
			refused = append(refused, s.mayRefuse(item{decision: d.Key}))
		}
		ways = append(ways, jsonlogic.All(refused...))
	}
	return jsonlogic.Any(ways...)
}

// mayEmpty returns the formula that the bounds of a tool leave no value, or may in some completion.
func (s *scene) mayEmpty(t *policy.Tool) jsonlogic.Formula {
	empty, can := s.emptied(t)
	if !can {
		return nothing()
	}
	ways := []jsonlogic.Formula{empty}
	for _, arg := range t.Arguments() {
		for _, b := range s.sources(t, arg) {
			if b.when != always {
				ways = append(ways, s.unknown(int(b.when/2)))
			}
		}
	}
	return jsonlogic.Any(ways...)
}

// mayGate returns the formula that a gate that holds an item is active in some completion.
func (s *scene) mayGate(id string, x item) jsonlogic.Formula {
	at, there := s.when(id)
	if !there || !s.holds(id, x) {
		return nothing()
	}
	return jsonlogic.Any(s.anyMay(s.requires[id]), s.may(isTrue(at)))
}

// regained returns the probes for requests that `from` stops at and `to` permits an
// item in, and in which some completion of `from` is stricter about it.
func (c *comparison) regained(from, to *scene, x item, stricter jsonlogic.Formula) []probe {
	gone := from.stops(to)
	if len(gone) == 0 || !c.canStop(from, to) {
		return nil
	}
	return []probe{to.probe(seeds(jsonlogic.Any(gone...), stricter), to.permitted(x, nil))}
}

// canStop asks once whether `to` may compile requests that `from` stops at; there are rarely any.
func (c *comparison) canStop(from, to *scene) bool {
	name := asked{about: stopping, up: to.Model == c.head}
	a, known := c.memo[name]
	if !known {
		a = c.prover.any(compiledOnly(from, to))
		c.memo[name] = a
	}
	return a.Verdict != jsonlogic.Unsatisfiable || len(a.Assumed) > 0
}

// Unstopped reports whether every completion of a request that the model stops at permits an item, with
// no other gates than the given ones (decisions D2). The subject is a decision by its key, or a tool as
// "adapter.capability".
func (m *Model) Unstopped(kind Kind, subject string, witness map[string]any, gates []string) bool {
	request := Request(m.Pack, witness)
	data := request.Data()
	intent, _ := jsonlogic.Lookup(data, intentPath)
	text, _ := intent.(string)
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	s := m.claims.scene(m, text)
	x := item{decision: subject}
	if kind == Tool {
		x = item{tool: subject}
	}
	return s.exists && !s.mayRefuse(x).Holds(data) && !slices.ContainsFunc(s.Gates, func(g *policy.Gate) bool {
		return !slices.Contains(gates, g.ID) && s.mayGate(g.ID, x).Holds(data)
	})
}
