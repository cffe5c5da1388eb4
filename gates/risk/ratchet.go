package risk

import (
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/proof"
)

// gap is a tool that some request of an intent may have ungated.
type gap struct{ intent, tool string }

// gaps are those of the version that a pack is compared with; nil where there is none,
// or all is as it was.
type gaps map[gap]bool

// gapsBefore returns the gaps of destructive tools that a change found. What is not
// proved to be held may be one, and a version that cannot be compiled has none.
func gapsBefore(p *gate.Pass) gaps {
	if p.Before == nil || p.Before.Pack == nil {
		return nil
	}
	known := gaps{}
	for _, row := range p.Before.Reach().Rows {
		if row.Tool != nil && row.Tool.Destructive() && !row.Held {
			known[gap{row.Intent, row.Capability}] = true
		}
	}
	return known
}

// newest returns the first row of a tool that the change brings, and the first of all
// where it brings none.
func (g gaps) newest(rows []proof.Row) (row proof.Row, fresh bool) {
	at := -1
	if g != nil {
		at = slices.IndexFunc(rows, func(row proof.Row) bool { return !g[gap{row.Intent, row.Capability}] })
	}
	return rows[max(at, 0)], at >= 0
}
