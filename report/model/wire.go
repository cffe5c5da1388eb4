package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/pack"
)

// The JSON form of a pack says nothing twice. Requests that rows of its tool surface name are in a list
// of their own, each once, and a row has the position of its request there. Nodes of the graph have no
// names, edges name them by their position, and both are arrays.

// wirePack is the JSON form of a pack.
type wirePack struct {
	*plainPack
	Requests    []json.RawMessage `json:"requests,omitempty"`
	ToolSurface []wireRow         `json:"tool_surface,omitempty"`
}

// plainPack has the members of a pack that are as they are in memory.
type plainPack Pack

// wireRow is a row of the tool surface of a pack in JSON.
type wireRow struct {
	SurfaceRow
	Bounds  map[string]any `json:"arg_constraints,omitempty"`
	Ungated *int           `json:"ungated,omitempty"` // the position in the requests of the pack
}

// wire returns the JSON form of the pack. The error is for a request that JSON does not have.
func (p *Pack) wire() (*wirePack, error) {
	out, requests := &wirePack{plainPack: (*plainPack)(p)}, requestList{}
	for _, row := range p.ToolSurface {
		one := wireRow{SurfaceRow: row, Bounds: row.Bounds}
		if row.Ungated != nil {
			src, err := Compact(row.Ungated)
			if err != nil {
				return nil, err
			}
			at := requests.at(src)
			one.Ungated = &at
		}
		out.ToolSurface = append(out.ToolSurface, one)
	}
	out.Requests = requests.list
	return out, nil
}

// requestList is the requests of a pack, each once.
type requestList struct {
	list   []json.RawMessage
	places map[string]int
}

// at returns the position of a request, which is added unless it is there.
func (r *requestList) at(request json.RawMessage) int {
	at, there := r.places[string(request)]
	if !there {
		if r.places == nil {
			r.places = map[string]int{}
		}
		at = len(r.list)
		r.places[string(request)], r.list = at, append(r.list, request)
	}
	return at
}

// MarshalJSON returns the JSON form of the pack.
func (p Pack) MarshalJSON() ([]byte, error) {
	form, err := p.wire()
	if err != nil {
		return nil, err
	}
	return Compact(form)
}

// UnmarshalJSON reads the JSON form of a pack.
func (p *Pack) UnmarshalJSON(src []byte) error {
	form := wirePack{plainPack: (*plainPack)(p)}
	if err := json.Unmarshal(src, &form); err != nil {
		return err
	}
	p.ToolSurface = nil
	requests, used := make([]map[string]any, len(form.Requests)), make([]bool, len(form.Requests))
	for i, src := range form.Requests {
		if err := json.Unmarshal(src, &requests[i]); err != nil {
			return err
		}
	}
	room := MaxRead // for the rows as they are with a request of their own each
	for i, one := range form.ToolSurface {
		row := one.SurfaceRow
		if row.Bounds = one.Bounds; row.Bounds == nil {
			row.Bounds = map[string]any{}
		}
		if at := one.Ungated; at != nil {
			if *at < 0 || *at >= len(requests) {
				return fmt.Errorf("row %d of its tool surface names request %d, and it has %s", i, *at, pack.Counted(len(requests), "request"))
			}
			if room -= len(form.Requests[*at]); room < 0 {
				return fmt.Errorf("the rows of its tool surface and their requests have more than %d bytes", MaxRead)
			}
			row.Ungated, used[*at] = requests[*at], true
		}
		p.ToolSurface = append(p.ToolSurface, row)
	}
	for i := range used {
		if !used[i] {
			return fmt.Errorf("no row of its tool surface names request %d", i)
		}
	}
	return nil
}

// missing and broken are the last elements of a node and an edge that are so.
const (
	missing = "missing"
	broken  = "broken"
)

// MarshalJSON returns the node as [kind, label, line, detail, "missing"]. Elements at its end that do
// not apply are left out.
func (n GraphNode) MarshalJSON() ([]byte, error) {
	out := []byte("[" + pack.CompactJSON(n.Kind) + "," + pack.CompactJSON(n.Label))
	if n.Line != 0 || n.Detail != "" || n.Missing {
		out = strconv.AppendInt(append(out, ','), int64(n.Line), 10)
	}
	if n.Detail != "" || n.Missing {
		out = append(out, ","+pack.CompactJSON(n.Detail)...)
	}
	if n.Missing {
		out = append(out, `,"`+missing+`"`...)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *GraphNode) UnmarshalJSON(src []byte) (err error) {
	*n = GraphNode{}
	n.Missing, err = elements(src, missing, 2, &n.Kind, &n.Label, &n.Line, &n.Detail)
	return err
}

// MarshalJSON returns the edge as [from, to, kind], with "broken" behind it for one that is.
func (e GraphEdge) MarshalJSON() ([]byte, error) {
	out := fmt.Appendf(nil, "[%d,%d,%s", e.From, e.To, pack.CompactJSON(e.Kind))
	if e.Broken {
		out = append(out, `,"`+broken+`"`...)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *GraphEdge) UnmarshalJSON(src []byte) (err error) {
	*e = GraphEdge{}
	e.Broken, err = elements(src, broken, 3, &e.From, &e.To, &e.Kind)
	return err
}

// elements reads the elements of an array, of which there are at least so many, and reports whether a
// word stands behind all of them.
func elements(src []byte, word string, least int, into ...any) (marked bool, err error) {
	last := ""
	all := append(into, &last)
	if err := json.Unmarshal(src, &all); err != nil {
		return false, err
	}
	if slices.Contains(all, nil) || len(all) < least || len(all) > len(into)+1 || len(all) > len(into) && last != word {
		return false, fmt.Errorf("%.200s is no part of a graph", src)
	}
	return len(all) > len(into), nil
}

// linked refuses a graph with an edge that leads from or to no node.
func (g *Graph) linked() error {
	if g == nil {
		return nil
	}
	for i, e := range g.Edges {
		if min(e.From, e.To) < 0 || max(e.From, e.To) >= len(g.Nodes) {
			return fmt.Errorf("edge %d of its graph leads from node %d to node %d, and it has %s", i, e.From, e.To, pack.Counted(len(g.Nodes), "node"))
		}
	}
	return nil
}
