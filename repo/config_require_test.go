package repo

import (
	"slices"
	"testing"
)

// A list for a class is in force for every larger one, and for a pack that is compared
// with nothing.
func TestRequirementsByClass(t *testing.T) {
	const classes = "require: {major: [d], minor: [c], patch: [b], always: [a]}"
	for _, c := range []struct {
		yaml, class string
		want        []string
	}{
		{"", "major", nil},
		{"require: []", "", nil},
		{"require: [b, a]", "none", []string{"b", "a"}},
		{"require: [b, a]", "", []string{"b", "a"}},
		{classes, "none", []string{"a"}},
		{classes, "patch", []string{"a", "b"}},
		{classes, "minor", []string{"a", "b", "c"}},
		{classes, "major", []string{"a", "b", "c", "d"}},
		{classes, "reject", []string{"a", "b", "c", "d"}},
		{classes, "", []string{"a", "b", "c", "d"}},
		{classes, "initial", []string{"a", "b", "c", "d"}},
		{"require: {major: [d]}", "minor", nil},
	} {
		var got []string
		for _, r := range parsed(t, c.yaml).Requirements() {
			if r.Holds(c.class) {
				got = append(got, r.Name)
			}
			if r.Node.Location().Start.Line != 1 {
				t.Errorf("%s: %s has no place", c.yaml, r.Name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %q: %q, want %q", c.yaml, c.class, got, c.want)
		}
	}
}
