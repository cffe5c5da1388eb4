package risk

import (
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/policy"
)

// toolsByEvidence returns the tools that give each piece of evidence, by
// its folded name (rule catalogue, "Referential integrity": the names that an
// allowed permission gives).
func toolsByEvidence(open []*policy.Tool) map[string][]*policy.Tool {
	tools := map[string][]*policy.Tool{}
	for _, t := range open {
		seen := map[string]bool{}
		for _, name := range gate.EvidenceNames(t.ToolID.Adapter, t.Capability) {
			if name = gate.FoldEvidence(name); !seen[name] {
				seen[name] = true
				tools[name] = append(tools[name], t)
			}
		}
	}
	return tools
}
