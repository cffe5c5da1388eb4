package jsonlogic

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSolve holds the answers to single conditions: the witness as JSON, or that
// there is none, with what is assumed; and the traps that a condition can be.
func TestSolve(t *testing.T) {
	const refund = `{"var": "amount"}`
	for _, c := range []struct{ about, rule, want string }{
		{"above", `{">": [{"var": "amount"}, 3000]}`, `{"amount":3001}`},
		{"up to", `{"<=": [{"var": "amount"}, 3000]}`, `{"amount":3000}`},
		{"above nothing", `{">": [{"var": "amount"}, 0]}`, `{"amount":1}`},
		{"below nothing", `{"<": [{"var": "amount"}, 0]}`, `{"amount":-1}`},
		{"within a unit", `{"<": [3, {"var": "amount"}, 4]}`, `{"amount":3.5}`},
		{"the constant first", `{"<": [3000, {"var": "amount"}]}`, `{"amount":3001}`},
		{"nested", `{"==": [{"var": "user.role"}, "admin"]}`, `{"user":{"role":"admin"}}`},
		{"another", `{"and": [{"!=": [{"var": "role"}, "other"]}, {"!=": [{"var": "role"}, "admin"]}]}`, `{"role":"other 2"}`},
		{"irrelevant", `{"or": [{"var": "a"}, {"var": "b"}]}`, `{"a":true}`},
		{"nothing wanted", `true`, `{}`},
		{"nothing possible", `false`, `unsatisfiable`},

		{"De Morgan", `{"and": [{"!": {"or": [{">": [` + refund + `, 10]}, {"var": "vip"}]}}, {"or": [{">": [` + refund + `, 20]}, {"var": "vip"}]}]}`, `unsatisfiable`},
		{"De Morgan, the other way", `{"and": [{"!": {"and": [{"==": [{"var": "a"}, 1]}, {"==": [{"var": "b"}, 1]}]}}, {"==": [{"var": "a"}, 1]}, {"==": [{"var": "b"}, 1]}]}`, `unsatisfiable`},
		{"two levels", `{"and": [{"or": [{"==": [{"var": "c"}, "CH"]}, {"==": [{"var": "c"}, "DE"]}]}, {"and": [{"!=": [{"var": "c"}, "CH"]}, {"!=": [{"var": "c"}, "DE"]}]}]}`, `unsatisfiable`},
		{"two levels, unknown may help", `{"and": [{"or": [{">": [` + refund + `, 1]}, {"var": "vip"}]}, {"!": {"var": "vip"}}, {"==": [` + refund + `, "1"]}]}`, `unsatisfiable`},
		{"empty between", `{"<": [5000, ` + refund + `, 3000]}`, `unsatisfiable`},
		{"between equal bounds", `{"<=": [3000, ` + refund + `, 3000]}`, `{"amount":3000}`},
		{"strictly between equal bounds", `{"<": [3000, ` + refund + `, 3000]}`, `unsatisfiable`},
		{"in nothing", `{"in": [{"var": "country"}, []]}`, `unsatisfiable`},
		{"in something", `{"in": [{"var": "country"}, ["CH", "DE"]]}`, `{"country":"CH"}`},
		{"in a missing list", `{"and": [{"in": ["vip", {"var": "tags"}]}, {"!": {"var": "tags"}}]}`, `unsatisfiable`},
		{"members", `{"and": [{"in": ["vip", {"var": "tags"}]}, {"!": {"in": ["new", {"var": "tags"}]}}, {"in": ["eu", {"var": "tags"}]}]}`, `{"tags":["vip","eu"]}`},
		{"null in a list", `{"in": [{"var": "x"}, [null]]}`, `{}`},
		{"not equal, present", `{"!=": [{"var": "status"}, "closed"]}`, `{"status":"other"}`},
		{"not equal holds where it is missing", `{"and": [{"!=": [{"var": "status"}, "closed"]}, {"missing": ["status"]}, {"!": {"===": [{"var": "status"}, ""]}}]}`, `{}`},
		{"text against number", `{"and": [{">": [` + refund + `, 3000]}, {"===": [` + refund + `, "4200"]}]}`, `unsatisfiable`},
		{"equal across types", `{"and": [{"==": [` + refund + `, 4200]}, {"===": [` + refund + `, "4200"]}]}`, `unsatisfiable`},
		{"neighbours", `{"<": [1, {"var": "x"}, 1.0000000000000002]}`, `unsatisfiable`},
		{"the largest", `{">": [{"var": "x"}, 1.7976931348623157e308]}`, `unsatisfiable`},

		{"a scalar is needed", `{"and": [{"!!": {"var": "x"}}, {"!=": [{"var": "x"}, null]}, {"!": {"in": [{"var": "x"}, [true]]}},
			{"!": {"===": [{"cat": [{"var": "x"}]}, ""]}}, {"==": [{"var": "x"}, "a"]}, {"!==": [{"var": "x"}, "a"]}]}`, `unsatisfiable`},
		{"an empty list is false, and not missing", `{"and": [{"!": {"var": "x"}}, {"!": {"missing": ["x"]}}, {"!==": [{"var": "x"}, 0]}, {"!==": [{"var": "x"}, false]}]}`,
			`unsatisfiable, taking [x] to be scalars`},
		{"a list that is searched", `{"and": [{"!": {"var": "x"}}, {"!": {"missing": ["x"]}}, {"!==": [{"var": "x"}, 0]}, {"!==": [{"var": "x"}, false]}, {"!": {"in": [1, {"var": "x"}]}}]}`,
			`{"x":[]}`},

		{"default", `{">": [{"var": ["x", 5]}, 3]}`, `{"x":4}`},
		{"default where it is missing", `{"and": [{">": [{"var": ["x", 5]}, 3]}, {"missing": ["x"]}]}`, `{}`},
		{"default, null is not missing", `{"and": [{"==": [{"var": ["x", 5]}, null]}, {"missing": ["x"]}]}`, `{"x":null}`},
		{"some missing", `{"missing_some": [2, ["a", "b", "c"]]}`, `{}`},
		{"enough there", `{"!": {"missing_some": [2, ["a", "b", "c"]]}}`, `{"a":"any","b":"any"}`},
		{"equality of booleans", `{"==": [{">": [{"var": "x"}, 3]}, {"<": [{"var": "x"}, 5]}]}`, `{"x":4}`},
		{"equality of booleans, impossible", `{"and": [{"==": [{">": [{"var": "x"}, 3]}, {"<=": [{"var": "x"}, 3]}]}]}`, `unsatisfiable`},
		{"value of if", `{"==": [{"if": [{"var": "vip"}, 5000, 3000]}, 5000]}`, `{"vip":true}`},
		{"limit by if", `{"and": [{"<=": [` + refund + `, {"if": [{"var": "vip"}, 5000, 3000]}]}, {">": [` + refund + `, 3000]}, {"!": {"var": "vip"}}]}`, `unsatisfiable`},
		{"value of or", `{"==": [{"or": [{"var": "nick"}, {"var": "name"}]}, "Ada"]}`, `{"nick":"Ada"}`},

		{"inside another", `{"and": [{"==": [{"var": "a.b"}, 1]}, {"===": [{"var": "a"}, 5]}]}`, `unsatisfiable`},
		{"inside another, possible", `{"and": [{"==": [{"var": "a.b"}, 1]}, {"!!": {"var": "a"}}]}`, `{"a":{"b":1}}`},
		{"length", `{"and": [{"==": [{"var": "a.length"}, 2]}, {"===": [{"var": "a"}, "xx"]}]}`, `undecided`},
		{"JavaScript, unknown", `{"and": [{"var": "b"}, {"!": {"in": [{"missing": ["a.constructor"]}, [1]]}}]}`, `{"b":true}`},
		{"JavaScript", `{"==": [{"var": "a.constructor"}, null]}`, `{}`},

		{"sum", `{">": [{"+": [{"var": "a"}, {"var": "b"}]}, 5000]}`, `{"a":5000,"b":1}`},
		{"sum, impossible", `{"and": [{">": [{"+": [{"var": "a"}, {"var": "b"}]}, 5000]}, {"<": [{"+": [{"var": "a"}, {"var": "b"}]}, 5000]}]}`, `unsatisfiable`},
		{"sum of one variable", `{"and": [{">": [{"+": [{"var": "a"}, 1]}, 5000]}, {"<": [{"var": "a"}, 5]}]}`, `unsatisfiable`},
		{"sum, not followed", `{"and": [{">": [{"+": [{"var": "a"}, {"var": "b"}]}, 5000]}, {"<": [{"var": "a"}, 5]}, {"<": [{"var": "b"}, 5]}]}`, `undecided`},
		{"sum, its parts are numbers", `{"and": [{">": [{"+": [{"var": "a"}, {"var": "b"}]}, 5000]}, {"==": [{"var": "a"}, null]}]}`, `unsatisfiable`},
		{"default in a sum", `{"and": [{">": [{"+": [{"var": ["a", 4000]}, 1000]}, 5000]}, {"missing": ["a"]}]}`, `unsatisfiable`},
		{"default in a sum, possible", `{"and": [{">": [{"+": [{"var": ["a", 4001]}, 1000]}, 5000]}, {"missing": ["a"]}]}`, `{}`},
		{"percent", `{"and": [{">": [{"*": [{"var": "a"}, 1.2]}, 3000]}, {"<=": [{"var": "a"}, 2500]}]}`, `unsatisfiable`},
		{"percent, possible", `{"<": [3000, {"/": [{"*": [{"var": "a"}, 120]}, 100]}, 3001]}`, `{"a":2500.416666666667}`},
		{"falling", `{"and": [{"<": [{"-": [100, {"var": "a"}]}, 40]}, {"<": [{"var": "a"}, 60]}]}`, `unsatisfiable`},
		{"falling, a point", `{"and": [{"<=": [{"-": [100, {"var": "a"}]}, 40]}, {"<=": [{"var": "a"}, 60]}]}`, `{"a":60}`},
		{"clamped", `{">": [{"min": [{"max": [{"var": "a"}, 0]}, 100]}, 100]}`, `unsatisfiable`},
		{"clamped, equal", `{"and": [{"===": [{"min": [{"var": "a"}, 100]}, 100]}, {"!=": [{"var": "a"}, 100]}]}`, `{"a":101}`},
		{"twice itself", `{"and": [{"==": [{"+": [{"var": "a"}, {"var": "a"}]}, 3]}, {"!=": [{"var": "a"}, 1.5]}]}`, `unsatisfiable`},
		{"too large", `{"!": {"or": [{">": [{"*": [{"var": "a"}, 1e300]}, 0]}, {"<=": [{"*": [{"var": "a"}, 1e300]}, 0]}, {"<": [{"var": "a"}, 1e9]}]}}`, `unsatisfiable`},
		{"remainder", `{"==": [{"%": [{"+": [{"*": [7, {"var": "a"}]}, 3]}, 1000]}, 444]}`, `{"a":63}`},
		{"remainder of much", `{"and": [{"===": [{"%": [{"var": "a"}, 7]}, 3]}, {">": [{"var": "a"}, 50000]}]}`, `{"a":50004}`},
		{"remainder, and more", `{">": [{"+": [{"%": [{"var": "a"}, 10]}, 90]}, 98]}`, `{"a":9}`},
		{"remainder, impossible", `{"==": [{"%": [{"var": "a"}, 7]}, 9]}`, `undecided`},
		{"two variables, no order", `{"and": [{"<": [{"var": "a"}, {"var": "b"}]}, {">=": [{"var": "a"}, {"var": "b"}]}]}`, `unsatisfiable`},
		{"two variables, the other way", `{"and": [{"!=": [{"var": "a"}, {"var": "b"}]}, {"==": [{"var": "b"}, {"var": "a"}]}]}`, `unsatisfiable`},
		{"two variables, one is missing", `{"and": [{"!": {"<": [{"var": "a"}, {"var": "b"}]}}, {"missing": ["a"]}, {"!==": [{"var": "a"}, ""]}]}`, `unsatisfiable`},
		{"two variables, one is null", `{"and": [{"==": [{"var": "a"}, {"var": "b"}]}, {"===": [{"var": "a"}, null]}, {"var": "b"}]}`, `unsatisfiable`},
		{"two variables of two types", `{"and": [{"!=": [{"var": "a"}, {"var": "b"}]}, {"===": [{"var": "a"}, 1]}, {"===": [{"var": "b"}, "1"]}]}`, `unsatisfiable`},
		{"between variables", `{"<": [2.5, {"var": "a"}, {"var": "b"}]}`, `{"a":3,"b":4}`},
		{"two variables, free", `{"and": [{"<": [{"var": "a"}, {"var": "b"}]}, {">": [{"var": "a"}, 3]}, {"<": [{"var": "b"}, 5]}]}`, `{"a":4,"b":4.5}`},
		{"two variables", `{"==": [{"var": "a"}, {"var": "b"}]}`, `{"a":"any","b":"any"}`},
		{"items", `{"some": [{"var": "items"}, {">": [{"var": "price"}, 100]}]}`, `{"items":[{"price":101}]}`},
		{"no items", `{"and": [{"some": [{"var": "items"}, {"var": "on"}]}, {"!": {"some": [{"var": "items"}, {"var": "on"}]}}]}`, `unsatisfiable`},
		{"part of a text", `{"in": ["@acme", {"var": "mail"}]}`, `{"mail":["@acme"]}`},
		{"nothing is part of every text", `{"and": [{"!==": [{"var": "x"}, ""]}, {"!": {"==": [{"var": "x"}, "q"]}}, {"!=": [{"var": "x"}, null]}, {"!": {"in": ["", {"var": "x"}]}}]}`, `unsatisfiable`},
		{"in a text", `{"in": [{"var": "x"}, "CH DE"]}`, `{"x":"CH DE"}`},
	} {
		if got := describe(t, Solve(IsTrue(compile(t, c.rule)))); got != c.want && !strings.HasPrefix(got, c.want+":") {
			t.Errorf("%s: got %s, want %s", c.about, got, c.want)
		}
	}
}

