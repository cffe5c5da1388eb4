package render

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// brought is one thing that a change brings to an environment, what loosens first.
type brought struct {
	item
	rank int
}

// environments say what a change brings to environments by their overlays and catalogs.
func (b *builder) environments(all []model.Environment) section {
	var items []brought
	for i := range all {
		e := &all[i]
		for j := range e.Changes {
			items = append(items, b.inEnvironment(e, &e.Changes[j]))
		}
		for _, l := range effectLines(e.Effects) {
			items = append(items, brought{item{head: inside(e).plain(l.word), text: message(l.what).request(", for example ", l.seen)}, 2})
		}
		if e.NotCompared != "" {
			items = append(items, brought{item{state: looks["warning"], head: inside(e).plain("the pack with its overlays is not compared"), text: message(e.NotCompared)}, 0})
		}
	}
	items = ranked(items, func(one brought) int { return one.rank })
	s := section{id: "environments", title: "Environments", words: environmentWords(all)}
	return s.of(listOf(list{noun: "environment change"}, items, func(one *brought) item { return one.item }))
}

// loosening returns what a change weakens in an environment, nil for nothing.
func loosening(e *model.Environment, c *model.Change) *model.Loosened {
	return firstOf(e.Loosened, func(l *model.Loosened) bool { return l.Change.Path == c.Path && l.Change.Row == c.Row })
}

// inside begins what is said of an environment.
func inside(e *model.Environment) sentence { return plain("in ").code(e.Environment).plain(": ") }

// inEnvironment shows a change, and whether it weakens a guardrail.
func (b *builder) inEnvironment(e *model.Environment, c *model.Change) brought {
	it := item{state: classLook(c.Class), head: inside(e).plain(c.Kind + " ").code(c.Path), at: changedAt(*c), sides: c, text: message(changeReason(*c))}
	if c.Path == "" {
		it.head = inside(e).plain("the catalog is " + c.Kind)
	}
	weaker := loosening(e, c)
	if weaker == nil {
		return brought{it, 1}
	}
	words := weaker.What
	if weaker.Verdict == "undecided" {
		words += " (not proved)"
	}
	it.said("loosened:", message(words).request(", for example ", weaker.Witness))
	return brought{it, 0}
}

// environmentWords name environments with what their classes are.
func environmentWords(all []model.Environment) string {
	words := few(all, maxEnvironments, func(e model.Environment) string { return fmt.Sprintf("class %s in %q", e.Class, e.Environment) },
		func(left int) string { return fmt.Sprintf("%d more environments", left) })
	return strings.Join(words, ", ")
}

// maxEnvironments is how many environments a line names.
const maxEnvironments = 3
