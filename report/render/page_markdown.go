package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// How the nodes of a tree look in Markdown: the first items of a list stand open, the
// rest and tables are folded.

// fittingLines asks for as many lines of a list to stand open as there is room for.
const fittingLines = -1

// section writes a section.
func (m *markdown) section(s *section) {
	for _, n := range s.nodes {
		switch n := n.(type) {
		case sentence:
			m.paragraph("%s", m.say(n))
		case callout:
			m.callout(n)
		case *list:
			if n.open > 0 && !s.untitled {
				m.paragraph("**%s**", s.title)
			}
			m.listed(n, s.words)
		case *table:
			m.table(n, s.words)
		}
	}
}

func (m *markdown) callout(lines callout) {
	shown := make([]string, len(lines))
	for i, s := range lines {
		shown[i] = m.say(s)
	}
	m.paragraph("> [!CAUTION]\n> %s", strings.Join(shown, "<br>\n> "))
}

// listed writes a list. Where there is no room for groups, what is of most weight
// comes first.
func (m *markdown) listed(l *list, words string) {
	order := make([]int, l.n)
	for i := range order {
		order[i] = i
	}
	if l.rank != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.rank(a), l.rank(b)) })
	}
	seen := l.seen
	if seen == fittingLines {
		seen = m.room()
	}
	m.list(folding{noun: l.noun, summary: HTML(cmp.Or(l.words, foldable(l.open, words))), open: l.open, seen: seen, n: l.n, line: func(i int) string {
		it := l.item(order[i])
		return m.item(&it)
	}})
}

// foldable returns the words that may stand over what is folded: those of a list
// without open items are its summary.
func foldable(open int, words string) string {
	if open > 0 || words == "" {
		return ""
	}
	return sentenceCase(words)
}

func (m *markdown) table(t *table, words string) {
	head, rule := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		head[i], rule[i] = c.name, "---"
	}
	m.list(folding{
		noun: t.noun, summary: HTML(cmp.Or(t.words, foldable(t.open, words))), open: t.open, n: t.n,
		head: []string{cells(head...), cells(rule...)},
		line: func(i int) string {
			var shown []string
			for _, s := range t.row(i).cells {
				shown = append(shown, cmp.Or(m.say(s), "none"))
			}
			return cells(shown...)
		},
	})
}

// item returns the list item for an item.
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
		var all []string
		for _, words := range l.words {
			all = append(all, m.say(words))
		}
		s += "<br>" + strings.TrimLeft(Markdown(l.lead)+" "+strings.Join(all, " · "), " ")
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

// state shows a state: its emoji and its word, or the word alone.
func (m *markdown) state(l look) string {
	if l.emoji == "" && l.word != "" {
		return "**" + Markdown(l.word) + "**"
	}
	return strings.TrimSpace(l.emoji + " " + Markdown(l.word))
}

// say returns a sentence in inline Markdown.
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
		case codePiece:
			b.WriteString(Code(p.text))
		case strongPiece:
			b.WriteString("**" + Markdown(p.text) + "**")
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

// place shows a place and leads to it at the commit that it is of.
func (m *markdown) place(s spot) string {
	words := linkAt(m.builder.revision(s), s.file, s.line)
	if s.base {
		words += " of the base"
	}
	return words
}
