package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// control is what weakens what holds agents back, or may alter what they can do, beside all that
// is proved about requests.
type control struct {
	changes []*model.Change
	lead    sentence // what became of it
	proved  bool     // and it is certain that it is weaker
}

// words say what became of a control, what was typed, and where, of most changes.
func (c *control) words(most int) sentence {
	return c.lead.add(series(" · ", few(c.changes, most, func(one *model.Change) sentence {
		return editWords(one).add(c.reason(one))
	}, func(left int) sentence { return plain(more(left, "change")) })...))
}

// reason says why a change leaves open what agents can do.
func (c *control) reason(of *model.Change) sentence {
	if c.proved {
		return nil
	}
	return plain(" (").message(of.Reason).plain(")")
}

// controlsOf returns the controls that a change weakens: first all that no proof about requests
// sees, as one, then the controls of the pack and of its environments, and last what is said about the pack as a whole.
func controlsOf(p *model.Pack) (all []control) {
	unseen := those(p.Diff.Changes(), func(c *model.Change) bool { return c.BeyondProof })
	if len(unseen) > 0 {
		unseen = ranked(unseen, func(c *model.Change) int { return unseenRank(p, c) })
		all = append(all, control{changes: unseen, lead: plain("What agents can do is ").add(strong("not proved")).plain(": ")})
	}
	add := func(loosened []model.Loosened, lead func(l *model.Loosened) sentence) {
		for i := range loosened {
			if l := &loosened[i]; bareControl(l) {
				all = append(all, control{changes: []*model.Change{&l.Change}, lead: lead(l).plain(": "), proved: true})
			}
		}
	}
	add(p.Diff.Loosened, func(l *model.Loosened) sentence { return message(sentenceCase(l.What)) })
	for _, e := range p.Environments {
		add(e.Loosened, func(l *model.Loosened) sentence { return plain("In ").code(e.Environment).plain(", ").message(l.What) })
	}
	return ranked(all, func(c control) int { return behind(c.proved && strings.HasPrefix(c.changes[0].Path, meta)) })
}

// unseenRank orders changes that no proof sees: those of adapters first, by the most that their tools can do.
func unseenRank(p *model.Pack, c *model.Change) int {
	if !strings.HasPrefix(c.Path, adapters) {
		return 1
	}
	rank, tools := 0, pack.ThingAt(c.Path).Name+"."
	for _, r := range p.ToolSurface {
		if strings.HasPrefix(r.Capability, tools) {
			rank = min(rank, rankOf(r.ApprovalMode))
		}
	}
	return rank
}

// meta begins the paths of what is said about a pack as a whole.
const meta = "/pack_meta/"

// bareControl reports whether a control is weaker of which the effects on requests do not tell:
// because no proof is about it, or because a tool only declares itself less dangerous.
func bareControl(l *model.Loosened) bool {
	return relabelled(&l.Change) || bareGuardrail(l) || l.Change.Proof == nil && grew(l.Verdict) && strings.HasPrefix(l.Change.Path, meta)
}

// relabelled reports whether a change is of the mode that an adapter declares, relabels whether a
// control is such a change.
func relabelled(c *model.Change) bool {
	return strings.HasPrefix(c.Path, adapters) && pack.ThingAt(c.Path).Member == "approval_mode"
}

func relabels(c control) bool { return slices.ContainsFunc(c.changes, relabelled) }

// alsoWeaker counts the controls for which the box of what is dangerous has no room, by what became
// of them.
func alsoWeaker(left []control) sentence {
	if len(left) == 0 {
		return nil
	}
	counts := map[string]int{}
	var kinds []string
	for _, c := range left {
		kind := uncapital(strings.TrimSuffix(c.lead.words(), ": "))
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	return strong("Also").plain(" " + more(len(left), "weaker control") + ": ").add(among(kinds, maxKinds, "kind", func(kind string) sentence {
		if n := counts[kind]; n > 1 {
			return message(kind).plain(fmt.Sprintf(" (%d)", n))
		}
		return message(kind)
	})).plain(".")
}

// maxKinds is how many kinds of controls stand in a line.
const maxKinds = 5
