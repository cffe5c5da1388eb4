package reporttest

import (
	"slices"

	"github.com/contextosai/packgate/finding"
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
			there := finding.Tally{Missing: g.Reason != ""}
			for _, f := range p.Findings {
				switch {
				case f.Gate != g.Gate || f.Excused():
				case f.Severity == "error":
					there.Errors++
				default:
					there.Warnings++
				}
				there.Undecided = there.Undecided || f.Gate == g.Gate && !f.Excused() && f.Rule == finding.NotProved
			}
			there.Partial = slices.ContainsFunc(p.NotChecked, func(n model.NotChecked) bool { return n.Gate == g.Gate && n.CouldNotRun() })
			g.Errors, g.Warnings, g.Status = there.Errors, there.Warnings, string(there.Status())
		}
		packs = append(packs, one)
	}
	out.Packs = model.PacksOf(packs...)
	return &out
}
