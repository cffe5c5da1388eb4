package replay

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
)

// Renewal is a replay packet that has another hash than its request compiles to.
type Renewal struct {
	Packet *repo.Packet
	// Case is the golden case whose compile shows what the packet says, "" where there is none.
	Case string
	// Hash is what is to be recorded; "" where the packet has to stay as it is, which Why explains.
	Hash, Why string
}

// Renewals returns what can become of the packets of a pack that could be read, whose hash is
// another one than that of their compile. A hash may be recorded anew where it is the only
// thing that RPL008 finds wrong with the packet, and every property holds.
func Renewals(s *gate.Subject) (list []Renewal) {
	if len(s.Unit.Packets) == 0 {
		return nil
	}
	all := newReplays(gate.NewPass(s, Gate, RPL008))
	for _, packet := range s.Unit.Packets {
		r := all.linked(packet)
		if want := packet.CompiledContextHash; !want.OK || r != nil && want.Value == r.Hash {
			continue
		}
		n := Renewal{Packet: packet}
		if r != nil {
			n.Case = r.Case
		}
		if n.Why = all.keeps(packet, r); n.Why == "" {
			n.Hash = r.Hash
		}
		list = append(list, n)
	}
	return list
}

// keeps says why the hash of a packet may not be recorded anew, "" where it may.
func (s *replays) keeps(packet *repo.Packet, r *golden.Result) string {
	if len(packet.Faults) > 0 {
		return "it is not valid: " + packet.Faults[0].Message
	}
	s.notes = notes{Pass: gate.NewPass(s.Subject, Gate, RPL008)} // what is found of this packet alone
	s.packet(packet)
	found, open := s.Results()
	hash := packet.CompiledContextHash.Node.Location()
	compared := false
	for _, f := range found {
		if f.Location != hash {
			return f.Message
		}
		compared = true
	}
	properties := map[string]bool{}
	for _, property := range packet.Expected.Properties.Items {
		properties[property.Value] = true
	}
	switch {
	case len(open) > 0:
		return strings.TrimPrefix(open[0].Reason, s.Unit.Within(packet.Name)+": ")
	case !compared || r == nil || r.Hash == "":
		return "its hash is compared with no compile"
	case len(properties) == 0:
		return "it has no property that says what has to hold"
	case s.holding(packet) < len(properties):
		return fmt.Sprintf("of its properties, %d hold only because the pack has nothing of the name", len(properties)-s.holding(packet))
	}
	return ""
}
