package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/playground/engine"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// What a page holds of playgrounds is bounded: in how many packs have one, and in how
// many bytes each of them takes.
const (
	maxPlaygrounds     = 20
	maxPlaygroundBytes = 1 << 20
)

// Playground is what a page needs to compile a pack for requests that its reader puts
// together: the bytes of both versions and the golden cases.
type Playground struct {
	Source json.RawMessage // an engine.Subject as JSON in ASCII; nil where there is none
	Reason string          // why there is none
}

var tooManyPlaygrounds = fmt.Sprintf("only %d packs of a report can be compiled in its page, and this is one more", maxPlaygrounds)

// ready reports whether the pack can be compiled in a page.
func (p *Playground) ready() bool { return p != nil && p.Source != nil }

// KeepPlayground takes the playground from a pack that is not to have one: a page has
// so many, and those of packs that changed or do not pass are worth most. It takes how
// many packs before it have one, and returns how many have one then.
func (p *Pack) KeepPlayground(before int) int {
	switch {
	case !p.Playground.ready():
		return before
	case p.Diff != nil && p.Diff.Class == "none" && p.Result == Passed:
		p.Playground = &Playground{Reason: "nothing of the pack changed"}
		return before
	case before >= maxPlaygrounds:
		p.Playground = &Playground{Reason: tooManyPlaygrounds}
		return before
	}
	return before + 1
}

// newPlayground returns the playground of a pack; nil where none is asked for. The
// documents are all that it is made from: it holds the files as they are, so none of
// them may have a secret.
func newPlayground(s *gate.Subject, c Comparison, documents []*pack.Document) *Playground {
	if !c.Playground || s.Pack == nil {
		return nil
	}
	if name := cmp.Or(s.Config.Compile.Tokenizer.Value, (compiler.Estimate{}).Name()); name != (compiler.Estimate{}).Name() {
		return &Playground{Reason: fmt.Sprintf("its tokens are counted with %q, whose vocabulary is too large for a page", name)}
	}
	documents = append(documents, s.Unit.Document)
	var base *pack.Pack
	if c.Diff != nil {
		base, _ = c.Diff.Packs()
		documents = append(documents, base.Node.Document())
	}
	if maskOf(s.Detected(), documents) != nil {
		return &Playground{Reason: "a file of the pack holds a secret, and a playground would show it"}
	}
	subject := engine.Subject{Head: formsOf(s.Unit, s.Golden()), Cases: playgroundCases(s.Golden(), c)}
	if base != nil {
		before := *s.Unit // the overlays are those of the head, as in the comparison
		before.Pack, before.Document, before.Published = base, base.Node.Document(), nil
		version := formsOf(&before, s.Golden())
		subject.Base = &version
	}
	source, err := json.Marshal(subject)
	if err != nil { // of what was read from JSON, which has such a form
		return &Playground{Reason: err.Error()}
	}
	if source = asciiJSON(source); len(source) > maxPlaygroundBytes {
		return &Playground{Reason: fmt.Sprintf("its files take more than %d bytes of a page", maxPlaygroundBytes)}
	}
	return &Playground{Source: source}
}

// formsOf returns the forms of a pack that golden cases are about.
func formsOf(u *repo.Unit, cases []golden.Result) engine.Version {
	v := engine.Version{Forms: map[string]string{"": string(u.Document.Source)}}
	for _, r := range cases {
		if r.Overlay == "" || r.Detail == nil {
			continue
		}
		if view, err := overlay.ForCase(u, r.Overlay); err == nil {
			v.Forms[r.Overlay] = string(view.Unit.Document.Source)
		}
	}
	return v
}

// playgroundCases returns the golden cases that were compiled, as they were.
func playgroundCases(results []golden.Result, c Comparison) []engine.Case {
	base := map[string]string{}
	for i := range c.Compiles {
		base[c.Compiles[i].File] = c.Compiles[i].Base.Hash
	}
	cases := []engine.Case{}
	for _, r := range results {
		if r.Detail == nil {
			continue
		}
		cases = append(cases, engine.Case{
			Name: r.Case, Overlay: r.Overlay, Invoke: r.Request.Invoke, RunContext: r.Request.RunContext,
			Evidence: r.Request.Evidence, Memory: r.Request.Memory, Catalog: r.Request.Catalog,
			Hash: r.Hash, BaseHash: base[r.File],
		})
	}
	return cases
}

// asciiJSON writes all of a JSON text that is not printable ASCII as escapes, and what
// else the page around it would change or take for its own: it is data in a script
// element. json.Marshal has escaped <, > and &.
func asciiJSON(src []byte) []byte {
	var b strings.Builder
	for _, r := range string(src) {
		switch {
		case r == '#' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}
