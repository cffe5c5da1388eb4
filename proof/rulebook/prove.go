package rulebook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
)

// The budget of a book, in the solver's steps, of which a machine does some
// million in a second. Overlaps have their own, for there may be thousands of
// pairs, and what is said of each rule must not suffer from them.
const (
	lastTry      = 1_000_000
	ruleSteps    = 20_000_000
	overlapSteps = 20_000_000
)

// prover asks the solver and keeps account.
type prover struct {
	budget  *jsonlogic.Budget
	all     int
	assumed map[string]bool
}

func newProver(steps int, assumed map[string]bool) *prover {
	return &prover{jsonlogic.NewBudget(context.Background(), steps), steps, assumed}
}

// ask decides whether there is a request for which all the parts hold.
func (q *prover) ask(parts ...jsonlogic.Formula) jsonlogic.Answer {
	a := jsonlogic.Solver{Steps: lastTry, Budget: q.budget}.Solve(jsonlogic.All(parts...))
	if a.Err == jsonlogic.ErrBudget {
		a.Reason = q.usedUp()
	}
	return a
}

func (q *prover) usedUp() string { return fmt.Sprintf("the book has used up its %d steps", q.all) }

// charge takes steps for putting a question together that is about so many
// outcomes. It reports whether there are any left.
func (q *prover) charge(outcomes int) bool { return q.budget.Spend(outcomes) }

// claim notes what a proof leans on that the book makes use of.
func (q *prover) claim(a jsonlogic.Answer) {
	for _, path := range a.Assumed {
		q.assumed[path] = true
	}
}

// reason says why an answer claims nothing.
func reason(a jsonlogic.Answer) string {
	return strings.TrimPrefix(a.Reason, "not proved ")
}

// scope is the requests of one intent or, where the pack names none, all.
type scope struct {
	intent string
	any    bool
}

func (s scope) is() jsonlogic.Formula {
	if s.any {
		return jsonlogic.All()
	}
	return jsonlogic.Is("request.intent", s.intent)
}

// example turns an answer into what the book shows.
func (s scope) example(a jsonlogic.Answer) Example {
	switch a.Verdict {
	case jsonlogic.Satisfiable:
		return Example{State: Found, Request: a.Witness, Words: s.words(a.Witness)}
	case jsonlogic.Unsatisfiable:
		return Example{State: None}
	}
	return Example{State: NotProved, Reason: reason(a)}
}

// words says a request in one line. The intent stands above it.
func (s scope) words(request map[string]any) string {
	values := map[string]any{}
	for path, v := range jsonlogic.Leaves(request) {
		values[strings.Join(path, ".")] = v
	}
	if !s.any {
		delete(values, "request.intent")
	}
	var words []string
	for _, path := range slices.Sorted(maps.Keys(values)) {
		words = append(words, variable(path, "")+" = "+literal(values[path]))
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, ", ")
	case s.any:
		return "an empty request"
	}
	return "a request that says nothing more"
}
