package engine

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
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
	before := map[string]*jsonlogic.Expr{}
	if p.base != nil {
		exprs, names := p.base.conditions()
		for i, x := range exprs {
			before[names[i]] = x
		}
	}
	intents := map[string]string{}
	for rule := range p.head.pack.EachRule() {
		intents[rule.RuleID.Value] = rule.AppliesTo.Intent.Value
	}
	exprs, names := p.head.conditions()
	for i, x := range exprs {
		name := names[i]
		p.addGoal("the condition of "+name+" holds", intents[name], jsonlogic.IsTrue(x), x)
		p.addGoal("the condition of "+name+" does not hold", intents[name], jsonlogic.IsFalse(x), x)
		p.addGoal("the condition of "+name+" cannot be decided", intents[name], jsonlogic.IsUnknown(x), x)
		if old := before[name]; old != nil && old.Node().Raw() != x.Node().Raw() {
			p.addGoal(name+" differs between base and head", intents[name], differ(old, x), old, x)
		}
	}
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
