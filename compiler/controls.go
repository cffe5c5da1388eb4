package compiler

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// controlStage is stage 8: what the runtime has to refuse, to escalate, to have
// approved and to redact.
func (r *run) controlStage() (any, *Stop) {
	guardrails := &r.Pack.PolicyLayer.Guardrails
	r.controls = RuntimeControls{
		MustRefuse:           r.mustRefuse(),
		MustEscalate:         pack.Values(guardrails.MustEscalate),
		ApprovalGatesActive:  r.activeGates(),
		RedactionRulesActive: pack.Values(guardrails.RedactionRules),
	}
	return r.controls, nil
}

// mustRefuse lists the guardrails and then every decision of the intent above
// read_only that is not allowed: denied ones in firing order, then those that
// nothing allowed, in decision_specs order; each once.
func (r *run) mustRefuse() []string {
	refuse, seen := []string{}, map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			refuse = append(refuse, name)
		}
	}
	for _, name := range pack.Values(r.Pack.PolicyLayer.Guardrails.MustRefuse) {
		add(name)
	}
	for _, key := range r.denied {
		if d := r.standing(key); !d.ReadOnly {
			add(key)
		}
	}
	for _, d := range r.decisions {
		if d.state == DecisionSilent && !d.ReadOnly {
			add(d.Key)
		}
	}
	return refuse
}

// standing returns the decision of the intent that has the key.
func (r *run) standing(key string) *standing {
	return r.decisions[slices.IndexFunc(r.decisions, func(d *standing) bool { return d.Key == key })]
}

// activeGates lists the active gates in declaration order: those that a fired
// outcome requires, and those that a surfaced permission or an applicable rule
// names and whose condition is not known to be false.
func (r *run) activeGates() []string {
	active := []string{}
	for _, g := range r.Gates {
		trace := GateTrace{Gate: g.ApprovalGate, RequiredBy: r.requiring(g), NamedBy: r.naming(g)}
		trace.Active = len(trace.RequiredBy) > 0
		if len(trace.NamedBy) > 0 {
			verdict := evaluated(g.When, g.ApprovalGate.When, r.data)
			trace.When, trace.Cause = verdict.Truth, verdict.Cause
			if verdict.Truth == jsonlogic.Unknown && !trace.Active {
				r.warn("gate %s is active because its condition is unknown: %s", g.ID, explain(verdict.Cause))
			}
			trace.Active = trace.Active || verdict.Truth != jsonlogic.False
		}
		if trace.Active {
			active = append(active, g.ID)
		}
		r.result.Trace.Gates = append(r.result.Trace.Gates, trace)
	}
	return active
}

// requiring returns the rules whose fired outcomes require a gate.
func (r *run) requiring(gate *policy.Gate) []*pack.Rule {
	var rules []*pack.Rule
	for _, f := range r.fired {
		if f.Rule.Enforced && f.Gate == gate {
			rules = append(rules, f.Rule.Rule)
		}
	}
	return rules
}

// naming returns the surfaced permissions and the outcomes of applicable rules
// that name a gate.
func (r *run) naming(gate *policy.Gate) []*pack.Node {
	var nodes []*pack.Node
	for _, s := range r.surfaced {
		for _, p := range s.Permissions {
			if p.RequiresApprovalGate.OK && p.RequiresApprovalGate.Value == gate.ID {
				nodes = append(nodes, p.RequiresApprovalGate.Node)
			}
		}
	}
	for _, rule := range r.Applicable(r.intent) {
		for _, b := range rule.Branches() {
			if b.Gate == gate {
				nodes = append(nodes, b.RequiresApprovalGate.Node)
			}
		}
	}
	return nodes
}
