package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/githubtest"
)

// Putting the lines into their place gives the other text, whatever was added or
// taken away, and none of the two sides is empty.
func TestChangedLines(t *testing.T) {
	for _, c := range []struct {
		before, after string
		line          int
		old, fixed    string
	}{
		{"a\nb\nc\n", "a\nx\nc\n", 2, "b", "x"},
		{"a\nb\nc\n", "a\nb\nx\nc\n", 2, "b", "b|x"},
		{"a\nb\nc\n", "a\nc\n", 1, "a|b", "a"},
		{"a\nb\n", "x\na\nb\n", 1, "a", "x|a"},
		{"a\nb\n", "b\n", 1, "a|b", "b"},
		{"a\na\na\n", "a\na\n", 2, "a|a", "a"},
		{"a", "b", 1, "a", "b"},
		{"a\nb\nc\nd\n", "x\nb\nc\ny\n", 1, "a|b|c|d", "x|b|c|y"},
	} {
		line, old, fixed := changedLines(c.before, c.after)
		if line != c.line || strings.Join(old, "|") != c.old || strings.Join(fixed, "|") != c.fixed {
			t.Errorf("%q and %q: line %d, %q became %q", c.before, c.after, line, old, fixed)
		}
		all := strings.Split(c.before, "\n")
		put := strings.Join(slices.Concat(all[:line-1], fixed, all[line-1+len(old):]), "\n")
		if put != c.after || len(old) == 0 || len(fixed) == 0 {
			t.Errorf("%q and %q: %q", c.before, c.after, put)
		}
	}
}

func repairOf(t *testing.T, source, description string) (text string, ok bool) {
	t.Helper()
	doc, faults := pack.Read("pack.json", []byte(source), pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	f := model.Finding{
		Rule: "SEC012", Name: "n", Message: `"@all </details>" is there`, File: "pack.json", Fingerprint: "f",
		Fix: &model.Fix{Description: description, Patch: []model.Operation{{Op: "replace", Path: "/b", Value: json.RawMessage("false")}}},
	}
	s, ok := suggestionOf(doc, f)
	return s.Text, ok
}

// Outside of the block nothing of a pack acts as Markdown, and a line that holds a
// secret is not shown.
func TestSuggestionOf(t *testing.T) {
	text, ok := repairOf(t, "{\n  \"a\": 1,\n  \"b\": true\n}\n", "write\n```\n<!-- x @all")
	if !ok || strings.Contains(text, "`\n<!--") || strings.Contains(text, "<!--") || strings.Contains(text, "\n```") || strings.Contains(text, " @all") {
		t.Errorf("%v\n%s", ok, text)
	}
	secret := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	if _, ok := repairOf(t, `{"a": "`+secret+`", "b": true}`, "d"); ok {
		t.Error("a line with a secret is suggested")
	}
	if _, ok := repairOf(t, "{\n\"a\": \""+secret+"\",\n\"c\": 1,\n\"b\": true}", "d"); !ok {
		t.Error("a secret elsewhere keeps a line from being fixed")
	}
	if _, ok := repairOf(t, `{"b": false}`, "d"); ok {
		t.Error("a fix that changes nothing is suggested")
	}
	if _, ok := repairOf(t, `{"a": 1}`, "d"); ok {
		t.Error("a fix that cannot be made is suggested")
	}
}

// Who wants no comments gets no suggestions, and who may not comment one notice.
func TestSuggestionsUnwanted(t *testing.T) {
	g, out := githubtest.New(t), &bytes.Buffer{}
	a := delivered(t, g, out)
	a.inputs.comment = "never"
	a.deliver(t.Context())
	g.ReadOnly, a.inputs.comment = true, "always"
	a.deliver(t.Context())
	if n := g.Count(githubtest.ListReviewComments); n > 0 || len(g.ReviewComments) > 0 {
		t.Errorf("%d suggestions, looked for %d times", len(g.ReviewComments), n)
	}
	if n := strings.Count(out.String(), "::notice"); n != 1 {
		t.Errorf("%d notices\n%s", n, out)
	}
}
