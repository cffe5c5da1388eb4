package model

import (
	"errors"
	"iter"
)

// Together returns a report for several that look at all of its packs, one after the other, and a
// function that lets them: it runs steps in turn, so that they have the same pack at the same time, which
// is opened once. No two steps run at once. Whoever goes through the packs another time, stops before
// the end or looks at single ones opens those by itself.
func Together(r *Report) (shared *Report, run func(steps []func())) {
	t := &together{at: -1}
	out := *r
	out.Packs.together = t
	return &out, t.run
}

// together is what steps have in common.
type together struct {
	now  *turn // the step that runs; nil where none does
	at   int   // which pack is open
	pack *Pack
}

// turn is one step.
type turn struct {
	in    *together
	wait  func(struct{}) bool // lets the others go on
	taken bool                // it has gone through the packs, or ended
}

var errNobodyWrites = errors.New("nothing is written any more")

// run runs steps. Each waits before it looks at a pack until all others do, or have ended.
func (t *together) run(steps []func()) {
	waiting := make([]func() bool, 0, len(steps))
	for _, step := range steps {
		one := &turn{in: t}
		next, stop := iter.Pull(func(wait func(struct{}) bool) {
			one.wait = wait
			step()
			one.taken = true
		})
		defer stop()
		waiting = append(waiting, func() bool {
			t.now = one
			_, waits := next()
			t.now = nil
			return waits
		})
	}
	for len(waiting) > 0 {
		left := waiting[:0]
		for _, goOn := range waiting {
			if goOn() {
				left = append(left, goOn)
			}
		}
		waiting = left
	}
	t.at, t.pack = -1, nil
}

// take returns the turn of the step that begins to go through all packs; nil where it does so by itself.
func (t *together) take() *turn {
	if t == nil || t.now == nil || t.now.taken {
		return nil
	}
	t.now.taken = true
	return t.now
}

// open returns the pack at an index once it is that of all steps.
func (t *turn) open(at int, one *onePack) *Pack {
	if t == nil {
		return one.open()
	}
	if !t.wait(struct{}{}) {
		panic(&lost{errNobodyWrites})
	}
	if t.in.at != at {
		t.in.pack, t.in.at = nil, -1
		t.in.pack = one.open()
		t.in.at = at
	}
	return t.in.pack
}
