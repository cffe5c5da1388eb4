package risk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

// The pieces of policies about amounts. Their constants have values of the grids on either
// side of them.
var (
	amounts = []string{
		`true`, `true`, `false`, `{">": [{"var": "request.context.refund_amount"}, 3000]}`, `{">=": [{"var": "request.context.refund_amount"}, 3000]}`,
		`{"<": [{"var": "request.context.refund_amount"}, 1000]}`, `{"<=": [1000, {"var": "request.context.refund_amount"}, 3000]}`,
		`{">": [{"*": [{"var": "request.context.refund_amount"}, 2]}, 6000]}`, `{"==": [{"var": "user.role"}, "support_agent"]}`,
		`{"and": [{"==": [{"var": "user.role"}, "support_agent"]}, {">": [{"var": "request.context.refund_amount"}, 3000]}]}`,
		`{"or": [{"==": [{"var": "user.role"}, "other"]}, {"<": [{"var": "request.context.refund_amount"}, 5000]}]}`,
		`{"in": [{"var": "request.context.refund_amount"}, [500, 2000]]}`, `{"missing": ["request.context.refund_amount"]}`,
		`{">": [{"var": "request.context.refund_amount"}, {"var": "request.context.usual"}]}`,
	}
	allows = []string{
		`{"allow": true}`, `{"allow": true}`, `{"allow": true, "arg_constraints": {"amount_inr": {"max": 3000, "unless_approved": true}}}`,
		`{"allow": true, "arg_constraints": {"amount_inr": {"max": 1000}}}`, `{"allow": true, "arg_constraints": {"amount_inr": {"min": 1000, "max": 3000}}}`,
		`{"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}`, `{"allow": false, "reason": "no"}`, `{"allow": false, "reason": "no"}`,
		`{"arg_constraints": {"amount_inr": {"max": 5000, "unless_approved": true}}}`, `{"prohibits": ["issue_refund"]}`,
	}
	permitted = []string{
		`{"min": 1, "max": 50000}`, `{"max": 5000}`, `{"min": 1000, "max": 3000}`, `{"enum": [500, 2000, 4000]}`, `{"enum": ["500", "4000"]}`, `{"required": true}`,
		`{"max": 50000, "pattern": "^[0-9]+$"}`, `{"max": 3000, "unless_approved": true}`,
	}
)

