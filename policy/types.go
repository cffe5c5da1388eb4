package policy

import (
	"reflect"

	"github.com/contextosai/packgate/pack"
)

// types refuses a pack in which a member that is known has the wrong type. Such
// a member would read as absent, and an absent allow, bound or gate is less than
// its author meant.
func (r *reader) types() {
	checkTypes(reflect.ValueOf(r.Pack).Elem(), func(n *pack.Node, wanted pack.Kind) {
		if n.Kind == wanted {
			r.refuse(n, "%s has a name with a control character", n.Pointer())
			return
		}
		r.refuse(n, "%s is %s, wanted %s", n.Pointer(), n.Kind, wanted)
	})
}

var (
	partType = reflect.TypeFor[pack.Part]()
	nodeType = reflect.TypeFor[*pack.Node]()
)

// checkTypes calls mistyped for every value of the typed pack that is there but
// could not be read.
func checkTypes(v reflect.Value, mistyped func(n *pack.Node, wanted pack.Kind)) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			checkTypes(v.Index(i), mistyped)
		}
		return
	}
	if v.Kind() != reflect.Struct {
		return
	}
	if n := unread(v); n != nil {
		mistyped(n, wantedKind(v))
		return
	}
	for i := range v.NumField() {
		if v.Field(i).Type() != nodeType {
			checkTypes(v.Field(i), mistyped)
		}
	}
}

// unread returns where a field, list, dictionary or object stands that has the
// wrong type, nil where it has the right one or is absent.
func unread(v reflect.Value) *pack.Node {
	if v.Type() == partType {
		if n, _ := v.Interface().(pack.Part); n.Node != nil && n.Node.Kind != pack.Object {
			return n.Node
		}
		return nil
	}
	ok := v.FieldByName("OK")
	if !ok.IsValid() || ok.Bool() {
		return nil
	}
	n, _ := v.FieldByName("Node").Interface().(*pack.Node)
	return n
}

// wantedKind returns the type that a value of the typed pack is read from.
func wantedKind(v reflect.Value) pack.Kind {
	switch v.Interface().(type) {
	case pack.Text:
		return pack.String
	case pack.Num:
		return pack.Number
	case pack.Flag:
		return pack.Bool
	}
	if v.FieldByName("Items").IsValid() {
		return pack.Array
	}
	return pack.Object
}
