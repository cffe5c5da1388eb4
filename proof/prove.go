package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
)

// The bounds of one comparison or one surface. A pack needs some dozens of proofs;
// a pack that is made to be slow must not succeed.
const (
	mostProofs    = 1000
	mostUndecided = 20
	allSteps      = 20_000_000
	lastTry       = 500_000 // unless the solver says otherwise
	mostExhausted = 4       // proofs that may use up the last try
	lesserTry     = 100_000 // the last one from then on
	firstRound    = 32      // offended conjuncts that are taken in at once
	mostWays      = 64      // of a conjunct that is taken in as it is
	waySteps      = 1_000   // to find out that a way contradicts the rest
)

// probe is one way in which a question can be true. The seed has to hold, and
// all of the context; that is looked at only as far as it matters.
type probe struct {
	seed    []jsonlogic.Formula
	context []conjunct
	// unstopped is set if it is about requests that the other version stops at.
	unstopped bool
}

// holds reports whether a request is one that the probe asks for.
func (p *probe) holds(request map[string]any) bool {
	return !slices.ContainsFunc(p.seed, func(f jsonlogic.Formula) bool { return !f.Holds(request) }) &&
		!slices.ContainsFunc(p.context, func(c conjunct) bool { return !c.formula.Holds(request) })
}

// conjunct is one part of the context, with its ways if it is that one of several formulas holds.
type conjunct struct {
	formula jsonlogic.Formula
	ways    []jsonlogic.Formula
}

// plain returns formulas as conjuncts.
func plain(list []jsonlogic.Formula) []conjunct {
	conjuncts := make([]conjunct, len(list))
	for i, f := range list {
		conjuncts[i].formula = f
	}
	return conjuncts
}

// oneOf returns the conjunct that one of the formulas holds.
func oneOf(ways []jsonlogic.Formula) conjunct { return conjunct{jsonlogic.Any(ways...), ways} }

// answer is the answer to a question: of several probes, that of the first that has a request.
type answer struct {
	jsonlogic.Answer
	// unstopped is set if the other version stops at the request, and at every such request.
	unstopped bool
}

func undecided(reason string) answer { return answer{Answer: jsonlogic.Answer{Reason: reason}} }

// prover asks the solver, and counts what it uses.
type prover struct {
	solver    jsonlogic.Solver
	all       int // steps of the solver's budget
	proofs    int
	undecided int
	exhausted int // of the undecided, those that ran out of steps
	covered   int // steps that conditions took
}

func newProver(s jsonlogic.Solver, models ...*Model) *prover {
	if s.Steps <= 0 {
		s.Steps = lastTry
	}
	s.Lists = slices.Clone(s.Lists)
	ctx := context.Background()
	for _, m := range models {
		s.Lists = append(s.Lists, m.lists...)
		if m.ctx != nil {
			ctx = m.ctx
		}
	}
	slices.Sort(s.Lists)
	s.Lists = slices.Compact(s.Lists)
	if s.Budget == nil {
		s.Budget = jsonlogic.NewBudget(ctx, allSteps)
	}
	return &prover{solver: s, all: allSteps}
}

// resume sets how much of a prover's budget is used already.
func (q *prover) resume(m *Model, a Account) {
	q.proofs, q.undecided, q.exhausted, q.solver.Steps = a.proofs, a.undecided, a.exhausted, a.steps
	q.solver.Budget = jsonlogic.NewBudget(m.context(), a.left)
}

// ask decides whether formulas hold together.
//
// If several used up their steps, the pack has thousands of conditions that
// depend on each other, and more steps would be wasted: the remaining questions
// get fewer, which is enough for simple ones.
func (q *prover) ask(parts ...jsonlogic.Formula) jsonlogic.Answer {
	a := q.solver.Solve(jsonlogic.All(parts...))
	if a.OutOfSteps() {
		if q.exhausted++; q.exhausted == mostExhausted {
			q.solver.Steps = min(q.solver.Steps, lesserTry)
		}
	} else if a.Err != nil {
		a.Reason = q.Spent()
	}
	return a
}

// any answers whether one of the probes has a request; unsatisfiable is that none has.
func (q *prover) any(probes []probe) answer {
	overall := answer{Answer: jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}}
	for _, p := range probes {
		a := answer{q.exists(p), p.unstopped && overall.Verdict == jsonlogic.Unsatisfiable}
		if overall.take(a) {
			return a
		}
	}
	return overall
}

// take adds the answer about a part of a question, and reports whether it ends the question.
func (a *answer) take(part answer) (found bool) {
	switch {
	case part.Verdict == jsonlogic.Satisfiable:
		return true
	case part.Verdict == jsonlogic.Undecided:
		*a = part
	case a.Verdict == jsonlogic.Unsatisfiable:
		a.Assumed = Merged(a.Assumed, part.Assumed)
	}
	return false
}

// Spent returns why no more proofs are made, "" if they are.
func (q *prover) Spent() string {
	switch {
	case q.proofs >= mostProofs:
		return fmt.Sprintf("more than %d proofs are needed", mostProofs)
	case q.undecided >= mostUndecided:
		return fmt.Sprintf("%d proofs before it came to no answer", mostUndecided)
	case q.solver.Budget.Err() == jsonlogic.ErrBudget:
		return fmt.Sprintf("the proofs have used up their %d steps", q.all)
	case q.solver.Budget.Err() != nil:
		return fmt.Sprintf("not proved: %v", q.solver.Budget.Err())
	}
	return ""
}

