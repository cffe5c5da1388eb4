package proof

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// joint returns the probe for a request that both versions compile.
func joint(from, to *scene, seed []jsonlogic.Formula, context ...[]conjunct) probe {
	return to.probe(seed, append(context, from.context())...)
}

// probe returns the probe for a request that is compiled here, with a seed and more context. Only the
// first fact, the intent, is part of the seed: most requests satisfy the other facts anyway.
func (s *scene) probe(seed []jsonlogic.Formula, context ...[]conjunct) probe {
	return probe{
		seed:    slices.Concat(s.facts[:1], seed),
		context: slices.Concat(append(context, plain(s.facts[1:]), s.context())...),
	}
}

// stops returns the ways in which requests that another version compiles are not compiled here.
func (s *scene) stops(other *scene) []jsonlogic.Formula {
	if !s.exists {
		return []jsonlogic.Formula{jsonlogic.All()}
	}
	var ways []jsonlogic.Formula
	for _, at := range s.known {
		if _, there := slices.BinarySearch(other.known, at); !there {
			ways = append(ways, s.unknown(at))
		}
	}
	return ways
}

// seeds returns formulas as the list of a seed.
func seeds(f ...jsonlogic.Formula) []jsonlogic.Formula { return f }

// decision compares when a decision is allowed, and by which gates it is held.
func (c *comparison) decision(b, h *scene, key string) {
	change := c.judge(Change{Kind: Decision, Subject: key}, b, h, question{
		probes: func(from, to *scene) []probe {
			d := to.standings[key]
			if d == nil {
				return nil
			}
			probes := c.grants(from, to, d, nil)
			if from.standings[key] == nil {
				return probes
			}
			return append(probes, c.stopped(from, to, item{decision: key})...)
		},
		confirm: func(from, to *outcome) string {
			return when(to.allows(key) && !from.allows(key), item{decision: key}.words())
		},
		lost: func(_, to *outcome) string { return fmt.Sprintf("decision %s is not allowed any more", quote(key)) },
	})
	c.note(change)
	if b.standings[key] != nil && h.standings[key] != nil {
		c.gates(b, h, item{decision: key})
	}
}

// stopped returns the probes for requests that `from` does not compile and in which `to` permits an
// item: first those in which some completion of `from` refuses it.
func (c *comparison) stopped(from, to *scene, x item) []probe {
	probes := c.regained(from, to, x, jsonlogic.All())
	if len(probes) == 0 || !from.exists {
		return probes
	}
	probes[0].unstopped = true
	return append(c.regained(from, to, x, from.mayRefuse(x)), probes...)
}

// grants returns the probes for requests that both versions compile, in which `to` allows a decision and
// `from` does not. The context is what else has to hold.
func (c *comparison) grants(from, to *scene, d *standing, context []conjunct) []probe {
	was := from.standings[d.Key]
	if was == nil {
		return []probe{to.probe(nil, to.permitted(item{decision: d.Key}, nil), context)}
	}
	if sameStanding(from, to, d.Key) {
		return nil
	}
	var probes []probe
	if fresh, may := to.newlyGranted(d, was); may {
		refused := plain(from.none(was.allow))
		if was.ReadOnly {
			refused = append(refused, oneOf(from.each(was.fires)))
		}
		probes = append(probes, joint(from, to, seeds(fresh), plain(to.none(to.denials(d))), refused, context))
	}
	if lifted := from.denials(was).without(to.denials(d)); len(lifted) > 0 {
		probes = append(probes, joint(from, to, seeds(from.any(lifted)), to.permitted(item{decision: d.Key}, nil), context))
	}
	return probes
}

// newlyGranted returns the formula that a decision is allowed by something that did not allow it before;
// may is false if there is nothing of the kind.
func (s *scene) newlyGranted(d, was *standing) (f jsonlogic.Formula, may bool) {
	ways := []jsonlogic.Formula{s.any(d.allow.without(was.allow))}
	may = len(d.allow.without(was.allow)) > 0
	if d.ReadOnly && !(was.ReadOnly && slices.Equal(d.fires, was.fires)) {
		ways, may = append(ways, jsonlogic.Not(s.any(d.fires))), true
	}
	return jsonlogic.Any(ways...), may
}

// sameStanding reports whether the same allows and denies a decision in both versions.
func sameStanding(from, to *scene, key string) bool {
	a, b := from.standings[key], to.standings[key]
	if a == nil || b == nil {
		return a == b
	}
	same := slices.Equal(a.allow, b.allow) && slices.Equal(a.deny, b.deny) && slices.Equal(from.denyAll, to.denyAll)
	return same && a.ReadOnly == b.ReadOnly && (!a.ReadOnly || slices.Equal(a.fires, b.fires))
}

// tool compares when a tool is surfaced, and what holds it.
func (c *comparison) tool(b, h *scene, id string) {
	was, is := b.open(id), h.open(id)
	if was == nil && is == nil {
		return
	}
	for s, t := range map[*scene]*policy.Tool{b: was, h: is} {
		if t != nil && s.tooMany(t) {
			c.note(Change{Intent: b.intent, Kind: Tool, Subject: id, Reason: "its bounds are too many to be followed"})
			return
		}
	}
	c.note(c.judge(Change{Kind: Tool, Subject: id}, b, h, question{
		name:   func(from, to *scene) asked { return asked{about: surfacing, from: from.sign(id), to: to.sign(id)} },
		probes: func(from, to *scene) []probe { return c.surfacings(from, to, id) },
		confirm: func(from, to *outcome) string {
			return when(to.surfaces(id) && !from.surfaces(id), item{tool: id}.words())
		},
		lost: func(_, to *outcome) string { return fmt.Sprintf("tool %s is not surfaced any more", quote(id)) },
	}))
	if was != nil && is != nil {
		c.gates(b, h, item{tool: id})
		c.bounds(b, h, was, is)
		c.mode(b, h, was, is)
	}
}

