package jsonlogic

import "slices"

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
	steps := s.Steps
	if steps <= 0 {
		steps = DefaultSteps
	}
	b := newBudget(s.Budget, steps)
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
