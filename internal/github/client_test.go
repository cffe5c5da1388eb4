package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/githubtest"
	"github.com/contextosai/packgate/test/hang"
)

// clock is a clock that only moves when somebody sleeps.
type clock struct {
	at    time.Time
	slept time.Duration
}

func (c *clock) now() time.Time { return c.at.Add(c.slept) }

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.slept += d
	return ctx.Err()
}

// newClient returns a client of a stand-in, and its clock.
func newClient(t *testing.T, g *githubtest.GitHub, change ...func(*Options)) (*Client, *clock) {
	t.Helper()
	at := &clock{at: githubtest.Now}
	o := Options{
		APIURL: g.URL, Token: g.Token, Repository: g.Repository, Version: "1.2.3",
		HTTP: githubtest.Impatient{}, Timeout: hang.Limit, Now: at.now, Sleep: at.sleep,
	}
	for _, f := range change {
		f(&o)
	}
	c, err := NewClient(o)
	must(t, err)
	return c, at
}

// body returns the body of a comment of a run.
func body(key, head string, run int64, attempt int, text string) string {
	return render.Marker{Key: key, Head: head, Run: run, Attempt: attempt}.String() + "\n" + text
}

// call is one call of a client, and the operations of GitHub that it takes.
type call struct {
	operations []string
	prepare    func(*githubtest.GitHub)
	do         func(*Client) error
	// once fails the test where something is there more than once.
	once func(*testing.T, *githubtest.GitHub)
	// degrades: a token that may not is no error.
	degrades bool
	// reviews: a team that may not be read is told apart.
	reviews bool
}

