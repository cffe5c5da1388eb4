package build

import (
	"strings"
	"testing"
)

// What a text was cut to is masked too, and nothing else changes.
func TestMaskText(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("Zq8vT3nL", 4)
	for text, want := range map[string]string{
		"not " + secret + ".":        "not " + secret[:4] + "….",
		"not " + secret[:20] + "…":   "not " + secret[:4] + "……",
		"not " + secret[:7] + " yet": "not " + secret[:7] + " yet",
		secret + secret:              secret[:4] + "…" + secret[:4] + "…",
		"plain":                      "plain",
	} {
		if got := newMask([]string{secret}).text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
