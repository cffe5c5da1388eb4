package render

import (
	"encoding/base64"
	"fmt"
	"html/template"

	"github.com/contextosai/packgate/playground"
	"github.com/contextosai/packgate/report/model"
)

type htmlPack struct {
	ID         string
	Title      string
	Tone, Mark string
	Todo       []htmlPiece
	About      []htmlPiece
	Gates      []htmlGate
	Contents   []htmlLink
	Sections   []htmlSection
	Playground *htmlPlayground
}

type htmlLink struct{ ID, Title string }

type htmlGate struct {
	Tone, Mark, Name, Words string
}

func (v *htmlView) pack(p *model.Pack, number int) htmlPack {
	out := htmlPack{
		ID: fmt.Sprintf("p%d", number), Title: titleOf(p, v.text), Tone: tone(string(p.Result)), Mark: looks[string(p.Result)].mark,
		Todo: v.say(todoWords(todoOf(p))), About: v.about(p),
	}
	if v.alone() { // the heading of the page says it
		out.Title, out.Todo = v.text(p.Name()), nil
	}
	for _, c := range gateCells(p.Gates, v.text, v.text) {
		out.Gates = append(out.Gates, htmlGate{tone(c.status), looks[c.status].mark, c.names, c.words})
	}
	for _, s := range v.builder.pack(p) {
		out.Sections = append(out.Sections, v.section(&s, out.ID))
	}
	out.Playground = v.playground(p, out.ID)
	out.contents()
	return out
}

// mostWithoutContents is up to how many parts of a pack need no list of them.
const mostWithoutContents = 2

func (out *htmlPack) contents() {
	if len(out.Sections) <= mostWithoutContents {
		return
	}
	for _, s := range out.Sections {
		out.Contents = append(out.Contents, htmlLink{s.ID, s.Title})
	}
	if out.Playground != nil {
		out.Contents = append(out.Contents, htmlLink{out.Playground.ID, "Compile it yourself"})
	}
}

func (v *htmlView) about(p *model.Pack) []htmlPiece {
	words := at(spot{file: p.Path})
	if p.Digest != "" {
		words = words.plain(" · ").code(p.Digest)
	}
	return v.say(words.plain(" · " + counts(p)))
}

// htmlPlayground is the place of a page where a pack can be compiled.
type htmlPlayground struct {
	ID     string
	Reason string        // why there is none
	Source template.HTML // the data, an element of its own
}

// htmlProgram is what runs the playgrounds of a page, at the end of it.
type htmlProgram struct {
	size    int
	sources string // of scripts, for the content security policy
	html    template.HTML
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
		html: template.HTML(`<script type="text/plain" id="playground-wasm">` + text + "</script>\n<script>" + glue + "</script>\n<script>" +
			string(playgroundScript) + "</script>"),
	}
}

// playground returns the place where a pack can be compiled; nil where nothing is to
// be said of it.
func (v *htmlView) playground(p *model.Pack, id string) *htmlPlayground {
	if _, _, ok := playgroundProgram(); !ok || p.Playground == nil {
		return nil
	}
	out := &htmlPlayground{ID: id + "-playground", Reason: v.text(p.Playground.Reason)}
	if !p.Playground.Ready() {
		return out
	}
	if v.playgrounds++; v.playgrounds > model.MaxPlaygrounds {
		out.Reason = model.TooManyPlaygrounds
		return out
	}
	// It is JSON without <, > and & (asciiJSON).
	out.Source = template.HTML(`<script type="application/json" class="source">` + string(p.Playground.Source) + "</script>")
	return out
}

// noPlayground says why a page has no playground at all, "" where it has one or needs
// none.
func (v *htmlView) noPlayground(packs model.Packs, program *htmlProgram) string {
	if program != nil || packs.Len() == 0 {
		return ""
	}
	if _, _, ok := playgroundProgram(); !ok {
		return "This packgate was built without the playground, in which a page compiles packs itself; released binaries have it."
	}
	return "Nothing can be compiled in this page: it was written from a stored report, which does not hold the packs, or no pack is fit for it."
}

// htmlPublished is what the page shows of what became of versions in a registry.
type htmlPublished struct {
	Title string
	List  htmlNode
}

// htmlKnown is what is known of a version; Fold is what to call it where it is folded.
type htmlKnown struct {
	Fold     string
	Facts    []htmlFact
	Commands []htmlCommand
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

// openPublications is up to how many publications are shown with all that is known.
const openPublications = 3

// published returns what became of versions in the registry, nil where there is
// nothing to say.
func (v *htmlView) published() *htmlPublished {
	all := published(v.report)
	if len(all) == 0 {
		return nil
	}
	number := 0
	out := &htmlPublished{Title: partTitle(all), List: v.node(v.publications(all), "published", &number)}
	for i := range out.List.Items {
		if k := out.List.Items[i].Known; k != nil && len(all) > openPublications {
			k.Fold = knownTitle(all[i : i+1])
		}
	}
	return out
}

// known returns what is known of a version, nil for nothing.
func (v *htmlView) known(k *known) *htmlKnown {
	if k == nil || len(k.facts)+len(k.commands) == 0 {
		return nil
	}
	out := &htmlKnown{}
	for _, f := range k.facts {
		shown := htmlPiece{Text: v.text(f.value), Code: !f.words, Plain: f.words}
		if f.name == pullRequestFact && model.WebURL(f.value) {
			shown = v.link(f.value, v.text(f.value))
		}
		out.Facts = append(out.Facts, htmlFact{f.name, shown})
	}
	for _, c := range k.commands {
		shown := htmlCommand{Name: "Check it " + c.name}
		if lines, ok := copyable(c.line); ok {
			shown.Lines = lines
			v.size += len(c.line)
		} else {
			shown.Sentence = notCopyable
		}
		out.Commands = append(out.Commands, shown)
	}
	return out
}

func (v *htmlView) publishVerdict(p *htmlPage) {
	all := published(v.report)
	l, words := publishTitle(all, v.text)
	p.Verdict, p.Tone, p.Mark = words, toneOf(l), l.mark
	p.Todo = v.say(publishTodoWords(all))
}
