package proof

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Bounds of the conditions that describe what differs: solver steps of one of them, and of all
// of a comparison or a surface.
const (
	coverSteps    = 1_000_000
	allCoverSteps = 4_000_000
)

// When is a set of requests of one intent as a condition: the requests for which one of the
// alternatives holds. An alternative without terms is every request, no alternative is none.
//
// The condition leaves out the intent itself, the tenant of the pack, and a sufficient safety mode
// unless the safety mode is what differs. It is open for requests that both versions stop at with an
// error, because nothing is permitted in them.
type When struct {
	Any []jsonlogic.Cube
	// More is set if there are other requests beside those of the alternatives.
	More bool
	// NotProved is why the alternatives are only examples, "" if it is proved that each of their
	// requests is in the set and, without More, that no other one is.
	NotProved string
	// Nearest is a request of the first alternative, next to the limit that the base has.
	Nearest map[string]any
	// Read are the variables that the conditions of the packs read.
	Read []string
}

// Request returns the request to show: the one next to the limit of the base, or else the known one.
// W may be nil.
func (w *When) Request(known map[string]any) map[string]any {
	if known == nil || w == nil || w.Nearest == nil {
		return known
	}
	return w.Nearest
}

// Describe is like Compare, and also sets for which requests each change holds (GainedWhen, LostWhen).
// These conditions are proved like every claim, from the same budget, after everything is compared.
func Describe(base, head *Model, s jsonlogic.Solver) []Change {
	return compareAll(base, head, s, withConditions)
}

// description is what a condition is made of.
type description struct {
	of     jsonlogic.Formula // what holds for the requests
	within []jsonlogic.Formula
	idle   jsonlogic.Formula // requests that may be in the condition or not
	sides  []*Model
	// confirm reports whether the compiles of a request show it, and next returns the request next to a
	// former limit.
	confirm func(witness map[string]any) bool
	next    func(jsonlogic.Cube) map[string]any
}

// describe returns the condition of what a question found in one direction. It is filled in once
// everything is compared.
func (c *comparison) describe(from, to *scene, q question, f finding, confirm func(from, to *outcome) string) *When {
	if c.extent != withConditions || f.Verdict != jsonlogic.Satisfiable {
		return nil
	}
	var name asked
	if q.name != nil {
		name = q.name(from, to)
		name.up = to.Model == c.head
	}
	if known := c.whens[name]; known != nil {
		return known
	}
	w := &When{}
	if name.about != itself {
		c.whens[name] = w
	}
	c.promised = append(c.promised, func() {
		shows := func(witness map[string]any) bool {
			was, is := c.compiled(from, witness), c.compiled(to, witness)
			return confirm(was, is) != "" && (q.doubt == nil || q.doubt(was, is) == "")
		}
		d := description{of: union(q.probes(from, to)), sides: []*Model{c.base, c.head}, confirm: shows}
		d.within, d.idle = ground(from, to)
		d.next = func(cube jsonlogic.Cube) map[string]any {
			witness := d.nearest(cube, c.base)
			if witness != nil && q.call != nil {
				return withCall(witness, q.call(c.compiled(from, witness), c.compiled(to, witness)))
			}
			return witness
		}
		*w = c.prover.when(d, c.ceilings)
	})
	return w
}

// union returns the formula that a request is one of any of the probes.
func union(probes []probe) jsonlogic.Formula {
	ways := make([]jsonlogic.Formula, len(probes))
	for i, p := range probes {
		parts := slices.Clone(p.seed)
		for _, c := range p.context {
			parts = append(parts, c.formula)
		}
		ways[i] = jsonlogic.All(parts...)
	}
	return jsonlogic.Any(ways...)
}

// ground returns what holds for every request that is looked at, and which of them both versions stop
// at. Requests at which both stop for the same reason are left out from the start.
func ground(from, to *scene) (within []jsonlogic.Formula, idle jsonlogic.Formula) {
	within = slices.Clone(to.facts)
	for _, at := range to.known {
		if _, shared := slices.BinarySearch(from.known, at); shared || !from.exists {
			within = append(within, jsonlogic.Not(to.unknown(at)))
		}
	}
	if !from.exists || !to.exists {
		return within, nothing()
	}
	return within, jsonlogic.All(jsonlogic.Any(from.stops(to)...), jsonlogic.Any(to.stops(from)...))
}

