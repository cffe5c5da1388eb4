package render

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/report/model"
	"golang.org/x/text/width"
)

// How the nodes of a tree look at a terminal.

// widestCase is the longest text of a first column, in characters, that others are aligned to.
const widestCase = 40

func (t *terminal) section(s *section, indent string) {
	if !s.plain {
		t.line("")
		t.line("%s%s", indent, text(cmp.Or(s.words, strings.ToLower(s.title))))
		indent += "  "
	}
	for _, n := range s.nodes {
		t.node(n, indent)
	}
}

func (t *terminal) node(n node, indent string) {
	switch n := n.(type) {
	case sentence:
		for _, s := range n.lines() {
			t.line("%s%s", indent, t.say(s))
		}
	case alert:
		t.alert(n, indent)
	case steps:
		for i, s := range n {
			t.line("%s%d. %s", indent, i+1, t.say(s))
		}
	case fold:
		t.line("%s%s:", indent, text(n.words))
		for _, inner := range n.nodes {
			t.node(inner, indent+"  ")
		}
	case listing:
		for line := range strings.Lines(n.text) {
			t.line("%s%s", indent, strings.ReplaceAll(text(strings.TrimRight(line, "\n")), " ", joint))
		}
	case known:
		t.facts(indent, 0, n)
	case shellCommand:
		t.command(indent, n)
	case *list:
		t.list(n, indent)
	case *table:
		t.table(n, indent)
	}
}

func (t *terminal) alert(a alert, indent string) {
	for _, s := range a.items {
		t.line("%s%s %s", indent, t.paint(a.tone.color, looks["warning"].mark), t.say(s))
	}
	for _, s := range a.below {
		t.line("%s%s", indent, t.say(s))
	}
}

func (t *terminal) list(l *list, indent string) {
	for i := range l.n {
		it := l.item(i)
		if it.finding != nil {
			t.line("")
		}
		t.item(&it, indent)
	}
}

// item writes an item, in the grammar of messages where it has a place.
func (t *terminal) item(it *item, indent string) {
	var head []string
	if it.at.file != "" {
		head = append(head, t.place(it.at), t.paint(it.state.color, text(cmp.Or(it.state.word, it.state.mark))))
	} else {
		head = append(head, t.state(it.state))
	}
	head = filled(head...)
	if len(it.head) > 0 {
		head = append(head, t.say(it.head))
	}
	words := t.say(it.text)
	if it.at.file != "" && len(it.head) > 0 && words != "" {
		t.line("%s%s", indent, strings.Join(head, " "))
		if it.sides != nil {
			if values := changeValues(*it.sides, 100); values != "" {
				t.line("%s  %s", indent, text(values))
			}
		}
		t.line("%s  %s", indent, words)
	} else {
		if len(it.head) > 0 && words != "" {
			head[len(head)-1] += ":"
		}
		t.line("%s%s", indent, strings.TrimRight(strings.Join(append(head, words), " "), " "))
	}
	for _, l := range it.lines {
		for _, s := range l.words {
			t.line("%s  %s", indent, strings.TrimLeft(l.lead+" "+t.say(s), " "))
		}
	}
	if !t.style.Quiet {
		for _, n := range it.below {
			t.node(n, indent+"  ")
		}
	}
}

func (t *terminal) state(l look) string {
	return t.paint(l.color, strings.TrimSpace(l.mark+" "+text(l.word)))
}

// table writes a row below the other, each in as many lines as it needs.
func (t *terminal) table(table *table, indent string) {
	widths := t.widths(table, len(indent))
	if table.aligned > 1 && widths != nil {
		t.row(table, each(table.columns, func(c column) sentence { return sentence{}.quiet(c.name) }), widths, indent)
	}
	for i := range table.n {
		t.row(table, table.row(i).cells, widths, indent)
	}
}

// widest is how wide a row is at most, where nobody knows the width of the terminal.
const widest = 150

// widths returns the widths of aligned columns; nil where rows have to be broken at blanks.
func (t *terminal) widths(table *table, indent int) []int {
	widths := make([]int, table.aligned)
	for i := range table.n {
		for j, cell := range table.row(i).cells[:table.aligned] {
			widths[j] = max(widths[j], columnsOf(unjoined(t.say(cell))))
		}
	}
	sum := indent
	for j := range widths {
		if table.aligned > 1 {
			widths[j] = max(widths[j], len(table.columns[j].name))
		} else {
			widths[j] = min(widths[j], widestCase)
		}
		sum += widths[j] + 2
	}
	if limit := cmp.Or(t.style.Width, widest); table.aligned > 1 && sum > limit {
		return nil
	}
	return widths
}

