package jsonlogic

import (
	"cmp"
	"fmt"
	"slices"
)

// Formula is a statement about one request, the data that expressions are
// evaluated over. The zero value is true of every request. A formula never
// changes, and formulas may share parts.
type Formula struct{ of *statement }

// statement is what a formula says; nil says nothing and so is true.
type statement struct {
	form  form
	truth Truth // says
	expr  *Expr // says
	parts []Formula
}

type form uint8

const (
	says form = iota // an expression has a truth
	allHold
	anyHolds
	failsToHold // its only part does not hold
)

// IsTrue says that an expression evaluates to true, by its truthiness.
func IsTrue(e *Expr) Formula { return Formula{&statement{expr: e, truth: True}} }

// IsFalse says that an expression evaluates to false, by its truthiness.
func IsFalse(e *Expr) Formula { return Formula{&statement{expr: e, truth: False}} }

// IsUnknown says that not even the truthiness of an expression is known.
func IsUnknown(e *Expr) Formula { return Formula{&statement{expr: e, truth: Unknown}} }

// Is says that a variable is strictly equal ("===") to a scalar: a string, a
// float64, a bool, or nil, which a missing variable equals too. Nothing is equal
// to any other value.
func Is(path string, value any) Formula {
	if k := kindOf(value); path == "" || k == kindArray || k == kindObject || k == kindUnknown {
		return Any() // the whole of a request is no scalar
	}
	variable := &node{op: opVar, name: "var", path: parsePath(path), variable: path, label: label(path, scope{})}
	variable.identify()
	return IsTrue(&Expr{root: operation(opSame, "===", nil, variable, constantNode(nil, value))})
}

// All says that all of the formulas hold; without any it is true.
func All(fs ...Formula) Formula { return Formula{&statement{form: allHold, parts: slices.Clone(fs)}} }

// Any says that at least one of the formulas holds; without any it is false.
func Any(fs ...Formula) Formula { return Formula{&statement{form: anyHolds, parts: slices.Clone(fs)}} }

// Not says that a formula does not hold. The negation of IsTrue is not IsFalse,
// for an expression may be unknown.
func Not(f Formula) Formula {
	made := &struct {
		statement
		part [1]Formula
	}{statement{form: failsToHold}, [1]Formula{f}}
	made.parts = made.part[:]
	return Formula{&made.statement}
}

// Holds says whether the formula is true of a request. The data is that of
// Expr.Eval.
func (f Formula) Holds(data any) bool {
	return f.holds(func(x *Expr) Truth {
		if x.result != nil {
			return x.result.Truth
		}
		e := newEvaluation(nil, maxSteps)
		e.curt = true
		return e.result(x, data).Truth
	})
}

// holds says whether the formula is true where its expressions have these truths.
func (f Formula) holds(truth func(*Expr) Truth) bool {
	if f.of == nil {
		return true
	}
	holds := func(part Formula) bool { return part.holds(truth) }
	switch f.of.form {
	case says:
		return truth(f.of.expr) == f.of.truth
	case allHold:
		return !slices.ContainsFunc(f.of.parts, func(part Formula) bool { return !holds(part) })
	case anyHolds:
		return slices.ContainsFunc(f.of.parts, holds)
	}
	return !holds(f.of.parts[0])
}

// Verdict is what a proof came to. The zero value claims nothing.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota
	Satisfiable
	Unsatisfiable
)

// String returns "undecided", "satisfiable" or "unsatisfiable".
func (v Verdict) String() string {
	return [...]string{"undecided", "satisfiable", "unsatisfiable"}[v]
}

// Answer is the result of a proof.
type Answer struct {
	Verdict Verdict
	// Witness is, for Satisfiable, a request for which the formula holds, as data
	// of Expr.Eval: confirmed by evaluation, of small and natural values, without
	// the variables that make no difference, the same one each time.
	Witness map[string]any
	// Assumed names the variables that an Unsatisfiable takes to be scalars: with
	// a list or an object in one of them the formula might hold. Sorted.
	Assumed []string
	// Reason says, for Undecided, what stood in the way.
	Reason string
	// Err is, for Undecided, why there was no time for an answer: ErrSteps,
	// ErrBudget, or the cause of the end of the context. It is nil where more time
	// would not have helped.
	Err error
}

// OutOfSteps reports whether the answer is Undecided for want of the question's own
// steps alone: with more of them there might be one.
func (a Answer) OutOfSteps() bool { return a.Err == ErrSteps }

// DefaultSteps is the budget of a proof unless a Solver says otherwise: about a
// second at the very most, a thousand times what the conditions of a pack need.
const DefaultSteps = 5_000_000

