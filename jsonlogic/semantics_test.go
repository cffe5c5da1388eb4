package jsonlogic

import (
	"math"
	"reflect"
	"testing"
)

// open is the expectation of an unknown value, of which at most the truth is
// known.
type open struct{ truth Truth }

var (
	undecided   = open{Unknown}
	openButTrue = open{True}
	openFalse   = open{False}
)

// semantics is what the profile promises, row by row. TestReference shows that
// the definite ones are those of the reference; here stands which are definite.
var semantics = []struct {
	about string
	rule  string
	data  string
	want  any // a value as decoded JSON, or open
}{
	// Equality is definite within one type and against null.
	{"numbers", `{"==": [{"var": "x"}, 1]}`, `{"x": 1}`, true},
	{"strings", `{"!=": [{"var": "x"}, "a"]}`, `{"x": "b"}`, true},
	{"booleans", `{"==": [{"var": "x"}, false]}`, `{"x": true}`, false},
	{"missing is null", `{"==": [{"var": "x"}, null]}`, `{}`, true},
	{"null is null", `{"==": [{"var": "x"}, null]}`, `{"x": null}`, true},
	{"missing is not false", `{"==": [{"var": "x"}, false]}`, `{}`, false},
	{"missing is not 0", `{"==": [{"var": "x"}, 0]}`, `{}`, false},
	{"missing differs from a string", `{"!=": [{"var": "x"}, "a"]}`, `{}`, true},
	{"null against a list", `{"==": [{"var": "x"}, null]}`, `{"x": []}`, false},
	{"null against an object", `{"!=": [null, {"var": "x"}]}`, `{"x": {}}`, true},
	{"number against string", `{"==": [{"var": "x"}, "1"]}`, `{"x": 1}`, undecided},
	{"string against number, unlike", `{"!=": [{"var": "x"}, 1]}`, `{"x": "abc"}`, undecided},
	{"boolean against number", `{"==": [{"var": "x"}, 1]}`, `{"x": true}`, undecided},
	{"boolean against string", `{"==": [{"var": "x"}, "true"]}`, `{"x": true}`, undecided},
	{"list against string", `{"==": [{"var": "x"}, "1"]}`, `{"x": [1]}`, undecided},
	{"list against list", `{"==": [{"var": "x"}, {"var": "x"}]}`, `{"x": [1]}`, undecided},
	{"object against boolean", `{"!=": [{"var": "x"}, true]}`, `{"x": {}}`, undecided},
	{"strict across types", `{"===": [{"var": "x"}, "1"]}`, `{"x": 1}`, false},
	{"strict across types, negated", `{"!==": [{"var": "x"}, true]}`, `{"x": 1}`, true},
	{"strict against a list", `{"===": [{"var": "x"}, "1"]}`, `{"x": ["1"]}`, false},
	{"strict, missing and null", `{"===": [{"var": "x"}, null]}`, `{}`, true},
	{"strict, one list", `{"===": [{"var": "x"}, {"var": "x"}]}`, `{"x": [1]}`, true},
	{"strict, equal lists", `{"===": [{"var": "x"}, [1]]}`, `{"x": [1]}`, false},
	{"strict, an empty list and a literal", `{"===": [{"var": "x"}, []]}`, `{"x": []}`, false},
	{"large numbers are floats", `{"==": [{"var": "x"}, 9007199254740992]}`, `{"x": 9007199254740993}`, true},

	// Search.
	{"in compares strictly", `{"in": [1, {"var": "x"}]}`, `{"x": ["1"]}`, false},
	{"in finds strictly", `{"in": [{"var": "x"}, ["a", "b"]]}`, `{"x": "b"}`, true},
	{"in, literal of another type", `{"in": [{"var": "x"}, ["1"]]}`, `{"x": 1}`, false},
	{"in is no range", `{"in": [5, [[1, 10]]]}`, `null`, false},
	{"in, 0 is no text", `{"in": [0, ["abc"]]}`, `null`, false},
	{"missing is not in a list", `{"in": [{"var": "x"}, ["a"]]}`, `{}`, false},
	{"missing is in a list with null", `{"in": [{"var": "x"}, ["a", null]]}`, `{}`, true},
	{"in a text", `{"in": ["b", {"var": "x"}]}`, `{"x": "abc"}`, true},
	{"in an empty text", `{"in": ["", {"var": "x"}]}`, `{"x": ""}`, false},
	{"a number in a text", `{"in": [1, {"var": "x"}]}`, `{"x": "123"}`, undecided},
	{"missing in a text", `{"in": [{"var": "m"}, {"var": "x"}]}`, `{"x": "abc"}`, undecided},
	{"in what is missing", `{"in": ["a", {"var": "x"}]}`, `{}`, false},
	{"in null", `{"in": ["a", {"var": "x"}]}`, `{"x": null}`, false},
	{"in an object", `{"in": ["a", {"var": "x"}]}`, `{"x": {"a": 1}}`, undecided},
	{"in a number", `{"in": ["a", {"var": "x"}]}`, `{"x": 0}`, undecided},
	{"in a list with an unknown, found", `{"in": [2, [{"+": [{"var": "x"}]}, 2]]}`, `{}`, true},
	{"a new list in a list of lists", `{"in": [[], {"var": "x"}]}`, `{"x": [1, []]}`, false},

	// Ordering needs numbers.
	{"order", `{">": [{"var": "x"}, 3000]}`, `{"x": 4200}`, true},
	{"order, missing", `{">": [{"var": "x"}, 3000]}`, `{}`, undecided},
	{"order, null", `{"<": [{"var": "x"}, 3000]}`, `{"x": null}`, undecided},
	{"order, numeric text", `{">": [{"var": "x"}, 3000]}`, `{"x": "4200"}`, undecided},
	{"order, boolean", `{"<=": [{"var": "x"}, 1]}`, `{"x": true}`, undecided},
	{"order, two texts", `{">": ["42", "3000"]}`, `null`, undecided},
	{"order, list", `{"<": [{"var": "x"}, 3000]}`, `{"x": [5]}`, undecided},
	{"missing is not at most 0", `{"<=": [{"var": "x"}, 0]}`, `{}`, undecided},
	{"between", `{"<=": [0, {"var": "x"}, 1]}`, `{"x": 1}`, true},
	{"between, missing", `{"<=": [0, {"var": "x"}, 1]}`, `{}`, undecided},
	{"between, the last missing", `{"<": [5, 4, {"var": "x"}]}`, `{}`, undecided},

	// Arithmetic needs numbers, and a finite result.
	{"sum", `{"+": [{"var": "x"}, 1]}`, `{"x": 2}`, 3.0},
	{"sum, missing", `{"+": [{"var": "x"}, 1]}`, `{}`, undecided},
	{"sum, null", `{"+": [{"var": "x"}, 1]}`, `{"x": null}`, undecided},
	{"sum, text", `{"+": ["a", 1]}`, `null`, undecided},
	{"sum, numeric text", `{"+": "3.14"}`, `null`, undecided},
	{"minimum, missing", `{"min": [{"var": "x"}, 1]}`, `{}`, undecided},
	{"division by zero", `{"/": [1, {"var": "x"}]}`, `{"x": 0}`, undecided},
	{"modulo by zero", `{"%": [1, {"var": "x"}]}`, `{"x": 0}`, undecided},
	{"overflow", `{"*": [{"var": "x"}, 10]}`, `{"x": 1e308}`, undecided},
	{"overflow on the way", `{"*": [{"var": "x"}, 10, 0.01]}`, `{"x": 1e308}`, undecided},
	{"subtraction takes two", `{"-": [5, 3]}`, `null`, 2.0},
	{"modulo keeps the sign", `{"%": [-5, 3]}`, `null`, -2.0},

	// Connectives follow Kleene; the value is that of the deciding operand.
	{"and gives the operand", `{"and": [1, 0]}`, `null`, 0.0},
	{"and of missing", `{"and": [{"var": "x"}]}`, `{}`, nil},
	{"and of null", `{"and": [null, true]}`, `null`, nil},
	{"a missing key is true, and false is false", `{"and": [{"missing": ["age"]}, false]}`, `{}`, false},
	{"unknown and false", `{"and": [{">": [{"var": "x"}, 1]}, false]}`, `{}`, openFalse},
	{"false and unknown", `{"and": [false, {">": [{"var": "x"}, 1]}]}`, `{}`, false},
	{"unknown and true", `{"and": [{">": [{"var": "x"}, 1]}, true]}`, `{}`, undecided},
	{"true and unknown", `{"and": [true, {">": [{"var": "x"}, 1]}]}`, `{}`, undecided},
	{"unknown or true", `{"or": [{">": [{"var": "x"}, 1]}, true]}`, `{}`, openButTrue},
	{"unknown or false", `{"or": [{">": [{"var": "x"}, 1]}, false]}`, `{}`, undecided},
	{"true or unknown", `{"or": [true, {">": [{"var": "x"}, 1]}]}`, `{}`, true},
	{"not unknown", `{"!": {">": [{"var": "x"}, 1]}}`, `{}`, undecided},
	{"not of what is certainly true", `{"!": {"or": [{">": [{"var": "x"}, 1]}, 5]}}`, `{}`, false},
	{"not not of what is certainly false", `{"!!": {"and": [{">": [{"var": "x"}, 1]}, 0]}}`, `{}`, false},
	{"and goes on after a certain truth", `{"and": [{"or": [{">": [{"var": "x"}, 1]}, 5]}, "v"]}`, `{}`, "v"},

	// Of an unknown branch only the truth is used.
	{"if", `{"if": [{"var": "x"}, "yes", "no"]}`, `{"x": 1}`, "yes"},
	{"if without else", `{"if": [{"var": "x"}, "yes"]}`, `{}`, nil},
	{"if, the branch not taken", `{"if": [false, {"+": [{"var": "x"}]}, "no"]}`, `{}`, "no"},
	{"if unknown, equal truth", `{"if": [{">": [{"var": "x"}, 1]}, 5, 6]}`, `{}`, openButTrue},
	{"if unknown, other truth", `{"if": [{">": [{"var": "x"}, 1]}, 5, 0]}`, `{}`, undecided},
	{"if unknown, later conditions", `{"if": [{">": [{"var": "x"}, 1]}, 5, false, 0, "e"]}`, `{}`, openButTrue},
	{"if unknown, without else", `{"if": [{">": [{"var": "x"}, 1]}, 0]}`, `{}`, openFalse},
	{"a comparison over it", `{"==": [{"if": [{">": [{"var": "x"}, 1]}, 5, 5]}, 5]}`, `{}`, undecided},
	{"arithmetic over it", `{"+": [{"or": [{">": [{"var": "x"}, 1]}, 5]}]}`, `{}`, undecided},
	{"strict equality over it", `{"!==": [{"and": [{">": [{"var": "x"}, 1]}, 0]}, 7]}`, `{}`, undecided},

	// Truthiness.
	{"an empty list is false", `{"!!": [[]]}`, `null`, false},
	{"a text 0 is true", `{"!": "0"}`, `null`, false},
	{"an empty object is true", `{"!!": {"var": "x"}}`, `{"x": {}}`, true},

	// Variables.
	{"default for what is missing", `{"var": ["x", 5]}`, `{}`, 5.0},
	{"no default for null", `{"var": ["x", 5]}`, `{"x": null}`, nil},
	{"a name that only lists and texts inherit", `{"var": ["x.map", 5]}`, `{"x": {}}`, 5.0},
	{"a name that all inherit", `{"var": ["x.valueOf", 5]}`, `{"x": {}}`, undecided},
	{"a name that all inherit, in the data", `{"var": ["x.valueOf", 5]}`, `{"x": {"valueOf": 1}}`, 1.0},
	{"default below null", `{"var": ["x.y", 5]}`, `{"x": null}`, 5.0},
	{"data is never a rule", `{"if": [true, {"var": "x"}]}`, `{"x": {"cat": ["pw", "ned"]}}`, map[string]any{"cat": []any{"pw", "ned"}}},
	{"nor in a test of items", `{"some": [[1], {"==": [{"var": "evil"}, true]}]}`, `{"evil": {"==": [1, 1]}}`, false},

	// Lists; an item hides the context.
	{"the item's variable", `{"all": [{"var": "items"}, {"<": [{"var": "risk"}, 5]}]}`, `{"risk": 1, "items": [{"risk": 9}]}`, false},
	{"all of nothing", `{"all": [{"var": "items"}, true]}`, `{"items": []}`, false},
	{"none of what is missing", `{"none": [{"var": "items"}, true]}`, `{}`, true},
	{"some of an object", `{"some": [{"var": "items"}, true]}`, `{"items": {}}`, undecided},
	{"some, decided in spite of an unknown", `{"some": [{"var": "items"}, {">": [{"var": ""}, 1]}]}`, `{"items": ["x", 2]}`, true},
	{"all, decided in spite of an unknown", `{"all": [{"var": "items"}, {">": [{"var": ""}, 1]}]}`, `{"items": ["x", 0]}`, false},
	{"none, undecided", `{"none": [{"var": "items"}, {">": [{"var": ""}, 1]}]}`, `{"items": ["x", 0]}`, undecided},
	{"map, one item unknown", `{"map": [{"var": "items"}, {"+": [{"var": ""}]}]}`, `{"items": ["x", 0]}`, openButTrue},
	{"filter, one item unknown", `{"filter": [{"var": "items"}, {">": [{"var": ""}, 1]}]}`, `{"items": ["x", 0]}`, undecided},
	{"filter keeps what is certain", `{"filter": [{"var": "items"}, {">": [{"var": ""}, 1]}]}`, `{"items": ["x", 2]}`, openButTrue},
	{"reduce", `{"reduce": [{"var": "items"}, {"+": [{"var": "current"}, {"var": "accumulator"}]}, 0]}`, `{"items": [1, 2]}`, 3.0},
	{"part of an item that is unknown but true", `{"some": [[{"or": [{">": [{"var": "x"}, 1]}, 5]}], {"var": "a"}]}`, `{}`, undecided},
	{"an item that is unknown but true", `{"some": [[{"or": [{">": [{"var": "x"}, 1]}, 5]}], {"var": ""}]}`, `{}`, true},
	{"a key of an item that is unknown", `{"some": [[{"+": [{"var": "x"}]}], {"missing": ["a"]}]}`, `{}`, undecided},
	{"an item of an unknown list", `{"map": [[{"+": [{"var": "x"}]}], {"var": ["a", 1]}]}`, `{}`, openButTrue},

	// Texts and keys.
	{"cat leaves out what is missing", `{"cat": ["a", {"var": "x"}, 1.5, true]}`, `{}`, "a1.5true"},
	{"cat of a list", `{"cat": ["a", {"var": "x"}]}`, `{"x": [1]}`, undecided},
	{"substr beyond the end", `{"substr": ["abc", 5]}`, `null`, ""},
	{"substr of nothing, within a character", `{"substr": ["a😀b", 2, 0]}`, `null`, ""},
	{"missing counts empty texts", `{"missing": ["x", "y", "z"]}`, `{"x": "", "y": null}`, []any{"x", "y", "z"}},
	{"missing does not count 0", `{"missing": ["x", "y"]}`, `{"x": 0, "y": false}`, []any{}},
	{"enough is there", `{"missing_some": [1, ["x", "y"]]}`, `{"x": 0}`, []any{}},
	{"keys that are no list", `{"missing_some": [1, {"if": [false, ["x"]]}]}`, `{}`, undecided},
	{"keys that are unknown", `{"missing_some": [1, {"if": [{">": [{"var": "x"}, 1]}, ["x"], []]}]}`, `{}`, undecided},
	{"a key that is unknown", `{"missing": {"merge": ["y", {"if": [{">": [{"var": "x"}, 1]}, "x", "z"]}]}}`, `{}`, undecided},
	{"one key in a list with an unknown one", `{"missing": [["y", {"if": [{">": [{"var": "x"}, 1]}, "x", "z"]}]]}`, `{}`, undecided},
	{"not enough is there", `{"missing_some": [2, ["x", "y"]]}`, `{"x": 0}`, []any{"y"}},
}

