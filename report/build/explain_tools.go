package build

import (
	"maps"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

func (x *explainer) tool(t *compiler.ToolTrace) model.ToolWhy {
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

func (x *explainer) gate(t *compiler.GateTrace) model.GateWhy {
	out := model.GateWhy{Gate: t.Gate.GateID.Value, Active: t.Active, Place: placeOf(t.Gate.Node)}
	for _, r := range t.RequiredBy {
		out.RequiredBy = append(out.RequiredBy, x.ruleAt(r))
	}
	for _, n := range t.NamedBy {
		out.NamedBy = append(out.NamedBy, sourceOf(n))
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

// sourceOf says which permission or outcome a member belongs to.
func sourceOf(member *pack.Node) model.Source {
	owner := member.Parent
	if id := owner.Get("permission_id"); id != nil {
		return model.Source{Kind: "permission", Name: textOf(id), Place: placeOf(member)}
	}
	kind, _ := owner.Name()
	return model.Source{Kind: kind, Name: textOf(owner.Parent.Get("rule_id")), Place: placeOf(member)}
}
