package report

import (
	"maps"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// ToolWhy is why one capability is in the tool manifest or not.
type ToolWhy struct {
	Tool     string `json:"tool"` // adapter.capability
	Surfaced bool   `json:"surfaced"`
	// Mode is the adapter's approval mode, which counts for the ceiling and for who
	// may authorise; one that is missing or unknown counts as destructive.
	// Effective is the mode in the manifest, absent where it is not surfaced.
	Mode        string          `json:"approval_mode"`
	Effective   string          `json:"effective_mode,omitempty"`
	Permissions []PermissionWhy `json:"permissions,omitempty"`
	// AuthorisedBy are the allowed decisions that may authorise it.
	AuthorisedBy []string      `json:"authorised_by,omitempty"`
	Obstacles    []ObstacleWhy `json:"obstacles,omitempty"` // all reasons for which it is left out
	Bounds       []BoundWhy    `json:"bounds,omitempty"`    // by argument
	Place        *Place        `json:"place"`
}

// PermissionWhy is a permission that names a capability.
type PermissionWhy struct {
	Permission string `json:"permission"`
	Allow      bool   `json:"allow"`
	Gate       string `json:"gate,omitempty"`
	Place      *Place `json:"place"`
}

// ObstacleWhy is one reason for which a capability is left out. Place is absent
// where it is that the pack says nothing.
type ObstacleWhy struct {
	Reason string `json:"reason"`
	Place  *Place `json:"place,omitempty"`
}

// BoundWhy is what holds for one argument, and who says so.
type BoundWhy struct {
	Argument string   `json:"argument"`
	Bound    any      `json:"bound"` // as in the manifest
	From     []Source `json:"from"`
}

// Source is a part of the pack that says something. Kind is permission, then or
// else; Name is the permission's or the rule's.
type Source struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Place *Place `json:"place"`
}

func (x *explainer) tool(t *compiler.ToolTrace) ToolWhy {
	out := ToolWhy{
		Tool: t.Adapter.AdapterID.Value + "." + t.Capability, Surfaced: t.Surfaced,
		Mode: string(pack.ApprovalModes()[pack.Mode(t.Adapter.ApprovalMode).Rank()]), AuthorisedBy: t.AuthorisedBy, Place: placeOf(t.Adapter.Node),
	}
	for _, c := range t.Adapter.Capabilities.Items {
		if c.Value == t.Capability {
			out.Place = placeOf(c.Node)
		}
	}
	for _, p := range t.Permissions {
		out.Permissions = append(out.Permissions, PermissionWhy{
			Permission: p.PermissionID.Value, Allow: p.Allow.Value, Gate: p.RequiresApprovalGate.Value, Place: placeOf(p.Node),
		})
	}
	for _, o := range t.Obstacles {
		out.Obstacles = append(out.Obstacles, ObstacleWhy{Reason: o.Reason, Place: placeOf(o.At)})
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
func (x *explainer) bounds(constraints map[string]any, permissions []*pack.Permission) []BoundWhy {
	var out []BoundWhy
	for _, arg := range slices.Sorted(maps.Keys(constraints)) {
		b := BoundWhy{Argument: arg, Bound: constraints[arg]}
		for _, p := range permissions {
			if c, ok := p.ArgConstraints.Get(arg); ok {
				b.From = append(b.From, Source{Kind: "permission", Name: p.PermissionID.Value, Place: placeOf(c.Node)})
			}
		}
		for _, t := range x.result.Trace.Rules {
			if t.Outcome == nil || !t.Enforced {
				continue
			}
			if c, ok := t.Outcome.ArgConstraints.Get(arg); ok {
				b.From = append(b.From, Source{Kind: string(t.State), Name: t.Rule.RuleID.Value, Place: placeOf(c.Node)})
			}
		}
		out = append(out, b)
	}
	return out
}

// GateWhy is why one approval gate is active or not.
type GateWhy struct {
	Gate   string `json:"gate"`
	Active bool   `json:"active"`
	// RequiredBy are the rules whose outcomes hold and require it.
	RequiredBy []RuleAt `json:"required_by,omitempty"`
	// NamedBy are the permissions of tools in the manifest and the outcomes of
	// applicable rules that name it. Only then its condition counts.
	NamedBy   []Source      `json:"named_by,omitempty"`
	Condition *ConditionWhy `json:"condition,omitempty"`
	Place     *Place        `json:"place"`
}

func (x *explainer) gate(t *compiler.GateTrace) GateWhy {
	out := GateWhy{Gate: t.Gate.GateID.Value, Active: t.Active, Place: placeOf(t.Gate.Node)}
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
func sourceOf(member *pack.Node) Source {
	owner := member.Parent
	if id := owner.Get("permission_id"); id != nil {
		return Source{Kind: "permission", Name: textOf(id), Place: placeOf(member)}
	}
	kind, _ := owner.Name()
	return Source{Kind: kind, Name: textOf(owner.Parent.Get("rule_id")), Place: placeOf(member)}
}
