package render

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// Markdown layout, for the pull request comment and the job summary: the verdict and the one thing
// to do come first, blockers before tables, long parts are folded, empty parts vanish, words stand
// beside icons. About 25 lines are to be seen before anything is unfolded.

// maxMarkdown bounds the report in bytes. GitHub takes a job summary of 1 MiB
// and drops a longer one as a whole; the rest is for the lines at the end.
const maxMarkdown = 1<<20 - 1<<15

type markdown struct {
	report  *model.Report
	builder *builder
	rung    rung
	out     strings.Builder
	left    []string // what is not said on this rung, as HTML
	links   []string // Markdown for the footer
}

func newMarkdown(r *model.Report, on rung) *markdown {
	return &markdown{report: r, builder: &builder{report: r, most: 80, places: maxRelated}, rung: on}
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(&m.out, format+"\n", args...) }

func (m *markdown) paragraph(format string, args ...any) { m.line(format+"\n", args...) }

// run writes what is said of the whole run: that it did not finish, that there was nothing to
// check, what became of versions in a registry, or how several packs fare.
func (m *markdown) run(packs model.Packs) {
	r := m.report
	if r.Result == model.Broken {
		m.paragraph("### %s packgate could not finish", looks["error"].emoji)
		if todo := brokenTodo(r); todo != "" && m.rung < headline {
			m.paragraph("**Do this:** %s", Message(todo))
		}
		m.problems()
		m.published()
		return
	}
	if publicationsLead(r) {
		m.published()
	}
	if title := waitingTitle(r, Markdown); title != "" {
		m.paragraph("### %s %s", looks[waitingLook].emoji, title)
	}
	if words := m.say(reviewsWords(r)); words != "" {
		m.paragraph("**Approvals:** %s", words)
	}
	switch {
	case packs.Len() == 0 && len(r.Published) == 0:
		m.paragraph("### %s No pack changed", looks[string(r.Result)].emoji)
	case packs.Len() > 1:
		m.several(packs)
	}
	m.problems()
}

func (m *markdown) problems() {
	m.listed(m.builder.problems(m.report.Errors), "")
}

func (m *markdown) several(packs model.Packs) {
	title, good := packsTitle(packs)
	emoji := looks[string(m.report.Result)].emoji
	if good { // whatever became of publishing them
		emoji = looks[string(model.Passed)].emoji
	}
	m.paragraph("### %s %s", emoji, title)
	if todo := m.say(todoWords(todoOf(packs.At(0)))); !good && todo != "" && m.rung < headline {
		m.paragraph("**Do this:** in %s, %s", Markdown(packs.Brief(0).Name()), todo)
	}
}

// packsTitle says how several packs fare, good where all of them pass.
func packsTitle(packs model.Packs) (title string, good bool) {
	all, bad := map[string]int{}, map[string]int{} // by kind
	for _, p := range packs.Briefs() {
		all[p.Kind]++
		if p.Result != model.Passed {
			bad[p.Kind]++
		}
	}
	switch {
	case bad[""] == 1:
		title = fmt.Sprintf("1 of %d packs does not pass", all[""])
	case bad[""] > 1:
		title = fmt.Sprintf("%d of %d packs do not pass", bad[""], all[""])
	case all[""] == 1:
		title = "1 pack passes"
	default:
		title = fmt.Sprintf("All %d packs pass", all[""])
	}
	if n := all[model.KindRemoved]; n > 0 {
		title += ", " + pack.Counted(n, "pack") + " removed"
	}
	if all[model.KindRepository] > 0 {
		title += ", and the repository has findings"
	}
	return title, len(bad) == 0
}

