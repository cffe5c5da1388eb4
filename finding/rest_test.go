package finding

import "testing"

// What only left a list that is cut is not fixed, and what only came into one is not
// new. Of other rules nothing changes.
func TestSinceOfCutLists(t *testing.T) {
	rest := func(rule string) Finding {
		return AsRest(Finding{Rule: rule, Severity: Error, Location: Location{Path: "/a", Pointer: "/a"}})
	}
	short := Sort([]Finding{finding("REF001", "/a", "m"), finding("REF002", "/x", "m")})
	cutList := Sort([]Finding{finding("REF001", "/b", "m"), rest("REF001"), finding("REF002", "/y", "m")})
	states := func(fs []Finding) map[string]State {
		by := map[string]State{}
		for _, f := range fs {
			by[f.Rule+f.Location.Path+f.Key] = f.State
		}
		return by
	}
	standing, fixed := Since(short, cutList)
	if got := states(standing); got["REF001/b"] != New || got["REF001"+restKey] != New || got["REF002/y"] != New {
		t.Errorf("the states are %v", got)
	}
	if len(fixed) != 1 || fixed[0].Rule != "REF002" {
		t.Errorf("fixed are %+v", fixed)
	}
	standing, fixed = Since(cutList, short)
	if got := states(standing); got["REF001/a"] != "" || got["REF002/x"] != New {
		t.Errorf("the states are %v", got)
	}
	if len(fixed) != 3 {
		t.Errorf("fixed are %+v", fixed)
	}
	standing, fixed = Since(cutList, cutList)
	for _, f := range standing {
		if f.State != Existing {
			t.Errorf("%+v is not there already", f)
		}
	}
	if len(fixed) != 0 {
		t.Errorf("fixed are %+v", fixed)
	}
}

// Only a finding about a whole document with the key of the rest is one.
func TestIsRest(t *testing.T) {
	if f := finding("REF001", "/a", "m"); f.IsRest() || !AsRest(f).IsRest() {
		t.Error("the rest is not told from others")
	}
	if f := (Finding{Rule: "REF001", Key: restKey, Location: Location{Path: "/a"}}); f.IsRest() {
		t.Error("a finding about a part stands for others")
	}
}
