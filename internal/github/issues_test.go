package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

// keepsIssue returns a call that keeps one issue.
func keepsIssue(ctx context.Context, one Issue) func(*Client) error {
	return func(c *Client) error {
		issues, err := c.Issues(ctx)
		if err == nil {
			_, err = issues.Keep(ctx, one)
		}
		if err == nil {
			err = issues.Settle(ctx)
		}
		return err
	}
}

// oneIssue fails where more than one open issue has a mark that counts.
func oneIssue(t *testing.T, g *githubtest.GitHub) {
	t.Helper()
	seen := map[string]bool{}
	for _, one := range g.Issues {
		mark, _, ok := parseIssueMark(one.Body)
		if ok && !one.Closed && seen[mark.Key] {
			t.Errorf("%q has two open issues", mark.Key)
		}
		seen[mark.Key] = seen[mark.Key] || ok && !one.Closed
	}
}

func standing(key, fact string) Issue {
	return Issue{Key: key, Standing: true, Fact: fact, Title: "about " + key, Body: "fact " + fact + "\n"}
}

func gone(key string) Issue { return Issue{Key: key, Body: "gone\n"} }

func issues(t *testing.T, g *githubtest.GitHub) *Issues {
	t.Helper()
	c, _ := newClient(t, g)
	s, err := c.Issues(t.Context())
	must(t, err)
	return s
}

// An issue is opened, edited when the facts change and not before, closed when the cause is gone,
// and opened again: the same one, in one request each.
func TestIssueLife(t *testing.T) {
	g := githubtest.New(t)
	for i, c := range []struct {
		want   Issue
		person func(*githubtest.Issue) // what somebody did before
		action IssueAction
		closed bool
		seq    int
	}{
		{gone("k"), nil, IssueUnchanged, false, 0},
		{standing("k", "a"), nil, IssueOpened, false, 1},
		{standing("k", "a"), nil, IssueUnchanged, false, 1},
		{standing("k", "b"), nil, IssueUpdated, false, 2},
		{standing("k", "b"), func(one *githubtest.Issue) { one.Title = "my words" }, IssueUnchanged, false, 2},
		{standing("k", "b"), func(one *githubtest.Issue) { one.Body += "my words" }, IssueUpdated, false, 2},
		{gone("k"), nil, IssueClosed, true, 3},
		{gone("k"), nil, IssueUnchanged, true, 3},
		{standing("k", "b"), nil, IssueReopened, false, 4},
		{standing("k", "b"), func(one *githubtest.Issue) { one.Closed = true }, IssueLeft, true, 4},
		{standing("k", "c"), nil, IssueReopened, false, 5},
		{gone("k"), func(one *githubtest.Issue) { one.Closed = true }, IssueClosed, true, 6},
		{gone("k"), func(one *githubtest.Issue) { one.Closed = false }, IssueUnchanged, false, 6},
		{standing("k", "c"), nil, IssueUpdated, false, 7},
	} {
		if c.person != nil {
			c.person(&g.Issues[0])
		}
		s := issues(t, g)
		before := len(g.Calls())
		action, err := s.Keep(t.Context(), c.want)
		must(t, err)
		if n := len(g.Calls()) - before; action != c.action || n > 1 {
			t.Errorf("step %d: %s in %d requests, wanted %s", i, action, n, c.action)
		}
		must(t, s.Settle(t.Context()))
		if c.seq == 0 {
			continue
		}
		if len(g.Issues) != 1 {
			t.Fatalf("step %d: %d issues", i, len(g.Issues))
		}
		mark, _, _ := parseIssueMark(g.Issues[0].Body)
		if g.Issues[0].Closed != c.closed || mark.Seq != c.seq || mark.Fact != c.want.Fact {
			t.Errorf("step %d: closed %t with %+v, wanted %t with seq %d", i, g.Issues[0].Closed, mark, c.closed, c.seq)
		}
	}
	if g.Issues[0].Title != "my words" {
		t.Errorf("the title is %q, which somebody had changed", g.Issues[0].Title)
	}
}

