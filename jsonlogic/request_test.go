package jsonlogic

import (
	"reflect"
	"strings"
	"testing"
)

func TestOverlay(t *testing.T) {
	under := map[string]any{"user": map[string]any{"role": "a", "id": "u"}, "x": 1.0}
	over := map[string]any{"user": map[string]any{"role": "b"}, "x": map[string]any{"y": nil}}
	got := Overlay(under, over)
	want := map[string]any{"user": map[string]any{"role": "b", "id": "u"}, "x": map[string]any{"y": nil}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if under["user"].(map[string]any)["role"] != "a" {
		t.Error("the request below was changed")
	}
	if got := Overlay(nil, nil); got == nil || len(got) != 0 {
		t.Errorf("nothing over nothing is %v", got)
	}
}

func TestPaths(t *testing.T) {
	request := map[string]any{
		"user": map[string]any{"role": "a", "none": nil}, "list": []any{map[string]any{"x": 1.0}}, "empty": map[string]any{},
	}
	var paths [][]string
	for path, v := range Leaves(request) {
		paths = append(paths, path)
		if got, there := Lookup(request, strings.Join(path, ".")); !there || !reflect.DeepEqual(got, v) {
			t.Errorf("%q holds %v, there %t, want %v", path, got, there, v)
		}
	}
	if want := [][]string{{"empty"}, {"list"}, {"user", "none"}, {"user", "role"}}; !reflect.DeepEqual(paths, want) {
		t.Errorf("the paths are %q, want %q", paths, want)
	}
	for _, path := range []string{"", "nobody", "user.id", "list.0", "user.role.x"} {
		if v, there := Lookup(request, path); there {
			t.Errorf("%q holds %v", path, v)
		}
	}
	for range Leaves(request) {
		break // and the rest is not asked for
	}
}

func TestSetAndUnset(t *testing.T) {
	before := map[string]any{"user": map[string]any{"role": "a"}, "x": 1.0}
	after := Set(before, []string{"x", "y"}, true)
	after = Set(after, []string{"user", "id"}, "u")
	want := map[string]any{"user": map[string]any{"role": "a", "id": "u"}, "x": map[string]any{"y": true}}
	if !reflect.DeepEqual(after, want) {
		t.Errorf("set: got %v, want %v", after, want)
	}
	for _, path := range [][]string{{"x", "y"}, {"user", "role"}, {"user", "id"}, {"user", "nobody"}, {"nobody", "x"}} {
		after = Unset(after, path)
	}
	if len(after) > 0 {
		t.Errorf("unset: %v is left", after)
	}
	if want := map[string]any{"user": map[string]any{"role": "a"}, "x": 1.0}; !reflect.DeepEqual(before, want) {
		t.Errorf("the request was changed to %v", before)
	}
	if got := Set(nil, []string{"a", "b"}, 1.0); !reflect.DeepEqual(got, map[string]any{"a": map[string]any{"b": 1.0}}) {
		t.Errorf("in nothing: %v", got)
	}
}
