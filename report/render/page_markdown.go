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

// fittingLines asks for as many lines of a list to stand open as there is room for.
const fittingLines = -1

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

// listed writes a list: where groups have no room, what is of most weight comes first.
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

// foldable returns the words over what is folded, those of a list of which nothing stands open.
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

// Bounds on one list, so that no report gets too long for GitHub. A cut list says so.
const (
	maxListBytes = 1 << 16
	// maxOpenLines bounds what stands open of a list, in lines as they are seen.
	maxOpenLines = 12
	// maxSeen is how many lines of a pack may be seen before a list shows its first line alone.
	maxSeen = 18
)

// folding is a list, or a table, in Markdown, of which only the first lines stand open.
type folding struct {
	noun string // what a line is, in the singular
	// summary stands over the folded lines where none is open; their number by default.
	summary string
	head    []string // the head of a table; none for a list
	open    int      // how many lines are not folded
	seen    int      // how many lines, as they are seen, may stand open; maxOpenLines by default
	n       int      // how many lines there are
	line    func(i int) string
}

// list writes lines: the first openly, the rest folded, and how many more there are than fit.
func (m *markdown) list(l folding) {
	if m.rung == headline && l.n > 0 {
		m.left = append(m.left, cmp.Or(l.summary, pack.Counted(l.n, l.noun)))
		return
	}
	var lines []string
	size := 0
	most := l.n
	if m.rung > whole {
		most = min(l.open, l.n) // nothing is folded there
	}
	for len(lines) < most && size < maxListBytes {
		line := l.line(len(lines))
		lines = append(lines, line)
		size += len(line)
	}
	if left := l.n - len(lines); left > 0 && m.rung == whole {
		defer m.paragraph("%s", leftOut(left, l.noun))
	}
	open := l.opened(lines)
	if open > 0 {
		m.lines(slices.Concat(l.head, lines[:open]))
	}
	if rest := lines[open:]; len(rest) > 0 || m.rung > whole && l.n > open {
		summary := cmp.Or(l.summary, pack.Counted(l.n, l.noun))
		if open > 0 {
			summary = more(l.n-open, l.noun)
		}
		m.fold(summary, slices.Concat(l.head, rest))
	}
}

// room returns how many lines may still be seen of a pack, at least one.
func (m *markdown) room() int {
	seen := 0
	folded := false
	for line := range strings.Lines(m.out.String()) {
		opens := strings.HasPrefix(line, "<details>")
		if !folded && strings.TrimSpace(line) != "" {
			seen += 1 + strings.Count(line, "<br>")
		}
		folded = (folded || opens) && !strings.HasPrefix(line, "</details>")
	}
	return max(1, maxSeen-seen)
}

// opened returns how many lines stand open: no more than asked for, nor than fit.
func (l *folding) opened(lines []string) int {
	seen := 0
	for i := range min(l.open, len(lines)) {
		seen += 1 + strings.Count(lines[i], "<br>")
		if seen > cmp.Or(l.seen, maxOpenLines) && i > 0 {
			return i
		}
	}
	return min(l.open, len(lines))
}

func (m *markdown) lines(lines []string) {
	for _, l := range lines {
		m.line("%s", l)
	}
	m.line("")
}

// fold writes lines that one has to unfold. Only behind a blank line GitHub reads Markdown.
func (m *markdown) fold(summary string, lines []string) {
	if m.rung > whole {
		m.left = append(m.left, summary)
		return
	}
	m.paragraph("<details><summary>%s</summary>", summary)
	m.lines(lines)
	m.paragraph("</details>")
}

// more returns "1 more error", "2 more errors".
func more(n int, noun string) string { return pack.Counted(n, "more "+noun) }

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
