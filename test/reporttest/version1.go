package reporttest

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Version1 returns the JSON form of a report as version 1 of it was: each row of a tool surface with its
// own request, nodes of graphs with names, and no frame.
func Version1(t testing.TB, src string) string {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal([]byte(src), &r); err != nil {
		t.Fatal(err)
	}
	r["version"] = 1
	delete(r, "frame")
	for _, one := range r["packs"].([]any) {
		p := one.(map[string]any)
		requests, _ := p["requests"].([]any)
		delete(p, "requests")
		rows, _ := p["tool_surface"].([]any)
		for _, row := range rows {
			surface1(row.(map[string]any), requests)
		}
		if g, ok := p["graph"].(map[string]any); ok {
			g["nodes"], g["edges"] = graph1(g["nodes"].([]any), g["edges"].([]any))
		}
	}
	out, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

func surface1(row map[string]any, requests []any) {
	if at, ok := row["ungated"].(float64); ok {
		row["ungated"] = requests[int(at)]
	}
	if row["arg_constraints"] == nil {
		row["arg_constraints"] = map[string]any{}
	}
}

func graph1(nodes, edges []any) (named, between []any) {
	named, between = []any{}, []any{}
	id := func(at any) string { return fmt.Sprintf("n%d", int(at.(float64))+1) }
	for i, n := range nodes {
		parts := n.([]any)
		one := map[string]any{"id": id(float64(i)), "kind": parts[0], "label": parts[1]}
		if len(parts) > 2 && parts[2] != 0.0 {
			one["line"] = parts[2]
		}
		if len(parts) > 3 && parts[3] != "" {
			one["detail"] = parts[3]
		}
		if len(parts) > 4 {
			one["missing"] = true
		}
		named = append(named, one)
	}
	for _, e := range edges {
		parts := e.([]any)
		one := map[string]any{"from": id(parts[0]), "to": id(parts[1]), "kind": parts[2]}
		if len(parts) > 3 {
			one["broken"] = true
		}
		between = append(between, one)
	}
	return named, between
}
