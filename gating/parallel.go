package gating

import (
	"context"
	"runtime"
)

// aheadPerWorker bounds how much is done whose result has not been used yet, so that a
// slow first thing does not keep all the others in memory.
const aheadPerWorker = 4

// inOrder calls do for 0 to n-1, as many at a time as there are processors, and use for the results one
// after the other, in order. It ends when use returns false or the context ends, and does not wait for
// calls of do that have not returned.
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

// ofEach returns what find gives for each name, several at a time. The error is the first one in the order of the names.
func ofEach[T any](names []string, find func(name string) (T, error)) (all []T, err error) {
	type found struct {
		of  T
		err error
	}
	all = make([]T, len(names))
	inOrder(context.Background(), len(names), func(i int) (f found) {
		f.of, f.err = find(names[i])
		return f
	}, func(i int, f found) bool {
		all[i], err = f.of, f.err
		return err == nil
	})
	return all, err
}
