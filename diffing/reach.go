package diffing

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// reach is what a change can have to do with what a pack permits: which rules,
// gates, tools and decisions it is about, and which side of them.
type reach struct {
	rules     []pair
	says      aspect // what of the rules or permissions it changes
	arg       string // for bounds, the argument
	gates     []string
	tools     []string
	decisions []string
	intents   []string
}

// pair is a rule in both versions; nil where one has none.
type pair struct{ old, new *pack.Rule }

// both returns the rules of a pair that are there.
func (p pair) both() []*pack.Rule {
	return slices.DeleteFunc([]*pack.Rule{p.old, p.new}, func(r *pack.Rule) bool { return r == nil })
}

// aspect is a part of what a rule or a permission says.
type aspect uint8

const (
	nothingSaid aspect = iota
	everything         // also when it says it
	allowance
	modeStated
	gateNamed
	prohibition
	boundsSet
)

// memberAspects maps the members of an outcome or permission to what
// they say. Those that are left out have no meaning for what is permitted.
var memberAspects = map[string]aspect{
	"allow": allowance, "approval_mode": modeStated, "requires_approval_gate": gateNamed,
	"prohibits": prohibition, "arg_constraints": boundsSet, "adapter_id": everything, "capability": everything,
}

// find finds out what a unit can have to do with. Most have nothing to do with
// what is permitted.
func (r *reach) find(u *unit) {
	segments, _ := pack.SplitPointer(u.path)
	if len(segments) < 3 || u.kind == Renamed {
		return
	}
	switch segments[0] + "/" + segments[1] {
	case "policy_layer/policy_bundles":
		r.findRules(u, segments)
	case "policy_layer/approval_gates":
		if len(segments) == 3 || segments[3] == "when" {
			r.gates = u.names(segments, "gate_id")
		}
	case "tooling_layer/permissions":
		r.findPermission(u, segments)
	case "tooling_layer/adapter_registry":
		r.findAdapter(u, segments)
	case "decision_layer/decision_specs":
		if len(segments) == 3 || segments[3] == "approval_mode" || segments[3] == "decision_key" {
			r.decisions = u.names(segments, "decision_key")
		}
	case "evaluation_layer/eval_targets":
		if len(segments) == 3 || segments[3] == "intent" {
			r.intents = u.names(segments, "intent")
		}
	}
}

// names returns what an item is called on both sides.
func (u *unit) names(segments []string, member string) []string {
	var list []string
	for _, s := range []*side{u.base, u.head} {
		if name, ok := textOf(s.at(join(segments[:3])).Get(member)); ok {
			list = append(list, name)
		}
	}
	return list
}

func (r *reach) findRules(u *unit, segments []string) {
	switch {
	case len(segments) == 3:
		for _, rule := range u.base.rulesUnder[u.old] {
			r.rules = append(r.rules, pair{old: rule.Rule})
		}
		for _, rule := range u.head.rulesUnder[u.new] {
			r.rules = append(r.rules, pair{new: rule.Rule})
		}
		r.says = everything
		return
	case len(segments) < 5 || segments[3] != "rules":
		return // priority decides nothing (compile semantics, P4)
	}
	at := join(segments[:5])
	rule := pair{u.base.rule(u.base.at(at)), u.head.rule(u.head.at(at))}
	if rule == (pair{}) {
		return
	}
	says := nothingSaid
	switch {
	case len(segments) == 5:
		says = everything
	case segments[5] == "then" || segments[5] == "else":
		says = everything
		if len(segments) > 6 {
			says = memberAspects[segments[6]]
		}
	case slices.Contains([]string{"if", "applies_to", "decision_binding", "non_enforcing"}, segments[5]):
		says = everything
	}
	if says != nothingSaid {
		r.rules, r.says = []pair{rule}, says
	}
	if says == boundsSet && len(segments) > 7 {
		r.arg = segments[7]
	}
}

func (r *reach) findPermission(u *unit, segments []string) {
	says := everything
	if len(segments) > 3 {
		says = memberAspects[segments[3]]
	}
	if says == nothingSaid {
		return
	}
	r.says = says
	if says == boundsSet && len(segments) > 4 {
		r.arg = segments[4]
	}
	for _, s := range []*side{u.base, u.head} {
		if p := u.permission(s); p != nil {
			r.tools = append(r.tools, toolID(p.AdapterID.Value, p.Capability.Value))
		}
	}
}

