package build

import (
	"cmp"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/playground/engine"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
	"github.com/contextosai/packgate/report/model"
)

// newPlayground returns the playground of a pack; nil where none is asked for. The documents
// are all that it is made from, as they are, so none of them may have a secret.
func newPlayground(s *gate.Subject, c Comparison, documents []*pack.Document) *model.Playground {
	if !c.Playground || s.Pack == nil {
		return nil
	}
	if name := cmp.Or(s.Config.Compile.Tokenizer.Value, (compiler.Estimate{}).Name()); name != (compiler.Estimate{}).Name() {
		return &model.Playground{Reason: fmt.Sprintf("its tokens are counted with %q, whose vocabulary is too large for a page", name)}
	}
	documents = append(documents, s.Unit.Document)
	var base *pack.Pack
	if c.Diff != nil {
		base, _ = c.Diff.Packs()
		documents = append(documents, base.Node.Document())
	}
	if maskOf(s.Detected(), documents) != nil {
		return &model.Playground{Reason: "a file of the pack holds a secret, and a playground would show it"}
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
		return &model.Playground{Reason: err.Error()}
	}
	if source = asciiJSON(source); len(source) > model.MaxPlaygroundBytes {
		return &model.Playground{Reason: fmt.Sprintf("its files take more than %d bytes of a page", model.MaxPlaygroundBytes)}
	}
	return &model.Playground{Source: source}
}

func formsOf(u *repo.Unit, cases []golden.Result) engine.Version {
	v := engine.Version{Forms: map[string]string{"": string(u.Document.Source)}, Shared: u.Pack != nil && u.Pack.Shared}
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

func playgroundCases(results []golden.Result, c Comparison) []engine.Case {
	base := map[string]string{}
	for i := range c.Compiles {
		base[c.Compiles[i].File] = c.Compiles[i].Base.Hash
	}
	cases := []engine.Case{}
	for _, r := range results {
		if r.Detail == nil || len(r.Together) > 0 { // a page has one pack
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
	out, done := make([]byte, 0, len(src)), 0 // of src
	for i, r := range string(src) {
		if r < 0x7f && r != '#' {
			continue
		}
		out = append(out, src[done:i]...)
		_, size := utf8.DecodeRune(src[i:])
		done = i + size
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return append(out, src[done:]...)
}
