package schemas

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// KnownMembers returns the member names that the schema called name declares
// for the object at the given JSON pointer of a document, sorted; they are not to be changed. Array indexes
// in the pointer match the schema of the array's items, and references are
// followed, also into other schemas of this package.
//
// Open is true where any member is as good as another: in a map with free keys
// (its declared names are returned all the same), inside a value that the
// schema leaves to its author, such as a JsonLogic expression, and wherever the
// schema, or the name, is unknown. A caller that looks for misspelled members
// passes over such an object.
func KnownMembers(name, pointer string) (names []string, open bool) {
	lib, at := shared(), [2]string{name, pointer}
	if is, ok := lib.known.Load(at); ok {
		m := is.(members)
		return m.names, m.open
	}
	m := members{open: true}
	if views := lib.viewsAt(name, pointer); views != nil {
		m.names, m.open = declared(views)
	}
	if lib.kept.Add(1) <= mostKept {
		lib.known.Store(at, m)
	}
	return m.names, m.open
}

// members is what KnownMembers says of an object.
type members struct {
	names []string
	open  bool
}

// mostKept is of how many objects the library keeps it. Packs have some hundred, but for names that are
// free to choose.
const mostKept = 4096

// viewsAt returns the schema objects for the value at a pointer; nil where the schema, or the pointer,
// is none.
func (lib *library) viewsAt(name, pointer string) []place {
	e := lib.entries[name]
	segments, ok := pack.SplitPointer(pointer)
	if e == nil || !ok {
		return nil
	}
	doc, err := e.parsed()
	if err != nil {
		return nil
	}
	views := lib.expand(place{root: doc, schema: doc})
	for _, segment := range segments {
		next := []place{}
		for _, view := range views {
			if child := view.child(segment); child != nil {
				next = append(next, lib.expand(place{root: view.root, schema: child})...)
			}
		}
		views = next
	}
	return views
}

// place is one schema object and the document that it is in, against which
// its references are resolved.
type place struct {
	root, schema map[string]any
}

// expand returns a schema object together with all those that apply to the same
// value: the target of its $ref, its allOf, and both branches of a condition.
func (lib *library) expand(p place) []place {
	all := []place{p}
	for i := 0; i < len(all); i++ {
		current := all[i]
		for _, key := range []string{"then", "else"} {
			if branch, ok := current.schema[key].(map[string]any); ok {
				all = appendNew(all, place{current.root, branch})
			}
		}
		parts, _ := current.schema["allOf"].([]any)
		for _, part := range parts {
			if object, ok := part.(map[string]any); ok {
				all = appendNew(all, place{current.root, object})
			}
		}
		if target, ok := lib.target(current); ok {
			all = appendNew(all, target)
		}
	}
	return all
}

// appendNew adds a place unless its schema is there already, by identity: a
// schema that refers to itself must not be followed for ever.
func appendNew(all []place, p place) []place {
	same := func(known place) bool {
		return reflect.ValueOf(known.schema).Pointer() == reflect.ValueOf(p.schema).Pointer()
	}
	if slices.ContainsFunc(all, same) {
		return all
	}
	return append(all, p)
}

// target resolves the $ref of a schema object.
func (lib *library) target(p place) (place, bool) {
	ref, ok := p.schema["$ref"].(string)
	if !ok {
		return place{}, false
	}
	url, fragment, _ := strings.Cut(ref, "#")
	root := p.root
	if url != "" {
		doc, err := lib.byURL(url)
		if err != nil {
			return place{}, false
		}
		root = doc
	}
	segments, ok := splitFragment(fragment)
	if !ok {
		return place{}, false
	}
	schema, ok := valueAt(root, segments).(map[string]any)
	return place{root, schema}, ok
}

// child returns the schema of one member or item, nil if nothing is said.
func (p place) child(segment string) map[string]any {
	properties, _ := p.schema["properties"].(map[string]any)
	if schema, ok := properties[segment].(map[string]any); ok {
		return schema
	}
	if schema, ok := p.schema["additionalProperties"].(map[string]any); ok {
		return schema
	}
	if items, ok := p.schema["items"].(map[string]any); ok && isIndex(segment) {
		return items
	}
	return nil
}

// declared collects the names of several schema objects for one value.
func declared(views []place) (names []string, open bool) {
	known := map[string]bool{}
	closed := false
	for _, view := range views {
		properties, ok := view.schema["properties"].(map[string]any)
		closed = closed || ok || view.schema["additionalProperties"] == false
		for name := range properties {
			known[name] = true
		}
		switch additional := view.schema["additionalProperties"].(type) {
		case bool:
			open = open || additional
		case map[string]any:
			open = true
		}
	}
	return slices.Sorted(maps.Keys(known)), open || !closed
}

// Described returns what the schema called name says of the value at the given JSON pointer of a
// document: its description, "" for none, and the texts that it can be, in the schema's order, where
// those are a closed set. Pointers are followed as by KnownMembers.
func Described(name, pointer string) (description string, values []string) {
	for _, view := range shared().viewsAt(name, pointer) {
		if text, ok := view.schema["description"].(string); ok && description == "" {
			description = text
		}
		set, _ := view.schema["enum"].([]any)
		for _, value := range set {
			if text, ok := value.(string); ok && !slices.Contains(values, text) {
				values = append(values, text)
			}
		}
	}
	return description, values
}
