package policy

import (
	"slices"
	"sync"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Language is the one language of conditions, as policy_dsl.language names it.
const Language = "jsonlogic"

// Condition is a compiled condition of a rule or a gate. Those that are written
// alike, but for the spelling of numbers and texts, are one condition.
type Condition struct {
	Expr *jsonlogic.Expr
	// Key tells it from every other condition, of this pack or another.
	Key jsonlogic.Key
	// Index is its place among the model's distinct conditions.
	Index int
}

// Conditions compiles conditions, each distinct one once, for all the versions of
// one pack that a run looks at: base and head, and the view of each environment.
// The zero value is ready, and may be used by several goroutines at once.
type Conditions struct {
	mu       sync.Mutex
	compiled map[jsonlogic.Key]compiled
}

// compiled is what became of one distinct condition, as it was first written.
type compiled struct {
	written  *pack.Node
	expr     *jsonlogic.Expr
	problems []jsonlogic.Problem
}

// Distinct returns how many different conditions were compiled.
func (c *Conditions) Distinct() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.compiled)
}

// Compile compiles a condition as jsonlogic.Compile does, or returns what became of
// it before. The problems are at their places in the condition; the nodes of the
// expression lie in the value that was compiled: see Counterpart.
func (c *Conditions) Compile(n *pack.Node) (*jsonlogic.Expr, []jsonlogic.Problem, jsonlogic.Key) {
	if n == nil {
		_, problems := jsonlogic.Compile(nil)
		return nil, problems, jsonlogic.Key{}
	}
	key := jsonlogic.KeyOf(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	made, known := c.compiled[key]
	if !known {
		if c.compiled == nil {
			c.compiled = map[jsonlogic.Key]compiled{}
		}
		made.written = n
		made.expr, made.problems = jsonlogic.Compile(n)
		c.compiled[key] = made
	}
	problems := slices.Clone(made.problems)
	for i := range problems {
		problems[i].Node = counterpart(problems[i].Node, made.written, n)
	}
	return made.expr, problems, key
}

// Counterpart returns the value of a condition that corresponds to a value of the
// compiled expression. The condition has to be one that the expression stands for.
func Counterpart(at *pack.Node, x *jsonlogic.Expr, condition *pack.Node) *pack.Node {
	return counterpart(at, x.Node(), condition)
}

// counterpart returns the value of one writing of a condition that another's value stands for.
func counterpart(at, written, condition *pack.Node) *pack.Node {
	if at == nil || condition == nil || at == written {
		return condition
	}
	parent := counterpart(at.Parent, written, condition)
	if parent.Kind == pack.Object {
		return parent.Members[at.Index].Value
	}
	return parent.Items[at.Index]
}

// conditions are the distinct conditions of a model.
type conditions struct {
	Conditions []*Condition
	places     map[jsonlogic.Key]*Condition
}

// intern returns the model's condition for a compiled one.
func (c *conditions) intern(x *jsonlogic.Expr, key jsonlogic.Key) *Condition {
	if c.places[key] == nil {
		made := &Condition{Expr: x, Key: key, Index: len(c.Conditions)}
		c.Conditions = append(c.Conditions, made)
		c.places[key] = made
	}
	return c.places[key]
}
