package golden

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/policy"
)

// compile compiles the case.
func (t *trial) compile() {
	detail, err := t.program.Compile(t.request())
	if err == nil && detail.Context != nil {
		t.Compiled, err = detail.Context.Snapshot()
	}
	if err == nil && t.Compiled != nil {
		err = json.Unmarshal(t.Compiled, &t.context)
	}
	if err != nil {
		t.Reason = err.Error()
		t.report(t.Location, finding.Error, "", t.Reason)
		return
	}
	t.Detail, t.Outcome, t.Reason = detail, detail.Outcome, detail.Reason()
	t.NotChecked = detail.Trace.NotChecked
	if detail.Context != nil {
		t.Hash = detail.Context.ContextLedger.CompiledContextHash
	}
}

// compareExpectation compares the compile with what the case expects.
func (t *trial) compareExpectation() {
	if t.Detail == nil {
		return
	}
	if t.Expected != string(t.Outcome) {
		t.wrongOutcome()
		return
	}
	e := &t.Expect
	t.compareList("tools", e.Tools, t.tools())
	t.compareList("gates", e.Gates, t.gates())
	t.compareList("denied", e.Denied, t.Detail.Trace.Denied)
	t.compareList("rules", e.Rules, t.rules())
	for _, a := range e.Assertions.Items {
		t.assert(a)
	}
}

func (t *trial) wrongOutcome() {
	message := fmt.Sprintf("expected %s, but the outcome is %s", t.Expected, t.Outcome)
	if t.Reason != "" {
		message += ": " + t.Reason
	}
	p := Problem{Message: message, Severity: finding.Error, Location: t.place(t.Expect.Outcome.Node)}
	if stop := t.Detail.Stop; stop != nil && stop.Variable != "" {
		p.Hint = fmt.Sprintf("give %s a value of the right type in the case, or let the rule ask for it first", stop.Variable)
	}
	t.Problems = append(t.Problems, p)
}

func (t *trial) tools() []string {
	if t.Detail.Context == nil {
		return nil
	}
	return t.Detail.Context.ContextLedger.Tools
}

func (t *trial) gates() []string {
	if t.Detail.Context == nil {
		return nil
	}
	return t.Detail.Context.RuntimeControls.ApprovalGatesActive
}

func (t *trial) rules() []string {
	if t.Detail.Context == nil {
		return nil
	}
	var rules []string
	for _, entry := range t.Detail.Context.Manifests.PolicyManifest {
		rules = append(rules, entry.RuleIDs...)
	}
	return rules
}

// compareList compares a list of expect, which is complete and in canonical
// order, with what the compile gave. A list that is absent expects nothing.
func (t *trial) compareList(name string, want pack.List[pack.Text], got []string) {
	expected := pack.Values(want)
	if want.Node == nil || slices.Equal(expected, got) {
		return
	}
	var parts []string
	if missing := without(expected, got); len(missing) > 0 {
		parts = append(parts, "expected and not there: "+quoteAll(missing))
	}
	if extra := without(got, expected); len(extra) > 0 {
		parts = append(parts, "there and not expected: "+quoteAll(extra))
	}
	if len(parts) == 0 {
		parts = append(parts, "the list is "+quoteAll(got)+", in this order")
	}
	t.problem(want.Node, "", fmt.Sprintf("expect.%s: %s", name, strings.Join(parts, "; ")))
}

// without returns the items of a that b does not have.
func without(a, b []string) []string {
	var rest []string
	for _, item := range a {
		if !slices.Contains(b, item) {
			rest = append(rest, item)
		}
	}
	return rest
}

func quoteAll(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = fmt.Sprintf("%q", item)
	}
	return strings.Join(quoted, ", ")
}

// assert checks one assertion, JsonLogic over the compiled context.
func (t *trial) assert(a *pack.Node) {
	expr, problems := policy.Compile(a)
	if expr == nil {
		for _, p := range problems {
			t.report(t.place(p.Node, a), finding.Error, p.Hint, "the assertion is malformed: "+p.Message)
		}
		return
	}
	if t.Outcome != compiler.Compiled {
		t.problem(a, "remove the assertions of a case that is not expected to compile", "nothing was compiled that the assertion could be about")
		return
	}
	switch verdict := expr.Eval(t.context); verdict.Truth {
	case policy.False:
		t.problem(a, "", "the assertion does not hold")
	case policy.Unknown:
		t.report(t.place(verdict.Cause.Node, a), finding.Error, "", "the assertion cannot be decided: "+verdict.Cause.String())
	}
}
