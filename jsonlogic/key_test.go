package jsonlogic

import (
	"bytes"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// hostile are names that joined texts cannot tell apart from other names, or from
// what is between names.
var hostile = []string{
	"", " ", "a", "b", "a b", "a,b", `a","b`, "a\x00", "\x00a", "\x00", "\x01", "\x1f", "\x7f", "a\x00b", "ab", "4", "4 []", "[]", "{}", "null",
	"true", "#", "#2", "(", ")", "a.b", ".", "..", "a.", ".a", "absent ", "absent a", "\u2028", "\"", `\"`, `\u0000`, "é", "e\u0301",
}

// conditionsOf are conditions of every shape over two names.
func conditionsOf(a, b string) []any {
	return []any{
		a, []any{a}, []any{a, b}, []any{[]any{a}, b}, []any{[]any{a, b}}, []any{a + b}, op(a, b), map[string]any{a: b},
		op("var", a), map[string]any{"var": a}, op("var", a, b), op("missing", a, b), op("missing", []any{a, b}),
		op("==", a, b), op("==", map[string]any{"var": a}, b), op("==", a, map[string]any{"var": b}),
		op("in", a, []any{b}), op("cat", a, b), op("cat", op("cat", a), b), op("cat", op("cat", a, b)),
	}
}

// TestKeysNeverCollide: conditions share a key exactly if their canonical JSON is
// the same, whatever names they are made of.
func TestKeysNeverCollide(t *testing.T) {
	known := map[Key][]byte{}
	count := 0
	note := func(text string) {
		n := read(t, text)
		form, err := pack.Canonical([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		key := KeyOf(n)
		if other, ok := known[key]; ok && !bytes.Equal(form, other) {
			t.Fatalf("%s and %s share a key", form, other)
		} else if !ok {
			count++
		}
		known[key] = form
		if x, _ := Compile(n); x != nil && KeyOf(x.Node()) != key {
			t.Errorf("%s: the expression has another key than its value", text)
		}
	}
	forms := map[string]bool{}
	for _, a := range hostile {
		for _, b := range hostile {
			for _, c := range conditionsOf(a, b) {
				text := source(t, c)
				form, _ := pack.Canonical([]byte(text))
				forms[string(form)] = true
				note(text)
			}
		}
	}
	if count != len(forms) || count < 10_000 {
		t.Errorf("%d keys of %d conditions", count, len(forms))
	}
}

// TestKeyOfSpellings: how a value is written makes no difference, and what it is
// does.
func TestKeyOfSpellings(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{">": [{"var": "x"}, 1]}`, "{\">\":[ {\"var\":\"x\"},1.0e0 ]}", true},
		{`{"==": [{"var": "x"}, "\u0061\/"]}`, `{"==": [{"var": "x"}, "a/"]}`, true},
		{`-0`, `0`, true},
		{`0.1`, `1e-1`, true},
		{`0.1`, `0.10000000000000002`, false},
		{`1`, `"1"`, false},
		{`1`, `true`, false},
		{`null`, `false`, false},
		{`{"var": "x"}`, `{"var": ["x"]}`, false},
		{`{"var": "x", "var": "y"}`, `{"var": "y"}`, false},
	} {
		doc := func(text string) *pack.Node {
			d, _ := pack.Read("rule.json", []byte(text), pack.Limits{MaxBytes: 1000, MaxDepth: 10, MaxValues: 100})
			return d.Root
		}
		if got := KeyOf(doc(c.a)) == KeyOf(doc(c.b)); got != c.same {
			t.Errorf("%s and %s share a key: %t, want %t", c.a, c.b, got, c.same)
		}
	}
	if KeyOf(nil) != (Key{}) || KeyOf(read(t, "null")) == (Key{}) {
		t.Error("nothing has a key")
	}
}

// TestProofsTellNamesApart: whatever variables and constants are called, and
// whatever is beside them, none is taken for another. The proof is asked whether
// two conditions can differ; that two of different names cannot is never true.
func TestProofsTellNamesApart(t *testing.T) {
	var names []string
	for _, name := range hostile {
		if x, _ := Compile(read(t, source(t, map[string]any{"var": name}))); x != nil {
			names = append(names, name)
		}
	}
	shapes := []func(a, b string) any{
		func(a, b string) any { return op("===", map[string]any{"var": a}, b) },
		func(a, b string) any { return op("==", map[string]any{"var": a}, map[string]any{"var": b}) },
		func(a, b string) any { return op("in", op("cat", map[string]any{"var": a}, b), []any{"x", b}) },
		func(a, b string) any { return op("missing", a, b) },
		func(a, b string) any { return op("===", op("var", a, b), "x") },
		func(a, b string) any {
			return op("some", map[string]any{"var": a}, op("===", map[string]any{"var": b}, "x"))
		},
	}
	keys := map[Key]string{}
	p := newProver(Formula{}, newBudget(nil, DefaultSteps))
	for _, shape := range shapes {
		for _, a := range names {
			for _, b := range names {
				text := source(t, shape(a, b))
				x := compile(t, text)
				if other, known := keys[x.root.key]; known && other != text {
					t.Fatalf("%s and %s share a key of the proof", text, other)
				}
				keys[x.root.key] = text
				p.expression(x)
			}
		}
	}
	read := map[string]bool{}
	for _, t := range p.terms {
		if t.opaque == nil {
			read[t.path.text] = true
		}
	}
	for _, name := range names {
		if !read[name] {
			t.Errorf("variable %q has no term of its own", name)
		}
	}
	if len(p.terms)-len(read) < len(names) || len(names) < 20 {
		t.Errorf("%d terms of %d names: the test has lost its power", len(p.terms), len(names))
	}
	for _, a := range names {
		b := a + "\u00a0"
		f := All(IsTrue(compile(t, source(t, op("==", map[string]any{"var": a}, 1)))), Is(b, "x"))
		if got := Solve(f); got.Verdict != Satisfiable {
			t.Errorf("%q and %q: %s", a, b, got.Verdict)
		}
	}
}

// TestPathsOfTheProfile: a path that names nothing of a request is a problem at its
// place.
func TestPathsOfTheProfile(t *testing.T) {
	long := strings.Repeat("a.", maxDepth)
	for _, c := range []struct{ path, want string }{
		{"\x00a", "the path of \"var\" has the control character U+0000, wanted names that can be read"},
		{"a.b\x1fc", "the path of \"var\" has the control character U+001F, wanted names that can be read"},
		{"a\u0085", "the path of \"var\" has the control character U+0085, wanted names that can be read"},
		{"a\n", "the path of \"var\" has the control character U+000A, wanted names that can be read"},
		{long + "b", "the path of \"var\" has 65 names, wanted at most 64"},
		{long[:len(long)-1], ""},
		{"é.\u2028", ""},
	} {
		for rule, as := range map[string]any{
			"the path of \"var\"": op("==", 1, map[string]any{"var": c.path}), "a key of \"missing\"": op("missing", "x", c.path),
			"a key of \"missing_some\"": op("missing_some", 1, []any{c.path}),
		} {
			_, problems := Compile(read(t, source(t, as)))
			want := strings.Replace(c.want, "the path of \"var\"", rule, 1)
			switch {
			case want == "" && len(problems) > 0, want != "" && (len(problems) != 1 || problems[0].Message != want || problems[0].Node.Text != c.path):
				t.Errorf("%.20q: %v, want %q", c.path, problems, want)
			}
		}
	}
}

// TestPathCost: the steps about a path are in proportion to its names.
func TestPathCost(t *testing.T) {
	cost := func(names int) int {
		path := strings.Repeat("a.", names-1) + "b"
		return spent(func(b *Budget) {
			if a := (Solver{Budget: b}).Solve(All(Is(path, 1.0), Not(Is("a", 1.0)))); a.Verdict != Satisfiable {
				t.Fatalf("%d names: %+v", names, a.Reason)
			}
		})
	}
	base, one, two := cost(1), cost(20_000), cost(40_000)
	if one-base < 20_000 || two-base > 3*(one-base) {
		t.Errorf("1 name takes %d steps, 20,000 take %d, 40,000 take %d", base, one, two)
	}
}
