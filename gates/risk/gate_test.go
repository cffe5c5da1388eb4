package risk

import (
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "RSK", 12) }

// A small environment that lets the documented support pack through.
const production = `{"environment": "prod", "max_approval_mode": "destructive"}`

const golden = `{"case": "refund", "invoke": {"tenant_id": "tenant_acme_prod", "input": {"intent": "support.refund", "context": {"refund_amount": 1}}}, "run_context": {"tenant_id": "tenant_acme_prod"}, "evidence": [{"evidence_ref": "kg:order:ord_881#snapshot_1", "content": "An order."}]}`

// whole is what stands beside a pack of which every rule can be checked.
var whole = gatetest.Surroundings{Catalog: production, Case: golden}

// TestSupportPack: the documented support pack, with and without the rest of its
// repository, has no error and one warning, which shows a refund that needs no
// approval.
func TestSupportPack(t *testing.T) {
	for name, s := range map[string]*gate.Subject{
		"pack":       whole.Subject(gatetest.Support()),
		"repository": gatetest.Example(t),
	} {
		found, unchecked := gatetest.Judge(Gate, s)
		if len(found) != 1 || len(unchecked) != 0 {
			t.Errorf("%s: found %v, not checked %v", name, found, unchecked)
			continue
		}
		f := found[0]
		if f.Rule != "RSK006" || f.Severity != finding.Warning || !strings.Contains(f.Message, "for example refund_amount 3000") {
			t.Errorf("%s: found %s %s: %s", name, f.Severity, f.Rule, f.Message)
		}
		want := map[string]any{"request": map[string]any{
			"intent": "support.refund", "context": map[string]any{"identity_verified": true, "refund_amount": 3000.0},
		}}
		if !reflect.DeepEqual(f.Witness, want) {
			t.Errorf("%s: the witness is %v, want %v", name, f.Witness, want)
		}
	}
}

// Whatever is put in the place of any value of the pack, no rule panics, and
// what it says is the same twice and has a place and words.
func TestMutations(t *testing.T) { gatetest.Mutations(t, Gate, whole, gatetest.CaseFile) }

func FuzzRules(f *testing.F) { gatetest.Fuzz(f, Gate, whole, gatetest.CaseFile) }