// Solver decides formulas within a budget. The zero value has DefaultSteps.
type Solver struct {
	// Steps bounds the work of one answer. A step is one evaluation of an
	// operation, one clause looked at, or about as much work. What is not decided
	// within them is Undecided. The count does not depend on the machine.
	Steps int
	// Budget is the account that the steps are taken from as well; nil for none.
	Budget *Budget
	// Lists names variables that are known to hold lists, such as those that other
	// expressions of the pack search (Expr.Lists). They are never taken to be
	// scalars; neither are those that the formula itself searches or goes through.
	Lists []string
	// Within is what holds of every request, nothing for the zero value. The answer is
	// about requests alone: a variable makes no difference to a witness if none of the
	// values does that it can have in a request.
	Within Formula
}

// Lists returns the variables that the expression searches or goes through as
// lists, sorted. For "in" it cannot tell a list from a text.
func (x *Expr) Lists() []string {
	var paths []string
	x.root.lists(func(at path) { paths = append(paths, at.text) })
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Solve decides with the default budget whether there is a request for which a
// formula holds. Unsatisfiable is a proof over all requests; Satisfiable comes
// with a witness that was confirmed by evaluation; everything else is Undecided.
//
// Conditions that compare single variables with constants, search in lists of
// constants or for constants in a variable's list, ask for presence, and combine
// such in any way are always decided, if the budget allows; so are those over
// arithmetic on one variable and constants whose value only grows with the variable
// or only falls. What else the profile has is not followed: a remainder, arithmetic
// on several variables, a text put together, a part of a text, an iteration stand for
// any value that they could have, the same one wherever they are written the same. A
// comparison of two variables is unknown where their types make it so, and free
// otherwise. Then the answer can be Undecided.
//
// A request that exceeds the bounds of Expr.Eval, with a text of megabytes or a
// list nested a thousand levels deep, is outside of what is proved.
func Solve(f Formula) Answer { return Solver{}.Solve(f) }

// Solve is the function Solve within the solver's budget.
func (s Solver) Solve(f Formula) Answer { return answered.solve(s, f) }

// prove decides a formula, and returns about how many variables it is. It is whole where more
// steps would have changed nothing.
func (s Solver) prove(f Formula) (r reply, variables int, whole bool) {
	b := newBudget(s.Budget, s.Steps)
	defer b.close()
	p := newProver(All(f, s.Within), b)
	defer p.close()
	p.lists, p.within = s.Lists, s.Within
	answer, done := p.answer()
	switch {
	case done:
	case b.err == ErrSteps:
		answer = Answer{Reason: fmt.Sprintf("not proved within %d steps", s.Steps), Err: b.err}
	default:
		answer = Answer{Reason: fmt.Sprintf("not proved: %v", b.err), Err: b.err}
	}
	return reply{answer, b.spent()}, len(p.terms), b.err == nil
}

// Values is what conditions tell apart of one variable: the types that they take it
// to have, and for each of its regions a value that stands for it.
type Values struct {
	Path string // dotted, as conditions read it
	// Types are those of what it is compared with, "boolean", "number" or "text", and
	// "list" where it is searched or gone through; the first is the most natural.
	Types []string
	// Samples are constants that it is compared with, and values between and beside
	// them. Whatever else a request has there, the conditions that compare it with
	// constants take it for one of these, or for nothing.
	Samples []any
}

// Values returns for each variable that expressions read what they tell apart of it,
// by which Solve decides, in the order in which they read them. Where the budget does
// not suffice the last variables have fewer samples or are missing.
func (s Solver) Values(exprs ...*Expr) []Values {
	b := newBudget(s.Budget, cmp.Or(max(s.Steps, 0), DefaultSteps))
	defer b.close()
	p := newProver(Formula{}, b)
	p.lists = s.Lists
	for _, x := range exprs {
		p.expression(x)
	}
	p.relate()
	var all []Values
	for _, t := range p.terms {
		if t.opaque == nil && !t.outer { // what holds other variables is told by them
			all = append(all, t.values())
		}
	}
	return all
}

// values returns what is told apart of a term that is a variable.
func (t *term) values() Values {
	v := Values{Path: t.path.text}
	t.meet()
	t.divide()
	kinds := slices.Clone(t.natural)
	if t.listed && !slices.Contains(kinds, kindArray) {
		kinds = append(kinds, kindArray)
	}
	if len(kinds) == 0 {
		kinds = append(kinds, kindOf(t.regions[0].value))
	}
	for _, k := range kinds {
		name := map[kind]string{kindBool: "boolean", kindNumber: "number", kindString: "text", kindArray: "list"}[k]
		if name == "" {
			continue
		}
		v.Types = append(v.Types, name)
		if k == kindArray {
			for _, text := range t.texts {
				v.Samples = append(v.Samples, []any{text})
			}
			v.Samples = append(v.Samples, []any{})
			continue
		}
		for i := range t.regions {
			if r := &t.regions[i]; !r.absent && !r.undefinable && kindOf(r.value) == k {
				v.Samples = append(v.Samples, r.value)
			}
		}
	}
	return v
}