// Only an issue that begins with the mark and is by the token's own login is ours; all others stay
// as they are, pull requests among them.
func TestIssueOfAnother(t *testing.T) {
	g := githubtest.New(t)
	mark := IssueMark{Key: "k", State: issueStanding, Seq: 9, Fact: "a"}
	double := mark
	double.State = issueDuplicate
	others := []githubtest.Issue{
		{Number: 1, Author: "mallory", Body: mark.String() + "\nplanted"},
		{Number: 2, Author: g.Login, Body: "> " + mark.String()},
		{Number: 3, Author: g.Login, Body: IssueMark{Key: "another", State: issueStanding, Seq: 1}.String()},
		{Number: 4, Author: g.Login, Body: double.String(), Closed: true},
		{Number: 5, Author: g.Login, Body: strings.Replace(mark.String(), "seq=9", "seq=99999999999", 1)},
		{Number: 6, Author: g.Login, Body: strings.Replace(mark.String(), "key=k", "key=%zz", 1)},
	}
	g.Issues = append([]githubtest.Issue(nil), others...)
	g.Pulls = append(g.Pulls, githubtest.Pull{Number: 8, Author: g.Login})
	s := issues(t, g)
	action, err := s.Keep(t.Context(), standing("k", "a"))
	must(t, err)
	must(t, s.Settle(t.Context()))
	if action != IssueOpened || len(g.Issues) != len(others)+1 {
		t.Fatalf("%s, %d issues", action, len(g.Issues))
	}
	for i, other := range others {
		if g.Issues[i] != other {
			t.Errorf("%+v became %+v", other, g.Issues[i])
		}
	}
}

// However two runs meet, one issue about a cause is open in the end, and both know which: the first.
func TestIssueRace(t *testing.T) {
	g := githubtest.New(t)
	a, b := issues(t, g), issues(t, g) // both see none
	for _, s := range []*Issues{a, b} {
		_, err := s.Keep(t.Context(), standing("k", "a"))
		must(t, err)
	}
	if len(g.Issues) != 2 {
		t.Fatalf("%d issues, and the runs did not meet", len(g.Issues))
	}
	must(t, a.Settle(t.Context()))
	must(t, b.Settle(t.Context()))
	for _, s := range []*Issues{a, b, issues(t, g)} {
		if kept := s.Kept(); len(kept) != 1 || int64(kept[0].Number) != g.Issues[0].Number {
			t.Errorf("a run keeps %+v", kept)
		}
	}
	second := g.Issues[1]
	if g.Issues[0].Closed || !second.Closed || second.Reason != "not_planned" || !strings.Contains(second.Body, fmt.Sprintf("#%d", g.Issues[0].Number)) {
		t.Errorf("the issues are %+v", g.Issues)
	}
	oneIssue(t, g)
}

// dying is a network that ends the run at its nth request: before it is sent, or after it was
// carried out.
type dying struct {
	left  int
	after bool
	end   context.CancelFunc
}

func (d *dying) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.left--; d.left >= 0 {
		return githubtest.Impatient{}.RoundTrip(r)
	}
	if d.after && d.left == -1 {
		answer, err := githubtest.Impatient{}.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		answer.Body.Close()
	}
	d.end()
	return nil, r.Context().Err()
}

// upkeep is a run that keeps the issues about what is there, and notes what was sent about each.
func upkeep(ctx context.Context, c *Client, wanted []Issue) error {
	s, err := c.Issues(ctx)
	if err != nil {
		return err
	}
	for _, one := range wanted {
		if _, err := s.Keep(ctx, one); err != nil {
			return err
		}
	}
	if err := s.Settle(ctx); err != nil {
		return err
	}
	for _, k := range s.Kept() {
		if err := s.Sent(ctx, k.Key, "hook", fmt.Sprint("event", k.Seq)); err != nil {
			return err
		}
	}
	return nil
}

