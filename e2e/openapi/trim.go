package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Trim cuts a description to some operations, named as METHOD /path, and to the
// components that they need. Examples and extensions go too.
func Trim(description []byte, operations []string) ([]byte, error) {
	var doc struct {
		OpenAPI    string                               `json:"openapi"`
		Info       json.RawMessage                      `json:"info"`
		Paths      map[string]map[string]map[string]any `json:"paths"`
		Components map[string]map[string]any            `json:"components"`
	}
	// Path items hold operations alone in GitHub's description.
	if err := json.Unmarshal(description, &doc); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	if len(operations) == 0 {
		return nil, errors.New("no operation is wanted of the description")
	}
	t := trimmer{all: doc.Components, kept: map[string]map[string]any{}}
	paths := map[string]map[string]any{}
	for _, name := range operations {
		method, path, _ := strings.Cut(name, " ")
		method = strings.ToLower(method)
		op := doc.Paths[path][method]
		if op == nil {
			return nil, fmt.Errorf("the description does not have %s", name)
		}
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][method] = t.cut(op)
	}
	if t.err != nil {
		return nil, t.err
	}
	return json.Marshal(map[string]any{"openapi": doc.OpenAPI, "info": doc.Info, "paths": paths, "components": t.kept})
}

// trimmer collects the components that are referred to.
type trimmer struct {
	all, kept map[string]map[string]any
	err       error
}

// keep keeps the component that a reference names.
func (t *trimmer) keep(ref string) {
	kind, name, ok := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
	component, known := t.all[kind][name]
	if !ok || !known {
		t.err = fmt.Errorf("the description refers to %q, which is not there", ref)
		return
	}
	if t.kept[kind] == nil {
		t.kept[kind] = map[string]any{}
	}
	if _, done := t.kept[kind][name]; done {
		return
	}
	t.kept[kind][name] = true // so that a circle ends
	t.kept[kind][name] = t.cut(component)
}

// cut returns a part of the description without what nobody asks for. Examples are
// dropped as a whole: several of GitHub's own are not what their schema says.
func (t *trimmer) cut(part any) any {
	switch part := part.(type) {
	case []any:
		for i := range part {
			part[i] = t.cut(part[i])
		}
	case map[string]any:
		if ref, ok := part["$ref"].(string); ok {
			t.keep(ref)
			return part
		}
		if mapping, ok := part["mapping"].(map[string]any); ok {
			for _, ref := range mapping {
				if ref, ok := ref.(string); ok {
					t.keep(ref)
				}
			}
		}
		for name, value := range part {
			if drop(name, value) {
				delete(part, name)
				continue
			}
			part[name] = t.cut(value)
		}
	}
	return part
}

// drop reports whether a member is left out. A property may go by these names too;
// it holds a schema then.
func drop(name string, value any) bool {
	switch name {
	case "example", "examples":
		object, _ := value.(map[string]any)
		return object["type"] == nil
	}
	return strings.HasPrefix(name, "x-")
}
