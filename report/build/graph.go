package build

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// Bounds on a graph. Nobody reads more, and decisions and tools multiply.
const (
	maxGraphNodes = 400
	maxGraphEdges = 1200
	// maxGraphLinks bounds what one looks at, for prohibitions and tools multiply.
	maxGraphLinks = 20_000
)

// grapher builds a graph. Nodes are known by their index until it is done.
type grapher struct {
	*gate.Subject
	nodes      []model.GraphNode
	known      map[[2]string]int // by kind and label
	links      []link
	linked     map[link]bool
	unresolved map[string]bool  // pointers at which a reference finds nothing
	ranks      map[int]int      // of decisions and tools, by node: what they may do
	named      map[string][]int // tools by the names that prohibitions have for them
}

type link struct {
	from, to int
	kind     string
	broken   bool
}

// newGraph returns the binding graph of a pack, nil for none. Findings say what has no source.
func newGraph(s *gate.Subject, findings []finding.Finding) *model.Graph {
	if s.Pack == nil {
		return nil
	}
	g := &grapher{Subject: s, known: map[[2]string]int{}, linked: map[link]bool{}, unresolved: map[string]bool{}, ranks: map[int]int{}, named: map[string][]int{}}
	for _, f := range findings {
		if f.Gate == "references" && f.Location.File == s.Unit.Document.File {
			g.unresolved[f.Location.Pointer] = true
		}
	}
	g.declarations()
	for _, r := range s.Rules {
		g.rule(r.Rule)
	}
	for _, d := range s.Pack.DecisionLayer.DecisionSpecs.Items {
		if d.DecisionKey.OK {
			g.evidence(g.add(model.DecisionNode, d.DecisionKey.Value, nil, ""), d.RequiredEvidence)
		}
	}
	for i := range s.Pack.ToolingLayer.Permissions.Items {
		g.permission(&s.Pack.ToolingLayer.Permissions.Items[i])
	}
	if len(g.nodes) == 0 {
		return nil
	}
	return g.graph()
}

// add returns the node of a part, new where there is none; one that is nowhere is missing.
func (g *grapher) add(kind, label string, at *pack.Node, detail string) int {
	key := [2]string{kind, label}
	if i, ok := g.known[key]; ok {
		return i
	}
	n := model.GraphNode{Kind: kind, Label: label, Detail: detail, Missing: at == nil}
	if at != nil {
		n.Line = at.Document().Position(at.Start).Line
	}
	g.known[key] = len(g.nodes)
	g.nodes = append(g.nodes, n)
	return len(g.nodes) - 1
}

// link connects one node with another, once for each kind.
func (g *grapher) link(from, to int, kind string, broken bool) {
	l := link{from, to, kind, broken}
	if !g.linked[l] {
		g.linked[l] = true
		g.links = append(g.links, l)
	}
}

func (g *grapher) declarations() {
	for _, d := range g.Pack.DecisionLayer.DecisionSpecs.Items {
		if d.DecisionKey.OK {
			decision := g.Policy().Decision(d.DecisionKey.Value)
			g.ranks[g.add(model.DecisionNode, decision.Key, d.Node, decision.Weakest().ApprovalMode.Value)] = decision.Authority
		}
	}
	for _, a := range g.Pack.ToolingLayer.AdapterRegistry.Items {
		for _, c := range a.Capabilities.Items {
			if a.AdapterID.OK && c.OK {
				g.tool(a, c)
			}
		}
	}
	for _, a := range g.Pack.PolicyLayer.ApprovalGates.Items {
		if a.GateID.OK {
			g.add(model.GateNode, a.GateID.Value, a.Node, a.RequiredApproverRole.Value)
		}
	}
}

func (g *grapher) rule(r *pack.Rule) {
	from := g.add(model.RuleNode, r.RuleID.Value, r.Node, r.AppliesTo.Intent.Value)
	if b := r.DecisionBinding; b.OK {
		to := g.add(model.DecisionNode, b.Value, nil, "")
		g.link(from, to, "binds", g.nodes[to].Missing)
	}
	for _, o := range r.Outcomes() {
		g.evidence(from, o.Requires)
		g.gate(from, o.RequiresApprovalGate)
		for _, name := range o.Prohibits.Items {
			if name.OK {
				g.prohibits(from, name.Value)
			}
		}
	}
}

// tool adds a capability of an adapter. A prohibition names it with the adapter or alone.
func (g *grapher) tool(a pack.Adapter, c pack.Text) {
	id := a.AdapterID.Value + "." + c.Value
	tool := g.add(model.ToolNode, id, c.Node, a.ApprovalMode.Value)
	g.ranks[tool] = pack.Mode(a.ApprovalMode).Rank()
	for _, name := range []string{c.Value, id} {
		g.named[name] = append(g.named[name], tool)
	}
}

func (g *grapher) prohibits(from int, name string) {
	for _, tool := range g.named[name] {
		if len(g.links) < maxGraphLinks {
			g.link(from, tool, "prohibits", false)
		}
	}
	if len(g.named[name]) == 0 {
		g.link(from, g.add(model.ToolNode, name, nil, ""), "prohibits", true)
	}
}

func (g *grapher) gate(from int, id pack.Text) {
	if id.OK {
		to := g.add(model.GateNode, id.Value, nil, "")
		g.link(from, to, "gates", g.nodes[to].Missing)
	}
}

func (g *grapher) evidence(from int, names pack.List[pack.Text]) {
	for _, name := range names.Items {
		if name.OK {
			broken := g.unresolved[name.Node.Pointer()]
			to := g.add(model.EvidenceNode, name.Value, name.Node, "")
			g.nodes[to].Missing = broken
			g.link(from, to, "requires", broken)
		}
	}
}

func (g *grapher) permission(p *pack.Permission) {
	if !p.AdapterID.OK || !p.Capability.OK {
		return
	}
	kind := "permits"
	if !p.Allow.Value {
		kind = "forbids"
	}
	from := g.add(model.PermissionNode, p.PermissionID.Value, p.Node, "")
	tool := g.add(model.ToolNode, p.AdapterID.Value+"."+p.Capability.Value, nil, "")
	g.link(from, tool, kind, g.nodes[tool].Missing)
	g.gate(from, p.RequiresApprovalGate)
}

// graph cuts what was found to the bounds, what is broken last.
func (g *grapher) graph() *model.Graph {
	kept := g.kept()
	out := &model.Graph{Nodes: []model.GraphNode{}, Edges: []model.GraphEdge{}, NodesLeftOut: len(g.nodes)}
	places := make([]int, len(g.nodes)) // in the graph
	for i := range g.nodes {
		if kept[i] {
			places[i] = len(out.Nodes)
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
				out.Edges = append(out.Edges, model.GraphEdge{From: places[l.from], To: places[l.to], Kind: l.kind, Broken: l.broken})
			default:
				out.EdgesLeftOut++
			}
		}
	}
	return out
}

// kept says which nodes are within the bound: those of broken edges, then the others in order.
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

// authorities maps decisions to the tools that they may authorise (compiler, stage 3):
// those above read_only, which needs no decision, and no more than the decision's own mode.
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