func (r *reach) findAdapter(u *unit, segments []string) {
	if len(segments) > 3 && !slices.Contains([]string{"capabilities", "approval_mode", "adapter_id"}, segments[3]) {
		return
	}
	r.says = everything
	one, isOne := "", len(segments) == 5
	if isOne {
		one, _ = textOf(pack.Place(u.new, u.old))
	}
	for _, s := range []*side{u.base, u.head} {
		a := u.adapter(s)
		if a == nil {
			continue
		}
		if isOne {
			if a.Capabilities.OK && s.holds(a.Capabilities.Node, one) {
				r.tools = append(r.tools, toolID(a.AdapterID.Value, one))
			}
			continue
		}
		for _, name := range pack.Values(a.Capabilities) {
			r.tools = append(r.tools, toolID(a.AdapterID.Value, name))
		}
	}
}

// toolID names a tool as effects do.
func toolID(adapter, capability string) string { return adapter + "." + capability }

// none reports whether the unit has nothing to do with what is permitted.
func (r *reach) none() bool {
	return len(r.rules)+len(r.gates)+len(r.tools)+len(r.decisions)+len(r.intents) == 0
}

// relates reports whether a change can have to do with an effect. It errs to that
// side.
func (p *proving) relates(r *reach, e *proof.Change) bool {
	if r.none() {
		return false
	}
	if e.Kind == proof.Whole {
		return true
	}
	if p.fresh(e.Intent) && (slices.Contains(r.intents, e.Intent) || r.bringsIntent(e.Intent)) {
		return true
	}
	switch {
	case slices.ContainsFunc(r.rules, func(rule pair) bool { return p.ruleRelates(rule, r, e) }):
		return true
	case e.Kind == proof.Gate && slices.Contains(r.gates, e.Arg):
		return true
	case aboutTool(e) && slices.Contains(r.tools, e.Subject) && r.toolAspect(e):
		return true
	}
	return slices.ContainsFunc(r.decisions, func(key string) bool { return p.decisionRelates(key, e) })
}

// aboutTool reports whether the subject of an effect is a tool.
func aboutTool(e *proof.Change) bool {
	switch e.Kind {
	case proof.Tool, proof.Bounds, proof.Mode:
		return true
	}
	return e.Kind == proof.Gate && e.Holder == proof.Tool
}

// toolAspect reports whether what is changed of a tool's permission or adapter
// can have the effect.
func (r *reach) toolAspect(e *proof.Change) bool {
	switch r.says {
	case gateNamed:
		return e.Kind == proof.Gate
	case boundsSet:
		return e.Kind == proof.Tool || e.Kind == proof.Bounds && (r.arg == "" || r.arg == e.Arg)
	}
	return true
}

// fresh reports whether only one version knows the intent.
func (p *proving) fresh(intent string) bool {
	return p.intents[0][intent] != p.intents[1][intent]
}

// bringsIntent reports whether a rule of the change names the intent.
func (r *reach) bringsIntent(intent string) bool {
	return r.says == everything && slices.ContainsFunc(r.rules, func(rule pair) bool {
		return slices.ContainsFunc(rule.both(), func(one *pack.Rule) bool {
			return one.AppliesTo.Intent.OK && one.AppliesTo.Intent.Value == intent
		})
	})
}

// enforced reports whether a rule applies to an intent and binds.
func enforced(r *pack.Rule, intent string) bool {
	to := r.AppliesTo.Intent
	return !r.NonEnforcing.Value && (to.Node == nil || to.Value == intent)
}

// ruleRelates reports whether what is changed of a rule can have the effect.
func (p *proving) ruleRelates(rule pair, r *reach, e *proof.Change) bool {
	applies := slices.DeleteFunc(rule.both(), func(one *pack.Rule) bool { return !enforced(one, e.Intent) })
	if slices.ContainsFunc(applies, func(one *pack.Rule) bool { return p.saysAbout(one, r, e) }) {
		return true
	}
	stops := e.Kind == proof.Decision || e.Kind == proof.Tool || e.Kind == proof.Stop
	return len(applies) > 0 && stops && r.says == everything && p.unknownDiffers(rule, e.Intent)
}

