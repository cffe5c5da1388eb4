package github

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/test/githubtest"
)

// approved asks for one role, and turns what it is told into an error: a team that
// cannot be read for good is no failure of the call, and grants nothing.
func approved(ctx context.Context, c *Client) error {
	a, err := c.Approvals(ctx, Question{Pull: PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head}, Members: map[string][]string{"risk": {"@acme/risk"}}, Roles: []string{"risk"}})
	if err == nil && !a.Complete() {
		return &fault.Error{Kind: errNotChecked, Message: fmt.Sprintf("%+v", a)}
	}
	return err
}

var errNotChecked = fault.NewKind("not checked", "look at the approvals")

// decided is a review, as one word of who and a state, at the last commit or, with
// a star, at an earlier one.
func decided(words ...string) (reviews []githubtest.Review) {
	states := map[string]string{"+": reviewApproved, "-": reviewChangesRequested, "x": reviewDismissed, "?": "COMMENTED"}
	for _, w := range words {
		who, early := strings.CutSuffix(w[1:], "*")
		sha := githubtest.Head
		if early {
			sha = githubtest.Base
		}
		reviews = append(reviews, githubtest.Review{Pull: 7, Author: who, State: states[w[:1]], SHA: sha, Status: "MEMBER"})
	}
	return reviews
}

