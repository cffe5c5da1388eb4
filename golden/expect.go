package golden

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// compile compiles the case, and once more to see that it comes out the same.
func (t *trial) compile() {
	request := t.request((*pack.Node).Any)
	detail, err := t.subject.Compile(request)
	if err == nil && detail.Context != nil {
		t.Compiled, err = detail.Context.Snapshot()
	}
	if err != nil {
		t.failed(err)
		return
	}
	if stop := detail.Stop; stop != nil && stop.Invalid {
		t.Reason = stop.Reason
		t.report(KindPack, t.place(stop.At), finding.Error, "fix the pack first", "not compiled: "+t.Reason)
		return
	}
	t.Request, t.Program, t.Detail, t.Outcome, t.Reason = request, t.subject.Program, detail, detail.Outcome, detail.Reason()
	t.NotChecked = detail.Trace.NotChecked
	if detail.Context != nil {
		t.Hash = detail.Context.ContextLedger.CompiledContextHash
	}
	again, err := t.subject.Compile(t.request(backwards))
	if err != nil {
		t.failed(err)
		return
	}
	for _, p := range append(Repeated(detail, again, t.Compiled), Audit(t.subject.Pack, request, detail)...) {
		p.Location = t.Location
		t.Problems = append(t.Problems, p)
	}
}

// failed says that a compile came to no result, which is a fault of packgate.
func (t *trial) failed(err error) {
	t.Detail, t.Outcome, t.Compiled = nil, "", nil
	t.Reason = err.Error()
	t.report(KindOutcome, t.Location, finding.Error, reportFault, t.Reason)
}

// decoded returns the compiled context as decoded JSON.
func (t *trial) decoded() any {
	if t.context == nil {
		// What the compiler wrote a moment ago can be read; where it could not,
		// assertions find nothing and fail.
		_ = json.Unmarshal(t.Compiled, &t.context)
	}
	return t.context
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
	e, tools, gates, rules := &t.Expect, []string(nil), []string(nil), []string(nil)
	if c := t.Detail.Context; c != nil {
		tools, gates, rules = c.ContextLedger.Tools, c.RuntimeControls.ApprovalGatesActive, Rules(c)
	}
	t.compareList(KindTools, "tools", e.Tools, tools)
	t.compareList(KindExpectation, "gates", e.Gates, gates)
	t.compareList(KindExpectation, "denied", e.Denied, t.Detail.Trace.Denied)
	t.compareList(KindExpectation, "rules", e.Rules, rules)
	for _, a := range e.Assertions.Items {
		t.assert(a)
	}
}

func (t *trial) wrongOutcome() {
	message := fmt.Sprintf("expected %s, but the outcome is %s", t.Expected, t.Outcome)
	if t.Reason != "" {
		message += ": " + t.Reason
	}
	hint := "correct expect.outcome, or fix what the reason names"
	switch stop := t.Detail.Stop; {
	case stop == nil:
		hint = "correct expect.outcome, or change the request or the pack so that it ends so"
	case stop.Variable != "":
		hint = fmt.Sprintf("give %s a value of the right type in the case, or let the rule ask for it first", stop.Variable)
	}
	t.report(KindOutcome, t.place(t.Expect.Outcome.Node), finding.Error, hint, message)
}

// Rules returns the rule_ids of the policy manifest, in its order.
func Rules(c *compiler.CompiledContext) []string {
	rules := []string{}
	for _, entry := range c.Manifests.PolicyManifest {
		rules = append(rules, entry.RuleIDs...)
	}
	return rules
}

// compareList compares a list of expect, which is complete and in canonical
// order, with what the compile gave. A list that is absent expects nothing.
func (t *trial) compareList(kind Kind, name string, want pack.List[pack.Text], got []string) {
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
	t.problem(kind, want.Node, fmt.Sprintf("correct expect.%s if the change is intended, else fix the pack", name), fmt.Sprintf("expect.%s: %s", name, strings.Join(parts, "; ")))
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

// fixAssertion is what to do about an assertion that fails.
const fixAssertion = "correct the assertion if the change is intended, else fix the pack"

// assert checks one assertion, JsonLogic over the compiled context.
func (t *trial) assert(a *pack.Node) {
	expr, problems := jsonlogic.Compile(a)
	if expr == nil {
		for _, p := range problems {
			t.report(KindExpectation, t.place(p.Node, a), finding.Error, cmp.Or(p.Hint, "write it in the JsonLogic profile"), "the assertion is malformed: "+p.Message)
		}
		return
	}
	if t.Outcome != compiler.Compiled {
		t.problem(KindExpectation, a, "remove the assertions of a case that is not expected to compile", "nothing was compiled that the assertion could be about")
		return
	}
	switch verdict := expr.Eval(t.decoded()); verdict.Truth {
	case jsonlogic.False:
		t.problem(KindExpectation, a, fixAssertion, "the assertion does not hold")
	case jsonlogic.Unknown:
		t.report(KindExpectation, t.place(verdict.Cause.Node, a), finding.Error, fixAssertion, "the assertion cannot be decided: "+verdict.Cause.String())
	}
}