func calls(t *testing.T) map[string]call {
	ctx := t.Context()
	nothing := func(*githubtest.GitHub) {}
	reads := func(*testing.T, *githubtest.GitHub) {}
	oneComment := func(t *testing.T, g *githubtest.GitHub) {
		if len(g.Comments) > 1 {
			t.Errorf("there are %d comments", len(g.Comments))
		}
	}
	var service *githubtest.GitHub
	comment := func(c *Client) error {
		_, err := c.Comment(ctx, Comment{PullRequest: 7, Body: body("k", githubtest.Head, 2, 1, "new"), Mode: CommentAlways})
		return err
	}
	return map[string]call{
		"new comment": {[]string{githubtest.ListComments, githubtest.CreateComment}, nothing, comment, oneComment, false, false},
		"old comment": {[]string{githubtest.ListComments, githubtest.UpdateComment}, func(g *githubtest.GitHub) {
			g.Comments = []githubtest.Comment{{ID: 1, Pull: 7, Author: g.Login, Body: body("k", githubtest.Base, 1, 1, "old")}}
		}, comment, oneComment, false, false},
		"check run": {[]string{githubtest.CreateCheckRun, githubtest.UpdateCheckRun}, nothing, func(c *Client) error {
			_, err := c.CheckRun(ctx, checkRun(120))
			return err
		}, func(t *testing.T, g *githubtest.GitHub) {
			if len(g.CheckRuns) > 1 || len(g.CheckRuns) == 1 && len(g.CheckRuns[0].Annotations) > 120 {
				t.Errorf("the check run is there %d times, with %d annotations", len(g.CheckRuns), len(g.CheckRuns[0].Annotations))
			}
		}, true, false},
		"reviews": {[]string{githubtest.ListReviews}, nothing, func(c *Client) error {
			_, err := c.reviews(ctx, Question{Pull: PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head}})
			return err
		}, reads, false, false},
		"pull request": {[]string{githubtest.GetPull}, nothing, func(c *Client) error {
			_, err := c.PullRequest(ctx, 7)
			return err
		}, reads, false, false},
		"labels": {[]string{githubtest.GetPull, githubtest.AddLabels, githubtest.RemoveLabel}, func(g *githubtest.GitHub) {
			g.Pulls[0].Labels = []string{"bug", "packgate: minor", "Packgate: Patch"}
		}, func(c *Client) error {
			return c.Label(ctx, Label{PullRequest: 7, HeadSHA: githubtest.Head, Name: "packgate: major", Group: []string{"packgate: patch", "packgate: minor", "packgate: major"}})
		}, func(t *testing.T, g *githubtest.GitHub) {
			if p := g.Pulls[0]; !slices.Contains(p.Labels, "bug") || len(p.Labels) > 4 {
				t.Errorf("the labels are %q", p.Labels)
			}
		}, false, false},
		"new issue": {[]string{githubtest.ListIssues, githubtest.CreateIssue}, nothing, keepsIssue(ctx, Issue{Key: "k", Standing: true, Fact: "a", Title: "t", Body: "b"}), oneIssue, false, false},
		"old issue": {[]string{githubtest.ListIssues, githubtest.UpdateIssue}, func(g *githubtest.GitHub) {
			g.Issues = []githubtest.Issue{{Number: 3, Author: g.Login, Body: IssueMark{Key: "k", State: issueStanding, Seq: 1, Fact: "a"}.String() + "\nold"}}
		}, keepsIssue(ctx, Issue{Key: "k", Body: "gone"}), oneIssue, false, false},
		"pull request by head": {[]string{githubtest.ListPulls}, nothing, func(c *Client) error {
			_, err := c.PullRequestAt(ctx, githubtest.Head, "mona", "refunds")
			return err
		}, reads, false, false},
		"changed files": {[]string{githubtest.ListFiles}, nothing, func(c *Client) error {
			_, err := c.PullRequestFiles(ctx, 7)
			return err
		}, reads, false, false},
		"artifact": {[]string{githubtest.ListArtifacts, githubtest.DownloadArtifact, githubtest.Store}, func(g *githubtest.GitHub) {
			g.Artifacts = []githubtest.Artifact{{ID: 3, Run: 5, Name: "report", Archive: archive(t, entry{name: "report.json", content: "{}"})}}
		}, func(c *Client) error {
			_, err := c.Artifact(ctx, 5, "report", []ArtifactFile{{Name: "report.json", Limit: 1000}})
			return err
		}, reads, false, false},
		"run": {[]string{githubtest.GetRunAttempt}, func(g *githubtest.GitHub) {
			g.Runs = []githubtest.Run{{ID: 5, Attempt: 2, Head: githubtest.Head, Conclusion: RunSucceeded}}
		}, func(c *Client) error {
			_, err := c.Conclusion(ctx, WorkflowRun{ID: 5, Attempt: 2, HeadSHA: githubtest.Head})
			return err
		}, reads, false, false},
		"team": {[]string{githubtest.ListTeamMembers}, func(g *githubtest.GitHub) { g.Teams["acme/risk"] = []string{"mona"} }, func(c *Client) error {
			_, err := c.TeamMembers(ctx, "acme", "risk")
			return err
		}, reads, false, false},
		"history": {[]string{githubtest.ListCommits}, func(g *githubtest.GitHub) { g.Changed["pack.json"] = []string{githubtest.Head} }, func(c *Client) error {
			_, err := c.History(ctx, githubtest.Head, "pack.json", 2)
			return err
		}, reads, false, false},
		"merged pull request": {[]string{githubtest.ListCommitPulls}, func(g *githubtest.GitHub) { g.Pulls[0].Merged = githubtest.Base }, func(c *Client) error {
			_, err := c.MergedPull(ctx, githubtest.Base)
			return err
		}, reads, false, false},
		"approvals": {[]string{githubtest.ListReviews, githubtest.ListTeamMembers}, func(g *githubtest.GitHub) {
			g.Teams["acme/risk"] = []string{"ann"}
			g.Reviews = []githubtest.Review{{Pull: 7, Author: "ann", State: reviewApproved, SHA: githubtest.Head}}
		}, func(c *Client) error { return approved(ctx, c) }, reads, false, true},
		"identity token": {[]string{githubtest.IDToken}, func(g *githubtest.GitHub) { service = g }, func(c *Client) error {
			_, err := (&Runner{Out: io.Discard, Getenv: getenv(service.TokenVariables())}).IDToken(ctx, "sigstore",
				Options{HTTP: c.sender.next, Timeout: hang.Limit, Now: c.sender.now, Sleep: c.sender.sleep})
			return err
		}, reads, false, false},
	}
}

// wanted is the kind of error that a failure leads to where it does not end.
func wanted(kind githubtest.Kind) error {
	switch kind {
	case githubtest.Forbidden:
		return ErrForbidden
	case githubtest.NotFound:
		return ErrNotFound
	case githubtest.TooLong:
		return ErrTooLong
	case githubtest.TooManyRequests, githubtest.SecondaryLimit, githubtest.PrimaryLimit:
		return ErrRateLimited
	}
	return ErrUnavailable
}

// passes reports whether a failure that happens once is got over.
func passes(kind githubtest.Kind) bool {
	return !errors.Is(wanted(kind), ErrForbidden) && wanted(kind) != ErrNotFound && wanted(kind) != ErrTooLong
}

