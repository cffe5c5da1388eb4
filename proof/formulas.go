package proof

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// nothing holds of no request.
func nothing() jsonlogic.Formula { return jsonlogic.Any() }

// own returns the scene of an intent by itself.
func (m *Model) own(intent string) *scene {
	t := &table{}
	s := m.scene(t, t.add(m), intent)
	s.ceilings = m.reads[safetyModePath]
	s.facts = factsOf(intent, s.ceilings, m)
	return s
}

// Compiles says that a request of the intent is compiled: the pack knows the
// intent, and no enforced rule that applies is unknown. Of a pack that is broken,
// and of an intent that it does not know, no request is.
func (m *Model) Compiles(intent string) jsonlogic.Formula { return m.own(intent).compiles() }

// Allowed says that a request of the intent is compiled and a decision allowed
// (compile semantics, P1 and P2: a deny wins, silence allows only what reads).
func (m *Model) Allowed(intent, decisionKey string) jsonlogic.Formula {
	parts, can := m.AllowedParts(intent, decisionKey)
	if !can {
		return nothing()
	}
	return jsonlogic.All(parts...)
}

// AllowedParts returns what Allowed says as formulas that hold together, for callers
// who look at them only as far as they matter. Can is false where no request has the
// decision allowed.
func (m *Model) AllowedParts(intent, decisionKey string) (parts []jsonlogic.Formula, can bool) {
	s := m.own(intent)
	d := s.standings[decisionKey]
	if !s.exists || d == nil {
		return nil, false
	}
	parts = slices.Concat(s.facts, s.decided(), s.none(s.denials(d)))
	return append(parts, s.granted(d, nil).formula), true
}

// Surfaced says that a request of the intent is compiled and a tool, given as
// "adapter.capability", is in its manifest. The safety mode of the request is
// destructive, unless a rule of the pack reads it: then it is what the request
// says.
func (m *Model) Surfaced(intent, capabilityID string) jsonlogic.Formula {
	s := m.own(intent)
	t := s.open(capabilityID)
	if t == nil {
		return nothing()
	}
	return jsonlogic.All(s.compiles(), s.surfaced(t))
}

// Active says that a request of the intent is compiled and an approval gate
// active (compile semantics, P10): a fired outcome requires it, or a rule of the
// intent or the permission of a surfaced tool names it, and its condition is true
// or unknown.
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

// compiles says that a request is of the intent and nothing in it is unknown.
func (s *scene) compiles() jsonlogic.Formula {
	if !s.exists {
		return nothing()
	}
	return jsonlogic.All(slices.Concat(s.facts, s.decided())...)
}

// decided says of each rule that it is not unknown.
func (s *scene) decided() []jsonlogic.Formula {
	each := make([]jsonlogic.Formula, len(s.known))
	for i, at := range s.known {
		each[i] = jsonlogic.Not(s.unknown(at))
	}
	return each
}

// context is what decided says, as conjuncts, made once.
func (s *scene) context() []conjunct {
	if s.undecided == nil {
		s.undecided = plain(s.decided())
	}
	return s.undecided
}

// granted says in which ways something allows a decision: an outcome, or that
// none of its rules fires where it only reads. Outcomes that are refuted are left
// out.
func (s *scene) granted(d *standing, refuted set) conjunct {
	ways := s.each(d.allow.without(refuted))
	if d.ReadOnly {
		ways = append(ways, jsonlogic.Not(s.any(d.fires)))
	}
	return oneOf(ways)
}

// core says that a decision is allowed in a request that is compiled.
func (s *scene) core(d *standing) jsonlogic.Formula {
	return jsonlogic.All(s.granted(d, nil).formula, jsonlogic.Not(s.any(s.denials(d))))
}

// authorised says that a decision which may authorise the tool is allowed.
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

// surfaced says that a tool is in the manifest of a request that is compiled.
func (s *scene) surfaced(t *policy.Tool) jsonlogic.Formula {
	return jsonlogic.All(append(s.around(t), s.authorised(t))...)
}

// around says, beside its authorisation, what lets a tool in: no prohibition,
// bounds that leave a value, and the safety mode where that counts.
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
