package build

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/report/model"
)

// NewPromotion returns what is said of a line of a pins file: of the version with the files
// beside it, nil where these are not known, how it compares with what the environment runs, what
// was found, and what is not known. Whose line it is, and its Result, are left to the caller.
func NewPromotion(s *gate.Subject, c Comparison, found []finding.Finding, missed []finding.NotChecked) model.Pack {
	p := newEntry(model.Pack{Kind: model.KindPromotion}, found)
	if s != nil {
		all := NewPack(s, gates.Result{Findings: found, NotChecked: missed}, c, nil)
		p.Findings, p.Diff, p.ToolSurface, p.Guardrails, p.Golden, p.NotChecked = all.Findings, all.Diff, all.ToolSurface, all.Guardrails, all.Golden, all.NotChecked
		p.Coverage, p.Evidence, p.Intents = all.Coverage, all.Evidence, all.Intents
	} else {
		p.NotChecked = append(p.NotChecked, missed...)
	}
	if c.First {
		p.Class = model.ClassInitial
	}
	return p
}
