package render

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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

// maxHTML bounds the page in bytes. Packs that do not fit are counted, and in the JSON report.
const maxHTML = 64 << 20

// What stands in the head and at the end of each page.
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

// head returns what stands in the head of a page, which runs these scripts and no
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
// pack is escaped, and packs that fail come first. The page stays below 64 MiB; what is
// left out is counted, and is in the JSON report. The error is that of the writer.
func HTMLReport(w io.Writer, r *model.Report) error { return htmlWithin(w, r, maxHTML) }

// htmlWithin leaves out the packs with which the page would be longer than that.
func htmlWithin(w io.Writer, r *model.Report, most int) error {
	templates, err := loadHTML()
	if err != nil {
		return fmt.Errorf("load the templates of the HTML report: %w", err)
	}
	packs := r.Packs.Urgent()
	v := &htmlView{builder: &builder{report: r, most: 400, places: maxPlaces, whole: true}, program: program(packs)}
	if v.program != nil {
		most -= v.program.size
	}
	out := htmlPieces{to: w}
	write := func(name string, data any, about string) error {
		if err := templates.Execute(&out.piece, name, data); err != nil {
			return fmt.Errorf("write the HTML report%s: %w", about, err)
		}
		return nil
	}
	if err := cmp.Or(write("top", v.page(packs), ""), out.keep()); err != nil {
		return err
	}
	left := 0
	for i := range packs.Len() {
		if left > 0 || out.size > most || !packs.There(i) {
			left++
			continue
		}
		if err := write("pack", v.pack(packs.At(i), i+1), " of "+packs.Brief(i).Path); err != nil {
			return err
		}
		if out.size+out.piece.Len() > most && i > 0 {
			out.piece.Reset()
			left++
			continue
		}
		if err := out.keep(); err != nil {
			return err
		}
	}
	return cmp.Or(write("bottom", v.bottom(left), ""), out.keep())
}

// htmlPieces writes a page piece by piece: all of it is much larger than each.
type htmlPieces struct {
	to    io.Writer
	piece bytes.Buffer
	size  int // of what was kept
}

// keep writes the piece, and begins another one. GitHub's runner takes ##[ for a command wherever it
// stands in a log, should somebody print the page. It can stand in text only, where the reference
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
	Tone, Mark     string
	Todo           []htmlPiece
	Top            []htmlNode // what is said of all packs
	Revisions      []htmlPiece
	Errors         htmlNode
	Published      *htmlSection
	Notices        htmlNode
	Filter         *htmlFilter
}

// htmlFilter has the choices of the filters; nil where all findings are alike.
type htmlFilter struct {
	Total                     int
	Severities, Gates, States []string
}

func (v *htmlView) page(packs model.Packs) htmlPage {
	r := v.report
	var rows []*packRow
	if several := r.Only() == nil && r.Entries() > 0; several {
		rows = v.rows(packs)
	}
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
		top = append(top, v.cautions(rows, l), v.overviewOf(rows))
	}
	top = append(top, v.beyond()...)
	p.Top = v.nodes(top, "top", &number)
	p.Errors, p.Notices, p.Published = v.node(v.problems(r.Errors), "error", &number), v.node(v.notices(true), "note", &number), v.published()
	if !v.alone() {
		p.Filter = v.filter(packs)
	}
	return p
}

func (v *htmlView) alone() bool {
	return v.report.Only() != nil && failedRun(v.report) == "" && len(v.report.Published) == 0
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

// overviewOf is a row for each pack, the worst first, which leads to it.
func (v *htmlView) overviewOf(rows []*packRow) *table {
	t := v.overview(rows[:min(len(rows), maxHTMLRows)], func(r *packRow) sentence {
		if !r.There {
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

// filter returns the choices of the filters, nil where there is nothing to choose.
func (v *htmlView) filter(packs model.Packs) *htmlFilter {
	f := &htmlFilter{}
	severities, gates, states := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range packs.All() {
		for _, each := range p.Findings {
			severities[v.text(each.Severity)], gates[v.text(each.Gate)], states[stateOf(each)] = true, true, true
			f.Total++
		}
	}
	if f.Total < 2 {
		return nil
	}
	f.Severities, f.Gates, f.States = choices(severities), choices(gates), choices(states)
	return f
}

// choices returns what one can choose from, nil where there is no choice.
func choices(set map[string]bool) []string {
	if len(set) < 2 {
		return nil
	}
	return slices.Sorted(maps.Keys(set))
}

type htmlEnd struct {
	LeftOut   string
	Tool      string
	Revisions []htmlPiece
	// Playground says why the page compiles nothing.
	Playground string
	Script     template.Markup
}

func (v *htmlView) bottom(left int) htmlEnd {
	t := v.report.Tool
	end := htmlEnd{Tool: fmt.Sprintf("%s %s, rules %s", v.text(t.Name), v.text(t.Version), v.text(t.RulesVersion)), Revisions: v.revisions(), Script: htmlScripts(v.program), Playground: v.noPlayground()}
	if left > 0 {
		end.LeftOut = leftOut(left, "pack")
	}
	return end
}
