package lsp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pause is how long at least lies between the beginnings of two runs. Nobody reads
// findings faster, and whoever types makes ten changes a second.
const pause = 150 * time.Millisecond

// change is a file that may differ from what was last looked at.
type change struct {
	root, name string
}

// runs collects changes and has them looked at, all that there are at once: the first
// of them immediately, those that follow after the pause.
type runs struct {
	work func([]change)
	wake chan struct{}

	lock    sync.Mutex
	pending []change
}

func newRuns(work func([]change)) *runs { return &runs{work: work, wake: make(chan struct{}, 1)} }

// ask notes a change.
func (r *runs) ask(c change) {
	r.lock.Lock()
	if !slices.Contains(r.pending, c) {
		r.pending = append(r.pending, c)
	}
	r.lock.Unlock()
	select {
	case r.wake <- struct{}{}:
	default: // there is a call waiting
	}
}

// take returns the changes that were asked for, and forgets them.
func (r *runs) take() []change {
	r.lock.Lock()
	defer r.lock.Unlock()
	pending := r.pending
	r.pending = nil
	return pending
}

// loop has changes looked at until the context ends.
func (r *runs) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
		next := time.NewTimer(pause)
		if changes := r.take(); len(changes) > 0 {
			r.work(changes)
		}
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
	}
}
