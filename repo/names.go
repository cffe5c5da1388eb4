package repo

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// checkNames notes in the faults of a file that another one before it has its name:
// by these names commands, reports and replay packets tell the files of a pack apart.
// Overlays have a rule of their own.
func (u *Unit) checkNames() {
	type named struct{ what, name string }
	first := map[named]*pack.Node{}
	check := func(s *SideFile, what string, name pack.Text) {
		if !name.OK {
			return
		}
		this := named{what, name.Value}
		other := first[this]
		if other == nil {
			first[this] = name.Node
			return
		}
		s.Faults = append(s.Faults, pack.Fault{
			Location: name.Node.Location(),
			Message:  fmt.Sprintf("another file has the %s %q already", what, pack.Clip(name.Value, mostOfName)),
			Hint:     "give each file a name of its own",
			Related:  []finding.Related{{Location: other.Location(), Message: "the other one"}},
		})
	}
	for _, c := range u.Cases {
		check(c.SideFile, "case", c.Case)
	}
	for _, p := range u.Packets {
		check(p.SideFile, "replay_packet_id", p.ReplayPacketID)
	}
	for _, r := range u.Records {
		check(r.SideFile, "record_id", r.RecordID)
	}
}

// mostOfName is how many characters of a name a message repeats.
const mostOfName = 64