// sign is what decides whether an item is there: items with equal signs are there for the same requests.
type sign struct {
	decision   string // the key of a decision
	open       bool   // a tool that its permissions allow
	rank       int
	prohibited string        // the literals of its prohibitions, each in a fixed width
	own        policy.ToolID // the tool itself, if its bounds can leave no value
}

// sign returns the sign of a tool.
func (s *scene) sign(id string) sign {
	if known, is := s.signs[id]; is {
		return known
	}
	var made sign
	if t := s.open(id); t != nil {
		made = sign{open: true, rank: t.Rank(), prohibited: written(s.prohibits[t])}
		if _, can := s.emptied(t); can {
			made.own = t.ToolID
		}
	}
	s.signs[id] = made
	return made
}

// written writes numbers in a fixed width: two lists are written alike only if equal.
func written[N ~int32](list []N) string {
	var b []byte
	for _, n := range list {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return string(b)
}

// surfacings returns the probes for requests in which `to` surfaces a tool and `from` does not. A
// read-only tool is there whenever a request is compiled: it is not a gain if `from` stops where `to`
// denies (see Stop).
func (c *comparison) surfacings(from, to *scene, id string) []probe {
	is, was := to.open(id), from.open(id)
	if is == nil {
		return nil
	}
	if was == nil {
		return to.allowing(is, to.around(is))
	}
	there := to.permitted(item{tool: id}, nil)
	probes := c.authorisations(from, to, was, is)
	if lifted := from.prohibits[was].without(to.prohibits[is]); len(lifted) > 0 {
		probes = append(probes, joint(from, to, seeds(from.any(lifted)), there))
	}
	otherwise := func(arg string) bool { return !alike(from.sources(was, arg), to.sources(is, arg)) }
	if empty, can := from.emptied(was); can && slices.ContainsFunc(Merged(was.Arguments(), is.Arguments()), otherwise) {
		probes = append(probes, joint(from, to, seeds(empty), there))
	}
	if is.Rank() < was.Rank() {
		probes = append(probes, joint(from, to, seeds(safetyModeFrom(is.Rank(), was.Rank()-1)), there))
	}
	if is.Rank() == 0 {
		return probes
	}
	return append(probes, c.stopped(from, to, item{tool: id})...)
}

// allowing returns a probe for each decision that may authorise a tool, or one if it needs none.
func (s *scene) allowing(t *policy.Tool, context []jsonlogic.Formula) []probe {
	if t.Rank() == 0 {
		return []probe{s.probe(nil, plain(context))}
	}
	var probes []probe
	for _, d := range s.deciding(t) {
		probes = append(probes, s.probe(nil, s.permitted(item{decision: d.Key}, nil), plain(context)))
	}
	return probes
}

// authorisations returns the probes for a decision that authorises a tool in `to`, and none in `from`.
func (c *comparison) authorisations(from, to *scene, was, is *policy.Tool) []probe {
	if was.Rank() == 0 {
		return nil
	}
	around := plain(to.around(is))
	refused := func(but string) []conjunct {
		context := slices.Clone(around)
		for _, d := range from.deciding(was) {
			if d.Key != but {
				context = append(context, conjunct{formula: jsonlogic.Not(from.core(d))})
			}
		}
		return context
	}
	if is.Rank() == 0 {
		return []probe{joint(from, to, nil, refused(""))}
	}
	could := map[string]bool{}
	for _, d := range from.deciding(was) {
		could[d.Key] = true
	}
	var probes []probe
	for _, d := range to.deciding(is) {
		switch {
		case !could[d.Key]:
			probes = append(probes, joint(from, to, nil, to.permitted(item{decision: d.Key}, nil), refused("")))
		case !sameStanding(from, to, d.Key):
			probes = append(probes, c.grants(from, to, d, refused(d.Key))...)
		}
	}
	return probes
}

// permitted returns the conjuncts that an item is there in a request that is compiled, without refuted
// outcomes.
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

// both returns the conjuncts that an item is there in both versions.
func both(from, to *scene, x item, refuted set) []conjunct {
	return slices.Concat(to.permitted(x, refuted), from.permitted(x, refuted), from.context())
}

// words returns the words for an item that is there.
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

// sign returns the sign of an item.
func (x item) sign(s *scene) sign {
	if x.tool != "" {
		return s.sign(x.tool)
	}
	return sign{decision: x.decision}
}

// gates compares the gates that hold an item that is there in both versions. A gate that is not active
// because the item is gone is not a loosening.
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
	for _, id := range Merged(ids, nil) {
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

// unheld returns the probes for gates that hold an item in a completion of `from` and not in `to`.
func (c *comparison) unheld(from, to *scene, x item, id string) []probe {
	inactive := to.none(to.requires[id])
	if at, there := to.when(id); there && to.holds(id, x) {
		inactive = append(inactive, to.is(isFalse(at)))
	}
	return c.regained(from, to, x, jsonlogic.All(append(inactive, from.mayGate(id, x), jsonlogic.Not(from.mayRefuse(x)))...))
}

// released returns the probes for an item in both versions that a gate holds in `from` and not in `to`.
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
