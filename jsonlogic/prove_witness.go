package jsonlogic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxModels bounds how many candidates are looked at where expressions are not
// followed.
const maxModels = 4

// answer decides the formula. It is not done if the budget ran out.
func (p *prover) answer() (a Answer, done bool) {
	goal := p.statement(p.formula)
	p.search.add(goal)
	if !p.search.conflict {
		p.domains()
	}
	if p.budget.over() {
		return Answer{}, false
	}
	for models := 0; ; models++ {
		model, core, done := p.search.solve(p.assumptions)
		switch {
		case !done:
			return Answer{}, false
		case !model && models == 0:
			p.budget.last()
			return Answer{Verdict: Unsatisfiable, Assumed: p.assumed(core)}, true
		case !model || models == maxModels:
			return Answer{Reason: p.unfollowed()}, true
		}
		if settings, ok := p.candidate(); ok {
			p.budget.last()
			return Answer{Verdict: Satisfiable, Witness: p.reduced(settings)}, true
		}
		if p.budget.over() {
			return Answer{}, false
		}
		p.dismiss()
	}
}

// assumed names the variables that a proof takes to be scalars: of those that the
// search used, the ones without which there is no proof.
func (p *prover) assumed(core []literal) []string {
	for i := 0; i < len(core); {
		fewer := slices.Delete(slices.Clone(core), i, i+1)
		model, smaller, done := p.search.solve(fewer)
		if !done || model {
			i++
			continue
		}
		// What has been found to be needed stays in front.
		core = slices.DeleteFunc(fewer, func(l literal) bool { return !slices.Contains(smaller, l) })
	}
	var names []string
	for _, t := range p.terms {
		if t.scalar != always && slices.Contains(core, t.scalar) {
			names = append(names, t.path.text)
		}
	}
	slices.Sort(names)
	return names
}

// unfollowed says which expression the answer hinges on.
func (p *prover) unfollowed() string {
	for _, t := range p.terms {
		if n := t.opaque; n != nil && len(t.leaves) > 0 {
			where := ""
			if n.source != nil {
				where = fmt.Sprintf(" at %q", n.source.Pointer())
			}
			return fmt.Sprintf("operator %q%s is not followed, and no request was found for which it holds", n.name, where)
		}
	}
	for _, t := range p.terms {
		for _, l := range t.leaves {
			if l.either {
				return fmt.Sprintf("no text was found for variable %q", t.path.text)
			}
		}
	}
	return "no request was found for which it holds"
}

// dismiss rules out what the last model said about expressions and texts that are
// not followed.
func (p *prover) dismiss() {
	var clause []literal
	for _, t := range p.terms {
		for _, l := range t.leaves {
			if t.opaque == nil && !l.either {
				continue
			}
			for _, one := range []literal{l.result.t, l.result.f} {
				if p.search.holds(one) {
					clause = append(clause, one.not())
				} else {
					clause = append(clause, one)
				}
			}
		}
	}
	p.search.add(clause...)
}

// setting is the value of one variable in a request.
type setting struct {
	path    path
	value   any
	present bool
	term    *term
	chosen  *class
}

// candidate makes a request of the model and confirms it by evaluation, with other
// values for the variables of expressions that are not followed where the first
// do not do. It is not ok if none does.
func (p *prover) candidate() (settings []setting, ok bool) {
	settings = p.settings[:0]
	for _, t := range p.terms {
		if t.opaque != nil {
			continue
		}
		s := setting{path: t.path, term: t}
		for i := range t.classes {
			if p.search.holds(t.classes[i].selector) {
				s.chosen = &t.classes[i]
			}
		}
		r := &t.regions[s.chosen.regions[0]]
		s.value, s.present = p.fill(t, r), !r.absent
		if r.undefinable {
			s.path, s.value, s.present = t.path.intoJavaScript()
		}
		settings = append(settings, s)
	}
	p.settings = settings
	// Outer variables come before what is put into them.
	slices.SortStableFunc(settings, func(a, b setting) int { return cmp.Compare(len(a.path.steps), len(b.path.steps)) })
	return settings, p.confirmed(settings) || p.vary(settings)
}

// reduced returns a request without what makes no difference.
func (p *prover) reduced(settings []setting) map[string]any {
	p.reduce(settings)
	data, _ := build(settings)
	return data
}

