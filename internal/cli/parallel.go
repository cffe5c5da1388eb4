package cli

import (
	"runtime"
	"sync"
)

// aheadPerWorker bounds how much is done that nobody has taken yet, so that a slow
// first thing does not keep all the others in memory.
const aheadPerWorker = 4

// inOrder does n things, as many at a time as there are processors, and takes what
// comes of them in their order, one after the other. It stops where take returns
// false; what was begun by then is thrown away.
func inOrder[T any](n int, do func(i int) T, take func(i int, t T) bool) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for i := range n {
			if !take(i, do(i)) {
				return
			}
		}
		return
	}
	slots := make([]chan T, workers*aheadPerWorker)
	for i := range slots {
		slots[i] = make(chan T, 1)
	}
	next, stop := make(chan int), make(chan struct{})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				slots[i%len(slots)] <- do(i)
			}
		})
	}
	// A slot is given out again only after what was in it has been taken.
	free := make(chan struct{}, len(slots))
	wg.Go(func() {
		defer close(next)
		for i := range n {
			select {
			case free <- struct{}{}:
			case <-stop:
				return
			}
			next <- i
		}
	})
	for i := range n {
		t := <-slots[i%len(slots)]
		<-free
		if !take(i, t) {
			break
		}
	}
	close(stop)
	wg.Wait()
}
