package github

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

const promoteBranch = "packgate/promote-prod-a-1.0.0"

// promotion is a proposal that takes each commit for the change but those of the default branch.
func promotion() Proposal {
	return Proposal{
		Branch: promoteBranch, Into: "main", Head: githubtest.Base, Path: "pins/prod.json", Content: []byte("{}\n"),
		Message: "Promote\n\n" + StarterLine("ann"), Title: "Promote", Body: StarterLine("ann"),
		Beyond: func(_ context.Context, sha string) (Beyond, error) {
			switch sha {
			case githubtest.Base:
				return BeyondNone, nil
			case githubtest.Head:
				return BeyondOther, nil
			}
			return BeyondSame, nil
		},
	}
}

// opened checks that there is one pull request, of one commit with one file.
func opened(t *testing.T, g *githubtest.GitHub, done Proposed, err error) {
	t.Helper()
	if err != nil || done.Number != 8 || done.URL == "" || !done.HasBranch || !done.HasCommit {
		t.Errorf("%+v, %v", done, err)
	}
	if len(g.Pulls) != 2 || len(g.Commits) != 3 {
		t.Fatalf("%d pull requests, %d commits", len(g.Pulls), len(g.Commits))
	}
	p := g.Pulls[1]
	if p.Branch != promoteBranch || p.Into != "main" || g.Branches[promoteBranch] != p.Head || g.Branches["main"] != githubtest.Base {
		t.Errorf("%+v", p)
	}
	if want := map[string]string{"pins/prod.json": "{}\n"}; !maps.Equal(g.Commits[p.Head], want) || !slices.Equal(starters(g.Messages[p.Head]), []string{"ann"}) {
		t.Errorf("%q: %q", g.Messages[p.Head], g.Commits[p.Head])
	}
}

func TestPropose(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	into, head, err := client.DefaultBranch(t.Context())
	if err != nil || into != "main" || head != githubtest.Base {
		t.Errorf("%q at %q, %v", into, head, err)
	}
	if found, err := client.Find(t.Context(), promotion()); err != nil || found != (Proposed{}) {
		t.Errorf("%+v, %v", found, err)
	}
	done, err := client.Propose(t.Context(), promotion())
	opened(t, g, done, err)
	again, err := client.Propose(t.Context(), promotion())
	opened(t, g, again, err)
	if !again.Known || done.Known {
		t.Errorf("%+v, and then %+v", done, again)
	}
}

// Wherever a write fails, carried out or not, there is one branch, one commit and one pull request
// in the end.
func TestProposeAfterFailures(t *testing.T) {
	for _, operation := range []string{githubtest.CreateRef, githubtest.GraphQL, githubtest.CreatePull} {
		for _, kind := range []githubtest.Kind{githubtest.ServerError, githubtest.BadGateway, githubtest.Reset, githubtest.Truncated} {
			for _, done := range []bool{false, true} {
				g := githubtest.New(t)
				client, _ := newClient(t, g)
				g.Fail(operation, githubtest.Fault{Kind: kind, Done: done})
				got, err := client.Propose(t.Context(), promotion())
				opened(t, g, got, err)
			}
		}
		// What is refused is not tried again, and what there is can be told.
		g := githubtest.New(t)
		client, _ := newClient(t, g)
		g.Fail(operation, githubtest.Fault{Kind: githubtest.Forbidden})
		got, err := client.Propose(t.Context(), promotion())
		if !errors.Is(err, ErrForbidden) || !strings.Contains(told(err), "contents: write and pull-requests: write") || g.Count(operation) != 1 {
			t.Errorf("%s: %v", operation, err)
		}
		if got.HasBranch != (operation != githubtest.CreateRef) || got.HasCommit != (operation == githubtest.CreatePull) || got.Number != 0 {
			t.Errorf("%s: %+v", operation, got)
		}
		got, err = client.Propose(t.Context(), promotion())
		opened(t, g, got, err)
	}
}

func TestProposeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(g *githubtest.GitHub)
		want string
	}{
		"another change":   {func(g *githubtest.GitHub) { g.Branches[promoteBranch] = githubtest.Head }, "has other changes than this one"},
		"a closed one":     {func(g *githubtest.GitHub) { g.Pulls[1].Closed = true }, "is that of pull request 8, which was closed"},
		"a merged one":     {func(g *githubtest.GitHub) { g.Pulls[1].Merged = githubtest.Base }, "is that of pull request 8, which was merged"},
		"one without line": {func(g *githubtest.GitHub) { g.Messages[g.Pulls[1].Head], g.Pulls = "Promote", g.Pulls[:1] }, "does not say who started it"},
	} {
		g := githubtest.New(t)
		client, _ := newClient(t, g)
		_, err := client.Propose(t.Context(), promotion())
		must(t, err)
		c.set(g)
		before := len(g.Pulls)
		if _, err := client.Propose(t.Context(), promotion()); !errors.Is(err, ErrRejected) || !strings.Contains(told(err), c.want) || !strings.Contains(told(err), "delete it on GitHub") {
			t.Errorf("%s: %v", name, err)
		}
		if len(g.Pulls) != before || len(g.Commits) != 3 {
			t.Errorf("%s: something was written", name)
		}
	}
	// The commit that a closed one had is gone: the branch is another one of its name.
	g := githubtest.New(t)
	g.Pulls = append(g.Pulls, githubtest.Pull{Number: 5, Author: "mona", Head: githubtest.Head, Base: githubtest.Base, Owner: "acme", Branch: promoteBranch, Closed: true})
	client, _ := newClient(t, g)
	if done, err := client.Propose(t.Context(), promotion()); err != nil || done.Known {
		t.Errorf("%+v, %v", done, err)
	}
	// The default branch moves on while the commit is made.
	g = githubtest.New(t)
	client, _ = newClient(t, g)
	stale := promotion()
	g.Branches[promoteBranch] = githubtest.Head
	if _, err := client.commitFile(t.Context(), stale); !errors.Is(err, ErrRejected) || !strings.Contains(err.Error(), "STALE_DATA") {
		t.Errorf("%v", err)
	}
}

func TestViewer(t *testing.T) {
	for _, login := range []string{TokenOfRun, "promoter[bot]", "mona"} {
		g := githubtest.New(t)
		g.Login = login
		client, _ := newClient(t, g)
		if got, err := client.Viewer(t.Context()); err != nil || got != login {
			t.Errorf("%q: %q, %v", login, got, err)
		}
		g.Token = "another"
		if got, err := client.Viewer(t.Context()); !errors.Is(err, ErrForbidden) || got != "" {
			t.Errorf("%q, %v", got, err)
		}
	}
	g := githubtest.New(t)
	g.ReadOnly = true
	g.Branches[promoteBranch] = githubtest.Base
	client, _ := newClient(t, g)
	if _, err := client.commitFile(t.Context(), promotion()); !errors.Is(err, ErrForbidden) {
		t.Errorf("%v", err)
	}
}

func TestHosted(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/acme/packs.git": "github.com acme/packs", "https://GitHub.com/acme/packs/": "github.com acme/packs",
		"git@github.com:acme/packs.git": "github.com acme/packs", "ssh://git@git.example.com:22/acme/packs": "git.example.com acme/packs",
		"/srv/packs.git": " ", "https://github.com/packs": " ", "https://github.com/a/b/c": " ",
	} {
		h := newHistory(t)
		gitIn(t, h.dir, "remote", "add", "origin", address)
		host, name, err := open(t, h.dir).Hosted()
		if host+" "+name != want || (err != nil) != (want == " ") {
			t.Errorf("%s: %q %q, %v", address, host, name, err)
		}
	}
}
