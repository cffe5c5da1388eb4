package render

import (
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// maxHalted is how many versions that have to be acted on stand open.
const maxHalted = 10

// published writes what became of each version in the registry: the verdict on all of
// them and what to do, what has to be acted on, then the rest, and folded what is
// known of them and how anybody checks them.
func (m *markdown) published() {
	all := published(m.report)
	if len(all) == 0 {
		return
	}
	level := "###"
	if m.report.Result == model.Broken || !publicationsLead(m.report) {
		level = "####"
	}
	l, words := publishTitle(all, Markdown)
	m.paragraph("%s %s %s", level, l.emoji, words)
	if todo := publishTodo(all); todo != "" && m.rung < headline && m.report.Result != model.Broken {
		words := Message(todo)
		if len(all) > 1 {
			words = Markdown(all[0].Name()) + ": " + words
		}
		m.paragraph("**Do this:** %s", words)
	}
	halted := haltedOnes(all)
	bad, good := all[:halted], all[halted:]
	m.list(list{noun: "unpublished version", open: maxHalted, seen: 4 * maxHalted, n: len(bad), line: func(i int) string {
		return m.publication(&bad[i], len(all) > 1)
	}})
	if m.rung == essential {
		if len(good) > 0 {
			m.paragraph("%s", publicationCounts(good))
		}
		return
	}
	m.list(list{noun: "version", open: 8, summary: publicationCounts(good), n: len(good), line: func(i int) string {
		return m.publication(&good[i], len(all) > 1)
	}})
	m.publicationFacts(all)
}

// publication returns the list item for a publication, with its name where there are
// several.
func (m *markdown) publication(p *model.Publication, named bool) string {
	l := lookOfPublication(p)
	s := "- " + l.emoji + " "
	if named {
		s += "**" + Markdown(p.Name()) + "** "
	}
	s += l.word
	if since := sinceWords(p); since != "" && named {
		s += " (" + Markdown(since) + ")"
	}
	for _, reason := range p.Reasons[:min(len(p.Reasons), maxRelated)] {
		s += "<br>" + m.reason(reason)
	}
	if left := len(p.Reasons) - maxRelated; left > 0 {
		s += "<br>" + leftOut(left, "reason")
	}
	if p.Halted() && len(p.Reasons) == 0 {
		s += "<br>→ " + Message(publishTodo([]model.Publication{*p}))
	}
	if p.Ref != "" {
		s += "<br>" + Code(p.Ref)
	}
	for _, n := range p.NotChecked[:min(len(p.NotChecked), maxRelated)] {
		s += "<br>➖ not checked: " + Message(n)
	}
	if left := len(p.NotChecked) - maxRelated; left > 0 {
		s += "<br>" + leftOut(left, "skipped check")
	}
	return s
}

// reason returns a reason with its place and its remedy.
func (m *markdown) reason(p model.Problem) string {
	s := Message(p.Message)
	if p.File != "" {
		s = m.link(p.File, p.Line) + ": " + s
	}
	if p.Hint != "" {
		s += "<br>→ " + Message(p.Hint)
	}
	return s
}

// publicationFacts folds digests, signers and approvals, and the commands by which a
// publication is checked.
func (m *markdown) publicationFacts(all []model.Publication) {
	var blocks [][]string
	size, left := 0, 0
	for i := range all {
		block := publicationBlock(&all[i], len(all) > 1)
		if len(block) == 0 {
			continue
		}
		if size > maxListBytes {
			left++
			continue
		}
		blocks = append(blocks, block)
		for _, line := range block {
			size += len(line)
		}
	}
	var lines []string
	for i, block := range blocks {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	if left > 0 {
		lines = append(lines, "", leftOut(left, "version"))
	}
	if len(lines) > 0 {
		m.fold(knownTitle(all), lines)
	}
}

// publicationBlock returns what is folded of one publication, nothing where there is
// nothing.
func publicationBlock(p *model.Publication, named bool) []string {
	var lines []string
	if named {
		lines = append(lines, "**"+Markdown(p.Name())+"**", "")
	}
	head := len(lines)
	for _, f := range publicationFacts(p) {
		value := Markdown(f.value)
		if !f.words {
			value = Code(f.value)
		}
		lines = append(lines, "- "+f.name+": "+value)
	}
	for _, c := range publicationCommands(p) {
		if len(lines) > head {
			lines = append(lines, "")
		}
		lines = append(lines, "Check it "+c.name+":", "")
		lines = append(lines, fenced(c.line)...)
	}
	if len(lines) == head {
		return nil
	}
	return lines
}

// fenced returns a command in a fenced code block (GitHub Flavored Markdown, section
// 4.5), which no line of it can close; a sentence where it cannot be shown so.
func fenced(line string) []string {
	lines, ok := copyable(line)
	if !ok {
		return []string{strings.ToUpper(notCopyable[:1]) + notCopyable[1:] + "."}
	}
	fence := strings.Repeat("`", max(3, longestRun(line)+1))
	out := append([]string{fence + "sh"}, lines...)
	return append(out, fence)
}
