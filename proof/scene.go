package proof

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// scene is the policy of a pack for the requests of one intent, in literals of a table.
type scene struct {
	*Model
	*table
	intent    string
	exists    bool                // the pack knows the intent
	facts     []jsonlogic.Formula // what holds for every request that is compiled
	ceilings  bool                // the safety mode counts
	known     []int               // conditions that must not be unknown, sorted
	standings map[string]*standing
	order     []string           // the decisions of the intent, in decision_specs order
	requires  map[string]set     // by gate: the outcomes that require it
	naming    map[string]*naming // by gate: the applicable rules that name it
	denyAll   set                // the outcomes that deny every decision
	prohibits map[*policy.Tool]set
	bounds    map[string][]source // by argument: those of outcomes
	places    []int               // of the model's conditions in the table

	// What is worked out once, when it is asked for.
	undecided []conjunct
	signs     map[string]sign
	empties   map[*policy.Tool]emptiness
}

// emptiness is when the bounds of a tool leave no value, if they ever do.
type emptiness struct {
	formula jsonlogic.Formula
	can     bool
}

// standing is what decides about one decision of the intent.
type standing struct {
	*policy.Decision
	allow, deny set    // those bound to it
	fires       set    // the outcomes of its own rules
	modes       [5]set // by rank: the outcomes that state the mode
}

// naming is which rules name a gate: whether rules bound to no decision do, and those of which decisions.
type naming struct {
	unbound   bool
	decisions map[*policy.Decision]bool
}

// scene returns the scene of an intent. Places are those of the model's conditions in the table.
func (m *Model) scene(t *table, places []int, intent string) *scene {
	s := &scene{
		Model: m, table: t, intent: intent, places: places,
		exists:    slices.Contains(m.Intents, intent) && m.broken == "",
		standings: map[string]*standing{}, requires: map[string]set{}, naming: map[string]*naming{},
		prohibits: map[*policy.Tool]set{}, bounds: map[string][]source{},
		signs: map[string]sign{}, empties: map[*policy.Tool]emptiness{},
	}
	if !s.exists {
		return s
	}
	rules := m.Applicable(intent)
	s.findStandings(rules)
	for _, r := range rules {
		s.known = append(s.known, places[r.When.Index])
		for _, b := range r.Branches() {
			s.add(b)
		}
	}
	s.settle()
	return s
}

// alone is scene for a model that is not compared with another.
func (m *Model) alone(t *table, places []int, intent string) *scene {
	s := m.scene(t, places, intent)
	s.ceilings = m.reads[safetyModePath]
	s.facts = factsOf(intent, s.ceilings, m)
	return s
}

// findStandings makes a standing for each decision that a rule is bound to.
func (s *scene) findStandings(rules []*policy.Rule) {
	bound := map[*policy.Decision]bool{}
	for _, r := range rules {
		bound[r.Decision] = true
	}
	for _, d := range s.Decisions {
		if bound[d] {
			s.standings[d.Key] = &standing{Decision: d}
			s.order = append(s.order, d.Key)
		}
	}
}

// holding returns when an outcome holds.
func (s *scene) holding(b *policy.Branch) literal {
	at := s.places[b.Rule.When.Index]
	if b.IsElse {
		return isFalse(at)
	}
	return isTrue(at)
}

// add adds what one outcome decides, and when it holds.
func (s *scene) add(b *policy.Branch) {
	when := s.holding(b)
	s.judge(b, when)
	if g := b.Gate; g != nil {
		s.requires[g.ID] = append(s.requires[g.ID], when)
		n := s.naming[g.ID]
		if n == nil {
			n = &naming{decisions: map[*policy.Decision]bool{}}
			s.naming[g.ID] = n
		}
		n.unbound = n.unbound || b.Rule.Unbound()
		n.decisions[b.Rule.Decision] = true
	}
	for _, named := range b.Prohibited {
		for _, t := range named {
			s.prohibits[t] = append(s.prohibits[t], when)
		}
	}
	for _, bound := range s.outcomes[b] {
		bound.when = when
		s.bounds[bound.Arg] = append(s.bounds[bound.Arg], bound)
	}
}

// judge adds what an outcome decides. An outcome bound to no decision allows nothing, and a denial denies
// every decision.
func (s *scene) judge(b *policy.Branch, when literal) {
	if b.Rule.Unbound() && b.Denies() {
		s.denyAll = append(s.denyAll, when)
	}
	if b.Rule.Decision == nil {
		return
	}
	own := s.standings[b.Rule.Decision.Key]
	own.fires = append(own.fires, when)
	switch b.Allows {
	case jsonlogic.False:
		own.deny = append(own.deny, when)
	case jsonlogic.True:
		own.allow = append(own.allow, when)
	}
	if b.ApprovalMode.Node != nil {
		rank := pack.Mode(b.ApprovalMode).Rank()
		own.modes[rank] = append(own.modes[rank], when)
	}
}

