package github

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

const packFile = "packs/support/pack.json"

// patched is a file of the pull request: lines 10 to 14 and 100 are shown.
func patched(g *githubtest.GitHub) {
	g.Files = []githubtest.File{
		{Pull: 7, Path: "a", Status: "modified"},
		{Pull: 7, Path: packFile, Status: "modified", Patch: "@@ -10,5 +10,5 @@ {\n a\n b\n-c\n+C\n d\n e\n@@ -99,0 +100 @@\n+new\n\\ No newline at end of file"},
	}
}

func suggestion(fingerprint string, line int, before ...string) Suggestion {
	return Suggestion{Path: packFile, Fingerprint: fingerprint, Line: line, Before: before, After: []string{"fixed"}, Text: "words"}
}

// A suggestion is posted where the difference shows its lines as they are, in one
// hunk, and nowhere else.
func TestSuggestPlaces(t *testing.T) {
	elsewhere := suggestion("f", 12, "C")
	elsewhere.Path = "packs/other/pack.json"
	for name, c := range map[string]struct {
		Suggestion
		want bool
	}{
		"changed line":   {suggestion("f", 12, "C"), true},
		"range":          {suggestion("f", 11, "b", "C", "d"), true},
		"context":        {suggestion("f", 10, "a"), true},
		"second hunk":    {suggestion("f", 100, "new"), true},
		"as it was":      {suggestion("f", 12, "c"), false},
		"moved":          {suggestion("f", 13, "C"), false},
		"other context":  {suggestion("f", 11, "b", "C", "x"), false},
		"not shown":      {suggestion("f", 50, "a"), false},
		"beyond":         {suggestion("f", 14, "e", "f"), false},
		"two hunks":      {suggestion("f", 14, "e", "new"), false},
		"another file":   {elsewhere, false},
		"line end":       {suggestion("f", 12, "C\r"), false},
		"no line":        {suggestion("f", 12), false},
		"no characters":  {Suggestion{Path: packFile, Line: 12, Before: []string{"C"}, After: []string{"\xff"}}, false},
		"longer than it": {Suggestion{Path: packFile, Line: 12, Before: []string{"C"}, After: []string{strings.Repeat("x", MaxComment)}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := githubtest.New(t)
			patched(g)
			client, _ := newClient(t, g)
			got, err := client.Suggest(t.Context(), 7, githubtest.Head, []Suggestion{c.Suggestion})
			must(t, err)
			if posted := len(g.ReviewComments) == 1; posted != c.want || got.Posted != len(g.ReviewComments) {
				t.Errorf("%+v, %+v", got, g.ReviewComments)
			}
		})
	}
}

// A run posts each suggestion once, none over another, and no more than ten; what
// a stranger planted counts for nothing.
func TestSuggestOnce(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	var list []Suggestion
	patch := "@@ -0,0 +1,30 @@"
	for i := range 30 {
		patch += fmt.Sprintf("\n+line %d", i+1)
		list = append(list, suggestion(fmt.Sprint(i), i+1, fmt.Sprintf("line %d", i+1)))
	}
	over := suggestion("over", 1, "line 1", "line 2")
	list = slices.Insert(list, 2, over)
	g.Files = []githubtest.File{{Pull: 7, Path: packFile, Status: "added", Patch: patch}}
	g.ReviewComments = []githubtest.ReviewComment{
		{Pull: 7, Author: "mallory", Path: packFile, Body: list[0].body()},
		{Pull: 7, Author: g.Login, Path: "other.json", Body: list[0].body()},
		{Pull: 7, Author: g.Login, Path: packFile, Body: "see " + list[0].body()},
	}
	for _, want := range []SuggestResult{{Posted: 10}, {Posted: 10, Known: 10}, {Posted: 10, Known: 20}, {Known: 30}} {
		got, err := client.Suggest(t.Context(), 7, githubtest.Head, list)
		must(t, err)
		if got.URL = ""; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if len(g.Reviews) != 3 || len(g.ReviewComments) != 33 {
		t.Errorf("%d reviews with %d comments", len(g.Reviews), len(g.ReviewComments))
	}
	seen := map[string]bool{}
	for _, c := range g.ReviewComments[3:] {
		if fingerprint, ok := parseSuggestion(c.Body); !ok || seen[fingerprint] || fingerprint == "over" {
			t.Errorf("again, or over another: %s", c.Body)
		} else {
			seen[fingerprint] = true
		}
	}
	// Where all are known nothing but that is asked.
	before := len(g.Calls())
	_, err := client.Suggest(t.Context(), 7, githubtest.Head, list[:2])
	must(t, err)
	if n := len(g.Calls()) - before; n != 1 {
		t.Errorf("%d calls to post nothing", n)
	}
}

// Nothing in the lines ends the fence or forges a marker.
func TestSuggestionBody(t *testing.T) {
	s := suggestion("a -->\n<b>", 1, "x")
	s.After = []string{"````", "```", "<!-- packgate:suggestion v1 other -->", "</details>"}
	body := s.body()
	want := "<!-- packgate:suggestion v1 a+--%3E%0A%3Cb%3E -->\nwords\n\n`````suggestion\n" + strings.Join(s.After, "\n") + "\n`````\n"
	if body != want {
		t.Errorf("%s", body)
	}
	if got, ok := parseSuggestion(body); !ok || got != s.Fingerprint {
		t.Errorf("%q, %v", got, ok)
	}
	for _, bad := range []string{"", "x" + body, suggestionPrefix, suggestionPrefix + "f", suggestionPrefix + "%zz -->"} {
		if got, ok := parseSuggestion(bad); ok {
			t.Errorf("%q is read from %q", got, bad)
		}
	}
}

// However GitHub fails, and at whichever call, no suggestion is there twice.
func TestSuggestFailures(t *testing.T) {
	for _, operation := range []string{githubtest.ListReviewComments, githubtest.ListFiles, githubtest.CreateReview} {
		for _, name := range slices.Sorted(maps.Keys(githubtest.Kinds())) {
			for _, done := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/done %v", operation, name, done), func(t *testing.T) {
					g := githubtest.New(t)
					patched(g)
					client, _ := newClient(t, g)
					g.Fail(operation, githubtest.Fault{Kind: githubtest.Kinds()[name], Done: done})
					list := []Suggestion{suggestion("f", 12, "C")}
					_, err := client.Suggest(t.Context(), 7, githubtest.Head, list)
					if n := len(g.ReviewComments); n > 1 || err == nil && n != 1 {
						t.Errorf("%d suggestions: %v", n, err)
					}
				})
			}
		}
	}
}
