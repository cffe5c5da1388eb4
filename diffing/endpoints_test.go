package diffing

import (
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

// A capability that only reads is a major change at an endpoint that also serves writing
// ones: those of other adapters of either version, and those that only a catalog knows.
func TestReadOnlyBesideWriting(t *testing.T) {
	at := func(ref string) string {
		return `add /tooling_layer/adapter_registry/- {"adapter_id": "adp_new", "type": "INTERNAL", "endpoint_ref": "` + ref + `", "capabilities": ["go"], "approval_mode": "read_only"}
add /tooling_layer/permissions/- {"permission_id": "p_new", "adapter_id": "adp_new", "capability": "go", "allow": true}
`
	}
	const capability = `add /tooling_layer/adapter_registry/adp_orders/capabilities/- "go"
add /tooling_layer/permissions/- {"permission_id": "p_new", "adapter_id": "adp_orders", "capability": "go", "allow": true}
`
	for name, c := range map[string]struct {
		script  string
		writing []string
		class   Class
	}{
		"an endpoint of its own":              {at("internal://news"), nil, Minor},
		"the endpoint of another reader":      {at("internal://orders"), nil, Minor},
		"the endpoint of a writer":            {at("internal://payments"), nil, Major},
		"with a slash":                        {at("internal://payments/"), nil, Major},
		"in capitals":                         {at("Internal://PAYMENTS"), nil, Major},
		"below it":                            {at("internal://payments/v1?read#only"), nil, Major},
		"a name that begins alike":            {at("internal://paymentsarchive"), nil, Minor},
		"a writer that only the catalog has":  {at("internal://news"), []string{"internal://news"}, Major},
		"a capability of a reader":            {capability, nil, Minor},
		"a capability, where a catalog warns": {capability, []string{"internal://orders/"}, Major},
		"a reader in the place of a writer": {at("internal://payments") + "remove /tooling_layer/adapter_registry/adp_payments\n" +
			"remove /tooling_layer/permissions/p_issue_refund\n", nil, Major},
		"an endpoint_ref that is repointed": {`replace /tooling_layer/adapter_registry/adp_orders/endpoint_ref "internal://elsewhere"`, nil, Major},
	} {
		src, err := edittest.Apply(gatetest.Support(), c.script)
		if err != nil {
			t.Fatal(err)
		}
		read := func(src []byte) *pack.Pack { return pack.New(gatetest.Read("pack.json", src)) }
		d, err := Compare(read(gatetest.Support()), read(src), nil, c.writing...)
		if err != nil {
			t.Fatal(err)
		}
		if d.Class != c.class {
			t.Errorf("%s: class %s, want %s", name, d.Class, c.class)
		}
	}
}
