package risk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// RSK004: every mode is stated, and is one of the five.
var RSK004 = &gate.Rule{
	ID: "RSK004", Name: "unknown-approval-mode", Severity: finding.Error,
	Title: "Every adapter and decision states one of the five approval modes",
	Doc: "The approval mode decides who may approve what, and what is allowed at all. A mode that is missing or not one of the " +
		"five has no meaning; everywhere else such a tool counts as `destructive`, and such a decision authorises nothing above " +
		"`read_only`.\n\n" +
		"Write `read_only`, `local_write`, `network`, `delegated` or `destructive`: for an adapter the highest that any of its " +
		"capabilities needs, for a decision the highest that it authorises. An outcome need not state one, but if it does, it " +
		"must be one of the five too.",
	Bad:   `"adapter_registry": [{"adapter_id": "adp_orders", "approval_mode": "read-only"}]`,
	Good:  `"adapter_registry": [{"adapter_id": "adp_orders", "approval_mode": "read_only"}]`,
	Check: checkModes,
}

// RSK008: the ceilings hold.
var RSK008 = &gate.Rule{
	ID: "RSK008", Name: "above-mode-ceiling", Severity: finding.Error,
	Title: "No open tool and no decision is above the ceiling of the environment or the config",
	Doc: "An environment limits with `max_approval_mode` how far agents may go in it, and a repository limits its packs with " +
		"`limits.max_approval_mode`. A pack above the ceiling has tools and decisions that will never be allowed there, or " +
		"should not be.\n\n" +
		"Close the permissions, lower the decision, or have the owner raise the ceiling. The mode of an adapter counts for each " +
		"capability that is open. Every environment is checked, and a finding names it.",
	Bad: `{"limits": {"max_approval_mode": "network"},
 "decision_specs": [{"decision_key": "support.refund.execute", "approval_mode": "destructive"}]}`,
	Good: `{"limits": {"max_approval_mode": "destructive"},
 "decision_specs": [{"decision_key": "support.refund.execute", "approval_mode": "destructive"}]}`,
	Check: checkCeilings,
}

func checkModes(p *gate.Pass) {
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		stated{a.Part, a.ApprovalMode, gate.CalledBriefly("adapter", a.AdapterID), "so it counts as destructive", true}.check(p)
	}
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		stated{d.Part, d.ApprovalMode, gate.CalledBriefly("decision", d.DecisionKey), "so it authorises nothing above read_only", true}.check(p)
	}
	for _, r := range p.Policy().Rules {
		for _, b := range r.Branches() {
			stated{b.Part, b.ApprovalMode, "an outcome of " + gate.CalledBriefly("rule", r.RuleID), "so it counts as destructive", false}.check(p)
		}
	}
}

// stated is a mode that something states, or lacks.
type stated struct {
	owner            pack.Part
	mode             pack.Text
	who, consequence string // in words
	wanted           bool   // it has to be there
}

// check reports a mode that is not known, or missing where it is wanted.
func (s stated) check(p *gate.Pass) {
	mode := s.mode
	choices := make([]string, 0, len(pack.ApprovalModes()))
	for _, m := range pack.ApprovalModes() {
		choices = append(choices, string(m))
	}
	hint := "write one of " + strings.Join(slices.Sorted(slices.Values(choices)), ", ")
	switch {
	case mode.OK && pack.Mode(mode).Known(), mode.Node != nil && !mode.OK, !gate.IsObject(s.owner.Node):
		return // a mode of the wrong type is the schema gate's
	case mode.Node == nil:
		if s.wanted {
			p.Reportf(s.owner.Node, hint, "%s has no approval_mode, %s", s.who, s.consequence)
		}
		return
	}
	d := gate.Faultf(mode.Node, hint, "%s has the unknown approval mode %s, %s", s.who, gate.Quote(mode.Value), s.consequence)
	if near := schemas.Nearest(mode.Value, choices); near != "" {
		d.Hint = fmt.Sprintf("write %q", near)
		if gate.Fold(mode.Value) == near {
			d.Fix = gate.Edit(fmt.Sprintf("write the approval mode as %q", near), "replace", mode.Node.KeyedPath(), fmt.Sprintf("%q", near))
		}
	}
	p.Report(d)
}

// ceiling is a highest mode, and who set it.
type ceiling struct {
	mode pack.Text
	of   string // "of environment "prod"", "of the config"
	key  string
	file string
	in   *repo.Environment // nil for that of the config
}