// describe writes an answer, and checks that it is one.
func describe(t *testing.T, a Answer) string {
	t.Helper()
	switch a.Verdict {
	case Satisfiable:
		if a.Witness == nil || a.Assumed != nil || a.Reason != "" {
			t.Errorf("%+v is no answer", a)
		}
		return show(a.Witness)
	case Unsatisfiable:
		if a.Witness != nil || a.Reason != "" || !slices.IsSorted(a.Assumed) {
			t.Errorf("%+v is no answer", a)
		}
		if len(a.Assumed) > 0 {
			return fmt.Sprintf("%s, taking %v to be scalars", a.Verdict, a.Assumed)
		}
		return a.Verdict.String()
	}
	if a.Witness != nil || a.Assumed != nil || a.Reason == "" {
		t.Errorf("%+v is no answer", a)
	}
	return a.Verdict.String() + ": " + a.Reason
}

// TestRules holds the questions that gates ask about several rules.
func TestRules(t *testing.T) {
	is := func(rule string) Formula { return IsTrue(compile(t, rule)) }
	above := func(limit int) string { return fmt.Sprintf(`{">": [{"var": "amount"}, %d]}`, limit) }
	upTo := func(limit int) string { return fmt.Sprintf(`{"<=": [{"var": "amount"}, %d]}`, limit) }
	refund := Is("request.intent", "refund")
	for _, c := range []struct {
		about string
		f     Formula
		want  string
	}{
		{"nothing said", Formula{}, `{}`},
		{"no alternative", Any(), `unsatisfiable`},
		{"an intent", refund, `{"request":{"intent":"refund"}}`},
		{"two intents", All(refund, Is("request.intent", "cancel")), `unsatisfiable`},
		{"the whole data", Is("", nil), `unsatisfiable`},
		{"no scalar", Is("a", []any{}), `unsatisfiable`},
		{"null", Is("a", nil), `{}`},
		{"not null", Not(Is("a", nil)), `{"a":"any"}`},
		{"unknown", IsUnknown(compile(t, above(3000))), `{}`},
		{"unknown of JavaScript's", IsUnknown(compile(t, `{"var": "ticket.link"}`)), `{"ticket":true}`},
		{"unknown of all JavaScript's", IsUnknown(compile(t, `{"==": [{"var": "ticket.constructor"}, 1]}`)), `{"ticket":{"constructor":"any"}}`},
		{"missing, and unknown", All(IsUnknown(compile(t, `{"missing": ["ticket.toString"]}`)), Is("b", 1.0)), `{"b":1,"ticket":{}}`},
		{"unknown, a text of digits", All(IsUnknown(compile(t, above(3000))), Is("amount", "4200")), `{"amount":"4200"}`},
		{"a number is never unknown", All(IsUnknown(compile(t, above(3000))), Is("amount", 4200.0)), `unsatisfiable`},
		{"not true is not false", All(Not(is(above(3000))), Not(IsFalse(compile(t, above(3000))))), `{}`},

		{"shadowed", All(is(above(5000)), Not(is(above(3000)))), `unsatisfiable`},
		{"shadowed only inside an interval", All(is(above(3000)), Not(is(`{"<": [3000, {"var": "amount"}, 5000]}`))), `{"amount":5000}`},
		{"shadowed by two together", All(is(above(3000)), Not(is(`{"<": [3000, {"var": "amount"}, 5000]}`)), Not(is(`{">=": [{"var": "amount"}, 5000]}`))), `unsatisfiable`},
		{"shadowed by two but for a point", All(is(above(3000)), Not(is(`{"<": [3000, {"var": "amount"}, 5000]}`)), Not(is(above(5000)))), `{"amount":5000}`},
		{"conflict only between", All(refund, is(above(3000)), is(upTo(5000))), `{"amount":5000,"request":{"intent":"refund"}}`},
		{"conflict strictly between", All(is(above(3000)), is(`{"<": [{"var": "amount"}, 5000]}`)), `{"amount":3001}`},
		{"a gate that is narrower than its rule", All(is(above(3000)), Not(Any(is(above(5000)), IsUnknown(compile(t, above(5000)))))), `{"amount":5000}`},
		{"a gate that is wider than its rule", All(is(above(5000)), Not(is(above(3000)))), `unsatisfiable`},
		{"gated on some paths only", All(Any(is(above(3000)), is(`{"==": [{"var": "vip"}, true]}`)), Not(is(above(3000)))),
			`{"amount":3000,"vip":true}`},
	} {
		got := Solve(c.f)
		if text := describe(t, got); text != c.want {
			t.Errorf("%s: got %s, want %s", c.about, text, c.want)
		}
		if got.Verdict == Satisfiable && !c.f.Holds(got.Witness) {
			t.Errorf("%s: %s is no witness", c.about, show(got.Witness))
		}
	}
	implied := Solve(All(is(above(3000)), refund, Not(Any(is(above(2000)), is(upTo(10))))))
	if got := describe(t, implied); got != "unsatisfiable" {
		t.Errorf("implies: got %s", got)
	}
}

