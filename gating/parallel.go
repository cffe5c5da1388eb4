package gating

import (
	"context"
	"runtime"
)

// aheadPerWorker bounds how much is done whose result has not been used yet, so that a
// slow first thing does not keep all the others in memory.
const aheadPerWorker = 4

// inOrder does n things, as many at a time as there are processors, and uses the results
// in their order, one after the other. It ends where use returns false, and when the
// context ends: what was begun by then is thrown away, and is not waited for.
func inOrder[T any](ctx context.Context, n int, do func(i int) T, use func(i int, t T) bool) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers == 0 {
		return
	}
	slots := make([]chan T, workers*aheadPerWorker)
	for i := range slots {
		slots[i] = make(chan T, 1)
	}
	next, stop := make(chan int), make(chan struct{})
	for range workers {
		go func() {
			for i := range next {
				slots[i%len(slots)] <- do(i)
			}
		}()
	}
	// A slot is given out again only after what was in it has been used.
	free := make(chan struct{}, len(slots))
	go func() {
		defer close(next)
		for i := range n {
			select {
			case free <- struct{}{}:
			case <-stop:
				return
			}
			select {
			case next <- i:
			case <-stop:
				return
			}
		}
	}()
	defer close(stop)
	for i := range n {
		select {
		case t := <-slots[i%len(slots)]:
			<-free
			if !use(i, t) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
