package policy_test

import (
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Conditions that are one are compiled once, and what is wrong with each of them is
// said at its own place.
func TestConditions(t *testing.T) {
	const src = `[{"and": [true, {"nope": [1.0]}]}, {"and":[true,{"nope":[1]}]}, {"and": [true, {"nope": [2]}]}]`
	d, _ := pack.Read("conditions.json", []byte(src), pack.DefaultLimits())
	var shared policy.Conditions
	for i, n := range d.Root.Items {
		_, problems, _ := shared.Compile(n)
		if len(problems) == 0 {
			t.Fatalf("condition %d has no problem", i)
		}
		for _, p := range problems {
			at := p.Node
			for at != nil && at != n {
				at = at.Parent
			}
			if at == nil {
				t.Errorf("the problem of condition %d is said at %s", i, p.Node.Pointer())
			}
		}
	}
	if x, problems, _ := shared.Compile(nil); x != nil || len(problems) != 1 {
		t.Error("a condition that is missing is none")
	}
	if got := shared.Distinct(); got != 2 {
		t.Errorf("%d conditions were compiled, wanted 2", got)
	}
}
