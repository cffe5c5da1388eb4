package schemas

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	layers := []string{
		"contract_meta", "pack_meta", "intelligence_refs", "business_context", "policy_layer", "tooling_layer",
		"decision_layer", "memory_layer", "evaluation_layer", "tone_and_comms",
	}
	tests := []struct {
		name       string
		candidates []string
		want       string
	}{
		{"policy_layr", layers, "policy_layer"},
		{"policy-layer", layers, "policy_layer"},
		{"Policy Layer", layers, "policy_layer"},
		{"policyLayer", layers, "policy_layer"},
		{"tooling", layers, ""},
		{"pack_mtea", layers, "pack_meta"},
		{"policy_layer", layers, "policy_layer"},
		{"waiver", []string{"waivers", "version"}, "waivers"},
		{"tenat", []string{"tenant", "tenant_id"}, "tenant"},
		{"do", []string{"dont", "to"}, "to"},
		{"x", []string{"y", ""}, ""},
		{"", []string{"", "a"}, ""},
		{"", []string{"a"}, ""},
		{"ab", nil, ""},
		// Equally close: the first in alphabetical order, whatever the order given.
		{"gatt", []string{"gate", "gata"}, "gata"},
		{"gatt", []string{"gata", "gate"}, "gata"},
		// Characters count, not bytes.
		{"größe", []string{"grösse"}, "grösse"},
		{"日本誤", []string{"日本語"}, "日本語"},
		// Too long to be a misspelling.
		{strings.Repeat("a", 200), []string{strings.Repeat("a", 199)}, ""},
		{strings.Repeat("a", 100), []string{strings.Repeat("a", 199)}, ""},
	}
	for _, test := range tests {
		given := slices.Clone(test.candidates)
		if got := Nearest(test.name, test.candidates); got != test.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", test.name, test.candidates, got, test.want)
		}
		if !slices.Equal(given, test.candidates) {
			t.Errorf("Nearest changed the caller's list to %q", test.candidates)
		}
	}
}

// TestDistanceIsSymmetric holds the law of a distance on a set of words.
func TestDistanceIsSymmetric(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "cab", "gate", "gates", "tage", "größe"}
	for _, a := range words {
		for _, b := range words {
			there, back := distance([]rune(a), []rune(b), 99), distance([]rune(b), []rune(a), 99)
			if there != back || (there == 0) != (a == b) {
				t.Errorf("%q and %q: %d there, %d back", a, b, there, back)
			}
		}
	}
}
