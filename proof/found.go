package proof

import (
	"slices"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// Found is what requests can reach, as it was proved of a model.
type Found struct {
	of    *Model
	reach Reach
}

// Found returns the reach of the pack where it was asked for already, nil where it was not.
func (m *Model) Found() *Found { return m.found.Load() }

// Again returns the model, whose reach is what was found of another one, with the places of this
// one: that of a pack which permits the same, written alike. It is called before anything is
// asked; nil changes nothing.
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

// raised returns when gates are, in their order.
func (m *Model) raised(gates []string) (when []*pack.Node) {
	for _, g := range m.Gates {
		if slices.Contains(gates, g.ID) {
			when = append(when, g.ApprovalGate.When)
		}
	}
	return when
}
