package starter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// aim is something that a case is to show.
type aim struct {
	key  key
	what string // in words
	slug string // the beginning of the case's name
	at   *pack.Node
	// scopes are those in which it can be shown; in any of them is enough.
	scopes []*scope
	// ways says for which requests of a scope it is shown, the more telling first and all last.
	ways func(*scope) []jsonlogic.Formula
	// own is the part of it that is about nothing but the aim, nil if there is none.
	own *jsonlogic.Formula
	// quiet aims are not reported where they are not reached.
	quiet bool
}

// key names something that cases show: a rule, an else, a gate, or a family of an intent.
type key struct {
	kind         kind
	name, intent string
}

type kind uint8

const (
	rules kind = iota
	elses
	gates
	families
)

func familyKey(intent, family string) key { return key{families, family, intent} }

// covered returns the keys of what results exercise, as golden.Cover counts it.
func (m *maker) covered(results ...golden.Result) []key {
	c := golden.Cover(m.unit, results)
	var keys []key
	for _, part := range []struct {
		list []golden.Covered
		kind kind
	}{{c.Rules, rules}, {c.Else, elses}, {c.Gates, gates}} {
		for _, one := range part.list {
			if one.Exercised() {
				keys = append(keys, key{kind: part.kind, name: one.Name})
			}
		}
	}
	return keys
}

// policyAims are the rules, else branches and gates of the pack.
func (m *maker) policyAims() []*aim {
	var aims []*aim
	for _, r := range m.Rules {
		scopes := slices.DeleteFunc(slices.Clone(m.scopes), func(s *scope) bool { return !slices.Contains(s.rules, r) })
		for _, b := range r.Branches() {
			aims = append(aims, outcomeAim(b, scopes))
		}
	}
	for _, g := range m.Gates {
		aims = append(aims, &aim{
			key: key{kind: gates, name: g.ID}, what: fmt.Sprintf("gate %q", g.ID), slug: slug(g.ID), at: g.Node, scopes: m.scopes,
			ways: func(s *scope) []jsonlogic.Formula {
				active := s.Active(s.intent, g.ID)
				return []jsonlogic.Formula{jsonlogic.All(s.allows(), active, s.settled()), jsonlogic.All(active, s.settled()), active}
			},
		})
	}
	return aims
}

// outcomeAim is the aim to show an outcome, best of all where nothing else denies.
func outcomeAim(b *policy.Branch, scopes []*scope) *aim {
	holds, r, id := b.Holds(), b.Rule, b.Rule.RuleID.Value
	a := &aim{
		key: key{kind: rules, name: id}, what: fmt.Sprintf("rule %q", id), slug: slug(id), at: r.Node, scopes: scopes, own: &holds,
		ways: func(s *scope) []jsonlogic.Formula {
			settled, shown := s.settled(), jsonlogic.All(s.compiles(), holds)
			ways := []jsonlogic.Formula{jsonlogic.All(shown, settled), shown}
			if b.Allow.Value && r.Enforced && r.Decision != nil {
				allowed := jsonlogic.All(holds, s.Allowed(s.intent, r.Decision.Key))
				ways = append([]jsonlogic.Formula{jsonlogic.All(allowed, settled), allowed}, ways...)
			}
			return ways
		},
	}
	if b.IsElse {
		a.key.kind, a.what, a.at = elses, fmt.Sprintf("the else of rule %q", id), b.Node
	}
	return a
}

// familyAims are what each intent is to have a case of.
func (s *scope) familyAims() []*aim {
	family := func(name string, ways ...jsonlogic.Formula) *aim {
		for i := range ways {
			ways[i] = jsonlogic.All(s.compiles(), ways[i])
		}
		return &aim{key: familyKey(s.intent, name), slug: slug(s.intent), scopes: []*scope{s}, quiet: true, ways: func(*scope) []jsonlogic.Formula { return ways }}
	}
	held, undenied := s.holds(), jsonlogic.Not(s.denies())
	aims := []*aim{family(golden.FamilyAllowed, jsonlogic.All(s.allows(), undenied, jsonlogic.Not(held)), jsonlogic.All(undenied, jsonlogic.Not(held)))}
	if len(s.bound) > 0 {
		aims = append(aims, family(golden.FamilyDenied, jsonlogic.All(s.denies(), jsonlogic.Not(held)), s.denies(), jsonlogic.Not(s.allows())))
	}
	if len(s.Gates) > 0 {
		aims = append(aims, family(golden.FamilyApproval, jsonlogic.All(s.allows(), undenied, held), jsonlogic.All(undenied, held)))
	}
	return aims
}

