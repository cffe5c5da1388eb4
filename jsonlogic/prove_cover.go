package jsonlogic

import (
	"cmp"
	"fmt"
	"slices"
)

// Cover says which requests a formula holds of: those of its cubes.
type Cover struct {
	Cubes []Cube
	// Complete says that the formula holds of no other request. Without it Reason says what
	// stood in the way.
	Complete bool
	Reason   string
	Steps    int // that it took
}

// Cube is a set of requests, those for which each of its terms holds; without terms it is every
// request.
type Cube struct {
	Terms []Term
	// Witness is a request of the cube for which the formula holds, confirmed by evaluation;
	// nil where none was found.
	Witness map[string]any
}

// Formula says that a request is in the cube.
func (c Cube) Formula() Formula {
	parts := make([]Formula, len(c.Terms))
	for i, t := range c.Terms {
		parts[i] = t.Formula()
	}
	return All(parts...)
}

const outOfSteps = "not all of it is found"

// maxCubes bounds how many cubes are looked for: nobody reads more, and one that has to do with
// many others is found early.
const maxCubes = 16

// Cover finds all requests for which a formula holds, as cubes: each is as wide as it can be,
// and none is in the others together. About requests for which idle holds nothing is said: a
// cube may have them or not, as is said in fewer words. Both formulas are about the requests
// within.
//
// Each cube begins with one request, of which it takes in what region of values each variable
// has. What does not matter is found as the propositions without which the solver still proves
// that the formula holds: a variable or some of its other regions.
func (s Solver) Cover(of, idle Formula) Cover {
	b := newBudget(s.Budget, cmp.Or(max(s.Steps, 0), DefaultSteps))
	defer b.close()
	c := newCoverer(s, of, idle, b)
	c.most = b.used + b.rest
	cover := c.cover()
	if b.over() && cover.Reason == "" {
		cover.Complete, cover.Reason = false, outOfSteps
	}
	if b.over() {
		cover.Cubes = slices.DeleteFunc(cover.Cubes, func(c Cube) bool { return c.Witness == nil })
	}
	cover.Steps = b.spent()
	return cover
}

// coverer finds the cubes of one formula.
type coverer struct {
	*prover
	of       Formula
	goal     literal // the formula holds
	idle     literal // nothing is said of the request
	subjects []*subject
	guards   []literal // each says that a request is not in one of the cubes
	cubes    [][]literal
	most     int // steps
}

// subject is what a term of a cube can be about: a variable, an expression that is not followed,
// or a search that a variable's regions do not decide. One of its selectors holds.
type subject struct {
	term      *term
	leaf      *leaf // of a search
	node      *node
	selectors []literal
}

func newCoverer(s Solver, of, idle Formula, b *budget) *coverer {
	p := newProver(All(of, s.Within), b)
	p.lists, p.within = s.Lists, s.Within
	c := &coverer{prover: p, of: of}
	c.goal, c.idle = p.statement(of), p.statement(idle)
	p.search.add(p.statement(s.Within))
	if p.search.conflict || b.over() {
		return c
	}
	if p.domains(); b.over() {
		return c
	}
	var searches []*subject
	for _, t := range p.terms {
		if len(t.classes) > 1 {
			c.subjects = append(c.subjects, t.subject())
		}
		for _, l := range t.leaves {
			if l.either && t.opaque == nil {
				three := []literal{l.result.t, l.result.f, p.gates.neither(l.result)}
				searches = append(searches, &subject{leaf: l, node: l.over, selectors: three})
			}
		}
	}
	c.subjects = append(c.subjects, searches...)
	for range maxCubes {
		c.guards = append(c.guards, p.search.proposition())
	}
	p.prefer()
	return c
}

func (t *term) subject() *subject {
	s := &subject{term: t, node: t.opaque, selectors: t.selectors(func(*class) bool { return true })}
	if t.opaque == nil {
		s.node = variableNode(t.path.text)
	}
	return s
}

// variableNode returns the node that reads a variable.
func variableNode(path string) *node {
	n := &node{op: opVar, name: "var", path: parsePath(path), variable: path, label: label(path, scope{})}
	n.identify()
	return n
}

// cover finds the cubes, until there are no other requests.
func (c *coverer) cover() (cover Cover) {
	for {
		model, ok := c.solve(append([]literal{c.goal}, c.guards[:len(c.cubes)]...)...)
		switch {
		case !ok:
			return c.finish(false, outOfSteps)
		case !model:
			return c.finish(true, "")
		case c.budget.spent() > c.most/2:
			return c.finish(false, outOfSteps) // the rest is for what was found
		case len(c.cubes) == maxCubes:
			return c.finish(false, fmt.Sprintf("more than %d sets of requests", maxCubes))
		}
		cube, ok := c.expand()
		if !ok {
			return c.finish(false, outOfSteps)
		}
		blocked := []literal{c.guards[len(c.cubes)].not()}
		for _, l := range cube {
			blocked = append(blocked, l.not())
		}
		c.search.add(blocked...)
		c.cubes = append(c.cubes, cube)
	}
}

// solve looks for a model in which some literals hold. It is not ok if the budget ran out.
func (c *coverer) solve(literals ...literal) (model, ok bool) {
	model, _, ok = c.search.solve(literals)
	return model, ok && !c.budget.over()
}

// refute proves that the formula holds of all requests for which the literals hold, and
// returns those that the proof needs.
func (c *coverer) refute(literals []literal) (needed []literal, proved bool) {
	model, core, done := c.search.solve(append([]literal{c.goal.not(), c.idle.not()}, literals...))
	if model || !done || c.budget.over() {
		return nil, false
	}
	return slices.DeleteFunc(slices.Clone(literals), func(l literal) bool { return !slices.Contains(core, l) }), true
}

