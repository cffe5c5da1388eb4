package gates

import (
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
)

// Lost returns what a pack proves less than the version that it is compared with, and what
// was measured worse, as the rules find it, whatever the policy says of them.
func Lost(s *gate.Subject) (found []finding.Finding) {
	if unread(s) != "" {
		return nil
	}
	for _, g := range append(slices.Clip(All()), overlays.Gate) {
		if g.Layer != "" && !gate.IsObject(s.Pack.Node.Get(g.Layer)) {
			continue
		}
		for _, rule := range g.Rules {
			if rule.Check == nil || !rule.Ratchet && rule != evaluation.EVL008 {
				continue
			}
			p := gate.NewPass(s, g, rule)
			rule.Check(p)
			list, _ := p.Results()
			found = append(found, list...)
		}
	}
	return finding.Sort(found)
}
