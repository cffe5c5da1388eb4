package jsonlogic

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Truth is a value of the three-valued logic. The zero value is Unknown, so
// that nothing is permitted by an omission.
type Truth uint8

// The three truth values.
const (
	Unknown Truth = iota
	False
	True
)

// String returns "unknown", "false" or "true".
func (t Truth) String() string { return [...]string{"unknown", "false", "true"}[t] }

// Not returns the negation; unknown stays unknown.
func (t Truth) Not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

func truthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}

// Result is what an expression evaluates to.
type Result struct {
	// Value is the definite value as decoded JSON. It may share memory with the
	// data and must not be changed. It is nil, and means nothing, where Cause is
	// not nil.
	Value any
	// Truth is the truthiness of the value. It can be definite although the value
	// is not: whatever an unknown turns out to be, "or" with a true operand is
	// true.
	Truth Truth
	// Cause says what made the value unknown; nil if the value is definite.
	Cause *Cause
}

// Cause says why a value is unknown: the first operator, in the order of
// evaluation, that could not decide.
type Cause struct {
	Operator string     // as written, such as ">"; "" outside operators
	Variable string     // path of the variable it depends on, "" if there is none
	Node     *pack.Node // the operation
	Reason   string     // what was found and what was wanted, without values of the data
}

// String returns the cause as the part of a message: operator, then reason.
func (c *Cause) String() string {
	if c.Operator == "" {
		return c.Reason
	}
	return fmt.Sprintf("operator %q cannot decide: %s", c.Operator, c.Reason)
}

// Named returns what was said of a cause, with the variable that it depends on where that is not in it.
func Named(words, variable string) string {
	if variable != "" && !strings.Contains(words, variable) {
		words += " (it depends on " + variable + ")"
	}
	return words
}

// unknown is a value that evaluation could not determine. Its truth may be
// known all the same. It moves through evaluation as a value like any other.
type unknown struct {
	truth Truth
	cause *Cause
}

// kind is the type of a value in evaluation.
type kind uint8

const (
	kindNull kind = iota // null, or missing
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	kindUnknown // unknown, or a Go type that is no decoded JSON
)

func kindOf(v any) kind {
	switch v.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBool
	case float64:
		return kindNumber
	case string:
		return kindString
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	}
	return kindUnknown
}

// String returns the kind as messages use it after "is".
func (k kind) String() string {
	return [...]string{
		"missing or null", "a boolean", "a number", "a string", "a list", "an object", "unknown",
	}[k]
}

// truth returns the truthiness that JsonLogic defines: null, false, 0, "" and
// the empty list are false.
func truth(v any) Truth {
	switch t := v.(type) {
	case nil:
		return False
	case bool:
		return truthOf(t)
	case float64:
		return truthOf(t != 0 && !math.IsNaN(t))
	case string:
		return truthOf(t != "")
	case []any:
		return truthOf(len(t) > 0)
	case map[string]any:
		return True
	case *unknown:
		return t.truth
	}
	return Unknown
}

// same compares strictly, as "===" does: type and value of scalars, identity of
// lists and objects. Neither operand may be an unknown. Two empty lists have no
// identity in Go, so whether they are one list is unknown.
func same(a, b any) Truth {
	ka, kb := kindOf(a), kindOf(b)
	if ka == kindUnknown || kb == kindUnknown {
		return Unknown
	}
	if ka != kb {
		return False
	}
	switch x := a.(type) {
	case []any:
		y := b.([]any)
		if len(x) == 0 && len(y) == 0 {
			return Unknown
		}
		return truthOf(len(x) == len(y) && &x[0] == &y[0])
	case map[string]any:
		return truthOf(reflect.ValueOf(x).Pointer() == reflect.ValueOf(b).Pointer())
	}
	return truthOf(a == b)
}

// Overlay returns one request, or a part of one, with the members of another put
// over it, objects within objects too. Neither is changed.
func Overlay(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]any{}
	}
	for name, v := range over {
		a, both := out[name].(map[string]any)
		if b, ok := v.(map[string]any); ok && both {
			v = Overlay(a, b)
		}
		out[name] = v
	}
	return out
}

// Lookup returns the value at a dotted path of a request, and whether there is
// one. Only members are followed, and no items of lists.
func Lookup(request any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := request.(map[string]any)
		if !ok {
			return nil, false
		}
		if request, ok = object[name]; !ok {
			return nil, false
		}
	}
	return request, true
}

// Leaves goes through the values of a request that are no objects with members,
// each with the names that lead to it, which are the caller's to keep. The members
// of every object come in the order of their names.
func Leaves(request map[string]any) iter.Seq2[[]string, any] {
	return func(yield func([]string, any) bool) { leaves(request, nil, yield) }
}

func leaves(object map[string]any, at []string, yield func([]string, any) bool) bool {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		path := append(slices.Clip(at), name)
		if inner, ok := object[name].(map[string]any); ok && len(inner) > 0 {
			if !leaves(inner, path, yield) {
				return false
			}
		} else if !yield(path, object[name]) {
			return false
		}
	}
	return true
}

// Set returns a request with a value at a path, which is not empty. What is in
// the way, such as a text where an object has to be, gives way. The request that
// is given is not changed.
func Set(request map[string]any, path []string, value any) map[string]any {
	out := maps.Clone(request)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) > 1 {
		inner, _ := out[path[0]].(map[string]any)
		value = Set(inner, path[1:], value)
	}
	out[path[0]] = value
	return out
}

// Unset returns a request without the value at a path, which is not empty, and
// without the objects that only held that value. The request that is given is not
// changed.
func Unset(request map[string]any, path []string) map[string]any {
	out := maps.Clone(request)
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	inner, ok := out[path[0]].(map[string]any)
	if !ok {
		return out
	}
	if inner = Unset(inner, path[1:]); len(inner) == 0 {
		delete(out, path[0])
	} else {
		out[path[0]] = inner
	}
	return out
}