// exists answers whether there is a request for one probe. It asks about the seed alone, and adds the
// parts of the context that the request found violates, until it violates none or there is no request.
func (q *prover) exists(p probe) jsonlogic.Answer {
	if reason := q.Spent(); reason != "" {
		return jsonlogic.Answer{Reason: reason}
	}
	q.proofs++
	a := q.search(slices.Clone(p.seed), slices.Clone(p.context))
	if a.Verdict == jsonlogic.Undecided {
		q.undecided++
	}
	return a
}

// search looks for a request for which the taken formulas hold, and the rest. It may change both lists.
func (q *prover) search(taken []jsonlogic.Formula, rest []conjunct) jsonlogic.Answer {
	for most := firstRound; ; most *= 2 {
		a := q.ask(taken...)
		switch {
		case a.Verdict == jsonlogic.Unsatisfiable, a.Verdict == jsonlogic.Undecided && (len(rest) == 0 || a.Err != nil):
			return a
		case a.Verdict == jsonlogic.Undecided: // the rest may rule it out
			for _, c := range rest {
				taken = append(taken, c.formula)
			}
			rest = nil
			continue
		}
		offended, long := q.offended(rest, a.Witness, most)
		if len(offended) == 0 && long < 0 {
			return a
		}
		if len(offended) == 0 {
			return q.split(taken, slices.Delete(slices.Clone(rest), long, long+1), rest[long].ways)
		}
		for _, i := range slices.Backward(offended) {
			taken = append(taken, rest[i].formula)
			rest = slices.Delete(rest, i, i+1)
		}
	}
}

// offended returns which conjuncts do not hold in a request, the first so many of
// them. Those that have many ways wait until no other one is left; long is the
// first of them, -1 for none.
func (q *prover) offended(rest []conjunct, witness map[string]any, most int) (list []int, long int) {
	long = -1
	for i, c := range rest {
		switch {
		case len(list) == most:
			return list, long
		case c.formula.Holds(witness):
		case len(c.ways) <= mostWays:
			list = append(list, i)
		case long < 0:
			long = i
		}
	}
	return list, long
}

// split looks for a request in which one of many ways holds. Most ways contradict what is taken in
// already, and are left out.
func (q *prover) split(taken []jsonlogic.Formula, rest []conjunct, ways []jsonlogic.Formula) jsonlogic.Answer {
	overall := answer{Answer: jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}}
	var open []jsonlogic.Formula
	for _, way := range ways {
		quick := q.solver
		quick.Steps = waySteps
		a := quick.Solve(jsonlogic.All(append(slices.Clip(taken), way)...))
		if a.Verdict != jsonlogic.Unsatisfiable {
			open = append(open, way)
		} else {
			overall.Assumed = Merged(overall.Assumed, a.Assumed)
		}
	}
	for some := range slices.Chunk(open, mostWays) {
		if a := q.search(append(slices.Clone(taken), jsonlogic.Any(some...)), slices.Clone(rest)); overall.take(answer{Answer: a}) {
			return a
		}
	}
	return overall.Answer
}

// Merged returns the texts of two lists, sorted and each once.
func Merged(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Prover answers questions about the requests of one pack, one after the other, from one budget. The
// answer is Undecided if a question would cost more than is left.
type Prover struct {
	model *Model
	*prover
	facts map[string]jsonlogic.Formula // by intent, once they were asked for
}

// NewProver returns a prover for a pack that spends at most that many steps of the solver, and ends with
// the context.
func NewProver(ctx context.Context, m *Model, steps int) *Prover {
	q := newProver(jsonlogic.Solver{Budget: jsonlogic.NewBudget(ctx, steps)})
	q.all = steps
	return (&Prover{prover: q}).About(m)
}

// About returns a prover for another form of the pack, with the same budget.
func (q *Prover) About(m *Model) *Prover {
	return &Prover{m, q.prover, map[string]jsonlogic.Formula{}}
}

// Ask decides whether there is a request of the intent for which all the parts hold. Only requests that
// the compiler does not refuse count; if it refuses the pack itself, those that it would not refuse
// otherwise. The witness was checked against the compiler, and the parts hold for what conditions read
// of it.
func (q *Prover) Ask(intent string, parts ...jsonlogic.Formula) jsonlogic.Answer {
	q.solver.Lists, q.solver.Within = q.model.lists, q.within(intent)
	a := q.ask(parts...)
	if a.Verdict == jsonlogic.Satisfiable && !q.Shows(intent, a.Witness, parts...) {
		return jsonlogic.Answer{Reason: unconfirmed}
	}
	return a
}

// Shows reports whether a given request is one that Ask could find.
func (q *Prover) Shows(intent string, request map[string]any, parts ...jsonlogic.Formula) bool {
	r := Request(q.model.Pack, request)
	admitted := q.model.broken != "" || q.model.program.Refuses(r) == nil
	read := r.Data()
	return admitted && q.within(intent).Holds(read) && jsonlogic.All(parts...).Holds(read)
}

// within returns what holds for every request of an intent.
func (q *Prover) within(intent string) jsonlogic.Formula {
	facts, known := q.facts[intent]
	if !known {
		facts = jsonlogic.All(q.model.Domain(intent)...)
		q.facts[intent] = facts
	}
	return facts
}

// Charge takes steps from the budget for work outside the solver, and reports whether any are left.
func (q *Prover) Charge(steps int) bool { return q.solver.Budget.Spend(steps) }
