package diffing

import (
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// rulesIn returns the rules that a unit adds or changes, as the head has them:
// all of a bundle, or the one that the unit is or belongs to.
func rulesIn(u *unit) []gate.RuleRef {
	for n := u.new; n != nil; n = n.Parent {
		if list := u.head.rulesUnder[n]; len(list) > 0 && (n == u.new || n == list[0].Node) {
			return list
		}
	}
	return nil
}

// otherLanguage reports whether a bundle's language changed, or is none that is
// supported in a bundle that is new.
func otherLanguage(u *unit) bool {
	if u.new == nil {
		return false
	}
	if named("language")(u) && u.kind == Changed {
		return true
	}
	n := u.new
	if u.kind == Added && n.Kind == pack.Object {
		n = n.Get("policy_dsl").Get("language")
	}
	language, ok := textOf(n)
	return u.kind == Added && ok && language != "jsonlogic"
}

// bindsNothing reports whether a rule of the unit is bound to a decision spec
// that the head does not have.
func bindsNothing(u *unit) bool {
	for _, r := range rulesIn(u) {
		if r.DecisionBinding.OK && u.head.Decisions[r.DecisionBinding.Value] == nil {
			return true
		}
	}
	return false
}

// constrains reports whether the rules of the unit can only take away, whatever
// else the pack says: no outcome that binds allows anything.
func constrains(u *unit) bool {
	for _, r := range rulesIn(u) {
		for _, o := range r.Outcomes() {
			if !r.NonEnforcing.Value && !takesAway(o.Node) {
				return false
			}
		}
	}
	return true
}

// takesAway reports whether an outcome denies, or says nothing that could let more
// through: neither allows nor states a mode.
func takesAway(outcome *pack.Node) bool {
	if outcome == nil || outcome.Kind != pack.Object {
		return false
	}
	allow := outcome.Get("allow")
	if allow == nil {
		return outcome.Get("approval_mode") == nil
	}
	return allow.Kind == pack.Bool && !allow.Bool
}

func elseTakesAway(u *unit) bool { return takesAway(u.new) }

// allowNarrowed reports whether an outcome denies now, or no longer allows.
func allowNarrowed(u *unit) bool {
	if u.new == nil {
		return isTrue(u.old)
	}
	return u.new.Kind == pack.Bool && !u.new.Bool
}

// released reports whether the mark that a rule binds nothing was set.
func released(u *unit) bool { return isTrue(u.new) && !isTrue(u.old) }

// criticalReleased reports whether that rule is critical: it denies, or raises
// a gate for, a delegated or destructive decision.
func criticalReleased(u *unit) bool {
	if !released(u) {
		return false
	}
	for _, r := range rulesIn(u) {
		d := u.head.Decisions[r.DecisionBinding.Value]
		if d == nil || pack.Mode(d.ApprovalMode).Rank() < pack.Delegated.Rank() {
			continue
		}
		for _, o := range r.Outcomes() {
			if o.Allow.OK && !o.Allow.Value || o.RequiresApprovalGate.OK {
				return true
			}
		}
	}
	return false
}

// lastGuard reports whether the head has no guardrail left, and permits a write
// that no gate stands before.
func lastGuard(u *unit) bool {
	g := &u.head.PolicyLayer.Guardrails
	if len(g.MustRefuse.Items)+len(g.MustEscalate.Items)+len(g.RedactionRules.Items) > 0 {
		return false
	}
	for _, p := range u.head.permitted() {
		if u.head.writes(p.AdapterID.Value, p.Capability.Value) && !u.head.guarded(p) {
			return true
		}
	}
	return false
}

// gateReliedOn reports whether the gate that was removed stood before a
// destructive capability that the head still permits, with no other gate.
func gateReliedOn(u *unit) bool {
	id, _ := textOf(u.old.Get("gate_id"))
	for _, p := range u.base.permitted() {
		if destructive(u.base.mode(p.AdapterID.Value)) && u.base.guardedBy(p, id) && u.head.ungated[capability(p)] {
			return true
		}
	}
	return false
}

// stillBound reports whether a rule of the head is bound to the decision whose
// spec was removed, and no other version of the spec is there.
func stillBound(u *unit) bool {
	key, _ := textOf(u.old.Get("decision_key"))
	if u.head.Decisions[key] != nil {
		return false
	}
	for _, r := range u.head.Rules {
		if r.DecisionBinding.Value == key && r.DecisionBinding.OK {
			return true
		}
	}
	return false
}

// withoutEffect reports whether a new decision spec is read_only, or only
// proposes or recommends.
func withoutEffect(u *unit) bool {
	right, _ := textOf(u.new.Get("decision_right"))
	return modeOf(u.new.Get("approval_mode")) == pack.ReadOnly || right == "propose" || right == "recommend"
}

// belowEffect reports whether a decision's mode was lowered below what a rule
// states for it, or so that no decision authorises a permitted capability that
// it authorised before.
func belowEffect(u *unit) bool {
	if !modeLowered(u) {
		return false
	}
	key, _ := textOf(u.new.Parent.Get("decision_key"))
	for _, r := range u.head.Rules {
		for _, o := range r.Outcomes() {
			if r.DecisionBinding.Value == key && o.ApprovalMode.OK && pack.Mode(o.ApprovalMode).Rank() > modeOf(u.new).Rank() {
				return true
			}
		}
	}
	for _, p := range u.head.permitted() {
		m := u.head.mode(p.AdapterID.Value)
		if m.Rank() <= modeOf(u.old).Rank() && m.Rank() > modeOf(u.new).Rank() && m.Rank() > u.head.authority {
			return true
		}
	}
	return false
}

// requiredGateLost reports whether the head has no release gate for policy, or
// none for safety, and the one that was removed was it.
func requiredGateLost(u *unit) bool {
	metric, _ := textOf(u.old.Get("metric"))
	if !strings.EqualFold(metric, "policy") && !strings.EqualFold(metric, "safety") {
		return false
	}
	for _, g := range u.head.EvaluationLayer.ReleaseGates.Items {
		if strings.EqualFold(g.Metric.Value, metric) {
			return false
		}
	}
	return true
}
