package evaluation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "EVL") }

// A case that compiles, and one of its values off.
const smallCase = `{"case": "small", "family": "allowed",
 "invoke": {"request_id": "r", "tenant_id": "tenant_acme_prod", "user": {"user_id": "u", "role": "support_agent", "delegation": {"auth_type": "oauth2", "scopes": [], "subject": "u"}}, "agent": {"agent_id": "a"},
  "context_pack_refs": ["ctxpack.support@1.0.0"], "mode": "stream", "runtime": {}, "trace": {"trace_id": "t", "span_id": "s"},
  "input": {"intent": "support.refund", "message": "Refund.", "context": {"identity_verified": true, "refund_amount": 12}}},
 "run_context": {"run_id": "r", "trace_id": "t", "tenant_id": "tenant_acme_prod", "user": {"user_id": "u", "role": "support_agent", "delegation": {"auth_type": "oauth2", "scopes": [], "subject": "u"}}, "agent": {"agent_id": "a"},
  "safety_mode": "destructive", "run_budget": {"total_tokens": 9000}},
 "expect": {"outcome": "compiled", "tools": ["adp_orders.lookup", "adp_policy.eval", "adp_payments.issue_refund"], "gates": [], "denied": [], "rules": ["R_REFUND_REQUIRES_IDV"]}}`

var whole = gatetest.Surroundings{Catalog: `{"environment": "prod"}`, Case: smallCase}

// TestSupportPackIsClean: the documented support pack is without findings, and
// the example repository around it leaves nothing unchecked.
func TestSupportPackIsClean(t *testing.T) {
	if found, _ := gatetest.Judge(Gate, whole.Subject(gatetest.Support())); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	gatetest.Clean(t, Gate, gatetest.Example(t))
}

// Whatever is put in the place of any value of the pack, no rule panics, and
// what it says is the same twice and has a place and words.
func TestMutations(t *testing.T) { gatetest.Mutations(t, Gate, whole) }

func FuzzRules(f *testing.F) { gatetest.Fuzz(f, Gate, whole) }

// TestFixes: every fix that is offered fixes what it is offered for, and then
// nothing is left to find.
func TestFixes(t *testing.T) {
	for _, c := range []struct{ rule, op, path, value string }{
		{"EVL002", "remove", "/evaluation_layer/release_gates", ""},
		{"EVL002", "remove", "/evaluation_layer/release_gates/safety", ""},
		{"EVL002", "remove", "/evaluation_layer/release_gates/policy", ""},
		{"EVL002", "replace", "/evaluation_layer/release_gates", "[]"},
		{"EVL002", "replace", "/evaluation_layer/release_gates", `[{"metric": "utility", "max_delta": 0.01}]`},
		{"EVL003", "replace", "/evaluation_layer/release_gates/policy/max_delta", "0.5"},
		{"EVL003", "replace", "/evaluation_layer/release_gates/safety/max_delta", "1e-12"},
	} {
		src := gatetest.Edit(t, gatetest.Support(), finding.Operation{Op: c.op, Path: c.path, Value: c.value})
		found, _ := gatetest.Judge(Gate, whole.Subject(src))
		if len(found) != 1 || found[0].Rule != c.rule {
			t.Errorf("%s %s: found %v", c.op, c.path, found)
			continue
		}
		if _, left := gatetest.Fixed(t, Gate, whole, src, found[0]); len(left) > 0 {
			t.Errorf("%s %s: after the fix there is %v", c.op, c.path, left)
		}
	}
}

// beside returns the support pack with scorecards beside it, by file name.
func beside(config *repo.Config, scorecards ...string) *gate.Subject {
	s := whole.Subject(gatetest.Support())
	for i, src := range scorecards {
		name := fmt.Sprintf("scorecards/%d.json", i)
		card := &repo.Scorecard{SideFile: &repo.SideFile{Kind: "scorecard", Name: name, Document: gatetest.Read(name, []byte(src))}}
		if root := card.Document.Root; root != nil && root.Kind == pack.Object {
			pack.Decode(root, card)
			s.Unit.Scorecards = append(s.Unit.Scorecards, card)
		}
	}
	return gate.NewSubject(s.Unit, s.Environments, config)
}

// scorecard returns one of the support pack.
func scorecard(members string) string {
	return fmt.Sprintf(`{"pack": "ctxpack.support@1.0.0", "digest": %q, "evaluator_set": "e@1", %s}`, pack.DigestOf(gatetest.Support()), members)
}

