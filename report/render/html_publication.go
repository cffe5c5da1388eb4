package render

import (
	"github.com/contextosai/packgate/report/model"
)

// htmlPublished is what the page shows of what became of versions in a registry.
type htmlPublished struct {
	Title   string
	Items   []htmlPublication
	LeftOut string
}

type htmlPublication struct {
	Tone, Mark, Status string
	Name, Since        string
	Place              []piece
	Reasons            []htmlProblem
	Ref                string
	Facts              []htmlFact
	Commands           []htmlCommand
	Fold               string // what to call facts and commands where they are folded
	NotChecked         [][]piece
}

// htmlFact is one thing that is known.
type htmlFact struct {
	Name  string
	Value []piece
}

// htmlCommand is a command in lines, or a sentence where it cannot be shown.
type htmlCommand struct {
	Name     string
	Lines    []string
	Sentence string
}

// openPublications is up to how many publications are shown with all that is known.
const openPublications = 3

// published returns what became of versions in the registry, nil where there is
// nothing to say.
func (v *htmlView) published() *htmlPublished {
	all := published(v.report)
	if len(all) == 0 {
		return nil
	}
	out := &htmlPublished{Title: partTitle(all)}
	out.Items, out.LeftOut = bounded(v, "version", all, func(p model.Publication) htmlPublication {
		item := v.publication(&p)
		if len(all) > openPublications && len(item.Facts)+len(item.Commands) > 0 {
			item.Fold = knownTitle([]model.Publication{p})
		}
		return item
	})
	return out
}

func (v *htmlView) publication(p *model.Publication) htmlPublication {
	l := lookOfPublication(p)
	out := htmlPublication{
		Tone: toneOf(l), Mark: l.mark, Status: l.word, Name: v.text(p.Name()), Since: v.text(sinceWords(p)),
		Place: v.place(v.report.Head, p.Path, 0, 0), Ref: v.text(p.Ref),
	}
	out.Reasons = v.problems(p.Reasons)
	if p.Halted() && len(p.Reasons) == 0 {
		out.Reasons = []htmlProblem{{Hint: v.message(publishTodo([]model.Publication{*p}))}}
	}
	for _, f := range publicationFacts(p) {
		value := say().code(v.text(f.value))
		switch {
		case f.words:
			value = say().plain(v.text(f.value))
		case f.value == p.PullRequest && model.WebURL(f.value):
			value = say().link(f.value, v.text(f.value))
		}
		out.Facts = append(out.Facts, htmlFact{f.name, value.pieces})
	}
	for _, c := range publicationCommands(p) {
		shown := htmlCommand{Name: "Check it " + c.name}
		if lines, ok := copyable(c.line); ok {
			shown.Lines = lines
			v.size += len(c.line)
		} else {
			shown.Sentence = notCopyable
		}
		out.Commands = append(out.Commands, shown)
	}
	for _, n := range p.NotChecked {
		if len(out.NotChecked) == maxPlaces {
			out.NotChecked = append(out.NotChecked, say().plain(leftOut(len(p.NotChecked)-maxPlaces, "skipped check")).pieces)
			break
		}
		out.NotChecked = append(out.NotChecked, v.message(n))
	}
	return out
}

// problems shows errors with their places and remedies.
func (v *htmlView) problems(all []model.Problem) []htmlProblem {
	var out []htmlProblem
	for _, e := range all {
		problem := htmlProblem{Message: v.message(e.Message), Hint: v.message(e.Hint)}
		if e.File != "" {
			problem.Place = v.place(v.report.Head, e.File, e.Line, e.Column)
		}
		out = append(out, problem)
	}
	return out
}

// publishVerdict heads a page on which publications lead.
func (v *htmlView) publishVerdict(p *htmlPage) {
	all := published(v.report)
	l, words := publishTitle(all, v.text)
	p.Verdict, p.Tone, p.Mark = words, toneOf(l), l.mark
	next := publishTodo(all)
	if next == "" {
		return
	}
	if len(all) > 1 {
		p.Todo = say().code(v.text(all[0].Name())).plain(": ").pieces
	}
	p.Todo = append(p.Todo, v.message(next)...)
}
