package evaluation

import "github.com/contextosai/packgate/gates/gate"

// Count counts the metrics of intents that scorecards measure, and those of them that have
// a baseline to be compared with.
func Count(s *gate.Subject) (measurements, baselines int) {
	list := Measure(s)
	for i := range list {
		if m := &list[i]; m.Value.OK && m.Source != BuiltIn {
			measurements++
			if m.Baseline.OK {
				baselines++
			}
		}
	}
	return measurements, baselines
}
