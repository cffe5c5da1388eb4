package jsonlogic

import (
	"fmt"
	"maps"
	"slices"
)

// Bounds of one evaluation. A step is one operation, or about as much work on a
// list or a text.
const (
	maxSteps      = 1_000_000
	bytesPerStep  = 16
	itemsPerStep  = 8
	maxValueDepth = 1000
)

// Eval evaluates the expression. The data is decoded JSON: map[string]any,
// []any, string, float64, bool and nil; anything else is unknown. The data is
// only read. The result is the same for the same data, always.
//
// After a million steps evaluation gives up and the result is unknown.
func (x *Expr) Eval(data any) Result { return x.EvalWithin(nil, data) }

// EvalWithin evaluates like Eval, on an account: the steps are taken from it, and
// where it ends before, the result is unknown and means nothing.
func (x *Expr) EvalWithin(b *Budget, data any) Result {
	if x.result != nil {
		return *x.result
	}
	e := newEvaluation(b, maxSteps)
	r := e.result(x, data)
	e.close()
	return r
}

func (e *evaluation) result(x *Expr, data any) Result {
	v := e.eval(x.root, data)
	v = e.settle(v, x.root, 0)
	if e.spent() {
		v = e.exhausted(x.root)
	}
	if u, ok := v.(*unknown); ok {
		return Result{Truth: u.truth, Cause: u.cause}
	}
	return Result{Value: v, Truth: truth(v)}
}

// evaluation is the state of one evaluation: what is left of its steps, in slices
// where there is an account.
type evaluation struct {
	steps   int // of the slice at hand
	rest    int // beyond it
	most    int // at first
	account *Budget
	over    *unknown // set once the steps are used up
	curt    bool     // causes need not be told
}

func newEvaluation(account *Budget, most int) evaluation {
	e := evaluation{steps: most, most: most, account: account}
	if account != nil {
		e.steps = min(most, sliceSteps)
		e.rest = most - e.steps
	}
	return e
}

// spent says that nothing more is evaluated.
func (e *evaluation) spent() bool { return e.steps < 0 && !e.refill() }

func (e *evaluation) refill() bool {
	for e.steps < 0 && e.rest > 0 && e.account.Err() == nil {
		slice := min(sliceSteps, e.rest)
		e.steps, e.rest = e.steps+slice, e.rest-slice
	}
	if e.steps < 0 {
		e.most, e.rest = e.most-e.rest, 0
	}
	return e.steps >= 0
}

func (e *evaluation) used() int { return e.most - e.rest - e.steps }

func (e *evaluation) close() { e.account.Spend(e.used()) }

// spend takes steps for work on so many units.
func (e *evaluation) spend(units, perStep int) { e.steps -= units / perStep }

func (e *evaluation) exhausted(n *node) *unknown {
	if e.over == nil {
		e.over = n.undecided(-1, "evaluation takes more than %d steps", e.most)
	}
	return e.over
}

// settle makes sure that a result is plain decoded JSON: definite throughout and
// not nested without bound. A list that holds an unknown is unknown, though its
// truth is not.
func (e *evaluation) settle(v any, n *node, depth int) any {
	if depth > maxValueDepth {
		return n.undecided(-1, "the result is nested deeper than %d levels", maxValueDepth)
	}
	switch t := v.(type) {
	case []any:
		e.spend(len(t), 1)
		for _, item := range t {
			if u := e.settleItem(item, n, depth); u != nil {
				return &unknown{truth: True, cause: u.cause}
			}
		}
	case map[string]any:
		e.spend(len(t), 1)
		for _, name := range slices.Sorted(maps.Keys(t)) {
			if u := e.settleItem(t[name], n, depth); u != nil {
				return &unknown{truth: True, cause: u.cause}
			}
		}
	case nil, bool, float64, string, *unknown:
	default:
		return n.undecided(-1, "the data holds a Go %T, wanted decoded JSON", v)
	}
	return v
}

func (e *evaluation) settleItem(item any, n *node, depth int) *unknown {
	if e.spent() {
		return e.exhausted(n)
	}
	u, _ := e.settle(item, n, depth+1).(*unknown)
	return u
}

// undecided is the unknown that arises at n, about one of its operands or, with
// -1, about the whole of it.
func (n *node) undecided(operand int, format string, args ...any) *unknown {
	variable := n.variable
	if operand >= 0 {
		variable = n.args[operand].variable
	}
	return n.unknown(variable, fmt.Sprintf(format, args...))
}

