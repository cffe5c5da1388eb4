package risk

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
)

// RSK014: nothing irreversible happens without approval by means of another pack.
var RSK014 = &gate.Rule{
	ID: "RSK014", Name: "destructive-together-without-gate", Severity: finding.Error, NoWaiver: gate.InStrict,
	WhyNot: "A destructive action cannot be undone, and with `strict` nobody can excuse it from an approval.",
	Title:  "Packs that are used together open no destructive capability without an approval gate",
	Doc: "A run with several packs has the decisions and the tools of all: a decision of one pack can authorise a tool of " +
		"another. A destructive tool that no decision of its own pack can reach, or that is behind a gate that a rule of its " +
		"own intent names, may then run for an intent of the other pack with no gate named for it. So RSK002 is applied again " +
		"to each set of packs that golden cases name together. What no pack has alone is reported here, where the tool is " +
		"declared.\n\n" +
		"Name a gate in the tool's permission, which counts for every intent, or lower the mode of the decision that authorises " +
		"it. The page *Several packs* describes how packs are put together.",
	Bad:   `{"ctxpack.support": {"decision": "support.refund.execute", "approval_mode": "destructive"}, "ctxpack.crm": {"permission": "p_delete_customer", "allow": true}}`,
	Good:  `{"ctxpack.support": {"decision": "support.refund.execute", "approval_mode": "destructive"}, "ctxpack.crm": {"permission": "p_delete_customer", "allow": true, "requires_approval_gate": "GATE_DATA_OWNER"}}`,
	Since: "0.2.0",
	Check: func(p *gate.Pass) { p.Together([]*gate.Rule{RSK002}) },
}

// RSK015: packs that are used together bring no other risk.
var RSK015 = &gate.Rule{
	ID: "RSK015", Name: "risk-together", Severity: finding.Warning, Strict: true,
	Title: "Packs that are used together have no risk that none of them has alone",
	Doc: "What holds for one pack need not hold for several together: a decision of one authorises a tool of another, a rule " +
		"that names no intent decides about intents of another, and a gate that is named for one intent leaves another one " +
		"open. So the rules of this check are applied again to each set of packs that golden cases name together. What no pack " +
		"has alone is reported here, with the severity and the name of the rule that found it; RSK014 reports what RSK002 " +
		"finds.\n\n" +
		"Correct what the finding names, in its pack. The page *Several packs* describes how packs are put together.",
	Bad:   `{"ctxpack.support": {"decision": "support.refund.execute", "approval_mode": "destructive"}, "ctxpack.crm": {"gate": "GATE_DATA_OWNER", "when": {"==": [{"var": "request.context.kind"}, "vip"]}}}`,
	Good:  `{"ctxpack.support": {"decision": "support.refund.execute", "approval_mode": "network"}, "ctxpack.crm": {"gate": "GATE_DATA_OWNER", "when": {"==": [{"var": "request.context.kind"}, "vip"]}}}`,
	Since: "0.2.0",
	Check: func(p *gate.Pass) {
		p.Together([]*gate.Rule{RSK001, RSK003, RSK004, RSK005, RSK006, RSK007, RSK008, RSK009, RSK010, RSK011, RSK012, RSK013})
	},
}