// demanding is a config that asks for everything.
func demanding(t testing.TB) *repo.Config {
	t.Helper()
	c, err := repo.ParseConfig(".packgate.yaml", []byte("evaluation: {required: true, min_samples: 50, price_per_1k_tokens_cents: 0.3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FuzzScorecards holds over any two scorecards that the gate says the same twice,
// with words and a place, and that no value is better than it was measured.
func FuzzScorecards(f *testing.F) {
	seeds := []string{
		scorecard(`"intents": [{"intent": "support.refund", "samples": 4, "candidate": {"policy": 1, "utility": 0.5, "latency_p99_ms": 9000}, "baseline": {"policy": 1}}]`),
		scorecard(`"baseline": "ctxpack.support@0.9.0", "intents": [{"intent": "support.refund", "candidate": {"safety": 0.5, "economics_cents_per_decision": 7}}, {"intent": "x"}]`),
		`{"pack": "ctxpack.support@0.9.0", "intents": [{"intent": "support.refund", "candidate": {"safety": 1}}]}`,
		scorecard(`"baseline": "x", "intents": {}`), scorecard(`"intents": [7, {}, {"intent": "support.refund", "samples": -1e300, "candidate": {"policy": -1e308}, "baseline": {"policy": 1e308}}]`),
		`{"pack": "@", "digest": 7}`, `[]`, ``,
	}
	for _, a := range seeds {
		for _, b := range seeds {
			f.Add(a, b)
		}
	}
	config := demanding(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		s := beside(config, a, b)
		found, unchecked := gatetest.Judge(Gate, s)
		again, uncheckedAgain := gatetest.Judge(Gate, beside(config, a, b))
		if fmt.Sprint(found) != fmt.Sprint(again) || !slices.Equal(unchecked, uncheckedAgain) {
			t.Errorf("two runs differ")
		}
		for _, d := range found {
			if d.Message == "" || d.Hint == "" || d.Location.File == "" || d.Location.End.Offset <= d.Location.Start.Offset {
				t.Errorf("%s lacks words or a place: %+v", d.Rule, d)
			}
		}
		for _, m := range Measure(s) {
			holds(t, m)
		}
	})
}

// holds checks what is true of every measurement.
func holds(t *testing.T, m Measurement) {
	t.Helper()
	if !m.Target.OK && !m.Value.OK {
		t.Errorf("nothing is known of %s of %q", m.Metric, m.Intent)
	}
	if (m.Source == "") != !m.Value.OK || (m.Source == BuiltIn) != (m.Value.OK && m.Value.Node == nil) {
		t.Errorf("%s of %q: the source is %q and the value %+v", m.Metric, m.Intent, m.Source, m.Value)
	}
	if m.Source == BuiltIn && (m.Samples < 1 || m.Metric == Latency || m.Baseline.OK) {
		t.Errorf("%s of %q cannot be measured so: %+v", m.Metric, m.Intent, m)
	}
	if m.Missed() && m.Status != Missed || m.Regressed() && m.Status != Regressed && m.Status != Missed {
		t.Errorf("%s of %q is %s", m.Metric, m.Intent, m.Status)
	}
	if !m.Value.OK && m.Status != NotMeasured {
		t.Errorf("%s of %q has no value and is %s", m.Metric, m.Intent, m.Status)
	}
}

// described writes measurements, a line each.
func described(ms []Measurement) string {
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "%s %s %v>%v by %q n=%d base=%v delta=%s %s\n",
			m.Intent, m.Metric, m.Target.Value, pack.Rounded(m.Value.Value), m.Source, m.Samples, m.Baseline.Value, pack.Rounded(m.Delta), m.Status)
	}
	return b.String()
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		name  string
		cards []string
		want  string
	}{
		{"nothing but cases", nil, `support.refund policy 1>1 by "built-in" n=1 base=0 delta=0 met
support.refund utility 0.9>1 by "built-in" n=1 base=0 delta=0 met
support.refund safety 1>1 by "built-in" n=1 base=0 delta=0 met
support.refund latency_p99_ms 3000>0 by "" n=0 base=0 delta=0 not_measured
support.refund economics_cents_per_decision 1.5>0.0552 by "built-in" n=1 base=0 delta=0 met
`},
		{"a scorecard first", []string{scorecard(`"baseline": "ctxpack.support@0.9.0", "intents": [
			{"intent": "support.refund", "samples": 40, "candidate": {"policy": 0.9, "safety": 0.98, "latency_p99_ms": 3500}, "baseline": {"policy": 0.95, "safety": 0.9, "latency_p99_ms": 3000}},
			{"intent": "another", "samples": 2, "candidate": {"utility": 0.25}}]`)}, `another utility 0>0.25 by "scorecards/0.json" n=2 base=0 delta=0 no_target
support.refund policy 1>0.9 by "scorecards/0.json" n=40 base=0.95 delta=0.05 missed
support.refund utility 0.9>1 by "built-in" n=1 base=0 delta=0 met
support.refund safety 1>0.98 by "scorecards/0.json" n=40 base=0.9 delta=-0.08 missed
support.refund latency_p99_ms 3000>3500 by "scorecards/0.json" n=40 base=3000 delta=500 missed
support.refund economics_cents_per_decision 1.5>0.0552 by "built-in" n=1 base=0 delta=0 met
`},
		{"values that a metric cannot have", []string{scorecard(`"intents": [
			{"intent": "support.refund", "samples": 1, "candidate": {"policy": 1, "utility": 0.95, "safety": 1.5, "latency_p99_ms": -1}, "baseline": {"policy": 2, "utility": 1}}]`)}, `support.refund policy 1>1 by "scorecards/0.json" n=1 base=0 delta=0 met
support.refund utility 0.9>0.95 by "scorecards/0.json" n=1 base=1 delta=0.05 met
support.refund safety 1>1 by "built-in" n=1 base=0 delta=0 met
support.refund latency_p99_ms 3000>0 by "" n=0 base=0 delta=0 not_measured
support.refund economics_cents_per_decision 1.5>0.0552 by "built-in" n=1 base=0 delta=0 met
`},
	} {
		ms := Measure(beside(demanding(t), c.cards...))
		if got := described(ms); got != c.want {
			t.Errorf("%s:\n%s\nwanted\n%s", c.name, got, c.want)
		}
		for _, m := range ms {
			holds(t, m)
		}
	}
}

