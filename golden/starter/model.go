package starter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/schemas"
)

// model is what a pack permits. What is made of it is compiled before it is believed.
type model struct{ *proof.Model }

// scope is what the requests of one intent meet.
type scope struct {
	*model
	intent string
	at     *pack.Node         // where the intent is named first
	rules  []*policy.Rule     // the applicable ones
	bound  []*policy.Decision // of the intent

	usual jsonlogic.Answer // a request that compiles, once it is asked for
	asked bool
}

// mostNamed bounds how many decisions, gates or tools of an intent one telling question names.
const mostNamed = 20

func (m *model) in(intent string) *scope {
	s := &scope{model: m, intent: intent}
	for _, r := range m.Rules {
		if !r.Applies(intent) {
			continue
		}
		s.rules = append(s.rules, r)
		s.at = pack.Place(s.at, r.AppliesTo.Intent.Node)
		if d := r.Decision; r.Enforced && d != nil && !slices.Contains(s.bound, d) {
			s.bound = append(s.bound, d)
		}
	}
	for _, t := range m.Pack.EvaluationLayer.EvalTargets.Items {
		if t.Intent.Value == intent {
			s.at = pack.Place(s.at, t.Intent.Node)
		}
	}
	return s
}

// compiles says that a request is of the intent and compiles.
func (s *scope) compiles() jsonlogic.Formula { return s.Compiles(s.intent) }

// allows says that a decision of the intent is allowed.
func (s *scope) allows() jsonlogic.Formula {
	return anyOf(s.bound, func(d *policy.Decision) jsonlogic.Formula { return s.Allowed(s.intent, d.Key) })
}

// holds says that an approval gate is active.
func (s *scope) holds() jsonlogic.Formula {
	return anyOf(s.Gates, func(g *policy.Gate) jsonlogic.Formula { return s.Active(s.intent, g.ID) })
}

// settled says that no gate is active merely because its condition is unknown, which tells little.
func (s *scope) settled() jsonlogic.Formula {
	return jsonlogic.Not(anyOf(s.Gates, func(g *policy.Gate) jsonlogic.Formula {
		return jsonlogic.All(s.Active(s.intent, g.ID), jsonlogic.IsUnknown(g.When.Expr))
	}))
}

func anyOf[T any](list []T, each func(T) jsonlogic.Formula) jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for _, one := range list[:min(len(list), mostNamed)] {
		ways = append(ways, each(one))
	}
	return jsonlogic.Any(ways...)
}

// denies says that an outcome holds that denies a decision.
func (s *scope) denies() jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for _, r := range s.rules {
		for _, b := range r.Branches() {
			if r.Enforced && b.Denies() {
				ways = append(ways, b.Holds())
			}
		}
	}
	return jsonlogic.Any(ways...)
}