// saysAbout reports whether a rule says something about what an effect is about.
func (p *proving) saysAbout(one *pack.Rule, r *reach, e *proof.Change) bool {
	changes := func(a aspect) bool { return r.says == everything || r.says == a }
	switch e.Kind {
	case proof.Decision:
		return changes(allowance) && (one.DecisionBinding.Node == nil || one.DecisionBinding.Value == e.Subject)
	case proof.Gate:
		return changes(gateNamed) && says(one, func(o *pack.Outcome) bool { return o.RequiresApprovalGate.Value == e.Arg })
	case proof.Bounds:
		return changes(boundsSet) && (r.arg == "" || r.arg == e.Arg) && bounds(one, e.Arg)
	case proof.Mode:
		return (changes(modeStated) || changes(allowance)) && p.mayAuthorise(one, e.Subject)
	case proof.Tool:
		return changes(allowance) && p.mayAuthorise(one, e.Subject) ||
			changes(prohibition) && prohibits(one, e.Subject) ||
			changes(boundsSet) && p.boundsOf(e.Subject, one)
	}
	return false
}

// says reports whether an outcome of a rule says something.
func says(r *pack.Rule, has func(*pack.Outcome) bool) bool {
	return slices.ContainsFunc(r.Outcomes(), has)
}

// bounds reports whether a rule bounds an argument.
func bounds(r *pack.Rule, arg string) bool {
	return says(r, func(o *pack.Outcome) bool {
		_, ok := o.ArgConstraints.Get(arg)
		return ok
	})
}

// prohibits reports whether a rule takes a tool away, by its own name or, bare, that
// of its capability.
func prohibits(r *pack.Rule, tool string) bool {
	return says(r, func(o *pack.Outcome) bool {
		return slices.ContainsFunc(pack.Values(o.Prohibits), func(name string) bool {
			return name == tool || strings.HasSuffix(tool, "."+name)
		})
	})
}

// ranks are what the two versions say about authority, taken together so that
// nothing is missed: of a tool the least that it needs, of a decision the most
// that it has.
type ranks struct {
	needs map[string]int     // by tool
	has   map[string]int     // by decision
	args  map[[2]string]bool // the tools and arguments that a permission bounds
	bound map[[2]string]bool // the decisions and intents of rules
}

func ranksOf(sides ...*side) *ranks {
	k := &ranks{
		needs: map[string]int{}, has: map[string]int{}, args: map[[2]string]bool{}, bound: map[[2]string]bool{},
	}
	for _, s := range sides {
		for _, a := range s.ToolingLayer.AdapterRegistry.Items {
			rank := pack.Mode(a.ApprovalMode).Rank()
			for _, name := range pack.Values(a.Capabilities) {
				id := toolID(a.AdapterID.Value, name)
				if known, ok := k.needs[id]; !ok || rank < known {
					k.needs[id] = rank
				}
			}
		}
		for _, d := range s.DecisionLayer.DecisionSpecs.Items {
			k.has[d.DecisionKey.Value] = max(k.has[d.DecisionKey.Value], pack.Mode(d.ApprovalMode).Rank())
		}
		for _, p := range s.ToolingLayer.Permissions.Items {
			for _, e := range p.ArgConstraints.Entries {
				k.args[[2]string{toolID(p.AdapterID.Value, p.Capability.Value), e.Name}] = true
			}
		}
		for _, r := range s.Rules {
			k.bound[[2]string{r.DecisionBinding.Value, r.AppliesTo.Intent.Value}] = true
		}
	}
	return k
}

// mayAuthorise reports whether the decision that a rule is bound to may authorise
// a tool. A rule that is bound to none can deny all.
func (k *ranks) mayAuthorise(r *pack.Rule, tool string) bool {
	needs, ok := k.needs[tool]
	if r.DecisionBinding.Node == nil {
		return true
	}
	return !ok || needs > 0 && k.has[r.DecisionBinding.Value] >= needs
}

// boundsOf reports whether a rule bounds an argument that a permission of the
// tool names. Bounds that leave no value take the tool away.
func (k *ranks) boundsOf(tool string, r *pack.Rule) bool {
	return says(r, func(o *pack.Outcome) bool {
		return slices.ContainsFunc(o.ArgConstraints.Entries, func(e pack.Entry[pack.Constraint]) bool {
			return k.args[[2]string{tool, e.Name}]
		})
	})
}

// decisionRelates reports whether a decision's mode, or that it is there, can
// have an effect.
func (k *ranks) decisionRelates(key string, e *proof.Change) bool {
	if !k.bound[[2]string{key, e.Intent}] && !k.bound[[2]string{key, ""}] {
		return false
	}
	switch {
	case e.Kind == proof.Decision, e.Kind == proof.Gate && e.Holder == proof.Decision:
		return e.Subject == key
	case e.Kind == proof.Stop:
		return false
	}
	return k.needs[e.Subject] > 0 || e.Kind == proof.Mode
}
