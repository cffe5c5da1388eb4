package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// questions are those of one check, about what the pack permits.
type questions struct {
	*gate.Pass
	*model
	permitted *proof.Model
	solver    jsonlogic.Solver
	domains   map[string][]jsonlogic.Formula // by intent, as they are asked for
	scenes    map[string]applicable          // likewise
	failed    bool                           // an error was found
}

// The budget of proofs, in the solver's steps, of which a fast machine does some ten
// million in a second. The pairs of four hundred rules of one rank need about half of a
// check's steps.
const (
	lastTry    = 1_000_000
	checkSteps = 60_000_000
)

func newQuestions(p *gate.Pass) *questions {
	q := &questions{
		Pass: p, model: newModel(p), permitted: p.Proof(),
		solver:  jsonlogic.Solver{Steps: lastTry, Budget: jsonlogic.NewBudget(p.Context(), checkSteps)},
		domains: map[string][]jsonlogic.Formula{}, scenes: map[string]applicable{},
	}
	for _, c := range q.Conditions {
		q.solver.Lists = append(q.solver.Lists, c.Expr.Lists()...)
	}
	return q
}

// ask decides whether formulas hold together of a request of the intent.
func (q *questions) ask(intent string, parts ...jsonlogic.Formula) jsonlogic.Answer {
	return q.solve(slices.Concat(q.domain(intent), parts)...)
}

// domain says what a request of the intent can be.
func (q *questions) domain(intent string) []jsonlogic.Formula {
	if q.domains[intent] == nil {
		q.domains[intent] = q.permitted.Domain(intent)
	}
	return q.domains[intent]
}

// solve decides whether formulas hold together, whatever a request can be.
func (q *questions) solve(parts ...jsonlogic.Formula) jsonlogic.Answer {
	a := q.solver.Solve(jsonlogic.All(parts...))
	if a.Err == jsonlogic.ErrBudget {
		a.Reason = fmt.Sprintf("the check has used up its %d steps", checkSteps)
	}
	return a
}

// pointless notes that nothing can be asked where no intent is named: then no request can come.
func (q *questions) pointless() bool {
	if len(q.Intents) > 0 {
		return false
	}
	q.NotChecked("no rule and no eval target names an intent, so that no request is compiled")
	return true
}

// question is about the requests of an intent that the compiler lets in: whether the
// seed holds in one of them and all of the rest. The rest is looked at as far as it
// matters, for of many rules few have to do with each other.
type question struct {
	seed jsonlogic.Formula
	rest []jsonlogic.Formula
	// shown is what the compile of a request has to show for it to be an answer that
	// is printed; nil for one that is not.
	shown func(*compiler.Result) bool
	reads []string // the variables that the seed reads, where no answer is printed
}

// found is what became of a question.
type found struct {
	jsonlogic.Answer
	intent  string
	request map[string]any // that was found, also where nobody may see it
	taken   []int          // what of the rest was needed to come to the answer
}

// firstTaken is how much of the rest is taken in at once, to begin with.
const firstTaken = 16

// about answers a question about an intent, without a request if the compiler refuses the pack.
func (q *questions) about(intent string, asked question) found {
	if asked.shown == nil {
		if data, ok := q.permitted.Known(intent, []jsonlogic.Formula{asked.seed}, asked.rest, q.domain(intent)); ok {
			return found{Answer: jsonlogic.Answer{Verdict: jsonlogic.Satisfiable, Witness: data}, intent: intent, request: data}
		}
	}
	parts, places := []jsonlogic.Formula{asked.seed}, make([]int, len(asked.rest))
	for i := range places {
		places[i] = i
	}
	var taken []int
	for most := firstTaken; ; most *= 2 {
		a := q.ask(intent, parts...)
		offended := places // of what is not followed, the rest may rule it out
		switch {
		case a.Verdict == jsonlogic.Unsatisfiable || a.Err != nil:
			return found{a, intent, nil, taken}
		case a.Verdict == jsonlogic.Satisfiable:
			offended = q.offended(asked.rest, places, a.Witness, most)
		}
		if asked.reads != nil && len(offended) > 0 && a.Verdict == jsonlogic.Satisfiable {
			if f, ok := q.beside(intent, a.Witness, asked); ok {
				return f
			}
		}
		if len(offended) == 0 {
			if a.Verdict == jsonlogic.Satisfiable {
				q.permitted.Remember(intent, q.data(a.Witness))
			}
			return found{q.confirmed(a, asked.shown), intent, a.Witness, taken}
		}
		for _, i := range offended {
			parts = append(parts, asked.rest[i])
		}
		taken = append(taken, offended...)
		places = slices.DeleteFunc(slices.Clone(places), func(i int) bool { return slices.Contains(offended, i) })
	}
}

