package github

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

func TestStarters(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                    nil,
		"Promote it\n\n" + StarterLine("Ann"): {"ann"},
		"a\r\npackgate-started-by:ann\r\nb":   {"ann"},
		"> **Packgate-Started-By:** @ann\n":   {"ann"},
		"- `Packgate-Started-By: ann`, bob":   {"ann", "bob"},
		StarterLine("a") + "\n" + StarterLine("robot[bot]"): {"a", "robot[bot]"},
		"see Packgate-Started-By: ann":                      nil,
		"Packgate-Started-By ann":                           nil,
		"Signed-off-by: ann\nPackgate-Started: ann":         nil,
	} {
		if got := starters(text); !slices.Equal(got, want) {
			t.Errorf("%q names %q, wanted %q", text, got, want)
		}
	}
}

// Whoever started a pull request cannot approve it, wherever the line is; and a line takes
// nothing away but approvals.
func TestStarterDoesNotApprove(t *testing.T) {
	const earlier = "ea41000000000000000000000000000000000004"
	ann := []Approval{{"risk", "ann"}}
	for name, c := range map[string]struct {
		message, first, body string
		reviews              []githubtest.Review
		want                 Approvals
	}{
		"nobody is named":            {"", "", "", decided("+ann"), Approvals{Granted: ann}},
		"another is named":           {StarterLine("eve"), "", StarterLine("mona"), decided("+ann"), Approvals{Granted: ann}},
		"in the last commit":         {StarterLine("Ann"), "", "", decided("+ann"), Approvals{Missing: []string{"risk"}, Started: []string{"ann"}}},
		"in an earlier commit":       {"", StarterLine("ann"), "", decided("+ann"), Approvals{Missing: []string{"risk"}, Started: []string{"ann"}}},
		"in the body":                {"", "", "Why\n" + StarterLine("ANN"), decided("+ann"), Approvals{Missing: []string{"risk"}, Started: []string{"ann"}}},
		"another of the role":        {StarterLine("ann"), "", "", decided("+ann", "+bob"), Approvals{Granted: []Approval{{"risk", "bob"}}, Started: []string{"ann"}}},
		"requests for changes stand": {StarterLine("ann"), "", StarterLine("ann"), decided("-ann", "+bob"), Approvals{Against: ann}},
		"one who has not the role":   {StarterLine("eve"), "", "", decided("+eve", "+ann"), Approvals{Granted: ann, Started: []string{"eve"}}},
		"one who approved before":    {StarterLine("ann"), "", "", decided("+ann*"), Approvals{Missing: []string{"risk"}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := githubtest.New(t)
			g.Reviews = c.reviews
			g.Pulls[0].Body, g.Pulls[0].Commits = c.body, []string{earlier}
			g.Messages[githubtest.Head], g.Messages[earlier] = c.message, c.first
			client, _ := newClient(t, g)
			pull, err := client.PullRequest(t.Context(), 7)
			must(t, err)
			got, err := client.Approvals(t.Context(), Question{Pull: pull, Members: map[string][]string{"risk": {"ann", "bob"}}, Roles: []string{"risk"}})
			must(t, err)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// Where the commits or the body cannot be read, or GitHub does not list all commits, no approval
// counts; where nobody approved, neither is asked for.
func TestStarterNotKnown(t *testing.T) {
	question := Question{Pull: PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head}, Members: map[string][]string{"risk": {"ann"}}, Roles: []string{"risk"}}
	for _, operation := range []string{githubtest.ListPullCommits, githubtest.GetPull} {
		g := githubtest.New(t)
		g.Reviews = decided("+ann")
		g.FailAlways(operation, githubtest.Fault{Kind: githubtest.Forbidden})
		client, _ := newClient(t, g)
		if got, err := client.Approvals(t.Context(), question); !errors.Is(err, ErrForbidden) || len(got.Granted) > 0 {
			t.Errorf("%s: %+v, %v", operation, got, err)
		}
		g.Reviews = decided("-ann", "?bob")
		if got, err := client.Approvals(t.Context(), question); err != nil || len(got.Against) != 1 {
			t.Errorf("%s: %+v, %v", operation, got, err)
		}
	}
	g := githubtest.New(t)
	g.Reviews = decided("+ann")
	for i := range 249 {
		g.Pulls[0].Commits = append(g.Pulls[0].Commits, fmt.Sprintf("%040x", i))
	}
	client, _ := newClient(t, g)
	if got, err := client.Approvals(t.Context(), question); err != nil || len(got.Granted) != 1 {
		t.Errorf("250 commits: %+v, %v", got, err)
	}
	g.Pulls[0].Commits = append(g.Pulls[0].Commits, fmt.Sprintf("%040x", 249))
	if got, err := client.Approvals(t.Context(), question); !errors.Is(err, ErrTooLarge) {
		t.Errorf("251 commits: %+v, %v", got, err)
	} else if want := "cannot read who started the pull request 7: GitHub lists 250 of its 251 commits; split the change, or squash its commits; GitHub lists 250 at most"; told(err) != want {
		t.Errorf("%s", told(err))
	}
}
