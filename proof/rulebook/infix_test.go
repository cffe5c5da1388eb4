package rulebook_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
)

func TestCondition(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{`{"and": [{"==": [{"var": "user.role"}, "support_agent"]}, {">": [{"var": "request.context.refund_amount"}, 3000]}]}`,
			`user.role == "support_agent" and request.context.refund_amount > 3000`},
		{`{"and": [{"or": [{"var": "a"}, {"var": "b"}]}, {"and": [{"var": "c"}, {"!": [{"==": [{"var": "d"}, 1]}]}]}]}`, "(a or b) and c and not (d == 1)"},
		{`{"or": [{"and": [{"var": "a"}, {"var": "b"}]}, {"!": {"var": "c"}}]}`, "a and b or not c"},
		{`{"-": [{"var": "a"}, {"-": [{"var": "b"}, {"*": [{"+": [1, 2]}, -3]}]}]}`, "a - (b - (1 + 2) * (-3))"},
		{`{"==": [{"==": [1, 2]}, false]}`, "(1 == 2) == false"},
		{`{"<": [1, {"var": "a"}, 3]}`, "1 < a < 3"},
		{`{"in": [{"var": "a"}, ["x", 1, null, 1e400]]}`, ""},
		{`{"in": [{"var": "a"}, [1,2,3,4,5,6,7,8,9,10]]}`, "a in [1, 2, 3, 4, 5, 6, 7, 8, … 2 more]"},
		{`{"if": [{"var": "a"}, 1, {"var": "b"}, 2, 3]}`, "if a then 1 else if b then 2 else 3"},
		{`{">": [{"if": [{"var": "a"}, 1]}, 2]}`, "(if a then 1 else null) > 2"},
		{`{"some": [{"var": "items"}, {">": [{"var": "price"}, 3]}]}`, "some(items, item.price > 3)"},
		{`{"all": [{"var": "l"}, {"==": [{"var": ""}, {"var": "a b"}]}]}`, `all(l, item == var(item, "a b"))`},
		{`{"var": ["a.b", 3]}`, "default(a.b, 3)"},
		{`{"var": "a-b"}`, `var("a-b")`},
		{`{"var": "and"}`, `var("and")`},
		{`{"var": "a\" or true"}`, `var("a\" or true")`},
		{`{"missing": ["a", "b"]}`, `missing("a", "b")`},
		{`{"!!": [{"var": "a"}]}`, "truthy(a)"},
		{`{"-": [{"var": "a"}]}`, "-a"},
		{`{"==": [1]}`, `"=="(1)`},
		{`{"a b": {"c": 1, "d": 2}}`, `"a b"({"c":1,"d":2})`},
		{`{}`, "{}"}, {`[]`, "[]"}, {`null`, "null"}, {`"<a>"`, `"<a>"`}, {`{"var": []}`, "var()"}, {`{"var": {"var": "a"}}`, "var(a)"},
	} {
		d, faults := pack.Read("x.json", []byte(test.src), pack.DefaultLimits())
		if test.want == "" { // what the reader refuses never gets here
			if len(faults) == 0 {
				t.Errorf("%s is read", test.src)
			}
			continue
		}
		if got := rulebook.Condition(d.Root); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.src, got, test.want)
		}
	}
	if got := rulebook.Condition(nil); got != "…" {
		t.Errorf("a missing condition is %q", got)
	}
}

// A condition that is made to be long is cut.
func TestConditionIsBounded(t *testing.T) {
	for name, src := range map[string]string{
		"wide":  `{"and": [` + strings.Repeat(`{"var": "aaaaaaaaaaaaaaaa"},`, 5000) + `1]}`,
		"deep":  strings.Repeat(`{"!": [`, 30) + "1" + strings.Repeat("]}", 30),
		"text":  `{"==": [1, "` + strings.Repeat("x", 100_000) + `"]}`,
		"ifs":   `{"if": [` + strings.Repeat("1,2,", 5000) + `1]}`,
		"calls": `{"cat": [` + strings.Repeat("1,", 5000) + `1]}`,
		"lists": `[` + strings.Repeat(`[[1,2,3,4,5,6,7,8],1],`, 500) + `1]`,
	} {
		d, faults := pack.Read("x.json", []byte(src), pack.DefaultLimits())
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if n := utf8.RuneCountInString(rulebook.Condition(d.Root)); n > 6000 {
			t.Errorf("%s: %d characters", name, n)
		}
	}
}

// Any JSON value has a text, in one line.
func FuzzCondition(f *testing.F) {
	for _, seed := range []string{`{"and": [{"var": "a"}, {"<": [1, {"var": ["b", 2]}, 3]}]}`, `{"some": [{"var": "l"}, {"var": ""}]}`, `[{"!": []}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, _ := pack.Read("x.json", src, pack.DefaultLimits())
		if d.Root == nil {
			return
		}
		if text := rulebook.Condition(d.Root); text == "" || strings.ContainsAny(text, "\n\r\t") {
			t.Errorf("%q gives %q", src, text)
		}
	})
}
