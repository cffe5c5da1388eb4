package finding

import (
	"math/rand/v2"
	"reflect"
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
	{Severity: Error, Rule: "REF002", Ordinal: 1, Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF002", Key: "dev", Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF002", Key: "prod", Message: "a", Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF002", Key: "prod", Message: "b", Ordinal: 1, Location: Location{File: "a.json", Start: Position{Offset: 10}}},
	{Severity: Error, Rule: "REF001", Ordinal: 1, Location: Location{File: "b.json"}},
	{Severity: Warning, Rule: "REF001", Ordinal: 2, Location: Location{File: "a.json"}},
	{Severity: Unset, Rule: "REF001", Ordinal: 3, Location: Location{File: "a.json"}},
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

// Two findings that differ in their path alone are two: a place that could not
// be read has an offset in common with others.
func TestSortKeepsPaths(t *testing.T) {
	a := Finding{Rule: "REF001", Message: "m", Location: Location{File: "f", Path: "/a"}}
	b, again := a, a
	b.Location.Path = "/b"
	got := Sort([]Finding{b, again, a})
	if len(got) != 2 || got[0].Location.Path != "/a" || got[1].Location.Path != "/b" {
		t.Errorf("sorted as %+v", got)
	}
	if Compare(a, b) != -1 || Compare(b, a) != 1 {
		t.Error("the order of paths is not that of their letters")
	}
}
