package generate

import (
	"fmt"
	"strings"
)

// decision is one decision of a pack, with the rules that are bound to it, the
// gate that guards it and the tools that it needs.
type decision struct {
	intent, key, name string // name is what ids are made of
	action            action
	kind              string // execute, confirm, review
	mode              string // of the writing tool and the decision
	limit             int    // above which the gate is raised
	sources           []string
	rules             list
	passing           object // members of request.context with which every rule allows
	failing           object // and those with which the rules that read them deny
	above             int    // an amount that raises the gate
}

func (d *decision) gate() string       { return "GATE_" + strings.ToUpper(d.name) }
func (d *decision) records() string    { return "adp_" + d.name + "_records" }
func (d *decision) actions() string    { return "adp_" + d.name + "_actions" }
func (d *decision) field(s string) any { return variable("request.context." + d.name + "_" + s) }

// set says what a request has to say to pass a rule, and what to fail it.
func (d *decision) set(name string, passing, failing any) {
	d.passing = append(d.passing, member{d.name + "_" + name, passing})
	d.failing = append(d.failing, member{d.name + "_" + name, failing})
}

// kinds are the decisions that an intent may have, in the order in which a pack
// gets them.
var kinds = []string{"execute", "confirm", "review"}

// addDecision draws the next decision of the pack. Intents take turns.
func (s *shape) addDecision() {
	at := len(s.decisions)
	a := s.domain.actions[at%s.intents]
	kind := kinds[at/s.intents]
	intent := s.domain.name + "." + a.name
	d := &decision{intent: intent, key: intent + "." + kind, name: a.name + "_" + kind, action: a, kind: kind}
	d.mode = s.one([]string{"delegated", "delegated", "destructive"})
	if at%s.intents != 0 {
		d.mode = "delegated" // only the cases of the first intent raise gates
	}
	d.limit = 100 * (5 + s.IntN(60))
	d.above = d.limit + 100 + s.IntN(1000)
	d.sources = s.some(evidenceSources, 1, 3)
	d.addRule(s, "IDENTITY", operation("==", d.field("identity_verified"), true), d.allow(s), "The identity is not verified.")
	d.set("identity_verified", true, false)
	d.addLimit(s)
	extra := []func(*decision, *shape){(*decision).addRegion, (*decision).addState, (*decision).addWindow, (*decision).addTier, (*decision).addChannel, (*decision).addRole}
	most := len(extra)
	if s.size < median {
		most = len(extra) / 2
	}
	for _, i := range s.Perm(len(extra))[:1+s.IntN(most)] {
		extra[i](d, s)
	}
	s.decisions = append(s.decisions, d)
}

// addRule adds a rule whose else denies with a reason.
func (d *decision) addRule(s *shape, name string, when any, then object, reason string) {
	d.rules = append(d.rules, object{
		{"rule_id", d.ruleID(name)},
		{"applies_to", object{{"intent", d.intent}}},
		{"if", when},
		{"then", then},
		{"else", object{{"allow", false}, {"reason", reason}}},
		{"decision_binding", d.key},
		{"rationale", s.one(reasons)},
	})
}

func (d *decision) ruleID(name string) string { return "R_" + strings.ToUpper(d.name) + "_" + name }

// allow is the outcome of the rule that asks for the evidence. It closes the tools
// of the decisions of other intents, which are filled in once all are known.
func (d *decision) allow(s *shape) object {
	var requires []string
	for _, source := range d.sources[:1+s.IntN(len(d.sources))] {
		requires = append(requires, d.evidence(source))
	}
	return object{{"allow", true}, {"requires", texts(requires)}}
}

// evidence is the name of what a tool finds, as REF005 derives it.
func (d *decision) evidence(source string) string { return d.name + "_records_" + source }

// addLimit adds the rule on amounts: above the limit somebody approves, below it
// no call may exceed it. The bound of the second version is tighter.
func (d *decision) addLimit(s *shape) {
	most := d.limit
	if s.revision > 1 {
		most -= 100
	}
	d.rules = append(d.rules, object{
		{"rule_id", d.ruleID("LIMIT")},
		{"applies_to", object{{"intent", d.intent}}},
		{"if", operation(">", d.field("amount"), d.limit)},
		{"then", object{{"allow", true}, {"approval_mode", d.mode}, {"requires_approval_gate", d.gate()}}},
		{"else", object{{"allow", true}, {"arg_constraints", object{{"amount", object{{"max", most}}}}}}},
		{"decision_binding", d.key},
		{"rationale", fmt.Sprintf("Above %d somebody answers for the amount.", d.limit)},
	})
	d.set("amount", d.limit/2, d.limit/2)
}

func (d *decision) addRegion(s *shape) {
	served := s.some(regions, 2, 4)
	d.addRule(s, "REGION", operation("in", d.field("region"), texts(served)), object{{"allow", true}}, "The region is served by a partner.")
	d.set("region", served[0], "abroad")
}

func (d *decision) addState(s *shape) {
	good := s.some(states, 2, 4)
	d.addRule(s, "STATE", operation("and", operation("in", d.field("state"), texts(good)), operation("!=", d.field("on_hold"), true)),
		object{{"allow", true}}, "The record is on hold, or in a state that allows no change.")
	d.set("state", good[0], good[0])
	d.set("on_hold", false, true)
}

func (d *decision) addWindow(s *shape) {
	days := 14 + s.IntN(90)
	d.addRule(s, "WINDOW", operation("and", operation(">=", d.field("days"), 0), operation("<=", d.field("days"), days)),
		object{{"allow", true}}, fmt.Sprintf("More than %d days have passed.", days))
	d.set("days", 1+s.IntN(days), days+1)
}

func (d *decision) addTier(s *shape) {
	score := 20 + s.IntN(60)
	few := d.limit / 4
	d.addRule(s, "TIER", operation("or",
		operation("in", d.field("tier"), texts(s.some(tiers, 1, 2))),
		operation("and", operation("<=", d.field("amount"), few), operation(">=", d.field("score"), score)),
		operation(">=", d.field("score"), score+15)),
		object{{"allow", true}}, "The record has too little history for this amount.")
	d.set("tier", "guest", "guest")
	d.set("score", score+15+s.IntN(20), score-1)
}

func (d *decision) addChannel(s *shape) {
	closed := s.some(channels[1:], 1, 2)
	d.addRule(s, "CHANNEL", operation("!", operation("in", variable("request.channel"), texts(closed))),
		object{{"allow", true}}, "Over this channel nobody can be asked back.")
}

func (d *decision) addRole(s *shape) {
	able := append(s.some(agentRoles[1:], 1, 3), agentRoles[0])
	d.addRule(s, "ROLE", operation("in", variable("user.role"), texts(able)), object{{"allow", true}}, "This is decided by another team.")
}
