package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/test/githubtest"
)

const newHead = githubtest.Head

func TestCommentModes(t *testing.T) {
	type facts struct{ nothing, changed, failed bool }
	for _, c := range []struct {
		mode  CommentMode
		facts facts
		fresh CommentAction // where there is no comment
		again CommentAction // where there is one
		calls int           // where there is none
	}{
		{CommentAlways, facts{}, CommentCreated, CommentUpdated, 2},
		{CommentAlways, facts{nothing: true}, CommentUnwanted, CommentUpdated, 1},
		{CommentOnChange, facts{}, CommentUnwanted, CommentUpdated, 1},
		{CommentOnChange, facts{changed: true}, CommentCreated, CommentUpdated, 2},
		{CommentOnFailure, facts{changed: true}, CommentUnwanted, CommentUpdated, 1},
		{CommentOnFailure, facts{failed: true}, CommentCreated, CommentUpdated, 2},
		{CommentNever, facts{failed: true}, CommentUnwanted, CommentUnwanted, 0},
	} {
		t.Run(fmt.Sprint(c.mode, c.facts), func(t *testing.T) {
			g := githubtest.New(t)
			client, _ := newClient(t, g)
			want := Comment{
				PullRequest: 7, Body: body("k", newHead, 9, 1, "text"), Mode: c.mode,
				Nothing: c.facts.nothing, Changed: c.facts.changed, Failed: c.facts.failed,
			}
			got, err := client.Comment(t.Context(), want)
			must(t, err)
			if got.Action != c.fresh || len(g.Calls()) != c.calls {
				t.Errorf("%s with %d calls, wanted %s with %d", got.Action, len(g.Calls()), c.fresh, c.calls)
			}
			g.Comments = []githubtest.Comment{{ID: 1, Pull: 7, Author: g.Login, Body: body("k", newHead, 8, 1, "old")}}
			got, err = client.Comment(t.Context(), want)
			must(t, err)
			if got.Action != c.again {
				t.Errorf("%s, wanted %s", got.Action, c.again)
			}
		})
	}
}

// An older run never overwrites a newer one, whatever order they come in.
func TestCommentStaleness(t *testing.T) {
	for _, c := range []struct {
		oldHead    string
		oldRun     int64
		oldAttempt int
		want       CommentAction
	}{
		{githubtest.Base, 4, 1, CommentUpdated},
		{githubtest.Base, 6, 1, CommentOutdated},
		{newHead, 6, 1, CommentOutdated},
		{newHead, 5, 3, CommentOutdated},
		{newHead, 5, 1, CommentUpdated},
		{newHead, 5, 2, CommentUpdated}, // the same run, with more to say
	} {
		g := githubtest.New(t)
		client, _ := newClient(t, g)
		g.Comments = []githubtest.Comment{{ID: 1, Pull: 7, Author: g.Login, Body: body("k", c.oldHead, c.oldRun, c.oldAttempt, "old")}}
		got, err := client.Comment(t.Context(), Comment{PullRequest: 7, Body: body("k", newHead, 5, 2, "new"), Mode: CommentAlways})
		must(t, err)
		if got.Action != c.want || got.URL == "" {
			t.Errorf("run %d attempt %d of %s: %+v, wanted %s", c.oldRun, c.oldAttempt, c.oldHead, got, c.want)
		}
		if updated := strings.HasSuffix(g.Comments[0].Body, "new"); updated != (c.want == CommentUpdated) {
			t.Errorf("the comment says %q", g.Comments[0].Body)
		}
	}
}

