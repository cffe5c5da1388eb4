package pack

import (
	"reflect"
	"strings"
	"testing"
)

func read(t testing.TB, src string) *Document {
	t.Helper()
	doc, faults := Read("pack.json", []byte(src), DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%s: %s", src, faults[0].Message)
	}
	return doc
}

// Each item of an array, as the last segment of its keyed path.
func TestItemNames(t *testing.T) {
	for _, c := range []struct{ array, items, names string }{
		{"/policy_layer/policy_bundles", `{"bundle_id":"B"},{"bundle_id":"A"}`, "B A"},
		{"/policy_layer/policy_bundles", `{"bundle_id":"A"},{"bundle_id":"B"},{"bundle_id":"A"}`, "[0] B [2]"},
		{"/policy_layer/policy_bundles", `{},7,null,[],{"bundle_id":1},{"bundle_id":""}`, "[0] [1] [2] [3] [4] [5]"},
		{"/policy_layer/policy_bundles", `{"bundle_id":"[1]"},{"bundle_id":"[x]"},{"bundle_id":"[]"},{"bundle_id":"[01]"}`, "[0] [x] [] [3]"},
		{"/policy_layer/policy_bundles", `{"bundle_id":"a/b~c"},{"bundle_id":"0"},{"bundle_id":"policy_dsl"}`, "a~1b~0c 0 policy_dsl"},
		{"/policy_layer/approval_gates", `{"gate_id":"G"}`, "G"},
		{"/tooling_layer/adapter_registry", `{"adapter_id":"adp"}`, "adp"},
		{"/tooling_layer/permissions", `{"permission_id":"p"}`, "p"},
		{"/evaluation_layer/eval_targets", `{"intent":"support.refund"}`, "support.refund"},
		{"/evaluation_layer/release_gates", `{"metric":"policy"}`, "policy"},
		{"/decision_layer/decision_specs", `{"decision_key":"d","version":"1"},{"decision_key":"e","version":"1"}`, "d e"},
		{"/decision_layer/decision_specs", `{"decision_key":"d","version":"1"},{"decision_key":"d","version":"2"}`, "d@1 d@2"},
		{"/decision_layer/decision_specs", `{"decision_key":"d","version":"1"},{"decision_key":"d","version":"1"}`, "[0] [1]"},
		{"/decision_layer/decision_specs", `{"decision_key":"d","version":"1"},{"decision_key":"d"}`, "d@1 d"},
		{"/decision_layer/decision_specs", `{"decision_key":"d"},{"decision_key":"d"}`, "[0] [1]"},
		{"/decision_layer/decision_specs", `{"decision_key":"d","version":1},{"decision_key":"d","version":2}`, "[0] [1]"},
		{"/decision_layer/decision_specs", `{"version":"1"},{"version":"2"}`, "[0] [1]"},
		// Whatever the order, a key that looks like a qualified one is not qualified again.
		{"/decision_layer/decision_specs", `{"decision_key":"d@1","version":"x"},{"decision_key":"d","version":"1"},{"decision_key":"d","version":"2"}`, "[0] [1] d@2"},
		{"/decision_layer/decision_specs", `{"decision_key":"d","version":"1"},{"decision_key":"d","version":"2"},{"decision_key":"d@1","version":"x"}`, "[0] d@2 [2]"},
		{"/business_context/non_negotiables", `"never","ever","never",1`, "[0] ever [2] [3]"},
		{"/tone_and_comms/do", `"be calm"`, "be calm"},
		{"/pack_meta/anything", `{"bundle_id":"B"},"x"`, "0 1"},
		{"/business_context/summary/examples", `"x"`, "0"},
	} {
		names := strings.Split(c.array[1:], "/")
		src := "[" + c.items + "]"
		for i := len(names) - 1; i >= 0; i-- {
			src = `{"` + names[i] + `":` + src + `}`
		}
		array := read(t, src).Root.Find(c.array)
		var got []string
		for _, item := range array.Items {
			got = append(got, strings.TrimPrefix(item.KeyedPath(), c.array+"/"))
		}
		if strings.Join(got, " ") != c.names {
			t.Errorf("%s: %s\n got %s\nwant %s", c.array, c.items, strings.Join(got, " "), c.names)
		}
	}
}

