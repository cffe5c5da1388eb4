package flips

import (
	"encoding/binary"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// memo remembers what requests came to. A compile asks of a request which
// conditions hold, and a few members by name; requests that are alike in that are
// decided alike, and most of those around a threshold are.
type memo struct {
	budget *jsonlogic.Budget
	flips  map[asked][]flip
}

// asked is what two versions ask of a request.
type asked struct {
	pair
	sign string
}

// run is pair.run, on the account. Done is false where that has ended: then nothing
// is known of the request.
func (m *memo) run(p pair, data map[string]any) (flips []flip, done bool) {
	before := m.budget.Left()
	of := asked{p, string(m.sign(m.sign(nil, p.base, data), p.head, data))}
	if m.budget.Err() != nil {
		return nil, false
	}
	flips, known := m.flips[of]
	if !known {
		m.budget.Spend(before - m.budget.Left()) // compiles evaluate the conditions once more
		flips = p.run(data)
		m.flips[of] = flips
	}
	return flips, true
}

// sign appends all that one version asks of a request: the truth of its
// conditions, and the members that stages read by name, each after its length. There
// is no evidence and no memory in these requests.
func (m *memo) sign(b []byte, p *compiler.Program, data map[string]any) []byte {
	read := proof.Request(p.Pack, data).Data()
	input, _ := read["request"].(map[string]any)
	for _, c := range p.Conditions {
		b = append(b, byte(c.Expr.EvalWithin(m.budget, read).Truth))
	}
	for _, members := range []struct {
		of    map[string]any
		names []string
	}{
		{read, []string{"safety_mode", "tenant_id", "intent", "locale", "run_budget"}},
		{input, []string{"intent", "message", "channel", "locale"}},
	} {
		for _, name := range members.names {
			written := ""
			if value, there := members.of[name]; there {
				written = pack.CompactJSON(value)
			}
			b = append(binary.AppendUvarint(b, uint64(len(written))), written...)
		}
	}
	return b
}
