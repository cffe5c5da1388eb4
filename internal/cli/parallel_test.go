package cli

import (
	"sync/atomic"
	"testing"
)

// What is done at the same time is taken in order, each once, and never far ahead.
func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 1000} {
		var begun, taken atomic.Int64
		next := 0
		inOrder(n, func(i int) int {
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
		inOrder(1000, func(i int) int { return i }, func(i, _ int) bool {
			last = i
			return i < at
		})
		if last != at {
			t.Errorf("stopped at %d, wanted %d", last, at)
		}
	}
}