// Only a comment that begins with the marker and is by the token's own login is
// ours; all others stay as they are.
func TestCommentOfAnother(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	mark := body("k", newHead, 99, 1, "planted")
	others := []githubtest.Comment{
		{ID: 1, Pull: 7, Author: "mallory", Body: mark},
		{ID: 2, Pull: 7, Author: "github-actions", Body: mark},
		{ID: 3, Pull: 7, Author: "other-app[bot]", Body: mark},
		{ID: 4, Pull: 7, Author: g.Login, Body: "> " + mark},
		{ID: 5, Pull: 7, Author: g.Login, Body: body("another key", newHead, 99, 1, "text")},
		{ID: 6, Pull: 8, Author: g.Login, Body: mark},
	}
	g.Comments = append([]githubtest.Comment(nil), others...)
	got, err := client.Comment(t.Context(), Comment{PullRequest: 7, Body: body("k", newHead, 5, 1, "ours"), Mode: CommentAlways})
	must(t, err)
	if got.Action != CommentCreated || len(g.Comments) != len(others)+1 {
		t.Fatalf("%+v, %d comments", got, len(g.Comments))
	}
	for i, other := range others {
		if g.Comments[i] != other {
			t.Errorf("%+v became %+v", other, g.Comments[i])
		}
	}
}

// The comment is found on a later page, and of two the newer one is ours.
func TestCommentPages(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	for i := range int64(250) {
		g.Comments = append(g.Comments, githubtest.Comment{ID: i + 1, Pull: 7, Author: "mona", Body: "hello"})
	}
	g.Comments[120] = githubtest.Comment{ID: 121, Pull: 7, Author: g.Login, Body: body("k", newHead, 3, 1, "first")}
	g.Comments[230] = githubtest.Comment{ID: 231, Pull: 7, Author: g.Login, Body: body("k", newHead, 4, 1, "second")}
	got, err := client.Comment(t.Context(), Comment{PullRequest: 7, Body: body("k", newHead, 5, 1, "ours"), Mode: CommentAlways})
	must(t, err)
	if got.Action != CommentUpdated || g.Count(githubtest.ListComments) != 3 || !strings.HasSuffix(g.Comments[230].Body, "ours") {
		t.Errorf("%+v after %q", got, g.Calls())
	}
}

func TestCommentBody(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	_, err := client.Comment(t.Context(), Comment{PullRequest: 7, Body: "no marker", Mode: CommentAlways})
	if !errors.Is(err, ErrRejected) {
		t.Errorf("without a marker: %v", err)
	}
	long := body("k", newHead, 5, 1, strings.Repeat("é", MaxComment))
	if _, err = client.Comment(t.Context(), Comment{PullRequest: 7, Body: long, Mode: CommentAlways}); !errors.Is(err, ErrTooLong) {
		t.Errorf("a long one: %v", err)
	}
	if len(g.Calls()) != 0 {
		t.Errorf("it called %q", g.Calls())
	}
}

// The author is known by the form of the token, or asked for.
func TestCommentAuthor(t *testing.T) {
	for _, c := range []struct {
		token, login string
		asked        int
		foreign      string
	}{
		{"ghs_" + "token", "github-actions[bot]", 0, ""},
		{"ghp_" + "token", "mona", 1, ""},
		{"github_pat_" + "token", "mona", 1, ""},
		{"ghs_" + "token", "gate-of-acme[bot]", 0, "gate-of-acme[bot]"},
	} {
		g := githubtest.New(t)
		g.Token, g.Login = c.token, c.login
		client, _ := newClient(t, g)
		got, err := client.Comment(t.Context(), Comment{PullRequest: 7, Body: body("k", newHead, 5, 1, "text"), Mode: CommentAlways})
		must(t, err)
		if got.Foreign != c.foreign || g.Count(githubtest.GetUser) != c.asked {
			t.Errorf("%+v: %+v after %q", c, got, g.Calls())
		}
	}
}

// What a token may not do is said with the permission that it lacks.
func TestReadOnlyToken(t *testing.T) {
	g := githubtest.New(t)
	g.ReadOnly = true
	client, _ := newClient(t, g)
	_, err := client.Comment(t.Context(), Comment{PullRequest: 7, Body: body("k", newHead, 5, 1, "text"), Mode: CommentAlways})
	var e *fault.Error
	if !errors.Is(err, ErrForbidden) || !errors.As(err, &e) || !strings.Contains(e.Hint, "add `pull-requests: write` to") {
		t.Errorf("error %v", err)
	}
	got, err := client.CheckRun(t.Context(), checkRun(1))
	must(t, err)
	if got.Allowed {
		t.Error("the token may write check runs")
	}
}
