package policyrules

import (
	"slices"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "POL") }

const production = `{"environment": "prod", "approver_roles": ["finance_lead"]}`

const golden = `{"case": "refund", "family": "approval",
"invoke": {"input": {"intent": "support.refund", "message": "m", "context": {"identity_verified": true, "refund_amount": 4200}}},
"run_context": {"user": {"user_id": "u", "role": "support_agent"}}}`

// whole is what is beside a pack of which every rule can be checked.
var whole = gatetest.Surroundings{Catalog: production, Case: golden}

func TestSupportPackIsClean(t *testing.T) {
	gatetest.Clean(t, Gate, whole.Subject(gatetest.Support()))
}

// Without a catalog and golden cases, only what needs them is not checked.
func TestSupportPackAlone(t *testing.T) {
	found, unchecked := gatetest.Judge(Gate, gatetest.Surroundings{}.Subject(gatetest.Support()))
	if len(found) > 0 {
		t.Errorf("found %v", found)
	}
	var rules []string
	for _, n := range unchecked {
		rules = append(rules, n.Rule)
	}
	if want := []string{"POL002", "POL008", "POL016"}; !slices.Equal(rules, want) {
		t.Errorf("not checked are %q, want %q", rules, want)
	}
}

// What the fix of POL014 leaves behind has no such finding any more.
func TestFixes(t *testing.T) {
	src := gatetest.Edit(t, gatetest.Support(), finding.Operation{
		Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules/1/if", Value: `{"!": [{"in": ["a", []]}]}`,
	})
	idle := func(found []finding.Finding) []finding.Finding {
		return slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Rule != "POL014" })
	}
	found, _ := gatetest.Judge(Gate, whole.Subject(src))
	if found = idle(found); len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	if _, after := gatetest.Fixed(t, Gate, whole, src, found[0]); len(idle(after)) > 0 {
		t.Errorf("after the fix there is %v", after)
	}
}

// Whatever is put in the place of any value of the pack, no rule panics, and
// what it says is the same twice and has a place and words.
func TestMutations(t *testing.T) { gatetest.Mutations(t, Gate, whole) }

func FuzzRules(f *testing.F) { gatetest.Fuzz(f, Gate, whole) }
