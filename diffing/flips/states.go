package flips

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// pair is both versions of a pack.
type pair struct{ base, head *compiler.Program }

// item is what a request can have.
type item struct {
	kind    proof.Kind
	subject string
}

// standing is the state of everything in one compile.
type standing struct {
	ended Word // how it ended early, "" if it did not
	items map[item]State
}

// of returns how an item stands.
func (s *standing) of(x item) State {
	switch state, there := s.items[x]; {
	case there:
		return state
	case s.ended != "":
		return State{Word: s.ended}
	case x.kind == proof.Tool:
		return State{Word: Withheld}
	}
	return State{Word: Absent}
}

// standingOf reads a compile.
func standingOf(r *compiler.Result) *standing {
	out := &standing{items: map[item]State{}}
	switch r.Outcome {
	case compiler.Refused:
		out.ended = Refused
		return out
	case compiler.PolicyEvalError:
		out.ended = Stopped
		return out
	}
	for _, d := range r.Trace.Decisions {
		id := d.Decision.DecisionKey.Value
		x := item{proof.Decision, id}
		switch d.State {
		case compiler.DecisionAllowed:
			out.items[x] = State{Allowed, compiles.DecisionGates(r, id)}
		case compiler.DecisionDenied:
			out.items[x] = State{Word: Denied}
		case compiler.DecisionSilent:
			out.items[x] = State{Word: Blocked}
		}
	}
	for _, t := range compiles.Tools(r) {
		out.items[item{proof.Tool, t.Capability}] = State{Surfaced, t.Gates}
	}
	return out
}

// flip is an item that two compiles of one request decide otherwise.
type flip struct {
	item
	old, new State
}

// flipsOf returns what differs. What is not there in one version and not permitted
// in the other is no flip. Tools are passed over where a compile ended early: then
// the decisions say it, unless there is none.
func flipsOf(b, h *standing) []flip {
	items := slices.AppendSeq(slices.Collect(maps.Keys(b.items)), maps.Keys(h.items))
	slices.SortFunc(items, func(x, y item) int { return (key{item: x}).compare(key{item: y}) })
	var out []flip
	for _, x := range slices.Compact(items) {
		f := flip{x, b.of(x), h.of(x)}
		if x.kind == proof.Tool && (b.ended != "" || h.ended != "") && len(out) > 0 && out[0].kind == proof.Decision {
			break
		}
		if f.differs() {
			out = append(out, f)
		}
	}
	return out
}

func (f flip) differs() bool {
	was, is := f.old.Permits(), f.new.Permits()
	switch {
	case was && is:
		return !slices.Equal(f.old.Gates, f.new.Gates)
	case was || is:
		return true
	}
	return f.old.Word != f.new.Word && f.kind == proof.Decision && f.old.Word != Absent && f.new.Word != Absent
}

// run compiles both versions for a request, given as data of conditions.
func (p pair) run(data map[string]any) []flip {
	b, errBase := p.base.Compile(proof.Request(p.base.Pack, data))
	h, errHead := p.head.Compile(proof.Request(p.head.Pack, data))
	if errBase != nil || errHead != nil { // of content that has no JSON form, which is not made here
		return nil
	}
	return flipsOf(standingOf(b), standingOf(h))
}

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
	read := proof.Data(p.Pack, data)
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
