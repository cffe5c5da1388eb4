package rulebook

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// gaps looks for requests that the rules of an intent do not deal with.
func (c *chapter) gaps() []Gap {
	all := []Gap{}
	var decisions, gates []string
	for _, e := range c.entries {
		if key := e.DecisionBinding; e.Enforced && key.OK && !slices.Contains(decisions, key.Value) {
			decisions = append(decisions, key.Value)
		}
		for _, b := range e.branches() {
			if id := b.RequiresApprovalGate; e.Enforced && id.OK && !slices.Contains(gates, id.Value) {
				gates = append(gates, id.Value)
			}
		}
	}
	for _, key := range decisions {
		// One that does not exist is taken to have effects.
		if d := c.Decision(key); d == nil || !d.ReadOnly {
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
	parts := []jsonlogic.Formula{c.known()}
	for _, e := range c.entries {
		bound := e.DecisionBinding.OK && e.DecisionBinding.Value == key
		if !e.Enforced || e.DecisionBinding.OK && !bound {
			continue
		}
		if !e.readable() {
			return Example{State: NotProved, Reason: e.name + " cannot be read"}
		}
		for _, b := range e.branches() {
			if bound || b.Denies() {
				parts = append(parts, jsonlogic.Not(b.Holds()))
			}
		}
	}
	return c.gap(parts)
}

// idle asks for a request that compiles, in which a rule requires a gate
// although the gate's own condition is false.
func (c *chapter) idle(id string) Example {
	g := c.Gate(id)
	switch {
	case g == nil:
		return Example{State: NotProved, Reason: "the pack has no such gate"}
	case g.When == nil:
		at := placeOf(pack.Place(g.ApprovalGate.When, g.Node))
		return Example{State: NotProved, Reason: fmt.Sprintf("the gate's condition at %s:%d cannot be read: %s", at.File, at.Line, g.Problems[0].Message)}
	}
	var requiring []jsonlogic.Formula
	for _, e := range c.entries {
		for _, b := range e.branches() {
			if e.Enforced && b.Gate == g {
				requiring = append(requiring, b.Holds())
			}
		}
	}
	return c.gap([]jsonlogic.Formula{jsonlogic.Any(requiring...), jsonlogic.IsFalse(g.When.Expr), c.known()})
}

func (c *chapter) gap(parts []jsonlogic.Formula) Example {
	if !c.rules.Charge(2 * len(c.entries)) {
		return Example{State: NotProved, Reason: c.rules.Spent()}
	}
	return example(c.claim(c.rules.Ask(c.intent, parts...)))
}
