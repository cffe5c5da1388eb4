package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Group is a part of what a compile came to, side by side.
type Group struct {
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// Row is one thing in both versions; "" where a version has nothing there.
type Row struct {
	Name    string `json:"name"`
	Base    string `json:"base,omitempty"`
	Head    string `json:"head,omitempty"`
	Differs bool   `json:"differs,omitempty"`
}

// fact is one thing of one version.
type fact struct{ group, name, says string }

// groups are the titles, in the order in which they are shown.
var groups = []string{"Decisions", "Tools", "Approval gates", "Controls", "Rules", "Evidence", "Memory", "Tokens", "Warnings"}

// compare puts two compiles side by side; without a base it lists the head.
func compare(head, base *outcome, both bool) []Group {
	now, before := head.facts(), base.facts()
	var out []Group
	for _, title := range groups {
		g := Group{Title: title}
		add := func(f fact) *Row {
			i := slices.IndexFunc(g.Rows, func(r Row) bool { return r.Name == f.name })
			if i < 0 {
				g.Rows, i = append(g.Rows, Row{Name: f.name}), len(g.Rows)
			}
			return &g.Rows[i]
		}
		for _, f := range now {
			if f.group == title {
				add(f).Head = f.says
			}
		}
		for _, f := range before {
			if f.group == title {
				add(f).Base = f.says
			}
		}
		for i := range g.Rows {
			g.Rows[i].Differs = both && g.Rows[i].Base != g.Rows[i].Head
		}
		if len(g.Rows) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// facts lists what a compile came to, as far as it came.
func (o *outcome) facts() []fact {
	if o.result == nil {
		return nil
	}
	list := o.traced()
	c := o.result.Context
	if c == nil {
		return list
	}
	add := func(group, name, format string, args ...any) {
		list = append(list, fact{group, name, fmt.Sprintf(format, args...)})
	}
	controls := &c.RuntimeControls
	for _, part := range []struct {
		name string
		list []string
	}{
		{"must refuse", controls.MustRefuse}, {"must escalate", controls.MustEscalate},
		{"gates active", controls.ApprovalGatesActive}, {"redaction rules", controls.RedactionRulesActive},
	} {
		add("Controls", part.name, "%s", orNone(part.list))
	}
	for _, e := range c.Manifests.EvidenceManifest {
		add("Evidence", e.EvidenceRef, "kept")
	}
	for _, ref := range c.ContextLedger.MemoryRefs {
		add("Memory", ref, "kept")
	}
	budget := &c.BudgetReport
	for _, b := range compiler.Buckets() {
		says := fmt.Sprintf("%d of %d", budget.TokensUsedByBucket.Of(b), budget.TokensAllocated.Of(b))
		if dropped := budget.DroppedBlockIDs.Of(b); len(dropped) > 0 {
			says += ", dropped " + strings.Join(dropped, ", ")
		}
		add("Tokens", string(b), "%s", says)
	}
	add("Tokens", "all", "%d", budget.TokensUsedAtCompile)
	for _, w := range budget.Warnings {
		add("Warnings", w, "said")
	}
	return list
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

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
