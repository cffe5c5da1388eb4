package build

import (
	"fmt"

	"github.com/contextosai/packgate/report/model"
)

// graph cuts what was found to the bounds and gives the nodes their ids. What is
// broken is kept first.
func (g *grapher) graph() *model.Graph {
	kept := g.kept()
	out := &model.Graph{Nodes: []model.GraphNode{}, Edges: []model.GraphEdge{}, NodesLeftOut: len(g.nodes)}
	for i := range g.nodes {
		if kept[i] {
			g.nodes[i].ID = fmt.Sprintf("n%d", len(out.Nodes)+1)
			out.Nodes = append(out.Nodes, g.nodes[i])
			out.NodesLeftOut--
		}
	}
	g.authorities(kept)
	for _, broken := range []bool{true, false} {
		for _, l := range g.links {
			switch {
			case l.broken != broken:
			case kept[l.from] && kept[l.to] && len(out.Edges) < maxGraphEdges:
				out.Edges = append(out.Edges, model.GraphEdge{From: g.nodes[l.from].ID, To: g.nodes[l.to].ID, Kind: l.kind, Broken: l.broken})
			default:
				out.EdgesLeftOut++
			}
		}
	}
	return out
}

// kept says which nodes are within the bound: those of broken edges, and then the
// others in their order.
func (g *grapher) kept() []bool {
	kept := make([]bool, len(g.nodes))
	room := maxGraphNodes
	keep := func(i int) {
		if !kept[i] && room > 0 {
			kept[i] = true
			room--
		}
	}
	for _, l := range g.links {
		if l.broken {
			keep(l.from)
			keep(l.to)
		}
	}
	for i := range g.nodes {
		keep(i)
	}
	return kept
}

// authorities leads from decisions to the tools that they may authorise (compiler,
// stage 3): those above read_only, and no more than the decision's own mode. What
// only reads needs no decision.
func (g *grapher) authorities(kept []bool) {
	for d := range g.nodes {
		if !kept[d] || g.nodes[d].Kind != model.DecisionNode || g.nodes[d].Missing {
			continue
		}
		for t := range g.nodes {
			if kept[t] && g.nodes[t].Kind == model.ToolNode && !g.nodes[t].Missing && g.ranks[t] > 0 && g.ranks[t] <= g.ranks[d] {
				g.link(d, t, "authorises", false)
			}
		}
	}
}
