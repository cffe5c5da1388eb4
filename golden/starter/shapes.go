package starter

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// shapes is what the variables may hold that conditions read. A case is a
// complete invocation and run context, whose contracts give most members a type:
// a request in which user.role is a number may satisfy a condition, and is no
// request that ever comes.
type shapes struct {
	formula jsonlogic.Formula
	narrow  bool     // the formula says something
	lists   []string // variables that hold lists
	objects []string // variables that, if they are there, hold what a case usually has
	absent  []string // paths that may be missing
	budget  bool     // something under run_budget is read
}

// mostShapes bounds how many variables are looked at. Those of request.context
// may hold anything and do not count.
const mostShapes = 200

// openContext is where any member may stand.
const openContext = "request.context."

// learnShapes finds out what the contracts allow by trying: for each variable that
// a condition reads, which kinds of values the schemas of invokeAgent v1 and
// RunContext v1 accept in its place.
func (m *maker) learnShapes(of *model) *shapes {
	s := &shapes{}
	var parts []jsonlogic.Formula
	for _, path := range of.variables() {
		switch {
		case strings.HasPrefix(path, openContext) || path == "request.intent":
			continue
		case len(parts) == mostShapes:
			s.formula, s.narrow = jsonlogic.All(parts...), true
			return s
		}
		s.budget = s.budget || strings.HasPrefix(path+".", "run_budget.")
		parts = append(parts, m.shape(s, path, of.literals()))
	}
	s.formula, s.narrow = jsonlogic.All(parts...), len(parts) > 0
	return s
}

// variables returns what the conditions read of a request, sorted.
func (m *model) variables() []string {
	seen := map[string]bool{}
	for _, c := range m.Conditions {
		for _, path := range c.Expr.Reads() {
			seen[path] = true
		}
	}
	delete(seen, "") // the request as a whole
	return slices.Sorted(maps.Keys(seen))
}

// literals returns the texts that conditions compare with, sorted, and the words
// that the contracts have for safety modes.
func (m *model) literals() []string {
	seen := map[string]bool{}
	for _, mode := range pack.ApprovalModes() {
		seen[string(mode)] = true
	}
	var walk func(*pack.Node)
	walk = func(n *pack.Node) {
		if n.Kind == pack.String {
			seen[n.Text] = true
		}
		for _, item := range n.Items {
			walk(item)
		}
		for _, member := range n.Members {
			walk(member.Value)
		}
	}
	for _, c := range m.Conditions {
		walk(c.Expr.Node())
	}
	return slices.Sorted(maps.Keys(seen))
}

// shape says what one variable may hold, and notes the rest in s.
func (m *maker) shape(s *shapes, path string, literals []string) jsonlogic.Formula {
	switch fixed, ok := m.fixed(path); {
	case ok:
		return jsonlogic.Is(path, fixed)
	case path == "intent":
		s.absent = append(s.absent, path)
		return jsonlogic.All() // it is the request's, if it is there: see effect
	}
	fits := func(value any) bool { return m.fits(path, value) }
	scalars := []bool{fits(1.0), fits(true), fits("x")}
	absent := m.fitsWithout(path)
	if absent {
		s.absent = append(s.absent, path)
	}
	if !slices.Contains(scalars, false) && absent {
		return jsonlogic.All()
	}
	if !slices.Contains(scalars, true) && (fits([]any{}) || fits([]any{"x"})) {
		s.lists = append(s.lists, path)
		return jsonlogic.All()
	}
	return m.oneOf(s, path, scalars, absent, literals)
}

// oneOf says that a variable holds one of the kinds that fit.
func (m *maker) oneOf(s *shapes, path string, scalars []bool, absent bool, literals []string) jsonlogic.Formula {
	number := jsonlogic.Not(jsonlogic.IsUnknown(comparison("<", path, 0)))
	boolean := jsonlogic.Any(jsonlogic.Is(path, true), jsonlogic.Is(path, false))
	missing := jsonlogic.Is(path, nil)
	var ways []jsonlogic.Formula
	if absent {
		ways = append(ways, missing)
	}
	switch {
	case scalars[0] && m.fits(path, -1.0):
		ways = append(ways, number)
	case scalars[0]:
		ways = append(ways, jsonlogic.IsFalse(comparison("<", path, 0)))
	}
	if scalars[1] {
		ways = append(ways, boolean)
	}
	_, runContext := m.envelopes(&candidate{})
	usual, _ := jsonlogic.Lookup(runContext, path)
	switch usual := usual.(type) {
	case map[string]any:
		s.objects = append(s.objects, path)
		ways = append(ways, jsonlogic.Not(jsonlogic.Any(number, boolean, missing)))
	case string:
		literals = append(slices.Clone(literals), usual)
	}
	if scalars[2] {
		// Only texts and what is missing can be compared with a text by "==".
		ways = append(ways, jsonlogic.All(jsonlogic.Not(missing), jsonlogic.Not(jsonlogic.IsUnknown(comparison("==", path, "")))))
	} else {
		for _, text := range literals {
			if m.fits(path, text) {
				ways = append(ways, jsonlogic.Is(path, text))
			}
		}
	}
	if len(ways) == 0 {
		return jsonlogic.All() // an object: what is in it has shapes of its own
	}
	return jsonlogic.Any(ways...)
}

// comparison is the condition that compares a variable with a constant. It is
// known where the variable is of the constant's kind.
func comparison(operator, path string, with any) *jsonlogic.Expr {
	text := fmt.Sprintf(`{%q: [{"var": %s}, %s]}`, operator, pack.CompactJSON(path), pack.CompactJSON(with))
	doc, _ := pack.Read("", []byte(text), pack.DefaultLimits())
	x, _ := jsonlogic.Compile(doc.Root)
	return x
}

// fixed returns the value of a variable that every case gives it.
func (m *maker) fixed(path string) (any, bool) {
	invoke, runContext := m.envelopes(&candidate{})
	switch value, there := jsonlogic.Lookup(runContext, path); {
	case path == "tenant_id":
		return invoke["tenant_id"], true
	case strings.HasPrefix(path, "run_budget."):
		_, object := value.(map[string]any)
		return value, there && !object
	}
	return nil, false
}

// fits reports whether the contracts accept a value in the place of a variable.
func (m *maker) fits(path string, value any) bool {
	data := value
	names := strings.Split(path, ".")
	for _, name := range slices.Backward(names) {
		data = map[string]any{name: data}
	}
	return m.valid(&candidate{data: data.(map[string]any)})
}

// fitsWithout reports whether the contracts accept that a variable is missing.
func (m *maker) fitsWithout(path string) bool {
	return m.valid(&candidate{without: []string{path}})
}

// valid reports whether the envelopes of a candidate are what the contracts want.
func (m *maker) valid(c *candidate) bool {
	invoke, runContext := m.envelopes(c)
	if invoke == nil {
		return false
	}
	for _, envelope := range []struct {
		schema string
		doc    any
	}{{"invoke-agent", invoke}, {"run-context", runContext}} {
		if violations, err := schemas.Validate(envelope.schema, envelope.doc); err != nil || len(violations) > 0 {
			return false
		}
	}
	return true
}
