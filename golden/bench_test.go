package golden_test

import (
	"testing"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
)

// BenchmarkRun runs a thousand golden cases of one pack. The target is half a
// second of one processor.
func BenchmarkRun(b *testing.B) {
	unit, environments, config := open(b, example)
	cases := unit.Cases
	unit.Files, unit.Cases = nil, nil
	for len(unit.Cases) < 1000 {
		for _, c := range cases {
			one := *c
			one.SideFile = &repo.SideFile{Kind: c.Kind, Name: c.Name, Document: c.Document, Faults: c.Faults}
			unit.Cases, unit.Files = append(unit.Cases, &one), append(unit.Files, one.SideFile)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		golden.Run(unit, environments, config)
	}
}
