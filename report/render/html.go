package render

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/template"
)

// The HTML report is one file that needs nothing else: it asks no network for
// anything, and its content security policy would not let it. It is the whole
// report, for eyes, fingers and screen readers; without JavaScript only the filters
// are missing. All text of packs goes through Visible, and whatever is put into a
// template through htmlText, but for template.Markup, which is our own; there is no
// other way into the page. The templates put values between tags and into attributes
// within quotes alone: a test fills them with html/template too, which escapes by the
// context that it finds, and holds that both pages are the same byte for byte.

// maxHTML bounds a page in bytes, and maxDetails of how many packs it has the details: so much opens
// at once on a phone, and the packs that need attention are the first. A page of a generated pack
// has 67 KB.
const (
	maxHTML    = 16 << 20
	maxDetails = 50
)

// What is in the head and at the end of each page.
var (
	//go:embed html/report.css
	htmlStyle []byte
	//go:embed html/report.js
	htmlScript []byte
	//go:embed html/playground.js
	playgroundScript []byte
)

// shortName is up to how many bytes of a name fit into a line of any screen.
const shortName = 16

// nameParts returns the parts of a name or path between which a line may be broken: never within
// a version, or between line and column.
func nameParts(name string) (parts []string) {
	if len(name) <= shortName {
		return []string{name}
	}
	first := 0
	for i := 1; i < len(name)-1; i++ {
		if strings.IndexByte("._/:", name[i]) >= 0 && isWord(name[i-1]) && isWord(name[i+1]) && !(isDigit(name[i-1]) && isDigit(name[i+1])) {
			parts, first = append(parts, name[first:i+1]), i+1
		}
	}
	return append(parts, name[first:])
}

// head returns what is in the head of a page, which runs these scripts and no
// others. All of it is our own, and the hashes are of exactly these bytes.
func htmlHead(p *htmlProgram) template.Markup {
	scripts := "'" + cspHash(htmlScript) + "'"
	if p != nil {
		scripts += p.sources
	}
	policy := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src %s; base-uri 'none'; form-action 'none'", cspHash(htmlStyle), scripts)
	return template.Markup(`<meta http-equiv="Content-Security-Policy" content="` + policy + "\">\n<style>" + string(htmlStyle) + "</style>")
}

func htmlScripts(p *htmlProgram) template.Markup {
	html := template.Markup("<script>" + string(htmlScript) + "</script>")
	if p != nil {
		html += "\n" + p.html
	}
	return html
}

