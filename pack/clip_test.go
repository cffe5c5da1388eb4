package pack

import "testing"

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"a", 0, "…"}, {"üöä", 3, "üöä"}, {"üöäß", 3, "üöä…"}, {"a\xffb", 1, "a…"},
	} {
		if got := Clip(c.text, c.most); got != c.want {
			t.Errorf("%d characters of %q are %q, want %q", c.most, c.text, got, c.want)
		}
	}
}

func TestIntents(t *testing.T) {
	p := New(read(t, `{"policy_layer": {"policy_bundles": [
		{"policy_dsl": {"rules": [{"applies_to": {"intent": "b"}}, {}, {"applies_to": {"intent": 1}}]}},
		{"policy_dsl": {"rules": [{"applies_to": {"intent": "a"}}, {"applies_to": {"intent": "b"}}]}}]},
		"evaluation_layer": {"eval_targets": [{"intent": "a"}, {"intent": "c"}]}}`))
	var names string
	for _, intent := range p.Intents() {
		names += intent.Value
	}
	rules := 0
	for range p.EachRule() {
		rules++
	}
	if names != "bac" || rules != 5 {
		t.Errorf("the intents are %q, and there are %d rules", names, rules)
	}
	for range p.EachRule() {
		break // and the rest is not asked for
	}
}
