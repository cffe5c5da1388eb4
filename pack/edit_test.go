package pack

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
)

// What an operation adds is laid out like its neighbours, and the rest keeps
// its bytes.
func TestEditKeepsTheLayout(t *testing.T) {
	const indented = "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {\"x\": 1}\n}\n"
	for _, c := range []struct{ name, src, op, path, value, want string }{
		{"replace", indented, "replace", "/a/1", "7", strings.Replace(indented, "2", "7", 1)},
		{"remove the first item", indented, "remove", "/a/0", "", "{\n  \"a\": [\n    2\n  ],\n  \"b\": {\"x\": 1}\n}\n"},
		{"remove the last item", indented, "remove", "/a/1", "", "{\n  \"a\": [\n    1\n  ],\n  \"b\": {\"x\": 1}\n}\n"},
		{"remove the only member", indented, "remove", "/b/x", "", strings.Replace(indented, `"x": 1`, "", 1)},
		{"remove the last member", indented, "remove", "/b", "", "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n"},
		{"add at the end", indented, "add", "/a/-", "3", strings.Replace(indented, "2\n", "2,\n    3\n", 1)},
		{"add at the beginning", indented, "add", "/a/0", "0", strings.Replace(indented, "1,", "0,\n    1,", 1)},
		{"add between", indented, "add", "/a/1", "9", strings.Replace(indented, "1,", "1,\n    9,", 1)},
		{"add a member", indented, "add", "/c", `{"d":[]}`, strings.Replace(indented, "1}\n", "1},\n  \"c\": {\n    \"d\": []\n  }\n", 1)},
		{"add a member in one line", indented, "add", "/b/y", "2", strings.Replace(indented, `"x": 1`, `"x": 1, "y": 2`, 1)},
		{"add a member that is there", indented, "add", "/b/x", "2", strings.Replace(indented, `"x": 1`, `"x": 2`, 1)},
		{"add to nothing", `{"a": []}`, "add", "/a/-", `"x"`, `{"a": ["x"]}`},
		{"add an odd name", `{}`, "add", "/a~1b~0\"", `1`, `{"a/b~\"": 1}`},
		{"commas first", "[1\n,2\n,3]", "add", "/2", "9", "[1\n,2,\n9\n,3]"},
		{"the whole document", ` 1 `, "replace", "", `{}`, ` {} `},
		{"a keyed path", `{"policy_layer": {"policy_bundles": [{"bundle_id": "B", "policy_dsl": {"rules": [{"rule_id": "R"}]}}]}}`, "remove",
			"/policy_layer/policy_bundles/B/rules/R", "", `{"policy_layer": {"policy_bundles": [{"bundle_id": "B", "policy_dsl": {"rules": []}}]}}`},
	} {
		doc := read(t, c.src)
		got, err := Edit(doc, []finding.Operation{{Op: c.op, Path: c.path, Value: c.value}})
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %q (%v)\nwant %q", c.name, got, err, c.want)
		}
		if string(doc.Source) != c.src {
			t.Errorf("%s: the document has changed", c.name)
		}
	}
}

func TestEditErrors(t *testing.T) {
	for _, c := range []struct {
		op   finding.Operation
		want string
	}{
		{finding.Operation{Op: "replace", Path: "/x", Value: "1"}, "edit pack.json: replace /x: there is no such value"},
		{finding.Operation{Op: "remove", Path: "/a/9"}, "edit pack.json: remove /a/9: there is no such value"},
		{finding.Operation{Op: "remove", Path: ""}, "edit pack.json: remove : this operation is not one of add, replace, remove"},
		{finding.Operation{Op: "move", Path: "/a"}, "edit pack.json: move /a: this operation is not one of add, replace, remove"},
		{finding.Operation{Op: "add", Path: "", Value: "1"}, "edit pack.json: add : the whole document cannot be added"},
		{finding.Operation{Op: "add", Path: "/x/y", Value: "1"}, "edit pack.json: add /x/y: there is nothing to add to"},
		{finding.Operation{Op: "add", Path: "/a/3", Value: "1"}, `edit pack.json: add /a/3: "3" is not a place in an array of 2`},
		{finding.Operation{Op: "add", Path: "/a/01", Value: "1"}, `edit pack.json: add /a/01: "01" is not a place in an array of 2`},
		{finding.Operation{Op: "add", Path: "/a/0/x", Value: "1"}, "edit pack.json: add /a/0/x: a number has no members"},
		{finding.Operation{Op: "add", Path: "/b", Value: "{"}, "edit pack.json: add /b: the new value is not JSON"},
		{finding.Operation{Op: "replace", Path: "/a", Value: ""}, "edit pack.json: replace /a: the new value is not JSON"},
	} {
		got, err := Edit(read(t, `{"a":[1,2]}`), []finding.Operation{c.op})
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v: %q, %v", c.op, got, err)
		}
	}
	doc, _ := Read("pack.json", []byte("{"), DefaultLimits())
	if _, err := Edit(doc, []finding.Operation{{Op: "remove", Path: "/a"}}); err == nil {
		t.Error("a document that cannot be read is edited")
	}
}

// Editing the text and reading it is the same as editing what was read.
func TestEditMeansThePatch(t *testing.T) {
	values := []string{"null", "7", `"a"`, `{"x":[1,{"y":2}],"z":{}}`, `[]`, `[1,[2,3]]`}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		doc := read(t, string(generate(seed)))
		var nodes []*Node
		walk(doc.Root, func(n *Node) { nodes = append(nodes, n) })
		for range 8 {
			n := nodes[r.IntN(len(nodes))]
			op := finding.Operation{Op: []string{"add", "add", "replace", "remove"}[r.IntN(4)], Path: n.Pointer(), Value: values[r.IntN(len(values))]}
			switch {
			case op.Op == "add" && n.Kind == Array:
				op.Path += "/" + strconv.Itoa(r.IntN(len(n.Items)+1))
			case op.Op == "add" && n.Kind == Object:
				op.Path += "/" + EscapeSegment(oddNames[r.IntN(len(oddNames))])
			case n == doc.Root || op.Op == "add":
				continue
			}
			got, err := Edit(doc, []finding.Operation{op})
			if err != nil {
				t.Fatalf("%q: %+v: %v", doc.Source, op, err)
			}
			var value any
			if err := json.Unmarshal([]byte(op.Value), &value); err != nil {
				t.Fatal(err)
			}
			segments, _ := SplitPointer(op.Path)
			if want := patched(doc.Root.Any(), op.Op, segments, value); !reflect.DeepEqual(read(t, string(got)).Root.Any(), want) {
				t.Fatalf("%q: %+v:\n%s", doc.Source, op, got)
			}
		}
	}
}

// patched applies one operation of a JSON Patch to a decoded value.
func patched(v any, op string, segments []string, value any) any {
	if len(segments) == 0 {
		return value
	}
	name, last := segments[0], len(segments) == 1
	if m, ok := v.(map[string]any); ok {
		if last && op == "remove" {
			delete(m, name)
		} else {
			m[name] = patched(m[name], op, segments[1:], value)
		}
		return m
	}
	items := v.([]any)
	i, err := strconv.Atoi(name)
	switch {
	case err != nil:
		panic(err)
	case last && op == "add":
		return slices.Insert(items, i, value)
	case last && op == "remove":
		return slices.Delete(items, i, i+1)
	}
	items[i] = patched(items[i], op, segments[1:], value)
	return items
}
