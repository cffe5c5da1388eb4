package render

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/playground"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/template"
)

type htmlPack struct {
	ID         string
	Title      string
	Tone, Mark string
	Page       []htmlNode // of a reviewer
	About      []htmlPiece
	Filter     *htmlFilter // of the only one, below its page
	Sections   []htmlSection
	Playground *htmlPlayground
}

func (v *htmlView) pack(p *model.Pack, number int) htmlPack {
	l, about := v.verdict(p), at(spot{file: p.Path})
	if p.Digest != "" {
		about = about.plain(" · ").code(p.Digest)
	}
	out := htmlPack{ID: fmt.Sprintf("p%d", number), Title: v.flat(v.headline(p)), Tone: toneOf(l), Mark: l.mark, About: v.say(about)}
	if v.alone() { // the heading of the page says it
		out.Title, out.Filter = v.text(p.Name()), v.filter(slices.All([]*model.Pack{p}))
	}
	out.Page = v.nodes(v.builder.page(p), out.ID+"-page", new(int))
	out.Sections = each(v.builder.pack(p), func(s section) htmlSection { return v.section(&s, out.ID) })
	out.Playground = v.playground(p, out.ID)
	return out
}

// htmlPlayground is the place of a page where a pack can be compiled.
type htmlPlayground struct {
	ID     string
	Reason string          // why there is none
	Source template.Markup // the data, an element of its own
}

// htmlProgram is what runs the playgrounds of a page, at the end of it.
type htmlProgram struct {
	size    int
	sources string // of scripts, for the content security policy
	html    template.Markup
}

// playgroundProgram is what runs playgrounds. Tests have one of their own.
var playgroundProgram = playground.Program

// program returns what runs the playgrounds of a report, nil where it has none. The
// WebAssembly is text that is not looked at before somebody asks for it.
func program(packs model.Packs) *htmlProgram {
	any := false
	for _, b := range packs.Briefs() {
		any = any || b.Playground
	}
	wasm, glue, ok := playgroundProgram()
	if !ok || !any {
		return nil
	}
	text := base64.StdEncoding.EncodeToString(wasm)
	// All of it is our own or the Go distribution's, and the hashes are of these bytes.
	return &htmlProgram{
		size:    len(text) + len(glue) + len(playgroundScript),
		sources: fmt.Sprintf(" 'wasm-unsafe-eval' '%s' '%s'", cspHash([]byte(glue)), cspHash(playgroundScript)),
		html: template.Markup(`<script type="text/plain" id="playground-wasm">` + text + "</script>\n<script>" + glue + "</script>\n<script>" +
			string(playgroundScript) + "</script>"),
	}
}

// playground returns the place where a pack can be compiled; nil where nothing is said of it.
func (v *htmlView) playground(p *model.Pack, id string) *htmlPlayground {
	if _, _, ok := playgroundProgram(); !ok || p.Playground == nil {
		return nil
	}
	out := &htmlPlayground{ID: id + "-playground", Reason: v.text(p.Playground.Reason)}
	switch {
	case !p.Playground.Ready():
		return out
	case v.own:
		out.Reason = "the page of one of many packs cannot compile it. Run packgate check with this pack alone and --format html"
		return out
	}
	if v.playgrounds++; v.playgrounds > model.MaxPlaygrounds {
		out.Reason = model.TooManyPlaygrounds
		return out
	}
	// It is JSON without <, > and & (asciiJSON).
	out.Source = template.Markup(`<script type="application/json" class="source">` + string(p.Playground.Source) + "</script>")
	return out
}

// noPlayground says why a page has no playground at all, "" where it has one or needs none.
func (v *htmlView) noPlayground() string {
	if v.program != nil || v.own || v.report.Packs.Len() == 0 {
		return ""
	}
	if _, _, ok := playgroundProgram(); !ok {
		return "This packgate was built without the playground, in which a page compiles packs itself; released binaries have it."
	}
	return "Nothing can be compiled in this page: it was written from a stored report, which does not contain the packs, or no pack is suitable."
}