// evidence returns the names of the evidence that decisions of the intent require, each once.
func (s *scope) evidence() []string {
	var names []string
	for _, d := range s.Decisions {
		if !slices.Contains(s.bound, d) {
			continue
		}
		for _, spec := range d.Specs {
			for _, name := range pack.Values(spec.RequiredEvidence) {
				if !slices.Contains(names, name) && len(names) < mostEvidence {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// strong returns the tools that a ceiling can keep away, the strongest first.
func (m *model) strong() []string {
	var ids []string
	for rank := pack.Destructive.Rank(); rank > 0; rank-- {
		for _, t := range m.Tools {
			if t.Rank() == rank {
				ids = append(ids, t.String())
			}
		}
	}
	return ids[:min(len(ids), mostNamed)]
}

// shapes is what a case adds to what every request of the pack is: of a complete invocation and run
// context some members cannot be missing, stand only among others, or have a fixed value.
type shapes struct {
	formula jsonlogic.Formula
	narrow  bool     // the formula says something
	lists   []string // variables that hold lists
	objects []string // variables that, if they are there, hold what a case usually has
	absent  []string // paths that may be missing
	budget  bool     // something under run_budget is read
}

// mostShapes bounds the variables that are looked at, without the free ones of request.context.
const mostShapes = 200

// openContext is where any member may stand.
const openContext = "request.context."

// learnShapes finds out by trying, for each variable that a condition reads, whether the schemas of
// invokeAgent v1 and RunContext v1 accept that it is there, and that it is not.
func (m *maker) learnShapes() *shapes {
	s := &shapes{}
	var parts []jsonlogic.Formula
	for _, path := range m.variables() {
		if strings.HasPrefix(path, openContext) || path == "request.intent" {
			continue
		}
		if len(parts) == mostShapes {
			break
		}
		s.budget = s.budget || strings.HasPrefix(path+".", "run_budget.")
		parts = append(parts, m.shape(s, path))
	}
	s.formula, s.narrow = jsonlogic.All(parts...), len(parts) > 0
	return s
}

// variables returns what the conditions read of a request, sorted.
func (m *model) variables() []string {
	var paths []string
	for _, c := range m.Conditions {
		paths = append(paths, c.Expr.Reads()...)
	}
	slices.Sort(paths)
	// "" is the request as a whole.
	return slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return path == "" })
}

// shape says what one variable may hold beside its kinds, and notes the rest in s.
func (m *maker) shape(s *shapes, path string) jsonlogic.Formula {
	switch fixed, ok := m.fixed(path); {
	case ok:
		return jsonlogic.Is(path, fixed)
	case path == "intent":
		s.absent = append(s.absent, path)
		return jsonlogic.All() // it is the request's, if it is there: see effect
	}
	absent := m.valid(&candidate{without: []string{path}})
	if absent {
		s.absent = append(s.absent, path)
	}
	member := policy.Member{Path: path}
	if i := slices.IndexFunc(policy.Domain(), func(m policy.Member) bool { return m.Path == path }); i >= 0 {
		member = policy.Domain()[i]
	}
	_, runContext := m.envelopes(&candidate{})
	usual, _ := jsonlogic.Lookup(runContext, path)
	_, object := usual.(map[string]any)
	var ways []jsonlogic.Formula
	missing := jsonlogic.Is(path, nil)
	if absent {
		ways = append(ways, missing)
	}
	switch {
	case object:
		s.objects = append(s.objects, path)
		ways = append(ways, jsonlogic.Not(jsonlogic.Any(number(path), jsonlogic.Is(path, true), jsonlogic.Is(path, false), missing)))
	case !m.fits(member):
	case slices.Equal(member.Kinds, []pack.Kind{pack.Array}):
		s.lists = append(s.lists, path)
		return jsonlogic.All()
	case len(member.Choices) > 0:
		ways = append(ways, m.oneOf(member)...)
		if usual != nil {
			ways = append(ways, jsonlogic.Is(path, usual))
		}
	default:
		ways = append(ways, jsonlogic.Not(missing))
	}
	if len(ways) == 0 {
		return jsonlogic.All() // an object: what is in it has shapes of its own
	}
	return jsonlogic.Any(ways...)
}

// oneOf says that a member has one of its texts that a condition names, or any safety mode.
func (m *maker) oneOf(member policy.Member) (ways []jsonlogic.Formula) {
	for _, choice := range slices.Sorted(slices.Values(member.Choices)) {
		named := func(c *policy.Condition) bool {
			return strings.Contains(pack.CompactJSON(c.Expr.Node().Any()), pack.CompactJSON(choice))
		}
		if member.Path == "safety_mode" || slices.ContainsFunc(m.Conditions, named) {
			ways = append(ways, jsonlogic.Is(member.Path, choice))
		}
	}
	return ways
}

// number says that a variable is a number: no other can be ordered.
func number(path string) jsonlogic.Formula {
	doc, _ := pack.Read("", []byte(fmt.Sprintf(`{"<": [{"var": %s}, 0]}`, pack.CompactJSON(path))), pack.DefaultLimits())
	x, _ := jsonlogic.Compile(doc.Root)
	return jsonlogic.Not(jsonlogic.IsUnknown(x))
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

// fits reports whether the contracts accept a value in the place of a member.
func (m *maker) fits(member policy.Member) bool {
	values := []any{1.0, "x", []any{}}
	for _, choice := range member.Choices {
		values = append(values, choice)
	}
	return slices.ContainsFunc(values, func(value any) bool {
		return m.valid(&candidate{data: jsonlogic.Set(nil, strings.Split(member.Path, "."), value)})
	})
}

// valid reports whether the envelopes of a candidate are what the contracts want.
func (m *maker) valid(c *candidate) bool {
	invoke, runContext := m.envelopes(c)
	if invoke == nil {
		return false
	}
	for schema, envelope := range map[string]any{"invoke-agent": invoke, "run-context": runContext} {
		if violations, err := schemas.Validate(schema, envelope); err != nil || len(violations) > 0 {
			return false
		}
	}
	return true
}

// The budget of a set, in the solver's steps, of which a machine does millions in a second.
const (
	lastTry  = 1_000_000
	allSteps = 5_000_000
)

func usedUp() string { return fmt.Sprintf("the set has used up its %d steps", allSteps) }

// ask decides whether there is a request for which all the parts hold, and finds a small one.
func (m *maker) ask(parts ...jsonlogic.Formula) jsonlogic.Answer {
	f := jsonlogic.All(parts...)
	answer := jsonlogic.Solver{Steps: lastTry, Lists: m.shapes.lists, Budget: m.budget}.Solve(f)
	if answer.Err == jsonlogic.ErrBudget {
		answer.Reason = usedUp()
	}
	if answer.Verdict == jsonlogic.Satisfiable {
		answer.Witness = shrink(answer.Witness, f)
	}
	return answer
}

// mostShrunk bounds how many values of a request are tried without.
const mostShrunk = 200

// shrink leaves out of a request what it can do without. The solver keeps values that the contracts
// may not allow; a request that does not have them at all is smaller, and can come.
func shrink(data map[string]any, holds jsonlogic.Formula) map[string]any {
	var paths [][]string
	for path := range jsonlogic.Leaves(data) {
		paths = append(paths, path)
	}
	slices.Reverse(paths) // so that of two that will do the first stays
	for _, path := range paths[:min(len(paths), mostShrunk)] {
		if smaller := jsonlogic.Unset(data, path); holds.Holds(smaller) {
			data = smaller
		}
	}
	return data
}

// requests says what the requests of an intent are that can be made into cases.
func (m *maker) requests(s *scope) jsonlogic.Formula {
	return jsonlogic.All(slices.Concat([]jsonlogic.Formula{m.shapes.formula}, m.Domain(s.intent))...)
}
