package compiler

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// surface is a capability that is in the tool manifest.
type surface struct {
	*capability
	constraints map[string]any // by argument, see ToolEntry
	metadata    Metadata
}

// toolStage is stage 3. A capability is surfaced if a permission allows it and
// none forbids it, no fired outcome prohibits it, an allowed decision of the
// intent may authorise it (what only reads needs none), and the safety mode
// covers it.
func (r *run) toolStage() (any, *Stop) {
	e := &effort{left: mostEffort}
	prohibited := r.prohibitions(e)
	for i := range r.capabilities {
		c := &r.capabilities[i]
		trace := ToolTrace{Adapter: c.adapter, Capability: c.name, Permissions: c.permissions}
		authorities := r.authorities(c)
		if !e.spend(1 + len(authorities)) {
			return nil, tooMuch()
		}
		for _, d := range authorities {
			trace.AuthorisedBy = append(trace.AuthorisedBy, d.key)
		}
		trace.Obstacles = slices.Concat(c.permitted(), prohibited[i], r.authorised(c, authorities), r.belowCeiling(c))
		constraints, unsatisfiable := r.constraints(c, e)
		if e.left < 0 {
			return nil, tooMuch()
		}
		if len(trace.Obstacles) == 0 && unsatisfiable != nil {
			trace.Obstacles = []Obstacle{*unsatisfiable}
			r.warn("tool %s was left out: %s", c.id, unsatisfiable.Reason)
		}
		if trace.Surfaced = len(trace.Obstacles) == 0; trace.Surfaced {
			r.surfaced = append(r.surfaced, surface{c, constraints, c.metadata(authorities)})
		}
		r.result.Trace.Tools = append(r.result.Trace.Tools, trace)
	}
	r.warnUnused()
	r.manifest = r.toolManifest()
	return r.manifest, nil
}

// effort bounds what a compile does for tools. Decisions, prohibitions and bounds
// meet in every capability, so that a small pack could ask for days of work and
// for a context that fits nowhere.
type effort struct{ left int }

// mostEffort is several times what a pack of hundreds of tools and rules needs, and
// a fraction of a second.
const mostEffort = 2_000_000

// spend reports whether the work can still be done.
func (e *effort) spend(n int) bool {
	e.left -= n
	return e.left >= 0
}

func tooMuch() *Stop {
	return refusal("the tools take more than %d steps to decide: too many decisions, prohibitions or bounds of the pack meet in them", mostEffort)
}

// prohibitions returns by capability what fired outcomes prohibit.
func (r *run) prohibitions(e *effort) map[int][]Obstacle {
	prohibited := map[int][]Obstacle{}
	for _, f := range r.fired {
		if !f.enforced {
			continue
		}
		obstacle := Obstacle{fmt.Sprintf("rule %q prohibits it", f.rule.rule.RuleID.Value), f.outcome.Prohibits.Node}
		for _, named := range f.prohibits {
			if !e.spend(len(named)) {
				return nil
			}
			for _, i := range named {
				prohibited[i] = append(prohibited[i], obstacle)
			}
		}
	}
	return prohibited
}

// permitted says why the permissions leave a capability out. One that does not
// allow it forbids it.
func (c *capability) permitted() []Obstacle {
	if len(c.permissions) == 0 {
		return []Obstacle{{"no permission names it", nil}}
	}
	var out []Obstacle
	for _, p := range c.permissions {
		if !p.Allow.Value {
			out = append(out, Obstacle{fmt.Sprintf("permission %q does not allow it", p.PermissionID.Value), pack.Place(p.Allow.Node, p.Node)})
		}
	}
	return out
}

func (c *capability) mode() pack.ApprovalMode { return pack.Mode(c.adapter.ApprovalMode) }

// authorities returns the allowed decisions of the intent that may authorise a
// capability.
func (r *run) authorities(c *capability) []*standing {
	var list []*standing
	for _, d := range r.decisions {
		if d.state == DecisionAllowed && d.authority >= c.mode().Rank() {
			list = append(list, d)
		}
	}
	return list
}

func (r *run) authorised(c *capability, authorities []*standing) []Obstacle {
	if c.mode().Rank() == pack.ReadOnly.Rank() || len(authorities) > 0 {
		return nil
	}
	return []Obstacle{{fmt.Sprintf("no decision that is allowed for %q may authorise %s effects", r.intent, modeName(c.mode().Rank())), nil}}
}

