package github

import (
	"reflect"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

func TestReviews(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	for range 120 {
		g.Reviews = append(g.Reviews, githubtest.Review{Pull: 7, Author: "zoe", State: "COMMENTED", SHA: githubtest.Head, Status: "NONE"})
	}
	add := func(author, state, sha string) {
		g.Reviews = append(g.Reviews, githubtest.Review{Pull: 7, Author: author, State: state, SHA: sha, Status: "MEMBER"})
	}
	add("ann", "CHANGES_REQUESTED", githubtest.Base)
	add("ann", "APPROVED", githubtest.Head)
	add("ann", "COMMENTED", githubtest.Head)
	add("bob", "APPROVED", githubtest.Base)
	add("cid", "APPROVED", githubtest.Head)
	add("cid", "DISMISSED", githubtest.Head)
	add("Mona", "APPROVED", githubtest.Head)
	got, err := client.reviews(t.Context(), Question{Pull: PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head}})
	must(t, err)
	want := []review{
		{"ann", reviewApproved, githubtest.Head, true},
		{"bob", reviewApproved, githubtest.Base, false},
		{"cid", reviewDismissed, githubtest.Head, true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
