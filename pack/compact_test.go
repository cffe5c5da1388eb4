package pack

import "testing"

func TestCompactJSON(t *testing.T) {
	for want, v := range map[string]any{
		`{"a":[1,"<&>\n",null],"b":true}`: map[string]any{"b": true, "a": []any{1.0, "<&>\n", nil}},
		`"x"`:                             "x",
		"a value of type func()":          func() {},
	} {
		if got := CompactJSON(v); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
