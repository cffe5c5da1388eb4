package proof

import (
	"slices"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// Found is what requests can reach, as it was proved for a model.
type Found struct {
	of    *Model
	reach Reach
}

// Found returns the reach of the pack if it was asked for already, nil otherwise.
func (m *Model) Found() *Found { return m.found.Load() }

// Again sets the reach of the model to what was found for another one, with the places of this one, and
// returns the model. The other one must be of a pack that permits the same and is written alike. Again
// must be called before anything is asked; nil changes nothing.
func (m *Model) Again(f *Found) *Model {
	if f == nil || len(f.of.Tools) != len(m.Tools) || f.of.broken != m.broken {
		return m
	}
	m.reach = sync.OnceValue(func() Reach {
		r := Reach{slices.Clone(f.reach.Rows), f.reach.Broken}
		for i := range r.Rows {
			row := &r.Rows[i]
			if at := slices.Index(f.of.Tools, row.Tool); at >= 0 { // the last row may name none
				row.Tool = m.Tools[at]
			}
			row.When = m.raised(row.Gates)
		}
		m.found.Store(&Found{m, r})
		return r
	})
	return m
}

// raised returns the conditions of gates, in declaration order.
func (m *Model) raised(gates []string) (when []*pack.Node) {
	for _, g := range m.Gates {
		if slices.Contains(gates, g.ID) {
			when = append(when, g.ApprovalGate.When)
		}
	}
	return when
}