// expand returns the cube around the request of the model: the literals that say which regions
// are not in it. It is not ok if the budget ran out.
func (c *coverer) expand() (cube []literal, ok bool) {
	var others []literal
	for _, s := range c.subjects {
		for _, l := range s.selectors {
			if !c.search.holds(l) {
				others = append(others, l.not())
			}
		}
	}
	if cube, ok = c.refute(others); !ok {
		return nil, false
	}
	for _, s := range slices.Backward(c.subjects) {
		cube = c.widen(cube, s)
	}
	return cube, !c.budget.over()
}

// widen leaves out of a cube what it says of a subject, as far as it may.
func (c *coverer) widen(cube []literal, s *subject) []literal {
	without := slices.DeleteFunc(slices.Clone(cube), func(l literal) bool { return slices.Contains(s.selectors, l.not()) })
	if len(without) == len(cube) {
		return cube
	}
	if fewer, proved := c.refute(without); proved {
		return fewer
	}
	if s.leaf != nil {
		return cube // what is found in a variable says most of what the variable is
	}
	for _, selector := range s.selectors {
		at := slices.Index(cube, selector.not())
		if at < 0 || c.budget.over() {
			continue
		}
		if fewer, proved := c.refute(slices.Delete(slices.Clone(cube), at, at+1)); proved {
			cube = fewer
		}
	}
	return cube
}

// finish turns the cubes that are needed into terms.
func (c *coverer) finish(complete bool, reason string) Cover {
	cover := Cover{Complete: complete, Reason: reason}
	if complete {
		c.dropCovered()
	}
	for _, cube := range c.cubes {
		made, reason := c.terms(cube)
		if reason != "" {
			return Cover{Cubes: cover.Cubes, Reason: reason}
		}
		made.Witness = c.witnessIn(made, cube)
		cover.Cubes = append(cover.Cubes, made)
	}
	slices.SortStableFunc(cover.Cubes, func(a, b Cube) int { return cmp.Compare(len(a.Terms), len(b.Terms)) })
	return cover
}

// dropCovered leaves out the cubes that are in the others together, the narrowest first.
func (c *coverer) dropCovered() {
	order := make([]int, len(c.cubes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(c.cubes[b]), len(c.cubes[a])) })
	gone := map[int]bool{}
	for _, at := range order {
		outside := []literal{c.goal}
		for i := range c.cubes {
			if i != at && !gone[i] {
				outside = append(outside, c.guards[i])
			}
		}
		if model, ok := c.solve(outside...); ok && !model {
			gone[at] = true
		}
	}
	var kept [][]literal
	for i, cube := range c.cubes {
		if !gone[i] {
			kept = append(kept, cube)
		}
	}
	c.cubes = kept
}

// witnessIn returns a request of a cube for which the formula holds, nil where none is found.
func (c *coverer) witnessIn(made Cube, cube []literal) map[string]any {
	if model, ok := c.solve(append([]literal{c.goal}, cube...)...); !model || !ok {
		return nil
	}
	c.formula = All(c.of, c.within, made.Formula())
	settings, ok := c.candidate()
	if !ok {
		return nil
	}
	c.leaveOut(settings, made)
	data, _ := build(settings)
	return data
}

// leaveOut leaves out of a request the variables that the cube says nothing of. It is for all
// that their values can be, so that only one question is left: whether they can be missing. What
// is needed beside another value may not be without it.
func (c *coverer) leaveOut(settings []setting, made Cube) {
	for range 2 {
		for i := range slices.Backward(settings) {
			s := &settings[i]
			if !s.present || slices.ContainsFunc(made.Terms, func(t Term) bool { return t.Path == s.path.text }) {
				continue
			}
			if s.present = false; !c.confirmed(settings) {
				s.present = true
			}
		}
	}
}

// terms says what the literals of a cube say of each subject. Of what no request of the cube
// has for which the formula holds, that is taken in which makes the words fewer.
func (c *coverer) terms(cube []literal) (made Cube, reason string) {
	about := slices.DeleteFunc(slices.Clone(c.subjects), func(s *subject) bool {
		return !slices.ContainsFunc(s.selectors, func(l literal) bool { return slices.Contains(cube, l.not()) })
	})
	used := map[literal]bool{} // selectors that hold in a request
	for _, s := range about {
		use := make([]usage, len(s.selectors))
		for i, selector := range s.selectors {
			if slices.Contains(cube, selector.not()) {
				continue
			}
			if !used[selector] {
				model, ok := c.solve(append([]literal{c.goal, selector}, cube...)...)
				if !ok {
					return made, outOfSteps
				}
				if model {
					c.note(about, used)
				}
			}
			use[i] = mayBeIn
			if used[selector] {
				use[i] = isIn
			}
		}
		values, ok := s.values(use)
		if !ok {
			return made, fmt.Sprintf("the values of %s are not told apart in words", s.name())
		}
		made.Terms = append(made.Terms, s.said(values))
	}
	return made, ""
}

// note notes the selectors that hold in the model.
func (c *coverer) note(about []*subject, used map[literal]bool) {
	for _, s := range about {
		for _, selector := range s.selectors {
			if c.search.holds(selector) {
				used[selector] = true
			}
		}
	}
}

// name says in messages what a subject is.
func (s *subject) name() string {
	if s.term != nil && s.term.opaque == nil {
		return fmt.Sprintf("variable %q", s.term.path.text)
	}
	return fmt.Sprintf("operator %q", s.node.name)
}

// said returns the term of a cube about a subject.
func (s *subject) said(values Range) Term {
	t := Term{Values: values, subject: s.node}
	if s.leaf == nil && s.term.opaque == nil {
		t.Path = s.term.path.text
	}
	return t
}
