package rulebook_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/test/gatetest"
)

const amount = `{"var": "request.context.refund_amount"}`

// ruleOf returns a rule of the support pack's refund.
func ruleOf(id, condition, outcomes string) string {
	return fmt.Sprintf(`{"rule_id": %q, "applies_to": {"intent": "support.refund"}, "decision_binding": "support.refund.execute", "if": %s, %s}`,
		id, condition, outcomes)
}

const (
	allow = `"then": {"allow": true}`
	deny  = `"then": {"allow": false}`
	gated = `"then": {"allow": true, "requires_approval_gate": "GATE_FINANCE_APPROVAL"}`
)

// edited returns the support pack after some edits.
func edited(t testing.TB, operations ...finding.Operation) *pack.Pack {
	t.Helper()
	d, _ := pack.Read("pack.json", gatetest.Support(), pack.DefaultLimits())
	src, err := pack.Edit(d, operations)
	if err != nil {
		t.Fatal(err)
	}
	d, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return pack.New(d)
}

// with returns the support pack with other rules.
func with(t testing.TB, rules ...string) *pack.Pack {
	return edited(t, finding.Operation{
		Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules", Value: "[" + strings.Join(rules, ",") + "]",
	})
}

// The eligibility_rules of a decision stand before the rules of its intent, deny it to who is
// not eligible, and leave no gap where they do.
func TestEligibility(t *testing.T) {
	condition := `{">": [` + amount + `, 10]}`
	rule := ruleOf("R", condition, allow)
	op := finding.Operation{Op: "add", Path: "/decision_layer/decision_specs/0/eligibility_rules", Value: condition}
	src, err := pack.Edit(with(t, rule).Node.Document(), []finding.Operation{op})
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := pack.Read("pack.json", src, pack.DefaultLimits())
	b := rulebook.New(t.Context(), pack.New(doc))
	rules := b.Intents[0].Rules
	if len(rules) != 2 || rules[0].ID != "eligibility_rules of support.refund.execute" || rules[1].ID != "R" {
		t.Fatalf("the rules are %+v", rules)
	}
	g := rules[0]
	if g.Condition != rules[1].Condition || g.Then != nil || g.Else == nil || *g.Else.Allow || g.Decision != "support.refund.execute" || len(g.Problems) > 0 ||
		g.Rests.State != rulebook.Found || g.Line == 0 || g.Bundle != "" || g.EveryIntent {
		t.Errorf("it is shown as %+v", g)
	}
	for _, gap := range b.Intents[0].Gaps {
		if gap.Kind == rulebook.Silence && gap.State != rulebook.None {
			t.Errorf("who is not eligible is denied, and the gap is %+v", gap)
		}
	}
	if names := rulebook.Names(pack.New(doc)); !slices.Equal(names, []string{"R", g.ID}) {
		t.Errorf("the names are %q", names)
	}
	if alone := find(t, rulebook.Explain(t.Context(), pack.New(doc), g.ID), g.ID); alone.Unknown == nil || alone.Condition != g.Condition || !slices.Contains(alone.SameDecision, "R") {
		t.Errorf("alone it is shown as %+v", alone)
	}
	if rulebook.Explain(t.Context(), pack.New(doc), "eligibility_rules of support.other") != nil {
		t.Error("a decision without any is explained")
	}
	if without := rulebook.New(t.Context(), with(t, rule)); len(without.Intents[0].Rules) != 1 || without.Intents[0].Gaps[0].State != rulebook.Found {
		t.Errorf("without them the book is %+v", without.Intents)
	}
}

