package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
)

// crowded returns edits that give the support pack an adapter of many
// capabilities and as many rules, each with what it says when it holds, and each
// permission with its bounds.
func crowded(capabilities, rules int, outcome, bounds func(i int) string) []finding.Operation {
	var names, permissions, policies []string
	for i := range capabilities {
		names = append(names, fmt.Sprintf(`"c%d"`, i))
		permissions = append(permissions, fmt.Sprintf(
			`{"permission_id": "p%d", "adapter_id": "x", "capability": "c%d", "allow": true, "arg_constraints": %s}`, i, i, bounds(i)))
	}
	for i := range rules {
		policies = append(policies, ruleOf(fmt.Sprintf("R%d", i), always, outcome(i)))
	}
	list := func(items []string) string { return "[" + strings.Join(items, ",") + "]" }
	return edits(
		policyOf(policies...),
		replace("/tooling_layer/adapter_registry", `[{"adapter_id": "x", "approval_mode": "read_only", "capabilities": `+list(names)+`}]`),
		replace("/tooling_layer/permissions", list(permissions)),
	)
}

// pattern is a bound that cannot be put together with another one.
func pattern(i int) string { return fmt.Sprintf(`{"a": {"pattern": "p%d"}}`, i) }

// What makes more work than the pack has bytes is refused before it is done.
func TestEffortIsBounded(t *testing.T) {
	prohibitions := func(int) string { return `{"prohibits": ["c"]}` }
	same := crowded(0, 1500, prohibitions, pattern)
	var adapters []string
	for i := range 2000 {
		adapters = append(adapters, fmt.Sprintf(`{"adapter_id": "x%d", "approval_mode": "read_only", "capabilities": ["c"]}`, i))
	}
	same = append(same, replace("/tooling_layer/adapter_registry", "["+strings.Join(adapters, ",")+"]"))
	const reason = "the tools take more than 2000000 steps to decide: too many decisions, prohibitions or bounds of the pack meet in them"
	words := `["w` + strings.Join(strings.Split(strings.Repeat("x", 2000), ""), `","w`) + `"]`
	enum := func(i int) string { return fmt.Sprintf(`{"a": {"enum": %s, "not": %d}}`, words, i) }
	for name, edits := range map[string][]finding.Operation{
		"bounds":       crowded(200, 200, func(i int) string { return `{"arg_constraints": ` + pattern(1000+i) + `}` }, pattern),
		"prohibitions": same,
		"words":        crowded(1, 1, func(i int) string { return `{"arg_constraints": ` + enum(1) + `}` }, func(int) string { return strings.Replace(enum(2), "wx", "wy", 1) }),
	} {
		result := compile(t, supportPack(t, edits...), reference(t))
		if result.Outcome != compiler.Refused || result.Reason() != reason || result.Stop.Stage != "tools" {
			t.Errorf("%s: the outcome is %s %q", name, result.Outcome, result.Reason())
		}
	}
}

// A pack of several hundred tools and rules is far from the bound.
func TestEffortOfALargePack(t *testing.T) {
	bound := func(i int) string { return fmt.Sprintf(`{"a": {"max": %d, "enum": ["x", "y", "z"]}}`, 1000+i) }
	large := crowded(300, 50, func(i int) string {
		return `{"prohibits": ["c7"], "arg_constraints": ` + bound(i) + `}`
	}, bound)
	_, c := compiled(t, supportPack(t, large...), reference(t))
	if n := len(c.ContextLedger.Tools); n != 299 {
		t.Errorf("%d tools are surfaced, wanted 299", n)
	}
}
