package build

import (
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/report/model"
)

// NewStory returns all that a report says of a finding of one of its packs, with its rule and
// how it is waived.
func NewStory(p *model.Pack, f model.Finding) model.Story {
	s := p.Story(f)
	s.Rule = model.Rule{ID: f.Rule, Page: model.RuleURL(f.Rule)}
	if r, _ := gates.Find(f.Rule); r != nil { // a report may be of another version, with other rules
		s.Rule.Title, s.Rule.Doc = r.Title, r.Doc
		s.Waiving = waivingOf(r, p, f)
	}
	return s
}

// waivingOf returns the lines of the config that waive a finding, in a form that YAML reads
// back as it is.
func waivingOf(r *gate.Rule, p *model.Pack, f model.Finding) model.Waiving {
	w := model.Waiving{Why: r.WhyNot}
	id, _, _ := strings.Cut(p.Pack, "@")
	if r.NoWaiver == gate.Always || id == "" {
		return w
	}
	if r.Named() && f.Thing == "" {
		return model.Waiving{Why: "a waiver cannot name what this finding is about"}
	}
	w.Block = "waivers:\n" + f.Waiver(id)
	if r.NoWaiver == gate.InStrict {
		w.Why = "only without strict: " + w.Why
	}
	return w
}