// find returns a rule of a book that has one intent.
func find(t *testing.T, b *rulebook.Book, id string) rulebook.Rule {
	t.Helper()
	if len(b.Intents) != 1 {
		t.Fatalf("the book has %d intents", len(b.Intents))
	}
	for _, r := range b.Intents[0].Rules {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("the book has no rule %s", id)
	return rulebook.Rule{}
}

// what says a rule's shadows and overlaps in short.
func what(r rulebook.Rule) string {
	var said []string
	for _, s := range r.Shadows {
		said = append(said, fmt.Sprint(s.Outcome, " ", s.Effect, " ", slices.Concat(s.Denied, s.Stopped, s.Said)))
	}
	for _, o := range r.Overlaps {
		said = append(said, fmt.Sprint(o.Outcome, " meets ", o.With, " ", o.Other, " ", o.Differs))
	}
	for _, reason := range r.NotProved {
		said = append(said, "not proved "+reason)
	}
	return strings.Join(said, "\n")
}

func TestRelations(t *testing.T) {
	below := func(n int) string { return fmt.Sprintf(`{"<": [%s, %d]}`, amount, n) }
	between := func(a, b int) string { return fmt.Sprintf(`{"<": [%d, %s, %d]}`, a, amount, b) }
	verified, fraud := `{"var": "user.verified"}`, `{"var": "request.context.fraud"}`
	for _, test := range []struct {
		name        string
		first, then string // the rules R_1 and R_2
		more        string // R_3, if there is one
		want        string // of R_2
	}{
		{"denied everywhere", ruleOf("R_1", below(5000), deny), ruleOf("R_2", between(1000, 3000), allow), "",
			"then never_decides [R_1]\nthen meets R_1 then [denies]"},
		{"denied only inside an interval", ruleOf("R_1", between(1000, 2000), deny), ruleOf("R_2", between(500, 3000), allow), "",
			"then meets R_1 then [denies]"},
		{"denied by two together", ruleOf("R_1", below(2000), deny), ruleOf("R_2", between(1000, 3000), allow),
			ruleOf("R_3", `{">=": [`+amount+`, 2000]}`, deny), "then never_decides [R_1 R_3]\nthen meets R_1 then [denies]\nthen meets R_3 then [denies]"},
		{"a hole between two denies", ruleOf("R_1", below(2000), deny), ruleOf("R_2", between(1000, 3000), allow),
			ruleOf("R_3", `{">": [`+amount+`, 2000]}`, deny), "then meets R_1 then [denies]\nthen meets R_3 then [denies]"},
		{"borders that only touch", ruleOf("R_1", below(3000), deny), ruleOf("R_2", `{">=": [`+amount+`, 3000]}`, allow), "", ""},
		{"De Morgan contradiction", ruleOf("R_1", `{"!": [{"and": [`+verified+`, {"!": [`+fraud+`]}]}]}`, deny),
			ruleOf("R_2", `{"or": [{"!": [`+verified+`]}, `+fraud+`]}`, allow), "", "then never_decides [R_1]\nthen meets R_1 then [denies]"},
		{"De Morgan complement", ruleOf("R_1", `{"!": [{"and": [`+verified+`, {"!": [`+fraud+`]}]}]}`, deny),
			ruleOf("R_2", `{"and": [`+verified+`, {"!": [`+fraud+`]}]}`, allow), "", ""},
		{"the same said before", ruleOf("R_1", below(5000), allow), ruleOf("R_2", below(3000), allow), "", "then adds_nothing [R_1]"},
		{"wider than what was said", ruleOf("R_1", below(3000), allow), ruleOf("R_2", below(5000), allow), "", ""},
		{"narrower, with a gate", ruleOf("R_1", below(5000), allow), ruleOf("R_2", below(3000), gated), "", "then meets R_1 then [names no gate]"},
		{"an else that denies", ruleOf("R_1", `{"==": [`+verified+`, true]}`, allow+`, "else": {"allow": false}`), ruleOf("R_2", below(3000), allow), "",
			"then meets R_1 else [denies]"},
		{"unknown wherever it holds", ruleOf("R_1", `{">": [`+verified+`, 3]}`, allow), ruleOf("R_2", `{"===": [`+verified+`, true]}`, allow), "",
			"then never_decides [R_1]"},
		{"other texts wanted", ruleOf("R_1", `{"and": [{"==": ["a", {"var": "user.role"}]}, `+below(9)+`]}`, deny),
			ruleOf("R_2", `{"and": [`+below(9)+`, {"===": [{"var": "user.role"}, "b"]}]}`, allow), "", ""},
		{"other texts, not wanted", ruleOf("R_1", `{"or": [{"==": [{"var": "user.role"}, "a"]}, `+below(9)+`]}`, deny),
			ruleOf("R_2", `{"!": [{"===": [{"var": "user.role"}, "b"]}]}`, allow), "", "then meets R_1 then [denies]"},
		{"not enforced", strings.Replace(ruleOf("R_1", "true", deny), "{", `{"non_enforcing": true, `, 1), ruleOf("R_2", below(3000), allow), "", ""},
		{"another decision", strings.Replace(ruleOf("R_1", "true", deny), "support.refund.execute", "support.other", 1), ruleOf("R_2", below(3000), allow), "", ""},
		{"bound to none", strings.Replace(ruleOf("R_1", "true", deny), `"decision_binding": "support.refund.execute", `, "", 1),
			ruleOf("R_2", below(3000), allow), "", "then never_decides [R_1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := []string{test.first, test.then}
			if test.more != "" {
				rules = append(rules, test.more)
			}
			if got := what(find(t, rulebook.New(t.Context(), with(t, rules...)), "R_2")); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestExamples(t *testing.T) {
	for _, test := range []struct{ condition, fires, rests, unknown string }{
		{`{">": [` + amount + `, 3000]}`, "request.context.refund_amount = 3001", "request.context.refund_amount = 3000", "a request that says nothing more"},
		{`{"<": [5000, ` + amount + `, 3000]}`, "none", "request.context.refund_amount = 3000", "a request that says nothing more"},
		{`{"and": [{">": [` + amount + `, 1]}, {"<": [` + amount + `, 1]}]}`, "none", "request.context.refund_amount = 1", "a request that says nothing more"},
		{"true", "a request that says nothing more", "none", "none"},
		{`{"===": [{"var": "user.role"}, "a\nb"]}`, `user.role = "a\nb"`, `user.role = ""`, "none"},
	} {
		b := rulebook.Explain(t.Context(), with(t, ruleOf("R_1", test.condition, allow)), "R_1")
		r := find(t, b, "R_1")
		for i, x := range []*rulebook.Example{r.Fires, r.Rests, r.Unknown} {
			want := []string{test.fires, test.rests, test.unknown}[i]
			if got := strings.TrimPrefix(x.Words+x.Reason+string(x.State), x.Words+"request"); got != "" && got != want || got == "" && x.Words != want {
				t.Errorf("%s, %d: got %q %q, want %q", test.condition, i, x.Words, x.State, want)
			}
		}
		if x := r.Unknown; x.State == rulebook.Found && (x.Variable != "request.context.refund_amount" || x.Because == "") {
			t.Errorf("%s: unknown because of %q, %q", test.condition, x.Variable, x.Because)
		}
	}
}

// A proof that leans on a variable being a single value says so.
func TestAssumed(t *testing.T) {
	condition := strings.ReplaceAll(`{"and": [{"!": [V]}, {"!": [{"missing": ["x"]}]}, {"!==": [V, 0]}, {"!==": [V, false]}, {"!==": [V, ""]}]}`, "V", `{"var": "x"}`)
	b := rulebook.New(t.Context(), with(t, ruleOf("R_1", condition, allow)))
	if r := find(t, b, "R_1"); r.Fires.State != rulebook.None || !slices.Equal(b.Assumed, []string{"x"}) {
		t.Errorf("got %+v, assuming %v", r.Fires, b.Assumed)
	}
	if b := rulebook.New(t.Context(), with(t, ruleOf("R_1", `{"<": [3, {"var": "x"}, 2]}`, allow))); len(b.Assumed) > 0 {
		t.Errorf("got %v assumed without need", b.Assumed)
	}
}

func TestGaps(t *testing.T) {
	high := `{">": [` + amount + `, 5000]}`
	low := `{">": [` + amount + `, 1000]}`
	always := `{"==": [1, 1]}`
	for _, test := range []struct {
		name  string
		rules []string
		want  string
	}{
		{"silence", []string{ruleOf("R_1", high, allow)}, "silence support.refund.execute request.context.refund_amount = 5000"},
		{"an else", []string{ruleOf("R_1", high, allow+`, "else": {"allow": false}`)}, "silence support.refund.execute none"},
		{"covered together", []string{ruleOf("R_1", high, allow), ruleOf("R_2", `{"<=": [`+amount+`, 5000]}`, deny)}, "silence support.refund.execute none"},
		{"idle gate", []string{ruleOf("R_1", low, gated), ruleOf("R_2", always, allow)},
			"silence support.refund.execute none\nidle_gate GATE_FINANCE_APPROVAL request.context.refund_amount = 3000"},
		{"gate in step", []string{ruleOf("R_1", high, gated+`, "else": {"allow": false}`)},
			"silence support.refund.execute none\nidle_gate GATE_FINANCE_APPROVAL none"},
		{"unreadable", []string{ruleOf("R_1", high, allow), ruleOf("R_2", `{"foo": [1]}`, deny)},
			"silence support.refund.execute not proved R_2 cannot be read"},
		{"no such gate", []string{ruleOf("R_1", always, strings.Replace(gated, "FINANCE", "X", 1))},
			"silence support.refund.execute none\nidle_gate GATE_X_APPROVAL not proved the pack has no such gate"},
	} {
		var got []string
		for _, g := range rulebook.New(t.Context(), with(t, test.rules...)).Intents[0].Gaps {
			answer := map[rulebook.State]string{rulebook.None: "none", rulebook.NotProved: "not proved " + g.Reason, rulebook.Found: g.Words}[g.State]
			got = append(got, fmt.Sprintf("%s %s %s", g.Kind, g.Name, answer))
		}
		if text := strings.Join(got, "\n"); text != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, text, test.want)
		}
	}
}

// Rules come in the order of evaluation: bundles by descending priority, then
// the order of the document.
func TestOrder(t *testing.T) {
	p := edited(t, finding.Operation{Op: "add", Path: "/policy_layer/policy_bundles/-", Value: `{"bundle_id": "B", "priority": 20,
		"policy_dsl": {"language": "jsonlogic", "rules": [` + ruleOf("R_FIRST", "true", allow) + `, {"rule_id": "R_X", "applies_to": {"intent": 3}}, 7]}}`})
	b := rulebook.New(t.Context(), p)
	var got []string
	for _, r := range b.Intents[0].Rules {
		got = append(got, r.ID)
	}
	if want := []string{"R_FIRST", "R_REFUND_REQUIRES_IDV", "R_HIGH_VALUE_REQUIRES_APPROVAL"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(b.Unplaced) != 2 || len(b.Unplaced[0].Problems) == 0 {
		t.Errorf("got %+v without a place", b.Unplaced)
	}
}

// Every request in a book is one that the compiler lets in, and it does what the book
// says.
func TestRequestsAreTrue(t *testing.T) {
	rules := append(many(30), ruleOf("R_HIGH", `{">": [`+amount+`, 5000]}`, gated))
	for i, condition := range []string{
		`{"!=": [{"var": "tenant_id"}, "x"]}`, `{"===": [{"var": "safety_mode"}, "delegated"]}`, `{"in": ["a", {"var": "request.message"}]}`,
		`{"==": [{"var": "intent"}, null]}`, `{"missing": ["user.role", "tenant_id", "safety_mode"]}`, `{"<": [{"var": "run_budget.total_tokens"}, 9]}`,
	} {
		rules = append(rules, ruleOf(fmt.Sprintf("S_%d", i), condition, gated+`, "else": {"allow": false}`))
	}
	p := with(t, rules...)
	m := proof.New(p)
	when := map[string]*jsonlogic.Expr{}
	for _, r := range m.Rules {
		when[r.RuleID.Value] = r.When.Expr
	}
	compiled := func(request map[string]any) (map[string]any, *compiler.Result) {
		r := proof.Request(p, request)
		result, err := m.Program().Compile(r)
		if err != nil || result.Outcome == compiler.Refused {
			t.Fatalf("%v is refused: %v %v", request, err, result)
		}
		return r.Data(), result
	}
	holds := map[string]jsonlogic.Truth{"then": jsonlogic.True, "else": jsonlogic.False}
	b, shown := rulebook.New(t.Context(), p), map[string]int{}
	for _, r := range b.Intents[0].Rules {
		unknown := find(t, rulebook.Explain(t.Context(), p, r.ID), r.ID).Unknown
		for truth, x := range map[jsonlogic.Truth]*rulebook.Example{jsonlogic.True: r.Fires, jsonlogic.False: r.Rests, jsonlogic.Unknown: unknown} {
			shown[string(x.State)]++
			if x.State != rulebook.Found {
				continue
			}
			if data, _ := compiled(x.Request); when[r.ID].Eval(data).Truth != truth {
				t.Errorf("%s is not %v for %s", r.ID, truth, x.Words)
			}
		}
		for _, o := range r.Overlaps {
			shown["overlap"]++
			if data, _ := compiled(o.Request); when[r.ID].Eval(data).Truth != holds[o.Outcome] || when[o.With].Eval(data).Truth != holds[o.Other] {
				t.Errorf("%s and %s do not meet for %s", r.ID, o.With, o.Words)
			}
		}
	}
	for _, g := range b.Intents[0].Gaps {
		shown[string(g.Kind)]++
		if g.State != rulebook.Found {
			continue
		}
		if _, result := compiled(g.Request); result.Outcome != compiler.Compiled {
			t.Errorf("%s of %s is shown by a request that stops", g.Kind, g.Name)
		}
	}
	for _, what := range []string{"request", "none", "overlap", "silence", "idle_gate"} {
		if shown[what] == 0 {
			t.Errorf("the book shows nothing of %q", what)
		}
	}
}

// What is no request of the pack is not in its book.
func TestNoRequest(t *testing.T) {
	for _, condition := range []string{
		`{"==": [{"var": "tenant_id"}, "tenant_of_somebody_else"]}`, `{"==": [{"var": "request.intent"}, "another"]}`,
		`{"===": [{"var": "safety_mode"}, "reckless"]}`, `{"===": [{"var": "request.message"}, null]}`,
	} {
		if r := find(t, rulebook.New(t.Context(), with(t, ruleOf("R_1", condition, allow))), "R_1"); r.Fires.State != rulebook.None {
			t.Errorf("%s is true for %+v", condition, r.Fires)
		}
	}
}

func TestExplain(t *testing.T) {
	p := with(t, ruleOf("R_1", `{"<": [`+amount+`, 5000]}`, deny), ruleOf("R_2", `{"<": [`+amount+`, 3000]}`, allow),
		ruleOf("R_3", `{">": [`+amount+`, 9000]}`, deny))
	b := rulebook.Explain(t.Context(), p, "R_1")
	r := find(t, b, "R_1")
	if len(b.Intents[0].Rules) != 1 || !slices.Equal(r.ShadowsOthers, []string{"R_2"}) || !slices.Equal(r.SameDecision, []string{"R_3"}) || len(r.Overlaps) != 1 {
		t.Errorf("got %+v", r)
	}
	if rulebook.Explain(t.Context(), p, "R_4") != nil || rulebook.Explain(t.Context(), p, "") != nil {
		t.Error("a rule that does not exist is explained")
	}
}
