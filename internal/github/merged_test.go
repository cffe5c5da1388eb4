package github

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

func commit(pair string) string { return strings.Repeat(pair, 20) }

// The ways in which a commit comes to the default branch, and those in which a pull
// request has nothing to do with it.
func TestMergedPull(t *testing.T) {
	sha := commit("3a")
	one := githubtest.Pull{Number: 8, Author: "ann", Head: commit("4b"), Base: githubtest.Base, Owner: "acme", Branch: "next", Merged: sha}
	with := func(change func(*githubtest.Pull)) githubtest.Pull {
		p := one
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		pulls []githubtest.Pull
		want  int // zero: an error of the kind
		kind  error
	}{
		"merged, squashed or rebased": {[]githubtest.Pull{one}, 8, nil},
		"from a fork":                 {[]githubtest.Pull{with(func(p *githubtest.Pull) { p.Owner = "ann" })}, 8, nil},
		"its head, moved forward to":  {[]githubtest.Pull{with(func(p *githubtest.Pull) { p.Head, p.Merged = sha, commit("5c") })}, 8, nil},
		"one of its commits":          {[]githubtest.Pull{with(func(p *githubtest.Pull) { p.Commits, p.Merged = []string{sha}, commit("5c") })}, 8, nil},
		"merged as, and in another": {[]githubtest.Pull{
			with(func(p *githubtest.Pull) { p.Number, p.Commits, p.Merged = 9, []string{sha}, commit("5c") }), one}, 8, nil},
		"nothing":            {nil, 0, ErrNoPullRequest},
		"open":               {[]githubtest.Pull{with(func(p *githubtest.Pull) { p.Head, p.Merged = sha, "" })}, 0, ErrNoPullRequest},
		"closed":             {[]githubtest.Pull{with(func(p *githubtest.Pull) { p.Head, p.Merged, p.Closed = sha, "", true })}, 0, ErrNoPullRequest},
		"into another":       {[]githubtest.Pull{with(func(p *githubtest.Pull) { p.Into = "next" })}, 0, ErrNoPullRequest},
		"two with it":        {[]githubtest.Pull{with(func(p *githubtest.Pull) { p.Commits, p.Merged = []string{sha}, commit("5c") }), with(func(p *githubtest.Pull) { p.Number, p.Commits, p.Merged = 9, []string{sha}, commit("6d") })}, 0, ErrRejected},
		"two were merged as": {[]githubtest.Pull{one, with(func(p *githubtest.Pull) { p.Number = 9 })}, 0, ErrRejected},
	} {
		t.Run(name, func(t *testing.T) {
			g := githubtest.New(t)
			g.Pulls = c.pulls
			client, _ := newClient(t, g)
			got, err := client.MergedPull(t.Context(), sha)
			if got.Number != c.want || !errors.Is(err, c.kind) {
				t.Errorf("%+v, %v", got, err)
			}
			if c.want > 0 && (got.Author != "ann" || got.Open) {
				t.Errorf("%+v", got)
			}
		})
	}
	client, _ := newClient(t, githubtest.New(t))
	if _, err := client.MergedPull(t.Context(), "main"); !errors.Is(err, ErrRejected) {
		t.Errorf("of a branch: %v", err)
	}
}

// The list may have several pages, and the pull request be on the last.
func TestMergedPullOnAnotherPage(t *testing.T) {
	g := githubtest.New(t)
	sha := commit("3a")
	for n := range int64(130) {
		g.Pulls = append(g.Pulls, githubtest.Pull{Number: 10 + n, Head: sha, Owner: "acme", Branch: "b"})
	}
	g.Pulls = append(g.Pulls, githubtest.Pull{Number: 8, Head: commit("4b"), Owner: "acme", Branch: "next", Merged: sha})
	client, _ := newClient(t, g)
	if got, err := client.MergedPull(t.Context(), sha); err != nil || got.Number != 8 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHistory(t *testing.T) {
	const name = "packs/a b&c/pack.json"
	g := githubtest.New(t)
	g.Changed[name] = []string{commit("3a"), commit("2b"), commit("1c")}
	client, _ := newClient(t, g)
	for _, c := range []struct {
		at    string
		limit int
		want  []string
	}{
		{githubtest.Head, 5, g.Changed[name]},
		{githubtest.Head, 2, g.Changed[name][:2]},
		{commit("2b"), 5, g.Changed[name][1:]},
	} {
		got, err := client.History(t.Context(), c.at, name, c.limit)
		must(t, err)
		if !slices.Equal(got, c.want) {
			t.Errorf("at %s, at most %d: got %q", c.at, c.limit, got)
		}
	}
	if _, err := client.History(t.Context(), githubtest.Head, "none", 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, bad := range [][2]string{{"main", "a"}, {githubtest.Head, ""}} {
		if _, err := client.History(t.Context(), bad[0], bad[1], 1); !errors.Is(err, ErrRejected) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	g.Changed["a"] = []string{"<script>"}
	if _, err := client.History(t.Context(), githubtest.Head, "a", 1); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a commit that is none: %v", err)
	}
}
