package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// POL008: a condition reads what there is.
var POL008 = &gate.Rule{
	ID: "POL008", Name: "unknown-variable", Severity: finding.Error,
	Title: "Every var of a condition is in the run context or the request",
	Doc: "Conditions read the members of the run context, such as `user.role`, and `request`, which has `intent`, `message`, `channel`, `locale` and `context`. " +
		"A variable anywhere else is always missing, so the condition means something other than it says, and an ordering with it stops every compile: an error. " +
		"A variable that no golden case supplies is a warning, because then nobody has ever seen the condition decide.\n\n" +
		"Facts about the request stand in `request.context`: write `request.context.refund_amount`. " +
		"Where the variable is right, add a golden case that supplies it. The variables inside `map`, `filter`, `all`, `some`, `none` and `reduce` are the item's own.",
	Bad:   `"if": {">": [{"var": "refund_amount"}, 3000]}`,
	Good:  `"if": {">": [{"var": "request.context.refund_amount"}, 3000]}`,
	Since: "0.1.0",
	Check: checkVariables,
}

func checkVariables(p *gate.Pass) {
	m := newModel(p)
	m.excuse(p, aboutAll)
	roots, _ := schemas.KnownMembers("run-context", "")
	roots = append(roots, "request")
	slices.Sort(roots)
	members, _ := schemas.KnownMembers("invoke-agent", "/input")
	seen := map[string]bool{}
	supplied := suppliers(p)
	for _, c := range m.conditions {
		for _, v := range c.expr.Variables() {
			if v.Scoped {
				continue
			}
			v.Node = policy.Counterpart(v.Node, c.expr, c.node)
			switch {
			case !placed(v.Path, roots, members):
				reportUnknown(p, c, v, roots, members)
			case seen[v.Path]:
			case len(supplied) == 0:
				p.NotChecked("no golden case shows which variables are supplied")
			case !slices.ContainsFunc(supplied, func(data any) bool { return !jsonlogic.Is(v.Path, nil).Holds(data) }):
				p.Report(gate.Diagnostic{
					At: v.Node, Severity: finding.Warning, Key: v.Path,
					Message: fmt.Sprintf("%s reads %q, which no golden case supplies", c.owner, v.Path),
					Hint:    "add a golden case that supplies it, or correct the path",
				})
			}
			seen[v.Path] = true
		}
	}
}

// placed reports whether a path begins with a member of the run context or of
// the request. What stands deeper is the caller's to name.
func placed(path string, roots, members []string) bool {
	root, rest, deeper := strings.Cut(path, ".")
	if root == "request" && deeper {
		member, _, _ := strings.Cut(rest, ".")
		return slices.Contains(members, member)
	}
	return slices.Contains(roots, root)
}

func reportUnknown(p *gate.Pass, c condition, v jsonlogic.Variable, roots, members []string) {
	known, above, rest := roots, "", v.Path
	if below, inside := strings.CutPrefix(v.Path, "request."); inside {
		known, above, rest = members, "request.", below
	}
	hint := fmt.Sprintf("write %q if it is a fact about the request", contextPath+rest)
	first, below, deeper := strings.Cut(rest, ".")
	if near := schemas.Nearest(first, known); near != "" {
		if deeper {
			near += "." + below
		}
		hint = fmt.Sprintf("write %q", above+near)
	}
	p.Report(gate.Diagnostic{
		At: v.Node, Key: v.Path, Hint: hint,
		Message: fmt.Sprintf("%s reads %q, which is neither in the run context nor in the request", c.owner, v.Path),
	})
}

// suppliers returns what conditions read in each golden case.
func suppliers(p *gate.Pass) []any {
	var all []any
	for _, c := range p.Unit.Cases {
		if data := evaluationContext(c); data != nil {
			all = append(all, data)
		}
	}
	return all
}

// evaluationContext returns the data that conditions read in a golden case. It is nil
// where there is no invocation with an input.
func evaluationContext(c *repo.Case) map[string]any {
	if !gate.IsObject(c.Invoke.Get("input")) {
		return nil
	}
	var around map[string]any
	if gate.IsObject(c.RunContext) {
		around = c.RunContext.Any().(map[string]any)
	}
	return compiler.Request{Invoke: c.Invoke.Any().(map[string]any), RunContext: around}.Data()
}