// amountPack returns the support pack with other rules, gates and bounds about amounts.
func amountPack(t *testing.T, r *rand.Rand) []byte {
	t.Helper()
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var rules []string
	for i := range 1 + r.IntN(3) {
		rule := fmt.Sprintf(`{"rule_id": "R_%d", "if": %s, "then": %s, "decision_binding": "support.refund.execute"`, i, pick(amounts), pick(allows))
		if r.IntN(3) > 0 {
			rule += `, "applies_to": {"intent": "support.refund"}`
		}
		if r.IntN(2) == 0 {
			rule += `, "else": ` + pick(allows)
		}
		if r.IntN(8) == 0 {
			rule += `, "non_enforcing": true`
		}
		rules = append(rules, rule+"}")
	}
	script := "replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules [" + strings.Join(rules, ", ") + "]\n" +
		"replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when " + pick(amounts) + "\n" +
		"replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr " + pick(permitted) + "\n"
	if r.IntN(3) == 0 {
		script += "remove /tooling_layer/permissions/p_issue_refund/requires_approval_gate\n"
	}
	src, err := edittest.Apply(gatetest.Support(), script)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// done are values of the argument, none of which is where a condition or a bound ends.
var done = []float64{-5, 0.5, 500, 999, 1001, 2000, 2999, 3001, 4000, 4999, 5001, 49999, 50001}

// declaredAmounts are requests, as conditions read them, that declare an amount or none.
func declaredAmounts() (requests []map[string]any) {
	for _, amount := range append([]any{nil, "4200"}, anyOf(done)...) {
		for _, role := range []any{nil, "support_agent", "other"} {
			for _, usual := range []any{nil, 100.0, 4500.0} {
				requests = append(requests, asked(map[string]any{"refund_amount": amount, "usual": usual}, role))
			}
		}
	}
	return requests
}

func anyOf(numbers []float64) (list []any) {
	for _, n := range numbers {
		list = append(list, n)
	}
	return list
}

// asked returns a request for a refund; what is nil is left out.
func asked(context map[string]any, role any) map[string]any {
	for name, value := range context {
		if value == nil {
			delete(context, name)
		}
	}
	data := map[string]any{"request": map[string]any{"intent": "support.refund", "context": context}}
	if role != nil {
		data["user"] = map[string]any{"role": role}
	}
	return data
}

// with returns a request that declares another amount.
func with(data map[string]any, amount float64) map[string]any {
	context := map[string]any{"refund_amount": amount}
	for name, value := range data["request"].(map[string]any)["context"].(map[string]any) {
		if name != "refund_amount" {
			context[name] = value
		}
	}
	var role any
	if user, there := data["user"].(map[string]any); there {
		role = user["role"]
	}
	return asked(context, role)
}

// mayPay reports whether the bounds of a compiled tool let an amount through that nobody
// has approved. The ends of a range are no matter, unless values are listed.
func mayPay(bounds any, amount float64) bool {
	list, several := bounds.([]any)
	if !several {
		list = []any{bounds}
	}
	return !slices.ContainsFunc(list, func(one any) bool {
		says, _ := one.(map[string]any)
		least, hasLeast := says["min"].(float64)
		most, hasMost := says["max"].(float64)
		values, hasList := says["enum"].([]any)
		return hasLeast && (amount < least || amount == least && !hasList) || hasMost && (amount > most || amount == most && !hasList) ||
			hasList && !slices.ContainsFunc(values, func(v any) bool { return v == amount || v == fmt.Sprint(amount) })
	})
}

// payments compiles a pack for a request and returns the bounds of the refund where it runs
// with no gate active; ok is false where it does not.
func payments(t *testing.T, s *gate.Subject, data map[string]any) (bounds any, ok bool) {
	t.Helper()
	result, err := s.Proof().Program().Compile(proof.Request(s.Pack, data))
	if err != nil {
		t.Fatal(err)
	}
	if result.Outcome != compiler.Compiled || len(ungated(t, s, data)) == 0 {
		return nil, false
	}
	for _, e := range result.Context.Manifests.ToolManifest {
		if e.AdapterID == "adp_payments" {
			bounds = e.Constraints["issue_refund"]["amount_inr"]
		}
	}
	return bounds, true
}

// exceeded returns a request and an amount that it pays without an approval, although
// a request that declares the amount would not: nil where none of the grid does.
func exceeded(t *testing.T, s *gate.Subject) (map[string]any, float64) {
	t.Helper()
	type answer struct {
		bounds any
		open   bool
	}
	known := map[string]answer{}
	payments := func(data map[string]any) (any, bool) {
		key := pack.CompactJSON(data)
		if _, there := known[key]; !there {
			bounds, open := payments(t, s, data)
			known[key] = answer{bounds, open}
		}
		return known[key].bounds, known[key].open
	}
	for _, data := range declaredAmounts() {
		bounds, open := payments(data)
		if !open {
			continue
		}
		for _, amount := range done {
			if !mayPay(bounds, amount) {
				continue
			}
			if _, open := payments(with(data, amount)); !open {
				return data, amount
			}
		}
	}
	return nil, 0
}

// Where RSK012 finds nothing, and lists nothing as not checked, no request of a grid has
// the tool without an approval for an amount that needs one where it is declared. Where it
// finds something, its request runs without an approval, and its fix makes it silent.
func TestNothingIsDoneBeyondWhatIsDeclared(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	kinds := map[string]int{}
	for range 120 {
		src := amountPack(t, r)
		s := whole.Subject(src)
		p := gate.NewPass(s, Gate, RSK012)
		RSK012.Check(p)
		found, unchecked := p.Results()
		checkLimits(t, s)
		data, amount := exceeded(t, s)
		switch {
		case len(found) > 0:
			kinds["found"]++
			checkBeyond(t, s, found, src, kinds)
		case len(unchecked) > 0:
			kinds["not checked"]++
		case data != nil:
			t.Errorf("%v pays %v without an approval and a finding\n%s", data, amount, src)
		default:
			kinds["held"]++
		}
		if data != nil {
			kinds["exceeded"]++
		}
	}
	for _, kind := range []string{"found", "fixed", "not checked", "held", "exceeded"} {
		if kinds[kind] < 3 {
			t.Errorf("too few packs are %s: %v", kind, kinds)
		}
	}
}

// checkLimits holds that Limits says of every variable what Beyond proves, whether a request at
// hand shows it or not.
func checkLimits(t *testing.T, s *gate.Subject) {
	t.Helper()
	rows := s.Reach().Rows
	for i := range rows {
		row := &rows[i]
		if row.Tool == nil || row.Held || !bindsArguments(row.Tool) {
			continue
		}
		d := s.Proof().Declared()
		for _, v := range d.Variables(row) {
			pair := proof.Pair{Variable: v.Path, Scale: 1, Text: !slices.Contains(v.Types, "number")}
			want := d.Beyond(row, pair, proof.Limit{}).Verdict != jsonlogic.Unsatisfiable
			for _, samples := range [][]any{nil, v.Samples} {
				if got := d.Limits(row, pair, samples); got != want {
					t.Errorf("with samples %v, %s limits %s: %t, wanted %t", samples, v.Path, row.Capability, got, want)
				}
			}
		}
	}
}

// checkBeyond holds that findings are true of their requests, and fixed by their fixes.
func checkBeyond(t *testing.T, s *gate.Subject, found []finding.Finding, src []byte, kinds map[string]int) {
	t.Helper()
	for _, f := range found {
		if _, open := payments(t, s, f.Witness); !open {
			t.Errorf("the request %v does not run without an approval: %s\n%s", f.Witness, f.Message, src)
		}
		if f.Fix == nil {
			continue
		}
		kinds["fixed"]++
		fixed, after := gatetest.Fixed(t, Gate, whole, src, f)
		if slices.ContainsFunc(after, func(other finding.Finding) bool { return other.Rule == RSK012.ID }) {
			t.Errorf("the fix of %s does not fix it\n%s", f.Message, src)
		}
		if data, amount := exceeded(t, whole.Subject(fixed)); data != nil {
			t.Errorf("once fixed, %v pays %v without an approval\n%s", data, amount, fixed)
		}
	}
}
