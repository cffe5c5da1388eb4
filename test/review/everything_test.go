package review_test

import "strings"

// everything changes at once what a page says something about, more of each kind than there is room for.
func everything(c *checkout) {
	limitRaised(c)
	c.edit(support, "replace "+financeGate+"/required_approver_role \"agent\"\nreplace "+financeGate+"/ttl_seconds 864000\n"+
		"replace /policy_layer/guardrails {\"must_refuse\": [], \"must_escalate\": [], \"redaction_rules\": []}\n"+
		"replace /pack_meta/data_classification \"PUBLIC\"\nreplace /pack_meta/environment_defaults/currency \"USD\"\n"+
		"replace /tooling_layer/adapter_registry/adp_orders/endpoint_ref \"internal://x\"\nreplace /tooling_layer/adapter_registry/adp_payments/endpoint_ref \"internal://y\"\n"+
		"replace /business_context/summary/what_we_do \""+strings.Repeat("Much is done. ", 60)+"\"\nremove /business_context/non_negotiables/0\n")
}
