package render

import (
	"github.com/contextosai/packgate/report/model"
)

// known is what is known of a published version besides what its line says, and how
// anybody checks it.
type known struct {
	facts    []fact
	commands []shellCommand
}

// publications are what became of versions in a registry.
func (b *builder) publications(all []model.Publication) *list {
	return &list{noun: "version", n: len(all), item: func(i int) item { return b.publication(&all[i]) }}
}

func (b *builder) publication(p *model.Publication) item {
	it := item{state: lookOfPublication(p), head: strong(p.Name()), known: &known{publicationFacts(p), publicationCommands(p)}}
	if since := sinceWords(p); since != "" {
		it.head = it.head.plain(" (" + since + ")")
	}
	if p.Path != "" {
		it.head = it.head.plain(" ").add(fileNamed(p.Path, p.Path))
	}
	for _, r := range p.Reasons[:min(len(p.Reasons), b.places)] {
		words := message(r.Message)
		if r.File != "" {
			words = at(spot{file: r.File, line: r.Line, column: r.Column}).plain(": ").add(words)
		}
		it.said("", words)
		it.said("→", message(r.Hint))
	}
	if left := len(p.Reasons) - b.places; left > 0 {
		it.said("", plain(leftOut(left, "reason")))
	}
	if p.Halted() && len(p.Reasons) == 0 {
		it.said("→", message(publishTodo([]model.Publication{*p})))
	}
	it.said("", value(p.Ref))
	for _, n := range p.NotChecked[:min(len(p.NotChecked), b.places)] {
		it.said("not checked:", message(n))
	}
	if left := len(p.NotChecked) - b.places; left > 0 {
		it.said("", plain(leftOut(left, "skipped check")))
	}
	return it
}