// Every failure at every call: the error is of its kind, comes in bounded time, and
// nothing is there twice, also where the request was carried out before it failed.
func TestEveryFailureAtEveryCall(t *testing.T) {
	for callName, call := range calls(t) {
		for kindName, kind := range githubtest.Kinds() {
			for _, done := range []bool{false, true} {
				for _, always := range []bool{false, true} {
					for _, operation := range call.operations {
						name := fmt.Sprintf("%s/%s/%s/done %t/always %t", callName, kindName, strings.Fields(operation)[0], done, always)
						t.Run(name, func(t *testing.T) {
							failAt(t, call, operation, githubtest.Fault{Kind: kind, Done: done}, always)
						})
					}
				}
			}
		}
	}
}

func failAt(t *testing.T, call call, operation string, f githubtest.Fault, always bool) {
	g := githubtest.New(t)
	call.prepare(g)
	if always {
		g.FailAlways(operation, f)
	} else {
		g.Fail(operation, f)
	}
	c, clock := newClient(t, g)
	err := call.do(c)
	want := wanted(f.Kind)
	switch {
	case !always && passes(f.Kind):
		want = nil
	case errors.Is(want, ErrForbidden) && call.degrades && operation == githubtest.CreateCheckRun:
		want = nil
	case operation == githubtest.IDToken && f.Kind == githubtest.TooLong:
		want = ErrRejected
	case call.reviews && operation == githubtest.ListTeamMembers && !passes(f.Kind):
		want = errNotChecked
	}
	// A write that was carried out and looked up is done, whatever it answers.
	carriedOut := f.Done && want == ErrUnavailable && !strings.HasPrefix(operation, "GET ")
	if !errors.Is(err, want) && !(carriedOut && err == nil) {
		t.Errorf("error %v, wanted %v", err, want)
	}
	if typed := new(fault.Error); err != nil && (!errors.As(err, &typed) || strings.Contains(err.Error(), "http")) {
		t.Errorf("error %q has no kind or holds an address", err)
	}
	if clock.slept > DefaultPatience {
		t.Errorf("it waited %s", clock.slept)
	}
	if n := len(g.Calls()); n > 40 {
		t.Errorf("it called %d times", n)
	}
	call.once(t, g)
}

// However the calls of several runs fail, and in whatever order the runs come, there
// is one comment and one check run for each, with its annotations once and in order;
// and where nothing failed in the end, the newest run is what the comment is by.
func TestFailuresInAnyOrder(t *testing.T) {
	kinds := []githubtest.Kind{githubtest.ServerError, githubtest.BadGateway, githubtest.Reset, githubtest.Truncated, githubtest.TooManyRequests}
	operations := []string{githubtest.ListComments, githubtest.CreateComment, githubtest.UpdateComment,
		githubtest.CreateCheckRun, githubtest.UpdateCheckRun, githubtest.ListCheckRuns}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := githubtest.New(t)
		var newest int64
		for _, i := range random.Perm(4) {
			for range random.IntN(5) {
				g.Fail(operations[random.IntN(len(operations))], githubtest.Fault{Kind: kinds[random.IntN(len(kinds))], Done: random.IntN(2) == 0})
			}
			run := int64(i + 1)
			c, _ := newClient(t, g)
			result, err := c.Comment(t.Context(), Comment{PullRequest: 7, Body: body("k", githubtest.Head, run, 1, "text"), Mode: CommentAlways})
			if err == nil && (run < newest) != (result.Action == CommentOutdated) {
				t.Errorf("seed %d: run %d after run %d: %+v", seed, run, newest, result)
			}
			if len(g.Comments) > 0 {
				m, _ := render.ParseMarker(g.Comments[0].Body)
				if m.Run < newest || err == nil && m.Run < run {
					t.Errorf("seed %d: the comment is by run %d after runs %d and %d", seed, m.Run, newest, run)
				}
				newest = m.Run
			}
			check := checkRun(70)
			check.ID = fmt.Sprint(run)
			_, err = c.CheckRun(t.Context(), check)
			if found := g.CheckRuns; err == nil && len(found[len(found)-1].Annotations) != 70 {
				t.Errorf("seed %d: %d annotations", seed, len(found[len(found)-1].Annotations))
			}
		}
		onceEach(t, g, seed)
	}
}

func onceEach(t *testing.T, g *githubtest.GitHub, seed uint64) {
	t.Helper()
	if len(g.Comments) > 1 {
		t.Errorf("seed %d: %d comments", seed, len(g.Comments))
	}
	seen := map[string]bool{}
	for _, run := range g.CheckRuns {
		if seen[run.ExternalID] {
			t.Errorf("seed %d: check run %s is there twice", seed, run.ExternalID)
		}
		seen[run.ExternalID] = true
		for i, a := range run.Annotations {
			if a.StartLine != i+1 {
				t.Errorf("seed %d: annotation %d is at line %d", seed, i, a.StartLine)
			}
		}
	}
}