func checkCeilings(p *gate.Pass) {
	var ceilings []ceiling
	if m := p.Config.LimitFields.MaxApprovalMode; m.OK {
		ceilings = append(ceilings, ceiling{m, "of the config", repo.ConfigName, m.Node.Document().File, nil})
	}
	var without []*repo.Environment
	for _, e := range p.Environments {
		if m := e.MaxApprovalMode; m.OK {
			ceilings = append(ceilings, ceiling{m, fmt.Sprintf("of environment %q", e.Name()), e.Name(), e.Document.File, e})
		} else {
			without = append(without, e)
		}
	}
	if len(without) == len(p.Environments) {
		p.NoCatalog("no environment catalog has a max_approval_mode")
	} else {
		for _, e := range without {
			p.NotApplicable(finding.CatalogOf(e.Name()), e.Lacks("has no max_approval_mode"))
		}
	}
	for _, c := range ceilings {
		if c.in == nil {
			c.check(p)
		} else {
			p.In(c.in, func() { c.check(p) })
		}
	}
}

func (c ceiling) check(p *gate.Pass) {
	done := map[*pack.Adapter]bool{}
	for _, open := range openTools(p) {
		a := open.Adapter
		if !done[a] {
			done[a] = true
			what := fmt.Sprintf("%s, whose %s is open,", gate.CalledBriefly("adapter", a.AdapterID), gate.Quote(open.Capability))
			c.report(p, a.Part, a.ApprovalMode, what, "close its permissions")
		}
	}
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		if gate.IsObject(d.Node) {
			c.report(p, d.Part, d.ApprovalMode, gate.CalledBriefly("decision", d.DecisionKey), "lower its approval_mode")
		}
	}
}

func (c ceiling) report(p *gate.Pass, owner pack.Part, mode pack.Text, what, remedy string) {
	if pack.Mode(mode).Rank() <= pack.Mode(c.mode).Rank() {
		return
	}
	p.Report(gate.Faultf(pack.Place(mode.Node, owner.Node), fmt.Sprintf("%s, or raise max_approval_mode in %s", remedy, c.file),
		"%s is %s, above the ceiling %s %s", what, modeName(mode), c.mode.Value, c.of).Keyed(c.key).See(c.mode.Node, "the ceiling"))
}

// RSK009: the stated risks and the mode agree.
var RSK009 = &gate.Rule{
	ID: "RSK009", Name: "risk-above-mode", Severity: finding.Error,
	Title: "The stated risks of a capability do not exceed its adapter's approval mode",
	Doc: "`capability_risks` states what a capability does, and the adapter's `approval_mode` is the most that any of its " +
		"capabilities can do. If they disagree, one of them is wrong, and approvals and ceilings follow the mode. " +
		"`irreversible` needs `destructive`; an effect on `external_state` or the `physical_world` needs at least `network`, " +
		"and one on `local_state` at least `local_write`; the authority `user_delegated` needs at least `delegated`.\n\n" +
		"Raise the adapter's mode, or correct the risk. `-` and blanks count as `_`.",
	Bad:   `"approval_mode": "network", "capability_risks": {"issue_refund": {"reversibility": "irreversible"}}`,
	Good:  `"approval_mode": "destructive", "capability_risks": {"issue_refund": {"reversibility": "irreversible"}}`,
	Check: checkNative,
}

// native is a value of one dimension of native risk.
type native struct{ dimension, value string }

// needs says which mode a native risk asks for at least.
var needs = map[native]pack.ApprovalMode{
	{"reversibility", "irreversible"}: pack.Destructive,
	{"effect", "external_state"}:      pack.Network,
	{"effect", "physical_world"}:      pack.Network,
	{"effect", "local_state"}:         pack.LocalWrite,
	{"authority", "user_delegated"}:   pack.Delegated,
}

func checkNative(p *gate.Pass) {
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		for _, risk := range a.CapabilityRisks.Entries {
			if p.Policy().Tool(policy.ToolID{Adapter: a.AdapterID.Value, Capability: risk.Name}) == nil {
				continue // REF012's
			}
			checkRisk(p, &a, risk.Name, "reversibility", risk.Value.Reversibility)
			checkRisk(p, &a, risk.Name, "effect", risk.Value.Effect)
			checkRisk(p, &a, risk.Name, "authority", risk.Value.Authority)
		}
	}
}

func checkRisk(p *gate.Pass, a *pack.Adapter, capability, dimension string, value pack.Text) {
	least, ok := needs[native{dimension, gate.Fold(value.Value)}]
	if !ok || least.Rank() <= pack.Mode(a.ApprovalMode).Rank() {
		return
	}
	p.Report(gate.Faultf(value.Node, fmt.Sprintf("raise the adapter's approval_mode to %q, or correct the risk", least),
		"capability %s has the %s %s, which needs at least %s, but %s is %s", gate.Quote(capability), dimension, gate.Quote(value.Value), least, gate.CalledBriefly("adapter", a.AdapterID), a.ApprovalMode.Value).
		See(a.ApprovalMode.Node, "the adapter's mode"))
}
