package render

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// How the nodes of a tree look in Markdown: tables and all but the first items are folded.

// section writes a section as a part that one has to unfold.
func (m *markdown) section(s *section) {
	m.fold(sentenceCase(cmp.Or(s.words, s.title)), s.nodes)
}

// nodes writes nodes as they are open.
func (m *markdown) nodes(all []node) {
	for _, n := range all {
		m.node(n)
	}
}

func (m *markdown) node(n node) {
	switch n := n.(type) {
	case sentence:
		if len(n) > 0 {
			m.paragraph("%s", m.say(n))
		}
	case alert:
		m.alert(n)
	case steps:
		lines := make([]string, len(n))
		for i, s := range n {
			lines[i] = fmt.Sprintf("%d. %s\n", i+1, m.say(s))
		}
		m.add(part{noun: "step", lines: lines, closing: "\n"})
	case fold:
		m.fold(n.words, n.nodes)
	case listing:
		m.add(part{lines: []string{strings.Join(fencedIn(n.language, n.text), "\n") + "\n\n"}})
	case known:
		m.add(part{noun: "line", lines: each(n, factLine), closing: "\n"})
	case shellCommand:
		m.paragraph("Check it %s:", n.name)
		m.paragraph("%s", strings.Join(fenced(n.line), "\n"))
	case *list:
		m.listed(n)
	case *table:
		m.table(n)
	}
}

// alertKinds lead from the tone of a verdict to the box that has its colour.
var alertKinds = map[string]string{"red": "CAUTION", "yellow": "WARNING", "green": "NOTE"}

// alert writes a box, in which several things are a list.
func (m *markdown) alert(a alert) {
	out := "> [!" + alertKinds[a.tone.color] + "]\n"
	for _, s := range a.items {
		bullet := ""
		if len(a.items) > 1 {
			bullet = "- "
		}
		out += "> " + bullet + m.say(s) + "\n"
	}
	for _, s := range a.below {
		out += ">\n> " + m.say(s) + "\n"
	}
	m.add(part{lines: []string{out + "\n"}})
}

// listed writes a list, of which the first items stand open.
func (m *markdown) listed(l *list) {
	all, unsaid := writtenLines(l.n, func(i int) string {
		it := l.item(i)
		return m.item(&it) + "\n"
	})
	m.open(part{noun: l.noun, lines: all, unsaid: unsaid}, l.open)
}

// open writes the first lines of a list or table openly, all of them for 0, and folds the rest.
func (m *markdown) open(p part, most int) {
	if most == 0 || m.folded > 0 {
		most = len(p.lines)
	}
	most = min(most, len(p.lines))
	rest := p
	p.lines, p.closing = rest.lines[:most], "\n"
	rest.lines = rest.lines[most:]
	if len(rest.lines) > 0 {
		p.unsaid = 0
	}
	if most > 0 {
		m.add(p)
	}
	if len(rest.lines) == 0 {
		return
	}
	rest.title = more(len(rest.lines)+rest.unsaid, rest.noun)
	rest.opening, rest.closing = summary(rest.title)+rest.opening, "\n</details>\n\n"
	m.rank += foldRank
	m.add(rest)
	m.rank -= foldRank
}

func (m *markdown) table(t *table) {
	if t.n == 0 {
		return
	}
	head := each(t.columns, func(c column) string { return c.name })
	rule := slices.Repeat([]string{"---"}, len(head))
	if t.words != "" {
		m.paragraph("%s", HTML(sentenceCase(t.words)))
	}
	rows, unsaid := writtenLines(t.n, func(i int) string {
		return cells(each(t.row(i).cells, func(s sentence) string { return cmp.Or(m.say(s), "none") })...) + "\n"
	})
	m.open(part{noun: t.noun, opening: cells(head...) + "\n" + cells(rule...) + "\n", lines: rows, unsaid: unsaid}, t.open)
}

func (m *markdown) item(it *item) string {
	s := "- " + m.state(it.state)
	s = strings.TrimRight(s, " ") + " " + m.say(it.head)
	s = strings.TrimRight(s, " ")
	if it.at.file != "" {
		s += " " + m.place(it.at)
	}
	if words := m.say(it.text); words != "" {
		if s != "-" && it.sides == nil && !strings.HasSuffix(s, "-") && (it.at.file != "" || len(it.head) > 0) {
			s += ":"
		}
		if it.sides != nil {
			s += m.excerpts(it.sides) + "<br>" + words
		} else {
			s += " " + words
		}
	}
	for _, l := range it.lines {
		s += "<br>" + strings.TrimLeft(Markdown(l.lead)+" "+strings.Join(each(l.words, m.say), " · "), " ")
	}
	return s
}

