package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// joint stands for a blank at which no line is broken. No text has it: Visible
// writes control characters out.
const joint = "\x00"

// narrowest is how many columns the text of a wrapped line has at least. Where the
// indent leaves fewer, the line is left to the terminal.
const narrowest = 20

// solid returns a text that is not broken over lines: a path that somebody
// clicks on or copies.
func solid(s string) string { return strings.ReplaceAll(text(s), " ", joint) }

// solidPlace returns file:line:column: as place does, in one piece.
func solidPlace(file string, line, column int) string {
	return strings.ReplaceAll(place(file, line, column), " ", joint)
}

// wrap breaks a line at blanks so that it fits into some columns; 0 for as many as
// there are. What goes on stands under the text that it belongs to. A word that is
// too long for a line stays whole. Colours end with a line and begin again on the
// next, since pagers show line by line.
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

// hanging returns where a line goes on that is broken: at its indent or, where it
// begins with a mark such as an arrow, behind that.
func hanging(line string) int {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	word, _, more := strings.Cut(line[indent:], " ")
	mark, _ := utf8.DecodeRuneInString(word[colorLen(word):])
	if more && columnsOf(word) == 1 && !unicode.In(mark, unicode.L, unicode.N) {
		indent += 2
	}
	return indent
}

// columnsOf returns how many columns of a terminal a text takes. Colours and marks
// on top of letters take none, and what Unicode Standard Annex 11 calls wide takes
// two.
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

// colorAfter returns the colour that holds behind a word, "" for none, if a colour
// held before it.
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
