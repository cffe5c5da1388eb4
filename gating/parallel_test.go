package gating

import (
	"context"
	"sync/atomic"
	"testing"
)

// What is done at the same time is taken in order, each once, and never far ahead.
func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 1000} {
		var begun, taken atomic.Int64
		next := 0
		inOrder(t.Context(), n, func(i int) int {
			if ahead := begun.Add(1) - taken.Load(); ahead > 1024 {
				t.Errorf("%d things are done and not taken", ahead)
			}
			return i * i
		}, func(i, square int) bool {
			if i != next || square != i*i {
				t.Errorf("got %d at %d, wanted that of %d", square, i, next)
			}
			next++
			taken.Add(1)
			return true
		})
		if next != n || begun.Load() != int64(n) {
			t.Errorf("%d of %d taken, %d begun", next, n, begun.Load())
		}
	}
}

func TestInOrderStops(t *testing.T) {
	for _, at := range []int{0, 1, 500} {
		last := -1
		inOrder(t.Context(), 1000, func(i int) int { return i }, func(i, _ int) bool {
			last = i
			return i < at
		})
		if last != at {
			t.Errorf("stopped at %d, wanted %d", last, at)
		}
	}
}

// What is begun when the context ends is not waited for, however long it takes.
func TestInOrderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun, never := make(chan int, 100), make(chan struct{})
	defer close(never)
	go func() {
		<-begun
		cancel()
	}()
	used := 0
	inOrder(ctx, 100, func(i int) int {
		if i == 3 {
			begun <- i
			<-never
		}
		return i
	}, func(i, _ int) bool {
		used++
		return true
	})
	if used > 3 {
		t.Errorf("%d results are used, and the one at 3 never came", used)
	}
}
