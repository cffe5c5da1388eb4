package gate_test

import (
	"fmt"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

// reported is what a rule finds that reports faults of these severities in turn, so
// many of each.
func reported(of ...[2]int) []finding.Finding {
	g := &gate.Gate{ID: "schema"}
	r := &gate.Rule{ID: "SCH999", Name: "some-rule", Severity: finding.Warning}
	p := gate.NewPass(gatetest.Surroundings{}.Subject(gatetest.Support()), g, r)
	n := 0
	for _, some := range of {
		for range some[1] {
			n++
			p.Report(gate.Diagnostic{At: p.Pack.Node, Severity: finding.Severity(some[0]), Key: fmt.Sprint(n), Message: "m"})
		}
	}
	found, _ := p.Results()
	again, _ := p.Results()
	if len(again) != len(found) {
		panic("asking for the results changes them")
	}
	return finding.Sort(found)
}

// A list is whole up to its bound. Beyond, one finding closes it, with how many there
// are besides, as severe as the worst of them, and known by the rule alone.
func TestListsAreCut(t *testing.T) {
	whole := reported([2]int{0, gate.MostFindings})
	if len(whole) != gate.MostFindings || whole[len(whole)-1].IsRest() {
		t.Fatalf("%d of %d are listed", len(whole), gate.MostFindings)
	}
	var fingerprint string
	for _, more := range []int{1, 3214} {
		cut := reported([2]int{0, gate.MostFindings + more})
		if len(cut) != gate.MostFindings+1 {
			t.Fatalf("%d findings of %d more", len(cut), more)
		}
		last := cut[len(cut)-1]
		if want := fmt.Sprintf("… and %d more of SCH999 that are not listed", more); !last.IsRest() || last.Message != want || last.Severity != finding.Warning || last.Hint == "" {
			t.Errorf("the last is %+v, want %q", last, want)
		}
		if fingerprint != "" && last.Fingerprint() != fingerprint {
			t.Error("the fingerprint depends on how many there are")
		}
		fingerprint = last.Fingerprint()
	}
	worse := reported([2]int{int(finding.Warning), gate.MostFindings + 5}, [2]int{int(finding.Error), 1})
	if first := worse[0]; !first.IsRest() || first.Severity != finding.Error {
		t.Errorf("an error that is not listed makes %+v", first)
	}
}

// Reasons are listed once each, and their list is cut in the same way.
func TestReasonsAreCut(t *testing.T) {
	g, r := &gate.Gate{ID: "schema"}, &gate.Rule{ID: "SCH999"}
	p := gate.NewPass(gatetest.Surroundings{}.Subject(gatetest.Support()), g, r)
	for range 2 {
		for i := range gate.MostFindings + 7 {
			p.NotChecked(fmt.Sprint("reason ", i))
		}
	}
	_, list := p.Results()
	if len(list) != gate.MostFindings+1 {
		t.Fatalf("%d reasons are listed", len(list))
	}
	want := finding.NotChecked{Gate: "schema", Rule: "SCH999", Reason: "… and 7 more reasons that are not listed"}
	if last := list[gate.MostFindings]; last != want {
		t.Errorf("the last is %+v, want %+v", last, want)
	}
}
