package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// Bounds on one list, so that no pack can make a report too long for GitHub. A
// list that is cut says so.
const (
	maxListBytes = 1 << 16
	// maxOpenLines bounds what stands open of a list, in lines as they are seen.
	maxOpenLines = 12
	// maxSeen is how many lines of a pack may be seen before a list shows no more
	// than its first line.
	maxSeen = 18
)

// folding is a list, or a table, in Markdown, of which only the first lines stand open.
type folding struct {
	noun string // what a line is, in the singular
	// summary stands over the folded lines where none is open; the number of
	// lines by default.
	summary string
	head    []string // the head of a table; none for a list
	open    int      // how many lines are not folded
	seen    int      // how many lines, as they are seen, may stand open; maxOpenLines by default
	n       int      // how many lines there are
	line    func(i int) string
}

// list writes lines: the first lines openly, the rest folded, and beyond the
// bounds a sentence that says how many more there are.
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

// fold writes lines that one has to unfold. The blank line behind the summary
// makes GitHub read what follows as Markdown.
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

// stateWords says that a finding is not new; "" where it is, or where there is no
// baseline.
func stateWords(f model.Finding) string {
	if f.State == model.Existed {
		return " (in the base too)"
	}
	return ""
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
