package lsp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pause is how long at least lies between the beginnings of two runs. Nobody reads
// findings faster, and whoever types makes ten changes a second. Proofs begin once there was
// no change for so long.
const pause = 150 * time.Millisecond

// runs collects the repositories in which files may differ from what was last looked at, and has
// them looked at: the first at once, others after the pause. What takes proofs follows when there
// are no more changes, and the next one ends it.
type runs struct {
	// look looks at repositories, and reports whether proofs are to follow.
	look func(roots []string) bool
	// prove makes the proofs that are to follow, until the context ends.
	prove func(context.Context)
	wake  chan struct{}

	lock    sync.Mutex
	pending []string
	stop    context.CancelFunc // of the proofs that are being made; nil where there are none
}

func newRuns(look func([]string) bool, prove func(context.Context)) *runs {
	return &runs{look: look, prove: prove, wake: make(chan struct{}, 1)}
}

// ask notes a change in a repository, and ends the proofs of what was before it.
func (r *runs) ask(root string) {
	r.lock.Lock()
	if !slices.Contains(r.pending, root) {
		r.pending = append(r.pending, root)
	}
	if r.stop != nil {
		r.stop()
	}
	r.lock.Unlock()
	select {
	case r.wake <- struct{}{}:
	default: // there is a call waiting
	}
}

// loop has changes looked at until the context ends.
func (r *runs) loop(ctx context.Context) {
	for due := false; ctx.Err() == nil; {
		roots := r.take()
		switch {
		case len(roots) > 0:
			next := time.After(pause)
			due = r.look(roots) || due
			select {
			case <-ctx.Done():
			case <-next:
			}
		case due:
			due = !r.proved(ctx)
		default:
			select {
			case <-ctx.Done():
			case <-r.wake:
			}
		}
	}
}

// take returns the repositories that were noted.
func (r *runs) take() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	roots := r.pending
	r.pending = nil
	return roots
}

// proved makes the proofs, and reports whether no change has ended them.
func (r *runs) proved(ctx context.Context) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.lock.Lock()
	if len(r.pending) > 0 {
		r.lock.Unlock()
		return false
	}
	r.stop = stop
	r.lock.Unlock()
	r.prove(ctx)
	r.lock.Lock()
	defer r.lock.Unlock()
	r.stop = nil
	return ctx.Err() == nil
}
