package model

import (
	"encoding/json"
	"fmt"
)

// What a page holds of playgrounds is bounded: in how many packs have one, and in how
// many bytes each of them takes.
const (
	MaxPlaygrounds     = 20
	MaxPlaygroundBytes = 1 << 20
)

// Playground is what a page needs to compile a pack for requests that its reader puts
// together: the bytes of both versions and the golden cases.
type Playground struct {
	Source json.RawMessage // an engine.Subject as JSON in ASCII; nil where there is none
	Reason string          // why there is none
}

var TooManyPlaygrounds = fmt.Sprintf("only %d packs of a report can be compiled in its page, and this is one more", MaxPlaygrounds)

// Ready reports whether the pack can be compiled in a page.
func (p *Playground) Ready() bool { return p != nil && p.Source != nil }

// KeepPlayground takes the playground from a pack that is not to have one: a page has
// so many, and those of packs that changed or do not pass are worth most. It takes how
// many packs before it have one, and returns how many have one then.
func (p *Pack) KeepPlayground(before int) int {
	switch {
	case !p.Playground.Ready():
		return before
	case p.Diff != nil && p.Diff.Class == "none" && p.Result == Passed:
		p.Playground = &Playground{Reason: "nothing of the pack changed"}
		return before
	case before >= MaxPlaygrounds:
		p.Playground = &Playground{Reason: TooManyPlaygrounds}
		return before
	}
	return before + 1
}
