package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// predicate is what a kind of property says of a compile.
type predicate struct {
	prefix string
	kind   string // what it names, for messages
	// known are the names that the pack has.
	known func(*replays) []string
	// holds says of what was compiled whether it is so, and in words how it is.
	holds func(r *golden.Result, name string) (bool, string)
}

func predicates() []predicate {
	return []predicate{
		{"tool:", "tool", func(s *replays) []string { return s.tools }, toolSurfaced},
		{"gate:", "gate", func(s *replays) []string { return gate.Names(s.Gates) }, gateActive},
		{"rule:", "rule", func(s *replays) []string { return gate.Names(s.rules) }, ruleFired},
		{"denied:", "decision", func(s *replays) []string { return gate.Names(s.Decisions) }, decisionDenied},
	}
}

// knows reports whether the pack has a name.
func (q *predicate) knows(s *replays, name string) bool { return slices.Contains(q.known(s), name) }

// property checks one expected property of a packet.
func (s *replays) property(packet *repo.Packet, property pack.Text, r *golden.Result) {
	text, negated := strings.CutPrefix(property.Value, "!")
	all := predicates()
	i := slices.IndexFunc(all, func(q predicate) bool { return strings.HasPrefix(text, q.prefix) && len(text) > len(q.prefix) })
	if i < 0 {
		s.fault(packet.SideFile, gate.Faultf(property.Node, "write tool:ADAPTER.CAPABILITY, gate:ID, rule:ID or denied:KEY, with ! before it for the opposite",
			"property %s is not one that can be checked", gate.Quote(property.Value)))
		return
	}
	q := all[i]
	name := text[len(q.prefix):]
	holds, how := false, uncompiled(r)
	if how == "" {
		holds, how = q.holds(r, name)
	}
	known := q.known(s)
	switch {
	case holds == negated:
		s.fault(packet.SideFile, gate.Faultf(property.Node, s.fixProperty(q, name, known), "property %s does not hold: %s", gate.Quote(property.Value), how).Beside(caseOf(r)))
	case negated && !slices.Contains(known, name):
		if near := s.near.Nearest(name, known); near != "" {
			s.Report(gate.Faultf(property.Node, fmt.Sprintf("write %q, or remove the property", "!"+q.prefix+near),
				"property %s holds only because the pack has no such %s", gate.Quote(property.Value), q.kind).
				Keyed(s.Unit.Within(packet.Name)).As(finding.Warning))
		}
	}
}

// fixProperty is the hint for a property that does not hold.
func (s *replays) fixProperty(q predicate, name string, known []string) string {
	if !slices.Contains(known, name) {
		if near := s.near.Nearest(name, known); near != "" {
			return fmt.Sprintf("write %q, or fix the pack", q.prefix+near)
		}
	}
	return "correct the property if the change is intended; otherwise fix the pack"
}

// toolNames lists the tools that the pack declares, in registry order.
func toolNames(p *gate.Pass) (names []string) {
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		for _, c := range pack.Values(a.Capabilities) {
			names = append(names, a.AdapterID.Value+"."+c)
		}
	}
	return names
}

// uncompiled says why nothing of a compile holds; "" where it was compiled.
func uncompiled(r *golden.Result) string {
	if r.Outcome == compiler.Compiled {
		return ""
	}
	return fmt.Sprintf("the outcome is %s, so nothing is compiled", r.Outcome)
}

func toolSurfaced(r *golden.Result, name string) (bool, string) {
	for _, t := range r.Detail.Trace.Tools {
		if t.Adapter.AdapterID.Value+"."+t.Capability != name {
			continue
		}
		if t.Surfaced || len(t.Obstacles) == 0 {
			return t.Surfaced, "the tool is surfaced"
		}
		return false, "the tool is not surfaced: " + t.Obstacles[0].Reason
	}
	return false, "the pack has no such tool"
}

func gateActive(r *golden.Result, id string) (bool, string) {
	for _, g := range r.Detail.Trace.Gates {
		switch {
		case g.Gate.GateID.Value != id:
		case g.Active:
			return true, "the gate is active"
		case len(g.NamedBy) == 0:
			return false, "the gate is not active: nothing that the request reaches names it"
		default:
			return false, "the gate is not active: its condition is false"
		}
	}
	return false, "the pack has no such gate"
}

func ruleFired(r *golden.Result, id string) (bool, string) {
	for _, rule := range r.Detail.Trace.Rules {
		if rule.Rule.RuleID.Value != id {
			continue
		}
		switch rule.State {
		case compiler.RuleThen, compiler.RuleElse:
			return true, "the rule fired"
		case compiler.RuleOther:
			return false, "the rule is about another intent"
		case compiler.RuleSilent:
			return false, "the rule's condition is false, and it has no else"
		default:
			return false, "the rule's condition cannot be decided"
		}
	}
	return false, "the pack has no such rule"
}

func decisionDenied(r *golden.Result, key string) (bool, string) {
	for _, d := range r.Detail.Trace.Decisions {
		if d.Decision.DecisionKey.Value != key {
			continue
		}
		switch d.State {
		case compiler.DecisionDenied:
			return true, "the decision is denied"
		case compiler.DecisionAllowed:
			return false, "the decision is allowed"
		case compiler.DecisionSilent:
			return false, "the decision is not denied by any rule, and not allowed by any either"
		default:
			return false, "the decision is of another intent"
		}
	}
	return false, "the pack has no such decision"
}