// excerpts shows what differs of the two values of a change.
func (m *markdown) excerpts(c *model.Change) string {
	before, after := excerpts(string(c.Old), string(c.New), 60)
	if before == "" || after == "" || before == after {
		return ""
	}
	return "<br>" + Code(before) + " → " + Code(after)
}

func (m *markdown) state(l look) string {
	if l.emoji == "" && l.word != "" {
		return "**" + Markdown(l.word) + "**"
	}
	return strings.TrimSpace(l.emoji + " " + Markdown(l.word))
}

func (m *markdown) say(s sentence) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		p := s[i]
		switch p.kind {
		case plainPiece:
			for ; i+1 < len(s) && s[i+1].kind == plainPiece; i++ {
				p.text += s[i+1].text // what is a link only where both stand together
			}
			b.WriteString(Markdown(p.text))
		case messagePiece:
			b.WriteString(Message(p.text))
		case codePiece, innerPiece:
			b.WriteString(Code(p.text))
		case strongPiece, addedPiece:
			b.WriteString(outer("**", p.text))
		case struckPiece:
			b.WriteString(outer("~~", p.text))
		case rulePiece:
			b.WriteString(ruleLink(p.text))
		case statePiece:
			b.WriteString(m.state(p.look))
		case placePiece:
			if p.text != "" {
				b.WriteString(linkNamed(m.builder.revision(p.at), p.at.file, p.at.line, p.text))
			} else {
				b.WriteString(m.place(p.at))
			}
		case breakPiece:
			b.WriteString("<br>")
		}
	}
	return b.String()
}

// outer puts marks around the words of a text: none of them may be beside a blank.
func outer(mark, text string) string {
	words := strings.TrimSpace(text)
	if words == "" {
		return Markdown(text)
	}
	before, after, _ := strings.Cut(text, words)
	return before + mark + Markdown(words) + mark + after
}

// ruleLink names a rule and links to its page.
func ruleLink(id string) string {
	if target := model.RuleURL(id); target != "" {
		return "[" + Markdown(id) + "](<" + target + ">)"
	}
	return Markdown(id)
}

// place shows a place and links to it at the commit that it is of.
func (m *markdown) place(s spot) string {
	words := path.Base(s.file)
	if s.line > 0 {
		words = fmt.Sprintf("%s:%d", words, s.line)
	}
	words = linkNamed(m.builder.revision(s), s.file, s.line, words)
	if s.base {
		words += " of the base"
	}
	return words
}

// summary opens what one has to unfold. Only behind a blank line GitHub reads Markdown.
func summary(words string) string { return "<details><summary>" + HTML(words) + "</summary>\n\n" }

// fold writes nodes that one has to unfold.
func (m *markdown) fold(words string, nodes []node) {
	m.folds(words, "line", m.written(nodes))
}

// folds writes lines that one has to unfold, from the end of which some may go.
func (m *markdown) folds(words, noun string, lines []string) {
	if len(lines) == 0 {
		return
	}
	m.rank += foldRank
	m.add(part{title: words, noun: noun, opening: summary(words), lines: lines, closing: "</details>\n\n"})
	m.rank -= foldRank
}

// written returns the lines of nodes within a fold.
func (m *markdown) written(nodes []node) (lines []string) {
	inner := &markdown{report: m.report, builder: m.builder, folded: m.folded + 1}
	inner.nodes(nodes)
	for _, p := range inner.parts {
		if len(p.lines) == 0 {
			continue
		}
		first := len(lines)
		lines = append(lines, p.lines...)
		lines[first] = p.opening + lines[first]
		if p.unsaid > 0 {
			lines[len(lines)-1] += "\n" + leftOut(p.unsaid, p.noun) + "\n"
		}
		lines[len(lines)-1] += p.closing
	}
	return lines
}

// more returns "1 more error", "2 more errors", and without a noun "2 more".
func more(n int, noun string) string {
	if noun == "" {
		return fmt.Sprintf("%d more", n)
	}
	return pack.Counted(n, "more "+noun)
}

func leftOut(n int, noun string) string {
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return more(n, noun) + " " + verb + " in the JSON report."
}

// maxRelated is how many related places a list item shows.
const maxRelated = 3

// cells returns a row of a table, of cells in inline Markdown.
func cells(all ...string) string {
	for i := range all {
		all[i] = cell(all[i])
	}
	return "| " + strings.Join(all, " | ") + " |"
}
