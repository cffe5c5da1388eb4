package replay

import (
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Proves counts what golden cases, replay packets, decision records and tool-surface.json
// prove of a pack, as the rules of the gate see it.
type Proves struct {
	Cases        int // that can be read
	Expectations int // members of what they expect, and distinct assertions that look at the compile
	Snapshots    int
	Packets      int
	Properties   int // of packets, that hold in a compile
	Records      int
	Rows         int // of the tool surface
}

// Count counts what a pack that could be read proves.
func Count(s *gate.Subject) Proves {
	p := gate.NewPass(s, Gate, RPL013) // which reports nothing
	n := Proves{Packets: len(s.Unit.Packets), Records: len(s.Unit.Records)}
	for _, r := range s.Golden() {
		if r.Input == nil {
			continue
		}
		n.Cases++
		n.Expectations += expected(&r.Input.Expect)
		if r.Input.Snapshot != nil {
			n.Snapshots++
		}
	}
	replays := newReplays(p)
	for _, packet := range s.Unit.Packets {
		n.Properties += replays.holding(packet)
	}
	if s.Unit.Surface != nil {
		n.Rows = len(s.Unit.Surface.Surface.Items)
	}
	return n
}

// expected counts what a golden case expects.
func expected(e *repo.Expectation) int {
	n := looking(e.Assertions.Items)
	for _, member := range []*pack.Node{e.Outcome.Node, e.Tools.Node, e.Gates.Node, e.Denied.Node, e.Rules.Node} {
		if member != nil {
			n++
		}
	}
	return n
}

// holding counts the distinct properties of a packet that hold, and not only because the
// pack has nothing of the name.
func (s *replays) holding(packet *repo.Packet) int {
	r := s.linked(packet)
	if r == nil || uncompiled(r) != "" {
		return 0
	}
	held := map[string]bool{}
	for i, property := range packet.Expected.Properties.Items {
		if i == mostItems {
			break
		}
		text, negated := strings.CutPrefix(property.Value, "!")
		for _, q := range predicates() {
			name, ok := strings.CutPrefix(text, q.prefix)
			if !ok || name == "" {
				continue
			}
			if holds, _ := q.holds(r, name); holds != negated && (!negated || q.knows(s, name)) {
				held[property.Value] = true
			}
		}
	}
	return len(held)
}
