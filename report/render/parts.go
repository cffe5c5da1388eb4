package render

import (
	"cmp"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// A report that is longer than GitHub takes leaves out what matters least, at the ends of lists,
// instead of being cut anywhere, which takes a whole table or folded part along. What is left
// out is named.

// part is a piece of a report in Markdown that stands or goes as a whole, or from its end on
// line by line.
type part struct {
	rank             int    // what is lower is kept first
	title            string // what to call it where it is left out; "" for nothing
	noun             string // what a line is, in the singular; "" for what cannot be cut
	opening, closing string
	lines            []string
	unsaid           int // lines beyond these, of which there are too many to say
}

// maxListBytes bounds what is written of one list.
const maxListBytes = 1 << 16

// writtenLines writes the lines of a list of n, as far as they fit its bound, and returns how many do not.
func writtenLines(n int, line func(i int) string) (lines []string, unsaid int) {
	size := 0
	for i := range n {
		if size > maxListBytes {
			return lines, n - i
		}
		lines = append(lines, line(i))
		size += len(lines[i])
	}
	return lines, 0
}

// foldRank is added to the rank of what is folded: all of it goes before anything above the fold.
const foldRank = 1 << 20

// notesRoom is kept for the words about what is left out, in units of the limit.
const notesRoom = 700

// fit returns the parts in their order, as far as they fit into a limit: what has the lowest
// rank first, and of the first that does not fit the lines that do.
func fit(parts []part, limit int, measure func(string) int) string {
	size := func(p *part) int {
		n := measure(p.opening) + measure(p.closing)
		for _, l := range p.lines {
			n += measure(l)
		}
		return n
	}
	total := 0
	order, kept := make([]int, len(parts)), make([]int, len(parts)) // indices, lines
	for i := range parts {
		total += size(&parts[i])
		order[i] = i
	}
	room := limit
	if total > limit {
		room -= notesRoom
	}
	for _, i := range ranked(order, func(i int) int { return parts[i].rank }) {
		p := &parts[i]
		n := size(p)
		if n <= room {
			kept[i] = len(p.lines)
			room -= n
			continue
		}
		if p.noun == "" {
			continue
		}
		left := room - measure(p.opening) - measure(p.closing) - measure(leftOut(len(p.lines), p.noun)) - 2
		for _, l := range p.lines {
			if left -= measure(l); left < 0 {
				break
			}
			kept[i]++
		}
		if kept[i] > 0 {
			room = max(0, left)
		}
	}
	return joined(parts, kept)
}

// joined writes parts with as many of their lines as are kept.
func joined(parts []part, kept []int) string {
	var b strings.Builder
	var left []string
	for i := range parts {
		p := &parts[i]
		if p.title == endTitle {
			b.WriteString(leftWords(left))
			left = nil
		}
		if kept[i] == 0 {
			if len(p.lines) > 0 {
				left = append(left, cmp.Or(p.title, pack.Counted(len(p.lines), cmp.Or(p.noun, "paragraph"))))
			}
			continue
		}
		b.WriteString(p.opening)
		for _, l := range p.lines[:kept[i]] {
			b.WriteString(l)
		}
		if n := len(p.lines) + p.unsaid - kept[i]; n > 0 {
			b.WriteString("\n" + leftOut(n, p.noun) + "\n")
		}
		b.WriteString(p.closing)
	}
	return b.String()
}

// endTitle is the title of the end of a report, before which is said what is left out.
const endTitle = "end"

// leftWords name what is left out, bounded.
func leftWords(left []string) string {
	if len(left) == 0 {
		return ""
	}
	words := ""
	for i, one := range left {
		next := HTML(pack.Clip(one, maxLeftTitle))
		if len(words)+len(next) > notesRoom-200 {
			words += " · " + more(len(left)-i, "part")
			break
		}
		if i > 0 {
			words += " · "
		}
		words += next
	}
	return "<p>This page is shortened to the length that GitHub accepts. Left out: " + words + "</p>\n\n"
}

// maxLeftTitle is how many characters of a title name what is left out.
const maxLeftTitle = 60
