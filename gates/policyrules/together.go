package policyrules

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
)

// alone are the rules that are asked of several packs together too.
var alone = []*gate.Rule{
	POL001, POL002, POL003, POL004, POL005, POL006, POL007, POL008,
	POL009, POL010, POL011, POL012, POL013, POL014, POL015, POL016,
}

// POL017: packs that are used together do not contradict each other.
var POL017 = &gate.Rule{
	ID: "POL017", Name: "policy-together", Severity: finding.Warning, Strict: true,
	Title: "The policies of packs that are used together fit together",
	Doc: "A rule that names no intent applies to the intents of every pack in a run, and a deny of one pack counts in all. So a " +
		"rule can become unreachable, a decision can be denied for every request, and two rules can contradict each other, " +
		"although each pack is correct by itself. The rules of this check are applied again to each set of packs that golden " +
		"cases name together. What no pack has alone is reported here, with the severity and the name of the rule that found " +
		"it.\n\n" +
		"If a rule is about the decisions of one pack, give it the intent that it is for, or bind it to its decision. The page " +
		"*Several packs* describes how packs are put together.",
	Bad:   `{"ctxpack.support": {"rule": "R_REFUND", "applies_to": {"intent": "support.refund"}, "then": {"allow": true}}, "ctxpack.audit": {"rule": "R_FROZEN", "if": true, "then": {"allow": false}}}`,
	Good:  `{"ctxpack.support": {"rule": "R_REFUND", "applies_to": {"intent": "support.refund"}, "then": {"allow": true}}, "ctxpack.audit": {"rule": "R_FROZEN", "applies_to": {"intent": "audit.close"}, "if": true, "then": {"allow": false}}}`,
	Since: "0.2.0",
	Check: func(p *gate.Pass) { p.Together(alone) },
}
