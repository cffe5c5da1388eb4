package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/schemas"
)

// POL008: a condition reads what there is.
var POL008 = &gate.Rule{
	ID: "POL008", Name: "unknown-variable", Severity: finding.Error,
	Title: "Every var of a condition is in the run context or the request",
	Doc: "Conditions read the members of the run context, such as `user.role`, and `request`, which has `intent`, `message`, " +
		"`channel`, `locale` and `context`. Any other variable is always missing, so the condition does not mean what it seems " +
		"to mean, and comparing its order stops every compile: an error. A variable that no golden case supplies is a warning, " +
		"because nobody has ever seen the condition decide.\n\n" +
		"Facts about the request are in `request.context`: write `request.context.refund_amount`. If the variable is correct, " +
		"add a golden case that supplies it. The variables inside `map`, `filter`, `all`, `some`, `none` and `reduce` belong to " +
		"the item.",
	Bad:   `"if": {">": [{"var": "refund_amount"}, 3000]}`,
	Good:  `"if": {">": [{"var": "request.context.refund_amount"}, 3000]}`,
	Check: checkVariables,
}

func checkVariables(p *gate.Pass) {
	m := newModel(p)
	m.excuse(p, aboutAll)
	roots, _ := schemas.KnownMembers("run-context", "")
	roots = append(slices.Clip(roots), "request")
	slices.Sort(roots)
	members, _ := schemas.KnownMembers("invoke-agent", "/input")
	seen := map[string]bool{}
	var supplied []any // what conditions read in each golden case
	for _, c := range p.Unit.Cases {
		if data := p.Supplied(c); data != nil {
			supplied = append(supplied, data)
		}
	}
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
// the request. What is deeper is the caller's to name.
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

// POL014: a condition is one, and takes its variables for what they are.
var POL014 = &gate.Rule{
	ID: "POL014", Name: "idle-condition", Severity: finding.Warning,
	Title: "No condition is always true by mistake, or orders a value that other rules read as text",
	Doc: "A condition that is true for every request, even for one that lacks the variables, decides nothing but looks as if it " +
		"did. If one rule orders a variable (`>`, `<` and so on) and another compares it with a string, it is a number in one " +
		"rule and a text in the other, and one of them is wrong: ordering needs two numbers, and anything else stops the " +
		"compile.\n\n" +
		"If the rule should always hold, write `true`; the fix does that. For a variable, find out what the caller sends, and " +
		"write constants of that type: `3000` for a number, not `\"3000\"`.",
	Bad:   `"if": {"or": [{"===": [{"var": "user.role"}, "agent"]}, {"!==": [{"var": "user.role"}, "agent"]}]}`,
	Good:  `"if": true`,
	From:  gate.FromPack,
	Check: checkConditions,
}

func checkConditions(p *gate.Pass) {
	q := newQuestions(p)
	q.excuse(p, aboutAll)
	known := map[idleness]found{}
	for _, c := range q.conditions {
		if c.node.Kind != pack.Bool && !q.pointless() {
			q.checkAlways(c, known)
		}
	}
	checkTypes(p, q.model)
}

// idleness names the question whether a condition is always true: those of one
// expression, evaluated for the same intents, have one answer.
type idleness struct {
	expr   *jsonlogic.Expr
	intent pack.Text
}

func (q *questions) checkAlways(c condition, known map[idleness]found) {
	name, intents := idleness{expr: c.expr}, q.Intents
	if c.rule != nil {
		name.intent, intents = c.rule.AppliesTo.Intent, q.intentsOf(c.rule)
		name.intent.Node = nil
	}
	f, asked := known[name]
	if !asked {
		f = q.anyOf(intents, same(question{seed: jsonlogic.Not(jsonlogic.IsTrue(c.expr))}))
		known[name] = f
	}
	switch f.Verdict {
	case jsonlogic.Undecided:
		q.unproved(c.owner, fmt.Sprintf("whether its %s is always true", c.member), f.Answer)
	case jsonlogic.Unsatisfiable:
		message := fmt.Sprintf("the %s of %s is always true", c.member, c.owner)
		if c.rule != nil && c.rule.Else != nil {
			message += ", so its else never holds"
		}
		q.Report(gate.Diagnostic{
			At:      c.node,
			Message: message + assuming(f.Answer),
			Hint:    "write true, or correct the condition",
			Key:     "always",
			Fix: &finding.Fix{
				Description: "write true",
				Operations:  []finding.Operation{{Op: "replace", Path: c.node.KeyedPath(), Value: "true"}},
			},
		})
	}
}

// use is where a condition orders a variable or compares it with a string.
type use struct {
	condition
	path string
	at   *pack.Node // the operation
	text *pack.Node // the string, nil where there is none
}

func checkTypes(p *gate.Pass, m *model) {
	var ordered, compared []use
	for _, c := range m.conditions {
		o, t := usesOf(c)
		ordered, compared = append(ordered, o...), append(compared, t...)
	}
	type confusion struct{ owner, path string }
	reported := map[confusion]bool{}
	for _, o := range ordered {
		key := confusion{o.owner, o.path}
		if reported[key] {
			continue
		}
		if o.text != nil {
			reported[key] = true
			p.Report(gate.Diagnostic{
				At: o.at,
				Message: fmt.Sprintf("%s orders %s against the text %q, and ordering needs two numbers",
					o.owner, short(o.path), pack.Clip(o.text.Text, gate.MostShown)),
				Hint: "write a number, without quotes",
				Key:  o.path,
			})
			continue
		}
		for _, t := range compared {
			if t.path == o.path && m.meet(o.condition, t.condition) {
				reported[key] = true
				p.Report(gate.Diagnostic{
					At: o.at,
					Message: fmt.Sprintf("%s orders %s, which %s compares with the text %q",
						o.owner, short(o.path), t.owner, pack.Clip(t.text.Text, gate.MostShown)),
					Hint:    "find out whether the caller sends a number or a text, and write both conditions for that",
					Key:     o.path,
					Related: gate.See(t.at, "compared with a text here"),
				})
				break
			}
		}
	}
}

// meet reports whether two conditions are evaluated for one intent.
func (m *model) meet(a, b condition) bool {
	return a.rule == nil || b.rule == nil || slices.ContainsFunc(m.intentsOf(a.rule), b.rule.Applies)
}

// usesOf walks through a condition, but for the bodies of iterators: they read the item's variables.
func usesOf(c condition) (ordered, compared []use) {
	var walk func(n *pack.Node)
	walk = func(n *pack.Node) {
		if n.Kind == pack.Array {
			for _, item := range n.Items {
				walk(item)
			}
			return
		}
		if n.Kind != pack.Object || len(n.Members) != 1 {
			return
		}
		name, operands := n.Members[0].Name, jsonlogic.Operands(n.Members[0].Value)
		switch name {
		case "var":
			return
		case ">", ">=", "<", "<=":
			ordered = append(ordered, uses(c, n, operands, operands)...)
		case "==", "!=", "===", "!==":
			compared = append(compared, withText(uses(c, n, operands, operands))...)
		case "in":
			if len(operands) == 2 && operands[1].Kind == pack.Array {
				compared = append(compared, withText(uses(c, n, operands[:1], operands[1].Items))...)
			}
		case "map", "filter", "all", "none", "some", "reduce":
			walk(operands[0])
			return
		}
		for _, operand := range operands {
			walk(operand)
		}
	}
	walk(c.node)
	return ordered, compared
}

// uses returns a use of each variable among operands, with the first string among constants.
func uses(c condition, at *pack.Node, operands, constants []*pack.Node) []use {
	var text *pack.Node
	for _, n := range constants {
		if n.Kind == pack.String {
			text = n
			break
		}
	}
	var all []use
	for _, n := range operands {
		if n.Kind != pack.Object || len(n.Members) != 1 || n.Members[0].Name != "var" {
			continue
		}
		if path := jsonlogic.Operands(n.Members[0].Value)[0]; path.Kind == pack.String {
			all = append(all, use{c, path.Text, at, text})
		}
	}
	return all
}

func withText(all []use) []use {
	if len(all) > 0 && all[0].text == nil {
		return nil
	}
	return all
}