// policy_dsl is left out wherever a reader could not mistake the path.
func TestPathsThroughPolicyDSL(t *testing.T) {
	for _, c := range []struct{ bundle, pointer, path string }{
		{`"policy_dsl":{"rules":[{"rule_id":"R"}]}`, "/policy_dsl/rules/0", "/rules/R"},
		{`"policy_dsl":{"rules":[{"rule_id":"R","then":{"requires":["x"]}}]}`, "/policy_dsl/rules/0/then/requires/0", "/rules/R/then/requires/x"},
		{`"policy_dsl":{"rules":[]}`, "/policy_dsl", "/policy_dsl"},
		{`"policy_dsl":{"language":"jsonlogic"}`, "/policy_dsl/language", "/language"},
		{`"policy_dsl":{"rules":[{"rule_id":"R"}]},"rules":1`, "/policy_dsl/rules/0", "/policy_dsl/rules/R"},
		{`"policy_dsl":{"rules":[{"rule_id":"R"}]},"rules":[{"rule_id":"R"}]`, "/rules/0", "/rules/0"},
		{`"policy_dsl":{"policy_dsl":1}`, "/policy_dsl/policy_dsl", "/policy_dsl/policy_dsl"},
		{`"policy_dsl":{"bundle_id":"other"}`, "/policy_dsl/bundle_id", "/policy_dsl/bundle_id"},
		{`"policy_dsl":[{"rules":[]}]`, "/policy_dsl/0/rules", "/policy_dsl/0/rules"},
		{`"policy_dsl":"jsonlogic"`, "/policy_dsl", "/policy_dsl"},
	} {
		doc := read(t, `{"policy_layer":{"policy_bundles":[{"bundle_id":"B",`+c.bundle+`}]}}`)
		n := doc.Root.Find("/policy_layer/policy_bundles/0" + c.pointer)
		want := "/policy_layer/policy_bundles/B" + c.path
		if got := n.KeyedPath(); got != want {
			t.Errorf("%s: %s has the path %s, not %s", c.bundle, c.pointer, got, want)
		}
		if doc.Root.FindKeyed(want) != n {
			t.Errorf("%s: %s does not lead to %s", c.bundle, want, c.pointer)
		}
	}
}

// The constraints on any argument have one shape, wherever they stand.
func TestPathsThroughConstraints(t *testing.T) {
	const constraints = `{"arg_constraints":{"currency":{"enum":["INR"],"other":["x"]}},"permission_id":"p","rule_id":"R"}`
	doc := read(t, `{"tooling_layer":{"permissions":[`+constraints+`]},
		"policy_layer":{"policy_bundles":[{"bundle_id":"B","policy_dsl":{"rules":[{"rule_id":"R","then":`+constraints+`,"else":`+constraints+`}]}}]}}`)
	for _, path := range []string{
		"/tooling_layer/permissions/p/arg_constraints/currency",
		"/policy_layer/policy_bundles/B/rules/R/then/arg_constraints/currency",
		"/policy_layer/policy_bundles/B/rules/R/else/arg_constraints/currency",
	} {
		if n := doc.Root.FindKeyed(path + "/enum/INR"); n == nil || n.Text != "INR" || n.KeyedPath() != path+"/enum/INR" {
			t.Errorf("%s has no enum of named values", path)
		}
		if n := doc.Root.FindKeyed(path + "/other/0"); n == nil || n.Text != "x" {
			t.Errorf("%s names the values of something unknown", path)
		}
	}
}

