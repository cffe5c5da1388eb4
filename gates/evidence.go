package gates

import (
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/replay"
)

// Evidence is how much there is of one kind of what a pack proves.
type Evidence struct {
	Kind  string
	Count int
}

// EvidenceOf counts what a pack proves, kind by kind, as the gates see it: what they could
// not read proves nothing. It returns nothing for a pack that could not be read.
func EvidenceOf(s *gate.Subject) []Evidence {
	if unread(s) != "" {
		return nil
	}
	n := replay.Count(s)
	measurements, baselines := evaluation.Count(s)
	return []Evidence{
		{"golden_cases", n.Cases}, {"expectations", n.Expectations}, {"snapshots", n.Snapshots},
		{"replay_packets", n.Packets}, {"properties", n.Properties}, {"decision_records", n.Records},
		{"measurements", measurements}, {"baselines", baselines},
		{"tool_surface_rows", n.Rows}, {"overlays", len(s.Unit.Overlays)},
	}
}
