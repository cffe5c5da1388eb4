package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// Merged in any order, parts are the whole.
func TestMerge(t *testing.T) {
	packs := []model.Pack{reporttest.Other(reporttest.Clean(model.Passed), "a"), reporttest.Other(reporttest.Failing(), "b"), reporttest.Other(reporttest.Rejection(), "c"), reporttest.Other(reporttest.Goldens(), "d")}
	want := reporttest.JsonOf(t, reporttest.Compared(reporttest.Run(model.Rejected, packs...)))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var parts []*model.Report
		shuffled := slices.Clone(packs)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		at := random.IntN(len(shuffled) + 1)
		for _, part := range [][]model.Pack{shuffled[:at], shuffled[at:], shuffled[:1]} { // and one of them twice
			parts = append(parts, reporttest.Compared(reporttest.Run(model.Failed, part...)))
		}
		got, err := model.Merge(parts)
		if err != nil {
			t.Fatal(err)
		}
		got.Command, got.Result, got.ExitCode, got.Summary = "check", model.Rejected, 4, model.Summarise(got.Packs)
		if src := reporttest.JsonOf(t, got); src != want {
			t.Fatalf("merged it is\n%s", src)
		}
	}
}

func TestMergeNotices(t *testing.T) {
	a, b, c := reporttest.Outage(), reporttest.Outage(), reporttest.Run(model.Passed)
	b.Errors = append(b.Errors, model.Problem{Message: "another"})
	c.Notices, c.Tool.Version = []string{"a notice"}, "0.2.0"
	got, err := model.Merge([]*model.Report{a, b, c})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Errors) != 3 || got.Errors[2].Message != "another" {
		t.Errorf("the errors are %+v", got.Errors)
	}
	want := []string{a.Notices[0], "a notice", "the merged reports come from different versions: packgate 0.1.0 (rules 0.1.0), packgate 0.2.0 (rules 0.1.0)"}
	if !slices.Equal(got.Notices, want) {
		t.Errorf("the notices are %q", got.Notices)
	}
	var many []*model.Report
	for i := range 10 {
		r := reporttest.Run(model.Passed)
		r.Tool.RulesVersion = fmt.Sprintf("0.%d.0", i)
		many = append(many, r)
	}
	if got, err = model.Merge(many); err != nil || !strings.HasSuffix(got.Notices[0], "and 5 more versions") {
		t.Errorf("%v, %q", err, got.Notices)
	}
	got.Result = model.Passed // the caller says it
	reporttest.ValidJSON(t, got)
}

