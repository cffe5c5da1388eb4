package references

import (
	"testing"

	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "REF") }

// A small environment that has what the documented support pack names.
const production = `{
	"environment": "prod",
	"ontologies": {"ont.support": {"1.0.0": {"entity_types": ["Customer", "Order"], "relationship_types": ["order_belongs_to_customer"]}}},
	"intents": ["support.refund"],
	"schemas": ["schema://decision.support.refund.execute.inputs.v1", "schema://decision.support.refund.execute.outputs.v1"]
}`

const golden = `{"case": "refund", "invoke": {"input": {"intent": "support.refund", "context": {"refund_amount": 1}}}, "evidence": [{"evidence_ref": "kg:order:ord_881#snapshot_1"}]}`

// whole is what is beside a pack of which every rule can be checked.
var whole = gatetest.Surroundings{Catalog: production, Case: golden}

func TestSupportPackIsClean(t *testing.T) {
	gatetest.Clean(t, Gate, whole.Subject(gatetest.Support()))
}

// Whatever is put in the place of any value of the pack, no rule panics, and
// what it says is the same twice and has a place and words.
func TestMutations(t *testing.T) { gatetest.Mutations(t, Gate, whole) }

func FuzzRules(f *testing.F) { gatetest.Fuzz(f, Gate, whole) }
