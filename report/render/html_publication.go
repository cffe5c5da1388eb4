package render

import "github.com/contextosai/packgate/report/model"

// htmlPublished is what the page shows of what became of versions in a registry.
type htmlPublished struct {
	Title string
	List  htmlNode
}

// htmlKnown is what is known of a version; Fold is what to call it where it is folded.
type htmlKnown struct {
	Fold     string
	Facts    []htmlFact
	Commands []htmlCommand
}

// htmlFact is one thing that is known.
type htmlFact struct {
	Name  string
	Value htmlPiece
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
	number := 0
	out := &htmlPublished{Title: partTitle(all), List: v.node(v.publications(all), "published", &number)}
	for i := range out.List.Items {
		if k := out.List.Items[i].Known; k != nil && len(all) > openPublications {
			k.Fold = knownTitle(all[i : i+1])
		}
	}
	return out
}

// known returns what is known of a version, nil for nothing.
func (v *htmlView) known(k *known) *htmlKnown {
	if k == nil || len(k.facts)+len(k.commands) == 0 {
		return nil
	}
	out := &htmlKnown{}
	for _, f := range k.facts {
		shown := htmlPiece{Text: v.text(f.value), Code: !f.words, Plain: f.words}
		if f.name == pullRequestFact && model.WebURL(f.value) {
			shown = v.link(f.value, v.text(f.value))
		}
		out.Facts = append(out.Facts, htmlFact{f.name, shown})
	}
	for _, c := range k.commands {
		shown := htmlCommand{Name: "Check it " + c.name}
		if lines, ok := copyable(c.line); ok {
			shown.Lines = lines
			v.size += len(c.line)
		} else {
			shown.Sentence = notCopyable
		}
		out.Commands = append(out.Commands, shown)
	}
	return out
}

// publishVerdict heads a page on which publications lead.
func (v *htmlView) publishVerdict(p *htmlPage) {
	all := published(v.report)
	l, words := publishTitle(all, v.text)
	p.Verdict, p.Tone, p.Mark = words, toneOf(l), l.mark
	p.Todo = v.say(publishTodoWords(all))
}
