package proof

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// Described is for which requests a row of the surface holds.
type Described struct {
	Available *When // requests that have the tool
	Open      *When // those that have it with none of its gates active
}

// DescribeRows returns for which requests the rows of the pack's surface hold, in the order of the
// rows. It is empty for a row without a tool.
func (m *Model) DescribeRows(rows []Row, s jsonlogic.Solver) []Described {
	r := &describer{survey: &survey{comparison: &comparison{
		head: m, prover: newProver(s, m), results: map[compile]*outcome{}, table: &table{},
	}}, scenes: map[string]*scene{}, whens: map[described]*When{}}
	r.headPlaces = r.table.add(m)
	all := make([]Described, len(rows))
	for i := range rows {
		if rows[i].Tool != nil && m.broken == "" {
			all[i] = r.row(&rows[i])
		}
	}
	return all
}

// describer describes the rows of one surface.
type describer struct {
	*survey
	scenes map[string]*scene
	whens  map[described]*When
}

// described identifies a condition: tools with the same sign are there for the same requests.
type described struct {
	intent, gates string
	tool          sign
}

func (r *describer) row(row *Row) (d Described) {
	s := r.scenes[row.Intent]
	if s == nil {
		s = r.head.alone(r.table, r.headPlaces, row.Intent)
		r.scenes[row.Intent] = s
	}
	x := item{tool: row.Capability}
	surfaced := func(o *outcome) bool { return o.permits(x) }
	if row.Reach == nil {
		d.Available = &When{NotProved: row.Reason}
	} else {
		d.Available = r.when(s, row.Tool, nil, surfaced)
	}
	switch {
	case len(row.Gates) == 0:
		d.Open = d.Available
	case row.Held:
		d.Open = &When{}
	case row.Ungated == nil:
		d.Open = &When{NotProved: row.Reason}
	default:
		d.Open = r.when(s, row.Tool, row.Gates, func(o *outcome) bool {
			return surfaced(o) && !slices.ContainsFunc(row.Gates, func(id string) bool { return o.gated(id, x) })
		})
	}
	return d
}

// when returns for which requests a tool is there with none of some gates active.
func (r *describer) when(s *scene, t *policy.Tool, gates []string, shown func(*outcome) bool) *When {
	name := described{s.intent, s.gatesAt(gates), s.sign(t.String())}
	if known := r.whens[name]; known != nil {
		return known
	}
	probes := s.allowing(t, append(s.around(t), s.unraised(gates)...))
	d := description{of: union(probes), sides: []*Model{s.Model}, confirm: func(witness map[string]any) bool { return shown(r.compiled(s, witness)) }}
	d.within, d.idle = ground(s, s)
	w := r.prover.when(d, s.ceilings)
	r.whens[name] = &w
	return &w
}
