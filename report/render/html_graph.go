package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// The picture of a binding graph: one column for each kind of node, from left to right as one leads
// to the other, evidence below the tools, since decisions lead to both. Within a column a node
// stands near those that it has to do with, so that few edges cross. All is in whole pixels.

// Measures of the picture, in pixels.
const (
	boxWidth    = 186
	boxHeight   = 38
	boxGap      = 12
	columnGap   = 50
	headHeight  = 26
	groupGap    = 20
	noteLetters = 14 // of a detail, beside a line number
	boxLetters  = 24 // of a label, as wide as a box
)

var graphColumns = [][]string{{model.RuleNode}, {model.DecisionNode}, {model.ToolNode, model.EvidenceNode}, {model.PermissionNode}, {model.GateNode}}

var kindNames = map[string]string{
	model.RuleNode: "Rules", model.DecisionNode: "Decisions", model.ToolNode: "Tools", model.PermissionNode: "Permissions", model.GateNode: "Approval gates", model.EvidenceNode: "Evidence",
}

var edgeWords = map[string]string{
	"binds": "is bound to", "authorises": "may authorise", "permits": "permits", "forbids": "forbids", "prohibits": "prohibits",
	"gates": "asks for the approval of", "requires": "requires",
}

type htmlGraph struct {
	Label         string
	Width, Height int
	// BoxWidth and BoxHeight are those of every box.
	BoxWidth, BoxHeight int
	Heads               []svgHead
	Boxes               []svgBox
	Edges               []svgEdge
	LeftOut             string
	Broken              string // how many edges are, in words
	Table               htmlNode
}

type svgHead struct {
	X, Y int
	Text string
}

type svgBox struct {
	X, Y              int
	Kind, Label, Note string
	Title             string
	Missing           bool
}

type svgEdge struct {
	Path        string
	Kind, Title string
	Broken      bool
	X, Y        int // its middle
}

type corner struct{ column, x, y int }

// graph draws the binding graph of a pack, and says the same in a table.
func (v *htmlView) graph(p *model.Pack) *htmlGraph {
	g := p.Graph
	if g == nil || len(g.Nodes) == 0 {
		return nil
	}
	out := &htmlGraph{Label: v.text("Binding graph of " + p.Name()), BoxWidth: boxWidth, BoxHeight: boxHeight}
	spots := out.place(v, g)
	broken := 0
	for _, e := range g.Edges {
		from, hasFrom := spots[e.From]
		to, hasTo := spots[e.To]
		if !hasFrom || !hasTo {
			continue // no graph of ours
		}
		if e.Broken {
			broken++
		}
		title := v.text(fmt.Sprintf("%s %s %s", g.Nodes[e.From].Label, cmp.Or(edgeWords[e.Kind], e.Kind), g.Nodes[e.To].Label))
		if e.Broken {
			title += ", which does not exist"
		}
		out.Edges = append(out.Edges, curve(from, to, e, title))
	}
	if broken > 0 {
		out.Broken = pack.Counted(broken, "broken edge")
	}
	if g.NodesLeftOut+g.EdgesLeftOut > 0 {
		out.LeftOut = fmt.Sprintf("%s and %s are left out of the picture.", pack.Counted(g.NodesLeftOut, "node"), pack.Counted(g.EdgesLeftOut, "edge"))
	}
	out.Table = v.graphTable(p)
	return out
}