// cspHash names an inline element by its content (Content Security Policy 3, hash-source).
func cspHash(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// HTMLReport writes the report as one self-contained page, in which everything from a
// pack is escaped. It has the details of the packs that need attention most, and a row for
// each; Pages writes those of all. The error is that of the writer.
func HTMLReport(w io.Writer, r *model.Report) error { return htmlWithin(w, r, maxHTML) }

// htmlWithin leaves out the details of packs with which the page would be longer than that.
func htmlWithin(w io.Writer, r *model.Report, most int) error {
	v := newHTMLView(r)
	packs := r.Packs.Urgent()
	v.program = program(packs.First(v.room()))
	if v.program != nil {
		most -= v.program.size
	}
	var details bytes.Buffer // far less than the limit, but for single packs that are large
	var err error
	if v.inside, err = v.details(&htmlPieces{to: &details}, packs, most); err != nil {
		return err
	}
	out := htmlPieces{to: w}
	if err := out.write("top", v.page(packs), ""); err != nil {
		return err
	}
	if _, err := w.Write(details.Bytes()); err != nil {
		return err
	}
	return out.write("bottom", v.bottom(), "")
}

// newHTMLView returns what turns the nodes of a report into those of a page.
func newHTMLView(r *model.Report) *htmlView {
	return &htmlView{builder: &builder{report: r, most: 400, places: maxPlaces, whole: true}}
}

// room is how many packs have their details in one page, whatever their size. A summary is small, and
// is all that there is.
func (v *htmlView) room() int {
	if v.report.Partial != nil {
		return v.report.Packs.Len()
	}
	return min(maxDetails, v.report.Packs.Len())
}

// details writes the details of packs in their order, as far as they fit, and returns of how many.
func (v *htmlView) details(out *htmlPieces, packs model.Packs, most int) (inside int, err error) {
	for i := range v.room() {
		if !packs.There(i) {
			return i, nil
		}
		if err := out.fill("pack", v.pack(packs.At(i), i+1), packs.Brief(i).Path); err != nil {
			return i, err
		}
		if out.size+out.piece.Len() > most && i > 0 {
			return i, nil
		}
		if err := out.keep(); err != nil {
			return i, err
		}
	}
	return v.room(), nil
}

// htmlPieces writes a page piece by piece: all of it is much larger than each.
type htmlPieces struct {
	to    io.Writer
	piece bytes.Buffer
	size  int // of what was kept
}

// write fills a template and writes it. The error names what it is about.
func (p *htmlPieces) write(name string, data any, about string) error {
	return cmp.Or(p.fill(name, data, about), p.keep())
}

// fill fills a template, which keep writes.
func (p *htmlPieces) fill(name string, data any, about string) error {
	templates, err := loadHTML()
	if err != nil {
		return fmt.Errorf("load the templates of the HTML report: %w", err)
	}
	if err := templates.Execute(&p.piece, name, data); err != nil {
		return fmt.Errorf("write the HTML report of %q: %w", about, err)
	}
	return nil
}

// keep writes the piece, and begins another one. GitHub's runner takes ##[ for a command wherever it
// is in a log, should somebody print the page. It can be in text only, where the reference
// means the same; and a piece ends with a tag.
func (p *htmlPieces) keep() error {
	p.size += p.piece.Len()
	_, err := p.to.Write(bytes.ReplaceAll(p.piece.Bytes(), []byte("##["), []byte("#&#35;[")))
	p.piece.Reset()
	return err
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

type htmlPage struct {
	Head           template.Markup
	Title, Verdict string
	Index          bool        // of pages of packs
	Back           []htmlPiece // to the index
	Tone, Mark     string
	Todo           []htmlPiece
	Top            []htmlNode // what is said of all packs
	Revisions      []htmlPiece
	Errors         htmlNode
	Published      *htmlSection
	Notices        htmlNode
	Filter         *htmlFilter
	Rows           []htmlNode // below the filter
}

// htmlFilter has the choices of the filters; nil where there is nothing to choose.
type htmlFilter struct {
	Noun    string // of what is filtered
	Total   int
	Choices []htmlChoice
}

// htmlChoice is what one filter chooses from: values that the things have under a name.
type htmlChoice struct {
	Name, Label string
	Values      []string
}

func (v *htmlView) page(packs model.Packs) htmlPage {
	r := v.report
	var rows []*packRow
	if several := r.Only() == nil && r.Entries() > 0; several {
		rows = v.rows(packs)
	}
	p, number := v.top(packs, rows), 0
	var top []node
	if len(rows) > 0 {
		top = append(top, v.overviewOf(rows))
	}
	p.Top = append(p.Top, v.nodes(append(top, v.beyond()...), "top", &number)...)
	if left := v.outside(); left != nil {
		p.Top = append(p.Top, v.node(left, "top", &number))
	}
	if !v.alone() {
		p.Filter = v.filter(packs.First(v.inside).All())
	}
	return p
}

// top is what a page says of all packs before it lists them.
func (v *htmlView) top(packs model.Packs, rows []*packRow) htmlPage {
	r := v.report
	l, title := v.title(packs, rows)
	p := htmlPage{Head: htmlHead(v.program), Verdict: v.flat(title), Tone: toneOf(l), Mark: l.mark}
	switch {
	case failedRun(r) != "":
		p.Todo = v.message(failedTodo(r))
	case publicationsLead(r):
		all := published(r)
		shown, words := publishTitle(all, v.text)
		p.Verdict, p.Tone, p.Mark, p.Todo = words, toneOf(shown), shown.mark, v.say(publishTodoWords(all))
	}
	p.Title = p.Verdict + " · packgate"
	p.Revisions = v.revisions()
	number := 0
	top := v.others()
	if len(rows) > 0 {
		top = append(top, v.cautions(rows, l))
	}
	p.Top = v.nodes(top, "above", &number)
	p.Errors, p.Notices, p.Published = v.node(v.problems(r.Errors), "error", &number), v.node(v.notices(true), "note", &number), v.published()
	return p
}

// outside says where the details are that the page does not have; nil where it has all.
func (v *htmlView) outside() sentence {
	all := v.report.Packs.Len()
	if v.inside >= all || v.report.Partial != nil {
		return nil
	}
	words := fmt.Sprintf("This page has the details of %d of %s, those that need attention first. The folder ", v.inside, pack.Counted(all, "pack"))
	return plain(words).code(PagesDir).plain(" has a page for each pack: open ").code(PagesDir + "/" + indexFile).
		plain(". ").code("packgate check --report-dir DIR").plain(" writes it into ").code("DIR").plain(", beside this page.")
}

func (v *htmlView) alone() bool {
	return v.own || v.report.Only() != nil && failedRun(v.report) == "" && len(v.report.Published) == 0
}

// title is the headline of the page, and how it looks.
func (v *htmlView) title(packs model.Packs, rows []*packRow) (look, sentence) {
	switch why := failedRun(v.report); {
	case why != "":
		return cannotMerge, plain(cannotMerge.word + ": " + why)
	case v.report.Entries() == 0:
		return v.nothing()
	case v.report.Only() != nil:
		return v.verdict(packs.At(0)), v.headline(packs.At(0))
	}
	return v.severalTitle(rows)
}

// flat returns the words of a sentence alone.
func (v *htmlView) flat(s sentence) string { return strings.TrimSpace(v.text(s.words())) }

// overviewOf is a row for each pack, the worst first, which links to it.
func (v *htmlView) overviewOf(rows []*packRow) *table {
	t := v.overview(rows[:min(len(rows), maxHTMLRows)], func(r *packRow) sentence {
		if !r.There || r.at >= v.inside {
			return code(r.id + inWords(r.Brief))
		}
		return sentence{{kind: innerPiece, text: r.id + inWords(r.Brief), href: fmt.Sprintf("#p%d", r.at+1)}}
	})
	t.fold = 50
	return t
}

// revisions says what was checked, and against what.
func (v *htmlView) revisions() []htmlPiece {
	var sides []sentence
	for _, side := range []struct {
		word string
		at   *model.Revision
	}{{"base ", v.report.Base}, {"head ", v.report.Head}} {
		if side.at == nil {
			continue
		}
		words := plain(side.word)
		if side.at.Ref != "" && side.at.Ref != side.at.SHA {
			words = words.plain(side.at.Ref + " ")
		}
		sides = append(sides, words.code(short(side.at.SHA)))
	}
	return v.say(series(" · ", sides...))
}

// filter returns the choices of the filters of findings, nil where there is nothing to choose.
func (v *htmlView) filter(packs iter.Seq2[int, *model.Pack]) *htmlFilter {
	total, severities, gates, states := 0, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range packs {
		for _, each := range p.Findings {
			severities[v.text(each.Severity)], gates[v.text(each.Gate)], states[stateOf(each)] = true, true, true
			total++
		}
	}
	return filterOf("finding", total, htmlChoice{"severity", "Severity", choices(severities)}, htmlChoice{"gate", "Check", choices(gates)}, htmlChoice{"state", "State", choices(states)})
}

// filterOf returns a filter of several things, nil for fewer.
func filterOf(noun string, total int, all ...htmlChoice) *htmlFilter {
	if total < 2 {
		return nil
	}
	return &htmlFilter{noun, total, slices.DeleteFunc(all, func(c htmlChoice) bool { return c.Values == nil })}
}

// choices returns what one can choose from, nil where there is no choice.
func choices(set map[string]bool) []string {
	if len(set) < 2 {
		return nil
	}
	return slices.Sorted(maps.Keys(set))
}

type htmlEnd struct {
	LeftOut   []htmlPiece
	Tool      string
	Revisions []htmlPiece
	// Playground says why the page compiles nothing.
	Playground string
	Script     template.Markup
}

func (v *htmlView) bottom() htmlEnd {
	t := v.report.Tool
	return htmlEnd{
		Tool: fmt.Sprintf("%s %s, rules %s", v.text(t.Name), v.text(t.Version), v.text(t.RulesVersion)), Revisions: v.revisions(),
		LeftOut: v.say(v.outside()), Script: htmlScripts(v.program), Playground: v.noPlayground(),
	}
}