// A run that is killed at any of its requests, before or after it was carried out, leaves what the
// next run makes the same of as a run that nobody killed.
func TestIssuesKilledAnywhere(t *testing.T) {
	rounds := [][]Issue{
		{standing("a", "1"), standing("b", "1"), gone("c")},
		{standing("a", "2"), gone("b"), standing("c", "1")},
		{standing("a", "2"), standing("b", "1"), gone("c")},
	}
	ending := func(g *githubtest.GitHub) (list []string) {
		for _, one := range g.Issues {
			mark, text, _ := parseIssueMark(one.Body)
			list = append(list, fmt.Sprint(mark, text, one.Closed))
		}
		return list
	}
	whole := githubtest.New(t)
	for _, round := range rounds {
		c, _ := newClient(t, whole)
		must(t, upkeep(t.Context(), c, round))
	}
	want := ending(whole)
	kills := 0
	for round := range rounds {
		for at := 0; ; at++ {
			killed := false
			for _, after := range []bool{false, true} {
				g := githubtest.New(t)
				for n, wanted := range rounds {
					if n == round {
						ctx, cancel := context.WithCancel(t.Context())
						c, _ := newClient(t, g, func(o *Options) { o.HTTP = &dying{left: at, after: after, end: cancel} })
						if err := upkeep(ctx, c, wanted); err != nil {
							killed, kills = true, kills+1
							oneIssue(t, g)
						}
						cancel()
					}
					c, _ := newClient(t, g)
					must(t, upkeep(t.Context(), c, wanted))
				}
				if got := ending(g); strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("killed in round %d at request %d, after it %t:\n%q\nwant\n%q", round, at, after, got, want)
				}
			}
			if !killed {
				break
			}
		}
	}
	if kills < 30 {
		t.Errorf("%d runs were killed", kills)
	}
}

// An issue that no later run would find is no notice: one that is written as somebody else is closed
// again, and one that GitHub's list does not have is an error.
func TestIssueThatIsLost(t *testing.T) {
	g := githubtest.New(t)
	g.Login = "gate-of-acme[bot]"
	_, err := issues(t, g).Keep(t.Context(), standing("k", "a"))
	if !errors.Is(err, ErrRejected) || !g.Issues[0].Closed {
		t.Errorf("error %v, and the issue is closed: %t", err, g.Issues[0].Closed)
	}
	g = githubtest.New(t)
	s := issues(t, g)
	_, err = s.Keep(t.Context(), standing("k", "a"))
	must(t, err)
	g.Issues = nil
	if err := s.Settle(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("the issue is not in the list, and the error is %v", err)
	}
}

// Issues are found on later pages, and a body that GitHub would not take is not sent.
func TestIssueBounds(t *testing.T) {
	g := githubtest.New(t)
	g.Issues = []githubtest.Issue{{Number: 1, Author: g.Login, Body: IssueMark{Key: "k", State: issueStanding, Seq: 1, Fact: "a"}.String() + "\nold"}}
	for i := range int64(230) {
		g.Issues = append(g.Issues, githubtest.Issue{Number: i + 2, Author: g.Login, Body: "hello"})
	}
	s := issues(t, g)
	action, err := s.Keep(t.Context(), standing("k", "a"))
	must(t, err)
	if action != IssueUpdated || g.Count(githubtest.ListIssues) != 3 {
		t.Errorf("%s after %q", action, g.Calls())
	}
	long := standing("long", "a")
	long.Body = strings.Repeat("é", MaxComment)
	if _, err := s.Keep(t.Context(), long); !errors.Is(err, ErrTooLong) || g.Count(githubtest.CreateIssue) != 0 {
		t.Errorf("a long one: %v", err)
	}
}

// The mark holds whatever key there is, and ends its comment itself.
func TestIssueMark(t *testing.T) {
	for _, key := range []string{"a", "a b", "--> <b>", "ü/ä\n#1", `"%2F`} {
		want := IssueMark{Key: key, State: issueEnded, Seq: 12, Fact: "f00", Hook: "h", Sent: "e1"}
		got, rest, ok := parseIssueMark(want.String() + "\ntext")
		if !ok || got != want || rest != "text" || strings.Count(want.String(), "-->") != 1 {
			t.Errorf("%q became %+v, %q", key, got, rest)
		}
	}
	for _, body := range []string{"", "text", "\n" + IssueMark{Key: "a", State: issueStanding}.String(), IssueMark{Key: "a", State: "open"}.String(), IssueMark{State: issueStanding}.String()} {
		if m, _, ok := parseIssueMark(body); ok {
			t.Errorf("%q has the mark %+v", body, m)
		}
	}
}