// pursue looks for a request that shows what is aimed at, unless a case does already.
func (m *maker) pursue(a *aim) {
	if m.shown[a.key] {
		return
	}
	if len(m.pool) == mostCases || m.budget.Err() != nil {
		if !a.quiet {
			m.leftOut++
		}
		return
	}
	var search pursuit
	for _, s := range a.scopes {
		if c := m.tryUsual(a, s); c != nil {
			m.keep(c)
			return
		}
		for _, way := range a.ways(s) {
			if c := m.try(&search, a, s, way); c != nil {
				m.keep(c)
				return
			}
		}
	}
	if !a.quiet {
		m.miss(a.what, a.at, search.why(len(a.scopes)))
	}
}

func (m *maker) keep(c *candidate) {
	m.pool = append(m.pool, c)
	for _, k := range c.shows {
		m.shown[k] = true
	}
}

// mostTogether is how many rules of an intent are put into one question each time.
const mostTogether = 60

// tryUsual tries, where an intent has very many rules, a request that is usual but
// for what the aim itself reads. It spares the question about all rules at once.
func (m *maker) tryUsual(a *aim, s *scope) *candidate {
	if a.own == nil || len(s.rules) <= mostTogether {
		return nil
	}
	if !s.asked {
		s.usual, s.asked = m.ask(m.requests(s), s.compiles()), true
	}
	if s.usual.Verdict != jsonlogic.Satisfiable {
		return nil
	}
	answer := m.ask(m.requests(s), *a.own)
	if answer.Verdict != jsonlogic.Satisfiable {
		return nil
	}
	c := m.judge(&candidate{scope: s, data: jsonlogic.Overlay(s.usual.Witness, answer.Witness)})
	if !slices.Contains(c.shows, a.key) {
		return nil
	}
	c.name = named(a.slug, c.family)
	return c
}

// pursuit is what was learnt on the way to an aim that was not reached.
type pursuit struct {
	undecided string // why a proof came to no answer
	other     string // what a request showed that was to show the aim
	assumed   []string
	narrowed  bool // there is such a request, which no case can make
}

func (m *maker) try(search *pursuit, a *aim, s *scope, way jsonlogic.Formula) *candidate {
	answer := m.ask(m.requests(s), way)
	switch answer.Verdict {
	case jsonlogic.Undecided:
		search.undecided = answer.Reason
		return nil
	case jsonlogic.Unsatisfiable:
		search.assumed = answer.Assumed
		search.narrowed = search.narrowed || m.shapes.narrow && m.ask(way).Verdict == jsonlogic.Satisfiable
		return nil
	}
	c := m.judge(&candidate{scope: s, data: answer.Witness})
	switch {
	case slices.Contains(c.shows, a.key):
		c.name = named(a.slug, c.family)
		return c
	case c.err != nil:
		search.other = c.err.Error()
	case c.detail.Outcome != compiler.Compiled:
		search.other = c.detail.Reason()
	default:
		search.other = "it compiles, and shows something else"
	}
	return nil
}

// why says why an aim was not reached.
func (p *pursuit) why(scopes int) string {
	switch {
	case scopes == 0:
		return "no request can be of its intent"
	case p.undecided != "":
		return "not decided whether a request reaches it: " + p.undecided
	case p.other != "":
		return "the request that should reach it does not: " + p.other
	case p.narrowed:
		return "no request that the contracts of invokeAgent and RunContext allow reaches it"
	case len(p.assumed) > 0:
		return "no request reaches it in which these variables are single values: " + strings.Join(p.assumed, ", ")
	}
	return "no request reaches it"
}

// errNotValid is why a request that compiles is no case.
var errNotValid = errors.New("it is not what the contracts of invokeAgent and RunContext want")

// judge compiles a candidate and says what it shows.
func (m *maker) judge(c *candidate) *candidate {
	if m.compile(c); c.err != nil || !m.valid(c) {
		if c.err == nil {
			c.err = errNotValid
		}
		return c
	}
	c.family, c.maker = familyOf(c), m
	c.shows = m.covered(golden.Result{Case: "candidate", Outcome: c.detail.Outcome, Detail: c.detail})
	c.shows = append(c.shows, familyKey(c.intent(), c.family))
	return c
}

// familyOf says of which family a compile is.
func familyOf(c *candidate) string {
	if c.detail.Context == nil {
		return golden.FamilyEvidence
	}
	allowed := len(c.bound) == 0
	for _, d := range c.detail.Trace.Decisions {
		allowed = allowed || d.State == compiler.DecisionAllowed
	}
	switch {
	case len(c.detail.Trace.Denied) > 0 || !allowed:
		return golden.FamilyDenied
	case len(c.detail.Context.RuntimeControls.ApprovalGatesActive) > 0:
		return golden.FamilyApproval
	}
	return golden.FamilyAllowed
}