func TestApprovals(t *testing.T) {
	const hint = "give the input token a token with read:org, or list logins in the config instead of the team"
	hidden := RoleNotChecked{"risk", `cannot read the members of the team @other/risk: GitHub answered 404 "Not Found"`, hint}
	grants := func(pairs ...string) (list []Approval) {
		for _, pair := range pairs {
			role, login, _ := strings.Cut(pair, " ")
			list = append(list, Approval{role, login})
		}
		return list
	}
	logins, teams := []string{"Ann", "bob"}, []string{"@acme/risk"}
	for name, c := range map[string]struct {
		reviews []githubtest.Review
		members []string
		want    Approvals
	}{
		"nobody":                       {nil, logins, Approvals{Missing: []string{"risk"}}},
		"a login, in another case":     {decided("+ann"), logins, Approvals{Granted: grants("risk ann")}},
		"two of them":                  {decided("+bob", "+ann"), logins, Approvals{Granted: grants("risk ann", "risk bob")}},
		"a stranger":                   {decided("+eve"), logins, Approvals{Missing: []string{"risk"}}},
		"the author":                   {decided("+Mona"), []string{"mona"}, Approvals{Missing: []string{"risk"}}},
		"an earlier commit":            {decided("+ann*"), logins, Approvals{Missing: []string{"risk"}}},
		"a comment after it":           {decided("+ann", "?ann"), logins, Approvals{Granted: grants("risk ann")}},
		"dismissed":                    {decided("xann"), logins, Approvals{Missing: []string{"risk"}}},
		"dismissed later":              {decided("+ann", "xann"), logins, Approvals{Missing: []string{"risk"}}},
		"against":                      {decided("+ann", "-bob"), logins, Approvals{Against: grants("risk bob")}},
		"against an earlier commit":    {decided("+ann", "-bob*"), logins, Approvals{Against: grants("risk bob")}},
		"against, by a stranger":       {decided("+ann", "-eve"), logins, Approvals{Granted: grants("risk ann")}},
		"against, and then for it":     {decided("-ann*", "+ann"), logins, Approvals{Granted: grants("risk ann")}},
		"for it, and then against":     {decided("+ann", "-ann"), logins, Approvals{Against: grants("risk ann")}},
		"a member of a team":           {decided("+Cid"), teams, Approvals{Granted: grants("risk Cid")}},
		"a member against":             {decided("+ann", "-cid"), append(teams, "ann"), Approvals{Against: grants("risk cid")}},
		"no member of a team":          {decided("+ann"), teams, Approvals{Missing: []string{"risk"}}},
		"a team of another name":       {decided("+cid"), []string{"@Acme/Risk"}, Approvals{Granted: grants("risk cid")}},
		"a hidden team":                {decided("+ann"), []string{"@other/risk"}, Approvals{NotChecked: []RoleNotChecked{hidden}}},
		"a hidden team, nobody":        {decided("?ann", "+eve*"), []string{"@other/risk"}, Approvals{Missing: []string{"risk"}}},
		"a hidden team beside a login": {decided("+ann", "+eve"), []string{"@other/risk", "ann"}, Approvals{Granted: grants("risk ann")}},
		"a hidden team against":        {decided("+ann", "-eve"), []string{"@other/risk", "ann"}, Approvals{NotChecked: []RoleNotChecked{hidden}}},
		"a hidden team beside another": {decided("+cid"), []string{"@other/risk", "@acme/risk"}, Approvals{Granted: grants("risk cid")}},
		"a bot that is listed":         {decided("+robot[bot]"), []string{"robot[bot]"}, Approvals{Granted: grants("risk robot[bot]")}},
		"a bot in a team":              {decided("+robot[bot]"), teams, Approvals{Missing: []string{"risk"}}},
		"a role without anybody":       {decided("+ann"), nil, Approvals{Missing: []string{"risk"}}},
		"a member that is a path":      {decided("+../risk"), []string{"@acme/../risk"}, Approvals{NotChecked: []RoleNotChecked{{"risk", `the team "@acme/../risk" cannot be a team on GitHub`, "write a team as @org/team"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := githubtest.New(t)
			g.Teams["acme/risk"] = []string{"cid", "Cid", "robot[bot]"}
			g.Reviews = c.reviews
			client, _ := newClient(t, g)
			pull, err := client.PullRequest(t.Context(), 7)
			must(t, err)
			got, err := client.Approvals(t.Context(), Question{Pull: pull, Members: map[string][]string{"risk": c.members}, Roles: []string{"risk", "risk"}})
			must(t, err)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if got.Complete() != (len(c.want.Granted) > 0) {
				t.Errorf("complete: %v", got.Complete())
			}
		})
	}
}

// One person may hold several roles; each team is read once; what is not wanted is
// not asked.
func TestApprovalsOfSeveralRoles(t *testing.T) {
	g := githubtest.New(t)
	g.Teams["acme/risk"] = []string{"cid"}
	for i := range 130 {
		g.Teams["acme/risk"] = append(g.Teams["acme/risk"], fmt.Sprintf("member-%d", i))
	}
	g.Teams["acme/risk"] = append(g.Teams["acme/risk"], "dan")
	g.Reviews = decided("+dan", "+cid")
	client, _ := newClient(t, g)
	roles := map[string][]string{"risk": {"@acme/risk"}, "legal": {"@acme/risk", "eve"}, "spare": {"@acme/nobody"}}
	pull := PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head}
	got, err := client.Approvals(t.Context(), Question{Pull: pull, Members: roles, Roles: []string{"risk", "legal", "unheard"}})
	must(t, err)
	want := Approvals{Granted: []Approval{{"legal", "cid"}, {"legal", "dan"}, {"risk", "cid"}, {"risk", "dan"}}, Missing: []string{"unheard"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if n := g.Count(githubtest.ListTeamMembers); n != 2 { // pages
		t.Errorf("%d pages of teams were read", n)
	}
	before := len(g.Calls())
	if got, err := client.Approvals(t.Context(), Question{Pull: pull, Members: roles}); err != nil || !got.Complete() || len(g.Calls()) != before {
		t.Errorf("nothing is wanted: %+v, %v", got, err)
	}
	for _, unknown := range []PullRequest{{Number: 7, HeadSHA: githubtest.Head}, {Number: 7, Author: "mona"}} {
		if _, err := client.Approvals(t.Context(), Question{Pull: unknown, Members: roles, Roles: []string{"risk"}}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%+v: %v", unknown, err)
		}
	}
}
