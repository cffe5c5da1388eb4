package reporttest

import "github.com/contextosai/packgate/report/model"

// Bound returns a pack with a graph that has nodes and edges of each form, and rows of the tool surface
// of which some have a request in common.
func Bound() model.Pack {
	p := Clean(model.Passed)
	p.Graph = &model.Graph{
		Nodes: []model.GraphNode{
			{Kind: model.RuleNode, Label: "R_A", Detail: "support.refund", Line: 12}, {Kind: model.DecisionNode, Label: "<gone> ##[x]", Missing: true},
			{Kind: model.GateNode, Label: "GATE", Line: 40}, {Kind: model.ToolNode, Label: "a.b"}, {Kind: model.EvidenceNode, Label: "", Detail: "where?"},
			{Kind: model.EvidenceNode, Label: "e", Line: 7, Missing: true},
		},
		Edges:        []model.GraphEdge{{From: 0, To: 1, Kind: "binds", Broken: true}, {From: 5, To: 0, Kind: "gates"}, {From: 3, To: 3, Kind: "permits"}},
		NodesLeftOut: 2, EdgesLeftOut: 1,
	}
	row := func(capability string, request map[string]any) model.SurfaceRow {
		return model.SurfaceRow{Intent: "support.refund", Capability: capability, ApprovalMode: "network", SafetyMode: "network", Gates: []string{}, Bounds: map[string]any{}, Ungated: request}
	}
	bounded := row("a.bounded", refundOf(3000))
	bounded.Bounds, bounded.Gates = map[string]any{"amount": map[string]any{"max": 5.0}}, []string{"GATE"}
	p.ToolSurface = []model.SurfaceRow{
		row("a.first", refundOf(3000)), row("a.held", nil), row("a.other", refundOf(1)), bounded, row("a.any", map[string]any{}),
		row("a.html", map[string]any{"request": map[string]any{"context": map[string]any{"name": "<a>&##[x]"}}}),
	}
	return p
}
