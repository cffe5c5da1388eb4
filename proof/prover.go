package proof

import (
	"context"

	"github.com/contextosai/packgate/jsonlogic"
)

// Prover answers questions about the requests of one pack, one after the other, and
// keeps account of what they cost. A question that would cost more than is left is
// Undecided.
type Prover struct {
	model *Model
	*prover
	facts map[string]jsonlogic.Formula // by intent, once they were asked for
}

// NewProver returns a prover for a pack that spends so many steps of the solver, and
// ends with the context.
func NewProver(ctx context.Context, m *Model, steps int) *Prover {
	q := newProver(jsonlogic.Solver{Budget: jsonlogic.NewBudget(ctx, steps)})
	q.all = steps
	return (&Prover{prover: q}).About(m)
}

// About returns a prover for another form of the pack, with the same account.
func (q *Prover) About(m *Model) *Prover {
	return &Prover{m, q.prover, map[string]jsonlogic.Formula{}}
}

// Ask decides whether there is a request of the intent for which all the parts hold.
// Only what the compiler lets in is a request; of a pack that it refuses whatever the
// request is, what it would let in otherwise. A request that is found is one that
// the compiler lets in, and the parts hold of what its conditions then read of it.
func (q *Prover) Ask(intent string, parts ...jsonlogic.Formula) jsonlogic.Answer {
	q.solver.Lists, q.solver.Within = q.model.lists, q.within(intent)
	a := q.ask(parts...)
	if a.Verdict == jsonlogic.Satisfiable && !q.Shows(intent, a.Witness, parts...) {
		return jsonlogic.Answer{Reason: unconfirmed}
	}
	return a
}

// Shows reports whether a request that is at hand is one that Ask could find.
func (q *Prover) Shows(intent string, request map[string]any, parts ...jsonlogic.Formula) bool {
	r := Request(q.model.Pack, request)
	admitted := q.model.broken != "" || q.model.program.Refuses(r) == nil
	read := r.Data()
	return admitted && q.within(intent).Holds(read) && jsonlogic.All(parts...).Holds(read)
}

// within says what holds of every request of an intent.
func (q *Prover) within(intent string) jsonlogic.Formula {
	facts, known := q.facts[intent]
	if !known {
		facts = jsonlogic.All(q.model.Domain(intent)...)
		q.facts[intent] = facts
	}
	return facts
}

// Spent says why no more questions are answered, "" where they are.
func (q *Prover) Spent() string { return q.spent() }

// Charge takes steps for work beside the solver's. It reports whether any are left.
func (q *Prover) Charge(steps int) bool { return q.solver.Budget.Spend(steps) }
