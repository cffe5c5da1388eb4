package cli

import (
	"fmt"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/render"
)

// renewedHashes returns the edits that record the hashes of replay packets anew, of one golden
// case or of all, and says which packets are written and why the others stay as they are.
func (p opened) renewedHashes(caseName string) (edits []gating.Edit, said []string, err error) {
	if p.unit.Pack == nil {
		return nil, nil, nil
	}
	for _, r := range replay.Renewals(gate.NewSubject(p.unit, p.Environments, p.Config)) {
		if caseName != "" && r.Case != caseName {
			continue
		}
		doc := r.Packet.Document
		line := "wrote the compiled_context_hash of " + doc.File
		if r.Hash == "" {
			line = fmt.Sprintf("left the compiled_context_hash of %s: %s", doc.File, r.Why)
		} else {
			edit, err := replaced(r.Packet.Name, doc, r.Packet.CompiledContextHash.Node, r.Hash)
			if err != nil {
				return nil, nil, err
			}
			edits = append(edits, edit)
		}
		if line, err = build.Masked(line, []*pack.Document{doc, p.unit.Document}); err != nil {
			return nil, nil, err
		}
		said = append(said, render.Visible(line))
	}
	return edits, said, nil
}
