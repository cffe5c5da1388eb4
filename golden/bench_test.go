package golden_test

import (
	"testing"

	"github.com/contextosai/packgate/golden"
)

// BenchmarkRun runs a thousand golden cases of one pack. The target is half a
// second of one processor.
func BenchmarkRun(b *testing.B) {
	unit, environments, config := open(b, example)
	cases := unit.Cases
	unit.Files, unit.Cases = nil, nil
	for len(unit.Cases) < 1000 {
		for _, c := range cases {
			one, file := *c, *c.SideFile
			one.SideFile = &file
			unit.Cases, unit.Files = append(unit.Cases, &one), append(unit.Files, &file)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		golden.Run(unit, environments, config)
	}
}
