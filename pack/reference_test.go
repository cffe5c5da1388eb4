package pack

import "testing"

func TestParseRef(t *testing.T) {
	for ref, want := range map[string][2]string{
		"ctxpack.support@1.0.0": {"ctxpack.support", "1.0.0"}, "a:b_c-d@10.20.30": {"a:b_c-d", "10.20.30"},
		"ctxpack.support@v1.0": {}, "ctxpack.support@1.0": {}, "ctxpack.support@1.0.0-rc.1": {}, "ctxpack.support": {},
		"@1.0.0": {}, "a b@1.0.0": {}, "a@b@1.0.0": {}, "a@1.0.0\n": {}, "": {},
	} {
		id, version, ok := ParseRef(ref)
		if got := [2]string{id, version}; got != want || ok != (want[0] != "") {
			t.Errorf("ParseRef(%q) = %q, %v; want %q", ref, got, ok, want)
		}
	}
}