// intoJavaScript returns where to put which value, if any, so that a path finds a
// member that JavaScript's own values have.
func (p path) intoJavaScript() (at path, v any, present bool) {
	for i := range p.steps {
		switch p.steps[i].inherited {
		case ofScalars:
			return path{steps: p.steps[:i]}, true, i > 0
		case ofAll:
			return path{steps: p.steps[:i]}, map[string]any{}, i > 0
		}
	}
	return p, nil, false
}

// fill gives the value of a region, with the members or the parts that the model
// says are found in it.
func (p *prover) fill(t *term, r *region) any {
	list, isList := r.value.([]any)
	if !r.open && len(list) == 0 {
		return r.value
	}
	var found []any
	var parts []string
	for _, l := range t.leaves {
		if l.over == nil || l.over.op != opIn || !l.over.args[0].constant || !p.search.holds(l.result.t) {
			continue
		}
		needle := l.over.args[0].value
		found = append(found, needle)
		if text, ok := needle.(string); ok {
			parts = append(parts, text)
		}
	}
	switch {
	case isList && len(found) > 0:
		return found
	case isList:
		return []any{t.other}
	case len(parts) > 0:
		text := strings.Join(parts, " ")
		if _, named := t.hasText[text]; named {
			text += " " + t.other
		}
		return text
	}
	return r.value
}

// confirmed evaluates the formula over a request of these settings.
func (p *prover) confirmed(settings []setting) bool { return p.holds(p.formula, settings) }

// holds evaluates a formula over a request of these settings.
func (p *prover) holds(f Formula, settings []setting) bool {
	data, ok := build(settings)
	p.request = data
	p.budget.spend(len(settings))
	return ok && p.budget.judge(f, func(x *Expr) evaluated { return p.budget.truth(x, data) })
}

// build makes a request. It is not ok where one variable would have to be put
// into another that is not an object.
func build(settings []setting) (data map[string]any, ok bool) {
	data = map[string]any{}
	for i := range settings {
		s := &settings[i]
		if !s.present {
			continue
		}
		at := data
		last := len(s.path.steps) - 1
		for _, step := range s.path.steps[:last] {
			inner, ok := at[step.name].(map[string]any)
			if !ok {
				if _, taken := at[step.name]; taken {
					return nil, false
				}
				inner = map[string]any{}
				at[step.name] = inner
			}
			at = inner
		}
		name := s.path.steps[last].name
		if _, taken := at[name]; !taken {
			at[name] = fresh(s.value)
		}
	}
	return data, true
}

// fresh copies a value, as every list and object of decoded JSON is one of its
// own.
func fresh(v any) any {
	switch t := v.(type) {
	case []any:
		copied := make([]any, len(t))
		for i, item := range t {
			copied[i] = fresh(item)
		}
		return copied
	case map[string]any:
		copied := make(map[string]any, len(t))
		for name, member := range t {
			copied[name] = fresh(member)
		}
		return copied
	}
	return v
}

// maxReduced bounds the values that a variable is tried with before it is left
// out.
const maxReduced = 64

// reduce leaves out the variables that make no difference: the formula holds
// without them and, all else being equal, with whatever they are. What is read
// first stays, where one of two will do.
func (p *prover) reduce(settings []setting) {
	t := p.trial(settings)
	for i := range slices.Backward(settings) {
		s := &settings[i]
		if p.budget.over() {
			return // nothing would be confirmed any more
		}
		if !s.present || len(s.term.classes) > maxReduced {
			continue
		}
		was := *s
		s.present = false
		if t.changed(i); !t.holds(p.formula) || !t.indifferent(i) {
			*s = was
		} else {
			s.value, s.present = nil, false
		}
		t.changed(i)
	}
}

// indifferent says whether the formula holds whatever value a variable has that it
// can have.
func (t *trial) indifferent(i int) bool {
	p, s := t.p, &t.settings[i]
	for _, c := range s.term.classes {
		tried := c.regions[:1]
		if len(s.term.classes) == 1 {
			tried = c.regions // only expressions that are not followed read it
		}
		for _, at := range tried {
			r := &s.term.regions[at]
			if r.undefinable {
				continue
			}
			s.value, s.present = r.value, !r.absent
			t.changed(i)
			if !t.holds(p.formula) && (p.within.of == nil || p.budget.over() || t.holds(p.within)) {
				return false
			}
		}
	}
	return true
}
