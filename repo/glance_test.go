package repo

import "testing"

func TestGlanceAt(t *testing.T) {
	for _, c := range []struct{ src, id, version string }{
		{`{"contract_meta": {}, "pack_meta": {"pack_id": "a", "pack_version": "1.0.0"}, "policy_layer": {}}`, "a", "1.0.0"},
		{"\xef\xbb\xbf// a comment: {\n{/* \"pack_id\": */ \"contract_meta\": [{\"x\": 1}], pack_meta: {'pack_id': 'a', \"tenant\": {\"pack_id\": \"b\"}, \"pack_version\": \"1\",}, \"policy_layer\": {},}", "a", "1"},
		{`{"contract\u005fmeta": {}, "pack_meta": {"pack_\u0069d": "a"}, "policy_layer": "}{\" ]"}`, "a", ""},
		{`{"tone_and_comms": 1, "memory_layer": 2, "decision_layer": 3`, "", ""},
		{"# a pack\ncontract_meta:\n  x: 1\npack_meta:\n  pack_id: a # so\n  pack_version: '1.0.0'\n\"policy_layer\" : {}\n", "a", "1.0.0"},
		{"---\n  contract_meta: {}\n  pack_meta: {pack_id: a, pack_version: 2}\n  policy_layer: {}\n", "a", "2"},
	} {
		if g := GlanceAt([]byte(c.src)); !g.LooksLikePack() || g.ID != c.id || g.Version != c.version {
			t.Errorf("%s: %+v", c.src, g)
		}
	}
	for _, src := range []string{
		"", "{", "[]", "}", `{"a": {"contract_meta": {}, "pack_meta": {}, "policy_layer": {}}}`,
		`{"contract_meta": {}, "pack_meta": {}, "x": ["policy_layer", "memory_layer"], "y": "policy_layer:"}`,
		"properties:\n  contract_meta: {}\n  pack_meta: {}\n  policy_layer: {}\n", `["contract_meta", "pack_meta", "policy_layer"]`,
		`{"contract_meta": {}, "contract_meta": {}, "contract_meta": {}}`, "{\"\\", "{'", "{//", "{/*",
	} {
		if g := GlanceAt([]byte(src)); g.LooksLikePack() {
			t.Errorf("%s: %+v", src, g)
		}
	}
}
