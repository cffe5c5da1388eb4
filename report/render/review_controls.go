package render

import (
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// control is a change that weakens what holds agents back, or that may alter what they can do,
// beside all that is proved about requests.
type control struct {
	change *model.Change
	lead   sentence // what became of it
	behind sentence
	proved bool // and it is certain that it is weaker
}

// words say what became of a control, what was typed, and where.
func (c *control) words() sentence { return c.lead.add(editWords(c.change), c.behind) }

// controlsOf returns the controls that a change weakens: first what no proof about requests sees,
// then the controls of the pack, and then those of its environments.
func controlsOf(p *model.Pack) (all []control) {
	for _, c := range p.Diff.Changes() {
		if c.BeyondProof {
			all = append(all, control{change: c, lead: plain("What agents can do is ").add(strong("not proved")).plain(": "), behind: plain(" (").message(c.Reason).plain(")")})
		}
	}
	add := func(loosened []model.Loosened, lead func(l *model.Loosened) sentence) {
		for i := range loosened {
			if l := &loosened[i]; bareControl(l) {
				all = append(all, control{change: &l.Change, lead: lead(l).plain(": "), proved: true})
			}
		}
	}
	add(p.Diff.Loosened, func(l *model.Loosened) sentence { return message(sentenceCase(l.What)) })
	for _, e := range p.Environments {
		add(e.Loosened, func(l *model.Loosened) sentence { return plain("In ").code(e.Environment).plain(", ").message(l.What) })
	}
	return all
}

// bareControl reports whether a control is weaker of which the effects on requests do not tell:
// because no proof is about it, or because a tool only declares itself less dangerous.
func bareControl(l *model.Loosened) bool {
	thing := pack.ThingAt(l.Change.Path)
	relabelled := strings.HasPrefix(l.Change.Path, adapters) && thing.Member == "approval_mode"
	return relabelled || bareGuardrail(l) || l.Change.Proof == nil && grew(l.Verdict) && strings.HasPrefix(l.Change.Path, "/pack_meta/")
}

// alsoWeaker are the controls for which the box of what is dangerous has no room.
func alsoWeaker(left []control) sentence {
	if len(left) == 0 {
		return nil
	}
	words := few(left, maxEdits, func(c control) sentence { return c.words() }, func(n int) sentence { return plain(more(n, "weaker control")) })
	return strong("Also").plain(" ").add(series(" · ", words...))
}
