package proof

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
)

// permitted says, beside what is compiled, that an item is there. Outcomes that
// are refuted do not allow it.
func (s *scene) permitted(x item, refuted set) []conjunct {
	if x.tool == "" {
		d := s.standings[x.decision]
		return append(plain(s.none(s.denials(d))), s.granted(d, refuted))
	}
	t := s.open(x.tool)
	around := plain(s.around(t))
	if deciding := s.deciding(t); len(deciding) == 1 {
		return append(around, s.permitted(item{decision: deciding[0].Key}, refuted)...)
	}
	return append(around, conjunct{formula: s.authorised(t)})
}

// both says that an item is there in both versions.
func both(from, to *scene, x item, refuted set) []conjunct {
	return slices.Concat(to.permitted(x, refuted), from.permitted(x, refuted), from.context())
}

// words says that an item is there.
func (x item) words() string {
	if x.tool != "" {
		return fmt.Sprintf("tool %s is surfaced", quote(x.tool))
	}
	return fmt.Sprintf("decision %s is allowed", quote(x.decision))
}

func (x item) kind() (Kind, string) {
	if x.tool != "" {
		return Tool, x.tool
	}
	return Decision, x.decision
}

// sign names what decides whether an item is there.
func (x item) sign(s *scene) sign {
	if x.tool != "" {
		return s.sign(x.tool)
	}
	return sign{decision: x.decision}
}

// gates compares by which gates an item is held that is there in both versions. A
// gate that is not active because the item is gone is no loosening.
func (c *comparison) gates(b, h *scene, x item) {
	var ids []string
	for _, s := range []*scene{b, h} {
		for _, g := range s.Gates {
			if s.holds(g.ID, x) {
				ids = append(ids, g.ID)
			}
		}
	}
	holder, subject := x.kind()
	for _, id := range merged(ids, nil) {
		c.items++
		change := c.judge(Change{Kind: Gate, Holder: holder, Subject: subject, Arg: id}, b, h, question{
			name: func(from, to *scene) asked {
				return asked{about: releasing, gate: id, held: [2]bool{from.holds(id, x), to.holds(id, x)}, from: x.sign(from), to: x.sign(to)}
			},
			probes: func(from, to *scene) []probe {
				return append(released(from, to, x, id), c.unheld(from, to, x, id)...)
			},
			confirm: func(from, to *outcome) string {
				loose := from.mayPermit(x) && to.permits(x) && from.mayBeGated(id, x) && !to.gated(id, x)
				return when(loose, fmt.Sprintf("%s without gate %s", x.words(), quote(id)))
			},
			lost: func(_, to *outcome) string {
				return fmt.Sprintf("%s only with gate %s", x.words(), quote(id))
			},
		})
		c.note(change)
	}
}

// unheld returns the probes for requests that `from` stops at, in which a gate holds
// an item in some completion of `from` and not in `to`.
func (c *comparison) unheld(from, to *scene, x item, id string) []probe {
	inactive := to.none(to.requires[id])
	if at, there := to.when(id); there && to.holds(id, x) {
		inactive = append(inactive, to.is(isFalse(at)))
	}
	return c.regained(from, to, x, jsonlogic.All(append(inactive, from.mayGate(id, x), jsonlogic.Not(from.mayRefuse(x)))...))
}

// released returns the probes for requests in which an item is there in both
// versions, held by a gate in `from` and not in `to`.
func released(from, to *scene, x item, id string) []probe {
	was, there := from.when(id)
	if !there || !from.holds(id, x) {
		return nil
	}
	unmet := func(s *scene, at int) jsonlogic.Formula { return s.is(isFalse(at)) }
	active := jsonlogic.Any(from.any(from.requires[id]), jsonlogic.Not(unmet(from, was)))
	is, still := to.when(id)
	if !still || !to.holds(id, x) {
		return []probe{to.probe(seeds(active), both(from, to, x, nil))}
	}
	// Not active in `to`, so what they have in common does not make it active.
	dropped := from.requires[id].without(to.requires[id])
	ways := from.each(dropped)
	if was != is {
		ways = append(ways, jsonlogic.Not(unmet(from, was)))
	}
	if was == is && len(dropped) == 0 {
		return nil
	}
	return []probe{to.probe(seeds(jsonlogic.Any(ways...), unmet(to, is)), plain(to.none(to.requires[id])), both(from, to, x, to.requires[id]))}
}
