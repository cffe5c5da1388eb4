package github

import (
	"errors"
	"reflect"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

func TestPullRequestAt(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	ctx := t.Context()
	got, err := client.PullRequestAt(ctx, githubtest.Head, "mona", "refunds")
	must(t, err)
	if want := (PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head, BaseSHA: githubtest.Base, Open: true,
		Default: true}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	// Of a commit of a fork GitHub knows no pull request.
	if _, err := client.PullRequestAt(ctx, githubtest.Head, "", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("by the commit of a fork: %v", err)
	}
	g.Pulls = append(g.Pulls, githubtest.Pull{Number: 8, Head: githubtest.Base, Owner: "acme", Branch: "next"})
	if got, err := client.PullRequestAt(ctx, githubtest.Base, "", ""); err != nil || got.Number != 8 {
		t.Errorf("by the commit: %+v, %v", got, err)
	}
	for why, change := range map[string]func(*githubtest.Pull){
		"moved":  func(p *githubtest.Pull) { p.Head = githubtest.Base },
		"closed": func(p *githubtest.Pull) { p.Closed = true },
	} {
		g.Pulls[0] = githubtest.Pull{Number: 7, Head: githubtest.Head, Owner: "mona", Branch: "refunds"}
		change(&g.Pulls[0])
		if _, err := client.PullRequestAt(ctx, githubtest.Head, "mona", "refunds"); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", why, err)
		}
	}
	g.Pulls[0].Head, g.Pulls[0].Closed = githubtest.Head, false
	g.Pulls = append(g.Pulls, g.Pulls[0])
	if _, err := client.PullRequestAt(ctx, githubtest.Head, "mona", "refunds"); !errors.Is(err, ErrRejected) {
		t.Errorf("two of them: %v", err)
	}
	if _, err := client.PullRequestAt(ctx, "main", "mona", "refunds"); !errors.Is(err, ErrRejected) {
		t.Errorf("no commit: %v", err)
	}
}

func TestPullRequestFiles(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	for range 3100 {
		g.Files = append(g.Files, githubtest.File{Pull: 7, Path: "a", Status: "modified", Patch: "@@"})
	}
	g.Pulls[0].ChangedFiles = 3100
	if _, err := client.PullRequestFiles(t.Context(), 7); !errors.Is(err, ErrTooLarge) {
		t.Errorf("part of the files: %v", err)
	}
	g.Files, g.Pulls[0].ChangedFiles = g.Files[:3000], 3000
	if got, err := client.PullRequestFiles(t.Context(), 7); err != nil || len(got) != 3000 {
		t.Errorf("%d files: %v", len(got), err)
	}
	g.Files = append(g.Files[:230], githubtest.File{Pull: 7, Path: "c", Previous: "b", Status: "renamed"})
	got, err := client.PullRequestFiles(t.Context(), 7)
	must(t, err)
	if len(got) != 231 || got[230] != (ChangedFile{Path: "c", Previous: "b"}) {
		t.Errorf("%d files, the last is %+v", len(got), got[len(got)-1])
	}
}
