package golden

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
)

// fixAssertion is what to do about an assertion that fails.
const fixAssertion = "correct the assertion if the change is intended; otherwise fix the pack"

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
		t.problem(KindExpectation, a, fixAssertion, fmt.Sprintf("%s does not hold%s", t.called(a), t.actual(expr)))
	case jsonlogic.Unknown:
		t.report(KindExpectation, t.place(verdict.Cause.Node, a), finding.Error, fixAssertion, t.called(a)+" cannot be decided: "+verdict.Cause.String())
	}
}

// called returns what a message calls an assertion: its number and its condition.
func (t *trial) called(a *pack.Node) string {
	return fmt.Sprintf("assertion %d (%s)", 1+slices.Index(t.Expect.Assertions.Items, a), pack.Clip(rulebook.Condition(a), 2*mostShown))
}

// actual returns what the compiled context has in place of what an assertion expects, ": " before it.
func (t *trial) actual(expr *jsonlogic.Expr) string {
	var parts []string
	for _, path := range expr.Reads() {
		value, ok := jsonlogic.Lookup(t.decoded(), path)
		if !ok {
			parts = append(parts, "there is no "+path)
			continue
		}
		parts = append(parts, path+" is "+clip(pack.CompactJSON(value)))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + pack.Joined(parts, "and")
}