// differ says that two expressions have different truths.
func differ(a, b *Expr) Formula {
	return Any(
		All(IsTrue(a), Not(IsTrue(b))), All(IsTrue(b), Not(IsTrue(a))),
		All(IsFalse(a), Not(IsFalse(b))), All(IsFalse(b), Not(IsFalse(a))),
	)
}

// TestEquivalent: the same true, false and unknown sets, and nothing less.
func TestEquivalent(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{">": [{"var": "x"}, 3]}`, `{"<": [3, {"var": "x"}]}`, `unsatisfiable`},
		{`{">": [{"var": "x"}, 3]}`, `{"!": {"<=": [{"var": "x"}, 3]}}`, `unsatisfiable`},
		{`{"<": [1, {"var": "x"}, 5]}`, `{"and": [{"<": [1, {"var": "x"}]}, {"<": [{"var": "x"}, 5]}]}`, `unsatisfiable`},
		{`{"in": [{"var": "x"}, ["a", "b"]]}`, `{"or": [{"===": [{"var": "x"}, "b"]}, {"===": [{"var": "x"}, "a"]}]}`, `unsatisfiable`},
		{`{"in": [{"var": "x"}, ["a", "b"]]}`, `{"or": [{"==": [{"var": "x"}, "b"]}, {"==": [{"var": "x"}, "a"]}]}`, `{"x":1}`},
		{`{"!": {"and": [{"var": "a"}, {"var": "b"}]}}`, `{"or": [{"!": {"var": "a"}}, {"!": {"var": "b"}}]}`, `unsatisfiable`},
		{`{"==": [{"var": "x"}, 1]}`, `{"===": [{"var": "x"}, 1]}`, `{"x":"any"}`},
		{`{">": [{"var": "x"}, 3]}`, `{"and": [{"!=": [{"var": "x"}, null]}, {">": [{"var": "x"}, 3]}]}`, `{}`},
		{`{">": [{"+": [{"var": "x"}, 1]}, 3]}`, `{"!": {"<=": [{"+": [{"var": "x"}, 1]}, 3]}}`, `unsatisfiable`},
		{`{"if": [{"var": "a"}, {"var": "b"}, false]}`, `{"and": [{"var": "a"}, {"var": "b"}]}`, `unsatisfiable`},
		{`{"missing": ["x"]}`, `{"!": {"var": "x"}}`, `{"x":false}`},
		{`{"==": [{"var": "x"}, null]}`, `{"in": [{"var": "x"}, [null]]}`, `unsatisfiable`},
	} {
		a, b := compile(t, c.a), compile(t, c.b)
		if got := describe(t, Solve(differ(a, b))); got != c.want {
			t.Errorf("%s and %s: got %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// TestLists: what is known to be a list is not taken to be a scalar.
func TestLists(t *testing.T) {
	rule := `{"and": [{"!": {"var": "x"}}, {"!": {"missing": ["x"]}}, {"!==": [{"var": "x"}, 0]}, {"!==": [{"var": "x"}, false]}]}`
	f := IsTrue(compile(t, rule))
	if got := describe(t, Solve(f)); got != "unsatisfiable, taking [x] to be scalars" {
		t.Errorf("got %s", got)
	}
	if got := describe(t, Solver{Lists: []string{"x"}}.Solve(f)); got != `{"x":[]}` {
		t.Errorf("as a list: got %s", got)
	}
	for rule, want := range map[string][]string{
		`{"in": ["a", {"var": "tags"}]}`: {"tags"},
		`{"in": [{"var": "a"}, ["b"]]}`:  nil,
		`{"and": [{"some": [{"if": [{"var": "c"}, {"var": "y"}, {"var": ["x", []]}]}, {"in": [1, {"var": "inner"}]}]}, {"merge": [{"var": "y"}]}]}`: {"x", "y"},
		`{"some": [{"filter": [{"var": "items"}, {"var": "on"}]}, {"var": ""}]}`:                                                                    {"items"},
	} {
		if got := compile(t, rule).Lists(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", rule, got, want)
		}
	}
}
