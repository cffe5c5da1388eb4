package security

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SEC008: personal data do not flow back by default.
var SEC008 = &gate.Rule{
	ID: "SEC008", Name: "personal-write-back", Severity: finding.Error,
	Title: "Personal data may not be written back to memory",
	Doc: "What an agent writes to memory outlives the conversation, up to years in the durable tier, and comes back in other ones. " +
		"A person who did not consent to that cannot take it back. " +
		"So `consent_gating.pii_write_back_allowed` is false; where it is not said, each runtime decides for itself.\n\n" +
		"Set it to false. A pack whose users have consented, and whose owner answers for it, waives this rule in `.packgate.yaml` " +
		"with a reason and a last day, so that the exception is seen and ends.",
	Bad:   `"consent_gating": {"pii_write_back_allowed": true}`,
	Good:  `"consent_gating": {"pii_write_back_allowed": false}`,
	Since: "0.1.0",
	Check: checkWriteBack,
}

// SEC009: what is confidential is redacted.
var SEC009 = &gate.Rule{
	ID: "SEC009", Name: "no-redaction", Severity: finding.Warning, Strict: true,
	Title: "A pack for confidential data names what is redacted",
	Doc: "A pack whose data_classification is CONFIDENTIAL or RESTRICTED handles data that must not reach a prompt, a log or a customer as they are. " +
		"With no redaction rule, all of it does.\n\n" +
		"Name the kinds of data that are redacted in `policy_layer.guardrails.redaction_rules`, such as `credit_card`.",
	Bad:   `"pack_meta": {"data_classification": "CONFIDENTIAL"}, "policy_layer": {"guardrails": {"redaction_rules": []}}`,
	Good:  `"pack_meta": {"data_classification": "CONFIDENTIAL"}, "policy_layer": {"guardrails": {"redaction_rules": ["credit_card"]}}`,
	Since: "0.1.0",
	Check: checkRedaction,
}

const (
	writeBack = "/memory_layer/memory_policy/consent_gating/pii_write_back_allowed"
	setFalse  = "set pii_write_back_allowed to false"
)

func checkWriteBack(p *gate.Pass) {
	policy := &p.Pack.MemoryLayer.MemoryPolicy
	consent := &policy.ConsentGating
	allowed := consent.PIIWriteBackAllowed
	switch {
	case allowed.OK && allowed.Value:
		p.Report(gate.Diagnostic{
			At:      allowed.Node,
			Message: "personal data may be written back to memory, wanted false",
			Hint:    setFalse + ", or waive the rule with a reason, an owner and a last day",
			Fix:     &finding.Fix{Description: setFalse, Operations: []finding.Operation{{Op: "replace", Path: writeBack, Value: "false"}}},
		})
	case allowed.Node == nil && gate.IsObject(consent.Node):
		unsaid(p, consent.Node, finding.Operation{Op: "add", Path: writeBack, Value: "false"})
	case consent.Node == nil && gate.IsObject(policy.Node):
		unsaid(p, policy.Node, finding.Operation{
			Op: "add", Path: "/memory_layer/memory_policy/consent_gating", Value: `{"pii_write_back_allowed": false}`,
		})
	}
}

func unsaid(p *gate.Pass, at *pack.Node, op finding.Operation) {
	p.Report(gate.Diagnostic{
		At:      at,
		Message: "nothing says whether personal data may be written back to memory, wanted pii_write_back_allowed false",
		Hint:    setFalse,
		Fix:     &finding.Fix{Description: setFalse, Operations: []finding.Operation{op}},
	})
}

func checkRedaction(p *gate.Pass) {
	class, rules := p.Pack.PackMeta.DataClassification, p.Pack.PolicyLayer.Guardrails.RedactionRules
	if class.Value != "CONFIDENTIAL" && class.Value != "RESTRICTED" || !rules.OK {
		return // SCH004 reports a list that is missing
	}
	for _, name := range pack.Values(rules) {
		if name != "" {
			return
		}
	}
	p.Report(gate.Diagnostic{
		At:      rules.Node,
		Message: fmt.Sprintf("the pack is %s and redacts nothing", class.Value),
		Hint:    "name the kinds of data to redact, such as \"credit_card\"",
		Related: []finding.Related{gate.Also(class.Node, "the classification of the pack's data")},
	})
}
