package engine

import (
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// traced lists what the stages decided, and why.
func (o *outcome) traced() []fact {
	trace := &o.result.Trace
	var list []fact
	for _, d := range trace.Decisions {
		says := map[compiler.DecisionState]string{
			compiler.DecisionOther: "not of this intent", compiler.DecisionAllowed: "allowed",
			compiler.DecisionDenied: "denied", compiler.DecisionSilent: "blocked, since nothing allows it",
		}[d.State]
		if mode := d.Decision.ApprovalMode.Value; mode != "" {
			says += ", " + mode
		}
		list = append(list, fact{"Decisions", d.Decision.DecisionKey.Value, says + by(d.By)})
	}
	for i := range trace.Tools {
		list = append(list, fact{"Tools", trace.Tools[i].Name(), o.tool(&trace.Tools[i])})
	}
	for _, g := range trace.Gates {
		says := "not active"
		switch {
		case len(g.RequiredBy) > 0:
			says = "active, required" + by(g.RequiredBy)
		case g.Active && g.When == jsonlogic.Unknown && g.Cause != nil:
			says = "active, since its condition is unknown: " + g.Cause.String()
		case g.Active:
			says = "active, its condition holds"
		case len(g.NamedBy) == 0:
			says = "not active, nothing in reach names it"
		}
		list = append(list, fact{"Approval gates", g.Gate.GateID.Value, says})
	}
	for _, r := range trace.Rules {
		list = append(list, fact{"Rules", r.Rule.RuleID.Value, rule(r)})
	}
	return list
}

// by names the rules that say something.
func by(rules []*pack.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	var names []string
	for _, r := range rules {
		names = append(names, r.RuleID.Value)
	}
	return ", by " + strings.Join(names, ", ")
}

func rule(r compiler.RuleTrace) string {
	says := map[compiler.RuleState]string{
		compiler.RuleOther: "not of this intent", compiler.RuleSilent: "silent, its condition does not hold",
		compiler.RuleThen: "fires: then", compiler.RuleElse: "fires: else", compiler.RuleUndecided: "cannot be decided",
	}[r.State]
	if r.Cause != nil {
		says += ": " + r.Cause.String()
	}
	if !r.Enforced {
		says += " (not enforced)"
	}
	return says
}

// tool says whether a capability is there, with its mode and bounds, or why not.
func (o *outcome) tool(t *compiler.ToolTrace) string {
	if !t.Surfaced {
		var why []string
		for _, obstacle := range t.Obstacles {
			why = append(why, obstacle.Reason)
		}
		return "left out: " + strings.Join(why, "; ")
	}
	says := "available"
	if o.result.Context == nil {
		return says
	}
	for _, e := range o.result.Context.Manifests.ToolManifest {
		if e.AdapterID != t.Adapter.AdapterID.Value {
			continue
		}
		if m, ok := e.CapabilityMetadata[t.Capability]; ok {
			says += ", " + m.ApprovalMode
		}
		if bounds := e.Constraints[t.Capability]; len(bounds) > 0 {
			says += ", " + pack.CompactJSON(bounds)
		}
	}
	return says
}
