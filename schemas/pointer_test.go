package schemas

import (
	"slices"
	"testing"

	"github.com/contextosai/packgate/pack"
)

func TestPointersGoThereAndBack(t *testing.T) {
	for pointer, want := range map[string][]string{
		"":           nil,
		"/":          {""},
		"/a/0/b":     {"a", "0", "b"},
		"/a~1b/m~0n": {"a/b", "m~n"},
		"/~01":       {"~1"},
		"//":         {"", ""},
	} {
		segments, ok := pack.SplitPointer(pointer)
		if !ok || !slices.Equal(segments, want) {
			t.Errorf("pack.SplitPointer(%q) = %q, %v; want %q", pointer, segments, ok, want)
		}
		if back := pack.JoinPointer(segments); back != pointer {
			t.Errorf("%q came back as %q", pointer, back)
		}
	}
	if segments, ok := pack.SplitPointer("a"); ok {
		t.Errorf("%q is not a pointer, got %q", "a", segments)
	}
}

func TestPointerOrder(t *testing.T) {
	want := []string{"", "/a", "/a/2", "/a/10", "/a/10/b", "/a/x", "/a b", "/b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, comparePointers)
	if !slices.Equal(got, want) {
		t.Errorf("sorted to %q, want %q", got, want)
	}
}

func TestFragments(t *testing.T) {
	if segments, ok := splitFragment("/properties/$schema/a%25b"); !ok || !slices.Equal(segments, []string{"properties", "$schema", "a%b"}) {
		t.Errorf("got %q, %v", segments, ok)
	}
	for _, bad := range []string{"%zz", "anchor"} {
		if segments, ok := splitFragment(bad); ok {
			t.Errorf("%q gave %q", bad, segments)
		}
	}
}
