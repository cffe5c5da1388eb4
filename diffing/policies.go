package diffing

import (
	"slices"
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
	return slices.ContainsFunc(rulesIn(u), func(r gate.RuleRef) bool {
		return r.DecisionBinding.OK && u.head.Decisions[r.DecisionBinding.Value] == nil
	})
}

// constrains reports whether the rules of the unit can only take away, whatever
// else the pack says: no outcome that binds allows anything.
func constrains(u *unit) bool {
	return !slices.ContainsFunc(rulesIn(u), func(r gate.RuleRef) bool {
		return !r.NonEnforcing.Value && says(r.Rule, func(o *pack.Outcome) bool { return !takesAway(o.Node) })
	})
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

// allowNarrowed reports whether an outcome denies now, or no longer allows.
func allowNarrowed(u *unit) bool {
	if u.new == nil {
		return isTrue(u.old)
	}
	return u.new.Kind == pack.Bool && !u.new.Bool
}

// criticalReleased reports whether a rule that binds nothing now is critical: it
// denies, or raises a gate for, a delegated or destructive decision.
func criticalReleased(u *unit) bool {
	if !flagMoved(true)(u) {
		return false
	}
	return slices.ContainsFunc(rulesIn(u), func(r gate.RuleRef) bool {
		d := u.head.Decisions[r.DecisionBinding.Value]
		return d != nil && pack.Mode(d.ApprovalMode).Rank() >= pack.Delegated.Rank() &&
			says(r.Rule, func(o *pack.Outcome) bool { return o.Allow.OK && !o.Allow.Value || o.RequiresApprovalGate.OK })
	})
}

// lastGuard reports whether the head has no guardrail left, and permits a write
// that no gate is before.
func lastGuard(u *unit) bool {
	g := &u.head.PolicyLayer.Guardrails
	if len(g.MustRefuse.Items)+len(g.MustEscalate.Items)+len(g.RedactionRules.Items) > 0 {
		return false
	}
	return slices.ContainsFunc(u.head.permitted(), func(p *pack.Permission) bool {
		return u.head.writes(p.AdapterID.Value, p.Capability.Value) && !u.head.guarded(p)
	})
}

// gateReliedOn reports whether the gate that was removed stood before a
// destructive capability that the head still permits, with no other gate.
func gateReliedOn(u *unit) bool {
	id, _ := textOf(u.old.Get("gate_id"))
	return slices.ContainsFunc(u.base.permitted(), func(p *pack.Permission) bool {
		return destructive(u.base.mode(p.AdapterID.Value)) && u.base.guardedBy(p, id) && u.head.ungated[capability(p)]
	})
}

// stillBound reports whether a rule of the head is bound to the decision whose
// spec was removed, and no other version of the spec is there.
func stillBound(u *unit) bool {
	key, _ := textOf(u.old.Get("decision_key"))
	return u.head.Decisions[key] == nil && slices.ContainsFunc(u.head.Rules, func(r gate.RuleRef) bool {
		return r.DecisionBinding.Value == key && r.DecisionBinding.OK
	})
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
	now := modeOf(u.new).Rank()
	return slices.ContainsFunc(u.head.Rules, func(r gate.RuleRef) bool {
		return r.DecisionBinding.Value == key && says(r.Rule, func(o *pack.Outcome) bool {
			return o.ApprovalMode.OK && pack.Mode(o.ApprovalMode).Rank() > now
		})
	}) || slices.ContainsFunc(u.head.permitted(), func(p *pack.Permission) bool {
		m := u.head.mode(p.AdapterID.Value).Rank()
		return m <= modeOf(u.old).Rank() && m > now && m > u.head.authority
	})
}

// requiredGateLost reports whether the head has no release gate for policy, or
// none for safety, and the one that was removed was it.
func requiredGateLost(u *unit) bool {
	metric, _ := textOf(u.old.Get("metric"))
	return (strings.EqualFold(metric, "policy") || strings.EqualFold(metric, "safety")) &&
		!slices.ContainsFunc(u.head.EvaluationLayer.ReleaseGates.Items, func(g pack.ReleaseGate) bool {
			return strings.EqualFold(g.Metric.Value, metric)
		})
}
