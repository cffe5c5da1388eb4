package render

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// Markdown layout, for the pull request comment and the job summary: the page of a reviewer stands
// open, and everything else is folded below it. Words stand beside icons.

// maxMarkdown bounds the report in bytes. GitHub takes a job summary of 1 MiB
// and drops a longer one as a whole; the rest is for the lines at the end.
const maxMarkdown = 1<<20 - 1<<15

type markdown struct {
	report  *model.Report
	builder *builder
	parts   []part
	rank    int         // of what is written
	folded  int         // how many folds it is in
	links   []string    // Markdown for the footer
	only    *model.Pack // that the page is about; nil where it is about several, or none
}

func newMarkdown(r *model.Report) *markdown {
	return &markdown{report: r, builder: &builder{report: r, most: 160, places: maxRelated}}
}

func (m *markdown) add(p part) {
	p.rank = m.rank
	m.parts = append(m.parts, p)
}

func (m *markdown) paragraph(format string, args ...any) {
	m.add(part{lines: []string{fmt.Sprintf(format, args...) + "\n\n"}})
}

func (m *markdown) heading(level string, l look, title sentence) {
	m.paragraph("%s %s %s", level, l.emoji, m.say(title))
}

// The ranks of what is written: the order in which it is kept.
const (
	headRank  = iota // headlines, and the footer
	runRank          // what is said of the run: errors, versions, approvals
	tableRank        // the packs, a row each
	packRank         // the packs one after the other
)

// write writes the report: how the run came out, its packs, and the footer.
func (m *markdown) write() {
	r := m.report
	packs := r.Packs.Urgent()
	m.run()
	if m.only = r.Only(); m.only != nil {
		m.rank = packRank
		m.one(m.only, m.level())
	} else if r.Entries() > 0 {
		m.several(packs)
	}
	if failedRun(r) == "" && !publicationsLead(r) {
		m.rank = runRank
		m.published()
	}
	m.rank = runRank
	m.listed(m.builder.notices(true))
	m.rank = headRank
	m.footer()
}

// level is that of the headings of packs, below that of the run where it has one.
func (m *markdown) level() string {
	if failedRun(m.report) != "" || len(m.report.Published) > 0 {
		return "####"
	}
	return "###"
}

// one writes a pack: its headline, the page of a reviewer, and the rest folded.
func (m *markdown) one(p *model.Pack, level string) {
	rank := m.rank
	if level == "###" {
		m.rank = headRank
	}
	m.heading(level, m.builder.verdict(p), m.builder.headline(p))
	m.rank = rank
	m.body(p)
}

// body writes the page of a pack without its headline, and the rest folded.
func (m *markdown) body(p *model.Pack) {
	rank := m.rank
	m.nodes(m.builder.page(p))
	var minor []section
	for i, s := range m.builder.pack(p) {
		m.rank = rank + i<<12 // a section of all packs before the next one
		if s.minor {
			minor = append(minor, s)
		} else {
			m.section(&s)
		}
	}
	m.minor(minor)
	m.rank = rank
}

// minor writes sections that share a fold.
func (m *markdown) minor(all []section) {
	var names []string
	var nodes []node
	for i := range all {
		s := &all[i]
		names = append(names, uncapital(s.title))
		nodes = append(nodes, strong(sentenceCase(cmp.Or(s.words, s.title))))
		nodes = append(nodes, s.nodes...)
	}
	if len(nodes) > 0 {
		m.fold("More: "+strings.Join(names, ", "), nodes)
	}
}

// run writes what is said of the whole run: that it did not finish, that there was nothing to
// check, or what became of versions in a registry.
func (m *markdown) run() {
	r := m.report
	if why := failedRun(r); why != "" {
		m.heading("###", cannotMerge, plain(cannotMerge.word+": "+why))
		m.rank = runRank
		if todo := failedTodo(r); todo != "" {
			m.paragraph("**Do this:** %s", Message(todo))
		}
		m.listed(m.builder.problems(r.Errors))
		m.published()
		return
	}
	if publicationsLead(r) {
		m.published()
	}
	if r.Entries() == 0 && len(r.Published) == 0 {
		l, title := m.builder.nothing()
		m.heading("###", l, title)
		m.rank = runRank
		m.nodes(m.builder.others())
	}
	m.listed(m.builder.problems(r.Errors))
}

