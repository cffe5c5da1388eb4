package publish

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextosai/packgate/publish/statement"
)

// move is one signed record that an environment was moved to a version, or stopped.
type move struct {
	PinRecord
	to *holding
}

// moves returns the moves of an environment in their order.
func (s *survey) moves(environment string) (out []move) {
	for _, h := range s.holdings {
		for _, p := range h.pins {
			if p.Environment == environment {
				out = append(out, move{p, h})
			}
		}
	}
	slices.SortFunc(out, func(a, b move) int { return cmp.Or(a.compare(b.Signing), strings.Compare(a.to.digest, b.to.digest)) })
	return out
}

// wayBack returns where an environment is, nil where it was stopped or never pinned, and
// the moves that it can go back to, the newest first: those that no rollback and no stop
// has left behind.
func wayBack(moves []move) (now *move, back []move) {
	for _, m := range moves {
		if now != nil && now.to.digest != m.to.digest {
			back = append(back, *now)
		}
		at := slices.IndexFunc(back, func(before move) bool { return before.to.digest == m.to.digest })
		if m.By == statement.ByRollback && at >= 0 {
			// What was gone back over is left behind, and so is what was left.
			back = back[:at]
		}
		now = &m
		if m.Stopped {
			now = nil
			back = slices.DeleteFunc(back, func(before move) bool { return before.to.digest == m.to.digest })
		}
	}
	slices.Reverse(back)
	return now, back
}
