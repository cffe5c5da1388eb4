package jsonlogic

import (
	"fmt"
	"slices"
	"testing"
)

func TestVariables(t *testing.T) {
	for rule, want := range map[string][]string{
		`{"and": [{">": [{"var": "b.c"}, 1]}, {"==": [{"var": ["a", {"var": "d"}]}, {"var": "b.c"}]}]}`: {"b.c", "a", "d", "b.c"},
		`{"if": [{"missing": ["x", "y.z"]}, {"missing_some": [{"var": "n"}, ["p", "q"]]}, null]}`:       {"x", "y.z", "n", "p", "q"},
		`{"some": [{"var": "items"}, {"and": [{"var": "price"}, {"missing": "id"}, {"var": ""}]}]}`:     {"items", "price (item)", "id (item)", " (item)"},
		`{"reduce": [{"var": "list"}, {"var": "current"}, {"var": "start"}]}`:                           {"list", "current (item)", "start"},
		`{"missing": {"merge": ["a", {"if": [{"var": "b"}, ["c", 1], {"missing": ["d"]}]}]}}`:           {"a", "b", "c", "1", "d"},
		`{"map": [{"filter": [{"var": "l"}, {"var": "on"}]}, {"some": [{"var": "tags"}, {"var": ""}]}]}`: {"l", "on (item)",
			"tags (item)", " (item)"},
		`{"==": [1, "var"]}`: nil,
	} {
		var got []string
		for _, v := range compile(t, rule).Variables() {
			name := v.Path
			if v.Scoped {
				name += " (item)"
			}
			if text := fmt.Sprint(v.Node.Any()); text != v.Path {
				t.Errorf("%s: variable %q stands at %q", rule, v.Path, text)
			}
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
}

// TestVariablesAreCopied: an expression does not change through what it gives.
func TestVariablesAreCopied(t *testing.T) {
	x := compile(t, `{"var": "a"}`)
	x.Variables()[0].Path = "b"
	if got := x.Variables()[0].Path; got != "a" {
		t.Errorf("the path is now %q", got)
	}
}

func TestConstant(t *testing.T) {
	for rule, want := range map[string]struct {
		truth    Truth
		constant bool
	}{
		`true`:                         {True, true},
		`[]`:                           {False, true},
		`{"==": [1, 1]}`:               {True, true},
		`{"==": [1, "1"]}`:             {Unknown, true},
		`{">": [1, 2]}`:                {False, true},
		`{"var": "a"}`:                 {Unknown, false},
		`{"missing": ["a"]}`:           {Unknown, false},
		`{"or": [true, {"var": "a"}]}`: {Unknown, false},
		`{"some": [[1, 2], {">": [{"var": ""}, 1]}]}`: {True, true},
	} {
		x := compile(t, rule)
		if truth, constant := x.Eval(nil).Truth, x.result != nil; constant != want.constant || constant && truth != want.truth {
			t.Errorf("%s: got %v, %v, want %v, %v", rule, truth, constant, want.truth, want.constant)
		}
	}
}

func TestNode(t *testing.T) {
	n := read(t, `{"if": {"var": "a"}}`).Get("if")
	x, _ := Compile(n)
	if x == nil || x.Node() != n {
		t.Errorf("the expression does not lead back to its node")
	}
}

func TestCompileNothing(t *testing.T) {
	if x, problems := Compile(nil); x != nil || len(problems) != 1 || problems[0].Node != nil {
		t.Errorf("got %v, %v, want one problem without a place", x, problems)
	}
}

// TestNearestOperator: a name that is close to none gets no suggestion.
func TestNearestOperator(t *testing.T) {
	for name, want := range map[string]string{
		"AND": "and", " or ": "or", "vra": "var", "va": "var", "vars": "var", "reduc": "reduce", "merg": "merge",
		"sub_str": "substr", "not": "!", "GTE": ">=", "": "", "x": "", "refund": "", "====": "", "~": "",
	} {
		if got := nearestOperator(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if oneEdit("and", "and") {
		t.Error("a word is one edit away from itself")
	}
}
