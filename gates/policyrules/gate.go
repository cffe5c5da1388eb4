// Package policyrules is the policy gate: the rules of a pack can fire, do not
// contradict each other, leave no gap, and say what their author meant.
//
// A condition looks harmless by itself. What goes wrong goes wrong between
// conditions: two rules decide the same request differently, a deny swallows an
// allow that somebody relies on, a gate's own condition ends below the rule that
// asks for it, and a request that no rule thought of is blocked without a word.
// No reader finds that in fifty rules, and no test finds it that nobody wrote. So
// the gate proves it, with the solver of package jsonlogic: whatever it reports as
// impossible is impossible, and whatever it reports as possible comes with a
// request that shows it.
//
// What is asked are formulas over policy's model: when an outcome holds, when a
// decision is denied, when the compile stops. Every question is about the requests
// of one intent that the compiler lets in (proof.Model.Domain), since rules of
// different intents never meet, and a request that is printed was compiled and shows
// what is said of it. A proof that needs a variable to be a single value, no list and
// no object, says so. What the solver cannot decide is NPR001 where it would be an
// error, and else listed as not proved.
//
// Conditions that are not in the JsonLogic profile are the schema gate's matter;
// their rules are left out of the proofs, and the gate says which.
package policyrules

import "github.com/contextosai/packgate/gates/gate"

// Gate is the policy gate.
var Gate = &gate.Gate{
	ID:    "policy",
	Title: "Policy",
	About: "Rules can fire, do not contradict each other and leave no gap.",
	Layer: "policy_layer",
	Reads: []string{"tooling_layer", "decision_layer", "evaluation_layer"},
	Rules: []*gate.Rule{
		POL001, POL002, POL003, POL004, POL005, POL006, POL007, POL008,
		POL009, POL010, POL011, POL012, POL013, POL014, POL015, POL016, POL017,
	},
}