func TestSemantics(t *testing.T) {
	for _, row := range semantics {
		t.Run(row.about, func(t *testing.T) {
			got := compile(t, row.rule).Eval(decode(t, row.data))
			if want, ok := row.want.(open); ok {
				if got.Cause == nil || got.Value != nil || got.Truth != want.truth {
					t.Errorf("%s over %s: got %v, want no value and truth %v", row.rule, row.data, got, want.truth)
				}
				return
			}
			if got.Cause != nil || !reflect.DeepEqual(got.Value, row.want) {
				t.Errorf("%s over %s: got %v (%v), want %v", row.rule, row.data, got.Value, got.Cause, row.want)
			}
			if got.Truth != truth(row.want) {
				t.Errorf("%s over %s: truth %v, want %v", row.rule, row.data, got.Truth, truth(row.want))
			}
		})
	}
}

// TestNegativeZero: a result of zero is written as 0, whatever its sign.
func TestNegativeZero(t *testing.T) {
	for _, rule := range []string{`{"-": 0}`, `{"*": [-1, 0]}`, `{"%": [-4, 2]}`, `{"min": [0, {"var": "zero"}]}`} {
		if got := show(compile(t, rule).Eval(map[string]any{"zero": math.Copysign(0, -1)}).Value); got != "0" {
			t.Errorf("%s: got %s, want 0", rule, got)
		}
	}
}

