package model_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
)

// member is a member of a JSON object that a struct is written as.
type member struct {
	of     reflect.Type
	always bool // written whatever the value is
}

// membersOf returns the members of a struct, those of embedded ones included.
func membersOf(t reflect.Type) map[string]member {
	all := map[string]member{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		always := !strings.Contains(options, "omit")
		for i := range f.Index[:len(f.Index)-1] {
			always = always && t.FieldByIndex(f.Index[:i+1]).Type.Kind() != reflect.Pointer
		}
		all[name] = member{f.Type, always}
	}
	return all
}

// agreement holds the types of a report against its schema.
type agreement struct {
	t     *testing.T
	defs  map[string]any
	known map[string]bool
}

func (a *agreement) check(at string, of reflect.Type, schema map[string]any) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of == reflect.TypeFor[model.Packs]() {
		of = reflect.TypeFor[[]model.Pack]()
	}
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		if schema, ok = a.defs[name].(map[string]any); !ok || a.known[name+" "+of.String()] {
			return
		}
		a.known[name+" "+of.String()] = true
	}
	properties, _ := schema["properties"].(map[string]any)
	switch items, _ := schema["items"].(map[string]any); {
	case of.Kind() == reflect.Slice && items != nil:
		a.check(at+"[]", of.Elem(), items)
	case of.Kind() == reflect.Struct && properties != nil:
		a.members(at, of, schema, properties)
	}
}

func (a *agreement) members(at string, of reflect.Type, schema, properties map[string]any) {
	members := membersOf(of)
	required, _ := schema["required"].([]any)
	for name, m := range members {
		property, ok := properties[name].(map[string]any)
		if !ok {
			a.t.Errorf("%s: %s is written, and the schema has no %s", at, of, name)
			continue
		}
		if slices.Contains(required, any(name)) && !m.always {
			a.t.Errorf("%s: %s may be written without %s, which the schema requires", at, of, name)
		}
		a.check(fmt.Sprintf("%s.%s", at, name), m.of, property)
	}
}

// Every report that can be written can be read: what the schema requires is always there, and it
// knows all that is.
func TestSchemaIsTheModel(t *testing.T) {
	src, err := schemas.Source("report")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal([]byte(src), &schema); err != nil {
		t.Fatal(err)
	}
	defs, _ := schema["$defs"].(map[string]any)
	a := &agreement{t, defs, map[string]bool{}}
	a.check("report", reflect.TypeFor[model.Report](), schema)
	if len(a.known) < 30 {
		t.Errorf("only %d objects were compared", len(a.known))
	}
}
