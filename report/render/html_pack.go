package render

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// htmlPack is what the page shows of one pack.
type htmlPack struct {
	ID         string
	Title      string
	Tone, Mark string
	Todo       []htmlPiece
	About      []htmlPiece
	Gates      []htmlGate
	Contents   []htmlLink
	Sections   []htmlSection
	Playground *htmlPlayground
}

// htmlLink leads to a place of the page.
type htmlLink struct{ ID, Title string }

type htmlGate struct {
	Tone, Mark, Name, Words string
}

func (v *htmlView) pack(p *model.Pack, number int) htmlPack {
	out := htmlPack{
		ID: fmt.Sprintf("p%d", number), Title: titleOf(p, v.text), Tone: tone(string(p.Result)), Mark: looks[string(p.Result)].mark,
		Todo: v.say(todoWords(todoOf(p))), About: v.about(p),
	}
	if v.alone() { // the heading of the page says it
		out.Title, out.Todo = v.text(p.Name()), nil
	}
	for group := range gateGroups(p.Gates) {
		out.Gates = append(out.Gates, v.gate(group))
	}
	for _, s := range v.builder.pack(p) {
		out.Sections = append(out.Sections, v.section(&s, out.ID))
	}
	out.Playground = v.playground(p, out.ID)
	out.contents()
	return out
}

// mostWithoutContents is up to how many parts of a pack need no list of them.
const mostWithoutContents = 2

// contents lists the parts of a pack where there are many.
func (out *htmlPack) contents() {
	if len(out.Sections) <= mostWithoutContents {
		return
	}
	for _, s := range out.Sections {
		out.Contents = append(out.Contents, htmlLink{s.ID, s.Title})
	}
	if out.Playground != nil {
		out.Contents = append(out.Contents, htmlLink{out.Playground.ID, "Compile it yourself"})
	}
}

// about says where a pack stands, and which bytes it is.
func (v *htmlView) about(p *model.Pack) []htmlPiece {
	words := at(spot{file: p.Path})
	if p.Digest != "" {
		words = words.plain(" · ").code(p.Digest)
	}
	return v.say(words.plain(" · " + counts(p)))
}

func (v *htmlView) gate(group []model.Gate) htmlGate {
	g := group[0]
	var names []string
	for _, each := range group {
		names = append(names, v.text(each.Gate))
	}
	words := gateWord(g)
	if g.Status == "not_checked" {
		words = "not checked: " + v.text(g.Reason)
	}
	return htmlGate{tone(g.Status), looks[g.Status].mark, strings.Join(names, ", "), words}
}
