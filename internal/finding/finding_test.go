package finding

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"
)

func TestSeverity(t *testing.T) {
	for _, s := range []Severity{Warning, Error} {
		if got, ok := ParseSeverity(s.String()); !ok || got != s {
			t.Errorf("%q is read as %d, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "Error", "warn", "info"} {
		if got, ok := ParseSeverity(s); ok || got != Unset {
			t.Errorf("%q is read as %d", s, got)
		}
	}
	if Unset.String() != "" || !(Unset < Warning && Warning < Error) {
		t.Error("the severities are not in their order")
	}
}

// The order that a report shows, from first to last.
var ordered = []Finding{
	{Severity: Error, Rule: "REF002", Location: Location{File: "a.json", Start: Position{Offset: 9}}},
	{Severity: Error, Rule: "REF001", Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF002", Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF002", Key: "dev", Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF002", Key: "prod", Message: "a", Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF002", Key: "prod", Message: "b", Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF001", Location: Location{File: "b.json"}},
	{Severity: Warning, Rule: "REF001", Location: Location{File: "a.json"}},
	{Severity: Unset, Rule: "REF001", Location: Location{File: "a.json"}},
}

func TestCompareIsATotalOrder(t *testing.T) {
	for i, a := range ordered {
		for j, b := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := Compare(a, b); got != want {
				t.Errorf("%+v and %+v: %d, want %d", a, b, got, want)
			}
		}
	}
}

// Sort gives the same list from any order, each finding once.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		fs := append(append([]Finding(nil), ordered...), ordered[3], ordered[0], ordered[3])
		r.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
		if got := Sort(fs); !reflect.DeepEqual(got, ordered) {
			t.Fatalf("sorted as %+v", got)
		}
	}
	// Of two that say the same, the one that was found first stays.
	first, second := ordered[0], ordered[0]
	first.Hint, second.Hint = "first", "second"
	if got := Sort([]Finding{first, second}); len(got) != 1 || got[0].Hint != "first" {
		t.Errorf("kept %+v", got)
	}
	if got := Sort(nil); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestFingerprint(t *testing.T) {
	f := Finding{Rule: "REF001", Key: "prod", Location: Location{File: "a.json", Path: "/policy_layer/policy_bundles/B"}}
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(f.Fingerprint()) {
		t.Fatalf("fingerprint %q", f.Fingerprint())
	}

	// It lives through everything that a rewording or a move changes.
	moved := f
	moved.Message, moved.Hint, moved.Severity, moved.Gate, moved.Name = "other words", "hint", Warning, "other", "name"
	moved.Location.File, moved.Location.Pointer = "b.json", "/policy_layer/policy_bundles/7"
	moved.Location.Start, moved.Location.End = Position{Line: 9, Column: 9, Offset: 99}, Position{Line: 10, Column: 1, Offset: 120}
	if moved.Fingerprint() != f.Fingerprint() {
		t.Error("the fingerprint depends on words or line")
	}

	seen := map[string]Finding{}
	for _, g := range []Finding{
		f,
		{Rule: "REF002", Key: f.Key, Location: f.Location},
		{Rule: f.Rule, Key: "dev", Location: f.Location},
		{Rule: f.Rule, Key: f.Key, Location: Location{Path: "/policy_layer"}},
		{Rule: f.Rule, Location: Location{Path: f.Location.Path + f.Key}},
		{Rule: f.Rule, Key: f.Location.Path + f.Key},
		{Rule: f.Rule + f.Location.Path, Key: f.Key},
		{},
	} {
		if other, ok := seen[g.Fingerprint()]; ok {
			t.Errorf("%+v and %+v have one fingerprint", g, other)
		}
		seen[g.Fingerprint()] = g
	}
}
