package build

import (
	"fmt"
	"strconv"
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
	w.Block = fmt.Sprintf("waivers:\n  - rule: %s\n    pack: %s\n", r.ID, strconv.Quote(id))
	switch {
	case r.Named() && f.Thing == "":
		return model.Waiving{Why: "a waiver cannot name what this finding is about"}
	case r.Named():
		w.Block += "    of: " + strconv.Quote(f.Thing) + "\n"
	case f.Path != "":
		w.Block += "    path: " + strconv.Quote(f.Path) + "\n"
	}
	w.Block += "    reason: \"\"  # why the finding is accepted\n    owner: \"\"  # who answers for it\n    expires: \"\"  # the last day, such as 2027-03-31\n"
	if r.NoWaiver == gate.InStrict {
		w.Why = "only without strict: " + w.Why
	}
	return w
}
