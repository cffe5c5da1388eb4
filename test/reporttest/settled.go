package reporttest

import (
	"slices"

	"github.com/contextosai/packgate/report/model"
)

// Settled returns a report whose gates say what follows from its findings and from what did
// not run, as reports that were stored do.
func Settled(r *model.Report) *model.Report {
	out := *r
	var packs []model.Pack
	for _, p := range r.Packs.All() {
		one := *p
		one.Gates = slices.Clone(p.Gates)
		for i := range one.Gates {
			g := &one.Gates[i]
			there := p.Tally(*g)
			g.Errors, g.Warnings, g.Status = there.Errors, there.Warnings, string(there.Status())
		}
		packs = append(packs, one)
	}
	out.Packs = model.PacksOf(packs...)
	return &out
}
