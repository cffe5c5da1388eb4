package risk

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

// edited returns the support pack with the edits of a script.
func edited(t *testing.T, script string) *gate.Subject {
	t.Helper()
	src, err := edittest.Apply(gatetest.Support(), script)
	if err != nil {
		t.Fatal(err)
	}
	return whole.Subject(src)
}

// A gap of a destructive tool is an error where the change brings it, and a warning
// where it was there before.
func TestNewGaps(t *testing.T) {
	const (
		when   = "replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when "
		rules  = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules/-"
		always = when + "true"
		tool   = `
add /tooling_layer/adapter_registry/adp_payments/capabilities/- "pay"
add /tooling_layer/permissions/- {"permission_id": "p_pay", "adapter_id": "adp_payments", "capability": "pay", "allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}`
		intent = `
add ` + rules + ` {"rule_id": "R_VIP", "applies_to": {"intent": "support.vip"}, "if": true, "then": {"allow": true}, "decision_binding": "support.refund.execute"}`
		nowhere = `
remove /tooling_layer/permissions/p_issue_refund/requires_approval_gate
remove /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/then/requires_approval_gate`
	)
	for name, c := range map[string]struct {
		base, head string
		wanted     finding.Severity // of the first finding
		about      string
	}{
		"as it was":                   {"", `replace /business_context/summary/what_we_do "x"`, finding.Warning, "issue_refund"},
		"a gate is narrowed":          {always, "", finding.Error, "issue_refund"},
		"a gate is never raised":      {always, when + `{">": [{"var": "request.context.refund_amount"}, 1000000000000]}`, finding.Error, "issue_refund"},
		"it cannot be followed":       {always, when + notFollowed, finding.Error, "issue_refund"},
		"another threshold":           {"", when + `{">": [{"var": "request.context.refund_amount"}, 5000]}`, finding.Warning, "issue_refund"},
		"a tool is added":             {"", tool, finding.Error, "pay"},
		"a tool of another mode":      {`replace /tooling_layer/adapter_registry/adp_payments/approval_mode "delegated"`, "", finding.Error, "issue_refund"},
		"an intent is added":          {"", intent, finding.Error, `"support.vip"`},
		"a gate where there was none": {nowhere, "", finding.Warning, "issue_refund"},
		"the base is refused":         {`replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/if {"nope": 1}`, "", finding.Error, "issue_refund"},
	} {
		s := edited(t, c.head)
		s.Before = edited(t, c.base)
		p := gate.NewPass(s, Gate, RSK006)
		RSK006.Check(p)
		found, _ := p.Results()
		finding.Sort(found)
		if len(found) == 0 || found[0].Severity != c.wanted || !strings.Contains(found[0].Message, c.about) {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// A change that lowers the catalog's mode together with the pack's does not pass: what
// the catalog said before counts too.
func TestLoweredCatalog(t *testing.T) {
	subject := func(mode, script string) *gate.Subject {
		src, err := edittest.Apply(gatetest.Support(), script)
		if err != nil {
			t.Fatal(err)
		}
		catalog := `{"environment": "prod", "endpoints": {"internal://orders": {"capabilities": {` + mode + `}}}}`
		return gatetest.Surroundings{Catalog: catalog}.Subject(src)
	}
	for _, now := range []string{`"lookup": "read_only"`, ``} {
		s := subject(now, "")
		s.Before = subject(`"lookup": "network"`, `replace /tooling_layer/adapter_registry/adp_orders/approval_mode "network"`)
		p := gate.NewPass(s, Gate, RSK013)
		RSK013.Check(p)
		if found, _ := p.Results(); len(found) != 1 || found[0].Severity != finding.Error {
			t.Errorf("with %s: found %+v", now, found)
		}
	}
}
