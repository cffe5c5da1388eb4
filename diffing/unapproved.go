package diffing

import (
	"slices"

	"github.com/contextosai/packgate/proof"
)

// unapproved returns the units by which a destructive tool comes to be open for an intent
// with no approval gate named for it, and was not in the base: whether it was added, its
// gate taken away, or its mode raised. It is what RSK002 reports of the head.
func (p *proving) unapproved() map[int]bool {
	own := map[int]bool{}
	rows := p.models[1].Unapproved()
	if len(rows) == 0 {
		return own
	}
	known := map[[2]string]bool{}
	for _, row := range p.models[0].Unapproved() {
		known[[2]string{row.Intent, row.Capability}] = true
	}
	for _, row := range rows {
		if row.Tool != nil && !known[[2]string{row.Intent, row.Capability}] {
			for _, i := range p.opening(row) {
				own[i] = true
			}
		}
	}
	return own
}

// opening returns the units that can have made a tool unapproved: those that are about
// it or about who names a gate for it, else those that can have brought it within reach,
// else the nearest ones.
func (p *proving) opening(row proof.Row) (own []int) {
	at := proof.Change{Intent: row.Intent, Kind: proof.Tool, Subject: row.Capability}
	names := []*proof.Change{}
	for _, g := range p.models[0].Gates {
		named := at
		named.Kind, named.Holder, named.Arg = proof.Gate, proof.Tool, g.ID
		names = append(names, &named)
	}
	for i := range p.units {
		r := &p.reaches[i]
		if slices.Contains(r.tools, row.Capability) && r.toolAspect(&at) ||
			p.units[i].part() != "if" && slices.ContainsFunc(names, func(e *proof.Change) bool { return p.relates(r, e) }) {
			own = append(own, i)
		}
	}
	if own == nil {
		own = p.relating(&at)
	}
	if own == nil {
		own = p.nearest()
	}
	return own
}