// when finds the condition of a description. It has the safety mode only if a condition of the packs
// reads it, or if it is what differs.
func (q *prover) when(d description, ceilings bool) When {
	w := When{Read: slices.Clone(readBy(d.sides))}
	if reason := q.Spent(); reason != "" {
		w.NotProved = reason
		return w
	}
	var cover jsonlogic.Cover
	reads := slices.ContainsFunc(d.sides, func(m *Model) bool { return m.reads[safetyModePath] })
	if all := d.within; ceilings && !reads {
		d.within = append(slices.Clip(all), jsonlogic.Is(safetyModePath, string(pack.Destructive)))
		if cover = q.cover(d); cover.Complete && len(cover.Cubes) == 0 {
			d.within = all
			cover = q.cover(d)
		}
	} else {
		cover = q.cover(d)
	}
	w.Any, w.More, w.NotProved = cover.Cubes, !cover.Complete, q.unproved(d, cover)
	slices.SortStableFunc(w.Any, func(a, b jsonlogic.Cube) int {
		return cmp.Or(cmp.Compare(len(a.Terms), len(b.Terms)), cmp.Compare(a.String(), b.String()))
	})
	if d.next != nil && len(w.Any) > 0 {
		w.Nearest = d.next(w.Any[0])
	}
	return w
}

// readBy returns the variables that the conditions of packs read, sorted. The list must not be changed.
func readBy(models []*Model) (paths []string) {
	if len(models) == 1 {
		return models[0].paths
	}
	for _, m := range models {
		paths = append(paths, m.paths...)
	}
	return Merged(paths, nil)
}

// cover asks the solver for the cubes of a description.
func (q *prover) cover(d description) jsonlogic.Cover {
	s := q.solver
	if s.Steps = min(coverSteps, allCoverSteps-q.covered); s.Steps <= 0 {
		return jsonlogic.Cover{Reason: fmt.Sprintf("the conditions have used up their %d steps", allCoverSteps)}
	}
	s.Within = jsonlogic.All(d.within...)
	cover := s.Cover(d.of, d.idle)
	q.covered += cover.Steps
	return cover
}

// unproved returns why cubes are only examples, "" if it is proved that they are the described
// requests, or some of them: the solver is asked that, and a request of each cube is compiled.
func (q *prover) unproved(d description, cover jsonlogic.Cover) string {
	if len(cover.Cubes) == 0 {
		return cover.Reason
	}
	var all []jsonlogic.Formula
	for _, cube := range cover.Cubes {
		all = append(all, cube.Formula())
		switch {
		case cube.Witness == nil:
			return "no request was found that shows one of them"
		case !d.confirm(cube.Witness):
			return unconfirmed
		}
		for _, t := range cube.Terms {
			if t.Free() && slices.ContainsFunc(d.sides, func(m *Model) bool { return !t.In(m.exprs()) }) {
				return "one version alone reads what proofs do not follow"
			}
		}
	}
	one := jsonlogic.Any(all...)
	claims := []jsonlogic.Formula{jsonlogic.All(one, jsonlogic.Not(d.of), jsonlogic.Not(d.idle))}
	if cover.Complete {
		claims = append(claims, jsonlogic.All(d.of, jsonlogic.Not(one)))
	}
	s := q.solver
	s.Steps, s.Lists, s.Within = coverSteps, readBy(d.sides), jsonlogic.All(d.within...) // nothing is assumed
	for _, claim := range claims {
		switch a := s.Solve(claim); {
		case a.Verdict == jsonlogic.Undecided:
			return a.Reason
		case a.Verdict == jsonlogic.Satisfiable || len(a.Assumed) > 0:
			return "the condition is not exact"
		}
	}
	return ""
}

// exprs returns the conditions of the pack.
func (m *Model) exprs() []*jsonlogic.Expr {
	list := make([]*jsonlogic.Expr, len(m.Conditions))
	for i, c := range m.Conditions {
		list[i] = c.Expr
	}
	return list
}