// The command of the runs is that of the whole, unless there were several.
func TestMergeCommand(t *testing.T) {
	a, b, c := reporttest.Run(model.Passed), reporttest.Run(model.Passed), reporttest.Run(model.Passed)
	a.Command, b.Command, c.Command = "check", "check", "action"
	for want, parts := range map[string][]*model.Report{"check": {a, b}, "merge": {a, b, c}} {
		if got, err := model.Merge(parts); err != nil || got.Command != want {
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
			if got := strings.Join(model.Interleave(c.lists, strings.Compare), " "); got != c.want {
				t.Errorf("%s: got %q, wanted %q", name, got, c.want)
			}
			slices.Reverse(c.lists)
		}
	}
	problems := [][]model.Problem{
		{{Message: "no config"}, {Message: "read packs/b/pack.json: permission denied"}},
		{{Message: "no config"}, {File: "packs/a/pack.json", Message: "this is no file"}, {File: "packs/c/pack.json", Line: 2, Message: "this is no file"}},
		{{Message: "no config"}, {File: "packs/c/pack.json", Line: 1, Message: "this is no file"}},
	}
	var got []string
	for _, p := range model.Interleave(problems, model.ByPlace) {
		got = append(got, fmt.Sprint(p.File, p.Line, " ", p.Message))
	}
	want := []string{"0 no config", "packs/a/pack.json0 this is no file", "0 read packs/b/pack.json: permission denied", "packs/c/pack.json1 this is no file", "packs/c/pack.json2 this is no file"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestMergeRefuses(t *testing.T) {
	other := reporttest.Compared(reporttest.Run(model.Passed))
	other.Head.SHA = "f"
	changed := reporttest.Clean(model.Passed)
	changed.Digest = "sha256:00"
	for want, parts := range map[string][]*model.Report{
		"no report was given": nil,
		`one has the base "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567" and another ""`:  {reporttest.Compared(reporttest.Run(model.Passed)), reporttest.Run(model.Passed)},
		`one has the head "c9a5b26d4e5f60718293a4b5c6d7e8f901234567" and another "f"`: {reporttest.Compared(reporttest.Run(model.Passed)), other},
		`two of them say different things about "packs/support/pack.json"`:            {reporttest.Run(model.Passed, reporttest.Clean(model.Passed)), reporttest.Run(model.Passed, changed)},
	} {
		if _, err := model.Merge(parts); !errors.Is(err, model.ErrNotOneRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, wanted %s", err, want)
		}
	}
}

// What reports find in the repository as a whole is put together: each finding once, in their order, with the worse
// result. What is cut short is not known, and joined with nothing.
func TestMergeJoinsTheRepository(t *testing.T) {
	said := func(result model.Result, findings ...model.Finding) *model.Report {
		return reporttest.Run(model.Passed, model.Pack{Path: ".", Kind: model.KindRepository, Result: result, Findings: findings})
	}
	b := model.Finding{Rule: "CFG002", Severity: "warning", File: "b"}
	a, worse := b, b
	a.File, worse.Severity, worse.File = "a", "error", "c"
	for _, parts := range [][]*model.Report{{said(model.Passed, b), said(model.Failed, a, b), said(model.Failed, worse)}, {said(model.Failed, worse, b), said(model.Failed, worse, a)}} {
		out, err := model.Merge(parts)
		if err != nil || out.Packs.Len() != 1 {
			t.Fatal(out, err)
		}
		one := out.Packs.At(0)
		if brief := out.Packs.Brief(0); one.Result != model.Failed || !slices.EqualFunc(one.Findings, []model.Finding{worse, a, b}, func(x, y model.Finding) bool { return x.File == y.File }) || brief.Counts != model.Count(one) || brief.Result != model.Failed {
			t.Errorf("got %+v", one)
		}
	}
	part := said(model.Passed, a)
	cut := *part.Packs.At(0)
	cut.Cut = &model.Cut{}
	part.Packs.Set(0, cut)
	if _, err := model.Merge([]*model.Report{said(model.Passed, b), part}); !errors.Is(err, model.ErrNotOneRun) {
		t.Error(err)
	}
}

// A shard that does not say which packs were dealt out is none of those that do, unless its run broke.
func TestMergeShardsOfOneTree(t *testing.T) {
	for _, c := range []struct {
		first, second model.Report
		ok            bool
	}{
		{model.Report{Tree: "a"}, model.Report{Tree: "a"}, true},
		{model.Report{}, model.Report{}, true},
		{model.Report{Tree: "a"}, model.Report{Tree: "b"}, false},
		{model.Report{Tree: "a"}, model.Report{}, false},
		{model.Report{}, model.Report{Tree: "a"}, false},
		{model.Report{Tree: "a"}, model.Report{Result: model.Broken}, true},
		{model.Report{Tree: "a"}, model.Report{Result: model.Broken, Tree: "b"}, false},
	} {
		c.first.Shard, c.second.Shard = "1/2", "2/2"
		if _, err := model.Merge([]*model.Report{&c.first, &c.second}); (err == nil) != c.ok || err != nil && !errors.Is(err, model.ErrNotOneRun) {
			t.Errorf("%+v and %+v: %v", c.first, c.second, err)
		}
	}
}