// beside answers a question with a request that was found before, but for the variables of the
// seed, which have the values with which it holds. Nobody sees the request, and all that is
// asked for holds in it.
func (q *questions) beside(intent string, seed map[string]any, asked question) (f found, ok bool) {
	all := slices.Concat([]jsonlogic.Formula{asked.seed}, asked.rest, q.domain(intent))
	for _, known := range q.permitted.Remembered(intent) {
		for _, name := range asked.reads {
			path := strings.Split(name, ".")
			if value, there := jsonlogic.Lookup(seed, name); there {
				known = jsonlogic.Set(known, path, value)
			} else if _, was := jsonlogic.Lookup(known, name); was {
				known = jsonlogic.Unset(known, path)
			}
		}
		data := q.data(known)
		if !slices.ContainsFunc(all, func(f jsonlogic.Formula) bool { return !f.Holds(data) }) {
			q.permitted.Remember(intent, data)
			return found{Answer: jsonlogic.Answer{Verdict: jsonlogic.Satisfiable, Witness: data}, intent: intent, request: data}, true
		}
	}
	return f, false
}

// offended returns the places of what does not hold in a request, the first so many.
func (q *questions) offended(rest []jsonlogic.Formula, places []int, request map[string]any, most int) []int {
	data := q.data(request)
	var list []int
	for _, i := range places {
		if len(list) < most && !rest[i].Holds(data) {
			list = append(list, i)
		}
	}
	return list
}

// data returns what conditions read in the request that is made of a witness.
func (q *questions) data(witness map[string]any) map[string]any {
	return proof.Data(q.permitted.Pack, witness)
}

// confirmed has the request of an answer that is to be printed compiled.
func (q *questions) confirmed(a jsonlogic.Answer, shown func(*compiler.Result) bool) jsonlogic.Answer {
	if a.Verdict != jsonlogic.Satisfiable || shown == nil {
		return a
	}
	if q.permitted.Broken() != "" {
		a.Witness = nil
		return a
	}
	if !shown(q.permitted.Compiled(a.Witness)) {
		return jsonlogic.Answer{Reason: "the compiler does not confirm the request that was found"}
	}
	return a
}

// anyOf answers a question about several intents, with the first request that any of them has.
func (q *questions) anyOf(intents []string, asked func(intent string) question) found {
	overall := found{Answer: jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}}
	for _, intent := range intents {
		f := q.about(intent, asked(intent))
		switch {
		case f.Verdict == jsonlogic.Satisfiable:
			return f
		case f.Verdict == jsonlogic.Undecided && overall.Verdict == jsonlogic.Unsatisfiable:
			overall = f
		case f.Verdict == overall.Verdict:
			overall.Assumed = proof.Merged(overall.Assumed, f.Assumed)
		}
	}
	return overall
}

// same is a question that is the same about all intents.
func same(asked question) func(string) question { return func(string) question { return asked } }

// applicable are an intent's enforced rules, the first of each condition, and that none is unknown.
type applicable struct {
	rules   []*policy.Rule
	decided []jsonlogic.Formula
}

func (q *questions) applicable(intent string) applicable {
	a, known := q.scenes[intent]
	if !known {
		seen := map[*policy.Condition]bool{}
		for _, r := range q.rules {
			if r.Enforced && r.Applies(intent) && !seen[r.When] {
				seen[r.When] = true
				a.rules, a.decided = append(a.rules, r), append(a.decided, jsonlogic.Not(jsonlogic.IsUnknown(r.When.Expr)))
			}
		}
		q.scenes[intent] = a
	}
	return a
}

// decided says of each rule of an intent that it is not unknown.
func (q *questions) decided(intent string) []jsonlogic.Formula {
	return slices.Clip(q.applicable(intent).decided)
}

// unproved notes what could not be decided.
func (q *questions) unproved(who, what string, a jsonlogic.Answer) {
	q.NotChecked(fmt.Sprintf("%s: %s not proved: %s", who, what, a.Reason))
}

// holds returns what a compile has to show where an outcome holds.
func holds(b *policy.Branch) func(*compiler.Result) bool {
	return func(r *compiler.Result) bool {
		return slices.ContainsFunc(r.Trace.Rules, func(t compiler.RuleTrace) bool { return t.Outcome == b.Outcome })
	}
}
