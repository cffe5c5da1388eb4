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
	if todo := m.say(publishTodoWords(all)); todo != "" && m.rung < headline && m.report.Result != model.Broken {
		m.paragraph("**Do this:** %s", todo)
	}
	halted := haltedOnes(all)
	bad, good := all[:halted], all[halted:]
	first := m.builder.publications(bad)
	first.noun, first.open, first.seen = "unpublished version", maxHalted, 4*maxHalted
	m.listed(first, "")
	if m.rung == essential {
		if len(good) > 0 {
			m.paragraph("%s", publicationCounts(good))
		}
		return
	}
	rest := m.builder.publications(good)
	rest.open, rest.words = 8, publicationCounts(good)
	m.listed(rest, "")
	m.publicationFacts(all)
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
