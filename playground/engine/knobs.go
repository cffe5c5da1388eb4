package engine

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Knob is a value of the request that a reader may change.
type Knob struct {
	Name  string `json:"name"`
	Group string `json:"group"` // request, session or budget
	// Type is number, text, boolean, list or any.
	Type string `json:"type"`
	// Choices are the values that make a difference, and those of the cases.
	Choices []any `json:"choices"`
	// ReadBy are the rules and approval gates whose conditions read it.
	ReadBy []string `json:"read_by,omitempty"`

	at [][]string // where it stands, from invoke or run_context
}

// The groups of knobs.
const (
	ofRequest = "request"
	ofSession = "session"
	ofBudget  = "budget"
)

// owner is the rule or the gate of which a condition is.
type owner struct {
	gate bool
	id   string
}

// each calls a function for the conditions of a version, in the order of evaluation;
// those that are not valid are left out: nothing evaluates them.
func (s *side) each(f func(of owner, intent string, c *policy.Condition)) {
	m := s.forms[""]
	for _, r := range m.Rules {
		if r.When != nil {
			f(owner{id: r.RuleID.Value}, r.AppliesTo.Intent.Value, r.When)
		}
	}
	for _, g := range m.Guards {
		if g.When != nil {
			f(owner{id: g.RuleID.Value}, g.AppliesTo.Intent.Value, g.When)
		}
	}
	for _, g := range m.Gates {
		if g.When != nil {
			f(owner{true, g.ID}, "", g.When)
		}
	}
}

// findKnobs finds all that the conditions of both versions read, and what a session sets.
func (p *Playground) findKnobs() {
	var exprs []*jsonlogic.Expr
	var lists []string
	readBy := map[string][]string{}
	for _, s := range p.sides() {
		s.each(func(of owner, _ string, c *policy.Condition) {
			lists, exprs = append(lists, c.Expr.Lists()...), append(exprs, c.Expr)
			for _, path := range c.Expr.Reads() {
				if !slices.Contains(readBy[path], of.id) {
					readBy[path] = append(readBy[path], of.id)
				}
			}
		})
	}
	var modes []any
	for _, m := range pack.ApprovalModes() {
		modes = append(modes, string(m))
	}
	p.knobs = []Knob{
		{Name: "intent", Group: ofSession, Type: "text", Choices: p.intents(), at: [][]string{{"invoke", "input", "intent"}, {"run_context", "intent"}}},
		{Name: "safety_mode", Group: ofSession, Type: "text", Choices: modes, at: [][]string{{"run_context", "safety_mode"}}},
		{Name: "user.role", Group: ofSession, Type: "text", at: [][]string{{"run_context", "user", "role"}}},
	}
	for _, v := range (jsonlogic.Solver{Lists: lists}).Values(exprs...) {
		p.addKnob(v)
	}
	budget := []string{"run_context", "run_budget"}
	p.knobs = append(p.knobs, Knob{Name: "total_tokens", Group: ofBudget, Type: "number", at: [][]string{append(slices.Clip(budget), "total_tokens")}})
	for _, b := range compiler.Buckets() {
		p.knobs = append(p.knobs, Knob{Name: string(b), Group: ofBudget, Type: "number", Choices: []any{0.0}, at: [][]string{append(slices.Clip(budget), "bucket_tokens", string(b))}})
	}
	for i := range p.knobs {
		p.knobs[i].ReadBy = readBy[p.knobs[i].variable()]
		p.offer(&p.knobs[i])
	}
}

// variable returns the path by which conditions read a knob.
func (k *Knob) variable() string {
	at := k.at[0]
	if at[0] == "invoke" && at[1] == "input" {
		return strings.Join(append([]string{"request"}, at[2:]...), ".")
	}
	return strings.Join(at[1:], ".")
}

// addKnob adds the knob of a variable, or what is told apart of it to the one there is.
func (p *Playground) addKnob(v jsonlogic.Values) {
	names := strings.Split(v.Path, ".")
	if slices.ContainsFunc(names, isIndex) {
		return // an item of a list is changed with the list
	}
	at := append([]string{"run_context"}, names...)
	if names[0] == "request" {
		at = append([]string{"invoke", "input"}, names[1:]...)
	}
	if len(at) < 2 || names[0] == "request" && len(names) == 1 {
		return // the whole of the request
	}
	for i := range p.knobs {
		if slices.ContainsFunc(p.knobs[i].at, func(have []string) bool { return slices.Equal(have, at) }) {
			if len(p.knobs[i].Choices) == 0 {
				p.knobs[i].Choices = v.Samples
			}
			return
		}
	}
	k := Knob{Name: v.Path, Group: ofRequest, Type: "any", Choices: v.Samples, at: [][]string{at}}
	if len(v.Types) == 1 {
		k.Type = v.Types[0]
	}
	p.knobs = append(p.knobs, k)
}

func isIndex(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil || name == ""
}

// offer adds the values of the cases to the choices of a knob.
func (p *Playground) offer(k *Knob) {
	k.Choices = slices.Clone(k.Choices)
	for i := range p.subject.Cases {
		if v, ok := p.subject.Cases[i].get(k); ok && !slices.ContainsFunc(k.Choices, func(have any) bool { return reflect.DeepEqual(have, v) }) {
			k.Choices = append(k.Choices, v)
		}
	}
	if k.Type == "number" {
		slices.SortStableFunc(k.Choices, func(a, b any) int {
			x, _ := a.(float64)
			y, _ := b.(float64)
			return int(max(-1, min(1, x-y)))
		})
	}
	if k.Choices == nil {
		k.Choices = []any{}
	}
}

// get returns the value of a knob in a case, and whether there is one.
func (c *Case) get(k *Knob) (any, bool) {
	return jsonlogic.Lookup(c.request(), strings.Join(k.at[0], "."))
}

// request returns the parts of a case in which knobs stand.
func (c *Case) request() map[string]any {
	return map[string]any{"invoke": c.Invoke, "run_context": c.RunContext}
}

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
