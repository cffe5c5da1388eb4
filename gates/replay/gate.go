// Package replay is the replay gate: golden cases and earlier decisions still
// come out as they did.
//
// A pack is only data; what it does shows when it is compiled. So the cases beside
// it are compiled, each twice, and compared with what their author expects and
// with what was stored. The work itself is package golden's, which also serves the
// command that writes snapshots; the rules here say which of its problems is which
// fault, and ask what is true of the cases together: whether every intent, branch
// and gate has one, and whether the tools that can be surfaced are those that
// tool-surface.json lists.
//
// A replay packet is a run that happened once and a decision record what came of
// it. Neither is run again: nothing live is ever called. What they rest on is
// looked up in the pack, and where a golden case has their request, its compile is
// compared.
//
// Three rules (RPL001, RPL003, RPL005) look at packgate and not at the pack. They
// can only fire over a fault in the compiler, and are checked all the same, because
// a promise that nobody checks is worth little.
package replay

import (
	"fmt"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
)

// Gate is the replay gate.
var Gate = &gate.Gate{
	ID:    "replay",
	Title: "Replay",
	About: "Golden cases and earlier decisions still come out as they did.",
	Rules: []*gate.Rule{RPL001, RPL002, RPL003, RPL004, RPL005, RPL006, RPL007, RPL008, RPL009, RPL010, RPL011, RPL012},
}

// compiled returns the results of the golden cases, and notes that there are none.
func compiled(p *gate.Pass) []golden.Result {
	results := p.Golden()
	if len(results) == 0 {
		p.NotChecked("there is no golden case")
	}
	return results
}

// unfit returns what keeps the pack from being compiled, whatever the request is;
// nil where nothing does.
func unfit(p *gate.Pass) *golden.Problem {
	for _, r := range p.Golden() {
		for i := range r.Problems {
			if r.Problems[i].Kind == golden.KindPack {
				return &r.Problems[i]
			}
		}
	}
	return nil
}

// notes bounds how many reasons for not checking a rule lists one by one.
type notes struct {
	*gate.Pass
	count int
}

// mostNotes is how many reasons are listed.
const mostNotes = 50

// unchecked notes a reason, and after many of them only that there are more.
func (n *notes) unchecked(format string, args ...any) {
	switch n.count++; {
	case n.count <= mostNotes:
		n.NotChecked(fmt.Sprintf(format, args...))
	case n.count == mostNotes+1:
		n.NotChecked(fmt.Sprintf("more than these %d", mostNotes))
	}
}

// ownRef returns the reference of the pack, pack_id@pack_version; "" where it has
// none.
func ownRef(p *gate.Pass) string {
	if m := &p.Pack.PackMeta; !m.PackID.OK || !m.PackVersion.OK {
		return ""
	}
	return p.Pack.Ref()
}

// idPlace is where findings about the pack as a whole stand.
func idPlace(p *gate.Pass) *pack.Node {
	return pack.Place(p.Pack.PackMeta.PackID.Node, p.Pack.PackMeta.Node, p.Pack.Node)
}
