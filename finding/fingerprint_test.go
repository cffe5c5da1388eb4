package finding

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

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
		{Rule: f.Rule, Key: f.Key, Location: f.Location, Ordinal: 1},
		{},
	} {
		if other, ok := seen[g.Fingerprint()]; ok {
			t.Errorf("%+v and %+v have one fingerprint", g, other)
		}
		seen[g.Fingerprint()] = g
	}
}

// What is before an item without identity moves it, and makes it no other one.
func TestFingerprintKnowsNoIndex(t *testing.T) {
	at := func(path string) string { return Finding{Rule: "POL011", Location: Location{Path: path}}.Fingerprint() }
	for _, same := range [][2]string{
		{"/policy_layer/policy_bundles/B/rules/R/if/and/0/>/1", "/policy_layer/policy_bundles/B/rules/R/if/and/12/>/0"},
		{"/policy_layer/approval_gates/[0]", "/policy_layer/approval_gates/[10]"},
		{"/0/a", "/1/a"},
	} {
		if at(same[0]) != at(same[1]) {
			t.Errorf("%s and %s have two fingerprints", same[0], same[1])
		}
	}
	for _, path := range []string{"/a/0", "/a/R2", "/a/[x]", "/a/-1", "/a/", "/a/[]", "/a/0/0", "/a", "/a/1.0"} {
		if path != "/a/0" && at(path) == at("/a/0") {
			t.Errorf("%s has the fingerprint of an item", path)
		}
	}
}

// Whatever is in the parts of a fingerprint, one cannot pass for the end of
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

// A change is known by its row, its path and what happened, and is no finding.
func TestChangeFingerprint(t *testing.T) {
	const row, path, kind = "policy_layer.rule.if", "/policy_layer/policy_bundles/B/rules/R/if", "changed"
	one := ChangeFingerprint(row, path, kind)
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(one) {
		t.Fatalf("fingerprint %q", one)
	}
	for _, other := range []string{
		ChangeFingerprint("policy_layer.rule.else", path, kind), ChangeFingerprint(row, path+"/x", kind), ChangeFingerprint(row, path, "added"),
		Finding{Rule: row, Location: Location{Path: path}, Key: kind}.Fingerprint(),
	} {
		if other == one {
			t.Errorf("%s is the fingerprint of two", other)
		}
	}
	if ChangeFingerprint(row, path+"/and/3", kind) != ChangeFingerprint(row, path+"/and/2", kind) {
		t.Error("a change is another one where it moved")
	}
}

func finding(rule, path, message string) Finding {
	return Finding{Rule: rule, Severity: Error, Message: message, Location: Location{Path: path}}
}

func TestSince(t *testing.T) {
	before := Sort([]Finding{finding("REF001", "/a", "old words"), finding("REF002", "/a", "m"), finding("POL001", "/r/if/0", "m"), finding("POL001", "/r/if/1", "m")})
	now := Sort([]Finding{finding("REF001", "/a", "new words"), finding("REF001", "/b", "m"), finding("POL001", "/r/if/7", "m")})
	standing, fixed := Since(before, now)
	for i, want := range []State{Existing, Existing, New} {
		if f := standing[i]; f.State != want {
			t.Errorf("%s %s is %s, want %s", f.Rule, f.Location.Path, f.State, want)
		}
		if now[i].State != "" {
			t.Error("the argument is changed")
		}
	}
	if len(fixed) != 2 || fixed[0].Rule != "POL001" || fixed[0].Ordinal != 1 || fixed[1].Rule != "REF002" {
		t.Errorf("fixed are %+v", fixed)
	}
}

// Each finding is in one of three states, and what differs from itself is nothing.
func TestSinceCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	list := func() []Finding {
		var fs []Finding
		for range r.IntN(12) {
			fs = append(fs, finding("R"+string(rune('1'+r.IntN(2))), []string{"/a", "/a/0", "/a/1", "/b"}[r.IntN(4)], string(rune('a'+r.IntN(3)))))
		}
		return Sort(fs)
	}
	for range 500 {
		before, now := list(), list()
		standing, fixed := Since(before, now)
		existing := 0
		for _, f := range standing {
			if f.State == Existing {
				existing++
			}
		}
		if len(standing) != len(now) || existing+len(fixed) != len(before) {
			t.Fatalf("%d before, %d now: %d exist and %d are fixed", len(before), len(now), existing, len(fixed))
		}
		same, none := Since(now, now)
		for _, f := range same {
			if f.State != Existing {
				t.Fatalf("%+v is new against itself", f)
			}
		}
		if len(none) > 0 {
			t.Fatalf("%+v is fixed and there", none[0])
		}
	}
}
