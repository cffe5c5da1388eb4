package compiler

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// surface is a capability that is in the tool manifest.
type surface struct {
	*policy.Tool
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
	for _, c := range r.Tools {
		trace := ToolTrace{Adapter: c.Adapter, Capability: c.Capability, Permissions: c.Permissions}
		authorities := r.authorities(c)
		if !e.spend(1 + len(authorities)) {
			return nil, tooMuch()
		}
		for _, d := range authorities {
			trace.AuthorisedBy = append(trace.AuthorisedBy, d.Key)
		}
		trace.Obstacles = slices.Concat(forbidden(c), prohibited[c], r.authorised(c, authorities), r.belowCeiling(c))
		constraints, unsatisfiable := r.constraints(c, e)
		if e.left < 0 {
			return nil, tooMuch()
		}
		if len(trace.Obstacles) == 0 && unsatisfiable != nil {
			trace.Obstacles = []Obstacle{*unsatisfiable}
			r.warn("tool %s was left out: %s", c, unsatisfiable.Reason)
		}
		if trace.Surfaced = len(trace.Obstacles) == 0; trace.Surfaced {
			r.surfaced = append(r.surfaced, surface{c, constraints, metadata(c, authorities)})
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
func (r *run) prohibitions(e *effort) map[*policy.Tool][]Obstacle {
	prohibited := map[*policy.Tool][]Obstacle{}
	for _, f := range r.fired {
		if !f.Rule.Enforced {
			continue
		}
		obstacle := Obstacle{fmt.Sprintf("rule %q prohibits it", f.Rule.RuleID.Value), f.Outcome.Prohibits.Node}
		for _, named := range f.Prohibited {
			if !e.spend(len(named)) {
				return nil
			}
			for _, t := range named {
				prohibited[t] = append(prohibited[t], obstacle)
			}
		}
	}
	return prohibited
}

// forbidden says why the permissions leave a capability out. One that does not
// allow it forbids it.
func forbidden(c *policy.Tool) []Obstacle {
	if len(c.Permissions) == 0 {
		return []Obstacle{{"no permission names it", nil}}
	}
	var out []Obstacle
	for _, p := range c.Permissions {
		if !p.Allow.Value {
			out = append(out, Obstacle{fmt.Sprintf("permission %q does not allow it", p.PermissionID.Value), pack.Place(p.Allow.Node, p.Node)})
		}
	}
	return out
}

// authorities returns the allowed decisions of the intent that may authorise a
// capability.
func (r *run) authorities(c *policy.Tool) []*standing {
	var list []*standing
	for _, d := range r.decisions {
		if d.state == DecisionAllowed && d.Authority >= c.Mode().Rank() {
			list = append(list, d)
		}
	}
	return list
}

func (r *run) authorised(c *policy.Tool, authorities []*standing) []Obstacle {
	if c.Mode().Rank() == pack.ReadOnly.Rank() || len(authorities) > 0 {
		return nil
	}
	return []Obstacle{{fmt.Sprintf("no decision that is allowed for %q may authorise %s effects", r.intent, modeName(c.Mode().Rank())), nil}}
}

func (r *run) belowCeiling(c *policy.Tool) []Obstacle {
	if c.Mode().Rank() <= r.safetyMode.Rank() {
		return nil
	}
	return []Obstacle{{
		fmt.Sprintf("its adapter is %s and the safety mode %s", modeName(c.Mode().Rank()), r.safetyMode),
		pack.Place(c.Adapter.ApprovalMode.Node, c.Adapter.Node),
	}}
}

// modeName returns the mode of a rank.
func modeName(rank int) string { return string(pack.ApprovalModes()[rank]) }

// constraints returns what holds for each argument of a capability: the bounds
// of its permissions, with those of fired outcomes on the same arguments. It
// says why, if no value is left for one of them.
func (r *run) constraints(c *policy.Tool, e *effort) (map[string]any, *Obstacle) {
	if len(c.Bounds) == 0 {
		return nil, nil
	}
	byArg := map[string][]policy.Bound{}
	for _, b := range c.Bounds {
		byArg[b.Arg] = append(byArg[b.Arg], b)
	}
	for _, f := range r.fired {
		for _, b := range f.Bounds {
			if _, named := byArg[b.Arg]; named && f.Rule.Enforced {
				byArg[b.Arg] = append(byArg[b.Arg], b)
			}
		}
	}
	out := make(map[string]any, len(byArg))
	for _, b := range c.Bounds {
		if _, done := out[b.Arg]; done {
			continue
		}
		together, ok := conjoin(byArg[b.Arg], e)
		if !ok {
			return nil, &Obstacle{fmt.Sprintf("the bounds on argument %q leave no value", b.Arg), b.At}
		}
		out[b.Arg] = together[0]
		if len(together) > 1 {
			list := make([]any, len(together))
			for i := range together {
				list[i] = together[i]
			}
			out[b.Arg] = list
		}
	}
	return out, nil
}

// warnUnused says which bounds of fired outcomes are on arguments that no
// permission names, and so hold nowhere.
func (r *run) warnUnused() {
	for _, f := range r.fired {
		for _, b := range f.Bounds {
			if f.Rule.Enforced && !r.arguments[b.Arg] {
				r.warn("rule %s bounds argument %s, which no permission names; the bound holds nowhere", f.Rule.RuleID.Value, b.Arg)
			}
		}
	}
}

// metadata describes a surfaced capability. Policy may have lowered its mode:
// then the highest mode counts that a fired outcome of a decision states which
// may authorise it. What the adapter can do at most decides the rest.
func metadata(c *policy.Tool, authorities []*standing) Metadata {
	rank, stated := c.Mode().Rank(), -1
	for _, d := range authorities {
		stated = max(stated, d.modeStated)
	}
	effective := rank
	if stated >= 0 {
		effective = min(rank, stated)
	}
	m := Metadata{Kind: "write", RiskLevel: riskLevels[rank], ApprovalMode: modeName(effective), Source: "adapter_registry"}
	if c.Reads() {
		m.Kind = "read"
	}
	return m
}

// riskLevels are the levels of the approval modes, by their rank.
var riskLevels = [...]string{"read", "write_reversible", "external", "external_delegated", "write_irreversible"}

// toolManifest groups the surfaced capabilities by adapter.
func (r *run) toolManifest() []ToolEntry {
	manifest := []ToolEntry{}
	for _, s := range r.surfaced {
		id := s.Adapter.AdapterID.Value
		if n := len(manifest); n == 0 || manifest[n-1].AdapterID != id {
			manifest = append(manifest, ToolEntry{AdapterID: id, CapabilityMetadata: map[string]Metadata{}})
		}
		entry := &manifest[len(manifest)-1]
		entry.Capabilities = append(entry.Capabilities, s.Capability)
		entry.CapabilityMetadata[s.Capability] = s.metadata
		if s.constraints != nil {
			if entry.Constraints == nil {
				entry.Constraints = map[string]map[string]any{}
			}
			entry.Constraints[s.Capability] = s.constraints
		}
	}
	return manifest
}

// conjoin returns the bounds that hold together for one argument. Bounds that
// end with an approval stand beside the others. ok is false where the
// unconditional ones leave no value, and where the effort is spent.
func conjoin(bounds []policy.Bound, e *effort) (together []map[string]any, ok bool) {
	var always, unlessApproved []map[string]any
	for _, b := range bounds {
		if !e.spend(b.Weight * (1 + len(always) + len(unlessApproved))) {
			return nil, false
		}
		if b.UntilApproved() {
			unlessApproved = stricter(unlessApproved, b.Says, e)
		} else {
			always = stricter(always, b.Says, e)
		}
	}
	return append(always, unlessApproved...), !slices.ContainsFunc(always, empty)
}

// stricter adds a bound to bounds that hold together. What cannot be said in one
// bound, such as a second pattern, becomes another one.
func stricter(bounds []map[string]any, says map[string]any, e *effort) []map[string]any {
	rest := maps.Clone(says)
	for _, b := range bounds {
		rest = tighten(b, rest, e)
	}
	delete(rest, "unless_approved")
	if len(rest) == 0 && len(bounds) > 0 {
		return bounds
	}
	if v, conditional := says["unless_approved"]; conditional {
		rest["unless_approved"] = v
	}
	return append(bounds, rest)
}

// tighten moves what a bound says into another one, the stricter of the two
// winning, and returns what could not be moved.
func tighten(into, says map[string]any, e *effort) (rest map[string]any) {
	rest = map[string]any{}
	for name, value := range says {
		have, there := into[name]
		both, ok := strictest(name, have, value, e)
		switch {
		case !there:
			into[name] = value
		case ok:
			into[name] = both
		default:
			rest[name] = value
		}
	}
	return rest
}

// strictest returns what holds where a bound says two things under one name.
func strictest(name string, a, b any, e *effort) (both any, ok bool) {
	if reflect.DeepEqual(a, b) {
		return a, true
	}
	switch x := a.(type) {
	case float64:
		y, number := b.(float64)
		switch {
		case number && name == "min":
			return math.Max(x, y), true
		case number && name == "max":
			return math.Min(x, y), true
		}
	case bool:
		if y, flag := b.(bool); flag && name == "required" {
			return x || y, true
		}
	case []any:
		if y, list := b.([]any); list && name == "enum" {
			return intersect(x, y, e), true
		}
	}
	return nil, false
}

// intersect returns the items of a that b has too, in a's order; none where that
// is beyond the effort.
func intersect(a, b []any, e *effort) []any {
	common := []any{}
	if !e.spend(len(a) * len(b)) {
		return common
	}
	for _, item := range a {
		if slices.ContainsFunc(b, func(other any) bool { return reflect.DeepEqual(item, other) }) {
			common = append(common, item)
		}
	}
	return common
}

// empty reports whether a bound leaves no value: no word to choose, or a
// smallest above the largest.
func empty(says map[string]any) bool {
	if words, ok := says["enum"].([]any); ok && len(words) == 0 {
		return true
	}
	least, hasLeast := says["min"].(float64)
	most, hasMost := says["max"].(float64)
	return hasLeast && hasMost && least > most
}
