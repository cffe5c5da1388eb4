package github

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

// earlier is a commit of the pull request before its head.
const earlier = "ea41000000000000000000000000000000000004"

// Whoever wrote a commit of a pull request, or started it, cannot approve it; and nothing is taken
// away from them but approvals.
func TestAuthorDoesNotApprove(t *testing.T) {
	line := func(login string) string { return "Why\n\n" + StarterLine(login) }
	shared := func(email string) string { return "Why\n\nCo-authored-by: Somebody <" + email + ">" }
	const lines, wrote, committed, named = "a line Packgate-Started-By names an author", "they wrote commit %.7s", "they committed commit %.7s", "commit %.7s names them as an author"
	type writers map[string]githubtest.Writers
	for name, c := range map[string]struct {
		message, first, body string
		wrote                writers
		reviews, granted     string
		own                  string // whose approvals do not count, and why
	}{
		"nobody else":                {reviews: "+ann", granted: "ann"},
		"another is named":           {message: line("eve"), body: line("mona"), reviews: "+ann", granted: "ann"},
		"in the last commit":         {message: line("Ann"), reviews: "+ann", own: "ann: " + lines},
		"in an earlier commit":       {first: line("ann"), reviews: "+ann", own: "ann: " + lines},
		"in the body":                {body: line("ANN"), reviews: "+ann", own: "ann: " + lines},
		"another of the role":        {message: line("ann"), reviews: "+ann +bob", granted: "bob", own: "ann: " + lines},
		"requests for changes stand": {message: line("ann"), body: line("ann"), reviews: "-ann +bob"},
		"one who has not the role":   {message: line("eve"), reviews: "+eve +ann", granted: "ann", own: "eve: " + lines},
		"one who approved before":    {message: line("ann"), reviews: "+ann*"},

		"who wrote it":               {wrote: writers{githubtest.Head: {Author: "Ann", Committer: "mona"}}, reviews: "+ann +bob", granted: "bob", own: fmt.Sprintf("ann: "+wrote, githubtest.Head)},
		"who wrote an earlier one":   {wrote: writers{earlier: {Author: "ann", Committer: "web-flow"}}, reviews: "+ann", own: fmt.Sprintf("ann: "+wrote, earlier)},
		"who committed it":           {wrote: writers{githubtest.Head: {Author: "mona", Committer: "ann"}}, reviews: "+ann", own: fmt.Sprintf("ann: "+committed, githubtest.Head)},
		"GitHub itself committed it": {wrote: writers{githubtest.Head: {Author: "mona", Committer: "web-flow"}}, reviews: "+ann", granted: "ann"},
		"a bot wrote it":             {wrote: writers{githubtest.Head: {Author: "robot[bot]", Committer: "robot[bot]"}}, reviews: "+robot[bot] +ann", granted: "ann", own: fmt.Sprintf("robot[bot]: "+wrote, githubtest.Head)},
		"a bot wrote, Ann started":   {message: line("ann"), wrote: writers{githubtest.Head: {Author: "robot[bot]", Committer: "web-flow"}}, reviews: "+ann", own: "ann: " + lines},
		"a co-author":                {message: shared("ann@example.com"), reviews: "+ann", own: fmt.Sprintf("ann: "+named, githubtest.Head)},
		"of an earlier commit":       {first: shared("Ann@example.com"), reviews: "+ann +bob", granted: "bob", own: fmt.Sprintf("ann: "+named, earlier)},
		"a co-author of no account":  {message: shared("ann@example.org"), reviews: "+ann", granted: "ann"},
		"wrote it, wants changes":    {wrote: writers{githubtest.Head: {Author: "ann", Committer: "ann"}}, reviews: "-ann +bob"},
	} {
		g := githubtest.New(t)
		g.Reviews = decided(strings.Fields(c.reviews)...)
		g.Pulls[0].Body, g.Pulls[0].Commits = c.body, []string{earlier}
		g.Messages[githubtest.Head], g.Messages[earlier] = c.message, c.first
		maps.Copy(g.Wrote, c.wrote)
		got := approvalsOf(t, g, "ann", "bob", "robot[bot]")
		var granted, own []string
		for _, a := range got.Granted {
			granted = append(granted, a.Login)
		}
		for _, a := range got.Own {
			own = append(own, a.Login+": "+a.Why)
		}
		if strings.Join(granted, " ") != c.granted || strings.Join(own, "; ") != c.own {
			t.Errorf("%s: %+v", name, got)
		}
		if against := strings.Contains(c.reviews, "-ann"); against != (len(got.Against) > 0) || len(got.Granted)+len(got.Against)+len(got.Missing) == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// approvalsOf asks for the approvals of pull request 7 by a role that some hold.
func approvalsOf(t *testing.T, g *githubtest.GitHub, members ...string) Approvals {
	t.Helper()
	client, _ := newClient(t, g)
	pull, err := client.PullRequest(t.Context(), 7)
	must(t, err)
	got, err := client.Approvals(t.Context(), Question{Pull: pull, Members: map[string][]string{"risk": members}, Roles: []string{"risk"}})
	must(t, err)
	return got
}

// Where it cannot be told who wrote a pull request, no approval counts; where nobody approved, it is
// not asked for.
func TestAuthorsNotKnown(t *testing.T) {
	question := Question{Pull: PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head}, Members: map[string][]string{"risk": {"ann"}}, Roles: []string{"risk"}}
	for _, operation := range []string{githubtest.ListPullCommits, githubtest.GetPull, githubtest.GraphQL} {
		g := githubtest.New(t)
		g.Reviews, g.Messages[githubtest.Head] = decided("+ann"), "Co-Authored-By: Eve <eve@example.com>"
		g.FailAlways(operation, githubtest.Fault{Kind: githubtest.Forbidden})
		client, _ := newClient(t, g)
		if got, err := client.Approvals(t.Context(), question); !errors.Is(err, ErrForbidden) || !reflect.DeepEqual(got, Approvals{}) {
			t.Errorf("%s: %+v, %v", operation, got, err)
		}
		g.Reviews = decided("-ann", "?bob")
		if got, err := client.Approvals(t.Context(), question); err != nil || len(got.Against) != 1 {
			t.Errorf("%s: %+v, %v", operation, got, err)
		}
	}
	many := func(count int, commits ...string) []string {
		for i := range count {
			commits = append(commits, fmt.Sprintf("%040x", i))
		}
		return commits
	}
	for name, c := range map[string]struct {
		set  func(g *githubtest.GitHub)
		kind error
		want string // "" for an approval
	}{
		"250 commits": {func(g *githubtest.GitHub) { g.Pulls[0].Commits = many(249) }, nil, ""},
		"251 commits": {func(g *githubtest.GitHub) { g.Pulls[0].Commits = many(250) }, ErrTooLarge,
			"cannot read who wrote the pull request 7: GitHub lists 250 of its 251 commits; split the change, or squash its commits; GitHub lists 250 at most"},
		"another head": {func(g *githubtest.GitHub) { g.Pulls[0].Head = earlier }, ErrRejected,
			"commit c0ffee0 is not among the commits of pull request 7 any more; look at the run for its newest commit"},
		"nobody wrote it": {func(g *githubtest.GitHub) { g.Wrote[githubtest.Head] = githubtest.Writers{Committer: "mona"} }, ErrRejected,
			"GitHub knows no account of who wrote commit c0ffee0: it may be that of whoever approved it"},
		"nobody committed it": {func(g *githubtest.GitHub) { g.Wrote[githubtest.Head] = githubtest.Writers{Author: "mona"} }, ErrRejected,
			"GitHub knows no account of who committed commit c0ffee0: it may be that of whoever approved it"},
		"GitHub's name for an author": {func(g *githubtest.GitHub) {
			g.Wrote[githubtest.Head] = githubtest.Writers{Author: "web-flow", Committer: "web-flow"}
		}, ErrRejected,
			"GitHub knows no account of who wrote commit c0ffee0"},
		"a promotion that lost its line": {func(g *githubtest.GitHub) {
			g.Pulls[0].Branch, g.Pulls[0].Author = PromotionBranch+"prod-a-1.0.0", "robot[bot]"
		}, ErrRejected, "nobody knows who started pull request 7: its branch \"packgate/promote-prod-a-1.0.0\" is one of packgate promote"},
		"a promotion with its line": {func(g *githubtest.GitHub) {
			g.Pulls[0].Branch, g.Messages[githubtest.Head] = PromotionBranch+"prod-a-1.0.0", StarterLine("mona")
		}, nil, ""},
		"a co-author on the third page": {func(g *githubtest.GitHub) {
			g.Pulls[0].Commits = many(249)
			g.Messages[githubtest.Head] = "Co-authored-by: Eve <eve@example.com>"
		}, nil, ""},
		"more co-authors than are listed": {func(g *githubtest.GitHub) {
			g.Messages[githubtest.Head] = strings.Repeat("Co-authored-by: Eve <eve@example.com>\n", 101)
		}, ErrTooLarge, "cannot read who else wrote the pull request 7: commit c0ffee0 has 102 authors"},
	} {
		g := githubtest.New(t)
		g.Reviews = decided("+ann")
		c.set(g)
		client, _ := newClient(t, g)
		got, err := client.Approvals(t.Context(), question)
		switch {
		case c.want == "" && (err != nil || !slices.Equal(got.Granted, []Approval{{"risk", "ann"}})):
			t.Errorf("%s: %+v, %v", name, got, err)
		case c.want != "" && (!errors.Is(err, c.kind) || !strings.Contains(told(err), c.want)):
			t.Errorf("%s: %v", name, told(err))
		}
	}
}
