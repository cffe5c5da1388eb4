package jsonlogic

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrBudget is the error of a Budget whose steps are used up, and ErrSteps that of
// an Answer which would need more steps than one question may have.
var (
	ErrBudget = errors.New("the budget of steps is used up")
	ErrSteps  = errors.New("the question needs more steps than it may have")
)

// sliceSteps is how many steps are worked off before the account and its context
// are looked at again: a fraction of a millisecond.
const sliceSteps = 4096

// Budget is an account of steps that proofs and evaluations of a run share, under a
// context that can end them. A step is one evaluation of an operation, one clause
// looked at, or about as much work; a machine does some ten million in a second. A
// nil Budget has no bound and never ends. It may be used by several goroutines.
type Budget struct {
	ctx  context.Context
	left atomic.Int64
}

// NewBudget returns an account of so many steps. Once the context has ended nothing
// more is done on it.
func NewBudget(ctx context.Context, steps int) *Budget {
	b := &Budget{ctx: ctx}
	b.left.Store(int64(steps))
	return b
}

// Spend takes steps for work that was done. It reports whether there may be more.
func (b *Budget) Spend(steps int) bool {
	if b != nil {
		b.left.Add(-int64(steps))
	}
	return b.Err() == nil
}

// Left returns how many steps are left, 0 where more were taken than there were.
func (b *Budget) Left() int { return int(max(b.left.Load(), 0)) }

// Err says why no more work is done: the cause of the context's end (see
// context.Cause), else ErrBudget where no steps are left, else nil.
func (b *Budget) Err() error {
	switch {
	case b == nil:
		return nil
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case b.left.Load() <= 0:
		return ErrBudget
	}
	return nil
}

// budget counts down the steps of one proof, in slices.
type budget struct {
	left    int // of the slice at hand
	rest    int // beyond it
	used    int // before it
	account *Budget
	err     error // why there are no more; nil as long as there are
}

func newBudget(account *Budget, steps int) *budget {
	b := &budget{account: account, rest: steps}
	if b.err = account.Err(); b.err != nil {
		b.rest, b.left = 0, -1
	}
	b.refill()
	return b
}

func (b *budget) spend(steps int) { b.left -= steps }

// spent returns how many steps were taken.
func (b *budget) spent() int { return b.used - b.left }

// over says that nothing more is done. It is asked in every loop.
func (b *budget) over() bool { return b.left < 0 && !b.refill() }

// refill takes further slices until some steps are left.
func (b *budget) refill() bool {
	for b.left <= 0 && b.err == nil {
		slice := min(sliceSteps, b.rest)
		if slice == 0 {
			if b.left < 0 {
				b.err = ErrSteps
			}
			break
		}
		b.left, b.rest, b.used = b.left+slice, b.rest-slice, b.used+slice
		if !b.account.Spend(slice) {
			b.err, b.left, b.rest = b.account.Err(), -1, 0
		}
	}
	return b.left >= 0
}

// Having a verdict, a proof may use as many steps again to make its answer short,
// up to the next power of ten from this one on.
const firstRound = 10_000

func (b *budget) evaluate(n *node, data any) any {
	e := newEvaluation(b.account, maxSteps)
	e.curt = true
	v := e.eval(n, data)
	b.spend(e.used())
	return v
}

// last says that the verdict is there, and the rest only makes the answer shorter.
func (b *budget) last() {
	round := firstRound
	for round < b.spent() {
		round *= 10
	}
	b.rest = min(b.rest, max(0, round-b.used))
}

// close gives back what of the slice was not used, or takes what was used beyond
// it. An account that has ended stays so.
func (b *budget) close() {
	if b.err == nil || b.err == ErrSteps {
		b.account.Spend(-b.left)
	}
}
