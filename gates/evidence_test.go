package gates_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/test/gatetest"
)

// What is counted is what the schema of the report lists, and what the example has.
func TestEvidence(t *testing.T) {
	src, err := os.ReadFile("../schemas/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Evidence struct {
				Properties struct {
					Kind struct {
						Enum []string `json:"enum"`
					} `json:"kind"`
				} `json:"properties"`
			} `json:"Evidence"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(src, &schema); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	counts := map[string]int{}
	for _, e := range gates.EvidenceOf(gatetest.Example(t)) {
		kinds = append(kinds, e.Kind)
		counts[e.Kind] = e.Count
	}
	if listed := schema.Defs.Evidence.Properties.Kind.Enum; !slices.Equal(kinds, listed) {
		t.Errorf("counted are %v, and the schema lists %v", kinds, listed)
	}
	want := "map[baselines:5 decision_records:1 expectations:37 golden_cases:7 measurements:5 overlays:1 properties:12 replay_packets:3 snapshots:6 tool_surface_rows:3]"
	if got := fmt.Sprint(counts); got != want {
		t.Errorf("counted is %s, want %s", got, want)
	}
	// What does not hold is not counted, and neither is what cannot be read.
	weaker := gatetest.ExampleIn(t, func(dir string) {
		replace(correction, `"!tool:`, `"tool:`)(t, dir)
		replace(small, `"gates": [],`, "")(t, dir)
		replace(scorecard, `"latency_p99_ms": 2100`, `"latency_p99_ms": -1`)(t, dir)
		remove("golden/refund-high-value.compiled.json")(t, dir)
	})
	fewer := map[string]int{"properties": 1, "expectations": 1, "measurements": 1, "baselines": 1, "snapshots": 1}
	for _, e := range gates.EvidenceOf(weaker) {
		if e.Count != counts[e.Kind]-fewer[e.Kind] {
			t.Errorf("%s: %d of %d, want %d fewer", e.Kind, e.Count, counts[e.Kind], fewer[e.Kind])
		}
	}
}
