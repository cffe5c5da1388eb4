package jsonlogic

import (
	"bytes"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// hostile are names that joined texts cannot tell apart from other names, or from
// what stands between names.
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
		if x, _ := Compile(n); x != nil && x.Key() != key {
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
