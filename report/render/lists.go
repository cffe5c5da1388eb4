package render

import (
	"cmp"
	"fmt"
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

// list is a list, or a table, of which only the first lines stand open.
type list struct {
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

// list writes a list: its first lines openly, the rest folded, and beyond the
// bounds a sentence that says how many more there are.
func (m *markdown) list(l list) {
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
func (l *list) opened(lines []string) int {
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

// findings lists what was found: errors openly, and warnings too where no error
// stands before them.
func (m *markdown) findings(p *model.Pack) {
	errors, warnings := p.BySeverity("error"), p.BySeverity("warning")
	openWarnings := 3
	if len(errors) > 0 {
		openWarnings = 0
	}
	seen := 0
	if d := p.Diff; d != nil && len(d.Loosened)+len(callouts(d.Surface)) > 0 {
		seen = maxOpenLines / 2 // what is dangerous stands open too
	}
	m.list(list{noun: "error", open: 4, seen: seen, n: len(errors), line: func(i int) string { return m.finding(errors[i]) }})
	m.list(list{noun: "warning", open: openWarnings, n: len(warnings), line: func(i int) string { return m.finding(warnings[i]) }})
	m.list(list{noun: "fixed finding", n: len(p.Fixed), line: func(i int) string {
		f := p.Fixed[i]
		return fmt.Sprintf("- **%s** %s: %s", Markdown(f.Rule), Code(f.Path), Message(f.Message))
	}})
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

func (m *markdown) finding(f model.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s **%s** %s: %s", looks[f.Severity].emoji, f.Severity, Markdown(f.Rule), m.link(f.File, f.Line), Message(f.Message)+stateWords(f))
	if f.Hint != "" {
		b.WriteString("<br>→ " + Message(f.Hint))
	}
	var places []string
	for _, r := range f.Related[:min(maxRelated, len(f.Related))] {
		places = append(places, m.place(r)+" "+Message(r.Message))
	}
	if left := len(f.Related) - len(places); left > 0 {
		places = append(places, more(left, "place"))
	}
	if len(places) > 0 {
		b.WriteString("<br>see " + strings.Join(places, " · "))
	}
	if f.Witness != nil {
		b.WriteString("<br>for example " + Code(pack.CompactJSON(f.Witness)))
	}
	if fix := fixWords(f); fix != "" {
		b.WriteString("<br>`--fix`" + Message(fix))
	}
	return b.String()
}

// diff lists the changes, the highest class first: in a table, their long paths
// would leave no room for the reasons.
func (m *markdown) diff(d *model.Diff) {
	if d == nil {
		return
	}
	var changes []model.Change
	var same []string
	for _, l := range d.Layers {
		if len(l.Changes) == 0 {
			same = append(same, Markdown(l.Layer))
		}
		changes = append(changes, l.Changes...)
	}
	if len(changes) == 0 {
		m.paragraph("No layer changed.")
		return
	}
	slices.SortStableFunc(changes, func(a, b model.Change) int { return cmp.Compare(gravity(b.Class), gravity(a.Class)) })
	m.paragraph("**Changes, layer by layer**")
	m.list(list{
		noun: "change", open: 5, seen: m.room(), n: len(changes), line: func(i int) string { return change(changes[i]) },
	})
	if len(same) > 0 {
		m.paragraph("Unchanged: %s", strings.Join(same, ", "))
	}
}

func gravity(class string) int {
	return slices.Index([]string{"none", "patch", "minor", "major", "reject"}, class)
}

func change(c model.Change) string {
	what := Markdown(c.Kind) + " " + Code(c.Path)
	if before, after := excerpts(string(c.Old), string(c.New), 60); before != "" && after != "" && before != after {
		what += "<br>" + Code(before) + " → " + Code(after)
	}
	return fmt.Sprintf("- **%s** %s<br>%s", Markdown(c.Class), what, Message(changeReason(c)))
}

// row returns a row of a table, of cells in inline Markdown.
func row(cells ...string) string {
	for i := range cells {
		cells[i] = cell(cells[i])
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// waived folds the findings that a waiver excuses.
func (m *markdown) waived(p *model.Pack) {
	excused := slices.DeleteFunc(slices.Clone(p.Findings), func(f model.Finding) bool { return f.Waived == nil })
	m.list(list{
		noun: "waived finding", n: len(excused),
		line: func(i int) string {
			f := excused[i]
			return fmt.Sprintf("- **%s** %s: %s<br>until %s, by %s: %s", Markdown(f.Rule), m.link(f.File, f.Line),
				Message(f.Message), Markdown(f.Waived.Expires), Markdown(f.Waived.Owner), Message(f.Waived.Reason))
		},
	})
}

// notChecked folds the checks that did not run and do not stand in the row of
// gates.
func (m *markdown) notChecked(p *model.Pack) {
	checks := byReason(unchecked(p))
	m.list(list{
		noun: "reason", n: len(checks), summary: pack.Counted(len(unchecked(p)), "check") + " not run",
		line: func(i int) string { return "- " + Markdown(checks[i].names) + ": " + Message(checks[i].reason) },
	})
}
