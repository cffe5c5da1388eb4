package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// version1 is the version before this one. Each row of a tool surface had its own request there, and
// nodes of a graph had names, by which edges named them. A pack of that version is put into the form of
// this one first, so that nothing else knows it.
const version1 = 1

// forms says which versions packs are of that were read before anything said it: the version may stand
// behind them.
type forms struct{ old, new bool }

// fit refuses packs that are not of the version of their report.
func (f forms) fit(version int) error {
	if f.old && version != version1 || f.new && version == version1 {
		return refuse("its version is %d, and it has a pack that is of another version", version)
	}
	return nil
}

// pack reads the pack at an index of a report of a version, which is 0 where nothing has said it yet.
func (f *forms) pack(src []byte, version, at int) (*Pack, error) {
	if version == Version {
		return packOf(src, at)
	}
	src, err := f.raised(src)
	if err == nil && version > 0 {
		err = f.fit(version)
	}
	if err != nil {
		return nil, err
	}
	return packOf(src, at)
}

// raised returns a pack as this version has it. What is no pack is left to the schema.
func (f *forms) raised(src []byte) ([]byte, error) {
	var compact bytes.Buffer
	var members map[string]json.RawMessage
	if json.Compact(&compact, src) != nil || json.Unmarshal(compact.Bytes(), &members) != nil {
		return src, nil
	}
	surface, err := f.surface(members)
	if err != nil {
		return nil, err
	}
	graph, err := f.graph(members["graph"])
	if err != nil {
		return nil, err
	}
	if surface == nil && graph == nil {
		return src, nil
	}
	maps.Copy(members, surface)
	maps.Copy(members, graph)
	return Compact(members)
}

// surface returns the tool surface of a pack with the requests of its rows; nil where it is not of
// version 1.
func (f *forms) surface(members map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	var rows []map[string]json.RawMessage
	if _, listed := members["requests"]; listed {
		f.new = true
		return nil, nil
	}
	if json.Unmarshal(members["tool_surface"], &rows) != nil {
		return nil, nil
	}
	requests := requestList{}
	for _, row := range rows {
		request, ungated := row["ungated"]
		if !ungated {
			continue
		}
		if !bytes.HasPrefix(request, []byte("{")) {
			f.new = true
			continue
		}
		row["ungated"] = fmt.Append(nil, requests.at(request))
	}
	if len(requests.list) == 0 {
		return nil, nil
	}
	f.old = true
	surface, err := Compact(rows)
	if err != nil {
		return nil, err
	}
	list, err := Compact(requests.list)
	return map[string]json.RawMessage{"tool_surface": surface, "requests": list}, err
}

// node1 and edge1 are a node and an edge of version 1.
type (
	node1 struct {
		ID      string `json:"id"`
		Kind    string `json:"kind"`
		Label   string `json:"label"`
		Detail  string `json:"detail"`
		Line    int    `json:"line"`
		Missing bool   `json:"missing"`
	}
	edge1 struct {
		From   string `json:"from"`
		To     string `json:"to"`
		Kind   string `json:"kind"`
		Broken bool   `json:"broken"`
	}
)

// graph returns the graph of a pack; nil where it is not of version 1.
func (f *forms) graph(src json.RawMessage) (map[string]json.RawMessage, error) {
	var parts map[string]json.RawMessage
	if json.Unmarshal(src, &parts) != nil || parts == nil {
		return nil, nil
	}
	if bytes.HasPrefix(parts["nodes"], []byte("[[")) {
		f.new = true
		return nil, nil
	}
	var nodes []node1
	if err := strictly(parts["nodes"], &nodes); err != nil {
		return nil, refuse("the nodes of a graph: %v", err)
	}
	var edges []edge1
	if err := strictly(parts["edges"], &edges); err != nil {
		return nil, refuse("the edges of a graph: %v", err)
	}
	f.old = f.old || len(nodes) > 0
	places, out := map[string]int{}, Graph{Nodes: []GraphNode{}, Edges: []GraphEdge{}}
	for i, n := range nodes {
		if _, twice := places[n.ID]; twice {
			return nil, refuse("two nodes of a graph have the id %.100q", n.ID)
		}
		places[n.ID] = i
		out.Nodes = append(out.Nodes, GraphNode{Kind: n.Kind, Label: n.Label, Detail: n.Detail, Line: n.Line, Missing: n.Missing})
	}
	for _, e := range edges {
		from, begins := places[e.From]
		to, ends := places[e.To]
		if !begins || !ends {
			return nil, refuse("an edge of a graph leads from %.100q to %.100q, and there are no such two nodes", e.From, e.To)
		}
		out.Edges = append(out.Edges, GraphEdge{From: from, To: to, Kind: e.Kind, Broken: e.Broken})
	}
	for name, value := range map[string]any{"nodes": out.Nodes, "edges": out.Edges} {
		src, err := Compact(value)
		if err != nil {
			return nil, err
		}
		parts[name] = src
	}
	graph, err := Compact(parts)
	return map[string]json.RawMessage{"graph": graph}, err
}

// strictly reads a value without members that its type has not.
func strictly(src []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
