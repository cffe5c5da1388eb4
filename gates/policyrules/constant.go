package policyrules

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// POL014: a condition is one, and takes its variables for what they are.
var POL014 = &gate.Rule{
	ID: "POL014", Name: "idle-condition", Severity: finding.Warning,
	Title: "No condition is always true without saying so, or orders what others take for text",
	Doc: "A condition that is true of every request, also of one that lacks the variables, decides nothing but looks as if it did. " +
		"A variable that one rule orders (`>`, `<` and so on) and another compares with a string is a number to the one and a text to the other, and one of them is wrong: " +
		"ordering needs two numbers, and anything else stops the compile.\n\n" +
		"Write `true` where the rule is intended to hold always; the fix does that. " +
		"Of a variable, find out what the caller sends, and write the constants of that type: `3000` for a number, not `\"3000\"`.",
	Bad:   `"if": {"or": [{"===": [{"var": "user.role"}, "agent"]}, {"!==": [{"var": "user.role"}, "agent"]}]}`,
	Good:  `"if": true`,
	Since: "0.1.0",
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

// use is one place at which a condition orders a variable or compares it with a
// string.
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
			reportText(p, o)
			continue
		}
		for _, t := range compared {
			if t.path == o.path && m.meet(o.condition, t.condition) {
				reported[key] = true
				reportTypes(p, o, t)
				break
			}
		}
	}
}

// meet reports whether two conditions are evaluated for one intent.
func (m *model) meet(a, b condition) bool {
	return a.rule == nil || b.rule == nil || len(m.shared(a.rule, b.rule)) > 0
}

func reportText(p *gate.Pass, o use) {
	p.Report(gate.Diagnostic{
		At: o.at,
		Message: fmt.Sprintf("%s orders %s against the text %q, and ordering needs two numbers",
			o.owner, short(o.path), pack.Clip(o.text.Text, gate.MostShown)),
		Hint: "write a number, without quotes",
		Key:  o.path,
	})
}

func reportTypes(p *gate.Pass, o, t use) {
	p.Report(gate.Diagnostic{
		At: o.at,
		Message: fmt.Sprintf("%s orders %s, which %s compares with the text %q",
			o.owner, short(o.path), t.owner, pack.Clip(t.text.Text, gate.MostShown)),
		Hint:    "find out whether the caller sends a number or a text, and write both conditions for that",
		Key:     o.path,
		Related: gate.See(t.at, "compared with a text here"),
	})
}

// usesOf walks through a condition. The bodies of iterators are left out, for
// their variables are the item's.
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
		name, operands := n.Members[0].Name, operandsOf(n.Members[0].Value)
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

// operandsOf returns the operands of an operator; one may stand bare.
func operandsOf(value *pack.Node) []*pack.Node {
	if value.Kind == pack.Array {
		return value.Items
	}
	return []*pack.Node{value}
}

// uses returns a use of each variable among the operands, with the first string
// that stands among the constants.
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
		if path := operandsOf(n.Members[0].Value)[0]; path.Kind == pack.String {
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