// place puts the nodes into columns and returns where each is, by its position in the graph.
func (out *htmlGraph) place(v *htmlView, g *model.Graph) map[int]corner {
	spots := map[int]corner{}
	near := map[int][]int{}
	for _, e := range g.Edges {
		near[e.From] = append(near[e.From], e.To)
		near[e.To] = append(near[e.To], e.From)
	}
	column, x := 0, 1
	for _, kinds := range graphColumns {
		y := 0
		for _, kind := range kinds {
			var nodes []int
			for i, n := range g.Nodes {
				if n.Kind == kind {
					nodes = append(nodes, i)
				}
			}
			if len(nodes) == 0 {
				continue
			}
			if y > 0 {
				y += groupGap
			}
			out.Heads = append(out.Heads, svgHead{x, y + 14, fmt.Sprintf("%s (%d)", kindNames[kind], len(nodes))})
			y += headHeight
			for _, i := range inOrder(nodes, near, spots) {
				spots[i] = corner{column, x, y}
				out.Boxes = append(out.Boxes, v.box(g.Nodes[i], x, y))
				y += boxHeight + boxGap
			}
		}
		if y > 0 {
			column, x = column+1, x+boxWidth+columnGap
			out.Height = max(out.Height, y)
		}
	}
	out.Width = max(x-columnGap+1, boxWidth)
	return spots
}

// inOrder sorts the nodes of a column by the mean height of those that stand
// already and have to do with them. The others stay behind, in their order.
func inOrder(nodes []int, near map[int][]int, spots map[int]corner) []int {
	height := map[int]int{}
	for _, n := range nodes {
		sum, count := 0, 0
		for _, other := range near[n] {
			if s, ok := spots[other]; ok {
				sum, count = sum+s.y, count+1
			}
		}
		height[n] = 1 << 30
		if count > 0 {
			height[n] = sum / count
		}
	}
	if len(spots) > 0 {
		slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(height[a], height[b]) })
	}
	return nodes
}

func (v *htmlView) box(n model.GraphNode, x, y int) svgBox {
	b := svgBox{X: x, Y: y, Kind: n.Kind, Label: fitting(v.text(n.Label), boxLetters), Missing: n.Missing}
	switch {
	case n.Missing && n.Kind == model.EvidenceNode:
		b.Note = "no source"
	case n.Missing:
		b.Note = "does not exist"
	case n.Line > 0:
		b.Note = fmt.Sprintf("line %d", n.Line)
	}
	if n.Detail != "" {
		b.Note = strings.Join(filled(fitting(v.text(n.Detail), noteLetters), b.Note), " · ")
	}
	b.Title = strings.Join(filled(v.text(n.Label), b.Note), " · ")
	return b
}

// fitting cuts a text to so many letters; of East Asian scripts a character counts for two.
func fitting(s string, letters int) string {
	width := 0
	for i, r := range s {
		width++
		if r >= 0x1100 {
			width++
		}
		if width > letters {
			_, last := utf8.DecodeLastRuneInString(s[:i])
			return s[:i-last] + "…"
		}
	}
	return s
}

func curve(from, to corner, e model.GraphEdge, title string) svgEdge {
	x1, x2, bend := from.x+boxWidth, to.x, columnGap/2
	if from.column > to.column {
		x1, x2, bend = from.x, to.x+boxWidth, -columnGap/2
	}
	y1, y2 := from.y+boxHeight/2, to.y+boxHeight/2
	return svgEdge{
		Path: fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2),
		Kind: e.Kind, Title: title, Broken: e.Broken, X: (x1 + x2) / 2, Y: (y1 + y2) / 2,
	}
}

func (v *htmlView) graphTable(p *model.Pack) htmlNode {
	end := func(n model.GraphNode) sentence {
		words := plain(n.Kind + " ").code(n.Label)
		if n.Line > 0 {
			words = words.plain(", ").add(sentence{{kind: placePiece, text: fmt.Sprintf("line %d", n.Line), at: spot{file: p.Path, line: n.Line}}})
		}
		return words
	}
	nodes := p.Graph.Nodes
	return v.node(&table{noun: "edge", n: len(p.Graph.Edges), columns: titles("From", "How", "To"), row: func(i int) row {
		e := p.Graph.Edges[i]
		how, tone := plain(cmp.Or(edgeWords[e.Kind], e.Kind)), ""
		if e.Broken {
			how, tone = how.plain(" ").add(state(look{color: "red"}, "broken")), "bad"
		}
		return row{tone: tone, cells: []sentence{end(nodes[e.From]), how, end(nodes[e.To])}}
	}}, "", new(int))
}