type htmlFact struct {
	Name  string
	Value htmlPiece
}

// htmlCommand is a command in lines, or a sentence where it cannot be shown.
type htmlCommand struct {
	Name     string
	Lines    []string
	Sentence string
}

// published returns what became of versions in the registry, nil for nothing.
func (v *htmlView) published() *htmlSection {
	all := published(v.report)
	if len(all) == 0 {
		return nil
	}
	return &htmlSection{Words: partTitle(all), Nodes: []htmlNode{v.node(v.publications(all), "published", new(int))}}
}

func (v *htmlView) fact(f fact) htmlFact {
	if f.name == pullRequestFact && model.WebURL(f.value) {
		return htmlFact{f.name, v.link(f.value, v.text(f.value))}
	}
	return htmlFact{f.name, htmlPiece{Text: v.text(f.value), Code: !f.words, Plain: f.words}}
}

func (v *htmlView) command(c shellCommand) *htmlCommand {
	lines, ok := copyable(c.line)
	if !ok {
		return &htmlCommand{Name: "Check it " + c.name, Sentence: notCopyable}
	}
	v.size += len(c.line)
	return &htmlCommand{Name: "Check it " + c.name, Lines: lines}
}

func (v *htmlView) sides(c *model.Change) []htmlSide {
	before, now := v.sideLines(c.Path, c.Old), v.sideLines(c.Path, c.New)
	markLines(before, now)
	label := func(word string, lines []htmlSideLine, line int) htmlSide {
		switch {
		case len(lines) == 0:
			word += ": nothing"
		case line > 0:
			word += fmt.Sprintf(", line %d", line)
		}
		return htmlSide{word, lines}
	}
	return []htmlSide{label("Before", before, c.BaseLine), label("Now", now, c.Line)}
}

// maxSideLines and maxLetters bound one of two values that stand side by side.
const (
	maxSideLines = 200
	maxLetters   = 400
)

// sideLines returns the lines of a value: a condition in infix, all else as JSON.
func (v *htmlView) sideLines(path string, value json.RawMessage) (out []htmlSideLine) {
	if len(value) == 0 || !conditionAt(path) {
		return v.jsonLines(value)
	}
	for i, part := range strings.Split(asWritten(path, value), " and ") {
		if i > 0 {
			part = "and " + part
		}
		if i == maxSideLines {
			return append(out, htmlSideLine{Text: "…"})
		}
		out = append(out, htmlSideLine{Text: v.text(part)})
	}
	return out
}

// jsonLines returns the lines of a value as indented JSON, none for no value.
func (v *htmlView) jsonLines(value json.RawMessage) []htmlSideLine {
	if len(value) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return []htmlSideLine{{Text: v.text(string(value))}}
	}
	var out []htmlSideLine
	all := strings.Count(b.String(), "\n") + 1
	for line := range strings.Lines(b.String()) {
		if len(out) == maxSideLines {
			return append(out, htmlSideLine{Text: leftOut(all-maxSideLines, "line")})
		}
		text := Visible(shorten(strings.TrimRight(line, "\n"), maxLetters))
		v.size += len(text)
		out = append(out, htmlSideLine{Text: text})
	}
	return out
}

// markLines marks the lines of two values that the other does not have: all but a
// longest common subsequence. Where there is one value alone, nothing is marked.
func markLines(before, now []htmlSideLine) {
	if len(before) == 0 || len(now) == 0 {
		return
	}
	common := make([][]int, len(before)+1) // of what is left of both
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if before[i].Text == now[j].Text {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(before) || j < len(now) {
		switch {
		case i < len(before) && j < len(now) && before[i].Text == now[j].Text:
			i, j = i+1, j+1
		case j == len(now) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			before[i].Differs, before[i].Mark = true, "−"
			i++
		default:
			now[j].Differs, now[j].Mark = true, "+"
			j++
		}
	}
}