// settle turns all lists into sets.
func (s *scene) settle() {
	s.denyAll = normal(s.denyAll)
	slices.Sort(s.known)
	s.known = slices.Compact(s.known)
	for _, d := range s.standings {
		d.allow, d.deny, d.fires = normal(d.allow), normal(d.deny), normal(d.fires)
		for i := range d.modes {
			d.modes[i] = normal(d.modes[i])
		}
	}
	for id := range s.requires {
		s.requires[id] = normal(s.requires[id])
	}
	for t := range s.prohibits {
		s.prohibits[t] = normal(s.prohibits[t])
	}
}

// denials returns the outcomes that deny a decision.
func (s *scene) denials(d *standing) set { return normal(slices.Concat(d.deny, s.denyAll)) }

// open returns the tool of that name, nil if the pack has none, its permissions do not allow it, or the
// pack does not know the intent.
func (s *scene) open(id string) *policy.Tool {
	t := s.tool(id)
	if t == nil || !t.Allowed() || !s.exists {
		return nil
	}
	return t
}

// deciding returns the decisions that may authorise a tool; what only reads needs none.
func (s *scene) deciding(t *policy.Tool) []*standing {
	var list []*standing
	for _, key := range s.order {
		if d := s.standings[key]; t.Rank() > 0 && d.Authority >= t.Rank() {
			list = append(list, d)
		}
	}
	return list
}

// when returns the place of a gate's condition in the table; ok is false without the gate.
func (s *scene) when(id string) (place int, ok bool) {
	g := s.Gate(id)
	if g == nil {
		return 0, false
	}
	return s.places[g.When.Index], true
}

// holds reports whether a gate holds an item. Every gate that an applicable rule names holds a tool that
// may change something, and so do those of its permissions (decisions P10 and D7). A read-only tool is
// held by the gates of its permissions and of rules bound to no decision, and a decision by the gates of
// rules bound to it or to none.
func (s *scene) holds(gate string, x item) bool {
	n := s.naming[gate]
	if n != nil && n.unbound {
		return true
	}
	if x.tool == "" {
		return n != nil && n.decisions[s.Decision(x.decision)]
	}
	t := s.open(x.tool)
	return t != nil && (n != nil && t.Rank() > 0 || slices.ContainsFunc(t.Gates, func(g *policy.Gate) bool { return g.ID == gate }))
}

// item is what a request can have: a decision or a tool.
type item struct{ decision, tool string }

// literal is a condition that is true, or one that is false; always holds in every request.
type literal int32

const always literal = -1

func isTrue(condition int) literal  { return literal(2 * condition) }
func isFalse(condition int) literal { return literal(2*condition + 1) }

// set is a set of literals, sorted.
type set []literal

// normal turns a list of literals into a set.
func normal(list []literal) set {
	slices.Sort(list)
	return slices.Compact(list)
}

// without returns what is in the set and not in another one.
func (s set) without(other set) set {
	var rest set
	for _, l := range s {
		if _, there := slices.BinarySearch(other, l); !there {
			rest = append(rest, l)
		}
	}
	return rest
}

// table holds the conditions that literals are about: of one pack, or of two that are compared.
type table struct {
	conditions []*jsonlogic.Expr
	byKey      map[jsonlogic.Key]int
}

// add adds a model's conditions, and returns the place of each of them.
func (t *table) add(m *Model) []int {
	if t.byKey == nil {
		t.byKey = make(map[jsonlogic.Key]int, len(m.Conditions))
	}
	places := make([]int, len(m.Conditions))
	for i, c := range m.Conditions {
		at, known := t.byKey[c.Key]
		if !known {
			at = len(t.conditions)
			t.byKey[c.Key] = at
			t.conditions = append(t.conditions, c.Expr)
		}
		places[i] = at
	}
	return places
}

// is returns a literal as a formula.
func (t *table) is(l literal) jsonlogic.Formula {
	switch {
	case l == always:
		return jsonlogic.All()
	case l%2 == 0:
		return jsonlogic.IsTrue(t.conditions[l/2])
	}
	return jsonlogic.IsFalse(t.conditions[l/2])
}

// each returns each of the literals as a formula.
func (t *table) each(s set) []jsonlogic.Formula {
	list := make([]jsonlogic.Formula, len(s))
	for i, l := range s {
		list[i] = t.is(l)
	}
	return list
}

// any returns the formula that one of the literals holds.
func (t *table) any(s set) jsonlogic.Formula { return jsonlogic.Any(t.each(s)...) }

// none returns, for each of the literals, the formula that it does not hold.
func (t *table) none(s set) []jsonlogic.Formula {
	each := make([]jsonlogic.Formula, len(s))
	for i, l := range s {
		each[i] = jsonlogic.Not(t.is(l))
	}
	return each
}

func (t *table) unknown(condition int) jsonlogic.Formula {
	return jsonlogic.IsUnknown(t.conditions[condition])
}
