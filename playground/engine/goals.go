package engine

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// Goal is something that a request can be looked for, by the solver.
type Goal struct {
	Name string `json:"name"`
	// Intent is what the request has to be of, "" for any.
	Intent string `json:"intent,omitempty"`
}

// findGoals lists what the conditions of the head can come to. Where the base has a
// condition that differs, a request that tells them apart is one too.
func (p *Playground) findGoals() {
	before := map[owner]*policy.Condition{}
	if p.base != nil {
		p.base.each(func(of owner, _ string, c *policy.Condition) { before[of] = c })
	}
	p.head.each(func(of owner, intent string, c *policy.Condition) {
		x := c.Expr
		p.addGoal("the condition of "+of.id+" holds", intent, jsonlogic.IsTrue(x), x)
		p.addGoal("the condition of "+of.id+" does not hold", intent, jsonlogic.IsFalse(x), x)
		p.addGoal("the condition of "+of.id+" cannot be decided", intent, jsonlogic.IsUnknown(x), x)
		if old := before[of]; old != nil && old.Key != c.Key {
			p.addGoal(of.id+" differs between base and head", intent, differ(old.Expr, x), old.Expr, x)
		}
	})
}

func differ(a, b *jsonlogic.Expr) jsonlogic.Formula {
	return jsonlogic.Any(
		jsonlogic.All(jsonlogic.IsTrue(a), jsonlogic.Not(jsonlogic.IsTrue(b))), jsonlogic.All(jsonlogic.IsTrue(b), jsonlogic.Not(jsonlogic.IsTrue(a))),
		jsonlogic.All(jsonlogic.IsFalse(a), jsonlogic.Not(jsonlogic.IsFalse(b))), jsonlogic.All(jsonlogic.IsFalse(b), jsonlogic.Not(jsonlogic.IsFalse(a))),
	)
}

func (p *Playground) addGoal(name, intent string, f jsonlogic.Formula, over ...*jsonlogic.Expr) {
	var reads []string
	for _, x := range over {
		reads = append(reads, x.Reads()...)
	}
	p.goals, p.reach, p.reads = append(p.goals, Goal{name, intent}), append(p.reach, f), append(p.reads, reads)
}

// Reached is the answer of the solver to a goal: the knobs to turn, or why there are
// none.
type Reached struct {
	Change []Change `json:"change"`
	Reason string   `json:"reason,omitempty"`
}

// Reach looks for a request that comes to a goal. The changes are those of all knobs
// that the conditions of the goal read; the others may stay as they are.
func (p *Playground) Reach(goal int) Reached {
	if goal < 0 || goal >= len(p.goals) {
		return Reached{Change: []Change{}, Reason: "there is no such goal"}
	}
	out := Reached{Change: []Change{}}
	answer := jsonlogic.Solve(p.reach[goal])
	switch answer.Verdict {
	case jsonlogic.Unsatisfiable:
		out.Reason = "there is no such request, which is proved"
		return out
	case jsonlogic.Undecided:
		out.Reason = "the solver found no such request: " + answer.Reason
		return out
	}
	for i := range p.knobs {
		k := &p.knobs[i]
		if k.Group == ofBudget {
			continue
		}
		path := k.variable()
		v, ok := jsonlogic.Lookup(answer.Witness, path)
		switch {
		case ok:
			out.Change = append(out.Change, Change{Knob: i, Value: v})
		case k.Name == "intent" && p.goals[goal].Intent != "":
			out.Change = append(out.Change, Change{Knob: i, Value: p.goals[goal].Intent})
		case k.Group == ofRequest && slices.Contains(p.reads[goal], path):
			out.Change = append(out.Change, Change{Knob: i, Unset: true})
		}
	}
	return out
}