func (n *node) unknown(variable, reason string) *unknown {
	made := &struct {
		unknown
		Cause
	}{Cause: Cause{Operator: n.name, Variable: variable, Node: n.source, Reason: reason}}
	made.cause = &made.Cause
	return &made.unknown
}

// untold is an unknown where nobody asks for its cause.
var untold = &unknown{cause: &Cause{}}

// wants is the unknown that arises where an operand has the wrong type, as it does in most
// evaluations of a proof.
func (e *evaluation) wants(n *node, operand int, got any, wanted string) *unknown {
	if e.curt {
		return untold
	}
	return n.unknown(n.args[operand].variable, n.operandLabel(operand)+" is "+kindOf(got).String()+", wanted "+wanted)
}

func (n *node) operandLabel(operand int) string {
	if arg := n.args[operand]; arg.op == opVar {
		return arg.label
	}
	return fmt.Sprintf("operand %d", operand+1)
}

func (e *evaluation) eval(n *node, data any) any {
	if n.constant {
		return n.value
	}
	if e.steps--; e.spent() {
		return e.exhausted(n)
	}
	switch n.op {
	case opVar:
		return e.variable(n, data)
	case opAnd:
		return e.connective(n, data, False)
	case opOr:
		return e.connective(n, data, True)
	case opIf:
		return e.choice(n, 0, data)
	case opNot, opTruth:
		return e.negation(n, data)
	case opEqual, opNotEqual, opSame, opNotSame:
		return e.equality(n, data)
	case opGreater, opGreaterEqual, opLess, opLessEqual:
		return e.ordering(n, data)
	case opIn:
		return e.in(n, data)
	case opAdd, opSubtract, opMultiply, opDivide, opModulo, opMin, opMax:
		return e.arithmetic(n, data)
	case opCat:
		return e.cat(n, data)
	case opSubstr:
		return e.substr(n, data)
	case opList:
		return e.operands(n, data)
	case opMerge:
		return e.merge(n, data)
	case opMissing:
		return e.missing(n, data)
	case opMissingSome:
		return e.missingSome(n, data)
	case opReduce:
		return e.reduce(n, data)
	}
	return e.iterate(n, data)
}

func (e *evaluation) operands(n *node, data any) []any {
	e.spend(len(n.args), itemsPerStep)
	values := make([]any, len(n.args))
	for i, arg := range n.args {
		values[i] = e.eval(arg, data)
	}
	return values
}

// variable reads a variable. The default stands in for one that is missing, not
// for null.
func (e *evaluation) variable(n *node, data any) any {
	v, o := n.path.lookup(data)
	switch o {
	case absent:
		if len(n.args) > 0 {
			return e.eval(n.args[0], data)
		}
		return nil
	case undefinable:
		return n.undecided(-1, "%s names something that is not JSON data", n.label)
	}
	switch t := v.(type) {
	case nil, bool, float64, string, []any, map[string]any, *unknown:
		return v
	case *step:
		return t.object()
	}
	return n.undecided(-1, "%s is a Go %T, wanted decoded JSON", n.label, v)
}

// connective evaluates "and" (deciding False) and "or" (deciding True): the
// first operand whose truth decides is the value, else the last. After an
// unknown, only the truth can still be decided.
func (e *evaluation) connective(n *node, data any, deciding Truth) any {
	var first *unknown
	var v any
	for _, arg := range n.args {
		v = e.eval(arg, data)
		t := truth(v)
		switch {
		case t == deciding && first != nil:
			return &unknown{truth: deciding, cause: first.cause}
		case t == deciding:
			return v
		case t == Unknown && first == nil:
			first = v.(*unknown)
		}
	}
	if first != nil {
		return first
	}
	return v
}

// choice evaluates "if" from its operand i on. Where the condition is unknown,
// the value is too, and its truth is what both ways agree on.
func (e *evaluation) choice(n *node, i int, data any) any {
	for ; i < len(n.args)-1; i += 2 {
		condition := e.eval(n.args[i], data)
		switch truth(condition) {
		case True:
			return e.eval(n.args[i+1], data)
		case Unknown:
			result := &unknown{cause: condition.(*unknown).cause}
			then := truth(e.eval(n.args[i+1], data))
			if otherwise := truth(e.choice(n, i+2, data)); then == otherwise {
				result.truth = then
			}
			return result
		}
	}
	if i < len(n.args) {
		return e.eval(n.args[i], data)
	}
	return nil
}

// negation evaluates "!" and "!!".
func (e *evaluation) negation(n *node, data any) any {
	v := e.eval(n.args[0], data)
	t := truth(v)
	if t == Unknown {
		return v
	}
	return (t == True) == (n.op == opTruth)
}