// The waits that GitHub asks for are kept, and those that are too long end the call.
func TestLimits(t *testing.T) {
	g := githubtest.New(t)
	c, clock := newClient(t, g)
	g.Fail(githubtest.GetPull, githubtest.Fault{Kind: githubtest.TooManyRequests}, githubtest.Fault{Kind: githubtest.SecondaryLimit})
	_, err := c.PullRequest(t.Context(), 7)
	must(t, err)
	if least := 2 * githubtest.RetryAfter * time.Second; clock.slept < least || clock.slept > least+2*time.Second {
		t.Errorf("waited %s, wanted %s and a little more", clock.slept, least)
	}
	c, clock = newClient(t, g, func(o *Options) { o.Patience = 5 * time.Second })
	g.Fail(githubtest.GetPull, githubtest.Fault{Kind: githubtest.TooManyRequests})
	if _, err := c.PullRequest(t.Context(), 7); !errors.Is(err, ErrRateLimited) || clock.slept != 0 {
		t.Errorf("error %v after %s", err, clock.slept)
	}
	// Without a time to come back GitHub asks for a minute, and a 403 about
	// permission is not waited for at all.
	resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{}, Body: http.NoBody}
	if wait, again := c.sender.limit(resp); !again || wait < time.Minute {
		t.Errorf("waits %s, %v", wait, again)
	}
	resp.StatusCode = http.StatusForbidden
	if _, again := c.sender.limit(resp); again {
		t.Error("a plain 403 is waited for")
	}
}

// A cancelled context ends a call at once.
func TestCancelled(t *testing.T) {
	g := githubtest.New(t)
	c, clock := newClient(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.PullRequest(ctx, 7); !errors.Is(err, context.Canceled) || clock.slept != 0 {
		t.Errorf("error %v after %s", err, clock.slept)
	}
}

// The token goes to the host of the API alone, also where that redirects.
func TestTokenStaysHome(t *testing.T) {
	var seen string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen += r.Header.Get("Authorization") }))
	defer other.Close()
	var agent, own string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, own = r.UserAgent(), r.Header.Get("Authorization")
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer api.Close()
	c, err := NewClient(Options{APIURL: api.URL, Token: "secret", Repository: "a/b", Version: "1.2.3"})
	must(t, err)
	_, err = c.PullRequest(t.Context(), 7)
	if seen != "" || own != "Bearer secret" || agent != "packgate/1.2.3" {
		t.Errorf("the other host saw %q, the API %q by %q (%v)", seen, own, agent, err)
	}
	if err != nil && strings.Contains(err.Error(), other.URL) {
		t.Errorf("an address is shown: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{APIURL: "", Repository: "a/b"}, {APIURL: "api.github.com", Repository: "a/b"}, {APIURL: "ftp://x", Repository: "a/b"},
		{APIURL: "https://user:word@x", Repository: "a/b"}, {APIURL: "https://x", Repository: "a"}, {APIURL: "https://x", Repository: "a/.."},
		{APIURL: "https://x", Repository: "a/b/c"}, {APIURL: "https://x", Repository: "a/b?c"},
	} {
		if _, err := NewClient(o); !errors.Is(err, ErrNotActions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	c, err := NewClient(Options{APIURL: "https://ghe.example.com/api/v3/", Repository: "a/b"})
	must(t, err)
	if got := c.api.BaseURL.String(); got != "https://ghe.example.com/api/v3/" {
		t.Errorf("the API is at %q", got)
	}
}

// Requests go the way that the proxy variables say.
func TestProxy(t *testing.T) {
	proxy := newHTTP().(*http.Transport).Proxy
	if reflect.ValueOf(proxy).Pointer() != reflect.ValueOf(http.ProxyFromEnvironment).Pointer() {
		t.Error("the proxy variables are not read")
	}
}

// What a pull request run calls when nothing fails.
func TestCallsOfARun(t *testing.T) {
	g := githubtest.New(t)
	c, _ := newClient(t, g)
	ctx := t.Context()
	_, err := c.Comment(ctx, Comment{PullRequest: 7, Body: body("k", githubtest.Head, 2, 1, "text"), Mode: CommentAlways, Failed: true})
	must(t, err)
	_, err = c.CheckRun(ctx, checkRun(50))
	must(t, err)
	_, err = c.reviews(ctx, Question{Pull: PullRequest{Number: 7, Author: "mona", HeadSHA: githubtest.Head}})
	must(t, err)
	_, err = c.PullRequestFiles(ctx, 7)
	must(t, err)
	if n := len(g.Calls()); n > 6 {
		t.Errorf("%d calls: %q", n, g.Calls())
	}
}
