package evaluation

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

// tried returns the support case after a change of its text, with its result.
func tried(t *testing.T, old, new string) (*gate.Subject, *Trial) {
	t.Helper()
	src := strings.Replace(smallCase, old, new, 1)
	if src == smallCase && old != new {
		t.Fatalf("the case does not contain %q", old)
	}
	s := gatetest.Surroundings{Catalog: whole.Catalog, Case: src}.Subject(gatetest.Support())
	trials := Trials(s)
	if len(trials) != 1 || !trials[0].Tried() {
		t.Fatalf("the case was not tried: %+v", trials)
	}
	return s, &trials[0]
}

// TestFaults: each built-in evaluator sees what it is for, and only that.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, old, new, policy, safety, utility string }{
		{"as it is", "", "", "", "", ""},
		{"a denial that is not there", `"denied": []`, `"denied": ["support.refund.execute"]`, "denials are not as expected", `decision "support.refund.execute" is not denied`, ""},
		{"a gate that is not active", `"gates": []`, `"gates": ["GATE_X"]`, "gates are not as expected", `approval gate "GATE_X" is not active`, ""},
		{"a rule that did not fire", `["R_REFUND_REQUIRES_IDV"]`, `[]`, "rules are not as expected", "", ""},
		{"a tool too many", `, "adp_payments.issue_refund"]`, `]`, "", `"adp_payments.issue_refund" is surfaced and not expected`, ""},
		{"a tool too few", `"adp_orders.lookup", `, `"adp_orders.refund", "adp_orders.lookup", `, "", "", `"adp_orders.refund" is not surfaced`},
		{"it should not compile", `"outcome": "compiled"`, `"outcome": "refused"`, "compiled, expected refused", "compiled, expected refused", "compiled, expected refused"},
		{"it should compile", `"refund_amount": 12`, `"refund_amount": null`, "policy_eval_error, expected compiled", "", "policy_eval_error, expected compiled"},
	} {
		s, trial := tried(t, c.old, c.new)
		policy, states := trial.policyFault()
		if !states {
			t.Errorf("%s: nothing is said of policy", c.name)
		}
		if safety, utility := trial.safetyFault(), trial.utilityFault(s.Config); policy != c.policy || safety != c.safety || utility != c.utility {
			t.Errorf("%s: policy %q, safety %q, utility %q", c.name, policy, safety, utility)
		}
	}
}

// TestImpossible: what packgate itself never lets through would be unsafe.
func TestImpossible(t *testing.T) {
	_, trial := tried(t, "", "")
	trial.Result.Problems = []golden.Problem{{Kind: golden.KindCeiling}}
	if fault := trial.safetyFault(); fault != "a tool above the safety mode is surfaced" {
		t.Errorf("above the ceiling: %q", fault)
	}
	trial.Result.Problems = nil
	for i := range trial.Result.Detail.Trace.Tools {
		trial.Result.Detail.Trace.Tools[i].AuthorisedBy = nil
	}
	if fault := trial.safetyFault(); fault != `"adp_payments.issue_refund" is surfaced, and no allowed decision authorises it` {
		t.Errorf("without a decision: %q", fault)
	}
}

