package pack_test

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// What a path leads to is named by the innermost thing that has a name.
func TestThingAt(t *testing.T) {
	for path, want := range map[string]string{
		"/policy_layer/policy_bundles/B/rules/deny_refund":           `rule "deny_refund"`,
		"/policy_layer/policy_bundles/B/rules/deny_refund/then/mode": `rule "deny_refund" then.mode`,
		"/tooling_layer/adapter_registry/a~1b":                       `adapter "a/b"`,
		"/evaluation_layer/release_gates/policy/max_delta":           `release gate "policy" max_delta`,
		"/pack_meta/tenant/tenant_id":                                "tenant.tenant_id",
		"/policy_layer":                                              "policy_layer",
		"/policy_layer/approval_gates":                               "approval_gates",
		"":                                                           "",
		"/tooling_layer/permissions/" + strings.Repeat("x", 1<<10):   `permission "` + strings.Repeat("x", 80) + `…"`,
	} {
		if got := pack.ThingAt(path).String(); got != want {
			t.Errorf("%s is named %s, want %s", path, got, want)
		}
	}
}