func linkNamed(at *model.Revision, file string, line int, text string) string {
	if at == nil || at.BlobURL == "" || file == "" {
		return Code(text)
	}
	escaped := (&url.URL{Path: shorten(file, maxMarkdownText)}).EscapedPath()
	target := at.BlobURL + strings.ReplaceAll(escaped, "&", "%26")
	if line > 0 {
		target += fmt.Sprintf("#L%d", line)
	}
	return "[" + Code(text) + "](<" + target + ">)"
}

// footer says what was compared, and where there is more. It is one line, of which nothing else
// depends, so that it can be exchanged.
func (m *markdown) footer() {
	var parts []string
	if b := m.report.Base; b != nil {
		parts = append(parts, "base "+Code(short(b.SHA)))
	}
	if h := m.report.Head; h != nil {
		parts = append(parts, "head "+Code(short(h.SHA)))
	}
	if p := m.only; p != nil && p.Digest != "" {
		parts = append(parts, "pack "+Code(pack.Clip(p.Digest, len("sha256:")+8)))
	}
	t := m.report.Tool
	parts = append(parts, fmt.Sprintf("packgate %s, rules %s", Markdown(t.Version), Markdown(t.RulesVersion)))
	parts = append(parts, m.links...)
	m.add(part{title: endTitle, lines: []string{"<sub>" + strings.Join(parts, " · ") + "</sub>\n"}})
}

func short(sha string) string {
	sha = strings.TrimPrefix(sha, "sha256:") // a published version is named by its digest
	return sha[:min(7, len(sha))]
}

// maxHalted is how many versions that have to be acted on stand open.
const maxHalted = 10

// published writes what became of each version in the registry: the verdict and what to do, what
// has to be acted on, then the rest, and folded what is known and how anybody checks it.
func (m *markdown) published() {
	all := published(m.report)
	if len(all) == 0 {
		return
	}
	level, rank := "###", m.rank
	if failedRun(m.report) != "" || !publicationsLead(m.report) {
		level = "####"
	}
	l, words := publishTitle(all, Markdown)
	m.paragraph("%s %s %s", level, l.emoji, words)
	m.rank = runRank
	if todo := m.say(publishTodoWords(all)); todo != "" && failedRun(m.report) == "" {
		m.paragraph("**Do this:** %s", todo)
	}
	halted := haltedOnes(all)
	bad, good := all[:halted], all[halted:]
	first := m.builder.publications(bad)
	first.noun, first.open = "unpublished version", maxHalted
	m.listed(first)
	rest := m.builder.publications(good)
	rest.open = 8
	m.listed(rest)
	var blocks []string // a version stands or goes as a whole
	for i := range all {
		below := knownOf(&all[i])
		if len(all) > 1 && len(below) > 0 {
			below = append([]node{strong(all[i].Name())}, below...)
		}
		if len(below) > 0 {
			blocks = append(blocks, strings.Join(m.written(below), ""))
		}
	}
	m.folds(knownTitle(all), "version", blocks)
	m.rank = rank
}

// factLine writes one thing that is known.
func factLine(f fact) string {
	if f.words {
		return "- " + f.name + ": " + Markdown(f.value) + "\n"
	}
	return "- " + f.name + ": " + Code(f.value) + "\n"
}

// fenced returns a command in a fenced code block (GitHub Flavored Markdown, section
// 4.5), which no line of it can close; a sentence where it cannot be shown so.
func fenced(line string) []string {
	lines, ok := copyable(line)
	if !ok {
		return []string{sentenceCase(notCopyable) + "."}
	}
	return fencedIn("sh", strings.Join(lines, "\n"))
}

// fencedIn returns lines of text in a fenced code block of a language.
func fencedIn(language, text string) []string {
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return []string{fence + language, strings.TrimRight(text, "\n"), fence}
}