func TestNotFound(t *testing.T) {
	doc := read(t, `{"a":[1,2],"b":{"":3},"policy_layer":{"policy_bundles":[{"bundle_id":"B","policy_dsl":{"rules":[]}},{}]}}`)
	for _, pointer := range []string{
		"a", "/c", "/a/2", "/a/-1", "/a/-", "/a/00", "/a/+1", "/a/", "/a/0/0", "/b/x", "/a/[0]", "/a/1e0", "/b//x",
		"/policy_layer/policy_bundles/B",
	} {
		if doc.Root.Find(pointer) != nil {
			t.Errorf("the pointer %s leads somewhere", pointer)
		}
	}
	for _, path := range []string{
		"a", "/c", "/a/2", "/a/[0]", "/policy_bundles", "/policy_layer/policy_bundles/0", "/policy_layer/policy_bundles/[0]", "/policy_layer/policy_bundles/",
		"/policy_layer/policy_bundles/B/rules/[0]", "/policy_layer/policy_bundles/B/x", "/policy_layer/policy_bundles/[1]/rules",
	} {
		if doc.Root.FindKeyed(path) != nil {
			t.Errorf("the keyed path %s leads somewhere", path)
		}
	}
	if doc.Root.Find("") != doc.Root || doc.Root.FindKeyed("") != doc.Root || doc.Root.Find("/b/").Number != 3 {
		t.Error("the empty pointer is not the root, or the empty name not a member")
	}
}

func TestKeyedForm(t *testing.T) {
	bundle := func(members string) string {
		return `{"policy_layer":{"policy_bundles":[{"bundle_id":"B",` + members + `}]}}`
	}
	for _, c := range []struct{ src, form string }{
		{bundle(`"policy_dsl":{"rules":[{"rule_id":"R"},{}]}`),
			`{"policy_layer":{"policy_bundles":{"B":{"bundle_id":"B","rules":{"R":{"rule_id":"R"},"[1]":{}}}}}}`},
		{bundle(`"policy_dsl":{"rules":[],"language":"x"},"rules":[1]`),
			`{"policy_layer":{"policy_bundles":{"B":{"bundle_id":"B","rules":[1],"language":"x","policy_dsl":{"rules":{}}}}}}`},
		{bundle(`"policy_dsl":{}`), `{"policy_layer":{"policy_bundles":{"B":{"bundle_id":"B","policy_dsl":{}}}}}`},
		{bundle(`"policy_dsl":null`), `{"policy_layer":{"policy_bundles":{"B":{"bundle_id":"B","policy_dsl":null}}}}`},
		// What is no array does not look like the form of one.
		{`{"policy_layer":{"policy_bundles":{"B":{"bundle_id":"B"}}}}`, `{"policy_layer":{"policy_bundles":[{"B":{"bundle_id":"B"}}]}}`},
		{`{"tone_and_comms":{"do":{"x":"x"}}}`, `{"tone_and_comms":{"do":[{"x":"x"}]}}`},
		{`{"tone_and_comms":{"do":["x"]}}`, `{"tone_and_comms":{"do":{"x":"x"}}}`},
		{`{"tone_and_comms":{"do":"x"}}`, `{"tone_and_comms":{"do":"x"}}`},
		{`{"other":[1,{"a":[]}]}`, `{"other":[1,{"a":[]}]}`},
		{`[]`, `[]`},
	} {
		form, _ := read(t, c.src).KeyedForm()
		if want := read(t, c.form).Root.Any(); !reflect.DeepEqual(form, want) {
			t.Errorf("%s:\n got %v\nwant %v", c.src, form, want)
		}
	}
	doc, _ := Read("pack.json", []byte("{"), DefaultLimits())
	if form, index := doc.KeyedForm(); form != nil || index.Find("") != nil {
		t.Errorf("a document that cannot be read has the form %v", form)
	}
}

func TestSplitPointer(t *testing.T) {
	for pointer, want := range map[string][]string{
		"": nil, "/": {""}, "/a//b": {"a", "", "b"}, "/~0~1/~01/~10": {"~/", "~1", "/0"}, "/~2~": {"~2~"},
	} {
		if got, ok := SplitPointer(pointer); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v", pointer, got, ok)
		}
	}
	if _, ok := SplitPointer("a/b"); ok {
		t.Error("a pointer without its slash is taken")
	}
}
