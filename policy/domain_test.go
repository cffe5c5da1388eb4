package policy

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// schema is as much of a JSON Schema as says what a member may be.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Enum       []string          `json:"enum"`
	Const      string            `json:"const"`
	Minimum    *float64          `json:"minimum"`
	Additional *bool             `json:"additionalProperties"`
	Properties map[string]schema `json:"properties"`
	Defs       map[string]schema `json:"$defs"`
}

// walker goes through the members of a schema.
type walker struct {
	t       *testing.T
	sources map[string]schema // by the file part of a reference
	found   map[string]Member
}

func (w *walker) walk(path, file string, s schema) {
	w.t.Helper()
	for s.Ref != "" {
		target, def, ok := strings.Cut(s.Ref, "#/$defs/")
		if !ok {
			w.t.Fatalf("reference %q of %s", s.Ref, path)
		}
		if target != "" {
			file = target
		}
		s = w.sources[file].Defs[def]
	}
	m := Member{Path: path, Closed: s.Additional != nil && !*s.Additional}
	var kinds []string
	switch v := s.Type.(type) {
	case string:
		kinds = []string{v}
	case []any:
		for _, k := range v {
			kinds = append(kinds, k.(string))
		}
	}
	if s.Const != "" {
		kinds, m.Choices = []string{"string"}, []string{s.Const}
	}
	if s.Enum != nil {
		m.Choices = s.Enum
	}
	for _, k := range kinds {
		m.Kinds = append(m.Kinds, map[string]pack.Kind{
			"string": pack.String, "object": pack.Object, "array": pack.Array, "number": pack.Number, "integer": pack.Number,
		}[k])
		m.Positive = m.Positive || s.Minimum != nil && k == "number"
		m.Whole = m.Whole || s.Minimum != nil && k == "integer"
	}
	if path != "" {
		w.found[path] = m
	}
	for name, below := range s.Properties {
		w.walk(strings.TrimPrefix(path+"."+name, "."), file, below)
	}
}

// The domain is what the published schemas say, member for member.
func TestDomainIsWhatTheSchemasSay(t *testing.T) {
	w := &walker{t: t, sources: map[string]schema{}, found: map[string]Member{}}
	const host = "https://contextosai.com/schemas/"
	for _, name := range []string{"run-context", "invoke-agent"} {
		src, err := schemas.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		var s schema
		if err := json.Unmarshal(src, &s); err != nil {
			t.Fatal(err)
		}
		w.sources[host+name+".v1.schema.json"] = s
	}
	run, invoke := host+"run-context.v1.schema.json", host+"invoke-agent.v1.schema.json"
	w.walk("", run, w.sources[run])
	w.walk("request", invoke, w.sources[invoke].Properties["input"])
	for _, m := range Domain() {
		want, there := w.found[m.Path]
		if delete(w.found, m.Path); !there || !reflect.DeepEqual(m, want) {
			t.Errorf("%s is %+v in the domain and %+v in the schemas", m.Path, m, want)
		}
	}
	for path, m := range w.found {
		t.Errorf("the domain lacks %s: %+v", path, m)
	}
	at := func(path string) int {
		return slices.IndexFunc(Domain(), func(m Member) bool { return m.Path == path })
	}
	for i, m := range Domain() {
		if parent, _, below := cutLast(m.Path); below && at(parent) > i {
			t.Errorf("%s comes before %s", m.Path, parent)
		}
	}
}

func cutLast(path string) (before, after string, found bool) {
	i := strings.LastIndex(path, ".")
	if i < 0 {
		return path, "", false
	}
	return path[:i], path[i+1:], true
}