// TestForeignData: what is no decoded JSON is unknown, wherever it stands.
func TestForeignData(t *testing.T) {
	data := map[string]any{"x": 5, "list": []any{int64(1)}, "object": map[string]any{"y": []string{"a"}}}
	for _, rule := range []string{
		`{"var": "x"}`, `{"!": {"var": "x"}}`, `{"==": [{"var": "x"}, 5]}`, `{"var": "x.y"}`, `{"in": [1, {"var": "list"}]}`,
		`{"some": [{"var": "list"}, {"var": ""}]}`, `{"missing": ["x.y"]}`, `{"==": [{"var": "object.y"}, null]}`,
	} {
		if got := compile(t, rule).Eval(data); got.Truth != Unknown || got.Cause == nil {
			t.Errorf("%s: got %v, want unknown", rule, got)
		}
	}
	for _, rule := range []string{`{"var": "list"}`, `{"var": "object"}`, `{"filter": [{"var": "list"}, true]}`} {
		if got := compile(t, rule).Eval(data); got.Truth != True || got.Cause == nil || got.Value != nil {
			t.Errorf("%s: got %v, want a true value that is not definite", rule, got)
		}
	}
	if got := compile(t, `[{"var": "list"}]`).Eval(data); got.Cause.String() != "the data holds a Go int64, wanted decoded JSON" {
		t.Errorf("got %q", got.Cause)
	}
	if got := truth(int64(1)); got != Unknown {
		t.Errorf("the truth of a Go int64 is %v, want unknown", got)
	}
}

func TestTruth(t *testing.T) {
	for truth, want := range map[Truth]struct {
		text string
		not  Truth
	}{Unknown: {"unknown", Unknown}, False: {"false", True}, True: {"true", False}} {
		if truth.String() != want.text || truth.Not() != want.not {
			t.Errorf("%d: got %v and %v, want %v", truth, truth, truth.Not(), want)
		}
	}
}
