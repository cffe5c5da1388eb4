package schemas

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// FuzzValidate holds, for every schema and any JSON: no failure, the same answer
// twice, sorted; every violation points at a value of the document; a missing
// member is known and absent, an unknown one is present and not known.
func FuzzValidate(f *testing.F) {
	for _, folder := range []string{"contract", "good"} {
		paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
		if err != nil || len(paths) == 0 {
			f.Fatalf("no seeds in %s (%v)", folder, err)
		}
		for _, path := range paths {
			text, err := json.Marshal(readJSON(f, path))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	for _, text := range []string{"null", "[[[[]]]]", `{"":{"":[{"":1e308}]}}`, `{"$ref":"#","version":1e-300}`, `"\u0000"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var doc any
		if json.Unmarshal(text, &doc) != nil {
			return
		}
		for _, name := range Names() {
			violations, err := Validate(name, doc)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			again, _ := Validate(name, doc)
			if !slices.Equal(violations, again) {
				t.Fatalf("%s: %v and then %v", name, violations, again)
			}
			for i, v := range violations {
				checkViolation(t, name, doc, v)
				if i > 0 && comparePointers(violations[i-1].Pointer, v.Pointer) > 0 {
					t.Errorf("%s: %q stands before %q", name, violations[i-1].Pointer, v.Pointer)
				}
			}
		}
	})
}

func checkViolation(t *testing.T, name string, doc any, v Violation) {
	t.Helper()
	segments, ok := pack.SplitPointer(v.Pointer)
	if !ok || v.Keyword == "" || v.Message == "" {
		t.Fatalf("%s: incomplete violation %+v", name, v)
	}
	value := valueAt(doc, segments)
	if value == nil && v.Keyword != "type" && v.Keyword != "const" && v.Keyword != "enum" {
		t.Errorf("%s: %+v points at nothing", name, v)
	}
	if v.Property == "" && v.Keyword != "additionalProperties" {
		return
	}
	object, _ := value.(map[string]any)
	_, present := object[v.Property]
	known, _ := KnownMembers(name, v.Pointer)
	unknown := v.Keyword == "additionalProperties"
	if present != unknown || slices.Contains(known, v.Property) == unknown {
		t.Errorf("%s: %+v, present %v, known %q", name, v, present, known)
	}
}