// TestLoss: the worse direction is down for scores, and up for latency and cost.
func TestLoss(t *testing.T) {
	for _, m := range Metrics() {
		up := m == Latency || m == Economics
		if got := m.loss(1, 2) > 0; got != up || m.AtMost() != up {
			t.Errorf("%s: more is worse: %v", m, got)
		}
		if m.loss(3, 3) != 0 || m.loss(1, 2) != -m.loss(2, 1) {
			t.Errorf("%s: the loss is not the same both ways", m)
		}
	}
}

// TestOverlay: a scorecard measures the published bytes, also where the pack is
// looked at as an environment has it.
func TestOverlay(t *testing.T) {
	s := beside(demanding(t), scorecard(`"intents": [{"intent": "support.refund", "samples": 400, "candidate": {"policy": 1, "utility": 0.95, "safety": 1, "latency_p99_ms": 2100}}]`))
	resolved := *s.Unit
	resolved.Published = s.Unit.Document
	resolved.Document = gatetest.Read(gatetest.PackFile, gatetest.Edit(t, gatetest.Support(),
		finding.Operation{Op: "replace", Path: "/evaluation_layer/eval_targets/support.refund/utility", Value: "0.97"}))
	resolved.Pack = pack.New(resolved.Document)
	found, _ := gatetest.Judge(Gate, gate.NewSubject(&resolved, s.Environments, s.Config))
	if len(found) != 1 || found[0].Rule != "EVL007" || !strings.Contains(found[0].Message, "is 95 % (scorecards/0.json, 400 samples), target 97 %") {
		t.Errorf("found %v, wanted the tighter target to be missed", found)
	}
}

// What is measured once is what is measured each time, whatever the pack is compared with since.
func TestMeasuredOnce(t *testing.T) {
	open := func(name string) *gate.Subject { return gatetest.Open(t, "../../examples/acme-support", name) }
	before := open("support")
	s := open("support")
	for _, compared := range []struct {
		with  *gate.Subject
		equal bool
	}{{nil, false}, {before, false}, {before, true}, {open("support"), false}, {nil, false}} {
		s.Before, s.Equal = compared.with, compared.equal
		fresh := open("support")
		fresh.Before, fresh.Equal = compared.with, compared.equal
		was := survey(s)
		if len(was.measurements) == 0 || survey(s) != was {
			t.Errorf("what was measured, %d values, is not used again", len(was.measurements))
		}
		// A scorecard of another reading is another one.
		for _, all := range []*surveyed{was, findSurveyed(fresh)} {
			if got := words(all); got != words(findSurveyed(s)) {
				t.Errorf("compared with a version, %v, measured is\n%s, want\n%s", compared.with != nil, got, words(findSurveyed(s)))
			}
		}
		if against := s.Against(before); survey(against) == was || words(survey(against)) != words(findSurveyed(against)) {
			t.Error("a subject that is compared with another version says what it did without")
		}
	}
}

// words writes what was measured.
func words(s *surveyed) string {
	var b strings.Builder
	for _, m := range s.measurements {
		fmt.Fprintf(&b, "%s %s %v %v %v %d %s %d\n", m.Intent, m.Metric, m.Value.Value, m.Baseline.Value, m.Target.Value, m.Samples, m.Source, len(m.Failed))
	}
	fmt.Fprintf(&b, "%d %d %d %v", len(s.cards.own), len(s.cards.carried), len(s.carried), s.untried)
	return b.String()
}
