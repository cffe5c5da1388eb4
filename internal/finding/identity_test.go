package finding

import "testing"

// Whatever stands in the parts of a fingerprint, one cannot pass for the end of
// another.
func TestFingerprintIsUnambiguous(t *testing.T) {
	seen := map[string]Finding{}
	parts := []string{"", "a", "\x00", "a\x00", "\x00a", "a\x00b", "1:a", "0:", "1:a0:", "\x000"}
	for _, rule := range parts {
		for _, path := range parts {
			for _, key := range parts {
				f := Finding{Rule: rule, Key: key, Location: Location{Path: path}}
				if other, taken := seen[f.Fingerprint()]; taken {
					t.Fatalf("%+v and %+v have one fingerprint", f, other)
				}
				seen[f.Fingerprint()] = f
			}
		}
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
