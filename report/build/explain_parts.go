package build

import (
	"maps"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/report/model"
)

func (x *explainer) tool(t compiler.ToolTrace) model.ToolWhy {
	out := model.ToolWhy{
		Tool: t.Adapter.AdapterID.Value + "." + t.Capability, Surfaced: t.Surfaced,
		Mode: string(pack.ApprovalModes()[pack.Mode(t.Adapter.ApprovalMode).Rank()]), AuthorisedBy: t.AuthorisedBy, Place: placeOf(t.Adapter.Node),
	}
	for _, c := range t.Adapter.Capabilities.Items {
		if c.Value == t.Capability {
			out.Place = placeOf(c.Node)
		}
	}
	for _, p := range t.Permissions {
		out.Permissions = append(out.Permissions, model.PermissionWhy{
			Permission: p.PermissionID.Value, Allow: p.Allow.Value, Gate: p.RequiresApprovalGate.Value, Place: placeOf(p.Node),
		})
	}
	for _, o := range t.Obstacles {
		out.Obstacles = append(out.Obstacles, model.ObstacleWhy{Reason: o.Reason, Place: placeOf(o.At)})
	}
	for _, entry := range x.manifest() {
		if t.Surfaced && entry.AdapterID == t.Adapter.AdapterID.Value {
			out.Effective = entry.CapabilityMetadata[t.Capability].ApprovalMode
			out.Bounds = x.bounds(entry.Constraints[t.Capability], t.Permissions)
		}
	}
	return out
}

// manifest returns the tool manifest, also of a compile that ended later on.
func (x *explainer) manifest() []compiler.ToolEntry {
	for _, s := range x.result.Stages {
		if entries, ok := s.Output.([]compiler.ToolEntry); ok {
			return entries
		}
	}
	return nil
}

// bounds says of each bound of a surfaced capability where it comes from: from
// its permissions, and from outcomes that hold and bound the same argument.
func (x *explainer) bounds(constraints map[string]any, permissions []*pack.Permission) []model.BoundWhy {
	var out []model.BoundWhy
	for _, arg := range slices.Sorted(maps.Keys(constraints)) {
		b := model.BoundWhy{Argument: arg, Bound: constraints[arg]}
		for _, p := range permissions {
			if c, ok := p.ArgConstraints.Get(arg); ok {
				b.From = append(b.From, model.Source{Kind: "permission", Name: p.PermissionID.Value, Place: placeOf(c.Node)})
			}
		}
		for _, t := range x.result.Trace.Rules {
			if t.Outcome == nil || !t.Enforced {
				continue
			}
			if c, ok := t.Outcome.ArgConstraints.Get(arg); ok {
				b.From = append(b.From, model.Source{Kind: string(t.State), Name: t.Rule.RuleID.Value, Place: placeOf(c.Node)})
			}
		}
		out = append(out, b)
	}
	return out
}

func (x *explainer) gate(t compiler.GateTrace) model.GateWhy {
	out := model.GateWhy{
		Gate: t.Gate.GateID.Value, Active: t.Active, RequiredBy: each(nil, t.RequiredBy, x.ruleAt), NamedBy: each(nil, t.NamedBy, sourceOf), Place: placeOf(t.Gate.Node),
	}
	if len(out.NamedBy) > 0 {
		cause := t.Cause
		if t.When != jsonlogic.Unknown {
			cause = nil // a part of it may be unknown and decide nothing
		}
		out.Condition = x.condition(t.Gate.When, t.When, cause)
	}
	return out
}

func sourceOf(member *pack.Node) model.Source {
	owner := member.Parent
	if id := owner.Get("permission_id"); id != nil {
		return model.Source{Kind: "permission", Name: pack.TextOf(id), Place: placeOf(member)}
	}
	kind, _ := owner.Name()
	return model.Source{Kind: kind, Name: pack.TextOf(owner.Parent.Get("rule_id")), Place: placeOf(member)}
}

// Bounds on what is said of one condition. It is evaluated part by part to find out which
// comparisons settle it; one that is made to be long is explained in part and not slowly.
const (
	mostGrounds  = 8   // comparisons that are shown
	mostReadings = 8   // values of one comparison
	mostParts    = 100 // parts that are looked at
)

func (x *explainer) condition(n *pack.Node, truth jsonlogic.Truth, cause *jsonlogic.Cause) *model.ConditionWhy {
	out := &model.ConditionWhy{Words: rulebook.Condition(n), Truth: truth.String(), Place: placeOf(n)}
	if cause != nil {
		out.Cause = &model.CauseWhy{Operator: cause.Operator, Variable: cause.Variable, Reason: jsonlogic.Named(cause.String(), cause.Variable), Place: placeOf(pack.Place(cause.Node, n))}
		return out
	}
	s := &search{data: x.data, into: out}
	s.look(n, truth)
	return out
}

type search struct {
	data  map[string]any
	parts int
	into  *model.ConditionWhy
}

// look goes down to the comparisons that give a part of a condition its truth. What decides a
// connective are its operands of the same truth: all of an "and" that is true.
func (s *search) look(n *pack.Node, truth jsonlogic.Truth) {
	operator, operands := connective(n)
	if operator == "" {
		s.ground(n, truth)
		return
	}
	if operator == "!" {
		truth = truth.Not()
	}
	for _, operand := range operands {
		if s.parts++; s.parts > mostParts {
			s.into.More = true
			return
		}
		// A sole operand has the truth already.
		if len(operands) == 1 || truthFor(operand, s.data) == truth {
			s.look(operand, truth)
		}
	}
}

// connective returns the operator and the operands of a part that is to be taken
// apart: and, or, and the negation of one of them. The operator of all else is "".
func connective(n *pack.Node) (operator string, operands []*pack.Node) {
	if n.Kind != pack.Object || len(n.Members) != 1 {
		return "", nil
	}
	operator, value := n.Members[0].Name, n.Members[0].Value
	operands = []*pack.Node{value}
	if value.Kind == pack.Array {
		operands = value.Items
	}
	switch operator {
	case "and", "or":
		return operator, operands
	case "!":
		if inner, _ := connective(operands[0]); inner != "" {
			return operator, operands
		}
	}
	return "", nil
}

func truthFor(n *pack.Node, data map[string]any) jsonlogic.Truth {
	expr, _ := jsonlogic.Compile(n)
	if expr == nil {
		return jsonlogic.Unknown
	}
	return expr.Eval(data).Truth
}

func (s *search) ground(n *pack.Node, truth jsonlogic.Truth) {
	if len(s.into.Grounds) == mostGrounds {
		s.into.More = true
		return
	}
	g := model.Ground{Words: rulebook.Condition(n), Truth: truth.String(), Place: placeOf(n)}
	if expr, _ := jsonlogic.Compile(n); expr != nil {
		seen := map[string]bool{}
		for _, v := range expr.Variables() {
			if v.Scoped || seen[v.Path] {
				continue
			}
			if len(g.Values) == mostReadings {
				s.into.More = true
				break
			}
			seen[v.Path] = true
			g.Values = append(g.Values, model.Reading{Variable: v.Path, Value: valueOf(v.Path, s.data)})
		}
	}
	s.into.Grounds = append(s.into.Grounds, g)
}

// valueOf reads a variable as conditions do.
func valueOf(path string, data map[string]any) any {
	src := pack.CompactJSON(map[string]any{"var": path})
	d, _ := pack.Read("", []byte(src), pack.DefaultLimits())
	expr, _ := jsonlogic.Compile(d.Root)
	if expr == nil {
		return nil
	}
	return expr.Eval(data).Value
}
