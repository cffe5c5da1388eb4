package rulebook

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
)

// gaps looks for requests that the rules of an intent do not deal with.
func (c *chapter) gaps() []Gap {
	all := []Gap{}
	var decisions, gates []string
	for _, e := range c.entries {
		if key := e.DecisionBinding; e.enforced && key.OK && !slices.Contains(decisions, key.Value) {
			decisions = append(decisions, key.Value)
		}
		for _, b := range e.branches {
			if id := b.RequiresApprovalGate; e.enforced && id.OK && !slices.Contains(gates, id.Value) {
				gates = append(gates, id.Value)
			}
		}
	}
	for _, key := range decisions {
		if c.aboveReadOnly(key) {
			all = append(all, Gap{Silence, key, c.silence(key)})
		}
	}
	for _, id := range gates {
		all = append(all, Gap{IdleGate, id, c.idle(id)})
	}
	return all
}

// silence asks for a request for which no rule of a decision fires, nothing
// denies all decisions, and the compile does not stop.
func (c *chapter) silence(key string) Example {
	if !c.rules.charge(2 * len(c.entries)) {
		return Example{State: NotProved, Reason: c.rules.usedUp()}
	}
	parts := []jsonlogic.Formula{c.is(), c.known()}
	for _, e := range c.entries {
		if !e.enforced || e.DecisionBinding.OK && !e.bound(key) {
			continue
		}
		if e.when == nil {
			return Example{State: NotProved, Reason: e.name + " cannot be read"}
		}
		for _, b := range e.branches {
			if e.bound(key) || b.denies() {
				parts = append(parts, jsonlogic.Not(b.holds))
			}
		}
	}
	return c.gap(parts)
}

// idle asks for a request that compiles, in which a rule requires a gate
// although the gate's own condition is false.
func (c *chapter) idle(id string) Example {
	if !c.rules.charge(2 * len(c.entries)) {
		return Example{State: NotProved, Reason: c.rules.usedUp()}
	}
	g := c.gate(id)
	if g == nil {
		return Example{State: NotProved, Reason: "the pack has no such gate"}
	}
	when, problems := jsonlogic.Compile(g.When)
	if len(problems) > 0 {
		at := placeOf(g.When)
		if g.When == nil {
			at = placeOf(g.Node)
		}
		return Example{State: NotProved, Reason: fmt.Sprintf("the gate's condition at %s:%d cannot be read: %s", at.File, at.Line, problems[0].Message)}
	}
	var requiring []jsonlogic.Formula
	for _, e := range c.entries {
		if !e.counts() {
			continue
		}
		for _, b := range e.branches {
			if b.RequiresApprovalGate.OK && b.RequiresApprovalGate.Value == id {
				requiring = append(requiring, b.holds)
			}
		}
	}
	return c.gap([]jsonlogic.Formula{c.is(), jsonlogic.Any(requiring...), jsonlogic.IsFalse(when), c.known()})
}

func (c *chapter) gap(parts []jsonlogic.Formula) Example {
	a := c.rules.ask(parts...)
	if a.Verdict == jsonlogic.Unsatisfiable {
		c.rules.claim(a)
	}
	return c.example(a)
}