// row writes the cells of a row that stand side by side, and then the others.
func (t *terminal) row(table *table, cells []sentence, widths []int, indent string) {
	var beside, below []string
	for j, cell := range cells {
		column := table.columns[j]
		parts := cell.lines()
		if len(parts) == 0 {
			parts = []sentence{nil}
		}
		for k, part := range parts {
			words := t.say(part)
			if column.label != "" && words != "" && k == 0 {
				words = column.label + " " + words
			}
			switch {
			case words != "" && (column.below || k > 0):
				below = append(below, words)
			case column.below:
			case j < len(widths):
				beside = append(beside, words+strings.Repeat(" ", max(0, widths[j]-columnsOf(unjoined(words)))))
			case words != "":
				beside = append(beside, words)
			}
		}
	}
	t.line("%s%s", indent, strings.TrimRight(strings.Join(beside, "  "), " "))
	for _, words := range below {
		t.line("%s    %s", indent, words)
	}
}

// unjoined returns a text with the blanks at which no line is broken.
func unjoined(s string) string { return strings.ReplaceAll(s, joint, " ") }

func (t *terminal) say(s sentence) string {
	var b strings.Builder
	for _, p := range s {
		switch p.kind {
		case codePiece:
			b.WriteString(solid(p.text))
		case strongPiece, rulePiece:
			b.WriteString(t.paint("bold", text(p.text)))
		case struckPiece:
			b.WriteString("[-" + text(p.text) + "-]")
		case addedPiece:
			b.WriteString(t.paint("bold", "{+"+text(p.text)+"+}"))
		case quietPiece:
			b.WriteString(t.paint("dim", text(p.text)))
		case statePiece:
			b.WriteString(t.state(p.look))
		case placePiece:
			if p.text != "" {
				b.WriteString(text(p.text))
			} else {
				b.WriteString(strings.TrimSuffix(t.place(p.at), ":"))
			}
		case breakPiece:
			b.WriteString(" ")
		default:
			b.WriteString(text(p.text))
		}
	}
	return b.String()
}

func (t *terminal) place(s spot) string {
	words := solidPlace(s.file, s.line, s.column)
	if s.base {
		words = "base " + words
	}
	return words
}

func terminalBuilder(r *model.Report) *builder {
	return &builder{report: r, most: 100, places: maxPlaces, passing: mostPassing, brief: true}
}

// joint stands for a blank at which no line is broken. No text has it: Visible writes it out.
const joint = "\x00"

// narrowest is how many columns a wrapped line has at least, or else the terminal breaks it.
const narrowest = 20

// solid returns a text that is not broken over lines: a path that somebody clicks on.
func solid(s string) string { return strings.ReplaceAll(text(s), " ", joint) }

// solidPlace returns file:line:column: as place does, in one piece.
func solidPlace(file string, line, column int) string {
	return strings.ReplaceAll(place(file, line, column), " ", joint)
}

// wrap breaks a line at blanks so that it fits into some columns; 0 for as many as there are. What
// goes on is under its text, and a word that is too long stays whole. Colours end with a line
// and begin again on the next, since pagers show line by line.
func wrap(line string, columns int) string {
	indent := hanging(line)
	if columns-indent < narrowest || columnsOf(line) <= columns {
		return strings.ReplaceAll(line, joint, " ")
	}
	var b strings.Builder
	column, color := 0, ""
	for line != "" {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		end := len(line)
		if i := strings.IndexByte(line[blanks:], ' '); i >= 0 {
			end = blanks + i
		}
		word := line[blanks:end]
		size := columnsOf(word)
		if column > indent && size > 0 && column+blanks+size > columns {
			if color != "" {
				b.WriteString(colorEnd)
			}
			b.WriteString("\n" + strings.Repeat(" ", indent) + color)
			column = indent
		} else {
			b.WriteString(line[:blanks])
			column += blanks
		}
		b.WriteString(word)
		column += size
		color = colorAfter(color, word)
		line = line[end:]
	}
	return strings.ReplaceAll(b.String(), joint, " ")
}

// hanging returns where a broken line goes on: at its indent, or behind a mark there.
func hanging(line string) int {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	word, _, more := strings.Cut(line[indent:], " ")
	mark, _ := utf8.DecodeRuneInString(word[colorLen(word):])
	if more && columnsOf(word) == 1 && !unicode.In(mark, unicode.L, unicode.N) {
		indent += 2
	}
	return indent
}

// columnsOf returns how many columns of a terminal a text takes. Colours and marks on top of
// letters take none, and what Unicode Standard Annex 11 calls wide takes two.
func columnsOf(s string) int {
	n := 0
	for s != "" {
		if skip := colorLen(s); skip > 0 {
			s = s[skip:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// What paint writes around a text.
const (
	colorStart = "\x1b["
	colorEnd   = "\x1b[0m"
)

// colorLen returns how many bytes of a colour a text begins with.
func colorLen(s string) int {
	number, found := strings.CutPrefix(s, colorStart)
	if !found {
		return 0
	}
	rest, found := strings.CutPrefix(strings.TrimLeft(number, "0123456789"), "m")
	if !found {
		return 0
	}
	return len(s) - len(rest)
}

// colorAfter returns the colour behind a word, given that before it; "" is none.
func colorAfter(color, word string) string {
	for {
		i := strings.Index(word, colorStart)
		if i < 0 {
			return color
		}
		n := colorLen(word[i:])
		if n == 0 {
			return color
		}
		color = word[i : i+n]
		if color == colorEnd {
			color = ""
		}
		word = word[i+n:]
	}
}
