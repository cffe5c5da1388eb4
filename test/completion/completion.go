// Package completion makes, for tests, what a request that a pack stops at would be
// compiled to however its unknown conditions turned out (decisions D2).
package completion

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// written returns the part of a decoded document that a node of it is.
func written(doc any, n *pack.Node) any {
	if n.Parent == nil {
		return doc
	}
	switch parent := written(doc, n.Parent).(type) {
	case map[string]any:
		name, _ := n.Name()
		return parent[name]
	case []any:
		return parent[n.Index]
	}
	return nil
}

// Packs returns the pack with the conditions that are unknown for a request put to
// true and to false in every combination, one pack for each; the pack alone where
// none is unknown. Data is what conditions read.
func Packs(t testing.TB, p *pack.Pack, intent string, data map[string]any) (packs []*pack.Pack) {
	t.Helper()
	m := policy.New(p, nil)
	var unknown []jsonlogic.Key
	for _, r := range m.Applicable(intent) {
		if r.When.Expr.Eval(data).Truth == jsonlogic.Unknown && !slices.Contains(unknown, r.When.Key) {
			unknown = append(unknown, r.When.Key)
		}
	}
	for ways := range 1 << len(unknown) {
		doc := p.Node.Any().(map[string]any)
		for _, r := range m.Rules {
			if at := slices.Index(unknown, r.When.Key); at >= 0 {
				written(doc, r.Node).(map[string]any)["if"] = ways>>at&1 == 1
			}
		}
		for _, g := range m.Guards {
			if at := slices.Index(unknown, g.When.Key); at >= 0 {
				written(doc, g.Node.Parent).(map[string]any)["eligibility_rules"] = ways>>at&1 == 1
			}
		}
		src, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		d, faults := pack.Read("completion.json", src, pack.DefaultLimits())
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		packs = append(packs, pack.New(d))
	}
	return packs
}