func (r *run) belowCeiling(c *capability) []Obstacle {
	if c.mode().Rank() <= r.safetyMode.Rank() {
		return nil
	}
	return []Obstacle{{
		fmt.Sprintf("its adapter is %s and the safety mode %s", modeName(c.mode().Rank()), r.safetyMode),
		pack.Place(c.adapter.ApprovalMode.Node, c.adapter.Node),
	}}
}

// modeName returns the mode of a rank.
func modeName(rank int) string { return string(pack.ApprovalModes()[rank]) }

// constraints returns what holds for each argument of a capability: the bounds
// of its permissions, with those of fired outcomes on the same arguments. It
// says why, if no value is left for one of them.
func (r *run) constraints(c *capability, e *effort) (map[string]any, *Obstacle) {
	if len(c.bounds) == 0 {
		return nil, nil
	}
	byArg := map[string][]bound{}
	for _, b := range c.bounds {
		byArg[b.arg] = append(byArg[b.arg], b)
	}
	for _, f := range r.fired {
		for _, b := range f.bounds {
			if _, named := byArg[b.arg]; named && f.enforced {
				byArg[b.arg] = append(byArg[b.arg], b)
			}
		}
	}
	out := make(map[string]any, len(byArg))
	for _, b := range c.bounds {
		if _, done := out[b.arg]; done {
			continue
		}
		together, ok := conjoin(byArg[b.arg], e)
		if !ok {
			return nil, &Obstacle{fmt.Sprintf("the bounds on argument %q leave no value", b.arg), b.at}
		}
		out[b.arg] = together[0]
		if len(together) > 1 {
			list := make([]any, len(together))
			for i := range together {
				list[i] = together[i]
			}
			out[b.arg] = list
		}
	}
	return out, nil
}

// warnUnused says which bounds of fired outcomes are on arguments that no
// permission names, and so hold nowhere.
func (r *run) warnUnused() {
	for _, f := range r.fired {
		for _, b := range f.bounds {
			if f.enforced && !r.arguments[b.arg] {
				r.warn("rule %s bounds argument %s, which no permission names; the bound holds nowhere", f.rule.rule.RuleID.Value, b.arg)
			}
		}
	}
}

// metadata describes a surfaced capability. Policy may have lowered its mode:
// then the highest mode counts that a fired outcome of a decision states which
// may authorise it. What the adapter can do at most decides the rest.
func (c *capability) metadata(authorities []*standing) Metadata {
	rank := c.mode().Rank()
	stated := -1
	for _, d := range authorities {
		stated = max(stated, d.modeStated)
	}
	effective := rank
	if stated >= 0 {
		effective = min(rank, stated)
	}
	return Metadata{Kind: c.kind(), RiskLevel: riskLevel(rank), ApprovalMode: modeName(effective), Source: "adapter_registry"}
}

// kind is write for all that may change something.
func (c *capability) kind() string {
	switch c.mode() {
	case pack.ReadOnly:
		return "read"
	case pack.Network:
		if risk, ok := c.adapter.CapabilityRisks.Get(c.name); ok && risk.Effect.Value == "none" {
			return "read"
		}
	}
	return "write"
}

func riskLevel(rank int) string {
	return [...]string{"read", "write_reversible", "external", "external_delegated", "write_irreversible"}[rank]
}

// toolManifest groups the surfaced capabilities by adapter.
func (r *run) toolManifest() []ToolEntry {
	manifest := []ToolEntry{}
	for _, s := range r.surfaced {
		id := s.adapter.AdapterID.Value
		if n := len(manifest); n == 0 || manifest[n-1].AdapterID != id {
			manifest = append(manifest, ToolEntry{AdapterID: id, CapabilityMetadata: map[string]Metadata{}})
		}
		entry := &manifest[len(manifest)-1]
		entry.Capabilities = append(entry.Capabilities, s.name)
		entry.CapabilityMetadata[s.name] = s.metadata
		if s.constraints != nil {
			if entry.Constraints == nil {
				entry.Constraints = map[string]map[string]any{}
			}
			entry.Constraints[s.name] = s.constraints
		}
	}
	return manifest
}
