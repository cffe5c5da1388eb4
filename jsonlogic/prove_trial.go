package jsonlogic

import "slices"

// trial is a request that is tried with other values, one variable after the other. Only
// what reads a variable that has changed is evaluated again, but the steps of evaluating
// all of it are counted, so that nothing else depends on it.
type trial struct {
	p        *prover
	settings []setting
	data     map[string]any // nil where what reads a variable is not told by its name
	known    map[*Expr]evaluated
}

// evaluated is what an expression gave, and in how many steps.
type evaluated struct {
	truth Truth
	steps int
}

// trial returns the trial of the request of these settings, which was the last that was evaluated,
// and takes it over. An object without members stands
// for one that is not there, which only what reads the object itself can tell, or a member
// that JavaScript's own values have.
func (p *prover) trial(settings []setting) *trial {
	t := &trial{p: p, settings: settings}
	if !p.computed && !slices.ContainsFunc(settings, func(s setting) bool {
		return s.term.outer || s.term.around != nil || slices.ContainsFunc(s.term.path.steps, func(step segment) bool { return !step.plain() })
	}) {
		t.data = p.request
		clear(p.tried)
		t.known = p.tried
	}
	return t
}

// changed is told which setting has changed.
func (t *trial) changed(i int) {
	if t.data == nil {
		return
	}
	s := &t.settings[i]
	for _, x := range s.term.readers {
		delete(t.known, x)
	}
	at := t.data
	last := len(s.path.steps) - 1
	for _, step := range s.path.steps[:last] {
		inner, there := at[step.name].(map[string]any)
		if !there {
			inner = map[string]any{}
			at[step.name] = inner
		}
		at = inner
	}
	if name := s.path.steps[last].name; s.present {
		at[name] = fresh(s.value)
	} else {
		delete(at, name)
	}
}

// holds evaluates a formula over the request as it is.
func (t *trial) holds(f Formula) bool {
	if t.data == nil {
		return t.p.holds(f, t.settings)
	}
	b := t.p.budget
	b.spend(len(t.settings))
	return b.judge(f, func(x *Expr) evaluated {
		now, known := t.known[x]
		if !known {
			now = b.truth(x, t.data)
			t.known[x] = now
		}
		return now
	})
}

// judge reports whether a formula is true where its expressions give this, as far as the budget
// goes. The steps of every expression that is looked at are spent.
func (b *budget) judge(f Formula, gives func(*Expr) evaluated) bool {
	return f.holds(func(x *Expr) Truth {
		if b.over() {
			return Unknown
		}
		now := gives(x)
		b.spend(1 + now.steps)
		return now.truth
	}) && !b.over()
}

// truth evaluates an expression; the steps are not spent.
func (b *budget) truth(x *Expr, data any) evaluated {
	e := newEvaluation(b.account, maxSteps)
	e.curt = true
	truth := e.result(x, data).Truth
	return evaluated{truth, e.used()}
}