// TestSupply: evidence is there by the ways of the rule catalogue, as far as this
// one compile was given it.
func TestSupply(t *testing.T) {
	config, err := repo.ParseConfig(".packgate.yaml", []byte("evidence: {tax_check: graph:tax}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, trial := tried(t, `{"identity_verified": true,`, `{"identity_verified": true, "gone": null, "order": {"total": 3, "none": null},`)
	ledger := &trial.Result.Detail.Context.ContextLedger
	ledger.EvidenceRefs = []string{"kg:fraud_score:ord_9#snapshot_1", "plain/path", "tool:adp_risks.score:tool_1", "doc:adp_terms.read"}
	supply := trial.supply(config)
	for name, want := range map[string]bool{
		"tax_check": true, "identity_verified": true, "order": true, "order.total": true, "order.none": false, "gone": false,
		"fraud_score": true, "ord_9": true, "snapshot_1": false, "kg": false, "plain": true, "path": true,
		"order_lookup": true, "orders_lookup": true, "adp_orders.lookup": true, "lookup": true, "policy_eval": true,
		"risk_score": true, "term_read": false, "nothing": false, "": false,
	} {
		if got := supply.Has(name); got != want {
			t.Errorf("%q is there: %v, want %v", name, got, want)
		}
	}
}

func TestEvidenceOfNothing(t *testing.T) {
	for _, r := range []golden.Result{{}, {Detail: &compiler.Result{Outcome: compiler.Refused}}} {
		trial := Trial{Result: &r}
		if missing, required := trial.Evidence(repo.DefaultConfig()); len(missing) > 0 || required > 0 {
			t.Errorf("%+v requires %d and lacks %q", r, required, missing)
		}
	}
}

// TestRecords: a prior decision counts where it says what was decided.
func TestRecords(t *testing.T) {
	text := func(v string) pack.Text { return pack.Text{Value: v, OK: v != ""} }
	for _, c := range []struct {
		intent, decision, outcome string
		samples                   int
		fault                     string
	}{
		{"support.refund", "support.refund.execute", "approved", 1, ""},
		{"support.refund", "support.refund.execute", "credited", 1, `record "dr": outcome "credited" is not allowed any more`},
		{"support.refund", "support.refund.gone", "approved", 1, `record "dr": decision "support.refund.gone" is gone`},
		{"", "support.refund.execute", "credited", 0, ""},
		{"support.refund", "", "credited", 0, ""},
		{"support.refund", "support.refund.execute", "", 0, ""},
	} {
		s := gatetest.Surroundings{}.Subject(gatetest.Support())
		r := &repo.Record{SideFile: &repo.SideFile{Document: gatetest.Read("replay/a.record.json", []byte(`{}`))}}
		r.Part.Node = r.Document.Root
		r.RecordID, r.IntentRef, r.DecisionKey, r.Outputs.Outcome = text("dr"), text(c.intent), text(c.decision), text(c.outcome)
		s.Unit.Records = []*repo.Record{r}
		b := evaluate(s).points[point{"support.refund", Utility}]
		if b == nil {
			b = &built{}
		}
		fault := ""
		if len(b.failed) > 0 {
			fault = b.failed[0].Message
		}
		if b.samples != c.samples || fault != c.fault {
			t.Errorf("%+v: %d samples, %q", c, b.samples, fault)
		}
	}
}

// TestRising: latency is compared upwards, in its own unit.
func TestRising(t *testing.T) {
	src := gatetest.Edit(t, gatetest.Support(), finding.Operation{
		Op: "add", Path: "/evaluation_layer/release_gates/-", Value: `{"metric": "latency_p99_ms", "max_delta": 100}`,
	})
	for latency, want := range map[string]string{
		"2200": `latency_p99_ms of intent "support.refund" rose from 2000 ms to 2200 ms (scorecards/0.json, 40 samples): worse by 200 ms, and the release gate accepts 100 ms`,
		"2100": "", "1000": "",
	} {
		card := scorecard(`"intents": [{"intent": "support.refund", "samples": 40, "candidate": {"latency_p99_ms": ` + latency + `}, "baseline": {"latency_p99_ms": 2000}}]`)
		card = strings.Replace(card, string(pack.DigestOf(gatetest.Support())), string(pack.DigestOf(src)), 1)
		s := beside(repo.DefaultConfig(), card)
		s.Unit.Document = gatetest.Read(gatetest.PackFile, src)
		s.Unit.Pack = pack.New(s.Unit.Document)
		got := ""
		if found, _ := gatetest.Judge(Gate, gate.NewSubject(s.Unit, s.Environments, s.Config)); len(found) > 0 {
			got = found[0].Message
		}
		if got != want {
			t.Errorf("at %s ms: %q, want %q", latency, got, want)
		}
	}
}

func TestIntentsListed(t *testing.T) {
	for n, want := range map[int]string{1: `intent "a"`, 2: `intents "a", "b"`, 10: `intents "a", "b", "c", "d", "e", "f", "g", "h" and 2 more`} {
		if got := intentsListed(strings.Split("a b c d e f g h i j", " ")[:n]); got != want {
			t.Errorf("%d intents are listed as %s", n, got)
		}
	}
}
