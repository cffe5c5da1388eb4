package flips

import (
	"maps"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// memo remembers what requests came to. A compile asks of a request which
// conditions hold, and a few members by name; requests that are alike in that are
// decided alike, and most of those around a threshold are.
type memo struct {
	pair
	conditions [2][]*jsonlogic.Expr // of base and head, in one order
	flips      map[string][]flip
}

func newMemo(p pair, base, head map[string]condition) *memo {
	m := &memo{pair: p, flips: map[string][]flip{}}
	for i, conditions := range []map[string]condition{base, head} {
		for _, name := range slices.Sorted(maps.Keys(conditions)) {
			m.conditions[i] = append(m.conditions[i], conditions[name].expr)
		}
	}
	return m
}

// run is pair.run.
func (m *memo) run(data map[string]any) []flip {
	b := m.sign(nil, 0, proof.Request(m.base.Pack, data))
	sign := string(m.sign(b, 1, proof.Request(m.head.Pack, data)))
	flips, known := m.flips[sign]
	if !known {
		flips = m.pair.run(data)
		m.flips[sign] = flips
	}
	return flips
}

// sign appends all that one version asks of a request: the truth of its
// conditions, and the members that stages read by name, as far as they are there.
// There is no evidence and no memory in these requests.
func (m *memo) sign(b []byte, side int, r compiler.Request) []byte {
	context := r.Data()
	input, _ := context["request"].(map[string]any)
	for _, e := range m.conditions[side] {
		b = append(b, '0'+byte(e.Eval(context).Truth))
	}
	for _, read := range []struct {
		of    map[string]any
		names []string
	}{
		{context, []string{"safety_mode", "tenant_id", "intent", "locale", "run_budget"}},
		{input, []string{"intent", "message", "channel", "locale"}},
	} {
		for _, name := range read.names {
			b = append(b, ' ')
			if value, there := read.of[name]; there {
				b = append(b, pack.CompactJSON(value)...)
			}
		}
	}
	return b
}
