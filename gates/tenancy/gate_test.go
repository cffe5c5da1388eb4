package tenancy

import (
	"testing"

	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "TEN") }

// The environment of the example repository, and one of its cases in short.
const production = `{
	"environment": "prod",
	"snapshots": {"prod": "kg_2026_05_03_T0930"},
	"endpoints": {
		"internal://orders": {"tenants": ["tenant_acme_prod"]},
		"internal://policy": {"tenants": ["tenant_acme_prod"]},
		"internal://payments": {"tenants": ["tenant_acme_prod", "tenant_globex_prod"]}
	},
	"issuers": ["tenant_acme_prod"],
	"regions": ["ap-south-1"]
}`

const golden = `{"case": "refund", "invoke": {"tenant_id": "tenant_acme_prod", "input": {"intent": "support.refund", "context": {"refund_amount": 1}}}, "run_context": {"tenant_id": "tenant_acme_prod"}, "evidence": [{"evidence_ref": "kg:order:ord_881#snapshot_1", "content": "An order."}]}`

// whole is what is beside a pack of which every rule can be checked.
var whole = gatetest.Surroundings{Catalog: production, Case: golden}

// TestSupportPackIsClean: neither the documented support pack nor the example
// repository around it gives a finding, and everything is checked.
func TestSupportPackIsClean(t *testing.T) {
	gatetest.Clean(t, Gate, whole.Subject(gatetest.Support()))
	gatetest.Clean(t, Gate, gatetest.Example(t))
}

// Whatever is put in the place of any value of the pack, no rule panics, and
// what it says is the same twice and has a place and words.
func TestMutations(t *testing.T) { gatetest.Mutations(t, Gate, whole, gatetest.CaseFile) }

func FuzzRules(f *testing.F) { gatetest.Fuzz(f, Gate, whole, gatetest.CaseFile) }
