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
	packs := []Pack{other(clean(Passed), "a"), other(failing(), "b"), other(rejected(), "c"), other(goldens(), "d")}
	want := render(t, compared(run(Rejected, packs...)), ".json")
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
		if src := render(t, got, ".json"); src != want {
			t.Fatalf("merged it is\n%s", src)
		}
	}
}

func TestMergeNotices(t *testing.T) {
	a, b, c := broken(), broken(), run(Passed)
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
