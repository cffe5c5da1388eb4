package jsonlogic

import (
	"maps"
	"math"
	"slices"
)

// Bounds of the search for values that make an expression hold which is not
// followed: so many requests, so many values for each variable.
const (
	maxRequests = 1024
	maxTried    = 48
)

// vary looks for values with which the formula holds, for the variables of the
// expressions that are not followed: those of the regions of each, the constants
// of the expressions and the numbers next to them, and lists of one item made of
// these. It changes the settings to the first that are confirmed.
func (p *prover) vary(settings []setting) bool {
	read, hints := p.hints(settings)
	var varied []int
	for i := range settings {
		if read[settings[i].term] {
			varied = append(varied, i)
		}
	}
	if len(varied) == 0 {
		return false
	}
	tried := make([][]setting, len(varied))
	most := maxTried
	for most > 2 && power(most, len(varied)) > maxRequests {
		most--
	}
	for k, i := range varied {
		tried[k] = candidates(settings[i], hints)
		tried[k] = tried[k][:min(most, len(tried[k]))]
	}
	at := make([]int, len(varied))
	for range maxRequests {
		for k, i := range varied {
			settings[i] = tried[k][at[k]]
		}
		if p.confirmed(settings) {
			return true
		}
		if p.budget.over() || !advance(at, tried) {
			return false
		}
	}
	return false
}

func power(base, exponent int) int {
	result := 1
	for range exponent {
		if result *= base; result > maxRequests {
			break
		}
	}
	return result
}

// advance counts one up, and says whether there was one.
func advance(at []int, tried [][]setting) bool {
	for k := range at {
		if at[k]++; at[k] < len(tried[k]) {
			return true
		}
		at[k] = 0
	}
	return false
}

// hint is a value that an expression suggests for variables.
type hint struct {
	value any
	paths []path  // of an item that is to have it, in a list
	of    []*term // the variables; nil for all
}

// hints returns the variables of all expressions that are not followed, or whose
// texts are not, and the values that they suggest.
func (p *prover) hints(settings []setting) (read map[*term]bool, hints []hint) {
	read = map[*term]bool{}
	for _, t := range p.terms {
		if t.opaque == nil {
			for _, l := range t.leaves {
				read[t] = read[t] || l.either
			}
			continue
		}
		own := map[*term]bool{}
		t.opaque.walk(func(n *node) bool {
			if n.op == opVar {
				own[p.variable(n.path)] = true
			}
			for i := range n.keys {
				own[p.variable(n.keys[i].path)] = true
			}
			return true
		})
		maps.Copy(read, own)
		if len(own) == 1 && t.opaque.op.calculates() {
			hints = append(hints, p.guesses(t, own, settings)...)
		}
		if t.opaque.op.compares() {
			hints = append(hints, beside(t.operands)...)
		}
		var paths []path
		t.opaque.items(false, &paths)
		for _, v := range append(t.opaque.constants(nil), constantsOf(t)...) {
			hints = append(hints, hint{value: v, paths: paths})
			if f, ok := v.(float64); ok {
				hints = append(hints, hint{value: f + 1, paths: paths}, hint{value: f - 1, paths: paths})
			}
		}
	}
	return read, hints
}

// guesses are numbers with which arithmetic on one variable may come to what it is
// compared with.
func (p *prover) guesses(t *term, only map[*term]bool, settings []setting) (hints []hint) {
	for _, s := range settings {
		if !only[s.term] {
			continue
		}
		near, _ := s.value.(float64)
		for _, c := range append(slices.Clone(t.numbers), 0) {
			for _, value := range []float64{c, c + 1, c - 1} {
				for _, f := range p.reaching(t.opaque.over(), value, near) {
					hints = append(hints, hint{value: f, of: []*term{s.term}})
				}
			}
		}
	}
	return hints
}

// beside are values for variables that are compared with each other: two numbers in
// each of the places that their constants leave, and what each of them may be.
func beside(operands []*term) (hints []hint) {
	var points []float64
	for _, o := range operands {
		points = append(points, o.numbers...)
	}
	points = append(points, 0, math.Inf(-1), math.Inf(1))
	slices.Sort(points)
	var values []float64
	for i, high := range points[1:] {
		values = appendBetween(values, points[i], high)
		if last := len(values) - 1; last >= 0 && values[last] > points[i] {
			values = appendBetween(values, values[last], high)
		}
	}
	for _, f := range values {
		hints = append(hints, hint{value: f, of: operands})
	}
	for _, o := range operands {
		for i := range min(len(o.regions), maxTried/2) {
			if r := &o.regions[i]; r.scalar() && !r.undefinable {
				hints = append(hints, hint{value: r.value, of: operands})
			}
		}
	}
	return hints
}

// constantsOf are what the value of an expression is compared with.
func constantsOf(t *term) []any {
	var all []any
	for _, f := range t.numbers {
		all = append(all, f)
	}
	for _, s := range t.texts {
		all = append(all, s)
	}
	return all
}

func (n *node) constants(all []any) []any {
	if n.op == opConstant && n.value != nil && len(all) < maxTried {
		all = append(all, n.value)
	}
	for _, arg := range n.args {
		all = arg.constants(all)
	}
	return all
}

// items collects the paths that are read from items of lists.
func (n *node) items(scoped bool, paths *[]path) {
	if n.op == opVar && scoped {
		*paths = append(*paths, n.path)
	}
	for i, arg := range n.args {
		arg.items(scoped || n.op.iterates() && i == 1, paths)
	}
}

// candidates returns a variable's setting and others to try in its place.
func candidates(s setting, hints []hint) []setting {
	all := []setting{s}
	add := func(v any) {
		with := s
		with.value, with.present = v, true
		all = append(all, with)
	}
	if s.term.listed {
		for _, h := range hints {
			add([]any{item(h)})
		}
		add([]any{})
	}
	for _, h := range hints {
		if (len(h.paths) == 0 || !s.term.listed) && (h.of == nil || slices.Contains(h.of, s.term)) {
			add(h.value)
		}
	}
	for i := range min(len(s.term.regions), maxTried/2) {
		if r := &s.term.regions[i]; !r.undefinable {
			add(r.value)
			all[len(all)-1].present = !r.absent
		}
	}
	return all
}

// item makes an item of a list in which all paths that are read have a value.
func item(h hint) any {
	var settings []setting
	for _, at := range h.paths {
		if len(at.steps) == 0 || at.steps[0].name == "current" || at.steps[0].name == "accumulator" {
			return h.value
		}
		settings = append(settings, setting{path: at, value: h.value, present: true})
	}
	if len(settings) == 0 {
		return h.value
	}
	made, ok := build(settings)
	if !ok {
		return h.value
	}
	return made
}
