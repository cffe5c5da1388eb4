package report

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Merged in any order, parts are the whole.
func TestMerge(t *testing.T) {
	packs := []Pack{other(clean(Passed), "a"), other(failing(), "b"), other(rejection(), "c"), other(goldens(), "d")}
	want := jsonOf(t, compared(run(Rejected, packs...)))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var parts []*Report
		shuffled := slices.Clone(packs)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		at := random.IntN(len(shuffled) + 1)
		for _, part := range [][]Pack{shuffled[:at], shuffled[at:], shuffled[:1]} { // and one of them twice
			parts = append(parts, compared(run(Failed, part...)))
		}
		got, err := Merge(parts)
		if err != nil {
			t.Fatal(err)
		}
		got.Command, got.Result, got.ExitCode, got.Summary = "check", Rejected, 4, Summarise(got.Packs)
		if src := jsonOf(t, got); src != want {
			t.Fatalf("merged it is\n%s", src)
		}
	}
}

func TestMergeNotices(t *testing.T) {
	a, b, c := outage(), outage(), run(Passed)
	b.Errors = append(b.Errors, Problem{Message: "another"})
	c.Notices, c.Tool.Version = []string{"a notice"}, "0.2.0"
	got, err := Merge([]*Report{a, b, c})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Errors) != 3 || got.Errors[2].Message != "another" {
		t.Errorf("the errors are %+v", got.Errors)
	}
	want := []string{a.Notices[0], "a notice", "the merged reports are of different versions: packgate 0.1.0 (rules 0.1.0), packgate 0.2.0 (rules 0.1.0)"}
	if !slices.Equal(got.Notices, want) {
		t.Errorf("the notices are %q", got.Notices)
	}
	var many []*Report
	for i := range 10 {
		r := run(Passed)
		r.Tool.RulesVersion = fmt.Sprintf("0.%d.0", i)
		many = append(many, r)
	}
	if got, err = Merge(many); err != nil || !strings.HasSuffix(got.Notices[0], "and 5 more versions") {
		t.Errorf("%v, %q", err, got.Notices)
	}
	got.Result = Passed // the caller says it
	validJSON(t, got)
}

// The command of the runs is that of the whole, unless there were several.
func TestMergeCommand(t *testing.T) {
	a, b, c := run(Passed), run(Passed), run(Passed)
	a.Command, b.Command, c.Command = "check", "check", "action"
	for want, parts := range map[string][]*Report{"check": {a, b}, "merge": {a, b, c}} {
		if got, err := Merge(parts); err != nil || got.Command != want {
			t.Errorf("got the command %q (%v), wanted %q", got.Command, err, want)
		}
	}
}

// What one run says in an order, its parts say in that order, whatever order they
// come in.
func TestMergeOrder(t *testing.T) {
	for name, c := range map[string]struct {
		lists [][]string
		want  string
	}{
		"nothing":                        {nil, ""},
		"by path between what is shared": {[][]string{{"first", "c", "last", "end"}, {"first", "b", "d", "last", "end"}, {"first", "last", "end"}}, "first b c d last end"},
		"each once":                      {[][]string{{"b", "a", "b"}, {"b", "b"}}, "b a"},
		"in contradiction":               {[][]string{{"a", "b", "c"}, {"b", "a"}}, "a b c"},
	} {
		for range 2 {
			if got := strings.Join(interleave(c.lists, strings.Compare), " "); got != c.want {
				t.Errorf("%s: got %q, wanted %q", name, got, c.want)
			}
			slices.Reverse(c.lists)
		}
	}
	problems := [][]Problem{
		{{Message: "no config"}, {Message: "read packs/b/pack.json: permission denied"}},
		{{Message: "no config"}, {File: "packs/a/pack.json", Message: "this is no file"}, {File: "packs/c/pack.json", Line: 2, Message: "this is no file"}},
		{{Message: "no config"}, {File: "packs/c/pack.json", Line: 1, Message: "this is no file"}},
	}
	var got []string
	for _, p := range interleave(problems, byPlace) {
		got = append(got, fmt.Sprint(p.File, p.Line, " ", p.Message))
	}
	want := []string{"0 no config", "packs/a/pack.json0 this is no file", "0 read packs/b/pack.json: permission denied", "packs/c/pack.json1 this is no file", "packs/c/pack.json2 this is no file"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestMergeRefuses(t *testing.T) {
	other := compared(run(Passed))
	other.Head.SHA = "f"
	changed := clean(Passed)
	changed.Digest = "sha256:00"
	for want, parts := range map[string][]*Report{
		"there is none": nil,
		`one has the base "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567" and another ""`:  {compared(run(Passed)), run(Passed)},
		`one has the head "c9a5b26d4e5f60718293a4b5c6d7e8f901234567" and another "f"`: {compared(run(Passed)), other},
		`two of them say different things of "packs/support/pack.json"`:               {run(Passed, clean(Passed)), run(Passed, changed)},
	} {
		if _, err := Merge(parts); !errors.Is(err, ErrNotOneRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, wanted %s", err, want)
		}
	}
}
