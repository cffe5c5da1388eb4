package repository_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dated are words that current English says otherwise: "fix", "intended".
var dated = regexp.MustCompile(`(?i)\b(m(?:end|ends|ended|ending)|(?:is|are|was|were|be|been)(?: not)? m(?:eant))\b`)

// replaced are words that there are better ones for, which have one name everywhere.
var replaced = []struct{ not, but string }{
	{`rejected, needs \d`, "version not raised: this is a minor change, set 1.3.0"},
	{`never changes its c` + `ontent`, "a published version never changes"},
	{`summary m` + `oves`, "this text is part of the prompt"},
	{`(?:needs|need) a human c` + `lass`, "a person should confirm this class"},
	{`there and not e` + `xpected`, "gate G is active, the case does not expect it"},
	{`expected and not t` + `here:`, "the case expects it"},
	{`\d (?:below|above) the t` + `arget`, "92 % (12 of 13 cases), target 100 %"},
	{"check --fix`? does t" + `his`, "run packgate check --fix"},
	{`(?i)\b(?:schema|references|policy|risk|tenancy|security|replay|overlays?) g` + `ate(?:\b|s\b[^.])`, "the policy check"},
	{`(?i)\b(?:eight g` + `ates|passe[sd] (?:the|all) g` + `ates|g` + `ates do not pass|g` + `ates (?:the |every |all )?packs?\b|g` + `ated again|packs? (?:is|are|was|were) g` + `ated|everything that g` + `ating)`, "the eight checks; a gate is that of an approval, of a release, or packgate itself"},
	{`\d+ of \d+ gates p` + `ass`, "Failed: replay. Passed: 7"},
	{`widen the gate's w` + `hen`, "require approval for more requests"},
	{`newly r` + `eachable`, "now available"},
	{`measured other b` + `ytes`, "measured an older version of this pack"},
	{`\bas w` + `anted\b`, "passed, as stored"},
	{`to be re` + `designed|"re` + `design\b`, "what to do"},
	{`pack_version is s` + `till`, "version not raised"},
	{`^[^/]*"[^"]*\bnothing s` + `ays (?:any more )?(?:wh|that)`, "it is not stated"},
	{`\b(?:stands?) (?:here|alone|side by side|in (?:the|a|this) (?:file|text|string|overlay|document))\b`, "is"},
	{`\b(?:Not m` + `eant|M` + `eant):|\bright and m` + `eant\b|is intended to be decided b` + `y`, "intended"},
	{`\bhosts? that (?:is|are) spoken t` + `o|\band that is s` + `aid\.`, "connects to, and the report says so"},
	{`\bleads? (?:out of|nowhere|into)\b`, "points outside, has no target"},
}

// Every state has one name, in all that people read. Comments, tests
// and their data, which follow what the sources say, are left out.
func TestWordsAreTheOnesAgreedOn(t *testing.T) {
	patterns := make([]*regexp.Regexp, len(replaced))
	for i, r := range replaced {
		patterns[i] = regexp.MustCompile(r.not)
	}
	eachLine(t, func(file string, number int, line string) {
		if inside := strings.TrimSpace(line); strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") || path.Ext(file) == ".mjs" || strings.HasPrefix(inside, "//") {
			return
		}
		if path.Ext(file) == ".go" {
			line, _, _ = strings.Cut(line, " // ") // the comment behind code
		}
		for i, p := range patterns {
			if word := p.FindString(line); word != "" {
				t.Errorf("%s:%d: has %q, wanted %q", file, number, word, replaced[i].but)
			}
		}
	})
}

// Code, pages and messages use current words, which the readers of a report know.
func TestWordsAreCurrent(t *testing.T) {
	eachLine(t, func(file string, number int, line string) {
		if word := dated.FindString(line); word != "" {
			t.Errorf("%s:%d: says %q", file, number, word)
		}
	})
}

// eachLine calls look with every line of the repository that has words.
func eachLine(t *testing.T, look func(file string, number int, line string)) {
	t.Helper()
	for _, file := range files(t) {
		if !slices.Contains([]string{".go", ".md", ".yml", ".txtar", ".golden", ".mjs", ".sh"}, path.Ext(file)) {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(string(src)) {
			number++
			look(file, number, line)
		}
	}
}