// titleOf says the verdict on a pack and its version step in one line, escaped.
func titleOf(p *model.Pack, escape func(string) string) string {
	d := p.Diff
	switch {
	case p.Kind == model.KindRemoved:
		return escape(p.Name()) + ": pack removed"
	case p.MovedFrom != "" && d == nil:
		return escape(p.Name()) + ": moved from " + escape(p.MovedFrom) + ", " + verdictWord(p.Result)
	case p.Class == model.ClassInitial:
		return escape(p.Name()) + ": first version, " + verdictWord(p.Result)
	case d == nil:
		return escape(p.Name()) + ": " + verdictWord(p.Result)
	}
	name, verdict := stepName(d), ": "+verdictWord(p.Result)
	switch {
	case d.RequiredVersion == "" || p.Result == model.Passed:
	case d.Base == d.Head:
		name, verdict = p.Name(), ": version not raised, needs "+escape(d.RequiredVersion)
	case p.Result == model.Rejected:
		verdict += ", needs " + escape(d.RequiredVersion)
	default:
		verdict = " needs " + escape(d.RequiredVersion)
	}
	words := classWords(p, escape)
	if len(words) > 0 {
		verdict += " (" + strings.Join(words, ", ") + ")"
	}
	if p.MovedFrom != "" {
		verdict += ", moved from " + escape(p.MovedFrom)
	}
	return escape(name) + verdict
}

// classWords says the class that was found, the declared one, and those of environments
// that overlays or catalogs change. A rejection is not repeated.
func classWords(p *model.Pack, escape func(string) string) []string {
	var words []string
	switch d := p.Diff; {
	case d.Class == "none" && len(p.Environments) == 0:
		words = append(words, "no change")
	case d.Class != "reject" && d.Class != "none":
		words = append(words, "class "+escape(d.Class))
	}
	if d := p.Diff; d.Declared != "none" && d.Declared != d.Class {
		words = append(words, "declared "+escape(d.Declared))
	}
	if len(p.Environments) > 0 {
		words = append(words, escape(environmentWords(p.Environments)))
	}
	return words
}

// stepName returns "id old → new", or both names where the id changed.
func stepName(d *model.Diff) string {
	id, from, _ := strings.Cut(d.Base, "@")
	newID, to, _ := strings.Cut(d.Head, "@")
	if id != newID {
		return d.Base + " → " + d.Head
	}
	return id + " " + from + " → " + to
}

func verdictWord(r model.Result) string {
	switch r {
	case model.Passed:
		return "passes"
	case model.Rejected:
		return "rejected"
	case model.Broken:
		return "could not be checked"
	}
	return "fails"
}

func counts(p *model.Pack) string {
	passed, open := 0, map[finding.Status]int{}
	for _, g := range p.Gates {
		if status := finding.Status(g.Status); status.Ran() {
			passed++
		} else {
			open[status]++
		}
	}
	parts := []string{fmt.Sprintf("%d of %d gates pass", passed, len(p.Gates))}
	for _, status := range []finding.Status{finding.Partial, finding.Undecided, finding.NotRun} {
		if n := open[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, looks[string(status)].word))
		}
	}
	return strings.Join(append(parts, findingCounts(model.Count(p))...), " · ")
}

func gateRow(gates []model.Gate) string {
	var cells []string
	for _, c := range gateCells(gates, Markdown, Message) {
		cells = append(cells, looks[c.status].emoji+" "+c.names+" "+c.words)
	}
	return strings.Join(cells, " · ")
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

func (m *markdown) footer() {
	var parts []string
	if b := m.report.Base; b != nil {
		parts = append(parts, "base "+Code(short(b.SHA)))
	}
	if h := m.report.Head; h != nil {
		parts = append(parts, "head "+Code(short(h.SHA)))
	}
	t := m.report.Tool
	parts = append(parts, fmt.Sprintf("packgate %s, rules %s", Markdown(t.Version), Markdown(t.RulesVersion)))
	parts = append(parts, m.links...)
	m.line("<sub>%s</sub>", strings.Join(parts, " · "))
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

// publicationFacts folds digests, signers, approvals, and the commands that check a version.
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

// publicationBlock returns what is folded of one publication, nil for nothing.
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
