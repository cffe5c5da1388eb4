package proof

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// scene is what a pack makes of the requests of one intent. Its literals are
// about the conditions of a table.
type scene struct {
	*Model
	*table
	intent    string
	exists    bool                // the pack knows the intent
	facts     []jsonlogic.Formula // what is true of every request that is compiled
	ceilings  bool                // the safety mode counts
	known     []int               // conditions of which none may be unknown, sorted
	standings map[string]*standing
	order     []string       // the decisions of the intent, in decision_specs order
	requires  map[string]set // by gate: the outcomes that require it
	naming    map[string]*naming
	denyAll   set                 // the outcomes that deny every decision
	prohibits map[string]set      // by the name that outcomes call tools by
	bounds    map[string][]source // by argument: those of outcomes
	places    []int               // of the model's conditions in the table

	// What is worked out once, when it is asked for.
	undecided []conjunct
	signs     map[string]string
	empties   map[*tool]emptiness
}

// emptiness says when the bounds of a tool leave no value, if they ever do.
type emptiness struct {
	formula jsonlogic.Formula
	can     bool
}

// standing is what decides about one decision of the intent.
type standing struct {
	*decision
	allow, deny set    // those bound to it
	fires       set    // the outcomes of its own rules
	modes       [5]set // by rank: the outcomes that state the mode
}

// naming is which rules name a gate: those bound to no decision, and those
// bound to one.
type naming struct {
	unbound   bool
	decisions map[string]bool
}

// scene returns what the model makes of an intent. Places leads from its
// conditions to those of the table.
func (m *Model) scene(t *table, places []int, intent string) *scene {
	s := &scene{
		Model: m, table: t, intent: intent, places: places,
		exists:    slices.Contains(m.intents, intent) && len(m.broken) == 0,
		standings: map[string]*standing{}, requires: map[string]set{}, naming: map[string]*naming{},
		prohibits: map[string]set{}, bounds: map[string][]source{},
		signs: map[string]string{}, empties: map[*tool]emptiness{},
	}
	if !s.exists {
		return s
	}
	rules := slices.Concat(m.rules[intent], m.everywhere)
	s.findStandings(rules)
	for _, r := range rules {
		s.known = append(s.known, places[r.when])
		for i := range r.outcomes {
			s.hear(r, &r.outcomes[i], r.outcomes[i].literal(places[r.when]))
		}
	}
	s.settle()
	return s
}

// findStandings makes a standing for each decision that a rule is bound to.
func (s *scene) findStandings(rules []*rule) {
	bound := map[string]bool{}
	for _, r := range rules {
		if r.DecisionBinding.OK {
			bound[r.DecisionBinding.Value] = true
		}
	}
	for _, d := range s.decisions {
		if bound[d.key] {
			s.standings[d.key] = &standing{decision: d}
			s.order = append(s.order, d.key)
		}
	}
}

// hear takes in what one outcome says, and when it holds.
func (s *scene) hear(r *rule, o *branch, when literal) {
	own := s.standings[r.DecisionBinding.Value]
	if !r.DecisionBinding.OK {
		own = nil
	}
	s.judge(own, o.Outcome, when, r.DecisionBinding.Node == nil)
	if g := o.RequiresApprovalGate; g.OK {
		s.requires[g.Value] = append(s.requires[g.Value], when)
		n := s.naming[g.Value]
		if n == nil {
			n = &naming{decisions: map[string]bool{}}
			s.naming[g.Value] = n
		}
		if own != nil {
			n.decisions[own.key] = true
		} else {
			n.unbound = true
		}
	}
	for _, name := range pack.Values(o.Prohibits) {
		s.prohibits[name] = append(s.prohibits[name], when)
	}
	for _, b := range o.bounds {
		b.when = when
		s.bounds[b.arg] = append(s.bounds[b.arg], b)
	}
}

// judge takes in what an outcome says about decisions. One that is bound to none
// allows nothing and denies all.
func (s *scene) judge(own *standing, o *pack.Outcome, when literal, unbound bool) {
	denies := o.Allow.OK && !o.Allow.Value
	if unbound && denies {
		s.denyAll = append(s.denyAll, when)
	}
	if own == nil {
		return
	}
	own.fires = append(own.fires, when)
	switch {
	case denies:
		own.deny = append(own.deny, when)
	case o.Allow.OK:
		own.allow = append(own.allow, when)
	}
	if o.ApprovalMode.Node != nil {
		rank := pack.Mode(o.ApprovalMode).Rank()
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
	for _, lists := range []map[string]set{s.requires, s.prohibits} {
		for name := range lists {
			lists[name] = normal(lists[name])
		}
	}
}

// denials returns the outcomes that deny a decision.
func (s *scene) denials(d *standing) set { return normal(slices.Concat(d.deny, s.denyAll)) }

// prohibitions returns the outcomes that prohibit a tool, by its full or its bare
// name.
func (s *scene) prohibitions(t *tool) set {
	return normal(slices.Concat(s.prohibits[t.id], s.prohibits[t.name]))
}

// open returns the tool of that name, nil where the pack has none, its
// permissions do not allow it, or the pack does not know the intent.
func (s *scene) open(id string) *tool {
	t := s.tool(id)
	if t == nil || !t.allowed || !s.exists {
		return nil
	}
	return t
}

// deciding returns the decisions of the intent that may authorise a tool. What
// only reads needs none.
func (s *scene) deciding(t *tool) []*standing {
	var list []*standing
	for _, key := range s.order {
		if d := s.standings[key]; t.rank > 0 && d.authority >= t.rank {
			list = append(list, d)
		}
	}
	return list
}

// when returns the place of a gate's condition in the table; ok is false where
// there is no such gate.
func (s *scene) when(id string) (place int, ok bool) {
	i := slices.IndexFunc(s.gates, func(g *gate) bool { return g.id == id })
	if i < 0 {
		return 0, false
	}
	return s.places[s.gates[i].when], true
}

// holds reports whether a gate is one that holds an item: a permission of the
// tool names it, or a rule that is bound to the decision, or to one that may
// authorise the tool, or to none.
func (s *scene) holds(gate string, x item) bool {
	n := s.naming[gate]
	if n != nil && n.unbound {
		return true
	}
	if x.tool == "" {
		return n != nil && n.decisions[x.decision]
	}
	t := s.open(x.tool)
	if t == nil {
		return false
	}
	return slices.Contains(t.gates, gate) || n != nil &&
		slices.ContainsFunc(s.deciding(t), func(d *standing) bool { return n.decisions[d.key] })
}

// item is what a request can have: a decision or a tool.
type item struct{ decision, tool string }
