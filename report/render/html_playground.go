package render

import (
	"encoding/base64"
	"fmt"
	"html/template"

	"github.com/contextosai/packgate/playground"
	"github.com/contextosai/packgate/report/model"
)

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
func program(packs model.Packs, parts *htmlParts) *htmlProgram {
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
		size:    len(text) + len(glue) + len(parts.playground),
		sources: fmt.Sprintf(" 'wasm-unsafe-eval' '%s' '%s'", cspHash([]byte(glue)), cspHash(parts.playground)),
		html: template.HTML(`<script type="text/plain" id="playground-wasm">` + text + "</script>\n<script>" + glue + "</script>\n<script>" +
			string(parts.playground) + "</script>"),
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
