package risk

import "github.com/contextosai/packgate/gates/gate"

// toolsByEvidence returns the capabilities that give each piece of evidence, by
// its folded name (rule catalogue, "Referential integrity": the names that an
// allowed permission gives).
func toolsByEvidence(open []*capability) map[string][]*capability {
	tools := map[string][]*capability{}
	for _, c := range open {
		seen := map[string]bool{}
		for _, name := range gate.EvidenceNames(c.adapter.AdapterID.Value, c.name) {
			if name = gate.FoldEvidence(name); !seen[name] {
				seen[name] = true
				tools[name] = append(tools[name], c)
			}
		}
	}
	return tools
}
